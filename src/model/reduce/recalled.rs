//! What earlier journals have of a session: into the session before its agent is asked for it, and out of one that was
//! replayed from such a journal.
//!
//! Reads nothing itself. Invariants: nothing of it is asked, runs or waits any more; its turns come before all that
//! begin here.

use super::{Cx, child, notice, opening, retold};
use crate::model::entry::{Body, Entry, Level, UserState};
use crate::model::ids::{EntryId, Now, TermId, ToolId, TurnId};
use crate::model::past::{Count, Past, Recalled, shift, terminals};
use crate::model::retold::Retold;
use crate::model::session::{Policy, Session, StoredHistory};
use crate::model::terminal::Terminal;
use crate::model::tool::Mark;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, RangeBounds};

/// Entries among which the call is looked for that another one is below.
const MAX_ABOVE: usize = 1000;

/// A part of it has been read.
pub fn take_in(session: &mut Session, part: Recalled, cx: &mut Cx) {
    let base = match session.stored_history {
        StoredHistory::Coming { after } => after,
        StoredHistory::Awaited => {
            let after = cx.last_turn;
            session.recalled = session.entries.next_id()..session.entries.next_id();
            // What the agent says next is said in a turn of its own.
            cx.last_turn = TurnId(after.0.saturating_add(part.turns).saturating_add(1));
            session.last_turn = cx.last_turn;
            after
        }
        StoredHistory::Nothing | StoredHistory::Here | StoredHistory::Joined => return,
    };
    let mut past = part.past;
    past.age();
    past.entries.extend(part.copied);
    for (id, terminal) in past.terminals {
        session.fed += terminal.fed();
        session.terminals.insert(id, terminal.over());
    }
    for mut entry in past.entries {
        shift(&mut entry, base.0);
        let shown: Vec<_> = terminals(&entry.body).cloned().collect();
        let is_own = matches!(entry.body, Body::Terminal(_));
        if let Body::Tool(tool) = &entry.body
            && let Some(parent) = &tool.parent
        {
            know(session, parent);
        }
        // Copied, as the thread that has read it has thrown away much that lies between: that memory can go as a whole.
        let id = session.entries.push(entry.turn, entry.at, entry.body.clone());
        session.entries.finish(id);
        child::recall(session, id);
        for term in shown {
            if let Some(terminal) = session.terminals.get_mut(&term) {
                if is_own {
                    terminal.entry = Some(id);
                } else {
                    terminal.embedded.push(id);
                }
            }
        }
    }
    session.recalled.end = session.entries.next_id();
    // It may be read once more: to be shown, and to be gone on with.
    let is_it = |entry: &Entry| matches!(&entry.body, Body::Notice(said) if Some(&said.title) == part.trouble.as_ref());
    let is_said = session.entries.iter().any(is_it);
    // Without a person nothing of it is shown.
    if let Some(trouble) = part.trouble.filter(|_| !is_said && session.policy == Policy::Ask) {
        notice(session, Level::Warn, trouble, Vec::new(), cx.now);
    }
    session.known_title = part.title.or(session.known_title.take());
    session.age = part.age.map(|age| (cx.now, age)).or(session.age);
    session.stored_history = if part.is_last { StoredHistory::Here } else { StoredHistory::Coming { after: base } };
}

/// Names the call that another one is below, so that it is shown there.
fn know(session: &mut Session, parent: &ToolId) {
    if session.newest_tool.contains_key(parent) {
        return;
    }
    let mut above = session.entries.iter().rev().take(MAX_ABOVE);
    let is_it = |entry: &&Entry| matches!(&entry.body, Body::Tool(tool) if tool.id == *parent);
    if let Some(id) = above.find(is_it).map(|entry| entry.id) {
        session.newest_tool.insert(parent.clone(), id);
    }
}

/// A conversation that was in a journal.
#[derive(Debug)]
pub struct Found {
    pub past: Past,
    /// What earlier journals have of it was put in before.
    pub is_whole: bool,
    /// As far as it was replayed.
    at: Now,
}

impl Found {
    /// What was said in a session that was replayed up to this moment. What runs or waits by then may still do so
    /// elsewhere: how it ends is not known.
    pub fn of(session: Session, now: Now) -> Self {
        let is_whole = session.is_recalled();
        Self::within(session, EntryId(0).., is_whole, now)
    }

    /// The same of these entries of it: the others are of another conversation, which was had under the same key.
    pub fn within(mut session: Session, which: impl RangeBounds<EntryId>, is_whole: bool, now: Now) -> Self {
        opening::end_everything(&mut session, Mark::NoFinalStatus, &mut Cx::new(now));
        let (mut past, mut count) = (Past::default(), Count::default());
        let is_earlier = |entry: &Entry| matches!(which.start_bound(), Bound::Included(first) if entry.id < *first);
        let (mut before, mut is_all) = (TurnId::default(), true);
        for mut entry in session.entries.into_memory() {
            if which.contains(&entry.id) {
                // What is ahead of its first prompt is of no turn of its own.
                entry.turn = if entry.turn <= before { TurnId::default() } else { entry.turn };
                count.renumber(&mut entry);
                past.entries.push(entry);
            } else {
                before = if is_earlier(&entry) { before.max(entry.turn) } else { before };
                is_all = false;
            }
        }
        let shown: BTreeSet<&TermId> = past.entries.iter().flat_map(|entry| terminals(&entry.body)).collect();
        past.terminals = session.terminals.into_iter().filter(|(id, _)| is_all || shown.contains(id)).collect();
        Self { past, is_whole, at: now }
    }

    /// It behind what earlier journals have of the session. As that was not put in before, what the agent told again is
    /// told to it here: only what is new of it comes, at the place where it was said.
    #[must_use]
    pub fn behind(self, mut before: Past) -> Past {
        let is_ours = |body: &Body| matches!(body, Body::User(user) if user.state != UserState::FromElsewhere);
        let mut told = self.past.entries;
        let first = told.iter().position(|entry| is_ours(&entry.body)).unwrap_or(told.len());
        let (mut entries, mut count) = (told.split_off(first), Count::default());
        for entry in &mut entries {
            count.renumber(entry);
        }
        let mut terminals = self.past.terminals;
        if !told.is_empty() {
            before = tell(before, told, &mut terminals, self.at);
        }
        before.append(Past { entries, terminals });
        before
    }
}

/// What is known of a session, with what is new of this history of it. The terminals of that are taken along.
fn tell(before: Past, history: Vec<Entry>, all: &mut BTreeMap<TermId, Terminal>, now: Now) -> Past {
    let (mut session, mut cx) = (Session::default(), Cx::new(now));
    session.entries.has_journal = true;
    // Who has read it has decided how much is held.
    session.entries.is_whole = true;
    session.stored_history = StoredHistory::Awaited;
    let turns = before.turns();
    take_in(&mut session, Recalled { turns, is_last: true, past: before, ..Recalled::default() }, &mut cx);
    let mut told = Box::<Retold>::default();
    told.entries.is_whole = true;
    for entry in history {
        told.terminals.extend(terminals(&entry.body).filter_map(|id| all.remove_entry(id)));
        told.entries.push(entry.turn, entry.at, entry.body);
    }
    session.retold = Some(told);
    retold::merge(&mut session, &mut cx);
    Found::of(session, now).past
}
