//! The hunks of a file, unified or side by side. Lays out the rows in view and no other.

use super::line::{Numbers, Style, base, front, line};
use super::{has_keys, made_by};
use crate::base::sanitize;
use crate::model::changes::{HunkDoc, HunkKind, HunkState, Verdict};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::keys::Mouse;
use crate::ui::msg::ReviewFrame;
use crate::ui::state::review::grip::{LineAt, ShownLine, Side};
use crate::ui::state::review::index::{Pair, Row};
use crate::ui::state::review::search::Query;
use crate::ui::state::review::{Pane, ReviewState, Sight};
use crate::ui::view::ViewCx;
use crate::ui::view::paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// From this width on a line has both its numbers.
const NUMBERS_FROM: u16 = 56;
/// From this width on the words to click are shown.
const BUTTONS_FROM: u16 = 60;

/// What all rows share.
struct Page<'a> {
    cx: &'a ViewCx<'a>,
    review: &'a ReviewState,
    query: Option<Query<'a>>,
    keys: bool,
}

pub fn draw(cx: &ViewCx<'_>, review: &ReviewState, area: Rect, frame: &mut ReviewFrame, buf: &mut Buffer) {
    let Some(file) = review.file() else { return };
    frame.hunks = area;
    frame.file = Some(Arc::clone(file));
    let rows = review.rows();
    let height = usize::from(area.height);
    let top = top(review, height);
    frame.measured.top = top;
    frame.measured.height = height;
    let keys = has_keys(cx, review, Pane::Hunks);
    let page = Page { cx, review, query: Query::of(&review.query), keys };
    for (n, y) in (top..rows.len()).zip(area.y..area.bottom()) {
        let Some(row) = rows.row(n) else { break };
        frame.laid_out += 1;
        let at = Rect { y, height: 1, ..area };
        let hunk = match row {
            Row::Gap => continue,
            Row::Head(h) | Row::Conflict(h) | Row::Whole(h) | Row::Line(h, _) | Row::Pair(h, _) => h,
        };
        let Some(shown) = file.hunks.get(hunk) else { continue };
        if frame.shown.last() != Some(&shown.id) {
            frame.shown.push(shown.id);
        }
        if let Some(spot) = rows.spot(n) {
            frame.hunk_rows.push((y, spot));
        }
        page.row(row, n, shown, at, frame, buf);
    }
    if file.hunks.is_empty() {
        let words = file.note.as_deref().map_or_else(|| "nothing to show line by line".into(), sanitize::line);
        let text = StyledText::of(width::truncate(&words, usize::from(area.width.saturating_sub(3))), Token::Dim);
        paint::put(buf, area.x + 2, area.y, area.width.saturating_sub(2), &text, cx.theme);
    }
}

/// The first row in view: as it was, but with the cursor in sight, and with as much of its hunk as fits.
fn top(review: &ReviewState, height: usize) -> usize {
    let rows = review.rows();
    let mut top = review.layout.measured.top;
    if review.layout.sight == Sight::Cursor {
        let spot = review.spot();
        let from = rows.row_of(spot);
        let to = if spot.line.is_none() { rows.end_of(spot.hunk) } else { from + 1 };
        if from < top {
            top = from;
        } else if to > top + height {
            top = to.saturating_sub(height).min(from);
        }
        // The header of the first hunk is not worth hiding.
        if from < height && top == 1 {
            top = 0;
        }
    }
    top.min(rows.len().saturating_sub(height))
}

impl Page<'_> {
    fn row(&self, row: Row, n: usize, hunk: &HunkDoc, area: Rect, frame: &mut ReviewFrame, buf: &mut Buffer) {
        let theme = self.cx.theme;
        let spot = self.review.spot();
        let current = self.review.rows().row_of(spot) == n;
        let chosen = match (row, self.review.chosen()) {
            (Row::Line(h, l), Some(range)) => h == spot.hunk && range.contains(&l),
            _ => false,
        };
        let (mark, token) = match (current, chosen) {
            (true, _) => ("▸ ", if self.keys { Token::Accent } else { Token::Dim }),
            (false, true) => ("┃ ", Token::Accent),
            (false, false) => ("  ", Token::Dim),
        };
        paint::put(buf, area.x, area.y, area.width, &StyledText::of(mark, token), theme);
        let inner = Rect { x: area.x.saturating_add(2), width: area.width.saturating_sub(3), ..area };
        match row {
            Row::Gap => {}
            Row::Head(h) => self.head(h, hunk, current, inner, frame, buf),
            Row::Conflict(_) => {
                let why = hunk.conflict.as_deref().map(sanitize::line).unwrap_or_default();
                let words = format!("conflict: {why} · C rejects it all the same");
                self.words(&words, Token::Warn, inner, buf);
            }
            Row::Whole(_) => {
                let words = match &hunk.what {
                    HunkKind::Whole(words) => sanitize::line(words).into_owned(),
                    HunkKind::Mode(old, new) => format!("mode {old:o} → {new:o}"),
                    HunkKind::Lines => String::new(),
                };
                self.words(&words, Token::Text, inner, buf);
            }
            Row::Line(h, l) => {
                let numbers = if inner.width >= NUMBERS_FROM { Numbers::Both } else { Numbers::One };
                self.line((hunk, LineAt { hunk: h, line: l }), numbers, Rect { height: 1, ..inner }, frame, buf);
            }
            Row::Pair(h, pair) => self.pair((hunk, h), pair, inner, frame, buf),
        }
    }

    fn words(&self, words: &str, token: Token, area: Rect, buf: &mut Buffer) {
        let text = StyledText::of(width::truncate(words, usize::from(area.width)), token);
        paint::put(buf, area.x, area.y, area.width, &text, self.cx.theme);
    }

    fn line(
        &self,
        (hunk, at): (&HunkDoc, LineAt),
        numbers: Numbers,
        area: Rect,
        frame: &mut ReviewFrame,
        buf: &mut Buffer,
    ) {
        let Some(diff) = hunk.lines.get(at.line) else { return };
        let (theme, token) = (self.cx.theme, base(diff.kind));
        let style = Style {
            digits: self.review.rows().digits,
            column: self.review.layout.column,
            query: self.query.as_ref(),
            is_tinted: token.is_fill() && theme.style(token).bg.is_some(),
        };
        if style.is_tinted {
            paint::fill(buf, area, token, theme);
        }
        let spans = self.review.colours(hunk.id).and_then(|c| c.get(at.line));
        paint::put(buf, area.x, area.y, area.width, &line(diff, spans, numbers, style, usize::from(area.width)), theme);
        let side = match numbers {
            Numbers::Both | Numbers::One => Side::Both,
            Numbers::Old => Side::Old,
            Numbers::New => Side::New,
        };
        let front = u16::try_from(front(numbers, style.digits)).unwrap_or(u16::MAX);
        let shown = ShownLine { at, side, area, x: area.x.saturating_add(front), column: style.column };
        self.mark(&shown, &diff.text, buf);
        frame.lines.push(shown);
    }

    /// Marks what is selected of a line.
    fn mark(&self, shown: &ShownLine, text: &str, buf: &mut Buffer) {
        let Some(file) = self.review.file() else { return };
        let Some(columns) = self.review.grip.columns(file, (shown.at, shown.side), text) else { return };
        let x = |column: usize| {
            let right = column.saturating_sub(shown.column);
            shown.x.saturating_add(u16::try_from(right).unwrap_or(u16::MAX)).min(shown.area.right())
        };
        let (from, to) = (x(columns.start), x(columns.end));
        let marked = Rect { x: from, width: to.saturating_sub(from), ..shown.area };
        buf.set_style(marked.intersection(buf.area), self.cx.theme.style(Token::Selected));
    }

    fn pair(&self, (hunk, n): (&HunkDoc, usize), pair: Pair, area: Rect, frame: &mut ReviewFrame, buf: &mut Buffer) {
        let half = area.width.saturating_sub(3) / 2;
        let sides = [(pair.old, Numbers::Old, area.x), (pair.new, Numbers::New, area.x + half + 3)];
        for (index, numbers, x) in sides {
            if let Some(index) = index {
                let at = LineAt { hunk: n, line: index as usize };
                self.line((hunk, at), numbers, Rect { x, width: half, height: 1, ..area }, frame, buf);
            }
        }
        paint::put(buf, area.x + half + 1, area.y, 1, &StyledText::of("┊", Token::Rule), self.cx.theme);
    }

    /// `@@ 41 total()` at the left, what became of it at the right.
    fn head(&self, n: usize, hunk: &HunkDoc, current: bool, area: Rect, frame: &mut ReviewFrame, buf: &mut Buffer) {
        let theme = self.cx.theme;
        let count = self.review.file().map_or(0, |f| f.hunks.len());
        let here = self.review.spot().hunk == n;
        let state = state(hunk.state, here);
        let mut x = area.right();
        for words in [format!("hunk {} of {count}", n + 1), format!("{}/{count}", n + 1)] {
            let mut right = state.clone();
            right.push(if right.is_empty() { "" } else { " " }, Token::Dim);
            right.push(&words, Token::Dim);
            let wide = width::styled_width(&right) as u16;
            if wide + 8 <= area.width {
                x = area.right() - wide;
                paint::put(buf, x, area.y, wide, &right, theme);
                break;
            }
        }
        let is_folded = self.review.rows().is_folded(n);
        let clickable = here
            && !is_folded
            && hunk.conflict.is_none()
            && self.cx.state.mouse == Mouse::Ours
            && area.width >= BUTTONS_FROM;
        if clickable && hunk.state == HunkState::Pending {
            for (words, verdict, token) in
                [("[reject]", Verdict::Reject, Token::Bad), ("[accept]", Verdict::Accept, Token::Good)]
            {
                let wide = words.len() as u16;
                x = x.saturating_sub(wide + if verdict == Verdict::Reject { 2 } else { 1 });
                paint::put(buf, x, area.y, wide, &StyledText::of(words, token), theme);
                frame.buttons.push((Rect { x, y: area.y, width: wide, height: 1 }, verdict));
            }
        }
        let room = usize::from(x.saturating_sub(area.x + 1));
        let mut left = StyledText::of("@@ ", Token::DiffMeta);
        if hunk.what == HunkKind::Lines {
            left.push(&format!("{} ", hunk.new_start.max(hunk.old_start.min(1))), Token::LineNumber);
        }
        let strong = RunStyle::from(Token::Text).with_mods(if current { Mods::BOLD } else { Mods::NONE });
        left.push(sanitize::line(&hunk.heading).trim(), strong);
        if is_folded {
            left.push(&format!("  {} lines folded", hunk.lines.len()), Token::Dim);
        }
        if self.review.file().is_some_and(|f| f.cause != hunk.cause) {
            let by = StyledText::of(format!("  {}", made_by(self.cx, hunk.cause, Some(hunk))), Token::Dim);
            if width::styled_width(&left) + width::styled_width(&by) <= room {
                left.append(&by);
            }
        }
        paint::put(buf, area.x, area.y, room as u16, &width::truncate_styled(&left, room), theme);
    }
}

fn state(state: HunkState, current: bool) -> StyledText {
    match state {
        HunkState::Pending if current => StyledText::of("▸", Token::Accent),
        HunkState::Pending => StyledText::of("·", Token::Dim),
        HunkState::Accepted => StyledText::of("✓ accepted", Token::Good),
        HunkState::Rejected => StyledText::of("✗ rejected", Token::Bad),
        HunkState::Edited => StyledText::of("~ edited", Token::Text),
        HunkState::Superseded => StyledText::of("superseded", Token::Dim),
    }
}
