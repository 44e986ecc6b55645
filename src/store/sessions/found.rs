//! What is kept of a journal, of its agents and of its sessions.
//!
//! Gathered by `scan`, read by `gathering`. Invariant: members are only ever added together with a new version of the index.

use super::figures::Figures;
use crate::agent::codec::stored::{Can, Origin};
use crate::base::limits;
use serde::{Deserialize, Serialize};

/// The first line of a journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Head {
    pub v: u32,
    /// Seconds since 1970.
    #[serde(default)]
    pub started: u64,
    #[serde(default)]
    pub cwd: String,
    #[serde(default)]
    pub command: String,
    #[serde(default)]
    pub codec: Option<String>,
    #[serde(default)]
    pub branch: Option<String>,
    /// Its last line says that it is the last one. Older ones have none.
    #[serde(default)]
    pub ends: bool,
    /// It was imported: its file may say anything.
    #[serde(default)]
    pub imported: bool,
    /// The only session that was exported. Of others that are in it there is what it began with.
    #[serde(default)]
    pub only: Option<String>,
    /// What that was called; nothing in it where it had no title.
    #[serde(default)]
    pub title: Option<String>,
}

/// A session of the journal. Times are seconds since the journal began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    pub id: String,
    pub agent: u32,
    pub origin: Origin,
    pub cwd: String,
    /// Of the directory, when it was opened first.
    pub branch: Option<String>,
    pub title: Option<String>,
    /// When it got that title.
    pub titled: f64,
    pub first_prompt: Option<String>,
    /// Nothing when it is the first one.
    pub last_prompt: Option<String>,
    pub created: f64,
    /// When it was opened last.
    pub opened: f64,
    pub updated: f64,
    pub turns: u64,
    /// When something was asked in it first.
    pub asked: Option<f64>,
    pub figures: Figures,
    pub is_closed: bool,
    /// The session that it continues.
    pub follows: Option<String>,
    /// The session that it was made of.
    pub copy_of: Option<String>,
    /// It only answers a question beside another one.
    pub is_aside: bool,
    /// The same before it was kept.
    pub was_aside: bool,
    /// Its key, once it is known.
    pub key: Option<u32>,
    /// Turns that were known of it from earlier journals, where all of these were read.
    pub before: Option<u64>,
    /// The journals among these that were imported, by their names.
    pub imported: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    pub command: String,
    pub name: Option<String>,
    pub can: Can,
}

impl Agent {
    /// A command is known whole or not at all.
    pub fn of(command: &str) -> Self {
        let command = if command.len() <= limits::MAX_COMMAND { command.to_owned() } else { String::new() };
        Self { command, ..Self::default() }
    }
}
