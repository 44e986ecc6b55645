//! Frames that may not have all the bytes that they need: rows near the cursor go first, the others stay as they are.
//!
//! Knows no time. Invariants: the row of the cursor is always written; a row is written whole or not at all; where the
//! terminal's content is unknown, nothing is left out.

use super::{Content, Surface};
use std::io::Write;
use std::ops::Range;

impl<W: Write> Surface<W> {
    /// How many bytes the rows of the next frame may have, about.
    pub fn allow(&mut self, most: Option<usize>) {
        self.most = most;
    }

    /// Whether rows were left out of the last frame.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Bytes of all frames.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Has `row` write the rows that the frame may have, and takes back from what is next what it does not.
    pub(super) fn rows(&mut self, cursor: Option<u16>, row: impl Fn(&mut Self, u16)) {
        self.is_cut = false;
        let height = self.next.area.height;
        let Some(most) = self.most.take().filter(|_| self.content == Content::Known) else {
            return (0..height).for_each(|y| row(self, y));
        };
        let end = self.bytes.len().saturating_add(most);
        for y in nearest(cursor.unwrap_or(height).min(height), height) {
            if self.bytes.len() <= end {
                row(self, y);
            } else if self.is_other(y) {
                self.is_cut = true;
                self.put_off(y);
            }
        }
    }

    fn span(&self, y: u16) -> Range<usize> {
        let width = usize::from(self.next.area.width);
        usize::from(y) * width..(usize::from(y) + 1) * width
    }

    /// Whether a row is to be shown other than it is.
    fn is_other(&self, y: u16) -> bool {
        let span = self.span(y);
        self.next.content.get(span.clone()) != self.shown.content.get(span) || !self.leads_alike(y)
    }

    /// A row stays as it is for now.
    fn put_off(&mut self, y: u16) {
        let span = self.span(y);
        if let (Some(next), Some(shown)) = (self.next.content.get_mut(span.clone()), self.shown.content.get(span)) {
            next.clone_from_slice(shown);
        }
        self.links.retain(|link| link.y != y);
        self.links.extend(self.shown_links.iter().filter(|link| link.y == y).cloned());
    }
}

/// All rows, those first that are nearest to one.
fn nearest(from: u16, height: u16) -> impl Iterator<Item = u16> {
    let (mut above, mut below) = (from, from);
    std::iter::from_fn(move || {
        if above > 0 && (below >= height || below - from > from - above) {
            above -= 1;
            return Some(above);
        }
        (below < height).then(|| {
            below += 1;
            below - 1
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn all_rows_come_once_and_the_nearest_first() {
        assert_eq!(nearest(3, 6).collect::<Vec<_>>(), [3, 2, 4, 1, 5, 0]);
        assert_eq!(nearest(0, 3).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(nearest(3, 3).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!(nearest(0, 0).count(), 0);
    }

    /// Each row has a letter of its own.
    fn draw(surface: &mut Surface<Vec<u8>>, first: u8, most: Option<usize>) -> String {
        surface.allow(most);
        surface.out.clear();
        surface
            .draw(|area, buf| {
                for y in 0..area.height {
                    buf.set_string(0, y, char::from(first + y as u8).to_string().repeat(20), Style::new());
                }
                Some((5, 7))
            })
            .unwrap();
        String::from_utf8(surface.out.clone()).unwrap()
    }

    #[test]
    fn what_a_frame_may_not_have_comes_with_later_ones_and_once() {
        let mut surface = Surface::new(Vec::new(), 30, 10);
        let whole = draw(&mut surface, b'a', Some(10));
        assert!(whole.contains('a') && whole.contains('j') && !surface.is_cut(), "nothing is known: {whole:?}");
        let first = draw(&mut surface, b'A', Some(0));
        assert!(first.contains("HH") && !first.contains("II") && surface.is_cut(), "the row of the cursor: {first:?}");
        let second = draw(&mut surface, b'A', Some(40));
        assert!(!second.contains("HH") && second.contains("GG") && second.len() < 120, "{second:?}");
        let rest = draw(&mut surface, b'A', None);
        assert!(rest.contains("AA") && rest.contains("BB") && !rest.contains("GG") && !surface.is_cut(), "{rest:?}");
        assert_eq!(draw(&mut surface, b'A', Some(0)), "");
        assert_eq!(surface.written(), [whole, first, second, rest].iter().map(|frame| frame.len() as u64).sum::<u64>());
    }
}
