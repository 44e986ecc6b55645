//! The values of options, read from what was typed.
//!
//! Looks nothing up. Invariant: an error says what the option takes.

use super::flags::Format;
use super::usage::Usage;
use crate::base::date;
use crate::model::event::Protocol;
use crate::model::session::Allow;
use crate::store::search::Role;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub fn text(value: OsString) -> Result<String, Usage> {
    value.into_string().map_err(|v| Usage(format!("not UTF-8: {}", v.to_string_lossy())))
}

pub fn allow(value: &str) -> Result<Allow, Usage> {
    match value {
        "all" => Ok(Allow::All),
        "reads" => Ok(Allow::Reads),
        "none" => Ok(Allow::None),
        other => Err(Usage(format!("--allow is all, reads or none, not `{other}`"))),
    }
}

pub fn protocol(value: &str) -> Result<Protocol, Usage> {
    let protocol = Protocol::named(value).filter(|protocol| *protocol != Protocol::Auto);
    protocol.ok_or_else(|| Usage(format!("--protocol is 1 or 2, not `{value}`")))
}

pub fn role(value: &str) -> Result<Role, Usage> {
    Role::ALL
        .into_iter()
        .find(|role| role.word() == value)
        .ok_or_else(|| Usage(format!("--role is user, agent, thought or tool, not `{value}`")))
}

pub fn day(option: &str, value: &str) -> Result<Duration, Usage> {
    date::day(value).ok_or_else(|| Usage(format!("{option} takes a day as YYYY-MM-DD, not `{value}`")))
}

pub fn format(value: &str) -> Result<Format, Usage> {
    Ok(match value {
        "md" => Format::Markdown,
        "html" => Format::Html,
        "json" => Format::Json,
        "cast" => Format::Cast,
        other => return Err(Usage(format!("--format is md, html, json or cast, not `{other}`"))),
    })
}

pub fn pair(value: &str) -> Result<(String, String), Usage> {
    match value.split_once('=') {
        Some((id, value)) if !id.is_empty() => Ok((id.to_owned(), value.to_owned())),
        _ => Err(Usage(format!("--config takes ID=VALUE, not `{value}`"))),
    }
}

/// Several, none of them empty.
pub fn names(value: &str) -> Result<Vec<String>, Usage> {
    let names: Vec<String> = value.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err(Usage(format!("--fan-out takes names of agents with commas between them, not `{value}`")));
    }
    Ok(names)
}

pub fn file(option: &str, value: OsString) -> Result<PathBuf, Usage> {
    if value.is_empty() || value == "-" {
        return Err(Usage(format!("{option} takes a file; standard output is the answer's")));
    }
    Ok(value.into())
}

pub fn number(option: &str, value: &str) -> Result<u64, Usage> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Usage(format!("{option} takes a number from 1, not `{value}`")))
}

pub fn seconds(value: &str) -> Result<Duration, Usage> {
    let bad = || Usage(format!("--timeout takes seconds above 0, not `{value}`"));
    let seconds: f64 = value.parse().map_err(|_| bad())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| bad())?;
    if duration.is_zero() { Err(bad()) } else { Ok(duration) }
}
