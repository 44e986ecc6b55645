//! Servers of tools that agents may be given (MCP): what a file says of them, and what of it is given.
//!
//! Opens no file, starts nothing and reads no environment: values are passed in. Invariants: what is shown or kept of a
//! server never has values of its environment and headers, nor those of variables; one that is not whole is left out
//! and named.

mod file;
mod fill;
mod shown;

pub use file::{Read, read, server};
pub use fill::{fill, fill_text};

use serde_json::{Map, Value, json};

/// Servers that one file may name.
pub const MAX_SERVERS: usize = 100;
/// Where a project keeps its own.
pub const PROJECT_FILE: &str = ".mcp.json";

/// A server as it is written, or with its variables filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub name: String,
    pub how: How,
    /// The person does not want it.
    pub is_disabled: bool,
    /// Only agents that are configured under these names get it; all of them when there are none.
    pub agents: Vec<String>,
}

/// How an agent reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    Stdio { command: String, args: Vec<String>, env: Vec<(String, String)> },
    Remote { kind: Remote, url: String, headers: Vec<(String, String)> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    Http,
    Sse,
}

impl Remote {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// A server that an agent is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedServer {
    /// As it is written: what is shown and stored.
    pub written: Server,
    pub filled: Server,
}

/// What is found for one session: the servers, and what the person should know.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub servers: Vec<ResolvedServer>,
    pub remarks: Vec<String>,
}

impl Found {
    /// Leaves out what the agent cannot reach, of which those without a kind are programs, and says so (S-156).
    pub fn keep(&mut self, has: impl Fn(Option<Remote>) -> bool) {
        let mut left_out = Vec::new();
        self.servers.retain(|given| {
            let kind = if let How::Remote { kind, .. } = &given.filled.how { Some(*kind) } else { None };
            let is_kept = has(kind);
            if !is_kept {
                left_out.push(format!("{} ({})", given.filled.name, given.filled.kind()));
            }
            is_kept
        });
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            self.remarks.push(format!("the agent is not given {names}: it does not take MCP servers of this kind"));
        }
    }
}

/// Stands for a value that is not to be seen.
const MASK: &str = "…";

impl Server {
    pub fn kind(&self) -> &'static str {
        match &self.how {
            How::Stdio { .. } => "stdio",
            How::Remote { kind, .. } => kind.word(),
        }
    }

    /// What it is, for a person: its command or its address, without what is secret in them.
    pub fn line(&self) -> String {
        match &self.how {
            How::Stdio { command, args, .. } => {
                std::iter::once(command).chain(args).map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            How::Remote { url, .. } => url.clone(),
        }
    }

    /// Names of its variables, or of its headers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (How::Stdio { env: pairs, .. } | How::Remote { headers: pairs, .. }) = &self.how;
        pairs.iter().map(|(name, _)| name.as_str())
    }

    /// The same without the values of its variables and headers.
    pub fn masked(&self) -> Self {
        let mut masked = self.clone();
        let (How::Stdio { env: pairs, .. } | How::Remote { headers: pairs, .. }) = &mut masked.how;
        for (_, value) in pairs {
            MASK.clone_into(value);
        }
        masked
    }

    /// The member of `mcpServers` of version 1 of the protocol.
    pub fn canonical(&self) -> Value {
        let pairs = |pairs: &[(String, String)]| -> Value {
            pairs.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
        };
        match &self.how {
            How::Stdio { command, args, env } => {
                json!({ "name": self.name, "command": command, "args": args, "env": pairs(env) })
            }
            How::Remote { kind, url, headers } => {
                json!({ "type": kind.word(), "name": self.name, "url": url, "headers": pairs(headers) })
            }
        }
    }

    /// For programs: what it is, without values of variables and headers.
    pub fn told(&self) -> Map<String, Value> {
        let mut told = Map::new();
        told.insert("name".into(), self.name.as_str().into());
        told.insert("kind".into(), self.kind().into());
        let names: Value = self.names().collect();
        match &self.how {
            How::Stdio { command, args, .. } => {
                told.insert("command".into(), command.as_str().into());
                told.insert("args".into(), json!(args));
                told.insert("env".into(), names);
            }
            How::Remote { url, .. } => {
                told.insert("url".into(), url.as_str().into());
                told.insert("headers".into(), names);
            }
        }
        told
    }
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
