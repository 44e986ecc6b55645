//! The parts of the sums that sessions are told: the newest files, and what each of the sessions that share a run has
//! changed by itself, for the list of sessions of other processes.
//!
//! Invariants: nothing is counted where a run has one session, whose sums are those of all; nothing is told twice.

use crate::model::changes::{FileTotals, ReviewEvent, Totals};
use crate::model::ids::SessionKey;
use crate::review::error::ReviewError;
use crate::review::session::ReviewSession;
use std::collections::BTreeMap;

/// Files whose sums are told.
const NEWEST: usize = 8;

#[derive(Default)]
pub(super) struct OwnSums {
    /// Under which names the review knows the sessions that are open.
    ids: BTreeMap<SessionKey, String>,
    told: BTreeMap<SessionKey, Totals>,
    newest: BTreeMap<SessionKey, Vec<FileTotals>>,
}

impl OwnSums {
    pub fn opened(&mut self, at: SessionKey, id: &str) {
        self.ids.insert(at, id.to_owned());
    }

    pub fn left(&mut self, at: SessionKey) {
        self.ids.remove(&at);
        self.told.remove(&at);
        self.newest.remove(&at);
    }

    /// What has not been told yet.
    pub fn news(&mut self, review: &mut ReviewSession) -> Result<Vec<(SessionKey, ReviewEvent)>, ReviewError> {
        let mut news = Vec::new();
        let newest = review.newest_files(NEWEST);
        for at in self.ids.keys() {
            let told = self.newest.entry(*at).or_default();
            if *told != newest {
                told.clone_from(&newest);
                news.push((*at, ReviewEvent::FilesSeen { newest: newest.clone() }));
            }
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
