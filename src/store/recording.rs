//! The recording of a run (`--record`): every line that crossed a connection, as it was.
//!
//! Decides nothing. Invariants: the file is readable by its owner only, as it holds prompts, file contents and sometimes
//! secrets; a slow disk delays nothing but the file; a full one is waited for, and when writing fails otherwise it is said
//! once and work goes on.

use super::private::private_file;
use super::writer::{Disk, Writer};
use crate::wire::trace::{Dir, Form, append_record};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

/// The file of one, before anything is written.
#[derive(Debug)]
pub struct Place {
    file: File,
}

#[derive(Debug)]
pub struct Recording {
    out: Writer,
}

impl Place {
    /// Begins a fresh file; an older one of the same name is emptied. A device is written as it is. A pipe is refused: to
    /// open it may wait for ever, and a reader that stops would stop everything.
    pub fn create(path: &Path) -> io::Result<Self> {
        // Before it is opened, too: a reader may be at the other end.
        if let Ok(there) = std::fs::metadata(path) {
            check(&there)?;
        }
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = private_file();
        options.write(true).create(true).truncate(false).custom_flags(flags.bits().cast_signed());
        let file = options.open(path)?;
        let opened = file.metadata()?;
        check(&opened)?;
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        if opened.is_file() {
            file.set_len(0)?;
            // The mode of `private_file` counts for a new file only.
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(Self { file })
    }
}

impl Recording {
    /// Begins to write. `tell` is told from another thread of a disk that is full, and when it has room again.
    pub fn begin(place: Place, tell: impl Fn(Disk) + Send + 'static) -> io::Result<Self> {
        Ok(Self { out: Writer::telling("recording", place.file, tell)? })
    }

    /// A line on the wire. `more` is as in [`append_record`].
    pub fn line(&mut self, t: Duration, dir: Dir, more: &str, line: &str, form: Form) {
        self.out.line(|out| append_record(out, t, dir, more, line, form));
    }

    /// Hands what is pending to the writer. Returns the reason when the recording has come to its end, once.
    pub fn hand_over(&mut self) -> Option<String> {
        self.out.hand_over()
    }

    /// Writes what is left and ends, within that time. Returns the reason when it could not, unless it was said before.
    pub fn close(self, patience: Duration) -> Option<String> {
        self.out.close(patience)
    }
}

fn check(place: &Metadata) -> io::Result<()> {
    if place.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if place.is_file() || place.file_type().is_char_device() {
        Ok(())
    } else {
        Err(io::Error::other("not a plain file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_private_and_fresh() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let mut recording = Recording::begin(Place::create(&path).unwrap(), |_| ()).unwrap();
        recording.line(Duration::from_secs(1), Dir::ToAgent, r#""agent":1,"#, "{}", Form::Json);
        assert_eq!(recording.close(Duration::from_mins(1)), None);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"t\":1.000000,\"dir\":\"client->agent\",\"agent\":1,\"frame\":{}}\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
