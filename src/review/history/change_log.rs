//! What has become of every file since the session began, what was decided of it, and the ledger that says so.
//!
//! Who did it, and what is to be decided, is told by others. Invariants: what a record names is in the store before the
//! ledger has the record, and a decision is in the ledger before any file is touched for it; that files were seen is
//! saved only after what has become of them.

use super::contents::Contents;
use super::file_history::FileHistory;
use super::ledger::{Author, ChangeRecord, ClosedBy, Decision, FileDecision, Ledger, Record};
use super::order::Order;
use super::pending_writes::{PendingWrite, PendingWrites};
use super::ran::{AllRan, Ran};
use super::undo_log::UndoLog;
use crate::base::paths::visible;
use crate::model::changes::Cause;
use crate::review::error::ReviewError;
use crate::review::snapshot::Snapshot;
use crate::review::state::{Oid, State, content};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub struct ChangeLog {
    ledger: Ledger,
    undo_log: UndoLog,
    histories: BTreeMap<PathBuf, FileHistory>,
    order: Order,
    rev: u64,
    /// Turns that have begun.
    turns: BTreeSet<u64>,
    /// Those whose prompt went out before the look that precedes it was finished.
    early: BTreeSet<u64>,
    /// Those with a command that began before the look that precedes it was finished.
    early_commands: BTreeSet<u64>,
    /// Turns in which the agent said what it does.
    told: BTreeSet<u64>,
    ran: AllRan,
    /// The end of the newest turn was told, and no look has followed: nothing of it came later.
    is_ending: bool,
    /// Directories that cannot be looked into.
    closed: BTreeMap<PathBuf, ClosedBy>,
    pending: PendingWrites,
    /// Runs that wrote files of this one's, by paths.
    runs: BTreeMap<PathBuf, String>,
    /// What is ours and could not be removed, and what it was to be.
    left: BTreeMap<PathBuf, State>,
    /// Steps of a look that go into the ledger together.
    batch: Option<Vec<Record>>,
    forgotten: u64,
}

impl ChangeLog {
    /// For a ledger of which nothing has been taken in yet.
    pub fn new(ledger: Ledger) -> Self {
        Self {
            ledger,
            undo_log: UndoLog::default(),
            histories: BTreeMap::new(),
            order: Order::default(),
            rev: 0,
            turns: BTreeSet::new(),
            early: BTreeSet::new(),
            early_commands: BTreeSet::new(),
            told: BTreeSet::new(),
            ran: AllRan::default(),
            is_ending: false,
            closed: BTreeMap::new(),
            pending: PendingWrites::default(),
            runs: BTreeMap::new(),
            left: BTreeMap::new(),
            batch: None,
            forgotten: 0,
        }
    }

    /// Takes in what the ledger says, but for paths that the client keeps for itself: versions before this one took
    /// those for the agent's work. The turns that have not ended, the newest last.
    pub fn replay(&mut self, records: Vec<Record>, hides: impl Fn(&Path) -> bool) -> Vec<u64> {
        let mut open: Vec<u64> = Vec::new();
        for record in records {
            match record {
                Record::Ending { .. } => self.is_ending = true,
                Record::Turn { turn, begins, early } => {
                    self.is_ending = false;
                    self.turns.insert(turn);
                    self.early.extend(early.then_some(turn));
                    open.retain(|other| *other != turn);
                    open.extend(begins.then_some(turn));
                    if begins {
                        self.ran.turn_begins();
                        self.undo_log.turn_began();
                    }
                }
                Record::CommandEarly { turn } => drop(self.early_commands.insert(turn)),
                Record::Told { turn } => drop(self.told.insert(turn)),
                Record::Ran(ran) => drop(self.ran.take(ran)),
                Record::Closed { dir, by } => drop(self.closed.insert(dir, by)),
                Record::Opened { dir } => drop(self.closed.remove(&dir)),
                Record::Step { path, .. } | Record::Writes { path, .. } if hides(&path) => {}
                Record::Step { path, step, accepted, run } => {
                    self.put_step(&path, step, accepted);
                    self.runs.extend(run.map(|run| (path, run)));
                }
                Record::Left { path, state } => self.put_left(path, state),
                Record::Writes { path, write } => self.pending.begins(&path, write),
                Record::WritesEnd { content, entry } => drop(self.pending.end(content, entry)),
                Record::Untaken { path } => self.take_off(&path),
                Record::Accounted { path, step, by } => self.put_author(&path, step, by),
                Record::Act(ref act) => {
                    self.order.acts(act.id, self.rev);
                    self.undo_log.take(record);
                }
                Record::Done { act, .. } => {
                    self.undo_log.take(record);
                    self.put_done(act, self.newest_turn());
                }
            }
        }
        open
    }

    /// Moves with each change.
    pub const fn rev(&self) -> u64 {
        self.rev
    }

    /// Moves when contents are found to be gone, and their states with them.
    pub const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    pub const fn undo_log(&self) -> &UndoLog {
        &self.undo_log
    }

    pub const fn order(&self) -> &Order {
        &self.order
    }

    pub fn history(&self, path: &Path) -> Option<&FileHistory> {
        self.histories.get(path)
    }

    /// All files that have one, sorted by path.
    pub const fn histories(&self) -> &BTreeMap<PathBuf, FileHistory> {
        &self.histories
    }

    pub fn paths(&self) -> Vec<PathBuf> {
        self.histories.keys().cloned().collect()
    }

    /// The newest state that was seen of a file which has a history.
    pub fn last(&self, path: &Path) -> Option<State> {
        self.histories.get(path).map(FileHistory::last)
    }

    /// Contents of files as they are now.
    pub fn contents(&self) -> HashSet<Oid> {
        self.histories.values().filter_map(|history| content(&history.last())).collect()
    }

    // ---- turns

    /// All that have begun.
    pub const fn turns(&self) -> &BTreeSet<u64> {
        &self.turns
    }

    /// The last that has begun; 0 before the first.
    pub fn newest_turn(&self) -> u64 {
        self.turns.last().copied().unwrap_or(0)
    }

    /// Those whose prompt went out before the look that precedes it was finished.
    pub const fn early(&self) -> &BTreeSet<u64> {
        &self.early
    }

    /// Those with a command that began before the look that precedes it was finished.
    pub const fn early_commands(&self) -> &BTreeSet<u64> {
        &self.early_commands
    }

    /// Whether the agent said in a turn what it does.
    pub fn was_told(&self, turn: u64) -> bool {
        self.told.contains(&turn)
    }

    /// `early` when its prompt did not wait for the look.
    pub fn turn_begins(&mut self, turn: u64, early: bool) -> Result<(), ReviewError> {
        self.undo_log.turn_began();
        self.ran.turn_begins();
        self.is_ending = false;
        self.turns.insert(turn);
        self.early.extend(early.then_some(turn));
        self.ledger.add(&Record::Turn { turn, begins: true, early })
    }

    /// Its end is told, before the look that it ends with.
    pub fn turn_is_ending(&mut self, turn: u64) -> Result<(), ReviewError> {
        self.is_ending = true;
        self.ledger.add(&Record::Ending { turn })
    }

    pub const fn is_ending(&self) -> bool {
        self.is_ending
    }

    pub fn turn_ends(&mut self, turn: u64) -> Result<(), ReviewError> {
        self.is_ending = false;
        self.ledger.add(&Record::Turn { turn, begins: false, early: false })
    }

    /// A command of turns that run did not wait for the look that precedes it.
    pub fn note_early_command(&mut self, turns: &[u64]) -> Result<(), ReviewError> {
        for turn in turns {
            if self.early_commands.insert(*turn) {
                self.ledger.add(&Record::CommandEarly { turn: *turn })?;
            }
        }
        Ok(())
    }

    /// After a crash it has to be known whether the agent said what it did in a turn.
    pub fn note_told(&mut self, turns: &[u64]) -> Result<(), ReviewError> {
        for turn in turns {
            if self.told.insert(*turn) {
                self.ledger.add(&Record::Told { turn: *turn })?;
            }
        }
        Ok(())
    }

    /// Commands since the last turn began, and those that run still.
    pub const fn ran(&self) -> &AllRan {
        &self.ran
    }

    /// A command runs, or is over.
    pub fn note_ran(&mut self, ran: Ran) -> Result<(), ReviewError> {
        self.ran.take(ran).map_or(Ok(()), |ran| self.ledger.add(&Record::Ran(ran)))
    }

    /// Directories that cannot be looked into, and whose doing that is.
    pub const fn closed(&self) -> &BTreeMap<PathBuf, ClosedBy> {
        &self.closed
    }

    /// Whose doing it is that a path, or the nearest directory above it, cannot be looked into.
    pub fn closed_around(&self, path: &Path) -> Option<ClosedBy> {
        path.ancestors().find_map(|dir| self.closed.get(dir)).copied()
    }

    pub fn note_closed(&mut self, dir: &Path, by: ClosedBy) -> Result<(), ReviewError> {
        if self.closed.insert(dir.to_owned(), by) == Some(by) {
            return Ok(());
        }
        self.ledger.add(&Record::Closed { dir: dir.to_owned(), by })
    }

    pub fn note_opened(&mut self, dir: &Path) -> Result<(), ReviewError> {
        self.closed.remove(dir);
        self.ledger.add(&Record::Opened { dir: dir.to_owned() })
    }

    /// Turns that changed something, oldest first.
    pub fn turns_that_changed(&self) -> Vec<u64> {
        let steps = self.histories.values().flat_map(|h| &h.steps);
        let turns: BTreeSet<u64> = steps.filter(|s| s.is_shown()).map(|s| s.turn).collect();
        turns.into_iter().collect()
    }

    /// Whether a change of the agent has appeared that did not come through the client.
    pub fn is_after(&self) -> bool {
        let outside = |s: &ChangeRecord| s.is_shown() && s.cause != Cause::Write;
        self.histories.values().any(|h| h.steps.iter().any(outside))
    }

    // ---- changes

    /// Until [`ChangeLog::write_batch`] steps are kept together.
    pub fn begin_batch(&mut self) {
        self.batch = Some(Vec::new());
    }

    /// Writes the steps since [`ChangeLog::begin_batch`].
    pub fn write_batch(&mut self, files: &mut Contents) -> Result<(), ReviewError> {
        let steps = self.batch.take().unwrap_or_default();
        files.snapshot.objects.gathered().and_then(|()| self.ledger.add_all(&steps))
    }

    /// Takes in a change. The person's are of interest only where the agent has been.
    pub fn record(&mut self, path: &Path, mut step: ChangeRecord, files: &mut Contents) -> Result<(), ReviewError> {
        if step.before == step.after || !self.histories.contains_key(path) && !step.is_shown() {
            return Ok(());
        }
        files.snapshot.objects.take_missing();
        let mut accepted = self.accepted_after(path, &step, files);
        if self.forgets_missing(&accepted, files) {
            for state in [&mut step.before, &mut step.after] {
                *state = files.snapshot.objects.as_readable(state)?;
            }
            accepted = self.accepted_after(path, &step, files);
        }
        self.take(path, step, accepted?, files)
    }

    fn accepted_after(&self, path: &Path, step: &ChangeRecord, files: &mut Contents) -> Result<State, ReviewError> {
        self.histories.get(path).map_or(Ok(step.before), |history| history.accepted_after(step, files))
    }

    /// Takes in a step, and the state that is accepted after it.
    pub fn take(
        &mut self,
        path: &Path,
        step: ChangeRecord,
        accepted: State,
        files: &mut Contents,
    ) -> Result<(), ReviewError> {
        let run = self.runs.get(path).filter(|_| step.beside_run).cloned();
        let record = Record::Step { path: path.to_owned(), step, accepted, run };
        match &mut self.batch {
            Some(steps) => steps.push(record),
            None => {
                files.snapshot.objects.gathered()?;
                self.ledger.add(&record)?;
            }
        }
        self.put_step(path, step, accepted);
        Ok(())
    }

    /// What is taken in of a file now may be what this other run wrote.
    pub fn note_run(&mut self, path: &Path, run: &str) {
        self.runs.insert(path.to_owned(), run.to_owned());
    }

    /// The other run of which a change of that file may be, in words.
    pub fn run_beside(&self, path: &Path) -> String {
        let run = self.runs.get(path).map(|run| format!(": {}", visible(OsStr::new(run)))).unwrap_or_default();
        format!("another run of acp-tui wrote it too{run}")
    }

    /// Takes back the last step of a file, which was put down before it was done and could not be done.
    pub fn untake(&mut self, path: &Path) -> Result<(), ReviewError> {
        self.ledger.add(&Record::Untaken { path: path.to_owned() })?;
        self.take_off(path);
        Ok(())
    }

    fn take_off(&mut self, path: &Path) {
        self.rev += 1;
        let Some(history) = self.histories.get_mut(path) else { return };
        history.steps.pop();
        if history.steps.is_empty() {
            self.histories.remove(path);
        }
    }

    /// The change that is step `number` of a file is this one's doing.
    pub fn account(&mut self, path: &Path, number: usize, by: Author) -> Result<(), ReviewError> {
        self.ledger.add(&Record::Accounted { path: path.to_owned(), step: number, by })?;
        self.put_author(path, number, by);
        Ok(())
    }

    fn put_author(&mut self, path: &Path, number: usize, by: Author) {
        self.rev += 1;
        if let Some(history) = self.histories.get_mut(path) {
            history.account(number, by);
        }
    }

    fn put_step(&mut self, path: &Path, step: ChangeRecord, accepted: State) {
        self.rev += 1;
        self.pending.seen(path, &step.after);
        self.order.changed(path, &step.after, self.rev);
        match self.histories.get_mut(path) {
            Some(history) => {
                history.steps.push(step);
                history.accepted = accepted;
            }
            None => {
                self.histories.insert(path.to_owned(), FileHistory { steps: vec![step], accepted, accounted: 0 });
            }
        }
    }

    // ---- writes through the client

    /// Those of which it is not known yet what has become of them.
    pub const fn pending(&self) -> &PendingWrites {
        &self.pending
    }

    /// A write through the client is about to begin.
    pub fn write_begins(&mut self, path: &Path, write: PendingWrite) -> Result<(), ReviewError> {
        self.ledger.add(&Record::Writes { path: path.to_owned(), write })?;
        self.pending.begins(path, write);
        Ok(())
    }

    /// The write of that content for an entry is over, and what it did is recorded.
    pub fn write_ends(&mut self, content: Oid, entry: Option<u64>) -> Result<(), ReviewError> {
        if self.pending.end(content, entry) { self.ledger.add(&Record::WritesEnd { content, entry }) } else { Ok(()) }
    }

    // ---- decisions

    /// Notes what is about to be done; on the disk when it returns.
    pub fn announce(&mut self, act: Decision, files: &mut Contents) -> Result<(), ReviewError> {
        files.snapshot.objects.gathered()?;
        self.order.acts(act.id, self.rev);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok();
        let at = now.and_then(|now| u64::try_from(now.as_millis()).ok());
        let record = Record::Act(Decision { at, ..act });
        self.ledger.add_now(&record)?;
        self.undo_log.take(record);
        Ok(())
    }

    /// Notes for which files a decision was carried out; `turn` is the one that runs, or the last one.
    pub fn finished(&mut self, id: u64, done: Vec<usize>, cut: bool, turn: u64) -> Result<(), ReviewError> {
        let record = Record::Done { act: id, files: done, cut };
        self.ledger.add(&record)?;
        self.undo_log.take(record);
        self.put_done(id, turn);
        Ok(())
    }

    /// Takes into the histories what was carried out of a decision.
    fn put_done(&mut self, id: u64, turn: u64) {
        let merge = self.undo_log.merge_of(id).map(|(merge, _)| merge);
        let takes_back = merge.is_some_and(|merge| merge != id);
        for file in self.undo_log.files(id) {
            let FileDecision { path, disk: (before, after), accepted, by_hand } = file;
            let cause = match merge {
                Some(_) => Cause::Merge,
                None if *by_hand => Cause::Person,
                None => Cause::Review,
            };
            let (before, after) = (*before, *after);
            if merge.is_some() && !self.histories.contains_key(path) {
                // No agent has been there, and the merge can be taken back all the same.
                let accepted = accepted.0;
                self.histories.insert(path.clone(), FileHistory { steps: Vec::new(), accepted, accounted: 0 });
            }
            self.rev += 1;
            if before != after {
                self.order.changed(path, &after, self.rev);
            }
            if let Some(history) = self.histories.get_mut(path) {
                if before != after {
                    // A merge is named by its own number where an entry would be.
                    let decided = merge.is_none() || takes_back;
                    let step = ChangeRecord::new(turn, cause, merge, before, after);
                    history.steps.push(ChangeRecord { decided, ..step });
                }
                history.accepted = accepted.1;
            }
        }
    }

    // ---- what could not be removed

    /// Files under names of ours, and what they were to be.
    pub const fn left(&self) -> &BTreeMap<PathBuf, State> {
        &self.left
    }

    /// There is such a file; nothing when it is gone, or is not ours any more.
    pub fn note_left(&mut self, path: PathBuf, state: State) -> Result<(), ReviewError> {
        self.ledger.add(&Record::Left { path: path.clone(), state })?;
        self.put_left(path, state);
        Ok(())
    }

    fn put_left(&mut self, path: PathBuf, state: State) {
        if state.is_absent() {
            self.left.remove(&path);
        } else {
            self.left.insert(path, state);
        }
    }

    // ---- the ledger and the store

    /// First what has become of the files, then that they were seen: the other way round, what a crash comes between
    /// would never be known.
    pub fn save(&mut self, files: &mut Contents) -> Result<(), ReviewError> {
        if !files.snapshot.is_saved() {
            self.ledger.sync()?;
            files.snapshot.note_ledger(self.ledger.bytes());
        }
        files.snapshot.save()
    }

    /// What is missing of the record itself, in words: what is taken back need not be all.
    pub fn damage(&self) -> Option<String> {
        self.ledger.damage()
    }

    // ---- contents that are gone

    /// Whether the store has what a path was before some change.
    pub fn had_content(&self, path: &Path) -> bool {
        self.histories.get(path).is_some_and(|h| h.steps.iter().any(|step| step.before.oid().is_some()))
    }

    /// Files of which it is not known what they were before the agent changed them.
    pub fn unknown_before(&self) -> impl Iterator<Item = &Path> {
        let is_unkept = |state: &State| matches!(state, State::Unkept { .. });
        let is_unknown = move |h: &FileHistory| h.steps.iter().any(|s| s.is_shown() && is_unkept(&s.before));
        self.histories.iter().filter(move |(_, h)| is_unknown(h)).map(|(path, _)| &**path)
    }

    /// After the ledger was read: states whose content no store has any more become `Unkept`.
    pub fn forget_lost(&mut self, files: &mut Contents) {
        self.forget(files, |snapshot, state| snapshot.objects.as_kept(state));
    }

    /// The same while the session runs: what the person's stores could not be read for and cannot yet.
    pub fn forget_owed(&mut self, files: &mut Contents) {
        self.forgotten += 1;
        self.rev += 1;
        self.forget_lost(files);
    }

    /// Whether something that only reads contents has failed since one is in no store any more. That is taken for not
    /// kept then, so that the same can be done once more: one content that is gone takes no other file along. Each is
    /// read for certain, since more may be damaged.
    pub fn forgets_missing<T>(&mut self, done: &Result<T, ReviewError>, files: &mut Contents) -> bool {
        let is_missing = matches!(done, Err(ReviewError::NotKept(_))) && files.snapshot.objects.take_missing();
        if is_missing {
            self.forgotten += 1;
            self.rev += 1;
            // What cannot be read for want of memory or files is not lost.
            self.forget(files, |snapshot, state| snapshot.objects.as_readable(state).unwrap_or(*state));
        }
        is_missing
    }

    fn forget(&mut self, files: &mut Contents, found: impl Fn(&mut Snapshot, &State) -> State) {
        let newest: Vec<(PathBuf, State)> = self.histories.iter().map(|(path, h)| (path.clone(), h.last())).collect();
        for (path, state) in newest {
            if found(&mut files.snapshot, &state) != state {
                // What is still on the disk can still be had; where it cannot be read, it is lost as well.
                let _ = files.on_disk(&path);
            }
        }
        let snapshot = &mut files.snapshot;
        let mut known: BTreeMap<_, State> = BTreeMap::new();
        let mut forget = |state: &mut State| {
            if let Some(oid) = state.oid() {
                let (was, mode) = (*state, state.mode());
                *state = *known.entry((oid, mode)).or_insert_with(|| found(snapshot, &was));
            }
        };
        for history in self.histories.values_mut() {
            for step in &mut history.steps {
                forget(&mut step.before);
                forget(&mut step.after);
            }
            forget(&mut history.accepted);
        }
        self.undo_log.each_state(forget);
    }
}

#[cfg(test)]
#[path = "change_log_tests.rs"]
mod tests;
