//! What a session is before it is asked for: what earlier journals have of it, what it is to others, and whether it is
//! only shown.
//!
//! Like `lifecycle`, sees an agent together with its sessions. Invariants: an agent is asked for a session only when all
//! that is known of it is there; what is asked aside is allowed no change unless it is kept.

use super::{Cx, in_session, lifecycle, notice, opening, recalled};
use crate::model::Model;
use crate::model::agent::Agent;
use crate::model::effect::{Call, Effect};
use crate::model::entry::{Body, Level};
use crate::model::event::{Before, Beside, Can, Opening, SessionResult};
use crate::model::ids::{AgentKey, SessionId, SessionKey};
use crate::model::past::{Recalled, copy_title, is_said};
use crate::model::session::{Allow, Closed, Policy, Session, SessionState, StoredHistory};

/// How a session will be asked for. What earlier journals have of it is read first.
pub fn prepare(model: &mut Model, at: SessionKey, how: Opening, cx: &mut Cx) {
    let reads = model.has_earlier;
    let (mut copied, mut called) = (None, None);
    let how = match how {
        Opening::After(before) => {
            continues(model, at, before, cx);
            Opening::New
        }
        Opening::Aside { from, .. } => {
            let is_copy = from.is_some();
            in_session(model, at, cx, |session, _| {
                session.beside = Some(Beside { is_copy, is_kept: false });
                // Without a person to ask nothing is allowed that changes anything. What its agent changes without
                // asking is looked at like all else.
                session.policy = Policy::Auto(Allow::Reads);
            });
            from.map_or(Opening::New, Opening::Fork)
        }
        Opening::Copy(from) => {
            copied = Some(from.clone()).filter(|id| !is_open(model, at, id));
            called = name_of(model, at, &from).map(|name| copy_title(&name));
            Opening::Fork(from)
        }
        how => how,
    };
    in_session(model, at, cx, |session, cx| {
        session.opening = how;
        session.known_title = called.or(session.known_title.take());
        let is_copy = copied.is_some();
        if let Some(id) = copied.or(session.opening.id().cloned()).filter(|_| reads && !session.has_talked()) {
            session.stored_history = StoredHistory::Awaited;
            cx.push(Effect::Recall { id, is_copy });
        }
    });
    show(model, at, cx);
}

/// What was said in the session of which this is to be a copy, where that is open here.
pub fn inherited(model: &Model, key: AgentKey, copy: SessionKey) -> Vec<Body> {
    let Some(session) = model.sessions.get(&copy).filter(|session| !session.has_talked()) else {
        return Vec::new();
    };
    let Opening::Fork(from) = &session.opening else { return Vec::new() };
    let from = model.session_named(key, from).and_then(|at| model.sessions.get(&at));
    let bodies = from.into_iter().flat_map(|from| from.entries.iter()).map(|entry| &entry.body);
    bodies.filter(|body| is_said(body)).cloned().collect()
}

/// Whether the agent of this session has one open that it calls like that.
fn is_open(model: &Model, at: SessionKey, id: &SessionId) -> bool {
    model.sessions.get(&at).is_some_and(|session| model.session_named(session.agent, id).is_some())
}

/// Of a copy nothing is known here of what was said in the original: its agent is asked to tell it, by loading the copy.
pub fn is_to_be_told(model: &mut Model, at: SessionKey, copy: &SessionResult, cx: &mut Cx) -> bool {
    let Some(session) = model.sessions.get(&at) else { return false };
    let can_tell = model.agents.get(&session.agent).is_some_and(|agent| agent.can(Can::Load));
    let Opening::Fork(from) = &session.opening else { return false };
    // Of one that is open here all is known, also that nothing was said in it.
    let is_known = session.has_talked() || model.session_named(session.agent, from).is_some();
    if !can_tell || is_known || session.is_aside() {
        return false;
    }
    let words = format!("a copy of session {from}; what was said in that one follows as its agent tells it");
    in_session(model, at, cx, |session, cx| {
        notice(session, Level::Info, words, Vec::new(), cx.now);
        session.opening = Opening::Load(copy.id.clone());
        opening::open(session, cx);
        session.answered = Some(Box::new(copy.clone()));
    });
    true
}

/// An agent that does not tell what was said in a copy has made it all the same.
pub fn untold(session: &mut Session, cx: &mut Cx) -> Option<SessionResult> {
    let copy = session.answered.take()?;
    session.opening = Opening::New;
    notice(session, Level::Info, "its agent does not tell it", Vec::new(), cx.now);
    Some(*copy)
}

/// Agents make no copy of a conversation of which they have kept nothing yet. What is asked beside it is asked in a new
/// session all the same.
pub fn needs_no_copy(session: &mut Session, cx: &mut Cx) -> bool {
    if session.beside.is_none() || !matches!(session.opening, Opening::Fork(_)) {
        return false;
    }
    session.opening = Opening::New;
    session.begins = session.entries.next_id();
    opening::wait(session);
    let words = "its agent makes no copy of the conversation; this is a new session, with an account of it";
    notice(session, Level::Info, words, Vec::new(), cx.now);
    true
}

/// What a session of the same agent is called: one that is open here, or that the agent has told of.
fn name_of(model: &Model, at: SessionKey, id: &SessionId) -> Option<String> {
    let key = model.sessions.get(&at)?.agent;
    let open = model.session_named(key, id).and_then(|open| model.sessions.get(&open));
    let open = open.and_then(|open| open.called().or_else(|| open.first_words()?.lines().next()));
    let listed = || {
        let listing = model.agents.get(&key)?.listing.as_ref()?;
        listing.sessions.get(*listing.places.get(id)?)?.title.as_deref()
    };
    open.or_else(listed).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// A new session, in which nothing was said, turns out to continue another.
pub fn follow(model: &mut Model, at: SessionKey, before: Before, cx: &mut Cx) {
    let fits = |session: &Session| session.follows.is_none() && !session.is_to_go_on() && !session.has_talked();
    if model.sessions.get(&at).is_some_and(fits) {
        continues(model, at, before, cx);
    }
}

/// Says in both of two sessions that one continues the other.
fn continues(model: &mut Model, at: SessionKey, before: Before, cx: &mut Cx) {
    let agent = model.sessions.get(&at).and_then(|session| model.agents.get(&session.agent));
    let called = |agent: &Agent| label(model, agent).or(before.to.as_deref()).unwrap_or(&agent.command).to_owned();
    let name = agent.map(called).unwrap_or_default();
    let id = before.id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    let words =
        format!("continues session{id} of {}; what was said there is known here only by its account", before.agent);
    let from = before.session;
    in_session(model, at, cx, |session, cx| {
        session.follows = Some(before);
        notice(session, Level::Info, words, Vec::new(), cx.now);
    });
    if from != at {
        let words = format!("handed over to a new session of {name}");
        in_session(model, from, cx, |session, cx| notice(session, Level::Info, words, Vec::new(), cx.now));
    }
}

/// What an agent calls itself. One that has not said it yet may run here once more.
fn label<'a>(model: &'a Model, agent: &'a Agent) -> Option<&'a str> {
    let is_same = |one: &&Agent| one.command == agent.command && one.label() != one.command;
    std::iter::once(agent).chain(model.agents.values()).find(is_same).map(Agent::label)
}

/// What earlier journals have of a session, or a part of it, has been read.
pub fn recalled(model: &mut Model, at: SessionKey, mut part: Recalled, cx: &mut Cx) {
    let Some(session) = model.sessions.get(&at).filter(|s| s.state != SessionState::Closed(Closed::ByPerson)) else {
        return;
    };
    let (key, is_last) = (session.agent, part.is_last);
    // Until it says it itself, which one that only has its session shown never does.
    if let Some(agent) = model.agents.get_mut(&key).filter(|agent| agent.title.is_none() && agent.name.is_none()) {
        agent.name = part.agent.take();
    }
    in_session(model, at, cx, |session, cx| recalled::take_in(session, part, cx));
    if is_last {
        show(model, at, cx);
        let waits = model.sessions.get(&at).is_some_and(|session| session.state == SessionState::Waiting);
        if waits && model.agents.get(&key).is_some_and(Agent::is_up) {
            lifecycle::open(model, key, at, cx);
        }
    }
}

/// The agent has opened it, and the person has closed it meanwhile. What was asked aside keeps its name, by which it can
/// be deleted.
pub fn in_vain(model: &mut Model, at: SessionKey, id: SessionId, tells: bool, cx: &mut Cx) {
    let key = model.sessions.get(&at).map(|session| session.agent);
    if key.is_none_or(|key| model.session_named(key, &id).is_some()) {
        return;
    }
    in_session(model, at, cx, |session, cx| {
        if session.is_aside() {
            session.id = Some(id.clone());
        }
        if tells {
            cx.push(Effect::Call(Call::CloseSession(id)));
        }
    });
}

/// The answer to a side question is kept.
pub fn keep(model: &mut Model, at: SessionKey, cx: &mut Cx) {
    let policy = model.policy;
    let agent = model.sessions.get(&at).and_then(|session| model.agents.get(&session.agent));
    let agent = agent.map(|agent| agent.label().to_owned()).unwrap_or_default();
    in_session(model, at, cx, |session, cx| opening::keep(session, policy, &agent, cx));
}

/// One that is only shown is asked of no agent.
fn show(model: &mut Model, at: SessionKey, cx: &mut Cx) {
    in_session(model, at, cx, |session, cx| {
        if let Opening::Show { why, .. } = &session.opening
            && !session.awaits_earlier()
        {
            let (words, advice, why) = (why.words(), why.advice(), why.clone());
            opening::only_shown(session, why, words, advice.into_iter().collect(), cx);
        }
    });
}
