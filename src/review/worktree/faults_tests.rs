//! Failures of the disk that a test wants, another clock of its, and no more rights than anyone has, in the thread of
//! the test and those that it starts.

use crate::host::fs::steps;
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Stat,
    Read,
}

thread_local! {
    static BEHIND: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static BEFORE: Cell<Option<(SystemTime, Duration)>> = const { Cell::new(None) };
    static LOOKS: Cell<usize> = const { Cell::new(0) };
    static FOLDS: Cell<bool> = const { Cell::new(false) };
    static WANTED: RefCell<Vec<(Way, Vec<u8>, Errno)>> = const { RefCell::new(Vec::new()) };
}

/// From now on looking at this path below the root fails, until what this gives is dropped.
pub fn on(way: Way, key: &str, errno: Errno) -> impl Drop + use<> {
    struct Off(Way, Vec<u8>);
    impl Drop for Off {
        fn drop(&mut self) {
            WANTED.with_borrow_mut(|all| all.retain(|(way, key, _)| (way, key) != (&self.0, &self.1)));
        }
    }
    WANTED.with_borrow_mut(|all| all.push((way, key.into(), errno)));
    Off(way, key.into())
}

/// How often a path was looked at.
pub fn looks() -> usize {
    LOOKS.get()
}

pub fn at(way: Way, key: &[u8]) -> Result<(), Errno> {
    LOOKS.set(LOOKS.get() + usize::from(way == Way::Stat));
    let wanted =
        |all: &Vec<(Way, Vec<u8>, Errno)>| all.iter().find(|one| one.0 == way && one.1 == key).map(|one| one.2);
    WANTED.with_borrow(wanted).map_or(Ok(()), Err)
}

/// From now on the file system does not mind how a name is spelled when it is asked for one, until what this gives is
/// dropped.
pub fn folding() -> impl Drop + use<> {
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            FOLDS.set(false);
        }
    }
    FOLDS.set(true);
    Off
}

/// The name by which a directory has what is asked for.
pub fn spelled(dir: &OwnedFd, name: &[u8]) -> Vec<u8> {
    let names = || steps::names(dir).unwrap();
    if !FOLDS.get() || names().iter().any(|is| **is == *name) {
        return name.to_vec();
    }
    names().into_iter().find(|is| is.eq_ignore_ascii_case(name)).map_or_else(|| name.to_vec(), <[u8]>::into_vec)
}

/// The clock of the files is behind the ordinary one by so much from now on; what it was until now, it dates as before.
pub fn clock_is_behind(by: Duration) {
    // What is written right after this may be dated a tick earlier.
    let now = SystemTime::now() - Duration::from_millis(10);
    BEFORE.set(Some((now, BEHIND.get())));
    BEHIND.set(by);
}

pub fn by_the_files_clock(at: SystemTime) -> SystemTime {
    let before = BEFORE.get().filter(|(until, _)| at < *until);
    at - before.map_or(BEHIND.get(), |(_, behind)| behind)
}

/// The rights of files count from now on, also for root, until what this gives is dropped.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn without_privileges() -> impl Drop + use<> {
    use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
    struct Again(CapabilitySets);
    impl Drop for Again {
        fn drop(&mut self) {
            let _ = set_capabilities(None, self.0);
        }
    }
    let all = capabilities(None).unwrap();
    let less = all.effective - CapabilitySet::DAC_OVERRIDE - CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(None, CapabilitySets { effective: less, ..all }).unwrap();
    Again(all)
}

/// Elsewhere tests are run by an ordinary user.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn without_privileges() -> impl Drop + use<> {
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {}
    }
    Nothing
}
