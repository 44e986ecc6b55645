//! What the two ways over HTTP have in common: messages that wait to be sent, how one comes out, and how a refusal is told.
//!
//! Invariants: what waits is bounded in messages and bytes, but one is always taken; of a large message that has come no copy is
//! made.

use super::Lost;
use super::saying::Failure;
use crate::wire::frame::{RawId, response_err};
use crate::wire::framing::MAX_LINE;
use crate::wire::route::{Kind, Route};
use crate::wire::rpc_error::{INTERNAL_ERROR, RpcError};
use hyper::body::Bytes;
use serde_json::json;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tracing::warn;

/// Messages, and their bytes, that wait to be sent.
const WAITING: usize = 1024;
const WAITING_BYTES: usize = 32 << 20;
/// Bytes of messages that are handed on together, where they have come together.
pub(super) const TOGETHER: usize = 64 << 10;

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
    let mut lines = Vec::new();
    hand_on(writer, message, &mut lines).await?;
    write_lines(writer, &mut lines).await
}

/// Adds a message to those that are handed on together; a large one goes at once, behind them, so that there is no second
/// copy of it.
pub(super) async fn hand_on(writer: &Mutex<DuplexStream>, message: &[u8], lines: &mut Vec<u8>) -> Result<(), Lost> {
    if message.len() < TOGETHER {
        add_line(message, lines);
        return Ok(());
    }
    write_lines(writer, lines).await?;
    write_pieces(&mut *writer.lock().await, message).await.map_err(|_| not_read().into())
}

/// Messages that have come together are handed on together: who reads them is not woken for each.
pub(super) async fn write_lines(writer: &Mutex<DuplexStream>, lines: &mut Vec<u8>) -> Result<(), Lost> {
    if lines.is_empty() {
        return Ok(());
    }
    let written = writer.lock().await.write_all(lines).await;
    lines.clear();
    written.map_err(|_| not_read().into())
}

/// Writes a large message as a line, of which no copy is made.
pub(super) async fn write_pieces(writer: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> io::Result<()> {
    let mut piece = Vec::with_capacity(message.len().min(TOGETHER));
    for part in message.chunks(TOGETHER) {
        piece.clear();
        add(part, &mut piece);
        writer.write_all(&piece).await?;
    }
    writer.write_all(b"\n").await
}

pub(super) fn add_line(message: &[u8], lines: &mut Vec<u8>) {
    add(message, lines);
    lines.push(b'\n');
}

fn add(part: &[u8], lines: &mut Vec<u8>) {
    let begin = lines.len();
    lines.extend_from_slice(part);
    // Between the values of JSON there may be line ends.
    for at in memchr::memchr_iter(b'\n', part) {
        lines[begin + at] = b' ';
    }
}

pub(super) fn not_read() -> String {
    "the connection is not read any more".to_owned()
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
