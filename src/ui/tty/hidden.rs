//! One line that the person types without its being shown, outside of a screen.
//!
//! Keeps nothing. Invariant: however it ends, but by SIGKILL, the terminal is as it was.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a line.
const MAX: usize = 16 << 10;
/// How long a signal may wait.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// What was typed up to Enter; nothing where the person leaves it by Ctrl+C, Ctrl+D or Esc, or a signal ends it.
pub fn hidden_line() -> io::Result<Option<String>> {
    let is_over = Arc::new(AtomicBool::new(false));
    let signals = [SIGHUP, SIGINT, SIGTERM].map(|signal| signal_hook::flag::register(signal, Arc::clone(&is_over)));
    let line = hidden_at(io::stdin().as_fd(), &is_over);
    for signal in signals.into_iter().flatten() {
        signal_hook::low_level::unregister(signal);
    }
    line
}

fn hidden_at(terminal: BorrowedFd<'_>, is_over: &AtomicBool) -> io::Result<Option<String>> {
    let _shown_again = Hidden::begin(terminal)?;
    let mut typed = Typed::default();
    let mut bytes = [0; 256];
    while !is_over.load(Ordering::Relaxed) {
        match poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let count = read(terminal, &mut bytes)?;
        if count == 0 {
            return Ok(None);
        }
        for byte in bytes.iter().take(count) {
            match typed.key(*byte) {
                Key::More => {}
                Key::Left => return Ok(None),
                Key::Whole => return Ok(typed.text()),
            }
        }
    }
    Ok(None)
}

/// The terminal shows nothing of what is typed, and keys that interrupt are keys.
struct Hidden<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
}

impl<'a> Hidden<'a> {
    fn begin(terminal: BorrowedFd<'a>) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        hidden.input_modes.insert(InputModes::ICRNL);
        tcsetattr(terminal, OptionalActions::Now, &hidden)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        // A terminal that is gone has no modes.
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

#[derive(Default)]
struct Typed(Vec<u8>);

#[derive(PartialEq, Eq, Debug)]
enum Key {
    More,
    Whole,
    Left,
}

impl Typed {
    fn key(&mut self, byte: u8) -> Key {
        match byte {
            b'\n' | b'\r' => return Key::Whole,
            // Ctrl+C, Ctrl+D, Esc.
            0x03 | 0x04 | 0x1b => return Key::Left,
            // Backspace takes a whole character.
            0x08 | 0x7f => while self.0.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            // Ctrl+U and Ctrl+W.
            0x15 | 0x17 => self.0.clear(),
            byte if byte >= 0x20 && self.0.len() < MAX => self.0.push(byte),
            _ => {}
        }
        Key::More
    }

    fn text(self) -> Option<String> {
        String::from_utf8(self.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portable_pty::{PtySize, native_pty_system};
    use std::fs::File;
    use std::io::Write as _;

    #[test]
    fn a_line_ends_with_enter_and_is_left_by_what_leaves() {
        let mut typed = Typed::default();
        for byte in "wrong\u{15}hu\u{fc}\u{7f}nter3\u{7f}2\u{1}".bytes() {
            assert_eq!(typed.key(byte), Key::More);
        }
        assert_eq!(typed.key(b'\r'), Key::Whole);
        assert_eq!(typed.text().as_deref(), Some("hunter2"));
        for byte in [3, 4, 0x1b] {
            assert_eq!(Typed::default().key(byte), Key::Left);
        }
        assert_eq!(Typed(vec![0xff]).text(), None);
    }

    #[test]
    fn what_is_typed_is_not_shown_and_the_terminal_is_as_it_was_after_it() {
        let pty = native_pty_system().openpty(PtySize::default()).unwrap();
        let terminal = File::options().read(true).write(true).open(pty.master.tty_name().unwrap()).unwrap();
        let before = tcgetattr(&terminal).unwrap();
        let echoes = || tcgetattr(&terminal).unwrap().local_modes.contains(LocalModes::ECHO);
        let line = std::thread::scope(|scope| {
            let typing = scope.spawn(|| hidden_at(terminal.as_fd(), &AtomicBool::new(false)));
            while echoes() {
                std::thread::yield_now();
            }
            pty.master.take_writer().unwrap().write_all(b"hunter2\r").unwrap();
            typing.join().unwrap().unwrap()
        });
        assert_eq!(line.as_deref(), Some("hunter2"));
        assert_eq!(tcgetattr(&terminal).unwrap().local_modes, before.local_modes);
        assert_eq!(hidden_at(terminal.as_fd(), &AtomicBool::new(true)).unwrap(), None);
    }
}
