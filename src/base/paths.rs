//! Paths as text: tidy, short for people, and as `file:` URIs.
//!
//! Purely lexical: nothing here touches the file system, so symbolic links are not followed. Invariant: a URI made
//! from an absolute path gives that path back, byte for byte.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use super::sanitize;

/// Where a process finds what is its own: another one than that of who looks.
pub const OF_PROCESS: [&str; 2] = ["/proc/self", "/proc/thread-self"];

/// Whether a path begins with this directory of the root.
pub fn is_at_root(path: &Path, name: &str) -> bool {
    let mut parts = path.components();
    parts.next() == Some(Component::RootDir) && parts.next() == Some(Component::Normal(name.as_ref()))
}

/// Whether a path is that of the process which uses it, or below.
pub fn is_of_process(path: &Path) -> bool {
    is_at_root(path, "proc") && OF_PROCESS.iter().any(|own| path.starts_with(own))
}

/// The same of any process, and of what the one that uses the path has open.
pub fn is_of_any_process(path: &Path) -> bool {
    if !is_at_root(path, "proc") && !is_at_root(path, "dev") {
        return false;
    }
    let open = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
    let number = path.strip_prefix("/proc").ok().and_then(|rest| rest.components().next());
    let is_number = number.is_some_and(|name| name.as_os_str().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    is_of_process(path) || is_number || open.iter().any(|open| path.starts_with(open))
}

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

/// A name or path for the screen, on one line. No two look the same: what cannot be seen is named (`⟨U+000A⟩`,
/// `⟨0xFF⟩` for a byte that is no UTF-8), and so is the bracket that this is told by.
pub fn visible(name: &OsStr) -> String {
    if let Some(name) = name.to_str().filter(|name| sanitize::is_plain_ascii(name.as_bytes())) {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    for chunk in name.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            let is_plain = !c.is_control() && !sanitize::is_deceptive(c);
            if is_plain && !matches!(c, '\u{2028}' | '\u{2029}' | '⟨') {
                out.push(c);
            } else {
                // Writing to a string cannot fail.
                let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "⟨0x{byte:02X}⟩");
        }
    }
    out
}

/// A path for the screen: relative to the first root that contains it, else with `~`, else as it is. See [`visible`].
pub fn display(path: &Path, roots: &[PathBuf], home: Option<&Path>) -> String {
    let path = normalize(path);
    let tidy = |p: &Path| visible(p.as_os_str());
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

/// The order in which people list files: name by name, numbers in them by their value.
pub fn in_order(a: &Path, b: &Path) -> Ordering {
    let (mut one, mut other) = (a.iter(), b.iter());
    loop {
        let (a, b) = match (one.next(), other.next()) {
            (Some(a), Some(b)) => (a.as_encoded_bytes(), b.as_encoded_bytes()),
            (a, b) => return a.is_some().cmp(&b.is_some()),
        };
        let order = name_order(a, b).then_with(|| a.cmp(b));
        if order.is_ne() {
            return order;
        }
    }
}

fn name_order(mut a: &[u8], mut b: &[u8]) -> Ordering {
    loop {
        let digits = |name: &[u8]| name.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (in_a, in_b) = (digits(a), digits(b));
        if in_a > 0 && in_b > 0 {
            let ((one, rest_a), (other, rest_b)) = (a.split_at(in_a), b.split_at(in_b));
            let value = |number: &[u8]| number.iter().position(|digit| *digit != b'0').unwrap_or(number.len());
            let (one, other) = (&one[value(one)..], &other[value(other)..]);
            match one.len().cmp(&other.len()).then_with(|| one.cmp(other)) {
                Ordering::Equal => (a, b) = (rest_a, rest_b),
                order => return order,
            }
            continue;
        }
        match (a.split_first(), b.split_first()) {
            (Some((one, rest_a)), Some((other, rest_b))) if one == other => (a, b) = (rest_a, rest_b),
            (one, other) => return one.map(|(byte, _)| byte).cmp(&other.map(|(byte, _)| byte)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_are_listed_as_people_count() {
        let sorted =
            ["a", "a/b", "mod_1/x", "mod_01/a", "mod_2/a", "mod_2/b10", "mod_10/a", "mod_10a", "x0", "x00", "x1"];
        for (n, a) in sorted.iter().enumerate() {
            for (m, b) in sorted.iter().enumerate() {
                let is_tie =
                    a.starts_with("mod_") && b.starts_with("mod_") || a.starts_with("x0") && b.starts_with("x0");
                let order = in_order(Path::new(a), Path::new(b));
                assert!(
                    order == n.cmp(&m) || is_tie && order == in_order(Path::new(b), Path::new(a)).reverse(),
                    "{a} {b}"
                );
            }
        }
        assert_eq!(in_order(Path::new("mod_2"), Path::new("mod_10")), Ordering::Less);
        assert_eq!(in_order(Path::new("mod_01/b"), Path::new("mod_1/a")), Ordering::Less, "one folder stays together");
    }

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
        assert_eq!(display(Path::new("/a/\x1b[31mb\nc"), &[], None), "/a/⟨U+001B⟩[31mb⟨U+000A⟩c");
    }

    #[test]
    fn two_names_never_look_the_same() {
        let shown = |name: &[u8]| display(Path::new(OsStr::from_bytes(name)), &[], None);
        assert_eq!(shown(b"new\nline.txt"), "new⟨U+000A⟩line.txt");
        assert_eq!(shown(b"new line.txt"), "new line.txt");
        assert_eq!(shown("gr\u{fc}n \u{202e}.rs".as_bytes()), "grün ⟨U+202E⟩.rs");
        assert_eq!(shown("a⟨U+000A⟩".as_bytes()), "a⟨U+27E8⟩U+000A⟩");
        assert_ne!(shown(b"a\xff"), shown(b"a\xfe"));
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

    fn name() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"\xff".to_vec()),
            Just("⟨".into()),
            Just("⟨U+000A⟩".into()),
            Just("⟨0xFF⟩".into()),
            Just("\u{202e}".into()),
            Just(b"\x1b[m".to_vec()),
            Just(b"a".to_vec()),
        ];
        proptest::collection::vec(piece, 0..4).prop_map(|parts: Vec<Vec<u8>>| parts.concat())
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
        fn names_are_harmless_and_differ(a in name(), b in name()) {
            let (shown, other) = (visible(OsStr::from_bytes(&a)), visible(OsStr::from_bytes(&b)));
            prop_assert_eq!(crate::base::sanitize::line(&shown), shown.as_str());
            prop_assert_eq!(a == b, shown == other, "{} {}", shown, other);
        }

        #[test]
        fn any_uri_is_survived(uri in ".{0,40}") {
            let _ = from_file_uri(&uri);
            let _ = from_file_uri(&format!("file://{uri}"));
        }
    }
}
