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
use tokio::runtime::Builder;

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
