//! The mouse in the review: a click moves the cursor, the wheel scrolls what is under it.
//!
//! A click decides only on the words that say so, and only what the frame showed.

use super::decide;
use crate::ui::msg::Out;
use crate::ui::state::review::index::{Item, Spot};
use crate::ui::state::review::{Pane, ReviewState, Sight};
use crate::ui::state::{App, Focus};
use crate::ui::update::Cx;
use ratatui::layout::Position;

/// Whether the wheel was over the review.
pub(in crate::ui::update) fn wheel(state: &mut App, cx: Cx<'_>, at: Position, by: isize) -> bool {
    let (Some(review), Some(frame)) = (&mut state.view.review, &cx.frame.review) else { return false };
    if frame.files.contains(at) {
        let max = review.tree().rows.len().saturating_sub(review.layout.measured.files_height);
        let top = &mut review.layout.measured.files_top;
        *top = top.saturating_add_signed(by).min(max);
        review.layout.sight = Sight::Free;
    } else if frame.hunks.contains(at) {
        scroll(review, by);
    } else {
        return frame.area.contains(at);
    }
    true
}

/// Moves the hunks past the view.
pub(super) fn scroll(review: &mut ReviewState, by: isize) {
    let max = review.rows().len().saturating_sub(review.layout.measured.height);
    let top = &mut review.layout.measured.top;
    *top = top.saturating_add_signed(by).min(max);
    review.layout.sight = Sight::Free;
}

/// Whether the click was in the review.
pub(in crate::ui::update) fn click(state: &mut App, cx: Cx<'_>, at: Position, out: &mut Vec<Out>) -> bool {
    let (Some(review), Some(frame)) = (&mut state.view.review, &cx.frame.review) else { return false };
    if !frame.area.contains(at) {
        return false;
    }
    state.view.focus = Focus::Review;
    review.undoing = 0;
    if review.bar.is_some() {
        return true;
    }
    if let Some((_, verdict)) = frame.buttons.iter().find(|(area, _)| area.contains(at)) {
        review.layout.pane = Pane::Hunks;
        decide::here(state, cx, *verdict, out);
    } else if frame.files.contains(at) {
        let row = frame.file_rows.iter().find(|(y, _)| *y == at.y).map(|(_, row)| *row);
        // What was drawn there may have moved since.
        let same = review.doc().is_some_and(|d| d.rev == frame.rev);
        if let Some(row) = row.filter(|_| same) {
            choose(state, row);
        }
    } else if frame.hunks.contains(at) {
        let spot = frame.hunk_rows.iter().find(|(y, _)| *y == at.y).map(|(_, spot)| *spot);
        let same = review.doc().is_some_and(|d| d.rev == frame.rev);
        if let Some(file) = frame.file.as_ref().filter(|_| same) {
            review.grip.press(file, &frame.lines, at);
        }
        if let Some(spot) = spot.filter(|_| same) {
            stand(state, spot);
        }
    }
    true
}

/// A file that is clicked again shows its hunks, a folder is folded.
fn choose(state: &mut App, row: usize) {
    let Some(review) = &mut state.view.review else { return };
    review.layout.pane = Pane::Files;
    let again = review.tree_row() == row;
    match review.tree().rows.get(row).map(|r| r.item.clone()) {
        Some(Item::Folder { path, .. }) => {
            review.choose_row(row);
            review.flip_folder(&path);
        }
        Some(Item::File(_)) if again && !review.layout.measured.both => review.layout.pane = Pane::Hunks,
        _ => review.choose_row(row),
    }
}

fn stand(state: &mut App, spot: Spot) {
    let Some(review) = &mut state.view.review else { return };
    review.layout.pane = Pane::Hunks;
    review.stand(spot);
}
