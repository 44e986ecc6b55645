//! Which entries the person has opened or closed, against what they would be by themselves.

use crate::model::ids::EntryId;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fold {
    Open,
    Closed,
    /// Of several calls that share a row: each has its own.
    Apart,
}

#[derive(Clone, Debug, Default)]
pub struct Folds {
    by_hand: BTreeMap<EntryId, Fold>,
}

impl Folds {
    /// What the person chose, if anything.
    pub fn of(&self, entry: EntryId) -> Option<Fold> {
        self.by_hand.get(&entry).copied()
    }

    /// Whether an entry stands for those that share its row, and not for itself alone.
    pub fn is_together(&self, entry: EntryId) -> bool {
        matches!(self.of(entry), None | Some(Fold::Closed))
    }

    pub fn set(&mut self, entry: EntryId, fold: Fold) {
        self.by_hand.insert(entry, fold);
    }

    /// As it was before something was set, where that is what is set still.
    pub fn set_back(&mut self, entry: EntryId, set: Fold, before: Option<Fold>) {
        match before {
            _ if self.of(entry) != Some(set) => {}
            Some(fold) => self.set(entry, fold),
            None => _ = self.by_hand.remove(&entry),
        }
    }
}
