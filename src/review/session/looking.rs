//! Looks at the files: when, whose what they find may be, and what there is to look at then.
//!
//! How is for the snapshot, whose for the [`Observer`]. Invariants: what has changed before a turn, a command or a write
//! begins is not its doing; the ledger says of each turn when it begins, and when it ends unless the client was killed
//! in it.

use super::attribution::late::Over;
use super::attribution::{Attributed, LetGo};
use super::expected::replaceable;
use super::observe::Observer;
use super::session_dir::SessionDir;
use super::turns::Turns;
use super::{ReviewSession, places, shown, sweep};
use crate::model::changes::{Cause, FileDoc, ReviewDoc, Scope, Totals};
use crate::model::ids::{EntryId, ReqId};
use crate::review::decide::doc::Room;
use crate::review::decide::totals::totals_of;
use crate::review::error::ReviewError;
use crate::review::history::ledger::ChangeRecord;
use crate::review::history::pending_writes::PendingWrite;
use crate::review::protocol::{Passed, Replaceable, ToolEffect, ToolNote};
use crate::review::snapshot::clock::TICK;
use crate::review::snapshot::packs;
use crate::review::state::{Change, State};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Reads what is behind a state.
pub type Content<'a> = &'a dyn Fn(&State) -> Result<Vec<u8>, ReviewError>;

impl ReviewSession {
    pub(super) fn observer(&mut self) -> Observer<'_> {
        let Self { files, log, attribution, held, beside, .. } = self;
        Observer { files, log, attribution, held, beside }
    }

    /// Whoever has written what was found changed, it is known which other runs wrote there.
    fn follow_others(&mut self, found: &[Change]) {
        if !found.is_empty() && !self.is_copy() {
            self.beside.follow(&self.dir.others(), self.files.snapshot.root());
        }
    }

    /// Looks at the whole tree for the first time, while nothing else happens yet.
    pub fn first_look(&mut self) -> Result<(), ReviewError> {
        self.scan()
    }

    /// The same as [`Self::begin_turn_unless`] for a prompt that waits.
    pub fn begin_turn(&mut self, turn: u64) -> Result<(), ReviewError> {
        self.begin_turn_unless(turn, Passed::default)
    }

    /// Looks at the whole tree before a prompt goes out: what has changed since the last look is the person's. `passed` tells
    /// afterwards when the prompt went out if it did not wait. What has changed since then may be the agent's, and so it may
    /// where nothing can be looked at: the prompt goes out all the same. Where the turn is over as well, what has changed
    /// since that is in doubt.
    pub fn begin_turn_unless(&mut self, turn: u64, passed: impl FnOnce() -> Passed) -> Result<(), ReviewError> {
        let at = self.files.snapshot.clock.date(Instant::now()) - TICK;
        let mut has_begun = false;
        let begun = self.scan_and(|review, changes| {
            // In doubt it is the agent's: of two clocks that tick apart one is a little behind.
            let Passed { sent, over } = passed();
            let clock = &mut review.files.snapshot.clock;
            let sent = sent.map(|at| clock.date(at) - TICK);
            let over = over.map(|at| clock.date(at));
            // What cannot be told apart any more may be the agent's.
            let since_any = review.observer().is_clock_set() && sent.is_some();
            let snapshot = &mut review.files.snapshot;
            let is_since =
                |change: &Change| since_any || sent.is_some_and(|at| snapshot.changed_at(&change.path) >= at);
            let (since, before) = changes.into_iter().partition(is_since);
            if review.alone {
                review.attribution.begin(turn);
                review.attribution.presume_told();
            }
            review.observer().observe(before)?;
            review.attribution.begin(turn);
            review.stands_behind(turn);
            review.files.snapshot.turn_begins(sent);
            has_begun = true;
            review.attribution.forget_looks();
            review.log.turn_begins(turn, sent.is_some())?;
            review.begin_telling(turn);
            if review.attribution.telling.goes_on(turn) {
                review.log.note_told(&[turn])?;
            }
            review.attribution.over = over.map(|at| Over { turn, at });
            let observed = review.observer().observe(since);
            review.attribution.over = None;
            observed
        });
        if !has_begun {
            self.files.snapshot.turns_are_over();
            self.attribution.begin_unseen(turn, at);
            self.stands_behind(turn);
            self.begin_telling(turn);
        }
        begun
    }

    /// The answer to a side question is not where work is expected while others work.
    fn stands_behind(&mut self, turn: u64) {
        // The turn may not be noted yet, but its session is.
        if self.dir.sessions().iter().rfind(|session| session.first_turn <= turn).is_some_and(|one| one.is_aside) {
            self.attribution.stands_behind(turn);
        }
    }

    /// What its agent told in earlier turns counts in this one.
    fn begin_telling(&mut self, turn: u64) {
        let turns = Turns::new(self.dir.sessions(), self.log.turns());
        self.attribution.telling.begin(turn, |other| turns.are_of_one_agent(other, turn));
    }

    /// The same as [`Self::end_turn_late`] for a turn that is over just now.
    pub fn end_turn(&mut self, turn: u64) -> Result<Totals, ReviewError> {
        self.end_turn_late(turn, Instant::now())
    }

    /// Looks at the whole tree after a turn: what has changed is of the turn, but in doubt where that was when it was `over`
    /// and no call explains it. Its sums.
    pub fn end_turn_late(&mut self, turn: u64, over: Instant) -> Result<Totals, ReviewError> {
        self.dir.restore();
        let at = self.files.snapshot.clock.date(over);
        self.is_told_of_the_end(turn);
        self.attribution.over = Some(Over { turn, at });
        let looked = self.scan();
        self.attribution.over = None;
        looked.inspect_err(|_| self.attribution.end_unseen(turn, at))?;
        self.dir.note_root(&self.files.snapshot);
        self.attribution.end(turn);
        if self.attribution.turns().is_empty() {
            self.files.snapshot.turns_are_over();
        }
        let noted = self.log.turn_ends(turn);
        noted.inspect_err(|error| self.dir.note_trouble(error))?;
        let totals = self.turn_totals(turn);
        if totals.as_ref().is_ok_and(|totals| !totals.is_empty()) {
            let owner = self.turns().owner(turn).map(|owner| owner.id.clone());
            let noted = owner.map_or(Ok(()), |id| self.dir.has_changed(&id));
            noted.inspect_err(|error| self.dir.note_trouble(error))?;
        }
        self.files.rest();
        totals
    }

    /// Should the look not be finished, a later opening knows that the calls which were told of are all there were.
    pub(super) fn is_told_of_the_end(&mut self, turn: u64) {
        let noted = self.log.turn_is_ending(turn);
        if let Err(error) = noted {
            self.dir.note_trouble(&error);
        }
    }

    /// After the first look of a review that had to wait. These turns had begun by then, in the time `since` which it waited; what was changed is put down
    /// to the last. Those in `running` have not ended.
    pub fn had_turns(&mut self, turns: &[u64], running: &[u64], since: Instant) -> Result<(), ReviewError> {
        let Some(last) = turns.last().copied() else { return Ok(()) };
        let since = self.files.snapshot.clock.date(since) - TICK;
        for turn in turns {
            self.log.turn_begins(*turn, true)?;
        }
        let changed: Vec<(PathBuf, State)> = self.files.snapshot.changed_since(since).collect();
        self.files.snapshot.objects.gather();
        self.log.begin_batch();
        let recorded = changed.into_iter().try_for_each(|(path, after)| {
            // Whether it was there at all is not known either.
            let before = State::Unkept { mark: 0, mode: after.mode().unwrap_or(0o777), size: 0 };
            let step = ChangeRecord::new(last, Cause::Unknown, None, before, after);
            self.log.record(&path, ChangeRecord { doubt: true, ..step }, &mut self.files)
        });
        let written = self.log.write_batch(&mut self.files);
        recorded.and(written)?;
        self.log.save(&mut self.files)?;
        let mut ended = turns.iter().filter(|turn| !running.contains(turn));
        ended.try_for_each(|turn| self.log.turn_ends(*turn))
    }

    /// What a turn has changed whose end could be looked at only later.
    pub fn turn_totals(&mut self, turn: u64) -> Result<Totals, ReviewError> {
        self.without_missing(|review| totals_of(Scope::Turn(turn), &review.log, &mut review.files))
    }

    /// A turn whose end could not be looked at is over all the same: its session has begun another.
    pub fn leave_turn(&mut self, turn: u64) -> Result<(), ReviewError> {
        self.attribution.end(turn);
        self.log.turn_ends(turn)
    }

    /// Looks at everything once more when the agent has ended: what has changed since the last turn may be its doing.
    pub fn last_look(&mut self) -> Result<(), ReviewError> {
        let Some(turn) = self.log.turns().last().copied() else { return Ok(()) };
        self.attribution.begin(turn);
        self.attribution.presume_told();
        let looked = self.scan();
        self.dir.note_root(&self.files.snapshot);
        self.attribution.end(turn);
        looked
    }

    /// News of a tool call or command; looks at what it names. Whether the ledger has changed.
    pub fn tool(&mut self, note: &ToolNote) -> Result<bool, ReviewError> {
        self.tool_since(note, None)
    }

    /// The same of one that may have begun `since` then, before anybody could tell of it.
    fn tool_since(&mut self, note: &ToolNote, since: Option<LetGo>) -> Result<bool, ReviewError> {
        let before = self.log.rev();
        let named = note.paths.iter().chain(note.claims.iter().map(|c| &c.path));
        let paths: Vec<PathBuf> = named.flat_map(|p| places(&self.roots, self.files.snapshot.root(), p)).collect();
        let resumes = self.attribution.resumes(note);
        if resumes {
            match note.doing {
                ToolEffect::Runs | ToolEffect::Persons => self.before_command()?,
                ToolEffect::Edits | ToolEffect::ReadOnly | ToolEffect::Thinks => self.look(&paths)?,
            }
        }
        let at = self.files.snapshot.clock.date(note.at);
        let since = since.unwrap_or(LetGo::At(self.files.snapshot.clock.date(note.since)));
        self.observer().is_clock_set();
        let (roots, root) = (&self.roots, self.files.snapshot.root());
        let begins = !note.finished && !self.attribution.knows(note.entry);
        let was_silent = self.attribution.is_silent(note.entry);
        let finishes = self.attribution.note(note, since, at, |path| places(roots, root, path));
        self.note_told()?;
        self.observer().explain(note.entry, since)?;
        if was_silent && !note.claims.is_empty() {
            self.observer().tell_apart(note.entry)?;
        }
        // Before the looks: the client may end before they do.
        if let Some(ran) = self.attribution.command(note.entry, resumes.then_some(at)) {
            self.log.note_ran(ran)?;
        }
        if !matches!(note.doing, ToolEffect::ReadOnly | ToolEffect::Thinks) {
            self.look(&paths)?;
        }
        // What was there before is told apart by its time, as long as the command has not changed the same file.
        if matches!(note.doing, ToolEffect::Runs | ToolEffect::Persons) && (finishes || begins) {
            if self.pace.is_affordable() && !self.pace.is_behind {
                self.scan()?;
            } else {
                self.pace.put_off();
            }
        }
        Ok(self.log.rev() != before)
    }

    /// Whether calls are still to be told of that have run already: what they have done is not to be found before.
    pub const fn notes_wait(&mut self, wait: bool) {
        self.pace.is_behind = wait;
    }

    /// When the next look at everything is due that no news set off: one that a command's end would have cost too much for, for
    /// which the one after a turn serves, or one in a turn. There what no call explains has to be in doubt by then, and no
    /// command runs, which would be found half done.
    pub fn late_look(&self) -> Option<Instant> {
        let tells = |turn| self.attribution.is_told() || self.attribution.telling.goes_on(turn);
        let is_quiet = !self.attribution.runs() && self.attribution.unseen().next().is_none();
        let between = self.pace.between().filter(|_| is_quiet && self.attribution.turn().is_some_and(tells));
        [self.pace.due(), between].into_iter().flatten().min()
    }

    /// Takes it. Whether the ledger has changed.
    pub fn look_late(&mut self) -> Result<bool, ReviewError> {
        let before = self.log.rev();
        self.attribution.is_between = self.pace.due().is_none();
        let looked = self.scan();
        self.attribution.is_between = false;
        looked?;
        Ok(self.log.rev() != before)
    }

    /// The agent asks for a command of the client, also for one that is refused: it tells what it does in this turn.
    pub fn command_asked(&mut self) -> Result<(), ReviewError> {
        self.attribution.command_asked();
        self.note_told()
    }

    /// Right before a command starts: what is there now is not its doing. Where looking at everything takes long, only
    /// files that the agent has changed before are looked at.
    pub fn before_command(&mut self) -> Result<(), ReviewError> {
        if self.pace.is_affordable() { self.scan() } else { self.refresh() }
    }

    /// The command of this request may start now: what changes from now on may be its doing, however late anybody tells
    /// that it runs.
    pub fn command_let_go(&mut self, req: ReqId) {
        let at = self.files.snapshot.clock.date(Instant::now());
        self.attribution.let_go(req, at);
    }

    /// It runs, or could not be started. Whether the ledger has changed.
    pub fn command_started(&mut self, req: ReqId, note: Option<&ToolNote>) -> Result<bool, ReviewError> {
        let since = self.attribution.started(req);
        note.map_or(Ok(false), |note| self.tool_since(note, since))
    }

    /// The client ends, and its commands have. Where one ran since the last look at everything, it is looked once more:
    /// nobody would find later what it did.
    pub fn last_commands(&mut self) -> Result<(), ReviewError> {
        if self.pace.due().is_some() || self.attribution.runs() { self.scan() } else { Ok(()) }
    }

    /// A command did not wait until [`Self::before_command`] was over.
    pub fn command_was_early(&mut self) -> Result<(), ReviewError> {
        let turns = self.attribution.turns();
        let newest = [self.log.newest_turn()];
        self.log.note_early_command(if turns.is_empty() { &newest } else { turns })
    }

    /// After a crash it has to be known whether the agent said what it did in the turn.
    fn note_told(&mut self) -> Result<(), ReviewError> {
        if self.attribution.is_told() {
            return self.log.note_told(self.attribution.turns());
        }
        let goes_on = |turn: &&u64| self.attribution.telling.goes_on(**turn);
        let turns: Vec<u64> = self.attribution.turns().iter().filter(goes_on).copied().collect();
        self.log.note_told(&turns)
    }

    /// Right before a write of `content` through the client is held: what is there now is not its doing. `path` is
    /// absolute. What the write may replace, as far as that is known.
    pub fn before_write(&mut self, path: &Path, content: &str) -> Result<Option<Replaceable>, ReviewError> {
        let Some(path) = self.below(path) else { return Ok(None) };
        self.look_before(&path, content)?;
        self.files.snapshot.objects.keep(content.as_bytes())?;
        let by = Attributed::new(Cause::Write, None);
        self.attribution.write_begins(path.clone(), packs::hash(content.as_bytes())?, by);
        replaceable(&self.files.snapshot, path)
    }

    /// The same right before it is done, for an entry of a turn: the ledger knows of it before the file is touched.
    pub fn write_begins(
        &mut self,
        path: &Path,
        content: &str,
        entry: EntryId,
        turn: Option<u64>,
    ) -> Result<Option<Replaceable>, ReviewError> {
        let Some(path) = self.below(path) else { return Ok(None) };
        self.look_before(&path, content)?;
        let (oid, size) = (packs::hash(content.as_bytes())?, content.len() as u64);
        let (entry, of) = (Some(entry.0), turn.unwrap_or_else(|| self.last_turn()));
        let known = replaceable(&self.files.snapshot, path.clone())?;
        let by = Attributed::new(Cause::Write, entry).of_turn(turn);
        if let Some(Replaceable { state: before, links, .. }) = &known {
            let write = PendingWrite { turn: of, entry, before: *before, content: oid, size };
            // One that changes nothing leaves nothing to be found out.
            for name in links.iter().chain([&path]).filter(|_| before.oid() != Some(oid)) {
                self.log.write_begins(name, write)?;
                self.attribution.write_begins(name.clone(), oid, by);
            }
        }
        self.files.snapshot.objects.keep(content.as_bytes())?;
        self.attribution.write_begins(path, oid, by);
        Ok(known)
    }

    /// A write through the client that was about to begin was not done.
    pub fn not_written(&mut self, content: &str, entry: EntryId) -> Result<(), ReviewError> {
        let oid = packs::hash(content.as_bytes())?;
        self.attribution.not_written(oid, Some(entry.0));
        self.log.write_ends(oid, Some(entry.0))
    }

    /// The client ends. What its writes have done by now is recorded; of one with an unknown end, the ledger
    /// says that it had begun.
    pub fn last_writes(&mut self) -> Result<(), ReviewError> {
        let paths = self.attribution.written();
        self.look(&paths)
    }

    fn look_before(&mut self, path: &PathBuf, content: &str) -> Result<(), ReviewError> {
        // Some agents write the file themselves as well, and first.
        if self.files.snapshot.peek(path).is_ok_and(|(_, disk)| disk.as_deref() != Some(content.as_bytes())) {
            self.attribution.writes(path);
        }
        self.note_told()?;
        self.look(std::slice::from_ref(path))
    }

    /// Right after a write through the client. What is there beyond `content` was done by another author since: the next
    /// look finds it, when the calls that ran by now are known. It was asked for in `turn`; in the newest one when nothing
    /// is said.
    pub fn wrote(
        &mut self,
        path: &Path,
        content: &str,
        entry: Option<EntryId>,
        turn: Option<u64>,
    ) -> Result<(), ReviewError> {
        let Some(path) = self.below(path) else { return Ok(()) };
        self.attribution.write_ends(&path);
        let changes = self.files.snapshot.look(std::slice::from_ref(&path))?;
        self.follow_others(&changes);
        let mut has_more = false;
        for change in changes {
            let State::File { mode, .. } = change.after else {
                self.observer().observe(vec![change])?;
                continue;
            };
            let written = self.files.file(content.as_bytes(), mode)?;
            let before = self.log.last(&change.path).unwrap_or(change.before);
            let own = Attributed::new(Cause::Write, entry.map(|e| e.0)).of_turn(turn);
            self.observer().record(&change.path, before, written, own)?;
            if written != change.after {
                self.files.snapshot.set(&change.path, written)?;
                has_more = true;
            }
        }
        self.log.write_ends(packs::hash(content.as_bytes())?, entry.map(|entry| entry.0))?;
        self.log.save(&mut self.files)?;
        if !has_more {
            self.attribution.looked_at(std::iter::once(&path));
        }
        Ok(())
    }

    fn scan(&mut self) -> Result<(), ReviewError> {
        self.scan_and(|review, changes| review.observer().observe(changes))
    }

    /// Looks at everything; `take` takes the changes into the ledger.
    fn scan_and(
        &mut self,
        take: impl FnOnce(&mut Self, Vec<Change>) -> Result<(), ReviewError>,
    ) -> Result<(), ReviewError> {
        let scanned = self.scan_all(take);
        if let Err(error) = &scanned {
            self.dir.note_trouble(error);
        }
        scanned
    }

    fn scan_all(
        &mut self,
        take: impl FnOnce(&mut Self, Vec<Change>) -> Result<(), ReviewError>,
    ) -> Result<(), ReviewError> {
        self.files.begin_comparing();
        let began = self.pace.begin();
        sweep::take_left_away(&mut self.log, &mut self.files)?;
        let others = self.dir.others();
        self.files.snapshot.hidden.shared(SessionDir::is_shared(&others));
        self.beside.begin_look(&others, self.files.snapshot.root());
        let changes = self.files.snapshot.scan()?;
        self.follow_others(&changes);
        if let Some(error) = self.files.snapshot.take_failed() {
            self.dir.note_trouble(&error);
        }
        self.pace.scanned(began);
        // Their prompts went out before anything could be looked at.
        let unseen: Vec<u64> = self.attribution.unseen().filter(|turn| !self.log.turns().contains(turn)).collect();
        unseen.into_iter().try_for_each(|turn| self.log.turn_begins(turn, true))?;
        take(self, changes)?;
        self.observer().note_closed()?;
        self.log.save(&mut self.files)?;
        self.files.snapshot.restore()?;
        self.beside.end_look();
        self.attribution.looked_at_all();
        Ok(())
    }

    /// Looks at some paths below the root, and at nothing else.
    pub(crate) fn look(&mut self, paths: &[PathBuf]) -> Result<(), ReviewError> {
        if paths.is_empty() || self.is_copy() {
            return Ok(());
        }
        let changes = self.files.snapshot.look(paths)?;
        self.follow_others(&changes);
        self.observer().observe(changes)?;
        self.observer().note_closed()?;
        self.log.save(&mut self.files)?;
        self.attribution.looked_at(paths.iter());
        Ok(())
    }

    /// Looks again at every file that the ledger knows, and at what could not be looked into.
    pub(crate) fn refresh(&mut self) -> Result<(), ReviewError> {
        self.files.begin_comparing();
        if !self.is_copy() {
            sweep::take_left_away(&mut self.log, &mut self.files)?;
        }
        let known = || self.log.histories().keys().chain(self.log.closed().keys());
        if known().next().is_none() || self.is_copy() {
            return Ok(());
        }
        // There may be very many: of those that are what they were no list is made.
        let paths = self.files.snapshot.differing(known());
        let changes = self.files.snapshot.look(&paths)?;
        self.follow_others(&changes);
        self.observer().observe(changes)?;
        self.observer().note_closed()?;
        self.log.save(&mut self.files)?;
        self.attribution.looked_at(self.log.histories().keys().chain(self.log.closed().keys()));
        Ok(())
    }

    /// What there is to look at; reads the files in question again.
    pub fn doc(&mut self, scope: Scope) -> Result<ReviewDoc, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| review.doc_of(scope, Room::SHOWN))
    }

    /// The same without lines.
    pub fn outline(&mut self, scope: Scope) -> Result<ReviewDoc, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| review.doc_of(scope, Room::OUTLINE))
    }

    /// The sums of what there is to look at, as the document has them.
    pub fn shown_totals(&mut self, scope: Scope) -> Result<Totals, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| review.shown.totals(scope, &review.log, &review.held, &mut review.files))
    }

    /// Every file that there is to look at, one after another, with all its hunks and without their lines. When a content
    /// is found missing meanwhile all of it is `begun` anew.
    pub fn each_file<T>(
        &mut self,
        scope: Scope,
        begun: impl Fn(&Self) -> T,
        mut each: impl FnMut(&mut T, &FileDoc, Content<'_>) -> Result<(), ReviewError>,
    ) -> Result<T, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| {
            let mut out = begun(review);
            let Self { shown, log, held, files, .. } = review;
            shown.each(scope, log, held, files, |doc, files| each(&mut out, doc, &|state| files.content(state)))?;
            Ok(out)
        })
    }

    pub(super) fn doc_of(&mut self, scope: Scope, room: Room) -> Result<ReviewDoc, ReviewError> {
        let files = self.shown.files((scope, room), &self.log, &self.held, &mut self.files)?;
        let all = files.iter().flat_map(|f| &f.hunks).map(|hunk| u64::from(hunk.count)).sum();
        let pending = files.iter().map(|f| f.pending() as u64).sum();
        let mut totals = Totals { pending, files: files.len() as u64, ..Default::default() };
        for file in &files {
            totals.added += file.added;
            totals.removed += file.removed;
        }
        let turns = self.log.turns_that_changed();
        let mut names = self.turn_names();
        names.retain(|turn, _| scope == Scope::Turn(*turn) || turns.binary_search(turn).is_ok());
        Ok(ReviewDoc {
            rev: self.rev(),
            scope,
            turns,
            names,
            files,
            totals,
            decided: (all - pending, all),
            uncovered: self.uncovered(),
            is_partial: self.trouble().is_some(),
            left: Vec::new(),
            undo: match self.held.undoable() {
                Some(held) => Some(format!("a decision on the held write of {}", shown(&held.path))),
                None => self.log.undo_log().undoable().map(|act| self.log.undo_log().words(act)),
            },
            redo: match self.held.redoable() {
                Some(held) => Some(format!("a decision on the held write of {}", shown(&held.path))),
                None => self.log.undo_log().redoable().map(|act| self.log.undo_log().words(act)),
            },
        })
    }

    /// Turns in which something changed, oldest first.
    pub fn turns_that_changed(&self) -> Vec<u64> {
        self.log.turns_that_changed()
    }
}
