//! Markdown to logical lines.
//!
//! Knows no screen but a width (tables need one), no colours, no highlighting. What comes in may be hostile: it is
//! made harmless before parsing and again after, since entities can spell control characters. Invariant: laying a
//! text out piece by piece ([`split`]) gives the lines of the whole, unless a block is larger than a piece may be.

mod code;
pub mod pieces;
mod render;
pub mod split;
mod table;

use crate::base::sanitize;
use crate::text::line::LogicalLine;
use render::{Label, Links, render};

/// The lines of a whole text.
pub fn lines(text: &str, width: u16) -> Vec<LogicalLine> {
    render(&sanitize::block(text), width, Label::Shown, &Links::default())
}

#[cfg(test)]
#[path = "commonmark_tests.rs"]
mod commonmark_tests;

#[cfg(test)]
#[path = "md_tests.rs"]
pub(in crate::ui) mod tests;
