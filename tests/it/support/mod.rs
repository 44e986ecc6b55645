//! A core without an engine: frames, facts and intents go in, lines and wishes come out, and the clock is ours.
//!
//! What goes in is also written down as the lines of a journal, so that every run can be replayed.

pub mod app;
pub mod between;
pub mod next;
pub mod renamed;
pub mod schema;
pub mod second;

use acp_tui::agent::codec;
use acp_tui::engine::core::{Core, Out};
use acp_tui::model::Model;
use acp_tui::model::changes::Gate;
use acp_tui::model::effect::{Effect, Ended, FrontEnd};
use acp_tui::model::entry::{Block, Body, Entry, FileOutcome, UserState};
use acp_tui::model::event::{Event, HostEvent, Intent, Protocol, Timer};
use acp_tui::model::ids::{Address, Addressed, AgentKey, ReqId, TermId};
use acp_tui::model::session::{Phase, Policy};
use acp_tui::model::setup::Setup;
use acp_tui::model::tool::{ChangeBody, Exit, ToolCall, ToolContent, ToolStatus};
use acp_tui::wire::frame::Frame;
use acp_tui::wire::trace::{Dir, Form, append_record};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

pub const SESSION: &str = "s1";
pub const CWD: &str = "/project";

#[derive(Debug)]
pub struct Rig {
    pub core: Core,
    pub now: Duration,
    /// Every line to the agent since the beginning.
    pub lines: Vec<Value>,
    /// Every wish that is no line.
    pub wishes: Vec<Effect>,
    pub journal: Vec<String>,
    /// The lines as they were sent.
    pub raw: Vec<String>,
    /// Every name is another one on the wire.
    renamed: bool,
    asked: schema::Asked,
    read: usize,
    answered: Vec<u64>,
    turned_off: usize,
}

impl Rig {
    pub fn with_policy(policy: Policy) -> Self {
        Self::of(Model::new("agent --acp".into(), CWD.into(), policy))
    }

    pub fn of(model: Model) -> Self {
        let mut core = Core::new(model, PathBuf::from(CWD), codec::shipped());
        core.set_up(Setup::Journal);
        Self {
            core,
            now: Duration::from_secs(1),
            lines: Vec::new(),
            wishes: Vec::new(),
            journal: Vec::new(),
            raw: Vec::new(),
            renamed: false,
            asked: schema::Asked::default(),
            read: 0,
            answered: Vec::new(),
            turned_off: 0,
        }
    }

    /// One that speaks with every name changed; lines go in and come out in the usual ones.
    pub fn renamed() -> Self {
        let mut rig = Self::with_policy(Policy::Ask);
        rig.core.speak(renamed::renamed(), true);
        rig.renamed = true;
        rig
    }

    /// One that speaks the second version of the protocol, in a session.
    pub fn second() -> Self {
        Self::second_as(Policy::Ask)
    }

    pub fn second_as(policy: Policy) -> Self {
        let mut rig = Self::with_policy(policy);
        rig.core.speak(codec::first(Protocol::Two), false);
        rig.intent(Intent::Start);
        rig.host(HostEvent::AgentSpawned { pid: 7 });
        rig.answer("initialize", second_init());
        rig.answer("session/new", json!({ "sessionId": SESSION }));
        rig.sent();
        rig
    }

    /// Spawned; `initialize` is on its way.
    pub fn starting(policy: Policy) -> Self {
        let mut rig = Self::with_policy(policy);
        rig.intent(Intent::Start);
        rig.host(HostEvent::AgentSpawned { pid: 7 });
        rig
    }

    pub fn starting_as(policy: Policy, review: bool) -> Self {
        let mut rig = Self::with_policy(policy);
        rig.core.set_up(Setup::Sessions { review, gate: Gate::Off, rules: false });
        rig.intent(Intent::Start);
        rig.host(HostEvent::AgentSpawned { pid: 7 });
        rig
    }

    /// `initialize` was answered with this; `session/new` is on its way.
    pub fn initialized(result: Value) -> Self {
        let mut rig = Self::starting(Policy::Ask);
        rig.answer("initialize", result);
        rig
    }

    pub fn opening() -> Self {
        Self::initialized(plain_init())
    }

    /// A session without modes or options.
    pub fn ready() -> Self {
        Self::ready_with(json!({}))
    }

    /// A session whose `session/new` was answered with these members too.
    pub fn ready_with(more: Value) -> Self {
        Self::ready_as(Policy::Ask, more)
    }

    pub fn ready_as(policy: Policy, more: Value) -> Self {
        Self::starting(policy).opened(more)
    }

    /// A session in which somebody looks at the files before and after each turn.
    pub fn reviewed() -> Self {
        Self::starting_as(Policy::Ask, true).opened(json!({}))
    }

    /// Started, and a session opened.
    pub fn opens(&mut self) {
        self.intent(Intent::Start);
        self.host(HostEvent::AgentSpawned { pid: 7 });
        self.answer("initialize", plain_init());
        self.answer("session/new", json!({ "sessionId": SESSION }));
        self.sent();
    }

    fn opened(mut self, more: Value) -> Self {
        let rig = &mut self;
        rig.answer("initialize", plain_init());
        let mut result = json!({ "sessionId": SESSION });
        if let (Some(result), Some(more)) = (result.as_object_mut(), more.as_object()) {
            result.extend(more.clone());
        }
        rig.answer("session/new", result);
        rig.sent();
        self
    }

    /// A session with a turn that runs.
    pub fn prompted(text: &str) -> Self {
        let mut rig = Self::ready();
        rig.prompt(text);
        rig.sent();
        rig
    }

    /// Bytes of one line, as they come from the agent.
    pub fn bytes(&mut self, line: &[u8]) {
        self.asked.hear(line);
        let (frame, line) = Frame::read(Cow::Borrowed(line), self.core.codec(AgentKey::FIRST).word_for_word());
        let mut record = String::new();
        append_record(&mut record, self.now, Dir::FromAgent, r#""at":{"agent":0},"#, &line, Form::of(&frame));
        self.journal.push(record);
        self.now += Duration::from_millis(1);
        let out = self.core.frame(AgentKey::FIRST, frame, &line, self.now_before());
        self.take(out);
    }

    fn now_before(&self) -> Duration {
        self.now.checked_sub(Duration::from_millis(1)).unwrap()
    }

    pub fn line(&mut self, line: &str) {
        self.bytes(line.as_bytes());
    }

    pub fn agent(&mut self, message: Value) {
        let message = if self.renamed { renamed::message_out(message) } else { message };
        self.line(&message.to_string());
    }

    /// The connection is let go.
    pub fn answer_all(&mut self) {
        let out = self.core.answer_all().into_iter().map(Out::Line).collect();
        self.take(out);
    }

    /// `session/update` for our session.
    pub fn update(&mut self, update: Value) {
        self.update_in(SESSION, update);
    }

    pub fn update_in(&mut self, session: &str, update: Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.agent(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    pub fn say(&mut self, text: &str) {
        self.update(chunk("agent_message_chunk", text));
    }

    pub fn tool(&mut self, more: Value) {
        self.update(with(json!({ "sessionUpdate": "tool_call" }), more));
    }

    pub fn tool_update(&mut self, more: Value) {
        self.update(with(json!({ "sessionUpdate": "tool_call_update" }), more));
    }

    /// A request of the agent; `sessionId` is ours unless the parameters name one.
    pub fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let params = with(json!({ "sessionId": SESSION }), params);
        self.agent(json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }));
    }

    /// A permission request with the options allow/reject for a tool call.
    pub fn ask(&mut self, id: impl Into<Value>, tool: &str) {
        self.request(
            id,
            "session/request_permission",
            json!({ "toolCall": { "toolCallId": tool, "title": tool }, "options": options() }),
        );
    }

    /// Answers the oldest open call of ours with this method.
    pub fn answer(&mut self, method: &str, result: Value) {
        let id = self.open_call(method);
        self.answered.push(id);
        self.agent(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub fn fail(&mut self, method: &str, error: Value) {
        let id = self.open_call(method);
        self.answered.push(id);
        self.agent(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    pub fn stop(&mut self, reason: &str) {
        self.answer("session/prompt", json!({ "stopReason": reason }));
    }

    /// The id of the oldest call of ours with this method that was not answered.
    pub fn open_call(&self, method: &str) -> u64 {
        self.lines
            .iter()
            .filter(|l| l["method"] == method)
            .filter_map(|l| l["id"].as_u64())
            .find(|id| !self.answered.contains(id))
            .unwrap_or_else(|| panic!("no open call of {method}: {:#?}", self.lines))
    }

    pub fn intent(&mut self, intent: Intent) {
        self.intent_at(intent.home(), intent);
    }

    pub fn intent_at(&mut self, at: impl Into<Address>, intent: Intent) {
        let at = at.into();
        self.journal.push(fact_line(self.now, "person", at, "intent", &serde_json::to_value(&intent).unwrap()));
        let out = self.core.event(Addressed::new(at, Event::User(intent)), self.now);
        self.now += Duration::from_millis(1);
        self.take(out);
    }

    pub fn prompt(&mut self, text: &str) {
        self.intent(Intent::Prompt { text: text.into(), links: Vec::new() });
    }

    pub fn host(&mut self, fact: HostEvent) {
        self.journal.push(fact_line(self.now, "host", fact.home(), "fact", &serde_json::to_value(&fact).unwrap()));
        let out = self.core.event(Event::Host(fact).at_home(), self.now);
        self.now += Duration::from_millis(1);
        self.take(out);
    }

    pub fn timer(&mut self, timer: Timer) {
        self.journal.push(fact_line(self.now, "host", timer.home(), "timer", &serde_json::to_value(timer).unwrap()));
        let out = self.core.event(Event::Timer(timer).at_home(), self.now);
        self.take(out);
    }

    pub fn exited(&mut self, exit: Exit, stderr: &[&str]) {
        self.host(HostEvent::AgentExited { exit, stderr: stderr.iter().map(|s| (*s).to_owned()).collect() });
    }

    /// The person answers the oldest permission request.
    pub fn choose(&mut self, option: &str) {
        let req = self.pending()[0];
        self.intent(Intent::Answer { req, option: option.into() });
    }

    /// `terminal/create`, and the terminal starts.
    pub fn terminal(&mut self, id: impl Into<Value>, term: &str) {
        self.request(id, "terminal/create", json!({ "command": "make" }));
        let req = self.wished(|e| if let Effect::TerminalCreate { req, .. } = e { Some(*req) } else { None });
        self.host(HostEvent::TerminalStarted { req, term: TermId::from(term) });
    }

    pub fn terminal_ends(&mut self, term: &str, exit: Exit) {
        self.host(HostEvent::TerminalExited { term: TermId::from(term), exit, end: "end\n".into() });
    }

    fn take(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::Line(line) => {
                    assert!(!line.text.contains(['\n', '\r']), "r_048: one message, one line: {}", line.text);
                    let message: Value = serde_json::from_str(&line.text).unwrap();
                    schema::check(self.core.codec(line.agent).name(), &message, self.asked.method_of(&message));
                    self.raw.push(line.text);
                    self.lines.push(if self.renamed { renamed::message_in(message) } else { message });
                }
                Out::Do(effect) => self.wishes.push(effect.what),
            }
        }
    }

    /// What was sent since the last time this was asked.
    pub fn sent(&mut self) -> Vec<Value> {
        let news = self.lines[self.read..].to_vec();
        self.read = self.lines.len();
        news
    }

    /// Methods, or `id:outcome`, of what was sent since the last time; for short comparisons.
    pub fn sent_briefly(&mut self) -> Vec<String> {
        self.sent().iter().map(brief).collect()
    }

    pub fn wants(&mut self) -> Vec<Effect> {
        let news = self.wishes[self.turned_off..].to_vec();
        self.turned_off = self.wishes.len();
        news
    }

    /// The newest wish that this finds.
    pub fn wished<T>(&self, find: impl Fn(&Effect) -> Option<T>) -> T {
        self.wishes.iter().rev().find_map(find).unwrap_or_else(|| panic!("not among {:#?}", self.wishes))
    }

    pub fn ended(&self) -> Vec<Ended> {
        let of = |e: &Effect| match e {
            Effect::FrontEnd(FrontEnd::TurnEnded(_, ended, _)) => Some(ended.clone()),
            _ => None,
        };
        self.wishes.iter().filter_map(of).collect()
    }

    pub fn returned(&self) -> Vec<String> {
        let of = |e: &Effect| match e {
            Effect::FrontEnd(FrontEnd::Returned(text)) => Some(text.clone()),
            _ => None,
        };
        self.wishes.iter().filter_map(of).collect()
    }

    pub fn withdrawn(&self) -> Vec<String> {
        let of = |e: &Effect| match e {
            Effect::FrontEnd(FrontEnd::Withdrawn(gone)) => Some(format!("{}: {}", gone.why.words(), gone.about)),
            _ => None,
        };
        self.wishes.iter().filter_map(of).collect()
    }

    pub fn model(&self) -> &Model {
        self.core.model()
    }

    pub fn pending(&self) -> Vec<ReqId> {
        self.model().first().session().questions().iter().map(|p| p.req).collect()
    }

    pub fn held(&self) -> Vec<&str> {
        self.model().first().session().held.iter().map(|h| h.text.as_str()).collect()
    }

    pub fn is_dead(&self) -> bool {
        matches!(self.model().first().phase(), Phase::Dead(_))
    }

    /// The tool call with this id that came last.
    pub fn call(&self, id: &str) -> &ToolCall {
        let of = |e: &Entry| self.model().first().session().tool(e.id).filter(|t| t.id.as_str() == id).map(|_| e.id);
        let entry = self
            .model()
            .first()
            .session()
            .entries()
            .iter()
            .rev()
            .find_map(of)
            .unwrap_or_else(|| panic!("no call {id}"));
        self.model().first().session().tool(entry).unwrap()
    }

    /// The transcript, one entry a line.
    pub fn entries(&self) -> Vec<String> {
        render(self.model())
    }

    /// The entries without the words about messages that could not be used.
    pub fn entries_without_odd(&self) -> Vec<String> {
        let odd = |e: &String| e.starts_with("Info: the agent sent ") || e.starts_with("Info: the agent asked for ");
        self.entries().into_iter().filter(|e| !odd(e)).collect()
    }

    pub fn has_entry(&self, part: &str) -> bool {
        self.entries().iter().any(|e| e.contains(part))
    }

    pub fn odd(&self) -> u64 {
        self.model().first().agent().odd.total()
    }
}

fn fact_line(now: Duration, dir: &str, at: Address, member: &str, body: &Value) -> String {
    let at = serde_json::to_value(at).unwrap();
    format!(r#"{{"t":{}.{:06},"dir":"{dir}","at":{at},"{member}":{body}}}"#, now.as_secs(), now.subsec_micros())
}

/// What an agent says of itself in the second version.
pub fn second_init() -> Value {
    json!({ "protocolVersion": 2, "info": { "name": "agent", "version": "1" }, "capabilities": { "session": {} } })
}

pub fn plain_init() -> Value {
    json!({ "protocolVersion": 1, "agentInfo": { "name": "probe", "version": "1.2" }, "agentCapabilities": {} })
}

pub fn chunk(kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

pub fn options() -> Value {
    json!([
        { "optionId": "yes", "name": "Allow", "kind": "allow_once" },
        { "optionId": "no", "name": "Reject", "kind": "reject_once" }
    ])
}

pub fn with(mut base: Value, more: Value) -> Value {
    if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
        base.extend(more);
    }
    base
}

pub fn exit_code(code: u32) -> Exit {
    Exit { code: Some(code.into()), signal: None }
}

pub fn killed(signal: &str) -> Exit {
    Exit { code: None, signal: Some(signal.into()) }
}

/// `session/prompt`, `3:ok`, `3:cancelled`, `3:selected yes`, `"a":-32601`.
pub fn brief(line: &Value) -> String {
    if let Some(method) = line["method"].as_str() {
        return method.to_owned();
    }
    let id = &line["id"];
    if let Some(code) = line["error"]["code"].as_i64() {
        return format!("{id}:{code}");
    }
    let outcome = &line["result"]["outcome"];
    match (outcome["outcome"].as_str(), outcome["optionId"].as_str()) {
        (Some("selected"), Some(option)) => format!("{id}:selected {option}"),
        (Some(other), _) => format!("{id}:{other}"),
        (None, _) => format!("{id}:ok"),
    }
}

pub fn render(model: &Model) -> Vec<String> {
    model.first().session().entries().iter().map(|e| entry(e, model)).collect()
}

fn entry(entry: &Entry, model: &Model) -> String {
    match &entry.body {
        Body::User(user) => match user.state {
            UserState::Sent => format!("you: {}", user.text),
            UserState::FromElsewhere => format!("elsewhere: {}", user.text),
            UserState::Dropped => format!("dropped: {}", user.text),
            UserState::OfClient => format!("client: {}", user.text),
        },
        Body::Agent(message) => format!("agent: {}", message.text),
        Body::Thought(thought) => format!("thought: {}", thought.message.text),
        Body::Attachment(attachment) => format!("{:?}: {}", attachment.from, block(&attachment.block)),
        Body::Tool(tool) => match &tool.decided {
            Some(decided) => format!("{} ({}: {})", tool_line(tool), decided.words(), tool.label()),
            None => tool_line(tool),
        },
        Body::Plan(entries) => {
            let items: Vec<String> =
                entries.iter().map(|e| format!("{} {:?}/{:?}", e.content, e.priority, e.status)).collect();
            format!("plan: {}", items.join("; "))
        }
        Body::Terminal(id) => {
            let exit = model.first().session().terminal(id).and_then(|t| t.exit.as_ref()).map(ToString::to_string);
            format!("terminal {id}: {}", exit.as_deref().unwrap_or("running"))
        }
        Body::File(op) => {
            let outcome = match &op.outcome {
                FileOutcome::Pending => "pending".to_owned(),
                FileOutcome::Written { created, bytes, .. } => format!("created={created} {bytes}"),
                FileOutcome::Altered => "altered".to_owned(),
                FileOutcome::Refused(why) => format!("refused: {why}"),
            };
            format!("{:?} {} {outcome}", op.verb, op.path)
        }
        Body::Changes(c) => {
            let t = c.totals;
            format!("turn {} changed +{} -{} in {} files, {} open", c.turn.0, t.added, t.removed, t.files, t.pending)
        }
        Body::Notice(notice) => {
            let detail: String = notice.detail.iter().map(|d| format!(" | {d}")).collect();
            format!("{:?}: {}{detail}", notice.level, notice.title)
        }
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => text.clone(),
        Block::Other { label, uri, text, .. } => {
            let more: String = [uri, text].into_iter().flatten().map(|m| format!(" <{m}>")).collect();
            format!("[{label}]{more}")
        }
    }
}

pub fn tool_line(tool: &ToolCall) -> String {
    let status = match (&tool.status, tool.mark) {
        (_, Some(mark)) => format!("{mark:?}"),
        (ToolStatus::Pending, None) => "pending".into(),
        (ToolStatus::InProgress, None) => "running".into(),
        (ToolStatus::Completed, None) => "done".into(),
        (ToolStatus::Failed, None) => "failed".into(),
        (ToolStatus::Paused, None) => "paused".into(),
        (ToolStatus::Cancelled, None) => "cancelled".into(),
        (ToolStatus::Other(word), None) => format!("({word})"),
    };
    let mut line = format!("tool {} {status}", tool.label());
    for content in &tool.content {
        line.push_str(&match content {
            ToolContent::Block(b) | ToolContent::Unread(b) => format!(" {{{}}}", block(b)),
            ToolContent::Change(change) => match &change.body {
                ChangeBody::Texts { old, new } => {
                    format!(" {{diff {} {} > {new}}}", change.path, old.as_deref().unwrap_or("(new)"))
                }
                other => format!(" {{{:?} {} {:?} {other:?}}}", change.operation, change.path, change.from),
            },
            ToolContent::Terminal(id) => format!(" {{terminal {id}}}"),
        });
    }
    for location in &tool.locations {
        line.push_str(&format!(" @{}", location.path));
        if let Some(at) = location.line {
            line.push_str(&format!(":{at}"));
        }
    }
    line
}
