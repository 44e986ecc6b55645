//! Requests of the agent: who may ask what, before anything is done. Each leads to exactly one answer.

use super::super::Model;
use super::super::changes::Gate;
use super::super::effect::{Answer, Effect};
use super::super::entry::{Body, FileOp, FileOutcome, FileVerb};
use super::super::event::AgentRequest;
use super::super::ids::{Now, ReqId, SessionId, TermId};
use super::super::refusal::{Reason, Refusal, Subject};
use super::super::session::{Allow, DeathKind, Phase, Policy, Terminal, TerminalOrigin};
use super::{EARLY_LIMIT, Early, gate, lifecycle, notice, notice_once, permission};
use crate::model::entry::Level;
use std::sync::Arc;

pub fn unknown_session(session: &SessionId) -> Refusal {
    Refusal::new(Reason::NotFound, "Session not found").about(Subject::Session(session.clone()))
}

fn respond(out: &mut Vec<Effect>, req: ReqId, answer: Answer) {
    out.push(Effect::Respond { req, answer });
}

fn fail(out: &mut Vec<Effect>, req: ReqId, error: Refusal) {
    respond(out, req, Answer::Error(error));
}

pub fn request(
    model: &mut Model,
    req: ReqId,
    session: Option<SessionId>,
    request: AgentRequest,
    now: Now,
    out: &mut Vec<Effect>,
) {
    if matches!(model.phase, Phase::Dead(_)) {
        // Read before the end was known; nobody waits for an answer.
        return out.push(Effect::Void(req));
    }
    match request {
        AgentRequest::Echoed(_) if matches!(model.phase, Phase::Starting { .. }) => {
            return echoed(model, req, now, out);
        }
        AgentRequest::UnknownMethod(method) | AgentRequest::Echoed(method) => {
            model.agent.odd.unknown += 1;
            let title = format!("the agent asked for {method}, which this client does not offer; refused");
            notice_once(model, &method, title, Vec::new(), now);
            let error = Refusal::new(Reason::UnknownMethod, "Method not found").about(Subject::Method(method));
            return fail(out, req, error);
        }
        AgentRequest::TooLarge { method, why } => {
            let title = format!("the agent asked for more than is shown or done ({method}: {why}); refused");
            notice_once(model, &title.clone(), title, Vec::new(), now);
            let error = Refusal::new(Reason::TooLarge, format!("Too large: {why}")).about(Subject::Method(method));
            return fail(out, req, error);
        }
        AgentRequest::BadParams { method, why } => {
            model.agent.odd.malformed += 1;
            let title = format!("the agent asked for {method} in a way that cannot be used ({why}); refused");
            notice_once(model, &title.clone(), title, Vec::new(), now);
            let error =
                Refusal::new(Reason::BadParams, format!("Invalid params: {why}")).about(Subject::Method(method));
            return fail(out, req, error);
        }
        _ => {}
    }
    if matches!(model.phase, Phase::Starting { .. }) {
        return fail(out, req, Refusal::new(Reason::NotReady, "Not initialized"));
    }
    match session {
        Some(id) if model.session.id.as_ref() == Some(&id) => serve(model, req, request, now, out),
        Some(id) if model.session.id.is_none() && matches!(model.phase, Phase::Opening { .. }) => {
            if model.early.len() < EARLY_LIMIT {
                model.early.push(Early::Request(req, id, request));
            } else {
                fail(out, req, unknown_session(&id));
            }
        }
        Some(id) => fail(out, req, unknown_session(&id)),
        None => fail(out, req, Refusal::new(Reason::BadParams, "Invalid params: no session is named")),
    }
}

/// Our own `initialize` has come back: the program writes what it reads.
fn echoed(model: &mut Model, req: ReqId, now: Now, out: &mut Vec<Effect>) {
    out.push(Effect::Void(req));
    let hint = model.interface_hint();
    let message = format!("`{}` writes back what it is told; it does not speak the protocol", model.agent.command);
    lifecycle::die(model, DeathKind::Early, message, hint, Vec::new(), now, out);
}

fn serve(model: &mut Model, req: ReqId, request: AgentRequest, now: Now, out: &mut Vec<Effect>) {
    match request {
        AgentRequest::Permission { tool, options } => permission::asked(model, req, tool, options, now, out),
        AgentRequest::ReadFile { path, line, limit } => {
            if model.policy == Policy::Auto(Allow::None) {
                refuse_file(model, FileVerb::Read, &path, now);
                return fail(out, req, denied(model, Subject::Path(path)));
            }
            out.push(Effect::FsRead { req, path, line, limit });
        }
        AgentRequest::WriteFile { path, content } => write(model, req, path, content, now, out),
        AgentRequest::TerminalCreate(spec) => {
            if refuses_changes(model) {
                let words = format!("refused by --allow {}: run {}", policy_name(model), spec.line());
                notice(model, Level::Warn, words, Vec::new(), now);
                return fail(out, req, denied(model, Subject::Command(spec.line())));
            }
            if model.gate() != Gate::Off {
                return gate::run(model, req, spec, now, out);
            }
            model.creating.insert(req, spec.clone());
            out.push(Effect::TerminalCreate { req, spec });
        }
        AgentRequest::TerminalOutput(id) => match known(model, &id) {
            Some(_) => out.push(Effect::TerminalOutput { req, term: id }),
            None => fail(out, req, unknown_terminal(&id)),
        },
        AgentRequest::TerminalWait(id) => match known(model, &id) {
            Some(terminal) => match &terminal.exit {
                Some(exit) => respond(out, req, Answer::Exit(exit.clone())),
                None => terminal.waiters.push(req),
            },
            None => fail(out, req, unknown_terminal(&id)),
        },
        AgentRequest::TerminalKill(id) => {
            if known(model, &id).is_none() {
                return fail(out, req, unknown_terminal(&id));
            }
            out.push(Effect::TerminalKill(id));
            respond(out, req, Answer::Empty);
        }
        AgentRequest::TerminalRelease(id) => {
            let Some(terminal) = known(model, &id) else { return fail(out, req, unknown_terminal(&id)) };
            terminal.released = true;
            out.push(Effect::TerminalRelease(id));
            respond(out, req, Answer::Empty);
        }
        // Answered before the session was looked at.
        AgentRequest::UnknownMethod(_)
        | AgentRequest::Echoed(_)
        | AgentRequest::BadParams { .. }
        | AgentRequest::TooLarge { .. } => {}
    }
}

fn write(model: &mut Model, req: ReqId, path: String, content: Arc<str>, now: Now, out: &mut Vec<Effect>) {
    if refuses_changes(model) {
        refuse_file(model, FileVerb::Write, &path, now);
        return fail(out, req, denied(model, Subject::Path(path)));
    }
    let op = FileOp { verb: FileVerb::Write, path: path.clone(), outcome: FileOutcome::Pending };
    let entry = model.entries.push(model.last_turn, now, Body::File(op));
    model.writes.insert(req, (entry, Arc::clone(&content)));
    if model.gate() != Gate::Off {
        return gate::write(model, req, path, out);
    }
    out.push(Effect::FsWrite { req, path, content, entry });
}

pub fn refuse_file_because(model: &mut Model, verb: FileVerb, path: &str, why: String, now: Now) {
    let op = FileOp { verb, path: path.to_owned(), outcome: FileOutcome::Refused(why) };
    let entry = model.entries.push(model.last_turn, now, Body::File(op));
    model.entries.finish(entry);
}

fn refuse_file(model: &mut Model, verb: FileVerb, path: &str, now: Now) {
    let why = format!("--allow {}", policy_name(model));
    refuse_file_because(model, verb, path, why, now);
}

fn refuses_changes(model: &Model) -> bool {
    matches!(model.policy, Policy::Auto(Allow::Reads | Allow::None))
}

fn policy_name(model: &Model) -> &'static str {
    match model.policy {
        Policy::Auto(allow) => allow.name(),
        Policy::Ask => "ask",
    }
}

fn denied(model: &Model, about: Subject) -> Refusal {
    let message = format!("Refused: this client was started with --allow {}", policy_name(model));
    Refusal::new(Reason::DeniedByPolicy, message).about(about)
}

/// A terminal of ours that the agent has not released.
fn known<'a>(model: &'a mut Model, id: &TermId) -> Option<&'a mut Terminal> {
    model.terminals.get_mut(id).filter(|t| t.origin == TerminalOrigin::Ours && !t.released)
}

fn unknown_terminal(id: &TermId) -> Refusal {
    Refusal::new(Reason::NotFound, "Terminal not found").about(Subject::Terminal(id.clone()))
}
