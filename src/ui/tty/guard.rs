//! Takes the person's terminal over and gives it back, on every way out: return, error, panic, signal, suspend.
//!
//! Modes are left in the exact inverse order of entering them (the keyboard protocol belongs to the alternate screen
//! and must be popped before it is left). The bytes for leaving are one constant, so that a panic hook can write
//! them without any state of ours: whether there is anything to give back is what crossterm says about raw mode.
//! What is asked of the terminal is never waited for; an answer that never comes would cost the first paint.

use std::backtrace::Backtrace;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use super::clipboard::Multiplexer;
use super::event::Told;
use super::graphics;
use super::outside::{ASK_STATUS, NO_PROGRESS, NO_STATUS};
use super::surface::region::ERASE;
use crate::base::sanitize::is_deceptive;
use crate::ui::keys::Mouse;
use crossterm::terminal;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};

/// Title pushed, alternate screen, keyboard told apart (kitty flag 1), bracketed paste, focus reports, no wrapping at
/// the right edge (a character wider than we think must not push the row down), changes between light and dark told,
/// Alt told by an Escape: xterm sends another letter without it. How Alt was told before is kept and given back by the
/// terminal, because it is on by default in some and off in others.
const ENTER: &[u8] = b"\x1b[22;2t\x1b[?1049h\x1b[>1u\x1b[?2004h\x1b[?1004h\x1b[?7l\x1b[?2031h\
    \x1b[?1036;1039s\x1b[?1036;1039h";
/// The same on the screen that is there.
const ENTER_MAIN: &[u8] = b"\x1b[22;2t\x1b[>1u\x1b[?2004h\x1b[?1004h\x1b[?7l\x1b[?2031h\
    \x1b[?1036;1039s\x1b[?1036;1039h";
/// The alternate screen over it, with keys told apart there too, and back. It is erased before it goes: what it had beyond
/// the right edge of a window that was made narrower, tmux puts into the scrollback otherwise.
const OPEN_ALTERNATE: &[u8] = b"\x1b[?1049h\x1b[>1u";
const CLOSE_ALTERNATE: &[u8] = b"\x1b[?2026l\x1b[m\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[<1u\x1b[2J\x1b[?1049l";
const KEYS_APART: &[u8] = b"\x1b[>1u";
/// Buttons, the wheel, and motion while a button is down: every motion as an event is too much for a slow link.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// What is behind the words.
const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x07";
/// Where the cursor stands behind an ambiguous character in the second row: in the first the answer might be a key. The
/// character is hidden and erased, and the next frame has to draw all rows.
const ASK_AMBIGUOUS: &str = "\x1b[?2026h\x1b[2;1H\x1b[8m\u{a7}\x1b[6n\x1b[m\r\x1b[K\x1b[?2026l";
/// What every terminal answers.
const ASK_ATTRIBUTES: &[u8] = b"\x1b[c";
/// Answered when all that was written before it has been read.
pub const ASK_ARRIVAL: &[u8] = b"\x1b[5n";
/// tmux 3.3 and older do not know the background; the terminal around it may, if they let us ask.
const ASK_AROUND_TMUX: &[u8] = b"\x1bPtmux;\x1b\x1b]11;?\x07\x1b\\";
/// Ends a synchronized update that may be open, then undoes everything above, last first.
const LEAVE: &[u8] = b"\x1b[?2026l\x1b[m\x1b[?25h\x1b[?1006l\x1b[?1002l\x1b[?1000l\
    \x1b[?1036;1039r\x1b[?2031l\x1b[?7h\x1b[?1004l\x1b[?2004l\x1b[<1u\x1b[2J\x1b[?1049l\x1b[23;2t";

/// The same where the alternate screen is not shown; what is drawn from the cursor's row on is erased first.
const LEAVE_MAIN: [&[u8]; 3] = [
    b"\x1b[?2026l\x1b[m",
    ERASE,
    b"\x1b[?25h\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?1036;1039r\x1b[?2031l\x1b[?7h\x1b[?1004l\x1b[?2004l\x1b[<1u\x1b[23;2t",
];

/// What most programs with a screen turn on that they may have left, where the screen of ours is not shown. No screen is
/// erased: it may be the person's own again.
const LEAVE_LENT: &[u8] = b"\x1b[?2026l\x1b[m\x1b[?25h\x1b[?1006l\x1b[?1002l\x1b[?1000l\
    \x1b[?2031l\x1b[?7h\x1b[?1004l\x1b[?2004l\x1b[=0u\x1b[?1049l\x1b[0 q";

/// What the terminal is set to: a number, so that another process can be told of it.
static HELD: AtomicU8 = AtomicU8::new(0);
/// It is ours.
const OURS: u8 = 1;
/// It shows how far the work is, or what this program is at: beside the screen, so that leaving the screen does not take
/// it away.
const PROGRESS: u8 = 2;
const STATUS: u8 = 4;
/// It was entered on its own screen, and the alternate one lies over that.
const MAIN: u8 = 8;
const OVER_MAIN: u8 = 16;
/// The cursor has a shape of ours.
const POINTER: u8 = 32;
/// It is not ours: a program has it that the person uses meanwhile.
pub(super) const LENT: u8 = 64;

/// What a terminal can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Questions {
    /// What is behind the words.
    pub background: bool,
    /// Whether it shows what programs are at.
    pub status: bool,
    /// Whether it draws pictures, and how it takes them.
    pub pictures: bool,
    /// How wide ambiguous characters are.
    pub ambiguous: bool,
}

/// What a terminal shows beside the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    Progress,
    Status,
    Pointer,
}

/// The shape of the cursor, without blinking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pointer {
    Block,
    Underline,
    Bar,
}

impl Pointer {
    pub const fn bytes(self) -> &'static [u8] {
        match self {
            Self::Block => b"\x1b[2 q",
            Self::Underline => b"\x1b[4 q",
            Self::Bar => b"\x1b[6 q",
        }
    }
}

/// As the person has set it.
const USUAL_POINTER: &[u8] = b"\x1b[0 q";

static TOLD: OnceLock<Listener> = OnceLock::new();

/// Who is told what becomes of the terminal.
#[derive(Debug)]
pub struct Listener {
    /// What it is set to, whenever that changes: a number for [`super::repair_after`], 0 when it is not ours.
    pub terminal: fn(u8),
    /// The number of a program that has it now, or no longer.
    pub program: fn(u32, bool),
    /// A program of this number that has it is to end, with all that it has started. Comes back when it has.
    pub end: fn(u32),
}

/// Only the first one is told.
pub fn tell_of(listener: Listener) {
    let _ = TOLD.set(listener);
}

/// This program has the terminal now, or no longer.
pub(super) fn tell_of_program(program: u32, has_terminal: bool) {
    if let Some(told) = TOLD.get() {
        (told.program)(program, has_terminal);
    }
}

/// Ends a program that has the terminal, with all that it has started; nothing where nobody was told of it.
pub(super) fn end_program(program: u32) {
    if let Some(told) = TOLD.get() {
        (told.end)(program);
    }
}

fn hold(more: u8) {
    let before = HELD.fetch_or(more, Ordering::Relaxed);
    if before & more == 0 {
        tell(before | more);
    }
}

fn tell(held: u8) {
    if let Some(told) = TOLD.get() {
        (told.terminal)(held);
    }
}

/// What takes away that which is shown beside the screen.
pub(super) fn nothing_beside(held: u8) -> impl Iterator<Item = &'static [u8]> {
    let all = [(PROGRESS, NO_PROGRESS), (STATUS, NO_STATUS), (POINTER, USUAL_POINTER)];
    all.into_iter().filter(move |(what, _)| held & what != 0).map(|(_, undo)| undo)
}

/// What leaves a terminal that is set to this.
pub(super) fn leave(held: u8) -> impl Iterator<Item = &'static [u8]> {
    let is_on_main = held & MAIN != 0;
    let over = (is_on_main && held & OVER_MAIN != 0).then_some(CLOSE_ALTERNATE);
    let rest: &'static [&'static [u8]] = match held {
        held if is_lent(held) => &[LEAVE_LENT],
        _ if is_on_main => &LEAVE_MAIN,
        _ => &[LEAVE],
    };
    over.into_iter().chain(rest.iter().copied())
}

/// Whether another program has the terminal.
pub(super) const fn is_lent(held: u8) -> bool {
    held & LENT != 0
}

/// Which screen of the terminal is drawn on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Place {
    /// The alternate one, which has no scrollback and goes when it is left.
    #[default]
    Alternate,
    /// The terminal's own, below what stands there; without the mouse, which is the terminal's.
    Main,
}

/// The terminal while it is ours. Dropping it gives the terminal back.
#[derive(Debug)]
pub struct Tty {
    mouse: Mouse,
    place: Place,
    /// The modes are those of the terminal's own screen, over which the alternate one is opened and closed.
    is_on_main: bool,
}

impl Tty {
    /// Fails without touching anything if standard output is no terminal.
    pub fn enter(mouse: Mouse) -> io::Result<Self> {
        if !io::stdout().is_terminal() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "standard output is not a terminal"));
        }
        let mut tty = Self { mouse, place: Place::Alternate, is_on_main: false };
        tty.take()?;
        Ok(tty)
    }

    fn take(&mut self) -> io::Result<()> {
        HELD.fetch_and(!LENT, Ordering::Relaxed);
        // Before, so that there is no moment in which a kill would leave it raw.
        hold(OURS);
        terminal::enable_raw_mode()?;
        let mut bytes = if self.is_on_main { ENTER_MAIN.to_vec() } else { ENTER.to_vec() };
        if self.is_on_main {
            hold(MAIN);
        }
        if self.is_on_main && self.place == Place::Alternate {
            hold(OVER_MAIN);
            bytes.extend_from_slice(OPEN_ALTERNATE);
        }
        if self.mouse == Mouse::Ours && self.place == Place::Alternate {
            bytes.extend_from_slice(MOUSE_ON);
        }
        TtyOut.write_all(&bytes).inspect_err(|_| restore())
    }

    /// Shows the other screen; what is on the alternate one is gone then.
    pub fn set_place(&mut self, place: Place) -> io::Result<()> {
        if self.place == place {
            return Ok(());
        }
        self.place = place;
        let mut bytes = Vec::new();
        match place {
            Place::Main => {
                bytes.extend_from_slice(CLOSE_ALTERNATE);
                if !self.is_on_main {
                    bytes.extend_from_slice(KEYS_APART);
                }
                self.is_on_main = true;
                hold(MAIN);
                TtyOut.write_all(&bytes)?;
                tell(HELD.fetch_and(!OVER_MAIN, Ordering::Relaxed) & !OVER_MAIN);
                Ok(())
            }
            Place::Alternate => {
                hold(OVER_MAIN);
                bytes.extend_from_slice(OPEN_ALTERNATE);
                if self.mouse == Mouse::Ours {
                    bytes.extend_from_slice(MOUSE_ON);
                }
                TtyOut.write_all(&bytes)
            }
        }
    }

    /// On the terminal's own screen it takes effect once the alternate one is shown.
    pub fn set_mouse(&mut self, mouse: Mouse) -> io::Result<()> {
        self.mouse = mouse;
        if self.place == Place::Main {
            return Ok(());
        }
        TtyOut.write_all(match mouse {
            Mouse::Ours => MOUSE_ON,
            Mouse::Free => MOUSE_OFF,
        })
    }

    /// Sets the window's title; the old one comes back at the end.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        TtyOut.write_all(title_bytes(title).as_bytes())
    }

    /// Columns and rows, each at least 1. Cheap: ask before each frame and no missed signal does harm.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let (w, h) = terminal::size()?;
        Ok((w.max(1), h.max(1)))
    }

    /// Gives the terminal back for a while. Drop the input stream first.
    pub fn pause(&mut self) {
        restore();
    }

    /// The same for a program that the person uses meanwhile.
    pub fn lend(&mut self) {
        restore();
        hold(LENT);
    }

    /// Takes it again; what the screen shows is unknown now, see [`super::Surface::invalidate`].
    pub fn resume(&mut self) -> io::Result<()> {
        self.take()
    }

    /// Ctrl+Z: gives the terminal back, stops this process (not its group: the agent works on) and, once `fg` has
    /// continued it, takes the terminal again. Without job control the stop is ignored and nothing but a flicker
    /// happens. Drop the input stream before, invalidate the surface after.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.pause();
        let stopped = kill_process(getpid(), Signal::TSTP);
        self.resume()?;
        stopped.map_err(io::Error::from)
    }

    /// Asks; the answers come as input, if at all.
    pub fn ask(&mut self, what: Questions, through: Multiplexer) -> io::Result<()> {
        let mut bytes = Vec::new();
        if what.pictures {
            bytes.extend_from_slice(graphics::ASK);
        }
        if what.status {
            bytes.extend_from_slice(ASK_STATUS);
        }
        if what.ambiguous && self.place == Place::Alternate {
            bytes.extend_from_slice(ASK_AMBIGUOUS.as_bytes());
        }
        if what.background {
            bytes.extend_from_slice(ASK_BACKGROUND);
        }
        bytes.extend_from_slice(ASK_ATTRIBUTES);
        if what.background && through == Multiplexer::Tmux {
            bytes.extend_from_slice(ASK_AROUND_TMUX);
        }
        TtyOut.write_all(&bytes)
    }

    /// The answer after which there is no other. tmux gives its own before that of the terminal around it.
    pub const fn last_answer(what: Questions, through: Multiplexer) -> Told {
        match through {
            Multiplexer::Tmux if what.background => Told::Background(0, 0, 0),
            Multiplexer::Tmux | Multiplexer::Screen | Multiplexer::None => Told::Attributes { sixel: false },
        }
    }

    /// Has the terminal show something beside the screen, until it is given back.
    pub fn show_beside(&mut self, what: Beside, bytes: &[u8]) -> io::Result<()> {
        hold(match what {
            Beside::Progress => PROGRESS,
            Beside::Status => STATUS,
            Beside::Pointer => POINTER,
        });
        TtyOut.write_all(bytes)
    }

    /// Width and height of a cell in pixels, where the terminal says so.
    pub fn cell(&self) -> Option<(u16, u16)> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        let cell = (size.ws_xpixel.checked_div(size.ws_col)?, size.ws_ypixel.checked_div(size.ws_row)?);
        (cell.0 > 0 && cell.1 > 0).then_some(cell)
    }

    /// Bytes that draw nothing, such as [`super::osc52`].
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        TtyOut.write_all(bytes)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        restore();
    }
}

/// Columns and rows of the terminal that this process has.
pub fn size() -> io::Result<(u16, u16)> {
    terminal::size()
}

/// Gives the terminal back. Does nothing when it is not ours; may be called from anywhere and any number of times.
pub fn restore() {
    if !terminal::is_raw_mode_enabled().unwrap_or(false) {
        return;
    }
    // All are tried, also when another fails: half a terminal is better than none.
    let held = HELD.swap(0, Ordering::Relaxed);
    for undo in nothing_beside(held).chain(leave(held)) {
        let _ = TtyOut.write_all(undo);
    }
    let _ = terminal::disable_raw_mode();
    tell(0);
}

/// On a panic of the calling thread, which must be the one that draws, gives the terminal back and says on stderr
/// what happened and where the report is. A panic of another thread (they are caught where they may happen) leaves the
/// screen alone and only writes the report. Reports go to `dir`, one file a process.
pub fn install_panic_hook(dir: PathBuf) {
    let screen = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        let ours = std::thread::current().id() == screen;
        // The message may quote what an agent sent.
        let what: String =
            info.to_string().chars().filter(|c| *c == '\n' || !(c.is_control() || is_deceptive(*c))).collect();
        if ours {
            restore();
        }
        let path = dir.join(format!("panic-{}.txt", std::process::id()));
        let version = env!("CARGO_PKG_VERSION");
        let mut report = String::new();
        let _ = writeln!(report, "acp-tui {version}: {what}\n{}", Backtrace::force_capture());
        let saved = append_private(&path, report.as_bytes());
        if ours || !io::stdout().is_terminal() {
            let mut err = io::stderr().lock();
            let _ = writeln!(err, "acp-tui {version} stopped by its own fault: {what}");
            let _ = match saved {
                Ok(()) => writeln!(err, "A report is in {}", path.display()),
                Err(e) => writeln!(err, "No report could be written to {}: {e}", path.display()),
            };
        }
    }));
}

fn append_private(path: &std::path::Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    if let Some(dir) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(bytes)
}

/// OSC 2 with a title that cannot end the sequence early or hide what it says.
fn title_bytes(title: &str) -> String {
    let clean: String = title.chars().filter(|c| !c.is_control() && !is_deceptive(*c)).take(200).collect();
    format!("\x1b]2;{clean}\x07")
}

/// Standard output, unbuffered: each `write_all` of a frame is one `write(2)` unless the kernel takes less.
#[derive(Clone, Copy, Debug, Default)]
pub struct TtyOut;

impl Write for TtyOut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let out = io::stdout();
        loop {
            match rustix::io::write(out.as_fd(), bytes) {
                Ok(n) => return Ok(n),
                Err(Errno::INTR) => {}
                // Another program on the terminal made it non-blocking. Half a frame would be worse than waiting.
                Err(Errno::AGAIN) => {
                    let flags = rustix::fs::fcntl_getfl(out.as_fd())?;
                    if !flags.contains(OFlags::NONBLOCK) {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                    rustix::fs::fcntl_setfl(out.as_fd(), flags - OFlags::NONBLOCK)?;
                }
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modes by which Alt is told.
    const ALT: &str = "1036;1039";

    /// The private modes a byte string sets (`true`) and resets, in order; not those that the terminal itself brings back.
    fn modes(bytes: &[u8]) -> Vec<(String, bool)> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.split('\x1b')
            .filter_map(|s| s.strip_prefix("[?"))
            .filter(|s| !s.starts_with(ALT))
            .map(|s| (s.trim_end_matches(['h', 'l']).to_owned(), s.ends_with('h')))
            .collect()
    }

    #[test]
    fn leaving_undoes_entering_in_inverse_order() {
        let mut entered = modes(ENTER);
        entered.extend(modes(MOUSE_ON));
        assert!(entered.iter().all(|(mode, on)| *on == (mode != "7")));
        let left: Vec<_> = modes(LEAVE).into_iter().filter(|(m, _)| m != "2026" && m != "25").collect();
        entered.reverse();
        let undone: Vec<_> = entered.into_iter().map(|(mode, on)| (mode, !on)).collect();
        assert_eq!(left, undone);
    }

    #[test]
    fn how_alt_is_told_is_kept_before_it_is_set_and_given_back() {
        let leave_main = LEAVE_MAIN.concat();
        for (enter, leave) in [(ENTER, LEAVE), (ENTER_MAIN, leave_main.as_slice())] {
            let (enter, leave) = (String::from_utf8_lossy(enter), String::from_utf8_lossy(leave));
            assert!(enter.contains(&format!("\x1b[?{ALT}s\x1b[?{ALT}h")), "{enter:?}");
            assert!(leave.contains(&format!("\x1b[?{ALT}r")), "{leave:?}");
            assert!(!leave.contains(&format!("{ALT}l")), "where it is on by default it stays on: {leave:?}");
        }
    }

    #[test]
    fn keyboard_is_pushed_inside_and_popped_before_leaving_the_alternate_screen() {
        let at = |s: &str, what: &str| s.find(what).unwrap();
        let enter = String::from_utf8(ENTER.to_vec()).unwrap();
        let leave = String::from_utf8(LEAVE.to_vec()).unwrap();
        assert!(at(&enter, "\x1b[?1049h") < at(&enter, "\x1b[>1u"));
        assert!(at(&leave, "\x1b[<1u") < at(&leave, "\x1b[?1049l"));
        assert!(at(&leave, "\x1b[?1049l") < at(&leave, "\x1b[23;2t"));
    }

    #[test]
    fn the_alternate_screen_is_erased_before_it_is_left() {
        for leave in [LEAVE, CLOSE_ALTERNATE] {
            let leave = String::from_utf8(leave.to_vec()).unwrap();
            assert!(leave.contains("\x1b[2J\x1b[?1049l"), "{leave:?}");
        }
        assert!(LEAVE_MAIN.iter().all(|bytes| !bytes.windows(4).any(|part| part == b"\x1b[2J")));
    }

    #[test]
    fn leaving_the_own_screen_undoes_entering_it_and_leaves_no_screen_that_was_not_entered() {
        let left = |held| leave(held).collect::<Vec<_>>().concat();
        let own: Vec<_> = modes(&left(OURS | MAIN)).into_iter().filter(|(m, _)| m != "2026" && m != "25").collect();
        let mut entered = modes(ENTER_MAIN);
        entered.extend(modes(MOUSE_ON));
        entered.reverse();
        assert_eq!(own, entered.into_iter().map(|(mode, on)| (mode, !on)).collect::<Vec<_>>());
        let over = String::from_utf8(left(OURS | MAIN | OVER_MAIN)).unwrap();
        assert_eq!((over.matches("\x1b[?1049l").count(), over.matches("\x1b[<1u").count()), (1, 2));
        assert!(over.find("\x1b[?1049l") < over.find("\x1b[2K"), "what is erased is the region: {over:?}");
    }

    #[test]
    fn where_a_program_had_the_terminal_modes_are_left_and_no_screen_is_erased() {
        let lent = modes(&leave(LENT).collect::<Vec<_>>().concat());
        for mode in ["25", "1000", "1002", "1006", "1004", "2004", "1049"] {
            assert!(lent.contains(&(mode.to_owned(), mode == "25")), "{mode}: {lent:?}");
        }
        assert!(!String::from_utf8_lossy(LEAVE_LENT).contains("\x1b[2J"));
    }

    #[test]
    fn what_was_shown_beside_the_screen_is_taken_away_and_nothing_else() {
        let undone = |held| nothing_beside(held).collect::<Vec<_>>();
        assert_eq!(undone(OURS | POINTER), [USUAL_POINTER]);
        assert_eq!(undone(OURS | PROGRESS | STATUS | MAIN), [NO_PROGRESS, NO_STATUS]);
        assert!(undone(OURS).is_empty());
    }

    #[test]
    fn mouse_reports_no_motion_without_a_button() {
        assert_eq!(modes(MOUSE_ON), ["1000", "1002", "1006"].map(|mode| (mode.to_owned(), true)));
    }

    #[test]
    fn a_title_cannot_break_out() {
        let bytes = title_bytes("a\x1b]52;c;eA==\x07b\u{9c}c\u{202e}d\n");
        assert_eq!(bytes, "\x1b]2;a]52;c;eA==bcd\x07");
        assert!(title_bytes(&"x".repeat(10_000)).len() < 220);
    }

    #[test]
    fn restoring_what_is_not_ours_writes_nothing() {
        // Were it to write, the test's output would switch screens.
        restore();
        restore();
    }
}
