//! What the title of a call may name: some agents say nowhere else which file it is.
//!
//! Invariant: nothing is allowed or denied by these words; of what they name it is only looked at where it lies.

use crate::model::tool::ToolKind;

/// Words of a title that are looked at.
const MAX_WORDS: usize = 40;
/// What stands around a path in a sentence.
const AROUND: [char; 14] = ['`', '\'', '"', '“', '”', '‘', '’', '(', ')', '[', ']', ',', ';', ':'];

/// What may be a path, the longest first: what stands behind the name of a tool or a verb and, where the call changes or
/// reads files and does not name them otherwise, each word.
pub(super) fn named(kind: ToolKind, title: &str, is_unnamed: bool) -> Vec<String> {
    let has_words = match kind {
        // How one is moved stands in the title alone, and the place where it is goes without saying.
        ToolKind::Move => true,
        ToolKind::Read | ToolKind::Edit | ToolKind::Delete if is_unnamed => true,
        // Another word than what the whole is about may be anything: a pattern, an address.
        ToolKind::Search | ToolKind::Other => false,
        _ => return Vec::new(),
    };
    let title = title.trim();
    let words = title.split_whitespace().filter(|_| has_words).take(MAX_WORDS);
    let words = words.map(|word| word.trim_matches(AROUND));
    let mut found: Vec<String> = Vec::new();
    for path in std::iter::once(behind_verb(title).trim_matches('`')).chain(words) {
        if path.contains(char::is_alphanumeric) && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// `WriteFile: /a b` and `Edit /a b` → `/a b`.
fn behind_verb(title: &str) -> &str {
    if may_leave(title) {
        return title;
    }
    let is_name = |front: &str| !front.contains(char::is_whitespace);
    let behind_name = title.split_once(": ").filter(|(front, _)| is_name(front));
    behind_name.or_else(|| title.split_once(char::is_whitespace)).map_or(title, |(_, rest)| rest.trim())
}

/// Whether a text begins as a path does that need not lie below the session's directory.
pub fn may_leave(text: &str) -> bool {
    text.starts_with(['/', '~']) || text.starts_with("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_names_what_stands_behind_its_verb_and_its_words() {
        use ToolKind::{Delete, Edit, Execute, Fetch, Move, Other, Read, Search};
        let of = |kind, title| named(kind, title, true);
        assert_eq!(of(Other, "WriteFile: /out/new file.txt"), ["/out/new file.txt"]);
        assert_eq!(of(Other, "/out/new file.txt"), ["/out/new file.txt"]);
        assert_eq!(of(Edit, "Edit `/out/a`"), ["/out/a", "Edit"]);
        assert_eq!(of(Delete, "Delete /etc/passwd"), ["/etc/passwd", "Delete"]);
        assert_eq!(
            of(Read, "Read the file /etc/x, please"),
            ["the file /etc/x, please", "Read", "the", "file", "/etc/x", "please"]
        );
        assert_eq!(of(Search, "Glob: /etc"), ["/etc"]);
        assert_eq!(
            of(Search, "grep '/api/users' in src"),
            ["'/api/users' in src"],
            "as a whole it is no path of another place than it says"
        );
        assert_eq!(named(Move, "Move a to /b", false), ["a to /b", "Move", "a", "to", "/b"]);
        for (kind, title, is_unnamed) in
            [(Execute, "cat /etc/x", true), (Fetch, "GET /x", true), (Edit, "src/a.rs: fn a() -> 4 / 2", false)]
        {
            assert!(named(kind, title, is_unnamed).is_empty(), "{title}");
        }
    }
}
