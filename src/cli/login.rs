//! `acp-tui login` and `acp-tui logout`.
//!
//! The agent is asked which ways there are; one that takes a terminal gets this one, from its start to its end.

use super::args::{Common, Login};
use super::launch::{self, Surroundings};
use super::output::{say, say_goodbye};
use super::runtime;
use super::usage::Usage;
use crate::config::agents::AgentCommand;
use crate::engine::{Engine, EngineConfig};
use crate::headless::code;
use crate::headless::login::{self, Ended};
use crate::host::process;
use crate::model::event::AuthKind;
use crate::model::session::{Allow, Policy};

pub fn log_in(asked: &Login) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    let (agent, config) = agent(&asked.common, &surroundings)?;
    let name = launch::name_to_type(&agent, &surroundings.config);
    let directory = config.start_in.clone().unwrap_or_else(|| config.cwd.clone());
    let ended = run(|| login::log_in(Engine::new(config), asked.method.clone(), &name))?;
    let Some(kind) = &ended.run else { return Ok(told(&ended)) };
    let (command, args, env) = match kind {
        AuthKind::Terminal { args, env } => (agent.command, agent.args.iter().chain(args).cloned().collect(), env),
        AuthKind::Command { command, args, env } => (command.clone(), args.clone(), env),
        AuthKind::Agent | AuthKind::Env { .. } | AuthKind::Typed { .. } => return Ok(told(&ended)),
    };
    let env = agent.env.into_iter().chain(env.iter().cloned()).collect();
    let spec = process::AgentSpec {
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

pub fn log_out(common: &Common) -> Result<u8, Usage> {
    let (_, config) = agent(common, &Surroundings::read())?;
    Ok(told(&run(|| login::log_out(Engine::new(config)))?))
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
    say_goodbye(&ended.goodbye);
    Ok(ended)
}

fn told(ended: &Ended) -> u8 {
    say(&ended.words);
    for line in &ended.detail {
        say(&format!("  {line}"));
    }
    ended.code
}
