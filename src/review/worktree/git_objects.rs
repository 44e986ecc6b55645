//! Whether a repository has an object, and whether one that lies by itself is whole, as far as lists and beginnings tell.
//!
//! Reads pieces of the lists that belong to packs, and the beginnings of objects; decodes no pack. Invariants: what cannot
//! be read has nothing; a list counts only beside a pack with as many objects and the same sum.

use super::git_form::beginning;
use super::git_index::hex;
use super::plain::{self, Links};
use super::walk;
use gix::zlib::{Decompress, FlushDecompress, Status};
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Packs of one store.
const PACKS: usize = 4096;
/// Stores that one leads to.
const STORES: usize = 16;
/// The list of other stores, and the way to the one of another working tree.
const POINTER: u64 = 8 << 10;
/// Objects of a pack that is gone which are looked for in others, and those of them by themselves.
const LISTED: u64 = 4 << 20;
const ALONE: usize = 20_000;
/// So much of an object is unpacked; most are shorter.
const BEGINNING: usize = 512;
/// Bytes that are unpacked at a time. What an object says of itself is at their beginning.
const PIECE: usize = 4 << 10;
/// Where the names begin in a list, behind how many there are up to each first byte.
const NAMES: u64 = 8 + 256 * 4;

/// What repositories have, for as long as a question is answered.
pub(crate) struct Objects {
    packs: HashMap<PathBuf, Vec<List>>,
    unpacker: Decompress,
}

impl Objects {
    pub(crate) fn new() -> Self {
        Self { packs: HashMap::new(), unpacker: Decompress::new() }
    }

    /// Whether a directory of git's leads to an object. So it is where that cannot be told.
    pub(crate) fn are_reached(&mut self, git: &Path, oid: &str) -> bool {
        let (mut todo, mut seen) = (vec![store(git)], BTreeSet::new());
        while let Some(store) = todo.pop() {
            if !seen.insert(store.clone()) {
                continue;
            }
            if seen.len() > STORES || self.has(&store, oid) {
                return true;
            }
            match alternates(&store) {
                Some(others) => todo.extend(others),
                None => return true,
            }
        }
        false
    }

    /// Whether a store itself has an object.
    pub(crate) fn has(&mut self, store: &Path, oid: &str) -> bool {
        let Some(name) = bytes(oid) else { return false };
        alone(store, oid).symlink_metadata().is_ok_and(|meta| meta.len() > 0)
            || self.packs(store, name.len()).iter().any(|list| list.has(&name).is_some_and(|has| has))
    }

    /// Whether a store has all objects that the list beside a pack which was in it names.
    pub(crate) fn has_all_of(&mut self, store: &Path, list: &Path) -> bool {
        let size = sum_of(list);
        let Some(mut left) = List::open(list, size).filter(|list| list.count <= LISTED).and_then(|list| list.names())
        else {
            return false;
        };
        for list in self.packs(store, size) {
            left = list.without(&left).unwrap_or(left);
        }
        let mut left = left.chunks_exact(size);
        left.len() <= ALONE && left.all(|name| alone(store, &hex(name)).symlink_metadata().is_ok())
    }

    fn packs(&mut self, store: &Path, size: usize) -> &[List] {
        self.packs.entry(store.to_owned()).or_insert_with(|| {
            let entries = store.join("pack").read_dir().into_iter().flatten().take(PACKS * 4).flatten();
            let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "idx"));
            paths.take(PACKS).filter_map(|path| List::open(&path, size)).collect()
        })
    }

    /// Whether a file begins as an object by itself does, and is one as far as that is looked at.
    pub(crate) fn is_whole(&mut self, path: &Path) -> bool {
        let Some(text) = beginning(path, BEGINNING as u64 + 1) else { return false };
        let is_all = text.len() <= BEGINNING;
        let (mut rest, mut piece, mut is_begun) = (&*text, [0; PIECE], false);
        self.unpacker.reset();
        loop {
            let before = (self.unpacker.total_in(), self.unpacker.total_out());
            let Ok(status) = self.unpacker.decompress(rest, &mut piece, FlushDecompress::None) else { return false };
            let read = (self.unpacker.total_in() - before.0) as usize;
            let wrote = (self.unpacker.total_out() - before.1) as usize;
            if !is_begun && wrote > 0 && !is_header(piece.get(..wrote).unwrap_or_default()) {
                return false;
            }
            is_begun |= wrote > 0;
            if status == Status::StreamEnd || read == 0 && wrote == 0 {
                return is_begun && (status == Status::StreamEnd || !is_all);
            }
            rest = rest.get(read..).unwrap_or_default();
        }
    }
}

/// Whether an object begins so: what it is, and how long.
fn is_header(text: &[u8]) -> bool {
    let kinds = [&b"blob "[..], b"tree ", b"commit ", b"tag "];
    let number = kinds.iter().find_map(|kind| text.strip_prefix(*kind));
    let number = number.and_then(|text| text.split(|byte| *byte == 0).next());
    number.is_some_and(|number| !number.is_empty() && number.len() < 20 && number.iter().all(u8::is_ascii_digit))
}

/// Where a directory of git's has its objects.
fn store(git: &Path) -> PathBuf {
    let own = git.join("objects");
    let to = plain::read(&git.join("commondir"), Links::Followed, POINTER).ok().flatten().unwrap_or_default();
    if own.is_dir() || to.is_empty() { own } else { git.join(walk::path(to.trim_ascii())).join("objects") }
}

/// The stores that one leads to.
pub(crate) fn alternates(store: &Path) -> Option<Vec<PathBuf>> {
    let text = plain::read(&store.join("info/alternates"), Links::Followed, POINTER).ok()?.unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    Some(lines.map(|line| store.join(walk::path(line))).collect())
}

/// Where an object lies by itself.
fn alone(store: &Path, oid: &str) -> PathBuf {
    let (fan, name) = oid.split_at_checked(2).unwrap_or((oid, ""));
    store.join(fan).join(name)
}

fn bytes(oid: &str) -> Option<Vec<u8>> {
    let digits = oid.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    digits.collect::<Option<Vec<u8>>>().filter(|name| matches!(name.len(), 20 | 32))
}

/// How long the names of objects are where a pack is called so.
fn sum_of(list: &Path) -> usize {
    let name = list.file_stem().map_or(0, |name| name.len());
    if name > "pack-".len() + 40 { 32 } else { 20 }
}

/// The list of the objects in a pack.
struct List {
    file: File,
    count: u64,
    /// How long the name of an object is.
    size: usize,
}

impl List {
    /// Of the pack beside it.
    fn open(path: &Path, size: usize) -> Option<Self> {
        let file = walk::open_plain(path)?;
        let mut head = [0; 8];
        read_at(&file, &mut head, 0)?;
        let list = Self { count: u64::from(number(&file, NAMES - 4)?), file, size };
        let end = list.file.metadata().ok()?.len();
        let least = NAMES + list.count * (size as u64 + 8) + 2 * size as u64;
        let pack = walk::open_plain(&path.with_extension("pack"))?;
        let (mut magic, mut sums) = ([0; 4], [vec![0; size], vec![0; size]]);
        read_at(&pack, &mut magic, 0)?;
        read_at(&list.file, &mut sums[0], end.checked_sub(2 * size as u64)?)?;
        read_at(&pack, &mut sums[1], pack.metadata().ok()?.len().checked_sub(size as u64)?)?;
        let is_its = magic == *b"PACK" && sums[0] == sums[1] && u64::from(number(&pack, 8)?) == list.count;
        (head == *b"\xfftOc\0\0\0\x02" && end >= least && is_its).then_some(list)
    }

    fn has(&self, name: &[u8]) -> Option<bool> {
        let first = u64::from(*name.first()?);
        let up_to = |first: u64| number(&self.file, 8 + first * 4).map(|n| u64::from(n).min(self.count));
        let (mut low, mut high) = (if first == 0 { 0 } else { up_to(first - 1)? }, up_to(first)?);
        let mut found = vec![0; self.size];
        while low < high {
            let mid = u64::midpoint(low, high);
            read_at(&self.file, &mut found, NAMES + mid * self.size as u64)?;
            match found.as_slice().cmp(name) {
                std::cmp::Ordering::Equal => return Some(true),
                std::cmp::Ordering::Less => low = mid + 1,
                std::cmp::Ordering::Greater => high = mid,
            }
        }
        Some(false)
    }

    /// All names, in their order.
    fn names(&self) -> Option<Vec<u8>> {
        let mut names = vec![0; self.count as usize * self.size];
        read_at(&self.file, &mut names, NAMES).map(|()| names)
    }

    /// Those of the names, in their order, that it has not.
    fn without(&self, names: &[u8]) -> Option<Vec<u8>> {
        let mut own = BufReader::with_capacity(1 << 16, &self.file);
        own.seek(SeekFrom::Start(NAMES)).ok()?;
        let mut own = own.take(self.count * self.size as u64);
        let (mut left, mut next) = (Vec::new(), vec![0; self.size]);
        let mut is_over = own.read_exact(&mut next).is_err();
        for name in names.chunks_exact(self.size) {
            while !is_over && *next < *name {
                is_over = own.read_exact(&mut next).is_err();
            }
            if is_over || *next != *name {
                left.extend_from_slice(name);
            }
        }
        Some(left)
    }
}

fn number(file: &File, at: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    read_at(file, &mut bytes, at).map(|()| u32::from_be_bytes(bytes))
}

fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> Option<()> {
    file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes)).ok()
}

#[cfg(test)]
#[path = "git_objects_tests.rs"]
mod tests;
