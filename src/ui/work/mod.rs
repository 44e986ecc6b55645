//! Slow work for the screen, on threads of its own: what it finds arrives later, and the screen never waits for it.

pub mod colours;
pub mod files;
pub mod highlight;
