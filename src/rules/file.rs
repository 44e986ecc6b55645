//! The text of a rules file as rules.
//!
//! Opens no file. Invariants: what is wrong is named with its line; a deny that cannot be read makes its tool ask, and a
//! file that only narrows allows nothing.

use super::{LISTS, RuleRef, Rules, Verdict, remark};
use crate::base::date::seconds;
use crate::base::toml_doc::{Report, Warning, kind_of};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a file may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Full,
    /// Comes with the project, and is not trusted: it can ask and deny, not allow.
    OnlyNarrow,
}

#[derive(Debug, Default)]
pub struct Loaded {
    pub rules: Rules,
    /// It is no rules file; what could be read of it is there all the same.
    pub malformed: Option<Warning>,
    /// What has no effect.
    pub warnings: Vec<Warning>,
}

const AGENT: &str = "agent";
const ENTRY_KEYS: [&str; 3] = ["pattern", "reason", "until"];

/// An entry of a list.
#[derive(Default)]
struct Entry {
    pattern: String,
    reason: Option<String>,
    until: Option<i64>,
}

pub fn load(text: &str, file_name: &str, trust: Trust) -> Loaded {
    let mut faults = Report::new(file_name, text);
    let mut notes = Report::new(file_name, text);
    let table = faults.parse();
    let mut reader = Reader { file: file_name.into(), trust, rules: Rules::default() };
    reader.lists(&table, None, &mut faults, &mut notes);
    let malformed = faults.finish().into_iter().next();
    if malformed.is_some() {
        // A deny may have been among what could not be read.
        reader.rules.broken(None, None);
    }
    Loaded { rules: reader.rules, malformed, warnings: notes.finish() }
}

struct Reader {
    file: Arc<str>,
    trust: Trust,
    rules: Rules,
}

impl Reader {
    fn lists(&mut self, table: &DeTable<'_>, agent: Option<&str>, faults: &mut Report<'_>, notes: &mut Report<'_>) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if let Some(list) = Verdict::named(name) {
                self.list(list, value, agent, faults, notes);
            } else if name == AGENT && agent.is_none() {
                self.agents(value, faults, notes);
            } else {
                let place = agent.map(|agent| format!(" in [{AGENT}.{agent}]")).unwrap_or_default();
                let more = if agent.is_none() { ", [agent.NAME]" } else { "" };
                notes.warn(&key.span(), format!("unknown key {name:?}{place}; allowed: {}{more}", lists()));
            }
        }
    }

    fn agents(&mut self, value: &Spanned<DeValue<'_>>, faults: &mut Report<'_>, notes: &mut Report<'_>) {
        let not_a_table = |value: &DeValue<'_>| format!("agent is {}; allowed: tables, [agent.NAME]", kind_of(value));
        let Some(table) = value.get_ref().as_table() else {
            return faults.warn(&value.span(), not_a_table(value.get_ref()));
        };
        for (name, value) in table {
            match value.get_ref().as_table() {
                Some(table) => self.lists(table, Some(name.get_ref().as_ref()), faults, notes),
                // `[agent]` with lists of its own: of no agent.
                None => faults.warn(&name.span(), not_a_table(value.get_ref())),
            }
        }
    }

    fn list(
        &mut self,
        list: Verdict,
        value: &Spanned<DeValue<'_>>,
        agent: Option<&str>,
        faults: &mut Report<'_>,
        notes: &mut Report<'_>,
    ) {
        let Some(entries) = value.get_ref().as_array() else {
            let given = kind_of(value.get_ref());
            return faults.warn(&value.span(), format!("{} is {given}; allowed: a list of patterns", list.name()));
        };
        if list == Verdict::Allow && self.trust == Trust::OnlyNarrow && !entries.is_empty() {
            return notes.warn(&value.span(), "what a project's rules allow has no effect before `acp-tui rules trust`; what they ask about and deny has");
        }
        for entry in entries {
            let Some(Entry { pattern, reason, until }) = Self::entry(list, entry, faults, notes) else {
                continue;
            };
            let line = notes.line_of(entry.span().start);
            let agent = agent.map(str::to_owned);
            let rule = RuleRef { list, pattern: pattern.clone(), reason, agent, until, file: self.file.clone(), line };
            match self.rules.add(rule) {
                Ok(()) => {
                    if let Some(said) = remark(list, &pattern) {
                        notes.warn(&entry.span(), said);
                    }
                }
                Err(reason) => {
                    let outcome = if list == Verdict::Deny { "its tool is asked about" } else { "it matches nothing" };
                    notes.warn(&entry.span(), format!("{pattern:?} is no pattern, {outcome}: {reason}"));
                }
            }
        }
    }

    fn entry(
        list: Verdict,
        entry: &Spanned<DeValue<'_>>,
        faults: &mut Report<'_>,
        notes: &mut Report<'_>,
    ) -> Option<Entry> {
        if let Some(pattern) = entry.get_ref().as_str() {
            return Some(Entry { pattern: pattern.to_owned(), ..Entry::default() });
        }
        let allowed = "allowed: \"PATTERN\" or { pattern = \"PATTERN\", reason = \"WHY\" }";
        let (mut pattern, mut reason, mut until) = (None, None, None);
        for (key, value) in entry.get_ref().as_table().into_iter().flatten() {
            let text = value.get_ref().as_str();
            match key.get_ref().as_ref() {
                "pattern" => pattern = text.map(str::to_owned),
                "reason" if text.is_some() => reason = text.map(str::to_owned),
                "reason" => notes.warn(&value.span(), "a reason is a string"),
                "until" => match moment(value.get_ref()) {
                    Some(moment) => until = Some(moment),
                    // A time that cannot be read is over where it would allow something.
                    None => {
                        until = (list == Verdict::Allow).then_some(i64::MIN);
                        notes.warn(&value.span(), "until is a time, such as 2026-12-31T18:00:00Z");
                    }
                },
                other => {
                    notes.warn(&key.span(), format!("unknown key {other:?}; allowed: {}", ENTRY_KEYS.join(", ")));
                }
            }
        }
        if pattern.is_none() {
            let given = kind_of(entry.get_ref());
            faults.warn(&entry.span(), format!("{} holds {given} without a pattern; {allowed}", list.name()));
        }
        Some(Entry { pattern: pattern?, reason, until })
    }
}

pub(super) fn moment(value: &DeValue<'_>) -> Option<i64> {
    match value {
        DeValue::String(text) => seconds(text),
        DeValue::Datetime(moment) => seconds(&moment.to_string()),
        _ => None,
    }
}

fn lists() -> String {
    LISTS.map(|(_, name)| name).join(", ")
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
