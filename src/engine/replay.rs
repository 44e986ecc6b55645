//! A journal or a recording back into a model: the same decoding and reducing, with nothing done outside.

use super::core::Core;
use crate::agent::codec::{self, SharedCodec};
use crate::model::Model;
use crate::model::changes::Gate;
use crate::model::event::{Event, HostEvent};
use crate::model::ids::{Address, Addressed, AgentKey, Now};
use crate::model::refusal::Reason;
use crate::store::lines::Record;
use crate::wire::frame::Frame;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

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
        let read =
            serde_json::from_str::<Record<'_>>(line).and_then(|record| Ok((head(&record)?, event(&record)?, record)));
        let Ok((head, event, record)) = read else {
            skipped += 1;
            continue;
        };
        let now = time(record.t);
        if let Some(name) = &record.codec {
            let Some(codec) = named(name) else { return (core.model, skipped + 1 + lines.count()) };
            core.speak(codec);
        }
        if let Some((review, gate, rules)) = head {
            core.begin_as(review, gate, rules);
        }
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
            let Some(agent) = connected(&core, record.peer()) else {
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

/// What a header says of how it began: the review, the gate, the rules.
fn head(record: &Record<'_>) -> serde_json::Result<Option<(bool, Gate, bool)>> {
    let (review, gate, rules) = (read(record.review)?, read(record.gate)?, read(record.rules)?);
    let is_head = review.is_some() || gate.is_some();
    Ok(is_head.then(|| (review.unwrap_or_default(), gate.unwrap_or_default(), rules.unwrap_or_default())))
}

/// What happened without a frame.
fn event(record: &Record<'_>) -> serde_json::Result<Option<Event>> {
    let (intent, fact) = (read(record.intent)?.map(Event::User), read(record.fact)?.map(Event::Host));
    Ok(intent.or(fact).or(read(record.timer)?.map(Event::Timer)))
}

fn read<T: DeserializeOwned>(value: Option<&RawValue>) -> serde_json::Result<Option<T>> {
    value.map(|value| serde_json::from_str(value.get())).transpose()
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
