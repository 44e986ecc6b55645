//! The names that actions have behind `:` and in the palette besides what they do: those of plain lines where there is one.
//!
//! Plain data. Invariant: each is one word in small letters.

use crate::ui::keys::Action;

/// What begins a line that sets the client's own mode.
const PERMISSIONS: &str = ":permissions";

const NAMES: &[(Action, &[&str])] = &[
    (Action::NextGate, &["gate"]),
    (Action::Panel, &["panel"]),
    (Action::NextMode, &["mode"]),
    (Action::OptionsList, &["mode", "model", "set", "permissions", "login", "logout", "options"]),
    (Action::OpenReview, &["changes", "accept", "reject", "undo"]),
    (Action::Sessions, &["sessions"]),
    (Action::NewSession, &["new"]),
    (Action::CloseSession, &["close"]),
    (Action::Inspect, &["messages"]),
    (Action::CopyAnswer, &["copy"]),
    (Action::FocusDock, &["again"]),
    (Action::Help, &["help"]),
];

/// Those of an action.
pub fn of(action: Action) -> &'static [&'static str] {
    NAMES.iter().find(|(named, _)| *named == action).map_or(&[], |(_, names)| names)
}

/// The mode behind `:permissions`, as plain lines have it, where a line is no more than that.
pub fn permissions(line: &str) -> Option<&str> {
    let wanted = line.trim().strip_prefix(PERMISSIONS).filter(|wanted| wanted.starts_with(char::is_whitespace));
    wanted.map(str::trim).filter(|wanted| !wanted.contains('\n'))
}

/// Whether any has this one.
pub fn is_one(name: &str) -> bool {
    NAMES.iter().any(|(_, names)| names.contains(&name))
}
