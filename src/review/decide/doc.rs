//! From histories to what can be looked at.
//!
//! Reads contents, changes nothing. Invariant: a hunk is never shown as decided that is not.

use super::parts::{Part, Parts};
use crate::base::human::thousands;
use crate::base::paths;
use crate::model::changes::{Cause, FileChange, FileDoc, HunkDoc, HunkId, HunkKind, HunkState};
use crate::model::ids::EntryId;
use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::{Blame, FileHistory, Pair, is_touched, touches};
use crate::review::history::ledger::ChangeRecord;
use crate::review::state::State;
use crate::review::text::diff::{HunkLines, LineRef};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of files that are kept as they were shown; for the most part they are those of the document that is shown.
const SHOWN: usize = 256 << 20;

/// A file as it was shown last.
struct Shown {
    history: FileHistory,
    pair: Pair,
    doc: Arc<FileDoc>,
    bytes: usize,
    /// The document that it was part of last.
    round: u64,
}

/// Files as they were shown last: most of them have not changed since.
#[derive(Default)]
pub struct DocCache {
    shown: HashMap<PathBuf, Shown>,
    bytes: usize,
    round: u64,
}

impl DocCache {
    /// A new document begins: of the files of the one before only those are kept that it has.
    pub fn begin(&mut self) {
        let round = self.round;
        self.shown.retain(|_, shown| shown.round == round);
        self.bytes = self.shown.values().map(|shown| shown.bytes).sum();
        self.round += 1;
    }

    /// The review is not on the screen any more.
    pub fn clear(&mut self) {
        self.shown = HashMap::new();
        self.bytes = 0;
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
        let doc = Arc::new(new_doc(path, history, pair, files)?);
        #[cfg(test)]
        {
            files.shown += 1;
        }
        self.put(history, pair, &doc);
        Ok(doc)
    }

    fn get(&mut self, path: &Path, history: &FileHistory, pair: &Pair) -> Option<Arc<FileDoc>> {
        let shown = self.shown.get_mut(path)?;
        shown.round = self.round;
        (shown.history == *history && shown.pair == *pair).then(|| Arc::clone(&shown.doc))
    }

    /// What there is no room for is made anew each time; what is there stays, since each document asks for all of it.
    fn put(&mut self, history: &FileHistory, pair: &Pair, doc: &Arc<FileDoc>) {
        let lines = doc.hunks.iter().flat_map(|hunk| &hunk.lines);
        let lines: usize = lines.map(|line| size_of_val(line) + line.text.len()).sum();
        let bytes = lines + size_of::<FileDoc>() + size_of_val(&*doc.hunks) + size_of_val(&*history.steps);
        if let Some(before) = self.shown.remove(&doc.path) {
            self.bytes -= before.bytes;
        }
        if self.bytes + bytes <= SHOWN {
            self.bytes += bytes;
            let (history, pair, round) = (history.clone(), pair.clone(), self.round);
            self.shown.insert(doc.path.clone(), Shown { history, pair, doc: Arc::clone(doc), bytes, round });
        }
    }
}

fn new_doc(path: &Path, history: &FileHistory, pair: &Pair, files: &mut Contents) -> Result<FileDoc, ReviewError> {
    let parts = Parts::of(files, &pair.old, &pair.new)?;
    let blame = blame_of(history, pair, files)?;
    let mut hunks = Vec::new();
    for part in &parts.parts {
        hunks.push(hunk_doc(part, &parts, history, pair, &blame, files)?);
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
        note: note(&parts),
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

fn note(parts: &Parts) -> Option<String> {
    let (old, new) = parts.texts.as_ref()?;
    let (was, is) = (old.label(), new.label());
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

fn hunk_doc(
    part: &Part,
    parts: &Parts,
    history: &FileHistory,
    pair: &Pair,
    blame: &Blame,
    files: &mut Contents,
) -> Result<HunkDoc, ReviewError> {
    let state = state_of(part, parts, history, pair, files)?;
    let step = authors(part, history, pair, blame).into_iter().next_back();
    let doc = HunkDoc {
        id: part.id(),
        state,
        cause: step.map_or(Cause::Unknown, |s| s.cause),
        entry: step.and_then(|s| s.entry).map(EntryId),
        elsewhere: None,
        turn: step.map_or(0, |s| s.turn),
        old_start: 1,
        new_start: 1,
        heading: String::new(),
        what: HunkKind::Lines,
        lines: Vec::new(),
        conflict: None,
    };
    Ok(match part {
        Part::Lines(hunk) if state == HunkState::Edited => match &*now(hunk, history, pair, files)? {
            [] => with_lines(doc, std::slice::from_ref(hunk)),
            there => with_lines(doc, there),
        },
        Part::Lines(hunk) => HunkDoc {
            conflict: if state == HunkState::Pending { conflict(hunk, history, pair, blame, files)? } else { None },
            ..with_lines(doc, std::slice::from_ref(hunk))
        },
        Part::Whole(_, words) => HunkDoc { what: HunkKind::Whole(words.clone()), ..doc },
        Part::Mode(_, was, is) => HunkDoc { what: HunkKind::Mode(*was, *is), ..doc },
    })
}

fn with_lines(doc: HunkDoc, hunks: &[Arc<HunkLines>]) -> HunkDoc {
    let Some(first) = hunks.first() else { return doc };
    let heading = if first.cut { cut_words(first) } else { first.heading.clone() };
    HunkDoc {
        old_start: first.old_start,
        new_start: first.new_start,
        heading,
        lines: hunks.iter().flat_map(|hunk| hunk.lines.iter().cloned()).collect(),
        ..doc
    }
}

/// A decision on it is about all of it.
fn cut_words(hunk: &HunkLines) -> String {
    let shown = hunk.refs.iter().filter(|line| !matches!(line, LineRef::Same { .. })).count() as u64;
    let all = u64::from(hunk.added) + u64::from(hunk.removed);
    format!("only {} of {} lines are shown, all are decided", thousands(shown), thousands(all))
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
    FileHistory { steps: upto.to_vec(), accepted: history.accepted }.blame(files)
}

/// The steps that put some of it there, oldest first; `blame` is that of the pair.
pub fn authors<'a>(part: &Part, history: &'a FileHistory, pair: &Pair, blame: &Blame) -> Vec<&'a ChangeRecord> {
    let upto = history.steps.get(..pair.upto).unwrap_or_default();
    let fallback = || upto.iter().rev().find(|s| s.is_shown()).into_iter().collect();
    let Part::Lines(hunk) = part else { return fallback() };
    let hits = |range| is_touched(&hunk.runs, range);
    let found: BTreeSet<usize> = blame.iter().filter(|(range, _)| hits(range)).map(|(_, who)| *who).collect();
    let steps: Vec<&ChangeRecord> = found.iter().filter_map(|who| upto.get(*who)).filter(|s| s.is_shown()).collect();
    if steps.is_empty() { fallback() } else { steps }
}

/// Whether the person has changed lines of it that a rejection would take away with it; `blame` is that of the pair.
pub fn conflict(
    hunk: &HunkLines,
    history: &FileHistory,
    pair: &Pair,
    blame: &Blame,
    files: &mut Contents,
) -> Result<Option<String>, ReviewError> {
    if history.last() != pair.new {
        return Ok(None);
    }
    let is_persons = |who: usize| history.steps.get(who).is_some_and(|s| s.cause.is_persons());
    let persons = blame.iter().filter(|(range, who)| is_persons(*who) && !range.is_empty());
    let mut persons = persons.map(|(range, _)| range).filter(|range| is_touched(&hunk.runs, range)).peekable();
    if persons.peek().is_none() {
        return Ok(None);
    }
    let Some(open) = files.edits(&history.accepted, &pair.new)? else { return Ok(None) };
    Ok(persons.any(|range| is_touched(&open, range)).then(|| "you have changed these lines too".to_owned()))
}

/// The id of what a rename is shown as.
pub const RENAME: HunkId = HunkId(0x007e_7a3e);

/// Pairs of files of which one went and one came with the same content are shown as one. Sorted by path.
pub fn pair_renames(docs: Vec<(Arc<FileDoc>, Pair)>) -> Vec<Arc<FileDoc>> {
    let mut gone: HashMap<State, VecDeque<Arc<FileDoc>>> = HashMap::new();
    let (left, rest): (Vec<_>, Vec<_>) = docs
        .into_iter()
        .partition(|(doc, pair)| doc.change == FileChange::Deleted && pair.old.oid().is_some() && !is_empty(&pair.old));
    for (doc, pair) in left {
        gone.entry(pair.old).or_default().push_back(doc);
    }
    let mut docs: Vec<Arc<FileDoc>> = Vec::new();
    for (doc, pair) in rest {
        let twin = if doc.change == FileChange::Created { gone.get_mut(&pair.new) } else { None };
        docs.push(match twin.and_then(VecDeque::pop_front) {
            Some(old) => Arc::new(renamed(&old, &doc)),
            None => doc,
        });
    }
    docs.extend(gone.into_values().flatten());
    docs.sort_by(|a, b| paths::in_order(&a.path, &b.path));
    docs
}

fn renamed(old: &FileDoc, new: &FileDoc) -> FileDoc {
    let from = paths::display(&old.path, &[], None);
    let state = worst(new.hunks.iter().chain(&old.hunks).map(|h| h.state));
    let hunk = |first: &HunkDoc| HunkDoc {
        id: RENAME,
        state,
        what: HunkKind::Whole(format!("renamed from {from}")),
        lines: Vec::new(),
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

const fn is_empty(state: &State) -> bool {
    matches!(state, State::File { size: 0, .. } | State::Link { size: 0, .. })
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
