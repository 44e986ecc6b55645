//! `acp-tui login` and `acp-tui logout`.
//!
//! The agent is asked which ways there are; one that takes a terminal gets this one, from its start to its end. Values of
//! variables are asked for without being shown, and kept by the system. Invariant: where the agent refuses them all the
//! same, nothing is kept.

use super::args::{Common, Login};
use super::launch::{self, Surroundings};
use super::output::{say, say_goodbye};
use super::runtime;
use super::usage::Usage;
use crate::base::sanitize;
use crate::config::agents::AgentCommand;
use crate::engine::{Engine, EngineConfig};
use crate::headless::code;
use crate::headless::login::{self, Ended};
use crate::host::keyring::{Kept, Keyring};
use crate::host::process;
use crate::model::event::AuthKind;
use crate::model::session::{Allow, Policy};
use crate::ui::tty;
use std::io::{self, IsTerminal as _, Write as _};

pub fn log_in(asked: &Login) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    let (agent, config) = agent(&asked.common, &surroundings)?;
    let name = launch::name_to_type(&agent, &surroundings.config);
    let kept_as = config.kept_as.clone();
    let directory = config.start_in.clone().unwrap_or_else(|| config.cwd.clone());
    let ended = run(|| login::log_in(Engine::new(config), asked.method.clone(), &name))?;
    let Some(kind) = &ended.run else { return Ok(told(&ended)) };
    let (command, args, env) = match kind {
        AuthKind::Terminal { args, env } => (agent.command, agent.args.iter().chain(args).cloned().collect(), env),
        AuthKind::Command { command, args, env } => (command.clone(), args.clone(), env),
        AuthKind::Env { vars, open } => {
            let kept_as = kept_as.filter(|_| io::stdin().is_terminal() && io::stderr().is_terminal());
            let Some(kept_as) = kept_as else { return Ok(told(&ended)) };
            return by_values(asked, &ended, &kept_as, vars, open);
        }
        AuthKind::Agent | AuthKind::Typed { .. } => return Ok(told(&ended)),
    };
    let env = agent.env.into_iter().chain(env.iter().cloned()).collect();
    let spec = process::AgentSpec {
        inherited: agent.inherited,
        command: command.clone().into(),
        args: args.into_iter().map(Into::into).collect(),
        env,
        cwd: directory,
        sandbox: None,
    };
    match process::run_here(&spec) {
        Ok(exit) if exit.is_success() => {
            say("logged in; the agent knows it when it is started the next time");
            Ok(code::OK)
        }
        Ok(exit) => {
            say(&format!("not logged in: `{command}` ended with {exit}"));
            Ok(code::AUTH)
        }
        Err(error) => {
            say(&error.to_string());
            Ok(code::NO_SESSION)
        }
    }
}

/// Values that the person types here, hidden, for this agent alone.
fn by_values(asked: &Login, ended: &Ended, kept_as: &str, vars: &[String], open: &[String]) -> Result<u8, Usage> {
    if let Err(why) = Keyring::System.read(kept_as) {
        let code = told(ended);
        say(&format!("nothing can be kept in the system's keyring: {why}"));
        return Ok(code);
    }
    let mut values = Vec::new();
    for name in vars {
        // Standard error may be closed; the line is read all the same.
        let _ = write!(io::stderr(), "{} (not shown; nothing leaves it out, Esc ends): ", sanitize::line(name));
        let typed = tty::hidden_line();
        let _ = writeln!(io::stderr());
        let value = typed.map_err(|error| Usage(format!("the terminal cannot be read: {error}")))?;
        let Some(value) = value.map(|value| value.trim().to_owned()) else {
            say("not logged in: it was left");
            return Ok(code::AUTH);
        };
        // An agent may name variables that it can do without.
        if !value.is_empty() {
            values.push(Kept { name: name.clone(), value, is_open: open.contains(name) });
        }
    }
    if values.is_empty() {
        say("not logged in: nothing was typed");
        return Ok(code::AUTH);
    }
    let names: Vec<String> = values.iter().map(|value| value.name.clone()).collect();
    if let Err(why) = Keyring::System.keep(kept_as, values) {
        let code = told(ended);
        say(&format!("not kept in the system's keyring: {why}"));
        return Ok(code);
    }
    // They are of use if a session is opened with them.
    let surroundings = Surroundings::read();
    let (agent, config) = agent(&asked.common, &surroundings)?;
    let name = launch::name_to_type(&agent, &surroundings.config);
    let tried = run(|| login::log_in(Engine::new(config), None, &name))?;
    if tried.code == code::AUTH {
        let forgotten = Keyring::System.forget(kept_as).is_ok();
        say("not logged in: the agent wants a log-in with these values, too");
        say(if forgotten { "nothing is kept" } else { "the keyring still has them: `acp-tui logout` removes them" });
        return Ok(code::AUTH);
    }
    say(&format!("kept in the system's keyring, for this agent alone: {}", names.join(", ")));
    if tried.code == code::OK { Ok(code::OK) } else { Ok(told(&tried)) }
}

pub fn log_out(common: &Common) -> Result<u8, Usage> {
    let (_, mut config) = agent(common, &Surroundings::read())?;
    // What was removed a moment ago may still be found. Without a keyring nothing was kept there.
    let kept_as = config.kept_as.take();
    let removed = kept_as.and_then(|name| Keyring::System.forget(&name).ok()).unwrap_or_default();
    if !removed.is_empty() {
        say(&format!("removed from the system's keyring: {}", removed.join(", ")));
    }
    Ok(told(&run(|| login::log_out(Engine::new(config), !removed.is_empty()))?))
}

/// The agent, and an engine's settings for it without a journal and a review.
fn agent(common: &Common, surroundings: &Surroundings) -> Result<(AgentCommand, EngineConfig), Usage> {
    let cwd = launch::directory(common)?;
    let missing = || Usage("which agent? its name, or its command after `--`".into());
    let agent = launch::named_agent(common, &surroundings.config)?.ok_or_else(missing)?;
    let mut config = launch::engine_config(agent.clone(), cwd, Policy::Auto(Allow::None), common, None)?;
    config.start_in = launch::start_in(&agent, surroundings.dirs.as_ref().and_then(|dirs| dirs.home.as_deref()));
    Ok((agent, config))
}

fn run<F: Future<Output = std::io::Result<Ended>>>(begin: impl FnOnce() -> F) -> Result<Ended, Usage> {
    let runtime = runtime::start()?;
    let ended = runtime.block_on(async { Box::pin(begin()).await });
    runtime.shutdown_background();
    let ended = ended.map_err(|error| Usage(format!("signals cannot be waited for: {error}")))?;
    say_goodbye(&ended.goodbye, false);
    Ok(ended)
}

fn told(ended: &Ended) -> u8 {
    say(&ended.words);
    for line in &ended.detail {
        say(&format!("  {line}"));
    }
    ended.code
}
