//! Files of which it is not known what they were before the agent changed them, in words.
//!
//! Which those are, the change log knows. Invariant: a file that another line has named as not kept is not said twice.

use crate::base::paths;
use crate::review::history::change_log::ChangeLog;
use crate::review::snapshot::coverage::Uncovered;
use crate::review::worktree::walk;
use std::collections::HashSet;

/// Those that `named` names already are left out.
pub fn unknown_before(log: &ChangeLog, named: &[Uncovered]) -> Vec<String> {
    let known: HashSet<&[u8]> = named.iter().filter_map(|line| line.unkept.as_deref()).collect();
    let new = log.unknown_before().filter(|path| !known.contains(walk::bytes(path)));
    new.map(|path| format!("{}: what it was before is not kept", paths::visible(path.as_os_str()))).collect()
}
