//! What the person has decided, in order: to be undone and done again.
//!
//! Plain bookkeeping over records; touches no file. Invariant: only what was carried out can be undone.

use super::ledger::{Decision, DecisionKey, FileDecision, MergedFrom, Record};
use crate::review::state::State;
use std::collections::HashMap;
use std::path::Path;

#[derive(Debug)]
struct Entry {
    act: Decision,
    /// Numbers of the files for which it was carried out; nothing when that is not known.
    done: Option<Vec<usize>>,
    undone: bool,
    /// A crash came before all of it was done.
    cut: bool,
    /// A turn has begun since.
    over: bool,
    /// A later decision went on with it after a crash, and stands for both.
    joined: bool,
}

#[derive(Debug, Default)]
pub struct UndoLog {
    all: Vec<Entry>,
    /// Numbers of those undone, in the order in which they were.
    redo: Vec<u64>,
}

impl UndoLog {
    pub fn next_id(&self) -> u64 {
        self.all.last().map_or(1, |e| e.act.id + 1)
    }

    /// Takes a record of the ledger, or one that was just written.
    pub fn take(&mut self, record: Record) {
        match record {
            Record::Act(act) => {
                if act.toggles.is_none() {
                    self.redo.clear();
                }
                if let Some(earlier) = act.continues.and_then(|id| self.entry(id)) {
                    earlier.joined = true;
                }
                self.all.push(Entry { act, done: None, undone: false, cut: false, over: false, joined: false });
            }
            Record::Done { act, files, cut } => {
                let Some(entry) = self.entry(act) else { return };
                // What was not done, or only in part when a crash came, is still to be done.
                let toggles = entry.act.toggles.filter(|_| !cut && !files.is_empty());
                entry.done = Some(files);
                entry.cut = cut;
                if let Some(id) = toggles {
                    self.flip(id);
                }
            }
            Record::Turn { .. }
            | Record::Told { .. }
            | Record::Closed { .. }
            | Record::Opened { .. }
            | Record::CommandEarly { .. }
            | Record::Ran(_)
            | Record::Ending { .. }
            | Record::Left { .. }
            | Record::Step { .. }
            | Record::Untaken { .. }
            | Record::Accounted { .. }
            | Record::Writes { .. }
            | Record::WritesEnd { .. } => {}
        }
    }

    fn entry(&mut self, id: u64) -> Option<&mut Entry> {
        self.all.iter_mut().find(|e| e.act.id == id)
    }

    fn flip(&mut self, id: u64) {
        let Some(entry) = self.entry(id) else { return };
        entry.undone = !entry.undone;
        if entry.undone {
            self.redo.push(id);
        } else {
            self.redo.retain(|r| *r != id);
        }
    }

    /// A turn has begun: nothing goes on with what was done before it, unless that was cut short.
    pub fn turn_began(&mut self) {
        if let Some(last) = self.all.last_mut() {
            last.over = true;
        }
    }

    /// Of the newest decision, when another with this key goes on with it: its number. It was cut short, or it is a
    /// rewind, which leaves some files alone that can be tried once more.
    pub fn goes_on_with(&self, key: &DecisionKey) -> Option<u64> {
        let leaves = matches!(key, DecisionKey::Rewind { .. });
        let is_open = |e: &&Entry| e.cut || (leaves && !e.over && !e.undone);
        let is_same = |e: &&Entry| e.act.toggles.is_none() && e.act.key.as_ref() == Some(key);
        self.all.last().filter(is_same).filter(is_open).map(|e| e.act.id)
    }

    /// The first turn that was taken back with all later ones, where no turn has begun since.
    pub fn rewound_to(&self) -> Option<u64> {
        let since = self.all.iter().rev().take_while(|e| !e.over);
        let rewinds = since.filter(|e| !e.undone && e.done.is_some() && e.act.toggles.is_none());
        let turn = |key: &DecisionKey| if let DecisionKey::Rewind { turn } = key { Some(*turn) } else { None };
        rewinds.filter_map(|e| turn(e.act.key.as_ref()?)).min()
    }

    pub fn each_state(&mut self, mut change: impl FnMut(&mut State)) {
        for file in self.all.iter_mut().flat_map(|e| &mut e.act.files) {
            for pair in [&mut file.disk, &mut file.accepted] {
                change(&mut pair.0);
                change(&mut pair.1);
            }
        }
    }

    /// A decision that a crash has stopped at an unknown point.
    pub fn unfinished(&self) -> Option<&Decision> {
        self.all.last().filter(|e| e.done.is_none()).map(|e| &e.act)
    }

    pub fn undoable(&self) -> Option<&Decision> {
        let did = |e: &Entry| {
            let mut parts = std::iter::successors(Some(e.act.id), |id| self.continues(*id));
            e.done.is_some() && parts.any(|id| self.files(id).next().is_some())
        };
        let is_open = |e: &&Entry| !e.undone && !e.joined && e.act.toggles.is_none() && did(e);
        self.all.iter().rev().find(is_open).map(|e| &e.act)
    }

    pub fn redoable(&self) -> Option<&Decision> {
        let id = self.redo.last()?;
        self.all.iter().find(|e| e.act.id == *id).map(|e| &e.act)
    }

    /// What is said of a decision; of a merge that was cut short, too, how far it came.
    pub fn words(&self, act: &Decision) -> String {
        let (done, of) = (self.files(act.id).count(), act.files.len());
        match &act.merged {
            Some(_) if done < of => format!("{} ({done} of {of} were written)", act.words),
            _ => act.words.clone(),
        }
    }

    /// The files of a decision that were carried out.
    pub fn files(&self, id: u64) -> impl Iterator<Item = &FileDecision> {
        let entry = self.all.iter().find(|e| e.act.id == id);
        let done = entry.and_then(|e| e.done.as_deref()).unwrap_or_default();
        done.iter().filter_map(move |at| entry?.act.files.get(*at))
    }

    /// The same, with those of the decisions that it went on with.
    pub fn all_files(&self, id: u64) -> Vec<FileDecision> {
        let mut files: Vec<FileDecision> = self.files(id).cloned().collect();
        let mut earlier = self.continues(id);
        let mut places: HashMap<&Path, usize> = HashMap::new();
        if earlier.is_some() {
            places.extend(self.files(id).enumerate().map(|(at, file)| (&*file.path, at)));
        }
        while let Some(id) = earlier {
            for file in self.files(id) {
                match places.get(&*file.path).and_then(|at| files.get_mut(*at)) {
                    None => {
                        places.insert(&file.path, files.len());
                        files.push(file.clone());
                    }
                    Some(later) if later.disk.0 == file.disk.1 && later.accepted.0 == file.accepted.1 => {
                        (later.disk.0, later.accepted.0) = (file.disk.0, file.accepted.0);
                    }
                    // It was changed in between: that stays.
                    Some(_) => {}
                }
            }
            earlier = self.continues(id);
        }
        files
    }

    /// The merge that a decision is, takes back or does again: its number, and where the contents came from.
    pub fn merge_of(&self, id: u64) -> Option<(u64, &MergedFrom)> {
        let entry = |id: u64| self.all.iter().find(|e| e.act.id == id);
        let act = &entry(id)?.act;
        let merge = act.toggles.map_or(Some(act), |id| entry(id).map(|e| &e.act))?;
        Some((merge.id, merge.merged.as_ref()?))
    }

    /// The first of the decisions that a decision goes on with, or itself.
    pub fn first_part(&self, id: u64) -> u64 {
        std::iter::successors(Some(id), |id| self.continues(*id)).last().unwrap_or(id)
    }

    /// The number is always that of an earlier one, also after a damaged ledger.
    fn continues(&self, id: u64) -> Option<u64> {
        let entry = self.all.iter().find(|e| e.act.id == id)?;
        entry.act.continues.filter(|earlier| *earlier < id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::changes::{HunkId, ReviewAction, Scope, Target, Verdict};

    fn key(hunk: u64) -> Option<DecisionKey> {
        let target = Target::Hunk("a.rs".into(), HunkId(hunk));
        DecisionKey::of(&ReviewAction::Decide { scope: Scope::Pending, target, verdict: Verdict::Reject })
    }

    #[test]
    fn a_decision_of_the_same_words_on_another_hunk_does_not_go_on_with_one_that_was_cut_short() {
        let words = "rejected 1 hunk in a.rs".to_owned();
        let decision = Decision {
            id: 1,
            at: None,
            words,
            key: key(1),
            toggles: None,
            continues: None,
            merged: None,
            files: Vec::new(),
        };
        let mut log = UndoLog::default();
        log.take(Record::Act(decision));
        log.take(Record::Done { act: 1, files: Vec::new(), cut: true });
        assert_eq!(log.goes_on_with(&key(1).unwrap()), Some(1));
        assert_eq!(log.goes_on_with(&key(2).unwrap()), None);
    }

    impl UndoLog {
        pub fn verify_invariants(&self, has_history: impl Fn(&Path) -> bool) {
            assert!(self.all.windows(2).all(|pair| pair[0].act.id < pair[1].act.id), "numbers in disorder");
            let find = |id: u64| self.all.iter().find(|entry| entry.act.id == id);
            for (at, Entry { act, done, joined, .. }) in self.all.iter().enumerate() {
                assert!(done.is_some(), "decision {} was never finished", act.id);
                for named in [act.toggles, act.continues].into_iter().flatten() {
                    assert!(named < act.id && find(named).is_some(), "decision {} is about {named}", act.id);
                }
                let done = done.as_deref().unwrap_or_default();
                let files: Vec<_> = done.iter().map(|at| act.files.get(*at)).collect();
                assert!(files.iter().all(|file| file.is_some_and(|file| has_history(&file.path))), "{act:?}: {done:?}");
                let continued = self.all[at + 1..].iter().any(|later| later.act.continues == Some(act.id));
                assert_eq!(*joined, continued, "decision {} and what goes on with it", act.id);
            }
            for (at, id) in self.redo.iter().enumerate() {
                assert!(find(*id).is_some_and(|entry| entry.undone), "{id} is to be done again, and was not undone");
                assert!(!self.redo[at + 1..].contains(id), "{id} is to be done again twice");
            }
            // What can be undone was done, and what can be done again was undone.
            for act in [self.undoable(), self.redoable()].into_iter().flatten() {
                assert!(!self.all_files(act.id).is_empty(), "decision {} did nothing", act.id);
            }
        }
    }
}
