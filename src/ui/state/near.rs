//! The earlier sessions of a directory that can be gone on with, as the first screen names them.
//!
//! Found once for each list that is read: a frame filters and sorts nothing. Invariants: what is kept is of the list, the
//! worktrees, the directory and the open sessions that it was asked for with; none is named that is open in this window.

use super::session_list::{End, Past, PastSession};
use super::trees::Trees;
use crate::model::Model;
use crate::model::session::{Closed, SessionState};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many of them are named.
pub const NAMED: usize = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearSessions {
    /// Those first that were interrupted, then the newest.
    pub first: Vec<PastSession>,
    /// All, and how many of them were interrupted.
    pub count: usize,
    pub interrupted: usize,
}

/// What it was found in; as long as it is held no other list has its address.
#[derive(Debug)]
struct Found {
    all: Arc<[PastSession]>,
    trees: Arc<Trees>,
    here: String,
    open: Vec<OpenHere>,
    near: Arc<NearSessions>,
}

/// A session of this window.
#[derive(Debug, PartialEq)]
struct OpenHere {
    command: String,
    id: String,
}

fn open_here(model: &Model) -> Vec<OpenHere> {
    let open = model.sessions().filter(|(_, session)| session.state != SessionState::Closed(Closed::ByPerson));
    open.filter_map(|(_, session)| {
        let command = model.agent_of(session.agent)?.command.clone();
        Some(OpenHere { command, id: session.known_id()?.as_str().to_owned() })
    })
    .collect()
}

/// How many were interrupted in which directory that is there; those in a worktree count where it came from.
pub fn interrupted(all: &[PastSession], trees: &Trees) -> BTreeMap<PathBuf, usize> {
    let mut counts = BTreeMap::new();
    for one in all.iter().filter(|one| one.end == End::Interrupted && !one.is_gone) {
        *counts.entry(trees.origins.home_of(&one.cwd)).or_default() += 1;
    }
    counts
}

#[derive(Debug, Default)]
pub struct Near(RefCell<Option<Found>>);

impl Near {
    pub fn of(&self, past: &Past, trees: &Arc<Trees>, here: &str, model: &Model) -> Arc<NearSessions> {
        let Past::Read(all) = past else { return Arc::default() };
        let (mut found, open) = (self.0.borrow_mut(), open_here(model));
        let is_same = |found: &&Found| {
            Arc::ptr_eq(&found.all, all)
                && Arc::ptr_eq(&found.trees, trees)
                && (found.here.as_str(), &found.open) == (here, &open)
        };
        if let Some(found) = found.as_ref().filter(is_same) {
            return Arc::clone(&found.near);
        }
        let near = Arc::new(near(all, trees, Path::new(here), &open));
        let (all, trees, kept) = (Arc::clone(all), Arc::clone(trees), Arc::clone(&near));
        *found = Some(Found { all, trees, here: here.to_owned(), open, near: kept });
        near
    }
}

/// Those of a directory that can be gone on with, the newest first.
pub fn all<'a>(
    past: &'a Past,
    trees: &'a Trees,
    here: &'a str,
    model: &Model,
) -> impl Iterator<Item = &'a PastSession> {
    let all = if let Past::Read(all) = past { &**all } else { &[] };
    let open = open_here(model);
    all.iter().filter(move |one| is_near(one, trees, Path::new(here), &open))
}

fn is_near(one: &PastSession, trees: &Trees, here: &Path, open: &[OpenHere]) -> bool {
    let is_open = || open.iter().any(|open| open.id == one.id && one.is_of(&open.command));
    !one.is_gone && one.end != End::Open && trees.origins.are_alike(&one.cwd, here) && !is_open()
}

fn near(all: &[PastSession], trees: &Trees, here: &Path, open: &[OpenHere]) -> NearSessions {
    let mut all: Vec<&PastSession> = all.iter().filter(|one| is_near(one, trees, here, open)).collect();
    all.sort_by_key(|one| one.end != End::Interrupted);
    NearSessions {
        first: all.iter().take(NAMED).copied().cloned().collect(),
        count: all.len(),
        interrupted: all.iter().filter(|one| one.end == End::Interrupted).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::session_list::Starts;
    use super::*;
    use crate::model::session::Policy;

    #[test]
    fn they_are_found_once_for_each_list_and_directory() {
        let one = |name: &str, cwd: &str, end| {
            PastSession::clean(name.into(), "Agent", "agent".into(), Starts::Unknown, cwd.into()).used(
                120,
                1,
                end,
                Vec::new(),
                false,
            )
        };
        let all: Arc<[PastSession]> =
            [one("a", "/w", End::Ended), one("b", "/x", End::Ended), one("c", "/w", End::Interrupted)].into();
        let (near, trees) = (Near::default(), Arc::<Trees>::default());
        let (past, none) = (Past::Read(Arc::clone(&all)), Model::new("agent".into(), "/w".into(), Policy::Ask));
        let found = near.of(&past, &trees, "/w", &none);
        let ids: Vec<&str> = found.first.iter().map(|one| &*one.id).collect();
        assert_eq!((ids, found.count, found.interrupted), (vec!["c", "a"], 2, 1));
        assert!(Arc::ptr_eq(&found, &near.of(&past, &trees, "/w", &none)), "not looked for again");
        assert_eq!(near.of(&past, &trees, "/x", &none).count, 1);
        assert_eq!(near.of(&Past::Read(all[..1].into()), &trees, "/w", &none).count, 1);
        assert_eq!(near.of(&Past::Reading, &trees, "/w", &none).count, 0);
    }
}
