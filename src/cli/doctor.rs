//! `acp-tui doctor`: what this program finds here, and what is wrong with it.
//!
//! Changes nothing, and starts nothing but the agent that is named. Invariants: no value of an agent's environment is
//! printed; what is printed for people is cleaned; with `--redact` the home directory and what looks like a secret are left
//! out of everything.

use super::agents::{self, PATIENCE};
use super::args::Doctor;
use super::keys;
use super::launch::{self, Surroundings};
use super::output::{can_draw, print, say};
use super::redact::{Redaction, named};
use super::usage::Usage;
use crate::base::{human, paths, redact, sanitize};
use crate::config::agents::{self as configured, Origin};
use crate::config::dirs::Dirs;
use crate::config::prompts;
use crate::config::schema::{AgentConfig, Config, Notify};
use crate::engine::rulebook::{self, FileRules};
use crate::headless::check::Checked;
use crate::headless::code;
use crate::host::process::{check_ports, check_sandbox, keeps_apart};
use crate::host::rights::Rights;
use crate::rules::Trust;
use crate::store::trusted::{Trusted, What};
use crate::theme::color::Depth;
use crate::theme::looks;
use crate::ui::tty::{Letters, Multiplexer};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::path::Path;

/// Something is wrong.
const WRONG: u8 = 1;
/// The variables that change what this program does.
const VARIABLES: &[&str] = &[
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "COLORFGBG",
    "LC_ALL",
    "LC_CTYPE",
    "LANG",
    "TMUX",
    "STY",
    "SHELL",
    "VISUAL",
    "EDITOR",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "ACP_TUI_LOG",
];

/// What was found of one thing.
#[derive(Debug)]
struct Row {
    name: String,
    value: String,
    /// Why something is wrong with it, and what to do.
    wrong: Option<String>,
}

#[derive(Debug)]
struct Section {
    title: &'static str,
    rows: Vec<Row>,
}

impl Section {
    fn new(title: &'static str) -> Self {
        Self { title, rows: Vec::new() }
    }

    fn add(&mut self, name: impl Into<String>, value: impl Into<String>, wrong: Option<String>) {
        self.rows.push(Row { name: name.into(), value: value.into(), wrong });
    }
}

pub fn run(asked: &Doctor) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    let cwd = launch::directory(&asked.common)?;
    let mut sections =
        vec![program(&surroundings.config), environment(&surroundings), terminal(), directories(&surroundings, &cwd)];
    sections.extend([configuration(&surroundings), rules(&surroundings, &cwd), found(&surroundings)]);
    let mut code = code::OK;
    let home = surroundings.dirs.as_ref().and_then(|dirs| dirs.home.as_deref());
    let agent = launch::named_agent(&asked.common, &surroundings.config)?;
    let of_agent = agent.iter().flat_map(|agent| agent.env.clone());
    let of_tables = surroundings.config.agents.values().map(|agent| &agent.args);
    let of_options = agent.iter().map(|agent| &agent.args).chain(of_tables).flat_map(|args| named(args));
    let redaction = asked.redact.then(|| Redaction::here(home, of_agent.chain(of_options)));
    if let Some(agent) = agent {
        let line = agents::line(&agent.command, &agent.args);
        let shown = redaction.as_ref().map_or_else(|| line.clone(), |redaction| redaction.text(&line));
        say(&format!("starting `{shown}`"));
        let program = configured::find_on_path(&agent.command, &surroundings.path);
        let checked = agents::started(agent, &asked.common, &surroundings, asked.timeout.unwrap_or(PATIENCE))?;
        code = checked.code;
        sections.push(start(line, program.as_deref(), checked));
    }
    if let Some(redaction) = &redaction {
        for text in sections
            .iter_mut()
            .flat_map(|section| &mut section.rows)
            .flat_map(|row| [Some(&mut row.name), Some(&mut row.value), row.wrong.as_mut()].into_iter().flatten())
        {
            *text = redaction.text(text);
        }
    }
    let wrong = sections.iter().flat_map(|section| &section.rows).filter(|row| row.wrong.is_some()).count();
    let written = print(&if asked.json { as_json(&sections) } else { as_text(&sections, wrong) })?;
    Ok(match code {
        code::OK if wrong > 0 => WRONG,
        code::OK => written,
        code => code,
    })
}

fn as_json(sections: &[Section]) -> String {
    let rows = |section: &Section| -> Vec<serde_json::Value> {
        section.rows.iter().map(|row| json!({ "name": row.name, "value": row.value, "wrong": row.wrong })).collect()
    };
    let all: serde_json::Map<String, serde_json::Value> =
        sections.iter().map(|section| (section.title.to_owned(), json!(rows(section)))).collect();
    json!(all).to_string() + "\n"
}

fn as_text(sections: &[Section], wrong: usize) -> String {
    let mut text = String::new();
    for section in sections {
        text = text + section.title + "\n";
        let width = section.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default().min(24);
        for Row { name, value, wrong } in &section.rows {
            let mark = if wrong.is_some() { '!' } else { ' ' };
            let line = format!("{mark} {name:width$}  {value}");
            text = text + sanitize::line(line.trim_end()).trim_end() + "\n";
            for why in wrong.iter().flat_map(|why| why.lines()) {
                text = text + "    " + &sanitize::line(why) + "\n";
            }
        }
    }
    match wrong {
        0 => text + "nothing is wrong\n",
        wrong => format!("{text}{} marked with !\n", human::count(wrong as u64, "thing")),
    }
}

fn program(config: &Config) -> Section {
    let mut section = Section::new("program");
    section.add("version", env!("CARGO_PKG_VERSION"), None);
    section.add("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH), None);
    let is_wanted = config.agents.values().any(|agent| agent.sandbox.is_on);
    let sandbox = check_sandbox();
    let can = if sandbox.is_ok() { "can be confined (--sandbox)" } else { "cannot be confined" };
    section.add("what agents write", can, sandbox.err().map(|why| why.to_string()).filter(|_| is_wanted));
    let sandboxes = || config.agents.values().map(|agent| &agent.sandbox).filter(|sandbox| sandbox.is_on);
    let is_limited = sandboxes().any(|sandbox| sandbox.readable.is_some());
    let can = match (check_sandbox().is_ok(), is_limited) {
        (false, _) => "cannot be confined",
        (true, false) => "everything; can be confined (sandbox_read)",
        (true, true) => "confined where sandbox_read says so",
    };
    section.add("what agents read", can, None);
    let ports = check_ports();
    let is_limited = sandboxes().any(|sandbox| sandbox.connects.is_some() || sandbox.listens.is_some());
    let can = if ports.is_ok() {
        "ports of TCP can be confined (sandbox_connect, sandbox_listen), waiting on a port that the kernel chooses only by \
         both as []; UDP and vsock cannot"
    } else {
        "cannot be confined"
    };
    section.add("what agents reach", can, ports.err().map(|why| why.to_string()).filter(|_| is_limited));
    let can = match (check_sandbox().is_ok(), keeps_apart()) {
        (false, _) => "cannot be confined",
        (true, false) => "are not confined by --sandbox: that needs Linux 6.12",
        (true, true) => "stay inside with --sandbox",
    };
    section.add("signals and abstract sockets", can, None);
    section.add("sockets in the file system", "are never confined: docker, tmux and a session bus are reached", None);
    match std::env::current_exe() {
        Ok(path) => section.add("file", paths::visible(path.as_os_str()), None),
        Err(error) => {
            section.add("file", "", Some(format!("it cannot be found ({error}); the demo agent cannot be started")));
        }
    }
    section
}

fn environment(surroundings: &Surroundings) -> Section {
    let mut section = Section::new("environment");
    for name in VARIABLES {
        let Some(value) = std::env::var_os(name) else { continue };
        let is_dir = name.starts_with("XDG_") || *name == "HOME";
        let wrong = (is_dir && !Path::new(&value).is_absolute())
            .then(|| format!("{name} is no absolute path and does not count; unset it or give one"));
        section.add(*name, paths::visible(&value), wrong);
    }
    let dirs: Vec<_> = std::env::split_paths(&surroundings.path).collect();
    let missing = dirs.iter().filter(|dir| !dir.is_dir()).count();
    let wrong = dirs.is_empty().then(|| "PATH is empty: no agent is found by its name".to_owned());
    section.add("PATH", format!("{}, {missing} of them missing", human::count(dirs.len() as u64, "directory")), wrong);
    let git = configured::find_on_path("git", &surroundings.path);
    let wrong = git.is_none().then(|| "it was not found: worktrees and `.git` rules do without it; install git".into());
    section.add("git", git.map(|git| paths::visible(git.as_os_str())).unwrap_or_default(), wrong);
    section
}

fn terminal() -> Section {
    let get = |name: &str| std::env::var(name).ok();
    let mut section = Section::new("terminal");
    let (input, output) = (io::stdin().is_terminal(), io::stdout().is_terminal());
    let no = |is: bool| if is { "a terminal" } else { "no terminal: the full screen cannot be shown here" };
    section.add("input", no(input), None);
    section.add("output", no(output), None);
    if output && let Ok((columns, rows)) = crate::ui::tty::size() {
        section.add("size", format!("{columns} × {rows}"), None);
    }
    let wrong = (input && output && !can_draw()).then(|| {
        "it cannot place what is drawn (TERM=dumb); use another terminal, `acp-tui --plain`, or `acp-tui exec`"
            .to_owned()
    });
    let depth = Depth::detect(get("NO_COLOR").as_deref(), get("COLORTERM").as_deref(), get("TERM").as_deref());
    let colours = match depth {
        Depth::None => "none",
        Depth::Ansi16 => "16",
        Depth::Ansi256 => "256",
        Depth::True => "all",
    };
    section.add("colours", colours, wrong);
    let letters = Letters::from_env(get("LC_ALL").as_deref(), get("LC_CTYPE").as_deref(), get("LANG").as_deref());
    let letters = match letters {
        Letters::Ascii => "ASCII only: the locale is not UTF-8",
        Letters::Unicode => "UTF-8",
    };
    section.add("letters", letters, None);
    let around = match Multiplexer::from_env(get("TMUX").as_deref(), get("STY").as_deref()) {
        Multiplexer::Tmux => "tmux",
        Multiplexer::Screen => "screen",
        Multiplexer::None => "none",
    };
    section.add("multiplexer", around, None);
    section
}

fn directories(surroundings: &Surroundings, cwd: &Path) -> Section {
    let mut section = Section::new("directories");
    directory(&mut section, "session", cwd, Needs::Nothing);
    match &surroundings.dirs {
        Some(dirs) => {
            directory(&mut section, "configuration", &dirs.config, Needs::Nothing);
            directory(&mut section, "state", &dirs.state, Needs::Private);
            if let Some(data) = &dirs.data {
                directory(&mut section, "data", data, Needs::Writing);
            }
        }
        None => {
            let why = "there is no home directory: nothing is kept and nothing is configured; set HOME".to_owned();
            section.add("state", "", Some(why));
        }
    }
    section
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Writing,
    /// Writing, and that others cannot look into it.
    Private,
}

fn directory(section: &mut Section, name: &str, dir: &Path, needs: Needs) {
    let path = paths::visible(dir.as_os_str());
    match Rights::of(dir) {
        Ok(None) => section.add(name, format!("{path} (not there yet)"), None),
        Ok(Some(rights)) => {
            let own = if rights.is_own { "yours" } else { "of another user" };
            let wrong = match needs {
                Needs::Writing | Needs::Private if !rights.can_write => {
                    Some(format!("it cannot be written: nothing is kept there; chmod u+wx {path}"))
                }
                Needs::Private if rights.is_open() => {
                    Some(format!("others can look into it: what is said to agents is kept there; chmod 700 {path}"))
                }
                _ => None,
            };
            section.add(name, format!("{path} ({own}, mode {:o})", rights.mode), wrong);
        }
        Err(error) => section.add(name, path, Some(error.to_string())),
    }
}

/// What counts, and where it is from.
fn configuration(surroundings: &Surroundings) -> Section {
    let mut section = Section::new("configuration");
    let Some(dirs) = &surroundings.dirs else { return section };
    for file in [dirs.config_file(), dirs.keys_file()] {
        let there = if file.exists() { "" } else { " (not there: the defaults apply)" };
        section.add("file", paths::visible(file.as_os_str()) + there, None);
    }
    for (name, value) in values(&surroundings.config) {
        match value {
            Some(value) => {
                let wrong = match name {
                    "theme" => unknown_theme(&value),
                    _ => missing_program(&surroundings.config, name, &surroundings.path),
                };
                section.add(name, format!("{value} (config.toml)"), wrong);
            }
            None => section.add(name, "(default)", None),
        }
    }
    for (name, agent) in &surroundings.config.agents {
        let mut lacking = launch::lacking_places(&agent.sandbox, dirs.home.as_deref());
        for (key, value) in of_agent(agent) {
            section.add(format!("agents.{name}.{key}"), format!("{value} (config.toml)"), lacking.remove(key));
        }
        if let Some(only) = surroundings.config.only_mcp.get(name) {
            section.add(format!("agents.{name}.mcp"), format!("{} (config.toml)", or_none(only.join(", "))), None);
        }
    }
    let (_, mut wrong) = keys::read(surroundings);
    wrong.extend(surroundings.dirs.iter().flat_map(|dirs| prompts::read(&dirs.prompts()).1));
    for warning in surroundings.warnings.iter().chain(&wrong) {
        section.add("fault", "", Some(warning.to_string()));
    }
    section
}

fn unknown_theme(name: &str) -> Option<String> {
    let names: Vec<_> = looks::names().collect();
    (!names.contains(&name))
        .then(|| format!("it is not known, so that `auto` counts; it is one of {}", names.join(", ")))
}

/// Of a key that names a program which is not there.
fn missing_program(config: &Config, key: &str, path: &OsStr) -> Option<String> {
    let words = match (key, &config.notify) {
        ("decision_hook", _) => config.decision_hook.as_ref(),
        ("status_command", _) => config.status_command.as_ref(),
        ("notify", Some(Notify::Program(words))) => Some(words),
        _ => None,
    };
    let program = words?.first().filter(|program| configured::find_on_path(program, path).is_none())?;
    Some(format!("{program} was not found: install it, or give its full path"))
}

/// The keys of the configuration, and what a file says of them. Of agents and servers the names.
fn values(config: &Config) -> Vec<(&'static str, Option<String>)> {
    let names = |names: Vec<&String>| {
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let keep = [("count", config.keep.count), ("days", config.keep.days), ("mib", config.keep.mib)];
    let keep: Vec<_> = keep.iter().filter_map(|(name, n)| n.map(|n| format!("{name} {n}"))).collect();
    let notify = config.notify.as_ref().and_then(|notify| match notify {
        Notify::By(way) => Some(way),
        Notify::Program(words) => words.first(),
    });
    vec![
        ("default_agent", config.default_agent.clone()),
        ("theme", config.theme.clone()),
        ("screen", config.is_inline.then(|| "inline".to_owned())),
        ("on_exit", config.prints_on_exit.then(|| "print".to_owned())),
        ("ambiguous_width", config.ambiguous_is_wide.map(|is_wide| if is_wide { "2" } else { "1" }.to_owned())),
        ("gate", config.gate.clone()),
        ("decision_hook", config.decision_hook.as_ref().and_then(|words| words.first()).cloned()),
        ("env_only", config.inherited.only.as_ref().map(|only| or_none(only.join(", ")))),
        ("env_without", Some(config.inherited.without.join(", ")).filter(|without| !without.is_empty())),
        ("protocol", config.spoken.protocol.clone()),
        ("dialect", config.spoken.dialect.clone()),
        ("unstable", config.unstable.then(|| "true".to_owned())),
        ("keep_form_answers", config.keeps_form_answers.then(|| "true".to_owned())),
        ("budget", config.budget.clone()),
        ("notify", notify.cloned()),
        ("status_command", config.status_command.as_ref().and_then(|words| words.first()).cloned()),
        ("sessions.keep", (!keep.is_empty()).then(|| keep.join(", "))),
        ("agents", names(config.agents.keys().collect())),
        ("mcp", names(config.mcp.keys().collect())),
    ]
}

/// What the table of an agent says, as its keys are called. Of variables and headers the names.
fn of_agent(agent: &AgentConfig) -> Vec<(&'static str, String)> {
    let AgentConfig { command, args, env, inherited, spoken, reach, sandbox } = agent;
    let joined = |list: &[String]| list.join(", ");
    let names = |of: &BTreeMap<String, String>| of.keys().cloned().collect::<Vec<_>>().join(", ");
    let ports = |of: &[u16]| of.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let is_set = |is_set: bool| if is_set { "true".to_owned() } else { String::new() };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let of = |list: &Option<Vec<String>>| list.as_deref().map(|list| or_none(joined(list))).unwrap_or_default();
    let ports_of = |list: &Option<Vec<u16>>| list.as_deref().map(|list| or_none(ports(list))).unwrap_or_default();
    let all = [
        ("command", if reach.url.is_some() { String::new() } else { command.clone() }),
        ("args", args.join(" ")),
        ("url", text(&reach.url)),
        ("transport", text(&reach.transport)),
        ("framing", text(&reach.framing)),
        ("headers", names(&reach.headers)),
        ("files", is_set(reach.files)),
        ("terminals", is_set(reach.terminals)),
        ("env", names(env)),
        ("env_only", of(&inherited.only)),
        ("env_without", joined(&inherited.without)),
        ("protocol", text(&spoken.protocol)),
        ("dialect", text(&spoken.dialect)),
        ("sandbox", is_set(sandbox.is_on)),
        ("sandbox_write", joined(&sandbox.writable)),
        ("sandbox_read", of(&sandbox.readable)),
        ("sandbox_connect", ports_of(&sandbox.connects)),
        ("sandbox_listen", ports_of(&sandbox.listens)),
    ];
    let said = all.into_iter().filter(|(_, value)| !value.is_empty());
    said.map(|(key, value)| (key, redact::masked(&value).unwrap_or(value))).collect()
}

/// An empty list is said, too, where it is not the same as none.
fn or_none(list: String) -> String {
    if list.is_empty() { "(none)".to_owned() } else { list }
}

fn rules(surroundings: &Surroundings, cwd: &Path) -> Section {
    let mut section = Section::new("rules");
    let own = surroundings.dirs.as_ref().map(Dirs::rules_file);
    if let Some(file) = own {
        rules_file(&mut section, "yours", &file, rulebook::read_rules(&file, Trust::Full));
    }
    let project = cwd.join(rulebook::PROJECT_FILE);
    let trusted = surroundings.dirs.as_ref().map(|dirs| Trusted::new(dirs.state.clone(), What::Rules));
    rules_file(&mut section, "project's", &project, rulebook::read_project(&project, trusted.as_ref()));
    for file in rulebook::project_files(cwd).iter().skip(1) {
        if let found @ Some(_) = rulebook::read_above(file) {
            rules_file(&mut section, "project's, above", file, found);
        }
    }
    if let Some(dirs) = &surroundings.dirs {
        let made = dirs.made_rules();
        rules_file(&mut section, "from questions", &made, rulebook::read_made(&made, cwd));
    }
    section
}

fn rules_file(section: &mut Section, name: &str, file: &Path, found: Option<FileRules>) {
    let path = paths::visible(file.as_os_str());
    let Some(FileRules { rules, fault, warnings, .. }) = found else {
        section.add(name, format!("{path} (none)"), None);
        return;
    };
    let fault = fault.map(|fault| format!("{fault}; until it is mended the rules ask"));
    let wrong: Vec<String> = fault.into_iter().chain(warnings).collect();
    let count = human::count(rules.iter().count() as u64, "rule");
    section.add(name, format!("{path} ({count})"), (!wrong.is_empty()).then(|| wrong.join("\n")));
}

fn found(surroundings: &Surroundings) -> Section {
    let mut section = Section::new("agents");
    for listed in configured::list(&surroundings.config) {
        let program = configured::find_on_path(&listed.agent.command, &surroundings.path);
        // Those that everybody could install are no fault when they are not there.
        let is_own = listed.origin != Origin::Known;
        let is_remote = listed.agent.reach.url.is_some();
        let value = match &program {
            _ if is_remote => "behind an address".to_owned(),
            Some(path) => paths::visible(path.as_os_str()),
            None => "not found".to_owned(),
        };
        let wrong = (is_own && !is_remote && program.is_none()).then(|| {
            format!("{} was not found: install it, or give its full path in the configuration", listed.agent.command)
        });
        section.add(listed.id, value, wrong);
    }
    if let Some(name) = &surroundings.config.default_agent
        && name != launch::DEMO
        && let Err(error) = configured::resolve(&surroundings.config, name)
    {
        section.add("default_agent", name, Some(error.to_string()));
    }
    section
}

/// What became of the agent that was started.
fn start(line: String, program: Option<&Path>, checked: Checked) -> Section {
    let mut section = Section::new("start");
    section.add("command", line, None);
    section.add("program", program.map_or_else(|| "not found".into(), |path| paths::visible(path.as_os_str())), None);
    let Checked { code, words, detail, agent, can, log_in, goodbye } = checked;
    match code {
        code::OK => section.add("result", words, None),
        _ => section.add("result", "", Some([vec![words], detail].concat().join("\n"))),
    }
    if let Some(agent) = agent {
        section.add("calls itself", agent, None);
    }
    if !can.is_empty() {
        section.add("can", can.join(", "), None);
    }
    if !log_in.is_empty() {
        section.add("ways to log in", log_in.join(", "), None);
    }
    for survivor in &goodbye.survivors {
        let why = "it is still running in a session of its own after the agent's end".to_owned();
        section.add("left behind", survivor.clone(), Some(why));
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_that_there_is_not_is_named_with_those_that_there_are() {
        for name in looks::names() {
            assert_eq!(unknown_theme(name), None, "{name}");
        }
        let why = unknown_theme("dracula").unwrap();
        assert!(why.contains("auto") && why.contains("gruvbox"), "{why}");
    }

    #[test]
    fn what_is_wrong_stands_below_what_it_is_wrong_with() {
        let mut section = Section::new("rules");
        section.add("yours", "/r\u{1b}[2J", Some("one\ntwo".into()));
        section.add("others", "", None);
        let text = as_text(&[section], 1);
        assert!(text.starts_with("rules\n! yours   /r") && !text.contains('\u{1b}'), "{text}");
        assert!(text.ends_with("\n    one\n    two\n  others\n1 thing marked with !\n"), "{text}");
    }
}
