//! Contents that the person's repositories have, read only, and where they lie.
//!
//! Knows packs, loose objects and alternates; nothing of paths in the tree. Opens nothing for writing and takes no
//! lock. Invariants: only plain files are opened, nothing is mapped, and nothing without a bound is read, nor all together
//! in one look; what `Alternates::read` gives has the name that was asked for; and what is left out since it is too much
//! is counted.

use super::packs::{hash, sha1};
use super::their_pack::{Answer, LARGEST, TheirPack};
use super::trust::{Trust, worth};
use super::zlib;
use crate::review::state::Oid;
use crate::review::worktree::plain::FileId;
use crate::review::worktree::walk;
use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{BufReader, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of a loose object's header: `blob`, a number, a zero.
const HEADER: usize = 32;
/// Stores, those that others go on to as well.
const MAX_STORES: usize = 64;
/// Packs of all stores together; and of our own place. Git puts packs together when there are more than 50.
const MAX_PACKS: usize = 1024;
/// Of those, so many lists are held open.
const HELD: usize = 48;
/// So many that say to have a content which need not be there are asked for it.
const CLAIMS: usize = 3;
/// The same of one that is to be read since nothing else has it, as it seems: of those in the first place, in all others,
/// and of those that are not trusted.
const ASKED: usize = 8;
/// Names in a directory of packs.
const MAX_NAMES: usize = 1 << 16;
/// Bytes of a list of alternates.
const MAX_ALTERNATES: u64 = 64 << 10;

/// What came of reading a content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Whole(Vec<u8>),
    /// Some store says to have it, or cannot be read: there may be more another time.
    Unreadable,
    Nothing,
}

/// Where a content lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    /// In the pack with this index.
    Packed(PathBuf),
    Loose(PathBuf),
}

/// How many packs there are, and how many lists are held open.
#[derive(Default)]
struct Room {
    packs: AtomicUsize,
    held: AtomicUsize,
}

/// A directory of objects. Its packs are opened when something is asked of it.
#[derive(Clone)]
struct Place {
    dir: PathBuf,
    packs: Arc<OnceLock<Packs>>,
    room: Arc<Room>,
    trust: Arc<Trust>,
}

struct Packs {
    open: Vec<TheirPack>,
    /// There are some that are none, or cannot be read.
    is_less: bool,
}

/// Object stores that are not ours, and what we keep of them.
#[derive(Clone, Default)]
pub(crate) struct Alternates {
    /// Ours first: only we write there.
    places: Vec<Place>,
    /// Stores beyond those.
    left_out: usize,
    /// One is not there, or not at the moment.
    is_less: bool,
    pub(super) trust: Arc<Trust>,
}

impl Alternates {
    /// Opens the stores in these directories and those that they go on to; those that are gone are left out. `kept` is
    /// where we keep what they have.
    pub(crate) fn open(kept: &Path, dirs: &[PathBuf], trust: &Arc<Trust>) -> Self {
        let mut open: Vec<PathBuf> = dirs.iter().rev().cloned().collect();
        let (mut known, mut places, mut left_out, mut is_less) = (HashSet::new(), Vec::new(), 0, false);
        let room = Arc::<Room>::default();
        if kept.is_dir() {
            places.push(Place::new(kept.to_owned(), Arc::default(), trust));
        }
        while let Some(dir) = open.pop() {
            is_less |= !dir.is_dir();
            if known.contains(&dir) || !dir.is_dir() {
                continue;
            }
            if known.len() >= MAX_STORES {
                left_out += 1;
                continue;
            }
            known.insert(dir.clone());
            open.extend(alternates(&dir));
            places.push(Place::new(dir, room.clone(), trust));
        }
        Self { places, left_out, is_less, trust: trust.clone() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many packs and stores of others are left out, since there are too many; but for those in `kept`, which is ours.
    pub(crate) fn left_out(&self, kept: &Path) -> usize {
        let places = self.places.iter().filter(|place| place.dir != kept);
        self.left_out + places.map(|place| place.lists().count()).sum::<usize>().saturating_sub(MAX_PACKS)
    }

    /// The length of a blob as it is said there, when it is there.
    pub(crate) fn size(&self, oid: &Oid) -> Option<u64> {
        self.places.iter().find_map(|place| {
            let packed = || place.packs().iter().find_map(|pack| pack.size(oid));
            packed().or_else(|| length(&mut BufReader::new(walk::open_plain(&place.loose(oid))?)))
        })
    }

    /// The bytes of a blob.
    pub(crate) fn read(&self, oid: &Oid) -> Option<Vec<u8>> {
        match self.try_read(oid) {
            Read::Whole(bytes) => Some(bytes),
            Read::Unreadable | Read::Nothing => None,
        }
    }

    /// The same, with why there is none. What is nowhere else, as it seems, may cause some more work.
    pub(crate) fn try_read(&self, oid: &Oid) -> Read {
        self.trust.needs();
        self.read_with_what_is_left(oid)
    }

    /// The same, with no more work than any other content. Few of the packs that say so are asked at one time: those that
    /// have been right come first, those that have been wrong too often when no other has it, and each has its turn.
    pub(crate) fn read_with_what_is_left(&self, oid: &Oid) -> Read {
        let mut is_said = self.is_less;
        let mut whole = |read: Read| match read {
            Read::Whole(bytes) => Some(bytes),
            Read::Unreadable => {
                is_said = true;
                None
            }
            Read::Nothing => None,
        };
        let (first, others) = self.places.split_at(self.places.len().min(1));
        // Mostly it is where we keep it: the others need not be opened.
        let found = first.iter().find_map(|place| whole(place.read(oid)));
        let found = found.or_else(|| others.iter().find_map(|place| whole(place.read_loose(oid))));
        let trusted = || others.iter().flat_map(|place| place.packs().iter().filter(|pack| !pack.is_bad()));
        let found = found.or_else(|| whole(read_of(trusted(), oid)));
        let bad = || self.places.iter().flat_map(|place| place.packs().iter().filter(|pack| pack.is_bad()));
        match found.or_else(|| whole(read_of(bad(), oid))) {
            Some(bytes) => Read::Whole(bytes),
            None if is_said || self.is_spent() || self.places.iter().any(|place| place.opened().is_less) => {
                Read::Unreadable
            }
            None => Read::Nothing,
        }
    }

    /// Whether there was so much work for nothing that no more is done in this look.
    pub(crate) fn is_spent(&self) -> bool {
        self.trust.left() == 0
    }

    /// Whether these bytes, which have that name, can be read there. Asks for no more work than they are worth.
    pub(crate) fn holds(&self, oid: &Oid, bytes: &[u8]) -> bool {
        self.has_whole(oid, Some(bytes.len() as u64), &|is| is == bytes)
    }

    /// Whether a content is what it `is` to be where it is said to be. Few that say so are asked: it need not be there.
    fn has_whole(&self, oid: &Oid, most: Option<u64>, is: &dyn Fn(&[u8]) -> bool) -> bool {
        let mut asked = 0;
        self.places.iter().any(|place| {
            if place.loose_whole(oid, most.unwrap_or(LARGEST)).is_some() {
                return true;
            }
            let packs = place.packs().iter().filter(|pack| !pack.is_bad());
            for pack in packs {
                if asked == CLAIMS || self.is_spent() {
                    break;
                }
                match pack.ask(oid, most, is) {
                    Answer::Nothing => {}
                    Answer::Unable | Answer::Wrong => asked += 1,
                    Answer::Whole(_) => return true,
                }
            }
            false
        })
    }

    /// Whether one says to have it.
    pub(crate) fn claims(&self, oid: &Oid) -> bool {
        self.places.iter().any(|place| place.packs().iter().any(|pack| pack.has(oid)) || place.loose(oid).exists())
    }

    /// Where a blob was read as it should be in this run, or can be now; not the place that is ours.
    pub(crate) fn find(&self, kept: &Path, oid: &Oid) -> Option<Lies> {
        let known = || {
            let file = self.trust.whole(oid)?;
            self.places.iter().filter(|place| place.dir != kept).find_map(|place| place.with(oid, file))
        };
        known().or_else(|| self.has_whole(oid, None, &|bytes| is_named(bytes, oid)).then(known).flatten())
    }

    /// Whether it is said to be in the place that is ours.
    pub(crate) fn is_kept(&self, kept: &Path, oid: &Oid) -> bool {
        let has = |place: &Place| place.packs().iter().any(|pack| pack.has(oid)) || place.loose(oid).exists();
        self.kept(kept).is_some_and(has)
    }

    /// Whether it can be read in the place that is ours.
    pub(crate) fn keeps(&self, kept: &Path, oid: &Oid) -> bool {
        let is_known = |place: &Place| self.trust.whole(oid).is_some_and(|file| place.with(oid, file).is_some());
        self.kept(kept).is_some_and(|place| is_known(place) || matches!(place.read(oid), Read::Whole(_)))
    }

    fn kept(&self, kept: &Path) -> Option<&Place> {
        self.places.first().filter(|place| place.dir == kept)
    }

    /// We keep more of it than when this was opened.
    pub(crate) fn has_more(&mut self, kept: &Path) {
        self.places.retain(|place| place.dir != kept);
        self.places.insert(0, Place::new(kept.to_owned(), Arc::default(), &self.trust));
    }

    /// Whether a loose object is what its name says.
    pub(crate) fn is_whole(&self, path: &Path, oid: &Oid) -> bool {
        let file = path.symlink_metadata().ok().map(|meta| FileId::of(&meta));
        let is_read = || {
            let mut file = BufReader::new(walk::open_plain(path)?);
            let length = length(&mut file).filter(|length| *length <= LARGEST)?;
            unpacked(&mut file, oid, length)
        };
        file.is_some() && file == self.trust.whole(oid) || is_read().is_some()
    }
}

impl Place {
    fn new(dir: PathBuf, room: Arc<Room>, trust: &Arc<Trust>) -> Self {
        Self { dir, packs: Arc::default(), room, trust: trust.clone() }
    }

    fn loose(&self, oid: &Oid) -> PathBuf {
        loose_path(&self.dir, oid)
    }

    /// From what is loose, and from packs that have not been wrong too often.
    fn read(&self, oid: &Oid) -> Read {
        match self.read_loose(oid) {
            whole @ Read::Whole(_) => whole,
            loose => match read_of(self.packs().iter().filter(|pack| !pack.is_bad()), oid) {
                Read::Nothing => loose,
                packed => packed,
            },
        }
    }

    fn read_loose(&self, oid: &Oid) -> Read {
        match self.ask_loose(oid, LARGEST) {
            Answer::Whole(bytes) => Read::Whole(bytes),
            Answer::Nothing => Read::Nothing,
            Answer::Unable | Answer::Wrong => Read::Unreadable,
        }
    }

    /// A loose object that is what its name says.
    fn loose_whole(&self, oid: &Oid, most: u64) -> Option<Vec<u8>> {
        if let Answer::Whole(bytes) = self.ask_loose(oid, most) { Some(bytes) } else { None }
    }

    /// A loose object of `most` bytes, when it is what its name says. What unpacks to much more than it has may be made to
    /// cause work.
    fn ask_loose(&self, oid: &Oid, most: u64) -> Answer {
        let path = self.loose(oid);
        let Ok(meta) = path.symlink_metadata() else { return Answer::Nothing };
        let Some(mut file) = walk::open_plain(&path).map(BufReader::new) else { return Answer::Unable };
        let Some(length) = length(&mut file).filter(|length| *length <= most) else { return Answer::Wrong };
        let more = length.saturating_sub(worth(meta.len()));
        if more > 0 && self.trust.left() == 0 {
            return Answer::Unable;
        }
        let mut alone = None;
        self.trust.makes(length, &mut alone);
        match unpacked(&mut file, oid, length) {
            Some(bytes) => {
                self.trust.found(*oid, FileId::of(&meta));
                Answer::Whole(bytes)
            }
            None => {
                self.trust.was_for_nothing(more);
                Answer::Wrong
            }
        }
    }

    /// Where a blob lies, if that is in this file.
    fn with(&self, oid: &Oid, file: FileId) -> Option<Lies> {
        let packed = self.packs().iter().find(|pack| pack.file() == file && pack.has(oid));
        packed.map(|pack| Lies::Packed(pack.list().to_owned())).or_else(|| {
            let loose = self.loose(oid);
            let meta = loose.symlink_metadata().ok().filter(Metadata::is_file)?;
            (FileId::of(&meta) == file).then_some(Lies::Loose(loose))
        })
    }

    /// The lists of its packs.
    fn lists(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.dir.join("pack")).into_iter().flatten().flatten().take(MAX_NAMES);
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "idx"))
    }

    /// Those with the longest lists first: most is there, and few small ones that somebody makes do not hide them.
    fn packs(&self) -> &[TheirPack] {
        &self.opened().open
    }

    fn opened(&self) -> &Packs {
        self.packs.get_or_init(|| {
            let sized = self.lists().filter_map(|path| Some((path.metadata().ok()?.len(), path)));
            let mut lists: Vec<(u64, PathBuf)> = sized.collect();
            lists.sort_unstable_by(|a, b| b.cmp(a));
            let left = MAX_PACKS.saturating_sub(self.room.packs.fetch_add(lists.len(), Ordering::Relaxed));
            let open = |(_, path): &(u64, PathBuf)| {
                TheirPack::open(path, self.room.held.fetch_add(1, Ordering::Relaxed) < HELD, &self.trust)
            };
            let open: Vec<TheirPack> = lists.iter().take(left).filter_map(open).collect();
            Packs { is_less: open.len() < lists.len(), open }
        })
    }
}

/// The first of them that has it, those that have been right first, as far as not too many were asked in vain.
fn read_of<'a>(packs: impl Iterator<Item = &'a TheirPack>, oid: &Oid) -> Read {
    let mut packs: Vec<&TheirPack> = packs.collect();
    // Others ask them at the same time: each is looked at once.
    packs.sort_by_cached_key(|pack| pack.faults());
    let mut asked = 0;
    for pack in packs {
        match pack.ask(oid, None, &|bytes| is_named(bytes, oid)) {
            Answer::Nothing => {}
            Answer::Whole(bytes) => return Read::Whole(bytes),
            Answer::Unable | Answer::Wrong => asked += 1,
        }
        if asked == ASKED {
            break;
        }
    }
    if asked > 0 { Read::Unreadable } else { Read::Nothing }
}

fn is_named(bytes: &[u8], oid: &Oid) -> bool {
    hash(bytes).is_ok_and(|is| is == *oid)
}

/// The place of a loose object below a directory of objects.
pub(crate) fn loose_path(dir: &Path, oid: &Oid) -> PathBuf {
    let name = oid.to_string();
    let (first, rest) = name.split_at(2);
    dir.join(first).join(rest)
}

/// The content of a loose object of so many bytes that is what its name says.
fn unpacked(file: &mut BufReader<File>, oid: &Oid, length: u64) -> Option<Vec<u8>> {
    let mut bytes = zlib::unpack(file, length as usize + HEADER).ok()??;
    let (start, said) = header(&bytes)?;
    let is_whole = (bytes.len() - start) as u64 == said && sha1(&[&bytes]).is_ok_and(|sum| sum == oid.0);
    bytes.drain(..start);
    is_whole.then_some(bytes)
}

/// How long a loose object is by what it says. It can be read from its beginning afterwards.
fn length(file: &mut BufReader<File>) -> Option<u64> {
    let bytes = zlib::unpack_some(file, HEADER).ok()?;
    file.rewind().ok()?;
    Some(header(&bytes)?.1)
}

/// Where the content of a blob begins behind its header, and how long that says it is.
fn header(bytes: &[u8]) -> Option<(usize, u64)> {
    let end = bytes.iter().take(HEADER).position(|byte| *byte == 0)?;
    let length = std::str::from_utf8(bytes.get(..end)?.strip_prefix(b"blob ")?).ok()?.parse().ok()?;
    Some((end + 1, length))
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
