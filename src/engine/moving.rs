//! Entries that the model lets go of, to a file and back.
//!
//! Decides nothing. Where the file cannot be made or written any more, the model is told so and keeps what it has.

use super::run::Engine;
use crate::model::event::Hint;
use crate::model::history::{History, Left, NoHistory};
use crate::model::ids::{EntryId, SessionKey};
use crate::store::history::HistoryFile;
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

    pub(super) fn move_out(&mut self, at: SessionKey, ids: &[EntryId]) {
        let hint = match self.write_entries(at, ids) {
            Ok(left) => Hint::Left(left),
            Err(error) => {
                warn!(%error, "entries stay in memory");
                Hint::Stay
            }
        };
        let now = self.now();
        self.core.hint(at, hint, now);
    }

    fn write_entries(&mut self, at: SessionKey, ids: &[EntryId]) -> io::Result<Vec<Left>> {
        let file = if let Some(file) = &self.moving.file {
            Arc::clone(file)
        } else {
            let dir = self.config.journals.clone().unwrap_or_else(std::env::temp_dir);
            let file = Arc::new(HistoryFile::create(&dir, &format!("{}.transcript", self.stem.name()))?);
            self.moving.file = Some(Arc::clone(&file));
            self.core.read_from(Arc::clone(&file) as Arc<dyn History>);
            file
        };
        let Some(session) = self.core.model.session_of(at) else { return Ok(Vec::new()) };
        let entries = || ids.iter().filter_map(|id| session.entries().get(*id));
        let (spans, end) = file.write(self.moving.end, entries())?;
        self.moving.end = end;
        Ok(entries().zip(spans).map(|(entry, span)| Left { id: entry.id, rev: entry.rev, span }).collect())
    }
}
