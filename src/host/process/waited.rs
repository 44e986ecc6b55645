//! Small programs that are waited for, hooks and git, for as long as they run.
//!
//! Knows not what they are run for. Invariants: each leads a process group of its own, which the guard knows, too; once
//! nobody waits for any of them, all are killed with their groups, and none is started.

use super::guard;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Those of this program.
pub(super) static HELPERS: Helpers = Helpers::new();

/// Nobody waits for hooks and git any more: they are ended, and none is started from now on.
pub fn end_helpers() {
    HELPERS.end();
}

/// The groups of those that are waited for.
pub(super) struct Helpers(Mutex<Groups>);

struct Groups {
    all: Vec<Pid>,
    /// None is started any more.
    is_over: bool,
}

/// One that runs. Its number is its own until it was waited for.
pub(super) struct Helper<'a> {
    pub child: Child,
    group: Option<Pid>,
    among: &'a Helpers,
}

impl Helpers {
    pub const fn new() -> Self {
        Self(Mutex::new(Groups { all: Vec::new(), is_over: false }))
    }

    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts one whose group is known from then on.
    pub fn start(&self, command: &mut Command) -> io::Result<Helper<'_>> {
        let mut groups = self.groups();
        if groups.is_over {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = command.process_group(0).spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        groups.all.extend(group);
        group.inspect(|group| guard::holds(group.as_raw_nonzero().get()));
        Ok(Helper { child, group, among: self })
    }

    pub fn end(&self) {
        let mut groups = self.groups();
        groups.is_over = true;
        for group in &groups.all {
            // Not waited for yet, so the number is still its own.
            let _ = kill_process_group(*group, Signal::KILL);
        }
    }
}

impl Helper<'_> {
    /// With its group.
    pub fn kill(&self) {
        let _ = self.group.map(|group| kill_process_group(group, Signal::KILL));
    }

    /// It may go on, and may be waited for.
    pub fn let_go(self) -> Child {
        if let Some(group) = self.group {
            self.among.groups().all.retain(|one| *one != group);
            guard::lets_go(group.as_raw_nonzero().get());
        }
        self.child
    }
}
