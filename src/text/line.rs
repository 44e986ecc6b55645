//! Logical lines: what an entry looks like before anybody knows how wide the screen is.
//!
//! A logical line is wrapped to rows by `wrap`; copying takes `text` only, so gutters and prefixes never end up in
//! the clipboard.

use super::code::Code;
use super::run::StyledText;
use super::token::Token;

/// How a line that is too long is treated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WrapMode {
    /// At word boundaries; long words are cut.
    #[default]
    Words,
    /// At any grapheme (code, command output): nothing is dropped.
    Anywhere,
    /// One row, cut at the edge with `…`.
    Truncate,
}

/// One line of an entry, independent of width.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogicalLine {
    /// Drawn once, in the two columns left of the text ("› ", "✓ "); empty on most lines.
    pub gutter: StyledText,
    /// In front of the first row ("• ", "1. ", "▎ "), part of the layout, not of the text.
    pub prefix: StyledText,
    /// In front of the rows that follow.
    pub hang: StyledText,
    pub text: StyledText,
    /// Right-aligned on the first row when there is room (figures, times).
    pub right: StyledText,
    pub wrap: WrapMode,
    /// Whose background the whole row has, where the theme gives it one.
    pub fill: Option<Token>,
    /// What it is of a program's text.
    pub code: Option<Code>,
}

impl LogicalLine {
    pub fn text(text: StyledText) -> Self {
        Self { text, ..Self::default() }
    }
}
