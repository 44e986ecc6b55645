//! What stands behind `rules`.

use super::super::flags::Typed;
use super::super::usage::Usage;
use crate::rules::Verdict;
use std::path::PathBuf;

/// However it was typed.
const CWD: &str = "--cwd (-C)";

#[derive(Debug, PartialEq, Eq)]
pub enum Rules {
    Test(RulesTest),
    List {
        cwd: Option<PathBuf>,
        json: bool,
    },
    Trust {
        file: Option<PathBuf>,
        yes: bool,
    },
    Suggest {
        cwd: Option<PathBuf>,
        json: bool,
    },
    Add(RulesChange),
    /// Of the directory, too.
    Remove {
        change: RulesChange,
        cwd: Option<PathBuf>,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub struct RulesChange {
    pub list: Verdict,
    pub pattern: String,
    pub agent: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct RulesTest {
    pub tool: String,
    pub text: String,
    /// Instead of the person's and the project's.
    pub rules: Option<PathBuf>,
    pub cwd: Option<PathBuf>,
    pub agent: Option<String>,
    pub json: bool,
}

pub fn rules(words: Vec<String>, typed: Typed) -> Result<Rules, Usage> {
    let mut words = words.into_iter();
    let what = words.next().unwrap_or_default();
    let (first, second, further) = (words.next(), words.next(), words.next());
    let only = |is_used: bool, option: &str| {
        if is_used { Err(Usage(format!("{option} is not for `rules {what}`"))) } else { Ok(()) }
    };
    if what != "trust" {
        only(typed.yes, "--yes")?;
    }
    match (what.as_str(), first, second, further) {
        ("trust", file, None, _) => {
            only(typed.rules.is_some(), "--rules")?;
            only(typed.cwd.is_some(), CWD)?;
            only(typed.agent.is_some(), "--agent")?;
            only(typed.json, "--json")?;
            Ok(Rules::Trust { file: file.map(PathBuf::from), yes: typed.yes })
        }
        ("trust", ..) => Err(Usage("rules trust takes one file, e.g. acp-tui rules trust .acp-tui/rules.toml".into())),
        ("test", Some(tool), Some(text), None) => {
            let Typed { rules, cwd, agent, json, .. } = typed;
            Ok(Rules::Test(RulesTest { tool, text, rules, cwd, agent, json }))
        }
        ("test", ..) => Err(Usage("rules test takes a tool and a text; put the text in quotes".into())),
        ("list" | "suggest", first, ..) => {
            only(typed.rules.is_some(), "--rules")?;
            only(typed.agent.is_some(), "--agent")?;
            let unexpected = |word| Err(Usage(format!("rules: unexpected argument {word}")));
            let Typed { cwd, json, .. } = typed;
            let asked = if what == "list" { Rules::List { cwd, json } } else { Rules::Suggest { cwd, json } };
            first.map_or(Ok(asked), unexpected)
        }
        ("add" | "remove", Some(list), Some(pattern), None) => {
            let is_removal = what == "remove";
            only(typed.rules.is_some(), "--rules")?;
            only(typed.cwd.is_some() && !is_removal, CWD)?;
            only(typed.json, "--json")?;
            let list = Verdict::named(&list)
                .ok_or_else(|| Usage(format!("the lists are allow, ask and deny, not `{list}`")))?;
            let change = RulesChange { list, pattern, agent: typed.agent };
            Ok(if is_removal { Rules::Remove { change, cwd: typed.cwd } } else { Rules::Add(change) })
        }
        ("add" | "remove", ..) => {
            Err(Usage(format!("rules {what} takes a list and a pattern, e.g. rules {what} allow \"Bash(git *)\"")))
        }
        _ => Err(Usage("rules: what? test, list, suggest, add, remove or trust".into())),
    }
}
