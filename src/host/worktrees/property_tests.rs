//! Random worktrees, and random files of the person: after any change of either, a merge and a discard keep every byte.

use super::discard::discard;
use super::tests::Place;
use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// Names that files and directories have in turn; `x.log` and `build` are ignored.
const NAMES: &[&str] = &["a", "src/b", "src", "new", "new/y", "x.log", "build", "build/z", "link", "link/in"];

#[derive(Clone, Debug)]
enum Op {
    /// All texts have the same length.
    Write(usize, u8),
    Remove(usize),
    Link(usize),
    Execute(usize),
    Rename(usize, usize),
    /// Staged as it is, also when git ignores it.
    Stage(usize),
    Assume(usize),
    Skip(usize),
    Commit,
    TakeAway,
    /// Another branch has something else here, and is being merged.
    BeginMerge(usize),
    /// A repository, one that is broken, or a file called like one.
    Repository(usize, u8),
}

fn op() -> impl Strategy<Value = Op> {
    let name = 0..NAMES.len();
    prop_oneof![
        6 => (name.clone(), any::<u8>()).prop_map(|(name, text)| Op::Write(name, text)),
        2 => name.clone().prop_map(Op::Remove),
        1 => name.clone().prop_map(Op::Link),
        1 => name.clone().prop_map(Op::Execute),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| Op::Rename(from, to)),
        3 => name.clone().prop_map(Op::Stage),
        1 => name.clone().prop_map(Op::Assume),
        1 => name.clone().prop_map(Op::Skip),
        1 => Just(Op::Commit),
        1 => Just(Op::TakeAway),
        1 => name.clone().prop_map(Op::BeginMerge),
        1 => (name, 0..3_u8).prop_map(|(name, kind)| Op::Repository(name, kind)),
    ]
}

/// What cannot be done where it is asked for is not done.
fn act(dir: &Path, op: &Op) {
    let git = Git::at(dir);
    let run = |args: &[&str]| drop(git.asked(args));
    let at = |name: &usize| dir.join(NAMES[*name]);
    match op {
        Op::Write(name, text) => {
            let path = at(name);
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::write(path, format!("1\n2\n3 {text:03}\n4\n5\n"));
        }
        Op::Remove(name) => drop(fs::remove_file(at(name)).or_else(|_| fs::remove_dir_all(at(name)))),
        Op::Link(name) => drop(symlink("a", at(name))),
        Op::Execute(name) => drop(fs::set_permissions(at(name), fs::Permissions::from_mode(0o755))),
        Op::Rename(from, to) => drop(fs::rename(at(from), at(to))),
        Op::Stage(name) => run(&["add", "-f", "--", NAMES[*name]]),
        Op::Assume(name) => run(&["update-index", "--assume-unchanged", "--", NAMES[*name]]),
        Op::Skip(name) => run(&["update-index", "--skip-worktree", "--", NAMES[*name]]),
        Op::Commit => run(&["commit", "-q", "-m", "something"]),
        Op::TakeAway => run(&["reset", "-q", "--hard", "HEAD~1"]),
        Op::BeginMerge(name) => {
            for (text, args) in
                [("theirs\n", &["checkout", "-q", "--detach"][..]), ("ours\n", &["checkout", "-q", "-"])]
            {
                run(args);
                let _ = fs::write(at(name), text);
                run(&["add", "--", NAMES[*name]]);
                run(&["commit", "-q", "-m", text]);
            }
            run(&["merge", "-q", "--no-edit", "HEAD@{1}"]);
        }
        Op::Repository(name, kind) => {
            let path = at(name);
            match kind {
                0 => {
                    let _ = fs::create_dir_all(&path);
                    run(&["init", "-q", NAMES[*name]]);
                }
                1 => {
                    let _ = fs::create_dir_all(path.join(".git"));
                    let _ = fs::write(path.join(".git/notes"), "of nothing\n");
                }
                _ if path.is_dir() => drop(fs::write(path.join(".git"), "a plain file\n")),
                _ => {}
            }
        }
    }
}

/// Everything on the disk but the top's own `.git`.
fn disk(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let below = path.strip_prefix(top).unwrap().to_owned();
            if below == Path::new(".git") {
            } else if kind.is_dir() {
                open.push(path);
            } else if kind.is_symlink() {
                found.insert(below, fs::read_link(&path).unwrap().into_os_string().into_vec());
            } else {
                found.insert(below, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The contents of all that a ref leads to, and the names.
fn beneath(git: &Git, kept: &str) -> (HashSet<Vec<u8>>, HashSet<String>) {
    let names = git.line(&["rev-list", "--objects", "--no-object-names", kept]).unwrap();
    let all = git.fed(&["cat-file", "--batch"], (names.clone() + "\n").as_bytes()).unwrap();
    let (mut contents, mut rest) = (HashSet::new(), &all[..]);
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let size: usize = head.rsplit(' ').next().unwrap().parse().unwrap();
        contents.insert(rest[end + 1..=end + size].to_vec());
        rest = &rest[end + size + 2..];
    }
    (contents, names.lines().map(str::to_owned).collect())
}

fn check(theirs: &[Op], ours: &[Op], with_changes: bool) -> Result<(), TestCaseError> {
    let place = Place::new();
    let made = place.make("w", with_changes);
    for op in theirs {
        act(&made.path, op);
    }
    for op in ours {
        act(&place.top(), op);
    }
    let (there, before) = (disk(&made.path), disk(&place.top()));
    let git = Git::at(&place.top());
    let mut left = Vec::new();
    if let Ok(merge) = Merge::of(&made, None) {
        prop_assert_eq!(&disk(&place.top()), &before, "nothing is written before it is said");
        let kept = merge.recovery.as_ref().map(|kept| beneath(&git, kept).0).unwrap_or_default();
        let merged = merge.carry_out(|_, _| true);
        let after = disk(&place.top());
        for (path, bytes) in &before {
            let stays = after.get(path) == Some(bytes);
            prop_assert!(stays || merged.files.contains(path) && kept.contains(bytes), "{:?} of the person", path);
        }
        left = merged.left;
    }
    prop_assert_eq!(&disk(&made.path), &there, "a merge leaves the worktree as it is");
    let own = Git::at(&made.path);
    let staged = own.line(&["ls-files", "--stage"]).unwrap();
    let commits = own.line(&["log", "-g", "--format=%H", "HEAD"]).unwrap();
    match discard(&made, false) {
        Err(_) => prop_assert_eq!(&disk(&made.path), &there),
        Ok(kept) => {
            let (contents, names) = beneath(&git, &kept.unwrap());
            for (path, bytes) in &there {
                prop_assert!(contents.contains(bytes), "{:?} of the worktree; left alone: {:?}", path, left);
            }
            for entry in staged.lines().filter(|line| !line.starts_with("160000")) {
                prop_assert!(names.contains(entry.split(' ').nth(1).unwrap()), "{} is staged", entry);
            }
            for commit in commits.lines() {
                prop_assert!(names.contains(commit), "{} was committed", commit);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::random(10))]
    #[test]
    fn nothing_is_lost_whatever_was_done(
        theirs in proptest::collection::vec(op(), 0..12),
        ours in proptest::collection::vec(op(), 0..6),
        with_changes in any::<bool>(),
    ) {
        check(&theirs, &ours, with_changes)?;
    }
}
