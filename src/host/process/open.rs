//! Showing a page to the person, in their browser.
//!
//! The address is one argument of the system's own program for it, never part of a line for a shell. Waits for that
//! program, so it is for a thread. Invariant: nothing of it stands on the person's terminal.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

#[cfg(target_os = "macos")]
const PROGRAM: &str = "open";
#[cfg(not(target_os = "macos"))]
const PROGRAM: &str = "xdg-open";

/// # Errors
/// When there is no such program, or when it has found nothing to show the page with.
pub fn open_page(address: &str) -> io::Result<()> {
    let status = Command::new(PROGRAM)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{PROGRAM} found no way to show it"))) }
}
