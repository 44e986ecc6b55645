//! Repairs a terminal that a program left in disorder: its modes, its screen, its line settings.
//!
//! Knows nothing of what happened to it. Invariant: what is on the screen stays, and a terminal that is in order stays so.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use super::guard::{LENT, TtyOut, is_lent, leave, nothing_beside};
use rustix::termios::{
    ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// On the screen that is shown: where no other one is left, this is where the cursor comes back to.
const SAVE_CURSOR: &[u8] = b"\x1b7";
/// Where a screen of ours may still be shown: what leaves it, and then what other programs turn on. Mouse reports of all
/// kinds, keys told apart, keypad and cursor keys, inserting, margins (both ways to be rid of them move the cursor, which comes
/// back), the usual letters, a visible cursor.
const REST: &[u8] = b"\x1b[?1003l\x1b[?1005l\x1b[?1015l\x1b[?1016l\x1b[?9l\x1b[=0u\x1b[>4;0m\
    \x1b[?1l\x1b>\x1b[4l\x1b7\x1b[?6l\x1b[r\x1b8\x1b(B\x0f\x1b[?25h\x1b[m\r";

/// The terminal of this process, wherever it is.
pub fn repair() -> io::Result<()> {
    if io::stdout().is_terminal() {
        return repair_at(io::stdout().as_fd());
    }
    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    repair_at(terminal.as_fd())
}

/// Line settings of a terminal.
#[derive(Clone, Debug)]
pub struct LineSettings(Termios);

impl LineSettings {
    /// What a raw terminal has set otherwise, as text.
    pub fn to_text(&self) -> String {
        let Self(all) = self;
        let modes = [
            u64::from(all.input_modes.bits()),
            u64::from(all.output_modes.bits()),
            u64::from(all.control_modes.bits()),
            u64::from(all.local_modes.bits()),
        ];
        let limits = [SpecialCodeIndex::VMIN, SpecialCodeIndex::VTIME].map(|one| u64::from(all.special_codes[one]));
        modes.iter().chain(&limits).map(|one| format!("{one:x}")).collect::<Vec<_>>().join(":")
    }

    /// The same settings but for what stands in such a text; nothing where it is none.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Option<Self> {
        let all: Vec<_> = text.split(':').map(|one| u64::from_str_radix(one, 16)).collect::<Result<_, _>>().ok()?;
        let [input, output, control, local, least, time] = all.try_into().ok()?;
        self.0.input_modes = InputModes::from_bits_retain(input.try_into().ok()?);
        self.0.output_modes = OutputModes::from_bits_retain(output.try_into().ok()?);
        self.0.control_modes = ControlModes::from_bits_retain(control.try_into().ok()?);
        self.0.local_modes = LocalModes::from_bits_retain(local.try_into().ok()?);
        self.0.special_codes[SpecialCodeIndex::VMIN] = least.try_into().ok()?;
        self.0.special_codes[SpecialCodeIndex::VTIME] = time.try_into().ok()?;
        Some(self)
    }
}

/// Those of standard output, where that is a terminal.
pub fn line_settings() -> Option<LineSettings> {
    tcgetattr(io::stdout()).ok().map(LineSettings)
}

/// The one behind this descriptor, after the program that had set it to what `held` says was killed; it was set to `before`
/// until then. Line settings that are not raw any more are those of a shell that has taken the terminal back; programs that had
/// it meanwhile often set it half as raw.
pub fn repair_after(terminal: BorrowedFd<'_>, held: u8, before: Option<&LineSettings>) -> io::Result<()> {
    let mut out = std::fs::File::from(terminal.try_clone_to_owned()?);
    let settings = tcgetattr(terminal)?;
    let (processes, signals) =
        (settings.output_modes.contains(OutputModes::OPOST), settings.local_modes.contains(LocalModes::ISIG));
    let is_raw = if is_lent(held) { !processes || !signals } else { !processes && !signals };
    let set = match before {
        _ if !is_raw => Ok(()),
        Some(LineSettings(before)) => tcsetattr(terminal, OptionalActions::Now, before).map_err(io::Error::from),
        None => set_usual(terminal, settings),
    };
    let bytes: Vec<&[u8]> = nothing_beside(held).chain([SAVE_CURSOR]).chain(leave(held)).chain([REST]).collect();
    out.write_all(&bytes.concat())?;
    set
}

/// The terminal of this process, after a program that it was lent to has ended before its time; it was set to `before` until
/// then. Nobody else has it: all settings are as they were.
pub(super) fn repair_after_lending(before: Option<&LineSettings>) -> io::Result<()> {
    let terminal = io::stdout();
    let set = match before {
        Some(LineSettings(before)) => tcsetattr(&terminal, OptionalActions::Now, before).map_err(io::Error::from),
        None => Ok(()),
    };
    let bytes: Vec<&[u8]> = std::iter::once(SAVE_CURSOR).chain(leave(LENT)).chain([REST]).collect();
    TtyOut.write_all(&bytes.concat())?;
    set
}

fn repair_at(terminal: BorrowedFd<'_>) -> io::Result<()> {
    let mut out = std::fs::File::from(terminal.try_clone_to_owned()?);
    let set = set_usual(terminal, tcgetattr(terminal)?);
    out.write_all(&[SAVE_CURSOR].into_iter().chain(leave(0)).chain([REST]).collect::<Vec<_>>().concat())?;
    set
}

fn set_usual(terminal: BorrowedFd<'_>, mut settings: Termios) -> io::Result<()> {
    make_usual(&mut settings);
    Ok(tcsetattr(terminal, OptionalActions::Now, &settings)?)
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
