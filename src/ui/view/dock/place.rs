//! Who asks and where, and what else there is to say of a question.
//!
//! Invariant: where several agents or directories could be meant, it is said which.

use super::super::ViewCx;
use super::SHORT_PLACE;
use crate::base::{paths, sanitize};
use crate::model::ids::SessionKey;
use crate::model::question::Question;
use crate::text::width;
use std::path::Path;

/// Columns of the call that a question is asked for.
const MAX_CALL: usize = 60;

/// The directory of the session, where it is another than the one in which acp-tui was started or there are several
/// sessions.
pub(super) fn of(cx: &ViewCx<'_>) -> Option<String> {
    let begun = cx.model.session_of(SessionKey::FIRST).map(|first| &first.cwd);
    let is_told = cx.state.has_several() || begun != Some(&cx.session.cwd);
    is_told.then(|| paths::display(Path::new(&cx.session.cwd), &[], cx.home))
}

/// What stands below what is asked: the agent where it is not said above, the place, and the rest; nothing where there is
/// none of them. On a narrow screen a long path would take the rows of what is asked.
pub(super) fn below(agent: Option<&str>, place: Option<&str>, notes: &str, columns: usize) -> Option<String> {
    let words = match (agent, place) {
        (None, None) => notes.trim_start_matches(" · ").to_owned(),
        (None, Some(place)) => format!("in {place}{notes}"),
        (Some(agent), None) => format!("{agent}{notes}"),
        (Some(agent), Some(place)) => {
            let room = columns.saturating_sub(width::str_width(agent) + " in ".len()).max(SHORT_PLACE);
            format!("{agent} in {}{notes}", width::truncate_start(place, room))
        }
    };
    Some(words).filter(|words| !words.is_empty())
}

/// What else there is to say of a question: what it is asked for, and what holds it up.
pub(super) fn notes(cx: &ViewCx<'_>, pending: &Question) -> String {
    let mut notes = String::new();
    let above = cx.session.tool(pending.entry).and_then(|tool| cx.session.call_named(tool.parent.as_ref()?));
    if let Some(call) = above {
        let who = if call.is_agent { "its sub-agent " } else { "" };
        notes = format!(" · for {who}{}", width::truncate(&sanitize::line(call.label()), MAX_CALL));
    }
    if let Some(note) = &pending.note {
        notes.push_str(" · ");
        notes.push_str(&sanitize::line(note));
    }
    if pending.is_hook_asked {
        notes.push_str(" · the decision hook is asked");
    } else if let Some(hook) = &pending.hook {
        notes = notes + " · " + &sanitize::line(&hook.words());
    }
    notes
}
