//! The end of what a process wrote to its error stream, shared between the task that drains it and the front end that
//! shows it.
//!
//! Is never protocol data. Invariant: draining never waits for a reader; only the newest bytes are kept,
//! and lines handed on for recording are dropped when they are not taken in time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

/// Bytes kept unless told otherwise.
pub const KEEP: usize = 64 << 10;
/// A longer line is handed on in pieces.
const MAX_PIECE: usize = 8 << 10;

#[derive(Debug, Default)]
struct Inner {
    tail: VecDeque<u8>,
    part: Vec<u8>,
}

/// A handle; clones share the same tail.
#[derive(Debug, Clone)]
pub struct StderrTail {
    keep: usize,
    inner: Arc<Mutex<Inner>>,
    changed: Arc<Notify>,
    lines: Option<mpsc::Sender<Arc<str>>>,
}

impl Default for StderrTail {
    fn default() -> Self {
        Self::new(KEEP)
    }
}

impl StderrTail {
    pub fn new(keep: usize) -> Self {
        Self { keep, inner: Arc::default(), changed: Arc::default(), lines: None }
    }

    /// Also hands every line to this channel, as long as there is room in it.
    pub fn with_lines(mut self, lines: mpsc::Sender<Arc<str>>) -> Self {
        self.lines = Some(lines);
        self
    }

    /// The kept text. It may begin in the middle of a line.
    pub fn text(&self) -> String {
        let inner = self.lock();
        let (a, b) = inner.tail.as_slices();
        let bytes = [a, b].concat();
        drop(inner);
        // The first character may have been cut in two.
        let cut = bytes.iter().take(3).take_while(|b| **b & 0xC0 == 0x80).count();
        String::from_utf8_lossy(bytes.get(cut..).unwrap_or_default()).into_owned()
    }

    /// The last lines of it, without blank ones.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let text = self.text();
        let mut lines: Vec<String> =
            text.lines().rev().filter(|l| !l.trim().is_empty()).take(count).map(str::to_owned).collect();
        lines.reverse();
        lines
    }

    /// Waits until nothing more has come for `quiet`, at most for `limit`: what was written before something else was
    /// said may be read after it.
    pub async fn quiet_for(&self, quiet: Duration, limit: Duration) {
        let wait = async { while timeout(quiet, self.changed()).await.is_ok() {} };
        // At the limit what is there has to do.
        let _ = timeout(limit, wait).await;
    }

    /// Resolves after the next change, or at once if there was one since the last call. A hint: changes in between
    /// are one.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    pub fn push(&self, bytes: &[u8]) {
        let mut inner = self.lock();
        let newest = bytes.get(bytes.len().saturating_sub(self.keep)..).unwrap_or_default();
        let excess = (inner.tail.len() + newest.len()).saturating_sub(self.keep);
        inner.tail.drain(..excess);
        inner.tail.extend(newest);
        self.hand_on(&mut inner, bytes);
        drop(inner);
        self.changed.notify_one();
    }

    /// Hands on what was begun and not ended by a newline.
    pub fn finish(&self) {
        let mut inner = self.lock();
        self.emit(&mut inner);
    }

    fn hand_on(&self, inner: &mut Inner, bytes: &[u8]) {
        if self.lines.is_none() {
            return;
        }
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let (text, ends) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            for chunk in text.chunks(MAX_PIECE) {
                inner.part.extend_from_slice(chunk);
                if inner.part.len() >= MAX_PIECE {
                    self.emit(inner);
                }
            }
            if ends {
                self.emit(inner);
            }
        }
    }

    fn emit(&self, inner: &mut Inner) {
        let part = std::mem::take(&mut inner.part);
        let Some(lines) = &self.lines else { return };
        let text = String::from_utf8_lossy(&part);
        let text = text.trim_end_matches('\r');
        if !text.is_empty() {
            // Without room the line is in the tail alone.
            let _ = lines.try_send(text.into());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_055_the_newest_bytes_are_kept() {
        let tail = StderrTail::new(8);
        tail.push(b"one\ntwo\n");
        tail.push("é\nend".as_bytes());
        assert_eq!(tail.text(), "o\né\nend");
        tail.push("ééééé".as_bytes());
        assert_eq!(tail.text(), "éééé");
        tail.push("aéééé".repeat(9).as_bytes());
        assert_eq!(tail.text(), "éééé");
        let odd = StderrTail::new(7);
        odd.push("éééé".as_bytes());
        assert_eq!(odd.text(), "ééé");
    }

    #[test]
    fn lines_nobody_takes_are_kept_in_the_tail_alone() {
        let (tx, mut rx) = mpsc::channel(2);
        let tail = StderrTail::default().with_lines(tx);
        tail.push(b"a\r\nb");
        tail.push(b"c\nd\ne");
        tail.finish();
        assert_eq!(rx.try_recv().unwrap().as_ref(), "a");
        assert_eq!(rx.try_recv().unwrap().as_ref(), "bc");
        assert!(rx.try_recv().is_err());
        assert_eq!(tail.text(), "a\r\nbc\nd\ne");
    }
}
