//! What we say to the agent.
//!
//! Every frame validates against the schema of this version, which tests ask. Nothing is offered to the agent but answers
//! of the person (V2-006).

use crate::agent::codec::versionless::requests::{self, INITIALIZE, STEER};
use crate::agent::codec::versionless::{asked, auth_status, errors};
use crate::model::effect::{Answer, Call};
use crate::model::event::{Content, Item, Link, Opening};
use crate::model::options::OptionValue;
use crate::model::refusal::{Reason, Refusal};
use crate::wire::rpc_error::RpcError;
use serde_json::{Value, json};
use std::path::Path;

/// Method and parameters of a call. `cwd` is the session's directory.
pub fn call(call: &Call, cwd: &Path) -> Result<(&'static str, Value), serde_json::Error> {
    Ok(match call {
        Call::Initialize => (INITIALIZE, initialize()),
        Call::OpenSession(how) => (opening(how), open(how, cwd)?),
        Call::ListSessions { cwd, cursor, .. } => {
            let mut params = json!({});
            for (member, value) in [("cwd", cwd), ("cursor", cursor)] {
                if let Some(value) = value {
                    params[member] = json!(value);
                }
            }
            ("session/list", params)
        }
        Call::CloseSession(id) => ("session/close", json!({ "sessionId": id.as_str() })),
        Call::DeleteSession(id) => ("session/delete", json!({ "sessionId": id.as_str() })),
        Call::SetTitle { session, title } => {
            ("session/set_title", json!({ "sessionId": session.as_str(), "title": title }))
        }
        Call::Prompt { session, text, links, .. } => {
            let text = json!({ "type": "text", "text": text });
            let prompt: Vec<Value> = std::iter::once(text).chain(links.iter().map(block)).collect();
            ("session/prompt", json!({ "sessionId": session.as_str(), "prompt": prompt }))
        }
        // There are no modes and no older list of models here, so that nobody can ask for one.
        Call::SetMode { session, mode } => option(session.as_str(), "mode", json!({ "type": "id", "value": mode })),
        Call::SetModel { session, model } => option(session.as_str(), "model", json!({ "type": "id", "value": model })),
        Call::SetOption { session, option: id, value } => {
            let value = match value {
                OptionValue::Id(value) => json!({ "type": "id", "value": value }),
                OptionValue::Bool(on) => json!({ "type": "boolean", "value": on }),
            };
            option(session.as_str(), id, value)
        }
        Call::CancelItem { session, item } => match item {
            Item::Tool(id) => ("tool_call/cancel", json!({ "sessionId": session.as_str(), "toolCallId": id.as_str() })),
            Item::Terminal(name) => ("terminal/cancel", json!({ "sessionId": session.as_str(), "terminalId": name })),
        },
        Call::Steer { session, words } => {
            let text = json!({ "type": "text", "text": words.text });
            let prompt: Vec<Value> = std::iter::once(text).chain(words.links.iter().map(block)).collect();
            (STEER, requests::steer(session, &json!(prompt)))
        }
        Call::LogOut => ("auth/logout", json!({})),
        Call::AuthStatus => (auth_status::ASK, json!({})),
        Call::Authenticate { method, .. } => ("auth/login", json!({ "methodId": method })),
    })
}

fn initialize() -> Value {
    json!({
        "protocolVersion": super::VERSION,
        "info": { "name": "acp-tui", "title": "acp-tui", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": { "auth": { "terminal": {} }, "elicitation": { "form": {}, "url": {} } },
    })
}

/// The kind of the value always goes along (V2-109).
fn option(session: &str, id: &str, mut value: Value) -> (&'static str, Value) {
    value["sessionId"] = json!(session);
    value["configId"] = json!(id);
    ("session/set_config_option", value)
}

/// The name of the call that opens a session in this way.
pub fn opening(how: &Opening) -> &'static str {
    match how {
        Opening::New | Opening::After(_) | Opening::Aside { .. } | Opening::Show { .. } => "session/new",
        Opening::Load(_) | Opening::Resume(_) | Opening::Continue(_) => "session/resume",
        Opening::Fork(_) | Opening::Copy(_) => "session/fork",
    }
}

/// A history is asked for from its beginning (V2-023).
fn open(how: &Opening, cwd: &Path) -> Result<Value, serde_json::Error> {
    let mut params = json!({ "cwd": serde_json::to_value(cwd)? });
    if let Opening::Load(id) | Opening::Resume(id) | Opening::Continue(id) | Opening::Fork(id) | Opening::Copy(id) = how
    {
        params["sessionId"] = json!(id.as_str());
    }
    if let Opening::Load(_) = how {
        params["replayFrom"] = json!({ "type": "start" });
    }
    Ok(params)
}

/// What goes along with a prompt.
fn block(link: &Link) -> Value {
    match &link.content {
        Content::Link => json!({ "type": "resource_link", "name": link.name, "uri": link.uri }),
        Content::Image { mime, data } => json!({ "type": "image", "mimeType": mime, "data": &*data.0 }),
        Content::Audio { mime, data } => json!({ "type": "audio", "mimeType": mime, "data": &*data.0 }),
        Content::Text(text) => {
            json!({ "type": "resource", "resource": { "uri": link.uri, "text": &*text.0 } })
        }
    }
}

/// The result of a request of the agent, or its error. Files and terminals are none of ours here (V2-083).
pub fn answer(answer: &Answer) -> Result<Value, RpcError> {
    Ok(match answer {
        Answer::Error(refusal) => return Err(errors::refuse(refusal)),
        Answer::Empty | Answer::Written { .. } | Answer::Signalled(_) | Answer::StillRuns => json!({}),
        Answer::Selected(option) => json!({ "outcome": { "outcome": "selected", "optionId": option } }),
        Answer::Cancelled => json!({ "outcome": { "outcome": "cancelled" } }),
        Answer::Reply(reply) => asked::answer(reply),
        Answer::Content { .. } | Answer::Terminal(_) | Answer::Exit(_) | Answer::Output { .. } => {
            return Err(errors::refuse(&Refusal::new(Reason::UnknownMethod, "Method not found")));
        }
    })
}
