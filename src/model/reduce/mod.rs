//! `reduce`: the only code that changes the model. It reads the address of an event, takes that one agent or session
//! out of the model and hands it to the file that knows its group of events.
//!
//! No IO, no clock, no channel: the same events at the same times give the same model and the same effects. Invariant:
//! only `lifecycle` and `beginning` see an agent together with its sessions; every other reducer sees one agent or one
//! session.

mod agent;
mod asked;
mod audit;
mod beginning;
mod budget;
mod child;
mod compaction;
mod cx;
mod far;
mod gate;
mod host;
mod keyring;
mod late;
mod leave;
mod lifecycle;
mod login;
mod opening;
mod options;
mod permission;
mod permission_mode;
mod prompt;
mod queue;
mod recalled;
mod retold;
mod review;
mod revival;
mod ruling;
mod service;
mod sessions;
mod shed;
mod shell;
mod sifting;
mod thinking;
mod tool;
mod unnamed;
mod update;

pub use cx::Cx;
pub use recalled::Found;
pub use review::COVERAGE_PATIENCE;
pub use ruling::of_call_done;
pub use sifting::Sifting;

use super::Model;
use super::agent::Agent;
use super::audit::{By, Decision, Matter, Outcome};
use super::effect::Effect;
use super::entry::{Body, DetailFold, Level, Notice};
use super::event::{AgentEvent, Dialect, Event, Hint, HostEvent, Intent, PromptAnswer, QueueAct, Timer, Update, Words};
use super::ids::{Address, Addressed, AgentKey, EntryId, Now, Owner, SessionKey};
use super::session::{PromptKind, Session, SessionState};
use super::setup::Unrecorded;

/// Sorts of odd messages that are told of.
const MAX_NOTICED: usize = 64;

/// Applies one event and says what is to be done.
pub fn reduce(model: &mut Model, event: Addressed<Event>, now: Now) -> Vec<Addressed<Effect>> {
    let mut cx = Cx::new(now);
    let cx = &mut cx;
    cx.is_hint = matches!(event.what, Event::Hint(_) | Event::Setup(_));
    cx.is_audited = model.is_audited;
    cx.date = model.date(now);
    if matches!(event.what, Event::User(_)) {
        budget::day(model, cx);
    }
    match (event.at, event.what) {
        (_, Event::Setup(setup)) => model.set_up(setup),
        (Address::Agent(key), Event::Agent(event)) => of_agent(model, key, event, cx),
        (Address::Agent(key), Event::Host(event)) => agent_fact(model, key, event, cx),
        (Address::All, Event::Host(HostEvent::Directories(named))) => model.directories = named,
        (Address::All, Event::Host(HostEvent::ClockSet(began))) => model.began = Some(began),
        (Address::All, Event::Host(HostEvent::Budget(set))) => budget::begin(model, set, cx),
        (Address::All, Event::Host(HostEvent::Spent(amount))) => budget::spent(model, amount, cx),
        (Address::Agent(key), Event::User(intent)) => to_agent(model, key, intent, cx),
        (Address::Agent(key), Event::Timer(Timer::ExplainStray)) => lifecycle::explain_stray(model, key, cx),
        (Address::Agent(key), Event::Timer(Timer::Revive)) => revival::begin(model, key, cx),
        (Address::Agent(key), Event::Timer(Timer::Credentials)) => login::expired(model, key, cx),
        (Address::Agent(key), Event::Timer(Timer::EarlyRequest(req))) => lifecycle::too_early(model, key, req, cx),
        (Address::Session(key), Event::Agent(AgentEvent::SessionOpened(result))) => {
            heard(model, key, cx);
            lifecycle::session_opened(model, key, result.map(|opened| *opened), cx);
        }
        (Address::Session(key), Event::User(Intent::Restart)) => lifecycle::restart_of(model, key, cx),
        (Address::Session(key), Event::User(Intent::CloseSession)) => lifecycle::closed_by_person(model, key, cx),
        (Address::Session(key), Event::User(Intent::SetTitle { title })) => sessions::set_title(model, key, title, cx),
        (Address::Session(key), Event::User(Intent::Steer { text, links })) => {
            lifecycle::steer(model, key, PromptKind::Person, Words { text, links }, cx);
        }
        (Address::Session(key), Event::User(Intent::Queue(QueueAct::Send(at)))) => {
            lifecycle::send_now(model, key, at, cx);
        }
        (Address::Session(key), Event::User(Intent::KeepAside)) => beginning::keep(model, key, cx),
        (Address::Session(key), Event::User(Intent::Follows(before))) => beginning::follow(model, key, before, cx),
        (Address::Session(key), Event::User(Intent::OpenAs(how))) => lifecycle::open_as(model, key, how, cx),
        (Address::Session(key), Event::Timer(Timer::History)) => lifecycle::history_is_quiet(model, key, cx),
        (Address::Session(key), Event::Timer(Timer::OldEnough)) => lifecycle::old_enough(model, key, cx),
        (Address::Agent(key), Event::Hint(Hint::Screen(term, screen))) => {
            in_agent(model, key, cx, |agent, _| agent::log_in_screen(agent, &term, screen));
        }
        (Address::Session(key), Event::Host(HostEvent::Recalled(part))) => beginning::recalled(model, key, part, cx),
        (Address::Session(key), event) => {
            in_session(model, key, cx, |session, cx| in_one_session(session, event, cx));
        }
        (Address::All, Event::User(Intent::AddAgent { command, env, cwd, how, .. })) => {
            lifecycle::add(model, (command, env), cwd, how, cx);
        }
        (Address::All, Event::Host(HostEvent::Warning { message })) => warn_all(model, &message, cx),
        (Address::All, Event::Host(HostEvent::JournalFailed { message })) => {
            model.set_journal(false);
            model.unrecorded = Some(Unrecorded::Ended);
            warn_all(model, &format!("the journal is not written any more: {message}"), cx);
        }
        (Address::All, Event::Host(HostEvent::JournalWaits { message })) => {
            model.unrecorded = Some(Unrecorded::Waits);
            warn_all(model, &message, cx);
        }
        (Address::All, Event::Host(HostEvent::JournalGoesOn { message })) => {
            model.unrecorded = None;
            warn_all(model, &message, cx);
        }
        // Nothing else concerns them.
        (Address::Agent(_), Event::Timer(_) | Event::Hint(_)) | (Address::All, _) => {}
    }
    if !cx.is_hint {
        login::restart_rested(model, cx);
    }
    std::mem::take(&mut cx.out)
}

/// Lets `f` change one agent.
fn in_agent<R>(model: &mut Model, key: AgentKey, cx: &mut Cx, f: impl FnOnce(&mut Agent, &mut Cx) -> R) -> Option<R> {
    let agent = model.agents.get_mut(&key)?;
    let before = std::mem::replace(&mut cx.at, Address::Agent(key));
    let result = f(agent, cx);
    cx.at = before;
    Some(result)
}

/// Lets `f` change one session, and does then to its agent what it has left word of.
fn in_session<R>(
    model: &mut Model,
    key: SessionKey,
    cx: &mut Cx,
    f: impl FnOnce(&mut Session, &mut Cx) -> R,
) -> Option<R> {
    let session = model.sessions.get_mut(&key)?;
    let of = session.agent;
    cx.is_up = model.agents.get(&of).is_some_and(Agent::is_up);
    cx.last_turn = model.last_turn;
    let before = std::mem::replace(&mut cx.at, Address::Session(key));
    let result = f(session, cx);
    shed::shed(session, cx);
    let is_asked = !session.questions.is_empty();
    if let Some(turn) = &mut session.turn {
        turn.waits.note(is_asked, cx.now);
    }
    if !cx.is_hint {
        leave::choose(session, cx);
    }
    cx.at = before;
    model.last_turn = cx.last_turn;
    let odd = std::mem::take(&mut cx.odd);
    if let Some(agent) = model.agents.get_mut(&of) {
        agent.odd.add(odd);
    }
    if let Some(error) = cx.log_in.take() {
        login::log_in_needed(model, of, Some(key), error, cx);
    }
    Some(result)
}

/// The same for each session of an agent that the person has not closed.
fn in_each(model: &mut Model, agent: AgentKey, cx: &mut Cx, mut f: impl FnMut(&mut Session, &mut Cx)) {
    let keys: Vec<SessionKey> = model.sessions_of(agent).map(|(key, _)| key).collect();
    for key in keys {
        in_session(model, key, cx, &mut f);
    }
}

fn warn_all(model: &mut Model, message: &str, cx: &mut Cx) {
    let agents: Vec<AgentKey> = model.agents.keys().copied().collect();
    for agent in agents {
        in_each(model, agent, cx, |session, cx| {
            notice(session, Level::Warn, message, Vec::new(), cx.now);
        });
    }
}

/// The agent has said something of this session.
fn heard(model: &mut Model, key: SessionKey, cx: &Cx) {
    let Some(session) = model.sessions.get_mut(&key) else { return };
    if let Some(turn) = &mut session.turn {
        turn.heard = cx.now;
    }
    if let SessionState::Loading { heard } = &mut session.state {
        *heard = cx.now;
    }
}

fn of_agent(model: &mut Model, key: AgentKey, event: AgentEvent, cx: &mut Cx) {
    let named = match &event {
        AgentEvent::Update { session, .. } | AgentEvent::Request { session: Some(session), .. } => Some(session),
        _ => None,
    };
    match named.map(|id| model.session_named(key, id).or_else(|| model.parent_of(key, id))) {
        Some(Some(session)) => heard(model, session, cx),
        Some(None) => {}
        // It lives, and which session it works at is not said.
        None => in_each(model, key, cx, |session, cx| {
            if let Some(turn) = &mut session.turn {
                turn.heard = cx.now;
            }
        }),
    }
    match event {
        AgentEvent::Initialized(result) => lifecycle::initialized(model, key, result, cx),
        AgentEvent::Authenticated { attempt, result } => {
            let outcome = if result.is_ok() { Outcome::Allow } else { Outcome::Deny };
            tell_of(key, cx, || Decision::new(Matter::Login, "", outcome, By::Agent));
            login::authenticated(model, key, attempt, result, cx);
        }
        AgentEvent::LoggedOut(result) => login::logged_out(model, key, result, cx),
        AgentEvent::AuthStatus(result) => login::status(model, key, result, cx),
        AgentEvent::AuthStatusTold { status, is_extension } => {
            login::status_told(model, key, status, is_extension, cx);
        }
        AgentEvent::Update { session, update } => {
            let used = matches!(update, Update::Usage { .. }).then(|| model.session_named(key, &session)).flatten();
            lifecycle::update(model, key, session, update, cx);
            if let Some(at) = used {
                budget::told(model, at, cx);
            }
        }
        AgentEvent::Request { req, session, request } => lifecycle::request(model, key, req, session, *request, cx),
        AgentEvent::MethodsOffered(methods) => {
            in_agent(model, key, cx, |agent, _| {
                if agent.auth_methods.is_empty() {
                    agent.offer(methods);
                }
            });
        }
        AgentEvent::RequestWithdrawn(req) => {
            let mut is_found = false;
            in_each(model, key, cx, |session, cx| {
                is_found = is_found || permission::withdrawn_by_agent(session, req, cx);
            });
        }
        AgentEvent::RequestsMoot(reqs) => {
            in_each(model, key, cx, |session, cx| asked::moot(session, &reqs, cx));
        }
        AgentEvent::PageDone(id) => in_each(model, key, cx, |session, cx| asked::page_done(session, &id, cx)),
        AgentEvent::SessionsListed { attempt, result } => {
            in_agent(model, key, cx, |agent, cx| sessions::listed(agent, attempt, result, cx));
            sessions::titled(model, key);
            if let Some(error) = cx.log_in.take() {
                login::log_in_needed(model, key, None, error, cx);
            }
        }
        AgentEvent::SessionDeleted { id, result } => sessions::deleted(model, key, id, result, cx),
        AgentEvent::Reconnecting { version, dialect, evidence } => {
            let words = match (evidence, dialect) {
                (Some(evidence), _) => {
                    format!(
                        "the agent speaks the dialect {} of the protocol ({evidence}): it is started again for that",
                        dialect.word()
                    )
                }
                (None, Dialect::Canonical) if version == 1 => {
                    "the agent refuses what it is told at first: it is started again and told less".to_owned()
                }
                (None, Dialect::Canonical) => {
                    format!("the agent speaks version {version} of the protocol: it is started again for that")
                }
                (None, _) => {
                    format!(
                        "the agent may speak the dialect {} of the protocol: it is started again for that",
                        dialect.word()
                    )
                }
            };
            in_agent(model, key, cx, |agent, _| agent.evidence = evidence);
            in_each(model, key, cx, |session, cx| {
                notice(session, Level::Info, words.as_str(), Vec::new(), cx.now);
            });
        }
        AgentEvent::Speaks { dialect, evidence } => {
            in_agent(model, key, cx, |agent, _| (agent.dialect, agent.evidence) = (dialect, Some(evidence)));
            in_each(model, key, cx, |session, cx| speaks(session, dialect, evidence, cx.now));
        }
        AgentEvent::Odd { what, head } => lifecycle::odd(model, key, what, &head, cx),
        // Addressed to a session.
        AgentEvent::SessionOpened(_)
        | AgentEvent::SessionClosed(_)
        | AgentEvent::TitleSet(_)
        | AgentEvent::PromptAnswered { .. }
        | AgentEvent::ModeSet { .. }
        | AgentEvent::ItemCancelled(_)
        | AgentEvent::Steered { .. }
        | AgentEvent::OptionSet { .. } => {}
    }
}

fn agent_fact(model: &mut Model, key: AgentKey, event: HostEvent, cx: &mut Cx) {
    match event {
        HostEvent::AgentSpawned { .. } => drop(in_agent(model, key, cx, agent::spawned)),
        HostEvent::AgentConfined(confined) => {
            in_agent(model, key, cx, |agent, _| agent.confined = Some(confined));
        }
        HostEvent::Connecting(reached) => {
            in_agent(model, key, cx, |agent, cx| {
                agent.reached = Some(reached);
                agent::spawned(agent, cx);
            });
        }
        HostEvent::ReachedOver(transport) => far::reached_over(model, key, transport, cx),
        HostEvent::AsksNothing => far::asks_nothing(model, key, cx),
        HostEvent::ConnectionLost { why, retry_after } => far::lost(model, key, why, retry_after, cx),
        HostEvent::SpawnFailed { message, hint } => lifecycle::not_spawned(model, key, message, hint, cx),
        HostEvent::LogInPrinted { line } => drop(login::line(model, key, &line, cx)),
        HostEvent::LogInStarted { term } => {
            in_agent(model, key, cx, |agent, cx| agent::log_in_started(agent, term, cx));
        }
        HostEvent::LogInFailed { message } => login::command_failed(model, key, &message, cx),
        HostEvent::LogInEnded { term, exit } => login::command_ended(model, key, &term, &exit, cx),
        HostEvent::LogInSet { method, vars } => login::set(model, key, method, vars, cx),
        HostEvent::LogInTyped { method } => login::typed(model, key, method, cx),
        HostEvent::KeyringGave { vars } => keyring::gave(model, key, vars, cx),
        HostEvent::KeyringTook { vars, fault } => keyring::took(model, key, vars, fault, cx),
        HostEvent::KeyringForgot { fault } => keyring::forgot(model, key, fault, cx),
        HostEvent::AgentExited { exit, stderr } => lifecycle::exited(model, key, exit, stderr, cx),
        HostEvent::StdoutClosed { stderr } => lifecycle::stdout_closed(model, key, stderr, cx),
        HostEvent::ConnectionDropped { why } => lifecycle::dropped(model, key, why, cx),
        HostEvent::NothingHeard => far::start_with_lengths(model, key, cx),
        HostEvent::Warning { message } => {
            in_each(model, key, cx, |session, cx| {
                notice(session, Level::Warn, message.clone(), Vec::new(), cx.now);
            });
        }
        _ => {}
    }
}

/// Tells what was decided about an agent.
fn tell_of(key: AgentKey, cx: &mut Cx, decision: impl FnOnce() -> Decision) {
    let before = std::mem::replace(&mut cx.at, Address::Agent(key));
    audit::tell(cx, decision);
    cx.at = before;
}

fn to_agent(model: &mut Model, key: AgentKey, intent: Intent, cx: &mut Cx) {
    match intent {
        Intent::Start => drop(in_agent(model, key, cx, agent::start)),
        Intent::Restart => lifecycle::restart(model, key, cx),
        Intent::LetRest => drop(in_agent(model, key, cx, |agent, _| revival::give_up(agent))),
        Intent::KillAgent => drop(in_agent(model, key, cx, agent::kill)),
        Intent::LogIn => login::wanted(model, key, cx),
        Intent::LogOut => {
            tell_of(key, cx, || Decision::new(Matter::Logout, "", Outcome::Allow, By::Person));
            login::log_out(model, key, cx);
        }
        Intent::Authenticate { method } => {
            tell_of(key, cx, || Decision::new(Matter::Login, method.clone(), Outcome::Allow, By::Person));
            login::authenticate(model, key, method, cx);
        }
        Intent::AskAuthStatus => login::ask_status(model, key, cx),
        Intent::LeaveAuthentication => login::leave(model, key, cx),
        Intent::ListSessions { cwd } => drop(in_agent(model, key, cx, |agent, cx| sessions::list(agent, cwd, cx))),
        Intent::DeleteSession { id } => sessions::delete(model, key, id, cx),
        Intent::OpenSession { cwd, how } => lifecycle::open_further(model, key, cwd, how, cx),
        _ => {}
    }
}

fn in_one_session(session: &mut Session, event: Event, cx: &mut Cx) {
    match event {
        Event::Agent(event) => answered(session, event, cx),
        Event::Host(event) => host::fact(session, event, cx),
        Event::User(intent) => to_session(session, intent, cx),
        Event::Timer(Timer::KillTerminals(turn)) => host::kill_terminals_of(session, turn, cx),
        Event::Timer(Timer::Coverage(turn)) => review::late(session, turn, cx),
        Event::Timer(Timer::Wait(req)) => service::waited(session, req, cx),
        Event::Timer(Timer::Command(req)) => host::command_over(session, req, cx),
        Event::Timer(Timer::PermissionMode) => permission_mode::over(session, cx),
        Event::Timer(
            Timer::ExplainStray
            | Timer::EarlyRequest(_)
            | Timer::History
            | Timer::OldEnough
            | Timer::Revive
            | Timer::Credentials,
        ) => {}
        Event::Hint(Hint::Screen(term, screen)) => host::screen(session, &term, screen, cx.now),
        Event::Hint(Hint::Left(all)) => leave::left(session, all),
        Event::Hint(Hint::Back(entry)) => leave::back(session, entry),
        Event::Hint(Hint::Stay) => leave::stay(session),
        // Concerns all of them.
        Event::Setup(_) => {}
    }
}

/// Answers of the agent to what was asked for this session.
fn answered(session: &mut Session, event: AgentEvent, cx: &mut Cx) {
    if let Some(turn) = &mut session.turn {
        turn.heard = cx.now;
    }
    match event {
        AgentEvent::PromptAnswered {
            turn,
            result: Ok(PromptAnswer::Ended(_) | PromptAnswer::Said { .. }) | Err(_),
        } if session.lingering == Some(turn) => {
            opening::end_lingering(session, cx);
        }
        AgentEvent::TitleSet(result) => sessions::title_set(session, result, cx),
        AgentEvent::SessionClosed(result) => opening::agent_closed(session, &result, cx),
        AgentEvent::PromptAnswered { turn, result } => prompt::answered(session, turn, result, cx),
        AgentEvent::ModeSet { mode, result } => options::mode_set(session, &mode, result, cx),
        AgentEvent::OptionSet { option, value, result } => options::option_set(session, &option, &value, result, cx),
        AgentEvent::Steered { words, result } => prompt::steered(session, words, result, cx),
        AgentEvent::ItemCancelled(result) => prompt::item_cancelled(session, result, cx),
        _ => {}
    }
}

fn to_session(session: &mut Session, intent: Intent, cx: &mut Cx) {
    match intent {
        Intent::Prompt { text, links } => prompt::prompt(session, text, links, cx),
        Intent::Cancel => prompt::cancel(session, cx),
        Intent::StopChild { entry } => child::stop(session, entry, cx),
        Intent::TakeBack => prompt::return_held(session, cx),
        Intent::Queue(act) => queue::act(session, act, cx),
        Intent::Shell(line) => shell::run(session, line, cx),
        Intent::ForgetShell(term) => shell::forget(session, &term, cx),
        Intent::Answer { req, option } => permission::answer(session, req, option, cx),
        Intent::Rules(wish) => ruling::wanted(session, wish, cx),
        Intent::AnswerAsked { req, reply } => asked::answer(session, req, reply, cx),
        Intent::Refuse { req, reason } => permission::refuse(session, req, &reason, cx),
        Intent::RefuseLeft(req) => permission::refuse_left(session, req, cx),
        Intent::SetGate(gate) => {
            session.gate = gate;
            audit::tell(cx, || Decision::new(Matter::Gate, "", gate.into(), By::Person));
        }
        Intent::SetPermissionMode(choice) => permission_mode::choose(session, choice, By::Person, cx),
        Intent::SwitchServer { name, on } => options::switch_server(session, &name, on, cx),
        Intent::Review(action) => review::act(session, action, cx),
        Intent::SetMode { id } => options::set_mode(session, id, cx),
        Intent::SetOption { id, value } => options::set_option(session, &id, value, cx),
        Intent::CancelItem(item) => prompt::cancel_item(session, item, cx),
        Intent::KillTerminal { term } if term.owner() == Owner::Client => cx.push(Effect::TerminalKill(term)),
        _ => {}
    }
}

/// The agent has answered the first call: which dialect is spoken is told, unless it was told when the agent was started
/// again for it.
fn met(model: &mut Model, key: AgentKey, dialect: Dialect, evidence: Option<&'static str>, cx: &mut Cx) {
    let was_told = model.agents.get(&key).is_some_and(|agent| agent.evidence.is_some());
    in_each(model, key, cx, |session, cx| match evidence {
        _ if dialect == Dialect::Canonical => {}
        Some(evidence) => speaks(session, dialect, evidence, cx.now),
        None if was_told => {}
        None => {
            let words = format!("the agent is spoken to in the dialect {} of the protocol", dialect.word());
            notice(session, Level::Info, words, Vec::new(), cx.now);
        }
    });
}

/// Which dialect the agent speaks, and what has shown it (S-002).
fn speaks(session: &mut Session, dialect: Dialect, evidence: &str, now: Now) {
    let words = format!("the agent speaks the dialect {} of the protocol: {evidence}", dialect.word());
    notice(session, Level::Info, words, Vec::new(), now);
}

/// Says once a connection that something of this sort came; all are counted, and the journal has them.
fn notice_once(session: &mut Session, sort: &str, title: String, detail: Vec<String>, now: Now) {
    notice_first(session, sort, title, detail, now);
}

/// The same; its entry when it is the first of its sort.
fn notice_first(session: &mut Session, sort: &str, title: String, detail: Vec<String>, now: Now) -> Option<EntryId> {
    let is_new = session.noticed.len() < MAX_NOTICED && session.noticed.insert(sort.to_owned());
    is_new.then(|| notice(session, Level::Info, title, detail, now))
}

/// Adds a finished notice to the transcript.
fn notice(session: &mut Session, level: Level, title: impl Into<String>, detail: Vec<String>, now: Now) -> EntryId {
    let body = Body::Notice(Notice::new(level, title, detail));
    let id = session.entries.push(session.last_turn, now, body);
    session.entries.finish(id);
    id
}

/// Of the detail of this notice only so much is shown before the person asks for it.
fn fold_detail(session: &mut Session, notice: EntryId, fold: DetailFold) {
    session.entries.change(notice, |entry| {
        if let Body::Notice(notice) = &mut entry.body {
            notice.fold = fold;
        }
    });
}
