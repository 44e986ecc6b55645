//! Keys while one of the prompts that wait is selected.
//!
//! Answers nothing. Invariant: what is typed there goes to the composer, but for the one letter that sends.

use super::{Cx, common, composer};
use crate::model::event::{Intent, QueueAct};
use crate::ui::keys::{Action, Layer};
use crate::ui::labels;
use crate::ui::msg::Out;
use crate::ui::state::App;

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(after) = state.view.queued else { return };
    let count = cx.session.held.len();
    let Some(at) = count.checked_sub(after + 1) else { return };
    let mut act = |act| out.push(Out::Intent(Intent::Queue(act)));
    match action {
        Action::Up => state.view.queued = Some((after + 1).min(count - 1)),
        Action::Down | Action::Escape => {
            state.view.queued = after.checked_sub(1).filter(|_| action == Action::Down);
        }
        Action::Accept => {
            act(QueueAct::Edit(at));
            state.view.queued = None;
            // What was written before comes behind it, and is sent with it.
            state.view.edits_queued = true;
        }
        Action::Delete => {
            act(QueueAct::Drop(at));
            state.view.queued = after.checked_sub(1).or((count > 1).then_some(0));
            state.say(state.keys.say(Layer::Composer, "deleted · {Ctrl+R} has it"), cx.now);
        }
        Action::MoveUp if at > 0 => {
            act(QueueAct::Up(at));
            state.view.queued = Some(after + 1);
        }
        Action::MoveDown if after > 0 => {
            act(QueueAct::Down(at));
            state.view.queued = Some(after - 1);
        }
        Action::MoveUp | Action::MoveDown => {}
        Action::SendNow => {
            act(QueueAct::Send(at));
            state.view.queued = None;
            if cx.session.turn.is_some() && !cx.session.agent().caps.steers {
                state.say(labels::STOPS_FIRST, cx.now);
            }
        }
        Action::Char(_) => {
            state.view.queued = None;
            composer::action(state, cx, action, out);
        }
        _ => common(state, cx, action, out),
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
