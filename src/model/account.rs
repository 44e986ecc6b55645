//! An account of a conversation for an agent that has not had it: what was asked, answered and done, in bounded plain
//! text that the person sees and may change before it is sent.
//!
//! Sends nothing. Invariants: it says itself what it is; it is never longer than [`ACCOUNT_LIMIT`]; the first request and
//! what was said last are in it, and where something is left out in between it says so.

use super::entries::Slot;
use super::entry::{Body, Entry, FileOutcome, FileVerb, PlanStatus, UserState};
use super::history::History;
use super::past::Past;
use super::session::Session;
use crate::base::{limits, sanitize};
use std::borrow::Cow;

/// Bytes of an account.
pub const ACCOUNT_LIMIT: usize = 24 << 10;
/// Bytes of one message in it, and of a line about anything else.
const MESSAGE: usize = 4 << 10;
const LINE: usize = 200;
/// What is kept for the words around it.
const FRAME: usize = 1 << 10;

/// How an account begins; whom the conversation was had with follows.
const BEGINS: &str = "[Account of an earlier conversation with ";
const LEFT_OUT: &str = "[… some of it is left out here …]";
const END: &str = "[End of the account.]";

/// What a conversation is called that begins with an account, by its first words; an agent may have cut them.
pub fn name_of(words: &str) -> Option<String> {
    let rest = words.trim_start().strip_prefix(BEGINS.trim_end())?;
    let agent = rest.split_once(", written").map(|(agent, _)| agent.trim()).filter(|agent| !agent.is_empty());
    Some(agent.map_or_else(|| "goes on with an account".to_owned(), |agent| format!("goes on from {agent}")))
}

/// Of what is shown of a session. `agent` is whom it was had with.
pub fn of_session(session: &Session, history: &dyn History, agent: &str) -> String {
    let entries = session.entries();
    let read = |(index, slot): (usize, &'_ Slot)| match slot {
        Slot::Here(entry) => Cow::<Entry>::Owned((**entry).clone()),
        Slot::Away(away) => Cow::Owned(away.read(entries.id_at(index), history)),
    };
    let first = (0..entries.len()).find_map(|at| {
        let slot = entries.slot(at)?;
        if slot.kind() == super::history::Kind::User { of_entry(&read((at, slot))) } else { None }
    });
    let newest = (0..entries.len()).rev().filter_map(|at| Some(read((at, entries.slot(at)?))));
    account(first, newest, agent)
}

/// Of what journals have of a session.
pub fn of_past(past: &Past, agent: &str) -> String {
    let first = past.entries.iter().find(|entry| matches!(entry.body, Body::User(_))).and_then(of_entry);
    account(first, past.entries.iter().rev().map(Cow::Borrowed), agent)
}

fn account<'a>(first: Option<String>, newest: impl Iterator<Item = Cow<'a, Entry>>, agent: &str) -> String {
    let agent = limits::cut(sanitize::line(agent).into_owned(), LINE);
    let head = format!(
        "{BEGINS}{agent}, written by acp-tui from its transcript. \
         It was had in this directory; files may have changed since.]"
    );
    let mut room = ACCOUNT_LIMIT - FRAME - first.as_ref().map_or(0, |first| first.len() + 2);
    let (mut parts, mut is_cut) = (Vec::new(), false);
    for text in newest.filter_map(|entry| of_entry(&entry)) {
        if text.len() + 2 > room {
            is_cut = true;
            break;
        }
        room -= text.len() + 2;
        parts.push(text);
    }
    if is_cut {
        parts.push(LEFT_OUT.to_owned());
        parts.extend(first);
    }
    parts.push(head);
    parts.reverse();
    parts.push(END.to_owned());
    parts.join("\n\n")
}

/// What an account says of an entry, if anything.
fn of_entry(entry: &Entry) -> Option<String> {
    let said = |who: &str, text: &str| {
        let text = sanitize::block(text);
        let text = text.trim();
        (!text.is_empty()).then(|| format!("{who}: {}", shortened(text)))
    };
    let line = |text: &str| Some(format!("({})", limits::cut(sanitize::line(text).trim().to_owned(), LINE)));
    match &entry.body {
        Body::User(user) if user.state != UserState::Dropped => said("User", &user.text),
        Body::Agent(message) => said("Assistant", &message.text),
        Body::Tool(tool) => {
            let outcome = match tool.status {
                super::tool::ToolStatus::Completed => "done",
                super::tool::ToolStatus::Failed => "failed",
                super::tool::ToolStatus::Cancelled => "cancelled",
                _ => "not finished",
            };
            let outcome = if tool.refused { "refused by the user" } else { outcome };
            line(&format!("tool call, {outcome}: {}", tool.label()))
        }
        Body::File(file) if file.verb == FileVerb::Write => match &file.outcome {
            FileOutcome::Refused(_) => line(&format!("writing {} was refused", file.path)),
            _ => line(&format!("wrote {}", file.path)),
        },
        Body::Plan(steps) => {
            let step = |step: &super::entry::PlanEntry| {
                let mark = if step.status == PlanStatus::Completed { "x" } else { " " };
                format!("[{mark}] {}", limits::cut(sanitize::line(&step.content).into_owned(), LINE))
            };
            let steps: Vec<String> = steps.iter().map(step).collect();
            (!steps.is_empty()).then(|| format!("Plan:\n{}", shortened(&steps.join("\n"))))
        }
        Body::Changes(changes) => {
            let totals = changes.totals;
            line(&format!("that turn changed +{} −{} lines in {} files", totals.added, totals.removed, totals.files))
        }
        _ => None,
    }
}

/// The beginning and the end of a long text.
fn shortened(text: &str) -> String {
    if text.len() <= MESSAGE {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(MESSAGE / 2), text.ceil_char_boundary(text.len() - MESSAGE / 2));
    format!("{} [… shortened …] {}", &text[..head], &text[tail..])
}

#[cfg(test)]
#[path = "account_tests.rs"]
mod tests;
