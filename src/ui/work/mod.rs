//! Slow work for the screen, beside it: what it finds arrives later, and the screen never waits for it.

pub mod colours;
pub mod copier;
pub mod files;
pub mod highlight;
mod images;
pub mod pictures;
pub mod programs;
mod sixel;
pub mod status_command;
