//! What is known of each journal of a directory, kept in a file beside them, so that they need not be read again.
//!
//! The file is only a memory: each record of it counts as long as its journal has the size and the time that the record
//! says, so that a lost or damaged one, or one that another process has replaced, costs time and nothing else.
//! Invariants: it is replaced whole or not at all; no journal is written or waited for; one that cannot be read is named
//! and harms no other.

use super::scan::Scan;
use crate::base::threads;
use crate::store::lines::{self, Reached};
use crate::store::replace::{Durability, Replacement};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing::{debug, warn};

/// Its name; those of journals end otherwise.
pub const INDEX: &str = "index";
/// What a journal's name ends with.
pub const ENDING: &str = ".jsonl";
/// What the name of a journal begins with that was imported; the name that it was exported with follows.
pub const IMPORTED: &str = "imported-";
/// What the file begins with. One of another version is made anew.
const FIRST: &[u8] = b"acp-tui index 16\n";
/// A larger file is none of ours.
const MAX_BYTES: u64 = 1 << 30;
/// Records that there is room for before any is read.
const MAX_AHEAD: usize = 50_000;
/// Journals are read by so many threads.
const THREADS: usize = 2;

/// A journal and what is known of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Of the file.
    pub name: String,
    pub size: u64,
    mtime: (i64, i64),
    ino: u64,
    /// As far as it was read.
    offset: u64,
    pub scan: Scan,
}

/// A journal that is not listed, or not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: PathBuf,
    pub why: String,
}

/// A file of the directory.
struct Seen {
    name: String,
    size: u64,
    mtime: (i64, i64),
    ino: u64,
}

impl Entry {
    /// No time of a journal that was imported is later than its arrival here.
    pub fn latest(&self) -> Duration {
        let is_imported = self.scan.head.as_ref().is_some_and(|head| head.imported);
        let (seconds, nanos) = (u64::try_from(self.mtime.0), u32::try_from(self.mtime.1));
        if is_imported { Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0)) } else { Duration::MAX }
    }
}

impl Seen {
    fn is_known_by(&self, entry: &Entry) -> bool {
        (self.size, self.mtime, self.ino) == (entry.size, entry.mtime, entry.ino)
    }
}

/// Everything that is known of the journals of a directory, after a look at those that have changed.
pub fn refresh(dir: &Path) -> io::Result<(Vec<Entry>, Vec<Problem>)> {
    // What is remembered is read on this thread: it is thousands of small pieces of memory, which another thread's
    // arena gets page by page from the system.
    let (there, remembered) = threads::both(|| look(dir), || read(dir));
    let (seen, mut problems) = there.unwrap_or_else(|| (Err(io::ErrorKind::Other.into()), Vec::new()));
    let seen = seen?;
    let there = remembered.len();
    let (mut seen, mut changed) = (seen.into_iter().peekable(), Vec::new());
    // What stays is kept where it is: for thousands, memory is what takes the time.
    let known = remembered.into_iter().filter_map(|entry| {
        while let Some(new) = seen.next_if(|one| one.name < entry.name) {
            changed.push((new, None));
        }
        let one = seen.next_if(|one| one.name == entry.name)?;
        if one.is_known_by(&entry) {
            return Some(entry);
        }
        changed.push((one, Some(entry)));
        None
    });
    let mut entries: Vec<Entry> = known.collect();
    changed.extend(seen.map(|new| (new, None)));
    let is_stale = !changed.is_empty() || there > entries.len();
    debug!(known = entries.len(), changed = changed.len(), "journals");
    for scanned in in_parallel(changed, |(seen, earlier)| scan(dir, seen, earlier)) {
        match scanned {
            Ok(entry) => entries.extend(entry),
            Err(problem) => problems.push(problem),
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    if is_stale && let Err(error) = write(dir, &entries) {
        // The next one reads the journals again.
        warn!(kind = ?error.kind(), "the index of the journals cannot be written");
    }
    entries.retain(|entry| {
        let refusal = entry.scan.refusal();
        let is_listed = refusal.is_none();
        let damage = || entry.scan.is_damaged.then(|| "damaged: lines with zero bytes are left out".to_owned());
        let why = refusal.or_else(damage);
        problems.extend(why.map(|why| Problem { path: dir.join(&entry.name), why }));
        is_listed
    });
    problems.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((entries, problems))
}

/// The journals that are there, sorted by name, and what stands there without being one. A directory that is not there
/// has none.
fn look(dir: &Path) -> (io::Result<Vec<Seen>>, Vec<Problem>) {
    let mut problems = Vec::new();
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (Ok(Vec::new()), problems),
        Err(error) => return (Err(error), problems),
    };
    let me = geteuid().as_raw();
    let mut seen = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.ends_with(ENDING) {
            continue;
        }
        let mut problem = |why: &str| problems.push(Problem { path: entry.path(), why: why.to_owned() });
        // Of a link, the link itself.
        match entry.metadata() {
            Ok(meta) if meta.is_symlink() => problem("a symbolic link, which is not followed"),
            Ok(meta) if !meta.is_file() => problem("no plain file"),
            Ok(meta) if meta.uid() != me => problem("it belongs to another user"),
            Ok(meta) => {
                let mtime = (meta.mtime(), meta.mtime_nsec());
                seen.push(Seen { name, size: meta.size(), mtime, ino: meta.ino() });
            }
            // It has just gone.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => problem(&error.to_string()),
        }
    }
    seen.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    (Ok(seen), problems)
}

/// Reads a journal, or what it has more than the last time. Nothing when it has gone, or has nothing in it yet.
fn scan(dir: &Path, seen: Seen, earlier: Option<Entry>) -> Result<Option<Entry>, Problem> {
    let path = dir.join(&seen.name);
    let mut file = match lines::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem { path, why: error.to_string() }),
    };
    // A journal only grows.
    let grown = earlier.filter(|entry| entry.ino == seen.ino && entry.size < seen.size && entry.offset > 0);
    let (from, mut scan) = grown.map_or_else(Default::default, |entry| (entry.offset, entry.scan));
    match read_on(&mut file, from, &mut scan) {
        Ok(_) if seen.size == 0 => Ok(None),
        Ok(Reached { offset, damaged, .. }) => {
            scan.is_damaged |= damaged > 0;
            let Seen { name, size, mtime, ino } = seen;
            Ok(Some(Entry { name, size, mtime, ino, offset, scan }))
        }
        Err(error) => Err(Problem { path, why: error.to_string() }),
    }
}

fn read_on(file: &mut File, from: u64, scan: &mut Scan) -> io::Result<Reached> {
    let mut codec = scan.codec().filter(|_| scan.head.is_some());
    let mut begins = from == 0;
    lines::each(file, from, |line| {
        if std::mem::take(&mut begins) {
            codec = if scan.begin(line) { scan.codec() } else { None };
        } else if let Some(codec) = &codec {
            scan.take(codec, line);
        }
    })
}

/// Does something with each, by a few threads. The results come in no order.
pub fn in_parallel<T: Send, R: Send>(all: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if all.len() < 2 {
        return all.into_iter().map(work).collect();
    }
    let next = std::sync::Mutex::new(all.into_iter());
    let worker = || {
        let mut done = Vec::new();
        loop {
            let one = next.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(one) = one else { return done };
            done.push(work(one));
        }
    };
    threads::share(THREADS, worker).into_iter().flatten().flatten().collect()
}

/// What the file says, sorted by the names of journals. What cannot be read is as if it were not there.
fn read(dir: &Path) -> Vec<Entry> {
    let text = || -> io::Result<Vec<u8>> {
        let file = lines::open(&dir.join(INDEX))?;
        let mut bytes = Vec::with_capacity(file.metadata()?.len().min(MAX_BYTES) as usize);
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    entries(&text().unwrap_or_default())
}

/// What a file of these bytes says.
pub fn entries(bytes: &[u8]) -> Vec<Entry> {
    let mut rest = bytes.strip_prefix(FIRST).unwrap_or_default();
    let mut entries: Vec<Entry> = Vec::with_capacity(count(rest));
    entries.extend(std::iter::from_fn(|| record(&mut rest)).filter_map(Result::ok));
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries.dedup_by(|a, b| a.name == b.name);
    entries
}

/// For how many records there is to be room from the start.
fn count(mut rest: &[u8]) -> usize {
    let next = || {
        let (length, more) = rest.split_first_chunk()?;
        rest = more.get(4..)?.get(u32::from_le_bytes(*length) as usize..)?;
        Some(())
    };
    // Whatever the lengths say.
    std::iter::from_fn(next).take(MAX_AHEAD).count()
}

/// A record that is not whole; others may follow.
struct Incomplete;

/// A record: the length and a sum of what follows, then an entry, if it is whole.
fn record(rest: &mut &[u8]) -> Option<Result<Entry, Incomplete>> {
    let mut number = || {
        let (number, more) = rest.split_first_chunk()?;
        *rest = more;
        Some(u32::from_le_bytes(*number))
    };
    let (length, sum) = (number()?, number()?);
    let (bytes, more) = rest.split_at_checked(length as usize)?;
    *rest = more;
    Some(if crc32fast::hash(bytes) == sum {
        postcard::from_bytes(bytes).map_err(|_| Incomplete)
    } else {
        Err(Incomplete)
    })
}

/// Whole or not at all: a file of another name takes its place.
fn write(dir: &Path, entries: &[Entry]) -> io::Result<()> {
    let mut out = Replacement::of(&dir.join(INDEX))?;
    out.write_all(FIRST)?;
    for entry in entries {
        write_record(&mut out, &postcard::to_allocvec(entry).map_err(io::Error::other)?)?;
    }
    out.finish(Durability::None)
}

fn write_record(out: &mut impl io::Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&u32::try_from(bytes.len()).map_err(io::Error::other)?.to_le_bytes())?;
    out.write_all(&crc32fast::hash(bytes).to_le_bytes())?;
    out.write_all(bytes)
}

/// A file that is whole, with these bytes as what is known of a journal.
pub fn file_of(record: &[u8]) -> Vec<u8> {
    let mut file = FIRST.to_vec();
    // Into memory; one that is too long for a record is none.
    let _ = write_record(&mut file, record);
    file
}
