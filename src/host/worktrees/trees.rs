//! Trees of what is on the disk, and the commits and refs that keep them.
//!
//! Decides nothing. Invariants: the person's index is read and never written; no answer rests on what an index says of
//! times, or on its flags: each file is read.

use super::{Outcome, io_at, refused, seconds};
use crate::host::process::Git;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// For an index of ours: nothing is left out or believed unread, and every name that a file system has may be in it.
const WHOLE: &[&str] = &[
    "core.sparseCheckout=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.ignoreStat=false",
    "core.protectNTFS=false",
    "core.protectHFS=false",
];

pub(super) fn temporary() -> Outcome<TempDir> {
    tempfile::tempdir().map_err(io_at(Path::new("a temporary directory")))
}

/// A line of `ls-files --stage`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub stage: u8,
    pub path: PathBuf,
    pub mode: String,
    pub oid: String,
    /// A sparse checkout need not have it on the disk.
    is_skipped: bool,
}

impl Entry {
    /// A sparse checkout leaves it out.
    fn is_left_out(&self, git: &Git) -> bool {
        self.is_skipped && git.dir().join(&self.path).symlink_metadata().is_err()
    }

    /// What `update-index --index-info` reads.
    pub fn line(&self) -> Vec<u8> {
        line(&self.mode, &self.oid, &self.path)
    }
}

pub(super) fn line(mode: &str, oid: &str, path: &Path) -> Vec<u8> {
    [format!("{mode} {oid} 0\t").as_bytes(), path.as_os_str().as_bytes(), b"\0"].concat()
}

/// What is staged.
pub(super) fn staged(git: &Git) -> Outcome<Vec<Entry>> {
    let listed = git.run(&["ls-files", "-v", "--stage", "-z"])?;
    entries(&listed)
        .map(|line| entry(line).map_or_else(|| refused("git lists its index in an unknown way"), Ok))
        .collect()
}

/// How git lists a path: words, a tab, and the path.
pub(super) fn halves(line: &[u8]) -> Option<(&str, PathBuf)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    Some((std::str::from_utf8(&line[..tab]).ok()?, PathBuf::from(OsStr::from_bytes(&line[tab + 1..]))))
}

fn entry(line: &[u8]) -> Option<Entry> {
    let (head, path) = halves(line)?;
    let mut words = head.split(' ');
    let (tag, mode, oid, stage) = (words.next()?, words.next()?, words.next()?, words.next()?);
    Some(Entry {
        stage: stage.parse().ok()?,
        path,
        mode: mode.to_owned(),
        oid: oid.to_owned(),
        is_skipped: tag.eq_ignore_ascii_case("s"),
    })
}

/// An index of ours, empty at first.
pub(super) struct Index {
    git: Git,
    temp: TempDir,
}

impl Index {
    pub fn empty(git: &Git) -> Outcome<Self> {
        let temp = temporary()?;
        Ok(Self { git: git.with_index(&temp.path().join("index"), WHOLE), temp })
    }

    /// With all that a tree has.
    pub fn of(git: &Git, tree: &str) -> Outcome<Self> {
        let index = Self::empty(git)?;
        index.run(&["read-tree", tree], b"")?;
        Ok(index)
    }

    pub fn run(&self, args: &[&str], input: &[u8]) -> Outcome<Vec<u8>> {
        Ok(self.git.fed(args, input)?)
    }

    /// With the names of all that a working tree has, and of files that are in no commit nothing else: their content is
    /// neither read nor kept. Nothing is written into the repository.
    pub fn names_of(git: &Git) -> Outcome<Self> {
        let staged = staged(git)?;
        // In quotes, since a name may have the sign between two of them.
        let mut objects = quoted(&git.dir().join(git.path(&["rev-parse", "--git-path", "objects"])?));
        objects.pop();
        let mut index = Self::empty(git)?;
        index.git = index.git.with_objects(index.temp.path(), OsString::from_vec(objects));
        index.put(&staged.iter().flat_map(Entry::line).collect::<Vec<u8>>())?;
        index.add(&["--intent-to-add"], &BTreeSet::new())?;
        // What is not on the disk was taken out.
        let skipped: Vec<&Entry> = staged.iter().filter(|entry| entry.is_left_out(git)).collect();
        index.put(&skipped.iter().flat_map(|entry| entry.line()).collect::<Vec<u8>>())?;
        let names: Vec<u8> =
            skipped.iter().flat_map(|entry| [entry.path.as_os_str().as_bytes(), b"\0"].concat()).collect();
        if !names.is_empty() {
            index.run(&["update-index", "--skip-worktree", "-z", "--stdin"], &names)?;
        }
        // Times of the files that are as they were staged: each was read for them. 1 says that some are not.
        index.git.asked(&["update-index", "-q", "--refresh"])?;
        Ok(index)
    }

    /// Takes in what is on the disk, but for what is `odd` and for repositories inside, which are given back: git would run
    /// itself in them, with what their own configuration names.
    fn add(&self, how: &[&str], odd: &BTreeSet<PathBuf>) -> Outcome<Vec<PathBuf>> {
        let inside = self.repositories()?;
        let places = inside
            .iter()
            .chain(odd)
            .flat_map(|path| [b":(exclude,top,literal)", path.as_os_str().as_bytes(), b"\0"].concat());
        let places: Vec<u8> = [&b".\0"[..], &places.collect::<Vec<u8>>()].concat();
        self.run(&[&["add"], how, &["--pathspec-from-file=-", "--pathspec-file-nul"]].concat(), &places)?;
        Ok(inside)
    }

    /// What is on the disk under a name that git takes into no tree (`.GIT`, whatever it is, and a link `.gitmodules`): the first
    /// such name of each path.
    fn odd(&self) -> Outcome<BTreeSet<PathBuf>> {
        let listed = self.git.run(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        let is = |path: &Path, name: &str| path.file_name().is_some_and(|one| one.eq_ignore_ascii_case(name));
        let is_link = |path: &Path| self.git.dir().join(path).symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        let odd = |path: PathBuf| {
            let places: Vec<&Path> = path.ancestors().collect();
            let first = places.into_iter().rev().find(|place| is(place, ".git"));
            first.or((is(&path, ".gitmodules") && is_link(&path)).then_some(&path)).map(Path::to_owned)
        };
        Ok(paths(&listed).filter_map(odd).collect())
    }

    /// Takes in lines of [`line`], in place of what has the same path.
    pub fn put(&self, lines: &[u8]) -> Outcome<()> {
        // Without a word to read it would read none of ours.
        if !lines.is_empty() {
            self.run(&["update-index", "-z", "--index-info"], lines)?;
        }
        Ok(())
    }

    /// Where it has repositories of their own.
    fn repositories(&self) -> Outcome<Vec<PathBuf>> {
        Ok(staged(&self.git)?.into_iter().filter(|entry| entry.mode == "160000").map(|entry| entry.path).collect())
    }

    pub fn tree(&self) -> Outcome<String> {
        Ok(self.git.line(&["write-tree"])?)
    }
}

/// The tree of these lines.
pub(super) fn tree_of(git: &Git, lines: &[u8]) -> Outcome<String> {
    let index = Index::empty(git)?;
    index.put(lines)?;
    index.tree()
}

/// All files of a working tree as git would commit them now, but for those that it ignores.
pub(super) struct Snapshot {
    pub tree: String,
    index: Index,
    /// What a sparse checkout leaves out.
    skipped: Vec<u8>,
    /// What git takes into no tree, where it may be left out.
    pub odd: Option<BTreeSet<PathBuf>>,
}

impl Snapshot {
    pub fn of(git: &Git) -> Outcome<Self> {
        Self::with(git, None)
    }

    /// The same without what git takes into no tree.
    pub fn without_odd(git: &Git) -> Outcome<Self> {
        Self::with(git, Some(BTreeSet::new()))
    }

    fn with(git: &Git, odd: Option<BTreeSet<PathBuf>>) -> Outcome<Self> {
        let staged = staged(git)?;
        // Only the names count, so that what is known to git stays known though it is ignored.
        let index = Index::empty(git)?;
        index.put(&staged.iter().flat_map(Entry::line).collect::<Vec<u8>>())?;
        let skipped = staged.iter().filter(|entry| entry.is_left_out(git)).flat_map(Entry::line).collect();
        let mut snapshot = Self { tree: String::new(), index, skipped, odd };
        snapshot.look()?;
        Ok(snapshot)
    }

    /// Looks once more; whether nothing is known to be other than it was is told by the trees.
    pub fn look(&mut self) -> Outcome<()> {
        if let Some(odd) = &mut self.odd {
            odd.extend(self.index.odd()?);
        }
        let inside = self.index.add(&["--all"], self.odd.as_ref().unwrap_or(&BTreeSet::new()))?;
        let names: Vec<u8> = inside.iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat()).collect();
        self.index.run(&["update-index", "--add", "--remove", "-z", "--stdin"], &names)?;
        self.index.put(&self.skipped)?;
        self.tree = self.index.tree()?;
        Ok(())
    }
}

/// The names of the contents of files, byte by byte as they are on the disk; they are kept when they are to be.
pub(super) fn blobs(git: &Git, files: &[PathBuf], kept: bool) -> Outcome<Vec<String>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let input: Vec<u8> = files.iter().flat_map(|path| quoted(path)).collect();
    let args = ["hash-object", "--no-filters", "--stdin-paths", "-w"];
    let named = git.fed(&args[..if kept { 4 } else { 3 }], &input)?;
    let named: Vec<String> = String::from_utf8_lossy(&named).lines().map(str::to_owned).collect();
    if named.len() == files.len() { Ok(named) } else { refused("git has not read every file") }
}

/// A path as a line that git reads.
fn quoted(path: &Path) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b' '..=b'~' => line.push(*byte),
            _ => line.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    line.extend(b"\"\n");
    line
}

pub(super) fn commit(git: &Git, tree: &str, parents: &[&str], words: &str) -> Outcome<String> {
    let parents = parents.iter().flat_map(|parent| ["-p", parent]);
    let args: Vec<&str> = ["commit-tree", tree, "-m", words].into_iter().chain(parents).collect();
    Ok(git.line(&args)?)
}

/// A ref that nothing had before.
pub(super) fn keep(git: &Git, name: &str, commit: &str) -> Outcome<String> {
    let (now, mut tries) = (seconds(), 1..=9);
    loop {
        let Some(number) = tries.next() else { return refused("no recovery ref could be made") };
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        let kept = format!("refs/acp-tui/recovery/{name}-{now}{more}");
        if !git.asked(&["show-ref", "--verify", "--quiet", &kept])?.0 {
            git.run(&["update-ref", &kept, commit, ""])?;
            return Ok(kept);
        }
    }
}

/// What git ends with a zero byte each.
pub(super) fn entries(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}

pub(super) fn paths(listed: &[u8]) -> impl Iterator<Item = PathBuf> {
    entries(listed).map(|path| PathBuf::from(OsStr::from_bytes(path)))
}
