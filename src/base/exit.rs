//! How a process ended, and the words for it.
//!
//! Knows nothing of agents, terminals and the system's calls. Invariant: a signal counts before a code.

use std::fmt;

/// How a process ended: a code, or the conventional name of a signal ("SIGKILL").
#[derive(Clone, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Exit {
    pub code: Option<i64>,
    pub signal: Option<String>,
}

impl Exit {
    /// Agents say that a command has ended without saying how.
    pub const fn is_known(&self) -> bool {
        self.code.is_some() || self.signal.is_some()
    }

    pub fn is_success(&self) -> bool {
        self.code == Some(0) && self.signal.is_none()
    }

    /// As a recording notes the end of an agent.
    pub fn to_note(&self) -> String {
        serde_json::json!({ "event": NOTED, "code": self.code, "signal": self.signal }).to_string()
    }

    /// What such a note says; nothing of one about something else.
    pub fn of_note(note: &str) -> Option<Self> {
        #[derive(serde::Deserialize)]
        struct Note {
            event: String,
            #[serde(flatten)]
            exit: Exit,
        }
        let note: Note = serde_json::from_str(note).ok()?;
        (note.event == NOTED && note.exit.is_known()).then_some(note.exit)
    }
}

const NOTED: &str = "exit";

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.signal, self.code) {
            (Some(signal), _) => write!(f, "killed by {signal}"),
            (None, Some(code)) => write!(f, "exit {code}"),
            (None, None) => f.write_str("ended"),
        }
    }
}
