//! The session's directory itself is removed, moved away or replaced.

use crate::model::changes::{ReviewAction, RewindOutcome, Scope};
use crate::review::archive;
use crate::review::dir::{HEAD, SESSIONS, read_json};
use crate::review::error::ReviewError;
use crate::review::protocol::AgentSession;
use crate::review::session::ReviewSession;
use crate::review::session::tests::Place;
use crate::review::worktree::walk::faults;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

const FILES: &[(&str, &[u8])] = &[("f1", b"one\n"), ("f2", b"two\n"), ("s/q", b"q\n")];

fn root(place: &Place) -> PathBuf {
    place.at("f1").parent().unwrap().to_owned()
}

/// Beside the session's directory.
fn beside(place: &Place, name: &str) -> PathBuf {
    root(place).parent().unwrap().join(name)
}

fn remove(root: &Path) {
    fs::remove_dir_all(root).unwrap();
}

fn is_whole(place: &Place) -> bool {
    FILES.iter().all(|(name, bytes)| fs::read(place.at(name)).is_ok_and(|now| now == *bytes))
}

type Loss = fn(&Path, &Path);

const LOSSES: &[(&str, Loss)] = &[
    ("removed", |root, _| remove(root)),
    ("moved away", |root, away| fs::rename(root, away).unwrap()),
    ("a link to nowhere", |root, _| {
        remove(root);
        symlink("nowhere", root).unwrap();
    }),
    ("a link to another directory", |root, away| {
        fs::rename(root, away).unwrap();
        fs::write(away.join("f1"), "of somebody else").unwrap();
        symlink(away, root).unwrap();
    }),
    ("a file", |root, _| {
        remove(root);
        fs::write(root, "x").unwrap();
    }),
];

#[test]
fn a_directory_of_a_session_that_goes_away_in_a_turn_is_shown_and_comes_back_whole() {
    for crashed in [false, true] {
        for (what, loss) in LOSSES {
            let place = Place::with(FILES);
            let (root, away) = (root(&place), beside(&place, "away"));
            fs::set_permissions(&root, fs::Permissions::from_mode(0o751)).unwrap();
            // Begun anew, so that these are its permissions from the beginning.
            let mut place = place.begun_anew();
            place.review.begin_turn(1).unwrap();
            place.command(|_| loss(&root, &away));
            if !crashed {
                place.review.end_turn(1).unwrap();
                assert!(place.review.trouble().is_some_and(|said| said.contains("session's directory")), "{what}");
                assert!(place.review.root_stands().is_err(), "{what}");
            }
            let mut place = place.reopen();
            let said = place.review.uncovered();
            assert!(said.iter().any(|line| line.contains("the session's directory")), "{what}: {said:?}");
            let doc = place.doc(Scope::Session);
            let paths: Vec<_> = doc.files.iter().map(|f| f.path.to_str().unwrap()).collect();
            assert_eq!(paths, ["f1", "f2", "s/q"], "{what} {crashed}");
            // What stands in the way is neither written through nor removed.
            if root.symlink_metadata().is_ok() {
                for action in [ReviewAction::PreviewRewind { turn: 1 }, ReviewAction::Rewind { turn: 1 }] {
                    let error = place.review.act(&action).unwrap_err().to_string();
                    assert!(error.contains("move it away"), "{what}: {error}");
                }
                assert!(!away.exists() || fs::read(away.join("f1")).unwrap() == b"of somebody else", "{what}");
                fs::remove_file(&root).unwrap();
            }
            let done = place.act(ReviewAction::Rewind { turn: 1 });
            assert!(done.rewound.iter().all(|one| one.outcome == RewindOutcome::Restored), "{what}: {done:?}");
            assert!(is_whole(&place), "{what} {crashed}");
            assert_eq!(root.metadata().unwrap().mode() & 0o7777, 0o751, "{what}");
            assert!(place.review.root_stands().is_ok(), "{what}");
            // And away again.
            place.act(ReviewAction::Undo);
            assert!(!place.at("f1").exists() && !place.at("s/q").exists(), "{what}");
        }
    }
}

#[test]
fn another_directory_in_the_place_of_the_sessions_is_said_and_looked_at() {
    let mut place = Place::with(FILES);
    let root = root(&place);
    place.turn(1, |p| {
        p.command(|_| {
            fs::rename(&root, root.with_file_name("away")).unwrap();
            fs::create_dir(&root).unwrap();
            fs::write(root.join("f1"), "other\n").unwrap();
        });
    });
    assert!(place.review.trouble().is_none());
    assert!(place.review.root_stands().is_err_and(|error| error.to_string().contains("another directory")));
    let doc = place.doc(Scope::Session);
    assert_eq!(doc.files.len(), 3);
    assert!(doc.uncovered.iter().any(|line| line.contains("another directory")), "{:?}", doc.uncovered);
    place.act(ReviewAction::Rewind { turn: 1 });
    assert!(is_whole(&place));
}

#[test]
fn a_directory_that_is_back_is_not_called_gone_any_more() {
    for undone in [false, true] {
        for reopened in [false, true] {
            let mut place = Place::with(FILES);
            let (root, away) = (root(&place), beside(&place, "away"));
            place.turn(1, |p| p.command(|_| fs::rename(&root, &away).unwrap()));
            assert!(place.review.trouble().is_some());
            let mut place = if reopened { place.reopen() } else { place };
            if undone {
                place.act(ReviewAction::Rewind { turn: 1 });
                assert_eq!(place.review.trouble(), None, "{reopened}");
            } else {
                fs::rename(&away, &root).unwrap();
            }
            place.turn(2, |_| {});
            assert_eq!(place.review.trouble(), None, "{undone} {reopened}");
            assert_eq!(place.doc(Scope::Session).uncovered, Vec::<String>::new());
            // A reader of the record alone is told the same.
            let dir = place.review.dir().to_owned();
            assert_eq!(crate::review::dir::trouble(&dir), None, "{undone} {reopened}");
        }
    }
}

#[test]
fn what_went_wrong_before_the_directory_was_gone_is_not_forgotten_when_it_is_back() {
    let mut place = Place::with(FILES);
    let (root, away) = (root(&place), beside(&place, "away"));
    let disk = crate::review::error::ReviewError::Refused("the disk".to_owned());
    crate::review::dir::note_trouble(place.review.dir(), &disk);
    place.turn(1, |p| p.command(|_| fs::rename(&root, &away).unwrap()));
    place.act(ReviewAction::Rewind { turn: 1 });
    assert!(place.review.trouble().is_some_and(|said| said.contains("the disk")));
}

#[test]
fn a_directory_that_is_as_it_was_is_not_worth_a_word() {
    let mut place = Place::with(FILES);
    place.turn(1, |p| p.command(|p| p.write("f1", "new\n")));
    let mut place = place.reopen();
    assert!(place.review.root_stands().is_ok() && place.review.trouble().is_none());
    assert!(place.doc(Scope::Session).uncovered.is_empty());
}

#[test]
fn a_directory_that_the_person_removed_since_is_made_anew_for_an_undo() {
    let mut place = Place::with(FILES);
    place.turn(1, |p| p.command(|p| fs::remove_file(p.at("f2")).unwrap()));
    remove(&root(&place));
    let mut place = place.reopen();
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(done.rewound.len(), 1, "{done:?}");
    assert_eq!(place.read("f2"), "two\n");
    // What the person has removed stays so.
    assert!(!place.at("f1").exists());
}

#[test]
fn what_is_noted_of_the_directory_in_two_ways_is_not_written_to() {
    for name in ["store/root", "head.json"] {
        let mut place = Place::with(FILES);
        place.turn(1, |p| p.command(|p| p.write("f1", "new\n")));
        let dir = place.review.dir().to_owned();
        let (path, elsewhere) = (dir.join(name), beside(&place, "wx"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("/ws\""), "{text}");
        let temp = place.closed();
        fs::write(&path, text.replace("/ws\"", "/wx\"")).unwrap();
        let opened = ReviewSession::open(&dir).map(drop);
        assert!(opened.as_ref().is_err_and(|error| error.to_string().contains("two ways")), "{name}: {opened:?}");
        assert!(!elsewhere.exists());
        drop(temp);
    }
}

#[test]
fn what_says_whose_a_run_is_comes_back_when_an_agent_has_removed_or_changed_it() {
    for text in [None, Some("no json"), Some("[]")] {
        let spoil = |dir: &Path| {
            for name in [HEAD, SESSIONS] {
                let file = dir.join(name);
                text.map_or_else(|| fs::remove_file(&file).unwrap(), |text| fs::write(&file, text).unwrap());
            }
        };
        let mut place = Place::with(FILES);
        let (dir, head) = (place.review.dir().to_owned(), place.review.head().clone());
        let sessions = place.review.sessions().to_vec();
        let is_back = || {
            assert_eq!(archive::head(&dir).unwrap(), head);
            assert_eq!(read_json::<Vec<AgentSession>>(&dir.join(SESSIONS)).unwrap(), sessions);
        };
        place.review.begin_turn(1).unwrap();
        place.command(|_| spoil(&dir));
        place.review.end_turn(1).unwrap();
        is_back();
        // After its last turn.
        spoil(&dir);
        drop(place.review);
        is_back();
        // And when nobody had it open any more it is said.
        fs::remove_file(dir.join(SESSIONS)).unwrap();
        let review = ReviewSession::open(&dir).unwrap();
        let said = review.uncovered();
        assert!(said.iter().any(|line| line.contains("which sessions this run had is not known")), "{said:?}");
        drop(review);
        // It is not made up.
        assert!(!dir.join(SESSIONS).exists());
    }
}

#[test]
fn nothing_of_a_record_is_read_or_written_behind_a_link() {
    for name in ["", "objects", "objects/pack", "objects/info", "kept"] {
        let mut place = Place::with(FILES);
        place.turn(1, |p| p.command(|p| p.write("f1", "new\n")));
        let (dir, elsewhere) = (place.review.dir().to_owned(), beside(&place, "elsewhere"));
        let temp = place.closed();
        let at = dir.join("store").join(name);
        if at.exists() {
            fs::rename(&at, &elsewhere).unwrap();
        } else {
            fs::create_dir(&elsewhere).unwrap();
        }
        symlink(&elsewhere, at.components().collect::<PathBuf>()).unwrap();
        let files = || walk_of(&elsewhere);
        let before = files();
        let error = ReviewError::to_string(&ReviewSession::open(&dir).map(drop).unwrap_err());
        assert!(error.contains("is a link"), "{name}: {error}");
        assert_eq!(files(), before, "{name}");
        drop(temp);
    }
}

/// All names below a directory.
fn walk_of(dir: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            open.extend(path.is_dir().then(|| path.clone()));
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn a_session_directory_that_could_not_be_listed_at_first_is_not_said_to_be_gone() {
    let _rights = faults::without_privileges();
    let mut place = Place::empty();
    for (name, text) in FILES {
        fs::create_dir_all(place.at(name).parent().unwrap()).unwrap();
        fs::write(place.at(name), text).unwrap();
    }
    let (root, mode) = (root(&place), |mode| fs::Permissions::from_mode(mode));
    fs::set_permissions(&root, mode(0o311)).unwrap();
    place.begin();
    place.turn(1, |p| {
        p.command(|p| {
            fs::set_permissions(&root, mode(0o755)).unwrap();
            fs::remove_file(p.at("f1")).unwrap();
        });
    });
    let said = place.review.uncovered();
    let words = "./: could not be read when the session began; what was in it then is not known";
    assert!(said.iter().any(|line| line == words), "{said:?}");
    assert!(!said.iter().any(|line| line.contains("is gone")), "{said:?}");
}
