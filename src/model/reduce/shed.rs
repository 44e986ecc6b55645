//! What goes when there is too much of it: the oldest entries, and terminals of the agent's own that nobody needs.
//!
//! Cheap as long as nothing is over its bound. Invariant: no question stays open whose entry is gone, so nothing is
//! answered that cannot be seen.

use super::super::Model;
use super::super::effect::Effect;
use super::super::entry::{Body, Level, Notice};
use super::super::ids::{EntryId, Now, TermId};
use super::super::session::TerminalOrigin;
use super::permission;

/// Terminals that are known by name, beside those that run.
const MAX_TERMINALS: usize = 4096;
/// Bytes of the texts that the agent has fed to terminals of its own.
const MAX_FED: usize = 32 << 20;

pub fn shed(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    if model.entries.is_over() {
        entries(model, now, out);
    }
    if model.terminals.len() > MAX_TERMINALS || model.fed > MAX_FED {
        terminals(model);
    }
}

fn entries(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    for (id, entry) in model.entries.shed() {
        if model.newest_tool.get(&id) == Some(&entry) {
            model.newest_tool.remove(&id);
        }
    }
    // The first one that is kept is the line that says so.
    let kept = |id: EntryId| id.0 > model.entries.gone();
    if model.plan.is_some_and(|id| !kept(id)) {
        model.plan = None;
    }
    let (seen, lost) = std::mem::take(&mut model.session.pending).into_iter().partition(|p| kept(p.entry));
    model.session.pending = seen;
    let lost: Vec<_> = lost;
    for pending in lost {
        permission::close(model, &pending, "too much came after it", now, out);
    }
}

/// The oldest half of those that do not run goes; their entries say that there is no output any more.
fn terminals(model: &mut Model) {
    let done = |t: &&super::super::session::Terminal| !t.is_running() && t.waiters.is_empty();
    let mut old: Vec<(Now, TermId)> =
        model.terminals.values().filter(done).map(|t| (t.started, t.id.clone())).collect();
    old.sort_unstable();
    for (_, id) in old.iter().take(old.len().div_ceil(2)) {
        let Some(gone) = model.terminals.remove(id) else { continue };
        if let Some(own) = gone.entry.filter(|_| gone.embedded.is_empty()) {
            let how = gone.exit.as_ref().map_or_else(|| "ended".to_owned(), ToString::to_string);
            let title = format!("ran {} ({how}); its output is left out here to save memory", gone.command);
            let body = Body::Notice(Notice { level: Level::Info, title, detail: Vec::new() });
            model.entries.change(own, |e| e.body = body);
        }
        for entry in &gone.embedded {
            model.entries.touch(*entry);
        }
    }
    let fed = model.terminals.values().filter(|t| t.origin == TerminalOrigin::Meta);
    model.fed = fed.map(|t| t.text.len()).sum();
}

#[cfg(test)]
#[path = "shed_tests.rs"]
mod tests;
