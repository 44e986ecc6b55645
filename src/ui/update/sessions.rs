//! Keys for sessions: opening a further one, going from one to another, closing one.
//!
//! Invariant: a session that works, or in which something is written or waits to be sent, is closed only after the
//! person has been asked.

use super::{Cx, common};
use crate::model::event::Intent;
use crate::model::ids::{Now, SessionKey};
use crate::model::session::{Closed, SessionState};
use crate::model::session_ref::SessionRef;
use crate::ui::keys::{Action, Layer};
use crate::ui::msg::Out;
use crate::ui::state::dock::{ARM, Neighbour};
use crate::ui::state::opener::Whose;
use crate::ui::state::picker::Purpose;
use crate::ui::state::session_view::SessionView;
use crate::ui::state::timing::QUIT_WINDOW;
use crate::ui::state::{App, Holds};

/// How Ctrl+D is said to quit.
pub(super) const CTRL_D: &str = " · {Ctrl+D} again quits";

pub(super) fn go(state: &mut App, cx: Cx<'_>, to: Neighbour, out: &mut Vec<Out>) {
    match state.neighbour(to) {
        Some(key) => out.push(Out::Show(key)),
        None => state.say(state.keys.say(Layer::Composer, "there is one session · {Ctrl+T} opens another"), cx.now),
    }
}

/// Has the person choose who the conversation goes on with.
pub(super) fn hand_over(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    if cx.session.has_talked() {
        out.push(Out::ListAgents(Purpose::HandOver));
    } else {
        state.say("nothing has been said here that could be handed over", cx.now);
    }
}

/// One that is only shown goes on with the same agent, as a new session.
pub(super) fn go_on_anew(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    if cx.session.read_only().is_some() || matches!(cx.session.state, SessionState::Closed(Closed::Refused(_))) {
        out.push(Out::HandOver(Whose::Running(cx.session.agent_key())));
    } else {
        state.say(
            state.keys.say(Layer::Composer, "this session goes on by itself · {Alt+H} hands it over to another agent"),
            cx.now,
        );
    }
}

/// Closes the session that is shown, and asks first when something would be lost.
pub(super) fn close(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    if !state.has_several() {
        return state.say(state.keys.say(Layer::Composer, "this is the only session · {Ctrl+D} quits"), cx.now);
    }
    if let Some(from) = state.close_armed {
        // A key that is held down is no answer.
        if cx.now >= from {
            out.push(Out::Intent(Intent::CloseSession));
        }
        return;
    }
    let why = if is_busy(cx.session) {
        "it works"
    } else if !state.view.composer.is_blank() || !cx.session.held.is_empty() {
        "something is written"
    } else {
        return out.push(Out::Intent(Intent::CloseSession));
    };
    state.close_armed = Some(cx.now.saturating_add(ARM));
    let keys = state.keys.say(Layer::Composer, " · {Alt+W} again closes the session · {Esc} keeps it");
    state.say_while(Holds::CloseArmed, format!("{why}{keys}"), cx.now);
    if let Some(toast) = &mut state.toast {
        toast.until = None;
    }
}

/// Quits, and asks first while something is alive: a turn, a command, a question, prompts that wait, or a draft in a session that is not
/// shown.
pub(super) fn quit(state: &mut App, cx: Cx<'_>, again: &'static str, out: &mut Vec<Out>) {
    let Some(alive) = alive(state, cx) else { return out.push(Out::Quit) };
    if state.quit_armed_until.take().is_some() {
        return out.push(Out::Quit);
    }
    let again = state.keys.say(Layer::Composer, again);
    arm_quit(state, format!("{alive}{again}"), cx.now);
}

/// Ctrl+C had nothing else to do: once more, it quits, which is said with what would end then.
pub(super) fn ask_to_quit(state: &mut App, alive: Option<&str>, now: Now) {
    let alive = alive.map(|alive| format!("{alive} · ")).unwrap_or_default();
    let again = state.keys.say(Layer::Composer, "{Ctrl+C} again quits");
    arm_quit(state, format!("{alive}{again}"), now);
}

/// What would end with acp-tui, or be left.
pub(super) fn alive(state: &App, cx: Cx<'_>) -> Option<&'static str> {
    let shown = state.shown();
    let is_left = |(key, view): &(SessionKey, &SessionView)| {
        let session = cx.model.at(*key).filter(|_| *key != shown);
        session.is_some_and(|session| is_busy(session) || !view.composer.is_blank() || !session.held.is_empty())
    };
    let left = state.views().iter().filter(|view| is_left(view)).count();
    let is_held = !cx.session.held.is_empty();
    let here = if !cx.session.questions().is_empty() {
        Some(if is_held { "a question waits, and prompts" } else { "a question waits" })
    } else if cx.session.turn.is_some() {
        Some(if is_held { "a turn runs, and prompts wait" } else { "a turn runs" })
    } else if cx.session.running_terminal().is_some() {
        Some(if is_held { "a command runs, and prompts wait" } else { "a command runs" })
    } else {
        is_held.then_some("prompts wait that were not sent")
    };
    match (here, left) {
        (Some(_), _) | (None, 0) => here,
        (None, 1) => Some("another session works or has a draft"),
        (None, _) => Some("other sessions work or have drafts"),
    }
}

/// The next key that ends acp-tui counts, for a while in which `words` are shown.
pub(super) fn arm_quit(state: &mut App, words: impl Into<String>, now: Now) {
    let until = now.saturating_add(QUIT_WINDOW);
    state.quit_armed_until = Some(until);
    state.say_while(Holds::QuitArmed, words, now);
    if let Some(toast) = &mut state.toast {
        toast.until = Some(until);
    }
}

/// Whether closing it would stop something.
fn is_busy(session: SessionRef<'_>) -> bool {
    session.turn.is_some() || session.running_terminal().is_some()
}

/// Keys while the directory of a further session is typed.
pub(super) fn opener(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(opener) = &mut state.opener else { return };
    match action {
        // One worktree is enough for a key that is pressed twice.
        Action::Accept if opener.is_making => {}
        Action::Accept => out.push(Out::Open(opener.wanted())),
        Action::Tab => opener.files = opener.files.next(),
        Action::Escape | Action::CtrlC | Action::NewSession => state.opener = None,
        Action::NextSession
        | Action::PreviousSession
        | Action::MouseToggle
        | Action::Suspend
        | Action::Redraw
        | Action::PageUp
        | Action::PageDown => common(state, cx, action, out),
        action => {
            opener.trouble = None;
            // All other keys mean nothing here.
            let _ = opener.line.apply(action);
        }
    }
}
