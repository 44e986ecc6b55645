//! Diffs as lines: both line numbers in front, a sign that is readable without colour, changed words marked.
//!
//! Computes through `text::diff`, which bounds what a diff may cost. Agents send pieces of files as diffs: numbers are
//! shown when it is known where the piece begins (there is no old text; the review compared it with the disk when the
//! person was asked; the call names as many lines of that file as it has diffs), else none are. Invariant: numbers and signs are in the prefix,
//! and not in the text of the file; whether a copy has signs, `text::copied` decides.

use super::lines::{dim, more_lines};
use crate::base::sanitize;
use crate::model::tool::{Change, ChangeBody, Operation, ToolCall, deed};
use crate::text::code::{Code, Lines};
use crate::text::diff::{Budget, CONTEXT, DiffLine, FileDiff, Kind, diff_within};
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::patch::{self, Done};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;

/// Columns in front of a body.
pub(super) const INDENT: &str = "   ";

/// `budget` is that of all the diffs of a call.
pub(super) fn of(old: Option<&str>, new: &str, budget: &mut Budget) -> FileDiff {
    diff_within(budget, old.unwrap_or_default(), new, CONTEXT)
}

/// The same where the old text may be a piece of a file that begins at line `from`, if that is known.
pub(super) fn piece(old: Option<&str>, new: &str, from: Option<u32>, budget: &mut Budget) -> FileDiff {
    let mut diff = of(old, new, budget);
    let real = |n: Option<u32>| n?.checked_add(from?.checked_sub(1)?);
    for line in diff.hunks.iter_mut().flat_map(|h| &mut h.lines) {
        (line.old, line.new) = (real(line.old), real(line.new));
    }
    diff
}

/// What a call does to one file; its texts begin at line `from`, if that is known.
pub(super) fn change(change: &Change, from: Option<u32>, budget: &mut Budget) -> FileDiff {
    let mut diff = match &change.body {
        ChangeBody::Texts { old, new } => return piece(old.as_deref(), new, from, budget),
        ChangeBody::Patch(patch) => patch::read(patch),
        ChangeBody::Nothing => FileDiff::default(),
    };
    let from = change.from.as_ref().map(|from| format!(" from {}", sanitize::line(from).trim())).unwrap_or_default();
    let done = match &change.operation {
        Operation::Modify if diff.hunks.is_empty() => "changed".to_owned(),
        Operation::Add if diff.hunks.is_empty() => "added".to_owned(),
        Operation::Delete => "removed".to_owned(),
        Operation::Move => format!("moved{from}"),
        Operation::Copy => format!("copied{from}"),
        Operation::Other(word) => format!("{}{from}", sanitize::line(word).trim()),
        Operation::Add | Operation::Modify => return diff,
    };
    diff.note = Some(diff.note.map_or_else(|| done.clone(), |note| format!("{done}; {note}")));
    diff
}

/// Files that a call is to patch, where it says so only in its input, and nothing else there.
pub(super) fn in_input(call: &ToolCall) -> Vec<patch::OfFile<'_>> {
    let mut files = deed::patched(call);
    for file in &mut files {
        file.diff.note = match (file.done, file.to) {
            (Done::Removed, _) => Some("removed".to_owned()),
            (_, Some(to)) => Some(format!("moved to {}", sanitize::line(to).trim())),
            _ => None,
        };
    }
    files
}

/// `+2 −1`, or that nothing is changed.
pub(super) fn figures(old: &str, new: &str) -> StyledText {
    let d = of(Some(old), new, &mut Budget::default());
    counts(d.added, d.removed)
}

/// The same of several files. Nothing where it is no change of lines that was made, such as a move.
pub(super) fn sums<'a>(diffs: impl Iterator<Item = &'a FileDiff> + Clone, is_whole: bool) -> StyledText {
    let sum = |f: fn(&FileDiff) -> u32| diffs.clone().map(f).fold(0u32, u32::saturating_add);
    let (added, removed) = (sum(|d| d.added), sum(|d| d.removed));
    let is_said = is_whole || diffs.clone().next().is_none() || diffs.clone().any(|d| d.note.is_some());
    if added == 0 && removed == 0 && is_said { StyledText::new() } else { counts(added, removed) }
}

pub(super) fn counts(added: u32, removed: u32) -> StyledText {
    let mut text = StyledText::new();
    if added == 0 && removed == 0 {
        return StyledText::of("no change", Token::Dim);
    }
    if added > 0 {
        text.push(&format!("+{added}"), Token::Good);
    }
    if removed > 0 {
        if !text.is_empty() {
            text.push(" ", Token::Dim);
        }
        text.push(&format!("−{removed}"), Token::Bad);
    }
    text
}

/// The lines of a diff, at most `max` and a line that says how many more there are.
/// `path` tells the language.
pub(super) fn lines(path: &str, d: &FileDiff, max: usize) -> Vec<LogicalLine> {
    let all = d.hunks.iter().map(|h| h.lines.len()).sum::<usize>();
    let numbers = d.hunks.iter().flat_map(|h| &h.lines).filter_map(|l| l.old.max(l.new)).max();
    let digits = numbers.map_or(0, |n| n.to_string().len());
    let mut out = Vec::new();
    let mut shown = 0;
    // One line more costs no more than the line that would say so.
    let max = if all == max + 1 { all } else { max };
    for (n, hunk) in d.hunks.iter().enumerate() {
        if shown >= max {
            break;
        }
        if n > 0 {
            out.push(LogicalLine {
                prefix: StyledText::of(format!("{INDENT}{:>digits$}", "⋮"), Token::LineNumber),
                ..LogicalLine::default()
            });
        }
        let mut program = Lines::of(path);
        for line in hunk.lines.iter().take(max - shown) {
            out.push(diff_line(line, digits, program.next(line.kind, &line.text)));
            shown += 1;
            if line.no_newline {
                out.push(indented(dim("no newline at the end")));
            }
        }
    }
    if all > shown {
        out.push(indented(more_lines(all - shown, false)));
    }
    if let Some(note) = &d.note {
        out.push(indented(dim(note.as_str())));
    }
    out
}

pub(super) fn indented(line: LogicalLine) -> LogicalLine {
    let mut prefix = StyledText::from(INDENT);
    prefix.append(&line.prefix);
    let mut hang = StyledText::from(INDENT);
    hang.append(&line.hang);
    LogicalLine { prefix, hang, ..line }
}

fn diff_line(line: &DiffLine, digits: usize, code: Option<Code>) -> LogicalLine {
    let (sign, mark, token, word) = match line.kind {
        Kind::Context => (" ", Token::Text, Token::Text, Token::Text),
        Kind::Del => ("-", Token::SignBad, Token::DiffDel, Token::DiffDelWord),
        Kind::Add => ("+", Token::SignGood, Token::DiffAdd, Token::DiffAddWord),
    };
    // Where a line stands now, or where one stood that is gone.
    let number = line.new.or(line.old).map(|n| n.to_string()).unwrap_or_default();
    let numbers = match digits {
        0 => INDENT.to_owned(),
        _ => format!("{INDENT}{number:>digits$} "),
    };
    let hang = StyledText::of(" ".repeat(numbers.len() + 2), Token::Text);
    let mut prefix = StyledText::of(numbers, Token::LineNumber);
    prefix.push(sign, mark);
    prefix.push(" ", Token::Text);
    let mut text = StyledText::new();
    let mut at = 0;
    for range in &line.emphasis {
        let from = line.text.floor_char_boundary(range.start as usize).max(at);
        let to = line.text.floor_char_boundary(range.end as usize).max(from);
        text.push(line.text.get(at..from).unwrap_or_default(), token);
        let style = RunStyle::from(word).with_mods(Mods::BOLD);
        text.push(line.text.get(from..to).unwrap_or_default(), style);
        at = to;
    }
    text.push(line.text.get(at..).unwrap_or_default(), token);
    let fill = Some(token).filter(|token| token.is_fill());
    let of_diff = Some(line.kind);
    LogicalLine { prefix, hang, text, fill, code, of_diff, wrap: WrapMode::Anywhere, ..LogicalLine::default() }
}
