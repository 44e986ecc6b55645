//! From histories to what can be looked at.
//!
//! Reads contents, changes nothing. Invariant: a hunk is never shown as decided that is not.

use super::error::ReviewError;
use super::files::Files;
use super::history::{Blame, History, Pair, touches};
use super::hunks::{HunkLines, LineRef, edits};
use super::ledger::Step;
use super::lines::Lines;
use super::parts::{Part, Parts};
use super::state::State;
use crate::model::changes::{Cause, FileChange, FileDoc, HunkDoc, HunkId, HunkKind, HunkState};
use crate::model::ids::EntryId;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// One file as it can be looked at.
pub fn file_doc(path: &Path, history: &History, pair: &Pair, files: &mut Files) -> Result<FileDoc, ReviewError> {
    let parts = Parts::of(files, &pair.old, &pair.new)?;
    let blame = history.blame(files)?;
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
    history: &History,
    pair: &Pair,
    files: &mut Files,
) -> Result<HunkState, ReviewError> {
    let (Part::Lines(hunk), Some((old, _))) = (part, &parts.texts) else {
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
    let was: Vec<&[u8]> = hunk.old.clone().map(|line| old.raw(line)).collect();
    let is_old = |text: &Lines, range: &Range<usize>| {
        range.len() == was.len()
            && range.clone().zip(&was).all(|(line, was)| line < text.len() && text.raw(line) == *was)
    };
    // The core can have lines in it that did not change: what is asked is what has become of those that did.
    let mut states: Vec<HunkState> = Vec::new();
    for run in runs(hunk) {
        states.push(history.fate(pair, &run, is_old, files)?);
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

/// The changed runs of a hunk in the new text; an empty one where lines were only removed.
fn runs(hunk: &HunkLines) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut at = hunk.new.start;
    let mut open = false;
    for line in &hunk.refs {
        match *line {
            LineRef::Same { new, .. } => {
                at = new + 1;
                open = false;
            }
            LineRef::Old(_) if !open => {
                runs.push(at..at);
                open = true;
            }
            LineRef::Old(_) => {}
            LineRef::New(new) => {
                match runs.last_mut().filter(|_| open) {
                    Some(run) => run.end = new + 1,
                    None => runs.push(new..new + 1),
                }
                at = new + 1;
                open = true;
            }
        }
    }
    if runs.is_empty() { vec![hunk.new.clone()] } else { runs }
}

fn hunk_doc(
    part: &Part,
    parts: &Parts,
    history: &History,
    pair: &Pair,
    blame: &Blame,
    files: &mut Files,
) -> Result<HunkDoc, ReviewError> {
    let state = state_of(part, parts, history, pair, files)?;
    let step = author(part, history, pair, blame, files)?;
    let doc = HunkDoc {
        id: part.id(),
        state,
        cause: step.map_or(Cause::Unknown, |s| s.cause),
        entry: step.and_then(|s| s.entry).map(EntryId),
        turn: step.map_or(0, |s| s.turn),
        old_start: 1,
        new_start: 1,
        heading: String::new(),
        what: HunkKind::Lines,
        lines: Vec::new(),
        conflict: None,
    };
    Ok(match part {
        Part::Lines(hunk) => HunkDoc {
            old_start: hunk.old_start,
            new_start: hunk.new_start,
            heading: hunk.heading.clone(),
            lines: hunk.lines.clone(),
            conflict: if state == HunkState::Pending { conflict(hunk, history, pair, files)? } else { None },
            ..doc
        },
        Part::Whole(_, words) => HunkDoc { what: HunkKind::Whole(words.clone()), ..doc },
        Part::Mode(_, was, is) => HunkDoc { what: HunkKind::Mode(*was, *is), ..doc },
    })
}

/// The newest step that put some of it there.
pub fn author<'a>(
    part: &Part,
    history: &'a History,
    pair: &Pair,
    blame: &Blame,
    files: &mut Files,
) -> Result<Option<&'a Step>, ReviewError> {
    Ok(authors(part, history, pair, blame, files)?.into_iter().next_back())
}

/// The steps that put some of it there, oldest first.
pub fn authors<'a>(
    part: &Part,
    history: &'a History,
    pair: &Pair,
    blame: &Blame,
    files: &mut Files,
) -> Result<Vec<&'a Step>, ReviewError> {
    let upto = history.steps.get(..pair.upto).unwrap_or_default();
    let fallback = || upto.iter().rev().find(|s| s.is_shown()).into_iter().collect();
    let Part::Lines(hunk) = part else { return Ok(fallback()) };
    let earlier;
    let blame = if history.last() == pair.new {
        blame
    } else {
        earlier = History { steps: upto.to_vec(), accepted: history.accepted }.blame(files)?;
        &earlier
    };
    let runs = runs(hunk);
    let hits = |range: &Range<usize>| runs.iter().any(|run| touches(run, range));
    let found: BTreeSet<usize> = blame.iter().filter(|(range, _)| hits(range)).map(|(_, who)| *who).collect();
    let steps: Vec<&Step> = found.iter().filter_map(|who| upto.get(*who)).filter(|s| s.is_shown()).collect();
    Ok(if steps.is_empty() { fallback() } else { steps })
}

/// Whether the person has changed lines of it that a rejection would take away with it.
pub fn conflict(
    hunk: &HunkLines,
    history: &History,
    pair: &Pair,
    files: &mut Files,
) -> Result<Option<String>, ReviewError> {
    let touched = history.steps.iter().any(|s| s.cause == Cause::Person);
    let (true, true) = (touched, history.last() == pair.new) else { return Ok(None) };
    let (Some(accepted), Some(disk)) = (files.text(&history.accepted)?, files.text(&pair.new)?) else {
        return Ok(None);
    };
    let open = edits(&accepted, &disk);
    let runs = runs(hunk);
    for (range, who) in history.blame(files)? {
        let persons = history.steps.get(who).is_some_and(|s| s.cause == Cause::Person);
        if persons
            && !range.is_empty()
            && runs.iter().any(|run| touches(run, &range))
            && open.iter().any(|e| touches(&e.new, &range))
        {
            return Ok(Some("you have changed these lines too".to_owned()));
        }
    }
    Ok(None)
}

/// The id of what a rename is shown as.
pub const RENAME: HunkId = HunkId(0x007e_7a3e);

/// Pairs of files of which one went and one came with the same content are shown as one.
pub fn pair_renames(docs: Vec<(FileDoc, Pair)>) -> Vec<FileDoc> {
    let mut out: Vec<(FileDoc, Pair)> = Vec::new();
    let (mut gone, rest): (Vec<_>, Vec<_>) = docs
        .into_iter()
        .partition(|(doc, pair)| doc.change == FileChange::Deleted && pair.old.oid().is_some() && !is_empty(&pair.old));
    for (mut doc, pair) in rest {
        let twin = (doc.change == FileChange::Created)
            .then(|| gone.iter().position(|(_, other)| other.old == pair.new))
            .flatten();
        if let Some(at) = twin {
            let (old, _) = gone.remove(at);
            doc.change = FileChange::Renamed;
            let from = crate::base::paths::display(&old.path, &[], None);
            doc.renamed_from = Some(old.path);
            let state = worst(doc.hunks.iter().chain(&old.hunks).map(|h| h.state));
            if let Some(first) = doc.hunks.into_iter().next() {
                doc.hunks = vec![HunkDoc {
                    id: RENAME,
                    state,
                    what: HunkKind::Whole(format!("renamed from {from}")),
                    lines: Vec::new(),
                    heading: String::new(),
                    ..first
                }];
            } else {
                doc.hunks = Vec::new();
            }
            (doc.added, doc.removed) = (0, 0);
        }
        out.push((doc, pair));
    }
    out.append(&mut gone);
    let mut docs: Vec<FileDoc> = out.into_iter().map(|(doc, _)| doc).collect();
    docs.sort_by(|a, b| a.path.cmp(&b.path));
    docs
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
