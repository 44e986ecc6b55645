//! A file that nobody else can open, for entries that have left memory.
//!
//! It has no name any more once it is open, so that nothing of it stays when the program ends, however that is. Knows
//! nothing of which entries leave. Invariant: a span that was given out is never written again.

use super::private::private_file;
use crate::model::entry::Entry;
use crate::model::history::{History, Span};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes that are written at most.
const FILE_LIMIT: u64 = 2 << 30;
/// Bytes that are handed to the system at once.
const BUFFER: usize = 64 << 10;

#[derive(Debug)]
pub struct HistoryFile {
    file: File,
    limit: u64,
}

/// Writes to the end of the file.
#[derive(Debug)]
struct End<'a> {
    file: &'a File,
    at: u64,
    limit: u64,
}

impl Write for End<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.at + bytes.len() as u64 > self.limit {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the transcript has become too large"));
        }
        let written = self.file.write_at(bytes, self.at)?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

    /// Writes entries from `end` on; says where each of them is and where the next may begin.
    pub fn write<'a>(&self, end: u64, entries: impl Iterator<Item = &'a Entry>) -> io::Result<(Vec<Span>, u64)> {
        let mut spans = Vec::new();
        let mut out = BufWriter::with_capacity(BUFFER, End { file: &self.file, at: end, limit: self.limit });
        let mut at = end;
        for entry in entries {
            serde_json::to_writer(&mut out, entry)?;
            let next = out.get_ref().at + out.buffer().len() as u64;
            let len = u32::try_from(next - at).map_err(io::Error::other)?;
            spans.push(Span { at, len });
            at = next;
        }
        out.flush()?;
        Ok((spans, at))
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
