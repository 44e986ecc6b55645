//! What the engine waits for, piece by piece. Each may be dropped at any time and begun again without a loss.

use super::decoding::Decoding;
use super::run::Wake;
use super::running::Running;
use crate::agent::codec::Decoded;
use crate::wire::outbox::{Load, Outbox};
use tokio::sync::mpsc;

/// What the agent process does next.
pub(super) async fn agent_wake(running: &mut Option<Running>) -> Wake {
    let Some(running) = running else { return std::future::pending().await };
    let (exited, closed) = (running.has_exited(), running.is_closed());
    let Running { far, incoming, decoding, stderr_lines, outbox, tx, .. } = running;
    let idle = decoding.is_none();
    tokio::select! {
        biased;
        Some(line) = stderr_lines.recv() => Wake::Stderr(line),
        written = write(outbox, tx.as_ref()) => if written { Wake::Written } else { Wake::InputClosed },
        decoded = decoded(decoding) => Wake::Decoded(decoded),
        Some(incoming) = incoming.recv(), if !closed && idle => Wake::Incoming(incoming),
        exit = far.wait(), if !exited => Wake::Exited(exit),
        else => std::future::pending().await,
    }
}

async fn write(outbox: &mut Outbox, tx: Option<&mpsc::Sender<Load>>) -> bool {
    match tx {
        Some(tx) => outbox.ready(tx).await.is_ok(),
        None => std::future::pending().await,
    }
}

async fn decoded(decoding: &mut Option<Decoding>) -> Decoded {
    match decoding {
        Some(decoding) => decoding.done().await,
        None => std::future::pending().await,
    }
}
