//! Keys as data: what was pressed ([`Key`]), what it means ([`Action`]) and the table between them ([`Keymap`]).
//!
//! Only this room and `ui/tty` know the terminal library's key types; everything else sees an [`Action`].

pub mod action;
mod bind;
pub mod bytes;
pub mod key;
pub mod keymap;
pub mod layer;
pub mod live;

pub use action::{Action, Mouse, ReviewKey, Sort, Step};
pub use bytes::{bytes, pasted};
pub use key::{Code, Key, Mods};
pub use keymap::resolve;
pub use layer::Layer;
pub use live::Keymap;
