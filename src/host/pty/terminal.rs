//! One terminal: its process, its threads, what it has printed and how it ended.
//!
//! It knows nothing of ids in use or limits (see `registry.rs`). Two locks: `life` for the process, never held
//! while output is handled, so that killing works while the emulator is busy; `feed` for the output. Invariants:
//! the process is waited for under `life`, so a signal never reaches a reused id; one exit fact, after draining.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::MasterPty;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use super::groups::{Leader, Processes, signal_leader};
use super::registry::{ExitFn, Share, Shared};
use super::screen::Screen;
use super::spawn::{Reader, Spawned, pty_size};
use crate::base::exit::Exit;
use crate::base::sanitize::PlainStream;
use crate::base::signal;
use crate::base::tail::TailBuffer;
use crate::base::utf8::Utf8Stream;
use crate::host::lock;
use crate::host::process::guard;
use crate::text::grid::ScreenSnapshot;

/// How long output is awaited after the exit when a background process keeps the terminal open.
pub const DRAIN_GRACE: Duration = Duration::from_millis(500);
/// Between the polite signal and the one that cannot be refused.
pub const KILL_GRACE: Duration = Duration::from_millis(500);
/// The most output that is kept for the agent, also when it asks for more.
pub const MAX_OUTPUT_BYTES: u64 = 4 * 1024 * 1024;
/// What is kept when the agent names no limit.
const DEFAULT_OUTPUT_BYTES: u64 = 1024 * 1024;
const READ_BYTES: usize = 64 * 1024;
/// Pieces of input that wait for a program that does not read.
const INPUT_QUEUE: usize = 64;
const STACK_BYTES: usize = 256 * 1024;

/// Names a terminal; never used twice.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermId(pub String);

impl fmt::Display for TermId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A piece of what was printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct More {
    pub text: String,
    /// Bytes before it that were not kept.
    pub lost: u64,
    /// Where what follows begins.
    pub next: u64,
}

#[derive(Default)]
struct Life {
    /// The process has been waited for; its id is no longer ours.
    reaped: bool,
    /// All output has been read.
    drained: bool,
    /// The exit is known and the output complete.
    ended: bool,
    /// The exit fact has been posted.
    posted: bool,
    /// It has been asked to end.
    killing: bool,
}

struct Feed {
    /// Bytes of text that the agent has asked for.
    wanted: usize,
    /// Gone after the exit; `last` stays.
    screen: Option<Screen>,
    utf8: Utf8Stream,
    plain: PlainStream,
    tail: TailBuffer,
    last: Arc<ScreenSnapshot>,
    exit: Option<Exit>,
}

/// What sees to the terminal's size and input, until the exit.
struct Io {
    master: Box<dyn MasterPty + Send>,
    input: Option<SyncSender<Vec<u8>>>,
}

pub(super) struct Terminal {
    id: TermId,
    pid: Pid,
    for_whom: Reader,
    life: Mutex<Life>,
    changed: Condvar,
    feed: Mutex<Feed>,
    io: Mutex<Option<Io>>,
    /// A hint is under way and the news have not been fetched yet.
    dirty: AtomicBool,
    shared: Arc<Shared>,
}

impl Terminal {
    /// Takes over a started process.
    pub(super) fn start(
        id: TermId,
        spawned: Spawned,
        output_limit: Option<u64>,
        share: Share,
        shared: Arc<Shared>,
        exit: ExitFn,
    ) -> std::io::Result<Arc<Self>> {
        let wanted = output_limit.unwrap_or(DEFAULT_OUTPUT_BYTES).min(MAX_OUTPUT_BYTES) as usize;
        let mut screen = Screen::new(spawned.size.cols, spawned.size.rows);
        screen.confine(share.rows);
        let feed = Feed {
            wanted,
            screen: Some(screen),
            utf8: Utf8Stream::default(),
            plain: PlainStream::default(),
            tail: TailBuffer::new(wanted.min(share.bytes)),
            last: Arc::default(),
            exit: None,
        };
        let terminal = Arc::new(Self {
            id,
            pid: spawned.pid,
            for_whom: spawned.for_whom,
            life: Mutex::default(),
            changed: Condvar::new(),
            feed: Mutex::new(feed),
            io: Mutex::new(Some(Io { master: spawned.master, input: None })),
            dirty: AtomicBool::new(false),
            shared,
        });
        let started = terminal.threads(spawned.reader, exit);
        if started.is_err() {
            terminal.signal_leader(Signal::KILL);
            let _ = waitpid(Some(terminal.pid), WaitOptions::empty());
            lock(&terminal.life).reaped = true;
        }
        started.map(|()| terminal)
    }

    fn threads(self: &Arc<Self>, reader: Box<dyn Read + Send>, exit: ExitFn) -> std::io::Result<()> {
        // The reader first: should the waiter not start, the caller may still wait for the process itself.
        let terminal = Arc::clone(self);
        thread("pty-read", move || terminal.read(reader))?;
        let terminal = Arc::clone(self);
        thread("pty-wait", move || terminal.wait(&exit))
    }

    pub(super) fn is_running(&self) -> bool {
        !lock(&self.life).ended
    }

    /// Text for the agent, whether any was dropped, and the exit.
    pub(super) fn output(&self) -> (String, bool, Option<Exit>) {
        let feed = lock(&self.feed);
        (feed.tail.text(), feed.tail.truncated(), feed.exit.clone())
    }

    /// What was printed after the first so many bytes of text: at most that much of it, and where the rest begins.
    pub(super) fn output_after(&self, position: u64, most: usize) -> More {
        let feed = lock(&self.feed);
        let (text, lost) = feed.tail.after(position);
        let text = text[..text.floor_char_boundary(most)].to_owned();
        More { next: position + lost + text.len() as u64, text, lost }
    }

    /// The screen as it is now; asks for a new hint.
    pub(super) fn snapshot(&self) -> Arc<ScreenSnapshot> {
        let mut feed = lock(&self.feed);
        // Under the lock: what comes later marks the terminal again.
        self.dirty.store(false, Ordering::Release);
        feed.refresh();
        Arc::clone(&feed.last)
    }

    /// Bytes of text kept for the agent.
    pub(super) fn text_bytes(&self) -> usize {
        lock(&self.feed).tail.len()
    }

    /// Keeps only the end of what has been printed, and of what will be; what is dropped counts as truncated.
    pub(super) fn shorten(&self, limit: usize) {
        let mut feed = lock(&self.feed);
        feed.wanted = feed.wanted.min(limit);
        let limit = feed.wanted.min(feed.tail.limit());
        feed.tail.confine(limit);
    }

    pub(super) fn confine(&self, share: Share) {
        let mut feed = lock(&self.feed);
        let limit = feed.wanted.min(share.bytes);
        if limit != feed.tail.limit() {
            feed.tail.confine(limit);
        }
        if let Some(screen) = &mut feed.screen {
            screen.confine(share.rows);
        }
    }

    pub(super) fn resize(&self, cols: u16, rows: u16) {
        let size = pty_size(cols, rows, self.for_whom);
        if let Some(io) = lock(&self.io).as_ref() {
            let _ = io.master.resize(size);
        }
        if let Some(screen) = &mut lock(&self.feed).screen {
            screen.resize(size.cols, size.rows);
        }
        self.mark();
    }

    /// Types into the terminal. False: it has exited, or the program does not read.
    pub(super) fn input(&self, bytes: &[u8]) -> bool {
        let mut io = lock(&self.io);
        let Some(io) = io.as_mut() else { return false };
        if io.input.is_none() {
            // Dropping the writer would type an end of file, so its thread keeps it until the exit.
            let Ok(writer) = io.master.take_writer() else { return false };
            let (sender, receiver) = sync_channel(INPUT_QUEUE);
            if thread("pty-write", move || write(writer, &receiver)).is_err() {
                return false;
            }
            io.input = Some(sender);
        }
        io.input.as_ref().is_some_and(|input| input.try_send(bytes.to_vec()).is_ok())
    }

    /// Ends the command, politely first; returns at once. Does nothing after the exit.
    pub(super) fn kill(self: &Arc<Self>) {
        let mut life = lock(&self.life);
        if life.reaped || life.killing {
            return;
        }
        life.killing = true;
        drop(life);
        self.shared.killer.end(Arc::clone(self));
    }

    /// Sends a signal to all process groups of the session, without the leader's if that `had` it.
    pub(super) fn signal(&self, processes: &Processes, signal: Signal, had: bool) {
        let foreground = match lock(&self.io).as_ref() {
            Some(io) => io.master.process_group_leader().and_then(Pid::from_raw),
            None => None,
        };
        let life = lock(&self.life);
        processes.signal(self.pid, life.leader(), foreground, signal, had);
    }

    /// The same to the group that the session began with, without a look at the processes. False: it has not had it.
    pub(super) fn signal_leader(&self, signal: Signal) -> bool {
        let life = lock(&self.life);
        signal_leader(self.pid, life.leader(), signal)
    }

    /// Waits until the exit fact has been posted. False: not by then.
    pub(super) fn wait_posted(&self, deadline: Instant) -> bool {
        self.wait_until(deadline, |life| life.posted).posted
    }

    fn wait_until(&self, deadline: Instant, done: impl Fn(&Life) -> bool) -> MutexGuard<'_, Life> {
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(lock(&self.life), left, |life| !done(life));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn mark(&self) {
        if !self.dirty.swap(true, Ordering::AcqRel) {
            self.shared.pacer.mark(&self.id);
        }
    }

    /// Reads until the last process has closed the terminal, or the terminal is released.
    fn read(&self, mut reader: Box<dyn Read + Send>) {
        let mut buffer = vec![0_u8; READ_BYTES];
        let mut scratch = (String::new(), String::new());
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let bytes = buffer.get(..read).unwrap_or_default();
            let Some(_turn) = self.shared.lane.enter() else { break };
            let mut feed = lock(&self.feed);
            let Some(screen) = &mut feed.screen else {
                // After the exit a background process may go on printing; it is read so that it does not stall.
                continue;
            };
            screen.advance(bytes);
            let replies = screen.take_replies();
            feed.push_text(bytes, &mut scratch);
            drop(feed);
            if !replies.is_empty() {
                self.input(&replies);
            }
            self.mark();
        }
        lock(&self.life).drained = true;
        self.changed.notify_all();
    }

    /// Waits for the process, lets the output drain, posts the exit.
    fn wait(&self, exit: &ExitFn) {
        // Without reaping: until `life` is held the id stays ours.
        while let Err(Errno::INTR) = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
        let mut life = lock(&self.life);
        let status = loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Err(Errno::INTR) => {}
                other => break other.ok().flatten().map(|(_, status)| status),
            }
        };
        life.reaped = true;
        drop(life);
        // Elsewhere the guard could not tell whether the number was given to another process meanwhile.
        if !cfg!(any(target_os = "linux", target_os = "android")) {
            guard::lets_go(self.pid.as_raw_nonzero().get());
        }
        let fact = status.map_or_else(Exit::default, |status| Exit {
            code: status.exit_status().map(i64::from),
            signal: status.terminating_signal().map(signal::name),
        });
        drop(self.wait_until(Instant::now() + DRAIN_GRACE, |life| life.drained));
        let turn = self.shared.lane.enter();
        let mut feed = lock(&self.feed);
        feed.finish_text();
        if turn.is_some() {
            feed.refresh();
        }
        feed.screen = None;
        feed.exit = Some(fact.clone());
        drop((feed, turn));
        lock(&self.io).take();
        lock(&self.life).ended = true;
        exit(&self.id, fact);
        lock(&self.life).posted = true;
        self.changed.notify_all();
        self.mark();
    }
}

impl Life {
    fn leader(&self) -> Leader {
        if self.reaped { Leader::Reaped } else { Leader::Held }
    }
}

impl Feed {
    fn push_text(&mut self, bytes: &[u8], scratch: &mut (String, String)) {
        let (text, plain) = scratch;
        text.clear();
        plain.clear();
        self.utf8.push(bytes, text);
        self.plain.push(text, plain);
        self.tail.push(plain);
    }

    /// Half a character at the end stays visible as a replacement character.
    fn finish_text(&mut self) {
        let (mut text, mut plain) = (String::new(), String::new());
        self.utf8.finish(&mut text);
        self.plain.push(&text, &mut plain);
        self.tail.push(&plain);
    }

    fn refresh(&mut self) {
        if let Some(screen) = self.screen.as_mut().filter(|screen| screen.generation() != self.last.generation) {
            self.last = Arc::new(screen.follow(&self.last).0);
        }
    }
}

fn write(mut writer: Box<dyn Write + Send>, input: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = input.recv() {
        if writer.write_all(&bytes).and_then(|()| writer.flush()).is_err() {
            break;
        }
    }
}

pub(super) fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work).map(drop)
}
