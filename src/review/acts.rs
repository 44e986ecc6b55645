//! What the person has decided, in order: to be undone and done again.
//!
//! Plain bookkeeping over records; touches no file. Invariant: only what was carried out can be undone.

use super::ledger::{Act, ActFile, Record};

#[derive(Debug)]
struct Entry {
    act: Act,
    /// Numbers of the files for which it was carried out; nothing when that is not known.
    done: Option<Vec<usize>>,
    undone: bool,
}

#[derive(Debug, Default)]
pub struct Acts {
    all: Vec<Entry>,
    /// Numbers of those undone, in the order in which they were.
    redo: Vec<u64>,
}

impl Acts {
    pub fn next_id(&self) -> u64 {
        self.all.last().map_or(1, |e| e.act.id + 1)
    }

    /// Takes a record of the ledger, or one that was just written.
    pub fn take(&mut self, record: &Record) {
        match record {
            Record::Act(act) => {
                match act.flips {
                    None => self.redo.clear(),
                    Some(id) => {
                        if let Some(entry) = self.all.iter_mut().find(|e| e.act.id == id) {
                            entry.undone = !entry.undone;
                            if entry.undone {
                                self.redo.push(id);
                            } else {
                                self.redo.retain(|r| *r != id);
                            }
                        }
                    }
                }
                self.all.push(Entry { act: act.clone(), done: None, undone: false });
            }
            Record::Done { act, files } => {
                if let Some(entry) = self.all.iter_mut().find(|e| e.act.id == *act) {
                    entry.done = Some(files.clone());
                }
            }
            Record::Turn { .. } | Record::Step { .. } => {}
        }
    }

    /// An act of which nobody knows how far it came, after a crash.
    pub fn unfinished(&self) -> Option<&Act> {
        self.all.last().filter(|e| e.done.is_none()).map(|e| &e.act)
    }

    pub fn undoable(&self) -> Option<&Act> {
        let is_open = |e: &&Entry| !e.undone && e.act.flips.is_none() && e.done.as_ref().is_some_and(|d| !d.is_empty());
        self.all.iter().rev().find(is_open).map(|e| &e.act)
    }

    pub fn redoable(&self) -> Option<&Act> {
        let id = self.redo.last()?;
        self.all.iter().find(|e| e.act.id == *id).map(|e| &e.act)
    }

    /// The files of an act that were carried out.
    pub fn files(&self, id: u64) -> Vec<ActFile> {
        let Some(entry) = self.all.iter().find(|e| e.act.id == id) else { return Vec::new() };
        let done = entry.done.as_deref().unwrap_or_default();
        done.iter().filter_map(|at| entry.act.files.get(*at).cloned()).collect()
    }
}
