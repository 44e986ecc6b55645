//! What the person has written in a session and not sent, whose it is, and what was sent before.
//!
//! Plain data; knows nothing of where it is kept. Invariant: a session in which something was said has its draft to
//! itself; until then it belongs to the directory, because such a session is not worth to be found again. Of two windows
//! that show one session each has a place of its own.

use super::event::Before;
use super::ids::SessionKey;
use super::session::ReadOnly;
use super::session_ref::SessionRef;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// What is written and not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub text: String,
    /// Prompts that wait for the agent, oldest first.
    pub held: Vec<String>,
    /// What was put aside, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<String>,
    /// A command of the person's own, behind `!`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// What commands of the person's have printed and is to go along with the prompt, as it is quoted there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<String>,
    /// What was to be asked beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The mode that the session is to have again: its agent may remember the one in which a side question was answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mode: String,
    /// The conversation that it begins with an account of, for as long as nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Before>,
}

impl Draft {
    pub fn is_empty(&self) -> bool {
        let Self { text, held, aside, command, ran, questions, mode, follows: _ } = self;
        let is_empty = text.is_empty() && held.is_empty() && aside.is_empty() && command.is_empty();
        is_empty && ran.is_empty() && questions.is_empty() && mode.is_empty()
    }

    /// The prompts as one text: nothing of it is sent before the person sends it once more.
    pub fn joined(self) -> String {
        let parts = self.held.into_iter().chain(Some(self.text)).filter(|part| !part.trim().is_empty());
        parts.collect::<Vec<_>>().join("\n\n")
    }

    /// This one with another below it. Only one command can be written at a time: the other one is put aside.
    #[must_use]
    pub fn above(mut self, below: Self) -> Self {
        let Self { text, held, aside, command, ran, questions, mode, follows } = below;
        let texts = [std::mem::take(&mut self.text), text].into_iter().filter(|text| !text.trim().is_empty());
        self.text = texts.collect::<Vec<_>>().join("\n\n");
        self.held.extend(held);
        self.aside.extend(aside);
        self.ran.extend(ran);
        self.questions.extend(questions);
        if self.mode.is_empty() {
            self.mode = mode;
        }
        if self.command.is_empty() {
            self.command = command;
        } else if !command.is_empty() {
            self.aside.push(command);
        }
        self.follows = self.follows.or(follows);
        self
    }
}

/// Whose draft it is. An agent is known by its command line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Session {
        agent: String,
        id: String,
    },
    /// Of a session in which nothing was said; `key` tells those of one window apart.
    Directory {
        agent: String,
        cwd: PathBuf,
        key: SessionKey,
    },
    /// Of a session that is open in another window: what is written in this one.
    Beside {
        agent: String,
        id: String,
    },
}

impl Place {
    /// `before` is where the session's draft was: one that has had its own keeps it, also when nothing is shown of what
    /// was said in it, and until an agent that has begun anew gives it another name.
    pub fn of(session: SessionRef<'_>, before: Option<&Self>) -> Self {
        let agent = session.agent().command.clone();
        let has_own = |id: &str| {
            matches!(before, Some(Self::Session { id: own, .. }) if own == id)
                || session.is_to_go_on()
                || session.has_talked()
        };
        if let (Some(ReadOnly::Elsewhere(_)), Some(id)) = (session.read_only(), session.known_id()) {
            return Self::Beside { agent, id: id.as_str().to_owned() };
        }
        // Its agent has been started again, and has given it no name yet.
        let of_before = before.filter(|before| session.has_talked() && matches!(before, Self::Session { .. }));
        match (session.known_id().filter(|id| has_own(id.as_str())), of_before) {
            (Some(id), _) => Self::Session { agent, id: id.as_str().to_owned() },
            (None, Some(before)) => before.clone(),
            (None, None) => Self::Directory { agent, cwd: PathBuf::from(&session.cwd), key: session.key() },
        }
    }

    /// Where this window keeps what is written in a session as long as another window has it.
    pub fn beside(&self) -> Option<Self> {
        match self {
            Self::Session { agent, id } => Some(Self::Beside { agent: agent.clone(), id: id.clone() }),
            Self::Directory { .. } | Self::Beside { .. } => None,
        }
    }
}

/// A prompt that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The directory of its session.
    pub cwd: String,
    pub text: Arc<str>,
}
