//! All terminals of a connection: ids, what the agent may still ask for, what the screen may still show.
//!
//! Which session a terminal belongs to is the engine's knowledge. Invariant: an id is never used twice; after
//! `release` the agent gets nothing by it, while its last screen stays until it is forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::pace::Pacer;
use super::spawn::{SpawnError, TermSpec, spawn};
use super::terminal::{TermId, Terminal};
use crate::base::exit::Exit;
use crate::host::lock;
use crate::text::grid::ScreenSnapshot;

/// Commands that may run at the same time.
pub const MAX_RUNNING: usize = 256;
/// Screens of released terminals kept here (the model has them too); the oldest go first.
const MAX_RELEASED: usize = 64;
/// Terminals that have exited and that the agent has not released; the oldest are released for it.
const MAX_EXITED: usize = 1024;
/// Text of exited terminals kept in full, newest first; of older ones the last `SHORT_TEXT` bytes.
const MAX_EXITED_TEXT: usize = 32 * 1024 * 1024;
const SHORT_TEXT: usize = 4096;
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
    /// Being started, not in the table yet.
    starting: usize,
    closed: bool,
    entries: HashMap<TermId, Entry>,
}

/// The terminals.
pub struct Registry {
    shell: Option<String>,
    pacer: Arc<Pacer>,
    exit: ExitFn,
    table: Mutex<Table>,
}

impl Registry {
    /// `shell` is the person's `$SHELL`.
    pub fn new(shell: Option<String>, hint: HintFn, exit: ExitFn) -> Self {
        Self { shell, pacer: Pacer::start(hint), exit, table: Mutex::default() }
    }

    /// Starts a command; returns as soon as it runs. Forks and reads directories: call it from a blocking task.
    pub fn create(&self, spec: &TermSpec) -> Result<TermId, SpawnError> {
        let mut table = lock(&self.table);
        table.tidy(MAX_EXITED_TEXT);
        if table.closed {
            return Err(SpawnError::Invalid("the client is closing".into()));
        }
        let running = table.entries.values().filter(|entry| entry.terminal.is_running()).count() + table.starting;
        if running >= MAX_RUNNING {
            return Err(SpawnError::TooMany(running));
        }
        table.starting += 1;
        table.last += 1;
        let number = table.last;
        drop(table);
        let id = TermId(format!("term-{number}"));
        let started = spawn(spec, self.shell.as_deref()).and_then(|spawned| {
            let (pacer, exit) = (Arc::clone(&self.pacer), Arc::clone(&self.exit));
            Terminal::start(id.clone(), spawned, spec.output_limit, pacer, exit)
                .map_err(|source| SpawnError::Os { command: spec.command.clone(), source })
        });
        let mut table = lock(&self.table);
        table.starting -= 1;
        let terminal = started?;
        if table.closed {
            terminal.signal(Signal::KILL);
        }
        table.entries.insert(id.clone(), Entry { number, terminal, released: false });
        Ok(id)
    }

    /// Everything kept so far. `None`: no such terminal, or it has been released.
    pub fn output(&self, id: &TermId) -> Option<Output> {
        let (text, truncated, exit) = self.held(id)?.output();
        Some(Output { text, truncated, exit })
    }

    /// Ends the command, politely first; does not wait. False: the id is unknown.
    pub fn kill(&self, id: &TermId) -> bool {
        self.held(id).map(|terminal| terminal.kill()).is_some()
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

    pub fn resize(&self, id: &TermId, cols: u16, rows: u16) {
        if let Some(terminal) = self.any(id) {
            terminal.resize(cols, rows);
        }
    }

    /// Types into the terminal. False: unknown, exited, or the program does not read.
    pub fn input(&self, id: &TermId, bytes: &[u8]) -> bool {
        self.any(id).is_some_and(|terminal| terminal.input(bytes))
    }

    /// Kills what is left of all terminals' sessions and waits for it, but not for long. Nothing can be started
    /// afterwards. Safe to call from a panic hook of any thread that does not hold a lock of the registry.
    pub fn kill_all(&self) {
        let mut table = lock(&self.table);
        table.closed = true;
        let terminals: Vec<_> = table.entries.values().map(|entry| Arc::clone(&entry.terminal)).collect();
        drop(table);
        for terminal in &terminals {
            terminal.signal(Signal::KILL);
        }
        let deadline = Instant::now() + KILL_ALL_WAIT;
        for terminal in &terminals {
            terminal.wait_posted(deadline);
        }
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
        self.pacer.stop();
        for entry in lock(&self.table).entries.values() {
            entry.terminal.signal(Signal::KILL);
        }
    }
}

#[cfg(test)]
impl Registry {
    pub(super) fn tidy(&self, text_budget: usize) {
        lock(&self.table).tidy(text_budget);
    }
}
