//! The scripted agent's desk: what the client asks for and how it is answered.
//!
//! Steps of a turn are played in `play.rs` and `serve.rs`; this file only starts them and turns their end into an answer.
//! Invariant: every request of the client is answered exactly once, unless the script says that it is not; a cancel is
//! seen during every wait.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::peer::{Answer, Input, Peer};
use super::script::{Script, Turn};
use super::second::Second;
use super::step::Step;
use super::{ExitKind, Pace, Place};

/// Prompts that may wait behind a running turn.
const MAX_BACKLOG: usize = 64;

/// Why a list of steps ended before its last one.
pub enum End {
    Stop(String),
    Result(Value),
    Error(Value),
    Cancelled,
    Exit(ExitKind),
}

impl From<io::Error> for End {
    /// The client no longer reads: for an agent that is the same as the end of input.
    fn from(_: io::Error) -> Self {
        Self::Exit(ExitKind::Eof)
    }
}

#[derive(Clone)]
pub struct Session {
    pub cwd: String,
    pub mode: String,
    pub modes: Value,
    pub config: Vec<Value>,
    pub turns: u64,
    /// Indices of turns without `match` that were played.
    pub played: HashSet<usize>,
    /// What was said in it.
    pub history: Vec<Value>,
    /// Kinds of tool calls that the person allowed for good.
    pub allowed: HashSet<String>,
}

/// The turn or the moment outside of one that is being played.
#[derive(Default)]
pub struct Scene {
    pub session: String,
    /// Texts that stand in `{braces}`.
    pub vars: BTreeMap<&'static str, String>,
    pub ids: HashMap<String, String>,
    pub announced: HashMap<String, Value>,
    pub terminals: Vec<String>,
    /// Permissions that were asked without waiting.
    pub asked: Vec<u64>,
    pub late: Vec<Step>,
    /// The prompt's request id; none outside a turn.
    prompt_id: Option<Value>,
}

pub struct Agent<W: Write> {
    pub script: Script,
    pub pace: Pace,
    pub place: Place,
    pub peer: Peer<W>,
    pub sessions: HashMap<String, Session>,
    pub client: Value,
    pub scene: Scene,
    pub cancelled: bool,
    /// Set while something is played; requests that start something then wait.
    busy: bool,
    backlog: VecDeque<(Value, String, Value)>,
    signed_in: bool,
    made: u64,
}

/// Plays `script` until the client hangs up or the script ends the process.
pub fn run_script<W: Write>(
    script: Script,
    pace: Pace,
    place: Place,
    input: impl Read + Send + 'static,
    output: W,
) -> io::Result<ExitKind> {
    if let Some(text) = script.agent.stderr.as_ref().filter(|_| place == Place::Process) {
        drop(io::stderr().write_all(text.as_bytes()));
    }
    let mut peer = Peer::new(input, output)?;
    if let Some(banner) = &script.agent.banner {
        peer.write(banner.as_bytes())?;
        peer.flush()?;
    }
    if let Some(code) = script.agent.exit_at_start {
        return Ok(ExitKind::Code(code));
    }
    let _deaf = script.agent.ignore_term.then(ignore_term).transpose()?;
    let mut agent = Agent {
        script,
        pace,
        place,
        peer,
        sessions: HashMap::new(),
        client: Value::Null,
        scene: Scene::default(),
        cancelled: false,
        busy: false,
        backlog: VecDeque::new(),
        signed_in: false,
        made: 0,
    };
    Ok(agent.serve())
}

/// A handler that does nothing stays installed for the life of the process.
#[cfg(unix)]
fn ignore_term() -> io::Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?);
    drop(guard);
    Ok(runtime)
}

#[cfg(not(unix))]
fn ignore_term() -> io::Result<()> {
    Ok(())
}

impl<W: Write> Agent<W> {
    fn serve(&mut self) -> ExitKind {
        loop {
            let done = match self.backlog.pop_front() {
                Some((id, method, params)) => self.request(&id, &method, &params),
                None => self.pump(None).map(|_| ()),
            };
            if let Err(End::Exit(kind)) = done {
                drop(self.peer.flush());
                return kind;
            }
        }
    }

    /// Takes one line of the client, or waits for one until the deadline. False when nothing came.
    pub fn pump(&mut self, until: Option<Instant>) -> Result<bool, End> {
        let input = self.peer.receive(until);
        self.take(input)
    }

    /// Takes what the client sent meanwhile, without waiting.
    pub fn catch_up(&mut self) -> Result<(), End> {
        loop {
            let input = self.peer.poll();
            if !self.take(input)? {
                return self.check_cancel();
            }
        }
    }

    pub fn check_cancel(&self) -> Result<(), End> {
        if self.cancelled { Err(End::Cancelled) } else { Ok(()) }
    }

    fn take(&mut self, input: Input) -> Result<bool, End> {
        match input {
            Input::Quiet => Ok(false),
            Input::Eof => {
                drop(self.peer.flush());
                if self.script.agent.ignore_eof {
                    loop {
                        std::thread::park();
                    }
                }
                Err(End::Exit(ExitKind::Eof))
            }
            Input::Line(line) => {
                if self.script.agent.echo_input {
                    self.peer.write(&line)?;
                    self.peer.flush()?;
                } else {
                    self.line(&line)?;
                }
                Ok(true)
            }
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), End> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            let error = json!({"code": -32700, "message": "Parse error"});
            return Ok(self.peer.answer(&Value::Null, Err(error))?);
        };
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => match self.peer.second.as_mut().map(|second| second.asked(id, method, &params))
            {
                Some((method, params)) => self.request(id, &method, &params),
                None => self.request(id, method, &params),
            },
            (Some(method), None) => {
                self.notification(method, &params);
                Ok(())
            }
            (None, _) => {
                self.peer.keep_answer(&message);
                Ok(())
            }
        }
    }

    fn notification(&mut self, method: &str, params: &Value) {
        let Some(prompt_id) = &self.scene.prompt_id else { return };
        let cancels = match method {
            "session/cancel" => params["sessionId"] == self.scene.session.as_str(),
            "$/cancel_request" => params.get("requestId") == Some(prompt_id),
            _ => false,
        };
        self.cancelled |= cancels;
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) -> Result<(), End> {
        let options = &self.script.agent;
        if options.silent.contains(method) {
            return Ok(());
        }
        let takes_time = match method {
            "session/prompt" => true,
            "initialize" => options.init_delay_ms > 0,
            "session/new" => {
                options.session_delay_ms > 0 || !options.before_session.is_empty() || !options.after_session.is_empty()
            }
            _ => false,
        };
        if self.busy && takes_time {
            if self.backlog.len() < MAX_BACKLOG {
                self.backlog.push_back((id.clone(), method.to_owned(), params.clone()));
                return Ok(());
            }
            return self.reply(id, Err(problem(-32603, "Too many requests are waiting")));
        }
        if let Some(spec) = options.error.get(method) {
            let error = error_value(spec.code, &spec.message, spec.data.as_ref());
            return self.reply(id, Err(error));
        }
        if let Some(result) = options.result.get(method).cloned() {
            return self.reply(id, Ok(result));
        }
        match method {
            "initialize" => self.initialize(id, params),
            "authenticate" => self.authenticate(id, params),
            "session/new" => self.new_session(id, params),
            "tool_call/cancel" if self.peer.second.is_some() => self.end_call(id, params),
            "session/prompt" => self.prompt(id, params),
            _ if self.offers_method(method) => self.keep(id, method, params),
            "session/set_mode" => {
                let answer = self.set_mode(params);
                self.reply(id, answer)
            }
            "session/set_config_option" => {
                let answer = self.set_config_option(params);
                self.reply(id, answer)
            }
            _ => {
                self.reply(id, Err(json!({"code": -32601, "message": "Method not found", "data": {"method": method}})))
            }
        }
    }

    pub fn reply(&mut self, id: &Value, answer: Answer) -> Result<(), End> {
        Ok(self.peer.answer(id, answer)?)
    }

    fn initialize(&mut self, id: &Value, params: &Value) -> Result<(), End> {
        if self.script.agent.protocol_version.is_none() {
            match Second::agreed(id, params, self.script.agent.speaks.as_deref().unwrap_or(&[1, 2])) {
                Ok(second) => self.peer.second = second,
                Err(error) => return self.reply(id, Err(error)),
            }
        }
        self.client = params.get("clientCapabilities").cloned().unwrap_or(Value::Null);
        if self.peer.second.is_some() {
            // What version 2 has without a capability.
            self.client = json!({"session": {"notices": {}, "configOptions": {"boolean": {}}}});
        }
        self.pass(Duration::from_millis(self.script.agent.init_delay_ms))?;
        let options = &self.script.agent;
        let mut capabilities = json!({
            "loadSession": false,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": false, "sse": false},
        });
        let mut info = json!({
            "name": "acp-tui-demo", "title": "Demo agent", "version": env!("CARGO_PKG_VERSION"),
        });
        overlay(&mut capabilities, options.capabilities.as_ref());
        overlay(&mut info, options.agent_info.as_ref());
        let result = json!({
            "protocolVersion": options.protocol_version.clone().unwrap_or(json!(1)),
            "agentInfo": info,
            "agentCapabilities": capabilities,
            "authMethods": options.auth_methods,
        });
        self.reply(id, Ok(result))
    }

    fn authenticate(&mut self, id: &Value, params: &Value) -> Result<(), End> {
        let known = self.script.agent.auth_methods.iter().any(|method| {
            method["id"] == params["methodId"] && method.get("type").is_none_or(|kind| kind != "terminal")
        });
        if !known {
            return self.reply(id, Err(problem(-32602, "There is no such way to sign in")));
        }
        self.signed_in = true;
        self.reply(id, Ok(json!({})))
    }

    fn new_session(&mut self, id: &Value, params: &Value) -> Result<(), End> {
        let options = &self.script.agent;
        let by_file = options.auth_file.as_ref().is_some_and(|file| file.exists());
        let variable = options.auth_variable.as_ref().and_then(std::env::var_os);
        let by_variable = variable.is_some_and(|value| !value.is_empty());
        if options.auth_required && !self.signed_in && !by_file && !by_variable {
            return self.reply(id, Err(problem(-32000, "Authentication required")));
        }
        let Some(cwd) = params["cwd"].as_str().filter(|cwd| Path::new(cwd).is_absolute()) else {
            return self.reply(id, Err(problem(-32602, "cwd must be an absolute path")));
        };
        self.pass(Duration::from_millis(self.script.agent.session_delay_ms))?;
        let name = self.new_name();
        let (modes, config) = (self.modes(), self.config());
        let session = Session {
            cwd: cwd.to_owned(),
            mode: modes["currentModeId"].as_str().unwrap_or_default().to_owned(),
            modes: modes.clone(),
            config: config.clone(),
            turns: 0,
            played: HashSet::new(),
            history: Vec::new(),
            allowed: HashSet::new(),
        };
        self.sessions.insert(name.clone(), session);
        let before = self.script.agent.before_session.clone();
        self.outside(&name, &before)?;
        self.reply(id, Ok(json!({"sessionId": name, "modes": modes, "configOptions": config})))?;
        let commands = self.script.agent.commands.clone().unwrap_or_else(usual_commands);
        let update = json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
        self.peer.notify("session/update", &json!({"sessionId": name, "update": update}))?;
        let after = self.script.agent.after_session.clone();
        self.outside(&name, &after)
    }

    pub fn new_name(&mut self) -> String {
        self.made += 1;
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        format!("demo-{:x}-{}", now.as_millis(), self.made)
    }

    pub fn modes(&self) -> Value {
        self.script.agent.modes.clone().unwrap_or_else(usual_modes)
    }

    pub fn config(&self) -> Vec<Value> {
        self.script.agent.config_options.clone().unwrap_or_else(|| usual_config(&self.client))
    }

    /// Plays steps that belong to no turn. Only the end of the process ends more than the list itself.
    fn outside(&mut self, session: &str, steps: &[Step]) -> Result<(), End> {
        if steps.is_empty() {
            return Ok(());
        }
        self.set_scene(session, String::new(), None);
        self.busy = true;
        let end = self.play(steps);
        self.busy = false;
        match end {
            Err(End::Exit(kind)) => Err(End::Exit(kind)),
            _ => Ok(()),
        }
    }

    fn set_scene(&mut self, session: &str, prompt: String, prompt_id: Option<Value>) {
        self.cancelled = false;
        self.peer.forget_all();
        let mut vars = BTreeMap::from([("session", session.to_owned()), ("prompt", prompt)]);
        if let Some(found) = self.sessions.get(session) {
            vars.insert("cwd", found.cwd.clone());
            vars.insert("turn", found.turns.to_string());
            vars.insert("mode", found.mode.clone());
        }
        self.scene = Scene { session: session.to_owned(), vars, prompt_id, ..Scene::default() };
    }

    fn prompt(&mut self, id: &Value, params: &Value) -> Result<(), End> {
        let name = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let text = prompt_text(&params["prompt"]);
        let Some(session) = self.sessions.get_mut(&name) else {
            return self
                .reply(id, Err(json!({"code": -32002, "message": "Resource not found", "data": {"sessionId": name}})));
        };
        session.turns += 1;
        if let Some(second) = &mut self.peer.second {
            for message in second.taken(id, &name, &text) {
                self.peer.queue_line(&message)?;
            }
            self.peer.flush()?;
        }
        let steps = choose_turn(&self.script.turn, session, &text);
        let prompt = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}});
        self.note(&name, &prompt);
        self.set_scene(&name, text, Some(id.clone()));
        self.busy = true;
        let end = match steps {
            Some(steps) => self.play(&steps),
            None => self.play(&[Step::Say(super::step::Stream {
                text: "You said: {prompt}".to_owned(),
                ..Default::default()
            })]),
        };
        let answer = match end {
            Ok(()) => Ok(json!({"stopReason": "end_turn"})),
            Err(End::Stop(reason)) => Ok(json!({"stopReason": reason})),
            Err(End::Result(result)) => Ok(result),
            Err(End::Error(error)) => Err(error),
            Err(End::Cancelled) => {
                self.drop_terminals()?;
                Ok(json!({"stopReason": "cancelled"}))
            }
            Err(End::Exit(kind)) => return Err(End::Exit(kind)),
        };
        self.scene.prompt_id = None;
        self.cancelled = false;
        self.save(&name);
        self.reply(id, answer)?;
        let late = std::mem::take(&mut self.scene.late);
        let end = self.play(&late);
        self.busy = false;
        match end {
            Err(End::Exit(kind)) => Err(End::Exit(kind)),
            _ => Ok(()),
        }
    }

    /// The client wants one call to end, and not the turn.
    fn end_call(&mut self, id: &Value, params: &Value) -> Result<(), End> {
        let call = params["toolCallId"].clone();
        self.reply(id, Ok(json!({})))?;
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "cancelled",
            "capabilities": {}});
        self.peer.notify("session/update", &json!({"sessionId": params["sessionId"], "update": update}))?;
        Ok(())
    }

    /// Lets time pass while the client is heard.
    pub fn pass(&mut self, time: Duration) -> Result<(), End> {
        if time.is_zero() {
            return Ok(());
        }
        let until = Instant::now() + time;
        let was_busy = std::mem::replace(&mut self.busy, true);
        let mut end = Ok(());
        while end.is_ok() && Instant::now() < until {
            end = self.pump(Some(until)).and_then(|_| self.check_cancel());
        }
        self.busy = was_busy;
        end
    }

    fn set_mode(&mut self, params: &Value) -> Answer {
        let Some(session) = params["sessionId"].as_str().and_then(|name| self.sessions.get_mut(name)) else {
            return Err(problem(-32602, "There is no such session"));
        };
        let Some(id) = params["modeId"].as_str() else {
            return Err(problem(-32602, "modeId is missing"));
        };
        let known =
            session.modes["availableModes"].as_array().is_some_and(|all| all.iter().any(|mode| mode["id"] == id));
        if !known {
            return Err(problem(-32602, "There is no such mode"));
        }
        id.clone_into(&mut session.mode);
        Ok(json!({}))
    }

    fn set_config_option(&mut self, params: &Value) -> Answer {
        let Some(session) = params["sessionId"].as_str().and_then(|name| self.sessions.get_mut(name)) else {
            return Err(problem(-32602, "There is no such session"));
        };
        let Some(option) = session.config.iter_mut().find(|option| option["id"] == params["configId"]) else {
            return Err(problem(-32602, "There is no such option"));
        };
        let value = &params["value"];
        let fits = match option["type"].as_str() {
            Some("boolean") => value.is_boolean(),
            _ => option["options"].as_array().is_some_and(|all| all.iter().any(|choice| &choice["value"] == value)),
        };
        if !fits {
            return Err(problem(-32602, "The option cannot have that value"));
        }
        option["currentValue"] = value.clone();
        Ok(json!({"configOptions": session.config}))
    }
}

/// The first turn whose `match` is in the prompt, else the next one without, else the default.
fn choose_turn(turns: &[Turn], session: &mut Session, text: &str) -> Option<Vec<Step>> {
    let fits = |turn: &Turn| turn.pattern.as_ref().is_some_and(|part| text.contains(part.as_str()));
    let matching = turns.iter().enumerate().find(|(_, turn)| fits(turn));
    if let Some((index, turn)) = matching {
        session.played.insert(index);
        return Some(turn.step.clone());
    }
    let next = turns.iter().enumerate().find(|(index, turn)| {
        (turn.pattern.is_none() || turn.in_order) && !turn.default && !session.played.contains(index)
    });
    if let Some((index, turn)) = next {
        session.played.insert(index);
        return Some(turn.step.clone());
    }
    turns.iter().find(|turn| turn.default).map(|turn| turn.step.clone())
}

fn prompt_text(blocks: &Value) -> String {
    let words = blocks.as_array().into_iter().flatten().filter_map(|block| match block["type"].as_str() {
        Some("text") => block["text"].as_str(),
        Some("resource_link") => block["uri"].as_str(),
        Some("resource") => block["resource"]["uri"].as_str(),
        _ => None,
    });
    words.collect::<Vec<_>>().join(" ")
}

pub fn problem(code: i64, message: &str) -> Value {
    json!({"code": code, "message": message})
}

pub fn error_value(code: i64, message: &str, data: Option<&Value>) -> Value {
    let mut error = problem(code, message);
    if let Some(data) = data {
        error["data"] = data.clone();
    }
    error
}

fn overlay(base: &mut Value, over: Option<&Value>) {
    if let (Some(base), Some(over)) = (base.as_object_mut(), over.and_then(Value::as_object)) {
        base.extend(over.clone().into_iter().collect::<Map<_, _>>());
    }
}

fn usual_modes() -> Value {
    json!({
        "currentModeId": "ask",
        "availableModes": [
            {"id": "ask", "name": "Ask", "description": "Asks before it edits a file or runs a command"},
            {"id": "auto", "name": "Auto", "description": "Edits and runs without asking"},
        ],
    })
}

fn usual_config(client: &Value) -> Vec<Value> {
    let mut config = vec![json!({
        "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "demo-small",
        "options": [
            {"value": "demo-small", "name": "Demo small", "description": "Quick, and just as scripted"},
            {"value": "demo-large", "name": "Demo large", "description": "Slow, and no wiser"},
        ],
    })];
    let booleans = client.pointer("/session/configOptions/boolean");
    if booleans.is_some_and(|value| !value.is_null() && value != &Value::Bool(false)) {
        config.push(json!({
            "id": "web", "name": "Web", "description": "Look things up on the web (the demo never does)",
            "type": "boolean", "currentValue": false,
        }));
    }
    config
}

fn usual_commands() -> Vec<Value> {
    vec![
        json!({"name": "tour", "description": "Play the whole demonstration again"}),
        json!({"name": "plan", "description": "Show a plan for a task", "input": {"hint": "what to plan"}}),
        json!({"name": "help", "description": "What this agent can do"}),
    ]
}
