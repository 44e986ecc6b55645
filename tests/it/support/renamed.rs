//! A second codec: the first version with every method, every member and every number of an error changed.
//!
//! It proves that nothing above the codec knows any of them. Besides it knows some messages that the first version does
//! not have (`next`).

use super::next;
use acp_tui::agent::codec::v1::V1;
use acp_tui::agent::codec::{Codec, Decoded, Handshake, Said, SharedCodec, Told, shipped};
use acp_tui::mcp::Server;
use acp_tui::model::effect::{Answer, Call};
use acp_tui::model::entry::ChunkKind;
use acp_tui::model::event::{
    AgentRequest, AuthMethod, CallError, InitResult, Opening, PromptAnswer, SessionPage, SessionResult,
};
use acp_tui::model::ids::SessionId;
use acp_tui::model::options::ConfigOption;
use acp_tui::model::refusal::{Reason, Refusal};
use acp_tui::wire::rpc_error::RpcError;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

pub const VERSION: u64 = 7;
const SHIFT: i64 = 50_000;

#[derive(Debug)]
pub struct Renamed;

pub fn renamed() -> SharedCodec {
    Arc::new(Renamed)
}

/// The codec of this name, as a reader of journals asks for it.
pub fn named(name: &str) -> Option<SharedCodec> {
    if name == Renamed.name() { Some(renamed()) } else { acp_tui::agent::codec::named(name) }
}

fn method_out(method: &str) -> String {
    format!("other.{}", method.replacen('/', ".", 1))
}

fn method_in(method: &str) -> String {
    method.strip_prefix("other.").map_or_else(|| format!("not-ours/{method}"), |name| name.replacen('.', "/", 1))
}

fn keys(value: Value, name: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.into_iter().map(|(k, v)| (name(&k), keys(v, name))).collect()),
        Value::Array(list) => list.into_iter().map(|v| keys(v, name)).collect(),
        other => other,
    }
}

fn keys_out(value: Value) -> Value {
    keys(value, &|key| format!("x_{key}"))
}

/// What is not spelt in the new way is no member that the first version would know.
fn keys_in(value: Value) -> Value {
    keys(value, &|key| key.strip_prefix("x_").map_or_else(|| format!("not ours: {key}"), str::to_owned))
}

fn text_in(text: &str) -> String {
    serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |value| keys_in(value).to_string())
}

fn error_out(error: RpcError) -> RpcError {
    RpcError { code: error.code - SHIFT, data: error.data.map(keys_out), ..error }
}

fn error_in(error: &RpcError) -> RpcError {
    RpcError { code: error.code + SHIFT, message: error.message.clone(), data: error.data.clone().map(keys_in) }
}

/// A message of the first version, as this one has it.
pub fn message_out(message: Value) -> Value {
    translate(message, &method_out, &keys_out, -SHIFT)
}

/// The way back.
pub fn message_in(message: Value) -> Value {
    translate(message, &method_in, &keys_in, SHIFT)
}

fn translate(message: Value, method: &impl Fn(&str) -> String, keys: &impl Fn(Value) -> Value, shift: i64) -> Value {
    let Value::Object(map) = message else { return message };
    let is_ours = |code: i64| code != -32700;
    let error = |error: Value| {
        let Value::Object(mut error) = error else { return error };
        if let Some(code) = error.get("code").and_then(Value::as_i64).filter(|code| is_ours(*code)) {
            error.insert("code".into(), json!(code + shift));
        }
        if let Some(data) = error.remove("data") {
            error.insert("data".into(), keys(data));
        }
        Value::Object(error)
    };
    let member = |(name, value): (String, Value)| {
        let value = match (name.as_str(), value) {
            ("method", Value::String(name)) => Value::String(method(&name)),
            ("params" | "result", value) => version(keys(value), shift < 0),
            ("error", value) => error(value),
            (_, value) => value,
        };
        (name, value)
    };
    Value::Object(map.into_iter().map(member).collect::<Map<_, _>>())
}

/// The version of the protocol is another one, too.
fn version(mut value: Value, out: bool) -> Value {
    let (name, from, to) = if out { ("x_protocolVersion", 1, VERSION) } else { ("protocolVersion", VERSION, 1) };
    if let Some(version) = value.get_mut(name)
        && *version == json!(from)
    {
        *version = json!(to);
    }
    value
}

impl Codec for Renamed {
    fn name(&self) -> &'static str {
        "renamed"
    }

    fn version(&self) -> u16 {
        VERSION as u16
    }

    fn word_for_word(&self) -> &'static [&'static str] {
        &["other.fs.write_text_file", "other.fs.read_text_file", "other.terminal.create"]
    }

    fn bears_no_environment(&self, method: &str) -> bool {
        V1.bears_no_environment(&method_in(method))
    }

    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
        let (method, params) = V1.call(call, cwd)?;
        Ok((method_out(&method).into(), version(keys_out(params), true)))
    }

    fn give(&self, servers: &[&Server], params: &mut Value) {
        let mut inner = keys_in(params.take());
        V1.give(servers, &mut inner);
        *params = keys_out(inner);
    }

    fn cancel_turn(&self, session: &SessionId) -> Option<Said> {
        let (method, params) = V1.cancel_turn(session)?;
        Some((method_out(&method).into(), keys_out(params)))
    }

    fn withdraw(&self, call: u64) -> Said {
        let (method, params) = V1.withdraw(call);
        (method_out(&method).into(), keys_out(params))
    }

    fn answer(&self, method: &str, answer: &Answer) -> Result<Value, RpcError> {
        V1.answer(&method_in(method), answer).map(keys_out).map_err(error_out)
    }

    fn refuse(&self, refusal: &Refusal) -> RpcError {
        error_out(V1.refuse(refusal))
    }

    fn unanswered(&self, method: &str) -> Answer {
        V1.unanswered(&method_in(method))
    }

    fn told(&self, method: &str, params: &str) -> Told {
        if self.is_update(method) {
            return Told::Update(self.update(params));
        }
        V1.told(&method_in(method), &text_in(params))
    }

    fn is_update(&self, method: &str) -> bool {
        V1.is_update(&method_in(method))
    }

    fn piece(&self, session: &SessionId, kind: ChunkKind, message: Option<&str>, text: &str) -> Said {
        let (method, params) = V1.piece(session, kind, message, text);
        (method_out(&method).into(), keys_out(params))
    }

    fn is_used(&self, member: &str) -> bool {
        member.strip_prefix("x_").is_none_or(|member| V1.is_used(member))
    }

    fn update(&self, params: &str) -> Decoded {
        let params = text_in(params);
        next::update(&params).map_or_else(|| V1.update(&params), |told| Ok(told.into()))
    }

    fn request(&self, method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
        V1.request(&method_in(method), &text_in(params), number)
    }

    /// An agent that knows only the first version is spoken to in that.
    fn handshake(&self, result: &str) -> Handshake {
        let result: Value = serde_json::from_str(result).unwrap_or_default();
        if result["protocolVersion"] == 1 {
            return Handshake::Reconnect(shipped(), InitResult::default());
        }
        V1.handshake(&version(keys_in(result), false).to_string())
    }

    fn opened(&self, how: &Opening, result: &str) -> Result<SessionResult, CallError> {
        V1.opened(how, &text_in(result))
    }

    fn titled(&self, result: &str) -> Option<String> {
        V1.titled(&text_in(result))
    }

    fn listed(&self, result: &str) -> Result<SessionPage, CallError> {
        V1.listed(&text_in(result))
    }

    fn prompt(&self, result: &str) -> Result<PromptAnswer, CallError> {
        let result = text_in(result);
        next::prompt(&result).map_or_else(|| V1.prompt(&result), Ok)
    }

    fn set_option(&self, result: &str) -> Option<Vec<ConfigOption>> {
        V1.set_option(&text_in(result))
    }

    fn error(&self, error: &RpcError) -> (CallError, Vec<AuthMethod>) {
        V1.error(&error_in(error))
    }

    fn reason(&self, code: i64) -> Reason {
        V1.reason(code + SHIFT)
    }
}
