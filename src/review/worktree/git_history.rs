//! Whether what the person's repositories held when they were seen first is still there.
//!
//! What holds a history is noted: directories, packs, objects by themselves, refs, stashes, the index, large files that
//! lie beside the objects. Later it is told what of it is not there any more, and whether a file may be a copy of that.
//! Reads names and numbers, a bounded part of packs and objects, and refs. Invariant: what could not be noted is never
//! called whole.

use super::git_form::{is_head, is_loose, is_pack};
use super::git_index::hex;
use super::git_objects::{self, Objects};
use super::git_refs::{self, Alone, Refs};
use super::plain::{self, Links, Odd};
use super::walk;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Things that are noted of all repositories.
const ENTRIES: usize = 30_000;
/// Refs by themselves of which it is noted what they name.
const READ: usize = 2_000;
/// The list of other stores of objects.
const ALTERNATES: u64 = 8 << 10;
/// Stashes that are noted; a longer log of them, or of a ref, is not read.
const STASHES: usize = 1_000;
const LOG: u64 = 16 << 20;
/// Pieces of a pack that are looked at, and how long each is. The last one has the pack's own sum.
const PIECES: u64 = 16;
const PIECE: u64 = 4 << 10;
/// What is lost that is named.
const NAMED: usize = 5;
/// A larger file is known by its size alone where its name may be made from its content.
const HASHED: u64 = 64 << 20;
/// Where large files are kept under names that are made from their contents.
const LARGE: [&str; 2] = ["lfs/objects", "annex/objects"];
/// Refs that git makes for a while.
const PASSING: [&[u8]; 2] = [b"refs/bisect/", b"refs/rewritten/"];

/// What a path is known by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mark {
    /// A directory: its number.
    Dir(u64),
    /// Something is in it.
    Filled,
    /// It names a ref or a commit.
    Head,
    /// It begins as an index does.
    Index,
    /// Its size, and a sum over pieces of it.
    File(u64, String),
    /// An object by itself: its size.
    Object(u64),
    /// A large file: its size.
    Large(u64),
    /// A ref, by itself or not: where its name begins in the path, what it names, and how long its log was.
    Ref { at: usize, of: Option<String>, log: u64 },
    /// A text in which a line stands, or a part of one.
    Has(String),
    /// That could not be told.
    Unknown,
}

/// What git has, each with its mark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histories {
    pub parts: Vec<(PathBuf, Mark)>,
    /// Where the repositories begin that are in it.
    pub tops: BTreeSet<PathBuf>,
    /// What was noted is not there any more, or is not what was written.
    pub is_lost: bool,
    noted: BTreeSet<PathBuf>,
    /// Refs that were read.
    read: usize,
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
    /// The files among it, by their size.
    files: HashMap<u64, Vec<PathBuf>>,
}

impl Losses {
    pub(crate) const fn are_none(&self) -> bool {
        self.count == 0 && !self.is_unclear
    }

    /// Whether what is at a path may be a copy of it: a file of the same name and size, or one from whose content the
    /// name of a lost one is made.
    pub(crate) fn may_be(&self, path: &Path) -> bool {
        let lost = path.symlink_metadata().ok().filter(|meta| meta.is_file() && meta.len() > 0);
        let Some(lost) = lost.and_then(|meta| self.files.get(&meta.len())) else { return false };
        if lost.iter().any(|one| one.file_name() == path.file_name()) {
            return true;
        }
        let is_large = |one: &&PathBuf| LARGE.iter().any(|dir| one.to_string_lossy().contains(dir));
        let mut large = lost.iter().filter(is_large).peekable();
        large.peek().is_some()
            && match plain::read(path, Links::Refused, HASHED) {
                Ok(bytes) => {
                    let sum = hex(&Sha256::digest(bytes.unwrap_or_default()));
                    large.any(|one| one.file_name().is_some_and(|name| name.to_string_lossy().contains(&sum)))
                }
                Err(odd) => matches!(odd, Odd::Large(_)),
            }
    }
}

impl Histories {
    /// Directories of git's that were noted.
    pub(crate) fn dirs(&self) -> impl Iterator<Item = &PathBuf> {
        self.noted.iter()
    }

    /// What there is in a directory of git's and in those of its modules. `root` is that of the session.
    pub(crate) fn note(&mut self, git: &Path, root: &Path) {
        if !self.noted.insert(git.to_owned()) {
            return;
        }
        let objects = git.join("objects");
        self.mark(git, dir(git));
        for name in ["commondir", "reftable/tables.list", "logs/HEAD", "shallow"] {
            self.mark_if_there(&git.join(name), filled);
        }
        self.mark_if_there(&git.join("HEAD"), |path| head(path).or_else(|| filled(path)));
        self.mark_if_there(&git.join("index"), index);
        if objects.symlink_metadata().is_ok() {
            self.mark(&objects, dir(&objects));
        }
        self.note_alternates(&objects, root);
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
        self.note_stashes(&git.join("logs/refs/stash"));
        for dir in LARGE {
            self.note_large(&git.join(dir));
        }
        self.note_modules(&git.join("modules"), root);
        self.note_working_trees(&git.join("worktrees"));
    }

    /// The other stores that objects are read from, and how they are named.
    fn note_alternates(&mut self, objects: &Path, root: &Path) {
        let list = objects.join("info/alternates");
        let text = plain::read(&list, Links::Followed, ALTERNATES).ok().flatten().unwrap_or_default();
        let leads_in = |store: &PathBuf| {
            let below = store.canonicalize().ok().and_then(|to| to.strip_prefix(root).ok().map(Path::to_owned));
            below.is_some_and(|below| !below.components().any(|part| part.as_os_str() == ".git"))
        };
        let stores = git_objects::alternates(objects).unwrap_or_default();
        if stores.iter().any(leads_in) {
            self.mark(&list, None);
        }
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = format!("\n{}\n", String::from_utf8_lossy(line));
            self.mark_if_there(&list, |_| Some(Mark::Has(line.clone())));
        }
        for store in stores.iter().filter_map(|store| store.canonicalize().ok()) {
            self.mark_if_there(&store, dir);
        }
    }

    fn note_refs(&mut self, git: &Path) {
        let at = walk::bytes(git).len() + 1;
        let log = |name: &[u8]| {
            let log = git.join("logs").join(walk::path(name));
            // That of stashes is looked at by itself.
            let log = log.symlink_metadata().ok().filter(|_| name != b"refs/stash");
            log.map_or(0, |meta| meta.len())
        };
        let is_passing = |path: &Path| {
            let name = walk::bytes(path).get(at..).unwrap_or_default();
            name.ends_with(b".lock") || PASSING.iter().any(|passing| name.starts_with(passing))
        };
        let (mut open, mut alone) = (vec![git.join("refs")], BTreeSet::new());
        while let Some(dir) = open.pop() {
            for path in names(&dir).map(|name| dir.join(walk::path(&name))).filter(|path| !is_passing(path)) {
                match path.symlink_metadata() {
                    Ok(meta) if meta.is_dir() && !self.is_full => open.push(path),
                    Ok(meta) if meta.len() > 0 => {
                        self.read += 1;
                        let of = if self.read > READ { None } else { git_refs::alone(&path) };
                        let of = if let Some(Alone::Of(of)) = of { Some(of) } else { None };
                        let log = if of.is_some() { log(&walk::bytes(&path)[at..]) } else { 0 };
                        self.mark_if_there(&path, |_| Some(Mark::Ref { at, of: of.clone(), log }));
                        alone.insert(path);
                    }
                    _ => {}
                }
            }
        }
        match git_refs::others(git) {
            Some(refs) => {
                for (name, of) in refs {
                    let path = git.join(walk::path(&name));
                    // Beside one of that name by itself it says nothing.
                    if !self.is_full && !is_passing(&path) && !alone.contains(&path) {
                        self.read += 1;
                        let log = if self.read > READ { 0 } else { log(&name) };
                        self.mark_if_there(&path, |_| Some(Mark::Ref { at, of: of.clone(), log }));
                    }
                }
            }
            None => self.mark(&git.join("packed-refs"), None),
        }
    }

    /// Each stash but the newest is only a line of a log.
    fn note_stashes(&mut self, log: &Path) {
        let text = plain::read(log, Links::Followed, LOG).ok().flatten().unwrap_or_default();
        let stashes = text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(1));
        for stash in stashes.collect::<Vec<_>>().into_iter().rev().take(STASHES) {
            let part = format!(" {} ", String::from_utf8_lossy(stash));
            self.mark_if_there(log, |_| Some(Mark::Has(part.clone())));
        }
    }

    fn note_large(&mut self, dir: &Path) {
        self.mark_if_there(dir, filled);
        let mut open = vec![dir.to_owned()];
        while let Some(dir) = open.pop().filter(|_| !self.is_full) {
            for path in names(&dir).map(|name| dir.join(walk::path(&name))) {
                match path.symlink_metadata() {
                    Ok(meta) if meta.is_dir() => open.push(path),
                    Ok(meta) => self.mark_if_there(&path, |_| Some(Mark::Large(meta.len()))),
                    Err(_) => {}
                }
            }
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

    /// What git has for other working trees: the commit and the index of one may be nowhere else.
    fn note_working_trees(&mut self, dir: &Path) {
        for path in names(dir).map(|name| dir.join(walk::path(&name))) {
            self.mark_if_there(&path.join("HEAD"), |path| head(path).or_else(|| filled(path)));
            self.mark_if_there(&path.join("index"), index);
            self.mark_if_there(&path.join("logs/HEAD"), filled);
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

    /// What is not there as it was. `kept` is a store of ours with the lists of some packs.
    pub(crate) fn losses(&self, kept: &Path) -> Losses {
        let (mut losses, mut now) = (Losses { is_unclear: self.is_lost, ..Losses::default() }, Now::new(kept));
        for (path, mark) in &self.parts {
            if *mark == Mark::Unknown {
                losses.is_unclear = true;
            } else if !now.is_whole(path, mark) {
                losses.count += 1;
                if let Some(size) = size(mark) {
                    losses.files.entry(size).or_default().push(path.clone());
                }
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

/// The size of a file of git's that has not changed.
fn size(mark: &Mark) -> Option<u64> {
    match mark {
        Mark::File(size, _) | Mark::Object(size) | Mark::Large(size) => Some(*size),
        // And the end of the line.
        Mark::Ref { of, .. } => of.as_ref().map(|of| of.len() as u64 + 1),
        _ => None,
    }
}

/// What there is now.
struct Now<'a> {
    kept: &'a Path,
    objects: Objects,
    /// Refs that do not lie by themselves, by the directory of git's.
    refs: HashMap<PathBuf, Option<Refs>>,
    /// Texts of which lines are looked for, each with an end of a line around it.
    texts: HashMap<PathBuf, String>,
}

impl<'a> Now<'a> {
    fn new(kept: &'a Path) -> Self {
        Self { kept, objects: Objects::new(), refs: HashMap::new(), texts: HashMap::new() }
    }

    fn is_whole(&mut self, path: &Path, mark: &Mark) -> bool {
        let is_gone = || path.symlink_metadata().is_err();
        match mark {
            Mark::Dir(..) => dir(path).as_ref() == Some(mark),
            Mark::Filled => filled(path).is_some(),
            Mark::Head => self.is_head(path),
            Mark::Index => index(path).is_some(),
            Mark::Large(size) => path.symlink_metadata().is_ok_and(|meta| meta.len() == *size),
            Mark::File(..) if is_gone() => self.is_repacked(path),
            Mark::File(size, _) => {
                path.symlink_metadata().is_ok_and(|meta| meta.len() == *size) && file(path).as_ref() == Some(mark)
            }
            Mark::Object(_) if is_gone() => self.is_in_a_pack(path),
            Mark::Object(size) => {
                path.symlink_metadata().is_ok_and(|meta| meta.len() == *size) && self.objects.is_whole(path)
            }
            Mark::Ref { at, of, log } => self.is_ref(path, *at, of.as_deref(), *log).unwrap_or(false),
            Mark::Has(part) => self.text(path).contains(part),
            Mark::Unknown => false,
        }
    }

    /// Whether a `HEAD` names something that may be there.
    fn is_head(&mut self, path: &Path) -> bool {
        let git = path.parent().unwrap_or(path);
        head(path).is_some() && git_refs::alone(path).is_none_or(|to| self.leads_on(git, &to))
    }

    fn leads_on(&mut self, git: &Path, to: &Alone) -> bool {
        match to {
            Alone::Of(oid) => self.objects.are_reached(git, oid),
            Alone::Other => true,
            Alone::Broken => false,
        }
    }

    /// Whether a ref names what it did, or else something that is there, and its log has not lost what it named.
    fn is_ref(&mut self, path: &Path, at: usize, of: Option<&str>, log: u64) -> Option<bool> {
        let bytes = walk::bytes(path);
        let (git, name) = (walk::path(bytes.get(..at - 1)?).to_owned(), bytes.get(at..)?.to_vec());
        let now = match git_refs::alone(path) {
            Some(now) => now,
            None => {
                let others = self.refs.entry(git.clone()).or_insert_with(|| git_refs::others(&git));
                others.as_ref()?.get(&name)?.clone().map_or(Alone::Other, Alone::Of)
            }
        };
        let Some(of) = of else { return Some(true) };
        if matches!(&now, Alone::Of(now) if now == of) {
            return Some(true);
        }
        let is_logged = || {
            let place = git.join("logs").join(walk::path(&name));
            let is_shorter = place.symlink_metadata().map_or(true, |meta| meta.len() < log);
            let text = || plain::read(&place, Links::Followed, LOG).ok().flatten().unwrap_or_default();
            log == 0 || !is_shorter || String::from_utf8_lossy(&text()).contains(of)
        };
        Some(is_logged() && self.leads_on(&git, &now))
    }

    /// Whether all objects of a pack that is gone are in others now, as `git gc` puts them.
    fn is_repacked(&mut self, pack: &Path) -> bool {
        let name = pack.file_name().unwrap_or_default();
        let store = pack.parent().and_then(Path::parent).unwrap_or(pack);
        let list = self.kept.join("pack").join(name).with_extension("idx");
        is_pack(walk::bytes(Path::new(name))) && self.objects.has_all_of(store, &list)
    }

    /// The same for one that lay by itself.
    fn is_in_a_pack(&mut self, path: &Path) -> bool {
        let mut names = path.iter().rev().map(|name| name.to_string_lossy());
        let (name, fan) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        let store = path.ancestors().nth(2).unwrap_or(path);
        self.objects.has(store, &format!("{fan}{name}"))
    }

    fn text(&mut self, path: &Path) -> &str {
        self.texts.entry(path.to_owned()).or_insert_with(|| {
            let text = plain::read(path, Links::Followed, LOG).ok().flatten().unwrap_or_default();
            format!("\n{}\n", String::from_utf8_lossy(&text))
        })
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

fn head(path: &Path) -> Option<Mark> {
    let text = || plain::read(path, Links::Refused, ALTERNATES).ok().flatten();
    (path.read_link().is_ok_and(|to| to.starts_with("refs")) || is_head(&text()?)).then_some(Mark::Head)
}

fn index(path: &Path) -> Option<Mark> {
    let mut head = [0; 12];
    walk::open_plain(path)?.read_exact(&mut head).ok()?;
    matches!(head, [b'D', b'I', b'R', b'C', 0, 0, 0, 2..=4, ..]).then_some(Mark::Index)
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

/// Whether a ref of a directory of git's is packed, which `below` is the name of.
pub(crate) fn is_packed(git: &Path, below: &[u8]) -> bool {
    git_refs::others(git).is_none_or(|refs| refs.contains_key(below))
}

/// The names in a directory.
fn names(dir: &Path) -> impl Iterator<Item = Vec<u8>> {
    let entries = dir.read_dir().into_iter().flatten().take(ENTRIES);
    entries.flatten().map(|entry| walk::bytes(Path::new(&entry.file_name())).to_vec())
}

#[cfg(test)]
#[path = "git_history_tests.rs"]
mod tests;
