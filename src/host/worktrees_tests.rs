//! Worktrees of real repositories: made, merged, given up, and what stands in the way of each.

use super::*;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(super) struct Place {
    temp: TempDir,
}

impl Place {
    /// A repository with one commit.
    pub fn new() -> Self {
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

    pub fn top(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("repo")
    }

    pub fn state(&self) -> PathBuf {
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

    pub fn make(&self, name: &str, with_changes: bool) -> Worktree {
        create(&self.state(), &self.top(), Naming::Exactly(name), with_changes).unwrap().worktree
    }

    fn refusal(&self, dir: &Path) -> String {
        create(&self.state(), dir, Naming::Numbered("w"), true).unwrap_err().to_string()
    }
}

pub(super) fn put(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn merge(worktree: &Worktree) -> Merged {
    Merge::of(worktree, None).unwrap().carry_out(|_, _| true)
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
fn several_begin_with_the_files_of_one_moment() {
    let place = Place::new();
    place.write("a", "changed\n");
    let files = Files::around(&place.top()).unwrap();
    let make = |name| create_with(&place.state(), &place.top(), Naming::Exactly(name), Some(&files)).unwrap().worktree;
    let one = make("one");
    place.write("a", "changed since\n");
    let two = make("two");
    for worktree in [&one, &two] {
        assert_eq!(fs::read_to_string(worktree.path.join("a")).unwrap(), "changed\n");
    }
    let soon = Instant::now() + Duration::from_mins(1);
    assert_eq!(files.changed(soon).unwrap(), [place.top().join("a")]);
}

#[test]
fn one_file_is_taken_and_the_others_stay() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, "a", "1\n2\n3\n4\n5\n6\n7\nEIGHT\n");
    put(&made.path, "src/b", "theirs\n");
    place.write("src/b", "mine\n");
    let take = |name: &str| Merge::of(&made, Some(Path::new(name))).unwrap().carry_out(|_, _| true);
    let taken = take("a");
    assert_eq!((names(&taken.files), taken.left), (vec!["a"], Vec::new()), "that of another file is not its own");
    assert_eq!((place.read("a").lines().last(), place.read("src/b").as_str()), (Some("EIGHT"), "mine\n"));
    let taken = take("src/b");
    assert_eq!((taken.files.len(), taken.left.len()), (0, 1));
    assert_eq!(place.read("src/b"), "mine\n");
}

#[test]
fn part_of_a_file_is_taken_and_the_rest_of_it_stays() {
    let place = Place::new();
    let made = place.make("w", false);
    let (old, one) = ("1\n2\n3\n4\n5\n6\n7\n8\n", "1\nTWO\n3\n4\n5\n6\n7\n8\n");
    put(&made.path, "a", "1\nTWO\n3\n4\n5\n6\n7\nEIGHT\n");
    place.write("a", "1\n2\n3\n4\nmine\n6\n7\n8\n");
    let side = |text: &str| Some(Side { mode: 0o644, bytes: text.into() });
    let take = |path: &str, was: Option<Side>, is: Option<Side>| {
        Merge::of_part(&made, &Part { path: path.into(), was, is }).unwrap().carry_out(|_, _| true)
    };
    let taken = take("a", side(old), side(one));
    assert_eq!((names(&taken.files), taken.left), (vec!["a"], Vec::new()));
    assert_eq!(place.read("a"), "1\nTWO\n3\n4\nmine\n6\n7\n8\n");
    assert_eq!(take("a", side(old), side(one)).files.len(), 0, "it is there already");
    // New and removed files are parts, too.
    assert_eq!(names(&take("new", None, side("n\n")).files), ["new"]);
    assert_eq!(names(&take("src/b", side("b\n"), None).files), ["src/b"]);
    assert_eq!((place.read("new").as_str(), place.top().join("src/b").exists()), ("n\n", false));
    // In the same lines it is left alone.
    assert_eq!(take("a", side(old), side("1\n2\n3\n4\nFIVE\n6\n7\n8\n")).left.len(), 1);
    // All of the worktree goes along with what was taken of it.
    assert_eq!(names(&merge(&made).files), ["a"]);
    assert_eq!(place.read("a"), "1\nTWO\n3\n4\nmine\n6\n7\nEIGHT\n");
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
    let planned = Merge::of(&made, None).unwrap();
    let kept = planned.recovery.clone().unwrap();
    let merged = planned.carry_out(|_, _| true);
    assert_eq!(names(&merged.files), ["a", "bytes", "link", "new"]);
    assert_eq!(merged.left.len(), 1);
    assert_eq!(merged.left[0].0, Path::new("src/b"));
    assert_eq!(place.read("a"), "ONE\n2\n3\n4\n5\n6\n7\nEIGHT\n");
    assert_eq!(
        (place.read("src/b"), place.read("new"), place.read("mine")),
        ("mine\n".into(), "new\n".into(), "untracked\n".into())
    );
    assert_eq!(fs::read(place.top().join("bytes")).unwrap(), [0, 1, 2, 255]);
    assert!(!place.top().join("x.log").exists());
    assert_eq!(place.git(&["diff", "--cached", "--name-only"]), "", "the index is the person's");
    assert_eq!(place.git(&["show", &format!("{kept}:src/b")]), "mine");
    assert_eq!(place.git(&["show", &format!("{kept}:mine")]), "untracked");
    // When both are alike the rest is merged, and then there is nothing more to do.
    place.write("src/b", "theirs\n");
    let again = Merge::of(&made, None).unwrap();
    assert_eq!(again.recovery, None);
    assert_eq!(again.carry_out(|_, _| true), Merged::default());
}

#[test]
fn a_file_that_git_ignores_here_is_not_overwritten() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, ".gitignore", "build/\n");
    put(&made.path, "x.log", "theirs\n");
    place.write("x.log", "mine\n");
    let merged = merge(&made);
    assert_eq!(names(&merged.files), [".gitignore"]);
    assert_eq!(merged.left, [(PathBuf::from("x.log"), "there already, and ignored by git".to_owned())]);
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

/// As the line says that is printed when one is discarded.
#[test]
fn a_worktree_that_git_brings_back_is_listed_merged_and_discarded_again() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, "new", "untracked\n");
    let kept = discard(&made, false).unwrap().unwrap();
    assert!(find(&place.state(), "w", &place.top()).is_err());
    place.git(&["worktree", "add", "-q", made.path.to_str().unwrap(), &kept]);
    let again = find(&place.state(), "w", &place.top()).unwrap();
    assert_eq!(again, made);
    assert_eq!(origins(&place.state()).discarded(&made.path), None);
    assert_eq!(changes(&again).unwrap(), Difference { added: 1, removed: 0, files: 1 });
    let kept = discard(&again, false).unwrap().unwrap();
    assert_eq!(place.git(&["show", &format!("{kept}:new")]), "untracked");
    // Another one of that name is another one.
    place.make("w", false);
    assert_eq!(all(&place.state()).len(), 1);
    assert!(!made.path.with_file_name(".w.json").exists());
}

#[test]
fn of_one_that_git_has_removed_it_is_known_whether_its_branch_stays() {
    let place = Place::new();
    let made = place.make("try", false);
    place.git(&["worktree", "remove", "--force", made.path.to_str().unwrap()]);
    assert!(has_branch(&made));
    assert_eq!(discard(&made, false).unwrap(), None);
    place.git(&["branch", "-q", "-D", &made.branch]);
    assert!(!has_branch(&made));
    fs::remove_dir_all(place.top()).unwrap();
    assert!(!has_branch(&made));
}

#[test]
fn where_a_worktree_came_from_is_known_after_it_has_gone_and_its_number_is_not_given_again() {
    let place = Place::new();
    let made = || create(&place.state(), &place.top(), Naming::Numbered("w"), false).unwrap().worktree;
    let (first, stays) = (made(), made());
    let inside = first.path.join("src");
    assert_eq!(origins(&place.state()).home_of(&inside), place.top().join("src"));
    let kept = discard(&first, false).unwrap();
    let known = origins(&place.state());
    assert_eq!((known.home_of(&inside), known.home_of(&stays.path)), (place.top().join("src"), place.top()));
    let gone = known.discarded(&inside).unwrap();
    assert_eq!((&gone.path, gone.origin, Some(&gone.kept)), (&first.path, place.top(), kept.as_ref()));
    assert_eq!(known.discarded(&stays.path), None);
    assert_eq!(made().name, "w3");
    // One that is named like one that was discarded takes its place.
    place.make("w1", false);
    assert_eq!(origins(&place.state()).discarded(&inside), None);
    // Where nothing was noted the record says it, and what is noted of another directory does not count.
    let note = first.path.with_file_name(".origin");
    fs::remove_file(&note).unwrap();
    assert_eq!(origins(&place.state()).home_of(&stays.path), place.top());
    fs::write(&note, "{\"origin\":\"/etc\"}\n").unwrap();
    assert_eq!(origins(&place.state()).home_of(&stays.path), stays.path);
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
fn commits_of_a_submodule_that_only_the_worktree_has_do_not_go_with_it() {
    let place = Place::new();
    let made = place.make("w", false);
    // As `git submodule update --init` makes it, and `rm -r` leaves it: nothing of it is in the worktree's own files.
    let own = PathBuf::from(Git::at(&made.path).line(&["rev-parse", "--absolute-git-dir"]).unwrap());
    let module = own.join("modules/libs/sub");
    fs::create_dir_all(&module).unwrap();
    Git::at(&module).run(&["init", "-q", "--bare"]).unwrap();
    let tree = Git::at(&module).line(&["hash-object", "-w", "-t", "tree", "/dev/null"]).unwrap();
    let commit = Git::at(&module).line(&["commit-tree", &tree, "-m", "precious"]).unwrap();
    for drop_ignored in [false, true] {
        let why = discard(&made, drop_ignored).unwrap_err().to_string();
        assert!(
            why.contains(own.join("modules").to_str().unwrap()) && why.contains("move that directory away"),
            "{why}"
        );
        assert_eq!(Git::at(&module).line(&["cat-file", "-t", &commit]).unwrap(), "commit");
        assert!(made.path.join("a").exists());
    }
    // One that comes between the commit that keeps all and the removal.
    let away = place.top().join("away");
    fs::rename(own.join("modules"), &away).unwrap();
    let preserved = discard::Preserved::of(&made, false).unwrap();
    fs::rename(&away, own.join("modules")).unwrap();
    assert!(preserved.remove().unwrap_err().to_string().contains("submodules"));
    assert!(module.join("HEAD").exists());
    fs::rename(own.join("modules"), &away).unwrap();
    discard(&made, false).unwrap();
    assert!(!made.path.exists() && away.join("libs/sub/HEAD").exists());
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
    place.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
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
    assert!(Merge::of(&made, None).err().unwrap().to_string().contains("a merge is not finished"));
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

/// A file whose text was replaced by another of the same length within one second of being staged.
fn stage_and_replace(dir: &Path, number: usize) -> String {
    let name = format!("f{number}");
    put(dir, &name, "version 1\n");
    Git::at(dir).run(&["add", &name]).unwrap();
    put(dir, &name, "version 2\n");
    name
}

#[test]
fn an_edit_of_the_same_size_in_the_same_second_is_seen() {
    let place = Place::new();
    let made = place.make("w", false);
    let names: Vec<String> = (0..10).map(|number| stage_and_replace(&made.path, number)).collect();
    let merged = merge(&made);
    assert_eq!(merged.files.len(), names.len());
    assert!(names.iter().all(|name| place.read(name) == "version 2\n"));
    // Neither is one missed here that stands in the way.
    for name in &names {
        put(&made.path, name, "version 3\n");
        place.write(name, "version 1\n");
        place.git(&["add", name]);
        place.write(name, "version 4\n");
    }
    let merged = merge(&made);
    assert_eq!((merged.files.len(), merged.left.len()), (0, names.len()));
    assert!(names.iter().all(|name| place.read(name) == "version 4\n"));
    let kept = discard(&made, false).unwrap().unwrap();
    assert!(names.iter().all(|name| place.git(&["show", &format!("{kept}:{name}")]) == "version 3"));
}

#[test]
fn flags_of_an_index_hide_nothing() {
    let place = Place::new();
    place.write("c", "c\n");
    place.write("d", "d\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "more"]);
    let made = place.make("w", false);
    let git = Git::at(&made.path);
    git.run(&["update-index", "--assume-unchanged", "a"]).unwrap();
    git.run(&["update-index", "--skip-worktree", "c", "d"]).unwrap();
    put(&made.path, "a", "assumed\n");
    put(&made.path, "c", "skipped\n");
    fs::remove_file(made.path.join("d")).unwrap();
    assert_eq!(changes(&made).unwrap().files, 2, "what a sparse checkout leaves out was not removed");
    assert_eq!(names(&merge(&made).files), ["a", "c"]);
    assert_eq!(
        (place.read("a"), place.read("c"), place.read("d")),
        ("assumed\n".into(), "skipped\n".into(), "d\n".into())
    );
    git.run(&["sparse-checkout", "set", "--no-cone", "/src"]).unwrap();
    put(&made.path, "outside", "of the sparse checkout\n");
    let kept = discard(&made, false).unwrap().unwrap();
    assert_eq!(place.git(&["show", &format!("{kept}:outside")]), "of the sparse checkout");
}

#[test]
fn what_git_knows_though_it_ignores_it_is_no_loss() {
    let place = Place::new();
    place.write("kept.log", "known\n");
    place.git(&["add", "-f", "kept.log"]);
    place.git(&["commit", "-q", "-m", "a log"]);
    let made = place.make("w", false);
    put(&made.path, "forced.log", "staged by force\n");
    Git::at(&made.path).run(&["add", "-f", "forced.log"]).unwrap();
    assert_eq!(changes(&made).unwrap().files, 1);
    assert_eq!(names(&merge(&made).files), ["forced.log"]);
    assert_eq!(place.read("kept.log"), "known\n");
}

#[test]
fn whatever_is_in_a_worktree_is_beneath_the_ref() {
    let place = Place::new();
    place.write("crlf", "1\n");
    place.write(".gitattributes", "* text=auto\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "more"]);
    // What it began with is nowhere else.
    place.write("along", "taken along\n");
    let made = place.make("w", true);
    fs::remove_file(place.top().join("along")).unwrap();
    let git = Git::at(&made.path);
    fs::remove_file(made.path.join("along")).unwrap();
    put(&made.path, "a", "taken away\n");
    git.run(&["commit", "-q", "-a", "-m", "gone"]).unwrap();
    let gone = git.line(&["rev-parse", "HEAD"]).unwrap();
    git.run(&["reset", "-q", "--hard", "HEAD~1"]).unwrap();
    // A merge that is not finished, with something staged whose file was changed again.
    git.run(&["checkout", "-q", "-b", "other"]).unwrap();
    put(&made.path, "a", "theirs\n");
    git.run(&["commit", "-q", "-a", "-m", "theirs"]).unwrap();
    git.run(&["checkout", "-q", "acp-tui/w"]).unwrap();
    put(&made.path, "a", "ours\n");
    git.run(&["commit", "-q", "-a", "-m", "ours"]).unwrap();
    git.asked(&["merge", "-q", "other"]).unwrap();
    put(&made.path, "src/b", "only staged\n");
    git.run(&["add", "src/b"]).unwrap();
    put(&made.path, "src/b", "later\n");
    put(&made.path, "crlf", "1\r\n2\r\n");
    put(&made.path, "odd \"name\"\\\n\u{9b}", "odd\n");
    symlink("no\nwhere", made.path.join("dangling")).unwrap();
    let staged = git.line(&["rev-parse", ":src/b", ":1:a", ":2:a", ":3:a"]).unwrap();
    let kept = discard(&made, false).unwrap().unwrap();
    let show = |what: &str| place.git(&["show", &format!("{kept}:{what}")]);
    let all = place.git(&["rev-list", "--objects", "--no-object-names", &kept]);
    assert!(all.contains(&gone), "{all}");
    assert!(staged.lines().count() == 4 && staged.lines().all(|blob| all.contains(blob)), "{staged} {all}");
    let crlf = Git::at(&place.top()).run(&["cat-file", "blob", &format!("{kept}:crlf")]).unwrap();
    assert_eq!(crlf, b"1\r\n2\r\n");
    assert_eq!(
        (show("src/b"), show("odd \"name\"\\\n\u{9b}"), show("dangling")),
        ("later".into(), "odd".into(), "no\nwhere".into())
    );
    let along = place.git(&["log", "--format=%s", "-1", &made.start]);
    assert!(along.contains("began with") && all.contains(&made.start));
}

#[test]
fn what_no_tree_can_hold_is_named_and_stays() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, "sub/.git", "a plain file\n");
    put(&made.path, "broken/.git/notes", "of a repository that is none any more\n");
    put(&made.path, "build/dep/.Git/x", "ignored\n");
    let why = discard(&made, false).unwrap_err().to_string();
    for name in ["sub/.git", "broken/.git", "build/dep/.Git"] {
        assert!(why.contains(name) && made.path.join(name).exists(), "{why}");
    }
    fs::remove_dir_all(made.path.join("sub")).unwrap();
    fs::remove_dir_all(made.path.join("broken")).unwrap();
    assert!(discard(&made, false).is_err());
    discard(&made, true).unwrap();
}

#[test]
fn what_comes_while_it_is_discarded_stays() {
    let place = Place::new();
    let made = place.make("w", false);
    let preserved = discard::Preserved::of(&made, false).unwrap();
    // Stands for an agent that works on.
    put(&made.path, "late", "late\n");
    let why = preserved.remove().unwrap_err().to_string();
    assert!(why.contains("late") && why.contains("nothing was removed"), "{why}");
    let git = Git::at(&made.path);
    assert_eq!(git.line(&["status", "--porcelain"]).unwrap(), "?? late");
    discard(&made, false).unwrap();
}

#[test]
fn a_file_that_is_saved_during_a_merge_stays_and_the_others_are_merged() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, "a", "theirs\n");
    put(&made.path, "new", "theirs\n");
    put(&made.path, "z", "theirs\n");
    fs::remove_file(made.path.join("src/b")).unwrap();
    let merge = Merge::of(&made, None).unwrap();
    // After everything was looked at.
    place.write("a", "mine\n");
    place.write("new", "mine, too\n");
    place.write("src/b", "b again\n");
    let merged = merge.carry_out(|_, _| true);
    assert_eq!(names(&merged.files), ["z"]);
    let left: Vec<PathBuf> = merged.left.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(names(&left), ["a", "new", "src/b"]);
    assert_eq!(
        (place.read("a"), place.read("new"), place.read("src/b")),
        ("mine\n".into(), "mine, too\n".into(), "b again\n".into())
    );
}

#[test]
fn a_merge_that_is_stopped_leaves_whole_files_and_goes_on() {
    let place = Place::new();
    let made = place.make("w", false);
    for name in ["a", "new1", "new2", "src/b"] {
        put(&made.path, name, "theirs\n");
    }
    let merged = Merge::of(&made, None).unwrap().carry_out(|done, of| {
        assert_eq!(of, 4);
        done < 2
    });
    assert_eq!((merged.files.len(), merged.stopped), (2, 2));
    assert_eq!(
        (place.read("a"), place.read("new1"), place.read("src/b")),
        ("theirs\n".into(), "theirs\n".into(), "b\n".into())
    );
    assert_eq!(names(&merge(&made).files), ["new2", "src/b"]);
}

#[test]
fn what_a_killed_merge_has_left_goes_and_nothing_else_does() {
    let place = Place::new();
    let made = place.make("w", false);
    for (name, text) in [("a", "theirs, a longer text\n"), ("src/b", "theirs\n"), ("src/new", "new\n")] {
        put(&made.path, name, text);
    }
    let killed = |place: &Place| {
        let merge = Merge::of(&made, None).unwrap();
        let (path, record) = merge.record;
        fs::write(&path, serde_json::to_string(&record).unwrap()).unwrap();
        place.write(".acp-tui-0123456789abcdef.tmp", "theirs, a lon");
        place.write("src/.acp-tui-0123456789abcdef.tmp", "the");
        symlink("theirs", place.top().join("src/.acp-tui-00000000000000aa.tmp")).unwrap();
        // Of another program, of a file elsewhere, and somebody's own.
        place.write("src/.acp-tui-00000000000000ff.tmp", "precious");
        place.write("src/.acp-tui-00000000000000fg.tmp", "the");
        place.write("other/.acp-tui-0123456789abcdef.tmp", "the");
        fs::create_dir(place.top().join("src/.acp-tui-00000000000000bb.tmp")).unwrap();
        path
    };
    let stay = [
        "src/.acp-tui-00000000000000ff.tmp",
        "src/.acp-tui-00000000000000fg.tmp",
        "other/.acp-tui-0123456789abcdef.tmp",
    ];
    let record = killed(&place);
    // As long as it is carried out its record is locked.
    let lock = fs::File::open(&record).unwrap();
    lock.lock().unwrap();
    sweep_all(&place.state());
    assert!(record.exists() && place.top().join(".acp-tui-0123456789abcdef.tmp").exists());
    // A child that another test starts has a copy of the descriptor for a moment.
    lock.unlock().unwrap();
    sweep_all(&place.state());
    assert!(!record.exists());
    for gone in [".acp-tui-0123456789abcdef.tmp", "src/.acp-tui-0123456789abcdef.tmp"] {
        assert!(place.top().join(gone).symlink_metadata().is_err(), "{gone}");
    }
    for name in stay.iter().chain(&["src/.acp-tui-00000000000000aa.tmp", "src/.acp-tui-00000000000000bb.tmp"]) {
        assert!(place.top().join(name).symlink_metadata().is_ok(), "{name}");
        let _ = fs::remove_file(place.top().join(name));
    }
    fs::remove_dir(place.top().join("src/.acp-tui-00000000000000bb.tmp")).unwrap();
    let record = killed(&place);
    let merged = merge(&made);
    assert_eq!(names(&merged.files), ["a", "src/b", "src/new"]);
    assert!(!record.exists() && stay.iter().all(|name| place.top().join(name).exists()));
    assert!(!place.top().join(".acp-tui-0123456789abcdef.tmp").exists());
}

#[test]
fn what_stands_in_the_way_is_named_and_the_rest_is_merged() {
    let place = Place::new();
    place.write(".git/info/exclude", "lib\nout\nlink\n");
    place.write("lib", "precious\n");
    place.write("out/precious", "precious\n");
    let outside = place.temp.path().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, place.top().join("link")).unwrap();
    let made = place.make("w", false);
    put(&made.path, "a", "theirs\n");
    put(&made.path, "lib/x", "theirs\n");
    put(&made.path, "link/x", "theirs\n");
    put(&made.path, "out", "a file\n");
    Git::at(&made.path).run(&["add", "-f", "lib", "link", "out"]).unwrap();
    let merged = merge(&made);
    assert_eq!(names(&merged.files), ["a"]);
    let left: Vec<String> = merged.left.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
    assert_eq!(
        left,
        [
            "lib/x: below lib, which is no directory here",
            "link/x: below link, which is a symbolic link here",
            "out: a directory here, which has out/precious"
        ]
    );
    assert_eq!(
        (place.read("a"), place.read("lib"), place.read("out/precious")),
        ("theirs\n".into(), "precious\n".into(), "precious\n".into())
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn files_directories_links_and_modes_take_each_others_place() {
    let place = Place::new();
    for name in ["dir/x", "file", "tool", "gone/deep/y"] {
        place.write(name, "before\n");
    }
    symlink("a", place.top().join("link")).unwrap();
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "more"]);
    fs::set_permissions(place.top().join("file"), fs::Permissions::from_mode(0o640)).unwrap();
    let made = place.make("w", false);
    for dir in ["dir", "gone"] {
        fs::remove_dir_all(made.path.join(dir)).unwrap();
    }
    for name in ["file", "link"] {
        fs::remove_file(made.path.join(name)).unwrap();
    }
    put(&made.path, "dir", "a file now\n");
    put(&made.path, "file/x", "a directory now\n");
    put(&made.path, "link/x", "a directory now\n");
    fs::set_permissions(made.path.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    let merged = merge(&made);
    assert_eq!(merged.left, []);
    assert_eq!(names(&merged.files), ["dir", "dir/x", "file", "file/x", "gone/deep/y", "link", "link/x", "tool"]);
    assert_eq!(
        (place.read("dir"), place.read("file/x"), place.read("link/x")),
        ("a file now\n".into(), "a directory now\n".into(), "a directory now\n".into())
    );
    assert!(!place.top().join("gone").exists());
    assert_eq!(place.top().join("tool").metadata().unwrap().permissions().mode() & 0o111, 0o111);
    assert_eq!(merge(&made), Merged::default());
}

#[test]
fn a_file_that_is_moved_there_and_changed_here_is_not_taken_away() {
    let place = Place::new();
    let made = place.make("w", false);
    fs::rename(made.path.join("a"), made.path.join("moved")).unwrap();
    put(&made.path, "moved", "1\n2\n3\n4\ntheirs\n6\n7\n8\n");
    place.write("a", "1\n2\n3\n4\nmine\n6\n7\n8\n");
    let merged = merge(&made);
    let left: Vec<PathBuf> = merged.left.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!((names(&merged.files), names(&left)), (vec![], vec!["a", "moved"]));
    assert!(place.read("a").contains("mine"));
    // What goes together is carried along.
    place.write("a", "ONE\n2\n3\n4\n5\n6\n7\n8\n");
    assert_eq!(names(&merge(&made).files), ["a", "moved"]);
    assert_eq!(place.read("moved"), "ONE\n2\n3\n4\ntheirs\n6\n7\n8\n");
}

#[test]
fn the_recovery_ref_of_a_merge_has_the_very_bytes() {
    let place = Place::new();
    place.write(".gitattributes", "* text=auto\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "more"]);
    let made = place.make("w", false);
    put(&made.path, "src/b", "theirs\n");
    place.write("src/b", "b\r\n");
    let planned = Merge::of(&made, None).unwrap();
    let kept = planned.recovery.clone().unwrap();
    assert_eq!(names(&planned.carry_out(|_, _| true).files), ["src/b"]);
    assert_eq!(Git::at(&place.top()).run(&["cat-file", "blob", &format!("{kept}:src/b")]).unwrap(), b"b\r\n");
}

#[test]
fn the_innermost_repository_is_meant() {
    let place = Place::new();
    let outer = place.make("same", false);
    let inner = Place { temp: TempDir::new_in(place.top()).unwrap() };
    fs::create_dir(inner.top()).unwrap();
    inner.git(&["init", "-q", "-b", "main"]);
    inner.git(&["commit", "-q", "--allow-empty", "-m", "inner"]);
    let made = create(&place.state(), &inner.top(), Naming::Exactly("same"), false).unwrap().worktree;
    let found = |here: &Path| find(&place.state(), "same", here).unwrap();
    assert_eq!(found(&inner.top().join("below")), made);
    assert_eq!(found(&place.top()), outer);
    assert_eq!(found(&outer.path), outer);
}

#[test]
fn no_worktree_goes_while_a_session_opens_in_it_and_none_opens_in_one_that_goes() {
    let place = Place::new();
    let made = create(&place.state(), &place.top(), Naming::Exactly("w"), false).unwrap();
    let (tree, state) = (made.worktree.clone(), place.state());
    let why = |refused: Outcome<Removal>| refused.unwrap_err().to_string();
    // From the first moment on that it can be found.
    assert!(why(Removal::of(&tree)).contains("just opening in worktree w"));
    let opening = Opening::at(&state, &tree.path.join("src")).unwrap().unwrap();
    drop(made);
    assert!(why(Removal::of(&tree)).contains("just opening"), "the second one holds it as well");
    drop(opening);
    let removal = Removal::of(&tree).unwrap();
    let refused = Opening::at(&state, &tree.path).unwrap_err().to_string();
    assert!(refused.contains("/w is just being discarded"), "{refused}");
    discard(&tree, false).unwrap();
    assert!(Opening::at(&state, &tree.path).is_err(), "its directory is gone");
    drop(removal);
    // Elsewhere nothing is looked for.
    for dir in [place.top(), state.clone(), below(&state)] {
        assert!(Opening::at(&state, &dir).unwrap().is_none(), "{dir:?}");
    }
}

#[test]
fn a_record_of_a_merge_that_is_none_gives_git_no_options_and_hangs_nothing() {
    let place = Place::new();
    let made = place.make("w", false);
    let (record, target) = (interrupted::record_of(&made), place.state().join("target"));
    fs::write(&target, "text").unwrap();
    let text = format!("{{\"v\":1,\"was\":\"--output={}\",\"is\":\"HEAD\"}}", target.display());
    fs::write(&record, text).unwrap();
    sweep(&made).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "text");
    rustix::fs::mknodat(rustix::fs::CWD, &record, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    sweep(&made).unwrap();
}

#[test]
fn what_is_a_file_on_one_side_and_a_directory_on_the_other_is_named_as_it_is_called() {
    let place = Place::new();
    let made = place.make("w", false);
    put(&made.path, "both", "theirs\n");
    fs::create_dir(place.top().join("both")).unwrap();
    place.write("both/x", "mine\n");
    let merged = Merge::of(&made, None).unwrap().carry_out(|_, _| true);
    let left: Vec<PathBuf> = merged.left.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!((names(&merged.files), names(&left)), (vec![], vec!["both"]));
    assert_eq!(place.read("both/x"), "mine\n");
}

#[test]
#[cfg(target_os = "linux")]
fn what_git_takes_into_no_tree_is_named_and_the_rest_is_merged() {
    let place = Place::new();
    let made = place.make("w", false);
    place.write("here/.Git/x", "of the person\n");
    put(&made.path, "a", "theirs\n");
    put(&made.path, "git~1", "theirs\n");
    put(&made.path, ".GIT/x", "x\n");
    put(&made.path, ".GIT/y", "y\n");
    put(&made.path, "s/.gIT", "x\n");
    symlink("a", made.path.join(".gitmodules")).unwrap();
    let merged = merge(&made);
    assert_eq!(names(&merged.files), ["a", "git~1"]);
    let left =
        [".GIT", ".gitmodules", "s/.gIT"].map(|name| (PathBuf::from(name), "git takes no file of this name".into()));
    assert_eq!(merged.left, left);
    assert_eq!((place.read("a"), place.read("here/.Git/x")), ("theirs\n".into(), "of the person\n".into()));
    assert!(left.iter().all(|(path, _)| place.top().join(path).symlink_metadata().is_err()));
}
