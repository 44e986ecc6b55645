//! What the files that git's rules hide had in them at the first look, by a hash of it or at least by its size.
//!
//! Keeps no content, and nothing in memory: what was taken is in a file of the store. Invariants: it is bounded in files
//! and bytes that are read; what is called lost was there, and is nowhere where it was.

use super::capture::racy;
use super::packs::{hash, sha1};
use crate::review::error::ReviewError;
use crate::review::state::{Oid, State};
use crate::review::worktree::git_form::{Beginning, begins};
use crate::review::worktree::walk::{self, Found, Kind, Reader, RelPath, Stat, Time};
use crate::store::private::{open, open_as, private_file};
use flate2::read::MultiGzDecoder;
use memchr::memmem;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

const FILE: &str = "ignored-contents";
/// Files that are taken note of, those near the root first.
const FILES: usize = 10_000;
/// Of those, files that are read; bytes of one, and of all.
const READ: usize = 2_000;
const ONE: u64 = 1 << 20;
const ALL: u64 = 16 << 20;

/// Bytes of the sum that such a file of ours ends with.
const SUM: usize = 20;
/// None is longer.
const LONGEST: u64 = 64 << 20;
/// Names of what is gone that are looked for in an archive, and bytes of it that are looked through.
const SOUGHT: usize = 100;
const SEARCHED: u64 = 64 << 20;
/// Archives that have names as they are.
const OPEN: &[&[u8]] = &[b"PK\x03\x04", b"PK\x07\x08", b"070701", b"070707"];
const GZIP: &[u8] = b"\x1f\x8b";

/// What is known of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Print {
    size: u64,
    /// Its number and when it was touched last; nothing when it may have changed since without a trace in its times.
    touched: Option<(u64, Time)>,
    /// Of what was read.
    oid: Option<Oid>,
}

/// What was ignored at the first look, as far as it was taken note of.
#[derive(Default)]
pub(crate) struct Fingerprints {
    root: PathBuf,
    files: BTreeMap<RelPath, Print>,
    sizes: HashMap<u64, Vec<RelPath>>,
}

/// Takes note of these files, in their order, below `store`.
pub(crate) fn note(
    store: &Path,
    root: &Path,
    began: Time,
    names: impl Iterator<Item = RelPath>,
) -> Result<(), ReviewError> {
    let mut reader = Reader::new(root);
    let (mut files, mut left) = (BTreeMap::new(), ALL);
    for key in names.take(FILES) {
        let Ok(Some(stat)) = reader.stat(&key) else { continue };
        if !matches!(stat.kind, Kind::File | Kind::Link) || stat.size == 0 {
            continue;
        }
        let is_read = files.len() < READ && stat.size <= ONE.min(left);
        let oid = if is_read { content(&mut reader, &key)? } else { None };
        left -= if is_read { stat.size.min(left) } else { 0 };
        let touched = Some(numbers(&stat)).filter(|_| !racy(&stat, began));
        files.insert(key, Print { size: stat.size, touched, oid });
    }
    write(&store.join(FILE), &to_bytes(&files))
}

fn numbers(stat: &Stat) -> (u64, Time) {
    (stat.ino, stat.touched())
}

/// The name of what is there, as far as it is read.
fn content(reader: &mut Reader, key: &[u8]) -> Result<Option<Oid>, ReviewError> {
    Ok(match reader.read(key, ONE) {
        Ok(Found::File { bytes, torn: false, .. }) => Some(hash(&bytes)?),
        Ok(Found::Link { target, .. }) => Some(hash(&target)?),
        _ => None,
    })
}

impl Fingerprints {
    /// As noted below `store`.
    pub(crate) fn read(store: &Path, root: &Path) -> Self {
        Self::new(root, read(&store.join(FILE)).map(|(_, bytes)| of_bytes(&bytes)).unwrap_or_default())
    }

    fn new(root: &Path, files: BTreeMap<RelPath, Print>) -> Self {
        let mut sizes: HashMap<u64, Vec<RelPath>> = HashMap::new();
        for (key, print) in &files {
            sizes.entry(print.size).or_default().push(key.clone());
        }
        Self { root: root.to_owned(), files, sizes }
    }

    /// The file of which that may be the only copy: one with the same content or, where that was not read, of the same
    /// size and name, or too large for a size to be the same by chance. Nothing when one of them has it still, and does
    /// not go.
    pub(crate) fn lost_with(&self, path: &Path, state: &State, goes: &dyn Fn(&Path) -> bool) -> Option<&Path> {
        let size = match state {
            State::Absent => return None,
            State::File { size, .. } | State::Link { size, .. } | State::Unkept { size, .. } => size,
        };
        let is_it = |key: &RelPath, print: &Print| match (print.oid, state.oid()) {
            (Some(was), Some(is)) => was == is,
            _ => print.size > ONE || walk::path(key).file_name() == path.file_name(),
        };
        let named = self.sizes.get(size)?.iter();
        let had: Vec<_> = named.filter_map(|key| self.files.get_key_value(key)).filter(|(k, p)| is_it(k, p)).collect();
        let mut reader = Reader::new(&self.root);
        let mut has_it = |key: &RelPath, print: &Print| !goes(walk::path(key)) && print.is_whole(key, &mut reader);
        let first = had.first().map(|(key, _)| *key);
        first.filter(|_| !had.iter().any(|(key, print)| has_it(key, print))).map(|key| walk::path(key))
    }

    /// What is gone, but for what `is_kept`.
    pub(crate) fn gone(&self, is_kept: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut reader = Reader::new(&self.root);
        let mut is_no_file = |key: &RelPath| {
            reader.stat(key).is_ok_and(|stat| stat.is_none_or(|stat| !matches!(stat.kind, Kind::File | Kind::Link)))
        };
        let mut is_gone = |key: &RelPath| is_no_file(key) && !is_kept(walk::path(key));
        self.files.keys().filter(|key| is_gone(key)).map(|key| walk::path(key).to_owned()).collect()
    }

    /// Which of what is `gone` may be in the archive that is there.
    pub(crate) fn in_archive<'a>(&self, path: &Path, gone: &'a [PathBuf]) -> Option<&'a Path> {
        let path = self.root.join(path);
        if gone.is_empty() || begins(&path) != Beginning::Archive {
            return None;
        }
        let name = |path: &'a PathBuf| path.file_name().map_or(&b""[..], |name| walk::bytes(Path::new(name)));
        let found = match unpacked(&path) {
            _ if gone.len() > SOUGHT => 0,
            Ok(Some(text)) => gone.iter().position(|path| memmem::find(&text, name(path)).is_some())?,
            // What cannot be looked through may have any of it.
            Ok(None) | Err(_) => 0,
        };
        gone.get(found).map(PathBuf::as_path)
    }
}

impl Print {
    /// Whether the file still is what it was.
    fn is_whole(&self, key: &[u8], reader: &mut Reader) -> bool {
        match (reader.stat(key), self.oid) {
            (Ok(Some(stat)), _) if self.touched == Some(numbers(&stat)) => true,
            (Ok(Some(stat)), Some(oid)) if stat.size == self.size => {
                content(reader, key).is_ok_and(|is| is == Some(oid))
            }
            (Ok(_), _) => false,
            // Without permission to look it is where it was, most probably.
            (Err(_), _) => true,
        }
    }
}

/// What an archive has, names as they are; nothing where it does not show them, or is too large.
fn unpacked(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = walk::open_plain(path) else { return Ok(None) };
    let mut text = Vec::new();
    (&mut file).take(SEARCHED + 1).read_to_end(&mut text)?;
    let is_tar = |text: &[u8]| text.get(257..262) == Some(b"ustar");
    if text.starts_with(GZIP) {
        let packed = std::mem::take(&mut text);
        MultiGzDecoder::new(&packed[..]).take(SEARCHED + 1).read_to_end(&mut text)?;
    }
    // A file that is only packed has no names.
    if !is_tar(&text) && !OPEN.iter().any(|form| text.starts_with(form)) {
        return Ok(None);
    }
    Ok(Some(text).filter(|text| text.len() as u64 <= SEARCHED))
}

/// Whether what was noted below `store` is still there as it was written.
pub(super) fn is_whole(store: &Path) -> bool {
    read(&store.join(FILE)).is_some()
}

/// A file of ours and what it says; nothing when it is not there or not what was written.
pub(super) fn read(path: &Path) -> Option<(fs::Metadata, Vec<u8>)> {
    let mut file = open(path).ok()?;
    let meta = file.metadata().ok().filter(|meta| meta.len() <= LONGEST)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let (body, sum) = bytes.split_last_chunk::<SUM>()?;
    let (length, is_it) = (body.len(), sha1(&[body]).is_ok_and(|is| is == *sum));
    bytes.truncate(length);
    is_it.then_some((meta, bytes))
}

/// With its sum at the end.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), ReviewError> {
    let sum = sha1(&[bytes])?;
    let file = open_as(private_file().write(true).create(true).truncate(true), path);
    let written = file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.write_all(&sum)));
    written.map_err(|e| ReviewError::io(path, e))
}

/// Of each file its name and what is known of it, with a zero byte behind each.
fn to_bytes(files: &BTreeMap<RelPath, Print>) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, print) in files {
        let (ino, (secs, nanos)) = print.touched.unwrap_or_default();
        let oid = print.oid.map(|oid| oid.to_string()).unwrap_or_default();
        for part in [key, format!("{} {ino} {secs} {nanos} {oid}", print.size).as_bytes()] {
            out.extend_from_slice(part);
            out.push(0);
        }
    }
    out
}

/// Reads what it wrote; what is not whole is left out.
fn of_bytes(bytes: &[u8]) -> BTreeMap<RelPath, Print> {
    let mut files = BTreeMap::new();
    let mut parts = bytes.split(|byte| *byte == 0);
    while let (Some(key), Some(text)) = (parts.next().filter(|key| !key.is_empty()), parts.next()) {
        let mut words = std::str::from_utf8(text).unwrap_or_default().split(' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (size, ino) = (number(), number());
        let time =
            words.next().and_then(|secs| secs.parse().ok()).zip(words.next().and_then(|nanos| nanos.parse().ok()));
        let oid = words.next().and_then(Oid::parse);
        if let (Some(size), Some(ino), Some(time)) = (size, ino, time) {
            files.insert(key.into(), Print { size, touched: (ino != 0).then_some((ino, time)), oid });
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_read_as_it_was_written() {
        let oid = Oid([7; 20]);
        let of = |size, touched, oid| Print { size, touched, oid };
        let files: BTreeMap<RelPath, Print> = [
            (b".env".as_slice().into(), of(7, Some((5, (-3, 9))), Some(oid))),
            (b"a\nb \xff/c".as_slice().into(), of(1 << 40, None, None)),
        ]
        .into();
        let bytes = to_bytes(&files);
        assert_eq!(of_bytes(&bytes), files);
        for end in 0..bytes.len() {
            assert!(of_bytes(&bytes[..end]).len() <= 2, "no cut stops it");
        }
        assert_eq!(of_bytes(b""), BTreeMap::new());
    }
}
