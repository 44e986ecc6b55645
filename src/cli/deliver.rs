//! What `exec` leaves behind on request: a report of the changes, and a patch of them.
//!
//! Both are read from the review when the run is over; when that is not to be had in time, from a copy of what it has
//! recorded. Where they go is resolved before the run (`host::fs::output`). Invariant: nothing that hangs is waited
//! for.

use super::usage::{Usage, unwritable};
use crate::base::paths::visible;
use crate::host::fs::output::Output;
use crate::model::changes::Scope;
use crate::review::archive;
use crate::review::error::ReviewError;
use crate::review::report::{Draft, draft_of, json, patch};
use crate::review::session::ReviewSession;
use crate::review::session::recorded;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the review's last look is waited for, in all and without a sign of it.
const LONGEST_LOOK: Duration = Duration::from_mins(10);
const STALLED: Duration = Duration::from_mins(1);
/// The same without a sign, once the time is over or a signal came.
const STILL: Duration = Duration::from_millis(250);
/// How long the review may then stay with the thread that still looks at the files.
const LOCKED: Duration = Duration::from_millis(250);
/// How long the review itself may then be read, however it goes on, and the copy of what it has recorded. Each of the
/// two gets a moment, also when what came before has taken all of it.
const LAST_REVIEW: Duration = Duration::from_millis(700);
const LAST_COPY: Duration = Duration::from_millis(1100);
const MOMENT: Duration = Duration::from_millis(200);
/// How long a reader may then take in all, however it goes on.
const LAST_READING: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(50);

/// Where they go.
#[derive(Debug, Default)]
pub struct Outputs {
    pub review: Option<Output>,
    pub patch: Option<Output>,
}

/// The run that is over.
#[derive(Debug)]
pub struct Run {
    /// Something may have been started. A run that never was does not overwrite the report of an earlier one.
    pub is_begun: bool,
    /// The directory of its review; nothing when there is none.
    pub dir: Option<PathBuf>,
    pub cwd: PathBuf,
    pub command: String,
    /// Processes that have outlived it.
    pub survivors: Vec<String>,
    /// The same, but they have ended by now.
    pub ended: Vec<String>,
}

impl Run {
    /// What no report of it can cover.
    fn uncovered(&self) -> Vec<String> {
        let runs = |one: &String| format!("still runs: {one}; what it changes later is not covered");
        let ran = |one: &String| {
            format!("ran when the files were looked at last: {one}; what it changed then may be missing")
        };
        self.survivors.iter().map(runs).chain(self.ended.iter().map(ran)).collect()
    }

    /// A report that knows of nothing but names.
    fn nothing(&self, why: &str, named: &[String]) -> String {
        let uncovered: Vec<String> = named.iter().cloned().chain(self.uncovered()).collect();
        json::text(&json::nothing(&self.cwd, &self.command, why, &uncovered))
    }
}

/// How long there is time.
#[derive(Debug)]
pub struct Patience {
    /// From then on only as long as there is progress, and not for long.
    pub until: Option<Instant>,
    /// A signal came: the same at once.
    pub stop: Arc<AtomicBool>,
}

/// What came of it, in words.
#[derive(Debug)]
pub struct Written {
    pub problems: Vec<String>,
    /// What was written may not be all.
    pub unfinished: Option<String>,
}

impl Outputs {
    pub fn is_nothing(&self) -> bool {
        self.review.is_none() && self.patch.is_none()
    }

    /// Finds out before anything is started where they go, and what would fail after hours. `record` is written too.
    pub fn resolve(review: Option<&Path>, patch: Option<&Path>, record: Option<&Path>) -> Result<Self, Usage> {
        let resolved = |option: &str, file: Option<&Path>| {
            let resolve = |file: &Path| Output::resolve(file).map_err(|error| unwritable(option, file, &error));
            file.map(resolve).transpose()
        };
        let (review, patch) = (resolved("--review", review)?, resolved("--patch", patch)?);
        // That it cannot be opened is said where it is.
        let record = record.and_then(|file| Output::find(file).ok());
        let all = [("--review", &review), ("--patch", &patch), ("--record", &record)];
        for (at, (first, one)) in all.iter().enumerate() {
            for (second, other) in all.iter().skip(at + 1) {
                if one.as_ref().zip(other.as_ref()).is_some_and(|(one, other)| one.is_same(other)) {
                    return Err(Usage(format!("{first} and {second} name the same file")));
                }
            }
        }
        Ok(Self { review, patch })
    }

    /// Writes what is wanted, however little of it can be had.
    pub fn write(&self, run: Run, patience: &Patience) -> Written {
        self.write_from(run, patience, open)
    }

    /// The same, where `open` opens a review.
    fn write_from(&self, run: Run, patience: &Patience, open: Open) -> Written {
        let run = Arc::new(run);
        let named = Arc::<Mutex<Vec<String>>>::default();
        let (mut texts, mut unfinished) = (self.gathered(&run, patience, LAST_REVIEW, &named, open), None);
        if texts.is_none() {
            let what = "the files were still being looked at when the report was written";
            unfinished = Some(format!("{what}: changes may be missing in it"));
            // What it takes from the ledger is there, or nothing is.
            let until = patience.until.map_or_else(Instant::now, |until| until.min(Instant::now()));
            let now = Patience { until: Some(until), stop: Arc::default() };
            texts = self.gathered(&run, &now, LAST_COPY, &named, copy);
        }
        let texts = texts.unwrap_or_else(|| {
            let why = unfinished.clone().unwrap_or_default();
            let named = named.lock().unwrap_or_else(PoisonError::into_inner);
            Texts { review: draft_of(&run.nothing(&why, &named)), ..Texts::default() }
        });
        let mut problems = texts.problems;
        let mut deliver = |file: &Option<Output>, write: &mut dyn FnMut(&Output, GoOn<'_>) -> Result<(), String>| {
            let Some(file) = file else { return };
            if !run.is_begun && file.has_content() {
                let name = visible(file.path().as_os_str());
                return problems.push(format!("{name} stays as an earlier run has left it, since nothing was started"));
            }
            let mut watch = Watch::new(patience);
            let mut go_on = |gone| !watch.is_over(gone) && !watch.is_cut_for(LAST_READING);
            if let Err(why) = write(file, &mut go_on) {
                problems.push(format!("could not write {}: {why}", visible(file.path().as_os_str())));
            }
        };
        let (mut review, mut patch) = (texts.review, texts.patch);
        deliver(&self.review, &mut |file, go_on| file.write_from(&mut review, go_on).map_err(|e| e.to_string()));
        deliver(&self.patch, &mut |file, go_on| {
            let patch = patch.as_mut().map_err(|why| why.clone())?;
            file.write_from(patch, go_on).map_err(|e| e.to_string())
        });
        Written { problems, unfinished }
    }

    /// What is to be written, made on a thread of its own: a disk may never answer. Nothing when that takes too long, or
    /// more than `last` once there is no time. `named` gets what is known before any content is read.
    fn gathered(
        &self,
        run: &Arc<Run>,
        patience: &Patience,
        last: Duration,
        named: &Arc<Mutex<Vec<String>>>,
        open: Open,
    ) -> Option<Texts> {
        let (done, texts) = sync_channel(1);
        let pulse = Arc::<AtomicU64>::default();
        let gather = Gather {
            run: Arc::clone(run),
            pulse: Arc::clone(&pulse),
            over: Arc::default(),
            is_open: Arc::default(),
            named: Arc::clone(named),
            wants: (self.review.is_some(), self.patch.is_some()),
        };
        let (over, is_open) = (Arc::clone(&gather.over), Arc::clone(&gather.is_open));
        let thread = std::thread::Builder::new().name("report".into());
        // Its waiter may be gone.
        thread.spawn(move || drop(done.try_send(gather.texts(open)))).ok()?;
        let mut watch = Watch::new(patience);
        loop {
            match texts.recv_timeout(PAUSE) {
                Ok(texts) => return Some(texts),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            // The thread that still looks at the files may do so for minutes.
            let is_late = !is_open.load(Ordering::Relaxed) && watch.is_cut_for(LOCKED);
            let is_over = watch.is_over(pulse.load(Ordering::Relaxed)) || is_late || watch.is_cut_since(last);
            if is_over {
                over.store(true, Ordering::Relaxed);
                return None;
            }
        }
    }
}

/// Whether something that may hang is to be waited for any longer.
struct Watch<'a> {
    patience: &'a Patience,
    /// The last sign of it, and since when there is no other.
    beat: u64,
    still: Instant,
    begun: Instant,
    /// Since when it is known that the time is over.
    cut: Option<Instant>,
}

impl<'a> Watch<'a> {
    fn new(patience: &'a Patience) -> Self {
        let now = Instant::now();
        Self { patience, beat: 0, still: now, begun: now, cut: None }
    }

    /// `beat` moves as long as there is progress.
    fn is_over(&mut self, beat: u64) -> bool {
        let now = Instant::now();
        if beat != self.beat {
            (self.beat, self.still) = (beat, now);
        }
        let Patience { until, stop } = self.patience;
        let is_cut = stop.load(Ordering::Relaxed) || until.is_some_and(|until| now >= until);
        let most = if is_cut { STILL } else { STALLED };
        self.cut = self.cut.or(is_cut.then_some(now));
        now.duration_since(self.still) >= most
    }

    fn is_cut_for(&self, time: Duration) -> bool {
        self.cut.is_some_and(|cut| cut.elapsed() >= time)
    }

    /// The same from when the time was over, of which it may have been known only later; a moment is left in any case.
    fn is_cut_since(&self, time: Duration) -> bool {
        let since = self.cut.map(|cut| self.patience.until.map_or(cut, |until| until.min(cut)));
        self.begun.elapsed() >= MOMENT && since.is_some_and(|since| since.elapsed() >= time)
    }
}

/// Opens the review in a directory; the flag says that its waiter is gone.
type Open = fn(&Path, &Gather) -> Result<ReviewSession, String>;

/// Asked, with how many bytes went out, whether to go on.
type GoOn<'a> = &'a mut dyn FnMut(u64) -> bool;

/// What is to be written.
struct Texts {
    review: Draft,
    patch: Result<Draft, String>,
    problems: Vec<String>,
}

impl Default for Texts {
    fn default() -> Self {
        Self { review: draft_of(""), patch: Ok(draft_of("")), problems: Vec::new() }
    }
}

/// Makes the texts.
struct Gather {
    run: Arc<Run>,
    /// Moves as long as there is progress.
    pulse: Arc<AtomicU64>,
    /// Its waiter is gone.
    over: Arc<AtomicBool>,
    /// The review is open: no other thread looks at the files any more.
    is_open: Arc<AtomicBool>,
    /// What is known before any content is read.
    named: Arc<Mutex<Vec<String>>>,
    /// The report, the patch.
    wants: (bool, bool),
}

impl Gather {
    fn names(&self, named: Vec<String>) {
        *self.named.lock().unwrap_or_else(PoisonError::into_inner) = named;
    }

    fn texts(&self, open: Open) -> Texts {
        let run = &self.run;
        let mut texts = Texts::default();
        let mut why = "no review was kept of this run".to_owned();
        let mut review = match run.dir.as_deref().map(|dir| open(dir, self)) {
            Some(Ok(mut review)) => {
                self.is_open.store(true, Ordering::Relaxed);
                self.names(review.at_once());
                review.beat(Arc::clone(&self.pulse));
                texts.problems.extend(review.trouble().filter(|_| !review.is_copy()));
                Some(review)
            }
            Some(Err(error)) => {
                why = format!("the review of this run cannot be read: {error}");
                texts.problems.push(why.clone());
                None
            }
            None => None,
        };
        if self.wants.0 {
            let text = match &mut review {
                Some(review) => json::report(review, &run.uncovered()).map_err(|error| {
                    let why = format!("the review of this run cannot be read: {error}");
                    texts.problems.push(why.clone());
                    why
                }),
                None => Err(why),
            };
            texts.review = text.unwrap_or_else(|why| draft_of(&run.nothing(&why, &[])));
        }
        if let (true, Some(review)) = (self.wants.1, &mut review) {
            texts.patch = patch::export(review, Scope::Session).map_err(|e| e.to_string());
        }
        texts
    }
}

/// Opens a copy of what is recorded; what its ledger says is known before.
fn copy(dir: &Path, gather: &Gather) -> Result<ReviewSession, String> {
    if let Ok(named) = recorded::at_once(dir) {
        gather.names(named);
    }
    recorded::open(dir).map_err(|e| e.to_string())
}

/// Opens the review of the run that has just ended. Its own thread may still look at a large tree: as long as what it
/// keeps grows, that is waited for.
fn open(dir: &Path, gather: &Gather) -> Result<ReviewSession, String> {
    let (end, mut kept) = (Instant::now() + LONGEST_LOOK, 0);
    // Nothing is ever sent here: a pause.
    let (_open, pause) = sync_channel::<()>(0);
    loop {
        match ReviewSession::open(dir) {
            Err(ReviewError::Locked) => {}
            opened => return opened.map_err(|e| e.to_string()),
        }
        let bytes = archive::bytes(dir);
        if bytes != kept {
            kept = bytes;
            gather.pulse.fetch_add(1, Ordering::Relaxed);
        }
        if gather.over.load(Ordering::Relaxed) || Instant::now() >= end {
            return Err("the files are still being looked at".to_owned());
        }
        let _ = pause.recv_timeout(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::EntryId;
    use crate::review::protocol::{AgentSession, SessionInfo};
    use std::fs;

    fn run() -> Run {
        let (survivors, ended) = (Vec::new(), Vec::new());
        Run { is_begun: true, dir: None, cwd: "/work".into(), command: "agent --acp".into(), survivors, ended }
    }

    fn patience() -> Patience {
        Patience { until: None, stop: Arc::default() }
    }

    #[test]
    fn a_run_without_a_review_says_that_nothing_was_covered() {
        let lab = tempfile::tempdir().unwrap();
        let (review, patch) = (lab.path().join("r.json"), lab.path().join("p"));
        fs::write(&patch, "old").unwrap();
        let wanted = Outputs::resolve(Some(&review), Some(&patch), None).unwrap();
        assert_eq!(wanted.write(run(), &patience()).problems, [""; 0]);
        let said: serde_json::Value = serde_json::from_slice(&fs::read(review).unwrap()).unwrap();
        assert_eq!((&said["command"], said["not_covered"].as_array().unwrap().len()), (&"agent --acp".into(), 1));
        assert_eq!(fs::read(patch).unwrap(), b"");
        assert_eq!(fs::read_dir(lab.path()).unwrap().count(), 2, "something was left over");
    }

    #[test]
    fn a_run_that_never_began_leaves_what_an_earlier_one_has_written() {
        let lab = tempfile::tempdir().unwrap();
        let (review, patch) = (lab.path().join("r.json"), lab.path().join("p"));
        fs::write(&review, "earlier").unwrap();
        fs::write(&patch, "").unwrap();
        let wanted = Outputs::resolve(Some(&review), Some(&patch), None).unwrap();
        let problems = wanted.write(Run { is_begun: false, ..run() }, &patience()).problems;
        assert!(problems.len() == 1 && problems[0].contains("r.json stays"), "{problems:?}");
        assert_eq!(fs::read_to_string(&review).unwrap(), "earlier");
        // One that did begin is told of, however little is known of it.
        let wanted = Outputs::resolve(Some(&review), None, None).unwrap();
        assert_eq!(wanted.write(run(), &patience()).problems, [""; 0]);
        assert_ne!(fs::read_to_string(review).unwrap(), "earlier");
    }

    #[test]
    fn what_cannot_be_written_is_said_and_the_other_is_still_written() {
        let lab = tempfile::tempdir().unwrap();
        let (review, patch) = (lab.path().join("gone/r.json"), lab.path().join("p"));
        fs::create_dir(lab.path().join("gone")).unwrap();
        let wanted = Outputs::resolve(Some(&review), Some(&patch), None).unwrap();
        fs::remove_dir(lab.path().join("gone")).unwrap();
        let problems = wanted.write(run(), &patience()).problems;
        assert!(problems.len() == 1 && problems[0].contains("gone/r.json"), "{problems:?}");
        fs::remove_file(&patch).unwrap();
        let run = || Run { dir: Some(lab.path().join("no-review")), ..run() };
        assert_eq!(wanted.write(run(), &patience()).problems.len(), 2);
        let said: serde_json::Value = {
            let review = lab.path().join("r.json");
            let wanted = Outputs::resolve(Some(&review), None, None).unwrap();
            assert_eq!(wanted.write(run(), &patience()).problems.len(), 1);
            serde_json::from_slice(&fs::read(review).unwrap()).unwrap()
        };
        assert!(said["not_covered"][0].as_str().unwrap().contains("cannot be read"), "{said}");
    }

    /// A review of a run in which a file was changed, held by a process that looks for ever.
    fn held(lab: &Path) -> (ReviewSession, Run) {
        let cwd = lab.join("work");
        fs::create_dir(&cwd).unwrap();
        fs::write(cwd.join("file"), "one\n").unwrap();
        let head = SessionInfo {
            stem: "1-1".into(),
            cwd: cwd.clone(),
            command: "agent".into(),
            started: 1,
            private: Vec::new(),
            directories: Vec::new(),
        };
        let mut review = ReviewSession::create(&lab.join("home"), head).unwrap();
        review.session(AgentSession::new("id", 1, "Agent")).unwrap();
        review.begin_turn(1).unwrap();
        fs::write(cwd.join("file"), "two\n").unwrap();
        review.wrote(&cwd.join("file"), "two\n", None, None).unwrap();
        let run = Run {
            is_begun: true,
            dir: Some(review.dir().to_owned()),
            cwd,
            command: "agent".into(),
            survivors: Vec::new(),
            ended: Vec::new(),
        };
        (review, run)
    }

    fn cut() -> Patience {
        Patience { until: Some(Instant::now()), stop: Arc::default() }
    }

    #[test]
    fn what_is_known_is_written_when_the_last_look_never_ends() {
        let lab = tempfile::tempdir().unwrap();
        let (report, patch) = (lab.path().join("r.json"), lab.path().join("p"));
        let wanted = Outputs::resolve(Some(&report), Some(&patch), None).unwrap();
        let (review, run) = held(lab.path());
        let ledger = fs::read(review.dir().join("ledger.jsonl")).unwrap();
        let written = wanted.write(run, &cut());
        assert_eq!(written.problems, [""; 0]);
        assert!(written.unfinished.is_some_and(|words| words.contains("changes may be missing")));
        let said: serde_json::Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        assert_eq!((&said["files"][0]["path"], &said["session_id"]), (&"file".into(), &"id".into()));
        assert!(said["not_covered"][0].as_str().unwrap().contains("the last look was not over yet"), "{said}");
        assert!(String::from_utf8(fs::read(patch).unwrap()).unwrap().contains("+two\n"));
        // The review itself was not touched, and nothing is left over.
        assert_eq!(fs::read(review.dir().join("ledger.jsonl")).unwrap(), ledger);
        let mut names = fs::read_dir(lab.path().join("home")).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.all(|name| !name.to_string_lossy().starts_with('.')));
    }

    #[test]
    fn files_are_named_when_nothing_can_be_compared_in_time() {
        let lab = tempfile::tempdir().unwrap();
        let report = lab.path().join("r.json");
        let wanted = Outputs::resolve(Some(&report), None, None).unwrap();
        let (mut review, run) = held(lab.path());
        review.write_begins(&run.cwd.join("begun"), "three\n", EntryId(1), None).unwrap();
        let named = review.at_once();
        let nothing = run.nothing("why", &named);
        let said: serde_json::Value = serde_json::from_str(&nothing).unwrap();
        let words: Vec<_> = said["not_covered"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let of = ["file: has changed, and was not compared in time", "begun: was being written when this was put down"];
        assert!(of.iter().all(|one| words.contains(one)), "{words:?}");
        // The copy, which is opened while another process holds the review, says the same.
        wanted.write(run, &cut());
        let said: serde_json::Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        assert!(said["not_covered"].as_array().unwrap().iter().any(|line| line == of[1]), "{said}");
    }

    #[test]
    fn what_never_answers_is_not_waited_for() {
        // A disk that is gone: a call to it does not come back.
        let hangs: Open = |_, gather| {
            let (_open, never) = sync_channel::<()>(0);
            while !gather.over.load(Ordering::Relaxed) {
                let _ = never.recv_timeout(PAUSE);
            }
            let _ = never.recv();
            Err("nobody hears this".to_owned())
        };
        let signalled = || Patience { until: None, stop: Arc::new(AtomicBool::new(true)) };
        for patience in [cut(), signalled()] {
            let lab = tempfile::tempdir().unwrap();
            let review = lab.path().join("r.json");
            let wanted = Outputs::resolve(Some(&review), None, None).unwrap();
            let (_tracker, run) = held(lab.path());
            let written = wanted.write_from(run, &patience, hangs);
            assert!(written.unfinished.is_some());
            let said: serde_json::Value = serde_json::from_slice(&fs::read(review).unwrap()).unwrap();
            assert_eq!(said["files"][0]["path"], "file");
        }
    }

    #[test]
    fn what_goes_on_and_on_is_not_waited_for_once_the_time_is_over() {
        // A tree that is large enough: there is progress, and no end in sight.
        let goes_on: Open = |_, gather| {
            let (end, (_open, pause)) = (Instant::now() + Duration::from_secs(20), sync_channel::<()>(0));
            gather.is_open.store(true, Ordering::Relaxed);
            while !gather.over.load(Ordering::Relaxed) && Instant::now() < end {
                gather.pulse.fetch_add(1, Ordering::Relaxed);
                let _ = pause.recv_timeout(Duration::from_millis(20));
            }
            Err("it was waited for".to_owned())
        };
        let lab = tempfile::tempdir().unwrap();
        let review = lab.path().join("r.json");
        let wanted = Outputs::resolve(Some(&review), None, None).unwrap();
        let (_tracker, run) = held(lab.path());
        let written = wanted.write_from(run, &cut(), goes_on);
        assert!(written.unfinished.is_some(), "{:?}", written.problems);
        let said: serde_json::Value = serde_json::from_slice(&fs::read(review).unwrap()).unwrap();
        assert_eq!(said["files"][0]["path"], "file");
    }

    #[test]
    fn the_ledger_alone_names_what_has_changed() {
        let lab = tempfile::tempdir().unwrap();
        let (review, run) = held(lab.path());
        let dir = run.dir.as_deref().unwrap();
        assert_eq!(recorded::at_once(dir).unwrap(), review.at_once());
        assert!(recorded::at_once(dir).unwrap()[0].starts_with("file: has changed"));
        assert!(recorded::at_once(lab.path()).is_err() && !lab.path().join("ledger.jsonl").exists());
    }

    #[test]
    fn places_where_nothing_can_be_written_are_refused_before_the_run() {
        let lab = tempfile::tempdir().unwrap();
        let file = lab.path().join("file");
        fs::write(&file, "").unwrap();
        let check = |path: &Path| Outputs::resolve(None, Some(path), None);
        assert!(check(&file).is_ok());
        assert!(check(Path::new("just-a-name")).is_ok() && !Path::new("just-a-name").exists());
        for bad in [lab.path().join("no/such"), lab.path().to_owned(), file.join("below")] {
            let Err(Usage(words)) = check(&bad) else { panic!("{bad:?} was taken") };
            assert!(words.starts_with("--patch /"), "{words}");
        }
    }

    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let lab = tempfile::tempdir().unwrap();
        let (file, link) = (lab.path().join("file"), lab.path().join("link"));
        let write = |path: &Path| Output::resolve(path).unwrap().write(b"new", &mut |_| true).unwrap();
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        // One that leads to nothing yet.
        let (fresh, link) = (lab.path().join("fresh"), lab.path().join("link2"));
        std::os::unix::fs::symlink("fresh", &link).unwrap();
        write(&link);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(fresh).unwrap(), b"new");
        write(Path::new("/dev/null"));
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }
}
