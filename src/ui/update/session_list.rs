//! Keys of the list of sessions, and the key that goes to the session that needs the person.
//!
//! Opens nothing and forgets nothing itself. Invariant: only a key takes the person to a question.

use super::{Cx, common};
use crate::base::sanitize;
use crate::model::event::Can;
use crate::model::ids::SessionKey;
use crate::model::session_ref::SessionRef;
use crate::ui::keys::Action;
use crate::ui::labels;
use crate::ui::msg::Out;
use crate::ui::state::attention::Attention;
use crate::ui::state::session_list::{Offers, Open, PastSession, Row, SessionList, Step, Which};
use crate::ui::state::{App, Focus};
use std::path::PathBuf;
use std::sync::Arc;

/// Opens the list: what needs the person first. The earlier ones come when they have been read.
pub(super) fn open(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let open = attentions(state, cx).map(|(key, session, attention)| {
        let name = state.name_of(key).or(session.called()).map(sanitize::line).unwrap_or_default();
        let asked = session.first_words().map(|words| sanitize::line(words.lines().next().unwrap_or_default()));
        let agent = labels::agent(session);
        let text = format!("{name} {} {agent} {}", asked.unwrap_or_default(), sanitize::line(&session.cwd));
        let used = session.entries().iter().next_back().map(|entry| entry.at).unwrap_or_default();
        let cwd = PathBuf::from(&session.cwd);
        Open { key, text, which: Which::of(session), attention, cwd, used }
    });
    let list = SessionList::new(PathBuf::from(&cx.session.cwd), open.collect(), state.past.clone(), state.taste);
    state.picker = None;
    // A question is answered only after a further key has led to it.
    if state.view.focus == Focus::Dock {
        state.view.focus = Focus::Composer;
    }
    state.list = Some(list.with(Arc::clone(&state.trees)).from(state.shown()));
    out.push(Out::ReadSessions);
}

/// Goes on with an earlier session of the first screen, as its row in the list would. False where none is shown there.
pub(super) fn go_on_with(state: &mut App, cx: Cx<'_>, at: usize, out: &mut Vec<Out>) -> bool {
    let Some((_, which)) = at.checked_sub(1).and_then(|at| cx.frame.earlier.get(at)) else { return false };
    go_on(state, cx, which, out);
    true
}

/// The same with any earlier session; the list stays where there is something to be asked or said.
pub(super) fn go_on(state: &mut App, cx: Cx<'_>, which: &Which, out: &mut Vec<Out>) {
    open(state, cx, out);
    if state.list.as_mut().is_some_and(|list| list.select_past(which)) {
        action(state, cx, Action::Accept, out);
    }
}

fn attentions<'a>(state: &'a App, cx: Cx<'a>) -> impl Iterator<Item = (SessionKey, SessionRef<'a>, Attention)> {
    state.views().into_iter().filter_map(move |(key, view)| {
        let session = cx.model.at(key)?;
        Some((key, session, Attention::of(session, view)))
    })
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    if action == Action::Tab
        && let Some(key) = asks_here(state)
    {
        return out.push(Out::AnswerBelow(key));
    }
    let Some(list) = &mut state.list else { return };
    let running = |command: &str| {
        let command = command.to_owned();
        cx.model.agents().map(|(_, agent)| agent).filter(move |agent| agent.command == command)
    };
    if action == Action::RenameSession {
        let takes =
            |open: &Open| cx.model.at(open.key).is_some_and(|one| one.agent().is_up() && one.agent().can(Can::Title));
        list.tells = state.tells_titles && matches!(list.current(), Some(Row::Open(open)) if takes(open));
    }
    let runs = |command: &str| running(command).any(|agent| !agent.is_dead());
    let kept = &state.kept_by_agents;
    let deletes = |past: &PastSession| {
        let mut running = past.commands().flat_map(running);
        running.any(|agent| agent.is_up() && agent.can(Can::Delete)) && !kept.contains(&past.which())
    };
    let forks = |command: &str| running(command).find(|agent| agent.is_up()).map(|agent| agent.can(Can::Fork));
    let step = list.act(action, &cx.frame.list, Offers { runs: &runs, deletes: &deletes, forks: &forks });
    state.taste = list.taste();
    // A command that has to be started is asked about first: the place waits for the answer.
    let is_chosen = matches!(step, Step::Go(_) | Step::GoOn(_));
    let place = if is_chosen { list.take_place() } else { None };
    match step {
        Step::Stay => {}
        Step::Tree(tree, fate) => out.push(Out::Tree(tree, fate)),
        Step::Reached => out.push(Out::AskAgents),
        Step::Close => {
            let from = list.opened_from();
            state.list = None;
            // The person may have answered in another one.
            if from.is_some_and(|from| from != state.shown()) {
                out.extend(from.map(Out::Show));
            }
        }
        Step::Go(key) => {
            state.list = None;
            out.push(Out::Visit(key));
            out.extend(place.map(Out::GoTo));
        }
        Step::GoOn(past) => {
            out.push(Out::GoOn(past));
            out.extend(place.map(Out::GoTo));
        }
        Step::Fork(past) => out.push(Out::Fork(past)),
        Step::ForkOpen(key) => out.push(Out::ForkOpen(key)),
        Step::Rename(which, name) => out.push(Out::Rename(which, name)),
        Step::Export(which) => out.push(Out::Export(which)),
        Step::Find(query) => out.push(Out::Find(query)),
        Step::Forget(past) => out.push(Out::Forget(past)),
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

/// The session that is chosen, when it asks something.
fn asks_here(state: &App) -> Option<SessionKey> {
    let list = state.list.as_ref().filter(|list| list.asks.is_none())?;
    let Some(Row::Open(open)) = list.current() else { return None };
    let views = state.views();
    let (key, view) = views.iter().find(|(key, _)| *key == open.key)?;
    view.dock.dialog.is_some().then_some(*key)
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
