//! Writing what was decided, file by file.
//!
//! Changes the workspace; what to write is decided elsewhere. Invariants: only what was decided about is replaced, also
//! when it is saved by another program in the middle of the write; names of one file stay names of one file where they
//! are decided alike.

mod many;
mod spelling;

pub(super) use self::many::Carried;

use super::expected::expected;
use super::shown;
use crate::base::human;
use crate::host::fs::{self, FsError, Inode, Put, Was};
use crate::review::error::{ReviewError, words};
use crate::review::history::contents::Contents;
use crate::review::history::ledger::FileDecision;
use crate::review::protocol::Watch;
use crate::review::snapshot::peek::Peek;
use crate::review::state::State;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

/// What is known while one decision is carried out.
#[derive(Default)]
pub struct Writing {
    /// What there is to say about a file, in words.
    remarks: BTreeMap<PathBuf, String>,
    /// Why files were not written, in words.
    failed: BTreeMap<PathBuf, String>,
    /// Of these, those that are still to be done: the system let them not be read or written, or what they were could not
    /// be read.
    unwritten: BTreeSet<PathBuf>,
    /// Contents with several names of which some were replaced: one of those, what it is now, and how many names are left.
    twins: HashMap<Inode, (PathBuf, State, u64)>,
    /// New names of displaced files that are the only copy.
    stay: Vec<PathBuf>,
    /// What was prepared and could not be removed again, by names of ours, and what it was to be.
    left: Vec<(PathBuf, State)>,
    /// Is told how far an action has come.
    watch: Option<Watch>,
}

impl Writing {
    /// Another decision is carried out from now on.
    pub fn begin(&mut self) {
        *self = Self { watch: self.watch.take(), ..Self::default() };
    }

    /// Who is told how far an action has come from now on, and can stop it.
    pub fn watched(&mut self, watch: Option<Watch>) {
        self.watch = watch;
    }

    pub fn remark(&self, path: &Path) -> Option<String> {
        self.failed.get(path).or_else(|| self.remarks.get(path)).cloned().or_else(|| self.apart(path))
    }

    /// What is still to be done.
    pub fn unwritten(&self) -> Vec<PathBuf> {
        self.unwritten.iter().cloned().collect()
    }

    /// Takes note of why a file was not tried.
    fn note(&mut self, path: &Path, why: String) {
        self.remarks.insert(path.to_owned(), why);
    }

    /// A file that has other names that are not part of the decision.
    fn apart(&self, path: &Path) -> Option<String> {
        let left = self.twins.values().find(|(first, ..)| first == path).map(|(.., left)| *left)?;
        (left > 0).then(|| format!("apart from {left} other {} of it", human::plural(left, "hard link")))
    }

    /// What could not be kept of files that were written, for the end of a sentence.
    pub fn lost(&self) -> String {
        let names = self.remarks.keys().chain(self.twins.values().map(|(path, ..)| path));
        let words = names.filter_map(|path| Some(format!("; {}: {}", shown(path), self.remark(path)?)));
        words.collect()
    }

    /// Puts a file into its new state, if it still has the old one.
    pub fn write(&mut self, file: &FileDecision, files: &mut Contents) -> Result<(), ReviewError> {
        let (before, after) = &file.disk;
        if before == after {
            return Ok(());
        }
        let bytes = content_to_be(file, files)?;
        let peek = files.snapshot.peeks();
        let written = replace(peek, file, &bytes, |what| self.put(peek, &file.path, before, after, what));
        self.written(file, written, files)
    }

    /// Takes note of what has become of a file.
    fn written(
        &mut self,
        file: &FileDecision,
        written: Result<fs::Done, Unwritten>,
        files: &mut Contents,
    ) -> Result<(), ReviewError> {
        match &written {
            Ok(done) if done.lost.is_empty() => {}
            Ok(done) => {
                self.remarks.insert(file.path.clone(), done.lost.join(", "));
                self.stay.extend(done.stays.clone());
            }
            Err(unwritten) => {
                self.failed.insert(file.path.clone(), unwritten.remark.clone());
                if !unwritten.error.is_final() || may_return(&unwritten.error, file, files) {
                    self.unwritten.insert(file.path.clone());
                }
                self.left.extend(unwritten.left.clone().map(|left| (left, file.disk.1)));
            }
        }
        written.map_err(|unwritten| unwritten.error)?;
        files.snapshot.set(&file.path, file.disk.1)
    }

    /// What is of no use any more and still there, each once.
    pub fn take_left(&mut self) -> Vec<(PathBuf, State)> {
        std::mem::take(&mut self.left)
    }

    /// What was displaced is the person's under its new name, and no change.
    pub fn note_displaced(&mut self, files: &mut Contents) -> Result<(), ReviewError> {
        let stay = std::mem::take(&mut self.stay);
        if !stay.is_empty() {
            files.snapshot.look(&stay)?;
        }
        Ok(())
    }

    /// As another name of a file that was just written, when it was one before; else by itself.
    fn put(
        &mut self,
        peek: Peek<'_>,
        path: &Path,
        before: &State,
        after: &State,
        what: &Put<'_>,
    ) -> Result<fs::Done, FsError> {
        let root = peek.root;
        let is_file = matches!(what, Put::File { .. });
        let inode = fs::inode(root, path).filter(|_| is_file && !peek.is_only(path));
        let twin = inode.and_then(|(inode, _)| self.twins.get_mut(&inode));
        if let Some((first, state, left)) = twin
            && state == after
        {
            let linked = expected(after, |is| expected(before, |was| fs::link(root, path, first, is, was)));
            match linked {
                Ok(()) => {
                    *left = left.saturating_sub(1);
                    return Ok(fs::Done::default());
                }
                Err(error @ (FsError::ChangedTwice { .. } | FsError::Left { .. })) => return Err(error),
                // By itself, then; that says so when it has changed.
                Err(_) => {}
            }
        }
        let done = over(peek, path, before, |was| fs::put(root, path, what, was))?;
        if let Some((inode, names)) = inode
            && names > 1
        {
            self.twins.entry(inode).or_insert_with(|| (path.to_owned(), *after, names - 1));
        }
        Ok(done)
    }
}

/// Whether what was not kept may only not be readable now.
fn may_return(error: &ReviewError, file: &FileDecision, files: &Contents) -> bool {
    let oid = file.disk.1.oid().filter(|_| matches!(error, ReviewError::NotKept(_)));
    oid.is_some_and(|oid| files.snapshot.objects.own.may_return(&oid))
}

/// Why a file was not written, and what there is to say about it.
struct Unwritten {
    error: ReviewError,
    remark: String,
    /// What was prepared for it, below the root, where it could not be removed again.
    left: Option<PathBuf>,
}

impl From<ReviewError> for Unwritten {
    fn from(error: ReviewError) -> Self {
        Self { remark: error.why(), error, left: None }
    }
}

impl Unwritten {
    fn leaving(path: &Path, left: &Path, source: &io::Error) -> Self {
        let left = left.file_name().map_or_else(|| path.to_owned(), |name| path.with_file_name(name));
        let stays = format!("what was prepared stays as {} and goes with the next look or undo that can", shown(&left));
        let source = io::Error::new(source.kind(), format!("{}; {stays}", words(source)));
        Self { left: Some(left), ..ReviewError::Unwritten { path: path.to_owned(), source }.into() }
    }
}

/// Puts a file into its new state, of which `bytes` are the content, if it still has the old one; `put` replaces only
/// that. What could not be kept of it, in words.
fn replace(
    peek: Peek<'_>,
    file: &FileDecision,
    bytes: &[u8],
    put: impl FnOnce(&Put<'_>) -> Result<fs::Done, FsError>,
) -> Result<fs::Done, Unwritten> {
    let (before, after) = &file.disk;
    let moved = || Unwritten::from(ReviewError::Moved(file.path.clone()));
    let disk = peek.peek(&file.path)?.0;
    if disk == *after {
        // Another program has done it.
        return Ok(fs::Done::default());
    }
    if disk != *before {
        return Err(moved());
    }
    let is_unkept = matches!(before, State::Unkept { .. });
    if is_unkept && after.is_absent() {
        // It may be the only copy of what was moved here.
        return Err(ReviewError::NotKept(file.path.clone()).into());
    }
    let what = match after {
        State::Absent => Put::Absent,
        State::File { mode, .. } => Put::File { bytes, mode: *mode },
        State::Link { .. } => Put::Link { target: bytes },
        State::Unkept { .. } => return Err(ReviewError::NotKept(file.path.clone()).into()),
    };
    // Compared once more right before and after it gets there: it may be saved at any time.
    let done = put(&what).map_err(|error| match error {
        FsError::Changed(_) => moved(),
        FsError::ChangedTwice { beside, .. } => {
            let why = format!("saved twice meanwhile, nothing was written; the first is in {}", beside.display());
            ReviewError::Conflict { path: file.path.clone(), why }.into()
        }
        FsError::IsDirectory(_) => {
            let why = "a directory is in its place; move it away and do this again".to_owned();
            ReviewError::Conflict { path: file.path.clone(), why }.into()
        }
        FsError::Os { source, .. } => ReviewError::Unwritten { path: file.path.clone(), source }.into(),
        FsError::Left { left, source, .. } => Unwritten::leaving(&file.path, &left, &source),
        error => ReviewError::Refused(error.to_string()).into(),
    });
    done.map(|mut done| {
        match &done.stays {
            Some(stays) => done.lost.push(format!("what was there is in {}", shown(stays))),
            None if is_unkept => done.lost.push("cannot be redone: what it was until now is not kept".to_owned()),
            None => {}
        }
        done
    })
}

/// Does `write` with what has to be there before, and whether that stays under another name.
fn over<T>(peek: Peek<'_>, path: &Path, before: &State, write: impl FnOnce(&Was<'_>) -> T) -> T {
    expected(before, |was| if peek.is_only(path) { write(&Was::Only(was)) } else { write(was) })
}

/// The same for a file that has no other name; threads may do it side by side.
fn replace_alone(peek: Peek<'_>, file: &FileDecision, bytes: &[u8]) -> Result<fs::Done, Unwritten> {
    replace(peek, file, bytes, |what| {
        over(peek, &file.path, &file.disk.0, |was| fs::put(peek.root, &file.path, what, was))
    })
}

/// Whether a file may have other names, so that [`replace_alone`] is not for it.
fn has_other_names(root: &Path, path: &Path) -> bool {
    fs::inode(root, path).is_some_and(|(_, names)| names > 1)
}

fn content_to_be(file: &FileDecision, files: &Contents) -> Result<Vec<u8>, ReviewError> {
    files.content(&file.disk.1).map_err(|e| e.of(&file.path))
}

#[cfg(test)]
#[path = "write_tests.rs"]
pub(crate) mod tests;
