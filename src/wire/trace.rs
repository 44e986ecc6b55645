//! Lines that crossed the connection as records: for a journal, and all of them in a file when recording.
//!
//! Interprets nothing and keeps nothing. Invariant: a line of the file is one JSON object, and the frame inside is the
//! text that was on the wire, not a retelling.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dir {
    ToAgent,
    FromAgent,
    Stderr,
}

impl Dir {
    pub fn label(self) -> &'static str {
        match self {
            Self::ToAgent => "client->agent",
            Self::FromAgent => "agent->client",
            Self::Stderr => "stderr",
        }
    }
}

/// Whether a line may stand in a record as JSON or has to be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Json,
    Raw,
}

impl Form {
    pub fn of(frame: &super::frame::Frame) -> Self {
        if frame.is_json() { Self::Json } else { Self::Raw }
    }
}

/// Where the lines go, if anywhere.
#[derive(Debug, Default)]
pub struct Trace {
    recorder: Option<Recorder>,
}

impl Trace {
    pub fn record_to(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// Records the line. `more` is as in [`append_record`]. An error comes once: recording has then stopped.
    pub fn push(&mut self, t: Duration, dir: Dir, more: &str, line: &str, form: Form) -> io::Result<()> {
        self.with_recorder(|recorder| {
            let mut record = String::with_capacity(line.len() + 64);
            append_record(&mut record, t, dir, more, line, form);
            recorder.write(&record)
        })
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.with_recorder(|recorder| recorder.out.flush())
    }

    fn with_recorder(&mut self, write: impl FnOnce(&mut Recorder) -> io::Result<()>) -> io::Result<()> {
        let Some(recorder) = &mut self.recorder else { return Ok(()) };
        let done = write(recorder);
        if done.is_err() {
            self.recorder = None;
        }
        done
    }
}

/// A file of records, readable by its owner only: it holds prompts, file contents and sometimes secrets.
#[derive(Debug)]
pub struct Recorder {
    out: BufWriter<File>,
}

impl Recorder {
    /// Begins a fresh file; an older one of the same name is emptied. A device is written as it is. A pipe is refused: to
    /// open it may wait for ever, and a reader that stops would stop everything.
    pub fn create(path: &Path) -> io::Result<Self> {
        // Before it is opened, too: somebody may be reading at the other end.
        if let Ok(there) = std::fs::metadata(path) {
            check(&there)?;
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
            options.mode(0o600).custom_flags(flags.bits().cast_signed());
        }
        let file = options.open(path)?;
        let opened = file.metadata()?;
        check(&opened)?;
        #[cfg(unix)]
        rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? - rustix::fs::OFlags::NONBLOCK)?;
        if opened.is_file() {
            file.set_len(0)?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                // The mode above counts for a new file only.
                file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
            }
        }
        Ok(Self { out: BufWriter::with_capacity(64 << 10, file) })
    }

    pub fn write(&mut self, record: &str) -> io::Result<()> {
        self.out.write_all(record.as_bytes())?;
        self.out.write_all(b"\n")
    }
}

fn check(place: &std::fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    let is_device = std::os::unix::fs::FileTypeExt::is_char_device(&place.file_type());
    #[cfg(not(unix))]
    let is_device = true;
    if place.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if place.is_file() || is_device { Ok(()) } else { Err(io::Error::other("not a plain file")) }
}

/// One record, without a newline. JSON text is embedded as it is, anything else as a string.
pub fn encode_record(t: Duration, dir: Dir, line: &str, form: Form) -> String {
    let mut record = String::with_capacity(line.len() + 64);
    append_record(&mut record, t, dir, "", line, form);
    record
}

/// [`encode_record`] without a string of its own. `more` is JSON members of the record, each with a comma after it.
pub fn append_record(out: &mut String, t: Duration, dir: Dir, more: &str, line: &str, form: Form) {
    match form {
        Form::Json => {
            open_record(out, t, dir, more);
            push_frame(out, line);
        }
        Form::Raw => {
            head(out, t, dir, more);
            out.push_str(r#""raw":"#);
            out.push_str(&serde_json::Value::from(line).to_string());
        }
    }
    out.push('}');
}

/// The text of a frame as it stands in a record: on one line.
pub fn push_frame(out: &mut String, line: &str) {
    // Without leaving a block early: so it is looked at all at once.
    let broken = |bytes: &[u8]| bytes.iter().fold(0, |n, b| n | u8::from(*b == b'\n') | u8::from(*b == b'\r')) != 0;
    let (blocks, rest) = line.as_bytes().as_chunks::<32>();
    if blocks.iter().any(|block| broken(block)) || broken(rest) {
        out.push_str(&line.replace(['\n', '\r'], " "));
    } else {
        out.push_str(line);
    }
}

/// The part of a record before the text of a frame; after it comes `}`.
pub fn open_record(out: &mut String, t: Duration, dir: Dir, more: &str) {
    head(out, t, dir, more);
    out.push_str(r#""frame":"#);
}

fn head(out: &mut String, t: Duration, dir: Dir, more: &str) {
    // Writing to a string cannot fail.
    let _ = write!(out, r#"{{"t":{}.{:06},"dir":"{}",{more}"#, t.as_secs(), t.subsec_micros(), dir.label());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_record_is_one_line_wherever_the_break_is() {
        for at in [0, 31, 32, 63, 64, 70] {
            for (pad, byte) in [('x', '\r'), ('x', '\n')] {
                let mut line = pad.to_string().repeat(71);
                line.replace_range(at..=at, &byte.to_string());
                let mut out = String::new();
                push_frame(&mut out, &line);
                assert_eq!((out.len(), out.find(' ')), (71, Some(at)));
            }
        }
    }

    #[test]
    fn a_record_embeds_json_and_quotes_the_rest() {
        let t = Duration::from_micros(1_234_005);
        let frame = encode_record(t, Dir::FromAgent, r#"{"id":9007199254740993}"#, Form::Json);
        assert_eq!(frame, r#"{"t":1.234005,"dir":"agent->client","frame":{"id":9007199254740993}}"#);
        let raw: Value = serde_json::from_str(&encode_record(t, Dir::Stderr, "a\"\u{1b}", Form::Raw)).unwrap();
        assert_eq!(raw, json!({"t": 1.234_005, "dir": "stderr", "raw": "a\"\u{1b}"}));
    }

    #[cfg(unix)]
    #[test]
    fn a_recording_is_private_and_fresh() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let mut trace = Trace::default();
        trace.record_to(Recorder::create(&path).unwrap());
        trace.push(Duration::from_secs(1), Dir::ToAgent, r#""agent":1,"#, "{}", Form::Json).unwrap();
        trace.flush().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"t\":1.000000,\"dir\":\"client->agent\",\"agent\":1,\"frame\":{}}\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_once() {
        let mut trace = Trace::default();
        trace.record_to(Recorder::create(Path::new("/dev/full")).unwrap());
        trace.push(Duration::ZERO, Dir::ToAgent, "", "{}", Form::Json).unwrap();
        assert!(trace.flush().is_err());
        assert!(!trace.is_recording());
        trace.flush().unwrap();
    }
}
