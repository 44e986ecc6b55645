//! The line for a command of the person's own, and what becomes of what such commands print.
//!
//! Runs nothing itself. Invariants: only `!` typed into an empty prompt while no question stands makes the line one; what is
//! pasted never does. What a command printed is quoted where it goes along with a prompt, so that no word of it names a
//! file to be attached.

use super::Cx;
use crate::base::sanitize;
use crate::model::event::Intent;
use crate::model::ids::TermId;
use crate::model::session::shell::{MAX_SHELL, quoted};
use crate::text::width;
use crate::ui::keys::{Action, Layer};
use crate::ui::msg::{EditorJob, Out, ShellFold};
use crate::ui::state::{App, Holds};

/// Columns of a command in a message.
const COMMAND: usize = 40;

/// False: the key is not about commands of the person's.
pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) -> bool {
    let is_empty = state.view.composer.is_empty();
    match (state.view.composer.is_shell(), action) {
        (false, Action::Char('!')) if is_empty => begin(state, cx),
        (false, Action::Delete) if is_empty && !cx.session.shell().is_empty() => leave_out(state, cx, out),
        (_, Action::ToggleFold) if !cx.session.shell().is_empty() => unfold(state, cx, out),
        (true, Action::Submit | Action::Steer) => run(state, cx, out),
        (true, Action::Escape) => state.view.composer.leave_shell(),
        (true, Action::Backspace | Action::CtrlD | Action::DeleteWordBack | Action::KillLine) if is_empty => {
            state.view.composer.leave_shell();
        }
        (true, Action::EditPrompt) => {
            state.say(state.keys.say(Layer::Composer, "$EDITOR is for prompts · {Esc} leaves the command"), cx.now);
        }
        _ => return false,
    }
    true
}

/// More of what the newest has printed, all of it in the pager, or less again.
fn unfold(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let Some(newest) = cx.session.shell().last().filter(|_| cx.frame.shell_fold == ShellFold::Pages) else {
        state.view.unfolds_shell = !state.view.unfolds_shell;
        return;
    };
    state.view.unfolds_shell = false;
    // Pagers pass on what they are set to.
    let text = format!("$ {}\n{}", newest.command, newest.printed());
    out.push(Out::Edit(EditorJob::Page { text: sanitize::block(&text).into_owned() }));
}

fn begin(state: &mut App, cx: Cx<'_>) {
    if cx.session.read_only().is_some() {
        return state.say("read only, so no command is run here", cx.now);
    }
    state.view.composer.begin_shell();
    state.vim.begin_anew();
}

fn run(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    if state.view.composer.text().trim().is_empty() {
        return state.say(state.keys.say(Layer::Composer, "write the command behind ! · {Esc} leaves it"), cx.now);
    }
    if cx.session.shell().len() >= MAX_SHELL {
        return state.say(format!("{MAX_SHELL} commands wait: send them, or leave one out"), cx.now);
    }
    let line = state.view.composer.take();
    state.view.composer.leave_shell();
    state.vim.begin_anew();
    out.push(Out::Intent(Intent::Shell(line)));
}

/// What Ctrl+C types.
const INTERRUPT: &[u8] = b"\x03";

/// The newest that runs is interrupted, as its terminal would do it. False: none runs.
pub(super) fn interrupt(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) -> bool {
    let Some(newest) = cx.session.shell().iter().rev().find(|term| term.is_running()) else { return false };
    out.push(Out::Type(newest.id.clone(), INTERRUPT.to_vec()));
    let line = sanitize::line(&newest.command);
    let line = width::truncate(line.trim(), COMMAND);
    let kills = state.keys.say(Layer::Composer, " · {F7} kills it");
    state.say_while(Holds::Command(newest.id.clone()), format!("Ctrl+C to {line}{kills}"), cx.now);
    true
}

/// The newest does not go along.
fn leave_out(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let Some(newest) = cx.session.shell().last() else { return };
    if newest.is_running() {
        return state.say(
            state.keys.say(Layer::Composer, "it still runs · {F7} kills it, then {Delete} leaves it out"),
            cx.now,
        );
    }
    let line = sanitize::line(&newest.command);
    state.say(format!("left out: {}", width::truncate(line.trim(), COMMAND)), cx.now);
    out.push(Out::Intent(Intent::ForgetShell(newest.id.clone())));
}

/// Whether anything goes along with the next prompt.
pub(super) fn waits(cx: Cx<'_>) -> bool {
    cx.session.ended_shell().next().is_some()
}

/// A prompt with what has been printed, and the commands that it is of. One that still runs stays for a later one.
pub(super) fn along(cx: Cx<'_>, written: &str) -> Option<(String, Vec<TermId>)> {
    let ended = cx.session.ended_shell();
    let text = ended.clone().fold(written.trim_end().to_owned(), |text, term| text + &quoted(term));
    let ids = ended.map(|term| term.id.clone()).collect::<Vec<_>>();
    (!ids.is_empty()).then_some((text, ids))
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
