//! Whose the turns of a run are: several sessions may take turns in it.
//!
//! Plain numbers; looks at no file. Invariant: each turn, and what was changed before the first one, is of one session.

use crate::review::protocol::AgentSession;
use std::collections::{BTreeSet, HashMap};

#[derive(Clone, Copy)]
pub struct Turns<'a> {
    sessions: &'a [AgentSession],
    /// Those that have begun.
    begun: &'a BTreeSet<u64>,
}

impl<'a> Turns<'a> {
    pub const fn new(sessions: &'a [AgentSession], begun: &'a BTreeSet<u64>) -> Self {
        Self { sessions, begun }
    }

    /// Another one when turns that had owners have others.
    pub fn as_of(&self) -> (usize, Option<u64>) {
        (self.sessions.len(), self.begun.first().copied())
    }

    /// Whether they are of more than one session; of those that changed nothing beside another none counts.
    pub fn are_shared(&self) -> bool {
        let mut all = self.counted();
        all.next().is_some_and(|first| all.any(|session| session.id != first.id))
    }

    fn counted(&self) -> impl Iterator<Item = &'a AgentSession> {
        self.sessions.iter().filter(|session| session.counts())
    }

    /// The session whose all turns are.
    pub fn only_session(&self) -> Option<&'a AgentSession> {
        self.counted().next().filter(|_| !self.are_shared())
    }

    /// The newest session in which something was said, and none that answers a question beside another.
    pub fn newest(&self) -> Option<&'a AgentSession> {
        self.sessions.iter().rfind(|session| !session.is_aside && self.of(&session.id).next().is_some())
    }

    /// Whether a turn answers a question beside another session.
    pub fn is_aside(&self, turn: u64) -> bool {
        self.owner(turn).is_some_and(|session| session.is_aside)
    }

    /// The session that a turn is of. What was changed before the first turn is of the session that had that one; where
    /// none was had, of the session that was opened last.
    pub fn owner(&self, turn: u64) -> Option<&'a AgentSession> {
        let turn = turn.max(self.begun.first().copied().unwrap_or(u64::MAX));
        self.sessions.iter().rfind(|session| session.first_turn <= turn).or(self.sessions.first())
    }

    pub fn is_of(&self, turn: u64, id: &str) -> bool {
        self.owner(turn).is_some_and(|session| session.id == id)
    }

    /// Whether both are of the same agent, in one session or in two.
    pub fn are_of_one_agent(&self, one: u64, other: u64) -> bool {
        self.owner(one).map(|session| &session.agent) == self.owner(other).map(|session| &session.agent)
    }

    /// The first turn of a session; 0 when there was none before, and what was changed before the first one is its own, too.
    /// One that comes to none begins behind all there are.
    pub fn beginning(&self, session: &AgentSession) -> u64 {
        let first = self.of(&session.id).next().unwrap_or(self.last() + 1);
        if self.begun.range(..first).next().is_none() { 0 } else { first }
    }

    /// The others that have turns from that one on, each once.
    pub fn others_from(&self, first: u64, id: &str) -> Vec<&'a str> {
        let owners = self.begun.range(first..).filter_map(|turn| self.owner(*turn));
        let mut others: Vec<&str> = Vec::new();
        for owner in owners.filter(|owner| owner.id != id && owner.counts()) {
            if !others.contains(&owner.id.as_str()) {
                others.push(&owner.id);
            }
        }
        others
    }

    /// Those of one session that have begun.
    pub fn of(&self, id: &str) -> impl Iterator<Item = u64> {
        self.begun.iter().copied().filter(move |turn| self.is_of(*turn, id))
    }

    /// The last that has begun.
    pub fn last(&self) -> u64 {
        self.begun.last().copied().unwrap_or(0)
    }

    /// All of them that have begun, with their sessions, and how they are counted there, from 1.
    pub fn numbers(&self) -> impl Iterator<Item = (u64, &'a AgentSession, u64)> {
        let mut seen: HashMap<&'a str, u64> = HashMap::new();
        self.begun.iter().filter_map(move |turn| {
            let owner = self.owner(*turn)?;
            let number = seen.entry(&owner.id).or_default();
            *number += 1;
            Some((*turn, owner, *number))
        })
    }

    /// How a turn is counted among those of its session, from 1.
    pub fn number(&self, turn: u64) -> Option<(&'a AgentSession, u64)> {
        let owner = self.owner(turn)?;
        let before = self.of(&owner.id).filter(|other| *other < turn).count() as u64;
        Some((owner, before + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, first_turn: u64) -> AgentSession {
        AgentSession::new(id, first_turn, "demo")
    }

    fn owners(sessions: &[AgentSession], begun: &[u64], asked: &[u64]) -> Vec<(String, u64)> {
        let begun = begun.iter().copied().collect();
        let turns = Turns::new(sessions, &begun);
        let number = |turn: &u64| turns.number(*turn).map(|(session, number)| (session.id.clone(), number));
        asked.iter().filter_map(number).collect()
    }

    #[test]
    fn a_turn_is_of_the_session_that_was_named_last() {
        // Two take turns; what was said of the second one before it was opened is counted as well.
        let all = [session("a", 1), session("b", 4), session("a", 5)];
        let want = [("a", 1), ("a", 1), ("a", 2), ("b", 1), ("a", 3)].map(|(id, n)| (id.to_owned(), n));
        assert_eq!(owners(&all, &[1, 2, 4, 5], &[0, 1, 2, 4, 5]), want);
        assert_eq!(owners(&[], &[1], &[1]), []);
    }

    #[test]
    fn the_newest_session_is_one_in_which_something_was_said() {
        let newest = |all: &[AgentSession], begun: &[u64]| {
            let begun = begun.iter().copied().collect();
            Turns::new(all, &begun).newest().map(|session| session.id.clone())
        };
        let aside = AgentSession { is_aside: true, ..session("aside", 3) };
        let all = [session("a", 1), session("b", 2), session("never", 3), aside];
        assert_eq!(newest(&all[..3], &[1, 2]).as_deref(), Some("b"));
        assert_eq!(newest(&all, &[1, 2, 3]).as_deref(), Some("b"), "a question beside it is no later word of it");
        assert_eq!(newest(&all, &[]), None);
    }

    #[test]
    fn a_session_begins_with_its_first_turn_however_early_it_was_opened() {
        let all = [session("a", 1), session("b", 1), session("a", 2), session("b", 3)];
        let begun = [1, 2, 3].into();
        let turns = Turns::new(&all, &begun);
        assert_eq!((turns.beginning(&all[0]), turns.others_from(2, "a")), (2, vec!["b"]));
        assert_eq!((turns.beginning(&all[1]), turns.others_from(0, "b")), (0, vec!["a"]));
    }

    #[test]
    fn what_was_changed_before_the_first_turn_is_of_who_had_that_or_was_opened_last() {
        let all = [session("a", 1), session("b", 2)];
        for (begun, owner) in [(&[][..], "b"), (&[2], "b"), (&[1, 2], "a")] {
            assert_eq!(owners(&all, begun, &[0])[0].0, owner, "{begun:?}");
            let begun: BTreeSet<u64> = begun.iter().copied().collect();
            let turns = Turns::new(&all, &begun);
            // An undo of it begins with what is its own.
            assert_eq!(turns.beginning(&all[1]) == 0, owner == "b", "{begun:?}");
            assert_eq!(turns.beginning(&all[0]), if begun.len() == 1 { 3 } else { 0 }, "{begun:?}");
        }
    }
}
