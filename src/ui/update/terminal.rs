//! Keys for the commands that an agent runs: typing into one, killing one.
//!
//! Invariants: keys go to a command only after the person's own Alt+I, and until Ctrl+] or the command's end; what is
//! typed is kept nowhere here.

use super::Cx;
use super::sessions::arm_quit;
use crate::base::sanitize;
use crate::model::event::Intent;
use crate::model::login::LogIn;
use crate::text::width;
use crate::ui::keys::{Action, Key, Layer, bytes};
use crate::ui::msg::{Out, ScrollBy};
use crate::ui::state::timing::STRAY;
use crate::ui::state::{App, Focus, Holds};

/// Columns of a command in a message.
const COMMAND: usize = 40;

/// From now on keys go to the newest command that runs.
pub(super) fn take_over(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    if let Some((id, _)) = cx.session.log_in().and_then(LogIn::terminal) {
        state.view.focus = Focus::Terminal(id.clone());
        state.toast = None;
        return;
    }
    match cx.session.running_terminal() {
        Some(command) => {
            state.view.focus = Focus::Terminal(command.id.clone());
            state.toast = None;
            out.push(Out::Scroll(ScrollBy::End));
        }
        None => state.say("no command runs that could be typed into", cx.now),
    }
}

/// The agent learns of it by the exit status.
pub(super) fn kill(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    match cx.session.running_terminal() {
        Some(command) => {
            let line = sanitize::line(&command.command);
            let words = format!("killing {}", width::truncate(line.trim(), COMMAND));
            state.say_while(Holds::Command(command.id.clone()), words, cx.now);
            out.push(Out::Intent(Intent::KillTerminal { term: command.id.clone() }));
        }
        None => match (cx.session.running_child(), cx.session.cancellable()) {
            (Some((entry, name)), _) => {
                let name = sanitize::line(name);
                let words = format!("stopping the sub-agent {}", width::truncate(name.trim(), COMMAND));
                state.say_while(Holds::Runs(entry), words, cx.now);
                out.push(Out::Intent(Intent::StopChild { entry }));
            }
            (None, Some(item)) => {
                state.say("asked the agent to end what it does now, and not the turn", cx.now);
                out.push(Out::Intent(Intent::CancelItem(item)));
            }
            (None, None) => state.say("no command runs that could be killed", cx.now),
        },
    }
}

/// A key while a command is typed into.
pub(super) fn key(state: &mut App, key: Key, out: &mut Vec<Out>) {
    state.quit_armed_until = None;
    let Focus::Terminal(id) = &state.view.focus else { return };
    if state.keys.resolve(Layer::Terminal, key) == Some(Action::LeaveTerminal) {
        state.view.focus = Focus::Composer;
        return;
    }
    let bytes = bytes(key);
    if !bytes.is_empty() {
        out.push(Out::Type(id.clone(), bytes));
    }
}

/// Whether a key was meant for a command that has just ended. It is dropped then: the rest of a password must neither
/// be shown nor sent to the agent. A second Ctrl+D is meant.
pub(super) fn is_stray(state: &mut App, cx: Cx<'_>, action: Action) -> bool {
    let Some(until) = state.view.stray_until else { return false };
    let is_end = action == Action::CtrlD;
    let is_meant = action == Action::CtrlC || is_end && state.quit_armed_until.is_some();
    let stray = cx.now < until && !is_meant;
    state.view.stray_until = stray.then(|| cx.now.saturating_add(STRAY));
    if stray && is_end {
        arm_quit(state, state.keys.say(Layer::Composer, "the command has just ended · {Ctrl+D} again quits"), cx.now);
    }
    stray
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
