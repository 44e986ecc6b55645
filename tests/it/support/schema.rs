//! What the client sends is valid in the published schemas of versions 1 and 2 of the protocol.
//!
//! A call is looked up by its method, an answer by the method of what it answers. Methods that the schemas do not know
//! are those of `OTHERS`, and no more. What the program itself sends is found in its journals.

use acp_tui::agent::codec::{rendition, v1, v2};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::event::Dialect;
use acp_tui::model::session::Policy;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

/// Spoken by agents of today, and of no schema: words for a turn that runs, and the list of models before options.
const OTHERS: [&str; 2] = ["_session/steering", "session/set_model"];

#[derive(Debug)]
struct Schemas {
    calls: HashMap<String, Validator>,
    answers: HashMap<String, Validator>,
    error: Validator,
}

impl Schemas {
    fn read(text: &str) -> Self {
        let whole: Value = serde_json::from_str(text).unwrap();
        let validator = |name: &str| {
            let mut schema = whole.clone();
            schema["$ref"] = json!(format!("#/$defs/{name}"));
            jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let (mut calls, mut answers) = (HashMap::new(), HashMap::new());
        for (name, definition) in whole["$defs"].as_object().unwrap() {
            let (Some(side), Some(method)) = (definition["x-side"].as_str(), definition["x-method"].as_str()) else {
                continue;
            };
            let of_call = name.ends_with("Request") || name.ends_with("Notification");
            // Of an agent is what it is called with, of a client what it answers.
            if of_call && side != "client" {
                calls.insert(method.to_owned(), validator(name));
            } else if side == "client" && name.ends_with("Response") {
                answers.insert(method.to_owned(), validator(name));
            }
        }
        Self { calls, answers, error: validator("Error") }
    }

    /// Of the codec of this name; none for renditions that have no schema.
    fn of(codec: &str) -> Option<&'static Self> {
        static FIRST: OnceLock<Schemas> = OnceLock::new();
        static SECOND: OnceLock<Schemas> = OnceLock::new();
        match codec {
            v1::NAME | rendition::NAME => Some(FIRST.get_or_init(|| Self::read(include_str!("../../schema/v1.json")))),
            v2::NAME => Some(SECOND.get_or_init(|| Self::read(include_str!("../../schema/v2.json")))),
            _ => None,
        }
    }

    fn wrong(&self, message: &Value, answered: Option<&str>) -> Option<String> {
        let part = |validator: &Validator, value: &Value| {
            let errors: Vec<String> =
                validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
            (!errors.is_empty()).then(|| errors.join("\n"))
        };
        if message["jsonrpc"] != "2.0" {
            return Some("jsonrpc is not 2.0".into());
        }
        if let Some(method) = message["method"].as_str() {
            return match self.calls.get(method) {
                Some(validator) => part(validator, message.get("params").unwrap_or(&Value::Null)),
                None if OTHERS.contains(&method) => None,
                None => Some("the schema has no such method".into()),
            };
        }
        if let Some(error) = message.get("error") {
            return part(&self.error, error);
        }
        // What an agent asked for by a method of its own is answered with an error, above.
        let validator = answered.and_then(|method| self.answers.get(method))?;
        part(validator, &message["result"])
    }
}

/// Panics when a message of the client is not valid. `answered` is the method of the request that it answers.
#[track_caller]
pub fn check(codec: &str, message: &Value, answered: Option<&str>) {
    let Some(schemas) = Schemas::of(codec) else { return };
    if let Some(why) = schemas.wrong(message, answered) {
        panic!("r_074: sent in {codec}, and not valid: {why}\n{message:#}");
    }
}

/// Methods of requests of the agent, by their ids as JSON, so that answers can be checked.
#[derive(Debug, Default)]
pub struct Asked(HashMap<String, String>);

impl Asked {
    /// Looks at a line of the agent.
    pub fn hear(&mut self, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return };
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            self.0.insert(id.to_string(), method.to_owned());
        }
    }

    pub fn method_of(&self, message: &Value) -> Option<&str> {
        self.0.get(&message.get("id")?.to_string()).map(String::as_str)
    }
}

/// One connection: what goes each way is looked at in its order.
#[derive(Debug, Default)]
pub struct Watched {
    asked: Asked,
    codec: &'static str,
}

impl Watched {
    pub fn hear(&mut self, line: &[u8]) {
        self.asked.hear(line);
    }

    /// The version is the one that our first call names.
    #[track_caller]
    pub fn sent(&mut self, message: &Value) {
        if message["method"] == "initialize" {
            self.codec = if message["params"]["protocolVersion"] == 2 { v2::NAME } else { v1::NAME };
        }
        check(self.codec, message, self.asked.method_of(message));
    }
}

/// Checks what stands in the journals below this directory of state, and gives how many messages of the client there are.
/// What agents of older renditions are told has no schema.
#[track_caller]
pub fn check_journals(state: &Path) -> usize {
    let mut count = 0;
    let Ok(entries) = std::fs::read_dir(state.join("acp-tui/sessions")) else { return count };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|end| end == "jsonl") {
            count += check_journal(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
        }
    }
    count
}

#[track_caller]
fn check_journal(text: &str) -> usize {
    let lines = || text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let spoken = [v1::NAME, rendition::NAME, v2::NAME];
    if !lines().next().is_some_and(|header| spoken.contains(&header["codec"].as_str().unwrap_or_default())) {
        return 0;
    }
    let (model, _) = replay(Model::new(String::new(), "/".into(), Policy::Ask), "/".into(), text.lines());
    let (mut watched, mut count) = (HashMap::<String, Watched>::new(), 0);
    for line in lines() {
        let (at, frame) = (line["at"].to_string(), &line["frame"]);
        let is_other = |number: u64| {
            model.agents().any(|(key, agent)| u64::from(key.0) == number && agent.dialect != Dialect::Canonical)
        };
        if !frame.is_object() || line["at"]["agent"].as_u64().is_some_and(is_other) {
            continue;
        }
        let watched = watched.entry(at).or_default();
        match line["dir"].as_str() {
            Some("client->agent") => {
                watched.sent(frame);
                count += 1;
            }
            Some("agent->client") => watched.hear(frame.to_string().as_bytes()),
            _ => {}
        }
    }
    count
}

#[test]
fn what_a_journal_has_is_looked_at() {
    let sent = |cwd: Value| {
        let frame = |id: u64, method: &str, params: Value| {
            let frame = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            json!({ "t": 1.0, "dir": "client->agent", "at": { "agent": 0 }, "frame": frame }).to_string()
        };
        let new = frame(1, "session/new", json!({ "cwd": cwd, "mcpServers": [] }));
        let lines = [r#"{"codec":"acp-1"}"#, &frame(0, "initialize", json!({ "protocolVersion": 1 })), &new];
        std::panic::catch_unwind(|| check_journal(&lines.join("\n"))).is_ok()
    };
    assert!(sent(json!("/p")) && !sent(json!(7)));
}

#[test]
fn messages_that_are_not_valid_are_found() {
    let first = Schemas::of(v1::NAME).unwrap();
    let call = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": 1, "result": result });
    let new = json!({ "cwd": "/p", "mcpServers": [] });
    assert_eq!(first.wrong(&call("session/new", new), None), None);
    for (message, answered) in [
        (call("session/new", json!({ "cwd": 7, "mcpServers": [] })), None),
        (call("session/new", json!({ "mcpServers": [] })), None),
        (call("session/prompt", json!({ "sessionId": "s", "prompt": [{ "type": "text" }] })), None),
        (call("session/brew", json!({})), None),
        (answer(json!({ "outcome": { "outcome": "selected" } })), Some("session/request_permission")),
        (answer(json!({})), Some("fs/read_text_file")),
        (json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": "x", "message": "m" } }), None),
        (json!({ "id": 1, "result": {} }), None),
    ] {
        assert!(first.wrong(&message, answered).is_some(), "{message}");
    }
}
