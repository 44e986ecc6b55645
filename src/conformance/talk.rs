//! One process of the agent and the connection to it: what is said goes out, what comes is looked at and answered.
//!
//! Knows no step. Invariants: nothing waits beyond the time it is given, a flood included; the process and its group are
//! ended at the latest when this is dropped.

use super::report::Step;
use super::serve::{Refused, Served};
use super::{Asked, Version};
use crate::agent::codec::watch::Watch;
use crate::base::shared::SharedText;
use crate::host::process::{self, AgentProcess, Graces, SpawnError};
use crate::model::frames::{Flaw, FrameDir};
use crate::model::ids::AgentKey;
use crate::wire::frame::{self, Frame, RawId};
use crate::wire::framing::Agreed;
use crate::wire::outbox::{Load, Outbox};
use crate::wire::pump::{self, INBOX, Incoming};
use crate::wire::rpc_error::RpcError;
use crate::wire::stderr::StderrTail;
use serde_json::Value;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::timeout_at;

/// Violations that wait for the step that they belong to.
const MAX_WAITING: usize = 200;
/// How long the rest of a process may take that does not end by itself.
const GRACES: Graces = Graces { stdin: Duration::from_millis(100), term: Duration::from_secs(2) };
/// How long an ended agent may keep us from its exit code.
const EXIT_CODE: Duration = Duration::from_secs(2);
/// Lines of its standard error that say why it ended.
const LAST_WORDS: usize = 3;
const REQUESTS_OF_FILES: &[&str] = &["fs/write_text_file", "fs/read_text_file"];

/// An answer, or why there is none.
pub(super) type Answered = Result<Answer, Silent>;

#[derive(Debug)]
pub(super) struct Answer {
    pub outcome: Result<Value, RpcError>,
    pub line: Arc<str>,
}

#[derive(Debug)]
pub(super) enum Silent {
    Late,
    Gone(String),
}

/// What came next.
#[derive(Debug)]
pub(super) enum Event {
    Answer(u64, Answer),
    /// News of a session, and of which kind.
    Update(String, Arc<str>),
    /// A request, which was answered.
    Asked,
    Other,
    Silent(Silent),
}

pub(super) struct Talk {
    process: AgentProcess,
    outbox: Outbox,
    out: Option<mpsc::Sender<Load>>,
    incoming: mpsc::Receiver<Incoming>,
    queue: VecDeque<(Frame, Arc<str>)>,
    is_closed: bool,
    watch: Watch,
    errors: StderrTail,
    began: Instant,
    next: u64,
    pub(super) served: Served,
    /// What was wrong with messages since the last step.
    flaws: Vec<(Flaw, Arc<str>)>,
    /// What was sent last.
    pub(super) sent: String,
    /// A turn did not end in time.
    pub(super) is_stuck: bool,
}

/// A message as it is kept here.
fn held((frame, line): (Frame, SharedText)) -> (Frame, Arc<str>) {
    (frame, (&line).into())
}

impl Talk {
    pub(super) fn start(asked: &Asked) -> Result<Self, SpawnError> {
        let mut process = process::spawn(&asked.agent)?;
        let agreed = Agreed::from(asked.framing);
        let (tx, incoming) = mpsc::channel(INBOX);
        let errors = StderrTail::default();
        if let Some(stdout) = process.stdout.take() {
            pump::spawn_reader(stdout, tx, REQUESTS_OF_FILES, agreed.clone());
        }
        if let Some(stderr) = process.stderr.take() {
            pump::spawn_stderr(stderr, errors.clone());
        }
        let out = process.stdin.take().map(|stdin| pump::spawn_writer(stdin).0);
        Ok(Self {
            process,
            outbox: Outbox::new(agreed),
            out,
            incoming,
            queue: VecDeque::new(),
            is_closed: false,
            watch: Watch::new(AgentKey::FIRST),
            errors,
            began: Instant::now(),
            next: 0,
            served: Served::new(asked.allow, asked.version == Version::One, PathBuf::from(&asked.cwd)),
            flaws: Vec::new(),
            sent: String::new(),
            is_stuck: false,
        })
    }

    /// It runs, and answers.
    pub(super) fn is_usable(&self) -> bool {
        !self.is_closed && !self.is_stuck
    }

    /// Moves what was wrong with messages to a step.
    pub(super) fn tell(&mut self, step: &mut Step) {
        for (flaw, line) in self.flaws.drain(..) {
            step.find(flaw, &line);
        }
    }

    /// Its last words, for saying why it is gone.
    pub(super) fn last_words(&self) -> String {
        self.errors.last_lines(LAST_WORDS).join(" / ")
    }

    pub(super) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if let Ok(line) = frame::request(id, method, params) {
            self.sent.clone_from(&line);
            self.send(line);
        }
        id
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        if let Ok(line) = frame::notification(method, params) {
            self.sent.clone_from(&line);
            self.send(line);
        }
    }

    /// A call, and what comes until it is answered.
    pub(super) async fn call(&mut self, method: &str, params: &Value, limit: Duration) -> Answered {
        let id = self.begin(method, params);
        let until = Instant::now() + limit;
        loop {
            match self.event(until).await {
                Event::Answer(of, answer) if of == id => return Ok(answer),
                Event::Silent(why) => return Err(why),
                _ => {}
            }
        }
    }

    fn send(&mut self, line: String) {
        let line: Arc<str> = line.into();
        let frame = Frame::parse(line.as_bytes());
        self.watch.see(self.began.elapsed(), FrameDir::ToAgent, &frame, &line);
        // An agent that does not read is found out by what it does not answer.
        let _ = self.outbox.push(line);
    }

    /// What comes next, at most until then.
    pub(super) async fn event(&mut self, until: Instant) -> Event {
        loop {
            // Also when there is always something: a flood is no reason to stay.
            if Instant::now() >= until {
                return Event::Silent(Silent::Late);
            }
            if let Some((frame, line)) = self.queue.pop_front() {
                return self.heard(&frame, &line);
            }
            if self.is_closed {
                return Event::Silent(Silent::Gone(self.how_it_ended().await));
            }
            let Self { outbox, out, incoming, .. } = self;
            let wait = async {
                match out {
                    Some(tx) => {
                        tokio::select! {
                            incoming = incoming.recv() => Some(incoming),
                            written = outbox.ready(tx) => {
                                if written.is_err() {
                                    outbox.clear();
                                }
                                None
                            }
                        }
                    }
                    None => Some(incoming.recv().await),
                }
            };
            match timeout_at(until.into(), wait).await {
                Err(_) => return Event::Silent(Silent::Late),
                Ok(None) => {}
                Ok(Some(Some(Incoming::Frames(batch)))) => self.queue.extend(batch.frames.into_iter().map(held)),
                Ok(Some(Some(Incoming::Closed { half_line, .. }))) => {
                    self.queue.extend(half_line.map(held));
                    self.is_closed = true;
                }
                Ok(Some(None)) => self.is_closed = true,
            }
        }
    }

    async fn how_it_ended(&mut self) -> String {
        let exit = tokio::time::timeout(EXIT_CODE, self.process.wait()).await;
        let how = match exit {
            Ok(Ok(exit)) => exit.to_string(),
            _ => "it has closed its output".to_owned(),
        };
        match self.last_words() {
            words if words.is_empty() => how,
            words => format!("{how}; it says: {words}"),
        }
    }

    fn heard(&mut self, frame: &Frame, line: &Arc<str>) -> Event {
        let row = self.watch.see(self.began.elapsed(), FrameDir::FromAgent, frame, line);
        for flaw in row.flaws {
            self.flaw(flaw, line);
        }
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        match frame {
            Frame::Request { id, method, params } => {
                let params = params.as_ref().map_or(Value::Null, |params| value(params.as_str()));
                let (answer, flaw) = self.served.answer(method.as_str(), &params);
                if let Some(flaw) = flaw {
                    self.flaw(flaw, line);
                }
                self.answer(id, answer);
                Event::Asked
            }
            Frame::Notification { method, params } if method == "session/update" => {
                let params = params.as_ref().map_or(Value::Null, |params| value(params.as_str()));
                let session = params["sessionId"].as_str().unwrap_or_default();
                if !self.served.is_opening && !self.served.sessions.contains(session) {
                    let what = "news of a session that was not opened".to_owned();
                    self.flaw(Flaw { rule: "R-247", what }, line);
                }
                let kind = params.pointer("/update/sessionUpdate").and_then(Value::as_str);
                Event::Update(kind.unwrap_or_default().to_owned(), Arc::clone(line))
            }
            Frame::Response { id, outcome } => match id.as_u64() {
                Some(id) => {
                    let outcome = outcome.as_ref().map(|result| value(result.as_str())).map_err(Clone::clone);
                    Event::Answer(id, Answer { outcome, line: Arc::clone(line) })
                }
                None => Event::Other,
            },
            Frame::Invalid { id: Some(id), code, why } => {
                self.answer(id, Err((*code, why.clone())));
                Event::Other
            }
            _ => Event::Other,
        }
    }

    fn answer(&mut self, id: &RawId, answer: Result<Value, Refused>) {
        let line = match answer {
            Ok(result) => frame::response_ok(id, &result),
            Err((code, why)) => Ok(frame::response_err(id, &RpcError::new(code, why))),
        };
        if let Ok(line) = line {
            self.send(line);
        }
    }

    fn flaw(&mut self, flaw: Flaw, line: &Arc<str>) {
        if self.flaws.len() < MAX_WAITING {
            self.flaws.push((flaw, Arc::clone(line)));
        }
    }

    /// Ends its input and waits for its end; whether it came in time, and what was left of it.
    pub(super) async fn end(mut self, limit: Duration) -> (bool, Vec<String>) {
        self.process.look_around();
        self.out = None;
        let until = tokio::time::Instant::now() + limit;
        let Self { process, incoming, .. } = &mut self;
        let ended = async {
            loop {
                tokio::select! {
                    _ = process.wait() => break,
                    // Read on, so that it does not wait for a reader.
                    more = incoming.recv() => if more.is_none() {
                        let _ = process.wait().await;
                        break;
                    },
                }
            }
        };
        let in_time = timeout_at(until, ended).await.is_ok();
        let report = self.process.shutdown(GRACES).await;
        (in_time, report.survivors.into_iter().map(|survivor| survivor.command).collect())
    }
}
