//! Looks on while the lines of a connection pass: what each is, which request it answers, how long that took, and where
//! it is not what the protocol says.
//!
//! Changes nothing and answers nothing. Of the shapes of messages those of version 1 in its documented form and of version 2
//! are known; for others only the envelope is looked at. Invariant: what is remembered is bounded, whatever the two sides send.

mod shapes;

use super::rendition::shape;
use crate::model::event::Dialect;
use crate::model::frames::{Flaw, FrameDir, FrameKind, FrameRow};
use crate::model::ids::{AgentKey, Now};
use crate::wire::frame::Frame;
use crate::wire::rpc_error::{INVALID_REQUEST, PARSE_ERROR};
use serde_json::Value;
use shapes::Version;
use std::collections::HashMap;
use std::sync::Arc;

const FIRST: &str = "initialize";
/// Requests that may be open at a time in each direction; of more the latency is not known.
const MAX_OPEN: usize = 10_000;
/// Bytes of a message whose shape is looked at.
const MAX_LOOKED_AT: usize = 1 << 20;

/// What was asked for, and when.
type Open = HashMap<Arc<str>, (Arc<str>, Now)>;

/// One connection.
#[derive(Debug)]
pub struct Watch {
    agent: AgentKey,
    /// Everything since its first call was seen.
    is_whole: bool,
    /// Requests of the client, and of the agent.
    ours: Open,
    theirs: Open,
    /// That call was answered.
    greeted: bool,
    /// Of which version the shapes of messages are, where that is known.
    known: Option<Version>,
}

impl Watch {
    pub fn new(agent: AgentKey) -> Self {
        Self {
            agent,
            is_whole: false,
            ours: Open::new(),
            theirs: Open::new(),
            greeted: false,
            known: Some(Version::First),
        }
    }

    /// A line of the agent or for it.
    pub fn see(&mut self, at: Now, dir: FrameDir, frame: &Frame, text: &Arc<str>) -> FrameRow {
        let mut row = FrameRow {
            at,
            dir,
            agent: self.agent,
            kind: FrameKind::Other,
            method: "".into(),
            id: None,
            latency: None,
            flaws: Vec::new(),
            text: Arc::clone(text),
        };
        match dir {
            FrameDir::Stderr | FrameDir::Note => {}
            FrameDir::ToAgent => self.said(frame, &mut row),
            FrameDir::FromAgent => {
                self.heard(frame, &mut row);
                if frame.is_json() && !text.contains(r#""jsonrpc":"2.0""#) && !has_version(text) {
                    row.flaws.push(flaw("R-001", "`\"jsonrpc\":\"2.0\"` is missing"));
                }
            }
        }
        row
    }

    /// What the client says is not judged.
    fn said(&mut self, frame: &Frame, row: &mut FrameRow) {
        match frame {
            Frame::Request { id, method, .. } => {
                if method == FIRST {
                    // The agent was started again.
                    *self = Self { is_whole: true, ..Self::new(self.agent) };
                }
                begun(row, FrameKind::Request, method.as_str(), Some(id.as_str()));
                open(&mut self.ours, row);
            }
            Frame::Notification { method, .. } => begun(row, FrameKind::Notification, method.as_str(), None),
            Frame::Response { id, outcome } => {
                answered(row, id.as_str(), outcome.is_ok());
                close(&mut self.theirs, row);
            }
            _ => {}
        }
    }

    fn heard(&mut self, frame: &Frame, row: &mut FrameRow) {
        let small = |params: &str| params.len() <= MAX_LOOKED_AT;
        let value = |params: &str| serde_json::from_str::<Value>(params).unwrap_or_default();
        match frame {
            Frame::Request { id, method, params } => {
                begun(row, FrameKind::Request, method.as_str(), Some(id.as_str()));
                if id.as_str() == "null" {
                    row.flaws.push(flaw("R-002", "the id is null"));
                }
                if self.is_whole && !self.greeted {
                    row.flaws.push(flaw("R-033", "a request before `initialize` is answered"));
                }
                if !open(&mut self.theirs, row) {
                    row.flaws.push(flaw("R-002", "the id is that of a request which is not answered yet"));
                }
                let params = params.as_ref().map_or("null", |params| params.as_str());
                if let Some(version) = self.known.filter(|_| small(params)) {
                    row.flaws.extend(shapes::of_request(version, method.as_str(), &value(params)));
                }
            }
            Frame::Notification { method, params } => {
                begun(row, FrameKind::Notification, method.as_str(), None);
                let params = params.as_ref().map_or("null", |params| params.as_str());
                if let Some(version) = self.known.filter(|_| small(params)) {
                    row.flaws.extend(shapes::of_notification(version, method.as_str(), &value(params)));
                }
            }
            Frame::Response { id, outcome } => {
                answered(row, id.as_str(), outcome.is_ok());
                if !close(&mut self.ours, row) && self.is_whole && self.ours.len() < MAX_OPEN {
                    row.flaws.push(flaw("R-015", "it answers no request that is open"));
                }
                match outcome {
                    Ok(result) if small(result.as_str()) => {
                        let result = value(result.as_str());
                        if &*row.method == FIRST {
                            self.greet(&result);
                        }
                        if let Some(version) = self.known {
                            row.flaws.extend(shapes::of_answer(version, &row.method, &result));
                        }
                    }
                    Ok(_) => {}
                    Err(error) if error.code == 0 => {
                        row.flaws.push(flaw("R-030", "the error's code is no whole number of 32 bits"));
                    }
                    Err(_) => {}
                }
            }
            Frame::MalformedResponse { id, why } => {
                if let Some(id) = id {
                    answered(row, id.as_str(), false);
                    close(&mut self.ours, row);
                }
                row.flaws.push(flaw("R-014", why));
            }
            Frame::Invalid { code, why, .. } => {
                let rule = match *code {
                    PARSE_ERROR => "R-010",
                    INVALID_REQUEST => "R-011",
                    _ => "R-048",
                };
                row.flaws.push(flaw(rule, why));
            }
            Frame::Stray => row.flaws.push(flaw("R-052", "a line on standard output that is no message")),
            Frame::TooLong { dropped } => {
                row.flaws.push(flaw("R-028", &format!("a message that is {dropped} bytes longer than 64 MiB")));
            }
        }
    }

    /// The version and the rendition decide whether the table of shapes is about this agent.
    fn greet(&mut self, result: &Value) {
        self.greeted = true;
        let version = result.get("protocolVersion").and_then(Value::as_u64);
        let is_canonical = || matches!(shape::of_handshake(result), None | Some((Dialect::Canonical, _)));
        self.known = match version {
            Some(1) => is_canonical().then_some(Version::First),
            Some(2) => Some(Version::Second),
            Some(_) => None,
            // What is no version is one of the flaws.
            None => Some(Version::First),
        };
    }
}

fn flaw(rule: &'static str, what: &str) -> Flaw {
    Flaw { rule, what: what.to_owned() }
}

fn begun(row: &mut FrameRow, kind: FrameKind, method: &str, id: Option<&str>) {
    row.kind = kind;
    row.method = method.into();
    row.id = id.map(Arc::from);
}

fn answered(row: &mut FrameRow, id: &str, is_ok: bool) {
    row.kind = if is_ok { FrameKind::Answer } else { FrameKind::Error };
    row.id = Some(id.into());
}

/// Whether no other request of this id is open.
fn open(of: &mut Open, row: &FrameRow) -> bool {
    let Some(id) = &row.id else { return true };
    let is_new = !of.contains_key(id);
    if of.len() < MAX_OPEN {
        of.insert(Arc::clone(id), (Arc::clone(&row.method), row.at));
    }
    is_new
}

/// Whether the request of this answer is known.
fn close(of: &mut Open, row: &mut FrameRow) -> bool {
    let Some((method, at)) = row.id.as_ref().and_then(|id| of.remove(id)) else { return false };
    row.method = method;
    row.latency = Some(row.at.saturating_sub(at));
    true
}

/// However it is spelt.
fn has_version(text: &str) -> bool {
    let version = crate::wire::json::members(text, ["jsonrpc"]).ok().and_then(|[version]| version);
    version.is_some_and(|version| version.get() == "\"2.0\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn see(watch: &mut Watch, ms: u64, dir: FrameDir, line: &str) -> FrameRow {
        let (frame, text) = Frame::read(Cow::Borrowed(line.as_bytes()), &[]);
        watch.see(Now::from_millis(ms), dir, &frame, &(&text).into())
    }

    fn rules(row: &FrameRow) -> Vec<&str> {
        row.flaws.iter().map(|flaw| flaw.rule).collect()
    }

    const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#;

    #[test]
    fn an_answer_has_the_method_of_its_request_and_the_time_since() {
        let mut watch = Watch::new(AgentKey::FIRST);
        see(&mut watch, 100, FrameDir::ToAgent, HELLO);
        let row = see(&mut watch, 350, FrameDir::FromAgent, ANSWER);
        assert_eq!((&*row.method, row.latency), ("initialize", Some(Now::from_millis(250))));
        assert_eq!((row.kind, rules(&row)), (FrameKind::Answer, vec![]));
        let again = see(&mut watch, 360, FrameDir::FromAgent, ANSWER);
        assert_eq!(rules(&again), ["R-015"]);
        // The two sides number their requests apart.
        let asked = r#"{"jsonrpc":"2.0","id":0,"method":"terminal/kill","params":{"sessionId":"s","terminalId":"t"}}"#;
        assert_eq!(rules(&see(&mut watch, 400, FrameDir::FromAgent, asked)), Vec::<&str>::new());
        assert_eq!(rules(&see(&mut watch, 410, FrameDir::FromAgent, asked)), ["R-002"]);
        let told =
            see(&mut watch, 500, FrameDir::ToAgent, r#"{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":""}}"#);
        assert_eq!((&*told.method, told.kind), ("terminal/kill", FrameKind::Error));
    }

    #[test]
    fn each_fault_of_the_envelope_has_its_number() {
        for (line, rule) in [
            ("Debugger listening", "R-052"),
            (r#"{"jsonrpc":"2.0","id":"#, "R-010"),
            (r#"{"jsonrpc":"2.0"}"#, "R-011"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{},"error":5}"#, "R-014"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "R-015"),
            (r#"{"id":7,"method":"_x"}"#, "R-001"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"_x"}"#, "R-002"),
        ] {
            let mut watch = Watch::new(AgentKey::FIRST);
            see(&mut watch, 0, FrameDir::ToAgent, HELLO);
            see(&mut watch, 0, FrameDir::FromAgent, ANSWER);
            assert_eq!(rules(&see(&mut watch, 1, FrameDir::FromAgent, line)), [rule], "{line}");
        }
        let mut watch = Watch::new(AgentKey::FIRST);
        let early = r#"{ "jsonrpc" : "2.0", "id": 1, "method": "_x" }"#;
        see(&mut watch, 0, FrameDir::ToAgent, HELLO);
        assert_eq!(rules(&see(&mut watch, 1, FrameDir::FromAgent, early)), ["R-033"]);
        let mut late = Watch::new(AgentKey::FIRST);
        assert_eq!(rules(&see(&mut late, 1, FrameDir::FromAgent, early)), Vec::<&str>::new(), "its begin was not seen");
        assert_eq!(rules(&see(&mut late, 1, FrameDir::FromAgent, ANSWER)), Vec::<&str>::new());
    }

    #[test]
    fn shapes_of_another_version_are_not_judged() {
        let odd = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}"#;
        for (version, flaws) in [("1", 1), ("2", 1), ("3", 0)] {
            let mut watch = Watch::new(AgentKey::FIRST);
            see(&mut watch, 0, FrameDir::ToAgent, HELLO);
            see(&mut watch, 0, FrameDir::FromAgent, &ANSWER.replace(":1}", &format!(":{version}}}")));
            assert_eq!(see(&mut watch, 1, FrameDir::FromAgent, odd).flaws.len(), flaws, "{version}");
        }
    }
}
