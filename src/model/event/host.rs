//! Facts of this machine: processes, files, terminals, the review.
//!
//! Plain data that a journal holds; knows of no session. Invariant: what happened is said once, in the order it happened.

use super::{AGENT, SESSION};
use crate::base::transport::{Reached, Transport};
use crate::model::budget::Budget;
use crate::model::changes::ReviewEvent;
use crate::model::confined::Confined;
use crate::model::ids::{Address, EntryId, ReqId, TermId};
use crate::model::past::Recalled;
use crate::model::permission_mode::ModeChoice;
use crate::model::refusal::Refusal;
use crate::model::ruling::{MadeRule, Ruling, Weighing};
use crate::model::tool::Exit;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What happened on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HostEvent {
    /// What may be spent, and what was before this.
    Budget(Box<Budget>),
    /// What was spent on this day, by other programs too.
    Spent(f64),
    /// By the machine's clock, which was set or went on while the machine slept, the program was started then, counted
    /// from 1970.
    ClockSet(Duration),
    /// Further directories for the sessions of the first one's, absolute.
    Directories(Vec<String>),
    AgentSpawned {
        pid: u32,
    },
    /// What is started next can do only this.
    AgentConfined(Box<Confined>),
    /// It is not started: a connection to its address is being opened.
    Connecting(Reached),
    /// It is reached over something else than what was tried first.
    ReachedOver(Transport),
    /// A turn was answered with one message: the agent can ask for nothing on the way.
    AsksNothing,
    SpawnFailed {
        message: String,
        hint: String,
    },
    AgentExited {
        exit: Exit,
        stderr: Vec<String>,
    },
    /// A line on stderr while the person logs in.
    LogInPrinted {
        line: String,
    },
    /// The command of a log-in runs; what it prints and what is typed into it is told nowhere.
    LogInStarted {
        term: TermId,
    },
    LogInFailed {
        message: String,
    },
    LogInEnded {
        term: TermId,
        exit: Exit,
    },
    /// The values of variables for this log-in were put into the environment of the agent.
    LogInSet {
        method: String,
        vars: Vec<String>,
    },
    /// What the system's keyring has for an agent was put into its environment, before it is started for the first time.
    KeyringGave {
        vars: Vec<String>,
    },
    /// What was typed is kept in the system's keyring, or why it is good for this run only.
    KeyringTook {
        vars: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
    /// The system's keyring has nothing more of the agent, or why it still has.
    KeyringForgot {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
    /// The person has typed what this way to log in asks for; it is sent, and kept in memory.
    LogInTyped {
        method: String,
    },
    /// stdout is at its end although the process lives on.
    StdoutClosed {
        stderr: Vec<String>,
    },
    /// The connection to an agent behind an address is at its end, or never came about.
    ConnectionLost {
        why: String,
        /// In so many seconds its server may be asked again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
    /// We closed the connection ourselves, and why.
    ConnectionDropped {
        why: String,
    },
    /// Not a byte came from it in answer to a line: it is started once more, with lengths before its messages.
    NothingHeard,
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
    /// A command of the person's runs.
    ShellStarted {
        term: TermId,
        line: String,
    },
    ShellFailed {
        line: String,
        message: String,
    },
    /// The screen of a terminal has changed; told at most once a second.
    TerminalMoved {
        term: TermId,
    },
    /// Servers of tools that there are for the session, by their names; those that are switched off among them.
    ServersFound(Vec<String>),
    /// Where a write that the person is to be asked about would go, or why it cannot be done.
    WriteChecked {
        req: ReqId,
        path: String,
        /// With every link followed; nothing where that is no text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        real: Option<String>,
        /// That is outside of the session's directories.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        outside: bool,
        result: Result<(), Refusal>,
    },
    /// The decision hook is asked about a request, which takes a while.
    HookAsked {
        req: ReqId,
    },
    /// What the rules say of a request.
    Ruled {
        req: ReqId,
        ruling: Ruling,
    },
    /// A call has done by itself what the rules deny.
    RanDenied {
        entry: EntryId,
        ruling: Ruling,
    },
    /// What rules would do that the person thinks of.
    RulesWeighed(Weighing),
    /// Rules that the person has made hold now; they are not kept yet.
    RulesHeld(Vec<MadeRule>),
    /// Rules that the person has made hold and are kept, or why they are not.
    RulesMade {
        made: Vec<MadeRule>,
        /// They hold, but could not be kept.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unkept: Vec<MadeRule>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
    /// Those that are kept and hold in this session.
    RulesKept(Vec<MadeRule>),
    /// A rule holds no more, or why it still does.
    RuleDropped {
        rule: MadeRule,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
    /// The rules of the session have been changed elsewhere in this program.
    RulesChanged,
    /// The command line has chosen it.
    PermissionMode(ModeChoice),
    JournalFailed {
        message: String,
    },
    /// The disk is full; what is to be written waits.
    JournalWaits {
        message: String,
    },
    /// There is room for it again.
    JournalGoesOn {
        message: String,
    },
    /// What earlier journals have of a session, part by part.
    Recalled(Recalled),
    /// How long ago its agent has opened the session that is to go on, where nothing else is read of it.
    OpenedBefore {
        age: Duration,
    },
    /// Something to say at the start, such as a mistake in the configuration.
    Warning {
        message: String,
    },
    /// In a journal it stands for itself.
    #[serde(untagged)]
    Review(ReviewEvent),
}

impl HostEvent {
    /// Where it belongs while there is one agent with one session.
    pub fn home(&self) -> Address {
        match self {
            Self::AgentSpawned { .. }
            | Self::AgentConfined(_)
            | Self::Connecting(_)
            | Self::ReachedOver(_)
            | Self::AsksNothing
            | Self::ConnectionLost { .. }
            | Self::SpawnFailed { .. }
            | Self::AgentExited { .. }
            | Self::LogInPrinted { .. }
            | Self::LogInStarted { .. }
            | Self::LogInFailed { .. }
            | Self::LogInEnded { .. }
            | Self::LogInSet { .. }
            | Self::LogInTyped { .. }
            | Self::KeyringGave { .. }
            | Self::KeyringTook { .. }
            | Self::KeyringForgot { .. }
            | Self::StdoutClosed { .. }
            | Self::ConnectionDropped { .. }
            | Self::NothingHeard => AGENT,
            Self::JournalFailed { .. }
            | Self::JournalWaits { .. }
            | Self::JournalGoesOn { .. }
            | Self::Warning { .. }
            | Self::Budget(_)
            | Self::Spent(_)
            | Self::ClockSet(_)
            | Self::Directories(_) => Address::All,
            _ => SESSION,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteFact {
    pub created: bool,
    pub bytes: u64,
    pub old: Option<String>,
    /// Where it really was written, of what lies outside of the session's directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_review_says_stands_for_itself_in_a_journal() {
        let held = HostEvent::Review(ReviewEvent::WriteHeld { req: ReqId(7) });
        let text = serde_json::to_string(&held).unwrap();
        assert_eq!(text, r#"{"WriteHeld":{"req":7}}"#);
        assert_eq!(serde_json::from_str::<HostEvent>(&text).unwrap(), held);
        let spawned = r#"{"AgentSpawned":{"pid":1}}"#;
        assert_eq!(serde_json::from_str::<HostEvent>(spawned).unwrap(), HostEvent::AgentSpawned { pid: 1 });
        let older = r#"{"WriteChecked":{"req":7,"path":"/a","result":{"Ok":null}}}"#;
        let checked =
            HostEvent::WriteChecked { req: ReqId(7), path: "/a".into(), real: None, outside: false, result: Ok(()) };
        assert_eq!(serde_json::from_str::<HostEvent>(older).unwrap(), checked);
        assert!(serde_json::from_str::<HostEvent>(r#"{"NoSuchThing":{}}"#).is_err());
    }
}
