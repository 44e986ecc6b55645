//! What is recorded of a review that a process still has open, and that may never be finished.
//!
//! Works on a copy of its records. Invariants: the review itself is not touched, and nothing of the workspace is looked
//! at, which may not answer.

use super::ReviewSession;
use crate::review::archive::GOING;
pub use crate::review::dir::trouble;
use crate::review::dir::{self, HEAD, LEDGER, SESSIONS, STORE, TROUBLE};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::ledger::{Ledger, Record};
use crate::review::snapshot::preserve::KEPT;
use crate::review::snapshot::repositories;
use crate::review::state::Oid;
use crate::store::private;
use std::fs;
use std::path::Path;

/// Contents are linked, records copied: the former never change.
const PACKS: &str = "objects/pack";
const RECORDS: &[&str] = &["manifest", "log", "objects/info/alternates", "root", repositories::FILE];

/// Opens a copy of the review in `dir`, which goes with it.
pub fn open(dir: &Path) -> Result<ReviewSession, ReviewError> {
    let home = dir.parent().unwrap_or(dir);
    // Under this name the next start removes what a crash leaves.
    let copy = tempfile::Builder::new().prefix(GOING).tempdir_in(home).map_err(|e| ReviewError::io(home, e))?;
    let fail = |e| ReviewError::io(dir, e);
    for name in [HEAD, SESSIONS, LEDGER, TROUBLE] {
        if_there(copied(&dir.join(name), &copy.path().join(name))).map_err(fail)?;
    }
    let (from, to) = (dir.join(STORE), copy.path().join(STORE));
    for below in [PACKS, "objects/info"] {
        fs::create_dir_all(to.join(below)).map_err(fail)?;
    }
    for name in RECORDS {
        if_there(copied(&from.join(name), &to.join(name))).map_err(fail)?;
    }
    link_all(&from.join(PACKS), &to.join(PACKS)).map_err(fail)?;
    // Packs and loose objects that are links to the person's.
    for entry in fs::read_dir(from.join(KEPT)).into_iter().flatten().flatten() {
        link_all(&entry.path(), &to.join(KEPT).join(entry.file_name())).map_err(fail)?;
    }
    dir::note_unfinished(copy.path());
    ReviewSession::open_copy(copy)
}

/// What the ledger alone says of the files that have changed, in words.
pub fn at_once(dir: &Path) -> Result<Vec<String>, ReviewError> {
    let (ledger, records) = ledger(dir)?;
    let mut log = ChangeLog::new(ledger);
    log.replay(records, |_| false);
    Ok(super::at_once(&log))
}

fn ledger(dir: &Path) -> Result<(Ledger, Vec<Record>), ReviewError> {
    let path = dir.join(LEDGER);
    // Opening one that is not there would make it.
    fs::metadata(&path).map_err(|e| ReviewError::io(&path, e))?;
    Ledger::open(&path)
}

/// What the record of a review says of some files, read without a look at anything else of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// Whether one of them was changed.
    pub has_any: bool,
    /// What is missing of the record, in words.
    pub damage: Option<String>,
}

/// Looks for changes of files: `is_one` says of a path below the root, and what it was before a change, whether it is
/// one of them.
pub fn glance(dir: &Path, is_one: impl Fn(&Path, Option<Oid>) -> bool) -> Result<Glance, ReviewError> {
    let (ledger, records) = ledger(dir)?;
    let has_any = records.iter().any(|record| match record {
        Record::Step { path, step, .. } => is_one(path, step.before.oid()),
        Record::Act(act) if act.merged.is_some() => act.files.iter().any(|f| is_one(&f.path, f.disk.0.oid())),
        _ => false,
    });
    Ok(Glance { has_any, damage: ledger.damage() })
}

/// Makes a directory with links to the files of another one; what is being written there is left out.
fn link_all(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if Path::new(&name).extension().is_none_or(|end| end == "pack" || end == "idx") {
            if_there(fs::hard_link(entry.path(), to.join(name)))?;
        }
    }
    Ok(())
}

/// What is no plain file of ours is no record, and nobody is waited for who would fill it.
fn copied(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut from = private::open(from)?;
    let mut to = private::open_as(private::private_file().write(true).create_new(true), to)?;
    std::io::copy(&mut from, &mut to).map(drop)
}

fn if_there(done: std::io::Result<()>) -> std::io::Result<()> {
    done.or_else(|e| if e.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(e) })
}
