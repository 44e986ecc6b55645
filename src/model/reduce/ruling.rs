//! Requests that wait for what the rules say of them, and rules that the person makes while something is asked.
//!
//! The rules are asked elsewhere and answer with a fact. Invariant: each request that waits here goes on when that fact
//! comes, or is answered before, and never both.

use super::super::audit::{By, Decision, Matter, Outcome};
use super::super::changes::Gate;
use super::super::claims::{Claim, Claimed, Claims, Running};
use super::super::effect::{Answer, Effect, Withdrawal};
use super::super::entry::{Body, Level};
use super::super::event::AgentRequest;
use super::super::ids::{EntryId, ReqId};
use super::super::judge::Ground;
use super::super::question::{About, Asks, Offered, Question};
use super::super::refusal::{Reason, Refusal};
use super::super::ruling::{MadeRule, RuleWish, Ruled, Ruling, Scope, Unruled, Weighing};
use super::super::session::Session;
use super::super::terminal::TerminalOrigin;
use super::super::tool::{ToolCall, ToolStatus};
use super::Cx;
use super::{audit, notice, permission, service};
use crate::base::sanitize;
use std::path::Path;
use std::sync::Arc;

/// Requests of a session that are kept for looking back, and bytes of one.
const MAX_JUDGED: usize = 500;
const MAX_CLAIM: usize = 4 << 10;
/// The newest entries of a turn among which the call of a write is looked for.
const MAX_CALLS: usize = 200;

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
    let is_service_read = matches!(request, AgentRequest::ReadFile { .. });
    session.unruled.insert(req, Unruled::Service(Box::new(request)));
    keep(session, &claims);
    cx.push(Effect::AskRules { req, claims: Box::new(claims), is_service_read });
}

/// For the day on which the person wants to know what a rule would have been for.
fn keep(session: &mut Session, claims: &Claims) {
    if claims.size() > MAX_CLAIM {
        return;
    }
    if session.rules.judged.len() >= MAX_JUDGED {
        session.rules.judged.pop_front();
    }
    session.rules.judged.push_back(Arc::new(claims.clone()));
}

pub fn ask_permission(session: &mut Session, req: ReqId, entry: EntryId, offered: Offered, cx: &mut Cx) {
    let claims = Box::new(session.tool(entry).map(|tool| of_call(session, tool)).unwrap_or_default());
    session.unruled.insert(req, Unruled::Permission { entry, offered, claims: claims.clone() });
    note_judged(session, entry);
    keep(session, &claims);
    cx.push(Effect::AskRules { req, claims, is_service_read: false });
}

/// A call is over that nobody was asked about: the rules look at what it has done by itself. What runs in terminals of the
/// client was judged before.
pub fn look_back(session: &mut Session, entry: EntryId, cx: &mut Cx) {
    let is_live = session.turn.is_some() && !session.is_loading();
    if !session.rules.are_there || !is_live {
        return;
    }
    let is_to_judge = |tool: &&ToolCall| tool.status == ToolStatus::Completed && !tool.is_judged;
    let Some(tool) = session.tool(entry).filter(is_to_judge) else { return };
    let is_ours = |id| session.terminal(id).is_some_and(|terminal| terminal.origin == TerminalOrigin::Ours);
    if tool.terminals().any(is_ours) {
        return;
    }
    note_judged(session, entry);
    cx.push(Effect::LookBack(entry));
}

/// Rules need not look at this call once more when it is over.
fn note_judged(session: &mut Session, entry: EntryId) {
    session.entries.change(entry, |entry| {
        if let Body::Tool(tool) = &mut entry.body {
            tool.is_judged = true;
        }
    });
}

/// What a call that is over has done, as rules see it; nothing where it says nothing of that, or too much.
pub fn of_call_done(session: &Session, entry: EntryId) -> Option<Claims> {
    let claims = of_call(session, session.tool(entry)?);
    let says_something = claims.all.iter().any(|claim| claim.what != Claimed::Unknown);
    Some(claims).filter(|claims| says_something && claims.size() <= MAX_CLAIM)
}

/// Something that was asked for by the calls which run now was refused: what they say afterwards need not have happened.
pub fn refused(session: &mut Session) {
    let runs = |entry: &&EntryId| session.tool(**entry).is_some_and(|tool| !tool.is_finished());
    let running: Vec<EntryId> = session.newest_tool.values().filter(runs).copied().collect();
    for entry in running {
        note_judged(session, entry);
    }
}

/// Whether a call of this turn that names the file says already that this rule has decided so.
pub fn is_told(session: &Session, path: &str, allows: bool, ground: &Ground) -> bool {
    let by = ground.words();
    let names = |claim: &Claim| match &claim.what {
        Claimed::Paths(paths) => paths.iter().any(|named| Path::new(&session.cwd).join(named) == Path::new(path)),
        _ => false,
    };
    let says = |tool: &ToolCall| {
        let is_it = tool.decided.as_ref().is_some_and(|decided| decided.allows == allows && *decided.by == by);
        is_it && of_call(session, tool).all.iter().any(names)
    };
    let here = session.entries.iter().rev().take_while(|entry| entry.turn == session.last_turn).take(MAX_CALLS);
    matches!(ground, Ground::Rule(_)) && here.filter_map(|entry| session.tool(entry.id)).any(says)
}

/// What a call has done by itself a rule denies.
pub fn ran_denied(session: &mut Session, entry: EntryId, ruling: &Ruling, cx: &mut Cx) {
    let Some(tool) = session.tool(entry) else { return };
    let claims = of_call(session, tool);
    let (did, what) = claims.all.first().map_or(("went on", String::new()), |claim| did(claim));
    let by = ruling.rule.clone().unwrap_or_else(|| ruling.words());
    let words = format!("{did} without asking: {}, which {by} denies", sanitize::line(&what));
    notice(session, Level::Warn, words, Vec::new(), cx.now);
}

/// What a call did, in words.
fn did(claim: &Claim) -> (&'static str, String) {
    let did = match claim.tool.as_str() {
        "read" | "search" | "grep" | "glob" => "read",
        "edit" | "write" | "delete" | "move" => "changed",
        _ => "ran",
    };
    let what = match &claim.what {
        Claimed::Line(text) | Claimed::Text(text) => text.clone(),
        Claimed::Words(words) => words.join(" "),
        Claimed::Paths(paths) => paths.join(", "),
        Claimed::Unknown => String::new(),
    };
    (did, what)
}

/// The decision hook may take its time over this: the person can answer meanwhile.
pub fn hook_asked(session: &mut Session, req: ReqId, cx: &mut Cx) {
    let as_before =
        |entry: EntryId, claims: &Claims| session.tool(entry).is_none_or(|tool| of_call(session, tool) == *claims);
    let waits = match session.unruled.get(&req) {
        Some(Unruled::Permission { entry, offered, claims }) => {
            as_before(*entry, claims) && permission::would_ask(session, *entry, offered, cx)
        }
        Some(Unruled::Service(_)) | None => false,
    };
    if waits && let Some(Unruled::Permission { entry, offered, .. }) = session.unruled.remove(&req) {
        permission::wait(session, req, entry, About::Permission, offered, cx);
    }
    let Some(question) = session.questions.iter_mut().find(|question| question.req == req) else { return };
    question.is_hook_asked = true;
    // What is said of it is about what it is now.
    question.ruling = question.ruling.max(Asks::Yes);
    session.entries.touch(question.entry);
}

/// The rules have spoken.
pub fn ruled(session: &mut Session, req: ReqId, ruling: Ruling, cx: &mut Cx) {
    let is_stale = session.rules.stale.remove(&req);
    match session.unruled.remove(&req) {
        // The rules have changed since they were asked.
        Some(Unruled::Permission { entry, offered, .. }) if is_stale => {
            ask_permission(session, req, entry, offered, cx);
        }
        Some(Unruled::Service(request)) if is_stale => ask(session, req, *request, cx),
        Some(Unruled::Permission { entry, offered, claims })
            if session.tool(entry).is_some_and(|tool| of_call(session, tool) != *claims) =>
        {
            ask_permission(session, req, entry, offered, cx);
        }
        Some(Unruled::Permission { entry, offered, .. }) => {
            permission::decided(session, req, entry, offered, Some(ruling), cx);
        }
        Some(Unruled::Service(request)) => {
            if ruling.verdict >= Ruled::Ask {
                refused(session);
            }
            service::decided(session, req, *request, Some(ruling), cx);
        }
        // Asked once more because the rules have changed, or answered meanwhile.
        None => permission::resolve(session, req, ruling, cx),
    }
}

/// A call of the agent's with what runs in its terminals.
pub(super) fn of_call(session: &Session, tool: &ToolCall) -> Claims {
    let terminals = tool.terminals().filter_map(|id| session.terminal(id));
    let told = terminals.filter(|terminal| terminal.origin != TerminalOrigin::Ours && !terminal.command.is_empty());
    let running: Vec<Running<'_>> =
        told.map(|terminal| Running { command: &terminal.command, cwd: &terminal.cwd }).collect();
    Claims::of_tool(tool, &running)
}

/// What a question is about, as rules see it.
pub fn of_question(session: &Session, question: &Question) -> Option<Claims> {
    match &question.about {
        About::Permission => session.tool(question.entry).map(|tool| of_call(session, tool)),
        About::Write => session.write(question.req).map(|write| Claims::of_file("write", &write.path)),
        About::Read(read) => Some(Claims::of_file("read", &read.path)),
        About::Run(spec) => Some(Claims::of_command(spec)),
        About::Asked { .. } => None,
    }
}

fn waiting(session: &Session) -> Vec<(ReqId, Claims)> {
    let of = |question: &Question| Some((question.req, of_question(session, question)?));
    session.questions.iter().filter_map(of).collect()
}

pub fn wanted(session: &mut Session, wish: RuleWish, cx: &mut Cx) {
    match wish {
        RuleWish::Weigh { req, list, text } => weigh(session, req, list, text, cx),
        RuleWish::Make(rules) => cx.push(Effect::MakeRules(rules)),
        RuleWish::List => list(session, cx),
        RuleWish::Drop(rule) => drop_rule(session, rule, cx),
    }
}

/// The person wants to know what rules would do.
fn weigh(session: &mut Session, req: ReqId, list: Ruled, text: Option<String>, cx: &mut Cx) {
    if !session.rules.are_there {
        return;
    }
    if session.rules.weighing.as_ref().is_some_and(|weighing| weighing.req != req || text.is_none()) {
        session.rules.weighing = None;
    }
    let past = session.rules.judged.iter().cloned().collect();
    cx.push(Effect::WeighRules { req, list, text, waiting: waiting(session), past });
}

pub fn weighed(session: &mut Session, weighing: Weighing) {
    match &mut session.rules.weighing {
        Some(before) if before.req == weighing.req && weighing.typed.is_some() => before.typed = weighing.typed,
        // What was typed meanwhile may have been weighed first.
        Some(before) if before.req == weighing.req => *before = Weighing { typed: before.typed.take(), ..weighing },
        before => *before = Some(weighing),
    }
}

/// The person has made rules: they hold at once, for what waits too.
pub fn held(session: &mut Session, rules: Vec<MadeRule>, cx: &mut Cx) {
    session.rules.unkept.extend(rules);
    rules_changed(session, cx);
}

/// They are kept; or they hold for the session alone.
pub fn made(session: &mut Session, made: Vec<MadeRule>, unkept: Vec<MadeRule>, fault: Option<String>, cx: &mut Cx) {
    if let Some(fault) = fault {
        let what = if unkept.is_empty() { "the rule is not kept" } else { "the rule holds for this session only" };
        notice(session, Level::Warn, format!("{what}: {fault}"), Vec::new(), cx.now);
    }
    session.rules.unkept.retain(|rule| !made.contains(rule) && !unkept.contains(rule));
    let unkept = unkept.into_iter().map(|rule| MadeRule { scope: Scope::Session, ..rule });
    for rule in made.into_iter().chain(unkept) {
        notice(session, Level::Info, format!("rule: {}", rule.words()), Vec::new(), cx.now);
        tell(&rule, rule.list.into(), cx);
        session.rules.made.retain(|before| *before != rule);
        session.rules.made.push(rule);
    }
    rules_changed(session, cx);
}

/// They may have been changed elsewhere since they were read.
fn list(session: &mut Session, cx: &mut Cx) {
    if session.rules.are_there {
        session.rules.kept = None;
        cx.push(Effect::ListRules);
    }
}

/// Rules for a turn or a session are only here.
fn drop_rule(session: &mut Session, rule: MadeRule, cx: &mut Cx) {
    if rule.scope.is_kept() {
        return cx.push(Effect::DropRule(rule));
    }
    dropped(session, rule, None, cx);
}

pub fn dropped(session: &mut Session, rule: MadeRule, fault: Option<String>, cx: &mut Cx) {
    if let Some(fault) = fault {
        notice(session, Level::Warn, format!("the rule still holds: {fault}"), Vec::new(), cx.now);
        return;
    }
    tell(&rule, Outcome::Removed, cx);
    session.rules.made.retain(|made| *made != rule);
    session.rules.kept.iter_mut().for_each(|kept| kept.retain(|kept| *kept != rule));
    notice(session, Level::Info, format!("no rule any more: {}", rule.words()), Vec::new(), cx.now);
}

fn tell(rule: &MadeRule, verdict: Outcome, cx: &mut Cx) {
    audit::tell(cx, || {
        let scope = Some(rule.scope.words().to_owned());
        Decision { scope, ..Decision::new(Matter::Rule, rule.pattern.clone(), verdict, By::Person) }
    });
}

/// The rules say something else now, also of what they are being asked about.
pub fn rules_changed(session: &mut Session, cx: &mut Cx) {
    session.rules.stale = session.unruled.keys().copied().collect();
    changed(session, cx);
}

/// What is asked may be answered by the rules now.
pub fn changed(session: &mut Session, cx: &mut Cx) {
    let asked: Vec<ReqId> = session.questions.iter().map(|question| question.req).collect();
    for req in asked {
        ask_again(session, req, cx);
    }
}

/// What a call says that a question is about, where there are rules.
pub fn claimed(session: &Session, entry: EntryId) -> Option<Claims> {
    let is_asked = session.questions.iter().any(|question| question.entry == entry);
    if session.rules.are_there && is_asked { session.tool(entry).map(|tool| of_call(session, tool)) } else { None }
}

/// The call that these questions are about says something else now.
pub fn call_changed(session: &mut Session, entry: EntryId, cx: &mut Cx) {
    let asked = session.questions.iter().filter(|question| question.entry == entry);
    let asked: Vec<ReqId> = asked.map(|question| question.req).collect();
    for req in asked {
        ask_again(session, req, cx);
    }
}

/// Asks the rules about a question that waits: once more after what they are asked about now, if they are.
fn ask_again(session: &mut Session, req: ReqId, cx: &mut Cx) {
    let Some(at) = session.questions.iter().position(|question| question.req == req) else { return };
    let claims = session.questions.get(at).and_then(|question| of_question(session, question));
    let (Some(claims), Some(question)) = (claims, session.questions.get_mut(at)) else { return };
    if question.ruling == Asks::No {
        question.ruling = Asks::Yes;
        cx.push(Effect::AskRules { req, claims: Box::new(claims), is_service_read: false });
    } else {
        question.ruling = Asks::Stale;
    }
}

/// The rules have spoken of a question. Whether that was about what it is no more: then they are asked again.
pub fn is_stale(session: &mut Session, req: ReqId, cx: &mut Cx) -> bool {
    let Some(question) = session.questions.iter_mut().find(|question| question.req == req) else { return false };
    let is_stale = std::mem::take(&mut question.ruling) == Asks::Stale;
    if std::mem::take(&mut question.is_hook_asked) {
        session.entries.touch(question.entry);
    }
    if is_stale {
        ask_again(session, req, cx);
    }
    is_stale
}

/// Rules for a turn end with it.
pub fn turn_over(session: &mut Session) {
    session.rules.made.retain(|rule| rule.scope != Scope::Turn);
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

/// The agent is gone: its requests need no answer.
pub fn void_all(session: &mut Session, cx: &mut Cx) {
    for req in std::mem::take(&mut session.unruled).into_keys() {
        cx.push(Effect::Void(req));
    }
}
