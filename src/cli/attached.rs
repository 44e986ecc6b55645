//! `--attach`: files that go along with a prompt.
//!
//! Invariant: a disk that does not answer is waited for no longer than the run may take.

use super::usage::Usage;
use crate::base::paths::visible;
use crate::engine::attach;
use crate::model::event::Link;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Instant;

/// What has come of reading them.
pub(super) enum Attached {
    Read(Vec<Link>),
    /// The time was over first.
    Late,
}

/// Said then.
pub(super) const LATE_FILES: &str =
    "the time given with --timeout is over, and the files of --attach could not be read yet; nothing was started";

/// Reads them before anything is started; what an agent takes of them shows when it is there.
pub(super) fn read(files: &[PathBuf], deadline: Option<Instant>) -> Result<Attached, Usage> {
    read_by(files, deadline, |files| {
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

fn read_by(files: &[PathBuf], deadline: Option<Instant>, all: Reader) -> Result<Attached, Usage> {
    let named = |why: String| Usage(format!("--attach {why}"));
    let Some(deadline) = deadline.filter(|_| !files.is_empty()) else {
        return all(files).map(Attached::Read).map_err(named);
    };
    let files = files.to_vec();
    let (done, links) = sync_channel(1);
    let thread = std::thread::Builder::new().name("attach".into());
    // One that still hangs ends with the program.
    let thread = thread.spawn(move || drop(done.try_send(all(&files))));
    thread.map_err(|error| named(error.to_string()))?;
    match links.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(links) => links.map(Attached::Read).map_err(named),
        Err(RecvTimeoutError::Timeout) => Ok(Attached::Late),
        Err(RecvTimeoutError::Disconnected) => Err(named("what it names cannot be read".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_time_of_a_run_counts_while_its_files_are_read() {
        let files = [PathBuf::from("file")];
        let hangs: Reader = |_| {
            let (_open, never) = sync_channel::<()>(0);
            let _ = never.recv_timeout(Duration::from_secs(20));
            Ok(Vec::new())
        };
        let within = |time: Duration| Some(Instant::now() + time);
        assert!(matches!(read_by(&files, within(Duration::from_millis(20)), hangs), Ok(Attached::Late)));
        let long = within(Duration::from_mins(1));
        assert!(matches!(read_by(&files, long, |_| Ok(Vec::new())), Ok(Attached::Read(_))));
        let refused = read_by(&files, long, |_| Err("file: no".to_owned())).err().unwrap();
        assert_eq!(refused.to_string(), "--attach file: no");
    }
}
