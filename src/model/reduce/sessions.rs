//! Sessions that an agent has kept: asking for the list of them, page by page, and having one forgotten.
//!
//! Opens none. Invariants: a cursor goes back as it came and only once; a list ends, also when the agent always names a
//! next page; an agent is asked for nothing that it does not offer.

use super::{Cx, in_agent, in_session, lifecycle, notice};
use crate::base::date;
use crate::base::limits::{MAX_LISTED, MAX_PAGES};
use crate::model::Model;
use crate::model::account;
use crate::model::agent::{Agent, ListState, Listing};
use crate::model::effect::{Call, Effect, FrontEnd};
use crate::model::entry::Level;
use crate::model::event::{CallError, Can, Listed, SessionPage};
use crate::model::ids::{AgentKey, SessionId, SessionKey};
use crate::model::past::copy_title;
use crate::model::session::{Session, SessionState};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// What has come of a list that goes on is told so often.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Asks for the first page. What was listed before is forgotten.
pub fn list(agent: &mut Agent, cwd: Option<String>, cx: &mut Cx) {
    if !agent.is_up() || !agent.can(Can::List) {
        return;
    }
    agent.lists += 1;
    let attempt = agent.lists;
    agent.listing = Some(Listing {
        cwd: cwd.clone(),
        sessions: Vec::new(),
        state: ListState::Going,
        attempt,
        pages: 0,
        told: cx.now,
        places: HashMap::new(),
        cursors: HashSet::new(),
    });
    cx.push(Effect::Call(Call::ListSessions { attempt, cwd, cursor: None }));
}

/// A page has come; the next one is asked for with the same directory. One of an older list is dropped.
pub fn listed(agent: &mut Agent, attempt: u64, result: Result<SessionPage, CallError>, cx: &mut Cx) {
    let Some(listing) = agent.listing.as_mut().filter(|listing| listing.attempt == attempt) else { return };
    let page = match result {
        Ok(page) => page,
        Err(error) => {
            listing.state = ListState::Failed(error.clone());
            cx.push(Effect::FrontEnd(FrontEnd::Listed));
            if error.is_auth() {
                cx.log_in_needed(error);
            }
            return;
        }
    };
    listing.pages += 1;
    let has_room = page.sessions.into_iter().all(|session| add(listing, session));
    listing.state = match page.next {
        _ if !has_room || page.is_cut => ListState::Stopped("the agent lists more than 10,000 sessions"),
        None if page.is_broken_off => {
            ListState::Stopped("the agent lists more, with a cursor that cannot be given back")
        }
        None => ListState::Whole,
        Some(_) if listing.pages >= MAX_PAGES => ListState::Stopped("the list has more than 1,000 pages"),
        Some(next) if !listing.cursors.insert(next.clone()) => {
            ListState::Stopped("the agent lists the same page again and again")
        }
        Some(next) => {
            let (cwd, cursor) = (listing.cwd.clone(), Some(next));
            cx.push(Effect::Call(Call::ListSessions { attempt, cwd, cursor }));
            ListState::Going
        }
    };
    if listing.state != ListState::Going {
        // The newest first; what has no time that can be read comes last.
        let time = |session: &Listed| session.updated.as_deref().and_then(date::seconds);
        listing.sessions.sort_by_key(|session| Reverse(time(session)));
        note_places(listing);
        cx.push(Effect::FrontEnd(FrontEnd::Listed));
    } else if cx.now.saturating_sub(listing.told) >= TELL_EVERY {
        listing.told = cx.now;
        cx.push(Effect::FrontEnd(FrontEnd::Listed));
    }
}

/// Sessions that are open are called as in the list. What was listed before anything was said names no conversation, and
/// the name of the original no copy.
pub fn titled(model: &mut Model, key: AgentKey) {
    let Some(listing) = model.agents.get(&key).and_then(|agent| agent.listing.as_ref()) else { return };
    if listing.state == ListState::Going {
        return;
    }
    for session in model.sessions.values_mut().filter(|session| session.agent == key && session.has_talked()) {
        let at = session.id.as_ref().and_then(|id| listing.places.get(id));
        let title = at.and_then(|at| listing.sessions.get(*at)).and_then(|listed| listed.title.as_ref());
        let title = title.filter(|title| !title.is_empty() && !account::is_placeholder(title));
        let is_originals = |title: &&String| session.known_title.as_ref() == Some(&copy_title(title));
        if let Some(title) = title.filter(|title| !is_originals(title)) {
            session.known_title = Some(title.clone());
        }
    }
}

fn note_places(listing: &mut Listing) {
    let places = listing.sessions.iter().enumerate();
    listing.places = places.map(|(at, session)| (session.id.clone(), at)).collect();
}

/// The last word on a session counts. False when there is no room for it.
fn add(listing: &mut Listing, session: Listed) -> bool {
    if let Some(known) = listing.places.get(&session.id).and_then(|at| listing.sessions.get_mut(*at)) {
        *known = session;
        return true;
    }
    if listing.sessions.len() >= MAX_LISTED {
        return false;
    }
    listing.places.insert(session.id.clone(), listing.sessions.len());
    listing.sessions.push(session);
    true
}

/// Has the agent forget a session. One that is open is closed before.
pub fn delete(model: &mut Model, key: AgentKey, id: SessionId, cx: &mut Cx) {
    let Some(agent) = model.agents.get(&key) else { return };
    if !agent.is_up() || !agent.can(Can::Delete) {
        let why = Err("this agent cannot delete sessions".to_owned());
        in_agent(model, key, cx, |_, cx| cx.push(Effect::FrontEnd(FrontEnd::Deleted(id, why))));
        return;
    }
    if let Some(open) = model.session_named(key, &id) {
        lifecycle::close(model, open, cx);
    }
    in_agent(model, key, cx, |_, cx| cx.push(Effect::Call(Call::DeleteSession(id))));
}

/// Forgotten is also what the agent does not know.
pub fn deleted(model: &mut Model, key: AgentKey, id: SessionId, result: Result<(), CallError>, cx: &mut Cx) {
    let result = match result {
        Err(error) if !error.kind.is_gone() => Err(error.as_answer()),
        _ => Ok(()),
    };
    in_agent(model, key, cx, |agent, cx| {
        if let (Ok(()), Some(listing)) = (&result, &mut agent.listing) {
            listing.sessions.retain(|session| session.id != id);
            note_places(listing);
        }
        cx.push(Effect::FrontEnd(FrontEnd::Deleted(id, result)));
    });
    lifecycle::let_go_if_alone(model, key, cx);
}

/// The person has named a session: its agent is told, where it takes that.
pub fn set_title(model: &mut Model, key: SessionKey, title: String, cx: &mut Cx) {
    let Some(session) = model.sessions.get(&key) else { return };
    let can = model.agents.get(&session.agent).is_some_and(|agent| agent.is_up() && agent.can(Can::Title));
    let Some(id) = session.id.clone().filter(|_| can && session.state == SessionState::Ready) else { return };
    in_session(model, key, cx, |_, cx| cx.push(Effect::Call(Call::SetTitle { session: id, title })));
}

/// What the agent has made of it counts.
pub fn title_set(session: &mut Session, result: Result<Option<String>, CallError>, cx: &mut Cx) {
    match result {
        Ok(title) => session.title = title.or(session.title.take()),
        Err(error) => {
            let words = format!("its agent does not take this name: {}", error.as_answer());
            notice(session, Level::Warn, words, Vec::new(), cx.now);
        }
    }
}
