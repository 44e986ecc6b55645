//! What the person looks at: of each file the pair of states that is compared, and how that was shown.
//!
//! Reads contents, changes nothing. Invariant: what is pending stays as it was first shown until another author changes
//! the file, so that decided hunks stay in sight.

use super::doc::{self, DocCache};
use super::held_writes::HeldWrites;
use crate::base::paths;
use crate::model::changes::{FileDoc, Scope};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::Pair;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Default)]
pub struct ShownDocs {
    docs: DocCache,
    /// What is pending, from when it was first shown.
    pending: BTreeMap<PathBuf, Pair>,
}

impl ShownDocs {
    /// The review is not on the screen any more.
    pub fn clear(&mut self) {
        self.pending.clear();
        self.docs.clear();
    }

    /// What became of a held write stays in sight where it was decided.
    pub fn keep_in_sight(&mut self, path: PathBuf, pair: Pair) {
        self.pending.insert(path, pair);
    }

    /// The pair of states that is shown of a file.
    pub fn pair(
        &mut self,
        path: &Path,
        scope: Scope,
        log: &ChangeLog,
        files: &mut Contents,
    ) -> Result<Option<Pair>, ReviewError> {
        let Some(history) = log.history(path) else { return Ok(None) };
        if scope != Scope::Pending {
            return history.pair(scope, files);
        }
        if let Some(pair) = self.pending.get(path) {
            let later = history.steps.get(pair.upto..).unwrap_or_default();
            if later.iter().all(|s| s.decided) {
                return Ok(Some(pair.clone()));
            }
        }
        let pair = history.pair(scope, files)?;
        match &pair {
            Some(pair) => self.pending.insert(path.to_owned(), pair.clone()),
            None => self.pending.remove(path),
        };
        Ok(pair)
    }

    /// All files there are to look at, held writes among them, sorted by path.
    pub fn files(
        &mut self,
        scope: Scope,
        log: &ChangeLog,
        held: &HeldWrites,
        files: &mut Contents,
    ) -> Result<Vec<Arc<FileDoc>>, ReviewError> {
        self.docs.begin();
        let mut docs = Vec::new();
        for (path, history) in log.histories() {
            let Some(pair) = self.pair(path, scope, log, files)? else { continue };
            docs.push((self.docs.file(path, history, &pair, files)?, pair));
        }
        let mut shown = doc::pair_renames(docs);
        // Of several writes of one file the first is decided first.
        for held in held.newest_first() {
            let doc = held.doc(&mut self.docs, files)?;
            match shown.binary_search_by(|f| paths::in_order(&f.path, &doc.path)) {
                Ok(at) => shown[at] = Arc::new(doc),
                Err(at) => shown.insert(at, Arc::new(doc)),
            }
        }
        Ok(shown)
    }
}
