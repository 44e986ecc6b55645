//! What earlier journals have of a session, on its way from the model that was replayed from them into another one.
//!
//! Data only. Invariants: turns count from 1 in the order of the entries, and 0 is before the first; a terminal is known
//! by a name that none of the session's later ones has.

use super::entries::size_of_entry;
use super::entry::{Block, Body, Entry};
use super::ids::{TermId, TurnId};
use super::terminal::Terminal;
use super::tool::ToolContent;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Bytes of one part, about: what goes into the model in one step.
const PART: usize = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    pub entries: Vec<Entry>,
    pub terminals: BTreeMap<TermId, Terminal>,
}

/// A part of it. A journal says only that it came, as the entries are in the earlier ones; but that of a copy has what was
/// said in the session that it was made of, which may go on or go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// Turns of all parts together.
    pub turns: u64,
    pub is_last: bool,
    /// Why it is not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// How long ago its agent has opened it, where that is known; with the last part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<Duration>,
    /// What it is called; with the last part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What its agent has called itself; with the last part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The names of the journals among the earlier ones that were imported; with the last part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<Entry>,
    #[serde(skip)]
    pub past: Past,
}

impl Past {
    pub fn turns(&self) -> u64 {
        self.entries.iter().map(|entry| entry.turn.0).max().unwrap_or_default()
    }

    /// Puts what came later behind it.
    pub fn append(&mut self, mut later: Self) {
        self.age();
        let before = self.turns();
        later.entries.iter_mut().for_each(|entry| shift(entry, before));
        self.entries.append(&mut later.entries);
        self.terminals.append(&mut later.terminals);
    }

    /// Gives the terminals names that those of a later journal do not have.
    pub fn age(&mut self) {
        let older = |id: &TermId| TermId::of(id.owner(), format!("~{id}"));
        self.terminals = std::mem::take(&mut self.terminals)
            .into_values()
            .map(|terminal| {
                let id = older(&terminal.id);
                (id.clone(), Terminal { id, ..terminal })
            })
            .collect();
        for entry in &mut self.entries {
            match &mut entry.body {
                Body::Terminal(id) => *id = older(id),
                Body::Tool(tool) => tool.content.iter_mut().for_each(|content| {
                    if let ToolContent::Terminal(id) = content {
                        *id = older(id);
                    }
                }),
                _ => {}
            }
        }
    }

    /// The same for a copy of the session: what was said and done, with what commands have printed in place of their
    /// terminals.
    pub fn copied(self, trouble: Option<String>) -> Vec<Recalled> {
        let Self { mut entries, terminals } = self;
        entries.retain(|entry| is_said(&entry.body));
        for entry in &mut entries {
            let Body::Tool(tool) = &mut entry.body else { continue };
            for content in &mut tool.content {
                if let ToolContent::Terminal(id) = content {
                    let printed = terminals.get(id).map(|terminal| terminal.text.text()).unwrap_or_default();
                    *content = ToolContent::Block(Block::Text(printed));
                }
            }
        }
        let mut parts = Self { entries, terminals: BTreeMap::new() }.parts(trouble);
        for part in &mut parts {
            part.copied = std::mem::take(&mut part.past.entries);
        }
        parts
    }

    /// In parts that are small enough to be taken in one after the other; at least one, also of nothing.
    pub fn parts(mut self, trouble: Option<String>) -> Vec<Recalled> {
        let turns = self.turns();
        let (mut parts, mut part, mut size) = (Vec::new(), Self::default(), 0);
        for entry in self.entries {
            size += size_of_entry(&entry.body);
            for id in terminals(&entry.body) {
                if let Some((id, terminal)) = self.terminals.remove_entry(id) {
                    size += terminal.text.len();
                    part.terminals.insert(id, terminal);
                }
            }
            part.entries.push(entry);
            if size >= PART {
                parts.push(Recalled { turns, past: std::mem::take(&mut part), ..Recalled::default() });
                size = 0;
            }
        }
        parts.push(Recalled { turns, is_last: true, trouble, past: part, ..Recalled::default() });
        parts
    }
}

/// What a copy is called that has no name of its own.
pub fn copy_title(of: &str) -> String {
    format!("copy of {of}")
}

/// Whether it was said or done in the session, and is not about it.
pub fn is_said(body: &Body) -> bool {
    !matches!(body, Body::Terminal(_) | Body::Changes(_) | Body::Notice(_))
}

/// Moves an entry to so many turns later; what is before the first turn goes along with the one before.
pub fn shift(entry: &mut Entry, by: u64) {
    entry.turn.0 += by;
    if let Body::Changes(changes) = &mut entry.body {
        changes.turn.0 += by;
    }
}

/// The terminals that an entry shows.
pub fn terminals(body: &Body) -> impl Iterator<Item = &TermId> {
    let (own, tool) = match body {
        Body::Terminal(id) => (Some(id), None),
        Body::Tool(tool) => (None, Some(tool)),
        _ => (None, None),
    };
    own.into_iter().chain(tool.into_iter().flat_map(|tool| tool.terminals()))
}

/// Counts turns from 1.
#[derive(Debug, Default)]
pub struct Count(BTreeMap<TurnId, u64>);

impl Count {
    pub fn renumber(&mut self, entry: &mut Entry) {
        entry.turn = self.of(entry.turn);
        if let Body::Changes(changes) = &mut entry.body {
            changes.turn = self.of(changes.turn);
        }
    }

    fn of(&mut self, turn: TurnId) -> TurnId {
        let next = self.0.len() as u64 + 1;
        if turn == TurnId::default() { turn } else { TurnId(*self.0.entry(turn).or_insert(next)) }
    }
}
