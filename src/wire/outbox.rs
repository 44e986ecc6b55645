//! The lines that wait to be written, in order.
//!
//! Writes nothing itself. Invariant: nothing here waits for the peer, so the reader never stalls on a writer that does
//! a byte counts until it is written, and when too many wait the connection has to be given up.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::framing::Agreed;
use tokio::sync::mpsc;

/// While so many bytes wait no line is taken: what is held is never more than this and one line.
pub const MAX_BYTES: usize = 64 << 20;
/// Loads that may wait inside the writer, besides the one that is being written.
pub const LOADS: usize = 1;
/// A line of this many bytes is not copied on its way out; shorter ones are joined up to this size.
const JOINED: usize = 64 << 10;
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

/// What the writer takes at once: several short lines, so that the peer wakes up once, or a long one. Dropping it makes
/// room for more bytes.
#[derive(Debug)]
pub struct Load {
    text: Text,
    bytes: usize,
    under_way: Arc<AtomicUsize>,
}

#[derive(Debug)]
enum Text {
    /// With what stands around each.
    Joined(Vec<u8>),
    Long {
        head: Vec<u8>,
        line: Arc<str>,
        tail: &'static [u8],
    },
}

impl Load {
    /// The bytes in the order in which they are to be written.
    pub fn parts(&self) -> [&[u8]; 3] {
        match &self.text {
            Text::Joined(lines) => [lines, b"", b""],
            Text::Long { head, line, tail } => [head, line.as_bytes(), tail],
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.under_way.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub struct Outbox {
    framing: Agreed,
    waiting: VecDeque<Arc<str>>,
    /// Of the lines in `waiting`.
    bytes: usize,
    /// Handed over and not yet written.
    under_way: Arc<AtomicUsize>,
    over: bool,
}

impl Outbox {
    pub fn new(framing: impl Into<Agreed>) -> Self {
        Self { framing: framing.into(), waiting: VecDeque::new(), bytes: 0, under_way: Arc::default(), over: false }
    }

    /// A single line is always taken when nothing waits, however long it is.
    pub fn push(&mut self, line: impl Into<Arc<str>>) -> Result<(), Full> {
        if self.bytes() >= MAX_BYTES {
            self.over = true;
            return Err(Full);
        }
        let line = line.into();
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

    /// Bytes that are not written yet, with those the writer has.
    pub fn bytes(&self) -> usize {
        self.bytes.saturating_add(self.under_way.load(Ordering::Relaxed))
    }

    /// Forgets what the writer has not yet.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }

    /// Hands lines to the writer as it has room. Pending for ever while empty; may be dropped at any await without
    /// losing a line, so it is meant as a branch of a select loop.
    pub async fn ready(&mut self, tx: &mpsc::Sender<Load>) -> Result<(), WriterGone> {
        if self.waiting.is_empty() {
            std::future::pending::<()>().await;
        }
        let permit = tx.reserve().await.map_err(|_| WriterGone)?;
        if let Some(load) = self.load() {
            permit.send(load);
        }
        Ok(())
    }

    fn load(&mut self) -> Option<Load> {
        let first = self.pop()?;
        let mut bytes = first.len();
        let text = if first.len() < JOINED {
            let mut lines = Vec::with_capacity(first.len() + 1);
            append(&mut lines, &first, &self.framing);
            while self.waiting.front().is_some_and(|next| lines.len() + next.len() < JOINED) {
                let Some(line) = self.pop() else { break };
                bytes += line.len();
                append(&mut lines, &line, &self.framing);
            }
            Text::Joined(lines)
        } else {
            let mut head = Vec::new();
            self.framing.head(first.len(), &mut head);
            Text::Long { head, line: first, tail: self.framing.tail() }
        };
        self.under_way.fetch_add(bytes, Ordering::Relaxed);
        Some(Load { text, bytes, under_way: Arc::clone(&self.under_way) })
    }

    fn pop(&mut self) -> Option<Arc<str>> {
        let line = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(line.len());
        Some(line)
    }
}

fn append(lines: &mut Vec<u8>, line: &str, framing: &Agreed) {
    framing.head(line.len(), lines);
    lines.extend_from_slice(line.as_bytes());
    lines.extend_from_slice(framing.tail());
}

#[cfg(test)]
mod tests {
    use super::super::framing::Framing;
    use super::*;

    fn lines(load: &Load) -> Vec<String> {
        let text = String::from_utf8(load.parts().concat()).unwrap();
        assert!(text.ends_with('\n'));
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn bytes_are_bounded_but_one_line_always_fits() {
        let mut outbox = Outbox::new(Framing::Lines);
        outbox.push("x".repeat(MAX_BYTES + 1)).unwrap();
        assert!(!outbox.is_over());
        assert_eq!(outbox.push("y"), Err(Full));
        assert!(outbox.is_over());
        assert_eq!(outbox.len(), 1);
    }

    #[tokio::test]
    async fn a_byte_counts_until_it_is_written() {
        let (tx, mut rx) = mpsc::channel(LOADS);
        let mut outbox = Outbox::new(Framing::Lines);
        let line: Arc<str> = "x".repeat(MAX_BYTES / 4).into();
        for n in 1..=3 {
            outbox.push(Arc::clone(&line)).unwrap();
            assert_eq!(outbox.bytes(), n * line.len());
        }
        outbox.ready(&tx).await.unwrap();
        assert_eq!((outbox.len(), outbox.bytes()), (2, 3 * line.len()));
        let writing = rx.recv().await.unwrap();
        outbox.ready(&tx).await.unwrap();
        outbox.push(Arc::clone(&line)).unwrap();
        assert_eq!(outbox.bytes(), MAX_BYTES);
        assert_eq!(outbox.push("y"), Err(Full));
        drop(writing);
        assert_eq!(outbox.bytes(), 3 * line.len());
        outbox.push("y").unwrap();
        drop(rx);
        outbox.clear();
        assert_eq!(outbox.bytes(), 0, "what nobody will write waits no more");
    }

    #[tokio::test]
    async fn short_lines_go_out_together_and_a_long_one_alone() {
        let (tx, mut rx) = mpsc::channel(LOADS);
        let mut outbox = Outbox::new(Framing::Lines);
        let long = "y".repeat(JOINED);
        for line in ["a", "b", &long, "c"] {
            outbox.push(line).unwrap();
        }
        for expected in [vec!["a", "b"], vec![long.as_str()], vec!["c"]] {
            outbox.ready(&tx).await.unwrap();
            assert_eq!(lines(&rx.recv().await.unwrap()), expected);
        }
        assert_eq!(outbox.bytes(), 0);
    }

    #[tokio::test]
    async fn lines_move_in_order_as_room_comes_and_none_is_lost() {
        let (tx, mut rx) = mpsc::channel(LOADS);
        let mut outbox = Outbox::new(Framing::Lines);
        let half = JOINED / 2;
        for n in 0..5 {
            outbox.push(format!("{n:half$}")).unwrap();
        }
        outbox.ready(&tx).await.unwrap();
        assert_eq!(outbox.len(), 4);
        // No room: dropped while waiting, as a select loop does.
        tokio::select! { biased;
            _ = outbox.ready(&tx) => panic!("there is no room"),
            () = tokio::task::yield_now() => {}
        }
        let mut got = Vec::new();
        while got.len() < 5 {
            got.extend(lines(&rx.recv().await.unwrap()).iter().map(|line| line.trim().to_owned()));
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
