//! The runtime on which an engine and its front end run. Invariant: two threads on any machine.

use super::usage::Usage;
pub(super) use tokio::runtime::Runtime;

pub(super) fn start() -> Result<Runtime, Usage> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Usage(format!("cannot start: {e}")))
}
