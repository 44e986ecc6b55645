//! The guard: a second process of this program that is there for the case that the first one is killed.
//!
//! It is forked off before there is anything else, so that it shares its memory with the client and needs next to none of
//! its own. It waits at the end of a pipe, costs no time while it does, and is told which groups of processes there are and
//! whether the terminal is taken. Invariants: telling it something never waits; where there is no guard everything works as
//! with one; it ends only what this run has started, and after an orderly end nothing.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fork::Fork;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, waitid, waitpid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::family::{self, Living, run_mark};
use super::lent::{Borrowers, GRACE, KILL_LIMIT, Lent};
use super::marked::{self, POLL};

/// Groups that are remembered at most: a pipe takes what is to be said of them in one piece.
const MAX_GROUPS: usize = 1024;
/// How long those that were killed are waited for.
const KILLED: Duration = Duration::from_millis(250);
/// A leader that was gone when it was told of.
const GONE: &str = "-";

static LINE: Mutex<Line> = Mutex::new(Line::Off);
/// There is no guard any more, in good order.
static OFF: Condvar = Condvar::new();

/// The way to the guard.
enum Line {
    Off,
    Open { pipe: PipeWriter, guard: Pid, told: Left },
}

/// What the guard is told, one a line.
#[derive(Clone, Copy, Debug)]
enum Word {
    Holds(Group),
    LetsGo(i32),
    /// A program has the terminal, until it is let go of.
    Lends(Lent),
    /// What the terminal is set to, in a number of those who set it; 0 when it is not ours.
    Terminal(u8),
    Ends,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(Group { leader, started: Some(started) }) => writeln!(f, "holds {leader} {started}"),
            Self::Holds(Group { leader, started: None }) => writeln!(f, "holds {leader} {GONE}"),
            Self::LetsGo(leader) => writeln!(f, "lets-go {leader}"),
            Self::Lends(Lent { pid, started: Some(started) }) => writeln!(f, "lends {pid} {started}"),
            Self::Lends(Lent { pid, started: None }) => writeln!(f, "lends {pid} {GONE}"),
            Self::Terminal(held) => writeln!(f, "terminal {held}"),
            Self::Ends => writeln!(f, "ends"),
        }
    }
}

impl Word {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let word = words.next()?;
        let number = words.next().and_then(|word| word.parse().ok());
        let mut started = || match words.next()? {
            GONE => Some(None),
            started => started.parse().ok().map(Some),
        };
        match word {
            "holds" => Some(Self::Holds(Group { leader: number?, started: started()? })),
            "lends" => Some(Self::Lends(Lent { pid: number?, started: started()? })),
            "lets-go" => Some(Self::LetsGo(number?)),
            "terminal" => Some(Self::Terminal(u8::try_from(number?).unwrap_or(0))),
            "ends" => Some(Self::Ends),
            _ => None,
        }
    }
}

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the guard. Gives it its post; the client gets nothing and goes on. With a terminal the guard holds standard
/// output, to give it back. To be called while there is one thread: a lock that another one held would never open.
pub fn start_guard(has_terminal: bool) -> Option<Post> {
    // Of the client; afterwards each has a name of its own.
    let mark = run_mark().map(|(_, value)| value).unwrap_or_default();
    // It works without.
    let (input, pipe) = pipe_to_guard().ok()?;
    match fork::fork().ok()? {
        Fork::Child => {
            drop(pipe);
            become_guard(has_terminal);
            Some(Post { input, mark })
        }
        Fork::Parent(number) => {
            let guard = Pid::from_raw(number)?;
            family::GUARD.store(number, Ordering::Relaxed);
            *line() = Line::Open { pipe, guard, told: Left { mark, ..Left::default() } };
            None
        }
    }
}

pub(super) fn pipe_to_guard() -> io::Result<(PipeReader, PipeWriter)> {
    let (input, pipe) = io::pipe()?;
    fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
    Ok((input, pipe))
}

/// Tells it, unless that would wait.
fn tell(word: Word) {
    if let Line::Open { pipe, told, .. } = &mut *line() {
        told.hear(word);
        // A line is shorter than what a pipe takes in one piece.
        let _ = pipe.write_all(word.to_string().as_bytes());
    }
}

/// A group of processes, or a session, is ours from now on.
pub(in crate::host) fn holds(leader: i32) {
    tell(Word::Holds(Group::of(leader)));
}

/// It may be another one's from now on.
pub(in crate::host) fn lets_go(group: i32) {
    tell(Word::LetsGo(group));
}

/// A program has the terminal from now on; or it has no longer.
pub fn tell_guard_of_program(program: u32, has_terminal: bool) {
    if let Ok(pid) = i32::try_from(program) {
        tell(if has_terminal { Word::Lends(Lent::of(pid)) } else { Word::LetsGo(pid) });
    }
}

/// What the terminal is set to from now on, in a number of those who set it; 0 when it is ours no longer.
pub fn tell_guard_of_terminal(held: u8) {
    tell(Word::Terminal(held));
}

/// The guard of this moment; none before the first and after an orderly end.
pub(super) fn current() -> Option<Pid> {
    match &*line() {
        Line::Open { guard, .. } => Some(*guard),
        Line::Off => None,
    }
}

/// Waits for an orderly end, for so long; whether it has come.
pub(super) fn ends_within(time: Duration) -> bool {
    let waited = OFF.wait_timeout_while(line(), time, |line| matches!(line, Line::Open { .. }));
    waited.is_ok_and(|(_, waited)| !waited.timed_out())
}

/// Puts this process, which waits at the other end of the pipe, in the place of a guard that has ended, and tells it all that
/// that one knew. `false` when none is needed any more.
pub(super) fn replace(mut new: PipeWriter, by: Pid) -> bool {
    let mut line = line();
    let Line::Open { pipe, guard, told } = &mut *line else { return false };
    // One that has ended as well hears nothing, and is replaced in its turn.
    let _ = new.write_all(told.words().as_bytes());
    family::GUARD.store(by.as_raw_nonzero().get(), Ordering::Relaxed);
    *pipe = new;
    let ended = std::mem::replace(guard, by);
    // Last: who does not find it any more knows that it is replaced.
    let _ = retry_on_intr(|| waitpid(Some(ended), WaitOptions::NOHANG));
    true
}

/// Until it has ended; how is left to be told to somebody else.
pub(super) fn wait_for(process: Pid) {
    let _ = retry_on_intr(|| waitid(WaitId::Pid(process), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
}

/// Kills the groups that nobody has let go of: for an end that waits for those no longer who were to end them.
pub fn kill_held() {
    let held = match &*line() {
        Line::Open { told, .. } => told.groups.clone(),
        Line::Off => return,
    };
    kill(&held);
}

/// Kills groups, and waits for a moment until they are gone.
fn kill(groups: &[Group]) {
    let until = Instant::now() + KILLED;
    while signal(groups, Signal::KILL) && Instant::now() < until {
        marked::pause(POLL);
    }
}

/// Sends it to the groups that are still there. Whether there are any.
fn signal(groups: &[Group], signal: Signal) -> bool {
    let living = Living::look();
    let mut is_there = false;
    for leader in groups.iter().filter(|group| group.is_in(&living)).filter_map(|group| Pid::from_raw(group.leader)) {
        is_there = true;
        // It may end between the look and the signal, which is what was wanted.
        let _ = kill_process_group(leader, signal);
    }
    is_there
}

/// Everything ends in good order: the guard does, too, and is gone when this returns. So is what is still held.
pub fn end_guard() {
    let line = std::mem::replace(&mut *line(), Line::Off);
    OFF.notify_all();
    if let Line::Open { mut pipe, guard, told } = line {
        kill(&told.groups);
        let _ = pipe.write_all(Word::Ends.to_string().as_bytes());
        // One that was stopped does not listen.
        let _ = kill_process(guard, Signal::KILL);
        let _ = retry_on_intr(|| waitpid(Some(guard), WaitOptions::empty()));
        drop(pipe);
    }
}

// ---- the second process

/// Where the guard waits.
pub struct Post {
    input: PipeReader,
    /// Of the client's run.
    mark: String,
}

impl Post {
    /// Of a guard that was started anew, by the client with this mark: its words come on standard input.
    pub fn anew(has_terminal: bool, mark: String) -> io::Result<Self> {
        let input = PipeReader::from(io::stdin().as_fd().try_clone_to_owned()?);
        become_guard(has_terminal);
        Ok(Self { input, mark })
    }

    /// Waits until the client is gone; nothing when it ended in good order, or before it had told anything.
    pub fn watch(self) -> Option<Left> {
        watch(BufReader::new(self.input), &self.mark)
    }
}

/// Leaves the session, the name, the directory and the files of the client behind: no signal to those reaches this process,
/// its terminal can be set up from here without being stopped for it, and nobody waits for the end of what it holds. Who asks
/// all of this program to end by its command line, which is the same for both, ends the client: this one sees to what is left.
/// Standard error goes last of what the end of the session depends on: by that the client knows of one started anew.
fn become_guard(has_terminal: bool) {
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        // Something that is done in place of ending; nobody looks at it. Where that is refused it ends with the others.
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
    // One that leads a group already stays where it is.
    let _ = rustix::process::setsid();
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::thread::set_name(family::GUARD_NAME);
    let _ = rustix::process::chdir("/");
    if let Ok(nothing) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
        if !has_terminal {
            let _ = rustix::stdio::dup2_stdout(&nothing);
        }
    }
}

/// Lets go of the client's terminal, which whoever waits for its end would wait for otherwise.
pub fn let_go_of_output() {
    if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
        // Without it the terminal is held until the guard ends.
        let _ = rustix::stdio::dup2_stdout(nothing);
    }
}

/// Ends all that carries the mark of this run, as the guard does it when the client was killed: within three seconds.
pub fn end_run() {
    let mark = run_mark().map(|(_, value)| value).unwrap_or_default();
    Left { mark, ..Left::default() }.end();
}

/// What a client has left that was killed.
#[derive(Debug, Default)]
pub struct Left {
    groups: Vec<Group>,
    /// It has the terminal.
    program: Option<Lent>,
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

fn watch(input: impl BufRead, mark: &str) -> Option<Left> {
    let mut left = Left { mark: mark.to_owned(), ..Left::default() };
    let mut was_told = false;
    for line in input.lines() {
        let Ok(line) = line else { break };
        was_told = true;
        match Word::parse(&line) {
            Some(Word::Ends) => return None,
            Some(word) => left.hear(word),
            None => {}
        }
    }
    was_told.then_some(left)
}

impl Left {
    fn hear(&mut self, word: Word) {
        match word {
            Word::Holds(group) if group.leader > 1 => {
                self.groups.retain(|known| known.leader != group.leader);
                if self.groups.len() >= MAX_GROUPS {
                    let living = Living::look();
                    self.groups.retain(|group| group.is_in(&living));
                }
                if self.groups.len() >= MAX_GROUPS {
                    self.groups.remove(0);
                }
                self.groups.push(group);
            }
            Word::LetsGo(leader) => {
                self.groups.retain(|group| group.leader != leader);
                self.program = self.program.filter(|program| program.pid != leader);
            }
            Word::Lends(program) => self.program = (program.pid > 1).then_some(program),
            Word::Terminal(held) => self.terminal = held,
            Word::Holds(_) | Word::Ends => {}
        }
    }

    /// What was heard, as it is told to another guard.
    fn words(&self) -> String {
        let groups = self.groups.iter().map(|group| Word::Holds(*group));
        groups
            .chain(self.program.map(Word::Lends))
            .chain([Word::Terminal(self.terminal)])
            .map(|word| word.to_string())
            .collect()
    }

    /// Who has the terminal. Waited for once they are being ended.
    pub fn borrowers(&self) -> Borrowers {
        Borrowers::look(self.program, GRACE + KILL_LIMIT)
    }

    /// Ends what is left: asks first, and kills what does not listen.
    pub fn end(&self) {
        let mut borrowers = self.borrowers();
        for (signal, limit) in [(Signal::TERM, GRACE), (Signal::KILL, KILL_LIMIT)] {
            let until = Instant::now() + limit;
            self.signal(signal);
            borrowers.signal(signal);
            while self.is_alive() || borrowers.is_alive() {
                let Some(rest) = until.checked_duration_since(Instant::now()) else { break };
                marked::pause(POLL.min(rest));
            }
        }
    }

    fn signal(&self, signal: Signal) {
        self::signal(&self.groups, signal);
        for process in marked::of_run(&self.mark) {
            process.signal(signal);
        }
    }

    fn is_alive(&self) -> bool {
        let living = Living::look();
        self.groups.iter().any(|group| group.is_in(&living)) || !marked::of_run(&self.mark).is_empty()
    }
}

impl Group {
    fn of(leader: i32) -> Self {
        Self { leader, started: marked::started(leader) }
    }

    /// A living member is left, and its number was not given to another one.
    fn is_in(&self, living: &Living) -> bool {
        // A leader that was gone when it was told of has no time: whoever has its number now is another one.
        let is_other = marked::started(self.leader).is_some_and(|is| Some(is) != self.started);
        let leader = Pid::from_raw(self.leader);
        let is_known = leader.is_some_and(|leader| rustix::process::test_kill_process_group(leader).is_ok());
        !is_other && is_known && living.has(self.leader)
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
