//! The program's own log: what it thought and decided, to find out why.
//!
//! A subscriber of `tracing` that takes events of this program and no spans. Writes nothing but what an event's author
//! put into it: numbers, kinds and reasons, never the text of a message, the content of a file, a value of the
//! environment. Invariants: nothing is opened before the first line; a slow or full disk delays no caller (lines are
//! dropped and counted); both files together stay below [`MAX_BYTES`] and are readable by their owner alone.

use super::private::{make_private_dir, open_as, private_file};
use crate::base::sanitize;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber, level_filters::LevelFilter};

/// Of the log and the older part of it.
pub const MAX_BYTES: u64 = 5 << 20;
/// The newer part, and the older one that it becomes.
pub const NAME: &str = "acp-tui.log";
const OLDER: &str = "acp-tui.1.log";
/// Lines that wait for the disk.
const WAITING: usize = 256;
const MAX_LINE: usize = 2048;
/// How long the end of the program waits for the last lines.
const PATIENCE: Duration = Duration::from_millis(200);
const PROGRAM: &str = env!("CARGO_CRATE_NAME");

/// What is logged; `None` when there is no such word. Without one, warnings and errors.
pub fn level(word: Option<&str>) -> Option<LevelFilter> {
    match word {
        None | Some("") => Some(LevelFilter::WARN),
        Some(word) => word.to_ascii_lowercase().parse().ok(),
    }
}

/// Logs until it is dropped.
#[derive(Debug)]
pub struct Guard {
    tx: Arc<Mutex<Option<SyncSender<String>>>>,
    /// Disconnected when the writer has ended.
    done: Arc<Mutex<Option<Receiver<()>>>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.tx.lock().unwrap_or_else(PoisonError::into_inner).take());
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(done) = done {
            // The rest is lost with a disk that takes longer.
            let _: Result<(), RecvTimeoutError> = done.recv_timeout(PATIENCE);
        }
    }
}

/// Has the events of this program logged below `dir` for the rest of the program.
pub fn start(dir: PathBuf, level: LevelFilter) -> Guard {
    let (log, guard) = Log::new(dir, level);
    // A second one in a program is refused, and there is none.
    let _ = tracing::subscriber::set_global_default(log);
    guard
}

struct Log {
    dir: PathBuf,
    level: LevelFilter,
    tx: Arc<Mutex<Option<SyncSender<String>>>>,
    done: Arc<Mutex<Option<Receiver<()>>>>,
    /// The writer is started by the first line.
    lines: Mutex<Option<Receiver<String>>>,
    dropped: AtomicU64,
}

impl Log {
    fn new(dir: PathBuf, level: LevelFilter) -> (Self, Guard) {
        let (tx, lines) = sync_channel(WAITING);
        let (tx, done) = (Arc::new(Mutex::new(Some(tx))), Arc::default());
        let guard = Guard { tx: Arc::clone(&tx), done: Arc::clone(&done) };
        (Self { dir, level, tx, done, lines: Mutex::new(Some(lines)), dropped: AtomicU64::new(0) }, guard)
    }

    fn begin(&self) {
        let Some(lines) = self.lines.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let (ended, done) = sync_channel(0);
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        let dir = self.dir.clone();
        let writer = move || {
            for line in lines {
                // There is nowhere to say that the log cannot be written.
                let _ = append(&dir, &line, MAX_BYTES / 2);
            }
            drop(ended);
        };
        // Without a thread there is no log.
        let _ = std::thread::Builder::new().name("log".into()).spawn(writer);
    }
}

/// Each line by itself: other runs write into the same file and may have made room in it.
fn append(dir: &Path, line: &str, most: u64) -> io::Result<()> {
    make_private_dir(dir)?;
    let path = dir.join(NAME);
    let mut file = open_as(private_file().append(true).create(true), &path)?;
    if file.metadata()?.len() + line.len() as u64 > most {
        fs::rename(&path, dir.join(OLDER))?;
        file = open_as(private_file().append(true).create(true), &path)?;
    }
    file.write_all(line.as_bytes())
}

impl Subscriber for Log {
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn enabled(&self, of: &Metadata<'_>) -> bool {
        of.is_event() && *of.level() <= self.level && of.target().split("::").next() == Some(PROGRAM)
    }

    fn event(&self, event: &Event<'_>) {
        self.begin();
        let line = line(event, self.dropped.swap(0, Ordering::Relaxed), SystemTime::now());
        let tx = self.tx.lock().unwrap_or_else(PoisonError::into_inner);
        if tx.as_ref().is_some_and(|tx| tx.try_send(line).is_err()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// `1763777405.123 WARN store::journal: cannot be written error="…" pid=4711`
fn line(event: &Event<'_>, dropped: u64, now: SystemTime) -> String {
    let of = event.metadata();
    let place = of.target().strip_prefix(PROGRAM).map_or(of.target(), |rest| rest.trim_start_matches("::"));
    let mut words = Words::default();
    event.record(&mut words);
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line = format!(
        "{}.{:03} {} {place}: {}{} pid={}",
        now.as_secs(),
        now.subsec_millis(),
        level_name(*of.level()),
        words.message,
        words.fields,
        std::process::id()
    );
    if dropped > 0 {
        // Writing to a string cannot fail.
        let _ = write!(line, " lines_dropped_before={dropped}");
    }
    let clean = sanitize::line(&line);
    let mut line = clean[..clean.floor_char_boundary(MAX_LINE)].to_owned();
    line.push('\n');
    line
}

const fn level_name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "ERROR",
        Level::WARN => "WARN",
        Level::INFO => "INFO",
        Level::DEBUG => "DEBUG",
        Level::TRACE => "TRACE",
    }
}

#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;
    use tracing::subscriber::with_default;
    use tracing::{debug, warn};

    fn logged(word: Option<&str>, say: impl FnOnce()) -> (tempfile::TempDir, String) {
        let temp = tempfile::tempdir().unwrap();
        let (log, guard) = Log::new(temp.path().join("state/log"), level(word).unwrap());
        with_default(log, say);
        let done = guard.done.lock().unwrap().take();
        drop(guard);
        // As long as it takes, here.
        let _ = done.map(|done| done.recv());
        let text = fs::read_to_string(temp.path().join("state/log").join(NAME)).unwrap_or_default();
        (temp, text)
    }

    #[test]
    fn a_line_has_its_level_place_words_and_values_and_its_file_is_the_owners() {
        let (temp, text) = logged(None, || warn!(code = 3, why = "a\nb\u{1b}[1m", "not written"));
        let rest = text.split_once(' ').unwrap().1;
        assert_eq!(
            rest.split(" pid=").next(),
            Some(r#"WARN store::log::tests: not written code=3 why="a\nb\u{1b}[1m""#)
        );
        assert_eq!(text.matches('\n').count(), 1);
        let dir = temp.path().join("state/log");
        assert_eq!(dir.metadata().unwrap().mode() & 0o777, 0o700);
        assert_eq!(dir.join(NAME).metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_level_decides_and_without_a_line_there_is_no_file() {
        let (temp, text) = logged(None, || debug!("small"));
        assert!(text.is_empty() && !temp.path().join("state").exists());
        assert!(logged(Some("DEBUG"), || debug!("small")).1.contains("DEBUG store::log::tests: small"));
        assert!(logged(Some("off"), || warn!("large")).1.is_empty());
        let foreign = || warn!(target: "gix::odb", "not ours");
        assert!(logged(Some("trace"), foreign).1.is_empty());
        assert_eq!(level(Some("loud")), None);
    }

    #[test]
    fn the_older_half_goes_when_there_is_too_much() {
        let temp = tempfile::tempdir().unwrap();
        for n in 0..100 {
            append(temp.path(), &format!("line {n:03} of the log\n"), 1000).unwrap();
        }
        let sizes = [NAME, OLDER].map(|name| temp.path().join(name).metadata().unwrap().len());
        assert!(sizes.iter().all(|size| *size <= 1000), "{sizes:?}");
        assert!(fs::read_to_string(temp.path().join(NAME)).unwrap().ends_with("line 099 of the log\n"));
    }

    #[test]
    fn a_line_is_bounded() {
        let (_temp, text) = logged(None, || warn!(why = "x".repeat(10_000), "long"));
        assert_eq!(text.len(), MAX_LINE + 1);
    }
}
