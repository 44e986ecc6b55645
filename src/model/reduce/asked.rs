//! What an agent asks the person beyond yes or no: forms to fill in and pages to visit.
//!
//! Whether a form is filled in rightly was checked where it was typed. Invariants: each is answered exactly once; of what
//! was filled in only the names of the fields are in the transcript, unless the person wants to keep it; a secret
//! never is.

use super::super::effect::{Answer, Effect, Withdrawal};
use super::super::entry::{Body, Level, Notice};
use super::super::event::Asking;
use super::super::form::{Field, FieldValue, Filled, Form, Reply};
use super::super::ids::{EntryId, ReqId, ToolId};
use super::super::question::{About, Offered, Question};
use super::super::session::Session;
use super::{Cx, audit, notice, permission, thinking};

/// Pages that the person has gone to and that are not done.
const MAX_PAGES: usize = 100;

/// `(call, of)` are the call of ours and the tool call that it is asked for.
pub fn ask(session: &mut Session, req: ReqId, asking: Asking, (call, of): (Option<u64>, Option<ToolId>), cx: &mut Cx) {
    if session.turn.as_ref().is_some_and(|turn| turn.cancelling.is_some()) {
        return cx.push(Effect::Respond { req, answer: Answer::Cancelled });
    }
    let (title, detail) = words("asks", asking.message());
    let entry = notice(session, Level::Info, title, detail, cx.now);
    permission::wait(session, req, entry, About::Asked { asking, call, of }, Offered::default(), cx);
}

/// What has become of it, and what the agent wanted: its first line, and the others.
fn words(what: &str, message: &str) -> (String, Vec<String>) {
    let mut lines = message.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    (format!("{what}: {first}"), lines.map(str::to_owned).collect())
}

/// Which fields the person has filled in; with what, where that is kept and no secret.
fn filled_in(form: &Form, filled: &Filled) -> Vec<String> {
    let fields = filled.values.iter().filter_map(|(name, value)| {
        let field = form.fields.iter().find(|field| field.name == *name)?;
        Some((field, value))
    });
    if !filled.is_kept {
        let names: Vec<&str> = fields.map(|(field, _)| field.label()).collect();
        return if names.is_empty() { Vec::new() } else { vec![format!("filled in: {}", names.join(", "))] };
    }
    let told = |(field, value): (&Field, &FieldValue)| format!("{}: {}", field.label(), field.words(value));
    fields.map(told).flat_map(|told| told.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn retell(session: &mut Session, entry: EntryId, what: &str, asking: &Asking, more: Vec<String>) {
    let (title, mut detail) = words(what, asking.message());
    detail.extend(more);
    session.entries.change(entry, |e| {
        e.body = Body::Notice(Notice::new(Level::Info, title, detail));
    });
}

/// The person's answer. A second one changes nothing.
pub fn answer(session: &mut Session, req: ReqId, reply: Reply, cx: &mut Cx) {
    let is_it = |question: &Question| match &question.about {
        About::Asked { asking: Asking::Form(_), .. } => question.req == req && reply != Reply::Visits,
        About::Asked { .. } => question.req == req && !matches!(reply, Reply::Filled(_)),
        _ => false,
    };
    let Some(at) = session.questions.iter().position(is_it) else { return };
    let question = session.questions.remove(at);
    audit::replied(session, &question, &reply, cx);
    thinking::over(session, &question, cx.now);
    let Question { entry, about, .. } = question;
    let About::Asked { asking, .. } = about else { return };
    let what = match (&reply, &asking) {
        (Reply::Visits, Asking::Page(page)) => {
            if session.pages.len() < MAX_PAGES {
                session.pages.push((entry, page.clone()));
            }
            "sent to a page, which is not done yet"
        }
        (Reply::Filled(_) | Reply::Visits, _) => "answered",
        (Reply::Decline, _) => "declined",
        (Reply::Cancel, _) => "left unanswered",
    };
    let more = match (&reply, &asking) {
        (Reply::Filled(filled), Asking::Form(form)) => filled_in(form, filled),
        _ => Vec::new(),
    };
    retell(session, entry, what, &asking, more);
    cx.push(Effect::Respond { req, answer: Answer::Reply(reply) });
}

/// What the person was sent to this page for is done. One that they have not gone to is not asked about any more.
pub fn page_done(session: &mut Session, id: &str, cx: &mut Cx) {
    if let Some(at) = session.pages.iter().position(|(_, page)| &*page.id == id) {
        let (entry, page) = session.pages.remove(at);
        return retell(session, entry, "done on its page", &Asking::Page(page), Vec::new());
    }
    let is_it = |question: &Question| match &question.about {
        About::Asked { asking: Asking::Page(page), .. } => &*page.id == id,
        _ => false,
    };
    if let Some(at) = session.questions.iter().position(is_it) {
        let pending = session.questions.remove(at);
        permission::close(session, &pending, Withdrawal::ByAgent, cx);
    }
}

/// The call of ours that they were asked for has been answered.
pub fn moot(session: &mut Session, reqs: &[ReqId], cx: &mut Cx) {
    while let Some(at) = session.questions.iter().position(|question| reqs.contains(&question.req)) {
        let pending = session.questions.remove(at);
        permission::close(session, &pending, Withdrawal::Moot, cx);
    }
}

/// It is not asked any more. False: the question is about something else.
pub fn closed(session: &mut Session, pending: &Question, why: &str) -> bool {
    let About::Asked { asking, .. } = &pending.about else { return false };
    retell(session, pending.entry, &format!("no longer asked, {why}"), asking, Vec::new());
    true
}
