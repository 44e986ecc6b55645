//! `search`: where something was said or done, in all conversations.
//!
//! Invariant: what is printed is cleaned; with `--json` it is one object a line for any text.

use super::args::Search;
use super::conversations::state;
use super::output::{self, say};
use super::usage::Usage;
use crate::base::{date, paths, sanitize};
use crate::headless::code;
use crate::host::worktrees;
use crate::review::archive;
use crate::review::report::json;
use crate::store::search::{Hit, Matcher, Query, search};
use serde_json::json;
use std::io::{self, Write as _};

/// Bytes of a line that are shown before what was found, and in all.
const BEFORE: usize = 60;
const SHOWN: usize = 160;

/// `acp-tui search TEXT`.
pub fn run(wanted: &Search) -> Result<u8, Usage> {
    let matcher = if wanted.is_regex {
        Matcher::regex(&wanted.text)
            .map_err(|why| Usage(format!("`{}` is no regular expression: {why}", wanted.text)))?
    } else {
        Matcher::literal(&wanted.text)
    };
    let cwd = wanted.cwd.as_ref().map(|cwd| std::path::absolute(cwd).map(|dir| dir.canonicalize().unwrap_or(dir)));
    let cwd = cwd.transpose().map_err(|error| Usage(error.to_string()))?;
    let state = state()?;
    let query = Query {
        agent: wanted.agent.clone(),
        cwd,
        origins: worktrees::origins(&state),
        role: wanted.role,
        tool: wanted.tool.clone(),
        file: wanted.file.clone(),
        since: wanted.since,
        until: wanted.until,
        ..Query::of(matcher)
    };
    let (mut found, mut written) = (false, Ok(()));
    let problems = search(&state, &query, |hits| {
        found = true;
        let text: String = hits.iter().map(|hit| if wanted.json { json_line(hit) } else { line(hit) }).collect();
        written = io::stdout().write_all(text.as_bytes());
        written.is_ok()
    });
    let problems = problems.map_err(|error| Usage(format!("the journals cannot be read: {error}")))?;
    for problem in problems {
        say(&format!("{}: {}", paths::visible(problem.path.as_os_str()), problem.why));
    }
    Ok(match (&written, found) {
        (Err(_), _) | (Ok(()), true) => output::written(&written),
        (Ok(()), false) => {
            say("found nowhere; `--regex` takes an expression, `(?i)` before it small and large letters alike");
            code::OWN_FAULT
        }
    })
}

fn json_line(hit: &Hit) -> String {
    json::line(&json!({
        "session_id": hit.session_id,
        "agent": hit.agent,
        "cwd": hit.cwd.to_string_lossy(),
        "turn": hit.turn,
        "role": hit.role.word(),
        "time": date::rfc3339(hit.time),
        "text": hit.text,
    }))
}

/// Where it is, and the line in which it was found, shortened around it.
fn line(hit: &Hit) -> String {
    let (from, (begin, line)) = (hit.at.start, hit.line());
    let end = begin + line.len();
    let first = hit.text.ceil_char_boundary(begin.max(from.saturating_sub(BEFORE)));
    let last = hit.text.floor_char_boundary(end.min(first + SHOWN));
    let (head, tail) = (if first > begin { "…" } else { "" }, if last < end { "…" } else { "" });
    let shown = sanitize::line(hit.text[first..last.max(first)].trim());
    let session = archive::shown_id(&hit.session_id);
    format!("{session}:{} {} {}: {head}{shown}{tail}\n", hit.turn, date::rfc3339(hit.time), hit.role.word())
}
