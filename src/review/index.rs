//! The person's repositories, read only: where their objects are, and what their index knows of files.
//!
//! Opens nothing for writing and takes no lock. Invariant: an index is believed only where no conversion can stand
//! between a file and its blob, and only for a blob that is there and as long as the file.

use super::state::Oid;
use super::walk::{self, Key, Kind, Stat};
use gix::bstr::{BStr, ByteSlice as _};
use gix::index::entry::{Flags, Mode, Stage};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Attributes that make a file differ from its blob.
const CONVERTING: &[&str] = &["filter", "text", "eol", "ident", "working-tree-encoding", "crlf"];
/// Larger files of attributes are not read: they count as converting.
const ATTRIBUTES: u64 = 1 << 20;

/// A repository of the person's.
pub(super) struct Repo {
    repo: gix::Repository,
}

impl Repo {
    /// The repository that the tree at `root` belongs to, if git and we can work with it.
    pub(super) fn find(root: &Path) -> Option<Self> {
        let repo = gix::discover(root).ok()?;
        (repo.object_hash() == gix::hash::Kind::Sha1).then_some(Self { repo })
    }

    /// The directory of its objects.
    pub(super) fn objects(&self) -> PathBuf {
        let dir = self.repo.common_dir().join("objects");
        dir.canonicalize().unwrap_or(dir)
    }

    pub(super) fn index_path(&self) -> PathBuf {
        self.repo.index_path()
    }

    /// Its index, as far as it is about the tree at `root`.
    pub(super) fn index(&self, root: &Path) -> Option<Index> {
        let work = self.repo.workdir()?.canonicalize().ok()?;
        let mut prefix = walk::bytes(root.strip_prefix(&work).ok()?).to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        let path = self.repo.index_path();
        let stat = walk::Stat::of_meta(&path.metadata().ok()?);
        let file = gix::index::File::at(path, gix::hash::Kind::Sha1, true, gix::index::decode::Options::default());
        Some(Index { file: file.ok()?, prefix, written: stat.mtime })
    }

    /// Whether a file may differ from its blob. `attributes` are the files of that name in the tree.
    pub(super) fn converts(&self, root: &Path, index: &Index, attributes: &BTreeSet<Key>) -> bool {
        let config = self.repo.config_snapshot();
        let plain = |value: gix::bstr::BString| [&b"false"[..], b"no", b"off", b"0"].contains(&value.as_slice());
        if self.repo.git_dir_trust() != gix::sec::Trust::Full
            || config.string("core.autocrlf").is_some_and(|value| !plain(value))
        {
            return true;
        }
        let mut files = vec![self.repo.common_dir().join("info").join("attributes")];
        files.extend(
            ["/etc", "/usr/etc", "/usr/local/etc", "/opt/homebrew/etc"].map(|d| Path::new(d).join("gitattributes")),
        );
        match config.trusted_path("core.attributesFile") {
            Ok(Some(path)) => files.push(path),
            Ok(None) => {
                files.extend(settings().map(|dir| dir.join("attributes")));
            }
            Err(_) => return true,
        }
        // Those above the root, up to the top of the working tree.
        let above = root.ancestors().skip(1).take(index.prefix.split(|byte| *byte == b'/').count() - 1);
        files.extend(above.map(|dir| dir.join(".gitattributes")));
        files.extend(attributes.iter().map(|key| root.join(walk::path(key))));
        files.iter().any(|file| converting(file)) || index.hides_attributes(attributes)
    }
}

/// The directory of the person's settings for git.
fn settings() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".config"));
    let dir = std::env::var_os("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    dir.or_else(home).map(|dir| dir.join("git"))
}

/// Files outside of the tree that say what is ignored.
pub(super) fn rules(repo: Option<&Repo>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        settings().map(|dir| [dir.join("ignore"), dir.join("config")]).into_iter().flatten().collect();
    files.extend(std::env::var_os("HOME").map(|home| Path::new(&home).join(".gitconfig")));
    if let Some(Repo { repo }) = repo {
        files.push(repo.common_dir().join("info").join("exclude"));
        files.extend(repo.config_snapshot().trusted_path("core.excludesFile").ok().flatten());
    }
    files
}

/// Whether a path names a file of attributes.
pub(super) fn is_attributes(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes")
}

/// Whether a file of attributes speaks of conversion. One that is not there does not.
pub(super) fn converting(file: &Path) -> bool {
    match file.metadata() {
        Err(e) => return e.kind() != std::io::ErrorKind::NotFound,
        Ok(meta) if !meta.is_file() || meta.len() > ATTRIBUTES => return true,
        Ok(_) => {}
    }
    let Ok(text) = fs::read(file) else { return true };
    text.lines().map(|line| line.trim()).filter(|line| !line.starts_with(b"#")).any(|line| {
        // An attribute that is taken away (`-text`, `!eol`) converts nothing.
        line.fields().skip(1).any(|word| {
            let name = word.split_once_str("=").map_or(word, |(name, _)| name);
            CONVERTING.iter().any(|given| given.as_bytes() == name)
        })
    })
}

/// The index of a repository.
pub(super) struct Index {
    file: gix::index::File,
    /// Of our root in the working tree, with a `/` at its end.
    prefix: Vec<u8>,
    /// When the index was written.
    pub(super) written: walk::Time,
}

impl Index {
    fn ours(&self) -> impl Iterator<Item = (&gix::index::Entry, &[u8])> {
        let entries = match self.prefix.as_slice() {
            b"" => self.file.entries(),
            prefix => self.file.prefixed_entries(prefix.as_bstr()).unwrap_or_default(),
        };
        entries.iter().filter_map(|entry| Some((entry, entry.path(&self.file).strip_prefix(&self.prefix[..])?)))
    }

    /// The paths below the root that the person has put under git's care.
    pub(super) fn tracked(&self) -> impl Iterator<Item = &[u8]> {
        self.ours()
            .filter(|(entry, _)| {
                matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE | Mode::SYMLINK)
                    && !entry.flags.contains(Flags::SKIP_WORKTREE)
            })
            .map(|(_, path)| path)
    }

    /// Whether there are attributes that only git has.
    fn hides_attributes(&self, seen: &BTreeSet<Key>) -> bool {
        self.tracked().any(|path| is_attributes(path) && !seen.contains(path))
    }

    /// The name of the blob of a file that is unchanged since git has looked at it.
    pub(super) fn blob(&self, key: &Key, stat: &Stat) -> Option<Oid> {
        let path = [&self.prefix[..], key].concat();
        let at = self.file.entry_index_by_path_and_stage(BStr::new(&path), Stage::Unconflicted)?;
        let entry = self.file.entries().get(at)?;
        let mode_fits = match stat.kind {
            Kind::File => matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE),
            Kind::Link => entry.mode == Mode::SYMLINK,
            Kind::Dir | Kind::Other => false,
        };
        let given = &entry.stat;
        let same = |time: walk::Time, secs: u32, nsecs: u32| time.0 as u32 == secs && (nsecs == 0 || time.1 == nsecs);
        // Without fractions the whole second is in doubt.
        let written = if given.mtime.nsecs == 0 { (self.written.0, 0) } else { self.written };
        let fits = mode_fits
            && !entry.flags.intersects(Flags::INTENT_TO_ADD | Flags::SKIP_WORKTREE)
            && given.size == stat.size as u32
            && given.ino == stat.ino as u32
            && same(stat.mtime, given.mtime.secs, given.mtime.nsecs)
            && same(stat.ctime, given.ctime.secs, given.ctime.nsecs)
            && stat.touched() < written;
        fits.then(|| entry.id.as_bytes().try_into().ok().map(Oid)).flatten()
    }
}
