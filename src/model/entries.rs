//! The transcript: entries in the order they first appeared.
//!
//! Invariants: ids count up without gaps from the first entry kept, so an id finds its entry by subtraction; the bytes
//! kept stay below a budget, beyond which the oldest bodies give way to a line that says so; the number of entries stays
//! below a bound, beyond which the oldest go and one line says how many.

use super::entry::{Attachment, Body, Entry, FileOutcome, Level, Notice, PlanEntry, PlanStatus};
use super::ids::{EntryId, Now, ToolId, TurnId};
use std::collections::{BTreeSet, VecDeque};

/// Bytes of text that the transcript keeps in memory. What gives way is still in the journal.
pub const TRANSCRIPT_BUDGET: usize = 96 << 20;
/// Entries that are kept, and how many go at once when there are more.
pub const MAX_ENTRIES: usize = 250_000;
const BATCH: usize = MAX_ENTRIES / 16;
/// A smaller body need not give way.
const SMALL: usize = 512;
/// Changes that are remembered one by one.
const RECENT: usize = 1 << 16;

#[derive(Debug, Default, PartialEq)]
pub struct Entries {
    list: VecDeque<Entry>,
    /// The id of the first entry of the list: so many are gone.
    first: u64,
    /// Changes with every change of any entry.
    generation: u64,
    /// The entries of the newest changes, the newest last: one for each step of the generation.
    recent: VecDeque<EntryId>,
    bytes: usize,
    /// Entries before this id have been emptied for the budget, unless they are among `grown`.
    emptied: u64,
    /// Entries that were too small to be emptied and have grown since.
    grown: BTreeSet<u64>,
    /// Entries that were walked over for the bounds, for tests.
    #[cfg(test)]
    pub(super) walked: u64,
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

    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.list.get(self.index_of(id)?)
    }

    pub fn at(&self, index: usize) -> Option<&Entry> {
        self.list.get(index)
    }

    pub fn iter(&self) -> std::collections::vec_deque::Iter<'_, Entry> {
        self.list.iter()
    }

    pub fn last(&self) -> Option<&Entry> {
        self.list.back()
    }

    /// What has changed since the generation was this one.
    pub fn changed_since(&self, generation: u64) -> Changed {
        let news = self.generation.saturating_sub(generation);
        match usize::try_from(news) {
            Ok(news) if news <= self.recent.len() => {
                let mut ids: Vec<EntryId> = self.recent.iter().skip(self.recent.len() - news).copied().collect();
                ids.sort_unstable();
                ids.dedup();
                Changed::Only(ids)
            }
            _ => Changed::Any,
        }
    }

    pub(super) fn push(&mut self, turn: TurnId, at: Now, body: Body) -> EntryId {
        let id = self.next_id();
        self.bytes += size_of_body(&body);
        self.list.push_back(Entry { id, rev: 0, finished: false, turn, at, body });
        self.note(id);
        self.keep_budget();
        id
    }

    /// Changes an entry in place; its revision grows.
    pub(super) fn change<R>(&mut self, id: EntryId, f: impl FnOnce(&mut Entry) -> R) -> Option<R> {
        let index = self.index_of(id)?;
        let entry = self.list.get_mut(index)?;
        let before = size_of_body(&entry.body);
        let r = f(entry);
        entry.rev += 1;
        let after = size_of_body(&entry.body);
        if id.0 < self.emptied && after >= SMALL {
            self.grown.insert(id.0);
        }
        self.bytes = (self.bytes + after).saturating_sub(before);
        self.note(id);
        self.keep_budget();
        Some(r)
    }

    pub(super) fn touch(&mut self, id: EntryId) {
        if let Some(entry) = self.index_of(id).and_then(|i| self.list.get_mut(i)) {
            entry.rev += 1;
            self.note(id);
        }
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

    fn note(&mut self, id: EntryId) {
        self.generation += 1;
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(id);
    }

    fn keep_budget(&mut self) {
        while self.bytes > TRANSCRIPT_BUDGET {
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
            let Some(entry) = self.index_of(id).and_then(|at| self.list.get_mut(at)) else { continue };
            let size = size_of_body(&entry.body);
            if size < SMALL {
                continue;
            }
            entry.rev += 1;
            entry.finished = true;
            entry.body = Body::Notice(Notice {
                level: Level::Info,
                title: "left out here to save memory; the journal has it".into(),
                detail: Vec::new(),
            });
            self.bytes = (self.bytes + size_of_body(&entry.body)).saturating_sub(size);
            self.note(id);
        }
    }

    /// Lets all of them go. Ids go on.
    pub(super) fn clear(&mut self) {
        self.first = self.next_id().0;
        self.emptied = self.first;
        self.generation += 1;
        self.list = VecDeque::new();
        self.recent = VecDeque::new();
        self.grown.clear();
        self.bytes = 0;
    }

    pub(super) fn is_over(&self) -> bool {
        self.list.len() > MAX_ENTRIES
    }

    /// Lets the oldest entries go when there are too many; a line in their place says how many. Gives the tool calls
    /// among them.
    pub(super) fn shed(&mut self) -> Vec<(ToolId, EntryId)> {
        let mut tools = Vec::new();
        if !self.is_over() {
            return tools;
        }
        for entry in self.list.drain(..BATCH) {
            self.bytes = self.bytes.saturating_sub(size_of_body(&entry.body));
            if let Body::Tool(tool) = entry.body {
                tools.push((tool.id, entry.id));
            }
        }
        #[cfg(test)]
        {
            self.walked += BATCH as u64;
        }
        self.first += BATCH as u64;
        self.grown = self.grown.split_off(&self.first);
        let first = EntryId(self.first);
        let gone = self.first + 1;
        if let Some(Entry { body: Body::Tool(tool), .. }) = self.get(first) {
            tools.push((tool.id.clone(), first));
        }
        self.change(first, |entry| {
            entry.finished = true;
            entry.body = Body::Notice(Notice {
                level: Level::Info,
                title: format!("{gone} earlier entries are left out here to save memory; the journal has them"),
                detail: Vec::new(),
            });
        });
        tools
    }
}

impl<'a> IntoIterator for &'a Entries {
    type Item = &'a Entry;
    type IntoIter = std::collections::vec_deque::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

fn size_of_step(step: &PlanEntry) -> usize {
    let word = if let PlanStatus::Other(word) = &step.status { word.len() } else { 0 };
    size_of::<PlanEntry>() + step.content.len() + word
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
