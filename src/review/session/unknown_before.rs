//! Files of which it is not known what they were before the agent changed them, and turns of which it is not known what
//! there was when they began, in words.
//!
//! Which those are, the change log knows. Invariant: a file that another line has named as not kept is not said twice.

use super::ReviewSession;
use crate::base::human::thousands;
use crate::base::paths;
use crate::review::history::change_log::ChangeLog;
use crate::review::snapshot::coverage::Uncovered;
use crate::review::worktree::walk;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Files that are named.
const NAMED: usize = 100;

/// Those that `named` names already are left out, and those in `left`, which an undo leaves alone for another reason.
pub fn unknown_before(log: &ChangeLog, named: &[Uncovered], left: &BTreeSet<PathBuf>) -> Vec<String> {
    let known: HashSet<&[u8]> = named.iter().filter_map(|line| line.unkept.as_deref()).collect();
    let new = log.unknown_before().filter(|path| !known.contains(walk::bytes(path)) && !left.contains(*path));
    let words = |path: &Path| format!("{}: what it was before is not kept", paths::visible(path.as_os_str()));
    let mut lines: Vec<String> = new.map(words).collect();
    let more = lines.len().saturating_sub(NAMED);
    if more > 0 {
        lines.truncate(NAMED);
        lines.push(format!("and {} more files of which it is not kept what they were before", thousands(more as u64)));
    }
    lines
}

/// Turns and commands that began before all files had been looked at.
pub fn unknown_beginnings(session: &ReviewSession) -> Vec<String> {
    let turn = |turn: &u64| {
        let turn = session.turn_words(*turn);
        format!(
            "{turn}: its prompt went out before all files had been looked at; what it changed by then may be missing"
        )
    };
    let command = |turn: &u64| {
        let when = if *turn == 0 { "before the first turn".to_owned() } else { session.turn_words(*turn) };
        format!(
            "{when}: a command began before all files had been looked at; what it changed by then may not be put down to it"
        )
    };
    session.log.early().iter().map(turn).chain(session.log.early_commands().iter().map(command)).collect()
}
