//! JSON-RPC over lines, as the scripted agent needs it: bytes in on a thread, lines out, requests numbered.
//!
//! It decides nothing about methods. It does not use the client's own codec, so that a mistake there cannot hide here.
//! Invariant: a line goes out whole or, where a script says so, exactly as written; a reader that went away is an end,
//! not an error.

use super::second::Second;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Longest line that is taken from the client.
const MAX_LINE: u64 = 64 << 20;

/// What the reader thread saw.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    Line(Vec<u8>),
    Eof,
    /// Nothing until the deadline.
    Quiet,
}

/// What the client said to one of our requests.
pub type Answer = Result<Value, Value>;

pub struct Peer<W: Write> {
    /// `None` once the script closed it.
    out: Option<BufWriter<W>>,
    input: Receiver<Vec<u8>>,
    next_id: u64,
    open: HashSet<u64>,
    answers: HashMap<u64, Answer>,
    /// Version 2 of the protocol is spoken.
    pub second: Option<Second>,
}

impl<W: Write> Peer<W> {
    pub fn new(stdin: impl Read + Send + 'static, stdout: W) -> io::Result<Self> {
        let (lines, input) = sync_channel(256);
        std::thread::Builder::new().name("demo-stdin".to_owned()).spawn(move || read_lines(stdin, &lines))?;
        Ok(Self {
            out: Some(BufWriter::with_capacity(64 << 10, stdout)),
            input,
            next_id: 1,
            open: HashSet::new(),
            answers: HashMap::new(),
            second: None,
        })
    }

    pub fn receive(&self, until: Option<Instant>) -> Input {
        let Some(until) = until else {
            return self.input.recv().map_or(Input::Eof, Input::Line);
        };
        match self.input.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => Input::Line(line),
            Err(RecvTimeoutError::Timeout) => Input::Quiet,
            Err(RecvTimeoutError::Disconnected) => Input::Eof,
        }
    }

    /// All that is there already.
    pub fn poll(&self) -> Input {
        self.receive(Some(Instant::now() + Duration::ZERO))
    }

    pub fn close_stdout(&mut self) {
        self.out = None;
    }

    /// Writes without a flush; for floods.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.out {
            Some(out) => out.write_all(bytes),
            None => Ok(()),
        }
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }

    pub fn send(&mut self, message: &Value) -> io::Result<()> {
        self.queue(message)?;
        self.flush()
    }

    /// Like `send`, without a flush.
    pub fn queue(&mut self, message: &Value) -> io::Result<()> {
        let translated = self.second.as_mut().map(|second| second.out(message));
        match translated {
            Some(messages) => messages.iter().try_for_each(|message| self.queue_line(message)),
            None => self.queue_line(message),
        }
    }

    /// As it stands, in whatever version it is.
    pub fn queue_line(&mut self, message: &Value) -> io::Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        self.write(line.as_bytes())
    }

    pub fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    pub fn request(&mut self, method: &str, params: &Value) -> io::Result<u64> {
        let id = self.next_id;
        self.next_id += 1;
        self.open.insert(id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    pub fn answer(&mut self, id: &Value, answer: Answer) -> io::Result<()> {
        self.send(&match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        })
    }

    /// Keeps an answer if it is to something that we asked and still want to know.
    pub fn keep_answer(&mut self, message: &Value) {
        let Some(id) = message.get("id").and_then(Value::as_u64) else { return };
        if !self.open.remove(&id) {
            return;
        }
        let answer = match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message.get("result").cloned().unwrap_or(Value::Null)),
        };
        self.answers.insert(id, answer);
    }

    pub fn take_answer(&mut self, id: u64) -> Option<Answer> {
        self.answers.remove(&id)
    }

    /// Forgets what was asked; a late answer is then ignored.
    pub fn forget_all(&mut self) {
        self.open.clear();
        self.answers.clear();
    }
}

fn read_lines(stdin: impl Read, lines: &SyncSender<Vec<u8>>) {
    let mut reader = BufReader::new(stdin);
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if lines.send(line).is_err() {
            return;
        }
    }
}
