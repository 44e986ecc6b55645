//! The history of one file: its observed changes in order, and the state that was accepted last.
//!
//! What a hunk has become is not kept but follows from here. Invariant: the person's own changes between turns are
//! part of the accepted state as far as they do not touch what is still to be decided.

use super::error::ReviewError;
use super::files::Files;
use super::hunks::{Edit, edits};
use super::ledger::Step;
use super::lines::Lines;
use super::merge::follow;
use super::state::State;
use crate::model::changes::{Cause, HunkState, Scope};
use std::collections::BTreeSet;
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct History {
    pub steps: Vec<Step>,
    pub accepted: State,
}

/// What a review compares: from `old` to `new`, with the steps that led there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub old: State,
    pub new: State,
    /// Steps up to here are part of `new`.
    pub upto: usize,
}

/// Lines of the newest text that a step has put there, by the number of the step.
pub type Blame = Vec<(Range<usize>, usize)>;

impl History {
    pub fn new(first: Step) -> Self {
        Self { accepted: first.before, steps: vec![first] }
    }

    /// The newest state that was seen.
    pub fn last(&self) -> State {
        self.steps.last().map_or(self.accepted, |step| step.after)
    }

    /// What there is to see of it.
    pub fn pair(&self, scope: Scope, files: &mut Files) -> Result<Option<Pair>, ReviewError> {
        let pair = match scope {
            Scope::Pending => Some(Pair { old: self.accepted, new: self.last(), upto: self.steps.len() }),
            Scope::Turn(turn) => self.fold(files, |t| t == turn)?,
            Scope::Session => self.fold(files, |_| true)?,
        };
        Ok(pair.filter(|p| p.old != p.new))
    }

    /// From before the first to after the last change of some turns, the person's changes in between left out.
    fn fold(&self, files: &mut Files, turns: impl Fn(u64) -> bool) -> Result<Option<Pair>, ReviewError> {
        let wanted = |s: &Step| s.is_shown() && turns(s.turn);
        let (Some(first), Some(last)) = (self.steps.iter().position(wanted), self.steps.iter().rposition(wanted))
        else {
            return Ok(None);
        };
        let Some(steps) = self.steps.get(first..=last) else { return Ok(None) };
        let Some((head, tail)) = steps.split_first() else { return Ok(None) };
        let (mut old, mut new) = (head.before, head.after);
        for step in tail {
            if step.cause == Cause::Person || (step.is_shown() && !turns(step.turn)) {
                old = carry(files, &step.before, &old, &step.after)?;
            }
            new = step.after;
        }
        Ok(Some(Pair { old, new, upto: last + 1 }))
    }

    /// What has become of a range of lines of `pair.new`, of a hunk that stood between `old` lines before.
    pub fn fate(
        &self,
        pair: &Pair,
        range: &Range<usize>,
        is_old: impl Fn(&Lines, &Range<usize>) -> bool,
        files: &mut Files,
    ) -> Result<HunkState, ReviewError> {
        let last = self.last();
        let (Some(new), Some(disk)) = (files.text(&pair.new)?, files.text(&last)?) else {
            return Ok(self.fate_as_a_whole(pair));
        };
        if last.is_absent() != pair.new.is_absent() {
            return Ok(self.fate_as_a_whole(pair));
        }
        let Some(now) = follow(&edits(&new, &disk), range) else {
            return self.who_took(pair, range, is_old, files);
        };
        let Some(accepted) = files.text(&self.accepted)? else { return Ok(HunkState::Pending) };
        let open = edits(&accepted, &disk).iter().any(|e| touches(&e.new, &now));
        Ok(if open || self.accepted.is_absent() != last.is_absent() { HunkState::Pending } else { HunkState::Accepted })
    }

    /// The same for what can only be decided as a whole.
    pub fn fate_as_a_whole(&self, pair: &Pair) -> HunkState {
        let last = self.last();
        if last == pair.new {
            return if self.accepted == last { HunkState::Accepted } else { HunkState::Pending };
        }
        if last == pair.old {
            return HunkState::Rejected;
        }
        match self.steps.get(pair.upto..).unwrap_or_default().last().map(|s| s.cause) {
            Some(Cause::Person | Cause::Review) => HunkState::Edited,
            _ => HunkState::Superseded,
        }
    }

    /// The first step after the pair that took the range away tells what has become of it.
    fn who_took(
        &self,
        pair: &Pair,
        range: &Range<usize>,
        is_old: impl Fn(&Lines, &Range<usize>) -> bool,
        files: &mut Files,
    ) -> Result<HunkState, ReviewError> {
        let mut range = range.clone();
        for step in self.steps.get(pair.upto..).unwrap_or_default() {
            let (Some(before), Some(after)) = (files.text(&step.before)?, files.text(&step.after)?) else { break };
            let changed = edits(&before, &after);
            if let Some(next) = follow(&changed, &range) {
                range = next;
                continue;
            }
            return Ok(match step.cause {
                Cause::Review if is_old(&after, &mapped(&changed, &range)) => HunkState::Rejected,
                Cause::Review | Cause::Person => HunkState::Edited,
                _ => HunkState::Superseded,
            });
        }
        Ok(HunkState::Superseded)
    }

    /// Which lines of the newest text came with which step.
    pub fn blame(&self, files: &mut Files) -> Result<Blame, ReviewError> {
        let mut blame: Blame = Vec::new();
        let mut known: Vec<(State, Blame)> = self.steps.first().map(|s| (s.before, Vec::new())).into_iter().collect();
        for (number, step) in self.steps.iter().enumerate() {
            // What is taken back or done again is whose it was before.
            if step.decided
                && let Some((_, earlier)) = known.iter().rev().find(|(state, _)| *state == step.after)
            {
                blame.clone_from(earlier);
                continue;
            }
            let (Some(before), Some(after)) = (files.text(&step.before)?, files.text(&step.after)?) else {
                blame.clear();
                continue;
            };
            let changed = edits(&before, &after);
            blame =
                blame.iter().flat_map(|(range, who)| pieces(&changed, range).into_iter().map(|r| (r, *who))).collect();
            blame.extend(changed.into_iter().map(|e| (e.new, number)));
            known.push((step.after, blame.clone()));
        }
        Ok(blame)
    }
}

/// Puts what the person changed from `before` to `after` into `into`, as far as it does not touch what differs there.
pub fn carry(files: &mut Files, before: &State, into: &State, after: &State) -> Result<State, ReviewError> {
    if let Some(state) = files.joined(before, into, after)? {
        return Ok(state);
    }
    let State::File { mode, .. } = into else { return Ok(*into) };
    let texts = (files.text(before)?, files.text(into)?, files.text(after)?);
    let (Some(before), Some(text), Some(after)) = texts else { return Ok(*into) };
    let apart = edits(&before, &text);
    let mut out: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for edit in edits(&before, &after) {
        if let Some(place) = follow(&apart, &edit.old) {
            out.push((place, edit.new));
        }
    }
    files.file(&spliced(&text, &out, &after), *mode)
}

/// Puts lines of `before` that `into` does not have into it: they are somebody's and are about to be overwritten, so
/// that it must be seen what was there.
pub fn adopt(files: &mut Files, before: &State, into: &State, lines: &[Range<usize>]) -> Result<State, ReviewError> {
    let State::File { mode, .. } = into else { return Ok(*into) };
    let (Some(was), Some(text)) = (files.text(before)?, files.text(into)?) else { return Ok(*into) };
    let apart = edits(&was, &text);
    let mut out: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for range in lines {
        let Some(edit) = apart.iter().find(|e| e.old.start < range.end && range.start < e.old.end) else { continue };
        let place = if range.start <= edit.old.start && edit.old.end <= range.end {
            edit.new.clone()
        } else if range.start <= edit.old.start {
            edit.new.start..edit.new.start
        } else {
            edit.new.end..edit.new.end
        };
        out.push((place, range.start.max(edit.old.start)..range.end.min(edit.old.end)));
    }
    if out.is_empty() {
        return Ok(*into);
    }
    files.file(&spliced(&text, &out, &was), *mode)
}

/// Puts those changes of a step into `into` that brought one of the lines, in the place of what they replaced. Nothing
/// when that place is not there as it was.
pub fn readopt(
    files: &mut Files,
    step: &Step,
    into: &State,
    lines: &BTreeSet<Vec<u8>>,
) -> Result<Option<State>, ReviewError> {
    let State::File { mode, .. } = into else { return Ok(None) };
    let texts = (files.text(&step.before)?, files.text(&step.after)?, files.text(into)?);
    let (Some(was), Some(is), Some(text)) = texts else { return Ok(None) };
    let apart = edits(&was, &text);
    let mut out: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for edit in edits(&was, &is) {
        if edit.new.clone().any(|line| lines.contains(is.raw(line))) {
            let Some(place) = follow(&apart, &edit.old) else { return Ok(None) };
            out.push((place, edit.new));
        }
    }
    if out.is_empty() { Ok(None) } else { files.file(&spliced(&text, &out, &is), *mode).map(Some) }
}

/// A text with some places in it, in order, replaced by lines of another.
fn spliced(text: &Lines, places: &[(Range<usize>, Range<usize>)], from: &Lines) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.bytes().len());
    let mut at = 0;
    for (place, lines) in places {
        (at..place.start).for_each(|line| bytes.extend_from_slice(text.raw(line)));
        lines.clone().for_each(|line| bytes.extend_from_slice(from.raw(line)));
        at = place.end.max(at);
    }
    (at..text.len()).for_each(|line| bytes.extend_from_slice(text.raw(line)));
    bytes
}

/// What is left of a range after some edits, in pieces; of what was taken away the place is left.
fn pieces(edits: &[Edit], range: &Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut at, mut shift) = (range.start, 0_isize);
    let moved = |n: usize, shift: isize| n.saturating_add_signed(shift);
    for edit in edits {
        let grows = edit.new.len() as isize - edit.old.len() as isize;
        let before = edit.old.end <= range.start && (!edit.old.is_empty() || edit.old.start < range.start);
        if before {
            shift += grows;
            continue;
        }
        if edit.old.start >= range.end {
            break;
        }
        if at < edit.old.start {
            out.push(moved(at, shift)..moved(edit.old.start, shift));
        }
        at = edit.old.end.max(at);
        shift += grows;
    }
    if at < range.end {
        out.push(moved(at, shift)..moved(range.end, shift));
    }
    if out.is_empty() {
        let place = edits.iter().rfind(|e| e.old.start <= range.start).map_or(range.start, |e| {
            if e.old.end <= range.start { e.new.end + (range.start - e.old.end) } else { e.new.start }
        });
        let place = match edits.iter().find(|e| e.old.is_empty() && e.old.start == range.start) {
            // Something was put right there: before or behind it, nobody knows.
            Some(edit) => edit.new.start,
            None => place,
        };
        out.push(place..place);
    }
    out
}

/// About where a range is after edits that touched it: all that stands in its place now.
fn mapped(edits: &[Edit], range: &Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (range.start as isize, range.end as isize);
    for edit in edits {
        let shift = edit.new.len() as isize - edit.old.len() as isize;
        if edit.old.end <= range.start && !(edit.old.is_empty() && edit.old.start == range.start) {
            start += shift;
            end += shift;
        } else if edit.old.start <= range.end {
            end += shift;
        }
    }
    start.max(0) as usize..end.max(start).max(0) as usize
}

/// Whether two ranges have a line in common; an empty one lies in or at the other.
pub fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    if a.is_empty() || b.is_empty() { a.start <= b.end && b.start <= a.end } else { a.start < b.end && b.start < a.end }
}
