//! The program in a pseudo-terminal, with an emulator at the other end.
//!
//! One thread reads all bytes, keeps them with the time of their arrival, and feeds the emulator; tests wait on its
//! condition variable. Every place has directories of its own, and a mark in the environment by which the processes
//! that it started are found again.

use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, TermMode};
use alacritty_terminal::vte::ansi::Processor;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub const BIN: &str = env!("CARGO_BIN_EXE_acp-tui");
/// Only ever waited for when a test fails.
const PATIENCE: Duration = Duration::from_secs(15);
/// Between two keys of a person: what comes sooner is taken for a paste and decides nothing.
const PACE: Duration = Duration::from_millis(60);
/// Longer than keys are ignored after a dialog has appeared or got the focus.
const ARMED: Duration = Duration::from_millis(800);

pub const ESC: &str = "\x1b[27u";
pub const ENTER: &str = "\r";
pub const TAB: &str = "\t";
pub const SHIFT_TAB: &str = "\x1b[Z";
pub const UP: &str = "\x1b[A";
pub const DOWN: &str = "\x1b[B";
pub const PAGE_UP: &str = "\x1b[5~";
pub const PAGE_DOWN: &str = "\x1b[6~";
pub const CTRL_HOME: &str = "\x1b[1;5H";
pub const CTRL_END: &str = "\x1b[1;5F";
pub const F1: &str = "\x1bOP";
pub const F2: &str = "\x1bOQ";
pub const F12: &str = "\x1b[24~";
pub const ALT_P: &str = "\x1bp";
pub const ALT_ENTER: &str = "\x1b\r";
pub const CTRL_C: &str = "\x03";
pub const CTRL_D: &str = "\x04";
pub const CTRL_G: &str = "\x07";
pub const CTRL_J: &str = "\n";
pub const CTRL_L: &str = "\x0c";
pub const CTRL_O: &str = "\x0f";
pub const CTRL_Y: &str = "\x19";
pub const CTRL_Z: &str = "\x1a";

/// Opening a terminal and starting a program in it must not be seen by another start in between, which would
/// inherit the file descriptors.
static STARTING: Mutex<()> = Mutex::new(());

/// Directories of one test: home, configuration, state, working and temporary directory, programs.
pub struct Place {
    root: tempfile::TempDir,
}

impl Drop for Place {
    /// All that was sent is valid.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = super::schema::check_journals(&self.path("state"));
        }
    }
}

impl Place {
    pub fn new() -> Self {
        let place = Self { root: tempfile::Builder::new().prefix("acp-tui-e2e-").tempdir().unwrap() };
        for dir in ["home", "config/acp-tui", "state", "work", "tmp", "bin"] {
            std::fs::create_dir_all(place.path(dir)).unwrap();
        }
        place
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub fn config(&self, text: &str) {
        std::fs::write(self.path("config/acp-tui/config.toml"), text).unwrap();
    }

    /// A script for the demo agent.
    pub fn script(&self, text: &str) -> PathBuf {
        let path = self.path("script.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A program on the path.
    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path("bin").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// What the environment of every process of this place contains.
    pub fn mark(&self) -> String {
        self.root.path().to_string_lossy().into_owned()
    }

    /// The client with a script of the demo agent, by name or as text.
    pub fn play(&self, script: &str, size: (u16, u16)) -> Session {
        self.play_with(script, size, &[])
    }

    /// With variables of the environment that differ.
    pub fn play_with(&self, script: &str, size: (u16, u16), env: &[(&str, &str)]) -> Session {
        let script = if script.contains('\n') { self.script(script).into_os_string() } else { script.into() };
        let args = ["--", BIN, "demo-agent", "--fast", "--script"].map(Into::into);
        let args: Vec<std::ffi::OsString> = args.into_iter().chain([script]).collect();
        self.start_os(BIN, &args, size, env)
    }

    pub fn start(&self, args: &[&str], size: (u16, u16)) -> Session {
        self.run(BIN, args, size)
    }

    pub fn run(&self, program: &str, args: &[&str], size: (u16, u16)) -> Session {
        let args: Vec<std::ffi::OsString> = args.iter().map(Into::into).collect();
        self.start_os(program, &args, size, &[])
    }

    fn start_os(&self, program: &str, args: &[std::ffi::OsString], size: (u16, u16), env: &[(&str, &str)]) -> Session {
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display());
        command.env("PATH", path);
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("SHELL", "/bin/sh");
        command.env("ACP_TUI_DEMO_FAST", "1");
        command.env("HOME", self.path("home"));
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command.env("XDG_STATE_HOME", self.path("state"));
        command.env("TMPDIR", self.path("tmp"));
        for (name, value) in env {
            command.env(name, value);
        }
        command.cwd(self.path("work"));
        Session::start(command, size)
    }
}

#[derive(Clone, Copy)]
struct Size(u16, u16);

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }
    fn screen_lines(&self) -> usize {
        usize::from(self.1).max(1)
    }
    fn columns(&self) -> usize {
        usize::from(self.0).max(2)
    }
}

struct Seen {
    term: Term<VoidListener>,
    parser: Processor,
    bytes: Vec<u8>,
    /// When which number of bytes had come.
    reads: Vec<(Instant, usize)>,
    ended: bool,
}

impl Seen {
    fn text(&self) -> String {
        let grid = self.term.grid();
        let mut text = String::new();
        for line in 0..grid.screen_lines() {
            let row = &grid[Line(i32::try_from(line).unwrap())];
            let mut words = String::new();
            for column in 0..grid.columns() {
                let cell = &row[Column(column)];
                if !cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
                    words.push(cell.c);
                    words.extend(cell.zerowidth().into_iter().flatten());
                }
            }
            text.push_str(words.trim_end());
            text.push('\n');
        }
        text
    }
}

#[derive(Default)]
struct Shared {
    seen: Mutex<Option<Seen>>,
    news: Condvar,
}

pub struct Session {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    shared: Arc<Shared>,
    started: Instant,
    /// The line settings before the program came.
    settings: String,
    pub pid: u32,
    gone: bool,
    /// When the person's last key was pressed.
    pressed: Instant,
}

impl Session {
    fn start(command: CommandBuilder, (cols, rows): (u16, u16)) -> Self {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let (started, pair, child, settings) = {
            let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
            let pair = native_pty_system().openpty(size).unwrap();
            let settings = format!("{:?}", pair.master.get_termios());
            let started = Instant::now();
            let child = pair.slave.spawn_command(command).unwrap();
            (started, pair, child, settings)
        };
        let portable_pty::PtyPair { slave, master } = pair;
        drop(slave);
        let term = Term::new(Config::default(), &Size(cols, rows), VoidListener);
        let seen = Seen { term, parser: Processor::new(), bytes: Vec::new(), reads: Vec::new(), ended: false };
        let shared = Arc::new(Shared { seen: Mutex::new(Some(seen)), news: Condvar::new() });
        let mut reader = master.try_clone_reader().unwrap();
        let writer = master.take_writer().unwrap();
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut guard = theirs.seen.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(seen) = guard.as_mut() else { return };
                let part = &buffer[..read];
                seen.bytes.extend_from_slice(part);
                let Seen { term, parser, .. } = seen;
                parser.advance(term, part);
                seen.reads.push((Instant::now(), seen.bytes.len()));
                seen.ended = read == 0;
                drop(guard);
                theirs.news.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        let pid = child.process_id().unwrap();
        Self { child, master, writer, shared, started, settings, pid, gone: false, pressed: Instant::now() }
    }

    fn seen(&self) -> MutexGuard<'_, Option<Seen>> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look<T>(&self, f: impl FnOnce(&Seen) -> T) -> T {
        f(self.seen().as_ref().unwrap())
    }

    /// Waits until `done` gives something, at most `limit`.
    fn wait<T>(&self, limit: Duration, mut done: impl FnMut(&Seen) -> Option<T>) -> Option<T> {
        let until = Instant::now() + limit;
        let mut guard = self.seen();
        loop {
            if let Some(found) = done(guard.as_ref().unwrap()) {
                return Some(found);
            }
            let left = until.checked_duration_since(Instant::now())?;
            if guard.as_ref().unwrap().ended {
                return None;
            }
            (guard, _) = self.shared.news.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for a screen; fails with the screen that is there instead.
    #[track_caller]
    pub fn wait_for(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let found = self.wait(PATIENCE, |seen| Some(seen.text()).filter(|text| is_there(text)));
        found.unwrap_or_else(|| panic!("never seen: {what}\n{}", self.dump()))
    }

    /// Waits until these words are on the screen.
    #[track_caller]
    pub fn see(&self, words: &str) -> String {
        self.wait_for(words, |screen| screen.contains(words))
    }

    /// Waits until these words are not on the screen.
    #[track_caller]
    pub fn see_no(&self, words: &str) -> String {
        self.wait_for(&format!("without {words}"), |screen| !screen.contains(words))
    }

    /// Waits for bytes after the first `from`.
    #[track_caller]
    pub fn wait_for_bytes(&self, from: usize, what: &[u8]) {
        let found = self.wait(PATIENCE, |seen| find(&seen.bytes[from..], what));
        assert!(found.is_some(), "never written: {:?}\n{}", String::from_utf8_lossy(what), self.dump());
    }

    /// Lets time pass that a requirement names.
    pub fn pass(&self, time: Duration) {
        let _: Option<()> = self.wait(time, |_| None);
    }

    /// Waits until nothing has been written for so long.
    pub fn quiet(&self, time: Duration) {
        loop {
            let before = self.written();
            self.pass(time);
            if self.written() == before {
                return;
            }
        }
    }

    /// A key, or what a program writes in one go. Nobody presses two keys sooner one after the other than [`PACE`].
    pub fn send(&mut self, keys: &str) {
        self.pass(PACE.saturating_sub(self.pressed.elapsed()));
        self.pressed = Instant::now();
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Types words into the composer and waits until its last row ends with them.
    #[track_caller]
    pub fn write(&mut self, words: &str) {
        self.send(words);
        let last = words.lines().last().unwrap_or_default().trim_end().to_owned();
        self.wait_for(&format!("written: {words}"), |screen| screen.lines().any(|l| l.ends_with(&last)));
    }

    /// Writes a prompt and sends it off.
    #[track_caller]
    pub fn prompt(&mut self, words: &str) {
        self.write(words);
        self.send(ENTER);
    }

    #[track_caller]
    pub fn ready(&self) {
        self.wait_for("ready", |screen| {
            screen.contains("ready · F1") || screen.contains("write a request") || screen.contains("Enter sends ·")
        });
    }

    /// Waits until the dock has a question. The first screen names Shift+Tab.
    #[track_caller]
    pub fn asks(&self) {
        self.wait_for("a question", |screen| screen.replace("Shift+Tab", "").contains("Tab"));
    }

    /// Goes to the dock and waits until its keys count.
    #[track_caller]
    pub fn focus(&mut self) {
        self.asks();
        self.send(TAB);
        self.wait_for("focus in the dock", in_dock);
        self.pass(ARMED);
    }

    /// Waits until the keys of a dialog that has just appeared count.
    pub fn armed(&self) {
        self.pass(ARMED);
    }

    pub fn screen(&self) -> String {
        self.look(Seen::text)
    }

    /// What stands in the scrollback and on the screen, without blank rows.
    pub fn scrollback(&self) -> Vec<String> {
        self.look(|seen| {
            let grid = seen.term.grid();
            let first = -i32::try_from(grid.history_size()).unwrap();
            let text = (first..i32::try_from(grid.screen_lines()).unwrap()).map(|line| {
                let row = &grid[Line(line)];
                (0..grid.columns()).map(|column| row[Column(column)].c).collect::<String>().trim_end().to_owned()
            });
            text.filter(|row| !row.is_empty()).collect()
        })
    }

    pub fn written(&self) -> usize {
        self.look(|seen| seen.bytes.len())
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.look(|seen| seen.bytes.clone())
    }

    /// How long after the start the first bytes came that contain `what`.
    pub fn when(&self, what: &str) -> Duration {
        self.arrival(what, 0).expect("the bytes are there") - self.started
    }

    /// When `what` had come, looked for after the first `from` bytes.
    pub fn arrival(&self, what: &str, from: usize) -> Option<Instant> {
        self.look(|seen| {
            let end = from + find(&seen.bytes[from..], what.as_bytes())? + what.len();
            seen.reads.iter().find(|(_, len)| *len >= end).map(|(at, _)| *at)
        })
    }

    /// Whether Ctrl+C is a signal now, for whoever has the terminal.
    pub fn keys_are_signals(&self) -> bool {
        format!("{:?}", self.master.get_termios()).contains("ISIG")
    }

    pub fn resize(&self, cols: u16, rows: u16) {
        // The emulator first: what was written for the old size is drawn over in any case.
        if let Some(seen) = self.seen().as_mut() {
            seen.term.resize(Size(cols, rows));
        }
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    pub fn modes(&self) -> TermMode {
        self.look(|seen| *seen.term.mode())
    }

    /// Waits until the screen of the shell is back.
    #[track_caller]
    pub fn see_first_screen(&self) {
        let is_back = |seen: &Seen| (!seen.term.mode().contains(TermMode::ALT_SCREEN)).then_some(());
        assert!(self.wait(PATIENCE, is_back).is_some(), "{:?}\n{}", self.modes(), self.dump());
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the end of the program and gives its exit code.
    #[track_caller]
    pub fn end(&mut self) -> u32 {
        let ended = self.wait(PATIENCE, |seen| seen.ended.then_some(()));
        assert!(ended.is_some() || self.look(|seen| seen.ended), "does not end\n{}", self.dump());
        let code = self.child.wait().unwrap().exit_code();
        self.gone = true;
        code
    }

    /// Ctrl+D on an empty composer, once more where something is alive; the exit code must be 0 and nothing may be left.
    #[track_caller]
    pub fn quit(mut self, place: &Place) -> Vec<u8> {
        self.send(CTRL_D);
        let asked = self.wait(PATIENCE, |seen| {
            let is_asked = seen.text().contains("again quits");
            (seen.ended || is_asked).then_some(is_asked && !seen.ended)
        });
        if asked == Some(true) {
            self.send(CTRL_D);
        }
        assert_eq!(self.end(), 0, "{}", self.dump());
        self.assert_restored();
        let left = super::processes::marked(&place.mark());
        assert!(left.is_empty(), "left running: {left:?}");
        self.bytes()
    }

    /// The terminal is as it was: line settings, screen, keyboard, mouse, paste, cursor.
    #[track_caller]
    pub fn assert_restored(&self) {
        let bytes = self.bytes();
        super::bytes::assert_modes_given_back(&bytes);
        self.assert_usual();
    }

    /// The same for what the emulator and the kernel say of themselves.
    #[track_caller]
    pub fn assert_usual(&self) {
        let modes = self.modes();
        let ours = TermMode::ALT_SCREEN
            | TermMode::BRACKETED_PASTE
            | TermMode::MOUSE_MODE
            | TermMode::SGR_MOUSE
            | TermMode::FOCUS_IN_OUT;
        assert!(!modes.intersects(ours), "{modes:?}");
        assert!(modes.contains(TermMode::SHOW_CURSOR | TermMode::LINE_WRAP), "{modes:?}");
        let settings = format!("{:?}", self.master.get_termios());
        assert_eq!(settings, self.settings, "line settings");
    }

    pub fn dump(&self) -> String {
        let screen = self.screen();
        let wide = "─".repeat(40);
        let tail = self.look(|seen| seen.bytes[seen.bytes.len().saturating_sub(300)..].escape_ascii().to_string());
        format!("{wide} screen\n{screen}{wide} last bytes\n{tail}\n")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.gone {
            if let Some(pid) = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
}

/// Whether the dock has the focus.
pub fn in_dock(screen: &str) -> bool {
    screen.contains("Esc back") || screen.lines().any(|line| line.ends_with(" · Esc"))
}

/// The row of the composer, without its mark; nothing where it only says what can be written.
pub fn composer(screen: &str) -> String {
    let at = screen.lines().rev().find_map(|line| line.strip_prefix("❯"));
    at.map(str::trim).filter(|text| !text.starts_with("Ask for a change")).unwrap_or_default().to_owned()
}

pub fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// A file of the repository.
pub fn asset(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

impl Session {
    /// Clears the composer, then quits.
    #[track_caller]
    pub fn quit_with_text(mut self, place: &Place) -> Vec<u8> {
        self.send(CTRL_C);
        self.see("cleared");
        self.quit(place)
    }
}
