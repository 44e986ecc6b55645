//! `--attach`: files that go along with a prompt.
//!
//! Invariant: a disk that does not answer is waited for no longer than the run may take.

use super::usage::Usage;
use crate::base::paths::visible;
use crate::engine::attach;
use crate::model::event::Link;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// What has come of reading them.
pub(super) enum Attached {
    /// With what is left of the time.
    Read(Vec<Link>, Option<Duration>),
    /// The time was over first.
    Late,
}

/// Said then.
pub(super) const LATE_FILES: &str =
    "the time given with --timeout is over, and the files of --attach could not be read yet; nothing was started";

/// Reads them before anything is started; what an agent takes of them shows when it is there.
pub(super) fn read(files: &[PathBuf], timeout: Option<Duration>) -> Result<Attached, Usage> {
    read_by(files, timeout, |files| {
        let read = |file: &PathBuf| {
            let name = visible(file.as_os_str());
            let file = std::path::absolute(file).map_err(|error| format!("{name}: {error}"))?;
            attach::read(&file, name)
        };
        attach::within(files.iter().map(read).collect::<Result<_, _>>()?)
    })
}

/// What reads all of them.
type Reader = fn(&[PathBuf]) -> Result<Vec<Link>, String>;

fn read_by(files: &[PathBuf], timeout: Option<Duration>, all: Reader) -> Result<Attached, Usage> {
    let named = |why: String| Usage(format!("--attach {why}"));
    let Some(timeout) = timeout.filter(|_| !files.is_empty()) else {
        return all(files).map(|links| Attached::Read(links, timeout)).map_err(named);
    };
    let (begun, files) = (Instant::now(), files.to_vec());
    let (done, links) = sync_channel(1);
    let thread = std::thread::Builder::new().name("attach".into());
    // One that still hangs ends with the program.
    let thread = thread.spawn(move || drop(done.try_send(all(&files))));
    thread.map_err(|error| named(error.to_string()))?;
    match links.recv_timeout(timeout) {
        Ok(links) => {
            let left = timeout.saturating_sub(begun.elapsed());
            links.map(|links| Attached::Read(links, Some(left))).map_err(named)
        }
        Err(RecvTimeoutError::Timeout) => Ok(Attached::Late),
        Err(RecvTimeoutError::Disconnected) => Err(named("what it names cannot be read".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_run_counts_while_its_files_are_read() {
        let files = [PathBuf::from("file")];
        let hangs: Reader = |_| {
            let (_open, never) = sync_channel::<()>(0);
            let _ = never.recv_timeout(Duration::from_secs(20));
            Ok(Vec::new())
        };
        let short = Some(Duration::from_millis(20));
        assert!(matches!(read_by(&files, short, hangs), Ok(Attached::Late)));
        let long = Some(Duration::from_mins(1));
        let read = read_by(&files, long, |_| Ok(Vec::new())).ok().unwrap();
        assert!(matches!(read, Attached::Read(_, Some(left)) if left < Duration::from_mins(1)));
        let refused = read_by(&files, long, |_| Err("file: no".to_owned())).err().unwrap();
        assert_eq!(refused.to_string(), "--attach file: no");
    }
}
