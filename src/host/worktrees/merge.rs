//! What was changed in a worktree, back in the working tree that it came from.
//!
//! [`Merge::of`] computes and looks and writes no file; [`Merge::carry_out`] writes, file by file. Invariants: a file is
//! replaced only while it is what was looked at, and that is kept under a recovery ref before the first one is written;
//! a reader sees the old or the new file, also when this is stopped between two of them.

use super::differing::{Differs, Kind, checked_out, differences};
use super::interrupted::{self, Record, Running};
use super::trees::{Index, Snapshot, blobs, commit, halves, keep, line, temporary};
use super::{Origin, Outcome, Worktree, WorktreeError, refused, there};
use crate::host::fs::{self as files, FsError, Put, Was};
use crate::host::process::{Git, GitError};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The execute bits of a mode.
const EXECUTE: u32 = 0o111;

/// A merge that nothing was written of yet.
pub struct Merge {
    top: PathBuf,
    /// Removals first: a directory may come where a file was.
    pub changes: Vec<Change>,
    /// What is left alone, with the reason.
    left: Vec<(PathBuf, String)>,
    /// Holds what the working tree was before.
    pub recovery: Option<String>,
    /// Has the contents.
    temp: TempDir,
    /// What is written down while this is carried out, and where.
    pub(super) record: (PathBuf, Record),
}

/// A file that is to be written or removed.
pub struct Change {
    pub path: PathBuf,
    pub was: Thing,
    pub is: Thing,
}

/// What is at a path. The bytes of a file are in another one.
#[derive(Debug)]
pub enum Thing {
    Nothing,
    File { mode: u32, bytes: PathBuf },
    Link(Vec<u8>),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Written or removed.
    pub files: Vec<PathBuf>,
    /// Left alone, with the reason.
    pub left: Vec<(PathBuf, String)>,
    /// What could not be kept of the old file.
    pub remarks: Vec<(PathBuf, String)>,
    /// How many are still to be written since this was stopped.
    pub stopped: usize,
}

/// A file of a worktree before and after part of what was changed in it; nothing where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Below the worktree.
    pub path: PathBuf,
    pub was: Option<Side>,
    pub is: Option<Side>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    pub mode: u32,
    pub bytes: Vec<u8>,
}

impl Side {
    /// A tree in which this is at a path, and the rest is what the worktree began with.
    fn tree(side: Option<&Self>, git: &Git, worktree: &Worktree, path: &Path) -> Outcome<String> {
        let index = Index::of(git, &worktree.start)?;
        let entry = match side {
            Some(Self { mode, bytes }) => {
                let named =
                    [OsStr::new("hash-object"), "-w".as_ref(), "--stdin".as_ref(), "--path".as_ref(), path.as_ref()];
                let oid = git.fed(&named, bytes)?;
                line(if mode & 0o100 == 0 { "100644" } else { "100755" }, String::from_utf8_lossy(&oid).trim(), path)
            }
            // This takes a path out.
            None => line("0", &"0".repeat(worktree.start.len()), path),
        };
        index.put(&entry)?;
        commit(git, &index.tree()?, &[&worktree.start], &format!("Part of {}", worktree.name))
    }
}

impl Merge {
    /// Looks at both sides and computes what is to be written. What was there is kept under a ref when this is done.
    ///
    /// `only`: of this file alone, whose path is below the worktree.
    pub fn of(worktree: &Worktree, only: Option<&Path>) -> Outcome<Self> {
        let git = there(worktree)?;
        let Snapshot { tree, odd, .. } = Snapshot::without_odd(&git)?;
        let theirs = commit(&git, &tree, &[&worktree.start], &format!("What {} is", worktree.name))?;
        let mut merge = Self::between(worktree, [&worktree.start, &theirs], only)?;
        let odd = odd.into_iter().flatten().filter(|path| only.is_none_or(|only| only.starts_with(path)));
        merge.left.extend(odd.map(|path| (path, "git takes no file of this name".to_owned())));
        Ok(merge)
    }

    /// The same of part of a file.
    pub fn of_part(worktree: &Worktree, part: &Part) -> Outcome<Self> {
        let git = there(worktree)?;
        let was = Side::tree(part.was.as_ref(), &git, worktree, &part.path)?;
        let is = Side::tree(part.is.as_ref(), &git, worktree, &part.path)?;
        Self::between(worktree, [&was, &is], Some(&part.path))
    }

    /// Brings what differs between two commits to the files that the worktree came from.
    fn between(worktree: &Worktree, [base, theirs]: [&str; 2], only: Option<&Path>) -> Outcome<Self> {
        let origin = Origin::of(&worktree.origin)?;
        if origin.top != worktree.origin {
            return refused(format!("{} is no working tree of its own any more", worktree.origin.display()));
        }
        origin.unmerged()?;
        interrupted::sweep(worktree)?;
        let mut now = Snapshot::without_odd(&origin.git)?;
        let was = now.tree.clone();
        let words = format!("Before {} was merged", worktree.name);
        let ours = commit(&origin.git, &was, &[&origin.head], &words)?;
        let sides = [ours.as_str(), theirs];
        let Joined { tree, conflicts, ours } = joined(&origin.git, [base, &ours, theirs])?;
        let mut merge = Self {
            top: origin.top.clone(),
            changes: Vec::new(),
            left: Vec::new(),
            recovery: None,
            temp: temporary()?,
            record: (interrupted::record_of(worktree), Record::new(&was, &tree)),
        };
        let mut differing = differences(&origin.git, &was, &tree)?;
        // What was moved there to a place where it does not go together stays here under its old name.
        let goes = |one: &Differs| one.is == Kind::Nothing && ours.contains(&one.oid);
        let both: BTreeSet<PathBuf> = differing.iter().filter(|one| goes(one)).map(|one| one.path.clone()).collect();
        let both: BTreeSet<PathBuf> = both.into_iter().chain(conflicts).collect();
        let is_wanted = |path: &Path| only.is_none_or(|only| path == only);
        differing.retain(|one| !both.contains(&one.path) && is_wanted(&one.path));
        let both: BTreeSet<PathBuf> = both.into_iter().map(|path| meant(path, sides)).collect();
        let both = both.into_iter().filter(|path| is_wanted(path));
        merge.left.extend(both.map(|path| (path, "changed here, too, and in another way".to_owned())));
        let contents = merge.contents_of(&origin.git, &tree, &differing)?;
        for (number, one) in differing.into_iter().enumerate() {
            match merge.looked_at(&one, number, &contents) {
                Ok(change) => merge.changes.push(change),
                Err(why) => merge.left.push((one.path, why)),
            }
        }
        now.look()?;
        let meanwhile: BTreeSet<PathBuf> =
            differences(&origin.git, &was, &now.tree)?.into_iter().map(|one| one.path).collect();
        merge.leave(|change| meanwhile.contains(&change.path).then(changed_meanwhile));
        merge.make_way();
        merge.changes.sort_by(|a, b| (a.is.is_something(), &a.path).cmp(&(b.is.is_something(), &b.path)));
        merge.left.sort();
        if !merge.changes.is_empty() {
            merge.recovery = Some(merge.keep(&origin, worktree, &was, &words)?);
        }
        Ok(merge)
    }

    /// What is to come to each path, as a checkout would write it.
    fn contents_of(&self, git: &Git, tree: &str, differing: &[Differs]) -> Outcome<PathBuf> {
        let place = self.temp.path().join("new");
        let wanted = differing.iter().filter(|one| one.is.has_content());
        checked_out(git, tree, wanted.map(|one| one.path.as_path()), &place)?;
        Ok(place)
    }

    /// A change, with what is at its path now; or why it is left alone.
    fn looked_at(&self, one: &Differs, number: usize, contents: &Path) -> Result<Change, String> {
        if one.was == Kind::Repository || one.is == Kind::Repository {
            return Err("a repository of its own, which is not merged".to_owned());
        }
        let was = thing_at(&self.top, &one.path, Some(&self.temp.path().join(format!("was{number}"))))?;
        let kind = match was {
            Thing::Nothing => Kind::Nothing,
            Thing::File { .. } => Kind::File,
            Thing::Link(_) => Kind::Link,
        };
        if kind != one.was {
            let is_ignored = one.was == Kind::Nothing;
            return Err(if is_ignored { "there already, and ignored by git".to_owned() } else { changed_meanwhile() });
        }
        let mut is = match one.is {
            Kind::Nothing => Thing::Nothing,
            _ => thing_at(contents, &one.path, None)?,
        };
        if let (Thing::File { mode: old, .. }, Thing::File { mode, .. }) = (&was, &mut is) {
            // As it is; users that may read it may execute it.
            let execute = if *mode & EXECUTE == 0 { 0 } else { (old & 0o444) >> 2 };
            *mode = if one.mode { old & !EXECUTE | execute } else { *old };
        }
        Ok(Change { path: one.path.clone(), was, is })
    }

    /// Leaves those alone for which there is a reason.
    fn leave(&mut self, reason: impl Fn(&Change) -> Option<String>) {
        let left = &mut self.left;
        self.changes.retain(|change| match reason(change) {
            None => true,
            Some(why) => {
                left.push((change.path.clone(), why));
                false
            }
        });
    }

    /// What stays where a directory has to be, or a file, leaves no room.
    fn make_way(&mut self) {
        let goes = |change: &&Change| matches!(change.is, Thing::Nothing);
        let going: BTreeSet<PathBuf> = self.changes.iter().filter(goes).map(|change| change.path.clone()).collect();
        let top = self.top.clone();
        self.leave(|change| {
            if !change.is.is_something() {
                return None;
            }
            for dir in parents(&change.path).filter(|dir| !going.contains(*dir)) {
                if let Ok(meta) = top.join(dir).symlink_metadata()
                    && !meta.is_dir()
                {
                    let what = if meta.is_symlink() { "a symbolic link" } else { "no directory" };
                    return Some(format!("below {}, which is {what} here", dir.display()));
                }
            }
            stays_below(&top, &change.path, &going)
                .map(|file| format!("a directory here, which has {}", file.display()))
        });
    }

    /// Keeps what git would commit now, and of what is to be replaced the very bytes.
    fn keep(&self, origin: &Origin, worktree: &Worktree, was: &str, words: &str) -> Outcome<String> {
        let git = &origin.git;
        let (mut paths, mut copies) = (Vec::new(), Vec::new());
        for change in &self.changes {
            if let Thing::File { mode, bytes } = &change.was {
                paths.push((&change.path, if mode & 0o100 == 0 { "100644" } else { "100755" }));
                copies.push(bytes.clone());
            }
        }
        let oids = blobs(git, &copies, true)?;
        let index = Index::of(git, was)?;
        let lines = paths.iter().zip(&oids).flat_map(|((path, mode), oid)| line(mode, oid, path));
        index.put(&lines.collect::<Vec<u8>>())?;
        let kept = commit(git, &index.tree()?, &[&origin.head], words)?;
        keep(git, &worktree.name, &kept)
    }

    /// Writes one file after the other for as long as `go_on` says so, which is told how many are done, and of how many.
    pub fn carry_out(self, mut go_on: impl FnMut(usize, usize) -> bool) -> Merged {
        let of = self.changes.len();
        let (record, trees) = &self.record;
        let _running = (of > 0).then(|| Running::begin(record.clone(), trees));
        let mut merged = Merged { left: self.left, ..Merged::default() };
        for (done, change) in self.changes.iter().enumerate() {
            if !go_on(done, of) {
                merged.stopped = of - done;
                break;
            }
            match change.carry_out(&self.top) {
                Ok(lost) => {
                    merged.files.push(change.path.clone());
                    merged.remarks.extend((!lost.is_empty()).then(|| (change.path.clone(), lost.join(", "))));
                }
                Err(why) => merged.left.push((change.path.clone(), why)),
            }
        }
        merged.files.sort();
        merged.left.sort();
        merged
    }
}

impl Thing {
    const fn is_something(&self) -> bool {
        !matches!(self, Self::Nothing)
    }
}

impl Change {
    /// What could not be kept of the old file; or why it was not written.
    fn carry_out(&self, top: &Path) -> Result<Vec<String>, String> {
        let read = |path: &Path| {
            files::read_regular(path, u64::MAX).map_err(|error| format!("its content cannot be read: {error}"))
        };
        let old = if let Thing::File { bytes, .. } = &self.was { read(bytes)? } else { Vec::new() };
        let new = if let Thing::File { bytes, .. } = &self.is { read(bytes)? } else { Vec::new() };
        let is_old = |there: &[u8]| match &self.was {
            Thing::Link(target) => there == target,
            _ => there == old,
        };
        let was = match &self.was {
            Thing::Nothing => Was::Absent,
            Thing::File { mode, .. } => Was::File { mode: *mode, size: old.len() as u64, is: &is_old },
            Thing::Link(_) => Was::Link { is: &is_old },
        };
        let what = match &self.is {
            Thing::Nothing => Put::Absent,
            Thing::File { mode, .. } => Put::File { bytes: &new, mode: *mode },
            Thing::Link(target) => Put::Link { target },
        };
        let done = files::put(top, &self.path, &what, &was).map_err(|error| match error {
            FsError::Changed(_) => changed_meanwhile(),
            other => other.to_string(),
        })?;
        if !self.is.is_something() {
            // The first that has something in it stays, and those around it.
            let _ = parents(&self.path).map(|dir| fs::remove_dir(top.join(dir))).find(Result::is_err);
        }
        Ok(done.lost)
    }
}

/// The directories on the way to a path, the innermost first.
fn parents(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty())
}

/// What is at a path: nothing, where a link is on the way. The bytes of a file are copied where a copy is wanted.
fn thing_at(root: &Path, path: &Path, copy: Option<&Path>) -> Result<Thing, String> {
    let is_link = |dir: &Path| root.join(dir).symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    if parents(path).any(is_link) {
        return Ok(Thing::Nothing);
    }
    let whole = root.join(path);
    let Ok(meta) = whole.symlink_metadata() else { return Ok(Thing::Nothing) };
    if meta.is_symlink() {
        let target = fs::read_link(&whole).map_err(|error| error.to_string())?;
        return Ok(Thing::Link(target.as_os_str().as_bytes().to_vec()));
    }
    if meta.is_dir() {
        return Ok(Thing::Nothing);
    }
    if !meta.is_file() {
        return Err("no file, but something else".to_owned());
    }
    let mode = meta.permissions().mode() & 0o7777;
    let Some(copy) = copy else { return Ok(Thing::File { mode, bytes: whole }) };
    let copied = files::open_regular(&whole).and_then(|mut file| io::copy(&mut file, &mut fs::File::create(copy)?));
    copied.map_err(|error| error.to_string())?;
    Ok(Thing::File { mode, bytes: copy.to_owned() })
}

fn changed_meanwhile() -> String {
    "saved meanwhile, and stays as it was saved".to_owned()
}

/// A file below a directory that stays there.
fn stays_below(top: &Path, dir: &Path, going: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let mut open = vec![dir.to_owned()];
    if !top.join(dir).symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return None;
    }
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs::read_dir(top.join(&dir)) else { return Some(dir) };
        for entry in entries.flatten() {
            let path = dir.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if !going.contains(&path) {
                return Some(path);
            }
        }
    }
    None
}

/// The path that is meant where git has given a name of its own to what one side has in the place of the other's
/// directory: that has the side behind it.
fn meant(path: PathBuf, sides: [&str; 2]) -> PathBuf {
    let name = path.as_os_str().as_bytes();
    let Some(at) = name.iter().rposition(|byte| *byte == b'~') else { return path };
    let (own, side) = name.split_at(at);
    let is_side = |of: &&str| {
        let rest = side.get(1..).and_then(|side| side.strip_prefix(of.as_bytes()));
        rest.is_some_and(|rest| rest.iter().all(|byte| *byte == b'_' || byte.is_ascii_digit()))
    };
    if sides.iter().any(is_side) { PathBuf::from(OsStr::from_bytes(own)) } else { path }
}

/// What git makes of two sides.
struct Joined {
    /// With what goes together.
    tree: String,
    /// Where they do not.
    conflicts: BTreeSet<PathBuf>,
    /// Names of our contents there.
    ours: BTreeSet<String>,
}

fn joined(git: &Git, [base, ours, theirs]: [&str; 3]) -> Outcome<Joined> {
    let base = format!("--merge-base={base}");
    let args = ["merge-tree", "--write-tree", "--no-messages", "-z", &base, ours, theirs];
    let (_, merged) = git.asked(&args).map_err(|error| match error {
        GitError::Said(words) if words.contains("unknown option") || words.contains("usage:") => {
            WorktreeError::Refused("merging needs git 2.40 or newer".to_owned())
        }
        other => other.into(),
    })?;
    let mut parts = merged.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    let tree = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let mut joined = Joined { tree, conflicts: BTreeSet::new(), ours: BTreeSet::new() };
    for part in parts {
        let Some((head, path)) = halves(part) else { return refused("git lists conflicts in an unknown way") };
        let mut words = head.split(' ').skip(1);
        if let (Some(oid), Some("2")) = (words.next(), words.next()) {
            joined.ours.insert(oid.to_owned());
        }
        joined.conflicts.insert(path);
    }
    Ok(joined)
}
