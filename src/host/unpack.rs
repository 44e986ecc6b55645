//! Unpacks an archive into a directory that is empty, and finds a program in it.
//!
//! Downloads nothing and starts nothing. Invariants: nothing is written outside of the directory, whatever names and links
//! the archive has, and no link leads out of it; count and bytes are bounded; there are files, directories and links, and
//! nothing else.

use bzip2::read::BzDecoder;
use flate2::read::GzDecoder;
use std::cell::Cell;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Entries of an archive, and bytes that it may become.
const MAX_ENTRIES: usize = 100_000;
const MAX_UNPACKED: u64 = 4 << 30;
/// Bytes that may be read for the names of one entry.
const MAX_HEAD: u64 = 1 << 20;
/// Parts of a path, and bytes of where a link leads.
const MAX_DEPTH: usize = 50;
const MAX_LINK: u64 = 4 << 10;
/// Entries that are looked through for a program that is not where it should be.
const MAX_SEARCHED: usize = 200_000;

/// What a download is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tar,
    TarGz,
    TarBz2,
    Zip,
    /// The program itself.
    Raw,
}

impl Kind {
    /// By the last part of an address.
    ///
    /// # Errors
    /// Names a kind that cannot be unpacked.
    pub fn of(address: &str) -> Result<Self, String> {
        let path = address.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let is = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        const OTHERS: [&str; 14] = [
            ".dmg",
            ".pkg",
            ".msi",
            ".deb",
            ".rpm",
            ".appimage",
            ".xz",
            ".txz",
            ".zst",
            ".7z",
            ".rar",
            ".gz",
            ".bz2",
            ".apk",
        ];
        Ok(match () {
            () if is(&[".tar.gz", ".tgz"]) => Self::TarGz,
            () if is(&[".tar.bz2", ".tbz2"]) => Self::TarBz2,
            () if is(&[".tar"]) => Self::Tar,
            () if is(&[".zip"]) => Self::Zip,
            () if is(&OTHERS) => {
                return Err(format!("{name}: only .tar, .tar.gz, .tar.bz2, .zip and programs are unpacked"));
            }
            () => Self::Raw,
        })
    }

    /// What the first bytes say: `None` for what is none of the archives.
    fn of_content(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::TarGz),
            [b'B', b'Z', b'h', ..] => Some(Self::TarBz2),
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Some(Self::Zip),
            _ if head.get(257..262) == Some(b"ustar") => Some(Self::Tar),
            _ => None,
        }
    }
}

/// Unpacks `archive` into `root`, which is there and empty; a program by itself becomes `program`.
///
/// # Errors
/// Says what is wrong with the archive, or why it cannot be written; `root` then holds a part of it.
pub fn unpack(archive: &Path, kind: Kind, root: &Path, program: &str) -> Result<(), String> {
    let words = |error: io::Error| error.to_string();
    let mut file = File::open(archive).map_err(words)?;
    let mut head = Vec::new();
    (&mut file).take(512).read_to_end(&mut head).map_err(words)?;
    file.seek(SeekFrom::Start(0)).map_err(words)?;
    let found = Kind::of_content(&head);
    // An old tar has no mark of its own.
    if found.unwrap_or(if kind == Kind::Tar { Kind::Tar } else { Kind::Raw }) != kind {
        return Err("its content is not what its name says".into());
    }
    let file = BufReader::with_capacity(1 << 16, file);
    let mut into = Into { root, entries: 0, left: MAX_UNPACKED, links: Vec::new() };
    match kind {
        Kind::Tar => from_tar(file, &mut into)?,
        Kind::TarGz => from_tar(GzDecoder::new(file), &mut into)?,
        Kind::TarBz2 => from_tar(BzDecoder::new(file), &mut into)?,
        Kind::Zip => from_zip(file, &mut into)?,
        Kind::Raw => {
            let mut file = file;
            into.file(Path::new(program), true, &mut file)?;
        }
    }
    into.make_links()
}

/// The program below `root`: where it is said to be, else the only file of that name.
///
/// # Errors
/// There is none, or several.
pub fn program(root: &Path, wanted: &str) -> Result<PathBuf, String> {
    let said = root.join(wanted);
    if said.is_file() {
        return Ok(said);
    }
    let name = Path::new(wanted).file_name().unwrap_or_default();
    let (mut found, mut searched, mut dirs) = (Vec::new(), 0, vec![root.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).map_err(|error| error.to_string())?.flatten() {
            searched += 1;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && searched < MAX_SEARCHED {
                dirs.push(entry.path());
            } else if kind.is_file() && entry.file_name() == name {
                found.push(entry.path());
            }
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(format!("there is no {wanted} in it")),
        (Some(_), false) => Err(format!("there is no {wanted} in it, but several files of that name")),
    }
}

/// Lets its owner run it.
pub fn make_executable(program: &Path) -> io::Result<()> {
    let mode = program.metadata()?.permissions().mode();
    fs::set_permissions(program, Permissions::from_mode(mode | 0o700))
}

/// Where an archive goes, and what it may still become.
struct Into<'a> {
    root: &'a Path,
    entries: usize,
    left: u64,
    /// Made when everything else is there, so that nothing is written through one: where, and where it leads.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Into<'_> {
    /// Counts an entry; its path below the root, whose directories are there afterwards.
    fn admit(&mut self, name: &Path) -> Result<PathBuf, String> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(format!("it has more than {MAX_ENTRIES} entries"));
        }
        let mut path = PathBuf::new();
        for part in name.components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => return Err(format!("an entry leads out of it: {}", name.display())),
            }
        }
        if path.components().count() > MAX_DEPTH {
            return Err("an entry lies too deep in it".into());
        }
        if let Some(above) = path.parent() {
            fs::create_dir_all(self.root.join(above)).map_err(|error| written(&path, &error))?;
        }
        Ok(path)
    }

    fn dir(&mut self, name: &Path) -> Result<(), String> {
        let path = self.admit(name)?;
        fs::create_dir_all(self.root.join(&path)).map_err(|error| written(&path, &error))
    }

    fn file(&mut self, name: &Path, is_program: bool, content: &mut dyn Read) -> Result<(), String> {
        let path = self.admit(name)?;
        let mut options = OpenOptions::new();
        let mode = if is_program { 0o700 } else { 0o600 };
        let file = options.write(true).create_new(true).mode(mode).open(self.root.join(&path));
        let mut file = file.map_err(|error| written(&path, &error))?;
        let copied = io::copy(&mut content.take(self.left + 1), &mut file);
        let copied = copied.map_err(|error| format!("{}: {error}", path.display()))?;
        self.left = self.left.checked_sub(copied).ok_or_else(too_much)?;
        Ok(())
    }

    fn link(&mut self, name: &Path, to: &Path) -> Result<(), String> {
        let path = self.admit(name)?;
        let depth = path.components().count().saturating_sub(1);
        // Up first and then down: further down there may be other links.
        let up = to.components().take_while(|part| *part == Component::ParentDir).count();
        let goes_down = to.components().skip(up).all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !goes_down || up > depth {
            return Err(format!("a link leads out of it: {}", path.display()));
        }
        self.links.push((path, to.to_owned()));
        Ok(())
    }

    /// A second name of a file that is there.
    fn second_name(&mut self, name: &Path, of: &Path) -> Result<(), String> {
        let path = self.admit(name)?;
        let is_within = of.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let first = self.root.join(of);
        // No link has been made yet.
        if !is_within || !first.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            return Err(format!("a hard link leads to nothing in it: {}", path.display()));
        }
        fs::hard_link(first, self.root.join(&path)).map_err(|error| written(&path, &error))
    }

    /// What is above each is a directory since it was admitted, so that none begins somewhere else.
    fn make_links(self) -> Result<(), String> {
        for (path, to) in self.links {
            symlink(to, self.root.join(&path)).map_err(|error| written(&path, &error))?;
        }
        Ok(())
    }
}

fn written(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{} stands in it twice", path.display()),
        _ => format!("{} cannot be written: {error}", path.display()),
    }
}

fn too_much() -> String {
    format!("it becomes more than {} GiB", MAX_UNPACKED >> 30)
}

/// Gives so many bytes and then an error.
struct Metered<R> {
    from: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.left.get()).unwrap_or(usize::MAX);
        if left == 0 {
            return Err(io::Error::other("too much is said between two files"));
        }
        let length = into.len().min(left);
        let read = self.from.read(into.get_mut(..length).unwrap_or_default())?;
        self.left.set(self.left.get().saturating_sub(read as u64));
        Ok(read)
    }
}

fn from_tar(from: impl Read, into: &mut Into<'_>) -> Result<(), String> {
    let broken = |error: io::Error| format!("the archive cannot be read: {error}");
    let left = Rc::new(Cell::new(MAX_HEAD));
    let mut archive = tar::Archive::new(Metered { from, left: Rc::clone(&left) });
    let mut entries = archive.entries().map_err(broken)?;
    loop {
        left.set(MAX_HEAD);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(broken)?;
        let name = entry.path().map_err(broken)?.into_owned();
        let mode = entry.header().mode().unwrap_or(0);
        let leads_to = |entry: &tar::Entry<'_, _>| {
            let to = entry.link_name().map_err(broken)?;
            to.map(|to| to.into_owned()).ok_or_else(|| format!("a link leads nowhere: {}", name.display()))
        };
        match entry.header().entry_type() {
            tar::EntryType::Directory => into.dir(&name)?,
            tar::EntryType::Symlink => into.link(&name, &leads_to(&entry)?)?,
            tar::EntryType::Link => into.second_name(&name, &leads_to(&entry)?)?,
            kind if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() => {
                left.set(u64::MAX);
                into.file(&name, mode & 0o111 != 0, &mut entry)?;
            }
            // What is said of all entries.
            tar::EntryType::XGlobalHeader => {}
            _ => return Err(format!("it holds what is no file, directory or link: {}", name.display())),
        }
    }
    // What was compressed is checked at its end.
    left.set(MAX_HEAD);
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
    Ok(())
}

fn from_zip(from: BufReader<File>, into: &mut Into<'_>) -> Result<(), String> {
    let broken = |error: zip::result::ZipError| format!("the archive cannot be read: {error}");
    let mut archive = zip::ZipArchive::new(from).map_err(broken)?;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(broken)?;
        let name = PathBuf::from(entry.name().map_err(broken)?.replace('\\', "/"));
        let mode = entry.unix_mode().unwrap_or(0);
        if entry.is_dir() {
            into.dir(&name)?;
        } else if entry.is_symlink() {
            let mut to = String::new();
            let read = (&mut entry).take(MAX_LINK).read_to_string(&mut to);
            read.map_err(|error| format!("the archive cannot be read: {error}"))?;
            into.link(&name, Path::new(&to))?;
        } else {
            into.file(&name, mode & 0o111 != 0, &mut entry)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
