//! Plays steps: what the agent says by itself, and the ways in which it goes wrong.
//!
//! Steps that need something from the client are in `serve.rs`.
//! Invariant: between two steps and during every pause the client is heard, so that a cancel ends the turn at once
//! (except where the script says that it is ignored).

use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::time::Duration;

use super::agent::{Agent, End, error_value};
use super::step::{Flood, Hang, Message, Notice, Plan, Raw, Step, Stream, Tool};
use super::{ExitKind, Pace, Place};

/// A flood looks for a cancel every so many chunks.
const FLOOD_BREATH: u64 = 256;

impl<W: Write> Agent<W> {
    pub fn play(&mut self, steps: &[Step]) -> Result<(), End> {
        for step in steps {
            self.catch_up()?;
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), End> {
        match step {
            Step::Thought(stream) => self.stream("agent_thought_chunk", stream),
            Step::Say(stream) => self.stream("agent_message_chunk", stream),
            Step::Echo(stream) => self.stream("user_message_chunk", stream),
            Step::Plan(plan) => self.plan(plan),
            Step::Tool(tool) => self.tool("tool_call", tool),
            Step::ToolUpdate(tool) => self.tool("tool_call_update", tool),
            Step::Duplicate(again) => {
                let id = self.tool_id(&again.tool);
                let update = self.scene.announced.get(&id).cloned().unwrap_or_else(|| json!({"toolCallId": id}));
                self.update(&update)
            }
            Step::Permission(ask) => self.permission(ask),
            Step::AwaitAnswers => self.await_answers(),
            Step::Withdraw => self.withdraw(),
            Step::Seed(seed) => self.seed(seed),
            Step::Read(read) => self.read(read),
            Step::Write(write) => self.write(write),
            Step::Edit(edit) => self.edit(edit),
            Step::Terminal(terminal) => self.terminal(terminal),
            Step::Usage(usage) => {
                let mut update = json!({"sessionUpdate": "usage_update", "used": usage.used, "size": usage.size});
                if let Some(amount) = usage.cost {
                    update["cost"] = json!({"amount": amount, "currency": "USD"});
                }
                self.update(&update)
            }
            Step::Mode(mode) => {
                if let Some(session) = self.sessions.get_mut(&self.scene.session) {
                    session.mode.clone_from(&mode.id);
                }
                self.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": mode.id}))
            }
            Step::Commands(list) => {
                self.update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": list.commands}))
            }
            Step::Title(title) => {
                self.update(&json!({"sessionUpdate": "session_info_update", "title": self.fill(&title.title)}))
            }
            Step::Notice(notice) => self.notice(notice),
            Step::Update(update) => self.update(&self.fill_value(&update.update)),
            Step::Wait(wait) => {
                let time = Duration::from_millis(wait.ms);
                if wait.firm { self.pass(time) } else { self.pause(time) }
            }
            Step::Late(late) => {
                self.scene.late.extend_from_slice(&late.step);
                Ok(())
            }
            Step::Repeat(repeat) => {
                for n in 1..=repeat.times {
                    self.scene.vars.insert("n", n.to_string());
                    self.play(&repeat.step)?;
                }
                Ok(())
            }
            other => self.misbehave(other),
        }
    }

    fn misbehave(&mut self, step: &Step) -> Result<(), End> {
        match step {
            Step::Stop(stop) => Err(End::Stop(stop.reason.clone())),
            Step::Error(spec) => {
                let data = spec.data.as_ref().map(|data| self.fill_value(data));
                Err(End::Error(error_value(spec.code, &self.fill(&spec.message), data.as_ref())))
            }
            Step::Result(answer) => Err(End::Result(self.fill_value(&answer.result))),
            Step::Raw(raw) => self.raw(raw),
            Step::RawBytes(raw) => {
                self.peer.write(&bytes_of(&raw.hex))?;
                Ok(self.peer.flush()?)
            }
            Step::Notify(message) => {
                let params = self.params_of(message);
                Ok(self.peer.notify(&message.method, &params)?)
            }
            Step::Request(message) => self.any_request(message),
            Step::Stderr(text) => {
                if self.place == Place::Process {
                    // The client may have closed it; that is no reason to stop.
                    drop(io::stderr().write_all(self.fill(&text.text).as_bytes()));
                }
                Ok(())
            }
            Step::Flood(flood) => self.flood(flood),
            Step::Die(die) => Err(End::Exit(match &die.signal {
                Some(name) => ExitKind::Signal(name.clone()),
                None => ExitKind::Code(die.code),
            })),
            Step::CloseStdout => self.close_stdout(),
            Step::Hang(hang) => self.hang(hang),
            _ => Ok(()),
        }
    }

    /// A pause that only exists to look human.
    pub fn pause(&mut self, time: Duration) -> Result<(), End> {
        match self.pace {
            Pace::Human => self.pass(time),
            Pace::Fast => Ok(()),
        }
    }

    pub fn update(&mut self, update: &Value) -> Result<(), End> {
        let session = self.scene.session.clone();
        self.note(&session, update);
        let params = json!({"sessionId": self.scene.session, "update": update});
        Ok(self.peer.notify("session/update", &params)?)
    }

    fn stream(&mut self, kind: &str, stream: &Stream) -> Result<(), End> {
        let text = self.fill(&stream.text);
        let message_id = stream.message_id.as_ref().map(|id| self.fill(id));
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let end = rest.char_indices().map(|(at, _)| at).nth(stream.chunk).filter(|_| stream.chunk > 0);
            let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            let mut update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": piece}});
            if let Some(id) = &message_id {
                update["messageId"] = json!(id);
            }
            self.update(&update)?;
            self.pause(Duration::from_millis(stream.delay_ms))?;
        }
        Ok(())
    }

    /// One sentence of the agent's own, in one piece.
    pub fn say(&mut self, text: &str) -> Result<(), End> {
        self.update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
    }

    fn plan(&mut self, plan: &Plan) -> Result<(), End> {
        let entries: Vec<Value> = plan
            .entries
            .iter()
            .map(|e| json!({"content": self.fill(&e.content), "priority": e.priority, "status": e.status}))
            .collect();
        self.update(&json!({"sessionUpdate": "plan", "entries": entries}))
    }

    fn notice(&mut self, notice: &Notice) -> Result<(), End> {
        let offered = self.client.pointer("/session/notices").is_some_and(|value| !value.is_null());
        if !offered && !notice.unasked {
            return Ok(());
        }
        let mut update = json!({
            "sessionUpdate": "notice", "severity": notice.severity, "title": self.fill(&notice.title),
        });
        if let Some(description) = &notice.description {
            update["description"] = json!(self.fill(description));
        }
        self.update(&update)
    }

    /// The wire id of a tool call: the one made for this name in this turn, else the word itself.
    pub fn tool_id(&self, name: &str) -> String {
        self.scene.ids.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// Makes an id for a name that is unique to this turn.
    pub fn new_tool_id(&mut self, name: &str) -> String {
        let turn = self.scene.vars.get("turn").map_or("0", String::as_str);
        let id = format!("call-{turn}-{name}");
        self.scene.ids.insert(name.to_owned(), id.clone());
        id
    }

    fn tool(&mut self, kind: &str, tool: &Tool) -> Result<(), End> {
        let id = match (&tool.id, &tool.name) {
            (Some(id), name) => {
                if let Some(name) = name {
                    self.scene.ids.insert(name.clone(), id.clone());
                }
                id.clone()
            }
            (None, Some(name)) if self.scene.ids.contains_key(name) => self.tool_id(name),
            (None, name) => self.new_tool_id(name.as_deref().unwrap_or("tool")),
        };
        let mut fields = self.tool_fields(tool, &id);
        fields.insert("sessionUpdate".to_owned(), json!(kind));
        let update = Value::Object(fields);
        if kind == "tool_call" {
            self.scene.announced.insert(id, update.clone());
        }
        self.update(&update)
    }

    /// The fields of a call that the script names, and no others.
    pub fn tool_fields(&self, tool: &Tool, id: &str) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(key.to_owned(), value);
            }
        };
        put("toolCallId", Some(json!(id)));
        put("title", tool.title.as_ref().map(|title| json!(self.fill(title))));
        put("kind", tool.kind.as_ref().map(|kind| json!(kind)));
        put("status", tool.status.as_ref().map(|status| json!(status)));
        put("locations", tool.locations.as_ref().map(|all| all.iter().map(|at| self.location(at)).collect()));
        let text = tool.text.as_ref().map(|text| json!([text_content(&self.fill(text))]));
        let content = tool.content.as_ref().map(|all| all.iter().map(|one| self.fill_value(one)).collect());
        put("content", content.or(text));
        put("rawInput", tool.raw_input.as_ref().map(|raw| self.fill_value(raw)));
        put("rawOutput", tool.raw_output.as_ref().map(|raw| self.fill_value(raw)));
        put("_meta", tool.meta.as_ref().map(|meta| self.fill_value(meta)));
        fields
    }

    fn location(&self, at: &str) -> Value {
        match at.rsplit_once(':').map(|(path, line)| (path, line.parse::<u32>())) {
            Some((path, Ok(line))) => json!({"path": self.path(path), "line": line}),
            _ => json!({"path": self.path(at)}),
        }
    }

    /// A path of the script, made absolute in the session's directory.
    pub fn path(&self, path: &str) -> String {
        let cwd = self.scene.vars.get("cwd").map_or("", String::as_str);
        if path.is_empty() {
            return cwd.to_owned();
        }
        std::path::Path::new(cwd).join(self.fill(path)).to_string_lossy().into_owned()
    }

    fn raw(&mut self, raw: &Raw) -> Result<(), End> {
        let text = self.fill(&raw.text);
        for _ in 0..raw.times {
            self.peer.write(text.as_bytes())?;
        }
        if raw.newline {
            self.peer.write(b"\n")?;
        }
        Ok(self.peer.flush()?)
    }

    fn flood(&mut self, flood: &Flood) -> Result<(), End> {
        let params = json!({"sessionId": self.scene.session, "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": self.fill(&flood.text)},
        }});
        let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
        for n in 0..flood.chunks {
            self.peer.queue(&message)?;
            if n % FLOOD_BREATH == 0 {
                self.catch_up()?;
            }
        }
        Ok(self.peer.flush()?)
    }

    fn params_of(&self, message: &Message) -> Value {
        let written = message.json.as_ref().and_then(|text| serde_json::from_str(&self.fill(text)).ok());
        written.or_else(|| message.params.as_ref().map(|params| self.fill_value(params))).unwrap_or_else(|| json!({}))
    }

    fn any_request(&mut self, message: &Message) -> Result<(), End> {
        let params = self.params_of(message);
        if let Some(id) = &message.id {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": message.method, "params": params});
            return Ok(self.peer.send(&request)?);
        }
        let id = self.peer.request(&message.method, &params)?;
        if !message.wait {
            self.scene.asked.push(id);
            return Ok(());
        }
        let answer = match self.wait_answer(id)? {
            Ok(result) => json!({"result": result}),
            Err(error) => json!({"error": error}),
        };
        self.scene.vars.insert("answer", answer.to_string());
        Ok(())
    }

    fn close_stdout(&mut self) -> Result<(), End> {
        self.peer.flush()?;
        self.peer.close_stdout();
        #[cfg(unix)]
        if self.place == Place::Process {
            let sink = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
            rustix::stdio::dup2_stdout(&sink).map_err(io::Error::from)?;
        }
        Ok(())
    }

    fn hang(&mut self, hang: &Hang) -> Result<(), End> {
        if let Some(text) = &hang.text {
            self.say(text)?;
        }
        loop {
            if hang.ignore_cancel {
                self.cancelled = false;
            } else {
                self.check_cancel()?;
            }
            self.pump(None)?;
        }
    }

    /// Puts the scene's texts where the script has `{name}`. What they contain is not looked at again.
    pub fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            out.push_str(before);
            let name = from.get(1..).and_then(|tail| tail.split_once('}')).map(|(name, _)| name);
            match name.and_then(|name| self.scene.vars.get(name).map(|value| (name, value))) {
                Some((name, value)) => {
                    out.push_str(value);
                    rest = from.get(name.len() + 2..).unwrap_or_default();
                }
                None => {
                    out.push('{');
                    rest = from.get(1..).unwrap_or_default();
                }
            }
        }
        out.push_str(rest);
        out
    }

    pub fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(all) => all.iter().map(|one| self.fill_value(one)).collect(),
            Value::Object(map) => map.iter().map(|(key, one)| (key.clone(), self.fill_value(one))).collect(),
            other => other.clone(),
        }
    }
}

pub fn text_content(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

/// Pairs of hexadecimal digits; anything else is skipped.
fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect()
}
