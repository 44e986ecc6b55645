//! `blame`: which session, turn and prompt each line of a file came from.
//!
//! Who knows that is for `engine::blame`. Invariants: what is printed is cleaned; with `--json` it is one object a line,
//! for any text.

use super::args;
use super::conversations::state;
use super::output::{print, say};
use super::usage::Usage;
use crate::base::{human, paths, sanitize};
use crate::engine::blame::{Bounds, Line, LineOrigins, Source, blame};
use crate::model::changes::Cause;
use crate::review::archive;
use crate::review::report::blame::File;
use crate::review::report::json;
use crate::text::width::{str_width, truncate};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A larger journal is not read for what was asked.
const MAX_JOURNAL: u64 = 1 << 30;
/// How long the histories of a file are followed back.
const PATIENCE: Duration = Duration::from_secs(20);
/// Columns of a prompt, and of a session's id before a line.
const SHOWN: usize = 100;
const ID_COLUMNS: usize = 12;

/// `acp-tui blame FILE[:LINE]`.
pub fn run(wanted: &args::Blame) -> Result<u8, Usage> {
    let (path, line) = place(&wanted.file)?;
    let file = File::open(&path).map_err(|why| Usage(format!("{}: {why}", paths::visible(path.as_os_str()))))?;
    if let Some(line) = line
        && !(1..=file.lines()).contains(&line)
    {
        let has = human::count(file.lines() as u64, "line");
        return Err(Usage(format!("{} has no line {line}, only {has}", paths::visible(path.as_os_str()))));
    }
    let state = state()?;
    let bounds = Bounds { until: Instant::now() + PATIENCE, journal: MAX_JOURNAL };
    let blamed = blame(&state, &file, line.map(|line| line - 1), bounds).map_err(Usage)?;
    for remark in blamed.remarks.iter().chain(&blamed.open) {
        say(remark);
    }
    print(&if wanted.json { as_json(&blamed) } else { as_text(&blamed, &file, line.is_some()) })
}

/// The file, and the line of it. A file of that name comes before a line of another one.
fn place(word: &str) -> Result<(PathBuf, Option<usize>), Usage> {
    let whole = PathBuf::from(word);
    if whole.symlink_metadata().is_ok() {
        return Ok((whole, None));
    }
    let Some((file, line)) = word.rsplit_once(':').filter(|(file, _)| !file.is_empty()) else {
        return Ok((whole, None));
    };
    match line.parse() {
        Ok(0) => Err(Usage("lines are counted from 1".into())),
        Ok(line) => Ok((file.into(), Some(line))),
        Err(_) if line.bytes().all(|byte| byte.is_ascii_digit()) && !line.is_empty() => {
            Err(Usage(format!("{file} has no line {line}")))
        }
        Err(_) => Ok((whole, None)),
    }
}

fn as_json(blamed: &LineOrigins) -> String {
    let line = |line: &Line| {
        let turn = line.from.as_ref().and_then(|from| blamed.turns.get(from.turn));
        json::line(&json!({
            "line": line.at + 1,
            "session_id": turn.map(|turn| &turn.session_id),
            "agent": turn.map(|turn| &turn.agent),
            "turn": turn.map(|turn| turn.number),
            "prompt": turn.and_then(|turn| turn.prompt.as_ref()),
            "cause": line.from.as_ref().map(|from| from.cause),
        }))
    };
    blamed.lines.iter().map(line).collect()
}

/// A column before each line, and below them what the turns were asked.
fn as_text(blamed: &LineOrigins, file: &File, with_call: bool) -> String {
    let turn = |from: &Source| blamed.turns.get(from.turn);
    let name = |line: &Line| {
        let Some((from, turn)) = line.from.as_ref().and_then(|from| Some((from, turn(from)?))) else {
            return "unknown".to_owned();
        };
        let id = archive::shown_id(&turn.session_id);
        format!("{}:{} {}", truncate(&id, ID_COLUMNS), turn.number, cause(from.cause))
    };
    let names: Vec<String> = blamed.lines.iter().map(name).collect();
    let width = names.iter().map(|name| str_width(name)).max().unwrap_or(0);
    let digits = blamed.lines.last().map_or(1, |line| (line.at + 1).to_string().len());
    let mut out = String::new();
    // Writing to a string cannot fail.
    for (line, name) in blamed.lines.iter().zip(names) {
        let blank = width - str_width(&name);
        let _ = writeln!(out, "{name}{:blank$}  {:>digits$}  {}", "", line.at + 1, file.text(line.at));
    }
    for turn in &blamed.turns {
        let (session, agent) = (archive::shown_id(&turn.session_id), sanitize::line(&turn.agent));
        let prompt = turn.prompt.as_deref().map_or("its prompt is not known".into(), |prompt| {
            truncate(&sanitize::line(prompt.trim()), SHOWN).into_owned()
        });
        let _ = writeln!(out, "\n{session}:{} {agent}: {prompt}", turn.number);
    }
    if with_call && let Some(title) = blamed.calls.first() {
        let _ = writeln!(out, "call: {}", sanitize::line(title));
    }
    out
}

const fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Write => "write",
        Cause::Tool => "call",
        Cause::Command => "command",
        Cause::Unknown => "in a turn",
        Cause::Person => "you",
        Cause::Review => "review",
        Cause::Merge => "merge",
    }
}
