//! A step while it is tried: what was found, what was seen, how long it took.
//!
//! Knows no step by name.

use super::report::{Report, Step};
use super::talk::{Silent, Talk};
use crate::base::human;
use crate::model::frames::Flaw;
use std::time::{Duration, Instant};

pub(super) fn left_out(name: &'static str, why: &str) -> Step {
    Step { name, is_left_out: true, note: why.to_owned(), ..Step::default() }
}

/// A step that is under way.
pub(super) struct Under {
    pub(super) step: Step,
    began: Instant,
}

impl Under {
    pub(super) fn way(name: &'static str) -> Self {
        Self { step: Step { name, ..Step::default() }, began: Instant::now() }
    }

    pub(super) fn find(&mut self, rule: &'static str, what: impl Into<String>, frame: &str) {
        self.step.find(Flaw { rule, what: what.into() }, frame);
    }

    /// An answer did not come.
    pub(super) fn silent(&mut self, why: Silent, rule: &'static str, limit: Duration, sent: &str) {
        match why {
            Silent::Late => {
                let what = format!("no answer within {}", human::precise(limit));
                self.find(rule, what, sent);
            }
            Silent::Gone(how) => self.find("R-060", format!("it is gone: {how}"), sent),
        }
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.step.note = note.into();
    }

    pub(super) fn leave_out(&mut self, why: impl Into<String>) {
        self.step.is_left_out = true;
        self.note(why);
    }

    pub(super) fn over(mut self, talk: &mut Talk, report: &mut Report) {
        talk.tell(&mut self.step);
        self.done(report);
    }

    pub(super) fn done(mut self, report: &mut Report) {
        self.step.took = self.began.elapsed();
        report.steps.push(self.step);
    }
}
