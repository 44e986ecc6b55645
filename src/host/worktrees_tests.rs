//! Worktrees of real repositories: made, merged, given up, and what stands in the way of each.

use super::*;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use tempfile::TempDir;

struct Place {
    temp: TempDir,
}

impl Place {
    /// A repository with one commit.
    fn new() -> Self {
        let place = Self::empty();
        place.git(&["init", "-q", "-b", "main"]);
        place.write("a", "1\n2\n3\n4\n5\n6\n7\n8\n");
        place.write("src/b", "b\n");
        place.write(".gitignore", "*.log\nbuild/\n");
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "first"]);
        place
    }

    fn empty() -> Self {
        let place = Self { temp: tempfile::tempdir().unwrap() };
        fs::create_dir(place.top()).unwrap();
        place
    }

    fn top(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("repo")
    }

    fn state(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("state")
    }

    fn git(&self, args: &[&str]) -> String {
        Git::at(&self.top()).line(args).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        put(&self.top(), name, text);
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.top().join(name)).unwrap()
    }

    fn make(&self, name: &str, with_changes: bool) -> Worktree {
        create(&self.state(), &self.top(), Naming::Exactly(name), with_changes).unwrap().worktree
    }

    fn refusal(&self, dir: &Path) -> String {
        create(&self.state(), dir, Naming::Numbered("w"), true).unwrap_err().to_string()
    }
}

fn put(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn names(files: &[PathBuf]) -> Vec<&str> {
    files.iter().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn a_worktree_begins_with_the_commit_and_with_what_is_taken_along() {
    let place = Place::new();
    place.write("a", "changed\n");
    place.write("new", "untracked\n");
    place.write("x.log", "ignored\n");
    fs::remove_file(place.top().join("src/b")).unwrap();
    let before = place.git(&["status", "--porcelain"]);
    let plain = place.make("plain", false);
    assert_eq!(fs::read_to_string(plain.path.join("a")).unwrap().lines().count(), 8);
    assert!(plain.path.join("src/b").exists() && !plain.path.join("new").exists());
    let with = place.make("with", true);
    assert_eq!(fs::read_to_string(with.path.join("a")).unwrap(), "changed\n");
    assert_eq!(fs::read_to_string(with.path.join("new")).unwrap(), "untracked\n");
    assert!(!with.path.join("src/b").exists() && !with.path.join("x.log").exists());
    // There, too, it is not committed.
    assert_eq!(Git::at(&with.path).line(&["status", "--porcelain"]).unwrap(), before);
    assert_eq!(Git::at(&with.path).line(&["branch", "--show-current"]).unwrap(), "acp-tui/with");
    assert_eq!(place.git(&["status", "--porcelain"]), before, "the origin is as it was");
    // Neither has changes of its own yet.
    let listed = list(&place.state());
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|one| one.changes.as_ref().is_ok_and(|changes| *changes == Difference::default())));
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&below(&place.state())), 0o700);
}

#[test]
fn one_file_is_taken_and_the_others_stay() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, "a", "1\n2\n3\n4\n5\n6\n7\nEIGHT\n");
    put(&made.path, "src/b", "theirs\n");
    place.write("src/b", "mine\n");
    let taken = merge(&made, Some(Path::new("a"))).unwrap();
    assert_eq!((names(&taken.files), taken.conflicts), (vec!["a"], Vec::new()), "that of another file is not its own");
    assert_eq!((place.read("a").lines().last(), place.read("src/b").as_str()), (Some("EIGHT"), "mine\n"));
    let taken = merge(&made, Some(Path::new("src/b"))).unwrap();
    assert_eq!((taken.files.len(), taken.conflicts.len()), (0, 1));
    assert_eq!(place.read("src/b"), "mine\n");
}

#[test]
fn what_was_changed_is_merged_and_conflicts_are_left_alone() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, "a", "1\n2\n3\n4\n5\n6\n7\nEIGHT\n");
    put(&made.path, "src/b", "theirs\n");
    put(&made.path, "new", "new\n");
    put(&made.path, "x.log", "ignored\n");
    symlink("a", made.path.join("link")).unwrap();
    fs::write(made.path.join("bytes"), [0, 1, 2, 255]).unwrap();
    // Committed or not makes no difference.
    Git::at(&made.path).run(&["commit", "-q", "-a", "-m", "work"]).unwrap();
    // Here, too, something was done.
    place.write("a", "ONE\n2\n3\n4\n5\n6\n7\n8\n");
    place.write("src/b", "mine\n");
    place.write("mine", "untracked\n");
    let merged = merge(&made, None).unwrap();
    assert_eq!(names(&merged.files), ["a", "bytes", "link", "new"]);
    assert_eq!(merged.conflicts.len(), 1);
    assert_eq!(merged.conflicts[0].0, Path::new("src/b"));
    assert_eq!(place.read("a"), "ONE\n2\n3\n4\n5\n6\n7\nEIGHT\n");
    assert_eq!(
        (place.read("src/b"), place.read("new"), place.read("mine")),
        ("mine\n".into(), "new\n".into(), "untracked\n".into())
    );
    assert_eq!(fs::read(place.top().join("bytes")).unwrap(), [0, 1, 2, 255]);
    assert!(!place.top().join("x.log").exists());
    assert_eq!(place.git(&["diff", "--cached", "--name-only"]), "", "the index is the person's");
    let kept = merged.recovery.unwrap();
    assert_eq!(place.git(&["show", &format!("{kept}:src/b")]), "mine");
    assert_eq!(place.git(&["show", &format!("{kept}:mine")]), "untracked");
    // When both are alike the rest is merged, and then there is nothing more to do.
    place.write("src/b", "theirs\n");
    assert_eq!(merge(&made, None).unwrap(), Merged::default());
}

#[test]
fn a_file_that_git_ignores_here_is_not_overwritten() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, ".gitignore", "build/\n");
    put(&made.path, "x.log", "theirs\n");
    place.write("x.log", "mine\n");
    let merged = merge(&made, None).unwrap();
    assert_eq!(names(&merged.files), [".gitignore"]);
    assert_eq!(merged.conflicts, [(PathBuf::from("x.log"), "there already, and ignored by git")]);
    assert_eq!(place.read("x.log"), "mine\n");
}

#[test]
fn what_is_discarded_is_all_kept_under_a_ref() {
    let place = Place::new();
    let made = place.make("w", false);
    let git = Git::at(&made.path);
    put(&made.path, "a", "committed\n");
    git.run(&["commit", "-q", "-a", "-m", "work"]).unwrap();
    put(&made.path, "a", "staged\n");
    git.run(&["add", "a"]).unwrap();
    put(&made.path, "a", "on the disk\n");
    put(&made.path, "new", "untracked\n");
    put(&made.path, "x.log", "ignored\n");
    let kept = discard(&made, false).unwrap().unwrap();
    assert!(kept.starts_with("refs/acp-tui/recovery/w-"), "{kept}");
    let show = |what: &str| place.git(&["show", &format!("{kept}{what}")]);
    assert_eq!(
        (show(":a"), show(":new"), show(":x.log")),
        ("on the disk".into(), "untracked".into(), "ignored".into())
    );
    assert_eq!((show("^1:a"), show("^2:a")), ("committed".into(), "staged".into()));
    assert!(!made.path.exists() && all(&place.state()).is_empty());
    assert_eq!(place.git(&["branch", "--list", "acp-tui/*"]), "");
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
    // The name is free again.
    place.make("w", false);
}

#[test]
fn nothing_goes_that_would_not_be_kept() {
    let place = Place::new();
    let made = place.make("w", false);
    let inner = made.path.join("inner");
    fs::create_dir(&inner).unwrap();
    for args in [&["init", "-q"][..], &["commit", "-q", "--allow-empty", "-m", "x"]] {
        Git::at(&inner).run(args).unwrap();
    }
    let why = discard(&made, false).unwrap_err().to_string();
    assert!(why.contains("repositories inside") && why.contains("inner"), "{why}");
    fs::remove_dir_all(&inner).unwrap();
    let large = made.path.join("build/large");
    fs::create_dir(made.path.join("build")).unwrap();
    fs::File::create(&large).unwrap().set_len(MAX_IGNORED + 1).unwrap();
    let why = discard(&made, false).unwrap_err().to_string();
    assert!(why.contains("--drop-ignored"), "{why}");
    assert!(large.exists());
    discard(&made, true).unwrap();
    assert!(!made.path.exists());
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let place = Place::empty();
    let says = |place: &Place, words: &str| {
        let why = place.refusal(&place.top());
        assert!(why.contains(words), "{why}");
    };
    says(&place, "in no git repository");
    place.git(&["init", "-q", "-b", "main"]);
    says(&place, "no commit yet");
    let place = Place::new();
    let bare = place.temp.path().join("bare");
    place.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    assert!(place.refusal(&bare).contains("bare repository"));
    for name in ["", "a b", "../x", "-x", "a/b", ".x", "x.lock", "x.json", "a..b", &"x".repeat(65)] {
        let why = create(&place.state(), &place.top(), Naming::Exactly(name), false).unwrap_err().to_string();
        assert!(why.contains("is no name for a worktree"), "{why}");
    }
    place.make("w", false);
    let why = create(&place.state(), &place.top(), Naming::Exactly("w"), false).unwrap_err().to_string();
    assert!(why.contains("is there already"), "{why}");
    assert_eq!(create(&place.state(), &place.top(), Naming::Numbered("w"), false).unwrap().worktree.name, "w1");
    assert_eq!(create(&place.state(), &place.top(), Naming::Numbered("w"), false).unwrap().worktree.name, "w2");
    // On no branch it begins there all the same.
    place.git(&["checkout", "-q", "--detach"]);
    place.make("detached", true);
    // A merge that is not finished has no files that could be taken along, or be merged into.
    place.git(&["checkout", "-q", "-b", "other"]);
    place.write("a", "other\n");
    place.git(&["commit", "-q", "-a", "-m", "other"]);
    place.git(&["checkout", "-q", "main"]);
    place.write("a", "main\n");
    place.git(&["commit", "-q", "-a", "-m", "main"]);
    Git::at(&place.top()).asked(&["merge", "-q", "other"]).unwrap();
    says(&place, "a merge is not finished");
    let made = find(&place.state(), "w", &place.top()).unwrap();
    assert!(merge(&made, None).unwrap_err().to_string().contains("a merge is not finished"));
}

#[test]
fn a_record_that_is_not_ours_is_none() {
    let place = Place::new();
    let made = place.make("w", false);
    let record = made.path.with_extension("json");
    let text = fs::read_to_string(&record).unwrap();
    for (from, to) in [("\"v\": 1", "\"v\": 2"), ("acp-tui/w", "main"), ("repo-", "else-"), ("{", "[")] {
        fs::write(&record, text.replace(from, to)).unwrap();
        assert!(all(&place.state()).is_empty(), "{to}");
        assert!(find(&place.state(), "w", &place.top()).is_err());
    }
    fs::write(&record, &text).unwrap();
    assert_eq!(find(&place.state(), "w", Path::new("/")).unwrap(), made);
    // Its directory is gone: what was committed stays.
    fs::remove_dir_all(&made.path).unwrap();
    assert!(list(&place.state())[0].changes.is_err());
    assert_eq!(discard(&made, false).unwrap(), None);
    assert_ne!(place.git(&["branch", "--list", "acp-tui/w"]), "");
}
