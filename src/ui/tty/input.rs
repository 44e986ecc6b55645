//! What the person does with keyboard, mouse and window, as one stream.
//!
//! A thread of its own reads the terminal and waits until there is something; nothing is asked of a timer unless a
//! sequence is incomplete. Mouse motion, drags and releases, key releases and unknown sequences are dropped, so that
//! every value is something to act on. Invariants: a change of the window's size never delays a key (they reach us on
//! different ways, and readiness is asked for anew each time, so none can be missed); dropping the stream lets go of
//! the terminal's input before it returns, as another program needs it, and an answer that is still on its way is taken
//! off it first; a new one takes it up again.

use std::fs::File;
use std::io::{self, IsTerminal as _, PipeReader, PipeWriter, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::answers::ARRIVED;
use super::event::{Input, Told};
use super::parse::{Parser, Patience};

/// Inputs that may wait to be taken; more stay in the terminal.
const WAITING: usize = 1024;
/// How long the rest of a sequence may take. A person cannot type one by hand so fast.
const INCOMPLETE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// The same for what no person types.
const LATE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// How long after a beginning that was given up its rest is known for what it is.
const REMEMBERED: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
/// How long after a beginning that was given up a digit may still be a piece of the terminal's own.
const HASTE: Duration = Duration::from_millis(100);
/// Keys that type within this time of each other are pasted, or come out of a program: no person types so fast.
const GAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };
/// How long after a question an escape may be the beginning of its answer.
const MAY_COME: Duration = Duration::from_secs(5);
/// How long after a question the terminal is not given away before its answer has come: another program would take it
/// for keys.
const MUST_COME: Duration = Duration::from_millis(500);
/// The same for one that has answered before: the way may be slow.
const WILL_COME: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct InputStream {
    inputs: mpsc::Receiver<Input>,
    resized: Signal,
    /// Dropped to end the thread.
    stop: Option<PipeWriter>,
    reader: Option<JoinHandle<()>>,
    expected: Arc<Expected>,
    weighs: Arc<AtomicBool>,
}

/// What the terminal has been asked that it has not answered: when, and the kind of answer with which everything has come.
/// One of each kind.
#[derive(Debug, Default)]
struct Expected {
    asked: Mutex<Vec<(Instant, Told)>>,
    has_answered: AtomicBool,
}

impl Expected {
    fn slot(&self) -> MutexGuard<'_, Vec<(Instant, Told)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, last: Told) {
        self.came(last);
        self.slot().push((Instant::now(), last));
    }

    /// How much of a time since the last question is left.
    fn left(&self, of: Duration) -> Option<Duration> {
        self.slot().iter().filter_map(|(at, _)| of.checked_sub(at.elapsed())).max()
    }

    /// How long an answer is worth waiting for.
    fn worth(&self) -> Option<Duration> {
        self.left(if self.has_answered.load(Ordering::Relaxed) { WILL_COME } else { MUST_COME })
    }

    fn came(&self, told: Told) {
        let kind = std::mem::discriminant(&told);
        self.slot().retain(|(_, last)| std::mem::discriminant(last) != kind);
    }

    fn hear(&self, input: &Input) {
        if let Input::Told(told) = input {
            self.came(*told);
            self.has_answered.store(true, Ordering::Relaxed);
        }
    }
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
        let expected = Arc::new(Expected::default());
        let awaited = Arc::clone(&expected);
        let weighs = Arc::new(AtomicBool::new(false));
        let is_weighed = Arc::clone(&weighs);
        let reader = std::thread::Builder::new().name("input".into()).spawn(move || {
            let (mut tty, mut parser) = (File::from(tty), Parser::default());
            // What ends it, the person's terminal or the stream, shows at the other end of the channel.
            let _ = read(&mut tty, &mut parser, &stopped, &tx, &awaited, &is_weighed);
            let _ = drain(&mut tty, &mut parser, &awaited);
        })?;
        Ok(Self { inputs, resized, stop: Some(stop), reader: Some(reader), expected, weighs })
    }

    /// Whether a single letter decides something now: it is held back until it is known that no other comes with it.
    pub fn weigh(&mut self, weighs: bool) {
        self.weighs.store(weighs, Ordering::Relaxed);
    }

    /// Says that the terminal is being asked something; `last` is the kind of answer with which everything has come.
    pub fn expect(&mut self, last: Told) {
        self.expected.ask(last);
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
fn read(
    tty: &mut File,
    parser: &mut Parser,
    stopped: &PipeReader,
    inputs: &mpsc::Sender<Input>,
    expected: &Expected,
    weighs: &AtomicBool,
) -> io::Result<()> {
    let mut parsed = Vec::new();
    let mut buffer = [0; 4096];
    let mut given_up: Option<Instant> = None;
    let mut burst = Burst::default();
    loop {
        let mut fds = [PollFd::new(&*tty, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        let incomplete = parser.incomplete();
        let timeout = match incomplete {
            _ if burst.held.is_some() => Some(&GAP),
            Some(Patience::Short) => Some(&INCOMPLETE),
            Some(Patience::Long) => Some(&LATE),
            Some(Patience::Memory) => Some(&REMEMBERED),
            None => None,
        };
        let found = match poll(&mut fds, timeout) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        let [of_tty, of_stop] = fds.map(|fd| fd.revents());
        if !of_stop.is_empty() {
            return Ok(());
        }
        if found == 0 && burst.held.is_some() {
            parsed.extend(burst.held.take());
        } else if found == 0 {
            parser.give_up(&mut parsed);
            if incomplete != Some(Patience::Memory) {
                given_up = Some(Instant::now());
            }
        } else if !of_tty.is_empty() {
            parser.expects = expected.left(MAY_COME).is_some();
            match tty.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => {
                    let bytes = buffer.get(..n).unwrap_or_default();
                    parser.feed(bytes, &mut parsed);
                    let is_torn = given_up.is_some_and(|at| at.elapsed() < HASTE);
                    burst.read(bytes, is_torn, weighs.load(Ordering::Relaxed), &mut parsed);
                }
                Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(e) => return Err(e),
            }
        }
        // Also of what nobody takes any more: what has been read is not on its way.
        for input in &parsed {
            expected.hear(input);
        }
        for input in parsed.drain(..) {
            if inputs.blocking_send(input).is_err() {
                return Ok(());
            }
        }
    }
}

/// Keys that come so fast that they are no person's.
#[derive(Debug, Default)]
struct Burst {
    /// A key that decides something unless another comes with it.
    held: Option<Input>,
    /// When a key came last that types.
    typed: Option<Instant>,
}

impl Burst {
    /// Makes keys hasty that came together, or within [`GAP`] of each other; `is_torn` when a sequence has just been
    /// given up.
    fn read(&mut self, bytes: &[u8], is_torn: bool, weighs: bool, parsed: &mut Vec<Input>) {
        let is_arrival = |input: &Input| *input == Input::Told(Told::Arrived);
        let keys = parsed.iter().filter(|input| !is_arrival(input)).count();
        if keys == 0 && !parsed.is_empty() {
            // No key, and no pause between keys.
            return;
        }
        let gap = Duration::from_nanos(GAP.tv_nsec.unsigned_abs());
        let arrived = ARRIVED.as_bytes();
        let bytes = bytes.strip_prefix(arrived).or_else(|| bytes.strip_suffix(arrived)).unwrap_or(bytes);
        let texts = parsed.iter().filter(|input| input.is_text()).count();
        // Over a slow link Tab and the answer behind it come as one; what follows at once makes a text of them.
        let is_led = keys == 2 && matches!(bytes, [b'\t', key] if key.is_ascii_alphanumeric());
        // One key may be a sequence, or a character of several bytes.
        let is_one = is_led || keys == 1 && (bytes.first() == Some(&0x1b) || is_character(bytes));
        let is_fast = texts > 0 && self.typed.is_some_and(|at| at.elapsed() < gap);
        if is_torn || is_fast || texts > 0 && !is_one {
            parsed.iter_mut().chain(&mut self.held).for_each(Input::hasten);
        }
        if texts > 0 {
            self.typed = Some(Instant::now());
        }
        if let Some(held) = self.held.take() {
            parsed.insert(0, held);
        } else if is_led || weighs && texts == 1 && is_one {
            self.held = parsed.iter().rposition(|input| matches!(input, Input::Key(_))).map(|at| parsed.remove(at));
        }
    }
}

fn is_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().count() == 1)
}

/// Takes the answer that is still on its way off the terminal.
fn drain(tty: &mut File, parser: &mut Parser, expected: &Expected) -> io::Result<()> {
    let mut parsed = Vec::new();
    let mut buffer = [0; 4096];
    while let Some(left) = expected.worth() {
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&*tty, PollFlags::IN)], Some(&left)) {
            Err(Errno::INTR) | Ok(0) => continue,
            other => other?,
        };
        match tty.read(&mut buffer)? {
            0 => return Ok(()),
            n => parser.feed(buffer.get(..n).unwrap_or_default(), &mut parsed),
        }
        parsed.drain(..).for_each(|input| expected.hear(&input));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keys::{Code, Key};
    use portable_pty::{PtySize, native_pty_system};
    use rustix::process::{Signal as Sig, getpid, kill_process};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    use std::io::Write;

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

    /// The next key, however fast it came.
    async fn typed(stream: &mut InputStream) -> Option<Key> {
        match next(stream).await {
            Some(Input::Key(key) | Input::Hasty(key)) => Some(key),
            _ => None,
        }
    }

    #[tokio::test]
    async fn a_change_of_size_swallows_no_key() {
        let (mut stream, mut person, _master) = terminal();
        for round in 0..250u8 {
            let byte = b'a' + round % 26;
            kill_process(getpid(), Sig::WINCH).unwrap();
            person.write_all(&[byte]).unwrap();
            assert_eq!(typed(&mut stream).await, Some(Key::char(char::from(byte))), "round {round}");
        }
    }

    #[tokio::test]
    async fn more_than_is_read_at_once_arrives_in_full() {
        let (mut stream, mut person, _master) = terminal();
        let text = "abcdefghij".repeat(1000);
        let sent = text.clone();
        let typing = std::thread::spawn(move || person.write_all(sent.as_bytes()).map(|()| person));
        for c in text.chars() {
            assert_eq!(typed(&mut stream).await, Some(Key::char(c)));
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
    async fn keys_that_come_together_are_hasty_and_one_alone_is_a_key() {
        for (bytes, wanted) in [
            (&b"1"[..], &[Input::Key(Key::char('1'))][..]),
            ("\u{e9}".as_bytes(), &[Input::Key(Key::char('\u{e9}'))]),
            (b"\x1b[49u", &[Input::Key(Key::char('1'))]),
            (b"\x1b[A\x1b[A", &[Input::Key(Key::plain(Code::Up)), Input::Key(Key::plain(Code::Up))]),
            (b"1a", &[Input::Hasty(Key::char('1')), Input::Hasty(Key::char('a'))]),
            (b"A\r", &[Input::Hasty(Key::char('A')), Input::Hasty(Key::plain(Code::Enter))]),
            (b"\t1", &[Input::Key(Key::plain(Code::Tab)), Input::Key(Key::char('1'))]),
            (
                b"\t1a",
                &[Input::Hasty(Key::plain(Code::Tab)), Input::Hasty(Key::char('1')), Input::Hasty(Key::char('a'))],
            ),
            (b"\t\r", &[Input::Hasty(Key::plain(Code::Tab)), Input::Hasty(Key::plain(Code::Enter))]),
            (b"\xffy", &[Input::Hasty(Key::char('y'))]),
        ] {
            for weighs in [false, true] {
                let (mut stream, mut person, _master) = terminal();
                stream.weigh(weighs);
                person.write_all(bytes).unwrap();
                for input in wanted {
                    assert_eq!(next(&mut stream).await.as_ref(), Some(input), "{bytes:?}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_paste_without_an_end_is_over_after_a_silence_and_a_key_right_behind_one_is_a_key() {
        let (mut stream, mut person, _master) = terminal();
        person.write_all(b"\x1b[200~one\rtwo").unwrap();
        assert_eq!(next(&mut stream).await, Some(Input::Paste("one\rtwo".into())));
        person.write_all(b"\x03").unwrap();
        assert_eq!(typed(&mut stream).await, Some(Key::ctrl(Code::Char('c'))));
        person.write_all(b"\x1b[200~one\x1b[201~\r").unwrap();
        assert_eq!(next(&mut stream).await, Some(Input::Paste("one".into())));
        assert_eq!(next(&mut stream).await, Some(Input::Hasty(Key::plain(Code::Enter))));
        person.write_all(b"\x1b[200~one\x1b[201~\x1b[201~ two\r\x1b[201~").unwrap();
        assert_eq!(next(&mut stream).await, Some(Input::Paste("one".into())));
        assert_eq!(next(&mut stream).await, Some(Input::Paste(" two\r".into())));
    }

    #[tokio::test]
    async fn an_answer_beside_a_key_makes_it_no_less_one() {
        for bytes in [&b"1\x1b[0n"[..], b"\x1b[0n1"] {
            for weighs in [false, true] {
                let (mut stream, mut person, _master) = terminal();
                stream.weigh(weighs);
                person.write_all(bytes).unwrap();
                let both = [next(&mut stream).await.unwrap(), next(&mut stream).await.unwrap()];
                assert!(both.contains(&Input::Key(Key::char('1'))), "{both:?}");
                assert!(both.contains(&Input::Told(Told::Arrived)), "{both:?}");
            }
        }
    }

    #[test]
    fn keys_of_two_reads_that_follow_at_once_are_hasty_both() {
        let key = |c| Input::Key(Key::char(c));
        let mut burst = Burst::default();
        let mut parsed = vec![key('y')];
        burst.read(b"y", false, true, &mut parsed);
        assert_eq!((parsed.as_slice(), &burst.held), (&[][..], &Some(key('y'))), "held back where it decides");
        parsed.push(key('e'));
        burst.read(b"e", false, true, &mut parsed);
        assert_eq!(parsed, [Input::Hasty(Key::char('y')), Input::Hasty(Key::char('e'))]);
        let mut led = Burst::default();
        let tab = Key::plain(Code::Tab);
        let mut parsed = vec![Input::Key(tab), key('1')];
        led.read(b"\t1", false, false, &mut parsed);
        assert_eq!((parsed.as_slice(), &led.held), (&[Input::Key(tab)][..], &Some(key('1'))), "what follows Tab waits");
        let mut parsed = vec![key('0')];
        led.read(b"0", false, false, &mut parsed);
        assert_eq!(parsed, [Input::Hasty(Key::char('1')), Input::Hasty(Key::char('0'))]);
        let mut slow = Burst { typed: Instant::now().checked_sub(Duration::from_millis(40)), held: None };
        let mut parsed = vec![key('y')];
        slow.read(b"y", false, false, &mut parsed);
        assert_eq!(parsed, [key('y')]);
    }

    #[tokio::test]
    async fn a_terminal_that_goes_away_ends_the_stream() {
        let (mut stream, person, master) = terminal();
        drop((person, master));
        // The library says goodbye with an end of file of its own.
        while next(&mut stream).await.is_some() {}
    }

    #[tokio::test]
    async fn an_answer_is_told_and_types_nothing_wherever_it_is_torn() {
        let answer = b"\x1b]11;rgb:1e1e/2020/2e2e\x1b\\\x1b[?62;22c";
        // What is shorter may be a key: see the tests of the parser.
        for cut in 3..answer.len() {
            let (mut stream, mut person, _master) = terminal();
            stream.expect(Told::Attributes { sixel: false });
            person.write_all(&answer[..cut]).unwrap();
            person.flush().unwrap();
            person.write_all(&answer[cut..]).unwrap();
            assert_eq!(next(&mut stream).await, Some(Input::Told(Told::Background(0x1e, 0x20, 0x2e))), "cut at {cut}");
            assert_eq!(next(&mut stream).await, Some(Input::Told(Told::Attributes { sixel: false })), "cut at {cut}");
            person.write_all(b"a").unwrap();
            assert_eq!(typed(&mut stream).await, Some(Key::char('a')), "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn an_escape_is_a_key_while_an_answer_is_expected() {
        let (mut stream, mut person, _master) = terminal();
        stream.expect(Told::Attributes { sixel: false });
        person.write_all(b"\x1b").unwrap();
        assert_eq!(next(&mut stream).await, Some(Input::Key(Key::plain(crate::ui::keys::Code::Esc))));
    }

    #[tokio::test]
    async fn the_rest_of_an_answer_is_no_keys_although_its_beginning_was_taken_for_one() {
        for (beginning, taken, rest) in [
            (&b"\x1b"[..], Key::plain(Code::Esc), &b"]11;rgb:1111/1111/1111\x1b\\x"[..]),
            (b"\x1b]", Key::alt(Code::Char(']')), b"11;rgb:1111/1111/1111\x1b\\x"),
        ] {
            let (mut stream, mut person, _master) = terminal();
            person.write_all(beginning).unwrap();
            assert_eq!(next(&mut stream).await, Some(Input::Key(taken)));
            person.write_all(rest).unwrap();
            assert_eq!(next(&mut stream).await, Some(Input::Told(Told::Background(17, 17, 17))));
            assert_eq!(typed(&mut stream).await, Some(Key::char('x')));
        }
    }

    #[tokio::test]
    async fn an_answer_that_comes_late_is_not_left_for_the_next_program() {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let tty = File::options().read(true).write(true).open(pair.master.tty_name().unwrap()).unwrap();
        let mut modes = tcgetattr(&tty).unwrap();
        modes.make_raw();
        tcsetattr(&tty, OptionalActions::Now, &modes).unwrap();
        let mut person = pair.master.take_writer().unwrap();
        let stream = InputStream::read_from(tty.try_clone().unwrap().into()).unwrap();
        // As if asked later, so that a slow machine does not give up before the answer is written.
        stream.expected.slot().push((Instant::now() + Duration::from_mins(1), Told::Attributes { sixel: false }));
        let expected = Arc::clone(&stream.expected);
        let dropping = std::thread::spawn(move || drop(stream));
        person.write_all(b"\x1b]11;rgb:0/0/0\x07\x1b[?6c").unwrap();
        dropping.join().unwrap();
        assert_eq!(expected.left(Duration::from_mins(1)), None, "the answer has been read");
        person.write_all(b"x").unwrap();
        let mut rest = [0; 16];
        let n = (&tty).read(&mut rest).unwrap();
        assert_eq!(&rest[..n], b"x");
    }

    #[tokio::test]
    async fn an_answer_behind_another_is_read_also_when_nobody_takes_them() {
        let (mut stream, mut person, _master) = terminal();
        stream.inputs.close();
        stream.expected.slot().push((Instant::now(), Told::Attributes { sixel: false }));
        person.write_all(b"\x1b]11;rgb:0/0/0\x07\x1b[?6c").unwrap();
        stream.reader.take().unwrap().join().unwrap();
        assert_eq!(stream.expected.left(Duration::from_mins(1)), None);
    }

    #[tokio::test]
    async fn dropping_lets_go_even_with_a_full_queue() {
        let (stream, mut person, _master) = terminal();
        person.write_all(&[b'x'; 3000]).unwrap();
        drop(stream);
    }
}
