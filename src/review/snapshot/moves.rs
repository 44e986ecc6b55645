//! What one look has found gone at one path and come at another: most probably it was moved.
//!
//! Knows what the look has found and nothing of who did it. Invariant: what is put down to an author for the sake of
//! the other path is the coming only when both are the same file with the same content.

use crate::review::state::content;
use crate::review::state::{Change, Oid, State};
use crate::review::worktree::walk::{Stat, Time};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A change, with the number of the file that went or came.
struct Place {
    path: PathBuf,
    number: u64,
    /// When the file was changed last.
    changed: Time,
    oid: Option<Oid>,
    /// There was nothing before.
    new: bool,
}

/// What one look has found so far.
#[derive(Default)]
pub(super) struct Found {
    gone: Vec<Place>,
    come: Vec<Place>,
}

impl Found {
    /// `was` and `is` are what was there before and now.
    pub(super) fn take(&mut self, change: &Change, was: Option<&Stat>, is: &Stat) {
        let place = |stat: Option<&Stat>, state: &State| Place {
            path: change.path.clone(),
            number: stat.map_or(0, |stat| stat.ino),
            changed: stat.map_or((0, 0), |stat| stat.ctime),
            oid: content(state),
            new: change.before.is_absent(),
        };
        if change.after.is_absent() {
            self.gone.push(place(was, &change.before));
        } else if was.is_none_or(|was| was.ino != is.ino) {
            self.come.push(place(Some(is), &change.after));
        }
    }

    /// `was_there` tells whether the file at a path existed at a time: numbers of files that are gone are given to new ones.
    pub(super) fn moves(self, was_there: impl Fn(&Path, Time) -> bool) -> Moves {
        let mut moves = Moves::default();
        let mut numbers: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut oids: HashMap<Oid, Vec<usize>> = HashMap::new();
        for (at, place) in self.come.iter().enumerate().rev() {
            numbers.entry(place.number).or_default().push(at);
            if let Some(oid) = place.oid.filter(|_| place.new) {
                oids.entry(oid).or_default().push(at);
            }
        }
        let mut taken = HashSet::new();
        // First those that are the same file, so that none of them is taken for another's content.
        for same_file in [true, false] {
            for gone in &self.gone {
                if moves.to.contains_key(&gone.path) {
                    continue;
                }
                let places = match (same_file, gone.oid) {
                    (true, _) if gone.number != 0 => numbers.get_mut(&gone.number),
                    (false, Some(oid)) => oids.get_mut(&oid),
                    _ => None,
                };
                let is_it = |at: &usize| {
                    let is_old = |come: &Place| !same_file || was_there(&come.path, gone.changed);
                    self.come.get(*at).is_some_and(is_old) && taken.insert(*at)
                };
                let found = places.and_then(|places| std::iter::from_fn(|| places.pop()).find(is_it));
                let Some(come) = found.and_then(|at| self.come.get(at)) else { continue };
                moves.to.insert(gone.path.clone(), come.path.clone());
                if same_file && gone.oid.is_some() && gone.oid == come.oid {
                    moves.from.insert(come.path.clone(), gone.path.clone());
                }
            }
        }
        moves.gone = self.gone.into_iter().map(|place| place.path).collect();
        moves
    }
}

/// What the last look has found moved.
#[derive(Default)]
pub(crate) struct Moves {
    to: HashMap<PathBuf, PathBuf>,
    /// Only of what is the same file, and unchanged.
    from: HashMap<PathBuf, PathBuf>,
    gone: HashSet<PathBuf>,
}

impl Moves {
    /// Where the file that is gone from `path` has most probably come to.
    pub(crate) fn to(&self, path: &Path) -> Option<&Path> {
        self.to.get(path).map(PathBuf::as_path)
    }

    /// The other path of what was moved, when this one is as much the doing of one author as that one.
    pub(crate) fn twin(&self, path: &Path) -> Option<&Path> {
        self.to(path).or_else(|| self.from.get(path).map(PathBuf::as_path))
    }

    /// Whether the last look has found that there is nothing any more: when that happened is not known, only by when.
    pub(crate) fn is_gone(&self, path: &Path) -> bool {
        self.gone.contains(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::worktree::walk::Kind;

    #[test]
    fn a_number_that_was_given_to_a_new_file_makes_no_move() {
        for was_there in [true, false] {
            let file = |oid| State::File { oid: Oid([oid; 20]), mode: 0o644, size: 2 };
            let stat = |kind, ctime| Stat { kind, ino: 7, ctime: (ctime, 0), ..Stat::default() };
            let gone = Change { path: "a".into(), before: file(1), after: State::Absent };
            let come = Change { path: "b".into(), before: State::Absent, after: file(2) };
            let mut found = Found::default();
            found.take(&gone, Some(&stat(Kind::File, 5)), &stat(Kind::Other, 0));
            found.take(&come, None, &stat(Kind::File, 9));
            let moves = found.moves(|path, at| {
                assert_eq!((path, at), (Path::new("b"), (5, 0)));
                was_there
            });
            assert_eq!(moves.to(Path::new("a")), was_there.then_some(Path::new("b")));
        }
    }
}
