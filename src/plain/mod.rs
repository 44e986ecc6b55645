//! A conversation in plain lines: for screen readers, for terminals that cannot place what is drawn, and for pipes.
//!
//! Lines come in, lines go out; nothing that was printed is ever changed or written over. The review is looked at and
//! decided file by file, log-ins that take a terminal are named with the command to type. Invariants: every line of the
//! transcript begins with who or what it is of; a question is answered by the number of an answer alone.

/// What a line begins with that is worded by the agent or comes from a file, but for a label of ours: no such line can
/// pass for an answer or for a line of somebody else.
const QUOTE: &str = "  | ";
/// Columns that a row may take: lines are wrapped by the terminal.
const WIDE: u16 = 400;

mod ask;
mod changes;
mod command;
mod ending;
mod input;
mod liveness;
mod run;
mod settings;
mod standing;
mod tell;

pub use input::Input;
pub use run::{Ended, Options, run};
