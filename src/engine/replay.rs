//! A journal or a recording back into a model: the same decoding and reducing, with nothing done outside.

use super::core::Core;
use crate::agent::codec::{self, SharedCodec};
use crate::model::Model;
use crate::model::changes::Gate;
use crate::model::event::{Event, HostEvent, Intent, Timer};
use crate::model::ids::{Address, Addressed, AgentKey, Now};
use crate::model::refusal::Reason;
use crate::wire::frame::Frame;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(default)]
    t: f64,
    #[serde(borrow, default)]
    dir: Cow<'a, str>,
    /// Whom it concerns; missing in version 1, which knows one agent with one session, and in recordings.
    #[serde(default)]
    at: Option<Address>,
    /// Of recordings: the agent's key, unless it is the first one. Old headers have a text here.
    #[serde(borrow, default)]
    agent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    frame: Option<&'a RawValue>,
    #[serde(default)]
    raw: Option<String>,
    #[serde(default)]
    fact: Option<HostEvent>,
    #[serde(default)]
    intent: Option<Intent>,
    #[serde(default)]
    timer: Option<Timer>,
    /// Of the header: whether prompts waited for the snapshot, and the gate at first.
    #[serde(default)]
    review: Option<bool>,
    #[serde(default)]
    gate: Option<Gate>,
    /// Of the header: whether rules were asked.
    #[serde(default)]
    rules: Option<bool>,
    /// Of the header: how the agent was spoken to.
    #[serde(borrow, default)]
    codec: Option<Cow<'a, str>>,
}

/// Replays the lines of a journal. Lines that cannot be read, such as a torn last one, are skipped and counted.
pub fn replay<'a>(model: Model, cwd: PathBuf, lines: impl Iterator<Item = &'a str>) -> (Model, usize) {
    replay_by(codec::named, model, cwd, lines)
}

/// The same; `named` knows the codecs. What was said in one that it does not know cannot be read.
pub fn replay_by<'a>(
    named: impl Fn(&str) -> Option<SharedCodec>,
    model: Model,
    cwd: PathBuf,
    mut lines: impl Iterator<Item = &'a str>,
) -> (Model, usize) {
    let mut core = Core::new(model, cwd, codec::shipped());
    core.with_journal();
    let mut skipped = 0;
    while let Some(line) = lines.next() {
        let Ok(record) = serde_json::from_str::<Record<'_>>(line) else {
            skipped += 1;
            continue;
        };
        let now = time(record.t);
        if let Some(name) = record.codec {
            let Some(codec) = named(&name) else { return (core.model, skipped + 1 + lines.count()) };
            core.speak(codec);
        }
        if record.review.is_some() || record.gate.is_some() {
            let rules = record.rules.unwrap_or_default();
            core.begin_as(record.review.unwrap_or_default(), record.gate.unwrap_or_default(), rules);
        }
        let event = match (record.intent, record.fact, record.timer) {
            (Some(intent), ..) => Some(Event::User(intent)),
            (None, Some(fact), _) => Some(Event::Host(fact)),
            (None, None, Some(timer)) => Some(Event::Timer(timer)),
            (None, None, None) => None,
        };
        if let Some(mut what) = event {
            let at = record.at.unwrap_or_else(|| what.home());
            if let Event::Host(HostEvent::FileRead { result: Err(refusal), .. }) = &mut what
                && let Reason::Number(code) = refusal.why
                && let Some(agent) = core.agent_at(at)
            {
                refusal.why = core.codec(agent).reason(code);
            }
            core.event(Addressed { at, what }, now);
        } else if record.dir == "agent->client" {
            let further = record.agent.and_then(|agent| serde_json::from_str::<AgentKey>(agent.get()).ok());
            let at = record.at.unwrap_or_else(|| further.unwrap_or(AgentKey::FIRST).into());
            let Some(agent) = connected(&core, at) else {
                skipped += 1;
                continue;
            };
            let text = record.frame.map(RawValue::get).or(record.raw.as_deref()).unwrap_or("");
            let (frame, line) = Frame::read(Cow::Borrowed(text.as_bytes()), core.codec(agent).word_for_word());
            // A request that was kept as raw text had bytes that could not be kept: it was refused.
            let frame = if record.frame.is_none() { frame.refuse_damaged() } else { frame };
            core.frame(agent, frame, &line, now);
        }
    }
    (core.model, skipped)
}

/// The agent whose frames have this address, if there is a connection to it.
fn connected(core: &Core, at: Address) -> Option<AgentKey> {
    let Address::Agent(agent) = at else { return None };
    core.is_connected(agent).then_some(agent)
}

fn time(seconds: f64) -> Now {
    // Times are written in whole microseconds.
    Duration::from_micros((seconds.max(0.0) * 1e6).round() as u64)
}
