//! The audit log: hash-chained lines of decisions, and their verification.
//!
//! Knows nothing of what a line says but that it is a JSON object. Each line holds the hash of the line before it, and the
//! hash of the last one is the chain's head, in another directory. Invariants: files are only appended to, and are
//! readable by their owner alone; a line that was changed, removed or cut off is found, unless the head was changed with
//! it (the hashes have no key: they show damage and careless hands, not an owner who wants to deceive themselves).

use super::private::{make_private_dir, open, private_file};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{File, remove_file};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Below the state directory: the lines, and the heads of their chains.
const LINES: &str = "audit";
const HEADS: &str = "audit-ends";
const ENDING: &str = ".jsonl";
/// From so many bytes on a run goes on in a further file.
const MAX_PART: u64 = 16 << 20;
/// Bytes of a file that are read.
const MAX_READ: u64 = 4 * MAX_PART;
/// Bytes of a head.
const MAX_HEAD: u64 = 256;
/// How often a file is read again that grows meanwhile.
const LOOKS: usize = 5;

pub fn lines_dir(state: &Path) -> PathBuf {
    state.join(LINES)
}

/// The log of one run while it is written; its file is made with the first line.
#[derive(Debug)]
pub struct Chain {
    state: PathBuf,
    name: String,
    part: u32,
    max_part: u64,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    lines: File,
    head: File,
    bytes: u64,
    count: u64,
    last: String,
}

impl Chain {
    pub fn new(state: PathBuf, name: String) -> Self {
        Self { state, name, part: 1, max_part: MAX_PART, open: None }
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.open.as_ref().is_some_and(|open| open.bytes >= self.max_part) {
            self.part += 1;
            self.open = None;
        }
        let open = match &mut self.open {
            Some(open) => open,
            closed => closed.insert(Open::create(&self.state, &part_name(&self.name, self.part))?),
        };
        open.append(line)
    }
}

fn part_name(name: &str, part: u32) -> String {
    if part == 1 { name.to_owned() } else { format!("{name}-part{part}") }
}

impl Open {
    fn create(state: &Path, name: &str) -> io::Result<Self> {
        let (lines, heads) = (lines_dir(state), state.join(HEADS));
        make_private_dir(&lines)?;
        make_private_dir(&heads)?;
        let (lines, heads) = (lines.join(format!("{name}{ENDING}")), heads.join(name));
        let head = private_file().write(true).create_new(true).open(&heads)?;
        let begin = || {
            let file = private_file().append(true).create_new(true).open(&lines)?;
            let open = Self { lines: file, head, bytes: 0, count: 0, last: seed(name) };
            open.write_head(open.count, &open.last).inspect_err(|_| drop(remove_file(&lines)))?;
            Ok(open)
        };
        // It can be begun once more.
        begin().inspect_err(|_: &io::Error| drop(remove_file(&heads)))
    }

    /// The line first, then the head: a run that is killed in between leaves one line more than its head says. What could
    /// not be written whole is not there.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let mut chained = format!("{{\"prev\":\"{}\",", self.last).into_bytes();
        chained.extend_from_slice(line);
        let last = hash(&chained);
        chained.push(b'\n');
        let written = self.lines.write_all(&chained).and_then(|()| self.write_head(self.count + 1, &last));
        if let Err(error) = written {
            self.lines.set_len(self.bytes)?;
            return Err(error);
        }
        self.last = last;
        self.count += 1;
        self.bytes += chained.len() as u64;
        Ok(())
    }

    /// Always of one length, so that a write replaces the one before.
    fn write_head(&self, count: u64, last: &str) -> io::Result<()> {
        self.head.write_all_at(format!("{count:020} {last}\n").as_bytes(), 0)
    }
}

/// Takes whole lines only, each a JSON object with a member at least; one at a time, so that one that is refused can be
/// written once more.
impl Write for Chain {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        if let Some(line) = text.get(..end).and_then(|line| line.strip_prefix(b"{")) {
            self.append(line)?;
        }
        Ok(text.len().min(end + 1))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the first line holds in place of the hash of another one.
fn seed(name: &str) -> String {
    hash(name.as_bytes())
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A file of the log, and what is wrong with it.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    pub path: PathBuf,
    /// Lines from the beginning that are as they were written.
    pub lines: u64,
    pub fault: Option<Fault>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file cannot be read.
    Unread(String),
    /// There is a head and no file.
    NoFile,
    /// There is a file and no head.
    NoHead,
    /// What stands in this line is not what was written.
    Changed(u64),
    /// This line is as it was written, and does not follow from what stands before it.
    Behind(u64),
    /// This line does not follow from the one before, and no other follows from it.
    Line(u64),
    /// There are lines less than the head says.
    CutOff { expected: u64 },
    /// There are lines more than the head says.
    Added,
}

impl Fault {
    pub fn words(&self) -> String {
        match self {
            Self::Unread(why) => format!("it cannot be read: {why}"),
            Self::NoFile => "the file is missing".to_owned(),
            Self::NoHead => "the record of its last line is missing, so what was cut off cannot be seen".to_owned(),
            Self::Changed(_) => "this line was changed".to_owned(),
            Self::Behind(1) => "lines before this one were removed".to_owned(),
            Self::Behind(_) => "lines before this one were removed, or the one before it was changed".to_owned(),
            Self::Line(_) => "this line was changed, added or moved".to_owned(),
            Self::CutOff { expected } => format!("lines are missing at its end: {expected} were written"),
            Self::Added => "lines were added at its end".to_owned(),
        }
    }
}

/// Verifies every file that there is or that has a head.
pub fn verify(state: &Path) -> io::Result<Vec<Checked>> {
    let mut all: BTreeSet<String> = names(&lines_dir(state), ENDING)?.into_iter().collect();
    all.extend(names(&state.join(HEADS), "")?);
    Ok(all.into_iter().map(|name| checked(state, &name)).collect())
}

/// The files, the oldest first.
pub fn files(state: &Path) -> io::Result<Vec<PathBuf>> {
    let dir = lines_dir(state);
    Ok(names(&dir, ENDING)?.into_iter().map(|name| dir.join(format!("{name}{ENDING}"))).collect())
}

/// The whole lines of a file that are JSON objects.
pub fn records(file: &Path) -> io::Result<impl Iterator<Item = Value> + use<>> {
    let lines = BufReader::new(open(file)?.take(MAX_READ)).split(b'\n').map_while(Result::ok);
    Ok(lines.filter_map(|line| serde_json::from_slice(&line).ok()).filter(Value::is_object))
}

fn names(dir: &Path, ending: &str) -> io::Result<Vec<String>> {
    let entries = match dir.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let names = entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect();
    names.sort_unstable();
    Ok(names)
}

fn checked(state: &Path, name: &str) -> Checked {
    let path = lines_dir(state).join(format!("{name}{ENDING}"));
    let (mut lines, mut fault) = (0, None);
    for _ in 0..LOOKS {
        // Before the lines, of which a run that goes on writes more meanwhile.
        let head = read_head(&state.join(HEADS).join(name));
        lines = 0;
        fault = follow(&path, name, head.as_ref(), &mut lines).err();
        if fault != Some(Fault::Added) {
            break;
        }
    }
    Checked { path, lines, fault }
}

fn read_head(path: &Path) -> Option<(u64, String)> {
    let mut text = String::new();
    open(path).ok()?.take(MAX_HEAD).read_to_string(&mut text).ok()?;
    let (count, last) = text.trim_end().split_once(' ')?;
    Some((count.parse().ok()?, last.to_owned()))
}

fn follow(path: &Path, name: &str, head: Option<&(u64, String)>, count: &mut u64) -> Result<(), Fault> {
    let unread = |error: io::Error| Fault::Unread(error.to_string());
    let file = match open(path) {
        Ok(file) => file,
        // A run that was killed before its first line.
        Err(error) if error.kind() == io::ErrorKind::NotFound && head.is_some_and(|head| head.0 == 0) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Fault::NoFile),
        Err(error) => return Err(unread(error)),
    };
    let mut last = seed(name);
    let mut reader = BufReader::new(file.take(MAX_READ));
    while let Some(line) = Line::next(&mut reader).map_err(unread)? {
        let is_head = head.is_none_or(|head| head.0 != *count + 1 || head.1 == line.hash);
        if line.prev.is_none() || line.prev.as_ref() == Some(&last) && !is_head {
            return Err(Fault::Changed(*count + 1));
        }
        if line.prev.as_ref() != Some(&last) {
            return Err(unlinked(&line, head, count, &mut reader).map_err(unread)?);
        }
        last = line.hash;
        *count += 1;
    }
    match head {
        None => Err(Fault::NoHead),
        Some((expected, _)) if expected > count => Err(Fault::CutOff { expected: *expected }),
        // The run may have been killed between a line and its head.
        Some((expected, _)) if *count > expected + 1 => Err(Fault::Added),
        Some(_) => Ok(()),
    }
}

/// A line as it stands in a file.
struct Line {
    /// The hash that it holds, where it is whole.
    prev: Option<String>,
    hash: String,
}

impl Line {
    fn next(reader: &mut impl io::BufRead) -> io::Result<Option<Self>> {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let is_whole = line.pop() == Some(b'\n');
        let value: Option<Value> = serde_json::from_slice(&line).ok().filter(|_| is_whole);
        let prev = value.and_then(|value| value.get("prev")?.as_str().map(str::to_owned));
        Ok(Some(Self { prev, hash: hash(&line) }))
    }
}

/// What is wrong where a line does not hold the hash of the one before it: what follows shows whether it is as it was written,
/// and how many lines there are whether any was removed.
fn unlinked(
    line: &Line,
    head: Option<&(u64, String)>,
    count: &mut u64,
    rest: &mut impl io::BufRead,
) -> io::Result<Fault> {
    let at = *count + 1;
    let next = Line::next(rest)?;
    let mut lines = at + u64::from(next.is_some());
    while Line::next(rest)?.is_some() {
        lines += 1;
    }
    let written = match &next {
        Some(next) => next.prev.as_ref(),
        None => head.map(|(_, last)| last),
    };
    if written != Some(&line.hash) {
        return Ok(Fault::Line(at));
    }
    let is_complete = head.is_some_and(|(written, _)| lines >= *written);
    Ok(match count.checked_sub(1) {
        Some(before) if is_complete => {
            *count = before;
            Fault::Changed(at - 1)
        }
        _ => Fault::Behind(at),
    })
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
