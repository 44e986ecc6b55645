//! Where the person writes: the text ([`buffer`]), its rows ([`wrap`]), earlier prompts ([`recall`]), all of it
//! together ([`Composer`]).

pub mod buffer;
pub mod dropped;
pub mod editor;
pub mod recall;
mod undo;
pub mod wrap;

pub use buffer::Buffer;
pub use editor::{Composer, Edited};
pub use recall::Recall;
pub use wrap::ComposerView;
