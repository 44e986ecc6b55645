//! Calls that are parts of others: how far they are moved in, and of which one they are where that is not the row above.
//!
//! Looks no further than at the call above. Invariant: rows stay in the order in which they came; one that stands below
//! those of another call names its own.

use super::message::label;
use super::{CellCtx, is_blank};
use crate::model::entry::{Body, Entry};
use crate::model::ids::ToolId;
use crate::model::tool::ToolCall;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;

/// How far calls are moved in.
const MAX_DEPTH: usize = 4;
/// Entries above that are looked at: those without a row, and what a call has written.
const LOOK_ABOVE: usize = 16;
/// Columns of a name at least, and its part of the width at most.
const MIN_NAME: usize = 8;
const NAME_PART: usize = 4;

/// What stands in front of the verb of a call.
pub(super) fn front(entry: &Entry, call: &ToolCall, ctx: &CellCtx<'_>) -> StyledText {
    let depth = above(call, ctx).take(MAX_DEPTH).count();
    let mut front = StyledText::of("└ ".repeat(depth), Token::Dim);
    let parent = call.parent.as_ref().and_then(|parent| ctx.session.call_named(parent));
    if let Some(parent) = parent.filter(|parent| !is_below(entry, &parent.id, ctx)) {
        let columns = (usize::from(ctx.width) / NAME_PART).max(MIN_NAME);
        let name = label(parent.label());
        front.push(&width::truncate(&name, columns), Token::Dim);
        front.push(": ", Token::Dim);
    }
    front
}

/// The calls that it is a part of, one in the other.
fn above<'a>(call: &ToolCall, ctx: &CellCtx<'a>) -> impl Iterator<Item = &'a ToolCall> {
    let session = ctx.session.session();
    let named = move |id: &Option<ToolId>| session.call_named(id.as_ref()?);
    std::iter::successors(named(&call.parent), move |call| named(&call.parent))
}

/// Whether the row above is this call or one of its own.
fn is_below(entry: &Entry, parent: &ToolId, ctx: &CellCtx<'_>) -> bool {
    let entries = ctx.session.session().entries();
    let Some(index) = entries.index_of(entry.id) else { return true };
    for at in (0..index).rev().take(LOOK_ABOVE) {
        let Some(entry) = entries.at(at) else { return false };
        match &entry.body {
            Body::Tool(call) => {
                return call.id == *parent
                    || call.parent.as_ref() == Some(parent)
                    || above(call, ctx).take(MAX_DEPTH).any(|call| call.id == *parent);
            }
            Body::File(_) => {}
            _ if is_blank(entry, ctx.session) => {}
            _ => return false,
        }
    }
    false
}
