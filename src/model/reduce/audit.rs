//! Tells what was decided, for the audit log.
//!
//! Decides nothing. Invariant: a decision about a request is told once.

use super::super::audit::{By, Decision, Matter, Outcome, claims_of};
use super::super::changes::HeldOutcome;
use super::super::claims::Claims;
use super::super::effect::{Effect, Withdrawal};
use super::super::event::TerminalSpec;
use super::super::form::Reply;
use super::super::ids::EntryId;
use super::super::judge::{Deed, Ground, Place, Request};
use super::super::question::{About, Outside, Question};
use super::super::session::Session;
use super::{Cx, gate, ruling};

pub fn tell(cx: &mut Cx, decision: impl FnOnce() -> Decision) {
    if cx.is_audited {
        cx.push(Effect::Audit(Box::new(decision())));
    }
}

/// A file of the client, decided without a question.
pub fn file(request: &Request, is_allowed: bool, ground: &Ground, cx: &mut Cx) {
    let (event, tool, path) = match &request.deed {
        Deed::Read(path) => (Matter::Read, "read", path),
        Deed::Write(path) => (Matter::Write, "write", path),
        Deed::Permission { .. } | Deed::Run(_) => return,
    };
    let outside = || match (&request.place, &request.ruling) {
        (Place::Outside(real), _) => {
            vec![Outside { path: path.to_string(), real: Some(real.to_string_lossy().into_owned()) }]
        }
        (Place::Unknown | Place::Forbidden(_), Some(ruling)) => ruling.outside.clone(),
        _ => Vec::new(),
    };
    tell(cx, || {
        let because = Decision::because(is_allowed, ground);
        let decision = Decision { event, what: path.to_string(), outside: outside(), ..because };
        decision.about(Some(Claims::of_file(tool, path)))
    });
}

pub fn command(spec: &TerminalSpec, is_allowed: bool, ground: &Ground, cx: &mut Cx) {
    let because = || Decision { event: Matter::Run, what: spec.line(), ..Decision::because(is_allowed, ground) };
    tell(cx, || because().about(Some(claims_of(spec))));
}

/// A question of the agent's that was answered without the person.
pub fn permission(session: &Session, entry: EntryId, is_allowed: bool, ground: &Ground, cx: &mut Cx) {
    tell(cx, || about_call(session, entry, Decision::because(is_allowed, ground)));
}

fn about_call(session: &Session, entry: EntryId, decision: Decision) -> Decision {
    let Some(tool) = session.tool(entry) else { return decision };
    let kind = Some(format!("{:?}", tool.kind).to_lowercase());
    Decision { what: tool.label().to_owned(), kind, ..decision }.about(Some(ruling::of_call(session, tool)))
}

fn about(session: &Session, question: &Question, decision: Decision) -> Decision {
    let decision = Decision { outside: question.outside.clone(), ..decision.offered(&question.options) };
    match &question.about {
        About::Permission => {
            let told = about_call(session, question.entry, Decision { event: Matter::Permission, ..decision });
            let title = question.wording.as_deref().map(|wording| wording.title.clone());
            Decision { what: title.filter(|title| !title.is_empty()).unwrap_or(told.what), ..told }
        }
        About::Write => {
            let what = session.write(question.req).map(|write| write.path.to_string()).unwrap_or_default();
            let claims = Claims::of_file("write", &what);
            Decision { event: Matter::Write, what, ..decision }.about(Some(claims))
        }
        About::Read(read) => {
            let claims = Claims::of_file("read", &read.path);
            Decision { event: Matter::Read, what: read.path.clone(), ..decision }.about(Some(claims))
        }
        About::Run(spec) => Decision { event: Matter::Run, what: spec.line(), ..decision }.about(Some(claims_of(spec))),
        About::Asked { asking, .. } => Decision { event: Matter::Form, what: asking.message().to_owned(), ..decision },
    }
}

fn waited(question: &Question, cx: &Cx) -> Option<u64> {
    u64::try_from(cx.now.saturating_sub(question.at).as_millis()).ok()
}

/// Of the person, while they are there.
fn by_hand(question: &Question, verdict: Outcome) -> Decision {
    if question.is_left {
        let reason = Some("the input has ended".to_owned());
        return Decision { reason, ..Decision::of(verdict, By::Client) };
    }
    Decision::of(verdict, By::Person)
}

/// The person has answered.
pub fn answered(session: &Session, question: &Question, option: &str, cx: &mut Cx) {
    let waited_ms = waited(question, cx);
    tell(cx, || {
        let chosen = question.options.iter().find(|offered| offered.id == option);
        let verdict = match &question.about {
            About::Permission | About::Asked { .. } => chosen.map_or(Outcome::Answered, |chosen| chosen.kind.into()),
            About::Read(_) | About::Write | About::Run(_) if option == gate::ALLOW => Outcome::Allow,
            About::Read(_) | About::Write | About::Run(_) => Outcome::Deny,
        };
        let option = chosen.map(|chosen| chosen.name.clone());
        about(session, question, Decision { option, waited_ms, ..by_hand(question, verdict) })
    });
}

/// The person has refused a question that offers no answer for that.
pub fn refused(session: &Session, question: &Question, cx: &mut Cx) {
    let waited_ms = waited(question, cx);
    tell(cx, || about(session, question, Decision { waited_ms, ..by_hand(question, Outcome::Deny) }));
}

/// The person has answered a form, or was sent to a page.
pub fn replied(session: &Session, question: &Question, reply: &Reply, cx: &mut Cx) {
    let waited_ms = waited(question, cx);
    let verdict = match reply {
        Reply::Filled(_) | Reply::Visits => Outcome::Answered,
        Reply::Decline => Outcome::Deny,
        Reply::Cancel => Outcome::Cancelled,
    };
    tell(cx, || about(session, question, Decision { waited_ms, ..by_hand(question, verdict) }));
}

/// The review has what the person decided about a held write.
pub fn held(session: &Session, question: &Question, outcome: &HeldOutcome, cx: &mut Cx) {
    let waited_ms = waited(question, cx);
    let (verdict, reason) = match outcome {
        HeldOutcome::Whole { .. } => (Outcome::Allow, None),
        HeldOutcome::Partly { .. } => (Outcome::Allow, Some("in part".to_owned())),
        HeldOutcome::Refused => (Outcome::Deny, None),
        HeldOutcome::Failed { message } => (Outcome::Cancelled, Some(message.clone())),
    };
    tell(cx, || about(session, question, Decision { reason, waited_ms, ..Decision::of(verdict, By::Person) }));
}

/// A rule that was made meanwhile answers a question of the client.
pub fn ruled(session: &Session, question: &Question, is_allowed: bool, ground: &Ground, cx: &mut Cx) {
    tell(cx, || about(session, question, Decision::because(is_allowed, ground)));
}

/// The question goes without an answer.
pub fn closed(session: &Session, question: &Question, why: Withdrawal, cx: &mut Cx) {
    let by = match why {
        Withdrawal::ByAgent | Withdrawal::Moot => By::Agent,
        Withdrawal::TurnStopped | Withdrawal::ChildStopped | Withdrawal::SessionClosed => By::Person,
        Withdrawal::TurnEnded | Withdrawal::OutOfSight | Withdrawal::TooLarge => By::Client,
    };
    cancelled(session, question, by, why.words(), cx);
}

/// The agent of the question is gone.
pub fn void(session: &Session, question: &Question, cx: &mut Cx) {
    cancelled(session, question, By::Agent, "the agent is gone", cx);
}

fn cancelled(session: &Session, question: &Question, by: By, why: &str, cx: &mut Cx) {
    tell(cx, || {
        let decision = Decision { reason: Some(why.to_owned()), ..Decision::of(Outcome::Cancelled, by) };
        about(session, question, decision)
    });
}
