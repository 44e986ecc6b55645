//! What is left when the person's repository is harmed, or lies.

use super::tests::{Place, git_in, lines};
use super::*;
use crate::model::changes::{ReviewAction, RewindOutcome};
use crate::review::report::json;
use crate::review::report::patch;
use crate::review::snapshot::preserve::Share;
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::Duration;

const RESTORED: RewindOutcome = RewindOutcome::Restored;
const NOT_KEPT: RewindOutcome = RewindOutcome::NotKept;
const AT_RISK: &str = "only in your repository's .git: if that is harmed";

/// As the thread of the review does it after the first look.
fn keep(place: &mut Place) {
    assert!(!place.review.keep_theirs(Share::until(Instant::now() + Duration::from_hours(1))));
}

fn git(place: &Place, args: &[&str]) {
    git_in(&place.at(""), args);
}

/// Three files, committed; `packed` or not.
fn committed(packed: bool) -> Place {
    let place = Place::empty();
    git(&place, &["init", "-q"]);
    fill(&place, packed);
    place
}

fn fill(place: &Place, packed: bool) {
    for name in ["a", "b", "c"] {
        place.write(name, &format!("{name}\n{}", lines(50)));
    }
    git(place, &["add", "-A"]);
    git(place, &["commit", "-qm", "one"]);
    if packed {
        git(place, &["gc", "-q"]);
    }
}

fn gone(place: &Place, names: &[&str]) {
    for name in names {
        let path = place.at(name);
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.unwrap();
    }
}

/// One command that changes two files, removes the third and does `harm`; then a new process takes it back.
fn taken_back(mut place: Place, harm: impl FnOnce(&Place)) -> (Place, Vec<RewindOutcome>) {
    place.turn(1, |p| {
        p.command(|p| {
            p.write("a", "agent\n");
            p.write("b", "agent\n");
            gone(p, &["c"]);
            harm(p);
        });
    });
    let mut place = place.reopen();
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(done.rewound.len(), 3, "{:?}", done.rewound);
    let outcomes = done.rewound.iter().map(|one| one.outcome).collect();
    (place, outcomes)
}

fn is_as_before(place: &Place) -> bool {
    ["a", "b", "c"].iter().all(|name| place.at(name).exists() && place.read(name) == format!("{name}\n{}", lines(50)))
}

fn said(place: &Place) -> String {
    place.review.uncovered().join("\n")
}

#[test]
fn a_command_that_removes_git_with_the_files_is_taken_back() {
    for packed in [true, false] {
        let mut place = committed(packed);
        place.begin();
        assert!(said(&place).contains(&format!("3 files are {AT_RISK}")), "{}", said(&place));
        keep(&mut place);
        assert_eq!(said(&place), "");
        let (place, outcomes) = taken_back(place, |p| gone(p, &[".git"]));
        assert_eq!(outcomes, [RESTORED; 3], "packed: {packed}");
        assert!(is_as_before(&place));
        let lost = "git has lost this since it was seen first, or has it otherwise (`git gc` does that, too): .git";
        assert_eq!(said(&place), lost);
    }
}

#[test]
fn what_was_ignored_and_can_be_taken_back_is_not_called_lost() {
    let mut place = Place::empty();
    git(&place, &["init", "-q"]);
    place.write(".gitignore", "build/\n.env\n");
    for name in [".env", "build/named", "build/other"] {
        place.write(name, "of the person\n");
    }
    place.begin();
    keep(&mut place);
    place.turn(1, |p| {
        p.client_writes(".env", "agent\n");
        p.tool_does("build/named", |p| fs::write(p.at("build/named"), "agent\n").unwrap());
        p.command(|p| gone(p, &[".env", "build/named", "build/other"]));
    });
    let lost = "build/: other was ignored and is gone, which cannot be taken back";
    assert_eq!(said(&place), format!("build/ (ignored)\n{lost}"));
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!((place.read(".env"), place.read("build/named")), ("of the person\n".into(), "of the person\n".into()));
}

#[test]
fn a_command_that_amends_and_collects_garbage_is_taken_back() {
    for packed in [true, false] {
        let mut place = committed(packed);
        place.begin();
        keep(&mut place);
        let (place, outcomes) = taken_back(place, |p| {
            git(p, &["add", "-A"]);
            git(p, &["commit", "-q", "--amend", "-m", "x"]);
            git(p, &["reflog", "expire", "--expire=now", "--all"]);
            git(p, &["gc", "-q", "--prune=now"]);
        });
        assert_eq!(outcomes, [RESTORED; 3], "packed: {packed}");
        assert!(is_as_before(&place));
    }
}

#[test]
fn what_a_clone_borrows_from_another_repository_is_kept_too() {
    for packed in [true, false] {
        let other = committed(packed);
        let mut place = Place::empty();
        git(&place, &["clone", "-q", "--shared", other.at("").to_str().unwrap(), "."]);
        place.begin();
        keep(&mut place);
        let (place, outcomes) = taken_back(place, |p| gone(p, &[".git"]));
        // The other one is still there, and not asked.
        assert_eq!(outcomes, [RESTORED; 3]);
        drop(place);
        let mut place = Place::empty();
        git(&place, &["clone", "-q", "--shared", other.at("").to_str().unwrap(), "."]);
        place.begin();
        keep(&mut place);
        let (place, outcomes) = taken_back(place, |_| gone(&other, &[".git"]));
        assert_eq!(outcomes, [RESTORED; 3]);
        assert!(is_as_before(&place));
    }
}

#[test]
fn what_a_linked_worktree_has_elsewhere_is_kept_too() {
    let other = committed(true);
    let mut place = Place::empty();
    git(&other, &["worktree", "add", "-q", "--detach", place.at("").to_str().unwrap()]);
    place.begin();
    keep(&mut place);
    let (place, outcomes) = taken_back(place, |_| gone(&other, &[".git"]));
    assert_eq!(outcomes, [RESTORED; 3]);
    assert!(is_as_before(&place));
}

#[test]
fn where_links_are_refused_copies_are_kept() {
    for packed in [true, false] {
        let mut place = committed(packed);
        place.review.files.snapshot.objects.preserved.refuse_links(1 << 20);
        place.begin();
        keep(&mut place);
        assert_eq!(said(&place), "");
        let (place, outcomes) = taken_back(place, |p| gone(p, &[".git"]));
        assert_eq!(outcomes, [RESTORED; 3]);
        assert!(is_as_before(&place));
    }
}

#[test]
fn what_there_is_no_room_to_copy_is_counted_and_said_also_by_another_process() {
    let mut place = committed(true);
    // For two of the three.
    place.review.files.snapshot.objects.preserved.refuse_links(2 * format!("a\n{}", lines(50)).len() as u64);
    place.begin();
    keep(&mut place);
    assert_eq!(said(&place), format!("1 file is {AT_RISK}, it cannot be taken back"));
    let place = place.reopen();
    assert_eq!(said(&place), format!("1 file is {AT_RISK}, it cannot be taken back"));
    let (_, mut outcomes) = taken_back(place, |p| gone(p, &[".git"]));
    outcomes.sort_by_key(|outcome| *outcome == NOT_KEPT);
    assert_eq!(outcomes, [RESTORED, RESTORED, NOT_KEPT]);
}

#[test]
fn copies_that_were_begun_count_when_the_repository_is_harmed() {
    let mut place = committed(true);
    place.review.files.snapshot.objects.preserved.refuse_links(1 << 20);
    place.begin();
    // Nothing is finished between two slices.
    for _ in 0..3 {
        assert!(place.review.keep_theirs(Share::until(Instant::now())));
    }
    let (place, outcomes) = taken_back(place, |p| gone(p, &[".git"]));
    assert_eq!(outcomes, [RESTORED; 3]);
    assert!(is_as_before(&place));
}

/// The loose object of a file.
fn loose(place: &Place, name: &str) -> PathBuf {
    let oid = crate::review::snapshot::packs::hash(place.read(name).as_bytes()).unwrap();
    crate::review::snapshot::alternates::loose_path(&place.at(".git/objects"), &oid)
}

/// Ten files whose contents are loose objects.
fn ten() -> Place {
    let mut place = Place::empty();
    git(&place, &["init", "-q"]);
    for n in 0..10 {
        place.write(&format!("f{n}"), &format!("{n}\n{}", lines(9)));
    }
    git(&place, &["add", "-A"]);
    git(&place, &["commit", "-qm", "one"]);
    place.begin();
    place
}

/// Nine files are reported, patched and taken back; the tenth, `f3`, is named.
fn all_but_one(mut place: Place) {
    for _ in 0..2 {
        let report: Value = serde_json::from_reader(json::report(&mut place.review, &[]).unwrap()).unwrap();
        assert_eq!(report["files"].as_array().unwrap().len(), 10);
        assert!(report["files"].as_array().unwrap().iter().all(|f| f["added"] == 1 || f["path"] == "f3"), "{report}");
        let uncovered = report["not_covered"].to_string();
        assert!(uncovered.contains("f3: what it was before is not kept"), "{uncovered}");
        let text = std::io::read_to_string(patch::export(&mut place.review, Scope::Session).unwrap()).unwrap();
        assert_eq!(text.matches("+++ b/").count(), 9);
        assert!(text.starts_with("# not in this patch, its content was not kept: f3\n"), "{text}");
        assert_eq!(place.review.totals().unwrap().files, 10);
        place = place.reopen();
    }
    for action in [ReviewAction::PreviewRewind { turn: 1 }, ReviewAction::Rewind { turn: 1 }] {
        let done = place.act(action);
        for one in &done.rewound {
            let expected = if one.path == Path::new("f3") { NOT_KEPT } else { RESTORED };
            assert_eq!(one.outcome, expected, "{}", one.path.display());
        }
        assert_eq!(done.rewound.len(), 10);
    }
    assert_eq!(place.read("f3"), "agent\n", "nothing forged is written");
    assert_eq!(place.read("f4"), format!("4\n{}", lines(9)));
}

#[test]
fn one_forged_object_of_the_persons_takes_no_other_file_along() {
    let mut place = ten();
    place.turn(1, |p| {
        p.command(|p| {
            fs::copy(loose(p, "f5"), p.at("forged")).unwrap();
            fs::rename(p.at("forged"), loose(p, "f3")).unwrap();
            (0..10).for_each(|n| p.write(&format!("f{n}"), "agent\n"));
        });
    });
    all_but_one(place);
}

#[test]
fn an_object_that_is_damaged_in_place_after_it_was_kept_takes_no_other_file_along() {
    let mut place = ten();
    keep(&mut place);
    place.turn(1, |p| {
        p.command(|p| {
            let path = loose(p, "f3");
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
            fs::write(&path, "damaged").unwrap();
            (0..10).for_each(|n| p.write(&format!("f{n}"), "agent\n"));
        });
    });
    all_but_one(place);
}

#[test]
fn an_object_that_is_exchanged_after_it_was_kept_harms_nothing() {
    let mut place = ten();
    keep(&mut place);
    place.turn(1, |p| {
        p.command(|p| {
            fs::copy(loose(p, "f5"), p.at("forged")).unwrap();
            fs::rename(p.at("forged"), loose(p, "f3")).unwrap();
            (0..10).for_each(|n| p.write(&format!("f{n}"), "agent\n"));
        });
    });
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert!(done.rewound.iter().all(|one| one.outcome == RESTORED), "{:?}", done.rewound);
    assert_eq!(place.read("f3"), format!("3\n{}", lines(9)));
}

#[test]
fn an_object_that_was_damaged_before_the_first_look_is_kept_from_the_file() {
    let mut place = Place::empty();
    git(&place, &["init", "-q"]);
    fill(&place, false);
    fs::copy(loose(&place, "b"), place.at(".git/forged")).unwrap();
    fs::rename(place.at(".git/forged"), loose(&place, "a")).unwrap();
    place.begin();
    keep(&mut place);
    let (place, outcomes) = taken_back(place, |_| {});
    assert_eq!(outcomes, [RESTORED; 3]);
    assert!(is_as_before(&place));
}

#[test]
fn damage_in_one_of_our_own_packs_takes_no_other_file_along() {
    let place = Place::empty();
    for n in 0..10 {
        place.write(&format!("f{n}"), &format!("{n}\n{}", lines(9)));
    }
    let mut place = place;
    place.begin();
    place.turn(1, |p| p.command(|p| (0..10).for_each(|n| p.write(&format!("f{n}"), "agent\n"))));
    let oid = crate::review::snapshot::packs::hash(format!("3\n{}", lines(9)).as_bytes()).unwrap();
    let (path, at) = place.review.files.snapshot.objects.own.place(&oid).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[at as usize + 8] ^= 0xff;
    fs::write(&path, bytes).unwrap();
    all_but_one(place.reopen());
}

#[test]
fn damage_to_what_is_still_on_the_disk_is_mended_from_there() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    place.turn(1, |p| p.command(|p| p.write("a", "agent\n")));
    let oid = crate::review::snapshot::packs::hash(b"agent\n").unwrap();
    let (path, at) = place.review.files.snapshot.objects.own.place(&oid).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[at as usize + 4] ^= 0xff;
    fs::write(&path, bytes).unwrap();
    let mut place = place.reopen();
    let doc = place.doc(Scope::Session);
    assert_eq!((doc.totals.added, doc.totals.removed), (1, 1));
    assert_eq!(doc.uncovered, Vec::<String>::new());
}

#[test]
fn a_pack_that_cannot_be_read_while_a_command_runs_is_asked_again() {
    let mut place = committed(true);
    place.begin();
    keep(&mut place);
    let names = place.at(".git/objects/pack").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let pack = names.into_iter().find(|path| path.extension().is_some_and(|e| e == "pack")).unwrap();
    fs::set_permissions(&pack, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let whole = fs::read(&pack).unwrap();
    place.turn(1, |p| {
        p.command(|p| {
            fs::write(&pack, "").unwrap();
            p.write("a", "agent\n");
            p.write("b", "agent\n");
            // The same content elsewhere: as long as nothing else has it, it stays.
            fs::rename(p.at("c"), p.at("d")).unwrap();
        });
    });
    let kept = place.at("d");
    let mut place = place.reopen();
    let done = place.act(ReviewAction::PreviewRewind { turn: 1 });
    let not_kept = done.rewound.iter().filter(|one| one.outcome == NOT_KEPT).count();
    assert_eq!(not_kept, 2, "{:?}", done.rewound);
    assert!(kept.exists());
    fs::write(&pack, &whole).unwrap();
    let mut place = place.reopen();
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert!(done.rewound.iter().all(|one| one.outcome == RESTORED || one.path == Path::new("d")), "{:?}", done.rewound);
    assert!(is_as_before(&place) && !kept.exists());
}

#[test]
fn pipes_devices_and_endless_chains_among_the_persons_objects_stop_nothing() {
    let pipe = |path: PathBuf| {
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let endless = |path: PathBuf| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    for early in [true, false] {
        let mut place = committed(false);
        let (first, second) = (loose(&place, "a"), loose(&place, "b"));
        let pack = place.at(".git/objects/pack");
        let harm = move || {
            pipe(first);
            pipe(pack.join("pack-1.idx"));
            fs::write(pack.join("pack-1.pack"), "").unwrap();
            endless(pack.join("pack-2.idx"));
            endless(pack.join("pack-2.pack"));
            fs::write(pack.join("pack-3.idx"), [0; 2000]).unwrap();
            pipe(pack.join("pack-3.pack"));
            endless(pack.join("multi-pack-index"));
        };
        let later = if early {
            harm();
            None
        } else {
            Some(harm)
        };
        place.begin();
        keep(&mut place);
        let (place, outcomes) = taken_back(place, |_| {
            pipe(second);
            if let Some(harm) = later {
                harm();
            }
        });
        assert_eq!(outcomes, [RESTORED; 3]);
        assert!(is_as_before(&place));
    }
    for alternates in ["pipe", "zero", "self", "chain"] {
        let place = committed(true);
        let objects = place.at(".git/objects");
        let path = objects.join("info/alternates");
        match alternates {
            "pipe" => pipe(path),
            "zero" => endless(path),
            "self" => fs::write(path, "../objects\n.\n").unwrap(),
            _ => {
                let far = place.at(".git/far");
                for n in 0..500 {
                    let info = far.join(n.to_string()).join("info");
                    fs::create_dir_all(&info).unwrap();
                    fs::write(info.join("alternates"), format!("{}\n", far.join((n + 1).to_string()).display()))
                        .unwrap();
                }
                fs::write(path, format!("{}\n", far.join("0").display())).unwrap();
            }
        }
        let oid = crate::review::snapshot::packs::hash(place.read("a").as_bytes()).unwrap();
        let theirs =
            crate::review::snapshot::alternates::Alternates::open(&place.at("none"), &[objects], &Arc::default());
        assert_eq!(theirs.read(&oid).unwrap(), place.read("a").as_bytes(), "{alternates}");
        assert_eq!(theirs.read(&crate::review::state::Oid([7; 20])), None);
    }
}
