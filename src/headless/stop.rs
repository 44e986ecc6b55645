//! What stops work: signals and time that is over, also of work which waits for nothing, an undo of many files.
//!
//! Only notes that one has come; the work looks. Invariant: from [`Stop::listen`] on such a signal no longer ends the
//! program by itself.

use super::code;
use crate::engine::wait::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

/// How much longer the review may take once `--timeout` is over or a signal came.
const REVIEW_GRACE: Duration = Duration::from_millis(250);
/// The latest end of that after the time given: the agent may have taken a part of the two seconds within which all ends.
const REVIEW_LATEST: Duration = Duration::from_millis(750);

/// Until when the review may look at what is left, where work was stopped now; `deadline` is the time given.
pub(super) fn look_until(now: Instant, deadline: Option<Instant>) -> Instant {
    let soon = now + REVIEW_GRACE;
    deadline.map_or(soon, |deadline| soon.min(deadline + REVIEW_LATEST))
}

/// Whether the work is to stop.
#[derive(Clone)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// # Errors
    /// The system does not let us listen.
    pub fn listen() -> io::Result<Self> {
        let stop = Self(Arc::new(AtomicU8::new(code::OK)));
        let asked = Arc::clone(&stop.0);
        each(move |code| asked.store(code, Ordering::Release))?;
        Ok(stop)
    }

    /// The exit code of a stop that was asked for.
    pub fn asked(&self) -> Option<u8> {
        let code = self.0.load(Ordering::Acquire);
        (code != code::OK).then_some(code)
    }
}

/// Tells of each of them, by its exit code, from now on.
///
/// # Errors
/// The system does not let us listen.
pub fn each(mut heard: impl FnMut(u8) + Send + 'static) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _here = runtime.enter();
        Signals::listen()?
    };
    // It ends with the program.
    thread::Builder::new().name("signals".into()).spawn(move || {
        loop {
            heard(runtime.block_on(signals.next()).exit_code());
        }
    })?;
    Ok(())
}

/// Ends with the signal that ends the program, and gives its exit code.
///
/// # Errors
/// The system does not let us listen.
pub async fn interrupted() -> io::Result<u8> {
    Ok(Signals::listen()?.next().await.exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_end_of_the_agent_is_taken_from_the_time_of_the_review() {
        let (now, at) = (Instant::now(), Duration::from_millis);
        assert_eq!(look_until(now, None), now + at(250));
        assert_eq!(look_until(now, Some(now)), now + at(250));
        assert_eq!(look_until(now, Some(now + at(5000))), now + at(250), "a signal");
        assert_eq!(look_until(now + at(1500), Some(now)), now + at(750));
    }
}
