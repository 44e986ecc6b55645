//! Adds a pattern to the text of a rules file, or removes it; everything else stays as it is written, comments too.
//!
//! Opens no file. Invariant: what comes out has been read again and says what it should, or there is an error.

use super::file::{Trust, load, moment};
use super::{RuleRef, Verdict, check};
use crate::base::date::seconds;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    pub list: Verdict,
    pub pattern: &'a str,
    pub agent: Option<&'a str>,
    pub reason: Option<&'a str>,
    /// When it is over, as RFC 3339 has it.
    pub until: Option<&'a str>,
    /// Removes it instead.
    pub is_removal: bool,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEdited {
    #[error("{0}")]
    NoPattern(String),
    #[error("{0}")]
    Malformed(String),
    #[error("it is there already")]
    There,
    #[error("it is not there")]
    NotThere,
    #[error("the file is written in a way that has to be changed by hand")]
    ByHand,
}

/// The text with the change.
pub fn edit(text: &str, change: Edit<'_>) -> Result<String, NotEdited> {
    check(change.pattern).or_else(|reason| {
        // What is no pattern can be removed all the same.
        if change.is_removal { Ok(()) } else { Err(NotEdited::NoPattern(reason)) }
    })?;
    let found = find(text, change)?;
    let there = || found.list.iter().flat_map(|list| &list.entries).filter(|entry| entry.pattern == change.pattern);
    let (edited, wanted) = match (there().next(), change.is_removal) {
        (Some(_), false) if there().any(|entry| !entry.ends_before(change)) => return Err(NotEdited::There),
        (None, true) => return Err(NotEdited::NotThere),
        (Some(entry), true) => (without_empty(without(text, entry.span.clone()), change), there().count() - 1),
        (Some(entry), false) => (longer(text, entry, change), there().count()),
        (None, false) => (with(text, change, &found)?, 1),
    };
    // Entries of one pattern may be there twice.
    let after = find(&edited, change).map_err(|_| NotEdited::ByHand)?;
    let there = || after.list.iter().flat_map(|list| &list.entries).filter(|entry| entry.pattern == change.pattern);
    let is_done = there().count() == wanted && (change.is_removal || there().any(|entry| !entry.ends_before(change)));
    let kept = |text: &str| load(text, "", Trust::Full).rules.iter().filter(|rule| !is_it(rule, change)).count();
    if is_done && kept(text) == kept(&edited) { Ok(edited) } else { Err(NotEdited::ByHand) }
}

fn is_it(rule: &RuleRef, change: Edit<'_>) -> bool {
    rule.list == change.list && rule.agent.as_deref() == change.agent && rule.pattern == change.pattern
}

struct Entry {
    pattern: String,
    span: Range<usize>,
    reason: Option<String>,
    /// When it is over, in seconds from 1970.
    until: Option<i64>,
}

impl Entry {
    /// Whether it is over, and what is to be added then is not.
    fn ends_before(&self, change: Edit<'_>) -> bool {
        let wanted = change.until.and_then(seconds).unwrap_or(i64::MAX);
        self.until.is_some_and(|until| until < wanted)
    }
}

struct List {
    span: Range<usize>,
    entries: Vec<Entry>,
}

struct Found {
    list: Option<List>,
}

fn find(text: &str, change: Edit<'_>) -> Result<Found, NotEdited> {
    if let Some(fault) = load(text, "", Trust::Full).malformed {
        let line = fault.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        return Err(NotEdited::Malformed(format!("{line}{}", fault.message)));
    }
    let table = DeTable::parse(text).map_err(|error| NotEdited::Malformed(error.message().to_owned()))?;
    let agent;
    let table = match change.agent {
        None => Some(table.get_ref()),
        Some(name) => {
            agent = table.get_ref().get("agent").and_then(|agents| agents.get_ref().as_table()?.get(name));
            agent.and_then(|agent| agent.get_ref().as_table())
        }
    };
    let list = table.and_then(|table| table.get(change.list.name()));
    let list = list.and_then(|value| {
        let entries = value.get_ref().as_array()?.iter().filter_map(|entry| {
            let span = entry.span();
            let DeValue::Table(table) = entry.get_ref() else {
                let pattern = entry.get_ref().as_str()?.to_owned();
                return Some(Entry { pattern, span, reason: None, until: None });
            };
            let text = |key: &str| Some(table.get(key)?.get_ref().as_str()?.to_owned());
            let (pattern, reason) = (text("pattern")?, text("reason"));
            // A time that cannot be read is over.
            let until = table.get("until").map(|until| moment(until.get_ref()).unwrap_or(i64::MIN));
            Some(Entry { pattern, span, reason, until })
        });
        Some(List { span: value.span(), entries: entries.collect() })
    });
    Ok(Found { list })
}

fn with(text: &str, change: Edit<'_>, found: &Found) -> Result<String, NotEdited> {
    let quoted = entry_of(change);
    if let Some(list) = &found.list {
        return into_list(text, list, &quoted).ok_or(NotEdited::ByHand);
    }
    let lines = format!("{} = [\n    {quoted},\n]\n", change.list.name());
    let Some(agent) = change.agent else {
        // Before any table; what stands there belongs to no table.
        let at = first_place(text);
        let (before, after) = text.split_at(at);
        let gap = if after.trim().is_empty() { "" } else { "\n" };
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{before}{end}{lines}{gap}{after}"));
    };
    let is_bare = !agent.is_empty() && agent.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let header = if is_bare { format!("[agent.{agent}]") } else { format!("[agent.{}]", self::quoted(agent)) };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.split('#').next().is_some_and(|line| line.trim() == header) {
            let (before, after) = text.split_at(at);
            let end = if before.ends_with('\n') { "" } else { "\n" };
            return Ok(format!("{before}{end}{lines}{after}"));
        }
    }
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Ok(format!("{text}{gap}{header}\n{lines}"))
}

/// After the comment at the top, before the first paragraph that says something.
fn first_place(text: &str) -> usize {
    let (mut at, mut paragraph) = (0, 0);
    for line in text.split_inclusive('\n') {
        let line_text = line.trim();
        if !line_text.is_empty() && !line_text.starts_with('#') {
            return paragraph;
        }
        at += line.len();
        if line_text.is_empty() {
            paragraph = at;
        }
    }
    text.len()
}

fn into_list(text: &str, list: &List, quoted: &str) -> Option<String> {
    let close = list.span.end.checked_sub(1)?;
    let last = list.entries.last().map(|entry| entry.span.end);
    let inside = text.get(last.unwrap_or(list.span.start + 1)..close)?;
    let is_tall = text.get(list.span.clone())?.contains('\n');
    // A comma in a comment is none.
    let has_comma = inside.lines().any(|line| line.split('#').next().is_some_and(|line| line.contains(',')));
    let mut edited = text.to_owned();
    if is_tall {
        let line = text.get(..close)?.rfind('\n')? + 1;
        let before_close = text.get(line..close)?;
        let place = if before_close.trim().is_empty() { line } else { close };
        edited.insert_str(place, &format!("    {quoted},\n"));
    } else {
        let comma = if has_comma { " " } else { "" };
        edited.insert_str(close, &format!("{comma}{}{quoted}", if has_comma || last.is_none() { "" } else { " " }));
    }
    if let Some(last) = last.filter(|_| !has_comma) {
        edited.insert(last, ',');
    }
    Some(edited)
}

/// The entry in its place, for as long as is wanted now; its reason stays.
fn longer(text: &str, entry: &Entry, change: Edit<'_>) -> String {
    let reason = change.reason.or(entry.reason.as_deref());
    let mut edited = text.to_owned();
    edited.replace_range(entry.span.clone(), &entry_of(Edit { reason, ..change }));
    edited
}

fn without(text: &str, entry: Range<usize>) -> String {
    let after = text.get(entry.end..).unwrap_or_default();
    let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
    let comma = after.get(blank..).is_some_and(|rest| rest.starts_with(','));
    let (mut start, mut end) = (entry.start, entry.end + if comma { blank + 1 } else { 0 });
    let line = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let rest = text.get(end..).unwrap_or_default();
    let line_end = rest.find('\n').map(|at| at + 1);
    let is_alone = text.get(line..start).is_some_and(|before| before.trim().is_empty());
    match line_end {
        // The whole line, with its comment.
        Some(length) if is_alone && (rest[..length].trim().is_empty() || rest[..length].trim().starts_with('#')) => {
            start = line;
            end += length;
        }
        _ if comma => end += rest.len() - rest.trim_start_matches(' ').len(),
        _ => {}
    }
    format!("{}{}", text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default())
}

/// Without the list that has been emptied, where it stands in lines of its own and no comment is in it, as lists are added
/// here; and without the heading of an agent that has nothing else.
fn without_empty(text: String, change: Edit<'_>) -> String {
    let Ok(Found { list: Some(List { span, .. }) }) = find(&text, change) else { return text };
    let inside: String = text.get(span.clone()).unwrap_or_default().split([' ', '\t', '\r']).collect();
    let (Some(before), Some(after)) = (text.get(..span.start), text.get(span.end..)) else { return text };
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let key = before.get(start..).unwrap_or_default().trim_end_matches([' ', '\t', '=']);
    let (rest, after) = after.split_once('\n').unwrap_or((after, ""));
    if inside.trim_matches(['[', ']']) != "\n" || key != change.list.name() || !rest.trim().is_empty() {
        return text;
    }
    let mut before = before.get(..start).unwrap_or_default();
    let is_bare = after.trim().is_empty() || after.trim_start().starts_with('[');
    if let Some((above, heading)) = before.trim_end_matches('\n').rsplit_once('\n').or(Some(("", before.trim_end())))
        && change.agent.is_some()
        && is_bare
        && heading.starts_with("[agent.")
        && heading.trim_end().ends_with(']')
    {
        before = before.get(..above.len() + usize::from(!above.is_empty())).unwrap_or_default();
    }
    // Of the blank lines around it one is enough.
    let is_apart = before.is_empty() || before.ends_with("\n\n");
    let after = if is_apart { after.strip_prefix('\n').unwrap_or(after) } else { after };
    let before = if after.is_empty() { before.trim_end_matches('\n') } else { before };
    let end = if after.is_empty() && !before.is_empty() { "\n" } else { "" };
    format!("{before}{end}{after}")
}

fn entry_of(change: Edit<'_>) -> String {
    let pattern = quoted(change.pattern);
    if change.reason.is_none() && change.until.is_none() {
        return pattern;
    }
    let reason = change.reason.map(|reason| format!(", reason = {}", quoted(reason))).unwrap_or_default();
    let until = change.until.map(|until| format!(", until = {until}")).unwrap_or_default();
    format!("{{ pattern = {pattern}{reason}{until} }}")
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
