//! Steps of one character through a text, as Vim takes them: the end of a line is a place of its own.
//!
//! Pure. Invariant: the place is always a grapheme boundary of the text.

use crate::ui::composer::place::{after, before, line_start};

/// What one step has met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Met {
    Character,
    /// The place behind the last character of a line.
    LineEnd,
    /// Another line.
    Line,
    /// The end or the start of the text: nothing was stepped.
    Edge,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Walk<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Words are all that stands between blanks.
    pub(super) big: bool,
}

impl Walk<'_> {
    pub(super) fn char(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    /// At the end of a line.
    pub(super) fn is_end(&self) -> bool {
        self.char().is_none_or(|c| c == '\n')
    }

    /// In the first column.
    pub(super) fn is_start(&self) -> bool {
        line_start(self.text, self.at) == self.at
    }

    pub(super) fn is_empty_line(&self) -> bool {
        self.is_end() && self.is_start()
    }

    pub(super) fn is_last_line(&self) -> bool {
        !self.text.get(self.at..).unwrap_or("").contains('\n')
    }

    pub(super) fn forth(&mut self) -> Met {
        if self.at >= self.text.len() {
            return Met::Edge;
        }
        let was_end = self.is_end();
        self.at = after(self.text, self.at);
        if was_end {
            Met::Line
        } else if self.is_end() {
            Met::LineEnd
        } else {
            Met::Character
        }
    }

    pub(super) fn back(&mut self) -> Met {
        if self.at == 0 {
            return Met::Edge;
        }
        let was_start = self.is_start();
        self.at = before(self.text, self.at);
        if was_start { Met::Line } else { Met::Character }
    }

    /// Like [`Walk::forth`], past the end of a line that is not empty.
    pub(super) fn forth_over_end(&mut self) -> Met {
        match self.forth() {
            Met::LineEnd => self.forth(),
            met => met,
        }
    }

    /// Like [`Walk::back`], past the end of a line that is not empty.
    pub(super) fn back_over_end(&mut self) -> Met {
        match self.back() {
            Met::Line if !self.is_start() => self.back(),
            met => met,
        }
    }

    /// The kind of character: 0 for blanks and ends of lines; words are runs of one kind.
    pub(super) fn class(&self) -> u8 {
        match self.char() {
            None => 0,
            Some(c) if c.is_whitespace() => 0,
            Some(_) if self.big => 1,
            Some(c) => class(c),
        }
    }

    /// Over all characters of a kind; false at the edge of the text.
    pub(super) fn skip(&mut self, class: u8, step: fn(&mut Self) -> Met) -> bool {
        while self.class() == class {
            if step(self) == Met::Edge {
                return false;
            }
        }
        true
    }
}

fn class(c: char) -> u8 {
    match c {
        '\u{3040}'..='\u{309f}' => 3,
        '\u{30a0}'..='\u{30ff}' => 4,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}' => 5,
        '\u{ac00}'..='\u{d7a3}' => 6,
        '\u{1f000}'..='\u{1faff}' => 7,
        c if c.is_alphanumeric() || c == '_' => 2,
        _ => 1,
    }
}
