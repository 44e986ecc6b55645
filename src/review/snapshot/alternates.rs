//! Contents that the person's repositories have, read only, and where they lie.
//!
//! Knows packs, loose objects and alternates; nothing of paths in the tree. Opens nothing for writing and takes no
//! lock. Invariants: only plain files are opened, and nothing without a bound is read; what `Alternates::read` gives has
//! the name that was asked for.

use super::packs::{hash, sha1};
use super::zlib;
use crate::review::state::Oid;
use crate::review::worktree::walk;
use gix::hash::{Kind, ObjectId};
use gix::odb::pack::{cache, data, index};
use std::collections::HashSet;
use std::fs;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Bytes of a content that is read. No content that we name is larger.
const LARGEST: usize = 128 << 20;
/// Bytes of a loose object's header: `blob`, a number, a zero.
const HEADER: usize = 32;
/// Stores, those that others go on to as well.
const MAX_STORES: usize = 64;
/// Packs of one store.
const MAX_PACKS: usize = 4096;
/// Bytes of a list of alternates.
const MAX_ALTERNATES: u64 = 64 << 10;

/// Where a content lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    /// In the pack with this index.
    Packed(PathBuf),
    Loose(PathBuf),
}

struct Pack {
    index: index::File,
    data: data::File,
}

/// A directory of objects. Its packs are opened when something is asked of it.
#[derive(Clone)]
struct Place {
    dir: PathBuf,
    packs: Arc<OnceLock<Vec<Pack>>>,
}

/// Object stores that are not ours, and what we keep of them.
#[derive(Clone, Default)]
pub(crate) struct Alternates {
    /// Ours first: only we write there.
    places: Vec<Place>,
}

impl Alternates {
    /// Opens the stores in these directories and those that they go on to; those that are gone are left out. `kept` is
    /// where we keep what they have.
    pub(crate) fn open(kept: &Path, dirs: &[PathBuf]) -> Self {
        let mut open: Vec<PathBuf> = dirs.iter().rev().cloned().collect();
        let (mut known, mut places) = (HashSet::new(), Vec::new());
        if kept.is_dir() {
            places.push(Place::new(kept.to_owned()));
        }
        while let Some(dir) = open.pop() {
            if known.len() >= MAX_STORES || !dir.is_dir() || !known.insert(dir.clone()) {
                continue;
            }
            open.extend(alternates(&dir));
            places.push(Place::new(dir));
        }
        Self { places }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The length of a blob, when it is there.
    pub(crate) fn size(&self, oid: &Oid) -> Option<u64> {
        self.places.iter().find_map(|place| {
            let packed = || place.packs().iter().find_map(|pack| pack.size(oid));
            // That one of those is damaged or forged is more likely; they are small.
            packed().or_else(|| loose(&place.loose(oid), oid).map(|bytes| bytes.len() as u64))
        })
    }

    /// The bytes of a blob.
    pub(crate) fn read(&self, oid: &Oid) -> Option<Vec<u8>> {
        self.places.iter().find_map(|place| {
            let packed = || place.packs().iter().find_map(|pack| pack.read(oid));
            packed().or_else(|| loose(&place.loose(oid), oid))
        })
    }

    /// Where the bytes of a blob can be had, the best place first.
    pub(crate) fn places(&self, oid: &Oid) -> impl Iterator<Item = Lies> {
        let id = ObjectId::Sha1(oid.0);
        self.places.iter().flat_map(move |place| {
            let packs = place.packs().iter().filter(move |pack| pack.index.lookup(id).is_some());
            let packed = packs.map(|pack| Lies::Packed(pack.index.path().to_owned()));
            let loose = place.loose(oid);
            packed.chain(loose.symlink_metadata().is_ok_and(|meta| meta.is_file()).then_some(Lies::Loose(loose)))
        })
    }

    /// Whether it is in the place that is ours.
    pub(crate) fn is_kept(&self, kept: &Path, oid: &Oid) -> bool {
        let id = ObjectId::Sha1(oid.0);
        self.places.first().filter(|place| place.dir == kept).is_some_and(|place| {
            place.packs().iter().any(|pack| pack.index.lookup(id).is_some()) || place.loose(oid).exists()
        })
    }

    /// We keep more of it than when this was opened.
    pub(crate) fn has_more(&mut self, kept: &Path) {
        self.places.retain(|place| place.dir != kept);
        self.places.insert(0, Place::new(kept.to_owned()));
    }

    /// Whether a loose object is what its name says.
    pub(crate) fn is_whole(path: &Path, oid: &Oid) -> bool {
        loose(path, oid).is_some()
    }
}

impl Place {
    fn new(dir: PathBuf) -> Self {
        Self { dir, packs: Arc::default() }
    }

    fn loose(&self, oid: &Oid) -> PathBuf {
        loose_path(&self.dir, oid)
    }

    fn packs(&self) -> &[Pack] {
        self.packs.get_or_init(|| {
            let entries = fs::read_dir(self.dir.join("pack")).into_iter().flatten().flatten();
            let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "idx"));
            let mut paths: Vec<PathBuf> = paths.take(MAX_PACKS).collect();
            paths.sort();
            paths.iter().filter_map(|path| Pack::open(path)).collect()
        })
    }
}

impl Pack {
    /// `None` for what is no pack, and for what would make us wait or read without end.
    fn open(path: &Path) -> Option<Self> {
        let packed = path.with_extension("pack");
        let is_file = |path: &Path| path.metadata().is_ok_and(|meta| meta.is_file());
        if !is_file(path) || !is_file(&packed) {
            return None;
        }
        let index = index::File::at(path, Kind::Sha1).ok()?;
        let data = data::File::at(packed, Kind::Sha1).ok()?;
        Some(Self { index, data: data.with_alloc_limit_bytes(Some(LARGEST)) })
    }

    fn entry(&self, id: &gix::hash::oid) -> Option<data::Entry> {
        let at = self.index.lookup(id)?;
        self.data.entry(self.index.pack_offset_at_index(at)).ok()
    }

    fn size(&self, oid: &Oid) -> Option<u64> {
        use data::decode::header::ResolvedBase;
        let entry = self.entry(&ObjectId::Sha1(oid.0))?;
        let base = |id: &gix::hash::oid| Ok(self.entry(id).map(ResolvedBase::InPack));
        let header = zlib::with_inflater(|inflater| self.data.decode_header(entry, inflater, &base)).ok()?;
        (header.kind == gix::objs::Kind::Blob).then_some(header.object_size)
    }

    fn read(&self, oid: &Oid) -> Option<Vec<u8>> {
        use data::decode::entry::ResolvedBase;
        let entry = self.entry(&ObjectId::Sha1(oid.0))?;
        let base = |id: &gix::hash::oid, _: &mut Vec<u8>| Ok(self.entry(id).map(ResolvedBase::InPack));
        let mut bytes = Vec::new();
        let decode = |inflater: &mut _| self.data.decode_entry(entry, &mut bytes, inflater, &base, &mut cache::Never);
        let found = zlib::with_inflater(decode).ok()?;
        (found.kind == gix::objs::Kind::Blob && hash(&bytes).is_ok_and(|is| is == *oid)).then_some(bytes)
    }
}

/// The place of a loose object below a directory of objects.
pub(crate) fn loose_path(dir: &Path, oid: &Oid) -> PathBuf {
    let name = oid.to_string();
    let (first, rest) = name.split_at(2);
    dir.join(first).join(rest)
}

/// The content of a loose object that is what its name says.
fn loose(path: &Path, oid: &Oid) -> Option<Vec<u8>> {
    let file = walk::open_plain(path)?;
    let mut bytes = zlib::unpack(&mut BufReader::new(file), LARGEST + HEADER).ok()??;
    let end = bytes.iter().take(HEADER).position(|byte| *byte == 0)?;
    let length: usize = std::str::from_utf8(bytes.get(..end)?.strip_prefix(b"blob ")?).ok()?.parse().ok()?;
    let is_whole = bytes.len() - end - 1 == length && sha1(&[&bytes]).is_ok_and(|sum| sum == oid.0);
    bytes.drain(..=end);
    is_whole.then_some(bytes)
}

/// The stores that a store goes on to.
fn alternates(dir: &Path) -> Vec<PathBuf> {
    let Some(file) = walk::open_plain(&dir.join("info").join("alternates")) else { return Vec::new() };
    let mut text = Vec::new();
    if file.take(MAX_ALTERNATES).read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    let paths = gix::odb::alternate::parse(&text).unwrap_or_default();
    paths.into_iter().map(|path| dir.join(path)).map(|path| path.canonicalize().unwrap_or(path)).collect()
}
