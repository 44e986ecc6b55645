//! The guard: a second process of this program that is there for the case that the first one is killed.
//!
//! It waits at the end of a pipe, costs no time while it does, and is told which groups of processes there are and whether
//! the terminal is taken. Invariants: telling it something never waits; where there is no guard everything works as with
//! one; it ends only what this run has started, and after an orderly end nothing.

use std::ffi::OsStr;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use super::family::{self, run_mark};
use super::marked;

/// Groups that are remembered at most.
const MAX_GROUPS: usize = 4096;
/// What is told before the guard is there.
const MAX_PENDING: usize = 64 << 10;
/// How long processes may take to end by themselves, and to be gone once they are killed.
const GRACE: Duration = Duration::from_secs(2);
const KILL_LIMIT: Duration = Duration::from_millis(800);
const POLL: Duration = Duration::from_millis(40);

static LINE: Mutex<Line> = Mutex::new(Line::Off);
/// The thread that starts the guard.
static STARTER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// The way to the guard.
enum Line {
    Off,
    Starting { pending: Vec<u8> },
    Open { pipe: ChildStdin, guard: Child },
}

/// What the guard is told, one a line.
enum Word {
    Holds(i32),
    LetsGo(i32),
    /// What the terminal is set to, in a number of those who set it; 0 when it is not ours.
    Terminal(u8),
    Ends,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(group) => writeln!(f, "holds {group}"),
            Self::LetsGo(group) => writeln!(f, "lets-go {group}"),
            Self::Terminal(held) => writeln!(f, "terminal {held}"),
            Self::Ends => writeln!(f, "ends"),
        }
    }
}

fn starter() -> MutexGuard<'static, Option<JoinHandle<()>>> {
    STARTER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the guard beside everything else: this program with `word` and what else it is to know. With a terminal it
/// holds standard output, to give it back.
pub fn start_guard(word: &'static str, has_terminal: bool) {
    *line() = Line::Starting { pending: Vec::new() };
    let begin = move || {
        let begun = spawn(word, has_terminal);
        let mut line = line();
        let pending = match &mut *line {
            Line::Starting { pending } => std::mem::take(pending),
            Line::Off | Line::Open { .. } => Vec::new(),
        };
        *line = match begun {
            Ok((mut pipe, guard)) => match pipe.write_all(&pending) {
                Ok(()) => Line::Open { pipe, guard },
                Err(_) => Line::Off,
            },
            // It works without.
            Err(_) => Line::Off,
        };
    };
    match std::thread::Builder::new().name("guard".into()).spawn(begin) {
        Ok(thread) => *starter() = Some(thread),
        Err(_) => *line() = Line::Off,
    }
}

fn spawn(word: &str, has_terminal: bool) -> io::Result<(ChildStdin, Child)> {
    // The file may have been replaced since this program was started.
    let own = OsStr::new("/proc/self/exe");
    let program = if std::path::Path::new(own).exists() { own.into() } else { std::env::current_exe()? };
    let mark = run_mark().map(|(_, value)| value).unwrap_or_default();
    let mut guard = Command::new(program)
        .arg0("acp-tui-guard")
        .args([word, &mark])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(if has_terminal { Stdio::inherit() } else { Stdio::null() })
        .stderr(Stdio::null())
        .spawn()?;
    family::GUARD.store(i32::try_from(guard.id()).unwrap_or(0), Ordering::Relaxed);
    let pipe = guard.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
    Ok((pipe, guard))
}

/// Tells it, unless that would wait.
fn tell(word: &Word) {
    let mut line = line();
    match &mut *line {
        Line::Off => {}
        Line::Starting { pending } if pending.len() < MAX_PENDING => pending.extend(word.to_string().bytes()),
        Line::Starting { .. } => {}
        Line::Open { pipe, .. } => {
            // A line is shorter than what a pipe takes in one piece.
            let _ = pipe.write_all(word.to_string().as_bytes());
        }
    }
}

/// A group of processes, or a session, is ours from now on.
pub(in crate::host) fn holds(group: i32) {
    tell(&Word::Holds(group));
}

/// It may be another one's from now on.
pub(in crate::host) fn lets_go(group: i32) {
    tell(&Word::LetsGo(group));
}

/// What the terminal is set to from now on, in a number of those who set it; 0 when it is ours no longer.
pub fn tell_guard_of_terminal(held: u8) {
    tell(&Word::Terminal(held));
}

/// Everything ends in good order: the guard does, too, and is gone when this returns.
pub fn end_guard() {
    let starting = starter().take();
    if let Some(thread) = starting {
        // One that has panicked has started nothing.
        let _ = thread.join();
    }
    tell(&Word::Ends);
    if let Line::Open { pipe, mut guard } = std::mem::replace(&mut *line(), Line::Off) {
        // One that was stopped does not listen.
        let _ = guard.kill();
        let _ = guard.wait();
        drop(pipe);
    }
}

// ---- the second process

/// Leaves the session and the name of the client behind: no signal to those reaches this process, and its terminal can be
/// set up from here without being stopped for it.
pub fn become_guard() {
    // One that leads a group already stays where it is.
    let _ = rustix::process::setsid();
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::thread::set_name(c"acp-guard");
}

/// Lets go of the client's terminal, which whoever waits for its end would wait for otherwise.
pub fn let_go_of_output() {
    if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
        // Without it the terminal is held until the guard ends.
        let _ = rustix::stdio::dup2_stdout(nothing);
    }
}

/// What a client has left that was killed.
#[derive(Debug, Default)]
pub struct Left {
    groups: Vec<Group>,
    mark: String,
    /// What the terminal was set to; 0 when it was not ours.
    pub terminal: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    leader: i32,
    /// With its number it names the leader for good, where the system tells.
    started: Option<u64>,
}

/// Waits until the client is gone; nothing when it ended in good order, or before it had told anything. `mark` is that of
/// the client's run.
pub fn watch(input: impl BufRead, mark: &str) -> Option<Left> {
    let mut left = Left { mark: mark.to_owned(), ..Left::default() };
    let mut was_told = false;
    for line in input.lines() {
        let Ok(line) = line else { break };
        was_told = true;
        let mut words = line.split(' ');
        match (words.next(), words.next().and_then(|word| word.parse().ok())) {
            (Some("holds"), Some(leader)) => left.hold(leader),
            (Some("lets-go"), Some(leader)) => left.groups.retain(|group| group.leader != leader),
            (Some("terminal"), Some(held)) => left.terminal = u8::try_from(held).unwrap_or(0),
            (Some("ends"), _) => return None,
            _ => {}
        }
    }
    was_told.then_some(left)
}

impl Left {
    fn hold(&mut self, leader: i32) {
        if self.groups.len() >= MAX_GROUPS / 64 {
            self.groups.retain(Group::is_there);
        }
        if leader > 1 && self.groups.len() < MAX_GROUPS {
            self.groups.push(Group { leader, started: marked::started(leader) });
        }
    }

    /// Ends what is left: asks first, and kills what does not listen.
    pub fn end(&self) {
        for (signal, limit) in [(Signal::TERM, GRACE), (Signal::KILL, KILL_LIMIT)] {
            let until = Instant::now() + limit;
            self.signal(signal);
            while self.is_alive() {
                let Some(rest) = until.checked_duration_since(Instant::now()) else { break };
                marked::pause(POLL.min(rest));
            }
        }
    }

    fn signal(&self, signal: Signal) {
        for group in self.groups.iter().filter(|group| group.is_there()) {
            if let Some(leader) = Pid::from_raw(group.leader) {
                // It may end between the look and the signal, which is what was wanted.
                let _ = kill_process_group(leader, signal);
            }
        }
        for process in marked::of_run(&self.mark) {
            process.signal(signal);
        }
    }

    fn is_alive(&self) -> bool {
        self.groups.iter().any(Group::is_there) || !marked::of_run(&self.mark).is_empty()
    }
}

impl Group {
    /// A living member is left, and its number was not given to another one.
    fn is_there(&self) -> bool {
        let is_other =
            self.started.is_some() && marked::started(self.leader).is_some_and(|is| Some(is) != self.started);
        let leader = Pid::from_raw(self.leader);
        let is_known = leader.is_some_and(|leader| rustix::process::test_kill_process_group(leader).is_ok());
        !is_other && is_known && family::has_living_member(self.leader)
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
