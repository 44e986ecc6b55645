//! The parts of the sums that sessions are told: the newest files, and what each of the sessions that share a run has
//! changed by itself, for the list of sessions of other processes. Knows the names of the sessions for that.
//!
//! Invariants: nothing is counted where a run has one session, whose sums are those of all; nothing is told twice.

use crate::model::changes::{FileTotals, ReviewEvent, Totals};
use crate::model::ids::SessionKey;
use crate::review::error::ReviewError;
use crate::review::session::ReviewSession;
use std::collections::{BTreeMap, BTreeSet};

/// Files whose sums are told.
const NEWEST: usize = 8;

#[derive(Default)]
pub(super) struct OwnSums {
    /// Under which names the review knows the sessions that are open.
    ids: BTreeMap<SessionKey, String>,
    told: BTreeMap<SessionKey, Totals>,
    /// The same for all of the run, and whom it has not been told.
    newest: Vec<FileTotals>,
    untold: BTreeSet<SessionKey>,
}

impl OwnSums {
    pub fn opened(&mut self, at: SessionKey, id: &str) {
        self.ids.insert(at, id.to_owned());
        if !self.newest.is_empty() {
            self.untold.insert(at);
        }
    }

    pub fn id(&self, at: SessionKey) -> Option<&str> {
        self.ids.get(&at).map(String::as_str)
    }

    pub fn left(&mut self, at: SessionKey) {
        self.ids.remove(&at);
        self.told.remove(&at);
        self.untold.remove(&at);
    }

    /// What has not been told yet.
    pub fn news(&mut self, review: &mut ReviewSession) -> Result<Vec<(SessionKey, ReviewEvent)>, ReviewError> {
        let mut news = Vec::new();
        let newest = review.newest_files(NEWEST);
        if self.newest != newest {
            self.newest = newest;
            self.untold.extend(self.ids.keys());
        }
        for at in std::mem::take(&mut self.untold) {
            news.push((at, ReviewEvent::FilesSeen { newest: self.newest.clone() }));
        }
        if review.turns().are_shared() {
            for (at, id) in &self.ids {
                let totals = review.own_totals(id)?;
                if self.told.insert(*at, totals) != Some(totals) {
                    news.push((*at, ReviewEvent::OwnChanges { totals }));
                }
            }
        }
        Ok(news)
    }
}
