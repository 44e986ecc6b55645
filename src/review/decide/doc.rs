//! From histories to what can be looked at.
//!
//! Reads contents, changes nothing. Invariants: a hunk is never shown as decided that is not; what a document takes is
//! bounded over all its files, and where something is not shown for that, it is said what.

use super::parts::{Part, Parts, is_unknown_before};
use crate::base::human::thousands;
use crate::base::paths;
use crate::model::changes::{Cause, FileChange, FileDoc, HunkDoc, HunkId, HunkKind, HunkState};
use crate::model::ids::EntryId;
use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::{Blame, FileHistory, Pair, is_touched, touches};
use crate::review::history::ledger::ChangeRecord;
use crate::review::state::State;
use crate::review::text::diff::{HunkLines, LineRef, emphasise};
use crate::review::text::lines::Lines;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for finding the changed words of all hunks of a file.
const WORDS_TIME: Duration = Duration::from_millis(100);

/// What is said of a file whose lines are all shown since nobody knows what they were.
const UNKNOWN: &str = "what it was before is not known";
/// Of one with changes that an undo leaves.
const DOUBT: &str = "in doubt: an undo leaves what may be yours";
/// The same of a hunk, in short.
const IN_DOUBT: &str = "in doubt";

/// What a document may still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Of lines, in bytes.
    pub bytes: usize,
    /// Beyond it a file's hunks are one.
    pub hunks: usize,
    /// Lines are shown at all: only then those that have no room are missing.
    pub has_lines: bool,
}

impl Room {
    /// For what the person looks at, over all files: some 600,000 short lines.
    pub const SHOWN: Self = Self { bytes: 64 << 20, hunks: 1 << 16, has_lines: true };
    /// Without lines.
    pub const OUTLINE: Self = Self { bytes: 0, has_lines: false, ..Self::SHOWN };
    /// All hunks of one file, without lines.
    pub const ONE_BY_ONE: Self = Self { bytes: 0, hunks: usize::MAX, has_lines: false };
}

/// A file that there is to look at, as the log or a held write has it.
pub struct Of<'a> {
    pub path: &'a Path,
    pub history: &'a FileHistory,
    pub pair: Pair,
}

/// A file as it was shown last.
struct Shown {
    history: FileHistory,
    pair: Pair,
    doc: Arc<FileDoc>,
    /// What the document had room for, before it and behind it.
    before: Room,
    after: Room,
    /// The document that it was part of last.
    round: u64,
}

impl Shown {
    /// What is left of this room with the file in it as it was shown; nothing when another room would show more or less
    /// of it.
    fn fits(&self, room: Room) -> Option<Room> {
        let left = |before: usize, after: usize, room: usize| match after {
            // Perhaps something is missing.
            0 => (room == before).then_some(0),
            _ => room.checked_sub(before - after),
        };
        if self.before.has_lines != room.has_lines {
            return None;
        }
        let bytes = left(self.before.bytes, self.after.bytes, room.bytes)?;
        let hunks = left(self.before.hunks, self.after.hunks, room.hunks)?;
        Some(Room { bytes, hunks, ..room })
    }
}

/// Files as they were shown last: most of them have not changed since. What they take is what their documents do.
pub struct DocCache {
    shown: HashMap<PathBuf, Shown>,
    room: Room,
    round: u64,
}

impl Default for DocCache {
    fn default() -> Self {
        Self { shown: HashMap::new(), room: Room::SHOWN, round: 0 }
    }
}

impl DocCache {
    /// A new document begins: of the files of the one before only those are kept that it has.
    pub fn begin(&mut self, room: Room) {
        let round = self.round;
        self.shown.retain(|_, shown| shown.round == round);
        self.room = room;
        self.round += 1;
    }

    /// The review is not on the screen any more.
    pub fn clear(&mut self) {
        self.shown = HashMap::new();
    }

    /// One file as it can be looked at.
    pub fn file(
        &mut self,
        path: &Path,
        history: &FileHistory,
        pair: &Pair,
        files: &mut Contents,
    ) -> Result<Arc<FileDoc>, ReviewError> {
        if let Some(doc) = self.get(path, history, pair) {
            return Ok(doc);
        }
        let before = self.room;
        let doc = Arc::new(new_doc(path, history, pair, files, &mut self.room)?);
        #[cfg(test)]
        {
            files.shown += 1;
        }
        let (history, pair, after, round) = (history.clone(), pair.clone(), self.room, self.round);
        let shown = Shown { history, pair, doc: Arc::clone(&doc), before, after, round };
        self.shown.insert(path.to_owned(), shown);
        Ok(doc)
    }

    /// The same without its lines.
    pub fn outline(
        &mut self,
        path: &Path,
        history: &FileHistory,
        pair: &Pair,
        files: &mut Contents,
    ) -> Result<Arc<FileDoc>, ReviewError> {
        let Room { bytes, has_lines, .. } = self.room;
        (self.room.bytes, self.room.has_lines) = (0, false);
        let doc = self.file(path, history, pair, files);
        (self.room.bytes, self.room.has_lines) = (bytes, has_lines);
        doc
    }

    fn get(&mut self, path: &Path, history: &FileHistory, pair: &Pair) -> Option<Arc<FileDoc>> {
        let shown = self.shown.get_mut(path)?;
        shown.round = self.round;
        if shown.history != *history || shown.pair != *pair {
            return None;
        }
        self.room = shown.fits(self.room)?;
        Some(Arc::clone(&shown.doc))
    }
}

/// A file as it can be looked at, and what room there is behind it.
pub fn new_doc(
    path: &Path,
    history: &FileHistory,
    pair: &Pair,
    files: &mut Contents,
    room: &mut Room,
) -> Result<FileDoc, ReviewError> {
    let parts = Parts::of(files, &pair.old, &pair.new)?;
    let blame = blame_of(history, pair, files)?;
    let authors = authors(&parts, history, pair, &blame);
    let is_each = parts.parts.len() <= room.hunks.max(1);
    let mut hunks = Vec::new();
    if is_each {
        room.hunks = room.hunks.saturating_sub(parts.parts.len());
        let conflicts = conflicts(&parts, history, pair, &blame, files)?;
        let until = Instant::now() + WORDS_TIME;
        let has_lines = room.has_lines;
        let mut making = Making { parts: &parts, history, pair, files, room: &mut room.bytes, has_lines, until };
        for (at, (part, authors)) in parts.parts.iter().zip(&authors).enumerate() {
            let mut hunk = making.hunk(part, authors)?;
            let is_conflict = hunk.state == HunkState::Pending && conflicts.contains(&at);
            hunk.conflict = is_conflict.then(|| CONFLICT.to_owned());
            hunks.push(hunk);
        }
    } else {
        room.hunks = 0;
        hunks.push(together(&parts, &authors, history, pair, files)?);
    }
    let newest = history.steps.get(..pair.upto).unwrap_or_default().iter().rev().find(|s| s.is_shown());
    Ok(FileDoc {
        path: path.to_owned(),
        renamed_from: None,
        change: change_of(&pair.old, &pair.new),
        added: added(&parts),
        removed: removed(&parts),
        cause: newest.map_or(Cause::Unknown, |s| s.cause),
        hunks,
        note: said(note(&parts), &parts, history, pair),
        held: None,
    })
}

pub fn change_of(old: &State, new: &State) -> FileChange {
    match (old, new) {
        (State::Absent, _) => FileChange::Created,
        (_, State::Absent) => FileChange::Deleted,
        (State::File { oid: a, .. }, State::File { oid: b, .. }) if a == b => FileChange::Mode,
        (State::Link { .. }, State::Link { .. }) => FileChange::Modified,
        (State::Link { .. }, _) | (_, State::Link { .. }) => FileChange::Kind,
        _ => FileChange::Modified,
    }
}

fn lines(parts: &Parts) -> impl Iterator<Item = &HunkLines> {
    parts.parts.iter().filter_map(|p| match p {
        Part::Lines(hunk) => Some(&**hunk),
        Part::Whole(..) | Part::Mode(..) => None,
    })
}

pub fn added(parts: &Parts) -> u64 {
    lines(parts).map(|h| u64::from(h.added)).sum()
}

pub fn removed(parts: &Parts) -> u64 {
    lines(parts).map(|h| u64::from(h.removed)).sum()
}

/// What there is to say of a file beside its parts: also that nobody knows whose it is, or what it was.
fn said(note: Option<String>, parts: &Parts, history: &FileHistory, pair: &Pair) -> Option<String> {
    let is_unknown = parts.texts.is_some() && is_unknown_before(&parts.old, &parts.new);
    let unknown = is_unknown.then(|| UNKNOWN.to_owned());
    let steps = history.steps.get(..pair.upto).unwrap_or_default();
    // Of what another run wrote something else is said.
    let doubt = steps.iter().any(|step| step.doubt && !step.beside_run).then(|| DOUBT.to_owned());
    let all: Vec<String> = [note, unknown, doubt].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn note(parts: &Parts) -> Option<String> {
    let (old, new) = parts.texts.as_ref()?;
    let (was, is) = (old.label(), new.label());
    if is_unknown_before(&parts.old, &parts.new) {
        return is;
    }
    if parts.new.is_absent() || (parts.old.is_absent() && was.is_none()) || was == is {
        return if parts.new.is_absent() { was } else { is };
    }
    if parts.old.is_absent() {
        return is;
    }
    let name = |label: Option<String>| label.unwrap_or_else(|| "UTF-8, LF".to_owned());
    Some(format!("{} → {}", name(was), name(is)))
}

/// What has become of a part.
pub fn state_of(
    part: &Part,
    parts: &Parts,
    history: &FileHistory,
    pair: &Pair,
    files: &mut Contents,
) -> Result<HunkState, ReviewError> {
    let (Part::Lines(hunk), Some(_)) = (part, &parts.texts) else {
        if let Part::Mode(_, was, is) = part {
            let (disk, accepted) = (history.last().mode(), history.accepted.mode());
            return Ok(match (disk, accepted) {
                (Some(disk), Some(accepted)) if disk == *is && accepted != *is => HunkState::Pending,
                (Some(disk), _) if disk == *is => HunkState::Accepted,
                (Some(disk), _) if disk == *was => HunkState::Rejected,
                _ => HunkState::Superseded,
            });
        }
        return Ok(history.fate_as_a_whole(pair));
    };
    // The core can have lines in it that did not change: what is asked is what has become of those that did.
    let mut states: Vec<HunkState> = Vec::new();
    for run in &hunk.runs {
        states.push(history.fate(pair, run, files)?);
    }
    let has = |state| states.contains(&state);
    Ok(if has(HunkState::Pending) {
        HunkState::Pending
    } else {
        // Of several, the one that says most about what the person did.
        [HunkState::Rejected, HunkState::Edited, HunkState::Superseded]
            .into_iter()
            .find(|s| has(*s))
            .unwrap_or(HunkState::Accepted)
    })
}

/// A hunk of which nothing is known but what has become of it, and whose it is.
fn bare(id: HunkId, state: HunkState, step: Option<&ChangeRecord>) -> HunkDoc {
    HunkDoc {
        id,
        state,
        cause: step.map_or(Cause::Unknown, |s| s.cause),
        entry: step.and_then(|s| s.entry).map(EntryId),
        elsewhere: None,
        turn: step.map_or(0, |s| s.turn),
        old_start: 1,
        new_start: 1,
        heading: String::new(),
        what: HunkKind::Lines,
        count: 1,
        added: 0,
        removed: 0,
        lines: Arc::default(),
        conflict: None,
    }
}

/// The id of what all hunks of a file are shown as where there is no room for each.
pub const TOGETHER: HunkId = HunkId(0x0070_6e74);

/// All that is pending of it is decided with one decision.
fn together(
    parts: &Parts,
    authors: &[Vec<&ChangeRecord>],
    history: &FileHistory,
    pair: &Pair,
    files: &mut Contents,
) -> Result<HunkDoc, ReviewError> {
    let mut states = Vec::new();
    for part in &parts.parts {
        states.push(state_of(part, parts, history, pair, files)?);
    }
    let newest = authors.iter().flatten().copied().max_by_key(|step| step.turn);
    let pending = states.iter().filter(|state| **state == HunkState::Pending).count();
    let count = if pending > 0 { pending } else { states.len() } as u32;
    let words = format!(
        "{} hunks, decided together: too many to be shown one by one with those of other files",
        thousands(parts.parts.len() as u64)
    );
    let lines = |sum: u64| u32::try_from(sum).unwrap_or(u32::MAX);
    let (added, removed) = (lines(added(parts)), lines(removed(parts)));
    Ok(HunkDoc {
        what: HunkKind::Whole(words),
        count,
        added,
        removed,
        ..bare(TOGETHER, worst(states.into_iter()), newest)
    })
}

/// What the hunks of one file are made of.
struct Making<'a> {
    parts: &'a Parts,
    history: &'a FileHistory,
    pair: &'a Pair,
    files: &'a mut Contents,
    /// For lines, in bytes.
    room: &'a mut usize,
    has_lines: bool,
    /// For changed words.
    until: Instant,
}

impl Making<'_> {
    fn hunk(&mut self, part: &Part, authors: &[&ChangeRecord]) -> Result<HunkDoc, ReviewError> {
        let state = state_of(part, self.parts, self.history, self.pair, self.files)?;
        let doc = bare(part.id(), state, authors.last().copied());
        let (hunk, (old, new)) = match (part, &self.parts.texts) {
            (Part::Lines(hunk), Some((old, new))) => (hunk, (old, new)),
            (Part::Lines(_), None) => return Ok(doc),
            (Part::Whole(_, words), _) => return Ok(HunkDoc { what: HunkKind::Whole(words.clone()), ..doc }),
            (Part::Mode(_, was, is), _) => return Ok(HunkDoc { what: HunkKind::Mode(*was, *is), ..doc }),
        };
        if state == HunkState::Edited {
            let there = now(hunk, self.history, self.pair, self.files)?;
            if let Some(last) = self.files.text(&self.history.last())?.filter(|_| !there.is_empty()) {
                return Ok(self.with_lines(doc, &there, old, &last));
            }
        }
        let mut doc = self.with_lines(doc, std::slice::from_ref(hunk), old, new);
        if state == HunkState::Pending && authors.iter().any(|step| step.doubt) {
            doc.heading =
                if doc.heading.is_empty() { IN_DOUBT.to_owned() } else { format!("{IN_DOUBT}; {}", doc.heading) };
        }
        Ok(doc)
    }

    fn with_lines(&mut self, doc: HunkDoc, hunks: &[Arc<HunkLines>], old: &Lines, new: &Lines) -> HunkDoc {
        let Some(first) = hunks.first() else { return doc };
        let (mut lines, mut changed, mut cut) = (Vec::new(), 0, false);
        for hunk in hunks {
            let mut shown = hunk.shown(old, new, self.room);
            emphasise(&mut shown.lines, self.until);
            changed += shown.refs.iter().filter(|line| !matches!(line, LineRef::Same { .. })).count();
            cut |= shown.cut;
            if lines.is_empty() {
                lines = shown.lines;
            } else {
                lines.append(&mut shown.lines);
            }
        }
        let sum = |of: fn(&HunkLines) -> u32| hunks.iter().fold(0_u32, |sum, hunk| sum.saturating_add(of(hunk)));
        let (added, removed) = (sum(|hunk| hunk.added), sum(|hunk| hunk.removed));
        let is_unknown = is_unknown_before(&self.parts.old, &self.parts.new);
        let heading = match cut && self.has_lines {
            true => cut_words(changed, added, removed),
            false if is_unknown => UNKNOWN.to_owned(),
            false => first.heading.clone(),
        };
        let (old_start, new_start) = (first.old_start, first.new_start);
        HunkDoc { old_start, new_start, heading, added, removed, lines: lines.into(), ..doc }
    }
}

/// A decision on it is about all of it.
fn cut_words(shown: usize, added: u32, removed: u32) -> String {
    let all = u64::from(added) + u64::from(removed);
    format!("only {} of {} lines are shown, all are decided", thousands(shown as u64), thousands(all))
}

/// What differs on the disk now in the place of a hunk; nothing when there is no such place.
pub fn now(
    hunk: &HunkLines,
    history: &FileHistory,
    pair: &Pair,
    files: &mut Contents,
) -> Result<Vec<Arc<HunkLines>>, ReviewError> {
    let last = history.last();
    if last.is_absent() != pair.new.is_absent() {
        return Ok(Vec::new());
    }
    let hunks = files.hunks(&pair.old, &last)?;
    Ok(hunks.iter().filter(|there| touches(&there.old, &hunk.old)).cloned().collect())
}

/// Whose the lines of `pair.new` are.
pub fn blame_of(history: &FileHistory, pair: &Pair, files: &mut Contents) -> Result<Blame, ReviewError> {
    if history.last() == pair.new {
        return history.blame(files);
    }
    let upto = history.steps.get(..pair.upto).unwrap_or_default();
    FileHistory { steps: upto.to_vec(), ..*history }.blame(files)
}

/// Which parts each of these ranges of the new lines touches, by their places.
fn touched<'a, T>(
    parts: &'a Parts,
    ranges: impl Iterator<Item = (&'a Range<usize>, T)>,
    mut found: impl FnMut(usize, &T),
) {
    // Those of lines are the first, in order: of very many each range finds its own.
    let hunks: Vec<&HunkLines> = lines(parts).collect();
    for (range, what) in ranges {
        let from = hunks.partition_point(|hunk| hunk.new.end < range.start);
        let near = hunks.iter().enumerate().skip(from).take_while(|(_, hunk)| hunk.new.start <= range.end);
        near.filter(|(_, hunk)| is_touched(&hunk.runs, range)).for_each(|(at, _)| found(at, &what));
    }
}

/// For each part the steps that put some of it there, oldest first; `blame` is that of the pair.
pub fn authors<'a>(parts: &Parts, history: &'a FileHistory, pair: &Pair, blame: &Blame) -> Vec<Vec<&'a ChangeRecord>> {
    let upto = history.steps.get(..pair.upto).unwrap_or_default();
    let mut found: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); parts.parts.len()];
    touched(parts, blame.iter().map(|(range, who)| (range, *who)), |at, who| {
        found.get_mut(at).map(|found| found.insert(*who));
    });
    let named = |found: BTreeSet<usize>| -> Vec<&ChangeRecord> {
        let steps: Vec<_> = found.into_iter().filter_map(|who| upto.get(who)).filter(|s| s.is_shown()).collect();
        if steps.is_empty() { upto.iter().rev().find(|s| s.is_shown()).into_iter().collect() } else { steps }
    };
    found.into_iter().map(named).collect()
}

/// The places of the parts of which the person has changed lines that a rejection would take away with them; `blame` is that
/// of the pair.
pub fn conflicts(
    parts: &Parts,
    history: &FileHistory,
    pair: &Pair,
    blame: &Blame,
    files: &mut Contents,
) -> Result<BTreeSet<usize>, ReviewError> {
    let mut found = BTreeSet::new();
    let is_persons = |who: usize| history.steps.get(who).is_some_and(|s| s.cause.is_persons());
    let persons = blame.iter().filter(|(range, who)| is_persons(*who) && !range.is_empty()).map(|(range, _)| range);
    let mut persons = persons.peekable();
    if history.last() != pair.new || persons.peek().is_none() {
        return Ok(found);
    }
    if let Some(open) = files.edits(&history.accepted, &pair.new)? {
        let persons = persons.filter(|range| is_touched(&open, range)).map(|range| (range, ()));
        touched(parts, persons, |at, ()| {
            found.insert(at);
        });
    }
    Ok(found)
}

/// Why what is in conflict cannot simply be rejected.
pub const CONFLICT: &str = "you have changed these lines too";

/// The id of what a rename is shown as.
pub const RENAME: HunkId = HunkId(0x007e_7a3e);

/// One file that is there under another name; neither has lines.
pub fn renamed(old: &FileDoc, new: &FileDoc) -> FileDoc {
    let from = paths::display(&old.path, &[], None);
    let state = worst(new.hunks.iter().chain(&old.hunks).map(|h| h.state));
    let hunk = |first: &HunkDoc| HunkDoc {
        id: RENAME,
        state,
        what: HunkKind::Whole(format!("renamed from {from}")),
        count: 1,
        added: 0,
        removed: 0,
        lines: Arc::default(),
        heading: String::new(),
        ..first.clone()
    };
    FileDoc {
        change: FileChange::Renamed,
        renamed_from: Some(old.path.clone()),
        hunks: new.hunks.first().map(hunk).into_iter().collect(),
        added: 0,
        removed: 0,
        ..new.clone()
    }
}

fn worst(states: impl Iterator<Item = HunkState>) -> HunkState {
    let mut out = HunkState::Accepted;
    for state in states {
        if state == HunkState::Pending {
            return state;
        }
        out = state;
    }
    out
}
