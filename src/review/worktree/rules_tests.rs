use super::*;
use crate::review::snapshot::preserve::Share;
use crate::review::snapshot::{Limits, Snapshot};
use crate::review::worktree::own_files::OwnFiles;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::time::Instant;
use tempfile::TempDir;

/// A directory to work in, and one beside it.
struct Lab {
    dir: TempDir,
    root: PathBuf,
}

impl Lab {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("work");
        fs::create_dir(&root).unwrap();
        Self { dir, root }
    }

    /// The same repository once more: quicker than to make it anew. Its index knows the files that are there.
    fn copy(&self) -> Self {
        let lab = Self::new();
        assert!(Command::new("cp").arg("-a").arg(self.root.join(".")).arg(&lab.root).status().unwrap().success());
        git(&lab.root, &["update-index", "-q", "--refresh"]);
        lab
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// What git says; it has to be there.
fn git(dir: &Path, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.current_dir(dir).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
    let out = command.output().expect("these tests compare with git, which is not there");
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn names(list: &[u8]) -> BTreeSet<String> {
    list.split(|byte| *byte == 0).filter(|n| !n.is_empty()).map(|n| String::from_utf8(n.to_vec()).unwrap()).collect()
}

/// The files that git sees below `dir`, those of repositories in it too.
fn seen_by_git(dir: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for name in names(&git(dir, &["ls-files", "-coz", "--exclude-standard"])) {
        match name.strip_suffix('/') {
            Some(nested) => {
                let inside = seen_by_git(&dir.join(nested));
                all.extend(inside.into_iter().map(|file| format!("{nested}/{file}")));
            }
            None => drop(all.insert(name)),
        }
    }
    all
}

fn seen_by_us(dir: &Path) -> BTreeSet<String> {
    let walked = walk::walk(dir, None, 1 << 20, &OwnFiles::default());
    assert!(walked.unreadable.is_empty() && !walked.cut);
    walked.files.iter().map(|(key, _)| String::from_utf8(key.to_vec()).unwrap()).collect()
}

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }

    fn name(&mut self) -> &'static str {
        self.one(&["a", "b", "c", "ab", "a.log", "b.log", "#x", "Ab", "c d", "ä"])
    }

    fn rule(&mut self) -> String {
        let (x, y) = (self.name(), self.name());
        let rule = match self.roll(16) {
            0..=3 => x.to_owned(),
            4 => format!("/{x}"),
            5 => format!("{x}/"),
            6 => format!("{x}/{y}"),
            7 => format!("{x}/*"),
            8 => format!("**/{x}"),
            9 => format!("{x}/**"),
            10 => format!("{x}/**/{y}"),
            11 => "*.log".to_owned(),
            12 => "?b*".to_owned(),
            13 => "[a-b]".to_owned(),
            14 => "[!a]".to_owned(),
            _ => format!("/{x}/{y}/"),
        };
        let rule = if rule.starts_with('#') && self.roll(2) == 0 { format!("\\{rule}") } else { rule };
        match self.roll(8) {
            0 | 1 => format!("!{rule}"),
            2 => format!("{rule}  "),
            3 => format!("{rule}\r"),
            _ => rule,
        }
    }

    fn rules(&mut self) -> String {
        let rules: Vec<String> = (0..=self.roll(4)).map(|_| self.rule()).collect();
        rules.join("\n") + "\n"
    }

    /// Fills a directory.
    fn fill(&mut self, dir: &Path, depth: usize, nested: bool) {
        fs::create_dir_all(dir).unwrap();
        for _ in 0..=self.roll(5) {
            let path = dir.join(self.name());
            if path.symlink_metadata().is_ok() {
                continue;
            }
            match self.roll(6) {
                0 => symlink("somewhere", path).unwrap(),
                1..=3 if depth > 0 => {
                    if nested && self.roll(6) == 0 {
                        fs::create_dir(&path).unwrap();
                        git(&path, &["init", "-q"]);
                        fs::write(path.join(".git/info/exclude"), self.rules()).unwrap();
                    }
                    self.fill(&path, depth - 1, nested);
                }
                _ => fs::write(path, "x").unwrap(),
            }
        }
        if self.roll(3) > 0 {
            fs::write(dir.join(NAME), self.rules()).unwrap();
        }
    }
}

#[test]
fn the_walk_sees_what_git_sees_in_random_trees() {
    for seed in 0..60 {
        let (lab, mut dice) = (Lab::new(), Dice(seed));
        git(&lab.root, &["init", "-q"]);
        fs::write(lab.root.join(".git/info/exclude"), dice.rules()).unwrap();
        dice.fill(&lab.root, 3, true);
        let (git_sees, we_see) = (seen_by_git(&lab.root), seen_by_us(&lab.root));
        assert_eq!(we_see, git_sees, "seed {seed}\n{}", told(&lab.root));
        // From a directory further down rules above count as well.
        for sub in ["a", "b", "ab", "c"].map(|name| lab.root.join(name)).iter().filter(|dir| dir.is_dir()) {
            let ignored = Command::new("git").current_dir(&lab.root).arg("check-ignore").arg("-q").arg(sub).status();
            if !sub.is_symlink() && !ignored.unwrap().success() {
                assert_eq!(seen_by_us(sub), seen_by_git(sub), "seed {seed} in {sub:?}\n{}", told(&lab.root));
            }
        }
    }
}

#[test]
fn without_a_repository_the_rules_of_each_directory_hold_as_in_one() {
    for seed in 100..140 {
        let (lab, mut dice) = (Lab::new(), Dice(seed));
        dice.fill(&lab.root, 3, false);
        let we_see = seen_by_us(&lab.root);
        git(&lab.root, &["init", "-q"]);
        assert_eq!(we_see, seen_by_git(&lab.root), "seed {seed}\n{}", told(&lab.root));
    }
}

/// All rules of a tree, for a person who looks for what is wrong.
fn told(root: &Path) -> String {
    let args = ["-r", "", "--include=.gitignore", "--include=exclude", "."];
    let out = Command::new("grep").current_dir(root).args(args).output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn a_linked_worktree_and_a_submodule_have_the_rules_of_their_repository() {
    let lab = Lab::new();
    git(&lab.root, &["init", "-q"]);
    lab.write("a", "x");
    git(&lab.root, &["add", "-A"]);
    git(&lab.root, &["commit", "-qm", "one"]);
    git(&lab.root, &["worktree", "add", "-q", "../linked"]);
    lab.write(".git/info/exclude", "secret\n");
    let linked = lab.root.parent().unwrap().join("linked");
    for file in ["secret", "seen"] {
        fs::write(linked.join(file), "x").unwrap();
    }
    assert_eq!(seen_by_us(&linked), seen_by_git(&linked));
    assert!(!seen_by_us(&linked).contains("secret"));
}

#[test]
fn other_names_for_rules_are_not_used() {
    let lab = Lab::new();
    for name in [".ignore", ".rgignore", "sub/.ignore"] {
        lab.write(name, "*\n");
    }
    assert_eq!(seen_by_us(&lab.root).len(), 3);
}

// ---- files that are none

const ODD: &[&str] = &["fifo", "zero", "to-fifo", "loop", "dir", "socket", "sparse", "unreadable"];

/// Puts something odd where a file is expected. What is bound has to be held.
fn put(kind: &str, path: &Path) -> Option<UnixListener> {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match kind {
        "fifo" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        "zero" => symlink("/dev/zero", path).unwrap(),
        "to-fifo" => {
            let fifo = path.with_file_name("..odd-fifo");
            if fifo.symlink_metadata().is_err() {
                assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
            }
            symlink("..odd-fifo", path).unwrap();
        }
        "loop" => symlink(path.file_name().unwrap(), path).unwrap(),
        "dir" => fs::create_dir(path).unwrap(),
        "socket" => {
            // The system's bound for the name of a socket is a short one.
            let short = tempfile::Builder::new().prefix("s").tempdir_in("/tmp").unwrap();
            let listener = UnixListener::bind(short.path().join("s")).unwrap();
            fs::rename(short.path().join("s"), path).unwrap();
            return Some(listener);
        }
        "sparse" => fs::File::create(path).unwrap().set_len(10 << 30).unwrap(),
        "unreadable" => {
            use std::os::unix::fs::PermissionsExt as _;
            fs::write(path, "x").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o0)).unwrap();
        }
        kind => panic!("{kind}"),
    }
    None
}

/// Runs what must not wait for anything; a hanging test would say nothing.
fn within<T: Send + 'static>(what: &str, f: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = channel();
    std::thread::spawn(move || drop(done.send(f())));
    match result.recv_timeout(Duration::from_mins(1)) {
        Ok(value) => value,
        Err(RecvTimeoutError::Disconnected) => panic!("{what}: it failed"),
        Err(RecvTimeoutError::Timeout) => panic!("{what}: it waits for ever"),
    }
}

/// A repository with three files, one of them changed since the commit, and one that is ignored.
fn repository() -> Lab {
    let lab = Lab::new();
    git(&lab.root, &["init", "-q"]);
    lab.write("a", "one\n");
    lab.write("sub/b", "two\n");
    lab.write("sub/deep/c", "three\n");
    git(&lab.root, &["add", "-A"]);
    git(&lab.root, &["commit", "-qm", "one"]);
    lab.write("a", "one, changed\n");
    lab
}

/// Each file that is opened by its name, and whether it is named when it cannot be used.
const PLACES: &[(&str, bool)] = &[
    (".gitignore", true),
    ("sub/.gitignore", true),
    ("sub/deep/.gitignore", true),
    (".gitattributes", false),
    ("sub/.gitattributes", false),
    (".git/info/exclude", true),
    (".git/info/attributes", false),
    (".git/index", true),
    (".git/config", true),
    (".git/config.worktree", false),
    (".git/HEAD", false),
    (".git/commondir", true),
    (".git/packed-refs", false),
    (".git/objects/info/alternates", true),
];

#[test]
fn whatever_lies_where_rules_or_a_file_of_gits_should_be_the_look_ends_and_names_it() {
    let one = repository();
    for (place, named) in PLACES {
        for kind in ODD {
            let case = format!("{place} as {kind}");
            let lab = one.copy();
            let _held = put(kind, &lab.root.join(place));
            // The person may be allowed everything.
            let can_be_read = *kind == "unreadable" && fs::read(lab.root.join(place)).is_ok();
            let (root, store) = (lab.root.clone(), lab.dir.path().join("store"));
            let (first, second, before, uncovered) = within(&case, move || {
                let mut snapshot = Snapshot::create(&store, &root, Limits::default()).unwrap();
                let first = snapshot.scan().unwrap();
                fs::write(root.join("sub/b"), "changed").unwrap();
                fs::write(root.join("sub/new"), "new").unwrap();
                snapshot.look(&[root.join("sub/new"), root.join("sub")]).unwrap();
                fs::write(root.join("sub/deep/c"), "changed").unwrap();
                let second = snapshot.scan().unwrap();
                let before: Vec<_> = second.iter().map(|c| snapshot.objects.content(&c.before).unwrap()).collect();
                (first, second, before, snapshot.uncovered())
            });
            assert_eq!(first, [], "{case}");
            assert_eq!(second.len(), 1, "{case}: {second:?}");
            assert_eq!(before, [b"three\n"], "{case}");
            let is_named = uncovered.iter().any(|line| line.starts_with(&format!("{place}: ")));
            if *named && !can_be_read {
                assert!(is_named, "{case}: {uncovered:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_used_hides_nothing_and_what_can_still_does() {
    let one = repository();
    for kind in ODD {
        let lab = one.copy();
        for file in ["a.log", "sub/b.log", "sub/deep/c.log"] {
            lab.write(file, "x");
        }
        lab.write("sub/.gitignore", "*.log\n");
        let _held = put(kind, &lab.root.join(".gitignore"));
        let root = lab.root.clone();
        let seen = within(kind, move || seen_by_us(&root));
        assert!(seen.contains("a.log"), "{kind}: {seen:?}");
        assert!(!seen.contains("sub/b.log") && !seen.contains("sub/deep/c.log"), "{kind}: {seen:?}");
    }
}

#[test]
fn rules_behind_a_link_are_not_applied_and_that_is_named() {
    let lab = repository();
    lab.write("real", "*.log\n");
    lab.write("a.log", "x");
    symlink("real", lab.root.join(".gitignore")).unwrap();
    assert_eq!(seen_by_us(&lab.root), seen_by_git(&lab.root));
    let mut snapshot = Snapshot::create(&lab.dir.path().join("store"), &lab.root, Limits::default()).unwrap();
    snapshot.scan().unwrap();
    while snapshot.keep_theirs(Share::until(Instant::now())) {}
    assert_eq!(snapshot.uncovered(), [".gitignore: a link, its rules are not applied"]);
    // Its own files git may have behind links.
    fs::remove_file(lab.root.join(".gitignore")).unwrap();
    fs::remove_file(lab.root.join(".git/info/exclude")).unwrap();
    symlink("../../real", lab.root.join(".git/info/exclude")).unwrap();
    assert!(!seen_by_us(&lab.root).contains("a.log"));
    assert_eq!(seen_by_us(&lab.root), seen_by_git(&lab.root));
}

#[test]
fn rules_above_the_root_and_of_repositories_below_are_looked_at_as_well() {
    let one = repository();
    for kind in ODD {
        for place in [".gitignore", "sub/deep/.git/info/exclude", "sub/deep/.git", ".git"] {
            let case = format!("{place} as {kind}");
            let lab = one.copy();
            if place.starts_with("sub/deep") {
                git(&lab.root.join("sub/deep"), &["init", "-q"]);
            }
            let _held = put(kind, &lab.root.join(place));
            let (root, store) = (lab.root.join("sub"), lab.dir.path().join("store"));
            let (seen, uncovered) = within(&case, move || {
                let mut snapshot = Snapshot::create(&store, &root, Limits::default()).unwrap();
                snapshot.scan().unwrap();
                (seen_by_us(&root), snapshot.uncovered())
            });
            assert!(seen.contains("b") && seen.contains("deep/c"), "{case}: {seen:?}");
            // A link that leads nowhere is no repository; nor is an empty directory.
            let is_nothing = Path::new(place).ends_with(".git") && matches!(*kind, "loop" | "dir");
            if !is_nothing && *kind != "unreadable" {
                assert!(
                    uncovered.iter().any(|line| line.contains(".git") && !line.contains("(ignored)")),
                    "{case}: {uncovered:?}"
                );
            }
        }
    }
}

#[test]
fn too_many_rules_are_not_applied_together() {
    let lab = Lab::new();
    let many = |n: usize| (0..n).map(|i| format!("no-such-file-{i:06}")).collect::<Vec<_>>().join("\n");
    let most = LARGEST as usize / 20;
    lab.write(".gitignore", &format!("one\n{}", many(most - 1)));
    lab.write("x/.gitignore", &format!("two\n{}", many(most - 1)));
    lab.write("x/y/.gitignore", &format!("three\n{}", many(most - 1)));
    lab.write("z/.gitignore", &many(most + 1));
    for name in ["one", "two", "three"] {
        lab.write(&format!("x/y/{name}"), "x");
    }
    let seen = seen_by_us(&lab.root);
    let hidden = ["x/y/one", "x/y/two"].iter().all(|name| !seen.contains(*name));
    assert!(hidden && seen.contains("x/y/three"), "{seen:?}");
    let mut snapshot = Snapshot::create(&lab.dir.path().join("store"), &lab.root, Limits::default()).unwrap();
    snapshot.scan().unwrap();
    let uncovered = snapshot.uncovered();
    let named = |file: &str| uncovered.iter().any(|line| line.starts_with(&format!("{file}: ")));
    assert!(named("x/y/.gitignore") && named("z/.gitignore") && !named("x/.gitignore"), "{uncovered:?}");
}

#[test]
fn what_a_file_of_rules_said_that_was_too_large_hides_nothing() {
    let hides = |text: &[u8]| OldRules::of(b"", text, &Budget::default()).may_hide(b"x");
    assert!(!hides("x\n".repeat(LARGEST as usize).as_bytes()));
    assert!(!hides("?\n".repeat(PATTERNS / 2 + 1).as_bytes()));
    assert!(hides(b"\xff\nx\n") && hides("?\n".repeat(PATTERNS / 2).as_bytes()));
}

#[test]
fn what_rules_cost_is_bounded_in_one_look_and_what_is_not_judged_may_have_been_hidden() {
    let text = "no-such-*-file\n".repeat(PATTERNS / 15);
    let enough = IN_ONE_LOOK.patterns / text.len();
    let budget = Budget::default();
    let says = |_: usize| OldRules::of(b"d", text.as_bytes(), &budget).may_hide(b"d/x");
    assert!(!(0..enough).any(says) && (0..3).all(says));
    let lab = Lab::new();
    for dir in 0..enough + 3 {
        lab.write(&format!("{dir}/.gitignore"), &format!("it\n{text}"));
        lab.write(&format!("{dir}/it"), "x");
    }
    let walked = || walk::walk(&lab.root, None, 1 << 20, &OwnFiles::default());
    let (all, seen) = (walked(), seen_by_us(&lab.root));
    assert!(all.has_many_rules);
    // How many are applied depends on nothing but their size.
    assert_eq!(seen.iter().filter(|name| name.ends_with("/it")).count(), 3, "{seen:?}");
    let mut snapshot = Snapshot::create(&lab.dir.path().join("store"), &lab.root, Limits::default()).unwrap();
    snapshot.scan().unwrap();
    let words = "more rules in all files of them than are applied: some of what they ignore is looked at";
    assert!(snapshot.uncovered().contains(&words.to_owned()));
    (0..3).for_each(|dir| fs::remove_file(lab.root.join(format!("{dir}/.gitignore"))).unwrap());
    assert!(!walked().has_many_rules);
    snapshot.scan().unwrap();
    assert!(!snapshot.uncovered().contains(&words.to_owned()));
}

#[test]
fn a_file_of_too_many_patterns_is_not_applied_and_that_is_named() {
    let lab = Lab::new();
    let patterns = |n: usize| "*[!x]?{ab,*c}\n".repeat(n);
    lab.write("a/.gitignore", &format!("it\n{}", patterns(PATTERNS / 14)));
    lab.write("b/.gitignore", &format!("it\n{}", patterns(PATTERNS / 14 + 1)));
    lab.write("a/d/.gitignore", &format!("other\n{}", patterns(PATTERNS / 14)));
    lab.write("a/d/e/.gitignore", &format!("third\n{}", patterns(PATTERNS / 14)));
    for name in ["a/it", "b/it", "a/d/other", "a/d/e/third"] {
        lab.write(name, "x");
    }
    let seen = seen_by_us(&lab.root);
    let is_seen = ["a/it", "b/it", "a/d/other", "a/d/e/third"].map(|name| seen.contains(name));
    assert_eq!(is_seen, [false, true, false, true]);
    let mut snapshot = Snapshot::create(&lab.dir.path().join("store"), &lab.root, Limits::default()).unwrap();
    snapshot.scan().unwrap();
    let uncovered = snapshot.uncovered();
    let odd: Vec<&String> = uncovered.iter().filter(|line| line.ends_with("its rules are not applied")).collect();
    assert_eq!(
        odd,
        [
            "a/d/e/.gitignore: too much with those above it, its rules are not applied",
            "b/.gitignore: has more than 16 KiB of patterns, its rules are not applied"
        ]
    );
}

#[test]
fn a_deep_tree_is_walked_with_few_handles() {
    let lab = Lab::new();
    let deep = vec!["d"; 400].join("/");
    lab.write(&format!("{deep}/file"), "x");
    for at in 1..400 {
        let dir = vec!["d"; at].join("/");
        fs::create_dir(lab.root.join(dir).join("e")).unwrap();
    }
    assert_eq!(seen_by_us(&lab.root), BTreeSet::from([format!("{deep}/file")]));
}

#[test]
fn names_that_are_too_long_together_are_not_all_found_and_that_is_known() {
    let lab = Lab::new();
    let deep = format!("{0}/{0}/{0}", "n".repeat(200));
    (0..20).for_each(|n| lab.write(&format!("{deep}/{n}"), "x"));
    fs::create_dir_all(lab.root.join(&deep).join("dir")).unwrap();
    let walked = |names: usize| walk::walk_within(&lab.root, None, (100, names), &OwnFiles::default());
    let all = walked(1 << 20);
    assert_eq!((all.files.len(), all.dirs.len(), all.cut, all.has_long_names), (20, 5, false, false));
    let some = walked(10_000);
    assert!(some.files.len() < 20 && some.cut && some.has_long_names, "{}", some.files.len());
}
