//! The ledger on the disk: what was changed and decided, one JSON object a line, appended.
//!
//! Knows nothing of contents. Invariants: a decision is on the disk before any file is touched for it, so that after
//! a crash it can be told what was to happen; a torn last line is no line.

use super::error::ReviewError;
use super::rel;
use super::state::State;
use crate::model::changes::Cause;
use crate::store::private::private_file;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// A line longer than this is not ours: a decision about as many files as are looked at, with long names.
pub(super) const MAX_LINE: u64 = 512 << 20;

/// Bytes after which lines that come together are written.
const MAX_WRITE: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A turn begins or has ended.
    Turn {
        turn: u64,
        begins: bool,
        /// Its prompt went out before the look that precedes it was finished.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        early: bool,
    },
    Step {
        #[serde(with = "rel")]
        path: PathBuf,
        step: Step,
        /// The accepted state after it.
        accepted: State,
    },
    /// A decision, before it is carried out.
    Act(Act),
    /// It has been carried out, for the files of these numbers.
    Done {
        act: u64,
        files: Vec<usize>,
        /// A crash came before all of it was done, so that the same is still to be done for the others.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
}

/// One observed change of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub turn: u64,
    pub cause: Cause,
    /// Nobody said who did it, in a turn in which the agent did say what it does: it may be the person's, so that it is
    /// shown, and not taken back together with others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubt: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    /// A decision of the review made it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decided: bool,
    pub before: State,
    pub after: State,
}

impl Step {
    /// Whether it is taken for the agent's.
    pub const fn is_agents(&self) -> bool {
        !self.doubt && matches!(self.cause, Cause::Write | Cause::Tool | Cause::Command | Cause::Unknown)
    }

    /// Whether it is shown for a decision.
    pub const fn is_shown(&self) -> bool {
        matches!(self.cause, Cause::Write | Cause::Tool | Cause::Command | Cause::Unknown)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    pub id: u64,
    pub words: String,
    /// The act that this one takes back, or does again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flips: Option<u64>,
    /// The act that a crash has cut short, and that this one goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<u64>,
    pub files: Vec<ActFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActFile {
    #[serde(with = "rel")]
    pub path: PathBuf,
    pub disk: (State, State),
    pub accepted: (State, State),
    /// The person has written it: it is theirs from now on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hand: bool,
}

pub struct Ledger {
    path: PathBuf,
    file: File,
    /// Something in it may not be on the disk yet.
    fresh: bool,
    /// The last line was cut short.
    torn: bool,
}

impl Ledger {
    pub fn create(path: &Path) -> Result<Self, ReviewError> {
        let file =
            private_file().append(true).read(true).create_new(true).open(path).map_err(|e| ReviewError::io(path, e))?;
        Ok(Self { path: path.to_owned(), file, fresh: false, torn: false })
    }

    /// Reads what is there and goes on behind it.
    pub fn open(path: &Path) -> Result<(Self, Vec<Record>), ReviewError> {
        let fail = |e| ReviewError::io(path, e);
        let mut file = private_file().append(true).read(true).create(true).open(path).map_err(fail)?;
        file.seek(SeekFrom::Start(0)).map_err(fail)?;
        let mut reader = BufReader::new(&mut file);
        let (mut records, mut line) = (Vec::new(), Vec::new());
        let mut whole = true;
        loop {
            line.clear();
            if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(fail)? == 0 {
                break;
            }
            whole = line.ends_with(b"\n");
            if let Ok(record) = serde_json::from_slice(&line) {
                records.push(record);
            }
        }
        // It is ended when the next one comes: to read, no room on the disk is needed.
        Ok((Self { path: path.to_owned(), file, fresh: false, torn: !whole }, records))
    }

    pub fn add(&mut self, record: &Record) -> Result<(), ReviewError> {
        self.add_all(std::slice::from_ref(record))
    }

    /// The same for many at once.
    pub fn add_all(&mut self, records: &[Record]) -> Result<(), ReviewError> {
        let mut lines = Vec::new();
        for record in records {
            let fail = |e| ReviewError::io(&self.path, std::io::Error::other(e));
            serde_json::to_writer(&mut lines, record).map_err(fail)?;
            lines.push(b'\n');
            if lines.len() >= MAX_WRITE {
                self.write(&lines)?;
                lines.clear();
            }
        }
        if lines.is_empty() { Ok(()) } else { self.write(&lines) }
    }

    /// The same, and on the disk when it returns.
    pub fn add_now(&mut self, record: &Record) -> Result<(), ReviewError> {
        self.add(record)?;
        self.sync()
    }

    /// All of it is on the disk when it returns.
    pub fn sync(&mut self) -> Result<(), ReviewError> {
        if self.fresh {
            self.file.sync_data().map_err(|e| ReviewError::io(&self.path, e))?;
            self.fresh = false;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ReviewError> {
        self.fresh = true;
        let begun = if self.torn { self.file.write_all(b"\n") } else { Ok(()) };
        // A line that there is no room for may be there in part.
        self.torn = true;
        begun.and_then(|()| self.file.write_all(bytes)).map_err(|e| ReviewError::io(&self.path, e))?;
        self.torn = false;
        Ok(())
    }
}
