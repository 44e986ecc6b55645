//! What must hold for any bytes. Each function is one target; the files in `fuzz_targets` only call it.
//!
//! A target asserts more than that nothing panics: what comes in pieces is what comes whole, what is shown can do nothing to
//! a terminal, and a rule more never allows more.

mod files;
mod pieces;
mod reducing;
mod rules;
mod shown;

pub use files::{index, journal, undo_log};
pub use pieces::{frames, keys};
pub use reducing::reduce;
pub use rules::{patterns, shell};
pub use shown::{ansi, markdown, paths};

/// The bytes as text and a number that they begin with: fuzzers find their way better without a format.
fn numbered(data: &[u8]) -> Option<(u8, &str)> {
    let (number, rest) = data.split_first()?;
    Some((*number, std::str::from_utf8(rest).ok()?))
}

/// Pieces of a size that the number gives, from 1 byte on.
fn cut(number: u8, data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.chunks(usize::from(number % 16) + 1)
}
