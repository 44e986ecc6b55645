//! Selecting words of the conversation with the mouse: they are copied when the button is let go.
//!
//! Knows no words; the transcript does. Invariant: a click without a motion selects nothing.

use super::{Action, App, Cx, Out, ScrollBy};
use crate::ui::state::selection::Grip;
use ratatui::layout::Position;

pub(super) fn press(state: &mut App, at: Position) {
    state.view.grip = Grip::Pressed(at);
}

/// Beyond the conversation's edge it scrolls.
pub(super) fn drag(state: &mut App, cx: Cx<'_>, at: Position, out: &mut Vec<Out>) {
    let area = cx.frame.transcript;
    let from = match state.view.grip {
        Grip::Pressed(from) if from != at => from,
        Grip::Moves(_) => at,
        _ => return,
    };
    if area.is_empty() {
        return;
    }
    if at.y < area.y || at.y >= area.bottom() {
        out.push(Out::Scroll(ScrollBy::Rows(if at.y < area.y { -1 } else { 1 })));
    }
    out.push(Out::Select(from, Position { y: at.y.clamp(area.y, area.bottom() - 1), ..at }));
}

/// True when it was a click.
pub(super) fn release(state: &mut App, at: Position, out: &mut Vec<Out>) -> bool {
    match std::mem::take(&mut state.view.grip) {
        Grip::Moves(selection) => {
            state.view.grip = Grip::Marked(selection);
            out.push(Out::CopySelected);
            false
        }
        Grip::Pressed(from) => from.y == at.y,
        Grip::Nothing | Grip::Marked(_) => false,
    }
}

/// What is selected is no more, whatever is pressed. Esc does nothing else, and Ctrl+C copies it once more: it is no wish
/// to stop anything.
pub(super) fn ends(state: &mut App, action: Action, out: &mut Vec<Out>) -> bool {
    if state.view.grip.selection().is_none() {
        return false;
    }
    if action == Action::CtrlC {
        out.push(Out::CopySelected);
        return true;
    }
    state.view.grip = Grip::Nothing;
    action == Action::Escape
}
