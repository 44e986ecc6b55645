//! Tests of two runs in one directory, of which one takes back what its agent has done.

use super::*;
use crate::model::changes::{ReviewAction, RewindOutcome, Rewound, Scope, Target, Verdict};
use crate::model::ids::EntryId;
use crate::review::archive;
use crate::review::protocol::ClaimedEdit;
use crate::review::session::ReviewSession;
use crate::review::session::tests::Place;
use std::fs;

const REWIND: ReviewAction = ReviewAction::Rewind { turn: 1 };
const ENTRY: EntryId = EntryId(7);

/// Two files, and another run that is in a turn.
fn with_other() -> (Place, ReviewSession) {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    let mut other = place.begin_beside("other");
    other.begin_turn(1).unwrap();
    place.review.begin_turn(1).unwrap();
    (place, other)
}

/// The client of the other run is about to write, and has written.
fn begins(other: &mut ReviewSession, place: &Place, name: &str, text: &str) {
    other.write_begins(&place.at(name), text, ENTRY, None).unwrap();
    place.write(name, text);
}

fn ends(other: &mut ReviewSession, place: &Place, name: &str, text: &str) {
    other.wrote(&place.at(name), text, Some(ENTRY), None).unwrap();
}

fn writes(other: &mut ReviewSession, place: &Place, name: &str, text: &str) {
    begins(other, place, name, text);
    ends(other, place, name, text);
}

fn outcomes(rewound: &[Rewound]) -> Vec<(&str, RewindOutcome, Option<&str>)> {
    rewound.iter().map(|one| (one.path.to_str().unwrap(), one.outcome, one.remark.as_deref())).collect()
}

const RESTORED: (&str, RewindOutcome, Option<&str>) = ("a", RewindOutcome::Restored, None);
const LEFT: (&str, RewindOutcome, Option<&str>) =
    ("b", RewindOutcome::Beside, Some("another run of acp-tui wrote it too: other"));

#[test]
fn what_another_run_wrote_meanwhile_is_named_and_left_alone_also_when_its_record_is_gone() {
    for commands in [true, false] {
        let (mut place, mut other) = with_other();
        if commands {
            place.command(|place| {
                place.write("a", "command\n");
                writes(&mut other, place, "b", "theirs\n");
            });
        } else {
            // A silent agent.
            place.write("a", "command\n");
            writes(&mut other, &place, "b", "theirs\n");
        }
        place.review.end_turn(1).unwrap();
        other.end_turn(1).unwrap();
        let doc = place.doc(Scope::Session);
        let notes: Vec<Option<&str>> = doc.files.iter().map(|file| file.note.as_deref()).collect();
        assert_eq!(notes, [None, LEFT.2], "{commands}");
        // While it is open, and when nothing of it is left.
        let preview = place.act(ReviewAction::PreviewRewind { turn: 1 }).rewound;
        assert_eq!(outcomes(&preview), [RESTORED, LEFT], "{commands}");
        let gone = other.dir().to_owned();
        drop(other);
        archive::remove(&gone).unwrap();
        let mut place = place.reopen();
        place.decide(Target::All, Verdict::Reject).unwrap();
        assert_eq!((place.read("a"), place.read("b")), ("a\n".into(), "theirs\n".into()), "{commands}");
        place.act(ReviewAction::Undo);
        assert_eq!(outcomes(&place.act(REWIND).rewound), [RESTORED, LEFT], "{commands}");
        place.act(ReviewAction::Undo);
        assert_eq!((place.read("a"), place.read("b")), ("command\n".into(), "theirs\n".into()), "{commands}");
    }
}

#[test]
fn a_write_of_another_run_counts_until_a_look_has_begun_after_it() {
    let (mut place, mut other) = with_other();
    place.command(|place| {
        place.write("a", "command\n");
        begins(&mut other, place, "b", "theirs\n");
    });
    // It is still being written.
    place.command(|place| place.write("b", "once more\n"));
    ends(&mut other, &place, "b", "theirs\n");
    assert_eq!(place.review.beside.run_of(Path::new("b")), Some("other"));
    // The look before the first of these sees all of it.
    place.command(|_| {});
    assert_eq!(place.review.beside.run_of(Path::new("b")), None);
    place.command(|place| place.write("b", "mine\n"));
    place.review.end_turn(1).unwrap();
    assert_eq!(outcomes(&place.act(REWIND).rewound)[0], RESTORED);
    assert_eq!(place.read("b"), "once more\n");
}

#[test]
fn a_write_that_ends_while_this_run_looks_is_known_at_the_next_look_too() {
    let (mut place, mut other) = with_other();
    other.write_begins(&place.at("b"), "theirs\n", ENTRY, None).unwrap();
    place.command(|_| {});
    let review = &mut place.review;
    let root = review.files.snapshot.root().to_owned();
    review.beside.begin_look(&review.dir.others(), &root);
    // It comes behind the look, and the run is killed.
    fs::write(root.join("b"), "theirs\n").unwrap();
    drop(other);
    review.beside.follow(&review.dir.others(), &root);
    review.beside.end_look();
    place.command(|_| {});
    place.review.end_turn(1).unwrap();
    assert_eq!(outcomes(&place.act(REWIND).rewound), [LEFT]);
}

#[test]
fn runs_one_after_the_other_and_what_was_over_when_a_turn_began_are_nothing_to_each_other() {
    // The one before has ended, and is opened again later.
    let place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    let mut before = place.begin_beside("before");
    before.begin_turn(1).unwrap();
    writes(&mut before, &place, "a", "first\n");
    before.end_turn(1).unwrap();
    let dir = before.dir().to_owned();
    drop(before);
    let mut place = place.followed_by("this");
    place.review.begin_turn(1).unwrap();
    place.command(|place| place.write("a", "command\n"));
    place.review.end_turn(1).unwrap();
    let mut place = place.followed_by("later");
    place.review.begin_turn(1).unwrap();
    place.command(|place| place.write("a", "last\n"));
    place.review.end_turn(1).unwrap();
    assert_eq!(outcomes(&place.act(REWIND).rewound), [RESTORED]);
    assert_eq!(place.read("a"), "command\n");
    let mut before = ReviewSession::open(&dir).unwrap();
    assert_eq!(
        before.act(&ReviewAction::PreviewRewind { turn: 1 }).unwrap().rewound[0].outcome,
        RewindOutcome::Conflict
    );

    // What an open one wrote before the turn, or before the command.
    let (mut place, mut other) = with_other();
    place.review.end_turn(1).unwrap();
    writes(&mut other, &place, "a", "theirs\n");
    place.review.begin_turn(2).unwrap();
    writes(&mut other, &place, "b", "theirs\n");
    place.command(|place| ["a", "b"].iter().for_each(|name| place.write(name, "command\n")));
    place.review.end_turn(2).unwrap();
    let rewound = place.act(ReviewAction::Rewind { turn: 2 }).rewound;
    assert_eq!(outcomes(&rewound)[0], RESTORED, "{rewound:?}");
    assert_eq!((place.read("a"), place.read("b")), ("theirs\n".into(), "theirs\n".into()));
}

#[test]
fn what_a_call_says_that_it_puts_there_stays_its_own_and_the_rest_is_the_other_runs() {
    for (theirs, stays) in [(None, "b\n"), (Some("0\nb\n"), "0\nb\n")] {
        let (mut place, mut other) = with_other();
        let claim = ClaimedEdit { path: place.at("b"), old: Some("b\n".into()), new: "mine\n".into() };
        place.claims("b", vec![claim], |place| {
            if let Some(theirs) = theirs {
                writes(&mut other, place, "b", theirs);
            }
            place.write("b", &stays.replace('b', "mine"));
        });
        place.review.end_turn(1).unwrap();
        place.act(REWIND);
        assert_eq!(place.read("b"), stays);
    }
    // One that only names the file says nothing.
    let (mut place, mut other) = with_other();
    place.tool_does("b", |place| writes(&mut other, place, "b", "theirs\n"));
    place.review.end_turn(1).unwrap();
    assert_eq!(outcomes(&place.act(REWIND).rewound), [LEFT]);
}

#[test]
fn decisions_of_another_run_count_and_what_a_killed_one_was_writing_does_not_for_ever() {
    let (mut place, mut other) = with_other();
    writes(&mut other, &place, "b", "theirs\n");
    other.end_turn(1).unwrap();
    place.command(|place| {
        place.write("a", "command\n");
        other.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
    });
    assert!(place.review.log.history(Path::new("b")).unwrap().steps.last().unwrap().beside_run);
    assert!(!place.review.log.history(Path::new("a")).unwrap().steps.last().unwrap().beside_run);
    begins(&mut other, &place, "b", "half\n");
    drop(other);
    place.command(|_| {});
    place.command(|_| {});
    assert_eq!(place.review.beside.run_of(Path::new("b")), None);
}

#[test]
fn runs_in_directories_inside_and_around_are_followed_by_the_paths_of_this_one() {
    let mut place = Place::with(&[("a", b"a\n"), ("s/b", b"b\n")]);
    let mut other = place.begin_below("other", "s");
    other.begin_turn(1).unwrap();
    place.review.begin_turn(1).unwrap();
    place.command(|place| writes(&mut other, place, "s/b", "theirs\n"));
    other.command_asked().unwrap();
    place.review.end_turn(1).unwrap();
    assert_eq!(place.act(REWIND).rewound[0].outcome, RewindOutcome::Beside);
    // The other way round, a file that is not below it.
    place.review.begin_turn(2).unwrap();
    for name in ["a", "s/c"] {
        place.review.write_begins(&place.at(name), "x\n", ENTRY, None).unwrap();
    }
    other.beside.follow(&other.dir.others(), other.files.snapshot.root());
    assert_eq!(other.beside.files.keys().collect::<Vec<_>>(), [Path::new("c")]);
}

#[test]
fn of_a_ledger_whole_lines_are_read_once_and_of_very_much_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(LEDGER);
    assert!(Ledger::since(&path, 0, MOST).is_err());
    let mut ledger = Ledger::create(&path).unwrap();
    let told = |turn| Record::Told { turn };
    ledger.add_all(&[told(1), told(2)]).unwrap();
    let (records, at) = Ledger::since(&path, 0, MOST).unwrap();
    assert_eq!((records, at), (vec![told(1), told(2)], ledger.bytes()));
    ledger.add(&told(3)).unwrap();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], b"{\"n\":4,\"su"].concat()).unwrap();
    assert_eq!(Ledger::since(&path, at, MOST).unwrap(), (vec![told(3)], whole.len() as u64));
    assert_eq!(Ledger::since(&path, 0, 70).unwrap(), (vec![told(3)], whole.len() as u64));
    // One that was made shorter has nothing new.
    assert_eq!(Ledger::since(&path, 1 << 40, MOST).unwrap().0, Vec::new());
}
