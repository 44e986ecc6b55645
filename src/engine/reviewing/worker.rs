//! The review's own thread: takes one job after the other, and looks by itself while an agent works.
//!
//! Blocks on the disk. Invariant: every turn that was begun or ended here is answered with a fact; a failure is told and
//! ends nothing.

use super::{BEAT, Early, Job, LAST_CHANCE, PACE, SLICE, Shown, rested};
use crate::base::paths;
use crate::engine::fact::Facts;
use crate::host::fs::Roots;
use crate::model::changes::{HeldOutcome, ReviewAction, Scope, Totals, Truth, Verdict};
use crate::model::event::HostEvent;
use crate::model::ids::{ReqId, TurnId};
use crate::review::error::ReviewError;
use crate::review::protocol::{ClaimedEdit, Proposal, Released};
use crate::review::session::ReviewSession;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// The thread's end.
pub(super) struct Worker {
    tracker: ReviewSession,
    roots: Arc<Roots>,
    facts: Facts,
    shown: Shown,
    early: Early,
    hint: Arc<Notify>,
    /// What the person looks at.
    scope: Option<Scope>,
    /// When what has changed is to be shown and told.
    due: Option<Instant>,
    refreshed: Option<Instant>,
    told: (Totals, bool),
    /// Writes that wait for a decision, below the root.
    held: BTreeSet<ReqId>,
}

impl Worker {
    pub(super) fn new(
        tracker: ReviewSession,
        roots: Arc<Roots>,
        facts: Facts,
        (shown, early): (Shown, Early),
        hint: Arc<Notify>,
    ) -> Self {
        Self {
            tracker,
            roots,
            facts,
            shown,
            early,
            hint,
            scope: None,
            due: None,
            refreshed: None,
            told: (Totals::default(), false),
            held: BTreeSet::new(),
        }
    }

    /// Until nobody can give a job any more and all are done.
    pub(super) fn work(&mut self, queue: &Receiver<Job>, has_backlog: &AtomicBool) {
        loop {
            let beat = self.tracker.is_in_turn().then(|| Instant::now() + BEAT);
            let is_due = self.due.is_some_and(|at| at <= Instant::now());
            let job = match self.due.into_iter().chain(beat).min() {
                _ if self.tracker.keeps_theirs() && !is_due => match queue.try_recv() {
                    Ok(job) => Some(job),
                    Err(TryRecvError::Disconnected) => return,
                    Err(TryRecvError::Empty) => {
                        if !self.tracker.keep_theirs(Instant::now() + SLICE) && self.scope.is_some() {
                            self.soon();
                        }
                        None
                    }
                },
                None => match queue.recv() {
                    Ok(job) => Some(job),
                    Err(_) => return,
                },
                Some(at) => match queue.recv_timeout(at.saturating_duration_since(Instant::now())) {
                    Ok(job) => Some(job),
                    Err(RecvTimeoutError::Timeout) => {
                        self.tracker.still_here();
                        None
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                },
            };
            if let Some(job) = job {
                if has_backlog.load(Ordering::Acquire) {
                    self.hint.notify_one();
                }
                self.carry_out(job);
            }
            if self.due.is_some_and(|at| at <= Instant::now()) {
                self.refresh();
            }
        }
    }

    fn carry_out(&mut self, job: Job) {
        match job {
            Job::Look { alone } => {
                if alone.is_some() {
                    self.tracker.alone();
                }
                let looked = self.tracker.first_look();
                self.trouble("snapshot", "the files could not be looked at", looked);
                // Nobody waits any more when the time was up.
                alone.map(|looked| looked.try_send(()));
            }
            Job::Session { id, first_turn, agent } => {
                let noted = self.tracker.session(&id, first_turn.0, &agent);
                self.trouble("session", "the review could not take note of the session", noted);
            }
            Job::Begin(turn) => {
                let early = Arc::clone(&self.early);
                let sent = || early.lock().unwrap_or_else(PoisonError::into_inner).take().filter(|sent| sent.0 == turn);
                let covered = self.tracker.begin_turn_unless(turn.0, || sent().map(|sent| sent.1));
                let covered = covered.map_err(|e| e.to_string());
                self.tracker.keep_theirs(Instant::now() + LAST_CHANCE);
                self.tell(HostEvent::TurnCovered { turn, covered });
                self.now();
            }
            Job::End(turn) => self.end(turn),
            Job::Last => {
                let looked = self.tracker.last_look();
                self.trouble("last look", "the files could not be looked at after the agent had ended", looked);
            }
            Job::Note(note) => {
                let changed = self.tracker.tool(&note);
                if self.trouble("tool", "the review could not look at what a tool call names", changed) == Some(true) {
                    self.soon();
                }
            }
            Job::BeforeWrite { path, content, done } => {
                let path = self.real(&path);
                let looked = self.tracker.before_write(&path, &content);
                let looked = self.trouble("write", "the review could not look at a file before it was written", looked);
                // Whoever waited may have given up.
                let _ = done.try_send(looked.flatten());
            }
            Job::BeforeCommand { done } => {
                let looked = self.tracker.before_command();
                self.tracker.keep_theirs(Instant::now() + LAST_CHANCE);
                let _ = done.try_send(());
                self.trouble("command", "the review could not look at the files before a command", looked);
            }
            Job::Wrote { path, entry, content } => {
                let path = self.real(&path);
                let looked = self.tracker.wrote(&path, &content, Some(entry));
                self.trouble("written", "the review could not look at a file after it was written", looked);
                self.soon();
            }
            Job::Truth { req, asked, claims } => {
                let truths = claims.iter().map(|claim| self.truth(claim)).collect();
                self.tell(HostEvent::Truths { req, asked, truths });
            }
            Job::Hold { req, path, content, entry, asked } => {
                let proposal = Proposal { req, entry, path: self.real(&path), asked };
                self.hold(&proposal, &content);
            }
            Job::DecideHeld { req, write } => self.decide_held(req, write),
            Job::LetGo(req) => {
                self.held.remove(&req);
                self.tracker.let_go(req);
                self.now();
            }
            Job::Act(action) => self.act(&action),
        }
    }

    fn end(&mut self, turn: TurnId) {
        let ended = self.tracker.end_turn(turn.0);
        self.trouble("root", "the session's directory is not what it was", self.tracker.root_stands());
        let totals = self.trouble("turn", "the files could not be looked at after a turn", ended).unwrap_or_default();
        let (session, after) = self.sums();
        self.told = (session, after);
        self.tell(HostEvent::TurnReviewed { turn, totals, session, after });
        self.now();
    }

    /// What cannot be compared is shown as the agent told it.
    fn truth(&mut self, claim: &ClaimedEdit) -> Truth {
        let path = self.real(&claim.path);
        let truth = self.tracker.truth(&path, claim.old.as_deref(), &claim.new);
        self.trouble("truth", "the diff of a question could not be compared with the file", truth)
            .unwrap_or_else(|| Truth { path, old: None, new: "".into(), differs: None })
    }

    fn hold(&mut self, proposal: &Proposal, content: &str) {
        let req = proposal.req;
        match self.tracker.hold(proposal, content) {
            Ok(true) => {
                self.held.insert(req);
                if !proposal.asked {
                    self.tell(HostEvent::WriteHeld { req });
                }
                self.now();
            }
            // The person's answer is waited for all the same.
            Ok(false) | Err(_) if proposal.asked => self.tell(HostEvent::NotKept { req }),
            Ok(false) => {
                let outcome = HeldOutcome::Whole { created: false, bytes: content.len() as u64 };
                self.tell(HostEvent::HeldDecided { req, outcome });
            }
            Err(error) => self.fail_held(req, &error),
        }
    }

    fn fail_held(&mut self, req: ReqId, error: &ReviewError) {
        self.held.remove(&req);
        self.tracker.let_go(req);
        let message = format!("the write could not be held for the user's review: {error}");
        self.tell(HostEvent::HeldDecided { req, outcome: HeldOutcome::Failed { message } });
    }

    fn decide_held(&mut self, req: ReqId, write: bool) {
        let verdict = if write { Verdict::Accept } else { Verdict::Reject };
        if let Err(error) = self.tracker.decide_write(req, verdict) {
            self.fail_held(req, &error);
        }
        if let Some(message) = self.release() {
            self.tell(HostEvent::ReviewFailed { message });
        }
        self.now();
    }

    fn act(&mut self, action: &ReviewAction) {
        match action {
            ReviewAction::Show(scope) => {
                self.scope = Some(*scope);
                return self.refresh();
            }
            ReviewAction::Close => {
                self.scope = None;
                // Nobody looks at what could fail here.
                let _ = self.tracker.act(action);
                return;
            }
            _ => {}
        }
        let done = match action {
            ReviewAction::Export { scope, path } => self.export(*scope, path).map(|words| (words, Vec::new())),
            action => self.tracker.act(action).map(|done| (done.words, done.rewound)),
        };
        let again = self.release();
        self.tell(match (done, action) {
            (Ok(_), _) if again.is_some() => HostEvent::ReviewFailed { message: again.unwrap_or_default() },
            (Ok((_, rewound)), ReviewAction::PreviewRewind { turn }) => {
                HostEvent::RewindPreviewed { turn: *turn, rewound }
            }
            (Ok((words, rewound)), _) => HostEvent::ReviewDone { words, rewound },
            (Err(error), _) => HostEvent::ReviewFailed { message: error.to_string() },
        });
        self.now();
    }

    /// Tells of held writes that have been decided; in words when one has to be decided anew.
    fn release(&mut self) -> Option<String> {
        let mut again = None;
        for req in self.held.clone() {
            let outcome = match self.tracker.released(req) {
                Ok(None) => continue,
                Ok(Some(Released::Whole { created, bytes })) => HeldOutcome::Whole { created, bytes },
                Ok(Some(Released::Partly { differs })) => HeldOutcome::Partly { differs },
                Ok(Some(Released::Refused)) => HeldOutcome::Refused,
                Ok(Some(Released::Again { path })) => {
                    let path = paths::display(&path, &[], None);
                    again = Some(format!("{path} was changed meanwhile, nothing is written · look again"));
                    self.tell(HostEvent::WriteAgain { req });
                    continue;
                }
                Err(error) => {
                    self.fail_held(req, &error);
                    continue;
                }
            };
            self.held.remove(&req);
            self.tell(HostEvent::HeldDecided { req, outcome });
        }
        again
    }

    /// Writes a patch; a file that is there already is left alone.
    fn export(&mut self, scope: Scope, path: &Path) -> Result<String, ReviewError> {
        let path = self.tracker.head().cwd.join(path);
        let patch = crate::review::report::patch::export(&mut self.tracker, scope)?;
        let written = File::options().write(true).create_new(true).open(&path).and_then(|mut f| f.write_all(&patch));
        written.map_err(|e| ReviewError::io(&path, e))?;
        Ok(format!("wrote {}", paths::display(&path, &[], None)))
    }

    fn sums(&mut self) -> (Totals, bool) {
        let totals = self.tracker.totals();
        let totals = self.trouble("sums", "the changes could not be counted", totals).unwrap_or(self.told.0);
        (totals, self.tracker.is_after())
    }

    /// Shows and tells what has changed.
    fn refresh(&mut self) {
        let began = Instant::now();
        self.due = None;
        self.show();
        self.refreshed = Some(rested(began, Instant::now()));
    }

    fn show(&mut self) {
        let sums = self.sums();
        if sums != self.told {
            self.told = sums;
            self.tell(HostEvent::ChangesSeen { session: sums.0, after: sums.1 });
        }
        let Some(scope) = self.scope else { return };
        match self.tracker.doc(scope) {
            Ok(doc) => {
                *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(doc));
                self.hint.notify_one();
            }
            Err(error) => self.tell(HostEvent::ReviewFailed { message: error.to_string() }),
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
                self.tell(HostEvent::ReviewTrouble { what: what.to_owned(), message: format!("{words}: {error}") });
            })
            .ok()
    }

    fn tell(&self, event: HostEvent) {
        self.facts.tell(event);
    }
}
