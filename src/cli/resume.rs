//! Which earlier session is to go on: found among all that there is a journal of, with the command that starts its agent.
//!
//! Opens none. Invariants: a session goes on in its own directory, wherever it is called from; what was imported names no
//! command.

use super::args::{Common, SessionChoice};
use super::conversations;
use super::launch::{self, Surroundings};
use super::output::say;
use super::reached;
use super::usage::Usage;
use crate::base::paths::visible;
use crate::config::agents::{self, AgentCommand, Starts};
use crate::config::schema::SandboxConfig;
use crate::host::worktrees;
use crate::model::event::Opening;
use crate::model::session::ReadOnly;
use crate::review::archive;
use crate::store::claims::{self, Claim, Holder, Refused};
use crate::store::sessions::{self, Known, State};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracing::warn;

/// A session that goes on.
#[derive(Debug)]
pub struct Resumed {
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
pub fn find(common: &Common, surroundings: &Surroundings) -> Result<Option<Resumed>, Usage> {
    let Some(choice) = &common.goes_on else { return Ok(None) };
    let Some(dirs) = &surroundings.dirs else {
        return Err(Usage("there is no place for sessions: neither HOME nor XDG_STATE_HOME is set".into()));
    };
    let known = match choice {
        // The person chooses on the screen.
        SessionChoice::Chosen => return Ok(None),
        SessionChoice::Newest => newest(common, &dirs.state, "--continue")?,
        SessionChoice::Named(name) if name == archive::LAST => newest(common, &dirs.state, "--resume")?,
        SessionChoice::Named(name) => {
            let command = wanted(common, surroundings)?;
            let known = sessions::by_id(&dirs.state, name, command.as_deref());
            let known = known.map_err(|e| Usage(e.to_string()))?;
            if common.cwd.is_some() && !known.is_only_told() {
                return Err(Usage("a session has a directory of its own; leave out --cwd".into()));
            }
            known
        }
    };
    let known = if known.is_only_told() { told(known, common)? } else { known };
    going(known, common, surroundings).map(Some)
}

/// The newest session of the directory. `option` is how it was asked for.
fn newest(common: &Common, state: &Path, option: &str) -> Result<Known, Usage> {
    let cwd = launch::directory(common)?;
    let found = sessions::newest(state, &cwd, &worktrees::origins(state));
    found.map_err(|e| Usage(format!("the sessions cannot be read: {e}")))?.ok_or_else(|| {
        let place = visible(cwd.as_os_str());
        Usage(format!(
            "no session of {place} is known; begin one without {option}, or name one with --resume ID: \
             `acp-tui sessions --all` lists those of other directories"
        ))
    })
}

/// The command line of the agent that the person names, if they do.
fn wanted(common: &Common, surroundings: &Surroundings) -> Result<Option<String>, Usage> {
    Ok(launch::named_agent(common, &surroundings.config)?.map(|agent| launch::line(&agent)))
}

/// What only its agent knows of, in the directory that the person names for it, else in that which its agent tells. Says
/// what is started and where.
fn told(mut known: Known, common: &Common) -> Result<Known, Usage> {
    if common.cwd.is_some() {
        known.cwd = launch::directory(common)?;
    }
    let (id, place) = (archive::shown_id(&known.session_id), visible(known.cwd.as_os_str()));
    if common.cwd.is_none() && is_too_wide(&known.cwd) {
        return Err(Usage(format!(
            "session {id} is known from its agent only, which says that it was had in {place}; name its directory with --cwd"
        )));
    }
    say(&format!("session {id} is known from its agent only: {}, in {place}", known.command));
    Ok(known)
}

/// No project is there, and an agent that works there has all that there is.
pub fn is_too_wide(place: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let place = real(place);
    place.parent().is_none() || conversations::home().is_some_and(|home| real(&home).starts_with(&place))
}

/// A session as it goes on, if it can.
pub fn going(known: Known, common: &Common, surroundings: &Surroundings) -> Result<Resumed, Usage> {
    let is_gone = !known.cwd.is_dir();
    if is_gone && known.journals.is_empty() {
        let place = visible(known.cwd.as_os_str());
        return Err(Usage(format!("the directory of session {} is gone: {place}", known.session_id)));
    }
    let is_named = common.names_agent();
    let agent = if is_named { None } else { Some(recorded(&known, common, surroundings)?) };
    let id = known.session_id.as_str().into();
    let state = surroundings.dirs.as_ref().map(|dirs| dirs.state.as_path());
    if is_gone {
        let discarded = state.and_then(|state| worktrees::origins(state).discarded(&known.cwd));
        let opening = Opening::Show { id, why: ReadOnly::gone(discarded) };
        return Ok(Resumed { opening, cwd: known.cwd.clone(), agent, known, claim: None });
    }
    let (opening, claim) = match claimed(state, &known.command, &known.session_id, open_journal(&known)) {
        Ok(claim) => (Opening::Continue(id), claim),
        Err(place) => (Opening::Show { id, why: ReadOnly::Elsewhere(place) }, None),
    };
    Ok(Resumed { opening, cwd: known.cwd.clone(), agent, known, claim })
}

fn open_journal(known: &Known) -> Option<&Path> {
    (known.state == State::Open).then_some(&known.journal)
}

/// Claims a session before its agent is asked for it, so that of two who want to go on with it only one does. Gives where
/// it is open instead, when another process has it; `open` is the journal into which they write.
pub fn claimed(state: Option<&Path>, agent: &str, id: &str, open: Option<&Path>) -> Result<Option<Claim>, String> {
    let place = |holder: Option<Holder>| holder.map_or_else(|| ANOTHER.to_owned(), |holder| holder.words());
    let is_me = |holder: &Option<Holder>| holder.as_ref().is_some_and(Holder::is_me);
    let writer = open.map(claims::writer_of);
    if let Some(writer) = writer.filter(|writer| !is_me(writer)) {
        return Err(place(writer));
    }
    let Some(state) = state else { return Ok(None) };
    match claims::claim(state, agent, id, &Holder::me()) {
        Ok(claim) => Ok(Some(claim)),
        // It did not go on here, and is still claimed for that.
        Err(Refused::Held(holder)) if is_me(&holder) => Ok(None),
        Err(Refused::Held(holder)) => Err(place(holder)),
        Err(Refused::Io(error)) => {
            // Where nothing can be written there is no claim, and the session goes on.
            warn!(kind = ?error.kind(), "a session cannot be claimed");
            Ok(None)
        }
    }
}

/// The command that its journal has, with the variables that the configuration gives it.
fn recorded(known: &Known, common: &Common, surroundings: &Surroundings) -> Result<AgentCommand, Usage> {
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
    if let Some(configured) = configured {
        return Ok(configured);
    }
    let mut reach = launch::recorded_reach(command, args);
    if let Some(dirs) = &surroundings.dirs {
        reach = reached::recall(&dirs.state, &known.command, reach, common)?;
    }
    Ok(AgentCommand {
        name: command.clone(),
        command: command.clone(),
        args: args.to_vec(),
        env: BTreeMap::new(),
        inherited: surroundings.config.inherited.clone(),
        spoken: surroundings.config.spoken.clone(),
        reach,
        sandbox: SandboxConfig::default(),
        starts: Starts::InSession,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::journal::Journal;
    use serde_json::json;

    #[test]
    fn this_process_is_never_another_one_that_has_a_session() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path();
        let of = |holder: &Holder, name: &str| {
            let head = json!({ "started": 1, "cwd": "/work", "command": "agent", "holder": holder });
            Journal::create(&sessions::journals(state), name, &head).unwrap()
        };
        let other = Holder { pid: u32::MAX, ..Holder::me() };
        let (ours, theirs) = (of(&Holder::me(), "ours.jsonl"), of(&other, "theirs.jsonl"));
        let first = claimed(Some(state), "agent", "s", Some(ours.path())).unwrap();
        assert!(first.is_some(), "the journal that is open is our own");
        assert!(claimed(Some(state), "agent", "s", None).unwrap().is_none(), "it is claimed by us already");
        let elsewhere = claimed(Some(state), "agent", "s", Some(theirs.path())).unwrap_err();
        assert!(elsewhere.contains("another acp-tui (process 4294967295"), "{elsewhere}");
        drop(first);
        let _theirs = claims::claim(state, "agent", "s", &other).unwrap();
        assert!(claimed(Some(state), "agent", "s", Some(ours.path())).is_err(), "the claim is theirs");
    }
}
