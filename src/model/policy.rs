//! What is decided without a person to ask.
//!
//! Plain data; `judge` decides by it.

use serde::{Deserialize, Serialize};

/// How permission requests and the client's own services are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Policy {
    /// A person is asked; files and commands inside the roots are served.
    #[default]
    Ask,
    /// `exec --allow …`.
    Auto(Allow),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allow {
    All,
    Reads,
    None,
    /// Nothing but what a rule allows.
    Rules,
}

impl Allow {
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Reads => "reads",
            Self::None => "none",
            Self::Rules => "rules",
        }
    }
}
