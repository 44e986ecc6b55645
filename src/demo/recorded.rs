//! A recording or a journal, played as the agent that it is of.
//!
//! What the agent said is said again, in its order; what the client said is waited for where the agent waited for it:
//! the handshake, an open session, a prompt, an answer to a request. What else the client asks is answered as it was then.
//! Executes nothing and reads no other file. Invariants: each request of the client is answered once, unless the recording
//! ends before; no more than [`MAX_FILE`] bytes are read.

use super::peer::{Input, Peer};
use super::{DemoError, ExitKind, Pace};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// A larger file is not played.
const MAX_FILE: u64 = 1 << 30;
/// A longer line is none of a recording.
const MAX_LINE: u64 = 80 << 20;
/// The pause before one message, however long it was then.
const MAX_PAUSE: f64 = 3600.0;
/// Requests of the client that may wait for their place.
const MAX_WAITING: usize = 64;
/// By what others know below `_meta`, and in the data of an error, that a recording plays.
const RECORDING: &str = "acp-tui/recording";
/// Of JSON-RPC: there is no such method.
const NO_METHOD: i64 = -32601;
/// Of JSON-RPC: something inside.
const INTERNAL: i64 = -32603;

/// One thing that happened, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// The agent said this; the id of what it answers or asks, if it does.
    Said { text: String, answers: Option<String>, asks: Option<String> },
    /// The client asked for this.
    Asked { id: String, method: String, session: Option<String> },
    /// The client answered this request of the agent; `terminal` is one that it made.
    Answered { id: String, terminal: Option<String> },
    /// The agent wrote this on its standard error.
    Stderr(String),
    /// The agent ended by itself.
    Ended(ExitKind),
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    t: f64,
    #[serde(default, borrow)]
    dir: Cow<'a, str>,
    #[serde(default, borrow)]
    frame: Option<&'a RawValue>,
    #[serde(default, borrow)]
    raw: Option<Cow<'a, str>>,
    /// Of a recording.
    #[serde(default)]
    agent: u64,
    /// Of a journal.
    #[serde(default)]
    at: Option<At>,
    #[serde(default, borrow)]
    fact: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct At {
    #[serde(default)]
    agent: u64,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default)]
    params: Option<Params>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params {
    #[serde(default, rename = "sessionId")]
    session: Option<Value>,
}

#[derive(Deserialize)]
struct Made {
    #[serde(rename = "terminalId")]
    terminal: String,
}

/// Plays a file over the process' own stdin and stdout.
pub fn play_stdio(file: &Path, pace: Pace) -> Result<ExitKind, DemoError> {
    let steps = read(File::open(file)?)?;
    played(steps, pace, io::stdin(), io::stdout())
}

fn played(
    steps: Vec<(f64, Step)>,
    pace: Pace,
    stdin: impl Read + Send + 'static,
    stdout: impl Write,
) -> Result<ExitKind, DemoError> {
    match Player::new(steps, pace, stdin, stdout)?.run() {
        // A client that no longer reads is gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitKind::Eof),
        ended => Ok(ended?),
    }
}

/// What happened with the first agent of the file, and when. Lines that cannot be read are passed over, as the torn last
/// one of a program that was killed.
fn read(file: impl Read) -> io::Result<Vec<(f64, Step)>> {
    let mut file = BufReader::new(file.take(MAX_FILE + 1));
    let (mut steps, mut line, mut bytes) = (Vec::new(), Vec::new(), 0);
    loop {
        line.clear();
        bytes += (&mut file).take(MAX_LINE).read_until(b'\n', &mut line)? as u64;
        if line.len() as u64 == MAX_LINE {
            return Err(io::Error::other("it has a line of more than 80 MiB; it is no recording"));
        }
        if bytes > MAX_FILE {
            return Err(io::Error::other("the file is larger than 1 GiB"));
        }
        if line.is_empty() {
            break;
        }
        let Ok(text) = str::from_utf8(&line) else { continue };
        let Ok(line) = serde_json::from_str::<Line<'_>>(text) else { continue };
        if line.agent == 0 && line.at.as_ref().is_none_or(|at| at.agent == 0) {
            let t = if line.t.is_finite() { line.t } else { 0.0 };
            steps.extend(step(line).map(|step| (t, step)));
        }
    }
    if steps.iter().any(|(_, step)| matches!(step, Step::Said { .. })) {
        return Ok(steps);
    }
    Err(io::Error::other("nothing that an agent said is in it; `--record FILE` writes a recording"))
}

fn step(line: Line<'_>) -> Option<Step> {
    match line.dir.as_ref() {
        "stderr" => line.raw.map(|text| Step::Stderr(text.into_owned())),
        "note" => noted(line.frame?.get()).map(Step::Ended),
        "host" => of_fact(line.fact?.get()).map(Step::Ended),
        "agent->client" => {
            let text = match (line.frame, line.raw) {
                (Some(frame), _) => frame.get().to_owned(),
                (None, raw) => raw?.into_owned(),
            };
            let head = serde_json::from_str::<Head<'_>>(&text).ok();
            let (id, method) = head.map_or((None, None), |head| (head.id.map(key), head.method.map(Cow::into_owned)));
            let (answers, asks) = if method.is_some() { (None, id) } else { (id, None) };
            Some(Step::Said { text, answers, asks })
        }
        "client->agent" => {
            let head: Head<'_> = serde_json::from_str(line.frame?.get()).ok()?;
            let id = key(head.id?);
            Some(match head.method {
                Some(method) => {
                    let session = head.params.and_then(|params| params.session).and_then(word);
                    Step::Asked { id, method: method.into_owned(), session }
                }
                None => {
                    let made = head.result.and_then(|result| serde_json::from_str::<Made>(result.get()).ok());
                    Step::Answered { id, terminal: made.map(|made| made.terminal) }
                }
            })
        }
        _ => None,
    }
}

/// How an agent ended, as a recording notes it.
fn noted(note: &str) -> Option<ExitKind> {
    let note: Value = serde_json::from_str(note).ok()?;
    if note["event"] == "exit" { kind_of(&note) } else { None }
}

/// The same, as a journal has it.
fn of_fact(fact: &str) -> Option<ExitKind> {
    // Most facts are others.
    let fact: Value = fact.starts_with(r#"{"AgentExited""#).then(|| serde_json::from_str(fact).ok())??;
    kind_of(fact.pointer("/AgentExited/exit")?)
}

fn kind_of(exit: &Value) -> Option<ExitKind> {
    match (exit["signal"].as_str(), exit["code"].as_i64()) {
        (Some(signal), _) => Some(ExitKind::Signal(signal.to_owned())),
        (None, code) => Some(ExitKind::Code(i32::try_from(code?).ok()?)),
    }
}

fn key(id: &RawValue) -> String {
    id.get().to_owned()
}

fn word(value: Value) -> Option<String> {
    if let Value::String(word) = value { Some(word) } else { None }
}

/// What is waited for, by what it does: a session is opened in one of several ways.
fn waits_for(method: &str) -> Option<&str> {
    match method {
        "initialize" | "authenticate" | "session/prompt" => Some(method),
        "session/new" | "session/load" | "session/resume" | "session/fork" => Some("session/new"),
        _ => None,
    }
}

/// A request of the client that runs with us.
struct Waiting {
    id: Value,
    method: String,
    session: Option<String>,
}

/// A request that has found its place in the recording and waits for its answer.
struct Open {
    id: Value,
    method: String,
    /// The session that it was about in the recording.
    session: Option<String>,
}

struct Player<W: Write> {
    peer: Peer<W>,
    pace: Pace,
    steps: Vec<(f64, Step)>,
    at: usize,
    waiting: VecDeque<Waiting>,
    /// By the ids of the recording.
    open: HashMap<String, Open>,
    /// Requests of the agent that went out, and that the client has answered.
    asked: BTreeSet<String>,
    answered: BTreeSet<String>,
    /// Sessions of the recording and what the client calls them.
    sessions: HashMap<String, String>,
    /// The same of the terminals that it has made.
    terminals: HashMap<String, String>,
    /// Answers that were given out of their place.
    used: BTreeSet<usize>,
    has_begun: bool,
    /// The client has cancelled the turn.
    cancels: bool,
    /// When the last step was played, here and in the recording.
    last: (Instant, f64),
}

impl<W: Write> Player<W> {
    fn new(steps: Vec<(f64, Step)>, pace: Pace, stdin: impl Read + Send + 'static, stdout: W) -> io::Result<Self> {
        let first = steps.first().map_or(0.0, |(t, _)| *t);
        Ok(Self {
            peer: Peer::new(stdin, stdout)?,
            pace,
            steps,
            at: 0,
            waiting: VecDeque::new(),
            open: HashMap::new(),
            asked: BTreeSet::new(),
            answered: BTreeSet::new(),
            sessions: HashMap::new(),
            terminals: HashMap::new(),
            used: BTreeSet::new(),
            has_begun: false,
            cancels: false,
            last: (Instant::now(), first),
        })
    }

    fn run(mut self) -> io::Result<ExitKind> {
        while self.at < self.steps.len() {
            let at = self.at;
            let (t, step) = self.steps[at].clone();
            let played = match step {
                Step::Said { text, answers, asks } => self.say(t, text, answers.as_deref(), asks)?,
                Step::Asked { id, method, session } => self.wait_for(&id, &method, session)?,
                Step::Answered { id, .. } => self.wait_for_answer(&id)?,
                Step::Stderr(text) => {
                    // Whoever closed our standard error does without.
                    let _ = writeln!(io::stderr(), "{text}");
                    ControlFlow::Continue(())
                }
                // One that was started anew in the recording is one that is running here.
                Step::Ended(_) if self.says_more() => ControlFlow::Continue(()),
                Step::Ended(kind) => match self.wait_until(t)? {
                    ControlFlow::Continue(()) if !self.cancels => return Ok(kind),
                    waited => waited,
                },
            };
            if played.is_break() {
                return Ok(ExitKind::Eof);
            }
            self.last = (Instant::now(), t);
            if std::mem::take(&mut self.cancels) {
                self.cancel()?;
            }
            if self.at == at {
                self.at += 1;
            }
        }
        if !self.open.is_empty() {
            let _ = writeln!(io::stderr(), "the recording ends here, in the middle of a request");
            return Ok(ExitKind::Code(1));
        }
        while let Input::Line(line) = self.peer.receive(None) {
            self.take(&line)?;
            while let Some(waiting) = self.waiting.pop_front() {
                self.refuse(&waiting, INTERNAL, "the recording is at its end")?;
            }
        }
        Ok(ExitKind::Eof)
    }

    /// Says what the agent said, after the pause that it made.
    fn say(
        &mut self,
        t: f64,
        text: String,
        answers: Option<&str>,
        asks: Option<String>,
    ) -> io::Result<ControlFlow<()>> {
        let waited = self.wait_until(t)?;
        if waited.is_break() || self.cancels {
            return Ok(waited);
        }
        let text = match answers {
            Some(id) => match self.open.remove(id) {
                Some(open) => as_answer(&text, &open),
                // Nobody asks here what was asked then.
                None => return Ok(ControlFlow::Continue(())),
            },
            None => self.as_named_here(text),
        };
        self.asked.extend(asks);
        self.peer.write(text.as_bytes())?;
        self.peer.write(b"\n")?;
        self.peer.flush()?;
        Ok(ControlFlow::Continue(()))
    }

    /// Makes the pause that the agent made, unless the client cancels.
    fn wait_until(&mut self, t: f64) -> io::Result<ControlFlow<()>> {
        let pause = match self.pace {
            Pace::Human => Duration::from_secs_f64((t - self.last.1).clamp(0.0, MAX_PAUSE)),
            Pace::Fast => Duration::ZERO,
        };
        let until = self.last.0 + pause;
        while !self.cancels {
            match self.peer.receive(Some(until)) {
                Input::Line(line) => self.take(&line)?,
                Input::Quiet => break,
                Input::Eof => return Ok(ControlFlow::Break(())),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether the agent says something after this.
    fn says_more(&self) -> bool {
        self.steps.iter().skip(self.at).any(|(_, step)| matches!(step, Step::Said { .. }))
    }

    /// Waits until the client asks what it asked then. Goes to a later place when it asks for what stands there.
    fn wait_for(&mut self, id: &str, method: &str, session: Option<String>) -> io::Result<ControlFlow<()>> {
        let Some(class) = waits_for(method) else { return Ok(ControlFlow::Continue(())) };
        // An agent that was started anew in the recording is one that is running here.
        if class == "initialize" && std::mem::replace(&mut self.has_begun, true) {
            return Ok(ControlFlow::Continue(()));
        }
        loop {
            let fits = |waiting: &Waiting| waits_for(&waiting.method) == Some(class);
            if let Some(found) = self.waiting.iter().position(fits).and_then(|at| self.waiting.remove(at)) {
                if let Some((then, now)) = session.clone().zip(found.session).filter(|(then, now)| then != now) {
                    self.sessions.insert(then, now);
                }
                self.open.insert(id.to_owned(), Open { id: found.id, method: found.method, session });
                return Ok(ControlFlow::Continue(()));
            }
            if let Some(first) = self.waiting.pop_front() {
                let class = waits_for(&first.method);
                let later =
                    self.steps.iter().enumerate().skip(self.at + 1).find(
                        |(_, (_, step))| matches!(step, Step::Asked { method, .. } if waits_for(method) == class),
                    );
                if let Some((at, _)) = later {
                    self.at = at;
                    self.waiting.push_front(first);
                    return Ok(ControlFlow::Continue(()));
                }
                let words = format!("the recording has no further {}", first.method);
                self.refuse(&first, INTERNAL, &words)?;
                continue;
            }
            match self.peer.receive(None) {
                Input::Line(line) => self.take(&line)?,
                Input::Quiet => {}
                Input::Eof => return Ok(ControlFlow::Break(())),
            }
            // There is no turn.
            self.cancels = false;
        }
    }

    fn wait_for_answer(&mut self, id: &str) -> io::Result<ControlFlow<()>> {
        while self.asked.contains(id) && !self.answered.contains(id) {
            match self.peer.receive(None) {
                Input::Line(line) => self.take(&line)?,
                Input::Quiet => {}
                Input::Eof => return Ok(ControlFlow::Break(())),
            }
        }
        self.asked.remove(id);
        self.answered.remove(id);
        Ok(ControlFlow::Continue(()))
    }

    /// A message of the client.
    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return Ok(()) };
        let method = message.get("method").and_then(Value::as_str);
        match (method, message.get("id")) {
            (Some(method), Some(id)) => {
                let session = message.pointer("/params/sessionId").cloned().and_then(word);
                let waiting = Waiting { id: id.clone(), method: method.to_owned(), session };
                if waits_for(method).is_none() {
                    return self.answer_as_then(&waiting);
                }
                if self.waiting.len() >= MAX_WAITING {
                    return self.refuse(&waiting, INTERNAL, "too many requests at once");
                }
                self.waiting.push_back(waiting);
            }
            (Some("session/cancel"), None) => {
                self.cancels = self.open.values().any(|open| open.method == "session/prompt");
            }
            (None, Some(id)) => {
                let id = id.to_string();
                let made = message.pointer("/result/terminalId").and_then(Value::as_str);
                if let Some((then, now)) = self.made_then(&id).zip(made).filter(|(then, now)| then != now) {
                    self.terminals.insert(then.to_owned(), now.to_owned());
                }
                self.answered.insert(id);
            }
            _ => {}
        }
        Ok(())
    }

    /// The terminal that the client made for this request.
    fn made_then(&self, request: &str) -> Option<&str> {
        self.steps.iter().skip(self.at).find_map(|(_, step)| match step {
            Step::Answered { id, terminal } if id == request => terminal.as_deref(),
            _ => None,
        })
    }

    /// Gives the first answer to this method that was not given yet.
    fn answer_as_then(&mut self, waiting: &Waiting) -> io::Result<()> {
        let found = self.steps.iter().enumerate().find_map(|(at, (_, step))| match step {
            Step::Asked { id, method, .. } if *method == waiting.method && !self.used.contains(&at) => {
                let answer = self.steps[at..].iter().find_map(|(_, step)| match step {
                    Step::Said { text, answers: Some(of), .. } if of == id => Some(text.clone()),
                    _ => None,
                });
                answer.map(|text| (at, text))
            }
            _ => None,
        });
        match found {
            Some((at, text)) => {
                self.used.insert(at);
                let open = Open { id: waiting.id.clone(), method: waiting.method.clone(), session: None };
                self.peer.write(as_answer(&text, &open).as_bytes())?;
                self.peer.write(b"\n")?;
                self.peer.flush()
            }
            None => self.refuse(waiting, NO_METHOD, "the recording has no answer to this"),
        }
    }

    fn refuse(&mut self, waiting: &Waiting, code: i64, words: &str) -> io::Result<()> {
        self.peer.answer(&waiting.id, Err(json!({ "code": code, "message": words, "data": { RECORDING: true } })))
    }

    /// Ends the running turn, and goes on behind its answer. Where a turn does not end with an answer it is played on.
    fn cancel(&mut self) -> io::Result<()> {
        let turn = self.open.iter().find(|(_, open)| open.method == "session/prompt").map(|(id, _)| id.clone());
        let Some(open) = turn.as_ref().and_then(|id| self.open.remove(id)) else { return Ok(()) };
        self.peer.answer(&open.id, Ok(json!({ "stopReason": "cancelled" })))?;
        let is_answer =
            |(_, step): &(f64, Step)| matches!(step, Step::Said { answers, .. } if *answers == turn && turn.is_some());
        self.at = match self.steps.iter().skip(self.at).position(is_answer) {
            Some(further) => self.at + further + 1,
            None => self.steps.len(),
        };
        Ok(())
    }

    /// The text with the client's names of the session and of terminals, where those are others.
    fn as_named_here(&self, text: String) -> String {
        if self.sessions.is_empty() && self.terminals.is_empty() {
            return text;
        }
        let Ok(mut message) = serde_json::from_str::<Value>(&text) else { return text };
        let mut is_other = false;
        let mut rename = |name: Option<&mut Value>, names: &HashMap<String, String>| {
            if let Some(name) = name
                && let Some(now) = name.as_str().and_then(|then| names.get(then))
            {
                (*name, is_other) = (json!(now), true);
            }
        };
        rename(message.pointer_mut("/params/sessionId"), &self.sessions);
        rename(message.pointer_mut("/params/terminalId"), &self.terminals);
        let shown = message.pointer_mut("/params/update/content").and_then(Value::as_array_mut);
        for one in shown.into_iter().flatten() {
            rename(one.get_mut("terminalId"), &self.terminals);
        }
        if is_other { message.to_string() } else { text }
    }
}

/// An answer of the recording to a request of the client that runs with us.
fn as_answer(text: &str, open: &Open) -> String {
    let Ok(mut message) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if let Some(id) = message.get_mut("id") {
        *id = open.id.clone();
    }
    // Who checks an agent does not expect of this one what was not asked then.
    if open.method == "initialize"
        && let Some(Value::Object(result)) = message.get_mut("result")
        && let Value::Object(meta) = result.entry("_meta").or_insert_with(|| json!({}))
    {
        meta.insert(RECORDING.to_owned(), Value::Bool(true));
    }
    // A session that was gone on with in the recording is a new one here.
    if matches!(open.method.as_str(), "session/new" | "session/fork")
        && let (Some(session), Some(Value::Object(result))) = (&open.session, message.get_mut("result"))
    {
        result.entry("sessionId").or_insert_with(|| json!(session));
    }
    message.to_string()
}

#[cfg(test)]
#[path = "recorded_tests.rs"]
mod tests;
