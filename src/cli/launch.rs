//! From what was typed to what is started: the agent's command, the session's directory, the engine's settings.

use super::archived::{say_conversations_removed, say_removed};
use super::args::{Common, no_command};
use super::commands::Name;
use super::reached;
use super::usage::{Usage, unwritable};
use crate::base::inherited::Inherited;
use crate::base::paths::visible;
use crate::config::agents::{self, AgentCommand, Starts};
use crate::config::dirs::{Dirs, Env};
use crate::config::installed;
use crate::config::load::{self, Warning};
use crate::config::schema::{Config, Keep, ReachConfig, SandboxConfig, Spoken};
use crate::demo;
use crate::engine::{AgentSetup, EngineConfig, Framing, Further, Reach, ReviewConfig, RulesConfig, kept_by_command};
use crate::host::keyring::Keyring;
use crate::host::process::{self, Sandbox};
use crate::host::worktrees;
use crate::mcp::fill_text;
use crate::model::event::{Opening, Protocol};
use crate::model::login::quote;
use crate::model::session::Policy;
use crate::remote::{Address, Header, Remote};
use crate::review::archive;
use crate::review::protocol::SessionInfo;
use crate::store::recording;
use crate::store::sessions::{self, Limits};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tracing::{debug, warn};

/// Name of the demo in the picker, of `--agent demo` and of its scenario.
pub const DEMO: &str = "demo";

/// Everything that is read before anything is started.
pub struct Surroundings {
    pub config: Config,
    pub warnings: Vec<Warning>,
    pub dirs: Option<Dirs>,
    pub path: OsString,
}

impl Surroundings {
    pub fn read() -> Self {
        let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
        let (mut config, mut warnings) = dirs.as_ref().map(|d| load::load_file(&d.config_file())).unwrap_or_default();
        if let Some(agents) = dirs.as_ref().and_then(Dirs::agents) {
            match installed::read(&agents) {
                Ok(installed) => config.installed = installed,
                Err(message) => warnings.push(Warning { file: installed::FILE.into(), line: None, message }),
            }
        }
        if !warnings.is_empty() {
            warn!(count = warnings.len(), "parts of the configuration have no effect");
        }
        Self { config, warnings, dirs, path: std::env::var_os("PATH").unwrap_or_default() }
    }
}

/// The agent that was named on the command line, if any.
pub fn named_agent(common: &Common, config: &Config) -> Result<Option<AgentCommand>, Usage> {
    if let Some(url) = &common.reach.url {
        let here = std::env::current_dir().map_err(|e| Usage(format!("this directory is gone: {e}")))?;
        let url = Address::typed(url, &here);
        let mut configured = agents::list(config).into_iter().map(|listed| listed.agent);
        let found = configured.find(|agent| agent.reach.url.as_ref() == Some(&url));
        return Ok(Some(found.unwrap_or_else(|| AgentCommand {
            name: url.clone(),
            command: url.clone(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherited: config.inherited.clone(),
            spoken: config.spoken.clone(),
            reach: ReachConfig { url: Some(url), ..ReachConfig::default() },
            sandbox: SandboxConfig::default(),
            starts: Starts::InSession,
        })));
    }
    if let Some((command, args)) = common.command.split_first() {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        return Ok(Some(AgentCommand {
            name: text(command),
            command: text(command),
            args: args.iter().map(text).collect(),
            env: BTreeMap::new(),
            inherited: config.inherited.clone(),
            spoken: config.spoken.clone(),
            reach: ReachConfig::default(),
            sandbox: SandboxConfig::default(),
            starts: Starts::InSession,
        }));
    }
    match &common.agent {
        Some(name) if name == DEMO => demo_agent().map(Some),
        Some(name) if common.is_bare && agents::list(config).iter().all(|listed| listed.id != *name) => {
            Err(no_command(name))
        }
        Some(name) => agents::resolve(config, name).map(Some).map_err(|e| Usage(e.to_string())),
        None => Ok(None),
    }
}

/// This program as the demo agent.
pub fn demo_agent() -> Result<AgentCommand, Usage> {
    let program = std::env::current_exe().map_err(|e| Usage(format!("cannot find my own program: {e}")))?;
    Ok(AgentCommand {
        name: DEMO.into(),
        command: program.to_string_lossy().into_owned(),
        args: vec![Name::DemoAgent.word().into()],
        env: BTreeMap::new(),
        inherited: Inherited::default(),
        spoken: Spoken::default(),
        reach: ReachConfig::default(),
        sandbox: SandboxConfig::default(),
        starts: Starts::InSession,
    })
}

/// A directory for the demo with its project, removed at the end. The project is there before the agent is, so that the
/// review shows what the agent changes and not that everything is new.
pub fn demo_directory() -> Result<tempfile::TempDir, Usage> {
    let fault = |e: io::Error| Usage(format!("no directory for the demo: {e}"));
    let dir = tempfile::Builder::new().prefix("acp-tui-demo-").tempdir().map_err(fault)?;
    for file in demo::Script::builtin(DEMO).into_iter().flat_map(|script| script.file) {
        let path = dir.path().join(&file.path);
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above).map_err(fault)?;
        }
        std::fs::write(&path, &file.text).map_err(fault)?;
    }
    Ok(dir)
}

/// The session's directory, absolute and existing.
pub fn directory(common: &Common) -> Result<PathBuf, Usage> {
    let here = || std::env::current_dir().map_err(|e| Usage(format!("this directory is gone: {e}")));
    let wanted = match &common.cwd {
        Some(dir) if dir.is_absolute() => dir.clone(),
        Some(dir) => here()?.join(dir),
        None => here()?,
    };
    let found = wanted.canonicalize().map_err(|e| Usage(format!("--cwd {}: {e}", visible(wanted.as_os_str()))))?;
    if found.to_str().is_none() {
        let name = visible(found.as_os_str());
        return Err(Usage(format!("--cwd {name}: not UTF-8, in which agents are told where they are; rename it")));
    }
    if found.is_dir() {
        Ok(found)
    } else {
        Err(Usage(format!("--cwd {}: not a directory", visible(wanted.as_os_str()))))
    }
}

/// The directories that the person names besides, real and once each, in their order.
pub fn directories(named: &[PathBuf]) -> Result<Vec<PathBuf>, Usage> {
    let mut found: Vec<PathBuf> = Vec::new();
    for dir in named {
        let fault = |why: &dyn std::fmt::Display| Usage(format!("--add-dir {}: {why}", visible(dir.as_os_str())));
        let real = dir.canonicalize().map_err(|e| fault(&e))?;
        if !real.is_dir() {
            return Err(fault(&"not a directory"));
        }
        if real.to_str().is_none() {
            return Err(fault(&"its name is no text, which agents cannot be told"));
        }
        if !found.contains(&real) {
            found.push(real);
        }
    }
    Ok(found)
}

pub fn engine_config(
    agent: AgentCommand,
    cwd: PathBuf,
    policy: Policy,
    common: &Common,
    dirs: Option<&Dirs>,
) -> Result<EngineConfig, Usage> {
    let record = match &common.record {
        Some(file) => Some(recording::Place::create(file).map_err(|error| unwritable("--record", file, &error))?),
        None => None,
    };
    let known = known(&agent);
    let suggestion = known.as_ref().and_then(|known| suggestion(known, &agent));
    debug!(
        known = known.is_some(),
        args = agent.args.len(),
        env = agent.env.len(),
        looks_wrong = suggestion.is_some(),
        recorded = record.is_some(),
        "agent chosen"
    );
    if let Some(dirs) = dirs {
        archive::secure(&dirs.state).map_err(|e| Usage(e.to_string()))?;
    }
    let opening = dirs.map(|d| super::worktrees::opening(&d.state, &cwd)).transpose()?.flatten();
    let review = dirs.map(|d| ReviewConfig { opening, ..ReviewConfig::below(archive::below(&d.state)) });
    if let Some((review, dirs)) = review.as_ref().zip(dirs) {
        say_removed(&review.home, Some(SystemTime::now()));
        make_room(review.home.clone(), dirs.state.clone());
    }
    let start_in = start_in(&agent, dirs.and_then(|dirs| dirs.home.as_deref()));
    let install = known.map(|k| k.install).filter(|i| !i.is_empty());
    let directories = directories(&common.add_dir)?;
    if agent.reach.url.is_none() && (common.reach.transport.is_some() || !common.reach.headers.is_empty()) {
        return Err(Usage("--transport and --header are for an agent at an address (--url)".into()));
    }
    if agent.reach.url.is_some() && common.sandbox {
        return Err(Usage("--sandbox is for an agent that is started here, not for one at an address".into()));
    }
    let reach = reach(&agent.reach, common);
    if let Some(Err(why)) = &reach.remote {
        return Err(Usage(why.clone()));
    }
    if let Some(dirs) = dirs {
        reached::keep(&dirs.state, &line(&agent), common);
    }
    let sandbox = sandbox(&agent.sandbox, common.sandbox, dirs.and_then(|dirs| dirs.home.as_deref()))?;
    let sandbox = sandbox.map(|sandbox| Sandbox {
        writable: sandbox.writable.into_iter().chain(directories.iter().cloned()).collect(),
        ..sandbox
    });
    let kept_as = kept_as(&agent, &cwd);
    Ok(EngineConfig {
        suggestion,
        keyring: Keyring::System,
        kept_as,
        install,
        command: agent.command,
        args: agent.args,
        env: agent.env.into_iter().collect(),
        inherited: agent.inherited,
        start_in,
        protocol: protocol(&common.spoken.or(&agent.spoken))?,
        reach,
        sandbox,
        further: Further::default(),
        cwd,
        policy,
        journals: dirs.map(|d| d.state.join("sessions")),
        record,
        shell: std::env::var("SHELL").ok(),
        graces: crate::host::process::Graces::default(),
        review,
        gate: crate::model::changes::Gate::Off,
        permission_mode: common.permission_mode,
        rules: None,
        servers: None,
        unstable: false,
        keeps_form_answers: false,
        audit: dirs.map(|d| d.state.clone()),
        private: dirs
            .map(|d| archive::private(&d.state))
            .into_iter()
            .flatten()
            .chain(own_file(common.record.as_deref()))
            .collect(),
        directories,
        budget: None,
    })
}

/// What an agent is called in the system's keyring: by the name that it was chosen by, else by its command.
pub fn kept_as(agent: &AgentCommand, cwd: &Path) -> Option<String> {
    if agent.starts == Starts::AtHome || agent.reach.url.is_some() {
        return kept_as_named(agent);
    }
    Some(kept_by_command(&agent.command, &agent.args, cwd))
}

/// The same of one that was chosen by its name.
fn kept_as_named(agent: &AgentCommand) -> Option<String> {
    // What is behind an address gets no variables.
    let is_named = agent.starts == Starts::AtHome && agent.reach.url.is_none();
    is_named.then(|| format!("agent {}", agent.name))
}

/// The command line as the person would type it, or the address.
pub fn line(agent: &AgentCommand) -> String {
    let words = std::iter::once(&agent.command).chain(&agent.args);
    words.map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// What an agent may do besides writing in the session's directory, where that is confined: by `--sandbox`, or by the
/// configuration.
fn sandbox(configured: &SandboxConfig, is_asked: bool, home: Option<&Path>) -> Result<Option<Sandbox>, Usage> {
    if !configured.is_on && !is_asked {
        return Ok(None);
    }
    let sandbox = configured_sandbox(configured, home);
    let has_ports = sandbox.connects.is_some() || sandbox.listens.is_some();
    let check = if has_ports { process::check_ports } else { process::check_sandbox };
    check().map_err(|why| Usage(format!("--sandbox: {why}")))?;
    let first = lacking(&sandbox).next();
    match first {
        Some((key, why)) => Err(Usage(format!("{key}: {why}"))),
        None => Ok(Some(sandbox)),
    }
}

/// Which keys of an agent's table name places that are not there, and the words for it.
pub fn lacking_places(configured: &SandboxConfig, home: Option<&Path>) -> BTreeMap<&'static str, String> {
    lacking(&configured_sandbox(configured, home)).collect()
}

fn lacking(sandbox: &Sandbox) -> impl Iterator<Item = (&'static str, String)> {
    let places = [("sandbox_write", Some(&sandbox.writable)), ("sandbox_read", sandbox.readable.as_ref())];
    places.into_iter().filter_map(|(key, paths)| {
        let path = paths.into_iter().flatten().find(|path| !path.is_absolute() || !path.exists())?;
        let path = visible(path.as_os_str());
        Some((key, format!("{path} is not there, or no absolute path; make it, or take it out")))
    })
}

/// The same, without a look at what is there.
fn configured_sandbox(configured: &SandboxConfig, home: Option<&Path>) -> Sandbox {
    let below_home = |text: &str| {
        text.strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .map(|rest| rest.trim_start_matches('/').to_owned())
    };
    let path = |text: &String| match (below_home(text), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    };
    let SandboxConfig { writable, readable, connects, listens, .. } = configured;
    Sandbox {
        writable: writable.iter().map(path).collect(),
        readable: readable.as_ref().map(|all| all.iter().map(path).collect()),
        connects: connects.clone(),
        listens: listens.clone(),
    }
}

/// What the configuration says of it.
fn protocol(spoken: &Spoken) -> Result<Protocol, Usage> {
    let Spoken { protocol, dialect } = spoken;
    Protocol::named(protocol.as_deref(), dialect.as_deref()).ok_or_else(|| {
        let [protocol, dialect] = [protocol, dialect].map(|word| word.as_deref().unwrap_or("auto"));
        Usage(format!("there is no dialect {dialect} of version {protocol} of the protocol; leave one of the two out"))
    })
}

/// What the configuration says of an agent, unless the command line says something else.
fn reach(configured: &ReachConfig, common: &Common) -> Reach {
    let framing = configured.framing.as_deref().and_then(Framing::named);
    let (files, terminals) = (configured.files, configured.terminals);
    let transport = common.reach.transport.as_deref().or(configured.transport.as_deref());
    let remote = configured.url.as_deref().map(|url| {
        let remote = Remote::read(url)?.with(headers(configured, common)?, transport)?;
        Ok(Remote { files, terminals, ..remote })
    });
    Reach { framing: common.reach.framing.or(framing).unwrap_or_default(), remote }
}

/// The person's headers, with their variables filled in; what is typed takes the place of what is configured.
fn headers(configured: &ReachConfig, common: &Common) -> Result<Vec<Header>, String> {
    let configured = configured.headers.iter().map(|(name, value)| Header::new(name, value));
    let mut headers = configured.collect::<Result<Vec<_>, _>>()?;
    headers.retain(|header| common.reach.headers.iter().all(|typed| typed.name != header.name));
    headers.extend(common.reach.headers.iter().cloned());
    let filled = headers.into_iter().map(|Header { name, value }| {
        let value = fill_text(&value, &|variable| std::env::var(variable).ok());
        let value = value.map_err(|missing| format!("the header {name} needs {}, not set", missing.join(", ")))?;
        Header::new(&name, &value)
    });
    filled.collect()
}

/// The same of an agent of which only its command line is known: that may be an address.
pub fn recorded_reach(command: &str, args: &[String]) -> ReachConfig {
    let url = (args.is_empty() && Address::is_one(command)).then(|| command.to_owned());
    ReachConfig { url, ..ReachConfig::default() }
}

/// The agents that can be added to the one that is started, by their names: the configured ones and the demo.
pub fn further(config: &Config, home: Option<PathBuf>, is_sandboxed: bool) -> BTreeMap<String, AgentSetup> {
    let listed = agents::list(config).into_iter().map(|listed| (listed.agent, listed.install));
    let demo = demo_agent().ok().map(|agent| (agent, String::new()));
    let setup = |(agent, install): (AgentCommand, String)| {
        let start_in = start_in(&agent, home.as_deref());
        let protocol = protocol(&agent.spoken).unwrap_or_default();
        let reach = reach(&agent.reach, &Common::default());
        // One that cannot be confined says so when it is started.
        let wanted = agent.sandbox.is_on || is_sandboxed;
        let sandbox = wanted.then(|| configured_sandbox(&agent.sandbox, home.as_deref()));
        let kept_as = kept_as_named(&agent);
        let AgentCommand { name, command, args, env, inherited, .. } = agent;
        let install = Some(install).filter(|how| !how.is_empty());
        (
            name,
            AgentSetup {
                command,
                args,
                env: env.into_iter().collect(),
                inherited,
                install,
                start_in,
                protocol,
                reach,
                sandbox,
                kept_as,
            },
        )
    };
    listed.chain(demo).map(setup).collect()
}

/// A file that this program is asked to write, as the agent would have to name it.
pub fn own_file(file: Option<&Path>) -> Option<PathBuf> {
    std::path::absolute(file?).ok()
}

/// For the review of an earlier session: no agent is ever started with it.
pub fn review_config(head: SessionInfo, dir: &Path) -> EngineConfig {
    EngineConfig {
        command: head.command,
        cwd: head.cwd,
        review: Some(ReviewConfig {
            reopened: Some(dir.to_owned()),
            ..ReviewConfig::below(dir.parent().unwrap_or(dir).to_owned())
        }),
        ..EngineConfig::default()
    }
}

/// Removes reviews that are old or too much and what merges have left that were killed, beside everything else. When there is no thread for it, the next start
/// does it; what it leaves unfinished at the end of the program too.
fn make_room(reviews: PathBuf, state: PathBuf) {
    let _ = std::thread::Builder::new().name("prune".into()).spawn(move || {
        worktrees::sweep_all(&state);
        archive::prune(&reviews, None)
    });
}

/// How the person names an agent on a command line; empty where that is its command.
pub fn name_to_type(agent: &AgentCommand, config: &Config) -> String {
    let is_it = |listed: &agents::Listed| listed.id == agent.name && listed.agent.command == agent.command;
    if agents::list(config).iter().any(is_it) { agent.name.clone() } else { String::new() }
}

/// The same rules, where a command that was typed is that of configured agents; and what is to be said of rules for agents
/// that there are not.
pub fn with_names(
    rules: RulesConfig,
    agent: &AgentCommand,
    cwd: &Path,
    surroundings: &Surroundings,
) -> (RulesConfig, Vec<String>) {
    let config = &surroundings.config;
    let is_typed = agent.starts == Starts::InSession && agent.name != DEMO;
    let others = if is_typed { agents::alike(agent, config, &surroundings.path) } else { Vec::new() };
    let known: Vec<String> = agents::list(config).into_iter().map(|listed| listed.id).collect();
    let rules = rules.also(others);
    let is_unknown = |name: &String| *name != agent.name && name != DEMO && !known.contains(name);
    let named = rules.book.agents(cwd).into_iter().filter(is_unknown);
    let said = named
        .map(|name| format!("rules for agent {name:?}: no agent of that name is configured, and this one is another"));
    (rules, said.collect())
}

/// Where the agent's program is started, unless that is the session's directory.
pub fn start_in(agent: &AgentCommand, home: Option<&Path>) -> Option<PathBuf> {
    home.filter(|home| agent.starts == Starts::AtHome && home.is_dir()).map(Path::to_owned)
}

/// What is to be said of an agent whose program lies in the project that it is to work on: a change of the project
/// changes the agent.
pub fn own_program(config: &EngineConfig, surroundings: &Surroundings) -> Option<String> {
    let home = surroundings.dirs.as_ref().and_then(|dirs| dirs.home.as_deref());
    // Below these everything is.
    if config.reach.remote.is_some() || Some(config.cwd.as_path()) == home || config.cwd.parent().is_none() {
        return None;
    }
    let from = config.start_in.as_deref().unwrap_or(&config.cwd);
    let found = agents::find_on_path(&config.command, &surroundings.path);
    let program = found.map_or_else(|| from.join(&config.command), |found| from.join(found)).canonicalize().ok()?;
    let below = program.strip_prefix(&config.cwd).ok()?;
    Some(format!("the agent's program is a file of this project: {}", visible(below.as_os_str())))
}

/// Removes what was left behind and conversations beyond the limits that the person has set, beside everything else.
pub fn keep_within_limits(surroundings: &Surroundings, opening: &Opening) {
    let limits = limits(surroundings.config.keep);
    let Some(dirs) = &surroundings.dirs else { return };
    let (state, goes_on) = (dirs.state.clone(), opening.kept().map(|id| id.as_str().to_owned()));
    if limits == Limits::default() {
        let work = move || sessions::take_left_behind(&state);
        let _ = std::thread::Builder::new().name("limits".into()).spawn(work);
        return;
    }
    say_conversations_removed(&state, SystemTime::now());
    let age = limits.age.filter(|_| archive::is_clock_steady(&state, SystemTime::now()));
    let work = move || match sessions::prune(&state, Limits { age, ..limits }, now(), goes_on.as_deref()) {
        Ok(pruned) => {
            debug!(sessions = pruned.sessions, bytes = pruned.bytes, "journals beyond the limits");
            archive::note_removed(&state, usize::try_from(pruned.sessions).unwrap_or(usize::MAX));
        }
        Err(error) => warn!(kind = ?error.kind(), "journals beyond the limits cannot be removed"),
    };
    let _ = std::thread::Builder::new().name("limits".into()).spawn(work);
}

/// What the configuration says is to be kept.
pub fn limits(keep: Keep) -> Limits {
    Limits {
        count: keep.count,
        age: keep.days.map(|days| Duration::from_secs(days.saturating_mul(24 * 60 * 60))),
        bytes: keep.mib.map(|mib| mib.saturating_mul(1 << 20)),
    }
}

/// Since 1970.
pub fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// What is known of a program that speaks the protocol only when it is started in a certain way.
fn known(agent: &AgentCommand) -> Option<agents::KnownAgent> {
    let name = Path::new(&agent.command).file_name().filter(|_| agent.reach.url.is_none())?.to_str()?;
    agents::known().into_iter().find(|k| k.command == name)
}

/// The command line that the person may have meant.
fn suggestion(known: &agents::KnownAgent, agent: &AgentCommand) -> Option<String> {
    let given = known.args.iter().all(|arg| agent.args.contains(arg));
    (!given).then(|| format!("{} {}", known.command, known.args.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_started_by_its_name_alone_and_what_is_none_says_what_to_type() {
        let named = |word: &str, is_bare| {
            let config = load::load("[agents.mine]\ncommand = \"my-agent\"\n", "config.toml").0;
            named_agent(&Common { agent: Some(word.into()), is_bare, ..Common::default() }, &config)
        };
        assert_eq!(named("mine", true).unwrap().map(|agent| agent.command), Some("my-agent".into()));
        for (word, hint) in [
            ("sesions", "there is no command `sesions`, nor an agent of that name"),
            ("claude-agent-acp", "`acp-tui --agent claude`"),
            ("min", "nor an agent of that name"),
        ] {
            let Err(Usage(said)) = named(word, true) else { panic!("{word} was taken") };
            assert!(said.contains(hint), "{said}");
        }
        assert_eq!(named("min", false).unwrap().map(|agent| agent.name), Some("mine".into()));
    }

    #[test]
    fn an_agent_is_called_in_the_keyring_what_it_was_chosen_by() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(one.path().join("agent.js"), "").unwrap();
        let agent = |command: &str, args: &[&str], starts| AgentCommand {
            name: "mine".into(),
            command: command.into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::new(),
            inherited: Inherited::default(),
            spoken: Spoken::default(),
            reach: ReachConfig::default(),
            sandbox: SandboxConfig::default(),
            starts,
        };
        let [typed, of_project] = [("codex-acp", "--acp"), ("node", "agent.js")].map(|(command, arg)| {
            [&one, &other].map(|dir| kept_as(&agent(command, &[arg], Starts::InSession), dir.path()))
        });
        assert!(typed[0].is_some() && typed[0] == typed[1], "{typed:?}");
        assert_ne!(of_project[0], of_project[1]);
        assert_ne!(typed[0], of_project[1]);
        let named = agent("codex-acp", &[], Starts::AtHome);
        assert_eq!(kept_as(&named, one.path()).as_deref(), Some("agent mine"));
        assert_eq!(further(&Config::default(), None, false)["codex"].kept_as.as_deref(), Some("agent codex"));
        let far = ReachConfig { url: Some("https://agent.example/".into()), ..ReachConfig::default() };
        assert_eq!(kept_as(&AgentCommand { reach: far, ..named }, one.path()), None);
    }
}
