//! Entries that the model lets go of, to a file and back.
//!
//! Decides nothing. What leaves is copied here and written elsewhere, so that a slow disk delays no key; until it is
//! written it stays in memory. Invariants: one write is under way at a time; where the file cannot be made or written any
//! more, the model is told so and keeps what it has.

use super::fact::Fact;
use super::run::Engine;
use crate::model::event::Hint;
use crate::model::history::{History, Left, NoHistory};
use crate::model::ids::{EntryId, SessionKey};
use crate::store::history::{HistoryFile, Packed};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use tracing::warn;

/// Where entries go that leave memory.
#[derive(Debug, Default)]
pub struct Moving {
    /// Made when the first of them leave.
    file: Option<Arc<HistoryFile>>,
    /// What of the file is taken.
    end: u64,
    is_writing: bool,
    /// What is to be written next.
    waiting: VecDeque<(SessionKey, Vec<EntryId>)>,
}

impl Engine {
    /// From now on old entries leave memory. Who shows them reads them by [`Self::history`].
    pub fn keep_little_in_memory(&mut self) {
        self.core.model.set_history(true);
    }

    pub fn history(&self) -> &dyn History {
        match &self.moving.file {
            Some(file) => &**file,
            None => &NoHistory,
        }
    }

    pub(super) fn move_out(&mut self, at: SessionKey, ids: Vec<EntryId>) {
        self.moving.waiting.push_back((at, ids));
        self.move_next();
    }

    /// Entries were written, or could not be.
    pub(super) fn moved(&mut self, at: SessionKey, result: io::Result<Vec<Left>>) {
        self.moving.is_writing = false;
        let hint = match result {
            Ok(left) => Hint::Left(left),
            Err(error) => {
                warn!(%error, "entries stay in memory");
                Hint::Stay
            }
        };
        let now = self.now();
        self.core.hint(at, hint, now);
        self.move_next();
    }

    fn move_next(&mut self) {
        if self.moving.is_writing {
            return;
        }
        let Some((at, ids)) = self.moving.waiting.pop_front() else { return };
        let packed = self.history_file().and_then(|file| Ok((Arc::clone(&file), self.pack(&file, at, &ids)?)));
        self.moving.is_writing = true;
        let facts = self.facts_tx.clone();
        match packed {
            Ok((file, (packed, left))) => {
                self.moving.end = packed.end();
                tokio::task::spawn_blocking(move || {
                    let result = file.write(&packed).map(|()| left);
                    // When the engine is gone nobody needs to know.
                    let _ = facts.blocking_send(Fact::Moved(at, result));
                });
            }
            Err(error) => self.moved(at, Err(error)),
        }
    }

    fn history_file(&mut self) -> io::Result<Arc<HistoryFile>> {
        if let Some(file) = &self.moving.file {
            return Ok(Arc::clone(file));
        }
        let dir = self.config.journals.clone().unwrap_or_else(std::env::temp_dir);
        let file = Arc::new(HistoryFile::create(&dir, &format!("{}.transcript", self.stem.name()))?);
        self.moving.file = Some(Arc::clone(&file));
        self.core.read_from(Arc::clone(&file) as Arc<dyn History>);
        Ok(file)
    }

    fn pack(&self, file: &HistoryFile, at: SessionKey, ids: &[EntryId]) -> io::Result<(Packed, Vec<Left>)> {
        let session = self.core.model.session_of(at);
        let entries = || ids.iter().filter_map(|id| session?.entries().get(*id));
        let packed = file.pack(self.moving.end, entries())?;
        let left =
            entries().zip(packed.spans()).map(|(entry, span)| Left { id: entry.id, rev: entry.rev, span: *span });
        let left = left.collect();
        Ok((packed, left))
    }
}
