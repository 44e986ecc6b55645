//! What stands behind `search`.

use super::super::flags::Typed;
use super::super::usage::Usage;
use crate::store::search::Role;
use std::path::PathBuf;
use std::time::Duration;

/// What is looked for in conversations.
#[derive(Debug, PartialEq, Eq)]
pub struct Search {
    pub text: String,
    pub is_regex: bool,
    pub json: bool,
    pub agent: Option<String>,
    pub cwd: Option<PathBuf>,
    pub role: Option<Role>,
    pub tool: Option<String>,
    pub file: Option<PathBuf>,
    /// Since 1970; before the end.
    pub since: Option<Duration>,
    pub until: Option<Duration>,
}

pub fn search(text: Option<String>, typed: Typed) -> Result<Search, Usage> {
    let text = text.filter(|text| !text.is_empty()).ok_or_else(|| Usage("nothing to look for".into()))?;
    let Typed { regex: is_regex, json, agent, cwd, role, tool, file, since, until, .. } = typed;
    Ok(Search { text, is_regex, json, agent, cwd, role, tool, file, since, until })
}
