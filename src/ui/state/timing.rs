//! How long things may take before something is said or done about it, and how long what was said stays.
//!
//! Values only; the caller has the clock.

use std::time::Duration;

/// A wait for the snapshot of the files that takes so long is named.
pub const LOOKING_AFTER: Duration = Duration::from_millis(300);
/// A working agent that has said nothing for so long is called silent.
pub const SILENT_AFTER: Duration = Duration::from_secs(20);
/// In a turn in which nothing was heard for so long, giving up is offered.
pub const OFFER_AFTER: Duration = Duration::from_mins(1);
/// The same while a tool or a command runs.
pub const OFFER_AFTER_TOOL: Duration = Duration::from_mins(5);
/// A running command that has printed nothing for so long may wait for input.
pub const QUIET: Duration = Duration::from_secs(10);
/// A start that takes so long is offered to be given up.
pub const START_PATIENCE: Duration = Duration::from_mins(1);
/// How long a message of ours stays in the status line.
pub const TOAST: Duration = Duration::from_secs(4);
/// A command ended while it was typed into: what follows without a pause of this length was meant for it, and may be
/// the rest of a password.
pub const STRAY: Duration = Duration::from_secs(1);
/// A second Ctrl+C within this time quits.
pub const QUIT_WINDOW: Duration = Duration::from_secs(2);
/// Esc so soon after a question was left stops nothing.
pub const LEAVING: Duration = Duration::from_millis(600);
