//! What the loop has done with worktrees: merged, in whole or in part, or discarded.
//!
//! Does none of it itself. Invariant: a worktree is merged by the review of what it came from, where that is open here, so
//! that it can be taken back there.

use super::Running;
use crate::engine::merging::{Wanted, What};
use crate::model::changes::{Scope, Target};
use crate::model::session::{Closed, Session, SessionState};
use crate::ui::screen::Device;
use crate::ui::state::trees::{Fate, Tree};
use std::path::Path;

/// A file of the worktree that is shown goes where that came from, as it is now.
pub(super) fn take_file<D: Device>(running: &mut Running<D>, file: &Path) {
    let Some(shown) = running.engine.model().at(running.app.shown()) else { return };
    let path = Path::new(&shown.cwd).join(file);
    let tree = running.app.trees.around(&path).cloned();
    match tree.and_then(|tree| Some((path.strip_prefix(&tree.path).ok()?.to_owned(), tree))) {
        Some((below, tree)) => decide(running, tree, Fate::Take(below)),
        None => running.app.say("this session works in no worktree of its own", running.engine.now()),
    }
}

/// A hunk or lines of what the session that is shown has changed in its worktree goes where that came from.
pub(super) fn take_part<D: Device>(running: &mut Running<D>, scope: Scope, target: Target) {
    let Some(shown) = running.engine.model().at(running.app.shown()) else { return };
    match running.app.trees.around(Path::new(&shown.cwd)).cloned() {
        Some(tree) => {
            let at = running.app.shown();
            merge(running, tree, What::Hunk { at, scope, target });
        }
        None => running.app.say("this session works in no worktree of its own", running.engine.now()),
    }
}

/// This becomes of a worktree, in which nobody works any more when it goes.
pub(super) fn decide<D: Device>(running: &mut Running<D>, tree: Tree, fate: Fate) {
    let works_in = |session: &Session| {
        session.state != SessionState::Closed(Closed::ByPerson) && Path::new(&session.cwd).starts_with(&tree.path)
    };
    match fate {
        Fate::Merge => merge(running, tree, What::All),
        Fate::Take(file) => merge(running, tree, What::File(file)),
        Fate::Discard if running.engine.model().sessions().any(|(_, session)| works_in(session)) => {
            running.refuse("a session is open in it; close that first".to_owned());
        }
        Fate::Discard => {
            running.refuse("discarding…".to_owned());
            running.past.decide(tree, fate);
        }
    }
}

fn merge<D: Device>(running: &mut Running<D>, tree: Tree, what: What) {
    running.refuse("merging…".to_owned());
    let fate = match &what {
        What::All => Some(Fate::Merge),
        What::File(file) => Some(Fate::Take(file.clone())),
        What::Hunk { .. } => None,
    };
    let wanted = Wanted { tree: tree.path.clone(), origin: tree.origin.clone(), what };
    match (running.engine.merge(wanted), fate) {
        (Some(merged), _) => running.past.wait_for(merged),
        (None, Some(fate)) => running.past.decide(tree, fate),
        (None, None) => running.refuse("there is no review to take it from".to_owned()),
    }
}
