//! What the person wants of a review: decisions, undo, rewinds, held writes.
//!
//! What is to be written is computed by `decide`, and carried out by [`Execution`]. Invariant: what cannot be read is
//! found before anything is written.

use super::ReviewSession;
use super::execution::{Execution, Why, look_at_root};
use super::shown;
use crate::base::human;
use crate::host::worktrees::{self, Merge, Merged, Part, Side};
use crate::model::changes::Verdict;
use crate::model::changes::{
    Before, HeldOutcome, HunkId, ReviewAction, RewindOutcome, Rewound, Scope, Target, WritePreview,
};
use crate::model::ids::{EntryId, ReqId};
use crate::review::decide::doc;
use crate::review::decide::hold::HeldWrite;
use crate::review::decide::only_copies::For;
use crate::review::decide::parts::{Chosen, Parts};
use crate::review::decide::rewind::{self, Rewinds};
use crate::review::decide::toggle;
use crate::review::decide::verdict::{FileCase, OnConflict, Selection};
use crate::review::error::ReviewError;
use crate::review::history::ledger::{Decision, DecisionKey, FileDecision, MergedFrom};
use crate::review::protocol::{Done, Proposal, Released};
use crate::review::snapshot::coverage::closed_words;
use crate::review::state::State;
use crate::review::worktree::walk;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often a held write is merged with what is saved meanwhile, before the person is asked again.
const RELEASES: usize = 4;

impl ReviewSession {
    fn execution(&mut self) -> Execution<'_> {
        let turn = self.last_turn();
        let Self { dir, files, log, writing, .. } = self;
        Execution { dir, files, log, writing, turn }
    }

    /// The person looks: what is decided from now on stays in sight until [`ReviewSession::stop_looking`].
    pub fn stop_looking(&mut self) {
        self.shown.clear();
    }

    /// What an undo would take back: in words, and what it was.
    pub fn newest_decision(&self) -> Option<(String, Newest)> {
        let decision = self.log.undo_log().undoable()?;
        let what = match decision.key {
            Some(DecisionKey::Rewind { turn }) => Newest::Rewind(turn),
            _ if decision.merged.is_some() => {
                Newest::Merge(self.log.undo_log().files(decision.id).map(|file| file.path.clone()).collect())
            }
            _ => Newest::Other,
        };
        Some((self.log.undo_log().words(decision), what))
    }

    /// When the newest decision that stands was made, in milliseconds since 1970.
    pub fn decided_at(&self) -> Option<u64> {
        self.log.undo_log().undoable()?.at
    }

    /// Whether a redo would bring a merge again.
    pub fn has_undone_merge(&self) -> bool {
        self.log.undo_log().redoable().is_some_and(|decision| decision.merged.is_some())
    }

    /// Whether all of a directory is looked at by this review.
    pub fn covers(&self, dir: &Path) -> bool {
        dir.starts_with(self.files.snapshot.root())
    }

    /// Has what was changed in a worktree written into the files that it came from, as a decision of the person: `from` is
    /// where that was, `words` are said of it. Nothing is written that is not in the ledger first.
    pub fn merge(
        &mut self,
        merge: Merge,
        from: MergedFrom,
        words: String,
        go_on: impl FnMut(usize, usize) -> bool,
    ) -> Result<Merged, ReviewError> {
        let root = self.files.snapshot.root().to_owned();
        let below = |change: &worktrees::Change| {
            let path = from.origin.join(&change.path);
            let outside = || ReviewError::Refused(format!("{}: outside of the project", shown(&path)));
            path.strip_prefix(&root).map(Path::to_owned).map_err(|_| outside())
        };
        let paths: Vec<PathBuf> = merge.changes.iter().map(below).collect::<Result<_, _>>()?;
        // What has changed since the last look is no part of it.
        self.look(&paths)?;
        self.files.snapshot.objects.gather();
        let files: Vec<FileDecision> = merge
            .changes
            .iter()
            .zip(paths)
            .map(|(change, path)| self.merged(change, path))
            .collect::<Result<_, _>>()?;
        let id = self.log.undo_log().next_id();
        let places: Vec<PathBuf> = merge.changes.iter().map(|change| change.path.clone()).collect();
        let (key, toggles, continues, merged) = (None, None, None, Some(from));
        self.log.announce(
            Decision { id, at: None, words, key, toggles, continues, merged, files: files.clone() },
            &mut self.files,
        )?;
        let merged = merge.carry_out(go_on);
        let mut done = Vec::new();
        for (at, (file, place)) in files.iter().zip(places).enumerate() {
            if merged.files.contains(&place) {
                self.files.snapshot.set(&file.path, file.disk.1)?;
                done.push(at);
            }
        }
        let turn = self.last_turn();
        self.log.finished(id, done, false, turn)?;
        self.log.save(&mut self.files)?;
        Ok(merged)
    }

    /// A file before and after a hunk of it, or some of its lines: with nothing else of what was changed.
    pub fn part(&mut self, scope: Scope, target: &Target) -> Result<Part, ReviewError> {
        self.refresh()?;
        let (path, chosen) = match target {
            Target::Hunk(path, id) if *id != doc::TOGETHER => (path, Chosen::Part(*id)),
            Target::Lines(path, id, lines) => (path, Chosen::Lines(*id, lines.clone())),
            Target::Hunk(..) | Target::File(_) | Target::All => {
                return Err(ReviewError::Refused("choose a hunk".to_owned()));
            }
        };
        let moved = || ReviewError::Moved(path.clone());
        let pair = self.shown.pair(path, scope, &self.log, &mut self.files)?.ok_or_else(moved)?;
        let parts = Parts::of(&mut self.files, &pair.old, &pair.new)?;
        parts.part(chosen.id()).ok_or_else(moved)?;
        let with = parts.with(&mut self.files, &[chosen])?;
        let side = |state: &State| match state {
            State::Absent => Ok(None),
            State::File { mode, .. } => Ok(Some(Side { mode: *mode, bytes: self.files.content(state)? })),
            State::Link { .. } | State::Unkept { .. } => {
                Err(ReviewError::Refused(format!("{}: no text; take the file as a whole", shown(path))))
            }
        };
        Ok(Part { path: self.files.snapshot.root().join(path), was: side(&pair.old)?, is: side(&with)? })
    }

    /// A file of a merge. What is pending in it stays so, unless the merge is in the same lines.
    fn merged(&mut self, change: &worktrees::Change, path: PathBuf) -> Result<FileDecision, ReviewError> {
        let (was, is) = (self.files.of_merge(&change.was)?, self.files.of_merge(&change.is)?);
        let accepted = match self.log.history(&path).map(|history| history.accepted) {
            Some(accepted) => (accepted, self.files.joined(&was, &accepted, &is)?.unwrap_or(accepted)),
            None => (was, is),
        };
        Ok(FileDecision { path, disk: (was, is), accepted, by_hand: false })
    }

    /// Carries out what the person wants (all but `Show`, `Close`, `Blame` and `Export`).
    pub fn act(&mut self, action: &ReviewAction) -> Result<Done, ReviewError> {
        self.refresh()?;
        if self.files.snapshot.objects.settle()? {
            // It is decided by what can be had.
            self.log.forget_owed(&mut self.files);
        }
        self.files.snapshot.objects.gather();
        // What cannot be read is found before anything is written.
        let done = self.without_missing(|review| review.carried_out(action));
        let gathered = self.files.snapshot.objects.gathered();
        done.and_then(|done| gathered.map(|()| done))
    }

    fn carried_out(&mut self, action: &ReviewAction) -> Result<Done, ReviewError> {
        match action {
            ReviewAction::Show(_) | ReviewAction::Export { .. } | ReviewAction::Blame { .. } => Ok(Done::default()),
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
                .log
                .paths()
                .into_iter()
                .map(|path| (path, Selection::Pending { doubtful: verdict == Verdict::Accept }))
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
            let (parts, paths) = self.held.decide_all(verdict, &mut self.files)?;
            hunks += parts;
            places.extend(paths);
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
        let mut done = self.execution().carry_out(words, Why::Asked(key), For::Decision, files, Vec::new())?;
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
        self.refresh()?;
        let from =
            self.without_missing(|review| review.shown.renamed_from(path, scope, &review.log, &mut review.files))?;
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
        let pair = self.shown.pair(path, scope, &self.log, &mut self.files)?.ok_or_else(gone)?;
        let history = self.log.history(path).ok_or_else(gone)?;
        FileCase { path, history, pair: &pair }.decide(wanted, verdict, on_conflict, &mut self.files)
    }

    fn edit(&mut self, scope: Scope, path: &Path, hunk: HunkId, text: &str) -> Result<Done, ReviewError> {
        if self.held.edit(path, hunk, text, &mut self.files)? {
            return Ok(Done { words: "edited a held write".to_owned(), ..Done::default() });
        }
        let gone = || ReviewError::Moved(path.to_owned());
        let pair = self.shown.pair(path, scope, &self.log, &mut self.files)?.ok_or_else(gone)?;
        let history = self.log.history(path).ok_or_else(gone)?;
        let file = FileCase { path, history, pair: &pair }.edit(hunk, text, &mut self.files)?;
        let words = format!("edited a hunk in {}", shown(path));
        self.execution().carry_out(words, Why::Asked(None), For::Decision, vec![file], Vec::new())
    }

    fn force(&mut self, scope: Scope, path: &Path, hunk: HunkId) -> Result<Done, ReviewError> {
        if scope != Scope::Pending {
            let why = "look at what is not decided yet, and decide it there";
            return Err(ReviewError::Refused(why.to_owned()));
        }
        let wanted = Selection::Exactly(Chosen::Part(hunk));
        let (file, _) = self.case(path, scope, &wanted, Verdict::Reject, OnConflict::Force)?;
        let words = format!("rejected a hunk in {}, later edits included", shown(path));
        self.execution().carry_out_all(words, Why::Asked(None), vec![file], Vec::new())
    }

    fn undo(&mut self) -> Result<Done, ReviewError> {
        if self.held.undo() {
            return Ok(Done { words: "undone: a decision on a held write".to_owned(), ..Done::default() });
        }
        let nothing = || ReviewError::Refused("nothing to undo".to_owned());
        let act = self.log.undo_log().undoable().cloned().ok_or_else(nothing)?;
        let files = self.log.undo_log().all_files(act.id);
        self.flip(format!("undone: {}", self.log.undo_log().words(&act)), act.id, &files)
    }

    fn redo(&mut self) -> Result<Done, ReviewError> {
        if self.held.redo() {
            return Ok(Done { words: "done again: a decision on a held write".to_owned(), ..Done::default() });
        }
        let nothing = || ReviewError::Refused("nothing to do again".to_owned());
        let act = self.log.undo_log().redoable().cloned().ok_or_else(nothing)?;
        let files = toggle::turned_round(self.log.undo_log().all_files(act.id));
        self.flip(format!("done again: {}", self.log.undo_log().words(&act)), act.id, &files)
    }

    /// Takes back what was done of a decision, with all that has been changed since; where that cannot be, the file is
    /// left alone.
    fn flip(&mut self, words: String, act: u64, done: &[FileDecision]) -> Result<Done, ReviewError> {
        let (files, left) = toggle::taken_back(done, &self.log, &mut self.files)?;
        let first = self.log.undo_log().first_part(act);
        self.execution().carry_out(words, Why::Toggles(act), For::Toggle(done, first), files, left)
    }

    /// Files that the system did not let be written when something was carried out last.
    pub fn unwritten(&self) -> Vec<PathBuf> {
        self.writing.unwritten()
    }

    /// How many things no undo covers, in words; the review names them.
    pub fn not_covered(&self) -> Option<String> {
        let things = self.uncovered().len() as u64;
        let is = if things == 1 { "is" } else { "are" };
        (things > 0).then(|| format!("{} {is} not covered by an undo, see the review", count(things as usize, "thing")))
    }

    fn rewound_words(&self, turn: u64) -> String {
        match turn {
            0 => "rewound to before the session".to_owned(),
            turn => format!("rewound to before {}", self.turn_words(turn)),
        }
    }

    fn rewind(&mut self, turn: u64, mode: Mode) -> Result<Done, ReviewError> {
        let Rewinds { files, outcomes: mut rewound, mut unread } =
            rewind::since(turn, &self.log, &mut self.files, mode == Mode::Preview)?;
        let out_of_reach = self.out_of_reach(turn);
        unread.extend(out_of_reach.iter().map(|one| one.path.clone()));
        rewound.extend(out_of_reach.into_iter().map(|one| (one, None)));
        look_at_root(&files, &self.files.snapshot)?;
        let mut done = Done::default();
        if mode == Mode::Apply {
            let words = self.rewound_words(turn);
            done = match self.execution().carry_out_all(
                words,
                Why::Asked(Some(DecisionKey::Rewind { turn })),
                files,
                Vec::new(),
            ) {
                Err(ReviewError::Refused(words)) => {
                    Done { words, unwritten: self.writing.unwritten(), ..Done::default() }
                }
                done => done?,
            };
            let is_missing = |(one, to): &(Rewound, Option<State>)| {
                let is = self.log.last(&one.path);
                to.is_some() && is != *to
            };
            if done.stopped.is_some() {
                // It is still to be done.
                rewound.retain(|one| !is_missing(one));
            } else if let Some(words) = self.not_covered() {
                done.words = format!("{}; {words}", done.words);
            }
            for one in &mut rewound {
                if is_missing(one) {
                    one.0.outcome = RewindOutcome::Failed;
                }
                one.0.remark = one.0.remark.take().or_else(|| self.writing.remark(&one.0.path));
            }
        }
        for (one, to) in &mut rewound {
            let in_part = match one.outcome {
                RewindOutcome::Restored => "but for what nobody accounted for",
                RewindOutcome::Removed => "but what was there before is not back: nobody accounted for that it went",
                _ => continue,
            };
            let history = self.log.history(&one.path).filter(|h| h.has_doubtful(turn) && to.is_some());
            let Some(history) = history.filter(|_| one.remark.is_none()) else { continue };
            let run = history.is_beside_run(turn).then(|| format!(": {}", self.log.run_beside(&one.path)));
            one.remark = Some(format!("{in_part}{}", run.unwrap_or_default()));
        }
        done.unwritten.extend(unread);
        Ok(Done { rewound: rewound.into_iter().map(|(one, _)| one).collect(), ..done })
    }

    /// Directories that were closed in that turn or later: what was changed in them is not known.
    fn out_of_reach(&self, turn: u64) -> Vec<Rewound> {
        let mut all = Vec::new();
        for (key, files) in self.files.snapshot.out_of_reach() {
            let path = walk::path(&key);
            if self.log.closed_around(path).is_some_and(|by| by.turn >= turn) {
                let remark = format!("{}; give it back its permissions, then undo once more", closed_words(files));
                let path = if key.is_empty() { Path::new(".") } else { path };
                let (path, remark) = (path.to_owned(), Some(remark));
                all.push(Rewound { path, outcome: RewindOutcome::Failed, remark });
            }
        }
        all
    }

    /// Takes a write that is not to happen before it is decided; it is part of every [`ReviewSession::doc`] from now on.
    /// False when there is nothing to decide, since the file has that content.
    pub fn hold(&mut self, proposal: &Proposal, content: &str) -> Result<bool, ReviewError> {
        let path = &proposal.path;
        let outside = || ReviewError::Refused(format!("{}: outside of the project", shown(path)));
        let below = self.below(path).ok_or_else(outside)?;
        self.before_write(path, content)?;
        // A write of the same file that still waits comes first: this one is about what it would leave.
        let disk = match self.held.newest_wanted(&below) {
            Some(state) => state,
            None => self.files.on_disk(&below)?,
        };
        let wanted = self.files.file(content.as_bytes(), disk.mode().unwrap_or(0o644))?;
        if wanted == disk {
            return Ok(false);
        }
        let turn = proposal.turn.unwrap_or_else(|| self.last_turn());
        self.held.add(HeldWrite::new(proposal, turn, &below, disk, wanted));
        Ok(true)
    }

    /// Whether what a held write would replace is this, to the byte.
    pub fn is_held_over(&self, req: ReqId, before: &Before) -> bool {
        let Some(disk) = self.held.get(req).map(HeldWrite::disk) else { return false };
        match (&before.0, disk) {
            (None, disk) => disk.is_absent(),
            (Some(text), State::File { .. }) => self.files.content(&disk).is_ok_and(|bytes| bytes == text.as_bytes()),
            (Some(_), State::Absent | State::Link { .. } | State::Unkept { .. }) => false,
        }
    }

    fn decide_held(&mut self, target: &Target, verdict: Verdict) -> Result<Option<Done>, ReviewError> {
        let (path, wanted) = match target {
            Target::All => return Ok(None),
            Target::File(path) => (path, Selection::Pending { doubtful: true }),
            Target::Hunk(path, id) => (path, Selection::Exactly(Chosen::Part(*id))),
            Target::Lines(path, id, lines) => (path, Selection::Exactly(Chosen::Lines(*id, lines.clone()))),
        };
        if !self.held.decide(path, &wanted, verdict, &mut self.files)? {
            return Ok(None);
        }
        let verb = if verdict == Verdict::Accept { "accepted" } else { "rejected" };
        let words = format!("{verb} in a held write of {}", shown(path));
        Ok(Some(Done { words, ..Done::default() }))
    }

    /// Decides all that waits of one held write.
    pub fn decide_write(&mut self, req: ReqId, verdict: Verdict) -> Result<(), ReviewError> {
        self.held.answer(req, verdict, &mut self.files)
    }

    /// What became of a held write, once; nothing while it is undecided. Writes it.
    pub fn released(&mut self, req: ReqId) -> Result<Option<Released>, ReviewError> {
        let Some(held) = self.held.decided(req, &mut self.files)? else { return Ok(None) };
        // What was saved while it waited is no part of it; of a file that is not known yet it is what was there before.
        if self.log.history(&held.path).is_some() {
            self.look(std::slice::from_ref(&held.path))?;
        }
        let mut released = self.execution().release(&held);
        // Saved by the person while it was being written: what is there now is merged instead.
        for _ in 1..RELEASES {
            if !matches!(released, Err(ReviewError::Moved(_))) {
                break;
            }
            self.look(std::slice::from_ref(&held.path))?;
            released = self.execution().release(&held);
        }
        if let Err(ReviewError::Conflict { .. } | ReviewError::Moved(_)) = &released {
            let disk = self.files.on_disk(&held.path)?;
            if self.held.start_over(req, disk, &mut self.files)? {
                return Ok(Some(Released::Again { path: held.path }));
            }
            // The person has written just that.
            return self.released(req);
        }
        self.held.close(req, if released.is_ok() { held.chosen() } else { held.disk() });
        let (released, in_sight) = released?;
        if matches!(released, HeldOutcome::Partly { .. }) {
            self.attribution.telling.altered(held.turn());
        }
        if let Some(pair) = in_sight {
            self.shown.keep_in_sight(held.path, pair);
        }
        Ok(Some(Released::Decided(released)))
    }

    /// Writes that wait for a decision, in the order in which they came, and what the transcript tells of them.
    pub fn held(&self) -> Vec<(ReqId, EntryId)> {
        self.held.waiting()
    }

    /// Those of them that are to be looked at anew, since the one before them was decided; each once.
    pub fn followed(&mut self) -> Vec<ReqId> {
        self.held.take_followed()
    }

    /// What a held write would really do now; nothing when it does not wait.
    pub fn preview_of_held(&mut self, req: ReqId) -> Result<Option<WritePreview>, ReviewError> {
        let Some(held) = self.held.get(req) else { return Ok(None) };
        let (path, base, wanted) = (held.path.clone(), held.disk(), held.wanted());
        // Before one that waits itself it is about what that one would leave.
        let disk = if self.held.is_first(req) { self.files.on_disk(&path)? } else { base };
        let new = self.files.joined(&base, &disk, &wanted)?.unwrap_or(wanted);
        let (old, new) = (self.files.content(&disk)?, self.files.content(&new)?);
        let old = (!disk.is_absent()).then(|| String::from_utf8(old));
        match (old.transpose(), String::from_utf8(new)) {
            (Ok(old), Ok(new)) => {
                let path = self.files.snapshot.root().join(path);
                Ok(Some(WritePreview { path, old: old.map(Arc::from), new: new.into(), differs: None }))
            }
            _ => Ok(None),
        }
    }

    /// Forgets a held write (the turn was cancelled, the agent is gone).
    pub fn let_go(&mut self, req: ReqId) {
        self.held.let_go(req);
    }
}

/// What a decision was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Newest {
    /// To before this turn.
    Rewind(u64),
    /// Of a worktree: what was written.
    Merge(Vec<PathBuf>),
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Preview,
    Apply,
}

fn count(n: usize, what: &str) -> String {
    human::count(n as u64, what)
}
