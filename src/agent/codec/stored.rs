//! What a stored frame says of a conversation: journals are listed and searched without a replay.
//!
//! Plain data; what a frame is made of is the codec's. Invariant: what cannot be read says nothing.

use super::versionless::bounded;
use super::versionless::content::u64_of;
use crate::model::event::{self, Cans, Update};
use crate::model::ids::SessionId;
use crate::wire::json::members;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::LazyLock;

/// Requests for a command and for a file to be written, in every dialect.
const COMMAND: &str = "terminal/create";
const WRITE: &str = "fs/write_text_file";
/// Bytes of a frame in which its method stands, as far as agents write it.
const BEGINNING: usize = 160;
static RUNS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("terminal/create\""));
static STARTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"terminalId\""));

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

/// Takes sessions out of the answer of an agent that lists its sessions. False of any other message.
pub fn unlist(message: &mut Value, goes: impl Fn(&str) -> bool) -> bool {
    let listed = message.pointer_mut("/result/sessions").and_then(Value::as_array_mut);
    listed.is_some_and(|listed| {
        let count = listed.len();
        listed.retain(|session| !session["sessionId"].as_str().is_some_and(&goes));
        listed.len() < count
    })
}

/// What an agent asks this machine for, as far as there is something to be found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    /// As it is spelt.
    pub id: String,
    pub session: String,
    pub wanted: Wanted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    Command(String),
    Write { path: String, content: String },
}

/// Reads a request of the agent; nothing of any other frame.
pub fn requested(frame: &str) -> Option<Requested> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "sessionId")]
        session: String,
        #[serde(default)]
        command: String,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        path: String,
        #[serde(default)]
        content: String,
    }
    let [id, method, params] = members(frame, ["id", "method", "params"]).ok()?;
    let (id, method, params) = (id?.get().to_owned(), method?.get().trim_matches('"'), params?.get());
    if method != COMMAND && method != WRITE {
        return None;
    }
    let Params { session, command, args, path, content } = serde_json::from_str(params).ok()?;
    let wanted = if method == WRITE {
        Wanted::Write { path, content }
    } else {
        Wanted::Command(std::iter::once(command).chain(args).collect::<Vec<_>>().join(" "))
    };
    Some(Requested { id, session, wanted })
}

/// Whether a frame of the agent may be a request for a command, by its first bytes: what is printed comes much later.
pub fn may_run(frame: &str) -> bool {
    frame.as_bytes().get(..BEGINNING.min(frame.len())).is_some_and(|begin| RUNS.find(begin).is_some())
}

/// The same of our answer, which names the terminal.
pub fn may_have_run(frame: &str) -> bool {
    frame.len() < BEGINNING && STARTED.find(frame.as_bytes()).is_some()
}

/// Our answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replied {
    pub id: String,
    /// It is no error.
    pub is_done: bool,
    /// The name of a terminal that was started.
    pub terminal: Option<String>,
}

pub fn replied(frame: &str) -> Option<Replied> {
    #[derive(Deserialize)]
    struct Started {
        #[serde(rename = "terminalId")]
        terminal: String,
    }
    let [id, method, result] = members(frame, ["id", "method", "result"]).ok()?;
    let id = id.filter(|_| method.is_none())?.get().to_owned();
    let terminal = result.and_then(|result| serde_json::from_str::<Started>(result.get()).ok());
    Some(Replied { id, is_done: result.is_some(), terminal: terminal.map(|started| started.terminal) })
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
