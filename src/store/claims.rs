//! Who goes on with a session: at most one acp-tui at a time, from before its agent is asked.
//!
//! Knows no agent; a session is known by the command line of its agent and its id. Invariants: a claim is held by a lock,
//! so it ends with the process, however that ends; what a file says is only told, never trusted.

use super::lines;
use super::lock::Lock;
use super::private;
use crate::base::digest::digest;
use crate::base::human::ago;
use crate::base::sanitize;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of a file that are read: the first line of a journal, or all of a claim.
const MAX_HEAD: u64 = 64 << 10;
/// Who is faster than us so often is let be.
const TRIES: usize = 16;

/// An acp-tui that has a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    #[serde(default)]
    pub terminal: Option<String>,
    /// In seconds since 1970.
    pub since: u64,
}

impl Holder {
    pub fn me() -> Self {
        let terminal = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            pid: std::process::id(),
            terminal: terminal.and_then(|name| name.into_string().ok()),
            since: now.as_secs(),
        }
    }

    /// Whether it is this process, or an earlier one that had its number.
    pub fn is_me(&self) -> bool {
        self.pid == std::process::id()
    }

    /// As part of a sentence: where a session is open.
    pub fn words(&self) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let terminal = self.terminal.as_ref().map(|name| format!(" on {}", sanitize::line(name))).unwrap_or_default();
        let begun = ago(now.saturating_sub(self.since));
        format!("another acp-tui (process {}{terminal}, begun {begun})", self.pid)
    }
}

/// Who writes this journal, as its first line says.
pub fn writer_of(journal: &Path) -> Option<Holder> {
    #[derive(Deserialize)]
    struct Head {
        holder: Holder,
    }
    let head = beginning(journal)?;
    let end = memchr::memchr(b'\n', &head)?;
    serde_json::from_slice(head.get(..end)?).ok().map(|head: Head| head.holder)
}

fn beginning(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    lines::open(path).ok()?.take(MAX_HEAD).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Held until it is dropped.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    _lock: Lock,
}

#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Nothing where it does not say.
    #[error("somebody else has it")]
    Held(Option<Holder>),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Claims a session of this agent for this process. `state` is acp-tui's directory for state.
pub fn claim(state: &Path, agent: &str, id: &str, holder: &Holder) -> Result<Claim, Refused> {
    let dir = state.join("open");
    private::make_private_dir(&dir)?;
    let path = dir.join(format!("{:016x}", digest(&[agent.as_bytes(), id.as_bytes()])));
    for _ in 0..TRIES {
        let file =
            private::open_as(private::private_file().read(true).write(true).create(true).truncate(false), &path)?;
        let mut lock = match Lock::take(file) {
            Ok(lock) => lock,
            Err(TryLockError::WouldBlock) => return Err(Refused::Held(held(&path))),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        };
        // Its holder may have removed it meanwhile; then another process makes it anew.
        if !is_still(&path, &lock) {
            continue;
        }
        lock.set_len(0)?;
        serde_json::to_writer(&mut lock, holder).map_err(io::Error::from)?;
        lock.flush()?;
        return Ok(Claim { path, _lock: lock });
    }
    Err(Refused::Held(None))
}

fn is_still(path: &Path, file: &File) -> bool {
    let (Ok(there), Ok(ours)) = (path.symlink_metadata(), file.metadata()) else { return false };
    (there.dev(), there.ino()) == (ours.dev(), ours.ino())
}

fn held(path: &Path) -> Option<Holder> {
    serde_json::from_slice(&beginning(path)?).ok()
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While it is still locked. One that is left does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn me(pid: u32) -> Holder {
        Holder { pid, terminal: Some("/dev/pts/1".into()), since: 7 }
    }

    #[test]
    fn a_session_is_of_one_at_a_time_and_says_of_whom() {
        let dir = tempfile::tempdir().unwrap();
        let claim = |id: &str, pid| claim(dir.path(), "agent --acp", id, &me(pid));
        let first = claim("s", 1).unwrap();
        assert!(matches!(claim("s", 2), Err(Refused::Held(Some(holder))) if holder == me(1)));
        claim("t", 3).unwrap();
        drop(first);
        let second = claim("s", 2).unwrap();
        assert!(matches!(claim("s", 1), Err(Refused::Held(Some(holder))) if holder == me(2)));
        fs::write(&second.path, "garbage").unwrap();
        assert!(matches!(claim("s", 1), Err(Refused::Held(None))));
        drop(second);
        assert_eq!(dir.path().join("open").read_dir().unwrap().count(), 0);
        // What a killed process has left is in no one's way.
        fs::write(dir.path().join(format!("open/{:016x}", digest(&[b"agent --acp", b"s"]))), "{}").unwrap();
        claim("s", 1).unwrap();
    }

    #[test]
    fn of_many_who_come_at_once_and_go_again_never_two_have_it() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for pid in 0..4 {
                let (dir, inside, taken) = (dir.path(), &inside, &taken);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let Ok(claim) = claim(dir, "agent", "s", &me(pid)) else { continue };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        taken.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(claim);
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
    }
}
