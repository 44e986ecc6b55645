//! The end of a turn in lines: how it ended, what it took and what it has changed.
//!
//! Reads only. Invariants: what is said of a turn is its own, and what is left to review in the session stands apart from
//! it; what a turn has changed is told once it is known, also when that is after its end.

use super::QUOTE;
use crate::base::human;
use crate::model::effect::Ended;
use crate::model::entry::{Body, Entry};
use crate::model::event::Stop;
use crate::model::ids::TurnId;
use crate::model::session_ref::SessionRef;
use crate::model::spent::Spent;
use crate::ui::{cells, labels};
use std::collections::BTreeSet;
use std::time::Instant;

/// A turn that has ended and of which this was not told yet.
#[derive(Debug)]
pub(super) struct Over {
    pub(super) turn: TurnId,
    pub(super) how: Ended,
    pub(super) spent: Spent,
    /// What it has changed is known, or will never be.
    pub(super) is_reviewed: bool,
    pub(super) until: Instant,
}

impl Over {
    /// Nothing where its agent has gone: the state tells of that.
    pub(super) fn lines(&self, session: SessionRef<'_>, calls: u64) -> Vec<String> {
        let Some(how) = ended(&self.how) else { return Vec::new() };
        let mut parts = vec![human::duration(self.spent.agent)];
        if calls > 0 {
            parts.push(human::count(calls, "tool call"));
        }
        parts.extend(labels::waited(self.spent));
        if self.is_reviewed {
            parts.extend(changed(self.turn, session));
        } else {
            parts.push("what it has changed is not known yet".to_owned());
        }
        let mut lines = vec![format!("end: {how}: {}{}", parts.join(", "), left(session))];
        if let Ended::Failed(error) = &self.how {
            lines.extend(error.data_lines().into_iter().map(|line| format!("{QUOTE}{line}")));
        }
        lines
    }
}

/// Turns whose end was told before it was known what they have changed.
#[derive(Debug, Default)]
pub(super) struct Unknown(BTreeSet<TurnId>);

impl Unknown {
    pub(super) fn note(&mut self, over: &Over) {
        if !over.is_reviewed {
            self.0.insert(over.turn);
        }
    }

    /// It is known now.
    pub(super) fn known(&mut self, turn: TurnId, session: SessionRef<'_>) -> Option<String> {
        let changed = Some(changed(turn, session)).filter(|changed| self.0.remove(&turn) && !changed.is_empty())?;
        Some(format!("changed: by the turn before, number {}: {}{}", turn.0, changed.join(", "), left(session)))
    }
}

/// Nothing without a review, and where the files could not be looked at.
fn changed(turn: TurnId, session: SessionRef<'_>) -> Vec<String> {
    let is_its = |entry: &&Entry| matches!(&entry.body, Body::Changes(changes) if changes.turn == turn);
    let rule = session.entries().slots().rev().filter_map(|slot| slot.here()).find(is_its);
    rule.map(cells::changed).unwrap_or_default()
}

fn left(session: SessionRef<'_>) -> String {
    labels::to_review(session.changes().totals).map(|open| format!("; {open} in this session")).unwrap_or_default()
}

/// How a turn has ended.
fn ended(how: &Ended) -> Option<String> {
    let words = match how {
        Ended::Stopped(result) => match &result.stop {
            Stop::EndTurn => "the turn is over",
            Stop::Cancelled => "the turn was stopped",
            Stop::MaxTokens => "the turn ended: the answer is as long as it may be",
            Stop::MaxTurnRequests => "the turn ended: it has asked its model as often as it may",
            Stop::Refusal => "the agent refuses to go on",
            Stop::Odd(_) => "the turn ended without a reason",
        },
        Ended::Failed(error) => return Some(format!("the turn failed: {}", error.as_answer())),
        Ended::Gone => return None,
    };
    Some(words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::changes::{ReviewEvent, Totals};
    use crate::model::event::{Event, HostEvent, Intent, PromptResult};
    use crate::ui::fixtures::Scene;

    /// A session with a review, of which a turn has ended.
    fn ended_turn() -> Scene {
        let mut scene = Scene::ready(80, 24);
        scene.model = std::mem::take(&mut scene.model).with_review(true);
        turn(&mut scene);
        scene
    }

    fn turn(scene: &mut Scene) {
        scene.intent(Intent::Prompt { text: "go on".into(), links: Vec::new() });
        let turn = scene.model.first().session().last_turn();
        scene.event(Event::Host(HostEvent::Review(ReviewEvent::TurnCovered { turn, covered: Ok(()) })));
        scene.end_turn(Stop::EndTurn);
    }

    fn reviewed(scene: &mut Scene, turn: u64, totals: Totals, session: Totals) {
        let turn = TurnId(turn);
        scene.event(Event::Host(HostEvent::Review(ReviewEvent::TurnReviewed { turn, totals, session, after: false })));
    }

    fn over(turn: u64, is_reviewed: bool) -> Over {
        let how = Ended::Stopped(PromptResult { stop: Stop::EndTurn, usage: None });
        Over { turn: TurnId(turn), how, spent: Spent::default(), is_reviewed, until: Instant::now() }
    }

    const WROTE: Totals = Totals { added: 9, removed: 0, files: 3, pending: 3 };

    #[test]
    fn a_turn_is_told_by_its_own_changes_and_what_is_left_to_review_apart_from_them() {
        let mut scene = ended_turn();
        reviewed(&mut scene, 1, WROTE, WROTE);
        let said = over(1, true).lines(scene.model.first(), 1);
        assert_eq!(said, ["end: the turn is over: 0 s, 1 tool call, +9 −0 in 3 files; 3 to review in this session"]);
        turn(&mut scene);
        reviewed(&mut scene, 2, Totals::default(), WROTE);
        let said = over(2, true).lines(scene.model.first(), 0);
        assert_eq!(said, ["end: the turn is over: 0 s, nothing changed; 3 to review in this session"]);
    }

    #[test]
    fn what_a_turn_has_changed_is_told_of_it_also_when_it_is_known_late() {
        let (mut scene, mut unknown) = (ended_turn(), Unknown::default());
        let over = over(1, false);
        let said = over.lines(scene.model.first(), 0);
        assert_eq!(said, ["end: the turn is over: 0 s, what it has changed is not known yet"]);
        unknown.note(&over);
        reviewed(&mut scene, 1, WROTE, WROTE);
        let late = unknown.known(TurnId(1), scene.model.first());
        let words = "changed: by the turn before, number 1: +9 −0 in 3 files; 3 to review in this session";
        assert_eq!(late.as_deref(), Some(words));
        assert_eq!(unknown.known(TurnId(1), scene.model.first()), None, "once");
    }
}
