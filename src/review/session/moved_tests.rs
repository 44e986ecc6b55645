//! What the agent moves, and what becomes of it without attribution or when the disk refuses: the content of a
//! file that is gone is never taken away from where it has come to.

use super::tests::{Place, git_in, lines};
use super::write::tests::{killed_undo, swap_name};
use super::*;
use crate::model::changes::{ReviewAction, RewindOutcome, Rewound, Target, Verdict};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

fn ctime(path: &Path) -> SystemTime {
    let meta = path.metadata().unwrap();
    SystemTime::UNIX_EPOCH + Duration::new(meta.ctime() as u64, meta.ctime_nsec() as u32)
}

/// Something is made and removed in a directory until so long after what happened there last.
fn continues(dir: &Path, long: Duration) {
    let until = ctime(dir) + long;
    while ctime(dir) < until {
        fs::write(dir.join("mine"), "of the person").unwrap();
        fs::remove_file(dir.join("mine")).unwrap();
    }
}

fn outcome(rewound: &[Rewound], path: &str) -> Option<RewindOutcome> {
    rewound.iter().find(|one| one.path == Path::new(path)).map(|one| one.outcome)
}

fn moves(p: &Place) {
    fs::rename(p.at("f5"), p.at("g5")).unwrap();
    fs::rename(p.at("sd"), p.at("sd2")).unwrap();
}

#[test]
fn what_a_command_moves_comes_back_however_late_something_else_happens_in_its_directory() {
    for crashed in [false, true] {
        let text = lines(9);
        let mut place = Place::with(&[("f5", text.as_bytes()), ("sd/a", b"a\n"), ("other", b"o\n")]);
        place.review.begin_turn(1).unwrap();
        // So that it is an agent that says what it does.
        place.client_writes("other", "said\n");
        // Looking takes too long for a look after the command.
        (place.review.pace.cheap, place.review.pace.took) = (Duration::ZERO, Duration::from_hours(1));
        if crashed {
            moves(&place);
            place.review.still_here();
        } else {
            place.command(moves);
        }
        continues(place.at("f5").parent().unwrap(), Duration::from_millis(700));
        let mut place = if crashed { place.reopen() } else { place };
        if !crashed {
            place.review.end_turn(1).unwrap();
        }
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        if crashed {
            // Which calls ran is gone: all of it is left where it is, and said.
            assert_eq!(outcome(&done.rewound, "f5"), Some(RewindOutcome::Doubtful), "{done:?}");
            assert!(place.at("g5").exists() && place.at("sd2/a").exists());
            continue;
        }
        for (path, is) in [("f5", RewindOutcome::Restored), ("g5", RewindOutcome::Removed)] {
            assert_eq!(outcome(&done.rewound, path), Some(is), "{crashed}: {done:?}");
        }
        assert_eq!((place.read("f5"), place.read("sd/a")), (text, "a\n".to_owned()));
        assert!(!place.at("g5").exists() && !place.at("sd2/a").exists());
        place.act(ReviewAction::Undo);
        assert!(place.at("g5").exists() && !place.at("f5").exists() && place.at("sd2/a").exists());
    }
}

#[test]
fn what_is_gone_since_nobody_knows_when_after_a_crash_is_shown() {
    let mut place = Place::with(&[("f5", b"f\n"), ("other", b"o\n")]);
    place.review.begin_turn(1).unwrap();
    place.client_writes("other", "said\n");
    fs::remove_file(place.at("f5")).unwrap();
    for name in [LEDGER, crate::review::dir::LOCK] {
        let file = File::options().write(true).open(place.review.dir().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(1)).unwrap();
    }
    let mut place = place.reopen();
    assert!(place.pending().iter().any(|(path, _)| path == Path::new("f5")), "{:?}", place.pending());
}

#[test]
fn what_changed_by_a_clock_that_was_set_back_after_a_crash_is_shown_and_left_alone() {
    let mut place = Place::with(&[("f", b"f\n"), ("gone", b"gone\n"), ("other", b"o\n")]);
    place.review.begin_turn(1).unwrap();
    place.write("f", "person\n");
    place.write("new", "person\n");
    fs::remove_file(place.at("gone")).unwrap();
    for name in [LEDGER, crate::review::dir::LOCK] {
        let file = File::options().write(true).open(place.review.dir().join(name)).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_hours(1)).unwrap();
    }
    let mut place = place.reopen();
    let pending: BTreeSet<PathBuf> = place.pending().into_iter().map(|(path, _)| path).collect();
    assert_eq!(pending, ["f", "gone", "new"].map(PathBuf::from).into());
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert!(done.rewound.iter().all(|one| one.outcome == RewindOutcome::Doubtful), "{done:?}");
    assert_eq!((place.read("f"), place.read("new")), ("person\n".to_owned(), "person\n".to_owned()));
}

#[test]
fn a_new_name_stays_when_the_old_one_cannot_be_written() {
    let mut place = Place::with(&[("f5", b"five\n"), ("f6", b"six\n")]);
    place.turn(1, |p| {
        p.command(|p| {
            fs::rename(p.at("f5"), p.at("g5")).unwrap();
            fs::rename(p.at("f6"), p.at("g6")).unwrap();
        });
    });
    // A directory that holds something is in the way.
    place.write("f5/mine", "mine\n");
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("g5"), "five\n", "{done:?}");
    assert_eq!(outcome(&done.rewound, "g5"), Some(RewindOutcome::Failed));
    assert_eq!((place.read("f6"), place.read("f5/mine")), ("six\n".to_owned(), "mine\n".to_owned()));
    assert!(!place.at("g6").exists());
    // Once there is room, the same again does the rest.
    fs::remove_dir_all(place.at("f5")).unwrap();
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("f5"), "five\n");
    assert!(!place.at("g5").exists());
}

/// What was at its first name is at its second one again: nothing is lost with the third.
#[test]
fn what_is_moved_on_in_a_later_turn_goes_back_to_where_it_was_before_that() {
    let later: [fn(&Place); 5] = [
        |p| fs::rename(p.at("b"), p.at("c")).unwrap(),
        |p| fs::rename(p.at("b"), p.at("mine")).unwrap(),
        |p| fs::copy(p.at("b"), p.at("c")).map(drop).unwrap(),
        |p| {
            fs::create_dir(p.at("d")).unwrap();
            fs::rename(p.at("b"), p.at("d/b")).unwrap();
        },
        |p| {
            fs::rename(p.at("b"), p.at("c")).unwrap();
            fs::rename(p.at("mine"), p.at("b")).unwrap();
            fs::rename(p.at("c"), p.at("mine")).unwrap();
        },
    ];
    for (number, later) in later.into_iter().enumerate() {
        let mut place = Place::with(&[("a", b"of a\n"), ("mine", b"of the person\n")]);
        place.turn(1, |p| p.command(|p| fs::rename(p.at("a"), p.at("b")).unwrap()));
        place.turn(2, |p| p.command(later));
        let done = place.act(ReviewAction::Rewind { turn: 2 });
        assert_eq!(
            (place.read("b").as_str(), place.read("mine").as_str()),
            ("of a\n", "of the person\n"),
            "{number}: {done:?}"
        );
        assert!(["a", "c", "d/b"].iter().all(|name| !place.at(name).exists()), "{number}: {done:?}");
        // And from there to before all of it.
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!((place.read("a").as_str(), place.at("b").exists()), ("of a\n", false), "{number}: {done:?}");
    }
}

/// A file whose content is not kept.
fn large(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = File::create(path).unwrap();
    file.write_all(b"large").unwrap();
    file.set_len((64 << 20) + 1).unwrap();
}

fn is_large(path: &Path) -> bool {
    let mut begin = [0; 5];
    let read = std::io::Read::read_exact(&mut File::open(path).unwrap(), &mut begin);
    read.is_ok() && &begin == b"large" && path.metadata().unwrap().len() == (64 << 20) + 1
}

/// Names in the root that end as those of what was displaced do.
fn saved(place: &Place) -> Vec<PathBuf> {
    let names = fs::read_dir(place.at("")).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.to_str().unwrap().contains(".saved-")).collect()
}

/// `main` and `twin` are covered, `ign` is not; `fill` makes what is there before the session, `agent` works, and then a
/// new process takes it back. What was said of `main`.
fn moved_over(fill: impl FnOnce(&Place), agent: impl FnOnce(&mut Place), reopened: bool) -> (Place, Rewound) {
    let mut place = Place::empty();
    git_in(&place.at(""), &["init", "-q"]);
    place.write(".gitignore", "ign/\n");
    place.write("main", "main\n");
    fill(&place);
    // Nothing that is made from now on is as old as that.
    let before = ctime(&place.at("main"));
    while ctime(&place.at("main")) == before {
        place.write("main", "main\n");
    }
    place.begin();
    place.turn(1, agent);
    let mut place = if reopened { place.reopen() } else { place };
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert!(!is_large(&place.at("main")) && place.read("main") == "main\n", "{done:?}");
    let said = done.rewound.into_iter().find(|one| one.path == Path::new("main")).unwrap();
    (place, said)
}

fn rename_over(p: &Place, from: &str) {
    fs::rename(p.at(from), p.at("main")).unwrap();
}

fn is_beside(place: &Place, said: &Rewound) -> PathBuf {
    let saved = saved(place);
    assert_eq!(saved.len(), 1, "{said:?}");
    let name = saved[0].file_name().unwrap().to_str().unwrap();
    assert_eq!(said.remark, Some(format!("what was there is in {name}")));
    saved[0].clone()
}

#[test]
fn what_was_not_kept_and_is_moved_over_a_file_is_beside_it_after_an_undo() {
    for (from, twice, reopened) in
        [("big", false, false), ("ign/big", false, true), ("../big", true, false), ("big", true, true)]
    {
        let fill = |p: &Place| large(&p.at(from));
        let agent = |p: &mut Place| {
            p.command(|p| {
                if twice {
                    fs::remove_file(p.at("main")).unwrap();
                }
            });
            p.command(|p| rename_over(p, from));
        };
        let (mut place, said) = moved_over(fill, agent, reopened);
        assert!(is_large(&is_beside(&place, &said)), "{from}");
        // It is the person's, and no change.
        assert!(place.turn(2, |_| {}).is_empty());
    }
}

#[test]
fn a_large_file_that_was_changed_in_place_is_taken_back_and_nothing_lies_beside() {
    let agent = |p: &mut Place| {
        p.command(|p| large(&p.at("main")));
        p.command(|p| File::options().append(true).open(p.at("main")).unwrap().write_all(b"more").unwrap());
    };
    let (place, said) = moved_over(|_| {}, agent, false);
    assert_eq!(saved(&place), Vec::<PathBuf>::new());
    assert_eq!(said.remark.as_deref(), Some("cannot be redone: what it was until now is not kept"));
}

#[test]
fn what_comes_from_where_nobody_looks_and_is_moved_over_a_file_is_beside_it_after_an_undo() {
    for (from, twice, reopened) in [("ign/it", false, true), ("../it", false, false), ("ign/it", true, false)] {
        let fill = |p: &Place| p.write(from, "only copy\n");
        let agent = |p: &mut Place| {
            p.command(|p| {
                if twice {
                    fs::remove_file(p.at("main")).unwrap();
                }
            });
            p.command(|p| rename_over(p, from));
            // A later change of the same file does not make it another one.
            p.command(|p| File::options().append(true).open(p.at("main")).unwrap().write_all(b"more\n").unwrap());
        };
        let (mut place, said) = moved_over(fill, agent, reopened);
        assert_eq!(fs::read_to_string(is_beside(&place, &said)).unwrap(), "only copy\nmore\n");
        // It can be done again and taken back as before.
        place.act(ReviewAction::Undo);
        assert_eq!(place.read("main"), "only copy\nmore\n");
        place.act(ReviewAction::Redo);
        assert_eq!((place.read("main"), saved(&place).len()), ("main\n".to_owned(), 1));
    }
}

#[test]
fn nothing_lies_beside_a_file_that_was_saved_anew_or_replaced_by_one_that_goes_back() {
    let agents: [fn(&mut Place); 3] = [
        |p| {
            p.command(|p| {
                p.write("ign/new", "new\n");
                rename_over(p, "ign/new");
            });
        },
        |p| p.command(|p| rename_over(p, "old")),
        |p| p.client_writes("main", "new\n"),
    ];
    for agent in agents {
        let (place, said) = moved_over(
            |p| {
                p.write("old", "old\n");
                p.write("ign/x", "");
            },
            agent,
            false,
        );
        assert_eq!((saved(&place), said.remark), (Vec::new(), None));
        assert_eq!(place.read("old"), "old\n");
    }
}

#[test]
fn what_comes_from_where_nobody_looks_survives_an_undo_wherever_it_was_moved_in_between() {
    for over in ["main", "new/name"] {
        for first in ["main", "other", "dir/other"] {
            let mut place = Place::empty();
            git_in(&place.at(""), &["init", "-q"]);
            place.write(".gitignore", "ign/\n");
            place.write("ign/it", "only copy\n");
            for name in ["main", "other"] {
                place.write(name, "covered\n");
            }
            let before = ctime(&place.at("main"));
            while ctime(&place.at("main")) == before {
                place.write("main", "covered\n");
            }
            place.begin();
            let to = if over == first { "other" } else { over };
            place.turn(1, |p| {
                for (from, to) in [("ign/it", first), (first, to)] {
                    p.command(|p| {
                        fs::create_dir_all(p.at(to).parent().unwrap()).unwrap();
                        fs::rename(p.at(from), p.at(to)).unwrap();
                    });
                }
            });
            let done = place.act(ReviewAction::Rewind { turn: 1 });
            let mut left = vec![place.at("")];
            let mut is_there = false;
            while let Some(dir) = left.pop() {
                for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
                    match entry.is_dir() {
                        true if !entry.ends_with(".git") => left.push(entry),
                        true => {}
                        false => is_there |= fs::read(&entry).unwrap() == b"only copy\n",
                    }
                }
            }
            assert!(is_there, "{first}, then {to}: {done:?}");
        }
    }
}

#[test]
fn what_nobody_else_has_is_beside_the_file_also_when_the_undo_is_killed_right_after_the_exchange() {
    for from in ["ign/it", "ign/large"] {
        let mut place = Place::empty();
        git_in(&place.at(""), &["init", "-q"]);
        place.write(".gitignore", "ign/\n");
        place.write("main", "main\n");
        place.write("ign/it", "only copy\n");
        large(&place.at("ign/large"));
        place.begin();
        place.turn(1, |p| p.command(|p| rename_over(p, from)));
        let swap = swap_name(&place, "main");
        killed_undo(&mut place, "main");
        fs::rename(place.at("main"), &swap).unwrap();
        place.write("main", "main\n");
        let mut place = place.reopen();
        place.act(ReviewAction::Rewind { turn: 1 });
        assert!(!is_large(&place.at("main")) && place.read("main") == "main\n", "{from}");
        let [beside] = &*saved(&place) else { panic!("{from}: {:?}", saved(&place)) };
        assert!(if from == "ign/it" { fs::read(beside).unwrap() == b"only copy\n" } else { is_large(beside) });
    }
}

#[test]
fn what_has_moved_to_where_nobody_looks_and_is_led_to_by_a_link_is_not_taken_for_what_it_was() {
    for reopened in [false, true] {
        let mut place = Place::empty();
        git_in(&place.at(""), &["init", "-q"]);
        place.write(".gitignore", "ign/\n");
        place.write("ign/p", "of the person\n");
        place.write("lib/in", "in\n");
        place.write("lib/sub/x", "x\n");
        place.begin();
        place.turn(1, |p| {
            p.command(|p| {
                fs::rename(p.at("lib"), p.at("ign/lib")).unwrap();
                std::os::unix::fs::symlink("ign/lib", p.at("lib")).unwrap();
            });
        });
        let mut place = if reopened { place.reopen() } else { place };
        let doc = place.doc(Scope::Session);
        let paths: Vec<_> = doc.files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["lib", "lib/in", "lib/sub/x"]);
        assert_eq!(doc.uncovered, ["ign/ (ignored)"]);
        // Nor is it written to by its old name.
        place.write("ign/lib/in", "in\nmore\n");
        let reject = place.decide(Target::File("lib/in".into()), Verdict::Reject);
        assert!(reject.is_err(), "{reject:?}");
        assert_eq!(place.read("ign/lib/in"), "in\nmore\n");
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        let said: Vec<_> = ["lib", "lib/in", "lib/sub/x"].map(|path| outcome(&done.rewound, path).unwrap()).into();
        assert_eq!(said, [RewindOutcome::Removed, RewindOutcome::Restored, RewindOutcome::Restored]);
        assert_eq!((place.read("lib/in"), place.read("lib/sub/x")), ("in\n".to_owned(), "x\n".to_owned()));
        assert_eq!(place.read("ign/lib/in"), "in\nmore\n");
    }
}

#[test]
fn a_file_and_a_directory_that_have_changed_places_come_back() {
    let mut place = Place::with(&[("s", b"a file\n"), ("d/a", b"a\n"), ("d/b", b"b\n")]);
    place.turn(1, |p| {
        p.command(|p| {
            fs::rename(p.at("s"), p.at("tmp")).unwrap();
            fs::rename(p.at("d"), p.at("s")).unwrap();
            fs::rename(p.at("tmp"), p.at("d")).unwrap();
        });
    });
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!([place.read("s"), place.read("d/a"), place.read("d/b")], ["a file\n", "a\n", "b\n"]);
}

#[test]
fn a_directory_that_comes_back_is_for_no_more_people_than_its_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut place = Place::with(&[("open/a", b"a\n"), ("closed/deep/a", b"a\n"), ("closed/b", b"b\n")]);
    fs::set_permissions(place.at("closed/deep/a"), fs::Permissions::from_mode(0o600)).unwrap();
    place.turn(1, |_| {});
    place.turn(2, |p| {
        p.command(|p| ["open", "closed"].iter().for_each(|dir| fs::remove_dir_all(p.at(dir)).unwrap()));
    });
    place.act(ReviewAction::Rewind { turn: 2 });
    let mode = |name: &str| place.at(name).metadata().unwrap().mode() & 0o777;
    assert_eq!((mode("closed"), mode("closed/deep")), (0o700, 0o700));
    assert_eq!(mode("open") & 0o700, 0o700);
    assert_eq!(place.read("closed/deep/a"), "a\n");
}

#[test]
fn a_file_of_which_both_have_changed_the_permissions_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let set = |p: &Place, mode| fs::set_permissions(p.at("f"), fs::Permissions::from_mode(mode)).unwrap();
    let mut place = Place::with(&[("f", b"f\n")]);
    set(&place, 0o644);
    place.turn(1, |_| {});
    place.turn(2, |p| p.command(|p| set(p, 0o755)));
    set(&place, 0o711);
    for action in [ReviewAction::PreviewRewind { turn: 1 }, ReviewAction::Rewind { turn: 1 }] {
        let done = place.act(action);
        assert_eq!(outcome(&done.rewound, "f"), Some(RewindOutcome::Conflict), "{done:?}");
        assert_eq!(done.rewound[0].remark.as_deref(), Some("its permissions were changed since, too"));
    }
}

#[derive(Clone, Copy, Debug)]
enum Who {
    Command,
    /// A tool call that names where it comes from.
    Source,
    /// One that names where it goes.
    Target,
    /// It has no attribution.
    Silent,
    /// Between two turns.
    Between,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Move(u8, u8),
    Copy(u8, u8),
    Remove(u8),
    Change(u8),
}

const NAMES: [&str; 7] = ["a", "b", "c", "d/a", "d/b", "e/a", "f"];

fn op() -> impl Strategy<Value = (Who, Op)> {
    let who = prop_oneof![
        2 => Just(Who::Command),
        1 => Just(Who::Source),
        1 => Just(Who::Target),
        2 => Just(Who::Silent),
        1 => Just(Who::Between)
    ];
    let (from, to) = (0u8..7, 0u8..7);
    let op = (0u8..7, from, to).prop_map(|(kind, from, to)| match kind {
        0..=3 => Op::Move(from, to),
        4 => Op::Copy(from, to),
        5 => Op::Remove(from),
        _ => Op::Change(from),
    });
    (who, op)
}

fn carry_out(place: &Place, op: Op, number: usize) {
    let at = |n: u8| place.at(NAMES[usize::from(n)]);
    // What is not there is not moved.
    match op {
        Op::Move(from, to) if at(from).exists() => {
            fs::create_dir_all(at(to).parent().unwrap()).unwrap();
            fs::rename(at(from), at(to)).unwrap();
        }
        Op::Copy(from, to) if from != to && at(from).exists() => {
            fs::create_dir_all(at(to).parent().unwrap()).unwrap();
            fs::copy(at(from), at(to)).unwrap();
        }
        Op::Remove(from) if at(from).exists() => fs::remove_file(at(from)).unwrap(),
        Op::Change(from) => place.write(NAMES[usize::from(from)], &format!("changed {number}\n")),
        _ => {}
    }
}

fn on_disk(place: &Place) -> BTreeMap<&'static str, String> {
    NAMES.iter().filter_map(|name| Some((*name, fs::read_to_string(place.at(name)).ok()?))).collect()
}

fn check(ops: &[(Who, Op)], undone: u8, reopened: bool) {
    let texts: Vec<String> = NAMES.iter().map(|name| format!("of {name}\n")).collect();
    let files: Vec<(&str, &[u8])> = NAMES.iter().zip(&texts).take(5).map(|(n, t)| (*n, t.as_bytes())).collect();
    let mut place = Place::with(&files);
    let mut turn = 1;
    place.review.begin_turn(turn).unwrap();
    place.client_writes("said", "so\n");
    for (number, (who, op)) in ops.iter().enumerate() {
        let (from, to) = match *op {
            Op::Move(from, to) | Op::Copy(from, to) => (from, to),
            Op::Remove(at) | Op::Change(at) => (at, at),
        };
        let name = match who {
            Who::Source => NAMES[usize::from(from)],
            _ => NAMES[usize::from(to)],
        };
        match who {
            Who::Command => place.command(|p| carry_out(p, *op, number)),
            Who::Source | Who::Target => place.tool_does(name, |p| carry_out(p, *op, number)),
            Who::Silent => carry_out(&place, *op, number),
            Who::Between => {
                place.review.end_turn(turn).unwrap();
                carry_out(&place, *op, number);
                turn += 1;
                place.review.begin_turn(turn).unwrap();
                place.client_writes("said", &format!("so {turn}\n"));
            }
        }
    }
    place.review.end_turn(turn).unwrap();
    if reopened {
        place = place.reopen();
    }
    let before = on_disk(&place);
    let action = match undone {
        0 => ReviewAction::Rewind { turn: 1 },
        1 => ReviewAction::Rewind { turn },
        2 => ReviewAction::Decide { scope: Scope::Pending, target: Target::All, verdict: Verdict::Reject },
        n => {
            let path = PathBuf::from(NAMES[usize::from(n) % NAMES.len()]);
            ReviewAction::Decide { scope: Scope::Pending, target: Target::File(path), verdict: Verdict::Reject }
        }
    };
    // What is refused has changed nothing.
    let done = place.review.act(&action);
    let after = on_disk(&place);
    for (name, text) in NAMES.iter().zip(&texts) {
        let is_there = |disk: &BTreeMap<&str, String>| disk.values().any(|now| now == text);
        let lost = !after.contains_key(name) && is_there(&before) && !is_there(&after);
        assert!(!lost, "{name} is nowhere: {before:?} {after:?} {done:?}");
    }
}

proptest! {
    #![proptest_config(crate::random(40))]
    #[test]
    fn no_content_of_a_file_that_is_gone_is_taken_away(
        ops in prop::collection::vec(op(), 1..8),
        undone in 0u8..10,
        reopened in any::<bool>(),
    ) {
        check(&ops, undone, reopened);
    }
}

/// Found by it: a file that was moved without attribution is moved back by the agent.
#[test]
fn what_the_agent_brings_back_to_where_it_was_stays_when_nothing_else_has_it() {
    let there = (Who::Target, Op::Move(0, 1));
    let back = [there, (Who::Between, Op::Remove(6)), (Who::Command, Op::Move(1, 0))];
    // Something else is put there, which goes.
    let other = [(Who::Target, Op::Move(0, 2)), (Who::Command, Op::Move(1, 0))];
    for undone in [0, 1, 2, 7] {
        for reopened in [false, true] {
            check(&back, undone, reopened);
            check(&other, undone, reopened);
        }
    }
}

/// Found by it: the person moves what the agent has copied over the copy, which looks as it did.
#[test]
fn a_copy_of_the_agents_is_left_alone_when_the_person_has_only_that() {
    for between in [Op::Move(2, 1), Op::Remove(2)] {
        check(&[(Who::Command, Op::Copy(2, 1)), (Who::Between, between)], 0, false);
        check(&[(Who::Command, Op::Copy(2, 6)), (Who::Between, between)], 2, true);
    }
}
