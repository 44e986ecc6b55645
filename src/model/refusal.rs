//! What the agent asked for and does not get, and why.
//!
//! No numbers and no names of the protocol: the codec of the connection makes its error of it. Is written to the journal
//! with host facts.

use super::ids::{SessionId, TermId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Older journals hold the number that was sent.
    #[serde(alias = "code")]
    pub why: Reason,
    /// For the agent and the person.
    pub message: String,
    #[serde(default)]
    pub about: Subject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    UnknownMethod,
    /// Parameters that cannot be read or used.
    BadParams,
    /// More than can be shown or done whole.
    TooLarge,
    /// A line above the limit.
    TooLong,
    /// Before the two sides have agreed on anything.
    NotReady,
    NotFound,
    Cancelled,
    DeniedByPolicy,
    DeniedByUser,
    /// Outside of the workspace.
    Outside,
    NotText,
    IsDirectory,
    /// Not done because the turn that asked is over.
    TurnOver,
    /// There is a file already.
    Exists,
    /// The file was changed meanwhile.
    Changed,
    /// The system could not.
    Failed,
    /// As many are there as may be at once.
    TooMany,
    /// As an older journal has it.
    #[serde(untagged)]
    Number(i64),
}

/// What a refusal is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    #[default]
    Nothing,
    Path(String),
    Command(String),
    Method(String),
    Session(SessionId),
    Terminal(TermId),
}

impl Refusal {
    /// Why, for the person, who is told in other words that it was refused.
    pub fn words(&self) -> &str {
        self.message.strip_prefix("Refused: ").unwrap_or(&self.message)
    }

    pub fn new(why: Reason, message: impl Into<String>) -> Self {
        Self { why, message: message.into(), about: Subject::Nothing }
    }

    #[must_use]
    pub fn about(mut self, about: Subject) -> Self {
        self.about = about;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_an_older_journal_is_read() {
        let old = r#"{"code":-5,"message":"gone","data":{"uri":"file:///a"}}"#;
        let read: Refusal = serde_json::from_str(old).unwrap();
        assert_eq!(read, Refusal::new(Reason::Number(-5), "gone"));
        let new = Refusal::new(Reason::Outside, "no").about(Subject::Path("/etc".into()));
        let text = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<Refusal>(&text).unwrap(), new, "{text}");
    }
}
