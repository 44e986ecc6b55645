//! Permission requests: shown until they are answered, withdrawn or overtaken; each is answered exactly once.

use super::super::Model;
use super::super::effect::{Answer, Effect, FrontEnd};
use super::super::entry::{Body, Level};
use super::super::event::{PermissionKind, PermissionOption};
use super::super::ids::{EntryId, Now, ReqId};
use super::super::refusal::{Reason, Refusal};
use super::super::session::{About, Allow, PendingPermission, Policy};
use super::super::tool::{ToolContent, ToolKind, ToolPatch};
use super::{gate, notice, review, tool};

pub fn asked(
    model: &mut Model,
    req: ReqId,
    patch: ToolPatch,
    options: Vec<PermissionOption>,
    now: Now,
    out: &mut Vec<Effect>,
) {
    let entry = tool::upsert(model, patch, tool::Source::Permission, now, out);
    if model.session.turn.as_ref().is_some_and(|t| t.cancelling.is_some()) {
        return out.push(Effect::Respond { req, answer: Answer::Cancelled });
    }
    if let Policy::Auto(allow) = model.policy {
        return decide(model, allow, req, entry, &options, now, out);
    }
    if model.tool(entry).is_some_and(|tool| tool.cut) {
        let error = Refusal::new(Reason::TooLarge, "Too large: the call that is asked about cannot be shown whole");
        out.push(Effect::Respond { req, answer: Answer::Error(error) });
        let label = model.tool(entry).map_or_else(String::new, |t| t.label().to_owned());
        let words = format!("asked about a call that cannot be shown whole; refused: {label}");
        notice(model, Level::Warn, words, Vec::new(), now);
        return;
    }
    if options.is_empty() {
        // there is nothing that could be chosen.
        out.push(Effect::Respond { req, answer: Answer::Cancelled });
        let label = model.tool(entry).map_or_else(String::new, |t| t.label().to_owned());
        notice(model, Level::Warn, format!("asked for permission without any option: {label}"), Vec::new(), now);
        return;
    }
    wait(model, req, entry, About::Tool, options, now, out);
}

/// Puts a question into the dock.
pub fn wait(
    model: &mut Model,
    req: ReqId,
    entry: EntryId,
    about: About,
    options: Vec<PermissionOption>,
    now: Now,
    out: &mut Vec<Effect>,
) {
    let note = model.session.turn.is_none().then(|| "asked outside of a turn".to_owned());
    let has_diff = match &about {
        About::Tool => model.tool(entry).is_some_and(|t| t.content.iter().any(is_diff)),
        About::Write { .. } | About::Held { .. } => true,
        About::Run(_) => false,
    };
    let pending = PendingPermission { req, entry, about, options, at: now, note, truths: Vec::new(), asked: 0 };
    model.session.pending.push(pending);
    model.entries.touch(entry);
    out.push(Effect::FrontEnd(FrontEnd::Asked(req)));
    if has_diff {
        review::ask_truth(model, req, out);
    }
}

fn is_diff(content: &ToolContent) -> bool {
    matches!(content, ToolContent::Diff { .. })
}

/// `--allow`: allowing takes allow_once, else allow_always; refusing takes reject_once, else `cancelled`; an
/// unknown kind of option never allows, and reject_always is never chosen.
fn decide(
    model: &mut Model,
    allow: Allow,
    req: ReqId,
    entry: EntryId,
    options: &[PermissionOption],
    now: Now,
    out: &mut Vec<Effect>,
) {
    let kind = model.tool(entry).map_or(ToolKind::Other, |t| t.kind);
    let allowed = match allow {
        Allow::All => true,
        Allow::Reads => matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think),
        Allow::None => false,
    };
    let wanted: &[PermissionKind] =
        if allowed { &[PermissionKind::AllowOnce, PermissionKind::AllowAlways] } else { &[PermissionKind::RejectOnce] };
    let chosen = wanted.iter().find_map(|kind| options.iter().find(|o| o.kind == *kind));
    let label = model.tool(entry).map_or_else(String::new, |t| t.label().to_owned());
    let (words, answer) = match chosen {
        Some(option) if allowed => ("allowed", Answer::Selected(option.id.clone())),
        Some(option) => ("refused", Answer::Selected(option.id.clone())),
        None => ("refused", Answer::Cancelled),
    };
    out.push(Effect::Respond { req, answer });
    notice(model, Level::Info, format!("{words} by --allow {}: {label}", allow.name()), Vec::new(), now);
}

/// The person's answer. A second one, or one for an option that was not offered, changes nothing.
pub fn answer(model: &mut Model, req: ReqId, option: String, out: &mut Vec<Effect>) {
    let Some(at) = model.session.pending.iter().position(|p| p.req == req) else { return };
    if !model.session.pending.get(at).is_some_and(|p| p.options.iter().any(|o| o.id == option)) {
        return;
    }
    let pending = model.session.pending.remove(at);
    let is_no = |o: &PermissionOption| matches!(o.kind, PermissionKind::RejectOnce | PermissionKind::RejectAlways);
    let refused = pending.options.iter().any(|o| o.id == option && is_no(o));
    model.entries.change(pending.entry, |e| {
        if let Body::Tool(tool) = &mut e.body {
            tool.refused = refused;
            tool.learn(&pending.truths);
        }
    });
    if pending.about == About::Tool {
        // Before the agent can go on: what has changed while it waited is not its doing.
        review::tool(model, pending.entry, out);
        return out.push(Effect::Respond { req, answer: Answer::Selected(option) });
    }
    gate::answered(model, pending, option == gate::ALLOW, out);
}

/// Withdrawn by the agent: a dialog closes with `cancelled`, a wait for an exit fails; anything
/// else is answered by itself.
pub fn withdrawn_by_agent(model: &mut Model, req: ReqId, now: Now, out: &mut Vec<Effect>) {
    if let Some(at) = model.session.pending.iter().position(|p| p.req == req) {
        let pending = model.session.pending.remove(at);
        return close(model, &pending, "the agent withdrew it", now, out);
    }
    if gate::withdrawn(model, req, out) {
        return;
    }
    for terminal in model.terminals.values_mut() {
        if let Some(at) = terminal.waiters.iter().position(|w| *w == req) {
            terminal.waiters.remove(at);
            let error = Refusal::new(Reason::Cancelled, "Request cancelled");
            return out.push(Effect::Respond { req, answer: Answer::Error(error) });
        }
    }
}

/// The turn has ended before the person answered (fact 11).
pub fn close_all(model: &mut Model, why: &str, now: Now, out: &mut Vec<Effect>) {
    for pending in std::mem::take(&mut model.session.pending) {
        close(model, &pending, why, now, out);
    }
    gate::close_all(model, why, out);
}

/// Questions of the agent about this call are no longer asked.
pub fn close_about(model: &mut Model, entry: EntryId, why: &str, now: Now, out: &mut Vec<Effect>) {
    while let Some(at) = model.session.pending.iter().position(|p| p.entry == entry && p.about == About::Tool) {
        let pending = model.session.pending.remove(at);
        close(model, &pending, why, now, out);
    }
}

/// The person has stopped the turn.
pub fn cancel_all(model: &mut Model, out: &mut Vec<Effect>) {
    for pending in std::mem::take(&mut model.session.pending) {
        if !gate::close(model, &pending, "the turn was stopped", out) {
            out.push(Effect::Respond { req: pending.req, answer: Answer::Cancelled });
        }
        model.entries.touch(pending.entry);
    }
    gate::close_all(model, "the turn was stopped", out);
}

pub(super) fn close(model: &mut Model, pending: &PendingPermission, why: &str, now: Now, out: &mut Vec<Effect>) {
    if !gate::close(model, pending, why, out) {
        out.push(Effect::Respond { req: pending.req, answer: Answer::Cancelled });
    }
    let label = match &pending.about {
        About::Tool => model.tool(pending.entry).map_or_else(String::new, |t| t.label().to_owned()),
        About::Write { path, .. } | About::Held { path, .. } => format!("write {path}"),
        About::Run(spec) => format!("run {}", spec.line()),
    };
    let words = format!("no longer asked, {why}: {label}");
    model.entries.touch(pending.entry);
    notice(model, Level::Info, words.clone(), Vec::new(), now);
    out.push(Effect::FrontEnd(FrontEnd::Withdrawn(words)));
}

/// The agent is gone: nobody waits for an answer.
pub fn void_all(model: &mut Model, out: &mut Vec<Effect>) {
    for pending in std::mem::take(&mut model.session.pending) {
        model.entries.touch(pending.entry);
        if !gate::void(model, &pending) {
            out.push(Effect::Void(pending.req));
        }
    }
    gate::void_all(model, out);
}
