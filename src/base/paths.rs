//! Paths as text: tidy, short for people, and as `file:` URIs.
//!
//! Purely lexical: nothing here touches the file system, so symbolic links are not followed. Invariant: a URI made
//! from an absolute path gives that path back, byte for byte.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use super::sanitize;

/// Without `.` and, as far as it goes, without `..`. The root's parent is the root.
pub fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    if out.as_os_str().is_empty() {
        out.push(".");
    }
    out
}

/// A path for the screen: relative to the first root that contains it, else with `~`, else as it is. Sanitised.
pub fn display(path: &Path, roots: &[PathBuf], home: Option<&Path>) -> String {
    let path = normalize(path);
    let tidy = |p: &Path| sanitize::line(&p.to_string_lossy()).into_owned();
    for root in roots {
        if let Ok(rest) = path.strip_prefix(normalize(root)) {
            return if rest.as_os_str().is_empty() { ".".to_owned() } else { tidy(rest) };
        }
    }
    let home = home.filter(|home| home.is_absolute() && home.parent().is_some());
    match home.and_then(|home| path.strip_prefix(normalize(home)).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", tidy(rest)),
        None => tidy(&path),
    }
}

/// `file://` and the percent-encoded path. The path should be absolute.
pub fn file_uri(path: &Path) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(*byte)),
            _ => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    out
}

/// The absolute path that a `file:` URI names; a query or fragment (`#L10`) is not part of it. `None` for other
/// schemes, other hosts, relative paths and broken encodings.
pub fn from_file_uri(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, _) = rest.split_once('/')?;
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return None;
            }
            &rest[host.len()..]
        }
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut input = path.bytes();
    while let Some(byte) = input.next() {
        let byte = if byte == b'%' { hex(input.next()?)? << 4 | hex(input.next()?)? } else { byte };
        if byte == 0 {
            return None;
        }
        bytes.push(byte);
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn normalize_is_lexical() {
        for (given, expected) in
            [("/a/./b/../c", "/a/c"), ("/../a", "/a"), ("a/..", "."), ("../../a", "../../a"), ("a/../../b", "../b")]
        {
            assert_eq!(normalize(Path::new(given)), Path::new(expected), "{given}");
        }
    }

    #[test]
    fn display_is_relative_to_the_first_root_that_contains_it() {
        let roots = [PathBuf::from("/home/me/work"), PathBuf::from("/home/me")];
        let home = Some(Path::new("/home/me"));
        assert_eq!(display(Path::new("/home/me/work/src/../a.rs"), &roots, home), "a.rs");
        assert_eq!(display(Path::new("/home/me/other/a.rs"), &roots, home), "other/a.rs");
        assert_eq!(display(Path::new("/home/me/work"), &roots, home), ".");
        assert_eq!(display(Path::new("/home/me/x"), &[], home), "~/x");
        assert_eq!(display(Path::new("/home/me"), &[], home), "~");
        assert_eq!(display(Path::new("/home/meadow/x"), &[], home), "/home/meadow/x");
        assert_eq!(display(Path::new("/etc/x"), &[], Some(Path::new("/"))), "/etc/x");
        assert_eq!(display(Path::new("/home/me/work/../../etc"), &roots[..1], None), "/home/etc");
    }

    #[test]
    fn r_451_a_path_cannot_write_to_the_terminal() {
        assert_eq!(display(Path::new("/a/\x1b[31mb\nc"), &[], None), "/a/b c");
    }

    #[test]
    fn r_244_uris_are_percent_encoded() {
        assert_eq!(file_uri(Path::new("/a b/ü#?%.rs")), "file:///a%20b/%C3%BC%23%3F%25.rs");
        assert_eq!(from_file_uri("file:///a%20b/%C3%BC.rs#L10"), Some(PathBuf::from("/a b/ü.rs")));
        assert_eq!(from_file_uri("FILE://localhost/x?y"), Some(PathBuf::from("/x")));
        assert_eq!(from_file_uri("file:/x"), Some(PathBuf::from("/x")));
        for bad in ["http:///x", "file://host/x", "file:x", "file:///%zz", "file:///%4", "file:///%00", "", "file://é"]
        {
            assert_eq!(from_file_uri(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn r_244_there_and_back(bytes in proptest::collection::vec(1u8.., 0..40)) {
            let path = PathBuf::from(OsString::from_vec([b"/".as_slice(), &bytes].concat()));
            let uri = file_uri(&path);
            prop_assert!(uri.is_ascii());
            prop_assert_eq!(from_file_uri(&uri), Some(path));
        }

        #[test]
        fn any_uri_is_survived(uri in ".{0,40}") {
            let _ = from_file_uri(&uri);
            let _ = from_file_uri(&format!("file://{uri}"));
        }
    }
}
