//! Worktrees for the screen: made, merged and discarded, each told in one line.
//!
//! What git has to do is for `host::worktrees`. Invariant: none goes while another acp-tui has a
//! session open in it.

use super::args::InWorktree;
use super::worktrees::{cleaned, for_agent, for_session, is_in_use};
use crate::base::human;
use crate::base::paths::visible;
use crate::base::sanitize::line;
use crate::host::worktrees::{self, Merge, Worktree};
use crate::ui::state::trees::{Fate, Made, MadeFor, Making, Tree};
use std::path::Path;

pub(super) fn all(state: &Path) -> Vec<Tree> {
    let tree = |one: Worktree| Tree { name: one.name, branch: one.branch, origin: one.origin, path: one.path };
    worktrees::all(state).into_iter().map(tree).collect()
}

pub(super) fn make(making: &Making) -> Result<Vec<Made>, String> {
    let (dir, with_changes) = (&making.dir, making.with_changes);
    let made = match &making.made_for {
        MadeFor::Session(_) => vec![for_session(&InWorktree { name: None, with_changes }, dir)],
        MadeFor::Prompt { agents, .. } => agents.iter().map(|name| for_agent(name, dir, with_changes)).collect(),
    };
    let made = made.into_iter().map(|one| one.map(|one| Made { cwd: one.cwd, remarks: one.remarks }));
    made.collect::<Result<_, _>>().map_err(|why| why.0)
}

pub(super) fn decide(state: &Path, tree: &Tree, fate: &Fate) -> Result<String, String> {
    let worktree = worktrees::all(state).into_iter().find(|one| one.path == tree.path);
    let worktree = worktree.ok_or_else(|| format!("worktree {} is not there any more", tree.name))?;
    match fate {
        Fate::Merge => merge(&worktree, None),
        Fate::Take(file) => merge(&worktree, Some(file)),
        Fate::Discard if is_in_use(state, &worktree) => Err("a session is open in it; close it first".to_owned()),
        Fate::Discard => worktrees::discard(&worktree, false).map_err(|error| cleaned(&error)).map(|kept| match kept {
            Some(kept) => format!("discarded {}; all of it is kept as {kept}", worktree.name),
            None => format!("forgot {}, whose directory was gone", worktree.name),
        }),
    }
}

fn merge(worktree: &Worktree, only: Option<&Path>) -> Result<String, String> {
    let merge = Merge::of(worktree, only).map_err(|error| cleaned(&error))?;
    let kept = merge.recovery.as_ref().map(|kept| format!("; what was there is kept as {kept}")).unwrap_or_default();
    let merged = merge.carry_out(|_, _| true);
    let files = human::count(merged.files.len() as u64, "file");
    match merged.left.first() {
        None if merged.files.is_empty() => Ok(format!("{} has nothing to merge", worktree.name)),
        None => Ok(format!("merged {files} of {} into {}{kept}", worktree.name, visible(worktree.origin.as_os_str()))),
        Some((path, why)) => Err(format!(
            "merged {files}, left {} alone: {}: {}{kept}",
            human::count(merged.left.len() as u64, "file"),
            visible(path.as_os_str()),
            line(why)
        )),
    }
}
