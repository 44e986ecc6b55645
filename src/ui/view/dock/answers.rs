//! The answers of the dock, laid out for the rows that the dock has while the person writes.
//!
//! Answers nothing. Invariants: where they stand and which of them are seen is the same with the keyboard and without it;
//! a long one is cut to a row only where another would not be seen, and never the one that was asked for.

use super::choices::{Bar, Choices, Look, Row, Window};
use super::contents::Contents;
use super::{CRAMPED, FRAME, ROOMY, hints};
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::ui::view::{self, ViewCx, paint};
use std::ops::RangeInclusive;

/// The answers and the keys below them.
pub(super) struct Answers {
    pub(super) choices: Choices,
    pub(super) window: Window,
    pub(super) keys: Vec<Row>,
    /// Rows that they were laid out for, those of the body counted.
    pub(super) rows: usize,
}

/// Lays out the answers for so many rows, or for as many more as they need to be seen all. Long ones are cut, one after the
/// other, until all are.
pub(super) fn laid_out(cx: &ViewCx<'_>, contents: &mut Contents, look: Look, still: usize, most: usize) -> Answers {
    let mut best = with_cut(cx, contents, look, still..=most, &[]);
    let long = best.choices.long(&contents.choices, cx.state.view.dock.around());
    // Beside what is read none stands here; and there are not more of them than rows.
    if best.window.is_whole() || best.window.rows.is_empty() || long.len() > most {
        return best;
    }
    for cut in 1..=long.len() {
        let next = with_cut(cx, contents, look, still..=most, long.get(..cut).unwrap_or_default());
        if next.window.hidden < best.window.hidden {
            best = next;
        }
        if best.window.is_whole() {
            break;
        }
    }
    best
}

fn with_cut(
    cx: &ViewCx<'_>,
    contents: &mut Contents,
    look: Look,
    rows: RangeInclusive<usize>,
    cut: &[usize],
) -> Answers {
    let dock = &cx.state.view.dock;
    let still = *rows.start();
    let inner = look.columns.saturating_sub(FRAME);
    let rows_of = |lines: &[LogicalLine]| paint::rows(lines, inner).len();
    let mut choices = Choices::new(&contents.choices, look, cut);
    let mut body = rows_of(&contents.body);
    let is_seen = |max: &usize| {
        let window = window(&choices, body, choices.keys.len(), *max, None, 0);
        window.is_whole()
    };
    let max = rows.clone().find(is_seen).unwrap_or(still);
    if max <= CRAMPED && body + choices.rows() > max {
        body -= rows_of(contents.body.get(contents.above_change()).unwrap_or_default());
    }
    // A reason that is written stands right below the answers.
    let is_asked = cx.state.refusal.is_none() && !contents.further.is_empty();
    let is_roomy = look.columns >= ROOMY.0 && max >= ROOMY.1 && is_asked;
    let turns = body + choices.rows() > max;
    if is_roomy && !hints::has_room(&choices, contents, inner, turns) {
        contents.choices.append(&mut contents.further);
        contents.unnamed.clear();
        choices = Choices::new(&contents.choices, look, cut);
    }
    let mut keys = choices.keys.clone();
    let shown = |keys: &[Row]| window(&choices, body, keys.len(), max, dock.around(), dock.option_scroll);
    let mut answers = shown(&keys);
    // The word that names the key must not be lost because every row is full.
    let hides = body + answers.rows.len() + keys.len() > max;
    let rows = || answers.rows.iter().chain(&keys);
    // One more row would be taken from an answer, or from all that is seen of a change.
    let is_full = max <= CRAMPED && answers.hidden == 0 && rows().count() + 2 >= max;
    let is_placed = is_full && choices.order.has_place(rows(), inner);
    if inner >= 12 && max > 2 && !is_placed && !choices.order.has_room(rows(), inner, hides) {
        keys.push(Row::new(StyledText::new(), Bar::Yes));
        answers = shown(&keys);
    }
    // Below a list a part of the answers would only mislead: what lasts may be all that is left of them.
    let reads = view::reads(cx);
    let is_beside = view::takes_keyboard(cx) || reads.is_some_and(|rows| max <= usize::from(rows));
    if answers.hidden > 0 && is_beside {
        answers = choices.window(0, None, 0);
        // Who reads has the key that leads to them in a row of its own.
        if keys.is_empty() && reads.is_some() {
            keys.push(Row::new(StyledText::new(), Bar::Yes));
        }
    }
    keys.truncate(max.saturating_sub(answers.rows.len()));
    Answers { choices, window: answers, keys, rows: max }
}

/// The choices that are shown. Of what does not fit, the body keeps a third, unless the highlighted choice needs it.
fn window(
    choices: &Choices,
    body: usize,
    keys: usize,
    max: usize,
    highlighted: Option<usize>,
    scroll: usize,
) -> Window {
    let room = max.saturating_sub(keys);
    let all = choices.rows();
    let room = if all + body <= room {
        all
    } else {
        let least = room.saturating_sub(body.min((max / 3).max(1)));
        least.max(choices.wanted(highlighted).min(room.saturating_sub(1))).max(room.min(1))
    };
    choices.window(room, highlighted, scroll)
}
