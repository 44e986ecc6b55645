//! Places in a text: graphemes and lines around a byte offset.
//!
//! Pure functions. Invariant: what they return is a grapheme boundary of the text if what they were given is one.

use super::wrap::grapheme_end;
use unicode_segmentation::GraphemeCursor;

/// The start of the grapheme before `at`.
pub(super) fn before(text: &str, at: usize) -> usize {
    if let Some([a, b]) = at.checked_sub(2).and_then(|from| text.as_bytes().get(from..at))
        && a.is_ascii()
        && b.is_ascii()
    {
        return at - 1;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0)
}

/// The end of the grapheme that begins at `at`.
pub(super) fn after(text: &str, at: usize) -> usize {
    if at >= text.len() { text.len() } else { grapheme_end(text, at) }
}

/// `at` itself if a cursor may stand there, else the next such place.
pub(super) fn boundary_at_or_after(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
    }
}

/// Where the line of `at` begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |i| i + 1)
}

/// Where the line of `at` ends: before its newline.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    at + rest.find('\n').unwrap_or(rest.len())
}
