//! Facts of this machine: processes, files, terminals, the review.
//!
//! Plain data that a journal holds; knows of no session. Invariant: what happened is said once, in the order it happened.

use super::{AGENT, SESSION};
use crate::model::changes::{HeldOutcome, ReviewDoc, Rewound, Totals, Truth};
use crate::model::ids::{Address, ReqId, TermId, TurnId};
use crate::model::refusal::Refusal;
use crate::model::tool::Exit;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What happened on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HostEvent {
    AgentSpawned {
        pid: u32,
    },
    SpawnFailed {
        message: String,
        hint: String,
    },
    AgentExited {
        exit: Exit,
        stderr: Vec<String>,
    },
    /// A line on stderr while somebody logs in.
    LogInPrinted {
        line: String,
    },
    /// stdout is at its end although the process lives on.
    StdoutClosed {
        stderr: Vec<String>,
    },
    /// We closed the connection ourselves, and why.
    ConnectionDropped {
        why: String,
    },
    FileRead {
        req: ReqId,
        path: String,
        result: Result<String, Refusal>,
    },
    FileWritten {
        req: ReqId,
        path: String,
        result: Result<WriteFact, Refusal>,
    },
    TerminalStarted {
        req: ReqId,
        term: TermId,
    },
    TerminalFailed {
        req: ReqId,
        error: Refusal,
    },
    /// `end` is the text that is kept of its output.
    TerminalExited {
        term: TermId,
        exit: Exit,
        end: String,
    },
    /// The screen of a terminal has changed; told at most once a second.
    TerminalMoved {
        term: TermId,
    },
    /// Where a write that the person is to be asked about would go, or why it cannot be done.
    WriteChecked {
        req: ReqId,
        path: String,
        /// With every link followed; nothing where that is no text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        real: Option<String>,
        result: Result<(), Refusal>,
    },
    /// The snapshot before a prompt is finished, or why there is none.
    TurnCovered {
        turn: TurnId,
        covered: Result<(), String>,
    },
    /// A turn has been looked at after its end.
    TurnReviewed {
        turn: TurnId,
        totals: Totals,
        session: Totals,
        after: bool,
    },
    /// The sums of the session have changed.
    ChangesSeen {
        session: Totals,
        after: bool,
    },
    /// What the diffs of a question would really do, in their order. `asked` is that of the wish.
    Truths {
        req: ReqId,
        asked: u64,
        truths: Vec<Truth>,
    },
    /// A write waits for the person.
    WriteHeld {
        req: ReqId,
    },
    /// The review cannot keep what is on the disk for a write that is asked about.
    NotKept {
        req: ReqId,
    },
    /// A stopped write does not go with what the person has changed on the disk since.
    WriteAgain {
        req: ReqId,
    },
    HeldDecided {
        req: ReqId,
        outcome: HeldOutcome,
    },
    ReviewDone {
        words: String,
        rewound: Vec<Rewound>,
    },
    RewindPreviewed {
        turn: u64,
        rewound: Vec<Rewound>,
    },
    /// What the person asked of the review writes many files; so far so many.
    ReviewWrites {
        done: usize,
        of: usize,
    },
    /// The newest state of the review that the person looks at.
    ReviewShown {
        doc: Arc<ReviewDoc>,
    },
    /// What the person asked of the review was not done.
    ReviewFailed {
        message: String,
    },
    /// Something of the review did not work; `what` is its sort.
    ReviewTrouble {
        what: String,
        message: String,
    },
    /// There is no review, or none any more.
    ReviewOff {
        message: String,
    },
    JournalFailed {
        message: String,
    },
    /// Something to say at the start, such as a mistake in the configuration.
    Warning {
        message: String,
    },
}

impl HostEvent {
    /// Where it belongs while there is one agent with one session.
    pub fn home(&self) -> Address {
        match self {
            Self::AgentSpawned { .. }
            | Self::SpawnFailed { .. }
            | Self::AgentExited { .. }
            | Self::LogInPrinted { .. }
            | Self::StdoutClosed { .. }
            | Self::ConnectionDropped { .. } => AGENT,
            Self::JournalFailed { .. } | Self::Warning { .. } => Address::All,
            _ => SESSION,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteFact {
    pub created: bool,
    pub bytes: u64,
    pub old: Option<String>,
}
