//! Standard output behind a bounded queue: a reader that is slow holds the engine back, never blocks it.

use super::code;
use crate::engine::wait::{Signals, sleep_until};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes that may wait for the reader before no more of the agent is read.
const MANY: usize = 1 << 20;
/// How long the rest of the output may take once a signal or the timeout has ended the run.
const LAST_OUTPUT: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub struct Printer {
    queue: VecDeque<String>,
    bytes: usize,
    tx: mpsc::Sender<String>,
    error: Arc<Mutex<Option<io::Error>>>,
    writer: JoinHandle<()>,
}

impl Printer {
    pub fn new(mut sink: impl Write + Send + 'static) -> Self {
        let (tx, mut rx) = mpsc::channel::<String>(16);
        let error: Arc<Mutex<Option<io::Error>>> = Arc::default();
        let told = Arc::clone(&error);
        let writer = tokio::task::spawn_blocking(move || {
            while let Some(text) = rx.blocking_recv() {
                if let Err(error) = sink.write_all(text.as_bytes()).and_then(|()| sink.flush()) {
                    *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return;
                }
            }
        });
        Self { queue: VecDeque::new(), bytes: 0, tx, error, writer }
    }

    pub fn print(&mut self, text: String) {
        if !text.is_empty() {
            self.bytes += text.len();
            self.queue.push_back(text);
        }
    }

    pub fn is_behind(&self) -> bool {
        self.bytes > MANY
    }

    /// Whether there is text that was not handed on.
    pub fn waits(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Hands text on as there is room; pending for ever while there is none. `Err` when the reader has gone.
    pub async fn pump(&mut self) -> Result<(), ReaderGone> {
        if self.queue.is_empty() {
            self.tx.closed().await;
            return Err(ReaderGone);
        }
        let permit = self.tx.reserve().await.map_err(|_| ReaderGone)?;
        if let Some(text) = self.queue.pop_front() {
            self.bytes -= text.len();
            permit.send(text);
        }
        Ok(())
    }

    /// Writes what is left. The error is the one that ended the writing, if any.
    pub async fn finish(mut self) -> Option<io::Error> {
        while !self.queue.is_empty() {
            if self.pump().await.is_err() {
                break;
            }
        }
        let Self { tx, error, writer, .. } = self;
        drop(tx);
        let _ = writer.await;
        error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[derive(Debug)]
pub struct ReaderGone;

/// Ends when no more is to be waited for a reader that is slow: soon when the time was up or a signal came before, as the
/// exit code says, else with a signal that comes now or when the time given is over. Gives the exit code.
pub(super) async fn reader_patience(code: u8, deadline: Option<Instant>, signals: &mut Signals) -> u8 {
    if code::is_cut(code) {
        tokio::time::sleep(LAST_OUTPUT).await;
        return code;
    }
    tokio::select! {
        signal = signals.next() => signal.exit_code(),
        () = sleep_until(deadline) => code::TIMEOUT,
    }
}
