//! Repairs a terminal that a program left in disorder: its modes, its screen, its line settings.
//!
//! Knows nothing of what happened to it. Invariant: what is on the screen stays, and a terminal that is in order stays so.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use super::guard::LEAVE;
use rustix::termios::{
    ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, Termios, tcgetattr, tcsetattr,
};

/// On the screen that is shown: where no other one is left, this is where the cursor comes back to.
const SAVE_CURSOR: &[u8] = b"\x1b7";
/// Where a screen of ours may still be shown: what leaves it, and then what other programs turn on. Mouse reports of all
/// kinds, keys told apart, keypad and cursor keys, inserting, margins, the usual letters, a visible cursor.
const REST: &[u8] = b"\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1015l\x1b[?1016l\x1b[?9l\x1b[=0u\x1b[>4;0m\
    \x1b[?1l\x1b>\x1b[4l\x1b[?6l\x1b7\x1b[r\x1b8\x1b(B\x0f\x1b[?25h\x1b[m\r";

/// The terminal of this process, wherever it is.
pub fn repair() -> io::Result<()> {
    if io::stdout().is_terminal() {
        return repair_at(io::stdout().as_fd(), Lines::Usual);
    }
    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    repair_at(terminal.as_fd(), Lines::Usual)
}

/// What is done about the line settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    Usual,
    /// They are somebody else's by now.
    Kept,
}

/// The one behind this descriptor.
pub fn repair_at(terminal: BorrowedFd<'_>, lines: Lines) -> io::Result<()> {
    let mut settings = tcgetattr(terminal)?;
    let set = if lines == Lines::Usual {
        make_usual(&mut settings);
        tcsetattr(terminal, OptionalActions::Now, &settings)
    } else {
        Ok(())
    };
    let mut out = std::fs::File::from(terminal.try_clone_to_owned()?);
    out.write_all(&[SAVE_CURSOR, LEAVE, REST].concat())?;
    Ok(set?)
}

/// As `stty sane` has them, but for what names the keys.
fn make_usual(settings: &mut Termios) {
    settings.input_modes.insert(InputModes::ICRNL | InputModes::IXON | InputModes::BRKINT | InputModes::IMAXBEL);
    settings.input_modes.remove(InputModes::IGNBRK | InputModes::INLCR | InputModes::IGNCR | InputModes::ISTRIP);
    settings.output_modes.insert(OutputModes::OPOST | OutputModes::ONLCR);
    settings.control_modes.insert(ControlModes::CREAD);
    let local = LocalModes::ISIG
        | LocalModes::ICANON
        | LocalModes::IEXTEN
        | LocalModes::ECHO
        | LocalModes::ECHOE
        | LocalModes::ECHOK
        | LocalModes::ECHOCTL
        | LocalModes::ECHOKE;
    settings.local_modes.insert(local);
    settings.local_modes.remove(LocalModes::ECHONL | LocalModes::NOFLSH | LocalModes::TOSTOP);
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
