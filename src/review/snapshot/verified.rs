//! What looks of earlier sessions have found true: which files of a directory, by their numbers, had which content.
//!
//! The first look takes from git's index what need not be read. An index can be forged, and is believed only in what is
//! on record here: an agent that writes into it does not decide what the next session takes for the state before. Knows
//! nothing of indexes. Invariant: without a record, or with one that is not whole or is about another directory, nothing
//! is true; all files of a directory are read once.

use super::manifest::Entries;
use crate::base::digest::digest;
use crate::review::state::{Oid, State};
use crate::review::worktree::walk::{self, RelPath, Stat};
use crate::store::private::{make_private_dir, open};
use crate::store::replace::{Durability, Replacement};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use tracing::warn;

const HEADER: &[u8] = b"acp-tui verified 1\n";
/// Bytes of the sum of one file, and of the whole record.
const ONE: usize = 16;
const ALL: usize = 32;
const MAX_FILE: u64 = 64 << 20;
/// Directories that have a record; the one that was written longest ago goes.
const RECORDS: usize = 256;
type Sum = [u8; ONE];

#[derive(Debug)]
pub(crate) struct Verified {
    file: PathBuf,
    root: PathBuf,
    /// Sorted.
    known: Vec<Sum>,
}

impl Verified {
    /// The record of the tree at `root`, below `dir`, the directory of all records.
    pub(crate) fn read(dir: &Path, root: &Path) -> Self {
        let file = dir.join(format!("{:016x}", digest(&[walk::bytes(root)])));
        let known = bytes_of(&file).ok().and_then(|bytes| sums(&bytes, root)).unwrap_or_default();
        Self { file, root: root.to_owned(), known }
    }

    /// Whether a file with these numbers had this content.
    pub(crate) fn has(&self, key: &RelPath, stat: &Stat, oid: Oid) -> bool {
        self.known.binary_search(&sum(key, stat, oid)).is_ok()
    }

    /// Puts down what a look has seen: the first of a session, or one that finds the record gone. Of what only we have
    /// (`is_ours`) git's index says something that no store of git's has: that is read in each session. That the record
    /// cannot be written costs later sessions time alone.
    pub(crate) fn note(&self, seen: &Entries, first: bool, is_ours: &dyn Fn(&Oid) -> bool) {
        if (first || !self.is_written())
            && let Err(error) = self.write(seen, is_ours)
        {
            warn!(%error, "what was found true of the index cannot be put down");
        }
    }

    fn is_written(&self) -> bool {
        self.file.symlink_metadata().is_ok()
    }

    /// A file that may have changed without a trace in its numbers is not among what is written.
    fn write(&self, seen: &Entries, is_ours: &dyn Fn(&Oid) -> bool) -> io::Result<()> {
        let sure = seen.iter().filter(|(_, entry)| !entry.racy && !entry.unreadable);
        let mut sums: Vec<Sum> = sure
            .filter_map(|(key, entry)| match entry.state {
                State::File { oid, .. } | State::Link { oid, .. } if !is_ours(&oid) => Some(sum(key, &entry.stat, oid)),
                _ => None,
            })
            .collect();
        sums.sort_unstable();
        if self.known == sums && self.is_written() {
            return Ok(());
        }
        let dir = self.file.parent().ok_or(io::ErrorKind::InvalidInput)?;
        make_private_dir(dir)?;
        make_room(dir)?;
        let mut bytes = [HEADER, walk::bytes(&self.root), b"\0"].concat();
        bytes.extend(sums.iter().flatten());
        let all = Sha256::digest(&bytes);
        let mut file = Replacement::of(&self.file)?;
        file.write_all(&bytes)?;
        file.write_all(&all)?;
        file.finish(Durability::Whole)
    }
}

fn bytes_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(file)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What a record says of `root`, when it is whole.
fn sums(bytes: &[u8], root: &Path) -> Option<Vec<Sum>> {
    let (body, all) = bytes.split_at_checked(bytes.len().checked_sub(ALL)?)?;
    if *Sha256::digest(body) != *all {
        return None;
    }
    let sums = body.strip_prefix(HEADER)?.strip_prefix(walk::bytes(root))?.strip_prefix(b"\0")?;
    let (sums, rest) = sums.as_chunks::<ONE>();
    rest.is_empty().then(|| sums.to_vec())
}

fn sum(key: &RelPath, stat: &Stat, oid: Oid) -> Sum {
    let mut hash = Sha256::new();
    let kind = u8::from(stat.kind == walk::Kind::Link);
    hash.update([kind]);
    hash.update(oid.0);
    for number in [stat.size, stat.ino, stat.mtime.0.cast_unsigned(), stat.ctime.0.cast_unsigned()] {
        hash.update(number.to_le_bytes());
    }
    hash.update(stat.mtime.1.to_le_bytes());
    hash.update(stat.ctime.1.to_le_bytes());
    hash.update(key);
    let mut sum = [0; ONE];
    sum.iter_mut().zip(hash.finalize()).for_each(|(byte, of_all)| *byte = of_all);
    sum
}

/// For one more record.
fn make_room(dir: &Path) -> io::Result<()> {
    let written = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut records: Vec<_> = fs::read_dir(dir)?.filter_map(|entry| written(entry.ok()?)).collect();
    records.sort_unstable();
    let too_many = (records.len() + 1).saturating_sub(RECORDS);
    records.iter().take(too_many).try_for_each(|(_, file)| fs::remove_file(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::snapshot::manifest::Entry;

    const ROOT: &str = "/home/a/work";

    fn seen(name: &str, oid: Oid, racy: bool) -> (RelPath, Entry) {
        let stat = Stat { size: 3, mtime: (500, 1), ctime: (500, 1), ino: 7, ..Stat::default() };
        let state = State::File { oid, mode: 0o644, size: 3 };
        (RelPath::from(name.as_bytes()), Entry { state, stat, racy, ..Entry::default() })
    }

    #[test]
    fn a_record_says_what_was_seen_and_nothing_else() {
        let temp = tempfile::tempdir().unwrap();
        let (dir, oid) = (temp.path().join("records"), Oid([1; 20]));
        let entries: Entries = [seen("a", oid, false), seen("b", oid, true)].into();
        let read = |root: &str| Verified::read(&dir, Path::new(root));
        let (key, stat) = (RelPath::from(&b"a"[..]), entries[&b"a"[..]].stat);
        assert!(!read(ROOT).has(&key, &stat, oid), "nothing is known without a record");
        read(ROOT).write(&entries, &|_| false).unwrap();
        let has = |key: &RelPath, stat: Stat, oid: Oid| read(ROOT).has(key, &stat, oid);
        assert!(has(&key, stat, oid));
        assert!(!has(&RelPath::from(&b"b"[..]), stat, oid), "it may have changed since");
        assert!(!has(&key, stat, Oid([2; 20])));
        assert!(!has(&key, Stat { ino: 8, ..stat }, oid));
        assert!(!has(&key, Stat { ctime: (500, 2), ..stat }, oid));
        // A record of another directory, or a damaged one, is about nothing.
        let file = read(ROOT).file;
        std::fs::copy(&file, read("/elsewhere").file).unwrap();
        assert!(!read("/elsewhere").has(&key, &stat, oid));
        let whole = std::fs::read(&file).unwrap();
        for cut in [0, 1, whole.len() - ALL, whole.len() - 1] {
            std::fs::write(&file, &whole[..cut]).unwrap();
            assert!(!has(&key, stat, oid), "{cut}");
        }
    }

    #[test]
    fn the_oldest_records_go() {
        let temp = tempfile::tempdir().unwrap();
        let entries: Entries = [seen("a", Oid([1; 20]), false)].into();
        for n in 0..RECORDS + 3 {
            Verified::read(temp.path(), Path::new(&format!("/{n}"))).write(&entries, &|_| false).unwrap();
        }
        assert_eq!(temp.path().read_dir().unwrap().count(), RECORDS);
    }
}
