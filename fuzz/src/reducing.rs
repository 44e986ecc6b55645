//! Frames of an agent: decoded, reduced, answered, written down and played again.

use acp_tui::agent::codec;
use acp_tui::engine::core::{Core, Out};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::event::{Event, HostEvent, Intent, Protocol};
use acp_tui::model::ids::AgentKey;
use acp_tui::model::session::Policy;
use acp_tui::model::setup::Setup;
use acp_tui::wire::frame::Frame;
use acp_tui::wire::trace::{Dir, Form, append_record};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

const DIR: &str = "/project";

struct Run {
    core: Core,
    now: Duration,
    journal: Vec<String>,
    /// How often each request of the agent has been made and not been answered.
    open: HashMap<String, i64>,
}

fn model(policy: Policy) -> Model {
    Model::new("agent".into(), DIR.into(), policy)
}

impl Run {
    fn new(policy: Policy, protocol: Protocol) -> Self {
        let mut core = Core::new(model(policy), PathBuf::from(DIR), codec::shipped());
        core.set_up(Setup::Journal);
        core.speak(codec::first(protocol), protocol.may_change());
        Self { core, now: Duration::from_secs(1), journal: Vec::new(), open: HashMap::new() }
    }

    fn tick(&mut self) -> Duration {
        self.now += Duration::from_millis(1);
        self.now
    }

    fn event(&mut self, event: Event) {
        let now = self.tick();
        let (name, value) = match &event {
            Event::User(intent) => ("intent", serde_json::to_string(intent)),
            Event::Host(fact) => ("fact", serde_json::to_string(fact)),
            _ => return,
        };
        let event = event.at_home();
        let (at, value) = (serde_json::to_string(&event.at).expect("an address"), value.expect("an event"));
        let t = format!("{}.{:06}", now.as_secs(), now.subsec_micros());
        self.journal.push(format!(r#"{{"t":{t},"at":{at},"{name}":{value}}}"#));
        let out = self.core.event(event, now);
        self.took(out);
    }

    fn agent(&mut self, line: &[u8]) {
        let now = self.tick();
        let (frame, text) = Frame::read(Cow::Borrowed(line), self.core.codec(AgentKey::FIRST).word_for_word());
        if let Frame::Request { id, .. } | Frame::Invalid { id: Some(id), .. } = &frame {
            *self.open.entry(id.as_str().to_owned()).or_default() += 1;
        }
        let mut record = String::new();
        append_record(&mut record, now, Dir::FromAgent, r#""at":{"agent":0},"#, &text, Form::of(&frame));
        self.journal.push(record);
        let out = self.core.frame(AgentKey::FIRST, frame, &text, now);
        self.took(out);
    }

    /// Every line to the agent is one line of JSON, and no request gets two answers.
    fn took(&mut self, out: Vec<Out>) {
        for out in out {
            let Out::Line(line) = out else { continue };
            assert!(!line.text.contains('\n'), "two lines: {}", line.text);
            let value: HashMap<String, &serde_json::value::RawValue> =
                serde_json::from_str(&line.text).expect("our own lines are JSON");
            let (Some(id), None) = (value.get("id"), value.get("method")) else { continue };
            let open = self.open.entry(id.get().to_owned()).or_default();
            *open -= 1;
            // What cannot be read is answered with `null`.
            assert!(*open >= 0 || id.get() == "null", "answered twice or never asked: {}", line.text);
        }
    }

    fn entries(model: &Model) -> Vec<String> {
        model.sessions().flat_map(|(_, session)| session.entries().iter()).map(|e| format!("{:?}", e.body)).collect()
    }
}

/// An agent that says anything at any time.
pub fn reduce(data: &[u8]) {
    let Some((how, data)) = data.split_first() else { return };
    let policy = if how & 1 == 0 { Policy::Ask } else { Policy::Auto(acp_tui::model::session::Allow::All) };
    let (protocol, version) = if how & 2 == 0 { (Protocol::One, 1) } else { (Protocol::Two, 2) };
    let mut run = Run::new(policy, protocol);
    run.event(Event::User(Intent::Start));
    run.event(Event::Host(HostEvent::AgentSpawned { pid: 7 }));
    if how & 4 == 0 {
        let init = if version == 1 {
            json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } })
        } else {
            json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" }, "capabilities": { "session": {} } })
        };
        for (id, result) in [(0, init), (1, json!({ "sessionId": "s" }))] {
            let answer: Value = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            run.agent(answer.to_string().as_bytes());
        }
    }
    for (at, line) in data.split(|byte| *byte == b'\n').enumerate() {
        run.agent(line);
        let intent = match at {
            1 => Intent::Prompt { text: "hello".into(), links: Vec::new() },
            5 => Intent::Cancel,
            _ => continue,
        };
        run.event(Event::User(intent));
    }
    let out = run.core.answer_all().into_iter().map(Out::Line).collect();
    run.took(out);
    let head = head(policy, protocol);
    let lines = std::iter::once(head.as_str()).chain(run.journal.iter().map(String::as_str));
    let (again, skipped) = replay(model(policy), PathBuf::from(DIR), lines);
    assert_eq!(skipped, 0, "lines of our own journal were skipped: {:#?}", run.journal);
    // Between the parts of a message a carriage return is written down as a blank: a line of a journal has none.
    let told = |model: &Model| Run::entries(model).iter().map(|entry| entry.replace("\\r", " ")).collect::<Vec<_>>();
    assert_eq!(told(&again), told(run.core.model()), "the journal tells another story");
}

/// The first line of a journal: how the agent was spoken to.
fn head(policy: Policy, protocol: Protocol) -> String {
    let name = codec::first(protocol).name();
    json!({ "v": 2, "review": false, "gate": "off", "rules": false, "earlier": false, "policy": policy, "codec": name,
            "protocol": protocol })
    .to_string()
}
