//! Requests of the agent that a session serves: permission, files, terminals. Each leads to exactly one answer.

use super::super::changes::Gate;
use super::super::effect::{Answer, Effect};
use super::super::entry::{Body, FileOp, FileOutcome, FileVerb};
use super::super::event::AgentRequest;
use super::super::ids::{Now, ReqId, TermId};
use super::super::refusal::{Reason, Refusal, Subject};
use super::super::session::{Allow, Policy, Session, Terminal, TerminalOrigin};
use super::Cx;
use super::{gate, notice, permission};
use crate::model::entry::Level;
use std::sync::Arc;

fn respond(cx: &mut Cx, req: ReqId, answer: Answer) {
    cx.push(Effect::Respond { req, answer });
}

fn fail(cx: &mut Cx, req: ReqId, error: Refusal) {
    respond(cx, req, Answer::Error(error));
}

pub fn serve(session: &mut Session, req: ReqId, request: AgentRequest, cx: &mut Cx) {
    match request {
        AgentRequest::Permission { tool, options } => permission::asked(session, req, tool, options, cx),
        AgentRequest::ReadFile { path, line, limit } => {
            if session.policy == Policy::Auto(Allow::None) {
                refuse_file(session, FileVerb::Read, &path, cx.now);
                return fail(cx, req, denied(session, Subject::Path(path)));
            }
            cx.push(Effect::FsRead { req, path, line, limit });
        }
        AgentRequest::WriteFile { path, content } => write(session, req, path, content, cx),
        AgentRequest::TerminalCreate(spec) => {
            if refuses_changes(session) {
                let words = format!("refused by --allow {}: run {}", policy_name(session), spec.line());
                notice(session, Level::Warn, words, Vec::new(), cx.now);
                return fail(cx, req, denied(session, Subject::Command(spec.line())));
            }
            if session.gate() != Gate::Off {
                return gate::run(session, req, spec, cx);
            }
            session.creating.insert(req, spec.clone());
            cx.push(Effect::TerminalCreate { req, spec });
        }
        AgentRequest::TerminalOutput(id) => match known(session, &id) {
            Some(_) => cx.push(Effect::TerminalOutput { req, term: id }),
            None => fail(cx, req, unknown_terminal(&id)),
        },
        AgentRequest::TerminalWait(id) => match known(session, &id) {
            Some(terminal) => match &terminal.exit {
                Some(exit) => respond(cx, req, Answer::Exit(exit.clone())),
                None => terminal.waiters.push(req),
            },
            None => fail(cx, req, unknown_terminal(&id)),
        },
        AgentRequest::TerminalKill(id) => {
            if known(session, &id).is_none() {
                return fail(cx, req, unknown_terminal(&id));
            }
            cx.push(Effect::TerminalKill(id));
            respond(cx, req, Answer::Empty);
        }
        AgentRequest::TerminalRelease(id) => {
            let Some(terminal) = known(session, &id) else { return fail(cx, req, unknown_terminal(&id)) };
            terminal.released = true;
            cx.push(Effect::TerminalRelease(id));
            respond(cx, req, Answer::Empty);
        }
        // Answered before the session was looked at.
        AgentRequest::UnknownMethod(_)
        | AgentRequest::Echoed(_)
        | AgentRequest::BadParams { .. }
        | AgentRequest::TooLarge { .. } => {}
    }
}

fn write(session: &mut Session, req: ReqId, path: String, content: Arc<str>, cx: &mut Cx) {
    if refuses_changes(session) {
        refuse_file(session, FileVerb::Write, &path, cx.now);
        return fail(cx, req, denied(session, Subject::Path(path)));
    }
    let op = FileOp { verb: FileVerb::Write, path: path.clone(), outcome: FileOutcome::Pending };
    let entry = session.entries.push(session.last_turn, cx.now, Body::File(op));
    session.writes.insert(req, (entry, Arc::clone(&content)));
    if session.gate() != Gate::Off {
        return gate::write(session, req, path, cx);
    }
    cx.push(Effect::FsWrite { req, path, content, entry });
}

pub fn refuse_file_because(session: &mut Session, verb: FileVerb, path: &str, why: String, now: Now) {
    let op = FileOp { verb, path: path.to_owned(), outcome: FileOutcome::Refused(why) };
    let entry = session.entries.push(session.last_turn, now, Body::File(op));
    session.entries.finish(entry);
}

fn refuse_file(session: &mut Session, verb: FileVerb, path: &str, now: Now) {
    let why = format!("--allow {}", policy_name(session));
    refuse_file_because(session, verb, path, why, now);
}

fn refuses_changes(session: &Session) -> bool {
    matches!(session.policy, Policy::Auto(Allow::Reads | Allow::None))
}

fn policy_name(session: &Session) -> &'static str {
    match session.policy {
        Policy::Auto(allow) => allow.name(),
        Policy::Ask => "ask",
    }
}

fn denied(session: &Session, about: Subject) -> Refusal {
    let message = format!("Refused: this client was started with --allow {}", policy_name(session));
    Refusal::new(Reason::DeniedByPolicy, message).about(about)
}

/// A terminal of ours that the agent has not released.
fn known<'a>(session: &'a mut Session, id: &TermId) -> Option<&'a mut Terminal> {
    session.terminals.get_mut(id).filter(|t| t.origin == TerminalOrigin::Ours && !t.released)
}

fn unknown_terminal(id: &TermId) -> Refusal {
    Refusal::new(Reason::NotFound, "Terminal not found").about(Subject::Terminal(id.clone()))
}
