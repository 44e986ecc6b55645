//! Holds what is sent to a budget: what waits goes back to the composer once it is used up.
//!
//! Invariant: a turn that runs is not stopped.

use super::{Cx, Level, in_session, notice, notice_once, prompt};
use crate::model::Model;
use crate::model::budget::{Budget, Left};
use crate::model::ids::SessionKey;

/// What is noticed once a session.
const LITTLE: &str = "little of the session's budget";

pub fn begin(model: &mut Model, budget: Box<Budget>, cx: &mut Cx) {
    model.budget = Some(budget);
    apply_day(model, cx);
}

/// Other programs spend, too. What is told of here may not have been written there yet.
pub fn spent(model: &mut Model, amount: f64, cx: &mut Cx) {
    let Some(budget) = &mut model.budget else { return };
    budget.begin_day(cx.now);
    budget.spent = budget.spent.max(amount);
    apply_day(model, cx);
}

/// The session's cost may have changed.
pub fn told(model: &mut Model, at: SessionKey, cx: &mut Cx) {
    let (Some(budget), Some(session)) = (&mut model.budget, model.sessions.get(&at)) else { return };
    let cost = session.usage.as_ref().and_then(|usage| usage.cost.clone());
    budget.begin_day(cx.now);
    if let (Some(id), Some(cost)) = (&session.id, &cost) {
        budget.told(id, cost);
    }
    let (warning, of_session) = (budget.warns(), budget.of_session(cost.as_ref()));
    apply_day(model, cx);
    in_session(model, at, cx, |session, cx| {
        if let Some(words) = warning {
            notice(session, Level::Warn, words, Vec::new(), cx.now);
        }
        match of_session {
            Left::Enough => {}
            Left::Little(words) => notice_once(session, LITTLE, words, Vec::new(), cx.now),
            Left::Nothing(words) => {
                session.used_up.get_or_insert(words);
            }
        }
        prompt::refuse_used_up(session, cx);
    });
}

/// Whether a prompt may be sent depends on the day.
pub fn day(model: &mut Model, cx: &mut Cx) {
    if model.budget.as_mut().is_some_and(|budget| budget.begin_day(cx.now)) {
        apply_day(model, cx);
    }
}

fn apply_day(model: &mut Model, cx: &mut Cx) {
    let Some(budget) = &model.budget else { return };
    let (today, keys) = (budget.of_day(), model.sessions.keys().copied().collect::<Vec<_>>());
    let of_session = |at: &SessionKey| {
        let usage = model.sessions.get(at).and_then(|session| session.usage.as_ref());
        budget.of_session(usage.and_then(|usage| usage.cost.as_ref()))
    };
    let why: Vec<_> = keys
        .into_iter()
        .map(|at| match (&today, of_session(&at)) {
            (Left::Nothing(words), _) => (at, Some(words.clone())),
            (_, Left::Nothing(words)) => (at, Some(words)),
            _ => (at, None),
        })
        .collect();
    for (at, why) in why {
        if model.sessions.get(&at).is_some_and(|session| session.used_up != why) {
            in_session(model, at, cx, |session, cx| {
                session.used_up = why;
                prompt::refuse_used_up(session, cx);
            });
        }
    }
}
