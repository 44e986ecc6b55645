//! The refs of a repository and what they name: those by themselves, packed ones, and those in tables.
//!
//! Reads files that may be forged, each up to a bound. Invariant: a list that cannot be read as a whole is none.

use super::git_form::{is_head, is_oid};
use super::git_index::{hex, varint};
use super::plain::{self, Links};
use super::walk;
use std::collections::BTreeMap;
use std::path::Path;

/// A longer list of packed refs is not read, nor tables that are longer together.
const PACKED: u64 = 16 << 20;
/// Tables that are read.
const TABLES: usize = 200;
/// A list of tables.
const LIST: u64 = 64 << 10;
/// A table may be merged with others just when it is to be read.
const TRIES: usize = 3;
/// Refs below one name that are looked at.
const MOST: usize = 10_000;
/// A ref is not longer.
const LONGEST: u64 = 1 << 10;

/// Names, and which object each is of, where it is of one.
pub(crate) type Refs = BTreeMap<Vec<u8>, Option<String>>;

/// The refs that do not lie by themselves.
pub(crate) fn others(git: &Path) -> Option<Refs> {
    let mut refs = packed(git)?;
    refs.extend((0..TRIES).find_map(|_| tables(git))?);
    Some(refs)
}

/// What is in a ref by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Alone {
    Of(String),
    /// Another ref.
    Other,
    Broken,
}

/// Nothing where there is no such ref.
pub(crate) fn alone(path: &Path) -> Option<Alone> {
    match path.symlink_metadata().ok()? {
        meta if meta.is_dir() => return None,
        meta if meta.is_symlink() => return Some(Alone::Other),
        _ => {}
    }
    match plain::read(path, Links::Refused, LONGEST) {
        Ok(None) => None,
        Ok(Some(text)) if text.is_empty() => None,
        Ok(Some(text)) if !is_head(&text) => Some(Alone::Broken),
        Ok(Some(text)) => Some(oid(text.trim_ascii_end()).map_or(Alone::Other, Alone::Of)),
        Err(_) => Some(Alone::Broken),
    }
}

/// The names and objects of the refs below one name, wherever they are, a line each.
pub(crate) fn below(git: &Path, name: &str) -> String {
    let mut refs = others(git).unwrap_or_default();
    refs.retain(|of, _| of.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"/")));
    let names = git.join(name).read_dir().into_iter().flatten().take(MOST).flatten().map(|entry| entry.path());
    for path in names {
        if let Some(Alone::Of(of)) = alone(&path) {
            refs.insert(walk::bytes(path.strip_prefix(git).unwrap_or(&path)).to_vec(), Some(of));
        }
    }
    let line = |(name, of): (&Vec<u8>, &Option<String>)| {
        format!("{} {}\n", walk::show(name), of.as_deref().unwrap_or_default())
    };
    refs.iter().take(MOST).map(line).collect()
}

fn oid(text: &[u8]) -> Option<String> {
    is_oid(text).then(|| String::from_utf8_lossy(text).into_owned())
}

fn packed(git: &Path) -> Option<Refs> {
    let text = plain::read(&git.join("packed-refs"), Links::Followed, PACKED).ok()?.unwrap_or_default();
    let name = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b' ').filter(|at| matches!(at, 40 | 64))?;
        let name = line.get(at + 1..).filter(|name| name.starts_with(b"refs/"))?;
        Some((name.to_vec(), oid(line.get(..at)?)))
    };
    Some(text.split(|byte| *byte == b'\n').filter_map(name).collect())
}

/// The refs in tables; none where there are no tables.
fn tables(git: &Path) -> Option<Refs> {
    let dir = git.join("reftable");
    let list = plain::read(&dir.join("tables.list"), Links::Followed, LIST).ok()?.unwrap_or_default();
    let (mut refs, mut left) = (Refs::new(), PACKED);
    for (at, name) in list.split(|byte| *byte == b'\n').filter(|name| !name.is_empty()).enumerate() {
        let is_name = !name.contains(&b'/') && at < TABLES;
        let text = plain::read(&dir.join(walk::path(name)), Links::Refused, left).ok().flatten().filter(|_| is_name)?;
        left -= text.len() as u64;
        table(&text, &mut refs)?;
    }
    Some(refs)
}

fn number(text: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = text.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// Takes over what a table says.
fn table(text: &[u8], refs: &mut Refs) -> Option<()> {
    let version = *text.strip_prefix(b"REFT")?.first()?;
    let (head, sum) = match (version, text.get(24..28)) {
        (1, _) => (24, 20),
        (2, Some(b"sha1")) => (28, 20),
        (2, Some(b"s256")) => (28, 32),
        _ => return None,
    };
    let footer = text.len().checked_sub(head + 44)?;
    // What comes behind the blocks of refs.
    let places = [number(text, footer + head, 8)?, number(text, footer + head + 8, 8)? >> 5];
    let logs = number(text, footer + head + 24, 8)?;
    let end = places.into_iter().chain([logs]).filter(|at| *at > 0).min().unwrap_or(footer).min(footer);
    let (size, mut at) = (number(text, 5, 3)?, 0);
    while at < end {
        // The first one has the head of the table in it.
        let begin = if at == 0 { head } else { at };
        if text.get(begin) != Some(&b'r') {
            // A table may have logs only.
            return (at == 0).then_some(());
        }
        let len = number(text, begin + 1, 3)?;
        block(text.get(at..at.checked_add(len)?)?, begin + 4 - at, sum, refs)?;
        at += if size > 0 { size } else { len.max(1) };
    }
    Some(())
}

/// The same for a block of it, in which the first name begins at `at`.
fn block(text: &[u8], mut at: usize, sum: usize, refs: &mut Refs) -> Option<()> {
    let end = text.len().checked_sub(2)?;
    let end = end.checked_sub(number(text, end, 2)? * 3)?;
    let mut name = Vec::new();
    while at < end {
        let mut next = || {
            let (value, used) = varint(text.get(at..)?)?;
            at += used;
            Some(value)
        };
        let (same, rest) = (next()?, next()?);
        name.truncate(same);
        name.extend_from_slice(text.get(at..at.checked_add(rest >> 3)?)?);
        at += rest >> 3;
        at += long_varint(text.get(at..)?)?;
        let of = |at: usize| text.get(at..at.checked_add(sum)?).map(hex);
        let value = match rest & 7 {
            0 => None,
            kind @ (1 | 2) => {
                at += kind * sum;
                Some(Some(of(at - kind * sum)?))
            }
            3 => {
                let (len, used) = varint(text.get(at..)?)?;
                at = at.checked_add(used + len)?;
                Some(None)
            }
            _ => return None,
        };
        match value.filter(|_| name.starts_with(b"refs/")) {
            Some(value) => drop(refs.insert(name.clone(), value)),
            None => drop(refs.remove(&name)),
        }
    }
    Some(())
}

/// How long a number is that is of no interest.
fn long_varint(text: &[u8]) -> Option<usize> {
    text.iter().take(10).position(|byte| byte & 0x80 == 0).map(|at| at + 1)
}

#[cfg(test)]
#[path = "git_refs_tests.rs"]
mod tests;
