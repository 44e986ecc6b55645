//! The messages of a journal, one after the other: what was asked, said, thought and done.
//!
//! Reads frames without a model and keeps only what is not complete yet. Invariants: pieces of one message are one
//! message; what a call has done is one message, where and when it began; they come in the order of the journal.

mod host;
mod retelling;
mod texts;

use crate::agent::codec::SharedCodec;
use crate::agent::codec::stored::{Called, Depth, Heard, Origin};
use crate::model::child::{ChildPatch, Sayings, call_of, row_of};
use crate::model::entry::{Body, ChunkKind};
use crate::model::event::Update;
use crate::model::ids::SessionId;
use crate::model::patch::Patch;
use crate::model::tool::{Announced, ToolCall, ToolPatch, deed};
use crate::store::lines::{Row, What};
use host::{Host, Terminal, Write};
use retelling::{Retelling, Told};
use std::sync::Arc;
use std::time::Duration;
use texts::{files, text_of, text_of_call};

pub use retelling::body;

/// Bytes of one message; what is more is not looked at.
const MAX_TEXT: usize = 64 << 20;
/// Messages and calls of a session that are not complete.
const MAX_OPEN: usize = 1000;
/// Sessions that the agent has begun itself, of one session.
const MAX_KIDS: usize = 256;
/// Seconds of silence that end a history which is told behind the answer.
const QUIET: f64 = 1.0;
/// And those that end the prompt that was told last.
const QUIET_PROMPT: f64 = 0.3;

/// Who said it, or that it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Agent,
    Thought,
    Tool,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::User, Self::Agent, Self::Thought, Self::Tool];

    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Thought => "thought",
            Self::Tool => "tool",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The agent's key, and its name of the session.
    pub agent: u32,
    pub session: String,
    /// Counted from 1 in this journal; 0 before the first.
    pub turn: u64,
    pub role: Role,
    /// Seconds since the journal began.
    pub t: f64,
    pub text: String,
    /// The agent told it again while the session was loaded.
    pub is_told_again: bool,
    /// That was a prompt, of which it had told a part when something was asked.
    pub is_cut: bool,
    /// The agent's name of the call that it is.
    pub call: Option<String>,
    /// Of what was done: its sort and its title.
    pub tool: String,
    /// The word in its row.
    pub deed: &'static str,
    /// The files that it was done to.
    pub files: Vec<String>,
    /// The call itself.
    pub done: Option<Box<ToolCall>>,
}

/// What the agent calls a text that it goes on with; a message may have the name that a plan has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Message(Arc<str>),
    Plan(Option<Arc<str>>),
    Compaction(Option<Arc<str>>),
}

/// A message of which more may come.
struct Open {
    kind: ChunkKind,
    name: Option<Name>,
    place: Place,
    message: Message,
}

/// Where something began in the journal, counted in updates: many have one moment.
type Place = u64;

struct Call {
    tool: ToolCall,
    /// What a terminal of the agent's own printed.
    printed: String,
    turn: u64,
    t: f64,
    place: Place,
    is_told_again: bool,
}

/// A session that the agent has begun itself: what it says, and what it is told, stands in one row of the session that it
/// belongs to.
struct Kid {
    id: SessionId,
    title: String,
    /// Its title has been handed over.
    is_named: bool,
    sayings: Sayings,
    /// Since it was handed over last, something was told of it: in which turn, when and where, and whether again.
    news: Option<(u64, f64, Place, bool)>,
}

#[derive(Default)]
struct Session {
    agent: u32,
    id: String,
    turns: u64,
    /// The calls that load it, and its prompts without an answer.
    loads: Vec<u64>,
    prompts: Vec<u64>,
    /// A call to load it was answered, and nothing else has happened since: when something was told last. Some agents
    /// answer first, and tell then.
    told: Option<f64>,
    retelling: Option<Retelling>,
    /// Of the update that is read.
    place: Place,
    open: Vec<Open>,
    /// The last one goes on with the next piece that has no id.
    goes_on: bool,
    calls: Vec<Call>,
    terminals: Vec<Terminal>,
    writes: Vec<Write>,
    kids: Vec<Kid>,
}

/// What was said in a session of an agent before a moment.
pub type Known<'a> = Box<dyn Fn(u32, &str, f64) -> Vec<Body> + 'a>;

#[derive(Default)]
pub struct Reader<'a> {
    sessions: Vec<Session>,
    known: Option<Known<'a>>,
    host: Option<Host>,
}

impl<'a> Reader<'a> {
    /// Leaves out of what is told late what is known. Without it, it is read like anything else.
    pub fn knowing(known: Known<'a>) -> Self {
        Self { known: Some(known), ..Self::default() }
    }

    /// The same, with what was run and written through the client.
    pub fn with_host(self) -> Self {
        Self { host: Some(Host::default()), ..self }
    }

    /// Whether what is in a fact can be said by one that follows what was run and written.
    pub fn tells(fact: &str) -> bool {
        Host::tells(fact)
    }

    /// Takes a line, and hands over the messages that are complete with it.
    pub fn take(&mut self, codec: &SharedCodec, row: &Row<'_>, out: &mut impl FnMut(Message)) {
        match row.what {
            What::Sent(agent, frame) => {
                if let Some((number, called)) = codec.called(frame) {
                    self.called(agent.0, number, called, row.t, out);
                } else if let Some((session, write)) = self.host.as_mut().and_then(|host| host.replies(agent.0, frame))
                {
                    self.of(agent.0, &session).writes.push(write);
                }
            }
            What::Heard(agent, frame) => match codec.heard(frame, Depth::Everything) {
                Heard::Update(id, update) => {
                    let kid = |session: &Session| session.kids.iter().position(|kid| kid.id == id);
                    let mut above = self.sessions.iter().enumerate().filter(|(_, session)| session.agent == agent.0);
                    let above = above.find_map(|(at, session)| Some((at, Some(kid(session)?))));
                    let (at, kid) = above.unwrap_or_else(|| (self.place(agent.0, id.as_str()), None));
                    let session = &mut self.sessions[at];
                    session.is_heard(row.t, out);
                    session.hear_again(update, kid, row.t, self.known.as_ref());
                    session.ease(out);
                }
                Heard::Answer(number, _) => self.answered(agent.0, number, row.t, out),
                Heard::Nothing => {
                    if let Some(mut host) = self.host.take() {
                        host.asks(agent.0, frame, row.t, |id| self.of(agent.0, id).now());
                        self.host = Some(host);
                    }
                }
            },
            What::Fact(_, fact) => {
                let Some(mut host) = self.host.take() else { return };
                let ended = host.ends(fact, |agent, id| self.of(agent, id).turns);
                self.host = Some(host);
                if let Some((agent, id, patch)) = ended {
                    let session = self.of(agent, &id);
                    session.place += 1;
                    session.terminal(patch, row.t);
                }
            }
            _ => {}
        }
    }

    /// Something was passed over: nothing that has no name goes on.
    pub fn passed_over(&mut self) {
        self.sessions.iter_mut().for_each(|session| session.goes_on = false);
    }

    /// Hands over what is left.
    pub fn finish(&mut self, out: &mut impl FnMut(Message)) {
        self.sessions.iter_mut().for_each(|session| session.flush(out));
    }

    fn place(&mut self, agent: u32, id: &str) -> usize {
        let at = self.sessions.iter().position(|session| session.agent == agent && session.id == id);
        at.unwrap_or_else(|| {
            self.sessions.push(Session { agent, id: id.to_owned(), ..Session::default() });
            self.sessions.len() - 1
        })
    }

    fn of(&mut self, agent: u32, id: &str) -> &mut Session {
        let at = self.place(agent, id);
        &mut self.sessions[at]
    }

    fn called(&mut self, agent: u32, number: u64, called: Called, t: f64, out: &mut impl FnMut(Message)) {
        match called {
            Called::Open { origin: Origin::Loaded, id: Some(id), .. } => {
                let session = self.of(agent, id.as_str());
                session.loads.push(number);
                session.prompts.clear();
                session.retelling = Some(Retelling::default());
            }
            Called::Prompt { session, text } => {
                let session = self.of(agent, session.as_str());
                session.told_all();
                session.cut_prompt();
                session.flush(out);
                // Nothing is asked before a call to load is answered.
                session.loads.clear();
                session.retelling =
                    session.retelling.take().and_then(|mut retelling| retelling.asks(&text, t).then_some(retelling));
                session.turns += 1;
                session.prompts.push(number);
                session.told = None;
                out(session.message(Role::User, text, t));
            }
            _ => {}
        }
    }

    fn answered(&mut self, agent: u32, number: u64, t: f64, out: &mut impl FnMut(Message)) {
        for session in self.sessions.iter_mut().filter(|session| session.agent == agent) {
            let is_load = session.loads.contains(&number);
            if is_load || session.prompts.contains(&number) {
                // A message may go on behind the answer.
                if !is_load {
                    let rest = session.retelling.as_mut().map(Retelling::turn_over);
                    rest.into_iter().flatten().for_each(|update| session.update(update, None, t));
                    session.flush(out);
                }
                session.told = is_load.then_some(t);
                if is_load && !session.ends_with_prompt() {
                    session.told_all();
                }
                session.loads.retain(|load| *load != number);
                session.prompts.retain(|prompt| *prompt != number);
            }
        }
    }
}

impl Session {
    /// Its turn, and where what begins now stands.
    fn now(&mut self) -> (u64, Place) {
        self.place += 1;
        (self.turns, self.place)
    }

    fn message(&self, role: Role, text: String, t: f64) -> Message {
        let is_told_again = self.is_told_again();
        Message {
            agent: self.agent,
            session: self.id.clone(),
            turn: self.turns,
            role,
            t,
            text,
            is_told_again,
            is_cut: false,
            call: None,
            tool: String::new(),
            deed: "",
            files: Vec::new(),
            done: None,
        }
    }

    /// After a silence nothing of the history comes any more.
    fn is_heard(&mut self, t: f64, out: &mut impl FnMut(Message)) {
        if let Some(last) = self.told {
            if t - last >= QUIET_PROMPT {
                self.told_all();
            }
            self.told = (t - last < QUIET).then_some(t);
            if self.told.is_none() {
                self.flush(out);
            }
        }
    }

    /// What comes now is of a history that is told.
    fn is_told_again(&self) -> bool {
        !self.loads.is_empty() || self.told.is_some()
    }

    /// What was told again and is not complete yet, in its order.
    fn told_now(&self) -> Vec<Told<'_>> {
        let said = self.open.iter().filter(|open| open.message.is_told_again);
        let done = self.calls.iter().filter(|call| call.is_told_again).map(|call| (call.place, Told::Done(&call.tool)));
        let mut told: Vec<_> = said.map(|open| (open.place, Told::Said(&open.message))).chain(done).collect();
        told.sort_by_key(|(place, _)| *place);
        told.into_iter().map(|(_, told)| told).collect()
    }

    fn note_told(&mut self) {
        let Some(mut retelling) = self.retelling.take_if(|retelling| !retelling.is_told()) else { return };
        retelling.has_told(&self.told_now());
        self.retelling = Some(retelling);
    }

    /// What comes now is told behind the answer.
    fn told_all(&mut self) {
        self.note_told();
        self.retelling.iter_mut().for_each(Retelling::told_all);
    }

    fn ends_with_prompt(&self) -> bool {
        match self.told_now().last() {
            Some(told) => matches!(told, Told::Said(message) if message.role == Role::User),
            None => self.retelling.as_ref().is_some_and(Retelling::ends_with_prompt),
        }
    }

    fn cut_prompt(&mut self) {
        let is_last = self.is_told_again() && self.ends_with_prompt();
        if let Some(open) = self.open.last_mut().filter(|open| is_last && open.message.is_told_again) {
            open.message.is_cut = true;
        }
    }

    /// What is told late of what is known is left out.
    fn hear_again(&mut self, update: Update, kid: Option<usize>, t: f64, known: Option<&Known<'_>>) {
        let (agent, id, is_told_again) = (self.agent, &self.id, self.is_told_again());
        let new = match (self.retelling.as_mut().filter(|_| kid.is_none()), known) {
            (Some(retelling), Some(known)) if !is_told_again => {
                retelling.sift(update, t, |before| known(agent, id, before))
            }
            (Some(retelling), _) if is_told_again => {
                retelling.tells(&update, t);
                vec![update]
            }
            _ => vec![update],
        };
        for update in new {
            self.update(update, kid, t);
        }
    }

    /// `kid`: what is said of, or by, that one.
    fn update(&mut self, update: Update, kid: Option<usize>, t: f64) {
        self.place += 1;
        match (update, kid) {
            (Update::Partly { update, .. }, _) => self.update(*update, kid, t),
            (Update::Child(patch), _) => self.kid(*patch, t),
            (Update::Passed(passed), _) => {
                let is_named = |kid: &Kid| passed.between.iter().flatten().any(|id| *id == kid.id);
                if let Some(at) = self.kids.iter().position(is_named).or(kid) {
                    self.hear(at, Update::Passed(passed), t);
                }
            }
            (Update::ToolCall(patch), _) => self.call(self.called_here(*patch, kid), true, t),
            (Update::ToolUpdate(patch), _) => self.call(self.called_here(*patch, kid), false, t),
            (Update::Terminal(patch), _) => self.terminal(*patch, t),
            (said, Some(at)) => self.hear(at, said, t),
            // What was just sent comes back from some agents.
            (Update::Chunk { kind: ChunkKind::User, .. }, None) if !self.prompts.is_empty() => {}
            (Update::Chunk { kind, message_id, block }, None) => {
                let text = text_of(&block);
                if !text.is_empty() {
                    self.piece(kind, message_id.map(Name::Message), &text, t);
                }
            }
            (Update::Part { kind, text, .. }, None) => self.piece(kind, None, &text, t),
            (Update::Whole { kind, content }, None) => {
                let text: Vec<String> = content.iter().map(text_of).collect();
                self.alone(kind, &text.join("\n"), t);
            }
            (Update::Message { content: Patch::Keep, .. }, None) => {}
            (Update::Message { kind, id, content }, None) => {
                let text: Vec<String> = content.as_set().into_iter().flatten().map(text_of).collect();
                self.whole(kind, Name::Message(id), &text.join("\n"), t);
            }
            (Update::Plan { id, entries }, None) => {
                let steps: Vec<&str> = entries.iter().map(|entry| entry.content.as_str()).collect();
                self.whole(ChunkKind::Agent, Name::Plan(id), &steps.join("\n"), t);
            }
            (Update::Compaction(patch), None) => {
                let said = [patch.error.as_set(), patch.summary.as_set(), Some(&patch.more)];
                let text: String = said.into_iter().flatten().map(String::as_str).collect();
                self.piece(ChunkKind::Agent, Some(Name::Compaction(patch.id)), &text, t);
            }
            (Update::Notice { title, description, .. }, None) => {
                self.note([title].into_iter().chain(description), t);
            }
            (Update::Unknown { name, held }, None) => self.note([name].into_iter().chain(held), t),
            _ => {}
        }
    }

    fn note(&mut self, lines: impl Iterator<Item = String>, t: f64) {
        self.alone(ChunkKind::Agent, &lines.collect::<Vec<_>>().join("\n"), t);
    }

    /// A message by itself: it goes on with nothing, and no more of it comes.
    fn alone(&mut self, kind: ChunkKind, text: &str, t: f64) {
        self.goes_on = false;
        if !text.is_empty() {
            self.piece(kind, None, text, t);
        }
        self.goes_on = false;
    }

    /// All of a message, in place of what was said under its name.
    fn whole(&mut self, kind: ChunkKind, name: Name, text: &str, t: f64) {
        if let Some(open) = self.open.iter_mut().find(|o| o.kind == kind && o.name.as_ref() == Some(&name)) {
            open.message.text.clear();
        }
        if !text.is_empty() {
            self.piece(kind, Some(name), text, t);
        }
    }

    /// One that the agent has begun is there, or has changed.
    fn kid(&mut self, patch: ChildPatch, t: f64) {
        let at = self.kids.iter().position(|kid| kid.id == patch.id);
        let title = match at {
            // Without a title its task names it.
            None => patch.title.as_set().or(patch.description.as_set()),
            Some(_) => patch.title.as_set(),
        };
        let title = title.cloned();
        if at.is_none() && self.kids.len() < MAX_KIDS {
            let (title, sayings) = (String::new(), Sayings::default());
            self.kids.push(Kid { id: patch.id, title, is_named: true, sayings, news: None });
        }
        let news = (self.turns, t, self.place, self.is_told_again());
        let last = self.kids.len().checked_sub(1);
        let kid = at.or(last).and_then(|at| self.kids.get_mut(at));
        if let (Some(kid), Some(title)) = (kid, title)
            && kid.title != title
        {
            (kid.title, kid.is_named) = (title, false);
            kid.news.get_or_insert(news);
        }
    }

    fn hear(&mut self, kid: usize, said: Update, t: f64) {
        let news = (self.turns, t, self.place, self.is_told_again());
        if let Some(kid) = self.kids.get_mut(kid) {
            kid.sayings.take(said);
            kid.news.get_or_insert(news);
        }
    }

    /// Calls of one that the agent has begun have names of their own.
    fn called_here(&self, mut patch: ToolPatch, kid: Option<usize>) -> ToolPatch {
        if let Some(kid) = kid.and_then(|at| self.kids.get(at)) {
            patch.id = call_of(&row_of(&kid.id), &patch.id);
        }
        patch
    }

    /// Where much is said without a pause, the oldest of it stays as it is.
    fn ease(&mut self, out: &mut impl FnMut(Message)) {
        if self.open.len() >= MAX_OPEN {
            self.open.drain(..MAX_OPEN - 1).for_each(|open| out(open.message));
        }
    }

    fn piece(&mut self, kind: ChunkKind, name: Option<Name>, text: &str, t: f64) {
        let goes_on = std::mem::replace(&mut self.goes_on, true);
        let same = |open: &Open| open.kind == kind && open.name == name;
        let at = match &name {
            Some(_) => self.open.iter().rposition(same),
            None => self.open.len().checked_sub(1).filter(|at| goes_on && same(&self.open[*at])),
        };
        if let Some(at) = at {
            let whole = &mut self.open[at].message.text;
            let room = MAX_TEXT.saturating_sub(whole.len()).min(text.len());
            whole.push_str(&text[..text.floor_char_boundary(room)]);
        } else {
            let role = match kind {
                ChunkKind::Agent => Role::Agent,
                ChunkKind::Thought => Role::Thought,
                ChunkKind::User => Role::User,
            };
            let message = self.message(role, text.to_owned(), t);
            self.open.push(Open { kind, name, place: self.place, message });
        }
    }

    fn call(&mut self, mut patch: ToolPatch, is_announced: bool, t: f64) {
        self.goes_on = false;
        let now = Duration::try_from_secs_f64(t).unwrap_or_default();
        let printed = patch.terminal.output.take().map(|(_, text)| text).unwrap_or_default();
        let at = self.calls.iter().rposition(|call| call.tool.id == patch.id);
        let announced = if is_announced && at.is_some() { Announced::Again } else { Announced::No };
        let at = match at {
            Some(at) => at,
            None if self.calls.len() >= MAX_OPEN => return,
            None => {
                let tool = ToolCall::new(patch.id.clone(), now);
                let is_told_again = self.is_told_again();
                let (printed, turn, place) = (String::new(), self.turns, self.place);
                self.calls.push(Call { tool, printed, turn, t, place, is_told_again });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        call.tool.apply(patch, announced, now);
        if call.printed.len() + printed.len() <= MAX_TEXT {
            call.printed.push_str(&printed);
        }
    }

    fn flush(&mut self, out: &mut impl FnMut(Message)) {
        self.goes_on = false;
        self.note_told();
        let mut messages: Vec<(Place, Message)> = self.open.drain(..).map(|open| (open.place, open.message)).collect();
        let (mut terminals, mut writes) = (std::mem::take(&mut self.terminals), std::mem::take(&mut self.writes));
        for mut call in std::mem::take(&mut self.calls) {
            let files = files(&call.tool);
            writes.retain(|write| !write.joins(&mut call, &files));
            let mut printed = call.printed;
            // Whose terminal a call means is not told by it in every version.
            let is_shown =
                |terminal: &mut Terminal| call.tool.terminals().any(|id| id.as_str() == terminal.id.as_str());
            for terminal in terminals.extract_if(.., is_shown) {
                printed.push_str(&terminal.text());
            }
            let text = text_of_call(&call.tool, &printed);
            let message = self.message(Role::Tool, text, call.t);
            let tool = format!("{} {}", call.tool.kind.word(), call.tool.title);
            let (turn, place, is_told_again) = (call.turn, call.place, call.is_told_again);
            let deed = deed::deed(&call.tool);
            let (call, done) = (Some(call.tool.id.as_str().to_owned()), Some(Box::new(call.tool)));
            messages.push((place, Message { turn, is_told_again, call, tool, deed, files, done, ..message }));
        }
        let mut kids = std::mem::take(&mut self.kids);
        for kid in &mut kids {
            let Some((turn, t, place, is_told_again)) = kid.news.take() else { continue };
            let sayings = std::mem::take(&mut kid.sayings);
            let title = (!std::mem::replace(&mut kid.is_named, true)).then_some(kid.title.as_str());
            let text: Vec<&str> = title.into_iter().chain(sayings.texts()).collect();
            if !text.is_empty() {
                let message = self.message(Role::Tool, text.join("\n"), t);
                let (call, tool) = (Some(row_of(&kid.id).as_str().to_owned()), format!("agent {}", kid.title));
                messages.push((place, Message { turn, is_told_again, call, tool, ..message }));
            }
        }
        self.kids = kids;
        messages.extend(self.by_themselves(terminals, writes));
        messages.sort_by_key(|(place, _)| *place);
        messages.into_iter().map(|(_, message)| message).for_each(out);
    }
}
