//! Sessions that the agent has begun itself. Each is one entry of the session that it belongs to, its calls are entries
//! below that, and what it asks is asked there.
//!
//! Invariants: none changes its parent, and nothing is sent to one but that it is to stop; costs of parents
//! and children are never added up.

use super::super::child::{Child, ChildPatch, Passed, Sayings, call_of, id_of, row_of};
use super::super::effect::{Effect, Withdrawal};
use super::super::entry::Body;
use super::super::event::{AgentRequest, Odd, Update};
use super::super::ids::{EntryId, SessionId, ToolId};
use super::super::patch::Patch;
use super::super::refusal::{Reason, Refusal, Subject};
use super::super::session::Session;
use super::super::tool::{Mark, ToolCall, ToolKind, ToolPatch, ToolStatus};
use super::Cx;
use super::{permission, prompt, tool};
use crate::base::paths::normalize;
use std::path::Path;

/// Of one session.
const MAX_CHILDREN: usize = 256;

/// The session that was begun by `parent`, or by the session itself, is there or has changed.
pub fn changed(session: &mut Session, patch: ChildPatch, parent: Option<&SessionId>, cx: &mut Cx) {
    let is_known = session.children.contains_key(&patch.id);
    if session.retold.is_some() || session.id.as_ref() == Some(&patch.id) {
        return;
    }
    if !is_known && session.children.len() >= MAX_CHILDREN {
        return cx.count(Odd::Unknown);
    }
    let id = row_of(&patch.id);
    let mut call = ToolPatch::new(id.clone());
    call.is_agent = true;
    call.title = match patch.title {
        // Without a title its task names it.
        Patch::Keep | Patch::Reset if !is_known => Patch::of(patch.description.as_set().cloned()),
        Patch::Reset => Patch::Keep,
        title => title,
    };
    call.kind = Patch::Set(ToolKind::Think);
    call.status = patch.status;
    if !is_known {
        call.parent = parent.and_then(|parent| session.children.get(parent)).map(|parent| parent.tool.clone());
    }
    let source = if is_known { tool::Source::Update } else { tool::Source::Call };
    let entry = tool::upsert(session, call, source, cx);
    let is_told_again = session.is_loading();
    let named = patch.id.clone();
    let child = session.children.entry(patch.id).or_insert_with(|| Child::new(entry, id, parent.cloned()));
    child.entry = entry;
    child.is_past = false;
    patch.cwd.put_option(&mut child.cwd);
    patch.directories.put_option(&mut child.directories);
    patch.stops.put(&mut child.stops);
    // What was said of it once is history until it is said again.
    child.stops &= !is_told_again;
    let status = session.tool(entry).map(|call| call.status.clone()).filter(ToolStatus::is_final);
    if let Some(status) = status {
        // What it and those that it has begun were about is over with it.
        let mark = if status == ToolStatus::Cancelled { Mark::Cancelled } else { Mark::NoFinalStatus };
        let family = family(session, &named);
        prompt::mark_unfinished(session, mark, |call| call.parent.as_ref().is_some_and(|p| family.contains(p)), cx);
    }
}

/// The entries, by the names of their calls, of one and of all that it has begun.
fn family(session: &Session, id: &SessionId) -> Vec<ToolId> {
    let is_of_it = |one: &SessionId| {
        let (mut at, mut left) = (Some(one), MAX_CHILDREN);
        // An agent may say that two have begun each other.
        while let Some(one) = at.filter(|_| left > 0) {
            if one == id {
                return true;
            }
            at = session.children.get(one).and_then(|child| child.parent.as_ref());
            left -= 1;
        }
        false
    };
    let of_it = session.children.iter().filter(|(one, _)| is_of_it(one));
    of_it.map(|(_, child)| child.tool.clone()).collect()
}

/// What is said of one, or by it.
pub fn heard(session: &mut Session, child: &SessionId, update: Update, cx: &mut Cx) {
    if session.retold.is_some() {
        return;
    }
    match update {
        // A name of a terminal is the agent's, whichever of its sessions it says it in.
        Update::Terminal(patch) => tool::terminal(session, *patch, cx),
        Update::ToolCall(patch) => drop(call(session, child, *patch, tool::Source::Call, cx)),
        Update::ToolUpdate(patch) => drop(call(session, child, *patch, tool::Source::Update, cx)),
        Update::Child(patch) => changed(session, *patch, Some(child), cx),
        Update::Passed(passed) => pass(session, Some(child), passed, cx),
        Update::Partly { update, .. } => heard(session, child, *update, cx),
        Update::Message { content: Patch::Keep, .. } => {}
        // Its commands, modes, costs and the like are not those of the session.
        Update::Activity(..)
        | Update::Commands(_)
        | Update::Mode(_)
        | Update::Options(_)
        | Update::OptionValue { .. }
        | Update::Info { .. }
        | Update::Usage { .. } => {}
        said => {
            if matches!(said, Update::Unknown { .. }) {
                cx.count(Odd::Unknown);
            }
            say(session, child, said, cx);
        }
    }
}

/// A message between sessions: it stands with the one that was begun.
pub fn pass(session: &mut Session, at: Option<&SessionId>, passed: Passed, cx: &mut Cx) {
    if passed.text.is_none() {
        return;
    }
    let named = passed.between.iter().flatten().find(|named| session.children.contains_key(named));
    let Some(child) = named.or(at).cloned() else { return };
    say(session, &child, Update::Passed(passed), cx);
}

fn say(session: &mut Session, child: &SessionId, said: Update, cx: &mut Cx) {
    let Some(child) = session.children.get_mut(child) else { return };
    child.sayings.take(said);
    let mut patch = ToolPatch::new(child.tool.clone());
    patch.is_agent = true;
    patch.content = Patch::Set(child.sayings.content());
    tool::upsert(session, patch, tool::Source::Update, cx);
}

/// One that an earlier journal tells of is known by its row; it is history until it is announced again.
pub fn recall(session: &mut Session, entry: EntryId) {
    let Some(call) = session.tool(entry).filter(|call| call.is_agent) else { return };
    let Some(id) = id_of(&call.id) else { return };
    if session.children.len() >= MAX_CHILDREN && !session.children.contains_key(&id) {
        return;
    }
    let row = call.id.clone();
    let mut child = Child::new(entry, row.clone(), call.parent.as_ref().and_then(id_of));
    child.sayings = Sayings::of_content(&call.content);
    child.is_past = true;
    session.newest_tool.insert(row, entry);
    session.children.insert(id, child);
}

/// The agent is gone; if the session `goes_on` in another one, they are history there. No other call is known any more.
pub fn leave(session: &mut Session, goes_on: bool) {
    session.newest_tool.clear();
    if !goes_on {
        session.children.clear();
    }
    for child in session.children.values_mut() {
        (child.is_past, child.stops) = (true, false);
        session.newest_tool.insert(child.tool.clone(), child.entry);
    }
}

fn call(
    session: &mut Session,
    child: &SessionId,
    mut patch: ToolPatch,
    source: tool::Source,
    cx: &mut Cx,
) -> Option<EntryId> {
    below(session, child, &mut patch)?;
    Some(tool::upsert(session, patch, source, cx))
}

/// Its calls have names of their own.
fn below(session: &Session, child: &SessionId, patch: &mut ToolPatch) -> Option<()> {
    let parent = session.children.get(child)?.tool.clone();
    patch.id = call_of(&parent, &patch.id);
    patch.parent = Some(parent);
    Some(())
}

/// What it asks is about a call of its own, and about its own directories. Links are followed later, when it is
/// looked whether that is in those of the session.
pub fn asked(session: &Session, child: &SessionId, mut request: AgentRequest) -> Result<AgentRequest, Refusal> {
    let path = match &mut request {
        AgentRequest::Permission { tool, .. } => {
            // There is a child, or nobody would ask here.
            let _ = below(session, child, tool);
            None
        }
        AgentRequest::ReadFile { path, .. } | AgentRequest::WriteFile { path, .. } => Some(path.clone()),
        AgentRequest::TerminalCreate(spec) => {
            spec.cwd = spec.cwd.take().or_else(|| said(session, child, |child| child.cwd.as_ref()).cloned());
            spec.cwd.clone()
        }
        _ => None,
    };
    match path {
        Some(path) if !is_of(session, child, &path) => {
            let why = format!("outside of the directories of the sub-agent: {path}");
            Err(Refusal::new(Reason::Outside, why).about(Subject::Path(path)))
        }
        _ => Ok(request),
    }
}

/// Whether a path is in the directories that it works in; of those of the session that is looked at later.
fn is_of(session: &Session, child: &SessionId, path: &str) -> bool {
    let cwd = said(session, child, |child| child.cwd.as_ref());
    let further = said(session, child, |child| child.directories.as_ref());
    if cwd.is_none() && further.is_none() {
        return true;
    }
    let path = normalize(Path::new(path));
    let all = std::iter::once(cwd.unwrap_or(&session.cwd)).chain(further.into_iter().flatten());
    all.map(|dir| normalize(Path::new(dir))).any(|dir| path.starts_with(dir))
}

/// What is said of it, or of the nearest above it of which that is said.
fn said<'a, T>(session: &'a Session, child: &SessionId, what: impl Fn(&'a Child) -> Option<T>) -> Option<T> {
    let above = |child: &&Child| session.children.get(child.parent.as_ref()?);
    // An agent may say that two have begun each other.
    std::iter::successors(session.children.get(child), above).take(MAX_CHILDREN).find_map(what)
}

/// The person wants it to stop; the session goes on.
pub fn stop(session: &mut Session, entry: EntryId, cx: &mut Cx) {
    let found = session.children.iter().find(|(_, child)| child.entry == entry && child.stops);
    let Some(id) = found.map(|(id, _)| id.clone()) else { return };
    let family = family(session, &id);
    cx.push(Effect::CancelTurn(id));
    let is_of_it = |call: &ToolCall| call.parent.as_ref().is_some_and(|parent| family.contains(parent));
    let is_below = |entry: EntryId| session.tool(entry).is_some_and(is_of_it);
    let asked: Vec<EntryId> =
        session.questions.iter().map(|question| question.entry).filter(|e| is_below(*e)).collect();
    for entry in asked {
        permission::close_about(session, entry, Withdrawal::ChildStopped, cx);
    }
    session.entries.change(entry, |entry| {
        if let Body::Tool(call) = &mut entry.body {
            call.is_stopping = true;
        }
    });
}
