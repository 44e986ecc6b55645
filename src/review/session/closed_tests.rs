//! Directories that an agent closes behind itself.

use super::tests::Place;
use crate::model::changes::{ReviewAction, RewindOutcome, Rewound, Scope};
use crate::review::worktree::walk::faults;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

const FILES: [(&str, &[u8]); 4] = [("d/f1", b"x1\n"), ("d/f2", b"x2\n"), ("d/in/f3", b"x3\n"), ("a", b"a\n")];

fn set(place: &Place, dir: &str, mode: u32) {
    fs::set_permissions(place.at(dir), Permissions::from_mode(mode)).unwrap();
}

/// What the agent does before it closes a directory.
fn change(place: &Place) {
    place.write("d/f1", "x1\nEVIL\n");
    fs::remove_file(place.at("d/f2")).unwrap();
    place.write("d/n", "new\n");
}

fn back(place: &mut Place) -> Vec<Rewound> {
    place.act(ReviewAction::Rewind { turn: 0 }).rewound
}

fn names(rewound: &[Rewound]) -> Vec<(&str, RewindOutcome)> {
    rewound.iter().map(|one| (one.path.to_str().unwrap(), one.outcome)).collect()
}

fn assert_as_before(place: &Place, mode: u32) {
    for (name, text) in FILES {
        assert_eq!(place.read(name).as_bytes(), text, "{name}, {mode:o}");
    }
    assert!(!place.at("d/n").exists(), "{mode:o}");
}

#[test]
fn what_was_changed_in_a_directory_that_is_then_closed_is_said_and_is_taken_back_once_it_is_open() {
    let _rights = faults::without_privileges();
    for mode in [0o000, 0o200, 0o400, 0o600] {
        for (dir, said, files) in [("d", "d/", 3), ("", "./", 4)] {
            for restarts in [false, true] {
                let mut place = Place::with(&FILES);
                place.turn(1, |p| {
                    p.command(|p| {
                        change(p);
                        set(p, dir, mode);
                    });
                });
                if restarts {
                    place = place.reopen();
                }
                let words = format!("{said}: cannot be read; the {files} known files below it may have changed");
                assert!(
                    place.doc(Scope::Session).uncovered.contains(&words),
                    "{mode:o}: {:?}",
                    place.review.uncovered()
                );
                let rewound = back(&mut place);
                let path = if dir.is_empty() { "." } else { dir };
                assert_eq!(names(&rewound), [(path, RewindOutcome::Failed)], "{mode:o}");
                let remark = rewound[0].remark.as_deref().unwrap();
                assert!(remark.ends_with("give it back its permissions, then undo once more"), "{remark}");
                set(&place, dir, 0o755);
                let doc = place.doc(Scope::Turn(1));
                let shown: Vec<&Path> = doc.files.iter().map(|file| &*file.path).collect();
                assert_eq!(shown, ["d/f1", "d/f2", "d/n"].map(Path::new), "{mode:o} {dir}");
                assert!(!doc.uncovered.iter().any(|line| line.contains("cannot be read")), "{:?}", doc.uncovered);
                back(&mut place);
                assert_as_before(&place, mode);
            }
        }
    }
}

#[test]
fn of_a_directory_that_cannot_be_listed_what_is_new_is_taken_back_once_it_can() {
    let _rights = faults::without_privileges();
    for mode in [0o100, 0o300] {
        let mut place = Place::with(&FILES);
        place.turn(1, |p| {
            p.command(|p| {
                change(p);
                set(p, "d", mode);
            });
        });
        assert!(place.doc(Scope::Session).uncovered.contains(&"d/: cannot be read".to_owned()), "{mode:o}");
        let rewound = back(&mut place);
        assert_eq!(names(&rewound).last(), Some(&("d", RewindOutcome::Failed)), "{mode:o}");
        set(&place, "d", 0o755);
        back(&mut place);
        assert_as_before(&place, mode);
    }
}

#[test]
fn a_later_turn_finds_what_an_earlier_one_has_done_in_a_directory_that_it_closed() {
    let _rights = faults::without_privileges();
    let mut place = Place::with(&FILES);
    place.turn(1, |p| {
        p.command(|p| {
            change(p);
            set(p, "d", 0o000);
        });
    });
    set(&place, "d", 0o755);
    let mut place = place.reopen();
    place.turn(2, |p| p.tool_writes("a", "b\n"));
    assert_eq!(place.doc(Scope::Turn(1)).files.len(), 3);
    assert_eq!(place.doc(Scope::Turn(2)).files.len(), 1);
    back(&mut place);
    assert_as_before(&place, 0);
}

#[test]
fn what_the_person_writes_once_a_closed_directory_is_open_is_not_taken_back_with_it() {
    let _rights = faults::without_privileges();
    let mut place = Place::with(&FILES);
    place.turn(1, |p| {
        p.command(|p| {
            change(p);
            set(p, "d", 0o000);
        });
    });
    set(&place, "d", 0o755);
    place.write("d/in/f3", "the person's\n");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::options().write(true).open(place.at("d/in/f3")).unwrap().set_modified(later).unwrap();
    let rewound = back(&mut place);
    assert!(names(&rewound).contains(&("d/in/f3", RewindOutcome::Doubtful)), "{rewound:?}");
    assert_eq!([place.read("d/in/f3"), place.read("d/f1")], ["the person's\n", "x1\n"]);
}

#[test]
fn a_directory_that_was_closed_all_the_time_is_no_doing_of_the_agents() {
    let _rights = faults::without_privileges();
    let mut place = Place::empty();
    place.write("d/f1", "x\n");
    set(&place, "d", 0o000);
    place.begin();
    place.turn(1, |p| p.command(|p| p.write("a", "a\n")));
    assert!(place.review.uncovered().contains(&"d/: cannot be read".to_owned()), "{:?}", place.review.uncovered());
    set(&place, "d", 0o755);
    assert_eq!(names(&back(&mut place)), [("a", RewindOutcome::Removed)]);
    assert!(place.doc(Scope::Session).uncovered.iter().all(|line| !line.contains("cannot be read")));
}

#[test]
fn an_ignored_directory_that_nobody_could_look_into_is_named_once_it_was_touched() {
    let _rights = faults::without_privileges();
    for restarts in [false, true] {
        let mut place = Place::empty();
        place.write(".gitignore", "/ig*\n");
        for dir in ["ig1", "ig2", "ig3/in", "ig4"] {
            place.write(&format!("{dir}/only"), "x\n");
            set(&place, dir, 0o000);
        }
        place.begin();
        let named = |place: &Place| {
            let lines = place.review.uncovered();
            lines.into_iter().filter(|line| line.contains("could not be read when")).collect::<Vec<_>>()
        };
        assert!(named(&place).is_empty(), "as it was");
        place.turn(1, |p| {
            p.command(|p| {
                for dir in ["ig1", "ig2", "ig3/in"] {
                    set(p, dir, 0o755);
                    fs::remove_file(p.at(dir).join("only")).unwrap();
                }
                set(p, "ig2", 0o000);
            });
        });
        if restarts {
            place = place.reopen();
        }
        let why = "could not be read when the session began; what was in it then is not known";
        assert_eq!(named(&place), ["ig1", "ig2", "ig3/in"].map(|dir| format!("{dir}/: {why}")));
        for dir in ["ig2", "ig4"] {
            set(&place, dir, 0o755);
        }
    }
}

#[test]
fn a_directory_that_nobody_could_look_into_stays_named_when_it_is_opened_and_when_it_is_gone() {
    let _rights = faults::without_privileges();
    let mut place = Place::empty();
    for dir in ["c/in", "d"] {
        place.write(&format!("{dir}/only"), "x\n");
        set(&place, dir, 0o000);
    }
    place.begin();
    place.turn(1, |p| {
        p.command(|p| {
            for dir in ["c/in", "d"] {
                set(p, dir, 0o755);
                fs::remove_file(p.at(dir).join("only")).unwrap();
            }
            fs::remove_dir_all(p.at("c")).unwrap();
        });
    });
    let said = [
        "c/in/: could not be read when the session began; it is gone, which cannot be taken back",
        "d/: could not be read when the session began; what was in it then is not known",
    ];
    for place in [&place.doc(Scope::Session).uncovered, &place.review.gone_for_good()] {
        assert_eq!(place, &said);
    }
    let place = place.reopen();
    assert_eq!(place.review.gone_for_good(), said);
}

/// Until a file that is written now is younger.
fn await_younger_than(place: &Place, name: &str) {
    let changed = |meta: fs::Metadata| (meta.ctime(), meta.ctime_nsec());
    let is = changed(place.at(name).metadata().unwrap());
    while changed(tempfile::tempfile_in(place.at("")).unwrap().metadata().unwrap()) <= is {
        std::thread::yield_now();
    }
}

#[test]
fn what_may_be_the_only_copy_of_what_nobody_could_read_at_first_stays() {
    let _rights = faults::without_privileges();
    // Opened and left so, closed again, gone; covered and ignored.
    for (dir, then) in ["c", "ig"].into_iter().flat_map(|dir| ["open", "close", "remove"].map(|then| (dir, then))) {
        let mut place = Place::empty();
        place.write(".gitignore", "/ig\n");
        place.write("t", "of the person\n");
        place.write(&format!("{dir}/only"), "x\n");
        set(&place, dir, 0o000);
        place.begin();
        place.turn(1, |p| {
            p.command(|p| {
                p.write("early", "of the agent\n");
                await_younger_than(p, "early");
            });
        });
        place.turn(2, |p| {
            p.command(|p| {
                set(p, dir, 0o755);
                fs::copy(p.at(dir).join("only"), p.at("copy")).unwrap();
                fs::remove_file(p.at(dir).join("only")).unwrap();
                match then {
                    "close" => set(p, dir, 0o000),
                    "remove" => fs::remove_dir(p.at(dir)).unwrap(),
                    _ => {}
                }
                p.write("t", "of the agent\n");
                p.write("empty", "");
            });
        });
        let words =
            format!("it may be the only copy of what was in {dir}/ that could not be read when the session began");
        let shown = place.review.uncovered();
        assert!(shown.contains(&format!("copy: an undo leaves it: {words}")), "{dir} {then}: {shown:?}");
        let mut place = place.reopen();
        let rewound = place.act(ReviewAction::Rewind { turn: 1 }).rewound;
        let of = |name: &str| rewound.iter().find(|one| one.path == Path::new(name)).map(|one| one.outcome);
        let said = rewound.iter().find(|one| one.path == Path::new("copy")).and_then(|one| one.remark.clone());
        assert_eq!(said, Some(words), "{dir} {then}: {rewound:?}");
        assert_eq!(place.read("copy"), "x\n");
        // What was there before it could be, what is empty and what was changed are taken back.
        let early = if dir == "c" { RewindOutcome::Removed } else { RewindOutcome::Failed };
        assert_eq!(
            [of("copy"), of("early"), of("empty"), of("t")],
            [RewindOutcome::Failed, early, RewindOutcome::Removed, RewindOutcome::Restored].map(Some),
            "{dir} {then}"
        );
        if then == "close" {
            set(&place, dir, 0o755);
        }
    }
}
