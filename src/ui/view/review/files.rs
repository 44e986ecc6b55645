//! The list of files: a tree with figures and with what is decided.

use super::{counts, has_keys};
use crate::base::human;
use crate::model::changes::{FileChange, FileDoc};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::msg::ReviewFrame;
use crate::ui::state::review::index::{Item, Mark, TreeRow};
use crate::ui::state::review::search::Query;
use crate::ui::state::review::{Pane, ReviewState, Sight};
use crate::ui::view::ViewCx;
use crate::ui::view::paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Deeper folders are not moved further to the right.
const DEEPEST: usize = 6;
/// Columns that a name gets before figures stand beside it.
const NAME: usize = 14;

pub fn draw(cx: &ViewCx<'_>, review: &ReviewState, area: Rect, frame: &mut ReviewFrame, buf: &mut Buffer) {
    frame.files = area;
    let rows = &review.tree().rows;
    let height = usize::from(area.height);
    let at = review.tree_row();
    let mut top = review.layout.measured.files_top;
    if review.layout.sight == Sight::Cursor {
        top = top.min(at).max((at + 1).saturating_sub(height));
    }
    top = top.min(rows.len().saturating_sub(height));
    frame.measured.files_top = top;
    frame.measured.files_height = height;
    let query = Query::of(&review.query);
    for ((n, row), y) in rows.iter().enumerate().skip(top).zip(area.y..area.bottom()) {
        frame.file_rows.push((y, n));
        frame.laid_out += 1;
        let line = Rect { y, height: 1, ..area };
        one(cx, review, row, n == at, query.as_ref(), line, buf);
    }
}

fn one(
    cx: &ViewCx<'_>,
    review: &ReviewState,
    row: &TreeRow,
    current: bool,
    query: Option<&Query<'_>>,
    area: Rect,
    buf: &mut Buffer,
) {
    let keys = current && has_keys(cx, review, Pane::Files);
    let mark = if current { "▸ " } else { "  " };
    let mut left = StyledText::of(mark, if keys { Token::Accent } else { Token::Dim });
    left.push(&"  ".repeat(row.depth.min(DEEPEST)), Token::Text);
    let inner = usize::from(area.width.saturating_sub(1));
    let right = match &row.item {
        Item::Folder { closed, files, pending, .. } => {
            let mut right = StyledText::new();
            if *closed {
                right.push(&human::count(*files as u64, "file"), Token::Dim);
                right.append(&state(Mark { hunks: 1, pending: *pending, rejected: 0 }));
            }
            right
        }
        Item::File(n) => {
            let doc = review.doc();
            let Some(file) = doc.and_then(|d| d.files.get(*n)) else { return };
            let mark = review.tree().marks.get(*n).copied().unwrap_or_default();
            figures(
                file,
                mark,
                inner.saturating_sub(width::styled_width(&left) + NAME.min(width::str_width(&row.label))),
            )
        }
    };
    let room = inner.saturating_sub(width::styled_width(&left) + width::styled_width(&right) + 1);
    let name: RunStyle = match row.item {
        Item::Folder { .. } => Token::Dim.into(),
        Item::File(_) => Token::Text.into(),
    };
    let found = query.is_some_and(|q| q.find(&row.label, 0).is_some());
    let name = if found { RunStyle::from(Token::Selected) } else { name };
    let name = if keys || found { name.with_mods(Mods::BOLD) } else { name };
    // Of a folder and its file the file is what tells rows apart.
    let label = if matches!(row.item, Item::File(_)) && row.label.contains('/') {
        width::truncate_start(&row.label, room)
    } else {
        width::truncate(&row.label, room)
    };
    left.push(&label, name);
    let used = paint::put(buf, area.x, area.y, area.width, &left, cx.theme);
    let at = Rect { width: area.width.saturating_sub(1), ..area };
    paint::put_right(buf, at, used, &right, cx.theme);
}

/// Figures, what the file is, and what is decided; figures give way first.
fn figures(file: &FileDoc, mark: Mark, room: usize) -> StyledText {
    let word = match file.change {
        _ if file.held.is_some() => "held",
        FileChange::Created => "new",
        FileChange::Deleted => "del",
        FileChange::Mode => "mode",
        FileChange::Renamed => "ren",
        FileChange::Kind => "kind",
        FileChange::Modified => "",
    };
    let token = if file.held.is_some() { Token::Warn } else { Token::Dim };
    let mut end = StyledText::of(format!(" {word:>4}"), token);
    end.append(&state(mark));
    let mut all = counts(file.added, file.removed);
    all.append(&end);
    if width::styled_width(&all) <= room {
        return all;
    }
    // Where there is no word, the columns of one are room for the figures.
    if word.is_empty() {
        let mut all = counts(file.added, file.removed);
        all.append(&state(mark));
        if width::styled_width(&all) <= room {
            return all;
        }
    }
    if width::styled_width(&end) <= room { end } else { state(mark) }
}

/// How many hunks wait, or that all are decided, in five columns.
fn state(mark: Mark) -> StyledText {
    match mark {
        Mark { pending: 1.., .. } => StyledText::of(format!("{:>3} ·", mark.pending), Token::Text),
        Mark { hunks, rejected, .. } if hunks > 0 && rejected == hunks => StyledText::of("    ✗", Token::Bad),
        _ => StyledText::of("    ✓", Token::Good),
    }
}
