//! What the filter of the list finds, and what of it is best.
//!
//! Reads only what is in the list. Invariant: with a filter rows of one part stand by how well they match, without one as the
//! person wants them sorted.

use super::{End, Past, PastSession, Reach, SessionList, Sort, past_session};
use crate::text::fuzzy;
use std::cmp::Reverse;

impl SessionList {
    /// Finds what is shown: best first with a filter, else as the person wants it sorted. What is open stands above all
    /// the same; an earlier one that matches better than all of those is the best.
    pub(super) fn matched(&mut self) {
        let texts: Vec<&str> = self.open.iter().map(|one| one.text.as_str()).collect();
        let mut found = fuzzy::scored(&self.filter, &texts);
        let open = |at: &usize| self.open.get(*at);
        match self.taste.sort {
            Sort::Needs => found.sort_by_key(|(at, _)| (open(at).map(|one| one.attention), *at)),
            Sort::Used => found.sort_by_key(|(at, _)| Reverse(open(at).map(|one| one.used))),
        }
        // Without a filter all match alike.
        found.sort_by_key(|(_, score)| Reverse(*score));
        let best_open = found.first().map(|(_, score)| *score);
        self.shown_open = found.into_iter().map(|(at, _)| at).collect();
        self.best = 0;
        self.shown_past.clear();
        if let Past::Read(all) = &self.past {
            let is_open_here = |one: &PastSession| {
                let mut open = self.open.iter().filter_map(|open| open.which.as_ref());
                open.any(|which| which.id == one.id && one.is_of(&which.command))
            };
            let is_near = |one: &PastSession| self.reach == Reach::Everywhere || self.is_near(one);
            let is_in_reach = |one: &PastSession| is_near(one) && !is_open_here(one);
            let (at, texts): (Vec<usize>, Vec<&str>) =
                all.iter().enumerate().filter(|(_, one)| is_in_reach(one)).map(|(at, one)| (at, &*one.text)).unzip();
            let found = fuzzy::scored(&self.filter, &texts);
            if found.first().map(|(_, score)| *score) > best_open {
                self.best = self.shown_open.len();
            }
            self.shown_past = found.into_iter().filter_map(|(i, _)| at.get(i).copied()).collect();
            if self.taste.sort == Sort::Needs && self.filter.trim().is_empty() {
                self.shown_past
                    .sort_by_key(|at| all.get(*at).is_none_or(|one| one.end != End::Interrupted || one.is_gone));
            }
            if self.filter.trim().is_empty() {
                past_session::by_thread(all, &mut self.shown_past);
            }
        }
    }
}
