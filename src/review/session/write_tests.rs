//! Tests of decisions that the person's saves, other names of a file and a kill come in the way of.

use crate::host::fs::moments::{self, Moment};
use crate::host::fs::{FsError, Roots, is_temporary};
use crate::model::changes::{HeldOutcome, ReviewAction, RewindOutcome, Scope, Target, Verdict};
use crate::model::ids::{EntryId, ReqId};
use crate::review::dir::STORE;
use crate::review::history::ledger::{Decision, DecisionKey, FileDecision};
use crate::review::protocol::{Proposal, Released};
use crate::review::session::ReviewSession;
use crate::review::session::expected::write_text;
use crate::review::session::tests::{Place, changed, git_in, lines};
use crate::review::state::State;
use crate::review::worktree::walk::faults::{self, Way};
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;

const REWIND: ReviewAction = ReviewAction::Rewind { turn: 1 };

/// Saves `text` at a moment of the first write there is.
fn saves(place: &Place, name: &str, text: &'static str, moment: Moment) -> impl Drop + use<> {
    let (at, mut done) = (place.at(name), false);
    moments::on(move |now| {
        if now == moment && !std::mem::replace(&mut done, true) {
            let beside = at.with_file_name("editor");
            fs::write(&beside, text).unwrap();
            fs::rename(beside, &at).unwrap();
        }
    })
}

/// Names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_save_in_the_middle_of_an_undo_stays_and_the_other_files_go_on() {
    for moment in [Moment::Begun, Moment::Prepared, Moment::Compared] {
        let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
        place.turn(1, |p| {
            p.tool_writes("a", "agent\n");
            p.tool_writes("b", "agent\n");
        });
        let hook = saves(&place, "a", "person\n", moment);
        let done = place.act(REWIND);
        drop(hook);
        let outcome = |path: &str| done.rewound.iter().find(|one| one.path == Path::new(path)).unwrap().clone();
        assert_eq!(outcome("a").outcome, RewindOutcome::Failed, "{moment:?}");
        assert_eq!(outcome("a").remark.as_deref(), Some("changed meanwhile, nothing was written"));
        assert_eq!((outcome("b").outcome, outcome("b").remark), (RewindOutcome::Restored, None));
        assert_eq!((place.read("a").as_str(), place.read("b").as_str()), ("person\n", "b\n"));
        assert_eq!(names(&place.at("")), ["a", "b"]);
        // And the review has it.
        let after = place.doc(Scope::Session);
        assert!(after.files.iter().any(|f| f.path == Path::new("a")));
    }
}

/// A program that does something to a file, by its name.
type Tampers = fn(&Path);

const TAMPERS: [Tampers; 6] = [
    |file| fs::set_permissions(file, fs::Permissions::from_mode(0o4777)).unwrap(),
    |file| fs::write(file, "agent\nevil\n").unwrap(),
    |file| fs::OpenOptions::new().append(true).open(file).unwrap().write_all(b"evil\n").unwrap(),
    |file| fs::OpenOptions::new().write(true).open(file).unwrap().set_len(0).unwrap(),
    |file| {
        fs::rename(file, file.with_file_name("aside")).unwrap();
        fs::write(file, "evil\n").unwrap();
    },
    |file| {
        fs::rename(file, file.with_file_name("aside")).unwrap();
        symlink("/elsewhere", file).unwrap();
    },
];

#[test]
fn what_another_program_does_to_a_file_that_is_written_is_never_said_to_be_restored() {
    for (number, tampers) in TAMPERS.into_iter().enumerate() {
        for moment in [Moment::Prepared, Moment::Looked] {
            let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
            place.turn(1, |p| {
                p.tool_writes("a", "agent\n");
                p.tool_writes("b", "agent\n");
            });
            let mode = fs::metadata(place.at("a")).unwrap().mode() & 0o7777;
            let (dir, mut done) = (place.at(""), false);
            let hook = moments::on(move |now| {
                if now == moment && !std::mem::replace(&mut done, true) {
                    let prepared = names(&dir).into_iter().find(|name| is_temporary(name.as_ref()));
                    tampers(&dir.join(prepared.unwrap_or_else(|| "a".to_owned())));
                }
            });
            let done = place.act(REWIND);
            drop(hook);
            let outcome = |path: &str| done.rewound.iter().find(|one| one.path == Path::new(path)).unwrap().clone();
            let case = format!("{number} {moment:?}: {:?}", outcome("a"));
            assert_eq!(outcome("a").outcome, RewindOutcome::Failed, "{case}");
            assert!(outcome("a").remark.is_some_and(|why| why.contains("another program")), "{case}");
            assert_eq!(done.unwritten, [PathBuf::from("a")], "{case}");
            assert_eq!((outcome("b").outcome, place.read("b")), (RewindOutcome::Restored, "b\n".to_owned()), "{case}");
            // As after a start of the program.
            let mut place = place.reopen();
            let again = place.act(REWIND);
            let outcome = again.rewound.first().map(|one| one.outcome).unwrap();
            if moment == Moment::Looked {
                // It has come to its place, and an editor that saves then looks just so.
                let stays = [RewindOutcome::Doubtful, RewindOutcome::Conflict, RewindOutcome::Merged];
                assert!(stays.contains(&outcome), "{outcome:?}: {case}");
                continue;
            }
            assert_eq!(outcome, RewindOutcome::Restored, "{case}");
            assert_eq!(place.read("a"), "a\n", "it is still to be taken back: {case}");
            assert_eq!(fs::metadata(place.at("a")).unwrap().mode() & 0o7777, mode, "{case}");
        }
    }
}

#[test]
fn what_the_person_saves_while_an_undo_writes_stays_through_the_next_one() {
    let text = lines(60);
    let agents = changed(&text, &[(2, "AGENT")]);
    for based_on in [&text, &agents] {
        let mine = changed(based_on, &[(50, "MINE")]);
        let mut place = Place::with(&[("a", text.as_bytes())]);
        place.turn(1, |p| p.tool_writes("a", &agents));
        let (file, mut done) = (place.at("a"), false);
        let saved = mine.clone();
        let hook = moments::on(move |now| {
            if now == Moment::Looked && !std::mem::replace(&mut done, true) {
                fs::write(&file, &saved).unwrap();
            }
        });
        assert_eq!(place.act(REWIND).unwritten, [PathBuf::from("a")]);
        drop(hook);
        let mut place = place.reopen();
        let again = place.act(REWIND);
        let want = changed(&text, &[(50, "MINE")]);
        assert_eq!(place.read("a"), want, "{again:?}");
        let outcome = again.rewound.first().map(|one| one.outcome);
        assert!(matches!(outcome, Some(RewindOutcome::Merged | RewindOutcome::Doubtful)), "{again:?}");
    }
}

#[test]
fn what_lies_ready_and_has_got_another_name_is_not_put_in_place() {
    let mut place = Place::with(&[("a", b"a\n")]);
    place.turn(1, |p| p.tool_writes("a", "agent\n"));
    let dir = place.at("");
    let hook = moments::on(move |now| {
        let prepared = names(&dir).into_iter().find(|name| is_temporary(name.as_ref()));
        if let (Moment::Prepared, Some(name)) = (now, prepared) {
            fs::hard_link(dir.join(name), dir.join("aside")).unwrap();
        }
    });
    let done = place.act(REWIND);
    drop(hook);
    assert_eq!((done.rewound[0].outcome, done.unwritten), (RewindOutcome::Failed, vec![PathBuf::from("a")]));
    assert_eq!(place.read("a"), "agent\n");
    assert_eq!(place.act(REWIND).rewound[0].outcome, RewindOutcome::Restored);
}

/// It is done; that nobody could look at it then changes nothing.
#[test]
fn what_cannot_be_read_right_after_it_was_written_is_done() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    place.turn(1, |p| ["a", "b"].into_iter().for_each(|name| p.tool_writes(name, "agent\n")));
    let shut = Rc::new(RefCell::new(Vec::new()));
    let all = Rc::clone(&shut);
    let hook = moments::on(move |now| {
        if now == Moment::Looked {
            all.borrow_mut().extend(["a", "b"].map(|name| faults::on(Way::Read, name, Errno::IO)));
        }
    });
    let done = place.act(REWIND);
    drop(hook);
    assert!(!shut.take().is_empty());
    let outcomes: Vec<RewindOutcome> = done.rewound.iter().map(|one| one.outcome).collect();
    assert!(outcomes.contains(&RewindOutcome::Restored), "{done:?}");
    assert!(!format!("{done:?}").contains("another program"), "{done:?}");
    // The same again does the rest, and what was done can be done again.
    place.act(REWIND);
    assert_eq!((place.read("a").as_str(), place.read("b").as_str()), ("a\n", "b\n"));
    place.act(ReviewAction::Undo);
    assert_eq!((place.read("a").as_str(), place.read("b").as_str()), ("agent\n", "agent\n"));
}

/// As of what could not be written.
#[test]
fn what_could_not_be_read_at_the_look_is_still_to_be_done() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    place.turn(1, |p| ["a", "b"].into_iter().for_each(|name| p.tool_writes(name, "agent\n")));
    for (way, errno) in [(Way::Read, Errno::IO), (Way::Stat, Errno::ACCESS)] {
        place.write("a", "touched\n");
        place.write("a", "agent\n");
        let shut = faults::on(way, "a", errno);
        let done = place.act(REWIND);
        drop(shut);
        assert_eq!(done.unwritten, [Path::new("a")], "{errno}: {done:?}");
    }
    place.act(REWIND);
    assert_eq!((place.read("a").as_str(), place.read("b").as_str()), ("a\n", "b\n"));
}

#[test]
fn a_save_in_the_middle_of_a_rejection_an_undo_and_a_redo_stays() {
    let mut place = Place::with(&[("a", b"a\n")]);
    place.turn(1, |p| p.tool_writes("a", "agent\n"));
    let reject = |place: &mut Place| place.decide(Target::File("a".into()), Verdict::Reject);
    let hook = saves(&place, "a", "agent\nperson\n", Moment::Compared);
    let error = reject(&mut place).unwrap_err();
    drop(hook);
    assert_eq!(error.to_string(), "a: changed meanwhile, nothing was written; look again");
    assert_eq!(place.read("a"), "agent\nperson\n");
    reject(&mut place).unwrap();
    assert_eq!(place.read("a"), "a\nperson\n");
    for action in [ReviewAction::Undo, ReviewAction::Redo] {
        let hook = saves(&place, "a", "quite another\n", Moment::Compared);
        assert!(place.review.act(&action).is_err(), "{action:?}");
        drop(hook);
        assert_eq!(place.read("a"), "quite another\n", "{action:?}");
        place.write("a", "a\nperson\n");
        if action == ReviewAction::Undo {
            place.act(ReviewAction::Undo);
        }
    }
}

#[test]
fn a_save_while_a_created_file_is_taken_away_stays() {
    let mut place = Place::with(&[]);
    place.turn(1, |p| p.tool_writes("new", "agent\n"));
    let hook = saves(&place, "new", "person\n", Moment::Exchanged);
    place.act(REWIND);
    drop(hook);
    assert_eq!(place.read("new"), "person\n");
}

#[test]
fn a_save_in_the_middle_of_a_held_write_is_merged_with_it() {
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n";
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    let (req, path) = (ReqId(1), place.at("a"));
    let wanted = text.replace('8', "agent");
    let proposal = Proposal { req, entry: EntryId(1), turn: None, path, asked: true };
    assert!(place.review.hold(&proposal, &wanted).unwrap());
    place.review.decide_write(req, Verdict::Accept).unwrap();
    let hook = saves(&place, "a", "person\n2\n3\n4\n5\n6\n7\n8\n", Moment::Compared);
    let released = place.review.released(req).unwrap().unwrap();
    drop(hook);
    assert!(matches!(released, Released::Decided(HeldOutcome::Partly { .. })), "{released:?}");
    assert_eq!(place.read("a"), "person\n2\n3\n4\n5\n6\n7\nagent\n");
}

#[test]
fn what_is_saved_after_the_look_before_an_agents_write_is_never_written_over_unseen() {
    let mut place = Place::with(&[("a", b"a\n")]);
    let roots = Roots::new(vec![place.at("")]);
    place.review.begin_turn(1).unwrap();
    let path = place.at("a");
    let known = place.review.before_write(&path, "agent\n").unwrap().unwrap();
    place.write("a", "person\n");
    let write = |known| write_text(&roots, &roots.check(&path).unwrap(), "agent\n", Some(known), &|| true);
    assert!(matches!(write(&known), Err(FsError::Changed(_))));
    assert_eq!(place.read("a"), "person\n");
    // In the middle of the write as well.
    let known = place.review.before_write(&path, "agent\n").unwrap().unwrap();
    let hook = saves(&place, "a", "person again\n", Moment::Compared);
    assert!(matches!(write(&known), Err(FsError::Changed(_))));
    drop(hook);
    assert_eq!(place.read("a"), "person again\n");
    // The review looks again, and the write happens.
    let known = place.review.before_write(&path, "agent\n").unwrap().unwrap();
    write(&known).unwrap();
    place.review.wrote(&path, "agent\n", Some(EntryId(1)), None).unwrap();
    place.review.end_turn(1).unwrap();
    assert_eq!(place.read("a"), "agent\n");
    place.act(REWIND);
    assert_eq!(place.read("a"), "person again\n");
}

#[test]
fn a_file_that_comes_before_an_agent_creates_it_is_not_written_over_unseen() {
    let mut place = Place::with(&[("a", b"a\n")]);
    let roots = Roots::new(vec![place.at("")]);
    place.review.begin_turn(1).unwrap();
    let path = place.at("new");
    let known = place.review.before_write(&path, "agent\n").unwrap().unwrap();
    assert!(known.state.is_absent());
    place.write("new", "person\n");
    assert!(matches!(
        write_text(&roots, &roots.check(&path).unwrap(), "agent\n", Some(&known), &|| true),
        Err(FsError::Changed(_))
    ));
    assert_eq!(place.read("new"), "person\n");
}

/// A name as it is exchanged with `name`: taken from a write.
pub(crate) fn swap_name(place: &Place, name: &str) -> PathBuf {
    let (dir, at) = (place.at(""), place.at(name));
    let found: Rc<Cell<Option<PathBuf>>> = Rc::default();
    let told = Rc::clone(&found);
    let before = fs::read(&at).unwrap();
    let hook = moments::on(move |now| {
        if now == Moment::Exchanged {
            let name = names(&dir).into_iter().find(|name| crate::host::fs::is_swap(name.as_ref()));
            told.set(name.map(|name| dir.join(name)));
        }
    });
    crate::host::fs::put(
        &place.at(""),
        Path::new(name),
        &crate::host::fs::Put::File { bytes: &before, mode: 0o644 },
        &crate::host::fs::Was::Any,
    )
    .unwrap();
    drop(hook);
    found.take().unwrap()
}

/// An undo that was killed: what it was about to do is noted, and no more.
pub(crate) fn killed_undo(place: &mut Place, name: &str) {
    let history = &place.review.log.histories()[Path::new(name)];
    let disk = (history.last(), history.steps[0].before);
    let file = FileDecision { path: name.into(), disk, accepted: (disk.1, disk.1), by_hand: false };
    let act = Decision {
        at: None,
        id: 1,
        words: "rewound to before turn 1".into(),
        key: Some(DecisionKey::Rewind { turn: 1 }),
        toggles: None,
        continues: None,
        merged: None,
        files: vec![file],
    };
    let ReviewSession { log, files, .. } = &mut place.review;
    log.announce(act, files).unwrap();
}

#[test]
fn what_is_no_known_state_of_a_file_is_kept_beside_it_after_a_kill_right_after_the_exchange() {
    for forged in [false, true] {
        let mut place = Place::empty();
        git_in(&place.at(""), &["init", "-q"]);
        place.write(".gitignore", "*.swap\n");
        place.write("a", "a\n");
        place.begin();
        place.turn(1, |p| p.tool_writes("a", "agent\n"));
        let swap = swap_name(&place, "a");
        killed_undo(&mut place, "a");
        // What was to be written is there. What was saved right before lies under the other name, or what was there does
        // and the agent has put something of its own beside it.
        place.write("a", "a\n");
        if forged {
            fs::write(&swap, "agent\n").unwrap();
        }
        let mark = &swap.file_name().unwrap().to_str().unwrap()[..".acp-tui-01234567".len()];
        place.write(&format!("{mark}00000000.swap"), "other\n");
        let dir = format!("{mark}11111111.swap");
        fs::create_dir(place.at(&dir)).unwrap();
        let place = place.reopen();
        assert_eq!(place.read("a"), "a\n", "{forged}");
        assert!(place.at(&dir).is_dir(), "it is nothing that is exchanged");
        let mut beside = names(&place.at(""));
        beside.retain(|name| name.starts_with("a.saved-"));
        assert_eq!(beside.len(), 1, "{forged} {beside:?}");
        assert_eq!(place.read(&beside[0]), "other\n");
    }
}

#[test]
fn what_was_decided_about_is_removed_after_a_kill_right_after_the_exchange() {
    for (there, swapped) in [("a\n", "agent\n"), ("agent\n", "a\n")] {
        let mut place = Place::with(&[("a", b"a\n")]);
        place.turn(1, |p| p.tool_writes("a", "agent\n"));
        let swap = swap_name(&place, "a");
        killed_undo(&mut place, "a");
        place.write("a", there);
        fs::write(&swap, swapped).unwrap();
        let place = place.reopen();
        assert_eq!(place.read("a"), there);
        assert_eq!(names(&place.at("")), ["a"], "both are in the store");
    }
}

#[test]
fn what_belongs_nowhere_after_a_kill_is_kept_where_everybody_sees_it() {
    let mut place = Place::with(&[("a", b"a\n")]);
    place.turn(1, |p| p.tool_writes("a", "agent\n"));
    let swap = swap_name(&place, "a");
    killed_undo(&mut place, "a");
    place.write("a", "saved later\n");
    fs::write(&swap, "saved first\n").unwrap();
    let place = place.reopen();
    assert_eq!(place.read("a"), "saved later\n");
    let names = names(&place.at(""));
    assert_eq!(names.len(), 2);
    assert!(names[1].starts_with("a.saved-"), "{names:?}");
    assert_eq!(place.read(&names[1]), "saved first\n");
}

#[test]
fn what_the_file_has_too_is_not_left_beside_it_after_a_kill() {
    let mut place = Place::with(&[("a", b"a\n")]);
    place.turn(1, |p| p.tool_writes("a", "agent\n"));
    let swap = swap_name(&place, "a");
    killed_undo(&mut place, "a");
    place.write("a", "saved\n");
    fs::write(&swap, "saved\n").unwrap();
    let place = place.reopen();
    assert_eq!((place.read("a").as_str(), names(&place.at(""))), ("saved\n", vec!["a".to_owned()]));
}

fn inode(place: &Place, name: &str) -> (u64, u64) {
    let meta = place.at(name).metadata().unwrap();
    (meta.ino(), meta.nlink())
}

#[test]
fn names_of_one_file_are_names_of_one_file_after_an_undo_and_after_a_redo() {
    let mut place = Place::with(&[("a", b"text\n"), ("z/c", b"more\n")]);
    fs::hard_link(place.at("a"), place.at("z/b")).unwrap();
    place.turn(1, |p| {
        // In place, which changes both.
        p.command(|p| fs::write(p.at("a"), "agent\n").unwrap());
    });
    let done = place.act(REWIND);
    assert!(done.rewound.iter().all(|one| one.remark.is_none()), "{done:?}");
    assert_eq!((place.read("a").as_str(), place.read("z/b").as_str()), ("text\n", "text\n"));
    assert_eq!(inode(&place, "a"), inode(&place, "z/b"));
    assert_eq!(inode(&place, "a").1, 2);
    place.act(ReviewAction::Undo);
    assert_eq!((place.read("a").as_str(), place.read("z/b").as_str()), ("agent\n", "agent\n"));
    assert_eq!(inode(&place, "a"), inode(&place, "z/b"));
}

#[test]
fn an_undo_says_that_a_file_has_names_elsewhere() {
    let mut place = Place::with(&[("a", b"text\n")]);
    let outside = place.at("").with_file_name("outside");
    fs::hard_link(place.at("a"), &outside).unwrap();
    place.turn(1, |p| p.command(|p| fs::write(p.at("a"), "agent\n").unwrap()));
    let done = place.act(REWIND);
    assert_eq!(done.rewound[0].outcome, RewindOutcome::Restored);
    assert_eq!(done.rewound[0].remark.as_deref(), Some("apart from 1 other hard link of it"));
    assert_eq!((place.read("a").as_str(), fs::read_to_string(outside).unwrap().as_str()), ("text\n", "agent\n"));
}

#[test]
fn a_save_of_one_name_keeps_the_other_names_apart() {
    let mut place = Place::with(&[("a", b"text\n")]);
    fs::hard_link(place.at("a"), place.at("b")).unwrap();
    place.turn(1, |p| p.command(|p| fs::write(p.at("a"), "agent\n").unwrap()));
    let (at, count) = (place.at("b"), Cell::new(0));
    let hook = moments::on(move |now| {
        if now == Moment::Compared {
            count.set(count.get() + 1);
            if count.get() == 2 {
                fs::remove_file(&at).unwrap();
                fs::write(&at, "person\n").unwrap();
            }
        }
    });
    let done = place.act(REWIND);
    drop(hook);
    assert_eq!((place.read("a").as_str(), place.read("b").as_str()), ("text\n", "person\n"));
    assert_eq!(done.rewound[1].outcome, RewindOutcome::Failed);
}

#[test]
fn an_agents_write_is_under_all_names_that_the_file_has_inside() {
    let mut place = Place::with(&[("a", b"text\n"), ("other", b"text\n")]);
    fs::hard_link(place.at("a"), place.at("b")).unwrap();
    let outside = place.at("").with_file_name("outside");
    fs::hard_link(place.at("a"), &outside).unwrap();
    let roots = Roots::new(vec![place.at("")]);
    place.review.begin_turn(1).unwrap();
    let path = place.at("a");
    let known = place.review.before_write(&path, "agent\n").unwrap().unwrap();
    let (written, links) = write_text(&roots, &roots.check(&path).unwrap(), "agent\n", Some(&known), &|| true).unwrap();
    assert_eq!((&links[..], written.apart), (&[place.at("b")][..], 1));
    for path in std::iter::once(path).chain(links) {
        place.review.wrote(&path, "agent\n", Some(EntryId(1)), None).unwrap();
    }
    place.review.end_turn(1).unwrap();
    assert_eq!((place.read("a").as_str(), place.read("b").as_str()), ("agent\n", "agent\n"));
    assert_eq!(inode(&place, "a"), inode(&place, "b"));
    assert_eq!(fs::read_to_string(outside).unwrap(), "text\n", "what is outside is not the agent's");
    assert_eq!(place.read("other"), "text\n");
    place.act(REWIND);
    assert_eq!((place.read("a").as_str(), place.read("b").as_str()), ("text\n", "text\n"));
    assert_eq!(inode(&place, "a"), inode(&place, "b"));
}

/// Only root can give files away; everybody else sees that theirs stay theirs.
#[test]
fn owner_group_and_special_bits_are_as_they_were() {
    let mut place = Place::with(&[("a", b"text\n"), ("d/gone", b"text\n")]);
    let mine = place.at("a").metadata().unwrap();
    let is_root = can_give_away(&place);
    let owner = if is_root { (12345, 12346) } else { (mine.uid(), mine.gid()) };
    for name in ["a", "d", "d/gone"] {
        std::os::unix::fs::lchown(place.at(name), Some(owner.0), Some(owner.1)).unwrap();
    }
    let modes = std::os::unix::fs::PermissionsExt::from_mode;
    fs::set_permissions(place.at("a"), modes(0o4755)).unwrap();
    place.turn(1, |p| {
        p.client_writes("a", "agent\n");
        p.command(|p| fs::remove_file(p.at("d/gone")).unwrap());
    });
    fs::set_permissions(place.at("a"), modes(0o4755)).unwrap();
    let done = place.act(REWIND);
    for name in ["a", "d/gone"] {
        let meta = place.at(name).metadata().unwrap();
        assert_eq!((meta.uid(), meta.gid()), owner, "{name}");
    }
    assert_eq!(place.at("a").metadata().unwrap().mode() & 0o7777, 0o4755);
    let remark = done.rewound.iter().find(|one| one.path == Path::new("d/gone")).unwrap().remark.clone();
    assert_eq!(remark, is_root.then(|| "owner 12345 and group 12346 as of its directory".to_owned()));
}

/// Whether files can be given to others here.
fn can_give_away(place: &Place) -> bool {
    let probe = place.at("").with_file_name("probe");
    fs::write(&probe, "").unwrap();
    std::os::unix::fs::lchown(probe, Some(12345), Some(12346)).is_ok()
}

#[test]
fn a_state_of_numbers_only_is_replaced_while_the_numbers_are_the_same() {
    let mut place = Place::with(&[("a", b"text\n")]);
    place.turn(1, |p| {
        p.command(|p| fs::File::create(p.at("a")).unwrap().set_len((64 << 20) + 1).unwrap());
    });
    assert!(matches!(place.review.log.histories()[Path::new("a")].last(), State::Unkept { .. }));
    let done = place.act(REWIND);
    assert_eq!(done.rewound[0].outcome, RewindOutcome::Restored, "{done:?}");
    assert_eq!(place.read("a"), "text\n");
}

#[test]
fn what_cannot_be_read_during_an_undo_is_called_that_and_the_next_undo_takes_it_back() {
    for (way, errno, words) in [
        (Way::Read, Errno::IO, "Input/output error"),
        (Way::Read, Errno::ACCESS, "Permission denied"),
        (Way::Stat, Errno::ACCESS, "Permission denied"),
    ] {
        let mut place = Place::with(&[("d/a", b"a\n"), ("b", b"b\n")]);
        place.turn(1, |p| {
            p.tool_writes("d/a", "agent\n");
            p.tool_writes("b", "agent\n");
        });
        let fault = faults::on(way, "d/a", errno);
        let why = format!("could not be read: {words}");
        for action in [ReviewAction::PreviewRewind { turn: 1 }, REWIND] {
            let done = place.act(action);
            let one = done.rewound.iter().find(|one| one.path == Path::new("d/a")).unwrap();
            assert_eq!((one.outcome, one.remark.as_ref()), (RewindOutcome::Failed, Some(&why)), "{way:?} {errno:?}");
        }
        assert_eq!((place.read("d/a").as_str(), place.read("b").as_str()), ("agent\n", "b\n"));
        let refused = place.decide(Target::File("d/a".into()), Verdict::Reject).unwrap_err();
        assert_eq!(refused.to_string(), format!("d/a: {why}"));
        drop(fault);
        let done = place.act(REWIND);
        assert_eq!(done.rewound.iter().map(|one| one.outcome).collect::<Vec<_>>(), [RewindOutcome::Restored]);
        assert_eq!(place.read("d/a"), "a\n");
        assert!(place.pending().is_empty());
    }
}

#[test]
fn what_could_not_be_read_at_the_end_of_a_turn_is_the_agents_once_it_can_be() {
    for (before, shown) in [(Some("a\n"), RewindOutcome::Restored), (None, RewindOutcome::Removed)] {
        let mut place = Place::empty();
        if let Some(text) = before {
            place.write("a", text);
        }
        place.begin();
        place.review.begin_turn(1).unwrap();
        place.write("a", "agent\n");
        let fault = faults::on(Way::Read, "a", Errno::IO);
        place.review.end_turn(1).unwrap();
        drop(fault);
        let done = place.act(REWIND);
        assert_eq!(done.rewound.iter().map(|one| one.outcome).collect::<Vec<_>>(), [shown]);
        assert_eq!(fs::read_to_string(place.at("a")).ok().as_deref(), before);
    }
}

#[test]
fn what_the_person_changes_while_it_cannot_be_read_stays() {
    let mut place = Place::with(&[("a", lines(9).as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &changed(&lines(9), &[(2, "agent")])));
    let fault = faults::on(Way::Read, "a", Errno::ACCESS);
    place.act(ReviewAction::PreviewRewind { turn: 1 });
    place.write("a", &changed(&lines(9), &[(2, "agent"), (7, "person")]));
    place.act(ReviewAction::PreviewRewind { turn: 1 });
    drop(fault);
    let done = place.act(REWIND);
    assert_eq!(done.rewound.iter().map(|one| one.outcome).collect::<Vec<_>>(), [RewindOutcome::Merged]);
    assert_eq!(place.read("a"), changed(&lines(9), &[(7, "person")]));
}

#[test]
fn a_redo_brings_back_all_of_an_undo_that_was_done_in_two_parts() {
    for reopens in [false, true] {
        let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
        place.turn(1, |p| {
            p.tool_writes("a", "agent\n");
            p.tool_writes("b", "agent\n");
        });
        let both = |place: &Place| [place.read("a"), place.read("b")];
        let fault = faults::on(Way::Read, "b", Errno::IO);
        place.act(REWIND);
        drop(fault);
        assert_eq!(both(&place), ["a\n", "agent\n"]);
        place.act(REWIND);
        assert_eq!(both(&place), ["a\n", "b\n"]);
        let mut place = if reopens { place.reopen() } else { place };
        place.act(ReviewAction::Undo);
        assert_eq!(both(&place), ["agent\n", "agent\n"]);
        assert!(place.review.newest_decision().is_none());
        place.act(ReviewAction::Redo);
        assert_eq!(both(&place), ["a\n", "b\n"]);
    }
}

#[test]
fn two_undos_with_a_turn_between_them_are_two() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    place.turn(1, |p| p.tool_writes("a", "agent\n"));
    place.act(REWIND);
    place.turn(2, |p| p.tool_writes("b", "agent\n"));
    let mut place = place.reopen();
    place.act(REWIND);
    place.act(ReviewAction::Undo);
    assert_eq!([place.read("a"), place.read("b")], ["a\n", "agent\n"]);
    place.act(ReviewAction::Undo);
    assert_eq!([place.read("a"), place.read("b")], ["agent\n", "agent\n"]);
}

#[test]
fn a_redo_leaves_a_file_alone_that_was_changed_since_and_does_the_others() {
    for reopened in [false, true] {
        let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n"), ("c", b"c\n")]);
        place.turn(1, |p| {
            for name in ["a", "b", "c"] {
                p.tool_writes(name, "agent\n");
            }
        });
        place.act(ReviewAction::Rewind { turn: 1 });
        place.write("b", "person\n");
        let mut place = if reopened { place.reopen() } else { place };
        let done = place.act(ReviewAction::Undo);
        assert!(done.words.ends_with("; left alone: b: these lines were changed since"), "{}", done.words);
        let texts = ["a", "b", "c"].map(|name| place.read(name));
        assert_eq!(texts, ["agent\n", "person\n", "agent\n"]);
        // And back: what is the person's stays all the time.
        place.act(ReviewAction::Redo);
        assert_eq!(["a", "b", "c"].map(|name| place.read(name)), ["a\n", "person\n", "c\n"]);
        // Alone it is refused.
        place.act(ReviewAction::Undo);
        place.write("a", "person\n");
        place.write("c", "person\n");
        assert!(place.review.act(&ReviewAction::Redo).is_err());
    }
}

#[test]
fn a_redo_writes_over_what_the_undo_has_put_there_though_another_file_with_that_content_is_gone() {
    for reopened in [false, true] {
        let mut place = Place::with(&[("a", b"same\n"), ("b", b"same\n")]);
        place.turn(1, |p| p.tool_does("a", |p| fs::remove_file(p.at("a")).unwrap()));
        place.turn(2, |p| p.tool_writes("b", "same\nagent\n"));
        place.act(ReviewAction::Rewind { turn: 2 });
        assert_eq!(place.read("b"), "same\n");
        let mut place = if reopened { place.reopen() } else { place };
        let done = place.act(ReviewAction::Undo);
        assert_eq!(place.read("b"), "same\nagent\n", "{}", done.words);
        place.act(ReviewAction::Redo);
        assert_eq!(place.read("b"), "same\n");
    }
}

#[test]
fn a_redo_leaves_alone_what_has_become_the_only_copy_since_the_undo() {
    for reopened in [false, true] {
        let mut place = Place::with(&[("a", b"same\n"), ("b", b"same\n")]);
        place.turn(1, |p| p.tool_does("a", |p| fs::write(p.at("a"), "agent\n").unwrap()));
        place.turn(2, |p| p.tool_writes("b", "same\nagent\n"));
        place.act(ReviewAction::Rewind { turn: 1 });
        fs::remove_file(place.at("a")).unwrap();
        let mut place = if reopened { place.reopen() } else { place };
        let done = place.review.act(&ReviewAction::Undo);
        assert_eq!(place.read("b"), "same\n", "{done:?}");
    }
}

#[test]
fn what_was_prepared_and_cannot_be_removed_is_named_is_no_change_and_goes_with_the_next_look_that_can() {
    for next in ["look", "undo", "not ours"] {
        let mut place = Place::with(&[("d/a", b"a\n")]);
        place.turn(1, |p| p.tool_writes("d/a", "agent\n"));
        // What comes in a turn would be the agent's.
        place.review.begin_turn(2).unwrap();
        let hook = moments::on(|_| {});
        moments::without_removal();
        let done = place.act(REWIND);
        let left = names(&place.at("d")).into_iter().find(|name| name.starts_with(".acp-tui-")).unwrap();
        assert_eq!((done.rewound[0].outcome, done.unwritten), (RewindOutcome::Failed, vec![PathBuf::from("d/a")]));
        let why = done.rewound[0].remark.clone().unwrap();
        assert!(why.contains(&format!("Input/output error; what was prepared stays as d/{left}")), "{why}");
        assert_eq!(place.read("d/a"), "agent\n");
        // As long as it stays it is nobody's change.
        place.command(|_| {});
        place.review.end_turn(2).unwrap();
        let mut place = place.reopen();
        let left = place.at("d").join(left);
        assert!(left.exists(), "{next}");
        assert_eq!(place.review.log.paths(), [PathBuf::from("d/a")]);
        drop(hook);
        match next {
            "look" => drop(place.doc(Scope::Session)),
            "undo" => assert_eq!(place.act(REWIND).rewound[0].outcome, RewindOutcome::Restored),
            _ => {
                fs::write(&left, "of somebody else\n").unwrap();
                place.turn(3, |p| p.command(|_| {}));
            }
        }
        assert_eq!(left.exists(), next == "not ours", "{next}");
        let place = place.reopen();
        assert!(place.review.log.left().is_empty());
        assert_eq!(place.review.log.paths(), [PathBuf::from("d/a")]);
    }
}

#[test]
fn what_our_own_store_cannot_give_for_a_moment_is_not_lost_and_the_next_undo_takes_it_back() {
    let mut place = Place::with(&[("a", b"a\n")]);
    place.turn(1, |p| p.tool_writes("a", "agent\n"));
    let packs = place.review.dir().join(STORE).join("objects/pack");
    let indices = names(&packs)
        .into_iter()
        .map(|name| packs.join(name))
        .filter(|path| path.extension().is_some_and(|e| e == "idx"));
    let shut: Vec<_> = indices.map(|path| faults::on(Way::Read, path.to_str().unwrap(), Errno::AGAIN)).collect();
    assert!(!shut.is_empty());
    let mut place = place.reopen();
    let done = place.act(REWIND);
    assert_eq!((done.rewound[0].outcome, done.unwritten), (RewindOutcome::Failed, vec![PathBuf::from("a")]));
    let why = done.rewound[0].remark.clone().unwrap();
    assert!(why.contains("temporarily unavailable"), "{why}");
    assert_eq!(place.read("a"), "agent\n");
    drop(shut);
    let mut place = place.reopen();
    assert_eq!(place.act(REWIND).rewound[0].outcome, RewindOutcome::Restored);
    assert_eq!(place.read("a"), "a\n");
}
