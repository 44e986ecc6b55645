//! What is said when nothing is heard: of an agent that starts, works, or was asked to stop, and what can be done.
//!
//! Reads the model only. Invariants: a silence is told when the full screen would offer to give up on it, then each time it
//! has lasted twice as long; what is heard ends it.

use crate::base::patience;
use crate::model::event::Can;
use crate::model::ids::Now;
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::ui::cells;
use crate::ui::labels;
use crate::ui::state::silence;
use crate::ui::state::timing::START_PATIENCE;

/// A silence, and the time from which on it is told next.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    since: Option<Now>,
    next: Option<Now>,
}

/// Of what nothing is heard.
enum Silence {
    Start,
    Turn,
    Stop,
}

impl Liveness {
    /// What is to be said now, if anything.
    pub(super) fn tell(&mut self, session: SessionRef<'_>, now: Now) -> Option<String> {
        let Some((silence, since, first)) = silent(session, now) else {
            *self = Self::default();
            return None;
        };
        if self.since != Some(since) {
            *self = Self { since: Some(since), next: Some(first) };
        }
        // A tool that began meanwhile has its time.
        let next = self.next.map(|next| next.max(first)).filter(|next| *next <= now)?;
        let lasted = next.saturating_sub(since);
        self.next = Some(now.max(next).saturating_add(lasted));
        Some(words(&silence, session, since, now))
    }

    /// When there may be something to say by the passing of time alone.
    pub(super) fn next(&self, session: SessionRef<'_>, now: Now) -> Option<Now> {
        let (_, since, first) = silent(session, now)?;
        let next = self.next.filter(|_| self.since == Some(since)).map_or(first, |next| next.max(first));
        Some(next)
    }
}

/// Since when nothing is heard, and when it is told first.
fn silent(session: SessionRef<'_>, now: Now) -> Option<(Silence, Now, Now)> {
    match session.phase() {
        Phase::Starting { since } | Phase::Opening { since } => {
            Some((Silence::Start, since, since.saturating_add(START_PATIENCE)))
        }
        Phase::Ready => match session.turn.as_ref()?.cancelling {
            Some(since) => Some((Silence::Stop, since, since.saturating_add(patience::WATCHED))),
            None => Some((Silence::Turn, silence::heard(session)?, silence::offered_at(session, now)?)),
        },
        _ => None,
    }
}

fn words(silence: &Silence, session: SessionRef<'_>, since: Now, now: Now) -> String {
    let (agent, lasted) = (labels::agent(session), labels::clock(now.saturating_sub(since)));
    let can_go_on = session.agent().can(Can::Load) || session.agent().can(Can::Resume);
    let again = if can_go_on { "starts it again and goes on" } else { "starts it again with a new session" };
    match silence {
        Silence::Start => format!("note: {agent} has not answered for {lasted}; wait on, or :restart, or :quit"),
        Silence::Turn => {
            let what = cells::waits_for(session, now);
            format!(
                "note: {agent} has said nothing for {lasted}: {what}; wait on, or :stop the turn, or :restart, which {again}"
            )
        }
        Silence::Stop => format!(
            "note: {agent} has not confirmed the stop for {lasted}; wait on, or :restart, which {again} (the files it has written stay)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::Intent;
    use crate::model::tool::{ToolKind, ToolStatus};
    use crate::ui::fixtures::Scene;
    use std::time::Duration;

    fn told(liveness: &mut Liveness, scene: &Scene) -> Option<String> {
        liveness.tell(scene.model.first(), scene.now)
    }

    /// What is said at the next time at which there may be something to say, and how long that was waited for.
    fn next(liveness: &mut Liveness, scene: &mut Scene) -> (u64, String) {
        let at = liveness.next(scene.model.first(), scene.now).expect("a silence");
        let waited = at.saturating_sub(scene.now);
        scene.now = at;
        (waited.as_secs(), told(liveness, scene).expect("it is told"))
    }

    #[test]
    fn a_silent_turn_is_told_after_a_minute_and_then_ever_less_often() {
        let (mut scene, mut liveness) = (Scene::working(80, 24), Liveness::default());
        assert_eq!(told(&mut liveness, &scene), None);
        let (waited, words) = next(&mut liveness, &mut scene);
        assert_eq!(waited, 60);
        assert!(
            words.contains("has said nothing for 1:00: it waits for its model") && words.contains(":stop"),
            "{words}"
        );
        assert_eq!(told(&mut liveness, &scene), None, "once");
        assert_eq!(next(&mut liveness, &mut scene).0, 60);
        assert_eq!(next(&mut liveness, &mut scene).0, 120);
        scene.now += Duration::from_secs(1);
        scene.say("here I am");
        assert_eq!(told(&mut liveness, &scene), None);
        assert_eq!(next(&mut liveness, &mut scene).0, 60, "anew");
    }

    #[test]
    fn a_stop_that_is_not_confirmed_and_a_start_without_an_answer_are_told() {
        let (mut scene, mut liveness) = (Scene::working(80, 24), Liveness::default());
        scene.intent(Intent::Cancel);
        let (waited, words) = next(&mut liveness, &mut scene);
        assert_eq!(waited, 6);
        assert!(words.contains("has not confirmed the stop for 0:06") && words.contains(":restart"), "{words}");
        let (mut scene, mut liveness) = (Scene::new(80, 24), Liveness::default());
        scene.start();
        let (waited, words) = next(&mut liveness, &mut scene);
        assert!(waited == 60 && words.contains("has not answered for 1:00"), "{waited} {words}");
    }

    #[test]
    fn a_tool_has_its_time_and_a_person_who_is_asked_is_no_silence() {
        let (mut scene, mut liveness) = (Scene::working(80, 24), Liveness::default());
        scene.tool("t1", ToolKind::Execute, "cargo build", ToolStatus::InProgress);
        told(&mut liveness, &scene);
        scene.now += Duration::from_mins(2);
        assert_eq!(told(&mut liveness, &scene), None);
        let (_, words) = next(&mut liveness, &mut scene);
        assert!(words.contains("it has run for 5:00"), "{words}");
        let (scene, mut liveness) = (Scene::asked(80, 24), Liveness::default());
        assert_eq!(told(&mut liveness, &scene), None);
        assert_eq!(liveness.next(scene.model.first(), scene.now), None);
    }
}
