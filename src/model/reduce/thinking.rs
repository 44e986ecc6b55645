//! The time in which a call waits for the person's answer, which is none of its own.
//!
//! Invariant: of questions that stand at once about one call each moment is taken off once.

use super::super::entry::Body;
use super::super::ids::{EntryId, Now};
use super::super::question::{About, Question};
use super::super::session::Session;
use super::super::tool::ToolCall;
use crate::model::claims;

/// A question is over that has been taken out of those that wait.
pub fn over(session: &mut Session, pending: &Question, now: Now) {
    if let Some(entry) = asked_for(session, pending) {
        return change(session, entry, |tool| tool.begin(now));
    }
    let Some(entry) = served(session, pending) else { return };
    // The rest is the time of the other one.
    let others = session.questions.iter().filter(|other| served(session, other) == Some(entry));
    let until = others.map(|other| other.at).fold(now, Now::min);
    change(session, entry, |tool| tool.wait(pending.at, until));
}

fn change(session: &mut Session, entry: EntryId, what: impl FnOnce(&mut ToolCall)) {
    session.entries.change(entry, |e| {
        if let Body::Tool(tool) = &mut e.body {
            what(tool);
        }
    });
}

/// The call that the agent itself asks about: it begins with the answer.
pub fn asked_for(session: &Session, pending: &Question) -> Option<EntryId> {
    match &pending.about {
        About::Permission => Some(pending.entry),
        About::Asked { of: Some(id), .. } => session.newest_tool.get(id).copied(),
        About::Asked { .. } | About::Write | About::Read(_) | About::Run(_) => None,
    }
}

/// The call for which the client is to read, write or run something: no request names it, so it is the newest that runs and
/// names the file, else the only one that runs.
fn served(session: &Session, pending: &Question) -> Option<EntryId> {
    let path = match &pending.about {
        About::Read(read) => Some(read.path.as_str()),
        About::Write => session.write(pending.req).map(|write| &*write.path),
        About::Run(_) => None,
        About::Permission | About::Asked { .. } => return None,
    };
    let calls = session.newest_tool.values().filter_map(|entry| Some((*entry, session.tool(*entry)?)));
    let running: Vec<(EntryId, &ToolCall)> = calls.filter(|(_, call)| !call.is_finished()).collect();
    let names = |call: &ToolCall| path.is_some_and(|path| claims::files_named(call).iter().any(|file| file == path));
    if let Some((entry, _)) = running.iter().filter(|(_, call)| names(call)).max_by_key(|(entry, _)| *entry) {
        return Some(*entry);
    }
    // One that others belong to does nothing itself.
    let is_above = |of: &ToolCall| running.iter().any(|(_, call)| call.parent.as_ref() == Some(&of.id));
    let mut alone = running.iter().filter(|(_, call)| !is_above(call));
    alone.next().filter(|_| alone.next().is_none()).map(|(entry, _)| *entry)
}
