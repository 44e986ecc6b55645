//! Taking back a decision, or doing it again.
//!
//! Computes states, writes nothing. Invariant: what was changed since stays, or the file is left alone.

use super::rewind::{MODE_OF_BOTH, is_mode_of_three};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::ledger::FileDecision;

/// Takes back what was done of a decision, with all that has been changed since. And, in words, what is left alone.
pub fn taken_back(
    done: &[FileDecision],
    log: &ChangeLog,
    files: &mut Contents,
) -> Result<(Vec<FileDecision>, Vec<String>), ReviewError> {
    let (mut out, mut left) = (Vec::new(), Vec::new());
    for file in done {
        files.go_on()?;
        let Some(history) = log.history(&file.path) else { continue };
        let (disk, accepted) = (history.last(), history.accepted);
        let conflict = |why: &str| ReviewError::Conflict { path: file.path.clone(), why: why.to_owned() }.to_string();
        let Some(back) = files.joined(&file.disk.1, &disk, &file.disk.0)? else {
            left.push(conflict("these lines were changed since"));
            continue;
        };
        if is_mode_of_three(&file.disk.1, &disk, &file.disk.0) {
            left.push(conflict(MODE_OF_BOTH));
        }
        let then = files.joined(&file.accepted.1, &accepted, &file.accepted.0)?.unwrap_or(file.accepted.0);
        let path = file.path.clone();
        out.push(FileDecision { path, disk: (disk, back), accepted: (accepted, then), by_hand: false });
    }
    Ok((out, left))
}

/// What does it again, when that is taken back.
pub fn turned_round(mut done: Vec<FileDecision>) -> Vec<FileDecision> {
    for file in &mut done {
        std::mem::swap(&mut file.disk.0, &mut file.disk.1);
        std::mem::swap(&mut file.accepted.0, &mut file.accepted.1);
    }
    done
}
