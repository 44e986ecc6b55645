//! Names of things inside the model. All are opaque; none is ever parsed.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Monotonic time since the client started; passed in, so that the model has no clock of its own.
pub type Now = Duration;

/// An agent that this client has started; our own counter, never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct AgentKey(pub u32);

/// A session; our own counter over all agents, never reused. The agent's own name of it is a [`SessionId`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct SessionKey(pub u32);

impl AgentKey {
    /// The one that a model begins with.
    pub const FIRST: Self = Self(0);
}

impl SessionKey {
    /// The one that a model begins with.
    pub const FIRST: Self = Self(0);
}

/// Whom a message concerns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Address {
    /// The program, and with it every session.
    All,
    Agent(AgentKey),
    Session(SessionKey),
}

impl From<AgentKey> for Address {
    fn from(key: AgentKey) -> Self {
        Self::Agent(key)
    }
}

impl From<SessionKey> for Address {
    fn from(key: SessionKey) -> Self {
        Self::Session(key)
    }
}

/// An event, an effect or news with the agent or session that it is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addressed<T> {
    pub at: Address,
    pub what: T,
}

impl<T> Addressed<T> {
    pub fn new(at: impl Into<Address>, what: T) -> Self {
        Self { at: at.into(), what }
    }
}

/// A transcript entry of one session. Never reused, never reordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct EntryId(pub u64);

/// A request of an agent that waits for our answer; our own counter over all agents, since wire ids may repeat.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ReqId(pub u64);

/// A prompt turn of one session, counted over all sessions: two of them never have the same number. 0 is the time
/// before the first prompt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct TurnId(pub u64);

macro_rules! opaque {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

opaque!(
    /// The agent's name of a session.
    SessionId
);
opaque!(
    /// The agent's name of a tool call; comes back in later turns with some agents.
    ToolId
);
opaque!(
    /// A name that is given to a terminal.
    TermName
);

/// A terminal of a session, by its owner and the owner's name of it. Two owners may give the same name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "TermName", into = "TermName")]
pub struct TermId {
    owner: Owner,
    name: TermName,
}

/// Who runs what is in a terminal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Owner {
    /// We do (`term-1`). Only these stand in a journal.
    Client,
    /// The agent does, and tells of it.
    Agent,
}

impl TermId {
    pub fn of(owner: Owner, name: impl Into<TermName>) -> Self {
        Self { owner, name: name.into() }
    }

    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// One of this owner with the same name.
    #[must_use]
    pub fn with_owner(&self, owner: Owner) -> Self {
        Self { owner, name: self.name.clone() }
    }

    pub fn as_str(&self) -> &str {
        self.name.as_str()
    }
}

impl From<TermName> for TermId {
    fn from(name: TermName) -> Self {
        Self::of(Owner::Client, name)
    }
}

impl From<TermId> for TermName {
    fn from(id: TermId) -> Self {
        id.name
    }
}

impl From<&str> for TermId {
    fn from(name: &str) -> Self {
        Self::of(Owner::Client, name)
    }
}

impl From<String> for TermId {
    fn from(name: String) -> Self {
        Self::of(Owner::Client, name)
    }
}

impl fmt::Display for TermId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}
