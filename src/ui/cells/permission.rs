//! What a person has to see before answering a permission request: the whole command, the paths, the diff.
//!
//! Lists no options and draws no dock. Invariant: a command is never cut short here; if it is too long to keep, that
//! is said.

use super::CellCtx;
use super::diffs;
use super::message::{block, capped, dim};
use super::tool::{command, locations, object, verb, whole_diff};
use super::values;
use crate::model::entry::{Body, Entry};
use crate::model::tool::{Location, ToolContent, ToolKind};
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;

/// Lines of a command or a text.
const MAX_LINES: usize = 500;

/// Whether the call's raw input is shown too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RawInput {
    Shown,
    Hidden,
}

/// The lines that describe a call that waits for permission; nothing is folded.
pub fn permission_body(entry: &Entry, ctx: &CellCtx<'_>, raw: RawInput) -> Vec<LogicalLine> {
    let Body::Tool(tool) = &entry.body else { return Vec::new() };
    let mut out = Vec::new();
    let command = command(tool.raw_input.as_ref()).filter(|_| tool.kind == ToolKind::Execute);
    let what = command.as_deref().map_or_else(|| object(tool, ctx).as_str().to_owned(), str::to_owned);
    let name = verb(tool.kind);
    for (n, mut line) in capped(&what, MAX_LINES, Token::Text).into_iter().enumerate() {
        let front = if n == 0 { format!("{name}  ") } else { " ".repeat(name.len() + 2) };
        line.hang = StyledText::from(" ".repeat(name.len() + 2).as_str());
        line.prefix = StyledText::of(front, Token::Dim);
        out.push(line);
    }
    // A title may say more than the command does (why), or hide it: both are shown.
    let title = super::message::label(&tool.title);
    if command.is_some() && !title.is_empty() && !what.contains(title.trim_matches('`')) {
        out.push(dim(title));
    }
    if let Some(cwd) = tool.raw_input.as_ref().and_then(|v| v.get("cwd").or_else(|| v.get("workdir"))?.as_str()) {
        out.push(dim(format!("in {}", super::message::display(cwd, ctx))));
    }
    let has_diff = tool.content.iter().any(|c| matches!(c, ToolContent::Diff { .. }));
    // A path that is the object already, and whose lines the diff shows, need not take a row of its own.
    let said = |l: &Location| has_diff && what.contains(super::message::display(&l.path, ctx).as_str());
    let rest: Vec<Location> = tool.locations.iter().filter(|l| !said(l)).cloned().collect();
    out.extend(locations(&rest, ctx));
    let named =
        tool.content.iter().filter(|c| matches!(c, ToolContent::Diff { .. })).count() > 1 || tool.locations.is_empty();
    for content in tool.content.iter().take(MAX_LINES) {
        match content {
            ToolContent::Diff { path, old, new } => {
                out.extend(whole_diff(path, &diffs::of(old.as_deref(), new), named, ctx));
            }
            ToolContent::Block(b) => out.extend(block(b, ctx, MAX_LINES).into_iter().map(diffs::indented)),
            ToolContent::Terminal(_) => {}
        }
    }
    if raw == RawInput::Shown {
        out.extend(tool.raw_input.iter().flat_map(|v| values::lines("input", v)));
    }
    out
}
