//! Entries that the model lets go of, to a file and back.
//!
//! Decides nothing. What leaves is copied here and written elsewhere, so that a slow disk delays no key; until it is
//! written it stays in memory. Invariants: one write is under way at a time; where the file cannot be made or written any
//! more, the model is told so and keeps what it has.

use super::core::Core;
use super::fact::{Fact, Facts};
use super::run_name::RunName;
use crate::model::entries::size_of_entry;
use crate::model::event::Hint;
use crate::model::history::{History, Left, NoHistory};
use crate::model::ids::{EntryId, Now, SessionKey};
use crate::store::history::{HistoryFile, Packed};
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tracing::warn;

/// Where entries go that leave memory.
#[derive(Debug)]
pub(super) struct Moving {
    dir: Option<PathBuf>,
    stem: RunName,
    /// Made when the first of them leave.
    file: Option<Arc<HistoryFile>>,
    /// What of the file is taken.
    end: u64,
    is_writing: bool,
    /// What is to be written next.
    waiting: VecDeque<(SessionKey, Vec<EntryId>)>,
    /// Of what is being written and is to be, about.
    bytes: VecDeque<usize>,
    facts: Facts,
}

impl Moving {
    /// The file is made below `dir`.
    pub fn new(dir: Option<PathBuf>, stem: RunName, facts: &Facts) -> Self {
        let (waiting, bytes) = (VecDeque::new(), VecDeque::new());
        Self { dir, stem, file: None, end: 0, is_writing: false, waiting, bytes, facts: facts.clone() }
    }

    /// Where entries are read that have left memory.
    pub fn history(&self) -> &dyn History {
        match &self.file {
            Some(file) => &**file,
            None => &NoHistory,
        }
    }

    /// Of entries that are in memory only until they are written.
    pub fn bytes(&self) -> usize {
        self.bytes.iter().sum()
    }

    pub fn move_out(&mut self, at: SessionKey, ids: Vec<EntryId>, core: &mut Core, now: Now) {
        let session = core.model().session_of(at);
        let entries = ids.iter().filter_map(|id| session?.entries().get(*id));
        self.bytes.push_back(entries.map(|entry| size_of_entry(&entry.body)).sum());
        self.waiting.push_back((at, ids));
        self.move_next(core, now);
    }

    /// Entries were written, or could not be.
    pub fn moved(&mut self, at: SessionKey, result: io::Result<Vec<Left>>, core: &mut Core, now: Now) {
        self.is_writing = false;
        self.bytes.pop_front();
        let hint = match result {
            Ok(left) => Hint::Left(left),
            Err(error) => {
                warn!(%error, "entries stay in memory");
                Hint::Stay
            }
        };
        core.hint(at, hint, now);
        self.move_next(core, now);
    }

    fn move_next(&mut self, core: &mut Core, now: Now) {
        if self.is_writing {
            return;
        }
        let Some((at, ids)) = self.waiting.pop_front() else { return };
        let packed = self.file(core).and_then(|file| Ok((Arc::clone(&file), self.pack(&file, core, at, &ids)?)));
        self.is_writing = true;
        match packed {
            Ok((file, (packed, left))) => {
                self.end = packed.end();
                let facts = self.facts.clone();
                tokio::task::spawn_blocking(move || {
                    let result = file.write(&packed).map(|()| left);
                    facts.send(Fact::Moved(at, result));
                });
            }
            Err(error) => self.moved(at, Err(error), core, now),
        }
    }

    fn file(&mut self, core: &mut Core) -> io::Result<Arc<HistoryFile>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let dir = self.dir.clone().unwrap_or_else(std::env::temp_dir);
        let file = Arc::new(HistoryFile::create(&dir, &format!("{}.transcript", self.stem.name()))?);
        self.file = Some(Arc::clone(&file));
        core.read_from(Arc::clone(&file) as Arc<dyn History>);
        Ok(file)
    }

    fn pack(
        &self,
        file: &HistoryFile,
        core: &Core,
        at: SessionKey,
        ids: &[EntryId],
    ) -> io::Result<(Packed, Vec<Left>)> {
        let session = core.model().session_of(at);
        let entries = || ids.iter().filter_map(|id| session?.entries().get(*id));
        let packed = file.pack(self.end, entries())?;
        let left =
            entries().zip(packed.spans()).map(|(entry, span)| Left { id: entry.id, rev: entry.rev, span: *span });
        let left = left.collect();
        Ok((packed, left))
    }
}
