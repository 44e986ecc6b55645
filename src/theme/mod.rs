//! Turns tokens into terminal styles.

pub mod color;
pub mod load;
pub mod resolve;
