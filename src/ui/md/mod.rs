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
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use render::{Label, Links, render};

/// The lines of a whole text.
pub fn lines(text: &str, width: u16) -> Vec<LogicalLine> {
    render(&sanitize::block(text), width, Label::Shown, &Links::default())
}

/// The code blocks of a text: the language that each names, and what is in it.
pub fn blocks(text: &str) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut is_inside = false;
    for event in Parser::new_ext(text, render::OPTIONS) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let info = if let CodeBlockKind::Fenced(info) = kind { info } else { "".into() };
                out.push((sanitize::line(code::tag(&info)).into_owned(), String::new()));
                is_inside = true;
            }
            Event::End(TagEnd::CodeBlock) => is_inside = false,
            Event::Text(text) if is_inside => {
                if let Some((_, code)) = out.last_mut() {
                    code.push_str(&text);
                }
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
#[path = "commonmark_tests.rs"]
mod commonmark_tests;

#[cfg(test)]
#[path = "md_tests.rs"]
pub(in crate::ui) mod tests;
