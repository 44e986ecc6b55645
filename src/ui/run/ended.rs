//! How a run of the screen ended, for the caller to say.
//!
//! Knows nothing of the screen: that is gone by then.

use crate::engine::Goodbye;
use crate::engine::wait::Signal;
use crate::ui::labels::GoesOn;

/// Why the screen ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    Quit,
    Signal(Signal),
    /// The terminal does not take or give anything any more.
    TerminalGone,
}

impl Exit {
    /// Nobody is there who would read what is said at the end.
    pub const fn hangs_up(self) -> bool {
        match self {
            Self::Quit => false,
            Self::Signal(signal) => signal.hangs_up(),
            Self::TerminalGone => true,
        }
    }
}

/// How it all ended, for the caller to say once the terminal is the person's again.
#[derive(Debug)]
pub struct Ended {
    pub exit: Exit,
    pub goodbye: Goodbye,
    /// Sessions that can be gone on with.
    pub can_go_on: Vec<GoesOn>,
    /// Hunks without a decision in the session that was shown.
    pub undecided: u64,
    /// Something was said in a session.
    pub has_talked: bool,
}

impl Ended {
    /// Before anything was opened.
    pub fn early(exit: Exit) -> Self {
        Self { exit, goodbye: Goodbye::default(), can_go_on: Vec::new(), undecided: 0, has_talked: false }
    }
}
