//! Which entries leave memory: the oldest that are finished and that nothing holds on to, once there is more than the
//! newest few megabytes.
//!
//! Writes nothing and reads nothing. Invariants: nothing leaves that may still grow, that a question is about or that
//! one looks for among the newest; a model without a place to go, such as one that is replayed, keeps all of it.

use super::super::effect::Effect;
use super::super::entries::{TRANSCRIPT_BUDGET, size_of_entry};
use super::super::entry::{Body, Entry, UserState};
use super::super::history::{HELD, LEAVE_STEP, Left};
use super::super::ids::EntryId;
use super::super::session::Session;
use super::super::terminal::Terminal;
use super::super::tool::ToolCall;
use super::Cx;
use super::update::MESSAGE_REACH;
use serde_json::Value;

/// Entries that had to stay and are looked at again at once.
const AGAIN: usize = 64;
/// Levels of a value beyond which it is not written.
const DEEP: usize = 64;

/// Bytes in memory beyond which a text leaves that may still get more: that is a message of its own then. In memory it
/// would soon give way for good.
const TIGHT: usize = TRANSCRIPT_BUDGET / 4;

/// Bytes of a first prompt that is always in memory.
const NAME: usize = 4096;

/// Names those that are to be written. Cheap as long as little has come since the last time.
pub fn choose(session: &mut Session, cx: &mut Cx) {
    let leaving = &session.entries.leaving;
    let bytes = session.entries.bytes().saturating_sub(leaving.under_way.iter().sum());
    if !leaving.is_on || bytes < (HELD + LEAVE_STEP).max(leaving.not_below) {
        return;
    }
    let mut leaving = std::mem::take(&mut session.entries.leaving);
    let answer = newest_answer(session);
    let mut chosen = Vec::new();
    let mut chosen_bytes = 0;
    let mut left = bytes - HELD;
    for _ in 0..AGAIN.min(leaving.stayed.len()) {
        let Some(id) = leaving.stayed.pop_front() else { break };
        match session.entries.get(id) {
            Some(entry) if Some(id) != answer && may_leave(session, entry) => {
                let size = size_of_entry(&entry.body);
                left = left.saturating_sub(size);
                chosen_bytes += size;
                chosen.push(id);
            }
            Some(_) => leaving.stayed.push_back(id),
            None => {}
        }
    }
    leaving.looked_at = leaving.looked_at.max(session.entries.gone());
    while left > 0 && leaving.looked_at < session.entries.next_id().0 {
        let id = EntryId(leaving.looked_at);
        leaving.looked_at += 1;
        let Some(entry) = session.entries.get(id) else { continue };
        if Some(id) != answer && may_leave(session, entry) {
            let size = size_of_entry(&entry.body);
            left = left.saturating_sub(size);
            chosen_bytes += size;
            chosen.push(id);
        } else if !matches!(entry.body, Body::Terminal(_) | Body::Changes(_)) {
            leaving.stayed.push_back(id);
        }
    }
    leaving.not_below = HELD.saturating_add(left).saturating_add(LEAVE_STEP);
    if !chosen.is_empty() {
        leaving.under_way.push_back(chosen_bytes);
        cx.push(Effect::MoveOut(chosen));
    }
    session.entries.leaving = leaving;
}

/// They have been written.
pub fn left(session: &mut Session, all: Vec<Left>) {
    session.entries.leaving.under_way.pop_front();
    for left in all {
        match session.entries.get(left.id) {
            Some(entry) if may_leave(session, entry) => session.entries.leave(left),
            Some(_) => session.entries.leaving.stayed.push_back(left.id),
            None => {}
        }
    }
}

/// They cannot be written.
pub fn stay(session: &mut Session) {
    session.entries.leaving.is_on = false;
    session.entries.leaving.under_way.clear();
}

/// An entry that is to be changed has been read.
pub fn back(session: &mut Session, entry: Box<Entry>) {
    if matches!(entry.body, Body::Notice(_)) {
        // It could not be: what comes of the call is an entry of its own.
        session.newest_tool.retain(|_, id| *id != entry.id);
    }
    session.entries.take_back(entry);
}

/// The answer that the person may want to copy.
fn newest_answer(session: &Session) -> Option<EntryId> {
    let is_answer = |e: &&Entry| matches!(&e.body, Body::Agent(m) if !m.text.trim().is_empty());
    session.entries.iter().rev().find(is_answer).map(|e| e.id)
}

fn may_leave(session: &Session, entry: &Entry) -> bool {
    let is_old = entry.id.0 + (MESSAGE_REACH as u64) < session.entries.next_id().0
        || entry.finished && session.entries.bytes() > TIGHT;
    let is_over = match &entry.body {
        // What a conversation without a title is called by is asked for with every frame.
        Body::User(user) if user.text.len() <= NAME && session.first_prompt() == Some(entry.id) => false,
        Body::User(user) => {
            let is_prompt = matches!(user.state, UserState::Sent | UserState::OfClient);
            is_old && (!is_prompt || entry.turn != session.last_turn)
        }
        // No text is added to a message that is so far back, although its turn may not have ended.
        Body::Agent(_) | Body::Thought(_) => is_old,
        Body::Notice(_) => entry.finished && is_old,
        Body::Tool(tool) => entry.finished && is_over(session, tool),
        // The agent may say anew what a message with an id has attached to it.
        Body::Attachment(attachment) => entry.finished && attachment.message_id.is_none(),
        Body::Plan(_) | Body::File(_) => entry.finished,
        // These are small and change with what they stand for.
        Body::Terminal(_) | Body::Changes(_) => false,
    };
    is_over && !entry.body.is_blank() && !is_held(session, entry.id)
}

fn is_over(session: &Session, tool: &ToolCall) -> bool {
    let runs = |id| session.terminal(id).is_some_and(Terminal::is_running);
    let raw = [&tool.raw_input, &tool.raw_output];
    tool.is_finished() && !tool.terminals().any(runs) && !raw.into_iter().flatten().any(|value| is_deep(value, DEEP))
}

/// Whether a value has more levels than that.
fn is_deep(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (_, None) => true,
        (Value::Array(list), Some(levels)) => list.iter().any(|value| is_deep(value, levels)),
        (Value::Object(map), Some(levels)) => map.values().any(|value| is_deep(value, levels)),
        _ => false,
    }
}

/// Whether something in the session names this entry and may want to change it.
fn is_held(session: &Session, id: EntryId) -> bool {
    let one = [session.login_said, session.turn.as_ref().map(|turn| turn.entry)];
    one.contains(&Some(id))
        || session.plans.values().any(|plan| *plan == id)
        || session.questions.iter().any(|pending| pending.entry == id)
        || session.writes.values().any(|write| write.entry == id)
}

#[cfg(test)]
#[path = "leave_tests.rs"]
mod tests;
