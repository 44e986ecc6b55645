//! Text on its way to a file: a thread of its own writes, so that a slow disk never delays a key.
//!
//! Knows nothing of what the text is. What is handed over is on its way to the file at once. Large lines are shared with
//! their other holders, not copied. Invariants: lines arrive whole and in order; when writing fails, or the disk falls
//! too far behind, it is said once and nothing more is taken.

use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tracing::warn;

/// Buffers under way to the disk.
const QUEUE: usize = 16;
/// Bytes that may be under way to the disk; what is more as a whole goes alone.
const MAX_UNDER_WAY: usize = 16 << 20;
/// Bytes that may wait for a disk that hangs, besides one large line; more is given up.
const MAX_WAITING: usize = 48 << 20;
/// Room that is made for text beforehand at most.
const MAX_ROOM: usize = 256 << 10;
const BREAKS: [char; 2] = ['\n', '\r'];

/// What is written one after the other.
#[derive(Debug)]
enum Piece {
    Text(String),
    /// In it, ends of lines become blanks.
    Shared(Arc<str>),
}

#[derive(Debug)]
pub struct Writer {
    pending: Vec<Piece>,
    /// Bytes of what is pending.
    waiting: usize,
    tx: Option<SyncSender<(Vec<Piece>, usize)>>,
    /// Bytes that the thread has and has not written.
    under_way: Arc<AtomicUsize>,
    /// What is left when no more is handed over.
    last: Arc<Mutex<Vec<Piece>>>,
    /// Comes to its end with the thread.
    at_work: Receiver<()>,
    failure: Arc<Mutex<Option<String>>>,
    said: bool,
    /// Room for the next text: about as much as the last one took.
    room: usize,
}

/// Bytes of a large line that waits: one may be longer than everything that may wait, and says nothing of the disk.
fn longest(pieces: &[Piece]) -> usize {
    let shared = |piece: &Piece| if let Piece::Shared(line) = piece { line.len() } else { 0 };
    pieces.iter().map(shared).max().unwrap_or_default()
}

impl Writer {
    /// Writes to `file` from now on. `name` is that of the thread, and stands in the log when something fails.
    pub fn start(name: &'static str, mut file: impl Write + Send + 'static) -> io::Result<Self> {
        let (tx, rx) = sync_channel::<(Vec<Piece>, usize)>(QUEUE);
        let under_way: Arc<AtomicUsize> = Arc::default();
        let taken = Arc::clone(&under_way);
        let failure: Arc<Mutex<Option<String>>> = Arc::default();
        let last: Arc<Mutex<Vec<Piece>>> = Arc::default();
        let (ends_with_thread, at_work) = sync_channel(0);
        let (told, left) = (Arc::clone(&failure), Arc::clone(&last));
        std::thread::Builder::new().name(name.into()).spawn(move || {
            let _at_work = ends_with_thread;
            let mut write_all = |pieces: &[Piece]| {
                let written = pieces.iter().try_for_each(|piece| write(&mut file, piece));
                if let Err(error) = &written {
                    warn!(kind = ?error.kind(), name, "the file cannot be written and ends here");
                    *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                }
                written.is_ok()
            };
            while let Ok((pieces, bytes)) = rx.recv() {
                if !write_all(&pieces) {
                    return;
                }
                drop(pieces);
                taken.fetch_sub(bytes, Ordering::Relaxed);
            }
            write_all(&std::mem::take(&mut *left.lock().unwrap_or_else(PoisonError::into_inner)));
        })?;
        let (pending, tx) = (Vec::new(), Some(tx));
        Ok(Self { pending, waiting: 0, tx, under_way, last, at_work, failure, said: false, room: 0 })
    }

    /// A line, which `append` adds without its end.
    pub fn line(&mut self, append: impl FnOnce(&mut String)) {
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
    pub fn shared_line(&mut self, before: String, line: Arc<str>, after: &str) {
        if self.tx.is_some() {
            self.waiting += before.len() + line.len() + after.len() + 1;
            self.pending.extend([Piece::Text(before), Piece::Shared(line), Piece::Text(format!("{after}\n"))]);
        }
    }

    /// Bytes that are pending and under way.
    pub fn waiting(&self) -> usize {
        if self.tx.is_some() { self.waiting + self.under_way.load(Ordering::Relaxed) } else { 0 }
    }

    /// Hands what is pending to the thread. Returns the reason when the file has come to its end, once.
    pub fn hand_over(&mut self) -> Option<String> {
        if !self.pending.is_empty()
            && let Some(tx) = &self.tx
        {
            let under_way = self.under_way.load(Ordering::Relaxed);
            let has_room = under_way == 0 || under_way + self.waiting <= MAX_UNDER_WAY;
            let buffer = (std::mem::take(&mut self.pending), self.waiting);
            // Before the thread can have written it.
            self.under_way.fetch_add(self.waiting, Ordering::Relaxed);
            let sent = if has_room { tx.try_send(buffer) } else { Err(TrySendError::Full(buffer)) };
            match sent {
                Ok(()) => self.waiting = 0,
                Err(TrySendError::Full((pieces, bytes))) if bytes - longest(&pieces) <= MAX_WAITING => {
                    self.under_way.fetch_sub(bytes, Ordering::Relaxed);
                    self.pending = pieces;
                }
                Err(TrySendError::Full(_)) => self.fail("the disk does not keep up"),
                Err(TrySendError::Disconnected(_)) => self.tx = None,
            }
        }
        self.failure_once()
    }

    fn fail(&mut self, why: &str) {
        warn!(why, waiting = self.waiting, "the file ends here");
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

    /// Writes what is left and ends, within that time. Returns the reason when it could not, unless it was said before.
    pub fn close(mut self, patience: Duration) -> Option<String> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = std::mem::take(&mut self.pending);
        self.tx = None;
        if self.at_work.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            self.fail("the disk does not keep up");
        }
        self.failure_once()
    }
}

fn write(file: &mut impl Write, piece: &Piece) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn what_is_left_at_the_end_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let mut writer = Writer::start("test", File::create(&path).unwrap()).unwrap();
        writer.line(|out| out.push_str("one"));
        assert_eq!(writer.hand_over(), None);
        writer.shared_line("<".into(), "tw\r\no".into(), ">");
        assert_eq!(writer.close(LONG), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n<tw  o>\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_once_and_ends_it() {
        let mut writer = Writer::start("test", File::options().write(true).open("/dev/full").unwrap()).unwrap();
        writer.line(|out| out.push_str("one"));
        assert!(writer.close(LONG).is_some_and(|why| why.contains("space")));
    }

    /// A pipe without a reader stands for a disk that hangs.
    #[cfg(unix)]
    #[test]
    fn a_disk_that_hangs_is_not_waited_for() {
        let (_reader, hanging) = std::io::pipe().unwrap();
        let mut writer = Writer::start("test", File::from(std::os::fd::OwnedFd::from(hanging))).unwrap();
        let line: Arc<str> = "x".repeat(1 << 20).into();
        let mut handed = 0;
        let why = loop {
            writer.shared_line(String::new(), Arc::clone(&line), "");
            handed += 1;
            assert!(handed < 1000, "it takes what nobody writes");
            if let Some(why) = writer.hand_over() {
                break why;
            }
        };
        assert_eq!(why, "the disk does not keep up");
        // The bytes of a few buffers and of what waits behind them, however many lines a buffer has.
        assert!(handed <= 70, "{handed} MiB were taken");
        writer.line(|_| unreachable!("nothing more is taken"));
        assert_eq!(writer.close(Duration::from_millis(1)), None, "said before");
    }

    #[cfg(unix)]
    #[test]
    fn one_line_longer_than_all_that_may_wait_is_waited_for() {
        let (reader, hanging) = std::io::pipe().unwrap();
        let mut writer = Writer::start("test", File::from(std::os::fd::OwnedFd::from(hanging))).unwrap();
        let line: Arc<str> = "x".repeat(MAX_WAITING + 1).into();
        for _ in 0..2 {
            writer.shared_line(String::new(), Arc::clone(&line), "");
            assert_eq!(writer.hand_over(), None, "the first is under way, the second waits");
        }
        writer.shared_line(String::new(), line, "");
        assert!(writer.hand_over().is_some(), "two wait");
        drop(reader);
    }
}
