//! The end of a worktree: all that is in it is kept under a ref, looked for there, and only then removed.
//!
//! Walks the disk itself: what git leaves out of a commit (by a flag, a filter, a sparse checkout, a repository inside) is
//! in none of its lists. Invariant: nothing is removed that is not beneath the ref, or was not asked to be given up.

use super::origins::note_discarded;
use super::trees::{Entry, blobs, commit, halves, keep, line, paths, staged, temporary, tree_of};
use super::{MAX_IGNORED, MAX_NAMED, Outcome, RECORD, Worktree, io_at, put_away_as, refused, start_ref, there};
use crate::host::fs::read_regular;
use crate::host::process::Git;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Larger files of git's own have no names of commits.
const MAX_NOTES: u64 = 16 << 20;
/// Below the directory that git has for a worktree alone: repositories of submodules that were fetched in it. They go with it.
const MODULES: &str = "modules";
/// Parents of one commit.
const MAX_PARENTS: usize = 500;

/// Removes a worktree when a recovery ref holds all that is in it; gives that ref. `drop_ignored`: but for what git
/// ignores.
pub fn discard(worktree: &Worktree, drop_ignored: bool) -> Outcome<Option<String>> {
    if worktree.path.symlink_metadata().is_err() {
        // It was removed: what was committed stays on its branch.
        note_discarded(worktree, &worktree.branch)?;
        put_away(worktree)?;
        return Ok(None);
    }
    Preserved::of(worktree, drop_ignored)?.remove().map(Some)
}

/// Whether the repository still has its branch.
pub fn has_branch(worktree: &Worktree) -> bool {
    let branch = format!("refs/heads/{}", worktree.branch);
    worktree.origin.is_dir() && Git::at(&worktree.origin).line(&["rev-parse", "--verify", "--quiet", &branch]).is_ok()
}

/// A worktree of which everything is beneath a ref, and nothing removed.
pub(super) struct Preserved<'a> {
    worktree: &'a Worktree,
    git: Git,
    /// The repository that stays.
    origin: Git,
    given_up: HashSet<PathBuf>,
    trees: Trees,
    /// The ref.
    name: String,
}

impl<'a> Preserved<'a> {
    pub fn of(worktree: &'a Worktree, drop_ignored: bool) -> Outcome<Self> {
        let git = there(worktree)?;
        let given_up =
            if drop_ignored { ignored(&git, &["--directory"])?.into_iter().collect() } else { HashSet::new() };
        if !drop_ignored {
            check_ignored(&git, worktree)?;
        }
        let trees = Holds::of(&git, worktree, &given_up, true)?.commit(&git, worktree)?;
        let origin = if worktree.origin.is_dir() { Git::at(&worktree.origin) } else { common(&git)? };
        let name = keep(&origin, &worktree.name, &trees.commit)?;
        Ok(Self { worktree, git, origin, given_up, trees, name })
    }

    /// Removes it when it still holds nothing else; gives the ref.
    pub fn remove(self) -> Outcome<String> {
        let Self { worktree, origin, name, .. } = self;
        let now = Holds::of(&self.git, worktree, &self.given_up, false)?;
        // What went into another repository is not found here.
        let lost = now.missing_from(&origin, &self.trees)?;
        if !lost.is_empty() {
            let named: Vec<&str> = lost.iter().take(MAX_NAMED).map(String::as_str).collect();
            return refused(format!(
                "not all that is in {} is kept by {name}: {}; nothing was removed; is somebody working in it?",
                worktree.name,
                named.join(", ")
            ));
        }
        let remove = [OsStr::new("worktree"), "remove".as_ref(), "--force".as_ref(), worktree.path.as_os_str()];
        origin.run(&remove)?;
        // All are beneath the ref that was made; what of them is gone already need not go.
        let _ = origin.run(&["branch", "--quiet", "-D", &worktree.branch]);
        let _ = origin.run(&["update-ref", "-d", &start_ref(&worktree.name)]);
        note_discarded(worktree, &name)?;
        put_away(worktree)?;
        Ok(name)
    }
}

/// Its record stays under another name, for when the person has git bring it back.
fn put_away(worktree: &Worktree) -> Outcome<()> {
    let record = worktree.path.with_file_name(format!("{}.{RECORD}", worktree.name));
    fs::rename(&record, put_away_as(&worktree.path)).map_err(io_at(&record))
}

/// The repository itself.
fn common(git: &Git) -> Outcome<Git> {
    let dir = git.line(&["rev-parse", "--git-common-dir"])?;
    Ok(Git::at(&git.dir().join(dir)))
}

/// What git ignores, a repository as a directory.
fn ignored(git: &Git, how: &[&str]) -> Outcome<Vec<PathBuf>> {
    let listed = git.run(&[&["ls-files", "--others", "--ignored", "--exclude-standard", "-z"], how].concat())?;
    // Without a slash at its end.
    Ok(paths(&listed).map(|path| path.components().collect()).collect())
}

/// What git ignores is kept, too, unless it is much.
fn check_ignored(git: &Git, worktree: &Worktree) -> Outcome<()> {
    let listed = ignored(git, &[])?;
    let bytes = |path: &PathBuf| worktree.path.join(path).symlink_metadata().map_or(0, |meta| meta.len());
    let sum: u64 = listed.iter().map(bytes).sum();
    if sum <= MAX_IGNORED {
        return Ok(());
    }
    refused(format!(
        "{} files that git ignores have {} MiB, more than is kept; `--drop-ignored` gives them up, the rest is kept",
        listed.len(),
        sum >> 20
    ))
}

/// Everything that goes with a worktree.
struct Holds {
    /// Mode and content of each file on the disk.
    files: BTreeMap<PathBuf, (&'static str, String)>,
    staged: Vec<Entry>,
    /// Commits, and trees, that nothing may name any more when it is gone.
    commits: BTreeSet<String>,
    trees: BTreeSet<String>,
}

/// What a ref leads to.
struct Trees {
    commit: String,
    /// Of what is staged, by stage.
    stages: BTreeMap<u8, String>,
}

impl Holds {
    fn of(git: &Git, worktree: &Worktree, given_up: &HashSet<PathBuf>, kept: bool) -> Outcome<Self> {
        let files = files(git, &worktree.path, given_up, kept)?;
        let mut all = Self { files, staged: staged(git)?, commits: BTreeSet::new(), trees: BTreeSet::new() };
        all.named(git, worktree)?;
        Ok(all)
    }

    /// What git itself has noted of the worktree: where it was before, and what it is in the middle of.
    fn named(&mut self, git: &Git, worktree: &Worktree) -> Outcome<()> {
        let own = PathBuf::from(git.line(&["rev-parse", "--absolute-git-dir"])?);
        let branch = format!("refs/heads/{}", worktree.branch);
        let logged = git.dir().join(git.line(&["rev-parse", "--git-path", &format!("logs/{branch}")])?);
        let mut names: BTreeSet<String> = [worktree.start.clone()].into();
        let (mut notes, _) = below(&own, &HashSet::new())?;
        if notes.iter().any(|note| note.starts_with(MODULES)) {
            return refused(format!(
                "git keeps repositories of submodules in {}, whose commits would go with {}; fetch from them what is to stay, \
                 then move that directory away",
                own.join(MODULES).display(),
                worktree.name
            ));
        }
        notes.retain(|note| note.as_path() != Path::new("index"));
        let notes = notes.into_iter().map(|note| own.join(note)).chain(logged.is_file().then_some(logged));
        for note in notes {
            let meta = note.symlink_metadata().map_err(io_at(&note))?;
            if meta.is_file() && meta.len() <= MAX_NOTES {
                let text = read_regular(&note, MAX_NOTES).map_err(io_at(&note))?;
                names.extend(object_names(&text));
            }
        }
        // Where they are kept in no files.
        for one in ["HEAD", &branch] {
            if git.asked(&["rev-parse", "--verify", "--quiet", one])?.0 {
                names.insert(git.line(&["rev-parse", one])?);
                names.extend(object_names(&git.run(&["reflog", "show", "--no-abbrev", "--format=%H", one])?));
            }
        }
        let asked: String = names.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
        let kinds = git.fed(&["cat-file", "--batch-check=%(objectname) %(objecttype)"], asked.as_bytes())?;
        for line in String::from_utf8_lossy(&kinds).lines() {
            match line.split_once(' ') {
                Some((name, "commit")) => drop(self.commits.insert(name.to_owned())),
                Some((name, "tree")) => drop(self.trees.insert(name.to_owned())),
                _ => {}
            }
        }
        Ok(())
    }

    /// One commit that leads to everything.
    fn commit(&self, git: &Git, worktree: &Worktree) -> Outcome<Trees> {
        let name = &worktree.name;
        let lines = self.files.iter().flat_map(|(path, (mode, oid))| line(mode, oid, path));
        let tree = tree_of(git, &lines.collect::<Vec<u8>>())?;
        let head = git.line(&["rev-parse", "--verify", "HEAD^{commit}"])?;
        let tip = format!("refs/heads/{}^{{commit}}", worktree.branch);
        let tip = if git.asked(&["rev-parse", "--verify", "--quiet", &tip])?.0 {
            Some(git.line(&["rev-parse", &tip])?)
        } else {
            None
        };
        let mut parents = vec![head];
        parents.extend(tip.filter(|tip| *tip != parents[0]));
        let mut stages = BTreeMap::new();
        // Without a merge that is not finished there is only one, which may be empty.
        let there: BTreeSet<u8> = self.staged.iter().map(|entry| entry.stage).chain([0]).collect();
        for stage in there {
            let lines = self.staged.iter().filter(|entry| entry.stage == stage).flat_map(Entry::line);
            let tree = tree_of(git, &lines.collect::<Vec<u8>>())?;
            let words = match stage {
                0 => format!("What was staged in {name}"),
                _ => format!("What was staged in {name}, side {stage} of an unfinished merge"),
            };
            parents.push(commit(git, &tree, &[], &words)?);
            stages.insert(stage, tree);
        }
        let mut others = self.beyond(git, &parents)?;
        for tree in &self.trees {
            others.push(commit(git, tree, &[], &format!("What git had noted in {name}"))?);
        }
        while others.len() > MAX_PARENTS {
            let some: Vec<String> = others.drain(..MAX_PARENTS).collect();
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            others.push(commit(git, &tree_of(git, b"")?, &some, &format!("What {name} was at earlier"))?);
        }
        parents.extend(others);
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        Ok(Trees { commit: commit(git, &tree, &parents, &format!("All that was in {name}"))?, stages })
    }

    /// The commits that none of these leads to.
    fn beyond(&self, git: &Git, from: &[String]) -> Outcome<Vec<String>> {
        let mut asked: Vec<String> = self.commits.iter().cloned().collect();
        asked.extend(from.iter().map(|commit| format!("^{commit}")));
        let asked = asked.join("\n") + "\n";
        let found = git.fed(&["rev-list", "--stdin"], asked.as_bytes())?;
        let found = String::from_utf8_lossy(&found);
        Ok(found.lines().filter(|name| self.commits.contains(*name)).map(str::to_owned).collect())
    }

    /// What of it is not beneath a commit, in words.
    fn missing_from(&self, git: &Git, kept: &Trees) -> Outcome<Vec<String>> {
        let files = contents(git, &kept.commit)?;
        let shown = |path: &Path| path.display().to_string();
        let is_lost = |path: &PathBuf, is: (&str, &str)| {
            files.get(path).is_none_or(|(mode, oid)| (mode.as_str(), oid.as_str()) != is)
        };
        let lost = self.files.iter().filter(|(path, (mode, oid))| is_lost(path, (mode, oid)));
        let mut lost: Vec<String> = lost.map(|(path, _)| shown(path)).collect();
        let mut stages: BTreeMap<u8, BTreeMap<PathBuf, (String, String)>> = BTreeMap::new();
        for (stage, tree) in &kept.stages {
            stages.insert(*stage, contents(git, tree)?);
        }
        let is_there = |entry: &&Entry| {
            let there = stages.get(&entry.stage).and_then(|files| files.get(&entry.path));
            there.is_some_and(|(_, oid)| *oid == entry.oid)
        };
        lost.extend(
            self.staged.iter().filter(|entry| !is_there(entry)).map(|e| format!("{} as it is staged", shown(&e.path))),
        );
        lost.extend(
            self.beyond(git, std::slice::from_ref(&kept.commit))?.into_iter().map(|name| format!("commit {name}")),
        );
        Ok(lost)
    }
}

/// Mode and content of all that a tree has.
fn contents(git: &Git, tree: &str) -> Outcome<BTreeMap<PathBuf, (String, String)>> {
    let listed = git.run(&["ls-tree", "-r", "-z", "--full-tree", tree])?;
    let lines = listed.split(|byte| *byte == 0).filter_map(|line| {
        let (head, path) = halves(line)?;
        let mut words = head.split(' ');
        let (mode, oid) = (words.next()?, words.nth(1)?);
        Some((path, (mode.to_owned(), oid.to_owned())))
    });
    Ok(lines.collect())
}

/// All that may be the name of an object.
fn object_names(text: &[u8]) -> impl Iterator<Item = String> {
    let words = text.split(|byte| !byte.is_ascii_hexdigit()).filter(|word| matches!(word.len(), 40 | 64));
    words.map(|word| String::from_utf8_lossy(word).into_owned())
}

/// Mode and content of each file on the disk, links too.
fn files(
    git: &Git,
    top: &Path,
    given_up: &HashSet<PathBuf>,
    kept: bool,
) -> Outcome<BTreeMap<PathBuf, (&'static str, String)>> {
    let (found, inside) = below(top, given_up)?;
    if !inside.is_empty() {
        let named: Vec<String> = inside.iter().take(MAX_NAMED).map(|path| path.display().to_string()).collect();
        return refused(format!(
            "there are repositories inside, whose files would not be kept: {}; move them away first",
            named.join(", ")
        ));
    }
    let (links, mut modes) = (temporary()?, Vec::new());
    let mut read = Vec::new();
    for (number, path) in found.iter().enumerate() {
        let whole = top.join(path);
        let meta = whole.symlink_metadata().map_err(io_at(&whole))?;
        if meta.is_symlink() {
            let target = links.path().join(number.to_string());
            let to = fs::read_link(&whole).map_err(io_at(&whole))?;
            fs::write(&target, to.as_os_str().as_bytes()).map_err(io_at(&target))?;
            modes.push("120000");
            read.push(target);
        } else {
            modes.push(if meta.permissions().mode() & 0o100 == 0 { "100644" } else { "100755" });
            read.push(path.clone());
        }
    }
    let oids = blobs(git, &read, kept)?;
    Ok(found.into_iter().zip(modes.into_iter().zip(oids)).collect())
}

/// All files and links below a directory but for those given up, and all that is named as a repository, which no tree
/// can hold. Its own `.git` is neither. Pipes and the like have no content.
fn below(top: &Path, given_up: &HashSet<PathBuf>) -> Outcome<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut files, mut inside, mut open) = (Vec::new(), Vec::new(), vec![PathBuf::new()]);
    while let Some(dir) = open.pop() {
        let place = top.join(&dir);
        for entry in fs::read_dir(&place).map_err(io_at(&place))? {
            let entry = entry.map_err(io_at(&place))?;
            let path = dir.join(entry.file_name());
            let kind = entry.file_type().map_err(io_at(&place))?;
            let is_git = entry.file_name().eq_ignore_ascii_case(".git");
            if given_up.contains(&path) || path == Path::new(".git") {
            } else if is_git {
                inside.push(path);
            } else if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() || kind.is_symlink() {
                files.push(path);
            }
        }
    }
    inside.sort();
    Ok((files, inside))
}
