//! The pure part of the engine: frames in, lines out, the model in between.
//!
//! No IO of its own but the program's log, and no clock, so a journal can be replayed through it: only an entry that has left memory is read
//! when it is to change, and in a replay none leaves. Invariants: frames of a connection concern its agent and
//! that agent's sessions only; requests of all agents have different ids.

use super::calls::ReqIds;
use super::connection::{Connection, HEAD, Heard};
use super::logging;
use crate::agent::codec::{self, Decoded, SharedCodec};
use crate::mcp::ResolvedServer;
use crate::model::Model;
use crate::model::agent::Agent;
use crate::model::effect::{Answer, Effect};
use crate::model::event::{Can, Event, Hint, Intent, Protocol};
use crate::model::history::History;
use crate::model::ids::{Address, Addressed, AgentKey, Now, ReqId, SessionKey, TurnId};
use crate::model::login::Secret;
use crate::model::reduce::reduce;
use crate::model::setup::Setup;
use crate::wire::frame::Frame;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use super::connection::Line;

/// Characters of a line that are stored while the person logs in: addresses to visit are long.
const LOGIN_HEAD: usize = 4000;

/// What is kept of a line that is printed while the person logs in.
pub fn login_line(line: &str) -> String {
    line.chars().take(LOGIN_HEAD).collect()
}

/// What is to be done outside.
#[derive(Debug)]
pub enum Out {
    Line(Line),
    Do(Addressed<Effect>),
}

/// What is counted over all sessions: the last turn, and the request of an agent that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Numbers {
    turn: TurnId,
    request: ReqId,
}

#[derive(Debug)]
pub struct Core {
    model: Model,
    connections: BTreeMap<AgentKey, Connection>,
    /// What every connection begins with, unless something else is said of its agent.
    codec: SharedCodec,
    may_change: bool,
    /// What connections to single agents begin with.
    protocols: BTreeMap<AgentKey, Protocol>,
    /// The first session's directory, which may have a name that is no text.
    cwd: PathBuf,
    ids: ReqIds,
    /// Where entries are that have left memory.
    history: Option<Arc<dyn History>>,
    /// Events applied so far.
    version: u64,
}

impl Core {
    pub fn new(model: Model, cwd: PathBuf, codec: SharedCodec) -> Self {
        let first = Connection::new(AgentKey::FIRST, Arc::clone(&codec), true);
        let connections = BTreeMap::from([(AgentKey::FIRST, first)]);
        let protocols = BTreeMap::new();
        let (ids, history, version, may_change) = (ReqIds::default(), None, 0, true);
        Self { model, connections, codec, may_change, protocols, cwd, ids, history, version }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    pub fn into_model(self) -> Model {
        self.model
    }

    /// How this agent is spoken to now.
    pub fn codec(&self, agent: AgentKey) -> &SharedCodec {
        self.connections.get(&agent).map_or(&self.codec, Connection::codec)
    }

    /// What the person has typed to log in to this agent.
    pub fn keep_credentials(&mut self, agent: AgentKey, typed: Vec<(String, Secret)>) {
        if let Some(connection) = self.connections.get_mut(&agent) {
            connection.credentials = typed;
        }
    }

    pub fn forget_credentials(&mut self, agent: AgentKey) {
        self.keep_credentials(agent, Vec::new());
    }

    pub(super) fn connection(&mut self, agent: AgentKey) -> Option<&mut Connection> {
        self.connections.get_mut(&agent)
    }

    /// Whether there is a connection to this agent: it is the first one, or was started.
    pub fn is_connected(&self, agent: AgentKey) -> bool {
        self.connections.contains_key(&agent)
    }

    /// Every connection from now on begins with this codec; whether another version may be spoken where an agent refuses
    /// that.
    pub fn speak(&mut self, codec: SharedCodec, may_change: bool) {
        for connection in self.connections.values_mut() {
            connection.speak(Arc::clone(&codec), may_change);
        }
        (self.codec, self.may_change) = (codec, may_change);
    }

    /// How the agent that is added next is spoken to.
    fn note_protocol(&mut self, event: &Event) {
        if let Event::User(Intent::AddAgent { protocol: Some(protocol), .. }) = event {
            self.protocols.insert(self.model.next_agent(), *protocol);
        }
    }

    /// Changes whenever anything has been applied to the model.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn numbers(&self) -> Numbers {
        Numbers { turn: self.model.last_turn(), request: self.ids.coming() }
    }

    /// Goes on counting from here.
    pub(super) fn count_from(&mut self, numbers: Numbers) {
        self.ids.go_on_from(numbers.request);
        self.set_up(Setup::Turn(numbers.turn));
    }

    /// Whose call it is that waits for its answer under this number.
    pub(super) fn caller(&self, agent: AgentKey, number: u64) -> Option<Address> {
        Some(self.connections.get(&agent)?.peer.of(number)?.address(agent))
    }

    /// The call of this session or agent has this number, whatever was counted.
    pub(super) fn settle(&mut self, agent: AgentKey, of: Address, number: u64, method: &str) {
        if let Some(connection) = self.connections.get_mut(&agent) {
            connection.peer.settle(number, method, |tag| tag.address(agent) == of);
        }
    }

    /// What holds of this program, or of the one whose journal is replayed.
    pub fn set_up(&mut self, setup: Setup) {
        // There is nothing to do for it, and it is the same at any time.
        reduce(&mut self.model, Addressed::new(Address::All, Event::Setup(setup)), Now::ZERO);
    }

    /// The agent that an address belongs to.
    pub fn agent_at(&self, at: Address) -> Option<AgentKey> {
        match at {
            Address::All => None,
            Address::Agent(key) => Some(key),
            Address::Session(key) => self.model.session_of(key).map(|session| session.agent),
        }
    }

    /// The directory of a session, or of an agent's first one.
    pub fn directory(&self, at: Address) -> &Path {
        let session = match at {
            Address::Session(key) => self.model.session_of(key).map(|session| (key, session)),
            Address::Agent(agent) => self.model.sessions().find(|(_, session)| session.agent == agent),
            Address::All => None,
        };
        let further = session.filter(|(key, _)| *key != SessionKey::FIRST);
        further.map_or(self.cwd.as_path(), |(_, session)| Path::new(&session.cwd))
    }

    /// Applies what the next one of its sort replaces, and what is in no journal.
    pub fn hint(&mut self, at: impl Into<Address>, hint: Hint, now: Now) {
        // There is nothing to do for one.
        reduce(&mut self.model, Addressed::new(at, Event::Hint(hint)), now);
    }

    /// Entries that leave memory from now on can be read there.
    pub fn read_from(&mut self, history: Arc<dyn History>) {
        self.history = Some(history);
    }

    /// Has the entry back that this event would change.
    fn bring_back(&mut self, event: &Addressed<Event>, now: Now) {
        if let (Some(history), Some((at, id, away))) = (&self.history, self.model.away(event)) {
            let entry = away.read(id, &**history);
            self.hint(at, Hint::Back(Box::new(entry)), now);
        }
    }

    /// Applies an event that is no frame.
    pub fn event(&mut self, event: Addressed<Event>, now: Now) -> Vec<Out> {
        self.version += 1;
        logging::event(&event);
        self.note_protocol(&event.what);
        self.bring_back(&event, now);
        let agent = self.agent_at(event.at);
        let effects = reduce(&mut self.model, event, now);
        let dead = agent.filter(|agent| self.model.agent_of(*agent).is_some_and(Agent::is_dead));
        let mut out = Vec::new();
        for effect in effects {
            // An agent that is let go, and not lost, still gets its answers.
            if effect.what == Effect::EndAgent
                && dead.is_none()
                && let Some(connection) = self.connection_at(effect.at)
            {
                out.extend(connection.answer_open().into_iter().map(Out::Line));
            }
            out.extend(self.effect(effect));
        }
        if let Some(connection) = dead.and_then(|agent| self.connections.get_mut(&agent)) {
            // Nothing is answered after the end of the connection.
            connection.forget();
        }
        out
    }

    fn connection_at(&mut self, at: Address) -> Option<&mut Connection> {
        let agent = self.agent_at(at)?;
        self.connections.get_mut(&agent)
    }

    /// Applies one frame of an agent. `line` is its text. One of an agent without a connection is dropped.
    pub fn frame(&mut self, agent: AgentKey, frame: Frame, line: &str, now: Now) -> Vec<Out> {
        let keep = if self.model.hears_log_in(agent) { LOGIN_HEAD } else { HEAD };
        let Some(connection) = self.connections.get_mut(&agent) else { return Vec::new() };
        let mut out = Vec::new();
        for heard in connection.hear(frame, line, keep, &mut self.ids).into_iter().flatten() {
            out.extend(self.heard(agent, heard, now));
        }
        out
    }

    /// Applies an update that has been decoded. `line` is its text.
    pub fn update(&mut self, agent: AgentKey, decoded: Decoded, line: &str, now: Now) -> Vec<Out> {
        let heards = self.connections.get_mut(&agent).map(|connection| connection.updated(decoded, line));
        let mut out = Vec::new();
        for heard in heards.into_iter().flatten().flatten() {
            out.extend(self.heard(agent, heard, now));
        }
        out
    }

    fn heard(&mut self, agent: AgentKey, heard: Heard, now: Now) -> Vec<Out> {
        match heard {
            Heard::Event(Addressed { at, what }) => self.event(Addressed { at, what: Event::Agent(what) }, now),
            Heard::Line(line) => vec![Out::Line(line)],
            Heard::Reconnect(event) => {
                let mut out = self.event(Addressed::new(agent, Event::Agent(event)), now);
                out.push(Out::Do(Addressed::new(agent, Effect::SpawnAgent)));
                out
            }
        }
    }

    /// Turns what concerns the wire into lines; the rest is handed on.
    fn effect(&mut self, effect: Addressed<Effect>) -> Option<Out> {
        logging::effect(&effect);
        let Addressed { at, what } = effect;
        let Some(agent) = self.agent_at(at) else { return Some(Out::Do(Addressed { at, what })) };
        if what == Effect::SpawnAgent {
            let (codec, may_change) = match self.protocols.get(&agent) {
                Some(protocol) => (codec::first(*protocol), protocol.may_change()),
                None => (Arc::clone(&self.codec), self.may_change),
            };
            let connection = || Connection::new(agent, codec, may_change);
            self.connections.entry(agent).or_insert_with(connection).begin_anew();
            return Some(Out::Do(Addressed { at, what }));
        }
        let line = match what {
            Effect::Call(call) => {
                let cwd = self.directory(at).to_owned();
                let is_told = self.model.agent_of(agent).is_some_and(|agent| agent.can(Can::Directories));
                let directories = match at {
                    Address::Session(key) if is_told => self.model.directories(key),
                    _ => &[],
                };
                let reached = self.model.agent_of(agent).and_then(|agent| agent.reached);
                self.connections.get_mut(&agent)?.call(at, call, &cwd, directories, reached)
            }
            Effect::CancelTurn(session) => self.connections.get(&agent)?.cancel_turn(&session),
            Effect::WithdrawAuthenticate => self.connections.get_mut(&agent)?.withdraw_authenticate(),
            Effect::Respond { req, answer } => self.connections.get_mut(&agent)?.respond(req, &answer),
            Effect::Void(req) => {
                self.connections.get_mut(&agent)?.void(req);
                None
            }
            what => return Some(Out::Do(Addressed { at, what })),
        };
        line.map(Out::Line)
    }

    /// The line that opens a session, with the servers that the agent is given.
    pub fn give(&self, line: Line, servers: &[ResolvedServer]) -> Line {
        match self.connections.get(&line.agent) {
            Some(connection) => connection.give(line, servers),
            None => line,
        }
    }

    /// Answers a request over the connection that it came over.
    pub fn respond(&mut self, req: ReqId, answer: &Answer) -> Option<Line> {
        self.connections.values_mut().find(|connection| connection.waits(req))?.respond(req, answer)
    }

    /// On the way out every open request of every agent gets an answer.
    pub fn answer_all(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (agent, connection) in &mut self.connections {
            let turns = self.model.sessions_of(*agent).filter(|(_, session)| session.turn.is_some());
            let ids = turns.filter_map(|(_, session)| session.id.as_ref());
            lines.extend(ids.filter_map(|id| connection.cancel_turn(id)));
            lines.extend(connection.answer_open());
        }
        lines
    }
}
