//! Entries that have no row of their own until the person opens the one above: reads and searches that follow one
//! another share a row, and what a call has written is in the row of the call.
//!
//! Decides by two neighbours at a time. Invariant: no row stands for more than [`MOST`] calls, so what one of them means
//! for the others is found in that many steps.

use super::head::{Clock, FOLDED, head, names_in, pad_verb};
use super::{CellCtx, gutter, is_waiting, named, nested};
use crate::base::human;
use crate::model::entry::{Body, Entry, FileOp, FileOutcome, Level};
use crate::model::session_ref::SessionRef;
use crate::model::tool::{Change, ToolCall, ToolContent, ToolKind, ToolStatus};
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width::styled_width;
use std::ops::Deref;
use std::path::Path;

/// Calls of one row.
pub const MOST: u64 = 32;
/// Columns of a path that is cut short in a row of several, at least.
const SHORT_NAME: usize = 20;
/// Notices between a call and what it has written, at the most.
pub const BETWEEN: usize = 3;

/// Whether an entry may share the row of the one above it.
pub fn follows(above: &Entry, below: &Entry, session: SessionRef<'_>) -> bool {
    if let (Body::Tool(call), Body::File(op)) = (&above.body, &below.body) {
        let FileOutcome::Written { old, new: written, .. } = &op.outcome else { return false };
        if op.is_outside {
            return false;
        }
        let is_shown =
            |change: &Change| is_same_file(&change.path, op, session) && shows(change, old.as_deref(), written);
        let is_all = call.changes().take(MOST as usize).any(is_shown);
        return above.turn == below.turn && (is_all || stays(above, below, session));
    }
    let (Some(first), Some(second)) = (looks(above, session), looks(below, session)) else { return false };
    joins((above, first), (below, second))
}

/// Whether what was written is shown in the row of the call above it even where that is opened: the call names the file
/// and shows no change by itself.
pub fn stays(above: &Entry, below: &Entry, session: SessionRef<'_>) -> bool {
    let (Body::Tool(call), Body::File(op)) = (&above.body, &below.body) else { return false };
    let FileOutcome::Written { created, old, .. } = &op.outcome else { return false };
    let is_known = !op.is_outside && (*created || old.is_some());
    let changes_files = named::kind_of(call) == ToolKind::Edit && !call.refused && call.changes().next().is_none();
    let names = || {
        let located = call.locations.iter().take(MOST as usize).any(|at| is_same_file(&at.path, op, session));
        located || named::path(call).is_some_and(|path| is_same_file(&path, op, session))
    };
    above.turn == below.turn && is_known && changes_files && names()
}

/// The call above what was written, with only what the client has told meanwhile between them: that a rule was made.
pub fn call_above<E: Deref<Target = Entry>>(
    index: usize,
    mut entry: impl FnMut(usize) -> Option<E>,
) -> Option<(usize, E)> {
    for above in (0..index).rev().take(BETWEEN + 1) {
        let one = entry(above)?;
        match &one.body {
            Body::Tool(_) => return Some((above, one)),
            Body::Notice(notice) if notice.level == Level::Info && !notice.by_agent => {}
            _ => return None,
        }
    }
    None
}

fn is_same_file(path: &str, op: &FileOp, session: SessionRef<'_>) -> bool {
    path == op.path || Path::new(&session.cwd).join(path) == Path::new(&op.path)
}

/// What was written, of what shares the row of a call: the path, the text before and the new one.
pub(super) fn written<'a>(with: &[&'a Entry]) -> impl Iterator<Item = (&'a str, Option<&'a str>, &'a str)> {
    with.iter().filter_map(|entry| match &entry.body {
        Body::File(FileOp { path, outcome: FileOutcome::Written { old, new, .. }, .. }) => {
            Some((path.as_str(), old.as_deref(), &**new))
        }
        _ => None,
    })
}

/// Whether a file has come to be so.
pub(super) fn has_created(with: &[&Entry]) -> bool {
    let is_new = |op: &FileOp| matches!(op.outcome, FileOutcome::Written { created: true, .. });
    with.iter().any(|entry| matches!(&entry.body, Body::File(op) if is_new(op)))
}

/// Whether an entry that is not finished may come to share the row of the one above it.
pub fn may_follow(above: &Entry, below: &Entry, session: SessionRef<'_>) -> bool {
    let (Some(first), Body::Tool(second)) = (looks(above, session), &below.body) else { return false };
    let is_look = matches!(named::kind_of(second), ToolKind::Read | ToolKind::Search) && second.mark.is_none();
    is_look && joins((above, first), (below, second))
}

/// Whether two calls that stand one below the other may share a row.
fn joins((above, first): (&Entry, &ToolCall), (below, second): (&Entry, &ToolCall)) -> bool {
    !below.id.0.is_multiple_of(MOST) && above.turn == below.turn && first.parent == second.parent
}

/// Whether a call that shows this change shows just what was written: all of the text or a part that was put in place of
/// another one. Of a write that has changed nothing there is nothing to show.
fn shows(change: &Change, old: Option<&str>, written: &str) -> bool {
    if old == Some(written) {
        return true;
    }
    let Some((was, new)) = change.texts() else { return false };
    let end = |text: &str| text.len() - usize::from(text.ends_with('\n'));
    // The newline at the end is left out by some.
    if new[..end(new)] == written[..end(written)] {
        return true;
    }
    let Some((before, after)) = old.zip(was).and_then(|(old, was)| old.split_once(&**was)) else { return false };
    let put = written.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    put.is_some_and(|put| *put == **new)
}

/// Whether those that share a row with a call are calls.
pub fn is_of_calls(with: &[&Entry]) -> bool {
    with.iter().any(|entry| matches!(entry.body, Body::Tool(_)))
}

/// The entry in whose row this one is shown, where it has none of its own; as far as entries are in memory.
/// `is_together` tells of the first of them whether the row is closed.
pub fn row_of<'a>(
    session: SessionRef<'a>,
    entry: &'a Entry,
    is_together: impl Fn(&Entry) -> bool,
) -> Option<&'a Entry> {
    let entries = session.session().entries();
    let mut first = entry;
    let mut index = entries.index_of(entry.id)?;
    if matches!(entry.body, Body::File(_))
        && let Some((_, call)) = call_above(index, |at| entries.at(at)).filter(|(above, _)| above + 1 < index)
    {
        return (follows(call, entry, session) && (stays(call, entry, session) || is_together(call))).then_some(call);
    }
    while let Some(above) = index.checked_sub(1).and_then(|at| entries.at(at)) {
        if !follows(above, first, session) {
            break;
        }
        if stays(above, first, session) {
            return Some(above);
        }
        (first, index) = (above, index - 1);
    }
    (first.id != entry.id && is_together(first)).then_some(first)
}

/// A call that has looked at something, and has nothing else to show.
fn looks<'a>(entry: &'a Entry, session: SessionRef<'_>) -> Option<&'a ToolCall> {
    let Body::Tool(call) = &entry.body else { return None };
    let has_looked = matches!(named::kind_of(call), ToolKind::Read | ToolKind::Search)
        && call.status == ToolStatus::Completed
        && call.mark.is_none()
        && !call.refused
        && !call.allowed
        && call.decided.is_none()
        && call.content.iter().all(|content| matches!(content, ToolContent::Block(_)));
    (has_looked && !is_waiting(entry, session)).then_some(call)
}

/// The row of several calls, of which the first is this entry.
pub(super) fn lines(first: &Entry, calls: &[&ToolCall], ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let all_read = calls.iter().all(|call| named::kind_of(call) == ToolKind::Read);
    let all_search = calls.iter().all(|call| named::kind_of(call) == ToolKind::Search);
    let verb = match (all_read, all_search) {
        (true, _) => "read",
        (_, true) => "search",
        _ => "look",
    };
    let mut named: Vec<String> = Vec::new();
    for call in calls {
        let object = named::object(call, ctx).as_str().to_owned();
        if !object.is_empty() && !named.contains(&object) {
            named.push(object);
        }
    }
    let figures = StyledText::of(format!("{}{FOLDED}", human::count(calls.len() as u64, "call")), Token::Dim);
    let mut front = calls.first().map_or_else(StyledText::new, |call| nested::front(first, call, ctx));
    front.append(&pad_verb(verb, ctx.width));
    let beside = styled_width(&front) + styled_width(&figures) + 2;
    let room = usize::from(ctx.width).saturating_sub(beside);
    let names: Vec<&str> = named.iter().map(String::as_str).collect();
    let text = names_in(&names, room, SHORT_NAME, Token::Text.into());
    vec![head(gutter("✓", Token::SignGood), front, text, figures, Clock::None, ctx)]
}
