//! What stands behind `agents`.

use super::super::flags::Typed;
use super::super::usage::Usage;
use super::{Common, common};
use std::ffi::OsString;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub enum Agents {
    List {
        registry: Option<String>,
        json: bool,
    },
    Check {
        /// The agent is named in it, or its command stands there.
        common: Box<Common>,
        json: bool,
        timeout: Option<Duration>,
    },
    Add {
        name: String,
        registry: Option<String>,
        json: bool,
        yes: bool,
    },
    Remove {
        name: String,
        json: bool,
        yes: bool,
    },
}

pub fn agents(words: Vec<String>, mut typed: Typed, command: Vec<OsString>) -> Result<Agents, Usage> {
    let mut words = words.into_iter();
    let (what, name, more) = (words.next().unwrap_or_default(), words.next(), words.next());
    let (registry, json, yes, timeout) = (typed.registry.take(), typed.json, typed.yes, typed.timeout);
    if let Some(word) = more {
        return Err(Usage(format!("agents: unexpected argument {word}")));
    }
    let only = [
        (yes, "--yes", &["add", "remove"][..]),
        (registry.is_some(), "--registry", &["list", "add"]),
        (timeout.is_some(), "--timeout", &["check"]),
        (!command.is_empty(), "a command after `--`", &["check"]),
    ];
    let is_known = ["list", "add", "check", "remove"].contains(&what.as_str());
    if let Some((_, option, _)) =
        only.iter().find(|(is_used, _, of)| is_known && *is_used && !of.contains(&what.as_str()))
    {
        return Err(Usage(format!("{option} is not for `agents {what}`")));
    }
    if json && !yes && matches!(what.as_str(), "add" | "remove") {
        return Err(Usage(format!("`agents {what} --json` asks nothing: give --yes too")));
    }
    match (what.as_str(), name) {
        ("list", None) => Ok(Agents::List { registry, json }),
        ("list", Some(word)) => Err(Usage(format!("agents list: unexpected argument {word}"))),
        ("add", Some(name)) => Ok(Agents::Add { name, registry, json, yes }),
        ("remove", Some(name)) => Ok(Agents::Remove { name, json, yes }),
        ("check", None) if command.is_empty() => Err(Usage("which agent? its name, or its command after `--`".into())),
        ("check", Some(_)) if !command.is_empty() => {
            Err(Usage("give either an agent's name or a command after `--`, not both".into()))
        }
        ("check", name) => {
            typed.agent = name;
            Ok(Agents::Check { common: Box::new(common(typed, command)?), json, timeout })
        }
        (what @ ("add" | "remove"), None) => {
            Err(Usage(format!("which agent? `acp-tui agents {what} NAME`; `acp-tui agents list` names them")))
        }
        _ => Err(Usage("agents: what? list, add, check or remove".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Command, parse};
    use super::*;

    fn parsed(words: &[&str]) -> Result<Agents, String> {
        match parse(words.iter().map(OsString::from)) {
            Ok(Command::Agents(agents)) => Ok(agents),
            Ok(other) => panic!("{other:?}"),
            Err(usage) => Err(usage.0),
        }
    }

    #[test]
    fn each_has_its_own_options() {
        let add = Agents::Add { name: "a".into(), registry: Some("public".into()), json: false, yes: true };
        assert_eq!(parsed(&["agents", "add", "a", "--yes", "--registry", "public"]), Ok(add));
        assert_eq!(parsed(&["agents", "list", "--json"]), Ok(Agents::List { registry: None, json: true }));
        let Ok(Agents::Check { common, .. }) = parsed(&["agents", "check", "--", "x", "--acp"]) else { panic!() };
        assert_eq!(common.command, ["x", "--acp"]);
        for (words, why) in [
            (&["agents"][..], "list, add, check or remove"),
            (&["agents", "add"], "which agent?"),
            (&["agents", "add", "a", "b"], "unexpected argument b"),
            (&["agents", "add", "a", "--json"], "give --yes too"),
            (&["agents", "list", "--yes"], "--yes is not for `agents list`"),
            (&["agents", "remove", "a", "--registry", "x"], "--registry is not for"),
            (&["agents", "list", "--", "x"], "after `--` is not for"),
            (&["agents", "check"], "which agent?"),
            (&["agents", "check", "a", "--", "x"], "not both"),
        ] {
            assert!(parsed(words).is_err_and(|said| said.contains(why)), "{words:?}");
        }
    }
}
