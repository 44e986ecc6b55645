//! Worktrees merged as a decision of a review, so that it can be taken back: in the review that looks at the place which
//! the worktree came from, else in the newest one that is kept of it, else in one that is made for it.
//!
//! What is to be written, and writing it, is for `host::worktrees`. Invariant: nothing is written of which the ledger of
//! that review does not know.

use super::run_name::RunName;
use crate::base::human;
use crate::base::paths::visible;
use crate::base::sanitize::line;
use crate::host::worktrees::{self, Merge, Merged, Part, Worktree, WorktreeError};
use crate::model::changes::{Scope, Target};
use crate::model::ids::SessionKey;
use crate::review::archive::{self, LAST};
use crate::review::error::ReviewError;
use crate::review::protocol::{AgentSession, SessionInfo};
use crate::review::session::{MergedFrom, ReviewSession};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

/// How long it is waited for the review of a worktree.
/// What the review of a merge has in place of a session of an agent: how its name begins, and who it is said to be of.
pub const MERGE: &str = "merge-";
pub const MERGES: &str = "worktrees";
const PATIENCE: Duration = Duration::from_secs(30);

/// What is to be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where the worktree is.
    pub tree: PathBuf,
    /// What it came from.
    pub origin: PathBuf,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    All,
    /// A file, below the worktree.
    File(PathBuf),
    /// A hunk or lines of what this session has changed, as its review shows it.
    Hunk {
        at: SessionKey,
        scope: Scope,
        target: Target,
    },
}

/// A part, as soon as the review that has it has found it.
pub(super) type Found = Receiver<Result<Part, String>>;

/// A merge for the person at the screen, told in a line.
#[derive(Debug)]
pub(super) struct Merging {
    pub wanted: Wanted,
    pub part: Option<Found>,
    pub done: SyncSender<Result<String, String>>,
}

impl Merging {
    /// In the review that is open, or in one that is kept.
    pub fn carry_out(self, state: &Path, open: Option<&mut ReviewSession>) {
        let merged = self.merged(state, open);
        // Who waits for it may have left.
        let _ = self.done.try_send(merged);
    }

    fn merged(&self, state: &Path, open: Option<&mut ReviewSession>) -> Result<String, String> {
        let worktree = worktree_at(state, &self.wanted.tree)?;
        let merge = match (&self.wanted.what, &self.part) {
            (What::All, _) => Merge::of(&worktree, None),
            (What::File(file), _) => Merge::of(&worktree, Some(file)),
            (What::Hunk { .. }, None) => return Err("its review has ended".to_owned()),
            (What::Hunk { .. }, Some(found)) => {
                let part = found.recv_timeout(PATIENCE).map_err(|_| "its review does not answer".to_owned())??;
                let below = part.path.strip_prefix(&worktree.path).map(Path::to_owned);
                let path = below.map_err(|_| "it is not in the worktree".to_owned())?;
                Merge::of_part(&worktree, &Part { path, ..part })
            }
        };
        in_words(state, &worktree, merge, open)
    }
}

/// Writes a merge in a review that is open.
pub fn through(
    review: &mut ReviewSession,
    state: &Path,
    worktree: &Worktree,
    merge: Merge,
    go_on: impl FnMut(usize, usize) -> bool,
) -> Result<Merged, ReviewError> {
    if merge.changes.is_empty() {
        return Ok(merge.carry_out(go_on));
    }
    let files = human::count(merge.changes.len() as u64, "file");
    let words = format!("merged {files} of worktree {}{}", worktree.name, author(state, worktree));
    let from = MergedFrom { tree: worktree.path.clone(), origin: worktree.origin.clone() };
    review.merge(merge, from, words, go_on)
}

/// The same where none is open.
pub fn kept(
    state: &Path,
    worktree: &Worktree,
    merge: Merge,
    go_on: impl FnMut(usize, usize) -> bool,
) -> Result<Merged, ReviewError> {
    if merge.changes.is_empty() {
        return Ok(merge.carry_out(go_on));
    }
    through(&mut review_of(state, worktree)?, state, worktree, merge, go_on)
}

/// A merge for the person at the screen, in a line.
pub fn in_words(
    state: &Path,
    worktree: &Worktree,
    merge: Result<Merge, WorktreeError>,
    open: Option<&mut ReviewSession>,
) -> Result<String, String> {
    let merge = merge.map_err(|error| line(&error.to_string()).into_owned())?;
    let kept_as = merge.recovery.as_ref().map(|kept| format!("; what was there is kept as {kept}")).unwrap_or_default();
    let origin = visible(worktree.origin.as_os_str());
    // Where a window is open `undo` is refused.
    let undone_by = if open.is_some() { "`u` in its review" } else { "`acp-tui undo last` there" };
    let merged = match open {
        Some(review) => through(review, state, worktree, merge, |_, _| true),
        None => kept(state, worktree, merge, |_, _| true),
    };
    let merged = merged.map_err(|error| format!("{}{kept_as}", line(&error.to_string())))?;
    let files = human::count(merged.files.len() as u64, "file");
    match merged.left.first() {
        None if merged.files.is_empty() => Ok(format!("{} has nothing to merge", worktree.name)),
        None => Ok(format!("merged {files} of {} into {origin}; {undone_by} undoes it{kept_as}", worktree.name)),
        Some((path, why)) => Err(format!(
            "merged {files}, left {} alone: {}: {}{kept_as}",
            human::count(merged.left.len() as u64, "file"),
            visible(path.as_os_str()),
            line(why)
        )),
    }
}

/// The worktree of this place.
pub fn worktree_at(state: &Path, tree: &Path) -> Result<Worktree, String> {
    let worktree = worktrees::all(state).into_iter().find(|one| one.path == tree);
    worktree.ok_or_else(|| format!("the worktree {} is not there any more", visible(tree.as_os_str())))
}

/// The name of the review that has the newest merge into a directory, for `acp-tui undo`.
pub fn undone_by(state: &Path, origin: &Path, here: Option<&Path>) -> String {
    if here == Some(origin) {
        return LAST.to_owned();
    }
    let newest = archive::list(&archive::below(state)).into_iter().find(|one| is_of(one, origin));
    newest.map_or_else(|| LAST.to_owned(), |one| one.stem)
}

/// The session that worked in a worktree last, in words behind its name.
fn author(state: &Path, worktree: &Worktree) -> String {
    let all = archive::list(&archive::below(state));
    let is_its = |one: &&archive::Listed| one.head.as_ref().is_some_and(|head| head.cwd.starts_with(&worktree.path));
    let session = all.iter().filter(is_its).find_map(|one| AgentSession::newest(&one.sessions));
    session.map_or_else(String::new, |session| {
        format!(" (session {} of {})", archive::shown_id(&session.id), line(&session.agent))
    })
}

fn is_of(one: &archive::Listed, dir: &Path) -> bool {
    !one.sessions.is_empty() && one.head.as_ref().is_some_and(|head| head.cwd == dir)
}

/// The newest review of what a worktree came from, unless somebody has it open; else a new one.
fn review_of(state: &Path, worktree: &Worktree) -> Result<ReviewSession, ReviewError> {
    let (home, origin) = (archive::below(state), &worktree.origin);
    let newest = archive::list(&home).into_iter().find(|one| is_of(one, origin));
    if let Some(newest) = newest.filter(|one| !one.locked)
        && let Ok(review) = ReviewSession::open(&newest.dir)
        && !review.is_behind()
        && review.covers(origin)
    {
        return Ok(review);
    }
    let (stem, name) = (RunName::of_now(), &worktree.name);
    let head = SessionInfo {
        stem: stem.name(),
        cwd: origin.clone(),
        command: format!("acp-tui worktrees merge {name}"),
        started: stem.started(),
        private: archive::private(state),
        directories: Vec::new(),
    };
    let mut review = ReviewSession::create(&home, head)?;
    review.session(AgentSession::new(&format!("{MERGE}{name}"), 1, MERGES))?;
    Ok(review)
}
