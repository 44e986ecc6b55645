//! The review of one session: who changed what, what was decided of it, and how to take it back.
//!
//! Blocking; one thread owns it. Invariant: the disk is the truth, and what is recorded can be read again after a
//! crash at any point.

pub mod apply;
pub mod attribution;
pub mod directory;
pub mod displaced;
pub mod expected;
pub mod observe;
pub mod only_copies;
pub mod recorded;
pub mod recover;
pub mod sweep;
pub mod totals;
pub mod turns;
pub mod undo;
pub mod unknown_before;
pub mod write;
pub mod write_many;

use self::attribution::{Attributed, Attribution};
use self::only_copies::Order;
use self::write::Writing;
use super::archive;
use super::dir::{self, HEAD, LEDGER, NUMBER, SESSIONS, STORE, last_sign, lock, read_json, write_json};
use super::error::ReviewError;
use super::snapshot::{Limits, Snapshot};
use super::state::{Change, Oid, State};
use crate::host::fs::{Private, Roots};
use crate::model::changes::{Cause, Scope, Totals, Truth};
use crate::model::ids::EntryId;
use crate::review::decide::doc::DocCache;
use crate::review::decide::hold::HeldWrite;
use crate::review::decide::preview;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::{FileHistory, Pair};
use crate::review::history::ledger::{ChangeRecord, Decision, FileDecision, Ledger, Record};
use crate::review::history::undo_log::UndoLog;
use crate::review::protocol::{AgentSession, Changed, Replaceable, SessionInfo, ToolEffect, ToolNote, Watch};
use crate::review::snapshot::root;
use crate::store::private::{check_owner, make_private_dir};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// After a command the whole tree is looked at again, unless looking would take more than one of so many parts of the
/// time.
const SCAN_SHARE: u32 = 10;
/// A look that is shorter than this is always taken.
const CHEAP_SCAN: Duration = Duration::from_millis(100);
/// Larger texts are not searched for what a tool call says it has put there, bytes.
const MAX_CLAIMED: usize = 4 << 20;

pub struct ReviewSession {
    pub(crate) dir: PathBuf,
    head: SessionInfo,
    sessions: Vec<AgentSession>,
    roots: Roots,
    pub(crate) files: Contents,
    /// What was shown of each file.
    pub(crate) docs: DocCache,
    pub(crate) ledger: Ledger,
    pub(crate) undo_log: UndoLog,
    pub(crate) histories: BTreeMap<PathBuf, FileHistory>,
    order: Order,
    pub(crate) activity: Attribution,
    /// The number of the last look at each path that was looked at by itself.
    looked: HashMap<PathBuf, u64>,
    /// What the review shows as pending, from when it was first shown: decided hunks stay in sight.
    pub(crate) shown_pending: BTreeMap<PathBuf, Pair>,
    pub(crate) held: Vec<HeldWrite>,
    pub(crate) writing: Writing,
    pub(crate) rev: u64,
    /// Turns that have begun.
    pub(crate) turns: BTreeSet<u64>,
    /// Those whose prompt went out before the look that precedes it was finished.
    pub(crate) early: BTreeSet<u64>,
    pub(crate) sums: HashMap<PathBuf, (usize, State, Totals)>,
    last_scan: Instant,
    scan_took: Duration,
    /// A look that is shorter than this is always taken.
    cheap: Duration,
    /// Is told how far an action has come.
    pub(crate) watch: Option<Watch>,
    /// Steps of a look that go into the ledger together.
    steps: Option<Vec<Record>>,
    /// Open elsewhere as long as somebody holds it.
    lock: File,
    /// It is a copy of what was recorded, and looks at nothing.
    copy: Option<TempDir>,
    /// Nobody sits before a screen: what changes between the first look and the end may be the agent's.
    alone: bool,
    /// Turns in which the agent said what it does.
    told: BTreeSet<u64>,
    /// Writes through the client that have begun, and what they write.
    under_way: HashMap<PathBuf, Oid>,
}

impl ReviewSession {
    /// Takes up a new session below `home`, the directory of all reviews. Nothing is read yet.
    pub fn create(home: &Path, head: SessionInfo) -> Result<Self, ReviewError> {
        let dir = home.join(&head.stem);
        for dir in [home, &dir] {
            make_private_dir(dir).map_err(|e| ReviewError::io(dir, e))?;
        }
        let lock = lock(&dir)?;
        dir::make_room_for_trouble(&dir)?;
        write_json(&dir.join(NUMBER), &archive::next_number(home))?;
        write_json(&dir.join(HEAD), &head)?;
        write_json(&dir.join(SESSIONS), &Vec::<AgentSession>::new())?;
        let root = real(&head.cwd)?;
        let snapshot = Snapshot::create(&dir.join(STORE), &root, Limits::default())?;
        let ledger = Ledger::create(&dir.join(LEDGER))?;
        Ok(Self::assembled(dir, head, Vec::new(), snapshot, ledger, lock))
    }

    /// Goes on with an earlier session; `dir` is its own directory.
    pub fn open(dir: &Path) -> Result<Self, ReviewError> {
        check_owner(dir).map_err(|e| ReviewError::io(dir, e))?;
        let lock = lock(dir)?;
        let head: SessionInfo = read_json(&dir.join(HEAD))?;
        let sessions: Vec<AgentSession> = read_json(&dir.join(SESSIONS)).unwrap_or_default();
        let root = root::of(&dir.join(STORE), &head.cwd)?;
        let snapshot = Snapshot::open(&dir.join(STORE), &root, Limits::default())?;
        let (mut ledger, records) = Ledger::open(&dir.join(LEDGER))?;
        ledger.was_as_long_as(snapshot.noted_ledger());
        let last_sign = last_sign(dir, &head.stem);
        let mut review = Self::assembled(dir.to_owned(), head, sessions, snapshot, ledger, lock);
        review.replay(records, last_sign)?;
        Ok(review)
    }

    /// The copy of a review as far as it is recorded; an open turn stays open.
    pub(crate) fn open_copy(copy: TempDir) -> Result<Self, ReviewError> {
        let dir = copy.path();
        let head: SessionInfo = read_json(&dir.join(HEAD))?;
        let sessions: Vec<AgentSession> = read_json(&dir.join(SESSIONS)).unwrap_or_default();
        let snapshot = Snapshot::open(&dir.join(STORE), &root::of(&dir.join(STORE), &head.cwd)?, Limits::default())?;
        let (ledger, records) = Ledger::open(&dir.join(LEDGER))?;
        let mut review = Self::assembled(dir.to_owned(), head, sessions, snapshot, ledger, lock(dir)?);
        review.copy = Some(copy);
        review.take_in(records);
        Ok(review)
    }

    /// Whether it is the copy of a review that is still open.
    pub const fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// `pulse` moves from now on as long as there is progress.
    pub fn beat(&mut self, pulse: Arc<AtomicU64>) {
        self.files.pulse = pulse;
    }

    fn assembled(
        dir: PathBuf,
        head: SessionInfo,
        sessions: Vec<AgentSession>,
        snapshot: Snapshot,
        ledger: Ledger,
        lock: File,
    ) -> Self {
        let private = private(&dir, &head);
        Self {
            files: Contents::new(snapshot.without(&private)),
            docs: DocCache::default(),
            roots: Roots::new(vec![head.cwd.clone()]).without(private),
            dir,
            head,
            sessions,
            ledger,
            undo_log: UndoLog::default(),
            histories: BTreeMap::new(),
            order: Order::default(),
            activity: Attribution::default(),
            looked: HashMap::new(),
            shown_pending: BTreeMap::new(),
            held: Vec::new(),
            writing: Writing::default(),
            rev: 0,
            turns: BTreeSet::new(),
            early: BTreeSet::new(),
            sums: HashMap::new(),
            last_scan: Instant::now(),
            scan_took: Duration::ZERO,
            cheap: CHEAP_SCAN,
            watch: None,
            steps: None,
            lock,
            copy: None,
            alone: false,
            told: BTreeSet::new(),
            under_way: HashMap::new(),
        }
    }

    pub fn is_in_turn(&self) -> bool {
        self.activity.turn().is_some()
    }

    /// A sign for after a crash: up to now what changes is the turn's, however silent the agent is.
    pub fn still_here(&self) {
        // Without it only the agent's last word counts.
        let mut lock = &self.lock;
        let _ = lock.seek(SeekFrom::Start(0)).and_then(|_| lock.write_all(b"\n"));
    }

    pub fn head(&self) -> &SessionInfo {
        &self.head
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn sessions(&self) -> &[AgentSession] {
        &self.sessions
    }

    /// News of a tool call or command; looks at what it names. Whether the ledger has changed.
    pub fn tool(&mut self, note: &ToolNote) -> Result<bool, ReviewError> {
        let before = self.rev;
        let named = note.paths.iter().chain(note.claims.iter().map(|c| &c.path));
        let paths: Vec<PathBuf> = named.flat_map(|p| places(&self.roots, self.files.snapshot.root(), p)).collect();
        if self.activity.resumes(note) {
            match note.doing {
                ToolEffect::Runs => self.before_command()?,
                ToolEffect::Edits | ToolEffect::ReadOnly => self.look(&paths)?,
            }
        }
        let at = self.files.snapshot.clock.date(note.at);
        self.is_clock_set();
        let (roots, root) = (&self.roots, self.files.snapshot.root());
        let begins = !note.settled && !self.activity.knows(note.entry);
        let settles = self.activity.note(note, at, |path| places(roots, root, path));
        self.note_told()?;
        if note.doing != ToolEffect::ReadOnly {
            self.look(&paths)?;
        }
        // What was there before is told apart by its time, as long as the command has not changed the same file.
        if note.doing == ToolEffect::Runs && (settles || begins) && self.is_scan_affordable() {
            self.scan()?;
        }
        Ok(self.rev != before)
    }

    fn is_scan_affordable(&self) -> bool {
        self.scan_took < self.cheap || self.last_scan.elapsed() >= self.scan_took * SCAN_SHARE
    }

    /// Right before a command starts: what is there now is not its doing. Where looking at everything takes long, only
    /// files that the agent has changed before are looked at.
    pub fn before_command(&mut self) -> Result<(), ReviewError> {
        if self.is_scan_affordable() { self.scan() } else { self.refresh() }
    }

    /// After a crash it has to be known whether the agent said what it did in the turn.
    fn note_told(&mut self) -> Result<(), ReviewError> {
        if self.activity.is_told() {
            for turn in self.activity.turns() {
                if self.told.insert(*turn) {
                    self.ledger.add(&Record::Told { turn: *turn })?;
                }
            }
        }
        Ok(())
    }

    /// Right before a write of `content` through the client: what is there now is not its doing. `path` is absolute.
    /// What the write may replace, as far as that is known.
    pub fn before_write(&mut self, path: &Path, content: &str) -> Result<Option<Replaceable>, ReviewError> {
        let Some(path) = self.below(path) else { return Ok(None) };
        // Some agents write the file themselves as well, and first.
        if self.files.snapshot.peek(&path).is_ok_and(|(_, disk)| disk.as_deref() != Some(content.as_bytes())) {
            self.activity.writes(&path);
        }
        self.note_told()?;
        self.look(std::slice::from_ref(&path))?;
        // After a crash in the middle of the write it is known whose it is.
        self.files.snapshot.keep(content.as_bytes())?;
        self.under_way.insert(path.clone(), crate::review::snapshot::packs::hash(content.as_bytes())?);
        self.replaceable(path)
    }

    /// Right after a write through the client. What is there beyond `content` was done by somebody else since.
    /// It was asked for in `turn`; in the newest one when nothing is said.
    pub fn wrote(
        &mut self,
        path: &Path,
        content: &str,
        entry: Option<EntryId>,
        turn: Option<u64>,
    ) -> Result<(), ReviewError> {
        let Some(path) = self.below(path) else { return Ok(()) };
        self.under_way.remove(&path);
        self.activity.writes(&path);
        let changes = self.files.snapshot.look(std::slice::from_ref(&path))?;
        for change in changes {
            let State::File { mode, .. } = change.after else {
                self.observe(vec![change])?;
                continue;
            };
            let written = self.files.file(content.as_bytes(), mode)?;
            let before = self.histories.get(&change.path).map_or(change.before, FileHistory::last);
            let own = Attributed::new(Cause::Write, entry.map(|e| e.0)).of_turn(turn);
            self.record(&change.path, before, written, own)?;
            let later = self.blame(&change.path);
            self.record(&change.path, written, change.after, later)?;
        }
        self.save()?;
        self.activity.looked(false);
        self.looked.insert(path, self.activity.looks());
        Ok(())
    }

    /// Below the root, as the real path of a place inside it.
    pub(crate) fn below(&self, path: &Path) -> Option<PathBuf> {
        below(&self.roots, self.files.snapshot.root(), path)
    }

    fn scan(&mut self) -> Result<(), ReviewError> {
        self.scan_and(Self::observe)
    }

    /// Looks at everything; `take` takes the changes into the ledger.
    fn scan_and(
        &mut self,
        take: impl FnOnce(&mut Self, Vec<Change>) -> Result<(), ReviewError>,
    ) -> Result<(), ReviewError> {
        let scanned = self.scan_all(take);
        if let Err(error) = &scanned {
            dir::note_trouble(&self.dir, error);
        }
        scanned
    }

    fn scan_all(
        &mut self,
        take: impl FnOnce(&mut Self, Vec<Change>) -> Result<(), ReviewError>,
    ) -> Result<(), ReviewError> {
        let began = Instant::now();
        let changes = self.files.snapshot.scan()?;
        if let Some(error) = self.files.snapshot.take_failed() {
            dir::note_trouble(&self.dir, &error);
        }
        self.last_scan = Instant::now();
        self.scan_took = began.elapsed();
        take(self, changes)?;
        self.save()?;
        self.activity.looked(true);
        Ok(())
    }

    /// Looks at some paths below the root, and at nothing else.
    pub(crate) fn look(&mut self, paths: &[PathBuf]) -> Result<(), ReviewError> {
        if paths.is_empty() || self.is_copy() {
            return Ok(());
        }
        let changes = self.files.snapshot.look(paths)?;
        self.observe(changes)?;
        self.save()?;
        self.activity.looked(false);
        let number = self.activity.looks();
        self.looked.extend(paths.iter().map(|p| (p.clone(), number)));
        Ok(())
    }

    /// Looks again at every file that the ledger knows.
    pub(crate) fn refresh(&mut self) -> Result<(), ReviewError> {
        let paths: Vec<PathBuf> = self.histories.keys().cloned().collect();
        self.look(&paths)
    }

    /// A decision that was carried out.
    fn put_decision(&mut self, file: &FileDecision) {
        let (before, after) = file.disk;
        let turn = self.newest_turn();
        let cause = if file.by_hand { Cause::Person } else { Cause::Review };
        let step = ChangeRecord { turn, cause, doubt: false, decided: true, entry: None, before, after };
        self.rev += 1;
        if before != after {
            self.order.changed(&file.path, &after, self.rev);
        }
        if let Some(history) = self.histories.get_mut(&file.path) {
            if before != after {
                history.steps.push(step);
            }
            history.accepted = file.accepted.1;
        }
    }

    /// Notes for which files an act was carried out.
    pub(crate) fn finished(&mut self, id: u64, done: Vec<usize>, cut: bool) -> Result<(), ReviewError> {
        self.note_displaced()?;
        let record = Record::Done { act: id, files: done, cut };
        self.ledger.add(&record)?;
        self.undo_log.take(record);
        self.put_done(id);
        Ok(())
    }

    /// Takes into the histories what was carried out of an act.
    pub(crate) fn put_done(&mut self, id: u64) {
        let undo_log = std::mem::take(&mut self.undo_log);
        undo_log.files(id).for_each(|file| self.put_decision(file));
        self.undo_log = undo_log;
    }

    /// Notes what is about to be done; on the disk when it returns.
    pub(crate) fn announce(&mut self, act: Decision) -> Result<(), ReviewError> {
        // What it names is in the store first.
        self.files.snapshot.gathered()?;
        self.order.acts(act.id, self.rev);
        let record = Record::Act(act);
        self.ledger.add_now(&record)?;
        self.undo_log.take(record);
        Ok(())
    }

    /// Whether a change of the agent has appeared that did not come through the client.
    pub fn is_after(&self) -> bool {
        let outside = |s: &ChangeRecord| s.is_shown() && s.cause != Cause::Write;
        self.histories.values().any(|h| h.steps.iter().any(outside))
    }

    /// What could not be covered, in words.
    pub fn uncovered(&self) -> Vec<String> {
        let mut named: Vec<String> = self.trouble().into_iter().collect();
        if !self.is_copy() {
            named.extend(self.files.snapshot.uncovered_but(&|path| self.had_content(path)));
        }
        let more = self.without_before(&named);
        named.extend(more);
        named.extend(self.early.iter().map(|turn| {
            format!("turn {turn}: its prompt went out before all files had been looked at; what it changed by then may be missing")
        }));
        named
    }

    /// All turns that have begun, oldest first.
    pub fn all_turns(&self) -> Vec<u64> {
        self.turns.iter().copied().collect()
    }

    /// Turns that changed something, oldest first.
    pub(crate) fn turns_that_changed(&self) -> Vec<u64> {
        let steps = self.histories.values().flat_map(|h| &h.steps);
        let turns: BTreeSet<u64> = steps.filter(|s| s.is_shown()).map(|s| s.turn).collect();
        turns.into_iter().collect()
    }

    /// What a write or the diff of a permission request would really do.
    pub fn truth(&mut self, path: &Path, old: Option<&str>, new: &str) -> Result<Truth, ReviewError> {
        let disk = match self.below(path) {
            Some(below) => self.files.snapshot.peek(&below)?.1,
            None => None,
        };
        let text = disk.as_ref().map(|bytes| std::str::from_utf8(bytes).ok());
        if text == Some(None) {
            let differs = Some("the file on the disk is no UTF-8 text".to_owned());
            return Ok(Truth { path: path.to_owned(), old: old.map(Arc::from), new: new.into(), differs });
        }
        let preview::Effective { old, new, differs } = preview::compare(text.flatten(), old, new);
        Ok(Truth { path: path.to_owned(), old, new, differs })
    }

    /// Every file that the agent has changed, for patches and reports, sorted by path.
    pub fn changed(&mut self, scope: Scope) -> Result<Vec<Changed>, ReviewError> {
        self.without_missing(|review| review.changed_in(scope))
    }

    fn changed_in(&mut self, scope: Scope) -> Result<Vec<Changed>, ReviewError> {
        let mut out = Vec::new();
        for (path, history) in &self.histories {
            let Some(pair) = history.pair(scope, &mut self.files)? else { continue };
            let wanted = |s: &&ChangeRecord| s.is_shown() && !matches!(scope, Scope::Turn(turn) if turn != s.turn);
            let (mut causes, mut turns) = (Vec::new(), Vec::new());
            for step in history.steps.iter().filter(wanted) {
                if !causes.contains(&step.cause) {
                    causes.push(step.cause);
                }
                if !turns.contains(&step.turn) {
                    turns.push(step.turn);
                }
            }
            out.push(Changed { path: path.clone(), before: pair.old, after: pair.new, causes, turns });
        }
        Ok(out)
    }

    /// The content behind a state; empty for nothing.
    pub fn content(&self, state: &State) -> Result<Vec<u8>, ReviewError> {
        self.files.content(state)
    }
}

/// What the client keeps for itself: what it was when the session began, and where its review is now.
fn private(dir: &Path, head: &SessionInfo) -> Private {
    let home = dir.parent().unwrap_or(dir).to_owned();
    let state = home.parent().filter(|state| archive::below(state) == home);
    let beside = state.map(archive::private).unwrap_or_default();
    Private::new(head.private.iter().cloned().chain([home]).chain(beside))
}

/// What a path that a call names may mean below the root: a link itself, and what it leads to.
fn places(roots: &Roots, root: &Path, path: &Path) -> Vec<PathBuf> {
    let parent = path.parent().and_then(|dir| roots.check(dir).ok()).map(|dir| dir.real);
    let itself = parent.zip(path.file_name()).map(|(dir, name)| dir.join(name));
    let itself = itself.and_then(|path| path.strip_prefix(root).ok().map(Path::to_owned));
    let mut places: Vec<PathBuf> = itself.into_iter().chain(below(roots, root, path)).collect();
    places.dedup();
    places
}

/// Below the root, as the real path of a place inside it.
fn below(roots: &Roots, root: &Path, path: &Path) -> Option<PathBuf> {
    let resolved = roots.check(path).ok()?.real;
    resolved.strip_prefix(root).ok().filter(|p| !p.as_os_str().is_empty()).map(Path::to_owned)
}

fn real(path: &Path) -> Result<PathBuf, ReviewError> {
    path.canonicalize().map_err(|e| ReviewError::io(path, e))
}

#[cfg(test)]
#[path = "session_tests.rs"]
pub(crate) mod tests;

#[cfg(test)]
#[path = "again_tests.rs"]
mod again_tests;

#[cfg(test)]
#[path = "many_tests.rs"]
mod many_tests;

#[cfg(test)]
#[path = "keeping_tests.rs"]
mod keeping_tests;

#[cfg(test)]
#[path = "moved_tests.rs"]
mod moved_tests;

#[cfg(test)]
#[path = "property_tests.rs"]
mod property_tests;
