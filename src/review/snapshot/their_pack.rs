//! A pack of somebody else's, read piece by piece: whoever may write to it may cut it short at any moment, and what is mapped
//! then ends the process.
//!
//! Knows lists of version 2, whole objects and deltas; nothing of other packs. Invariants: nothing is mapped; no opening
//! waits; what is given has the name that was asked for; and the work for it is bounded, whatever the pack says.

use super::packs::hash;
use super::zlib;
use crate::review::state::Oid;
use crate::review::worktree::plain::{self, Links};
use gix::hash::Kind;
use gix::odb::pack::data::Entry;
use gix::odb::pack::data::entry::Header;
use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes of a content that is read. No content that we name is larger.
pub(super) const LARGEST: u64 = 128 << 20;
/// Deltas that one content is made of. Git makes 4,095 at most.
const CHAIN: usize = 4096;
/// Bytes that are made on the way to a content: a fixed number, and so many for each of its own.
const LEAST_WORK: u64 = 16 << 20;
const WORK: u64 = 64;
const MOST_WORK: u64 = 8 * LARGEST;
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
}

impl TheirPack {
    /// `None` for what is no pack with a list. `is_held`: the list stays open.
    pub(super) fn open(list: &Path, is_held: bool) -> Option<Self> {
        let file = plain_file(list)?;
        let end = file.metadata().ok()?.len();
        let (mut magic, mut fan) = ([0; MAGIC.len()], [0; 256 * 4]);
        all_at(&file, &mut magic, 0)?;
        all_at(&file, &mut fan, FAN)?;
        let fan: Vec<u32> = fan.as_chunks().0.iter().map(|four| u32::from_be_bytes(*four)).collect();
        let count = u64::from(*fan.last()?);
        let is_list = magic == *MAGIC && fan.is_sorted() && end >= NAMES + count * (NAME + 8) + 2 * NAME;
        plain_file(&list.with_extension("pack"))?;
        is_list.then(|| Self { list: list.to_owned(), open: is_held.then_some(file), fan })
    }

    pub(super) fn list(&self) -> &Path {
        &self.list
    }

    pub(super) fn count(&self) -> u64 {
        self.fan.last().copied().map_or(0, u64::from)
    }

    pub(super) fn has(&self, oid: &Oid) -> bool {
        self.place(oid).is_some()
    }

    /// How long a blob is by what the pack says.
    pub(super) fn size(&self, oid: &Oid) -> Option<u64> {
        let place = self.place(oid)?;
        let pack = plain_file(&self.list.with_extension("pack"))?;
        let (chain, first) = self.chain(&pack, place)?;
        let Some((at, size)) = chain.first() else { return Some(first.decompressed_size) };
        let lengths = zlib::unpack_some(&mut from(&pack, *at)?, (*size).min(LENGTHS) as usize).ok()?;
        let mut lengths = &*lengths;
        number(&mut lengths)?;
        number(&mut lengths)
    }

    /// A blob of `most` bytes at most.
    pub(super) fn read(&self, oid: &Oid, most: u64) -> Option<Vec<u8>> {
        self.unpacked(oid, most).filter(|bytes| hash(bytes).is_ok_and(|is| is == *oid))
    }

    /// What stands there under that name, whatever it is.
    pub(super) fn unpacked(&self, oid: &Oid, most: u64) -> Option<Vec<u8>> {
        let place = self.place(oid)?;
        let pack = plain_file(&self.list.with_extension("pack"))?;
        let (chain, first) = self.chain(&pack, place)?;
        let mut left = most.saturating_mul(WORK).saturating_add(LEAST_WORK).min(MOST_WORK);
        let mut unpacked = |at: u64, size: u64| {
            let most = if chain.is_empty() { most } else { LARGEST };
            left = left.checked_sub(size).filter(|_| size <= most)?;
            let bytes = zlib::unpack(&mut from(&pack, at)?, size as usize).ok()??;
            (bytes.len() as u64 == size).then_some((bytes, left))
        };
        let (mut bytes, _) = unpacked(first.data_offset, first.decompressed_size)?;
        let mut made = 0;
        for (at, size) in chain.iter().rev() {
            let (delta, left) = unpacked(*at, *size)?;
            bytes = applied(&bytes, &delta, left.checked_sub(made)?.min(LARGEST))?;
            made += bytes.len() as u64;
        }
        (bytes.len() as u64 <= most).then_some(bytes)
    }

    /// Where in the pack an object begins.
    fn place(&self, oid: &Oid) -> Option<u64> {
        let first = usize::from(oid.0[0]);
        let below = first.checked_sub(1).map_or(Some(0), |before| self.fan.get(before).copied())?;
        let (mut low, mut high) = (u64::from(below), u64::from(*self.fan.get(first)?));
        if low == high {
            return None;
        }
        let opened = if self.open.is_none() { plain_file(&self.list) } else { None };
        let list = self.open.as_ref().or(opened.as_ref())?;
        let mut name = [0; NAME as usize];
        while high - low > AT_ONCE {
            let middle = u64::midpoint(low, high);
            all_at(list, &mut name, NAMES + middle * NAME)?;
            if name > oid.0 { high = middle } else { low = middle }
        }
        let mut names = [0; (AT_ONCE * NAME) as usize];
        let names = names.get_mut(..((high - low) * NAME) as usize)?;
        all_at(list, names, NAMES + low * NAME)?;
        let at = low + names.as_chunks().0.binary_search(&oid.0).ok()? as u64;
        let (count, mut near, mut far) = (self.count(), [0; 4], [0; 8]);
        all_at(list, &mut near, NAMES + count * (NAME + 4) + at * 4)?;
        let near = u32::from_be_bytes(near);
        if near < FAR {
            return Some(near.into());
        }
        all_at(list, &mut far, NAMES + count * (NAME + 8) + u64::from(near - FAR) * 8)?;
        Some(u64::from_be_bytes(far))
    }

    /// Where the deltas begin that a blob is made of and how long each is, the last one first, and what they begin with.
    fn chain(&self, pack: &File, place: u64) -> Option<(Vec<(u64, u64)>, Entry)> {
        let (mut chain, mut entry) = (Vec::new(), entry(pack, place)?);
        loop {
            let base = match entry.header {
                Header::Blob => return Some((chain, entry)),
                Header::Tree | Header::Commit | Header::Tag => return None,
                Header::OfsDelta { base_distance } => entry.checked_base_pack_offset(base_distance)?,
                Header::RefDelta { base_id } => self.place(&Oid(base_id.as_bytes().try_into().ok()?))?,
            };
            if chain.len() == CHAIN {
                return None;
            }
            chain.push((entry.data_offset, entry.decompressed_size));
            entry = self::entry(pack, base)?;
        }
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
