//! The terminals of all sessions: their host, those that have something new to show, and those that are being started.
//!
//! Knows no session. Invariant: the end of a terminal is never told before its start, although the two come from
//! different threads.

use super::fact::Fact;
use crate::host::pty::{self, Registry};
use crate::model::ids::TermId;
use crate::model::tool::Exit;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, mpsc};

type Dirty = Arc<Mutex<BTreeSet<TermId>>>;

pub(super) struct Terminals {
    host: Arc<Registry>,
    /// Those that have something new to show.
    dirty: Dirty,
    /// The one that was shown last.
    shown: TermId,
    /// How many are being started.
    starting: usize,
    /// Ends that were told before their starts.
    early_exits: BTreeMap<TermId, Exit>,
}

impl Terminals {
    /// What happens to them is told through `facts` and `hint`.
    pub fn new(shell: Option<String>, facts: &mpsc::Sender<Fact>, hint: &Arc<Notify>) -> Self {
        let dirty = Dirty::default();
        let (noted, hint, facts) = (Arc::clone(&dirty), Arc::clone(hint), facts.clone());
        let on_hint = move |id: &pty::TermId| {
            noted.lock().unwrap_or_else(PoisonError::into_inner).insert(TermId::from(id.0.as_str()));
            hint.notify_one();
        };
        let on_exit = move |id: &pty::TermId, exit: Exit| {
            // Called on a thread of the terminal; when the engine is gone nobody needs to know.
            let _ = facts.blocking_send(Fact::TerminalExit(TermId::from(id.0.as_str()), exit));
        };
        let host = Arc::new(Registry::new(shell, Arc::new(on_hint), Arc::new(on_exit)));
        Self { host, dirty, shown: TermId::from(""), starting: 0, early_exits: BTreeMap::new() }
    }

    /// For threads that start and end them.
    pub fn host(&self) -> &Arc<Registry> {
        &self.host
    }

    /// One that has something new to show, in turn.
    pub fn next_dirty(&mut self) -> Option<TermId> {
        let mut dirty = self.dirty.lock().unwrap_or_else(PoisonError::into_inner);
        let behind = (Bound::Excluded(&self.shown), Bound::Unbounded);
        let next = dirty.range(behind).next().or_else(|| dirty.first())?.clone();
        dirty.remove(&next);
        self.shown = next.clone();
        Some(next)
    }

    /// Whether any has something new to show.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// False: as many are being started as may run.
    pub fn begin_start(&mut self) -> bool {
        let has_room = self.starting < pty::MAX_RUNNING;
        self.starting += usize::from(has_room);
        has_room
    }

    /// A start has come about, or not. Gives the end of the terminal if that is known already; the start is to be
    /// applied before it.
    pub fn end_start(&mut self, started: Option<&TermId>) -> Option<Exit> {
        self.starting = self.starting.saturating_sub(1);
        let exit = started.and_then(|id| self.early_exits.remove(id));
        if self.starting == 0 {
            self.early_exits.clear();
        }
        exit
    }

    /// The end of a terminal. Nothing when its start has to come first.
    pub fn exited(&mut self, id: TermId, exit: Exit, is_known: bool) -> Option<(TermId, Exit)> {
        if self.starting > 0 && !is_known {
            self.early_exits.insert(id, exit);
            return None;
        }
        Some((id, exit))
    }

    pub fn input(&self, id: &TermId, bytes: &[u8]) -> bool {
        self.host.input(&host_id(id), bytes)
    }

    pub fn output(&self, id: &TermId) -> Option<pty::Output> {
        self.host.output(&host_id(id))
    }

    /// What it has printed: the kept output, else what its screen shows.
    pub fn end_of(&self, id: &TermId) -> String {
        let screen = || {
            let screen = self.host.snapshot(&host_id(id))?;
            Some(screen.rows.iter().map(|r| r.as_str()).collect::<Vec<_>>().join("\n"))
        };
        self.output(id).map(|o| o.text).or_else(screen).unwrap_or_default()
    }

    pub fn kill(&self, id: &TermId) {
        self.host.kill(&host_id(id));
    }

    pub fn release(&self, id: &TermId) {
        self.host.release(&host_id(id));
    }
}

/// The host's name of a terminal of ours.
pub(super) fn host_id(id: &TermId) -> pty::TermId {
    pty::TermId(id.as_str().to_owned())
}
