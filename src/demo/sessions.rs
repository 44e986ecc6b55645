//! Sessions that the scripted agent keeps: loaded, resumed, listed, copied, closed and deleted, each where its script
//! offers it.
//!
//! They are in memory, and in a file where the script names one: then they outlive the process. Invariant: what is not
//! offered is an unknown method, and what is not kept is not found.

use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use super::agent::{Agent, End, Session, problem};
use super::peer::Answer;

/// Updates that are kept of a session.
const MAX_KEPT: usize = 20_000;
/// Sessions on one page of the list.
const PAGE: usize = 50;
/// Updates that belong to the history.
const TOLD: [&str; 6] =
    ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"];

impl<W: Write> Agent<W> {
    /// Whether the script offers what this method is for.
    pub fn offers_method(&self, method: &str) -> bool {
        let always = ["session/load", "session/resume", "session/list", "session/close"];
        if self.peer.second.is_some() && always.contains(&method) {
            return true;
        }
        let Some(capabilities) = &self.script.agent.capabilities else { return false };
        match method.strip_prefix("session/") {
            Some("load") => capabilities["loadSession"] == true,
            Some(what @ ("resume" | "list" | "fork" | "close" | "delete")) => {
                capabilities["sessionCapabilities"][what].is_object()
            }
            _ => false,
        }
    }

    /// Answers one of these methods.
    pub fn keep(&mut self, id: &Value, method: &str, params: &Value) -> Result<(), End> {
        let answer = match method {
            "session/list" => Ok(self.list(params)),
            "session/close" => self.sessions.remove(name_of(params)).map(|_| json!({})).ok_or_else(|| unknown(params)),
            "session/delete" => self.delete(params),
            _ => self.go_on(method, params)?,
        };
        self.reply(id, answer)
    }

    /// Notes what was said in a session, so that it can be told again.
    pub fn note(&mut self, session: &str, update: &Value) {
        let is_told = update["sessionUpdate"].as_str().is_some_and(|kind| TOLD.contains(&kind));
        if let Some(session) = self.sessions.get_mut(session).filter(|s| is_told && s.history.len() < MAX_KEPT) {
            session.history.push(update.clone());
        }
    }

    /// Writes what is kept of a session, where there is a file for it.
    pub fn save(&self, name: &str) {
        let Some(session) = self.sessions.get(name) else { return };
        let title = session.history.iter().find_map(|update| update["content"]["text"].as_str()).unwrap_or_default();
        let kept = json!({ "cwd": session.cwd, "mode": session.mode, "title": title, "history": session.history });
        self.change_file(|all| drop(all.insert(name.to_owned(), kept)));
    }

    fn file(&self) -> Map<String, Value> {
        let text = self.script.agent.keeps.as_ref().and_then(|path| fs::read_to_string(path).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn change_file(&self, change: impl FnOnce(&mut Map<String, Value>)) {
        let Some(path) = &self.script.agent.keeps else { return };
        let mut all = self.file();
        change(&mut all);
        let aside = path.with_extension("new");
        // A session that cannot be written is one that this agent forgets.
        drop(fs::write(&aside, Value::Object(all).to_string()).and_then(|()| fs::rename(&aside, path)));
    }

    /// A session of another process, or one that is here.
    fn kept(&self, name: &str) -> Option<Session> {
        if let Some(session) = self.sessions.get(name) {
            return Some(Session { allowed: HashSet::new(), ..session.clone() });
        }
        let file = self.file();
        let kept = file.get(name)?;
        let (modes, config) = (self.modes(), self.config());
        let history: Vec<Value> = kept["history"].as_array()?.clone();
        let is_prompt = |update: &&Value| update["sessionUpdate"] == "user_message_chunk";
        let turns = history.iter().filter(is_prompt).count();
        Some(Session {
            cwd: kept["cwd"].as_str().unwrap_or_default().to_owned(),
            mode: kept["mode"].as_str().unwrap_or_default().to_owned(),
            modes,
            config,
            turns: turns as u64,
            played: HashSet::new(),
            allowed: HashSet::new(),
            history,
        })
    }

    fn go_on(&mut self, method: &str, params: &Value) -> Result<Answer, End> {
        let name = name_of(params).to_owned();
        let Some(session) = self.kept(&name) else { return Ok(Err(unknown(params))) };
        if params["cwd"].as_str().is_none_or(|cwd| !Path::new(cwd).is_absolute()) {
            return Ok(Err(problem(-32602, "cwd must be an absolute path")));
        }
        let mut result = json!({ "modes": session.modes, "configOptions": session.config });
        let history = session.history.clone();
        if method == "session/fork" {
            let copy = self.new_name();
            result["sessionId"] = json!(copy);
            self.sessions.insert(copy.clone(), session);
            self.save(&copy);
            return Ok(Ok(result));
        }
        self.sessions.insert(name.clone(), session);
        if method == "session/load" {
            for update in history {
                self.peer.queue(&json!({ "jsonrpc": "2.0", "method": "session/update",
                    "params": { "sessionId": name, "update": update } }))?;
            }
            self.peer.flush()?;
        }
        Ok(Ok(result))
    }

    fn list(&self, params: &Value) -> Value {
        let mut all = self.file();
        for (name, session) in &self.sessions {
            all.entry(name.clone()).or_insert_with(|| json!({ "cwd": session.cwd }));
        }
        let from = params["cursor"].as_str().and_then(|cursor| cursor.parse::<usize>().ok()).unwrap_or_default();
        let is_wanted = |kept: &Value| params["cwd"].as_str().is_none_or(|cwd| kept["cwd"] == cwd);
        let wanted: Vec<Value> = all
            .iter()
            .filter(|(_, kept)| is_wanted(kept))
            .map(|(name, kept)| json!({ "sessionId": name, "cwd": kept["cwd"], "title": kept["title"] }))
            .collect();
        let page: Vec<&Value> = wanted.iter().skip(from).take(PAGE).collect();
        let next = (from + PAGE < wanted.len()).then(|| (from + PAGE).to_string());
        json!({ "sessions": page, "nextCursor": next })
    }

    fn delete(&mut self, params: &Value) -> Answer {
        let name = name_of(params);
        self.sessions.remove(name);
        self.change_file(|all| drop(all.remove(name)));
        Ok(json!({}))
    }
}

fn name_of(params: &Value) -> &str {
    params["sessionId"].as_str().unwrap_or_default()
}

fn unknown(params: &Value) -> Value {
    json!({"code": -32002, "message": "Resource not found", "data": {"sessionId": params["sessionId"]}})
}
