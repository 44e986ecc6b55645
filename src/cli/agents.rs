//! `agents`: those that are set up or known here, those of a registry, and what one of them says of itself.
//!
//! Invariant: nothing is downloaded or started but what the person has named or said yes to.

mod add;
mod fetch;
mod place;
mod read;

use super::args::{Agents, Common};
use super::launch::{self, Surroundings};
use super::output::{print, say, say_goodbye};
use super::runtime;
use super::usage::Usage;
use crate::base::{redact, sanitize};
use crate::config::agents::{self, AgentCommand, Origin};
use crate::engine::Engine;
use crate::headless::check::{self, Checked};
use crate::model::login::quote;
use crate::model::session::{Allow, Policy};
use crate::registry::{self, Choice, Entry};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// How long an agent may take to open a session.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// `acp-tui agents`.
pub fn run(asked: &Agents) -> Result<u8, Usage> {
    match asked {
        Agents::List { registry, json } => list(registry.as_deref(), *json),
        Agents::Check { common, json, timeout } => check(common, *json, timeout.unwrap_or(PATIENCE)),
        Agents::Add { name, registry, json, yes } => add::add(name, registry.as_deref(), *json, *yes),
        Agents::Remove { name, json, yes } => add::remove(name, *json, *yes),
    }
}

/// A command as it would be typed.
pub(super) fn line<'a>(command: &'a str, args: impl IntoIterator<Item = &'a String>) -> String {
    let words = std::iter::once(command).chain(args.into_iter().map(String::as_str));
    words.map(quote).collect::<Vec<_>>().join(" ")
}

/// Without what looks like a secret, such as a password in an address.
fn shown(line: &str) -> String {
    redact::masked(line).unwrap_or_else(|| line.to_owned())
}

/// Whether a program of this name is found here.
fn has(surroundings: &Surroundings) -> impl Fn(&str) -> bool {
    |name| agents::find_on_path(name, &surroundings.path).is_some()
}

fn this_platform() -> String {
    registry::platform(std::env::consts::OS, std::env::consts::ARCH)
}

/// The directory of agents.
fn home(surroundings: &Surroundings) -> Result<PathBuf, Usage> {
    let dirs = surroundings.dirs.as_ref().and_then(|dirs| dirs.agents());
    dirs.ok_or_else(|| Usage("there is no place for agents: HOME is not set".into()))
}

fn list(registry: Option<&str>, as_json: bool) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    surroundings.warnings.iter().for_each(|warning| say(&warning.to_string()));
    let runtime = runtime::start()?;
    let found = match registry {
        Some(registry) => Some(runtime.block_on(read::named(&home(&surroundings)?, registry, &surroundings.path))),
        None => home(&surroundings).ok().and_then(|home| read::newest(&home)).map(Ok),
    };
    runtime.shutdown_background();
    let found = match found.transpose() {
        Ok(found) => found,
        Err(why) => return Ok(add::failed(&why)),
    };
    let mut text = String::new();
    let installed = &surroundings.config.installed;
    for listed in agents::list(&surroundings.config) {
        let program = agents::find_on_path(&listed.agent.command, &surroundings.path);
        let origin = match listed.origin {
            Origin::Config => "config",
            Origin::Installed => "installed",
            Origin::Known => "known",
        };
        let added = installed.iter().find(|added| listed.origin == Origin::Installed && added.id == listed.id);
        let update = found.as_ref().zip(added).filter(|(found, added)| found.source == added.source);
        let entry = update.as_ref().map(|(found, _)| found.registry.agents.iter().find(|entry| entry.id == listed.id));
        let is_gone = matches!(entry, Some(None));
        let newer = entry.flatten().zip(added).filter(|(entry, added)| entry.version != added.version);
        let newer = newer.map(|(entry, _)| entry.version.as_str());
        let version = added.map(|added| added.version.as_str());
        if as_json {
            let install = Some(&listed.install).filter(|how| !how.is_empty());
            let is_address = listed.agent.reach.url.is_some();
            let command = if is_address { shown(&listed.agent.command) } else { listed.agent.command.clone() };
            let row = json!({
                "id": listed.id, "name": listed.name, "origin": origin, "version": version, "update": newer,
                "command": command, "args": listed.agent.args, "program": program, "install": install,
                "source": added.map(|added| &added.source),
            });
            text = text + &row.to_string() + "\n";
            continue;
        }
        let state = match (&program, listed.install.as_str()) {
            _ if listed.agent.reach.url.is_some() => "behind an address".to_owned(),
            (Some(_), _) => "found here".to_owned(),
            (None, "") => "not found".to_owned(),
            (None, how) => format!("not found; to install it: {how}"),
        };
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        let news = match newer {
            Some(newer) => format!("; the registry has {newer}: acp-tui agents add {}", listed.id),
            None if is_gone => "; no longer in the registry".to_owned(),
            None => String::new(),
        };
        let line = shown(&line(&listed.agent.command, &listed.agent.args));
        text += &sanitize::line(&format!("{}  {}{version}  `{line}`  {state}{news}", listed.id, listed.name));
        text.push('\n');
    }
    match found {
        Some(found) => {
            found.remarks.iter().for_each(|remark| say(remark));
            let has = has(&surroundings);
            let others = found.registry.agents.iter();
            for entry in others.filter(|entry| !installed.iter().any(|added| added.id == entry.id)) {
                text += &of_registry(entry, &found.source, &has, as_json);
            }
        }
        None if !as_json => {
            say("no registry was read; `acp-tui agents list --registry public` reads the protocol's own");
        }
        None => {}
    }
    print(&text)
}

/// An agent that could be added, on one line.
fn of_registry(entry: &Entry, source: &str, has: registry::Has<'_>, as_json: bool) -> String {
    let chosen = registry::choose(entry, &this_platform(), has);
    let (command, args): (String, &[String]) = match &chosen {
        Ok(Choice::Binary(target)) => (target.cmd.clone(), &target.args),
        Ok(Choice::Runner { runner, args, .. }) => ((*runner).to_owned(), args),
        Err(_) => (String::new(), &[]),
    };
    let why = chosen.as_ref().err();
    if as_json {
        let row: Value = json!({
            "id": entry.id, "name": entry.name, "origin": "registry", "version": entry.version, "update": null,
            "command": chosen.is_ok().then_some(command), "args": args, "program": null, "install": null,
            "source": source, "why": why, "license": entry.license, "page": entry.page,
        });
        return row.to_string() + "\n";
    }
    let state = match why {
        None => format!("`{}`  acp-tui agents add {}", line(&command, args), entry.id),
        Some(why) => format!("not for this machine: {why}"),
    };
    sanitize::line(&format!("{}  {} {}  {state}", entry.id, entry.name, entry.version)).into_owned() + "\n"
}

/// Starts an agent and has it open a session.
pub(super) fn started(
    agent: AgentCommand,
    common: &Common,
    surroundings: &Surroundings,
    patience: Duration,
) -> Result<Checked, Usage> {
    let cwd = launch::directory(common)?;
    let name = launch::name_to_type(&agent, &surroundings.config);
    let start_in = launch::start_in(&agent, surroundings.dirs.as_ref().and_then(|dirs| dirs.home.as_deref()));
    let mut config = launch::engine_config(agent, cwd, Policy::Auto(Allow::None), common, None)?;
    config.start_in = start_in;
    let runtime = runtime::start()?;
    let checked = runtime.block_on(async { Box::pin(check::run(Engine::new(config), &name, patience)).await });
    runtime.shutdown_background();
    checked.map_err(|error| Usage(format!("signals cannot be waited for: {error}")))
}

fn check(common: &Common, as_json: bool, patience: Duration) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    let missing = || Usage("which agent? its name, or its command after `--`".into());
    let agent = launch::named_agent(common, &surroundings.config)?.ok_or_else(missing)?;
    let line = line(&agent.command, &agent.args);
    say(&format!("starting `{line}`"));
    let checked = started(agent, common, &surroundings, patience)?;
    let Checked { code, words, detail, agent, can, log_in, goodbye } = checked;
    say_goodbye(&goodbye, false);
    let text = if as_json {
        let row =
            json!({ "command": line, "agent": agent, "can": can, "log_in": log_in, "code": code, "result": words });
        row.to_string() + "\n"
    } else {
        let mut lines = vec![words];
        lines.extend(detail);
        lines.extend(agent.map(|agent| format!("it calls itself {agent}")));
        lines.extend((!can.is_empty()).then(|| format!("it takes or can: {}", can.join(", "))));
        lines.extend((!log_in.is_empty()).then(|| format!("ways to log in: {}", log_in.join(", "))));
        lines.iter().map(|line| sanitize::line(line).into_owned() + "\n").collect()
    };
    print(&text)?;
    Ok(code)
}
