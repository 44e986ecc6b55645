//! What waits for the person as lines, and what the numbers below it mean.
//!
//! Sends nothing. Invariants: all that is asked about is printed before its answers; what lasts says so, and is not
//! offered where something in the question is not seen as it is.

use super::QUOTE;
use crate::base::sanitize;
use crate::model::event::{Asking, AuthKind, Intent, PermissionKind};
use crate::model::form::{Field, FieldKind, Form, Page, Reply};
use crate::model::ids::{Now, ReqId};
use crate::model::login::{LogIn, command_line};
use crate::model::question::{self, About, Question, Waiting};
use crate::model::session_ref::SessionRef;
use crate::text::line::LogicalLine;
use crate::ui::cells::{self, CellCtx};
use crate::ui::labels;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An answer that comes sooner after its question was typed before it was read.
const TOO_SOON: Duration = Duration::from_millis(700);
/// How long a question is not told for the sake of where its change stands in the file.
const COMPARED: Duration = Duration::from_millis(300);

/// Which of the things that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// With how often what it is about has changed, and what is known of it: it is told again then.
    Question(ReqId, u64, usize),
    LogIn,
}

impl Which {
    /// The same, whatever has changed in it.
    pub(super) fn is_again(self, other: Self) -> bool {
        match (self, other) {
            (Self::Question(one, ..), Self::Question(other, ..)) => one == other,
            (one, other) => one == other,
        }
    }
}

pub(super) fn which(waiting: Waiting<'_>, session: SessionRef<'_>) -> Which {
    match waiting {
        Waiting::Question(question) => {
            let changed = session.entries().get(question.entry).map_or(0, |entry| entry.rev);
            Which::Question(question.req, changed, question.previews.len() + question.outside.len())
        }
        Waiting::LogIn(_) => Which::LogIn,
    }
}

/// Until when a question is not told, as its change is being compared with the disk.
pub(super) fn is_compared_until(waiting: Waiting<'_>) -> Option<Now> {
    let Waiting::Question(question) = waiting else { return None };
    question.is_being_compared().then(|| question.at.saturating_add(COMPARED))
}

/// What a number does.
#[derive(Clone, Debug, PartialEq)]
enum Does {
    Intent(Intent),
    /// It cannot be done here; what to do instead.
    Say(Vec<String>),
    /// The form goes out as it is filled in.
    Submit(ReqId),
    /// The form from its first field on.
    FillIn,
}

#[derive(Debug)]
pub(super) struct Asked {
    pub(super) which: Which,
    shown: Instant,
    /// As it was printed.
    pub(super) lines: Vec<String>,
    choices: Vec<(String, Does)>,
    filling: Option<Filling>,
}

/// A form that is being filled in.
#[derive(Debug)]
struct Filling {
    form: Arc<Form>,
    values: Vec<Option<Value>>,
}

/// What comes of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Answered {
    Do(Intent),
    Say(Vec<String>),
}

impl Asked {
    /// What waits.
    pub(super) fn of(waiting: Waiting<'_>, session: SessionRef<'_>, (now, home): (Now, Option<&Path>)) -> Self {
        let mut asked = Self {
            which: which(waiting, session),
            shown: Instant::now(),
            lines: Vec::new(),
            choices: Vec::new(),
            filling: None,
        };
        let mut lines = match waiting {
            Waiting::LogIn(log_in) => asked.log_in(log_in, session),
            Waiting::Question(question) => match &question.about {
                About::Asked { asking: Asking::Form(form), .. } => asked.form(question.req, form, session),
                About::Asked { asking: Asking::Page(page), .. } => asked.page(question.req, page, session),
                About::Permission | About::Read(_) | About::Write | About::Run(_) => {
                    let about = about(question, session, (now, home));
                    asked.permission(question, &about, session);
                    permission_lines(question, about, session)
                }
            },
        };
        lines.extend(asked.listed());
        asked.lines = lines;
        asked
    }

    /// The answers with their numbers, and the field that is next.
    fn listed(&self) -> Vec<String> {
        if let Some(field) = self.field() {
            return field_lines(field, self.at(), self.filling.as_ref().map_or(0, |filling| filling.form.fields.len()));
        }
        let choices = self.choices.iter().enumerate();
        let mut lines: Vec<String> = choices.map(|(at, (words, _))| format!("  {}: {words}", at + 1)).collect();
        let is_answer = |does: &Does| matches!(does, Does::Intent(Intent::Answer { .. } | Intent::Refuse { .. }));
        let refuses = self.choices.iter().any(|(_, does)| is_answer(does));
        lines.push(
            if refuses { "answer: type the number, or :no REASON" } else { "answer: type the number" }.to_owned(),
        );
        lines
    }

    fn permission(&mut self, question: &Question, about: &cells::Asked, session: SessionRef<'_>) {
        let deceives = question.deceives(session.session());
        let is_cut = !about.is_kept || !about.is_set_out || about.is_bare && !about.is_whole;
        for option in &question.options {
            let lasts = question::holds(option);
            let name = sanitize::line(&option.name).into_owned();
            let is_of_session = |verbs| labels::is_of_session(&name.to_lowercase(), verbs);
            let what = match option.kind {
                // How long is the agent's to say.
                PermissionKind::AllowAlways if is_of_session(labels::YES) => "lasts",
                PermissionKind::RejectAlways if is_of_session(labels::NO) => "lasts",
                PermissionKind::AllowOnce if lasts => "allows this, and may last",
                PermissionKind::AllowOnce => "allows this once",
                PermissionKind::AllowAlways => "allows for good",
                PermissionKind::RejectOnce => "refuses this once",
                PermissionKind::RejectAlways => "refuses for good",
                PermissionKind::Unknown => "what it does is not known here",
            };
            let does = if lasts && deceives {
                Does::Say(vec!["withheld: it holds hidden characters; answer this once".to_owned()])
            } else if lasts && is_cut {
                Does::Say(vec!["withheld: it is too long to be shown as a whole; answer this once".to_owned()])
            } else {
                Does::Intent(Intent::Answer { req: question.req, option: option.id.clone() })
            };
            self.choices.push((format!("{name} ({what})"), does));
        }
        if question.options.is_empty() {
            let refuse = Intent::Refuse { req: question.req, reason: String::new() };
            self.choices.push(("Refuse".to_owned(), Does::Intent(refuse)));
        }
    }

    fn page(&mut self, req: ReqId, page: &Page, session: SessionRef<'_>) -> Vec<String> {
        let reply = |reply| Does::Intent(Intent::AnswerAsked { req, reply });
        self.choices = vec![
            ("I go there".to_owned(), reply(Reply::Visits)),
            ("Decline".to_owned(), reply(Reply::Decline)),
            ("Cancel".to_owned(), reply(Reply::Cancel)),
        ];
        let host = crate::text::address::host(&page.address).unwrap_or("a host that cannot be told for certain");
        vec![
            format!("question: {} asks you to visit a page of {host}", labels::agent(session)),
            format!("{QUOTE}{}", sanitize::line(&page.message)),
            format!("{QUOTE}{}", sanitize::line(&page.address)),
        ]
    }

    fn form(&mut self, req: ReqId, form: &Arc<Form>, session: SessionRef<'_>) -> Vec<String> {
        let mut lines = vec![format!("question: {} asks: {}", labels::agent(session), sanitize::line(&form.message))];
        let more = [&form.title, &form.description];
        lines.extend(
            more.into_iter()
                .flatten()
                .flat_map(|text| text.lines())
                .map(|line| format!("{QUOTE}{}", sanitize::line(line))),
        );
        let is_unfit =
            |field: &&Field| field.is_secret || matches!(field.kind, FieldKind::Unknown(_)) && field.is_required;
        if let Some(field) = form.fields.iter().find(is_unfit) {
            let why = if field.is_secret {
                "asks for a secret, which would be seen here"
            } else {
                "cannot be filled in here"
            };
            lines.push(format!("  the field {} {why}: use the full screen", sanitize::line(field.label())));
        } else {
            self.filling = Some(Filling { form: Arc::clone(form), values: Vec::new() });
            self.choices.push(("Submit".to_owned(), Does::Submit(req)));
            self.choices.push(("Fill it in again".to_owned(), Does::FillIn));
        }
        let reply = |reply| Does::Intent(Intent::AnswerAsked { req, reply });
        self.choices.push(("Decline".to_owned(), reply(Reply::Decline)));
        self.choices.push(("Cancel".to_owned(), reply(Reply::Cancel)));
        lines
    }

    fn log_in(&mut self, log_in: &LogIn, session: SessionRef<'_>) -> Vec<String> {
        let mut lines = vec![format!(
            "question: {} wants you to log in: {}",
            labels::agent(session),
            sanitize::line(&log_in.error.message)
        )];
        lines.extend(log_in.error.data_lines().iter().map(|line| format!("{QUOTE}{}", sanitize::line(line))));
        for method in &session.agent().auth_methods {
            let does = match &method.kind {
                AuthKind::Agent => Does::Intent(Intent::Authenticate { method: method.id.clone() }),
                AuthKind::Env { vars, .. } => {
                    Does::Say(vec![format!("set {} in the environment, and start again", vars.join(", "))])
                }
                AuthKind::Typed { .. } => Does::Say(vec![
                    "it is typed hidden, which takes the screen: start this program without --plain".to_owned(),
                ]),
                kind @ (AuthKind::Terminal { .. } | AuthKind::Command { .. }) => Does::Say(vec![
                    "it takes a terminal of its own; type this in another one:".to_owned(),
                    format!("  {}", sanitize::line(&command_line(session.agent(), kind).unwrap_or_default())),
                    "and then :restart here".to_owned(),
                ]),
            };
            self.choices.push((sanitize::line(&method.name).into_owned(), does));
        }
        if log_in.is_wanted {
            self.choices.push(("Leave it".to_owned(), Does::Intent(Intent::LeaveAuthentication)));
        }
        lines
    }

    fn at(&self) -> usize {
        self.filling.as_ref().map_or(0, |filling| filling.values.len())
    }

    /// The field that the next line is for.
    fn field(&self) -> Option<&Field> {
        let filling = self.filling.as_ref()?;
        filling.form.fields.get(filling.values.len())
    }

    /// A line that came so soon was typed before the question was read.
    pub(super) fn is_too_soon(&self, at: Instant) -> bool {
        at.saturating_duration_since(self.shown) < TOO_SOON
    }

    /// Whether the next line is for a field, whatever it says.
    pub(super) fn takes_lines(&self) -> bool {
        self.field().is_some()
    }

    /// The number of an answer, from 1.
    pub(super) fn number(&mut self, number: usize) -> Answered {
        let Some((_, does)) = number.checked_sub(1).and_then(|at| self.choices.get(at)) else {
            return Answered::Say(vec![format!("there is no answer {number}: type 1 to {}", self.choices.len())]);
        };
        match does.clone() {
            Does::Submit(req) => self.submit(req),
            Does::Intent(intent) => Answered::Do(intent),
            Does::Say(lines) => Answered::Say(lines),
            Does::FillIn => {
                if let Some(filling) = &mut self.filling {
                    filling.values.clear();
                }
                Answered::Say(self.listed())
            }
        }
    }

    fn submit(&mut self, req: ReqId) -> Answered {
        let Some(filling) = &mut self.filling else { return Answered::Say(Vec::new()) };
        let values = &filling.values;
        match filling.form.fill(|at, _| values.get(at).cloned().flatten()) {
            Ok(values) => Answered::Do(Intent::AnswerAsked { req, reply: Reply::Filled(values.into()) }),
            Err(unfit) => {
                let name = filling.form.fields.get(unfit.field).map_or("", Field::label).to_owned();
                filling.values.truncate(unfit.field);
                let mut lines = vec![format!("{} does not fit: {}", sanitize::line(&name), unfit.why)];
                lines.extend(self.listed());
                Answered::Say(lines)
            }
        }
    }

    /// A line for the field that is next. Empty, it leaves what the field has already, or leaves it out.
    pub(super) fn fill(&mut self, line: &str) -> Vec<String> {
        let Some(field) = self.field() else { return Vec::new() };
        let value = if line.trim().is_empty() {
            field.default.as_ref().and_then(|value| serde_json::to_value(value).ok())
        } else {
            match value_of(field, line) {
                Ok(value) => Some(value),
                Err(why) => return vec![format!("that does not fit: {why}; once more, or :no to decline")],
            }
        };
        if value.is_none() && field.is_required {
            return vec!["it is required; type a value, or :no to decline".to_owned()];
        }
        if let Some(filling) = &mut self.filling {
            filling.values.push(value);
        }
        self.listed()
    }

    /// The form or question is turned down.
    pub(super) fn refused(&self, reason: &str) -> Option<Intent> {
        match self.which {
            Which::Question(req, ..) => Some(Intent::Refuse { req, reason: reason.to_owned() }),
            Which::LogIn => None,
        }
    }

    /// The same when nobody is there any more.
    pub(super) fn left(&self) -> Option<Intent> {
        match self.which {
            Which::Question(req, ..) => Some(Intent::RefuseLeft(req)),
            Which::LogIn => None,
        }
    }
}

/// The value that a field takes, from what was typed for it.
fn value_of(field: &Field, line: &str) -> Result<Value, String> {
    let line = line.trim_end();
    let choice = |word: &str| {
        let by_number = word.parse::<usize>().ok().and_then(|number| field.choices().get(number.checked_sub(1)?));
        let found =
            by_number.or_else(|| field.choices().iter().find(|choice| choice.value == word || choice.title == word));
        found.map(|choice| Value::from(choice.value.as_str())).ok_or_else(|| format!("{word} is none of the choices"))
    };
    let value = match &field.kind {
        FieldKind::Text { .. } | FieldKind::Unknown(_) => Value::from(line),
        FieldKind::Number { .. } => {
            serde_json::from_str(line.trim()).ok().filter(Value::is_number).ok_or("type number")?
        }
        FieldKind::Switch => match line.trim().to_lowercase().as_str() {
            "y" | "yes" | "1" | "true" | "on" => Value::Bool(true),
            "n" | "no" | "0" | "2" | "false" | "off" => Value::Bool(false),
            _ => return Err("yes or no".to_owned()),
        },
        FieldKind::One(_) => choice(line.trim())?,
        FieldKind::Many { .. } => {
            let words = line.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
            Value::Array(words.map(choice).collect::<Result<_, _>>()?)
        }
    };
    field.take(&value).map(|_| value)
}

fn field_lines(field: &Field, at: usize, of: usize) -> Vec<String> {
    let kind = match &field.kind {
        FieldKind::Text { .. } => "text",
        FieldKind::Number { whole: true, .. } => "whole number",
        FieldKind::Number { .. } => "number",
        FieldKind::Switch => "yes or no",
        FieldKind::One(_) => "one of these, by its number",
        FieldKind::Many { .. } => "any of these, by their numbers",
        FieldKind::Unknown(_) => "cannot be filled in here; an empty line leaves it out",
    };
    let default = field.default.as_ref().and_then(|value| serde_json::to_string(value).ok());
    let else_ = match (default, field.is_required) {
        (Some(value), _) => format!("; an empty line takes {}", sanitize::line(&value)),
        (None, true) => "; required".to_owned(),
        (None, false) => "; an empty line leaves it out".to_owned(),
    };
    let mut lines = vec![format!("field {} of {of}: {}: {kind}{else_}", at + 1, sanitize::line(field.label()))];
    lines.extend(
        field.description.iter().flat_map(|text| text.lines()).map(|line| format!("{QUOTE}{}", sanitize::line(line))),
    );
    lines.extend(field.choices().iter().enumerate().map(|(at, choice)| {
        let more = choice.description.as_deref().map(|words| format!(": {words}")).unwrap_or_default();
        format!("  {}: {}", at + 1, sanitize::line(&format!("{}{more}", choice.title)))
    }));
    lines
}

/// What a question is about, as on the screen.
fn about(question: &Question, session: SessionRef<'_>, (now, home): (Now, Option<&Path>)) -> cells::Asked {
    let roots = [PathBuf::from(&session.cwd)];
    let ctx = CellCtx {
        session,
        width: super::WIDE,
        now,
        with: &[],
        fold: None,
        plan_beside: false,
        typing: None,
        roots: &roots,
        home,
        pictures: None,
        keys: None,
    };
    cells::asked(question, cells::Sent::Whole, &ctx)
}

/// The same as lines, without its looks.
fn permission_lines(question: &Question, about: cells::Asked, session: SessionRef<'_>) -> Vec<String> {
    let cells::Asked { verb, lines: mut body, wording, sent, is_bare, .. } = about;
    let first = if body.is_empty() { String::new() } else { body.remove(0).text.as_str().to_owned() };
    let mut lines = vec![format!("question: {} wants to {verb} {first}", labels::agent(session))];
    lines.extend(wording.iter().chain(&body).chain(sent.iter().filter(|_| is_bare)).map(line));
    lines.extend(question.note.iter().map(|note| format!("{QUOTE}{}", sanitize::line(note))));
    if question.is_hook_asked {
        lines.push("  the decision hook is asked".to_owned());
    } else if let Some(hook) = &question.hook {
        lines.push(format!("  {}", sanitize::line(&hook.words())));
    }
    lines
}

fn line(line: &LogicalLine) -> String {
    let right = if line.right.is_empty() { String::new() } else { format!(" {}", line.right.as_str()) };
    format!("{QUOTE}{}{}{}{right}", line.gutter.as_str(), line.prefix.as_str(), line.text.as_str())
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::{AgentEvent, AgentRequest, PermissionOption};
    use crate::model::patch::Patch;
    use crate::model::tool::{ToolKind, ToolPatch};
    use crate::ui::fixtures::{Scene, session};
    use serde_json::json;

    /// A question about a call of that kind with that input.
    fn asked(kind: ToolKind, input: Value) -> Asked {
        let mut scene = Scene::working(100, 30);
        let mut tool = ToolPatch::new("t".into());
        (tool.title, tool.kind) = (Patch::Set("do it".into()), Patch::Set(kind));
        tool.raw_input = Patch::Set(input);
        let option = |id: &str, kind| PermissionOption { id: id.into(), name: id.into(), kind };
        let options = vec![option("once", PermissionKind::AllowOnce), option("always", PermissionKind::AllowAlways)];
        let request = AgentRequest::Permission { tool, options };
        scene.agent(AgentEvent::Request { req: ReqId(1), session: Some(session()), request: request.into() });
        let of = scene.model.first();
        Asked::of(of.waiting().next().unwrap(), of, (Now::ZERO, None))
    }

    #[test]
    fn a_question_has_all_of_what_was_sent_where_nothing_else_says_what_is_asked() {
        let rows = (0..60).map(|n| format!("row {n}")).collect::<Vec<_>>().join("\n");
        for (kind, input, said) in [
            (ToolKind::Edit, json!({ "file_path": "a.rs", "old_string": "one", "new_string": "evil two" }), "evil two"),
            (ToolKind::Fetch, json!({ "url": "https://x.com", "method": "POST", "body": "a secret" }), "a secret"),
            (ToolKind::Move, json!({ "from": "a.rs", "onto": "b.rs" }), "b.rs"),
            (ToolKind::Execute, json!({ "command": "ls", "stdin": rows }), "row 59"),
            (ToolKind::Other, json!({ "text": rows }), "row 59"),
            (ToolKind::Execute, json!({ "command": "ls", "uid": 0 }), "uid: 0"),
        ] {
            let mut asked = asked(kind, input.clone());
            assert!(asked.lines.iter().any(|line| line.contains(said)), "{input}: {:?}", asked.lines);
            assert!(matches!(asked.number(2), Answered::Do(_)), "{input}");
        }
    }

    #[test]
    fn what_is_too_long_to_be_shown_as_a_whole_is_answered_once() {
        let rows = (0..5000).map(|n| format!("row {n}")).collect::<Vec<_>>().join("\n");
        let mut asked = asked(ToolKind::Other, json!({ "text": rows }));
        assert!(matches!(asked.number(2), Answered::Say(words) if words[0].contains("too long")));
        assert!(matches!(asked.number(1), Answered::Do(_)));
    }
}
