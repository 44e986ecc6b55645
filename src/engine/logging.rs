//! What the engine puts into the program's log: which agent lives, what was agreed on, what was decided and why.
//!
//! Names kinds, numbers and reasons. Invariant: no text, path or name that an agent or a person has given gets in.

use crate::model::changes::ReviewEvent;
use crate::model::effect::{Answer, Call, Effect};
use crate::model::event::{AgentEvent, AgentRequest, CallError, Event, HostEvent, Opening};
use crate::model::ids::{Address, Addressed};
use tracing::{debug, info, warn};

/// Before it is applied to the model.
pub(super) fn event(event: &Addressed<Event>) {
    match &event.what {
        Event::Agent(what) => heard(event.at, what),
        Event::Host(what) => happened(event.at, what),
        Event::Timer(timer) => debug!(?timer, at = ?event.at, "a time is up"),
        Event::User(_) | Event::Hint(_) | Event::Setup(_) => {}
    }
}

fn heard(at: Address, event: &AgentEvent) {
    match event {
        AgentEvent::Initialized(Ok(agreed)) => {
            info!(?at, methods = agreed.auth_methods.len(), can = ?agreed.caps, "the handshake is done");
        }
        AgentEvent::Initialized(Err(error)) => failed(at, "the handshake failed", error),
        AgentEvent::SessionOpened(Ok(_)) => info!(?at, "the session is open"),
        AgentEvent::SessionOpened(Err(error)) => failed(at, "the session was not opened", error),
        AgentEvent::PromptAnswered { result: Ok(_), .. } => debug!(?at, "the turn has ended"),
        AgentEvent::PromptAnswered { result: Err(error), .. } => failed(at, "the turn failed", error),
        AgentEvent::Authenticated { result: Ok(_), .. } => info!(?at, "the log-in is done"),
        AgentEvent::Authenticated { result: Err(error), .. } => failed(at, "the log-in failed", error),
        AgentEvent::Request { req, request, .. } => {
            let kind = match &**request {
                AgentRequest::Permission { .. } => "permission",
                AgentRequest::BadParams { .. } => "with parameters that cannot be used",
                _ => "file or terminal",
            };
            debug!(?at, req = req.0, kind, "the agent asks");
        }
        AgentEvent::RequestWithdrawn(req) => debug!(?at, req = req.0, "the agent withdraws what it asked"),
        AgentEvent::Odd { what, .. } => debug!(?at, ?what, "a message that cannot be used"),
        _ => {}
    }
}

fn failed(at: Address, what: &'static str, error: &CallError) {
    warn!(?at, kind = ?error.kind, code = error.code, "{what}");
}

fn happened(at: Address, event: &HostEvent) {
    match event {
        HostEvent::AgentSpawned { pid } => info!(?at, agent_pid = *pid, "the agent is started"),
        HostEvent::AgentConfined(_) => info!(?at, "the agent is confined"),
        HostEvent::SpawnFailed { .. } => warn!(?at, "the agent could not be started"),
        HostEvent::AgentExited { exit, .. } => info!(?at, ?exit, "the agent has ended"),
        HostEvent::StdoutClosed { .. } => warn!(?at, "the agent has closed its output and lives on"),
        HostEvent::ConnectionDropped { .. } => warn!(?at, "the connection was closed by us"),
        HostEvent::TerminalStarted { req, .. } => debug!(?at, req = req.0, "a command is started"),
        HostEvent::TerminalFailed { req, error } => {
            debug!(?at, req = req.0, why = ?error.why, "a command could not be started");
        }
        HostEvent::ShellStarted { .. } => debug!(?at, "a command of the person's is started"),
        HostEvent::ShellFailed { .. } => debug!(?at, "a command of the person's could not be started"),
        HostEvent::TerminalExited { exit, .. } => debug!(?at, ?exit, "a command has ended"),
        HostEvent::FileWritten { req, result: Ok(fact), .. } => {
            debug!(?at, req = req.0, bytes = fact.bytes, created = fact.created, "a file is written");
        }
        HostEvent::Ruled { req, ruling } => {
            let by = if ruling.rule.is_some() { "a rule" } else { "no rule" };
            debug!(?at, req = req.0, verdict = ?ruling.verdict, by, "the rules have spoken");
        }
        HostEvent::JournalWaits { .. } => warn!(?at, "the journal waits for room"),
        HostEvent::JournalGoesOn { .. } => info!(?at, "there is room for the journal"),
        HostEvent::JournalFailed { .. } => warn!(?at, "the journal cannot be written"),
        HostEvent::Review(event) => reviewed(at, event),
        _ => {}
    }
}

fn reviewed(at: Address, event: &ReviewEvent) {
    match event {
        ReviewEvent::WriteHeld { req } => debug!(?at, req = req.0, "a write waits for the person"),
        ReviewEvent::HeldDecided { req, .. } => debug!(?at, req = req.0, "a write that waited is decided"),
        ReviewEvent::TurnCovered { covered, .. } => {
            debug!(?at, covered = covered.is_ok(), "the files were looked at before the turn");
        }
        ReviewEvent::TurnReviewed { .. } => debug!(?at, "the files were looked at after the turn"),
        ReviewEvent::ReviewFailed { .. } => warn!(?at, "what was asked of the review was not done"),
        ReviewEvent::ReviewTrouble { what, .. } => warn!(?at, what, "something of the review does not work"),
        ReviewEvent::ReviewWaits { .. } => warn!(?at, "there is no room for a review"),
        ReviewEvent::ReviewBegun => info!(?at, "there is room for the review"),
        ReviewEvent::ReviewOff { .. } => warn!(?at, "there is no review"),
        _ => {}
    }
}

/// Before it is done.
pub(super) fn effect(effect: &Addressed<Effect>) {
    let at = effect.at;
    match &effect.what {
        Effect::Respond { req, answer } => match answer {
            Answer::Error(refusal) => debug!(?at, req = req.0, why = ?refusal.why, "refused"),
            Answer::Cancelled => debug!(?at, req = req.0, "answered with cancelled"),
            Answer::Selected(_) => debug!(?at, req = req.0, "answered with one of its options"),
            _ => debug!(?at, req = req.0, "done and answered"),
        },
        Effect::EndAgent => info!(?at, "the agent is to end"),
        Effect::KillAgent => info!(?at, "the agent is killed"),
        Effect::CancelTurn(_) => debug!(?at, "the turn is to stop"),
        Effect::Call(Call::OpenSession(opening)) => debug!(?at, how = opened(opening), "a session is asked for"),
        _ => {}
    }
}

fn opened(opening: &Opening) -> &'static str {
    match opening {
        Opening::New | Opening::After(_) => "new",
        Opening::Load(_) => "load",
        Opening::Resume(_) => "resume",
        Opening::Continue(_) => "load or resume",
        Opening::Fork(_) | Opening::Copy(_) | Opening::Aside { from: Some(_), .. } => "fork",
        Opening::Show { .. } => "shown only",
        Opening::Aside { from: None, .. } => "aside",
    }
}
