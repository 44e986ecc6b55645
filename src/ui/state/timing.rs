//! How long things may take before something is said or done about it, and how long what was said stays.
//!
//! Values, and how what is left of a time is shown; the caller has the clock.

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
/// How long one stays that is about a key that was missed.
pub const BRIEF: Duration = Duration::from_secs(2);
/// A command ended while it was typed into: what follows without a pause of this length was meant for it, and may be
/// the rest of a password.
pub const STRAY: Duration = Duration::from_secs(1);
/// A mode that was chosen is asked for when no other one was for so long.
pub const MODE_REST: Duration = Duration::from_millis(400);
/// A second Ctrl+C within this time quits.
pub const QUIT_WINDOW: Duration = Duration::from_secs(2);
/// What is typed so soon after a digit that no question took goes on with it.
pub const GOES_ON: Duration = Duration::from_secs(2);
/// Esc so soon after a question was left stops nothing.
pub const LEAVING: Duration = Duration::from_millis(600);

/// Letters so soon after one that was too soon belong to it.
pub const BURST: Duration = Duration::from_millis(300);

/// What is left of a time: in minutes, the one that has begun counted, and in the last one in seconds.
pub fn countdown(left: Duration) -> String {
    let (number, unit) = counted(left);
    if unit == 60 { format!("{number} min") } else { format!("{number} s") }
}

/// After how long that is other words.
pub fn countdown_changes(left: Duration) -> Option<Duration> {
    let (number, unit) = counted(left);
    // A moment later, so that it is certain to have changed.
    (!left.is_zero()).then(|| left.saturating_sub(Duration::from_secs((number - 1) * unit)) + Duration::from_millis(1))
}

fn counted(left: Duration) -> (u64, u64) {
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    if seconds > 60 { (seconds.div_ceil(60), 60) } else { (seconds, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_counted_down_and_changes_when_it_is_said_to() {
        for (seconds, words) in
            [(3600, "60 min"), (3599, "60 min"), (61, "2 min"), (60, "60 s"), (1, "1 s"), (0, "0 s")]
        {
            assert_eq!(countdown(Duration::from_secs(seconds)), words);
        }
        let mut left = Duration::from_secs(150);
        let mut seen = Vec::new();
        while let Some(after) = countdown_changes(left) {
            let next = left.saturating_sub(after);
            assert_ne!(countdown(next), countdown(left), "{left:?}");
            seen.push(countdown(left));
            left = next;
        }
        assert_eq!((seen.len(), &*seen[0], &*seen[1], &*seen[2]), (62, "3 min", "2 min", "60 s"));
    }
}
