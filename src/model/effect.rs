//! What the reducer wants done; data only, the engine does it.

use super::audit::Decision;
use super::changes::ReviewCommand;
use super::claims::Claims;
use super::event::{AuthKind, CallError, Item, Link, Opening, PromptResult, TerminalSpec, Timer, Words, WriteHow};
use super::form::Reply;
use super::ids::{EntryId, ReqId, SessionId, TermId, TurnId};
use super::judge::Request;
use super::options::OptionValue;
use super::refusal::Refusal;
use super::ruling::{MadeRule, NewRules, Ruled, Scope};
use super::spent::Spent;
use super::tool::Exit;
use crate::base::shared::SharedText;
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
    /// The turn of this session is to end.
    CancelTurn(SessionId),
    /// The person has left the log-in: its wait is over.
    WithdrawAuthenticate,
    /// Run the command of this way to log in, in a terminal for the person.
    LogIn(AuthKind),
    /// End it, or forget it where it has ended.
    EndLogIn(TermId),
    /// What was typed to log in is good, until then where that is known: seconds from 1970.
    KeepCredentials(Option<i64>),
    ForgetCredentials,
    /// What the system's keyring has for the agent is removed.
    ForgetKept,
    Respond {
        req: ReqId,
        answer: Answer,
    },
    /// Forget a request of a dead agent without an answer.
    Void(ReqId),
    /// The rules are to say what they think of it.
    AskRules {
        req: ReqId,
        claims: Box<Claims>,
        /// It is a file that the client reads for the agent.
        is_service_read: bool,
    },
    /// Whether the rules deny what a call has done by itself.
    LookBack(EntryId),
    /// What these rules would do, or which could be made; `waiting` is asked about now, `past` was judged before.
    WeighRules {
        req: ReqId,
        list: Ruled,
        text: Option<String>,
        waiting: Vec<(ReqId, Claims)>,
        past: Vec<Arc<Claims>>,
    },
    MakeRules(NewRules),
    /// The narrowest rule that answers this so is to hold.
    KeepAnswer {
        list: Ruled,
        claims: Box<Claims>,
        scope: Scope,
    },
    /// Which rules are kept.
    ListRules,
    DropRule(MadeRule),
    /// It was decided so.
    Audit(Box<Decision>),
    /// Where a write would go that the person is to be asked about.
    CheckWrite {
        req: ReqId,
        path: String,
    },
    FsRead {
        req: ReqId,
        request: Box<Request>,
        line: Option<u32>,
        limit: Option<u32>,
    },
    FsWrite {
        req: ReqId,
        request: Box<Request>,
        content: SharedText,
        how: WriteHow,
        entry: EntryId,
    },
    TerminalCreate {
        req: ReqId,
        request: Box<Request>,
        spec: Arc<TerminalSpec>,
    },
    /// Run this line for the person, in a terminal of its own.
    Shell(String),
    /// Answered from the terminal's kept output.
    TerminalOutput {
        req: ReqId,
        term: TermId,
    },
    TerminalKill(TermId),
    /// Only this signal is sent.
    TerminalSignal {
        term: TermId,
        signal: i32,
    },
    TerminalRelease(TermId),
    StartTimer {
        timer: Timer,
        after: Duration,
    },
    Review(ReviewCommand),
    /// Read what earlier journals have of the session of this id.
    Recall {
        id: SessionId,
        is_copy: bool,
    },
    /// Write these entries where they can be read again, and say where with a hint: memory is better used for others.
    MoveOut(Vec<EntryId>),
    FrontEnd(FrontEnd),
}

/// A request to the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Initialize,
    OpenSession(Opening),
    Prompt {
        session: SessionId,
        turn: TurnId,
        text: String,
        links: Vec<Link>,
    },
    /// Words for the turn that runs.
    Steer {
        session: SessionId,
        words: Words,
    },
    SetMode {
        session: SessionId,
        mode: String,
    },
    /// From the older list of models.
    SetModel {
        session: SessionId,
        model: String,
    },
    SetOption {
        session: SessionId,
        option: String,
        value: OptionValue,
    },
    Authenticate {
        method: String,
        attempt: u64,
    },
    /// One page; `cursor` is the agent's own, given back as it came.
    ListSessions {
        attempt: u64,
        cwd: Option<String>,
        cursor: Option<String>,
    },
    CancelItem {
        session: SessionId,
        item: Item,
    },
    LogOut,
    AuthStatus,
    CloseSession(SessionId),
    DeleteSession(SessionId),
    SetTitle {
        session: SessionId,
        title: String,
    },
}

impl Call {
    /// The same without the bytes that are not to be kept; nothing when it has none.
    pub fn without_bytes(&self) -> Option<Self> {
        match self {
            Self::Prompt { session, turn, text, links } if links.iter().any(|link| !link.content.is_link()) => {
                let links = links.iter().map(Link::without_bytes).collect();
                Some(Self::Prompt { session: session.clone(), turn: *turn, text: text.clone(), links })
            }
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Empty,
    /// A file was written.
    Written {
        bytes: u64,
        created: bool,
    },
    /// Whether a command was there to be ended.
    Signalled(bool),
    Selected(String),
    Cancelled,
    /// To a form or a page.
    Reply(Reply),
    Content {
        text: String,
        /// Of the whole file, where that was asked for.
        lines: Option<u64>,
    },
    Terminal(TermId),
    Exit(Exit),
    /// The time to wait for the exit is over.
    StillRuns,
    /// What a terminal has printed so far; the exit once it is known.
    Output {
        text: String,
        truncated: bool,
        exit: Option<Exit>,
    },
    Error(Refusal),
}

impl Answer {
    /// The same without the texts that are not to be kept; nothing when it has none.
    pub fn without_texts(&self) -> Option<Self> {
        let brief = |text: &str| format!("[{} bytes]", text.len());
        match self {
            Self::Content { text, lines } => Some(Self::Content { text: brief(text), lines: *lines }),
            Self::Output { text, truncated, exit } => {
                Some(Self::Output { text: brief(text), truncated: *truncated, exit: exit.clone() })
            }
            Self::Reply(reply) => reply.as_written().map(Self::Reply),
            _ => None,
        }
    }

    /// The same as a recording holds it, where that is not what is sent.
    pub fn as_recorded(&self) -> Option<Self> {
        if let Self::Reply(reply) = self { reply.without_secrets().map(Self::Reply) } else { None }
    }
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

/// News for the front end.
#[derive(Clone, Debug, PartialEq)]
pub enum FrontEnd {
    /// Prompts that were held and go back to the composer.
    Returned(String),
    /// A turn ended.
    TurnEnded(TurnId, Ended, Spent),
    /// A permission request arrived.
    Asked(ReqId),
    /// A turn that ended has been looked at: its changes are known.
    TurnReviewed(TurnId),
    /// What came of something that the person asked of the review.
    Said(String),
    /// Why the log-in that the person wants is not asked for at once.
    LogInWaits(&'static str),
    /// A request closed without the person's answer.
    Withdrawn(Withdrawn),
    /// The agent has forgotten who the person is, or why it has not.
    LoggedOut(Result<(), String>),
    /// The agent has forgotten this session, or why it has not.
    Deleted(SessionId, Result<(), String>),
    /// The list of an agent's sessions has ended, whole or not.
    Listed,
}

/// What happened before the person has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    ByAgent,
    TurnEnded,
    /// By the person.
    TurnStopped,
    /// By the person, who has stopped the sub-agent that asked.
    ChildStopped,
    SessionClosed,
    /// Too much came after it: it cannot be seen any more.
    OutOfSight,
    /// What is asked about cannot be shown whole any more.
    TooLarge,
    /// The call of ours that it was asked for has been answered.
    Moot,
}

impl Withdrawal {
    /// As part of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ByAgent => "the agent took it back",
            Self::TurnEnded => "the turn ended",
            Self::TurnStopped => "the turn was stopped",
            Self::ChildStopped => "its sub-agent was stopped",
            Self::SessionClosed => "the session was closed",
            Self::OutOfSight => "too much came after it",
            Self::TooLarge => "what is asked about has become too large to be shown",
            Self::Moot => "what it was for has been answered",
        }
    }
}

/// A question that is not asked any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawn {
    pub why: Withdrawal,
    /// What it was about, in the agent's words.
    pub about: String,
}
