//! An agent of which nothing is heard, while it works or after it was asked to stop: what is waited for, and what can be done.
//!
//! Does nothing. Invariant: waiting on is always one of the choices, and needs no key.

use super::{Contents, DETAIL_LINES, keys, plain, quoted, strong};
use crate::base::{human, sanitize};
use crate::model::event::Can;
use crate::model::session::Phase;
use crate::text::token::Token;
use crate::ui::cells;
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::state::dock::Raw;
use crate::ui::state::silence;
use crate::ui::view::ViewCx;

/// It works, as far as is known.
pub(super) fn quiet(cx: &ViewCx<'_>) -> Option<Contents> {
    let since = silence::heard(cx.session)?;
    let silent = labels::clock(cx.now.saturating_sub(since));
    let agent = labels::agent(cx.session);
    let waits_for = cells::waits_for(cx.session, cx.now);
    let words = format!("{agent} has said nothing for {silent}");
    let list = [("w", "wait on"), ("x", "stop the turn"), ("r", again(cx))];
    Some(Contents::of(vec![strong(&words, Token::Warn), plain(&waits_for, Token::Text)], keys(cx, Layer::Dock, &list)))
}

/// It was asked to stop.
pub(super) fn unconfirmed(cx: &ViewCx<'_>) -> Option<Contents> {
    let since = cx.session.turn.as_ref()?.cancelling?;
    let waited = labels::clock(cx.now.saturating_sub(since));
    let words = format!("{} has not confirmed the stop for {waited}", labels::agent(cx.session));
    let note = "Wait on, or end it: the files it has written stay.";
    let list = [("k", "end the agent"), ("r", again(cx))];
    Some(Contents::of(vec![strong(&words, Token::Warn), plain(note, Token::Dim)], keys(cx, Layer::Dock, &list)))
}

/// What a new start leads to.
fn again(cx: &ViewCx<'_>) -> &'static str {
    let agent = cx.session.agent();
    if agent.can(Can::Load) || agent.can(Can::Resume) {
        "end it, start it again and go on"
    } else {
        "end it, start it again with a new session"
    }
}

/// A start that takes long, with what the agent has printed.
pub(super) fn start(cx: &ViewCx<'_>) -> Option<Contents> {
    let (Phase::Starting { since } | Phase::Opening { since }) = cx.session.phase() else { return None };
    let waited = human::duration(cx.now.saturating_sub(since));
    let command = sanitize::line(&cx.session.agent().command);
    let mut body = vec![strong(&format!("no answer for {waited} from {}", command.trim()), Token::Warn)];
    let lines = &cx.state.view.dock.stderr;
    let keep = if cx.state.view.dock.all_stderr == Raw::Shown { usize::MAX } else { DETAIL_LINES - 1 };
    if lines.is_empty() {
        body.push(plain("It has printed no messages.", Token::Dim));
    }
    body.extend(lines.iter().skip(lines.len().saturating_sub(keep)).map(|l| quoted(l)));
    body.extend(cx.session.agent().confinement().map(|words| plain(words, Token::Warn)));
    let s = if cx.state.view.dock.all_stderr == Raw::Shown { "fewer messages" } else { "all its messages" };
    Some(Contents::of(body, keys(cx, Layer::Dock, &[("s", s), ("q", "end it")])))
}
