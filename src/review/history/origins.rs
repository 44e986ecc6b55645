//! Which change each line of a file came with, followed back through what is recorded of the file.
//!
//! Decides nothing and writes nothing. Invariants: no line that is asked about is both found and left, or twice; a line is
//! put down to a change only where that change put it there; nothing goes on for longer than it may.

use super::contents::Contents;
use super::file_history::FileHistory;
use super::ledger::ChangeRecord;
use crate::model::changes::Cause;
use crate::review::error::ReviewError;
use crate::review::snapshot::packs;
use crate::review::state::{Oid, State, content};
use crate::review::text::diff::{Edit, edits};
use crate::review::text::lines::Lines;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Earlier versions in which a line that a decision brought back is looked for.
const MAX_RESTORED: usize = 256;

type Histories = BTreeMap<PathBuf, FileHistory>;

/// A line of a version, and the line of the file that is asked about; both from 0.
type Pairs = Vec<(usize, usize)>;

/// Lines of which it is not known yet where they came from.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Of the file at that time, below the root.
    pub path: PathBuf,
    pub lines: Vec<(usize, usize)>,
    pub of: Whose,
}

impl Carried {
    /// Names the text that the lines are of, where it may be another file's.
    pub fn content(&self) -> Option<Oid> {
        match &self.of {
            Whose::Before(text) if !text.is_empty() => packs::hash(text.bytes()).ok(),
            _ => None,
        }
    }
}

/// What is known of the version that has them.
#[derive(Clone, Debug)]
pub enum Whose {
    /// The file was so before anything that has been looked at.
    Before(Lines),
    /// They are not in the newest version that was looked at: only a record that has the very same version knows them.
    Same(Lines),
    /// They came with this change, of which no agent of the record says that it made it: only a record of that agent
    /// knows them.
    Change(State, State),
}

/// What is known of the lines after one record was looked at.
#[derive(Debug, Default)]
pub struct Origins {
    /// Lines of the file that is asked about, from 0, with the change that they came with.
    pub found: Vec<(usize, ChangeRecord)>,
    pub left: Vec<Carried>,
    /// Lines that came with the merge of a worktree: the number of the merge, and the file as it was then.
    pub merged: Vec<(u64, Carried)>,
    /// A version is not kept, or no text.
    pub is_unread: bool,
    /// The time was up.
    pub is_cut: bool,
}

struct Walk<'a> {
    histories: &'a Histories,
    files: &'a mut Contents,
    until: Instant,
    /// Versions that are still to be looked at. Version n of a file is what its step n has found.
    open: BTreeMap<(PathBuf, usize), Pairs>,
    /// Renames that were followed: none leads round in a circle.
    followed: HashSet<(PathBuf, usize)>,
    out: Origins,
}

/// Follows lines back through the histories of a review until the time is up.
pub fn origins(
    histories: &Histories,
    files: &mut Contents,
    lines: Vec<Carried>,
    until: Instant,
) -> Result<Origins, ReviewError> {
    let (open, followed) = (BTreeMap::new(), HashSet::new());
    let mut walk = Walk { histories, files, until, open, followed, out: Origins::default() };
    for carried in lines {
        walk.enter(carried)?;
    }
    while let Some(((path, version), pairs)) = walk.open.pop_last() {
        if Instant::now() >= until {
            walk.out.is_cut = true;
            break;
        }
        walk.back(&path, version, pairs)?;
    }
    Ok(walk.out)
}

fn state(history: &FileHistory, version: usize) -> Option<State> {
    match version.checked_sub(1) {
        None => history.steps.first().map(|step| step.before),
        Some(at) => history.steps.get(at).map(|step| step.after),
    }
}

/// The newest version below this one with that content.
fn version_of(history: &FileHistory, oid: Oid, below: usize) -> Option<usize> {
    (0..below).rev().find(|version| state(history, *version).and_then(|state| state.oid()) == Some(oid))
}

impl Walk<'_> {
    /// Finds the version of this review that the lines are in.
    fn enter(&mut self, carried: Carried) -> Result<(), ReviewError> {
        let history = self.histories.get(&carried.path);
        let text = match &carried.of {
            Whose::Change(before, after) => {
                let is_it = |step: &&ChangeRecord| {
                    step.is_agents() && step.before.oid() == before.oid() && step.after.oid() == after.oid()
                };
                match history.and_then(|history| history.steps.iter().rev().find(is_it)) {
                    Some(step) => self.found(step, carried.lines),
                    None => self.out.left.push(carried),
                }
                return Ok(());
            }
            Whose::Before(text) | Whose::Same(text) => text.clone(),
        };
        let oid = packs::hash(text.bytes())?;
        let same = history.and_then(|history| version_of(history, oid, history.steps.len() + 1));
        if let Some(version) = same {
            self.open(carried.path, version, carried.lines);
        } else if matches!(carried.of, Whose::Same(_)) {
            self.out.left.push(carried);
        } else if let Some(history) = history {
            let (last, newest) = (history.last(), history.steps.len());
            let Some(was) = self.text(&last)? else {
                self.out.is_unread = true;
                return Ok(());
            };
            let (there, changed) = told_apart(&edits(&was, &text), carried.lines);
            self.open(carried.path.clone(), newest, there);
            if !changed.is_empty() {
                self.out.left.push(Carried { path: carried.path, lines: changed, of: Whose::Same(text) });
            }
        } else {
            match self.gone(oid, text.bytes().len()) {
                Some((path, version)) => self.open(path, version, carried.lines),
                None => self.out.left.push(carried),
            }
        }
        Ok(())
    }

    /// The one file that had this content when it went.
    fn gone(&self, oid: Oid, size: usize) -> Option<(PathBuf, usize)> {
        let mut gone = self.histories.iter().filter(|(_, history)| {
            let last = history.steps.last();
            size > 0 && last.is_some_and(|step| step.after.is_absent() && step.before.oid() == Some(oid))
        });
        let (path, history) = gone.next()?;
        gone.next().is_none().then(|| (path.clone(), history.steps.len() - 1))
    }

    /// The same for a file that was so when the agent changed it first: what the person did to it before that, no record
    /// has, and that another file went has one.
    fn renamed_by_person(&mut self, path: &Path, text: &Lines) -> Result<Option<(PathBuf, usize)>, ReviewError> {
        let gone = self.gone(packs::hash(text.bytes())?, text.bytes().len());
        let is_persons = |(from, at): &(PathBuf, usize)| {
            let step = self.histories.get(from).and_then(|history| history.steps.get(*at));
            step.is_some_and(|step| !step.is_shown() && !step.decided)
        };
        let found = gone.filter(is_persons);
        Ok(found.filter(|_| self.followed.insert((path.to_owned(), 0))))
    }

    fn open(&mut self, path: PathBuf, version: usize, pairs: Pairs) {
        if !pairs.is_empty() {
            self.open.entry((path, version)).or_default().extend(pairs);
        }
    }

    fn found(&mut self, step: &ChangeRecord, pairs: Pairs) {
        self.out.found.extend(pairs.into_iter().map(|(_, line)| (line, *step)));
    }

    /// The lines of a state; nothing for what is not kept or no text.
    fn text(&mut self, state: &State) -> Result<Option<Lines>, ReviewError> {
        match self.files.text(state) {
            Err(ReviewError::NotKept(_)) => Ok(None),
            text => text,
        }
    }

    /// What turns one into the other.
    fn edits(&mut self, old: &State, new: &State) -> Result<Option<Vec<Edit>>, ReviewError> {
        match self.files.edits(old, new) {
            Err(ReviewError::NotKept(_)) => Ok(None),
            edits => Ok(edits?.map(|edits| edits.to_vec())),
        }
    }

    /// From a version to the ones before it.
    fn back(&mut self, path: &Path, version: usize, pairs: Pairs) -> Result<(), ReviewError> {
        let Some(history) = self.histories.get(path) else { return Ok(()) };
        let Some(at) = version.checked_sub(1) else {
            let Some(text) = state(history, 0).map(|first| self.text(&first)).transpose()?.flatten() else {
                self.out.is_unread = true;
                return Ok(());
            };
            match self.renamed_by_person(path, &text)? {
                Some((from, earlier)) => self.open(from, earlier, pairs),
                None => {
                    self.out.left.push(Carried { path: path.to_owned(), lines: pairs, of: Whose::Before(text) });
                }
            }
            return Ok(());
        };
        let Some(step) = history.steps.get(at).copied() else { return Ok(()) };
        // What is taken back or done again is whose it was before.
        if (step.decided || !step.is_agents())
            && let Some(earlier) = step.after.oid().and_then(|oid| version_of(history, oid, version))
        {
            self.open(path.to_owned(), earlier, pairs);
            return Ok(());
        }
        if step.before.is_absent()
            && let Some((from, earlier)) = self.renamed_from(path, at, &step)
        {
            self.open(from, earlier, pairs);
            return Ok(());
        }
        let Some(changes) = self.edits(&step.before, &step.after)? else {
            self.out.is_unread = true;
            return Ok(());
        };
        let (mut there, new) = told_apart(&changes, pairs);
        // Where a record is missing, the two are not the same.
        if let Some(earlier) = state(history, at).filter(|earlier| earlier.oid() != step.before.oid()) {
            there = self.edits(&earlier, &step.before)?.map_or_else(Vec::new, |apart| told_apart(&apart, there).0);
        }
        self.open(path.to_owned(), at, there);
        if new.is_empty() {
        } else if step.is_agents() {
            self.found(&step, new);
        } else if step.decided && matches!(step.cause, Cause::Review | Cause::Merge) {
            self.restored(path, at, &step, new)?;
        } else if let (Cause::Merge, Some(merge)) = (step.cause, step.entry) {
            match self.text(&step.after)? {
                Some(text) => {
                    let carried = Carried { path: path.to_owned(), lines: new, of: Whose::Before(text) };
                    self.out.merged.push((merge, carried));
                }
                None => self.out.is_unread = true,
            }
        } else {
            let of = Whose::Change(step.before, step.after);
            self.out.left.push(Carried { path: path.to_owned(), lines: new, of });
        }
        Ok(())
    }

    /// A decision writes nothing of its own: what it brought back was in some version before.
    fn restored(
        &mut self,
        path: &Path,
        below: usize,
        step: &ChangeRecord,
        mut pairs: Pairs,
    ) -> Result<(), ReviewError> {
        let Some(history) = self.histories.get(path) else { return Ok(()) };
        for version in (0..below).rev().take(MAX_RESTORED) {
            if pairs.is_empty() || Instant::now() >= self.until {
                break;
            }
            let Some(earlier) = state(history, version).filter(|earlier| !earlier.is_absent()) else { continue };
            if let Some(apart) = self.edits(&earlier, &step.after)? {
                let (there, rest) = told_apart(&apart, pairs);
                self.open(path.to_owned(), version, there);
                pairs = rest;
            }
        }
        Ok(())
    }

    /// The file that went in the same turn with what this one began with, and its version by then.
    fn renamed_from(&mut self, path: &Path, at: usize, step: &ChangeRecord) -> Option<(PathBuf, usize)> {
        let oid = content(&step.after)?;
        if !self.followed.insert((path.to_owned(), at)) {
            return None;
        }
        let went = |one: &ChangeRecord| {
            one.after.is_absent()
                && one.before.oid() == Some(oid)
                && (one.turn, one.decided) == (step.turn, step.decided)
        };
        let others = self.histories.iter().filter(|(other, _)| other.as_path() != path);
        let mut gone = others.filter_map(|(other, history)| {
            let at = history.steps.iter().rposition(went)?;
            Some((other.clone(), at))
        });
        gone.next()
    }
}

/// Lines of the new text that are in the old one, as lines of that; and those that are not.
fn told_apart(changes: &[Edit], pairs: Pairs) -> (Pairs, Pairs) {
    let (mut there, mut new) = (Vec::new(), Vec::new());
    for (line, asked) in pairs {
        let next = changes.partition_point(|edit| edit.new.end <= line);
        if changes.get(next).is_some_and(|edit| edit.new.contains(&line)) {
            new.push((line, asked));
        } else {
            let above = next.checked_sub(1).and_then(|at| changes.get(at));
            let old = above.map_or(line, |edit| line - edit.new.end + edit.old.end);
            there.push((old, asked));
        }
    }
    (there, new)
}
