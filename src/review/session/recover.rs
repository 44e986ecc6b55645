//! What a crash came in the way of, when a session is taken up again.
//!
//! Knows the parts that it mends, not the session. Invariants: a file is what was meant for it or what it was, and what
//! happened after the last sign of the program is never put down to the agent for certain.

use super::observe::Observer;
use crate::review::dir::{AFTERMATH, SIGN_LAG};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use std::time::{Instant, SystemTime};

/// Turns that a crash has cut short; what they have left behind is of the newest one. What changed up to the last sign
/// is taken for its, what changed right after that is in doubt, and what changed later is the person's.
pub fn finish_turns(parts: &mut Observer<'_>, open: &[u64], last_sign: SystemTime) -> Result<(), ReviewError> {
    let Some(newest) = open.last().copied() else { return Ok(()) };
    let (mut turns, mut aftermath, mut later) = (Vec::new(), Vec::new(), Vec::new());
    let changes = parts.files.snapshot.scan()?;
    let snapshot = &mut parts.files.snapshot;
    let root_is_lost = snapshot.root.is_lost();
    // A clock that was set back since tells of what it has dated after that only that it may have been anybody.
    let now = snapshot.clock.date(Instant::now());
    let is_set_back = now + SIGN_LAG < last_sign;
    for change in changes {
        // With the directory itself, whenever that was.
        if root_is_lost {
            turns.push(change);
            continue;
        }
        // The date of the content can be set by anybody, that of the change by nobody.
        match snapshot.changed_at(&change.path) {
            at if is_set_back && at <= now => aftermath.push(change),
            at if at <= last_sign + SIGN_LAG => turns.push(change),
            at if at <= last_sign + AFTERMATH => aftermath.push(change),
            // Since when it is gone nobody knows.
            _ if change.after.is_absent() => aftermath.push(change),
            _ => later.push(change),
        }
    }
    parts.attribution.begin(newest);
    // Which calls ran is gone with the client. Where the agent said what it did, what nobody has looked at yet may
    // be the person's, who went on saving in the turn; not when the directory itself is gone.
    if open.iter().any(|turn| parts.log.was_told(*turn)) && !root_is_lost {
        parts.attribution.presume_told();
    }
    parts.observe(turns)?;
    // The agent may have gone on, the person may have begun again.
    parts.attribution.presume_told();
    parts.observe(aftermath)?;
    parts.attribution.end(newest);
    parts.observe(later)?;
    parts.log.save(parts.files)?;
    parts.attribution.looked_at_all();
    open.iter().try_for_each(|turn| parts.log.turn_ends(*turn))
}

/// A decision that a crash has cut short: which of its files have the state that was meant for them.
pub fn finish_act(log: &mut ChangeLog, files: &mut Contents) -> Result<(), ReviewError> {
    let Some(act) = log.undo_log().unfinished().cloned() else { return Ok(()) };
    let mut done = Vec::new();
    for (at, file) in act.files.iter().enumerate() {
        // What cannot be read was not written.
        if files.on_disk(&file.path).is_ok_and(|disk| disk == file.disk.1) {
            done.push(at);
            files.snapshot.set(&file.path, file.disk.1)?;
        }
    }
    let cut = done.len() < act.files.len();
    log.finished(act.id, done, cut, log.newest_turn())?;
    log.save(files)
}
