//! Files that agents ask for: those of a session one after the other, in the order of the requests.
//!
//! What may block runs on a blocking thread and comes back as a fact. Invariants: a session waits for its own files only;
//! a read holds it up for no longer than its patience, and not beyond its turn; a write is over the file that the review has, or is not done.

use super::admitting::{admit, place};
use super::fact::Fact;
use super::refusing;
use super::reviewing::Job;
use super::run::Engine;
use crate::agent::quirks::MissingFile;
use crate::host::fs::{self, FsError};
use crate::model::event::{HostEvent, WriteFact};
use crate::model::ids::{EntryId, ReqId, SessionKey, TurnId};
use crate::model::judge::{Place, Request};
use crate::model::refusal::{Reason, Refusal};
use crate::review::protocol::Replaceable;
use crate::review::session::expected::write_text;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// How long a write waits for the review to look at the file first.
pub(super) const LOOK: Duration = Duration::from_secs(2);
/// How often a write is begun that somebody else's save came in the way of.
const WRITES: u8 = 4;
/// How long one read may take: a file of a network may never answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Reads that never came back, over all sessions; with so many nothing more is read.
const MAX_STUCK: usize = 8;

#[derive(Debug)]
pub enum FileJob {
    Read(ReadJob),
    Check {
        at: SessionKey,
        req: ReqId,
        path: String,
    },
    Write {
        at: SessionKey,
        req: ReqId,
        request: Box<Request>,
        content: Arc<str>,
        entry: EntryId,
        /// How often it was begun before.
        tries: u8,
    },
}

impl FileJob {
    fn session(&self) -> SessionKey {
        match self {
            Self::Read(ReadJob { at, .. }) | Self::Check { at, .. } | Self::Write { at, .. } => *at,
        }
    }
}

#[derive(Debug)]
pub struct ReadJob {
    pub at: SessionKey,
    pub req: ReqId,
    pub request: Box<Request>,
    pub line: Option<u32>,
    pub limit: Option<u32>,
    pub missing: MissingFile,
    /// The turn in which it was asked for; nothing outside of turns.
    pub turn: Option<TurnId>,
}

/// A read that is under way.
#[derive(Debug)]
struct Reading {
    req: ReqId,
    path: String,
    turn: Option<TurnId>,
    stop: Stop,
    until: Instant,
}

/// Stops a read when it is dropped, too.
#[derive(Debug)]
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.now();
    }
}

/// The files of one session.
#[derive(Debug, Default)]
struct Lane {
    jobs: VecDeque<FileJob>,
    is_busy: bool,
    reading: Option<Reading>,
    /// The entry and the text of the write that is under way, where the review has looked at the file before.
    writing: Option<(EntryId, Arc<str>)>,
}

impl Lane {
    /// The next job, if none is under way; from now on it is.
    fn begin(&mut self) -> Option<FileJob> {
        let job = if self.is_busy { None } else { self.jobs.pop_front() };
        self.is_busy |= job.is_some();
        job
    }
}

/// What is asked for and what is under way, session by session.
#[derive(Debug, Default)]
pub(super) struct FileQueue {
    lanes: BTreeMap<SessionKey, Lane>,
    /// Reads that were given up and have not come back.
    stuck: usize,
}

impl FileQueue {
    fn lane(&mut self, at: SessionKey) -> &mut Lane {
        self.lanes.entry(at).or_default()
    }

    fn push(&mut self, job: FileJob) {
        self.lane(job.session()).jobs.push_back(job);
    }

    /// When a read that is under way is given up.
    pub fn deadline(&self) -> Option<Instant> {
        self.lanes.values().filter_map(|lane| lane.reading.as_ref().map(|reading| reading.until)).min()
    }

    /// A read has come back. False when it was given up before.
    pub fn has_read(&mut self, at: SessionKey, req: ReqId) -> bool {
        let lane = self.lane(at);
        if lane.reading.take_if(|reading| reading.req == req).is_some() {
            lane.is_busy = false;
            return true;
        }
        self.stuck = self.stuck.saturating_sub(1);
        false
    }

    /// A path was looked at.
    pub fn checked(&mut self, at: SessionKey) {
        self.lane(at).is_busy = false;
    }

    /// A read that takes too long: nobody waits for it any more.
    fn give_up(&mut self) -> Option<(SessionKey, Reading)> {
        let now = Instant::now();
        let late = self.lanes.iter_mut().find_map(|(at, lane)| {
            let reading = lane.reading.take_if(|reading| reading.until <= now)?;
            lane.is_busy = false;
            Some((*at, reading))
        });
        self.stuck += usize::from(late.is_some());
        late
    }
}

impl Engine {
    /// The turn of a session that runs and is not being stopped.
    fn live_turn(&self, at: SessionKey) -> Option<TurnId> {
        self.model().session_of(at)?.turn.as_ref().filter(|turn| turn.cancelling.is_none()).map(|turn| turn.id)
    }

    /// Whether the session's agent is there.
    fn is_running(&self, at: SessionKey) -> bool {
        self.core.agent_at(at.into()).is_some_and(|agent| self.links.running(agent).is_some())
    }

    pub(super) fn queue_file(&mut self, job: FileJob) {
        let at = job.session();
        self.files.push(job);
        self.next_file(at);
    }

    /// Files of a session are read and written one after the other, in the order of the requests.
    pub(super) fn next_file(&mut self, at: SessionKey) {
        while let Some(job) = self.files.lane(at).begin() {
            match job {
                FileJob::Read(job) => self.read(job),
                FileJob::Check { at, req, path } => {
                    let (roots, facts) = (Arc::clone(self.workspaces.roots(at)), self.facts_tx.clone());
                    tokio::task::spawn_blocking(move || {
                        let (real, result) = match place(&roots.check(&path)) {
                            Place::Barred(why) => (None, Err(why)),
                            Place::Inside(real) => {
                                (real.and_then(|real| real.into_os_string().into_string().ok()), Ok(()))
                            }
                            Place::Unknown => (None, Ok(())),
                        };
                        let checked = HostEvent::WriteChecked { req, path, real, result };
                        // When the engine is gone nobody needs to know.
                        let _ = facts.blocking_send(Fact::Host(at.into(), checked));
                    });
                }
                job @ FileJob::Write { .. } => self.write(job),
            }
        }
    }

    fn read(&mut self, job: ReadJob) {
        let ReadJob { at, req, request, line, limit, missing, turn } = job;
        let path = request.path().unwrap_or_default().to_owned();
        let refused = if turn.is_some() && turn != self.live_turn(at) {
            Some(refusing::file(&FsError::NotWanted(path.clone().into())))
        } else if self.files.stuck >= MAX_STUCK {
            Some(Refusal::new(
                Reason::Failed,
                format!("{MAX_STUCK} earlier reads have not come back; not read: {path}"),
            ))
        } else {
            None
        };
        if let Some(error) = refused {
            self.files.lane(at).is_busy = false;
            return self.apply(at, HostEvent::FileRead { req, path, result: Err(error) });
        }
        let stop = Arc::<AtomicBool>::default();
        let until = Instant::now() + PATIENCE;
        let reading = Reading { req, path: path.clone(), turn, stop: Stop(Arc::clone(&stop)), until };
        self.files.lane(at).reading = Some(reading);
        let (roots, facts) = (Arc::clone(self.workspaces.roots(at)), self.facts_tx.clone());
        let held = self.held(at);
        tokio::task::spawn_blocking(move || {
            let is_wanted = || !stop.load(Ordering::Relaxed);
            let result = admit(&roots, held.as_ref(), *request, &path).and_then(|file| {
                match fs::read_text(file, line, limit, &is_wanted) {
                    Err(FsError::NotFound(_)) if missing == MissingFile::Empty => Ok(String::new()),
                    other => other.map_err(|e| refusing::file(&e)),
                }
            });
            let _ = facts.blocking_send(Fact::Host(at.into(), HostEvent::FileRead { req, path, result }));
        });
    }

    /// Stops reads whose turns are over, and gives those up that do not come back.
    pub(super) fn mind_reading(&mut self) {
        for (at, lane) in &self.files.lanes {
            if let Some(reading) = &lane.reading
                && ((reading.turn.is_some() && reading.turn != self.live_turn(*at)) || !self.is_running(*at))
            {
                reading.stop.now();
            }
        }
        while let Some((at, Reading { req, path, stop, .. })) = self.files.give_up() {
            stop.now();
            let seconds = PATIENCE.as_secs();
            let error = Refusal::new(Reason::Failed, format!("reading took longer than {seconds} s, given up: {path}"));
            self.apply(at, HostEvent::FileRead { req, path, result: Err(error) });
            self.next_file(at);
        }
    }

    fn write(&mut self, job: FileJob) {
        let FileJob::Write { at, req, request, content, entry, tries } = job else { return };
        let path = request.path().unwrap_or_default().to_owned();
        let looked = self.before_write(at, &path, entry, &content);
        let (roots, facts) = (Arc::clone(self.workspaces.roots(at)), self.facts_tx.clone());
        let held = self.held(at);
        tokio::task::spawn_blocking(move || {
            // Without an answer the write happens all the same.
            let known = looked.and_then(|looked| looked.recv_timeout(LOOK).ok()).flatten();
            let written = admit(&roots, held.as_ref(), Request::clone(&request), &path)
                .map(|file| write_text(&roots, &file, &content, known.as_ref()));
            let (result, links) = match written {
                // The review has not got what is there now: it looks again.
                Ok(Err(FsError::Changed(_))) if tries + 1 < WRITES => {
                    let again = FileJob::Write { at, req, request, content, entry, tries: tries + 1 };
                    let _ = facts.blocking_send(Fact::WriteAgain(again));
                    return;
                }
                Ok(Ok((w, links))) => (Ok(WriteFact { created: w.created, bytes: w.bytes, old: w.old }), links),
                Ok(Err(error)) => (Err(refusing::file(&error)), Vec::new()),
                Err(refusal) => (Err(refusal), Vec::new()),
            };
            let fact = Fact::Written(at, HostEvent::FileWritten { req, path, result }, links);
            let _ = facts.blocking_send(fact);
        });
    }

    /// What is there right before a write is not its doing: the review has a look first.
    fn before_write(
        &mut self,
        at: SessionKey,
        path: &str,
        entry: EntryId,
        content: &Arc<str>,
    ) -> Option<Receiver<Option<Replaceable>>> {
        self.workspaces.reviewing(at)?;
        let (done, looked) = sync_channel(1);
        self.files.lane(at).writing = Some((entry, Arc::clone(content)));
        self.give(at, Job::BeforeWrite { path: path.into(), content: Arc::clone(content), done });
        Some(looked)
    }

    /// Begins a write once more, before anything else of its session.
    pub(super) fn write_again(&mut self, job: FileJob) {
        let at = job.session();
        let lane = self.files.lane(at);
        lane.is_busy = false;
        lane.jobs.push_front(job);
        self.next_file(at);
    }

    /// The write is done; the review has a look at it, under all its names.
    pub(super) fn written(&mut self, at: SessionKey, event: HostEvent, links: Vec<std::path::PathBuf>) {
        let lane = self.files.lane(at);
        lane.is_busy = false;
        let writing = lane.writing.take();
        if let (HostEvent::FileWritten { path, result: Ok(_), .. }, Some((entry, content))) = (&event, writing) {
            let turn = self.turn_of(at);
            for path in std::iter::once(path.into()).chain(links) {
                self.give(at, Job::Wrote { path, turn, entry, content: Arc::clone(&content) });
            }
        }
        self.apply(at, event);
        self.next_file(at);
    }
}

#[cfg(test)]
#[path = "filing_tests.rs"]
mod tests;
