//! The journal of a session: raw frames, host facts and intents, one JSON object a line, in the order in which they
//! were applied.
//!
//! Handed over, a line is on its way to the file at once, well within 250 ms. Invariants: the file is 0600 in a
//! directory 0700, and locked as long as it is written; the first line is the header, the last one says that it is the
//! last; on a full disk it waits for room, also with its beginning; when writing fails, or somebody has removed the file, it
//! is said once and work goes on.

use super::lock::Lock;
use super::private;
use super::writer::{Disk, Lost, Writer, is_full};
use crate::base::shared::SharedText;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the journal's lines. Those of version 1 have no addresses: all are of the one agent and its session.
pub const VERSION: u32 = 2;
/// The last line of a journal that was not broken off.
const END: &str = r#"{"dir":"host","end":true}"#;

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    out: Writer,
}

/// What a journal has not at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    pub lost: Lost,
    /// There is a journal.
    pub is_there: bool,
}

/// The file of a journal, or where it is to be.
struct Place<F> {
    path: PathBuf,
    first: String,
    /// Makes the file.
    make: F,
    file: Option<Lock>,
}

impl Journal {
    /// Begins a journal in `dir` (made when it is missing). `name` must be unique.
    pub fn create(dir: &Path, name: &str, header: &Value) -> io::Result<Self> {
        let mut place = Place::new(dir, name, header, make);
        place.file()?;
        Ok(Self { out: Writer::start("journal", place.file.take().ok_or(io::ErrorKind::NotFound)?)?, path: place.path })
    }

    /// The same, but a full disk is waited for, also one on which it cannot even be begun; `tell` hears of it, and when
    /// there is room again.
    pub fn telling(dir: &Path, name: &str, header: &Value, tell: impl Fn(Disk) + Send + 'static) -> io::Result<Self> {
        Self::begin(Place::new(dir, name, header, make), tell)
    }

    fn begin<F>(mut place: Place<F>, tell: impl Fn(Disk) + Send + 'static) -> io::Result<Self>
    where
        F: FnMut(&Path) -> io::Result<File> + Send + 'static,
    {
        if let Err(error) = place.file()
            && !is_full(&error)
        {
            return Err(error);
        }
        Ok(Self { path: place.path.clone(), out: Writer::telling("journal", place, tell)? })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A line that is complete JSON already (frames: see `wire::trace`), which `append` adds without its end.
    pub fn record(&mut self, append: impl FnOnce(&mut String)) {
        self.out.line(append);
    }

    /// A large line, made of three parts.
    pub fn record_shared(&mut self, before: String, line: SharedText, after: &str) {
        self.out.shared_line(before, line, after);
    }

    /// A host fact or an intent: `{"t":…,"dir":DIR,"at":…,MEMBER:…}`.
    pub fn fact(&mut self, t: Duration, dir: &str, at: &impl Serialize, member: &str, fact: &impl Serialize) {
        let (Ok(at), Ok(body)) = (serde_json::to_string(at), serde_json::to_string(fact)) else { return };
        let (seconds, micros) = (t.as_secs(), t.subsec_micros());
        let line = format!(r#"{{"t":{seconds}.{micros:06},"dir":"{dir}","at":{at},"{member}":{body}}}"#);
        self.record(|text| text.push_str(&line));
    }

    /// Bytes that are not in the file yet.
    pub fn waiting(&self) -> usize {
        self.out.waiting()
    }

    /// Hands what is pending to the writer. Returns the reason when the journal has come to its end, once.
    pub fn hand_over(&mut self) -> Option<String> {
        self.out.hand_over()
    }

    /// Writes what is left and ends, within that time. Tells what is missing.
    pub fn close(mut self, patience: Duration) -> Option<Unwritten> {
        self.record(|out| out.push_str(END));
        let lost = self.out.end(patience)?;
        Some(Unwritten { lost, is_there: self.path.is_file() })
    }
}

fn make(path: &Path) -> io::Result<File> {
    private::make_private_dir(path.parent().unwrap_or(path))?;
    private::private_file().write(true).create_new(true).open(path)
}

impl<F: FnMut(&Path) -> io::Result<File>> Place<F> {
    fn new(dir: &Path, name: &str, header: &Value, make: F) -> Self {
        let mut first = header.clone();
        if let Value::Object(map) = &mut first {
            map.insert("v".into(), json!(VERSION));
            map.insert("ends".into(), json!(true));
        }
        Self { path: dir.join(name), first: format!("{first}\n"), make, file: None }
    }

    /// The file, with the first line in it. One that cannot be written leaves no journal behind that has none.
    fn file(&mut self) -> io::Result<&mut Lock> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let mut file = Lock::wait((self.make)(&self.path)?);
                if let Err(error) = file.write_all(self.first.as_bytes()) {
                    // What cannot be removed either is told as unreadable.
                    let _ = fs::remove_file(&self.path);
                    return Err(error);
                }
                file
            }
        };
        Ok(self.file.insert(file))
    }
}

impl<F: FnMut(&Path) -> io::Result<File>> Write for Place<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file()?;
        // What is written into a file without a name is gone at the end.
        if file.metadata()?.nlink() == 0 {
            return Err(io::Error::new(io::ErrorKind::NotFound, "its file was removed"));
        }
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const LONG: Duration = Duration::from_mins(1);

    #[cfg(target_os = "linux")]
    #[test]
    fn a_journal_that_cannot_be_begun_on_a_full_disk_is_begun_when_there_is_room_and_has_everything() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let (tell, told) = channel();
        let (room, is_full) = channel::<()>();
        let mut has_room = false;
        // First it cannot be made, then nothing can be written into it.
        let mut tried = 0;
        let at_first = move |path: &Path| {
            tried += 1;
            has_room = has_room || is_full.try_recv().is_ok();
            let made = make(path)?;
            match tried {
                _ if has_room => Ok(made),
                1 => Err(io::ErrorKind::StorageFull.into()),
                _ => File::options().write(true).open("/dev/full"),
            }
        };
        let place = Place::new(&state, "j.jsonl", &json!({ "client": "x" }), at_first);
        let mut journal = Journal::begin(place, move |disk| tell.send(disk).unwrap()).unwrap();
        let path = journal.path().to_owned();
        fs::remove_file(&path).unwrap();
        journal.record(|out| out.push_str("one"));
        assert_eq!(journal.hand_over(), None);
        assert!(matches!(told.recv_timeout(LONG), Ok(Disk::Full(_))));
        assert!(!path.exists(), "none without a head");
        room.send(()).unwrap();
        assert_eq!(told.recv_timeout(LONG), Ok(Disk::HasRoom { missing: 0 }));
        assert_eq!(journal.close(LONG), None);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("{\"client\":\"x\"") && text.ends_with(&format!("}}\none\n{END}\n")), "{text}");
    }

    #[test]
    fn a_journal_that_somebody_removes_while_it_is_open_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::telling(dir.path(), "j.jsonl", &json!({}), |_| ()).unwrap();
        fs::remove_file(journal.path()).unwrap();
        let why = loop {
            journal.record(|out| out.push_str("one"));
            if let Some(why) = journal.hand_over() {
                break why;
            }
        };
        assert_eq!(why, "its file was removed");
        let unwritten = journal.close(LONG).unwrap();
        assert!(!unwritten.is_there && unwritten.lost.was_said, "{unwritten:?}");
    }

    #[test]
    fn one_for_which_there_was_never_room_says_that_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let never = |_: &Path| Err(io::ErrorKind::QuotaExceeded.into());
        let mut journal = Journal::begin(Place::new(dir.path(), "j.jsonl", &json!({}), never), |_| ()).unwrap();
        journal.record(|out| out.push_str("one"));
        assert_eq!(journal.hand_over(), None);
        let unwritten = journal.close(LONG).unwrap();
        assert!(!unwritten.is_there && !unwritten.lost.was_said, "{unwritten:?}");
        let broken = |_: &Path| Err(io::ErrorKind::PermissionDenied.into());
        assert!(Journal::begin(Place::new(dir.path(), "k.jsonl", &json!({}), broken), |_| ()).is_err());
    }
}
