//! The public registry's format: which agents a registry names, and what would be run of one here.
//!
//! Opens nothing and fetches nothing: a text goes in, entries come out. Invariants: what is unknown in an entry is passed
//! over, an entry that cannot be used is left out and named; every text is cleaned and bounded; a path of an entry never
//! leads out of the directory that it is unpacked in.

mod choose;
mod read;

pub use choose::{Choice, Has, choose, platform};
pub use read::{MAX_BYTES, read};

use std::collections::BTreeMap;

/// The one that the protocol's own site serves.
pub const PUBLIC: &str = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    pub agents: Vec<Entry>,
    /// What was left out, and why.
    pub remarks: Vec<String>,
    /// Its format is a later one than this client knows: it is only shown.
    pub is_later: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub id: String,
    pub name: String,
    pub version: String,
    pub description: String,
    pub license: Option<String>,
    /// Where to read about it: its site or its repository.
    pub page: Option<String>,
    /// By platform.
    pub binary: BTreeMap<String, Target>,
    pub npx: Option<Package>,
    pub uvx: Option<Package>,
}

/// An archive, and what is run of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    pub archive: String,
    /// Below the directory that it is unpacked in.
    pub cmd: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// In small hex digits.
    pub sha256: Option<String>,
}

/// A package, and what a package runner runs of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    pub package: String,
    pub cmd: Option<String>,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}

impl Registry {
    /// The entry of this id, else by its package, else without `-acp`, else by a beginning that only one has.
    ///
    /// # Errors
    /// Names those that are alike, or says that there is none.
    pub fn find(&self, name: &str) -> Result<&Entry, String> {
        let last = name.rsplit('/').next().unwrap_or(name);
        let package = last.split_once('@').map_or(last, |(package, _)| package);
        let bare = package.strip_suffix("-acp").unwrap_or(package);
        let exactly = |wanted: &str| self.agents.iter().find(|entry| entry.id == wanted);
        let is_of = |entry: &&Entry| {
            entry.npx.iter().chain(&entry.uvx).any(|of| {
                let last = of.package.rsplit('/').next().unwrap_or_default();
                !package.is_empty() && last.split(['@', '=']).next() == Some(package)
            })
        };
        let found = exactly(name).or_else(|| self.agents.iter().find(is_of)).or_else(|| exactly(bare));
        if let Some(found) = found {
            return Ok(found);
        }
        let begin = |entry: &&Entry| !name.is_empty() && entry.id.starts_with(name);
        let alike: Vec<&Entry> = self.agents.iter().filter(begin).collect();
        match alike[..] {
            [only] => Ok(only),
            [] => Err(format!("the registry has no agent {name:?}")),
            _ => {
                let ids: Vec<&str> = alike.iter().map(|entry| entry.id.as_str()).collect();
                Err(format!("{name:?} is the beginning of several agents: {}", ids.join(", ")))
            }
        }
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
