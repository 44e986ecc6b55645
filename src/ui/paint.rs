//! Graphemes into cells of the buffer, one after the other in a row. Knows columns and styles, not what is said.
//!
//! Invariants: nothing is written outside of the buffer or beyond the end of the row, no control character is ever
//! written, nor what is not seen or turns others around, and a wide character is written whole or not at all.

use crate::base::sanitize;
use crate::text::run::StyledText;
use crate::text::width::{TAB, graphemes};
use crate::theme::resolve::Theme;
use ratatui::buffer::Buffer;
use ratatui::style::Style;

/// What turns while something works; [`crate::ui::frame::SPINNER`] is its pace.
pub const SPINNER: [&str; 8] = ["⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

pub fn spinner(frame: u8) -> &'static str {
    SPINNER[usize::from(frame) % SPINNER.len()]
}

pub struct Pen<'a> {
    pub buf: &'a mut Buffer,
    pub x: u16,
    pub y: u16,
    /// The column behind the last one.
    pub end: u16,
}

/// What a tab becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tabs {
    /// Blanks up to the next tab stop, counted from this column.
    From(u16),
    /// It takes no room.
    Nothing,
}

impl Pen<'_> {
    pub fn styled(&mut self, text: &StyledText, theme: &Theme, tabs: Tabs) {
        for (piece, style) in text.iter() {
            if !self.text(piece, theme.style(style), tabs) {
                return;
            }
        }
    }

    /// False when there was no room for all of it.
    pub fn text(&mut self, text: &str, style: Style, tabs: Tabs) -> bool {
        for (_, grapheme, width) in graphemes(text) {
            match tabs {
                Tabs::From(origin) if grapheme == "\t" => {
                    let column = usize::from(self.x.saturating_sub(origin));
                    for _ in 0..TAB - column % TAB {
                        self.put(" ", 1, style);
                    }
                }
                // Who made the text has left it in.
                _ if grapheme.len() > 1 && grapheme.chars().any(sanitize::is_deceptive) => {
                    for column in 0..width {
                        if !self.put(if column == 0 { "\u{fffd}" } else { " " }, 1, style) {
                            return false;
                        }
                    }
                }
                _ if width > 0 && !self.put(grapheme, width as u16, style) => return false,
                _ => {}
            }
        }
        true
    }

    fn put(&mut self, grapheme: &str, width: u16, style: Style) -> bool {
        if self.x.saturating_add(width) > self.end {
            return false;
        }
        if let Some(cell) = self.buf.cell_mut((self.x, self.y)) {
            cell.set_symbol(grapheme).set_style(style);
        }
        // The terminal draws nothing in the second half of a wide character.
        for half in 1..width {
            if let Some(cell) = self.buf.cell_mut((self.x + half, self.y)) {
                cell.reset();
                cell.set_style(style);
            }
        }
        self.x += width;
        true
    }
}
