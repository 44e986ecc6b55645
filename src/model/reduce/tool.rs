//! Tool calls and the terminals they show: upserts from three sources, in any order (fact 1).

use super::super::claims::files_named;
use super::super::effect::Withdrawal;
use super::super::entry::{Body, Entry};
use super::super::ids::{EntryId, Now, Owner, ReqId, TermId};
use super::super::patch::Patch;
use super::super::session::Session;
use super::super::terminal::{Terminal, TerminalOrigin};
use super::super::tool::{Announced, Mark, TerminalMeta, TerminalPatch, ToolCall, ToolContent, ToolPatch, ToolStatus};
use super::Cx;
use super::{permission, review, ruling, update};
use crate::base::tail::TailBuffer;
use crate::base::utf8::Utf8Stream;

/// Calls that show one terminal and are drawn anew with it: the newest.
const MAX_EMBEDDED: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Call,
    Update,
    Permission,
}

/// What is known of a call that goes on now: one that begins or is taken up outside of a turn, or after it was stopped,
/// is not waited for.
fn mark_now(session: &Session) -> Option<Mark> {
    match &session.turn {
        None => Some(Mark::NoFinalStatus),
        Some(turn) => turn.cancelling.map(|_| Mark::Cancelled),
    }
}

/// Merges a message into the newest call with its id, or opens a new entry: for an id not yet seen, and for an
/// announcement of an id that belongs to an earlier turn.
pub fn upsert(session: &mut Session, patch: ToolPatch, source: Source, cx: &mut Cx) -> EntryId {
    if let Some(turn) = &mut session.turn {
        turn.spoke = true;
    }
    let meta = patch.terminal.clone();
    let diffs_changed = !patch.content.is_keep() || !patch.append.is_empty();
    let says_what = diffs_changed || !patch.status.is_keep() || !patch.kind.is_keep() || !patch.locations.is_keep();
    let known = session.newest_tool.get(&patch.id).copied().filter(|id| {
        let entry = session.entries.get(*id);
        entry.is_some_and(|e| source == Source::Update || e.turn == session.last_turn)
    });
    let claimed = known.and_then(|id| ruling::claimed(session, id));
    let had_ended = known.and_then(|id| session.tool(id)).is_some_and(ToolCall::is_finished);
    let mark = mark_now(session);
    let entry = if let Some(id) = known {
        // A session that the agent has begun may work again in a later turn.
        let is_at_work = |status: &ToolStatus| patch.is_agent && !status.is_final() && mark.is_none();
        let works_again = patch.status.as_set().is_some_and(is_at_work);
        let announced = if source == Source::Update { Announced::No } else { Announced::Again };
        session.entries.change(id, |e| {
            if let Body::Tool(tool) = &mut e.body {
                let may_forget = !patch.locations.is_keep() || !patch.raw_input.is_keep();
                let before = if may_forget { files_named(tool) } else { Vec::new() };
                tool.apply(patch, announced, cx.now);
                if source == Source::Permission {
                    // It is about what it shows now.
                    tool.asked = None;
                }
                if works_again && tool.mark.take().is_some() {
                    tool.is_stopping = false;
                }
                if !tool.is_finished() {
                    tool.mark = mark;
                }
                if !before.is_empty() {
                    let now = files_named(tool);
                    tool.remember(before.into_iter().filter(|path| !now.contains(path)));
                }
                e.finished |= tool.is_finished();
            }
        });
        let goes_on = |e: &Entry| matches!(&e.body, Body::Tool(tool) if !tool.is_finished());
        if session.entries.get(id).is_some_and(|e| e.turn != session.last_turn && goes_on(e)) {
            session.taken_up.insert(id);
        }
        id
    } else {
        let id = patch.id.clone();
        let mut tool = ToolCall::new(id.clone(), cx.now);
        tool.apply(patch, Announced::No, cx.now);
        if !tool.status.is_final() {
            tool.mark = mark;
        }
        let finished = tool.is_finished();
        update::close_last(session);
        let entry = session.entries.push(session.last_turn, cx.now, Body::Tool(Box::new(tool)));
        if finished {
            session.entries.finish(entry);
        }
        session.newest_tool.insert(id, entry);
        entry
    };
    feed(session, meta, cx.now);
    name_owners(session, entry);
    embed(session, entry, cx.now);
    if says_what || known.is_none() {
        review::worked(session, entry, known.is_none(), had_ended);
        review::tool(session, entry, cx);
    }
    if source != Source::Permission && session.tool(entry).is_some_and(|tool| tool.cut) {
        permission::close_about(session, entry, Withdrawal::TooLarge, cx);
    }
    if diffs_changed {
        // The person is asked about other diffs cx.now.
        let asked: Vec<ReqId> = session.questions.iter().filter(|p| p.entry == entry).map(|p| p.req).collect();
        for req in asked {
            review::ask_preview(session, req, cx);
        }
    }
    if claimed.is_some() && claimed != ruling::claimed(session, entry) {
        ruling::call_changed(session, entry, cx);
    }
    if source != Source::Permission {
        ruling::look_back(session, entry, cx);
    }
    entry
}

/// Terminals that the call shows know it; one without a create request is stored under its id (fact 4).
fn embed(session: &mut Session, entry: EntryId, now: Now) {
    let shown: Vec<TermId> = session.tool(entry).map(|t| t.terminals().cloned().collect()).unwrap_or_default();
    for id in shown {
        let terminal = ensure(session, &id, TerminalOrigin::Unknown, now);
        if terminal.embedded.contains(&entry) {
            continue;
        }
        if terminal.embedded.len() >= MAX_EMBEDDED {
            terminal.embedded.remove(0);
        }
        terminal.embedded.push(entry);
        if let Some(own) = terminal.entry {
            session.entries.touch(own);
        }
    }
}

fn ensure<'a>(session: &'a mut Session, id: &TermId, origin: TerminalOrigin, now: Now) -> &'a mut Terminal {
    let turn = session.last_turn;
    session.terminals.entry(id.clone()).or_insert_with(|| Terminal::new(id.clone(), origin, turn, now))
}

/// A call may show a terminal without saying whose it is: where there is none of ours and the agent has told of one of
/// its own with this name, it is that one.
fn name_owners(session: &mut Session, entry: EntryId) {
    let is_agents = |id: &TermId| {
        let ours = session.terminals.get(id).is_some_and(|t| t.origin == TerminalOrigin::Ours);
        !ours && session.terminals.contains_key(&id.with_owner(Owner::Agent))
    };
    let theirs: Vec<TermId> = match session.tool(entry) {
        Some(tool) => tool.terminals().filter(|id| id.owner() == Owner::Client && is_agents(id)).cloned().collect(),
        None => return,
    };
    for id in theirs {
        give_to_agent(session, entry, &id);
    }
}

/// What this call shows under the name is the agent's.
fn give_to_agent(session: &mut Session, entry: EntryId, id: &TermId) {
    session.entries.change(entry, |e| {
        let Body::Tool(tool) = &mut e.body else { return };
        for content in &mut tool.content {
            if let ToolContent::Terminal(shown) = content
                && shown == id
            {
                *shown = id.with_owner(Owner::Agent);
            }
        }
    });
}

/// A terminal of the agent's own. Nothing when there is none yet, and one of ours has the name: it is taken for that
/// one, and only the client writes into it.
fn own<'a>(session: &'a mut Session, id: &TermId, now: Now) -> Option<&'a mut Terminal> {
    if !session.terminals.contains_key(id) {
        let named = id.with_owner(Owner::Client);
        let mut embedded = Vec::new();
        match session.terminals.get(&named).map(|t| t.origin) {
            Some(TerminalOrigin::Ours) => return None,
            // Calls have shown it before anybody said whose it is.
            Some(_) => embedded = session.terminals.remove(&named).map(|t| t.embedded).unwrap_or_default(),
            None => {}
        }
        for entry in &embedded {
            give_to_agent(session, *entry, &named);
        }
        ensure(session, id, TerminalOrigin::Told, now).embedded = embedded;
    }
    let terminal = session.terminals.get_mut(id)?;
    terminal.origin = TerminalOrigin::Told;
    Some(terminal)
}

/// What the agent says of a terminal of its own. One that no call shows stands by itself.
pub fn terminal(session: &mut Session, patch: TerminalPatch, cx: &mut Cx) {
    let Some(terminal) = own(session, &patch.id, cx.now) else { return };
    let before = terminal.text.len();
    patch.command.put(&mut terminal.command);
    patch.cwd.put(&mut terminal.cwd);
    patch.can_cancel.put(&mut terminal.can_cancel);
    if !patch.output.is_keep() {
        (terminal.text, terminal.utf8) = (TailBuffer::new(terminal.text.limit()), Utf8Stream::new());
    }
    let mut text = String::new();
    for bytes in patch.output.as_set().into_iter().chain([&patch.append]) {
        terminal.utf8.push(bytes, &mut text);
    }
    if patch.is_broken {
        text.push_str("\n[output that cannot be read is left out]\n");
    }
    terminal.text.push(&text);
    match patch.exit {
        Patch::Keep => {}
        Patch::Reset => (terminal.exit, terminal.ended) = (None, None),
        Patch::Set(exit) => (terminal.exit, terminal.ended) = (Some(exit), terminal.ended.or(Some(cx.now))),
    }
    let (after, is_over) = (terminal.text.len(), terminal.exit.is_some());
    let stands_alone = terminal.entry.is_none() && terminal.embedded.is_empty();
    session.fed = (session.fed + after).saturating_sub(before);
    if stands_alone {
        let entry = session.entries.push(session.last_turn, cx.now, Body::Terminal(patch.id.clone()));
        if let Some(terminal) = session.terminals.get_mut(&patch.id) {
            terminal.entry = Some(entry);
        }
    }
    if let Some(entry) = session.terminals.get(&patch.id).and_then(|terminal| terminal.entry).filter(|_| is_over) {
        session.entries.finish(entry);
    }
    touch(session, &patch.id);
}

/// Whatever shows a terminal is drawn anew.
fn touch(session: &mut Session, id: &TermId) {
    let Some(terminal) = session.terminals.get(id) else { return };
    let shown: Vec<EntryId> = terminal.embedded.iter().copied().chain(terminal.entry).collect();
    for entry in shown {
        session.entries.touch(entry);
    }
}

/// What the agent says of terminals of its own.
fn feed(session: &mut Session, meta: TerminalMeta, now: Now) {
    let mut changed: Vec<TermId> = Vec::new();
    if let Some((id, cwd)) = meta.info {
        if let (Some(terminal), Some(cwd)) = (own(session, &id, now), cwd) {
            terminal.cwd = cwd;
        }
        changed.push(id);
    }
    if let Some((id, text)) = meta.output {
        if let Some(terminal) = own(session, &id, now) {
            let before = terminal.text.len();
            terminal.text.push(&text);
            let after = terminal.text.len();
            session.fed = (session.fed + after).saturating_sub(before);
        }
        changed.push(id);
    }
    if let Some((id, exit)) = meta.exit {
        if let Some(terminal) = own(session, &id, now) {
            terminal.exit = Some(exit);
            terminal.ended = Some(now);
        }
        changed.push(id);
    }
    for id in changed {
        touch(session, &id);
    }
}
