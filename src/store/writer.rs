//! Text on its way to a file: a thread of its own writes, so that a slow disk never delays a key.
//!
//! Knows nothing of what the text is. What is handed over is on its way to the file at once. Large lines are shared with
//! their other holders, not copied. Where it is told of, a full disk is waited for: what is not written is kept within a
//! bound and written when there is room; what is more is left out and counted. Invariants: lines arrive whole and in
//! order; when writing fails otherwise, or the disk falls too far behind, it is said once and nothing more is taken; at the
//! end it is known since when something is missing.

use crate::base::shared::SharedText;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::warn;

/// Buffers under way to the disk.
const QUEUE: usize = 16;
/// Bytes that may be under way to the disk; what is more as a whole goes alone.
const MAX_UNDER_WAY: usize = 16 << 20;
/// Bytes that may wait for a disk that hangs, besides one large line; more is given up.
const MAX_WAITING: usize = 48 << 20;
/// Room that is made for text beforehand at most.
const MAX_ROOM: usize = 256 << 10;
/// How long a full disk is left alone before it is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(500);
const BREAKS: [char; 2] = ['\n', '\r'];

/// What is written one after the other.
#[derive(Debug)]
enum Piece {
    Text(String),
    /// In it, ends of lines become blanks.
    Shared(SharedText),
}

/// What has become of a disk that is full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disk {
    /// What is to be written waits for room.
    Full(String),
    /// There is room again. So many lines are missing.
    HasRoom { missing: u64 },
}

/// What is missing at the end of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    pub why: String,
    /// Since when nothing could be written.
    pub since: Instant,
    /// It was said when it happened.
    pub was_said: bool,
}

/// Whether there was no room for what was to be written.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

type Tell = Box<dyn Fn(Disk) + Send>;

/// What the thread has come to.
#[derive(Debug, Default)]
struct State {
    is_full: bool,
    /// Lines that were left out since it is.
    missing: u64,
    failure: Option<String>,
    /// Since when nothing could be written.
    since: Option<Instant>,
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
    /// Gone when the thread is to wait for nothing more.
    patience: Option<SyncSender<()>>,
    state: Arc<Mutex<State>>,
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
    pub fn start(name: &'static str, file: impl Write + Send + 'static) -> io::Result<Self> {
        Self::begin(name, file, None)
    }

    /// The same, but a full disk is waited for; `tell` hears of it from the thread, and when there is room again.
    pub fn telling(
        name: &'static str,
        file: impl Write + Send + 'static,
        tell: impl Fn(Disk) + Send + 'static,
    ) -> io::Result<Self> {
        Self::begin(name, file, Some(Box::new(tell)))
    }

    fn begin(name: &'static str, mut file: impl Write + Send + 'static, tell: Option<Tell>) -> io::Result<Self> {
        let (tx, rx) = sync_channel::<(Vec<Piece>, usize)>(QUEUE);
        let under_way: Arc<AtomicUsize> = Arc::default();
        let taken = Arc::clone(&under_way);
        let state: Arc<Mutex<State>> = Arc::default();
        let last: Arc<Mutex<Vec<Piece>>> = Arc::default();
        let (ends_with_thread, at_work) = sync_channel(0);
        let (patience, hurry) = sync_channel(0);
        let (told, left) = (Arc::clone(&state), Arc::clone(&last));
        std::thread::Builder::new().name(name.into()).spawn(move || {
            let _at_work = ends_with_thread;
            let mut write_all = |pieces: &[Piece]| {
                let written = insist(&mut file, pieces, &told, tell.as_ref().map(|tell| (tell, &hurry)));
                if let Err(error) = &written {
                    warn!(kind = ?error.kind(), name, "the file cannot be written and ends here");
                    let mut state = locked(&told);
                    state.since.get_or_insert_with(Instant::now);
                    state.failure = Some(error.to_string());
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
            write_all(&std::mem::take(&mut *locked(&left)));
        })?;
        Ok(Self {
            pending: Vec::new(),
            waiting: 0,
            tx: Some(tx),
            under_way,
            last,
            at_work,
            patience: Some(patience),
            state,
            said: false,
            room: 0,
        })
    }

    /// A line, which `append` adds without its end.
    pub fn line(&mut self, append: impl FnOnce(&mut String)) {
        if !self.takes() {
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
    pub fn shared_line(&mut self, before: String, line: SharedText, after: &str) {
        if self.takes() {
            self.waiting += before.len() + line.len() + after.len() + 1;
            self.pending.extend([Piece::Text(before), Piece::Shared(line), Piece::Text(format!("{after}\n"))]);
        }
    }

    /// Whether a line can wait. One that cannot, since the disk has been full for so long, is missing.
    fn takes(&self) -> bool {
        if self.tx.is_none() || self.waiting <= MAX_WAITING / 2 {
            return self.tx.is_some();
        }
        let mut state = locked(&self.state);
        state.missing += u64::from(state.is_full);
        !state.is_full
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
                Err(TrySendError::Full((pieces, bytes)))
                    if self.is_full() || bytes - longest(&pieces) <= MAX_WAITING =>
                {
                    self.under_way.fetch_sub(bytes, Ordering::Relaxed);
                    self.pending = pieces;
                }
                Err(TrySendError::Full(_)) => self.fail("the disk does not keep up"),
                Err(TrySendError::Disconnected(_)) => self.tx = None,
            }
        }
        self.failure_once()
    }

    fn is_full(&self) -> bool {
        locked(&self.state).is_full
    }

    fn fail(&mut self, why: &str) {
        warn!(why, waiting = self.waiting, "the file ends here");
        self.tx = None;
        let mut state = locked(&self.state);
        state.since.get_or_insert_with(Instant::now);
        state.failure = Some(why.to_owned());
    }

    fn failure_once(&mut self) -> Option<String> {
        if self.said {
            return None;
        }
        let failure = locked(&self.state).failure.clone()?;
        self.said = true;
        self.tx = None;
        Some(failure)
    }

    /// Writes what is left and ends, within that time; a full disk is not waited for. Returns the reason when it could
    /// not, unless it was said before.
    pub fn close(self, patience: Duration) -> Option<String> {
        self.end(patience).filter(|lost| !lost.was_said).map(|lost| lost.why)
    }

    /// The same; tells what is missing also when that was said before.
    pub fn end(mut self, patience: Duration) -> Option<Lost> {
        *locked(&self.last) = std::mem::take(&mut self.pending);
        (self.tx, self.patience) = (None, None);
        if self.at_work.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            self.fail("the disk does not keep up");
        }
        let state = locked(&self.state);
        let why = state.failure.clone()?;
        Some(Lost { why, since: state.since.unwrap_or_else(Instant::now), was_said: self.said })
    }
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes all of it. Where it waits, it is tried again as long as the disk is full and somebody waits for it.
fn insist(
    file: &mut impl Write,
    pieces: &[Piece],
    state: &Mutex<State>,
    waits: Option<(&Tell, &Receiver<()>)>,
) -> io::Result<()> {
    let mut done = 0;
    loop {
        let mut rest = Rest { file: &mut *file, skip: done, done: 0 };
        let written = pieces.iter().try_for_each(|piece| write(&mut rest, piece));
        done += rest.done;
        match written {
            Ok(()) => {
                let missing = {
                    let mut state = locked(state);
                    state.since = None;
                    std::mem::take(&mut state.is_full).then(|| std::mem::take(&mut state.missing))
                };
                if let (Some(missing), Some((tell, _))) = (missing, waits) {
                    tell(Disk::HasRoom { missing });
                }
                return Ok(());
            }
            Err(error) if is_full(&error) => {
                let Some((tell, hurry)) = waits else { return Err(error) };
                let was_full = {
                    let mut state = locked(state);
                    state.since.get_or_insert_with(Instant::now);
                    std::mem::replace(&mut state.is_full, true)
                };
                if !was_full {
                    warn!(kind = ?error.kind(), "the disk is full; what is to be written waits");
                    tell(Disk::Full(error.to_string()));
                }
                if hurry.recv_timeout(TRY_AGAIN) == Err(RecvTimeoutError::Disconnected) {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// The end of what is written: the beginning stands in the file already.
struct Rest<'a, W> {
    file: &'a mut W,
    skip: usize,
    /// Bytes that were written.
    done: usize,
}

impl<W: Write> Write for Rest<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.skip > 0 {
            let skipped = bytes.len().min(self.skip);
            self.skip -= skipped;
            return Ok(skipped);
        }
        let written = self.file.write(bytes)?;
        self.done += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
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

    /// A disk with room for so many bytes, and what is on it.
    #[derive(Clone, Default)]
    struct Small(Arc<Mutex<(usize, Vec<u8>)>>);

    impl Small {
        fn has_room(&self, bytes: usize) {
            self.0.lock().unwrap().0 += bytes;
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().1.clone()).unwrap()
        }
    }

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (room, on_it) = &mut *self.0.lock().unwrap();
            let fits = bytes.len().min(*room);
            if fits == 0 && !bytes.is_empty() {
                return Err(ErrorKind::StorageFull.into());
            }
            *room -= fits;
            on_it.extend(&bytes[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_was_full_goes_on_where_it_was_and_says_what_is_missing() {
        let disk = Small::default();
        disk.has_room(5);
        let (tell, told) = std::sync::mpsc::channel();
        let mut writer = Writer::telling("test", disk.clone(), move |disk| tell.send(disk).unwrap()).unwrap();
        writer.line(|out| out.push_str("one"));
        writer.shared_line("<".into(), "tw\r\no".into(), ">");
        assert_eq!(writer.hand_over(), None);
        assert!(matches!(told.recv_timeout(LONG), Ok(Disk::Full(_))));
        writer.line(|out| out.push_str("three"));
        writer.shared_line(String::new(), "x".repeat(MAX_WAITING).into(), "");
        for _ in 0..2 * QUEUE {
            assert_eq!(writer.hand_over(), None);
            // Each waits by itself, as far as there is a place for it.
            writer.line(|out| out.push_str("more"));
        }
        assert_eq!(writer.hand_over(), None, "it does not end");
        disk.has_room(MAX_WAITING * 3);
        let Ok(Disk::HasRoom { missing }) = told.recv_timeout(LONG) else { unreachable!("there is room") };
        writer.line(|out| out.push_str("last"));
        assert_eq!(writer.close(LONG), None);
        let text = disk.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines[1], lines[2]), ("one", "<tw  o>", "three"));
        assert_eq!((lines[3].len(), lines.last().copied()), (MAX_WAITING, Some("last")));
        assert_eq!(lines.len() as u64 + missing, 5 + 2 * QUEUE as u64, "written or counted");
        assert!(missing > 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_not_waited_for_at_the_end() {
        let full = || File::options().write(true).open("/dev/full").unwrap();
        for mut writer in [Writer::start("test", full()).unwrap(), Writer::telling("test", full(), |_| ()).unwrap()] {
            writer.line(|out| out.push_str("one"));
            assert!(writer.close(LONG).is_some_and(|why| why.contains("space")));
        }
    }

    /// A pipe without a reader stands for a disk that hangs.
    #[cfg(unix)]
    #[test]
    fn a_disk_that_hangs_is_not_waited_for() {
        let (_reader, hanging) = std::io::pipe().unwrap();
        let mut writer = Writer::start("test", File::from(std::os::fd::OwnedFd::from(hanging))).unwrap();
        let line: SharedText = "x".repeat(1 << 20).into();
        let mut handed = 0;
        let why = loop {
            writer.shared_line(String::new(), line.clone(), "");
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
        let line: SharedText = "x".repeat(MAX_WAITING + 1).into();
        for _ in 0..2 {
            writer.shared_line(String::new(), line.clone(), "");
            assert_eq!(writer.hand_over(), None, "the first is under way, the second waits");
        }
        writer.shared_line(String::new(), line, "");
        assert!(writer.hand_over().is_some(), "two wait");
        drop(reader);
    }
}
