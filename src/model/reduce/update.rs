//! `session/update`: text, plans, commands, titles, usage and notices. Valid in every phase, also after the answer
//! to the prompt.

use super::super::entries::Slot;
use super::super::entry::{
    Attachment, Block, Body, ChunkKind, Entry, Level, Message, PlanEntry, Thought, UserMessage, UserState,
};
use super::super::event::{Odd, Patch, Update};
use super::super::ids::{EntryId, Now};
use super::super::options::Usage;
use super::super::session::Session;
use super::Cx;
use super::{notice, notice_once, options, tool};
use std::sync::Arc;

/// Bytes of one message that are kept; what comes after is counted.
pub const MESSAGE_LIMIT: usize = 64 << 20;
/// Bytes of a message from elsewhere, after which another entry goes on with it.
const ELSEWHERE_LIMIT: usize = 1 << 20;
/// How far back a message is looked for.
pub(super) const MESSAGE_REACH: usize = 256;

pub fn apply(session: &mut Session, update: Update, cx: &mut Cx) {
    match update {
        Update::Chunk { kind: ChunkKind::User, message_id, block } => user_chunk(session, message_id, block, cx.now),
        Update::Chunk { kind, message_id, block } => chunk(session, kind, message_id, block, cx.now),
        Update::ToolCall(patch) => {
            tool::upsert(session, patch, tool::Source::Call, cx);
        }
        Update::ToolUpdate(patch) => {
            tool::upsert(session, patch, tool::Source::Update, cx);
        }
        Update::Plan(entries) => plan(session, entries, cx.now),
        Update::Commands(commands) => session.commands = commands,
        Update::Mode(id) => options::mode_changed(session, id),
        Update::Options(list) => options::replace(session, list),
        Update::Info { title } => match title {
            Patch::Keep => {}
            Patch::Clear => session.title = None,
            Patch::Set(title) => session.title = Some(title),
        },
        Update::Usage { used, size, cost } => {
            // A cost that is left cx is still the last one reported.
            let cost = cost.or_else(|| session.usage.take().and_then(|u| u.cost));
            session.usage = Some(Usage { used, size, cost });
        }
        Update::Notice { level, title, description } => {
            let (title, detail) = match (title.is_empty(), description) {
                (true, Some(text)) => (text, Vec::new()),
                (_, text) => (title, text.map(|t| t.lines().map(str::to_owned).collect()).unwrap_or_default()),
            };
            let title = if title.trim().is_empty() { "a notice without words".to_owned() } else { title };
            notice(session, level, title, detail, cx.now);
        }
        Update::Compaction { status, text } => {
            let words = format!("context compaction {}", status.as_deref().unwrap_or("in progress"));
            notice(session, Level::Info, words, text.lines().map(str::to_owned).collect(), cx.now);
        }
        Update::Partly { update, what, left_out } => {
            let title = format!("the agent offers too many {what}: {left_out} are left cx");
            notice_once(session, what, title, Vec::new(), cx.now);
            apply(session, *update, cx);
        }
        Update::Unknown { name } => {
            cx.count(Odd::Unknown);
            let title = format!("the agent sent an update of a kind that is not known here: {name}");
            notice_once(session, &name, title, Vec::new(), cx.now);
        }
    }
}

/// Adjacent text of one message is joined; another id, another kind or another entry in between starts a new one
///
fn chunk(session: &mut Session, kind: ChunkKind, message_id: Option<Arc<str>>, block: Block, now: Now) {
    let text = match block {
        Block::Text(text) => text,
        other @ Block::Other { .. } => {
            spoke(session);
            let id =
                session.entries.push(session.last_turn, now, Body::Attachment(Attachment { from: kind, block: other }));
            session.entries.finish(id);
            return;
        }
    };
    if text.is_empty() {
        return;
    }
    if kind == ChunkKind::Agent && !text.trim().is_empty() {
        spoke(session);
    }
    let into = find_message(session, kind, message_id.as_ref());
    let id = into.unwrap_or_else(|| {
        let named = message_id.clone();
        let message = Message { message_id, ..Message::default() };
        let body = match kind {
            ChunkKind::Agent => Body::Agent(message),
            ChunkKind::Thought => Body::Thought(Thought { message, until: now }),
            ChunkKind::User => {
                Body::User(UserMessage { text: String::new(), links: Vec::new(), state: UserState::FromElsewhere })
            }
        };
        close_last(session);
        let id = session.entries.push(session.last_turn, now, body);
        if kind == ChunkKind::User {
            session.elsewhere = Some((id, named));
        }
        if session.turn.is_none() {
            // Outside of a turn nobody says when a message is complete.
            session.entries.finish(id);
        }
        id
    });
    session.entries.change(id, |entry| match &mut entry.body {
        Body::Agent(message) => append(message, text),
        Body::Thought(thought) => {
            append(&mut thought.message, text);
            thought.until = now;
        }
        Body::User(user) => user.text.push_str(&text),
        _ => {}
    });
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
fn close_last(session: &mut Session) {
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
    let of_kind = |body: &Body| match (kind, body) {
        (ChunkKind::Agent, Body::Agent(m)) => Some(m.message_id.clone()),
        (ChunkKind::Thought, Body::Thought(t)) => Some(t.message.message_id.clone()),
        (ChunkKind::User, Body::User(u)) if u.state == UserState::FromElsewhere && u.text.len() < ELSEWHERE_LIMIT => {
            Some(session.elsewhere.as_ref().and_then(|(_, id)| id.clone()))
        }
        _ => None,
    };
    match message_id {
        Some(wanted) if kind == ChunkKind::User => {
            let known =
                session.elsewhere.as_ref().filter(|(_, id)| id.as_ref() == Some(wanted)).map(|(entry, _)| *entry);
            known.filter(|id| session.entries.get(*id).is_some_and(|e| of_kind(&e.body).is_some()))
        }
        Some(wanted) => session
            .entries
            .slots()
            .rev()
            .take(MESSAGE_REACH)
            .filter_map(Slot::here)
            .take_while(|e| e.id >= session.first_entry)
            .find(|e| of_kind(&e.body).is_some_and(|id| id.as_ref() == Some(wanted)))
            .map(|e| e.id),
        None => {
            let last = last_content(session)?;
            let open = of_kind(&last.body)?.is_none()
                && last.turn == session.last_turn
                && (!last.finished || session.turn.is_none());
            open.then_some(last.id)
        }
    }
}

/// An echo of the prompt just sent is not shown twice; anything else is a message from elsewhere (R-255, fact 26).
fn user_chunk(session: &mut Session, message_id: Option<Arc<str>>, block: Block, now: Now) {
    let Some(turn) = &mut session.turn else { return chunk(session, ChunkKind::User, message_id, block, now) };
    match block {
        other @ Block::Other { .. } => {
            // Links that went along come back as blocks of their own.
            let uri = if let Block::Other { uri, .. } = &other { uri.as_ref() } else { None };
            match turn.unechoed.iter().position(|sent| Some(sent) == uri) {
                Some(at) => drop(turn.unechoed.remove(at)),
                None => chunk(session, ChunkKind::User, message_id, other, now),
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
                chunk(session, ChunkKind::User, message_id, Block::Text(text), now);
            }
        }
    }
}

/// The whole plan is replaced; one entry a turn, changed in place.
fn plan(session: &mut Session, entries: Vec<PlanEntry>, now: Now) {
    match session.plan {
        Some(id) => {
            session.entries.change(id, |e| e.body = Body::Plan(entries));
        }
        None if entries.is_empty() => {}
        None => session.plan = Some(session.entries.push(session.last_turn, now, Body::Plan(entries))),
    }
}
