//! What every command says: results on standard output, everything else and questions on standard error.
//!
//! Invariant: what is said is cleaned; a closed output is no fault.

use super::usage::Usage;
use crate::base::sanitize;
use crate::engine::Goodbye;
use crate::headless::{code, said};
use crate::ui::tty;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

pub(super) fn say(words: &str) {
    said::write(format!("acp-tui: {}\n", sanitize::line(words)));
}

pub(super) fn print(text: &str) -> Result<u8, Usage> {
    let written = io::stdout().write_all(text.as_bytes());
    Ok(if written.is_ok() { code::OK } else { code::READER_GONE })
}

pub(super) fn is_screen() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Columns of the terminal that standard output is.
pub(super) fn columns() -> Option<usize> {
    let (columns, _) = io::stdout().is_terminal().then(tty::size)?.ok()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Whether the terminal can place what is drawn.
pub(super) fn can_draw() -> bool {
    is_screen() && std::env::var("TERM").map_or(true, |term| term != "dumb")
}

/// What the person should know of what is left.
pub(super) fn say_goodbye(goodbye: &Goodbye) {
    if let Some(why) = &goodbye.unrecorded {
        say(&format!("the end of the recording is missing: {why}"));
    }
    if let Some(why) = &goodbye.unlogged {
        say(&format!("the last decisions are missing in the audit log: {why}"));
    }
    for survivor in &goodbye.survivors {
        say(&format!("still running in a session of its own: {survivor}"));
    }
}

/// Only a yes is one.
pub(super) fn confirmed(question: &str) -> bool {
    // Standard error may be closed; then the answer will not be yes.
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
