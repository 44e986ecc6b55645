//! What threads tell the engine, with the address of the session that it is of.

use super::file_job::WriteJob;
use crate::host::process;
use crate::mcp::Found;
use crate::model::event::{HostEvent, Link};
use crate::model::history::Left;
use crate::model::ids::{Address, Addressed, SessionKey, TermId};
use crate::model::tool::Exit;
use std::io;
use std::path::PathBuf;
use tokio::sync::mpsc;

const NO_GUARD: &str = "the guard of this acp-tui was ended, and so was each that took its place: should acp-tui be killed as well, what it has started goes on \
    and the terminal stays as it is; then `acp-tui ps` and `acp-tui reset` help";

#[derive(Debug)]
pub enum Fact {
    Host(Address, HostEvent),
    TerminalExit(TermId, Exit),
    /// A write that is to be begun once more.
    WriteAgain(WriteJob),
    /// Entries that have left memory, or could not.
    Moved(SessionKey, io::Result<Vec<Left>>),
    /// The files that a prompt names have been read, or cannot go along with it.
    Attached(SessionKey, String, Result<Vec<Link>, String>),
    /// What is found for a call that waits for its servers, by its number.
    Servers(SessionKey, u64, Found),
    /// A write that was done, or not; with the other names that the file was written under.
    Written(SessionKey, HostEvent, Vec<PathBuf>),
}

/// Where threads put their facts.
#[derive(Clone, Debug)]
pub(super) struct Facts(pub mpsc::Sender<Fact>);

impl Facts {
    pub fn tell(&self, at: SessionKey, event: HostEvent) {
        self.send(Fact::Host(at.into(), event));
    }

    /// From the loop: tells it from a thread, as the loop must not wait for itself.
    pub fn later(&self, at: Address, event: HostEvent) {
        let facts = self.clone();
        tokio::task::spawn_blocking(move || facts.send(Fact::Host(at, event)));
    }

    /// Keeps a guard, and tells when there is none any more.
    pub fn keep_guard(&self) {
        let facts = self.clone();
        process::keep_guard(move || {
            let message = NO_GUARD.to_owned();
            facts.send(Fact::Host(Address::All, HostEvent::Warning { message }));
        });
    }

    /// Tells it from a task. Whether somebody is there who may hear it.
    pub async fn hears(&self, at: Address, event: HostEvent) -> bool {
        self.0.send(Fact::Host(at, event)).await.is_ok()
    }

    /// Waits for room; not for the loop.
    pub fn send(&self, fact: Fact) {
        // When the engine is gone the fact is dropped.
        let _ = self.0.blocking_send(fact);
    }
}

/// What a part has to tell the model, in order.
pub(super) type Told = Vec<Addressed<HostEvent>>;
