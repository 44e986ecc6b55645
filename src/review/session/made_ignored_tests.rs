//! What the agent makes in a directory that git ignores, and that was there before, and what is no longer ignored then:
//! what is known to be the turn's is shown and taken back, all else is shown and left.

use super::ignored_tests::command_and_looks;
use super::tests::{Place, git_in};
use super::*;
use crate::model::changes::{FileChange, FileDoc, ReviewAction, RewindOutcome, Rewound, Scope, Target, Verdict};
use crate::review::report::patch::export;
use crate::review::snapshot::survey::NAMES_IN_ONE;
use crate::review::worktree::walk::faults;
use std::collections::BTreeMap;
use std::fs;

const EVIL: &str = "of the agent\nand more\n";

type Act<'a> = &'a dyn Fn(&Place);

/// A directory that is ignored, with files or without, and a branch `other` that tracks files in it.
fn with_dist(has_files: bool) -> Place {
    let place = Place::empty();
    git_in(&place.at(""), &["init", "-q", "-b", "main"]);
    place.write(".gitignore", "dist/\n*.log\n");
    place.write("notes", "notes\n");
    git_in(&place.at(""), &["add", "-A"]);
    git_in(&place.at(""), &["commit", "-qm", "one"]);
    git_in(&place.at(""), &["checkout", "-qb", "other"]);
    for name in ["dist/evil.js", "dist/new/evil.js"] {
        place.write(name, EVIL);
    }
    git_in(&place.at(""), &["add", "-Af"]);
    git_in(&place.at(""), &["commit", "-qm", "two"]);
    git_in(&place.at(""), &["checkout", "-q", "main"]);
    fs::create_dir_all(place.at("dist/sub")).unwrap();
    if has_files {
        place.write("dist/old.js", "of the person\n");
        place.write("dist/sub/old.js", "of the person\n");
    }
    place
}

/// All files but git's own.
fn tree(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut left, mut all) = (vec![place.at("")], BTreeMap::new());
    while let Some(dir) = left.pop() {
        for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true if !path.ends_with(".git") => left.push(path),
                true => {}
                false => {
                    drop(all.insert(path.strip_prefix(place.at("")).unwrap().to_owned(), fs::read(&path).unwrap()));
                }
            }
        }
    }
    all
}

fn makes(p: &Place) {
    p.write("dist/evil.js", EVIL);
    p.write("dist/new/evil.js", EVIL);
    p.write("dist/sub/evil.js", EVIL);
}

fn stages(p: &Place) {
    git_in(&p.at(""), &["add", "-f", "dist/evil.js", "dist/new/evil.js", "dist/sub/evil.js"]);
}

/// Writes a file as editors do: another one comes into its place.
fn writes_anew(p: &Place, name: &str) {
    p.write("by-editor.log", &format!("{}of the agent\n", p.read(name)));
    fs::rename(p.at("by-editor.log"), p.at(name)).unwrap();
}

fn shown(place: &mut Place, scope: Scope, name: &str) -> FileDoc {
    let doc = place.doc(scope);
    let file = doc.files.iter().find(|file| file.path == Path::new(name));
    file.unwrap_or_else(|| panic!("{name} is not among {:?}", doc.files)).as_ref().clone()
}

fn patch(place: &mut Place) -> String {
    let mut text = String::new();
    export(&mut place.review, Scope::Session).unwrap().read_to_string(&mut text).unwrap();
    text
}

fn outcome(rewound: &[Rewound], name: &str) -> Option<RewindOutcome> {
    rewound.iter().find(|one| one.path == Path::new(name)).map(|one| one.outcome)
}

#[test]
fn what_the_turn_makes_there_is_shown_with_its_lines_and_taken_back_however_it_comes_to_be_looked_at() {
    let checks_out = |p: &Place| git_in(&p.at(""), &["checkout", "-q", "other"]);
    let loses_rule = |p: &Place| p.write(".gitignore", "*.log\n");
    let makes_and_stages = |p: &Place| {
        makes(p);
        stages(p);
    };
    let ways: [(&str, &[Act<'_>]); 5] = [
        ("add -f", &[&makes_and_stages]),
        ("add -f after a look", &[&makes, &stages]),
        ("checkout", &[&checks_out]),
        ("a rule that is gone", &[&makes, &loses_rule]),
        ("a rule that goes first", &[&loses_rule, &makes]),
    ];
    for (way, acts) in ways {
        for (has_files, is_second) in [(true, false), (false, false), (true, true), (false, true)] {
            let what = format!("{way}, with files: {has_files}, after a restart: {is_second}");
            let mut place = with_dist(has_files);
            place.begin();
            if is_second {
                place.turn(1, |p| p.command(|p| p.write("notes", "of the agent\n")));
                place = place.reopen();
            }
            let before = tree(&place);
            place.turn(2, |p| command_and_looks(p, acts));
            let after = tree(&place);
            let made = ["dist/evil.js", "dist/new/evil.js", "dist/sub/evil.js"];
            let made = made.into_iter().filter(|name| place.at(name).exists()).collect::<Vec<_>>();
            for name in &made {
                let file = shown(&mut place, Scope::Session, name);
                assert_eq!((file.change, file.added, file.note), (FileChange::Created, 2, None), "{what}: {name}");
            }
            let doc = place.doc(Scope::Session);
            assert!(!doc.files.iter().any(|file| file.path.ends_with("old.js")), "{what}: {:?}", doc.files);
            assert_eq!(patch(&mut place).matches("+and more").count(), made.len(), "{what}");
            let mut place = place.reopen();
            let done = place.act(ReviewAction::Rewind { turn: 2 });
            assert_eq!(tree(&place), before, "{what}: {:?}", done.rewound);
            place.act(ReviewAction::Undo);
            assert_eq!(tree(&place), after, "{what}");
            for name in made {
                place.decide(Target::File(name.into()), Verdict::Reject).unwrap();
                assert!(!place.at(name).exists(), "{what}: {name}");
            }
        }
    }
}

#[test]
fn what_was_made_there_before_the_turn_is_shown_with_its_lines_and_left() {
    type Makes = fn(&mut Place);
    let by_agent: Makes = |p| {
        p.turn(1, |p| p.command(makes));
    };
    let by_person: Makes = |p| makes(p);
    let anew: Act<'_> = &|p| {
        for name in ["dist/evil.js", "dist/new/evil.js", "dist/sub/evil.js"] {
            writes_anew(p, name);
        }
    };
    let nothing: Act<'_> = &|_| {};
    for (made, by) in [("by the agent", by_agent), ("by the person", by_person)] {
        for (then, lines, act) in [("nothing more", 2, nothing), ("written anew", 3, anew)] {
            let what = format!("{made}, then {then}");
            let mut place = with_dist(true);
            place.begin();
            by(&mut place);
            place.turn(2, |p| command_and_looks(p, &[act, &stages]));
            let is = tree(&place);
            for name in ["dist/evil.js", "dist/new/evil.js", "dist/sub/evil.js"] {
                let file = shown(&mut place, Scope::Session, name);
                assert_eq!((file.change, file.added), (FileChange::Created, lines), "{what}: {name}");
                assert!(file.note.is_some_and(|note| note.starts_with("in doubt")), "{what}: {name}");
                assert!(file.hunks[0].heading.starts_with("in doubt"), "{what}: {name}");
            }
            assert_eq!(patch(&mut place).matches("+and more").count(), 3, "{what}");
            let mut place = place.reopen();
            let done = place.act(ReviewAction::Rewind { turn: 1 });
            assert_eq!(tree(&place), is, "{what}: {:?}", done.rewound);
            assert_eq!(outcome(&done.rewound, "dist/evil.js"), Some(RewindOutcome::Doubtful), "{what}");
        }
    }
}

#[test]
fn what_may_have_the_content_of_an_ignored_file_that_went_in_the_turn_is_left() {
    let moves = |p: &Place, from: &str, to: &str| {
        writes_anew(p, from);
        fs::create_dir_all(p.at(to).parent().unwrap()).unwrap();
        fs::rename(p.at(from), p.at(to)).unwrap();
    };
    let out: Act<'_> = &|p| moves(p, "dist/old.js", "old.js");
    let as_text: Act<'_> = &|p| moves(p, "of-person.log", "docs/of-person.txt");
    let below: Act<'_> = &|p| {
        moves(p, "dist/old.js", "dist/sub/other.js");
        git_in(&p.at(""), &["add", "-f", "dist/sub/other.js"]);
    };
    let directory: Act<'_> = &|p| {
        writes_anew(p, "dist/sub/old.js");
        fs::rename(p.at("dist"), p.at("out")).unwrap();
    };
    let cases =
        [("old.js", out), ("docs/of-person.txt", as_text), ("dist/sub/other.js", below), ("out/sub/old.js", directory)];
    for (name, act) in cases {
        for in_session in [false, true] {
            let what = format!("{name}, made in the session: {in_session}");
            let mut place = with_dist(!in_session);
            let fill = |p: &Place| {
                for name in ["dist/old.js", "dist/sub/old.js", "of-person.log"] {
                    p.write(name, "of the person\n");
                }
            };
            if !in_session {
                fill(&place);
            }
            place.begin();
            if in_session {
                fill(&place);
            }
            place.turn(1, |p| command_and_looks(p, &[act, &|p| p.write("new.js", EVIL)]));
            let is = place.read(name);
            let file = shown(&mut place, Scope::Session, name);
            assert!(file.note.is_some_and(|note| note.starts_with("in doubt")), "{what}");
            let mut place = place.reopen();
            place.act(ReviewAction::Rewind { turn: 1 });
            assert_eq!(place.read(name), is, "{what}");
            // What is like none of them is the turn's.
            assert!(!place.at("new.js").exists(), "{what}");
        }
    }
}

#[test]
fn what_was_moved_out_and_written_anew_before_the_turn_comes_back_as_it_was_then() {
    for (turn, reopened) in [(0, false), (0, true), (1, false), (1, true)] {
        let mut place = with_dist(true);
        place.begin();
        fs::rename(place.at("dist/old.js"), place.at("old.js")).unwrap();
        writes_anew(&place, "old.js");
        let was = place.read("old.js");
        place.turn(1, |p| p.tool_writes("old.js", EVIL));
        let mut place = if reopened { place.reopen() } else { place };
        place.act(ReviewAction::Rewind { turn });
        assert_eq!(place.read("old.js"), was, "{turn} {reopened}");
        place.act(ReviewAction::Undo);
        assert_eq!(place.read("old.js"), EVIL, "{turn} {reopened}");
        assert!(place.review.uncovered().iter().any(|line| line.starts_with("dist/: old.js was ignored and is gone")));
    }
}

#[test]
fn an_undo_says_how_much_it_does_not_cover() {
    let mut place = with_dist(true);
    place.begin();
    place.review.keep_all();
    place.turn(1, |p| p.client_writes("notes", EVIL));
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    let words = "1 thing is not covered by an undo, see the review";
    assert!(done.words.ends_with(&format!("; {words}")), "{}", done.words);
    assert_eq!(place.review.not_covered().as_deref(), Some(words), "{:?}", place.review.uncovered());
    let mut place = Place::with(&[("a", b"1\n")]);
    place.turn(1, |p| p.client_writes("a", "2\n"));
    assert_eq!(place.act(ReviewAction::Rewind { turn: 1 }).words, "rewound to before turn 1");
}

#[test]
fn only_ignored_files_that_a_new_one_is_like_are_looked_at_for_it() {
    let mut place = with_dist(true);
    for n in 0..2_000 {
        place.write(&format!("{n}.log"), "of the person\n");
    }
    place.begin();
    let mut looks = 0;
    place.turn(1, |p| {
        writes_anew(p, "7.log");
        fs::rename(p.at("7.log"), p.at("7.txt")).unwrap();
        p.write("new.js", EVIL);
        looks = faults::looks();
    });
    let looks = faults::looks() - looks;
    assert!(looks < 200, "{looks}");
    let notes = |place: &mut Place, name| shown(place, Scope::Session, name).note;
    assert!(notes(&mut place, "7.txt").is_some_and(|note| note.starts_with("in doubt")));
    assert_eq!(notes(&mut place, "new.js"), None);
}

#[test]
fn what_was_there_before_the_session_is_shown_as_it_is_now_and_left() {
    let appends: Act<'_> = &|p| p.write("dist/old.js", "of the person\nof the agent\n");
    let anew: Act<'_> = &|p| writes_anew(p, "dist/old.js");
    let goes_and_comes: Act<'_> = &|p| {
        fs::remove_file(p.at("dist/old.js")).unwrap();
        p.write("dist/old.js", "of the agent\nof the agent\n");
    };
    let moves: Act<'_> = &|p| {
        fs::rename(p.at("dist/sub/old.js"), p.at("dist/old.js")).unwrap();
        p.write("dist/old.js", "of the person\nof the agent\n");
    };
    for (what, act) in
        [("appends", appends), ("writes anew", anew), ("removes and makes", goes_and_comes), ("moves over", moves)]
    {
        let mut place = with_dist(true);
        place.begin();
        place.turn(1, |p| {
            command_and_looks(p, &[act, &|p| git_in(&p.at(""), &["add", "-f", "dist/old.js"])]);
        });
        let is = place.read("dist/old.js");
        let file = shown(&mut place, Scope::Session, "dist/old.js");
        assert_eq!((file.change, file.added, file.removed), (FileChange::Modified, 2, 0), "{what}");
        assert_eq!(file.note.as_deref(), Some("what it was before is not known"), "{what}");
        let lines = file.hunks[0].lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>();
        assert_eq!(lines.len(), 2, "{what}: {lines:?}");
        // As a whole it cannot be taken back, some lines can.
        assert!(place.decide(Target::File("dist/old.js".into()), Verdict::Reject).is_err(), "{what}");
        let mut place = place.reopen();
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!(place.read("dist/old.js"), is, "{what}: {:?}", done.rewound);
        let id = place.doc(Scope::Pending).files.iter().find(|file| file.path.ends_with("old.js")).unwrap().hunks[0].id;
        place.decide(Target::Lines("dist/old.js".into(), id, 0..1), Verdict::Reject).unwrap();
        assert_eq!(place.read("dist/old.js"), "of the agent\n", "{what}");
        place.act(ReviewAction::Undo);
        assert_eq!(place.read("dist/old.js"), is, "{what}");
    }
}

#[test]
fn a_name_beyond_the_bounds_is_not_taken_for_new_and_its_lines_are_shown() {
    let mut place = with_dist(true);
    for n in 0..NAMES_IN_ONE + 5 {
        place.write(&format!("dist/many/f{n:04}"), "of the person\n");
    }
    place.begin();
    let names: Vec<String> = (0..NAMES_IN_ONE + 5).map(|n| format!("dist/many/f{n:04}")).collect();
    place.turn(1, |p| {
        p.command(|p| {
            for name in &names {
                writes_anew(p, name);
            }
            p.write("dist/many/new", EVIL);
            git_in(&p.at(""), &["add", "-f", "dist/many"]);
        });
    });
    let doc = place.doc(Scope::Session);
    let files: Vec<_> = doc.files.iter().filter(|file| file.path.starts_with("dist/many")).collect();
    assert_eq!(files.len(), names.len() + 1);
    assert!(files.iter().all(|file| file.change == FileChange::Modified && file.added == 2));
    let is = tree(&place);
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(tree(&place), is);
}

#[test]
fn what_is_moved_within_it_goes_back() {
    for edits in [false, true] {
        let mut place = with_dist(true);
        place.write("dist/t", "one\ntwo\nthree\nfour\n");
        git_in(&place.at(""), &["add", "-f", "dist/t"]);
        git_in(&place.at(""), &["commit", "-qm", "three"]);
        place.begin();
        let before = tree(&place);
        place.turn(1, |p| {
            p.command(|p| {
                git_in(&p.at(""), &["mv", "dist/t", "dist/u"]);
                if edits {
                    p.write("dist/u", "one\ntwo\nthree\nfour\nfive\n");
                }
            });
        });
        let after = tree(&place);
        let file = shown(&mut place, Scope::Session, "dist/u");
        let wanted = if edits { FileChange::Created } else { FileChange::Renamed };
        assert_eq!((file.change, file.note), (wanted, None));
        assert!(patch(&mut place).contains(if edits { "+five" } else { "rename to dist/u" }));
        let mut place = place.reopen();
        place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!(tree(&place), before);
        place.act(ReviewAction::Undo);
        assert_eq!(tree(&place), after);
    }
}

#[test]
fn what_is_moved_in_from_where_nobody_looks_is_shown_and_left_also_when_it_is_written_anew() {
    for (from, made_first) in [("../outside", true), ("dist/sub", true), ("../outside", false)] {
        let mut place = with_dist(true);
        let fills = |p: &Place| p.write(&format!("{from}/in/old.js"), "of the person\n");
        if made_first {
            fills(&place);
        }
        place.begin();
        if !made_first {
            fills(&place);
        }
        place.turn(1, |p| {
            command_and_looks(
                p,
                &[
                    &|p| {
                        fs::rename(p.at(&format!("{from}/in")), p.at("dist/in")).unwrap();
                        writes_anew(p, "dist/in/old.js");
                        p.write("dist/in/evil.js", EVIL);
                    },
                    &|p| git_in(&p.at(""), &["add", "-f", "dist/in"]),
                ],
            );
        });
        let is = tree(&place);
        for name in ["dist/in/old.js", "dist/in/evil.js"] {
            let file = shown(&mut place, Scope::Session, name);
            assert_eq!((file.added, file.note.is_some()), (2, true), "{from}: {name}");
        }
        let mut place = place.reopen();
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!(tree(&place), is, "{from}: {:?}", done.rewound);
    }
}

#[test]
fn what_was_made_there_in_a_turn_that_was_cut_short_is_shown_with_its_lines() {
    let mut place = with_dist(true);
    place.begin();
    place.review.begin_turn(1).unwrap();
    makes(&place);
    stages(&place);
    place.review.still_here();
    let mut place = place.reopen();
    for name in ["dist/evil.js", "dist/new/evil.js", "dist/sub/evil.js"] {
        assert_eq!(shown(&mut place, Scope::Session, name).added, 2, "{name}");
    }
    assert!(!place.doc(Scope::Session).files.iter().any(|file| file.path.ends_with("old.js")));
}

#[test]
fn what_is_older_than_the_session_and_comes_from_where_nobody_looks_is_shown_with_its_lines() {
    let mut place = with_dist(true);
    place.write("e.log", "of the person\n");
    place.begin();
    place.turn(1, |p| {
        p.command(|p| {
            p.write("e.log", "of the person\nof the agent\n");
            fs::rename(p.at("e.log"), p.at("run.sh")).unwrap();
        });
    });
    let file = shown(&mut place, Scope::Session, "run.sh");
    assert_eq!((file.added, file.hunks[0].lines.len()), (2, 2));
    let mut place = place.reopen();
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("run.sh"), "of the person\nof the agent\n", "{:?}", done.rewound);
}

#[test]
fn an_undo_does_not_make_what_came_in_doubt_and_went_in_the_same_turn() {
    for reopened in [false, true] {
        let mut place = with_dist(true);
        place.begin();
        place.write("e.log", "made since\n");
        let before = tree(&place);
        place.turn(1, |p| {
            p.command(|p| p.write("notes", "of the agent\n"));
            p.command(|p| fs::rename(p.at("e.log"), p.at("run.sh")).unwrap());
            p.command(|p| fs::remove_file(p.at("run.sh")).unwrap());
        });
        assert!(!place.doc(Scope::Session).files.iter().any(|file| file.path == Path::new("run.sh")));
        let mut place = if reopened { place.reopen() } else { place };
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        assert!(!place.at("run.sh").exists(), "{:?}", done.rewound);
        assert_eq!(outcome(&done.rewound, "run.sh"), None);
        let without = |tree: BTreeMap<PathBuf, Vec<u8>>| tree.into_iter().filter(|(path, _)| !path.ends_with("e.log"));
        assert!(without(before).eq(tree(&place)));
    }
}
