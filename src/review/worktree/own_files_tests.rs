//! The client's own files in the middle of the tree: in no snapshot, no change and no undo.

use super::*;
use crate::model::changes::{ReviewAction, RewindOutcome, Rewound, Scope};
use crate::model::ids::EntryId;
use crate::review::archive;
use crate::review::dir::{HEAD, LEDGER};
use crate::review::protocol::{SessionInfo, ToolEffect, ToolNote};
use crate::review::session::ReviewSession;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Instant;
use tempfile::TempDir;

/// An object of git's.
const LOOSE: &str = "objects/aa/0123456789abcdef0123456789abcdef012345";
const STATE: &str = ".local/state/acp-tui";

struct Place {
    _temp: TempDir,
    root: PathBuf,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("ws");
        fs::create_dir(&root).unwrap();
        Self { _temp: temp, root }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    fn head(&self, private: Vec<PathBuf>) -> SessionInfo {
        SessionInfo { stem: "1-2-3".into(), cwd: self.root.clone(), command: "agent".into(), started: 1, private }
    }

    /// A review whose state lies in the tree, after its first look.
    fn review(&self, more: &[&str]) -> ReviewSession {
        let state = self.root.join(STATE);
        let private = archive::private(&state).into_iter().chain(more.iter().map(|name| self.root.join(name)));
        let mut review = ReviewSession::create(&archive::below(&state), self.head(private.collect())).unwrap();
        review.session("s", 1, "agent").unwrap();
        review.first_look().unwrap();
        review
    }
}

fn turn(review: &mut ReviewSession, what: impl FnOnce(&mut ReviewSession)) {
    review.begin_turn(1).unwrap();
    what(review);
    review.end_turn(1).unwrap();
}

/// A call that says what it edits.
fn names(review: &mut ReviewSession, paths: &[PathBuf], finished: bool) {
    let note = ToolNote {
        entry: EntryId(1),
        turn: None,
        doing: ToolEffect::Edits,
        at: Instant::now(),
        finished,
        waits: false,
        paths: paths.to_vec(),
        claims: Vec::new(),
    };
    review.tool(&note).unwrap();
}

fn changed(review: &mut ReviewSession) -> Vec<String> {
    let changed = review.changed(Scope::Session).unwrap();
    changed.iter().map(|one| one.path.to_str().unwrap().to_owned()).collect()
}

fn rewind(review: &mut ReviewSession) -> Vec<Rewound> {
    review.act(&ReviewAction::Rewind { turn: 1 }).unwrap().rewound
}

fn all(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { open.push(path) } else { found.push((path.clone(), fs::read(path).unwrap())) }
        }
    }
    found.sort();
    found
}

#[test]
fn a_state_directory_in_the_tree_is_never_the_agents_work() {
    let place = Place::new();
    place.write("f1", "one\n");
    let journal = place.write(&format!("{STATE}/sessions/1-2-3.jsonl"), "begun\n");
    let mut review = place.review(&[]);
    let ledger = review.dir().join(LEDGER);
    turn(&mut review, |review| {
        names(review, &[place.root.join("f1"), ledger.clone(), place.root.join(STATE), journal.clone()], false);
        place.write("f1", "changed\n");
        place.write(&format!("{STATE}/sessions/1-2-3.jsonl"), "begun\nwent on\n");
        place.write(&format!("{STATE}/crashes/report.txt"), "it fell\n");
        place.write(&format!("{STATE}/review/other/ledger.jsonl"), "of another session\n");
        names(review, std::slice::from_ref(&ledger), true);
    });
    assert_eq!(changed(&mut review), ["f1"]);
    let packs = all(&place.root.join(STATE).join("review/1-2-3/store/objects"));
    assert_eq!(rewind(&mut review), [Rewound { path: "f1".into(), outcome: RewindOutcome::Restored, remark: None }]);
    assert_eq!(place.read("f1"), "one\n");
    assert!(packs.iter().all(|(path, bytes)| fs::read(path).unwrap() == *bytes), "a pack has changed");
    // And there again.
    review.act(&ReviewAction::Undo).unwrap();
    assert_eq!(place.read("f1"), "changed\n");
    assert_eq!(place.read(&format!("{STATE}/sessions/1-2-3.jsonl")), "begun\nwent on\n");
    let said = review.uncovered();
    let own: Vec<_> = said.iter().filter(|line| line.contains("acp-tui")).collect();
    assert_eq!((said.len(), own.len()), (1, 1), "{said:?}");
    assert!(own[0].contains(&format!("{STATE}/review")) && own[0].contains(&format!("{STATE}/sessions")), "{own:?}");
}

#[test]
fn a_crash_in_the_turn_changes_nothing_of_that() {
    let place = Place::new();
    place.write("f1", "one\n");
    let mut review = place.review(&[]);
    let dir = review.dir().to_owned();
    review.begin_turn(1).unwrap();
    place.write("f1", "changed\n");
    place.write(&format!("{STATE}/crashes/report.txt"), "it fell\n");
    drop(review);
    let mut review = ReviewSession::open(&dir).unwrap();
    assert_eq!(changed(&mut review), ["f1"]);
}

#[test]
fn files_that_the_client_was_asked_to_write_are_its_own() {
    let place = Place::new();
    for name in ["r.json", "out/p.patch", "out/kept", "record"] {
        place.write(name, "the person's\n");
    }
    let mut review = place.review(&["r.json", "out/p.patch", "record", "not-yet.json"]);
    let dir = review.dir().to_owned();
    let change =
        |text: &str| ["r.json", "out/p.patch", "out/kept", "record", "not-yet.json"].map(|n| place.write(n, text));
    turn(&mut review, |review| {
        let paths = change("x\n");
        names(review, &paths, true);
    });
    assert_eq!(changed(&mut review), ["out/kept"]);
    drop(review);
    // No setting names them any more.
    let mut review = ReviewSession::open(&dir).unwrap();
    change("y\n");
    assert_eq!(changed(&mut review), ["out/kept"]);
    let rewound = rewind(&mut review);
    assert_eq!(rewound.iter().map(|one| one.path.to_str().unwrap()).collect::<Vec<_>>(), ["out/kept"]);
    assert_eq!(place.read("r.json"), "y\n");
}

#[test]
fn what_git_tracks_of_them_is_left_out_as_well() {
    let place = Place::new();
    place.write("f1", "one\n");
    place.write("r.json", "{}\n");
    place.write(&format!("{STATE}/sessions/old.jsonl"), "old\n");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(&place.root).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
        assert!(git.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-Af"]);
    git(&["commit", "-qm", "one"]);
    let mut review = place.review(&["r.json"]);
    turn(&mut review, |_| {
        place.write("f1", "changed\n");
        place.write("r.json", "{1}\n");
        place.write(&format!("{STATE}/sessions/old.jsonl"), "gone on\n");
        git(&["add", "-Af"]);
    });
    assert_eq!(changed(&mut review), ["f1"]);
    rewind(&mut review);
    assert_eq!((place.read("f1").as_str(), place.read("r.json").as_str()), ("one\n", "{1}\n"));
}

#[test]
fn a_session_that_took_them_for_the_agents_work_no_longer_does() {
    let place = Place::new();
    place.write("f1", "one\n");
    place.write("st/review/x", "x\n");
    // As an earlier version did: it knows of nothing that is its own.
    let outside = place.root.parent().unwrap().join("review");
    let mut review = ReviewSession::create(&outside, place.head(Vec::new())).unwrap();
    review.session("s", 1, "agent").unwrap();
    review.first_look().unwrap();
    turn(&mut review, |_| {
        place.write("f1", "changed\n");
        place.write("st/review/x", "changed\n");
    });
    assert_eq!(changed(&mut review), ["f1", "st/review/x"]);
    drop(review);
    let dir = place.root.join("st/review/1-2-3");
    fs::rename(outside.join("1-2-3"), &dir).unwrap();
    let mut review = ReviewSession::open(&dir).unwrap();
    assert_eq!(changed(&mut review), ["f1"]);
    assert_eq!(rewind(&mut review), [Rewound { path: "f1".into(), outcome: RewindOutcome::Restored, remark: None }]);
    assert_eq!(place.read("st/review/x"), "changed\n");
    review.act(&ReviewAction::Undo).unwrap();
    assert_eq!(place.read("f1"), "changed\n");
}

#[test]
fn a_decision_about_them_that_was_made_earlier_is_not_taken_back() {
    let place = Place::new();
    place.write("st/review/x", "x\n");
    let outside = place.root.parent().unwrap().join("review");
    let mut review = ReviewSession::create(&outside, place.head(Vec::new())).unwrap();
    review.session("s", 1, "agent").unwrap();
    review.first_look().unwrap();
    turn(&mut review, |_| {
        place.write("st/review/x", "changed\n");
    });
    rewind(&mut review);
    drop(review);
    let dir = place.root.join("st/review/1-2-3");
    fs::rename(outside.join("1-2-3"), &dir).unwrap();
    let mut review = ReviewSession::open(&dir).unwrap();
    review.act(&ReviewAction::Undo).map(drop).unwrap_or_default();
    assert_eq!(place.read("st/review/x"), "x\n");
}

#[test]
fn a_session_inside_the_state_directory_is_covered() {
    let place = Place::new();
    let state = place.root.parent().unwrap().to_owned();
    place.write("f1", "one\n");
    let mut review = ReviewSession::create(&archive::below(&state), place.head(archive::private(&state))).unwrap();
    review.first_look().unwrap();
    turn(&mut review, |_| {
        place.write("f1", "changed\n");
    });
    assert_eq!((changed(&mut review), review.uncovered()), (vec!["f1".to_owned()], Vec::new()));
}

#[test]
fn a_session_in_what_is_the_clients_own_covers_nothing_and_says_so() {
    let place = Place::new();
    let home = place.root.parent().unwrap().to_owned();
    place.write("f1", "one\n");
    let mut review = ReviewSession::create(&home, place.head(Vec::new())).unwrap();
    review.first_look().unwrap();
    turn(&mut review, |_| {
        place.write("f1", "changed\n");
    });
    assert!(changed(&mut review).is_empty());
    assert!(review.uncovered().iter().any(|line| line.contains("nothing in it is covered")));
}

#[test]
fn nobody_else_can_look_into_what_is_kept() {
    let place = Place::new();
    place.write("f1", "one\n");
    let state = place.root.join(STATE);
    for dir in [archive::below(&state), state.clone()] {
        fs::create_dir_all(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    }
    archive::secure(&state).unwrap();
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        place.write("f1", "changed\n");
    });
    rewind(&mut review);
    drop(review);
    drop(ReviewSession::open(&archive::below(&state).join("1-2-3")).unwrap());
    let (mut open, mut seen) = (vec![state], 0);
    while let Some(path) = open.pop() {
        let mode = path.symlink_metadata().unwrap().permissions().mode() & 0o7777;
        let most = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode & !most, 0, "{mode:o} {path:?}");
        seen += 1;
        open.extend(fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()));
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn the_head_of_a_review_keeps_their_bytes() {
    let place = Place::new();
    let odd = place.root.join(OsStr::from_bytes(b"odd \xff\n name"));
    let review = ReviewSession::create(&archive::below(&place.root), place.head(vec![odd.clone()])).unwrap();
    assert_eq!(archive::head(review.dir()).unwrap().private, [odd]);
    // Of a version that had no such list.
    let path = review.dir().join(HEAD);
    let mut head: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    head.as_object_mut().unwrap().remove("private");
    fs::write(&path, head.to_string()).unwrap();
    assert_eq!(archive::head(review.dir()).unwrap().private, [""; 0].map(PathBuf::from));
}

#[test]
fn git_under_another_name_is_left_alone_from_the_first_look_on_and_what_becomes_one_later_is_not() {
    let place = Place::new();
    let bare = |dir: &str| {
        for (name, text) in
            [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), (LOOSE, "o"), ("refs/heads/main", "1\n")]
        {
            place.write(&format!("{dir}/{name}"), text);
        }
    };
    bare(".bare");
    place.write(".git", "gitdir: ./.bare\n");
    place.write("main/file", "one\n");
    // Called alike, and none.
    place.write("src/HEAD", "a heading\n");
    place.write("src/config", "settings\n");
    place.write("src/objects/a", "a\n");
    place.write("src/refs/b", "b\n");
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        place.write(".bare/refs/heads/main", "2\n");
        place.write(".bare/objects/cc/0123456789abcdef0123456789abcdef012345", "new");
        place.write("main/file", "two\n");
        place.write("src/config", "changed\n");
        bare("made");
    });
    let doc = review.doc(Scope::Session).unwrap();
    let paths: Vec<&str> = doc.files.iter().map(|file| file.path.to_str().unwrap()).collect();
    let loose = format!("made/{LOOSE}");
    let made = ["made/HEAD", "made/config", &loose, "made/refs/heads/main"];
    assert_eq!(paths, [&made[..], &["main/file", "src/config"]].concat());
    let said = review.uncovered().join("\n");
    assert!(said.contains("git's own files in these directories, which an undo leaves alone: .bare"), "{said}");
    assert!(said.contains(".bare/: git's own has changed") && said.contains(".bare/refs/heads/main"), "{said}");
    let dir = review.dir().to_owned();
    drop(review);
    let mut review = ReviewSession::open(&dir).unwrap();
    place.write(".bare/refs/heads/main", "the person's\n");
    review.act(&ReviewAction::Rewind { turn: 0 }).unwrap();
    assert_eq!(
        (place.read(".bare/refs/heads/main"), place.read(".bare/objects/cc/0123456789abcdef0123456789abcdef012345")),
        ("the person's\n".into(), "new".into())
    );
    assert_eq!((place.read("main/file"), place.read("src/config")), ("one\n".into(), "settings\n".into()));
    assert!(!place.root.join("made/HEAD").exists());
}

#[test]
fn sources_beside_what_looks_like_git_are_covered_and_gits_own_is_not() {
    let place = Place::new();
    for name in [
        "src/objects/aa/b",
        "src/refs/heads/main",
        "src/config",
        "mirror/objects/a",
        "mirror/refs/heads/b",
        "mirror/config",
    ] {
        place.write(name, "1\n");
    }
    place.write("src/HEAD", "ref: refs/heads/main\n");
    place.write("src/main.rs", "one\n");
    place.write("src/deep/file", "one\n");
    place.write("mirror/HEAD", "ref: refs/heads/main\n");
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        for name in [
            "src/main.rs",
            "src/deep/file",
            "src/refs/heads/main",
            "src/packed-refs",
            "mirror/refs/heads/b",
            "mirror/packed-refs",
        ] {
            place.write(name, "two\n");
        }
    });
    let doc = review.doc(Scope::Session).unwrap();
    let paths: Vec<&str> = doc.files.iter().map(|file| file.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["src/deep/file", "src/main.rs"]);
    let said = review.uncovered().join("\n");
    assert!(said.contains("leaves alone: mirror, src"), "{said}");
    for name in ["src/refs/heads/main", "src/packed-refs", "mirror/refs/heads/b", "mirror/packed-refs"] {
        assert!(said.contains(name), "{name} in {said}");
    }
    review.act(&ReviewAction::Rewind { turn: 0 }).unwrap();
    let now =
        ["src/main.rs", "src/deep/file", "src/refs/heads/main", "mirror/refs/heads/b"].map(|name| place.read(name));
    assert_eq!(now, ["one\n", "one\n", "two\n", "two\n"]);
}

#[test]
fn what_another_client_is_just_writing_is_no_file_of_the_tree_and_what_it_leaves_is_one() {
    let place = Place::new();
    place.write("file", "one\n");
    let state = place.root.join(STATE);
    let head = SessionInfo { stem: "2-2-2".into(), ..place.head(archive::private(&state)) };
    let other = ReviewSession::create(&archive::below(&state), head).unwrap();
    let names = [".acp-tui-0123456789abcdef.tmp", ".acp-tui-0123456789abcdef.swap"];
    for name in &names {
        drop(place.write(name, "half\n"));
    }
    let mut review = place.review(&[]);
    // It has done its write: nothing was taken away, and an undo brings nothing back.
    fs::remove_file(place.root.join(names[0])).unwrap();
    turn(&mut review, |_| drop(place.write("file", "two\n")));
    let paths = |review: &mut ReviewSession| -> Vec<String> {
        let doc = review.doc(Scope::Session).unwrap();
        doc.files.iter().map(|file| file.path.to_string_lossy().into_owned()).collect()
    };
    assert_eq!(paths(&mut review), ["file"]);
    // The other is gone, and has left something: it is told as long as it is there.
    drop(other);
    turn(&mut review, |_| {});
    assert_eq!(paths(&mut review), ["file"]);
    let words = format!("named as what another acp-tui was writing, which an undo leaves alone: {}", names[1]);
    assert!(review.uncovered().contains(&words), "{:?}", review.uncovered());
    fs::remove_file(place.root.join(names[1])).unwrap();
    assert!(!review.uncovered().iter().any(|line| line.contains("another acp-tui")));
}

/// Makes what looks like one of git's directories.
fn fake(place: &Place, dir: &str) {
    for (name, text) in
        [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), ("objects/k", "k\n"), ("refs/k", "k\n")]
    {
        place.write(&format!("{dir}/{name}"), text);
    }
    place.write(&format!("{dir}/readme"), "text\n");
}

fn git(place: &Place, args: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(&place.root).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
    let out = git.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn however_many_directories_look_like_gits_no_file_beside_is_passed_over() {
    let place = Place::new();
    for n in 0..30 {
        fake(&place, &format!("a{n:02}"));
    }
    fake(&place, "src");
    for name in ["src/main.py", "src/lib.py", "src/hooks/deep/use.ts"] {
        place.write(name, "one\n");
    }
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        for name in ["src/main.py", "src/hooks/deep/use.ts", "src/evil.sh", "src/objects/evil", "src/pack/evil"] {
            place.write(name, "evil\n");
        }
        for name in ["src/hooks/evil", "a07/config", "a29/refs/heads/evil"] {
            place.write(name, "evil\n");
        }
        fs::remove_file(place.root.join("src/lib.py")).unwrap();
        // A directory where a file of git's was hides nothing.
        fs::remove_file(place.root.join("a28/config")).unwrap();
        place.write("a28/config/evil", "evil\n");
    });
    let own =
        ["a28/config/evil", "src/evil.sh", "src/hooks/deep/use.ts", "src/lib.py", "src/main.py", "src/objects/evil"];
    assert_eq!(changed(&mut review), [&own[..], &["src/pack/evil"]].concat());
    let said = review.uncovered().join("\n");
    for name in
        ["src/hooks/evil", "a07/config", "a29/refs/heads/evil", "a28/: of git's own config is gone", "and 23 more"]
    {
        assert!(said.contains(name), "{name} in {said}");
    }
    rewind(&mut review);
    assert_eq!((place.read("src/main.py"), place.read("src/lib.py")), ("one\n".into(), "one\n".into()));
    assert!(!place.root.join("src/evil.sh").exists() && !place.root.join("src/objects/evil").exists());
}

#[test]
fn what_git_tracks_is_a_source_also_where_it_looks_like_gits_own() {
    let place = Place::new();
    fake(&place, "src");
    place.write("src/hooks/use.ts", "one\n");
    git(&place, &["init", "-q"]);
    git(&place, &["add", "-A"]);
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        for name in ["src/config", "src/hooks/use.ts", "src/refs/heads/evil"] {
            place.write(name, "evil\n");
        }
    });
    assert_eq!(changed(&mut review), ["src/config", "src/hooks/use.ts", "src/refs/heads/evil"]);
    assert!(!review.uncovered().iter().any(|words| words.contains("git's own")), "{:?}", review.uncovered());
    rewind(&mut review);
    assert_eq!((place.read("src/config"), place.read("src/hooks/use.ts")), ("[core]\n".into(), "one\n".into()));
}

#[test]
fn gits_own_directory_that_goes_in_part_or_as_a_whole_is_named() {
    for (what, words) in [
        ("", [".bare/: was git's own directory and is gone"; 2]),
        ("objects", [".bare/: of git's own objects is gone"; 2]),
        ("refs/heads/main", [".bare/: git's own has changed, which an undo leaves alone: ", ".bare/refs/heads/"]),
    ] {
        let place = Place::new();
        fake(&place, ".bare");
        place.write(".bare/refs/heads/main", "1\n");
        place.write(".bare/index", "i\n");
        let object = place.write(&format!(".bare/{LOOSE}"), "o");
        place.write("file", "one\n");
        let mut review = place.review(&[]);
        // As the review itself does with objects.
        fs::hard_link(&object, place.root.parent().unwrap().join("link")).unwrap();
        let before = review.uncovered().join("\n");
        assert!(
            before.ends_with("git's own files in these directories, which an undo leaves alone: .bare"),
            "{before}"
        );
        assert!(!before.contains("change"), "{before}");
        turn(&mut review, |_| {
            let gone = place.root.join(".bare").join(what);
            if gone.is_dir() { fs::remove_dir_all(gone).unwrap() } else { fs::remove_file(gone).unwrap() }
        });
        let said = review.uncovered().join("\n");
        assert!(words.iter().all(|words| said.contains(words)), "{what}: {said}");
        let dir = review.dir().to_owned();
        drop(review);
        let said = ReviewSession::open(&dir).unwrap().uncovered().join("\n");
        assert!(words.iter().all(|words| said.contains(words)), "{what}, later: {said}");
    }
}

#[test]
fn a_history_that_is_moved_out_of_dot_git_in_a_session_is_left_alone_by_an_undo() {
    let place = Place::new();
    for text in ["one\n", "two\n", "three\n"] {
        place.write("f1", text);
        if text == "one\n" {
            git(&place, &["init", "-q"]);
        }
        git(&place, &["add", "-A"]);
        git(&place, &["commit", "-qm", text.trim()]);
    }
    git(&place, &["gc", "-q"]);
    let mut review = place.review(&[]);
    turn(&mut review, |review| {
        fs::rename(place.root.join(".git"), place.root.join(".bare")).unwrap();
        place.write(".git", "gitdir: ./.bare\n");
        place.write("f1", "the agent's\n");
        // In the middle of it.
        names(review, &[place.root.join("f1"), place.root.join(".bare")], true);
        git(&place, &["commit", "-qam", "agent"]);
        git(&place, &["gc", "-q", "--prune=now"]);
        git(&place, &["init", "-q", "--bare", "made"]);
    });
    let said = review.uncovered().join("\n");
    assert!(said.contains(".bare/: took the place of a directory of git's"), "{said}");
    let dir = review.dir().to_owned();
    drop(review);
    let mut review = ReviewSession::open(&dir).unwrap();
    rewind(&mut review);
    assert_eq!(place.read("f1"), "three\n");
    git(&place, &["fsck", "--strict"]);
    git(&place, &["cat-file", "-e", "HEAD~3:f1"]);
    let said = review.uncovered().join("\n");
    assert!(said.contains(".bare/: took the place of a directory of git's"), "{said}");
}
