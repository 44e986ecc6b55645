//! Sessions that the agent has begun itself. Each is one entry of the session that it belongs to, its calls are entries
//! below that, and what it asks is asked there.
//!
//! Invariants: none changes its parent, and nothing is sent to one but that it is to stop; costs of parents
//! and children are never added up.

use super::super::child::{Child, ChildPatch, Passed};
use super::super::effect::{Effect, Withdrawal};
use super::super::entry::{Block, Body, ChunkKind, PlanEntry, PlanStatus};
use super::super::event::{AgentRequest, Odd, Update};
use super::super::ids::{EntryId, Owner, SessionId, TermId, ToolId};
use super::super::patch::Patch;
use super::super::session::Session;
use super::super::tool::{ToolContent, ToolKind, ToolPatch};
use super::Cx;
use super::{permission, tool};
use std::sync::Arc;

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
    let id = ToolId::from(format!("{}/", patch.id));
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
    let child = session.children.entry(patch.id).or_insert_with(|| Child::new(entry, id));
    child.entry = entry;
    patch.stops.put(&mut child.stops);
    // What was said of it once is history until it is said again.
    child.stops &= !is_told_again;
}

/// What is said of one, or by it.
pub fn heard(session: &mut Session, child: &SessionId, update: Update, cx: &mut Cx) {
    if session.retold.is_some() {
        return;
    }
    match update {
        // Its prompt is what the session has asked of it.
        Update::Chunk { kind: ChunkKind::User, .. } | Update::Message { kind: ChunkKind::User, .. } => {}
        Update::Chunk { kind, message_id, block } => {
            let (id, text) = (named(kind, message_id), words(&block));
            say(session, child, |child| child.hear(id, &text, true), cx);
        }
        Update::Message { kind, id, content } => {
            let text = match content {
                Patch::Keep => return,
                Patch::Reset => String::new(),
                Patch::Set(blocks) => blocks.iter().map(words).collect(),
            };
            let id = named(kind, Some(id));
            say(session, child, |child| child.hear(id, &text, false), cx);
        }
        Update::Plan { id, entries } => {
            let step = |entry: &PlanEntry| {
                let sign = if entry.status == PlanStatus::Completed { 'x' } else { ' ' };
                format!("[{sign}] {}\n", entry.content)
            };
            let text: String = entries.iter().map(step).collect();
            let id: Arc<str> = format!("plan {}", id.as_deref().unwrap_or_default()).into();
            say(session, child, |child| child.hear(Some(id), &text, false), cx);
        }
        Update::Notice { title, description, .. } => {
            let text: Vec<&str> = std::iter::once(&title).chain(&description).map(String::as_str).collect();
            note(session, child, &text.join(": "), cx);
        }
        Update::Compaction { text, .. } => note(session, child, &text, cx),
        Update::Unknown { name } => {
            note(session, child, &format!("something of a kind that is not known here: {name}"), cx);
        }
        Update::Terminal(mut patch) => {
            let Some(of) = session.children.get(child) else { return };
            patch.id = own(&of.tool, &patch.id);
            tool::terminal(session, patch, cx);
        }
        Update::ToolCall(patch) => drop(call(session, child, patch, tool::Source::Call, cx)),
        Update::ToolUpdate(patch) => drop(call(session, child, patch, tool::Source::Update, cx)),
        Update::Child(patch) => changed(session, patch, Some(child), cx),
        Update::Passed(passed) => pass(session, Some(child), passed, cx),
        Update::Partly { update, .. } => heard(session, child, *update, cx),
        // Its modes, costs and the like are not those of the session.
        Update::Activity(_)
        | Update::Commands(_)
        | Update::Mode(_)
        | Update::Options(_)
        | Update::Info { .. }
        | Update::Usage { .. } => {}
    }
}

/// What it thinks is told apart from what it says.
fn named(kind: ChunkKind, id: Option<Arc<str>>) -> Option<Arc<str>> {
    if kind == ChunkKind::Thought { Some(format!("thought {}", id.unwrap_or_default()).into()) } else { id }
}

/// A piece of a message as text.
fn words(block: &Block) -> String {
    match block {
        Block::Text(text) => text.clone(),
        Block::Other { label, uri, text } => {
            let parts = [Some(label), uri.as_ref(), text.as_ref()];
            parts.into_iter().flatten().flat_map(|part| [part, "\n"]).collect()
        }
    }
}

/// What stands by itself.
fn note(session: &mut Session, child: &SessionId, text: &str, cx: &mut Cx) {
    let text = format!("{text}\n");
    say(session, child, |child| child.hear(Some("note".into()), &text, true), cx);
}

/// A terminal of its own, apart from those of the session and of others.
fn own(tool: &ToolId, id: &TermId) -> TermId {
    match id.owner() {
        Owner::Client => id.clone(),
        Owner::Agent => TermId::of(Owner::Agent, format!("{}{}", tool.as_str(), id.as_str())),
    }
}

/// A message between sessions: it stands with the one that was begun.
pub fn pass(session: &mut Session, at: Option<&SessionId>, passed: Passed, cx: &mut Cx) {
    let Passed { id, between, text, is_more } = passed;
    let named = between.into_iter().flatten().find(|named| session.children.contains_key(named));
    let (Some(child), Some(text)) = (named.or_else(|| at.cloned()), text) else { return };
    say(session, &child, |child| child.hear(Some(id), &text, is_more), cx);
}

fn say(session: &mut Session, child: &SessionId, hear: impl FnOnce(&mut Child), cx: &mut Cx) {
    let Some(child) = session.children.get_mut(child) else { return };
    hear(child);
    let mut patch = ToolPatch::new(child.tool.clone());
    patch.is_agent = true;
    patch.content = Patch::Set(child.content());
    tool::upsert(session, patch, tool::Source::Update, cx);
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
    patch.id = ToolId::from(format!("{}{}", parent.as_str(), patch.id.as_str()));
    let listed = if let Patch::Set(content) = &mut patch.content { content.as_mut_slice() } else { &mut [] };
    for part in listed.iter_mut().chain(&mut patch.append) {
        if let ToolContent::Terminal(id) = part {
            *id = own(&parent, id);
        }
    }
    patch.parent = Some(parent);
    Some(())
}

/// What it asks is about a call of its own.
pub fn asked(session: &Session, child: &SessionId, mut request: AgentRequest) -> AgentRequest {
    if let AgentRequest::Permission { tool, .. } = &mut request {
        // There is a child, or nobody would ask here.
        let _ = below(session, child, tool);
    }
    request
}

/// The person wants it to stop; the session goes on.
pub fn stop(session: &mut Session, entry: EntryId, cx: &mut Cx) {
    let found = session.children.iter().find(|(_, child)| child.entry == entry && child.stops);
    let Some((id, tool)) = found.map(|(id, child)| (id.clone(), child.tool.clone())) else { return };
    cx.push(Effect::CancelTurn(id));
    let is_below = |entry: EntryId| session.tool(entry).is_some_and(|call| call.parent.as_ref() == Some(&tool));
    let asked: Vec<EntryId> =
        session.questions.iter().map(|question| question.entry).filter(|e| is_below(*e)).collect();
    for entry in asked {
        permission::close_about(session, entry, Withdrawal::TurnStopped, cx);
    }
    session.entries.change(entry, |entry| {
        if let Body::Tool(call) = &mut entry.body {
            call.is_stopping = true;
        }
    });
}
