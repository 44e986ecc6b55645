//! What threads tell the engine, with the address of the session that it is of.

use super::filing::FileJob;
use crate::host::pty::Registry;
use crate::model::event::HostEvent;
use crate::model::ids::{Address, SessionKey, TermId};
use crate::model::tool::Exit;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, mpsc};

#[derive(Debug)]
pub enum Fact {
    Host(Address, HostEvent),
    TerminalExit(TermId, Exit),
    /// A write that is to be begun once more.
    WriteAgain(FileJob),
    /// A write that was done, or not; with the other names that the file was written under.
    Written(SessionKey, HostEvent, Vec<PathBuf>),
}

/// Terminals that have something new to show.
pub(super) type Dirty = Arc<Mutex<BTreeSet<TermId>>>;

/// Where facts of the review go: to the session that is reviewed.
#[derive(Clone)]
pub(super) struct Facts {
    pub at: SessionKey,
    pub tx: mpsc::Sender<Fact>,
}

impl Facts {
    pub fn tell(&self, event: HostEvent) {
        // When the engine is gone nobody needs to know.
        let _ = self.tx.blocking_send(Fact::Host(self.at.into(), event));
    }
}

/// The terminals of an engine: what happens to them is told through `facts` and `dirty`.
pub(super) fn registry(
    shell: Option<String>,
    facts: &mpsc::Sender<Fact>,
    dirty: &Dirty,
    hint: &Arc<Notify>,
) -> Arc<Registry> {
    let (dirty, hint, facts) = (Arc::clone(dirty), Arc::clone(hint), facts.clone());
    let on_hint = move |id: &crate::host::pty::TermId| {
        dirty.lock().unwrap_or_else(PoisonError::into_inner).insert(TermId::from(id.0.as_str()));
        hint.notify_one();
    };
    let on_exit = move |id: &crate::host::pty::TermId, exit: Exit| {
        // Called on a thread of the terminal; when the engine is gone nobody needs to know.
        let _ = facts.blocking_send(Fact::TerminalExit(TermId::from(id.0.as_str()), exit));
    };
    Arc::new(Registry::new(shell, Arc::new(on_hint), Arc::new(on_exit)))
}
