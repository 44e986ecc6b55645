//! When an agent that works has been silent for so long that it is offered to give up on it.
//!
//! Looks at the model only. Invariant: what prints is not silent.

use super::timing::{OFFER_AFTER, OFFER_AFTER_TOOL};
use crate::model::ids::Now;
use crate::model::session_ref::SessionRef;
use crate::model::terminal::Terminal;
use std::time::Duration;

/// When anything was heard last in the turn that runs, of the agent or of a command of its; before the person's answer it
/// could not go on.
pub fn heard(session: SessionRef<'_>) -> Option<Now> {
    let turn = session.turn.as_ref().filter(|turn| turn.cancelling.is_none() && !turn.is_unsent)?;
    if session.waits_for_person() || !session.questions().is_empty() {
        return None;
    }
    let moved = session.terminals().map(|terminal| terminal.ended.unwrap_or(terminal.moved));
    Some(moved.chain(turn.waits.answered()).fold(turn.heard, Now::max))
}

/// From when on it is offered. A tool may take its time.
pub fn offered_at(session: SessionRef<'_>, now: Now) -> Option<Now> {
    let heard = heard(session)?;
    let first = heard.saturating_add(OFFER_AFTER);
    if now < first {
        return Some(first);
    }
    let has_tool = || session.running_tool().is_some() || session.terminals().any(Terminal::is_running);
    let after: Duration = if has_tool() { OFFER_AFTER_TOOL } else { OFFER_AFTER };
    Some(heard.saturating_add(after))
}
