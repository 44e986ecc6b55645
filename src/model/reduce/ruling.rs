//! Requests that wait for what the rules say of them.
//!
//! The rules are asked elsewhere and answer with a fact. Invariant: each request that waits here goes on when that fact
//! comes, or is answered before, and never both.

use super::super::changes::Gate;
use super::super::claims::Claims;
use super::super::effect::{Answer, Effect, Withdrawal};
use super::super::event::{AgentRequest, PermissionOption};
use super::super::ids::{EntryId, ReqId};
use super::super::refusal::{Reason, Refusal};
use super::super::ruling::Ruling;
use super::super::session::Session;
use super::Cx;
use super::{permission, service};

/// A request that the rules have not spoken of yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Unruled {
    Permission { entry: EntryId, options: Vec<PermissionOption> },
    Service(Box<AgentRequest>),
}

/// Whether rules are about services of this sort.
pub fn is_for(request: &AgentRequest) -> bool {
    claims(request).is_some()
}

fn claims(request: &AgentRequest) -> Option<Claims> {
    match request {
        AgentRequest::ReadFile { path, .. } => Some(Claims::of_file("read", path)),
        AgentRequest::WriteFile { path, .. } => Some(Claims::of_file("write", path)),
        AgentRequest::TerminalCreate(spec) => Some(Claims::of_command(spec)),
        _ => None,
    }
}

pub fn ask(session: &mut Session, req: ReqId, request: AgentRequest, cx: &mut Cx) {
    let Some(claims) = claims(&request) else { return };
    session.unruled.insert(req, Unruled::Service(Box::new(request)));
    cx.push(Effect::AskRules { req, claims: Box::new(claims) });
}

pub fn ask_permission(session: &mut Session, req: ReqId, entry: EntryId, options: Vec<PermissionOption>, cx: &mut Cx) {
    let claims = session.tool(entry).map(Claims::of_tool).unwrap_or_default();
    session.unruled.insert(req, Unruled::Permission { entry, options });
    cx.push(Effect::AskRules { req, claims: Box::new(claims) });
}

/// The rules have spoken.
pub fn ruled(session: &mut Session, req: ReqId, ruling: Ruling, cx: &mut Cx) {
    match session.unruled.remove(&req) {
        Some(Unruled::Permission { entry, options }) => {
            permission::decided(session, req, entry, options, Some(ruling), cx);
        }
        Some(Unruled::Service(request)) => service::decided(session, req, *request, Some(ruling), cx),
        // Answered meanwhile.
        None => {}
    }
}

fn cancelled(unruled: &Unruled) -> Answer {
    match unruled {
        Unruled::Permission { .. } => Answer::Cancelled,
        Unruled::Service(_) => Answer::Error(Refusal::new(Reason::Cancelled, "Request cancelled")),
    }
}

/// `$/cancel_request`. False: it does not wait here.
pub fn withdrawn(session: &mut Session, req: ReqId, cx: &mut Cx) -> bool {
    let Some(unruled) = session.unruled.remove(&req) else { return false };
    cx.push(Effect::Respond { req, answer: cancelled(&unruled) });
    true
}

/// The turn has ended. What would be served at once without rules is still served.
pub fn close_all(session: &mut Session, why: Withdrawal, cx: &mut Cx) {
    if why != Withdrawal::TurnEnded || session.gate() != Gate::Off {
        return cancel_all(session, cx);
    }
    let asked: Vec<ReqId> =
        session.unruled.iter().filter(|(_, unruled)| is_question(unruled)).map(|(req, _)| *req).collect();
    for req in asked {
        withdrawn(session, req, cx);
    }
}

fn is_question(unruled: &Unruled) -> bool {
    matches!(unruled, Unruled::Permission { .. })
}

/// Permission for this call is not asked any more.
pub fn close_about(session: &mut Session, entry: EntryId, cx: &mut Cx) {
    let is_about = |unruled: &Unruled| matches!(unruled, Unruled::Permission { entry: about, .. } if *about == entry);
    let asked: Vec<ReqId> =
        session.unruled.iter().filter(|(_, unruled)| is_about(unruled)).map(|(req, _)| *req).collect();
    for req in asked {
        withdrawn(session, req, cx);
    }
}

/// The turn or the session is stopped.
pub fn cancel_all(session: &mut Session, cx: &mut Cx) {
    for (req, unruled) in std::mem::take(&mut session.unruled) {
        cx.push(Effect::Respond { req, answer: cancelled(&unruled) });
    }
}

/// The agent is gone: nobody waits for an answer.
pub fn void_all(session: &mut Session, cx: &mut Cx) {
    for req in std::mem::take(&mut session.unruled).into_keys() {
        cx.push(Effect::Void(req));
    }
}
