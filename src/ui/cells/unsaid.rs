//! What the input of a call has besides the command or the change that a question about it shows.
//!
//! Invariants: a text that stands nowhere else in the question is among it, and what is shown of it is bounded.

use super::diffs::indented;
use super::lines::more_lines;
use super::named::{is_here, joined};
use super::{CellCtx, values};
use crate::model::claims::{
    file_keys, files_named, has_settings, is_for_places, is_for_programs, is_for_what_is_written, is_made_of_command,
    is_of_no_account, texts_in_input,
};
use crate::model::tool::{Change, ChangeBody, ToolCall, ToolContent};
use crate::text::diff::CONTEXT;
use crate::text::line::LogicalLine;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Lines of it, as of an input that is shown because nothing else is.
const MAX_LINES: usize = 12;

/// What a question shows already.
struct Shown<'a> {
    files: Vec<String>,
    lines: BTreeSet<&'a str>,
    command: &'a str,
    /// The texts of changes, and their lines.
    changed: Vec<&'a str>,
    changed_lines: BTreeSet<&'a str>,
    differing: Vec<Differing<'a>>,
    ctx: &'a CellCtx<'a>,
}

/// Lines of a change.
#[derive(Default)]
struct Differing<'a> {
    /// That it takes away or puts in.
    lines: Vec<&'a str>,
    /// That a question shows: these, and those beside them.
    near: Vec<&'a str>,
}

/// The members that have a text, a number or a switch which is not shown, and whether these are all lines of them; `what` is
/// the command or the object, `above` stands there already.
pub(super) fn lines(
    tool: &ToolCall,
    (what, above): (&str, &[LogicalLine]),
    is_whole: bool,
    ctx: &CellCtx<'_>,
) -> (Vec<LogicalLine>, bool) {
    let Some(input) = tool.raw_input.as_ref().and_then(Value::as_object) else { return (Vec::new(), true) };
    if texts_in_input(tool).is_empty() && file_keys(input).is_empty() && !has_settings(tool) {
        return (Vec::new(), true);
    }
    let changed: Vec<&str> = tool.content.iter().filter_map(ToolContent::change).flat_map(texts_of).collect();
    let shown = Shown {
        files: files_named(tool),
        lines: above.iter().map(|line| line.text.as_str().trim()).chain([what.trim()]).collect(),
        command: what,
        changed_lines: changed.iter().flat_map(|text| text.lines()).map(bare).collect(),
        differing: tool.content.iter().filter_map(ToolContent::change).map(differing).collect(),
        changed,
        ctx,
    };
    let unsaid = input.iter().filter(|(key, value)| !shown.says(key, value, Within::default()));
    let unsaid: Map<String, Value> = unsaid.map(|(key, value)| (key.clone(), value.clone())).collect();
    let (mut lines, is_all) = values::whole("input", &Value::Object(unsaid));
    let more = lines.len().saturating_sub(MAX_LINES);
    let is_cut = more > 1 && !is_whole;
    if is_cut {
        lines.truncate(MAX_LINES);
        lines.push(indented(more_lines(more, !is_all)));
    }
    (lines, is_all && !is_cut)
}

/// Lines that a change takes away or puts in, and those that are shown beside them.
fn differing(change: &Change) -> Differing<'_> {
    let (old, new) = match &change.body {
        ChangeBody::Texts { old, new } => (old.as_deref().unwrap_or_default(), &**new),
        ChangeBody::Patch(patch) => {
            let lines: Vec<&str> = patch.lines().map(bare).collect();
            let is_sign = |line: &&str| line.starts_with(['+', '-']);
            return Differing { lines: patch.lines().filter(is_sign).map(bare).collect(), near: lines };
        }
        ChangeBody::Nothing => return Differing::default(),
    };
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let sets = [&before, &after].map(|lines| lines.iter().copied().collect::<BTreeSet<&str>>());
    let mut found = Differing::default();
    for (lines, others) in [(&before, &sets[1]), (&after, &sets[0])] {
        let mut shown_to = 0;
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| !others.contains(*line)) {
            found.lines.push(line);
            let from = at.saturating_sub(CONTEXT).max(shown_to);
            shown_to = (at + CONTEXT + 1).min(lines.len());
            found.near.extend(lines.get(from..shown_to).unwrap_or_default().iter().map(|line| bare(line)));
        }
    }
    found
}

fn texts_of(change: &Change) -> Vec<&str> {
    match &change.body {
        ChangeBody::Texts { old, new } => old.iter().map(|old| &**old).chain([&**new]).collect(),
        ChangeBody::Patch(patch) => vec![&**patch],
        ChangeBody::Nothing => Vec::new(),
    }
}

/// A line of a file, or of a patch of it, without what stands around it.
fn bare(line: &str) -> &str {
    line.trim_start_matches(['+', '-']).trim()
}

/// What a member stands in.
#[derive(Clone, Copy, Default)]
struct Within {
    /// A change may show its texts.
    is_written: bool,
    /// It was read out of the command, which shows it.
    is_of_command: bool,
}

impl Shown<'_> {
    /// Whether all of a member is shown, or of no account.
    fn says(&self, key: &str, value: &Value, within: Within) -> bool {
        let within = Within {
            is_written: within.is_written || is_for_what_is_written(key),
            is_of_command: within.is_of_command || is_made_of_command(key),
        };
        match value {
            _ if is_of_no_account(key, value) => true,
            Value::String(text) => self.has(key, text, within),
            Value::Array(words) if self.is_run(key, words) => true,
            Value::Array(list) => list.iter().all(|value| self.says(key, value, within)),
            Value::Object(map) => {
                let are_files = file_keys(map).iter().all(|path| self.files.contains(path));
                are_files && map.iter().all(|(key, value)| self.says(key, value, within))
            }
            Value::Null => true,
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn has(&self, key: &str, text: &str, within: Within) -> bool {
        let is_told = |text: &str| text.is_empty() || self.lines.contains(text);
        is_told(text.trim())
            || text == self.command
            || within.is_of_command && self.command.contains(text)
            || is_for_places(key) && is_here(text, self.ctx)
            || self.files.iter().any(|path| path == text)
            || self.changed.contains(&text)
            || within.is_written && !is_for_programs(key) && self.is_changed(text)
    }

    /// Words of the command, or what stands behind its program.
    fn is_run(&self, key: &str, words: &[Value]) -> bool {
        let Some(words) = words.iter().map(Value::as_str).collect::<Option<Vec<&str>>>() else { return false };
        let (line, tail) = (joined(&words), format!(" {}", words.join(" ")));
        let is_tail = |shown: &str| key.eq_ignore_ascii_case("args") && shown.ends_with(&tail);
        let is_line = |shown: &&str| **shown == *line || is_tail(shown);
        line == self.command || self.lines.iter().any(is_line)
    }

    /// A text that is written or replaced: its first and its last line may be a part of one. One that is no more than a line
    /// is shown where such a line differs, or is shown as it is.
    fn is_changed(&self, text: &str) -> bool {
        let of_patch = ["@@", "---", "+++", "***", "===", "diff ", "Index: ", "\\ No newline"];
        let lines: Vec<&str> =
            text.lines().filter(|line| !of_patch.iter().any(|mark| line.starts_with(mark))).collect();
        // Lines of that form alone are no patch.
        if lines.iter().all(|line| line.trim().is_empty()) {
            return false;
        }
        if let [line] = lines[..] {
            let line = bare(line);
            let is_shown =
                |of: &Differing<'_>| of.near.contains(&line) || of.lines.iter().any(|one| one.contains(line));
            return self.differing.iter().any(is_shown);
        }
        let is_part = |line: &str| self.changed.iter().any(|changed| changed.contains(line));
        let last = lines.len().saturating_sub(1);
        let mut all = lines.iter().enumerate().map(|(at, line)| (at == 0 || at == last, bare(line)));
        all.all(|(is_end, line)| self.changed_lines.contains(line) || line.is_empty() || is_end && is_part(line))
    }
}
