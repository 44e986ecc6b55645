//! Tests of two runs in one directory, of which one takes back what it has done.

use crate::model::changes::{ReviewAction, RewindOutcome, Target, Verdict};
use crate::model::ids::EntryId;
use crate::review::session::ReviewSession;
use crate::review::session::tests::Place;
use std::path::Path;

const REWIND: ReviewAction = ReviewAction::Rewind { turn: 1 };

/// The agent of another run writes through its client.
fn writes(other: &mut ReviewSession, place: &Place, name: &str, text: &str) {
    let path = place.at(name);
    other.before_write(&path, text).unwrap();
    place.write(name, text);
    other.wrote(&path, text, Some(EntryId(1)), None).unwrap();
}

/// A command of one run did the same as nothing while the agent of another, which is still open, wrote.
fn beside() -> (Place, ReviewSession) {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    let mut other = place.begin_beside("other");
    other.begin_turn(1).unwrap();
    place.turn(1, |p| {
        p.command(|p| {
            writes(&mut other, p, "a", "theirs\n");
            writes(&mut other, p, "new", "theirs\n");
            p.write("b", "its own\n");
        });
    });
    (place, other)
}

#[test]
fn an_undo_leaves_what_a_run_beside_has_written_and_names_the_run() {
    let (mut place, mut other) = beside();
    let preview = place.act(ReviewAction::PreviewRewind { turn: 1 });
    let done = place.act(REWIND);
    for done in [preview, done] {
        let outcomes: Vec<_> = done.rewound.iter().map(|one| (one.path.to_str().unwrap(), one.outcome)).collect();
        let doubtful = RewindOutcome::Doubtful;
        assert_eq!(outcomes, [("a", doubtful), ("b", RewindOutcome::Restored), ("new", doubtful)]);
        assert_eq!(done.rewound[0].remark.as_deref(), Some("other, a run beside this one, has written it"));
    }
    assert_eq!([place.read("a"), place.read("b"), place.read("new")], ["theirs\n", "b\n", "theirs\n"]);
    // The other run takes back what is its own, and nothing else.
    other.end_turn(1).unwrap();
    let done = other.act(&REWIND).unwrap();
    let restored = done.rewound.iter().find(|one| one.path == Path::new("a")).map(|one| one.outcome);
    assert_eq!((restored, place.read("a")), (Some(RewindOutcome::Restored), "a\n".to_owned()));
    assert!(!place.at("new").exists());
    // And what that has put there is not brought back by the first.
    place.act(REWIND);
    assert_eq!(place.read("a"), "a\n");
}

#[test]
fn a_rejection_of_everything_leaves_it_too_and_one_of_the_file_does_not() {
    let (mut place, _other) = beside();
    place.decide(Target::All, Verdict::Reject).unwrap();
    assert_eq!([place.read("a"), place.read("b")], ["theirs\n", "b\n"]);
    place.decide(Target::File("a".into()), Verdict::Reject).unwrap();
    assert_eq!(place.read("a"), "a\n");
}

#[test]
fn what_is_written_over_a_run_beside_is_taken_back_and_its_own_stays() {
    let (mut place, _other) = beside();
    place.turn(2, |p| p.command(|p| p.write("a", "theirs\nand more\n")));
    place.act(REWIND);
    assert_eq!(place.read("a"), "theirs\n");
}
