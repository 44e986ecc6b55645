//! The values of options, read from what was typed.
//!
//! Looks nothing up. Invariant: an error says what the option takes.

use super::usage::Usage;
use crate::base::date;
use crate::config::schema::DIALECTS;
use crate::engine::Framing;
use crate::headless::Answers;
use crate::host::fs::open_regular;
use crate::model::permission_mode::ModeChoice;
use crate::model::session::Allow;
use crate::remote::Header;
use crate::store::search::Role;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `--no-mcp` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    pub all: bool,
    pub names: Vec<String>,
}

/// Bytes of a file with answers to forms.
const MAX_ANSWERS: u64 = 1 << 20;

/// What a conversation becomes outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Markdown,
    Html,
    Json,
    /// A recording of a terminal, for asciinema.
    Cast,
}

/// The answers to forms: one JSON object by the names of their fields.
pub fn answers(file: &Path) -> Result<Answers, Usage> {
    let name = file.display();
    let cannot = |why: &dyn std::fmt::Display| Usage(format!("--answers {name}: {why}"));
    let mut text = String::new();
    let opened = open_regular(file).map_err(|error| cannot(&error))?;
    opened.take(MAX_ANSWERS + 1).read_to_string(&mut text).map_err(|error| cannot(&error))?;
    if text.len() as u64 > MAX_ANSWERS {
        return Err(cannot(&"larger than 1 MiB"));
    }
    serde_json::from_str(&text).map_err(|error| cannot(&format!("not one JSON object by field name: {error}")))
}

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

pub fn permission_mode(value: &str) -> Result<ModeChoice, Usage> {
    ModeChoice::read(value).map_err(|why| Usage(format!("--permission-mode: {why}")))
}

pub fn protocol(value: String) -> Result<String, Usage> {
    match value.as_str() {
        "1" | "2" => Ok(value),
        _ => Err(Usage(format!("--protocol is 1 or 2, not `{value}`"))),
    }
}

pub fn dialect(value: String) -> Result<String, Usage> {
    if DIALECTS.contains(&value.as_str()) {
        return Ok(value);
    }
    Err(Usage(format!("--dialect is one of {}, not `{value}`", DIALECTS.join(", "))))
}

pub fn framing(value: &str) -> Result<Framing, Usage> {
    let how = || Usage(format!("--framing is {}, not `{value}`", Framing::NAMES.join(", ")));
    Framing::named(value).ok_or_else(how)
}

/// Its value is not shown.
pub fn header(value: &str) -> Result<Header, Usage> {
    Header::typed(value).map_err(|why| Usage(format!("--header: {why}")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_not_waited_for_where_nobody_writes_them() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let refused = answers(&pipe).unwrap_err();
        assert!(refused.0.contains("not a regular file"), "{}", refused.0);
        let file = dir.path().join("file");
        std::fs::write(&file, r#"{"name":"x"}"#).unwrap();
        answers(&file).unwrap();
    }
}
