//! How long a turn takes: the time of the agent, and the time in which it waited for an answer of the person.
//!
//! No clock of its own. Invariant: both together are the time from the prompt to the end of its turn.

use super::ids::Now;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    pub agent: Duration,
    /// A question stood.
    pub person: Duration,
}

/// What of a turn was the person's so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    over: Duration,
    /// Since when a question stands.
    since: Option<Now>,
    /// When the last one did no more.
    answered: Option<Now>,
}

impl Waits {
    /// Whether something is asked, from now on.
    pub(super) fn note(&mut self, is_asked: bool, now: Now) {
        match (is_asked, self.since) {
            (true, None) => self.since = Some(now),
            (false, Some(_)) => *self = Self { over: self.all(now), since: None, answered: Some(now) },
            _ => {}
        }
    }

    fn all(&self, now: Now) -> Duration {
        self.over + self.since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// When the agent could go on after the last question.
    pub const fn answered(&self) -> Option<Now> {
        self.answered
    }

    /// Of a turn that has begun then.
    pub fn spent(&self, began: Now, now: Now) -> Spent {
        let person = self.all(now);
        Spent { agent: now.saturating_sub(began).saturating_sub(person), person }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_person_took_is_not_the_agents() {
        let at = |s| Now::ZERO.saturating_add(Duration::from_secs(s));
        let mut waits = Waits::default();
        waits.note(false, at(1));
        waits.note(true, at(2));
        waits.note(true, at(5));
        let of = |agent, person| Spent { agent: Duration::from_secs(agent), person: Duration::from_secs(person) };
        assert_eq!(waits.spent(at(1), at(10)), of(1, 8), "while it stands");
        waits.note(false, at(92));
        waits.note(false, at(93));
        assert_eq!(waits.spent(at(1), at(94)), of(3, 90));
        waits.note(true, at(95));
        assert_eq!(waits.spent(at(1), at(96)), of(4, 91));
    }
}
