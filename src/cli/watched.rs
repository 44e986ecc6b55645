//! A run of `exec` as seen from outside: its time and signals count from its first moment on, whatever it waits for.
//!
//! Reading configuration, rules and worktrees, starting and counting are on a thread of their own; here it is waited
//! for. Once the agent is started the run itself hears signals and knows its time. Invariant: nothing is started by a
//! run that was given up.

use super::deliver::{Outputs, Patience, Run};
use super::output::say;
use super::usage::Usage;
use crate::headless::{code, stop};
use crate::host::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// As much as a first thread has.
const STACK: usize = 8 << 20;
/// How long a run that has heard a signal may still wait for git.
const LAST: Duration = Duration::from_secs(3);

/// How far a run has come.
const PREPARES: u8 = 0;
const RUNS: u8 = 1;
const COUNTS: u8 = 2;
const GIVEN_UP: u8 = 3;

enum News {
    Until(Instant),
    Signal(u8),
    Over(Result<u8, Usage>),
}

/// A run that tells how far it has come.
pub(super) struct Watched {
    stage: Arc<AtomicU8>,
    tell: SyncSender<News>,
}

impl Watched {
    /// Its time is known.
    pub fn counts(&self, until: Instant) {
        let _ = self.tell.send(News::Until(until));
    }

    /// An agent is about to be started. Otherwise, nobody waits for that any more.
    pub fn begins(&self) -> bool {
        self.stage.compare_exchange(PREPARES, RUNS, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// What is done from now on only tells more of it.
    pub fn has_run(&self) {
        self.stage.store(COUNTS, Ordering::Release);
    }
}

// Also when it ends without a word.
impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.tell.send(News::Over(Ok(code::OWN_FAULT)));
    }
}

/// Carries out a run. When it comes to no start, for whatever reason, what is wanted of it is written all the same
/// where no earlier run has written it.
pub(super) fn run(
    wanted: &Outputs,
    work: impl FnOnce(&Watched) -> Result<u8, Usage> + Send + 'static,
) -> Result<u8, Usage> {
    let (tell, told) = sync_channel(16);
    let stage = Arc::new(AtomicU8::new(PREPARES));
    let heard = tell.clone();
    // Without it a signal ends us at once.
    let _ = stop::each(move |code| drop(heard.try_send(News::Signal(code))));
    let watched = Watched { stage: Arc::clone(&stage), tell };
    let work = move || {
        let ended = work(&watched);
        let _ = watched.tell.send(News::Over(ended));
    };
    let thread = thread::Builder::new().name("exec".into()).stack_size(STACK).spawn(work);
    thread.map_err(|error| Usage(format!("cannot start: {error}")))?;
    let give_up = || stage.compare_exchange(PREPARES, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire).is_ok();
    let (mut until, mut last) = (None, None);
    loop {
        let next: Option<Instant> = [until, last].into_iter().flatten().min();
        let news = match next {
            Some(next) => told.recv_timeout(next.saturating_duration_since(Instant::now())),
            None => told.recv().map_err(RecvTimeoutError::from),
        };
        match news {
            Ok(News::Over(ended)) => {
                // Also of one that ended before it began, whatever it was that kept it.
                if give_up() {
                    write_nothing(wanted);
                }
                return ended;
            }
            Ok(News::Until(time)) => until = Some(time),
            Ok(News::Signal(code)) if give_up() => return Ok(nothing_of(wanted, code)),
            Ok(News::Signal(_)) if stage.load(Ordering::Acquire) == COUNTS => process::end_helpers(),
            Ok(News::Signal(_)) => last = Some(Instant::now() + LAST),
            Err(RecvTimeoutError::Timeout) if until == next && give_up() => {
                return Ok(nothing_of(wanted, code::TIMEOUT));
            }
            Err(RecvTimeoutError::Timeout) if until == next => until = None,
            Err(RecvTimeoutError::Timeout) => {
                process::end_helpers();
                last = None;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(code::OWN_FAULT),
        }
    }
}

/// Said and written of a run that has not begun.
fn nothing_of(wanted: &Outputs, code: u8) -> u8 {
    if code == code::TIMEOUT {
        say(
            "the time given with --timeout is over, and what a run begins with could not be read yet; nothing was started",
        );
    }
    write_nothing(wanted);
    code
}

/// What is wanted of a run that has not begun.
pub(super) fn write_nothing(wanted: &Outputs) {
    if !wanted.is_nothing() {
        let cwd = std::env::current_dir().unwrap_or_default();
        let (command, survivors, ended) = (String::new(), Vec::new(), Vec::new());
        let run = Run { is_begun: false, dir: None, cwd, command, survivors, ended };
        let written = wanted.write(run, &Patience { until: Some(Instant::now()), stop: Arc::default() });
        written.problems.iter().for_each(|problem| say(problem));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_of_a_run_that_fails_before_it_begins_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("review.json");
        let wanted = Outputs::resolve(Some(&file), None, None).unwrap();
        let ended = run(&wanted, |_| Err(Usage("a file of rules cannot be read".into())));
        assert!(ended.is_err());
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    }

    #[test]
    fn a_run_that_comes_to_no_start_in_time_is_given_up_and_starts_nothing() {
        let (hang, hangs) = sync_channel::<()>(0);
        let (tell, told) = sync_channel(1);
        let ended = run(&Outputs::default(), move |watched| {
            watched.counts(Instant::now() + Duration::from_millis(20));
            let _ = hangs.recv();
            let _ = tell.send(watched.begins());
            Ok(code::OK)
        });
        assert_eq!(ended, Ok(code::TIMEOUT));
        drop(hang);
        assert!(!told.recv().unwrap(), "nobody waits for what it would start");
        let ended = run(&Outputs::default(), |watched| {
            let until = Instant::now() + Duration::from_millis(20);
            watched.counts(until);
            assert!(watched.begins());
            // From then on it knows its time itself.
            while Instant::now() < until + Duration::from_millis(20) {
                thread::yield_now();
            }
            Ok(code::NOT_FINISHED)
        });
        assert_eq!(ended, Ok(code::NOT_FINISHED));
    }
}
