//! How a session stands: what its agent is at, what it offers, what its last command has printed.
//!
//! Read only. Invariant: what an agent or a command has said is cleaned where it is printed.

use super::QUOTE;
use super::settings::of_option;
use crate::base::{human, sanitize};
use crate::model::auth_status::AuthStatus;
use crate::model::entry::Body;
use crate::model::ids::Now;
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::ui::{cells, labels};

/// Lines of a command's output.
const MAX_OUTPUT: usize = 200;

/// Prompts that a turn has left behind that was stopped or has failed.
pub(super) fn held(count: usize) -> String {
    let (those, them) = if count == 1 { ("prompt is", "it") } else { ("prompts are", "them") };
    format!("note: {count} {those} held; :go sends {them}, :back takes {them} back")
}

pub(super) fn status(session: SessionRef<'_>, now: Now) -> Vec<String> {
    let what = match session.phase() {
        Phase::NotStarted => "not started".to_owned(),
        Phase::Starting { .. } => "being started".to_owned(),
        Phase::PutOff { .. } => "waits until the session can be loaded".to_owned(),
        Phase::Opening { .. } => "opens the session".to_owned(),
        Phase::AuthNeeded => "wants a log-in".to_owned(),
        Phase::Authenticating { .. } => "logs in".to_owned(),
        Phase::Dead(_) => "has ended".to_owned(),
        Phase::ReadOnly(_) => "is only shown".to_owned(),
        Phase::Ready if session.turn.is_none() => "is ready".to_owned(),
        Phase::Ready => match session.running_tool() {
            Some(call) => format!("works: {}", cells::in_words(call, session)),
            None => "works".to_owned(),
        },
    };
    let mut lines = vec![format!("state: {} {what}, in {}", labels::agent(session), session.cwd)];
    lines.extend(labels::held(session).map(|held| format!("note: {held}")));
    lines.extend(session.usage.as_ref().filter(|usage| usage.size > 0).map(|usage| {
        let cost = usage.cost.as_ref().map(|(amount, unit)| format!(", {amount:.2} {unit}")).unwrap_or_default();
        format!("note: {} of {} tokens of context used{cost}", human::tokens(usage.used), human::tokens(usage.size))
    }));
    let totals = session.changes().totals;
    if !totals.is_empty() {
        lines.push(format!("changed: {}", labels::sums(totals)));
    }
    let account = session.agent().auth_status.as_ref().and_then(AuthStatus::words);
    lines.extend(account.map(|account| format!("note: account: {account}")));
    lines.push(format!("note: the gate is {}", session.gate().name()));
    lines.extend(permissions(session, now));
    let confined = session.agent().confined.iter().flat_map(|one| labels::confined(one, &session.cwd));
    lines.extend(confined.map(|(part, words)| format!("note: sandbox, {part}: {words}")));
    lines.extend(session.session().settings().map(of_option));
    lines
}

/// The client's own mode.
pub(super) fn permissions(session: SessionRef<'_>, now: Now) -> Vec<String> {
    let mode = session.permission_mode(now);
    let left = session.permission_mode_left(now).map(|left| format!(", for another {}", human::duration(left)));
    vec![format!("note: permission mode {}{}: {}", mode.name(), left.unwrap_or_default(), mode.words())]
}

pub(super) fn commands(session: SessionRef<'_>) -> Vec<String> {
    if session.commands.is_empty() {
        return vec!["note: the agent has no commands".to_owned()];
    }
    session.commands.iter().map(|command| format!("/{}: {}", command.name, command.description)).collect()
}

/// The end of what the newest command has printed.
pub(super) fn output(session: SessionRef<'_>) -> Vec<String> {
    let Some(terminal) = session.terminals().filter(|t| !t.command.is_empty()).max_by_key(|t| (t.started, t.entry))
    else {
        return last_texts(session);
    };
    let text = terminal.printed();
    let all: Vec<&str> = text.trim_end().lines().collect();
    let mut lines = vec![format!("command: {}", terminal.command)];
    let over = all.len().saturating_sub(MAX_OUTPUT);
    if over > 0 {
        lines.push(format!("  {} before these", human::count(over as u64, "line")));
    }
    lines.extend(all.iter().skip(over).map(|line| format!("{QUOTE}{}", sanitize::plain(line))));
    lines
}

/// Some agents give what a command has printed as text of its call.
fn last_texts(session: SessionRef<'_>) -> Vec<String> {
    let mut calls = session.entries().slots().rev().filter_map(|slot| slot.here());
    let call = calls.find(|entry| matches!(&entry.body, Body::Tool(call) if !call.content.is_empty()));
    match call {
        Some(entry) => cells::source(entry, session)
            .lines()
            .take(MAX_OUTPUT)
            .map(|line| format!("{QUOTE}{}", sanitize::plain(line)))
            .collect(),
        None => vec!["note: no command has printed anything".to_owned()],
    }
}
