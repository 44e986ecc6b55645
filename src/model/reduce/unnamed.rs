//! For which session a request is that names none.
//!
//! Changes nothing. Invariant: where two sessions may be meant, none is.

use crate::model::Model;
use crate::model::event::AgentRequest;
use crate::model::ids::{AgentKey, SessionKey};
use crate::model::refusal::{Reason, Refusal, Subject};
use crate::model::session::{Session, SessionState};
use std::path::Path;

/// The session that a request is for.
pub fn session_of(model: &Model, key: AgentKey, request: &AgentRequest) -> Result<SessionKey, Refusal> {
    if !matches!(request, AgentRequest::Ask { .. }) {
        return of_service(model, key, request);
    }
    of_question(model, key).ok_or_else(|| Refusal::new(Reason::Cancelled, "Request cancelled: no session is open"))
}

/// The session that a file or a command is for where the agent does not say: that of its terminal, the one with a running
/// turn, of several the one whose directory the path is in. None is guessed (S-030).
fn of_service(model: &Model, key: AgentKey, request: &AgentRequest) -> Result<SessionKey, Refusal> {
    if let Some(term) = request.terminal() {
        let owner = model.session_of_terminal(term).filter(|at| model.session_of(*at).is_some_and(|s| s.agent == key));
        return owner.ok_or_else(|| {
            Refusal::new(Reason::NotFound, "Terminal not found").about(Subject::Terminal(term.clone()))
        });
    }
    if !request.is_service() {
        return Err(Refusal::new(Reason::BadParams, "Invalid params: no session is named"));
    }
    let mut all: Vec<(SessionKey, &Session)> = model.sessions_of(key).collect();
    let runs = |(_, session): &(SessionKey, &Session)| session.turn.is_some();
    if all.iter().any(runs) {
        all.retain(runs);
    }
    if all.len() > 1
        && let Some(path) = request.path().filter(|path| path.starts_with('/'))
    {
        all.retain(|(_, session)| Path::new(path).starts_with(&session.cwd));
    }
    match all.as_slice() {
        [(at, _)] => Ok(*at),
        [] => Err(Refusal::new(Reason::Outside, "It is in the directory of no session that works")),
        _ => {
            Err(Refusal::new(Reason::BadParams, "Several sessions work, and it is not said for which of them this is"))
        }
    }
}

/// The session in which the person is asked what is not asked for one: one that waits for it, else the first.
fn of_question(model: &Model, key: AgentKey) -> Option<SessionKey> {
    let waits = |session: &Session| {
        session.wants_log_in || matches!(session.state, SessionState::Opening { .. } | SessionState::Loading { .. })
    };
    let waiting = model.sessions_of(key).find(|(_, session)| waits(session));
    waiting.or_else(|| model.sessions_of(key).next()).map(|(at, _)| at)
}
