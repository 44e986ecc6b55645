//! What the loop has done with worktrees: merged, in whole or in part, or discarded.
//!
//! Does none of it itself. Invariant: a worktree is merged by the review of what it came from, where that is open here, so
//! that it can be taken back there.

use super::Running;
use crate::engine::merging::Wanted;
use crate::model::session::{Closed, Session, SessionState};
use crate::ui::screen::Device;
use crate::ui::state::trees::{self, Fate, Tree};
use std::path::Path;

/// A file of the worktree that is shown goes where that came from, as it is now.
pub(super) fn take_file<D: Device>(running: &mut Running<D>, file: &Path) {
    let Some(shown) = running.engine.model().at(running.app.shown()) else { return };
    let path = Path::new(&shown.cwd).join(file);
    let tree = trees::around(&running.app.trees, &path).cloned();
    match tree.and_then(|tree| Some((path.strip_prefix(&tree.path).ok()?.to_owned(), tree))) {
        Some((below, tree)) => decide(running, tree, Fate::Take(below)),
        None => running.app.say("this session works in no worktree of its own", running.engine.now()),
    }
}

/// This becomes of a worktree, in which nobody works any more when it goes.
pub(super) fn decide<D: Device>(running: &mut Running<D>, tree: Tree, fate: Fate) {
    let works_in = |session: &Session| {
        session.state != SessionState::Closed(Closed::ByPerson) && Path::new(&session.cwd).starts_with(&tree.path)
    };
    let only = match &fate {
        Fate::Merge => None,
        Fate::Take(file) => Some(file.clone()),
        Fate::Discard if running.engine.model().sessions().any(|(_, session)| works_in(session)) => {
            return running.refuse("a session is open in it; Alt+W closes a session".to_owned());
        }
        Fate::Discard => {
            running.refuse("discarding…".to_owned());
            return running.past.decide(tree, fate);
        }
    };
    running.refuse("merging…".to_owned());
    let (path, origin) = (tree.path.clone(), tree.origin.clone());
    match running.engine.merge(Wanted { tree: path, origin, only }) {
        Some(merged) => running.past.wait_for(merged),
        None => running.past.decide(tree, fate),
    }
}
