//! The steps of version 2, where a turn is over with the state of its session and not with an answer.
//!
//! What does not differ is tried as in version 1. Invariant: what an agent may do is no violation.

use super::report::Report;
use super::suite::{Greeting, NOT_RECORDED, again, errors, is_not_recorded, new_session, prompting};
use super::talk::{Answer, Event, Silent, Talk};
use super::under::{Under, left_out};
use super::{Asked, Limits};
use crate::base::human;
use crate::wire::rpc_error::RpcError;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A turn that ends by itself so soon after its cancellation may have ended before that came.
const RACE: Duration = Duration::from_secs(1);
/// A prompt that was withdrawn.
const WITHDRAWN: i64 = -32800;
/// A session that is not there any more.
const NOT_FOUND: i64 = -32002;
/// Methods that version 1 has.
const GONE: [&str; 2] = ["session/load", "session/set_mode"];
const NO_METHOD: i64 = -32601;

pub(super) async fn run(mut talk: Talk, asked: &Asked, greeting: &Greeting, report: &mut Report) {
    if !greeting.has_sessions {
        let names = ["session", "prompt", "cancel", "list", "close", "resume"];
        report.steps.extend(names.map(|name| left_out(name, "it advertises no sessions")));
        return errors(talk, greeting, &asked.limits, report).await;
    }
    let session = new_session(&mut talk, asked, report).await;
    let Some(session) = session else {
        let names = ["prompt", "cancel", "list", "close", "resume"];
        report.steps.extend(names.map(|name| left_out(name, "there is no session")));
        return errors(talk, greeting, &asked.limits, report).await;
    };
    let has_ended = prompt(&mut talk, asked, &session, report).await;
    if has_ended {
        cancel(&mut talk, asked, &session, report).await;
    } else {
        report.steps.push(left_out("cancel", "the turn before did not end"));
    }
    permissions(&talk, report);
    if greeting.is_recording {
        report.steps.extend(["list", "close", "removed methods"].map(|name| left_out(name, NOT_RECORDED)));
        errors(talk, greeting, &asked.limits, report).await;
    } else if talk.is_usable() {
        list(&mut talk, &asked.limits, report).await;
        close(&mut talk, &asked.limits, &session, report).await;
        gone(&mut talk, &asked.limits, &session, report).await;
        errors(talk, greeting, &asked.limits, report).await;
    } else {
        report.steps.extend(["list", "close", "removed methods"].map(|name| left_out(name, "it hangs")));
        talk.end(asked.limits.exit).await;
        match again(asked).await {
            Ok(talk) => errors(talk, greeting, &asked.limits, report).await,
            Err(why) => report.steps.push(left_out("errors", &why)),
        }
    }
    if greeting.is_recording {
        report.steps.push(left_out("resume", NOT_RECORDED));
    } else if has_ended {
        resume(asked, &session, report).await;
    } else {
        report.steps.push(left_out("resume", "there is no session with a turn"));
    }
}

/// What an update says.
fn told(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_default();
    message.pointer("/params/update").cloned().unwrap_or_default()
}

/// A turn while it runs: its prompt is taken, and at some time its session is idle again.
#[derive(Default)]
struct Turn {
    /// The answer to the prompt.
    taken: Option<(Result<Value, RpcError>, Box<str>)>,
    runs: bool,
    /// Messages of the user, by their ids.
    users: Vec<Value>,
    updates: u64,
    /// Why it is over.
    idle: Option<Value>,
}

impl Turn {
    fn see(&mut self, id: u64, event: &Event) {
        match event {
            Event::Answer(of, Answer { outcome, line }) if *of == id => {
                self.taken = Some((outcome.clone(), Box::from(&**line)));
            }
            Event::Update(kind, line) => {
                self.updates += 1;
                let update = told(line);
                match (kind.as_str(), update["state"].as_str()) {
                    ("user_message" | "user_message_chunk", _) => self.users.push(update["messageId"].clone()),
                    ("state_update", Some("idle")) if self.runs => self.idle = Some(update["stopReason"].clone()),
                    ("state_update", Some("idle")) => {}
                    ("state_update", Some(_)) => self.runs = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn is_over(&self) -> bool {
        matches!(&self.taken, Some((Err(_), _))) || self.taken.is_some() && self.idle.is_some()
    }
}

/// A turn that ends by itself. Whether it did.
async fn prompt(talk: &mut Talk, asked: &Asked, session: &str, report: &mut Report) -> bool {
    let mut under = Under::way("prompt");
    let limit = asked.limits.prompt;
    let id = talk.begin("session/prompt", &prompting(session, &asked.prompts[0]));
    let (sent, until, mut turn) = (talk.sent.clone(), Instant::now() + limit, Turn::default());
    while !turn.is_over() {
        match talk.event(until).await {
            Event::Silent(why) => {
                talk.is_stuck = true;
                if turn.taken.is_none() || matches!(why, Silent::Gone(_)) {
                    under.silent(why, "V2-037", limit, &sent);
                } else if turn.runs {
                    let what = format!("the session is not idle within {}", human::precise(limit));
                    under.find("V2-047", what, &sent);
                } else {
                    under.find("V2-038", "the prompt was taken and no state says that it runs", &sent);
                }
                under.over(talk, report);
                return false;
            }
            event => turn.see(id, &event),
        }
    }
    let has_ended = turn.idle.is_some();
    match turn.taken {
        Some((Err(error), _)) if is_not_recorded(&error) => under.leave_out(NOT_RECORDED),
        Some((Err(error), line)) => under.find("V2-042", format!("the prompt is refused: {error}"), &line),
        Some((Ok(result), line)) => {
            if !turn.users.contains(&result["messageId"]) {
                let what = "no message of the user has the id that the prompt was answered with";
                under.find("V2-039", what, &line);
            }
            let stop = turn.idle.as_ref().and_then(Value::as_str).unwrap_or("none");
            under.note(format!("{}, stop reason {stop}", human::count(turn.updates, "update")));
        }
        None => {}
    }
    under.over(talk, report);
    has_ended
}

/// A turn that is cancelled at its first sign of work.
async fn cancel(talk: &mut Talk, asked: &Asked, session: &str, report: &mut Report) {
    let mut under = Under::way("cancel");
    let id = talk.begin("session/prompt", &prompting(session, &asked.prompts[1]));
    let (quiet, mut turn) = (Instant::now() + asked.limits.quiet, Turn::default());
    loop {
        match talk.event(quiet).await {
            Event::Silent(Silent::Gone(how)) => {
                under.silent(Silent::Gone(how), "R-060", asked.limits.quiet, &talk.sent);
                return under.over(talk, report);
            }
            Event::Silent(Silent::Late) | Event::Asked => break,
            event => {
                let is_work =
                    matches!(&event, Event::Update(kind, _) if kind.starts_with("agent_") || kind.starts_with("tool_"));
                turn.see(id, &event);
                if turn.is_over() {
                    under.leave_out(match &turn.taken {
                        Some((Err(error), _)) if is_not_recorded(error) => NOT_RECORDED,
                        _ => "the turn ended before it could be cancelled",
                    });
                    return under.over(talk, report);
                }
                if is_work {
                    break;
                }
            }
        }
    }
    talk.served.is_cancelling = true;
    talk.notify("session/cancel", &json!({ "sessionId": session }));
    let (sent, at, limit) = (talk.sent.clone(), Instant::now(), asked.limits.cancel);
    while !turn.is_over() {
        match talk.event(at + limit).await {
            Event::Silent(why) => {
                talk.is_stuck = true;
                under.silent(why, "V2-060", limit, &sent);
                break;
            }
            event => turn.see(id, &event),
        }
    }
    let after = at.elapsed();
    match (&turn.taken, turn.idle.as_ref().and_then(Value::as_str)) {
        _ if talk.is_stuck => {}
        (Some((Err(error), _)), _) if is_not_recorded(error) => under.leave_out(NOT_RECORDED),
        (Some((Err(error), _)), _) if error.code == WITHDRAWN => under.note("the prompt was withdrawn"),
        (Some((Err(error), line)), _) => {
            under.find("V2-045", format!("a prompt that is cancelled is refused with {error}"), line);
        }
        (_, Some("cancelled")) => under.note(format!("after {}", human::precise(after))),
        _ if after < RACE => under.leave_out("the turn ended while it was cancelled"),
        (_, stop) => {
            let stop = stop.unwrap_or("none");
            under.find(
                "V2-060",
                format!("a cancelled turn ends with the stop reason {stop}, not with cancelled"),
                &sent,
            );
        }
    }
    talk.served.is_cancelling = false;
    under.over(talk, report);
}

/// What the agent has asked for meanwhile; files and terminals are its own.
fn permissions(talk: &Talk, report: &mut Report) {
    let mut under = Under::way("permissions");
    match talk.served.permissions {
        0 => under.leave_out("it did not ask"),
        count => under.note(format!("{} answered", human::count(count, "request"))),
    }
    under.done(report);
}

/// Every agent with sessions lists them.
async fn list(talk: &mut Talk, limits: &Limits, report: &mut Report) {
    let mut under = Under::way("list");
    match talk.call("session/list", &json!({}), limits.error).await {
        Ok(Answer { outcome: Ok(result), .. }) => {
            let count = result["sessions"].as_array().map_or(0, Vec::len);
            under.note(human::count(count as u64, "session"));
        }
        Ok(Answer { outcome: Err(error), line }) => {
            under.find("V2-021", format!("session/list is refused: {error}"), &line);
        }
        Err(why) => under.silent(why, "V2-021", limits.error, &talk.sent),
    }
    under.over(talk, report);
}

/// After it nothing more is said of the session.
async fn close(talk: &mut Talk, limits: &Limits, session: &str, report: &mut Report) {
    let mut under = Under::way("close");
    let params = json!({ "sessionId": session });
    match talk.call("session/close", &params, limits.error).await {
        Ok(Answer { outcome: Ok(_), .. }) => {
            let until = Instant::now() + limits.afterwards;
            loop {
                match talk.event(until).await {
                    Event::Update(_, line)
                        if serde_json::from_str::<Value>(&line)
                            .is_ok_and(|of| of["params"]["sessionId"] == session) =>
                    {
                        under.find("V2-033", "news of a session that was closed", &line);
                    }
                    Event::Silent(_) => break,
                    _ => {}
                }
            }
        }
        Ok(Answer { outcome: Err(error), .. }) if error.code == NOT_FOUND => under.note("it was closed already"),
        Ok(Answer { outcome: Err(error), line }) => {
            under.find("V2-021", format!("session/close is refused: {error}"), &line);
        }
        Err(why) => under.silent(why, "V2-021", limits.error, &talk.sent),
    }
    under.over(talk, report);
}

/// What version 1 has and this one has not.
async fn gone(talk: &mut Talk, limits: &Limits, session: &str, report: &mut Report) {
    let mut under = Under::way("removed methods");
    for method in GONE {
        let answered = talk.call(method, &json!({ "sessionId": session }), limits.error).await;
        let sent = talk.sent.clone();
        match answered {
            Ok(Answer { outcome: Err(error), .. }) if error.code == NO_METHOD => {}
            Ok(Answer { outcome: Err(error), line }) => {
                under.find("V2-022", format!("{method} is refused with {}, not with {NO_METHOD}", error.code), &line);
            }
            Ok(Answer { line, .. }) => under.find("V2-022", format!("{method} is answered with a result"), &line),
            Err(why) => under.silent(why, "V2-022", limits.error, &sent),
        }
    }
    under.over(talk, report);
}

/// The session of the turn, in a new process, with its history.
async fn resume(asked: &Asked, session: &str, report: &mut Report) {
    let mut under = Under::way("resume");
    let limit = asked.limits.load;
    let mut talk = match again(asked).await {
        Ok(talk) => talk,
        Err(why) => {
            under.find("R-089", why, "");
            return under.done(report);
        }
    };
    talk.served.sessions.insert(session.to_owned());
    let params = json!({ "sessionId": session, "cwd": asked.cwd, "replayFrom": { "type": "start" } });
    let id = talk.begin("session/resume", &params);
    let (sent, until) = (talk.sent.clone(), Instant::now() + limit);
    let (mut updates, mut has_user, mut has_state) = (0_u64, false, false);
    loop {
        match talk.event(until).await {
            Event::Update(kind, _) => {
                updates += 1;
                has_user |= kind.starts_with("user_message");
                has_state |= kind == "state_update";
            }
            Event::Answer(of, Answer { outcome, line }) if of == id => {
                match outcome {
                    Err(error) => under.find("V2-021", format!("its own session is refused: {error}"), &line),
                    Ok(_) => {
                        under.note(format!("{} before the answer", human::count(updates, "update")));
                        if !has_state {
                            under.find("V2-025", "no state of the session comes before the answer", &line);
                        }
                        if !has_user {
                            under.find("V2-024", "the history before the answer has no message of the user", &line);
                        }
                    }
                }
                break;
            }
            Event::Silent(why) => {
                under.silent(why, "V2-021", limit, &sent);
                break;
            }
            _ => {}
        }
    }
    under.over(&mut talk, report);
    talk.end(asked.limits.exit).await;
}
