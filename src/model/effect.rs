//! What the reducer wants done; data only, the engine does it.

use super::event::{CallError, Link, PromptResult, TerminalSpec, Timer};
use super::ids::{ReqId, SessionId, TermId, TurnId};
use super::options::OptionValue;
use super::tool::Exit;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    SpawnAgent,
    /// End the agent process: close stdin, TERM, KILL.
    EndAgent,
    /// Kill the agent's group at once; the person asked for it.
    KillAgent,
    Call(Call),
    /// `session/cancel`.
    CancelTurn(SessionId),
    /// `$/cancel_request` for an `authenticate` that the person has left.
    WithdrawAuthenticate,
    Respond {
        req: ReqId,
        answer: Answer,
    },
    /// Forget a request of a dead agent without an answer.
    Void(ReqId),
    FsRead {
        req: ReqId,
        path: String,
        line: Option<u32>,
        limit: Option<u32>,
    },
    FsWrite {
        req: ReqId,
        path: String,
        content: Arc<str>,
    },
    TerminalCreate {
        req: ReqId,
        spec: TerminalSpec,
    },
    /// Answered from the terminal's kept output.
    TerminalOutput {
        req: ReqId,
        term: TermId,
    },
    TerminalKill(TermId),
    TerminalRelease(TermId),
    StartTimer {
        timer: Timer,
        after: Duration,
    },
    FrontEnd(FrontEnd),
}

/// A request to the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Initialize,
    NewSession,
    Prompt { session: SessionId, turn: TurnId, text: String, links: Vec<Link> },
    SetMode { session: SessionId, mode: String },
    SetOption { session: SessionId, option: String, value: OptionValue },
    Authenticate { method: String },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Empty,
    Selected(String),
    Cancelled,
    Content(String),
    Terminal(TermId),
    Exit(Exit),
    Error(CallError),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// The agent's answer to the prompt.
    Stopped(PromptResult),
    Failed(CallError),
    /// The agent is gone.
    Gone,
}

/// News for whoever holds the engine.
#[derive(Clone, Debug, PartialEq)]
pub enum FrontEnd {
    /// Prompts that were held and go back to the composer.
    Returned(String),
    /// A turn ended.
    TurnEnded(TurnId, Ended),
    /// A permission request arrived.
    Asked(ReqId),
    /// A request closed without the person's answer, and why.
    Withdrawn(String),
}
