//! Pieces of a text that are shown as one word: long ones that were pasted.
//!
//! Keeps where they are and what they are called, never their text. Invariants: they are in order and have something in them,
//! no two overlap; one that is changed inside is one no more.

use crate::base::human;
use std::ops::Range;

/// Lines and characters that are not folded.
const MAX_LINES: usize = 8;
const MAX_CHARS: usize = 1000;

/// One of them, and the word for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Chip {
    pub(super) range: Range<usize>,
    pub(super) label: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Chips(Vec<Chip>);

impl Chips {
    /// Whether a piece of a text is long.
    pub(super) fn is_worth_it(&self, text: &str, piece: &Range<usize>) -> bool {
        let Some(text) = text.get(piece.clone()) else { return false };
        self.around(piece.start).is_none()
            && (text.lines().nth(MAX_LINES).is_some() || text.chars().nth(MAX_CHARS).is_some())
    }

    /// What is none any more is not added.
    pub(super) fn add(&mut self, text: &str, range: Range<usize>) {
        let Some(piece) = text.get(range.clone()).filter(|piece| !piece.is_empty()) else { return };
        let at = self.0.partition_point(|chip| chip.range.end <= range.start);
        if self.0.get(at).is_some_and(|chip| chip.range.start < range.end) {
            return;
        }
        let words = match piece.lines().count() {
            0 | 1 => human::count(piece.chars().count() as u64, "character"),
            lines => human::count(lines as u64, "line"),
        };
        self.0.insert(at, Chip { range, label: format!("[pasted {words}]") });
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Where the first begins.
    pub(super) fn first(&self) -> Option<usize> {
        self.0.first().map(|chip| chip.range.start)
    }

    /// `range` was replaced by so many bytes. Where the first begins that is none any more, or behind all.
    pub(super) fn spliced(&mut self, range: Range<usize>, len: usize) -> usize {
        let mut first = usize::MAX;
        self.0.retain_mut(|Chip { range: chip, .. }| {
            if chip.end <= range.start {
                return true;
            }
            if chip.start < range.end || chip.start < range.start {
                first = first.min(chip.start);
                return false;
            }
            let moved = |at: usize| at - range.len() + len;
            *chip = moved(chip.start)..moved(chip.end);
            true
        });
        first
    }

    fn find(&self, wanted: impl Fn(&Range<usize>) -> bool) -> Option<Range<usize>> {
        self.0.iter().map(|chip| &chip.range).find(|range| wanted(range)).cloned()
    }

    /// The one that a place is inside of, and not at an end of.
    pub(super) fn around(&self, at: usize) -> Option<Range<usize>> {
        self.find(|chip| chip.start < at && at < chip.end)
    }

    pub(super) fn beginning_at(&self, at: usize) -> Option<Range<usize>> {
        self.find(|chip| chip.start == at)
    }

    pub(super) fn ending_at(&self, at: usize) -> Option<Range<usize>> {
        self.find(|chip| chip.end == at)
    }

    pub(super) fn next_after(&self, at: usize) -> Option<Range<usize>> {
        self.find(|chip| chip.start >= at)
    }

    pub(super) fn last_before(&self, at: usize) -> Option<Range<usize>> {
        self.0.iter().rev().map(|chip| &chip.range).find(|chip| chip.end <= at).cloned()
    }

    /// Those that are wholly inside, counted from where that begins.
    pub(super) fn within(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let inside = |chip: &&Range<usize>| range.start <= chip.start && chip.end <= range.end;
        let from = |chip: &Range<usize>| chip.start - range.start..chip.end - range.start;
        self.0.iter().map(|chip| &chip.range).filter(inside).map(from).collect()
    }

    /// What a row is made of, between two places: graphemes, and each of these as a whole with its word.
    pub(super) fn atoms<'a>(&'a self, text: &'a str, from: usize, to: usize) -> Atoms<'a> {
        let next = self.0.partition_point(|chip| chip.range.start < from);
        Atoms { text, at: from, to, chips: self.0.get(next..).unwrap_or_default(), plain: None }
    }
}

/// See [`Chips::atoms`].
pub(super) struct Atoms<'a> {
    text: &'a str,
    at: usize,
    to: usize,
    /// Those that are still to come.
    chips: &'a [Chip],
    /// What is before the next of them.
    plain: Option<unicode_segmentation::Graphemes<'a>>,
}

impl<'a> Iterator for Atoms<'a> {
    /// Where it begins, its text, and the word for it.
    type Item = (usize, &'a str, Option<&'a str>);

    fn next(&mut self) -> Option<Self::Item> {
        use unicode_segmentation::UnicodeSegmentation as _;
        let at = self.at;
        if let Some((chip, rest)) = self.chips.split_first()
            && chip.range.start == at
            && chip.range.end <= self.to
        {
            (self.chips, self.plain, self.at) = (rest, None, chip.range.end);
            return Some((at, self.text.get(chip.range.clone())?, Some(&chip.label)));
        }
        let until = self.chips.first().map_or(self.to, |chip| chip.range.start.clamp(at, self.to));
        let until = if until == at { self.to } else { until };
        let plain = self.plain.get_or_insert_with(|| self.text.get(at..until).unwrap_or_default().graphemes(true));
        let grapheme = plain.next()?;
        self.at += grapheme.len();
        Some((at, grapheme, None))
    }
}

#[cfg(test)]
#[path = "chips_tests.rs"]
mod tests;
