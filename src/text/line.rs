//! Logical lines: what an entry looks like before anybody knows how wide the screen is.
//!
//! A logical line is wrapped to rows by `wrap`; copying takes `text` only, so gutters and prefixes never end up in
//! the clipboard.

use super::code::Code;
use super::diff::Kind;
use super::run::StyledText;
use super::token::Token;
use std::ops::Range;
use std::sync::Arc;

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
    /// What became of it, where it is a line of a diff.
    pub of_diff: Option<Kind>,
    /// What copying yields in place of the text, where that is something else; of a line that only goes on with another
    /// one, nothing.
    pub source: Option<Arc<str>>,
}

impl LogicalLine {
    pub fn text(text: StyledText) -> Self {
        Self { text, ..Self::default() }
    }

    /// What copying these bytes of the text yields: the words, with what stands in front of prose as Markdown has it, and
    /// nothing in front of code or output.
    pub fn copied(&self, bytes: Range<usize>) -> Option<String> {
        if self.source.as_deref() == Some("") {
            return None;
        }
        let from = self.text.as_str().floor_char_boundary(bytes.start);
        let words = self.text.as_str().get(from..).unwrap_or_default();
        let words = words.get(..words.floor_char_boundary(bytes.end.saturating_sub(from))).unwrap_or_default();
        let words = self.source.as_deref().unwrap_or(words);
        let front =
            if from == 0 && self.wrap != WrapMode::Anywhere { markdown(self.prefix.as_str()) } else { String::new() };
        Some(format!("{front}{words}"))
    }
}

/// What stands in front of a line of prose, as it is written.
fn markdown(front: &str) -> String {
    let marks = [("\u{258e} ", "> "), ("\u{2022} ", "- "), ("\u{2611} ", "- [x] "), ("\u{2610} ", "- [ ] ")];
    marks.iter().fold(front.to_owned(), |front, (drawn, written)| front.replace(drawn, written))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(prefix: &str, text: &str, wrap: WrapMode) -> LogicalLine {
        LogicalLine { prefix: prefix.into(), wrap, ..LogicalLine::text(text.into()) }
    }

    #[test]
    fn prose_is_copied_as_it_is_written_and_code_without_its_margin() {
        for (prefix, written) in [("", ""), ("• ", "- "), ("  ☑ ", "  - [x] "), ("▎ • ", "> - "), ("12. ", "12. ")]
        {
            let line = line(prefix, "日本 tea", WrapMode::Words);
            assert_eq!(line.copied(0..10), Some(format!("{written}日本 tea")));
            assert_eq!(line.copied(3..99).as_deref(), Some("本 tea"), "not from its beginning on");
        }
        assert_eq!(line("     12 + ", "let x;", WrapMode::Anywhere).copied(0..6).as_deref(), Some("let x;"));
        assert_eq!(line("", "日本", WrapMode::Words).copied(1..4).as_deref(), Some("日"), "no character is cut");
    }

    #[test]
    fn a_line_with_a_source_is_copied_as_that() {
        let of = |source: &str| LogicalLine { source: Some(source.into()), ..line("", "a  b", WrapMode::Truncate) };
        assert_eq!(of("| a | b |").copied(2..3).as_deref(), Some("| a | b |"));
        assert_eq!(of("").copied(0..4), None);
    }
}
