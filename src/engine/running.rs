//! One agent at the other end of a link, from its start to the moment its end is told.
//!
//! The end is told once: when its output is drained and its status is known, or when one of the two has been missing
//! for a moment. Invariant: nothing here waits for the agent to read.

use super::decoding::Decoding;
use super::link::{Ended, Far, Link};
use crate::model::event::HostEvent;
use crate::remote::Told;
use crate::wire::framing::Agreed;
use crate::wire::outbox::{Load, Outbox};
use crate::wire::pump::{self, Incoming, WordForWord};
use crate::wire::stderr::StderrTail;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long the rest of the output may take once the process has ended.
const AFTER_EXIT: Duration = Duration::from_millis(500);
/// How long the process may take to end once its output has.
const AFTER_CLOSE: Duration = Duration::from_millis(300);
/// How long an agent may take to say anything where how messages are told apart goes by that (S-068).
const FIRST_BYTES: Duration = Duration::from_secs(2);
/// Lines of stderr shown when an agent ends.
pub const STDERR_LINES: usize = 12;
/// Lines of stderr under way to the journal.
const STDERR_QUEUE: usize = 256;

#[derive(Debug)]
pub struct Running {
    pub far: Far,
    pub told: Option<mpsc::Receiver<Told>>,
    pub incoming: mpsc::Receiver<Incoming>,
    /// While this is there nothing more is taken from `incoming`.
    pub decoding: Option<Decoding>,
    pub stderr_lines: mpsc::Receiver<Arc<str>>,
    pub outbox: Outbox,
    pub tx: Option<mpsc::Sender<Load>>,
    pub stderr: StderrTail,
    stderr_task: Option<JoinHandle<()>>,
    writer_task: JoinHandle<std::io::Result<()>>,
    ended: Option<Ended>,
    closed: bool,
    input_closed: bool,
    deadline: Option<Instant>,
    framing: Agreed,
    /// Until then the first bytes are waited for, where they decide how messages are told apart.
    silent_until: Option<Instant>,
    /// Messages cannot be told apart any more, and why.
    lost: Option<String>,
}

impl Running {
    pub fn new(link: Link, words: WordForWord) -> Self {
        let framing = Agreed::from(link.framing);
        let (frames_tx, incoming) = mpsc::channel(pump::INBOX);
        let (lines_tx, stderr_lines) = mpsc::channel(STDERR_QUEUE);
        let tail = StderrTail::default().with_lines(lines_tx);
        pump::spawn_reader(link.incoming, frames_tx, words, framing.clone());
        let stderr_task = link.errors.map(|errors| pump::spawn_stderr(errors, tail.clone()));
        let (tx, writer_task) = pump::spawn_writer(link.outgoing);
        Self {
            far: link.far,
            told: link.told,
            incoming,
            decoding: None,
            stderr_lines,
            outbox: Outbox::new(framing.clone()),
            silent_until: framing.is_open().then(|| Instant::now() + FIRST_BYTES),
            framing,
            lost: None,
            tx: Some(tx),
            stderr: tail,
            stderr_task,
            writer_task,
            ended: None,
            closed: false,
            input_closed: false,
            deadline: None,
        }
    }

    /// What has arrived and may be applied now.
    pub fn ready(&mut self) -> Option<Incoming> {
        if self.decoding.is_some() { None } else { self.incoming.try_recv().ok() }
    }

    pub fn note_ended(&mut self, ended: Ended) {
        self.ended = Some(ended);
        self.deadline = Some(Instant::now() + AFTER_EXIT);
    }

    pub fn note_closed(&mut self, error: Option<io::Error>) {
        self.closed = true;
        self.lost = error.filter(|error| error.kind() == io::ErrorKind::InvalidData).map(|error| error.to_string());
        self.deadline.get_or_insert_with(|| Instant::now() + AFTER_CLOSE);
    }

    /// The agent does not read any more.
    pub fn note_input_closed(&mut self) {
        self.tx = None;
        self.outbox.clear();
        self.input_closed = true;
        self.deadline.get_or_insert_with(|| Instant::now() + AFTER_CLOSE);
    }

    /// As if the first bytes had been waited for long enough.
    #[cfg(test)]
    pub fn lose_patience(&mut self) {
        self.silent_until = self.silent_until.map(|_| Instant::now());
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// When to look again for the end, if it is near.
    pub fn deadline(&self) -> Option<Instant> {
        let silent_until = self.silent_until.filter(|_| self.framing.is_open());
        self.deadline.into_iter().chain(silent_until).min()
    }

    fn is_silent(&self) -> bool {
        self.framing.is_open() && self.silent_until.is_some_and(|until| Instant::now() >= until)
    }

    /// The end, once enough is known of it.
    pub fn end(&self) -> Option<HostEvent> {
        if self.decoding.is_some() {
            return None;
        }
        let late = self.deadline.is_some_and(|d| Instant::now() >= d);
        let drained = self.closed && self.stderr_task.as_ref().is_none_or(JoinHandle::is_finished);
        match &self.ended {
            _ if self.lost.is_some() => self.lost.clone().map(|why| HostEvent::ConnectionDropped { why }),
            Some(Ended::Exited(exit)) if drained || late => {
                Some(HostEvent::AgentExited { exit: exit.clone(), stderr: self.stderr_tail(STDERR_LINES) })
            }
            Some(Ended::Lost(lost)) if drained || late => {
                let retry_after = lost.retry_after.map(|after| after.as_secs());
                Some(HostEvent::ConnectionLost { why: lost.why.clone(), retry_after })
            }
            Some(_) => None,
            None if self.closed && late => Some(HostEvent::StdoutClosed { stderr: self.stderr_tail(STDERR_LINES) }),
            None if self.input_closed && late => {
                Some(HostEvent::ConnectionDropped { why: "the agent has closed its input".into() })
            }
            None if self.is_silent() => Some(HostEvent::NothingHeard),
            None => None,
        }
    }

    /// The last lines on stderr, without blank ones.
    pub fn stderr_tail(&self, lines: usize) -> Vec<String> {
        self.stderr.last_lines(lines)
    }

    /// Closes the agent's input when what waits has been written, or after `patience`. Its output is read on, so that
    /// it cannot block on its way out.
    pub async fn close_input(&mut self, patience: Duration) {
        if let Some(tx) = self.tx.take() {
            let outbox = &mut self.outbox;
            let flush = async {
                while !outbox.is_empty() {
                    if outbox.ready(&tx).await.is_err() {
                        break;
                    }
                }
            };
            let flushed = tokio::time::timeout(patience, flush).await.is_ok();
            drop(tx);
            if flushed {
                // The writer still has lines in its queue; it ends when they are written.
                let _ = tokio::time::timeout(patience, &mut self.writer_task).await;
            }
        }
        self.writer_task.abort();
        let (_, empty) = mpsc::channel(1);
        let mut rest = std::mem::replace(&mut self.incoming, empty);
        tokio::spawn(async move { while rest.recv().await.is_some() {} });
    }
}
