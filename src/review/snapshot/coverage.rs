//! What of a workspace is not covered, in words.
//!
//! Looks only at names. Invariant: the list is short however much there is.

use super::Snapshot;
use super::mounts::Became;
use super::prior::Ignored;
use super::survey::Lost;
use crate::base::human::{self, thousands};
use crate::review::state::State;
use crate::review::worktree::plain::Links;
use crate::review::worktree::repo;
use crate::review::worktree::rules;
use crate::review::worktree::walk::{self, Kind, Reader, RelPath, Stat};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Names of one kind that are given.
const NAMED: usize = 50;
/// Directories that are looked into for one that may be empty.
const DIRECTORIES: usize = 64;

/// Whether something holds of a path.
type IsIt<'a> = &'a dyn Fn(&[u8]) -> bool;

/// A line about what is not covered.
#[derive(Debug)]
pub struct Uncovered {
    pub words: String,
    /// The file whose content it says not to be kept.
    pub unkept: Option<RelPath>,
}

impl From<String> for Uncovered {
    fn from(words: String) -> Self {
        Self { words, unkept: None }
    }
}

/// A list that ends with how many more there would be.
struct List {
    lines: Vec<Uncovered>,
    more: usize,
}

impl List {
    fn new() -> Self {
        Self { lines: Vec::new(), more: 0 }
    }

    fn add(&mut self, line: impl FnOnce() -> String) {
        self.push(|| line().into());
    }

    /// A file whose content is not kept, and why.
    fn add_unkept(&mut self, key: &RelPath, why: impl FnOnce() -> String) {
        self.push(|| Uncovered { words: format!("{}: {}", walk::show(key), why()), unkept: Some(key.clone()) });
    }

    fn push(&mut self, line: impl FnOnce() -> Uncovered) {
        if self.has_room() {
            self.lines.push(line());
        } else {
            self.more += 1;
        }
    }

    fn has_room(&self) -> bool {
        self.lines.len() < NAMED
    }

    fn end(mut self, what: &str) -> Vec<Uncovered> {
        if self.more > 0 {
            self.lines.push(format!("and {} more {what}", thousands(self.more as u64)).into());
        }
        self.lines
    }
}

/// What is known of names that the snapshot has not got.
#[derive(Clone, Copy)]
enum Unknown {
    /// They are ignored, but for those that have come since.
    Ignored { last: i64 },
    /// A look has failed, or there was more than it takes: perhaps it would have found them.
    Unclear,
}

/// `dirs` are the directories that are covered. `failed`: not every look has come to its end.
pub(crate) fn uncovered(snapshot: &Snapshot, dirs: &BTreeSet<RelPath>, failed: bool) -> Vec<Uncovered> {
    let Snapshot { seen, closed: barred, hidden, ignored, .. } = snapshot;
    let root = snapshot.root();
    let mut out: Vec<Uncovered> = Vec::new();
    out.extend(snapshot.beyond.words(snapshot.limits.files));
    out.extend(mounted(&snapshot.mounts.differing(root)));
    let lists = (List::new(), List::new(), List::new());
    let mut found =
        Found { ignored: lists.0, unruled: lists.1, closed: lists.2, tops: Vec::new(), rules: BTreeMap::new() };
    let is_unclear = failed || snapshot.beyond.had_more();
    let unknown = if is_unclear { Unknown::Unclear } else { Unknown::Ignored { last: snapshot.head.last } };
    let is_known = |key: &[u8]| {
        let is_covered = dirs.contains(key) || seen.contains_key(key) || barred.has(key);
        is_covered || hidden.has_all_of(key) || hidden.was_of_others(key) || hidden.git().are_around(key)
    };
    // What is a link now, or below one, is another directory. Of those that are named anyway it is unknown what is in
    // them.
    let mut reader = Reader::new(root);
    let mut is_other =
        |dir: &RelPath| reader.stat(dir).is_ok_and(|stat| stat.is_none_or(|stat| stat.kind != Kind::Dir));
    for dir in dirs.iter().filter(|dir| barred.around(dir).is_none()) {
        if !dir.is_empty() && is_other(dir) {
            continue;
        }
        if names(root, dir, (&is_known, ignored), unknown, &mut found) {
            found.closed.add(|| format!("{}/: cannot be read", walk::show(dir)));
        }
    }
    let Found { ignored, unruled, mut closed, tops, .. } = found;
    out.extend(repo::odd(root, &tops).into_iter().map(Uncovered::from));
    out.extend(unruled.end("files of rules that are not applied"));
    let mut unkept = List::new();
    for (key, entry) in seen {
        match entry.state {
            State::Unkept { .. } if entry.unreadable => unkept.add_unkept(key, || "cannot be read".to_owned()),
            State::Unkept { size, .. } => {
                unkept.add_unkept(key, || format!("{}, content not kept", human::bytes(size)));
            }
            _ if entry.unreadable => {
                unkept.add(|| format!("{}: cannot be read; what git has of it is taken for it", walk::show(key)));
            }
            _ => {}
        }
    }
    for (key, files) in snapshot.out_of_reach() {
        closed.add(|| format!("{}: {}", directory(&key), closed_words(files)));
    }
    out.extend(closed.end("directories that cannot be read"));
    out.extend(unkept.end("files whose content is not kept"));
    out.extend(ignored.end("ignored"));
    out.extend(hidden.words(&tops).into_iter().map(Uncovered::from));
    out
}

/// Places at which something has been mounted or unmounted since the session began, in words.
fn mounted(places: &[(RelPath, Became)]) -> Vec<Uncovered> {
    let mut list = List::new();
    for (key, became) in places {
        let why = match became {
            Became::Mounted => "something was mounted there since the session began; what it hides is not looked at",
            Became::Unmounted => "what was mounted there when the session began is not any more, and is not looked at",
            Became::Another => "something else is mounted there than when the session began; what was is not looked at",
        };
        list.add(|| format!("{}: {why}", walk::show(key)));
    }
    list.end("places at which something was mounted or unmounted")
}

/// A directory for the person.
pub(crate) fn directory(key: &[u8]) -> String {
    if key.is_empty() { "./".to_owned() } else { format!("{}/", walk::show(key)) }
}

/// What is said of a directory that cannot be looked into, with so many known files below it that cannot be reached.
pub(crate) fn closed_words(files: usize) -> String {
    match files {
        0 => "cannot be read".to_owned(),
        1 => "cannot be read; the known file below it may have changed".to_owned(),
        files => format!("cannot be read; the {} known files below it may have changed", thousands(files as u64)),
    }
}

/// What the directories have that is to be named.
struct Found<'a> {
    ignored: List,
    unruled: List,
    /// Directories that cannot be read.
    closed: List,
    /// Where repositories begin.
    tops: Vec<PathBuf>,
    /// Of the rules of a directory and those above it, as far as they are applied.
    rules: BTreeMap<&'a [u8], rules::Size>,
}

impl<'a> Found<'a> {
    /// Names a file of rules that is not applied.
    fn rules(&mut self, key: &[u8], dir: &'a [u8], root: &Path) {
        let file = root.join(walk::path(key));
        let above = parents(dir).find_map(|above| self.rules.get(above)).copied().unwrap_or_default();
        let why = match rules::size(&file, Links::Refused).map(|own| above.and(own)) {
            Err(odd) => odd.to_string(),
            Ok(all) if !all.fits_together() => "too much with those above it".to_owned(),
            Ok(all) => {
                self.rules.insert(dir, all);
                return;
            }
        };
        self.unruled.add(|| format!("{}: {why}, its rules are not applied", walk::show(key)));
    }
}

/// The directories above one, the nearest first.
fn parents(dir: &[u8]) -> impl Iterator<Item = &[u8]> {
    let up = |dir: &[u8]| dir.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    std::iter::successors(Some(dir), move |dir| (!dir.is_empty()).then(|| &dir[..up(dir)])).skip(1)
}

/// What in a directory is neither covered nor new. Whether it cannot be read.
fn names<'a>(
    root: &Path,
    dir: &'a [u8],
    (is_known, ignored): (IsIt<'_>, &Ignored),
    unknown: Unknown,
    list: &mut Found<'a>,
) -> bool {
    let entries = match std::fs::read_dir(root.join(walk::path(dir))) {
        Ok(entries) => entries,
        Err(e) => return !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    let mut found = BTreeSet::new();
    for entry in entries {
        let Ok(entry) = entry else { return true };
        let name = entry.file_name();
        let name = walk::bytes(Path::new(&name));
        let key = if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() };
        if name == b".git" {
            list.tops.push(root.join(walk::path(dir)));
        } else if name == rules::NAME.as_bytes() {
            list.rules(&key, dir, root);
        }
        if name == b".git" || is_known(&key) {
            continue;
        }
        let Ok(stat) = entry.metadata().map(|meta| Stat::of_meta(&meta)) else { continue };
        if stat.kind == Kind::Dir && entry.path().join(".git").symlink_metadata().is_ok() {
            list.tops.push(entry.path());
        }
        let is_new = match unknown {
            // What was ignored before is so still, however young it is: nobody has come past it since.
            Unknown::Ignored { last } => stat.ctime.0 > last && stat.mtime.0 > last && !ignored.had(&key),
            Unknown::Unclear => false,
        };
        match stat.kind {
            Kind::Other => {}
            _ if is_new => {}
            // What has no files is not covered anyway, and is not ignored.
            Kind::Dir if !ignored.had_files(&key) && is_empty(&entry.path(), &mut { DIRECTORIES }) => {}
            kind => {
                found.insert((key, kind == Kind::Dir));
            }
        }
    }
    for (key, is_dir) in found {
        if is_dir && list.ignored.has_room() && !can_be_listed(&root.join(walk::path(&key))) {
            list.closed.add(|| format!("{}/: cannot be read", walk::show(&key)));
            continue;
        }
        let why = match unknown {
            Unknown::Ignored { .. } => "ignored",
            Unknown::Unclear => "ignored, or not looked at",
        };
        list.ignored.add(|| format!("{}{} ({why})", walk::show(&key), if is_dir { "/" } else { "" }));
    }
    false
}

/// Whether a directory has nothing in it that is looked at but for a `.git`, as far as `left` more directories may be looked into.
fn is_empty(dir: &Path, left: &mut usize) -> bool {
    let Some(less) = left.checked_sub(1) else { return false };
    *left = less;
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    entries.filter(|entry| !entry.as_ref().is_ok_and(|entry| entry.file_name() == ".git")).all(|entry| {
        let entry = entry.and_then(|entry| Ok((entry.file_type()?, entry.path())));
        // What is neither a directory nor this is a FIFO, a socket or a device.
        let is_looked_at = |kind: FileType| kind.is_file() || kind.is_symlink();
        entry.is_ok_and(|(kind, path)| if kind.is_dir() { is_empty(&path, left) } else { !is_looked_at(kind) })
    })
}

/// Whether a directory gives its first name, or has none.
fn can_be_listed(dir: &Path) -> bool {
    let first = std::fs::read_dir(dir).and_then(|mut names| names.next().transpose());
    first.map_or_else(|e| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory), |_| true)
}

/// What was ignored when the session began and is gone, or has been replaced by what is no file, in words.
pub(crate) fn gone(keys: &[&RelPath], replaced: &[&RelPath]) -> Vec<Uncovered> {
    let mut list = List::new();
    for key in keys {
        list.add_unkept(key, || "was ignored and is gone, which cannot be taken back".to_owned());
    }
    for key in replaced {
        list.add_unkept(key, || "was ignored and is no file any more, which cannot be taken back".to_owned());
    }
    list.end("that were ignored and are gone")
}

/// Directories that nobody could look into when the session began, in words.
pub(crate) fn closed_at_first(keys: &BTreeSet<RelPath>, root: &Path) -> Vec<Uncovered> {
    let (mut list, mut reader) = (List::new(), Reader::new(root));
    for key in keys {
        // The root has no name.
        let at = if key.is_empty() { b"." } else { &**key };
        let is_there = reader.stat(at).is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == Kind::Dir));
        let why = if is_there { "what was in it then is not known" } else { "it is gone, which cannot be taken back" };
        list.push(|| Uncovered {
            words: format!("{}: could not be read when the session began; {why}", directory(key)),
            unkept: Some(key.clone()),
        });
    }
    list.end("directories that could not be read when the session began")
}

/// What is gone of directories that were ignored when the session began and are still there, in words.
pub(crate) fn lost(dirs: &BTreeMap<&RelPath, Lost>) -> Vec<Uncovered> {
    let mut list = List::new();
    for (dir, lost) in dirs {
        list.add(|| {
            let mut names: Vec<String> = lost.first.iter().map(|name| walk::show(name)).collect();
            let more = lost.count - names.len();
            if more > 0 {
                let least = if lost.more { "at least " } else { "" };
                names.push(format!("{least}{} more", thousands(more as u64)));
            }
            let is_one = names.len() == 1;
            let last = names.pop().unwrap_or_default();
            let names = if is_one { last } else { format!("{} and {last}", names.join(", ")) };
            let (was, is) = if is_one { ("was", "is") } else { ("were", "are") };
            format!("{}/: {names} {was} ignored and {is} gone, which cannot be taken back", walk::show(dir))
        });
    }
    list.end("ignored directories of which something is gone")
}
