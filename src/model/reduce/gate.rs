//! Gates: writes and commands of the client that wait until the person has let them through.
//!
//! Asks and answers; what a path means and what is on the disk is found out elsewhere. Invariant: each request that a
//! gate has stopped gets exactly one answer, whichever of answer, cancel, withdrawal and death comes first.

use super::super::changes::{Gate, HeldOutcome};
use super::super::effect::{Answer, Effect, ReviewEffect, Withdrawal};
use super::super::entry::{Body, FileOutcome, Level, Notice};
use super::super::event::{PermissionKind, PermissionOption, TerminalSpec, WriteFact};
use super::super::ids::{EntryId, ReqId};
use super::super::judge::{Deed, Place, Verdict, judge};
use super::super::refusal::{Reason, Refusal, Subject};
use super::super::session::{About, HeldPrompt, PendingPermission, PromptKind, Session};
use super::Cx;
use super::{host, notice, permission, review, service};
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
pub fn write(session: &mut Session, req: ReqId, path: String, cx: &mut Cx) {
    session.gated.insert(req, Gated::Checking);
    cx.push(Effect::CheckWrite { req, path });
}

/// Nobody is asked about what would be refused anyway.
pub fn checked(session: &mut Session, req: ReqId, path: String, place: Place, cx: &mut Cx) {
    if session.gated.get(&req) != Some(&Gated::Checking) {
        return;
    }
    let Some((entry, content)) = session.writes.get(&req).cloned() else { return };
    let request = service::request_of(session, Deed::Write(path.as_str().into()), cx).at(place);
    match judge(&request) {
        Verdict::Refuse(ground) => {
            session.gated.remove(&req);
            return host::file_written(session, req, Err(ground.refusal(Subject::Path(path))), cx);
        }
        Verdict::Allow(_) => {
            session.gated.remove(&req);
            return cx.push(Effect::FsWrite { req, request: Box::new(request), content, entry });
        }
        Verdict::Ask => {}
    }
    match session.gate() {
        Gate::Hold if session.changes.is_on => {
            session.gated.insert(req, Gated::Holding);
            cx.push(Effect::Review(ReviewEffect::Hold { req, path, content, entry, asked: false }));
        }
        Gate::Off | Gate::Ask | Gate::Hold => {
            let state = if session.changes.is_on { Gated::Kept } else { Gated::Asked };
            session.gated.insert(req, state);
            let about = About::Write { path: path.clone(), content: Arc::clone(&content) };
            ask(session, req, entry, about, cx);
            if state == Gated::Kept {
                // After the question what it would do: that is what the person waits for.
                cx.push(Effect::Review(ReviewEffect::Hold { req, path, content, entry, asked: true }));
            }
        }
    }
}

/// The review has taken the write.
pub fn held(session: &mut Session, req: ReqId, cx: &mut Cx) {
    if session.gated.get(&req) != Some(&Gated::Holding) {
        return;
    }
    if let Some((entry, path, content)) = wanted(session, req) {
        ask(session, req, entry, About::Held { path, content }, cx);
    }
}

/// The entry of a stopped write, its path and its text.
fn wanted(session: &Session, req: ReqId) -> Option<(EntryId, String, Arc<str>)> {
    let (entry, content) = session.writes.get(&req).cloned()?;
    match &session.entries.get(entry)?.body {
        Body::File(op) => Some((entry, op.path.clone(), content)),
        _ => None,
    }
}

/// The review cannot compare this write with the disk; the person's answer alone decides.
pub fn not_kept(session: &mut Session, req: ReqId, cx: &mut Cx) {
    match session.gated.get(&req) {
        Some(Gated::Kept) => {
            session.gated.insert(req, Gated::Asked);
        }
        Some(Gated::Allowed) => {
            session.gated.remove(&req);
            if let Some((entry, path, content)) = wanted(session, req) {
                write_granted(session, req, &path, entry, content, cx);
            }
        }
        _ => {}
    }
}

/// The person has changed the file while the write waited, and in the same lines: it is asked about once more.
pub fn again(session: &mut Session, req: ReqId, cx: &mut Cx) {
    let Some(state) = session.gated.get(&req).copied().filter(|s| s.is_in_review()) else { return };
    if session.pending.iter().any(|p| p.req == req) {
        return review::ask_truth(session, req, cx);
    }
    let Some((entry, path, content)) = wanted(session, req) else { return };
    let about = if state == Gated::Holding { About::Held { path, content } } else { About::Write { path, content } };
    if state == Gated::Allowed {
        session.gated.insert(req, Gated::Kept);
    }
    ask(session, req, entry, about, cx);
}

/// A command that must not run at once.
pub fn run(session: &mut Session, req: ReqId, spec: Arc<TerminalSpec>, cx: &mut Cx) {
    let entry = notice(session, Level::Info, format!("asks to run: {}", spec.line()), Vec::new(), cx.now);
    ask(session, req, entry, About::Run(spec), cx);
}

fn ask(session: &mut Session, req: ReqId, entry: EntryId, about: About, cx: &mut Cx) {
    let allow = if matches!(about, About::Run(_)) { "Run it" } else { "Write it" };
    let option = |id: &str, name: &str, kind| PermissionOption { id: id.to_owned(), name: name.to_owned(), kind };
    let options =
        vec![option(ALLOW, allow, PermissionKind::AllowOnce), option(REJECT, "Refuse", PermissionKind::RejectOnce)];
    permission::wait(session, req, entry, about, options, cx);
}

/// The person's answer to a question of our own.
pub fn answered(session: &mut Session, pending: PendingPermission, allowed: bool, cx: &mut Cx) {
    let PendingPermission { req, entry, about, .. } = pending;
    match about {
        // Answered with an option of the agent's.
        About::Tool => {}
        About::Held { .. } => cx.push(Effect::Review(ReviewEffect::DecideHeld { req, write: allowed })),
        About::Write { .. } if allowed && session.gated.get(&req) == Some(&Gated::Kept) => {
            session.gated.insert(req, Gated::Allowed);
            cx.push(Effect::Review(ReviewEffect::DecideHeld { req, write: true }));
        }
        About::Write { path, content } if allowed => {
            session.gated.remove(&req);
            write_granted(session, req, &path, entry, content, cx);
        }
        About::Write { path, .. } => end_write(session, req, "refused by you", Some(denied(Subject::Path(path))), cx),
        About::Run(spec) if allowed => {
            retell(session, entry, Level::Info, format!("allowed by you: {}", spec.line()));
            let request = service::request_of(session, Deed::Run(Arc::clone(&spec)), cx).granted();
            session.creating.insert(req, Arc::clone(&spec));
            cx.push(Effect::TerminalCreate { req, request: Box::new(request), spec });
        }
        About::Run(spec) => {
            let line = spec.line();
            retell(session, entry, Level::Warn, format!("refused by you: {line}"));
            cx.push(Effect::Respond { req, answer: Answer::Error(denied(Subject::Command(line))) });
        }
    }
}

/// The person has allowed it.
fn write_granted(session: &Session, req: ReqId, path: &str, entry: EntryId, content: Arc<str>, cx: &mut Cx) {
    let request = Box::new(service::request_of(session, Deed::Write(path.into()), cx).granted());
    cx.push(Effect::FsWrite { req, request, content, entry });
}

fn retell(session: &mut Session, entry: EntryId, level: Level, title: String) {
    session.entries.change(entry, |e| e.body = Body::Notice(Notice { level, title, detail: Vec::new() }));
}

/// What became of a held write.
pub fn decided(session: &mut Session, req: ReqId, outcome: HeldOutcome, cx: &mut Cx) {
    if !session.gated.get(&req).is_some_and(|state| state.is_in_review()) {
        return;
    }
    session.pending.retain(|p| p.req != req);
    let path = session.writes.get(&req).and_then(|(entry, _)| match &session.entries.get(*entry)?.body {
        Body::File(op) => Some(op.path.clone()),
        _ => None,
    });
    let path = path.unwrap_or_default();
    match outcome {
        HeldOutcome::Whole { created, bytes } => {
            session.gated.remove(&req);
            host::file_written(session, req, Ok(WriteFact { created, bytes, old: None }), cx);
        }
        HeldOutcome::Partly { differs } => {
            session.gated.remove(&req);
            let Some((entry, _)) = session.writes.remove(&req) else { return };
            settle_file(session, entry, FileOutcome::Altered);
            cx.push(Effect::Respond { req, answer: Answer::Empty });
            let note = altered(&path, &differs);
            match session.held.back_mut().filter(|held| held.kind == PromptKind::ChangedWrites) {
                Some(held) => held.text = format!("{}\n\n{note}", held.text),
                None => session.held.push_back(HeldPrompt {
                    kind: PromptKind::ChangedWrites,
                    text: format!("{ALTERED}\n\n{note}"),
                    links: Vec::new(),
                }),
            }
        }
        HeldOutcome::Refused => {
            // Decided, so there is nothing to let go.
            session.gated.insert(req, Gated::Asked);
            end_write(session, req, "refused by you", Some(denied(Subject::Path(path))), cx);
        }
        HeldOutcome::Failed { message } => {
            session.gated.remove(&req);
            let error = Refusal::new(Reason::Failed, message).about(Subject::Path(path));
            host::file_written(session, req, Err(error), cx);
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

fn settle_file(session: &mut Session, entry: EntryId, outcome: FileOutcome) {
    session.entries.change(entry, |e| {
        e.finished = true;
        if let Body::File(op) = &mut e.body {
            op.outcome = outcome;
        }
    });
}

/// A stopped write does not happen. Without an error nobody waits for an answer.
fn end_write(session: &mut Session, req: ReqId, why: &str, error: Option<Refusal>, cx: &mut Cx) {
    if session.gated.remove(&req).is_some_and(Gated::is_in_review) {
        cx.push(Effect::Review(ReviewEffect::LetGo(req)));
    }
    if let Some((entry, _)) = session.writes.remove(&req) {
        settle_file(session, entry, FileOutcome::Refused(why.to_owned()));
    }
    cx.push(match error {
        Some(error) => Effect::Respond { req, answer: Answer::Error(error) },
        None => Effect::Void(req),
    });
}

/// Closes a question of our own that the person has not answered. False: it is the agent's.
pub fn close(session: &mut Session, pending: &PendingPermission, why: Withdrawal, cx: &mut Cx) -> bool {
    let why = why.words();
    match &pending.about {
        About::Tool => return false,
        About::Write { .. } | About::Held { .. } => end_write(session, pending.req, why, Some(cancelled()), cx),
        About::Run(spec) => {
            retell(session, pending.entry, Level::Info, format!("not run, {why}: {}", spec.line()));
            cx.push(Effect::Respond { req: pending.req, answer: Answer::Error(cancelled()) });
        }
    }
    true
}

/// The agent of this question is gone. True: [`void_all`] ends it.
pub fn void(session: &mut Session, pending: &PendingPermission) -> bool {
    if let About::Run(spec) = &pending.about {
        retell(session, pending.entry, Level::Info, format!("not run, the agent is gone: {}", spec.line()));
    }
    session.gated.contains_key(&pending.req)
}

/// `$/cancel_request` for a write that is stopped and not asked about yet.
pub fn withdrawn(session: &mut Session, req: ReqId, cx: &mut Cx) -> bool {
    let is_ours = session.gated.contains_key(&req);
    if is_ours {
        end_write(session, req, Withdrawal::ByAgent.words(), Some(cancelled()), cx);
    }
    is_ours
}

/// Closes what is stopped and not in the dock.
pub fn close_all(session: &mut Session, why: Withdrawal, cx: &mut Cx) {
    let stopped: Vec<ReqId> = session.gated.keys().copied().collect();
    for req in stopped {
        end_write(session, req, why.words(), Some(cancelled()), cx);
    }
}

/// The agent is gone: nobody waits for an answer.
pub fn void_all(session: &mut Session, cx: &mut Cx) {
    let stopped: Vec<ReqId> = session.gated.keys().copied().collect();
    for req in stopped {
        end_write(session, req, "the agent is gone", None, cx);
    }
}

/// There is no review any more: what it held cannot be decided.
pub fn fail_held(session: &mut Session, message: &str, cx: &mut Cx) {
    let stopped: Vec<(ReqId, Gated)> = session.gated.iter().map(|(req, state)| (*req, *state)).collect();
    for (req, state) in stopped {
        match state {
            Gated::Holding => decided(session, req, HeldOutcome::Failed { message: message.to_owned() }, cx),
            Gated::Kept | Gated::Allowed => not_kept(session, req, cx),
            Gated::Checking | Gated::Asked => {}
        }
    }
}
