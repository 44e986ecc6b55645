//! What an agent may ask of this client, as its codec has read it.
//!
//! Plain data. Decides nothing.

use super::super::form::{Form, Page};
use super::super::ids::{TermId, ToolId};
use super::super::login::quote;
use super::super::tool::ToolPatch;
use crate::base::shared::SharedText;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

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
        /// The tool call that waits for it.
        of: Option<ToolId>,
    },
    ReadFile {
        path: String,
        line: Option<u32>,
        limit: Option<u32>,
        /// The answer says how many lines the file has.
        counts: bool,
    },
    WriteFile {
        path: String,
        content: SharedText,
        how: WriteHow,
    },
    TerminalCreate(TerminalSpec),
    TerminalOutput(TermId),
    TerminalWait {
        term: TermId,
        /// After it the wait is over, and the command goes on.
        patience: Option<Duration>,
        /// The answer has what was printed.
        with_output: bool,
    },
    TerminalKill {
        term: TermId,
        /// Sent instead of what ends a command in any case.
        signal: Option<i32>,
    },
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

impl AgentRequest {
    /// It is for a file or a command.
    pub const fn is_service(&self) -> bool {
        matches!(self, Self::ReadFile { .. } | Self::WriteFile { .. } | Self::TerminalCreate(_))
            || self.terminal().is_some()
    }

    /// The terminal that it is about.
    pub const fn terminal(&self) -> Option<&TermId> {
        match self {
            Self::TerminalOutput(term)
            | Self::TerminalRelease(term)
            | Self::TerminalWait { term, .. }
            | Self::TerminalKill { term, .. } => Some(term),
            _ => None,
        }
    }

    /// The file, or the directory of a command.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::ReadFile { path, .. } | Self::WriteFile { path, .. } => Some(path),
            Self::TerminalCreate(spec) => spec.cwd.as_deref(),
            _ => None,
        }
    }

    /// The same with a path that is whole: one that is not begins in this directory (S-031).
    #[must_use]
    pub fn from_directory(mut self, cwd: &str) -> Self {
        let whole = |path: &mut String| {
            if !path.starts_with('/') {
                *path = format!("{}/{path}", cwd.trim_end_matches('/'));
            }
        };
        match &mut self {
            Self::ReadFile { path, .. } | Self::WriteFile { path, .. } => whole(path),
            Self::TerminalCreate(spec) => spec.cwd.iter_mut().for_each(whole),
            _ => {}
        }
        self
    }
}

/// What a write may do beside writing the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteHow {
    /// Directories that are not there are not made.
    pub only_where_directories_are: bool,
    /// A file that is there stays as it is.
    pub only_new: bool,
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
    /// After it the command is ended.
    pub patience: Option<Duration>,
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
