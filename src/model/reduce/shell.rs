//! Commands of the person's own: no rule judges them, no agent is told of them, the end of a turn does not end them.
//!
//! Invariant: one is known from the moment that it runs until the person has it forgotten or its session is closed.

use super::super::effect::{Effect, FrontEnd};
use super::super::entry::Level;
use super::super::ids::{Now, TermId};
use super::super::session::shell::MAX_SHELL;
use super::super::session::{Closed, Session, SessionState};
use super::super::terminal::{Terminal, TerminalOrigin};
use super::super::tool::Exit;
use super::{Cx, notice, review};
use crate::text::grid::ScreenSnapshot;
use std::sync::Arc;

pub fn run(session: &mut Session, line: String, cx: &mut Cx) {
    if line.trim().is_empty() {
        return;
    }
    if session.shell.len() >= MAX_SHELL {
        let words = format!("not run: {MAX_SHELL} commands wait · Enter sends their output, Delete leaves one out");
        return cx.push(Effect::FrontEnd(FrontEnd::Said(words)));
    }
    cx.push(Effect::Shell(line));
}

pub fn started(session: &mut Session, term: TermId, line: String, cx: &mut Cx) {
    if session.state == SessionState::Closed(Closed::ByPerson) {
        return cx.push(Effect::TerminalRelease(term));
    }
    let cwd = session.cwd.clone();
    let fresh = Terminal::new(term, TerminalOrigin::Ours, session.last_turn, cx.now);
    review::shell(session, number(&fresh.id), false, cx);
    session.shell.push(Terminal { command: line, cwd, ..fresh });
}

/// Counted by who has started it; never given twice.
fn number(id: &TermId) -> u64 {
    id.as_str().rsplit('-').next().and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

pub fn failed(session: &mut Session, line: &str, message: &str, cx: &mut Cx) {
    notice(session, Level::Warn, format!("could not run {line}: {message}"), Vec::new(), cx.now);
}

fn find<'a>(session: &'a mut Session, id: &TermId) -> Option<&'a mut Terminal> {
    session.shell.iter_mut().find(|term| term.id == *id)
}

/// False: it is none of the person's.
pub fn exited(session: &mut Session, id: &TermId, exit: &Exit, end: &str, cx: &mut Cx) -> bool {
    let Some(term) = find(session, id) else { return false };
    term.exit = Some(exit.clone());
    term.ended = Some(cx.now);
    term.text.push(end);
    review::shell(session, number(id), true, cx);
    true
}

/// The same for what it shows, or only that it has moved.
pub fn moved(session: &mut Session, id: &TermId, screen: Option<Arc<ScreenSnapshot>>, now: Now) -> bool {
    let Some(term) = find(session, id) else { return false };
    match screen {
        Some(screen) => term.screen = Some(screen),
        None => term.moved = now,
    }
    true
}

pub fn forget(session: &mut Session, id: &TermId, cx: &mut Cx) {
    if let Some(term) = find(session, id) {
        if term.is_running() {
            review::shell(session, number(id), true, cx);
        }
        session.shell.retain(|term| term.id != *id);
        cx.push(Effect::TerminalRelease(id.clone()));
    }
}

/// The person has closed the session.
pub fn end_all(session: &mut Session, cx: &mut Cx) {
    for term in session.shell.drain(..) {
        cx.push(Effect::TerminalRelease(term.id));
    }
}
