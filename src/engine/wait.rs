//! What every loop waits for besides news: the signals that end the program in good order, and a time.
//!
//! Only waits; what to do is the loop's business. Where there are no such signals nothing ever comes.

use std::time::Instant;

/// Ends at `deadline`, never without one.
pub async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// Why the system wants us to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    Hangup,
    Interrupt,
    Quit,
    Abort,
    Terminate,
}

impl Signal {
    /// Nobody sits there any more who has sent it with a key, and would read what is said at the end.
    pub const fn hangs_up(self) -> bool {
        matches!(self, Self::Hangup | Self::Terminate | Self::Abort)
    }

    /// As shells count it: 128 and the number of the signal.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Hangup => 129,
            Self::Interrupt => 130,
            Self::Quit => 131,
            Self::Abort => 134,
            Self::Terminate => 143,
        }
    }
}

#[cfg(unix)]
pub use here::{Signals, outlive_full_files};

#[cfg(unix)]
mod here {
    use super::Signal;
    use std::io;
    use tokio::signal::unix::{self, SignalKind, signal};

    /// From outside; the program never sends it to itself.
    const ABORT: SignalKind = SignalKind::from_raw(rustix::process::Signal::ABORT.as_raw());

    pub struct Signals {
        hangup: unix::Signal,
        interrupt: unix::Signal,
        quit: unix::Signal,
        abort: unix::Signal,
        terminate: unix::Signal,
    }

    /// Comes when a file would grow beyond what the system allows; unheard, it ends the program.
    const FILE_SIZE: SignalKind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());

    /// From now on such a write is one that fails. Programs that are started have the signal as it was: what is heard
    /// here is not inherited. Where it cannot be heard all stays as it is.
    pub fn outlive_full_files() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        if let Ok(runtime) = runtime {
            let _here = runtime.enter();
            // It is heard for as long as the program runs, also when nobody waits for it.
            let _ = signal(FILE_SIZE);
        }
    }

    impl Signals {
        pub fn listen() -> io::Result<Self> {
            Ok(Self {
                hangup: signal(SignalKind::hangup())?,
                interrupt: signal(SignalKind::interrupt())?,
                quit: signal(SignalKind::quit())?,
                abort: signal(ABORT)?,
                terminate: signal(SignalKind::terminate())?,
            })
        }

        /// May be dropped and called again.
        pub async fn next(&mut self) -> Signal {
            tokio::select! {
                Some(()) = self.hangup.recv() => Signal::Hangup,
                Some(()) = self.interrupt.recv() => Signal::Interrupt,
                Some(()) = self.quit.recv() => Signal::Quit,
                Some(()) = self.abort.recv() => Signal::Abort,
                Some(()) = self.terminate.recv() => Signal::Terminate,
                else => std::future::pending().await,
            }
        }
    }
}

#[cfg(not(unix))]
pub fn outlive_full_files() {}

#[cfg(not(unix))]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub async fn next(&mut self) -> Signal {
        std::future::pending().await
    }
}
