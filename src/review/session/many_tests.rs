//! Decisions about many files: how much work they are, how far they have come, and that they can be stopped.

use super::tests::{Place, changed as edited, lines};
use crate::model::changes::{FileChange, ReviewAction, RewindOutcome, Scope, Target, Verdict};
use crate::review::error::ReviewError;
use crate::review::history::ledger::{FileDecision, MAX_LINE};
use crate::review::protocol::Progress;
use crate::review::snapshot::Limits;
use crate::review::state::{Oid, State};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

fn name(n: usize) -> String {
    format!("d{}/f{n}", n % 7)
}

fn old(n: usize) -> String {
    format!("old {n}\n")
}

fn new(n: usize) -> String {
    format!("new {n}\n")
}

/// A command has changed so many files.
fn changed(files: usize) -> Place {
    let mut place = Place::empty();
    (0..files).for_each(|n| place.write(&name(n), &old(n)));
    place.begin();
    place.turn(1, |p| p.command(|p| (0..files).for_each(|n| p.write(&name(n), &new(n)))));
    place
}

/// How many files are as they were, and how many as the agent has left them.
fn count(place: &Place, files: usize) -> (usize, usize) {
    let is = |text: fn(usize) -> String| (0..files).filter(|n| place.read(&name(*n)) == text(*n)).count();
    (is(old), is(new))
}

/// Tells how far it has come each time that it is asked, and stops at the figure of that number.
fn stopping(place: &mut Place, at: usize) -> Receiver<Progress> {
    let (send, told) = channel();
    let mut asked = 0;
    place.review.watched(Some(Box::new(move |far| {
        asked += 1;
        send.send(far).unwrap();
        asked != at
    })));
    told
}

#[test]
fn the_log_of_what_was_seen_is_made_durable_as_often_for_many_files_as_for_few() {
    let saves = |files: usize| {
        let mut place = changed(files);
        let mut before = place.review.files.snapshot.saves();
        let mut saves = |place: &mut Place, action: &ReviewAction| {
            place.review.act(action).unwrap();
            let now = place.review.files.snapshot.saves();
            now - std::mem::replace(&mut before, now)
        };
        let all = |verdict| ReviewAction::Decide { scope: Scope::Pending, target: Target::All, verdict };
        let rewind = saves(&mut place, &ReviewAction::Rewind { turn: 1 });
        assert_eq!(count(&place, files), (files, 0));
        let undo = saves(&mut place, &ReviewAction::Undo);
        assert_eq!(count(&place, files), (0, files));
        let reject = saves(&mut place, &all(Verdict::Reject));
        assert_eq!(count(&place, files), (files, 0));
        let redo = saves(&mut place, &ReviewAction::Undo);
        assert_eq!(count(&place, files), (0, files));
        [rewind, undo, reject, redo]
    };
    let merged = |files: usize| {
        let place = changed(files);
        // The person's changes stay: what is to be there was nowhere yet.
        (0..files).for_each(|n| place.write(&name(n), &format!("{}\n\n\n\nmine {n}\n", new(n))));
        let mut place = place.reopen();
        let before = place.review.files.snapshot.saves();
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        assert!(done.rewound.iter().all(|one| one.outcome == RewindOutcome::Merged), "{:?}", done.rewound);
        assert_eq!(place.read(&name(files - 1)), format!("{}\n\n\n\nmine {}\n", old(files - 1), files - 1));
        let after = place.review.files.snapshot.saves();
        place = place.reopen();
        place.act(ReviewAction::Undo);
        assert_eq!(place.read(&name(0)), format!("{}\n\n\n\nmine 0\n", new(0)));
        after - before
    };
    assert_eq!(merged(20), merged(200));
    let few = saves(20);
    assert_eq!(few, saves(300));
    assert!(few.iter().all(|saves| (1..=2).contains(saves)), "{few:?}");
}

#[test]
fn what_goes_is_read_to_compare_it_so_that_few_large_files_are_on_their_way_at_a_time() {
    let mut place = Place::empty();
    place.begin();
    let large = "a line\n".repeat(1 << 20);
    place.turn(1, |p| p.command(|p| (0..8).for_each(|n| p.write(&name(n), &format!("{n}\n{large}")))));
    let told = stopping(&mut place, 0);
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!((done.stopped, done.rewound.len()), (None, 8));
    // Three of 7 MiB are more than a batch.
    let told: Vec<usize> = told.try_iter().map(|far| far.done).collect();
    assert_eq!(told, [0, 3, 6]);
}

#[test]
fn an_undo_tells_how_far_it_has_come_and_goes_on_where_it_was_stopped() {
    const FILES: usize = 700;
    let mut place = changed(FILES);
    let told = stopping(&mut place, 0);
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!((done.stopped, done.rewound.len()), (None, FILES));
    let told: Vec<Progress> = told.try_iter().collect();
    assert!(told.len() > 2 && told.is_sorted_by_key(|far| far.done), "{told:?}");
    assert_eq!((told[0], told[told.len() - 1].of), (Progress { done: 0, of: FILES }, FILES));
    place.act(ReviewAction::Undo);
    assert_eq!(count(&place, FILES), (0, FILES));

    // An undo that is stopped, before the first file and between two; and the undo of that.
    for stop in [1, 2] {
        let _told = stopping(&mut place, stop);
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        let far = done.stopped.unwrap();
        assert_eq!(far.of, FILES);
        assert_eq!(far.done > 0, stop > 1);
        assert_eq!(done.rewound.len(), far.done, "the others are still to be done");
        assert!(done.rewound.iter().all(|one| one.outcome == RewindOutcome::Restored));
        assert_eq!(count(&place, FILES), (far.done, FILES - far.done));
        // Also in another process.
        place = place.reopen();
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!((done.stopped, done.rewound.len()), (None, FILES - far.done));
        assert_eq!(count(&place, FILES), (FILES, 0));

        let _told = stopping(&mut place, stop);
        let far = place.act(ReviewAction::Undo).stopped.unwrap();
        assert_eq!(count(&place, FILES), (FILES - far.done, far.done));
        place = place.reopen();
        assert_eq!(place.act(ReviewAction::Undo).stopped, None);
        assert_eq!(count(&place, FILES), (0, FILES), "one redo takes back both parts");
    }
    // The same for a decision.
    let _told = stopping(&mut place, 2);
    let far = place.decide(Target::All, Verdict::Reject).unwrap().stopped.unwrap();
    assert_eq!(count(&place, FILES), (far.done, FILES - far.done));
    assert_eq!(place.pending().len(), FILES - far.done);
    place.review.watched(None);
    place.decide(Target::All, Verdict::Reject).unwrap();
    assert_eq!((count(&place, FILES), place.pending().len()), ((FILES, 0), 0));
}

#[test]
fn files_in_new_directories_come_back_side_by_side() {
    const FILES: usize = 60;
    let mut place = changed(FILES);
    place.turn(2, |p| p.command(|p| (0..7).for_each(|n| std::fs::remove_dir_all(p.at(&format!("d{n}"))).unwrap())));
    let done = place.act(ReviewAction::Rewind { turn: 2 });
    assert!(done.rewound.len() == FILES && done.rewound.iter().all(|one| one.outcome == RewindOutcome::Restored));
    assert_eq!(count(&place, FILES), (0, FILES));
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_takes_no_other_along() {
    const FILES: usize = 60;
    let mut place = changed(FILES);
    // A directory that holds something is in the way.
    std::fs::remove_file(place.at(&name(5))).unwrap();
    place.turn(2, |_| {});
    place.write(&format!("{}/mine", name(5)), "mine\n");
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    let failed: Vec<_> = done.rewound.iter().filter(|one| one.outcome != RewindOutcome::Restored).collect();
    assert!(failed.len() <= 1 && failed.iter().all(|one| one.path.as_os_str() == &*name(5)), "{failed:?}");
    for n in (0..FILES).filter(|n| *n != 5) {
        assert_eq!(place.read(&name(n)), old(n));
    }
    assert_eq!(place.read(&format!("{}/mine", name(5))), "mine\n");
}

#[test]
fn after_a_decision_about_one_file_only_that_one_is_made_ready_to_be_looked_at_again() {
    // More than were ever kept by number.
    const FILES: usize = 4200;
    let mut place = changed(FILES);
    let shown = |place: &mut Place| {
        let before = place.review.files.shown;
        assert_eq!(place.doc(Scope::Pending).files.len(), FILES);
        place.review.files.shown - before
    };
    assert_eq!(shown(&mut place), FILES);
    assert_eq!(shown(&mut place), 0);
    place.decide(Target::File(name(3).into()), Verdict::Accept).unwrap();
    assert_eq!(shown(&mut place), 1);
}

#[test]
fn many_files_that_were_moved_are_paired_with_their_old_names() {
    const FILES: usize = 300;
    let mut place = changed(FILES);
    place.decide(Target::All, Verdict::Accept).unwrap();
    place.review.stop_looking();
    let moved = |p: &Place| {
        for n in 0..7 {
            std::fs::rename(p.at(&format!("d{n}")), p.at(&format!("e{n}"))).unwrap();
        }
    };
    place.turn(2, |p| p.command(moved));
    let doc = place.doc(Scope::Pending);
    assert_eq!(doc.files.len(), FILES);
    for file in &doc.files {
        let from = file.renamed_from.as_ref().unwrap();
        assert_eq!(file.change, FileChange::Renamed);
        assert_eq!(from.to_str().unwrap()[1..], file.path.to_str().unwrap()[1..]);
    }
    assert!(doc.files.is_sorted_by(|a, b| crate::base::paths::in_order(&a.path, &b.path).is_lt()));
}

#[test]
fn a_decision_about_as_many_files_as_are_looked_at_can_be_read_again() {
    let file = State::File { oid: Oid([255; 20]), mode: 0o100_755, size: u64::MAX };
    let path = PathBuf::from("directory/".repeat(100));
    let one = FileDecision { path, disk: (file, file), accepted: (file, file), by_hand: true };
    let bytes = serde_json::to_vec(&one).unwrap().len() + 1;
    assert!((bytes * Limits::default().files) as u64 <= MAX_LINE, "{bytes} bytes for a file");
}

#[test]
fn a_hunk_of_which_not_all_lines_are_shown_says_so() {
    use crate::review::text::diff::MAX_SHOWN_LINES;
    let mut place = Place::with(&[("small", b"a\n")]);
    place.turn(1, |p| {
        p.tool_writes("large", &super::tests::lines(MAX_SHOWN_LINES + 5));
        p.tool_writes("small", "b\n");
    });
    let doc = place.doc(Scope::Session);
    let headings: Vec<_> = doc.files.iter().map(|file| file.hunks[0].heading.as_str()).collect();
    assert_eq!(headings, ["only 20,000 of 20,005 lines are shown, all are decided", ""]);
}

/// Says at the question of that number that work is to end.
fn ending(place: &mut Place, at: usize) {
    let asked = AtomicUsize::new(0);
    place.review.stops(Some(Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) >= at)));
}

#[test]
fn an_undo_and_a_redo_end_between_any_two_comparisons_with_nothing_written_and_the_same_again_does_all_of_it() {
    let text = lines(30);
    let both = |change: (usize, &str)| edited(&text, &[(3, "agent"), change]);
    let mut place = Place::with(&[("a", text.as_bytes()), ("b", text.as_bytes())]);
    place.turn(1, |p| p.command(|p| ["a", "b"].iter().for_each(|name| p.write(name, &edited(&text, &[(3, "agent")])))));
    let texts = |place: &Place| [place.read("a"), place.read("b")];
    // Seen by nobody before the undo, which has to tell it apart.
    for name in ["a", "b"] {
        place.write(name, &both((20, "person")));
    }
    for (action, rest) in [
        (ReviewAction::Rewind { turn: 1 }, edited(&text, &[(20, "person")])),
        (ReviewAction::Undo, both((20, "person"))),
    ] {
        let before = texts(&place);
        let mut questions = 0;
        loop {
            ending(&mut place, questions);
            match place.review.act(&action) {
                Err(ReviewError::Stopped) => assert_eq!(texts(&place), before, "{action:?} {questions}"),
                done => break assert_eq!(done.unwrap().unwritten, Vec::<PathBuf>::new()),
            }
            place = place.reopen();
            questions += 1;
        }
        assert_eq!(texts(&place), [rest.clone(), rest], "{action:?}");
        assert!(questions > 2, "{action:?}: {questions}");
        place = place.reopen();
    }
}
