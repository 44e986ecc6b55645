//! What git ignores and the agent carries elsewhere and removes, or has git track: no decision takes away the only copy.

use super::tests::{Place, git_in};
use super::*;
use crate::model::changes::{FileChange, FileDoc, ReviewAction, RewindOutcome, Scope, Target, Verdict};
use crate::review::protocol::ToolEffect;
use std::fs::{self, File};
use std::os::unix::fs::symlink;

const SECRET: &str = "KEY=of the person\n";

fn begun() -> Place {
    let mut place = Place::empty();
    git_in(&place.at(""), &["init", "-q"]);
    place.write(".gitignore", ".env\nsecrets/\nlink\n*.big\n");
    place.write(".env", SECRET);
    place.write("secrets/a/key", "of the person, too\n");
    place.write("notes", "notes\n");
    symlink("nowhere/of the person", place.at("link")).unwrap();
    File::create(place.at("it.big")).unwrap().set_len(70 << 20).unwrap();
    place.begin();
    place
}

fn words(of: &str) -> String {
    format!("it may be the only copy of what was in {of}, which git ignored")
}

/// What is said of a file in the report, and by an undo in another process.
fn undone(mut place: Place, turn: u64, path: &str) -> (Place, Option<String>, Option<String>) {
    let shown = place.review.uncovered();
    let shown = shown.iter().find_map(|line| line.strip_prefix(&format!("{path}: an undo leaves it: ")));
    let shown = shown.map(str::to_owned);
    place = place.reopen();
    let done = place.act(ReviewAction::Rewind { turn });
    let said = done.rewound.iter().find(|one| one.path == Path::new(path) && one.outcome == RewindOutcome::Failed);
    let said = said.map(|one| one.remark.clone().unwrap_or_default());
    (place, shown, said)
}

/// The file stays as it is, the undo and the report say so alike, and there is nothing to be done again.
fn stays(path: &str, of: &str, agent: impl FnOnce(&mut Place)) -> Place {
    let mut place = begun();
    place.turn(1, agent);
    let text = fs::read(place.at(path));
    let (place, shown, said) = undone(place, 1, path);
    assert_eq!(said.as_deref(), Some(&*words(of)), "{path}");
    assert_eq!(shown, said, "{path}");
    assert_eq!(fs::read(place.at(path)).ok(), text.ok(), "{path}");
    assert!(place.at(path).symlink_metadata().is_ok(), "{path}");
    place
}

fn copy(p: &Place, from: &str, to: &str) {
    fs::create_dir_all(p.at(to).parent().unwrap()).unwrap();
    fs::copy(p.at(from), p.at(to)).unwrap();
}

fn remove(p: &Place, name: &str) {
    let path = p.at(name);
    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}

#[test]
fn a_copy_of_what_was_ignored_and_is_gone_stays() {
    let place = stays("x", ".env", |p| {
        p.command(|p| {
            copy(p, ".env", "x");
            remove(p, ".env");
            p.write("other", "of the agent\n");
        });
    });
    assert!(!place.at("other").exists());
    assert_eq!(place.review.gone_for_good(), [".env: was ignored and is gone, which cannot be taken back"]);
}

#[test]
fn two_copies_stay() {
    for path in ["x", "y/z"] {
        stays(path, ".env", |p| {
            p.command(|p| {
                copy(p, ".env", "x");
                copy(p, ".env", "y/z");
                remove(p, ".env");
            });
        });
    }
}

#[test]
fn a_copy_that_was_changed_later_stays_as_it_is() {
    stays("x", ".env", |p| {
        p.command(|p| copy(p, ".env", "x"));
        p.command(|p| p.write("x", &format!("{SECRET}more\n")));
        p.command(|p| remove(p, ".env"));
    });
}

#[test]
fn what_was_put_over_a_file_stays() {
    let place = stays("notes", ".env", |p| {
        p.command(|p| {
            copy(p, ".env", "notes");
            remove(p, ".env");
        });
    });
    assert_eq!(place.read("notes"), SECRET);
}

#[test]
fn a_copy_of_what_has_another_content_by_then_stays() {
    stays("x", ".env", |p| {
        p.command(|p| {
            copy(p, ".env", "x");
            p.write(".env", "KEY=of the agents\n");
        });
    });
}

#[test]
fn copies_of_a_directory_stay() {
    stays("s2/a/key", "secrets/a/key", |p| {
        p.command(|p| {
            copy(p, "secrets/a/key", "s2/a/key");
            remove(p, "secrets");
        });
    });
}

#[test]
fn a_copy_of_a_link_stays() {
    stays("l2", "link", |p| {
        p.command(|p| {
            symlink("nowhere/of the person", p.at("l2")).unwrap();
            remove(p, "link");
        });
    });
}

#[test]
fn a_copy_that_the_client_wrote_stays() {
    stays("x", ".env", |p| {
        p.client_writes("x", SECRET);
        p.command(|p| remove(p, ".env"));
    });
}

#[test]
fn what_was_moved_is_called_the_only_copy() {
    for (from, to) in [(".env", "x"), ("it.big", "x"), ("secrets/a/key", "k")] {
        stays(to, from, |p| p.command(|p| fs::rename(p.at(from), p.at(to)).unwrap()));
    }
}

#[test]
fn what_was_copied_back_and_forth_is_where_it_was() {
    let mut place = begun();
    place.turn(1, |p| {
        p.command(|p| {
            copy(p, ".env", "x");
            remove(p, ".env");
            copy(p, "x", ".env");
        });
    });
    let (place, shown, said) = undone(place, 1, "x");
    assert_eq!((shown, said), (None, None));
    assert!(!place.at("x").exists());
    assert_eq!(place.read(".env"), SECRET);
}

#[test]
fn a_copy_goes_where_something_else_has_the_content() {
    let agents: [fn(&Place); 4] = [
        |p| copy(p, ".env", "x"),
        // Like a file that stays.
        |p| {
            p.write("x", "notes\n");
            remove(p, ".env");
        },
        // Of the same size.
        |p| {
            p.write("x", "KEY=of the agents\n");
            remove(p, ".env");
        },
        |p| p.write("x", ""),
    ];
    for agent in agents {
        let mut place = begun();
        place.turn(1, |p| p.command(agent));
        let (place, shown, said) = undone(place, 1, "x");
        assert_eq!((shown, said), (None, None));
        assert!(!place.at("x").exists());
    }
}

#[test]
fn what_the_agent_has_named_is_covered_and_comes_back_so_that_its_copy_goes() {
    let mut place = begun();
    place.turn(1, |p| {
        p.tool_does(".env", |p| copy(p, ".env", "x"));
        p.command(|p| remove(p, ".env"));
    });
    let (place, shown, said) = undone(place, 1, "x");
    assert_eq!((shown, said), (None, None));
    assert!(!place.at("x").exists());
    assert_eq!(place.read(".env"), SECRET);
}

#[test]
fn a_rejection_leaves_the_only_copy_and_says_so() {
    for by_hunk in [true, false] {
        let mut place = begun();
        place.turn(1, |p| {
            p.command(|p| {
                copy(p, ".env", "x");
                remove(p, ".env");
            });
        });
        let target = if by_hunk { place.hunk(0) } else { Target::File("x".into()) };
        let refused = place.decide(target, Verdict::Reject).unwrap_err().to_string();
        assert!(refused.contains(&words(".env")), "{refused}");
        assert_eq!(place.read("x"), SECRET);
    }
}

#[test]
fn what_an_undo_has_taken_while_it_was_a_copy_stays_once_it_is_the_only_one() {
    let mut place = begun();
    place.turn(1, |p| p.command(|p| copy(p, ".env", "x")));
    place.act(ReviewAction::Rewind { turn: 1 });
    assert!(!place.at("x").exists());
    place.act(ReviewAction::Undo);
    remove(&place, ".env");
    let (place, _, said) = undone(place, 1, "x");
    assert_eq!(said.as_deref(), Some(&*words(".env")));
    assert_eq!(place.read("x"), SECRET);
}

#[test]
fn an_archive_stays_that_may_have_what_is_gone_and_another_goes() {
    let tar = |name: &str| {
        let mut text = vec![0; 1024];
        text[..name.len()].copy_from_slice(name.as_bytes());
        text[257..262].copy_from_slice(b"ustar");
        text
    };
    let gzip = |text: &[u8]| {
        let mut out = Vec::new();
        let mut packer = flate2::write::GzEncoder::new(&mut out, flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, text).unwrap();
        drop(packer);
        out
    };
    let xz = b"\xfd7zXZ\0nobody looks into it";
    let texts = [
        (tar(".env"), true),
        (tar("other"), false),
        (gzip(&tar("x/.env")), true),
        (gzip(&tar("other")), false),
        (gzip(b"KEY=1\n"), true),
        (xz.to_vec(), true),
    ];
    for (text, stays) in texts {
        for gone in [true, false] {
            let mut place = begun();
            place.turn(1, |p| {
                p.command(|p| {
                    fs::write(p.at("bk"), &text).unwrap();
                    if gone {
                        remove(p, ".env");
                    }
                });
            });
            let (place, shown, said) = undone(place, 1, "bk");
            let words = "it may have the only copy of .env, which git ignored, in it";
            assert_eq!(said.as_deref(), (stays && gone).then_some(words));
            assert_eq!((shown, place.at("bk").exists()), (said, stays && gone));
        }
    }
}

#[test]
fn few_files_are_read_and_the_others_are_known_by_size_and_name() {
    let mut place = Place::empty();
    git_in(&place.at(""), &["init", "-q"]);
    place.write(".gitignore", "many/\n");
    for n in 0..2_100 {
        place.write(&format!("many/f{n:04}"), &format!("{n:04}\n"));
    }
    place.begin();
    place.turn(1, |p| {
        p.command(|p| {
            for n in 0..2_100 {
                copy(p, &format!("many/f{n:04}"), &format!("copy/f{n:04}"));
            }
            p.write("f", "size\n");
            remove(p, "many");
        });
    });
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    let left = done.rewound.iter().filter(|one| one.outcome == RewindOutcome::Failed).count();
    // Of one directory the first 1,000 names are remembered.
    assert_eq!((left, place.at("f").exists()), (1_000, false));
}

/// `.env` is gone, and that is said wherever the rest is.
fn is_named(review: &ReviewSession) {
    let gone = |lines: Vec<String>| lines.iter().any(|line| line.starts_with(".env: was ignored and is gone"));
    assert!(gone(review.uncovered()) && gone(review.gone_for_good()), "{:?}", review.uncovered());
}

#[test]
fn a_record_of_the_files_that_an_agent_removes_or_writes_over_is_written_once_more() {
    for (what, spoil) in [
        ("the manifest", (|store| fs::remove_file(store.join("manifest")).unwrap()) as fn(&Path)),
        ("its log", |store| fs::remove_file(store.join("log")).unwrap()),
        ("both", |store| ["manifest", "log"].iter().for_each(|name| fs::remove_file(store.join(name)).unwrap())),
        ("an empty one", |store| fs::write(store.join("manifest"), "").unwrap()),
    ] {
        let mut place = begun();
        place.turn(1, |p| p.client_writes("notes", "of the agent\n"));
        let store = place.review.dir().join(STORE);
        place.turn(2, |p| {
            p.command(|p| {
                remove(p, ".env");
                fs::write(p.at("other"), "of the agent\n").unwrap();
                spoil(&store);
            });
        });
        is_named(&place.review);
        let mut place = place.reopen();
        assert_eq!(place.review.trouble(), None, "{what}");
        is_named(&place.review);
        assert_eq!(place.act(ReviewAction::Rewind { turn: 1 }).rewound.len(), 2, "{what}");
        assert_eq!(place.read("notes"), "notes\n");
        // And what comes later is found by what was seen.
        place.turn(3, |p| p.command(|p| fs::write(p.at("third"), "3").unwrap()));
        assert!(place.review.log.histories().contains_key(Path::new("third")), "{what}");
    }
}

#[test]
fn without_the_record_of_the_files_a_look_is_no_new_beginning() {
    for (what, names) in
        [("the manifest", &["manifest"][..]), ("and what was ignored", &["manifest", "ignored", "ignored-inside"])]
    {
        let mut place = begun();
        place.turn(1, |p| {
            p.command(|p| {
                remove(p, ".env");
                fs::write(p.at("notes"), "of the agent\n").unwrap();
            });
        });
        let sign = "is gone from its record";
        let mut place = place.reopen_after(|dir| {
            for name in names {
                fs::remove_file(dir.join(STORE).join(name)).unwrap();
            }
        });
        for _ in 0..2 {
            let said = place.review.trouble().unwrap_or_default();
            assert!(said.contains(sign), "{what}: {said:?}");
            assert!(place.review.uncovered()[0].contains(sign), "{what}");
            if names.len() == 1 {
                is_named(&place.review);
            }
            // Another look at everything, as after a crash.
            place.turn(2, |_| {});
            place = place.reopen();
        }
        place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!(place.read("notes"), "notes\n", "{what}");
    }
}

#[test]
fn a_ledger_that_is_gone_is_said() {
    let mut place = begun();
    place.turn(1, |p| p.command(|p| fs::write(p.at("notes"), "of the agent\n").unwrap()));
    let place = place.reopen_after(|dir| {
        fs::remove_file(dir.join(LEDGER)).unwrap();
        fs::remove_file(dir.join(STORE).join("manifest")).unwrap();
        fs::remove_file(dir.join(STORE).join("ignored")).unwrap();
    });
    let said = place.review.trouble().unwrap_or_default();
    assert!(said.contains("its end is missing"), "{said:?}");
}

#[test]
fn what_was_ignored_by_rules_that_a_turn_cut_short_has_changed_is_not_new() {
    let mut place = begun();
    place.review.begin_turn(1).unwrap();
    place.write(".gitignore", "other\n");
    remove(&place, ".env");
    place.write(".env", "made anew\n");
    place.review.still_here();
    let mut place = place.reopen();
    let done = place.act(ReviewAction::Rewind { turn: 1 }).rewound;
    let of = |name: &str| done.iter().find(|one| one.path == Path::new(name)).map(|one| one.outcome);
    assert_eq!(of(".gitignore"), Some(RewindOutcome::Restored), "{done:?}");
    assert_eq!(of(".env"), Some(RewindOutcome::NotKept), "{done:?}");
    assert_eq!(place.read(".env"), "made anew\n");
}

/// Rules that hide two files and a directory, in a repository whose branch `other` has such ones all the same.
fn forced() -> Place {
    let place = Place::empty();
    git_in(&place.at(""), &["init", "-q", "-b", "main"]);
    place.write(".gitignore", "*.log\nbuild/\n");
    place.write("notes", "notes\n");
    git_in(&place.at(""), &["add", "-A"]);
    git_in(&place.at(""), &["commit", "-qm", "one"]);
    git_in(&place.at(""), &["checkout", "-qb", "other"]);
    place.write("a.log", "of the agent\n");
    place.write("build/gen.c", "of the agent\n");
    git_in(&place.at(""), &["add", "-Af"]);
    git_in(&place.at(""), &["commit", "-qm", "two"]);
    git_in(&place.at(""), &["checkout", "-q", "main"]);
    place
}

/// A command of the agent, and between its parts looks, as other calls of the agent set them off.
pub fn command_and_looks(place: &mut Place, parts: &[&dyn Fn(&Place)]) {
    place.entry += 1;
    let command = place.entry;
    place.note(ToolEffect::Runs, &[], Vec::new(), false);
    for part in parts {
        part(place);
        place.entry += 100;
        place.note(ToolEffect::Runs, &[], Vec::new(), false);
        place.note(ToolEffect::Runs, &[], Vec::new(), true);
    }
    place.entry = command;
    place.note(ToolEffect::Runs, &[], Vec::new(), true);
}

#[test]
fn a_new_file_that_is_tracked_although_ignored_is_taken_back_also_after_looks_while_it_was_only_ignored() {
    let stage = |p: &Place| git_in(&p.at(""), &["add", "-f", "a.log", "build/gen.c"]);
    let checks_out = |p: &Place| git_in(&p.at(""), &["reset", "-q", "other"]);
    let shows = |p: &Place| p.write(".gitignore", "nothing\n");
    type End<'a> = (&'a str, &'a dyn Fn(&Place));
    let ends: [End<'_>; 3] = [("add -f", &stage), ("checkout", &checks_out), ("rules", &shows)];
    for (what, end) in ends {
        let mut place = forced();
        place.begin();
        let makes = |p: &Place| {
            p.write("a.log", "of the agent\n");
            p.write("build/gen.c", "of the agent\n");
        };
        let goes_on = |p: &Place| p.write("build/gen.c", "of the agent, with more\n");
        place.turn(1, |p| command_and_looks(p, &[&makes, &goes_on, end]));
        let doc = place.doc(Scope::Session);
        let made = doc.files.iter().filter(|file| file.change == FileChange::Created).map(|file| &*file.path);
        assert_eq!(made.collect::<Vec<_>>(), [Path::new("a.log"), Path::new("build/gen.c")], "{what}");
        assert!(!doc.uncovered.iter().any(|line| line.contains("not kept")), "{what}: {:?}", doc.uncovered);
        let mut place = place.reopen();
        place.act(ReviewAction::Rewind { turn: 1 });
        assert!(!place.at("a.log").exists() && !place.at("build/gen.c").exists(), "{what}");
        place.act(ReviewAction::Undo);
        assert_eq!(place.read("build/gen.c"), "of the agent, with more\n", "{what}");
    }
}

/// Writes a file as editors do: another one comes into its place.
fn writes_anew(p: &Place, name: &str) {
    p.write("by-editor.log", &format!("{}of the agent\n", p.read(name)));
    fs::rename(p.at("by-editor.log"), p.at(name)).unwrap();
}

#[test]
fn what_was_ignored_before_the_turn_is_not_taken_for_new_whatever_becomes_of_it_between_looks() {
    type Act = &'static dyn Fn(&Place);
    let nothing: Act = &|_| {};
    let makes: Act = &|p| {
        p.write("mine.log", "of the person\n");
        p.write("build/mine", "of the person\n");
    };
    let adds: Act = &|p| p.write("mine.log", &format!("{}of the agent\n", p.read("mine.log")));
    let anew: Act = &|p| writes_anew(p, "mine.log");
    let anew_inside: Act = &|p| writes_anew(p, "build/mine");
    let moves: Act = &|p| fs::rename(p.at("mine.log"), p.at("moved.log")).unwrap();
    let moves_dir: Act = &|p| {
        fs::create_dir(p.at("sub")).unwrap();
        fs::rename(p.at("build"), p.at("sub/build")).unwrap();
    };
    let anew_in_moved: Act = &|p| writes_anew(p, "sub/build/mine");
    let removes: Act = &|p| fs::remove_file(p.at("mine.log")).unwrap();
    let again: Act = &|p| p.write("mine.log", "of the agent\n");
    let hides_all: Act = &|p| {
        fs::create_dir(p.at("sub")).unwrap();
        fs::rename(p.at("mine.log"), p.at("sub/mine.log")).unwrap();
        p.write(".gitignore", "sub/\n*.log\n");
    };
    let shows: Act = &|p| fs::rename(p.at("mine.log"), p.at("plain.txt")).unwrap();
    let shows_anew: Act = &|p| writes_anew(p, "plain.txt");
    let shows_dir: Act = &|p| fs::rename(p.at("build"), p.at("built")).unwrap();
    let cases: [(&str, &[Act], &str); 11] = [
        ("is moved to where it is not hidden", &[shows], "plain.txt"),
        ("is moved to where it is not hidden and written anew", &[shows, shows_anew], "plain.txt"),
        ("is moved to where it is not hidden with its directory", &[shows_dir], "built/mine"),
        ("is left as it was", &[nothing], "build/mine"),
        ("is added to", &[adds], "mine.log"),
        ("is written anew", &[anew], "mine.log"),
        ("is written anew in a directory", &[anew_inside], "build/mine"),
        ("is moved", &[moves], "moved.log"),
        ("is moved with its directory and written anew", &[moves_dir, anew_in_moved], "sub/build/mine"),
        ("goes and comes", &[removes, again], "mine.log"),
        ("is moved to where more is hidden", &[hides_all], "sub/mine.log"),
    ];
    for (what, acts, name) in cases {
        // At the first look, between that and the turn, between two turns.
        for made in 0..3 {
            let mut place = forced();
            for at in 0..3 {
                if at == made {
                    makes(&place);
                }
                match at {
                    0 => place.begin(),
                    1 => drop(place.turn(1, |p| p.command(|p| p.write("notes", "of the agent\n")))),
                    _ => {}
                }
            }
            let stage = |p: &Place| git_in(&p.at(""), &["add", "-f", name]);
            let parts: Vec<&dyn Fn(&Place)> = acts.iter().map(|act| *act as _).chain([&stage as _]).collect();
            place.turn(2, |p| command_and_looks(p, &parts));
            let is = place.read(name);
            let doc = place.doc(Scope::Session);
            let of_name = || doc.files.iter().filter(|file| file.path == Path::new(name));
            // What came since the first look is new, and in doubt; of what was there before nobody knows what it was.
            let is_right = |file: &FileDoc| (made > 0 || file.change != FileChange::Created) && file.note.is_some();
            assert!(of_name().all(|file| is_right(file)), "{what}, made {made}: {doc:?}");
            let is_shown = made > 0 && !name.contains("log") && !name.contains("build/");
            let mut place = place.reopen();
            place.act(ReviewAction::Rewind { turn: 1 });
            // What the agent has added once it was seen is taken back.
            let is_seen = is_shown && what.ends_with("and written anew");
            let left = if is_seen { "of the person\n" } else { &is };
            assert_eq!(place.read(name), left, "{what}, made {made}");
        }
    }
}

#[test]
fn what_was_ignored_before_the_turn_and_is_moved_over_a_file_stays_beside_it() {
    for made in 0..2 {
        let mut place = forced();
        place.write("notes", "of the person, too\n");
        place.begin();
        if made == 1 {
            place.turn(1, |p| p.command(|p| p.write("other", "of the agent\n")));
        }
        place.write("mine.log", "of the person\n");
        place.turn(2, |p| p.command(|p| fs::rename(p.at("mine.log"), p.at("notes")).unwrap()));
        let mut place = place.reopen();
        place.act(ReviewAction::Rewind { turn: 2 });
        assert_eq!(place.read("notes"), "of the person, too\n", "made {made}");
        let names = fs::read_dir(place.at("")).unwrap().map(|one| one.unwrap().path());
        let saved = names.filter(|path| path.to_string_lossy().contains("notes.saved-"));
        assert_eq!(saved.map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>(), ["of the person\n"]);
    }
}

#[test]
fn what_was_ignored_before_the_turn_and_is_shown_now_has_all_its_lines_and_is_left_by_an_undo() {
    let by_agent: fn(&mut Place) = |p| {
        p.turn(1, |p| {
            p.command(|p| {
                fs::create_dir_all(p.at("build")).unwrap();
                p.write("build/e", "one\ntwo\n");
            });
        });
    };
    let by_person: fn(&mut Place) = |p| {
        fs::create_dir_all(p.at("build")).unwrap();
        p.write("build/e", "one\ntwo\n");
    };
    for (what, makes) in [("by the agent", by_agent), ("by the person", by_person)] {
        let mut place = forced();
        place.begin();
        makes(&mut place);
        place.turn(2, |p| p.command(|p| fs::rename(p.at("build/e"), p.at("run.sh")).unwrap()));
        let doc = place.doc(Scope::Session);
        let file = doc.files.iter().find(|file| file.path == Path::new("run.sh")).unwrap();
        assert_eq!((file.change, file.added), (FileChange::Created, 2), "{what}");
        let mut place = place.reopen();
        let done = place.act(ReviewAction::Rewind { turn: 2 });
        assert_eq!(place.read("run.sh"), "one\ntwo\n", "{what}: {:?}", done.rewound);
    }
}

/// What git tracks although its rules hide it, in a repository below the session's directory.
#[test]
fn what_an_index_below_names_is_looked_at_whatever_rules_hide() {
    for with_own in [true, false] {
        let mut place = Place::empty();
        if with_own {
            git_in(&place.at(""), &["init", "-q"]);
        }
        fs::create_dir_all(place.at("sub/dist")).unwrap();
        git_in(&place.at("sub"), &["init", "-q"]);
        place.write("sub/.gitignore", "dist/\n*.log\n");
        for name in ["sub/dist/app.js", "sub/dist/gone.js"] {
            place.write(name, "of the person\n");
        }
        place.write("sub/dist/free.js", "not tracked\n");
        git_in(&place.at("sub"), &["add", "-f", ".gitignore", "dist/app.js", "dist/gone.js"]);
        git_in(&place.at("sub"), &["commit", "-qm", "one"]);
        place.begin();
        place.turn(1, |p| {
            p.command(|p| {
                p.write("sub/dist/app.js", "of the agent\n");
                remove(p, "sub/dist/gone.js");
                p.write("sub/e.log", "of the agent\n");
                git_in(&p.at("sub"), &["add", "-f", "e.log"]);
            });
        });
        let doc = place.doc(Scope::Session);
        let found: Vec<_> = doc.files.iter().map(|file| (&*file.path, file.change)).collect();
        let wanted = [
            (Path::new("sub/dist/app.js"), FileChange::Modified),
            (Path::new("sub/dist/gone.js"), FileChange::Deleted),
            (Path::new("sub/e.log"), FileChange::Created),
        ];
        assert_eq!(found, wanted, "own: {with_own}");
        let mut place = place.reopen();
        place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!(place.read("sub/dist/app.js"), "of the person\n");
        assert_eq!(place.read("sub/dist/gone.js"), "of the person\n");
        assert!(!place.at("sub/e.log").exists());
    }
}
