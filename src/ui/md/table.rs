//! Tables: columns as wide as their text, shrunk to the width, a thin rule under the head and no boxes.
//!
//! Below [`MIN_WIDTH`] columns, or with too many columns to be readable, a row becomes a list of `Head: value`.
//! Invariant: no line ends in padding.

use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width::styled_width;
use crate::text::wrap::wrap_line;
use pulldown_cmark::Alignment;
use std::sync::Arc;

const MIN_WIDTH: usize = 20;
/// A column narrower than this (and than its text) is not worth reading.
const MIN_COLUMN: usize = 5;
const GAP: usize = 2;

/// What is drawn, how it may be wrapped, and what copying it yields.
pub(super) type Line = (StyledText, WrapMode, Arc<str>);

#[derive(Default)]
pub(super) struct Table {
    pub aligns: Vec<Alignment>,
    pub head: Vec<StyledText>,
    pub rows: Vec<Vec<StyledText>>,
}

impl Table {
    /// The lines of the table, each with how it may be wrapped and what copying it yields.
    pub fn lines(&self, width: usize) -> Vec<Line> {
        match self.columns(width) {
            Some(widths) => self.grid(&widths),
            None => self.list(),
        }
    }

    fn natural(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(styled_width).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(styled_width(cell));
            }
        }
        widths.iter().map(|w| (*w).max(1)).collect()
    }

    /// The widths of the columns; `None` when they do not fit.
    fn columns(&self, width: usize) -> Option<Vec<usize>> {
        let natural = self.natural();
        if natural.is_empty() {
            return None;
        }
        let room = width.checked_sub(GAP * (natural.len() - 1))?;
        if natural.iter().sum::<usize>() <= room {
            return Some(natural);
        }
        if width < MIN_WIDTH {
            return None;
        }
        // The largest cap under which everything fits; narrow columns keep what they need.
        let fits = |cap: usize| natural.iter().map(|w| (*w).min(cap)).sum::<usize>() <= room;
        let (mut low, mut high) = (0, room);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        if low < MIN_COLUMN {
            return None;
        }
        let mut widths: Vec<usize> = natural.iter().map(|w| (*w).min(low)).collect();
        let mut left = room.saturating_sub(widths.iter().sum());
        for (width, natural) in widths.iter_mut().zip(&natural) {
            if *width < *natural && left > 0 {
                *width += 1;
                left -= 1;
            }
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize]) -> Vec<Line> {
        let mut out = Vec::new();
        self.row(&self.head, widths, &mut out);
        let mut rule = StyledText::new();
        for (n, width) in widths.iter().enumerate() {
            if n > 0 {
                rule.push(&" ".repeat(GAP), Token::Rule);
            }
            rule.push(&"─".repeat(*width), Token::Rule);
        }
        out.push((rule, WrapMode::Truncate, self.rule()));
        for row in &self.rows {
            self.row(row, widths, &mut out);
        }
        out
    }

    fn row(&self, cells: &[StyledText], widths: &[usize], out: &mut Vec<Line>) {
        let wrapped: Vec<Vec<StyledText>> =
            cells.iter().zip(widths).map(|(cell, width)| wrap_cell(cell, *width)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        for n in 0..height {
            let mut line = StyledText::new();
            let mut pad = 0;
            for (column, width) in widths.iter().enumerate() {
                let piece = wrapped.get(column).and_then(|lines| lines.get(n));
                let free = width.saturating_sub(piece.map_or(0, styled_width));
                let before = match self.aligns.get(column) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    _ => 0,
                };
                if let Some(piece) = piece.filter(|p| !p.is_empty()) {
                    line.push(&" ".repeat(pad + before), Token::Text);
                    line.append(piece);
                    pad = free - before + GAP;
                } else {
                    pad += width + GAP;
                }
            }
            out.push((line, WrapMode::Truncate, if n == 0 { source(cells) } else { "".into() }));
        }
    }

    /// The rule under the head, as it is written.
    fn rule(&self) -> Arc<str> {
        let marks = self.aligns.iter().map(|align| match align {
            Alignment::None => "---",
            Alignment::Left => ":--",
            Alignment::Center => ":-:",
            Alignment::Right => "--:",
        });
        format!("| {} |", marks.collect::<Vec<_>>().join(" | ")).into()
    }

    /// Rows in which something stands; the heads by themselves where there is none.
    fn list(&self) -> Vec<Line> {
        let mut out: Vec<Line> = Vec::new();
        let mut above = format!("{}\n{}\n", source(&self.head), self.rule());
        let rows = self.rows.iter().filter(|row| self.head.iter().zip(*row).any(|(_, cell)| !cell.is_empty()));
        for (n, row) in rows.enumerate() {
            if n > 0 {
                out.push((StyledText::new(), WrapMode::Words, "".into()));
            }
            let mut written: Arc<str> = format!("{}{}", std::mem::take(&mut above), source(row)).into();
            for (head, cell) in self.head.iter().zip(row) {
                if cell.is_empty() {
                    continue;
                }
                let mut line = StyledText::new();
                if !head.is_empty() {
                    line.append(head);
                    line.push(": ", Token::TableHead);
                }
                line.append(cell);
                out.push((line, WrapMode::Words, std::mem::replace(&mut written, "".into())));
            }
        }
        if out.is_empty() {
            let mut written: Arc<str> = above.trim_end().into();
            let mut next = || std::mem::replace(&mut written, "".into());
            out.extend(self.head.iter().map(|head| (head.clone(), WrapMode::Words, next())));
        }
        out
    }
}

/// A row of the table as it is written.
fn source(cells: &[StyledText]) -> Arc<str> {
    let cells = cells.iter().map(|cell| cell.as_str().replace('|', "\\|"));
    format!("| {} |", cells.collect::<Vec<_>>().join(" | ")).into()
}

/// The style of a head cell over the style that its text has.
pub(super) fn head_style(style: RunStyle) -> RunStyle {
    let token = if style.token == Token::Text { Token::TableHead } else { style.token };
    RunStyle { token, ..style }.with_mods(Mods::BOLD)
}

fn wrap_cell(cell: &StyledText, width: usize) -> Vec<StyledText> {
    let line = LogicalLine::text(cell.clone());
    let mut ranges = Vec::new();
    wrap_line(&line, width as u16, &mut ranges);
    let mut out = Vec::with_capacity(ranges.len());
    for range in ranges {
        let mut piece = StyledText::new();
        for (text, style) in cell.slice(range.start as usize..range.end as usize) {
            piece.push(text, style);
        }
        out.push(piece);
    }
    out
}
