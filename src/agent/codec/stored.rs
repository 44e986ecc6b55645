//! What a stored frame says of a conversation: journals are listed and searched without a replay.
//!
//! Plain data; what a frame is made of is the codec's. Invariant: what cannot be read says nothing.

use super::versionless::bounded;
use super::versionless::content::u64_of;
use crate::model::event::{self, Cans, Update};
use crate::model::ids::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a session came to be in a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    #[default]
    New,
    Loaded,
    Resumed,
    /// It is a copy of another one.
    Forked,
}

/// A call of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Called {
    Hello,
    /// `id` is that of a session that the agent has kept: the one that is opened, or is copied.
    Open {
        origin: Origin,
        id: Option<SessionId>,
        cwd: Option<String>,
    },
    Prompt {
        session: SessionId,
        text: String,
    },
    Close(SessionId),
}

/// What of the agent's frames is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Answers, titles and figures.
    Summary,
    /// What was said and done, too.
    Everything,
}

/// A frame of the agent.
#[derive(Debug)]
pub enum Heard<'a> {
    /// The answer to our call of this number; nothing when it was an error.
    Answer(u64, Option<&'a str>),
    Update(SessionId, Update),
    Nothing,
}

/// What an agent says that can be done with its sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Can {
    pub load: bool,
    pub resume: bool,
    pub fork: bool,
    pub close: bool,
    pub delete: bool,
}

impl From<Cans> for Can {
    fn from(cans: Cans) -> Self {
        Self {
            load: cans.has(event::Can::Load),
            resume: cans.has(event::Can::Resume),
            fork: cans.has(event::Can::Fork),
            close: cans.has(event::Can::Close),
            delete: cans.has(event::Can::Delete),
        }
    }
}

/// The tokens that the answer to a prompt tells of, where it does.
pub fn tokens(result: &str) -> Option<u64> {
    // Most answers tell of none, and are not read.
    if !result.contains("\"usage\"") {
        return None;
    }
    let usage = bounded::read(result).ok()?.value.get("usage")?.clone();
    let parts = || {
        ["inputTokens", "outputTokens"].into_iter().filter_map(|part| u64_of(&usage, part)).reduce(u64::saturating_add)
    };
    u64_of(&usage, "totalTokens").or_else(parts)
}

/// The session that the parameters of a message name.
pub fn named(params: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "sessionId")]
        session: String,
    }
    serde_json::from_str::<Params>(params).ok().map(|params| params.session)
}

/// Takes a session out of the answer of an agent that lists its sessions. False of any other message.
pub fn unlist(message: &mut Value, id: &str) -> bool {
    let listed = message.pointer_mut("/result/sessions").and_then(Value::as_array_mut);
    listed.is_some_and(|listed| {
        let count = listed.len();
        listed.retain(|session| session["sessionId"] != id);
        listed.len() < count
    })
}

/// Who an agent says that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Introduced {
    pub name: Option<String>,
    pub can: Can,
}

/// What a frame of the agent is by a look at its bytes, without reading all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look<'a> {
    /// A piece of a message. `of` is what those of one message have in common: session, sort and id, as they are spelt;
    /// `text` is as it is spelt in JSON, without quotes.
    Piece {
        of: [&'a str; 3],
        text: &'a str,
    },
    /// A piece of what a command printed, and more beside it. `of` is its session, this sort and its call.
    Printed {
        of: [&'a str; 3],
        text: &'a str,
    },
    /// It may be one, but has to be read.
    Unclear,
    Other,
}
