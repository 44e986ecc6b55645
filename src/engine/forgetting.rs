//! Takes one conversation out of a journal in which others are, too, or all others.
//!
//! The journal is replayed to find out whose each line is, and written anew without the lines of that one. What cannot be
//! put down to one session stays: how agents were started and logged in, what they listed. Invariants: a journal that is
//! being written is not touched; the new one takes the place of the old one in one step, or the old one stays as it was;
//! in a replay of the new one every session that stays has the key, the turns and the entries that it had. So of one that
//! a copy began with there stays what was said up to the copy.
//!
//! What is counted over all sessions would come out wrong without what was taken out. So the new journal says where
//! counting goes on (`numbers`), and of each call whose it is (`of`). Where the conversation began stands a session that
//! is only shown: keys are counted, too.

use super::core::Numbers;
use super::recalling::earlier;
use super::replay::{self, Replay};
use crate::agent::codec::stored;
use crate::model::Model;
use crate::model::agent::Connection;
use crate::model::event::{Intent, Opening, ReadOnly};
use crate::model::ids::{Address, AgentKey, SessionId, SessionKey};
use crate::model::past::Past;
use crate::model::session::{Policy, Session};
use crate::store::lines::{self, Record};
use crate::store::lock::Lock;
use crate::store::replace::{Durability, Replacement};
use crate::store::sessions;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Bytes of earlier journals that are read.
const MAX_EARLIER: u64 = 1 << 30;

/// Bytes of a line with what earlier journals had; where it would have more they are left out.
const MAX_TOLD: usize = 24 << 20;

/// Which conversation it is.
#[derive(Clone, Copy, Debug)]
pub struct Whose<'a> {
    pub id: &'a str,
    /// Of its agent; none of what was imported, whose commands are not known.
    pub command: Option<&'a str>,
}

/// Which conversations go.
#[derive(Clone, Copy, Debug)]
enum Gone<'a> {
    It(Whose<'a>),
    AllBut(Whose<'a>),
}

/// Hands over the lines of a journal as they are without all other conversations. It may be being written. `state` is
/// acp-tui's directory for state.
pub fn only(
    state: &Path,
    journal: &Path,
    whose: Whose<'_>,
    mut put: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = lines::open(journal)?;
    let (parts, _) = sessions::parts(state)?;
    let before = earlier(&parts, journal, MAX_EARLIER).unwrap_or_default();
    let owners = Owners::of(&mut file, Gone::AllBut(whose), before.clone())?;
    anew(&mut file, &owners, before, &mut put)
}

/// Writes the journal anew without that conversation. `state` is acp-tui's directory for state.
pub fn take_out(state: &Path, journal: &Path, whose: Whose<'_>) -> io::Result<()> {
    let lock = match Lock::take(lines::open(journal)?) {
        Ok(lock) => lock,
        Err(TryLockError::WouldBlock) => return Err(io::Error::other("an acp-tui writes it")),
        Err(TryLockError::Error(error)) => return Err(error),
    };
    let mut file = lock.try_clone()?;
    let (parts, _) = sessions::parts(state)?;
    // What sessions that go on had before decides how their turns are counted.
    let before = earlier(&parts, journal, MAX_EARLIER).unwrap_or_default();
    let owners = Owners::of(&mut file, Gone::It(whose), before.clone())?;
    let mut out = Replacement::of(journal)?;
    anew(&mut file, &owners, before, &mut |line| writeln!(out, "{line}"))?;
    out.finish_like(&file.metadata()?, Durability::Whole)
}

/// Hands over the lines of the journal without what goes.
fn anew(
    file: &mut File,
    owners: &Owners<'_>,
    before: HashMap<SessionId, Past>,
    out: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let began = owners.until.keys().filter_map(|key| {
        let id = owners.names.get(key)?;
        Some((*key, before.get(id)?.clone()))
    });
    let mut anew = Anew { out, began: began.collect(), before, replay: None, failed: None };
    let mut at = 0;
    lines::each(file, 0, |line| {
        anew.take(owners, at, &String::from_utf8_lossy(line));
        at += 1;
    })?;
    if let Some(error) = anew.failed {
        return Err(error);
    }
    let there = anew.replay.as_ref().map(names).unwrap_or_default();
    if owners.kept().any(|(key, id)| there.get(key) != Some(id)) {
        return Err(io::Error::other("it cannot be taken out without harm to the others, and stays as it was"));
    }
    Ok(())
}

/// Whose a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Of nobody alone.
    All,
    Session(SessionKey),
    /// It names one that goes.
    Gone,
    /// This session begins with it.
    Begins(SessionKey),
    /// Of a session; it has the agent started again.
    Restarts(SessionKey, AgentKey),
    /// It cannot be read, or says only where counting goes on.
    Nobody,
}

/// What is known of a line.
struct Mark {
    owner: Owner,
    t: f64,
    /// Before it.
    numbers: Numbers,
    /// Of a call: who waits for the answer.
    of: Option<Address>,
}

/// What a session is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Gone,
    Other,
    /// It was one that goes, and has lost that name: what happens now leads to another one.
    Nothing,
}

/// Whose all lines of a journal are.
struct Owners<'a> {
    gone: Gone<'a>,
    marks: Vec<Mark>,
    /// From which line on a session is one that goes, or is another one.
    named: BTreeMap<SessionKey, Vec<(usize, Named)>>,
    /// Copies that began with what was said in these sessions up to a line.
    copied: BTreeMap<SessionKey, (SessionKey, usize)>,
    /// Up to which line sessions stay that go, as copies that stay began with them.
    until: BTreeMap<SessionKey, usize>,
    /// What the sessions are called at the end.
    names: BTreeMap<SessionKey, SessionId>,
}

/// What is looked at of a frame.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

impl Frame<'_> {
    fn session(&self) -> Option<String> {
        stored::named(self.params?.get())
    }

    fn number(&self) -> Option<u64> {
        self.id?.get().parse().ok()
    }
}

fn replay_of(first: &str, before: HashMap<SessionId, Past>) -> Replay {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Head {
        command: String,
        cwd: String,
    }
    let head: Head = serde_json::from_str(first).unwrap_or_default();
    Replay::new(Model::new(head.command, head.cwd.clone(), Policy::Ask), PathBuf::from(head.cwd)).behind(before)
}

fn names(replay: &Replay) -> BTreeMap<SessionKey, SessionId> {
    let all = replay.core().model().sessions();
    all.filter_map(|(key, session)| Some((key, session.known_id()?.clone()))).collect()
}

/// The journal on its way through a replay.
struct Reading<'a> {
    replay: Replay,
    owners: Owners<'a>,
    /// What agents have asked, and calls that are known by what they name.
    asked: HashMap<(AgentKey, String), Owner>,
    called: HashMap<(AgentKey, u64), Owner>,
}

impl<'a> Owners<'a> {
    fn new(gone: Gone<'a>) -> Self {
        let (named, names, copied, until) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { gone, marks: Vec::new(), named, copied, until, names }
    }

    fn of(file: &mut File, gone: Gone<'a>, mut before: HashMap<SessionId, Past>) -> io::Result<Self> {
        let mut reading: Option<Reading<'a>> = None;
        lines::each(file, 0, |line| {
            let text = String::from_utf8_lossy(line);
            let reading = reading.get_or_insert_with(|| Reading {
                replay: replay_of(&text, std::mem::take(&mut before)),
                owners: Self::new(gone),
                asked: HashMap::new(),
                called: HashMap::new(),
            });
            reading.take(&text);
        })?;
        match reading {
            Some(reading) if !reading.replay.is_foreign() => Ok(reading.owners.with_begun()),
            _ => Err(io::Error::other("it cannot be read by this acp-tui")),
        }
    }

    /// What copies that stay began with stays so long, and what that began with, too.
    fn with_begun(mut self) -> Self {
        let mut copies: Vec<SessionKey> = self.copied.keys().copied().filter(|key| !self.goes_whole(*key)).collect();
        while let Some(copy) = copies.pop() {
            let Some((from, line)) = self.copied.get(&copy).copied() else { continue };
            let until = self.until.entry(from).or_default();
            if *until < line {
                *until = line;
                copies.push(from);
            }
        }
        self
    }

    /// What a session is called at this line. One that is called nothing up to the end is what it was.
    fn named(&self, key: SessionKey, line: usize) -> Named {
        if self.until.get(&key).is_some_and(|until| line <= *until) {
            return Named::Other;
        }
        let named = self.named.get(&key).map(Vec::as_slice).unwrap_or_default();
        let at = named.iter().rposition(|(from, _)| *from <= line).unwrap_or_default();
        match named.get(at) {
            Some((_, Named::Nothing)) if at + 1 == named.len() => Named::Gone,
            Some((_, named)) => *named,
            None if matches!(self.gone, Gone::AllBut(_)) => Named::Gone,
            None => Named::Other,
        }
    }

    fn goes(&self, key: SessionKey, line: usize) -> bool {
        self.named(key, line) == Named::Gone
    }

    /// Whether it never was one that stays.
    fn goes_whole(&self, key: SessionKey) -> bool {
        if self.until.contains_key(&key) {
            return false;
        }
        match self.named.get(&key) {
            Some(named) => named.iter().all(|(_, named)| *named != Named::Other),
            None => matches!(self.gone, Gone::AllBut(_)),
        }
    }

    /// All that stay.
    fn kept(&self) -> impl Iterator<Item = (&SessionKey, &SessionId)> {
        self.names.iter().filter(|(key, _)| !self.goes(**key, usize::MAX))
    }
}

impl Reading<'_> {
    fn take(&mut self, text: &str) {
        let numbers = self.replay.core().numbers();
        let Ok(record) = serde_json::from_str::<Record<'_>>(text) else {
            let mark = Mark { owner: Owner::Nobody, t: 0.0, numbers, of: None };
            return self.owners.marks.push(mark);
        };
        let frame = record.frame.and_then(|frame| serde_json::from_str::<Frame<'_>>(frame.get()).ok());
        let at = record.at.or_else(|| replay::event(&record).ok().flatten().map(|event| event.home()));
        let agent = if let Address::Agent(agent) = record.peer() { agent } else { AgentKey::FIRST };
        // Whose call it answers is known only before it is answered.
        let answers = frame.as_ref().filter(|frame| frame.method.is_none()).and_then(Frame::number);
        let caller = answers.and_then(|number| self.replay.core().caller(agent, number));
        let of_session = if let Some(Address::Session(key)) = at { Some(key) } else { None };
        let tenant = of_session.and_then(|key| self.replay.core().agent_at(key.into()));
        let was_starting = tenant.is_some_and(|agent| self.is_starting(agent));
        let sessions = self.replay.core().model().sessions().count();
        let copied = caller.and_then(|caller| self.copied_by(agent, caller));
        self.replay.line(text);
        let mut of = None;
        let owner = match (&*record.dir, &frame) {
            _ if record.numbers.is_some() => Owner::Nobody,
            // Agents write there of any of their sessions.
            ("stderr", _) if matches!(self.owners.gone, Gone::AllBut(_)) => Owner::Nobody,
            ("agent->client", Some(frame)) => self.said(agent, frame, caller),
            ("client->agent", Some(frame)) => {
                let number = frame.number().filter(|_| frame.method.is_some());
                of = number.and_then(|number| self.replay.core().caller(agent, number));
                self.told(agent, frame, of)
            }
            _ => match (of_session, tenant) {
                (Some(key), Some(agent)) if !was_starting && self.is_starting(agent) => Owner::Restarts(key, agent),
                (Some(key), _) => Owner::Session(key),
                (None, _) => {
                    let last = self.replay.core().model().sessions().last().map(|(key, _)| key);
                    let is_more = self.replay.core().model().sessions().count() > sessions;
                    last.filter(|_| is_more).map_or(Owner::All, Owner::Begins)
                }
            },
        };
        let line = self.owners.marks.len();
        self.owners.marks.push(Mark { owner, t: record.t, numbers, of });
        let copied = copied.or_else(|| self.copied_by(agent, of?));
        if let Some((copy, from)) = copied {
            self.note_copy(copy, from, line);
        }
        // Pieces of messages name no session anew.
        if frame.is_none_or(|frame| frame.method.is_none()) {
            self.note_names(line);
        }
    }

    fn is_starting(&self, agent: AgentKey) -> bool {
        let agent = self.replay.core().model().agent_of(agent);
        agent.is_some_and(|agent| matches!(agent.connection, Connection::Starting { .. }))
    }

    /// Whether the conversation is this one.
    fn is_it(&self, agent: AgentKey, id: &str) -> bool {
        let (Gone::It(whose) | Gone::AllBut(whose)) = self.owners.gone;
        let agent = self.replay.core().model().agent_of(agent);
        let is_its = agent.is_some_and(|agent| whose.command.is_none_or(|command| agent.command == command));
        is_its && id == whose.id
    }

    /// The session of which the one that waits for an answer is to be a copy.
    fn copied_by(&self, agent: AgentKey, caller: Address) -> Option<(SessionKey, SessionKey)> {
        let Address::Session(copy) = caller else { return None };
        let model = self.replay.core().model();
        let from = model.session_of(copy)?.will_copy().and_then(|from| model.session_named(agent, from));
        from.filter(|from| *from != copy).map(|from| (copy, from))
    }

    /// A copy is asked for, or there: what it begins with is put into it before or behind that.
    fn note_copy(&mut self, copy: SessionKey, from: SessionKey, line: usize) {
        if self.replay.core().model().session_of(copy).is_some_and(Session::has_talked) {
            self.owners.copied.entry(copy).or_insert((from, line));
        }
    }

    fn note_names(&mut self, line: usize) {
        let names = names(&self.replay);
        for (key, id) in &names {
            let is_anew = self.owners.names.get(key) != Some(id);
            let named = self.owners.named.entry(*key).or_default();
            // It has its name again.
            if !is_anew && named.last().is_some_and(|(_, named)| *named == Named::Nothing) {
                named.pop();
            }
            if is_anew {
                let agent = self.replay.core().agent_at((*key).into());
                let is_it = agent.is_some_and(|agent| self.is_it(agent, id.as_str()));
                let goes = is_it == matches!(self.owners.gone, Gone::It(_));
                let what = if goes { Named::Gone } else { Named::Other };
                self.owners.named.entry(*key).or_default().push((line, what));
            }
        }
        for (key, named) in &mut self.owners.named {
            let is_lost = !names.contains_key(key) && named.last().is_some_and(|(_, named)| *named == Named::Gone);
            if is_lost {
                named.push((line + 1, Named::Nothing));
            }
        }
        // What has lost its name has had it.
        self.owners.names.extend(names);
    }

    /// Whose a message is that names this session.
    fn named(&self, agent: AgentKey, id: &str) -> Owner {
        let (model, is_it, id) = (self.replay.core().model(), self.is_it(agent, id), SessionId::from(id));
        let parent = || model.parent_of(agent, &id);
        match self.owners.gone {
            Gone::It(_) if is_it => Owner::Gone,
            Gone::It(_) => parent().map_or(Owner::All, Owner::Session),
            Gone::AllBut(_) if is_it => Owner::All,
            Gone::AllBut(_) => model.session_named(agent, &id).or_else(parent).map_or(Owner::Gone, Owner::Session),
        }
    }

    /// By the agent.
    fn said(&mut self, agent: AgentKey, frame: &Frame<'_>, caller: Option<Address>) -> Owner {
        if frame.method.is_none() {
            let named = frame.number().and_then(|number| self.called.remove(&(agent, number)));
            return match (caller, named) {
                (Some(Address::Session(key)), _) => Owner::Session(key),
                (_, Some(owner)) => owner,
                _ => Owner::All,
            };
        }
        let owner = frame.session().map_or(Owner::All, |id| self.named(agent, &id));
        if let (Some(id), true) = (frame.id, owner != Owner::All) {
            self.asked.insert((agent, id.get().to_owned()), owner);
        }
        owner
    }

    /// To the agent. `of`: who waits for the answer.
    fn told(&mut self, agent: AgentKey, frame: &Frame<'_>, of: Option<Address>) -> Owner {
        match (of, &frame.method) {
            (Some(Address::Session(key)), _) => Owner::Session(key),
            (_, Some(_)) => {
                let owner = frame.session().map_or(Owner::All, |id| self.named(agent, &id));
                if let (Some(number), true) = (frame.number(), owner != Owner::All) {
                    self.called.insert((agent, number), owner);
                }
                owner
            }
            (_, None) => {
                let answered = frame.id.and_then(|id| self.asked.remove(&(agent, id.get().to_owned())));
                answered.unwrap_or(Owner::All)
            }
        }
    }
}

/// The journal as it is without the conversation.
struct Anew<'a> {
    out: &'a mut dyn FnMut(&str) -> io::Result<()>,
    /// What sessions that go on had before.
    before: HashMap<SessionId, Past>,
    /// The same of those that copies began with: their journals do not go along.
    began: BTreeMap<SessionKey, Past>,
    /// Of what was written.
    replay: Option<Replay>,
    failed: Option<io::Error>,
}

impl Anew<'_> {
    fn take(&mut self, owners: &Owners<'_>, line: usize, text: &str) {
        let Some(mark) = owners.marks.get(line) else { return };
        let begins = |key| owners.goes_whole(key);
        if self.replay.is_none() {
            self.replay = Some(replay_of(text, std::mem::take(&mut self.before)));
            self.put(text);
            if begins(SessionKey::FIRST) {
                self.put(&intent(0.0, SessionKey::FIRST.into(), &shown()));
            }
            return;
        }
        match mark.owner {
            Owner::Nobody | Owner::Gone => {}
            // In the new journal nothing was asked for before that.
            Owner::Session(key) if owners.named(key, line) == Named::Nothing && is(text, &Intent::Restart) => {}
            Owner::Session(key) | Owner::Restarts(key, _) if !owners.goes(key, line) => match self.told(key, text) {
                Some(text) => self.keep(mark, &text),
                None => self.keep(mark, text),
            },
            Owner::Session(_) if is(text, &Intent::CloseSession) => self.keep(mark, text),
            Owner::Session(_) => {}
            Owner::Restarts(_, agent) => self.keep(mark, &intent(mark.t, agent.into(), &json!("Restart"))),
            Owner::Begins(key) if begins(key) => self.begin(mark, key, text),
            Owner::Begins(_) => self.keep(mark, text),
            Owner::All => self.keep(mark, &without_listed(text, owners.gone)),
        }
    }

    /// That earlier journals were read, with what they had.
    fn told(&mut self, key: SessionKey, text: &str) -> Option<String> {
        if !text.contains("\"Recalled\"") || !self.began.contains_key(&key) {
            return None;
        }
        let mut record: Value = serde_json::from_str(text).ok()?;
        let fact = record.pointer_mut("/fact/Recalled").filter(|fact| fact["is_last"] == true)?;
        let parts = self.began.remove(&key)?.copied(None);
        fact["copied"] = json!(parts.into_iter().flat_map(|part| part.copied).collect::<Vec<_>>());
        Some(record.to_string()).filter(|text| text.len() <= MAX_TOLD)
    }

    /// A session that is only shown begins where the conversation began.
    fn begin(&mut self, mark: &Mark, key: SessionKey, text: &str) {
        let Ok(mut record) = serde_json::from_str::<Value>(text) else { return };
        let of_agent = record.pointer_mut("/intent/OpenSession/how");
        if let Some(how) = of_agent {
            *how = shown()["OpenAs"].take();
            return self.keep(mark, &record.to_string());
        }
        if let Some(how) = record.pointer_mut("/intent/AddAgent/how") {
            *how = json!(Opening::New);
        }
        self.keep(mark, &record.to_string());
        self.put(&intent(mark.t, key.into(), &shown()));
    }

    fn keep(&mut self, mark: &Mark, text: &str) {
        if self.replay.as_ref().is_some_and(|replay| replay.core().numbers() != mark.numbers) {
            self.put(&json!({ "t": mark.t, "dir": "host", "numbers": mark.numbers }).to_string());
        }
        match mark.of {
            Some(of) => self.put(&with_owner(text, of)),
            None => self.put(text),
        }
    }

    fn put(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = (self.out)(text).err();
        }
        if let Some(replay) = &mut self.replay {
            replay.line(text);
        }
    }
}

/// A line of what was wanted.
fn intent(t: f64, at: Address, intent: &Value) -> String {
    json!({ "t": t, "dir": "person", "at": at, "intent": intent }).to_string()
}

/// It is only shown, and nothing is known of it.
fn shown() -> Value {
    json!(Intent::OpenAs(Opening::Show { id: SessionId::from(""), why: ReadOnly::Forgotten }))
}

/// Whether the person wanted this.
fn is(text: &str, wanted: &Intent) -> bool {
    let record = serde_json::from_str::<Record<'_>>(text).ok();
    let intent = record.and_then(|record| serde_json::from_str::<Intent>(record.intent?.get()).ok());
    intent.as_ref() == Some(wanted)
}

/// A call, with whose it is.
fn with_owner(text: &str, of: Address) -> String {
    const DIR: &str = r#""dir":"client->agent","#;
    let Ok(of) = serde_json::to_string(&of) else { return text.to_owned() };
    match text.split_once(DIR) {
        // It was taken out of before.
        Some((_, rest)) if rest.starts_with(r#""of":"#) => text.to_owned(),
        Some((before, rest)) if before.len() < 64 => format!(r#"{before}{DIR}"of":{of},{rest}"#),
        _ => text.strip_suffix('}').map_or_else(|| text.to_owned(), |text| format!(r#"{text},"of":{of}}}"#)),
    }
}

/// What an agent lists, without what goes.
fn without_listed<'a>(text: &'a str, gone: Gone<'_>) -> Cow<'a, str> {
    let may_list = match gone {
        Gone::It(whose) => text.contains(&Value::from(whose.id).to_string()),
        Gone::AllBut(_) => text.contains("\"sessions\""),
    };
    if !may_list {
        return Cow::Borrowed(text);
    }
    let Ok(mut record) = serde_json::from_str::<Value>(text) else { return Cow::Borrowed(text) };
    let goes = |id: &str| match gone {
        Gone::It(whose) => id == whose.id,
        Gone::AllBut(whose) => id != whose.id,
    };
    if !stored::unlist(&mut record["frame"], goes) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(record.to_string())
}

#[cfg(test)]
#[path = "forgetting_tests.rs"]
mod tests;
