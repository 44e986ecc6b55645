//! What is at a path now.
//!
//! Reads one path at a time and records nothing; threads may share it. Invariant: nothing is read outside of the
//! workspace, and nothing but files and links.

use super::Snapshot;
use super::capture::unkept;
use super::closed::Opened;
use super::coverage::{self, Uncovered};
use super::fingerprints::Fingerprints;
use super::manifest::Entries;
use super::packs;
use crate::base::paths::visible;
use crate::review::error::ReviewError;
use crate::review::state::{Oid, State};
use crate::review::worktree::own_files::OwnFiles;
use crate::review::worktree::walk::{self, Found, Reader, RelPath, Stat, Time};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

/// What is needed of the snapshot for it.
#[derive(Clone, Copy)]
pub(crate) struct Peek<'a> {
    pub root: &'a Path,
    pub seen: &'a Entries,
    pub hidden: &'a OwnFiles,
    /// Bytes of one file that are read.
    pub file_bytes: u64,
}

impl Peek<'_> {
    /// Whether what was there when it was last looked at may be nowhere else, though the change that brought it there
    /// can be taken back.
    pub(crate) fn is_only(self, path: &Path) -> bool {
        self.seen.get(walk::bytes(path)).is_some_and(|entry| entry.only)
    }

    /// Files that have changed since they were looked at last, by their numbers alone; none of those that are new.
    pub(crate) fn touched(self) -> Vec<PathBuf> {
        let mut reader = Reader::new(self.root);
        let mut is_other = |key: &[u8], stat: &Stat| reader.stat(key).is_ok_and(|now| now.as_ref() != Some(stat));
        let there = self.seen.iter().filter(|(_, entry)| !entry.state.is_absent());
        there.filter(|(key, entry)| is_other(key, &entry.stat)).map(|(key, _)| walk::path(key).to_owned()).collect()
    }

    /// The content is that of a file or the target of a link; `None` for nothing, and for what is too large. Where
    /// content was not kept, the state is the one last seen as long as the file was not touched. Refuses what is
    /// outside of the root, and what is neither file nor link.
    pub(crate) fn peek(self, path: &Path) -> Result<(State, Option<Vec<u8>>), ReviewError> {
        let refused = |why| ReviewError::Refused(format!("{} {why}", visible(path.as_os_str())));
        let unread = |source| ReviewError::Unread { path: path.to_owned(), source };
        let key = walk::key(self.root, path).filter(|key| !key.is_empty() && !self.hidden.has(key));
        let key = key.ok_or_else(|| refused("is not covered: below .git, or not in the session's directory"))?;
        let found = Reader::new(self.root).read(&key, self.file_bytes).map_err(unread)?;
        let before = |stat: &Stat| self.seen.get(&key).map(|entry| entry.state).filter(|state| *state == unkept(stat));
        Ok(match found {
            // What is in a directory is looked at by itself.
            Found::Absent | Found::Dir => (State::Absent, None),
            Found::Other => return Err(refused("is neither a file nor a link")),
            Found::Unreadable(_, e) => return Err(unread(e)),
            Found::Big(stat) => (unkept(&stat), None),
            Found::Link { target, .. } => {
                (State::Link { oid: packs::hash(&target)?, size: target.len() as u64 }, Some(target))
            }
            Found::File { stat, bytes, .. } => {
                let now = || Ok(State::File { oid: packs::hash(&bytes)?, mode: stat.mode, size: bytes.len() as u64 });
                (before(&stat).map_or_else(now, Ok)?, Some(bytes))
            }
        })
    }
}

impl Snapshot {
    /// Those of these paths, below the root, that have to be looked at once more: of the others the system's numbers are
    /// what they were.
    pub(crate) fn differing<'a>(&self, paths: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
        let mut reader = Reader::new(self.root.path());
        let mut is_same = |key: &[u8]| {
            let known =
                self.seen.get(key).filter(|_| !self.unread.contains_key(key) && self.closed.around(key).is_none());
            known.is_some_and(|entry| reader.stat(key).is_ok_and(|stat| !entry.differs(stat.as_ref())))
        };
        paths.filter(|path| !is_same(walk::bytes(path))).cloned().collect()
    }

    /// What was kept shut at the last look by somebody who has been told of it by then, and may have let go.
    pub(crate) fn shut(&self) -> Vec<PathBuf> {
        let is_shut = |why: i32| io::Error::from_raw_os_error(why).kind() == io::ErrorKind::WouldBlock;
        let shut = self.unread.iter().filter(|(_, why)| is_shut(**why));
        shut.map(|(key, _)| walk::path(key).to_owned()).collect()
    }

    /// Whether a file that the last look has found new may have been the person's before the turn, where nobody looks.
    pub(crate) fn has_come(&self, path: &Path) -> bool {
        self.come.contains(walk::bytes(path))
    }

    /// Whether what is there now was made before the turn that runs, and comes from where nobody looks.
    pub(super) fn is_from_elsewhere(&self, key: &[u8], stat: &Stat) -> bool {
        let since = self.ignored.since(Time::default());
        walk::born(&self.root.path().join(walk::path(key))).is_some_and(|born| born < since)
            && !self.seen.values().any(|entry| entry.stat.ino == stat.ino)
    }

    /// Whether only that it can be read again is new of a path since the last look.
    pub fn is_opened(&self, path: &Path) -> bool {
        self.opened.contains_key(walk::bytes(path))
    }

    /// The same, and nobody has touched it or its rights meanwhile.
    pub(crate) fn is_opened_untouched(&self, path: &Path) -> bool {
        self.opened.get(walk::bytes(path)).is_some_and(|is_untouched| *is_untouched)
    }

    /// When what the last look has reported of `path` happened, by the clock of the files. What is gone was there at
    /// most until then.
    pub fn changed_at(&mut self, path: &Path) -> SystemTime {
        let path = self.moves.to(path).unwrap_or(path);
        walk::changed_at(self.root.path(), path, self.since).unwrap_or_else(|| self.clock.date(Instant::now()))
    }

    /// What is there and was changed at that time or later, as the last look has seen it.
    pub(crate) fn changed_since(&self, at: SystemTime) -> impl Iterator<Item = (PathBuf, State)> {
        let there = self.seen.iter().filter(|(_, entry)| !entry.state.is_absent());
        let since = there.filter(move |(_, entry)| walk::dated(entry.stat.ctime) >= at);
        since.map(|(key, entry)| (walk::path(key).to_owned(), entry.state))
    }

    /// Names of the file with that number, below the root.
    pub(crate) fn named(&self, inode: u64) -> Vec<PathBuf> {
        let names = self.seen.iter().filter(|(_, entry)| entry.stat.ino == inode && !entry.state.is_absent());
        names.map(|(key, _)| walk::path(key).to_owned()).collect()
    }

    /// What was ignored at the first look.
    pub(crate) fn fingerprints(&self) -> Fingerprints {
        Fingerprints::read(&self.dir, self.root.path())
    }

    /// Directories that nobody could look into at the first look and into which somebody may have come since, or that are
    /// gone; those that were ignored last.
    pub(crate) fn opened_since(&self) -> Vec<Opened> {
        let ignored = self.ignored.opened(self.root.path()).into_iter();
        let ignored = ignored.map(|dir| Opened { dir, until: self.ignored.began });
        let late = self.closed.late().iter();
        late.map(|(dir, until)| Opened { dir: dir.clone(), until: *until }).chain(ignored).collect()
    }

    /// Whether a file that was known at the last look may have come out of that directory.
    pub(crate) fn may_be_out_of(&self, path: &Path, opened: &Opened) -> bool {
        self.seen.get(walk::bytes(path)).is_none_or(|entry| entry.stat.touched() >= opened.until)
    }

    /// Whether a file has that content that was known at the last look, none of those that go.
    pub(crate) fn has_beside(&self, oid: Oid, goes: &dyn Fn(&Path) -> bool) -> bool {
        self.seen.iter().any(|(key, entry)| entry.state.oid() == Some(oid) && !goes(walk::path(key)))
    }

    /// What is not covered, in words: what is ignored, too large, unreadable, too much. Of paths whose earlier content
    /// `is_kept` it is not said that it is lost. `failed`: not every look has come to its end.
    pub fn uncovered_but(&self, is_kept: &dyn Fn(&Path) -> bool, failed: bool) -> Vec<Uncovered> {
        let mut dirs = Cow::Borrowed(&self.dirs);
        if dirs.is_empty() {
            dirs = Cow::Owned(self.seen.keys().flat_map(|key| walk::parents(key)).map(RelPath::from).collect());
        }
        let mut named: Vec<Uncovered> = self.objects.at_risk(&self.seen).into_iter().map(Uncovered::from).collect();
        named.extend(self.objects.left_out().map(Uncovered::from));
        named.extend(self.indexes.left_out().map(Uncovered::from));
        named.extend(self.indexes.otherwise(&self.dir, self.root()).map(Uncovered::from));
        let replaced = self.root.words();
        if self.root.is_lost() {
            // Of what stands in its place nothing is looked at.
            dirs = Cow::default();
        }
        named.extend(replaced.map(Uncovered::from));
        named.extend(coverage::uncovered(self, &dirs, failed));
        named.extend(self.gone(is_kept));
        named
    }

    /// What was ignored, or could not be looked into, when the session began and is gone, in words; but for what `is_kept`.
    pub(crate) fn gone(&self, is_kept: &dyn Fn(&Path) -> bool) -> Vec<Uncovered> {
        let is_kept = |key: &[u8]| is_kept(walk::path(key));
        let replaced = self.ignored.replaced(self.root(), &is_kept);
        let mut lines = coverage::gone(&self.ignored.gone(self.root(), &is_kept), &replaced);
        lines.extend(coverage::lost(&self.ignored.lost(self.root(), &is_kept)));
        let mut closed = self.ignored.touched(self.root());
        closed.extend(self.closed.late().keys().cloned());
        lines.extend(coverage::closed_at_first(&closed, self.root()));
        lines.extend(self.beyond.words_of_before(self.limits.files));
        lines
    }

    /// Whether a path below the root was there at the last look, or was ignored at the first one.
    pub(crate) fn was_there(&self, path: &Path) -> bool {
        let key = walk::bytes(path);
        self.ignored.had(key) || self.seen.get(key).is_some_and(|entry| !entry.state.is_absent())
    }

    /// Whether a file had that content at the last look.
    pub(crate) fn has_file_with(&self, oid: Oid) -> bool {
        self.seen.values().any(|entry| entry.state.oid() == Some(oid))
    }
}
