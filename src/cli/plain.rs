//! `--plain`: a conversation in lines, on standard input and output.
//!
//! Puts together what such a session needs. Invariant: what is wrong with the command line is said before an agent starts.

use super::args::{Common, SessionChoice};
use super::interactive::{self, Interactive};
use super::launch::{self, DEMO, Surroundings};
use super::output::{is_kept, say, say_goodbye, say_with};
use super::resume;
use super::runtime;
use super::usage::Usage;
use crate::base::human;
use crate::config::agents::{self, AgentCommand};
use crate::engine::Engine;
use crate::headless::code;
use crate::model::event::Opening;
use crate::model::login::quote;
use crate::plain::{self, Input, Options};
use crate::ui::labels::GoesOn;
use std::io::{self, IsTerminal as _};

/// `acp-tui --plain …`.
pub(super) fn run(common: &Common) -> Result<u8, Usage> {
    if common.goes_on == Some(SessionChoice::Chosen) {
        return Err(Usage("--plain has no list to choose from; `acp-tui sessions` names them for --resume ID".into()));
    }
    if let Some(theme) = &common.theme {
        return Err(Usage(format!("--plain draws nothing; leave out --theme {theme}")));
    }
    if common.inline || common.print_on_exit {
        let option = if common.inline { "inline" } else { "print-on-exit" };
        return Err(Usage(format!("--plain stands in the terminal's scrollback anyway; leave out --{option}")));
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
    let mut warnings: Vec<String> = surroundings.warnings.iter().map(ToString::to_string).collect();
    let Interactive { config, warnings: further, demo } =
        interactive::prepare(common, &surroundings, agent, cwd, &opening)?;
    warnings.extend(further);
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
    say_goodbye(&ended.goodbye, false);
    let can_go_on = ended.can_go_on.filter(|one| demo.is_none() && is_kept(&ended.goodbye, one));
    if let Some(GoesOn { id, about, .. }) = can_go_on {
        say_with(&format!("to go on with {about}:"), &format!("acp-tui --plain --resume {}", quote(&id)));
    }
    if ended.undecided > 0 {
        say(&format!("{} to decide: acp-tui review last", human::count(ended.undecided, "hunk")));
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
