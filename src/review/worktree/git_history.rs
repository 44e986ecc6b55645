//! Where the histories of the person's repositories are, and which other files may have become one.
//!
//! What holds a history is noted at the first look: directories, packs, objects by themselves, refs. Later it is told
//! whether all of it still is where it was. Reads names and numbers, and a little of refs and logs. Invariant: what could
//! not be noted counts as gone.

use super::git_dirs::{has_form, is_gits, is_loose, is_object, is_pack};
use super::plain::{self, Links};
use super::walk::{self, RelPath, Stat};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Names that are noted of all repositories.
const ENTRIES: usize = 30_000;
/// Names of one directory that are looked at for an object.
const NAMES: usize = 10_000;
/// The list of other stores of objects.
const ALTERNATES: u64 = 8 << 10;
/// A mark of what cannot be told later.
const UNKNOWN: &str = "unknown";
/// What has two of these looks like a directory of git's.
const PARTS: [&str; 5] = ["HEAD", "objects", "refs", "packed-refs", "logs"];

/// What git has, each with its mark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histories {
    pub parts: Vec<(PathBuf, String)>,
}

/// What a path is known by: a directory and an object by their numbers, anything else by being there.
fn mark(path: &Path, kind: &str) -> Option<String> {
    let meta = path.symlink_metadata().ok()?;
    let ((device, number), _) = walk::names_of(&meta);
    match kind {
        "dir" => meta.is_dir().then(|| format!("dir {device} {number}")),
        "object" => {
            let Stat { size, mtime: (secs, nanos), .. } = Stat::of_meta(&meta);
            Some(format!("object {device} {number} {size} {secs} {nanos}"))
        }
        "there" => (meta.len() > 0).then(|| "there".to_owned()),
        _ => None,
    }
}

impl Histories {
    /// What there is in a directory of git's, and in the `.git` that leads to it. `root` is that of the session.
    pub(crate) fn note(&mut self, git: &Path, root: &Path) {
        let objects = git.join("objects");
        self.mark(git, "dir");
        for name in ["HEAD", "packed-refs", "commondir", "reftable/tables.list", "logs/HEAD"] {
            self.mark_if_there(&git.join(name), "there");
        }
        if objects.symlink_metadata().is_ok() {
            self.mark(&objects, "dir");
        }
        let others = plain::read(&objects.join("info/alternates"), Links::Followed, ALTERNATES);
        let others = others.ok().flatten().unwrap_or_default();
        let leads_in = |line: &[u8]| {
            let to = objects.join(walk::path(line)).canonicalize().ok();
            let below = to.as_ref().and_then(|to| to.strip_prefix(root).ok());
            below.is_some_and(|below| !below.components().any(|part| part.as_os_str() == ".git"))
        };
        if others.split(|byte| *byte == b'\n').any(|line| !line.is_empty() && leads_in(line)) {
            self.parts.push((objects.join("info/alternates"), UNKNOWN.to_owned()));
        }
        for dir in names(&objects) {
            let path = objects.join(walk::path(&dir));
            if dir == b"pack" || dir.len() == 2 {
                let is_kept = |name: &Vec<u8>| is_loose(&dir, name) || is_pack(name) && name.ends_with(b".pack");
                for name in names(&path).filter(is_kept) {
                    self.mark_if_there(&path.join(walk::path(&name)), "object");
                }
            }
        }
        let mut open = vec![git.join("refs")];
        while let Some(dir) = open.pop() {
            for name in names(&dir) {
                let path = dir.join(walk::path(&name));
                match path.symlink_metadata() {
                    Ok(meta) if meta.is_dir() && self.parts.len() < ENTRIES => open.push(path),
                    _ => self.mark_if_there(&path, "there"),
                }
            }
        }
    }

    /// Notes a path that has to be there.
    pub(crate) fn mark(&mut self, path: &Path, kind: &str) {
        let mark = mark(path, kind).unwrap_or_else(|| UNKNOWN.to_owned());
        self.parts.push((path.to_owned(), mark));
    }

    fn mark_if_there(&mut self, path: &Path, kind: &str) {
        match self.parts.len() {
            len if len < ENTRIES => self.parts.extend(mark(path, kind).map(|mark| (path.to_owned(), mark))),
            ENTRIES => self.parts.push((path.to_owned(), UNKNOWN.to_owned())),
            _ => {}
        }
    }

    /// Whether all of it is where it was, as it was.
    pub(crate) fn are_whole(&self) -> bool {
        let is_same = |(path, was): &(PathBuf, String)| {
            let kind = was.split(' ').next().unwrap_or_default();
            mark(path, kind).as_ref() == Some(was)
        };
        self.parts.iter().all(is_same)
    }
}

/// The names in a directory.
fn names(dir: &Path) -> impl Iterator<Item = Vec<u8>> {
    let entries = dir.read_dir().into_iter().flatten().take(ENTRIES);
    entries.flatten().map(|entry| walk::bytes(Path::new(&entry.file_name())).to_vec())
}

// ---- what may have become one

/// Whether a path bears the name of an object or a pack, wherever it is.
pub(crate) fn is_object_by_name(key: &[u8]) -> bool {
    let mut names = key.rsplit(|byte| *byte == b'/');
    let (name, dir) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    is_pack(name) || is_loose(dir, name)
}

/// Those of these paths in a tree that may hold a history, or be what it is found by.
pub(crate) fn may_be_history<'a>(root: &Path, keys: impl Iterator<Item = &'a [u8]>) -> BTreeSet<RelPath> {
    let (mut git, mut objects) = (HashMap::new(), HashMap::new());
    let mut is_one = |key: &[u8]| {
        is_object_by_name(key)
            || walk::parents(key).any(|dir| {
                let below = key.get(if dir.is_empty() { 0 } else { dir.len() + 1 }..).unwrap_or_default();
                let parts: Vec<&[u8]> = below.split(|byte| *byte == b'/').collect();
                let path = root.join(walk::path(dir));
                is_object(&parts) && *objects.entry(RelPath::from(dir)).or_insert_with(|| has_objects(&path))
                    || is_gits(below)
                        && *git.entry(RelPath::from(dir)).or_insert_with(|| is_like_git(&path))
                        && has_form(&root.join(walk::path(key)), below)
            })
    };
    keys.filter(|key| is_one(key)).map(RelPath::from).collect()
}

fn is_like_git(dir: &Path) -> bool {
    let parts = PARTS.iter().filter(|name| dir.join(name).symlink_metadata().is_ok()).count();
    parts > 1 || has_objects(&dir.join("objects"))
}

/// Whether there are packs in a directory, or objects by themselves.
fn has_objects(dir: &Path) -> bool {
    names(&dir.join("pack")).take(NAMES).any(|name| is_pack(&name))
        || names(dir)
            .take(NAMES)
            .filter(|name| name.len() == 2)
            .any(|fan| names(&dir.join(walk::path(&fan))).take(NAMES).any(|name| is_loose(&fan, &name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Of a path in a directory of git's.
    type Harm = fn(&Path, &Path);

    const OID: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn what_git_has_is_whole_until_a_part_of_it_is_gone_replaced_or_emptied() {
        let pack = format!("objects/pack/pack-{OID}.pack");
        let loose = format!("objects/aa/{}", &OID[2..]);
        let harms: [(&str, Harm); 6] =
            [
                ("removed", |_, path| drop(fs::remove_file(path).or_else(|_| fs::remove_dir_all(path)))),
                ("moved", |git, path| fs::rename(path, git.join("moved")).unwrap()),
                ("there again as another one", |git, path| {
                    if path.is_file() && !path.starts_with(git.join("objects")) {
                        return fs::remove_file(path).unwrap();
                    }
                    fs::rename(path, git.join("moved")).unwrap();
                    if git.join("moved").is_dir() {
                        fs::create_dir(path)
                    } else {
                        fs::copy(git.join("moved"), path).map(drop)
                    }
                    .unwrap();
                }),
                ("a link", |git, path| {
                    fs::rename(path, git.join("moved")).unwrap();
                    if path.starts_with(git.join("objects")) {
                        std::os::unix::fs::symlink(git.join("moved"), path).unwrap();
                    }
                }),
                ("emptied", |_, path| {
                    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::write(path, "").unwrap() }
                }),
                ("all of it", |git, _| fs::remove_dir_all(git).unwrap()),
            ];
        for part in ["objects", "HEAD", "packed-refs", "refs/heads/main", &pack, &loose] {
            for (what, harm) in harms {
                let dir = tempfile::tempdir().unwrap();
                let git = dir.path().join(".git");
                for name in ["HEAD", "packed-refs", "refs/heads/main", &pack, &loose, "index"] {
                    fs::create_dir_all(git.join(name).parent().unwrap()).unwrap();
                    fs::write(git.join(name), "text").unwrap();
                }
                let mut histories = Histories::default();
                histories.note(&git, dir.path());
                // What git does all the time.
                fs::write(git.join("index"), "other").unwrap();
                fs::write(git.join("refs/heads/main"), "other").unwrap();
                fs::create_dir(git.join("objects/bb")).unwrap();
                fs::hard_link(git.join(&pack), dir.path().join("link")).unwrap();
                assert!(histories.are_whole());
                harm(&git, &git.join(part));
                assert!(!histories.are_whole(), "{part}: {what}");
            }
        }
    }

    #[test]
    fn what_looks_like_a_history_is_known_wherever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (pack, loose) = (format!("pack-{OID}.pack"), format!("ab/{}", &OID[2..]));
        let own = [
            format!("deep/{pack}"),
            format!("objs/{loose}"),
            "objs/info/packs".to_owned(),
            format!("x/objects/pack/{pack}"),
            "x/config".to_owned(),
            "y/HEAD".to_owned(),
            "y/packed-refs".to_owned(),
            "y/refs/heads/main".to_owned(),
            "y/worktrees/w/HEAD".to_owned(),
        ];
        let others = ["src/HEAD", "src/config", "y/refs/evil/evil.sh", "y/main.rs", "x/objects/evil.sh", "deep/config"];
        for name in own.iter().map(String::as_str).chain(others) {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if name.starts_with("y/refs/heads") { OID } else { "text" }).unwrap();
        }
        let names = own.iter().map(String::as_str).chain(others);
        let found = may_be_history(dir.path(), names.map(str::as_bytes));
        let mut expected: Vec<&[u8]> = own.iter().map(|name| name.as_bytes()).collect();
        expected.sort_unstable();
        assert_eq!(found.iter().map(|key| &**key).collect::<Vec<_>>(), expected);
    }
}
