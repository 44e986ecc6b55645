//! A lock on a file, held until it is dropped.
//!
//! Keeps every other descriptor out, of this process or another. Invariant: once it is dropped the file is free, although
//! a copy of the descriptor may still be open: a child that another thread starts at that moment has one until it runs
//! its program.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::ops::Deref;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Lock(File);

/// How long one is tried for that others only look at: a look takes microseconds, unless its process is held up.
const LOOKS: Duration = Duration::from_millis(200);
/// How long its holder is waited for who writes a small file.
const PATIENCE: Duration = Duration::from_secs(1);

impl Lock {
    /// Does not wait for its holder; one that is only looked at, see [`is_locked`], is free in a moment.
    pub fn take(file: File) -> Result<Self, TryLockError> {
        Self::take_between(file, std::thread::yield_now)
    }

    fn take_between(file: File, mut pause: impl FnMut()) -> Result<Self, TryLockError> {
        let tried = Instant::now();
        loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if tried.elapsed() < LOOKS && !is_locked(&file) => pause(),
                taken => return taken.map(|()| Self(file)),
            }
        }
    }

    /// Waits for its holder, but not for one who never lets go. On a disk without locks it is always free.
    ///
    /// # Errors
    /// Its holder has not let go of it in time.
    pub fn within(file: File) -> io::Result<Self> {
        Self::within_time(file, PATIENCE)
    }

    fn within_time(file: File, patience: Duration) -> io::Result<Self> {
        let other = match file.try_lock() {
            Err(TryLockError::WouldBlock) => file.try_clone()?,
            _ => return Ok(Self(file)),
        };
        let (tell, told) = sync_channel(1);
        // It waits for as long as the holder has it. Of a lock that comes too late nobody has the file open any more.
        thread::Builder::new().name("lock".into()).spawn(move || {
            let _ = other.lock();
            let _ = tell.send(());
        })?;
        let late = || io::Error::new(io::ErrorKind::TimedOut, "another process holds the lock on it");
        told.recv_timeout(patience).map(|()| Self(file)).map_err(|_| late())
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
    fn one_that_is_held_is_waited_for_but_not_for_ever() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let held = Lock::take(file.reopen().unwrap()).unwrap();
        let late = Lock::within_time(file.reopen().unwrap(), Duration::from_millis(20));
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let other = file.reopen().unwrap();
        let waits = thread::spawn(move || Lock::within_time(other, Duration::from_mins(1)).map(drop));
        drop(held);
        waits.join().unwrap().unwrap();
        // Who was late has let go.
        drop(Lock::within_time(file.reopen().unwrap(), Duration::from_mins(1)).unwrap());
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
