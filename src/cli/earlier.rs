//! Which earlier session is to go on: found among all that there is a journal of, with the command that starts its agent.
//!
//! Opens none. Invariants: a session goes on in its own directory, wherever it is called from; what was imported names no
//! command.

use super::args::{Common, Earlier};
use super::launch::{self, Surroundings};
use super::usage::Usage;
use crate::base::paths::visible;
use crate::config::agents::{self, AgentCommand};
use crate::model::event::Opening;
use crate::model::session::ReadOnly;
use crate::store::sessions::{self, Known, State};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A session that goes on.
#[derive(Debug)]
pub struct Going {
    pub cwd: PathBuf,
    pub opening: Opening,
    /// The agent that it was had with; nothing when the person names one.
    pub agent: Option<AgentCommand>,
    pub known: Known,
}

/// Where a session is open that is not open here.
pub const ANOTHER: &str = "another acp-tui";

/// The session that the command line asks for, if it asks for an earlier one.
pub fn find(common: &Common, surroundings: &Surroundings) -> Result<Option<Going>, Usage> {
    let Some(earlier) = &common.earlier else { return Ok(None) };
    let Some(dirs) = &surroundings.dirs else {
        return Err(Usage("there is no place for sessions: neither HOME nor XDG_STATE_HOME is set".into()));
    };
    let known = match earlier {
        // The person chooses on the screen.
        Earlier::Chosen => return Ok(None),
        Earlier::Newest => {
            let cwd = launch::directory(common)?;
            let found = sessions::newest(&dirs.state, &cwd);
            found.map_err(|e| Usage(format!("the sessions cannot be read: {e}")))?.ok_or_else(|| {
                let place = visible(cwd.as_os_str());
                Usage(format!(
                    "no session of {place} is known; begin one without --continue, or name one with --resume"
                ))
            })?
        }
        Earlier::Named(_) if common.cwd.is_some() => {
            return Err(Usage("a session has a directory of its own; leave out --cwd".into()));
        }
        Earlier::Named(name) => sessions::by_id(&dirs.state, name).map_err(|e| Usage(e.to_string()))?,
    };
    going(known, common, surroundings).map(Some)
}

/// A session as it goes on, if it can.
pub fn going(known: Known, common: &Common, surroundings: &Surroundings) -> Result<Going, Usage> {
    if !known.cwd.is_dir() {
        let place = visible(known.cwd.as_os_str());
        return Err(Usage(format!("the directory of session {} is gone: {place}", known.session_id)));
    }
    let is_named = common.agent.is_some() || !common.command.is_empty();
    let agent = if is_named { None } else { Some(recorded(&known, surroundings)?) };
    let id = known.session_id.as_str().into();
    let opening = match known.state {
        State::Open => Opening::Show { id, why: ReadOnly::Elsewhere(ANOTHER.to_owned()) },
        State::Interrupted | State::Ended => Opening::Continue(id),
    };
    Ok(Going { opening, cwd: known.cwd.clone(), agent, known })
}

/// The command that its journal has, with the variables that the configuration gives it.
fn recorded(known: &Known, surroundings: &Surroundings) -> Result<AgentCommand, Usage> {
    let words = known.argv().unwrap_or_default();
    let Some((command, args)) = words.split_first() else {
        let id = &known.session_id;
        if known.is_imported {
            return Err(Usage(format!(
                "session {id} was imported, and no command is taken from a file; name its agent after `--`"
            )));
        }
        return Err(Usage(format!("with which command session {id} was had is not known; name its agent after `--`")));
    };
    let is_it = |listed: &agents::Listed| listed.agent.command == *command && listed.agent.args == args;
    let configured = agents::list(&surroundings.config).into_iter().find(is_it).map(|listed| listed.agent);
    Ok(configured.unwrap_or_else(|| AgentCommand {
        name: command.clone(),
        command: command.clone(),
        args: args.to_vec(),
        env: BTreeMap::new(),
    }))
}
