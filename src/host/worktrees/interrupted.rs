//! What a merge that was killed has left under names of ours, beside the files that it was writing.
//!
//! While a merge writes, a record beside the worktree says which trees it leads from and to; it goes with it. Invariant:
//! nothing is removed but what is named as ours, is its owner's, and holds what that merge was writing or replacing.

use super::differing::{checked_out, differences};
use super::trees::temporary;
use super::{MAX_RECORD, Origin, Outcome, VERSION, Worktree};
use crate::host::fs::{self as files, Put, Was};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Which trees the merge leads from and to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    v: u32,
    was: String,
    is: String,
}

impl Record {
    pub fn new(was: &str, is: &str) -> Self {
        Self { v: VERSION, was: was.to_owned(), is: is.to_owned() }
    }
}

/// A merge that is being carried out: its record is locked until it is over.
pub(super) struct Running {
    record: PathBuf,
    _lock: File,
}

pub(super) fn record_of(worktree: &Worktree) -> PathBuf {
    worktree.path.with_file_name(format!("{}.merge", worktree.name))
}

impl Running {
    /// Nothing where it cannot be written down: then the merge goes on without.
    pub fn begin(path: PathBuf, record: &Record) -> Option<Self> {
        let mut options = fs::OpenOptions::new();
        let mut file =
            files::open_regular_as(options.write(true).create(true).truncate(true).mode(0o600), &path).ok()?;
        file.try_lock().ok()?;
        file.write_all(serde_json::to_string(record).ok()?.as_bytes()).and_then(|()| file.sync_all()).ok()?;
        Some(Self { record: path, _lock: file })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A record of a merge that is over is looked at once and does no harm.
        let _ = fs::remove_file(&self.record);
    }
}

/// Takes away what a merge of this worktree has left that was killed. One that is being carried out is left alone.
pub fn sweep(worktree: &Worktree) -> Outcome<()> {
    let path = record_of(worktree);
    // Whoever can write here may have put something else there.
    let Ok(file) = files::open_regular(&path) else { return Ok(()) };
    if file.try_lock().is_err() {
        return Ok(());
    }
    let owner = file.metadata().map(|meta| meta.uid()).ok();
    let mut text = String::new();
    let read = (&file).take(MAX_RECORD).read_to_string(&mut text);
    let record: Option<Record> = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    let is_name = |name: &str| matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_own = |record: &Record| record.v == VERSION && is_name(&record.was) && is_name(&record.is);
    if let Some(Record { was, is, .. }) = record.filter(is_own) {
        let origin = Origin::of(&worktree.origin)?;
        if origin.top != worktree.origin {
            return Ok(());
        }
        let differing = differences(&origin.git, &was, &is)?;
        let temp = temporary()?;
        let [was_at, is_at] = ["was", "is"].map(|name| temp.path().join(name));
        let had = differing.iter().filter(|one| one.was.has_content()).map(|one| one.path.as_path());
        checked_out(&origin.git, &was, had, &was_at)?;
        let has = differing.iter().filter(|one| one.is.has_content()).map(|one| one.path.as_path());
        checked_out(&origin.git, &is, has, &is_at)?;
        let looked = Looked { top: origin.top, owner, was: was_at, is: is_at };
        let mut dirs: BTreeMap<&Path, BTreeSet<&OsStr>> = BTreeMap::new();
        for one in &differing {
            if let (Some(dir), Some(name)) = (one.path.parent(), one.path.file_name()) {
                dirs.entry(dir).or_default().insert(name);
            }
        }
        for (dir, names) in dirs {
            looked.sweep(dir, &names);
        }
    }
    let _ = fs::remove_file(&path);
    Ok(())
}

/// What both sides of a merge have, and whose files it wrote.
struct Looked {
    top: PathBuf,
    owner: Option<u32>,
    was: PathBuf,
    is: PathBuf,
}

impl Looked {
    fn sweep(&self, dir: &Path, names: &BTreeSet<&OsStr>) {
        let Ok(entries) = fs::read_dir(self.top.join(dir)) else { return };
        for name in entries.flatten().map(|entry| entry.file_name()) {
            if files::is_temporary(&name) {
                let begins = |there: &Content| {
                    names.iter().any(|of| content(&self.is.join(dir).join(of)).is_some_and(|is| is.begins_with(there)))
                };
                self.remove(dir, &name, begins);
            } else if files::is_swap(&name)
                && let Some(of) = names.iter().find(|of| files::may_be_of(&name, of))
            {
                let of = dir.join(of);
                let known = |there: &Content| {
                    [&self.was, &self.is].iter().any(|side| content(&side.join(&of)).as_ref() == Some(there))
                };
                if !self.remove(dir, &name, known) {
                    // It was saved in that moment: beside the file, everybody sees it.
                    let _ = files::bring_beside(&self.top, &of, &name);
                }
            }
        }
    }

    /// False: it is not what that merge was writing or replacing.
    fn remove(&self, dir: &Path, name: &OsStr, is_known: impl Fn(&Content) -> bool) -> bool {
        let path = dir.join(name);
        let Ok(meta) = self.top.join(&path).symlink_metadata() else { return true };
        let Some(found) = content(&self.top.join(&path)).filter(|_| Some(meta.uid()) == self.owner) else {
            return false;
        };
        if !is_known(&found) {
            return false;
        }
        let bytes = found.bytes;
        let is = |there: &[u8]| there == bytes;
        let was = if meta.is_symlink() {
            Was::Link { is: &is }
        } else {
            Was::File { mode: meta.permissions().mode() & 0o7777, size: bytes.len() as u64, is: &is }
        };
        // What has changed meanwhile stays.
        let _ = files::put(&self.top, &path, &Put::Absent, &was);
        true
    }
}

/// The bytes of a file, or the target of a link.
#[derive(PartialEq, Eq)]
struct Content {
    is_link: bool,
    bytes: Vec<u8>,
}

impl Content {
    /// A link is made as a whole.
    fn begins_with(&self, part: &Self) -> bool {
        self.is_link == part.is_link
            && if self.is_link { self.bytes == part.bytes } else { self.bytes.starts_with(&part.bytes) }
    }
}

/// Nothing of what is neither a file nor a link.
fn content(path: &Path) -> Option<Content> {
    let meta = path.symlink_metadata().ok()?;
    let is_link = meta.is_symlink();
    let bytes = if is_link {
        fs::read_link(path).ok()?.as_os_str().as_bytes().to_vec()
    } else if meta.is_file() {
        files::read_regular(path, u64::MAX).ok()?
    } else {
        return None;
    };
    Some(Content { is_link, bytes })
}
