//! Standard error of a run: who does not read it holds nothing up for long.
//!
//! Text goes out in order, from a thread of its own. Invariants: nothing here waits without a bound; what is not taken in
//! time is left out, and all that would come after it.

use super::printer::Printer;
use crate::base::sanitize;
use crate::engine::wait::sleep_until;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use tracing::warn;

/// How long text may wait of which nothing is taken.
const STUCK: Duration = Duration::from_secs(3);
/// How long the last of it may take.
const LAST: Duration = Duration::from_millis(500);

/// One line may take as long as it does.
const FREE: u8 = 0;
/// No line may.
const BOUNDED: u8 = 1;
/// Nobody reads.
const GIVEN_UP: u8 = 2;
static NOW: AtomicU8 = AtomicU8::new(FREE);

/// From now on no line holds the program up.
pub fn bound() {
    let _ = NOW.compare_exchange(FREE, BOUNDED, Ordering::Relaxed, Ordering::Relaxed);
}

/// Writes a text at once. Standard error may be closed: then it is dropped.
pub fn write(text: String) {
    match NOW.load(Ordering::Relaxed) {
        FREE => drop(io::stderr().write_all(text.as_bytes())),
        BOUNDED => {
            let (done, is_done) = sync_channel(1);
            let writing = std::thread::Builder::new().name("stderr".into()).spawn(move || {
                let _ = io::stderr().write_all(text.as_bytes());
                let _ = done.send(());
            });
            if writing.is_ok() && is_done.recv_timeout(LAST).is_err() {
                give_up();
            }
        }
        _ => {}
    }
}

fn give_up() {
    warn!("nobody reads standard error: what would be said is left out");
    NOW.store(GIVEN_UP, Ordering::Relaxed);
}

/// What a run says while it goes on.
pub(super) struct Said {
    printer: Option<Printer>,
    /// Since when text waits of which nothing was taken.
    since: Option<Instant>,
}

impl Said {
    pub(super) fn new() -> Self {
        bound();
        Self { printer: Some(Printer::new(io::stderr())), since: None }
    }

    pub(super) fn print(&mut self, text: String) {
        if let Some(printer) = &mut self.printer
            && !text.is_empty()
        {
            printer.print(text);
            self.since.get_or_insert_with(Instant::now);
        }
    }

    /// A line of ours, with more below it.
    pub(super) fn say(&mut self, words: &str, detail: &[String]) {
        let mut text = format!("acp-tui: {}\n", sanitize::line(words));
        for line in detail {
            text.push_str("  ");
            text.push_str(&sanitize::line(line));
            text.push('\n');
        }
        self.print(text);
    }

    pub(super) fn is_behind(&self) -> bool {
        self.printer.as_ref().is_some_and(Printer::is_behind)
    }

    /// Hands text on as there is room; pending for ever while there is nothing to hand on.
    pub(super) async fn pump(&mut self) {
        let (Some(printer), Some(since)) = (&mut self.printer, self.since) else { return std::future::pending().await };
        let is_taken = tokio::select! {
            biased;
            taken = printer.pump() => taken.is_ok(),
            () = sleep_until(Some(since + STUCK)) => {
                give_up();
                false
            }
        };
        let is_left = printer.waits();
        self.since = (is_taken && is_left).then(Instant::now);
        if !is_taken {
            self.printer = None;
        }
    }

    /// Writes what is left, within a bound.
    pub(super) async fn finish(self) {
        let Some(printer) = self.printer else { return };
        if tokio::time::timeout(LAST, printer.finish()).await.is_err() {
            give_up();
        }
    }
}
