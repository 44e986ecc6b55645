//! What an agent says that an answer to its question does, in our words.
//!
//! Chooses nothing. Invariants: it is left unsaid only where the name consists of nothing but words that say the same;
//! what lasts is always said to.

use super::ViewCx;
use super::choices::{By, Choice};
use crate::base::sanitize;
use crate::model::event::PermissionKind;
use crate::model::question::{self, About, Question};
use crate::ui::keys::{Action, Layer, Sort};
use crate::ui::labels::{self, NO, Only, YES};

/// Columns from which the letters that answer stand beside the digits.
const LETTERS_FROM: u16 = 60;

/// The answers that the agent offers, each with its keys.
pub(super) fn answers(cx: &ViewCx<'_>, pending: &Question, columns: u16) -> Vec<Choice> {
    pending
        .options
        .iter()
        .enumerate()
        .map(|(at, option)| {
            let name = sanitize::line(&option.name);
            let name = if name.trim().is_empty() { sanitize::line(&option.id) } else { name };
            let kind = if pending.about == About::Permission { beside(&name, option.kind) } else { "" };
            let mut key = digit(at);
            if let Some(sort) = sort(option.kind).filter(|_| columns >= LETTERS_FROM)
                && labels::only(pending, sort) == Only::One(at)
                && let Some(letter) = cx.state.keys.label(Layer::Dock, Action::AnswerBy(sort))
            {
                key.push(' ');
                key.push_str(&letter);
            }
            let lasts = question::holds(option);
            let refuses = matches!(option.kind, PermissionKind::RejectOnce | PermissionKind::RejectAlways);
            Choice { kind, lasts, refuses, ..Choice::new(key, name.trim().to_owned(), By::Highlight, Vec::new()) }
        })
        .collect()
}

/// The key of a choice; beyond nine only the arrows reach it.
pub(super) fn digit(at: usize) -> String {
    if at < 9 { (at + 1).to_string() } else { "·".to_owned() }
}

/// Words to stand beside a name; empty when the name says it already, or when it is unknown.
pub(super) fn beside(name: &str, kind: PermissionKind) -> &'static str {
    let (words, verbs, how) = match kind {
        PermissionKind::AllowOnce => ("allow once", YES, "once"),
        PermissionKind::AllowAlways => ("allow for good", YES, "always"),
        PermissionKind::RejectOnce => ("reject once", NO, "once"),
        PermissionKind::RejectAlways => ("reject for good", NO, "always"),
        PermissionKind::Unknown => return "",
    };
    // What its name says of how long it holds counts more than its kind.
    if may_last(name, kind) {
        return "may last";
    }
    let name = name.to_lowercase();
    let said = || name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let agrees = said().all(|word| word == how || verbs.contains(&word)) && said().any(|word| verbs.contains(&word));
    // Without a word about it, once is meant.
    match (agrees, how) {
        (true, "once") => "",
        (true, _) if said().any(|word| word == how) => "for good",
        // How long is the agent's to say.
        (_, "always") if labels::is_of_session(&name, verbs) => "lasts",
        _ => words,
    }
}

/// What answers in this way.
pub(super) const fn sort(kind: PermissionKind) -> Option<Sort> {
    Some(match kind {
        PermissionKind::AllowOnce => Sort::AllowOnce,
        PermissionKind::AllowAlways => Sort::AllowAlways,
        PermissionKind::RejectOnce => Sort::RejectOnce,
        PermissionKind::RejectAlways => Sort::RejectAlways,
        PermissionKind::Unknown => return None,
    })
}

/// Whether the name of an answer says that it holds for more than this once, though it is said to be for this once.
fn may_last(name: &str, kind: PermissionKind) -> bool {
    kind == PermissionKind::AllowOnce && question::lasts(name)
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
            ("Allow for this session", AllowOnce, "may last"),
            ("Yes, and don't ask again", AllowOnce, "may last"),
            ("Yes, and don't ask again this session", AllowAlways, "allow for good"),
            ("Always allow", AllowOnce, "may last"),
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
