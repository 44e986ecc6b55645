//! Changes as a patch that `git apply` takes, forwards and with `-R`, to the byte.
//!
//! Permission bits other than the owner's right to execute cannot be said in a patch and are left out. Invariants: what is
//! applied gives the new bytes exactly; content that is no text stands in it as a whole, both ways; of all that is in it,
//! one file at a time is made.

use super::{Draft, begun, done, unready};
use crate::model::changes::Scope;
use crate::review::error::ReviewError;
use crate::review::protocol::Changed;
use crate::review::session::ReviewSession;
use crate::review::state::{Oid, State};
use crate::text::unified;
use gix::zlib::{Compression, stream::deflate};
use memchr::{memchr, memchr_iter};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Time for finding the changed lines of a file; after it they are found coarsely.
const TIME: Duration = Duration::from_secs(2);
/// Bytes of one side, and lines of both, of which the changed lines are found; what is more stands in the patch whole, as
/// what is no text does. Some 150 bytes are held for each line.
const MAX_TEXT: usize = 16 << 20;
const MAX_LINES: usize = 500_000;
/// Bytes in a line of a binary patch.
const ROW: usize = 52;
/// The same as it is written.
const LINE: usize = 1 + ROW / 4 * 5 + 1;
const DIGITS: &[u8; 85] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const NO_OID: Oid = Oid([0; 20]);

/// A path on one side of a patch.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Permission bits; nothing when there is no such path.
    pub mode: Option<u32>,
    pub link: bool,
    /// The content, or the target of the link.
    pub bytes: &'a [u8],
}

impl<'a> Side<'a> {
    pub const ABSENT: Side<'static> = Side { mode: None, link: false, bytes: &[] };

    pub const fn file(mode: u32, bytes: &'a [u8]) -> Self {
        Self { mode: Some(mode), link: false, bytes }
    }

    pub const fn link(target: &'a [u8]) -> Self {
        Self { mode: Some(0o777), link: true, bytes: target }
    }

    fn of(state: &State, bytes: &'a [u8]) -> Self {
        match state {
            State::Absent => Self::ABSENT,
            State::Link { .. } => Self::link(bytes),
            State::File { mode, .. } | State::Unkept { mode, .. } => Self::file(*mode, bytes),
        }
    }

    /// As git knows it.
    const fn kind(&self) -> Option<&'static str> {
        match self.mode {
            None => None,
            Some(_) if self.link => Some("120000"),
            Some(mode) => Some(file_kind(mode)),
        }
    }

    fn oid(&self) -> Result<Oid, ReviewError> {
        if self.mode.is_none() {
            return Ok(NO_OID);
        }
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, self.bytes);
        let id = id.map_err(|e| ReviewError::Store(e.to_string()))?;
        id.as_slice().try_into().map(Oid).map_err(|_| ReviewError::Store("a name of twenty bytes was expected".into()))
    }

    /// Its lines, where it is text of which the changed lines are to be found.
    fn lines(&self) -> Option<usize> {
        let is_text = self.bytes.len() <= MAX_TEXT && memchr(0, self.bytes).is_none();
        is_text.then(|| memchr_iter(b'\n', self.bytes).count())
    }
}

const fn file_kind(mode: u32) -> &'static str {
    if mode & 0o100 != 0 { "100755" } else { "100644" }
}

/// A patch of everything in `scope`, to be read from its beginning. What cannot be in it is named in a comment at its head.
pub fn export(review: &mut ReviewSession, scope: Scope) -> Result<Draft, ReviewError> {
    let changed = review.changed(scope)?;
    done(written(&changed, |state| review.content(state), || Ok(begun(review)))?)
}

/// Writes the patch to what `begin` gives. Of what cannot be read, which is found out only then, its head has to tell: then
/// it is begun anew.
fn written<W: Write>(
    changed: &[Changed],
    content: impl Fn(&State) -> Result<Vec<u8>, ReviewError>,
    mut begin: impl FnMut() -> Result<W, ReviewError>,
) -> Result<W, ReviewError> {
    let mut lost = BTreeSet::new();
    loop {
        let (mut out, known) = (begin()?, lost.len());
        write(changed, &content, &mut lost, &mut out)?;
        if lost.len() == known {
            return Ok(out);
        }
    }
}

/// The same in one go; the first that cannot be read and is not known to be `lost` ends it, but for a look at the rest.
fn write(
    changed: &[Changed],
    content: impl Fn(&State) -> Result<Vec<u8>, ReviewError>,
    lost: &mut BTreeSet<PathBuf>,
    out: &mut dyn Write,
) -> Result<(), ReviewError> {
    let (refused, changed): (Vec<Changed>, Vec<Changed>) =
        changed.iter().cloned().partition(|one| one.path.components().any(is_refused));
    let (renames, mut rest) = renames(&changed);
    let mut head = Vec::new();
    let mut comment = |why: &str, path: &Path| {
        head.extend_from_slice(format!("# not in this patch, {why}: ").as_bytes());
        head.extend(name(b"", path));
        head.push(b'\n');
    };
    for one in &refused {
        comment("git takes no such path", &one.path);
    }
    let is_unkept = |one: &&Changed| [one.before, one.after].iter().any(|s| matches!(s, State::Unkept { .. }));
    let is_lost = |one: &&Changed| lost.contains(&one.path);
    for one in changed.iter().filter(is_unkept).chain(rest.iter().copied().filter(is_lost)) {
        comment("its content was not kept", &one.path);
    }
    rest.retain(|one| !is_lost(one));
    for (from, to) in renames {
        rename_patch(from, to, &mut head);
    }
    out.write_all(&head).map_err(unready)?;
    drop(head);
    let mut is_whole = true;
    for one in rest {
        let (before, after) = match (content(&one.before), content(&one.after)) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(ReviewError::NotKept(_)), _) | (_, Err(ReviewError::NotKept(_))) => {
                lost.insert(one.path.clone());
                is_whole = false;
                continue;
            }
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        if is_whole {
            file_patch(&one.path, &Side::of(&one.before, &before), &Side::of(&one.after, &after), out)?;
        }
    }
    out.flush().map_err(unready)
}

/// Whether git refuses a whole patch for such a name: it might be `.git` on another system.
fn is_refused(part: Component<'_>) -> bool {
    let name = part.as_os_str().as_encoded_bytes().to_ascii_lowercase();
    let rest = [&b".git"[..], b"git~1"].iter().find_map(|git| name.strip_prefix(*git));
    let rest = rest.map(|rest| rest.iter().position(|byte| !b" .".contains(byte)).and_then(|at| rest.get(at..)));
    rest.is_some_and(|rest| rest.is_none_or(|rest| rest.starts_with(b":") || rest.starts_with(b"\\")))
}

/// Pairs of a file that went and one that came with the same content, and everything else that can be written. Links
/// are in no pair: git refuses to move one to a place below its old one.
fn renames(changed: &[Changed]) -> (Vec<(&Changed, &Changed)>, Vec<&Changed>) {
    let key = |state: &State| match state {
        State::File { oid, size, .. } if *size > 0 => Some(*oid),
        _ => None,
    };
    let mut gone: BTreeMap<Oid, Vec<usize>> = BTreeMap::new();
    for (at, one) in changed.iter().enumerate().rev().filter(|(_, one)| one.after.is_absent()) {
        if let Some(oid) = key(&one.before) {
            gone.entry(oid).or_default().push(at);
        }
    }
    let mut pairs = Vec::new();
    let mut taken = vec![false; changed.len()];
    for (at, one) in changed.iter().enumerate().filter(|(_, one)| one.before.is_absent()) {
        if let Some(from) = key(&one.after).and_then(|oid| gone.get_mut(&oid)).and_then(Vec::pop) {
            (taken[at], taken[from]) = (true, true);
            pairs.push((&changed[from], one));
        }
    }
    let kept = |one: &Changed| ![one.before, one.after].iter().any(|s| matches!(s, State::Unkept { .. }));
    let rest = changed.iter().zip(taken).filter(|(one, taken)| !taken && kept(one)).map(|(one, _)| one).collect();
    (pairs, rest)
}

fn rename_patch(from: &Changed, to: &Changed, out: &mut Vec<u8>) {
    line(out, &[b"diff --git ", &name(b"a/", &from.path), b" ", &name(b"b/", &to.path)]);
    if let (State::File { mode: old, .. }, State::File { mode: new, .. }) = (from.before, to.after) {
        mode_change(file_kind(old), file_kind(new), out);
    }
    line(out, &[b"similarity index 100%"]);
    line(out, &[b"rename from ", &name(b"", &from.path)]);
    line(out, &[b"rename to ", &name(b"", &to.path)]);
}

/// Writes what turns `old` into `new`; nothing when a patch cannot tell them apart. `path` is below the root.
pub fn file_patch(path: &Path, old: &Side<'_>, new: &Side<'_>, out: &mut dyn Write) -> Result<(), ReviewError> {
    if let (Some(was), Some(is)) = (old.kind(), new.kind())
        && (old.link || new.link)
        && was != is
    {
        // For git a file that became a link is one that went and one that came.
        file_patch(path, old, &Side::ABSENT, out)?;
        return file_patch(path, &Side::ABSENT, new, out);
    }
    let mut text = Vec::new();
    let is_whole = as_text(path, old, new, &mut text)?;
    out.write_all(&text).map_err(unready)?;
    if is_whole {
        return Ok(());
    }
    literal(new.bytes, out).and_then(|()| literal(old.bytes, out)).map_err(unready)
}

/// The part of it that is text. Whether that is all; else both contents follow.
fn as_text(path: &Path, old: &Side<'_>, new: &Side<'_>, out: &mut Vec<u8>) -> Result<bool, ReviewError> {
    let kinds = (old.kind(), new.kind());
    let same = old.bytes == new.bytes;
    if kinds.0 == kinds.1 && same {
        return Ok(true);
    }
    line(out, &[b"diff --git ", &name(b"a/", path), b" ", &name(b"b/", path)]);
    let mut index_kind = None;
    match kinds {
        (None, Some(is)) => line(out, &[b"new file mode ", is.as_bytes()]),
        (Some(was), None) => line(out, &[b"deleted file mode ", was.as_bytes()]),
        (Some(was), Some(is)) if was != is => mode_change(was, is, out),
        (kind, _) => index_kind = kind,
    }
    if same && old.mode.is_some() == new.mode.is_some() {
        return Ok(true);
    }
    let mut index = format!("index {}..{}", old.oid()?, new.oid()?);
    if let Some(kind) = index_kind {
        index.push(' ');
        index.push_str(kind);
    }
    line(out, &[index.as_bytes()]);
    if old.lines().zip(new.lines()).is_some_and(|(old, new)| old + new <= MAX_LINES) {
        if !same {
            line(out, &[b"--- ", &side_name(b"a/", path, old)]);
            line(out, &[b"+++ ", &side_name(b"b/", path, new)]);
            unified::hunks(old.bytes, new.bytes, TIME, out);
        }
        return Ok(true);
    }
    line(out, &[b"GIT binary patch"]);
    Ok(false)
}

fn line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
    out.push(b'\n');
}

fn mode_change(was: &str, is: &str, out: &mut Vec<u8>) {
    if was != is {
        line(out, &[b"old mode ", was.as_bytes()]);
        line(out, &[b"new mode ", is.as_bytes()]);
    }
}

/// A name as git writes it: in quotes, with C's escapes, when it holds anything but plain characters.
fn name(prefix: &[u8], path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let odd = |b: &u8| *b < 0x20 || *b >= 0x7f || matches!(b, b'"' | b'\\');
    if !bytes.iter().any(odd) {
        return [prefix, bytes].concat();
    }
    let mut quoted = [b"\"", prefix].concat();
    for byte in bytes {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b'\t' => quoted.extend(b"\\t"),
            b'\n' => quoted.extend(b"\\n"),
            b'\r' => quoted.extend(b"\\r"),
            byte if odd(byte) => quoted.extend(format!("\\{byte:03o}").bytes()),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    quoted
}

/// For the lines with `---` and `+++`, where a tab ends a name that has blanks in it.
fn side_name(prefix: &[u8], path: &Path, side: &Side<'_>) -> Vec<u8> {
    if side.mode.is_none() {
        return b"/dev/null".to_vec();
    }
    let mut name = name(prefix, path);
    if name.contains(&b' ') && !name.starts_with(b"\"") {
        name.push(b'\t');
    }
    name
}

fn literal(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(format!("literal {}\n", bytes.len()).as_bytes())?;
    let mut packer = deflate::Write::new(Rows { out, row: Vec::with_capacity(ROW) }, Compression::DEFAULT);
    packer.write_all(bytes)?;
    packer.flush()?;
    packer.into_inner().end()
}

/// The lines of a binary patch, written as the packed bytes come.
struct Rows<'a> {
    out: &'a mut dyn Write,
    /// Of the line that is not complete.
    row: Vec<u8>,
}

impl Rows<'_> {
    fn push_row(&mut self) -> io::Result<()> {
        // 1 to 26 are capitals, 27 to 52 small letters.
        let count = self.row.len() as u8;
        let mut line = Vec::with_capacity(LINE);
        line.push(if count <= 26 { b'A' + count - 1 } else { b'a' + count - 27 });
        for four in self.row.chunks(4) {
            base85(four, &mut line);
        }
        line.push(b'\n');
        self.row.clear();
        self.out.write_all(&line)
    }

    fn end(mut self) -> io::Result<()> {
        if !self.row.is_empty() {
            self.push_row()?;
        }
        self.out.write_all(b"\n")
    }
}

impl Write for Rows<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(ROW - self.row.len());
        self.row.extend(bytes.iter().take(taken));
        if self.row.len() == ROW {
            self.push_row()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Five digits, the highest first, for up to four bytes.
fn base85(four: &[u8], out: &mut Vec<u8>) {
    let mut value = (0..4).fold(0u32, |value, at| value << 8 | u32::from(four.get(at).copied().unwrap_or(0)));
    let mut digits = [0; 5];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[value as usize % 85];
        value /= 85;
    }
    out.extend(digits);
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
