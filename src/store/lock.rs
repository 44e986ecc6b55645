//! A lock on a file, held until it is dropped.
//!
//! Keeps every other descriptor out, of this process or another. Invariant: once it is dropped the file is free, although
//! a copy of the descriptor may still be open: a child that another thread starts at that moment has one until it runs
//! its program.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::ops::Deref;
use std::time::Duration;

#[derive(Debug)]
pub struct Lock(File);

/// How often one is tried for that others only look at, and how long between.
const LOOKS: u32 = 200;
const LOOK: Duration = Duration::from_millis(1);

impl Lock {
    /// Does not wait for its holder; one that is only looked at, see [`is_locked`], is free in a moment.
    pub fn take(file: File) -> Result<Self, TryLockError> {
        Self::take_between(file, || std::thread::park_timeout(LOOK))
    }

    fn take_between(file: File, mut pause: impl FnMut()) -> Result<Self, TryLockError> {
        for _ in 0..LOOKS {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if !is_locked(&file) => pause(),
                taken => return taken.map(|()| Self(file)),
            }
        }
        Err(TryLockError::WouldBlock)
    }

    /// Waits for its holder or for a look at it, see [`is_locked`]. On a disk without locks it is always free.
    pub fn wait(file: File) -> Self {
        let _ = file.lock();
        Self(file)
    }
}

/// Whether another process holds a lock on it. Those who ask at the same time do not see each other.
pub fn is_locked(file: &File) -> bool {
    let probe = file.try_lock_shared();
    // What cannot be unlocked was not locked, or is free as soon as it is closed.
    let _ = probe.is_ok().then(|| file.unlock());
    matches!(probe, Err(TryLockError::WouldBlock))
}

impl Deref for Lock {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Write for Lock {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing it does the rest.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_free_although_a_child_has_a_copy_of_the_descriptor() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let lock = Lock::take(File::create(&path).unwrap()).unwrap();
        let of_child = lock.try_clone().unwrap();
        let other = || File::open(&path).unwrap();
        assert!(matches!(Lock::take(other()), Err(TryLockError::WouldBlock)));
        assert!(is_locked(&other()));
        drop(lock);
        assert!(!is_locked(&other()));
        let again = Lock::take(other()).unwrap();
        drop(of_child);
        assert!(is_locked(&other()), "held by the next one alone");
        drop(again);
    }

    #[test]
    fn one_that_is_only_looked_at_can_be_taken() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let look = file.reopen().unwrap();
        look.try_lock_shared().unwrap();
        let taken = Lock::take_between(file.reopen().unwrap(), || look.unlock().unwrap());
        drop(taken.unwrap());
        let held = Lock::take(file.reopen().unwrap()).unwrap();
        let waits = || panic!("nothing is waited for that is held");
        let refused = Lock::take_between(file.reopen().unwrap(), waits);
        assert!(matches!(refused, Err(TryLockError::WouldBlock)));
        drop(held);
    }

    #[test]
    fn a_look_at_it_locks_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (one, other) = (file.reopen().unwrap(), file.reopen().unwrap());
        assert!(!is_locked(&one));
        assert!(!is_locked(&other));
        assert!(Lock::take(file.reopen().unwrap()).is_ok(), "both are still open");
    }
}
