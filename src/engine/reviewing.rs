//! The thread of the review: it owns the review session, which may wait for the disk, and works off jobs in their order.
//!
//! One for all sessions of a directory; each job and each fact has the address of the session that it is of. The loop
//! never waits for the thread: what the queue cannot take is kept here, within a bound. Invariants: every turn that
//! was begun or ended here is answered with a fact unless the thread is gone; a failure is told and ends nothing.

mod load;
mod passed;
mod waiting;
mod worker;

use self::load::{Load, Waiting};
use self::passed::PassedTurns;
use self::worker::Worker;
use super::fact::Facts;
use super::merging::Merging;
use super::noting;
use crate::base::shared::SharedText;
use crate::host::fs::Roots;
use crate::host::priority::lower_priority;
use crate::host::worktrees::{Opening, Part};
use crate::model::changes::{Before, ReviewCommand, ReviewDoc, ReviewEvent, Scope, Target};
use crate::model::event::HostEvent;
use crate::model::ids::{EntryId, ReqId, SessionKey, TurnId};
use crate::review::archive;
use crate::review::error::ReviewError;
use crate::review::protocol::{ClaimedEdit, Replaceable, SessionInfo, ToolEffect, ToolNote, Watch};
use crate::review::session::ReviewSession;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

/// Jobs under way to the thread.
const QUEUE: usize = 64;
/// Jobs that wait for the queue; beyond that news of tool calls are left out, and at twice as many the review ends.
const BACKLOG: usize = 2048;
/// The same for news of commands: by them what a command changes is put down to it.
const WITH_COMMANDS: usize = BACKLOG + BACKLOG / 2;
/// Jobs that wait before news of tool calls lose their texts.
const WITH_TEXTS: usize = 64;
/// Calls of which it is remembered what was told.
const MAX_NOTES: usize = 1 << 14;
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
#[derive(Debug)]
pub struct ReviewConfig {
    /// The directory of all reviews; each session has one below it, named like its journal.
    pub home: PathBuf,
    /// The directory of an earlier session to go on with, without an agent.
    pub reopened: Option<PathBuf>,
    /// Keeps the worktree of the first session until its review is open.
    pub opening: Option<Opening>,
}

impl ReviewConfig {
    /// The reviews below this directory.
    pub fn below(home: PathBuf) -> Self {
        Self { home, reopened: None, opening: None }
    }
}

#[derive(Debug)]
pub(super) enum Job {
    /// The first look at the tree. A front end without a screen starts no agent before it is over, and is told.
    Look {
        alone: Option<mpsc::Sender<()>>,
    },
    /// A session works in the directory from now on: it is told what concerns all.
    Join,
    /// Turns that had begun before the review had room to begin, and those of them that run.
    Missed {
        turns: Vec<TurnId>,
        running: Vec<TurnId>,
    },
    /// What the model wants, where the engine has nothing to add to it.
    Do(ReviewCommand),
    /// The session is closed and has no viewer any more.
    Leave,
    /// The agent has ended, and there is no screen.
    Last,
    /// A worktree is merged into the files of this review.
    Merge(Box<Merging>),
    /// Part of what was changed is wanted elsewhere.
    Part {
        scope: Scope,
        target: Target,
        done: SyncSender<Result<Part, String>>,
    },
    Note(ToolNote),
    /// What is done in a session that another review looks at, in a directory above or below this one. The session is
    /// told nothing; the other review is told when it is done.
    Beside {
        job: Box<Self>,
        done: SyncSender<()>,
    },
    /// One that waits until reviews of directories above and below have done the same.
    After {
        beside: Vec<Receiver<()>>,
        job: Box<Self>,
    },
    /// `done` is told when the write may happen, and what it may replace.
    BeforeWrite {
        path: PathBuf,
        content: SharedText,
        entry: EntryId,
        turn: Option<TurnId>,
        done: SyncSender<Option<Replaceable>>,
    },
    /// The write was not done.
    NotWritten {
        entry: EntryId,
        content: SharedText,
    },
    /// The same before a command.
    BeforeCommand {
        req: ReqId,
        done: SyncSender<()>,
    },
    /// It runs, or could not be started.
    Started {
        req: ReqId,
        note: Option<ToolNote>,
    },
    Wrote {
        path: PathBuf,
        turn: Option<TurnId>,
        entry: EntryId,
        content: SharedText,
    },
    Preview {
        req: ReqId,
        asked: u64,
        claims: Vec<ClaimedEdit>,
        /// There is no room for the texts: nothing is compared.
        is_too_much: bool,
    },
    /// Where in their files changes stand that were made.
    Places {
        entry: EntryId,
        claims: Vec<ClaimedEdit>,
    },
    Hold {
        req: ReqId,
        path: PathBuf,
        content: SharedText,
        turn: Option<TurnId>,
        entry: EntryId,
        asked: bool,
        over: Option<Before>,
    },
}

impl Job {
    /// What another review has to know that looks at some of the same files: who changes them. With what tells when it
    /// is done, where that is waited for: what was there before is to be looked at by all.
    pub fn for_reviews_beside(&self) -> Option<(Self, Option<Receiver<()>>)> {
        let mut is_waited_for = false;
        let job = match self {
            Self::Note(note) => Self::Note(note.clone()),
            Self::Do(
                command @ (ReviewCommand::BeginTurn(_) | ReviewCommand::EndTurn(_) | ReviewCommand::CommandAsked),
            ) => {
                is_waited_for = matches!(command, ReviewCommand::BeginTurn(_));
                Self::Do(command.clone())
            }
            Self::BeforeWrite { path, content, entry, turn, .. } => {
                is_waited_for = true;
                let (path, content, (done, _)) = (path.clone(), content.clone(), sync_channel(1));
                Self::BeforeWrite { path, content, entry: *entry, turn: *turn, done }
            }
            Self::NotWritten { entry, content } => Self::NotWritten { entry: *entry, content: content.clone() },
            Self::Wrote { path, turn, entry, content } => {
                Self::Wrote { path: path.clone(), turn: *turn, entry: *entry, content: content.clone() }
            }
            Self::BeforeCommand { req, .. } => {
                let (done, looked) = sync_channel(1);
                return Some((Self::BeforeCommand { req: *req, done }.beside().0, Some(looked)));
            }
            Self::Started { req, note } => Self::Started { req: *req, note: note.clone() },
            _ => return None,
        };
        let (job, done) = job.beside();
        Some((job, is_waited_for.then_some(done)))
    }

    /// How many may wait before it where it can be left out: however much an agent tells, the review goes on. What the
    /// person runs is always heard.
    fn room(&self) -> Option<usize> {
        match self {
            Self::Note(note) => match note.doing {
                ToolEffect::Persons => None,
                ToolEffect::Runs => Some(WITH_COMMANDS),
                _ => Some(BACKLOG),
            },
            Self::Places { .. } | Self::Preview { .. } => Some(BACKLOG),
            Self::Beside { job, .. } => job.room(),
            _ => None,
        }
    }

    /// The turn that is over.
    fn ended(&self) -> Option<TurnId> {
        match self {
            Self::Do(ReviewCommand::EndTurn(turn)) => Some(*turn),
            Self::Beside { job, .. } | Self::After { job, .. } => job.ended(),
            _ => None,
        }
    }

    /// As another review tells it, and what tells when it is done.
    pub fn beside(self) -> (Self, Receiver<()>) {
        let (done, is_done) = sync_channel(1);
        (Self::Beside { job: Box::new(self), done }, is_done)
    }
}

/// A job and the session that wants it.
#[derive(Debug)]
pub(super) struct Asked {
    pub at: SessionKey,
    pub job: Job,
    load: Load,
}

/// What is new for those who look.
type Shown = Arc<Mutex<BTreeMap<SessionKey, Arc<ReviewDoc>>>>;

/// The engine's end of the thread.
pub(super) struct Reviewing {
    jobs: Option<SyncSender<Asked>>,
    backlog: VecDeque<Asked>,
    /// Bytes that are under way to the thread.
    waiting: Arc<Waiting>,
    /// The thread wakes the loop when there is room again.
    has_backlog: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    shown: Shown,
    passed: Arc<PassedTurns>,
    /// In these sessions the person looks at it; what the thread shows later than that is dropped.
    pub viewers: BTreeSet<SessionKey>,
    /// What was last told of a tool call, as a fingerprint.
    pub notes: HashMap<(SessionKey, EntryId), u64>,
    /// The session whose turn began last.
    pub newest: Option<SessionKey>,
    left_out: bool,
}

/// What became of a job that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Submission {
    Taken,
    /// News of a tool call that there was no room for; said the first time.
    LeftOut,
    /// The thread is gone or hopelessly behind.
    Gone,
}

/// Begins the review of a session. Until its lock is there, the worktree that it may be in is kept by another one.
fn create(home: &Path, head: SessionInfo, opening: Option<&Opening>) -> Result<ReviewSession, ReviewError> {
    let state = home.parent().unwrap_or(home);
    let _opening = match opening {
        Some(_) => None,
        None => Opening::at(state, &head.cwd).map_err(|error| ReviewError::Refused(error.to_string()))?,
    };
    ReviewSession::create(home, head)
}

impl Reviewing {
    /// Starts the thread; the review session is made there.
    pub fn start(
        config: &mut ReviewConfig,
        head: SessionInfo,
        roots: Arc<Roots>,
        first: SessionKey,
        facts: Facts,
        hint: Arc<Notify>,
    ) -> io::Result<Self> {
        let (jobs, queue) = sync_channel(QUEUE);
        let (shown, passed, has_backlog) =
            (Shown::default(), Arc::<PassedTurns>::default(), Arc::<AtomicBool>::default());
        let (home, reopened) = (config.home.clone(), config.reopened.clone());
        let opening = config.opening.take();
        let (slot, moments, behind) = (Arc::clone(&shown), Arc::clone(&passed), Arc::clone(&has_backlog));
        let thread = std::thread::Builder::new().name("review".into()).spawn(move || {
            lower_priority();
            let begun = match reopened {
                Some(dir) => ReviewSession::open(&dir).map(|review| Some((review, None))),
                None => waiting::begin(
                    || {
                        create(&home, head.clone(), opening.as_ref()).inspect_err(|_| {
                            // Begun anew, or not at all.
                            let _ = archive::remove(&home.join(&head.stem));
                        })
                    },
                    &queue,
                    first,
                    &facts,
                ),
            };
            drop(opening);
            match begun {
                Ok(Some((mut review, waited))) => {
                    let asker = Arc::<Mutex<SessionKey>>::new(Mutex::new(first));
                    review.watched(Some(watch(facts.clone(), Arc::clone(&asker))));
                    let mut worker = Worker::new(review, roots, (first, asker), facts, (slot, moments), hint);
                    if let Some(waited) = waited {
                        worker.begin_late(first, waited);
                    }
                    worker.work(&queue, &behind);
                }
                // Who asked for it has ended.
                Ok(None) => {}
                Err(error) => {
                    facts.tell(first, HostEvent::Review(ReviewEvent::ReviewOff { message: error.to_string() }));
                }
            }
        })?;
        Ok(Self {
            jobs: Some(jobs),
            backlog: VecDeque::new(),
            waiting: Arc::default(),
            has_backlog,
            thread: Some(thread),
            shown,
            passed,
            viewers: BTreeSet::new(),
            notes: HashMap::new(),
            newest: None,
            left_out: false,
        })
    }

    /// Hands a job over without waiting.
    pub fn give(&mut self, at: SessionKey, mut job: Job) -> Submission {
        if let Some(turn) = job.ended() {
            // However late the thread looks at what it has changed.
            self.passed.is_over(turn);
        }
        let fits = load::fit(&mut job, self.waiting.news());
        if job.room().is_some_and(|most| self.backlog.len() >= most || !fits) {
            let is_said = !matches!(job, Job::Note(_)) || std::mem::replace(&mut self.left_out, true);
            return if is_said { Submission::Taken } else { Submission::LeftOut };
        }
        if let Job::Note(note) = &mut job
            && self.backlog.len() >= WITH_TEXTS
        {
            note.claims.clear();
        }
        if self.backlog.len() >= 2 * BACKLOG {
            return Submission::Gone;
        }
        self.backlog.push_back(Asked::new(at, job, &self.waiting));
        self.drain()
    }

    /// Bytes of writes that it has not looked at yet.
    pub fn writes(&self) -> usize {
        self.waiting.writes()
    }

    /// Whether anything of a call has changed since it was told last; from now on it is told.
    pub fn is_news(&mut self, at: SessionKey, note: &ToolNote) -> bool {
        if self.notes.len() >= MAX_NOTES {
            // What is told once more does no harm.
            self.notes.clear();
        }
        let print = noting::fingerprint(note);
        self.notes.insert((at, note.entry), print) != Some(print)
    }

    /// Hands over what has waited, as far as there is room.
    pub fn drain(&mut self) -> Submission {
        let Some(jobs) = &self.jobs else { return Submission::Gone };
        while let Some(job) = self.backlog.pop_front() {
            match jobs.try_send(job) {
                Ok(()) => {}
                Err(TrySendError::Full(job)) => {
                    self.backlog.push_front(job);
                    break;
                }
                Err(TrySendError::Disconnected(_)) => return Submission::Gone,
            }
        }
        self.has_backlog.store(!self.backlog.is_empty(), Ordering::Release);
        Submission::Taken
    }

    /// The prompt of a turn goes out now, and the look before it is not finished.
    pub fn sent_early(&self, turn: TurnId) {
        self.passed.sent(turn);
    }

    /// What is to be looked at now, if that is new.
    pub fn take_shown(&mut self) -> BTreeMap<SessionKey, Arc<ReviewDoc>> {
        let mut shown = std::mem::take(&mut *self.shown.lock().unwrap_or_else(PoisonError::into_inner));
        shown.retain(|at, _| self.viewers.contains(at));
        shown
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

/// From when on it may be looked again: of very many files a look takes long, and others wait for the thread.
fn rested(began: Instant, ended: Instant) -> Instant {
    ended + ended.duration_since(began) * REST
}

/// Tells how far the writing of many files has come; it goes on as long as there is an engine.
fn watch(facts: Facts, asker: Arc<Mutex<SessionKey>>) -> Watch {
    let mut told = Instant::now();
    Box::new(move |far| {
        if far.of >= MANY && told.elapsed() >= PACE {
            told = Instant::now();
            let at = *asker.lock().unwrap_or_else(PoisonError::into_inner);
            facts.tell(at, HostEvent::Review(ReviewEvent::ReviewWrites { done: far.done, of: far.of }));
        }
        !facts.0.is_closed()
    })
}

/// What a session's review begins with.
pub(super) fn head(stem: String, started: u64, cwd: &Path, roots: &Roots, command: &str) -> SessionInfo {
    let cwd = roots.paths().first().map_or(cwd, |root| root.as_path()).to_owned();
    let private = roots.private().paths().to_vec();
    let directories = roots.paths().iter().filter(|dir| !dir.starts_with(&cwd)).cloned().collect();
    SessionInfo { stem, cwd, command: command.to_owned(), started, private, directories }
}

#[cfg(test)]
#[path = "reviewing_tests.rs"]
pub(super) mod tests;
