//! What was seen last, on the disk: a manifest of everything, and a log of what came after it.
//!
//! Both are rows of checked records; knows nothing of what a change is. Invariant: after a crash the records up to
//! the last durable one are read again, and a record is read whole or not at all.

use super::packs::sha1;
use crate::review::error::ReviewError;
use crate::review::state::{Oid, State};
use crate::review::worktree::walk::{self, Kind, RelPath, Stat};
use crate::store::private::{open, open_as, private_file, sync_data};
use crate::store::replace::{Durability, Replacement};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const HEADER: &[u8] = b"acp-tui snapshot 1\n";
/// Entries in one record of the manifest.
const BATCH: usize = 4096;
/// No record is longer; what says so is damage.
const LONGEST: u32 = 1 << 30;
/// The log may grow to this before it is compared with the manifest.
const SHORT_LOG: u64 = 1 << 20;

/// A path as it was seen last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub state: State,
    pub stat: Stat,
    /// It may have changed since without a trace in its numbers.
    pub racy: bool,
    /// The walk comes past here, so when it is gone it need not be remembered.
    pub walked: bool,
    /// It could not be read.
    pub unreadable: bool,
    /// It is another file than the one that was here before, and not one that was seen elsewhere or made since the
    /// session began: its content may be nowhere else.
    pub only: bool,
    /// The number of the scan that has come past; not kept.
    pub visit: u32,
}

impl Entry {
    /// Whether the path has to be read again.
    pub(crate) fn differs(&self, stat: Option<&Stat>) -> bool {
        match stat {
            Some(stat) => self.racy || self.unreadable || self.stat != *stat,
            None => !self.state.is_absent(),
        }
    }
}

/// Sums that go with the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// Bytes of content that no git store has.
    pub kept: u64,
    /// Seconds since 1970 when the last look at the whole tree began.
    pub last: i64,
    /// Bytes that the ledger had, which is written first.
    pub ledger: u64,
}

pub(crate) type Entries = BTreeMap<RelPath, Entry>;

/// The files.
pub(crate) struct Manifest {
    dir: PathBuf,
    log: File,
    log_size: u64,
    manifest_size: u64,
    /// How often something was made durable.
    #[cfg(test)]
    pub(crate) saves: usize,
}

impl Manifest {
    pub(crate) fn create(dir: &Path) -> Result<Self, ReviewError> {
        let path = dir.join("log");
        let log = open_as(private_file().read(true).write(true).create(true).truncate(false), &path);
        let log = log.map_err(|e| ReviewError::io(&path, e))?;
        Ok(Self {
            dir: dir.to_owned(),
            log,
            log_size: 0,
            manifest_size: 0,
            #[cfg(test)]
            saves: 0,
        })
    }

    /// Reads what is there. `None`: nothing has been looked at yet.
    pub(crate) fn open(dir: &Path) -> Result<(Self, Option<(Header, Entries)>), ReviewError> {
        let mut book = Self::create(dir)?;
        let path = dir.join("manifest");
        let file = match open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                book.cut(0)?;
                return Ok((book, None));
            }
            Err(e) => return Err(ReviewError::io(&path, e)),
        };
        let (mut head, mut entries) = (Header::default(), Entries::new());
        let size = file.metadata().map_err(|e| ReviewError::io(&path, e))?.len();
        let mut input = BufReader::new(file);
        let mut header = [0; HEADER.len()];
        let started = input.read_exact(&mut header).is_ok() && header == HEADER;
        let read = replay(&mut input, &mut head, &mut entries).map_err(|e| ReviewError::io(&path, e))?;
        if !started || HEADER.len() as u64 + read != size {
            return Err(ReviewError::Store("its manifest is damaged".to_owned()));
        }
        book.manifest_size = size;
        let read = replay(&mut BufReader::new(&book.log), &mut head, &mut entries);
        let read = read.map_err(|e| ReviewError::io(&dir.join("log"), e))?;
        book.cut(read)?;
        Ok((book, Some((head, entries))))
    }

    /// Writes both anew unless they are where and as long as they were written.
    pub(crate) fn restore(&mut self, head: &Header, entries: &Entries) -> Result<(), ReviewError> {
        if self.stands() {
            return Ok(());
        }
        *self = Self::create(&self.dir)?;
        self.rewrite(head, entries)
    }

    fn stands(&self) -> bool {
        let size = |name: &str| self.dir.join(name).symlink_metadata().map(|meta| meta.len());
        let is_ours = || {
            let (there, held) = (self.dir.join("log").symlink_metadata(), self.log.metadata());
            there.is_ok_and(|there| held.is_ok_and(|held| walk::names_of(&there).0 == walk::names_of(&held).0))
        };
        let as_long = |name, bytes| size(name).is_ok_and(|size| size == bytes);
        as_long("manifest", self.manifest_size) && as_long("log", self.log_size) && is_ours()
    }

    /// Forgets what follows in the log: a record that was not finished.
    fn cut(&mut self, size: u64) -> Result<(), ReviewError> {
        let cut = self.log.set_len(size).and_then(|()| self.log.seek(SeekFrom::Start(size)));
        cut.map_err(|e| ReviewError::io(&self.dir.join("log"), e))?;
        self.log_size = size;
        Ok(())
    }

    /// Writes down entries that are new or different; `None` takes one away. Durable when it returns; without entries it
    /// outlives the program, and is not waited for.
    pub(crate) fn append(&mut self, head: &Header, entries: &[(RelPath, Option<Entry>)]) -> Result<(), ReviewError> {
        #[cfg(test)]
        {
            self.saves += usize::from(!entries.is_empty());
        }
        let record = record(head, entries.iter().map(|(key, entry)| (key, entry.as_ref())))?;
        let mut written = self.log.write_all(&record);
        if !entries.is_empty() {
            written = written.and_then(|()| sync_data(&self.log));
        }
        if let Err(e) = written {
            let size = self.log_size;
            self.cut(size)?;
            return Err(ReviewError::io(&self.dir.join("log"), e));
        }
        self.log_size += record.len() as u64;
        Ok(())
    }

    /// Whether it is time for a new manifest.
    pub(crate) fn outgrown(&self) -> bool {
        self.log_size > self.manifest_size.max(SHORT_LOG)
    }

    /// Writes a new manifest, and begins a new log.
    pub(crate) fn rewrite(&mut self, head: &Header, entries: &Entries) -> Result<(), ReviewError> {
        let path = self.dir.join("manifest");
        let broken = |e| ReviewError::io(&path, e);
        let mut out = Replacement::of(&path).map_err(broken)?;
        out.write_all(HEADER).map_err(broken)?;
        let mut size = HEADER.len() as u64;
        let mut rest = entries.iter().peekable();
        loop {
            let record = record(head, rest.by_ref().take(BATCH).map(|(key, entry)| (key, Some(entry))))?;
            out.write_all(&record).map_err(broken)?;
            size += record.len() as u64;
            if rest.peek().is_none() {
                break;
            }
        }
        out.finish(Durability::New).map_err(broken)?;
        self.manifest_size = size;
        // When this does not happen, the records of the log come to the same once more.
        self.cut(0)
    }
}

// ---- records: length, checksum, content

fn record<'a>(
    head: &Header,
    entries: impl Iterator<Item = (&'a RelPath, Option<&'a Entry>)>,
) -> Result<Vec<u8>, ReviewError> {
    let mut out = vec![0; 12];
    out.extend_from_slice(&head.kept.to_le_bytes());
    out.extend_from_slice(&head.last.to_le_bytes());
    out.extend_from_slice(&head.ledger.to_le_bytes());
    for (key, entry) in entries {
        put(&mut out, key, entry);
    }
    let size = u32::try_from(out.len() - 12).ok().filter(|size| *size <= LONGEST);
    let size = size.ok_or_else(|| ReviewError::Store("too many paths at once".to_owned()))?;
    let sum = sha1(&[&out[12..]])?;
    out[..4].copy_from_slice(&size.to_le_bytes());
    out[4..12].copy_from_slice(&sum[..8]);
    Ok(out)
}

/// Takes in the records up to the first that is not whole; how many bytes they are.
fn replay(input: &mut impl Read, head: &mut Header, entries: &mut Entries) -> std::io::Result<u64> {
    let mut read = 0;
    loop {
        let mut frame = [0; 12];
        if !fill(input, &mut frame)? {
            return Ok(read);
        }
        let mut frame_in = Input(&frame);
        let size = frame_in.word().unwrap_or(u32::MAX);
        if size > LONGEST {
            return Ok(read);
        }
        let mut content = Vec::new();
        input.take(u64::from(size)).read_to_end(&mut content)?;
        let sum = sha1(&[&content]).map_err(std::io::Error::other)?;
        if content.len() != size as usize || sum[..8] != frame[4..] || take(&content, head, entries).is_none() {
            return Ok(read);
        }
        read += 12 + u64::from(size);
    }
}

fn fill(input: &mut impl Read, into: &mut [u8]) -> std::io::Result<bool> {
    match input.read_exact(into) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

fn put(out: &mut Vec<u8>, key: &RelPath, entry: Option<&Entry>) {
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    let Some(entry) = entry else { return out.push(0) };
    let flags = u8::from(entry.racy) << 3
        | u8::from(entry.walked) << 4
        | u8::from(entry.unreadable) << 5
        | u8::from(entry.only) << 6;
    let (tag, oid, mode, size, mark) = match entry.state {
        State::Absent => (1, Oid([0; 20]), 0, 0, 0),
        State::File { oid, mode, size } => (2, oid, mode, size, 0),
        State::Link { oid, size } => (3, oid, 0, size, 0),
        State::Unkept { mark, mode, size } => (4, Oid([0; 20]), mode, size, mark),
    };
    out.push(flags | tag);
    out.extend_from_slice(&oid.0);
    out.extend_from_slice(&mode.to_le_bytes());
    out.extend_from_slice(&size.to_le_bytes());
    out.extend_from_slice(&mark.to_le_bytes());
    let stat = &entry.stat;
    out.push(u8::from(stat.kind == Kind::Link));
    out.extend_from_slice(&stat.size.to_le_bytes());
    for (secs, nsecs) in [stat.mtime, stat.ctime] {
        out.extend_from_slice(&secs.to_le_bytes());
        out.extend_from_slice(&nsecs.to_le_bytes());
    }
    out.extend_from_slice(&stat.ino.to_le_bytes());
    out.extend_from_slice(&stat.mode.to_le_bytes());
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (now, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(now)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn time(&mut self) -> Option<(i64, u32)> {
        Some((self.array().map(i64::from_le_bytes)?, self.word()?))
    }

    fn entry(&mut self) -> Option<(RelPath, Option<Entry>)> {
        let size = self.word()?;
        let key = self.bytes(size as usize)?.into();
        let [flags] = self.array()?;
        if flags == 0 {
            return Some((key, None));
        }
        let oid = Oid(self.array()?);
        let (mode, size, mark) = (self.word()?, self.long()?, self.long()?);
        let state = match flags & 7 {
            1 => State::Absent,
            2 => State::File { oid, mode, size },
            3 => State::Link { oid, size },
            4 => State::Unkept { mark, mode, size },
            _ => return None,
        };
        let kind = if self.array()? == [0] { Kind::File } else { Kind::Link };
        let size = self.long()?;
        let (mtime, ctime) = (self.time()?, self.time()?);
        let stat = Stat { kind, size, mtime, ctime, ino: self.long()?, mode: self.word()? };
        let [racy, walked, unreadable, only] = [8, 16, 32, 64].map(|bit| flags & bit != 0);
        Some((key, Some(Entry { state, stat, racy, walked, unreadable, only, visit: 0 })))
    }
}

fn take(content: &[u8], head: &mut Header, entries: &mut Entries) -> Option<()> {
    let mut input = Input(content);
    let now = Header { kept: input.long()?, last: input.array().map(i64::from_le_bytes)?, ledger: input.long()? };
    // Nothing is taken in before all of it is understood.
    let mut all = Vec::new();
    while !input.0.is_empty() {
        all.push(input.entry()?);
    }
    *head = now;
    for (key, entry) in all {
        match entry {
            Some(entry) => entries.insert(key, entry),
            None => entries.remove(&key),
        };
    }
    Some(())
}
