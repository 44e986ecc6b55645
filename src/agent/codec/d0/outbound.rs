//! What the dialect D0 is told: calls and answers with its names.

use super::questions;
use crate::agent::codec::v1::V1;
use crate::agent::codec::versionless::requests::{INITIALIZE, PERMISSION};
use crate::agent::codec::{Codec as _, Said};
use crate::base::limits::MAX_TERMINALS;
use crate::base::signal;
use crate::mcp::{How, Server};
use crate::model::effect::{Answer, Call};
use crate::model::event::Opening;
use crate::model::options::OptionValue;
use crate::model::tool::Exit;
use crate::wire::rpc_error::RpcError;
use serde_json::{Map, Value, json};
use std::path::Path;

pub fn call(call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
    let params = match call {
        Call::Initialize => return Ok((INITIALIZE.into(), initialize())),
        Call::OpenSession(Opening::Load(id) | Opening::Resume(id) | Opening::Continue(id)) => {
            return Ok(("session/load".into(), json!({ "sessionId": id.as_str() })));
        }
        Call::OpenSession(_) => json!({ "workingDirectory": serde_json::to_value(cwd)? }),
        Call::Prompt { session, .. } => {
            let (_, said) = V1.call(call, cwd)?;
            let blocks = said.get("prompt").and_then(Value::as_array);
            let content: Vec<Value> = blocks.into_iter().flatten().map(block).collect();
            json!({ "sessionId": session.as_str(), "content": content })
        }
        Call::Authenticate { method, .. } => json!({ "method": method }),
        Call::SetMode { session, mode } => json!({ "sessionId": session.as_str(), "mode": mode }),
        Call::SetOption { session, option, value } => {
            json!({ "sessionId": session.as_str(), "key": option, "value": given(value) })
        }
        other => return V1.call(other, cwd),
    };
    Ok((V1.call(call, cwd)?.0, params))
}

/// A value is what was typed, read as JSON where it is that.
fn given(value: &OptionValue) -> Value {
    match value {
        OptionValue::Bool(on) => json!(on),
        OptionValue::Id(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    }
}

fn initialize() -> Value {
    json!({
        "protocolVersion": 1,
        "clientInfo": { "name": "acp-tui", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": offered(),
    })
}

/// What this client has, as an agent may require it.
pub fn offered() -> Value {
    json!({
        "fs": { "read": true, "write": true, "watch": false },
        "terminal": { "create": true, "interactive": false, "maxConcurrent": MAX_TERMINALS },
        "ui": { "permissionDialogs": true, "diffViewer": true, "codeNavigation": true },
    })
}

/// A block of a prompt.
fn block(block: &Value) -> Value {
    match block["type"].as_str() {
        Some(kind @ ("image" | "audio")) => {
            let source = json!({ "type": "base64", "mediaType": block["mimeType"], "data": block["data"] });
            json!({ "type": kind, "source": source })
        }
        Some("resource_link") => json!({ "type": "resource_link", "uri": block["uri"], "title": block["name"] }),
        Some("resource") => {
            let inner = &block["resource"];
            let mut resource = json!({ "type": "resource", "uri": inner["uri"], "content": inner["text"] });
            if inner["mimeType"].is_string() {
                resource["mimeType"] = inner["mimeType"].clone();
            }
            resource
        }
        _ => block.clone(),
    }
}

/// A server that the agent is given.
pub fn entry(server: &Server) -> Value {
    let map = |pairs: &[(String, String)]| -> Map<String, Value> {
        pairs.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect()
    };
    let transport = match &server.how {
        How::Stdio { command, args, env } => {
            json!({ "type": "stdio", "command": command, "args": args, "env": map(env) })
        }
        How::Remote { kind, url, headers } => json!({ "type": kind.word(), "url": url, "headers": map(headers) }),
    };
    json!({ "name": server.name, "transport": transport })
}

pub fn answer(method: &str, answer: &Answer) -> Result<Value, RpcError> {
    Ok(match answer {
        Answer::Selected(option) if method == PERMISSION => questions::answer(option),
        Answer::Cancelled if method == PERMISSION => json!({ "granted": false }),
        Answer::Content { text, lines } => {
            let mut read = json!({ "content": text, "encoding": "utf-8" });
            if let Some(lines) = lines {
                read["totalLines"] = json!(lines);
                read["truncated"] = json!(false);
            }
            read
        }
        Answer::Written { bytes, created } => json!({ "bytesWritten": bytes, "created": created }),
        Answer::Empty if method == "fs/write_text_file" => json!({ "bytesWritten": 0, "created": false }),
        Answer::Exit(exit) => exited(exit),
        Answer::StillRuns => json!({ "exitCode": -1, "timedOut": true }),
        Answer::Signalled(killed) => json!({ "killed": killed }),
        Answer::Empty if method == "terminal/release" => json!({ "released": true }),
        other => return V1.answer(method, other),
    })
}

/// There is always a code: 128 and the signal's number where a signal has ended it (S-039).
fn exited(exit: &Exit) -> Value {
    match &exit.signal {
        Some(name) => {
            json!({ "exitCode": 128 + signal::number(name).unwrap_or_default(), "signal": name })
        }
        None => json!({ "exitCode": exit.code.unwrap_or_default() }),
    }
}
