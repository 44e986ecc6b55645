//! `rules`: what the rules say about one request, which there are, and how one is added or removed.
//!
//! Judges nothing itself. Invariant: a file that is written is the person's own, whole, and readable by nobody else.

use super::args::{Rules as Asked, RulesTest};
use super::output::{print, say};
use super::usage::Usage;
use crate::base::sanitize;
use crate::config::dirs::{Dirs, Env};
use crate::headless::code;
use crate::rules::{self, Doubt, Judgement, Kind, Loaded, Request, RuleRef, Rules, Subject, Tool, Trust, Verdict};
use crate::store::replace::{Durability, Replacement};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

/// A larger file is none of rules.
const MAX_BYTES: u64 = 1 << 20;
/// Where a project keeps its own.
const PROJECT_FILE: &str = ".acp-tui/rules.toml";

/// Exit codes of `rules test`.
const DENY: u8 = 1;
const ASK: u8 = 3;

/// `acp-tui rules`.
pub fn run(asked: &Asked) -> Result<u8, Usage> {
    match asked {
        Asked::Test(test) => self::test(test),
        Asked::List { json } => list(*json),
        Asked::Change { is_removal, list, pattern, agent } => {
            let change = rules::Edit { list: *list, pattern, agent: agent.as_deref(), is_removal: *is_removal };
            self::change(change)
        }
    }
}

fn test(test: &RulesTest) -> Result<u8, Usage> {
    let cwd = test.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let cwd = cwd.canonicalize().map_err(|error| Usage(format!("{}: {error}", cwd.display())))?;
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    let rules = match &test.rules {
        Some(file) => {
            needed(file, Trust::Full)?.ok_or_else(|| Usage(format!("{}: there is no such file", file.display())))?
        }
        None => own_and_projects(dirs.as_ref(), &cwd)?,
    };
    let home = dirs.as_ref().and_then(|dirs| dirs.home.as_deref());
    let tool = Tool::named(&test.tool).ok_or_else(|| {
        Usage(format!("`{}` is no name of a tool; for example: Bash, Read, Edit, Fetch, Mcp", test.tool))
    })?;
    let path = match test.text.strip_prefix("~/").zip(home) {
        Some((rest, home)) => home.join(rest),
        None => PathBuf::from(&test.text),
    };
    let paths = [path.as_path()];
    let request = Request {
        tool: &tool,
        subject: match tool.kind {
            Kind::Bash => Subject::Line(&test.text),
            Kind::Read | Kind::Edit => Subject::Paths(&paths),
            Kind::Fetch | Kind::Mcp | Kind::Other => Subject::Text(&test.text),
        },
        cwd: &cwd,
        roots: std::slice::from_ref(&cwd),
        home,
        agent: test.agent.as_deref(),
        links: &real_path,
    };
    let judgement = rules::judge(&rules, &request);
    print_judgement(&judgement, test.json)?;
    Ok(match judgement.verdict {
        Verdict::Allow => code::OK,
        Verdict::Ask => ASK,
        Verdict::Deny => DENY,
    })
}

fn print_judgement(Judgement { verdict, rule, doubt }: &Judgement, json: bool) -> Result<u8, Usage> {
    if json {
        let rule = rule.as_ref().map(|rule| rule.pattern.as_str());
        return print(&format!("{}\n", json!({ "verdict": verdict.name(), "rule": rule })));
    }
    if let Some(doubt) = doubt {
        say(words_of(*doubt));
    }
    let by = rule.as_ref().map(|rule| format!(" {}", line_of(rule))).unwrap_or_default();
    print(&format!("{}{by}\n", verdict.name()))
}

/// A rule and where it stands.
fn line_of(rule: &RuleRef) -> String {
    let agent = rule.agent.as_ref().map(|agent| format!(" of agent {agent}")).unwrap_or_default();
    let reason = rule.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let text = format!("{} ({}:{}{agent}){reason}", rule.pattern, rule.file, rule.line);
    sanitize::line(&text).into_owned()
}

fn words_of(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::NoRule => "no rule is for it",
        Doubt::Unreadable => "the line cannot be read",
        Doubt::Dialect => "shells do not agree on what the line means",
        Doubt::Deceptive => "it holds characters that are not seen, or look like something else",
        Doubt::TooLong => "it is too long or too deep to be judged",
        Doubt::Arithmetic => "a sum or a test may run what variables hold",
        Doubt::Parameter => "what becomes of a variable may run something",
        Doubt::Setting => "it sets a list or a part of one",
        Doubt::Program => "which program it is only shows when it runs",
        Doubt::Options => "something may turn out to be an option when it runs",
        Doubt::File => "which file it is only shows when it runs",
        Doubt::Moved => "where that is depends on the change of directory before it",
        Doubt::PerhapsDenied => "it may be what a rule denies",
        Doubt::BrokenDeny => "a rule that denies could not be read",
    }
}

fn list(json: bool) -> Result<u8, Usage> {
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    let cwd = std::env::current_dir().map_err(|error| Usage(error.to_string()))?;
    let rules = own_and_projects(dirs.as_ref(), &cwd)?;
    let mut text = String::new();
    for rule in rules.iter() {
        if json {
            let row: Value = json!({
                "list": rule.list.name(), "pattern": rule.pattern, "reason": rule.reason, "agent": rule.agent,
                "file": &*rule.file, "line": rule.line,
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

fn change(change: rules::Edit<'_>) -> Result<u8, Usage> {
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    let file = dirs.map(|dirs| dirs.rules_file()).ok_or_else(|| Usage("there is no place for rules.toml".into()))?;
    // A link stays one: what it leads to is written.
    let file = file.canonicalize().unwrap_or(file);
    let named = |what: &dyn std::fmt::Display| Usage(format!("{}: {what}", file.display()));
    let text = read(&file).map_err(|reason| named(&reason))?.unwrap_or_default();
    let edited = rules::edit(&text, change).map_err(|error| match error {
        rules::NotEdited::NoPattern(reason) => Usage(format!("`{}` is no pattern: {reason}", change.pattern)),
        other => named(&other),
    })?;
    if let Err(error) = write(&file, &edited) {
        say(&format!("{}: {error}", file.display()));
        return Ok(code::OWN_FAULT);
    }
    print("")
}

/// In one step, so that whoever reads it meanwhile finds the old or the new rules; for the owner alone.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let dir = file.parent().ok_or(io::ErrorKind::NotFound)?;
    std::fs::create_dir_all(dir)?;
    let mut new = Replacement::of(file)?;
    new.write_all(text.as_bytes())?;
    new.finish(Durability::Whole)
}

/// The person's own rules and those of the project, which can only narrow them.
fn own_and_projects(dirs: Option<&Dirs>, cwd: &Path) -> Result<Rules, Usage> {
    let mut rules = Rules::default();
    let own = dirs.map(Dirs::rules_file);
    if let Some(found) = own.map(|file| needed(&file, Trust::Full)).transpose()?.flatten() {
        rules.extend(found);
    }
    if let Some(found) = needed(&cwd.join(PROJECT_FILE), Trust::OnlyNarrow)? {
        rules.extend(found);
    }
    Ok(rules)
}

/// The rules of a file; `None` when there is none.
fn needed(file: &Path, trust: Trust) -> Result<Option<Rules>, Usage> {
    let text = read(file).map_err(|reason| Usage(format!("{}: {reason}", file.display())))?;
    let Some(text) = text else { return Ok(None) };
    let Loaded { rules, malformed, warnings } = rules::load(&text, &file.to_string_lossy(), trust);
    if let Some(fault) = malformed {
        return Err(Usage(fault.to_string()));
    }
    for warning in &warnings {
        say(&warning.to_string());
    }
    Ok(Some(rules))
}

fn read(file: &Path) -> Result<Option<String>, String> {
    // Looked at before it is opened: opening a named pipe would wait for a writer.
    match file.metadata() {
        Ok(meta) if !meta.is_file() => return Err("it is not a regular file".to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(|error| error.to_string())?;
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err("it is larger than 1 MiB".to_owned());
    }
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned())
}

/// Where a path leads, also when its end is not there yet: links of what is there are followed.
fn real_path(path: &Path) -> Option<PathBuf> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut there = path;
    loop {
        match there.canonicalize() {
            Ok(real) => return Some(missing.iter().rev().fold(real, |path, name| path.join(name))),
            // A link that leads nowhere may lead somewhere by the time it is used.
            Err(error) if error.kind() == io::ErrorKind::NotFound && there.symlink_metadata().is_err() => {}
            Err(_) => return None,
        }
        match there.components().next_back()? {
            Component::Normal(name) => missing.push(name),
            _ => return None,
        }
        there = there.parent()?;
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
