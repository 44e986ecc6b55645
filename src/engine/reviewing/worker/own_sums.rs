//! What each of the sessions that share a run has changed by itself, for the list of sessions of other processes.
//!
//! Invariants: nothing is counted where a run has one session, whose sums are those of all; nothing is told twice.

use crate::model::changes::Totals;
use crate::model::ids::SessionKey;
use crate::review::error::ReviewError;
use crate::review::session::ReviewSession;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct OwnSums {
    /// Under which names the review knows the sessions that are open.
    ids: BTreeMap<SessionKey, String>,
    told: BTreeMap<SessionKey, Totals>,
}

impl OwnSums {
    pub fn opened(&mut self, at: SessionKey, id: &str) {
        self.ids.insert(at, id.to_owned());
    }

    pub fn left(&mut self, at: SessionKey) {
        self.ids.remove(&at);
        self.told.remove(&at);
    }

    /// Sums that have not been told yet.
    pub fn news(&mut self, review: &mut ReviewSession) -> Result<Vec<(SessionKey, Totals)>, ReviewError> {
        let mut news = Vec::new();
        if review.turns().are_shared() {
            for (at, id) in &self.ids {
                let totals = review.own_totals(id)?;
                if self.told.insert(*at, totals) != Some(totals) {
                    news.push((*at, totals));
                }
            }
        }
        Ok(news)
    }
}
