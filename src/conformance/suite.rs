//! The steps of version 1, in their order; several are those of version 2 as well.
//!
//! Each is tried whatever the ones before have shown, unless it needs them. Invariant: what an agent may do is no
//! violation: to want a log-in, to end a turn before it is cancelled, to have none of what it does not advertise.

use super::report::{Report, Step};
use super::serve::{BAD_PARAMS, NO_METHOD};
use super::talk::{Answer, Answered, Event, Silent, Talk};
use super::under::{Under, left_out};
use super::{Asked, Limits, Version};
use crate::base::human;
use crate::wire::rpc_error::RpcError;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const LOG_IN: i64 = -32000;
/// No version that was asked for is spoken.
const NO_VERSION: i64 = -32022;
/// A turn that ends by itself so soon after its cancellation may have ended before that came.
const RACE: Duration = Duration::from_secs(1);
/// What `acp-tui replay` says of itself below `_meta`, and in the data of an error for what it does not have.
const RECORDING: &str = "acp-tui/recording";
pub(super) const NOT_RECORDED: &str = "a recording has no answer to this";
const NOWHERE: &str = "acp-tui-no-such-session";

/// What an agent has said of itself.
#[derive(Debug, Default)]
pub(super) struct Greeting {
    /// In version 2 an agent may have none.
    pub(super) has_sessions: bool,
    /// It plays a recording, and answers what was asked then.
    pub(super) is_recording: bool,
    can_load: bool,
    can_resume: bool,
    pub(super) label: String,
}

impl Version {
    const fn number(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

pub(super) async fn run(mut talk: Talk, asked: &Asked, greeting: &Greeting, report: &mut Report) {
    let limits = &asked.limits;
    let session = new_session(&mut talk, asked, report).await;
    let mut has_history = false;
    let names = ["prompt", "cancel"];
    match &session {
        Some(session) => {
            has_history = prompt(&mut talk, asked, session, report).await;
            if has_history {
                cancel(&mut talk, asked, session, report).await;
            } else {
                report.steps.push(left_out("cancel", "the turn before did not end"));
            }
            asked_for(&talk, report);
        }
        None => report.steps.extend(names.map(|name| left_out(name, "there is no session"))),
    }
    if talk.is_usable() {
        errors(talk, greeting, limits, report).await;
    } else {
        // What it does not do in a turn says nothing of the rest.
        talk.end(limits.exit).await;
        match again(asked).await {
            Ok(talk) => errors(talk, greeting, limits, report).await,
            Err(why) => report.steps.push(left_out("errors", &why)),
        }
    }
    match session {
        _ if greeting.is_recording => report.steps.push(left_out("load", NOT_RECORDED)),
        Some(session) if has_history => load(asked, greeting, &session, report).await,
        _ => report.steps.push(left_out("load", "there is no session with a turn")),
    }
}

/// The first call. An error of an agent that does not even greet is why it does not start.
pub(super) async fn initialize(talk: &mut Talk, asked: &Asked, report: &mut Report) -> Result<Greeting, String> {
    let mut under = Under::way("initialize");
    let limit = asked.limits.initialize;
    let wanted = asked.version.number();
    let answered = greet(talk, asked.version, limit).await;
    let greeting = match answered {
        Ok(Answer { outcome: Ok(result), line }) => {
            let version = &result["protocolVersion"];
            under.note(format!("version {version}"));
            match version.as_u64() {
                Some(1) if wanted == 2 => Err("it speaks version 1 only; check it without --protocol 2".to_owned()),
                Some(number) if number != wanted => {
                    let rule = if wanted == 1 { "R-080" } else { "V2-010" };
                    let what = format!("version {wanted} was asked for; it answers with version {version}");
                    under.find(rule, what, &line);
                    Ok(Greeting::read(&result, asked.version))
                }
                _ => Ok(Greeting::read(&result, asked.version)),
            }
        }
        Ok(Answer { outcome: Err(error), line }) => {
            let supported = error.data.as_ref().map(|data| data["supported"].clone()).unwrap_or_default();
            if error.code == NO_VERSION && !supported.is_array() {
                under.find("V2-009", "the error does not say which versions it speaks (data.supported)", &line);
            }
            let says = if supported.is_array() { format!("; it speaks {supported}") } else { String::new() };
            Err(format!("initialize is refused: {error}{says}"))
        }
        Err(Silent::Late) => {
            let words = talk.last_words();
            let says = if words.is_empty() { String::new() } else { format!("; it says: {words}") };
            Err(format!("initialize is not answered within {}{says}", human::precise(limit)))
        }
        Err(Silent::Gone(how)) => Err(format!("it ended before it answered initialize: {how}")),
    };
    if greeting.is_err() {
        under.leave_out("not answered");
    }
    under.over(talk, report);
    greeting
}

async fn greet(talk: &mut Talk, version: Version, limit: Duration) -> Answered {
    let info = json!({ "name": "acp-tui-check", "version": env!("CARGO_PKG_VERSION") });
    let params = match version {
        Version::One => json!({
            "protocolVersion": version.number(),
            "clientCapabilities": { "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true },
            "clientInfo": info,
        }),
        Version::Two => json!({
            "protocolVersion": version.number(),
            "info": info,
            "capabilities": { "elicitation": { "form": {}, "url": {} } },
        }),
    };
    talk.call("initialize", &params, limit).await
}

impl Greeting {
    fn read(result: &Value, version: Version) -> Self {
        let (capabilities, info) = match version {
            Version::One => (&result["agentCapabilities"], &result["agentInfo"]),
            Version::Two => (&result["capabilities"], &result["info"]),
        };
        let text = |name: &str| info[name].as_str().unwrap_or_default();
        let name = if text("title").is_empty() { text("name") } else { text("title") };
        Self {
            has_sessions: version == Version::One || capabilities["session"].is_object(),
            is_recording: result["_meta"][RECORDING] == true,
            can_load: capabilities["loadSession"] == true,
            can_resume: capabilities.pointer("/sessionCapabilities/resume").is_some_and(Value::is_object),
            label: format!("{name} {}", text("version")).trim().to_owned(),
        }
    }
}

pub(super) async fn new_session(talk: &mut Talk, asked: &Asked, report: &mut Report) -> Option<String> {
    let mut under = Under::way("session");
    let limit = asked.limits.session;
    talk.served.is_opening = true;
    let answered = talk.call("session/new", &json!({ "cwd": asked.cwd, "mcpServers": [] }), limit).await;
    talk.served.is_opening = false;
    let session = match answered {
        // Without an id it was told already that the answer has none.
        Ok(Answer { outcome: Ok(result), .. }) => result["sessionId"].as_str().map(str::to_owned),
        Ok(Answer { outcome: Err(error), .. }) if error.code == LOG_IN => {
            report.wants_log_in = true;
            under.leave_out(format!("it wants a log-in: {}", error.message));
            None
        }
        Ok(Answer { outcome: Err(error), .. }) if is_not_recorded(&error) => {
            under.leave_out(NOT_RECORDED);
            None
        }
        Ok(Answer { outcome: Err(error), line }) => {
            under.find("R-136", format!("no session is opened: {error}"), &line);
            None
        }
        Err(why) => {
            under.silent(why, "R-136", limit, &talk.sent);
            None
        }
    };
    talk.served.sessions.extend(session.clone());
    under.over(talk, report);
    session
}

pub(super) fn prompting(session: &str, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

/// A turn that ends by itself. Whether it did.
async fn prompt(talk: &mut Talk, asked: &Asked, session: &str, report: &mut Report) -> bool {
    let mut under = Under::way("prompt");
    let limit = asked.limits.prompt;
    let id = talk.begin("session/prompt", &prompting(session, &asked.prompts[0]));
    let sent = talk.sent.clone();
    let until = Instant::now() + limit;
    let mut updates = 0_u64;
    let ended = loop {
        match talk.event(until).await {
            Event::Answer(of, Answer { outcome, line }) if of == id => {
                match outcome {
                    Ok(result) => {
                        let stop = result["stopReason"].as_str().unwrap_or("none");
                        under.note(format!("{}, stop reason {stop}", human::count(updates, "update")));
                    }
                    Err(error) if is_not_recorded(&error) => {
                        under.leave_out(NOT_RECORDED);
                        under.over(talk, report);
                        return false;
                    }
                    Err(error) => under.find("R-216", format!("the turn ends with an error: {error}"), &line),
                }
                break true;
            }
            Event::Update(..) => updates += 1,
            Event::Silent(why) => {
                talk.is_stuck = true;
                under.silent(why, "R-216", limit, &sent);
                break false;
            }
            _ => {}
        }
    };
    under.over(talk, report);
    ended
}

/// A turn that is cancelled at its first sign of work.
async fn cancel(talk: &mut Talk, asked: &Asked, session: &str, report: &mut Report) {
    let mut under = Under::way("cancel");
    let id = talk.begin("session/prompt", &prompting(session, &asked.prompts[1]));
    let quiet = Instant::now() + asked.limits.quiet;
    loop {
        match talk.event(quiet).await {
            Event::Answer(of, Answer { outcome, .. }) if of == id => {
                under.leave_out(match outcome {
                    Err(error) if is_not_recorded(&error) => NOT_RECORDED,
                    _ => "the turn ended before it could be cancelled",
                });
                return under.over(talk, report);
            }
            Event::Silent(Silent::Gone(how)) => {
                under.silent(Silent::Gone(how), "R-060", asked.limits.quiet, &talk.sent);
                return under.over(talk, report);
            }
            Event::Update(..) | Event::Asked | Event::Silent(Silent::Late) => break,
            _ => {}
        }
    }
    talk.served.is_cancelling = true;
    talk.notify("session/cancel", &json!({ "sessionId": session }));
    let (sent, at, limit) = (talk.sent.clone(), Instant::now(), asked.limits.cancel);
    loop {
        match talk.event(at + limit).await {
            Event::Answer(of, Answer { outcome, line }) if of == id => {
                let after = at.elapsed();
                match outcome {
                    Ok(result) if result["stopReason"] == "cancelled" => {
                        under.note(format!("after {}", human::precise(after)));
                    }
                    Ok(_) if after < RACE => under.leave_out("the turn ended while it was cancelled"),
                    Ok(result) => {
                        let what = format!("a cancelled turn ends with {}, not with cancelled", result["stopReason"]);
                        under.find("R-230", what, &line);
                    }
                    Err(error) if is_not_recorded(&error) => under.leave_out(NOT_RECORDED),
                    Err(error) => under.find("R-229", format!("a cancelled turn ends with an error: {error}"), &line),
                }
                break;
            }
            Event::Silent(why) => {
                talk.is_stuck = true;
                under.silent(why, "R-228", limit, &sent);
                break;
            }
            _ => {}
        }
    }
    talk.served.is_cancelling = false;
    under.over(talk, report);
}

/// What the agent has asked for meanwhile; what was wrong with it stands where it was asked for.
fn asked_for(talk: &Talk, report: &mut Report) {
    let served = &talk.served;
    let rows = [("permissions", served.permissions), ("files", served.files), ("terminals", served.terminal_calls)];
    for (name, count) in rows {
        report.steps.push(if count == 0 {
            left_out(name, "it did not ask")
        } else {
            let held = if name == "terminals" { served.held() } else { 0 };
            let held = if held > 0 { format!(", {held} not released") } else { String::new() };
            Step { name, note: format!("{} answered{held}", human::count(count, "request")), ..Step::default() }
        });
    }
}

/// Another process of the agent that has greeted.
pub(super) async fn again(asked: &Asked) -> Result<Talk, String> {
    let mut talk = Talk::start(asked).map_err(|error| format!("it does not start again: {error}"))?;
    match greet(&mut talk, asked.version, asked.limits.initialize).await {
        Ok(Answer { outcome: Ok(_), .. }) => {
            // What is wrong with it was told already.
            talk.tell(&mut Step::default());
            Ok(talk)
        }
        _ => {
            talk.end(asked.limits.exit).await;
            Err("it does not greet when it is started again".to_owned())
        }
    }
}

pub(super) async fn errors(mut talk: Talk, greeting: &Greeting, limits: &Limits, report: &mut Report) {
    if greeting.is_recording {
        let names = ["unknown method", "invalid params", "notifications"];
        report.steps.extend(names.map(|name| left_out(name, NOT_RECORDED)));
    } else {
        unknown(&mut talk, limits, report).await;
        invalid(&mut talk, limits, report).await;
        notifications(&mut talk, limits, report).await;
    }
    shutdown(talk, limits, report).await;
}

/// Whether a recording says so, and not the agent that it is of.
pub(super) fn is_not_recorded(error: &RpcError) -> bool {
    error.data.as_ref().is_some_and(|data| data[RECORDING] == true)
}

async fn unknown(talk: &mut Talk, limits: &Limits, report: &mut Report) {
    let mut under = Under::way("unknown method");
    for (method, rule) in [("acp-tui-check/unknown", "R-007"), ("_acp-tui-check/unknown", "R-447")] {
        let answered = talk.call(method, &json!({}), limits.error).await;
        let sent = talk.sent.clone();
        match answered {
            Ok(Answer { outcome: Err(error), .. }) if error.code == NO_METHOD => {}
            Ok(Answer { outcome: Err(error), line }) => {
                under.find(rule, format!("{method} is refused with {}, not with {NO_METHOD}", error.code), &line);
            }
            Ok(Answer { line, .. }) => under.find(rule, format!("{method} is answered with a result"), &line),
            Err(why) => under.silent(why, rule, limits.error, &sent),
        }
    }
    under.over(talk, report);
}

async fn invalid(talk: &mut Talk, limits: &Limits, report: &mut Report) {
    let mut under = Under::way("invalid params");
    let answered = talk.call("session/new", &json!({ "cwd": 7, "mcpServers": [] }), limits.error).await;
    let sent = talk.sent.clone();
    match answered {
        Ok(Answer { outcome: Err(error), .. }) if error.code == BAD_PARAMS || error.code == LOG_IN => {}
        Ok(Answer { outcome: Err(error), line }) => {
            let what = format!("a `cwd` that is a number is refused with {}, not with {BAD_PARAMS}", error.code);
            under.find("R-009", what, &line);
        }
        Ok(Answer { line, .. }) => under.find("R-009", "a `cwd` that is a number is taken", &line),
        Err(why) => under.silent(why, "R-009", limits.error, &sent),
    }
    // Which error it is differs; that it is one does not.
    let answered = talk.call("session/prompt", &prompting(NOWHERE, "x"), limits.error).await;
    let sent = talk.sent.clone();
    match answered {
        Ok(Answer { outcome: Err(_), .. }) => {}
        Ok(Answer { line, .. }) => under.find("R-035", "a prompt for a session that there is not is taken", &line),
        Err(why) => under.silent(why, "R-035", limits.error, &sent),
    }
    under.over(talk, report);
}

/// What has no id gets no answer. A call behind them shows that they were passed over.
async fn notifications(talk: &mut Talk, limits: &Limits, report: &mut Report) {
    let mut under = Under::way("notifications");
    for method in ["_acp-tui-check/news", "$/acp-tui-check", "acp-tui-check/news"] {
        talk.notify(method, &json!({}));
    }
    let sent = talk.sent.clone();
    if let Err(why) = talk.call("_acp-tui-check/unknown", &json!({}), limits.error).await {
        under.silent(why, "R-008", limits.error, &sent);
    }
    talk.tell(&mut under.step);
    for found in under.step.findings.iter_mut().filter(|found| found.rule == "R-015") {
        found.rule = "R-006";
        "a notification is answered".clone_into(&mut found.what);
    }
    under.done(report);
}

async fn shutdown(talk: Talk, limits: &Limits, report: &mut Report) {
    let mut under = Under::way("shutdown");
    let (in_time, survivors) = talk.end(limits.exit).await;
    if !in_time {
        let what = format!("it still runs {} after the end of its input", human::precise(limits.exit));
        under.find("R-058", what, "");
    }
    for survivor in survivors {
        under.find("R-058", format!("it leaves a process behind: {survivor}"), "");
    }
    under.done(report);
}

/// The session of the turn, in a new process.
async fn load(asked: &Asked, greeting: &Greeting, session: &str, report: &mut Report) {
    let (name, method, rule) = match greeting {
        Greeting { can_load: true, .. } => ("load", "session/load", "R-140"),
        Greeting { can_resume: true, .. } => ("resume", "session/resume", "R-148"),
        _ => return report.steps.push(left_out("load", "it advertises neither load nor resume")),
    };
    let mut under = Under::way(name);
    let limit = asked.limits.load;
    let mut talk = match again(asked).await {
        Ok(talk) => talk,
        Err(why) => {
            under.find("R-089", why, "");
            return under.done(report);
        }
    };
    talk.served.sessions.insert(session.to_owned());
    let params = json!({ "sessionId": session, "cwd": asked.cwd, "mcpServers": [] });
    let id = talk.begin(method, &params);
    let (sent, until) = (talk.sent.clone(), Instant::now() + limit);
    let (mut updates, mut has_prompt) = (0_u64, false);
    loop {
        match talk.event(until).await {
            Event::Update(kind, _) => {
                updates += 1;
                has_prompt |= kind == "user_message_chunk";
            }
            Event::Answer(of, Answer { outcome, line }) if of == id => {
                match outcome {
                    Ok(_) => {
                        under.note(format!("{} before the answer", human::count(updates, "update")));
                        if name == "load" {
                            history(&mut talk, asked.limits.afterwards, &mut under, has_prompt, &line).await;
                        }
                    }
                    Err(error) => {
                        under.find(rule, format!("it advertises this and refuses its own session: {error}"), &line);
                    }
                }
                break;
            }
            Event::Silent(why) => {
                under.silent(why, rule, limit, &sent);
                break;
            }
            _ => {}
        }
    }
    under.over(&mut talk, report);
    talk.end(asked.limits.exit).await;
}

/// All of it comes before the answer, what the person has said as well.
async fn history(talk: &mut Talk, limit: Duration, under: &mut Under, mut has_prompt: bool, answer: &str) {
    let until = Instant::now() + limit;
    let is_history =
        |kind: &str| matches!(kind, "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" | "tool_call");
    loop {
        match talk.event(until).await {
            Event::Update(kind, line) if is_history(&kind) => {
                has_prompt |= kind == "user_message_chunk";
                under.find("R-141", "history comes after the answer", &line);
            }
            Event::Silent(_) => break,
            _ => {}
        }
    }
    if !has_prompt {
        under.find("R-256", "the history has no message of the user", answer);
    }
}
