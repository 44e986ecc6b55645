//! The thread of the review: it owns the tracker, which may wait for the disk, and works off jobs in their order.
//!
//! The loop never waits for it: what the queue cannot take is kept here, within a bound. Invariants: every turn that
//! was begun or ended here is answered with a fact unless the thread is gone; a failure is told and ends nothing.

use super::run::{Fact, Stem};
use crate::base::paths;
use crate::host::calm::calm;
use crate::host::fs::Roots;
use crate::model::changes::{HeldOutcome, ReviewAction, ReviewDoc, Scope, Totals, Truth, Verdict};
use crate::model::event::HostEvent;
use crate::model::ids::{EntryId, ReqId, TurnId};
use crate::review::error::ReviewError;
use crate::review::tracker::{Claim, Head, Proposal, Released, Replaceable, ToolNote, Tracker, Watch};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{Notify, mpsc};

/// Jobs under way to the thread.
const QUEUE: usize = 64;
/// Jobs that wait for the queue; beyond that news of tool calls are left out, and at twice as many the review ends.
const BACKLOG: usize = 2048;
/// Jobs that wait before news of tool calls lose their texts.
const WITH_TEXTS: usize = 64;
/// Between two looks at what changed while an agent works.
const PACE: Duration = Duration::from_millis(500);
/// After a look that took long nothing is looked at for so many times as long, but for what the person asks for.
const REST: u32 = 4;
/// In a turn in which nothing is heard, between two signs that it still runs.
const BEAT: Duration = Duration::from_secs(5);
/// Of so many files it is told how far the writing has come.
const MANY: usize = 1000;
/// What only the person's repositories have is kept for so long before a job that has come meanwhile is begun.
const SLICE: Duration = Duration::from_millis(20);
/// The same right before the agent may do harm.
const LAST_CHANCE: Duration = Duration::from_millis(100);
/// How long the last jobs may take on the way out.
pub(super) const LAST_JOBS: Duration = Duration::from_secs(5);

/// Where reviews are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewConfig {
    /// The directory of all reviews; each session has one below it, named like its journal.
    pub home: PathBuf,
    /// The directory of an earlier session to go on with, without an agent.
    pub earlier: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) enum Job {
    /// The first look at the tree, before anybody waits for it.
    Look,
    Session {
        id: String,
        first_turn: TurnId,
        agent: String,
    },
    Begin(TurnId),
    End(TurnId),
    /// The agent has ended, and nobody sits before a screen.
    Last,
    Note(ToolNote),
    /// `done` is told when the write may happen, and what it may replace.
    BeforeWrite {
        path: PathBuf,
        content: Arc<str>,
        done: SyncSender<Option<Replaceable>>,
    },
    /// The same before a command.
    BeforeCommand {
        done: SyncSender<()>,
    },
    Wrote {
        path: PathBuf,
        entry: EntryId,
        content: Arc<str>,
    },
    Truth {
        req: ReqId,
        asked: u64,
        claims: Vec<Claim>,
    },
    Hold {
        req: ReqId,
        path: PathBuf,
        content: Arc<str>,
        entry: EntryId,
        asked: bool,
    },
    DecideHeld {
        req: ReqId,
        write: bool,
    },
    LetGo(ReqId),
    Act(ReviewAction),
}

/// Something that is new, if anything is.
type Shown = Arc<Mutex<Option<Arc<ReviewDoc>>>>;
/// The last turn whose prompt did not wait for the look before it, and when it went out.
type Early = Arc<Mutex<Option<(TurnId, SystemTime)>>>;

/// The engine's end of the thread.
pub(super) struct Reviewing {
    jobs: Option<SyncSender<Job>>,
    backlog: VecDeque<Job>,
    /// The thread wakes the loop when there is room again.
    has_backlog: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    shown: Shown,
    early: Early,
    /// The person looks at it; what the thread shows later than that is dropped.
    pub is_open: bool,
    /// What was last told of a tool call, as a fingerprint.
    pub notes: HashMap<EntryId, u64>,
    left_out: bool,
}

/// What became of a job that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Taken,
    /// News of a tool call that there was no room for; said the first time.
    LeftOut,
    /// The thread is gone or hopelessly behind.
    Gone,
}

impl Reviewing {
    /// Starts the thread; the tracker is made there.
    pub fn start(
        config: &ReviewConfig,
        head: Head,
        roots: Arc<Roots>,
        facts: mpsc::Sender<Fact>,
        hint: Arc<Notify>,
    ) -> io::Result<Self> {
        let (jobs, queue) = sync_channel(QUEUE);
        let (shown, early, has_backlog) = (Shown::default(), Early::default(), Arc::<AtomicBool>::default());
        let ReviewConfig { home, earlier } = config.clone();
        let (slot, sent, behind) = (Arc::clone(&shown), Arc::clone(&early), Arc::clone(&has_backlog));
        let thread = std::thread::Builder::new().name("review".into()).spawn(move || {
            calm();
            let tracker = match earlier {
                Some(dir) => Tracker::open(&dir),
                None => Tracker::create(&home, head),
            };
            match tracker {
                Ok(mut tracker) => {
                    tracker.watched(Some(watch(facts.clone())));
                    Worker::new(tracker, roots, facts, (slot, sent), hint).work(&queue, &behind);
                }
                // When the engine is gone nobody needs to know.
                Err(error) => {
                    let _ = facts.blocking_send(Fact::Host(HostEvent::ReviewOff { message: error.to_string() }));
                }
            }
        })?;
        Ok(Self {
            jobs: Some(jobs),
            backlog: VecDeque::new(),
            has_backlog,
            thread: Some(thread),
            shown,
            early,
            is_open: false,
            notes: HashMap::new(),
            left_out: false,
        })
    }

    /// Hands a job over without waiting.
    pub fn give(&mut self, mut job: Job) -> Given {
        if let Job::Note(note) = &mut job {
            if self.backlog.len() >= BACKLOG {
                let again = std::mem::replace(&mut self.left_out, true);
                return if again { Given::Taken } else { Given::LeftOut };
            }
            if self.backlog.len() >= WITH_TEXTS {
                note.claims.clear();
            }
        }
        if self.backlog.len() >= 2 * BACKLOG {
            return Given::Gone;
        }
        self.backlog.push_back(job);
        self.drain()
    }

    /// Hands over what has waited, as far as there is room.
    pub fn drain(&mut self) -> Given {
        let Some(jobs) = &self.jobs else { return Given::Gone };
        while let Some(job) = self.backlog.pop_front() {
            match jobs.try_send(job) {
                Ok(()) => {}
                Err(TrySendError::Full(job)) => {
                    self.backlog.push_front(job);
                    break;
                }
                Err(TrySendError::Disconnected(_)) => return Given::Gone,
            }
        }
        self.has_backlog.store(!self.backlog.is_empty(), Ordering::Release);
        Given::Taken
    }

    /// The prompt of a turn goes out now, and the look before it is not finished.
    pub fn sent_early(&self, turn: TurnId) {
        *self.early.lock().unwrap_or_else(PoisonError::into_inner) = Some((turn, SystemTime::now()));
    }

    /// What is to be looked at now, if that is new.
    pub fn take_shown(&mut self) -> Option<Arc<ReviewDoc>> {
        let doc = self.shown.lock().unwrap_or_else(PoisonError::into_inner).take();
        doc.filter(|_| self.is_open)
    }

    /// Lets the thread finish its jobs, for a while.
    pub async fn finish(mut self, patience: Duration) {
        let (Some(jobs), Some(thread)) = (self.jobs.take(), self.thread.take()) else { return };
        let rest = std::mem::take(&mut self.backlog);
        let last = tokio::task::spawn_blocking(move || {
            for job in rest {
                if jobs.send(job).is_err() {
                    break;
                }
            }
            drop(jobs);
            // A panic in there was printed.
            let _ = thread.join();
        });
        let _ = tokio::time::timeout(patience, last).await;
    }
}

/// The thread's end.
struct Worker {
    tracker: Tracker,
    roots: Arc<Roots>,
    facts: mpsc::Sender<Fact>,
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
    fn new(
        tracker: Tracker,
        roots: Arc<Roots>,
        facts: mpsc::Sender<Fact>,
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
    fn work(&mut self, queue: &Receiver<Job>, has_backlog: &AtomicBool) {
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
            Job::Look => {
                let looked = self.tracker.first_look();
                self.trouble("snapshot", "the files could not be looked at", looked);
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
    fn truth(&mut self, claim: &Claim) -> Truth {
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
        let patch = crate::review::patch::export(&mut self.tracker, scope)?;
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

    /// A path as the tracker knows it: every link followed. One outside of the roots stays as it is.
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
        // When the engine is gone nobody needs to know.
        let _ = self.facts.blocking_send(Fact::Host(event));
    }
}

/// From when on it may be looked again: of very many files a look takes long, and others wait for the thread.
fn rested(began: Instant, ended: Instant) -> Instant {
    ended + ended.duration_since(began) * REST
}

/// Tells how far the writing of many files has come; it goes on as long as there is an engine.
fn watch(facts: mpsc::Sender<Fact>) -> Watch {
    let mut told = Instant::now();
    Box::new(move |far| {
        if far.of >= MANY && told.elapsed() >= PACE {
            told = Instant::now();
            let _ = facts.blocking_send(Fact::Host(HostEvent::ReviewWrites { done: far.done, of: far.of }));
        }
        !facts.is_closed()
    })
}

/// What a session's review begins with.
pub(super) fn head(stem: &Stem, cwd: &Path, roots: &Roots, command: &str) -> Head {
    let cwd = roots.paths().first().map_or(cwd, |root| root.as_path()).to_owned();
    let private = roots.private().paths().to_vec();
    Head { stem: stem.name(), cwd, command: command.to_owned(), started: stem.started(), private }
}

#[cfg(test)]
#[path = "reviewing_tests.rs"]
pub(super) mod tests;
