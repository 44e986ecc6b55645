//! The history of one file: its observed changes in order, and the state that was accepted last.
//!
//! What a hunk has become is not kept but follows from here. Invariant: the person's own changes between turns are
//! part of the accepted state as far as they do not touch what is still to be decided.

use super::contents::Contents;
use super::ledger::{Author, ChangeRecord};
use crate::model::changes::{Cause, HunkState, Scope};
use crate::review::error::ReviewError;
use crate::review::state::State;
use crate::review::text::diff::{Edit, edits};
use crate::review::text::lines::Lines;
use crate::review::text::merge::follow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHistory {
    pub steps: Vec<ChangeRecord>,
    pub accepted: State,
    /// How often the author of a step came to be known later.
    pub accounted: usize,
}

/// What a history is known by to be the one that it was: its steps, how often one of them got its author later, and what
/// is accepted.
pub type Version = (usize, usize, State);

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

impl FileHistory {
    pub fn new(first: ChangeRecord) -> Self {
        Self { accepted: first.before, steps: vec![first], accounted: 0 }
    }

    pub fn version(&self) -> Version {
        (self.steps.len(), self.accounted, self.accepted)
    }

    /// A step has an author of whom nothing was known when it was found.
    pub fn account(&mut self, number: usize, Author { turn, cause, entry }: Author) {
        if let Some(step) = self.steps.get_mut(number) {
            *step = ChangeRecord::new(turn, cause, Some(entry), step.before, step.after);
            self.accounted += 1;
        }
    }

    /// The newest state that was seen.
    pub fn last(&self) -> State {
        self.steps.last().map_or(self.accepted, |step| step.after)
    }

    /// Whether the turns from this one on have changes without attribution.
    pub fn has_doubtful(&self, turn: u64) -> bool {
        self.steps.iter().any(|step| step.doubt && step.turn >= turn)
    }

    /// Whether a command of the person's ran when one of these was made.
    pub fn is_beside_persons(&self, turn: u64) -> bool {
        self.steps.iter().any(|step| step.doubt && step.beside_persons && step.turn >= turn)
    }

    /// Whether another run wrote the file when one of these was made.
    pub fn is_beside_run(&self, turn: u64) -> bool {
        self.steps.iter().any(|step| step.doubt && step.beside_run && step.turn >= turn)
    }

    /// The state that is accepted after one more step.
    pub fn accepted_after(&self, step: &ChangeRecord, files: &mut Contents) -> Result<State, ReviewError> {
        if step.cause == Cause::Person {
            carry(files, &step.before, &self.accepted, &step.after)
        } else {
            self.adopted(step, files)
        }
    }

    /// The accepted state, with lines that may be the person's when the agent is about to take them away: without them
    /// the person would never see that.
    fn adopted(&self, step: &ChangeRecord, files: &mut Contents) -> Result<State, ReviewError> {
        let may_be_the_persons = |s: &ChangeRecord| s.doubt || s.cause.is_persons();
        if !step.is_agents() || !self.steps.iter().any(may_be_the_persons) {
            return Ok(self.accepted);
        }
        let (Some(before), Some(after)) = (files.text(&step.before)?, files.text(&step.after)?) else {
            return Ok(self.accepted);
        };
        files.go_on()?;
        let gone = edits(&before, &after);
        let mut lost: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for (range, who) in self.blame(files)? {
            let keeps = self.steps.get(who).is_some_and(may_be_the_persons);
            if keeps && overlapping(&gone, &range).is_some() {
                lost.entry(who).or_default().push(range);
            }
        }
        let mut accepted = self.accepted;
        for (who, mut ranges) in lost {
            let Some(theirs) = self.steps.get(who) else { continue };
            ranges.sort_by_key(|range| range.start);
            let Some(text) = files.text(&accepted)? else { break };
            files.go_on()?;
            // What the accepted state has already need not be put there.
            let apart = edits(&before, &text);
            ranges.retain(|range| overlapping(&apart, range).is_some());
            let lines = ranges.iter().flat_map(|range| range.clone().map(|line| before.raw(line).to_vec())).collect();
            accepted = match readopt(files, theirs, &accepted, &lines)? {
                Some(state) => state,
                None => adopt(files, &step.before, &accepted, &ranges)?,
            };
        }
        Ok(accepted)
    }

    /// What there is to see of it.
    pub fn pair(&self, scope: Scope, files: &mut Contents) -> Result<Option<Pair>, ReviewError> {
        let pair = match scope {
            Scope::Pending => Some(Pair { old: self.accepted, new: self.last(), upto: self.steps.len() }),
            Scope::Turn(turn) => self.fold(files, |t| t == turn)?,
            Scope::Session => self.fold(files, |_| true)?,
        };
        Ok(pair.filter(|p| p.old != p.new))
    }

    /// From before the first to after the last change of some turns, the person's changes in between left out.
    pub fn fold(&self, files: &mut Contents, turns: impl Fn(u64) -> bool) -> Result<Option<Pair>, ReviewError> {
        let wanted = |s: &ChangeRecord| s.is_shown() && turns(s.turn);
        let (Some(first), Some(last)) = (self.steps.iter().position(wanted), self.steps.iter().rposition(wanted))
        else {
            return Ok(None);
        };
        let Some(steps) = self.steps.get(first..=last) else { return Ok(None) };
        let Some((head, tail)) = steps.split_first() else { return Ok(None) };
        let (mut old, mut new) = (head.before, head.after);
        for step in tail {
            if step.cause.is_persons() || (step.is_shown() && !turns(step.turn)) {
                old = carry(files, &step.before, &old, &step.after)?;
            }
            new = step.after;
        }
        Ok(Some(Pair { old, new, upto: last + 1 }))
    }

    /// What has become of one of the edits that lead from `pair.old` to `pair.new`.
    pub fn fate(&self, pair: &Pair, edit: &Edit, files: &mut Contents) -> Result<HunkState, ReviewError> {
        let last = self.last();
        let Some(changed) = files.edits(&pair.new, &last)? else { return Ok(self.fate_as_a_whole(pair)) };
        if last.is_absent() != pair.new.is_absent() {
            return Ok(self.fate_as_a_whole(pair));
        }
        let Some(now) = follow(&changed, &edit.new) else { return self.who_took(pair, edit, files) };
        let Some(open) = files.edits(&self.accepted, &last)? else { return Ok(HunkState::Pending) };
        let open = is_touched(&open, &now);
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
            Some(Cause::Person | Cause::Review | Cause::Merge) => HunkState::Edited,
            _ => HunkState::Superseded,
        }
    }

    /// The first step after the pair that took the lines away tells what has become of them.
    fn who_took(&self, pair: &Pair, edit: &Edit, files: &mut Contents) -> Result<HunkState, ReviewError> {
        let mut range = edit.new.clone();
        for step in self.steps.get(pair.upto..).unwrap_or_default() {
            let Some(changed) = files.edits(&step.before, &step.after)? else { break };
            if let Some(next) = follow(&changed, &range) {
                range = next;
                continue;
            }
            let there = mapped(&changed, &range);
            return Ok(match step.cause {
                Cause::Review if files.same((&step.after, &there), (&pair.old, &edit.old))? => HunkState::Rejected,
                Cause::Review | Cause::Person | Cause::Merge => HunkState::Edited,
                _ => HunkState::Superseded,
            });
        }
        Ok(HunkState::Superseded)
    }

    /// Which lines of the newest text came with which step.
    pub fn blame(&self, files: &mut Contents) -> Result<Blame, ReviewError> {
        let mut blame: Blame = Vec::new();
        // What is taken back or done again is whose it was before.
        let again: HashSet<State> = self.steps.iter().filter(|step| step.decided).map(|step| step.after).collect();
        let first = self.steps.first().map(|step| (step.before, Blame::new()));
        let mut known: HashMap<State, Blame> = first.filter(|(state, _)| again.contains(state)).into_iter().collect();
        for (number, step) in self.steps.iter().enumerate() {
            if step.decided
                && let Some(earlier) = known.get(&step.after)
            {
                blame.clone_from(earlier);
                continue;
            }
            let Some(changed) = files.edits(&step.before, &step.after)? else {
                blame.clear();
                continue;
            };
            blame =
                blame.iter().flat_map(|(range, who)| pieces(&changed, range).into_iter().map(|r| (r, *who))).collect();
            blame.extend(changed.iter().map(|e| (e.new.clone(), number)));
            self.forget_places(&mut blame);
            if again.contains(&step.after) {
                known.insert(step.after, blame.clone());
            }
        }
        Ok(blame)
    }

    /// Of the places where nothing is left, one is enough for each turn and author: the newest. There would be as many as
    /// lines were ever changed.
    fn forget_places(&self, blame: &mut Blame) {
        let mut named = HashSet::new();
        let mut is_new = |(range, who): &(Range<usize>, usize)| {
            let author = self.steps.get(*who).map(|step| (step.turn, step.cause, step.doubt));
            !range.is_empty() || named.insert((range.start, author))
        };
        let kept: Vec<_> = blame.drain(..).rev().filter(|one| is_new(one)).collect();
        blame.extend(kept.into_iter().rev());
    }
}

/// Puts what the person changed from `before` to `after` into `into`, as far as it does not touch what differs there.
/// What they deleted or replaced as a whole is theirs as a whole.
pub fn carry(files: &mut Contents, before: &State, into: &State, after: &State) -> Result<State, ReviewError> {
    match files.joined(before, into, after)? {
        Some(state) => Ok(state),
        None => Ok(carried(files, before, into, after)?.unwrap_or(*after)),
    }
}

/// The same for another author's lines; anything else leaves `into` as it is.
pub fn carry_lines(files: &mut Contents, before: &State, into: &State, after: &State) -> Result<State, ReviewError> {
    match files.joined(before, into, after)? {
        Some(state) => Ok(state),
        None => Ok(carried(files, before, into, after)?.unwrap_or(*into)),
    }
}

/// Nothing when it is not about lines.
fn carried(files: &mut Contents, before: &State, into: &State, after: &State) -> Result<Option<State>, ReviewError> {
    if before.is_absent() || after.is_absent() {
        return Ok(None);
    }
    let (Some(apart), Some(changed)) = (files.edits(before, into)?, files.edits(before, after)?) else {
        return Ok(None);
    };
    // A file that is still to be decided as new is not there yet.
    let State::File { mode, .. } = into else { return Ok(Some(*into)) };
    let (Some(text), Some(after)) = (files.text(into)?, files.text(after)?) else { return Ok(None) };
    let place = |edit: &Edit| Some((follow(&apart, &edit.old)?, edit.new.clone()));
    let out: Vec<(Range<usize>, Range<usize>)> = changed.iter().filter_map(place).collect();
    files.file(&spliced(&text, &out, &after), *mode).map(Some)
}

/// Puts lines of `before` that `into` does not have into it: they are another author's and are about to be overwritten,
/// so that it must be seen what was there.
fn adopt(files: &mut Contents, before: &State, into: &State, lines: &[Range<usize>]) -> Result<State, ReviewError> {
    let State::File { mode, .. } = into else { return Ok(*into) };
    let Some(apart) = files.edits(before, into)? else { return Ok(*into) };
    let (Some(was), Some(text)) = (files.text(before)?, files.text(into)?) else { return Ok(*into) };
    let mut out: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for range in lines {
        let Some(edit) = overlapping(&apart, range) else { continue };
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
fn readopt(
    files: &mut Contents,
    step: &ChangeRecord,
    into: &State,
    lines: &BTreeSet<Vec<u8>>,
) -> Result<Option<State>, ReviewError> {
    let State::File { mode, .. } = into else { return Ok(None) };
    let (apart, changed) = (files.edits(&step.before, into)?, files.edits(&step.before, &step.after)?);
    let (Some(is), Some(text)) = (files.text(&step.after)?, files.text(into)?) else { return Ok(None) };
    let (Some(apart), Some(changed)) = (apart, changed) else { return Ok(None) };
    let mut out: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for edit in changed.iter() {
        if edit.new.clone().any(|line| lines.contains(is.raw(line))) {
            let Some(place) = follow(&apart, &edit.old) else { return Ok(None) };
            out.push((place, edit.new.clone()));
        }
    }
    if out.is_empty() { Ok(None) } else { files.file(&spliced(&text, &out, &is), *mode).map(Some) }
}

/// A text with some places in it, in order, replaced by lines of another.
pub fn spliced(text: &Lines, places: &[(Range<usize>, Range<usize>)], from: &Lines) -> Vec<u8> {
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
    let is_before = |edit: &Edit| edit.old.end <= range.start && (!edit.old.is_empty() || edit.old.start < range.start);
    let (above, rest) = edits.split_at(edits.partition_point(is_before));
    let mut at = range.start;
    let mut shift = above.last().map_or(0, |edit| edit.new.end as isize - edit.old.end as isize);
    let moved = |n: usize, shift: isize| n.saturating_add_signed(shift);
    for edit in rest {
        let grows = edit.new.len() as isize - edit.old.len() as isize;
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
        let last = edits.get(..edits.partition_point(|e| e.old.start <= range.start)).and_then(<[Edit]>::last);
        let place = match last {
            None => range.start,
            // Something was put right there; whether before or behind it is unknown.
            Some(edit) if edit.old.is_empty() && edit.old.start == range.start => edit.new.start,
            Some(edit) if edit.old.end <= range.start => edit.new.end + (range.start - edit.old.end),
            Some(edit) => edit.new.start,
        };
        out.push(place..place);
    }
    out
}

/// About where a range is after edits that touched it: all that stands in its place now.
fn mapped(edits: &[Edit], range: &Range<usize>) -> Range<usize> {
    let is_at = |edit: &Edit| edit.old.is_empty() && edit.old.start == range.start;
    let (above, rest) = edits.split_at(edits.partition_point(|edit| edit.old.end <= range.start && !is_at(edit)));
    let shift = above.last().map_or(0, |edit| edit.new.end as isize - edit.old.end as isize);
    let (start, mut end) = (range.start as isize + shift, range.end as isize + shift);
    for edit in rest.iter().take_while(|edit| edit.old.start <= range.end) {
        end += edit.new.len() as isize - edit.old.len() as isize;
    }
    start.max(0) as usize..end.max(start).max(0) as usize
}

/// The first of the edits that takes away or parts some of these old lines.
fn overlapping<'a>(edits: &'a [Edit], range: &Range<usize>) -> Option<&'a Edit> {
    let edit = edits.get(edits.partition_point(|edit| edit.old.end <= range.start))?;
    (edit.old.start < range.end).then_some(edit)
}

/// Whether one of the edits touches a range of new lines.
pub fn is_touched(edits: &[Edit], range: &Range<usize>) -> bool {
    let from = edits.partition_point(|edit| edit.new.end < range.start);
    let near = edits.get(from..).unwrap_or_default().iter().take_while(|edit| edit.new.start <= range.end);
    near.into_iter().any(|edit| touches(&edit.new, range))
}

/// Whether two ranges have a line in common; an empty one lies in or at the other.
pub fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    if a.is_empty() || b.is_empty() { a.start <= b.end && b.start <= a.end } else { a.start < b.end && b.start < a.end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Edits in order, with unchanged lines between them.
    fn some_edits() -> impl Strategy<Value = Vec<Edit>> {
        prop::collection::vec((1usize..4, 0usize..4, 0usize..4), 0..9).prop_map(|all| {
            let (mut old, mut new) = (0, 0);
            let mut edits = Vec::new();
            for (at, (gap, removed, added)) in all.into_iter().enumerate() {
                let gap = if at == 0 { gap - 1 } else { gap };
                let added = if removed == 0 { added.max(1) } else { added };
                (old, new) = (old + gap, new + gap);
                edits.push(Edit { old: old..old + removed, new: new..new + added });
                (old, new) = (old + removed, new + added);
            }
            edits
        })
    }

    /// What stands in the place of a range, edit by edit.
    fn mapped_one_by_one(edits: &[Edit], range: &Range<usize>) -> Range<usize> {
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

    /// Where a range was of which nothing is left.
    fn place_one_by_one(edits: &[Edit], range: &Range<usize>) -> usize {
        if let Some(edit) = edits.iter().find(|e| e.old.is_empty() && e.old.start == range.start) {
            return edit.new.start;
        }
        edits.iter().rfind(|e| e.old.start <= range.start).map_or(range.start, |e| {
            if e.old.end <= range.start { e.new.end + (range.start - e.old.end) } else { e.new.start }
        })
    }

    proptest! {
        #![proptest_config(crate::random(2000))]

        #[test]
        fn of_very_many_edits_the_right_one_is_found(edits in some_edits(), start in 0usize..30, len in 0usize..5) {
            let range = start..start + len;
            prop_assert_eq!(mapped(&edits, &range), mapped_one_by_one(&edits, &range));
            let is_over = |e: &&Edit| e.old.start < range.end && range.start < e.old.end;
            prop_assert_eq!(overlapping(&edits, &range), edits.iter().find(is_over));
            let left = pieces(&edits, &range);
            if let [place] = &left[..] && place.is_empty() {
                prop_assert_eq!(place.start, place_one_by_one(&edits, &range));
            }
        }
    }
}
