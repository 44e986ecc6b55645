//! Reads the configuration file.
//!
//! Writes nothing. Invariant: never fails; what is unknown or wrong gives a warning that says where it is and what is
//! allowed, and everything else still applies.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::toml_doc::{Report, kind_of};

use super::mcp;
use super::schema::{
    AGENT_KEYS, AMBIGUOUS, AgentConfig, Config, DIALECTS, FRAMINGS, GATES, KEEP_KEYS, KEYS, Keep, NOTIFY, Notify,
    ON_EXIT, PROTOCOLS, SCREENS, SESSIONS_KEYS, TRANSPORTS,
};

pub use crate::base::toml_doc::Warning;
/// The text of a file that people write; nothing when there is none.
pub use crate::host::fs::read_written as read;

/// The configuration file with every key explained.
pub const DEFAULT: &str = include_str!("../../assets/config.default.toml");

/// Reads the file; that there is none is not worth a warning.
pub fn load_file(path: &Path) -> (Config, Vec<Warning>) {
    let name = path.file_name().map_or_else(|| "config.toml".into(), |n| n.to_string_lossy());
    match read(path) {
        Ok(Some(text)) => load(&text, &name),
        Ok(None) => (Config::default(), Vec::new()),
        Err(reason) => {
            let message = format!("cannot be read, the defaults apply: {reason}");
            (Config::default(), vec![Warning { file: name.into_owned(), line: None, message }])
        }
    }
}

/// Reads the text of a configuration file.
pub fn load(text: &str, file_name: &str) -> (Config, Vec<Warning>) {
    let mut report = Report::new(file_name, text);
    let mut config = Config::default();
    for (key, value) in &report.parse() {
        match key.get_ref().as_ref() {
            "default_agent" => {
                config.default_agent = string("default_agent", "the name of an agent", value, &mut report);
            }
            "theme" => config.theme = string("theme", "the name of a theme", value, &mut report),
            "screen" => {
                config.is_inline = one_of("screen", &SCREENS, value, &mut report).is_some_and(|word| word == "inline");
            }
            "ambiguous_width" => {
                config.ambiguous_is_wide = ambiguous(value, &mut report);
            }
            "on_exit" => {
                config.prints_on_exit =
                    one_of("on_exit", &ON_EXIT, value, &mut report).is_some_and(|word| word == "print");
            }
            "gate" => config.gate = one_of("gate", &GATES, value, &mut report),
            "decision_hook" => config.decision_hook = words("decision_hook", value, &mut report),
            "env_only" => config.inherited.only = Some(list("env_only", value, &mut report)),
            "env_without" => config.inherited.without = list("env_without", value, &mut report),
            "unstable" => config.unstable = flag("unstable", value, &mut report),
            "keep_form_answers" => config.keeps_form_answers = flag("keep_form_answers", value, &mut report),
            "protocol" => config.spoken.protocol = one_of("protocol", &PROTOCOLS, value, &mut report),
            "dialect" => config.spoken.dialect = one_of("dialect", &DIALECTS, value, &mut report),
            "budget" => config.budget = budget(value, &mut report),
            "notify" => config.notify = notify(value, &mut report),
            "status_command" => config.status_command = words("status_command", value, &mut report),
            "sessions" => config.keep = sessions(value, &mut report),
            "agents" => (config.agents, config.only_mcp) = agents(value, &mut report),
            "mcp" => config.mcp = mcp::tables(value, &mut report),
            other => report.warn(&key.span(), format!("unknown key {other:?}; allowed: {}", KEYS.join(", "))),
        }
    }
    (config, report.finish())
}

fn string(key: &str, what: &str, value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Option<String> {
    let text = value.get_ref().as_str().filter(|text| !text.trim().is_empty());
    if text.is_none() {
        let given = match value.get_ref() {
            DeValue::String(_) => "empty",
            other => kind_of(other),
        };
        report.warn(&value.span(), format!("{key} is {given}; allowed: a string, {what}"));
    }
    text.map(str::to_owned)
}

/// A program and its arguments.
fn words(key: &str, value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Option<Vec<String>> {
    let all = value.get_ref().as_array().map(|all| all.iter().map(|word| word.get_ref().as_str().map(str::to_owned)));
    let words = all.and_then(Iterator::collect::<Option<Vec<String>>>);
    let words = words.filter(|words| words.first().is_some_and(|program| !program.trim().is_empty()));
    if words.is_none() {
        let given = kind_of(value.get_ref());
        report
            .warn(&value.span(), format!("{key} is {given}; allowed: a list of strings, a program and its arguments"));
    }
    words
}

fn flag(key: &str, value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> bool {
    let is_on = value.get_ref().as_bool();
    if is_on.is_none() {
        report.warn(&value.span(), format!("{key} is {}; allowed: true, false", kind_of(value.get_ref())));
    }
    is_on.unwrap_or(false)
}

fn one_of(key: &str, words: &[&str], value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Option<String> {
    let name = string(key, &format!("one of {}", words.join(", ")), value, report)?;
    if !words.contains(&name.as_str()) {
        report.warn(&value.span(), format!("{key} is {name:?}; allowed: {}", words.join(", ")));
        return None;
    }
    Some(name)
}

/// As a number or a word.
fn ambiguous(value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Option<bool> {
    let said = match value.get_ref() {
        DeValue::Integer(number) => number.as_str(),
        other => other.as_str().unwrap_or_default(),
    };
    match said {
        "1" => Some(false),
        "2" => Some(true),
        "auto" => None,
        _ => {
            report.warn(&value.span(), format!("ambiguous_width has to be one of {}", AMBIGUOUS.join(", ")));
            None
        }
    }
}

fn budget(value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Option<String> {
    let text = string(
        "budget",
        "amounts with their units for a day or a session, \"5 USD/day, 2 USD/session\"",
        value,
        report,
    )?;
    if super::budget::parse(&text).is_none() {
        report.warn(&value.span(), format!("budget is {text:?}; allowed: amounts with their units for a day or a session, \"5 USD/day, 2 USD/session\""));
        return None;
    }
    Some(text)
}

fn notify(value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Option<Notify> {
    if value.get_ref().as_array().is_some() {
        return words("notify", value, report).map(Notify::Program);
    }
    one_of("notify", &NOTIFY, value, report).map(Notify::By)
}

fn sessions(value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Keep {
    let mut keep = Keep::default();
    let Some(table) = value.get_ref().as_table() else {
        let given = kind_of(value.get_ref());
        report.warn(&value.span(), format!("sessions is {given}; allowed: a table, [sessions]"));
        return keep;
    };
    for (key, value) in table {
        match (key.get_ref().as_ref(), value.get_ref().as_table()) {
            ("keep", Some(limits)) => {
                for (key, value) in limits {
                    let name = key.get_ref().as_ref();
                    let limit = match name {
                        "count" => &mut keep.count,
                        "days" => &mut keep.days,
                        "mib" => &mut keep.mib,
                        other => {
                            let allowed = KEEP_KEYS.join(", ");
                            report.warn(&key.span(), format!("unknown key {other:?} in keep; allowed: {allowed}"));
                            continue;
                        }
                    };
                    *limit = number(name, value, report);
                }
            }
            ("keep", None) => {
                let given = kind_of(value.get_ref());
                report.warn(&value.span(), format!("keep is {given}; allowed: a table, {{ count = 500, days = 90 }}"));
            }
            (other, _) => {
                let allowed = SESSIONS_KEYS.join(", ");
                report.warn(&key.span(), format!("unknown key {other:?} in [sessions]; allowed: {allowed}"));
            }
        }
    }
    keep
}

/// A number from 1.
fn number(name: &str, value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Option<u64> {
    let number = value.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
    let number = number.filter(|number| *number > 0);
    if number.is_none() {
        report.warn(&value.span(), format!("keep.{name} is {}; allowed: a number from 1", kind_of(value.get_ref())));
    }
    number
}

type OnlyMcp = BTreeMap<String, Vec<String>>;

fn agents(value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> (BTreeMap<String, AgentConfig>, OnlyMcp) {
    let (mut agents, mut only) = (BTreeMap::new(), OnlyMcp::new());
    let Some(table) = value.get_ref().as_table() else {
        let given = kind_of(value.get_ref());
        report.warn(&value.span(), format!("agents is {given}; allowed: tables, [agents.NAME]"));
        return (agents, only);
    };
    for (name, value) in table {
        match value.get_ref().as_table() {
            _ if name.get_ref().trim().is_empty() => report.warn(&name.span(), "an agent needs a name: [agents.NAME]"),
            Some(table) => {
                let mcp = table.iter().find(|(key, _)| key.get_ref() == "mcp").map(|(_, value)| value);
                let path = format!("agents.{}.mcp", name.get_ref());
                only.extend(
                    mcp.and_then(|value| only_mcp(&path, value, report)).map(|only| (name.get_ref().to_string(), only)),
                );
                // An agent that is known otherwise may only be said which servers it is given.
                if mcp.is_some() && table.len() == 1 {
                    continue;
                }
                if let Some(agent) = agent(name, table, report) {
                    agents.insert(name.get_ref().to_string(), agent);
                }
            }
            None => {
                let (name, given) = (name.get_ref(), kind_of(value.get_ref()));
                report.warn(
                    &value.span(),
                    format!("agents.{name} is {given}; allowed: a table with {}", AGENT_KEYS.join(", ")),
                );
            }
        }
    }
    (agents, only)
}

/// The servers of tools that an agent is given; all of them without.
fn only_mcp(path: &str, value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Option<Vec<String>> {
    if let Some(is_on) = value.get_ref().as_bool() {
        return (!is_on).then(Vec::new);
    }
    let items = value.get_ref().as_array();
    let names = items.map(|items| items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)));
    let names = names.and_then(Iterator::collect::<Option<Vec<String>>>);
    if names.is_none() {
        let given = kind_of(value.get_ref());
        report
            .warn(&value.span(), format!("{path} is {given}; allowed: true, false, or a list of names, [\"tracker\"]"));
    }
    // What cannot be read gives nothing away.
    Some(names.unwrap_or_default())
}

/// `None` when the agent cannot be started because it has no command.
fn agent(name: &Spanned<impl AsRef<str>>, table: &DeTable<'_>, report: &mut Report<'_>) -> Option<AgentConfig> {
    let path = format!("agents.{}", name.get_ref().as_ref());
    let mut agent = AgentConfig::default();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "command" => {
                let command = string(&format!("{path}.command"), "a program", value, report);
                // The reason for leaving the agent out has been given.
                agent.command = command?;
            }
            "args" => agent.args = list(&format!("{path}.args"), value, report),
            "env" => agent.env = strings(&format!("{path}.env"), value, report),
            "env_only" => agent.inherited.only = Some(list(&format!("{path}.env_only"), value, report)),
            "env_without" => agent.inherited.without = list(&format!("{path}.env_without"), value, report),
            "protocol" => agent.spoken.protocol = one_of(&format!("{path}.protocol"), &PROTOCOLS, value, report),
            "dialect" => agent.spoken.dialect = one_of(&format!("{path}.dialect"), &DIALECTS, value, report),
            "url" => agent.reach.url = string(&format!("{path}.url"), "the address of an agent", value, report),
            "transport" => {
                agent.reach.transport = one_of(&format!("{path}.transport"), &TRANSPORTS, value, report);
            }
            "headers" => agent.reach.headers = strings(&format!("{path}.headers"), value, report),
            "files" => agent.reach.files = flag(&format!("{path}.files"), value, report),
            "terminals" => agent.reach.terminals = flag(&format!("{path}.terminals"), value, report),
            "sandbox" => agent.sandbox.is_on = flag(&format!("{path}.sandbox"), value, report),
            "sandbox_write" => agent.sandbox.writable = list(&format!("{path}.sandbox_write"), value, report),
            "sandbox_read" => {
                agent.sandbox.readable = (!is_all(value)).then(|| list(&format!("{path}.sandbox_read"), value, report));
            }
            "sandbox_connect" => {
                let name = format!("{path}.sandbox_connect");
                agent.sandbox.connects = (!is_all(value)).then(|| ports(&name, value, report));
            }
            "sandbox_listen" => {
                let name = format!("{path}.sandbox_listen");
                agent.sandbox.listens = (!is_all(value)).then(|| ports(&name, value, report));
            }
            // It is of the servers, not of the start.
            "mcp" => {}
            "framing" => agent.reach.framing = one_of(&format!("{path}.framing"), &FRAMINGS, value, report),
            other => {
                let message = format!("unknown key {other:?} in [{path}]; allowed: {}", AGENT_KEYS.join(", "));
                report.warn(&key.span(), message);
            }
        }
    }
    if let Some(url) = &agent.reach.url {
        if !agent.command.is_empty() {
            report.warn(&name.span(), format!("[{path}] has a command and a url; only the url counts"));
        }
        agent.command.clone_from(url);
        agent.args.clear();
    }
    if agent.command.is_empty() {
        report.warn(&name.span(), format!("[{path}] has no command; it needs: command = \"program\", or url"));
        return None;
    }
    Some(agent)
}

/// No limit. What is neither this nor a list is read as an empty one: a limit that is misspelled is none that is left out.
fn is_all(value: &Spanned<DeValue<'_>>) -> bool {
    value.get_ref().as_str() == Some("all")
}

fn ports(path: &str, value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Vec<u16> {
    let allowed = "allowed: \"all\", or a list of ports, [443, 8080]";
    let Some(items) = value.get_ref().as_array() else {
        report.warn(&value.span(), format!("{path} is {}; {allowed}", kind_of(value.get_ref())));
        return Vec::new();
    };
    let mut ports = Vec::new();
    for item in items {
        let number = item.get_ref().as_integer().and_then(|number| number.as_str().parse::<u16>().ok());
        match number.filter(|port| *port > 0) {
            Some(port) => ports.push(port),
            None => report.warn(&item.span(), format!("{path} holds what is no port; {allowed}")),
        }
    }
    ports
}

fn list(path: &str, value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> Vec<String> {
    let allowed = "allowed: a list of strings, [\"--flag\", \"value\"]";
    let Some(items) = value.get_ref().as_array() else {
        report.warn(&value.span(), format!("{path} is {}; {allowed}", kind_of(value.get_ref())));
        return Vec::new();
    };
    let mut args = Vec::new();
    for item in items {
        match item.get_ref().as_str() {
            Some(text) => args.push(text.to_owned()),
            None => {
                report.warn(&item.span(), format!("{path} holds {}; {allowed}", kind_of(item.get_ref())));
                // Arguments depend on each other: half of them would mean something else.
                return Vec::new();
            }
        }
    }
    args
}

fn strings(path: &str, value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> BTreeMap<String, String> {
    let mut strings = BTreeMap::new();
    let Some(table) = value.get_ref().as_table() else {
        let given = kind_of(value.get_ref());
        report.warn(&value.span(), format!("{path} is {given}; allowed: a table of strings, {{ NAME = \"value\" }}"));
        return strings;
    };
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        if name.is_empty() || name.contains(['=', '\0']) {
            report.warn(&key.span(), format!("{name:?} cannot be a name in {path}"));
            continue;
        }
        match value.get_ref().as_str().filter(|text| !text.contains('\0')) {
            Some(text) => {
                strings.insert(name.to_owned(), text.to_owned());
            }
            None => {
                let given = kind_of(value.get_ref());
                report.warn(&value.span(), format!("{path}.{name} is {given}; allowed: a string without NUL"));
            }
        }
    }
    strings
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
