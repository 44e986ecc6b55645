//! The client's side of what an agent asks for while it is tried.
//!
//! Serves files of one directory, and terminals in which nothing is run: it is said in their output. Invariants: every
//! request gets an answer; no path leads out of the directory, by links neither.

use crate::host::fs::{Roots, Was, read_text, write_text};
use crate::model::frames::Flaw;
use crate::model::policy::Allow;
use crate::rules;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

pub(super) const NO_METHOD: i64 = -32601;
pub(super) const BAD_PARAMS: i64 = -32602;
const NOT_FOUND: i64 = -32002;
/// What stands in a terminal.
const NOT_RUN: &str = "not run: this client only checks how the protocol is spoken\n";
/// Terminals and sessions that are remembered.
const MAX_KNOWN: usize = 1000;
/// Bytes of a file that is written.
const MAX_FILE: usize = 16 << 20;

/// An error's code and message.
pub(super) type Refused = (i64, String);

#[derive(Debug)]
pub(super) struct Served {
    allow: Allow,
    /// Files and terminals are the client's; in version 2 they are the agent's own.
    has_tools: bool,
    roots: Roots,
    /// The ids that the agent has given, and whether one may be on its way.
    pub(super) sessions: BTreeSet<String>,
    pub(super) is_opening: bool,
    pub(super) is_cancelling: bool,
    terminals: BTreeSet<String>,
    made: usize,
    pub(super) permissions: u64,
    pub(super) files: u64,
    pub(super) terminal_calls: u64,
}

impl Served {
    pub(super) fn new(allow: Allow, has_tools: bool, dir: PathBuf) -> Self {
        Self {
            allow,
            has_tools,
            roots: Roots::new(vec![dir]),
            sessions: BTreeSet::new(),
            is_opening: false,
            is_cancelling: false,
            terminals: BTreeSet::new(),
            made: 0,
            permissions: 0,
            files: 0,
            terminal_calls: 0,
        }
    }

    /// Terminals that the agent has not released.
    pub(super) fn held(&self) -> usize {
        self.terminals.len()
    }

    /// What is answered, and what is wrong with having asked.
    pub(super) fn answer(&mut self, method: &str, params: &Value) -> (Result<Value, Refused>, Option<Flaw>) {
        let session = params["sessionId"].as_str();
        let is_known = session.is_none_or(|session| self.is_opening || self.sessions.contains(session));
        if !is_known && !method.starts_with('_') {
            let what = format!("{method} names a session that was not opened");
            return (Err((NOT_FOUND, "unknown session".into())), Some(Flaw { rule: "R-035", what }));
        }
        match method {
            _ if !self.has_tools && (method.starts_with("fs/") || method.starts_with("terminal/")) => {
                (Err((NO_METHOD, "files and terminals are the agent's own".into())), None)
            }
            "session/request_permission" => {
                self.permissions += 1;
                (Ok(self.decided(params)), None)
            }
            "fs/read_text_file" | "fs/write_text_file" => {
                self.files += 1;
                (if method == "fs/read_text_file" { self.read(params) } else { self.write(params) }, None)
            }
            "terminal/create" => {
                self.terminal_calls += 1;
                self.made += 1;
                let id = format!("terminal-{}", self.made);
                if self.terminals.len() < MAX_KNOWN {
                    self.terminals.insert(id.clone());
                }
                (Ok(json!({ "terminalId": id })), None)
            }
            "terminal/output" | "terminal/wait_for_exit" | "terminal/kill" | "terminal/release" => {
                self.terminal_calls += 1;
                self.of_terminal(method, params)
            }
            "elicitation/create" => (Ok(json!({ "action": "decline" })), None),
            _ => (Err((NO_METHOD, "there is no such method".into())), None),
        }
    }

    /// One of the options that are there, for this once: what lasts the agent may keep beyond the trial.
    fn decided(&self, params: &Value) -> Value {
        let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
        let call = &params["toolCall"];
        let is_allowed = match self.allow {
            Allow::All => true,
            Allow::Reads => self.only_reads(call),
            Allow::None | Allow::Rules => false,
        };
        let allows = is_allowed && !names_secret(call);
        let wanted = if allows { "allow_once" } else { "reject_once" };
        let options = params["options"].as_array().map_or(&[][..], Vec::as_slice);
        let chosen = options.iter().find(|option| option["kind"] == wanted);
        match chosen.map(|option| &option["optionId"]) {
            Some(id) if id.is_string() && !self.is_cancelling => {
                json!({ "outcome": { "outcome": "selected", "optionId": id } })
            }
            _ => cancelled,
        }
    }

    /// Whether a call reads, and nothing that it names lies elsewhere: its kind is only what the agent says.
    fn only_reads(&self, call: &Value) -> bool {
        let runs = ["command", "cmd", "script"].iter().any(|name| !call["rawInput"][name].is_null());
        let changes = call["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "diff"));
        let leads = |text: &&str| text.starts_with(['/', '~', '$']) || text.split('/').any(|part| part == "..");
        let is_inside = |text: &str| text.starts_with('/') && self.roots.check(text).is_ok();
        matches!(call["kind"].as_str(), Some("read" | "search"))
            && !runs
            && !changes
            && said(call)
                .into_iter()
                .map(|text| text.strip_prefix("file://").unwrap_or(text))
                .filter(leads)
                .all(is_inside)
    }

    fn read(&self, params: &Value) -> Result<Value, Refused> {
        if let Some(why) = rules::secret(path(params)?) {
            return Err((BAD_PARAMS, why.to_owned()));
        }
        let at = self.roots.check(path(params)?).map_err(refused)?;
        let number = |name: &str| params[name].as_u64().and_then(|number| u32::try_from(number).ok());
        let text = read_text(at, number("line"), number("limit"), &|| true).map_err(refused)?;
        Ok(json!({ "content": text }))
    }

    fn write(&self, params: &Value) -> Result<Value, Refused> {
        if self.allow != Allow::All {
            return Err((BAD_PARAMS, "writing is not allowed here".into()));
        }
        if let Some(why) = rules::secret(path(params)?) {
            return Err((BAD_PARAMS, why.to_owned()));
        }
        let at = self.roots.check(path(params)?).map_err(refused)?;
        let text = params["content"].as_str().filter(|text| text.len() <= MAX_FILE);
        let text = text.ok_or_else(|| (BAD_PARAMS, "no content, or too much".to_owned()))?;
        write_text(&at, text, &Was::Any, &|| true).map_err(refused)?;
        Ok(json!({}))
    }

    fn of_terminal(&mut self, method: &str, params: &Value) -> (Result<Value, Refused>, Option<Flaw>) {
        let id = params["terminalId"].as_str().unwrap_or_default();
        if !self.terminals.contains(id) && self.made <= MAX_KNOWN {
            let what = format!("{method} names a terminal that was released or never made");
            return (Err((NOT_FOUND, "unknown terminal".into())), Some(Flaw { rule: "R-392", what }));
        }
        let exit = json!({ "exitCode": 126, "signal": null });
        let result = match method {
            "terminal/output" => json!({ "output": NOT_RUN, "truncated": false, "exitStatus": exit }),
            "terminal/wait_for_exit" => exit,
            _ => json!({}),
        };
        if method == "terminal/release" {
            self.terminals.remove(id);
        }
        (Ok(result), None)
    }
}

/// All texts of a call that may name something: its input, and where it says that it happens.
fn said(call: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![&call["rawInput"], &call["locations"], &call["content"]];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(list) => open.extend(list),
            Value::Object(map) => open.extend(map.values()),
            _ => {}
        }
    }
    found
}

fn names_secret(call: &Value) -> bool {
    let title = call["title"].as_str();
    said(call).into_iter().chain(title).any(|text| rules::secret(text).or_else(|| rules::secret_in(text)).is_some())
}

fn path(params: &Value) -> Result<&str, Refused> {
    params["path"].as_str().ok_or_else(|| (BAD_PARAMS, "no path".to_owned()))
}

fn refused(error: impl std::fmt::Display) -> Refused {
    (BAD_PARAMS, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_by_what_the_call_names_and_not_by_its_kind_alone() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("a"), "").unwrap();
        let inside = root.join("a").to_string_lossy().into_owned();
        let answered = |allow, call: Value| {
            let options =
                json!([{ "optionId": "yes", "kind": "allow_once" }, { "optionId": "no", "kind": "reject_once" }]);
            let answer =
                Served::new(allow, true, root.clone()).decided(&json!({ "toolCall": call, "options": options }));
            answer["outcome"]["optionId"] == "yes"
        };
        for (call, by_reads, by_all) in [
            (json!({ "kind": "read", "rawInput": { "path": inside } }), true, true),
            (json!({ "kind": "search", "rawInput": { "pattern": "x" } }), true, true),
            (json!({ "kind": "read", "locations": [{ "path": "/etc/passwd" }] }), false, true),
            (json!({ "kind": "read", "rawInput": { "path": "../x" } }), false, true),
            (json!({ "kind": "read", "rawInput": { "path": "~/x" } }), false, true),
            (json!({ "kind": "read", "rawInput": { "command": "ls" } }), false, true),
            (json!({ "kind": "read", "content": [{ "type": "diff", "path": inside, "newText": "x" }] }), false, true),
            (json!({ "kind": "edit", "rawInput": { "path": inside } }), false, true),
            (json!({ "kind": "read", "rawInput": { "path": ".env" } }), false, false),
            (json!({ "kind": "execute", "rawInput": { "command": "cat .env" } }), false, false),
        ] {
            let words = call.to_string();
            assert_eq!(
                (answered(Allow::Reads, call.clone()), answered(Allow::All, call)),
                (by_reads, by_all),
                "{words}"
            );
        }
    }
}
