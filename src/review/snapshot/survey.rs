//! What the directories that git's rules hide had in them at the first look, or when a turn began, by name.
//!
//! Reads names and times, no content. Invariants: it is bounded in size and time however much there is; what is called
//! gone was there, and is not; nothing is called gone twice; no name is said not to have been there where it may have been
//! beyond the bounds.

use super::capture::racy;
use crate::review::worktree::walk::{self, Kind, Reader, RelPath, Stat, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

/// Names that are remembered of one directory.
pub(crate) const NAMES_IN_ONE: usize = 1_000;
/// Names that are remembered of all, those near the root first.
const NAMES: usize = 10_000;
/// Directories that are listed.
const DIRECTORIES: usize = 1_000;
/// Names that are given of what is gone.
pub(crate) const SAID: usize = 3;

/// The names of what was ignored.
#[derive(Default)]
pub(crate) struct Survey {
    dirs: BTreeMap<RelPath, Listed>,
}

struct Listed {
    /// When the directory was changed last; nothing when it may have changed since without a trace in its time.
    changed: Option<Time>,
    /// There are more names than these.
    more: bool,
    /// Nobody could look into it.
    is_closed: bool,
    /// Sorted; those of directories end with a slash.
    names: Vec<RelPath>,
    /// The number that the system gives it; not of one that was read from a file.
    ino: Option<u64>,
}

/// What is gone of one directory.
#[derive(Default)]
pub(crate) struct Lost {
    /// The first names below it.
    pub first: Vec<RelPath>,
    pub count: usize,
    /// There may be more.
    pub more: bool,
}

impl Survey {
    /// Lists what is below those of `tops` that are directories, but for directories without files; `is_ours` is left out.
    pub(crate) fn new<'a>(
        root: &Path,
        tops: impl Iterator<Item = &'a RelPath>,
        began: Time,
        is_ours: &dyn Fn(&[u8]) -> bool,
    ) -> Self {
        let mut survey = Self::of_all(root, tops, began, is_ours);
        survey.forget_empty();
        survey
    }

    /// The same with directories that have no files.
    pub(crate) fn of_all<'a>(
        root: &Path,
        tops: impl Iterator<Item = &'a RelPath>,
        began: Time,
        is_ours: &dyn Fn(&[u8]) -> bool,
    ) -> Self {
        let mut dirs = BTreeMap::new();
        let (mut names, mut reader) = (NAMES, Reader::new(root));
        let mut queue: VecDeque<RelPath> = tops.cloned().collect();
        let mut tops = queue.len();
        while let Some(key) = queue.pop_front() {
            let is_top = tops > 0;
            tops = tops.saturating_sub(1);
            let is_full = names == 0 || dirs.len() >= DIRECTORIES;
            if is_full && !is_top {
                break;
            }
            let Some(stat) = dir(&mut reader, &key) else { continue };
            let changed = Some(stat.ctime).filter(|_| !racy(&stat, began));
            let mut listed =
                Listed { changed, more: is_full, is_closed: false, names: Vec::new(), ino: Some(stat.ino) };
            if is_full {
                // Of an uppermost one it is known at least that it was there.
                dirs.insert(key, listed);
                continue;
            }
            let Ok(entries) = fs::read_dir(root.join(walk::path(&key))) else {
                dirs.insert(key, Listed { changed: Some(stat.ctime), is_closed: true, ..listed });
                continue;
            };
            for entry in entries {
                let Some(entry) = entry.ok().filter(|_| listed.names.len() < NAMES_IN_ONE.min(names)) else {
                    listed.more = true;
                    break;
                };
                let name = entry.file_name();
                let name = walk::bytes(Path::new(&name));
                let below = [&key, &b"/"[..], name].concat();
                if is_ours(&below) {
                    continue;
                }
                let kind = entry.file_type();
                let is_dir = kind.as_ref().is_ok_and(fs::FileType::is_dir);
                // FIFOs, sockets and devices have nothing that could be lost.
                if kind.is_ok_and(|kind| !is_dir && !kind.is_file() && !kind.is_symlink()) {
                    continue;
                }
                // A repository of git's is not looked into by itself.
                if is_dir && name != b".git" {
                    queue.push_back(below.into());
                }
                listed.names.push([name, if is_dir { b"/" } else { b"" }].concat().into());
            }
            names -= listed.names.len();
            listed.names.sort_unstable();
            dirs.insert(key, listed);
        }
        Self { dirs }
    }

    /// A directory without files needs no undo.
    fn forget_empty(&mut self) {
        let keys: Vec<RelPath> = self.dirs.keys().rev().cloned().collect();
        for key in keys {
            if self.dirs.get(&key).is_none_or(|listed| listed.more || listed.is_closed || !listed.names.is_empty()) {
                continue;
            }
            self.dirs.remove(&key);
            let Some(at) = key.iter().rposition(|byte| *byte == b'/') else { continue };
            if let Some(above) = self.dirs.get_mut(&key[..at]) {
                above.names.retain(|name| name.strip_suffix(b"/") != Some(&key[at + 1..]));
            }
        }
    }

    /// The files of which it has the names, those near the root first.
    pub(crate) fn files(&self) -> impl Iterator<Item = RelPath> {
        let depth = |key: &RelPath| key.split(|byte| *byte == b'/').count();
        let mut dirs: Vec<(&RelPath, &Listed)> = self.dirs.iter().collect();
        dirs.sort_by_key(|(key, _)| depth(key));
        let below = |(key, listed): (&RelPath, &Listed)| {
            let files = listed.names.iter().filter(|name| !name.ends_with(b"/"));
            files.map(|name| RelPath::from([key, &b"/"[..], name].concat())).collect::<Vec<_>>()
        };
        dirs.into_iter().flat_map(below)
    }

    /// Whether there was something of that name below `top`, one of the uppermost names; nothing where nobody knows.
    pub(crate) fn had(&self, top: &[u8], key: &[u8]) -> Option<bool> {
        let mut dir = top;
        loop {
            let Some(listed) = self.dirs.get(dir) else {
                // Of the uppermost ones only those are left out that had no files.
                return (dir.len() == top.len()).then_some(false);
            };
            let rest = walk::below(key, dir);
            let end = rest.iter().position(|byte| *byte == b'/');
            let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let had = |name: &[u8]| listed.names.binary_search_by(|one| (**one).cmp(name)).is_ok();
            let had_dir = had(&[name, b"/"].concat());
            match end {
                None if had_dir || had(name) => return Some(true),
                Some(_) if had_dir => dir = key.get(..dir.len() + 1 + name.len())?,
                // A link may have led to what was below that name.
                Some(_) if had(name) => return None,
                _ => return (!listed.more && !listed.is_closed).then_some(false),
            }
        }
    }

    /// Whether that directory, which is there now, is the one that was listed under that name.
    pub(crate) fn is_same_dir(&self, key: &[u8], ino: u64) -> bool {
        self.dirs.get(key).is_some_and(|listed| listed.ino == Some(ino))
    }

    /// Whether there were files below that directory.
    pub(crate) fn had_files(&self, key: &[u8]) -> bool {
        self.dirs.contains_key(key)
    }

    /// The directories into which nobody could look, and which are others now or were touched. Of one that is gone it is
    /// known that it was there.
    pub(crate) fn touched(&self, root: &Path) -> BTreeSet<RelPath> {
        let mut reader = Reader::new(root);
        let mut is_other = |key: &RelPath, listed: &Listed| {
            let now = reader.stat(key).ok().flatten();
            now.is_some_and(|now| now.kind != Kind::Dir || Some(now.ctime) != listed.changed)
        };
        let closed = self.dirs.iter().filter(|(_, listed)| listed.is_closed);
        closed.filter(|(key, listed)| is_other(key, listed)).map(|(key, _)| key.clone()).collect()
    }

    /// The directories into which nobody could look, and into which somebody may have come since; and those that are gone.
    pub(crate) fn opened(&self, root: &Path) -> BTreeSet<RelPath> {
        let mut reader = Reader::new(root);
        let mut is_opened = |key: &RelPath, listed: &Listed| {
            let Ok(now) = reader.stat(key) else { return false };
            let path = root.join(walk::path(key));
            // Only its owner, or root, opens one.
            let can_be = || fs::read_dir(&path).is_ok() || walk::is_ours(&path);
            now.is_none_or(|now| now.kind != Kind::Dir || Some(now.ctime) != listed.changed && can_be())
        };
        let closed = self.dirs.iter().filter(|(_, listed)| listed.is_closed);
        closed.filter(|(key, listed)| is_opened(key, listed)).map(|(key, _)| key.clone()).collect()
    }

    /// The directories in which there was a `.git`.
    pub(crate) fn repositories(&self) -> impl Iterator<Item = &RelPath> {
        let is_git = |name: &RelPath| [&b".git"[..], b".git/"].contains(&&**name);
        self.dirs.iter().filter(move |(_, listed)| listed.names.iter().any(is_git)).map(|(dir, _)| dir)
    }

    /// What is gone of directories that are still there, by the uppermost of them; but for what `is_kept`.
    pub(crate) fn lost(&self, root: &Path, is_kept: &dyn Fn(&[u8]) -> bool) -> BTreeMap<&RelPath, Lost> {
        let mut reader = Reader::new(root);
        let mut all: BTreeMap<&RelPath, Lost> = BTreeMap::new();
        for (key, listed) in &self.dirs {
            // A directory that is gone itself is one of the names of the one above it.
            let Ok(Some(now)) = reader.stat(key) else { continue };
            if now.kind == Kind::Dir && listed.changed == Some(now.ctime) {
                continue;
            }
            let top = walk::parents(key).find_map(|dir| self.dirs.get_key_value(dir)).map_or(key, |(top, _)| top);
            // Nor is one that has been replaced by something else.
            if now.kind != Kind::Dir && top != key {
                continue;
            }
            for name in &listed.names {
                let below = [key, &b"/"[..], name].concat();
                let below = below.strip_suffix(b"/").unwrap_or(&below);
                let is_lost = match reader.stat(below) {
                    Ok(None) => true,
                    Ok(Some(now)) if name.ends_with(b"/") => now.kind != Kind::Dir,
                    Ok(Some(now)) => !matches!(now.kind, Kind::File | Kind::Link),
                    Err(_) => false,
                };
                if is_lost && !is_kept(below) {
                    let lost = all.entry(top).or_default();
                    lost.count += 1;
                    lost.more |= listed.more;
                    if lost.first.len() < SAID {
                        lost.first.push([below.get(top.len() + 1..).unwrap_or_default(), end(name)].concat().into());
                    }
                }
            }
        }
        all
    }

    /// Files and links that are not there any more, of those that are `wanted`.
    pub(crate) fn gone(&self, reader: &mut Reader, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<RelPath> {
        let mut gone = Vec::new();
        for (key, listed) in &self.dirs {
            let now = reader.stat(key).ok().flatten();
            if now.is_some_and(|now| now.kind == Kind::Dir && listed.changed == Some(now.ctime)) {
                continue;
            }
            let files = listed.names.iter().filter(|name| !name.ends_with(b"/"));
            let paths = files.map(|name| RelPath::from([key, &b"/"[..], name].concat()));
            let wanted = paths.filter(|path| wanted(path));
            gone.extend(wanted.filter(|path| matches!(reader.stat(path), Ok(None))));
        }
        gone
    }

    #[cfg(test)]
    pub(crate) fn names(&self) -> usize {
        self.dirs.values().map(|listed| listed.names.len()).sum()
    }

    /// For a file: of each directory its name, when it was changed, whether there are more and whether it is closed, and its
    /// names, with a zero byte behind each and one more at the end.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (key, listed) in &self.dirs {
            let (secs, nanos) = listed.changed.unwrap_or_default();
            let head = format!("{secs} {nanos} {} {}", u8::from(listed.more), u8::from(listed.is_closed));
            for part in
                [key, head.as_bytes()].into_iter().chain(listed.names.iter().map(|name| &**name)).chain([&b""[..]])
            {
                out.extend_from_slice(part);
                out.push(0);
            }
        }
        out
    }

    /// Reads what it wrote; what is not whole is left out.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let mut dirs = BTreeMap::new();
        let mut parts = bytes.split(|byte| *byte == 0);
        while let Some(key) = parts.next().filter(|key| !key.is_empty()) {
            let head = parts.next().and_then(|head| std::str::from_utf8(head).ok()).unwrap_or_default();
            let mut numbers = head.split(' ');
            let (secs, nanos) = (numbers.next().map(str::parse), numbers.next().map(str::parse));
            let (more, is_closed) = (numbers.next() == Some("1"), numbers.next() == Some("1"));
            let changed = match (secs, nanos) {
                (Some(Ok(secs)), Some(Ok(nanos))) if (secs, nanos) != Time::default() => Some((secs, nanos)),
                _ => None,
            };
            let mut names: Vec<RelPath> =
                parts.by_ref().take_while(|name| !name.is_empty()).map(RelPath::from).collect();
            names.sort_unstable();
            dirs.insert(key.into(), Listed { changed, more, is_closed, names, ino: None });
        }
        Self { dirs }
    }
}

fn end(name: &[u8]) -> &[u8] {
    if name.ends_with(b"/") { b"/" } else { b"" }
}

/// What the system says of a directory; nothing for all else.
fn dir(reader: &mut Reader, key: &[u8]) -> Option<Stat> {
    reader.stat(key).ok().flatten().filter(|stat| stat.kind == Kind::Dir)
}
