//! `reduce`: the only code that changes the model. It matches the outer level only; one file per group of events
//! does the work.
//!
//! No IO, no clock, no channel: the same events at the same times give the same model and the same effects.

mod gate;
mod host;
mod lifecycle;
mod options;
mod permission;
mod prompt;
mod review;
mod service;
mod shed;
mod tool;
mod update;

pub use gate::Gated;
pub use lifecycle::LOGIN_LINES;
pub use review::COVERAGE_PATIENCE;

use super::Model;
use super::effect::Effect;
use super::entry::{Body, Level, Notice};
use super::event::{AgentEvent, AgentRequest, Event, Intent, Odd, Timer, Update};
use super::ids::{EntryId, Now, ReqId, SessionId};
use super::session::Phase;

/// Messages that are kept until `session/new` has named the session.
const EARLY_LIMIT: usize = 1024;
/// Bytes of the texts in them.
const EARLY_BYTES: usize = 16 << 20;
/// Sorts of odd messages that are told of.
const MAX_NOTICED: usize = 64;

/// Something that named a session before we knew its id.
#[derive(Debug)]
pub enum Early {
    Update(SessionId, Update),
    Request(ReqId, SessionId, AgentRequest),
}

/// Applies one event and says what is to be done.
pub fn reduce(model: &mut Model, event: Event, now: Now) -> Vec<Effect> {
    let mut out = Vec::new();
    match event {
        Event::Agent(event) => agent_event(model, event, now, &mut out),
        Event::Host(event) => host::host_event(model, event, now, &mut out),
        Event::User(intent) => intent_of_person(model, intent, now, &mut out),
        Event::Timer(Timer::KillTerminals(turn)) => host::kill_terminals_of(model, turn, &mut out),
        Event::Timer(Timer::ExplainStray) => lifecycle::explain_stray(model, now),
        Event::Timer(Timer::Coverage(turn)) => review::late(model, turn, now, &mut out),
    }
    shed::shed(model, now, &mut out);
    out
}

fn agent_event(model: &mut Model, event: AgentEvent, now: Now, out: &mut Vec<Effect>) {
    if let Some(turn) = &mut model.session.turn {
        turn.heard = now;
    }
    match event {
        AgentEvent::Initialized(result) => lifecycle::initialized(model, result, now, out),
        AgentEvent::SessionOpened(result) => lifecycle::session_opened(model, result, now, out),
        AgentEvent::Authenticated { method, result } => lifecycle::authenticated(model, &method, result, now, out),
        AgentEvent::PromptDone { turn, result } => prompt::done(model, turn, result, now, out),
        AgentEvent::ModeSet { mode, result } => options::mode_set(model, &mode, result, now, out),
        AgentEvent::OptionSet { option, value, result } => {
            options::option_set(model, &option, &value, result, now, out);
        }
        AgentEvent::Update { session, update } => {
            if let Some(update) = for_session(model, session, update) {
                update::apply(model, update, now, out);
            }
        }
        AgentEvent::Request { req, session, request } => service::request(model, req, session, request, now, out),
        AgentEvent::MethodsOffered(methods) => {
            if model.agent.auth_methods.is_empty() {
                model.agent.auth_methods = methods;
            }
        }
        AgentEvent::RequestWithdrawn(req) => permission::withdrawn_by_agent(model, req, now, out),
        AgentEvent::Odd { what, head } => odd(model, what, head, now, out),
    }
}

fn intent_of_person(model: &mut Model, intent: Intent, now: Now, out: &mut Vec<Effect>) {
    match intent {
        Intent::Start => lifecycle::start(model, now, out),
        Intent::Restart => lifecycle::restart(model, now, out),
        Intent::KillAgent => lifecycle::kill(model, out),
        Intent::Authenticate { method } => lifecycle::authenticate(model, method, now, out),
        Intent::LeaveAuthentication => lifecycle::leave_authentication(model, out),
        Intent::Prompt { text, links } => prompt::prompt(model, text, links, now, out),
        Intent::Cancel => prompt::cancel(model, now, out),
        Intent::TakeBack => prompt::return_held(model, None, out),
        Intent::Answer { req, option } => permission::answer(model, req, option, out),
        Intent::SetGate(gate) => model.gate = gate,
        Intent::Review(action) => review::act(model, action, out),
        Intent::SetMode { id } => options::set_mode(model, id, out),
        Intent::SetOption { id, value } => options::set_option(model, &id, value, out),
        Intent::KillTerminal { term } => out.push(Effect::TerminalKill(term)),
    }
}

/// The update, if its session is ours; kept for later while `session/new` is on its way, else dropped and
/// counted.
fn for_session(model: &mut Model, session: SessionId, update: Update) -> Option<Update> {
    if model.session.id.as_ref() == Some(&session) {
        return Some(update);
    }
    if model.session.id.is_none() && model.early.len() < EARLY_LIMIT && has_room(model, &update) {
        model.early.push(Early::Update(session, update));
    } else {
        model.agent.odd.unknown += 1;
    }
    None
}

/// Whether the texts of what is kept stay within the bound. Lists are short by themselves.
fn has_room(model: &Model, update: &Update) -> bool {
    let size = |update: &Update| match update {
        Update::Chunk { block, .. } => block.size(),
        Update::ToolCall(patch) | Update::ToolUpdate(patch) => patch.size(),
        _ => 0,
    };
    let kept = model.early.iter().map(|early| if let Early::Update(_, update) = early { size(update) } else { 0 });
    kept.sum::<usize>() + size(update) <= EARLY_BYTES
}

/// Says once a connection that something of this sort came; all are counted, and the journal has them.
fn notice_once(model: &mut Model, sort: &str, title: String, detail: Vec<String>, now: Now) {
    if model.noticed.len() < MAX_NOTICED && model.noticed.insert(sort.to_owned()) {
        notice(model, Level::Info, title, detail, now);
    }
}

fn odd(model: &mut Model, what: Odd, head: String, now: Now, out: &mut Vec<Effect>) {
    let sort = match what {
        // A banner before the first answer is explained only when no answer follows.
        Odd::Stray if model.agent.name.is_some() || model.session.id.is_some() => Some("text that is no message"),
        Odd::Malformed => Some("a message that cannot be read"),
        Odd::TooLong => Some("a message that is too long and was left out"),
        // Extensions of agents are everyday; they and late answers are counted.
        Odd::Stray | Odd::Unknown | Odd::LateResponse => None,
    };
    let shown = what == Odd::Stray && lifecycle::login_line(model, &head, now);
    if let Some(sort) = sort.filter(|_| !shown) {
        notice_once(model, sort, format!("the agent sent {sort}"), vec![head.clone()], now);
    }
    let counts = &mut model.agent.odd;
    let count = match what {
        Odd::Stray => &mut counts.stray,
        Odd::Malformed => &mut counts.malformed,
        Odd::Unknown => &mut counts.unknown,
        Odd::TooLong => &mut counts.too_long,
        Odd::LateResponse => &mut counts.late,
    };
    *count += 1;
    let starting = matches!(model.phase, Phase::Starting { .. });
    if what == Odd::Stray && starting && model.agent.early_stray.is_none() && !head.trim().is_empty() {
        model.agent.early_stray = Some(head);
        out.push(Effect::StartTimer { timer: Timer::ExplainStray, after: lifecycle::EXPLAIN_AFTER });
    }
}

/// Adds a finished notice to the transcript.
fn notice(model: &mut Model, level: Level, title: impl Into<String>, detail: Vec<String>, now: Now) -> EntryId {
    let body = Body::Notice(Notice { level, title: title.into(), detail });
    let id = model.entries.push(model.last_turn, now, body);
    model.entries.finish(id);
    id
}
