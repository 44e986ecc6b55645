//! Git worktrees of our own: made for a session, listed, merged back, and given up.
//!
//! Each has a record beside it that says where it came from and what it began with. Invariants: nothing in the place that
//! a worktree came from is overwritten that is not known to git and kept under a recovery ref; no worktree goes before a
//! recovery ref holds all that is in it.

mod counted;
mod differing;
mod discard;
mod interrupted;
mod merge;
mod opening;
mod origins;
mod trees;

pub use counted::{changes, changes_until};
pub use discard::{discard, has_branch};
pub use merge::{Change, Merge, Merged, Part, Side, Thing};
pub use opening::{Opening, Removal};
pub use origins::origins;

use self::interrupted::sweep;
use self::trees::{Snapshot, commit};
use super::fs as files;
use super::process::{Git, GitError};
use crate::base::sanitize;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Of a record.
const VERSION: u32 = 1;
const RECORD: &str = "json";
const MAX_RECORD: u64 = 64 << 10;
/// Worktrees without a name that are counted.
const MAX_UNNAMED: usize = 10_000;
const MAX_NAME: usize = 64;
/// Files that git ignores are kept by a recovery ref up to so many bytes.
pub const MAX_IGNORED: u64 = 100 << 20;
/// How many files are named in a complaint.
const MAX_NAMED: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Refused(String),
}

type Outcome<T> = Result<T, WorktreeError>;

fn refused<T>(why: impl Into<String>) -> Outcome<T> {
    Err(WorktreeError::Refused(why.into()))
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> WorktreeError {
    let path = path.to_owned();
    move |source| WorktreeError::Io { path, source }
}

/// What the record of a worktree says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    v: u32,
    pub name: String,
    /// The top of the working tree that it came from.
    pub origin: PathBuf,
    pub path: PathBuf,
    pub branch: String,
    /// The commit with what it began with, uncommitted changes included that were taken along.
    pub start: String,
    /// Seconds since 1970.
    pub created: u64,
}

/// Lines and files that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub added: u64,
    pub removed: u64,
    pub files: u64,
}

#[derive(Debug)]
pub struct Listed {
    pub worktree: Worktree,
    /// What was changed in it; why that is not known.
    pub changes: Outcome<Difference>,
}

#[derive(Debug)]
pub struct Made {
    pub worktree: Worktree,
    /// What else there is to know, in words.
    pub remarks: Vec<String>,
    /// It is for a session that is about to open in it.
    pub opening: Opening,
}

/// Where all are, below acp-tui's directory for state.
pub fn below(state: &Path) -> PathBuf {
    state.join("worktrees")
}

/// The top of the working tree around a directory, and its commit.
struct Origin {
    git: Git,
    top: PathBuf,
    head: String,
}

impl Origin {
    fn of(dir: &Path) -> Outcome<Self> {
        let git = Git::at(dir);
        let place = dir.display();
        let inside = git.line(&["rev-parse", "--is-inside-work-tree"]).map_err(|error| match error {
            GitError::Said(words) if words.contains("not a git repository") => WorktreeError::Refused(format!(
                "{place} is in no git repository; a worktree needs one (`git init`, then a commit)"
            )),
            other => other.into(),
        })?;
        if inside != "true" {
            return refused(format!("{place} is in a bare repository, which has no files; clone it and work there"));
        }
        let top = top_of(&git)?;
        let git = Git::at(&top);
        let Ok(head) = git.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) else {
            return refused(format!("the repository of {place} has no commit yet; make the first one (`git commit`)"));
        };
        Ok(Self { git, top, head })
    }

    fn unmerged(&self) -> Outcome<()> {
        if self.git.run(&["ls-files", "--unmerged", "-z"])?.is_empty() {
            return Ok(());
        }
        refused(format!("in {} a merge is not finished; finish it first", self.top.display()))
    }
}

/// How a worktree is to be called.
#[derive(Clone, Copy, Debug)]
pub enum Naming<'a> {
    Exactly(&'a str),
    /// Begins so, and ends with the first number that is free.
    Numbered(&'a str),
}

/// Makes a worktree for a session that is asked for in `dir`.
pub fn create(state: &Path, dir: &Path, name: Naming<'_>, with_changes: bool) -> Outcome<Made> {
    if with_changes {
        Origin::of(dir)?.unmerged()?;
    }
    let files = with_changes.then(|| Files::around(dir)).transpose()?;
    create_with(state, dir, name, files.as_ref())
}

/// The same; it begins with these files, where any are given, else with the commit.
pub fn create_with(state: &Path, dir: &Path, name: Naming<'_>, files: Option<&Files>) -> Outcome<Made> {
    let origin = Origin::of(dir)?;
    let mut remarks = Vec::new();
    if files.is_some() {
        origin.unmerged()?;
    }
    let home = below(state).join(stem(&origin.top));
    for dir in [&below(state), &home] {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(io_at(dir))?;
    }
    origins::note_origin(&home, &origin.top)?;
    let (name, record, file) = take_name(&home, &origin, name)?;
    // Before it can be found.
    let opening = Opening::of(file, &record)?;
    let made = set_up(&origin, &home, &name, files, &mut remarks).and_then(|worktree| {
        write_record(&record, &worktree)?;
        origins::note_made(&home, &worktree.name)?;
        // What was discarded under this name cannot come back in its place.
        let _ = fs::remove_file(put_away_as(&worktree.path));
        Ok(worktree)
    });
    match made {
        Ok(worktree) => Ok(Made { worktree, remarks, opening }),
        Err(error) => {
            // The name was not told yet.
            let _ = fs::remove_file(&record);
            Err(error)
        }
    }
}

/// A name whose record could be made is taken by no other process.
fn take_name(home: &Path, origin: &Origin, wanted: Naming<'_>) -> Outcome<(String, PathBuf, fs::File)> {
    let is_free = |name: &str| -> Outcome<bool> {
        let branch = format!("refs/heads/{}", branch_of(name));
        Ok(!home.join(name).exists() && !origin.git.asked(&["show-ref", "--verify", "--quiet", &branch])?.0)
    };
    let take = |name: &str| {
        let record = home.join(format!("{name}.{RECORD}"));
        let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&record);
        made.map(|file| (name.to_owned(), record, file))
    };
    let prefix = match wanted {
        Naming::Numbered(prefix) => prefix,
        Naming::Exactly(name) => {
            check_name(name)?;
            if !is_free(name)? {
                return refused(format!(
                    "a worktree or branch {} is there already; take another name, or `acp-tui worktrees discard {name}`",
                    branch_of(name)
                ));
            }
            return take(name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => WorktreeError::Refused(format!("a worktree {name} is there already")),
                _ => io_at(home)(error),
            });
        }
    };
    // Sessions of a worktree that was discarded must not go on in another one.
    let discarded = origins::discarded(home);
    for number in 1..=MAX_UNNAMED {
        let name = format!("{prefix}{number}");
        check_name(&name)?;
        if !discarded.contains_key(&name) && is_free(&name)? {
            match take(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                taken => return taken.map_err(io_at(home)),
            }
        }
    }
    refused("there are too many worktrees; discard some")
}

fn branch_of(name: &str) -> String {
    format!("acp-tui/{name}")
}

fn check_name(name: &str) -> Outcome<()> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let is_odd = name.starts_with(['.', '-']) || name.ends_with('.') || name.contains("..");
    let is_taken = [".lock", ".json"].iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    if is_plain && !is_odd && !is_taken && !name.is_empty() && name.len() <= MAX_NAME {
        return Ok(());
    }
    refused(format!("`{name}` is no name for a worktree: up to {MAX_NAME} letters, digits, `-`, `_` and `.`"))
}

fn set_up(
    origin: &Origin,
    home: &Path,
    name: &str,
    files: Option<&Files>,
    remarks: &mut Vec<String>,
) -> Outcome<Worktree> {
    let (path, branch) = (home.join(name), branch_of(name));
    let start = match files {
        Some(files) => commit(&origin.git, &files.tree, &[&origin.head], &format!("What {name} began with"))?,
        None => origin.head.clone(),
    };
    // What it began with stays known, also after the branch has moved.
    origin.git.run(&["update-ref", &start_ref(name), &start])?;
    let add = [OsStr::new("worktree"), "add".as_ref(), "--quiet".as_ref(), "-b".as_ref(), branch.as_ref()];
    let added = origin.git.run(&[&add[..], &[path.as_os_str(), origin.head.as_ref()]].concat());
    if let Err(error) = added {
        // It never began.
        let _ = origin.git.run(&["update-ref", "-d", &start_ref(name)]);
        return Err(error.into());
    }
    if start != origin.head {
        let git = Git::at(&path);
        git.run(&["read-tree", "-m", "-u", &origin.head, &start])?;
        git.run(&["reset", "--quiet"])?;
    }
    if origin.top.join(".gitmodules").exists() {
        remarks.push(format!(
            "its submodules are empty; `git submodule update --init` in {} fetches them",
            path.display()
        ));
    }
    let left_out = origin.git.filters_left_out()?;
    if !left_out.is_empty() {
        remarks.push(format!(
            "filters of the repository's own configuration are not run in it ({}): their files are as git keeps them",
            left_out.iter().take(MAX_NAMED).map(|name| sanitize::line(name)).collect::<Vec<_>>().join(", ")
        ));
    }
    let created = seconds();
    Ok(Worktree { v: VERSION, name: name.to_owned(), origin: origin.top.clone(), path, branch, start, created })
}

fn start_ref(name: &str) -> String {
    format!("refs/acp-tui/start/{name}")
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The same for the same directory; two directories of one name are told apart.
fn stem(top: &Path) -> String {
    let hash = top
        .as_os_str()
        .as_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let name = top.file_name().unwrap_or_default().to_string_lossy();
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).take(40).collect();
    format!("{}-{:08x}", plain.trim_start_matches(['.', '-']), hash >> 32)
}

fn write_record(path: &Path, worktree: &Worktree) -> Outcome<()> {
    let text = serde_json::to_vec_pretty(worktree).map_err(|error| io_at(path)(error.into()))?;
    let file = files::open_regular_as(fs::OpenOptions::new().write(true).truncate(true), path);
    let mut file = file.map_err(io_at(path))?;
    file.write_all(&text).map_err(io_at(path))
}

// ---- what there is

/// All that were made, the newest first.
pub fn all(state: &Path) -> Vec<Worktree> {
    let dirs = fs::read_dir(below(state)).into_iter().flatten().flatten();
    let files = dirs.flat_map(|dir| fs::read_dir(dir.path()).into_iter().flatten().flatten());
    let records =
        files.map(|file| brought_back(file.path())).filter(|path| path.extension() == Some(OsStr::new(RECORD)));
    let mut all: Vec<Worktree> = records.filter_map(|path| read_record(&path)).collect();
    all.sort_by(|a, b| (b.created, &b.path).cmp(&(a.created, &a.path)));
    all
}

/// Takes away what merges have left that were killed.
pub fn sweep_all(state: &Path) {
    for worktree in all(state) {
        // The next merge of it tells why it cannot be done.
        let _ = sweep(&worktree);
    }
}

/// What the record of a worktree is called that was discarded: no worktree has a name that begins with a dot.
fn put_away_as(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{RECORD}"));
    path.with_file_name(name)
}

/// A worktree that was discarded and that git has made again in its place is one of ours again. Gives where its record
/// is; of any other file its path.
fn brought_back(file: PathBuf) -> PathBuf {
    let name = file.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_prefix('.'));
    let Some(name) = name.and_then(|name| name.strip_suffix(RECORD)?.strip_suffix('.')) else { return file };
    let (path, record) = (file.with_file_name(name), file.with_file_name(format!("{name}.{RECORD}")));
    // A link over what is there already fails: a new one has its name.
    if !path.join(".git").is_file() || fs::hard_link(&file, &record).is_err() {
        return file;
    }
    let _ = fs::remove_file(&file);
    if let Some(home) = file.parent() {
        // Else its sessions are said to be of one that was discarded.
        let _ = origins::note_made(home, name);
    }
    record
}

/// Nothing when it is none of ours, of a newer version, or names another place than its own.
fn read_record(path: &Path) -> Option<Worktree> {
    let text = files::read_regular(path, MAX_RECORD).ok()?;
    let worktree: Worktree = serde_json::from_slice(&text).ok()?;
    let is_own = worktree.v == VERSION
        && check_name(&worktree.name).is_ok()
        && path.with_extension("") == worktree.path
        && worktree.path.file_name() == Some(OsStr::new(&worktree.name))
        && worktree.branch == branch_of(&worktree.name)
        && worktree.start.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_own.then_some(worktree)
}

/// The one of this name: that of the innermost repository around `here`, else the only one.
pub fn find(state: &Path, name: &str, here: &Path) -> Outcome<Worktree> {
    let mut named: Vec<Worktree> = all(state).into_iter().filter(|one| one.name == name).collect();
    let around = |one: &Worktree| {
        let places = [&one.origin, &one.path].into_iter().filter(|place| here.starts_with(place));
        places.map(|place| place.components().count()).max()
    };
    let nearest = named.iter().enumerate().filter_map(|(at, one)| Some((around(one)?, at))).max();
    if let Some((_, at)) = nearest {
        return Ok(named.swap_remove(at));
    }
    match (named.pop(), named.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => refused(format!("no worktree is called {name}; `acp-tui worktrees` lists them")),
        (Some(_), false) => {
            refused(format!("several repositories have a worktree {name}; call it from the one you mean"))
        }
    }
}

/// What the files of a repository were at a moment, uncommitted ones too, for a look at what has changed since.
pub struct Files {
    git: Git,
    top: PathBuf,
    tree: String,
}

impl Files {
    /// Those of the working tree around a directory.
    pub fn around(dir: &Path) -> Outcome<Self> {
        let Origin { git, top, .. } = Origin::of(dir)?;
        let tree = Snapshot::of(&git)?.tree;
        Ok(Self { git, top, tree })
    }

    /// The paths of all that differs by now. Nobody waits for that any longer than until then.
    pub fn changed(&self, until: Instant) -> Outcome<Vec<PathBuf>> {
        let git = self.git.clone().until(until);
        let tree = Snapshot::of(&git)?.tree;
        let names = git.run(&["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", &self.tree, &tree])?;
        Ok(trees::paths(&names).map(|path| self.top.join(path)).collect())
    }
}

pub fn list(state: &Path) -> Vec<Listed> {
    all(state).into_iter().map(|worktree| Listed { changes: changes(&worktree), worktree }).collect()
}

/// Git in it. What is elsewhere is not taken for what is in it, whatever the repository comes to say.
fn there(worktree: &Worktree) -> Outcome<Git> {
    there_until(worktree, None)
}

fn there_until(worktree: &Worktree, until: Option<Instant>) -> Outcome<Git> {
    let path = &worktree.path;
    if !path.join(".git").is_file() {
        return refused(format!("its directory is gone: {}", path.display()));
    }
    let git = match until {
        Some(until) => Git::at(path).until(until),
        None => Git::at(path),
    };
    let top = top_of(&git)?;
    let real = path.canonicalize().map_err(io_at(path))?;
    if top != real {
        return refused(format!(
            "git has {} for its files, not {}: somebody has changed `core.worktree`, which `git config --worktree \
             --unset core.worktree` there takes back",
            top.display(),
            path.display()
        ));
    }
    Ok(git.with_top(&real))
}

/// The top of the working tree, as git says.
fn top_of(git: &Git) -> Outcome<PathBuf> {
    Ok(git.path(&["rev-parse", "--show-toplevel"])?)
}

#[cfg(test)]
#[path = "worktrees_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "worktrees/planted_tests.rs"]
mod planted_tests;

#[cfg(test)]
#[path = "worktrees/property_tests.rs"]
mod property_tests;
