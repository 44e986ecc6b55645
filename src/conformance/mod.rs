//! What an agent does with the protocol, tried step by step, and where it does something else.
//!
//! Speaks to the agent by itself, without engine and model: it has to see what those would make up for, and to send what
//! they never send. Runs no command for the agent and serves no file outside of its directory. Invariants: every step is
//! over within its time, whatever the agent does; each violation bears the number of a requirement and the message that
//! shows it.

mod begin;
mod report;
mod second;
mod serve;
mod suite;
mod talk;
mod under;

pub use begin::run;
pub use report::{Finding, Report, Step, Verdict};

use crate::host::process::AgentSpec;
use crate::model::policy::Allow;
use crate::wire::framing::Framing;
use std::time::Duration;

/// Of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    #[default]
    One,
    Two,
}

/// What is tried.
#[derive(Debug)]
pub struct Asked {
    pub agent: AgentSpec,
    pub version: Version,
    pub framing: Framing,
    /// Of the turn that ends, and of the one that is cancelled.
    pub prompts: [String; 2],
    /// What its questions are answered with.
    pub allow: Allow,
    pub limits: Limits,
    /// The session's directory.
    pub cwd: String,
}

/// How long each step may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Package runners download the agent now.
    pub initialize: Duration,
    pub session: Duration,
    pub prompt: Duration,
    /// Without a sign of work the turn is cancelled all the same.
    pub quiet: Duration,
    /// From the cancellation to the end of the turn.
    pub cancel: Duration,
    /// The answer to what it does not know.
    pub error: Duration,
    pub load: Duration,
    /// What of the history comes after its end.
    pub afterwards: Duration,
    /// From the end of its input to its own.
    pub exit: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            initialize: Duration::from_mins(1),
            session: Duration::from_mins(1),
            prompt: Duration::from_mins(3),
            quiet: Duration::from_secs(5),
            cancel: Duration::from_secs(10),
            error: Duration::from_secs(20),
            load: Duration::from_mins(1),
            afterwards: Duration::from_secs(1),
            exit: Duration::from_secs(3),
        }
    }
}

impl Limits {
    /// None of them longer than this.
    #[must_use]
    pub fn within(self, most: Duration) -> Self {
        let Self { initialize, session, prompt, quiet, cancel, error, load, afterwards, exit } = self;
        let [initialize, session, prompt, quiet, cancel, error, load, afterwards, exit] =
            [initialize, session, prompt, quiet, cancel, error, load, afterwards, exit].map(|limit| limit.min(most));
        Self { initialize, session, prompt, quiet, cancel, error, load, afterwards, exit }
    }
}
