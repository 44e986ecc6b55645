//! The lines of one piece of a text that [`super::split`] has cut.
//!
//! Invariant: the lines of all pieces, one after the other, are the lines of the whole text.

use super::render::{Label, render};
use super::split::{PieceKind, StablePrefix};
use crate::base::sanitize;
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;

/// The lines of piece `index` for a width.
pub fn lines(text: &str, split: &StablePrefix, index: usize, width: u16) -> Vec<LogicalLine> {
    let Some(piece) = split.pieces().get(index) else { return Vec::new() };
    let start = piece.start as usize;
    let end = split.end_of(index).unwrap_or(start);
    let source = text.get(start..end).unwrap_or_default();
    match piece.kind {
        PieceKind::Plain => plain(source),
        PieceKind::Fence { from, to } => {
            if source.is_empty() {
                return Vec::new();
            }
            let opening = text.get(from as usize..to as usize).unwrap_or("```");
            let whole = format!("{opening}\n{source}");
            render(&sanitize::block(&whole), width, Label::Hidden, &split.links)
        }
        PieceKind::Markdown => {
            let mut lines = render(&sanitize::block(source), width, Label::Shown, &split.links);
            if index > 0 && !lines.is_empty() {
                lines.insert(0, LogicalLine::default());
            }
            lines
        }
    }
}

/// Lines as they are.
pub fn plain(source: &str) -> Vec<LogicalLine> {
    let clean = sanitize::block(source);
    let body = clean.strip_suffix('\n').unwrap_or(&clean);
    if body.is_empty() && source.is_empty() {
        return Vec::new();
    }
    body.split('\n').map(|line| LogicalLine::text(StyledText::of(line, Token::Text))).collect()
}
