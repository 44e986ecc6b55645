//! What can be chosen in the dock, as rows, and which of the rows are shown.
//!
//! Chooses nothing. Choices stand side by side while each fits into a row; else every one gets rows of its own, and
//! what is known about it stands right below. Invariants: a name that can be answered is shown whole, unless it alone is
//! longer than the room, then it is scrolled; one that is cut so that others are in view does not count as read; the
//! highlighted choice is in view; keys that are no digits are always shown.

use super::super::paint;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use ratatui::layout::Rect;
use std::ops::Range;

/// Bytes of a name that are shown.
const MAX_NAME: usize = 4096;
/// Columns below which the key is part of the text and continuation rows are not indented.
const NARROW: usize = 16;
/// Columns of the shortest word at the right end, and a gap; the same with how many rows are not shown; and where there is
/// more to say.
const HINT: usize = 4;
const HIDING_HINT: usize = 16;
const LONG_HINT: usize = 22;
/// Columns of a name that are worth a row.
const SHORT_NAME: usize = 6;
/// Columns of `+9 · Tab` and a gap.
const SHORT_HINT: usize = 10;

/// Something that can be chosen: the key and what it does.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub key: String,
    pub name: String,
    /// What the agent says that it does, in our words; empty where the name says it or it is unknown.
    pub kind: &'static str,
    /// Whether it holds for more than this once.
    pub lasts: bool,
    /// Whether it refuses.
    pub refuses: bool,
    pub by: By,
    /// What is to be known about it.
    pub detail: Vec<Detail>,
}

impl Choice {
    pub fn new(key: String, name: String, by: By, detail: Vec<Detail>) -> Self {
        Self { key, name, kind: "", lasts: false, refuses: false, by, detail }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// A digit or the arrows.
    Highlight,
    /// Its own key alone.
    Key,
}

#[derive(Clone, Debug)]
pub(super) struct Detail {
    pub line: LogicalLine,
    pub bar: Bar,
}

/// Whether the bar of the dock stands in front of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bar {
    Yes,
    /// The row is to be selected with the mouse as it is.
    No,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub text: StyledText,
    pub bar: Bar,
    /// Columns, and which choice stands there that can be highlighted.
    pub choices: Vec<(Range<u16>, usize)>,
}

impl Row {
    pub fn new(text: StyledText, bar: Bar) -> Self {
        Self { text, bar, choices: Vec::new() }
    }

    /// Where its choices stand in a row of the dock.
    pub fn places(&self, dock: Rect, y: u16) -> impl Iterator<Item = (Rect, usize)> {
        let left = dock.x.saturating_add(2);
        self.choices.iter().map(move |(columns, choice)| {
            let x = left.saturating_add(columns.start);
            let at = Rect { x, y, width: columns.end - columns.start, height: 1 };
            (at.intersection(dock), *choice)
        })
    }
}

/// Rows that belong together, and the choices that they are about.
#[derive(Clone, Debug)]
struct Block {
    options: Range<usize>,
    rows: Vec<Row>,
    /// Its name is not all there.
    is_cut: bool,
}

/// How choices are to look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub focused: bool,
    /// Whether its keys count yet.
    pub armed: bool,
    /// Whether letters count, not only digits.
    pub letters: bool,
    pub highlighted: Option<usize>,
    /// Of the whole dock, the bar counted.
    pub columns: u16,
}

impl Look {
    fn inner(self) -> usize {
        usize::from(self.columns.saturating_sub(super::FRAME)).max(1)
    }
}

/// All rows of the choices.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    blocks: Vec<Block>,
    /// Below them, always shown.
    pub keys: Vec<Row>,
    /// How many can be highlighted.
    count: usize,
    /// The first that refuses: it is in sight as long as none is highlighted.
    refuses: usize,
    pub order: Order,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    SideBySide,
    /// Only the last row may have other words at its end: they would be read as part of a name.
    Below,
}

impl Order {
    /// Whether the last or any row has room for the words at its end, which say how much is hidden where something `hides`.
    pub fn has_room<'a>(self, mut rows: impl DoubleEndedIterator<Item = &'a Row>, columns: u16, hides: bool) -> bool {
        let fits =
            |row: &Row, hint| row.bar == Bar::Yes && width::styled_width(&row.text) + hint <= usize::from(columns);
        match self {
            Self::SideBySide => rows.any(|row| fits(row, if hides { HIDING_HINT } else { HINT })),
            Self::Below => rows.next_back().is_some_and(|row| fits(row, LONG_HINT)),
        }
    }

    /// Whether there is a place for the shortest words that say how much is hidden.
    pub fn has_place<'a>(self, mut rows: impl DoubleEndedIterator<Item = &'a Row>, columns: u16) -> bool {
        let fits = |row: &Row| width::styled_width(&row.text) + SHORT_HINT <= usize::from(columns);
        match self {
            Self::SideBySide => rows.any(fits),
            Self::Below => rows.next_back().is_some_and(fits),
        }
    }
}

/// The rows that are shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    pub rows: Vec<Row>,
    /// The choices that can be read.
    pub options: Vec<usize>,
    /// How many are not in view, and how many of them above those that are.
    pub hidden: usize,
    pub above: usize,
    /// Rows of the highlighted choice that are below the window.
    pub below: usize,
}

impl Window {
    /// Whether all choices are in view.
    pub const fn is_whole(&self) -> bool {
        self.hidden == 0 && self.below == 0
    }
}

impl Choices {
    /// Of these every name has one row, if there is room for some of it.
    pub fn new(choices: &[Choice], look: Look, cut: &[usize]) -> Self {
        let count = choices.iter().filter(|c| c.by == By::Highlight).count();
        let refuses = choices.iter().position(|choice| choice.refuses).unwrap_or(0);
        if choices.iter().all(|c| c.detail.is_empty())
            && let Some(blocks) = flow(choices, 0, look)
        {
            return Self { blocks, keys: Vec::new(), count, refuses, order: Order::SideBySide };
        }
        // Those that can be highlighted come first.
        let (own, keys) = choices.split_at(count.min(choices.len()));
        let keys = flow(keys, count, look).unwrap_or_else(|| stack(keys, count, look, &[]));
        let keys = keys.into_iter().flat_map(|block| block.rows).collect();
        Self { blocks: stack(own, 0, look, cut), keys, count, refuses, order: Order::Below }
    }

    /// Those of several rows but this one, in the order in which they are cut: what lasts, then what has most rows.
    pub fn long(&self, choices: &[Choice], kept: Option<usize>) -> Vec<usize> {
        let is_long = |block: &&Block| block.rows.len() > 1 && self.order == Order::Below;
        let lasts = |at: usize| choices.get(at).is_some_and(|choice| choice.lasts);
        let long =
            self.blocks.iter().filter(is_long).filter(|block| kept.is_none_or(|at| !block.options.contains(&at)));
        let mut long: Vec<_> = long.map(|block| (block.options.start, block.rows.len())).collect();
        long.sort_by_key(|(at, rows)| (!lasts(*at), std::cmp::Reverse(*rows)));
        long.into_iter().map(|(at, _)| at).collect()
    }

    pub fn rows(&self) -> usize {
        self.blocks.iter().map(|b| b.rows.len()).sum()
    }

    /// How wide each row is.
    pub fn widths(&self) -> impl Iterator<Item = usize> {
        let rows = self.blocks.iter().flat_map(|block| &block.rows).chain(&self.keys);
        rows.map(|row| width::styled_width(&row.text))
    }

    fn block_of(&self, highlighted: Option<usize>) -> usize {
        let at = highlighted.unwrap_or(self.refuses);
        self.blocks.iter().position(|b| b.options.contains(&at)).unwrap_or(0)
    }

    /// Rows that show the highlighted choice whole.
    pub fn wanted(&self, highlighted: Option<usize>) -> usize {
        self.blocks.get(self.block_of(highlighted)).map_or(0, |b| b.rows.len())
    }

    /// Whole choices around the highlighted one in at most `room` rows; one that is higher is scrolled by `scroll`.
    pub fn window(&self, room: usize, highlighted: Option<usize>, scroll: usize) -> Window {
        let at = self.block_of(highlighted);
        let Some(block) = self.blocks.get(at).filter(|_| room > 0) else {
            return Window { hidden: self.count, ..Window::default() };
        };
        let high = block.rows.len();
        if high > room {
            let top = scroll.min(high - room);
            let rows = block.rows.iter().skip(top).take(room).cloned().collect();
            // One that was never selected was not read to its end.
            let options = if highlighted.is_some() { block.options.clone().collect() } else { Vec::new() };
            let hidden = self.count.saturating_sub(block.options.len());
            return Window { rows, options, hidden, above: block.options.start, below: high - room - top };
        }
        let fits = |block: Option<&Block>, used: usize| block.map(|b| b.rows.len()).filter(|h| used + h <= room);
        let (mut first, mut last, mut used) = (at, at, high);
        while let Some(more) = first.checked_sub(1).and_then(|n| fits(self.blocks.get(n), used)) {
            first -= 1;
            used += more;
        }
        while let Some(more) = fits(self.blocks.get(last + 1), used) {
            last += 1;
            used += more;
        }
        let shown = self.blocks.get(first..=last).unwrap_or_default();
        let above = shown.first().map_or(0, |b| b.options.start);
        let seen = above..shown.last().map_or(0, |b| b.options.end);
        let hidden = (0..self.count).filter(|n| !seen.contains(n)).count();
        let options = shown.iter().filter(|b| !b.is_cut).flat_map(|b| b.options.clone()).collect();
        Window { rows: shown.iter().flat_map(|b| b.rows.clone()).collect(), options, hidden, above, below: 0 }
    }
}

/// Key and name as one line.
fn text(choice: &Choice, at: usize, look: Look) -> (StyledText, StyledText) {
    let marked = look.focused && look.highlighted == Some(at) && choice.by == By::Highlight;
    let key: RunStyle = match look {
        Look { armed: false, .. } => Token::Dim,
        Look { focused: true, .. } => Token::Accent,
        _ => Token::Dock,
    }
    .into();
    let name: RunStyle = if marked { Token::Selected } else { Token::Text }.into();
    let extra = if marked { Mods::REVERSE } else { Mods::NONE };
    // A key that counts looks like one.
    let pressed = if look.armed { Mods::REVERSE } else { Mods::NONE };
    let counts = key.with_mods(Mods::BOLD).with_mods(pressed);
    let of_letter = if look.letters { counts } else { RunStyle::from(Token::Dim) };
    // The digit comes first, then the letter.
    let (digit, letter) = match choice.by {
        By::Highlight => choice.key.split_at(choice.key.chars().next().map_or(0, char::len_utf8)),
        By::Key => ("", choice.key.as_str()),
    };
    let mut front = StyledText::of(digit, counts);
    front.push(letter, of_letter);
    front.push(" ", name.with_mods(extra));
    let cut = choice.name.floor_char_boundary(MAX_NAME);
    let mut words = StyledText::of(choice.name.get(..cut).unwrap_or_default(), name.with_mods(extra));
    if cut < choice.name.len() {
        let left = choice.name.get(cut..).map_or(0, |rest| rest.chars().count());
        words.push(&format!(" … {left} more characters"), Token::Warn);
    }
    if !choice.kind.is_empty() {
        // Danger is underlined where there are no colours: the words alone.
        words.push(" (", Token::Dim);
        words.push(choice.kind, if choice.lasts { Token::Danger } else { Token::Dim });
        words.push(")", Token::Dim);
    }
    (front, words)
}

/// Side by side; `None` when one does not fit into a row.
fn flow(choices: &[Choice], from: usize, look: Look) -> Option<Vec<Block>> {
    let columns = look.inner();
    let gap = if columns >= 70 { 3 } else { 2 };
    let column = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    let mut rows: Vec<Block> = Vec::new();
    for (at, choice) in (from..).zip(choices) {
        let (mut text, words) = text(choice, at, look);
        text.append(&words);
        let wide = width::styled_width(&text);
        if wide > columns {
            return None;
        }
        let left = rows.last().and_then(|block| block.rows.last()).map(|row| width::styled_width(&row.text) + gap);
        let from = left.filter(|left| left + wide <= columns);
        if from.is_none() {
            let empty = vec![Row::new(StyledText::new(), Bar::Yes)];
            rows.push(Block { options: at..at, rows: empty, is_cut: false });
        }
        let (block, from) = (rows.last_mut()?, from.unwrap_or(0));
        let row = block.rows.last_mut()?;
        if from > 0 {
            row.text.push(&" ".repeat(gap), Token::Text);
        }
        row.text.append(&text);
        row.choices.extend((choice.by == By::Highlight).then(|| (column(from)..column(from + wide), at)));
        block.options.end = at + 1;
    }
    Some(rows)
}

/// With as much of its name as stands in one row beside the rest; none where that is hardly any.
fn cut(choice: &Choice, at: usize, look: Look) -> Option<Choice> {
    let (front, words) = text(choice, at, look);
    let beside = width::styled_width(&front) + width::styled_width(&words) - width::str_width(&choice.name);
    let room = look.inner().checked_sub(beside).filter(|room| *room >= SHORT_NAME)?;
    Some(Choice { name: width::truncate(&choice.name, room).into_owned(), ..choice.clone() })
}

/// One below the other, over as many rows as each needs; of these over one.
fn stack(choices: &[Choice], from: usize, look: Look, of_one_row: &[usize]) -> Vec<Block> {
    let block = |(at, choice): (usize, &Choice)| {
        let is_short = of_one_row.contains(&at) && choice.detail.is_empty() && choice.name.len() <= MAX_NAME;
        let short = if is_short && look.inner() >= NARROW { cut(choice, at, look) } else { None };
        let (is_cut, choice) = (short.is_some(), short.as_ref().unwrap_or(choice));
        let (front, words) = text(choice, at, look);
        let line = if look.inner() < NARROW {
            let mut text = front;
            text.append(&words);
            LogicalLine { text, wrap: WrapMode::Words, ..LogicalLine::default() }
        } else {
            let indent = " ".repeat(width::styled_width(&front));
            let hang = StyledText::of(indent, Token::Text);
            LogicalLine { prefix: front, hang, text: words, wrap: WrapMode::Words, ..LogicalLine::default() }
        };
        let name = Detail { line, bar: Bar::Yes };
        let own = (choice.by == By::Highlight).then_some((0..u16::MAX, at));
        let rows = std::iter::once(&name).chain(&choice.detail).flat_map(|part| rows(part, look));
        let rows = rows.map(|row| Row { choices: own.clone().into_iter().collect(), ..row }).collect();
        Block { options: at..at + 1, rows, is_cut }
    };
    (from..).zip(choices).map(block).collect()
}

fn rows(part: &Detail, look: Look) -> Vec<Row> {
    let columns = match part.bar {
        Bar::Yes => look.inner(),
        Bar::No => usize::from(look.columns),
    };
    let painted = paint::rows(std::slice::from_ref(&part.line), u16::try_from(columns).unwrap_or(u16::MAX));
    let row = |p: paint::Painted| {
        let mut text = p.front;
        text.append(&p.text);
        Row::new(text, part.bar)
    };
    painted.into_iter().map(row).collect()
}
