//! Version 2 of the protocol for the scripted agent: what a script has in the words of version 1, in those of version 2.
//!
//! Scripts are the same for both, so that one of them can be played in each. Knows no script. Invariant: a message that has
//! no other words in version 2 goes out as it is.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// What has to be remembered between messages.
#[derive(Debug, Default)]
pub struct Second {
    /// Requests of the client that are not answered yet, by their ids as text.
    calls: HashMap<String, (String, Value)>,
    /// Modes and options of sessions, as they were told last.
    modes: HashMap<String, Value>,
    options: HashMap<String, Value>,
    /// The kind of message that pieces are sent of, and its id.
    open: Option<(String, String)>,
    made: u64,
}

impl Second {
    /// What is spoken after this first call: the highest version that the client asks for and the agent speaks.
    pub fn agreed(id: &Value, params: &Value, speaks: &[u64]) -> Result<Option<Self>, Value> {
        let asked = params["protocolVersion"].as_u64().unwrap_or(1);
        let version = speaks.iter().filter(|version| **version <= asked).max();
        let Some(version) = version else {
            let data = json!({ "requested": asked, "supported": speaks });
            return Err(json!({ "code": -32022, "message": "Unsupported protocol version", "data": data }));
        };
        Ok((*version == 2).then(|| {
            let mut second = Self::default();
            second.asked(id, "initialize", params);
            second
        }))
    }

    /// A request of the client in the words of version 1.
    pub fn asked(&mut self, id: &Value, method: &str, params: &Value) -> (String, Value) {
        let mut params = params.clone();
        let known = match method {
            "session/resume" if params["replayFrom"].is_object() => "session/load",
            "auth/login" => "authenticate",
            "session/set_config_option" if params["configId"] == "mode" => {
                params["modeId"] = params["value"].clone();
                "session/set_mode"
            }
            // What only version 1 has.
            "session/load" | "session/set_mode" | "authenticate" => "",
            other => other,
        };
        self.calls.insert(id.to_string(), (known.to_owned(), params.clone()));
        (known.to_owned(), params)
    }

    /// The prompt is taken: what the client hears of that before anything is done.
    pub fn taken(&mut self, id: &Value, session: &str, text: &str) -> Vec<Value> {
        let message = self.new_id("user");
        let told = json!({ "sessionUpdate": "user_message", "messageId": message, "content": [{ "type": "text", "text": text }] });
        vec![
            update(session, told),
            json!({ "jsonrpc": "2.0", "id": id, "result": { "messageId": message } }),
            update(session, json!({ "sessionUpdate": "state_update", "state": "running" })),
        ]
    }

    /// A message of ours in the words of version 2; it may be several.
    pub fn out(&mut self, message: &Value) -> Vec<Value> {
        let session = message["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
        match message.get("method").and_then(Value::as_str) {
            Some("session/update") => {
                let updates = self.updates(&session, &message["params"]["update"]);
                updates.into_iter().map(|one| update(&session, one)).collect()
            }
            Some("session/request_permission") => vec![permission(message)],
            Some(_) => vec![message.clone()],
            None => self.answer(message),
        }
    }

    fn answer(&mut self, message: &Value) -> Vec<Value> {
        let Some((method, params)) = self.calls.remove(&message["id"].to_string()) else {
            return vec![message.clone()];
        };
        let named =
            message["result"]["sessionId"].as_str().or(params["sessionId"].as_str()).unwrap_or_default().to_owned();
        if method == "session/prompt" {
            return self.ended(&named, message);
        }
        let Some(result) = message.get("result") else { return vec![message.clone()] };
        let result = match method.as_str() {
            "initialize" => introduced(result),
            "session/new" | "session/load" | "session/resume" | "session/fork" => {
                self.modes.insert(named.clone(), result["modes"].clone());
                self.options.insert(named.clone(), result["configOptions"].clone());
                let mut told = json!({ "configOptions": self.all_options(&named) });
                if let Some(id) = result.get("sessionId") {
                    told["sessionId"] = id.clone();
                }
                told
            }
            "session/set_mode" => {
                if let Some(modes) = self.modes.get_mut(&named) {
                    modes["currentModeId"] = params["modeId"].clone();
                }
                json!({ "configOptions": self.all_options(&named) })
            }
            "session/set_config_option" => {
                self.options.insert(named.clone(), result["configOptions"].clone());
                json!({ "configOptions": self.all_options(&named) })
            }
            _ => result.clone(),
        };
        let state = update(&named, json!({ "sessionUpdate": "state_update", "state": "idle" }));
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        match method.as_str() {
            "session/load" | "session/resume" => vec![state, answer],
            _ => vec![answer],
        }
    }

    /// A turn ends by a state; a prompt that was never taken gets its error.
    fn ended(&mut self, session: &str, message: &Value) -> Vec<Value> {
        self.open = None;
        let mut state = json!({ "sessionUpdate": "state_update", "state": "idle" });
        match message.get("error") {
            Some(error) if error["code"] == -32002 => return vec![message.clone()],
            Some(error) => {
                state["stopReason"] = json!("error");
                state["error"] = error.clone();
            }
            None => {
                for member in ["stopReason", "usage"] {
                    if let Some(value) = message["result"].get(member) {
                        state[member] = value.clone();
                    }
                }
            }
        }
        vec![update(session, state)]
    }

    fn updates(&mut self, session: &str, told: &Value) -> Vec<Value> {
        let kind = told["sessionUpdate"].as_str().unwrap_or_default();
        if kind.ends_with("_message_chunk") || kind == "agent_thought_chunk" {
            let mut told = told.clone();
            if told.get("messageId").is_none() {
                let id = match &self.open {
                    Some((open, id)) if open == kind => id.clone(),
                    _ => self.new_id(kind),
                };
                told["messageId"] = json!(id);
                self.open = Some((kind.to_owned(), id));
            }
            return vec![told];
        }
        if kind != "usage_update" && kind != "session_info_update" {
            self.open = None;
        }
        match kind {
            "tool_call" | "tool_call_update" => tool(told),
            "plan" => vec![json!({ "sessionUpdate": "plan_update",
                "plan": { "type": "items", "planId": "plan", "entries": told["entries"] } })],
            "current_mode_update" => {
                if let Some(modes) = self.modes.get_mut(session) {
                    modes["currentModeId"] = told["currentModeId"].clone();
                }
                vec![json!({ "sessionUpdate": "config_option_update", "configOptions": self.all_options(session) })]
            }
            "config_option_update" => {
                self.options.insert(session.to_owned(), told["configOptions"].clone());
                vec![json!({ "sessionUpdate": "config_option_update", "configOptions": self.all_options(session) })]
            }
            "available_commands_update" => {
                let list = told["availableCommands"].as_array().into_iter().flatten().map(command).collect::<Vec<_>>();
                vec![json!({ "sessionUpdate": kind, "availableCommands": list })]
            }
            _ => vec![told.clone()],
        }
    }

    fn new_id(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{}-{}", kind.trim_end_matches("_chunk"), self.made)
    }

    /// The mode is an option like any other.
    fn all_options(&self, session: &str) -> Vec<Value> {
        let mut all = Vec::new();
        if let Some(modes) = self.modes.get(session).filter(|modes| modes["availableModes"].is_array()) {
            let values = modes["availableModes"].as_array().into_iter().flatten().map(|mode| {
                let mut value = mode.clone();
                rename(&mut value, "id", "value");
                value
            });
            all.push(json!({ "configId": "mode", "name": "Mode", "category": "mode", "type": "select",
                "currentValue": modes["currentModeId"], "options": values.collect::<Vec<_>>() }));
        }
        let options = self.options.get(session).and_then(Value::as_array);
        all.extend(options.into_iter().flatten().map(|option| {
            let mut option = option.clone();
            rename(&mut option, "id", "configId");
            for group in option["options"].as_array_mut().into_iter().flatten() {
                rename(group, "group", "groupId");
            }
            option
        }));
        all
    }
}

fn update(session: &str, update: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": session, "update": update } })
}

fn rename(value: &mut Value, from: &str, to: &str) {
    if let Some(members) = value.as_object_mut()
        && let Some(member) = members.remove(from)
    {
        members.insert(to.to_owned(), member);
    }
}

fn introduced(result: &Value) -> Value {
    let mut session = Map::new();
    let caps = &result["agentCapabilities"];
    let mut prompt = Map::new();
    for what in ["image", "audio", "embeddedContext"] {
        if caps["promptCapabilities"][what] == true {
            prompt.insert(what.to_owned(), json!({}));
        }
    }
    session.insert("prompt".to_owned(), Value::Object(prompt));
    for what in ["delete", "fork"] {
        if caps["sessionCapabilities"][what].is_object() {
            session.insert(what.to_owned(), json!({}));
        }
    }
    let mut mcp = Map::new();
    for what in ["stdio", "http"] {
        if caps["mcpCapabilities"][what] == true {
            mcp.insert(what.to_owned(), json!({}));
        }
    }
    session.insert("mcp".to_owned(), Value::Object(mcp));
    let methods = result["authMethods"].as_array().into_iter().flatten().map(|method| {
        let mut method = method.clone();
        rename(&mut method, "id", "methodId");
        if method.get("type").is_none() {
            method["type"] = json!("agent");
        }
        method
    });
    json!({ "protocolVersion": 2, "info": result["agentInfo"], "capabilities": { "session": session },
        "authMethods": methods.collect::<Vec<_>>() })
}

fn permission(message: &Value) -> Value {
    let params = &message["params"];
    let call = tool_members(&params["toolCall"]);
    let title = call["title"].as_str().unwrap_or("May I go on?").to_owned();
    json!({ "jsonrpc": "2.0", "id": message["id"], "method": "session/request_permission", "params": {
        "sessionId": params["sessionId"], "title": title, "subject": { "type": "tool_call", "toolCall": call },
        "options": params["options"] } })
}

fn command(command: &Value) -> Value {
    let mut command = command.clone();
    command["type"] = json!("command");
    if let Some(input) = command.get_mut("input") {
        input["type"] = json!("text");
    }
    command
}

/// A call, and what it says of a terminal beside it.
fn tool(told: &Value) -> Vec<Value> {
    let meta = &told["_meta"];
    let mut call = tool_members(told);
    call["sessionUpdate"] = json!("tool_call_update");
    let mut out = Vec::new();
    if let Some(info) = meta.get("terminal_info") {
        out.push(json!({ "sessionUpdate": "terminal_update", "terminalId": info["terminal_id"], "cwd": info["cwd"],
            "command": told["rawInput"]["command"] }));
    }
    if let Some(output) = meta.get("terminal_output_delta").or_else(|| meta.get("terminal_output")) {
        let data = STANDARD.encode(output["data"].as_str().unwrap_or_default());
        out.push(
            json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": output["terminal_id"], "data": data }),
        );
    }
    if let Some(exit) = meta.get("terminal_exit") {
        let status = json!({ "exitCode": exit["exit_code"], "signal": exit["signal"] });
        out.push(
            json!({ "sessionUpdate": "terminal_update", "terminalId": exit["terminal_id"], "exitStatus": status }),
        );
    }
    // What only tells of a terminal says nothing of the call.
    let says_more = call.as_object().is_some_and(|call| call.len() > 2);
    if says_more || out.is_empty() {
        out.push(call);
    }
    out
}

fn tool_members(told: &Value) -> Value {
    let mut call = told.clone();
    if let Some(members) = call.as_object_mut() {
        members.remove("_meta");
    }
    for part in call["content"].as_array_mut().into_iter().flatten().filter(|part| part["type"] == "diff") {
        if let (Some(path), Some(new)) = (part["path"].as_str(), part["newText"].as_str()) {
            *part = diff(path, part["oldText"].as_str(), new);
        }
    }
    if call["content"].is_null()
        && let Some(members) = call.as_object_mut()
    {
        members.remove("content");
    }
    call
}

fn diff(path: &str, old: Option<&str>, new: &str) -> Value {
    let from = if old.is_some() { path } else { "/dev/null" };
    let text = format!("diff --git {path} {path}\n--- {from}\n+++ {path}\n{}", hunk(old.unwrap_or_default(), new));
    let operation = if old.is_some() { "modify" } else { "add" };
    json!({ "type": "diff", "changes": [{ "operation": operation, "path": path, "fileType": "text" }],
        "patch": { "format": "git_patch", "text": text } })
}

/// All that changed, as one hunk with three lines around it.
fn hunk(old: &str, new: &str) -> String {
    let (was, is): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let head = was.iter().zip(&is).take_while(|(a, b)| a == b).count();
    let tail = was[head..].iter().rev().zip(is[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (from, after) = (head.saturating_sub(3), tail.min(3));
    let place = |end: usize| format!("{},{}", if end > from { from + 1 } else { from }, end - from);
    let mut text = format!("@@ -{} +{} @@\n", place(was.len() - tail + after), place(is.len() - tail + after));
    let end = was.len() - tail;
    let parts = [
        (' ', &was[from..head]),
        ('-', &was[head..end]),
        ('+', &is[head..is.len() - tail]),
        (' ', &was[end..end + after]),
    ];
    for (mark, line) in parts.into_iter().flat_map(|(mark, lines)| lines.iter().map(move |line| (mark, line))) {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
    text
}
