//! A pack of somebody else's, read piece by piece: whoever may write to it may cut it short at any moment, and what is mapped
//! then ends the process.
//!
//! Knows lists of version 2, whole objects and deltas; nothing of other packs. Invariants: nothing is mapped; no opening
//! waits; what is given has the name that was asked for; and the work for it is bounded, whatever the pack says.

use super::trust::{LEAST_WORTH, OPENED, Record, STEP, Trust, worth};
use super::zlib;
use crate::review::state::Oid;
use crate::review::worktree::plain::{self, FileId, Links};
use gix::hash::Kind;
use gix::odb::pack::data::Entry;
use gix::odb::pack::data::entry::Header;
use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a content that is read. No content that we name is larger.
pub(super) const LARGEST: u64 = 128 << 20;
/// Of what it is made of, a delta and what both make, at one time.
const TOGETHER: u64 = LARGEST;
/// Of one whose size is only said, no more is taken for its worth.
const LARGE: u64 = 32 << 20;
/// Deltas that one content is made of. Git makes 4,095 at most.
const CHAIN: usize = 4096;
/// Bytes that are made on the way to a content: a fixed number, and so many for each of its own.
const LEAST_WORK: u64 = 16 << 20;
const WORK: u64 = 64;
const MOST_WORK: u64 = 8 * LARGEST;
/// Deltas that are followed for the length of a content as a matter of course.
const FREE_STEPS: u64 = 64;
/// Bytes of what an entry of a pack begins with.
const BEGINNING: usize = 32;
/// Bytes of what a delta begins with: two numbers.
const LENGTHS: u64 = 20;
/// The beginning of a list, how many names begin with each byte or a smaller one, and where the names are.
const MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";
const FAN: u64 = MAGIC.len() as u64;
const NAMES: u64 = FAN + 256 * 4;
const NAME: u64 = 20;
/// Names that are read at a time.
const AT_ONCE: u64 = 256;
/// Places from here on stand in a table of their own.
const FAR: u32 = 1 << 31;

pub(super) struct TheirPack {
    list: PathBuf,
    /// The list, when it is held open.
    open: Option<File>,
    fan: Vec<u32>,
    file: FileId,
    record: Arc<Record>,
    trust: Arc<Trust>,
}

/// What came of asking a pack for a content.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It does not say to have it.
    Nothing,
    /// It says so; it cannot be read now, or there was too much to do.
    Unable,
    /// It says so, and has not.
    Wrong,
    Whole(Vec<u8>),
}

impl TheirPack {
    /// `None` for what is no pack with a list. `is_held`: the list stays open.
    pub(super) fn open(list: &Path, is_held: bool, trust: &Arc<Trust>) -> Option<Self> {
        let file = plain_file(list)?;
        let end = file.metadata().ok()?.len();
        let (mut magic, mut fan) = ([0; MAGIC.len()], [0; 256 * 4]);
        all_at(&file, &mut magic, 0)?;
        all_at(&file, &mut fan, FAN)?;
        let fan: Vec<u32> = fan.as_chunks().0.iter().map(|four| u32::from_be_bytes(*four)).collect();
        let count = u64::from(*fan.last()?);
        let is_list = magic == *MAGIC && fan.is_sorted() && end >= NAMES + count * (NAME + 8) + 2 * NAME;
        let pack = FileId::of(&plain_file(&list.with_extension("pack"))?.metadata().ok()?);
        is_list.then(|| Self {
            list: list.to_owned(),
            open: is_held.then_some(file),
            fan,
            file: pack,
            record: trust.record(pack),
            trust: trust.clone(),
        })
    }

    /// The file that it was when it was opened.
    pub(super) const fn file(&self) -> FileId {
        self.file
    }

    pub(super) fn is_bad(&self) -> bool {
        self.record.is_bad()
    }

    pub(super) fn faults(&self) -> i64 {
        self.record.faults()
    }

    pub(super) fn list(&self) -> &Path {
        &self.list
    }

    pub(super) fn count(&self) -> u64 {
        self.fan.last().copied().map_or(0, u64::from)
    }

    pub(super) fn has(&self, oid: &Oid) -> bool {
        self.place(oid).is_ok_and(|place| place.is_some())
    }

    /// How long a blob is by what the pack says.
    pub(super) fn size(&self, oid: &Oid) -> Option<u64> {
        let place = self.place(oid).ok()??;
        let pack = plain_file(&self.list.with_extension("pack"))?;
        let mut work = Work { done: 0, most: self.trust.left() };
        let chain = self.chain(&pack, place, &mut work);
        let free = if work.is_too_much() { 0 } else { FREE_STEPS * STEP };
        self.trust.spend(work.done.saturating_sub(free));
        let (chain, first) = chain?;
        let Some((at, size)) = chain.first() else { return Some(first.decompressed_size) };
        let lengths = zlib::unpack_some(&mut from(&pack, *at)?, (*size).min(LENGTHS) as usize).ok()?;
        let mut lengths = &*lengths;
        number(&mut lengths)?;
        number(&mut lengths)
    }

    /// A blob, when it is what it `is` to be; `most` is known of one that has so many bytes at most.
    pub(super) fn ask(&self, oid: &Oid, most: Option<u64>, is: &dyn Fn(&[u8]) -> bool) -> Answer {
        let place = match self.place(oid) {
            Ok(Some(place)) => place,
            Ok(None) => return Answer::Nothing,
            Err(Unread) => return Answer::Unable,
        };
        let Some(pack) = plain_file(&self.list.with_extension("pack")) else { return Answer::Unable };
        let left = self.trust.left();
        if left == 0 {
            return Answer::Unable;
        }
        let mut work = Work { done: 0, most: left.saturating_add(most.map_or(LEAST_WORTH, worth)) };
        match self.unpacked(&pack, place, most, &mut work).filter(|bytes| is(bytes)) {
            Some(bytes) => {
                // What has to be read, since nothing else has it, is worth whatever it takes.
                let work = if most.is_some() { work.done } else { 0 };
                self.trust.was_right(&self.record, work, bytes.len() as u64);
                if let Ok(meta) = pack.metadata() {
                    self.trust.found(*oid, FileId::of(&meta));
                }
                Answer::Whole(bytes)
            }
            None if work.is_too_much() => {
                // Others may have it for less.
                self.trust.was_wrong(&self.record, work.done);
                Answer::Unable
            }
            None => {
                self.trust.was_wrong(&self.record, work.done);
                Answer::Wrong
            }
        }
    }

    /// What stands at a place, whatever it is.
    fn unpacked(&self, pack: &File, place: u64, most: Option<u64>, work: &mut Work) -> Option<Vec<u8>> {
        let (chain, first) = self.chain(pack, place, work)?;
        if most.is_none() {
            work.most = work.most.saturating_add(worth(first.decompressed_size.min(LARGE)));
        }
        let most = most.unwrap_or(LARGEST);
        let mut alone = None;
        let mut left = most.saturating_mul(WORK).saturating_add(LEAST_WORK).min(MOST_WORK);
        let mut unpacked = |at: u64, size: u64, work: &mut Work, alone: &mut Option<_>| {
            let most = if chain.is_empty() { most } else { LARGEST };
            left = left.checked_sub(size).filter(|_| size <= most)?;
            work.goes_on(size)?;
            self.trust.makes(size, alone);
            let bytes = zlib::unpack(&mut from(pack, at)?, size as usize).ok()??;
            (bytes.len() as u64 == size).then_some((bytes, left))
        };
        let (mut bytes, _) = unpacked(first.data_offset, first.decompressed_size, work, &mut alone)?;
        let mut made = 0;
        for (at, size) in chain.iter().rev() {
            let room = TOGETHER.checked_sub(bytes.len() as u64)?.checked_sub(*size)?;
            let (delta, left) = unpacked(*at, *size, work, &mut alone)?;
            let most = left.checked_sub(made)?.min(room);
            self.trust.makes(made_by(&delta)?, &mut alone);
            bytes = applied(&bytes, &delta, most)?;
            made += bytes.len() as u64;
            // To copy is less work than to unpack.
            work.goes_on(bytes.len() as u64 / 8)?;
        }
        (bytes.len() as u64 <= most).then_some(bytes)
    }

    /// Where in the pack an object begins, when it has it.
    fn place(&self, oid: &Oid) -> Result<Option<u64>, Unread> {
        let first = usize::from(oid.0[0]);
        let upto = |byte: usize| self.fan.get(byte).copied().map(u64::from).ok_or(Unread);
        let below = first.checked_sub(1).map_or(Ok(0), upto)?;
        let (mut low, mut high) = (below, upto(first)?);
        if low == high {
            return Ok(None);
        }
        let is_opened = self.open.is_none() && self.trust.spend(OPENED);
        let opened = if is_opened { plain_file(&self.list) } else { None };
        let list = self.open.as_ref().or(opened.as_ref()).ok_or(Unread)?;
        let read = |bytes: &mut [u8], at: u64| all_at(list, bytes, at).ok_or(Unread);
        let mut name = [0; NAME as usize];
        while high - low > AT_ONCE {
            let middle = u64::midpoint(low, high);
            read(&mut name, NAMES + middle * NAME)?;
            if name > oid.0 { high = middle } else { low = middle }
        }
        let mut names = [0; (AT_ONCE * NAME) as usize];
        let names = names.get_mut(..((high - low) * NAME) as usize).ok_or(Unread)?;
        read(names, NAMES + low * NAME)?;
        let Ok(at) = names.as_chunks().0.binary_search(&oid.0) else { return Ok(None) };
        let (at, count, mut near, mut far) = (low + at as u64, self.count(), [0; 4], [0; 8]);
        read(&mut near, NAMES + count * (NAME + 4) + at * 4)?;
        let near = u32::from_be_bytes(near);
        if near < FAR {
            return Ok(Some(near.into()));
        }
        read(&mut far, NAMES + count * (NAME + 8) + u64::from(near - FAR) * 8)?;
        Ok(Some(u64::from_be_bytes(far)))
    }

    /// Where the deltas begin that a blob is made of and how long each is, the last one first, and what they begin with.
    fn chain(&self, pack: &File, place: u64, work: &mut Work) -> Option<(Vec<(u64, u64)>, Entry)> {
        let (mut chain, mut entry) = (Vec::new(), entry(pack, place)?);
        loop {
            let base = match entry.header {
                Header::Blob => return Some((chain, entry)),
                Header::Tree | Header::Commit | Header::Tag => return None,
                Header::OfsDelta { base_distance } => entry.checked_base_pack_offset(base_distance)?,
                Header::RefDelta { base_id } => self.place(&Oid(base_id.as_bytes().try_into().ok()?)).ok()??,
            };
            if chain.len() == CHAIN {
                return None;
            }
            work.goes_on(STEP)?;
            chain.push((entry.data_offset, entry.decompressed_size));
            entry = self::entry(pack, base)?;
        }
    }
}

/// The list of a pack cannot be read.
struct Unread;

/// The work for one content, in bytes, and how much it may be.
struct Work {
    done: u64,
    most: u64,
}

impl Work {
    fn goes_on(&mut self, more: u64) -> Option<()> {
        self.done = self.done.saturating_add(more);
        (!self.is_too_much()).then_some(())
    }

    const fn is_too_much(&self) -> bool {
        self.done > self.most
    }
}

fn plain_file(path: &Path) -> Option<File> {
    plain::open_file(path, Links::Followed).ok().flatten()
}

/// Fills all of `bytes`.
fn all_at(file: &File, bytes: &mut [u8], at: u64) -> Option<()> {
    (plain::read_at(file, bytes, at)? == bytes.len()).then_some(())
}

fn entry(pack: &File, at: u64) -> Option<Entry> {
    let mut bytes = [0; BEGINNING];
    // No offset is larger than a file may be.
    i64::try_from(at.checked_add(BEGINNING as u64)?).ok()?;
    let length = plain::read_at(pack, &mut bytes, at)?;
    Entry::from_bytes(bytes.get(..length)?, at, Kind::Sha1).ok()
}

fn from(mut pack: &File, at: u64) -> Option<BufReader<&File>> {
    pack.seek(SeekFrom::Start(at)).ok()?;
    Some(BufReader::new(pack))
}

/// A number as a delta begins with two of: seven bits in each byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut all = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        all |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(all);
        }
    }
    None
}

/// How much a delta says to make.
fn made_by(mut delta: &[u8]) -> Option<u64> {
    number(&mut delta)?;
    number(&mut delta)
}

/// What a delta makes of what it is based on, when that is what it says and no more than `most`.
fn applied(base: &[u8], mut delta: &[u8], most: u64) -> Option<Vec<u8>> {
    let (before, after) = (number(&mut delta)?, number(&mut delta)?);
    if before != base.len() as u64 || after > most {
        return None;
    }
    let mut made = Vec::new();
    while let Some((step, rest)) = delta.split_first() {
        let piece;
        if step & 0x80 == 0 {
            (piece, delta) = rest.split_at_checked(usize::from(*step)).filter(|_| *step > 0)?;
        } else {
            delta = rest;
            // Of a number only the bytes stand there that a bit is set for.
            let mut bytes = |bits: std::ops::Range<u32>| {
                bits.enumerate().filter(|(_, bit)| step & 1 << bit != 0).try_fold(0, |all, (place, _)| {
                    let (byte, rest) = delta.split_first()?;
                    delta = rest;
                    Some(all | usize::from(*byte) << (8 * place))
                })
            };
            let (at, length) = (bytes(0..4)?, bytes(4..7)?);
            let length = if length == 0 { 0x10000 } else { length };
            piece = base.get(at..at.checked_add(length)?)?;
        }
        if (made.len() + piece.len()) as u64 > after {
            return None;
        }
        made.extend_from_slice(piece);
    }
    (made.len() as u64 == after).then_some(made)
}

#[cfg(test)]
#[path = "their_pack_tests.rs"]
mod tests;
