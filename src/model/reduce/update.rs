//! `session/update`: text, plans, commands, titles, usage and notices. Valid in every phase, also after the answer
//! to the prompt.

use super::super::account;
use super::super::entries::Slot;
use super::super::entry::{
    Attachment, Block, Body, ChunkKind, DetailFold, Entry, Level, Message, PlanEntry, Thought, UserMessage, UserState,
};
use super::super::event::{Odd, Update};
use super::super::ids::{EntryId, Now};
use super::super::options::Usage;
use super::super::patch::Patch;
use super::super::session::Session;
use super::Cx;
use super::{
    child, compaction, fold_detail, late, notice, notice_first, notice_once, opening, options, prompt, retold, tool,
};
use crate::base::human;
use std::sync::Arc;

/// Bytes of one message that are kept; what comes after is counted.
pub const MESSAGE_LIMIT: usize = 64 << 20;
/// Bytes of a message from elsewhere, after which another entry goes on with it.
const ELSEWHERE_LIMIT: usize = 1 << 20;
/// How many entries are looked through for the one that is open, and for what belongs to a message.
pub(super) const MESSAGE_REACH: usize = 256;
/// Messages and plans that are found by their names; an older one that is named again is a new one.
const MAX_NAMED: usize = 16 << 10;
const MAX_PLANS: usize = 256;

/// Of the context, in hundredths: what is warned of, and what is so much less that it is warned of again.
const CONTEXT_FULL: u128 = 80;
const CONTEXT_EMPTIED: u128 = 60;
/// The sort of that warning.
const CONTEXT: &str = "full context";

pub fn apply(session: &mut Session, update: Update, cx: &mut Cx) {
    if session.retold.is_some() {
        return retold::hear(session, update, cx);
    }
    if session.late.is_some() {
        return late::sift(session, update).into_iter().for_each(|update| take(session, update, cx));
    }
    take(session, update, cx);
}

/// The same of what is known to be none of a history.
pub(super) fn take(session: &mut Session, update: Update, cx: &mut Cx) {
    match update {
        Update::Chunk { kind: ChunkKind::User, message_id, block } => user_chunk(session, message_id, block, cx),
        Update::Chunk { kind, message_id, block } => chunk(session, kind, message_id, block, cx),
        Update::ToolCall(patch) => {
            tool::upsert(session, *patch, tool::Source::Call, cx);
        }
        Update::ToolUpdate(patch) => {
            tool::upsert(session, *patch, tool::Source::Update, cx);
        }
        Update::Terminal(patch) => tool::terminal(session, *patch, cx),
        Update::Message { kind, id, content } => message(session, kind, id, content, cx),
        Update::Whole { kind, content } => whole(session, kind, content, cx),
        Update::Part { kind, text, index, is_last } => part(session, kind, text, (index, is_last), cx),
        Update::OptionValue { id, value } => options::value_changed(session, &id, &value),
        Update::Activity(activity, background) => {
            // What was told last stands until the agent tells of it anew (V2-056).
            if let Some(background) = background {
                session.background = background;
            }
            prompt::activity(session, activity, cx);
        }
        Update::Plan { id, entries } => plan(session, id, entries, cx.now),
        Update::Commands(commands) => session.commands = commands,
        Update::Mode(id) => options::mode_changed(session, id),
        Update::Options(list) => {
            let words = options::set_by_command(session, &list);
            options::replace(session, list);
            if let Some(words) = words {
                spoke(session);
                notice(session, Level::Info, words, Vec::new(), cx.now);
            }
        }
        Update::Info { title, updated } => {
            if title == Patch::Reset {
                session.known_title = None;
            }
            // What stands in for a title names no conversation.
            if !title.as_set().is_some_and(|title| account::is_placeholder(title)) {
                title.put_option(&mut session.title);
            }
            updated.put_option(&mut session.updated);
        }
        Update::Usage { used, size, cost } => {
            // A cost that is left out is still the last one reported.
            let mut known = session.usage.take().and_then(|u| u.cost);
            cost.put_option(&mut known);
            session.usage = Some(Usage { used, size, cost: known });
            warn_of_context(session, cx.now);
        }
        Update::Notice { level, title, description } => {
            let (title, detail) = match (title.is_empty(), description) {
                (true, Some(text)) => (text, Vec::new()),
                (_, text) => (title, text.map(|t| t.lines().map(str::to_owned).collect()).unwrap_or_default()),
            };
            let title = if title.trim().is_empty() { "a notice without words".to_owned() } else { title };
            let entry = notice(session, level, title, detail, cx.now);
            session.entries.change(entry, |e| {
                if let Body::Notice(notice) = &mut e.body {
                    notice.by_agent = true;
                }
            });
        }
        Update::Compaction(patch) => compaction::changed(session, patch, cx),
        Update::Partly { update, what, left_out } => {
            let title = format!("the agent offers too many {what}: {left_out} are left out");
            notice_once(session, what, title, Vec::new(), cx.now);
            apply(session, *update, cx);
        }
        Update::Child(patch) => child::changed(session, *patch, None, cx),
        Update::Passed(passed) => child::pass(session, None, passed, cx),
        Update::Unknown { name, held } => {
            cx.count(Odd::Unknown);
            let title = format!("the agent sent an update of a kind that is not known here: {name}");
            if let Some(entry) = notice_first(session, &name, title, held, cx.now) {
                fold_detail(session, entry, DetailFold::Nothing);
            }
        }
    }
}

/// Says once that little of the context is left, and again after it had been emptied.
fn warn_of_context(session: &mut Session, now: Now) {
    let Some(Usage { used, size, .. }) = session.usage.as_ref().filter(|usage| usage.size > 0) else { return };
    let percent = (u128::from(*used) * 100 / u128::from(*size)).min(999);
    if percent < CONTEXT_EMPTIED {
        session.noticed.remove(CONTEXT);
    }
    if percent >= CONTEXT_FULL {
        let (used, size) = (human::tokens(*used), human::tokens(*size));
        let title = format!("{percent} % of the agent's context are used: {used} of {size} tokens");
        notice_once(session, CONTEXT, title, Vec::new(), now);
    }
}

/// Adjacent text of one message is joined; another id, another kind or another entry in between starts a new one
///
fn chunk(session: &mut Session, kind: ChunkKind, message_id: Option<Arc<str>>, block: Block, cx: &mut Cx) {
    let text = match block {
        Block::Text(text) => text,
        other @ Block::Other { .. } => return attach(session, kind, message_id, other, cx.now),
    };
    if text.is_empty() {
        return;
    }
    if kind == ChunkKind::Agent && !text.trim().is_empty() {
        spoke(session);
    }
    let id = match find_message(session, kind, message_id.as_ref()) {
        Some(id) => id,
        None => open_message(session, kind, message_id, cx),
    };
    session.entries.change(id, |entry| match &mut entry.body {
        Body::Agent(message) => append(message, text),
        Body::Thought(thought) => {
            append(&mut thought.message, text);
            thought.until = cx.now;
        }
        Body::User(user) => user.text.push_str(&text),
        _ => {}
    });
}

/// The message with this name stands in this entry. Where there are too many, the older half loses its names.
fn name(session: &mut Session, key: (ChunkKind, Arc<str>), entry: EntryId) {
    if session.messages.len() >= MAX_NAMED {
        let mut known: Vec<EntryId> = session.messages.values().copied().collect();
        let (_, middle, _) = known.select_nth_unstable(MAX_NAMED / 2);
        let middle = *middle;
        session.messages.retain(|_, known| *known >= middle);
    }
    session.messages.insert(key, entry);
}

/// A block that is no text is an entry of its own.
fn attach(session: &mut Session, from: ChunkKind, message_id: Option<Arc<str>>, block: Block, now: Now) {
    spoke(session);
    let body = Body::Attachment(Attachment { from, message_id, block });
    let id = session.entries.push(session.last_turn, now, body);
    session.entries.finish(id);
}

/// An entry for a message that is not there yet.
fn open_message(session: &mut Session, kind: ChunkKind, message_id: Option<Arc<str>>, cx: &mut Cx) -> EntryId {
    let named = message_id.clone();
    let message = |message_id| Message { message_id, ..Message::default() };
    let body = match kind {
        ChunkKind::Agent => Body::Agent(message(message_id)),
        ChunkKind::Thought => Body::Thought(Thought { message: message(message_id), until: cx.now }),
        ChunkKind::User => {
            let (text, links) = (String::new(), Vec::new());
            Body::User(UserMessage { text, links, state: UserState::FromElsewhere, message_id, sent: None })
        }
    };
    close_last(session);
    if kind == ChunkKind::User && session.is_loading() {
        // As they were sent, prompts of the history begin turns.
        opening::end_past_turn(session, cx);
        let turn = cx.next_turn();
        (cx.last_turn, session.last_turn) = (turn, turn);
    }
    let id = session.entries.push(session.last_turn, cx.now, body);
    if let Some(named) = named {
        name(session, (kind, named), id);
    }
    if session.turn.is_none() {
        // Outside of a turn no message of the agent says when a text is complete.
        session.entries.finish(id);
    }
    id
}

/// A message as a whole that no other update tells of: nothing is joined with it.
fn whole(session: &mut Session, kind: ChunkKind, content: Vec<Block>, cx: &mut Cx) {
    close_last(session);
    session.last_part = None;
    for block in content {
        chunk_of(session, kind, block, cx);
    }
    close_last(session);
}

fn chunk_of(session: &mut Session, kind: ChunkKind, block: Block, cx: &mut Cx) {
    match kind {
        ChunkKind::User => user_chunk(session, None, block, cx),
        kind => chunk(session, kind, None, block, cx),
    }
}

/// Pieces are joined in the order they come in; the first of a message after a later one of another begins a new message
/// (S-023).
fn part(session: &mut Session, kind: ChunkKind, text: String, (index, is_last): (Option<u64>, bool), cx: &mut Cx) {
    let begins = index == Some(0) && session.last_part.is_some_and(|(of, index)| of == kind && index > 0);
    if begins {
        close_last(session);
    }
    chunk_of(session, kind, Block::Text(text), cx);
    session.last_part = index.map(|index| (kind, index));
    if is_last {
        session.last_part = None;
        close_last(session);
    }
}

/// A message as a whole. It stays where it first appeared.
fn message(session: &mut Session, kind: ChunkKind, id: Arc<str>, content: Patch<Vec<Block>>, cx: &mut Cx) {
    let blocks = match content {
        Patch::Keep => None,
        Patch::Reset => Some(Vec::new()),
        Patch::Set(blocks) => Some(blocks),
    };
    let (mut text, mut others) = (String::new(), Vec::new());
    for block in blocks.iter().flatten() {
        match block {
            Block::Text(more) => text.push_str(more),
            other @ Block::Other { .. } => others.push(other.clone()),
        }
    }
    if kind == ChunkKind::User && is_prompt(session, &id, &text) {
        return;
    }
    let entry = match find_message(session, kind, Some(&id)) {
        Some(entry) => entry,
        None => open_message(session, kind, Some(Arc::clone(&id)), cx),
    };
    if blocks.is_none() {
        return;
    }
    if kind == ChunkKind::Agent && !text.trim().is_empty() {
        spoke(session);
    }
    session.entries.change(entry, |e| match &mut e.body {
        Body::Agent(message) | Body::Thought(Thought { message, .. }) => {
            if !text.starts_with(&message.text) {
                message.replaced = message.replaced.saturating_add(1);
            }
            (message.text, message.dropped) = (String::new(), 0);
            append(message, text);
        }
        Body::User(user) => user.text = text,
        _ => {}
    });
    attach_all(session, kind, &id, entry, others, cx.now);
}

/// In place of what had been attached to a message. What there is none of any more says so.
fn attach_all(session: &mut Session, kind: ChunkKind, id: &Arc<str>, after: EntryId, blocks: Vec<Block>, now: Now) {
    let is_part = |e: &&Entry| match &e.body {
        Body::Attachment(a) => a.from == kind && a.message_id.as_ref() == Some(id),
        _ => false,
    };
    let from = session.entries.index_of(after).unwrap_or_default();
    let there = session.entries.slots().skip(from).take(MESSAGE_REACH).filter_map(Slot::here).filter(is_part);
    let there: Vec<EntryId> = there.map(|e| e.id).collect();
    let mut blocks = blocks.into_iter();
    for part in there {
        let gone = || Block::label("taken back by the agent");
        let block = blocks.next().unwrap_or_else(gone);
        session.entries.change(part, |e| {
            if let Body::Attachment(attachment) = &mut e.body {
                attachment.block = block;
            }
        });
    }
    for block in blocks {
        attach(session, kind, Some(Arc::clone(id)), block, now);
    }
}

/// Whether this is the prompt of the running turn, or of an earlier one, as the agent tells it back.
fn is_prompt(session: &mut Session, id: &Arc<str>, text: &str) -> bool {
    let is_ours = |e: &Entry| matches!(&e.body, Body::User(user) if user.state != UserState::FromElsewhere);
    let key = (ChunkKind::User, Arc::clone(id));
    if let Some(known) = session.messages.get(&key) {
        return session.entries.get(*known).is_some_and(is_ours);
    }
    match &session.turn {
        Some(turn) if !turn.is_unsent && turn.prompt == text => {
            let entry = turn.entry;
            name(session, key, entry);
            true
        }
        _ => false,
    }
}

fn append(message: &mut Message, text: String) {
    if message.text.is_empty() && text.len() <= MESSAGE_LIMIT {
        message.text = text;
        return;
    }
    let room = MESSAGE_LIMIT.saturating_sub(message.text.len());
    let cut = text.floor_char_boundary(room.min(text.len()));
    let (kept, rest) = text.split_at(cut);
    message.text.push_str(kept);
    message.dropped += rest.len() as u64;
}

fn spoke(session: &mut Session) {
    if let Some(turn) = &mut session.turn {
        turn.spoke = true;
    }
}

/// The message before a new entry gets no more text unless its id is named again.
pub(super) fn close_last(session: &mut Session) {
    if let Some(last) = last_content(session)
        && matches!(last.body, Body::Agent(_) | Body::Thought(_))
    {
        let id = last.id;
        session.entries.finish(id);
    }
}

/// The newest entry of the conversation. Notices that come while a turn runs are no part of it and cut no
/// message in two; nor do the sums of a turn.
fn last_content(session: &Session) -> Option<&Entry> {
    let in_turn = session.turn.is_some();
    let is_aside = |e: &&Entry| matches!(e.body, Body::Changes(_)) || in_turn && matches!(e.body, Body::Notice(_));
    // One that has left memory is none of these.
    let newest = session.entries.slots().rev().take(MESSAGE_REACH);
    newest.map(Slot::here).find(|slot| slot.as_ref().is_none_or(|e| !is_aside(e))).flatten()
}

fn find_message(session: &Session, kind: ChunkKind, message_id: Option<&Arc<str>>) -> Option<EntryId> {
    // What has given way to save memory is no message any more.
    let id_of = |body: &Body| match (kind, body) {
        (ChunkKind::Agent, Body::Agent(m)) => Some(m.message_id.clone()),
        (ChunkKind::Thought, Body::Thought(t)) => Some(t.message.message_id.clone()),
        (ChunkKind::User, Body::User(u)) if u.state == UserState::FromElsewhere && u.text.len() < ELSEWHERE_LIMIT => {
            Some(u.message_id.clone())
        }
        _ => None,
    };
    match message_id {
        Some(wanted) => {
            let known = *session.messages.get(&(kind, Arc::clone(wanted)))?;
            session.entries.get(known).and_then(|e| id_of(&e.body)).map(|_| known)
        }
        None => {
            let last = last_content(session)?;
            let open = id_of(&last.body)?.is_none()
                && last.turn == session.last_turn
                && (!last.finished || session.turn.is_none());
            open.then_some(last.id)
        }
    }
}

/// An echo of the prompt just sent is not shown twice; anything else is a message from elsewhere (R-255, fact 26).
fn user_chunk(session: &mut Session, message_id: Option<Arc<str>>, block: Block, cx: &mut Cx) {
    if message_id.as_ref().is_some_and(|id| is_prompt(session, id, "")) {
        return;
    }
    let Some(turn) = &mut session.turn else { return chunk(session, ChunkKind::User, message_id, block, cx) };
    match block {
        other @ Block::Other { .. } => {
            // Links that went along come back as blocks of their own.
            let uri = if let Block::Other { uri, .. } = &other { uri.as_ref() } else { None };
            match turn.unechoed.iter().position(|sent| Some(sent) == uri) {
                Some(at) => drop(turn.unechoed.remove(at)),
                None => chunk(session, ChunkKind::User, message_id, other, cx),
            }
        }
        Block::Text(text) => {
            let mut echo = std::mem::take(&mut turn.echo);
            // What matched so far turns out to be the beginning of another message; a whole echo was one.
            let whole = echo == turn.prompt;
            echo.push_str(&text);
            if turn.prompt.starts_with(&echo) {
                turn.echo = echo;
            } else {
                let text = if whole { text } else { echo };
                chunk(session, ChunkKind::User, message_id, Block::Text(text), cx);
            }
        }
    }
}

/// The whole plan is replaced; one entry for each and a turn, changed in place.
fn plan(session: &mut Session, id: Option<Arc<str>>, entries: Vec<PlanEntry>, now: Now) {
    match session.plans.get(&id) {
        Some(entry) => {
            session.entries.change(*entry, |e| e.body = Body::Plan(entries));
        }
        None if entries.is_empty() => {}
        None => {
            if session.plans.len() >= MAX_PLANS {
                let oldest = session.plans.values().min().copied();
                session.plans.retain(|_, plan| Some(*plan) != oldest);
            }
            close_last(session);
            let entry = session.entries.push(session.last_turn, now, Body::Plan(entries));
            session.plans.insert(id, entry);
        }
    }
}
