//! What the input of a call has besides the command or the change that a question about it shows.
//!
//! Invariants: a text that stands nowhere else in the question is among it, and what is shown of it is bounded.

use super::diffs::indented;
use super::lines::more_lines;
use super::named::{is_here, joined};
use super::{CellCtx, values};
use crate::model::claims::{
    file_keys, files_named, is_for_places, is_for_what_is_written, is_of_no_account, texts_in_input,
};
use crate::model::tool::{Change, ChangeBody, ToolCall, ToolContent};
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
    ctx: &'a CellCtx<'a>,
}

/// The members that have a text which is not shown; `what` is the command or the object, `above` stands there already.
pub(super) fn lines(tool: &ToolCall, what: &str, above: &[LogicalLine], ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let Some(input) = tool.raw_input.as_ref().and_then(Value::as_object) else { return Vec::new() };
    if texts_in_input(tool).is_empty() && file_keys(input).is_empty() {
        return Vec::new();
    }
    let changed: Vec<&str> = tool.content.iter().filter_map(ToolContent::change).flat_map(texts_of).collect();
    let shown = Shown {
        files: files_named(tool),
        lines: above.iter().map(|line| line.text.as_str().trim()).chain([what.trim()]).collect(),
        command: what,
        changed_lines: changed.iter().flat_map(|text| text.lines()).map(bare).collect(),
        changed,
        ctx,
    };
    let unsaid = input.iter().filter(|(key, value)| !shown.says(key, value, false));
    let unsaid: Map<String, Value> = unsaid.map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut lines = values::lines("input", &Value::Object(unsaid));
    let more = lines.len().saturating_sub(MAX_LINES);
    if more > 1 {
        lines.truncate(MAX_LINES);
        lines.push(indented(more_lines(more, false)));
    }
    lines
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

impl Shown<'_> {
    /// Whether all texts of a member are shown; in one that is for what is written a change may show them.
    fn says(&self, key: &str, value: &Value, is_written: bool) -> bool {
        let is_written = is_written || is_for_what_is_written(key);
        match value {
            _ if is_of_no_account(key, value) => true,
            Value::String(text) => self.has(key, text, is_written),
            Value::Array(words) if self.is_run(key, words) => true,
            Value::Array(list) => list.iter().all(|value| self.says(key, value, is_written)),
            Value::Object(map) => {
                let are_files = file_keys(map).iter().all(|path| self.files.contains(path));
                are_files && map.iter().all(|(key, value)| self.says(key, value, is_written))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        }
    }

    fn has(&self, key: &str, text: &str, is_written: bool) -> bool {
        let is_told = |text: &str| text.is_empty() || self.lines.contains(text);
        is_told(text.trim())
            || text == self.command
            || is_for_places(key) && is_here(text, self.ctx)
            || self.files.iter().any(|path| path == text)
            || is_written && self.is_changed(text)
    }

    /// Words of the command, or what stands behind its program.
    fn is_run(&self, key: &str, words: &[Value]) -> bool {
        let Some(words) = words.iter().map(Value::as_str).collect::<Option<Vec<&str>>>() else { return false };
        let (line, tail) = (joined(&words), format!(" {}", words.join(" ")));
        let is_tail = |shown: &str| key.eq_ignore_ascii_case("args") && shown.ends_with(&tail);
        let is_line = |shown: &&str| **shown == *line || is_tail(shown);
        line == self.command || self.lines.iter().any(is_line)
    }

    /// A text that is written or replaced: its first and its last line may be a part of one.
    fn is_changed(&self, text: &str) -> bool {
        let is_part = |line: &str| self.changed.iter().any(|changed| changed.contains(line));
        if self.changed.contains(&text) {
            return true;
        }
        let of_patch = ["@@", "---", "+++", "***", "===", "diff ", "Index: ", "\\ No newline"];
        let lines: Vec<&str> =
            text.lines().filter(|line| !of_patch.iter().any(|mark| line.starts_with(mark))).collect();
        // Lines of that form alone are no patch.
        if lines.iter().all(|line| line.trim().is_empty()) {
            return false;
        }
        let last = lines.len().saturating_sub(1);
        let mut all = lines.iter().enumerate().map(|(at, line)| (at == 0 || at == last, bare(line)));
        all.all(|(is_end, line)| self.changed_lines.contains(line) || line.is_empty() || is_end && is_part(line))
    }
}
