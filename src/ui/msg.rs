//! What passes between the parts of the screen: what a frame has learnt, and what an input leads to.
//!
//! Data only. Keeps `view` and `update` from knowing each other.

use super::frame::Motion;
use super::state::Mouse;
use super::state::dock::Dialog;
use super::state::scroll::Scroll;
use crate::model::event::Intent;
use crate::model::ids::{EntryId, TermId};
use ratatui::layout::{Position, Rect};
use std::ops::Range;

/// What is to be done after an input, by whoever holds the engine and the terminal.
#[derive(Clone, PartialEq, Debug)]
pub enum Out {
    Intent(Intent),
    Scroll(ScrollBy),
    Copy(String),
    /// Goes to a command of the agent as it is, and nowhere else.
    Type(TermId, Vec<u8>),
    Mouse(Mouse),
    Suspend,
    /// Forget what the terminal shows and draw it anew.
    Redraw,
    Quit,
}

/// How the transcript is to be scrolled; only the transcript knows how many rows that is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScrollBy {
    Rows(i32),
    Pages(i32),
    Top,
    End,
}

/// What drawing a frame has learnt.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrameInfo {
    pub transcript: Rect,
    /// Rows of the screen whose entry a click folds.
    pub hits: Vec<(u16, EntryId)>,
    pub rows_below: Option<u64>,
    /// The scroll position as clamped by the transcript.
    pub scroll: Scroll,
    /// Where the cursor stands; none when nothing is written now.
    pub cursor: Option<Position>,
    pub dock: Rect,
    /// The dialog that the dock showed, so that nothing is answered that was not on the screen.
    pub dialog: Option<Dialog>,
    /// The options of the dialog that could be read.
    pub options: Range<usize>,
    /// How far the body of the dock can be scrolled.
    pub dock_scroll_max: usize,
    /// The same for the help.
    pub help_scroll_max: usize,
    pub motion: Motion,
}
