//! How a process ended, and the words for it.
//!
//! Knows nothing of agents, terminals and the system's calls. Invariant: a signal counts before a code.

use std::fmt;

/// How a process ended: a code, or the conventional name of a signal ("SIGKILL").
#[derive(Clone, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Exit {
    pub code: Option<i64>,
    pub signal: Option<String>,
}

impl Exit {
    /// Agents say that a command has ended without saying how.
    pub const fn is_known(&self) -> bool {
        self.code.is_some() || self.signal.is_some()
    }

    pub fn is_success(&self) -> bool {
        self.code == Some(0) && self.signal.is_none()
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.signal, self.code) {
            (Some(signal), _) => write!(f, "killed by {signal}"),
            (None, Some(code)) => write!(f, "exit {code}"),
            (None, None) => f.write_str("ended"),
        }
    }
}
