//! What the person wants of a review, carried out.
//!
//! The rest of [`ReviewSession`]: documents, decisions, undo, rewinds, held writes. Invariants: each file is written as a
//! whole or not at all, only when it still is what was decided about, and only after the ledger has it.

use super::ReviewSession;
use super::only_copies::For;
use super::write_many::Carried;
use crate::base::{human, paths};
use crate::model::changes::{Cause, HunkId, HunkState, ReviewAction, ReviewDoc, Scope, Target, Totals, Verdict};
use crate::model::ids::{EntryId, ReqId};
use crate::review::decide::doc;
use crate::review::decide::hold::HeldWrite;
use crate::review::decide::parts::Chosen;
use crate::review::decide::verdict::{FileCase, OnConflict, Selection};
use crate::review::error::ReviewError;
use crate::review::history::file_history::Pair;
use crate::review::history::ledger::{ChangeRecord, Decision, DecisionKey, FileDecision};
use crate::review::protocol::{Done, Proposal, Released};
use crate::review::state::State;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a decision is: asked for by the person, or one that takes another back or does it again.
pub(super) enum Why {
    Asked(Option<DecisionKey>),
    Toggles(u64),
}

/// Bytes of a difference that goes into an answer to the agent.
const MAX_DIFFERENCE: usize = 8 << 10;
/// How often a held write is merged with what is saved meanwhile, before the person is asked again.
const RELEASES: usize = 4;

impl ReviewSession {
    /// The person looks: what is decided from now on stays in sight until [`ReviewSession::stop_looking`].
    pub fn stop_looking(&mut self) {
        self.shown_pending.clear();
        self.docs.clear();
    }

    /// What an undo would take back: in words, and the turn when it is a rewind to before one.
    pub fn newest_decision(&self) -> Option<(&str, Option<u64>)> {
        let decision = self.undo_log.undoable()?;
        let turn = match decision.key {
            Some(DecisionKey::Rewind { turn }) => Some(turn),
            _ => None,
        };
        Some((&decision.words, turn))
    }

    /// What there is to look at; reads the files in question again.
    pub fn doc(&mut self, scope: Scope) -> Result<ReviewDoc, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| review.doc_of(scope))
    }

    fn doc_of(&mut self, scope: Scope) -> Result<ReviewDoc, ReviewError> {
        self.docs.begin();
        let mut docs = Vec::new();
        let paths: Vec<PathBuf> = self.histories.keys().cloned().collect();
        for path in paths {
            let Some(pair) = self.pair(&path, scope)? else { continue };
            let Some(history) = self.histories.get(&path) else { continue };
            docs.push((self.docs.file(&path, history, &pair, &mut self.files)?, pair));
        }
        let mut files = doc::pair_renames(docs);
        // Of several writes of one file the first is decided first.
        for held in self.held.iter().rev() {
            let doc = held.doc(&mut self.docs, &mut self.files)?;
            match files.binary_search_by(|f| f.path.cmp(&doc.path)) {
                Ok(at) => files[at] = Arc::new(doc),
                Err(at) => files.insert(at, Arc::new(doc)),
            }
        }
        let states = || files.iter().flat_map(|f| &f.hunks).map(|h| h.state);
        let all = states().count() as u64;
        let pending = states().filter(|s| *s == HunkState::Pending).count() as u64;
        let mut totals = Totals { pending, files: files.len() as u64, ..Default::default() };
        for file in &files {
            totals.added += file.added;
            totals.removed += file.removed;
        }
        Ok(ReviewDoc {
            rev: self.rev,
            scope,
            turns: self.turns_that_changed(),
            files,
            totals,
            decided: (all - pending, all),
            uncovered: self.uncovered(),
            undo: match self.held.iter().rev().find(|h| h.is_touched()) {
                Some(held) => Some(format!("a decision on the held write of {}", shown(&held.path))),
                None => self.undo_log.undoable().map(|act| act.words.clone()),
            },
            redo: match self.held.iter().rev().find(|h| h.is_undone()) {
                Some(held) => Some(format!("a decision on the held write of {}", shown(&held.path))),
                None => self.undo_log.redoable().map(|act| act.words.clone()),
            },
        })
    }

    /// The pair of states that the review shows of a file. What is pending stays as it was first shown until somebody
    /// else changes the file.
    fn pair(&mut self, path: &Path, scope: Scope) -> Result<Option<Pair>, ReviewError> {
        let Some(history) = self.histories.get(path) else { return Ok(None) };
        if scope != Scope::Pending {
            return history.pair(scope, &mut self.files);
        }
        if let Some(pair) = self.shown_pending.get(path) {
            let later = history.steps.get(pair.upto..).unwrap_or_default();
            if later.iter().all(|s| s.decided) {
                return Ok(Some(pair.clone()));
            }
        }
        let pair = history.pair(scope, &mut self.files)?;
        match &pair {
            Some(pair) => self.shown_pending.insert(path.to_owned(), pair.clone()),
            None => self.shown_pending.remove(path),
        };
        Ok(pair)
    }

    /// Carries out what the person wants (all but `Show`, `Close` and `Export`).
    pub fn act(&mut self, action: &ReviewAction) -> Result<Done, ReviewError> {
        self.refresh()?;
        self.files.snapshot.gather();
        // What cannot be read is found before anything is written.
        let done = self.without_missing(|review| review.carried_out(action));
        let gathered = self.files.snapshot.gathered();
        done.and_then(|done| gathered.map(|()| done))
    }

    fn carried_out(&mut self, action: &ReviewAction) -> Result<Done, ReviewError> {
        match action {
            ReviewAction::Show(_) | ReviewAction::Export { .. } => Ok(Done::default()),
            ReviewAction::Close => {
                self.stop_looking();
                Ok(Done::default())
            }
            ReviewAction::Decide { scope, target, verdict } => self.decide(*scope, target, *verdict),
            ReviewAction::Edit { scope, path, hunk, text } => self.edit(*scope, path, *hunk, text),
            ReviewAction::Force { scope, path, hunk } => self.force(*scope, path, *hunk),
            ReviewAction::Undo => self.undo(),
            ReviewAction::Redo => self.redo(),
            ReviewAction::Rewind { turn } => self.rewind(*turn, Mode::Apply),
            ReviewAction::PreviewRewind { turn } => self.rewind(*turn, Mode::Preview),
        }
    }

    fn decide(&mut self, scope: Scope, target: &Target, verdict: Verdict) -> Result<Done, ReviewError> {
        if let Some(done) = self.decide_held(target, verdict)? {
            return Ok(done);
        }
        let cases: Vec<(PathBuf, Selection)> = match target {
            Target::All => self
                .histories
                .keys()
                .map(|path| (path.clone(), Selection::Pending { doubtful: verdict == Verdict::Accept }))
                .collect(),
            Target::File(path) => self.twins(path, scope, Selection::Pending { doubtful: true })?,
            Target::Hunk(path, id) if *id == doc::RENAME => self.twins(path, scope, Selection::Whole)?,
            Target::Hunk(path, id) => vec![(path.clone(), Selection::Exactly(Chosen::Part(*id)))],
            Target::Lines(path, id, lines) => {
                vec![(path.clone(), Selection::Exactly(Chosen::Lines(*id, lines.clone())))]
            }
        };
        let one = !matches!(target, Target::All);
        let (mut files, mut hunks, mut left) = (Vec::new(), 0, Vec::new());
        for (path, wanted) in cases {
            match self.case(&path, scope, &wanted, verdict, OnConflict::Refuse) {
                Ok((file, count)) => {
                    files.push(file);
                    hunks += count;
                }
                Err(ReviewError::Refused(_)) if !one => {}
                Err(error @ ReviewError::Conflict { .. }) if !one => left.push(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        let mut places: BTreeSet<PathBuf> = files.iter().map(|f| f.path.clone()).collect();
        if matches!(target, Target::All) {
            let before = self.held.clone();
            for held in &mut self.held {
                match held.decide(&mut self.files, &Selection::Pending { doubtful: true }, verdict) {
                    Ok(count) => {
                        hunks += count;
                        places.insert(held.path.clone());
                    }
                    Err(ReviewError::Refused(_)) => {}
                    Err(error) => {
                        // All of them are decided, or none.
                        self.held = before;
                        return Err(error);
                    }
                }
            }
            self.rev += 1;
        }
        let verb = match verdict {
            Verdict::Accept => "accepted",
            Verdict::Reject => "rejected",
        };
        let lines = matches!(target, Target::Lines(..));
        let what = if lines { "some lines".to_owned() } else { count(hunks, "hunk") };
        let place = match (places.first(), places.len()) {
            (None, _) => String::new(),
            (Some(path), 1) => format!(" in {}", shown(path)),
            (_, places) => format!(" in {}", count(places, "file")),
        };
        let key = DecisionKey::of(&ReviewAction::Decide { scope, target: target.clone(), verdict });
        let words = format!("{verb} {what}{place}");
        let mut done = self.carry_out(words, Why::Asked(key), For::Decision, files, Vec::new())?;
        if !left.is_empty() {
            done.words = format!("{}; left alone: {}", done.words, left.join("; "));
        }
        Ok(done)
    }

    /// A file, and the one that it was renamed from.
    fn twins(
        &mut self,
        path: &Path,
        scope: Scope,
        wanted: Selection,
    ) -> Result<Vec<(PathBuf, Selection)>, ReviewError> {
        let docs = self.doc(scope)?;
        let from = docs.files.iter().find(|f| f.path == path).and_then(|f| f.renamed_from.clone());
        let wanted = if from.is_some() { Selection::Whole } else { wanted };
        Ok(std::iter::once(path.to_owned()).chain(from).map(|p| (p, wanted.clone())).collect())
    }

    fn case(
        &mut self,
        path: &Path,
        scope: Scope,
        wanted: &Selection,
        verdict: Verdict,
        on_conflict: OnConflict,
    ) -> Result<(FileDecision, usize), ReviewError> {
        let gone = || ReviewError::Refused(format!("{}: nothing to decide", shown(path)));
        let pair = self.pair(path, scope)?.ok_or_else(gone)?;
        let history = self.histories.get(path).ok_or_else(gone)?;
        FileCase { path, history, pair: &pair }.decide(wanted, verdict, on_conflict, &mut self.files)
    }

    fn edit(&mut self, scope: Scope, path: &Path, hunk: HunkId, text: &str) -> Result<Done, ReviewError> {
        if let Some(held) = self.held.iter_mut().find(|h| h.path == path) {
            held.edit(&mut self.files, hunk, text)?;
            self.rev += 1;
            return Ok(Done { words: "edited a held write".to_owned(), ..Done::default() });
        }
        let gone = || ReviewError::Moved(path.to_owned());
        let pair = self.pair(path, scope)?.ok_or_else(gone)?;
        let history = self.histories.get(path).ok_or_else(gone)?;
        let file = FileCase { path, history, pair: &pair }.edit(hunk, text, &mut self.files)?;
        let words = format!("edited a hunk in {}", shown(path));
        self.carry_out(words, Why::Asked(None), For::Decision, vec![file], Vec::new())
    }

    fn force(&mut self, scope: Scope, path: &Path, hunk: HunkId) -> Result<Done, ReviewError> {
        if scope != Scope::Pending {
            let why = "look at it since the last accepted state, and decide it there";
            return Err(ReviewError::Refused(why.to_owned()));
        }
        let wanted = Selection::Exactly(Chosen::Part(hunk));
        let (file, _) = self.case(path, scope, &wanted, Verdict::Reject, OnConflict::Force)?;
        let words = format!("rejected a hunk in {}, later edits included", shown(path));
        self.carry_out_all(words, Why::Asked(None), vec![file], Vec::new())
    }

    /// Writes what was decided, but for what would be lost with it; `left` is said with what is left alone.
    pub(super) fn carry_out(
        &mut self,
        words: String,
        why: Why,
        reason: For<'_>,
        mut files: Vec<FileDecision>,
        mut left: Vec<String>,
    ) -> Result<Done, ReviewError> {
        let only = self.only_copies(&files, reason);
        files.retain(|file| !only.contains_key(&file.path));
        left.extend(only.into_iter().map(|(path, why)| format!("{}: {why}", shown(&path))));
        self.carry_out_all(words, why, files, left)
    }

    /// Writes what was decided: first into the ledger, then file by file. `left` is said with what is left alone.
    pub(super) fn carry_out_all(
        &mut self,
        words: String,
        why: Why,
        files: Vec<FileDecision>,
        mut left: Vec<String>,
    ) -> Result<Done, ReviewError> {
        let files: Vec<FileDecision> =
            files.into_iter().filter(|f| f.disk.0 != f.disk.1 || f.accepted.0 != f.accepted.1).collect();
        if files.is_empty() && !left.is_empty() {
            return Err(ReviewError::Refused(left.join("; ")));
        }
        if files.is_empty() {
            return Ok(Done { words, ..Done::default() });
        }
        self.make_root(&files)?;
        let id = self.undo_log.next_id();
        // What an undo of the same turns has left alone belongs to it.
        let (key, toggles) = match why {
            Why::Asked(key) => (key, None),
            Why::Toggles(id) => (None, Some(id)),
        };
        let continues = key.as_ref().and_then(|key| self.undo_log.goes_on_with(key));
        self.announce(Decision { id, words: words.clone(), key, toggles, continues, files: files.clone() })?;
        self.writing.begin();
        let Carried { done, left: unwritten, stopped } = self.write_all(&files);
        left.extend(unwritten);
        let none = done.is_empty();
        self.finished(id, done, stopped.is_some())?;
        self.save()?;
        if stopped.is_some() {
            return Ok(Done { words: format!("stopped: {words}"), stopped, ..Done::default() });
        }
        match (none, left.is_empty()) {
            (true, false) => Err(ReviewError::Refused(left.join("; "))),
            (_, true) => Ok(Done { words: format!("{words}{}", self.writing.lost()), ..Done::default() }),
            (_, false) => {
                let words = format!("{words}{}; left alone: {}", self.writing.lost(), left.join("; "));
                Ok(Done { words, ..Done::default() })
            }
        }
    }

    /// Takes a write that is not to happen before it is decided; it is part of every [`ReviewSession::doc`] from now on.
    /// False when there is nothing to decide, since the file has that content.
    pub fn hold(&mut self, proposal: &Proposal, content: &str) -> Result<bool, ReviewError> {
        let path = &proposal.path;
        let outside = || ReviewError::Refused(format!("{}: outside of the project", shown(path)));
        let below = self.below(path).ok_or_else(outside)?;
        self.before_write(path, content)?;
        // A write of the same file that still waits comes first: this one is about what it would leave.
        let earlier = self.held.iter().rev().find(|h| h.path == below).map(HeldWrite::wanted);
        let disk = match earlier {
            Some(state) => state,
            None => self.files.on_disk(&below)?,
        };
        let wanted = self.files.file(content.as_bytes(), disk.mode().unwrap_or(0o644))?;
        if wanted == disk {
            return Ok(false);
        }
        self.rev += 1;
        let turn = proposal.turn.unwrap_or_else(|| self.newest_turn());
        self.held.push(HeldWrite::new(proposal, turn, &below, disk, wanted));
        Ok(true)
    }

    fn decide_held(&mut self, target: &Target, verdict: Verdict) -> Result<Option<Done>, ReviewError> {
        let (path, wanted) = match target {
            Target::All => return Ok(None),
            Target::File(path) => (path, Selection::Pending { doubtful: true }),
            Target::Hunk(path, id) => (path, Selection::Exactly(Chosen::Part(*id))),
            Target::Lines(path, id, lines) => (path, Selection::Exactly(Chosen::Lines(*id, lines.clone()))),
        };
        let Some(held) = self.held.iter_mut().find(|h| h.path == *path) else { return Ok(None) };
        held.decide(&mut self.files, &wanted, verdict)?;
        self.rev += 1;
        let verb = if verdict == Verdict::Accept { "accepted" } else { "rejected" };
        let words = format!("{verb} in a held write of {}", shown(path));
        Ok(Some(Done { words, ..Done::default() }))
    }

    /// Decides all that waits of one held write.
    pub fn decide_write(&mut self, req: ReqId, verdict: Verdict) -> Result<(), ReviewError> {
        let Some(held) = self.held.iter_mut().find(|h| h.req == req) else { return Ok(()) };
        held.decide_all(&mut self.files, verdict)?;
        self.rev += 1;
        Ok(())
    }

    /// What became of a held write, once; nothing while it is undecided. Writes it.
    pub fn released(&mut self, req: ReqId) -> Result<Option<Released>, ReviewError> {
        let Some(at) = self.held.iter().position(|h| h.req == req) else { return Ok(None) };
        let open = match self.held.get(at) {
            Some(held) => held.pending(&mut self.files)? > 0,
            None => true,
        };
        // The one before it comes first.
        let earlier = |held: &HeldWrite| self.held.iter().take(at).any(|h| h.path == held.path);
        if open || self.held.get(at).is_some_and(earlier) {
            return Ok(None);
        }
        let Some(held) = self.held.get(at).cloned() else { return Ok(None) };
        self.rev += 1;
        let mut released = self.release(&held);
        // Saved by the person while it was being written: what is there now is merged instead.
        for _ in 1..RELEASES {
            if !matches!(released, Err(ReviewError::Moved(_))) {
                break;
            }
            self.look(std::slice::from_ref(&held.path))?;
            released = self.release(&held);
        }
        if let (Err(ReviewError::Conflict { .. } | ReviewError::Moved(_)), Some(slot)) =
            (&released, self.held.get_mut(at))
        {
            *slot = held.over(self.files.on_disk(&held.path)?);
            if slot.pending(&mut self.files)? > 0 {
                return Ok(Some(Released::Again { path: held.path }));
            }
            // The person has written just that.
            return self.released(req);
        }
        self.held.remove(at);
        if let Some(next) = self.held.iter_mut().find(|h| h.path == held.path) {
            let disk = self.files.on_disk(&held.path)?;
            if disk != next.disk() {
                *next = next.over(disk);
            }
        }
        released.map(Some)
    }

    fn release(&mut self, held: &HeldWrite) -> Result<Released, ReviewError> {
        if held.disk() == held.wanted() {
            // An earlier write of the same content was decided meanwhile.
            return Ok(Released::Whole { created: false, bytes: size_of(&held.wanted()) });
        }
        if held.chosen() == held.disk() {
            return Ok(Released::Refused);
        }
        let path = &held.path;
        let disk = self.files.on_disk(path)?;
        let Some(to) = self.files.joined(&held.disk(), &disk, &held.chosen())? else {
            let why = "it was changed on the disk while the write was held".to_owned();
            return Err(ReviewError::Conflict { path: path.clone(), why });
        };
        // What the agent wanted over what is there; undo of the decision goes back to it.
        let whole = self.files.joined(&held.disk(), &disk, &held.wanted())?.unwrap_or(to);
        let old = self.histories.get(path).map_or(disk, |h| h.accepted);
        let act_file = |disk, accepted| FileDecision { path: path.clone(), disk, accepted, by_hand: false };
        let (turn, entry) = (held.turn(), Some(held.entry().0));
        let step =
            ChangeRecord { turn, cause: Cause::Write, doubt: false, decided: false, entry, before: disk, after: whole };
        if held.asked && !held.is_touched() {
            // Allowed, and still to be reviewed.
            self.write(&act_file((disk, to), (old, old)))?;
            self.take(path, step, old)?;
            self.save()?;
        } else {
            // The person has decided it hunk by hunk; what was pending in the file before stays so.
            let accepted = self.files.joined(&disk, &old, &to)?.unwrap_or(old);
            let id = self.undo_log.next_id();
            let words = format!("decided the held write of {}", shown(path));
            self.take(path, step, old)?;
            let upto = self.histories.get(path).map_or(0, |h| h.steps.len());
            let files = vec![act_file((whole, to), (old, accepted))];
            self.announce(Decision { id, words, key: None, toggles: None, continues: None, files })?;
            let written = self.write(&act_file((disk, to), (old, accepted)));
            self.finished(id, if written.is_ok() { vec![0] } else { Vec::new() }, false)?;
            if written.is_err() {
                self.untake(path)?;
            }
            self.save()?;
            written?;
            if held.is_touched() {
                // What became of it stays in sight where it was decided.
                self.shown_pending.insert(path.clone(), Pair { old, new: whole, upto });
            }
        }
        if held.chosen() == held.wanted() && to == held.wanted() {
            return Ok(Released::Whole { created: disk.is_absent(), bytes: size_of(&to) });
        }
        Ok(Released::Partly { differs: self.difference(&held.wanted(), &to)? })
    }

    /// How a text differs from what the agent wanted, for the agent to read.
    fn difference(&mut self, wanted: &State, is: &State) -> Result<String, ReviewError> {
        let (wanted, is) = (self.files.content(wanted)?, self.files.content(is)?);
        let (wanted, is) = (String::from_utf8_lossy(&wanted), String::from_utf8_lossy(&is));
        let diff = similar::TextDiff::from_lines(&*wanted, &*is);
        let mut text = diff.unified_diff().header("proposed", "written").to_string();
        if text.len() > MAX_DIFFERENCE {
            let end = (0..=MAX_DIFFERENCE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
            text.push_str("\n…");
        }
        Ok(text)
    }

    /// Writes that wait for a decision, in the order in which they came, and what the transcript tells of them.
    pub fn held(&self) -> Vec<(ReqId, EntryId)> {
        self.held.iter().map(|held| (held.req, held.entry())).collect()
    }

    /// Forgets a held write (the turn was cancelled, the agent is gone).
    pub fn let_go(&mut self, req: ReqId) {
        self.held.retain(|h| h.req != req);
        self.rev += 1;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Preview,
    Apply,
}

const fn size_of(state: &State) -> u64 {
    if let State::File { size, .. } = state { *size } else { 0 }
}

pub(crate) fn shown(path: &Path) -> String {
    paths::display(path, &[], None)
}

fn count(n: usize, what: &str) -> String {
    human::count(n as u64, what)
}
