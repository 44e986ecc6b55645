//! Above the review of a session in a worktree, or in the directory that it came from: who else works in a worktree of the
//! same files, and what each has changed.
//!
//! Reads the model, keeps nothing. Invariant: the one that is shown is named at any width.

use crate::base::sanitize;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::labels;
use crate::ui::view::{ViewCx, paint, split_top};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;

/// Columns of an agent's name, the most first; without any it is the numbers alone.
const NAMES: [usize; 4] = [24, 12, 6, 0];
/// From this height on there is room for it.
const FROM: u16 = 8;

/// Draws it where there are several; returns what is below.
pub fn line(cx: &ViewCx<'_>, area: Rect, buf: &mut Buffer) -> Rect {
    let all = cx.state.in_trees_beside(cx.model);
    if all.is_empty() || area.height < FROM {
        return area;
    }
    let (row, below) = split_top(area, 1);
    let room = usize::from(row.width.saturating_sub(3));
    let laid = NAMES.into_iter().map(|name| tabs(cx, &all, name));
    let text = laid.reduce(|wide, narrow| if width::styled_width(&wide) <= room { wide } else { narrow });
    let text = width::truncate_styled(&text.unwrap_or_default(), room);
    paint::put(buf, row.x + 2, row.y, row.width.saturating_sub(3), &text, cx.theme);
    below
}

fn tabs(cx: &ViewCx<'_>, all: &[crate::model::ids::SessionKey], name: usize) -> StyledText {
    let mut text = StyledText::new();
    for (at, session) in all.iter().enumerate().filter_map(|(at, key)| Some((at, cx.model.at(*key)?))) {
        let is_shown = session.key() == cx.session.key();
        let style = if is_shown { RunStyle::from(Token::Accent).with_mods(Mods::BOLD) } else { Token::Dim.into() };
        // Without colours too it can be told which is shown.
        text.push(if at == 0 { "" } else { "  " }, Token::Dim);
        text.push(if is_shown { "▸" } else { " " }, Token::Accent);
        text.push(&(at + 1).to_string(), style);
        if name > 0 {
            let tree = cx.state.trees.around(Path::new(&session.cwd));
            let called = tree.map_or_else(|| labels::agent(session), |tree| tree.name.clone());
            text.push(" ", style);
            text.push(&width::truncate(&sanitize::line(&called), name), style);
        }
        let totals = session.changes().totals;
        text.push(" ", Token::Dim);
        text.append(&super::counts(totals.added, totals.removed));
    }
    if name == NAMES[0] {
        // There is nothing to be taken to the files that worktrees came from when these are shown.
        let takes = cx.state.trees.around(Path::new(&cx.session.cwd)).map_or("", |_| " · M takes the hunk");
        text.push(&format!("   {{ }} others{takes}"), Token::Dim);
    }
    text
}
