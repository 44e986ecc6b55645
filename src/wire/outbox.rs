//! The lines that wait to be written, in order.
//!
//! Writes nothing itself. Invariant: nothing here waits for the peer, so the reader never stalls on a writer that does
//! the bytes held are bounded, beyond which the connection has to be given up.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc;

/// More bytes than this are not kept waiting.
pub const MAX_BYTES: usize = 64 << 20;
/// Above this many waiting lines no new prompt is accepted; answers always are.
pub const MANY_WAITING: usize = 1000;

/// The peer does not read and the queue is full: the line was not taken and the connection is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the agent has stopped reading its input")]
pub struct Full;

/// The writing task has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the agent's input is closed")]
pub struct WriterGone;

#[derive(Debug, Default)]
pub struct Outbox {
    waiting: VecDeque<Arc<str>>,
    bytes: usize,
    over: bool,
}

impl Outbox {
    pub fn new() -> Self {
        Self::default()
    }

    /// A single line is always taken by an empty queue, however long it is.
    pub fn push(&mut self, line: impl Into<Arc<str>>) -> Result<(), Full> {
        let line = line.into();
        if !self.waiting.is_empty() && self.bytes.saturating_add(line.len()) > MAX_BYTES {
            self.over = true;
            return Err(Full);
        }
        self.bytes = self.bytes.saturating_add(line.len());
        self.waiting.push_back(line);
        Ok(())
    }

    /// A line was refused: the connection is to be closed.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Too many lines wait for a new prompt to make sense.
    pub fn is_crowded(&self) -> bool {
        self.waiting.len() > MANY_WAITING
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }

    /// Hands lines to the writer as it has room. Pending for ever while empty; may be dropped at any await without
    /// losing a line, so it is meant as a branch of a select loop.
    pub async fn ready(&mut self, tx: &mpsc::Sender<Arc<str>>) -> Result<(), WriterGone> {
        if self.waiting.is_empty() {
            std::future::pending::<()>().await;
        }
        let permit = tx.reserve().await.map_err(|_| WriterGone)?;
        if let Some(line) = self.pop() {
            permit.send(line);
        }
        while !self.waiting.is_empty() {
            let Ok(permit) = tx.try_reserve() else { break };
            if let Some(line) = self.pop() {
                permit.send(line);
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> Option<Arc<str>> {
        let line = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(line.len());
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_bounded_but_one_line_always_fits() {
        let mut outbox = Outbox::new();
        outbox.push("x".repeat(MAX_BYTES + 1)).unwrap();
        assert!(!outbox.is_over());
        assert_eq!(outbox.push("y"), Err(Full));
        assert!(outbox.is_over());
        assert_eq!(outbox.len(), 1);
    }

    #[tokio::test]
    async fn lines_move_in_order_as_room_comes_and_none_is_lost() {
        let (tx, mut rx) = mpsc::channel(2);
        let mut outbox = Outbox::new();
        for n in 0..5 {
            outbox.push(n.to_string()).unwrap();
        }
        outbox.ready(&tx).await.unwrap();
        assert_eq!(outbox.len(), 3);
        // No room: dropped while waiting, as a select loop does.
        tokio::select! { biased;
            _ = outbox.ready(&tx) => panic!("there is no room"),
            () = tokio::task::yield_now() => {}
        }
        let mut got = Vec::new();
        while got.len() < 5 {
            got.push(rx.recv().await.unwrap().to_string());
            if !outbox.is_empty() {
                outbox.ready(&tx).await.unwrap();
            }
        }
        assert_eq!(got, ["0", "1", "2", "3", "4"]);
        assert_eq!(outbox.bytes(), 0);
        drop(rx);
        outbox.push("x").unwrap();
        assert_eq!(outbox.ready(&tx).await, Err(WriterGone));
    }
}
