//! What the person looks at: of each file the pair of states that is compared, and how that was shown.
//!
//! Reads contents, changes nothing. Invariant: what is pending stays as it was first shown until another author changes
//! the file, so that decided hunks stay in sight.

use super::doc::{self, DocCache, Of, Room};
use super::held_writes::HeldWrites;
use super::hold::HeldWrite;
use super::totals;
use crate::base::paths;
use crate::model::changes::{FileChange, FileDoc, Scope, Totals};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::Pair;
use crate::review::state::State;
use std::collections::{BTreeMap, HashMap, VecDeque};
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
        (scope, room): (Scope, Room),
        log: &ChangeLog,
        held: &HeldWrites,
        files: &mut Contents,
    ) -> Result<Vec<Arc<FileDoc>>, ReviewError> {
        let listed = self.listed(scope, log, held, files)?;
        self.docs.begin(room);
        // What an agent waits for has room before anything else.
        let (held, rest): (Vec<_>, Vec<_>) =
            listed.into_iter().enumerate().partition(|(_, one)| matches!(one, Listed::Held(_)));
        let mut docs = Vec::with_capacity(held.len() + rest.len());
        for (at, one) in held.into_iter().chain(rest) {
            let doc = self.doc(&one, files)?;
            let run = one.run_beside(log);
            docs.push((at, if run.is_some() { Arc::new(noted(Arc::unwrap_or_clone(doc), run)) } else { doc }));
        }
        docs.sort_by_key(|(at, _)| *at);
        Ok(docs.into_iter().map(|(_, doc)| doc).collect())
    }

    fn doc(&mut self, one: &Listed<'_>, files: &mut Contents) -> Result<Arc<FileDoc>, ReviewError> {
        Ok(match one {
            Listed::Changed(of) => self.docs.file(of.path, of.history, &of.pair, files)?,
            Listed::Renamed { from, to } => {
                let from = self.docs.outline(from.path, from.history, &from.pair, files)?;
                let to = self.docs.outline(to.path, to.history, &to.pair, files)?;
                Arc::new(doc::renamed(&from, &to))
            }
            Listed::Held(held) => {
                let of = held.shown();
                let doc = self.docs.file(of.path, of.history, &of.pair, files)?;
                Arc::new(held.marked(Arc::unwrap_or_clone(doc)))
            }
        })
    }

    /// The same one by one, each with all its hunks and without lines.
    pub fn each(
        &mut self,
        scope: Scope,
        log: &ChangeLog,
        held: &HeldWrites,
        files: &mut Contents,
        mut each: impl FnMut(&FileDoc, &Contents) -> Result<(), ReviewError>,
    ) -> Result<(), ReviewError> {
        for one in self.listed(scope, log, held, files)? {
            let doc = |of: &Of<'_>, files: &mut Contents| {
                doc::new_doc(of.path, of.history, &of.pair, files, &mut { Room::ONE_BY_ONE })
            };
            let doc = match &one {
                Listed::Changed(of) => doc(of, files)?,
                Listed::Renamed { from, to } => doc::renamed(&doc(from, files)?, &doc(to, files)?),
                Listed::Held(held) => held.marked(doc(&held.shown(), files)?),
            };
            each(&noted(doc, one.run_beside(log)), files)?;
        }
        Ok(())
    }

    /// The sums of it, without a document.
    pub fn totals(
        &mut self,
        scope: Scope,
        log: &ChangeLog,
        held: &HeldWrites,
        files: &mut Contents,
    ) -> Result<Totals, ReviewError> {
        let mut sum = Totals::default();
        for one in self.listed(scope, log, held, files)? {
            match &one {
                Listed::Changed(of) => totals::add(&mut sum, of.history, &of.pair, files)?,
                Listed::Held(held) => {
                    let of = held.shown();
                    totals::add(&mut sum, of.history, &of.pair, files)?;
                }
                Listed::Renamed { from, to } => {
                    let mut both = Totals::default();
                    totals::add(&mut both, from.history, &from.pair, files)?;
                    totals::add(&mut both, to.history, &to.pair, files)?;
                    sum.files += 1;
                    sum.pending += both.pending.min(1);
                }
            }
        }
        Ok(sum)
    }

    /// What a file is shown as renamed from.
    pub fn renamed_from(
        &mut self,
        path: &Path,
        scope: Scope,
        log: &ChangeLog,
        files: &mut Contents,
    ) -> Result<Option<PathBuf>, ReviewError> {
        let none = HeldWrites::default();
        let listed = self.listed(scope, log, &none, files)?;
        Ok(listed.into_iter().find_map(|one| match one {
            Listed::Renamed { from, to } if to.path == path => Some(from.path.to_owned()),
            _ => None,
        }))
    }

    /// What there is to look at, sorted by path.
    fn listed<'a>(
        &mut self,
        scope: Scope,
        log: &'a ChangeLog,
        held: &'a HeldWrites,
        files: &mut Contents,
    ) -> Result<Vec<Listed<'a>>, ReviewError> {
        let mut all = Vec::new();
        for (path, history) in log.histories() {
            let Some(pair) = self.pair(path, scope, log, files)? else { continue };
            all.push(Of { path, history, pair });
        }
        let mut listed = pair_renames(all);
        // Of several writes of one file the first is decided first.
        for held in held.newest_first() {
            match listed.binary_search_by(|one| paths::in_order(one.path(), &held.path)) {
                Ok(at) => listed[at] = Listed::Held(held),
                Err(at) => listed.insert(at, Listed::Held(held)),
            }
        }
        Ok(listed)
    }
}

/// What is shown as one file.
enum Listed<'a> {
    Changed(Of<'a>),
    Renamed { from: Of<'a>, to: Of<'a> },
    Held(&'a HeldWrite),
}

impl Listed<'_> {
    fn path(&self) -> &Path {
        match self {
            Self::Changed(of) | Self::Renamed { to: of, .. } => of.path,
            Self::Held(held) => &held.path,
        }
    }

    /// The other run that wrote it, in words.
    fn run_beside(&self, log: &ChangeLog) -> Option<String> {
        let (Self::Changed(of) | Self::Renamed { to: of, .. }) = self else { return None };
        of.history.is_beside_run(0).then(|| log.run_beside(of.path))
    }
}

/// With one thing more to say of it, first.
fn noted(doc: FileDoc, more: Option<String>) -> FileDoc {
    let note = more.into_iter().chain(doc.note).reduce(|more, note| format!("{more}; {note}"));
    FileDoc { note, ..doc }
}

/// Pairs of files of which one went and one came with the same content are shown as one. Sorted by path.
fn pair_renames(all: Vec<Of<'_>>) -> Vec<Listed<'_>> {
    let mut gone: HashMap<State, VecDeque<Of<'_>>> = HashMap::new();
    let change = |of: &Of<'_>| doc::change_of(&of.pair.old, &of.pair.new);
    let (left, rest): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|of| change(of) == FileChange::Deleted && of.pair.old.oid().is_some() && !is_empty(&of.pair.old));
    for of in left {
        gone.entry(of.pair.old).or_default().push_back(of);
    }
    let mut listed = Vec::new();
    for to in rest {
        let twin = if change(&to) == FileChange::Created { gone.get_mut(&to.pair.new) } else { None };
        listed.push(match twin.and_then(VecDeque::pop_front) {
            Some(from) => Listed::Renamed { from, to },
            None => Listed::Changed(to),
        });
    }
    listed.extend(gone.into_values().flatten().map(Listed::Changed));
    listed.sort_by(|a, b| paths::in_order(a.path(), b.path()));
    listed
}

const fn is_empty(state: &State) -> bool {
    matches!(state, State::File { size: 0, .. } | State::Link { size: 0, .. })
}
