//! The mode that Shift+Tab leads to: the next one in which the agent still asks; and the one in which it only reads.
//!
//! Sets nothing. Invariant: a mode whose id, name or description says that the agent works without asking is not stepped
//! onto; the person chooses it by its name.

use crate::base::sanitize;
use crate::model::event::Intent;
use crate::model::options::{OptionKind, OptionValue};
use crate::model::session_ref::SessionRef;

/// What an id or a name has in it that asks nothing, in small letters and without signs between the words.
const NAMED: &[&str] = &[
    "bypass",
    "fullaccess",
    "fullauto",
    "yolo",
    "autoapprove",
    "approveall",
    "allowall",
    "alwaysapprove",
    "danger",
    "unrestricted",
    "unsafe",
    "noapproval",
    "nosandbox",
    "neverask",
    "skippermission",
];
/// The same of a description, which may well say what is asked about.
const DESCRIBED: &[&str] = &[
    "bypass",
    "fullaccess",
    "yolo",
    "autoapproveall",
    "autoapprovesall",
    "approveseverything",
    "approvesall",
    "withoutasking",
    "withoutapproval",
    "withoutconfirmation",
    "withoutprompting",
    "withoutpermission",
    "neverask",
    "noapproval",
    "noconfirmation",
    "skippermission",
    "skipspermission",
    "skipallpermission",
    "skipsallpermission",
    "nosandbox",
    // Whose decision it is, is said by the verb: you `handle` them, the agent `handles` them.
    "handlespermissiondecision",
    "makespermissiondecision",
    "decidespermission",
];

/// What an id or a name is that only reads.
const READS: &[&str] = &["plan", "planmode", "readonlymode", "readonly"];
/// What a description has in it that says so.
const SAYS_IT_READS: &[&str] = &["readonly", "noedits", "disallowsalledit"];

/// A mode that only reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub set: Intent,
    /// Leads back to the mode that is in force.
    pub back: Intent,
}

/// What Shift+Tab leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What is to be done and the name of the mode; nothing where there is no other one to step onto.
    pub next: Option<(Intent, String)>,
    /// The name of a mode that was passed over.
    pub passed: Option<String>,
}

/// Its letters and digits, small.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How surely a mode only reads, the surest first.
fn reads(id: &str, name: &str, description: Option<&str>) -> Option<u8> {
    if is_unasked(id, name, description) {
        return None;
    }
    let (id, name, said) = (plain(id), plain(name), plain(description.unwrap_or_default()));
    if [&id, &name].into_iter().any(|text| text.contains("readonly")) {
        return Some(0);
    }
    if SAYS_IT_READS.iter().any(|words| said.contains(words)) {
        return Some(1);
    }
    READS.iter().any(|words| id == *words || name == *words).then_some(2)
}

/// The mode that only reads, by what the agent says of its modes; nothing where there is none, or the session is in one.
pub fn reading(session: SessionRef<'_>) -> Option<Reading> {
    let mut best: Option<(u8, &str)> = None;
    let mut is_reading = false;
    let mut look = |current: &str, id, name, description| {
        let Some(rank) = reads(id, name, description) else { return };
        is_reading |= id == current;
        if best.is_none_or(|(known, _)| rank < known) {
            best = Some((rank, id));
        }
    };
    if let Some(modes) = session.older_modes() {
        for m in &modes.available {
            look(&modes.current, &m.id, &m.name, m.description.as_deref());
        }
        let set = |id: &str| Intent::SetMode { id: id.to_owned() };
        return best.filter(|_| !is_reading).map(|(_, id)| Reading { set: set(id), back: set(&modes.current) });
    }
    let option = session.mode_option()?;
    let OptionKind::Select { current, values } = &option.kind else { return None };
    for v in values {
        look(current, &v.value, &v.name, v.description.as_deref());
    }
    let set = |id: &str| Intent::SetOption { id: option.id.clone(), value: OptionValue::Id(id.to_owned()) };
    best.filter(|_| !is_reading).map(|(_, id)| Reading { set: set(id), back: set(current) })
}

/// What leads from a mode that only reads back to this one, where the agent has it.
pub fn back_to(session: SessionRef<'_>, id: &str) -> Option<Intent> {
    if let Some(modes) = session.older_modes() {
        let mode = |id: &str| modes.available.iter().find(|m| m.id == id);
        let now = mode(&modes.current)?;
        reads(&now.id, &now.name, now.description.as_deref())?;
        return mode(id).map(|m| Intent::SetMode { id: m.id.clone() });
    }
    let option = session.mode_option()?;
    let OptionKind::Select { current, values } = &option.kind else { return None };
    let value = |id: &str| values.iter().find(|v| v.value == id);
    let now = value(current)?;
    reads(&now.value, &now.name, now.description.as_deref())?;
    value(id).map(|v| Intent::SetOption { id: option.id.clone(), value: OptionValue::Id(v.value.clone()) })
}

/// The mode that is set by this, where it is one of the session.
pub fn set_by<'a>(session: SessionRef<'_>, intent: &'a Intent) -> Option<&'a str> {
    match intent {
        Intent::SetMode { id } => Some(id),
        Intent::SetOption { id, value: OptionValue::Id(value) } => {
            session.mode_option().filter(|option| option.id == *id).map(|_| &**value)
        }
        _ => None,
    }
}

/// Whether the agent has yet to answer about a mode.
pub fn is_being_set(session: SessionRef<'_>) -> bool {
    match session.older_modes() {
        Some(modes) => modes.pending.is_some(),
        None => session.mode_option().is_some_and(|option| option.pending.is_some()),
    }
}

/// Whether a mode is one in which the agent does not ask, as far as it says.
pub(super) fn is_unasked(id: &str, name: &str, description: Option<&str>) -> bool {
    let has = |text: &str, list: &[&str]| {
        let text = plain(text);
        list.iter().any(|words| text.contains(words))
    };
    has(id, NAMED) || has(name, NAMED) || description.is_some_and(|text| has(text, DESCRIBED))
}

/// The mode after the current one, or after the one that was come to; nothing when there are no modes. One that the agent
/// would not set is passed by.
pub fn next_mode(session: SessionRef<'_>, chosen: Option<&str>) -> Option<Step> {
    let is_refused = |id: &str| session.refused_modes.iter().any(|(refused, _)| refused == id);
    if let Some(modes) = session.older_modes() {
        let current = modes.pending.as_ref().unwrap_or(&modes.current);
        let current = chosen.unwrap_or(current);
        let at = modes.available.iter().position(|mode| mode.id == *current);
        let all: Vec<_> = modes
            .available
            .iter()
            .map(|mode| {
                if is_refused(&mode.id) {
                    return None;
                }
                let unasked = is_unasked(&mode.id, &mode.name, mode.description.as_deref());
                Some((Intent::SetMode { id: mode.id.clone() }, mode.name.as_str(), unasked))
            })
            .collect();
        return step(all, at);
    }
    let option = session.mode_option()?;
    let OptionKind::Select { current, values } = &option.kind else { return None };
    let current = if let Some(OptionValue::Id(id)) = &option.pending { id } else { current };
    let current = chosen.unwrap_or(current);
    let at = values.iter().position(|value| value.value == *current);
    let all: Vec<_> = values
        .iter()
        .map(|value| {
            if is_refused(&value.value) {
                return None;
            }
            let unasked = is_unasked(&value.value, &value.name, value.description.as_deref());
            let intent = Intent::SetOption { id: option.id.clone(), value: OptionValue::Id(value.value.clone()) };
            Some((intent, value.name.as_str(), unasked))
        })
        .collect();
    step(all, at)
}

fn step(mut all: Vec<Option<(Intent, &str, bool)>>, at: Option<usize>) -> Option<Step> {
    let len = all.len();
    if len == 0 {
        return None;
    }
    let mut step = Step { next: None, passed: None };
    let first = at.map_or(0, |at| at + 1);
    for place in (first..first + len).map(|place| place % len).filter(|place| len == 1 || Some(*place) != at) {
        let Some((intent, name, unasked)) = all.get_mut(place).and_then(Option::take) else { continue };
        let name = sanitize::line(name).trim().to_owned();
        if unasked && Some(place) != at {
            step.passed.get_or_insert(name);
        } else {
            step.next = Some((intent, name));
            break;
        }
    }
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_ask_nothing_are_known_by_what_is_said_of_them() {
        for (id, name, description) in [
            ("bypassPermissions", "Bypass Permissions", "Bypass all permission checks"),
            ("full-access", "Full Access", ""),
            ("m3", "Mode 3", "Runs every command without asking for approval"),
            ("yolo", "YOLO", "Auto-approves all tools"),
            ("auto_approve", "Auto", ""),
            ("x", "Dangerously free", ""),
            ("x", "All", "Skips all permission prompts"),
            ("agent#full", "Agent (full access)", ""),
            ("auto", "Auto", "Claude handles permission decisions"),
        ] {
            assert!(is_unasked(id, name, Some(description)), "{id}");
        }
        for (id, name, description) in [
            ("default", "Default", "Standard behavior, prompts for dangerous operations"),
            ("acceptEdits", "Accept Edits", "Automatically accept file edit operations"),
            ("autoEdit", "Auto Edit", "Auto-approves edit tools"),
            ("plan", "Plan Mode", "Read only"),
            ("auto", "Agent", "Works in the workspace; asks for approval to leave it"),
            ("read-only", "Read Only", "Requires approval to edit files"),
            ("manual", "Manual", "You handle permission decisions"),
            ("strict", "Strict", "Permission decisions are yours"),
            ("dontAsk", "Don't ask", "Denies what is not allowed already"),
        ] {
            assert!(!is_unasked(id, name, Some(description)), "{id}");
        }
        assert!(!is_unasked("a", "A", None));
    }

    #[test]
    fn a_mode_that_only_reads_is_known_by_what_is_said_of_it() {
        for (id, name, description, rank) in [
            ("read-only", "Read-only", "Requires approval to edit files and access the internet.", Some(0)),
            ("plan", "Plan", "Read-only mode", Some(1)),
            ("spec", "Spec", "Build feature specs (read-only)", Some(1)),
            ("ask", "Ask", "Answers; no edits", Some(1)),
            ("plan", "plan", "Plan mode. Disallows all edit tools.", Some(1)),
            ("plan", "Plan", "Create a plan before making changes", Some(2)),
            ("m2", "Plan Mode", "Planning mode, no actual tool execution", Some(2)),
            ("normal", "Auto (Off)", "Auto-approves only read operations", None),
            ("default", "Manual", "Always ask before making changes", None),
            ("read-only-yolo", "Read-only", "Runs commands without asking", None),
            ("planner", "Planner", "", None),
        ] {
            assert_eq!(reads(id, name, Some(description)), rank, "{id} {description}");
        }
    }

    #[test]
    fn a_step_passes_over_what_asks_nothing_and_says_so() {
        let mode = |id: &str, unasked| (Intent::SetMode { id: id.into() }, id.to_owned(), unasked);
        let modes = [mode("a", false), mode("b", true), mode("c", false)];
        let of = |at| {
            let all =
                modes.iter().map(|(intent, name, unasked)| Some((intent.clone(), name.as_str(), *unasked))).collect();
            let Step { next, passed } = step(all, at).unwrap();
            (next.map(|(_, name)| name), passed)
        };
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(of(None), (some("a"), None));
        assert_eq!(of(Some(0)), (some("c"), some("b")));
        assert_eq!(of(Some(1)), (some("c"), None));
        assert_eq!(of(Some(2)), (some("a"), None));
        let two = vec![
            Some((Intent::SetMode { id: "a".into() }, "a", false)),
            Some((Intent::SetMode { id: "b".into() }, "b", true)),
        ];
        let refused = vec![Some((Intent::SetMode { id: "a".into() }, "a", false)), None];
        assert_eq!(step(refused, Some(0)).map(|step| step.next), Some(None));
        assert_eq!(step(two, Some(0)).map(|step| (step.next, step.passed)), Some((None, some("b"))));
        assert_eq!(step(Vec::new(), None), None);
    }
}
