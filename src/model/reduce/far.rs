//! An agent behind an address, or one that messages do not get through to: what it is refused, and the end of the connection.
//!
//! Invariant: nothing of this machine is done for an agent behind an address that the person has not given it (S-062).

use super::agent::{self as one, End};
use super::lifecycle::{die, tell_once};
use super::{Cx, audit, in_agent, in_each, notice};
use crate::base::transport::Transport;
use crate::model::Model;
use crate::model::agent::{Agent, Connection, DeathKind};
use crate::model::audit::{By, Decision, Matter, Outcome};
use crate::model::entry::Level;
use crate::model::event::AgentRequest;
use crate::model::ids::{AgentKey, SessionKey};
use crate::model::refusal::{Reason, Refusal};
use std::time::Duration;

pub fn reached_over(model: &mut Model, key: AgentKey, transport: Transport, cx: &mut Cx) {
    in_agent(model, key, cx, |agent, _| {
        if let Some(reached) = &mut agent.reached {
            reached.transport = transport;
        }
    });
}

/// A turn was answered with one message.
pub fn asks_nothing(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    let words = "this server answers a turn with one message, not with a stream: the agent cannot ask you for anything on the way";
    tell_once(model, key, None, "stream", words, cx);
}

/// The connection to an agent behind an address has ended, or never came about.
pub fn lost(model: &mut Model, key: AgentKey, why: String, retry_after: Option<u64>, cx: &mut Cx) {
    let end = in_agent(model, key, cx, |agent, _| {
        agent.alive = false;
        agent.retry_after = retry_after.map(Duration::from_secs);
        let is_early = matches!(agent.connection, Connection::Starting { .. });
        End::new(if is_early { DeathKind::NotStarted } else { DeathKind::Lost }, why)
    });
    if let Some(end) = end {
        die(model, key, end, cx);
    }
}

/// The agent has said nothing at all to a line.
pub fn start_with_lengths(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    in_each(model, key, cx, |session, cx| {
        let words = "the agent said nothing for 2 s: it is started again, and a length stands before each message";
        notice(session, Level::Info, words, Vec::new(), cx.now);
    });
    in_agent(model, key, cx, one::start);
}

pub fn is_withheld(agent: &Agent, request: &AgentRequest) -> bool {
    agent.reached.is_some_and(|reached| match request {
        AgentRequest::ReadFile { .. } | AgentRequest::WriteFile { .. } => !reached.files,
        AgentRequest::TerminalCreate(_) => !reached.terminals,
        _ => false,
    })
}

pub fn refusal(
    model: &mut Model,
    key: AgentKey,
    at: Option<SessionKey>,
    request: &AgentRequest,
    cx: &mut Cx,
) -> Refusal {
    let (event, what, shown) = match request {
        AgentRequest::WriteFile { path, .. } => (Matter::Write, "files", path.clone()),
        AgentRequest::TerminalCreate(spec) => (Matter::Run, "commands", spec.line()),
        AgentRequest::ReadFile { path, .. } => (Matter::Read, "files", path.clone()),
        _ => (Matter::Read, "files", String::new()),
    };
    let title = format!("the agent asked for {what} of this machine, which it has not been given; refused");
    tell_once(model, key, at, what, &title, cx);
    let decision = || Decision::new(event, shown, Outcome::Deny, By::Client);
    in_agent(model, key, cx, |_, cx| audit::tell(cx, decision));
    Refusal::new(Reason::DeniedByPolicy, format!("Not for agents behind an address: {what} of this machine"))
}
