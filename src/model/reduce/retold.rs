//! A history that an agent tells again although it is shown here: after a new start of the agent, or behind what our own
//! journal has of the session.
//!
//! It is collected beside the transcript. What the transcript has already is left out, by ids of calls, else by content;
//! what it has not goes to its end. Knows nothing of the wire. Invariants: nothing that was shown goes; nothing is shown
//! twice, although agents tell a history in other pieces than it was said in.

use super::{Cx, update};
use crate::model::entries::Entries;
use crate::model::entry::{Body, ChunkKind, Entry, Message};
use crate::model::event::Update;
use crate::model::history::{Kind, fingerprint_of};
use crate::model::ids::{EntryId, TermId, ToolId, TurnId};
use crate::model::session::{Session, Terminal};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::swap;
use std::num::NonZeroU64;
use std::sync::Arc;

/// What of a session is beside the transcript for as long as the history is told.
#[derive(Debug, Default, PartialEq)]
pub struct Retold {
    entries: Entries,
    newest_tool: HashMap<ToolId, EntryId>,
    messages: HashMap<(ChunkKind, Arc<str>), EntryId>,
    plans: HashMap<Option<Arc<str>>, EntryId>,
    terminals: BTreeMap<TermId, Terminal>,
    fed: usize,
    turn: TurnId,
}

impl Retold {
    pub fn entries(&self) -> &Entries {
        &self.entries
    }
}

/// One update of it. Turns are counted anew there: they become turns only if they are kept.
pub fn hear(session: &mut Session, what: Update, cx: &mut Cx) {
    let Some(mut told) = session.retold.take() else { return };
    exchange(session, &mut told);
    let last_turn = std::mem::replace(&mut cx.last_turn, session.last_turn);
    update::apply(session, what, cx);
    if session.entries.is_over() {
        session.entries.shed();
    }
    cx.last_turn = last_turn;
    exchange(session, &mut told);
    session.retold = Some(told);
}

fn exchange(session: &mut Session, told: &mut Retold) {
    swap(&mut session.entries, &mut told.entries);
    swap(&mut session.newest_tool, &mut told.newest_tool);
    swap(&mut session.messages, &mut told.messages);
    swap(&mut session.plans, &mut told.plans);
    swap(&mut session.terminals, &mut told.terminals);
    swap(&mut session.fed, &mut told.fed);
    swap(&mut session.last_turn, &mut told.turn);
}

/// What the transcript has.
struct Shown {
    /// By what its entries are known again.
    said: HashSet<NonZeroU64>,
    /// Its prompts in their order.
    prompts: Vec<(EntryId, NonZeroU64)>,
}

impl Shown {
    fn of(session: &Session) -> Self {
        let mut shown = Self { said: HashSet::new(), prompts: Vec::new() };
        for (index, slot) in session.entries.slots().enumerate() {
            let Some(print) = slot.fingerprint() else { continue };
            shown.said.insert(print);
            if slot.kind() == Kind::User {
                shown.prompts.push((session.entries.id_at(index), print));
            }
        }
        shown
    }

    fn has(&self, body: &Body) -> bool {
        fingerprint_of(body).is_some_and(|print| self.said.contains(&print))
    }
}

/// The history is told, or no more of it will be: what is new of it goes into the transcript.
pub fn merge(session: &mut Session, cx: &mut Cx) {
    let Some(told) = session.retold.take() else { return };
    let shown = Shown::of(session);
    let mut turns: Vec<Vec<&Entry>> = vec![Vec::new()];
    for entry in &told.entries {
        if matches!(entry.body, Body::User(_)) {
            turns.push(Vec::new());
        }
        if let Some(turn) = turns.last_mut() {
            turn.push(entry);
        }
    }
    let (mut next, mut about) = (0, String::new());
    let mut fresh: Vec<Body> = Vec::new();
    for turn in turns {
        let prompt = turn.first().filter(|first| matches!(first.body, Body::User(_)));
        let print = prompt.and_then(|prompt| fingerprint_of(&prompt.body));
        let is_it = |(_, shown): &(EntryId, NonZeroU64)| Some(*shown) == print;
        let found = shown.prompts.iter().skip(next).position(is_it).map(|at| at + next);
        if let Some(at) = found {
            next = at + 1;
            about = shown.prompts.get(at).map(|(prompt, _)| text_of_turn(session, *prompt)).unwrap_or_default();
            // The rest of an earlier turn is the agent's other telling of it.
            if next < shown.prompts.len() {
                continue;
            }
        }
        let is_new = |entry: &&&Entry| match &entry.body {
            Body::Agent(message) => {
                let bare = bare(&message.text);
                !bare.is_empty() && !shown.has(&entry.body) && !about.contains(&bare)
            }
            Body::Tool(_) => !shown.has(&entry.body),
            _ => false,
        };
        let new: Vec<&Entry> = turn.iter().filter(is_new).copied().collect();
        if found.is_some() {
            for entry in new {
                if !complete(session, &entry.body) {
                    fresh.push(entry.body.clone());
                }
            }
        } else if !new.is_empty() || shown.prompts.is_empty() && shown.said.is_empty() {
            let is_kept = |entry: &&&Entry| match &entry.body {
                Body::Agent(_) | Body::Tool(_) => new.iter().any(|kept| kept.id == entry.id),
                Body::Notice(_) => false,
                _ => true,
            };
            fresh.extend(turn.iter().filter(is_kept).map(|entry| entry.body.clone()));
        }
    }
    for (id, terminal) in told.terminals {
        session.terminals.entry(id).or_insert(Terminal { entry: None, embedded: Vec::new(), ..terminal });
    }
    append(session, fresh, cx);
}

/// Without white space.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// All that the agent has said in the turn of this prompt.
fn text_of_turn(session: &Session, prompt: EntryId) -> String {
    let from = session.entries.index_of(prompt).unwrap_or_default();
    let bodies = session.entries.slots().skip(from + 1).filter_map(|slot| slot.here()).map(|entry| &entry.body);
    let turn = bodies.take_while(|body| !matches!(body, Body::User(_)));
    turn.filter_map(|body| if let Body::Agent(message) = body { Some(bare(&message.text)) } else { None }).collect()
}

/// Gives the last message, which was cut off by the end of the agent, its rest. False: this is another one.
fn complete(session: &mut Session, told: &Body) -> bool {
    let Body::Agent(Message { text, .. }) = told else { return false };
    let last = session.entries.iter().rev().find_map(|entry| match &entry.body {
        Body::Agent(message) => Some((entry.id, bare(&message.text))),
        _ => None,
    });
    let is_beginning = |said: &str| !said.is_empty() && bare(text).starts_with(said);
    let Some((id, _)) = last.filter(|(_, said)| is_beginning(said)) else { return false };
    session.entries.change(id, |entry| {
        if let Body::Agent(message) = &mut entry.body {
            message.text.clone_from(text);
        }
    });
    true
}

/// Adds what was said elsewhere to the end of the transcript. Prompts begin turns, as they did there.
pub fn append(session: &mut Session, bodies: Vec<Body>, cx: &mut Cx) {
    for body in bodies {
        if matches!(body, Body::User(_)) {
            let turn = cx.next_turn();
            (cx.last_turn, session.last_turn) = (turn, turn);
        }
        let tool = if let Body::Tool(tool) = &body { Some(tool.id.clone()) } else { None };
        let id = session.entries.push(session.last_turn, cx.now, body);
        session.entries.finish(id);
        if let Some(tool) = tool {
            session.newest_tool.insert(tool, id);
        }
    }
}
