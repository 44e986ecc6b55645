//! The dialect D4: tool updates told apart by `kind`, plans of bare steps, lists of kinds of content.
//!
//! Knows no session and no screen. What the client offers is said as in version 1, so that it needs no new start.

pub mod inbound;

use super::Said;
use super::rendition::{Rendition, Table, locked};
use super::v1::{V1, results};
use super::versionless::content::str_of;
use super::versionless::results::value_of;
use super::{Codec as _, Handshake, SharedCodec};
use crate::mcp::{How, Server};
use crate::model::effect::Call;
use crate::model::event::{CallError, Dialect, ErrorKind, InitResult, Opening, PromptAnswer};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// As the header of a journal says it.
pub const NAME: &str = "acp-1-d4";

/// Of images and sounds, which a prompt may carry.
const TYPES: [&str; 10] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "audio/wav",
    "audio/mp3",
    "audio/ogg",
    "audio/flac",
    "audio/aac",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct D4;

impl Rendition for D4 {
    const NAME: &'static str = NAME;
    const DIALECT: Dialect = Dialect::D4;
    const ERRORS: Table = Table { heard: Some(meant), said: None };

    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
        let (method, mut params) = V1.call(call, cwd)?;
        match call {
            Call::OpenSession(Opening::Load(_)) => params["mcpServers"] = json!({}),
            Call::Prompt { .. } => {
                for block in params.get_mut("prompt").and_then(Value::as_array_mut).into_iter().flatten() {
                    if str_of(block, "mimeType").is_some_and(|kind| !TYPES.contains(&kind)) {
                        *block = only_named(block);
                    }
                }
            }
            _ => {}
        }
        Ok((method, params))
    }

    /// A list for a new session, a map for one that goes on.
    fn give(&self, servers: &[&Server], params: &mut Value) {
        if params.get("mcpServers").is_some_and(Value::is_object) {
            params["mcpServers"] = servers.iter().map(|server| (server.name.clone(), entry(server))).collect();
        } else {
            V1.give(servers, params);
        }
    }

    fn handshake(&self, result: &str) -> Handshake {
        locked(met(&value_of(result)))
    }

    fn prompt(&self, result: &str) -> Result<PromptAnswer, CallError> {
        let text = inbound::messages(&value_of(result));
        Ok(match V1.prompt(result)? {
            PromptAnswer::Ended(result) if !text.is_empty() => PromptAnswer::Said { result, text },
            answer => answer,
        })
    }
}

/// What cannot be sent is told of by its name.
fn only_named(block: &Value) -> Value {
    let kind = str_of(block, "mimeType").unwrap_or_default();
    json!({ "type": "text", "text": format!("[left out: content of the type {kind}]") })
}

fn entry(server: &Server) -> Value {
    let map = |pairs: &[(String, String)]| -> Map<String, Value> {
        pairs.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect()
    };
    match &server.how {
        How::Stdio { command, args, env } => {
            json!({ "type": "stdio", "command": command, "args": args, "env": map(env) })
        }
        How::Remote { kind, url, headers } => json!({ "type": kind.word(), "url": url, "headers": map(headers) }),
    }
}

/// What the answer to the first call says, with the members of version 1 where it has them.
pub fn met(result: &Value) -> Result<(SharedCodec, InitResult), CallError> {
    let mut value = result.clone();
    if let Some(caps) = value.get_mut("agentCapabilities").filter(|caps| caps.is_object()) {
        let kinds = caps.pointer("/promptCapabilities/content").and_then(Value::as_array).cloned();
        if let Some(kinds) = kinds {
            for kind in ["image", "audio", "embeddedContext"] {
                caps["promptCapabilities"][kind] = kinds.iter().any(|one| one.as_str() == Some(kind)).into();
            }
        }
        if caps.get("mcpCapabilities").is_none()
            && let Some(mcp) = caps.get("mcp").cloned()
        {
            let has = |member: &str| mcp.get(member) == Some(&Value::Bool(true));
            caps["mcpCapabilities"] = json!({ "http": has("httpTransport"), "sse": has("sseTransport") });
        }
    }
    let init = results::initialize_of(&value)?;
    Ok((Arc::new(D4), InitResult { dialect: Dialect::D4, ..init }))
}

/// Numbers as this rendition gives them (section 7).
fn meant(code: i64) -> ErrorKind {
    match code {
        -32000 => ErrorKind::Disconnected,
        -32001 => ErrorKind::Timeout,
        -32002 => ErrorKind::PermissionDenied,
        -32003 => ErrorKind::SessionLost,
        -32601 => ErrorKind::Unsupported,
        _ => ErrorKind::Other,
    }
}
