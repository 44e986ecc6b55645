//! Who descends from an agent, remembered while parents still tell whose children they are.
//!
//! Ends no process. Invariant: a process is named by its number and its start, so a number that was given anew names
//! none.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep};

pub(super) use self::here::{Family, Living, has_living_member};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use self::here::{command, is_guard, variable_of};
use self::here::{is_alive, own_name};

/// Carried by everything that this run starts: who has moved away and lost its parents is found again by it.
pub(super) const RUN_MARK: &str = "ACP_TUI_RUN";
/// The same of everything that one agent starts.
pub(super) const AGENT_MARK: &str = "ACP_TUI_AGENT";
const POLL: Duration = Duration::from_millis(20);
/// What a killed process may take to be gone from the table.
const MOMENT: Duration = Duration::from_millis(200);

/// Agents that this run has started.
static AGENTS: AtomicU32 = AtomicU32::new(0);
/// The process of the guard, which is no survivor; 0 without one.
pub(super) static GUARD: AtomicI32 = AtomicI32::new(0);
/// What a guard calls itself.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const GUARD_NAME: &std::ffi::CStr = c"acp-guard";

/// A process that an agent started and that is still alive after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    pub pid: i32,
    pub command: String,
    /// With its number it names a process for good.
    started: u64,
}

impl Survivor {
    pub fn is_alive(&self) -> bool {
        is_alive(self)
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_alive()) {
            // It may end between the look and the signal, which is what was wanted.
            let _ = kill_process(pid, signal);
        }
    }
}

/// The variable that agents and their commands are started with; `None` where no process could be found by it.
pub fn run_mark() -> Option<(String, String)> {
    Some((RUN_MARK.to_owned(), own_name()?))
}

/// The value of the mark of an agent that is started now; none where no process could be found by it.
pub(super) fn agent_mark() -> Option<String> {
    Some(format!("{}-{}", own_name()?, AGENTS.fetch_add(1, Ordering::Relaxed)))
}

/// Descendants of this program itself, by which processes of terminals are found that moved away.
#[derive(Debug, Default)]
pub struct Household(Family);

impl Household {
    /// Remembers everything that now descends from this program.
    pub fn look() -> Self {
        let mut household = Self::default();
        household.look_again();
        household
    }

    /// Remembers also what has begun since.
    pub fn look_again(&mut self) {
        self.0.look(rustix::process::getpid().as_raw_nonzero().get());
    }

    /// Who is still alive of those remembered and of those that carry the mark of this run; those that are on their way
    /// out get a moment.
    pub async fn survivors(&self) -> Vec<Survivor> {
        let deadline = Instant::now() + MOMENT;
        let mut marked = marked().await;
        loop {
            let mut alive = self.0.alive_elsewhere();
            alive.extend(marked.alive());
            alive.retain(|survivor| survivor.pid != GUARD.load(Ordering::Relaxed));
            if Instant::now() >= deadline {
                return alive;
            }
            if !alive.is_empty() {
                sleep(POLL).await;
                continue;
            }
            // One that has ended may have left its work to another.
            let had_some = !marked.is_empty();
            marked = self::marked().await;
            if !had_some && marked.is_empty() {
                return alive;
            }
        }
    }
}

/// Everybody who carries the mark of this run.
async fn marked() -> Family {
    // The kernel may let a look into a process wait for it.
    let marked = tokio::task::spawn_blocking(|| {
        let mut marked = Family::default();
        if let Some((name, value)) = run_mark() {
            marked.look_for(&format!("{name}={value}"));
        }
        marked
    });
    marked.await.unwrap_or_default()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod here {
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::Read as _;
    use std::os::unix::fs::MetadataExt as _;

    use super::super::table::{self, Stat, processes};
    use super::{GUARD_NAME, Survivor};

    /// No more of an environment is looked through.
    const MAX_ENVIRONMENT: u64 = 8 << 20;
    /// More are not remembered.
    const MAX_KNOWN: usize = 4096;
    const MAX_COMMAND: usize = 200;

    #[derive(Debug, Default)]
    pub struct Family {
        /// By process number and start time, which together name a process for good.
        known: BTreeMap<(i32, u64), String>,
    }

    impl Family {
        /// Adds everything that now descends from `root` or from a process already known.
        pub fn look(&mut self, root: i32) {
            self.look_below(Some(root));
        }

        /// Adds the process with this number, if it is the one that was started then, and everything that now descends from
        /// it or from a process already known.
        pub fn look_from(&mut self, root: i32, started: u64) {
            if let Some(stat) = table::read(root).filter(|stat| stat.started == started) {
                self.known.entry((root, started)).or_insert_with(|| command(&stat));
            }
            self.look_below(None);
        }

        fn look_below(&mut self, root: Option<i32>) {
            let all = processes();
            let mut children: BTreeMap<i32, Vec<&Stat>> = BTreeMap::new();
            for stat in &all {
                children.entry(stat.parent).or_default().push(stat);
            }
            let alive = all.iter().filter(|s| self.known.contains_key(&(s.pid, s.started))).map(|s| s.pid);
            let mut parents: Vec<i32> = root.into_iter().chain(alive).collect();
            while let Some(parent) = parents.pop() {
                for child in children.remove(&parent).into_iter().flatten() {
                    parents.push(child.pid);
                    let key = (child.pid, child.started);
                    if self.known.len() < MAX_KNOWN && !self.known.contains_key(&key) {
                        self.known.insert(key, command(child));
                    }
                }
            }
        }

        /// Adds every process of this user that was started with this variable and has kept it.
        pub fn look_for(&mut self, variable: &str) {
            let own = rustix::process::getpid().as_raw_nonzero().get();
            let all = processes();
            let since = all.iter().find(|stat| stat.pid == own).map_or(0, |stat| stat.started);
            for stat in all.iter().filter(|stat| stat.pid != own && stat.started >= since && !is_guard(stat)) {
                if self.known.len() < MAX_KNOWN && carries(stat.pid, variable) {
                    self.known.insert((stat.pid, stat.started), command(stat));
                }
            }
        }

        pub fn is_empty(&self) -> bool {
            self.known.is_empty()
        }

        pub fn alive(&self) -> Vec<Survivor> {
            self.alive_where(|_| true)
        }

        /// Those that are in another session than this program, which those are not that were here before it.
        pub fn alive_elsewhere(&self) -> Vec<Survivor> {
            // Not by `getsid`: in a container the session can lie outside its process numbers and is 0 then.
            let own = rustix::process::getpid().as_raw_nonzero().get();
            let ours = processes().into_iter().find(|stat| stat.pid == own).map_or(0, |stat| stat.session);
            self.alive_where(|stat| stat.session != ours)
        }

        fn alive_where(&self, wanted: impl Fn(&Stat) -> bool) -> Vec<Survivor> {
            processes()
                .into_iter()
                .filter(|stat| !stat.is_dead() && wanted(stat))
                .filter_map(|stat| {
                    let command = self.known.get(&(stat.pid, stat.started))?.clone();
                    Some(Survivor { pid: stat.pid, command, started: stat.started })
                })
                .collect()
        }
    }

    /// Names this process for good: its number and when it was started.
    pub fn own_name() -> Option<String> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let stat = table::read(own)?;
        Some(format!("{own}-{}", stat.started))
    }

    pub fn is_alive(one: &Survivor) -> bool {
        table::read(one.pid).is_some_and(|stat| stat.started == one.started && !stat.is_dead())
    }

    fn carries(pid: i32, variable: &str) -> bool {
        environment(pid).split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
    }

    /// The value with which a process of this user was started.
    pub fn variable_of(pid: i32, name: &str) -> Option<String> {
        let variables = environment(pid);
        let mut all = variables.split(|byte| *byte == 0).filter_map(|one| str::from_utf8(one).ok());
        all.find_map(|one| one.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
    }

    fn environment(pid: i32) -> Vec<u8> {
        let place = format!("/proc/{pid}");
        let user = rustix::process::geteuid().as_raw();
        let mut variables = Vec::new();
        if std::fs::metadata(&place).is_ok_and(|facts| facts.uid() == user)
            && let Ok(file) = std::fs::File::open(format!("{place}/environ"))
        {
            // What could be read before an error counts.
            let _ = file.take(MAX_ENVIRONMENT).read_to_end(&mut variables);
        }
        variables
    }

    /// Whether it is the guard of a client, which may itself be run by an agent: it has the variables of that client, and is
    /// needed until the client's end.
    pub fn is_guard(stat: &Stat) -> bool {
        let program = |of: &str| std::fs::metadata(format!("/proc/{of}/exe")).ok().map(|file| (file.dev(), file.ino()));
        stat.name.as_bytes() == GUARD_NAME.to_bytes()
            && program(&stat.pid.to_string()).is_some_and(|theirs| program("self") == Some(theirs))
    }

    /// Whether a live process is left in a group: where orphans are not reaped, zombies stay.
    pub fn has_living_member(group: i32) -> bool {
        processes().iter().any(|stat| stat.group == group && !stat.is_dead())
    }

    /// The groups that a live process is left in.
    pub struct Living(BTreeSet<i32>);

    impl Living {
        pub fn look() -> Self {
            Self(processes().iter().filter(|stat| !stat.is_dead()).map(|stat| stat.group).collect())
        }

        pub fn has(&self, group: i32) -> bool {
            self.0.contains(&group)
        }
    }

    pub fn command(stat: &Stat) -> String {
        let line = std::fs::read(format!("/proc/{}/cmdline", stat.pid)).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let line = line.trim_end();
        let text = if line.is_empty() { stat.name.as_str() } else { line };
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_COMMAND).collect()
    }
}

/// Elsewhere no process is marked, nothing is remembered and every group member counts as alive.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod here {
    use super::Survivor;

    #[derive(Debug, Default)]
    pub struct Family;

    impl Family {
        pub fn look(&mut self, _root: i32) {}

        pub fn look_from(&mut self, _root: i32, _started: u64) {}

        pub fn look_for(&mut self, _variable: &str) {}

        pub fn is_empty(&self) -> bool {
            true
        }

        pub fn alive(&self) -> Vec<Survivor> {
            Vec::new()
        }

        pub fn alive_elsewhere(&self) -> Vec<Survivor> {
            Vec::new()
        }
    }

    pub fn is_alive(_one: &Survivor) -> bool {
        true
    }

    pub fn own_name() -> Option<String> {
        None
    }

    pub fn has_living_member(_group: i32) -> bool {
        true
    }

    pub struct Living;

    impl Living {
        pub fn look() -> Self {
            Self
        }

        pub fn has(&self, _group: i32) -> bool {
            true
        }
    }
}
