//! A journal or a recording back into a model: the same decoding and reducing, with nothing done outside.

use super::core::{Core, Numbers};
use super::shares::{Share, Shares};
use crate::agent::codec::{self, SharedCodec, stored};
use crate::model::Model;
use crate::model::changes::Gate;
use crate::model::entry::Entry;
use crate::model::event::{Event, HostEvent, Intent, Protocol};
use crate::model::ids::{Address, Addressed, AgentKey, Now, SessionId, SessionKey};
use crate::model::past::Past;
use crate::model::refusal::Reason;
use crate::model::session::{Policy, Session};
use crate::model::setup::Setup;
use crate::store::lines::Record;
use crate::wire::frame::Frame;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// Replays the lines of a journal. Lines that cannot be read, such as a torn last one, are skipped and counted.
pub fn replay<'a>(model: Model, cwd: PathBuf, lines: impl Iterator<Item = &'a str>) -> (Model, usize) {
    replay_by(codec::named, model, cwd, lines)
}

/// The same; `named` knows the codecs. What was said in one that it does not know cannot be read.
pub fn replay_by<'a>(
    named: impl Fn(&str) -> Option<SharedCodec> + 'static,
    model: Model,
    cwd: PathBuf,
    lines: impl Iterator<Item = &'a str>,
) -> (Model, usize) {
    let mut replay = Replay { named: Box::new(named), ..Replay::new(model, cwd) };
    lines.for_each(|line| replay.line(line));
    (replay.core.into_model(), replay.skipped)
}

/// What a session has of one conversation.
pub(super) struct Had<'a> {
    pub key: SessionKey,
    session: &'a Session,
    share: &'a Share,
}

impl<'a> Had<'a> {
    pub fn id(&self) -> &'a SessionId {
        &self.share.id
    }

    pub fn entries(&self) -> impl Iterator<Item = &'a Entry> + use<'a> {
        self.share.entries(self.session)
    }
}

/// The same, for what was said: shows every conversation of the journal once, one that ends under its key right before the
/// session lets go of it, the others as they are at the end. `earlier` is what earlier journals have of those that go on
/// in it, so that their turns are counted as they were. `lines` hands over each line.
pub(super) fn each_session<E>(
    model: Model,
    cwd: PathBuf,
    earlier: HashMap<SessionId, Past>,
    lines: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), E>,
    mut look: impl FnMut(Had<'_>),
) -> Result<(), E> {
    let mut replay = Replay { earlier, ..Replay::new(model, cwd) };
    lines(&mut |line| replay.line_looked_at(line, &mut look))?;
    let Replay { core, shares, .. } = replay;
    for (key, share) in shares.end() {
        shown(core.model(), key, &share, &mut look);
    }
    Ok(())
}

/// What a journal has of a conversation, behind what earlier ones have of it: what its agent tells again is not there
/// twice. `sources`: what they have of those that were copied in it. `lines` hands over each line; what is known also
/// when that fails.
pub(crate) fn past_of<E>(
    model: Model,
    cwd: PathBuf,
    (id, before): (SessionId, Past),
    sources: HashMap<SessionId, Past>,
    lines: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), E>,
) -> (Past, Result<(), E>) {
    let mut replay = Replay::new(model, cwd).behind(sources).of(id, before);
    let read = lines(&mut |line| replay.line(line));
    (replay.past(), read)
}

type Named = Box<dyn Fn(&str) -> Option<SharedCodec>>;

/// A journal on its way back into a model, line by line.
pub struct Replay {
    core: Core,
    named: Named,
    /// It is spoken in a way that is not known here: nothing more can be read.
    is_foreign: bool,
    skipped: usize,
    /// The conversation that is wanted, and what is known of it from earlier journals and from before it was closed.
    wanted: Option<(SessionId, Past)>,
    /// The same of others; without one that is wanted, from earlier journals alone.
    earlier: HashMap<SessionId, Past>,
    /// Which conversations the sessions are.
    shares: Shares,
    last: Now,
}

impl Replay {
    pub(super) fn new(model: Model, cwd: PathBuf) -> Self {
        let mut core = Core::new(model, cwd, codec::shipped());
        core.set_up(Setup::Journal);
        Self {
            core,
            named: Box::new(codec::named),
            is_foreign: false,
            skipped: 0,
            wanted: None,
            earlier: HashMap::new(),
            shares: Shares::default(),
            last: Now::ZERO,
        }
    }

    /// The same where earlier journals have this of sessions that go on in it.
    #[must_use]
    pub(super) fn behind(self, earlier: HashMap<SessionId, Past>) -> Self {
        Self { earlier, ..self }
    }

    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    /// It cannot be read.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// The same for one conversation, of which this is known from earlier journals.
    #[must_use]
    pub fn of(self, id: SessionId, before: Past) -> Self {
        Self { wanted: Some((id, before)), ..self }
    }

    /// The conversation that was wanted, as far as it has come.
    pub fn past(self) -> Past {
        let Some((id, mut past)) = self.wanted else { return Past::default() };
        let model = self.core.model();
        let mut left: Vec<_> = self.shares.end().filter(|(_, share)| share.id == id).collect();
        left.retain(|(key, share)| model.session_of(*key).is_some_and(|s| share.entries(s).next().is_some()));
        let agent_of = |key: SessionKey| model.session_of(key).map(|session| session.agent);
        let Some((last, newest)) = left.pop() else { return past };
        // Two agents may give one id: of those the session that was begun last is meant.
        for (key, share) in left.iter().filter(|(key, _)| agent_of(*key) == agent_of(last)) {
            past = add(past, model.session_of(*key).cloned(), share, self.last);
        }
        add(past, self.core.into_model().into_session(last), &newest, self.last)
    }

    pub fn line(&mut self, line: &str) {
        self.line_looked_at(line, &mut |_| ());
    }

    /// The same; `look` is shown what a session has of a conversation before it lets go of that.
    fn line_looked_at(&mut self, line: &str, look: &mut impl FnMut(Had<'_>)) {
        if self.is_foreign {
            self.skipped += 1;
            return;
        }
        let whole =
            serde_json::from_str::<Record<'_>>(line).and_then(|record| Ok((head(&record)?, event(&record)?, record)));
        let Ok((head, event, record)) = whole else {
            self.skipped += 1;
            return;
        };
        let now = time(record.t);
        self.last = now;
        if let Some(name) = &record.codec {
            let may_change = matches!(read::<Protocol>(record.protocol), Ok(Some(protocol)) if protocol.may_change());
            let Some(codec) = (self.named)(name) else {
                (self.is_foreign, self.skipped) = (true, self.skipped + 1);
                return;
            };
            self.core.speak(codec, may_change);
        }
        if let Some(Head { started, review, gate, rules, earlier, policy, unstable }) = head {
            if let Some(began) = started {
                self.core.set_up(Setup::Began(Duration::from_secs(began)));
            }
            self.core.set_up(Setup::Unstable(unstable));
            self.core.set_up(Setup::Sessions { review, gate, rules });
            if let Some(policy) = policy {
                self.core.set_up(Setup::Asking { earlier, policy });
            }
        }
        if let Ok(Some(numbers)) = read::<Numbers>(record.numbers) {
            self.core.count_from(numbers);
        }
        if let Some(mut what) = event {
            let at = record.at.unwrap_or_else(|| what.home());
            if let Event::Host(HostEvent::FileRead { result: Err(refusal), .. }) = &mut what
                && let Reason::Number(code) = refusal.why
                && let Some(agent) = self.core.agent_at(at)
            {
                refusal.why = self.core.codec(agent).reason(code);
            }
            self.remember(at, &mut what, look);
            self.shares.before(self.core.model());
            self.core.event(Addressed { at, what }, now);
            self.let_go(look);
        } else if record.dir == "agent->client" {
            let Some(agent) = connected(&self.core, record.peer()) else {
                self.skipped += 1;
                return;
            };
            let text = record.frame.map(RawValue::get).or(record.raw.as_deref()).unwrap_or("");
            let (frame, line) = Frame::read(Cow::Borrowed(text.as_bytes()), self.core.codec(agent).word_for_word());
            // A request that was kept as raw text had bytes that could not be kept: it was refused.
            let frame = if record.frame.is_none() { frame.refuse_damaged() } else { frame };
            if self.is_of_another(agent, &frame) {
                return;
            }
            // What an agent tells gives no session another name.
            if matches!(frame, Frame::Notification { .. }) {
                self.core.frame(agent, frame, &line, now);
            } else {
                self.shares.before(self.core.model());
                self.core.frame(agent, frame, &line, now);
                self.let_go(look);
            }
        } else if let ("client->agent", Some(of), Some(frame)) = (&*record.dir, record.of, record.frame)
            && let Address::Agent(agent) = record.peer()
            && let Some((number, method)) = call(frame.get())
        {
            self.core.settle(agent, of, number, &method);
        }
    }

    /// Whether it tells of another conversation than the one that is wanted: that is read when it is wanted itself. What
    /// is told of a session that has no name yet may be of any.
    fn is_of_another(&self, agent: AgentKey, frame: &Frame) -> bool {
        let (Some((wanted, _)), Frame::Notification { method, params: Some(params) }) = (&self.wanted, frame) else {
            return false;
        };
        if !self.core.codec(agent).is_update(method.as_str()) {
            return false;
        }
        let Some(id) = stored::named(params.as_str()).map(|id| SessionId::from(id.as_str())) else { return false };
        id != *wanted
            && !self.earlier.contains_key(&id)
            && self.core.model().sessions_of(agent).any(|(_, session)| session.known_id() == Some(&id))
    }

    /// A session that is closed lets go of what was said in it; one that goes on begins with it.
    fn remember(&mut self, at: Address, what: &mut Event, look: &mut impl FnMut(Had<'_>)) {
        let Address::Session(key) = at else { return };
        match what {
            Event::User(Intent::CloseSession) => {
                if let Some(share) = self.shares.close(key) {
                    self.keep(key, &share, look);
                }
            }
            Event::Host(HostEvent::Recalled(part)) => {
                let Some(session) = self.core.model().session_of(key).filter(|session| session.awaits_earlier()) else {
                    return;
                };
                let Some(id) = session.known_id().cloned() else { return };
                for (other, share) in self.shares.recalled(key, self.core.model()) {
                    self.keep(other, &share, look);
                }
                let past = match &mut self.wanted {
                    Some((wanted, past)) if *wanted == id => Some(past),
                    _ => self.earlier.get_mut(&id),
                };
                part.past = past.map(std::mem::take).unwrap_or_default();
            }
            _ => {}
        }
    }

    /// Conversations that have ended under their keys.
    fn let_go(&mut self, look: &mut impl FnMut(Had<'_>)) {
        for (key, share) in self.shares.after(self.core.model()) {
            self.keep(key, &share, look);
        }
    }

    /// What a session has of a conversation is shown and, for one that is wanted, put behind what is known of that.
    fn keep(&mut self, key: SessionKey, share: &Share, look: &mut impl FnMut(Had<'_>)) {
        let model = self.core.model();
        shown(model, key, share, look);
        let keeps = self.wanted.is_some();
        let past = match &mut self.wanted {
            Some((wanted, past)) if *wanted == share.id => Some(past),
            _ => self.earlier.get_mut(&share.id).filter(|_| keeps),
        };
        let session = model.session_of(key).filter(|session| share.entries(session).next().is_some());
        if let (Some(past), Some(session)) = (past, session) {
            *past = add(std::mem::take(past), Some(session.clone()), share, self.last);
        }
    }
}

fn shown(model: &Model, key: SessionKey, share: &Share, look: &mut impl FnMut(Had<'_>)) {
    if let Some(session) = model.session_of(key) {
        look(Had { key, session, share });
    }
}

/// What is known of a conversation, and behind it what a session has of it.
fn add(past: Past, session: Option<Session>, share: &Share, now: Now) -> Past {
    let Some(session) = session else { return past };
    let found = share.found(session, now);
    if found.is_whole || past.entries.is_empty() { found.past } else { found.behind(past) }
}

/// What a header says of how it began.
struct Head {
    /// When, in seconds since 1970.
    started: Option<u64>,
    review: bool,
    gate: Gate,
    rules: bool,
    /// Earlier journals were read.
    earlier: bool,
    /// Older journals do not say it.
    policy: Option<Policy>,
    unstable: bool,
}

fn head(record: &Record<'_>) -> serde_json::Result<Option<Head>> {
    let (review, gate, rules) = (read(record.review)?, read(record.gate)?, read(record.rules)?);
    let (earlier, policy): (Option<bool>, _) = (read(record.earlier)?, read(record.policy)?);
    let unstable: Option<bool> = read(record.unstable)?;
    let is_head = review.is_some() || gate.is_some();
    Ok(is_head.then(|| Head {
        started: record.started,
        review: review.unwrap_or_default(),
        gate: gate.unwrap_or_default(),
        rules: rules.unwrap_or_default(),
        earlier: earlier.unwrap_or_default(),
        policy,
        unstable: unstable.unwrap_or_default(),
    }))
}

/// The number and the method of a call of ours.
pub(super) fn call(frame: &str) -> Option<(u64, String)> {
    match Frame::parse(frame.as_bytes()) {
        Frame::Request { id, method, .. } => Some((id.as_u64()?, method.as_str().to_owned())),
        _ => None,
    }
}

/// What happened without a frame.
pub(super) fn event(record: &Record<'_>) -> serde_json::Result<Option<Event>> {
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

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
