//! The difference of two files as hunks, and files with hunks taken back or put in.
//!
//! Reads and writes no files and decides nothing. Invariants: the edits turn the old lines into the new ones, byte for
//! byte, also when the time is up (then coarsely); a file has a bounded number of hunks, and they have all of its edits; a
//! file that is put together here never has two lines fused into one.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use super::lines::{LineEnd, Lines, end_of};
use crate::model::changes::HunkId;
use crate::text::diff::{CONTEXT, DiffLine, Kind, emphasis_of};
pub use crate::text::edits::Edit;
use crate::text::edits::{self, Text};
use crate::text::width;

/// Edits with at most so many unchanged lines between them are one hunk.
pub const MERGE_GAP: usize = 2;
/// The most lines of a hunk that are shown.
pub const MAX_SHOWN_LINES: usize = 20_000;
/// The most text of a hunk that is shown, in bytes; one line is always shown.
pub const MAX_SHOWN_BYTES: usize = 4 << 20;
/// The most hunks of a file; the last of so many has all that is left.
pub const MAX_HUNKS: usize = 4096;
/// About what a line that is shown takes beside its text, in bytes: what is known of it, and two allocations.
const LINE_BYTES: usize = size_of::<DiffLine>() + 32;
/// Time for finding the changed lines.
pub const TIME: Duration = Duration::from_secs(2);
/// How far above a hunk its heading may be, in lines.
const HEADING_LINES: usize = 400;
const HEADING_COLUMNS: usize = 60;
/// Stands for the CR of a line end, where line ends are among what differs.
const CR_MARK: &str = "␍";
const BOM_MARK: &str = "⟨U+FEFF⟩";

/// A line that is shown, by its place in the texts, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRef {
    Same { old: usize, new: usize },
    Old(usize),
    New(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct HunkLines {
    /// Follows from the removed and added lines, not from where they are; unique in its file.
    pub id: HunkId,
    /// The lines that change, from 0, with small unchanged gaps among them and without context.
    pub old: Range<usize>,
    pub new: Range<usize>,
    /// What changes in them.
    pub runs: Vec<Edit>,
    /// First line that is shown, from 1.
    pub old_start: u32,
    pub new_start: u32,
    /// The last line above that begins a block, or nothing.
    pub heading: String,
    /// Unchanged lines that are shown above and below it.
    around: (usize, usize),
    pub added: u32,
    pub removed: u32,
}

/// A hunk as it is shown, with context. One text with the other makes it, so that it need not be kept with the hunk.
#[derive(Debug)]
pub struct ShownLines {
    pub lines: Vec<DiffLine>,
    /// What each of `lines` is.
    pub refs: Vec<LineRef>,
    /// Only the first lines are shown: there are too many, or there was no room.
    pub cut: bool,
}

impl HunkLines {
    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        size_of_val(self) + size_of_val(&*self.runs) + self.heading.len()
    }

    /// Its lines, without emphasis, as far as there is `room` in bytes, which is less by them afterwards. Where that does not
    /// suffice nothing of it is left: what follows does not stand behind a gap.
    pub fn shown(&self, old: &Lines, new: &Lines, room: &mut usize) -> ShownLines {
        let out = ShownLines { lines: Vec::new(), refs: Vec::new(), cut: false };
        if *room < LINE_BYTES {
            *room = 0;
            return ShownLines { cut: true, ..out };
        }
        let mut shown = Shown { old, new, out, bytes: 0, room };
        let (above, below) = self.around;
        shown.context(self.old.start - above..self.old.start, self.new.start - above);
        let mut end: Option<&Edit> = None;
        for edit in &self.runs {
            if let Some(end) = end {
                shown.context(end.old.end..edit.old.start, end.new.end);
            }
            shown.edit(edit);
            end = Some(edit);
        }
        shown.context(self.old.end..self.old.end + below, self.new.end);
        // They are kept for as long as the session shows them.
        shown.out.lines.shrink_to_fit();
        shown.out
    }
}

/// Marks what differs in lines that take the place of others, until the time is up.
pub fn emphasise(lines: &mut [DiffLine], until: Instant) {
    for edit in lines.chunk_by_mut(|a, b| a.kind != Kind::Context && b.kind != Kind::Context) {
        let (removed, added) = edit.split_at_mut(edit.partition_point(|line| line.kind == Kind::Del));
        for (del, add) in removed.iter_mut().zip(added) {
            if unmarked(&del.text) == unmarked(&add.text) {
                mark(del);
                mark(add);
            } else {
                (del.emphasis, add.emphasis) = emphasis_of(&del.text, &add.text, until);
            }
        }
    }
}

/// What turns `old` into `new`, in order. Compares raw lines: another line end is a change.
pub fn edits(old: &Lines, new: &Lines) -> Vec<Edit> {
    edits_within(old, new, TIME)
}

/// The same with so much time.
pub fn edits_within(old: &Lines, new: &Lines, time: Duration) -> Vec<Edit> {
    if old == new {
        return Vec::new();
    }
    if !old.encoding().mixes_with(new.encoding()) {
        // Bytes that are equal by chance would not be the same text.
        return vec![Edit { old: 0..old.len(), new: 0..new.len() }];
    }
    let (from, to) = (|n: usize| old.raw(n), |n: usize| new.raw(n));
    edits::edits(&Text { len: old.len(), line: &from }, &Text { len: new.len(), line: &to }, time)
}

/// The difference, which is these edits, as hunks, in order.
pub fn hunks(old: &Lines, new: &Lines, edits: &[Edit]) -> Vec<HunkLines> {
    let near = |a: &Edit, b: &Edit| b.old.start - a.old.end <= MERGE_GAP;
    let mut groups: Vec<&[Edit]> = edits.chunk_by(near).take(MAX_HUNKS - 1).collect();
    match edits.get(groups.iter().map(|group| group.len()).sum()..) {
        Some(rest) if !rest.is_empty() => groups.push(rest),
        _ => {}
    }
    let mut ids = Ids::default();
    let mut out = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let core = Edit { old: first.old.start..last.old.end, new: first.new.start..last.new.end };
        // Between two hunks the upper one takes the larger half, so that no line is shown twice.
        let before = match at.checked_sub(1).and_then(|n| groups.get(n)?.last()) {
            None => first.old.start.min(CONTEXT),
            Some(above) => {
                let gap = first.old.start - above.old.end;
                (gap - gap.div_ceil(2).min(CONTEXT)).min(CONTEXT)
            }
        };
        let after = match groups.get(at + 1).and_then(|next| next.first()) {
            None => (old.len() - last.old.end).min(CONTEXT),
            Some(below) => (below.old.start - last.old.end).div_ceil(2).min(CONTEXT),
        };
        out.push(HunkLines {
            id: ids.next(old, new, group),
            old_start: number(core.old.start - before),
            new_start: number(core.new.start - before),
            heading: heading(new, core.new.start, core.new.start - before),
            around: (before, after),
            added: group.iter().fold(0, |sum: u32, edit| sum.saturating_add(edit.new.len() as u32)),
            removed: group.iter().fold(0, |sum: u32, edit| sum.saturating_add(edit.old.len() as u32)),
            old: core.old,
            new: core.new,
            runs: group.to_vec(),
        });
    }
    out
}

/// From an index to a number from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// The lines of one hunk while they are being put together.
struct Shown<'a> {
    old: &'a Lines,
    new: &'a Lines,
    out: ShownLines,
    bytes: usize,
    room: &'a mut usize,
}

impl Shown<'_> {
    fn context(&mut self, old: Range<usize>, new_start: usize) {
        for (new, old) in (new_start..).zip(old) {
            if self.out.cut {
                return;
            }
            let (text, no_newline) = (self.new.shown(new), self.new.end(new) == LineEnd::None);
            self.push(LineRef::Same { old, new }, (text, false), no_newline);
        }
    }

    fn edit(&mut self, edit: &Edit) {
        // Line ends are shown where they differ, or else a change of them would look like none.
        let both = edit.old.clone().map(|n| self.old.end(n)).chain(edit.new.clone().map(|n| self.new.end(n)));
        let (mut crlf, mut other) = (false, false);
        for end in both {
            crlf |= end == LineEnd::CrLf;
            other |= end != LineEnd::CrLf;
        }
        let first = edit.old.contains(&0) && edit.new.contains(&0);
        let bom = first && self.old.encoding() == self.new.encoding() && self.old.has_bom() != self.new.has_bom();
        let text = |lines: &Lines, n: usize| {
            let before = if bom && n == 0 && lines.has_bom() { BOM_MARK } else { "" };
            let after = if crlf && other && lines.end(n) == LineEnd::CrLf { CR_MARK } else { "" };
            (format!("{before}{}{after}", lines.shown(n)), before.len() + after.len() > 0)
        };
        for n in edit.old.clone() {
            if self.out.cut {
                return;
            }
            self.push(LineRef::Old(n), text(self.old, n), self.old.end(n) == LineEnd::None);
        }
        for n in edit.new.clone() {
            if self.out.cut {
                return;
            }
            self.push(LineRef::New(n), text(self.new, n), self.new.end(n) == LineEnd::None);
        }
    }

    fn push(&mut self, line: LineRef, (text, marked): (String, bool), no_newline: bool) {
        let is_long = self.out.lines.len() >= MAX_SHOWN_LINES || self.bytes + text.len() > MAX_SHOWN_BYTES;
        let bytes = LINE_BYTES + text.len();
        if bytes > *self.room {
            *self.room = 0;
            self.out.cut = true;
        } else if is_long && !self.out.lines.is_empty() {
            self.out.cut = true;
        }
        if self.out.cut {
            return;
        }
        *self.room -= bytes;
        let (kind, old, new) = match line {
            LineRef::Same { old, new } => (Kind::Context, Some(old), Some(new)),
            LineRef::Old(old) => (Kind::Del, Some(old), None),
            LineRef::New(new) => (Kind::Add, None, Some(new)),
        };
        self.bytes += text.len();
        self.out.refs.push(line);
        let (source, n) = match line {
            LineRef::Old(n) => (self.old, n),
            LineRef::Same { new: n, .. } | LineRef::New(n) => (self.new, n),
        };
        let has_stand_ins = marked || source.has_stand_ins(n);
        let (old, new) = (old.map(number), new.map(number));
        self.out.lines.push(DiffLine { kind, old, new, text, emphasis: Vec::new(), no_newline, has_stand_ins });
    }
}

fn unmarked(text: &str) -> &str {
    let text = text.strip_prefix(BOM_MARK).unwrap_or(text);
    text.strip_suffix(CR_MARK).unwrap_or(text)
}

/// Emphasises the marks of a line.
fn mark(line: &mut DiffLine) {
    let len = line.text.len() as u32;
    if line.text.starts_with(BOM_MARK) {
        line.emphasis.push(0..BOM_MARK.len() as u32);
    }
    if line.text.ends_with(CR_MARK) {
        line.emphasis.push(len - CR_MARK.len() as u32..len);
    }
}

/// The nearest line above `start` that begins with a letter, `_` or `$`; nothing where it is shown anyway, from `first` on.
fn heading(new: &Lines, start: usize, first: usize) -> String {
    let begins_block = |n: &usize| {
        let first = new.raw(*n).first().copied().unwrap_or(b' ');
        // Most lines are indented or empty: they need not be decoded.
        !matches!(first, b' ' | b'\t' | b'\n' | b'\r')
            && new.shown(*n).starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
    };
    let above = (start.saturating_sub(HEADING_LINES)..start.min(new.len())).rev();
    above
        .into_iter()
        .find(begins_block)
        .filter(|n| *n < first)
        .map_or_else(String::new, |n| width::truncate(new.shown(n).trim(), HEADING_COLUMNS).into_owned())
}

/// Gives the hunks of one file their names.
#[derive(Default)]
struct Ids {
    seen: HashMap<u64, u64>,
    given: HashSet<u64>,
}

impl Ids {
    fn next(&mut self, old: &Lines, new: &Lines, edits: &[Edit]) -> HunkId {
        let removed = edits.iter().flat_map(|edit| edit.old.clone()).map(|n| old.raw(n));
        let added = edits.iter().flat_map(|edit| edit.new.clone()).map(|n| new.raw(n));
        let content = digest(removed.map(|raw| (b'-', raw)).chain(added.map(|raw| (b'+', raw))), 0);
        let times = self.seen.entry(content).or_default();
        let mut id = digest([(b'#', &content.to_be_bytes()[..])].into_iter(), *times);
        *times += 1;
        while !self.given.insert(id) {
            id = id.wrapping_add(1);
        }
        HunkId(id)
    }
}

/// The content comes from an agent, which must not be able to choose two hunks with one name; hence no faster hash.
fn digest<'a>(parts: impl Iterator<Item = (u8, &'a [u8])>, times: u64) -> u64 {
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    for (tag, part) in parts {
        hasher.update(&[tag]);
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.update(&times.to_be_bytes());
    let first = |id: gix::ObjectId| id.as_bytes().first_chunk().copied().map(u64::from_be_bytes);
    hasher.try_finalize().ok().and_then(first).unwrap_or(times)
}

/// The new text with a hunk taken back, or only the lines `sel` of those that are shown.
pub fn without(old: &Lines, new: &Lines, hunk: &HunkLines, sel: Option<&Range<usize>>) -> Vec<u8> {
    rebuilt(old, new, hunk, sel, true)
}

/// The old text with a hunk put in, or only the lines `sel` of those that are shown.
pub fn with(old: &Lines, new: &Lines, hunk: &HunkLines, sel: Option<&Range<usize>>) -> Vec<u8> {
    rebuilt(old, new, hunk, sel, false)
}

/// The new text with other bytes in the place of a hunk's new lines, see [`Lines::encode`]. A byte order mark stays.
pub fn replaced(new: &Lines, hunk: &HunkLines, by: &[u8]) -> Vec<u8> {
    let mut out = Joined::new(new);
    for n in 0..hunk.new.start.min(new.len()) {
        out.push(new.raw(n));
    }
    let rest = hunk.new.end..new.len();
    if hunk.new.start == 0 {
        out.bytes.extend_from_slice(new.bom());
        out.push(by.strip_prefix(new.bom()).unwrap_or(by));
    } else {
        out.push(by);
    }
    for n in rest {
        // The mark of the first line already stands before `by`.
        out.push(if n == 0 { unbommed(new) } else { new.raw(n) });
    }
    out.bytes
}

/// One of the texts, the base, with a hunk, or some lines of it, as they are in the other.
fn rebuilt(old: &Lines, new: &Lines, hunk: &HunkLines, sel: Option<&Range<usize>>, base_is_new: bool) -> Vec<u8> {
    let (base, in_base, other, in_other) =
        if base_is_new { (new, &hunk.new, old, &hunk.old) } else { (old, &hunk.old, new, &hunk.new) };
    let chosen = |at: usize| sel.is_none_or(|sel| sel.contains(&at));
    if sel.is_none() {
        return spliced(base, in_base, other, in_other);
    }
    let shown = hunk.shown(old, new, &mut { usize::MAX });
    let mut changed = shown.refs.iter().enumerate().filter(|(_, line)| !matches!(line, LineRef::Same { .. }));
    if !shown.cut && changed.all(|(at, _)| chosen(at)) {
        return spliced(base, in_base, other, in_other);
    }
    // What is being changed gives the form, unless there is nothing of it.
    let form = if base.is_empty() { other } else { base };
    let mut bom = form.bom();
    let mut picked: Vec<(&Lines, usize)> = (0..in_base.start.min(base.len())).map(|n| (base, n)).collect();
    let mut next = in_base.start;
    for (at, line) in shown.refs.iter().enumerate() {
        let (of_base, n) = match *line {
            LineRef::Same { old, new } => (true, if base_is_new { new } else { old }),
            LineRef::Old(old) => (!base_is_new, old),
            LineRef::New(new) => (base_is_new, new),
        };
        let context = matches!(line, LineRef::Same { .. });
        if context && !in_base.contains(&n) {
            continue;
        }
        if of_base {
            next = n + 1;
            if context || !chosen(at) {
                picked.push((base, n));
            }
        } else if chosen(at) {
            picked.push((other, n));
            if n == 0 && form.encoding().mixes_with(other.encoding()) {
                bom = other.bom();
            }
        }
    }
    picked.extend((next..base.len()).map(|n| (base, n)));
    let mut out = Joined::new(form);
    if !picked.is_empty() {
        out.bytes.extend_from_slice(bom);
    }
    for (from, n) in picked {
        if form.encoding().mixes_with(from.encoding()) {
            out.push(if n == 0 { unbommed(from) } else { from.raw(n) });
        } else {
            out.push(&form.recode(&from.decoded(n)));
        }
    }
    out.bytes
}

/// `base` with lines of `other` in the place of a range.
fn spliced(base: &Lines, range: &Range<usize>, other: &Lines, by: &Range<usize>) -> Vec<u8> {
    exchanged(base, other, &[(range, by)])
}

/// The new text with whole hunks taken back, given in order.
pub fn without_all(old: &Lines, new: &Lines, hunks: &[&HunkLines]) -> Vec<u8> {
    exchanged(new, old, &hunks.iter().map(|hunk| (&hunk.new, &hunk.old)).collect::<Vec<_>>())
}

/// The old text with whole hunks put in, given in order.
pub fn with_all(old: &Lines, new: &Lines, hunks: &[&HunkLines]) -> Vec<u8> {
    exchanged(old, new, &hunks.iter().map(|hunk| (&hunk.old, &hunk.new)).collect::<Vec<_>>())
}

/// `base` with ranges, in order, replaced by ranges of `other`.
fn exchanged(base: &Lines, other: &Lines, places: &[(&Range<usize>, &Range<usize>)]) -> Vec<u8> {
    let mut out = Joined::new(if places.iter().all(|(_, by)| by.is_empty()) { base } else { other });
    let mut at = 0;
    for (range, by) in places {
        (at..range.start.min(base.len())).for_each(|n| out.push(base.raw(n)));
        (by.start..by.end).for_each(|n| out.push(other.raw(n)));
        at = range.end;
    }
    (at..base.len()).for_each(|n| out.push(base.raw(n)));
    out.bytes
}

/// The first line without the byte order mark.
fn unbommed(lines: &Lines) -> &[u8] {
    let raw = lines.raw(0);
    raw.strip_prefix(lines.bom()).unwrap_or(raw)
}

/// A text that grows by lines and ends those that have no end.
struct Joined<'a> {
    bytes: Vec<u8>,
    form: &'a Lines,
    begun: bool,
}

impl<'a> Joined<'a> {
    fn new(form: &'a Lines) -> Self {
        Self { bytes: Vec::with_capacity(form.bytes().len()), form, begun: false }
    }

    fn push(&mut self, raw: &[u8]) {
        if raw.is_empty() {
            return;
        }
        if self.begun && end_of(&self.bytes, self.form.encoding()) == LineEnd::None {
            self.bytes.extend_from_slice(&self.form.newline());
        }
        self.bytes.extend_from_slice(raw);
        self.begun = true;
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
