//! Which of the paths that are new to us were there before.
//!
//! Judges by what the last walk has come past, by the times of a file, and after a restart by what was ignored earlier;
//! reads no content. Invariants: what may have been the person's before is never taken for a new file, which an undo
//! would remove; and after the first look only what was ignored all the time and has not been touched is passed over.

use super::capture::Job;
use super::closed::Closed;
use super::fingerprints::{self, read, write};
use super::manifest::Entries;
use super::survey::{Lost, Survey};
use crate::review::error::ReviewError;
use crate::review::state::State;
use crate::review::worktree::own_files::OwnFiles;
use crate::review::worktree::walk::{self, Budget, HIDDEN, Kind, OldRules, Reader, RelPath, Stat, Time, Walked};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

/// The names that were ignored at the first look, one after the other with a zero byte behind each; a slash stands before
/// those of files and links.
const FILE: &str = "ignored";
/// What was in those that are directories.
const INSIDE: &str = "ignored-inside";

/// What stays of a file that is only moved: its inode, its size, when it was written.
pub(crate) type Moved = (u64, u64, Time);

pub(crate) fn as_moved(stat: &Stat) -> Moved {
    (stat.ino, stat.size, stat.mtime)
}

/// What git's rules have hidden from the walks, by the uppermost names.
#[derive(Default)]
pub(crate) struct Ignored {
    /// From the first look; what has been there since before the session.
    first: BTreeSet<RelPath>,
    /// Of `first`, files and links.
    files: BTreeSet<RelPath>,
    /// Of `first`, those that every look has come past.
    lasting: BTreeSet<RelPath>,
    /// Of the last look; nothing when that is not known of all.
    last: Option<Arc<BTreeSet<RelPath>>>,
    /// How it was when the turn began that runs now.
    turn: Option<Turn>,
    /// What was in `first`.
    inside: Survey,
    /// When the first look began.
    pub(crate) began: Time,
}

impl Ignored {
    /// As it was written down in `dir`, the directory of a store.
    pub(crate) fn read(dir: &Path) -> Self {
        let Some((meta, text)) = read(&dir.join(FILE)) else { return Self::default() };
        let names = text.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let as_file = |name: &&[u8]| name.strip_prefix(b"/").map(RelPath::from);
        let files: BTreeSet<RelPath> = names.clone().filter_map(|name| as_file(&name)).collect();
        let first: BTreeSet<RelPath> = names.map(|name| as_file(&name).unwrap_or_else(|| name.into())).collect();
        let inside = read(&dir.join(INSIDE)).map(|(_, bytes)| Survey::of_bytes(&bytes)).unwrap_or_default();
        let began = Stat::of_meta(&meta).mtime;
        Self { lasting: first.clone(), first, files, inside, began, ..Self::default() }
    }

    /// Whether what was written down in `dir` is still there as it was written.
    pub(crate) fn is_whole(dir: &Path) -> bool {
        [FILE, INSIDE].iter().all(|name| read(&dir.join(name)).is_some()) && fingerprints::is_whole(dir)
    }

    /// Takes note of what a walk through the whole tree has come past.
    pub(crate) fn passed(&mut self, walked: &Walked, is_first: Option<First>) -> Result<(), ReviewError> {
        let is_all = !walked.cut && walked.hidden.len() <= HIDDEN;
        let names: BTreeSet<RelPath> = walked.hidden.iter().cloned().collect();
        if let Some(First { store, root, began, hidden, is_tracked }) = is_first {
            self.inside = Survey::new(root, names.iter(), began, &|key| hidden.has(key));
            write(&store.join(INSIDE), &self.inside.to_bytes())?;
            let mut reader = Reader::new(root);
            self.files = names.iter().filter(|name| is_file(&mut reader, name) == Some(true)).cloned().collect();
            let slash = |name: &RelPath| if self.files.contains(name) { &b"/"[..] } else { b"" };
            let text: Vec<u8> = names.iter().flat_map(|name| [slash(name), name, b"\0"].concat()).collect();
            write(&store.join(FILE), &text)?;
            let tops = names.iter().filter(|key| !hidden.has(key)).cloned();
            // What git tracks is kept whatever rules say.
            let files = tops.chain(self.inside.files()).filter(|key| !is_tracked(key));
            fingerprints::note(store, root, began, files)?;
            (self.first, self.lasting, self.began) = (names.clone(), names.clone(), began);
        } else {
            self.lasting.retain(|name| names.contains(name));
        }
        self.last = is_all.then(|| Arc::new(names));
        Ok(())
    }

    /// What the last look has come past, and what is in it now, was there before the turn that began then; nobody could look
    /// into `closed`, and `is_ours` is left out.
    pub(crate) fn turn_begins(
        &mut self,
        root: &Path,
        began: Time,
        closed: BTreeSet<RelPath>,
        is_ours: &dyn Fn(&[u8]) -> bool,
    ) {
        let turn = |names: Arc<BTreeSet<RelPath>>| {
            let inside = Survey::of_all(root, names.iter(), began, is_ours);
            Turn { began, names, inside, closed }
        };
        self.turn = self.last.clone().map(turn);
    }

    /// What is older, and was not seen, is not the doing of the turn that runs: it was ignored, or outside. Where none runs
    /// one may have just begun; `last` is when the look before that began.
    pub(crate) fn since(&self, last: Time) -> Time {
        self.turn.as_ref().map_or_else(|| self.began.max(last), |turn| turn.began)
    }

    /// No turn runs any more.
    pub(crate) fn turns_are_over(&mut self) {
        self.turn = None;
    }

    /// What was ignored at the first look and is not there any more, but for what `is_kept`.
    pub(crate) fn gone(&self, root: &Path, is_kept: &dyn Fn(&[u8]) -> bool) -> Vec<&RelPath> {
        let is_gone = |key: &&RelPath| root.join(walk::path(key)).symlink_metadata().is_err() && !is_kept(key);
        self.first.iter().filter(is_gone).collect()
    }

    /// What was a file or a link at the first look and ignored, and is something else now; but for what `is_kept`.
    pub(crate) fn replaced(&self, root: &Path, is_kept: &dyn Fn(&[u8]) -> bool) -> Vec<&RelPath> {
        let mut reader = Reader::new(root);
        let files = self.files.iter();
        files.filter(|key| is_file(&mut reader, key) == Some(false) && !is_kept(key)).collect()
    }

    /// What is gone of directories that were ignored at the first look and are there.
    pub(crate) fn lost(&self, root: &Path, is_kept: &dyn Fn(&[u8]) -> bool) -> BTreeMap<&RelPath, Lost> {
        self.inside.lost(root, is_kept)
    }

    /// Directories that were ignored at the first look and into which nobody could look, and that were touched since.
    pub(crate) fn touched(&self, root: &Path) -> BTreeSet<RelPath> {
        self.inside.touched(root)
    }

    /// Of those directories the ones into which somebody may have come since, and those that are gone.
    pub(crate) fn opened(&self, root: &Path) -> BTreeSet<RelPath> {
        self.inside.opened(root)
    }

    /// Whether the first look has come past that name.
    pub(crate) fn had(&self, key: &[u8]) -> bool {
        let below = RelPath::from([key, b"/"].concat());
        let has_below = || {
            self.first
                .range::<[u8], _>((Bound::Included(&*below), Bound::Unbounded))
                .next()
                .is_some_and(|name| name.starts_with(&below))
        };
        self.first.contains(key) || has_below()
    }

    /// Whether something was there at the first look that git's rules hid; nothing where nobody knows. There was more than
    /// could be looked at where it `was_cut`.
    fn had_hidden(&self, key: &[u8], was_cut: bool) -> Option<bool> {
        let is_all = self.began != Time::default() && self.first.len() <= HIDDEN && !was_cut;
        had(&self.first, &self.inside, key).filter(|had| *had || is_all)
    }

    /// Whether that directory was ignored at the first look and had files.
    pub(crate) fn had_files(&self, key: &[u8]) -> bool {
        self.inside.had_files(key)
    }

    /// The directories that were ignored at the first look and in which there was a `.git`.
    pub(crate) fn repositories(&self) -> impl Iterator<Item = &RelPath> {
        self.inside.repositories()
    }

    #[cfg(test)]
    pub(crate) fn names(&self) -> usize {
        self.inside.names()
    }
}

/// The uppermost of these names that a path has.
fn uppermost<'a>(names: &BTreeSet<RelPath>, key: &'a [u8]) -> Option<&'a [u8]> {
    walk::parents(key).filter(|dir| !dir.is_empty()).chain([key]).find(|name| names.contains(*name))
}

/// Whether something was there by the uppermost names and what was in them; nothing where nobody knows.
fn had(names: &BTreeSet<RelPath>, inside: &Survey, key: &[u8]) -> Option<bool> {
    match uppermost(names, key) {
        None => Some(false),
        Some(top) if top.len() == key.len() => Some(true),
        Some(top) => inside.had(top, key),
    }
}

/// Whether it is a file or a link; nothing where there is nothing, or nobody can tell.
fn is_file(reader: &mut Reader, key: &[u8]) -> Option<bool> {
    Some(matches!(reader.stat(key).ok()??.kind, Kind::File | Kind::Link))
}

/// What was ignored when a turn began: it is not the turn's.
struct Turn {
    /// By the clock of the files: what was there is older.
    began: Time,
    names: Arc<BTreeSet<RelPath>>,
    /// What was in them.
    inside: Survey,
    /// Directories that could not be looked into then.
    closed: BTreeSet<RelPath>,
}

/// What was ignored when a turn began and is gone: of a file that was written anew and moved nothing else is left.
#[derive(Default)]
struct Gone {
    /// Names of files, without directories; and these without what stands behind their last dot.
    names: HashSet<Vec<u8>>,
    /// Uppermost ignored names below which something is gone.
    tops: HashSet<RelPath>,
}

impl Gone {
    /// Of what may be one of the `new` files, since very much may be ignored. What was `seen` is kept.
    fn since<'a>(turn: &Turn, new: impl Iterator<Item = &'a [u8]>, seen: &Entries, reader: &mut Reader) -> Self {
        let mut wanted = Self::default();
        for key in new {
            wanted.add(turn, key);
        }
        let is_wanted = |key: &[u8]| wanted.may_be(turn, key) && !seen.contains_key(key);
        let mut all = turn.inside.gone(reader, &is_wanted);
        let tops = turn.names.iter().filter(|name| is_wanted(name));
        all.extend(tops.filter(|name| matches!(reader.stat(name), Ok(None))).cloned());
        let mut gone = Self::default();
        for key in &all {
            gone.add(turn, key);
        }
        gone
    }

    fn add(&mut self, turn: &Turn, key: &[u8]) {
        self.names.extend(alike(key));
        self.tops.extend(uppermost(&turn.names, key).map(RelPath::from));
    }

    /// Whether a new file may have what one of them had.
    fn may_be(&self, turn: &Turn, key: &[u8]) -> bool {
        alike(key).iter().any(|name| self.names.contains(name))
            || uppermost(&turn.names, key).is_some_and(|top| self.tops.contains(top))
    }
}

/// The name of a file, and the same without its extension.
fn alike(key: &[u8]) -> [Vec<u8>; 2] {
    let name = key.rsplit(|byte| *byte == b'/').next().unwrap_or(key);
    let dot = name.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0);
    [name.to_vec(), [name.get(..dot.unwrap_or(name.len())).unwrap_or(name), b"."].concat()]
}

/// What the first look knows.
pub(crate) struct First<'a> {
    pub store: &'a Path,
    pub root: &'a Path,
    pub began: Time,
    pub hidden: &'a OwnFiles,
    pub is_tracked: &'a dyn Fn(&[u8]) -> bool,
}

/// What is known of a path from before.
enum Standing {
    /// The last walk would have come past it, and has not.
    New,
    /// It was ignored, by a name of so many bytes; since the first look, or not.
    Hidden {
        lasting: bool,
        top: usize,
    },
    Unknown,
}

/// What it means that a path is new to us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum News {
    /// Nothing: it was there, as it is.
    Nothing,
    /// It is new, and of whoever is at work.
    New,
    /// It is new since the first look, and may have been there, or elsewhere, before whoever is at work began.
    HasCome,
    /// It was there before, or comes from where nobody looks; what it was is unknown.
    WasThere,
}

/// What a look knows of the one before it.
pub(crate) struct PriorLook<'a> {
    pub root: &'a Path,
    /// When the last look but one at everything began, by the clock of the files.
    pub last: Time,
    /// It was the first: everything was there.
    pub first: bool,
    pub ignored: &'a Ignored,
    /// Directories that the last walk has come past.
    pub dirs: &'a BTreeSet<RelPath>,
    /// Directories that could not be looked into then.
    pub closed: &'a Closed,
    /// Files of rules that may be others now, as they were.
    pub rules: &'a [(RelPath, State)],
    /// What one of them said, if it says something else now.
    pub old_text: &'a dyn Fn(&RelPath, &State) -> Option<Vec<u8>>,
    /// Everything that is known.
    pub seen: &'a Entries,
    /// Files that were found gone since.
    pub gone: &'a HashSet<Moved>,
    /// There is, or was, more than is looked at.
    pub was_cut: bool,
}

impl PriorLook<'_> {
    /// Says of which paths it is no news that they are there: of all at the first look; then of what was ignored all the
    /// time and has not been touched. What else was ignored then, and what is older than the session and comes from where
    /// no walk leads, is shown, and what it was before is not known. What is older than the turn alone and comes from there
    /// is new, and in doubt; so is what was made in the turn while an ignored file went whose content it may have. What else
    /// was made in the turn, or moved in the tree, is new.
    pub(crate) fn mark_known(&self, jobs: &mut [Job]) {
        let (mut judged, mut open) = (Vec::new(), BTreeMap::new());
        let mut reader = Reader::new(self.root);
        let new: Vec<RelPath> = jobs.iter().filter(|job| job.known.is_none()).map(|job| job.key.clone()).collect();
        let mut gone: Option<Gone> = None;
        for (at, job) in jobs.iter_mut().enumerate().filter(|(_, job)| job.known.is_none()) {
            job.silent |= self.first;
            let is_file = |stat: &Stat| matches!(stat.kind, Kind::File | Kind::Link);
            let Some(stat) = job.stat.filter(|stat| !self.first && !job.fresh && is_file(stat)) else { continue };
            let standing = self.standing(&job.key);
            let mut news = self.judge(&standing, job, &stat, &mut reader);
            if let (News::New, Some(turn)) = (news, &self.ignored.turn)
                && gone
                    .get_or_insert_with(|| Gone::since(turn, new.iter().map(|key| &**key), self.seen, &mut reader))
                    .may_be(turn, &job.key)
            {
                news = News::HasCome;
            }
            job.silent = news == News::Nothing;
            (job.was_there, job.has_come) = (news == News::WasThere, news == News::HasCome);
            if news == News::New && matches!(standing, Standing::Unknown) {
                open.insert(job.key.clone(), at);
            }
            // One that is older than the session has the number that it always had, however it was changed.
            let by_number = (stat.ino, 0, (0, 0));
            match standing {
                Standing::New => judged.push((at, by_number)),
                Standing::Hidden { .. } if self.was_free(&job.key) => judged.push((at, by_number)),
                // It may be an older name of the same file.
                Standing::Hidden { .. } => {}
                Standing::Unknown => judged.push((at, (stat.ino, stat.size, stat.mtime))),
            }
        }
        for at in self.were_ignored(open) {
            if let Some(job) = jobs.get_mut(at) {
                job.was_there = true;
            }
        }
        let is_old = |at: usize| jobs.get(at).is_some_and(|job| job.silent || job.was_there || job.has_come);
        let mut in_doubt: Vec<(usize, Moved)> = judged.into_iter().filter(|(at, _)| is_old(*at)).collect();
        for (at, job) in jobs.iter_mut().enumerate() {
            let (Some(entry), Some(stat)) = (job.known, job.stat) else { continue };
            // What is made anew may get the number of what it replaces.
            job.other = entry.state.is_absent()
                || entry.stat.ino != stat.ino
                || self.born_before(&job.key, after(entry.stat.ctime)) == Some(false);
            if job.other && self.born_before(&job.key, self.ignored.since(self.last)) == Some(true) {
                job.was_there = true;
                in_doubt.push((at, (stat.ino, 0, (0, 0))));
            }
        }
        let known = self.known(in_doubt.iter().map(|(_, moved)| *moved).collect());
        for (at, _) in in_doubt.iter().filter(|(_, moved)| known.contains(moved)) {
            if let Some(job) = jobs.get_mut(*at) {
                (job.silent, job.was_there, job.has_come) = (false, false, false);
            }
        }
    }

    /// What it means that this path is new to us.
    fn judge(&self, standing: &Standing, job: &Job, stat: &Stat, reader: &mut Reader) -> News {
        let unless = |is_unmoved: bool, news: News| if is_unmoved { News::Nothing } else { news };
        match standing {
            Standing::New if self.born_before(&job.key, self.ignored.began) == Some(true) => News::WasThere,
            Standing::New if self.born_before(&job.key, self.ignored.since(self.last)) == Some(true) => News::HasCome,
            Standing::New => News::New,
            Standing::Unknown if job.hidden => {
                let top = uppermost(&self.ignored.first, &job.key).map_or(job.key.len(), <[u8]>::len);
                unless(self.is_unmoved(&job.key, 0, stat, reader), self.of_hidden(&job.key, top, reader))
            }
            Standing::Hidden { lasting, top } => {
                let silent = (*lasting || job.hidden) && self.is_unmoved(&job.key, *top, stat, reader);
                unless(silent, self.of_hidden(&job.key, *top, reader))
            }
            // Many programs write a file anew: it is as young as they have left it.
            Standing::Unknown => {
                // What a directory had when it was last looked into is known.
                let last = self.closed.around(&job.key).map_or(Some(self.last), |dir| dir.open);
                let is_old = |last| self.born_before(&job.key, last).unwrap_or(true);
                if last.is_none_or(is_old) { News::WasThere } else { News::New }
            }
        }
    }

    /// What it means of a file that git's rules have hidden by the name of `top` bytes. A directory that was moved in leaves
    /// its files as they are, or they were written anew since.
    fn of_hidden(&self, key: &[u8], top: usize, reader: &mut Reader) -> News {
        let was_free = self.closed.around(key).is_none()
            && self.ignored.had_hidden(key, self.was_cut) == Some(false)
            && self.born_before(key, self.ignored.began) != Some(true);
        if !was_free {
            return News::WasThere;
        }
        let mut is_of_turn = self.is_of_turn(key);
        for dir in walk::parents(key).filter(|dir| !dir.is_empty() && dir.len() >= top) {
            let is_same =
                |turn: &Turn| reader.stat(dir).ok().flatten().is_some_and(|now| turn.inside.is_same_dir(dir, now.ino));
            if self.ignored.turn.as_ref().is_some_and(is_same) {
                continue;
            }
            let was_there = self.ignored.first.contains(dir) || self.ignored.inside.had_files(dir);
            if !was_there && self.born_before(dir, self.ignored.began) == Some(true) {
                return News::WasThere;
            }
            is_of_turn &=
                self.ignored.turn.as_ref().is_some_and(|turn| self.born_before(dir, turn.began) == Some(false));
        }
        if is_of_turn { News::New } else { News::HasCome }
    }

    /// Whether a file was made in the turn that runs, at a path where nothing was when that began.
    fn is_of_turn(&self, key: &[u8]) -> bool {
        let Some(turn) = &self.ignored.turn else { return false };
        self.was_free(key) && self.born_before(key, turn.began) == Some(false)
    }

    /// Whether it is known that nothing was at a path which git's rules hide, neither at the first look nor when the turn
    /// began that runs.
    fn was_free(&self, key: &[u8]) -> bool {
        let Some(turn) = &self.ignored.turn else { return false };
        let is_closed = walk::parents(key).chain([key]).any(|name| turn.closed.contains(name));
        !is_closed
            && self.closed.around(key).is_none()
            && self.ignored.had_hidden(key, self.was_cut) == Some(false)
            && had(&turn.names, &turn.inside, key) == Some(false)
    }

    /// Those of the files that rules which are others now may have hidden, and which nobody has come past therefore.
    fn were_ignored(&self, mut files: BTreeMap<RelPath, usize>) -> Vec<usize> {
        let (mut hidden, budget) = (Vec::new(), Budget::default());
        for (key, state) in self.rules {
            let dir = key.iter().rposition(|byte| *byte == b'/').map_or(&key[..0], |at| &key[..at]);
            let under = if dir.is_empty() { Vec::new() } else { [dir, b"/"].concat() };
            let from = files.range::<[u8], _>((Bound::Included(&under[..]), Bound::Unbounded));
            let mut below = from.take_while(|(key, _)| key.starts_with(&under)).map(|(key, _)| key).peekable();
            if below.peek().is_none() {
                continue;
            }
            // One at a time: what all of them are compiled to may be large.
            let Some(text) = (self.old_text)(key, state) else { continue };
            let rules = OldRules::of(dir, &text, &budget);
            let found: Vec<RelPath> = below.filter(|key| rules.may_hide(key)).cloned().collect();
            hidden.extend(found.iter().filter_map(|key| files.remove(key)));
        }
        hidden
    }

    fn standing(&self, key: &[u8]) -> Standing {
        let Some(last) = self.ignored.last.as_ref().filter(|_| !self.dirs.is_empty()) else { return Standing::Unknown };
        if self.closed.around(key).is_some() {
            return Standing::Unknown;
        }
        // The uppermost name that the last walk has not gone into.
        let ends = (0..key.len()).filter(|at| key[*at] == b'/').chain([key.len()]);
        let top = ends.map(|end| &key[..end]).find(|name| !self.dirs.contains(*name)).unwrap_or(key);
        if last.contains(top) {
            return Standing::Hidden { lasting: self.ignored.lasting.contains(top), top: top.len() };
        }
        Standing::New
    }

    /// Whether a file that git's rules hide has stood there untouched since the first look: it, and every directory
    /// above it from the name of `top` bytes on, unless that stood there when the turn began. One that is moved leaves the
    /// times of its files as they are, but not its own and not those of the directory that it comes into.
    fn is_unmoved(&self, key: &[u8], top: usize, stat: &Stat, reader: &mut Reader) -> bool {
        let since = if self.ignored.began == Time::default() { self.last } else { self.ignored.began };
        let mut dirs = walk::parents(key).filter(|dir| !dir.is_empty() && dir.len() >= top);
        let is_in_place = |dir: &[u8]| {
            let Some(now) = reader.stat(dir).ok().flatten() else { return false };
            let was_there = |turn: &Turn| turn.inside.is_same_dir(dir, now.ino);
            is_untouched(&now, since) || self.ignored.turn.as_ref().is_some_and(was_there)
        };
        is_untouched(stat, since) && dirs.all(is_in_place)
    }

    /// Nothing where the system does not know.
    fn born_before(&self, key: &[u8], time: Time) -> Option<bool> {
        walk::born(&self.root.join(walk::path(key))).map(|born| born < time)
    }

    /// Of files that have come, those that were moved from where they were seen, or are another name of a known file. A
    /// directory that is moved leaves the times of its files as they are.
    fn known(&self, come: HashSet<Moved>) -> HashSet<Moved> {
        if come.is_empty() {
            return come;
        }
        let known = self.seen.values().filter(|entry| !entry.state.is_absent()).map(|entry| as_moved(&entry.stat));
        let both = known.chain(self.gone.iter().copied()).flat_map(|moved| [moved, (moved.0, 0, (0, 0))]);
        both.filter(|moved| come.contains(moved)).collect()
    }
}

/// The moment right after.
fn after((secs, nanos): Time) -> Time {
    if nanos < 999_999_999 { (secs, nanos + 1) } else { (secs + 1, 0) }
}

/// Whether nothing of a file has changed since then.
fn is_untouched(stat: &Stat, since: Time) -> bool {
    // Some file systems know only seconds.
    if stat.ctime.1 == 0 { stat.ctime.0 < since.0 } else { stat.ctime < since }
}
