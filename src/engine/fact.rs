//! What threads tell the engine, with the address of the session that it is of.

use super::filing::FileJob;
use crate::model::event::HostEvent;
use crate::model::history::Left;
use crate::model::ids::{Address, SessionKey, TermId};
use crate::model::tool::Exit;
use std::io;
use std::path::PathBuf;
use tokio::sync::mpsc;

#[derive(Debug)]
pub enum Fact {
    Host(Address, HostEvent),
    TerminalExit(TermId, Exit),
    /// A write that is to be begun once more.
    WriteAgain(FileJob),
    /// Entries that have left memory, or could not.
    Moved(SessionKey, io::Result<Vec<Left>>),
    /// A write that was done, or not; with the other names that the file was written under.
    Written(SessionKey, HostEvent, Vec<PathBuf>),
}

/// Where facts of a review go.
#[derive(Clone)]
pub(super) struct Facts(pub mpsc::Sender<Fact>);

impl Facts {
    pub fn tell(&self, at: SessionKey, event: HostEvent) {
        // When the engine is gone nobody needs to know.
        let _ = self.0.blocking_send(Fact::Host(at.into(), event));
    }
}
