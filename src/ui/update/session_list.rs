//! Keys of the list of sessions, and the key that goes to the session that needs the person.
//!
//! Opens nothing and forgets nothing itself. Invariant: nobody is taken to a question by anything but a key.

use super::{Cx, common};
use crate::base::sanitize;
use crate::model::event::Can;
use crate::model::ids::SessionKey;
use crate::model::session_ref::SessionRef;
use crate::ui::keys::Action;
use crate::ui::labels;
use crate::ui::msg::Out;
use crate::ui::state::App;
use crate::ui::state::attention::Attention;
use crate::ui::state::session_list::{Offers, Open, Past, SessionList, Step};
use std::path::PathBuf;

/// Opens the list: what needs the person first. The earlier ones come when they have been read.
pub(super) fn open(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let mut open: Vec<(Attention, Open)> = attentions(state, cx)
        .map(|(key, session, attention)| {
            let title = session.title.as_deref().map(sanitize::line).unwrap_or_default();
            let text = format!("{title} {} {}", labels::agent(session), sanitize::line(&session.cwd));
            (attention, Open { key, text })
        })
        .collect();
    open.sort_by_key(|(attention, _)| *attention);
    let open = open.into_iter().map(|(_, open)| open).collect();
    state.picker = None;
    state.list = Some(SessionList::new(PathBuf::from(&cx.session.cwd), open, Past::Reading));
    out.push(Out::ReadSessions);
}

fn attentions<'a>(state: &'a App, cx: Cx<'a>) -> impl Iterator<Item = (SessionKey, SessionRef<'a>, Attention)> {
    state.views().into_iter().filter_map(move |(key, view)| {
        let session = cx.model.at(key)?;
        Some((key, session, Attention::of(session, view)))
    })
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(list) = &mut state.list else { return };
    let runs = |command: &str| cx.model.agents().any(|(_, agent)| !agent.is_dead() && agent.command == command);
    let deletes = |command: &str| {
        cx.model.agents().any(|(_, agent)| agent.is_up() && agent.command == command && agent.can(Can::Delete))
    };
    match list.act(action, &cx.frame.list, Offers { runs: &runs, deletes: &deletes }) {
        Step::Stay => {}
        Step::Close => state.list = None,
        Step::Go(key) => {
            state.list = None;
            out.push(Out::Visit(key));
        }
        Step::GoOn(earlier) => out.push(Out::GoOn(earlier)),
        Step::Forget(earlier) => out.push(Out::Forget(earlier)),
        Step::Other => {
            // What opens something else closes the list.
            let stays = matches!(action, Action::Help | Action::MouseToggle | Action::Suspend | Action::Redraw);
            if !stays {
                state.list = None;
            }
            common(state, cx, action, out);
        }
    }
}

/// To the session that needs the person most, of those that are not shown; else to the question of the one that is.
pub(super) fn next_waiting(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let shown = state.shown();
    let needs = |attention: Attention| attention <= Attention::Done;
    // Of several that need the same, the next one in turn.
    let order = |key: SessionKey| (key < shown, key);
    let others = attentions(state, cx).filter(|(key, _, attention)| *key != shown && needs(*attention));
    let next = others.min_by_key(|(key, _, attention)| (*attention, order(*key))).map(|(key, ..)| key);
    match next {
        Some(key) => out.push(Out::Visit(key)),
        None if state.view.dock.dialog.is_some() => out.push(Out::Visit(shown)),
        None => state.say("no session needs you", cx.now),
    }
}

#[cfg(test)]
#[path = "session_list_tests.rs"]
mod tests;
