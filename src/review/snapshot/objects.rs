//! Contents: those in our own store, and those that only the person's repositories have.
//!
//! Looks at no file of the workspace, and writes to no repository. Invariant: what was kept is durable, or is so with the
//! rest that is gathered.

use super::alternates::{Alternates, Read};
use super::capture::lost;
use super::manifest::Entries;
use super::packs::{self, Gathered, PackStore};
use super::preserve::{KEPT, Preserved};
use super::trust::Trust;
use crate::base::human::thousands;
use crate::review::error::ReviewError;
use crate::review::state::{Oid, State};
use crate::review::worktree::repo::Repo;
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Repositories below the root whose content is made use of.
const NESTED: usize = 64;

pub(crate) struct Objects {
    dir: PathBuf,
    pub own: PackStore,
    pub theirs: Alternates,
    pub preserved: Preserved,
    /// The directories of `theirs`.
    pub stores: Vec<PathBuf>,
    /// Directories with a `.git` that were asked for their objects.
    repos: BTreeSet<PathBuf>,
    /// Content that is kept together with more.
    gathered: Option<Gathered>,
    /// A content was asked for that is in no store any more.
    missing: Cell<bool>,
    /// What theirs is known for in this run.
    trust: Arc<Trust>,
    /// What was there before a change and could not be read, though some store says to have it.
    owed: BTreeSet<Oid>,
}

impl Objects {
    /// Of a store in `dir`, with none of the person's.
    pub fn new(dir: &Path, own: PackStore) -> Self {
        Self {
            dir: dir.to_owned(),
            own,
            theirs: Alternates::default(),
            preserved: Preserved::new(dir),
            stores: Vec::new(),
            repos: BTreeSet::new(),
            gathered: None,
            missing: Cell::new(false),
            trust: Arc::default(),
            owed: BTreeSet::new(),
        }
    }

    /// Goes on with those of the person's that are noted in the store, where `named` may be.
    pub fn reopen(&mut self, named: impl Iterator<Item = Oid>) {
        self.need(named);
        self.stores = packs::alternates(&self.dir);
        self.refresh();
    }

    /// These are to be kept, wherever they are.
    pub fn need(&mut self, named: impl Iterator<Item = Oid>) {
        let own = &self.own;
        self.preserved.need(named.filter(|oid| !own.has(oid)));
    }

    /// Opens the person's stores anew.
    pub fn refresh(&mut self) {
        self.theirs = self.open_theirs();
    }

    /// Another look begins, for which theirs may cause so much work again.
    pub fn begin_look(&mut self) -> Result<(), ReviewError> {
        self.settle()?;
        self.trust.renew();
        Ok(())
    }

    /// These are to be read when they can be, which may be by now.
    pub fn owe(&mut self, oids: impl Iterator<Item = Oid>) -> Result<(), ReviewError> {
        let before = self.owed.len();
        self.owed.extend(oids);
        if self.owed.len() > before { self.settle().map(drop) } else { Ok(()) }
    }

    /// Tries once more to keep what could not be read. Whether some of it still cannot.
    pub fn settle(&mut self) -> Result<bool, ReviewError> {
        if self.owed.is_empty() {
            return Ok(false);
        }
        self.trust.renew();
        self.refresh();
        let mut pack = self.own.begin()?;
        for oid in std::mem::take(&mut self.owed) {
            match self.theirs.read_with_what_is_left(&oid) {
                _ if self.own.has(&oid) => {}
                Read::Whole(bytes) => drop(pack.add(&packs::encode(oid, &bytes)?)?),
                Read::Unreadable | Read::Nothing => drop(self.owed.insert(oid)),
            }
        }
        self.own.finish(pack)?;
        Ok(!self.owed.is_empty())
    }

    /// From one of the person's stores, of which a pack may have been replaced since it was opened.
    pub fn read_theirs(&self, oid: &Oid) -> Option<Vec<u8>> {
        self.theirs.read(oid).or_else(|| self.open_theirs().read(oid))
    }

    /// What waits in a pack of its own is finished.
    pub fn seal(&mut self) {
        self.preserved.seal(&mut self.own);
    }

    /// How many files have a content that is not kept, or not yet, in words.
    pub fn at_risk(&self, seen: &Entries) -> Option<String> {
        self.preserved.at_risk(&self.own, &self.theirs, seen)
    }

    /// That not all of the person's packs are looked into, in words.
    pub fn left_out(&self) -> Option<String> {
        let count = self.theirs.left_out(&self.dir.join(KEPT));
        let words = "your repository has too many packs and alternates";
        (count > 0).then(|| {
            format!(
                "{words}: {} are not looked into, what only they have is kept as if it were in none",
                thousands(count as u64)
            )
        })
    }

    #[cfg(test)]
    pub(super) fn trust(&self) -> &Trust {
        &self.trust
    }

    #[cfg(test)]
    pub fn is_gathering(&self) -> bool {
        self.gathered.is_some()
    }

    /// Opens the stores of the person's repositories, those of new ones as well.
    pub fn find(&mut self, root: &Path, repo: Option<&Repo>, nested: &[PathBuf]) -> Result<(), ReviewError> {
        let mut dirs = self.stores.clone();
        dirs.extend(repo.map(Repo::objects));
        for dir in nested.iter().filter(|dir| **dir != root).take(NESTED) {
            if self.repos.insert(dir.clone()) {
                dirs.extend(Repo::find(dir).map(|repo| repo.objects()));
            }
        }
        let mut known = HashSet::new();
        dirs.retain(|dir| known.insert(dir.clone()));
        if dirs != self.stores {
            packs::set_alternates(&self.dir, &dirs)?;
            self.stores = dirs;
        }
        self.refresh();
        Ok(())
    }

    /// The content behind a state; empty for nothing. Fails with `NotKept` when no store has it (the path of the error
    /// is not known here), and otherwise when one that may have it cannot be read.
    pub fn content(&self, state: &State) -> Result<Vec<u8>, ReviewError> {
        let gone = || ReviewError::NotKept(PathBuf::from("a file"));
        let oid = match state {
            State::Absent => return Ok(Vec::new()),
            State::Unkept { .. } => return Err(gone()),
            State::File { oid, .. } | State::Link { oid, .. } => oid,
        };
        if let Some(bytes) = self.gathered.as_ref().and_then(|gathered| gathered.get(oid)) {
            return Ok(bytes.to_vec());
        }
        if let Some(bytes) = self.own.read(oid)? {
            return Ok(bytes);
        }
        self.read_theirs(oid).ok_or_else(|| {
            // What may only not be readable now is not lost.
            self.own.unread().unwrap_or_else(|| {
                self.missing.set(true);
                gone()
            })
        })
    }

    /// Whether a content was asked for that is in no store any more, since this was last asked.
    pub fn take_missing(&self) -> bool {
        self.missing.take()
    }

    /// The state as it can be had, read for certain: without its content, when that is in no store any more.
    pub fn as_readable(&mut self, state: &State) -> Result<State, ReviewError> {
        match self.content(state) {
            Err(ReviewError::NotKept(_)) => {}
            content => return content.map(|_| *state),
        }
        if let Some(oid) = state.oid() {
            self.own.forget(&oid);
        }
        Ok(lost(state))
    }

    /// The state as it can be had: without its content, when that is in no store any more.
    pub fn as_kept(&self, state: &State) -> State {
        let is_here = |oid: &Oid| {
            self.own.has(oid)
                || self.theirs.read(oid).is_some()
                || self.own.unread().is_some()
                || self.own.may_return(oid)
        };
        if state.oid().is_none_or(|oid| is_here(&oid)) { *state } else { lost(state) }
    }

    fn open_theirs(&self) -> Alternates {
        Alternates::open(&self.dir.join(KEPT), &self.stores, &self.trust)
    }

    /// From here to [`Objects::gathered`] content is kept together.
    pub fn gather(&mut self) {
        self.gathered.get_or_insert_default();
    }

    /// What was kept since [`Objects::gather`] is durable when this returns.
    pub fn gathered(&mut self) -> Result<(), ReviewError> {
        self.gathered.take().map_or(Ok(()), |gathered| gathered.finish(&mut self.own))
    }

    /// Keeps content, wherever it comes from; durable when it returns, or with the rest that is gathered.
    pub fn keep(&mut self, bytes: &[u8]) -> Result<Oid, ReviewError> {
        let oid = packs::hash(bytes)?;
        match &mut self.gathered {
            _ if self.own.has(&oid) => {}
            Some(gathered) if gathered.get(&oid).is_some() => {}
            Some(gathered) => gathered.add(&mut self.own, oid, bytes)?,
            None => {
                let mut alone = self.own.begin()?;
                alone.write(oid, bytes)?;
                self.own.finish(alone)?;
            }
        }
        Ok(oid)
    }
}
