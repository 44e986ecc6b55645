//! What the dialect D3 is told: calls and answers with its names.

use crate::agent::codec::v1::V1;
use crate::agent::codec::versionless::requests::PERMISSION;
use crate::agent::codec::{Codec as _, Said};
use crate::base::signal;
use crate::mcp::{How, Server};
use crate::model::effect::{Answer, Call};
use crate::model::options::OptionValue;
use crate::model::tool::Exit;
use crate::wire::rpc_error::RpcError;
use serde_json::{Map, Value, json};
use std::path::Path;

pub fn call(call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
    let (method, mut params) = V1.call(call, cwd)?;
    match call {
        Call::Initialize => {
            params["clientCapabilities"]["terminal"] =
                json!({ "create": true, "output": true, "waitForExit": true, "kill": true, "release": true });
        }
        Call::SetOption { session, option, value } => {
            let value = match value {
                OptionValue::Id(id) => json!(id),
                OptionValue::Bool(on) => json!(on),
            };
            params = json!({ "sessionId": session.as_str(), "option": option, "value": value });
        }
        _ => {}
    }
    Ok((method, params))
}

/// A server that the agent is given.
pub fn entry(server: &Server) -> Value {
    let map = |pairs: &[(String, String)]| -> Map<String, Value> {
        pairs.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect()
    };
    let name = &server.name;
    match &server.how {
        How::Stdio { command, args, env } => {
            json!({ "transport": "stdio", "name": name, "command": command, "args": args, "env": map(env) })
        }
        How::Remote { kind, url, headers } => {
            json!({ "transport": kind.word(), "name": name, "url": url, "headers": map(headers) })
        }
    }
}

pub fn answer(method: &str, answer: &Answer) -> Result<Value, RpcError> {
    Ok(match answer {
        Answer::Selected(option) if method == PERMISSION => json!({ "selectedOptionId": option }),
        Answer::Empty | Answer::Written { .. } | Answer::Signalled(_) => Value::Null,
        Answer::Output { text, exit, .. } => json!({ "output": text, "exitCode": exit.as_ref().and_then(code) }),
        Answer::Exit(exit) => json!({ "output": "", "exitCode": code(exit) }),
        other => return V1.answer(method, other),
    })
}

/// 128 and the signal's number for a process that a signal has ended (S-050).
pub fn code(exit: &Exit) -> Option<i64> {
    match &exit.signal {
        Some(name) => Some(128 + i64::from(signal::number(name).unwrap_or_default())),
        None => exit.code,
    }
}
