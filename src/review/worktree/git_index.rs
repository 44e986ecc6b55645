//! The index of a repository of the person's: the files that git looks after, and their blobs.
//!
//! Reads only. What lies there may be forged: it is measured before it is decoded. Invariant: memory has a bound that
//! does not depend on what the file says of itself.

use super::plain::{self, Links, Odd};
use super::repo::is_attributes;
use super::walk::{self, Kind, RelPath, Stat};
use crate::review::state::Oid;
use gix::bstr::{BStr, ByteSlice as _};
use gix::hash::Kind as Hash;
use gix::index::decode::Options;
use gix::index::entry::{Flags, Mode, Stage};
use gix::index::{File, State};
use std::collections::BTreeSet;
use std::path::Path;

/// Larger indices are not read; one of this size has more files than are covered.
const LARGEST: u64 = 64 << 20;
/// The names of all files in an index, bytes: a short index may have long ones.
const NAMES: usize = 64 << 20;
/// What an index ends with: its sum, which it need not have; as long as the names of objects.
const SUM: usize = 20;
/// The same where they are made with SHA-256.
const LONG_SUM: usize = 32;

/// The index of a repository.
pub(crate) struct Index {
    file: File,
    /// Of our root in the working tree, with a `/` at its end.
    prefix: Vec<u8>,
    /// When the index was written.
    pub(crate) written: walk::Time,
}

/// What an index says of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    /// Below the root.
    pub path: &'a [u8],
    /// Of a conflict, a number from 1.
    pub stage: u8,
    pub mode: u32,
    pub oid: Oid,
}

/// Why an index cannot be made use of, if so. Reads it.
pub(crate) fn why_not(path: &Path) -> Option<Odd> {
    read(path).err()
}

/// The names of all files that an index has, also of another one that it goes on from, and of some that it has not any
/// more; from the top of the working tree.
pub(crate) fn names(path: &Path, is_long: bool, each: &mut dyn FnMut(&[u8])) -> Result<(), Odd> {
    let sum = if is_long { LONG_SUM } else { SUM };
    let Some(bytes) = plain::read(path, Links::Followed, LARGEST)? else { return Ok(()) };
    if let Some(base) = layout(&bytes, sum, each).ok_or(Odd::Broken)?.base {
        let shared = path.with_file_name(format!("sharedindex.{base}"));
        let bytes = plain::read(&shared, Links::Followed, LARGEST)?.ok_or(Odd::Broken)?;
        layout(&bytes, sum, each).ok_or(Odd::Broken)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Option<File>, Odd> {
    let Some(bytes) = plain::read(path, Links::Followed, LARGEST)? else { return Ok(None) };
    let layout = layout(&bytes, SUM, &mut |_| {}).ok_or(Odd::Broken)?;
    if let Some(base) = layout.base {
        return split(path, &bytes, &base).map(Some);
    }
    // What comes after the entries is of no use here.
    let mut bytes = bytes;
    bytes.truncate(layout.end);
    bytes.extend_from_slice(&[0; SUM]);
    let options = Options { thread_limit: Some(1), ..Options::default() };
    let time = State::new(Hash::Sha1).timestamp();
    let (state, _) = State::from_bytes(&bytes, time, Hash::Sha1, options).map_err(|_| Odd::Broken)?;
    Ok(Some(File::from_state(state, path)))
}

/// An index that goes on from another one beside it. They are joined where no other program can exchange them.
fn split(path: &Path, bytes: &[u8], base: &str) -> Result<File, Odd> {
    let name = format!("sharedindex.{base}");
    let shared = plain::read(&path.with_file_name(&name), Links::Followed, LARGEST)?.ok_or(Odd::Broken)?;
    layout(&shared, SUM, &mut |_| {}).filter(|layout| layout.base.is_none()).ok_or(Odd::Broken)?;
    let joined = || {
        let dir = tempfile::tempdir().ok()?;
        let index = dir.path().join("index");
        std::fs::write(dir.path().join(&name), shared).ok()?;
        std::fs::write(&index, bytes).ok()?;
        File::at(index, Hash::Sha1, true, Options { thread_limit: Some(1), ..Options::default() }).ok()
    };
    joined().ok_or(Odd::Broken)
}

/// What an index has, as far as that is to be known before it is decoded.
struct Layout {
    /// Where the entries end.
    end: usize,
    /// The name of the index that it goes on from.
    base: Option<String>,
}

/// Goes over the entries of an index; `None` when they are not what git writes, or their names are too long in all. Names
/// of objects have `sum` bytes.
fn layout(bytes: &[u8], sum: usize, each: &mut dyn FnMut(&[u8])) -> Option<Layout> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    let (version, count) = (number(4)?, number(8)?);
    if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let body = bytes.get(..bytes.len().checked_sub(sum)?)?;
    let (mut at, mut names, mut name) = (12, 0_usize, Vec::new());
    for _ in 0..count {
        let begin = at;
        let flags = body.get(at + sum + 40..at + sum + 42)?;
        at += sum + if flags[0] & 0x40 == 0 { 42 } else { 44 };
        if version == 4 {
            let (gone, used) = varint(body.get(at..)?)?;
            at += used;
            name.truncate(name.len().checked_sub(gone)?);
        } else {
            name.clear();
        }
        let own = body.get(at..)?.find_byte(0)?;
        name.extend_from_slice(body.get(at..at + own)?);
        at += own + 1;
        names += name.len();
        if names > NAMES {
            return None;
        }
        each(&name);
        if version != 4 {
            // Filled up to a multiple of eight, with one zero at least.
            at = begin + (at - 1 - begin + 8) / 8 * 8;
        }
    }
    let end = at;
    let mut base = None;
    while let (Some(name), Some(size)) = (body.get(at..at + 4), number(at + 4)) {
        let begin = at + 8;
        at = begin.checked_add(size as usize).filter(|end| *end <= body.len())?;
        if name == b"link" {
            let id = body.get(begin..begin + sum).filter(|_| size as usize >= sum)?;
            // Nothing: it is whole all the same.
            base = id.iter().any(|byte| *byte != 0).then(|| hex(id));
        }
    }
    (end <= body.len()).then_some(Layout { end, base })
}

pub(super) fn hex(id: &[u8]) -> String {
    let digits = id.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// A number as version 4 writes it, and its length.
pub(super) fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        value = value << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}

impl Index {
    /// Reads it; `prefix` is our root in the working tree, with a `/` at its end.
    pub(crate) fn read(path: &Path, prefix: Vec<u8>) -> Option<Self> {
        let written = Stat::of_meta(&path.metadata().ok()?).mtime;
        Some(Self { file: read(path).ok()??, prefix, written })
    }

    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    fn ours(&self) -> impl Iterator<Item = (&gix::index::Entry, &[u8])> {
        let entries = match self.prefix.as_slice() {
            b"" => self.file.entries(),
            prefix => self.file.prefixed_entries(prefix.as_bstr()).unwrap_or_default(),
        };
        entries.iter().filter_map(|entry| Some((entry, entry.path(&self.file).strip_prefix(&self.prefix[..])?)))
    }

    /// The paths below the root that the person has put under git's care.
    pub(crate) fn tracked(&self) -> impl Iterator<Item = &[u8]> {
        self.ours()
            .filter(|(entry, _)| {
                matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE | Mode::SYMLINK)
                    && !entry.flags.contains(Flags::SKIP_WORKTREE)
            })
            .map(|(_, path)| path)
    }

    /// All that it says of paths below the root, submodules included.
    pub(crate) fn named_all(&self) -> impl Iterator<Item = Named<'_>> {
        self.ours().filter_map(|(entry, path)| {
            let oid = Oid(entry.id.as_bytes().try_into().ok()?);
            Some(Named { path, stage: entry.stage_raw() as u8, mode: entry.mode.bits(), oid })
        })
    }

    /// Whether there are attributes that only git has.
    pub(crate) fn hides_attributes(&self, seen: &BTreeSet<RelPath>) -> bool {
        self.tracked().any(|path| is_attributes(path) && !seen.contains(path))
    }

    /// The name of the blob that it has for a path, whatever the file is now.
    pub(crate) fn named(&self, key: &[u8]) -> Option<Oid> {
        let path = [&self.prefix[..], key].concat();
        let at = self.file.entry_index_by_path_and_stage(BStr::new(&path), Stage::Unconflicted)?;
        let entry = self.file.entries().get(at)?;
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE | Mode::SYMLINK);
        let is_there = is_file && !entry.flags.contains(Flags::INTENT_TO_ADD);
        is_there.then(|| entry.id.as_bytes().try_into().ok().map(Oid)).flatten()
    }

    /// The name of the blob of a file that is unchanged since git has looked at it.
    pub(crate) fn blob(&self, key: &RelPath, stat: &Stat) -> Option<Oid> {
        let path = [&self.prefix[..], key].concat();
        let at = self.file.entry_index_by_path_and_stage(BStr::new(&path), Stage::Unconflicted)?;
        let entry = self.file.entries().get(at)?;
        let mode_fits = match stat.kind {
            Kind::File => matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE),
            Kind::Link => entry.mode == Mode::SYMLINK,
            Kind::Dir | Kind::Other => false,
        };
        let given = &entry.stat;
        let same = |time: walk::Time, secs: u32, nsecs: u32| time.0 as u32 == secs && (nsecs == 0 || time.1 == nsecs);
        // Without fractions the whole second is in doubt.
        let written = if given.mtime.nsecs == 0 { (self.written.0, 0) } else { self.written };
        let fits = mode_fits
            && !entry.flags.intersects(Flags::INTENT_TO_ADD | Flags::SKIP_WORKTREE)
            && given.size == stat.size as u32
            && given.ino == stat.ino as u32
            && same(stat.mtime, given.mtime.secs, given.mtime.nsecs)
            && same(stat.ctime, given.ctime.secs, given.ctime.nsecs)
            && stat.touched() < written;
        fits.then(|| entry.id.as_bytes().try_into().ok().map(Oid)).flatten()
    }
}

#[cfg(test)]
#[path = "git_index_tests.rs"]
mod tests;
