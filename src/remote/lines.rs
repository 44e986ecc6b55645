//! What the two ways over HTTP have in common: messages that wait to be sent, how one comes out, and how a refusal is told.
//!
//! Invariant: what waits is bounded in messages and bytes, but one is always taken.

use super::Lost;
use super::saying::Failure;
use crate::wire::frame::{RawId, response_err};
use crate::wire::framing::MAX_LINE;
use crate::wire::route::{Kind, Route};
use crate::wire::rpc_error::{INTERNAL_ERROR, RpcError};
use hyper::body::Bytes;
use serde_json::json;
use std::sync::Arc;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tracing::warn;

/// Messages, and their bytes, that wait to be sent.
const WAITING: usize = 1024;
const WAITING_BYTES: usize = 32 << 20;

/// A message with the room that it takes until it is dropped.
pub(super) type Waiting = (Bytes, OwnedSemaphorePermit);

pub(super) struct Sender {
    messages: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

pub(super) fn queue() -> (Sender, mpsc::Receiver<Waiting>) {
    let (messages, receiver) = mpsc::channel(WAITING);
    (Sender { messages, room: Arc::new(Semaphore::new(WAITING_BYTES)) }, receiver)
}

impl Sender {
    /// Waits until there is room.
    async fn send(&self, message: Bytes) {
        let bytes = message.len().min(WAITING_BYTES) as u32;
        if let Ok(room) = Arc::clone(&self.room).acquire_many_owned(bytes).await {
            // Without a receiver everything ends.
            let _ = self.messages.send((message, room)).await;
        }
    }
}

/// Puts what is to be sent into a queue, and what is of this kind into one of its own, until there is nothing more.
pub(super) async fn sort(
    mut reader: impl AsyncBufRead + Unpin,
    (kind, own): (Kind, Sender),
    others: Sender,
) -> Result<(), Lost> {
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).await.is_ok_and(|count| count > 0) {
        let mut message = std::mem::take(&mut line);
        message.truncate(message.trim_ascii_end().len());
        let queue = if Route::of(&message).kind == kind { &own } else { &others };
        queue.send(message.into()).await;
    }
    Ok(())
}

/// Hands on a message that has come.
pub(super) async fn write(writer: &Mutex<DuplexStream>, message: &[u8]) -> Result<(), Lost> {
    let mut lines = Vec::with_capacity(message.len() + 1);
    add_line(message, &mut lines);
    write_lines(writer, &mut lines).await
}

/// Messages that have come together are handed on together: who reads them is not woken for each.
pub(super) async fn write_lines(writer: &Mutex<DuplexStream>, lines: &mut Vec<u8>) -> Result<(), Lost> {
    if lines.is_empty() {
        return Ok(());
    }
    let written = writer.lock().await.write_all(lines).await;
    lines.clear();
    written.map_err(|_| "the connection is not read any more".to_owned().into())
}

pub(super) fn add_line(message: &[u8], lines: &mut Vec<u8>) {
    let begin = lines.len();
    lines.extend_from_slice(message);
    // Between the values of JSON there may be line ends.
    for at in memchr::memchr_iter(b'\n', message) {
        lines[begin + at] = b' ';
    }
    lines.push(b'\n');
}

/// What stands for the answer to a message that the server has refused; the connection ends where it is not good for any
/// other either.
pub(super) fn not_taken(id: Option<&RawId>, failure: Failure) -> Result<Option<String>, Lost> {
    if matches!(failure.status, None | Some(300..=399 | 401 | 403 | 404)) {
        return Err(failure.lost);
    }
    let Some(id) = id else {
        warn!(status = failure.status, "the server has not taken a notification");
        return Ok(None);
    };
    let after = failure.lost.retry_after.map(|after| after.as_secs());
    let mut error = RpcError::new(INTERNAL_ERROR, failure.lost.why);
    if failure.status == Some(429) {
        error = error.with_data(json!({ "reason": "rate_limited", "retryAfter": after }));
    }
    Ok(Some(response_err(id, &error)))
}

pub(super) fn too_long() -> Lost {
    format!("the agent sent a message of more than {MAX_LINE} bytes").into()
}
