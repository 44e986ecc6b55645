//! Copying from the review: the key, and what is selected with the mouse, when the button is let go.
//!
//! Invariants: nothing is decided by it; a click without a motion selects nothing.

use super::mouse::scroll;
use crate::base::sanitize;
use crate::model::changes::FileDoc;
use crate::text::copied::Copied;
use crate::ui::keys::Layer;
use crate::ui::msg::{Out, What};
use crate::ui::state::App;
use crate::ui::state::review::patch::{Inexact, of_hunks};
use crate::ui::state::review::{Pane, ReviewState};
use crate::ui::update::Cx;
use ratatui::layout::Position;

/// The chosen lines, the hunk as a patch, or that of the file.
pub(super) fn key(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let Some(review) = &state.view.review else { return };
    let Some(file) = review.file().filter(|_| review.folder().is_none()) else {
        return state.say("choose a file", cx.now);
    };
    if let Some(text) = chosen(review) {
        return copy(text, out);
    }
    match patch(review, file) {
        Ok(text) => out.push(Out::Copy(What::Patch, text)),
        Err(why) => {
            let why = match why {
                Inexact::Whole => "it is no text, or changes as a whole".to_owned(),
                Inexact::Cut => "not all of its lines are shown".to_owned(),
                Inexact::StandIns => "it holds characters that cannot be shown".to_owned(),
                Inexact::Note(note) => sanitize::line(&note).into_owned(),
            };
            let other = state.keys.say(Layer::Review, " · {w} writes a patch of it");
            state.say(format!("not copied: {why}{other}"), cx.now);
        }
    }
}

fn patch(review: &ReviewState, file: &FileDoc) -> Result<String, Inexact> {
    match review.layout.pane {
        Pane::Files if file.hunks.is_empty() => Err(Inexact::Whole),
        Pane::Files => of_hunks(file, file.hunks.iter()),
        Pane::Hunks => of_hunks(file, std::iter::once(review.hunk().ok_or(Inexact::Whole)?)),
    }
}

/// The lines that were chosen by keys.
fn chosen(review: &ReviewState) -> Option<String> {
    let lines = review.hunk()?.lines.get(review.chosen()?)?;
    let mut copied = Copied::default();
    for line in lines {
        copied.push("\n", &line.text, Some(line.kind));
    }
    Some(copied.text() + "\n")
}

fn copy(text: String, out: &mut Vec<Out>) {
    out.push(Out::Copy(What::Characters(text.chars().count()), text));
}

/// Beyond the edge of the hunks it scrolls. False: nothing is held there.
pub(in crate::ui::update) fn drag(state: &mut App, cx: Cx<'_>, at: Position) -> bool {
    let (Some(review), Some(frame)) = (&mut state.view.review, &cx.frame.review) else { return false };
    if !review.grip.is_pressed() {
        return false;
    }
    if at.y < frame.hunks.y {
        scroll(review, -1);
    } else if at.y >= frame.hunks.bottom() {
        scroll(review, 1);
    }
    if let Some(file) = &frame.file {
        review.grip.drag(file, &frame.lines, at);
    }
    true
}

pub(in crate::ui::update) fn release(state: &mut App, out: &mut Vec<Out>) {
    if state.view.review.as_mut().is_some_and(|review| review.grip.release()) {
        again(state, out);
    }
}

/// What is selected is copied. False: nothing is.
pub(in crate::ui::update) fn again(state: &App, out: &mut Vec<Out>) -> bool {
    let Some(review) = &state.view.review else { return false };
    let Some(text) = review.grip.text(|hunk| review.rows().is_folded(hunk)) else { return false };
    copy(text, out);
    true
}
