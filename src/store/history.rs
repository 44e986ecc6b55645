//! A file without a name, which only this process can open, for entries that have left memory.
//!
//! It has no name any more once it is open, so that nothing of it stays when the program ends, however that is. Knows
//! nothing of which entries leave. Invariant: a span that was given out is never written again.

use super::private::private_file;
use crate::model::entries::size_of_entry;
use crate::model::entry::Entry;
use crate::model::history::{History, Span};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes that are written at most.
const FILE_LIMIT: u64 = 2 << 30;

#[derive(Debug)]
pub struct HistoryFile {
    file: File,
    limit: u64,
}

/// Entries as they are written, and where.
#[derive(Debug)]
pub struct Packed {
    at: u64,
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Packed {
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Where the next may begin.
    pub fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }
}

impl HistoryFile {
    /// Makes the file in a directory and takes its name away. `name` is one that no other process uses.
    pub fn create(dir: &Path, name: &str) -> io::Result<Self> {
        let path = dir.join(name);
        let file = private_file().read(true).write(true).create_new(true).open(&path)?;
        fs::remove_file(&path)?;
        Ok(Self { file, limit: FILE_LIMIT })
    }

    /// Makes entries ready to be written from `at` on. Touches no disk. An error when there would be too much in the file.
    pub fn pack<'a>(&self, at: u64, entries: impl Iterator<Item = &'a Entry>) -> io::Result<Packed> {
        let mut packed = Packed { at, bytes: Vec::new(), spans: Vec::new() };
        for entry in entries {
            let from = packed.end();
            packed.bytes.reserve(size_of_entry(&entry.body));
            serde_json::to_writer(&mut packed.bytes, entry)?;
            let len = u32::try_from(packed.end() - from).map_err(io::Error::other)?;
            packed.spans.push(Span { at: from, len });
            if packed.end() > self.limit {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the transcript has become too large"));
            }
        }
        Ok(packed)
    }

    /// Takes as long as the disk does.
    pub fn write(&self, packed: &Packed) -> io::Result<()> {
        self.file.write_all_at(&packed.bytes, packed.at)
    }
}

impl History for HistoryFile {
    fn read(&self, span: Span) -> Result<Entry, String> {
        let mut bytes = vec![0; span.len as usize];
        self.file.read_exact_at(&mut bytes, span.at).map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
