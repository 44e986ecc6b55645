//! Wake hints for the screen: which terminals have news, at most once every `PACE`.
//!
//! A hint carries no content and may be coalesced; the content is fetched. Invariant: the last change of a
//! terminal is always followed by a hint, and the thread sleeps without a timer while nothing changes.

use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;

use super::registry::HintFn;
use super::terminal::TermId;
use crate::host::lock;

/// The least time between two rounds of hints.
pub(super) const PACE: Duration = Duration::from_millis(16);

#[derive(Default)]
struct Pending {
    ids: Vec<TermId>,
    stop: bool,
}

/// Collects changed terminals and calls the hint function from a thread of its own.
pub(super) struct Pacer {
    pending: Mutex<Pending>,
    changed: Condvar,
}

impl Pacer {
    pub(super) fn start(hint: HintFn) -> Arc<Self> {
        let pacer = Arc::new(Self { pending: Mutex::default(), changed: Condvar::new() });
        let weak = Arc::downgrade(&pacer);
        // Without the thread there are no hints, but terminals work.
        let _ = std::thread::Builder::new().name("pty-hints".into()).spawn(move || run(&weak, &hint));
        pacer
    }

    /// The caller keeps a terminal from being marked twice before its news have been fetched.
    pub(super) fn mark(&self, id: &TermId) {
        lock(&self.pending).ids.push(id.clone());
        self.changed.notify_all();
    }

    pub(super) fn stop(&self) {
        lock(&self.pending).stop = true;
        self.changed.notify_all();
    }
}

fn run(pacer: &Weak<Pacer>, hint: &HintFn) {
    while let Some(pacer) = pacer.upgrade() {
        let pending = lock(&pacer.pending);
        let waited = pacer.changed.wait_while(pending, |p| p.ids.is_empty() && !p.stop);
        let mut pending = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        if pending.stop {
            return;
        }
        let ids = std::mem::take(&mut pending.ids);
        drop(pending);
        for id in &ids {
            hint(id);
        }
        let pause = pacer.changed.wait_timeout_while(lock(&pacer.pending), PACE, |p| !p.stop);
        drop(pause);
    }
}
