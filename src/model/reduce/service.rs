//! Requests of the agent that a session serves: permission, files, terminals. Each leads to exactly one answer.

use super::super::changes::ReviewCommand;
use super::super::effect::{Answer, Effect};
use super::super::entry::{Body, FileOp, FileOutcome, FileVerb};
use super::super::event::{AgentRequest, TerminalSpec, Timer, WriteHow};
use super::super::ids::{Now, ReqId, TermId};
use super::super::judge::{Deed, Ground, Place, Request, Verdict, judge};
use super::super::question::ReadSpec;
use super::super::refusal::{Reason, Refusal, Subject};
use super::super::ruling::Ruling;
use super::super::session::{Session, Stage, Waiter, Write};
use super::super::terminal::{Terminal, TerminalOrigin};
use super::super::tool::Exit;
use super::super::write::Slice;
use super::Cx;
use super::{asked, audit, gate, notice, permission, ruling};
use crate::base::shared::SharedText;
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
        AgentRequest::Ask { asking, call, of } => asked::ask(session, req, asking, (call, of), cx),
        request if session.rules.are_there && ruling::is_for(&request) => ruling::ask(session, req, request, cx),
        request => decided(session, req, request, None, cx),
    }
}

/// Serves it, refuses it, or asks the person.
pub fn decided(session: &mut Session, req: ReqId, request: AgentRequest, ruling: Option<Ruling>, cx: &mut Cx) {
    match request {
        AgentRequest::ReadFile { path, line, limit, counts } => {
            read(session, req, ReadSpec { path, line, limit, counts }, ruling, cx);
        }
        AgentRequest::WriteFile { path, content, how } => write(session, req, path, (content, how), ruling, cx),
        AgentRequest::TerminalCreate(spec) => run(session, req, Arc::new(spec), ruling, cx),
        AgentRequest::TerminalOutput(id) => match known(session, &id) {
            Some(_) => cx.push(Effect::TerminalOutput { req, term: id }),
            None => fail(cx, req, unknown_terminal(&id)),
        },
        AgentRequest::TerminalWait { term, patience, with_output } => match known(session, &term) {
            Some(terminal) => match &terminal.exit {
                Some(exit) => cx.push(exited(req, &term, exit, with_output)),
                None => {
                    terminal.waiters.push(Waiter { req, with_output });
                    if let Some(after) = patience {
                        cx.push(Effect::StartTimer { timer: Timer::Wait(req), after });
                    }
                }
            },
            None => fail(cx, req, unknown_terminal(&term)),
        },
        AgentRequest::TerminalKill { term, signal } => {
            let Some(terminal) = known(session, &term) else { return fail(cx, req, unknown_terminal(&term)) };
            let runs = terminal.exit.is_none();
            cx.push(match signal {
                Some(signal) => Effect::TerminalSignal { term, signal },
                None => Effect::TerminalKill(term),
            });
            respond(cx, req, Answer::Signalled(runs));
        }
        AgentRequest::TerminalRelease(id) => {
            let Some(terminal) = known(session, &id) else { return fail(cx, req, unknown_terminal(&id)) };
            terminal.released = true;
            cx.push(Effect::TerminalRelease(id));
            respond(cx, req, Answer::Empty);
        }
        // Answered before the session was looked at, or is no service.
        AgentRequest::Permission { .. }
        | AgentRequest::Ask { .. }
        | AgentRequest::UnknownMethod(_)
        | AgentRequest::Echoed(_)
        | AgentRequest::BadParams { .. }
        | AgentRequest::TooLarge { .. } => {}
    }
}

/// What a request gets that has waited for the exit of a command.
pub fn exited(req: ReqId, term: &TermId, exit: &Exit, with_output: bool) -> Effect {
    if with_output {
        return Effect::TerminalOutput { req, term: term.clone() };
    }
    Effect::Respond { req, answer: Answer::Exit(exit.clone()) }
}

/// A request has waited long enough for the exit of a command, which goes on.
pub fn waited(session: &mut Session, req: ReqId, cx: &mut Cx) {
    for terminal in session.terminals.values_mut() {
        let Some(at) = terminal.waiters.iter().position(|waiter| waiter.req == req) else { continue };
        let Waiter { with_output, .. } = terminal.waiters.remove(at);
        return cx.push(if with_output {
            Effect::TerminalOutput { req, term: terminal.id.clone() }
        } else {
            Effect::Respond { req, answer: Answer::StillRuns }
        });
    }
}

/// Reads only the part of a file that is wanted, without counting the rest; nothing where all of it is.
pub fn read_part(session: &mut Session, req: ReqId) -> Option<Effect> {
    let Slice { line, limit, request } = session.slices.remove(&req)?;
    limit?;
    Some(Effect::FsRead { req, request: Box::new(request), line, limit })
}

fn read(session: &mut Session, req: ReqId, spec: ReadSpec, ruling: Option<Ruling>, cx: &mut Cx) {
    let request = request_of(session, Deed::Read(spec.path.as_str().into()), cx).ruled(ruling);
    match judge(&request) {
        Verdict::Allow(ground) => {
            audit::file(&request, true, &ground, cx);
            read_it(session, req, &spec, request, cx);
        }
        Verdict::Ask => {
            if let Some(request) = gate::read_approved(session, &spec.path, request.ruling.as_ref(), cx) {
                audit::file(&request, true, &Ground::Granted, cx);
                return read_it(session, req, &spec, request, cx);
            }
            gate::read(session, req, Arc::new(spec), cx);
            permission::tell_ruling(session, req, request.ruling.as_ref());
            permission::tell_outside(session, req, request.ruling.map(|ruling| ruling.outside).unwrap_or_default());
        }
        Verdict::Refuse(ground) => {
            audit::file(&request, false, &ground, cx);
            refuse_file_because(session, FileVerb::Read, &spec.path, ground.words(), cx.now);
            fail(cx, req, ground.refusal(Subject::Path(spec.path)));
        }
    }
}

/// Has a file read that may be.
pub fn read_it(session: &mut Session, req: ReqId, spec: &ReadSpec, request: Request, cx: &mut Cx) {
    let ReadSpec { line, limit, counts, .. } = *spec;
    let (line, limit) = if counts {
        session.slices.insert(req, Slice { line, limit, request: request.clone() });
        (None, None)
    } else {
        (line, limit)
    };
    cx.push(Effect::FsRead { req, request: Box::new(request), line, limit });
}

fn write(
    session: &mut Session,
    req: ReqId,
    path: String,
    (content, how): (SharedText, WriteHow),
    ruling: Option<Ruling>,
    cx: &mut Cx,
) {
    let request = request_of(session, Deed::Write(path.as_str().into()), cx).ruled(ruling.clone());
    let verdict = judge(&request);
    if let Verdict::Refuse(ground) = verdict {
        audit::file(&request, false, &ground, cx);
        if !ruling::is_told(session, &path, false, &ground) {
            refuse_file_because(session, FileVerb::Write, &path, ground.words(), cx.now);
        }
        return fail(cx, req, ground.refusal(Subject::Path(path)));
    }
    let op = FileOp { verb: FileVerb::Write, path: path.clone(), outcome: FileOutcome::Pending, is_outside: false };
    let entry = session.entries.push(session.last_turn, cx.now, Body::File(op));
    if let Verdict::Allow(ground) = &verdict {
        audit::file(&request, true, ground, cx);
        if !ruling::is_told(session, &path, true, ground) {
            tell_rule(session, ground, &format!("write {path}"), cx);
        }
    }
    let is_stopped = verdict == Verdict::Ask;
    let stage = if is_stopped { Stage::Checking } else { Stage::Writing };
    let (named, text) = (path.as_str().into(), content.clone());
    let write = Write { entry, path: named, content: text, how, ruling, outside: None, stage };
    session.writes.insert(req, write);
    if is_stopped {
        return cx.push(Effect::CheckWrite { req, path });
    }
    cx.push(Effect::FsWrite { req, request: Box::new(request), content, how, entry });
}

fn run(session: &mut Session, req: ReqId, spec: Arc<TerminalSpec>, ruling: Option<Ruling>, cx: &mut Cx) {
    if session.changes.is_on {
        // What the person saves while it is decided is not the command's.
        cx.push(Effect::Review(ReviewCommand::CommandAsked));
    }
    let request = request_of(session, Deed::Run(Arc::clone(&spec)), cx).ruled(ruling);
    match judge(&request) {
        Verdict::Allow(ground) => {
            audit::command(&spec, true, &ground, cx);
            tell_rule(session, &ground, &format!("run {}", spec.line()), cx);
            session.creating.insert(req, Arc::clone(&spec));
            cx.push(Effect::TerminalCreate { req, request: Box::new(request), spec });
        }
        Verdict::Ask => {
            gate::run(session, req, spec, cx);
            permission::tell_ruling(session, req, request.ruling.as_ref());
        }
        Verdict::Refuse(ground) => {
            audit::command(&spec, false, &ground, cx);
            if let Ground::Flag(_) | Ground::Aside | Ground::Rule(_) | Ground::Mode(_) | Ground::NoRule = ground {
                let before = if ground == Ground::Aside { ", as" } else { " by" };
                let words = format!("refused{before} {}: run {}", ground.words(), spec.line());
                notice(session, Level::Warn, words, Vec::new(), cx.now);
            }
            fail(cx, req, ground.refusal(Subject::Command(spec.line())));
        }
    }
}

/// What a rule let through without a question is told; what is read is not, as it never is.
fn tell_rule(session: &mut Session, ground: &Ground, what: &str, cx: &Cx) {
    if let Ground::Rule(_) = ground {
        notice(session, Level::Info, format!("allowed by {}: {what}", ground.words()), Vec::new(), cx.now);
    }
}

/// What is to be judged, as things stand in the session now.
pub fn request_of(session: &Session, deed: Deed, cx: &Cx) -> Request {
    Request {
        agent: session.agent,
        session: cx.session(),
        cwd: session.cwd.as_str().into(),
        deed,
        place: Place::Unknown,
        policy: session.policy,
        mode: session.permission_mode(cx.now),
        is_aside: session.is_aside(),
        gate: session.gate(),
        is_stopping: session.turn.as_ref().is_some_and(|turn| turn.cancelling.is_some()),
        is_granted: false,
        ruling: None,
    }
}

pub fn refuse_file_because(session: &mut Session, verb: FileVerb, path: &str, why: String, now: Now) {
    let op = FileOp { verb, path: path.to_owned(), outcome: FileOutcome::Refused(why), is_outside: false };
    let entry = session.entries.push(session.last_turn, now, Body::File(op));
    session.entries.finish(entry);
}

/// A terminal of ours that the agent has not released.
fn known<'a>(session: &'a mut Session, id: &TermId) -> Option<&'a mut Terminal> {
    session.terminals.get_mut(id).filter(|t| t.origin == TerminalOrigin::Ours && !t.released)
}

fn unknown_terminal(id: &TermId) -> Refusal {
    Refusal::new(Reason::NotFound, "Terminal not found").about(Subject::Terminal(id.clone()))
}
