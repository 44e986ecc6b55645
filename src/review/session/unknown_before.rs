//! Files of which it is not known what they were before the agent changed them, in words.
//!
//! Which those are, the change log knows. Invariant: what another line has named is not said twice.

use crate::base::paths;
use crate::review::history::change_log::ChangeLog;
use std::collections::HashSet;

/// Those that `named` names already are left out.
pub fn unknown_before(log: &ChangeLog, named: &[String]) -> Vec<String> {
    let lines = log.unknown_before().map(|path| format!("{}: ", paths::visible(path.as_os_str())));
    // A name may have a colon in it.
    let colons = |one: &'_ String| -> Vec<usize> { one.match_indices(": ").map(|(at, _)| at + 2).collect() };
    let known: HashSet<&str> = named.iter().flat_map(|one| colons(one).into_iter().map(|end| &one[..end])).collect();
    let new = lines.filter(|line| !known.contains(&**line));
    new.map(|line| format!("{line}what it was before is not kept")).collect()
}
