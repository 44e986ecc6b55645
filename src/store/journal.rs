//! The journal of a session: raw frames, host facts and intents, one JSON object a line, in the order in which they
//! were applied.
//!
//! Handed over, a line is on its way to the file at once, well within 250 ms. Invariants: the file is 0600 in a
//! directory 0700, and locked as long as it is written; the first line is the header, the last one says that it is the
//! last; on a full disk it waits for room; when writing fails it is said once and work goes on.

use super::lock::Lock;
use super::private;
use super::writer::{Disk, Writer};
use serde::Serialize;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
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

impl Journal {
    /// Begins a journal in `dir` (made when it is missing). `name` must be unique.
    pub fn create(dir: &Path, name: &str, header: &Value) -> io::Result<Self> {
        Self::begin(dir, name, header, |file| Writer::start("journal", file))
    }

    /// The same, but a full disk is waited for; `tell` hears of it, and when there is room again.
    pub fn telling(dir: &Path, name: &str, header: &Value, tell: impl Fn(Disk) + Send + 'static) -> io::Result<Self> {
        Self::begin(dir, name, header, |file| Writer::telling("journal", file, tell))
    }

    fn begin(
        dir: &Path,
        name: &str,
        header: &Value,
        start: impl FnOnce(Lock) -> io::Result<Writer>,
    ) -> io::Result<Self> {
        private::make_private_dir(dir)?;
        let path = dir.join(name);
        let mut file = Lock::wait(private::private_file().write(true).create_new(true).open(&path)?);
        let mut first = header.clone();
        if let Value::Object(map) = &mut first {
            map.insert("v".into(), json!(VERSION));
            map.insert("ends".into(), json!(true));
        }
        begin(&mut file, &path, &first)?;
        Ok(Self { path, out: start(file)? })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A line that is complete JSON already (frames: see `wire::trace`), which `append` adds without its end.
    pub fn record(&mut self, append: impl FnOnce(&mut String)) {
        self.out.line(append);
    }

    /// A large line, made of three parts.
    pub fn record_shared(&mut self, before: String, line: Arc<str>, after: &str) {
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

    /// Writes what is left and ends, within that time.
    pub fn close(mut self, patience: Duration) {
        self.record(|out| out.push_str(END));
        self.out.close(patience);
    }
}

/// Writes the first line. One that cannot be written leaves no journal behind that has none.
fn begin(to: &mut impl Write, path: &Path, first: &Value) -> io::Result<()> {
    let begun = to.write_all(format!("{first}\n").as_bytes());
    if begun.is_err() {
        // What cannot be removed either is told as unreadable.
        let _ = fs::remove_file(path);
    }
    begun
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_no_journal_without_a_head() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.jsonl");
        fs::write(&path, "").unwrap();
        let mut full = fs::File::options().write(true).open("/dev/full").unwrap();
        let error = begin(&mut full, &path, &json!({})).unwrap_err();
        assert_eq!((error.kind(), path.exists()), (io::ErrorKind::StorageFull, false));
        let journal = Journal::create(dir.path(), "j.jsonl", &json!({ "client": "x" })).unwrap();
        assert!(fs::read_to_string(journal.path()).unwrap().starts_with("{\"client\":\"x\""));
    }
}
