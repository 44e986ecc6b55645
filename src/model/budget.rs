//! What may be spent on a day and in a session, and what has been: as agents tell their cost.
//!
//! Reads no journal: what was spent before comes with the budget. Invariants: only costs in a limit's unit count for it;
//! a cost that falls gives nothing back.

use super::ids::{Now, SessionId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// In hundredths, from where on it is said.
const NEARLY: f64 = 80.0;
const DAY: Duration = Duration::from_hours(24);
/// Sessions whose cost is remembered.
const MAX_COSTS: usize = 4096;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    pub amount: f64,
    pub unit: String,
}

/// What the person wants to spend at most, and what is spent of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    pub day: Option<Limit>,
    pub session: Option<Limit>,
    /// On this day.
    pub spent: f64,
    /// When this day ends.
    pub ends: Now,
    /// What sessions have cost in the unit of the day, by their ids.
    pub costs: BTreeMap<String, f64>,
    /// It was said that little is left of this day's.
    #[serde(default)]
    pub is_warned: bool,
}

/// Whether there is something to say of a limit.
#[derive(Clone, Debug, PartialEq)]
pub enum Left {
    Enough,
    /// Said once.
    Little(String),
    Nothing(String),
}

impl Limit {
    fn percent(&self, spent: f64) -> f64 {
        spent * 100.0 / self.amount
    }

    fn words(&self, per: &str, spent: f64) -> String {
        let Self { amount, unit } = self;
        format!("the budget of {amount} {unit} a {per} is used up ({spent:.2} {unit}, as the agents tell it)")
    }

    fn warning(&self, per: &str, spent: f64) -> String {
        let (Self { amount, unit }, percent) = (self, self.percent(spent));
        format!(
            "{percent:.0} % of the budget of {amount} {unit} a {per} are used ({spent:.2} {unit}, as the agents tell it)"
        )
    }

    fn left(&self, per: &str, spent: f64, until: &str) -> Left {
        match self.percent(spent) {
            used if used >= 100.0 => Left::Nothing(format!(
                "{}: nothing is sent {until} · `budget` in the configuration sets it",
                self.words(per, spent)
            )),
            used if used >= NEARLY => Left::Little(self.warning(per, spent)),
            _ => Left::Enough,
        }
    }
}

impl Budget {
    /// A day begins with nothing spent. True when one has begun.
    pub(super) fn begin_day(&mut self, now: Now) -> bool {
        let is_new = now >= self.ends;
        while now >= self.ends {
            self.ends = self.ends.saturating_add(DAY);
            (self.spent, self.is_warned) = (0.0, false);
        }
        is_new
    }

    /// What a session has cost so far.
    pub(super) fn told(&mut self, id: &SessionId, (amount, unit): &(f64, String)) {
        let is_counted = self.day.as_ref().is_some_and(|day| day.unit == *unit) && amount.is_finite();
        let is_known = self.costs.contains_key(id.as_str());
        if is_counted && (is_known || self.costs.len() < MAX_COSTS) {
            let before = self.costs.insert(id.as_str().to_owned(), *amount).unwrap_or_default();
            self.spent += (amount - before).max(0.0);
        }
    }

    pub fn of_day(&self) -> Left {
        self.day.as_ref().map_or(Left::Enough, |day| day.left("day", self.spent, "before tomorrow (UTC)"))
    }

    pub fn of_session(&self, cost: Option<&(f64, String)>) -> Left {
        match (&self.session, cost) {
            (Some(limit), Some((spent, unit))) if limit.unit == *unit && spent.is_finite() => {
                limit.left("session", *spent, "any more in this session")
            }
            _ => Left::Enough,
        }
    }

    /// Once a day.
    pub(super) fn warns(&mut self) -> Option<String> {
        let Left::Little(words) = self.of_day() else { return None };
        (!std::mem::replace(&mut self.is_warned, true)).then_some(words)
    }

    /// For the screen: what is used of a day's.
    pub fn today(&self) -> Option<String> {
        let Limit { amount, unit } = self.day.as_ref()?;
        Some(format!("{:.2} of {amount} {unit} today", self.spent))
    }
}
