//! Which review looks at a session: one is begun, joined, left, or has ended by itself.
//!
//! Gives no other job to a review than to look for the first time. Invariant: a session that nobody looks at has been
//! told so.

use super::fact::Facts;
use super::reviewing::{self, Job, Reviewing};
use super::run::Engine;
use crate::model::changes::ReviewEvent;
use crate::model::event::HostEvent;
use crate::model::ids::SessionKey;
use crate::model::session::Policy;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

impl Engine {
    /// Gives a session that has just come about its place: the roots, and the review of its directory.
    pub(super) fn settle_in(&mut self, at: SessionKey) {
        let Some(session) = self.core.model.session_of(at) else { return };
        let cwd = PathBuf::from(&session.cwd);
        if self.workspaces.join(at, &cwd) {
            self.start_review(at);
        } else if self.workspaces.reviewing(at).is_some() {
            self.give(at, Job::Join);
        } else if self.config.review.is_some() {
            self.apply(
                at,
                HostEvent::Review(ReviewEvent::ReviewOff { message: "the review of this directory has ended".into() }),
            );
        }
    }

    /// Starts the thread of a directory's review, with a first look at the tree: the first prompt shall not wait for it.
    pub(super) fn start_review(&mut self, at: SessionKey) {
        let (Some(config), Some(cwd)) = (&self.config.review, self.workspaces.directory(at)) else { return };
        let (roots, model) = (Arc::clone(self.workspaces.roots(at)), &self.core.model);
        let command = self.core.agent_at(at.into()).and_then(|agent| model.agent_of(agent)).map(|a| a.command.as_str());
        let stem = self.stem.of_review(self.workspaces.review_of(at).unwrap_or_default());
        let head = reviewing::head(stem, self.stem.started(), cwd, &roots, command.unwrap_or_default());
        let (facts, hint) = (Facts(self.facts_tx.clone()), Arc::clone(&self.hint));
        match Reviewing::start(config, head, roots, at, facts, hint) {
            Ok(reviewing) => {
                let is_new = config.earlier.is_none();
                self.workspaces.set(at, Some(reviewing));
                if is_new {
                    let is_alone = matches!(self.config.policy, Policy::Auto(_));
                    let (looked, over) = mpsc::channel(1);
                    self.first_look = is_alone.then_some(over);
                    self.give(at, Job::Look { alone: is_alone.then_some(looked) });
                }
            }
            Err(error) => self.apply(at, HostEvent::Review(ReviewEvent::ReviewOff { message: error.to_string() })),
        }
    }

    /// Where nobody sits before a screen: ends when the first look at the files does, or after `patience`. Before that
    /// no agent should be started: what it has changed by then would be taken for what was there.
    pub async fn first_look(&mut self, patience: Duration) {
        if let Some(mut over) = self.first_look.take() {
            // A review that has ended says so itself.
            let _ = tokio::time::timeout(patience, over.recv()).await;
        }
    }

    /// The person has closed a session.
    pub(super) fn leave_review(&mut self, at: SessionKey) {
        if let Some(reviewing) = self.workspaces.reviewing(at) {
            reviewing.viewers.remove(&at);
        }
        self.give(at, Job::Leave);
    }

    /// A review has ended by itself, for all its sessions.
    pub(super) fn review_is_off(&mut self, at: SessionKey, event: &HostEvent) {
        self.workspaces.set(at, None);
        for at in self.workspaces.beside(at) {
            self.apply(at, event.clone());
        }
    }
}
