//! Permission requests: shown until they are answered, withdrawn or overtaken; each is answered exactly once.

use super::super::effect::{Answer, Effect, FrontEnd, Withdrawal, Withdrawn};
use super::super::entry::{Body, Level};
use super::super::event::{PermissionKind, PermissionOption};
use super::super::ids::{EntryId, ReqId};
use super::super::refusal::{Reason, Refusal};
use super::super::session::{About, Allow, PendingPermission, Policy, Session};
use super::super::tool::{ToolKind, ToolPatch};
use super::Cx;
use super::{gate, notice, review, tool};

pub fn asked(session: &mut Session, req: ReqId, patch: ToolPatch, options: Vec<PermissionOption>, cx: &mut Cx) {
    let entry = tool::upsert(session, patch, tool::Source::Permission, cx);
    if session.turn.as_ref().is_some_and(|t| t.cancelling.is_some()) {
        return cx.push(Effect::Respond { req, answer: Answer::Cancelled });
    }
    if let Policy::Auto(allow) = session.policy {
        return decide(session, allow, req, entry, &options, cx);
    }
    if session.tool(entry).is_some_and(|tool| tool.cut) {
        let error = Refusal::new(Reason::TooLarge, "Too large: the call that is asked about cannot be shown whole");
        cx.push(Effect::Respond { req, answer: Answer::Error(error) });
        let label = session.tool(entry).map_or_else(String::new, |t| t.label().to_owned());
        let words = format!("asked about a call that cannot be shown whole; refused: {label}");
        notice(session, Level::Warn, words, Vec::new(), cx.now);
        return;
    }
    if options.is_empty() {
        // there is nothing that could be chosen.
        cx.push(Effect::Respond { req, answer: Answer::Cancelled });
        let label = session.tool(entry).map_or_else(String::new, |t| t.label().to_owned());
        notice(session, Level::Warn, format!("asked for permission without any option: {label}"), Vec::new(), cx.now);
        return;
    }
    wait(session, req, entry, About::Tool, options, cx);
}

/// Puts a question into the dock.
pub fn wait(
    session: &mut Session,
    req: ReqId,
    entry: EntryId,
    about: About,
    options: Vec<PermissionOption>,
    cx: &mut Cx,
) {
    let note = session.turn.is_none().then(|| "asked outside of a turn".to_owned());
    let has_diff = match &about {
        About::Tool => session.tool(entry).is_some_and(|t| t.texts().next().is_some()),
        About::Write { .. } | About::Held { .. } => true,
        About::Run(_) => false,
    };
    let pending = PendingPermission { req, entry, about, options, at: cx.now, note, truths: Vec::new(), asked: 0 };
    session.pending.push(pending);
    session.entries.touch(entry);
    cx.push(Effect::FrontEnd(FrontEnd::Asked(req)));
    if has_diff {
        review::ask_truth(session, req, cx);
    }
}

/// `--allow`: allowing takes allow_once, else allow_always; refusing takes reject_once, else `cancelled`; an
/// unknown kind of option never allows, and reject_always is never chosen.
fn decide(session: &mut Session, allow: Allow, req: ReqId, entry: EntryId, options: &[PermissionOption], cx: &mut Cx) {
    let kind = session.tool(entry).map_or(ToolKind::Other, |t| t.kind);
    let allowed = match allow {
        Allow::All => true,
        Allow::Reads => matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think),
        Allow::None => false,
    };
    let wanted: &[PermissionKind] =
        if allowed { &[PermissionKind::AllowOnce, PermissionKind::AllowAlways] } else { &[PermissionKind::RejectOnce] };
    let chosen = wanted.iter().find_map(|kind| options.iter().find(|o| o.kind == *kind));
    let label = session.tool(entry).map_or_else(String::new, |t| t.label().to_owned());
    let (words, answer) = match chosen {
        Some(option) if allowed => ("allowed", Answer::Selected(option.id.clone())),
        Some(option) => ("refused", Answer::Selected(option.id.clone())),
        None => ("refused", Answer::Cancelled),
    };
    cx.push(Effect::Respond { req, answer });
    notice(session, Level::Info, format!("{words} by --allow {}: {label}", allow.name()), Vec::new(), cx.now);
}

/// The person's answer. A second one, or one for an option that was not offered, changes nothing.
pub fn answer(session: &mut Session, req: ReqId, option: String, cx: &mut Cx) {
    let Some(at) = session.pending.iter().position(|p| p.req == req) else { return };
    if !session.pending.get(at).is_some_and(|p| p.options.iter().any(|o| o.id == option)) {
        return;
    }
    let pending = session.pending.remove(at);
    let is_no = |o: &PermissionOption| matches!(o.kind, PermissionKind::RejectOnce | PermissionKind::RejectAlways);
    let refused = pending.options.iter().any(|o| o.id == option && is_no(o));
    session.entries.change(pending.entry, |e| {
        if let Body::Tool(tool) = &mut e.body {
            tool.refused = refused;
            tool.learn(&pending.truths);
        }
    });
    if pending.about == About::Tool {
        // Before the agent can go on: what has changed while it waited is not its doing.
        review::tool(session, pending.entry, cx);
        return cx.push(Effect::Respond { req, answer: Answer::Selected(option) });
    }
    gate::answered(session, pending, option == gate::ALLOW, cx);
}

/// Withdrawn by the agent: a dialog closes with `cancelled`, a wait for an exit fails; anything
/// else is answered by itself. False: it is not of this session.
pub fn withdrawn_by_agent(session: &mut Session, req: ReqId, cx: &mut Cx) -> bool {
    if let Some(at) = session.pending.iter().position(|p| p.req == req) {
        let pending = session.pending.remove(at);
        close(session, &pending, Withdrawal::ByAgent, cx);
        return true;
    }
    if gate::withdrawn(session, req, cx) {
        return true;
    }
    for terminal in session.terminals.values_mut() {
        if let Some(at) = terminal.waiters.iter().position(|w| *w == req) {
            terminal.waiters.remove(at);
            let error = Refusal::new(Reason::Cancelled, "Request cancelled");
            cx.push(Effect::Respond { req, answer: Answer::Error(error) });
            return true;
        }
    }
    false
}

/// The turn has ended before the person answered (fact 11).
pub fn close_all(session: &mut Session, why: Withdrawal, cx: &mut Cx) {
    for pending in std::mem::take(&mut session.pending) {
        close(session, &pending, why, cx);
    }
    gate::close_all(session, why, cx);
}

/// Questions of the agent about this call are no longer asked.
pub fn close_about(session: &mut Session, entry: EntryId, why: Withdrawal, cx: &mut Cx) {
    while let Some(at) = session.pending.iter().position(|p| p.entry == entry && p.about == About::Tool) {
        let pending = session.pending.remove(at);
        close(session, &pending, why, cx);
    }
}

/// The turn or the session is stopped; that says what became of the questions.
pub fn cancel_all(session: &mut Session, why: Withdrawal, cx: &mut Cx) {
    for pending in std::mem::take(&mut session.pending) {
        if !gate::close(session, &pending, why, cx) {
            cx.push(Effect::Respond { req: pending.req, answer: Answer::Cancelled });
        }
        session.entries.touch(pending.entry);
    }
    gate::close_all(session, why, cx);
}

pub(super) fn close(session: &mut Session, pending: &PendingPermission, why: Withdrawal, cx: &mut Cx) {
    if !gate::close(session, pending, why, cx) {
        cx.push(Effect::Respond { req: pending.req, answer: Answer::Cancelled });
    }
    let about = match &pending.about {
        About::Tool => session.tool(pending.entry).map_or_else(String::new, |t| t.label().to_owned()),
        About::Write { path, .. } | About::Held { path, .. } => format!("write {path}"),
        About::Run(spec) => format!("run {}", spec.line()),
    };
    session.entries.touch(pending.entry);
    notice(session, Level::Info, format!("no longer asked, {}: {about}", why.words()), Vec::new(), cx.now);
    cx.push(Effect::FrontEnd(FrontEnd::Withdrawn(Withdrawn { why, about })));
}

/// The agent is gone: nobody waits for an answer.
pub fn void_all(session: &mut Session, cx: &mut Cx) {
    for pending in std::mem::take(&mut session.pending) {
        session.entries.touch(pending.entry);
        if !gate::void(session, &pending) {
            cx.push(Effect::Void(pending.req));
        }
    }
    gate::void_all(session, cx);
}
