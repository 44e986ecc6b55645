//! How far the undo of many files has come, on standard error.
//!
//! Decides nothing but when to say it. Invariant: few files leave no word, and a line on a terminal that is written
//! over is gone at the end.

use super::output::say;
use crate::base::human::thousands;
use crate::headless::stop::Stop;
use crate::model::changes::ReviewAction;
use crate::review::error::ReviewError;
use crate::review::protocol::{Done, Progress};
use crate::review::session::{self as review, ReviewSession};
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Fewer files take no time that would be worth a word.
const FROM: usize = 1000;
/// Between two figures on a terminal.
const PACE: Duration = Duration::from_millis(100);
/// Files between two lines where there is no terminal.
const STEP: usize = 10_000;

/// Carries out an action that may write many files; `doing` says what it does. The exit code when a signal stopped it:
/// then the rest is still to be done.
pub(super) fn act(
    review: &mut ReviewSession,
    action: &ReviewAction,
    doing: &'static str,
) -> Result<(Done, Option<u8>), ReviewError> {
    let (_, watch) = watch(doing);
    review.watched(Some(Box::new(watch)));
    // What else is asked of it ends with a signal, too, which from here on does not end the program by itself.
    review.stops(stop());
    let done = review.act(action);
    // The line goes with it.
    review.watched(None);
    let done = done?;
    let Some(far) = done.stopped else { return Ok((done, None)) };
    say(&stopped(far));
    Ok((done, asked()))
}

/// One for all that this process does: the signal is meant for each of them.
static STOP: OnceLock<Option<Stop>> = OnceLock::new();

/// The exit code when a signal has asked since the first [`act`] that all of it ends.
pub(super) fn asked() -> Option<u8> {
    STOP.get()?.as_ref()?.asked()
}

/// Whether it has, for what may take long; nothing before the first [`act`].
pub(super) fn stop() -> Option<review::Stop> {
    STOP.get()?.as_ref()?;
    Some(Arc::new(|| asked().is_some()))
}

/// Shows how far work has come, and says to it that a signal has asked it to stop.
pub(super) fn watch(doing: &'static str) -> (Option<Stop>, impl FnMut(Progress) -> bool + Send + use<>) {
    // Without it a signal ends us at once, as it would a program that is killed.
    let stop = STOP.get_or_init(|| Stop::listen().ok()).clone();
    let asked = stop.clone();
    let mut line = Line::new(io::stderr(), io::stderr().is_terminal(), doing);
    let watch = move |far| {
        line.show(far, Instant::now());
        asked.as_ref().and_then(Stop::asked).is_none()
    };
    (stop, watch)
}

pub(super) fn stopped(far: Progress) -> String {
    let (done, of) = (thousands(far.done as u64), thousands(far.of as u64));
    format!("stopped: {done} of {of} files are done; the same command again does the rest")
}

struct Line<W: Write> {
    out: W,
    terminal: bool,
    doing: &'static str,
    /// Letters that stand on the terminal.
    wide: usize,
    /// When the last figure was shown on a terminal.
    shown: Option<Instant>,
    /// Files that the last line was about.
    said: usize,
}

impl<W: Write> Line<W> {
    const fn new(out: W, terminal: bool, doing: &'static str) -> Self {
        Self { out, terminal, doing, wide: 0, shown: None, said: 0 }
    }

    fn show(&mut self, far: Progress, now: Instant) {
        if far.of < FROM {
            return;
        }
        let words = format!("{} {} of {} files", self.doing, thousands(far.done as u64), thousands(far.of as u64));
        // Standard error may be closed: then the line is dropped.
        if self.terminal {
            if self.shown.is_none_or(|shown| now.duration_since(shown) >= PACE) {
                let _ = write!(self.out, "\r{words}").and_then(|()| self.out.flush());
                (self.shown, self.wide) = (Some(now), self.wide.max(words.len()));
            }
        } else if far.done / STEP > self.said / STEP {
            let _ = writeln!(self.out, "acp-tui: {words}");
            self.said = far.done;
        }
    }
}

impl<W: Write> Drop for Line<W> {
    fn drop(&mut self) {
        if self.wide > 0 {
            let _ = write!(self.out, "\r{:1$}\r", "", self.wide).and_then(|()| self.out.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(terminal: bool, of: usize, step: usize, millis: u64) -> String {
        let mut out = Vec::new();
        let mut line = Line::new(&mut out, terminal, "taking back");
        let begin = Instant::now();
        for (at, done) in (0..of).step_by(step).enumerate() {
            line.show(Progress { done, of }, begin + Duration::from_millis(millis * at as u64));
        }
        drop(line);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_terminal_has_one_line_that_is_written_over_ten_times_a_second_and_goes() {
        let text = shown(true, 1200, 300, 100);
        let figures = ["0", "300", "600", "900"].map(|n| format!("\rtaking back {n} of 1,200 files"));
        assert_eq!(text, format!("{}\r{:30}\r", figures.concat(), ""));
        // A hundred batches in one second.
        assert_eq!(shown(true, 100_000, 1000, 10).matches("files").count(), 10);
        assert!(!text.contains('\n'));
    }

    #[test]
    fn elsewhere_there_are_few_lines_and_for_few_files_none() {
        let text = shown(false, 60_000, 256, 1);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert_eq!(lines[0], "acp-tui: taking back 10,240 of 60,000 files");
        assert_eq!(shown(false, 9000, 256, 1000), "");
        assert_eq!(shown(true, 900, 256, 1000), "");
    }

    #[test]
    fn a_stop_says_how_far_it_came_and_what_goes_on_with_it() {
        let words = stopped(Progress { done: 12_032, of: 60_000 });
        assert_eq!(words, "stopped: 12,032 of 60,000 files are done; the same command again does the rest");
    }
}
