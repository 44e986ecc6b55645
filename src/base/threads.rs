//! Work that several threads share, as far as the system gives any: an account may have no more of them.
//!
//! Starts nothing that goes on. Invariant: all of the work is done, by this thread alone where there is no other.

use std::io;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, Builder};

/// Both results, of which another thread finds out the first meanwhile; nothing where that died.
pub fn both<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (Option<A>, B) {
    let other = Mutex::new(Some(other));
    let work = || {
        let work = other.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.map(|work| work())
    };
    thread::scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, work);
        let mine = own();
        (thread.map_or_else(|_| work(), |thread| thread.join().ok().flatten()), mine)
    })
}

/// What each of so many threads has come to, this one among them; nothing for one that died.
pub fn share<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<Option<T>> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, &work).ok()).collect();
        let mine = work();
        std::iter::once(Some(mine)).chain(others.into_iter().map(|other| other.join().ok())).collect()
    })
}

/// Fails where so many further threads cannot be had at the same time.
pub fn room(threads: usize) -> io::Result<()> {
    let (is_over, news) = (Mutex::new(false), Condvar::new());
    let wait = || {
        let over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
        drop(news.wait_while(over, |over| !*over));
    };
    thread::scope(|scope| {
        let all = (0..threads).try_for_each(|_| Builder::new().spawn_scoped(scope, wait).map(drop));
        *is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        news.notify_all();
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_of_the_work_is_done_whatever_becomes_of_the_others() {
        assert_eq!(both(|| 1, || "own"), (Some(1), "own"));
        assert_eq!(both(|| std::panic::resume_unwind(Box::new(())), || 2), (None::<()>, 2));
        let next = AtomicUsize::new(0);
        let work = || std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < 100)).count();
        let done = share(4, work);
        assert_eq!((done.len(), done.into_iter().flatten().sum::<usize>()), (4, 100));
        assert_eq!(share(1, || 5), [Some(5)]);
        room(4).unwrap();
    }
}
