//! What stands behind `mcp`.

use super::super::flags::Typed;
use super::super::usage::Usage;
use super::{Common, common};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub enum Mcp {
    List {
        common: Common,
        json: bool,
    },
    Check {
        common: Common,
        name: Option<String>,
        json: bool,
        timeout: Option<Duration>,
    },
    Trust {
        /// The project's own one without it.
        file: Option<PathBuf>,
        yes: bool,
    },
}

pub fn mcp(words: Vec<String>, typed: Typed) -> Result<Mcp, Usage> {
    let mut words = words.into_iter();
    let (what, first, more) = (words.next().unwrap_or_default(), words.next(), words.next());
    if let Some(word) = more {
        return Err(Usage(format!("mcp: unexpected argument {word}")));
    }
    let (json, timeout, yes) = (typed.json, typed.timeout, typed.yes);
    if yes && what != "trust" {
        return Err(Usage("--yes is for `mcp trust`".into()));
    }
    if timeout.is_some() && what != "check" {
        return Err(Usage("--timeout is for `mcp check`".into()));
    }
    match (what.as_str(), first) {
        ("list", Some(word)) => Err(Usage(format!("mcp list: unexpected argument {word}"))),
        ("list", None) => Ok(Mcp::List { common: common(typed, Vec::new())?, json }),
        ("check", name) => Ok(Mcp::Check { common: common(typed, Vec::new())?, name, json, timeout }),
        ("trust", _) if json || !typed.mcp.is_empty() => {
            Err(Usage("mcp trust takes a file and --yes, e.g. acp-tui mcp trust .mcp.json".into()))
        }
        ("trust", file) => Ok(Mcp::Trust { file: file.map(PathBuf::from), yes }),
        _ => Err(Usage("mcp: what? list, check or trust".into())),
    }
}
