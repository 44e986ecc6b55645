//! A running agent, and the steps by which it is ended with its group: asked, told, killed.
//!
//! Does not say why it is to end. Invariant: no signal goes to a group that is not known to be the agent's.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep};

use super::family::{Family, Survivor, has_living_member};
use super::guard;
use super::marked::{Marked, end_of_agent};
use crate::base::exit::Exit;
use crate::base::signal;

/// How long an agent may take to end by itself once its input is closed.
const STDIN_GRACE: Duration = Duration::from_secs(2);
/// How long it may take after SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long to wait for a killed process to be gone; longer means it hangs inside the kernel.
const KILL_LIMIT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(20);
const LOOK_AROUND: Duration = Duration::from_millis(50);

/// How long each step of ending an agent may take.
#[derive(Debug, Clone, Copy)]
pub struct Graces {
    pub stdin: Duration,
    pub term: Duration,
}

impl Graces {
    /// A caller waits for it to be over.
    const SHORT: Duration = Duration::from_millis(200);

    /// No longer than there is time in all, each step at least a moment.
    pub fn within(self, left: Duration) -> Self {
        let step = |grace: Duration| grace.min((left / 2).max(Self::SHORT));
        Self { stdin: step(self.stdin), term: step(self.term) }
    }
}

impl Default for Graces {
    fn default() -> Self {
        Self { stdin: STDIN_GRACE, term: TERM_GRACE }
    }
}

/// What it took to end an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needed {
    /// It ended by itself, at the latest when its input was closed.
    Nothing,
    Term,
    Kill,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShutdownReport {
    /// `None` when even a killed process did not go away in time.
    pub exit: Option<Exit>,
    pub needed: Needed,
    /// Processes that left the agent's group. Always empty where the system cannot tell.
    pub survivors: Vec<Survivor>,
}

/// A running agent. Dropping it kills the whole group.
#[derive(Debug)]
pub struct AgentProcess {
    pub pid: i32,
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    child: Child,
    exit: Option<Exit>,
    /// Nothing of the group was left once: from then on its number may belong to another process.
    pub(super) group_gone: bool,
    /// What descends from it, as far as it was seen.
    family: Family,
    /// What it was started with, by which all that it has started is found.
    mark: Option<String>,
}

impl AgentProcess {
    pub(super) fn new(mut child: Child, mark: Option<String>) -> Self {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
        guard::holds(pid);
        Self {
            pid,
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            exit: None,
            group_gone: false,
            family: Family::default(),
            mark,
        }
    }

    /// Resolves when the agent itself has ended; its group may still hold children. May be dropped and called again.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        if let Some(exit) = &self.exit {
            return Ok(exit.clone());
        }
        let status = self.child.wait().await?;
        Ok(self.ended(status))
    }

    /// How the agent ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<Exit>> {
        if self.exit.is_none()
            && let Some(status) = self.child.try_wait()?
        {
            self.ended(status);
        }
        Ok(self.exit.clone())
    }

    /// Remembers the agent's descendants. To be called before its input is closed: once it has ended it cannot be told
    /// whose its children were.
    pub fn look_around(&mut self) {
        self.family.look(self.pid);
    }

    /// Kills the group at once, without waiting: for exit paths that cannot.
    pub fn kill_now(&mut self) {
        self.signal_group(Signal::KILL);
    }

    /// Ends the agent and its group: waits for it to leave by itself, then asks, then kills. The caller closes the
    /// agent's input before, by dropping the writer; pipes that were never taken are closed here.
    pub async fn shutdown(mut self, graces: Graces) -> ShutdownReport {
        self.look_around();
        let mut family = std::mem::take(&mut self.family);
        drop((self.stdin.take(), self.stdout.take(), self.stderr.take()));
        let steps = [
            (Needed::Nothing, None, graces.stdin),
            (Needed::Term, Some(Signal::TERM), graces.term),
            (Needed::Kill, Some(Signal::KILL), KILL_LIMIT),
        ];
        let mut needed = Needed::Nothing;
        for (step, signal, limit) in steps {
            needed = step;
            if let Some(signal) = signal {
                self.signal_group(signal);
            }
            if self.gone_within(limit, &mut family).await {
                break;
            }
        }
        ShutdownReport { exit: self.exit.clone(), needed, survivors: family.alive() }
    }

    /// Of one that has ended by itself, and not in good order: what it has left ends, wherever that has moved. Gives what
    /// is still there, and what has ended so.
    pub async fn clear_up(self, graces: Graces) -> (Vec<Survivor>, Vec<Marked>) {
        let mark = self.mark.clone();
        // The kernel may let a look into a process wait for it.
        let ending = tokio::task::spawn_blocking(move || mark.map(|mark| end_of_agent(&mark)).unwrap_or_default());
        // A panic in there was printed.
        let ended = ending.await.unwrap_or_default();
        // Nobody is left who could end by itself.
        let report = self.shutdown(Graces { stdin: Duration::ZERO, ..graces }).await;
        (report.survivors, ended)
    }

    async fn gone_within(&mut self, limit: Duration, family: &mut Family) -> bool {
        let deadline = Instant::now() + limit;
        let mut next_look = Instant::now();
        loop {
            let now = Instant::now();
            if now >= next_look {
                family.look(self.pid);
                next_look = now + LOOK_AROUND;
            }
            if self.is_gone() {
                return true;
            }
            if now >= deadline {
                return false;
            }
            sleep(POLL.min(deadline - now)).await;
        }
    }

    /// The agent has been reaped and its group is empty.
    fn is_gone(&mut self) -> bool {
        let reaped = self.try_wait().is_ok_and(|exit| exit.is_some());
        if reaped && !self.group_gone {
            self.note_group();
        }
        reaped && self.group_gone
    }

    fn ended(&mut self, status: ExitStatus) -> Exit {
        let exit = how(status);
        self.exit = Some(exit.clone());
        self.note_group();
        exit
    }

    /// Only called once the leader is reaped. While members are left its number is not given to a new process; a
    /// process that carries it therefore means that the group is a foreign one.
    fn note_group(&mut self) {
        let Some(group) = self.group() else { return };
        let foreign = rustix::process::test_kill_process(group).is_ok();
        if foreign || rustix::process::test_kill_process_group(group).is_err() || !has_living_member(self.pid) {
            self.group_gone = true;
        }
    }

    fn signal_group(&mut self, signal: Signal) {
        if self.exit.is_some() && !self.group_gone {
            self.note_group();
        }
        if let Some(group) = self.group() {
            // It may end between the look and the signal, which is what was wanted.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// The group, as long as it is known to be the agent's.
    pub(super) fn group(&self) -> Option<Pid> {
        // It was spawned into a group of its own, which therefore has its number.
        if self.pid > 1 && !self.group_gone { Pid::from_raw(self.pid) } else { None }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        // The runtime reaps what is left of the child.
        self.signal_group(Signal::KILL);
        guard::lets_go(self.pid);
    }
}

fn how(status: ExitStatus) -> Exit {
    Exit { code: status.code().map(i64::from), signal: status.signal().map(signal::name) }
}
