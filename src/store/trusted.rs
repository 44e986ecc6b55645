//! Files of projects that the person has trusted: each with what was in it then.
//!
//! Reads none of them. Invariant: a file is trusted as long as it has exactly this content.

use super::lock::Lock;
use super::private::{make_private_dir, open, open_as, private_file};
use super::replace::{Durability, Replacement};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Files that are remembered, and bytes in which they are.
const MAX_FILES: usize = 1000;
const MAX_BYTES: u64 = 8 << 20;

#[derive(Clone, Debug)]
pub struct Trusted {
    state: PathBuf,
    what: What,
}

/// What the files are that are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Servers that agents are given.
    Servers,
    /// Rules for agents.
    Rules,
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            Self::Servers => "mcp-trusted",
            Self::Rules => "rules-trusted",
        }
    }
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    file: PathBuf,
    sha256: String,
}

impl Trusted {
    pub fn new(state: PathBuf, what: What) -> Self {
        Self { state, what }
    }

    /// Where they are remembered.
    pub fn file(&self) -> PathBuf {
        self.state.join(self.what.name()).with_extension("jsonl")
    }

    /// Whether the person has trusted this file with this text.
    pub fn has(&self, file: &Path, text: &str) -> bool {
        self.read().contains(&entry(file, text))
    }

    pub fn add(&self, file: &Path, text: &str) -> io::Result<()> {
        make_private_dir(&self.state)?;
        let lock = self.file().with_extension("lock");
        let lock = open_as(private_file().write(true).create(true).truncate(false), &lock)?;
        let _lock = Lock::within(lock)?;
        let new = entry(file, text);
        let mut entries = self.read();
        entries.retain(|entry| entry.file != new.file);
        entries.push(new);
        let mut out = Replacement::of(&self.file())?;
        for entry in entries.iter().skip(entries.len().saturating_sub(MAX_FILES)) {
            out.write_all(serde_json::to_string(entry)?.as_bytes())?;
            out.write_all(b"\n")?;
        }
        out.finish(Durability::Whole)
    }

    /// What cannot be read is not trusted.
    fn read(&self) -> Vec<Entry> {
        let mut text = String::new();
        let read = open(&self.file()).map(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        if !read.is_ok_and(|read| read.is_ok()) {
            return Vec::new();
        }
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

fn entry(file: &Path, text: &str) -> Entry {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    Entry { file, sha256: sha256(text.as_bytes()) }
}

/// As people and programs write it.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_404_trust_is_bound_to_the_file_and_to_its_content() {
        let dir = tempfile::tempdir().unwrap();
        let (file, other) = (dir.path().join(".mcp.json"), dir.path().join("other.json"));
        let trusted = Trusted::new(dir.path().join("state"), What::Servers);
        assert!(!trusted.has(&file, "a"));
        trusted.add(&file, "a").unwrap();
        assert!(trusted.has(&file, "a"));
        assert!(!trusted.has(&file, "b") && !trusted.has(&other, "a"));
        trusted.add(&file, "b").unwrap();
        assert!(trusted.has(&file, "b") && !trusted.has(&file, "a"), "again when it changes");
        let rules = Trusted::new(dir.path().join("state"), What::Rules);
        assert!(!rules.has(&file, "b"), "for what it was trusted");
    }

    #[test]
    fn a_digest_is_written_as_others_write_it() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
