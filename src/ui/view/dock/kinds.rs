//! What an agent says that an answer to its question does, in our words.
//!
//! Chooses nothing. Invariant: it is left unsaid only where the name consists of nothing but words that say the same.

use crate::model::event::PermissionKind;

const YES: [&str; 4] = ["allow", "yes", "approve", "accept"];
const NO: [&str; 4] = ["reject", "no", "deny", "refuse"];

/// Words to stand beside a name; empty when the name says it already, or when nobody knows.
pub(super) fn beside(name: &str, kind: PermissionKind) -> &'static str {
    let (words, verbs, how) = match kind {
        PermissionKind::AllowOnce => ("allow once", YES, "once"),
        PermissionKind::AllowAlways => ("allow always", YES, "always"),
        PermissionKind::RejectOnce => ("reject once", NO, "once"),
        PermissionKind::RejectAlways => ("reject always", NO, "always"),
        PermissionKind::Unknown => return "",
    };
    let name = name.to_lowercase();
    let said = || name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let agrees = said().all(|word| word == how || verbs.contains(&word)) && said().any(|word| verbs.contains(&word));
    // Without a word about it, once is meant.
    if agrees && (how == "once" || said().any(|word| word == how)) { "" } else { words }
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
            ("Always allow", AllowAlways),
            ("Reject", RejectOnce),
            ("No", RejectOnce),
            ("Always reject", RejectAlways),
            ("Hm", Unknown),
        ] {
            assert_eq!(beside(name, kind), "", "{name}");
        }
        for (name, kind, words) in [
            ("Reject", AllowAlways, "allow always"),
            ("Allow", AllowAlways, "allow always"),
            ("Allow once", AllowAlways, "allow always"),
            ("Always allow", AllowOnce, "allow once"),
            ("Always allow cargo test", AllowAlways, "allow always"),
            ("Do not allow", AllowOnce, "allow once"),
            ("Allow nothing", AllowOnce, "allow once"),
            ("Allow", RejectOnce, "reject once"),
            ("Reject", RejectAlways, "reject always"),
            ("Once", AllowOnce, "allow once"),
            ("", AllowOnce, "allow once"),
            ("Разрешить", RejectOnce, "reject once"),
        ] {
            assert_eq!(beside(name, kind), words, "{name}");
        }
    }
}
