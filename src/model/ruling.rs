//! What the rules of the person and the project say about one request of an agent.
//!
//! Plain data that a journal holds: the rules themselves are kept and read elsewhere. Invariant: a journal says what the
//! rules said then, so a replay needs none.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub verdict: Ruled,
    /// The pattern that decided, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// For the agent, where it is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// In the order in which a worse one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Ruled {
    Allow,
    /// No rule is for it: it goes on as without rules.
    Open,
    /// The person is to be asked, whatever else would be done.
    Ask,
    Deny,
}

impl Ruling {
    pub const OPEN: Self = Self { verdict: Ruled::Open, rule: None, place: None, reason: None };

    /// The same, when it turns out that it cannot be allowed by the rule.
    #[must_use]
    pub fn unless_allowed(self) -> Self {
        if self.verdict == Ruled::Allow { Self::OPEN } else { self }
    }

    /// Who decided, for the person.
    pub fn words(&self) -> String {
        match &self.rule {
            Some(rule) => format!("rule {rule}"),
            None => "the rules".to_owned(),
        }
    }
}
