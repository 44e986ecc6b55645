//! Whether what the person's repositories held when they were seen first is still there.
//!
//! What holds a history is noted: directories, packs, objects by themselves, refs. Later it is told what of it is not
//! there any more. Reads names and numbers, a bounded part of packs, and the list of packed refs. Invariant: what could
//! not be noted is never called whole.

use super::git_form::{is_deflated, is_loose, is_pack};
use super::plain::{self, Links};
use super::walk;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Things that are noted of all repositories.
const ENTRIES: usize = 30_000;
/// The list of other stores of objects.
const ALTERNATES: u64 = 8 << 10;
/// A longer list of packed refs is not read.
const PACKED_REFS: u64 = 16 << 20;
/// Pieces of a pack that are looked at, and how long each is. The last one has the pack's own sum.
const PIECES: u64 = 16;
const PIECE: u64 = 4 << 10;
/// What is lost that is named.
const NAMED: usize = 5;

/// What a path is known by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mark {
    /// A directory: its number.
    Dir(u64),
    /// Something is in it.
    Filled,
    /// Its size, and a sum over pieces of it.
    File(u64, String),
    /// An object by itself: its size.
    Object(u64),
    /// A ref, by itself or packed: where its name begins in the path.
    Ref(usize),
    /// That could not be told.
    Unknown,
}

/// What git has, each with its mark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histories {
    pub parts: Vec<(PathBuf, Mark)>,
    /// Where the repositories begin that are in it.
    pub tops: BTreeSet<PathBuf>,
    noted: BTreeSet<PathBuf>,
    is_full: bool,
}

/// What is not there as it was.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// The first of it.
    pub first: Vec<PathBuf>,
    pub count: usize,
    /// Of something it cannot be told.
    pub is_unclear: bool,
}

impl Losses {
    pub(crate) const fn are_none(&self) -> bool {
        self.count == 0 && !self.is_unclear
    }
}

impl Histories {
    /// What there is in a directory of git's and in those of its modules. `root` is that of the session.
    pub(crate) fn note(&mut self, git: &Path, root: &Path) {
        if !self.noted.insert(git.to_owned()) {
            return;
        }
        let objects = git.join("objects");
        self.mark(git, dir(git));
        for name in ["HEAD", "commondir", "reftable/tables.list", "logs/HEAD"] {
            self.mark_if_there(&git.join(name), filled);
        }
        if objects.symlink_metadata().is_ok() {
            self.mark(&objects, dir(&objects));
        }
        let others = plain::read(&objects.join("info/alternates"), Links::Followed, ALTERNATES);
        let others = others.ok().flatten().unwrap_or_default();
        let leads_in = |line: &[u8]| {
            let to = objects.join(walk::path(line)).canonicalize().ok();
            let below = to.as_ref().and_then(|to| to.strip_prefix(root).ok());
            below.is_some_and(|below| !below.components().any(|part| part.as_os_str() == ".git"))
        };
        if others.split(|byte| *byte == b'\n').any(|line| !line.is_empty() && leads_in(line)) {
            self.mark(&objects.join("info/alternates"), None);
        }
        for fan in names(&objects) {
            let path = objects.join(walk::path(&fan));
            if fan == b"pack" || fan.len() == 2 {
                for name in names(&path) {
                    let at = path.join(walk::path(&name));
                    if is_loose(&fan, &name) {
                        self.mark_if_there(&at, |path| Some(Mark::Object(path.symlink_metadata().ok()?.len())));
                    } else if is_pack(&name) && name.ends_with(b".pack") {
                        self.mark_if_there(&at, file);
                    }
                }
            }
        }
        self.note_refs(git);
        self.note_modules(&git.join("modules"), root);
    }

    fn note_refs(&mut self, git: &Path) {
        let name_at = walk::bytes(git).len() + 1;
        let mut open = vec![git.join("refs")];
        while let Some(dir) = open.pop() {
            for path in names(&dir).map(|name| dir.join(walk::path(&name))) {
                match path.symlink_metadata() {
                    Ok(meta) if meta.is_dir() && !self.is_full => open.push(path),
                    Ok(meta) if meta.len() > 0 => self.mark_if_there(&path, |_| Some(Mark::Ref(name_at))),
                    _ => {}
                }
            }
        }
        match packed(git) {
            Some(names) => {
                for name in names {
                    self.mark_if_there(&git.join(walk::path(&name)), |_| Some(Mark::Ref(name_at)));
                }
            }
            None => self.mark(&git.join("packed-refs"), None),
        }
    }

    /// The name of a module may have slashes.
    fn note_modules(&mut self, dir: &Path, root: &Path) {
        let mut open = vec![dir.to_owned()];
        while let Some(dir) = open.pop().filter(|_| !self.is_full) {
            for path in names(&dir).map(|name| dir.join(walk::path(&name))) {
                match path.symlink_metadata() {
                    Ok(meta) if !meta.is_dir() => {}
                    Ok(_) if path.join("HEAD").symlink_metadata().is_ok() => self.note(&path, root),
                    _ => open.push(path),
                }
            }
        }
    }

    /// Notes a `.git` that is a file or a link and leads elsewhere.
    pub(crate) fn note_pointer(&mut self, pointer: &Path) {
        self.mark(pointer, file(pointer));
    }

    /// Notes a path that has to be there.
    fn mark(&mut self, path: &Path, mark: Option<Mark>) {
        self.parts.push((path.to_owned(), mark.unwrap_or(Mark::Unknown)));
    }

    fn mark_if_there(&mut self, path: &Path, mark: impl Fn(&Path) -> Option<Mark>) {
        if self.parts.len() < ENTRIES {
            self.parts.extend(mark(path).map(|mark| (path.to_owned(), mark)));
        } else if !self.is_full {
            self.is_full = true;
            self.mark(path, None);
        }
    }

    /// What is not there as it was.
    pub(crate) fn losses(&self) -> Losses {
        let (mut losses, mut packs) = (Losses::default(), HashMap::new());
        for (path, mark) in &self.parts {
            if *mark == Mark::Unknown {
                losses.is_unclear = true;
            } else if !is_whole(path, mark, &mut packs) {
                losses.count += 1;
                // What is lost with a directory goes without saying.
                let is_above = |above: &PathBuf| path.starts_with(above);
                if losses.first.iter().any(is_above) {
                    losses.count -= 1;
                } else if losses.first.len() < NAMED {
                    losses.first.push(path.clone());
                }
            }
        }
        losses
    }
}

/// The refs that are packed in each directory of git's.
type Packs = HashMap<PathBuf, Option<BTreeSet<Vec<u8>>>>;

fn is_whole(path: &Path, mark: &Mark, packs: &mut Packs) -> bool {
    match mark {
        Mark::Dir(..) => dir(path).as_ref() == Some(mark),
        Mark::Filled => filled(path).is_some(),
        Mark::File(size, _) => {
            path.symlink_metadata().is_ok_and(|meta| meta.len() == *size) && file(path).as_ref() == Some(mark)
        }
        Mark::Object(size) => path.symlink_metadata().is_ok_and(|meta| meta.len() == *size) && is_deflated(path),
        Mark::Ref(name_at) => {
            let bytes = walk::bytes(path);
            let (Some(git), Some(name)) = (bytes.get(..name_at - 1), bytes.get(*name_at..)) else { return false };
            let git = walk::path(git);
            path.symlink_metadata().is_ok_and(|meta| meta.len() > 0)
                || packs
                    .entry(git.to_owned())
                    .or_insert_with(|| packed(git).map(BTreeSet::from_iter))
                    .as_ref()
                    .is_some_and(|names| names.contains(name))
        }
        Mark::Unknown => false,
    }
}

fn dir(path: &Path) -> Option<Mark> {
    let meta = path.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
    let ((_, number), _) = walk::names_of(&meta);
    Some(Mark::Dir(number))
}

fn filled(path: &Path) -> Option<Mark> {
    path.symlink_metadata().is_ok_and(|meta| meta.len() > 0).then_some(Mark::Filled)
}

/// What a file is known by that git never changes. Of a link that is where it leads.
fn file(path: &Path) -> Option<Mark> {
    let mut sum = Sha256::new();
    if let Ok(to) = path.read_link() {
        sum.update(walk::bytes(&to));
        return Some(Mark::File(walk::bytes(&to).len() as u64, short(sum)));
    }
    let mut file = walk::open_plain(path)?;
    let size = file.metadata().ok()?.len();
    for piece in 0..PIECES {
        // The last one ends with the file.
        let at = size.saturating_sub(PIECE) / (PIECES - 1) * piece;
        let at = if piece + 1 == PIECES { size.saturating_sub(PIECE) } else { at };
        file.seek(SeekFrom::Start(at)).ok()?;
        let mut bytes = Vec::new();
        file.by_ref().take(PIECE).read_to_end(&mut bytes).ok()?;
        sum.update(&bytes);
        if size <= PIECE {
            break;
        }
    }
    Some(Mark::File(size, short(sum)))
}

fn short(sum: Sha256) -> String {
    let short = sum.finalize().iter().take(16).fold(0_u128, |short, byte| (short << 8) | u128::from(*byte));
    format!("{short:032x}")
}

/// The names of the refs that are packed; nothing when they cannot be read.
fn packed(git: &Path) -> Option<Vec<Vec<u8>>> {
    let text = plain::read(&git.join("packed-refs"), Links::Followed, PACKED_REFS).ok()?.unwrap_or_default();
    let name = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b' ').filter(|at| matches!(at, 40 | 64))?;
        line.get(at + 1..).filter(|name| name.starts_with(b"refs/")).map(<[u8]>::to_vec)
    };
    Some(text.split(|byte| *byte == b'\n').filter_map(name).collect())
}

/// Whether a ref of a directory of git's is packed, which `below` is the name of.
pub(crate) fn is_packed(git: &Path, below: &[u8]) -> bool {
    packed(git).is_none_or(|names| names.iter().any(|name| name == below))
}

/// The names in a directory.
fn names(dir: &Path) -> impl Iterator<Item = Vec<u8>> {
    let entries = dir.read_dir().into_iter().flatten().take(ENTRIES);
    entries.flatten().map(|entry| walk::bytes(Path::new(&entry.file_name())).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Of a path in a directory of git's.
    type Harm = fn(&Path, &Path);

    const OID: &str = "0123456789abcdef0123456789abcdef01234567";

    fn write(path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn over(path: &Path, at: u64, bytes: &[u8]) {
        use std::os::unix::fs::FileExt as _;
        let was = path.metadata().unwrap().modified().unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        file.write_all_at(bytes, at).unwrap();
        file.set_modified(was).unwrap();
    }

    #[test]
    fn what_git_has_is_whole_until_a_part_of_it_is_gone_or_has_other_contents() {
        let pack = format!("objects/pack/pack-{OID}.pack");
        let loose = format!("objects/aa/{}", &OID[2..]);
        let harms: [(&str, Harm); 4] =
            [
                ("removed", |_, path| drop(fs::remove_file(path).or_else(|_| fs::remove_dir_all(path)))),
                ("moved", |git, path| fs::rename(path, git.join("moved")).unwrap()),
                ("emptied", |_, path| {
                    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::write(path, "").unwrap() }
                }),
                ("all of it", |git, _| fs::remove_dir_all(git).unwrap()),
            ];
        let zeroed: (&str, Harm) = ("overwritten, with its time put back", |_, path| {
            over(path, 0, &vec![0; path.metadata().unwrap().len() as usize]);
        });
        let at_the_end: (&str, Harm) =
            ("its end overwritten", |_, path| over(path, path.metadata().unwrap().len() - 20, &[0; 20]));
        let unpacked: (&str, Harm) = ("one line fewer", |_, path| {
            fs::write(path, format!("# pack-refs with: peeled \n{OID} refs/heads/other\n")).unwrap();
        });
        for part in ["objects", "HEAD", "packed-refs", "refs/heads/main", "modules/a/b/HEAD", &pack, &loose] {
            let more = match part {
                "packed-refs" => vec![unpacked],
                _ if part == pack => vec![zeroed, at_the_end],
                _ if part == loose => vec![zeroed],
                _ => Vec::new(),
            };
            for (what, harm) in harms.into_iter().chain(more) {
                let dir = tempfile::tempdir().unwrap();
                let git = dir.path().join(".git");
                for name in ["HEAD", "refs/heads/main", "refs/heads/kept", "modules/a/b/HEAD", "index"] {
                    write(&git.join(name), b"text");
                }
                let refs = format!("# pack-refs with: peeled \n{OID} refs/heads/old\n{OID} refs/heads/other\n");
                write(&git.join("packed-refs"), refs.as_bytes());
                write(&git.join(&pack), &[b"PACK".to_vec(), vec![7; 200_000]].concat());
                write(&git.join(&loose), b"\x78\x01text");
                let mut histories = Histories::default();
                histories.note(&git, dir.path());
                // What git does all the time: it writes, packs a ref, freshens a pack; and ours.
                write(&git.join("index"), b"other");
                write(&git.join("refs/heads/main"), b"other");
                write(&git.join("packed-refs"), format!("{refs}{OID} refs/heads/kept\n").as_bytes());
                fs::remove_file(git.join("refs/heads/kept")).unwrap();
                fs::create_dir(git.join("objects/bb")).unwrap();
                let time = fs::FileTimes::new().set_modified(std::time::SystemTime::now());
                fs::File::open(git.join(&pack)).unwrap().set_times(time).unwrap();
                fs::hard_link(git.join(&pack), dir.path().join("link")).unwrap();
                assert!(histories.losses().are_none(), "{:?}", histories.losses());
                harm(&git, &git.join(part));
                let losses = histories.losses();
                assert!(!losses.are_none() && !losses.first.is_empty(), "{part}: {what}");
            }
        }
    }

    #[test]
    fn what_could_not_be_noted_is_unclear_also_when_the_bound_is_met_exactly() {
        for more in 0..3 {
            let temp = tempfile::tempdir().unwrap();
            let mut histories = Histories::default();
            for name in ["one", "two"] {
                write(&temp.path().join(name).join("HEAD"), b"text");
            }
            histories.parts = vec![(temp.path().to_owned(), dir(temp.path()).unwrap()); ENTRIES - 3 + more];
            histories.note(&temp.path().join("one"), temp.path());
            histories.note(&temp.path().join("two"), temp.path());
            assert!(histories.losses().is_unclear, "{more}");
            assert_eq!(histories.losses().count, 0);
        }
    }
}
