//! What this program may do with a directory, and what others may.
//!
//! Changes nothing. Invariant: what is said is of the directory itself, not of a link to it.

use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// The permission bits.
    pub mode: u32,
    pub is_own: bool,
    pub can_write: bool,
}

impl Rights {
    /// Nothing where there is no directory.
    ///
    /// # Errors
    /// When it cannot be looked at, or is something else.
    pub fn of(dir: &Path) -> io::Result<Option<Self>> {
        let meta = match dir.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            meta => meta?,
        };
        if !meta.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let can_write = access(dir, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        Ok(Some(Self { mode: meta.mode() & 0o7777, is_own: meta.uid() == geteuid().as_raw(), can_write }))
    }

    /// Whether others than the owner may look into it.
    pub fn is_open(&self) -> bool {
        self.mode & 0o077 != 0
    }
}
