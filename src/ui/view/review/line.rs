//! One line of a hunk: numbers, sign, text, with the changed words and the places found marked.
//!
//! Only the columns in view are looked at closely. Invariant: the sign says what the line is, without colour.

use crate::text::diff::{DiffLine, Kind};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::state::review::Spans;
use crate::ui::state::review::search::Query;
use std::ops::Range;

/// Places found that are marked in one line.
const FOUND: usize = 64;

/// How a line is to be written.
#[derive(Clone, Copy)]
pub struct Style<'a> {
    pub digits: usize,
    /// Columns that the text is moved to the left.
    pub column: usize,
    pub query: Option<&'a Query<'a>>,
    /// What was added and removed has a ground of its own; without it such a line has the colour of what became of it.
    pub is_tinted: bool,
}

/// Which numbers stand in front.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    Both,
    /// The one in the text that the line belongs to.
    One,
    Old,
    New,
}

/// The line in at most `columns`.
pub fn line(line: &DiffLine, spans: Option<&Spans>, numbers: Numbers, style: Style<'_>, columns: usize) -> StyledText {
    let digits = style.digits;
    let number = |n: Option<u32>| n.map_or_else(|| " ".repeat(digits), |n| format!("{n:>digits$}"));
    let front = match numbers {
        Numbers::Both => format!("{} {} ", number(line.old), number(line.new)),
        Numbers::One => format!("{} ", number(line.new.or(line.old))),
        Numbers::Old => format!("{} ", number(line.old)),
        Numbers::New => format!("{} ", number(line.new)),
    };
    let (sign, mark, word) = match line.kind {
        Kind::Context => ("  ", Token::Text, Token::Text),
        Kind::Del => ("- ", Token::SignBad, Token::DiffDelWord),
        Kind::Add => ("+ ", Token::SignGood, Token::DiffAddWord),
    };
    let token = base(line.kind);
    let mut out = StyledText::of(front, Token::LineNumber);
    out.push(sign, mark);
    let room = columns.saturating_sub(width::styled_width(&out));
    if room == 0 {
        return width::truncate_styled(&out, columns);
    }
    let spans = spans.filter(|_| style.is_tinted || line.kind == Kind::Context);
    let paints = Paints { line, spans, found: found(&line.text, style.query), base: token, word };
    let mut text = window(&line.text, style.column, room, &paints);
    if line.no_newline {
        text.push("  no newline at the end", Token::Dim);
    }
    out.append(&width::truncate_styled(&text, room));
    out
}

/// Columns in front of the text: the numbers and the sign.
pub const fn front(numbers: Numbers, digits: usize) -> usize {
    match numbers {
        Numbers::Both => 2 * digits + 4,
        Numbers::One | Numbers::Old | Numbers::New => digits + 3,
    }
}

/// What a line is as a whole; its ground goes up to the right edge.
pub fn base(kind: Kind) -> Token {
    match kind {
        Kind::Context => Token::Text,
        Kind::Del => Token::DiffDel,
        Kind::Add => Token::DiffAdd,
    }
}

struct Paints<'a> {
    line: &'a DiffLine,
    spans: Option<&'a Spans>,
    found: Vec<Range<usize>>,
    base: Token,
    word: Token,
}

impl Paints<'_> {
    fn at(&self, byte: usize) -> RunStyle {
        let in_found = self.found.iter().any(|r| r.contains(&byte));
        if in_found {
            return RunStyle::from(Token::Selected).with_mods(Mods::REVERSE);
        }
        let at = byte as u32;
        // Both are sorted: nothing before the first that ends behind the byte matters.
        let marks = &self.line.emphasis;
        if marks.get(marks.partition_point(|r| r.end <= at)).is_some_and(|r| r.contains(&at)) {
            return RunStyle::from(self.word).with_mods(Mods::BOLD);
        }
        let span = self.spans.and_then(|spans| {
            let (range, token) = spans.get(spans.partition_point(|(r, _)| r.end <= at))?;
            range.contains(&at).then_some(*token)
        });
        span.unwrap_or(self.base).into()
    }
}

fn found(text: &str, query: Option<&Query<'_>>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(range) = query.and_then(|q| q.find(text, from)) {
        from = range.end.max(range.start + 1);
        out.push(range);
        if out.len() == FOUND || !text.is_char_boundary(from) {
            break;
        }
    }
    out
}

/// The text from a column on, tabs as spaces; ends one column too late when there is more, so that a cut is marked.
fn window(text: &str, column: usize, room: usize, paints: &Paints<'_>) -> StyledText {
    let mut out = StyledText::new();
    let mut at = 0;
    let end = column + room + 1;
    for (byte, grapheme, wide) in width::graphemes(text) {
        if at >= end {
            break;
        }
        let wide = if grapheme == "\t" { width::TAB - at % width::TAB } else { wide };
        if wide > 0 && at + wide > column {
            let style = paints.at(byte);
            if at < column || column > 0 && out.is_empty() {
                // Something is to the left, or only a part of this.
                out.push("…", Token::Dim);
                out.push(&" ".repeat((at + wide).saturating_sub(column + 1)), style);
            } else if grapheme == "\t" {
                out.push(&" ".repeat(wide), style);
            } else {
                out.push(grapheme, style);
            }
        }
        at += wide;
    }
    out
}
