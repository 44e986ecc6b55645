//! Recordings, replayed through decoding and the model. Those in `tests/recordings` are written by hand after what
//! real agents send. Recordings of the agents themselves are no part of the repository: `ACP_LAB_RECORDINGS` names a
//! folder of them, which is then replayed too.
//!
//! The driver that made them is another client: its prompts, answers and cancels become intents and host facts, its
//! ids are mapped to ours. Each of its sessions gets a core of its own.

use crate::support::{Rig, plain_init};
use acp_tui::agent::codec::v1::inbound;
use acp_tui::model::effect::Effect;
use acp_tui::model::entry::{Block, Body, ChunkKind, UserState};
use acp_tui::model::event::{HostEvent, Intent, Link, Update, WriteFact};
use acp_tui::model::ids::{ReqId, TermId};
use acp_tui::model::options::OptionValue;
use acp_tui::model::refusal::{Reason, Refusal};
use acp_tui::model::session::Policy;
use acp_tui::model::tool::Exit;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};

/// The stable variants and what each decodes to.
fn variant(update: &Update) -> &'static str {
    match update {
        Update::Chunk { kind: ChunkKind::Agent, .. } => "agent_message_chunk",
        Update::Chunk { kind: ChunkKind::Thought, .. } => "agent_thought_chunk",
        Update::Chunk { kind: ChunkKind::User, .. } => "user_message_chunk",
        Update::ToolCall(_) => "tool_call",
        Update::ToolUpdate(_) => "tool_call_update",
        Update::Plan { .. } => "plan",
        Update::Message { .. } | Update::Whole { .. } | Update::Part { .. } => "message",
        Update::OptionValue { .. } => "option",
        Update::Activity(..) => "activity",
        Update::Commands(_) => "available_commands_update",
        Update::Mode(_) => "current_mode_update",
        Update::Options(_) => "config_option_update",
        Update::Info { .. } => "session_info_update",
        Update::Usage { .. } => "usage_update",
        Update::Terminal(_) => "terminal_update",
        Update::Notice { .. } => "notice",
        Update::Compaction(_) => "compaction_update",
        Update::Partly { update, .. } => variant(update),
        Update::Child(_) => "subagent_update",
        Update::Passed(_) => "session_message",
        Update::Unknown { .. } => "unknown",
    }
}

const KNOWN: &[&str] = &[
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
    "compaction_update",
    "subagent_update",
    "session_message",
];

/// One session of the driver.
struct Talk {
    rig: Rig,
    session: Option<String>,
    /// The driver's id of `session/new`.
    opened_by: Option<String>,
    /// The driver's prompts that our core still holds.
    waiting: VecDeque<String>,
    /// The driver's id of an open call, and ours.
    ids: HashMap<String, u64>,
    /// The agent's id of an open request, and what the model calls it.
    asked: HashMap<String, (String, Option<ReqId>)>,
    /// Answers to prompts that our core has not sent yet.
    early: HashMap<String, Value>,
    texts: BTreeMap<Who, Vec<String>>,
    tools: Vec<String>,
    read: usize,
    ended: bool,
}

/// Who a text is from, in an order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Who {
    User,
    Agent,
    Thought,
}

impl From<ChunkKind> for Who {
    fn from(kind: ChunkKind) -> Self {
        match kind {
            ChunkKind::User => Self::User,
            ChunkKind::Agent => Self::Agent,
            ChunkKind::Thought => Self::Thought,
        }
    }
}

impl Talk {
    fn new(init: &Value) -> Self {
        let mut rig = Rig::starting(Policy::Ask);
        rig.answer("initialize", init.clone());
        Self {
            rig,
            session: None,
            opened_by: None,
            waiting: VecDeque::new(),
            ids: HashMap::new(),
            asked: HashMap::new(),
            early: HashMap::new(),
            texts: BTreeMap::new(),
            tools: Vec::new(),
            read: 0,
            ended: false,
        }
    }

    /// Gives each prompt that has gone out the driver's id, and applies answers that came before it did.
    fn settle(&mut self) {
        loop {
            let new: Vec<Value> = self.rig.lines[self.read..].to_vec();
            self.read = self.rig.lines.len();
            for line in new.iter().filter(|l| l["method"] == "session/prompt") {
                let driver = self.waiting.pop_front().expect("a prompt that the driver has not sent");
                self.ids.insert(driver, line["id"].as_u64().unwrap());
            }
            let Some(driver) = self.early.keys().find(|d| self.ids.contains_key(*d)).cloned() else { return };
            let frame = self.early.remove(&driver).unwrap();
            self.answer(&driver, &frame);
        }
    }

    fn answer(&mut self, driver: &str, frame: &Value) {
        let Some(ours) = self.ids.remove(driver) else { return };
        let mut frame = frame.clone();
        frame["id"] = json!(ours);
        self.rig.agent(frame);
    }

    /// A call of the driver that our core makes too: its line is the newest one.
    fn call(&mut self, driver: &str, intent: Intent) {
        let before = self.rig.lines.len();
        self.rig.intent(intent);
        if let Some(id) = self.rig.lines.get(before).and_then(|l| l["id"].as_u64()) {
            self.ids.insert(driver.to_owned(), id);
        }
        self.read = self.rig.lines.len();
    }

    fn prompt(&mut self, driver: &str, params: &Value) {
        let blocks = params["prompt"].as_array().cloned().unwrap_or_default();
        let text: String = blocks.iter().filter_map(|b| b["text"].as_str()).collect();
        let link = |b: &Value| Some(Link::new(b["name"].as_str()?.into(), b["uri"].as_str()?.into()));
        if !text.trim().is_empty() {
            self.waiting.push_back(driver.to_owned());
            self.rig.intent(Intent::Prompt { text, links: blocks.iter().filter_map(link).collect() });
        }
        self.settle();
    }

    fn update(&mut self, frame: &Value) {
        let (_, update) = inbound::update(&frame["params"].to_string()).unwrap();
        match &update {
            Update::Chunk { kind, block: Block::Text(text), .. } => {
                self.texts.entry((*kind).into()).or_default().push(text.clone());
            }
            Update::ToolCall(patch) | Update::ToolUpdate(patch) => self.tools.push(patch.id.as_str().to_owned()),
            _ => {}
        }
        self.rig.agent(frame.clone());
    }

    fn request(&mut self, frame: &Value) {
        let method = frame["method"].as_str().unwrap().to_owned();
        let wishes = self.rig.wishes.len();
        let pending = self.rig.pending();
        self.rig.agent(frame.clone());
        let wished = self.rig.wishes[wishes..].iter().find_map(|w| match w {
            Effect::FsRead { req, .. } | Effect::FsWrite { req, .. } | Effect::TerminalCreate { req, .. } => Some(*req),
            _ => None,
        });
        let req = self.rig.pending().into_iter().find(|p| !pending.contains(p)).or(wished);
        let term = frame["params"]["terminalId"].as_str().unwrap_or_default();
        self.asked.insert(frame["id"].to_string(), (format!("{method} {term}"), req));
    }

    /// What the driver answered becomes what the person or the machine did.
    fn served(&mut self, frame: &Value) {
        let Some((what, req)) = self.asked.remove(&frame["id"].to_string()) else { return };
        let (method, term) = what.split_once(' ').unwrap();
        let result = &frame["result"];
        let error = frame["error"]["code"].as_i64().map(|code| Refusal::new(Reason::Number(code), "as recorded"));
        match (method, req) {
            ("session/request_permission", Some(req)) => {
                if let Some(option) = result["outcome"]["optionId"].as_str() {
                    self.rig.intent(Intent::Answer { req, option: option.into() });
                }
            }
            ("fs/read_text_file", Some(req)) => {
                let text = result["content"].as_str().unwrap_or_default().to_owned();
                let result = error.map_or(Ok(text), Err);
                self.rig.host(HostEvent::FileRead { req, path: "/project/x".into(), result });
            }
            ("fs/write_text_file", Some(req)) => {
                let fact = WriteFact { created: true, bytes: 1, old: None, outside: None };
                let result = error.map_or(Ok(fact), Err);
                self.rig.host(HostEvent::FileWritten { req, path: "/project/x".into(), result });
            }
            ("terminal/create", Some(req)) => self.rig.host(match (result["terminalId"].as_str(), error) {
                (Some(term), _) => HostEvent::TerminalStarted { req, term: TermId::from(term) },
                (None, error) => {
                    HostEvent::TerminalFailed { req, error: error.unwrap_or_else(|| Refusal::new(Reason::Failed, "?")) }
                }
            }),
            ("terminal/wait_for_exit", _) if error.is_none() => {
                let code = result["exitCode"].as_i64();
                let signal = result["signal"].as_str().map(str::to_owned);
                self.rig.terminal_ends(term, Exit { code, signal });
            }
            _ => {}
        }
        self.settle();
    }

    fn check(&self, file: &str) -> usize {
        let model = self.rig.model();
        let mut shown: BTreeMap<Who, String> = BTreeMap::new();
        let mut prompts = Vec::new();
        for entry in model.first().session().entries() {
            let (kind, text) = match &entry.body {
                Body::Agent(m) => (Who::Agent, &m.text),
                Body::Thought(t) => (Who::Thought, &t.message.text),
                Body::User(u) if u.state == UserState::FromElsewhere => (Who::User, &u.text),
                Body::User(u) => {
                    prompts.push((entry.turn, u.text.clone()));
                    continue;
                }
                _ => continue,
            };
            if kind == Who::User {
                assert!(
                    !prompts.iter().any(|(turn, text_of)| *turn == entry.turn && text_of.starts_with(text.as_str())),
                    "{file}: an echoed prompt is shown twice: {text}"
                );
            }
            shown.entry(kind).or_default().push_str(text);
        }
        let mut texts = 0;
        for (kind, chunks) in &self.texts {
            let shown = shown.get(kind).map_or("", String::as_str);
            for chunk in chunks {
                let echoed = *kind == Who::User && prompts.iter().any(|(_, p)| p.contains(chunk.as_str()));
                assert!(echoed || shown.contains(chunk.as_str()), "{file}: lost: {kind:?} {chunk:?}");
                texts += 1;
            }
            if *kind != Who::User {
                let sent: usize = chunks.iter().map(String::len).sum();
                assert_eq!(shown.len(), sent, "{file}: {kind:?}");
            }
        }
        for id in &self.tools {
            let there = model
                .first()
                .session()
                .entries()
                .iter()
                .any(|e| model.first().session().tool(e.id).is_some_and(|t| t.id.as_str() == id));
            assert!(there, "{file}: no entry of the call {id}");
        }
        texts
    }
}

#[derive(Default)]
struct Totals {
    files: usize,
    talks: usize,
    turns: usize,
    texts: usize,
    raw: BTreeMap<String, usize>,
    decoded: BTreeMap<String, usize>,
}

fn play(path: &Path, totals: &mut Totals) {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).unwrap();
    let records: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let speaks_2 = |r: &Value| r["dir"] == "agent->client" && r["frame"]["result"]["protocolVersion"] == 2;
    if records.iter().any(speaks_2) {
        return;
    }
    totals.files += 1;
    let mut init = plain_init();
    let mut init_id = None;
    let mut talks: Vec<Talk> = Vec::new();
    for record in &records {
        let frame = &record["frame"];
        match record["dir"].as_str() {
            Some("client->agent") if frame.is_object() => {
                if frame["method"] == "initialize" {
                    init_id = Some(frame["id"].to_string());
                    // A new connection: the sessions of the old one are over.
                    for talk in &mut talks {
                        talk.ended = true;
                    }
                } else {
                    driver(frame, &init, &mut talks);
                }
            }
            Some("agent->client") if frame.is_object() => {
                if init_id.is_some() && frame["method"].is_null() && Some(frame["id"].to_string()) == init_id {
                    init_id = None;
                    if frame["result"].is_object() {
                        init = frame["result"].clone();
                    }
                    continue;
                }
                if frame["method"] == "session/update" {
                    count(frame, &file, totals);
                }
                agent(frame, &mut talks);
            }
            Some("agent->client") => {
                if let (Some(raw), Some(talk)) = (record["raw"].as_str(), talks.last_mut()) {
                    talk.rig.line(raw);
                }
            }
            _ => {}
        }
    }
    totals.talks += talks.len();
    totals.turns += talks.iter().map(|t| t.rig.ended().len()).sum::<usize>();
    totals.texts += talks.iter().filter(|t| t.session.is_some()).map(|t| t.check(&file)).sum::<usize>();
}

fn count(frame: &Value, file: &str, totals: &mut Totals) {
    let name = frame["params"]["update"]["sessionUpdate"].as_str().unwrap_or("none");
    let name = match name {
        // Plans with names are plans, too.
        "plan_update" | "plan_removed" => "plan",
        name if KNOWN.contains(&name) => name,
        _ => "unknown",
    };
    *totals.raw.entry(name.to_owned()).or_default() += 1;
    let (_, update) = inbound::update(&frame["params"].to_string()).unwrap_or_else(|e| panic!("{file}: {e}: {frame}"));
    *totals.decoded.entry(variant(&update).to_owned()).or_default() += 1;
}

fn driver(frame: &Value, init: &Value, talks: &mut Vec<Talk>) {
    let id = frame["id"].to_string();
    let params = &frame["params"];
    let session = params["sessionId"].as_str();
    let Some(method) = frame["method"].as_str() else {
        talks.iter_mut().filter(|t| !t.ended).for_each(|t| t.served(frame));
        return;
    };
    match (method, session) {
        ("session/new", _) => {
            let mut talk = Talk::new(init);
            talk.opened_by = Some(id);
            return talks.push(talk);
        }
        ("session/load", Some(session)) => {
            // Its history comes as updates, before the answer; here the session is simply there.
            talks.iter_mut().filter(|t| t.session.as_deref() == Some(session)).for_each(|t| t.ended = true);
            let mut talk = Talk::new(init);
            talk.rig.answer("session/new", json!({ "sessionId": session }));
            talk.read = talk.rig.lines.len();
            talk.session = Some(session.to_owned());
            return talks.push(talk);
        }
        _ => {}
    }
    let Some(talk) = talks.iter_mut().find(|t| !t.ended && t.session.as_deref() == session && session.is_some()) else {
        return;
    };
    let word = |member: &str| params[member].as_str().unwrap_or_default().to_owned();
    match method {
        "session/prompt" => talk.prompt(&id, params),
        "session/cancel" => talk.rig.intent(Intent::Cancel),
        "session/set_mode" => talk.call(&id, Intent::SetMode { id: word("modeId") }),
        "session/set_config_option" => {
            let value = params["value"].as_bool().map_or_else(|| OptionValue::Id(word("value")), OptionValue::Bool);
            talk.call(&id, Intent::SetOption { id: word("configId"), value });
        }
        "session/close" | "session/delete" => talk.ended = true,
        _ => {}
    }
}

fn agent(frame: &Value, talks: &mut [Talk]) {
    let session = frame["params"]["sessionId"].as_str();
    match (frame["method"].as_str(), frame.get("id")) {
        (None, Some(id)) => {
            let id = id.to_string();
            for talk in talks.iter_mut().filter(|t| !t.ended) {
                if talk.opened_by.as_ref() == Some(&id) {
                    talk.opened_by = None;
                    talk.session = frame["result"]["sessionId"].as_str().map(str::to_owned);
                    let ours = talk.rig.open_call("session/new");
                    talk.ids.insert(id.clone(), ours);
                }
                if talk.waiting.contains(&id) {
                    talk.early.insert(id.clone(), frame.clone());
                } else {
                    talk.answer(&id, frame);
                }
                talk.settle();
            }
        }
        (Some("session/update"), _) => {
            let known = talks.iter().any(|t| !t.ended && t.session.as_deref() == session);
            let opening = |t: &Talk| !known && t.opened_by.is_some();
            for talk in talks.iter_mut().filter(|t| !t.ended) {
                if talk.session.as_deref() == session || opening(talk) {
                    talk.update(frame);
                }
            }
        }
        (Some(_), Some(_)) => {
            let at = talks.iter().position(|t| !t.ended && t.session.as_deref() == session && session.is_some());
            if let Some(talk) = at.and_then(|at| talks.get_mut(at)) {
                talk.request(frame);
            }
        }
        (Some(_), None) => talks.iter_mut().filter(|t| !t.ended).for_each(|t| t.rig.agent(frame.clone())),
        (None, None) => {}
    }
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        // An agent of protocol version 2.
        if path.file_name().is_some_and(|n| n == "rust-simple-v2") {
            continue;
        }
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            out.push(path);
        }
    }
}

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings");

/// How many turns and texts a recording of ours has.
fn here(name: &str) -> (usize, usize) {
    let mut totals = Totals::default();
    play(&Path::new(HERE).join(name), &mut totals);
    assert_eq!(totals.raw, totals.decoded, "counts per variant");
    (totals.turns, totals.texts)
}

#[test]
fn an_agent_that_writes_through_the_client_loses_nothing() {
    assert_eq!(here("client_writes.jsonl"), (2, 21));
}

#[test]
fn an_agent_with_commands_in_the_clients_terminals_loses_nothing() {
    assert_eq!(here("clients_terminals.jsonl"), (1, 17));
}

#[test]
fn a_turn_that_is_cancelled_and_one_that_fails_lose_nothing() {
    assert_eq!(here("cancelled.jsonl"), (3, 14));
}

#[test]
fn recordings_of_real_agents_lose_nothing() {
    let more = std::env::var_os("ACP_LAB_RECORDINGS");
    let mut paths = Vec::new();
    files(more.as_deref().map_or(Path::new(HERE), Path::new), &mut paths);
    paths.sort();
    let mut totals = Totals::default();
    for path in &paths {
        play(path, &mut totals);
    }
    println!(
        "{} of {} recordings, {} sessions, {} turns, {} texts, {:?}",
        totals.files,
        paths.len(),
        totals.talks,
        totals.turns,
        totals.texts,
        totals.decoded
    );
    assert_eq!(totals.raw, totals.decoded, "counts per variant");
    assert!(totals.files > 0 && totals.turns > 0 && totals.texts > 0, "nothing to replay");
}
