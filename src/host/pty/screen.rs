//! The emulated screen of a terminal: bytes in, rows of styled text out. The only file that names the emulator.
//!
//! It touches no real terminal: titles, clipboard, bells and links are dropped, answers to queries are collected
//! for the program that asked. Invariant: all that the bytes are, it neither fails nor grows without bound.

use std::cell::Cell as Flag;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alacritty_terminal::Term;
use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::{Dimensions, Scroll};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Osc52};
use alacritty_terminal::vte::ansi::{Color, NamedColor, Processor, Timeout};
use unicode_width::UnicodeWidthChar;

use super::osc::OscFilter;
use crate::base::sanitize::{is_break, is_deceptive};
use crate::host::lock;
use crate::text::grid::ScreenSnapshot;
use crate::text::run::{AnsiColor, Mods, RunStyle, StyledText};
use crate::text::token::Token;

/// Rows kept above the screen.
pub(super) const HISTORY_ROWS: usize = 2000;
/// The fewest that are kept, however many terminals there are.
pub(super) const FEWEST_ROWS: usize = 64;
/// The emulator takes memory for a thousand rows at once; below this what is too much is given back.
const SPARING: usize = 1000;
/// Bytes fed at once: fewer than half the history in line ends, so that rows that scroll out can be counted.
const SLICE: usize = 1024;
/// Combining characters kept in one cell; the emulator itself knows no bound.
const MAX_MARKS: usize = 8;
/// Answers to queries that wait for the program.
const MAX_REPLIES: usize = 4096;
/// Below this the emulator's reflow grows without end.
const MIN_COLS: u16 = 2;
const MAX_COLS: u16 = 1000;
const MAX_ROWS: u16 = 500;
const RESET_NOTE: &[u8] = b"[terminal reset: this output could not be shown]\r\n";

thread_local! {
    // Panic hooks are told nothing about who catches; this is how they can ask.
    static GUARDED: Flag<bool> = const { Flag::new(false) };
}

/// Whether a panic of this thread, now, is one of the emulator that will be caught here: for the panic hook, which
/// must not restore the person's terminal for it.
pub fn panic_is_contained() -> bool {
    GUARDED.get()
}

#[derive(Clone, Copy)]
struct Size {
    cols: usize,
    rows: usize,
}

impl Size {
    fn clamped(cols: u16, rows: u16) -> Self {
        Self { cols: cols.clamp(MIN_COLS, MAX_COLS).into(), rows: rows.clamp(1, MAX_ROWS).into() }
    }
}

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.rows
    }
    fn screen_lines(&self) -> usize {
        self.rows
    }
    fn columns(&self) -> usize {
        self.cols
    }
}

/// Keeps the answers to queries; everything else that a program asks of its terminal is ignored.
#[derive(Clone, Default)]
struct Replies(Arc<Mutex<Vec<u8>>>);

impl EventListener for Replies {
    fn send_event(&self, event: Event) {
        if let Event::PtyWrite(text) = event {
            let mut replies = lock(&self.0);
            if replies.len() + text.len() <= MAX_REPLIES {
                replies.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// Synchronised updates are shown as they come: a program that dies inside one would freeze the screen.
#[derive(Default)]
struct NoSync;

impl Timeout for NoSync {
    fn set_timeout(&mut self, _: Duration) {}
    fn clear_timeout(&mut self) {}
    fn pending_timeout(&self) -> bool {
        false
    }
}

/// A screen with history.
pub(super) struct Screen {
    term: Term<Replies>,
    parser: Processor<NoSync>,
    osc: OscFilter,
    replies: Replies,
    size: Size,
    /// Rows kept above the screen.
    history: usize,
    buffer: Vec<u8>,
    generation: u64,
    scrolled: u64,
    /// Rows below this number were above the screen when it was looked at last, and do not change any more.
    settled: u64,
    /// What came last was text.
    was_plain: bool,
}

impl Screen {
    pub(super) fn new(cols: u16, rows: u16) -> Self {
        let size = Size::clamped(cols, rows);
        let replies = Replies::default();
        Self {
            term: new_term(size, HISTORY_ROWS, &replies),
            parser: Processor::new(),
            osc: OscFilter::default(),
            replies,
            size,
            history: HISTORY_ROWS,
            buffer: Vec::new(),
            generation: 0,
            scrolled: 0,
            settled: 0,
            was_plain: true,
        }
    }

    /// Feeds output of the program.
    pub(super) fn advance(&mut self, bytes: &[u8]) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        self.osc.push(bytes, &mut buffer);
        let is_plain = is_plain(&buffer);
        // A sequence can go on in the next piece.
        if !is_plain || !std::mem::replace(&mut self.was_plain, is_plain) {
            self.settled = 0;
            self.was_plain = is_plain;
        }
        let before = self.term.grid().history_size();
        for slice in buffer.chunks(SLICE.min(self.history / 2)) {
            self.guarded(|screen| screen.feed(slice));
        }
        if self.history < SPARING && self.term.grid().history_size() > before {
            self.term.grid_mut().truncate();
        }
        self.buffer = buffer;
        self.generation += 1;
    }

    /// Changes the size; the rows are wrapped anew.
    pub(super) fn resize(&mut self, cols: u16, rows: u16) {
        self.size = Size::clamped(cols, rows);
        self.guarded(|screen| screen.term.resize(screen.size));
        self.settled = 0;
        self.generation += 1;
    }

    /// Keeps no more rows than that above the screen, at least `FEWEST_ROWS`.
    pub(super) fn confine(&mut self, rows: usize) {
        let rows = rows.clamp(FEWEST_ROWS, HISTORY_ROWS);
        if std::mem::replace(&mut self.history, rows) == rows {
            return;
        }
        self.guarded(|screen| {
            screen.term.set_options(config(rows));
            screen.term.grid_mut().truncate();
        });
        self.generation += 1;
    }

    /// What the program's queries are to be answered with, once.
    pub(super) fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.replies.0))
    }

    /// Grows with every change.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// History and screen as they are now. `last` is what was returned last: what has scrolled away since is taken from there.
    /// With it goes how many rows had to be read cell by cell.
    pub(super) fn follow(&mut self, last: &ScreenSnapshot) -> (ScreenSnapshot, usize) {
        let history = self.term.grid().history_size() as u64;
        let settled = std::mem::replace(&mut self.settled, self.scrolled);
        // After a change of the size there may be more rows than have scrolled.
        if history > self.scrolled {
            self.settled = 0;
        }
        let known = |number: u64| {
            let at = number.checked_sub(last.dropped_rows).filter(|_| number < settled)?;
            let at = usize::try_from(at).ok()?;
            last.rows.get(at).map(|row| (row.clone(), last.go_on.contains(&at)))
        };
        self.shown(known)
    }

    #[cfg(test)]
    pub(super) fn snapshot(&self) -> ScreenSnapshot {
        self.shown(|_| None).0
    }

    fn shown(&self, known: impl Fn(u64) -> Option<(StyledText, bool)>) -> (ScreenSnapshot, usize) {
        let grid = self.term.grid();
        let cols = self.size.cols.min(grid.columns());
        let history = grid.history_size();
        let dropped_rows = self.scrolled.saturating_sub(history as u64);
        let mut read = 0;
        let lines = (dropped_rows..).zip(-(history as i32)..grid.screen_lines() as i32);
        let mut go_on = BTreeSet::new();
        let mut rows: Vec<StyledText> = Vec::new();
        for (number, line) in lines {
            let (row, goes_on) = known(number).unwrap_or_else(|| {
                read += 1;
                let row = &grid[Line(line)];
                let last = cols.checked_sub(1).filter(|_| cols == grid.columns());
                (row_text(row, cols), last.is_some_and(|last| row[Column(last)].flags.contains(Flags::WRAPLINE)))
            });
            if goes_on {
                go_on.insert(rows.len());
            }
            rows.push(row);
        }
        let used = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        rows.truncate(used);
        (ScreenSnapshot { rows, cols: cols as u16, generation: self.generation, dropped_rows, go_on }, read)
    }

    /// A defect of the emulator costs this screen, never the program.
    fn guarded(&mut self, work: impl FnOnce(&mut Self)) {
        GUARDED.set(true);
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        GUARDED.set(false);
        if done.is_err() {
            self.replies = Replies::default();
            self.term = new_term(self.size, self.history, &self.replies);
            self.parser = Processor::new();
            self.osc = OscFilter::default();
            self.parser.advance(&mut self.term, RESET_NOTE);
        }
    }

    fn feed(&mut self, slice: &[u8]) {
        // The emulator does not count rows that scroll; a view that is scrolled back by one moves with them.
        let before = self.term.grid().history_size();
        if before > 0 {
            self.term.scroll_display(Scroll::Bottom);
            self.term.scroll_display(Scroll::Delta(1));
        }
        self.parser.advance(&mut self.term, slice);
        let grid = self.term.grid();
        self.scrolled += match before {
            0 => grid.history_size() as u64,
            _ => (grid.display_offset() as u64).saturating_sub(1),
        };
        if !slice.is_ascii() && String::from_utf8_lossy(slice).chars().any(|c| c.width() == Some(0)) {
            self.trim_marks();
        }
    }

    /// Takes excess combining characters out of the visible cells, before they can scroll away.
    fn trim_marks(&mut self) {
        let grid = self.term.grid_mut();
        let (rows, cols) = (grid.screen_lines() as i32, grid.columns());
        for line in (0..rows).map(Line) {
            for column in (0..cols).map(Column) {
                let Some(marks) = grid[line][column].zerowidth() else { continue };
                if marks.len() <= MAX_MARKS {
                    continue;
                }
                let kept: Vec<char> = marks.iter().copied().take(MAX_MARKS).collect();
                let cell = &mut grid[line][column];
                cell.extra = None;
                for mark in kept {
                    cell.push_zerowidth(mark);
                }
            }
        }
    }
}

fn config(history: usize) -> Config {
    Config { scrolling_history: history, kitty_keyboard: false, osc52: Osc52::Disabled, ..Config::default() }
}

fn new_term(size: Size, history: usize, replies: &Replies) -> Term<Replies> {
    Term::new(config(history), &size, replies.clone())
}

/// Whether it is nothing but text and its colours: no row changes by it that has scrolled away.
fn is_plain(bytes: &[u8]) -> bool {
    let mut sequences = bytes.split(|byte| *byte == 0x1b);
    // What stands before the first.
    sequences.next();
    sequences.all(|rest| {
        let end = rest.iter().skip(1).position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'));
        rest.first() == Some(&b'[') && end.and_then(|end| rest.get(end + 1)) == Some(&b'm')
    })
}

/// A row without trailing blanks; a cell that only has a colour of its own is no blank.
fn row_text(row: &alacritty_terminal::grid::Row<Cell>, cols: usize) -> StyledText {
    let mut text = StyledText::new();
    let mut blanks = 0;
    let mut buffer = String::new();
    for column in 0..cols {
        let cell = &row[Column(column)];
        if cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
            if cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
                blanks += 1;
            }
            continue;
        }
        let style = cell_style(cell);
        if matches!(cell.c, ' ' | '\t' | '\0') && style == RunStyle::from(Token::Text) && cell.zerowidth().is_none() {
            blanks += 1;
            continue;
        }
        for _ in 0..blanks {
            text.push(" ", Token::Text);
        }
        blanks = 0;
        buffer.clear();
        buffer.push(if shown(cell.c) && cell.c.width() != Some(0) { cell.c } else { ' ' });
        let marks = cell.zerowidth().unwrap_or_default();
        buffer.extend(marks.iter().copied().filter(|&c| shown(c) && c.width() == Some(0)).take(MAX_MARKS));
        text.push(&buffer, style);
    }
    text
}

/// No control characters, and none that reorder, join, or alter the width of their neighbours.
fn shown(c: char) -> bool {
    // A grid has one width for each cell: what joins or selects a form would alter it.
    let alters_width = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    !c.is_control() && !is_deceptive(c) && !is_break(c) && !alters_width
}

fn cell_style(cell: &Cell) -> RunStyle {
    let mut mods = Mods::NONE;
    let pairs = [
        (Flags::BOLD, Mods::BOLD),
        (Flags::ITALIC, Mods::ITALIC),
        (Flags::DIM, Mods::FAINT),
        (Flags::INVERSE, Mods::REVERSE),
        (Flags::STRIKEOUT, Mods::STRIKE),
    ];
    for (flag, attribute) in pairs {
        if cell.flags.contains(flag) {
            mods = mods.with(attribute);
        }
    }
    if cell.flags.intersects(Flags::ALL_UNDERLINES) {
        mods = mods.with(Mods::UNDERLINE);
    }
    let (fg, dim) = colour(cell.fg);
    if dim {
        mods = mods.with(Mods::FAINT);
    }
    RunStyle { mods, fg, bg: colour(cell.bg).0, ..RunStyle::from(Token::Text) }
}

/// The colour, and whether it is the dim form of it.
fn colour(colour: Color) -> (Option<AnsiColor>, bool) {
    match colour {
        Color::Spec(rgb) => (Some(AnsiColor::Rgb(rgb.r, rgb.g, rgb.b)), false),
        Color::Indexed(index) if index < 16 => (Some(AnsiColor::Named(index)), false),
        Color::Indexed(index) => (Some(AnsiColor::Indexed(index)), false),
        Color::Named(named) => {
            let number = named as usize;
            let first_dim = NamedColor::DimBlack as usize;
            if number < 16 {
                (Some(AnsiColor::Named(number as u8)), false)
            } else if (first_dim..first_dim + 8).contains(&number) {
                (Some(AnsiColor::Named((number - first_dim) as u8)), true)
            } else {
                (None, named == NamedColor::DimForeground)
            }
        }
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
