//! Files that a decision leaves where they are, since what is in them would be nowhere else.
//!
//! Computes, writes nothing. Invariant: no decision takes away or writes over a content that was at a path which is
//! absent and stays so, or would be, but for the person's own text and what they force, and for what an earlier decision
//! has put there when that path was gone already.

use crate::base::paths::visible;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::file_history::FileHistory;
use crate::review::history::ledger::{ChangeRecord, FileDecision};
use crate::review::state::{Oid, State, content};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Why files are to be written.
#[derive(Clone, Copy)]
pub enum For<'a> {
    Decision,
    /// What the agent has put there since this turn is no loss.
    Rewind(u64),
    /// To take back what a decision did, or do it again: what was written, and the first part of it.
    Toggle(&'a [FileDecision], u64),
}

/// Those of the files of a decision that hold the content of a file which is gone and does not come back with it,
/// and why, in words.
pub fn only_copies(files: &[FileDecision], why: For<'_>, log: &ChangeLog) -> BTreeMap<PathBuf, String> {
    let mut going: HashMap<Oid, Vec<&Path>> = HashMap::new();
    for file in files.iter().filter(|file| !file.by_hand) {
        if let Some(oid) = content(&file.disk.0).filter(|oid| file.disk.1.oid() != Some(*oid)) {
            going.entry(oid).or_default().push(&file.path);
        }
    }
    let mut out = BTreeMap::new();
    if going.is_empty() {
        return out;
    }
    // What a decision has put there was as gone before it as it will be.
    let (done, act) = if let For::Toggle(done, act) = why { (done, act) } else { (&[][..], 0) };
    let placed: HashMap<&Path, Oid> = done.iter().filter_map(|f| Some((&*f.path, content(&f.disk.1)?))).collect();
    let is_placed =
        |path: &Path, oid: Oid, gone: &Path| placed.get(path) == Some(&oid) && log.order().is_older(gone, act);
    let from = if let For::Rewind(turn) = why { Some(turn) } else { None };
    for file in files.iter().filter(|file| !file.by_hand && file.disk.1.is_absent()) {
        let (Some(oid), Some(history)) = (content(&file.disk.0), log.history(&file.path)) else { continue };
        let came_back = || is_loss_of_earlier(history, oid, from) && !is_kept(oid, files, log);
        if placed.get(&*file.path) != Some(&oid) && came_back() {
            out.insert(file.path.clone(), "nothing else has what was in it before".to_owned());
        }
    }
    let comes: HashSet<&Path> = files.iter().filter(|f| !f.disk.1.is_absent()).map(|f| &*f.path).collect();
    for (path, history) in log.histories() {
        if !history.last().is_absent() || comes.contains(path.as_path()) {
            continue;
        }
        for oid in losses(history, from) {
            let is_other = |only: &&&Path| **only != path.as_path() && !is_placed(only, oid, path);
            for only in going.get(&oid).into_iter().flatten().filter(is_other) {
                let words = || format!("it has what was in {}, which stays gone", visible(path.as_os_str()));
                out.entry(only.to_path_buf()).or_insert_with(words);
            }
        }
    }
    out
}

/// Contents that a file which is gone had, and not only by the agent.
fn losses(history: &FileHistory, from: Option<u64>) -> Vec<Oid> {
    let accepted = from.is_none().then_some(history.accepted);
    theirs(&history.steps, from).chain(accepted).filter_map(|state| content(&state)).collect()
}

/// Whether a file had this content, and not only by the agent, was gone then, and has it again.
fn is_loss_of_earlier(history: &FileHistory, oid: Oid, from: Option<u64>) -> bool {
    let again = history.steps.iter().rposition(|step| step.before.is_absent());
    let earlier = history.steps.get(..again.unwrap_or_default()).unwrap_or_default();
    theirs(earlier, from).any(|state| content(&state) == Some(oid))
}

/// What was there at first, and what was made of it, but for the agent's.
fn theirs(steps: &[ChangeRecord], from: Option<u64>) -> impl Iterator<Item = State> {
    let is_theirs = move |s: &&ChangeRecord| s.doubt || s.cause.is_persons() || from.is_some_and(|turn| s.turn < turn);
    let first = steps.first().map(|step| step.before);
    first.into_iter().chain(steps.iter().filter(is_theirs).map(|step| step.after))
}

/// Whether some file has this content when those are written.
fn is_kept(oid: Oid, files: &[FileDecision], log: &ChangeLog) -> bool {
    let written: HashSet<&Path> = files.iter().map(|file| &*file.path).collect();
    let mut others = log.histories().iter().filter(|(path, _)| !written.contains(path.as_path()));
    files.iter().any(|file| content(&file.disk.1) == Some(oid))
        || others.any(|(_, history)| content(&history.last()) == Some(oid))
}
