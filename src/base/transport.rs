//! What messages between us and an agent go over.
//!
//! Plain data.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// The pipes of a process.
    #[default]
    Stdio,
    Unix,
    WebSocket,
    /// Streamable HTTP: messages go out as requests and come in on streams of events.
    Http,
    /// Each message is a request; what belongs to it comes as its answer, as JSON or as events.
    Sse,
}

impl Transport {
    /// As programs read it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Unix => "unix",
            Self::WebSocket => "websocket",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// How an agent is reached that is not started, and what of this machine it may use (S-062).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    pub transport: Transport,
    pub files: bool,
    pub terminals: bool,
}
