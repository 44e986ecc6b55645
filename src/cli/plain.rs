//! `--plain`: a conversation in lines, on standard input and output.
//!
//! Puts together what such a session needs. Invariant: what is wrong with the command line is said before an agent starts.

use super::args::{Common, SessionChoice};
use super::launch::{self, DEMO, Surroundings};
use super::output::{say, say_goodbye};
use super::resume;
use super::runtime;
use super::usage::Usage;
use crate::config::agents::{self, AgentCommand};
use crate::engine::{Engine, Hook};
use crate::headless::code;
use crate::model::changes::Gate;
use crate::model::event::Opening;
use crate::model::login::quote;
use crate::model::session::Policy;
use crate::plain::{self, Input, Options};
use std::io::{self, IsTerminal as _};

/// `acp-tui --plain …`.
pub(super) fn run(common: &Common) -> Result<u8, Usage> {
    if common.goes_on == Some(SessionChoice::Chosen) {
        return Err(Usage("--plain has no list to choose from; `acp-tui sessions` names them for --resume ID".into()));
    }
    if let Some(theme) = &common.theme {
        return Err(Usage(format!("--plain draws nothing; leave out --theme {theme}")));
    }
    let surroundings = Surroundings::read();
    // The claim is held until the end.
    let (cwd, opening, recorded, _claim) = match resume::find(common, &surroundings)? {
        Some(going) => {
            if let Opening::Show { id, why } = &going.opening {
                let prints = format!("`acp-tui export {id}` prints what is recorded of it");
                let [why, next] = [why.words(), why.advice().map_or_else(String::new, |advice| format!("; {advice}"))];
                return Err(Usage(format!("session {id}: {why}{next}; {prints}")));
            }
            (going.cwd, going.opening, going.agent, going.claim)
        }
        None => (launch::directory(common)?, Opening::New, None, None),
    };
    let agent = match launch::named_agent(common, &surroundings.config)?.or(recorded) {
        Some(agent) => agent,
        None => default_agent(&surroundings)?,
    };
    // The demo writes; it gets a place of its own, which goes at the end.
    let dir = if agent.name == DEMO { Some(launch::demo_directory()?) } else { None };
    let cwd = match &dir {
        Some(dir) => dir.path().canonicalize().map_err(|e| Usage(e.to_string()))?,
        None => cwd,
    };
    let mut warnings: Vec<String> = surroundings.warnings.iter().map(ToString::to_string).collect();
    let cwd = match &common.worktree {
        None => cwd,
        Some(_) if dir.is_some() => {
            return Err(Usage("the demo has a directory of its own; leave out --worktree".into()));
        }
        Some(wanted) => {
            let made = super::worktrees::for_session(wanted, &cwd)?;
            warnings.extend(made.remarks);
            made.cwd
        }
    };
    let hook = surroundings.config.decision_hook.clone().map(Hook::new);
    let (rules, wrong) = super::rules::of_session(&cwd, &agent.name, hook, surroundings.dirs.as_ref());
    warnings.extend(wrong);
    let servers = super::servers::of_session(common, &surroundings, &agent.name)?;
    let mut config = launch::engine_config(agent, cwd, Policy::Ask, common, surroundings.dirs.as_ref())?;
    warnings.extend(launch::own_program(&config, &surroundings));
    launch::keep_within_limits(&surroundings, &opening);
    config.budget = super::spent::budget(&surroundings);
    config.gate = surroundings.config.gate.as_deref().and_then(Gate::from_name).unwrap_or_default();
    config.rules = Some(rules);
    config.servers = Some(servers);
    let options = Options {
        opening,
        home: surroundings.dirs.as_ref().and_then(|dirs| dirs.home.clone()),
        model: common.model.clone(),
        warnings,
    };
    let runtime = runtime::start()?;
    let ended = runtime.block_on(async {
        let input = Input::new(io::stdin(), io::stdin().is_terminal());
        Box::pin(plain::run(Engine::new(config), options, input, io::stdout())).await
    });
    // The thread that waits for the next line must not hold the exit.
    runtime.shutdown_background();
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            say(&error.to_string());
            return Ok(code::OWN_FAULT);
        }
    };
    say_goodbye(&ended.goodbye);
    if let Some(id) = ended.can_go_on.filter(|_| dir.is_none()) {
        say(&format!("to go on: acp-tui --plain --resume {}", quote(&id)));
    }
    Ok(ended.code)
}

/// `acp-tui demo --plain`.
pub(super) fn demo(common: &Common) -> Result<u8, Usage> {
    let agent = Some(DEMO.to_owned());
    run(&Common { agent, record: common.record.clone(), spoken: common.spoken.clone(), ..Common::default() })
}

fn default_agent(surroundings: &Surroundings) -> Result<AgentCommand, Usage> {
    match surroundings.config.default_agent.as_deref() {
        Some(DEMO) => launch::demo_agent(),
        Some(name) => agents::resolve(&surroundings.config, name).map_err(|error| Usage(error.to_string())),
        None => Err(Usage("no agent: put its command after `--`, or use --agent NAME".into())),
    }
}
