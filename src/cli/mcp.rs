//! `mcp`: the servers of tools that there are, whether they answer, and trust in the file of a project.
//!
//! Invariant: nothing is started but by `check`, and of a project only what the person has trusted.

use super::args::{Common, Mcp};
use super::launch::{self, Surroundings};
use super::output::{confirmed, is_screen, print, say};
use super::probe::{self, Answered};
use super::runtime;
use super::servers::{self, Row, Sources, State, Whose};
use super::usage::Usage;
use crate::base::human;
use crate::base::paths::visible;
use crate::base::sanitize;
use crate::headless::code;
use crate::mcp::{How, PROJECT_FILE};
use crate::store::trusted::{Trusted, What};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a server may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(20);
/// Exit code of a check in which a server did not answer.
const NOT_ALL: u8 = 3;

/// `acp-tui mcp`.
pub fn run(asked: &Mcp) -> Result<u8, Usage> {
    match asked {
        Mcp::List { common, json } => list(common, *json),
        Mcp::Check { common, name, json, timeout } => {
            check(common, name.as_deref(), *json, timeout.unwrap_or(PATIENCE))
        }
        Mcp::Trust { file, yes } => trust(file.as_deref(), *yes),
    }
}

fn rows(common: &Common) -> Result<(PathBuf, Vec<Row>), Usage> {
    let surroundings = Surroundings::read();
    let cwd = launch::directory(common)?;
    let (rows, remarks) = Sources::new(common, &surroundings)?.rows(&cwd, common.agent.as_deref());
    surroundings.warnings.iter().for_each(|warning| say(&warning.to_string()));
    for remark in &remarks {
        say(remark);
    }
    Ok((cwd, rows))
}

/// What becomes of it: as programs read it, and why.
fn state(row: &Row) -> (&'static str, Option<String>) {
    match &row.state {
        State::Ready(_) => ("given", None),
        State::Untrusted => ("untrusted", Some("acp-tui mcp trust".into())),
        State::LeftOut(why) => ("left_out", Some(why.words())),
    }
}

fn told(row: &Row) -> Value {
    let mut told = row.server.told();
    let (state, why) = state(row);
    told.insert("from".into(), row.from.as_str().into());
    told.insert("state".into(), state.into());
    told.insert("why".into(), why.into());
    let (only, but) = match &row.whose {
        Whose::Only(names) => (Some(names), None),
        Whose::AllBut(names) => (None, Some(names)),
    };
    told.insert("agents".into(), json!(only));
    told.insert("not_agents".into(), json!(but));
    Value::Object(told)
}

/// What it is and where it is from, on one line.
fn line(row: &Row) -> String {
    let server = &row.server;
    let names: Vec<&str> = server.names().collect();
    let with = if names.is_empty() { String::new() } else { format!(" · with {}", names.join(", ")) };
    let whose = row.whose.words();
    format!("{}  {}  {}{with} · {whose}  ({})", server.name, server.kind(), server.line(), row.from)
}

fn list(common: &Common, json: bool) -> Result<u8, Usage> {
    let (_, rows) = rows(common)?;
    if rows.is_empty() && !json {
        say("there are no MCP servers: [mcp.NAME] in the configuration, or .mcp.json in the project");
    }
    let mut text = String::new();
    for row in &rows {
        if json {
            text = text + &told(row).to_string() + "\n";
            continue;
        }
        let why = match &row.state {
            State::Ready(_) => String::new(),
            State::Untrusted => " · not used before `acp-tui mcp trust`".to_owned(),
            State::LeftOut(why) => format!(" · left out: {}", why.words()),
        };
        text = text + &sanitize::line(&(line(row) + &why)) + "\n";
    }
    print(&text)
}

fn check(common: &Common, name: Option<&str>, json: bool, patience: Duration) -> Result<u8, Usage> {
    let (cwd, mut rows) = rows(common)?;
    if let Some(name) = name {
        rows.retain(|row| row.server.name == name);
        if rows.is_empty() {
            return Err(Usage(format!("there is no MCP server {name:?}; `acp-tui mcp list` has those that there are")));
        }
    }
    let runtime = runtime::start()?;
    let (mut text, mut is_all) = (String::new(), true);
    for row in rows {
        let answered: Result<Answered, String> = match &row.state {
            State::Ready(server) => match &server.how {
                How::Stdio { command, args, env } => runtime.block_on(probe::stdio(command, args, env, &cwd, patience)),
                How::Remote { .. } => Err("only servers that are programs are checked".into()),
            },
            State::Untrusted => Err("not started: the project's file is not trusted (acp-tui mcp trust)".into()),
            State::LeftOut(why) => Err(format!("not started: {}", why.words())),
        };
        is_all &= answered.is_ok() || !matches!(row.state, State::Ready(_));
        if json {
            let Value::Object(mut members) = told(&row) else { continue };
            let tools = answered.as_ref().ok().map(|answered| &answered.tools);
            members.insert("server".into(), json!(answered.as_ref().ok().and_then(|answered| answered.name.clone())));
            members.insert("tools".into(), json!(tools));
            members.insert("error".into(), json!(answered.err()));
            text = text + &Value::Object(members).to_string() + "\n";
            continue;
        }
        let said = match answered {
            Ok(Answered { name, tools, .. }) => {
                let who = name.map(|name| format!("{name}: ")).unwrap_or_default();
                let count = human::count(tools.len() as u64, "tool");
                let names = if tools.is_empty() { String::new() } else { format!(": {}", tools.join(", ")) };
                format!("{}  {who}{count}{names}", row.server.name)
            }
            Err(why) => format!("{}  {why}", row.server.name),
        };
        text = text + &sanitize::line(&said) + "\n";
    }
    runtime.shutdown_background();
    print(&text)?;
    Ok(if is_all { code::OK } else { NOT_ALL })
}

/// What is shown and what is remembered come from one reading of the file.
fn trust(file: Option<&Path>, yes: bool) -> Result<u8, Usage> {
    let file = file.unwrap_or(Path::new(PROJECT_FILE));
    let named = |why: String| Usage(format!("{}: {why}", visible(file.as_os_str())));
    let file = std::path::absolute(file).map_err(|error| named(error.to_string()))?;
    let (read, content) = servers::read(&file).map_err(named)?.ok_or_else(|| named("there is no such file".into()))?;
    let dirs =
        Surroundings::read().dirs.ok_or_else(|| Usage("there is no place to remember it: HOME is not set".into()))?;
    read.remarks.iter().for_each(|remark| say(remark));
    let name = visible(file.as_os_str());
    let mut text = format!("{name} would have agents run or reach:\n");
    for server in &read.servers {
        let lines = server.shown();
        let (first, parts) = lines.split_first().map_or(("", lines.as_slice()), |(first, parts)| (first, parts));
        text = text + "  " + first + "\n";
        for part in parts {
            text = text + "    " + part + "\n";
        }
    }
    if read.servers.is_empty() {
        text += "  nothing: it names no server\n";
    }
    trust_shown(&Trusted::new(dirs.state, What::Servers), &file, &content, &text, yes)
}

/// Shows what a file of a project would do, and remembers it after a yes, until it changes.
pub(super) fn trust_shown(trusted: &Trusted, file: &Path, content: &str, text: &str, yes: bool) -> Result<u8, Usage> {
    let printed = print(text)?;
    if printed != code::OK {
        return Ok(printed);
    }
    if !yes {
        if !is_screen() {
            return Err(Usage("trust is asked for on a terminal; `--yes` gives it without a question".into()));
        }
        if !confirmed("Trust this file until it changes?") {
            say("nothing was remembered");
            return Ok(code::OK);
        }
    }
    if let Err(error) = trusted.add(file, content) {
        say(&format!("it cannot be remembered: {error}"));
        return Ok(code::OWN_FAULT);
    }
    print(&format!("trusted, until it changes: {}\n", visible(file.as_os_str())))
}
