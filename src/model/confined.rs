//! What a sandbox leaves an agent, and the commands in its terminals: data that a journal holds.
//!
//! Confines nothing and makes no words. Invariant: what the kernel could not do is told as that.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confined {
    /// Below these it can write.
    pub writes: Vec<String>,
    /// Below these it can read, besides; everywhere where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Vec<String>>,
    /// Ports of TCP to which it can connect, and on which it can wait for connections; all where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connects: Option<Vec<u16>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listens: Option<Vec<u16>>,
    /// Signals and abstract sockets stay inside.
    #[serde(default)]
    pub keeps_apart: bool,
}
