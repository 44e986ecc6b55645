//! Gates: writes and commands of the client that wait until the person has let them through.
//!
//! Asks and answers; what a path means and what is on the disk is found out elsewhere. Invariant: each request that a
//! gate has stopped gets exactly one answer, whichever of answer, cancel, withdrawal and death comes first.

use super::super::Model;
use super::super::changes::{Gate, HeldOutcome};
use super::super::effect::{Answer, Effect, ReviewEffect};
use super::super::entry::{Body, FileOutcome, Level, Notice};
use super::super::event::{PermissionKind, PermissionOption, TerminalSpec, WriteFact};
use super::super::ids::{EntryId, Now, ReqId};
use super::super::refusal::{Reason, Refusal, Subject};
use super::super::session::{About, HeldPrompt, PendingPermission};
use super::{host, notice, permission, review};
use std::sync::Arc;

/// Ids of the two answers to a question of our own.
pub const ALLOW: &str = "allow";
pub const REJECT: &str = "reject";
/// Bytes of a difference that an agent is told.
const MAX_DIFFERS: usize = 8 << 10;

/// How the prompt begins that tells the agent of writes that the person has changed. The write itself is answered as
/// done: measured with real agents, Gemini CLI shows its model an error of this sort as "[object Object]" and takes the
/// write for failed, while a prompt is understood by all of them.
const ALTERED: &str = "I reviewed what you wrote and changed it; these files were written, but not as you proposed. The \
                       difference between your proposal and what is on the disk now:";

/// How far a write has come that a gate has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gated {
    /// Whether it is possible at all is being looked up.
    Checking,
    Asked,
    /// The same, and the review keeps what was on the disk then, for when the person has changed it meanwhile.
    Kept,
    /// The person has allowed it; the review writes.
    Allowed,
    /// The review has it.
    Holding,
}

impl Gated {
    /// Whether the review has to let go of it.
    const fn is_in_review(self) -> bool {
        matches!(self, Self::Kept | Self::Allowed | Self::Holding)
    }
}

fn is_cancelling(model: &Model) -> bool {
    model.session.turn.as_ref().is_some_and(|t| t.cancelling.is_some())
}

fn cancelled() -> Refusal {
    Refusal::new(Reason::Cancelled, "Request cancelled")
}

fn denied(about: Subject) -> Refusal {
    let (Subject::Path(what) | Subject::Command(what)) = &about else {
        return Refusal::new(Reason::DeniedByUser, "refused by the user");
    };
    Refusal::new(Reason::DeniedByUser, format!("refused by the user: {what}")).about(about)
}

/// A write that must not happen at once; its entry and text are among `writes`.
pub fn write(model: &mut Model, req: ReqId, path: String, out: &mut Vec<Effect>) {
    model.gated.insert(req, Gated::Checking);
    if is_cancelling(model) {
        return end_write(model, req, "the turn was stopped", Some(cancelled()), out);
    }
    out.push(Effect::CheckWrite { req, path });
}

/// Nobody is asked about what would be refused anyway.
pub fn checked(
    model: &mut Model,
    req: ReqId,
    path: String,
    result: Result<(), Refusal>,
    now: Now,
    out: &mut Vec<Effect>,
) {
    if model.gated.get(&req) != Some(&Gated::Checking) {
        return;
    }
    let Some((entry, content)) = model.writes.get(&req).cloned() else { return };
    if let Err(error) = result {
        model.gated.remove(&req);
        return host::file_written(model, req, Err(error), out);
    }
    match model.gate() {
        Gate::Off => {
            model.gated.remove(&req);
            out.push(Effect::FsWrite { req, path, content, entry });
        }
        Gate::Hold if model.changes.is_on => {
            model.gated.insert(req, Gated::Holding);
            out.push(Effect::Review(ReviewEffect::Hold { req, path, content, entry, asked: false }));
        }
        Gate::Ask | Gate::Hold => {
            let state = if model.changes.is_on { Gated::Kept } else { Gated::Asked };
            model.gated.insert(req, state);
            let about = About::Write { path: path.clone(), content: Arc::clone(&content) };
            ask(model, req, entry, about, now, out);
            if state == Gated::Kept {
                // After the question what it would do: that is what the person waits for.
                out.push(Effect::Review(ReviewEffect::Hold { req, path, content, entry, asked: true }));
            }
        }
    }
}

/// The review has taken the write.
pub fn held(model: &mut Model, req: ReqId, now: Now, out: &mut Vec<Effect>) {
    if model.gated.get(&req) != Some(&Gated::Holding) {
        return;
    }
    if let Some((entry, path, content)) = wanted(model, req) {
        ask(model, req, entry, About::Held { path, content }, now, out);
    }
}

/// The entry of a stopped write, its path and its text.
fn wanted(model: &Model, req: ReqId) -> Option<(EntryId, String, Arc<str>)> {
    let (entry, content) = model.writes.get(&req).cloned()?;
    match &model.entries.get(entry)?.body {
        Body::File(op) => Some((entry, op.path.clone(), content)),
        _ => None,
    }
}

/// The review cannot compare this write with the disk; the person's answer alone decides.
pub fn not_kept(model: &mut Model, req: ReqId, out: &mut Vec<Effect>) {
    match model.gated.get(&req) {
        Some(Gated::Kept) => {
            model.gated.insert(req, Gated::Asked);
        }
        Some(Gated::Allowed) => {
            model.gated.remove(&req);
            if let Some((entry, path, content)) = wanted(model, req) {
                out.push(Effect::FsWrite { req, path, content, entry });
            }
        }
        _ => {}
    }
}

/// The person has changed the file while the write waited, and in the same lines: it is asked about once more.
pub fn again(model: &mut Model, req: ReqId, now: Now, out: &mut Vec<Effect>) {
    let Some(state) = model.gated.get(&req).copied().filter(|s| s.is_in_review()) else { return };
    if model.session.pending.iter().any(|p| p.req == req) {
        return review::ask_truth(model, req, out);
    }
    let Some((entry, path, content)) = wanted(model, req) else { return };
    let about = if state == Gated::Holding { About::Held { path, content } } else { About::Write { path, content } };
    if state == Gated::Allowed {
        model.gated.insert(req, Gated::Kept);
    }
    ask(model, req, entry, about, now, out);
}

/// A command that must not run at once.
pub fn run(model: &mut Model, req: ReqId, spec: TerminalSpec, now: Now, out: &mut Vec<Effect>) {
    if is_cancelling(model) {
        return out.push(Effect::Respond { req, answer: Answer::Error(cancelled()) });
    }
    let entry = notice(model, Level::Info, format!("asks to run: {}", spec.line()), Vec::new(), now);
    ask(model, req, entry, About::Run(spec), now, out);
}

fn ask(model: &mut Model, req: ReqId, entry: EntryId, about: About, now: Now, out: &mut Vec<Effect>) {
    let allow = if matches!(about, About::Run(_)) { "Run it" } else { "Write it" };
    let option = |id: &str, name: &str, kind| PermissionOption { id: id.to_owned(), name: name.to_owned(), kind };
    let options =
        vec![option(ALLOW, allow, PermissionKind::AllowOnce), option(REJECT, "Refuse", PermissionKind::RejectOnce)];
    permission::wait(model, req, entry, about, options, now, out);
}

/// The person's answer to a question of our own.
pub fn answered(model: &mut Model, pending: PendingPermission, allowed: bool, out: &mut Vec<Effect>) {
    let PendingPermission { req, entry, about, .. } = pending;
    match about {
        // Answered with an option of the agent's.
        About::Tool => {}
        About::Held { .. } => out.push(Effect::Review(ReviewEffect::DecideHeld { req, write: allowed })),
        About::Write { .. } if allowed && model.gated.get(&req) == Some(&Gated::Kept) => {
            model.gated.insert(req, Gated::Allowed);
            out.push(Effect::Review(ReviewEffect::DecideHeld { req, write: true }));
        }
        About::Write { path, content } if allowed => {
            model.gated.remove(&req);
            out.push(Effect::FsWrite { req, path, content, entry });
        }
        About::Write { path, .. } => end_write(model, req, "refused by you", Some(denied(Subject::Path(path))), out),
        About::Run(spec) if allowed => {
            retell(model, entry, Level::Info, format!("allowed by you: {}", spec.line()));
            model.creating.insert(req, spec.clone());
            out.push(Effect::TerminalCreate { req, spec });
        }
        About::Run(spec) => {
            let line = spec.line();
            retell(model, entry, Level::Warn, format!("refused by you: {line}"));
            out.push(Effect::Respond { req, answer: Answer::Error(denied(Subject::Command(line))) });
        }
    }
}

fn retell(model: &mut Model, entry: EntryId, level: Level, title: String) {
    model.entries.change(entry, |e| e.body = Body::Notice(Notice { level, title, detail: Vec::new() }));
}

/// What became of a held write.
pub fn decided(model: &mut Model, req: ReqId, outcome: HeldOutcome, out: &mut Vec<Effect>) {
    if !model.gated.get(&req).is_some_and(|state| state.is_in_review()) {
        return;
    }
    model.session.pending.retain(|p| p.req != req);
    let path = model.writes.get(&req).and_then(|(entry, _)| match &model.entries.get(*entry)?.body {
        Body::File(op) => Some(op.path.clone()),
        _ => None,
    });
    let path = path.unwrap_or_default();
    match outcome {
        HeldOutcome::Whole { created, bytes } => {
            model.gated.remove(&req);
            host::file_written(model, req, Ok(WriteFact { created, bytes, old: None }), out);
        }
        HeldOutcome::Partly { differs } => {
            model.gated.remove(&req);
            let Some((entry, _)) = model.writes.remove(&req) else { return };
            settle_file(model, entry, FileOutcome::Altered);
            out.push(Effect::Respond { req, answer: Answer::Empty });
            let note = altered(&path, &differs);
            match model.session.held.back_mut().filter(|held| held.text.starts_with(ALTERED)) {
                Some(held) => held.text = format!("{}\n\n{note}", held.text),
                None => {
                    model
                        .session
                        .held
                        .push_back(HeldPrompt { text: format!("{ALTERED}\n\n{note}"), links: Vec::new() });
                }
            }
        }
        HeldOutcome::Refused => {
            // Decided, so there is nothing to let go.
            model.gated.insert(req, Gated::Asked);
            end_write(model, req, "refused by you", Some(denied(Subject::Path(path))), out);
        }
        HeldOutcome::Failed { message } => {
            model.gated.remove(&req);
            let error = Refusal::new(Reason::Failed, message).about(Subject::Path(path));
            host::file_written(model, req, Err(error), out);
        }
    }
}

/// How a file differs from what the agent wanted, for the agent to read.
fn altered(path: &str, differs: &str) -> String {
    let shown = differs.get(..differs.floor_char_boundary(MAX_DIFFERS)).unwrap_or_default();
    let more = if shown.len() < differs.len() { "\n[the rest of the difference is left out]" } else { "" };
    // Longer than any in the text.
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{path}\n{fence}diff\n{}{more}\n{fence}", shown.trim_end())
}

fn settle_file(model: &mut Model, entry: EntryId, outcome: FileOutcome) {
    model.entries.change(entry, |e| {
        e.finished = true;
        if let Body::File(op) = &mut e.body {
            op.outcome = outcome;
        }
    });
}

/// A stopped write does not happen. Without an error nobody waits for an answer.
fn end_write(model: &mut Model, req: ReqId, why: &str, error: Option<Refusal>, out: &mut Vec<Effect>) {
    if model.gated.remove(&req).is_some_and(Gated::is_in_review) {
        out.push(Effect::Review(ReviewEffect::LetGo(req)));
    }
    if let Some((entry, _)) = model.writes.remove(&req) {
        settle_file(model, entry, FileOutcome::Refused(why.to_owned()));
    }
    out.push(match error {
        Some(error) => Effect::Respond { req, answer: Answer::Error(error) },
        None => Effect::Void(req),
    });
}

/// Closes a question of our own that the person has not answered. False: it is the agent's.
pub fn close(model: &mut Model, pending: &PendingPermission, why: &str, out: &mut Vec<Effect>) -> bool {
    match &pending.about {
        About::Tool => return false,
        About::Write { .. } | About::Held { .. } => end_write(model, pending.req, why, Some(cancelled()), out),
        About::Run(spec) => {
            retell(model, pending.entry, Level::Info, format!("not run, {why}: {}", spec.line()));
            out.push(Effect::Respond { req: pending.req, answer: Answer::Error(cancelled()) });
        }
    }
    true
}

/// The agent of this question is gone. True: [`void_all`] ends it.
pub fn void(model: &mut Model, pending: &PendingPermission) -> bool {
    if let About::Run(spec) = &pending.about {
        retell(model, pending.entry, Level::Info, format!("not run, the agent is gone: {}", spec.line()));
    }
    model.gated.contains_key(&pending.req)
}

/// `$/cancel_request` for a write that is stopped and not asked about yet.
pub fn withdrawn(model: &mut Model, req: ReqId, out: &mut Vec<Effect>) -> bool {
    let is_ours = model.gated.contains_key(&req);
    if is_ours {
        end_write(model, req, "the agent withdrew it", Some(cancelled()), out);
    }
    is_ours
}

/// Closes what is stopped and not in the dock.
pub fn close_all(model: &mut Model, why: &str, out: &mut Vec<Effect>) {
    let stopped: Vec<ReqId> = model.gated.keys().copied().collect();
    for req in stopped {
        end_write(model, req, why, Some(cancelled()), out);
    }
}

/// The agent is gone: nobody waits for an answer.
pub fn void_all(model: &mut Model, out: &mut Vec<Effect>) {
    let stopped: Vec<ReqId> = model.gated.keys().copied().collect();
    for req in stopped {
        end_write(model, req, "the agent is gone", None, out);
    }
}

/// There is no review any more: what it held cannot be decided.
pub fn fail_held(model: &mut Model, message: &str, out: &mut Vec<Effect>) {
    let stopped: Vec<(ReqId, Gated)> = model.gated.iter().map(|(req, state)| (*req, *state)).collect();
    for (req, state) in stopped {
        match state {
            Gated::Holding => decided(model, req, HeldOutcome::Failed { message: message.to_owned() }, out),
            Gated::Kept | Gated::Allowed => not_kept(model, req, out),
            Gated::Checking | Gated::Asked => {}
        }
    }
}
