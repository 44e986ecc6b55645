//! Selecting words of the conversation, or of what is asked, with the mouse: they are copied when the button is let go.
//!
//! Knows no words of the conversation; the transcript does. Invariant: a click without a motion selects nothing.

use super::{Action, App, Cx, Out, ScrollBy, What, dock, review};
use crate::base::sanitize;
use crate::ui::state::review::grip;
use crate::ui::state::selection::{AskedGrip, Grip, asked_spot};
use ratatui::layout::Position;

pub(super) fn press(state: &mut App, at: Position) {
    state.view.grip = Grip::Pressed(at);
}

/// False: an answer stands there. Words take the keyboard only with a click, so that who goes on writing after they were
/// copied answers nothing.
pub(super) fn press_asked(state: &mut App, cx: Cx<'_>, at: Position) -> bool {
    let is_beside = cx.frame.choices.iter().all(|(place, _)| !place.contains(at));
    if is_beside {
        state.view.asked_grip = AskedGrip::Pressed(at);
    }
    is_beside
}

/// Beyond the edge of what is asked it scrolls. False: nothing is held there.
pub(super) fn drag_asked(state: &mut App, cx: Cx<'_>, at: Position) -> bool {
    let rows = &cx.frame.dock_words;
    let Some(of) = cx.frame.dialog.clone().filter(|_| cx.frame.dialog == state.view.dock.dialog) else { return false };
    let from = match &state.view.asked_grip {
        AskedGrip::Nothing | AskedGrip::Selected { is_held: false, .. } => return false,
        AskedGrip::Pressed(from) if *from == at => return true,
        AskedGrip::Pressed(from) => asked_spot(rows, *from),
        AskedGrip::Selected { from, .. } => Some(from.clone()),
    };
    let ys = || rows.iter().filter_map(|row| row.y);
    let beyond = match (ys().min(), ys().max()) {
        (Some(first), _) if at.y < first => -1,
        (_, Some(last)) if at.y > last => 1,
        _ => 0,
    };
    if beyond != 0 && cx.frame.dock_scroll_max > 0 {
        dock::scroll(state, cx, beyond);
    }
    if let (Some(from), Some(to)) = (from, asked_spot(rows, at)) {
        state.view.asked_grip = AskedGrip::Selected { of, from, to, is_held: true };
    }
    true
}

/// What is held of what is asked is let go, and copied where it was moved. True when it was a click.
pub(super) fn release_asked(state: &mut App, cx: Cx<'_>, at: Position, out: &mut Vec<Out>) -> bool {
    match &mut state.view.asked_grip {
        AskedGrip::Selected { is_held, .. } if *is_held => {
            *is_held = false;
            copy_asked(state, cx, out);
            false
        }
        AskedGrip::Pressed(from) => {
            let is_click = *from == at;
            state.view.asked_grip = AskedGrip::Nothing;
            is_click
        }
        AskedGrip::Nothing | AskedGrip::Selected { .. } => false,
    }
}

/// False: nothing of what is asked is selected.
fn copy_asked(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) -> bool {
    let Some(of) = &cx.frame.dialog else { return false };
    let text = state.view.asked_grip.text(of, &cx.frame.dock_words);
    if text.is_empty() {
        return false;
    }
    let text = sanitize::copied(&text).into_owned();
    out.push(Out::Copy(What::Characters(text.chars().count()), text));
    true
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
pub(super) fn ends(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) -> bool {
    let is_asked = state.view.asked_grip.is_selected();
    let is_reviewed = state.view.review.as_ref().is_some_and(|review| review.grip.is_selected());
    if !is_asked && !is_reviewed && state.view.grip.selection().is_none() {
        return false;
    }
    if action == Action::CtrlC {
        if !is_asked && !is_reviewed {
            out.push(Out::CopySelected);
            return true;
        }
        if is_asked && copy_asked(state, cx, out) || is_reviewed && review::again(state, out) {
            return true;
        }
    }
    forget(state);
    if action != Action::Escape {
        return false;
    }
    state.say("nothing is selected any more", cx.now);
    true
}

/// Nothing is selected any more.
pub(super) fn forget(state: &mut App) {
    (state.view.grip, state.view.asked_grip) = (Grip::Nothing, AskedGrip::Nothing);
    if let Some(review) = &mut state.view.review {
        review.grip = grip::Grip::default();
    }
}
