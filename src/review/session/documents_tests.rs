//! What a document takes, and what it says of what it leaves out.

use super::tests::{Place, changed};
use crate::model::changes::{FileDoc, HunkKind, HunkState, ReviewAction, ReviewDoc, Scope, Target, Verdict};
use crate::model::ids::ReqId;
use crate::review::decide::doc::{Room, TOGETHER};
use crate::review::report::json;
use crate::review::text::diff::{MAX_HUNKS, MAX_SHOWN_LINES};
use std::io;
use std::path::{Path, PathBuf};

fn name(n: usize) -> String {
    format!("f{n}")
}

/// So many new files, each of so many lines.
fn new_files(files: usize, lines: usize) -> Place {
    let mut place = Place::empty();
    place.begin();
    let text: Vec<String> = (0..lines).map(|n| format!("line {n}\n")).collect();
    let text = text.concat();
    place.turn(1, |p| p.command(|p| (0..files).for_each(|n| p.write(&name(n), &text))));
    place
}

/// Files that differ in so many places from what they were.
fn files_with_hunks(files: usize, hunks: usize) -> Place {
    let mut place = Place::empty();
    let text = |mark: &str| -> String {
        let lines: Vec<String> = (0..hunks).map(|n| format!("{mark}{n}\na{n}\nb{n}\nc{n}\n")).collect();
        lines.concat()
    };
    (0..files).for_each(|n| place.write(&name(n), &text("old")));
    place.begin();
    place.turn(1, |p| p.command(|p| (0..files).for_each(|n| p.write(&name(n), &text("new")))));
    place
}

fn doc(place: &mut Place, scope: Scope, room: Room) -> ReviewDoc {
    place.review.refresh().unwrap();
    place.review.doc_of(scope, room).unwrap()
}

fn lines(doc: &ReviewDoc) -> Vec<usize> {
    doc.files.iter().map(|file| file.hunks.iter().map(|hunk| hunk.lines.len()).sum()).collect()
}

fn bytes(file: &FileDoc) -> usize {
    file.hunks.iter().flat_map(|hunk| &*hunk.lines).map(|line| size_of_val(line) + line.text.len()).sum()
}

#[test]
fn the_lines_of_a_document_are_bounded_over_all_its_files() {
    let mut place = new_files(6, 10);
    let all = doc(&mut place, Scope::Session, Room::SHOWN);
    assert_eq!(lines(&all), [10; 6]);
    let room = Room { bytes: 5 * bytes(&all.files[0]), ..Room::SHOWN };
    let cut = doc(&mut place, Scope::Session, room);
    let shown = lines(&cut);
    assert!(shown.iter().sum::<usize>() < 50 && shown.is_sorted_by(|a, b| a >= b), "{shown:?}");
    assert_eq!((shown[0], shown[5]), (10, 0));
    assert!(cut.files.iter().map(|file| bytes(file)).sum::<usize>() <= room.bytes);
    assert_eq!((cut.totals, cut.decided), (all.totals, all.decided));
    for file in &cut.files {
        let [hunk] = &file.hunks[..] else { panic!("{file:?}") };
        assert_eq!((hunk.added, hunk.removed, hunk.left_out()), (10, 0, 10 - hunk.lines.len()));
        let words = format!("only {} of 10 lines are shown, all are decided", hunk.lines.len());
        assert_eq!(hunk.heading, if hunk.lines.len() < 10 { words } else { String::new() });
    }
    // Nothing is made anew of what has not changed.
    let made = place.review.files.shown;
    assert_eq!(doc(&mut place, Scope::Session, room).files, cut.files);
    assert_eq!(place.review.files.shown, made);
    assert_eq!(doc(&mut place, Scope::Session, Room::SHOWN).files, all.files, "a larger room shows all of them");
    // What has room goes before; then there is room for what is left.
    let pending = doc(&mut place, Scope::Pending, room);
    for file in pending.files.iter().take(3) {
        place.decide(Target::Hunk(file.path.clone(), file.hunks[0].id), Verdict::Accept).unwrap();
    }
    place.review.stop_looking();
    assert_eq!(lines(&doc(&mut place, Scope::Pending, room)), [10; 3]);
    // One that is not shown at all is decided whole.
    let hunk = Target::Hunk(cut.files[5].path.clone(), cut.files[5].hunks[0].id);
    place.decide(hunk, Verdict::Reject).unwrap();
    assert!(!place.at("f5").exists());
}

#[test]
fn what_an_agent_waits_for_has_room_first() {
    let mut place = new_files(3, 10);
    let path = place.at("zz");
    assert!(place.hold(ReqId(1), &path, &"held\n".repeat(10)));
    let all = doc(&mut place, Scope::Pending, Room::SHOWN);
    let room = Room { bytes: 2 * bytes(&all.files[3]), ..Room::SHOWN };
    let cut = doc(&mut place, Scope::Pending, room);
    assert!(cut.files[3].held.is_some());
    assert_eq!(lines(&cut)[3], 10);
    assert_eq!(lines(&cut)[2], 0);
}

#[test]
fn hunks_of_many_files_are_shown_together_and_decided_so() {
    let mut place = files_with_hunks(4, 5);
    let room = Room { hunks: 7, ..Room::SHOWN };
    let cut = doc(&mut place, Scope::Pending, room);
    let hunks: Vec<usize> = cut.files.iter().map(|file| file.hunks.len()).collect();
    assert_eq!(hunks, [5, 1, 1, 1]);
    let words = "5 hunks, decided together: too many to be shown one by one with those of other files";
    for file in &cut.files[1..] {
        let hunk = &file.hunks[0];
        assert_eq!((hunk.id, &hunk.what), (TOGETHER, &HunkKind::Whole(words.into())));
        assert_eq!((hunk.state, hunk.turn, file.added, file.removed), (HunkState::Pending, 1, 5, 5));
        assert_eq!(hunk.left_out(), 10, "it is asked about before it is decided");
    }
    let whole = doc(&mut place, Scope::Pending, Room::SHOWN);
    assert!(whole.files.iter().all(|file| file.hunks.len() == 5));
    assert_eq!((cut.totals, cut.decided), (whole.totals, whole.decided));
    let (old, new) = (place.read("f1").replace("new", "old"), place.read("f1"));
    // One hunk of it was accepted before.
    place.decide(Target::Hunk("f2".into(), whole.files[2].hunks[1].id), Verdict::Accept).unwrap();
    let together = |name: &str| Target::Hunk(name.into(), TOGETHER);
    place.decide(together("f1"), Verdict::Reject).unwrap();
    assert_eq!(place.read("f1"), old);
    place.decide(together("f2"), Verdict::Reject).unwrap();
    assert_eq!(place.read("f2"), old.replace("old1\n", "new1\n"), "only what was pending");
    place.decide(together("f3"), Verdict::Accept).unwrap();
    assert_eq!(place.read("f3"), new);
    let states = |doc: &ReviewDoc, at: usize| doc.files[at].hunks.iter().map(|h| h.state).collect::<Vec<_>>();
    let now = doc(&mut place, Scope::Session, room);
    assert_eq!((states(&now, 1), states(&now, 3)), (vec![HunkState::Rejected], vec![HunkState::Accepted]));
    place.act(ReviewAction::Undo);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("f2"), new);
    assert!(place.review.part(Scope::Pending, &together("f2")).is_err());
}

#[test]
fn all_hunks_beyond_the_most_of_a_file_are_decided_exactly() {
    let mut place = files_with_hunks(1, MAX_HUNKS + 20);
    let new = place.read("f0");
    let whole = place.doc(Scope::Pending);
    let hunks = &whole.files[0].hunks;
    assert_eq!(hunks.len(), MAX_HUNKS);
    let last = hunks.last().unwrap();
    assert_eq!((last.added, last.removed, last.left_out()), (21, 21, 0));
    let old = new.replace("new", "old");
    let at = new.match_indices("new").nth(MAX_HUNKS - 1).unwrap().0;
    let exact = format!("{}{}", &new[..at], &old[at..]);
    place.decide(Target::Hunk("f0".into(), last.id), Verdict::Reject).unwrap();
    assert_eq!(place.read("f0"), exact);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("f0"), new);
    place.decide(Target::Hunk("f0".into(), last.id), Verdict::Accept).unwrap();
    place.decide(Target::All, Verdict::Reject).unwrap();
    assert_eq!(place.read("f0"), format!("{}{}", &old[..at], &new[at..]));
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("f0"), old);
}

#[test]
fn a_report_has_the_sums_of_what_is_not_shown_and_every_hunk() {
    let long = MAX_SHOWN_LINES + 5000;
    let mut place = new_files(1, long);
    place.turn(2, |p| {
        p.command(|p| {
            p.write("g", &"x\n".repeat(3));
            p.write("f0", &p.read("f0").replace("line 7\n", "").replace("line 99\n", "y\n"));
        });
    });
    let written = json::report(&mut place.review, &[]).unwrap();
    let report: serde_json::Value = serde_json::from_str(&io::read_to_string(written).unwrap()).unwrap();
    let of = |at: usize| &report["files"][at];
    assert_eq!((&of(0)["hunks"][0]["added"], &of(0)["added"]), (&(long - 1).into(), &(long - 1).into()));
    assert_eq!(of(1)["hunks"][0]["added"], 3);
    assert_eq!(report["totals"]["added"], long + 2);
    assert_eq!(report["turns"][1], serde_json::json!({ "turn": 2, "added": 4, "removed": 2, "files": 2 }));
    assert_eq!(place.review.files.shown, 0, "no document was made for it");
}

#[test]
fn a_file_that_was_renamed_is_counted_once() {
    let mut place = Place::with(&[("a", b"1\n2\n"), ("b", b"x\n")]);
    place.turn(1, |p| {
        p.command(|p| std::fs::rename(p.at("a"), p.at("c")).unwrap());
    });
    let doc = place.doc(Scope::Session);
    assert_eq!(place.review.shown_totals(Scope::Session).unwrap(), doc.totals);
    assert_eq!((doc.totals.files, doc.totals.added, doc.totals.pending), (1, 0, 1));
    assert_eq!(doc.files[0].renamed_from.as_deref(), Some(Path::new("a")));
    place.decide(Target::Hunk(PathBuf::from("c"), doc.files[0].hunks[0].id), Verdict::Reject).unwrap();
    assert!(place.at("a").exists() && !place.at("c").exists());
}

#[test]
fn what_shows_no_lines_does_not_say_that_they_are_missing() {
    let text = super::tests::lines(12);
    let mut place = Place::with(&[("f", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("f", &changed(&text, &[(2, "AGENT")])));
    let shown = place.doc(Scope::Session).files[0].hunks[0].clone();
    let outline = place.review.outline(Scope::Session).unwrap().files[0].hunks[0].clone();
    assert_eq!((outline.lines.len(), outline.heading), (0, shown.heading));
    assert!(!shown.lines.is_empty());
}
