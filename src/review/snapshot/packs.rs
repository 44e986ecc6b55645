//! The content that we keep: packs of our own, in git's format.
//!
//! Only whole blobs, never a delta, one pack for everything that comes together. Knows nothing of paths. Invariant: a
//! pack is complete on the disk before its index appears, and only what has an index counts.

use super::zlib;
use crate::review::error::ReviewError;
use crate::review::state::Oid;
use crate::review::worktree::walk;
use crate::store::private::{make_private_dir, open, read, sync_all};
use crate::store::replace::{Durability, Replacement, sync_dir};
use gix::hash::Kind;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Offsets from here on stand in a table of their own.
const FAR: u64 = 1 << 31;
/// No content of ours is larger; a damaged pack may say so.
const LARGEST: u64 = 1 << 32;
const TEMP: &str = "tmp_";
const ALTERNATES: &str = "objects/info/alternates";

/// The name of a blob with these bytes. Fails for what was made to collide.
pub(crate) fn hash(bytes: &[u8]) -> Result<Oid, ReviewError> {
    let mut hasher = gix::hash::hasher(Kind::Sha1);
    hasher.update(format!("blob {}\0", bytes.len()).as_bytes());
    hasher.update(bytes);
    finish(hasher).map(Oid)
}

/// The same of what is read from its beginning, to which it is left.
pub(crate) fn hash_of(content: &mut (impl Read + Seek)) -> io::Result<Oid> {
    let size = content.seek(SeekFrom::End(0))?;
    content.rewind()?;
    let mut hasher = gix::hash::hasher(Kind::Sha1);
    hasher.update(format!("blob {size}\0").as_bytes());
    let mut chunk = [0; 16 << 10];
    loop {
        match content.read(&mut chunk)? {
            0 => break,
            count => hasher.update(chunk.get(..count).unwrap_or_default()),
        }
    }
    content.rewind()?;
    finish(hasher).map(Oid).map_err(io::Error::other)
}

/// A plain SHA-1.
pub(crate) fn sha1(parts: &[&[u8]]) -> Result<[u8; 20], ReviewError> {
    let mut hasher = gix::hash::hasher(Kind::Sha1);
    for part in parts {
        hasher.update(part);
    }
    finish(hasher)
}

fn finish(hasher: gix::hash::Hasher) -> Result<[u8; 20], ReviewError> {
    let id = hasher.try_finalize().map_err(|e| ReviewError::Store(e.to_string()))?;
    id.as_bytes().try_into().map_err(|_| ReviewError::Store("a hash of another length".to_owned()))
}

/// A blob as it stands in a pack.
pub(crate) struct Encoded {
    oid: Oid,
    data: Vec<u8>,
    crc: u32,
}

/// Compresses `bytes`, whose name is `oid`.
pub(crate) fn encode(oid: Oid, bytes: &[u8]) -> Result<Encoded, ReviewError> {
    let mut data = Vec::with_capacity(bytes.len() / 2 + 32);
    data.extend(begin(bytes.len()));
    zlib::pack(bytes, &mut data).map_err(|e| ReviewError::Store(e.to_string()))?;
    let crc = crc32fast::hash(&data);
    Ok(Encoded { oid, data, crc })
}

/// What stands in front of a blob of so many bytes.
fn begin(bytes: usize) -> Vec<u8> {
    let mut begin = Vec::new();
    let mut rest = bytes >> 4;
    let mut byte = 3 << 4 | (bytes & 15) as u8;
    while rest > 0 {
        begin.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    begin.push(byte);
    begin
}

/// A blob of a pack: its name, its checksum, where it begins.
type Row = (Oid, u32, u64);
/// A pack that only has to be put in its place, and its name.
type Complete = (NamedTempFile, Vec<Row>, [u8; 20]);

/// Content from here on is packed while it is written, and not held meanwhile.
pub(super) const LARGE: usize = 4 << 20;

/// Counts what is written of a blob.
struct Counted<W> {
    out: W,
    crc: crc32fast::Hasher,
    size: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.crc.update(bytes.get(..count).unwrap_or_default());
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A pack that is being written. Dropped without [`PackStore::finish`], nothing of it stays.
pub(crate) struct Pack {
    file: BufWriter<NamedTempFile>,
    dir: PathBuf,
    at: u64,
    entries: Vec<Row>,
    names: HashSet<Oid>,
}

impl Pack {
    /// Adds a blob, unless it is already there. Whether it was not.
    pub(crate) fn add(&mut self, blob: &Encoded) -> Result<bool, ReviewError> {
        if !self.names.insert(blob.oid) {
            return Ok(false);
        }
        self.file.write_all(&blob.data).map_err(|e| ReviewError::io(&self.dir, e))?;
        self.entries.push((blob.oid, blob.crc, self.at));
        self.at += blob.data.len() as u64;
        Ok(true)
    }

    /// The same of content that is packed while it is written.
    pub(crate) fn write(&mut self, oid: Oid, bytes: &[u8]) -> Result<bool, ReviewError> {
        if !self.names.insert(oid) {
            return Ok(false);
        }
        let mut out = Counted { out: &mut self.file, crc: crc32fast::Hasher::new(), size: 0 };
        let written = out.write_all(&begin(bytes.len())).and_then(|()| zlib::pack(bytes, &mut out));
        let (crc, size) = (out.crc, out.size);
        written.map_err(|e| ReviewError::io(&self.dir, e))?;
        self.entries.push((oid, crc.finalize(), self.at));
        self.at += size;
        Ok(true)
    }

    pub(crate) fn has(&self, oid: &Oid) -> bool {
        self.names.contains(oid)
    }

    /// Writes the number of blobs and the checksum, and waits until all is on the disk.
    fn complete(self) -> Result<Complete, ReviewError> {
        let dir = self.dir;
        let broken = |e| ReviewError::io(&dir, e);
        let mut temp = self.file.into_inner().map_err(|e| broken(e.into_error()))?;
        let file = temp.as_file_mut();
        file.seek(SeekFrom::Start(8)).map_err(broken)?;
        file.write_all(&(self.entries.len() as u32).to_be_bytes()).map_err(broken)?;
        file.rewind().map_err(broken)?;
        let mut hasher = gix::hash::hasher(Kind::Sha1);
        let mut buffer = [0; 8 << 10];
        loop {
            let read = file.read(&mut buffer).map_err(broken)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
        }
        let sum = finish(hasher)?;
        file.write_all(&sum).map_err(broken)?;
        sync_all(file).map_err(broken)?;
        Ok((temp, self.entries, sum))
    }
}

/// The index of a pack, version 2.
fn index(entries: &mut [Row], pack: [u8; 20]) -> Result<Vec<u8>, ReviewError> {
    entries.sort_unstable_by_key(|entry| entry.0);
    let mut out = Vec::with_capacity(1100 + entries.len() * 28);
    out.extend_from_slice(b"\xfftOc\0\0\0\x02");
    for byte in 0..=255u8 {
        let upto = entries.partition_point(|entry| entry.0.0[0] <= byte);
        out.extend_from_slice(&(upto as u32).to_be_bytes());
    }
    out.extend(entries.iter().flat_map(|(oid, ..)| oid.0));
    out.extend(entries.iter().flat_map(|(_, crc, _)| crc.to_be_bytes()));
    let mut far = Vec::new();
    for (.., at) in entries.iter() {
        let word = if *at < FAR {
            *at as u32
        } else {
            far.push(*at);
            FAR as u32 | (far.len() - 1) as u32
        };
        out.extend_from_slice(&word.to_be_bytes());
    }
    out.extend(far.iter().flat_map(|at| at.to_be_bytes()));
    out.extend_from_slice(&pack);
    let sum = sha1(&[&out])?;
    out.extend_from_slice(&sum);
    Ok(out)
}

/// Content that is kept together, one pack for much of it; until then it is here.
#[derive(Default)]
pub(crate) struct Gathered {
    pack: Option<Pack>,
    bytes: HashMap<Oid, Vec<u8>>,
    size: usize,
}

impl Gathered {
    /// Bytes that are held here at most, but for the newest content.
    const MOST: usize = 16 << 20;

    pub(crate) fn get(&self, oid: &Oid) -> Option<&[u8]> {
        self.bytes.get(oid).map(Vec::as_slice)
    }

    pub(crate) fn add(&mut self, own: &mut PackStore, oid: Oid, bytes: &[u8]) -> Result<(), ReviewError> {
        if self.size >= Self::MOST {
            std::mem::take(self).finish(own)?;
        }
        let pack = match &mut self.pack {
            Some(pack) => pack,
            None => self.pack.insert(own.begin()?),
        };
        pack.write(oid, bytes)?;
        // Its pack is finished at once.
        if bytes.len() >= LARGE {
            return std::mem::take(self).finish(own);
        }
        self.size += bytes.len();
        self.bytes.insert(oid, bytes.to_vec());
        Ok(())
    }

    /// Bytes that are held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.bytes.values().map(Vec::len).sum()
    }

    /// All of it is durable when this returns.
    pub(crate) fn finish(self, own: &mut PackStore) -> Result<(), ReviewError> {
        self.pack.map_or(Ok(()), |pack| own.finish(pack))
    }
}

/// The packs of one store.
pub(crate) struct PackStore {
    dir: PathBuf,
    packs: Vec<PathBuf>,
    at: HashMap<Oid, (u32, u64)>,
    /// Where else a blob is, of those that came more than once.
    again: HashMap<Oid, Vec<(u32, u64)>>,
    /// An index that could not be read when the store was opened, and the system's number for why: what only it names may be
    /// there.
    unread: Option<(PathBuf, i32)>,
    /// Another that is taken for damaged, though it may only not be readable now.
    is_in_doubt: bool,
}

impl PackStore {
    /// An empty store in `dir/objects/pack`.
    pub(crate) fn create(dir: &Path) -> Result<Self, ReviewError> {
        let dir = dir.join("objects").join("pack");
        make_private_dir(&dir).map_err(|e| ReviewError::io(&dir, e))?;
        Ok(Self { dir, packs: Vec::new(), at: HashMap::new(), again: HashMap::new(), unread: None, is_in_doubt: false })
    }

    /// Reads the indices that are there; what a crash has left behind is removed.
    pub(crate) fn open(dir: &Path) -> Result<Self, ReviewError> {
        let mut own = Self::create(dir)?;
        let broken = |e| ReviewError::io(&own.dir, e);
        let mut names = Vec::new();
        for entry in fs::read_dir(&own.dir).map_err(broken)? {
            let path = entry.map_err(broken)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // Only what is known to be without an index: all that it has would be lost.
            let is_alone = || matches!(path.with_extension("idx").try_exists(), Ok(false));
            let orphan = path.extension().is_some_and(|e| e == "pack") && is_alone();
            if name.starts_with(TEMP) || orphan {
                // Another attempt comes with the next opening.
                let _ = fs::remove_file(&path);
            } else if path.extension().is_some_and(|e| e == "idx") {
                names.push(path);
            }
        }
        names.sort();
        for path in names {
            own.take(&path)?;
        }
        Ok(own)
    }

    /// Makes the blobs of an index known; one that is damaged is as good as none.
    fn take(&mut self, path: &Path) -> Result<(), ReviewError> {
        let pack = path.with_extension("pack");
        let read = match pack.try_exists() {
            Ok(true) => read_index(path),
            Ok(false) => return Ok(()),
            Err(error) => Err(error),
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => {
                let number = error.raw_os_error().filter(|_| !is_damage(&error));
                self.unread = number.map(|number| (path.to_owned(), number)).or(self.unread.take());
                self.is_in_doubt |= may_pass(&error);
                return Ok(());
            }
        };
        let whole = bytes.split_last_chunk::<20>().is_some_and(|(rest, sum)| sha1(&[rest]).is_ok_and(|is| is == *sum));
        if !whole {
            return Ok(());
        }
        let Ok(index) = gix::odb::pack::index::File::from_data(bytes, path.to_owned(), Kind::Sha1) else {
            return Ok(());
        };
        let number = self.packs.len() as u32;
        for entry in index.iter() {
            if let Ok(oid) = entry.oid.as_bytes().try_into() {
                let earlier = self.at.insert(Oid(oid), (number, entry.pack_offset));
                if let Some(earlier) = earlier {
                    self.again.entry(Oid(oid)).or_default().push(earlier);
                }
            }
        }
        self.packs.push(pack);
        Ok(())
    }

    pub(crate) fn has(&self, oid: &Oid) -> bool {
        self.at.contains_key(oid)
    }

    /// Why it is not known of all blobs whether they are there.
    pub(crate) fn unread(&self) -> Option<ReviewError> {
        let (path, number) = self.unread.as_ref()?;
        Some(ReviewError::io(path, io::Error::from_raw_os_error(*number)))
    }

    #[cfg(test)]
    pub(crate) fn packs(&self) -> usize {
        self.packs.len()
    }

    /// Begins a pack.
    pub(crate) fn begin(&self) -> Result<Pack, ReviewError> {
        let broken = |e| ReviewError::io(&self.dir, e);
        let temp = tempfile::Builder::new().prefix(TEMP).tempfile_in(&self.dir).map_err(broken)?;
        let mut file = BufWriter::new(temp);
        file.write_all(b"PACK\0\0\0\x02\0\0\0\0").map_err(broken)?;
        Ok(Pack { file, dir: self.dir.clone(), at: 12, entries: Vec::new(), names: HashSet::new() })
    }

    /// Puts a pack in its place; afterwards its blobs are there, also after a crash. An empty one leaves nothing.
    pub(crate) fn finish(&mut self, pack: Pack) -> Result<(), ReviewError> {
        if pack.entries.is_empty() {
            return Ok(());
        }
        let broken = |e| ReviewError::io(&self.dir, e);
        let (temp, mut entries, sum) = pack.complete()?;
        let index = index(&mut entries, sum)?;
        let path = self.dir.join(format!("pack-{}.pack", Oid(sum)));
        let mut temp_index = tempfile::Builder::new().prefix(TEMP).tempfile_in(&self.dir).map_err(broken)?;
        temp_index.write_all(&index).and_then(|()| sync_all(temp_index.as_file())).map_err(broken)?;
        temp.persist(&path).map_err(|e| broken(e.error))?;
        temp_index.persist(path.with_extension("idx")).map_err(|e| broken(e.error))?;
        sync_dir(&self.dir).map_err(broken)?;
        let number = self.packs.len() as u32;
        self.packs.push(path);
        self.at.extend(entries.into_iter().map(|(oid, _, at)| (oid, (number, at))));
        Ok(())
    }

    /// The bytes of a blob; `None` when we do not have it, or not any more: what is damaged is as good as none.
    pub(crate) fn read(&self, oid: &Oid) -> Result<Option<Vec<u8>>, ReviewError> {
        for (number, at) in self.at.get(oid).into_iter().chain(self.again.get(oid).into_iter().flatten()) {
            let Some(path) = self.packs.get(*number as usize) else { continue };
            match read_blob(path, *at) {
                Ok(bytes) if hash(&bytes).is_ok_and(|is| is == *oid) => return Ok(Some(bytes)),
                Err(e) if !is_damage(&e) => return Err(ReviewError::io(path, e)),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Whether a blob that could not be read may be readable another time.
    pub(crate) fn may_return(&self, oid: &Oid) -> bool {
        let places = self.at.get(oid).into_iter().chain(self.again.get(oid).into_iter().flatten());
        let packs = places.filter_map(|(number, at)| Some((self.packs.get(*number as usize)?, *at)));
        // It may be readable by now.
        let is_there = |bytes: &[u8]| hash(bytes).is_ok_and(|is| is == *oid);
        let mut reads = packs.map(|(path, at)| read_blob(path, at));
        if self.has(oid) {
            reads.any(|read| read.map_or_else(|e| may_pass(&e), |bytes| is_there(&bytes)))
        } else {
            self.is_in_doubt
        }
    }

    /// The pack of a blob, and where it begins in it.
    #[cfg(test)]
    pub(crate) fn place(&self, oid: &Oid) -> Option<(PathBuf, u64)> {
        let (number, at) = self.at.get(oid)?;
        Some((self.packs.get(*number as usize)?.clone(), *at))
    }

    /// Takes a blob that cannot be read for one that we do not have, so that it can be kept anew.
    pub(crate) fn forget(&mut self, oid: &Oid) {
        self.at.remove(oid);
        self.again.remove(oid);
    }
}

/// Whether what was read is not there or not whole, rather than that we cannot read now.
fn is_damage(error: &std::io::Error) -> bool {
    const EIO: i32 = 5;
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | PermissionDenied | IsADirectory | NotADirectory)
        || error.raw_os_error().is_none_or(|number| number == EIO)
}

/// Whether the same may be read another time, also where it is taken for damage so that nothing else waits for it.
fn may_pass(error: &io::Error) -> bool {
    error.raw_os_error().is_some() && error.kind() != io::ErrorKind::NotFound
}

/// The stores of others that a store goes on to, in git's format.
pub(crate) fn alternates(dir: &Path) -> Vec<PathBuf> {
    let text = read(&dir.join(ALTERNATES)).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| walk::path(line).to_owned()).collect()
}

/// Writes down the stores of others. Those with a name that the format has no room for are only used, not remembered.
pub(crate) fn set_alternates(dir: &Path, stores: &[PathBuf]) -> Result<(), ReviewError> {
    let path = dir.join(ALTERNATES);
    let info = path.parent().unwrap_or(dir);
    let broken = |e| ReviewError::io(&path, e);
    make_private_dir(info).map_err(broken)?;
    let mut new = Replacement::of(&path).map_err(broken)?;
    for store in stores.iter().map(|store| walk::bytes(store)) {
        if store.starts_with(b"/") && !store.contains(&b'\n') {
            new.write_all(store).and_then(|()| new.write_all(b"\n")).map_err(broken)?;
        }
    }
    new.finish(Durability::New).map_err(broken)
}

fn read_index(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(test)]
    walk::faults::at(walk::faults::Way::Read, walk::bytes(path))?;
    read(path)
}

fn read_blob(path: &Path, at: u64) -> std::io::Result<Vec<u8>> {
    let damaged = || std::io::Error::new(std::io::ErrorKind::InvalidData, "damaged");
    let mut file = open(path)?;
    file.seek(SeekFrom::Start(at))?;
    let mut file = BufReader::with_capacity(1 << 13, file);
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    let mut size = u64::from(byte[0] & 15);
    let mut shift = 4;
    while byte[0] & 0x80 != 0 {
        file.read_exact(&mut byte)?;
        size |= u64::from(byte[0] & 0x7f).checked_shl(shift).unwrap_or(u64::MAX);
        shift += 7;
    }
    if size > LARGEST {
        return Err(damaged());
    }
    let bytes = zlib::unpack(&mut file, size as usize)?.ok_or_else(damaged)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(damaged()) }
}
