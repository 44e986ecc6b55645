use super::candidates::NESTED;
use super::*;
use crate::review::snapshot::preserve::Share;
use crate::review::state::Oid;
use crate::review::worktree::git_index::Index;
use crate::review::worktree::walk::{Stat, faults};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// A workspace and, beside it, a place for its store.
struct Space {
    temp: TempDir,
    root: PathBuf,
}

impl Space {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("work");
        fs::create_dir(&root).unwrap();
        Self { temp, root }
    }

    /// With a repository in which all that `fill` has made is committed.
    fn git(fill: impl FnOnce(&Self)) -> Self {
        let space = Self::new();
        space.run(&["init", "-q", "-b", "main"]);
        fill(&space);
        space.run(&["add", "-A"]);
        space.run(&["commit", "-qm", "one"]);
        space
    }

    /// The same once more: quicker than to make it anew. Its index knows the files that are there.
    fn copy(&self) -> Self {
        let space = Self::new();
        assert!(Command::new("cp").arg("-a").arg(self.root.join(".")).arg(&space.root).status().unwrap().success());
        space.run(&["update-index", "-q", "--refresh"]);
        space
    }

    fn run_in(&self, dir: &Path, args: &[&str]) -> String {
        let out = Command::new("git")
            .current_dir(dir)
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
            .args(["-c", "gc.auto=0"])
            .args(args)
            .env("HOME", self.temp.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    fn run(&self, args: &[&str]) -> String {
        self.run_in(&self.root, args)
    }

    fn store(&self) -> PathBuf {
        self.temp.path().join("store")
    }

    fn snapshot(&self) -> Snapshot {
        self.limited(Limits::default())
    }

    /// A store that has seen the tree as it is.
    fn limited(&self, limits: Limits) -> Snapshot {
        let mut snapshot = Snapshot::create(&self.store(), &self.root, limits).unwrap();
        assert_eq!(snapshot.scan().unwrap(), []);
        snapshot
    }

    fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn packs(&self) -> usize {
        let names = fs::read_dir(self.store().join("objects/pack")).unwrap();
        names.filter(|e| e.as_ref().unwrap().path().extension() == Some(OsStr::new("idx"))).count()
    }

    fn loose(&self) -> usize {
        fs::read_dir(self.store().join("objects")).unwrap().count()
    }
}

fn paths(changes: &[Change]) -> Vec<&str> {
    changes.iter().map(|c| c.path.to_str().unwrap()).collect()
}

fn before(snapshot: &Snapshot, change: &Change) -> Vec<u8> {
    snapshot.objects.content(&change.before).unwrap()
}

fn after(snapshot: &Snapshot, change: &Change) -> Vec<u8> {
    snapshot.objects.content(&change.after).unwrap()
}

/// Every file below a directory with its content and times.
fn everything(dir: &Path) -> Vec<(PathBuf, Vec<u8>, i64, i64, i64)> {
    let mut out = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            let meta = entry.metadata().unwrap();
            let bytes = if meta.is_dir() { Vec::new() } else { fs::read(entry.path()).unwrap() };
            out.push((entry.path(), bytes, meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec()));
            if meta.is_dir() {
                todo.push(entry.path());
            }
        }
    }
    out.sort();
    out
}

/// What the repository of the tree has, without any below it.
fn named(own: Option<&Index>) -> Named<'_> {
    static NONE: BTreeMap<RelPath, Index> = BTreeMap::new();
    Named { own, nested: &NONE }
}

#[test]
fn what_is_created_changed_and_deleted_is_found_with_its_content() {
    let space = Space::new();
    space.write("a.txt", "one");
    space.write("dir/b.bin", b"\0\xff\r\n");
    space.write("gone", "was here");
    let mut snapshot = space.snapshot();
    assert_eq!(snapshot.scan().unwrap(), []);
    space.write("a.txt", "two!");
    space.write("dir/new", "");
    fs::remove_file(space.root.join("gone")).unwrap();
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["a.txt", "dir/new", "gone"]);
    assert_eq!((before(&snapshot, &changes[0]), after(&snapshot, &changes[0])), (b"one".to_vec(), b"two!".to_vec()));
    assert!(changes[1].before.is_absent() && matches!(changes[1].after, State::File { size: 0, .. }));
    assert!(changes[2].after.is_absent());
    assert_eq!(before(&snapshot, &changes[2]), b"was here");
    assert_eq!(snapshot.state(Path::new("a.txt")), changes[0].after);
    assert_eq!(snapshot.state(&space.root.join("a.txt")), changes[0].after);
    assert!(snapshot.state(Path::new("gone")).is_absent());
    assert_eq!(snapshot.objects.content(&snapshot.state(Path::new("dir/b.bin"))).unwrap(), b"\0\xff\r\n");
    assert_eq!(snapshot.scan().unwrap(), []);
}

#[test]
fn names_are_those_of_git() {
    let space = Space::git(|s| s.write("a", "some text\n"));
    let snapshot = space.snapshot();
    let name = space.run(&["hash-object", "a"]);
    assert_eq!(snapshot.state(Path::new("a")).oid(), Oid::parse(name.trim()));
}

#[test]
fn a_moved_directory_a_new_mode_and_a_link_are_changes() {
    let space = Space::new();
    space.write("dir/a", "content");
    space.write("run.sh", "#!");
    symlink("run.sh", space.root.join("link")).unwrap();
    let mut snapshot = space.snapshot();
    assert!(matches!(snapshot.state(Path::new("link")), State::Link { size: 6, .. }));
    fs::rename(space.root.join("dir"), space.root.join("moved")).unwrap();
    fs::set_permissions(space.root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(space.root.join("link")).unwrap();
    symlink("nowhere/else", space.root.join("link")).unwrap();
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["dir/a", "link", "moved/a", "run.sh"]);
    assert_eq!(changes[0].before, changes[2].after);
    assert_eq!(after(&snapshot, &changes[1]), b"nowhere/else");
    assert_eq!(changes[3].after.mode(), Some(0o755));
    assert_eq!(changes[3].before.oid(), changes[3].after.oid());
}

#[test]
fn an_edit_of_the_same_size_in_the_same_instant_is_found() {
    let space = Space::new();
    space.write("a", "one");
    let mut snapshot = space.snapshot();
    // The numbers of the file as if nothing had happened.
    space.write("a", "two");
    let stat = Reader::new(&space.root).stat(b"a").unwrap().unwrap();
    snapshot.seen.get_mut(&b"a"[..]).unwrap().stat = stat;
    assert_eq!(paths(&snapshot.scan().unwrap()), ["a"]);
}

#[test]
fn an_old_file_is_not_read_again() {
    let space = Space::new();
    space.write("a", "one");
    let mut snapshot = space.snapshot();
    let stat = Reader::new(&space.root).stat(b"a").unwrap().unwrap();
    let entry = snapshot.seen.get_mut(&b"a"[..]).unwrap();
    (entry.stat, entry.racy) = (stat, false);
    space.write("b", "new");
    let walked = walk::walk(&space.root, None, 10, &Arc::default());
    assert_eq!(snapshot.jobs(&walked, &named(None)).iter().map(|job| &*job.key).collect::<Vec<_>>(), [b"b"]);
}

#[test]
fn the_repository_of_the_person_is_not_touched() {
    let space = Space::git(|s| {
        s.write("a", "one");
        s.write("sub/b", "two");
    });
    space.write("untracked", "three");
    let git = space.root.join(".git");
    let was = everything(&git);
    let mut snapshot = space.snapshot();
    space.write("a", "changed");
    fs::remove_file(space.root.join("sub/b")).unwrap();
    assert_eq!(paths(&snapshot.scan().unwrap()), ["a", "sub/b"]);
    snapshot.look(&[PathBuf::from("untracked"), git.join("config"), PathBuf::from(".git/HEAD")]).unwrap();
    snapshot.uncovered();
    assert_eq!(everything(&git), was);
    assert!(snapshot.seen.keys().all(|key| !key.starts_with(b".git")));
}

#[test]
fn what_git_has_is_not_kept_twice_until_it_changes_and_then_survives_gc() {
    let space = Space::git(|s| s.write("a", "precious"));
    let mut snapshot = space.snapshot();
    assert_eq!(space.packs(), 0);
    space.write("a", "changed");
    let changes = snapshot.scan().unwrap();
    assert_eq!(space.packs(), 1);
    space.run(&["checkout", "-q", "--orphan", "other"]);
    space.run(&["add", "-A"]);
    space.run(&["commit", "-qm", "other"]);
    space.run(&["branch", "-D", "main"]);
    space.run(&["reflog", "expire", "--expire=now", "--all"]);
    space.run(&["gc", "-q", "--prune=now"]);
    assert_eq!(before(&snapshot, &changes[0]), b"precious");
    // The present content is the repository's meanwhile, in a pack; ours is there as well.
    drop(snapshot);
    let snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(
        (before(&snapshot, &changes[0]), after(&snapshot, &changes[0])),
        (b"precious".into(), b"changed".into())
    );
}

#[test]
fn content_is_found_after_the_person_has_packed_the_repository() {
    let space = Space::git(|s| s.write("a", "precious"));
    let mut snapshot = space.snapshot();
    let state = snapshot.state(Path::new("a"));
    assert_eq!(snapshot.objects.content(&state).unwrap(), b"precious");
    space.run(&["gc", "-q", "--prune=now"]);
    assert_eq!(snapshot.objects.content(&state).unwrap(), b"precious");
    fs::remove_file(space.root.join("a")).unwrap();
    assert_eq!(paths(&snapshot.scan().unwrap()), ["a"]);
    fs::remove_dir_all(space.root.join(".git")).unwrap();
    assert_eq!(snapshot.objects.content(&state).unwrap(), b"precious");
}

/// What the index of a repository knows, as if it had been written long after the files.
fn late_index(space: &Space) -> (Repo, Index) {
    let repo = Repo::find(&space.root).unwrap();
    let mut index = repo.index(&space.root).unwrap();
    index.written = (i64::MAX, 0);
    (repo, index)
}

#[test]
fn the_index_is_believed_when_nothing_can_differ() {
    let space = Space::git(|s| {
        s.write("sub/a", "one");
        symlink("a", s.root.join("sub/link")).unwrap();
    });
    let (_, index) = late_index(&space);
    let root = space.root.join("sub");
    for (root, index) in [(&space.root, index), (&root, late_index(&Space { root: root.clone(), ..space }).1)] {
        let mut stats = walk::walk(root, None, 10, &Arc::default()).files;
        assert_eq!(stats.len(), 2);
        let (link, file) = (stats.pop().unwrap(), stats.pop().unwrap());
        assert_eq!(index.blob(&link.0, &link.1), packs::hash(b"a").ok());
        assert_eq!(index.blob(&file.0, &file.1), packs::hash(b"one").ok());
        let changes: [fn(&mut Stat); 6] = [
            |stat| stat.size += 1,
            |stat| stat.ino += 1,
            |stat| stat.ctime.1 ^= 1,
            |stat| stat.mtime.1 ^= 1,
            |stat| stat.mtime.0 += 1,
            |stat| stat.kind = Kind::Link,
        ];
        for change in changes {
            let mut other = file.1;
            change(&mut other);
            assert_eq!(index.blob(&file.0, &other), None, "{other:?}");
        }
    }
}

#[test]
fn an_index_as_young_as_the_file_is_not_believed() {
    let space = Space::git(|s| s.write("a", "one"));
    let (_, mut index) = late_index(&space);
    let (key, stat) = walk::walk(&space.root, None, 10, &Arc::default()).files.remove(0);
    assert!(index.blob(&key, &stat).is_some());
    index.written = stat.touched();
    assert_eq!(index.blob(&key, &stat), None);
}

#[test]
fn a_blob_that_is_not_as_long_as_the_file_or_not_there_is_not_believed() {
    let space = Space::git(|s| {
        s.run(&["config", "core.autocrlf", "true"]);
        s.write("converted", "one\r\n");
        s.write("lost", "lost");
        s.write("plain", "plain");
    });
    space.run(&["config", "--unset", "core.autocrlf"]);
    let lost = space.run(&["hash-object", "lost"]);
    fs::remove_file(space.root.join(".git/objects").join(&lost[..2]).join(lost[2..].trim())).unwrap();
    let (repo, index) = late_index(&space);
    let mut snapshot = Snapshot::create(&space.store(), &space.root, Limits::default()).unwrap();
    snapshot.objects.find(&space.root, Some(&repo), &[]).unwrap();
    let walked = walk::walk(&space.root, None, 10, &Arc::default());
    let (mut jobs, mut news) = (snapshot.jobs(&walked, &named(Some(&index))), Vec::new());
    assert_eq!(jobs.len(), 3);
    snapshot.believe(&index, snapshot.began[0], &mut jobs, &mut news);
    assert_eq!(jobs.iter().map(|job| &*job.key).collect::<Vec<_>>(), [&b"converted"[..], b"lost"]);
    assert_eq!(news.len(), 1);
}

#[test]
fn attributes_that_convert_are_seen_and_others_are_not() {
    for (text, converts) in [
        ("* text=auto\n", true),
        ("*.bin filter=lfs diff=lfs -text\n", true),
        ("[attr]mine eol=crlf\n", true),
        ("*.c ident\n", true),
        ("*.txt -text\n", false),
        ("# * text\n*.rs diff=rust\n", false),
        ("text eol.txt\n", false),
    ] {
        let space = Space::git(|s| s.write(".gitattributes", text));
        let repo = Repo::find(&space.root).unwrap();
        let index = repo.index(&space.root).unwrap();
        let seen = BTreeSet::from([RelPath::from(&b".gitattributes"[..])]);
        assert_eq!(crate::review::worktree::repo::converting(&space.root.join(".gitattributes")), converts, "{text}");
        assert!(!converts || repo.converts(&space.root, &index, &seen), "{text}");
        assert!(repo.converts(&space.root, &index, &BTreeSet::new()), "one that only git has");
    }
}

#[test]
fn raw_bytes_are_kept_where_git_converts() {
    for setting in [["core.autocrlf", "true"], ["core.autocrlf", "input"], ["core.eol", "crlf"]] {
        let space = Space::git(|s| {
            s.write("a.txt", "x\n");
            if setting[0] == "core.eol" {
                s.write(".gitattributes", "* text=auto\n");
            }
        });
        space.run(&["config", setting[0], setting[1]]);
        space.write("a.txt", "one\r\ntwo\r\n");
        space.run(&["add", "-A"]);
        space.run(&["commit", "-qm", "two"]);
        assert_eq!(space.run(&["cat-file", "-p", "HEAD:a.txt"]), "one\ntwo\n");
        let snapshot = space.snapshot();
        assert_eq!(snapshot.objects.content(&snapshot.state(Path::new("a.txt"))).unwrap(), b"one\r\ntwo\r\n");
        // Also when the setting is gone and the index still calls the file clean.
        space.run(&["config", "--unset", setting[0]]);
        let mut again = Snapshot::create(&space.temp.path().join("again"), &space.root, Limits::default()).unwrap();
        again.scan().unwrap();
        assert_eq!(again.objects.content(&again.state(Path::new("a.txt"))).unwrap(), b"one\r\ntwo\r\n");
    }
}

#[test]
fn ignored_is_named_and_covered_once_it_was_looked_at() {
    let space = Space::git(|s| {
        s.write(".gitignore", "target/\n.env\n");
        s.write("src/a", "a");
    });
    space.write("target/deep/x.o", "x");
    space.write(".env", "SECRET");
    space.write(".hidden", "seen");
    let mut snapshot = space.snapshot();
    let at_risk = "2 files are only in your repository's .git: if that is harmed, they cannot be taken back";
    assert_eq!(snapshot.uncovered(), [at_risk, ".env (ignored)", "target/ (ignored)"]);
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    assert_eq!(snapshot.uncovered(), [".env (ignored)", "target/ (ignored)"]);
    // After a look that failed it is unknown which of them is ignored.
    space.write("late", "made meanwhile");
    let unclear = [".env", "late", "target/"].map(|name| format!("{name} (ignored, or not looked at)"));
    let said = snapshot.uncovered_but(&|_| false, true).into_iter();
    assert_eq!(said.map(|line| line.words).collect::<Vec<_>>(), unclear);
    std::fs::remove_file(space.root.join("late")).unwrap();
    space.write("target/deep/x.o", "y");
    assert_eq!(snapshot.scan().unwrap(), []);
    let env = [space.root.join(".env"), PathBuf::from("target/later")];
    assert_eq!(snapshot.look(&env).unwrap(), []);
    space.write(".env", "CHANGED");
    space.write("target/later", "created");
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), [".env", "target/later"]);
    assert_eq!(before(&snapshot, &changes[0]), b"SECRET");
    assert!(changes[1].before.is_absent());
    fs::remove_file(space.root.join(".env")).unwrap();
    assert_eq!(paths(&snapshot.look(&env).unwrap()), [".env"]);
    space.write(".env", "back");
    assert_eq!(paths(&snapshot.scan().unwrap()), [".env"]);
}

#[test]
fn what_was_ignored_before_is_not_new_when_the_rules_change() {
    let space = Space::git(|s| s.write(".gitignore", ".env\n"));
    space.write(".env", "SECRET");
    let mut snapshot = space.snapshot();
    snapshot.began[1].0 += 5;
    space.write(".gitignore", "");
    assert_eq!(paths(&snapshot.scan().unwrap()), [".gitignore"]);
    assert!(!snapshot.state(Path::new(".env")).is_absent());
    fs::remove_file(space.root.join(".env")).unwrap();
    assert_eq!(paths(&snapshot.scan().unwrap()), [".env"]);
}

#[test]
fn what_only_comes_into_the_index_is_named() {
    let said = |snapshot: &Snapshot| {
        let lines = snapshot.uncovered().into_iter();
        lines
            .filter_map(|line| {
                line.strip_prefix("git's index has changed since the session began, which an undo leaves, for ")
                    .map(str::to_owned)
            })
            .collect::<Vec<_>>()
    };
    let space = Space::git(|s| {
        s.write("src/a", "a");
        s.write("src/b", "b");
    });
    space.write("of-person", "untracked");
    let mut snapshot = space.snapshot();
    assert_eq!(said(&snapshot), [""; 0]);
    space.run(&["add", "-A"]);
    assert_eq!(snapshot.scan().unwrap(), [], "no file has changed");
    assert_eq!(said(&snapshot), ["1 path: of-person"]);
    // What was found is kept as long as the index stays: documents ask for it often.
    let (note, away) = (space.store().join("index-at-first"), space.store().join("away"));
    fs::rename(&note, &away).unwrap();
    assert_eq!(said(&snapshot), ["1 path: of-person"]);
    fs::rename(&away, &note).unwrap();
    space.run(&["rm", "-q", "--cached", "src/a"]);
    space.run(&["update-index", "--chmod=+x", "src/b"]);
    for n in 0..20 {
        space.write(format!("new{n:02}"), "new");
    }
    space.run(&["add", "-N", "."]);
    snapshot.scan().unwrap();
    let named = said(&snapshot).pop().unwrap();
    assert!(named.starts_with("23 paths: new00, new01, ") && named.ends_with(" and 13 more"), "{named}");
    // Also by who takes the record up without a look, as for a report.
    snapshot.save().unwrap();
    drop(snapshot);
    let again = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(said(&again), [named]);
    space.run(&["read-tree", "HEAD"]);
    assert_eq!(said(&again), [""; 0], "it is as it was");
}

#[test]
fn what_comes_into_a_new_repositorys_first_index_is_named() {
    let space = Space::new();
    space.run(&["init", "-q"]);
    space.write("of-person", "untracked");
    let mut snapshot = space.snapshot();
    space.run(&["add", "-A"]);
    snapshot.scan().unwrap();
    let is_said =
        |line: &String| line.starts_with("git's index has changed") && line.ends_with(" for 1 path: of-person");
    assert!(snapshot.uncovered().iter().any(is_said), "{:?}", snapshot.uncovered());
}

#[test]
fn tracked_although_ignored_is_covered() {
    let space = Space::git(|s| {
        s.write(".gitignore", "*.log\n");
        s.write("keep.log", "one");
        s.write("other.log", "one");
        s.run(&["add", "-f", "keep.log"]);
    });
    let mut snapshot = space.snapshot();
    space.write("keep.log", "two");
    space.write("other.log", "two");
    assert_eq!(paths(&snapshot.scan().unwrap()), ["keep.log"]);
}

/// A tree with what commands of git move about: files, directories, a branch, a stash, something ignored.
fn busy_space() -> Space {
    let space = Space::git(|s| {
        s.write(".gitignore", "*.log\nbuild/\n");
        s.write("a.txt", "a");
        s.write("d1/f1", "f1");
        s.write("d1/f2", "f2");
        s.write("z/last", "z");
    });
    space.run(&["checkout", "-q", "-b", "other"]);
    space.write("d1/f1", "f1 of other");
    space.write("only/other", "o");
    space.run(&["add", "-A"]);
    space.run(&["commit", "-qm", "two"]);
    space.run(&["checkout", "-q", "main"]);
    space.write("stashed/new", "s");
    space.write("a.txt", "a stashed");
    space.run(&["add", "-A"]);
    space.run(&["stash", "push", "-q"]);
    space.write("build/out.o", "o");
    space.write("own.log", "the person's");
    space
}

/// The covered files and their bytes.
fn tree(space: &Space) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = everything(&space.root).into_iter().filter(|(path, ..)| path.is_file());
    let below = files.map(|(path, bytes, ..)| (path.strip_prefix(&space.root).unwrap().to_owned(), bytes));
    below.filter(|(path, _)| !path.starts_with(".git")).collect()
}

/// The content of a path before and after, nothing where it is not there.
type Contents = (Option<Vec<u8>>, Option<Vec<u8>>);

/// What a row of looks has reported, as one change for each path.
fn together(snapshot: &Snapshot, looks: Vec<Change>) -> BTreeMap<PathBuf, Contents> {
    let mut all: BTreeMap<PathBuf, (State, State)> = BTreeMap::new();
    for change in looks {
        let of_path = all.entry(change.path).or_insert((change.before, change.before));
        assert_eq!(of_path.1, change.before);
        of_path.1 = change.after;
    }
    let content = |state: &State| {
        let bytes = || snapshot.objects.content(state).unwrap_or_else(|_| format!("not kept: {state:?}").into_bytes());
        (!state.is_absent()).then(bytes)
    };
    let all = all.into_iter().filter(|(_, (before, after))| before != after);
    all.map(|(path, (before, after))| (path, (content(&before), content(&after)))).collect()
}

const COMMANDS: [&[&[&str]]; 9] = [
    &[&["mv", "a.txt", "moved.txt"]],
    &[&["mv", "d1", "renamed"]],
    &[&["mv", "z/last", "d1/last"], &["mv", "a.txt", "a-1"]],
    &[&["add", "."], &["mv", "d1/f1", "f1.log"]],
    &[&["checkout", "-q", "other"]],
    &[&["stash", "pop", "-q"]],
    &[&["rm", "-q", "d1/f1"], &["commit", "-qm", "less"]],
    &[&["rm", "-q", "--cached", "a.txt"], &["commit", "-qam", "untracked"]],
    &[&["checkout", "-q", "other"], &["mv", "only", "d1/only"], &["commit", "-qm", "more"]],
];

const POINTS: [Point; 6] =
    [Point::Began, Point::Walked, Point::IndexSeen, Point::IndexRead, Point::Missed, Point::Compared];

#[test]
fn what_a_command_puts_into_the_index_in_the_middle_of_a_look_is_reported() {
    let busy = busy_space();
    for command in COMMANDS {
        for point in POINTS {
            let space = busy.copy();
            let mut snapshot = space.snapshot();
            let old = tree(&space);
            // These are only passed when the index is another one, and when it names what the walk has missed.
            if matches!(point, Point::IndexSeen | Point::Missed) {
                space.write("early", "e");
                space.run(&["add", "early"]);
                fs::remove_file(space.root.join("early")).unwrap();
            }
            let root = Arc::new(Mutex::new(Some(space)));
            let space_there = Arc::clone(&root);
            let mut done = false;
            snapshot.meanwhile = Some(Box::new(move |at| {
                let space = space_there.lock().unwrap();
                let space = space.as_ref().unwrap();
                if point == Point::Missed && at == Point::Walked {
                    space.write("early", "e");
                }
                if at == point && !std::mem::replace(&mut done, true) {
                    space.write("brand-new", "n");
                    for args in command {
                        space.run(args);
                    }
                    space.run(&["add", "brand-new"]);
                }
            }));
            let mut looks = snapshot.scan().unwrap();
            snapshot.meanwhile = None;
            looks.extend(snapshot.scan().unwrap());
            let space = root.lock().unwrap().take().unwrap();
            let new = tree(&space);
            assert!(new.contains_key(Path::new("brand-new")), "{point:?} was not passed");
            let names = old.keys().chain(new.keys()).filter(|path| old.get(*path) != new.get(*path));
            let wanted: BTreeMap<_, _> =
                names.map(|p| (p.clone(), (old.get(p).cloned(), new.get(p).cloned()))).collect();
            let got = together(&snapshot, looks);
            assert_eq!(got, wanted, "{command:?} at {point:?}");
        }
    }
}

#[test]
fn what_takes_the_place_of_a_file_between_walk_and_reading_is_judged_as_well() {
    for (made, is_persons) in [("before the turn", true), ("in the turn", false)] {
        let space = Space::git(|s| {
            s.write(".gitignore", "*.log\n");
            s.write("notes", "before\n");
        });
        let mut snapshot = space.snapshot();
        let root = space.root.clone();
        let makes = move || fs::write(root.join("mine.log"), "another\n").unwrap();
        if is_persons {
            makes();
            snapshot.scan().unwrap();
        }
        snapshot.turn_begins(None);
        if !is_persons {
            makes();
        }
        let root = space.root.clone();
        snapshot.meanwhile = Some(Box::new(move |at| {
            if at == Point::Judged && root.join("mine.log").exists() {
                fs::rename(root.join("mine.log"), root.join("notes")).unwrap();
            }
        }));
        let changes = snapshot.scan().unwrap();
        snapshot.meanwhile = None;
        assert_eq!(changes.len(), 1, "made {made}: {changes:?}");
        assert_eq!(snapshot.peeks().is_only(Path::new("notes")), is_persons, "made {made}");
    }
}

#[test]
fn what_a_turn_puts_into_the_index_is_new_also_when_looks_have_come_past_it_while_it_was_ignored() {
    const POINTS: [Point; 5] = [Point::Began, Point::Walked, Point::IndexRead, Point::Compared, Point::Judged];
    let busy = busy_space();
    for (made, staged) in POINTS.into_iter().flat_map(|made| POINTS.map(|staged| (made, staged))) {
        let space = busy.copy();
        let mut snapshot = space.snapshot();
        snapshot.turn_begins(None);
        let space = Arc::new(space);
        let mut looks = Vec::new();
        let make: fn(&Space) = |s| {
            s.write("new.log", "n");
            s.write("fresh/new.log", "n");
            s.write("fresh/build/gen.c", "n");
        };
        let stage: fn(&Space) = |s| drop(s.run(&["add", "-f", "new.log", "fresh"]));
        for (point, what) in [(made, make), (staged, stage)] {
            let (space, mut done) = (Arc::clone(&space), false);
            snapshot.meanwhile = Some(Box::new(move |at| {
                if at == point && !std::mem::replace(&mut done, true) {
                    what(&space);
                }
            }));
            looks.extend(snapshot.scan().unwrap());
            snapshot.meanwhile = None;
        }
        looks.extend(snapshot.scan().unwrap());
        let is = Some(b"n".to_vec());
        let wanted =
            ["new.log", "fresh/new.log", "fresh/build/gen.c"].map(|name| (PathBuf::from(name), (None, is.clone())));
        assert_eq!(together(&snapshot, looks), BTreeMap::from(wanted), "made at {made:?}, staged at {staged:?}");
    }
}

#[test]
fn what_comes_with_a_directory_has_changed_when_the_directory_was_moved() {
    let space = Space::new();
    space.write("d/sub/a", "a");
    space.write("b", "b");
    let ctime = |path: &str| Stat::of_meta(&space.root.join(path).symlink_metadata().unwrap()).ctime;
    let old = ctime("d/sub/a");
    // As soon as the clock of the files has gone on.
    while ctime("d") <= old {
        fs::rename(space.root.join("d"), space.root.join("moved")).unwrap();
        fs::rename(space.root.join("moved"), space.root.join("d")).unwrap();
    }
    let moved = ctime("d");
    let at = |path: &str, since| {
        let at = walk::changed_at(&space.root, Path::new(path), since)
            .unwrap()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        (at.as_secs() as i64, at.subsec_nanos())
    };
    assert_eq!(at("d/sub/a", moved), moved);
    assert_eq!(at("d/sub/a", old), old, "it may have come by itself");
    assert_eq!(at("b", (i64::MAX, 0)), ctime("b"), "nothing has changed since");
    assert_eq!(at("d/gone", (0, 0)), ctime("d"));
}

#[test]
fn a_file_that_appears_while_it_is_asked_for_is_new() {
    for (point, name) in [(Point::Asked, "new.txt"), (Point::Asked, "new.log"), (Point::AskedAgain, "new.txt")] {
        let space = busy_space();
        let mut snapshot = space.snapshot();
        let path = space.root.join(name);
        let file = path.clone();
        snapshot.meanwhile = Some(Box::new(move |at| {
            if at == point {
                fs::write(&file, "new").unwrap();
            }
        }));
        let mut looks = snapshot.look(std::slice::from_ref(&path)).unwrap();
        snapshot.meanwhile = None;
        looks.extend(snapshot.scan().unwrap());
        let wanted = BTreeMap::from([(PathBuf::from(name), (None, Some(b"new".to_vec())))]);
        assert_eq!(together(&snapshot, looks), wanted, "{name} at {point:?}");
    }
}

#[test]
fn what_was_ignored_and_is_staged_or_named_is_not_taken_for_new() {
    let space = busy_space();
    space.write("untouched.log", "the person's, too");
    let mut snapshot = space.snapshot();
    // Staged as it was: no change, and covered from now on.
    space.run(&["add", "-f", "untouched.log"]);
    assert_eq!(snapshot.scan().unwrap(), []);
    space.write("untouched.log", "other");
    assert_eq!(paths(&snapshot.scan().unwrap()), ["untouched.log"]);
    // Changed before anybody could look: that it is another is known, what it was is not.
    snapshot.began = snapshot.began.map(|began| (began.0 - 1, 0));
    space.write("own.log", "the agent's");
    space.run(&["add", "-f", "own.log"]);
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["own.log"]);
    assert!(matches!(changes[0].before, State::Unkept { .. }), "{:?}", changes[0].before);
    space.write("build/out.o", "the agent's");
    snapshot.began = snapshot.began.map(|began| (began.0 - 1, 0));
    let changes = snapshot.look(&[space.root.join("build/out.o")]).unwrap();
    assert_eq!(paths(&changes), ["build/out.o"]);
    assert!(matches!(changes[0].before, State::Unkept { .. }), "{:?}", changes[0].before);
}

#[test]
fn a_look_finds_what_the_walk_would_and_nothing_outside() {
    let space = Space::git(|s| s.write("src/a", "a"));
    fs::create_dir(space.temp.path().join("outside")).unwrap();
    fs::write(space.temp.path().join("outside/x"), "x").unwrap();
    symlink("../outside", space.root.join("out")).unwrap();
    symlink("src", space.root.join("in")).unwrap();
    let mut snapshot = space.snapshot();
    let outside = ["../outside/x", "src/../../outside/x", "/etc/passwd", "", ".git/config"].map(PathBuf::from);
    let outside = [&[space.root.join("out/x")][..], &outside].concat();
    assert_eq!(snapshot.look(&outside[..4]).unwrap(), []);
    for path in &outside {
        assert!(matches!(snapshot.peek(path), Err(ReviewError::Refused(_))), "{}", path.display());
        assert!(snapshot.set(path, State::Absent).is_err(), "{}", path.display());
    }
    assert!(snapshot.seen.keys().all(|key| !key.ends_with(b"x") && !key.ends_with(b"passwd")));
    // What is named below the root is not there, also where a link leads to it.
    assert_eq!(snapshot.look(&["out/x".into(), "in/a".into()]).unwrap(), []);
    assert_eq!(snapshot.peek(Path::new("out/x")).unwrap(), (State::Absent, None));
    space.write("src/a", "b");
    space.write("src/new", "n");
    space.write("elsewhere", "e");
    assert_eq!(paths(&snapshot.look(&[space.root.join("in/a"), "src/new".into()]).unwrap()), ["src/a", "src/new"]);
    space.write("src/more/deep", "d");
    assert_eq!(paths(&snapshot.look(&["src".into()]).unwrap()), ["src/more/deep"]);
    fs::remove_dir_all(space.root.join("src/more")).unwrap();
    assert_eq!(paths(&snapshot.look(&["src/more".into()]).unwrap()), ["src/more/deep"]);
    assert_eq!(paths(&snapshot.scan().unwrap()), ["elsewhere"]);
}

#[test]
fn nested_repositories_and_submodules_are_ordinary_directories() {
    let space = Space::git(|s| {
        s.write("lib/a", "in the library");
        s.run_in(&s.root.join("lib"), &["init", "-q"]);
        s.run_in(&s.root.join("lib"), &["add", "-A"]);
        s.run_in(&s.root.join("lib"), &["commit", "-qm", "lib"]);
        s.run(&["submodule", "--quiet", "add", "./lib", "module"]);
    });
    let mut snapshot = space.snapshot();
    assert_eq!(space.packs(), 0, "all of it is in the repositories");
    space.write("lib/a", "changed");
    space.write("module/a", "changed too");
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["lib/a", "module/a"]);
    assert_eq!(before(&snapshot, &changes[1]), b"in the library");
}

#[test]
fn a_worktree_and_a_root_inside_of_a_repository_use_its_objects() {
    let space = Space::git(|s| s.write("sub/a", "content"));
    let tree = space.temp.path().canonicalize().unwrap().join("tree");
    space.run(&["worktree", "add", "-q", tree.to_str().unwrap()]);
    for (name, root) in [("one", tree.clone()), ("two", tree.join("sub")), ("three", space.root.join("sub"))] {
        let dir = space.temp.path().join(name);
        let mut snapshot = Snapshot::create(&dir, &root, Limits::default()).unwrap();
        snapshot.scan().unwrap();
        assert_eq!(fs::read_dir(dir.join("objects/pack")).unwrap().count(), 0, "{name}");
        assert_eq!(snapshot.seen.len(), 1, "{name}");
    }
}

#[test]
fn content_is_bounded_and_the_small_files_come_first() {
    let space = Space::new();
    space.write("large", vec![b'x'; 600]);
    for n in 0..5 {
        space.write(format!("small{n}"), format!("{n}").repeat(100));
    }
    space.write("over", vec![b'y'; 5000]);
    let limits = Limits { kept_bytes: 1000, file_bytes: 4000, ..Limits::default() };
    let mut snapshot = space.limited(limits);
    for n in 0..5 {
        assert!(snapshot.state(Path::new(&format!("small{n}"))).oid().is_some());
    }
    let large = snapshot.state(Path::new("large"));
    assert!(matches!(large, State::Unkept { size: 600, .. }));
    assert!(matches!(snapshot.objects.content(&large), Err(ReviewError::NotKept(_))));
    assert_eq!(snapshot.uncovered(), ["large: 600 B, content not kept", "over: 5 kB, content not kept"]);
    assert_eq!(snapshot.peek(Path::new("large")).unwrap(), (large, Some(vec![b'x'; 600])));
    assert_eq!(snapshot.peek(Path::new("over")).unwrap(), (snapshot.state(Path::new("over")), None));
    assert_eq!(snapshot.scan().unwrap(), []);
    space.write("large", "fits now");
    space.write("over", vec![b'z'; 5000]);
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["large", "over"]);
    assert_eq!(changes[0].before, large);
    assert_eq!(after(&snapshot, &changes[0]), b"fits now");
    assert!(matches!((changes[1].before, changes[1].after), (State::Unkept { .. }, State::Unkept { .. })));
    snapshot.save().unwrap();
    drop(snapshot);
    let mut snapshot = Snapshot::open(&space.store(), &space.root, limits).unwrap();
    space.write("new", vec![b'n'; 493]);
    assert!(matches!(snapshot.scan().unwrap()[0].after, State::Unkept { .. }), "the sum is remembered");
}

#[test]
fn one_look_reads_a_bounded_part_of_what_has_come() {
    let space = Space::git(|s| {
        for n in 0..5 {
            s.write(format!("{n}"), format!("{n}").repeat(100 + n));
        }
        s.write("touched", "t".repeat(150));
    });
    let limits = Limits { kept_bytes: 0, fresh_bytes: 250, ..Limits::default() };
    let mut snapshot = space.limited(limits);
    for n in 0..5 {
        space.write(format!("new{n}"), format!("{n}").repeat(100 + n));
    }
    space.write("touched", "t".repeat(150));
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["new0", "new1", "new2", "new3", "new4"], "what was only touched is read");
    let are_kept: Vec<bool> = changes.iter().map(|change| change.after.oid().is_some()).collect();
    assert_eq!(are_kept, [true, true, false, false, false]);
    // The same content again and again is kept once, and read each time.
    let space = Space::new();
    let mut snapshot = space.limited(Limits { fresh_bytes: 250, ..Limits::default() });
    for n in 0..4 {
        space.write(format!("same{n}"), "s".repeat(100));
    }
    let kept = snapshot.scan().unwrap().iter().filter(|change| change.after.oid().is_some()).count();
    assert_eq!(kept, 2);
}

#[test]
fn files_beyond_the_limit_are_not_looked_at() {
    let space = Space::new();
    for n in 0..5 {
        space.write(format!("{n}"), "x");
    }
    let mut snapshot = space.limited(Limits { files: 3, ..Limits::default() });
    assert_eq!(snapshot.uncovered()[0], "more than 3 files: the others are not looked at");
    space.write("0", "changed");
    space.write("4", "changed");
    assert_eq!(paths(&snapshot.scan().unwrap()), ["0"]);
    for gone in ["3", "4"] {
        fs::remove_file(space.root.join(gone)).unwrap();
    }
    assert_eq!(snapshot.scan().unwrap(), []);
    let said = ["there were more than 3 files: what became of those that were not looked at is not known"];
    assert_eq!(snapshot.uncovered(), said);
    let again = Snapshot::open(&space.store(), &space.root, Limits { files: 3, ..Limits::default() }).unwrap();
    assert_eq!(again.uncovered(), said);
}

#[test]
fn many_changes_make_one_pack_that_git_can_read() {
    let space = Space::new();
    for n in 0..100 {
        space.write(format!("{n}"), format!("content {n}").repeat(n));
    }
    let mut snapshot = space.snapshot();
    assert_eq!(space.packs(), 1);
    for n in 0..100 {
        space.write(format!("{n}"), format!("changed {n}").repeat(n + 1));
    }
    assert_eq!(snapshot.scan().unwrap().len(), 100);
    assert_eq!((space.packs(), space.loose()), (2, 1));
    for entry in fs::read_dir(space.store().join("objects/pack")).unwrap().map(|e| e.unwrap().path()) {
        if entry.extension() == Some(OsStr::new("idx")) {
            space.run_in(space.temp.path(), &["verify-pack", entry.to_str().unwrap()]);
        }
    }
}

/// Otherwise a crash right after a look would lose what it has found.
#[test]
fn what_was_not_saved_is_found_once_more() {
    let space = Space::new();
    for name in ["a", "b", "gone"] {
        space.write(name, "1");
    }
    let mut snapshot = space.snapshot();
    space.write("a", "2");
    fs::remove_file(space.root.join("gone")).unwrap();
    let found = snapshot.scan().unwrap();
    assert_eq!(paths(&found), ["a", "gone"]);
    assert_eq!(snapshot.scan().unwrap(), [], "only once as long as it lives");
    drop(snapshot);
    let mut snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(snapshot.look(&["gone".into()]).unwrap(), found[1..]);
    space.write("b", "3");
    let found = snapshot.scan().unwrap();
    assert_eq!(paths(&found), ["a", "b"]);
    // Our own write saves what was seen before it as well.
    let state = snapshot.state(Path::new("b"));
    snapshot.set(Path::new("b"), state).unwrap();
    snapshot.save().unwrap();
    drop(snapshot);
    let mut snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(snapshot.scan().unwrap(), []);
}

#[test]
fn when_the_last_look_began_is_on_record_also_of_one_that_found_nothing_new() {
    let space = Space::new();
    space.write(".gitignore", "build/\n");
    let mut snapshot = space.snapshot();
    // As if it had begun long ago.
    (snapshot.head.last, snapshot.noted) = (1, 1);
    snapshot.book.rewrite(&snapshot.head, &snapshot.seen).unwrap();
    space.write("build/new", "1");
    assert_eq!(snapshot.scan().unwrap(), []);
    snapshot.save().unwrap();
    drop(snapshot);
    let snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(snapshot.uncovered(), ["build/ (ignored)"]);
}

#[test]
fn a_store_goes_on_after_a_crash_from_its_last_whole_record() {
    let space = Space::new();
    space.write("a", "1");
    space.write("b", "1");
    let mut snapshot = space.snapshot();
    space.write("a", "2");
    assert_eq!(paths(&snapshot.scan().unwrap()), ["a"]);
    snapshot.save().unwrap();
    let whole = fs::read(space.store().join("log")).unwrap();
    space.write("b", "2");
    assert_eq!(paths(&snapshot.scan().unwrap()), ["b"]);
    snapshot.save().unwrap();
    drop(snapshot);
    let log = fs::read(space.store().join("log")).unwrap();
    assert!(log.len() > whole.len());
    for cut in [whole.len(), whole.len() + 5, whole.len() + 13, log.len() - 1] {
        fs::write(space.store().join("log"), &log[..cut]).unwrap();
        let mut snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
        let changes = snapshot.scan().unwrap();
        assert_eq!(paths(&changes), ["b"], "{cut}");
        assert_eq!(before(&snapshot, &changes[0]), b"1");
    }
    // A byte that has changed is a torn record as well.
    let mut damaged = log.clone();
    damaged[whole.len() + 40] ^= 1;
    fs::write(space.store().join("log"), &damaged).unwrap();
    let mut snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(paths(&snapshot.scan().unwrap()), ["b"]);
}

#[test]
fn a_store_that_never_looked_begins_and_left_overs_go() {
    let space = Space::new();
    space.write("a", "1");
    drop(Snapshot::create(&space.store(), &space.root, Limits::default()).unwrap());
    assert!(Snapshot::create(&space.store(), &space.root, Limits::default()).is_err());
    assert_eq!(fs::metadata(space.store()).unwrap().mode() & 0o777, 0o700);
    let pack = space.store().join("objects/pack");
    fs::write(pack.join("tmp_x"), "half").unwrap();
    fs::write(pack.join("pack-1.pack"), "half").unwrap();
    let mut snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(fs::read_dir(&pack).unwrap().count(), 0);
    assert_eq!(snapshot.scan().unwrap(), []);
    space.write("a", "2");
    assert_eq!(snapshot.scan().unwrap().len(), 1);
}

#[test]
fn the_log_is_folded_into_the_manifest() {
    let space = Space::new();
    space.write("a", "0");
    let mut snapshot = space.snapshot();
    space.write("a", "1");
    assert_eq!(snapshot.scan().unwrap().len(), 1);
    snapshot.book.rewrite(&snapshot.head, &snapshot.seen).unwrap();
    assert_eq!(fs::read(space.store().join("log")).unwrap(), b"");
    let seen = snapshot.seen.clone();
    drop(snapshot);
    let snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    let plain = |entry: &Entry| Entry { visit: 0, ..*entry };
    assert_eq!(snapshot.seen.values().map(plain).collect::<Vec<_>>(), seen.values().map(plain).collect::<Vec<_>>());
    let mut bytes = fs::read(space.store().join("manifest")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(space.store().join("manifest"), bytes).unwrap();
    assert!(matches!(Snapshot::open(&space.store(), &space.root, Limits::default()), Err(ReviewError::Store(_))));
}

#[test]
fn odd_files_do_not_stop_a_look() {
    let space = Space::new();
    space.write(OsStr::from_bytes(b"na\xffme\n"), "odd");
    space.write("closed", "x");
    space.write("room/file", "x");
    rustix::fs::mkfifoat(rustix::fs::CWD, space.root.join("fifo"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let mut snapshot = space.snapshot();
    assert_eq!(snapshot.seen.len(), 3);
    assert!(matches!(snapshot.peek(Path::new("fifo")), Err(ReviewError::Refused(_))));
    assert_eq!(snapshot.look(&["fifo".into(), "room/file/below".into(), "room".into()]).unwrap(), []);
    space.write(OsStr::from_bytes(b"na\xffme\n"), "changed");
    let changes = snapshot.scan().unwrap();
    assert_eq!(changes[0].path.as_os_str().as_bytes(), b"na\xffme\n");
    snapshot.save().unwrap();
    drop(snapshot);
    let mut snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(snapshot.state(&changes[0].path), changes[0].after);
    // A file in whose place there is something else is gone.
    fs::remove_file(space.root.join("closed")).unwrap();
    fs::create_dir(space.root.join("closed")).unwrap();
    assert_eq!(paths(&snapshot.scan().unwrap()), ["closed"]);
}

#[test]
fn what_cannot_be_read_is_named() {
    let _rights = faults::without_privileges();
    let space = Space::new();
    space.write("closed", "x");
    space.write("room/file", "x");
    let mut snapshot = space.snapshot();
    let mode = |path: &str, mode| {
        fs::set_permissions(space.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("closed", 0o000);
    mode("room", 0o000);
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["closed"]);
    assert!(matches!(changes[0].after, State::Unkept { mode: 0, .. }));
    let named = snapshot.uncovered();
    assert!(named.contains(&"closed: cannot be read".to_owned()), "{named:?}");
    let room = "room/: cannot be read; the known file below it may have changed";
    assert!(named.contains(&room.to_owned()), "{named:?}");
    // A later session says so as well, without a look at the tree.
    snapshot.save().unwrap();
    let named = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap().uncovered();
    assert_eq!(named.iter().filter(|line| *line == room).count(), 1, "{named:?}");
    mode("closed", 0o644);
    mode("room", 0o755);
    assert_eq!(paths(&snapshot.scan().unwrap()), ["closed"]);
    assert!(!snapshot.state(Path::new("room/file")).is_absent());
}

#[test]
fn a_file_that_vanishes_between_the_walk_and_the_reading_is_no_error() {
    let space = Space::new();
    space.write("a", "1");
    let mut snapshot = space.snapshot();
    space.write("brief", "x");
    space.write("a", "2");
    let walked = walk::walk(&space.root, None, 10, &Arc::default());
    let jobs = snapshot.jobs(&walked, &named(None));
    assert_eq!(jobs.len(), 2);
    fs::remove_file(space.root.join("brief")).unwrap();
    fs::remove_file(space.root.join("a")).unwrap();
    let changes = snapshot.capture(jobs, Vec::new(), false).unwrap();
    assert_eq!(paths(&changes), ["a"]);
    assert_eq!(before(&snapshot, &changes[0]), b"1");
}

#[test]
fn a_directory_swapped_for_a_link_leads_nowhere() {
    let space = Space::new();
    space.write("dir/a", "inside");
    let outside = space.temp.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "secret").unwrap();
    let mut snapshot = space.snapshot();
    let walked = walk::walk(&space.root, None, 10, &Arc::default());
    fs::rename(space.root.join("dir"), space.temp.path().join("old")).unwrap();
    symlink(&outside, space.root.join("dir")).unwrap();
    let jobs = snapshot.jobs(&walked, &named(None));
    let changes = snapshot.capture(jobs, Vec::new(), false).unwrap();
    assert_eq!(paths(&changes), ["dir/a"]);
    assert!(changes[0].after.is_absent());
}

#[test]
fn what_we_write_ourselves_is_no_change_and_what_differs_from_it_is() {
    let space = Space::new();
    space.write("a", "1");
    let mut snapshot = space.snapshot();
    let oid = snapshot.objects.keep(b"22").unwrap();
    let state = State::File { oid, mode: 0o644, size: 2 };
    space.write("a", "22");
    fs::set_permissions(space.root.join("a"), fs::Permissions::from_mode(0o644)).unwrap();
    snapshot.set(Path::new("a"), state).unwrap();
    snapshot.save().unwrap();
    assert_eq!(snapshot.peek(Path::new("a")).unwrap(), (state, Some(b"22".to_vec())));
    drop(snapshot);
    let mut snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!((snapshot.state(Path::new("a")), snapshot.objects.content(&state).unwrap()), (state, b"22".to_vec()));
    assert_eq!(snapshot.scan().unwrap(), []);
    space.write("a", "33");
    assert_eq!(snapshot.look(&["a".into()]).unwrap()[0].before, state);
    fs::remove_file(space.root.join("a")).unwrap();
    snapshot.set(Path::new("a"), State::Absent).unwrap();
    assert_eq!(snapshot.scan().unwrap(), []);
    assert_eq!(snapshot.peek(Path::new("a")).unwrap(), (State::Absent, None));
}

#[test]
fn what_we_write_over_is_kept_although_only_git_had_it() {
    let space = Space::git(|s| s.write("a", "precious"));
    let mut snapshot = space.snapshot();
    let before = snapshot.state(Path::new("a"));
    space.write("a", "2");
    let oid = snapshot.objects.keep(b"2").unwrap();
    snapshot.set(Path::new("a"), State::File { oid, mode: 0o644, size: 1 }).unwrap();
    fs::remove_dir_all(space.root.join(".git")).unwrap();
    assert_eq!(snapshot.objects.content(&before).unwrap(), b"precious");
}

#[test]
fn a_damaged_pack_or_index_is_an_error_and_no_other_content() {
    let space = Space::new();
    space.write("a", "some content");
    let state = space.snapshot().state(Path::new("a"));
    let files = fs::read_dir(space.store().join("objects/pack")).unwrap();
    let files: Vec<PathBuf> = files.map(|e| e.unwrap().path()).collect();
    let check = |file: &Path, bytes: &[u8]| {
        fs::write(file, bytes).unwrap();
        let snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
        snapshot.objects.content(&state).map(|bytes| assert_eq!(bytes, b"some content")).is_err()
    };
    for file in files {
        let good = fs::read(&file).unwrap();
        let mut errors = 0;
        for at in (0..good.len()).step_by(1 + good.len() / 40) {
            let mut bad = good.clone();
            bad[at] ^= 0x55;
            errors += usize::from(check(&file, &bad)) + usize::from(check(&file, &good[..at]));
        }
        assert!(errors > 20, "{errors}");
        assert!(!check(&file, &good));
    }
}

#[test]
fn a_repository_that_git_alone_understands_is_only_walked() {
    let space = Space::new();
    space.run(&["init", "-q", "--object-format=sha256"]);
    space.write("a", "1");
    space.run(&["add", "-A"]);
    space.run(&["commit", "-qm", "one"]);
    let snapshot = space.snapshot();
    assert_eq!((space.packs(), snapshot.objects.stores.len()), (1, 0));
    let space = Space::git(|s| s.write("a", "1"));
    fs::write(space.root.join(".git/index"), "damaged").unwrap();
    assert_eq!(space.snapshot().seen.len(), 1);
}

#[test]
fn split_and_unmerged_indices_are_read() {
    let space = Space::git(|s| s.write("a", "1"));
    space.write("b", "1");
    space.run(&["add", "b"]);
    space.run(&["update-index", "--split-index"]);
    space.write("c", "1");
    space.run(&["add", "c"]);
    assert_eq!(space.snapshot().seen.len(), 3);
    let blob = space.run(&["rev-parse", ":a"]);
    let info = format!("0 {} 0\ta\n100644 {} 2\ta\n", "0".repeat(40), blob.trim());
    fs::write(space.temp.path().join("info"), info).unwrap();
    let sh =
        Command::new("sh").current_dir(&space.root).args(["-c", "git update-index --index-info < ../info"]).status();
    assert!(sh.unwrap().success());
    let mut snapshot = Snapshot::create(&space.temp.path().join("two"), &space.root, Limits::default()).unwrap();
    snapshot.scan().unwrap();
    assert_eq!(snapshot.seen.len(), 3);
}

/// Fills a directory with text that hardly compresses.
fn fill(space: &Space, files: usize, bytes: usize) {
    use std::fmt::Write as _;
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    for n in 0..files {
        let mut text = String::with_capacity(bytes + 20);
        while text.len() < bytes {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            writeln!(text, "{seed:x}").unwrap();
        }
        space.write(format!("d{}/e{}/f{n}.txt", n % 50, n / 50 % 40), text);
    }
}

/// Bytes in the files of a store.
fn stored(dir: &Path) -> u64 {
    let all = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    all.map(|e| if e.path().is_dir() { stored(&e.path()) } else { e.metadata().unwrap().len() }).sum()
}

fn measure(space: &Space, name: &str) {
    let dir = space.temp.path().join(name);
    let mut snapshot = Snapshot::create(&dir, &space.root, Limits::default()).unwrap();
    let mut timed = || {
        let start = std::time::Instant::now();
        let changes = snapshot.scan().unwrap().len();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let memory: Vec<&str> = status.lines().filter(|l| l.starts_with("VmHWM") || l.starts_with("RssAnon")).collect();
        eprintln!("{name}: {:?}, {changes} changes, {} bytes, {memory:?}", start.elapsed(), stored(&dir));
        changes
    };
    assert_eq!([timed(), timed()], [0, 0]);
    for n in 0..20 {
        space.write(format!("d{n}/e0/f{n}.txt"), format!("changed for {name}"));
    }
    assert_eq!([timed(), timed()], [20, 0]);
}

/// Small, unless `SHADOW_FILES` says how many files (50000 with `--release --nocapture` for the numbers that count).
#[test]
fn shadow_speed() {
    let files = std::env::var("SHADOW_FILES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    // What was just written is read again by the next look: not what is to be measured.
    let wait = || {
        let start = std::time::Instant::now();
        while files > 1000 && start.elapsed() < std::time::Duration::from_secs(4) {
            std::thread::yield_now();
        }
    };
    let space = Space::git(|s| fill(s, files, 6_600));
    wait();
    space.run(&["update-index", "--refresh"]);
    measure(&space, "valid index, loose objects");
    space.run(&["checkout", "-q", "."]);
    space.run(&["gc", "-q"]);
    wait();
    space.run(&["status"]);
    measure(&space, "valid index, packed");
    space.write(".gitattributes", "* text=auto\n");
    wait();
    measure(&space, "alternates only");
    let plain = Space::new();
    fill(&plain, files * 3 / 10, 6_600);
    wait();
    measure(&plain, "no git");
}

#[test]
fn rules_that_change_in_the_middle_of_a_look_make_nothing_new_that_was_there() {
    for (file, when) in
        [(".gitignore", Point::Began), (".gitignore", Point::Walked), (".git/info/exclude", Point::Walked)]
    {
        let space = Space::git(|s| s.write("a", "a"));
        space.write(".gitignore", "");
        space.write(file, ".env\n");
        space.write(".env", "SECRET");
        let mut snapshot = space.snapshot();
        let rules = space.root.join(file);
        snapshot.meanwhile = Some(Box::new(move |at| {
            if at == when {
                fs::write(&rules, "").unwrap();
            }
        }));
        let mut looks = snapshot.scan().unwrap();
        snapshot.meanwhile = None;
        looks.extend(snapshot.scan().unwrap());
        let created: Vec<_> = looks.iter().filter(|c| c.before.is_absent()).map(|c| &c.path).collect();
        assert!(created.is_empty(), "{file} at {when:?}: {created:?}");
    }
}

#[test]
fn tracked_although_ignored_is_covered_when_it_comes_back() {
    let space = Space::git(|s| s.write("keep.log", "kept"));
    space.write(".gitignore", "*.log\n");
    fs::remove_file(space.root.join("keep.log")).unwrap();
    let mut snapshot = space.snapshot();
    space.write("keep.log", "again");
    assert_eq!(paths(&snapshot.scan().unwrap()), ["keep.log"]);
}

#[test]
fn a_new_directory_that_is_moved_past_a_look_is_new_at_the_next() {
    let space = busy_space();
    let mut snapshot = space.snapshot();
    space.write("fresh/in", "new");
    // As when it was moved from where the walk had not been yet to where it had been.
    let (from, to) = (space.root.join("fresh"), space.root.join("d1/fresh"));
    let away = space.temp.path().join("away");
    fs::rename(&from, &away).unwrap();
    snapshot.meanwhile = Some(Box::new(move |at| {
        if at == Point::Walked {
            fs::rename(&away, &to).unwrap();
        }
    }));
    let mut looks = snapshot.scan().unwrap();
    snapshot.meanwhile = None;
    // What the walk says of a directory that vanishes under it.
    snapshot.closed.close(b"fresh");
    looks.extend(snapshot.scan().unwrap());
    assert_eq!(paths(&looks), ["d1/fresh/in"]);
}

#[test]
fn what_appears_in_a_directory_that_nobody_could_look_into_is_not_taken_for_new() {
    let space = Space::new();
    space.write("room/inner", "the person's\n");
    let mut snapshot = Snapshot::create(&space.store(), &space.root, Limits::default()).unwrap();
    fs::rename(space.root.join("room"), space.temp.path().join("away")).unwrap();
    snapshot.scan().unwrap();
    // As without permission, also for root.
    snapshot.closed.close(b"room");
    fs::rename(space.temp.path().join("away"), space.root.join("room")).unwrap();
    // Written anew, as `sed -i` does: as young as a file can be.
    space.write("room/new", "the person's, changed\n");
    fs::rename(space.root.join("room/new"), space.root.join("room/inner")).unwrap();
    space.write("roomy", "new\n");
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["room/inner", "roomy"]);
    assert!(matches!(changes[0].before, State::Unkept { .. }), "{:?}", changes[0].before);
    assert_eq!(changes[1].before, State::Absent);
}

#[test]
fn what_comes_into_the_tree_while_rules_change_is_never_passed_over() {
    type Decision = fn(&Space);
    let outside: Decision = |s| {
        fs::create_dir_all(s.temp.path().join("outside/sub")).unwrap();
        fs::write(s.temp.path().join("outside/sub/in"), "x").unwrap();
    };
    // What happens before the first look, before some looks, and then.
    let cases: [(&str, Decision, Decision, Decision, &str); 7] = [
        (
            "a repository from outside",
            outside,
            |_| {},
            |s| {
                s.run_in(&s.temp.path().join("outside"), &["init", "-q"]);
                fs::rename(s.temp.path().join("outside"), s.root.join("new")).unwrap();
            },
            "new/sub/in",
        ),
        (
            "from outside, with a comment in the rules",
            outside,
            |_| {},
            |s| {
                fs::rename(s.temp.path().join("outside"), s.root.join("new")).unwrap();
                s.write(".gitignore", "ign/\n# a word\n");
            },
            "new/sub/in",
        ),
        (
            "from outside, with rules of another file",
            outside,
            |_| {},
            |s| {
                fs::rename(s.temp.path().join("outside"), s.root.join("new")).unwrap();
                s.write(".git/info/exclude", "# a word\n");
            },
            "new/sub/in",
        ),
        (
            "made outside in the session",
            |_| {},
            outside,
            |s| {
                fs::rename(s.temp.path().join("outside"), s.root.join("new")).unwrap();
                s.write(".gitignore", "ign/\n# a word\n");
            },
            "new/sub/in",
        ),
        (
            "out of what is ignored",
            |s| s.write("ign/sub/in", "x"),
            |_| {},
            |s| {
                fs::rename(s.root.join("ign/sub"), s.root.join("src")).unwrap();
                s.write(".gitignore", "ign/\n# a word\n");
            },
            "src/in",
        ),
        (
            "made where it is ignored",
            |s| s.write("ign/other", "x"),
            |s| s.write("ign/gen/in", "x"),
            |s| {
                fs::rename(s.root.join("ign/gen"), s.root.join("gen")).unwrap();
                s.write(".gitignore", "ign/\n# a word\n");
            },
            "gen/in",
        ),
        (
            "ignored for a while",
            |_| {},
            |s| {
                s.write(".gitignore", "ign/\nn1/\n");
                s.write("n1/i", "x");
            },
            |s| s.write(".gitignore", "ign/\n"),
            "n1/i",
        ),
    ];
    for (what, before, meanwhile, then, path) in cases {
        for looks in 0..3 {
            let space = Space::git(|s| {
                s.write(".gitignore", "ign/\n");
                s.write("a", "a");
            });
            before(&space);
            let mut snapshot = space.snapshot();
            meanwhile(&space);
            for _ in 0..looks {
                snapshot.scan().unwrap();
            }
            then(&space);
            let mut changes = snapshot.scan().unwrap();
            changes.extend(snapshot.scan().unwrap());
            assert!(paths(&changes).contains(&path), "{what}, {looks} looks: {:?}", paths(&changes));
        }
    }
}

#[test]
fn what_the_person_had_outside_of_the_snapshot_is_shown_and_not_taken_for_new() {
    for (from, to) in [("ign/sub", "src"), (".env", "env.txt")] {
        let space = Space::git(|s| s.write(".gitignore", "ign/\n.env\n"));
        space.write("ign/sub/in", "the person's");
        space.write(".env", "the person's");
        let mut snapshot = space.snapshot();
        // As if the session had begun some seconds later.
        snapshot.ignored.began.0 += 5;
        fs::rename(space.root.join(from), space.root.join(to)).unwrap();
        let changes = snapshot.scan().unwrap();
        assert_eq!(changes.len(), 1, "{to}");
        assert!(matches!(changes[0].before, State::Unkept { .. }), "{to}: {:?}", changes[0].before);
    }
}

#[test]
fn what_was_ignored_and_is_gone_is_named_also_after_a_restart() {
    let space = Space::git(|s| s.write(".gitignore", "ign/\n.env\n"));
    space.write("ign/in", "x");
    space.write(".env", "SECRET");
    let mut snapshot = space.snapshot();
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    assert_eq!(snapshot.uncovered(), [".env (ignored)", "ign/ (ignored)"]);
    fs::remove_file(space.root.join(".env")).unwrap();
    fs::remove_dir_all(space.root.join("ign")).unwrap();
    snapshot.scan().unwrap();
    let gone = [".env", "ign"].map(|name| format!("{name}: was ignored and is gone, which cannot be taken back"));
    assert_eq!(snapshot.uncovered(), gone);
    drop(snapshot);
    let snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert_eq!(snapshot.uncovered(), gone);
}

fn is_gone(line: &str) -> String {
    format!("{line} gone, which cannot be taken back")
}

#[test]
fn what_is_taken_out_of_an_ignored_directory_that_stays_is_named_also_after_a_restart() {
    let space = Space::git(|s| s.write(".gitignore", "build/\ncache/\nkept/\n"));
    for file in ["build/precious.txt", "cache/a", "cache/in/deep/b", "cache/in/deep/c", "kept/x", "kept/sub/y"] {
        space.write(file, file);
    }
    fs::create_dir_all(space.root.join("cache/empty")).unwrap();
    let mut snapshot = space.snapshot();
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    let ignored = ["build/ (ignored)", "cache/ (ignored)", "kept/ (ignored)"].map(str::to_owned);
    assert_eq!(snapshot.uncovered(), ignored);
    fs::remove_file(space.root.join("build/precious.txt")).unwrap();
    fs::remove_dir_all(space.root.join("cache/in/deep")).unwrap();
    fs::remove_dir(space.root.join("cache/empty")).unwrap();
    // Another directory of the same name is not the same.
    fs::remove_dir_all(space.root.join("kept/sub")).unwrap();
    space.write("kept/sub/z", "z");
    snapshot.scan().unwrap();
    let gone = [
        is_gone("build/: precious.txt was ignored and is"),
        is_gone("cache/: in/deep/ was ignored and is"),
        is_gone("kept/: sub/y was ignored and is"),
    ];
    assert_eq!(snapshot.uncovered(), [&ignored[..], &gone].concat());
    // As after a part of it was looked at, when what is in it is named one by one.
    space.write("kept/w", "w");
    snapshot.look(&[PathBuf::from("kept/w")]).unwrap();
    snapshot.save().unwrap();
    drop(snapshot);
    let snapshot = Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap();
    assert!(snapshot.uncovered().ends_with(&gone), "{:?}", snapshot.uncovered());
}

#[test]
fn what_an_ignored_directory_had_is_named_when_something_else_stands_in_its_place() {
    let space = Space::git(|s| s.write(".gitignore", "build\n"));
    space.write("build/a", "a");
    space.write("build/in/b", "b");
    let mut snapshot = space.snapshot();
    fs::rename(space.root.join("build"), space.temp.path().join("away")).unwrap();
    for stand in [|at: &Path| fs::write(at, "x").unwrap(), |at: &Path| symlink("../away", at).unwrap()] {
        stand(&space.root.join("build"));
        snapshot.scan().unwrap();
        let named = snapshot.uncovered();
        assert!(named.contains(&is_gone("build/: a and in/ were ignored and are")), "{named:?}");
        fs::remove_file(space.root.join("build")).unwrap();
    }
}

#[test]
fn of_a_huge_ignored_directory_only_the_beginning_is_remembered_and_what_is_gone_is_counted() {
    let space = Space::git(|s| s.write(".gitignore", "many/\n"));
    fs::create_dir(space.root.join("many")).unwrap();
    for n in 0..survey::NAMES_IN_ONE + 500 {
        fs::write(space.root.join(format!("many/{n:05}")), "").unwrap();
    }
    let mut snapshot = space.snapshot();
    assert_eq!(snapshot.ignored.names(), survey::NAMES_IN_ONE);
    fs::remove_dir_all(space.root.join("many")).unwrap();
    fs::create_dir(space.root.join("many")).unwrap();
    snapshot.scan().unwrap();
    let said = snapshot.uncovered().pop().unwrap();
    let end = format!(" and at least {} more were ignored and are", survey::NAMES_IN_ONE - survey::SAID);
    assert!(said.starts_with("many/: 0") && said.ends_with(&is_gone(&end)), "{said}");
}

#[test]
fn a_file_that_is_moved_and_changed_is_new_under_its_new_name() {
    let space = Space::git(|s| s.write("a", "a"));
    let mut snapshot = space.snapshot();
    // As if the session had begun some seconds later.
    snapshot.ignored.began.0 += 5;
    fs::rename(space.root.join("a"), space.root.join("b")).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(space.root.join("b")).unwrap();
    std::io::Write::write_all(&mut file, b"more").unwrap();
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["a", "b"]);
    assert!(changes[1].before.is_absent(), "{:?}", changes[1].before);
}

#[test]
fn a_directory_that_is_moved_to_where_rules_hide_it_is_never_passed_over() {
    type Decision = fn(&Space);
    let to_build: Decision = |s| fs::rename(s.root.join("lib"), s.root.join("build/lib")).unwrap();
    let from_outside: Decision = |s| fs::rename(s.temp.path().join("outside"), s.root.join("build/lib")).unwrap();
    let no_rules: Decision = |s| s.write(".gitignore", "");
    let cases: [(&str, Decision, Decision); 7] = [
        ("git mv", |s| drop(s.run(&["mv", "lib", "build/lib"])), |_| {}),
        ("staged by force", to_build, |s| drop(s.run(&["add", "-f", "build/lib"]))),
        ("without rules", to_build, no_rules),
        ("with an exception", to_build, |s| s.write(".gitignore", "build/*\n!build/lib/\n")),
        ("without the rules file", to_build, |s| fs::remove_file(s.root.join(".gitignore")).unwrap()),
        ("from outside", from_outside, no_rules),
        (
            "in the place of what was ignored",
            |s| {
                fs::remove_dir_all(s.root.join("build")).unwrap();
                fs::create_dir(s.root.join("build")).unwrap();
                fs::rename(s.root.join("lib"), s.root.join("build/lib")).unwrap();
            },
            no_rules,
        ),
    ];
    for (what, act, then) in cases {
        for looks in 0..3 {
            let space = Space::git(|s| {
                s.write(".gitignore", "build/\n");
                s.write("lib/g1", "one");
            });
            space.write("build/out.o", "ignored");
            fs::create_dir_all(space.temp.path().join("outside")).unwrap();
            fs::write(space.temp.path().join("outside/g1"), "x").unwrap();
            let mut snapshot = space.snapshot();
            for _ in 0..looks {
                snapshot.scan().unwrap();
            }
            act(&space);
            then(&space);
            let mut changes = snapshot.scan().unwrap();
            changes.extend(snapshot.scan().unwrap());
            assert!(paths(&changes).contains(&"build/lib/g1"), "{what}, {looks} looks: {:?}", paths(&changes));
        }
    }
}

#[test]
fn what_changes_after_it_was_taken_for_untouched_is_not_passed_over() {
    type Decision = fn(&Path);
    let undo_log: [(&str, Decision); 3] = [
        ("in place", |path| fs::write(path, "CHANGED").unwrap()),
        ("anew", |path| {
            fs::remove_file(path).unwrap();
            fs::write(path, "CHANGED").unwrap();
        }),
        ("of the same size", |path| fs::write(path, "secreT").unwrap()),
    ];
    for (what, act) in undo_log {
        for named in [true, false] {
            let space = Space::git(|s| s.write(".gitignore", ".env\n"));
            space.write(".env", "SECRET");
            let mut snapshot = space.snapshot();
            // As if the session had begun some seconds later.
            snapshot.ignored.began.0 += 5;
            let env = space.root.join(".env");
            snapshot.meanwhile = Some(Box::new(move |at| {
                if at == Point::Judged {
                    act(&env);
                }
            }));
            let changes = if named {
                snapshot.look(&[space.root.join(".env")]).unwrap()
            } else {
                fs::remove_file(space.root.join(".gitignore")).unwrap();
                snapshot.scan().unwrap()
            };
            let change = changes.iter().find(|c| c.path == Path::new(".env"));
            let before = change.map(|c| c.before);
            assert!(matches!(before, Some(State::Unkept { .. })), "{what}, named {named}: {before:?}");
        }
    }
}

#[test]
fn what_was_changed_while_it_was_ignored_is_not_taken_for_what_it_was() {
    for looks in 0..4 {
        let space = Space::git(|s| s.write(".gitignore", ".env\n"));
        space.write(".env", "SECRET");
        let mut snapshot = space.snapshot();
        space.write(".env", "SECRET\nevil");
        for _ in 0..looks {
            snapshot.scan().unwrap();
            snapshot.look(&[space.root.join("other")]).unwrap();
        }
        let changes = snapshot.look(&[space.root.join(".env")]).unwrap();
        assert_eq!(paths(&changes), [".env"], "{looks} looks");
        assert!(matches!(changes[0].before, State::Unkept { .. }), "{looks} looks: {:?}", changes[0].before);
    }
}

#[test]
fn directories_without_files_are_not_called_ignored() {
    let space = Space::git(|s| {
        s.write(".gitignore", "target/\n");
        s.write("src/a", "a");
        s.write("src/b", "b");
    });
    fs::create_dir_all(space.root.join("empty/in/empty")).unwrap();
    fs::create_dir_all(space.root.join("src/empty")).unwrap();
    space.write("target/deep/x.o", "x");
    let mut snapshot = space.snapshot();
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    assert_eq!(snapshot.uncovered(), ["target/ (ignored)"]);
}

/// Writes into the index that what is at a path now is what the index has there.
fn forge(space: &Space, name: &str) {
    let (path, meta) = (space.root.join(".git/index"), space.root.join(name).metadata().unwrap());
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 20);
    let mut at = 12;
    let end = loop {
        let end = at + 62 + usize::from(bytes[at + 61]);
        if &bytes[at + 62..end] == name.as_bytes() {
            break end;
        }
        // Filled up to a multiple of eight, with one zero byte at least.
        at += (end - at) / 8 * 8 + 8;
    };
    assert_eq!(bytes[end], 0);
    let numbers = [
        (0, meta.ctime() as u32),
        (4, meta.ctime_nsec() as u32),
        (8, meta.mtime() as u32),
        (12, meta.mtime_nsec() as u32),
        (20, meta.ino() as u32),
        (36, meta.size() as u32),
    ];
    for (from, number) in numbers {
        bytes[at + from..at + from + 4].copy_from_slice(&number.to_be_bytes());
    }
    let sum = packs::sha1(&[&bytes]).unwrap();
    bytes.extend(sum);
    fs::write(&path, bytes).unwrap();
    // Long after all files.
    fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(SystemTime::now() + Duration::from_mins(1))
        .unwrap();
    assert_eq!(space.run(&["status", "--porcelain"]), "", "git is deceived");
}

#[test]
fn an_index_that_an_agent_has_forged_is_not_believed_by_the_next_session() {
    let space = Space::git(|s| s.write("a", "10\n"));
    space.write("a", "99\n");
    let record = space.temp.path().join("verified");
    let begin = |name: &str| {
        let store = space.temp.path().join(name);
        let mut snapshot = Snapshot::create(&store, &space.root, Limits::default()).unwrap().with_record(&record);
        snapshot.scan().unwrap();
        snapshot
    };
    let theirs = packs::hash(b"99\n").ok();
    let at = |snapshot: &Snapshot| snapshot.known(Path::new("a")).unwrap().oid();
    assert_eq!(at(&begin("one")), theirs);
    forge(&space, "a");
    assert_eq!(at(&begin("two")), theirs);
    // Nor once the record is gone, nor in a directory that has none.
    fs::remove_dir_all(&record).unwrap();
    assert_eq!(at(&begin("three")), theirs);
}

#[test]
fn a_record_that_goes_while_a_session_runs_is_written_again() {
    let space = Space::git(|s| s.write("a", "one"));
    let record = space.temp.path().join("verified");
    let snapshot = Snapshot::create(&space.store(), &space.root, Limits::default()).unwrap();
    let mut snapshot = snapshot.with_record(&record);
    snapshot.scan().unwrap();
    let count = || fs::read_dir(&record).unwrap().count();
    assert_eq!(count(), 1);
    fs::remove_dir_all(&record).unwrap();
    snapshot.scan().unwrap();
    assert_eq!(count(), 1);
}

#[test]
fn an_ignored_file_that_is_changed_is_still_named() {
    let space = Space::git(|s| s.write(".gitignore", "ign*\n"));
    space.write("ign1", "the person's");
    space.write("ign2/in", "the person's");
    let mut snapshot = space.snapshot();
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    // As if that had been some seconds ago.
    snapshot.head.last -= 5;
    space.write("ign1", "new");
    space.write("ign2/in", "new");
    space.write("ign3", "has come since");
    assert_eq!(snapshot.uncovered(), ["ign1 (ignored)", "ign2/ (ignored)"]);
}

/// A pack in a directory of objects that says to have the content of these files, with other bytes of the same length.
fn plant(objects: &Path, space: &Space, names: &[&str]) {
    plant_as(objects, space, names, |text| vec![b'x'; text.len()]);
}

/// The same with what is made of their bytes.
fn plant_as(objects: &Path, space: &Space, names: &[&str], with: impl Fn(&[u8]) -> Vec<u8>) {
    let temp = tempfile::tempdir().unwrap();
    let mut store = PackStore::create(temp.path()).unwrap();
    let mut pack = store.begin().unwrap();
    for name in names {
        let text = fs::read(space.root.join(name)).unwrap();
        pack.add(&packs::encode(packs::hash(&text).unwrap(), &with(&text)).unwrap()).unwrap();
    }
    store.finish(pack).unwrap();
    fs::create_dir_all(objects.join("pack")).unwrap();
    for entry in temp.path().join("objects/pack").read_dir().unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, objects.join("pack").join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn a_large_content_is_packed_like_a_small_one_and_not_held_meanwhile() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = PackStore::create(temp.path()).unwrap();
    let mut gathered = packs::Gathered::default();
    let noise = (0..1_500_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect::<Vec<u8>>();
    let all = [b"small".to_vec(), vec![b'x'; 5 << 20], noise, b"another".to_vec()];
    let mut held = Vec::new();
    for bytes in &all {
        gathered.add(&mut store, packs::hash(bytes).unwrap(), bytes).unwrap();
        held.push(gathered.held());
    }
    assert_eq!(held, [5, 0, 0, 7]);
    gathered.finish(&mut store).unwrap();
    for bytes in &all {
        assert_eq!(store.read(&packs::hash(bytes).unwrap()).unwrap().as_ref(), Some(bytes));
    }
    assert_eq!(PackStore::open(temp.path()).unwrap().packs(), store.packs());
}

#[test]
fn what_a_pack_only_says_to_have_is_kept_from_the_file() {
    let space = Space::git(|s| s.write("a", "committed"));
    space.write("only", "the person's only copy");
    plant(&space.root.join(".git/objects"), &space, &["only"]);
    let mut snapshot = space.snapshot();
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    assert_eq!(snapshot.uncovered(), [""; 0]);
    space.write("only", "destroyed");
    let changes = snapshot.scan().unwrap();
    assert_eq!(snapshot.objects.content(&changes[0].before).unwrap(), b"the person's only copy");
}

/// Long after all files, so that git's index is believed.
fn age_index(space: &Space) {
    let index = fs::File::options().append(true).open(space.root.join(".git/index")).unwrap();
    index.set_modified(SystemTime::now() + Duration::from_mins(1)).unwrap();
}

/// Of the loose objects of a repository that of this content.
fn loose(space: &Space, text: &[u8]) -> PathBuf {
    alternates::loose_path(&space.root.join(".git/objects"), &packs::hash(text).unwrap())
}

#[test]
fn what_was_believed_and_is_not_there_is_kept_from_the_file_before_it_changes() {
    let space = Space::git(|s| {
        s.write("a", "the content of a");
        s.write("b", "the content of b");
        symlink("the content of c", s.root.join("c")).unwrap();
        s.write("changes", "the content of changes");
    });
    age_index(&space);
    let texts = ["a", "c", "changes"].map(|name| (format!("text-{name}"), format!("the content of {name}")));
    for (file, text) in &texts {
        space.write(file, text);
    }
    plant(&space.root.join(".git/objects"), &space, &texts.each_ref().map(|(file, _)| file.as_str()));
    for (file, text) in &texts {
        fs::remove_file(loose(&space, text.as_bytes())).unwrap();
        fs::remove_file(space.root.join(file)).unwrap();
    }
    let mut snapshot = space.snapshot();
    let oid = packs::hash(b"the content of a").unwrap();
    assert!(!snapshot.objects.own.has(&oid), "git's index is believed");
    let at_risk = "4 files are only in your repository's .git: if that is harmed, they cannot be taken back";
    assert!(snapshot.uncovered().iter().any(|line| line == at_risk), "{:?}", snapshot.uncovered());
    // No other content is taken for it.
    space.write("changes", "another content altogether");
    assert!(!snapshot.keep_theirs(Share::before_harm(Instant::now())), "nothing is left to be kept");
    let at_risk = "1 file is only in your repository's .git: if that is harmed, it cannot be taken back";
    assert!(snapshot.uncovered().iter().any(|line| line == at_risk), "{:?}", snapshot.uncovered());
    fs::remove_dir_all(space.root.join(".git")).unwrap();
    for name in ["a", "b"] {
        space.write(name, "destroyed");
    }
    fs::remove_file(space.root.join("c")).unwrap();
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["a", "b", "c", "changes"]);
    for change in &changes[..3] {
        assert!(before(&snapshot, change).starts_with(b"the content of "));
    }
    assert!(snapshot.objects.content(&changes[3].before).is_err());
}

#[test]
fn what_git_only_says_to_have_is_read_in_each_session() {
    let space = Space::git(|s| ["a", "b"].iter().for_each(|name| s.write(name, format!("the content of {name}"))));
    age_index(&space);
    plant(&space.root.join(".git/objects"), &space, &["a"]);
    fs::remove_file(loose(&space, b"the content of a")).unwrap();
    let record = space.temp.path().join("verified");
    let begin = |name: &str| {
        let store = space.temp.path().join(name);
        let mut snapshot = Snapshot::create(&store, &space.root, Limits::default()).unwrap().with_record(&record);
        snapshot.scan().unwrap();
        // As if nothing had been touched for some seconds.
        snapshot.seen.values_mut().for_each(|entry| entry.racy = false);
        fs::remove_dir_all(&record).unwrap();
        snapshot.note_verified(true);
        ["a", "b"].map(|name| {
            let oid = snapshot.known(Path::new(name)).unwrap().oid().unwrap();
            (
                snapshot.objects.own.has(&oid),
                snapshot.verified.as_ref().map(|_| {
                    let (key, entry) = snapshot.seen.get_key_value(name.as_bytes()).unwrap();
                    verified::Verified::read(&record, &space.root).has(key, &entry.stat, oid)
                }),
            )
        })
    };
    // What we had to keep is not on record, and what git has is.
    assert_eq!(begin("one"), [(true, Some(false)), (false, Some(true))]);
    assert_eq!(begin("two"), [(true, Some(false)), (false, Some(true))]);
}

#[test]
fn before_harm_may_be_done_much_is_kept_however_busy_the_machine_is() {
    let space = Space::git(|s| (0..50).for_each(|n| s.write(format!("f{n}"), format!("{n}"))));
    let mut snapshot = space.snapshot();
    assert!(snapshot.keep_theirs(Share::until(Instant::now())), "one at a time");
    assert!(!snapshot.keep_theirs(Share::before_harm(Instant::now())), "nothing is left");
    fs::remove_dir_all(space.root.join(".git")).unwrap();
    (0..50).for_each(|n| space.write(format!("f{n}"), "destroyed"));
    assert!(snapshot.scan().unwrap().iter().all(|change| snapshot.objects.content(&change.before).is_ok()));
}

/// Files whose contents liars say to have, and perhaps one pack that has them; all are changed before anything is kept.
fn changed_among_liars(liars: u8, has_one: bool) -> (Space, Snapshot, Vec<Change>) {
    let names: Vec<String> = (0..40).map(|n| format!("f{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let space = Space::git(|s| names.iter().for_each(|name| s.write(name, format!("the content of {name}"))));
    age_index(&space);
    let objects = space.root.join(".git/objects");
    (0..liars).for_each(|fill| plant_as(&objects, &space, &names, |text| vec![fill; text.len()]));
    if has_one {
        plant_as(&objects, &space, &names, <[u8]>::to_vec);
    }
    for name in &names {
        fs::remove_file(loose(&space, &fs::read(space.root.join(name)).unwrap())).unwrap();
    }
    let mut snapshot = space.snapshot();
    for name in &names {
        space.write(name, "destroyed");
    }
    let changes = snapshot.scan().unwrap();
    assert_eq!(changes.len(), 40);
    (space, snapshot, changes)
}

#[test]
fn of_many_packs_that_say_to_have_what_is_gone_few_are_asked_at_one_time() {
    let (_space, mut snapshot, _) = changed_among_liars(60, false);
    let asked = snapshot.objects.trust().answers();
    // In the look, and once more when it is over.
    assert!((40..=2 * 40 * 16).contains(&asked), "{asked}");
    assert_eq!(snapshot.scan().unwrap(), []);
    let asked_again = snapshot.objects.trust().answers() - asked;
    assert!(asked_again <= 40 * 16, "{asked_again}");
}

#[test]
fn the_pack_that_has_it_is_found_among_those_that_only_say_so() {
    let (_space, mut snapshot, changes) = changed_among_liars(60, true);
    snapshot.scan().unwrap();
    for change in &changes {
        let is_kept = change.before.oid().is_some_and(|oid| snapshot.objects.own.has(&oid));
        assert!(is_kept, "{change:?}");
    }
}

#[test]
fn loose_objects_that_unpack_to_much_more_than_they_are_cause_bounded_work() {
    let names: Vec<String> = (0..80).map(|n| format!("f{n}")).collect();
    let space = Space::git(|s| names.iter().for_each(|name| s.write(name, format!("the content of {name}"))));
    age_index(&space);
    let mut snapshot = space.snapshot();
    let mut bomb = Vec::new();
    zlib::pack(&[b"blob 2097152\0", &vec![0; 2 << 20][..]].concat(), &mut bomb).unwrap();
    for name in &names {
        let loose = loose(&space, &fs::read(space.root.join(name)).unwrap());
        fs::remove_file(&loose).unwrap();
        fs::write(loose, &bomb).unwrap();
    }
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    assert!(snapshot.objects.theirs.is_spent(), "work for nothing counts");
    for name in &names {
        space.write(name, "destroyed");
    }
    let changes = snapshot.scan().unwrap();
    assert!(changes.iter().all(|change| before(&snapshot, change).starts_with(b"the content of ")));
}

#[test]
fn more_packs_than_can_be_looked_into_are_named_and_the_large_ones_are_looked_into() {
    let space = Space::git(|s| (0..50).for_each(|n| s.write(format!("f{n}"), format!("{n}"))));
    space.run(&["gc", "-q"]);
    let many = space.root.join(".git/many");
    space.write("small", "small");
    plant(&many, &space, &["small"]);
    let paths: Vec<PathBuf> = many.join("pack").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    for n in 0..1200 {
        for path in &paths {
            let name = format!("0-{n}.{}", path.extension().unwrap().to_str().unwrap());
            fs::hard_link(path, many.join("pack").join(name)).unwrap();
        }
    }
    let large = space.root.join(".git/objects/pack");
    for entry in large.read_dir().unwrap() {
        let path = entry.unwrap().path();
        fs::rename(&path, many.join("pack").join(path.file_name().unwrap())).unwrap();
    }
    space.write(".git/objects/info/alternates", many.to_str().unwrap());
    let snapshot = space.snapshot();
    let words = "your repository has too many packs and alternates: 178 are not looked into";
    assert!(snapshot.uncovered().iter().any(|line| line.starts_with(words)), "{:?}", snapshot.uncovered());
    let at_risk = "50 files are only in your repository's .git";
    assert!(snapshot.uncovered().iter().any(|line| line.starts_with(at_risk)), "{:?}", snapshot.uncovered());
}

/// A store that has read every file, since there is no record yet of which may be believed.
fn read_all(space: &Space) -> Snapshot {
    let snapshot = Snapshot::create(&space.store(), &space.root, Limits::default()).unwrap();
    let mut snapshot = snapshot.with_record(&space.temp.path().join("verified"));
    assert_eq!(snapshot.scan().unwrap(), []);
    snapshot
}

/// Packs of the repository, and what they are.
fn whole_packs(space: &Space) -> Vec<(PathBuf, Vec<u8>)> {
    let names = space.root.join(".git/objects/pack").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let packs: Vec<PathBuf> = names.filter(|path| path.extension().is_some_and(|e| e == "pack")).collect();
    for path in &packs {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    packs.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn what_the_index_does_not_name_is_kept_by_us_whatever_a_pack_has() {
    let space = Space::git(|s| s.write("a", "committed"));
    space.write("a", "the person's work in a");
    space.write("only", "the person's work in only");
    plant_as(&space.root.join(".git/objects"), &space, &["a", "only"], <[u8]>::to_vec);
    let mut snapshot = read_all(&space);
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    for (path, whole) in whole_packs(&space) {
        fs::write(path, vec![0; whole.len()]).unwrap();
    }
    space.write("a", "destroyed");
    fs::remove_file(space.root.join("only")).unwrap();
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["a", "only"]);
    assert!(changes.iter().all(|change| before(&snapshot, change).starts_with(b"the person's work in ")));
}

#[test]
fn what_a_repository_below_has_committed_is_not_copied() {
    let space = Space::git(|s| s.write("a", "a"));
    let below = space.root.join("below");
    fs::create_dir(&below).unwrap();
    space.run_in(&below, &["init", "-q"]);
    space.write("below/b", "committed below");
    space.run_in(&below, &["add", "-A"]);
    space.run_in(&below, &["commit", "-qm", "one"]);
    space.run_in(&below, &["gc", "-q"]);
    space.write("below/c", "not committed below");
    let snapshot = read_all(&space);
    let has = |text: &[u8]| snapshot.objects.own.has(&packs::hash(text).unwrap());
    assert_eq!((has(b"committed below"), has(b"not committed below")), (false, true));
}

#[test]
fn packs_that_say_to_have_what_they_have_not_are_asked_few_times_however_many_they_are() {
    let names: Vec<String> = (0..40).map(|n| format!("f{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for is_believed in [false, true] {
        let space = Space::git(|s| names.iter().for_each(|name| s.write(name, format!("the content of {name}"))));
        let objects = space.root.join(".git/objects");
        for fill in 0..30 {
            plant_as(&objects, &space, &names, |text| vec![fill; text.len()]);
        }
        for name in &names {
            let oid = packs::hash(&fs::read(space.root.join(name)).unwrap()).unwrap();
            fs::remove_file(alternates::loose_path(&objects, &oid)).unwrap();
        }
        age_index(&space);
        let mut snapshot = if is_believed { space.snapshot() } else { read_all(&space) };
        while snapshot.keep_theirs(Share::until(Instant::now())) {}
        assert_eq!(snapshot.scan().unwrap(), []);
        let asked = snapshot.objects.trust().answers();
        // What was believed is asked for once more, since the file has to be read.
        assert!((3..=if is_believed { 6 * 40 } else { 3 * 40 }).contains(&asked), "{asked}");
        for name in &names {
            space.write(name, "destroyed");
        }
        let changes = snapshot.scan().unwrap();
        assert_eq!(changes.len(), 40);
        assert!(changes.iter().all(|change| before(&snapshot, change).starts_with(b"the content of ")));
        assert_eq!(snapshot.objects.trust().answers(), asked);
    }
}

#[test]
fn each_content_is_read_from_a_pack_once() {
    let space = Space::git(|s| (0..20).for_each(|n| s.write(format!("f{n}"), format!("{n}"))));
    space.run(&["gc", "-q"]);
    let mut snapshot = read_all(&space);
    assert_eq!(snapshot.objects.trust().answers(), 20);
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    assert_eq!((snapshot.objects.trust().answers(), snapshot.uncovered()), (20, Vec::<String>::new()));
    fs::remove_dir_all(space.root.join(".git")).unwrap();
    (0..20).for_each(|n| space.write(format!("f{n}"), "destroyed"));
    let changes = snapshot.scan().unwrap();
    let kept: BTreeSet<Vec<u8>> = changes.iter().map(|change| before(&snapshot, change)).collect();
    assert_eq!(kept, (0..20).map(|n| format!("{n}").into_bytes()).collect());
}

#[test]
fn what_cannot_be_read_for_a_moment_is_kept_later() {
    for damaged in [&["pack"][..], &["pack", "idx"]] {
        let space = Space::git(|s| ["a", "b"].iter().for_each(|name| s.write(name, format!("of {name}"))));
        space.run(&["gc", "-q"]);
        let mut snapshot = space.snapshot();
        while snapshot.keep_theirs(Share::until(Instant::now())) {}
        let files = whole_packs(&space).into_iter().map(|(path, _)| path);
        let files: Vec<PathBuf> = files.flat_map(|path| damaged.iter().map(move |e| path.with_extension(e))).collect();
        let whole: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).unwrap()).collect();
        for path in &files {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
            fs::write(path, "").unwrap();
        }
        for name in ["a", "b"] {
            space.write(name, "destroyed");
        }
        let changes = snapshot.scan().unwrap();
        assert_eq!(paths(&changes), ["a", "b"]);
        assert!(snapshot.objects.content(&changes[0].before).is_err());
        files.iter().zip(whole).for_each(|(path, whole)| fs::write(path, whole).unwrap());
        assert_eq!(snapshot.scan().unwrap(), []);
        fs::remove_dir_all(space.root.join(".git")).unwrap();
        for (change, name) in changes.iter().zip(["a", "b"]) {
            let oid = change.before.oid().unwrap();
            assert!(snapshot.objects.own.has(&oid), "{damaged:?} {name}");
            assert_eq!(before(&snapshot, change), format!("of {name}").into_bytes());
        }
    }
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn an_ignored_file_in_whose_place_is_something_else_is_named_also_after_a_restart() {
    let space = Space::git(|s| s.write(".gitignore", ".env*\ndata/\nold/\n"));
    for file in [".env", ".env2", ".env3", "data/a", "data/b", "data/c", "data/sub/d", "old/in"] {
        space.write(file, "of the person");
    }
    fs::create_dir(space.root.join(".env4")).unwrap();
    fifo(&space.root.join(".env5"));
    let mut snapshot = space.snapshot();
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    for file in [".env", ".env2", "data/a", "data/b"] {
        fs::remove_file(space.root.join(file)).unwrap();
    }
    fs::remove_dir_all(space.root.join("data/sub")).unwrap();
    fs::remove_dir_all(space.root.join("old")).unwrap();
    for dir in [".env", "data/a"] {
        fs::create_dir(space.root.join(dir)).unwrap();
    }
    for path in [".env2", "data/b", "data/sub", "old"] {
        fifo(&space.root.join(path));
    }
    snapshot.scan().unwrap();
    let said = [
        ".env3 (ignored)".to_owned(),
        "data/ (ignored)".to_owned(),
        ".env: was ignored and is no file any more, which cannot be taken back".to_owned(),
        ".env2: was ignored and is no file any more, which cannot be taken back".to_owned(),
        is_gone("old/: in was ignored and is"),
    ];
    let is_said = |snapshot: &Snapshot| {
        let (below, rest): (Vec<_>, Vec<_>) = snapshot.uncovered().into_iter().partition(|l| l.starts_with("data/: "));
        assert_eq!(rest, said);
        let end = is_gone(" were ignored and are");
        let mut names: Vec<&str> =
            below[0].strip_prefix("data/: ").unwrap().strip_suffix(&end).unwrap().split(", ").collect();
        names = names.iter().flat_map(|name| name.split(" and ")).collect();
        names.sort_unstable();
        assert_eq!((names, below.len()), (vec!["a", "b", "sub/"], 1));
    };
    is_said(&snapshot);
    drop(snapshot);
    is_said(&Snapshot::open(&space.store(), &space.root, Limits::default()).unwrap());
}

#[test]
fn a_record_of_what_was_ignored_that_is_gone_or_changed_is_named() {
    for name in ["ignored", "ignored-inside", "ignored-contents"] {
        for harm in ["removed", "emptied", "changed"] {
            let space = Space::git(|s| s.write(".gitignore", ".env\ndata/\n"));
            space.write(".env", "of the person");
            space.write("data/a", "of the person");
            let snapshot = space.snapshot();
            assert_eq!(snapshot.damage(), None);
            let file = space.store().join(name);
            match harm {
                "removed" => fs::remove_file(file).unwrap(),
                "emptied" => fs::write(file, "").unwrap(),
                _ => {
                    let mut bytes = fs::read(&file).unwrap();
                    bytes[1] ^= 1;
                    fs::write(file, bytes).unwrap();
                }
            }
            let said = snapshot.damage().unwrap_or_default();
            assert!(said.starts_with("the record of what git ignored here"), "{name} {harm}: {said}");
        }
    }
}

#[test]
fn what_is_kept_shut_at_the_first_look_is_tried_once_more_and_else_known_from_git() {
    let space = Space::git(|s| s.write("a", "committed"));
    space.write("own", "the person's");
    let index = fs::File::options().append(true).open(space.root.join(".git/index")).unwrap();
    index.set_modified(SystemTime::now() + Duration::from_mins(1)).unwrap();
    let shut = |key: &str| faults::on(faults::Way::Read, key, rustix::io::Errno::AGAIN);
    let begin = |name: &str| {
        let snapshot = Snapshot::create(&space.temp.path().join(name), &space.root, Limits::default()).unwrap();
        snapshot.with_record(&space.temp.path().join("verified"))
    };
    let mut snapshot = begin("one");
    let mut held = Some((shut("a"), shut("own")));
    snapshot.meanwhile = Some(Box::new(move |point| {
        if point == Point::Asked {
            drop(held.take());
        }
    }));
    assert_eq!(snapshot.scan().unwrap(), []);
    let is = |snapshot: &Snapshot, name: &str| snapshot.state(Path::new(name)).oid();
    assert_eq!(is(&snapshot, "a"), packs::hash(b"committed").ok());
    assert_eq!(is(&snapshot, "own"), packs::hash(b"the person's").ok());
    fs::remove_dir_all(space.temp.path().join("verified")).unwrap();
    let mut snapshot = begin("two");
    let held = (shut("a"), shut("own"));
    assert_eq!(snapshot.scan().unwrap(), []);
    let lines = snapshot.uncovered();
    assert!(lines.iter().any(|line| line == "a: cannot be read; what git has of it is taken for it"), "{lines:?}");
    assert!(lines.iter().any(|line| line == "own: cannot be read"), "{lines:?}");
    drop(held);
    space.write("a", "evil");
    space.write("own", "evil");
    let changes = snapshot.scan().unwrap();
    assert_eq!(paths(&changes), ["a", "own"]);
    assert_eq!(before(&snapshot, &changes[0]), b"committed");
    assert_eq!(changes[1].before.oid(), None);
}

#[test]
fn rules_of_the_directories_above_are_named_when_they_change() {
    let space = Space::git(|s| s.write("sub/deep/a", "one"));
    space.write(".gitignore", "x\n");
    let root = space.root.join("sub/deep");
    let snapshot = Snapshot::create(&space.store(), &root, Limits::default()).unwrap();
    let mut snapshot = snapshot.without(&Private::default());
    snapshot.scan().unwrap();
    let is_said = |snapshot: &Snapshot, words: &str| snapshot.uncovered().iter().any(|line| line.starts_with(words));
    space.write(".gitignore", "# a word\nx\n");
    assert!(!is_said(&snapshot, "what is ignored has changed"));
    space.write(".gitignore", "a\n");
    space.write("sub/.gitignore", "b\n");
    let wanted = "what is ignored has changed: ../../.gitignore, ../.gitignore; what new rules hide is not shown";
    assert!(is_said(&snapshot, wanted), "{:?}", snapshot.uncovered());
}

#[test]
fn repositories_below_whose_index_is_not_read_are_named() {
    let space = Space::git(|s| s.write("notes", "notes\n"));
    for n in 0..NESTED + 2 {
        let dir = space.root.join(format!("r{n:03}"));
        fs::create_dir_all(dir.join(".git/objects")).unwrap();
        fs::create_dir_all(dir.join(".git/refs")).unwrap();
        fs::write(dir.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(dir.join("f"), "f\n").unwrap();
    }
    let snapshot = space.snapshot();
    let lines = snapshot.uncovered();
    let said = lines.iter().filter(|line| line.starts_with("more than 64 repositories below: r064/, r065/: "));
    assert_eq!(said.count(), 1, "{lines:?}");
}
