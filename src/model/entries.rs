//! The transcript: entries in the order they first appeared.
//!
//! An entry is in memory, or only where it was written is known; which of them leave is decided elsewhere. Invariants:
//! ids count up without gaps from the first entry kept, so an id finds its entry by subtraction; the bytes in memory stay
//! below a budget, beyond which the oldest bodies give way to a line that says so; the number of entries, and what they take
//! when each is too small to give way, stay below bounds, beyond which the oldest go and one line says how many. A
//! transcript that is written out for people is whole, and has no such bounds.

use super::entry::{Attachment, Body, Entry, FileOutcome, Level, Notice, PlanEntry, PlanStatus, UserState};
use super::history::{Away, Kind, Left, fingerprint_of};
use super::ids::{EntryId, Now, TurnId};
use std::collections::vec_deque::Iter as DequeIter;
use std::collections::{BTreeSet, VecDeque};
use std::iter::FilterMap;
use std::num::NonZeroU64;

/// Bytes that the transcript keeps in memory. What gives way is still in the journal, where one is written.
pub const TRANSCRIPT_BUDGET: usize = 48 << 20;
/// Entries that are kept, and how many go at once when there are more.
pub const MAX_ENTRIES: usize = 250_000;
const BATCH: usize = MAX_ENTRIES / 16;
/// Bytes in memory beyond which the oldest entries go, however few they are.
const MAX_IN_MEMORY: usize = 2 * TRANSCRIPT_BUDGET;
/// A smaller body need not give way.
const SMALL: usize = 512;
/// Changes that are remembered one by one; those of one entry that come in a row count as one.
const RECENT: usize = 4096;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entries {
    list: VecDeque<Slot>,
    /// The id of the first entry of the list: so many are gone.
    first: u64,
    /// Changes with every change of any entry.
    generation: u64,
    /// The entries of the newest changes, the newest last, each with the generation of the last of its changes in a row.
    recent: VecDeque<(u64, EntryId)>,
    /// The generation up to which changes are not remembered any more.
    forgotten: u64,
    bytes: usize,
    /// A journal is written: what gives way here is there.
    pub(super) has_journal: bool,
    /// Nothing gives way, however much there is.
    pub(super) is_whole: bool,
    /// Entries before this id have been emptied for the budget, unless they are among `grown`.
    emptied: u64,
    /// Entries that were too small to be emptied and have grown since.
    grown: BTreeSet<u64>,
    /// Who leaves memory next.
    pub(super) leaving: Leaving,
    /// Entries that were walked over for the bounds, for tests.
    #[cfg(test)]
    pub(super) walked: u64,
}

/// An entry that is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    Here(Box<Entry>),
    Away(Away),
}

impl Slot {
    pub fn here(&self) -> Option<&Entry> {
        match self {
            Self::Here(entry) => Some(entry),
            Self::Away(_) => None,
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Here(entry) => Kind::of(&entry.body),
            Self::Away(away) => away.kind(),
        }
    }

    /// By what it is known again.
    pub(super) fn fingerprint(&self) -> Option<NonZeroU64> {
        match self {
            Self::Here(entry) => fingerprint_of(&entry.body),
            Self::Away(away) => away.fingerprint(),
        }
    }

    fn here_mut(&mut self) -> Option<&mut Entry> {
        match self {
            Self::Here(entry) => Some(entry),
            Self::Away(_) => None,
        }
    }

    fn size(&self) -> usize {
        self.here().map_or(0, |entry| size_of_entry(&entry.body))
    }
}

/// How far the choice of those that leave memory has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Leaving {
    /// There is a place to go.
    pub is_on: bool,
    /// Entries before this id have been looked at.
    pub looked_at: u64,
    /// Those of them that had to stay then, to be looked at again in turn.
    pub stayed: VecDeque<EntryId>,
    /// Bytes in memory below which no entry is looked at again.
    pub not_below: usize,
    /// Bytes of those that have been chosen and are not written yet, step by step.
    pub under_way: VecDeque<usize>,
}

/// Which entries have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// These, in their order.
    Only(Vec<EntryId>),
    /// More than are remembered.
    Any,
}

impl Entries {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// How many of the oldest entries are gone: the id of the first that is kept.
    pub fn gone(&self) -> u64 {
        self.first
    }

    /// The id that the next entry gets.
    pub fn next_id(&self) -> EntryId {
        EntryId(self.first + self.list.len() as u64)
    }

    /// Where an entry stands among those that are kept.
    pub fn index_of(&self, id: EntryId) -> Option<usize> {
        let index = usize::try_from(id.0.checked_sub(self.first)?).ok()?;
        (index < self.list.len()).then_some(index)
    }

    /// An entry that is in memory.
    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.slot(self.index_of(id)?)?.here()
    }

    /// The same, by its place among those that are kept.
    pub fn at(&self, index: usize) -> Option<&Entry> {
        self.slot(index)?.here()
    }

    pub fn slot(&self, index: usize) -> Option<&Slot> {
        self.list.get(index)
    }

    /// The id of the entry that stands there among those that are kept.
    pub fn id_at(&self, index: usize) -> EntryId {
        EntryId(self.first + index as u64)
    }

    /// The entries in memory.
    pub fn iter(&self) -> Iter<'_> {
        self.slots().filter_map(Slot::here as fn(&Slot) -> Option<&Entry>)
    }

    pub fn slots(&self) -> DequeIter<'_, Slot> {
        self.list.iter()
    }

    pub fn last(&self) -> Option<&Entry> {
        self.list.back()?.here()
    }

    /// Bytes in memory, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What has changed since the generation was this one.
    pub fn changed_since(&self, generation: u64) -> Changed {
        if generation < self.forgotten {
            return Changed::Any;
        }
        let news = self.recent.iter().rev().take_while(|(at, _)| *at > generation);
        let mut ids: Vec<EntryId> = news.map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        Changed::Only(ids)
    }

    pub(super) fn push(&mut self, turn: TurnId, at: Now, body: Body) -> EntryId {
        let id = self.next_id();
        self.bytes += size_of_entry(&body);
        self.list.push_back(Slot::Here(Box::new(Entry { id, rev: 0, finished: false, turn, at, body })));
        self.note(id);
        self.keep_budget();
        id
    }

    /// Changes an entry in place; its revision grows. Only one that is in memory can be changed.
    pub(super) fn change<R>(&mut self, id: EntryId, f: impl FnOnce(&mut Entry) -> R) -> Option<R> {
        let index = self.index_of(id)?;
        let entry = self.list.get_mut(index)?.here_mut()?;
        let before = size_of_entry(&entry.body);
        let r = f(entry);
        entry.rev += 1;
        let after = size_of_entry(&entry.body);
        if id.0 < self.emptied && after >= SMALL + ENTRY {
            self.grown.insert(id.0);
        }
        self.bytes = (self.bytes + after).saturating_sub(before);
        self.note(id);
        self.keep_budget();
        Some(r)
    }

    pub(super) fn touch(&mut self, id: EntryId) {
        match self.index_of(id).and_then(|i| self.list.get_mut(i)) {
            Some(Slot::Here(entry)) => entry.rev += 1,
            Some(Slot::Away(away)) => away.touch(),
            None => return,
        }
        self.note(id);
    }

    pub(super) fn finish(&mut self, id: EntryId) {
        if self.get(id).is_some_and(|e| !e.finished) {
            self.change(id, |e| {
                e.finished = true;
                // Grown piece by piece, a text holds up to twice its length.
                match &mut e.body {
                    Body::Agent(message) => message.text.shrink_to_fit(),
                    Body::Thought(thought) => thought.message.text.shrink_to_fit(),
                    _ => {}
                }
            });
        }
    }

    /// Puts where an entry was written in its place, unless it has changed since.
    pub(super) fn leave(&mut self, left: Left) {
        let Some(slot) = self.index_of(left.id).and_then(|i| self.list.get_mut(i)) else { return };
        let entry = slot.here().filter(|entry| entry.rev == left.rev);
        match entry.and_then(|entry| Away::of(entry, left.span)) {
            Some(away) => {
                self.bytes = self.bytes.saturating_sub(slot.size());
                *slot = Slot::Away(away);
            }
            None => self.leaving.stayed.push_back(left.id),
        }
    }

    /// An entry that was read comes back.
    pub(super) fn take_back(&mut self, entry: Box<Entry>) {
        let id = entry.id;
        let Some(slot) = self.index_of(id).and_then(|i| self.list.get_mut(i)) else { return };
        if let Slot::Away(_) = slot {
            let size = size_of_entry(&entry.body);
            *slot = Slot::Here(entry);
            self.bytes += size;
            self.leaving.stayed.push_back(id);
            if id.0 < self.emptied {
                self.grown.insert(id.0);
            }
            self.keep_budget();
        }
    }

    /// The prompts of the newest turn are not part of the conversation any more. The first of them is in memory.
    pub(super) fn drop_prompts(&mut self, turn: TurnId) {
        for index in (0..self.list.len()).rev() {
            let id = self.id_at(index);
            match self.list.get_mut(index) {
                Some(Slot::Away(away)) if away.kind() == Kind::User => {
                    away.drop_prompt();
                    self.note(id);
                }
                Some(Slot::Here(entry)) if entry.turn != turn => return,
                Some(Slot::Here(entry)) if matches!(entry.body, Body::User(_)) => {
                    self.change(id, |entry| {
                        if let Body::User(user) = &mut entry.body {
                            user.state = UserState::Dropped;
                        }
                    });
                }
                _ => {}
            }
        }
    }

    fn note(&mut self, id: EntryId) {
        self.generation += 1;
        match self.recent.back_mut() {
            Some((at, last)) if *last == id => *at = self.generation,
            _ => {
                if self.recent.len() >= RECENT {
                    self.forgotten = self.recent.pop_front().map_or(self.generation, |(at, _)| at);
                }
                self.recent.push_back((self.generation, id));
            }
        }
    }

    fn keep_budget(&mut self) {
        while self.bytes > TRANSCRIPT_BUDGET && !self.is_whole {
            let id = match self.grown.pop_first() {
                Some(id) => EntryId(id),
                None if self.emptied + 1 < self.next_id().0 => {
                    self.emptied = self.emptied.max(self.first);
                    self.emptied += 1;
                    EntryId(self.emptied - 1)
                }
                None => return,
            };
            #[cfg(test)]
            {
                self.walked += 1;
            }
            let slot = self.index_of(id).and_then(|at| self.list.get_mut(at));
            let Some(entry) = slot.and_then(Slot::here_mut) else { continue };
            let size = size_of_entry(&entry.body);
            if size < SMALL + ENTRY {
                continue;
            }
            entry.rev += 1;
            entry.finished = true;
            entry.body = Body::Notice(Notice::new(Level::Info, left_out(self.has_journal), Vec::new()));
            self.bytes = (self.bytes + size_of_entry(&entry.body)).saturating_sub(size);
            self.note(id);
        }
    }

    /// Those in memory.
    pub(super) fn into_memory(self) -> impl Iterator<Item = Entry> {
        self.list.into_iter().filter_map(|slot| if let Slot::Here(entry) = slot { Some(*entry) } else { None })
    }

    /// Lets all of them go. Ids go on.
    pub(super) fn clear(&mut self) {
        self.first = self.next_id().0;
        self.emptied = self.first;
        self.generation += 1;
        self.list = VecDeque::new();
        self.recent = VecDeque::new();
        self.forgotten = self.generation;
        self.grown.clear();
        self.leaving = Leaving { is_on: self.leaving.is_on, looked_at: self.first, ..Leaving::default() };
        self.bytes = 0;
    }

    pub(super) fn is_over(&self) -> bool {
        // One large entry is no reason to let all others go.
        let is_over = self.list.len() > MAX_ENTRIES || self.bytes > MAX_IN_MEMORY && self.list.len() > 2 * BATCH;
        is_over && !self.is_whole
    }

    /// Lets the oldest entries go when there are too many; a line in their place says how many.
    pub(super) fn shed(&mut self) {
        if !self.is_over() {
            return;
        }
        for slot in self.list.drain(..BATCH) {
            self.bytes = self.bytes.saturating_sub(slot.size());
        }
        #[cfg(test)]
        {
            self.walked += BATCH as u64;
        }
        self.first += BATCH as u64;
        self.grown = self.grown.split_off(&self.first);
        let id = EntryId(self.first);
        let gone = self.first + 1;
        let there = if self.has_journal { "; the journal has them" } else { "" };
        let title = format!("{gone} earlier entries are left out here to save memory{there}");
        let body = Body::Notice(Notice::new(Level::Info, title, Vec::new()));
        if let Some(first @ Slot::Away(_)) = self.list.front_mut() {
            let (turn, at) = (TurnId::default(), Now::ZERO);
            self.bytes += size_of_entry(&body);
            *first = Slot::Here(Box::new(Entry { id, rev: 0, finished: true, turn, at, body }));
            self.note(id);
        } else {
            self.change(id, |entry| {
                entry.finished = true;
                entry.body = body;
            });
        }
    }
}

/// The entries in memory, in their order.
pub type Iter<'a> = FilterMap<DequeIter<'a, Slot>, fn(&'a Slot) -> Option<&'a Entry>>;

impl<'a> IntoIterator for &'a Entries {
    type Item = &'a Entry;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

fn left_out(has_journal: bool) -> String {
    let there = if has_journal { "; the journal has it" } else { "" };
    format!("left out here to save memory{there}")
}

fn size_of_step(step: &PlanEntry) -> usize {
    let word = if let PlanStatus::Other(word) = &step.status { word.len() } else { 0 };
    size_of::<PlanEntry>() + step.content.len() + word
}

/// An entry without what its body keeps alive.
const ENTRY: usize = size_of::<Entry>();

/// About how many bytes an entry takes.
pub fn size_of_entry(body: &Body) -> usize {
    ENTRY + size_of_body(body)
}

/// About how many bytes a body keeps alive, beside its own.
fn size_of_body(body: &Body) -> usize {
    match body {
        Body::User(m) => m.text.len() + m.links.iter().map(String::len).sum::<usize>(),
        Body::Agent(m) => m.text.len(),
        Body::Thought(t) => t.message.text.len(),
        Body::Attachment(Attachment { block, .. }) => block.size(),
        Body::Tool(tool) => tool.size(),
        Body::Plan(entries) => entries.iter().map(size_of_step).sum(),
        Body::Terminal(_) | Body::Changes(_) => 0,
        Body::File(op) => {
            op.path.len()
                + match &op.outcome {
                    FileOutcome::Written { old, new, .. } => old.as_ref().map_or(0, |o| o.len()) + new.len(),
                    FileOutcome::Refused(why) => why.len(),
                    FileOutcome::Pending | FileOutcome::Altered => 0,
                }
        }
        Body::Notice(n) => n.title.len() + n.detail.iter().map(|line| size_of::<String>() + line.len()).sum::<usize>(),
    }
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
