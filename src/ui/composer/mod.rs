//! Where the person writes: the text ([`buffer`]), its rows ([`wrap`]), earlier prompts ([`recall`]), all of it
//! together ([`Composer`]); Vim's keys over it ([`vim`]).

pub mod buffer;
mod chips;
pub mod dropped;
pub mod editor;
mod place;
pub mod recall;
mod undo;
pub mod vim;
pub mod wrap;

pub use buffer::Buffer;
pub use editor::{Composer, Edited};
pub use recall::Recall;
pub use vim::{Mode, Took, Vim};
pub use wrap::ComposerView;
