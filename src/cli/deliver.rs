//! What `exec` leaves behind on request: a report of the changes, and a patch of them.
//!
//! Both are read from the review when the run is over. Invariant: a file is replaced as a whole or not at all.

use super::args::Usage;
use crate::base::paths::visible;
use crate::model::changes::Scope;
use crate::review::error::ReviewError;
use crate::review::home;
use crate::review::tracker::Tracker;
use crate::review::{patch, report};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

/// How long the review's last look is waited for, in all and without a sign of it.
const LONGEST_LOOK: Duration = Duration::from_mins(10);
const STALLED: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);
/// Links that are followed one after the other.
const MAX_LINKS: usize = 40;

/// Where they go.
#[derive(Debug, Default)]
pub struct Wanted {
    pub review: Option<PathBuf>,
    pub patch: Option<PathBuf>,
}

/// The run that is over.
#[derive(Debug)]
pub struct Run {
    /// The directory of its review; nothing when there is none.
    pub dir: Option<PathBuf>,
    pub cwd: PathBuf,
    pub command: String,
}

impl Wanted {
    pub fn is_nothing(&self) -> bool {
        self.review.is_none() && self.patch.is_none()
    }

    /// Finds out before anything is started what would fail after hours.
    pub fn check(&self) -> Result<(), Usage> {
        for (option, file) in [("--review", &self.review), ("--patch", &self.patch)] {
            let Some(file) = file else { continue };
            let problem = |why: String| Usage(format!("{option} {}: {why}", visible(file.as_os_str())));
            if file.is_dir() {
                return Err(problem("is a directory".into()));
            }
            let parent = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let meta = parent.metadata().map_err(|e| problem(e.to_string()))?;
            if !meta.is_dir() {
                return Err(problem("not in a directory".into()));
            }
        }
        Ok(())
    }

    /// Writes what is wanted. All problems, in words.
    pub fn write(&self, run: &Run) -> Vec<String> {
        let mut problems = Vec::new();
        let mut why = "no review was kept of this run".to_owned();
        let mut tracker = match run.dir.as_deref().map(open) {
            Some(Ok(tracker)) => Some(tracker),
            Some(Err(error)) => {
                why = format!("the review of this run cannot be read: {error}");
                problems.push(why.clone());
                None
            }
            None => None,
        };
        problems.extend(tracker.as_ref().and_then(Tracker::trouble));
        let mut failed = None;
        let mut deliver = |file: &Path, text: Result<Vec<u8>, String>| {
            let written = text.and_then(|text| replace(file, &text).map_err(|e| e.to_string()));
            if let Err(why) = written {
                problems.push(format!("could not write {}: {why}", visible(file.as_os_str())));
            }
        };
        if let Some(file) = &self.review {
            let text = match &mut tracker {
                Some(tracker) => report::report(tracker),
                None => Ok(nothing(run, &why)),
            };
            if let Err(error) = &text {
                failed = Some(format!("the review of this run cannot be read: {error}"));
            }
            let said = failed.as_deref().unwrap_or_default();
            deliver(file, Ok(text.unwrap_or_else(|_| nothing(run, said)).into_bytes()));
        }
        if let Some(file) = &self.patch {
            let text = match &mut tracker {
                Some(tracker) => patch::export(tracker, Scope::Session).map_err(|e| e.to_string()),
                None => Ok(Vec::new()),
            };
            deliver(file, text);
        }
        problems.extend(failed);
        problems
    }
}

fn nothing(run: &Run, why: &str) -> String {
    report::text(&report::nothing(&run.cwd, &run.command, why))
}

/// Opens the review of the run that has just ended. Its own thread may still look at a large tree: as long as what it
/// keeps grows, that is waited for.
fn open(dir: &Path) -> Result<Tracker, String> {
    let (end, mut stalled, mut kept) = (Instant::now() + LONGEST_LOOK, Instant::now() + STALLED, 0);
    // Nobody ever says anything here: a pause.
    let (_open, pause) = sync_channel::<()>(0);
    loop {
        match Tracker::open(dir) {
            Err(ReviewError::Locked) => {}
            opened => return opened.map_err(|e| e.to_string()),
        }
        let bytes = home::bytes(dir);
        if bytes != kept {
            (kept, stalled) = (bytes, Instant::now() + STALLED);
        }
        if Instant::now() >= end.min(stalled) {
            return Err("the files are still being looked at".to_owned());
        }
        let _ = pause.recv_timeout(PAUSE);
    }
}

/// Writes a file as one step; what is no plain file (a pipe, a terminal) is written as it is.
fn replace(file: &Path, text: &[u8]) -> io::Result<()> {
    // The target of a link is replaced, not the link.
    let file = target(file);
    if file.metadata().is_ok_and(|meta| !meta.is_file()) {
        return File::options().write(true).open(&file)?.write_all(text);
    }
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut fresh = tempfile::Builder::new().prefix(".acp-tui-").tempfile_in(dir)?;
    if let Ok(meta) = file.metadata() {
        fresh.as_file().set_permissions(meta.permissions())?;
    }
    fresh.write_all(text)?;
    fresh.as_file().sync_all()?;
    fresh.persist(&file).map(drop).map_err(|e| e.error)
}

/// Where a link leads, also when nothing is there yet.
fn target(file: &Path) -> PathBuf {
    let mut at = file.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = at.read_link() else { break };
        at = at.parent().unwrap_or(Path::new("")).join(next);
    }
    at.canonicalize().unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn run() -> Run {
        Run { dir: None, cwd: "/work".into(), command: "agent --acp".into() }
    }

    #[test]
    fn a_run_without_a_review_says_that_nothing_was_covered() {
        let lab = tempfile::tempdir().unwrap();
        let (review, patch) = (lab.path().join("r.json"), lab.path().join("p"));
        fs::write(&patch, "old").unwrap();
        let wanted = Wanted { review: Some(review.clone()), patch: Some(patch.clone()) };
        assert_eq!(wanted.write(&run()), [""; 0]);
        let said: serde_json::Value = serde_json::from_slice(&fs::read(review).unwrap()).unwrap();
        assert_eq!((&said["command"], said["not_covered"].as_array().unwrap().len()), (&"agent --acp".into(), 1));
        assert_eq!(fs::read(patch).unwrap(), b"");
        assert_eq!(fs::read_dir(lab.path()).unwrap().count(), 2, "something was left over");
    }

    #[test]
    fn what_cannot_be_written_is_said_and_the_other_is_still_written() {
        let lab = tempfile::tempdir().unwrap();
        let (review, patch) = (lab.path().join("gone/r.json"), lab.path().join("p"));
        let wanted = Wanted { review: Some(review), patch: Some(patch.clone()) };
        let problems = wanted.write(&run());
        assert!(problems.len() == 1 && problems[0].contains("gone/r.json"), "{problems:?}");
        assert!(patch.exists());
        let run = Run { dir: Some(lab.path().join("no-review")), ..run() };
        assert_eq!(wanted.write(&run).len(), 2);
        let said: serde_json::Value = {
            let review = lab.path().join("r.json");
            let wanted = Wanted { review: Some(review.clone()), patch: None };
            assert_eq!(wanted.write(&run).len(), 1);
            serde_json::from_slice(&fs::read(review).unwrap()).unwrap()
        };
        assert!(said["not_covered"][0].as_str().unwrap().contains("cannot be read"), "{said}");
    }

    #[test]
    fn places_where_nothing_can_be_written_are_refused_before_the_run() {
        let lab = tempfile::tempdir().unwrap();
        let file = lab.path().join("file");
        fs::write(&file, "").unwrap();
        let check = |path: PathBuf| Wanted { review: None, patch: Some(path) }.check();
        assert_eq!(check(file.clone()), Ok(()));
        assert_eq!(check("just-a-name".into()), Ok(()));
        for bad in [lab.path().join("no/such"), lab.path().to_owned(), file.join("below")] {
            let Err(Usage(words)) = check(bad.clone()) else { panic!("{bad:?} was taken") };
            assert!(words.starts_with("--patch /"), "{words}");
        }
    }

    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let lab = tempfile::tempdir().unwrap();
        let (file, link) = (lab.path().join("file"), lab.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        // One that leads to nothing yet.
        let (fresh, link) = (lab.path().join("fresh"), lab.path().join("link2"));
        std::os::unix::fs::symlink("fresh", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(fresh).unwrap(), b"new");
        replace(Path::new("/dev/null"), b"new").unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }
}
