//! The directories that sessions work in: for each session its roots, for each directory one review.
//!
//! Knows of no agent. Invariants: a session reads, writes and runs below its own directory and those that
//! the person has named besides; sessions of one
//! directory, and of directories inside it, share one snapshot, so that what one of them changes is never taken for the
//! person's. A directory above one that is looked at already has a review of its own: each of the two is told what is
//! done in the sessions of the other.

use super::reviewing::Reviewing;
use crate::host::fs::{Private, Roots};
use crate::model::ids::SessionKey;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a session may reach, and by which review it is looked at.
#[derive(Debug)]
struct Member {
    cwd: PathBuf,
    roots: Arc<Roots>,
    review: usize,
}

/// A directory that is reviewed, or was.
struct Reviewed {
    /// Every link followed, where it was there.
    root: PathBuf,
    reviewing: Option<Reviewing>,
}

pub(super) struct Workspaces {
    private: Private,
    members: BTreeMap<SessionKey, Member>,
    reviewed: Vec<Reviewed>,
    /// Directories that sessions of one may use, too.
    further: (PathBuf, Vec<PathBuf>),
    /// For sessions that have no place yet: nothing is below no root.
    nowhere: Arc<Roots>,
}

impl Workspaces {
    pub fn new(private: Private) -> Self {
        let nowhere = Arc::new(Roots::new(Vec::new()));
        Self { private, members: BTreeMap::new(), reviewed: Vec::new(), further: Default::default(), nowhere }
    }

    /// Sessions of this directory may use these ones, too, from when they join.
    pub fn reach(&mut self, cwd: &Path, directories: Vec<PathBuf>) {
        self.further = (cwd.to_owned(), directories);
    }

    /// A session works in this directory. True when no review looks at it yet.
    pub fn join(&mut self, at: SessionKey, cwd: &Path) -> bool {
        let (of, directories) = &self.further;
        let further = directories.iter().filter(|_| of == cwd).cloned();
        let all = std::iter::once(cwd.to_owned()).chain(further).collect();
        let roots = Arc::new(Roots::new(all).without(self.private.clone()));
        let root = roots.paths().first().map_or(cwd, |root| root.as_path()).to_owned();
        let known = self.reviewed.iter().position(|reviewed| root.starts_with(&reviewed.root));
        let review = known.unwrap_or_else(|| {
            self.reviewed.push(Reviewed { root, reviewing: None });
            self.reviewed.len() - 1
        });
        self.members.insert(at, Member { cwd: cwd.to_owned(), roots, review });
        known.is_none()
    }

    pub fn roots(&self, at: SessionKey) -> &Arc<Roots> {
        self.members.get(&at).map_or(&self.nowhere, |member| &member.roots)
    }

    /// The session's directory, also one whose name is no text.
    pub fn directory(&self, at: SessionKey) -> Option<&Path> {
        self.members.get(&at).map(|member| member.cwd.as_path())
    }

    /// Which of the reviews looks at the session; they are counted from 0, in the order of their beginning.
    pub fn review_of(&self, at: SessionKey) -> Option<usize> {
        self.members.get(&at).map(|member| member.review)
    }

    pub fn set(&mut self, at: SessionKey, reviewing: Option<Reviewing>) {
        if let Some(reviewed) = self.review_of(at).and_then(|review| self.reviewed.get_mut(review)) {
            reviewed.reviewing = reviewing;
        }
    }

    /// The review of the session's directory, while there is one.
    pub fn reviewing(&mut self, at: SessionKey) -> Option<&mut Reviewing> {
        let review = self.review_of(at)?;
        self.reviewed.get_mut(review)?.reviewing.as_mut()
    }

    /// A session of the review that looks at all of a directory, while there is one.
    pub fn over(&self, dir: &Path) -> Option<SessionKey> {
        let looks = |one: &Reviewed| one.reviewing.is_some() && dir.starts_with(&one.root);
        let is_over = |member: &Member| self.reviewed.get(member.review).is_some_and(looks);
        self.members.iter().find(|(_, member)| is_over(member)).map(|(at, _)| *at)
    }

    /// Reviews of directories above or below that of the session's review, which look at some of the same files. One
    /// above is begun only after the session; else the session would be looked at by that one.
    pub fn around(&mut self, at: SessionKey) -> impl Iterator<Item = &mut Reviewing> {
        let own = self.review_of(at);
        let root = own.and_then(|own| self.reviewed.get(own)).map(|reviewed| reviewed.root.clone());
        self.reviewed.iter_mut().enumerate().filter_map(move |(number, one)| {
            let is_around = Some(number) != own && root.as_ref().is_some_and(|root| overlap(root, &one.root));
            one.reviewing.as_mut().filter(|_| is_around)
        })
    }

    /// The sessions of those reviews.
    pub fn sessions_around(&self, at: SessionKey) -> Vec<SessionKey> {
        let root = |at| self.review_of(at).and_then(|review| self.reviewed.get(review)).map(|one| &one.root);
        let is_around = |other: &SessionKey| {
            self.review_of(*other) != self.review_of(at)
                && root(*other).zip(root(at)).is_some_and(|(one, other)| overlap(one, other))
        };
        self.members.keys().copied().filter(is_around).collect()
    }

    /// All reviews, each with one of its sessions.
    pub fn reviews(&mut self) -> impl Iterator<Item = (SessionKey, &mut Reviewing)> {
        let members = &self.members;
        self.reviewed.iter_mut().enumerate().filter_map(move |(review, reviewed)| {
            let (at, _) = members.iter().find(|(_, member)| member.review == review)?;
            Some((*at, reviewed.reviewing.as_mut()?))
        })
    }

    /// Bytes of writes that the reviews have not looked at yet.
    pub fn writes(&self) -> usize {
        self.reviewed.iter().filter_map(|reviewed| reviewed.reviewing.as_ref()).map(Reviewing::writes).sum()
    }

    /// The sessions that are looked at by the same review as this one.
    pub fn beside(&self, at: SessionKey) -> Vec<SessionKey> {
        let review = self.review_of(at);
        self.members.iter().filter(|(_, member)| Some(member.review) == review).map(|(key, _)| *key).collect()
    }

    /// Takes all reviews out, each with its sessions.
    pub fn take_reviews(&mut self) -> Vec<(Vec<SessionKey>, Reviewing)> {
        let keys: Vec<SessionKey> = self.reviews().map(|(at, _)| at).collect();
        let mut taken = Vec::new();
        for at in keys {
            let beside = self.beside(at);
            let reviewing = self.review_of(at).and_then(|review| self.reviewed.get_mut(review)?.reviewing.take());
            taken.extend(reviewing.map(|reviewing| (beside, reviewing)));
        }
        taken
    }
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

#[cfg(test)]
#[path = "workspaces_tests.rs"]
mod tests;
