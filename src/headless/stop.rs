//! What stops work: signals and time that is over, also of work which waits for nothing, an undo of many files.
//!
//! Only notes that one has come; the work looks. Invariant: from [`Stop::listen`] on such a signal no longer ends the
//! program by itself.

use super::code;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Instant;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether the work is to stop.
#[derive(Clone)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// # Errors
    /// The system does not let us listen.
    pub fn listen() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (mut interrupt, mut terminate, mut hangup) = {
            let _here = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?)
        };
        let stop = Self(Arc::new(AtomicU8::new(code::OK)));
        let asked = Arc::clone(&stop.0);
        // It ends with the program.
        thread::Builder::new().name("signals".into()).spawn(move || {
            let code = runtime.block_on(any_signal(&mut interrupt, &mut terminate, &mut hangup));
            asked.store(code, Ordering::Release);
        })?;
        Ok(stop)
    }

    /// The exit code of a stop that was asked for.
    pub fn asked(&self) -> Option<u8> {
        let code = self.0.load(Ordering::Acquire);
        (code != code::OK).then_some(code)
    }
}

pub(super) async fn any_signal(interrupt: &mut Signal, terminate: &mut Signal, hangup: &mut Signal) -> u8 {
    tokio::select! {
        _ = interrupt.recv() => code::INTERRUPTED,
        _ = terminate.recv() => code::TERMINATED,
        _ = hangup.recv() => code::TERMINATED,
    }
}

/// Ends with the signal that ends the program, and gives its exit code.
pub async fn interrupted() -> io::Result<u8> {
    let (mut interrupt, mut terminate, mut hangup) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    Ok(any_signal(&mut interrupt, &mut terminate, &mut hangup).await)
}

/// Whether it is to be over soon: the time given is over, or a signal came.
pub const fn is_cut(code: u8) -> bool {
    matches!(code, code::TIMEOUT | code::INTERRUPTED | code::TERMINATED)
}

pub(super) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
