//! What the person does with keyboard, mouse and window, as one stream.
//!
//! A thread of its own reads the terminal and waits until there is something; nothing is asked of a timer unless a
//! sequence is torn. Mouse motion, drags and releases, key releases and unknown sequences are dropped, so that every
//! value is something to act on. Invariants: a change of the window's size never delays a key (they reach us on
//! different ways, and readiness is asked for anew each time, so none can be missed); dropping the stream lets go of
//! the terminal's input before it returns, as another program needs it; a new one takes it up again.

use std::fs::File;
use std::io::{self, IsTerminal as _, PipeReader, PipeWriter, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::parse::Parser;
use crate::ui::keys::Key;

/// Inputs that may wait to be taken; more stay in the terminal.
const WAITING: usize = 1024;
/// How long the rest of a sequence may take. A person cannot type one by hand so fast.
const TORN: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    Key(Key),
    /// As the terminal sent it; whoever inserts it cleans it.
    Paste(String),
    Mouse {
        what: Click,
        x: u16,
        y: u16,
    },
    Resize(u16, u16),
    /// `true` when the window gained the focus.
    Focus(bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Click {
    Left,
    WheelUp,
    WheelDown,
}

#[derive(Debug)]
pub struct InputStream {
    inputs: mpsc::Receiver<Input>,
    resized: Signal,
    /// Dropped to end the thread.
    stop: Option<PipeWriter>,
    reader: Option<JoinHandle<()>>,
}

impl InputStream {
    /// Reads standard input, or the controlling terminal where that is something else. Must be called inside the
    /// runtime.
    pub fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let tty =
            if stdin.is_terminal() { stdin.as_fd().try_clone_to_owned()? } else { File::open("/dev/tty")?.into() };
        Self::read_from(tty)
    }

    fn read_from(tty: OwnedFd) -> io::Result<Self> {
        let resized = signal(SignalKind::window_change())?;
        let (stopped, stop) = io::pipe()?;
        let (tx, inputs) = mpsc::channel(WAITING);
        let reader = std::thread::Builder::new().name("input".into()).spawn(move || {
            // What ends it, the person's terminal or the stream, shows at the other end of the channel.
            let _ = read(File::from(tty), &stopped, &tx);
        })?;
        Ok(Self { inputs, resized, stop: Some(stop), reader: Some(reader) })
    }

    /// The next thing done; `None` when the terminal is gone. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Input> {
        tokio::select! {
            biased;
            input = self.inputs.recv() => input,
            Some(()) = self.resized.recv() => {
                let (width, height) = crossterm::terminal::size().unwrap_or((1, 1));
                Some(Input::Resize(width, height))
            }
        }
    }

    /// What has already been read, without waiting: after [`Self::next`] gave something, call this until it is empty
    /// and draw once.
    pub fn ready(&mut self) -> Option<Input> {
        self.inputs.try_recv().ok()
    }
}

impl Drop for InputStream {
    fn drop(&mut self) {
        // A reader that waits for room gives up, one that waits for the terminal is told.
        self.inputs.close();
        self.stop = None;
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Until the terminal or the stream is gone.
fn read(mut tty: File, stopped: &PipeReader, inputs: &mpsc::Sender<Input>) -> io::Result<()> {
    let (mut parser, mut parsed) = (Parser::default(), Vec::new());
    let mut buffer = [0; 4096];
    loop {
        let mut fds = [PollFd::new(&tty, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        let timeout = parser.is_torn().then_some(&TORN);
        let found = match poll(&mut fds, timeout) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        let [of_tty, of_stop] = fds.map(|fd| fd.revents());
        if !of_stop.is_empty() {
            return Ok(());
        }
        if found == 0 {
            parser.give_up(&mut parsed);
        } else if !of_tty.is_empty() {
            match tty.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => parser.feed(buffer.get(..n).unwrap_or_default(), &mut parsed),
                Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(e) => return Err(e),
            }
        }
        for input in parsed.drain(..) {
            if inputs.blocking_send(input).is_err() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portable_pty::{PtySize, native_pty_system};
    use rustix::process::{Signal as Sig, getpid, kill_process};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    use std::io::Write;
    use std::time::Duration;

    /// A terminal in raw mode, and the end at which the person sits.
    fn terminal() -> (InputStream, Box<dyn Write + Send>, Box<dyn portable_pty::MasterPty + Send>) {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let tty = File::options().read(true).write(true).open(pair.master.tty_name().unwrap()).unwrap();
        let mut modes = tcgetattr(&tty).unwrap();
        modes.make_raw();
        tcsetattr(&tty, OptionalActions::Now, &modes).unwrap();
        let writer = pair.master.take_writer().unwrap();
        (InputStream::read_from(tty.into()).unwrap(), writer, pair.master)
    }

    /// Without changes of size: the signal of another test reaches every stream of the process.
    async fn next(stream: &mut InputStream) -> Option<Input> {
        loop {
            match tokio::time::timeout(Duration::from_secs(10), stream.next()).await.expect("nothing came") {
                Some(Input::Resize(..)) => {}
                other => return other,
            }
        }
    }

    #[tokio::test]
    async fn a_change_of_size_swallows_no_key() {
        let (mut stream, mut person, _master) = terminal();
        for round in 0..250u8 {
            let byte = b'a' + round % 26;
            kill_process(getpid(), Sig::WINCH).unwrap();
            person.write_all(&[byte]).unwrap();
            let key = Input::Key(Key::char(char::from(byte)));
            assert_eq!(next(&mut stream).await, Some(key), "round {round}");
        }
    }

    #[tokio::test]
    async fn more_than_is_read_at_once_arrives_in_full() {
        let (mut stream, mut person, _master) = terminal();
        let text = "0123456789".repeat(1000);
        let sent = text.clone();
        let typing = std::thread::spawn(move || person.write_all(sent.as_bytes()).map(|()| person));
        for c in text.chars() {
            assert_eq!(next(&mut stream).await, Some(Input::Key(Key::char(c))));
        }
        drop(typing.join().unwrap());
    }

    #[tokio::test]
    async fn a_torn_sequence_stops_nothing() {
        let (mut stream, mut person, _master) = terminal();
        person.write_all(b"\x1b[").unwrap();
        assert_eq!(next(&mut stream).await, Some(Input::Key(Key::alt(crate::ui::keys::Code::Char('[')))));
    }

    #[tokio::test]
    async fn a_terminal_that_goes_away_ends_the_stream() {
        let (mut stream, person, master) = terminal();
        drop((person, master));
        // The library says goodbye with an end of file of its own.
        while next(&mut stream).await.is_some() {}
    }

    #[tokio::test]
    async fn dropping_lets_go_even_with_a_full_queue() {
        let (stream, mut person, _master) = terminal();
        person.write_all(&[b'x'; 3000]).unwrap();
        drop(stream);
    }
}
