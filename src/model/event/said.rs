//! Words for a running turn and what becomes of them; what an agent does beside its turns.
//!
//! Plain data; knows no session.

use super::Link;
use crate::model::ids::{SessionId, ToolId};
use serde::{Deserialize, Serialize};

/// What the person says, and what goes along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    pub text: String,
    pub links: Vec<Link>,
}

/// What an agent has done with words for the running turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steered {
    /// They are part of it.
    Injected,
    /// No turn runs any more: they are to be sent as a prompt.
    PromptRequired,
    /// It works on them in a turn that no prompt of ours has begun.
    NewTurn,
}

/// What an agent does beside its turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Background {
    Tool(ToolId),
    /// By the agent's name of it.
    Terminal(String),
    Child(SessionId),
    /// Of a kind that is not known here.
    Other(String),
}

/// What the person does with a prompt that waits; they are counted from 0, the one that is sent next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueAct {
    /// Back into the composer.
    Edit(usize),
    Drop(usize),
    Up(usize),
    Down(usize),
    /// The agent is to have it now.
    Send(usize),
    /// What is sent next is the one that was taken out to be edited: it goes where that was.
    PutBack,
    /// Those that are held are sent after all.
    LetGo,
    /// They waited when an earlier run of acp-tui ended, and are held.
    Restore(Vec<Words>),
}
