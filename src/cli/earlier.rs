//! Which earlier session is to go on: found among all that there is a journal of, with the command that starts its agent.
//!
//! Opens none. Invariants: a session goes on in its own directory, wherever it is called from; what was imported names no
//! command.

use super::args::{Common, Earlier};
use super::launch::{self, Surroundings};
use super::usage::Usage;
use crate::base::paths::visible;
use crate::config::agents::{self, AgentCommand, Starts};
use crate::model::event::Opening;
use crate::model::session::ReadOnly;
use crate::store::claims::{self, Claim, Holder, Refused};
use crate::store::sessions::{self, Known, State};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracing::warn;

/// A session that goes on.
#[derive(Debug)]
pub struct Going {
    pub cwd: PathBuf,
    pub opening: Opening,
    /// The agent that it was had with; nothing when the person names one.
    pub agent: Option<AgentCommand>,
    pub known: Known,
    /// Says that it is ours, for as long as it is held.
    pub claim: Option<Claim>,
}

/// Where a session is open that is not open here.
const ANOTHER: &str = "another acp-tui";

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
    let is_gone = !known.cwd.is_dir();
    if is_gone && known.journals.is_empty() {
        let place = visible(known.cwd.as_os_str());
        return Err(Usage(format!("the directory of session {} is gone: {place}", known.session_id)));
    }
    let is_named = common.agent.is_some() || !common.command.is_empty();
    let agent = if is_named { None } else { Some(recorded(&known, surroundings)?) };
    let id = known.session_id.as_str().into();
    let state = surroundings.dirs.as_ref().map(|dirs| dirs.state.as_path());
    if is_gone {
        let opening = Opening::Show { id, why: ReadOnly::Gone };
        return Ok(Going { opening, cwd: known.cwd.clone(), agent, known, claim: None });
    }
    let (opening, claim) = match claimed(state, &known.command, &known.session_id, open_journal(&known)) {
        Ok(claim) => (Opening::Continue(id), claim),
        Err(place) => (Opening::Show { id, why: ReadOnly::Elsewhere(place) }, None),
    };
    Ok(Going { opening, cwd: known.cwd.clone(), agent, known, claim })
}

fn open_journal(known: &Known) -> Option<&Path> {
    (known.state == State::Open).then_some(&known.journal)
}

/// Claims a session before its agent is asked for it, so that of two who want to go on with it only one does. Gives where
/// it is open instead, when somebody else has it; `open` is the journal into which they write.
pub fn claimed(state: Option<&Path>, agent: &str, id: &str, open: Option<&Path>) -> Result<Option<Claim>, String> {
    let place = |holder: Option<Holder>| holder.map_or_else(|| ANOTHER.to_owned(), |holder| holder.words());
    if let Some(journal) = open {
        return Err(place(claims::writer_of(journal)));
    }
    let Some(state) = state else { return Ok(None) };
    match claims::claim(state, agent, id, &Holder::me()) {
        Ok(claim) => Ok(Some(claim)),
        Err(Refused::Held(holder)) => Err(place(holder)),
        Err(Refused::Io(error)) => {
            // Where nothing can be written nobody is kept from going on.
            warn!(kind = ?error.kind(), "a session cannot be claimed");
            Ok(None)
        }
    }
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
        starts: Starts::InSession,
    }))
}
