//! The person's terminal: taken over and given back ([`guard`]), repaired ([`repair`]), read ([`input`]), drawn ([`surface`]).
//!
//! Knows bytes and cells, not what they mean. Invariant: the terminal is given back as it was, also after a panic.

mod answers;
mod ascii;
pub mod clipboard;
pub mod editor;
mod event;
mod graphics;
pub mod guard;
mod hidden;
pub mod input;
mod late;
mod numbers;
pub mod outside;
mod parse;
mod paste;
mod pen;
pub mod press;
mod repair;
mod sequences;
pub mod surface;

pub use ascii::Letters;
pub use clipboard::{Multiplexer, TooLong, osc52};
pub use event::{Click, Input, Scheme, Told};
pub use guard::{
    ASK_ARRIVAL, Beside, Listener, Place, Pointer, Questions, Tty, TtyOut, install_panic_hook, restore, size, tell_of,
};
pub use hidden::hidden_line;
pub use input::InputStream;
/// For `fuzz/`.
#[doc(hidden)]
pub use parse::{Parser, Patience};
pub use repair::{LineSettings, line_settings, repair, repair_after};
pub use surface::region::{Region, Sheet};
pub use surface::{Hyperlink, Surface};
