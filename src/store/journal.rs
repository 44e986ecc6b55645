//! The journal of a session: raw frames, host facts and intents, one JSON object a line, in the order in which they
//! were applied.
//!
//! A thread of its own writes, so that a slow disk never delays a key; what is handed over is on its way to the file
//! at once, well within 250 ms. Large lines are shared with whoever else has them, not copied. Invariants: the file is
//! 0600 in a directory 0700, and locked as long as it is written; the first line is the header, the last one says that it
//! is the last; when writing fails it is said once and work goes on.

use super::private;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tracing::warn;

/// Version of the journal's lines. Those of version 1 have no addresses: all are of the one agent and its session.
pub const VERSION: u32 = 2;
/// The last line of a journal that was not broken off.
const END: &str = "{\"dir\":\"host\",\"end\":true}\n";
/// Buffers under way to the disk.
const QUEUE: usize = 16;
/// Bytes that may wait for a disk that hangs; more is given up.
const MAX_WAITING: usize = 64 << 20;
/// Room that is made for text beforehand at most.
const MAX_ROOM: usize = 256 << 10;

/// What is written one after the other.
#[derive(Debug)]
enum Piece {
    Text(String),
    /// In it, ends of lines become blanks.
    Shared(Arc<str>),
}

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    pending: Vec<Piece>,
    /// Bytes of what is pending.
    waiting: usize,
    tx: Option<SyncSender<Vec<Piece>>>,
    writer: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<String>>>,
    said: bool,
    /// Room for the next text: about as much as the last one took.
    room: usize,
}

impl Journal {
    /// Begins a journal in `dir` (made when it is missing). `name` must be unique.
    pub fn create(dir: &Path, name: &str, header: &Value) -> io::Result<Self> {
        private::make_private_dir(dir)?;
        let path = dir.join(name);
        let mut file = private::private_file().write(true).create_new(true).open(&path)?;
        // Who lists journals holds it for a moment. A disk that knows no locks has journals that are never seen open.
        let _ = file.lock();
        let mut first = header.clone();
        if let Value::Object(map) = &mut first {
            map.insert("v".into(), json!(VERSION));
            map.insert("ends".into(), json!(true));
        }
        writeln!(file, "{first}")?;
        let (tx, rx) = sync_channel::<Vec<Piece>>(QUEUE);
        let failure: Arc<Mutex<Option<String>>> = Arc::default();
        let told = Arc::clone(&failure);
        let writer = std::thread::Builder::new().name("journal".into()).spawn(move || {
            while let Ok(pieces) = rx.recv() {
                if let Err(error) = pieces.iter().try_for_each(|piece| write(&mut file, piece)) {
                    warn!(kind = ?error.kind(), "the journal cannot be written and ends here");
                    *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                    return;
                }
            }
        })?;
        Ok(Self {
            path,
            pending: Vec::new(),
            waiting: 0,
            tx: Some(tx),
            writer: Some(writer),
            failure,
            said: false,
            room: 0,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A line that is complete JSON already (frames: see `wire::trace`), which `append` adds without its end.
    pub fn record(&mut self, append: impl FnOnce(&mut String)) {
        if self.tx.is_none() {
            return;
        }
        if !matches!(self.pending.last(), Some(Piece::Text(_))) {
            self.pending.push(Piece::Text(String::with_capacity(self.room)));
        }
        let Some(Piece::Text(text)) = self.pending.last_mut() else { return };
        let before = text.len();
        append(text);
        text.push('\n');
        self.waiting += text.len() - before;
        self.room = text.len().min(MAX_ROOM);
    }

    /// A large line, made of three parts.
    pub fn record_shared(&mut self, before: String, line: Arc<str>, after: &str) {
        if self.tx.is_some() {
            self.waiting += before.len() + line.len() + after.len() + 1;
            self.pending.extend([Piece::Text(before), Piece::Shared(line), Piece::Text(format!("{after}\n"))]);
        }
    }

    /// A host fact or an intent: `{"t":…,"dir":DIR,"at":…,MEMBER:…}`.
    pub fn fact(&mut self, t: Duration, dir: &str, at: &impl Serialize, member: &str, fact: &impl Serialize) {
        if self.tx.is_none() {
            return;
        }
        let (Ok(at), Ok(body)) = (serde_json::to_string(at), serde_json::to_string(fact)) else { return };
        let (seconds, micros) = (t.as_secs(), t.subsec_micros());
        let line = format!(r#"{{"t":{seconds}.{micros:06},"dir":"{dir}","at":{at},"{member}":{body}}}"#);
        self.record(|text| text.push_str(&line));
    }

    /// Hands what is pending to the writer. Returns the reason when the journal has come to its end, once.
    pub fn hand_over(&mut self) -> Option<String> {
        if !self.pending.is_empty()
            && let Some(tx) = &self.tx
        {
            match tx.try_send(std::mem::take(&mut self.pending)) {
                Ok(()) => self.waiting = 0,
                Err(TrySendError::Full(pieces)) if self.waiting <= MAX_WAITING => self.pending = pieces,
                Err(TrySendError::Full(_)) => self.fail("the disk does not keep up"),
                Err(TrySendError::Disconnected(_)) => self.tx = None,
            }
        }
        self.failure_once()
    }

    fn fail(&mut self, why: &str) {
        warn!(why, waiting = self.waiting, "the journal ends here");
        self.tx = None;
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
    }

    fn failure_once(&mut self) -> Option<String> {
        if self.said {
            return None;
        }
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        self.said = true;
        self.tx = None;
        Some(failure)
    }

    /// Writes what is left and ends.
    pub fn close(mut self) {
        if let Some(tx) = self.tx.take() {
            self.pending.push(Piece::Text(END.to_owned()));
            // The writer takes it as soon as it is done with the rest, or has gone.
            let _ = tx.send(std::mem::take(&mut self.pending));
        }
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write(file: &mut File, piece: &Piece) -> io::Result<()> {
    const BREAKS: [char; 2] = ['\n', '\r'];
    match piece {
        Piece::Text(text) => file.write_all(text.as_bytes()),
        Piece::Shared(line) if line.contains(BREAKS) => {
            let mut out = BufWriter::new(file);
            for (n, part) in line.split(BREAKS).enumerate() {
                out.write_all(if n > 0 { b" " } else { b"" })?;
                out.write_all(part.as_bytes())?;
            }
            out.flush()
        }
        Piece::Shared(line) => file.write_all(line.as_bytes()),
    }
}
