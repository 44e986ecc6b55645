//! The tasks that move bytes: one reads and parses, one drains the error stream, one writes.
//!
//! No protocol logic. Invariant: frames arrive in byte order; what is read ahead of the consumer is bounded in frames
//! and in bytes, beyond which the pipe itself holds the peer back; a large line is read when nothing else of its stream is
//! under way; lines are written whole, one after the other (R-024).

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::frame::Frame;
use super::framing::{Agreed, Decoded};
use super::json;
use super::outbox::{LOADS, Load};
use super::stderr::StderrTail;
use crate::base::shared::SharedText;

/// Methods of requests that are taken word for word.
pub type WordForWord = &'static [&'static str];

/// Room for the channel `spawn_reader` sends on. What waits in it is to fit into a core's cache, and each thread that reads
/// keeps as much memory for the next flood.
pub const INBOX: usize = 4;

const BLOCK: usize = 128 << 10;
const BATCH_FRAMES: usize = 512;
const BATCH_BYTES: usize = 256 << 10;
/// Bytes of frames that may be under way to the consumer, and that it may hold on to for what they have led to.
const INBOX_BYTES: usize = 32 << 20;
/// Of a line with more bytes no more are read before all others have been dealt with: several copies of such a line live at
/// once while it is, and those of two lines would add up.
pub const LARGE: usize = 1 << 20;

/// What is read sooner than that was there before it was asked for, however late the system says so.
const AT_ONCE: Duration = Duration::from_millis(200);
/// Who waits for a line is woken within this time of its writing, unless the machine is very busy.
const WOKEN: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub enum Incoming {
    Frames(Batch),
    /// The last message. A last line without its newline is given separately: it may be torn.
    Closed {
        half_line: Option<(Frame, SharedText)>,
        error: Option<io::Error>,
    },
}

/// Frames with their lines, in order.
#[derive(Debug)]
pub struct Batch {
    pub frames: Vec<(Frame, SharedText)>,
    /// The peer has written them no earlier.
    pub since: Instant,
    pub room: Option<Room>,
}

/// What the lines of a batch take of the bytes that may be under way. Dropping it makes room for more of them.
#[derive(Debug)]
pub struct Room {
    _permit: OwnedSemaphorePermit,
}

/// Reads until the end of the stream or until the receiver is gone.
pub fn spawn_reader(
    source: impl AsyncRead + Send + Unpin + 'static,
    tx: mpsc::Sender<Incoming>,
    words: WordForWord,
    framing: impl Into<Agreed>,
) -> JoinHandle<()> {
    tokio::spawn(read_all(source, Batcher::new(tx, words), framing.into()))
}

async fn read_all(mut source: impl AsyncRead + Send + Unpin, mut batcher: Batcher, framing: Agreed) {
    let mut decoder = framing.decoder();
    let mut block = vec![0; BLOCK];
    let mut emptied = Instant::now();
    let error = 'reading: loop {
        let asked = Instant::now();
        let count = match source.read(&mut block).await {
            Ok(0) => break None,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break Some(error),
        };
        let now = Instant::now();
        batcher.since = came(emptied, asked, now);
        if count < BLOCK {
            emptied = now;
        }
        let mut lines = Vec::new();
        decoder.push(block.get(..count).unwrap_or_default(), &mut lines);
        for line in lines {
            if let Decoded::Lost(why) = line {
                if batcher.send().await.is_err() {
                    return;
                }
                break 'reading Some(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            if batcher.add(line).await.is_err() {
                return;
            }
        }
        if batcher.send().await.is_err() || decoder.begun() > LARGE && batcher.wait_for_others().await.is_err() {
            return;
        }
    };
    let half_line = decoder.finish().and_then(|line| to_frame(line, batcher.words));
    // Without a receiver the fact is dropped.
    let _ = batcher.tx.send(Incoming::Closed { half_line, error }).await;
}

/// From when on what is read `now` may have been written, where it was asked for then. What was there already has come since
/// the pipe was empty: as long as lines before it are read and wait for room, nobody looks at the pipe.
fn came(emptied: Instant, asked: Instant, now: Instant) -> Instant {
    if now.saturating_duration_since(asked) < AT_ONCE { emptied } else { now.checked_sub(WOKEN).unwrap_or(now) }
}

/// Collects what one read delivered into batches of bounded size.
struct Batcher {
    tx: mpsc::Sender<Incoming>,
    words: WordForWord,
    room: Arc<Semaphore>,
    /// All of it, for the large line that is being read.
    all_room: Option<Room>,
    frames: Vec<(Frame, SharedText)>,
    since: Instant,
    bytes: usize,
}

struct NobodyListens;

impl Batcher {
    fn new(tx: mpsc::Sender<Incoming>, words: WordForWord) -> Self {
        let room = Arc::new(Semaphore::new(INBOX_BYTES));
        Self { tx, words, room, all_room: None, frames: Vec::new(), since: Instant::now(), bytes: 0 }
    }

    async fn add(&mut self, line: Decoded<'_>) -> Result<(), NobodyListens> {
        let Some((frame, text)) = to_frame(line, self.words) else { return Ok(()) };
        self.bytes = self.bytes.saturating_add(text.len());
        self.frames.push((frame, text));
        if self.frames.len() >= BATCH_FRAMES || self.bytes >= BATCH_BYTES {
            return self.send().await;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<(), NobodyListens> {
        if self.frames.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.bytes);
        let room = match self.all_room.take() {
            Some(room) => Some(room),
            None => self.room_for(bytes).await?,
        };
        let batch = Batch { frames: std::mem::take(&mut self.frames), since: self.since, room };
        self.tx.send(Incoming::Frames(batch)).await.map_err(|_| NobodyListens)
    }

    /// Waits until nothing that was sent is under way any more; nothing is then, before the next is sent.
    async fn wait_for_others(&mut self) -> Result<(), NobodyListens> {
        if self.all_room.is_none() {
            self.all_room = self.room_for(INBOX_BYTES).await?;
        }
        Ok(())
    }

    async fn room_for(&self, bytes: usize) -> Result<Option<Room>, NobodyListens> {
        let bytes = bytes.min(INBOX_BYTES) as u32;
        tokio::select! {
            room = Arc::clone(&self.room).acquire_many_owned(bytes) => Ok(room.ok().map(|permit| Room { _permit: permit })),
            () = self.tx.closed() => Err(NobodyListens),
        }
    }
}

/// `None` for a blank line (R-050).
fn to_frame(line: Decoded<'_>, words: WordForWord) -> Option<(Frame, SharedText)> {
    match line {
        Decoded::Line(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => None,
        Decoded::Line(bytes) => Some(Frame::read(bytes, words)),
        // It ends the stream.
        Decoded::Lost(_) => None,
        Decoded::TooLong { head, dropped } => {
            let text = String::from_utf8_lossy(&head);
            Some((Frame::TooLong { dropped }, json::trim(&text).into()))
        }
    }
}

/// Drains an error stream to its end, also without a reader (R-055).
pub fn spawn_stderr(mut source: impl AsyncRead + Send + Unpin + 'static, tail: StderrTail) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut block = vec![0; 8 << 10];
        loop {
            match source.read(&mut block).await {
                Ok(count) if count > 0 => tail.push(block.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        tail.finish();
    })
}

/// Writes lines until the sender is dropped, which closes the stream, or until writing fails.
pub fn spawn_writer(
    sink: impl AsyncWrite + Send + Unpin + 'static,
) -> (mpsc::Sender<Load>, JoinHandle<io::Result<()>>) {
    let (tx, rx) = mpsc::channel(LOADS);
    (tx, tokio::spawn(write_all(sink, rx)))
}

async fn write_all(mut sink: impl AsyncWrite + Send + Unpin, mut loads: mpsc::Receiver<Load>) -> io::Result<()> {
    while let Some(load) = loads.recv().await {
        for part in load.parts() {
            sink.write_all(part).await?;
        }
        sink.flush().await?;
    }
    sink.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::super::duplex;
    use super::super::framing::Framing;
    use super::super::outbox::Outbox;
    use super::*;

    async fn collect(mut rx: mpsc::Receiver<Incoming>) -> (Vec<String>, Option<String>) {
        let mut lines = Vec::new();
        while let Some(incoming) = rx.recv().await {
            match incoming {
                Incoming::Frames(batch) => {
                    assert!(batch.frames.len() <= BATCH_FRAMES);
                    lines.extend(batch.frames.into_iter().map(|(_, line)| line.to_string()));
                }
                Incoming::Closed { half_line, error } => {
                    assert!(error.is_none());
                    return (lines, half_line.map(|(_, line)| line.to_string()));
                }
            }
        }
        panic!("no end was told");
    }

    #[tokio::test]
    async fn frames_arrive_in_order_and_the_half_line_last() {
        let (ours, mut theirs) = duplex::pair(1000);
        let (tx, rx) = mpsc::channel(INBOX);
        spawn_reader(ours.reader, tx, &[], Framing::Lines);
        let wrote = tokio::spawn(async move {
            for n in 0..500 {
                theirs.send_line(&format!(r#"{{"method":"m","params":{n}}}"#)).await.unwrap();
            }
            theirs.writer.write_all(b"\r\n\n{\"half\"").await.unwrap();
        });
        let (lines, half) = collect(rx).await;
        wrote.await.unwrap();
        let expected: Vec<_> = (0..500).map(|n| format!(r#"{{"method":"m","params":{n}}}"#)).collect();
        assert_eq!(lines, expected);
        assert_eq!(half.as_deref(), Some("{\"half\""));
    }

    #[tokio::test]
    async fn a_consumer_that_does_not_read_holds_the_peer_back() {
        let (ours, mut theirs) = duplex::pair(1000);
        let (tx, mut rx) = mpsc::channel(1);
        spawn_reader(ours.reader, tx, &[], Framing::Lines);
        let flood = tokio::spawn(async move {
            let mut sent = 0u32;
            while theirs.send_line(&"x".repeat(900)).await.is_ok() {
                sent += 1;
            }
            sent
        });
        assert!(matches!(rx.recv().await, Some(Incoming::Frames(_))));
        // The flood can only end by the pipe closing: the channel is never emptied again.
        drop(rx);
        assert!(flood.await.unwrap() < 1000);
    }

    #[tokio::test]
    async fn a_large_line_is_read_when_nothing_else_is_under_way() {
        let (ours, mut theirs) = duplex::pair(BLOCK);
        let (tx, mut rx) = mpsc::channel(INBOX);
        spawn_reader(ours.reader, tx, &[], Framing::Lines);
        theirs.send_line("small").await.unwrap();
        let Some(Incoming::Frames(small)) = rx.recv().await else { panic!("no frames") };
        let large = "x".repeat(LARGE * 4);
        let mut sent = Box::pin(theirs.send_line(&large));
        // The pipe holds it back: so long as the small one is under way, no more than its begin is taken.
        let all = tokio::select! { biased;
            sent = &mut sent => sent.is_ok(),
            _ = rx.recv() => true,
            () = idle() => false,
        };
        assert!(!all, "all of it was read");
        drop(small);
        sent.await.unwrap();
        let Some(Incoming::Frames(batch)) = rx.recv().await else { panic!("no frames") };
        assert!(batch.frames.len() == 1 && batch.frames[0].1.starts_with("xxx"));
        // What follows waits for it, however small it is.
        theirs.send_line("next").await.unwrap();
        tokio::select! { biased;
            _ = rx.recv() => panic!("there is no room for it"),
            () = idle() => {}
        }
        drop(batch);
        assert!(matches!(rx.recv().await, Some(Incoming::Frames(_))));
    }

    #[test]
    fn what_was_there_already_has_come_since_the_pipe_was_empty() {
        let emptied = Instant::now();
        let asked = emptied + Duration::from_secs(5);
        let soon = asked + AT_ONCE / 2;
        assert_eq!(came(emptied, asked, soon), emptied);
        let later = asked + AT_ONCE * 2;
        assert_eq!(came(emptied, asked, later) + WOKEN, later, "it was waited for");
    }

    /// As long as the tasks of this thread have anything to do, and longer.
    async fn idle() {
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn r_024_lines_are_written_whole_and_dropping_the_sender_closes() {
        let (ours, mut theirs) = duplex::pair(100);
        let (tx, writer) = spawn_writer(ours.writer);
        let long = "y".repeat(BLOCK + 5);
        let sent = long.clone();
        let send = tokio::spawn(async move {
            let mut outbox = Outbox::new(Framing::Lines);
            for line in ["one", &sent, "two"] {
                outbox.push(line).unwrap();
            }
            while !outbox.is_empty() {
                outbox.ready(&tx).await.unwrap();
            }
            drop(tx);
            outbox
        });
        assert_eq!(theirs.next_line().await.unwrap().as_deref(), Some("one"));
        assert_eq!(theirs.next_line().await.unwrap(), Some(long));
        assert_eq!(theirs.next_line().await.unwrap().as_deref(), Some("two"));
        assert_eq!(theirs.next_line().await.unwrap(), None);
        writer.await.unwrap().unwrap();
        assert_eq!(send.await.unwrap().bytes(), 0);
    }

    #[tokio::test]
    async fn a_closed_reader_ends_the_writer_with_an_error() {
        let (ours, theirs) = duplex::pair(100);
        let (tx, writer) = spawn_writer(ours.writer);
        drop(theirs);
        let mut outbox = Outbox::new(Framing::Lines);
        outbox.push("one").unwrap();
        outbox.ready(&tx).await.unwrap();
        assert!(writer.await.unwrap().is_err());
        assert_eq!(outbox.bytes(), 0);
        outbox.push("two").unwrap();
        assert!(outbox.ready(&tx).await.is_err());
    }

    #[tokio::test]
    async fn stderr_is_drained_without_a_reader() {
        let (ours, mut theirs) = duplex::pair(100);
        let tail = StderrTail::new(16);
        let task = spawn_stderr(ours.reader, tail.clone());
        for n in 0..100 {
            theirs.send_line(&format!("line {n}")).await.unwrap();
        }
        drop(theirs);
        task.await.unwrap();
        assert_eq!(tail.text(), "line 98\nline 99\n");
        tail.changed().await;
    }
}
