//! The servers of tools (MCP) that agents are given: which there are, from where, and which of them are used.
//!
//! Reads files and the environment; starts nothing. Invariants: what comes with a project is used only where the person
//! has trusted exactly this content; what is shown has no values of variables, environment or headers.

use super::args::Common;
use super::launch::Surroundings;
use super::usage::Usage;
use super::values::Without;
use crate::base::paths::visible;
use crate::config::agents;
use crate::config::schema::Config;
use crate::engine::{ServersConfig, rule_files};
use crate::mcp::{self, Found, How, PROJECT_FILE, ResolvedServer, Server};
use crate::store::trusted::{Trusted, What};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where servers are looked for.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    /// Of the configuration.
    own: Vec<Server>,
    /// Of the configuration, for servers that are described elsewhere.
    switches: Vec<(String, Switch)>,
    /// The only ones that these agents are given, of those that were not named on the command line.
    only: BTreeMap<String, Vec<String>>,
    remarks: Vec<String>,
    /// Named on the command line.
    files: Vec<PathBuf>,
    without: Without,
    trusted: Option<Trusted>,
    path: OsString,
}

#[derive(Clone, Debug)]
struct Switch {
    is_disabled: bool,
    agents: Vec<String>,
}

/// A server, where it is from, and what becomes of it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub server: Server,
    /// The file, or that it is the configuration.
    pub from: String,
    pub state: State,
    pub whose: Whose,
}

/// The agents that are given a server, by the names that are typed, whatever else becomes of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    Only(Vec<String>),
    AllBut(Vec<String>),
}

impl Whose {
    pub fn words(&self) -> String {
        match self {
            Self::Only(names) if names.is_empty() => "for no agent".into(),
            Self::Only(names) => format!("for {}", names.join(", ")),
            Self::AllBut(names) if names.is_empty() => "for every agent".into(),
            Self::AllBut(names) => format!("for every agent but {}", names.join(", ")),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum State {
    /// The agent gets it, with its variables filled in.
    Ready(Box<Server>),
    Untrusted,
    LeftOut(WhyLeftOut),
}

/// Why an agent is not given a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WhyLeftOut {
    Disabled,
    NotWanted,
    OtherAgents,
    /// `mcp` of the agent does not name it.
    NotOfAgent,
    /// Another one of its name counts.
    SameName,
    /// Names of variables.
    NotSet(Vec<String>),
    /// As its command is written.
    NotFound(String),
}

impl WhyLeftOut {
    /// Whether the person has chosen it.
    fn is_chosen(&self) -> bool {
        !matches!(self, Self::NotSet(_) | Self::NotFound(_))
    }

    pub fn words(&self) -> String {
        match self {
            Self::Disabled => "it is disabled".into(),
            Self::NotWanted => "--no-mcp leaves it out".into(),
            Self::OtherAgents => "it is for other agents".into(),
            Self::NotOfAgent => "`mcp` of this agent leaves it out".into(),
            Self::SameName => "another one of this name counts".into(),
            Self::NotSet(names) => {
                let (what, is) = if names.len() == 1 { ("variable", "is") } else { ("variables", "are") };
                format!("the {what} {} {is} not set", names.join(", "))
            }
            Self::NotFound(command) => format!("`{command}` was not found, or may not be executed"),
        }
    }
}

impl Sources {
    pub fn new(common: &Common, surroundings: &Surroundings) -> Result<Self, Usage> {
        let mut sources = Self {
            own: Vec::new(),
            switches: Vec::new(),
            only: surroundings.config.only_mcp.clone(),
            remarks: Vec::new(),
            files: Vec::new(),
            without: common.no_mcp.clone(),
            trusted: surroundings.dirs.as_ref().map(|dirs| Trusted::new(dirs.state.clone(), What::Servers)),
            path: surroundings.path.clone(),
        };
        sources.configured(&surroundings.config);
        for file in &common.mcp {
            let named = |why: String| Usage(format!("--mcp {}: {why}", visible(file.as_os_str())));
            let file = std::path::absolute(file).map_err(|error| named(error.to_string()))?;
            // Said before anything is started; it is read again with each session.
            read(&file).map_err(named)?.ok_or_else(|| named("there is no such file".into()))?;
            sources.files.push(file);
        }
        Ok(sources)
    }

    fn configured(&mut self, config: &Config) {
        for (name, value) in &config.mcp {
            let describes = ["command", "url"].iter().any(|member| value.get(member).is_some());
            // The members that switch are read like those of any other server.
            let mut whole = value.clone();
            if !describes && let Value::Object(members) = &mut whole {
                members.insert("command".into(), "-".into());
            }
            match mcp::server(name, &whole) {
                Ok(server) if describes => self.own.push(server),
                Ok(Server { is_disabled, agents, .. }) => {
                    self.switches.push((name.clone(), Switch { is_disabled, agents }));
                }
                Err(why) => self.remarks.push(format!("[mcp.{name}] is left out: {why}")),
            }
        }
    }

    /// All that there are for a session in this directory, the ones that count first, and what is wrong.
    pub fn rows(&self, cwd: &Path, agent: Option<&str>) -> (Vec<Row>, Vec<String>) {
        let mut remarks = self.remarks.clone();
        let mut rows: Vec<Row> = Vec::new();
        let mut add = |servers: Vec<Server>, from: &str, is_trusted: bool, is_typed: bool| {
            for server in servers {
                let is_named = rows.iter().any(|row| row.server.name == server.name);
                let state = match self.why_not(&server, agent, is_typed) {
                    Some(why) => State::LeftOut(why),
                    None if is_named => State::LeftOut(WhyLeftOut::SameName),
                    None if !is_trusted => State::Untrusted,
                    None => self.filled(&server, cwd),
                };
                let whose = self.whose(&server, is_typed);
                rows.push(Row { server, from: from.to_owned(), state, whose });
            }
        };
        for file in &self.files {
            let name = visible(file.as_os_str());
            match read(file) {
                Ok(Some((read, _))) => {
                    remarks.extend(read.remarks.iter().map(|remark| format!("{name}: {remark}")));
                    add(read.servers, &name, true, true);
                }
                Ok(None) => remarks.push(format!("{name}: there is no such file")),
                Err(why) => remarks.push(format!("{name}: {why}")),
            }
        }
        add(self.own.clone(), "config.toml", true, false);
        let file = cwd.join(PROJECT_FILE);
        let name = visible(file.as_os_str());
        // It would be the file of another directory, whose person may have trusted it there.
        if file.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
            remarks.push(format!("{name}: a symbolic link, which is not followed"));
            return (rows, remarks);
        }
        match read(&file) {
            Ok(Some((read, text))) => {
                remarks.extend(read.remarks.iter().map(|remark| format!("{name}: {remark}")));
                let is_trusted = self.trusted.as_ref().is_some_and(|trusted| trusted.has(&file, &text));
                add(read.servers, &name, is_trusted, false);
            }
            Ok(None) => {}
            Err(why) => remarks.push(format!("{name}: {why}")),
        }
        (rows, remarks)
    }

    /// What the person names on the command line is for the agent that is started with it.
    fn is_left_out_of(&self, agent: &str, server: &str) -> bool {
        self.only.get(agent).is_some_and(|names| names.iter().all(|name| name != server))
    }

    fn whose(&self, server: &Server, is_typed: bool) -> Whose {
        let switch = self.switches.iter().find(|(name, _)| *name == server.name).map(|(_, switch)| switch);
        let is_left_out = |agent: &String| !is_typed && self.is_left_out_of(agent, &server.name);
        let mut lists = switch.map(|switch| &switch.agents).into_iter().chain([&server.agents]);
        let Some(first) = lists.by_ref().find(|agents| !agents.is_empty()) else {
            return Whose::AllBut(self.only.keys().filter(|agent| is_left_out(agent)).cloned().collect());
        };
        let rest: Vec<&Vec<String>> = lists.filter(|agents| !agents.is_empty()).collect();
        let is_in_all = |agent: &&String| rest.iter().all(|agents| agents.contains(*agent)) && !is_left_out(agent);
        Whose::Only(first.iter().filter(is_in_all).cloned().collect())
    }

    fn why_not(&self, server: &Server, agent: Option<&str>, is_typed: bool) -> Option<WhyLeftOut> {
        let switch = self.switches.iter().find(|(name, _)| *name == server.name).map(|(_, switch)| switch);
        let is_off = server.is_disabled || switch.is_some_and(|switch| switch.is_disabled);
        let agents = switch.map(|switch| &switch.agents).into_iter().chain([&server.agents]);
        let mut others = agents.filter(|agents| !agents.is_empty());
        let is_for = |agents: &Vec<String>| agent.is_none_or(|agent| agents.iter().any(|name| name == agent));
        match () {
            () if is_off => Some(WhyLeftOut::Disabled),
            () if self.without.all || self.without.names.contains(&server.name) => Some(WhyLeftOut::NotWanted),
            () if !others.all(is_for) => Some(WhyLeftOut::OtherAgents),
            () if !is_typed && agent.is_some_and(|agent| self.is_left_out_of(agent, &server.name)) => {
                Some(WhyLeftOut::NotOfAgent)
            }
            () => None,
        }
    }

    /// With its variables, and the full path of its command.
    fn filled(&self, server: &Server, cwd: &Path) -> State {
        let mut filled = match mcp::fill(server, &|name| std::env::var(name).ok()) {
            Ok(filled) => filled,
            Err(missing) => return State::LeftOut(WhyLeftOut::NotSet(missing)),
        };
        if let How::Stdio { command, .. } = &mut filled.how {
            let named = if command.contains('/') { cwd.join(&*command) } else { PathBuf::from(&*command) };
            // What was filled in is not said.
            let How::Stdio { command: written, .. } = &server.how else { return State::Untrusted };
            match agents::find_on_path(&named.to_string_lossy(), &self.path) {
                Some(found) => *command = std::path::absolute(&found).unwrap_or(found).to_string_lossy().into_owned(),
                None => return State::LeftOut(WhyLeftOut::NotFound(written.clone())),
            }
        }
        State::Ready(Box::new(filled))
    }

    /// What an agent is given in this directory.
    pub fn find(&self, cwd: &Path, agent: Option<&str>) -> Found {
        let (rows, remarks) = self.rows(cwd, agent);
        let mut found = Found { servers: Vec::new(), remarks };
        let mut untrusted: Option<(String, Vec<String>)> = None;
        for Row { server, from, state, .. } in rows {
            match state {
                State::Ready(filled) => found.servers.push(ResolvedServer { written: server, filled: *filled }),
                State::Untrusted => untrusted.get_or_insert_with(|| (from, Vec::new())).1.push(server.name),
                // What the person has switched off is not said with each session.
                State::LeftOut(why) if why.is_chosen() => {}
                State::LeftOut(why) => {
                    found.remarks.push(format!("MCP server {} is left out: {}", server.name, why.words()));
                }
            }
        }
        if let Some((file, names)) = untrusted {
            found.remarks.push(format!(
                "the MCP servers of this project are not used ({}): `acp-tui mcp trust {}` shows what they would run and \
                 asks; start the agent again then",
                names.join(", "),
                crate::model::login::quote(&file),
            ));
        }
        found
    }
}

/// The servers of a file and its text; `None` when there is none.
pub(super) fn read(file: &Path) -> Result<Option<(mcp::Read, String)>, String> {
    let Some(text) = rule_files::read_text(file)? else { return Ok(None) };
    mcp::read(&text).map(|read| Some((read, text)))
}

/// For an engine whose first agent is configured under this name.
pub(super) fn of_session(common: &Common, surroundings: &Surroundings, agent: &str) -> Result<ServersConfig, Usage> {
    let sources = Sources::new(common, surroundings)?;
    Ok(ServersConfig { find: Arc::new(move |cwd, agent| sources.find(cwd, agent)), agent: agent.to_owned() })
}
