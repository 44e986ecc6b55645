//! The agents that can be started: the person's own, those that were added from a registry, and the ones everybody can
//! install.
//!
//! Starts nothing. The list is data (`assets/agents.toml`); nothing in the program depends on which agents are in it.
//! Invariant: of several agents of one name the person's own wins, then the one that was added.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::schema::{Config, ReachConfig, SandboxConfig, Spoken};
use crate::base::inherited::Inherited;

const ASSET: &str = include_str!("../../assets/agents.toml");

/// An agent that everybody can install.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownAgent {
    /// What it is called in commands and in the configuration.
    pub id: String,
    /// What it is called for people.
    pub name: String,
    pub command: String,
    #[serde(default)]
    pub args: Vec<String>,
    /// How to get it, in one line.
    #[serde(default)]
    pub install: String,
}

#[derive(Deserialize)]
struct Asset {
    agent: Vec<KnownAgent>,
}

/// The known agents, in the order in which they are offered.
pub fn known() -> Vec<KnownAgent> {
    // That the list can be read is tested; an empty one would only take the offers away.
    toml::from_str::<Asset>(ASSET).map(|asset| asset.agent).unwrap_or_default()
}

/// One line of the list of agents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    pub id: String,
    pub name: String,
    pub agent: AgentCommand,
    /// Empty for those that are set up here.
    pub install: String,
    pub origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Config,
    /// Added from a registry.
    Installed,
    Known,
}

/// The agents whose very command this one is: the same arguments, and the same program or one of the same name.
pub fn alike(agent: &AgentCommand, config: &Config, path_var: &OsStr) -> Vec<String> {
    let program = |command: &str| find_on_path(command, path_var).and_then(|file| file.canonicalize().ok());
    let name = |command: &str| Path::new(command).file_name().map(ToOwned::to_owned);
    let own = program(&agent.command);
    let is_it = |other: &AgentCommand| {
        let is_same_program = || own.is_some() && own == program(&other.command);
        let is_same_name = name(&agent.command).is_some() && name(&agent.command) == name(&other.command);
        other.name != agent.name && other.args == agent.args && (is_same_name || is_same_program())
    };
    let all = list(config).into_iter().map(|listed| listed.agent);
    let has_program = |agent: &AgentCommand| agent.reach.url.is_none();
    all.filter(|other| has_program(agent) && has_program(other) && is_it(other)).map(|other| other.name).collect()
}

/// What is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentCommand {
    pub name: String,
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// What of this program's own environment it gets, too.
    pub inherited: Inherited,
    /// As the configuration says it.
    pub spoken: Spoken,
    pub reach: ReachConfig,
    pub sandbox: SandboxConfig,
    pub starts: Starts,
}

/// In which directory an agent's program is started. The session's directory is told it by the protocol in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Starts {
    /// One that is chosen by its name: no file of a project can change how it logs in or what it runs.
    AtHome,
    /// A command that was typed, which may name files of the project.
    InSession,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("there is no agent {name:?}; known: {}", known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    #[error("{name:?} is the beginning of several agents: {}", alike.join(", "))]
    Several { name: String, alike: Vec<String> },
}

/// The person's own agents, then those that were added, then the known ones; none twice.
pub fn list(config: &Config) -> Vec<Listed> {
    let known = known();
    let own = config.agents.iter().map(|(id, own)| Listed {
        id: id.clone(),
        name: known.iter().find(|k| k.id == *id).map_or_else(|| id.clone(), |k| k.name.clone()),
        agent: AgentCommand {
            name: id.clone(),
            command: own.command.clone(),
            args: own.args.clone(),
            env: own.env.clone(),
            inherited: own.inherited.within(&config.inherited),
            spoken: own.spoken.or(&config.spoken),
            reach: own.reach.clone(),
            sandbox: own.sandbox.clone(),
            starts: Starts::AtHome,
        },
        install: String::new(),
        origin: Origin::Config,
    });
    let mut all: Vec<Listed> = own.collect();
    let is_added = |id: &str| config.installed.iter().any(|added| added.id == id);
    all.extend(config.installed.iter().filter(|added| !config.agents.contains_key(&added.id)).map(|added| Listed {
        id: added.id.clone(),
        name: added.name.clone(),
        agent: AgentCommand {
            name: added.id.clone(),
            command: added.command.clone(),
            args: added.args.clone(),
            env: added.env.clone(),
            inherited: config.inherited.clone(),
            spoken: config.spoken.clone(),
            reach: ReachConfig::default(),
            sandbox: SandboxConfig::default(),
            starts: Starts::AtHome,
        },
        install: String::new(),
        origin: Origin::Installed,
    }));
    let is_new = |id: &str| !config.agents.contains_key(id) && !is_added(id);
    all.extend(known.iter().filter(|k| is_new(&k.id)).map(|k| Listed {
        id: k.id.clone(),
        name: k.name.clone(),
        agent: AgentCommand {
            name: k.id.clone(),
            command: k.command.clone(),
            args: k.args.clone(),
            env: BTreeMap::new(),
            inherited: config.inherited.clone(),
            spoken: config.spoken.clone(),
            reach: ReachConfig::default(),
            sandbox: SandboxConfig::default(),
            starts: Starts::AtHome,
        },
        install: k.install.clone(),
        origin: Origin::Known,
    }));
    all
}

/// The command of an agent by its name: exactly, else by the name of its package or program, else without `-acp`, else by
/// a beginning that only one has.
pub fn resolve(config: &Config, name: &str) -> Result<AgentCommand, ResolveError> {
    let all = list(config);
    let package = package(name);
    let bare = package.strip_suffix("-acp").unwrap_or(package);
    let exactly = |wanted: &str| all.iter().find(|listed| listed.id == wanted);
    // By the program that it starts, or by the package that it is installed from.
    let is_of = |listed: &&Listed| {
        let installed = listed.install.rsplit(['/', ' ']).next();
        !package.is_empty() && (listed.agent.command == package || installed == Some(package))
    };
    let program = || all.iter().find(is_of);
    let found = exactly(name).or_else(|| exactly(package)).or_else(program).or_else(|| exactly(bare));
    if let Some(found) = found {
        return Ok(found.agent.clone());
    }
    let begin = |listed: &&Listed| !name.is_empty() && listed.id.starts_with(name);
    let alike: Vec<&str> = all.iter().filter(begin).map(|listed| listed.id.as_str()).collect();
    match alike[..] {
        [_] => all.iter().find(begin).map(|listed| listed.agent.clone()).ok_or_else(|| unknown(name, &all)),
        [] => Err(unknown(name, &all)),
        _ => Err(ResolveError::Several {
            name: name.to_owned(),
            alike: alike.iter().map(|id| (*id).to_owned()).collect(),
        }),
    }
}

fn unknown(name: &str, all: &[Listed]) -> ResolveError {
    ResolveError::Unknown { name: name.to_owned(), known: all.iter().map(|listed| listed.id.clone()).collect() }
}

/// The last part of a package's name without its version: `codex-acp` of `@scope/codex-acp@1.2`.
fn package(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.split_once('@').map_or(last, |(package, _)| package)
}

/// The program that would be started: looked up in `path_var` (the value of `PATH`) unless the command is a path.
pub fn find_on_path(command: &str, path_var: &OsStr) -> Option<PathBuf> {
    if command.is_empty() {
        return None;
    }
    if command.contains('/') {
        return Some(PathBuf::from(command)).filter(|path| is_program(path));
    }
    // An empty entry means the current directory; a program that lies there by chance is not meant.
    std::env::split_paths(path_var)
        .filter(|dir| !dir.as_os_str().is_empty())
        .map(|dir| dir.join(command))
        .find(|path| is_program(path))
}

/// Whether an agent can be started here; one behind an address needs nothing for that.
pub fn is_here(agent: &AgentCommand, path_var: &OsStr) -> bool {
    agent.reach.url.is_some() || find_on_path(&agent.command, path_var).is_some()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema::AgentConfig;

    #[test]
    fn the_list_can_be_read_and_has_no_doubles() {
        let asset: Asset = toml::from_str(ASSET).unwrap();
        let known = known();
        assert_eq!(asset.agent, known);
        assert!(known.len() >= 24, "{}", known.len());
        for (n, agent) in known.iter().enumerate() {
            assert!(!agent.name.is_empty() && !agent.command.is_empty() && !agent.install.is_empty(), "{}", agent.id);
            assert!(
                agent.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                agent.id
            );
            assert!(!known[..n].iter().any(|other| other.id == agent.id), "{}", agent.id);
        }
    }

    fn config() -> Config {
        let mut config = Config::default();
        let own = |command: &str| AgentConfig { command: command.to_owned(), ..AgentConfig::default() };
        config.agents.insert("gemini".to_owned(), own("/my/gemini"));
        config.agents.insert("mine".to_owned(), own("mine-acp"));
        config
    }

    #[test]
    fn the_persons_agents_win() {
        let config = config();
        let all = list(&config);
        assert_eq!(all.iter().filter(|l| l.id == "gemini").count(), 1);
        assert_eq!(all[0].origin, Origin::Config);
        assert_eq!(all[0].name, "Gemini CLI");
        assert_eq!(resolve(&config, "gemini").unwrap().command, "/my/gemini");
        assert_eq!(resolve(&config, "mine").unwrap().name, "mine");
        let default = resolve(&Config::default(), "gemini").unwrap();
        assert_eq!((default.command.as_str(), default.args), ("gemini", vec!["--acp".to_owned()]));
    }

    #[test]
    fn a_command_that_is_typed_is_that_of_the_agents_which_are_configured_so() {
        let temp = tempfile::tempdir().unwrap();
        let bin = temp.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("mine-acp"), "").unwrap();
        std::fs::set_permissions(bin.join("mine-acp"), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("mine-acp", bin.join("linked")).unwrap();
        let alike = |command: &str, args: &[&str]| {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            let typed = AgentCommand {
                name: command.into(),
                command: command.into(),
                args,
                ..resolve(&config(), "mine").unwrap()
            };
            super::alike(&typed, &config(), bin.as_os_str())
        };
        assert_eq!(alike("mine-acp", &[]), ["mine"]);
        assert_eq!(alike("/elsewhere/mine-acp", &[]), ["mine"]);
        assert_eq!(alike("linked", &[]), ["mine"]);
        assert_eq!(alike("mine-acp", &["--x"]), [""; 0]);
        assert_eq!(alike("python3", &["/x.py"]), [""; 0]);
        assert_eq!(alike("/elsewhere/gemini", &[]), ["gemini"]);
    }

    #[test]
    fn an_unknown_name_lists_what_there_is() {
        let text = resolve(&config(), "nobody").unwrap_err().to_string();
        assert!(text.starts_with("there is no agent \"nobody\"; known: gemini, mine, "), "{text}");
        assert!(text.contains("opencode"), "{text}");
    }

    #[test]
    fn an_agent_is_found_by_package_suffix_and_a_beginning_that_is_one() {
        let command = |name: &str| resolve(&Config::default(), name).map(|agent| agent.name);
        for (typed, id) in [
            ("gemini", "gemini"),
            ("codex-acp", "codex"),
            ("@agentclientprotocol/codex-acp@1.6.2", "codex"),
            ("@google/gemini-cli@0.9", "gemini"),
            ("@agentclientprotocol/claude-agent-acp", "claude"),
            ("gemini-acp", "gemini"),
            ("juni", "junie"),
            ("claude", "claude"),
        ] {
            assert_eq!(command(typed).as_deref(), Ok(id), "{typed}");
        }
        let several = command("ki").unwrap_err().to_string();
        assert!(several.starts_with("\"ki\" is the beginning of several agents: ki"), "{several}");
        for typed in ["", "-acp", "@", "nobody-acp", "/"] {
            assert!(matches!(command(typed), Err(ResolveError::Unknown { .. })), "{typed}");
        }
    }

    #[test]
    fn only_executable_files_are_programs() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        let other = dir.path().join("other");
        for d in [&bin, &other] {
            std::fs::create_dir_all(d).unwrap();
        }
        let file = |path: &Path, mode| {
            std::fs::write(path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        file(&bin.join("plain"), 0o644);
        file(&other.join("plain"), 0o755);
        std::fs::create_dir(bin.join("dir")).unwrap();
        let path = std::env::join_paths([Path::new(""), &bin, &other]).unwrap();
        assert_eq!(find_on_path("plain", &path), Some(other.join("plain")));
        assert_eq!(find_on_path("dir", &path), None);
        assert_eq!(find_on_path("missing", &path), None);
        assert_eq!(find_on_path("", &path), None);
        let absolute = other.join("plain");
        assert_eq!(find_on_path(absolute.to_str().unwrap(), OsStr::new("")), Some(absolute));
        assert_eq!(find_on_path(bin.join("plain").to_str().unwrap(), &path), None);
    }
}
