//! The prompts of all sessions, in one file of the owner's: one JSON object a line, the newest last.
//!
//! Knows no session. Several windows write to it at once, each line in one piece under a lock. Invariants: the file is
//! bounded; a prompt that was sent before is listed once, where it was sent last; a line that cannot be read costs only
//! itself.

use super::lines;
use super::lock::Lock;
use super::private;
use super::replace::{Durability, Replacement};
use crate::model::draft::Sent;
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

/// Bytes of the file from which it is written anew, and what is kept then.
const MAX_FILE: u64 = 4 << 20;
const KEEP: usize = 2 << 20;
/// A longer prompt is not remembered.
const MAX_PROMPT: usize = 64 << 10;
/// Prompts that are listed.
const MAX_LISTED: usize = 2000;

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    cwd: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

#[derive(Debug)]
pub struct Prompts {
    dir: PathBuf,
}

impl Prompts {
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.join("prompts.jsonl")
    }

    /// Held for as long as the file is written: the file itself is replaced now and then.
    fn lock(&self) -> io::Result<Lock> {
        private::make_private_dir(&self.dir)?;
        let mut options = private::private_file();
        let file = lines::open_as(options.write(true).create(true), &self.dir.join("prompts.lock"))?;
        Lock::within(file)
    }

    pub fn remember(&self, sent: &Sent) -> io::Result<()> {
        if sent.text.len() > MAX_PROMPT || sent.text.trim().is_empty() {
            return Ok(());
        }
        let mut line = serde_json::to_string(&Line { cwd: (&*sent.cwd).into(), text: (&*sent.text).into() })?;
        line.push('\n');
        let _lock = self.lock()?;
        let mut file = lines::open_as(private::private_file().read(true).append(true).create(true), &self.file())?;
        let size = file.metadata()?.len();
        if size > 0 && !ends_well(&mut file, size)? {
            // A writer was stopped in the middle of a line.
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())?;
        if size + line.len() as u64 > MAX_FILE { self.shorten() } else { Ok(()) }
    }

    /// All of them, the newest first, each once.
    pub fn list(&self) -> io::Result<Vec<Sent>> {
        let mut found = VecDeque::new();
        let mut file = match lines::open(&self.file()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        // Another process may have made it longer than we do.
        let from = file.metadata()?.len().saturating_sub(2 * MAX_FILE);
        lines::each(&mut file, from, |line| {
            let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { return };
            found.push_front(Sent { cwd: line.cwd.into_owned(), text: line.text.as_ref().into() });
        })?;
        let mut seen = HashSet::new();
        found.retain(|sent| sent.text.len() <= MAX_PROMPT && seen.insert(sent.text.clone()));
        found.truncate(MAX_LISTED);
        Ok(found.into())
    }

    /// Forgets all but those that are kept.
    pub fn retain(&self, is_kept: impl Fn(&Sent) -> bool) -> io::Result<()> {
        if !self.file().exists() {
            return Ok(());
        }
        let _lock = self.lock()?;
        self.write(self.list()?.into_iter().filter(is_kept))
    }

    /// Writes the newest anew, each once. The lock is held.
    fn shorten(&self) -> io::Result<()> {
        self.write(self.list()?.into_iter())
    }

    fn write(&self, sent: impl Iterator<Item = Sent>) -> io::Result<()> {
        let mut room = KEEP;
        let mut kept = Vec::new();
        for sent in sent {
            let line = serde_json::to_string(&Line { cwd: (&*sent.cwd).into(), text: (&*sent.text).into() })?;
            let Some(left) = room.checked_sub(line.len() + 1) else { break };
            room = left;
            kept.push(line);
        }
        let mut file = Replacement::of(&self.file())?;
        for line in kept.iter().rev() {
            writeln!(file, "{line}")?;
        }
        file.flush()?;
        file.finish(Durability::Whole)
    }
}

fn ends_well(file: &mut File, size: u64) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::Start(size - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
