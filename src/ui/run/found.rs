//! Where what was found in the journals stands in a session that is open.
//!
//! Looks at what is in memory alone. Invariant: where the text itself is not there, the turn is that it was found in.

use crate::model::entry::{Block, Body, Entry};
use crate::model::history::Kind;
use crate::model::ids::EntryId;
use crate::model::session::Session;
use crate::model::tool::{ToolCall, ToolContent};
use crate::ui::state::session_list::{Finding, Hit, Place, Who};
use std::sync::Arc;

/// What has been found, for the list.
pub(super) fn finding(found: Result<(Arc<[Hit]>, bool), String>) -> Finding {
    found.map_or_else(Finding::Failed, |(hits, more)| Finding::Found(hits, more))
}

/// The entry that has what was found, as far as it is in memory: of the turn that it was found in, else the newest one;
/// where none is, the beginning of that turn.
pub(super) fn place_in(session: &Session, place: &Place) -> Option<EntryId> {
    let has_it = |entry: &Entry| match (&entry.body, place.who) {
        (Body::User(message), Who::Person) => message.text.contains(&place.mark),
        (Body::Agent(message), Who::Agent) => message.text.contains(&place.mark),
        (Body::Plan(steps), Who::Agent) => steps.iter().any(|step| step.content.contains(&place.mark)),
        (Body::Attachment(attachment), Who::Agent) => has(&attachment.block, &place.mark),
        (Body::Notice(notice), Who::Agent) => {
            notice.detail.iter().chain([&notice.title]).any(|line| line.contains(&place.mark))
        }
        (Body::Thought(thought), Who::Thought) => thought.message.text.contains(&place.mark),
        (Body::Tool(tool), Who::Tool) => shows(tool, &place.mark),
        _ => false,
    };
    let is_done = |entry: &Entry| place.who == Who::Tool && matches!(entry.body, Body::Tool(_));
    let entries = session.entries();
    let of_turn: Vec<EntryId> = {
        let mut turn = 0;
        let slots = entries.slots().enumerate();
        slots
            .filter_map(|(at, slot)| {
                turn += u64::from(slot.kind() == Kind::User);
                (turn == place.turn).then(|| entries.id_at(at))
            })
            .collect()
    };
    let in_turn = of_turn.iter().find(|id| entries.get(**id).is_some_and(has_it)).copied();
    let anywhere = || entries.iter().rev().find(|entry| has_it(entry)).map(|entry| entry.id);
    // What a command has printed is not in its call.
    let done = || of_turn.iter().find(|id| entries.get(**id).is_some_and(is_done)).copied();
    in_turn.or_else(anywhere).or_else(done).or_else(|| of_turn.first().copied())
}

/// Whether a call shows this, as far as it is its own text.
fn shows(call: &ToolCall, mark: &str) -> bool {
    let in_part = |part: &ToolContent| match part {
        ToolContent::Block(block) | ToolContent::Unread(block) => has(block, mark),
        ToolContent::Change(change) => {
            change.path.contains(mark) || change.texts().is_some_and(|(_, new)| new.contains(mark))
        }
        ToolContent::Terminal(_) => false,
    };
    call.title.contains(mark)
        || call.content.iter().any(in_part)
        || call.raw_input.as_ref().is_some_and(|input| input.to_string().contains(mark))
}

fn has(block: &Block, mark: &str) -> bool {
    match block {
        Block::Text(text) => text.contains(mark),
        Block::Other { label, uri, text, .. } => {
            [Some(label), uri.as_ref(), text.as_ref()].into_iter().flatten().any(|text| text.contains(mark))
        }
    }
}
