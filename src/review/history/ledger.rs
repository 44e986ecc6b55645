//! The ledger on the disk: what was changed and decided, one JSON object a line, appended.
//!
//! Knows nothing of contents. Invariants: a decision is on the disk before any file is touched for it, so that after
//! a crash it can be told what was to happen; a torn last line is no line; any other that is missing, or is not what was
//! written, is noticed.

use super::json_path;
use super::pending_writes::PendingWrite;
use super::ran::Ran;
use crate::model::changes::{Cause, HunkId, ReviewAction, Scope, Target, Verdict};
use crate::review::error::ReviewError;
use crate::review::snapshot::packs::sha1;
use crate::review::state::{Oid, State};
use crate::store::private::{open, open_as, private_file, sync_data};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A line longer than this is not ours: a decision about as many files as are looked at, with long names.
pub(crate) const MAX_LINE: u64 = 512 << 20;

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
        #[serde(with = "json_path")]
        path: PathBuf,
        step: ChangeRecord,
        /// The accepted state after it.
        accepted: State,
        /// The run that wrote the file as well, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
    },
    /// The last step of a file did not come to be after all.
    Untaken {
        #[serde(with = "json_path")]
        path: PathBuf,
    },
    /// A step of a file, by its number, had an author after all, of whom the news came later.
    Accounted {
        #[serde(with = "json_path")]
        path: PathBuf,
        step: usize,
        by: Author,
    },
    /// A write through the client begins: whose it is is known, whenever the client is killed.
    Writes {
        #[serde(with = "json_path")]
        path: PathBuf,
        write: PendingWrite,
    },
    /// Writes of that content are over, with or without a step.
    WritesEnd { content: Oid, entry: Option<u64> },
    /// A command of this turn began before the look that precedes it was finished.
    CommandEarly { turn: u64 },
    /// The agent says in this turn what it does: a change without attribution may be the person's.
    Told { turn: u64 },
    /// A command began to run, or is over: a look that comes too late knows by it what it did.
    Ran(Ran),
    /// The end of this turn was told; a look follows, and then that it is over.
    Ending { turn: u64 },
    /// A directory could not be looked into from then on.
    Closed {
        #[serde(with = "json_path")]
        dir: PathBuf,
        by: ClosedBy,
    },
    /// A look has come into it again.
    Opened {
        #[serde(with = "json_path")]
        dir: PathBuf,
    },
    /// What was prepared under a name of ours to be put somewhere, could not be and could not be removed either; nothing once it
    /// is gone.
    Left {
        #[serde(with = "json_path")]
        path: PathBuf,
        state: State,
    },
    /// A decision, before it is carried out.
    Act(Decision),
    /// It has been carried out, for the files of these numbers.
    Done {
        act: u64,
        files: Vec<usize>,
        /// A crash came before all of it was done, so that the same is still to be done for the others.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
}

/// Whose doing it is that a directory cannot be looked into, and with that what is changed in it meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedBy {
    pub turn: u64,
    pub cause: Cause,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubt: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
}

/// Whose doing a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub turn: u64,
    pub cause: Cause,
    pub entry: u64,
}

/// One observed change of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRecord {
    pub turn: u64,
    pub cause: Cause,
    /// Without attribution, in a turn in which the agent did say what it does: it may be the person's, so that it is
    /// shown, and not taken back together with others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubt: bool,
    /// In doubt, since a command of the person's ran then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside_persons: bool,
    /// In doubt, since another run wrote the file then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside_run: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    /// A decision of the review made it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decided: bool,
    pub before: State,
    pub after: State,
}

impl ChangeRecord {
    /// One that is beyond doubt, and no decision.
    pub const fn new(turn: u64, cause: Cause, entry: Option<u64>, before: State, after: State) -> Self {
        let (doubt, beside_persons, beside_run, decided) = (false, false, false, false);
        Self { turn, cause, doubt, beside_persons, beside_run, entry, decided, before, after }
    }

    /// Whether it is taken for the agent's.
    pub const fn is_agents(&self) -> bool {
        !self.doubt && matches!(self.cause, Cause::Write | Cause::Tool | Cause::Command | Cause::Unknown)
    }

    /// Whether it is shown for a decision.
    pub const fn is_shown(&self) -> bool {
        matches!(self.cause, Cause::Write | Cause::Tool | Cause::Command | Cause::Unknown)
    }
}

/// What was asked for: of two decisions with the same key the later one goes on with the earlier when that was cut short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKey {
    /// Everything back to before this turn.
    Rewind { turn: u64 },
    Decide {
        scope: Scope,
        verdict: Verdict,
        /// Empty for all files.
        #[serde(with = "json_path")]
        path: PathBuf,
        /// All of the file without it.
        hunk: Option<HunkId>,
        /// All of the hunk without them.
        lines: Option<Range<usize>>,
    },
}

impl DecisionKey {
    /// Nothing for what is not done in parts: a text of the person's, an undo.
    pub fn of(action: &ReviewAction) -> Option<Self> {
        match action {
            ReviewAction::Rewind { turn } => Some(Self::Rewind { turn: *turn }),
            ReviewAction::Decide { scope, target, verdict } => {
                let (path, hunk, lines) = match target {
                    Target::All => (PathBuf::new(), None, None),
                    Target::File(path) => (path.clone(), None, None),
                    Target::Hunk(path, hunk) => (path.clone(), Some(*hunk), None),
                    Target::Lines(path, hunk, lines) => (path.clone(), Some(*hunk), Some(lines.clone())),
                };
                Some(Self::Decide { scope: *scope, verdict: *verdict, path, hunk, lines })
            }
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub id: u64,
    /// When it was written down, in milliseconds since 1970; nothing in what an earlier version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// For the person; nothing is decided by them.
    pub words: String,
    /// Nothing in what an earlier version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<DecisionKey>,
    /// The decision that this one takes back, or does again.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "flips")]
    pub toggles: Option<u64>,
    /// The decision that a crash has cut short, and that this one goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "goes_on")]
    pub continues: Option<u64>,
    /// Where the contents came from, when it is the merge of a worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedFrom>,
    pub files: Vec<FileDecision>,
}

/// The worktree that a merge was of, and the working tree that it came from; both absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedFrom {
    #[serde(with = "json_path::absolute")]
    pub tree: PathBuf,
    #[serde(with = "json_path::absolute")]
    pub origin: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDecision {
    #[serde(with = "json_path")]
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
    /// There may be part of a line behind the whole ones.
    torn: bool,
    /// Bytes of whole lines.
    len: u64,
    /// The number of the last line; 0 before the first that has one.
    number: u64,
    damage: Damage,
}

/// What is wrong with a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Damage {
    /// Lines that cannot be read, or are not what was written.
    unread: u64,
    /// Lines that are not there.
    missing: u64,
    /// It is shorter than it was, or is not there.
    short: bool,
}

impl Ledger {
    pub fn create(path: &Path) -> Result<Self, ReviewError> {
        let file =
            private_file().append(true).read(true).create_new(true).open(path).map_err(|e| ReviewError::io(path, e))?;
        Ok(Self::new(path, file))
    }

    fn new(path: &Path, file: File) -> Self {
        Self { path: path.to_owned(), file, fresh: false, torn: false, len: 0, number: 0, damage: Damage::default() }
    }

    /// Reads what is there and goes on behind it.
    pub fn open(path: &Path) -> Result<(Self, Vec<Record>), ReviewError> {
        let fail = |e| ReviewError::io(path, e);
        let is_gone = path.symlink_metadata().is_err();
        let mut file = open_as(private_file().append(true).read(true).create(true), path).map_err(fail)?;
        file.seek(SeekFrom::Start(0)).map_err(fail)?;
        let mut ledger = Self::new(path, file.try_clone().map_err(fail)?);
        ledger.damage.short = is_gone;
        let mut reader = BufReader::new(&mut file);
        let (mut records, mut line) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(fail)?;
            if read == 0 {
                break;
            }
            if !line.ends_with(b"\n") && reader.fill_buf().map_err(fail)?.is_empty() {
                // A crash came before its end; it goes when the next one comes: to read, no room on the disk is needed.
                ledger.torn = true;
                break;
            }
            ledger.len += read as u64;
            records.extend(ledger.read(&mut line));
        }
        Ok((ledger, records))
    }

    /// What has come into one that another process writes, behind so many bytes and on whole lines, and how many bytes there
    /// are then. Of more than `most` bytes it is what stands at the end, and what is damaged is left out.
    pub fn since(path: &Path, at: u64, most: u64) -> std::io::Result<(Vec<Record>, u64)> {
        let mut file = open(path)?;
        let len = file.metadata()?.len();
        let from = at.min(len).max(len.saturating_sub(most));
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(len - from).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(whole);
        let cut = usize::from(from > at);
        let lines = bytes.split_inclusive_mut(|byte| *byte == b'\n').skip(cut);
        let record = |line: &mut [u8]| match split(line) {
            Some((_, _, at)) => parse(line, at),
            None => serde_json::from_slice(line).ok(),
        };
        Ok((lines.filter_map(record).collect(), from + whole as u64))
    }

    /// One line; nothing when it is damaged.
    fn read(&mut self, line: &mut [u8]) -> Option<Record> {
        let record = match split(line) {
            Some((number, sum, at)) => {
                let is_whole = checksum(number, &line[at..]).is_ok_and(|is| is == sum) && number > self.number;
                let record = is_whole.then(|| parse(line, at)).flatten();
                if record.is_some() {
                    // One that could not be read is counted as such.
                    let between = (number - self.number - 1).saturating_sub(self.damage.unread);
                    self.damage.missing = self.damage.missing.max(between);
                    self.number = number;
                }
                record
            }
            // Versions before this one did not number them.
            None if self.number == 0 => serde_json::from_slice(line).ok(),
            None => None,
        };
        self.damage.unread += u64::from(record.is_none());
        record
    }

    /// There were once that many bytes.
    pub fn was_as_long_as(&mut self, bytes: u64) {
        self.damage.short |= self.len < bytes;
    }

    /// Bytes of whole lines.
    pub const fn bytes(&self) -> u64 {
        self.len
    }

    /// Why what it says may not be all, in words.
    pub fn damage(&self) -> Option<String> {
        let Damage { unread, missing, short } = self.damage;
        let lines =
            |n: u64, what: &str| (n > 0).then(|| format!("{n} {}{what}", if n == 1 { "line" } else { "lines" }));
        let end = (short && unread + missing == 0).then(|| "its end is missing".to_owned());
        let what = [lines(unread, " cannot be read"), lines(missing, " missing"), end];
        let what: Vec<String> = what.into_iter().flatten().collect();
        (!what.is_empty())
            .then(|| format!("the record of this session is damaged ({}): changes may be missing", what.join(", ")))
    }

    pub fn add(&mut self, record: &Record) -> Result<(), ReviewError> {
        self.add_all(std::slice::from_ref(record))
    }

    /// The same for many at once.
    pub fn add_all(&mut self, records: &[Record]) -> Result<(), ReviewError> {
        let (mut lines, mut number) = (Vec::new(), self.number);
        for record in records {
            number += 1;
            let fail = |e| ReviewError::io(&self.path, std::io::Error::other(e));
            let json = serde_json::to_vec(record).map_err(fail)?;
            // Behind its brace.
            let rest = json.get(1..).unwrap_or_default();
            let sum = checksum(number, rest)?;
            lines.extend_from_slice(format!("{{\"n\":{number},\"sum\":\"{sum:016x}\",").as_bytes());
            lines.extend_from_slice(rest);
            lines.push(b'\n');
            if lines.len() >= MAX_WRITE {
                self.write(&lines, number)?;
                lines.clear();
            }
        }
        if lines.is_empty() { Ok(()) } else { self.write(&lines, number) }
    }

    /// The same, and on the disk when it returns.
    pub fn add_now(&mut self, record: &Record) -> Result<(), ReviewError> {
        self.add(record)?;
        self.sync()
    }

    /// All of it is on the disk when it returns.
    pub fn sync(&mut self) -> Result<(), ReviewError> {
        if self.fresh {
            sync_data(&self.file).map_err(|e| ReviewError::io(&self.path, e))?;
            self.fresh = false;
        }
        Ok(())
    }

    /// `number` is that of the last of these lines.
    fn write(&mut self, bytes: &[u8], number: u64) -> Result<(), ReviewError> {
        self.fresh = true;
        let begun = if self.torn { self.file.set_len(self.len) } else { Ok(()) };
        // A line that there is no room for may be there in part.
        self.torn = true;
        begun.and_then(|()| self.file.write_all(bytes)).map_err(|e| ReviewError::io(&self.path, e))?;
        (self.torn, self.number) = (false, number);
        self.len += bytes.len() as u64;
        Ok(())
    }
}

/// The number and the sum that a line begins with, and where the rest of it is.
fn split(line: &[u8]) -> Option<(u64, u64, usize)> {
    let rest = line.strip_prefix(b"{\"n\":")?;
    let end = rest.iter().position(|byte| *byte == b',')?;
    let number = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
    let rest = rest[end..].strip_prefix(b",\"sum\":\"")?;
    let (sum, rest) = rest.split_at_checked(16)?;
    let sum = u64::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
    let rest = rest.strip_prefix(b"\",")?;
    Some((number, sum, line.len() - rest.len()))
}

/// The record of a line that goes on there without its brace.
fn parse(line: &mut [u8], at: usize) -> Option<Record> {
    let record = line.get_mut(at.checked_sub(1)?..)?;
    *record.first_mut()? = b'{';
    serde_json::from_slice(record).ok()
}

/// Tells whether a line is what was written.
fn checksum(number: u64, rest: &[u8]) -> Result<u64, ReviewError> {
    let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
    let sum = sha1(&[&number.to_le_bytes(), rest])?;
    Ok(sum.iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte)))
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
