//! Ends commands: asks first, and kills what is still there after a moment.
//!
//! One thread for all of them, which looks at the processes once for many: each look costs as much as there are
//! processes on the machine. Invariant: a process that was asked is killed after `KILL_GRACE` if anything of it is
//! left.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use rustix::process::Signal;

use super::groups::Processes;
use super::terminal::{KILL_GRACE, Terminal, thread};
use crate::host::lock;

#[derive(Default)]
struct Queue {
    /// Not asked yet.
    fresh: Vec<Arc<Terminal>>,
    /// Asked, and when they are to be gone; the oldest first.
    asked: Vec<(Instant, Arc<Terminal>)>,
    /// The thread is there.
    works: bool,
    stop: bool,
}

#[derive(Default)]
pub(super) struct Killer {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Killer {
    /// Does not wait. The caller sees to it that no terminal is given twice.
    pub(super) fn end(self: &Arc<Self>, terminal: Arc<Terminal>) {
        let mut queue = lock(&self.queue);
        queue.fresh.push(terminal);
        if !queue.works {
            let this = Arc::clone(self);
            queue.works = thread("pty-kill", move || this.work()).is_ok();
        }
        if !queue.works {
            let fresh = std::mem::take(&mut queue.fresh);
            drop(queue);
            signal(&fresh, &[Signal::KILL]);
            return;
        }
        self.changed.notify_all();
    }

    /// Another thread kills them all.
    pub(super) fn stop(&self) {
        let mut queue = lock(&self.queue);
        queue.stop = true;
        queue.fresh.clear();
        queue.asked.clear();
        self.changed.notify_all();
    }

    /// Until no process is left.
    fn work(&self) {
        loop {
            let mut queue = lock(&self.queue);
            let fresh = std::mem::take(&mut queue.fresh);
            let now = Instant::now();
            let due = queue.asked.partition_point(|(end, _)| *end <= now);
            let late: Vec<_> = queue.asked.drain(..due).map(|(_, terminal)| terminal).collect();
            if !fresh.is_empty() || !late.is_empty() {
                drop(queue);
                // A stopped process would never see the first signal.
                signal(&fresh, &[Signal::TERM, Signal::CONT]);
                // The command may be gone and a child of it still be there.
                signal(&late, &[Signal::KILL]);
                let end = Instant::now() + KILL_GRACE;
                let mut queue = lock(&self.queue);
                if !queue.stop {
                    queue.asked.extend(fresh.into_iter().map(|terminal| (end, terminal)));
                }
                continue;
            }
            let Some((end, _)) = queue.asked.first() else {
                queue.works = false;
                return;
            };
            let left = end.saturating_duration_since(now);
            let waited = self.changed.wait_timeout_while(queue, left, |queue| queue.fresh.is_empty() && !queue.stop);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Sends signals to all of them, each once, after one look at the processes.
pub(super) fn signal(terminals: &[Arc<Terminal>], signals: &[Signal]) {
    if terminals.is_empty() {
        return;
    }
    let each = || signals.iter().flat_map(|signal| terminals.iter().map(|terminal| (terminal, *signal)));
    // First what is known without a look: it is what burns the time.
    let had: Vec<bool> = each().map(|(terminal, signal)| terminal.signal_leader(signal)).collect();
    let processes = Processes::look();
    for ((terminal, signal), had) in each().zip(had) {
        terminal.signal(&processes, signal, had);
    }
}
