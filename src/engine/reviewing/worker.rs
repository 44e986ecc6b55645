//! The review's own thread: takes one job after the other, and looks by itself while an agent works.
//!
//! Blocks on the disk. Invariant: every turn that was begun or ended here is answered with a fact; a failure is told and
//! ends nothing.

mod comparing;
mod inbox;
mod late;
mod looking_back;
mod own_sums;

use self::inbox::Inbox;
use self::late::Unseen;
use self::looking_back::LeftBefore;
use self::own_sums::OwnSums;
use super::passed::PassedTurns;
use super::{Asked, BEAT, Job, LAST_CHANCE, PACE, SLICE, Shown, rested};
use crate::base::paths;
use crate::engine::blame::{Bounds, of_line};
use crate::engine::fact::Facts;
use crate::engine::review_entries::{own_entries, session_of, shared};
use crate::host::fs::Roots;
use crate::model::changes::{Before, HeldOutcome, ReviewAction, ReviewCommand, ReviewEvent, Scope, Totals, Verdict};
use crate::model::event::HostEvent;
use crate::model::ids::{ReqId, SessionKey, TurnId};
use crate::review::error::ReviewError;
use crate::review::protocol::{AgentSession, Proposal, Released, ToolNote};
use crate::review::session::{ReviewSession, Share, is_elsewhere, persons};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tracing::debug;

/// How long a line is followed back, and how large a journal is read for what was asked: other looks wait meanwhile.
const BLAME: Duration = Duration::from_secs(2);
const BLAMED_JOURNAL: u64 = 64 << 20;

/// How long the review of a directory above or below is waited for.
const BESIDE: Duration = Duration::from_secs(5);

/// The thread's end.
pub(super) struct Worker {
    review: ReviewSession,
    roots: Arc<Roots>,
    facts: Facts,
    /// The sessions of the directory: what is true of all is told to each.
    members: BTreeSet<SessionKey>,
    /// The session of the job that is carried out, or was last.
    asker: Arc<Mutex<SessionKey>>,
    /// The session of another review of which a job tells; it is not answered.
    beside: Option<SessionKey>,
    /// Turns that run.
    open: BTreeMap<SessionKey, TurnId>,
    shown: Shown,
    passed: Arc<PassedTurns>,
    hint: Arc<Notify>,
    /// What the person looks at, session by session.
    scopes: BTreeMap<SessionKey, Scope>,
    /// What earlier runs of its sessions have left.
    left: LeftBefore,
    /// When what has changed is to be shown and told.
    due: Option<Instant>,
    refreshed: Option<Instant>,
    told: (Totals, bool),
    own: OwnSums,
    /// Since when there was no room for it, until it is told which turns were had meanwhile.
    waited_since: Option<Instant>,
    unseen: Unseen,
}

impl Worker {
    pub(super) fn new(
        review: ReviewSession,
        roots: Arc<Roots>,
        (first, asker): (SessionKey, Arc<Mutex<SessionKey>>),
        facts: Facts,
        (shown, passed): (Shown, Arc<PassedTurns>),
        hint: Arc<Notify>,
    ) -> Self {
        Self {
            review,
            roots,
            facts,
            members: BTreeSet::from([first]),
            asker,
            beside: None,
            open: BTreeMap::new(),
            shown,
            passed,
            hint,
            scopes: BTreeMap::new(),
            left: LeftBefore::default(),
            due: None,
            refreshed: None,
            told: (Totals::default(), false),
            own: OwnSums::default(),
            waited_since: None,
            unseen: Unseen::default(),
        }
    }

    /// Until the queue of jobs is closed and all are done.
    pub(super) fn work(&mut self, queue: &Receiver<Asked>, has_backlog: &AtomicBool) {
        self.work_off(queue, has_backlog);
        let looked = self.review.last_writes();
        self.trouble("written", "the review could not look at a file after it was written", looked);
        let looked = self.review.last_commands();
        self.trouble("command", "the files could not be looked at after the last command", looked);
        if self.unseen.due.is_some() {
            self.look_at_unseen();
        }
    }

    fn work_off(&mut self, queue: &Receiver<Asked>, has_backlog: &AtomicBool) {
        let mut inbox = Inbox::new(queue);
        loop {
            let beat = self.review.is_in_turn().then(|| Instant::now() + BEAT);
            let is_due = self.due.is_some_and(|at| at <= Instant::now());
            let later = [self.due, beat, self.unseen.due, self.review.late_look()];
            let job = match later.into_iter().flatten().min() {
                _ if self.review.keeps_theirs() && !is_due => match inbox.next_now() {
                    Ok(job) => Some(job),
                    Err(TryRecvError::Disconnected) => return,
                    Err(TryRecvError::Empty) => {
                        if !self.review.keep_theirs(Share::until(Instant::now() + SLICE)) && !self.scopes.is_empty() {
                            self.soon();
                        }
                        None
                    }
                },
                None => match inbox.next() {
                    Ok(job) => Some(job),
                    Err(_) => return,
                },
                Some(at) => match inbox.next_until(at) {
                    Ok(job) => Some(job),
                    Err(RecvTimeoutError::Timeout) => {
                        self.review.still_here();
                        None
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                },
            };
            if let Some(Asked { at, job, load: _load }) = job {
                if has_backlog.load(Ordering::Acquire) {
                    self.hint.notify_one();
                }
                self.review.notes_wait(inbox.has_notes());
                *self.asker.lock().unwrap_or_else(PoisonError::into_inner) = at;
                self.carry_out(at, job);
            }
            let is_behind = inbox.has_notes();
            if self.review.late_look().is_some_and(|at| at <= Instant::now() && !is_behind) {
                let looked = self.review.look_late();
                if self.trouble("late look", "the files could not be looked at after a command", looked) == Some(true) {
                    self.soon();
                }
            }
            if self.unseen.due.is_some_and(|at| at <= Instant::now()) {
                self.look_at_unseen();
            }
            // What calls have done that are still to be told of would be nobody's.
            if self.due.is_some_and(|at| at + PACE * u32::from(is_behind) <= Instant::now()) {
                self.refresh();
            }
        }
    }

    /// A session joins the review: it is told what the others were told before it came.
    fn join(&mut self, at: SessionKey) {
        self.members.insert(at);
        let (session, after) = self.told;
        self.tell(at, ReviewEvent::ChangesSeen { session, after });
        if !self.left.runs.is_empty() {
            self.tell(at, self.left.event());
        }
    }

    fn carry_out(&mut self, at: SessionKey, job: Job) {
        match job {
            Job::Join => self.join(at),
            Job::Missed { turns, running } => self.missed(&turns, &running),
            Job::Leave => {
                self.members.remove(&at);
                self.scopes.remove(&at);
                self.own.left(at);
            }
            Job::Look { alone } => {
                if alone.is_some() {
                    self.review.alone();
                }
                let begun = Instant::now();
                let looked = self.review.first_look();
                debug!(?at, ms = begun.elapsed().as_millis(), ok = looked.is_ok(), "the first look");
                self.trouble("snapshot", "the files could not be looked at", looked);
                // The waiter is gone when the time was up.
                alone.map(|looked| looked.try_send(()));
            }
            Job::Do(command) => self.command(at, command),
            Job::Last => {
                let begun = Instant::now();
                let looked = self.review.last_look();
                debug!(?at, ms = begun.elapsed().as_millis(), ok = looked.is_ok(), "the last look");
                self.trouble("last look", "the files could not be looked at after the agent had ended", looked);
            }
            Job::Merge(merging) => {
                if let Some(state) = self.review.dir().parent().and_then(Path::parent).map(Path::to_owned) {
                    merging.carry_out(&state, Some(&mut self.review));
                }
                self.now();
            }
            Job::Beside { job, done } => {
                self.beside = Some(at);
                self.carry_out(at, *job);
                self.beside = None;
                // Not everything is waited for, and a waiter may have given up.
                let _ = done.try_send(());
            }
            Job::After { beside, job } => {
                let end = Instant::now() + BESIDE;
                for looked in beside {
                    // One that has ended tells so by its channel. What is waited for was handed over earlier than what
                    // waits, so that no two wait for each other.
                    let _ = looked.recv_timeout(end.saturating_duration_since(Instant::now()));
                }
                self.carry_out(at, *job);
            }
            Job::Part { scope, target, done } => {
                // Who waits for it may have left.
                let _ = done.try_send(self.review.part(scope, &target).map_err(|error| error.to_string()));
            }
            Job::Note(note) => {
                let changed = self.review.tool(&ToolNote { entry: shared(at, note.entry), ..note });
                self.noted(changed);
            }
            Job::Started { req, note } => {
                let note = note.map(|note| ToolNote { entry: shared(at, note.entry), ..note });
                let changed = self.review.command_started(req, note.as_ref());
                self.noted(changed);
            }
            Job::BeforeWrite { path, content, entry, turn, done } => {
                let path = self.real(&path);
                let looked = self.review.write_begins(&path, &content, shared(at, entry), turn.map(|turn| turn.0));
                let looked = self.trouble("write", "the review could not look at a file before it was written", looked);
                // The waiter may have given up.
                let _ = done.try_send(looked.flatten());
            }
            Job::BeforeCommand { req, done } => {
                let looked = self.review.before_command();
                self.review.keep_theirs(Share::before_harm(Instant::now() + LAST_CHANCE));
                self.review.command_let_go(req);
                let is_early = done.try_send(()).is_err();
                self.trouble("command", "the review could not look at the files before a command", looked);
                if is_early {
                    // The waiter has given up.
                    let noted = self.review.command_was_early();
                    self.trouble("command", "the review could not take note of a command", noted);
                }
            }
            Job::Wrote { path, turn, entry, content } => {
                let path = self.real(&path);
                let looked = self.review.wrote(&path, &content, Some(shared(at, entry)), turn.map(|turn| turn.0));
                self.trouble("written", "the review could not look at a file after it was written", looked);
                self.soon();
            }
            Job::NotWritten { entry, content } => {
                let noted = self.review.not_written(&content, shared(at, entry));
                self.trouble("written", "the review could not take note of a write that was not done", noted);
            }
            Job::Preview { req, asked, claims, is_too_much } => {
                let previews = self.previews(req, &claims, is_too_much);
                self.tell(at, ReviewEvent::Previews { req, asked, previews });
            }
            Job::Places { entry, claims } => {
                self.places(at, entry, &claims);
            }
            Job::Hold { req, path, content, turn, entry, asked, over } => {
                let (entry, turn) = (shared(at, entry), turn.map(|turn| turn.0));
                let proposal = Proposal { req, entry, turn, path: self.real(&path), asked };
                self.hold(at, &proposal, &content, over.as_ref());
            }
        }
    }

    fn noted(&mut self, changed: Result<bool, ReviewError>) {
        if self.trouble("tool", "the review could not look at what a tool call names", changed) == Some(true) {
            self.soon();
        }
    }

    fn command(&mut self, at: SessionKey, command: ReviewCommand) {
        match command {
            ReviewCommand::Session { id, first_turn, agent, goes_on, is_aside } => {
                let new = AgentSession::new(id.as_str(), first_turn.0, &agent);
                let noted = self.review.session(AgentSession { goes_on, is_aside, ..new });
                self.trouble("session", "the review could not take note of the session", noted);
                self.own.opened(at, id.as_str());
                self.tell_own();
                if goes_on {
                    self.left.is_asked = true;
                    self.now();
                }
            }
            ReviewCommand::BeginTurn(turn) => self.begin(at, turn),
            ReviewCommand::EndTurn(turn) => self.end(at, turn),
            ReviewCommand::DecideHeld { req, write } => self.decide_held(at, req, write),
            ReviewCommand::CompareOutside { req, path, over } => {
                let same = is_elsewhere(&path, &over);
                self.tell(at, ReviewEvent::DiskCompared { req, same });
            }
            ReviewCommand::CommandAsked => {
                let noted = self.review.command_asked();
                self.trouble("command", "the review could not take note of a command", noted);
            }
            ReviewCommand::LetGo(req) => {
                self.review.let_go(req);
                if let Some(message) = self.release() {
                    self.tell(at, ReviewEvent::ReviewFailed { message });
                }
                self.now();
            }
            ReviewCommand::Act(action) => self.act(at, &action),
            // Jobs of their own, with what only the engine knows; the first one passes the queue by.
            ReviewCommand::SentEarly(_)
            | ReviewCommand::ToolCall(_)
            | ReviewCommand::ShellRun { .. }
            | ReviewCommand::CommandStarted { .. }
            | ReviewCommand::CommandEnded(_)
            | ReviewCommand::Preview { .. }
            | ReviewCommand::Hold { .. } => {}
        }
    }

    fn begin(&mut self, at: SessionKey, turn: TurnId) {
        let passed = Arc::clone(&self.passed);
        // What it has changed is found only now.
        if let Some(old) = self.open.insert(at, turn).filter(|old| !self.unseen.has(*old)) {
            let left = self.review.leave_turn(old.0);
            self.trouble("turn", "the end of a turn could not be noted", left);
        }
        let covered = self.review.begin_turn_unless(turn.0, || passed.of(turn));
        if covered.is_ok() {
            self.seen_late();
        }
        let covered = covered.map_err(|e| e.to_string());
        self.review.keep_theirs(Share::before_harm(Instant::now() + LAST_CHANCE));
        self.tell(at, ReviewEvent::TurnCovered { turn, covered });
        self.now();
    }

    fn end(&mut self, at: SessionKey, turn: TurnId) {
        let ended = self.review.end_turn_late(turn.0, self.passed.take_end(turn));
        match &ended {
            Ok(_) => {
                self.open.remove(&at);
                self.seen_late();
            }
            Err(error) => self.not_seen(at, turn, error),
        }
        self.trouble("root", "the session's directory is not what it was", self.review.root_stands());
        let totals = self.trouble("turn", "the files could not be looked at after a turn", ended);
        let (session, after) = self.sums();
        if self.told != (session, after) {
            self.told = (session, after);
            for other in self.members.iter().filter(|other| **other != at) {
                self.tell(*other, ReviewEvent::ChangesSeen { session, after });
            }
        }
        self.tell_own();
        self.tell(
            at,
            match totals {
                Some(totals) => ReviewEvent::TurnReviewed { turn, totals, session, after },
                None => ReviewEvent::TurnNotReviewed { turn },
            },
        );
        self.now();
    }

    fn tell_own(&mut self) {
        let news = self.own.news(&mut self.review);
        for (at, event) in self.trouble("sums", "the changes could not be counted", news).unwrap_or_default() {
            self.tell(at, event);
        }
    }

    fn hold(&mut self, at: SessionKey, proposal: &Proposal, content: &str, over: Option<&Before>) {
        let req = proposal.req;
        match self.review.hold(proposal, content) {
            Ok(true) => {
                if let Some(before) = over {
                    let same = self.review.is_held_over(req, before);
                    self.tell(at, ReviewEvent::DiskCompared { req, same });
                } else if !proposal.asked {
                    self.tell(at, ReviewEvent::WriteHeld { req });
                }
                self.now();
            }
            Err(_) if proposal.asked => self.tell(at, ReviewEvent::NotKept { req }),
            // The person's answer is waited for all the same, unless they have given it when the agent asked.
            Ok(false) if proposal.asked && over.is_none() => self.tell(at, ReviewEvent::NotKept { req }),
            Ok(false) => {
                let outcome = HeldOutcome::Whole { created: false, bytes: content.len() as u64 };
                self.tell(at, ReviewEvent::HeldDecided { req, outcome });
            }
            Err(error) => self.fail_held(at, req, &error),
        }
    }

    fn fail_held(&mut self, at: SessionKey, req: ReqId, error: &ReviewError) {
        self.review.let_go(req);
        let message = format!("the write could not be held for the user's review: {error}");
        self.tell(at, ReviewEvent::HeldDecided { req, outcome: HeldOutcome::Failed { message } });
    }

    fn decide_held(&mut self, at: SessionKey, req: ReqId, write: bool) {
        let verdict = if write { Verdict::Accept } else { Verdict::Reject };
        if let Err(error) = self.review.decide_write(req, verdict) {
            self.fail_held(at, req, &error);
        }
        if let Some(message) = self.release() {
            self.tell(at, ReviewEvent::ReviewFailed { message });
        }
        self.now();
    }

    fn act(&mut self, at: SessionKey, action: &ReviewAction) {
        match action {
            ReviewAction::Show(scope) => {
                self.left.is_asked |= self.scopes.insert(at, *scope).is_none();
                self.refresh();
                return;
            }
            ReviewAction::Close => {
                self.scopes.remove(&at);
                if self.scopes.is_empty() {
                    // An error here is not shown.
                    let _ = self.review.act(action);
                }
                return;
            }
            ReviewAction::Blame { path, line, text } => {
                let event = match self.blame(at, path, (*line, text)) {
                    Ok(words) => ReviewEvent::ReviewDone { words, rewound: Vec::new() },
                    Err(message) => ReviewEvent::ReviewFailed { message },
                };
                return self.tell(at, event);
            }
            _ => {}
        }
        let done = match action {
            ReviewAction::Export { scope, path } => self.export(*scope, path).map(|words| (words, Vec::new())),
            action => self.review.act(action).map(|done| (done.words, done.rewound)),
        };
        let again = self.release();
        let event = match (done, action) {
            (Ok(_), _) if again.is_some() => ReviewEvent::ReviewFailed { message: again.unwrap_or_default() },
            (Ok((_, rewound)), ReviewAction::PreviewRewind { turn }) => {
                ReviewEvent::RewindPreviewed { turn: *turn, rewound }
            }
            (Ok((words, rewound)), _) => ReviewEvent::ReviewDone { words, rewound },
            (Err(error), _) => ReviewEvent::ReviewFailed { message: error.to_string() },
        };
        self.tell(at, event);
        self.now();
    }

    /// Tells of held writes that have been decided; in words when one has to be decided anew.
    fn release(&mut self) -> Option<String> {
        let mut again = None;
        let held = self.review.held();
        for &(req, entry) in &held {
            let at = session_of(entry);
            let outcome = match self.review.released(req) {
                Ok(None) => continue,
                Ok(Some(Released::Decided(outcome))) => outcome,
                Ok(Some(Released::Again { path })) => {
                    let path = paths::display(&path, &[], None);
                    again = Some(format!("{path} was changed meanwhile, nothing is written · look again"));
                    self.tell(at, ReviewEvent::WriteAgain { req });
                    continue;
                }
                Err(error) => {
                    self.fail_held(at, req, &error);
                    continue;
                }
            };
            self.tell(at, ReviewEvent::HeldDecided { req, outcome });
        }
        let followed = self.review.followed();
        for (req, entry) in held.into_iter().filter(|(req, _)| followed.contains(req)) {
            self.tell(session_of(entry), ReviewEvent::WriteAgain { req });
        }
        again
    }

    /// Writes a patch; a file that is there already is left alone.
    fn export(&mut self, scope: Scope, path: &Path) -> Result<String, ReviewError> {
        let path = self.review.head().cwd.join(path);
        let mut patch = crate::review::report::patch::export(&mut self.review, scope)?;
        // The person's, also in a turn.
        persons::write(&path, &mut patch)?;
        let written = File::options().write(true).create_new(true).open(&path);
        written.and_then(|mut file| io::copy(&mut patch, &mut file)).map_err(|e| ReviewError::io(&path, e))?;
        Ok(format!("wrote {}", paths::display(&path, &[], None)))
    }

    /// Where a line of the file came from, in words.
    fn blame(&self, at: SessionKey, path: &Path, line: (usize, &str)) -> Result<String, String> {
        let bounds = Bounds { until: Instant::now() + BLAME, journal: BLAMED_JOURNAL };
        let home = self.review.dir().parent().and_then(Path::parent);
        let home = home.ok_or_else(|| "there is no place where sessions are kept".to_owned())?;
        of_line(home, &self.review.head().cwd.join(path), line, self.own.id(at), bounds)
    }

    fn sums(&mut self) -> (Totals, bool) {
        let totals = self.review.totals();
        let totals = self.trouble("sums", "the changes could not be counted", totals).unwrap_or(self.told.0);
        (totals, self.review.is_after())
    }

    /// Shows and tells what has changed.
    fn refresh(&mut self) {
        let began = Instant::now();
        self.due = None;
        self.show();
        self.refreshed = Some(rested(began, Instant::now()));
        if std::mem::take(&mut self.left.is_asked) {
            let (counted, is_new) = self.left.look(&mut self.review);
            for at in self.members.iter().filter(|_| is_new) {
                self.tell(*at, self.left.event());
            }
            if counted || is_new {
                self.refresh();
            }
        }
    }

    fn show(&mut self) {
        let sums = self.sums();
        if sums != self.told {
            self.told = sums;
            for at in &self.members {
                self.tell(*at, ReviewEvent::ChangesSeen { session: sums.0, after: sums.1 });
            }
            self.tell_own();
        }
        for (at, scope) in self.scopes.clone() {
            match self.review.doc(scope) {
                Ok(mut doc) => {
                    doc.left.clone_from(&self.left.runs);
                    own_entries(&mut doc, at);
                    self.shown.lock().unwrap_or_else(PoisonError::into_inner).insert(at, Arc::new(doc));
                    self.hint.notify_one();
                }
                Err(error) => self.tell(at, ReviewEvent::ReviewFailed { message: error.to_string() }),
            }
        }
    }

    fn now(&mut self) {
        self.due = Some(Instant::now());
    }

    fn soon(&mut self) {
        let at = self.refreshed.map_or_else(Instant::now, |at| at + PACE);
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// A path as the review knows it: every link followed. One outside of the roots stays as it is.
    fn real(&self, path: &Path) -> PathBuf {
        self.roots.check(path).map_or_else(|_| path.to_owned(), |resolved| resolved.real)
    }

    /// A failure is told; the same sort of it is said once.
    fn trouble<T>(&self, what: &str, words: &str, result: Result<T, ReviewError>) -> Option<T> {
        result
            .map_err(|error| {
                let at = *self.asker.lock().unwrap_or_else(PoisonError::into_inner);
                self.tell(
                    at,
                    ReviewEvent::ReviewTrouble { what: what.to_owned(), message: format!("{words}: {error}") },
                );
            })
            .ok()
    }

    fn tell(&self, at: SessionKey, event: ReviewEvent) {
        if self.beside == Some(at) {
            return;
        }
        self.facts.tell(at, HostEvent::Review(event));
    }
}
