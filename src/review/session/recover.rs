//! What a crash came in the way of, when a session is taken up again.
//!
//! Knows the parts that it mends, not the session. Invariants: a file is what was meant for it or what it was, and what
//! happened after the last sign of the program is never put down to the agent for certain.

use super::observe::Observer;
use crate::model::changes::Cause;
use crate::review::dir::{AFTERMATH, SIGN_LAG};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::ledger::{ChangeRecord, Decision, FileDecision};
use crate::review::history::pending_writes::PendingWrite;
use crate::review::state::State;
use crate::review::text::merge::follow;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

/// Writes through the client with an unknown end: which of them were done. What was changed in them since is in
/// doubt.
pub fn finish_writes(log: &mut ChangeLog, files: &mut Contents) -> Result<(), ReviewError> {
    let writes: Vec<(PathBuf, PendingWrite)> =
        log.pending().iter().map(|(path, write)| (path.to_owned(), *write)).collect();
    for (path, write) in &writes {
        let PendingWrite { turn, entry, before, content, size } = *write;
        // What cannot be read was not written.
        let Ok(disk) = files.on_disk(path) else { continue };
        let mode = disk.mode().or(before.mode()).unwrap_or_default();
        let written = State::File { oid: content, mode, size };
        // Without the text it cannot be told.
        let done = progress((&before, &written), &disk, files).unwrap_or(Progress::Unknown);
        if disk == before || matches!(done, Progress::Nothing) {
            continue;
        }
        for change in files.snapshot.look(std::slice::from_ref(path))? {
            let mut last = log.last(path).unwrap_or(before);
            let step = |cause, doubt, entry, before, after| ChangeRecord {
                doubt,
                ..ChangeRecord::new(turn, cause, entry, before, after)
            };
            if matches!(done, Progress::Done) {
                log.record(path, step(Cause::Write, false, entry, last, written), files)?;
                last = written;
            }
            log.record(path, step(Cause::Unknown, true, None, last, change.after), files)?;
        }
        log.save(files)?;
    }
    writes.iter().try_for_each(|(_, write)| log.write_ends(write.content, write.entry))
}

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
        // The date of the content can be set by any program, that of the change by none.
        match snapshot.changed_at(&change.path) {
            at if is_set_back && at <= now => aftermath.push(change),
            // Anybody may have saved since then.
            at if at <= last_sign => turns.push(change),
            at if at <= last_sign + AFTERMATH => aftermath.push(change),
            // Since when it is gone is unknown.
            _ if change.after.is_absent() => aftermath.push(change),
            _ => later.push(change),
        }
    }
    parts.attribution.begin(newest);
    // Of a client that was killed it is not known what else went on.
    if parts.log.is_ending() {
        parts.attribution.recall(parts.log.ran().iter(), last_sign);
    }
    // Which other calls ran is gone with the client. Where the agent said what it did, what no look has found yet may
    // be the person's, who went on saving in the turn; not when the directory itself is gone.
    if open.iter().any(|turn| parts.log.was_told(*turn)) && !root_is_lost {
        parts.attribution.presume_told();
    }
    parts.observe(turns)?;
    // Nor is it any command's for certain.
    parts.attribution.forget_calls();
    for ran in parts.log.ran().end(last_sign) {
        parts.log.note_ran(ran)?;
    }
    // The agent may have gone on, the person may have begun again.
    parts.attribution.presume_told();
    parts.observe(aftermath)?;
    parts.attribution.end(newest);
    parts.observe(later)?;
    parts.log.save(parts.files)?;
    parts.attribution.looked_at_all();
    open.iter().try_for_each(|turn| parts.log.turn_ends(*turn))
}

/// A decision that a crash has cut short: which of its files have got the state that was meant for them. What was
/// changed in them since is another author's.
pub fn finish_act(log: &mut ChangeLog, files: &mut Contents) -> Result<(), ReviewError> {
    let Some(act) = log.undo_log().unfinished().cloned() else { return Ok(()) };
    let (mut done, mut doubtful) = (Vec::new(), Vec::new());
    for (at, file) in act.files.iter().enumerate() {
        // What cannot be read was not written.
        let Ok(disk) = files.on_disk(&file.path) else { continue };
        let held = held_over(&act, file, log).filter(|_| disk != file.disk.0);
        match progress((&held.unwrap_or(file.disk.0), &file.disk.1), &disk, files)? {
            Progress::Nothing if held.is_some() => log.untake(&file.path)?,
            Progress::Nothing => {}
            Progress::Done => {
                done.push(at);
                if disk == file.disk.1 {
                    files.snapshot.set(&file.path, disk)?;
                }
            }
            Progress::Unknown => doubtful.push((&file.path, disk)),
        }
    }
    let cut = done.len() < act.files.len();
    log.finished(act.id, done, cut, log.newest_turn())?;
    for (path, after) in doubtful {
        let Some(before) = log.last(path) else { continue };
        let (turn, cause, entry) = (log.newest_turn(), Cause::Unknown, None);
        let step = ChangeRecord { doubt: true, ..ChangeRecord::new(turn, cause, entry, before, after) };
        log.record(path, step, files)?;
    }
    log.save(files)
}

/// What a held write was to replace: all that the agent wanted is put down as its change before any of it is written, and
/// the decision is about that.
fn held_over(act: &Decision, file: &FileDecision, log: &ChangeLog) -> Option<State> {
    let is_of_held = act.key.is_none() && act.toggles.is_none() && act.merged.is_none() && !file.by_hand;
    let step = log.history(&file.path).filter(|_| is_of_held)?.steps.last()?;
    (step.cause == Cause::Write && step.after == file.disk.0).then_some(step.before)
}

/// How far a decision, or a write, came with a file.
enum Progress {
    Nothing,
    Done,
    Unknown,
}

fn progress((before, after): (&State, &State), disk: &State, files: &mut Contents) -> Result<Progress, ReviewError> {
    if disk == after || before == after {
        return Ok(Progress::Done);
    }
    // What is gone has nothing of either.
    if disk == before || disk.is_absent() {
        return Ok(Progress::Nothing);
    }
    if before.is_absent() || after.is_absent() {
        let there = if after.is_absent() { before } else { after };
        return Ok(match shares(there, disk, files)? {
            None => Progress::Unknown,
            Some(is_of_it) if is_of_it == before.is_absent() => Progress::Done,
            Some(_) => Progress::Nothing,
        });
    }
    Ok(match (has(before, after, disk, files)?, has(after, before, disk, files)?) {
        (true, false) => Progress::Done,
        (false, true) => Progress::Nothing,
        _ => Progress::Unknown,
    })
}

/// Whether all that differs between one state and another is in a third as in the other.
fn has(one: &State, other: &State, third: &State, files: &mut Contents) -> Result<bool, ReviewError> {
    let (Some(made), Some(since)) = (files.edits(one, other)?, files.edits(other, third)?) else { return Ok(false) };
    let is_mode = one.mode() == other.mode() || other.mode() == third.mode();
    Ok(is_mode && made.iter().all(|e| follow(&since, &e.new).is_some()))
}

/// Whether a line of one text is in the other; nothing when they are none.
fn shares(one: &State, other: &State, files: &mut Contents) -> Result<Option<bool>, ReviewError> {
    let edits = files.edits(one, other)?;
    let both = edits.zip(files.text(one)?);
    Ok(both.map(|(edits, text)| edits.iter().map(|edit| edit.old.len()).sum::<usize>() < text.len()))
}
