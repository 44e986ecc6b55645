//! All terminals of a connection: ids, what the agent may still ask for, what the screen may still show.
//!
//! Which session a terminal belongs to is the engine's knowledge. Invariant: an id is never used twice; after
//! `release` the agent gets nothing by it, while its last screen stays until it is forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::killer::{self, Killer};
use super::lane::Lane;
use super::pace::Pacer;
use super::screen::HISTORY_ROWS;
use super::spawn::{SpawnError, TermSpec, spawn};
use super::terminal::{More, TermId, Terminal};
use crate::base::exit::Exit;
use crate::base::limits;
use crate::host::lock;
use crate::text::grid::ScreenSnapshot;

/// Commands that may run at the same time.
pub const MAX_RUNNING: usize = limits::MAX_TERMINALS;
/// Screens of released terminals kept here (the model has them too); the oldest go first.
const MAX_RELEASED: usize = 64;
/// Terminals that have exited and that the agent has not released; the oldest are released for it.
const MAX_EXITED: usize = 1024;
/// Text of exited terminals kept in full, newest first; of older ones the last `SHORT_TEXT` bytes.
const MAX_EXITED_TEXT: usize = 32 * 1024 * 1024;
const SHORT_TEXT: usize = 4096;
/// Text of running terminals, shared evenly; twice as much is in memory at most.
const MAX_RUNNING_TEXT: usize = 32 * 1024 * 1024;
/// Rows above the screens of running terminals, shared evenly.
const MAX_RUNNING_ROWS: usize = 8 * HISTORY_ROWS;
/// How long `kill_all` waits for what it killed.
const KILL_ALL_WAIT: Duration = Duration::from_secs(1);

/// Called when a terminal has news for the screen: fetch them with `snapshot`.
pub type HintFn = Arc<dyn Fn(&TermId) + Send + Sync>;
/// Called once when a command has ended and its output is complete.
pub type ExitFn = Arc<dyn Fn(&TermId, Exit) + Send + Sync>;

/// What `terminal/output` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub text: String,
    pub truncated: bool,
    pub exit: Option<Exit>,
}

struct Entry {
    number: u64,
    terminal: Arc<Terminal>,
    released: bool,
}

#[derive(Default)]
struct Table {
    last: u64,
    closed: bool,
    entries: HashMap<TermId, Entry>,
}

/// What one running terminal may keep, so that all together keep within bounds.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Text for the agent.
    pub bytes: usize,
    /// Above the screen.
    pub rows: usize,
}

impl Share {
    fn of(terminals: usize) -> Self {
        // In few steps: each moves what was kept so far.
        let terminals = terminals.next_power_of_two();
        Self { bytes: MAX_RUNNING_TEXT / terminals, rows: MAX_RUNNING_ROWS / terminals }
    }
}

/// What all terminals have in common.
pub(super) struct Shared {
    /// For output.
    pub lane: Lane,
    pub pacer: Arc<Pacer>,
    pub killer: Arc<Killer>,
}

/// The terminals.
pub struct Registry {
    shell: Option<String>,
    shared: Arc<Shared>,
    /// For starts: many forks at once hold each other up, and everybody else.
    starts: Lane,
    exit: ExitFn,
    table: Mutex<Table>,
}

impl Registry {
    /// `shell` is the person's `$SHELL`.
    pub fn new(shell: Option<String>, hint: HintFn, exit: ExitFn) -> Self {
        let shared = Shared { lane: Lane::default(), pacer: Pacer::start(hint), killer: Arc::default() };
        Self { shell, shared: Arc::new(shared), starts: Lane::default(), exit, table: Mutex::default() }
    }

    /// Starts a command; returns as soon as it runs. Forks and reads directories: call it from a blocking task.
    pub fn create(&self, spec: &TermSpec) -> Result<TermId, SpawnError> {
        let closing = || SpawnError::Invalid("the client is closing".into());
        let _turn = self.starts.enter().ok_or_else(closing)?;
        let mut table = lock(&self.table);
        table.tidy(MAX_EXITED_TEXT);
        let running = table.running();
        if running.len() >= MAX_RUNNING {
            return Err(SpawnError::TooMany(running.len()));
        }
        table.last += 1;
        let number = table.last;
        drop(table);
        let share = Share::of(running.len() + 1);
        for terminal in running {
            terminal.confine(share);
        }
        let id = TermId(format!("term-{number}"));
        let spawned = spawn(spec, self.shell.as_deref())?;
        let (shared, exit) = (Arc::clone(&self.shared), Arc::clone(&self.exit));
        let terminal = Terminal::start(id.clone(), spawned, spec.output_limit, share, shared, exit)
            .map_err(|source| SpawnError::Os { command: spec.command.clone(), source })?;
        let mut table = lock(&self.table);
        let too_late = table.closed.then(|| Arc::clone(&terminal));
        table.entries.insert(id.clone(), Entry { number, terminal, released: false });
        drop(table);
        killer::signal(too_late.as_slice(), &[Signal::KILL]);
        Ok(id)
    }

    /// Everything kept so far. `None`: no such terminal, or it has been released.
    pub fn output(&self, id: &TermId) -> Option<Output> {
        let (text, truncated, exit) = self.held(id)?.output();
        Some(Output { text, truncated, exit })
    }

    /// What was printed after the first so many bytes, at most that much of it. `None`: as for all of it.
    pub fn output_after(&self, id: &TermId, position: u64, most: usize) -> Option<More> {
        Some(self.held(id)?.output_after(position, most))
    }

    /// Ends the command, politely first; does not wait. False: the id is unknown.
    pub fn kill(&self, id: &TermId) -> bool {
        self.held(id).map(|terminal| terminal.kill()).is_some()
    }

    /// Sends its processes this signal and no other. False: the id is unknown, or there is no such signal.
    pub fn signal(&self, id: &TermId, number: i32) -> bool {
        match self.held(id).zip(Signal::from_named_raw(number)) {
            Some((terminal, signal)) => {
                killer::signal(&[terminal], &[signal]);
                true
            }
            None => false,
        }
    }

    /// Ends the command if it runs and takes the id from the agent. False: the id is unknown.
    pub fn release(&self, id: &TermId) -> bool {
        let mut table = lock(&self.table);
        let Some(entry) = table.entries.get_mut(id).filter(|entry| !entry.released) else { return false };
        entry.released = true;
        let terminal = Arc::clone(&entry.terminal);
        drop(table);
        terminal.shorten(0);
        terminal.kill();
        true
    }

    /// The screen of a terminal, also after its release.
    pub fn snapshot(&self, id: &TermId) -> Option<Arc<ScreenSnapshot>> {
        self.any(id).map(|terminal| terminal.snapshot())
    }

    /// The person sees so much of it.
    pub fn resize(&self, id: &TermId, cols: u16, rows: u16) {
        if let Some(terminal) = self.any(id) {
            terminal.resize(cols, rows);
        }
    }

    /// Types into the terminal. False: unknown, exited, or the program does not read.
    pub fn input(&self, id: &TermId, bytes: &[u8]) -> bool {
        self.any(id).is_some_and(|terminal| terminal.input(bytes))
    }

    /// Kills what is left of all terminals' sessions and waits for it, but not for long. What they print is not read
    /// any more, and nothing can be started afterwards. Safe to call from a panic hook of any thread that does not hold
    /// a lock of the registry.
    pub fn kill_all(&self) {
        let terminals = self.close();
        killer::signal(&terminals, &[Signal::KILL]);
        let deadline = Instant::now() + KILL_ALL_WAIT;
        for terminal in &terminals {
            terminal.wait_posted(deadline);
        }
        // Of those whose leader was being waited for in that moment.
        killer::signal(&terminals, &[Signal::KILL]);
    }

    /// All terminals, of which nothing is wanted any more.
    fn close(&self) -> Vec<Arc<Terminal>> {
        self.starts.close();
        self.shared.lane.close();
        self.shared.killer.stop();
        let mut table = lock(&self.table);
        table.closed = true;
        table.entries.values().map(|entry| Arc::clone(&entry.terminal)).collect()
    }

    fn any(&self, id: &TermId) -> Option<Arc<Terminal>> {
        lock(&self.table).entries.get(id).map(|entry| Arc::clone(&entry.terminal))
    }

    fn held(&self, id: &TermId) -> Option<Arc<Terminal>> {
        let table = lock(&self.table);
        table.entries.get(id).filter(|entry| !entry.released).map(|entry| Arc::clone(&entry.terminal))
    }
}

impl Table {
    fn running(&self) -> Vec<Arc<Terminal>> {
        let running = self.entries.values().map(|entry| &entry.terminal).filter(|terminal| terminal.is_running());
        running.map(Arc::clone).collect()
    }

    /// Bounds what agents leave behind that never release, and what the screen never forgets.
    fn tidy(&mut self, text_budget: usize) {
        let ended = self.entries.iter().filter(|(_, entry)| !entry.terminal.is_running());
        let mut ended: Vec<(u64, TermId)> = ended.map(|(id, entry)| (entry.number, id.clone())).collect();
        ended.sort_unstable_by(|a, b| b.cmp(a));
        let (mut exited, mut released, mut text) = (0, 0, 0_usize);
        for (_, id) in ended {
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            if !entry.released {
                exited += 1;
                text = text.saturating_add(entry.terminal.text_bytes());
                if exited > MAX_EXITED {
                    entry.released = true;
                    entry.terminal.shorten(0);
                } else if text > text_budget {
                    entry.terminal.shorten(SHORT_TEXT);
                }
            }
            if entry.released {
                released += 1;
                if released > MAX_RELEASED {
                    self.entries.remove(&id);
                }
            }
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.shared.pacer.stop();
        killer::signal(&self.close(), &[Signal::KILL]);
    }
}

#[cfg(test)]
impl Registry {
    pub(super) fn share(&self, share: Share) {
        for terminal in lock(&self.table).running() {
            terminal.confine(share);
        }
    }

    pub(super) fn tidy(&self, text_budget: usize) {
        lock(&self.table).tidy(text_budget);
    }
}
