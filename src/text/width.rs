//! How many columns text takes.
//!
//! Measures graphemes (as [`crate::base::width`] does), never single characters, and cuts only between them. Invariant: the
//! width of a string is the sum of the widths of its graphemes.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::run::StyledText;
use super::token::Token;
use crate::base::width::grapheme as grapheme_width;

/// Columns between tab stops.
pub const TAB: usize = 4;

/// Columns of an end that says something.
const MIN_TAIL: usize = 7;
const ELLIPSIS: &str = "…";

/// The graphemes of a text with their byte offset and width.
///
/// Segmentation only starts where something other than ASCII is near, so plain text costs a few instructions per
/// byte. Starting anew at a boundary is safe: no rule looks further back than the start of a grapheme.
#[derive(Clone, Debug)]
pub struct Graphemes<'a> {
    text: &'a str,
    at: usize,
}

pub const fn graphemes(text: &str) -> Graphemes<'_> {
    Graphemes { text, at: 0 }
}

impl<'a> Iterator for Graphemes<'a> {
    type Item = (usize, &'a str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let bytes = self.text.as_bytes();
        let first = *bytes.get(at)?;
        let alone = first.is_ascii() && first != b'\r' && bytes.get(at + 1).is_none_or(u8::is_ascii);
        let grapheme = if alone { self.text.get(at..=at)? } else { self.text.get(at..)?.graphemes(true).next()? };
        self.at += grapheme.len();
        Some((at, grapheme, grapheme_width(grapheme)))
    }
}

const fn is_printable_ascii(byte: &u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// The columns of a text; control characters (tabs and line ends too) count nothing.
pub fn str_width(text: &str) -> usize {
    let (bytes, mut width, mut at) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let plain = rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        // The last of it may belong to what follows.
        let alone = if plain == rest.len() { plain } else { plain.saturating_sub(1) };
        width += rest[..alone].iter().filter(|byte| is_printable_ascii(byte)).count();
        at += alone;
        let mut next = Graphemes { text, at };
        width += next.next().map_or(0, |(_, _, width)| width);
        at = next.at;
    }
    width
}

/// The characters of a line that begins in the first column, each with its bytes and its columns, tabs included.
pub fn cells(text: &str) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    graphemes(text).scan(0, |column, (at, grapheme, width)| {
        let width = if grapheme == "\t" { TAB - *column % TAB } else { width };
        let columns = *column..*column + width;
        *column = columns.end;
        Some((at..at + grapheme.len(), columns))
    })
}

/// The columns of a styled text.
pub fn styled_width(text: &StyledText) -> usize {
    str_width(text.as_str())
}

/// The longest beginning that fits into `cols` columns, and its width.
pub fn clip(text: &str, cols: usize) -> (&str, usize) {
    // Of plain text, with the character behind it, each byte is a column.
    let near = text.len().min(cols.saturating_add(1));
    if text.as_bytes()[..near].iter().all(is_printable_ascii) {
        return (&text[..near.min(cols)], near.min(cols));
    }
    let plain = text.bytes().position(|byte| !is_printable_ascii(&byte)).unwrap_or(text.len());
    let mut used = plain.saturating_sub(1);
    for (at, _, width) in (Graphemes { text, at: used }) {
        if used + width > cols {
            return (&text[..at], used);
        }
        used += width;
    }
    (text, used)
}

/// The text, cut with `…` when it is wider than `cols`.
pub fn truncate(text: &str, cols: usize) -> Cow<'_, str> {
    if clip(text, cols).0.len() == text.len() {
        return Cow::Borrowed(text);
    }
    match cols.checked_sub(grapheme_width(ELLIPSIS)) {
        None => Cow::Borrowed(""),
        Some(left) => Cow::Owned(format!("{}{ELLIPSIS}", clip(text, left).0)),
    }
}

/// The text, cut at the front (`…/src/main.rs`) when it is wider than `cols`.
pub fn truncate_start(text: &str, cols: usize) -> Cow<'_, str> {
    let total = str_width(text);
    if total <= cols {
        return Cow::Borrowed(text);
    }
    let sign = grapheme_width(ELLIPSIS);
    if cols < sign {
        return Cow::Borrowed("");
    }
    let mut left = total;
    for (at, _, width) in graphemes(text) {
        if left + sign <= cols {
            return Cow::Owned(format!("{ELLIPSIS}{}", &text[at..]));
        }
        left -= width;
    }
    Cow::Borrowed(ELLIPSIS)
}

/// The text, cut in the middle (`mend the … (fork)`) when it is wider than `cols`: of texts that begin alike the end tells
/// which is which. Where there is little room, cut like [`truncate`].
pub fn truncate_middle(text: &str, cols: usize) -> Cow<'_, str> {
    let tail = cols / 3;
    if tail < MIN_TAIL || clip(text, cols).0.len() == text.len() {
        return truncate(text, cols);
    }
    let end = truncate_start(text, tail);
    Cow::Owned(format!("{}{end}", clip(text, cols - str_width(&end)).0))
}

/// As many parts of a text of parts (`Enter sends · Esc closes`) as fit, from the first one on; that one always.
pub fn whole_parts<'a>(text: &'a str, sep: &str, cols: usize) -> &'a str {
    let ends = text.match_indices(sep).map(|(at, _)| at).chain([text.len()]);
    let fit = |end: &usize| str_width(&text[..*end]) <= cols;
    let mut ends = ends.peekable();
    let first = ends.peek().copied().unwrap_or_default();
    &text[..ends.take_while(fit).last().unwrap_or(first)]
}

/// [`truncate`] for styled text; the `…` takes the style of what it stands for.
pub fn truncate_styled(text: &StyledText, cols: usize) -> StyledText {
    let all = text.as_str();
    if clip(all, cols).0.len() == all.len() {
        return text.clone();
    }
    let mut out = StyledText::new();
    let sign = grapheme_width(ELLIPSIS);
    if cols < sign {
        return out;
    }
    let end = clip(all, cols - sign).0.len();
    for (piece, style) in text.slice(0..end) {
        out.push(piece, style);
    }
    let style = text.slice(end..all.len()).next().map_or(Token::Text.into(), |(_, style)| style);
    out.push(ELLIPSIS, style);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths() {
        for (text, width) in [
            ("", 0),
            ("abc", 3),
            ("ä", 1),
            ("a\u{308}", 1),
            ("漢字", 4),
            ("👩\u{200d}👩\u{200d}👧\u{200d}👦", 2),
            ("🏳\u{fe0f}\u{200d}🌈", 2),
            ("🇩🇪", 2),
            ("🇩🇪🇫🇷x", 5),
            ("👍🏽", 2),
            ("❤\u{fe0f}", 2),
            ("\t\n\r\n\x1b\u{7f}\u{9b}", 0),
            ("ok\u{fe0f}", 2),
        ] {
            assert_eq!(str_width(text), width, "{text:?}");
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_left_out_whole_but_for_the_first() {
        let parts = |cols| whole_parts("ab · cd · ef", " · ", cols);
        assert_eq!([12, 11, 7, 6, 1].map(parts), ["ab · cd · ef", "ab · cd", "ab · cd", "ab", "ab"]);
        assert_eq!(whole_parts("", " · ", 3), "");
    }

    #[test]
    fn truncate_marks_the_cut_and_never_splits_a_grapheme() {
        assert_eq!(truncate("hello", 5), "hello");
        assert_eq!(truncate("hello", 4), "hel…");
        assert_eq!(truncate("hello", 1), "…");
        assert_eq!(truncate("hello", 0), "");
        assert_eq!(truncate("漢字漢", 4), "漢…");
        assert_eq!(truncate("👩\u{200d}🚀👩\u{200d}🚀", 3), "👩\u{200d}🚀…");
        assert_eq!(truncate_start("src/text/width.rs", 9), "…width.rs");
        assert_eq!(truncate_start("漢字", 3), "…字");
        assert_eq!(truncate_start("漢字", 2), "…");
        assert!(matches!(truncate("abc", 3), Cow::Borrowed("abc")));
    }

    #[test]
    fn a_cut_keeps_styles() {
        let mut text = StyledText::of("ab", Token::Good);
        text.push("cd", Token::Bad);
        let cut = truncate_styled(&text, 3);
        assert_eq!(cut.iter().map(|(t, s)| (t, s.token)).collect::<Vec<_>>(), [("ab", Token::Good), ("…", Token::Bad)]);
        assert_eq!(truncate_styled(&text, 4), text);
        assert!(truncate_styled(&text, 0).is_empty());
    }

    proptest! {
        #[test]
        fn the_fast_path_finds_the_same_graphemes(text in "([a-z \r\n]|\\PC|[\u{300}-\u{303}]|[\u{1f1e6}-\u{1f1ff}]|\u{200d}|\u{fe0f}|👩){0,30}") {
            let fast: Vec<(usize, &str)> = graphemes(&text).map(|(at, g, _)| (at, g)).collect();
            let slow: Vec<(usize, &str)> = text.grapheme_indices(true).collect();
            prop_assert_eq!(fast, slow);
        }

        #[test]
        fn the_fast_ways_measure_and_cut_as_graphemes_do(
            text in "([a-c \t\r\n]|\\PC|[\u{300}-\u{303}]|[\u{1f1e6}-\u{1f1ff}]|\u{200d}|\u{fe0f}|👩|…){0,30}",
            cols in 0usize..40,
        ) {
            prop_assert_eq!(str_width(&text), graphemes(&text).map(|(_, _, width)| width).sum::<usize>());
            let (cut, width) = clip(&text, cols);
            let mut used = 0;
            let end = graphemes(&text).find(|(_, _, width)| { used += width; used > cols }).map_or(text.len(), |(at, ..)| at);
            prop_assert_eq!((cut, width), (&text[..end], str_width(&text[..end])));
        }

        #[test]
        fn a_cut_fits(text in "\\PC{0,30}", cols in 0usize..40) {
            prop_assert!(str_width(&truncate(&text, cols)) <= cols);
            prop_assert!(str_width(&truncate_start(&text, cols)) <= cols);
            prop_assert!(clip(&text, cols).1 <= cols);
            prop_assert_eq!(truncate(&text, 1000), text.as_str());
        }
    }
}
