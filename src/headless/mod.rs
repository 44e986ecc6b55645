//! The front end without a screen: one prompt in, the answer on standard output, an exit code.

mod answers;
pub mod check;
pub mod login;
mod print;
pub mod printer;
mod reading;
mod run;
pub mod said;
mod settings;
pub mod stop;
mod verdict;

pub use answers::Answers;
pub use run::{Account, ExecOptions, Outcome, Style, run};

/// Exit codes of `exec`, as the manual documents them (`docs/scripting.md`).
pub mod code {
    use crate::engine::wait::Signal;

    pub const OK: u8 = 0;
    pub const OWN_FAULT: u8 = 1;
    pub const USAGE: u8 = 2;
    pub const NOT_FINISHED: u8 = 3;
    pub const AUTH: u8 = 4;
    pub const NO_SESSION: u8 = 5;
    pub const TIMEOUT: u8 = 124;
    pub const HUNG_UP: u8 = Signal::Hangup.exit_code();
    pub const INTERRUPTED: u8 = Signal::Interrupt.exit_code();
    pub const QUIT: u8 = Signal::Quit.exit_code();
    pub const ABORTED: u8 = Signal::Abort.exit_code();
    pub const READER_GONE: u8 = 141;
    pub const TERMINATED: u8 = Signal::Terminate.exit_code();

    /// Whether it was ended from outside, where nobody reads what is said at the end.
    pub const fn hangs_up(code: u8) -> bool {
        matches!(code, HUNG_UP | ABORTED | TERMINATED)
    }

    /// Whether the run was ended before its time: by `--timeout` or a signal.
    pub const fn is_cut(code: u8) -> bool {
        matches!(code, TIMEOUT | HUNG_UP | INTERRUPTED | QUIT | ABORTED | TERMINATED)
    }
}
