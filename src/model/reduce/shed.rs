//! What goes when there is too much of it: the oldest entries, and terminals of the agent's own that nothing refers to.
//!
//! Cheap as long as nothing is over its bound. Invariant: no question stays open whose entry is gone, so nothing is
//! answered that cannot be seen.

use super::super::effect::Withdrawal;
use super::super::entry::{Body, Level, Notice};
use super::super::ids::{EntryId, Now, TermId};
use super::super::session::Session;
use super::super::terminal::TerminalOrigin;
use super::Cx;
use super::permission;

/// Terminals that are known by name, beside those that run.
const MAX_TERMINALS: usize = 4096;
/// Bytes of the texts that the agent has fed to terminals of its own.
const MAX_FED: usize = 32 << 20;

pub fn shed(session: &mut Session, cx: &mut Cx) {
    if session.entries.is_over() {
        entries(session, cx);
    }
    // The oldest may be none of those that were fed.
    while (session.terminals.len() > MAX_TERMINALS || session.fed > MAX_FED) && terminals(session) {}
}

fn entries(session: &mut Session, cx: &mut Cx) {
    session.entries.shed();
    // The first one that is kept is the line that says so.
    let gone = session.entries.gone();
    let kept = |id: EntryId| id.0 > gone;
    session.newest_tool.retain(|_, entry| kept(*entry));
    session.plans.retain(|_, id| kept(*id));
    session.messages.retain(|_, id| kept(*id));
    let (seen, lost) = std::mem::take(&mut session.questions).into_iter().partition(|p| kept(p.entry));
    session.questions = seen;
    let lost: Vec<_> = lost;
    for pending in lost {
        permission::close(session, &pending, Withdrawal::OutOfSight, cx);
    }
}

/// The oldest half of those that do not run goes; their entries say that there is no output any more. False: all run.
fn terminals(session: &mut Session) -> bool {
    let done = |t: &&super::super::terminal::Terminal| !t.is_running() && t.waiters.is_empty();
    let mut old: Vec<(Now, TermId)> =
        session.terminals.values().filter(done).map(|t| (t.started, t.id.clone())).collect();
    old.sort_unstable();
    for (_, id) in old.iter().take(old.len().div_ceil(2)) {
        let Some(gone) = session.terminals.remove(id) else { continue };
        if let Some(own) = gone.entry.filter(|_| gone.embedded.is_empty()) {
            let how = gone.exit.as_ref().map_or_else(|| "ended".to_owned(), ToString::to_string);
            let title = format!("ran {} ({how}); its output is left out here to save memory", gone.command);
            let body = Body::Notice(Notice::new(Level::Info, title, Vec::new()));
            session.entries.change(own, |e| e.body = body);
        }
        for entry in &gone.embedded {
            session.entries.touch(*entry);
        }
    }
    let fed = session.terminals.values().filter(|t| t.origin == TerminalOrigin::Told);
    session.fed = fed.map(|t| t.text.len()).sum();
    !old.is_empty()
}

#[cfg(test)]
#[path = "shed_tests.rs"]
mod tests;
