//! Motions: where each leads, and what an operator takes of the way.
//!
//! Pure functions of a text. Invariant: a motion leads to a grapheme boundary of the text, or nowhere.

use super::walk::{Met, Walk};
use crate::ui::composer::place::{after, before, line_end, line_start};
use crate::ui::composer::wrap::cells;
use unicode_segmentation::UnicodeSegmentation;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Motion {
    Left,
    Right,
    Up,
    Down,
    /// To the first character of the line before, or of the next.
    LineUp,
    LineDown,
    /// `_`
    LineHere,
    Word(Size),
    Back(Size),
    End(Size),
    BackEnd(Size),
    Start,
    FirstCharacter,
    LineEnd,
    LastCharacter,
    First,
    Last,
    Column,
    Find(Find),
    /// `;`, and `,` the other way.
    Again {
        reversed: bool,
    },
    Pair,
    Sentence(Way),
    Paragraph(Way),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Size {
    Word,
    /// All that stands between blanks.
    Big,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Forth,
    Back,
}

/// `f`, `F`, `t` and `T`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Find {
    pub(super) what: char,
    pub(super) way: Way,
    /// Stops beside it.
    pub(super) till: bool,
}

/// The column that `j` and `k` aim at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goal {
    Column(u16),
    End,
}

/// What an operator takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    /// Not the character at the far end.
    Exclusive,
    Inclusive,
    Lines,
}

/// What a motion is begun with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) at: usize,
    pub(super) count: Option<usize>,
    pub(super) goal: Option<Goal>,
    pub(super) found: Option<Find>,
    /// An operator waits for it.
    pub(super) operated: bool,
    /// That operator changes.
    pub(super) changes: bool,
    /// Something is selected: the end of a line is a place, too.
    pub(super) selects: bool,
}

impl Begun {
    fn times(&self) -> usize {
        self.count.unwrap_or(1)
    }
}

/// Where a motion leads; `None` where it does not.
pub(super) fn go(text: &str, motion: Motion, begun: Begun) -> Option<(usize, Takes)> {
    use Takes::{Exclusive, Inclusive, Lines};
    let (at, times) = (begun.at, begun.times());
    Some(match motion {
        Motion::Left => (left(text, at, times).or(begun.operated.then_some(at))?, Exclusive),
        Motion::Right => (right(text, at, begun)?, Exclusive),
        Motion::Up | Motion::Down => {
            let way = if motion == Motion::Up { Way::Back } else { Way::Forth };
            let goal = begun.goal.unwrap_or_else(|| Goal::Column(column(text, at)));
            (at_goal(text, lines_away(text, at, way, times)?, goal), Lines)
        }
        Motion::LineUp => (first_character(text, lines_away(text, at, Way::Back, times)?), Lines),
        Motion::LineDown => (first_character(text, lines_away(text, at, Way::Forth, times)?), Lines),
        Motion::LineHere => (first_character(text, below(text, at, times - 1)?), Lines),
        Motion::Word(size) => word(text, size, begun),
        Motion::Back(size) => (back(text, size, begun)?, Exclusive),
        Motion::End(size) => {
            let (to, is_there) = end(text, size, at, times, Stops::Nowhere);
            if is_there || begun.operated { (to, Inclusive) } else { return reached(at, to, Inclusive) }
        }
        Motion::BackEnd(size) => (back_end(text, size, begun)?, Inclusive),
        Motion::Start => (line_start(text, at), Exclusive),
        Motion::FirstCharacter => (first_character(text, at), Exclusive),
        Motion::LineEnd => (line_end(text, below(text, at, times - 1)?), Inclusive),
        Motion::LastCharacter => {
            let line = below(text, at, times - 1)?;
            let blank = text.get(line_start(text, line)..line_end(text, line))?.trim_end().len();
            let to = line_start(text, line) + blank;
            (before(text, to).max(line_start(text, line)), Inclusive)
        }
        Motion::First => (first_character(text, nth_line(text, times)), Lines),
        Motion::Last => (first_character(text, nth_line(text, begun.count.unwrap_or(usize::MAX))), Lines),
        Motion::Column => {
            let to = (1..times).try_fold(line_start(text, at), |at, _| {
                if at == line_end(text, at) { Err(at) } else { Ok(after(text, at)) }
            });
            let to = to.unwrap_or_else(|end| end);
            (if begun.selects { to } else { rest(text, to) }, Exclusive)
        }
        Motion::Find(what) => find(text, at, what, times, false)?,
        Motion::Again { reversed } => {
            let mut what = begun.found?;
            if reversed {
                what.way = if what.way == Way::Forth { Way::Back } else { Way::Forth };
            }
            find(text, at, what, times, true)?
        }
        Motion::Pair => (pair(text, at)?, Inclusive),
        Motion::Sentence(way) => (sentence(text, at, way, times)?, Exclusive),
        Motion::Paragraph(way) => paragraph(text, at, way, times)?,
    })
}

/// What has only moved a part of the way counts, unless it has not moved at all.
fn reached(at: usize, to: usize, takes: Takes) -> Option<(usize, Takes)> {
    (at != to).then_some((to, takes))
}

/// A cursor stands on a character where there is one.
pub(super) fn rest(text: &str, at: usize) -> usize {
    if at == line_end(text, at) { before(text, at).max(line_start(text, at)) } else { at }
}

fn left(text: &str, at: usize, times: usize) -> Option<usize> {
    let start = line_start(text, at);
    let graphemes = text.get(start..at)?.grapheme_indices(true).rev();
    let to = graphemes.take(times).last().map(|(i, _)| start + i)?;
    Some(to)
}

fn right(text: &str, at: usize, begun: Begun) -> Option<usize> {
    let end = line_end(text, at);
    let graphemes = text.get(at..end)?.grapheme_indices(true);
    let to = graphemes.skip(1).map(|(i, _)| at + i).chain([end]).nth(begun.times() - 1).unwrap_or(end);
    if begun.operated || begun.selects { Some(to) } else { (rest(text, to) != at).then_some(to) }
}

fn step_in_line(text: &str, at: usize) -> usize {
    if at == line_end(text, at) { at } else { after(text, at) }
}

/// The start of the line so many lines below; `None` where there is none.
fn below(text: &str, at: usize, lines: usize) -> Option<usize> {
    (0..lines).try_fold(line_start(text, at), |at, _| {
        let end = line_end(text, at);
        (end < text.len()).then_some(end + 1)
    })
}

/// The start of a line so many lines away, or of the last one on the way; `None` at the edge.
pub(super) fn lines_away(text: &str, at: usize, way: Way, lines: usize) -> Option<usize> {
    let from = line_start(text, at);
    let mut line = from;
    for _ in 0..lines {
        let next = match way {
            Way::Forth => below(text, line, 1),
            Way::Back => line.checked_sub(1).map(|end| line_start(text, end)),
        };
        let Some(next) = next else { break };
        line = next;
    }
    (line != from).then_some(line)
}

/// The start of a line by its number from 1, or of the last one.
fn nth_line(text: &str, number: usize) -> usize {
    let starts = text.match_indices('\n').map(|(i, _)| i + 1);
    std::iter::once(0).chain(starts).take(number.max(1)).last().unwrap_or(0)
}

/// The first character of the line that is no blank, or the last one.
pub(super) fn first_character(text: &str, at: usize) -> usize {
    let (start, end) = (line_start(text, at), line_end(text, at));
    let line = text.get(start..end).unwrap_or("");
    let indent = line.find(|c: char| c != ' ' && c != '\t').unwrap_or(line.len());
    rest(text, start + indent)
}

/// How wide the line is before `at`.
pub(super) fn column(text: &str, at: usize) -> u16 {
    let before = text.get(line_start(text, at)..at).unwrap_or("");
    before.graphemes(true).fold(0, |column: u16, g| column.saturating_add(cells(g, column, u16::MAX)))
}

fn at_goal(text: &str, line: usize, goal: Goal) -> usize {
    let end = line_end(text, line);
    let Goal::Column(goal) = goal else { return end };
    let mut column = 0_u16;
    for (i, g) in text.get(line..end).unwrap_or("").grapheme_indices(true) {
        column = column.saturating_add(cells(g, column, u16::MAX));
        if column > goal {
            return line + i;
        }
    }
    end
}

fn walk(text: &str, at: usize, size: Size) -> Walk<'_> {
    Walk { text, at, big: size == Size::Big }
}

/// `w`. Under an operator the last word of a line ends with the line; to change a word leaves the blanks behind it.
fn word(text: &str, size: Size, begun: Begun) -> (usize, Takes) {
    let at = walk(text, begun.at, size);
    if begun.changes && at.class() != 0 {
        return (end(text, size, begun.at, begun.times(), Stops::Here).0, Takes::Inclusive);
    }
    (words(text, size, begun.at, begun.times(), begun.operated), Takes::Exclusive)
}

/// Over so many words; with `ends` no further than the end of the line of the last one.
pub(super) fn words(text: &str, size: Size, at: usize, times: usize, ends: bool) -> usize {
    let mut walk = walk(text, at, size);
    for left in (0..times).rev() {
        let class = walk.class();
        let is_last_line = walk.is_last_line();
        let stops = |met: Met| ends && left == 0 && matches!(met, Met::LineEnd | Met::Line);
        let met = walk.forth();
        if met == Met::Edge || is_last_line && met != Met::Character || stops(met) {
            return walk.at;
        }
        while class != 0 && walk.class() == class {
            let met = walk.forth();
            if met == Met::Edge || stops(met) {
                return walk.at;
            }
        }
        while walk.class() == 0 && !walk.is_empty_line() {
            let met = walk.forth();
            if met == Met::Edge || is_last_line && met != Met::Character || met == Met::LineEnd && stops(met) {
                return walk.at;
            }
        }
    }
    walk.at
}

/// Where the way to the end of a word may stop early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stops {
    Nowhere,
    /// The end of a word that is stood on counts.
    Here,
    /// So does an empty line.
    HereOrEmpty,
}

/// `e`, and whether it could be gone whole.
pub(super) fn end(text: &str, size: Size, at: usize, times: usize, stops: Stops) -> (usize, bool) {
    let mut walk = walk(text, at, size);
    for turn in 0..times {
        let class = walk.class();
        if walk.forth() == Met::Edge {
            return (walk.at, false);
        }
        if walk.class() == class && class != 0 {
            if !walk.skip(class, Walk::forth) {
                return (walk.at, false);
            }
        } else if stops == Stops::Nowhere || turn > 0 || class == 0 {
            while walk.class() == 0 {
                if stops == Stops::HereOrEmpty && walk.is_empty_line() {
                    return (walk.at, true);
                }
                if walk.forth() == Met::Edge {
                    return (walk.at, false);
                }
            }
            let class = walk.class();
            if !walk.skip(class, Walk::forth) {
                return (walk.at, false);
            }
        }
        walk.back();
    }
    (walk.at, true)
}

fn back(text: &str, size: Size, begun: Begun) -> Option<usize> {
    let mut walk = walk(text, begun.at, size);
    for turn in 0..begun.times() {
        if walk.back() == Met::Edge {
            return (turn > 0 && !begun.operated).then_some(walk.at);
        }
        while walk.class() == 0 {
            if walk.is_empty_line() {
                break;
            }
            if walk.back() == Met::Edge {
                return Some(walk.at);
            }
        }
        if walk.is_empty_line() {
            continue;
        }
        let class = walk.class();
        if !walk.skip(class, Walk::back) {
            return Some(walk.at);
        }
        walk.forth();
    }
    Some(walk.at)
}

fn back_end(text: &str, size: Size, begun: Begun) -> Option<usize> {
    let mut walk = walk(text, begun.at, size);
    for turn in 0..begun.times() {
        let class = walk.class();
        if walk.back() == Met::Edge {
            return (turn > 0 && !begun.operated).then_some(walk.at);
        }
        if class != 0 && !walk.skip(class, Walk::back) {
            return Some(walk.at);
        }
        while walk.class() == 0 && !walk.is_empty_line() {
            if walk.back() == Met::Edge {
                return Some(walk.at);
            }
        }
    }
    Some(walk.at)
}

fn find(text: &str, at: usize, find: Find, times: usize, again: bool) -> Option<(usize, Takes)> {
    // Beside what was found last, the next one is meant.
    let passes = usize::from(again && find.till && times == 1);
    let (start, end) = (line_start(text, at), line_end(text, at));
    let is_it = |(_, g): &(usize, &str)| g.chars().eq([find.what]);
    if find.way == Way::Forth {
        let from = step_in_line(text, at);
        let found = text.get(from..end)?.grapheme_indices(true).skip(passes).filter(is_it).nth(times - 1)?.0 + from;
        let to = if find.till { before(text, found) } else { found };
        return Some((to, Takes::Inclusive));
    }
    let found = text.get(start..at)?.grapheme_indices(true).rev().skip(passes).filter(is_it).nth(times - 1)?.0 + start;
    Some((if find.till { after(text, found) } else { found }, Takes::Exclusive))
}

const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

/// The partner of the first bracket at or behind `at` in the line.
fn pair(text: &str, at: usize) -> Option<usize> {
    let line = text.get(at..line_end(text, at))?;
    let (i, c) = line.char_indices().find(|(_, c)| PAIRS.iter().any(|(open, close)| c == open || c == close))?;
    let (open, close) = PAIRS.into_iter().find(|(open, close)| c == *open || c == *close)?;
    if c == open { closing(text, at + i + 1, open, close) } else { opening(text, at + i, open, close) }
}

/// The bracket behind `from` that closes one before it.
pub(super) fn closing(text: &str, from: usize, open: char, close: char) -> Option<usize> {
    unmatched(text.get(from..)?.char_indices(), open, close).map(|i| from + i)
}

/// The bracket before `to` that one behind it closes.
pub(super) fn opening(text: &str, to: usize, open: char, close: char) -> Option<usize> {
    unmatched(text.get(..to)?.char_indices().rev(), close, open)
}

/// The first `ends` that no `nests` on the way belongs to.
fn unmatched(mut chars: impl Iterator<Item = (usize, char)>, nests: char, ends: char) -> Option<usize> {
    let mut depth = 0_usize;
    chars.find_map(|(i, c)| {
        match c {
            c if c == nests => depth += 1,
            c if c == ends && depth == 0 => return Some(i),
            c if c == ends => depth -= 1,
            _ => {}
        }
        None
    })
}

fn paragraph(text: &str, at: usize, way: Way, times: usize) -> Option<(usize, Takes)> {
    let mut line = line_start(text, at);
    for left in (0..times).rev() {
        let mut skipped = false;
        let mut first = true;
        loop {
            let is_empty = line_end(text, line) == line;
            skipped |= !is_empty;
            if !first && skipped && is_empty {
                break;
            }
            first = false;
            let next = match way {
                Way::Forth => below(text, line, 1),
                Way::Back => line.checked_sub(1).map(|end| line_start(text, end)),
            };
            match next {
                Some(next) => line = next,
                None if left > 0 => return None,
                None => break,
            }
        }
    }
    let end = line_end(text, line);
    if way == Way::Forth && end == text.len() && end > line {
        return Some((before(text, end), Takes::Inclusive));
    }
    Some((line, Takes::Exclusive))
}

/// A sentence ends with `.`, `!` or `?`, brackets and quotes, and a blank or the end of the line; or with the paragraph.
fn sentence(text: &str, at: usize, way: Way, times: usize) -> Option<usize> {
    let step = if way == Way::Forth { Walk::forth_over_end } else { Walk::back_over_end };
    let mut walk = walk(text, at, Size::Word);
    for left in (0..times).rev() {
        let mut skips_blanks = true;
        if walk.is_end() {
            while walk.is_end() && step(&mut walk) != Met::Edge {}
            if way == Way::Back {
                skips_blanks = sentence_end(&mut walk, way, left)?;
            }
        } else {
            if way == Way::Back {
                walk.back_over_end();
            }
            skips_blanks = sentence_end(&mut walk, way, left)?;
        }
        while skips_blanks && matches!(walk.char(), Some(' ' | '\t')) && walk.forth_over_end() != Met::Edge {}
    }
    Some(walk.at)
}

/// To the place behind the end of a sentence, blanks not counted; whether these are to be skipped. `None` when the text
/// ends before the last one of those that were asked for.
fn sentence_end(walk: &mut Walk<'_>, way: Way, left: usize) -> Option<bool> {
    let step = if way == Way::Forth { Walk::forth_over_end } else { Walk::back_over_end };
    before_end_of_sentence(walk, way);
    let line = line_start(walk.text, walk.at);
    loop {
        if walk.is_end() {
            if way == Way::Back && line_start(walk.text, walk.at) != line {
                walk.forth();
            }
            return Some(true);
        }
        if walk.char().is_some_and(ends_sentence) {
            let mut behind = *walk;
            let mut met;
            loop {
                met = behind.forth();
                if met == Met::Edge || !behind.char().is_some_and(closes) {
                    break;
                }
            }
            if met == Met::Edge || behind.is_end() || matches!(behind.char(), Some(' ' | '\t')) {
                *walk = behind;
                if walk.is_end() {
                    walk.forth();
                }
                return Some(true);
            }
        }
        if step(walk) == Met::Edge {
            return (left == 0).then_some(false);
        }
    }
}

/// Back over blanks and what a sentence ends with.
fn before_end_of_sentence(walk: &mut Walk<'_>, way: Way) {
    let mut found = false;
    while let Some(c) = walk.char().filter(|c| matches!(c, ' ' | '\t') || ends_sentence(*c) || closes(*c)) {
        let mut back = *walk;
        if back.back_over_end() == Met::Edge || back.is_empty_line() && way == Way::Forth || found {
            break;
        }
        found |= ends_sentence(c);
        if closes(c) && !back.char().is_some_and(|c| ends_sentence(c) || closes(c)) {
            break;
        }
        *walk = back;
    }
}

const fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?')
}

const fn closes(c: char) -> bool {
    matches!(c, ')' | ']' | '"' | '\'')
}
