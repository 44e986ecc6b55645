//! `acp-tui exec` from the outside: spawned, watched and judged by what it writes and how it ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, clippy::format_push_string)]

mod agents;
mod allow;
mod asked;
mod attach;
mod blame;
mod check;
mod codes;
mod conversations;
mod dialects;
mod doctor;
mod going_on;
mod guard;
mod hanging;
mod log;
mod login;
mod mcp;
mod memory;
mod output;
mod plain;
mod processes;
mod records;
mod remote;
mod resume;
mod rules;
mod sandbox;
#[cfg(feature = "remote")]
mod served;
mod settings;
pub mod support;
mod threads;
mod versions;
mod worktrees;
