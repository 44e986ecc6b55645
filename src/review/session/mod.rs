//! The review of one session: who changed what, what was decided of it, and how to take it back.
//!
//! Blocking; one thread owns it. Owns the parts and says in which order they act; what each of them knows is in its own
//! file. Invariant: the disk decides, and what is recorded can be read again after a crash at any point.

mod actions;
pub mod attribution;
mod beside;
mod claimed;
mod displaced;
mod earlier;
mod execution;
pub mod expected;
mod looking;
mod observe;
pub mod persons;
pub mod recorded;
mod recover;
mod scan_pace;
mod session_dir;
mod sweep;
mod telling;
mod turns;
mod unexplained;
mod unknown_before;
mod write;

pub use self::actions::Newest;
use self::attribution::Attribution;
use self::beside::Beside;
pub use self::earlier::{EarlierRun, earlier_runs, earlier_runs_until, namesakes, runs_before};
use self::expected::below;
pub use self::looking::Content;
use self::scan_pace::ScanPace;
use self::session_dir::{SessionDir, root_stands};
pub use self::turns::Turns;
pub use self::unknown_before::unknown_beginnings;
use self::write::Writing;
use super::dir::{LEDGER, STORE};
use super::error::ReviewError;
use super::snapshot::coverage::Uncovered;
pub use super::snapshot::preserve::Share;
use super::snapshot::{Limits, Snapshot, root};
use super::state::State;
use crate::base::human::{self, thousands};
use crate::base::paths;
use crate::host::fs::{self, Roots};
use crate::model::changes::{Before, FileTotals, Scope, Totals, TurnName, WritePreview};
use crate::review::archive;
use crate::review::decide::held_writes::HeldWrites;
use crate::review::decide::only_copies::left_of_git;
use crate::review::decide::preview;
use crate::review::decide::shown_docs::ShownDocs;
use crate::review::decide::totals::{TotalsCache, totals_where};
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
pub use crate::review::history::contents::Stop;
use crate::review::history::ignored_copies::left_of_ignored;
pub use crate::review::history::ledger::MergedFrom;
use crate::review::history::ledger::{ChangeRecord, Ledger, Record};
use crate::review::history::origins::origins;
pub use crate::review::history::origins::{Carried, Origins, Whose};
use crate::review::protocol::{AgentSession, Changed, SessionInfo, Watch};
use crate::review::worktree::git_dirs::some;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Instant, SystemTime};
use tempfile::TempDir;

/// Files that are named where there may be very many.
const MAX_NAMED: usize = 100;
/// The same in one line.
const FEW_NAMED: usize = 50;

pub struct ReviewSession {
    roots: Roots,
    /// What every file is, and contents.
    pub(crate) files: Contents,
    /// What has become of them, and what was decided.
    log: ChangeLog,
    /// Who changes them now.
    attribution: Attribution,
    /// What other runs write.
    beside: Beside,
    /// What waits before it is written.
    held: HeldWrites,
    /// What is being written.
    writing: Writing,
    /// How many turns its sessions had before this run, by their ids.
    turns_before: HashMap<String, u64>,
    /// What the person looks at.
    shown: ShownDocs,
    totals: TotalsCache,
    pace: ScanPace,
    /// Without a screen: what changes between the first look and the end may be the agent's.
    alone: bool,
    /// The files could not be looked at when it was opened: what has changed since the last look is not known.
    behind: bool,
    dir: SessionDir,
}

impl ReviewSession {
    /// Takes up a new session below `home`, the directory of all reviews. Nothing is read yet.
    pub fn create(home: &Path, head: SessionInfo) -> Result<Self, ReviewError> {
        let dir = SessionDir::create(home, head)?;
        let root = real(&dir.head().cwd)?;
        let snapshot = Snapshot::create(&dir.path().join(STORE), &root, Limits::default())?;
        let snapshot = snapshot.with_record(&archive::verified(home));
        let ledger = Ledger::create(&dir.path().join(LEDGER))?;
        Ok(Self::assembled(dir, snapshot, ledger))
    }

    /// Goes on with an earlier session; `dir` is its own directory.
    pub fn open(dir: &Path) -> Result<Self, ReviewError> {
        let (mut review, records) = Self::stored(SessionDir::open(dir)?)?;
        let last_sign = review.dir.last_sign();
        review.replay(records, last_sign)?;
        Ok(review)
    }

    /// The copy of a review as far as it is recorded; an open turn stays open.
    pub(crate) fn open_copy(copy: TempDir) -> Result<Self, ReviewError> {
        let (mut review, records) = Self::stored(SessionDir::open_copy(copy)?)?;
        review.take_in(records);
        Ok(review)
    }

    /// What is on the disk of it, and what its ledger says.
    fn stored(dir: SessionDir) -> Result<(Self, Vec<Record>), ReviewError> {
        let store = dir.path().join(STORE);
        let root = root::of(&store, &dir.head().cwd)?;
        let snapshot = Snapshot::open(&store, &root, Limits::default())?;
        let (mut ledger, records) = Ledger::open(&dir.path().join(LEDGER))?;
        if !dir.is_copy() {
            ledger.was_as_long_as(snapshot.noted_ledger());
        }
        // The next look would be taken for the first.
        if snapshot.has_lost_all(records.iter().any(|record| matches!(record, Record::Turn { begins: true, .. }))) {
            dir.note_lost();
        }
        Ok((Self::assembled(dir, snapshot, ledger), records))
    }

    fn assembled(dir: SessionDir, snapshot: Snapshot, ledger: Ledger) -> Self {
        let private = dir.private();
        Self {
            files: Contents::new(snapshot.without(&private)),
            roots: Roots::new(vec![dir.head().cwd.clone()]).without(private),
            log: ChangeLog::new(ledger),
            attribution: Attribution::default(),
            beside: Beside::default(),
            held: HeldWrites::default(),
            writing: Writing::default(),
            turns_before: HashMap::new(),
            shown: ShownDocs::default(),
            totals: TotalsCache::default(),
            pace: ScanPace::new(),
            alone: false,
            behind: false,
            dir,
        }
    }

    /// What the ledger says; an act that a crash has cut short is looked for on the disk, and a turn that never ended is
    /// looked at now.
    fn replay(&mut self, records: Vec<Record>, last_sign: SystemTime) -> Result<(), ReviewError> {
        let open = self.take_in(records);
        self.log.forget_lost(&mut self.files);
        if !open.is_empty() || self.log.undo_log().unfinished().is_some() || !self.log.pending().is_empty() {
            sweep::sweep(&self.dir, &self.log, &self.files.snapshot);
        }
        recover::finish_act(&mut self.log, &mut self.files)?;
        recover::finish_writes(&mut self.log, &mut self.files)?;
        if let Err(error) = recover::finish_turns(&mut self.observer(), &open, last_sign) {
            // What is known so far can be looked at all the same.
            for turn in open {
                self.attribution.end(turn);
            }
            self.dir.note_trouble(&error);
            self.behind = true;
        }
        Ok(())
    }

    fn take_in(&mut self, records: Vec<Record>) -> Vec<u64> {
        let open = self.log.replay(records, |path| self.files.snapshot.hides(path));
        for (path, history) in self.log.histories() {
            self.files.snapshot.recall(path, history.last());
        }
        open
    }

    /// Whether it is the copy of a review that is still open.
    pub const fn is_copy(&self) -> bool {
        self.dir.is_copy()
    }

    /// `pulse` moves from now on as long as there is progress.
    pub fn beat(&mut self, pulse: Arc<AtomicU64>) {
        self.files.pulse = pulse;
    }

    /// Without a screen no person edits: what changes while no turn runs may be the agent's, too, which may write
    /// before its first prompt.
    pub fn alone(&mut self) {
        self.alone = true;
    }

    /// Who is told how far an action has come from now on, and can stop it.
    pub fn watched(&mut self, watch: Option<Watch>) {
        self.writing.watched(watch);
    }

    /// From now on an action ends in [`ReviewError::Stopped`], also while texts are compared, when `stop` says so. What was
    /// found changed until then may be known to nobody but the next opening: nothing else is asked of this one.
    pub fn stops(&mut self, stop: Option<Stop>) {
        self.files.stop = stop;
    }

    /// A sign for after a crash: up to now what changes is the turn's, however silent the agent is.
    pub fn still_here(&self) {
        self.dir.still_here();
    }

    pub const fn head(&self) -> &SessionInfo {
        self.dir.head()
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn sessions(&self) -> &[AgentSession] {
        self.dir.sessions()
    }

    /// A session of the agent was opened.
    pub fn session(&mut self, session: AgentSession) -> Result<(), ReviewError> {
        self.dir.add_session(session)
    }

    /// Its sessions had so many turns before this run, by their ids. Whether that was not known.
    pub fn count_on(&mut self, turns_before: HashMap<String, u64>) -> bool {
        let is_new = self.turns_before != turns_before;
        self.turns_before = turns_before;
        is_new
    }

    /// What the turns are called that are not counted like this in their conversations.
    fn turn_names(&self) -> BTreeMap<u64, TurnName> {
        let turns = self.turns();
        let is_shared = turns.are_shared();
        let named = turns.numbers().map(|(turn, session, number)| {
            let number = number + self.turns_before.get(&session.id).copied().unwrap_or_default();
            (turn, TurnName { number, session: is_shared.then(|| session.id.clone()) })
        });
        named.filter(|(turn, name)| *turn != name.number || name.session.is_some()).collect()
    }

    /// A turn as its conversation counts it, in words.
    pub fn turn_words(&self, turn: u64) -> String {
        match self.turn_names().remove(&turn) {
            None => format!("turn {turn}"),
            Some(TurnName { number, session: None }) => format!("turn {number}"),
            Some(TurnName { number, session: Some(id) }) => format!("turn {number} of {}", archive::shown_id(&id)),
        }
    }

    /// Whose the turns of this run are.
    pub fn turns(&self) -> Turns<'_> {
        Turns::new(self.dir.sessions(), self.log.turns())
    }

    pub fn is_in_turn(&self) -> bool {
        self.attribution.turn().is_some()
    }

    /// The turn that runs, or the last one; 0 before the first.
    pub fn last_turn(&self) -> u64 {
        self.attribution.turn().unwrap_or_else(|| self.log.newest_turn())
    }

    /// Whether a change of the agent has appeared that did not come through the client.
    pub fn is_after(&self) -> bool {
        self.log.is_after()
    }

    /// Whether the session's directory is there, and no other.
    pub fn root_stands(&self) -> Result<(), ReviewError> {
        root_stands(&self.files.snapshot)
    }

    /// Goes on keeping what only the person's repositories have. Whether something is left.
    pub fn keep_theirs(&mut self, share: Share) -> bool {
        self.files.snapshot.keep_theirs(share)
    }

    /// The same until nothing is left.
    #[cfg(test)]
    pub(crate) fn keep_all(&mut self) {
        while self.keep_theirs(Share::until(Instant::now())) {}
    }

    pub fn keeps_theirs(&self) -> bool {
        self.files.snapshot.objects.preserved.waits()
    }

    /// Why what is known of the files may not be all, in words; nothing when it is.
    pub fn trouble(&self) -> Option<String> {
        self.dir.trouble().into_iter().chain(self.damage()).reduce(|one, other| format!("{one}; {other}"))
    }

    /// What is missing of the record itself, in words: what is taken back need not be all.
    pub fn damage(&self) -> Option<String> {
        let of_git = || self.files.snapshot.damage().filter(|_| !self.is_copy());
        self.log.damage().into_iter().chain(of_git()).reduce(|one, other| format!("{one}; {other}"))
    }

    /// What could not be covered, in words.
    pub fn uncovered(&self) -> Vec<String> {
        let mut named: Vec<Uncovered> = self.trouble().into_iter().map(Uncovered::from).collect();
        let (failed, mut of_git) = (!named.is_empty(), BTreeSet::new());
        named.extend(self.dir.nameless().map(Uncovered::from));
        if !self.is_copy() {
            named.extend(self.dir.beside().map(Uncovered::from));
            named.extend(self.files.snapshot.uncovered_but(&|path| self.log.had_content(path), failed));
            let (lines, parts) = self.uncovered_of_git();
            named.extend(lines);
            of_git = parts;
            let copies = left_of_ignored(&self.log, &self.files.snapshot);
            let words = |(path, why): (&PathBuf, &String)| format!("{}: an undo leaves it: {why}", shown(path)).into();
            named.extend(copies.iter().take(MAX_NAMED).map(words));
            let more = copies.len().saturating_sub(MAX_NAMED) as u64;
            named.extend(
                (more > 0).then(|| format!("and {} that an undo leaves", human::count(more, "more file")).into()),
            );
            of_git.extend(copies.into_keys());
        }
        let more = unknown_before::unknown_before(&self.log, &named, &of_git);
        let mut named: Vec<String> = named.into_iter().map(|line| line.words).chain(more).collect();
        named.extend(self.being_written());
        named.extend(unknown_beginnings(self));
        named
    }

    /// What git ignored, or nobody could look into, and is gone, in words: no undo brings it back.
    pub fn gone_for_good(&self) -> Vec<String> {
        let gone = self.files.snapshot.gone(&|path| self.log.had_content(path));
        gone.into_iter().map(|line| line.words).collect()
    }

    /// What an undo leaves of git's, and what git has lost, in words; and the files of repositories that it leaves.
    fn uncovered_of_git(&self) -> (Vec<Uncovered>, BTreeSet<PathBuf>) {
        let mut lines = Vec::new();
        let mut say = |what: &str, names: Vec<String>| {
            if !names.is_empty() {
                lines.push(format!("{what}: {}", some(names.into_iter(), FEW_NAMED)).into());
            }
        };
        let shown = |path: &PathBuf| if path.as_os_str().is_empty() { ".".to_owned() } else { shown(path) };
        let losses = self.files.snapshot.losses();
        let root = self.files.snapshot.root();
        let lost = losses.first.iter().map(|path| shown(&path.strip_prefix(root).unwrap_or(path).to_owned()));
        let mut lost: Vec<String> = lost.collect();
        let more = losses.count.saturating_sub(lost.len());
        lost.extend((more > 0).then(|| format!("{} more", thousands(more as u64))));
        say("git has lost this since it was seen first, or has it otherwise (`git gc` does that, too)", lost);
        let of_git = left_of_git(&self.log, &self.files);
        let is_changed = |parts: &BTreeSet<PathBuf>| parts.iter().any(|path| of_git.changed.contains(path));
        let (changed, mut come): (Vec<_>, Vec<_>) = of_git.parts.iter().partition(|(_, parts)| is_changed(parts));
        come.sort_by_key(|(dir, _)| !of_git.run.contains(*dir));
        // What was there before has a name however many have come.
        let mut names: Vec<String> = changed.iter().map(|(path, _)| shown(path)).collect();
        names.extend((!come.is_empty()).then(|| some(come.iter().map(|(path, _)| shown(path)), FEW_NAMED)));
        let what = "git repositories, or parts of them, in which an undo leaves what has come or changed";
        say(what, (!names.is_empty()).then(|| names.join(", ")).into_iter().collect());
        let why =
            if losses.count > 0 { "git has lost something" } else { "it is not known whether git has lost something" };
        say(
            &format!("{why}, so an undo leaves new archives alone, in which it may be"),
            of_git.copies.iter().map(shown).collect(),
        );
        let alike = of_git.alike.iter().map(shown).collect();
        say(
            &format!("{why}, so an undo leaves new files alone that have the name and size of it, or its content"),
            alike,
        );
        (lines, of_git.parts.into_values().flatten().collect())
    }

    /// What can be said without reading any content: which files have changed, and which were being written.
    pub fn at_once(&self) -> Vec<String> {
        at_once(&self.log)
    }

    /// Files of which it is not known yet whether a write of them was done, in words.
    fn being_written(&self) -> Vec<String> {
        being_written(&self.log)
    }

    /// Whether the files could not be looked at when it was opened: there may be changes that are not known.
    pub const fn is_behind(&self) -> bool {
        self.behind
    }

    /// Files that have changed since they were looked at last, by their numbers alone; none of those that are new.
    pub fn touched(&self) -> Vec<PathBuf> {
        self.files.snapshot.peeks().touched()
    }

    /// Does something that only reads contents. When one is in no store any more, it is taken for not kept and the same
    /// is done once more: it is about this one file only.
    fn without_missing<T>(
        &mut self,
        mut what: impl FnMut(&mut Self) -> Result<T, ReviewError>,
    ) -> Result<T, ReviewError> {
        self.files.snapshot.objects.take_missing();
        let done = what(self);
        if self.log.forgets_missing(&done, &mut self.files) { what(self) } else { done }
    }

    /// Sums of the whole session, against what was there before the agent; what is pending, against the last accepted
    /// state.
    pub fn totals(&mut self) -> Result<Totals, ReviewError> {
        self.without_missing(|review| {
            let mut totals = review.totals.totals(&review.log, &mut review.files)?;
            totals.pending += review.held.pending(&mut review.files)?;
            Ok(totals)
        })
    }

    /// Of the files that the sums were last counted of, so many of the newest turns.
    pub fn newest_files(&self, count: usize) -> Vec<FileTotals> {
        self.totals.newest(count, &self.log)
    }

    /// Sums of what one session of the run has changed, and in which files.
    pub fn totals_of(&mut self, id: &str) -> Result<(Totals, Vec<PathBuf>), ReviewError> {
        self.refresh()?;
        self.without_missing(|review| {
            let turns = Turns::new(review.dir.sessions(), review.log.turns());
            totals_where(|turn| turns.is_of(turn, id), &review.log, &mut review.files)
        })
    }

    /// The sums of what was seen so far of one session of the run, file by file counted once.
    pub fn own_totals(&mut self, id: &str) -> Result<Totals, ReviewError> {
        self.without_missing(|review| {
            let turns = Turns::new(review.dir.sessions(), review.log.turns());
            review.totals.of_session((id, turns.as_of()), |turn| turns.is_of(turn, id), &review.log, &mut review.files)
        })
    }

    /// Below the root, as the real path of a place inside it.
    pub(crate) fn below(&self, path: &Path) -> Option<PathBuf> {
        below(&self.roots, self.files.snapshot.root(), path)
    }

    /// What a write or the diff of a permission request would really do.
    pub fn preview(&mut self, path: &Path, old: Option<&str>, new: &str) -> Result<WritePreview, ReviewError> {
        let disk = match self.below(path) {
            Some(below) => self.files.snapshot.peek(&below)?.1,
            None => elsewhere(path)?,
        };
        let text = disk.as_ref().map(|bytes| std::str::from_utf8(bytes).ok());
        if text == Some(None) {
            let differs = Some("the file on the disk is no UTF-8 text".to_owned());
            return Ok(WritePreview { path: path.to_owned(), old: old.map(Arc::from), new: new.into(), differs });
        }
        let preview::Effective { old, new, differs } = preview::compare(text.flatten(), old, new);
        Ok(WritePreview { path: path.to_owned(), old, new, differs })
    }

    /// The line of a file at which a text stands that is in it just once.
    pub fn line_of(&mut self, path: &Path, text: &str) -> Result<Option<u32>, ReviewError> {
        let Some(below) = self.below(path) else { return Ok(None) };
        let disk = self.files.snapshot.peek(&below)?.1;
        Ok(disk.and_then(|bytes| preview::line_of(std::str::from_utf8(&bytes).ok()?, text)))
    }

    /// Every file that the agent has changed, for patches and reports, sorted by path.
    pub fn changed(&mut self, scope: Scope) -> Result<Vec<Changed>, ReviewError> {
        self.without_missing(|review| review.changed_in(scope))
    }

    fn changed_in(&mut self, scope: Scope) -> Result<Vec<Changed>, ReviewError> {
        let mut out = Vec::new();
        for (path, history) in self.log.histories() {
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

    /// Follows lines of a file back through what is recorded; looks at no file. Those that came with a merge are of the
    /// file in the worktree, with its absolute path.
    pub fn origins(&mut self, lines: Vec<Carried>, until: Instant) -> Result<Origins, ReviewError> {
        let mut origins = origins(self.log.histories(), &mut self.files, lines, until)?;
        for (merge, carried) in &mut origins.merged {
            let from = self.log.undo_log().merge_of(*merge).map(|(_, from)| from);
            let path = self.files.snapshot.root().join(&carried.path);
            if let Some((from, below)) = from.and_then(|from| Some((from, path.strip_prefix(&from.origin).ok()?))) {
                carried.path = from.tree.join(below);
            }
        }
        Ok(origins)
    }

    /// Moves with each change of what there is to look at.
    pub(crate) const fn rev(&self) -> u64 {
        self.log.rev() + self.held.rev()
    }

    /// The content behind a state; empty for nothing.
    pub fn content(&self, state: &State) -> Result<Vec<u8>, ReviewError> {
        self.files.content(state)
    }
}

/// What a change log can say of files without their contents: which have changed, and which were being written.
fn at_once(log: &ChangeLog) -> Vec<String> {
    let changed = log.histories().iter().filter(|(_, history)| history.steps.iter().any(ChangeRecord::is_shown));
    let words = |path: &Path| format!("{}: has changed, and was not compared in time", shown(path));
    let (named, more) = (changed.clone().take(MAX_NAMED), changed.count().saturating_sub(MAX_NAMED));
    let more = (more > 0).then(|| format!("{more} more files have changed"));
    named.map(|(path, _)| words(path)).chain(more).chain(being_written(log)).collect()
}

fn being_written(log: &ChangeLog) -> Vec<String> {
    let names: BTreeSet<&Path> = log.pending().iter().map(|(path, _)| path).collect();
    let words = |path: &Path| format!("{}: was being written when this was put down", shown(path));
    names.into_iter().map(words).collect()
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

fn real(path: &Path) -> Result<PathBuf, ReviewError> {
    path.canonicalize().map_err(|e| ReviewError::io(path, e))
}

/// What a file holds that is none of the review's; nothing where there is none.
fn elsewhere(path: &Path) -> Result<Option<Vec<u8>>, ReviewError> {
    let unread = |source| ReviewError::Unread { path: path.to_owned(), source };
    let file = match fs::open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unread(error)),
    };
    let mut bytes = Vec::new();
    file.take(fs::MAX_OLD_BYTES + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > fs::MAX_OLD_BYTES {
        return Err(unread(io::Error::other("it is too large")));
    }
    Ok(Some(bytes))
}

/// Whether a file that is none of the review's is still this; what cannot be read is not.
pub fn is_elsewhere(path: &Path, over: &Before) -> bool {
    elsewhere(path).is_ok_and(|bytes| bytes.as_deref() == over.0.as_ref().map(|text| text.as_bytes()))
}

fn shown(path: &Path) -> String {
    paths::display(path, &[], None)
}

#[cfg(test)]
#[path = "session_tests.rs"]
pub(crate) mod tests;

#[cfg(test)]
#[path = "again_tests.rs"]
mod again_tests;

#[cfg(test)]
#[path = "documents_tests.rs"]
mod documents_tests;

#[cfg(test)]
#[path = "many_tests.rs"]
mod many_tests;

#[cfg(test)]
#[path = "preserved_tests.rs"]
mod preserved_tests;

#[cfg(test)]
#[path = "moved_tests.rs"]
mod moved_tests;

#[cfg(test)]
#[path = "merge_tests.rs"]
mod merge_tests;

#[cfg(test)]
#[path = "property_tests.rs"]
mod property_tests;

#[cfg(test)]
#[path = "invariants_tests.rs"]
mod invariants_tests;

#[cfg(test)]
#[path = "closed_tests.rs"]
mod closed_tests;

#[cfg(test)]
#[path = "pending_tests.rs"]
mod pending_tests;

#[cfg(test)]
#[path = "ignored_tests.rs"]
mod ignored_tests;

#[cfg(test)]
#[path = "made_ignored_tests.rs"]
mod made_ignored_tests;

#[cfg(test)]
#[path = "spelling_tests.rs"]
mod spelling_tests;
