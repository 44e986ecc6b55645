//! Text objects: the piece of a text that `iw`, `a"` and the others stand for.
//!
//! Pure functions of a text. Invariant: a piece begins and ends at grapheme boundaries of the text.

use super::motion::{Size, Stops, Takes, closing, end, opening, words};
use super::walk::{Met, Walk};
use crate::ui::composer::place::{after, before, line_end, line_start};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Object {
    pub(super) what: Thing,
    /// With the blanks or signs around it.
    pub(super) around: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Thing {
    Word(Size),
    Quoted(char),
    Block(char, char),
    Paragraph,
}

/// A piece of a text as motions tell it: the first place, the last one, and what is taken of that.
pub(super) type Piece = (usize, usize, Takes);

impl Object {
    /// What a letter behind `i` or `a` stands for.
    pub(super) fn of(letter: char, around: bool) -> Option<Self> {
        let what = match letter {
            'w' => Thing::Word(Size::Word),
            'W' => Thing::Word(Size::Big),
            '"' | '\'' | '`' => Thing::Quoted(letter),
            '(' | ')' | 'b' => Thing::Block('(', ')'),
            '[' | ']' => Thing::Block('[', ']'),
            '{' | '}' | 'B' => Thing::Block('{', '}'),
            '<' | '>' => Thing::Block('<', '>'),
            'p' => Thing::Paragraph,
            _ => return None,
        };
        Some(Self { what, around })
    }

    pub(super) fn find(self, text: &str, at: usize, times: usize) -> Option<Piece> {
        match self.what {
            Thing::Word(size) => self.word(text, at, size, times),
            Thing::Quoted(sign) => self.quoted(text, at, sign, times),
            Thing::Block(open, close) => self.block(text, at, (open, close), times),
            Thing::Paragraph => self.paragraph(text, at, times),
        }
    }

    fn word(self, text: &str, at: usize, size: Size, times: usize) -> Option<Piece> {
        let big = size == Size::Big;
        let mut walk = Walk { text, at: start_of_class(text, at, big), big };
        let mut start = walk.at;
        let mut takes = Takes::Inclusive;
        let mut blanks_behind = false;
        if (walk.class() == 0) == self.around {
            let (to, is_there) = end(text, size, walk.at, 1, Stops::HereOrEmpty);
            if !is_there {
                return None;
            }
            walk.at = to;
        } else {
            walk.at = words(text, size, walk.at, 1, true);
            if walk.is_start() {
                walk.back_over_end();
            } else {
                walk.back();
            }
            blanks_behind = self.around;
        }
        for _ in 1..times {
            takes = Takes::Inclusive;
            if walk.forth_over_end() == Met::Edge {
                return None;
            }
            if !self.around {
                let class = walk.class();
                while !walk.is_end() && walk.class() == class {
                    walk.forth();
                }
                walk.at = before(text, walk.at).max(line_start(text, walk.at));
                continue;
            }
            if walk.class() == 0 {
                // Blanks and the word behind them.
                walk.at = end(text, size, walk.at, 1, Stops::HereOrEmpty).0;
                continue;
            }
            walk.at = words(text, size, walk.at, 1, true);
            if walk.is_start() { takes = Takes::Exclusive } else { walk.at = before(text, walk.at) }
        }
        if blanks_behind && (walk.class() != 0 || takes == Takes::Exclusive && walk.is_start()) {
            let first = line_start(text, start);
            if start > first {
                let blank = Walk { text, at: before(text, start), big };
                let blanks = start_of_class(text, blank.at, big);
                if blank.class() == 0 && blanks > first {
                    start = blanks;
                }
            }
        }
        Some((start, walk.at.max(start), takes))
    }

    fn quoted(self, text: &str, at: usize, sign: char, times: usize) -> Option<Piece> {
        let (first, last) = (line_start(text, at), line_end(text, at));
        let line = text.get(first..last)?;
        let at = at - first;
        let (open, close) = if line.get(at..)?.starts_with(sign) {
            let mut from = 0;
            loop {
                let open = from + line.get(from..)?.find(sign).filter(|i| from + i <= at)?;
                let close = next_sign(line, open + 1, sign)?;
                if at <= close {
                    break (open, close);
                }
                from = close + 1;
            }
        } else {
            let open = match last_sign(line, at, sign) {
                Some(open) => open,
                None => at + line.get(at..)?.find(sign)?,
            };
            (open, next_sign(line, open + 1, sign)?)
        };
        let blank = |c: char| c == ' ' || c == '\t';
        let (mut from, mut to) = (open, close + 1);
        if self.around {
            let behind = line.get(to..)?;
            let blanks = behind.len() - behind.trim_start_matches(blank).len();
            to += blanks;
            if blanks == 0 {
                from = line.get(..from)?.trim_end_matches(blank).len();
            }
        } else if times < 2 {
            (from, to) = (open + 1, close);
        }
        Some((first + from, first + to, Takes::Exclusive))
    }

    fn block(self, text: &str, at: usize, (open, close): (char, char), times: usize) -> Option<Piece> {
        let mut walk = Walk { text, at, big: false };
        if open == '{' {
            while only_blanks_before(text, walk.at) && walk.forth() == Met::Character {}
        }
        let mut start = walk.at;
        if walk.char() == Some(open) {
            start += 1;
        }
        start = match (0..times).try_fold(start, |at, _| opening(text, at, open, close)) {
            Some(start) => start,
            // Around no block, the next one is meant.
            None if times == 1 => start + text.get(start..)?.find(open)?,
            None => return None,
        };
        let close = closing(text, start + 1, open, close)?;
        if self.around {
            return Some((start, close, Takes::Inclusive));
        }
        let mut first = Walk { text, at: start, big: false };
        first.forth_over_end();
        let mut last = Walk { text, at: close, big: false };
        let mut own_line = last.is_start();
        last.back_over_end();
        while only_blanks_before(text, last.at) {
            own_line = true;
            if last.back_over_end() != Met::Character {
                break;
            }
        }
        if own_line {
            last.forth_over_end();
            return Some((first.at, last.at.max(first.at), Takes::Exclusive));
        }
        if first.at <= last.at {
            return Some((first.at, last.at, Takes::Inclusive));
        }
        Some((first.at, first.at, Takes::Exclusive))
    }

    fn paragraph(self, text: &str, at: usize, times: usize) -> Option<Piece> {
        let lines: Vec<&str> = text.split('\n').collect();
        let blank = |i: usize| lines.get(i).is_some_and(|line| line.trim().is_empty());
        let empty = |i: usize| lines.get(i).is_some_and(|line| line.is_empty());
        let last = lines.len() - 1;
        let mut first = text.get(..at)?.matches('\n').count();
        let begins_blank = blank(first);
        while first > 0 && blank(first - 1) == begins_blank && (begins_blank || !empty(first)) {
            first -= 1;
        }
        // Behind the last line that is taken.
        let mut behind = first;
        while blank(behind) {
            behind += 1;
        }
        let mut left = if begins_blank && !self.around { times - 1 } else { times };
        while left > 0 {
            left -= 1;
            if behind > last {
                return None;
            }
            let is_blank = blank(behind);
            if self.around || !is_blank {
                behind += 1;
                while behind <= last && !blank(behind) {
                    behind += 1;
                }
            }
            if left == 0 && begins_blank && self.around {
                break;
            }
            if self.around || is_blank {
                while behind <= last && blank(behind) {
                    behind += 1;
                }
            }
        }
        if !begins_blank && self.around && !blank(behind - 1) {
            while first > 0 && blank(first - 1) {
                first -= 1;
            }
        }
        let start = |line: usize| lines.iter().take(line).map(|line| line.len() + 1).sum::<usize>();
        Some((start(first), start(behind - 1), Takes::Lines))
    }
}

/// Where the run of characters of one kind begins, in the line.
fn start_of_class(text: &str, at: usize, big: bool) -> usize {
    let mut walk = Walk { text, at, big };
    let class = walk.class();
    while !walk.is_start() {
        let was = walk.at;
        walk.back();
        if walk.class() != class {
            return was;
        }
    }
    walk.at
}

/// The next sign at or behind `from` without a backslash before it.
fn next_sign(line: &str, from: usize, sign: char) -> Option<usize> {
    let mut escaped = false;
    line.get(from..)?
        .char_indices()
        .find(|(_, c)| {
            let is_it = *c == sign && !escaped;
            escaped = *c == '\\' && !escaped;
            is_it
        })
        .map(|(i, _)| from + i)
}

/// The last sign before `to` without an odd number of backslashes before it.
fn last_sign(line: &str, to: usize, sign: char) -> Option<usize> {
    let head = line.get(..to)?;
    let is_escaped = |i: usize| head.get(..i).is_some_and(|h| (h.len() - h.trim_end_matches('\\').len()) % 2 == 1);
    head.rmatch_indices(sign).map(|(i, _)| i).find(|i| !is_escaped(*i))
}

/// In the blanks that a line begins with.
pub(super) fn in_indent(text: &str, at: usize) -> bool {
    text.get(line_start(text, at)..at).is_some_and(|head| head.chars().all(|c| c == ' ' || c == '\t'))
}

/// In those blanks with the character at `at`.
fn only_blanks_before(text: &str, at: usize) -> bool {
    at != line_end(text, at) && in_indent(text, after(text, at))
}
