//! What an agent may ask of this client, as its codec has read it.
//!
//! Plain data. Decides nothing.

use super::super::form::{Form, Page};
use super::super::ids::TermId;
use super::super::login::quote;
use super::super::tool::ToolPatch;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub enum AgentRequest {
    Permission {
        tool: ToolPatch,
        options: Vec<PermissionOption>,
    },
    /// The person is to fill in a form or to visit a page.
    Ask {
        asking: Asking,
        /// The number of the call of ours that it is asked for, where it is not asked for a session.
        call: Option<u64>,
    },
    ReadFile {
        path: String,
        line: Option<u32>,
        limit: Option<u32>,
    },
    WriteFile {
        path: String,
        content: Arc<str>,
    },
    TerminalCreate(TerminalSpec),
    TerminalOutput(TermId),
    TerminalWait(TermId),
    TerminalKill(TermId),
    TerminalRelease(TermId),
    /// A method that we do not have.
    UnknownMethod(String),
    /// Our own first call has come back.
    Echoed(String),
    /// A known method that asks for more than can be shown or done whole.
    TooLarge {
        method: String,
        why: String,
    },
    /// A known method whose parameters cannot be read.
    BadParams {
        method: String,
        why: String,
    },
}

/// How the person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asking {
    Form(Arc<Form>),
    Page(Arc<Page>),
}

impl Asking {
    /// What it is about, in the agent's words.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(form) => &form.message,
            Self::Page(page) => &page.message,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionOption {
    pub id: String,
    pub name: String,
    pub kind: PermissionKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// Shown neutrally, never chosen by us.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalSpec {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<String>,
    /// Bytes of UTF-8 kept from the end.
    pub limit: Option<u64>,
}

impl TerminalSpec {
    /// The command line as a person reads it.
    pub fn line(&self) -> String {
        let mut line = self.command.clone();
        for arg in &self.args {
            line.push(' ');
            line.push_str(&quote(arg));
        }
        line
    }
}
