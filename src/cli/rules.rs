//! `rules`: what the rules say about one request, which there are, and how one is added or removed.
//!
//! Judges nothing itself and writes no file itself. Invariant: what it says of a request is what holds in a session.

use super::args::{Common, Rules as Asked, RulesChange, RulesTest};
use super::launch::{self, Surroundings};
use super::mcp::trust_shown;
use super::output::{print, say};
use super::usage::Usage;
use crate::base::date::rfc3339;
use crate::base::{paths, sanitize};
use crate::config::dirs::{Dirs, Env};
use crate::engine::earlier;
use crate::engine::real_paths;
use crate::engine::rule_files::{self, NotChanged};
use crate::engine::rulebook::{self, FileRules, Rulebook};
use crate::engine::suggesting::{self, ByHand, Suggestion};
use crate::engine::{Hook, RulesConfig};
use crate::headless::code;
use crate::model::claims::{Claimed, claimed_paths};
use crate::model::ruling::Ruled;
use crate::rules::{
    self, Edit, Judgement, Kind, Loaded, NotEdited, Request, RuleRef, Rules, Subject, Tool, Trust, Verdict,
};
use crate::store::audit;
use crate::store::trusted::{Trusted, What};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Exit codes of `rules test`.
const DENY: u8 = 1;
const ASK: u8 = 3;

/// `acp-tui rules`.
pub fn run(asked: &Asked) -> Result<u8, Usage> {
    match asked {
        Asked::Test(test) => self::test(test),
        Asked::List { cwd, json } => list(&directory(cwd.as_deref())?, *json),
        Asked::Trust { file, yes } => trust(file.as_deref(), *yes),
        Asked::Suggest { cwd, json } => suggest(&directory(cwd.as_deref())?, *json),
        Asked::Add(change) => add(edit_of(change, false)),
        Asked::Remove { change, cwd } => remove(edit_of(change, true), &directory(cwd.as_deref())?),
    }
}

/// The one that is named, else the current one; as sessions name theirs.
fn directory(named: Option<&Path>) -> Result<PathBuf, Usage> {
    let cwd = named.unwrap_or(Path::new("."));
    cwd.canonicalize().map_err(|error| Usage(format!("{}: {error}", cwd.display())))
}

fn edit_of(RulesChange { list, pattern, agent }: &RulesChange, is_removal: bool) -> Edit<'_> {
    Edit { list: *list, pattern, agent: agent.as_deref(), reason: None, until: None, is_removal }
}

fn test(test: &RulesTest) -> Result<u8, Usage> {
    let cwd = directory(test.cwd.as_deref())?;
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    let rules = match &test.rules {
        Some(file) => {
            needed(file, Trust::Full)?.ok_or_else(|| Usage(format!("{}: there is no such file", file.display())))?
        }
        None => own_and_projects(dirs.as_ref(), &cwd)?,
    };
    let tool = Tool::named(&test.tool).ok_or_else(|| {
        Usage(format!("`{}` is no name of a tool; for example: Bash, Read, Edit, Fetch, Mcp", test.tool))
    })?;
    if tool.is_unknown() && !rules.has_any_for(&tool) {
        return Err(Usage(unknown(&test.tool, &tool)));
    }
    let of_server = tool.of_server();
    let named = of_server.as_deref().unwrap_or(&test.text);
    if tool.kind == Kind::Mcp && !rules::is_of_server(named) {
        return Err(Usage(format!(
            "{named:?} names no tool of a server; it is called SERVER/TOOL, for example: tracker/list"
        )));
    }
    let agent = test.agent.as_deref().map(|name| agent_named(name, &rules));
    // As an agent's call is judged: where `~/x` or `$X/y` leads is known to the agent alone.
    let claimed = match tool.kind {
        Kind::Read => claimed_paths("read", vec![test.text.clone()]),
        Kind::Edit => claimed_paths("edit", vec![test.text.clone()]),
        Kind::Bash | Kind::Fetch | Kind::Mcp | Kind::Other => Claimed::Text(test.text.clone()),
    };
    let paths: Vec<&Path> = match &claimed {
        Claimed::Paths(paths) => paths.iter().map(Path::new).collect(),
        _ => Vec::new(),
    };
    if claimed == Claimed::Unknown {
        say("where this leads only shows when it is used; the whole path is judged, and files are named without `*`");
    }
    let state = dirs.as_ref().and_then(|dirs| real_paths::real_path(&dirs.state));
    let request = Request {
        tool: &tool,
        subject: match tool.kind {
            Kind::Bash => Subject::Line(&test.text),
            Kind::Read | Kind::Edit => Subject::Paths(&paths),
            Kind::Fetch | Kind::Mcp | Kind::Other => Subject::Text(&test.text),
        },
        cwd: &cwd,
        roots: std::slice::from_ref(&cwd),
        ours: &rulebook::ours(&dirs.as_ref().map(Dirs::changed_by_hand).unwrap_or_default()),
        state: state.as_deref(),
        home: dirs.as_ref().and_then(|dirs| dirs.home.as_deref()),
        agent: agent.as_deref(),
        now: rulebook::now(),
        links: &real_paths::real_path,
        is_above: &real_paths::is_above,
        names: &real_paths::names,
        holds_key: &real_paths::holds_key,
    };
    let judgement = rules::judge(&rules, &request);
    print_judgement(&judgement, test.json)?;
    Ok(match judgement.verdict {
        Verdict::Allow => code::OK,
        Verdict::Ask => ASK,
        Verdict::Deny => DENY,
    })
}

/// What is to be said of a tool that nobody knows and no rule is for.
fn unknown(written: &str, tool: &Tool) -> String {
    let meant = tool.meant().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    format!(
        "unknown tool {written}{meant}, and no rule is for calls of that name; known are Bash, Read, Edit, Fetch, Mcp, what \
         agents call such tools (Write, Grep, WebFetch, Shell and others) and mcp__SERVER__TOOL"
    )
}

/// Why no agent that is configured, added or known is known to rules by this name.
fn not_an_agent(name: &str) -> Option<String> {
    let common = Common { agent: Some(name.to_owned()), ..Common::default() };
    match launch::named_agent(&common, &Surroundings::read().config) {
        Ok(Some(agent)) if agent.name != name => Some(format!("{name:?} is known to rules as {:?}", agent.name)),
        Ok(_) => None,
        Err(why) => Some(why.0),
    }
}

/// The name under which rules know the agent that `--agent NAME` starts. Those who are started by their command are
/// known by that, and one that is still to be configured by the name that it will have.
fn agent_named(name: &str, rules: &Rules) -> String {
    let common = Common { agent: Some(name.to_owned()), ..Common::default() };
    match launch::named_agent(&common, &Surroundings::read().config) {
        Ok(Some(agent)) => return agent.name,
        Err(why) if rules.iter().all(|rule| rule.agent.as_deref() != Some(name)) => {
            say(&format!("{}; only rules for all agents are for it", why.0));
        }
        Ok(None) | Err(_) => {}
    }
    name.to_owned()
}

fn print_judgement(Judgement { verdict, rule, also, doubt }: &Judgement, json: bool) -> Result<u8, Usage> {
    if json {
        let rule = rule.as_ref().map(|rule| rule.pattern.as_str());
        let mut row = json!({ "verdict": verdict.name(), "rule": rule });
        if !also.is_empty() {
            row["also"] = also.iter().map(|rule| rule.pattern.as_str()).collect();
        }
        return print(&format!("{row}\n"));
    }
    if let Some(doubt) = doubt {
        say(&doubt.words());
    }
    let by: Vec<String> = rule.iter().chain(also).map(line_of).collect();
    let by = if by.is_empty() { String::new() } else { format!(" {}", by.join(", ")) };
    print(&format!("{}{by}\n", verdict.name()))
}

/// A rule and where it stands.
fn line_of(rule: &RuleRef) -> String {
    let agent = rule.agent.as_ref().map(|agent| format!(" of agent {agent}")).unwrap_or_default();
    let reason = rule.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let until = rule.until.map(|until| {
        let word = if until <= rulebook::now() { "ended at" } else { "until" };
        format!(", {word} {}", time_of(until))
    });
    let until = until.unwrap_or_default();
    let text = format!("{} ({}:{}{agent}{until}){reason}", rule.pattern, rule.file, rule.line);
    sanitize::line(&text).into_owned()
}

/// Of seconds from 1970.
fn time_of(seconds: i64) -> String {
    rfc3339(Duration::from_secs(seconds.max(0).cast_unsigned()))
}

fn list(cwd: &Path, json: bool) -> Result<u8, Usage> {
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    let rules = own_and_projects(dirs.as_ref(), cwd)?;
    let mut text = String::new();
    for rule in rules.iter() {
        if json {
            let row: Value = json!({
                "list": rule.list.name(), "pattern": rule.pattern, "reason": rule.reason, "agent": rule.agent,
                "file": &*rule.file, "line": rule.line, "until": rule.until.map(time_of),
            });
            text = text + &row.to_string() + "\n";
        } else {
            text = text + rule.list.name() + " " + &line_of(rule) + "\n";
        }
    }
    if text.is_empty() && !json {
        say("there are no rules; everything is asked about");
    }
    print(&text)
}

/// What is shown and what is remembered come from one reading of the file.
fn trust(file: Option<&Path>, yes: bool) -> Result<u8, Usage> {
    let file = file.unwrap_or(Path::new(rulebook::PROJECT_FILE));
    let name = paths::visible(file.as_os_str());
    let named = |why: String| Usage(format!("{name}: {why}"));
    let file = std::path::absolute(file).map_err(|error| named(error.to_string()))?;
    let content = rule_files::read_text(&file).map_err(named)?.ok_or_else(|| named("there is no such file".into()))?;
    let Loaded { rules, malformed, warnings } = rules::load(&content, &name, Trust::Full);
    if let Some(fault) = malformed {
        return Err(Usage(fault.to_string()));
    }
    for warning in &warnings {
        say(&warning.to_string());
    }
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    let dirs = dirs.ok_or_else(|| Usage("there is no place to remember it: HOME is not set".into()))?;
    let mut text = format!("{name} would decide for agents:\n");
    for rule in rules.iter() {
        text = text + "  " + rule.list.name() + " " + &line_of(rule) + "\n";
    }
    if rules.iter().next().is_none() {
        text += "  nothing: it has no rule\n";
    }
    trust_shown(&Trusted::new(dirs.state, What::Rules), &file, &content, &text, yes)
}

/// Of the log of decisions what the person has decided in this directory.
fn suggest(cwd: &Path, json: bool) -> Result<u8, Usage> {
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    let dirs = dirs.ok_or_else(|| Usage("there is no log of decisions: HOME is not set".into()))?;
    let files = audit::files(&dirs.state).map_err(|error| Usage(format!("the log of decisions: {error}")))?;
    let records = files.iter().filter_map(|file| audit::records(file).ok()).flatten();
    let by_hand = records.filter_map(|mut record| {
        let is = |key: &str, value: &str| record[key] == value;
        let is_answer = is("by", "person") && (is("verdict", "allow") || is("verdict", "deny"));
        let is_allowed = is("verdict", "allow");
        let claims = earlier::claims_in(&mut record, |dir| dir == cwd).filter(|_| is_answer)?;
        Some(ByHand { claims, is_allowed })
    });
    let book = Rulebook::new(Some(dirs.rules_file()), dirs.home.clone())
        .with_made(Some(dirs.made_rules()))
        .with_state(Some(dirs.state.clone()))
        .with_ours(dirs.changed_by_hand());
    let mut text = String::new();
    for Suggestion { list, text: patterns, times } in suggesting::suggest(&book, cwd, by_hand) {
        let list = if list == Ruled::Allow { Verdict::Allow } else { Verdict::Deny }.name();
        if json {
            let patterns = rules::patterns(&patterns).unwrap_or_default();
            text = text + &json!({ "list": list, "patterns": patterns, "times": times }).to_string() + "\n";
        } else {
            text = text + &sanitize::line(&format!("{times:>4}× {list} {patterns}")) + "\n";
        }
    }
    if text.is_empty() && !json {
        say("nothing was answered by hand here that a rule could answer");
    }
    print(&text)
}

fn add(change: Edit<'_>) -> Result<u8, Usage> {
    let file = needed_dirs()?.rules_file();
    // It may be one that is started by its command, or is still to be configured.
    if let Some(name) = change.agent
        && let Some(why) = not_an_agent(name)
    {
        say(&format!("{why}; the rule holds for none of them, only for `acp-tui … -- {name}`"));
    }
    match rule_files::change(&file, "", change) {
        Ok(()) => {
            if let Some(said) = rules::remark(change.list, change.pattern) {
                say(&format!("{said}{}", taken_back(&change)));
            }
            print(&told("added", &change, "to", &file))
        }
        Err(error) => not_changed(&file, &change, error),
    }
}

/// What was done, and in which file.
fn told(done: &str, Edit { list, pattern, agent, .. }: &Edit<'_>, place: &str, file: &Path) -> String {
    let agent = agent.map(|name| format!(" of agent {name}")).unwrap_or_default();
    let said = format!("{done} {} {pattern}{agent} {place} {}", list.name(), file.display());
    sanitize::line(&said).into_owned() + "\n"
}

/// What to do where a rule was not meant so.
fn taken_back(Edit { list, pattern, agent, .. }: &Edit<'_>) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let agent = agent.map(|name| format!(" --agent {}", quoted(name))).unwrap_or_default();
    format!(" (`acp-tui rules remove {} {}{agent}` takes it back)", list.name(), quoted(pattern))
}

/// From the person's own file, and from that of the directory, in which those are that were made in questions.
fn remove(change: Edit<'_>, cwd: &Path) -> Result<u8, Usage> {
    let dirs = needed_dirs()?;
    let own = (dirs.rules_file(), String::new());
    let made = (rule_files::of_directory(&dirs.made_rules(), cwd), rule_files::heading(cwd));
    let mut text = String::new();
    for (file, heading) in [own, made] {
        // One that is not there is not made for that.
        match if file.exists() { rule_files::change(&file, &heading, change) } else { continue } {
            Ok(()) => {
                text += &told("removed", &change, "from", &file);
            }
            Err(NotChanged::Edit(NotEdited::NotThere)) => {}
            Err(error) => {
                print(&text)?;
                return not_changed(&file, &change, error);
            }
        }
    }
    if text.is_empty() {
        return Err(Usage(not_there(&change, cwd, &dirs)));
    }
    print(&text)
}

/// Where else the pattern stands: in another list, for an agent, in the project's file or in that of another directory.
fn not_there(change: &Edit<'_>, cwd: &Path, dirs: &Dirs) -> String {
    let others = dirs.made_rules().read_dir().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut others: Vec<PathBuf> = others.filter(|file| file.extension().is_some_and(|end| end == "toml")).collect();
    others.sort();
    let files = [dirs.rules_file(), cwd.join(rulebook::PROJECT_FILE)].into_iter().chain(others);
    let found = files.filter_map(|file| rulebook::read_rules(&file, Trust::Full)).flat_map(|found| {
        let rules = found.rules.iter().filter(|rule| rule.pattern == change.pattern);
        rules.map(|rule| format!("{} {}", rule.list.name(), line_of(rule))).collect::<Vec<_>>()
    });
    let found = found.collect::<Vec<_>>().join(", ");
    let agent = change.agent.map(|agent| format!(" of agent {agent}")).unwrap_or_default();
    let none = format!("no rule `{} {}`{agent} of yours is for {}", change.list.name(), change.pattern, cwd.display());
    let found = if found.is_empty() { String::new() } else { format!("; there is {found}") };
    sanitize::line(&format!("{none}{found}")).into_owned()
}

fn needed_dirs() -> Result<Dirs, Usage> {
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    dirs.ok_or_else(|| Usage("there is no place for rules.toml: HOME is not set".into()))
}

fn not_changed(file: &Path, change: &Edit<'_>, why: NotChanged) -> Result<u8, Usage> {
    match why {
        NotChanged::Edit(NotEdited::NoPattern(reason)) => {
            Err(Usage(format!("`{}` is no pattern: {reason}", change.pattern)))
        }
        NotChanged::Unwritten(error) => {
            say(&format!("{}: {error}", file.display()));
            Ok(code::OWN_FAULT)
        }
        error => Err(Usage(format!("{}: {error}", file.display()))),
    }
}

fn own(dirs: Option<&Dirs>) -> Result<Rules, Usage> {
    let own = dirs.map(Dirs::rules_file);
    Ok(own.map(|file| needed(&file, Trust::Full)).transpose()?.flatten().unwrap_or_default())
}

/// The person's own rules and those of the project, which can only narrow them.
fn own_and_projects(dirs: Option<&Dirs>, cwd: &Path) -> Result<Rules, Usage> {
    let mut rules = own(dirs)?;
    let trusted = dirs.map(|dirs| Trusted::new(dirs.state.clone(), What::Rules));
    for found in rulebook::read_projects(&rulebook::project_files(cwd), trusted.as_ref()) {
        rules.extend(readable(found)?);
    }
    if let Some(made) = dirs.and_then(|dirs| rulebook::read_made(&dirs.made_rules(), cwd)) {
        rules.extend(readable(made)?);
    }
    Ok(rules)
}

/// The rules of a file; `None` when there is none.
fn needed(file: &Path, trust: Trust) -> Result<Option<Rules>, Usage> {
    let Some(found) = rulebook::read_rules(file, trust) else { return Ok(None) };
    readable(found).map(Some)
}

/// The rules, unless something is wrong with them.
fn readable(FileRules { rules, fault, warnings, .. }: FileRules) -> Result<Rules, Usage> {
    if let Some(fault) = fault {
        return Err(Usage(fault));
    }
    for warning in &warnings {
        say(warning);
    }
    Ok(rules)
}

/// The rules that `exec --rules` names, and nothing else.
pub(super) fn only(file: &Path, agent: &str, dirs: Option<&Dirs>) -> Result<RulesConfig, Usage> {
    let rules = needed(file, Trust::Full)?;
    let rules = rules.ok_or_else(|| Usage(format!("{}: there is no such file", file.display())))?;
    Ok(of_only(rules, agent, dirs))
}

/// What `exec` is held to without a file of rules: what those deny and ask about that hold here anyway. What is allowed, its
/// flag says.
pub(super) fn narrowing(cwd: &Path, agent: &str, dirs: Option<&Dirs>) -> Result<RulesConfig, Usage> {
    let mut rules = own(dirs)?;
    let projects = rulebook::read_projects(&rulebook::project_files(cwd), None);
    let made = dirs.and_then(|dirs| rulebook::read_made(&dirs.made_rules(), cwd));
    for FileRules { rules: found, fault, .. } in projects.into_iter().chain(made) {
        match fault {
            Some(fault) => return Err(Usage(fault)),
            None => rules.extend(found),
        }
    }
    Ok(of_only(rules.narrowing(), agent, dirs))
}

fn of_only(rules: Rules, agent: &str, dirs: Option<&Dirs>) -> RulesConfig {
    let book = Rulebook::only(rules, dirs.and_then(|dirs| dirs.home.clone()))
        .with_ours(dirs.map(Dirs::changed_by_hand).unwrap_or_default())
        .with_state(dirs.map(|dirs| dirs.state.clone()));
    RulesConfig { book: Arc::new(book), agent: Some(agent.to_owned()) }
}

/// What agents on the full screen are held to, and what is wrong with it.
pub(super) fn of_session(
    cwd: &Path,
    agent: &str,
    hook: Option<Hook>,
    dirs: Option<&Dirs>,
) -> (RulesConfig, Vec<String>) {
    let book = Rulebook::new(dirs.map(Dirs::rules_file), dirs.and_then(|dirs| dirs.home.clone()))
        .with_made(dirs.map(Dirs::made_rules))
        .with_state(dirs.map(|dirs| dirs.state.clone()))
        .with_ours(dirs.map(Dirs::changed_by_hand).unwrap_or_default())
        .with_hook(hook);
    let warnings = book.read(cwd);
    (RulesConfig { book: Arc::new(book), agent: Some(agent.to_owned()) }, warnings)
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
