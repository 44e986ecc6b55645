//! What is answered to forms and pages of the agent without a person to fill them in.
//!
//! Reads and sends nothing. Invariant: what does not keep to a form is not sent, and the field and its rule are named.

use super::print::json_line;
use crate::base::sanitize;
use crate::model::event::Asking;
use crate::model::form::Reply;
use crate::model::ids::ReqId;
use crate::model::question::{About, Waiting};
use crate::model::session_ref::SessionRef;
use serde_json::{Map, Value, json};

/// Values by the names of fields, for every form of a run.
pub type Answers = Map<String, Value>;

/// What is answered, and what is said of it.
#[derive(Debug)]
pub struct Answered {
    pub req: ReqId,
    pub reply: Reply,
    /// For readers of JSON lines.
    pub line: String,
    /// For the person, where there is something to say.
    pub words: Option<String>,
}

/// The first form or page that waits, with what is answered to it.
pub fn next(session: SessionRef<'_>, answers: Option<&Answers>) -> Option<Answered> {
    let asked = session.waiting().find_map(|waiting| match waiting {
        Waiting::Question(question) => match &question.about {
            About::Asked { asking, .. } => Some((question.req, asking)),
            _ => None,
        },
        Waiting::LogIn(_) => None,
    });
    let (req, asking) = asked?;
    let (reply, words) = reply(asking, answers);
    let message = asking.message();
    let id = match asking {
        Asking::Form(_) => req.0.to_string(),
        Asking::Page(page) => page.id.to_string(),
    };
    let masked: Vec<&str> = reply.secrets().map(|(name, _)| name).collect();
    let action = reply.action();
    let line = json!({ "type": "elicitation", "id": id, "message": message, "action": action, "masked": masked });
    let words = words.map(|words| sanitize::line(&words).into_owned());
    Some(Answered { req, reply, line: json_line(line), words })
}

fn reply(asking: &Asking, answers: Option<&Answers>) -> (Reply, Option<String>) {
    let form = match asking {
        Asking::Form(form) => form,
        Asking::Page(page) => return (Reply::Decline, Some(format!("declined to visit {}", page.address))),
    };
    let Some(answers) = answers else { return (Reply::Decline, None) };
    match form.fill(|_, field| answers.get(&field.name).cloned()) {
        Ok(values) if values.is_empty() && !form.fields.is_empty() => {
            (Reply::Decline, Some("declined: no answer is for a field of this form".to_owned()))
        }
        Ok(values) => (Reply::Filled(values.into()), None),
        Err(unfit) => {
            let name = form.fields.get(unfit.field).map_or("", |field| field.name.as_str());
            (Reply::Decline, Some(format!("declined: field {name}: {}", unfit.why)))
        }
    }
}
