//! Steps that need the client: permissions, files and terminals.
//!
//! The agent never does these things itself; where the client does not offer one, it says so in words and goes on.
//! Invariant: a terminal that was created is released, also when the turn is cancelled (unless the script says not to),
//! and nothing is written into a directory that was not empty when the agent came.

use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Pace;
use super::agent::{Agent, End};
use super::peer::Answer;
use super::play::text_content;
use super::step::{
    Consent, Edit, OnReject, Permission, PermissionOption, Read, Seed, Step, Terminal, TerminalVia, Write as WriteStep,
};

/// What the person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allowed,
    AllowedForGood,
    Rejected,
}

/// Whose directory this is.
enum Territory {
    Empty,
    Ours,
    Foreign(String),
}

impl<W: Write> Agent<W> {
    /// Waits for one answer; a cancel ends the wait.
    pub fn wait_answer(&mut self, id: u64) -> Result<Answer, End> {
        loop {
            if let Some(answer) = self.peer.take_answer(id) {
                return Ok(answer);
            }
            self.check_cancel()?;
            self.pump(None)?;
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Answer, End> {
        let id = self.peer.request(method, params)?;
        self.wait_answer(id)
    }

    /// Waits for one answer even through a cancel: what it names would be lost otherwise.
    fn call_through(&mut self, method: &str, params: &Value) -> Result<Answer, End> {
        let id = self.peer.request(method, params)?;
        loop {
            if let Some(answer) = self.peer.take_answer(id) {
                return Ok(answer);
            }
            self.pump(None)?;
        }
    }

    fn offers(&self, pointer: &str) -> bool {
        self.client.pointer(pointer) == Some(&Value::Bool(true))
    }

    pub fn permission(&mut self, ask: &Permission) -> Result<(), End> {
        let id = self.tool_id(&ask.tool);
        let call = self.tool_fields(&ask.call, &id);
        let options = ask.options.clone().unwrap_or_else(usual_options);
        let request = self.ask(call, &options)?;
        if !ask.wait {
            self.scene.asked.push(request);
            return Ok(());
        }
        let answer = self.wait_answer(request)?;
        match verdict(&answer, &options) {
            Verdict::Rejected => self.rejected(&ask.rejected, ask.on_reject),
            _ => self.play(&ask.allowed),
        }
    }

    fn ask(&mut self, call: Map<String, Value>, options: &[PermissionOption]) -> Result<u64, End> {
        let options: Vec<Value> = options
            .iter()
            .map(|o| json!({"optionId": self.fill(&o.id), "name": self.fill(&o.name), "kind": o.kind}))
            .collect();
        let params = json!({"sessionId": self.scene.session, "toolCall": call, "options": options});
        Ok(self.peer.request("session/request_permission", &params)?)
    }

    /// Asks before something of this kind is done, unless the mode or an earlier answer says that it need not.
    fn consent(&mut self, kind: &str, call: Map<String, Value>, options: &[PermissionOption]) -> Result<Verdict, End> {
        let free = |s: &super::agent::Session| s.mode == "auto" || s.allowed.contains(kind);
        if self.sessions.get(&self.scene.session).is_some_and(free) {
            return Ok(Verdict::Allowed);
        }
        let request = self.ask(call, options)?;
        let answer = self.wait_answer(request)?;
        let verdict = verdict(&answer, options);
        if verdict == Verdict::AllowedForGood
            && let Some(session) = self.sessions.get_mut(&self.scene.session)
        {
            session.allowed.insert(kind.to_owned());
        }
        Ok(verdict)
    }

    fn rejected(&mut self, steps: &[Step], then: OnReject) -> Result<(), End> {
        self.play(steps)?;
        match then {
            OnReject::Continue => Ok(()),
            OnReject::Stop => Err(End::Stop("end_turn".to_owned())),
        }
    }

    pub fn await_answers(&mut self) -> Result<(), End> {
        for id in std::mem::take(&mut self.scene.asked) {
            let answer = self.wait_answer(id)?;
            let text = match answer {
                Ok(result) => json!({"result": result}),
                Err(error) => json!({"error": error}),
            };
            self.scene.vars.insert("answer", text.to_string());
        }
        Ok(())
    }

    pub fn withdraw(&mut self) -> Result<(), End> {
        for id in &self.scene.asked {
            self.peer.notify("$/cancel_request", &json!({"requestId": id}))?;
        }
        Ok(())
    }

    fn tool_update(&mut self, id: &str, fields: Value) -> Result<(), End> {
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
        if let (Some(update), Value::Object(fields)) = (update.as_object_mut(), fields) {
            update.extend(fields);
        }
        self.update(&update)
    }

    fn announce(&mut self, name: &str, fields: Value) -> Result<String, End> {
        let id = self.new_tool_id(name);
        let mut update = json!({"sessionUpdate": "tool_call", "toolCallId": id});
        if let (Some(update), Value::Object(fields)) = (update.as_object_mut(), fields) {
            update.extend(fields);
        }
        self.scene.announced.insert(id.clone(), update.clone());
        self.update(&update)?;
        Ok(id)
    }

    fn write_file(&mut self, path: &str, text: &str) -> Result<Result<(), String>, End> {
        if self.peer.second.is_some() {
            let path = self.path(path);
            let above = Path::new(&path).parent().map_or(Ok(()), std::fs::create_dir_all);
            return Ok(above.and_then(|()| std::fs::write(&path, text)).map_err(|error| error.to_string()));
        }
        if !self.offers("/fs/writeTextFile") {
            return Ok(Err("the client does not write files for agents".to_owned()));
        }
        let params = json!({"sessionId": self.scene.session, "path": self.path(path), "content": text});
        Ok(self.call("fs/write_text_file", &params)?.map(|_| ()).map_err(|error| message_of(&error)))
    }

    fn read_file(&mut self, path: &str, line: Option<u32>, limit: Option<u32>) -> Result<Result<String, String>, End> {
        if self.peer.second.is_some() {
            let text = std::fs::read_to_string(self.path(path)).map_err(|error| error.to_string());
            let (skip, take) = (line.unwrap_or(1).max(1) - 1, limit.unwrap_or(u32::MAX));
            return Ok(text.map(|text| text.split_inclusive('\n').skip(skip as usize).take(take as usize).collect()));
        }
        if !self.offers("/fs/readTextFile") {
            return Ok(Err("the client does not read files for agents".to_owned()));
        }
        let mut params = json!({"sessionId": self.scene.session, "path": self.path(path)});
        if let Some(line) = line {
            params["line"] = json!(line);
        }
        if let Some(limit) = limit {
            params["limit"] = json!(limit);
        }
        Ok(match self.call("fs/read_text_file", &params)? {
            Ok(result) => Ok(result["content"].as_str().unwrap_or_default().to_owned()),
            Err(error) => Err(message_of(&error)),
        })
    }

    fn territory(&self) -> Territory {
        let cwd = self.scene.vars.get("cwd").map_or("", String::as_str);
        let mut entries = match std::fs::read_dir(cwd) {
            Ok(entries) => entries,
            Err(error) => return Territory::Foreign(format!("this directory cannot be listed ({error})")),
        };
        if entries.next().is_none() {
            return Territory::Empty;
        }
        let ours = self.script.file.iter().all(|file| Path::new(cwd).join(&file.path).is_file());
        let marked = self.script.file.first().is_some_and(|file| {
            let found = std::fs::read_to_string(Path::new(cwd).join(&file.path)).unwrap_or_default();
            found.lines().next() == file.text.lines().next()
        });
        if ours && marked {
            return Territory::Ours;
        }
        Territory::Foreign("this directory is not empty".to_owned())
    }

    pub fn seed(&mut self, seed: &Seed) -> Result<(), End> {
        let why = match self.territory() {
            Territory::Ours => return Ok(()),
            Territory::Foreign(why) => why,
            Territory::Empty if self.peer.second.is_none() && !self.offers("/fs/writeTextFile") => {
                "the client does not write files for agents".to_owned()
            }
            Territory::Empty => match self.lay_down(seed)? {
                Ok(()) => return Ok(()),
                Err(why) => why,
            },
        };
        self.scene.vars.insert("why", why);
        self.play(&seed.otherwise)?;
        Err(End::Stop("end_turn".to_owned()))
    }

    fn lay_down(&mut self, seed: &Seed) -> Result<Result<(), String>, End> {
        let files = self.script.file.clone();
        let locations: Vec<Value> = files.iter().map(|file| json!({"path": self.path(&file.path)})).collect();
        let title = self.fill(&seed.title);
        let call = json!({"title": title, "kind": "edit", "status": "in_progress", "locations": locations});
        let id = self.announce("seed", call)?;
        for file in &files {
            if let Err(why) = self.write_file(&file.path, &file.text)? {
                self.tool_update(&id, json!({"status": "failed", "content": [text_content(&why)]}))?;
                return Ok(Err(format!("writing {} was refused ({why})", file.path)));
            }
        }
        self.tool_update(&id, json!({"status": "completed"}))?;
        Ok(Ok(()))
    }

    pub fn read(&mut self, read: &Read) -> Result<(), End> {
        let id = match &read.tool {
            Some(name) => {
                let mut place = json!({"path": self.path(&read.path)});
                if let Some(line) = read.line {
                    place["line"] = json!(line);
                }
                let title = format!("Read {}", read.path);
                let call = json!({"title": title, "kind": "read", "status": "in_progress", "locations": [place],
                    "rawInput": {"path": read.path, "line": read.line, "limit": read.limit}});
                Some(self.announce(name, call)?)
            }
            None => None,
        };
        let got = self.read_file(&read.path, read.line, read.limit)?;
        if let Some(id) = id {
            let (status, text) = match &got {
                Ok(text) => ("completed", text),
                Err(why) => ("failed", why),
            };
            self.tool_update(&id, json!({"status": status, "content": [text_content(text)]}))?;
        }
        self.scene.vars.insert("answer", got.unwrap_or_else(|why| why));
        Ok(())
    }

    pub fn write(&mut self, write: &WriteStep) -> Result<(), End> {
        let id = match &write.tool {
            Some(name) => {
                let title = format!("Write {}", write.path);
                let place = json!({"path": self.path(&write.path)});
                let call = json!({"title": title, "kind": "edit", "status": "in_progress", "locations": [place]});
                Some(self.announce(name, call)?)
            }
            None => None,
        };
        let text = self.fill(&write.text);
        let done = self.write_file(&write.path, &text)?;
        if let Some(id) = id {
            let fields = match &done {
                Ok(()) => json!({"status": "completed"}),
                Err(why) => json!({"status": "failed", "content": [text_content(why)]}),
            };
            self.tool_update(&id, fields)?;
        }
        self.scene.vars.insert("answer", done.err().unwrap_or_default());
        Ok(())
    }

    pub fn edit(&mut self, edit: &Edit) -> Result<(), End> {
        let old = match self.read_file(&edit.path, None, None)? {
            Ok(old) => old,
            Err(why) => {
                self.say(&format!("I could not read `{}`: {why}.\n\n", edit.path))?;
                return self.rejected(&edit.rejected, edit.on_reject);
            }
        };
        let Some((new, line)) = replaced(&old, edit) else {
            return self.say(&format!("`{}` has that change already.\n\n", edit.path));
        };
        let path = self.path(&edit.path);
        let title = edit.title.clone().unwrap_or_else(|| format!("Edit {}", edit.path));
        let call = json!({"title": self.fill(&title), "kind": "edit", "status": "pending",
            "locations": [{"path": path, "line": line}], "rawInput": {"path": edit.path, "replacements": edit.replace.len()},
            "content": [{"type": "diff", "path": path, "oldText": old, "newText": new}]});
        let id = self.announce(&edit.tool, call)?;
        let options = edit.options.clone().unwrap_or_else(usual_options);
        let Value::Object(shown) = json!({"toolCallId": id, "title": self.fill(&title), "kind": "edit"}) else {
            return Ok(());
        };
        if self.consent("edit", shown, &options)? == Verdict::Rejected {
            self.tool_update(&id, json!({"status": "failed"}))?;
            return self.rejected(&edit.rejected, edit.on_reject);
        }
        self.tool_update(&id, json!({"status": "in_progress"}))?;
        match self.write_file(&edit.path, &new)? {
            Ok(()) => {
                self.tool_update(&id, json!({"status": "completed"}))?;
                self.play(&edit.allowed)
            }
            Err(why) => {
                self.tool_update(&id, json!({"status": "failed", "rawOutput": {"error": why}}))?;
                self.say(&format!("The change was not written: {why}.\n\n"))?;
                self.rejected(&edit.rejected, edit.on_reject)
            }
        }
    }

    pub fn terminal(&mut self, run: &Terminal) -> Result<(), End> {
        if run.via == TerminalVia::Meta || self.peer.second.is_some() && run.consent == Consent::Assumed {
            return self.terminal_in_meta(run);
        }
        if self.peer.second.is_none() && !self.offers("/terminal") {
            let words = if run.text.is_empty() {
                "(`{command}` was not run: this client has no terminals.)\n\n"
            } else {
                &run.text
            };
            self.scene.vars.insert("command", run.command.clone());
            return self.say(&self.fill(words));
        }
        let mut line = vec![self.fill(&run.command)];
        line.extend(run.args.iter().map(|arg| self.fill(arg)));
        let title = run.title.clone().unwrap_or_else(|| line.join(" "));
        let asks = run.consent == Consent::Ask;
        let status = if asks { "pending" } else { "in_progress" };
        let call = json!({"title": self.fill(&title), "kind": "execute", "status": status,
            "rawInput": {"command": line.join(" ")}});
        let id = self.announce(&run.tool, call)?;
        if asks {
            let Value::Object(shown) = json!({"toolCallId": id, "title": self.fill(&title), "kind": "execute",
                "rawInput": {"command": line.join(" "), "cwd": self.path("")}})
            else {
                return Ok(());
            };
            if self.consent("execute", shown, &usual_options())? == Verdict::Rejected {
                self.tool_update(&id, json!({"status": "failed"}))?;
                return self.rejected(&run.rejected, run.on_reject);
            }
        }
        if self.peer.second.is_some() {
            return self.tell_terminal(run, &id);
        }
        let env: Vec<Value> = run
            .env
            .iter()
            .filter(|(name, _)| self.pace == Pace::Human || name.as_str() != "DEMO_PAUSE")
            .map(|(name, value)| json!({"name": name, "value": self.fill(value)}))
            .collect();
        let mut params = json!({"sessionId": self.scene.session, "command": line.remove(0), "args": line,
            "env": env, "cwd": self.scene.vars.get("cwd")});
        if let Some(limit) = run.output_byte_limit {
            params["outputByteLimit"] = json!(limit);
        }
        match self.call_through("terminal/create", &params)? {
            Ok(created) => {
                let terminal = created["terminalId"].as_str().unwrap_or_default().to_owned();
                self.scene.terminals.push(terminal.clone());
                self.attend(run, &id, &terminal)
            }
            Err(error) => {
                let why = message_of(&error);
                self.tool_update(&id, json!({"status": "failed", "content": [text_content(&why)]}))?;
                self.rejected(&run.rejected, run.on_reject)
            }
        }
    }

    /// Stays with a command until it ends, then lets its terminal go.
    fn attend(&mut self, run: &Terminal, id: &str, terminal: &str) -> Result<(), End> {
        self.check_cancel()?;
        let content = json!([{"type": "terminal", "terminalId": terminal}]);
        self.tool_update(id, json!({"status": "in_progress", "content": content}))?;
        let params = json!({"sessionId": self.scene.session, "terminalId": terminal});
        let waiting = self.peer.request("terminal/wait_for_exit", &params)?;
        if let Some(ms) = run.kill_after_ms {
            self.pass(Duration::from_millis(ms))?;
            drop(self.call("terminal/kill", &params)?);
        }
        let exit = self.wait_answer(waiting)?.unwrap_or(Value::Null);
        let output = self.call("terminal/output", &params)?.unwrap_or(Value::Null);
        if run.release {
            self.scene.terminals.retain(|open| open != terminal);
            drop(self.call_through("terminal/release", &params)?);
        }
        let good = exit["exitCode"] == 0;
        let status = if good { "completed" } else { "failed" };
        let raw = json!({"exitCode": exit["exitCode"], "signal": exit["signal"], "truncated": output["truncated"]});
        self.tool_update(id, json!({"status": status, "rawOutput": raw}))?;
        let code = exit["exitCode"].as_i64().map_or_else(|| exit["signal"].to_string(), |code| code.to_string());
        self.scene.vars.insert("exit", code);
        self.scene.vars.insert("answer", output["output"].as_str().unwrap_or_default().to_owned());
        self.play(if good { &run.succeeded } else { &run.failed })
    }

    fn terminal_in_meta(&mut self, run: &Terminal) -> Result<(), End> {
        let id = self.new_tool_id(&run.tool);
        let title = run.title.clone().unwrap_or_else(|| run.command.clone());
        let call = json!({"title": title, "kind": "execute", "status": "in_progress",
            "rawInput": {"command": run.command}, "content": [{"type": "terminal", "terminalId": id}],
            "_meta": {"terminal_info": {"terminal_id": id, "cwd": self.path("")}}});
        self.announce(&run.tool, call)?;
        self.tell_output(run, &id)
    }

    /// A terminal of the agent's own for a call that was announced without one.
    fn tell_terminal(&mut self, run: &Terminal, id: &str) -> Result<(), End> {
        let content = json!([{"type": "terminal", "terminalId": id}]);
        let meta = json!({"terminal_info": {"terminal_id": id, "cwd": self.path("")}});
        let input = json!({"command": self.fill(&run.command)});
        self.tool_update(id, json!({"status": "in_progress", "content": content, "rawInput": input, "_meta": meta}))?;
        self.tell_output(run, id)
    }

    fn tell_output(&mut self, run: &Terminal, id: &str) -> Result<(), End> {
        let text = self.fill(&run.text);
        for line in text.split_inclusive('\n') {
            let meta = json!({"terminal_output_delta": {"terminal_id": id, "data": line}});
            self.tool_update(id, json!({"_meta": meta}))?;
        }
        let exit = json!({"terminal_exit": {"terminal_id": id, "exit_code": 0, "signal": null}});
        self.tool_update(id, json!({"status": "completed", "_meta": exit}))?;
        self.play(&run.succeeded)
    }

    /// After a cancel: ends what still runs. The answers are not of interest, but a short while is given to them.
    pub fn drop_terminals(&mut self) -> Result<(), End> {
        let mut asked = Vec::new();
        for terminal in std::mem::take(&mut self.scene.terminals) {
            let params = json!({"sessionId": self.scene.session, "terminalId": terminal});
            asked.push(self.peer.request("terminal/kill", &params)?);
            asked.push(self.peer.request("terminal/release", &params)?);
        }
        let until = Instant::now() + Duration::from_secs(1);
        for id in asked {
            while self.peer.take_answer(id).is_none() && Instant::now() < until {
                self.pump(Some(until))?;
            }
        }
        Ok(())
    }
}

fn usual_options() -> Vec<PermissionOption> {
    let option = |id: &str, name: &str, kind: &str| PermissionOption {
        id: id.to_owned(),
        name: name.to_owned(),
        kind: kind.to_owned(),
    };
    vec![
        option("allow-once", "Allow once", "allow_once"),
        option("allow-always", "Always allow", "allow_always"),
        option("reject-once", "Reject", "reject_once"),
    ]
}

/// Only an option that was given and allows, allows.
fn verdict(answer: &Answer, options: &[PermissionOption]) -> Verdict {
    let chosen = answer.as_ref().ok().and_then(|result| result["outcome"]["optionId"].as_str());
    let kind = chosen.and_then(|id| options.iter().find(|option| option.id == id)).map(|option| option.kind.as_str());
    match kind {
        Some("allow_once") => Verdict::Allowed,
        Some("allow_always") => Verdict::AllowedForGood,
        _ => Verdict::Rejected,
    }
}

/// The new text and the line of the first change, or nothing when not every replacement fits.
fn replaced(old: &str, edit: &Edit) -> Option<(String, usize)> {
    let mut new = old.to_owned();
    let mut first = usize::MAX;
    for pair in &edit.replace {
        let at = new.find(&pair.old)?;
        let line = 1 + new.bytes().take(at).filter(|byte| *byte == b'\n').count();
        first = first.min(line);
        new = new.replacen(&pair.old, &pair.new, 1);
    }
    (first != usize::MAX).then_some((new, first))
}

fn message_of(error: &Value) -> String {
    error["message"].as_str().unwrap_or("an error without a message").to_owned()
}
