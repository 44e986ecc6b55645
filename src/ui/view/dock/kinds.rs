//! What an agent says that an answer to its question does, in our words.
//!
//! Chooses nothing. Invariants: it is left unsaid only where the name consists of nothing but words that say the same;
//! what lasts is always said to.

use crate::model::event::PermissionKind;
use crate::ui::keys::Sort;

const YES: [&str; 4] = ["allow", "yes", "approve", "accept"];
const NO: [&str; 4] = ["reject", "no", "deny", "refuse"];

/// Words to stand beside a name; empty when the name says it already, or when it is unknown.
pub(super) fn beside(name: &str, kind: PermissionKind) -> &'static str {
    let (words, verbs, how) = match kind {
        PermissionKind::AllowOnce => ("allow once", YES, "once"),
        PermissionKind::AllowAlways => ("allow for good", YES, "always"),
        PermissionKind::RejectOnce => ("reject once", NO, "once"),
        PermissionKind::RejectAlways => ("reject for good", NO, "always"),
        PermissionKind::Unknown => return "",
    };
    let name = name.to_lowercase();
    let said = || name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let agrees = said().all(|word| word == how || verbs.contains(&word)) && said().any(|word| verbs.contains(&word));
    // Without a word about it, once is meant.
    match (agrees, how) {
        (true, "once") => "",
        (true, _) if said().any(|word| word == how) => "for good",
        // How long is the agent's to say.
        (_, "always") if is_of_session(&name, verbs) => "lasts",
        _ => words,
    }
}

/// Whether a name says that it is meant for a session, and nothing but one of these verbs.
fn is_of_session(name: &str, verbs: [&str; 4]) -> bool {
    let words = || name.split(|c: char| !c.is_alphanumeric());
    let turns = |word: &str| matches!(word, "not" | "don" | "dont" | "never" | "nothing" | "without" | "unless");
    let is_other = |word: &str| (YES.contains(&word) || NO.contains(&word)) && !verbs.contains(&word);
    words().any(|word| word == "session")
        && words().any(|word| verbs.contains(&word))
        && !words().any(|word| turns(word) || is_other(word))
}

/// The letter that answers in this way.
pub(super) const fn letter(kind: PermissionKind) -> Option<(Sort, char)> {
    Some(match kind {
        PermissionKind::AllowOnce => (Sort::AllowOnce, 'y'),
        PermissionKind::AllowAlways => (Sort::AllowAlways, 'A'),
        PermissionKind::RejectOnce => (Sort::RejectOnce, 'n'),
        PermissionKind::RejectAlways => (Sort::RejectAlways, 'N'),
        PermissionKind::Unknown => return None,
    })
}

/// Whether what is answered holds for more than this once.
pub(super) const fn lasts(kind: PermissionKind) -> bool {
    matches!(kind, PermissionKind::AllowAlways | PermissionKind::RejectAlways)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_left_unsaid_only_where_the_name_says_nothing_else() {
        use PermissionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce, Unknown};
        for (name, kind) in [
            ("Allow", AllowOnce),
            ("Allow once", AllowOnce),
            ("Yes", AllowOnce),
            ("Reject", RejectOnce),
            ("No", RejectOnce),
            ("Hm", Unknown),
        ] {
            assert_eq!(beside(name, kind), "", "{name}");
        }
        for (name, kind, words) in [
            ("Always allow", AllowAlways, "for good"),
            ("Always reject", RejectAlways, "for good"),
            ("Reject", AllowAlways, "allow for good"),
            ("Allow", AllowAlways, "allow for good"),
            ("Allow once", AllowAlways, "allow for good"),
            ("Allow for this session", AllowAlways, "lasts"),
            ("No, not in this session", RejectAlways, "reject for good"),
            ("Reject for this session", RejectAlways, "lasts"),
            ("Reject for this session", AllowAlways, "allow for good"),
            ("Allow for this session", AllowOnce, "allow once"),
            ("Yes, and don't ask again this session", AllowAlways, "allow for good"),
            ("Always allow", AllowOnce, "allow once"),
            ("Always allow cargo test", AllowAlways, "allow for good"),
            ("Do not allow", AllowOnce, "allow once"),
            ("Allow nothing", AllowOnce, "allow once"),
            ("Allow", RejectOnce, "reject once"),
            ("Reject", RejectAlways, "reject for good"),
            ("Once", AllowOnce, "allow once"),
            ("", AllowOnce, "allow once"),
            ("Разрешить", RejectOnce, "reject once"),
        ] {
            assert_eq!(beside(name, kind), words, "{name}");
        }
    }
}
