//! Worktrees for the screen: made, merged and discarded, each told in one line.
//!
//! What git has to do is for `host::worktrees`. Invariant: none goes while another acp-tui has a
//! session open in it.

use super::args::InWorktree;
use super::worktrees::{cleaned, for_agent, for_session, removed};
use crate::engine::merging;
use crate::host::worktrees::{self, Files, Merge, Worktree};
use crate::ui::state::trees::{Fate, Made, MadeFor, Making, Tree, Trees};
use std::path::Path;

pub(super) fn all(state: &Path) -> Trees {
    let tree = |one: Worktree| Tree { name: one.name, branch: one.branch, origin: one.origin, path: one.path };
    Trees { all: worktrees::all(state).into_iter().map(tree).collect(), origins: worktrees::origins(state) }
}

pub(super) fn make(making: &Making) -> Result<Vec<Made>, String> {
    let (dir, with_changes) = (&making.dir, making.with_changes);
    let made = match &making.made_for {
        MadeFor::Session(_) => vec![for_session(&InWorktree { name: None, with_changes }, dir)],
        MadeFor::Prompt { agents, .. } => {
            let files = with_changes.then(|| Files::around(dir)).transpose().map_err(|error| cleaned(&error))?;
            agents.iter().map(|name| for_agent(name, dir, files.as_ref())).collect()
        }
    };
    let made = made.into_iter().map(|one| one.map(|one| Made { cwd: one.cwd, remarks: one.remarks }));
    made.collect::<Result<_, _>>().map_err(|why| why.0)
}

pub(super) fn decide(state: &Path, tree: &Tree, fate: &Fate) -> Result<String, String> {
    let worktree = merging::worktree_at(state, &tree.path)?;
    match fate {
        Fate::Merge => merging::in_words(state, &worktree, Merge::of(&worktree, None), None),
        Fate::Take(file) => merging::in_words(state, &worktree, Merge::of(&worktree, Some(file)), None),
        Fate::Discard => removed(state, &worktree, false).map_err(|error| cleaned(&error)).map(|kept| match kept {
            Some(kept) => format!("discarded {}; all of it is kept as {kept}", worktree.name),
            None => format!("forgot {}, whose directory was gone", worktree.name),
        }),
    }
}
