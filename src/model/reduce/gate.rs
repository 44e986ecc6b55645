//! Gates: writes and commands of the client that wait until the person has let them through.
//!
//! Asks and answers; what a path means and what is on the disk is found out elsewhere. Invariant: each request that a
//! gate has stopped gets exactly one answer: by answer, cancel, withdrawal or death, by the first of them.

use super::super::changes::{Before, Gate, HeldOutcome, MAX_DIFFERENCE, ReviewCommand};
use super::super::effect::{Answer, Effect, Withdrawal};
use super::super::entry::{Body, FileOutcome, Level, Notice};
use super::super::event::{PermissionKind, PermissionOption, TerminalSpec, WriteFact};
use super::super::ids::{EntryId, ReqId};
use super::super::judge::{Deed, Ground, Place, Request, Verdict, judge};
use super::super::question::{About, Offered, Outside, Question, ReadSpec};
use super::super::refusal::{Reason, Refusal, Subject};
use super::super::ruling::{Ruled, Ruling};
use super::super::session::{PromptKind, Session, Stage, Write};
use super::super::write::Needs;
use super::Cx;
use super::{audit, host, notice, permission, review, service, thinking};
use std::path::Path;
use std::sync::Arc;

/// Ids of the two answers to a question of our own.
pub const ALLOW: &str = "allow";
pub const REJECT: &str = "reject";

/// How the prompt begins that tells the agent of writes that the person has changed. The write itself is answered as
/// done: measured with real agents, Gemini CLI shows its model an error of this sort as "[object Object]" and takes the
/// write for failed, while a prompt is understood by all of them.
const ALTERED: &str = "I reviewed what you wrote and changed it; these files were written, but not as you proposed. The \
                       difference between your proposal and what is on the disk now:";

fn cancelled() -> Refusal {
    Refusal::new(Reason::Cancelled, "Request cancelled")
}

fn denied(about: Subject) -> Refusal {
    let (Subject::Path(what) | Subject::Command(what)) = &about else {
        return Refusal::new(Reason::DeniedByUser, "refused by the user");
    };
    Refusal::new(Reason::DeniedByUser, format!("refused by the user: {what}")).about(about)
}

/// A write of the session that has come this far.
fn at_stage(session: &Session, req: ReqId, stage: Stage) -> Option<&Write> {
    session.write(req).filter(|write| write.stage == stage)
}

fn advance(session: &mut Session, req: ReqId, stage: Stage) {
    if let Some(write) = session.writes.get_mut(&req) {
        write.stage = stage;
    }
}

/// The person is not asked about what would be refused anyway.
pub fn checked(session: &mut Session, req: ReqId, place: Place, cx: &mut Cx) {
    let Some(write) = at_stage(session, req, Stage::Checking).cloned() else { return };
    let request = service::request_of(session, Deed::Write(Arc::clone(&write.path)), cx);
    let request = request.at(place).ruled(write.ruling.clone());
    match judge(&request) {
        Verdict::Refuse(ground) => {
            audit::file(&request, false, &ground, cx);
            let error = ground.refusal(Subject::Path(write.path.to_string()));
            host::file_written(session, req, Err(error), cx);
        }
        Verdict::Allow(ground) => {
            audit::file(&request, true, &ground, cx);
            on_its_way(session, req, &write, request, cx);
        }
        Verdict::Ask if approved(session, req, &write, &request, cx) => {}
        Verdict::Ask if let Place::Outside(real) = &request.place => {
            ask_outside(session, req, &write, real, cx);
            permission::tell_ruling(session, req, write.ruling.as_ref());
        }
        Verdict::Ask => match session.gate() {
            Gate::Hold if session.changes.is_on => hold(session, req, write, cx),
            _ => {
                let is_kept = session.changes.is_on;
                advance(session, req, if is_kept { Stage::Captured } else { Stage::Asked });
                ask(session, req, write.entry, About::Write, cx);
                permission::tell_ruling(session, req, write.ruling.as_ref());
                if is_kept {
                    // After the question what it would do: that is what the person waits for.
                    hand_over(req, write, true, None, cx);
                }
            }
        },
    }
}

/// The review does not keep what lies there: the person's answer alone decides.
fn ask_outside(session: &mut Session, req: ReqId, write: &Write, real: &Path, cx: &mut Cx) {
    advance(session, req, Stage::Asked);
    ask(session, req, write.entry, About::Write, cx);
    permission::tell_outside(session, req, vec![outside(write, real)]);
}

fn outside(write: &Write, real: &Path) -> Outside {
    Outside { path: write.path.to_string(), real: Some(real.to_string_lossy().into_owned()) }
}

/// The person has allowed just this when the agent asked: the same text, in the same turn, once. It is not asked about if
/// the disk is still what it was then; a rule that asks is the person's word that they want to be asked.
fn approved(session: &mut Session, req: ReqId, write: &Write, request: &Request, cx: &mut Cx) -> bool {
    let is_asked = write.ruling.as_ref().is_some_and(|ruling| ruling.verdict == Ruled::Ask || ruling.secret.is_some());
    let (real, is_outside) = match &request.place {
        Place::Inside(Some(real)) => (real, false),
        Place::Outside(real) => (real, true),
        _ => return false,
    };
    let would_ask = is_outside || session.gate() != Gate::Off;
    if is_asked || !would_ask || session.turn.is_none() || !session.changes.is_on {
        return false;
    }
    let Some(at) = session.approved.iter().position(|approved| approved.changes(real)) else { return false };
    let Some(needs) = session.approved.remove(at).fits(session.last_turn, write) else { return false };
    if needs == Needs::Nothing && !is_outside {
        return false;
    }
    advance(session, req, Stage::Comparing);
    if is_outside && let Some(write) = session.writes.get_mut(&req) {
        write.outside = Some(real.clone());
    }
    match needs {
        Needs::Nothing => compared(session, req, true, cx),
        Needs::On(over) if is_outside => {
            cx.push(Effect::Review(ReviewCommand::CompareOutside { req, path: real.clone(), over }));
        }
        Needs::On(over) => hand_over(req, write.clone(), true, Some(over), cx),
    }
    true
}

/// What the person was shown is still what the write would do, or not: then it is asked about.
pub fn compared(session: &mut Session, req: ReqId, same: bool, cx: &mut Cx) {
    let Some(write) = at_stage(session, req, Stage::Comparing).cloned() else { return };
    if let Some(real) = &write.outside {
        if !same {
            return ask_outside(session, req, &write, real, cx);
        }
        let place = Place::Outside(real.clone());
        let request = service::request_of(session, Deed::Write(Arc::clone(&write.path)), cx).at(place);
        audit::file(&request, true, &Ground::Granted, cx);
        granted(session, req, &[outside(&write, real)], cx);
    } else if same {
        advance(session, req, Stage::Allowed);
        let request = service::request_of(session, Deed::Write(Arc::clone(&write.path)), cx);
        audit::file(&request, true, &Ground::Granted, cx);
        cx.push(Effect::Review(ReviewCommand::DecideHeld { req, write: true }));
    } else if session.gate() == Gate::Hold {
        // The review has it as what one answer decides; piece by piece it is taken anew.
        cx.push(Effect::Review(ReviewCommand::LetGo(req)));
        hold(session, req, write, cx);
    } else {
        advance(session, req, Stage::Captured);
        ask(session, req, write.entry, About::Write, cx);
    }
}

/// It waits until it is decided in the review.
fn hold(session: &mut Session, req: ReqId, write: Write, cx: &mut Cx) {
    advance(session, req, Stage::Holding);
    hand_over(req, write, false, None, cx);
}

/// The review takes it, or what is on the disk now; `asked` when a plain answer decides.
fn hand_over(req: ReqId, write: Write, asked: bool, over: Option<Before>, cx: &mut Cx) {
    let Write { entry, path, content, .. } = write;
    cx.push(Effect::Review(ReviewCommand::Hold { req, path: path.to_string(), content, entry, asked, over }));
}

fn on_its_way(session: &mut Session, req: ReqId, write: &Write, request: Request, cx: &mut Cx) {
    advance(session, req, Stage::Writing);
    let (request, content) = (Box::new(request), write.content.clone());
    cx.push(Effect::FsWrite { req, request, content, how: write.how, entry: write.entry });
}

/// The person has allowed it; outside that very file which they have seen named, whatever leads there by now.
fn granted(session: &mut Session, req: ReqId, outside: &[Outside], cx: &mut Cx) {
    let Some(write) = session.write(req).cloned() else { return };
    let (path, place) = seen(&write.path, outside);
    let request = service::request_of(session, Deed::Write(path), cx).granted().at(place);
    let request = request.ruled(write.ruling.clone());
    on_its_way(session, req, &write, request, cx);
}

/// The person has allowed to read just this file outside when the agent asked, in the same turn, once, and its name leads there
/// still; the same request with that, or as it was.
pub fn read_approved(session: &mut Session, path: &str, ruling: Option<&Ruling>, cx: &Cx) -> Option<Request> {
    let ruling = ruling.filter(|ruling| ruling.verdict != Ruled::Ask && ruling.secret.is_none())?;
    let (path, place) = seen(path, &ruling.outside);
    let Place::Outside(real) = &place else { return None };
    session.turn.as_ref()?;
    let turn = session.last_turn;
    let at = session.approved.iter().position(|approved| approved.reads(turn, real))?;
    session.approved.remove(at);
    let request = service::request_of(session, Deed::Read(path), cx).granted().at(place);
    Some(request)
}

/// The file that the person was asked about, and where that is, if it lies outside. A relative path is none.
fn seen(path: &str, outside: &[Outside]) -> (Arc<str>, Place) {
    let real = outside.first().filter(|_| path.starts_with('/')).and_then(|outside| outside.real.as_deref());
    real.map_or_else(|| (path.into(), Place::Unknown), |real| (real.into(), Place::Outside(real.into())))
}

/// The review has taken the write.
pub fn held(session: &mut Session, req: ReqId, cx: &mut Cx) {
    if let Some(entry) = at_stage(session, req, Stage::Holding).map(|write| write.entry) {
        ask(session, req, entry, About::Write, cx);
    }
}

/// The review cannot compare this write with the disk; the person's answer alone decides.
pub fn not_kept(session: &mut Session, req: ReqId, cx: &mut Cx) {
    match session.write(req).map(|write| write.stage) {
        Some(Stage::Captured) => advance(session, req, Stage::Asked),
        Some(Stage::Comparing) => {
            let Some(write) = session.write(req).cloned() else { return };
            if let Some(real) = &write.outside {
                return ask_outside(session, req, &write, real, cx);
            }
            advance(session, req, Stage::Asked);
            ask(session, req, write.entry, About::Write, cx);
        }
        Some(Stage::Allowed) => granted(session, req, &[], cx),
        _ => {}
    }
}

/// The person has changed the file while the write waited, and in the same lines: it is asked about once more.
pub fn again(session: &mut Session, req: ReqId, cx: &mut Cx) {
    let Some(write) = session.write(req).filter(|write| write.is_in_review()) else { return };
    let (entry, stage) = (write.entry, write.stage);
    if session.question(req).is_some() {
        return review::ask_preview(session, req, cx);
    }
    if matches!(stage, Stage::Allowed | Stage::Comparing) {
        advance(session, req, Stage::Captured);
    }
    ask(session, req, entry, About::Write, cx);
}

/// A command that must not run at once.
pub fn run(session: &mut Session, req: ReqId, spec: Arc<TerminalSpec>, cx: &mut Cx) {
    let entry = notice(session, Level::Info, format!("asks to run: {}", spec.line()), Vec::new(), cx.now);
    ask(session, req, entry, About::Run(spec), cx);
}

/// A file that must not be read at once.
pub fn read(session: &mut Session, req: ReqId, spec: Arc<ReadSpec>, cx: &mut Cx) {
    let entry = notice(session, Level::Info, format!("asks to read: {}", spec.path), Vec::new(), cx.now);
    ask(session, req, entry, About::Read(spec), cx);
}

fn ask(session: &mut Session, req: ReqId, entry: EntryId, about: About, cx: &mut Cx) {
    let allow = match about {
        About::Run(_) => "Run it",
        About::Read(_) => "Read it",
        About::Write | About::Permission | About::Asked { .. } => "Write it",
    };
    let option = |id: &str, name: &str, kind| PermissionOption { id: id.to_owned(), name: name.to_owned(), kind };
    let options =
        vec![option(ALLOW, allow, PermissionKind::AllowOnce), option(REJECT, "Refuse", PermissionKind::RejectOnce)];
    permission::wait(session, req, entry, about, Offered { wording: None, options }, cx);
}

/// The answer to a question of our own: the person's, or that of a rule which was made meanwhile.
pub fn answered(session: &mut Session, question: Question, allowed: bool, rule: Option<&Ground>, cx: &mut Cx) {
    let Question { req, entry, about, outside, .. } = question;
    let by = rule.map_or_else(|| "you".to_owned(), Ground::words);
    let error = |about| match rule.cloned() {
        Some(ground) => ground.refusal(about),
        None => denied(about),
    };
    match about {
        // Answered with an option of the agent's, or not with one.
        About::Permission | About::Asked { .. } => {}
        About::Write => match session.write(req).map(|write| write.stage) {
            Some(Stage::Holding) => cx.push(Effect::Review(ReviewCommand::DecideHeld { req, write: allowed })),
            Some(Stage::Captured) if allowed => {
                advance(session, req, Stage::Allowed);
                cx.push(Effect::Review(ReviewCommand::DecideHeld { req, write: true }));
            }
            _ if allowed => granted(session, req, &outside, cx),
            _ => {
                let path = session.write(req).map(|write| write.path.to_string()).unwrap_or_default();
                end_write(session, req, &format!("refused by {by}"), Some(error(Subject::Path(path))), cx);
            }
        },
        About::Read(spec) if allowed => {
            retell(session, entry, Level::Info, format!("allowed by {by}: read {}", spec.path));
            let (path, place) = seen(&spec.path, &outside);
            let request = service::request_of(session, Deed::Read(path), cx).granted().at(place);
            service::read_it(session, req, &spec, request, cx);
        }
        About::Read(spec) => {
            retell(session, entry, Level::Warn, format!("refused by {by}: read {}", spec.path));
            cx.push(Effect::Respond { req, answer: Answer::Error(error(Subject::Path(spec.path.clone()))) });
        }
        About::Run(spec) if allowed => {
            retell(session, entry, Level::Info, format!("allowed by {by}: {}", spec.line()));
            let request = service::request_of(session, Deed::Run(Arc::clone(&spec)), cx).granted();
            session.creating.insert(req, Arc::clone(&spec));
            cx.push(Effect::TerminalCreate { req, request: Box::new(request), spec });
        }
        About::Run(spec) => {
            let line = spec.line();
            retell(session, entry, Level::Warn, format!("refused by {by}: {line}"));
            cx.push(Effect::Respond { req, answer: Answer::Error(error(Subject::Command(line))) });
        }
    }
}

fn retell(session: &mut Session, entry: EntryId, level: Level, title: String) {
    session.entries.change(entry, |e| {
        e.body = Body::Notice(Notice::new(level, title, Vec::new()));
    });
}

/// What became of a write that the review had.
pub fn decided(session: &mut Session, req: ReqId, outcome: HeldOutcome, cx: &mut Cx) {
    let Some(path) = session.write(req).filter(|write| write.is_in_review()).map(|write| Arc::clone(&write.path))
    else {
        return;
    };
    if let Some(at) = session.questions.iter().position(|question| question.req == req) {
        let question = session.questions.remove(at);
        audit::held(session, &question, &outcome, cx);
        thinking::over(session, &question, cx.now);
    }
    // Decided, so there is nothing to let go.
    advance(session, req, Stage::Asked);
    match outcome {
        HeldOutcome::Whole { created, bytes } => {
            host::file_written(session, req, Ok(WriteFact { created, bytes, old: None, outside: None }), cx);
        }
        HeldOutcome::Partly { differs } => {
            let Some(write) = session.writes.remove(&req) else { return };
            set_outcome(session, write.entry, FileOutcome::Altered);
            cx.push(Effect::Respond { req, answer: Answer::Empty });
            let note = altered(&path, &differs);
            if !session.held.add_to_last(PromptKind::ChangedWrites, &note) {
                session.held.add(PromptKind::ChangedWrites, format!("{ALTERED}\n\n{note}"), Vec::new());
            }
        }
        HeldOutcome::Refused => refuse(session, req, cx),
        HeldOutcome::Failed { message } => {
            let error = Refusal::new(Reason::Failed, message).about(Subject::Path(path.to_string()));
            host::file_written(session, req, Err(error), cx);
        }
    }
}

/// How a file differs from what the agent wanted, for the agent to read.
fn altered(path: &str, differs: &str) -> String {
    let shown = differs.get(..differs.floor_char_boundary(MAX_DIFFERENCE)).unwrap_or_default();
    let more = if shown.len() < differs.len() { "\n[the rest of the difference is left out]" } else { "" };
    // Longer than any in the text.
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{path}\n{fence}diff\n{}{more}\n{fence}", shown.trim_end())
}

fn set_outcome(session: &mut Session, entry: EntryId, outcome: FileOutcome) {
    session.entries.change(entry, |e| {
        e.finished = true;
        if let Body::File(op) = &mut e.body {
            op.outcome = outcome;
        }
    });
}

/// By the person.
fn refuse(session: &mut Session, req: ReqId, cx: &mut Cx) {
    let path = session.write(req).map(|write| write.path.to_string()).unwrap_or_default();
    end_write(session, req, "refused by you", Some(denied(Subject::Path(path))), cx);
}

/// A stopped write does not happen. Without an error the request is void.
fn end_write(session: &mut Session, req: ReqId, why: &str, error: Option<Refusal>, cx: &mut Cx) {
    if let Some(write) = session.writes.remove(&req) {
        if write.is_in_review() {
            cx.push(Effect::Review(ReviewCommand::LetGo(req)));
        }
        set_outcome(session, write.entry, FileOutcome::Refused(why.to_owned()));
    }
    cx.push(match error {
        Some(error) => Effect::Respond { req, answer: Answer::Error(error) },
        None => Effect::Void(req),
    });
}

/// Writes that something stops.
fn stopped(session: &Session) -> Vec<(ReqId, Stage)> {
    let stopped = session.writes.iter().filter(|(_, write)| write.is_stopped());
    stopped.map(|(req, write)| (*req, write.stage)).collect()
}

/// Closes a question of our own that the person has not answered. False: it is the agent's.
pub fn close(session: &mut Session, pending: &Question, why: Withdrawal, cx: &mut Cx) -> bool {
    let why = why.words();
    match &pending.about {
        About::Permission | About::Asked { .. } => return false,
        About::Write => end_write(session, pending.req, why, Some(cancelled()), cx),
        About::Read(spec) => {
            retell(session, pending.entry, Level::Info, format!("not read, {why}: {}", spec.path));
            cx.push(Effect::Respond { req: pending.req, answer: Answer::Error(cancelled()) });
        }
        About::Run(spec) => {
            retell(session, pending.entry, Level::Info, format!("not run, {why}: {}", spec.line()));
            cx.push(Effect::Respond { req: pending.req, answer: Answer::Error(cancelled()) });
        }
    }
    true
}

/// The agent of this question is gone. True: [`void_all`] ends it.
pub fn void(session: &mut Session, pending: &Question) -> bool {
    match &pending.about {
        About::Run(spec) => {
            retell(session, pending.entry, Level::Info, format!("not run, the agent is gone: {}", spec.line()));
        }
        About::Read(spec) => {
            retell(session, pending.entry, Level::Info, format!("not read, the agent is gone: {}", spec.path));
        }
        About::Permission | About::Write | About::Asked { .. } => {}
    }
    session.write(pending.req).is_some_and(Write::is_stopped)
}

/// It was read, or could not be, without an answer: journals tell so of files outside from before these were asked about.
pub fn read_unasked(session: &mut Session, req: ReqId) {
    let is_it = |question: &Question| question.req == req && matches!(question.about, About::Read(_));
    let Some(at) = session.questions.iter().position(is_it) else { return };
    let Question { entry, about, .. } = session.questions.remove(at);
    if let About::Read(spec) = about {
        retell(session, entry, Level::Info, format!("you were not asked: read {}", spec.path));
    }
}

/// `$/cancel_request` for a write that is stopped and not asked about yet.
pub fn withdrawn(session: &mut Session, req: ReqId, cx: &mut Cx) -> bool {
    let is_ours = session.write(req).is_some_and(Write::is_stopped);
    if is_ours {
        end_write(session, req, Withdrawal::ByAgent.words(), Some(cancelled()), cx);
    }
    is_ours
}

/// Closes what is stopped and not in the dock.
pub fn close_all(session: &mut Session, why: Withdrawal, cx: &mut Cx) {
    for (req, _) in stopped(session) {
        end_write(session, req, why.words(), Some(cancelled()), cx);
    }
}

/// The agent is gone: its requests need no answer.
pub fn void_all(session: &mut Session, cx: &mut Cx) {
    for (req, _) in stopped(session) {
        end_write(session, req, "the agent is gone", None, cx);
    }
}

/// There is no review any more: what it held cannot be decided.
pub fn fail_held(session: &mut Session, message: &str, cx: &mut Cx) {
    for (req, stage) in stopped(session) {
        match stage {
            Stage::Holding => decided(session, req, HeldOutcome::Failed { message: message.to_owned() }, cx),
            Stage::Captured | Stage::Comparing | Stage::Allowed => not_kept(session, req, cx),
            Stage::Writing | Stage::Checking | Stage::Asked => {}
        }
    }
}
