//! Tool calls and the terminals they show: upserts from three sources, in any order (fact 1).

use super::super::Model;
use super::super::effect::Effect;
use super::super::entry::Body;
use super::super::ids::{EntryId, Now, ReqId, TermId};
use super::super::session::{Terminal, TerminalOrigin};
use super::super::tool::{Announced, Mark, TerminalMeta, ToolCall, ToolPatch};
use super::{permission, review};

/// Calls that show one terminal and are drawn anew with it: the newest.
const MAX_EMBEDDED: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Call,
    Update,
    Permission,
}

/// Merges a message into the newest call with its id, or opens a new entry: for an id not yet seen, and for an
/// announcement of an id that belongs to an earlier turn.
pub fn upsert(model: &mut Model, patch: ToolPatch, source: Source, now: Now, out: &mut Vec<Effect>) -> EntryId {
    if let Some(turn) = &mut model.session.turn {
        turn.spoke = true;
    }
    let meta = patch.terminal.clone();
    let diffs_changed = patch.content.is_some();
    let says_what = diffs_changed || patch.status.is_some() || patch.kind.is_some() || patch.locations.is_some();
    let known = model
        .newest_tool
        .get(&patch.id)
        .copied()
        .filter(|id| source == Source::Update || model.entries.get(*id).is_some_and(|e| e.turn == model.last_turn));
    let entry = if let Some(id) = known {
        let announced = if source == Source::Update { Announced::No } else { Announced::Again };
        model.entries.change(id, |e| {
            if let Body::Tool(tool) = &mut e.body {
                tool.apply(patch, announced, now);
                e.finished |= tool.is_settled();
            }
        });
        id
    } else {
        let id = patch.id.clone();
        let mut tool = ToolCall::new(id.clone(), now);
        tool.apply(patch, Announced::No, now);
        if model.session.turn.is_none() && !tool.status.is_final() {
            tool.mark = Some(Mark::NoFinalStatus);
        }
        if model.session.turn.as_ref().is_some_and(|t| t.cancelling.is_some()) && !tool.status.is_final() {
            tool.mark = Some(Mark::Cancelled);
        }
        let settled = tool.is_settled();
        let entry = model.entries.push(model.last_turn, now, Body::Tool(Box::new(tool)));
        if settled {
            model.entries.finish(entry);
        }
        model.newest_tool.insert(id, entry);
        entry
    };
    feed(model, meta, now);
    embed(model, entry, now);
    if says_what || known.is_none() {
        review::tool(model, entry, out);
    }
    if source != Source::Permission && model.tool(entry).is_some_and(|tool| tool.cut) {
        permission::close_about(model, entry, "what is asked about has become too large to be shown", now, out);
    }
    if diffs_changed {
        // The person is asked about other diffs now.
        let asked: Vec<ReqId> = model.session.pending.iter().filter(|p| p.entry == entry).map(|p| p.req).collect();
        for req in asked {
            review::ask_truth(model, req, out);
        }
    }
    entry
}

/// Terminals that the call shows know it; one that nobody created is kept by its id (fact 4).
fn embed(model: &mut Model, entry: EntryId, now: Now) {
    let shown: Vec<TermId> = model.tool(entry).map(|t| t.terminals().cloned().collect()).unwrap_or_default();
    for id in shown {
        let terminal = ensure(model, &id, TerminalOrigin::Unknown, now);
        if terminal.embedded.contains(&entry) {
            continue;
        }
        if terminal.embedded.len() >= MAX_EMBEDDED {
            terminal.embedded.remove(0);
        }
        terminal.embedded.push(entry);
        if let Some(own) = terminal.entry {
            model.entries.touch(own);
        }
    }
}

fn ensure<'a>(model: &'a mut Model, id: &TermId, origin: TerminalOrigin, now: Now) -> &'a mut Terminal {
    let turn = model.last_turn;
    let terminal = model.terminals.entry(id.clone()).or_insert_with(|| Terminal::new(id.clone(), origin, turn, now));
    if terminal.origin == TerminalOrigin::Unknown && origin == TerminalOrigin::Meta {
        terminal.origin = TerminalOrigin::Meta;
    }
    terminal
}

/// What `_meta` says of terminals. It never writes into one of ours.
fn feed(model: &mut Model, meta: TerminalMeta, now: Now) {
    let mut changed: Vec<TermId> = Vec::new();
    if let Some((id, cwd)) = meta.info {
        let terminal = ensure(model, &id, TerminalOrigin::Meta, now);
        if let Some(cwd) = cwd.filter(|_| terminal.origin == TerminalOrigin::Meta) {
            terminal.cwd = cwd;
        }
        changed.push(id);
    }
    if let Some((id, text)) = meta.output {
        let terminal = ensure(model, &id, TerminalOrigin::Meta, now);
        if terminal.origin == TerminalOrigin::Meta {
            let before = terminal.text.len();
            terminal.text.push(&text);
            let after = terminal.text.len();
            model.fed = (model.fed + after).saturating_sub(before);
        }
        changed.push(id);
    }
    if let Some((id, exit)) = meta.exit {
        let terminal = ensure(model, &id, TerminalOrigin::Meta, now);
        if terminal.origin == TerminalOrigin::Meta {
            terminal.exit = Some(exit);
            terminal.ended = Some(now);
        }
        changed.push(id);
    }
    for id in changed {
        let shown: Vec<EntryId> = model.terminals.get(&id).map(|t| t.embedded.clone()).unwrap_or_default();
        for entry in shown {
            model.entries.touch(entry);
        }
    }
}
