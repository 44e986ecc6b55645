//! What an agent has told of the use of a session: its context, its cost, its tokens, and what of that came on which day.
//!
//! Costs and tokens are told as sums of the session so far. Invariant: what was spent before the journal began is put
//! down to no day of it.

use crate::model::patch::Patch;
use serde::{Deserialize, Serialize};

/// Days of one session that are told apart.
const MAX_DAYS: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Tokens of the context that are used, and how many there are.
    pub context: Option<(u64, u64)>,
    pub cost: Option<(f64, String)>,
    /// Of all turns.
    pub tokens: Option<u64>,
    /// The oldest first.
    pub days: Vec<Day>,
    /// The first sum of a session that had one before, and its day.
    first: Option<(f64, u32)>,
}

/// What was spent on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Day {
    /// Since 1970.
    pub day: u32,
    /// In the unit of the session's cost.
    pub cost: f64,
    pub tokens: u64,
}

impl Figures {
    pub fn used(&mut self, used: u64, size: u64) {
        self.context = Some((used, size));
    }

    /// `is_older`: the session was there before the journal began.
    pub fn costs(&mut self, day: u32, cost: Patch<(f64, String)>, is_older: bool) {
        if let Patch::Set((amount, unit)) = &cost
            && amount.is_finite()
        {
            match &self.cost {
                Some((before, of)) if of == unit => self.on(day).cost += (amount - before).max(0.0),
                // Another unit begins anew.
                Some(_) => {}
                None if is_older => self.first = Some((*amount, day)),
                None => self.on(day).cost += amount.max(0.0),
            }
        }
        cost.put_option(&mut self.cost);
    }

    /// The sum of a turn's end. One that is smaller than the last is that turn's own.
    pub fn counts(&mut self, day: u32, tokens: u64) {
        let before = self.tokens.unwrap_or(0);
        let (sum, spent) = match tokens.checked_sub(before) {
            Some(spent) => (tokens, spent),
            None => (before.saturating_add(tokens), tokens),
        };
        self.tokens = Some(sum);
        let on = self.on(day);
        on.tokens = on.tokens.saturating_add(spent);
    }

    /// The journal goes on with a session of an earlier one.
    pub fn after(&mut self, earlier: Self) {
        if let Some(((first, day), (last, unit))) = self.first.zip(earlier.cost.as_ref()) {
            if self.cost.as_ref().is_some_and(|(_, of)| of == unit) {
                self.on(day).cost += (first - last).max(0.0);
            }
            self.first = earlier.first;
        }
        for Day { day, cost, tokens } in earlier.days {
            let on = self.on(day);
            on.cost += cost;
            on.tokens = on.tokens.saturating_add(tokens);
        }
        self.context = self.context.or(earlier.context);
        self.cost = self.cost.take().or(earlier.cost);
        self.tokens = self.tokens.or(earlier.tokens);
    }

    fn on(&mut self, day: u32) -> &mut Day {
        let at = match self.days.binary_search_by_key(&day, |one| one.day) {
            Ok(at) => at,
            Err(at) if self.days.len() < MAX_DAYS => {
                self.days.insert(at, Day { day, ..Day::default() });
                at
            }
            Err(at) => at.min(self.days.len() - 1),
        };
        &mut self.days[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(amount: f64) -> Patch<(f64, String)> {
        Patch::Set((amount, "USD".into()))
    }

    fn days(figures: &Figures) -> Vec<(u32, f64, u64)> {
        figures.days.iter().map(|day| (day.day, day.cost, day.tokens)).collect()
    }

    #[test]
    fn what_a_sum_grows_by_is_put_down_to_the_day_on_which_it_is_told() {
        let mut one = Figures::default();
        for (day, sum) in [(5, 0.5), (5, 0.75), (6, 1.75), (6, 1.0)] {
            one.costs(day, usd(sum), false);
        }
        one.counts(5, 100);
        one.counts(6, 150);
        // An agent that tells of each turn alone.
        one.counts(6, 30);
        assert_eq!(days(&one), [(5, 0.75, 100), (6, 1.0, 80)]);
        assert_eq!((one.tokens, one.cost), (Some(180), Some((1.0, "USD".into()))));
    }

    #[test]
    fn what_was_spent_before_is_counted_once() {
        let mut first = Figures::default();
        first.costs(5, usd(2.0), false);
        let mut second = Figures::default();
        second.costs(7, usd(2.5), true);
        second.costs(7, usd(3.0), true);
        assert_eq!(days(&second), [(7, 0.5, 0)], "of its own it knows no more");
        second.after(first);
        assert_eq!(days(&second), [(5, 2.0, 0), (7, 1.0, 0)]);
    }

    #[test]
    fn odd_figures_do_no_harm() {
        let mut one = Figures::default();
        for amount in [f64::NAN, f64::INFINITY, -3.0] {
            one.costs(5, usd(amount), false);
        }
        one.costs(5, Patch::Set((9.0, "EUR".into())), false);
        one.counts(5, u64::MAX);
        one.counts(5, u64::MAX - 1);
        for day in 0..5000 {
            one.counts(day, 1);
        }
        assert!(one.days.len() == MAX_DAYS && one.days.iter().all(|day| day.cost.is_finite()));
    }
}
