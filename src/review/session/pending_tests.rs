//! Writes through the client whose end was never reported: what a kill at any point leaves, and what becomes of it.

use super::tests::{Place, changed, git_in, lines, outcomes};
use crate::host::fs::moments::{self, Moment};
use crate::host::fs::{FsError, Roots, Was, write_text};
use crate::model::changes::{Cause, HunkState, ReviewAction, RewindOutcome, Scope};
use crate::model::ids::EntryId;
use crate::review::protocol::ToolEffect;
use std::cell::{Cell, RefCell};
use std::fs;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

const EVERYTHING: ReviewAction = ReviewAction::Rewind { turn: 0 };
const ENTRY: EntryId = EntryId(7);

/// A turn that is over, and a write of `f` and of `new` that has begun in it.
fn begun(text: &str, agents: &str) -> Place {
    let mut place = Place::with(&[("f", text.as_bytes())]);
    place.turn(1, |p| {
        for name in ["f", "new"] {
            p.review.write_begins(&p.at(name), agents, ENTRY, Some(1)).unwrap();
        }
    });
    place
}

fn causes(place: &mut Place) -> Vec<(String, Cause)> {
    let doc = place.doc(Scope::Session);
    let files = doc.files.iter();
    files.flat_map(|f| f.hunks.iter().map(|h| (f.path.display().to_string(), h.cause))).collect()
}

#[test]
fn what_is_written_after_the_turn_and_never_told_is_the_turns_after_a_kill() {
    let text = lines(12);
    let agents = changed(&text, &[(2, "AGENT")]);
    let mut place = begun(&text, &agents);
    assert_eq!(place.doc(Scope::Session).uncovered.len(), 2, "both are named");
    place.write("f", &agents);
    place.write("new", &agents);
    let mut place = place.reopen();
    assert_eq!(causes(&mut place), [("f".into(), Cause::Write), ("new".into(), Cause::Write)]);
    assert_eq!(place.doc(Scope::Session).files[0].hunks[0].turn, 1);
    assert!(place.doc(Scope::Session).uncovered.is_empty(), "it is known now");
    // Once.
    let mut place = place.reopen();
    assert_eq!(place.pending().len(), 2);
    place.act(EVERYTHING);
    assert_eq!((place.read("f"), place.at("new").exists()), (text, false));
}

#[test]
fn what_the_person_has_changed_in_it_since_stays() {
    let text = lines(12);
    let (agent, person) = ((2, "AGENT"), (10, "PERSON"));
    let agents = changed(&text, &[agent]);
    let place = begun(&text, &agents);
    place.write("f", &changed(&text, &[agent, person]));
    let mut place = place.reopen();
    place.act(EVERYTHING);
    assert_eq!(place.read("f"), changed(&text, &[person]));
}

#[test]
fn a_write_that_came_to_nothing_leaves_the_persons_work_alone() {
    let text = lines(12);
    let agents = changed(&text, &[(2, "AGENT")]);
    let persons = changed(&text, &[(10, "PERSON")]);
    for is_told in [true, false] {
        let mut place = begun(&text, &agents);
        if is_told {
            place.review.not_written(&agents, ENTRY).unwrap();
            assert!(place.doc(Scope::Session).uncovered.is_empty());
            // What the person saves is theirs, also where the agent was about to write.
            place.write("f", &agents);
            place.look("f");
            assert!(place.pending().is_empty());
        }
        place.write("f", &persons);
        let mut place = place.reopen();
        assert!(place.pending().is_empty(), "{is_told}");
        place.act(EVERYTHING);
        assert_eq!(place.read("f"), persons);
    }
}

#[test]
fn a_write_that_was_told_is_not_looked_for_again() {
    let text = lines(12);
    let agents = changed(&text, &[(2, "AGENT")]);
    let mut place = begun(&text, &agents);
    for name in ["f", "new"] {
        place.write(name, &agents);
        place.review.wrote(&place.at(name), &agents, Some(ENTRY), Some(1)).unwrap();
    }
    // Back by the person's own hand, and written once more by it.
    for persons in [&text, &agents] {
        place.write("f", persons);
        place = place.reopen();
        place.look("f");
    }
    let states: Vec<_> = place.doc(Scope::Session).files.iter().flat_map(|f| f.hunks.clone()).collect();
    assert!(states.iter().all(|hunk| hunk.state != HunkState::Rejected), "{states:?}");
    assert!(place.doc(Scope::Session).uncovered.is_empty());
}

#[test]
fn what_is_there_when_the_client_ends_is_recorded() {
    let text = lines(12);
    let agents = changed(&text, &[(2, "AGENT")]);
    let mut place = begun(&text, &agents);
    place.write("f", &agents);
    place.review.last_writes().unwrap();
    assert_eq!(causes(&mut place), [("f".into(), Cause::Write)]);
    let doc = place.doc(Scope::Session);
    assert_eq!((doc.files[0].hunks[0].entry, doc.files[0].hunks[0].turn), (Some(ENTRY), 1));
    assert_eq!(doc.uncovered, ["new: was being written when this was put down"]);
    let done = place.act(EVERYTHING);
    assert_eq!(outcomes(&done), [("f", RewindOutcome::Restored)]);
    assert_eq!(place.read("f"), text);
}

#[test]
fn the_beginning_of_a_write_that_was_killed_goes_and_is_no_change() {
    let half = "src/.acp-tui-0123456789abcdef.tmp";
    let mut place = Place::with(&[("src/f", b"one\n")]);
    place.turn(1, |p| {
        p.review.write_begins(&p.at("src/f"), "agent\nagent\n", ENTRY, Some(1)).unwrap();
    });
    place.write(half, "agent\n");
    let mut place = place.reopen();
    assert!(!place.at(half).exists());
    assert!(place.pending().is_empty());
}

#[test]
fn the_clients_own_names_are_no_changes_at_any_moment_of_a_write() {
    let place = Place::with(&[("f", b"one\n")]);
    git_in(&place.at(""), &["init", "-q"]);
    let roots = Roots::new(vec![place.at("")]);
    let (f, new) = (roots.check(place.at("f")).unwrap(), roots.check(place.at("new")).unwrap());
    let place = Rc::new(RefCell::new(place));
    place.borrow_mut().review.begin_turn(1).unwrap();
    let (looker, looks) = (Rc::clone(&place), Rc::new(Cell::new(0)));
    let counted = Rc::clone(&looks);
    let hook = moments::on(move |moment: Moment| {
        let mut place = looker.borrow_mut();
        place.review.before_command().unwrap();
        let names: Vec<_> = place.doc(Scope::Session).files.iter().map(|f| f.path.clone()).collect();
        assert!(names.iter().all(|name| !name.to_string_lossy().contains(".acp-tui-")), "{moment:?}: {names:?}");
        let there = fs::read_dir(place.at("")).unwrap().flatten();
        let ours = there.filter(|e| e.file_name().to_string_lossy().starts_with(".acp-tui-")).count();
        counted.set(counted.get() + ours);
    });
    for at in [&f, &new] {
        write_text(at, "agent\n", &Was::Any, &|| true).unwrap();
    }
    drop(hook);
    assert!(looks.get() >= 4, "it was there when it was looked: {}", looks.get());
    let mut place = Rc::try_unwrap(place).ok().unwrap().into_inner();
    place.review.end_turn(1).unwrap();
    assert_eq!(place.doc(Scope::Session).files.len(), 2);
    // Who gives a file such a name hides nothing.
    place.turn(2, |p| p.write(".acp-tui-0123456789abcdef.tmp", "hidden\n"));
    assert_eq!(place.doc(Scope::Session).files.len(), 3);
}

#[test]
fn a_write_that_is_not_wanted_any_more_leaves_nothing() {
    let place = Place::with(&[("f", b"one\n")]);
    let roots = Roots::new(vec![place.at("")]);
    let f = roots.check(place.at("f")).unwrap();
    let content = "x".repeat(5 << 20);
    // At the start, between two parts, after the last one.
    for most in [0, 1, 3, 6] {
        let asked = Cell::new(0);
        let is_wanted = || asked.replace(asked.get() + 1) < most;
        let error = write_text(&f, &content, &Was::Any, &is_wanted).unwrap_err();
        assert!(matches!(error, FsError::Ending(_)), "{most}: {error}");
        assert_eq!(place.read("f"), "one\n");
        assert_eq!(fs::read_dir(place.at("")).unwrap().count(), 1, "{most}");
    }
}

#[test]
fn what_is_saved_between_the_last_sign_and_the_end_of_the_client_is_in_doubt() {
    for is_told in [true, false] {
        let mut place = Place::with(&[("a", b"a\n")]);
        place.review.begin_turn(1).unwrap();
        if is_told {
            place.tool_writes("b", "agent\n");
        }
        // So much earlier at most was the last sign.
        place.was_heard_of(std::time::Duration::from_millis(400));
        place.write("a", "a\nmine\n");
        place.write("mine", "mine\n");
        let mut place = place.reopen();
        assert_eq!(place.pending().iter().filter(|(path, _)| !path.ends_with("b")).count(), 2, "both are shown");
        place.act(EVERYTHING);
        assert_eq!((place.read("a"), place.read("mine")), ("a\nmine\n".into(), "mine\n".into()));
    }
}

#[test]
fn what_nobody_could_look_at_is_named() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n"), ("c", b"c\n")]);
    place.turn(1, |p| p.tool_writes("a", "agent\n"));
    assert!(place.review.touched().is_empty());
    place.write("b", "longer\n");
    fs::remove_file(place.at("c")).unwrap();
    assert_eq!(place.review.touched(), [std::path::Path::new("b"), std::path::Path::new("c")]);
}

/// A turn in which a command of the agent began, and whose end was told; no look has followed.
fn ended_within_a_command(mut more: impl FnMut(&mut Place)) -> (Place, String) {
    let text = lines(12);
    let mut place = Place::with(&[("f", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    place.note(ToolEffect::Runs, &[], Vec::new(), false);
    more(&mut place);
    place.review.is_told_of_the_end(1);
    place.review.still_here();
    (place.reopen(), text)
}

#[test]
fn what_was_changed_while_a_command_ran_is_its_doing_though_the_client_ended_before_it_looked() {
    let agents = changed(&lines(12), &[(2, "AGENT")]);
    let (mut place, text) = ended_within_a_command(|place| place.write("f", &agents));
    assert_eq!(causes(&mut place), [("f".into(), Cause::Command)]);
    place.act(EVERYTHING);
    assert_eq!(place.read("f"), text);
    // What the person does after that is theirs, whenever it is opened again.
    place.write("f", &agents);
    let mut place = place.reopen();
    place.act(EVERYTHING);
    assert_eq!(place.read("f"), agents);
}

/// Waits until files are dated so much later: no program can set the date of a change.
fn until_files_are_dated_later(by: Duration) {
    let probe = tempfile::NamedTempFile::new().unwrap();
    let goal = SystemTime::now() + by;
    while probe.as_file().metadata().unwrap().modified().unwrap() < goal {
        fs::write(probe.path(), "").unwrap();
        std::thread::yield_now();
    }
}

#[test]
fn what_was_changed_beside_a_command_or_after_it_is_in_doubt() {
    let agents = changed(&lines(12), &[(2, "AGENT")]);
    // A command of the person's ran as well.
    let (mut place, _) = ended_within_a_command(|place| {
        place.entry += 1;
        place.note(ToolEffect::Persons, &[], Vec::new(), false);
        place.write("f", &agents);
    });
    place.act(EVERYTHING);
    assert_eq!(place.read("f"), agents);
    // It was over.
    let (mut place, _) = ended_within_a_command(|place| {
        place.note(ToolEffect::Runs, &[], Vec::new(), true);
        until_files_are_dated_later(Duration::from_millis(500));
        place.write("f", &agents);
    });
    place.act(EVERYTHING);
    assert_eq!(place.read("f"), agents);
}
