//! The earlier sessions of a directory that can be gone on with, as the first screen names them.
//!
//! Found once for each list that is read: a frame filters and sorts nothing. Invariant: what is kept is of the list, the
//! worktrees and the directory that it was asked for with.

use super::session_list::{End, Past, PastSession};
use super::trees::Trees;
use std::cell::RefCell;
use std::path::Path;
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
    near: Arc<NearSessions>,
}

#[derive(Debug, Default)]
pub struct Near(RefCell<Option<Found>>);

impl Near {
    pub fn of(&self, past: &Past, trees: &Arc<Trees>, here: &str) -> Arc<NearSessions> {
        let Past::Read(all) = past else { return Arc::default() };
        let mut found = self.0.borrow_mut();
        let is_same =
            |found: &&Found| Arc::ptr_eq(&found.all, all) && Arc::ptr_eq(&found.trees, trees) && found.here == here;
        if let Some(found) = found.as_ref().filter(is_same) {
            return Arc::clone(&found.near);
        }
        let near = Arc::new(near(all, trees, Path::new(here)));
        let kept = Arc::clone(&near);
        *found = Some(Found { all: Arc::clone(all), trees: Arc::clone(trees), here: here.to_owned(), near: kept });
        near
    }
}

fn near(all: &[PastSession], trees: &Trees, here: &Path) -> NearSessions {
    let is_near = |one: &&PastSession| !one.is_gone && one.end != End::Open && trees.origins.are_alike(&one.cwd, here);
    let mut all: Vec<&PastSession> = all.iter().filter(is_near).collect();
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
        let past = Past::Read(Arc::clone(&all));
        let found = near.of(&past, &trees, "/w");
        let ids: Vec<&str> = found.first.iter().map(|one| &*one.id).collect();
        assert_eq!((ids, found.count, found.interrupted), (vec!["c", "a"], 2, 1));
        assert!(Arc::ptr_eq(&found, &near.of(&past, &trees, "/w")), "not looked for again");
        assert_eq!(near.of(&past, &trees, "/x").count, 1);
        assert_eq!(near.of(&Past::Read(all[..1].into()), &trees, "/w").count, 1);
        assert_eq!(near.of(&Past::Reading, &trees, "/w").count, 0);
    }
}
