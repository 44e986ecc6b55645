//! The ordered goodbye: the turn is cancelled, every request answered, input closed, groups ended, the journal
//! written.

use super::{Engine, Wake};
use crate::engine::fact::Fact;
use crate::engine::links::Remains;
use crate::engine::wait::sleep_until;
use crate::host::process::{Household, Survivor, end_run, kill_held};
use crate::model::event::HostEvent;
use crate::model::ids::Address;
pub use crate::store::journal::Unwritten;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tracing::debug;

/// How long the last lines of the journal, and then those of a recording, may take on their way to the disk.
const LAST_LINES: Duration = Duration::from_secs(3);
/// How long writes that have begun may take to end.
const LAST_WRITES: Duration = Duration::from_secs(2);
/// What the last lines get at least, however late it is.
const LAST_MOMENT: Duration = Duration::from_millis(250);

/// What was left when everything had been tried.
#[derive(Debug, Default)]
pub struct Goodbye {
    /// Processes that moved into a session of their own; they are named, and ended only where nobody can read that.
    pub survivors: Vec<String>,
    /// The same, but they have ended since the files were looked at for the last time.
    pub ended: Vec<String>,
    /// What was told of agents when no conversation took it any more.
    pub unheard: Vec<String>,
    /// What is missing in the journal, if anything is.
    pub unwritten: Option<Unwritten>,
    /// Why the end of the recording is missing, if it is.
    pub unrecorded: Option<String>,
    /// Why the last decisions are missing in the audit log, if they are.
    pub unlogged: Option<String>,
}

/// What is on its way out.
pub(super) struct Ending {
    household: Household,
    killed: JoinHandle<()>,
    /// Those that moved away end, too.
    leaves_nothing: bool,
    /// Nothing as long as only commands end.
    agents: Option<Vec<JoinHandle<Remains>>>,
}

impl Engine {
    /// What happens next; nothing where that would be later.
    pub async fn next_by(&mut self, end: Instant) -> Option<Wake> {
        if Instant::now() >= end { None } else { within(Some(end), self.next()).await }
    }

    /// From now on agents are ended within that time or soon after it.
    pub fn hurry(&mut self, left: Duration) {
        self.links.hurry(left);
    }

    /// Commands begin to end, and none is started any more, while the agents may still say something: what burns the
    /// processor would hold up all that is left to do.
    pub fn end_commands(&mut self) {
        if self.ending.is_some() {
            return;
        }
        debug!("the commands end");
        let household = Household::look();
        let terminals = Arc::clone(self.terminals.host());
        let killed = tokio::task::spawn_blocking(move || terminals.kill_all());
        self.ending = Some(Ending { household, killed, leaves_nothing: false, agents: None });
    }

    /// Where nobody reads any more who has moved into a session of their own, they are ended as well, as the guard does it
    /// for a client that was killed.
    pub fn leave_nothing(&mut self, nobody_reads: bool) {
        self.end_commands();
        if let Some(ending) = &mut self.ending {
            ending.leaves_nothing |= nobody_reads;
        }
    }

    /// Agents and commands begin to end, while something else is still waited for. Nothing is heard of them any more.
    pub fn begin_to_end(&mut self) {
        self.end_commands();
        let Some(Ending { household, agents: None, .. }) = &mut self.ending else { return };
        // Agents may have begun something since.
        household.look_again();
        for line in self.core.answer_all() {
            self.send(line);
        }
        debug!("everything is answered; the agents end");
        let agents = self.links.end_all();
        if let Some(ending) = &mut self.ending {
            ending.agents = Some(agents);
        }
    }

    /// The person's terminal has been restored before this is called; it may take some seconds.
    pub async fn shutdown(self) -> Goodbye {
        self.shutdown_by(None).await
    }

    /// The same; from `end` on the last look of the review is not waited for.
    pub async fn shutdown_by(mut self, end: Option<Instant>) -> Goodbye {
        self.begin_to_end();
        let left = end.map_or(LAST_WRITES, |end| end.saturating_duration_since(Instant::now()));
        // While the agents end.
        let writes = tokio::spawn(self.files.close(left.clamp(LAST_MOMENT, LAST_WRITES)));
        // Threads of terminals must not wait for a reader that is gone.
        self.facts.close();
        let mut unheard = Vec::new();
        while let Ok(fact) = self.facts.try_recv() {
            if let Fact::Host(Address::Agent(_), HostEvent::Warning { message }) = fact {
                unheard.push(message);
            }
        }
        let Some(Ending { household, killed, leaves_nothing, agents }) = self.ending.take() else {
            return Goodbye::default();
        };
        let mut survivors: Vec<Survivor> = Vec::new();
        // One that hangs in the kernel is left to it.
        let late = end.map(|end| end.max(Instant::now() + LAST_MOMENT));
        let mut is_late = false;
        for ending in agents.into_iter().flatten() {
            match within(late, ending).await {
                Some(Ok(left)) => {
                    survivors.extend(left.survivors);
                    unheard.extend(left.unheard);
                }
                // A panic in there was printed.
                Some(Err(_)) => {}
                None => is_late = true,
            }
        }
        is_late |= within(late, killed).await.is_none();
        // Nothing runs on because the time was over before its turn had come.
        if is_late {
            kill_held();
        }
        if leaves_nothing {
            let _ = tokio::task::spawn_blocking(end_run).await;
        }
        // Who still runs before the files are looked at for the last time may change them afterwards.
        survivors.extend(household.survivors().await);
        survivors.retain(Survivor::is_alive);
        debug!(left = survivors.len(), "agents and commands have ended");
        let mut ended = Vec::new();
        // What is looked at afterwards stays as it is.
        let _ = writes.await;
        self.reviews.finish(self.core.model(), end).await;
        debug!("the files were looked at for the last time");
        if !survivors.is_empty() {
            // They may have left their work to others.
            survivors.extend(household.survivors().await);
            (survivors, ended) = survivors.into_iter().partition(Survivor::is_alive);
        }
        let patience = end.map_or(LAST_LINES, |end| end.saturating_duration_since(Instant::now()));
        let patience = patience.clamp(LAST_MOMENT, LAST_LINES);
        let (unlogged, (unwritten, unrecorded)) =
            tokio::join!(self.audit.close(patience), self.recorder.close(patience));
        Goodbye { survivors: named(survivors), ended: named(ended), unheard, unwritten, unrecorded, unlogged }
    }
}

/// What comes of something, unless it is late.
async fn within<T>(late: Option<Instant>, what: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = what => Some(done),
        () = sleep_until(late) => None,
    }
}

/// Each once.
fn named(survivors: Vec<Survivor>) -> Vec<String> {
    let named: BTreeMap<i32, String> = survivors.into_iter().map(|s| (s.pid, s.command)).collect();
    named.into_iter().map(|(pid, command)| format!("{pid} {command}")).collect()
}
