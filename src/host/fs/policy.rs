//! Which paths belong to a session: the roots, and what a path really means.
//!
//! It opens nothing. Invariants: a root is the directory that it was at the start, by device and inode, and none that has
//! got its name since; a `Resolved` names a place inside a root on the real path, with every link and
//! every `..` already followed; what cannot be decided is refused.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::steps::Inode;
use super::{FsError, Private};

/// Links followed before a path counts as undecidable, as the kernel does.
const MAX_LINKS: usize = 40;
/// Bytes of a path, and of one that links have lengthened.
const MAX_PATH_BYTES: usize = 4096;
const MAX_NAME_BYTES: usize = 255;
const MAX_STEPS: usize = 4096;

/// The directories a session may touch: its working directory and the additional ones.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    real: Vec<PathBuf>,
    /// Which directories those were at the start.
    pins: Vec<Option<Inode>>,
    private: Private,
}

/// A path inside a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The path as the agent wrote it, for messages.
    pub asked: PathBuf,
    /// The real path.
    pub real: PathBuf,
    pub(super) root: PathBuf,
    /// Which directory the root has to be.
    pub(super) pin: Option<Inode>,
    /// Names from the root to the file; empty for the root itself.
    pub(super) names: Vec<OsString>,
}

impl Roots {
    /// Roots are made real once, at the start of the session; one that does not exist allows nothing.
    pub fn new(roots: Vec<PathBuf>) -> Self {
        let mut real: Vec<PathBuf> = Vec::new();
        for root in roots.into_iter().filter_map(|root| root.canonicalize().ok()) {
            if !real.contains(&root) {
                real.push(root);
            }
        }
        let pins = real.iter().map(|root| Inode::at(root)).collect();
        Self { real, pins, private: Private::default() }
    }

    /// The same, but for what the client keeps for itself.
    pub fn without(self, private: Private) -> Self {
        Self { private, ..self }
    }

    /// What the client keeps for itself.
    pub fn private(&self) -> &Private {
        &self.private
    }

    /// The real roots, in the order given.
    pub fn paths(&self) -> &[PathBuf] {
        &self.real
    }

    /// Decides whether a path lies inside the roots and is none that the client keeps for itself; it need not exist.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<Resolved, FsError> {
        let asked = path.as_ref();
        let real = decided(asked)?;
        // The innermost root: fewest names to walk, and nested roots stay equal.
        let around = self.real.iter().zip(&self.pins).filter(|(root, _)| real.starts_with(root));
        let root = around.max_by_key(|(root, _)| root.components().count());
        let (root, pin) = root.ok_or_else(|| FsError::Outside(asked.to_owned()))?;
        if Inode::at(root).is_some_and(|is| Some(is) != *pin) {
            return Err(FsError::Replaced(root.clone()));
        }
        self.below(asked, real, (root.clone(), *pin))
    }

    /// The same without roots: for what the person has been asked about, or has named in a rule.
    pub fn anywhere(&self, path: impl AsRef<Path>) -> Result<Resolved, FsError> {
        let asked = path.as_ref();
        self.below(asked, decided(asked)?, (PathBuf::from("/"), None))
    }

    fn below(&self, asked: &Path, real: PathBuf, (root, pin): (PathBuf, Option<Inode>)) -> Result<Resolved, FsError> {
        if self.private.holds(&real) {
            return Err(FsError::Private(asked.to_owned()));
        }
        let inside = real.strip_prefix(&root).map_err(|_| FsError::Outside(asked.to_owned()))?;
        let names = inside.iter().map(OsStr::to_owned).collect();
        Ok(Resolved { asked: asked.to_owned(), real, root, pin, names })
    }
}

/// What a path is that can be one.
fn decided(asked: &Path) -> Result<PathBuf, FsError> {
    let bytes = asked.as_os_str().as_bytes();
    if bytes.contains(&0) {
        return Err(FsError::BadPath("it contains a NUL byte"));
    }
    if bytes.len() > MAX_PATH_BYTES {
        return Err(FsError::BadPath("it is too long"));
    }
    if !asked.is_absolute() {
        return Err(FsError::Relative(asked.to_owned()));
    }
    real_path(asked).ok_or_else(|| FsError::Outside(asked.to_owned()))
}

/// What is left to walk of a path.
enum Step {
    Up,
    Root,
    Name(OsString),
}

fn steps(path: &Path) -> impl DoubleEndedIterator<Item = Step> + '_ {
    path.components().filter_map(|component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    })
}

/// The path with all links followed, also where its end does not exist. `None`: it cannot be decided.
pub(super) fn real_path(path: &Path) -> Option<PathBuf> {
    let mut todo: VecDeque<Step> = steps(path).collect();
    let mut real = PathBuf::from("/");
    let mut links = 0;
    let mut taken = 0;
    while let Some(step) = todo.pop_front() {
        taken += 1;
        if taken > MAX_STEPS {
            return None;
        }
        match step {
            Step::Root => real = PathBuf::from("/"),
            // `real` holds no link, so its parent is what the kernel would go to.
            Step::Up => {
                real.pop();
            }
            Step::Name(name) => {
                let too_long = name.len() > MAX_NAME_BYTES;
                real.push(name);
                match real.symlink_metadata() {
                    Ok(meta) if meta.file_type().is_symlink() => {
                        links += 1;
                        let target = real.read_link().ok().filter(|_| links <= MAX_LINKS)?;
                        real.pop();
                        for step in steps(&target).rev() {
                            todo.push_front(step);
                        }
                    }
                    Ok(_) => {}
                    // Nothing there (or below a file): no link can hide in it; opening it will say so.
                    Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                    // No file system holds such a name, so no link has it.
                    Err(_) if too_long => {}
                    Err(_) => return None,
                }
            }
        }
    }
    Some(real)
}
