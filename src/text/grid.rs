//! `ScreenSnapshot`: the visible state of an emulated terminal as plain data.
//!
//! The host makes it, the model keeps the last one, the screen paints it. Cheap to share behind `Arc`.

use super::run::StyledText;

/// History and screen of an emulated terminal, oldest row first, trailing blank rows and columns dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScreenSnapshot {
    pub rows: Vec<StyledText>,
    pub cols: u16,
    /// Grows with every change of the terminal.
    pub generation: u64,
    /// Rows that scrolled out of the history.
    pub dropped_rows: u64,
}
