//! The status line for a number of columns: which words give way to which.
//!
//! Says nothing of its own. Invariant: what matters least gives way first, and what must stay is cut only when nothing else is left.

use super::{KEEP, Piece, Status};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;

/// The two ends of the line for a number of columns; both fit with two columns between them.
pub fn fit(status: &Status, columns: usize) -> (StyledText, StyledText) {
    let mut left = status.left.clone();
    let mut right = status.right.clone();
    loop {
        let (l, r) = (join(&left), join(&right));
        let gap = if r.is_empty() { 0 } else { 2 };
        if width::styled_width(&l) + gap + width::styled_width(&r) <= columns {
            return (l, r);
        }
        if !give_way(&mut left, &mut right) {
            return (width::truncate_styled(&l, columns), StyledText::new());
        }
    }
}

/// Shortens or drops the piece that matters least; false when all that is left must stay.
fn give_way(left: &mut Vec<Piece>, right: &mut Vec<Piece>) -> bool {
    let lowest = |pieces: &[Piece]| {
        pieces
            .iter()
            .enumerate()
            .map(|(at, p)| (p.short.first().map_or(p.rank, |(rank, _)| *rank), at))
            .filter(|(rank, _)| *rank < KEEP)
            .min()
    };
    let (pieces, at) = match (lowest(left), lowest(right)) {
        (None, None) => return false,
        (Some((_, at)), None) => (left, at),
        (None, Some((_, at))) => (right, at),
        (Some((l, at)), Some((r, _))) if l < r => (left, at),
        (_, Some((_, at))) => (right, at),
    };
    match pieces.get_mut(at) {
        Some(piece) if !piece.short.is_empty() => piece.text = piece.short.remove(0).1,
        _ => {
            pieces.remove(at);
        }
    }
    true
}

fn join(pieces: &[Piece]) -> StyledText {
    let mut out = StyledText::new();
    for piece in pieces {
        if !out.is_empty() {
            let style = piece.text.iter().next().map_or(Token::Dim.into(), |(_, style)| style);
            out.push(piece.sep, if piece.sep == " · " { Token::Dim.into() } else { style });
        }
        out.append(&piece.text);
    }
    out
}
