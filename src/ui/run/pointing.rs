//! The shape of the cursor, which tells the modes of Vim's keys.
//!
//! Without Vim's keys the cursor is as the person has set it. Invariant: the shape is sent only when it has changed.

use super::Running;
use crate::ui::composer::Mode;
use crate::ui::screen::Device;
use crate::ui::tty::{Beside, Pointer};
use std::io;

/// What the terminal was told.
#[derive(Default)]
pub(super) struct Pointing {
    shown: Option<Pointer>,
}

pub(super) fn point<D: Device>(running: &mut Running<D>) -> io::Result<()> {
    let Running { app, screen, pointing, .. } = running;
    let wanted = app.keys.is_modal().then(|| match app.vim.mode() {
        Mode::Insert => Pointer::Bar,
        Mode::Replace => Pointer::Underline,
        Mode::Normal | Mode::Visual | Mode::VisualLine => Pointer::Block,
    });
    let Some(pointer) = wanted.filter(|_| pointing.shown != wanted) else { return Ok(()) };
    pointing.shown = wanted;
    screen.show_beside(Beside::Pointer, pointer.bytes())
}
