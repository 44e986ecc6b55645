//! What is left when the program is killed, run twice, or over: the next start, the person's tree, the repository.

use super::review::{changed, decided, disk, git, numbered, open, put, shell, turn, twice, worked, write};
use super::session::{BIN, ESC, Place, Session};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const SIZE: (u16, u16) = (100, 30);

/// The program without a terminal, in the place.
fn run(place: &Place, args: &[&str]) -> Output {
    let mut command = Command::new(BIN);
    command.args(args).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").current_dir(place.path("work"));
    command.env("HOME", place.path("home")).env("XDG_STATE_HOME", place.path("state"));
    command.env("XDG_CONFIG_HOME", place.path("config")).env("TMPDIR", place.path("tmp"));
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

/// The same, which must work; gives what it printed.
#[track_caller]
fn ok(place: &Place, args: &[&str]) -> String {
    let done = run(place, args);
    assert_eq!(done.status.code(), Some(0), "{args:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// Looks again and again until it is so.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(15);
    while !is_so() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

fn reviews(place: &Place) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(place.path("state/acp-tui/review")) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Everything there is to know of a tree: kind, mode, length, time of change, content.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let (mut all, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let content = if meta.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if meta.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                std::fs::read(&path).unwrap()
            };
            all.insert(path, (meta.permissions().mode(), meta.mtime(), meta.mtime_nsec(), content));
        }
    }
    all
}

/// What is in a directory that is being written meanwhile: what goes away in between is not in it.
fn names(root: &Path) -> Vec<PathBuf> {
    let (mut all, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
            all.push(entry.path());
        }
    }
    all
}

#[track_caller]
fn assert_same(root: &Path, before: &BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>) {
    let after = tree(root);
    let odd: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| path.strip_prefix(root).unwrap())
        .collect();
    assert!(odd.is_empty(), "changed: {odd:?}");
}

/// Kills the program and waits until nothing that it started is left, so that its lock is free.
fn kill(s: &mut Session, place: &Place) {
    s.signal(rustix::process::Signal::KILL);
    s.end();
    until("its processes are gone", || super::processes::marked(&place.mark()).is_empty());
}

#[test]
fn the_last_session_is_reviewed_on_the_screen_after_the_program() {
    let place = Place::new();
    let s = changed(&place, SIZE);
    s.quit(&place);
    let mut s = place.start(&["review", "last"], SIZE);
    s.wait_for("the review", |screen| screen.contains("hunk 1 of 2"));
    decided(&s, 0, 2);
    s.send("x");
    decided(&s, 1, 2);
    assert_eq!(disk(&place, "a.txt"), twice().replace("three\n", "line 3\n"));
    s.send("q");
    assert_eq!(s.end(), 0, "{}", s.dump());
    s.assert_restored();
    // The decision is still known.
    let said = ok(&place, &["review", "last"]);
    assert!(said.contains("1 to review") && said.contains("rejected"), "{said}");
}

#[test]
fn after_a_kill_in_mid_turn_the_changes_are_shown_and_taken_back() {
    for write_first in [true, false] {
        let place = Place::new();
        put(&place, "a.txt", &numbered(20));
        put(&place, "gone.txt", "bye\n");
        let edit = if write_first { write("a.txt", &twice()) } else { shell("sed -i 's/line 3$/three/' a.txt") };
        let steps =
            format!("{edit}{}{{ do = \"hang\", text = \"it hangs\" }},\n", shell("rm gone.txt; echo new > b.txt"));
        let mut s = place.play(&turn(&steps), SIZE);
        s.ready();
        s.prompt("go");
        s.see("it hangs");
        // What nobody has looked at yet when the client is killed could be the person's.
        s.see(if write_first { "4 to review" } else { "3 to review" });
        kill(&mut s, &place);
        assert_ne!(disk(&place, "a.txt"), numbered(20));
        let said = ok(&place, &["review", "last"]);
        for name in ["modified a.txt", "deleted gone.txt", "created b.txt"] {
            assert!(said.contains(name), "{name}: {said}");
        }
        let mut s = place.start(&["review", "last"], SIZE);
        s.wait_for("the review", |screen| screen.contains("a.txt") && screen.contains("gone.txt"));
        s.send("q");
        assert_eq!(s.end(), 0);
        let said = ok(&place, &["undo", "last"]);
        assert_eq!(said, "restored a.txt\nremoved b.txt\nrestored gone.txt\n");
        assert_eq!(disk(&place, "a.txt"), numbered(20));
        assert_eq!(disk(&place, "gone.txt"), "bye\n");
        assert!(!place.path("work/b.txt").exists());
    }
}

/// A repository with so many files and one commit.
fn repository(place: &Place, files: usize) {
    let work = place.path("work");
    for n in 0..files {
        let dir = work.join(format!("d{}", n % 40));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("f{n}")), format!("file {n}\n{}", numbered(30))).unwrap();
    }
    git(&work, &["init", "-q"]);
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-q", "-m", "one"]);
}

#[test]
fn a_kill_in_the_first_look_at_a_large_tree_harms_nothing() {
    let place = Place::new();
    let work = place.path("work");
    repository(&place, 3000);
    // Not in the repository, so that it has to be read and kept.
    for n in 0..300 {
        put(&place, &format!("own{n}"), &format!("own {n}\n"));
    }
    let before = tree(&work);
    let script = turn(&write("d1/f1", "written\n"));
    let newest = |seen: usize| {
        let all = reviews(&place);
        (all.len() > seen)
            .then(|| all.into_iter().max_by_key(|dir| dir.metadata().unwrap().created().unwrap()).unwrap())
    };
    let files_in = |dir: &Path| names(dir).len();
    let mut cut_short = 0;
    for moment in 0..6 {
        let seen = reviews(&place).len();
        let mut s = place.play(&script, SIZE);
        until("there is a review", || newest(seen).is_some());
        let dir = newest(seen).unwrap();
        // From the first entry on to when the snapshot is complete.
        match moment {
            0 => {}
            n @ 1..5 => until("something is in it", || files_in(&dir) >= n || s.screen().contains("ready")),
            _ => {
                until("a pack", || names(&dir).iter().any(|path| path.to_string_lossy().contains("pack")));
            }
        }
        kill(&mut s, &place);
        cut_short += usize::from(!names(&dir).iter().any(|path| path.extension().is_some_and(|e| e == "idx")));
        assert_same(&work, &before);
    }
    assert!(cut_short > 0, "no kill came before the end of the snapshot");
    let s = worked(&place, &script, SIZE);
    s.see("+1 −31 in 1 file · 1 to review");
    s.quit(&place);
    assert_eq!(ok(&place, &["undo", "last"]), "restored d1/f1\n");
    let old = |path: &Path| before[&work.join(path)].3.clone();
    assert_eq!(std::fs::read(work.join("d1/f1")).unwrap(), old(Path::new("d1/f1")));
    // Git sees a clean tree but for what was never added.
    git(&work, &["diff", "--exit-code", "--stat"]);
    git(&work, &["fsck", "--strict"]);
}

#[test]
fn two_at_a_time_in_one_directory_have_their_own_reviews() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    put(&place, "b.txt", "b\n");
    let first = changed(&place, SIZE);
    let mut second = worked(&place, &turn(&write("b.txt", "B\n")), SIZE);
    second.see("+1 −1 in 1 file · 1 to review ──");
    assert_eq!(reviews(&place).len(), 2);
    // The one that is open elsewhere says so, whichever it is.
    for dir in reviews(&place) {
        let stem = dir.file_name().unwrap().to_str().unwrap().to_owned();
        for what in ["undo", "review", "redo"] {
            let done = run(&place, &[what, &stem]);
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.code() != Some(0) && said.contains("open in another acp-tui"), "{what}: {done:?}");
        }
    }
    // On the screen too.
    let mut third = place.start(&["review", "last"], SIZE);
    assert_ne!(third.end(), 0, "{}", third.dump());
    assert!(third.screen().contains("open in another acp-tui"), "{}", third.dump());
    assert_eq!(disk(&place, "a.txt"), twice());
    open(&mut second);
    second.send("X");
    decided(&second, 1, 1);
    assert_eq!((disk(&place, "a.txt"), disk(&place, "b.txt")), (twice(), "b\n".to_owned()));
    second.send("q");
    second.see("the turn is over");
    second.send("\x04");
    assert_eq!(second.end(), 0);
    first.quit(&place);
}

#[test]
fn a_session_without_an_edit_leaves_the_repository_bit_for_bit() {
    let place = Place::new();
    let work = place.path("work");
    repository(&place, 50);
    // All that can stand in the way of a clean tree: staged, changed, untracked, ignored, stashed, a branch, a link.
    put(&place, "d1/f1", "stashed\n");
    git(&work, &["stash", "-q"]);
    git(&work, &["branch", "other"]);
    put(&place, "d2/f2", "changed\n");
    put(&place, "staged", "staged\n");
    git(&work, &["add", "staged"]);
    put(&place, "untracked", "untracked\n");
    put(&place, ".gitignore", "ignored\n");
    put(&place, "ignored", "ignored\n");
    std::os::unix::fs::symlink("d1", work.join("link")).unwrap();
    let before = tree(&work);
    let script = "[[turn]]\ndefault = true\nstep = [{ do = \"say\", text = \"nothing to do\" }]\n";
    let mut s = place.play(script, SIZE);
    s.ready();
    s.prompt("go");
    s.see("nothing to do");
    s.see("ready");
    s.send("\x1br");
    s.see("nothing was changed");
    s.send("q");
    s.prompt("once more");
    s.wait_for("the second answer", |screen| screen.matches("nothing to do").count() == 2 && screen.contains("ready"));
    assert!(!s.screen().contains('±'), "{}", s.dump());
    s.quit(&place);
    assert_same(&work, &before);
    // A review and an undo of it change nothing either.
    assert_eq!(ok(&place, &["undo", "last"]), "nothing to take back\n");
    assert!(ok(&place, &["review", "last"]).starts_with("no changes"));
    assert_same(&work, &before);
}

#[test]
fn what_the_person_writes_in_and_after_the_turn_stays_when_it_is_taken_back() {
    let place = Place::new();
    let text = numbered(60);
    put(&place, "a.txt", &text);
    put(&place, "mine.txt", "mine\n");
    let wait = "{ do = \"permission\", tool = \"p\", call = { title = \"go on\", kind = \"read\" } },\n";
    let first = text.replace("line 10\n", "ten\n");
    // Reads the file anew, shows the difference and asks.
    let edit = "{ do = \"edit\", tool = \"e\", path = \"a.txt\", replace = [{ old = \"line 50\\n\", new = \"fifty\\n\" }] },\n";
    let steps = format!("{}{wait}{edit}", write("a.txt", &first));
    let mut s = place.play(&turn(&steps), SIZE);
    s.ready();
    s.prompt("go");
    s.see("go on");
    // In the turn, while the agent waits.
    let insert = |from: &str, to: &str| {
        let now = disk(&place, "a.txt");
        assert!(now.contains(from), "{now}");
        put(&place, "a.txt", &now.replace(from, to));
    };
    insert("line 30\n", "my thirty\n");
    s.focus();
    s.send("1");
    s.see("fifty");
    s.focus();
    s.send("1");
    s.wait_for("the sums", |screen| screen.contains("the turn is over") && screen.contains('±'));
    // And after it.
    insert("line 20\n", "my twenty\n");
    put(&place, "mine.txt", "mine, and more\n");
    s.quit(&place);
    let mine = text.replace("line 30\n", "my thirty\n").replace("line 20\n", "my twenty\n");
    assert_eq!(disk(&place, "a.txt"), mine.replace("line 10\n", "ten\n").replace("line 50\n", "fifty\n"));
    let said = ok(&place, &["undo", "last"]);
    assert!(said.contains("merged a.txt (other changes stay)"), "{said}");
    assert_eq!(disk(&place, "a.txt"), mine, "{said}");
    assert_eq!(disk(&place, "mine.txt"), "mine, and more\n");
}

#[test]
fn what_the_person_writes_while_the_agent_hangs_stays_when_the_turn_is_stopped_and_taken_back() {
    let place = Place::new();
    let text = numbered(60);
    put(&place, "a.txt", &text);
    put(&place, "mine.txt", "mine\n");
    let steps =
        format!("{}{{ do = \"hang\", text = \"it hangs\" }},\n", write("a.txt", &text.replace("line 10\n", "ten\n")));
    let mut s = place.play(&turn(&steps), SIZE);
    s.ready();
    s.prompt("go");
    s.see("it hangs");
    put(&place, "a.txt", &disk(&place, "a.txt").replace("line 30\n", "my thirty\n"));
    put(&place, "mine.txt", "mine, and more\n");
    s.send(ESC);
    s.see("stopped");
    s.wait_for("the sums", |screen| screen.contains('±'));
    s.quit(&place);
    let said = ok(&place, &["undo", "last"]);
    assert!(said.contains("merged a.txt (other changes stay)"), "{said}");
    assert_eq!(disk(&place, "a.txt"), text.replace("line 30\n", "my thirty\n"), "{said}");
    assert_eq!(disk(&place, "mine.txt"), "mine, and more\n", "{said}");
}
