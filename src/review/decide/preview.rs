//! What a write, or a diff in a question, would really do to the disk.
//!
//! Pure. Invariant: it never claims to know better than the disk: what does not fit is shown as the agent sent it,
//! and said to differ.

use std::sync::Arc;

/// What would be there before and after, and how the agent's view differs from the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    pub old: Option<Arc<str>>,
    pub new: Arc<str>,
    pub differs: Option<String>,
}

/// `disk` is the text that is there, nothing when there is no file. `old` may be a fragment, a hunk, the whole file,
/// empty or missing.
pub fn compare(disk: Option<&str>, old: Option<&str>, new: &str) -> Effective {
    let old = old.filter(|old| !old.is_empty());
    let claim =
        |differs: &str| Effective { old: old.map(Into::into), new: new.into(), differs: Some(differs.to_owned()) };
    match (disk, old) {
        (None, None) => Effective { old: None, new: new.into(), differs: None },
        (None, Some(_)) => claim("there is no such file"),
        (Some(disk), None) if disk.is_empty() => Effective { old: Some(disk.into()), new: new.into(), differs: None },
        (Some(disk), None) => Effective {
            old: Some(disk.into()),
            new: new.into(),
            differs: Some("the agent names no old text, and the file exists: all of it would be replaced".to_owned()),
        },
        (Some(disk), Some(old)) => fit(disk, old, new).unwrap_or_else(|| {
            claim(if !new.is_empty() && disk.contains(new) {
                "the change is on the disk already"
            } else {
                "the text that it wants to replace is not in the file"
            })
        }),
    }
}

fn fit(disk: &str, old: &str, new: &str) -> Option<Effective> {
    let whole =
        |new: String, differs: Option<String>| Some(Effective { old: Some(disk.into()), new: new.into(), differs });
    if disk == old {
        return whole(new.to_owned(), None);
    }
    let (old, new) = if disk.contains(old) {
        (old.to_owned(), new.to_owned())
    } else if disk.contains("\r\n") {
        // Agents show lines with LF ends, also of a file with CRLF.
        (with_crlf(old), with_crlf(new))
    } else {
        return None;
    };
    if disk == old {
        return whole(new, None);
    }
    match disk.matches(&old).take(2).count() {
        0 => None,
        1 => whole(disk.replacen(&old, &new, 1), None),
        _ => whole(
            disk.replacen(&old, &new, 1),
            Some("the text that it wants to replace occurs more than once; the first is shown".to_owned()),
        ),
    }
}

/// The line, from 1, at which a text begins that is in the file just once.
pub fn line_of(disk: &str, text: &str) -> Option<u32> {
    let crlf = if disk.contains("\r\n") { with_crlf(text) } else { String::new() };
    let text = if disk.contains(text) { text } else { &crlf };
    if text.trim().is_empty() {
        return None;
    }
    let mut found = disk.match_indices(text).map(|(at, _)| at);
    let at = found.next().filter(|_| found.next().is_none())?;
    u32::try_from(disk.get(..at)?.matches('\n').count() + 1).ok()
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(disk: Option<&str>, old: Option<&str>, new: &str) -> (Option<String>, String, bool) {
        let got = compare(disk, old, new);
        (got.old.map(|s| s.to_string()), got.new.to_string(), got.differs.is_some())
    }

    #[test]
    fn a_text_stands_where_it_is_alone() {
        let disk = "one\ntwo\r\nthree\none\n";
        for (text, line) in
            [("one", None), ("two", Some(2)), ("two\nthree", Some(2)), ("hree\none", Some(3)), ("4", None), ("", None)]
        {
            assert_eq!(line_of(disk, text), line, "{text:?}");
        }
    }

    #[test]
    fn scenario_48_fragments_hunks_whole_files_and_nothing() {
        let own = |old: Option<&str>, new: &str, differs| (old.map(str::to_owned), new.to_owned(), differs);
        let disk = "one\ntwo\nthree\n";
        // A whole file, a fragment, a hunk with context.
        assert_eq!(check(Some(disk), Some(disk), "x\n"), own(Some(disk), "x\n", false));
        assert_eq!(check(Some(disk), Some("two"), "TWO"), own(Some(disk), "one\nTWO\nthree\n", false));
        assert_eq!(check(Some(disk), Some("one\ntwo\n"), "one\n2\n"), own(Some(disk), "one\n2\nthree\n", false));
        // Null, empty or missing.
        for old in [None, Some("")] {
            assert_eq!(check(None, old, "new"), own(None, "new", false));
            assert_eq!(check(Some(disk), old, "new"), own(Some(disk), "new", true), "an existing file is replaced");
            assert_eq!(check(Some(""), old, "new"), own(Some(""), "new", false));
        }
        // Not what is on the disk: as the agent sent it, and said.
        assert_eq!(check(Some(disk), Some("tow"), "TWO"), own(Some("tow"), "TWO", true));
        assert_eq!(check(None, Some("two"), "TWO"), own(Some("two"), "TWO", true));
        assert_eq!(check(Some("a a"), Some("a"), "b"), own(Some("a a"), "b a", true));
        // Line ends.
        let crlf = "one\r\ntwo\r\n";
        assert_eq!(check(Some(crlf), Some("one\ntwo\n"), "one\n2\n"), own(Some(crlf), "one\r\n2\r\n", false));
    }
}
