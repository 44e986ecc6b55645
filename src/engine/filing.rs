//! Files that agents ask for: those of a session one after the other, in the order of the requests.
//!
//! What may block runs on a blocking thread and comes back as a fact. Invariants: a session waits for its own files only;
//! a read holds it up for no longer than its patience, and not beyond its turn; a write is over the file that the review has, or is not done.

use super::admitting::{admit, place_of_write};
use super::fact::{Fact, Facts, Told};
use super::file_job::{FileJob, ReadJob, WriteJob};
use super::refusing;
use super::reviews::{self, Reviews, Writing, turn_of};
use crate::agent::quirks::MissingFile;
use crate::base::human;
use crate::host::fs::{self, FsError};
use crate::model::Model;
use crate::model::event::{HostEvent, WriteFact};
use crate::model::ids::{Addressed, ReqId, SessionKey, TurnId};
use crate::model::judge::{Place, Request};
use crate::model::refusal::{Reason, Refusal};
use crate::review::session::expected::write_text;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How often a write is begun that another program's save came in the way of.
const WRITES: u8 = 4;
/// How long one read may take: a file of a network may never answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Reads that never came back, over all sessions; with so many nothing more is read.
const MAX_STUCK: usize = 8;

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
    /// The write that is under way, where the review has looked at the file before.
    writing: Option<Writing>,
    /// Bytes of the write that is under way.
    bytes: usize,
}

impl Lane {
    /// Bytes of writes that are under way and wait.
    fn bytes(&self) -> usize {
        let waiting = |job: &FileJob| if let FileJob::Write(job) = job { job.content.len() } else { 0 };
        self.bytes + self.jobs.iter().map(waiting).sum::<usize>()
    }

    /// The next job, if none is under way; from now on it is.
    fn begin(&mut self) -> Option<FileJob> {
        let job = if self.is_busy { None } else { self.jobs.pop_front() };
        self.is_busy |= job.is_some();
        job
    }
}

/// What is asked for and what is under way, session by session.
#[derive(Debug)]
pub(super) struct FileQueue {
    lanes: BTreeMap<SessionKey, Lane>,
    /// Reads that were given up and have not come back.
    stuck: usize,
    /// Writes that are under way.
    writes: JoinSet<()>,
    /// The client ends: no write takes its place any more.
    is_over: Arc<AtomicBool>,
    facts: Facts,
}

impl FileQueue {
    /// `is_over` is set when the client ends.
    pub fn new(facts: &Facts, is_over: &Arc<AtomicBool>) -> Self {
        let (is_over, facts) = (Arc::clone(is_over), facts.clone());
        Self { lanes: BTreeMap::new(), stuck: 0, writes: JoinSet::new(), is_over, facts }
    }

    /// The client ends: nothing more is begun, and what has not come to its rename yet is given up. Ends when those that
    /// have come to it are over, or after `patience`.
    pub fn close(&mut self, patience: Duration) -> impl Future<Output = ()> + Send + use<> {
        self.is_over.store(true, Ordering::Release);
        self.lanes.clear();
        let mut writes = std::mem::take(&mut self.writes);
        async move {
            let all = async { while writes.join_next().await.is_some() {} };
            if tokio::time::timeout(patience, all).await.is_err() {
                tracing::warn!("a write is not over when the files are looked at for the last time");
            }
        }
    }

    fn lane(&mut self, at: SessionKey) -> &mut Lane {
        self.lanes.entry(at).or_default()
    }

    /// Bytes of writes that are not done.
    pub fn bytes(&self) -> usize {
        self.lanes.values().map(Lane::bytes).sum()
    }

    pub fn push(&mut self, job: FileJob) {
        self.lane(job.session()).jobs.push_back(job);
    }

    /// The next job of a session, to be begun now. Its files are read and written one after the other, in the order of
    /// the requests: nothing while one is under way.
    pub fn next(&mut self, at: SessionKey) -> Option<FileJob> {
        self.lane(at).begin()
    }

    /// Begins a job. What is refused at once is told, and the next one can be begun.
    pub fn begin(&mut self, job: FileJob, model: &Model, reviews: &mut Reviews) -> Told {
        match job {
            FileJob::Read(job) => self.read(job, model, reviews),
            FileJob::Check { at, req, path } => {
                self.check(at, req, path, reviews);
                Told::new()
            }
            FileJob::Write(job) => self.write(job, model, reviews),
        }
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

    /// Stops reads whose turns are over, and those of agents that are gone.
    pub fn stop_unwanted(&mut self, model: &Model, is_running: impl Fn(SessionKey) -> bool) {
        for (at, lane) in &self.lanes {
            if let Some(reading) = &lane.reading
                && ((reading.turn.is_some() && reading.turn != live_turn(model, *at)) || !is_running(*at))
            {
                reading.stop.now();
            }
        }
    }

    /// Gives a read up that does not come back; then the next job of its session can be begun.
    pub fn give_up(&mut self) -> Option<(SessionKey, HostEvent)> {
        let now = Instant::now();
        let (at, Reading { req, path, stop, .. }) = self.lanes.iter_mut().find_map(|(at, lane)| {
            let reading = lane.reading.take_if(|reading| reading.until <= now)?;
            lane.is_busy = false;
            Some((*at, reading))
        })?;
        stop.now();
        self.stuck += 1;
        let seconds = PATIENCE.as_secs();
        let error = Refusal::new(Reason::Failed, format!("reading took longer than {seconds} s, given up: {path}"));
        Some((at, HostEvent::FileRead { req, path, result: Err(error) }))
    }

    /// A write is to be begun once more, before anything else of its session.
    pub fn again(&mut self, job: WriteJob) {
        let lane = self.lane(job.at);
        (lane.is_busy, lane.bytes) = (false, 0);
        lane.jobs.push_front(FileJob::Write(job));
    }

    /// A write is over. What was written is for the review to look at, under all names of the file.
    pub fn written(&mut self, at: SessionKey, event: &HostEvent, links: Vec<PathBuf>, reviews: &mut Reviews) -> Told {
        while self.writes.try_join_next().is_some() {}
        let lane = self.lane(at);
        (lane.is_busy, lane.bytes) = (false, 0);
        match (event, lane.writing.take()) {
            (HostEvent::FileWritten { path, result: Ok(_), .. }, Some(writing)) => {
                reviews.wrote(at, std::iter::once(path.into()).chain(links), &writing)
            }
            (_, Some(writing)) => reviews.not_written(at, writing),
            (_, None) => Told::new(),
        }
    }

    fn check(&self, at: SessionKey, req: ReqId, path: String, reviews: &Reviews) {
        let (roots, facts) = (Arc::clone(reviews.roots(at)), self.facts.clone());
        tokio::task::spawn_blocking(move || {
            let text = |real: PathBuf| real.into_os_string().into_string().ok();
            let (real, outside, result) = match place_of_write(&roots, &path) {
                Place::Forbidden(why) => (None, false, Err(why)),
                Place::Inside(real) => (real.and_then(text), false, Ok(())),
                Place::Outside(real) => (text(real), true, Ok(())),
                Place::Unknown => (None, false, Ok(())),
            };
            facts.tell(at, HostEvent::WriteChecked { req, path, real, outside, result });
        });
    }

    fn read(&mut self, job: ReadJob, model: &Model, reviews: &Reviews) -> Told {
        let ReadJob { at, req, request, line, limit, missing, turn, rules } = job;
        let path = request.path().unwrap_or_default().to_owned();
        let refused = if turn.is_some() && turn != live_turn(model, at) {
            Some(refusing::file(&FsError::NotWanted(path.clone().into())))
        } else if self.stuck >= MAX_STUCK {
            Some(Refusal::new(
                Reason::Failed,
                format!("{MAX_STUCK} earlier reads have not come back; not read: {path}"),
            ))
        } else {
            None
        };
        if let Some(error) = refused {
            self.lane(at).is_busy = false;
            return vec![Addressed::new(at, HostEvent::FileRead { req, path, result: Err(error) })];
        }
        let stop = Arc::<AtomicBool>::default();
        let until = Instant::now() + PATIENCE;
        let reading = Reading { req, path: path.clone(), turn, stop: Stop(Arc::clone(&stop)), until };
        self.lane(at).reading = Some(reading);
        let (roots, facts) = (Arc::clone(reviews.roots(at)), self.facts.clone());
        tokio::task::spawn_blocking(move || {
            let is_wanted = || !stop.load(Ordering::Relaxed);
            let result = admit(&roots, rules.as_ref(), *request, &path).and_then(|file| {
                match fs::read_text(file, line, limit, &is_wanted) {
                    Err(FsError::NotFound(_)) if missing == MissingFile::Empty => Ok(String::new()),
                    other => other.map_err(|e| refusing::file(&e)),
                }
            });
            facts.tell(at, HostEvent::FileRead { req, path, result });
        });
        Told::new()
    }

    fn write(&mut self, job: WriteJob, model: &Model, reviews: &mut Reviews) -> Told {
        let WriteJob { at, req, request, content, how, entry, tries, rules } = job;
        let path = request.path().unwrap_or_default().to_owned();
        let writing = Writing { entry, content: content.clone(), turn: turn_of(model, at) };
        let (looked, told) = reviews.before_write(at, &path, &writing);
        let lane = self.lane(at);
        (lane.writing, lane.bytes) = (looked.is_some().then_some(writing), content.len());
        let (roots, facts, is_over) = (Arc::clone(reviews.roots(at)), self.facts.clone(), Arc::clone(&self.is_over));
        self.writes.spawn_blocking(move || {
            let known = looked.and_then(|looked| reviews::wait_for(&looked, &is_over)).flatten();
            let is_wanted = || !is_over.load(Ordering::Acquire);
            let written = admit(&roots, rules.as_ref(), Request::clone(&request), &path).map(|file| {
                fs::may_write(&file, how.only_where_directories_are, how.only_new)?;
                let is_inside = roots.paths().iter().any(|root| file.real.starts_with(root));
                let outside = (!is_inside).then(|| file.real.to_string_lossy().into_owned());
                let (written, links) = write_text(&roots, &file, &content, known.as_ref(), &is_wanted)?;
                Ok((written, links, outside))
            });
            let mut apart = 0;
            let (result, links) = match written {
                // The review has not got what is there now: it looks again.
                Ok(Err(FsError::Changed(_))) if tries + 1 < WRITES => {
                    let again = WriteJob { at, req, request, content, how, entry, tries: tries + 1, rules };
                    return facts.send(Fact::WriteAgain(again));
                }
                Ok(Ok((w, links, outside))) => {
                    apart = w.apart;
                    (Ok(WriteFact { created: w.created, bytes: w.bytes, old: w.old, outside }), links)
                }
                Ok(Err(error)) => (Err(refusing::file(&error)), Vec::new()),
                Err(refusal) => (Err(refusal), Vec::new()),
            };
            let apart = (apart > 0).then(|| words_of_apart(&path, apart));
            facts.send(Fact::Written(at, HostEvent::FileWritten { req, path, result }, links));
            if let Some(message) = apart {
                facts.tell(at, HostEvent::Warning { message });
            }
        });
        told
    }
}

/// That a file is another one now than under its other names.
fn words_of_apart(path: &str, names: u64) -> String {
    let (other, keep) = (human::count(names, "other name"), if names == 1 { "keeps" } else { "keep" });
    format!("{path} was written under this name; {other} of the file (hard links) {keep} what it was")
}

/// The turn of a session that runs and is not being stopped.
fn live_turn(model: &Model, at: SessionKey) -> Option<TurnId> {
    model.session_of(at)?.turn.as_ref().filter(|turn| turn.cancelling.is_none()).map(|turn| turn.id)
}

#[cfg(test)]
#[path = "filing_tests.rs"]
mod tests;
