//! What one journal says of its sessions, gathered line by line without a model.
//!
//! Can be kept and taken up again where the journal goes on. Knows no other journal. Invariants: what is gathered is
//! bounded, however long the journal is; a line that cannot be read is counted and costs nothing else.

use super::begins::{Beginnings, Role};
use super::found::{Agent, Found, Head};
use super::keyed::Keyed;
use crate::agent::codec::stored::{self, Called, Depth, Heard, Origin};
use crate::agent::codec::{self, SharedCodec};
use crate::base::limits;
use crate::model::account;
use crate::model::changes::{ReviewEvent, Totals};
use crate::model::event::{Before, Intent, Opening, Update};
use crate::model::ids::{Address, AgentKey, SessionKey};
use crate::model::patch::Patch;
use crate::store::journal::VERSION;
use crate::store::lines::{self, Row, What};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Bytes that are kept of a prompt.
const MAX_PROMPT: usize = 1 << 10;
/// Sessions, agents and calls under way of one journal.
const MAX_SESSIONS: usize = 1000;
/// Prompts of the person that have not been sent.
const MAX_WAITING: usize = 64;
const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

/// A call whose answer has not been read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Waiting {
    Hello,
    Open {
        origin: Origin,
        id: Option<String>,
        cwd: Option<String>,
        role: Role,
        /// Of the session, where that is known and it is not closed.
        key: Option<u32>,
    },
    /// Of the session at this place.
    Prompt(usize),
    Close(usize),
}

/// An earlier session that is to go on: which key it has is known before its agent has opened it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wanted {
    key: u32,
    agent: u32,
    id: String,
    /// The person has closed it meanwhile.
    is_closed: bool,
    /// Turns that are known of it from earlier journals.
    before: Option<u64>,
    /// Those of them that were imported.
    imported: Vec<String>,
}

/// What was told of a session before its agent had opened it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Early {
    agent: u32,
    id: String,
    title: String,
    t: f64,
}

/// A directory and the branch that it is on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Branch {
    cwd: String,
    branch: String,
}

/// In the index members have no names: each is written always, or what follows it cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scan {
    pub head: Option<Head>,
    pub sessions: Vec<Found>,
    pub agents: Keyed<Agent>,
    /// What the sums of a review were last, by the key of a session.
    pub totals: Keyed<Totals>,
    /// What it has changed by itself, where others have a part in these.
    pub own_totals: Keyed<Totals>,
    calls: Vec<(u32, u64, Waiting)>,
    /// Sessions that agents have not been asked for yet.
    begins: Beginnings,
    unsent: Vec<(u32, String)>,
    /// The agents of the second session and of those after it, in the order of their keys.
    owners: Vec<u32>,
    /// Earlier sessions that are to go on and that their agents have not opened yet.
    wanted: Vec<Wanted>,
    /// Titles of sessions that their agents have not opened yet.
    early: Vec<Early>,
    /// Directories in which sessions were about to begin, and the branches that they were on.
    branches: Vec<Branch>,
    /// The last line has been read.
    pub is_ended: bool,
    /// When the last line was written.
    pub last: f64,
    pub skipped: u64,
    /// Lines of it have zero bytes, which no frame has.
    pub is_damaged: bool,
}

impl Scan {
    /// How frames are read; nothing for an unknown version.
    pub fn codec(&self) -> Option<SharedCodec> {
        match self.head.as_ref().and_then(|head| head.codec.as_deref()) {
            None => Some(codec::shipped()),
            Some(name) => codec::named(name),
        }
    }

    /// Why nothing of this journal can be read.
    pub fn refusal(&self) -> Option<String> {
        match &self.head {
            None => Some("it does not begin like a journal".to_owned()),
            Some(head) if head.v > VERSION => Some(format!(
                "it was written by a newer acp-tui (version {} of the journal, this one reads {VERSION})",
                head.v
            )),
            Some(_) if self.codec().is_none() => Some("it was written by a newer acp-tui".to_owned()),
            Some(_) => None,
        }
    }

    /// Takes the first line; false when the others need not be read.
    pub fn begin(&mut self, line: &[u8]) -> bool {
        self.head = serde_json::from_slice(line).ok();
        if let Some(head) = &self.head {
            self.agents.insert(0, Agent::of(&head.command));
            self.begins.add(SessionKey::FIRST.0, AgentKey::FIRST.0, Opening::New);
        }
        self.refusal().is_none()
    }

    /// Whether a turn of the session at this place has not ended.
    pub fn is_in_turn(&self, place: usize) -> bool {
        self.calls.iter().any(|(_, _, call)| *call == Waiting::Prompt(place))
    }

    /// Takes a further line.
    pub fn take(&mut self, codec: &SharedCodec, line: &[u8]) {
        let Some(Row { t, what }) = lines::row(line) else {
            self.skipped += u64::from(!line.is_empty());
            return;
        };
        self.last = self.last.max(t);
        match what {
            What::Sent(agent, frame) => {
                if let Some((number, called)) = codec.called(frame) {
                    self.called(agent, number, called, t);
                }
            }
            What::Heard(agent, frame) => match codec.heard(frame, Depth::Summary) {
                Heard::Answer(number, result) => self.answered(codec, agent, number, result, t),
                Heard::Update(id, update) => self.updated(agent, id.as_str(), update, t),
                Heard::Nothing => {}
            },
            What::Intent(at, body) => self.intent(at, body),
            What::Fact(Some(Address::Session(key)), body) => self.fact(key, body),
            What::Branch(body) => self.on_branch(body),
            What::End => self.is_ended = true,
            What::Fact(..) | What::Other => {}
        }
    }

    /// Since 1970.
    fn day(&self, t: f64) -> u32 {
        let started = self.head.as_ref().map_or(0, |head| head.started);
        u32::try_from(started.saturating_add(t.max(0.0) as u64) / SECONDS_OF_A_DAY).unwrap_or(u32::MAX)
    }

    fn on_branch(&mut self, body: &str) {
        let Ok(on) = serde_json::from_str::<Branch>(body) else { return };
        self.branches.retain(|earlier| earlier.cwd != on.cwd);
        if self.branches.len() < MAX_SESSIONS && on.cwd.len() <= limits::MAX_PATH {
            self.branches.push(Branch { branch: limits::cut(on.branch, limits::MAX_NAME), ..on });
        }
    }

    /// The branch that a directory is on by now.
    fn branch_of(&self, cwd: &str) -> Option<String> {
        let told = self.branches.iter().find(|on| on.cwd == cwd).map(|on| &on.branch);
        told.or_else(|| self.head.as_ref().filter(|head| head.cwd == cwd)?.branch.as_ref()).cloned()
    }

    fn place(&self, agent: AgentKey, id: &str) -> Option<usize> {
        self.sessions.iter().position(|session| session.agent == agent.0 && session.id == id)
    }

    fn called(&mut self, agent: AgentKey, number: u64, called: Called, t: f64) {
        let call = match called {
            Called::Hello => Waiting::Hello,
            Called::Open { origin, id, cwd } => {
                let id = id.map(|id| id.as_str().to_owned());
                let begun = self.begins.asked(agent, origin, id.as_deref());
                let (role, key) = begun.map(|begun| (begun.role, Some(begun.key))).unwrap_or_default();
                Waiting::Open { origin, id, cwd, role, key }
            }
            Called::Prompt { session, text } => {
                let Some(place) = self.place(agent, session.as_str()) else { return };
                self.learn_key(place, &text);
                let session = &mut self.sessions[place];
                session.turns += 1;
                session.asked.get_or_insert(t);
                session.updated = session.updated.max(t);
                session.is_closed = false;
                // What stands above the person's words is told by the thread that it is of.
                let own = account::own_words(&text);
                if own.is_empty() && !text.is_empty() {
                    // Nothing was asked, but it has a name by what it goes on from.
                    if session.title.is_none() {
                        (session.title, session.titled) = (Some(limits::cut(text, MAX_PROMPT)), t);
                    }
                } else {
                    let said = if session.first_prompt.is_none() {
                        &mut session.first_prompt
                    } else {
                        &mut session.last_prompt
                    };
                    *said = Some(limits::cut(own.to_owned(), MAX_PROMPT));
                }
                // An earlier one is answered no more: an agent that has died was started again.
                self.calls.retain(|(_, _, call)| *call != Waiting::Prompt(place));
                Waiting::Prompt(place)
            }
            Called::Close(session) => {
                let Some(place) = self.place(agent, session.as_str()) else { return };
                Waiting::Close(place)
            }
        };
        // An agent that is started again is called with the same numbers.
        self.calls.retain(|(of, other, _)| (*of, *other) != (agent.0, number));
        if self.calls.len() < MAX_SESSIONS {
            self.calls.push((agent.0, number, call));
        }
    }

    fn answered(&mut self, codec: &SharedCodec, agent: AgentKey, number: u64, result: Option<&str>, t: f64) {
        let Some(at) = self.calls.iter().position(|(of, call, _)| (*of, *call) == (agent.0, number)) else { return };
        let (_, _, call) = self.calls.swap_remove(at);
        match (call, result) {
            (Waiting::Hello, Some(result)) => {
                let introduced = codec.introduced(result);
                let known = self.agents.remove(agent.0).unwrap_or_default();
                self.agents.insert(agent.0, Agent { name: introduced.name, can: introduced.can, ..known });
            }
            (Waiting::Open { origin, id, cwd, role, key }, Some(result)) => {
                // The copy of a session has an id of its own.
                let (how, copy_of) = match id {
                    Some(id) if origin != Origin::Forked => (Opening::Load(id.into()), None),
                    id => (Opening::New, id),
                };
                if let Ok(opened) = codec.opened(&how, result) {
                    let id = opened.id.as_str();
                    let key = key.filter(|key| !self.is_taken(*key));
                    self.opened(agent, id, (origin, role), cwd, t);
                    if let Some(copy) = self.place(agent, id).and_then(|at| self.sessions.get_mut(at)) {
                        copy.copy_of = copy_of.filter(|of| of.len() <= MAX_PROMPT).or(copy.copy_of.take());
                        copy.key = copy.key.or(key);
                    }
                }
            }
            (Waiting::Prompt(place), result) => {
                let (day, tokens) = (self.day(t), result.and_then(stored::tokens));
                if let Some(session) = self.sessions.get_mut(place) {
                    session.updated = session.updated.max(t);
                    if let Some(tokens) = tokens {
                        session.figures.counts(day, tokens);
                    }
                }
            }
            (Waiting::Open { origin: Origin::Forked, id, role, key: Some(key), .. }, None) => {
                self.begins.refused(key, agent, role, id);
            }
            (Waiting::Close(place), Some(_)) => {
                if let Some(session) = self.sessions.get_mut(place) {
                    session.is_closed = true;
                }
            }
            (_, None) => {}
        }
    }

    fn opened(&mut self, agent: AgentKey, id: &str, (origin, role): (Origin, Role), cwd: Option<String>, t: f64) {
        let cwd = cwd.or_else(|| self.head.as_ref().map(|head| head.cwd.clone())).unwrap_or_default();
        if let Some(place) = self.place(agent, id) {
            let session = &mut self.sessions[place];
            (session.updated, session.opened, session.is_closed) = (session.updated.max(t), t, false);
        } else if self.sessions.len() < MAX_SESSIONS {
            let cwd = limits::cut(cwd, limits::MAX_PATH);
            let branch = self.branch_of(&cwd);
            let id = id.to_owned();
            let (is_aside, was_aside) = (role == Role::Aside, matches!(role, Role::Aside | Role::Kept));
            let follows = if let Role::Follows(id) = role { Some(id) } else { None };
            let found = Found {
                id,
                agent: agent.0,
                origin,
                cwd,
                branch,
                created: t,
                opened: t,
                updated: t,
                follows,
                is_aside,
                was_aside,
                ..Found::default()
            };
            self.sessions.push(found);
        }
        self.is_as_wanted(agent, id);
        let told = self.early.iter().position(|early| early.agent == agent.0 && early.id == id);
        if let (Some(at), Some(place)) = (told, self.place(agent, id)) {
            let Early { title, t, .. } = self.early.remove(at);
            (self.sessions[place].title, self.sessions[place].titled) = (Some(title), t);
        }
    }

    /// Of what was asked for by its id the key is known, also when nothing is ever sent in it.
    fn is_as_wanted(&mut self, agent: AgentKey, id: &str) {
        let Some(at) = self.wanted.iter().position(|wanted| wanted.agent == agent.0 && wanted.id == id) else { return };
        let Wanted { key, is_closed, before, imported, .. } = self.wanted.remove(at);
        let is_taken = self.is_taken(key);
        let Some(place) = self.place(agent, id).filter(|_| !is_taken) else { return };
        let session = &mut self.sessions[place];
        if session.turns == 0 && session.key.is_none() {
            (session.before, session.imported) = (before, imported);
        }
        session.is_closed = is_closed;
        let earlier = session.key.replace(key);
        // What was told of its changes before it was opened once more still counts.
        for totals in [&mut self.totals, &mut self.own_totals] {
            let of_earlier = earlier.and_then(|earlier| totals.get(earlier)).copied();
            if let Some(of_earlier) = of_earlier.filter(|_| totals.get(key).is_none()) {
                totals.insert(key, of_earlier);
            }
        }
    }

    fn wants(&mut self, key: u32, agent: u32, how: &Opening) {
        self.wanted.retain(|wanted| wanted.key != key);
        let id = how.id().map(|id| id.as_str()).filter(|id| id.len() <= MAX_PROMPT);
        let is_asked = !matches!(how, Opening::Show { .. });
        if let Some(id) = id.filter(|_| is_asked && self.wanted.len() < MAX_WAITING) {
            self.wanted.push(Wanted {
                key,
                agent,
                id: id.to_owned(),
                is_closed: false,
                before: None,
                imported: Vec::new(),
            });
        }
    }

    fn updated(&mut self, agent: AgentKey, id: &str, update: Update, t: f64) {
        let Some(place) = self.place(agent, id) else { return self.told_early(agent, id, update, t) };
        let day = self.day(t);
        let session = &mut self.sessions[place];
        match update {
            Update::Info { title: Patch::Set(title), .. } => {
                (session.title, session.titled) = (Some(title).filter(|title| names(title)), t);
            }
            Update::Info { title: Patch::Reset, .. } => (session.title, session.titled) = (None, t),
            Update::Usage { used, size, cost } => {
                session.figures.used(used, size);
                session.figures.costs(day, cost, session.origin != Origin::New);
            }
            _ => return,
        }
        session.updated = session.updated.max(t);
    }

    /// An agent may tell what a session is called before it says that it has opened it.
    fn told_early(&mut self, agent: AgentKey, id: &str, update: Update, t: f64) {
        let is_awaited = self.calls.iter().any(|(of, _, call)| *of == agent.0 && matches!(call, Waiting::Open { .. }));
        let Update::Info { title: Patch::Set(title), .. } = update else { return };
        if is_awaited && id.len() <= MAX_PROMPT && names(&title) {
            self.early.retain(|early| early.agent != agent.0 || early.id != id);
            if self.early.len() < MAX_WAITING {
                self.early.push(Early { agent: agent.0, id: id.to_owned(), title, t });
            }
        }
    }

    fn intent(&mut self, at: Option<Address>, body: &str) {
        let at = at.unwrap_or(SessionKey::FIRST.into());
        match (at, serde_json::from_str(body)) {
            (Address::Session(key), Ok(Intent::Prompt { text, .. })) => {
                if self.unsent.len() >= MAX_WAITING {
                    self.unsent.remove(0);
                }
                self.unsent.push((key.0, limits::cut(text, MAX_PROMPT)));
            }
            (Address::Session(key), Ok(Intent::CloseSession)) => self.closed(key.0),
            (Address::Session(key), Ok(Intent::KeepAside)) => self.kept(key.0),
            (Address::Agent(key), Ok(Intent::OpenSession { how, .. })) => self.owned(key.0, how),
            (Address::Session(key), Ok(Intent::OpenAs(how))) => {
                let agent = self.owner(key.0).unwrap_or(AgentKey::FIRST.0);
                self.wants(key.0, agent, &how);
                self.begins.add(key.0, agent, how);
            }
            (Address::Session(key), Ok(Intent::Follows(Before { id: Some(id), .. })))
                if id.as_str().len() <= MAX_PROMPT =>
            {
                self.follows(key.0, id.as_str());
            }
            (Address::All, Ok(Intent::AddAgent { command, how, .. })) => {
                let key = self.agents.last_key().map_or(0, |last| last + 1);
                self.owned(key, how);
                if self.agents.len() < MAX_SESSIONS {
                    self.agents.insert(key, Agent::of(&command));
                }
            }
            _ => {}
        }
    }

    fn closed(&mut self, key: u32) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.key == Some(key)) {
            session.is_closed = true;
        }
        if let Some(wanted) = self.wanted.iter_mut().find(|wanted| wanted.key == key) {
            wanted.is_closed = true;
        }
        self.begins.forget(key);
        for (_, _, call) in &mut self.calls {
            if let Waiting::Open { key: of, .. } = call {
                of.take_if(|of| *of == key);
            }
        }
    }

    /// What was asked aside is a session like any other, also when its agent has not opened it yet.
    fn kept(&mut self, key: u32) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.key == Some(key)) {
            session.is_aside = false;
        }
        if let Some(role) = self.role_of(key).filter(|role| **role == Role::Aside) {
            *role = Role::Kept;
        }
    }

    /// What one will be that is not open.
    fn role_of(&mut self, key: u32) -> Option<&mut Role> {
        let asked = self.calls.iter_mut().find_map(|(_, _, call)| match call {
            Waiting::Open { role, key: Some(of), .. } if *of == key => Some(role),
            _ => None,
        });
        asked.or_else(|| self.begins.role_of(key))
    }

    fn is_taken(&self, key: u32) -> bool {
        self.sessions.iter().any(|session| session.key == Some(key))
    }

    /// A further session is of this agent.
    fn owned(&mut self, agent: u32, how: Opening) {
        if self.owners.len() < MAX_SESSIONS {
            self.owners.push(agent);
            let key = self.owners.len() as u32;
            self.wants(key, agent, &how);
            self.begins.add(key, agent, how);
        }
    }

    /// The agent of the session with this key.
    fn owner(&self, key: u32) -> Option<u32> {
        key.checked_sub(1).map_or(Some(AgentKey::FIRST.0), |at| self.owners.get(at as usize).copied())
    }

    /// A session that began like any other continues one of this name. Where it is open nothing was sent in it, which
    /// would tell its key: it is the newest one of its agent.
    fn follows(&mut self, key: u32, id: &str) {
        if let Some(role) = self.role_of(key) {
            *role = Role::Follows(id.to_owned());
            return;
        }
        let agent = self.owner(key).unwrap_or(AgentKey::FIRST.0);
        // It may be asked for once more by an agent that was started again.
        let asked = self.calls.iter_mut().rev().find_map(|(of, _, call)| match call {
            Waiting::Open { origin: Origin::New, role: role @ Role::None, key: None, .. } if *of == agent => Some(role),
            _ => None,
        });
        let is_its = |one: &&mut Found| {
            let is_new = one.agent == agent && one.origin == Origin::New && one.turns == 0 && !one.is_aside;
            is_new && one.key.is_none_or(|of| of == key)
        };
        if let Some(role) = asked {
            *role = Role::Follows(id.to_owned());
        } else if let Some(session) = self.sessions.iter_mut().rev().find(is_its) {
            session.follows = Some(id.to_owned());
        }
    }

    /// Frames name a session by its id, intents by its key: what was wanted and then sent brings both together.
    fn learn_key(&mut self, place: usize, text: &str) {
        let fits =
            |(_, wanted): &(u32, String)| text.starts_with(wanted.as_str()) || *wanted == limits::cut(text, MAX_PROMPT);
        // Several agents may be sent the same.
        let agent = self.sessions[place].agent;
        let of_agent = self.unsent.iter().position(|one| fits(one) && self.owner(one.0) == Some(agent));
        let Some(at) = of_agent.or_else(|| self.unsent.iter().position(fits)) else { return };
        let (key, _) = self.unsent.remove(at);
        // By the order of calls another may have got it in which nothing was said.
        if let Some(other) = self.sessions.iter_mut().find(|other| other.key == Some(key) && other.turns == 0) {
            other.key = None;
        }
        if !self.is_taken(key) {
            self.sessions[place].key = Some(key);
        }
    }

    /// What earlier journals have of one that is to go on was read.
    fn recalled(&mut self, key: SessionKey, body: &str) {
        #[derive(Deserialize)]
        enum Fact {
            Recalled {
                turns: u64,
                is_last: bool,
                trouble: Option<IgnoredAny>,
                #[serde(default)]
                imported: Vec<String>,
            },
        }
        let Some(wanted) = self.wanted.iter_mut().find(|wanted| wanted.key == key.0) else { return };
        if let Ok(Fact::Recalled { turns, is_last: true, trouble, mut imported }) = serde_json::from_str(body) {
            wanted.before = trouble.is_none().then_some(turns).or(wanted.before);
            imported.retain(|name| name.len() <= limits::MAX_NAME);
            imported.truncate(MAX_WAITING);
            wanted.imported = imported;
        }
    }

    fn fact(&mut self, key: SessionKey, body: &str) {
        if body.starts_with("{\"Recalled\"") {
            return self.recalled(key, body);
        }
        let tells_sums = ["{\"TurnReviewed\"", "{\"ChangesSeen\"", "{\"OwnChanges\""];
        if !tells_sums.iter().any(|begin| body.starts_with(begin)) {
            return;
        }
        let (all, totals) = match serde_json::from_str(body) {
            Ok(ReviewEvent::TurnReviewed { session, .. } | ReviewEvent::ChangesSeen { session, .. }) => {
                (&mut self.totals, session)
            }
            Ok(ReviewEvent::OwnChanges { totals }) => (&mut self.own_totals, totals),
            _ => return,
        };
        if all.len() < MAX_SESSIONS || all.get(key.0).is_some() {
            all.insert(key.0, totals);
        }
    }
}

/// Whether a title says anything.
fn names(title: &str) -> bool {
    !title.is_empty() && !account::is_placeholder(title)
}
