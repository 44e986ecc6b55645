use super::*;
use crate::model::event::{Event, HostEvent, Intent};
use crate::model::tool::Exit;
use crate::ui::fixtures::Scene;

const SOON: Duration = Duration::from_secs(1);

fn looks(watch: &mut Watch, scene: &mut Scene, after: Duration) -> Vec<String> {
    scene.now += after;
    watch.look(&scene.model, &scene.ui, scene.now).into_iter().map(|notice| notice.body).collect()
}

/// A turn under way, and somebody who looks elsewhere unless `has_focus`.
fn working(has_focus: bool) -> (Watch, Scene) {
    let mut scene = Scene::working(80, 24);
    let mut watch = Watch::default();
    watch.focus(has_focus);
    assert!(looks(&mut watch, &mut scene, Duration::ZERO).is_empty());
    (watch, scene)
}

#[test]
fn who_looks_elsewhere_is_told_once() {
    let (mut watch, mut scene) = working(false);
    scene.ask(1, "cargo test", &["Allow once", "Reject"]);
    assert_eq!(looks(&mut watch, &mut scene, SOON), ["asks whether it may go on"]);
    assert_eq!(watch.status(&scene.model, &scene.ui), Status::Blocked(Asks::Permission));
    assert!(looks(&mut watch, &mut scene, SOON).is_empty());
}

#[test]
fn who_looks_at_the_screen_is_told_of_long_turns_alone() {
    for (after, told) in [(SOON, 0), (LONG_TURN, 1)] {
        let (mut watch, mut scene) = working(true);
        assert!(looks(&mut watch, &mut scene, after).is_empty());
        scene.end_turn(Stop::EndTurn);
        assert_eq!(looks(&mut watch, &mut scene, Duration::ZERO).len(), told, "{after:?}");
    }
}

#[test]
fn a_turn_says_how_it_has_ended_and_one_that_the_person_stopped_says_nothing() {
    for (stop, says) in
        [(Stop::EndTurn, "has ended its turn after 1 s"), (Stop::Refusal, "has broken off its turn after 1 s")]
    {
        let (mut watch, mut scene) = working(false);
        scene.end_turn(stop);
        assert_eq!(looks(&mut watch, &mut scene, SOON), [says]);
        assert_eq!(watch.status(&scene.model, &scene.ui), Status::Done);
        watch.focus(true);
        assert_eq!(watch.status(&scene.model, &scene.ui), Status::Idle);
    }
    let (mut watch, mut scene) = working(false);
    scene.intent(Intent::Cancel);
    scene.end_turn(Stop::Cancelled);
    assert!(looks(&mut watch, &mut scene, SOON).is_empty());
}

#[test]
fn a_burst_of_questions_is_told_once_and_an_older_one_that_is_left_is_no_news() {
    let (mut watch, mut scene) = working(false);
    scene.ask(1, "one", &["Allow once", "Reject"]);
    assert_eq!(looks(&mut watch, &mut scene, SOON).len(), 1);
    scene.now += SOON;
    scene.ask(2, "two", &["Allow once", "Reject"]);
    assert!(looks(&mut watch, &mut scene, Duration::ZERO).is_empty());
    scene.now += BURST;
    scene.ask(3, "three", &["Allow once", "Reject"]);
    assert_eq!(looks(&mut watch, &mut scene, Duration::ZERO).len(), 1);
}

#[test]
fn one_that_works_and_one_that_has_died_are_a_state_of_the_program() {
    let (watch, mut scene) = working(false);
    assert_eq!(watch.status(&scene.model, &scene.ui), Status::Working);
    let mut watch = watch;
    let exit = Exit { code: Some(1), signal: None };
    scene.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
    assert_eq!(looks(&mut watch, &mut scene, SOON), ["has ended"]);
    assert_eq!(watch.status(&scene.model, &scene.ui), Status::Failed);
}
