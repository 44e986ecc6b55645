//! The ordered goodbye: the turn is cancelled, every request answered, input closed, groups ended, the journal
//! written.

use super::reviewing::{Job, LAST_JOBS, Reviewing};
use super::run::Engine;
use crate::host::process::{Household, Survivor};
use crate::model::ids::{SessionKey, TurnId};
use crate::model::session::Policy;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the last lines of the journal, and then those of a recording, may take on their way to the disk.
const LAST_LINES: Duration = Duration::from_secs(3);
/// What the last look and the last lines get at least, however late it is.
const LAST_MOMENT: Duration = Duration::from_millis(250);

/// What was left when everything had been tried.
#[derive(Debug, Default)]
pub struct Goodbye {
    /// Processes that moved into a session of their own; they are named, not killed.
    pub survivors: Vec<String>,
    /// The same, but they have ended since the files were looked at for the last time.
    pub ended: Vec<String>,
    /// Why the end of the recording is missing, if it is.
    pub unrecorded: Option<String>,
}

impl Engine {
    /// What a turn has changed that nobody waited for is still its doing; what has changed since the last one may be the
    /// agent's where nobody sits before a screen.
    async fn last_look(&self, sessions: &[SessionKey], mut reviewing: Reviewing, patience: Duration) {
        let turn = |at: &SessionKey| Some((*at, self.model().session_of(*at)?.unended_turn()?));
        let open: Vec<(SessionKey, TurnId)> = sessions.iter().filter_map(turn).collect();
        for (at, turn) in &open {
            // Without the thread there is nothing to tell.
            let _ = reviewing.give(*at, Job::End(*turn));
        }
        if let Some(at) = sessions.first().filter(|_| open.is_empty())
            && matches!(self.model().policy(), Policy::Auto(_))
        {
            let _ = reviewing.give(*at, Job::Last);
        }
        reviewing.finish(patience).await;
    }

    /// From now on agents are ended within that time or soon after it.
    pub fn hurry(&mut self, left: Duration) {
        self.config.graces = self.config.graces.within(left);
    }

    /// The person's terminal has been restored before this is called; it may take some seconds.
    pub async fn shutdown(self) -> Goodbye {
        self.shutdown_by(None).await
    }

    /// The same; from `end` on the last look of the review is not waited for.
    pub async fn shutdown_by(mut self, end: Option<Instant>) -> Goodbye {
        let household = Household::look();
        for line in self.core.answer_all() {
            self.send(line);
        }
        let ended = self.links.end_all(self.config.graces);
        // Threads of terminals must not wait for a reader that is gone.
        self.facts.close();
        let terminals = Arc::clone(self.terminals.host());
        let killed = tokio::task::spawn_blocking(move || terminals.kill_all());
        let mut survivors: Vec<Survivor> = Vec::new();
        for ending in ended {
            if let Ok(left) = ending.await {
                survivors.extend(left);
            }
        }
        // It has its own limit; a panic in there was printed.
        let _ = killed.await;
        // Who still runs before the files are looked at for the last time may change them afterwards.
        survivors.extend(household.survivors().await);
        survivors.retain(Survivor::is_alive);
        let mut ended = Vec::new();
        for (sessions, reviewing) in self.workspaces.take_reviews() {
            let patience = end.map_or(LAST_JOBS, |end| end.saturating_duration_since(Instant::now()).max(LAST_MOMENT));
            self.last_look(&sessions, reviewing, patience).await;
        }
        if !survivors.is_empty() {
            // They may have left their work to others.
            survivors.extend(household.survivors().await);
            (survivors, ended) = survivors.into_iter().partition(Survivor::is_alive);
        }
        let patience = end.map_or(LAST_LINES, |end| end.saturating_duration_since(Instant::now()));
        let patience = patience.clamp(LAST_MOMENT, LAST_LINES);
        let (journal, recording) = (self.books.journal.take(), self.books.recording.take());
        let written = tokio::task::spawn_blocking(move || {
            if let Some(journal) = journal {
                journal.close(patience);
            }
            recording.and_then(|recording| recording.close(patience))
        });
        let unrecorded = written.await.unwrap_or_default();
        Goodbye { survivors: named(survivors), ended: named(ended), unrecorded }
    }
}

/// Each once.
fn named(survivors: Vec<Survivor>) -> Vec<String> {
    let named: BTreeMap<i32, String> = survivors.into_iter().map(|s| (s.pid, s.command)).collect();
    named.into_iter().map(|(pid, command)| format!("{pid} {command}")).collect()
}
