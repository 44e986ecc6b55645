//! Turns tokens into terminal styles, fitted to the colours and the background of the terminal.

pub mod color;
pub mod contrast;
mod fit;
pub mod load;
pub mod looks;
pub mod resolve;
