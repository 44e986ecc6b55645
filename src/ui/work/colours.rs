//! The worker that colours program text, and what it has found, for the loop of the screen.
//!
//! Knows no review: jobs go in one at a time, coloured lines come out. Invariants: there is no thread before the first
//! job; without one everything stays plain, and [`Colours::next`] never ends.

use super::highlight::{Coloured, Highlighter, Job};
use tokio::sync::mpsc;

pub struct Colours {
    worker: Option<(Highlighter, mpsc::Receiver<Coloured>)>,
    /// Nothing is on its way.
    idle: bool,
}

impl Default for Colours {
    fn default() -> Self {
        Self { worker: None, idle: true }
    }
}

impl Colours {
    /// Whether there may be another job.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    pub fn ask(&mut self, job: Job) {
        if self.worker.is_none() {
            let (found, results) = mpsc::channel(1);
            // Without a thread everything stays plain.
            let worker = Highlighter::start(move |coloured| found.blocking_send(coloured).is_ok());
            self.worker = worker.ok().map(|worker| (worker, results));
        }
        self.idle = !self.worker.as_ref().is_some_and(|(worker, _)| worker.ask(job));
    }

    /// What the last job has found. May be dropped and called again.
    pub async fn next(&mut self) -> Coloured {
        let found = match &mut self.worker {
            Some((_, results)) => results.recv().await,
            None => None,
        };
        match found {
            Some(found) => {
                self.idle = true;
                found
            }
            None => std::future::pending().await,
        }
    }
}
