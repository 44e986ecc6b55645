//! Files that the agent asks for: one after the other, in the order of the requests.
//!
//! What may block runs on a blocking thread and comes back as a fact. Invariants: a read holds nobody up for longer than
//! its patience, and not beyond its turn; a write is over the file that the review has, or is not done.

use super::fact::Fact;
use super::refusing;
use super::reviewing::Job;
use super::run::Engine;
use crate::agent::quirks::MissingFile;
use crate::host::fs::{self, FsError};
use crate::model::event::{HostEvent, WriteFact};
use crate::model::ids::{EntryId, ReqId, SessionKey, TurnId};
use crate::model::refusal::{Reason, Refusal};
use crate::review::protocol::Replaceable;
use crate::review::session::expected::write_text;
use std::path::Path;
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
/// Reads that never came back; with so many nothing more is read.
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
        path: String,
        content: Arc<str>,
        entry: EntryId,
        /// How often it was begun before.
        tries: u8,
    },
}

#[derive(Debug)]
pub struct ReadJob {
    pub at: SessionKey,
    pub req: ReqId,
    pub path: String,
    pub line: Option<u32>,
    pub limit: Option<u32>,
    pub missing: MissingFile,
    /// The turn in which it was asked for; nothing outside of turns.
    pub turn: Option<TurnId>,
}

/// A read that is under way.
#[derive(Debug)]
pub(super) struct Reading {
    at: SessionKey,
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

/// What is under way with files.
#[derive(Debug, Default)]
pub(super) struct Filing {
    is_busy: bool,
    reading: Option<Reading>,
    /// Reads that were given up and have not come back.
    stuck: usize,
}

impl Filing {
    /// When the read that is under way is given up.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.reading.as_ref().map(|reading| reading.until)
    }
}

impl Engine {
    /// The turn of a session that runs and is not being stopped.
    fn live_turn(&self, at: SessionKey) -> Option<TurnId> {
        self.model().session_of(at)?.turn.as_ref().filter(|turn| turn.cancelling.is_none()).map(|turn| turn.id)
    }

    /// Files are read and written one after the other, in the order of the requests.
    pub(super) fn next_file(&mut self) {
        while !self.filing.is_busy {
            let Some(job) = self.files.pop_front() else { return };
            self.filing.is_busy = true;
            match job {
                FileJob::Read(job) => self.read(job),
                FileJob::Check { at, req, path } => {
                    let (roots, facts) = (Arc::clone(&self.roots), self.facts_tx.clone());
                    tokio::task::spawn_blocking(move || {
                        let result = roots.check(&path).map(|_| ()).map_err(|e| refusing::file(&e));
                        // When the engine is gone nobody needs to know.
                        let _ =
                            facts.blocking_send(Fact::Host(at.into(), HostEvent::WriteChecked { req, path, result }));
                    });
                }
                job @ FileJob::Write { .. } => self.write(job),
            }
        }
    }

    fn read(&mut self, job: ReadJob) {
        let ReadJob { at, req, path, line, limit, missing, turn } = job;
        let refused = if turn.is_some() && turn != self.live_turn(at) {
            Some(refusing::file(&FsError::NotWanted(path.clone().into())))
        } else if self.filing.stuck >= MAX_STUCK {
            Some(Refusal::new(
                Reason::Failed,
                format!("{MAX_STUCK} earlier reads have not come back; not read: {path}"),
            ))
        } else {
            None
        };
        if let Some(error) = refused {
            self.filing.is_busy = false;
            return self.apply(at, HostEvent::FileRead { req, path, result: Err(error) });
        }
        let stop = Arc::<AtomicBool>::default();
        let until = Instant::now() + PATIENCE;
        self.filing.reading = Some(Reading { at, req, path: path.clone(), turn, stop: Stop(Arc::clone(&stop)), until });
        let (roots, facts) = (Arc::clone(&self.roots), self.facts_tx.clone());
        tokio::task::spawn_blocking(move || {
            let is_wanted = || !stop.load(Ordering::Relaxed);
            let result = match fs::read_text(&roots, &path, line, limit, &is_wanted) {
                Err(FsError::NotFound(_)) if missing == MissingFile::Empty => Ok(String::new()),
                other => other.map_err(|e| refusing::file(&e)),
            };
            let _ = facts.blocking_send(Fact::Host(at.into(), HostEvent::FileRead { req, path, result }));
        });
    }

    /// A read has come back. False when it was given up before.
    pub(super) fn has_read(&mut self, req: ReqId) -> bool {
        if self.filing.reading.take_if(|reading| reading.req == req).is_some() {
            self.filing.is_busy = false;
            return true;
        }
        self.filing.stuck = self.filing.stuck.saturating_sub(1);
        false
    }

    /// Stops a read whose turn is over, and gives one up that does not come back.
    pub(super) fn mind_reading(&mut self) {
        let Some(reading) = &self.filing.reading else { return };
        let live = self.live_turn(reading.at);
        let is_late = reading.until <= Instant::now();
        if is_late || (reading.turn.is_some() && reading.turn != live) || self.running.is_none() {
            reading.stop.now();
        }
        if !is_late {
            return;
        }
        let Some(Reading { at, req, path, .. }) = self.filing.reading.take() else { return };
        self.filing.stuck += 1;
        self.filing.is_busy = false;
        let seconds = PATIENCE.as_secs();
        let error = Refusal::new(Reason::Failed, format!("reading took longer than {seconds} s, given up: {path}"));
        self.apply(at, HostEvent::FileRead { req, path, result: Err(error) });
        self.next_file();
    }

    fn write(&mut self, job: FileJob) {
        let FileJob::Write { at, req, path, content, entry, tries } = job else { return };
        let looked = self.before_write(&path, entry, &content);
        let (roots, facts) = (Arc::clone(&self.roots), self.facts_tx.clone());
        tokio::task::spawn_blocking(move || {
            // Without an answer the write happens all the same.
            let known = looked.and_then(|looked| looked.recv_timeout(LOOK).ok()).flatten();
            let fact = match write_text(&roots, Path::new(&path), &content, known.as_ref()) {
                // The review has not got what is there now: it looks again.
                Err(FsError::Changed(_)) if tries + 1 < WRITES => {
                    Fact::WriteAgain(FileJob::Write { at, req, path, content, entry, tries: tries + 1 })
                }
                Ok((w, links)) => {
                    let result = Ok(WriteFact { created: w.created, bytes: w.bytes, old: w.old });
                    Fact::Written(at, HostEvent::FileWritten { req, path, result }, links)
                }
                Err(error) => Fact::Written(
                    at,
                    HostEvent::FileWritten { req, path, result: Err(refusing::file(&error)) },
                    Vec::new(),
                ),
            };
            let _ = facts.blocking_send(fact);
        });
    }

    /// What is there right before a write is not its doing: the review has a look first.
    fn before_write(
        &mut self,
        path: &str,
        entry: EntryId,
        content: &Arc<str>,
    ) -> Option<Receiver<Option<Replaceable>>> {
        self.reviewing.as_ref()?;
        let (done, looked) = sync_channel(1);
        self.writing = Some((entry, Arc::clone(content)));
        self.give(Job::BeforeWrite { path: path.into(), content: Arc::clone(content), done });
        Some(looked)
    }

    /// Begins a write once more, before anything else.
    pub(super) fn write_again(&mut self, job: FileJob) {
        self.filing.is_busy = false;
        self.files.push_front(job);
        self.next_file();
    }

    /// The write is done; the review has a look at it, under all its names.
    pub(super) fn written(&mut self, at: SessionKey, event: HostEvent, links: Vec<std::path::PathBuf>) {
        self.filing.is_busy = false;
        if let (HostEvent::FileWritten { path, result: Ok(_), .. }, Some((entry, content))) =
            (&event, self.writing.take())
        {
            for path in std::iter::once(path.into()).chain(links) {
                self.give(Job::Wrote { path, entry, content: Arc::clone(&content) });
            }
        }
        self.apply(at, event);
        self.next_file();
    }

    /// A path was looked at.
    pub(super) fn checked(&mut self) {
        self.filing.is_busy = false;
    }
}

#[cfg(test)]
#[path = "filing_tests.rs"]
mod tests;
