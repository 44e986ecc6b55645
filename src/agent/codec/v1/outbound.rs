//! What we say to the agent, built from the types of the schema crate, so that it validates.

use crate::agent::codec::versionless::requests::{self, INITIALIZE, STEER};
use crate::agent::codec::versionless::{asked, auth_status, errors};
use crate::model::effect::{Answer, Call};
use crate::model::event::{Content, Link, Opening};
use crate::model::ids::SessionId;
use crate::model::options::OptionValue;
use crate::model::tool::Exit;
use crate::wire::rpc_error::RpcError;
use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as schema;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The version of the protocol that is offered and spoken.
pub const VERSION: ProtocolVersion = ProtocolVersion::V1;

/// Method and parameters of a call. `cwd` is the session's directory.
pub fn call(call: &Call, cwd: &Path) -> Result<(&'static str, Value), serde_json::Error> {
    Ok(match call {
        Call::Initialize => {
            let mut params = serde_json::to_value(initialize())?;
            // The types of the protocol have it only where all that is unstable is switched on.
            params["clientCapabilities"]["subagents"] = json!({});
            (INITIALIZE, params)
        }
        Call::OpenSession(how) => (opening(how), open(how, cwd)?),
        Call::ListSessions { cwd, cursor, .. } => {
            let request = schema::ListSessionsRequest::new().cwd(cwd.clone().map(PathBuf::from)).cursor(cursor.clone());
            ("session/list", serde_json::to_value(request)?)
        }
        Call::CloseSession(id) => {
            ("session/close", serde_json::to_value(schema::CloseSessionRequest::new(id.as_str().to_owned()))?)
        }
        Call::DeleteSession(id) => {
            ("session/delete", serde_json::to_value(schema::DeleteSessionRequest::new(id.as_str().to_owned()))?)
        }
        Call::SetTitle { session, title } => {
            ("session/set_title", json!({ "sessionId": session.as_str(), "title": title }))
        }
        Call::Prompt { session, text, links, .. } => {
            let mut blocks = vec![schema::ContentBlock::Text(schema::TextContent::new(text.clone()))];
            blocks.extend(links.iter().map(block));
            ("session/prompt", serde_json::to_value(schema::PromptRequest::new(session.as_str().to_owned(), blocks))?)
        }
        Call::SetMode { session, mode } => {
            let request = schema::SetSessionModeRequest::new(session.as_str().to_owned(), mode.clone());
            ("session/set_mode", serde_json::to_value(request)?)
        }
        Call::SetModel { session, model } => {
            ("session/set_model", json!({ "sessionId": session.as_str(), "modelId": model }))
        }
        Call::SetOption { session, option, value } => {
            // `type` goes with a boolean and never with a select.
            let value = match value {
                OptionValue::Id(id) => json!({ "sessionId": session.as_str(), "configId": option, "value": id }),
                OptionValue::Bool(on) => {
                    json!({ "sessionId": session.as_str(), "configId": option, "type": "boolean", "value": on })
                }
            };
            ("session/set_config_option", value)
        }
        Call::Steer { session, words } => {
            let mut blocks = vec![schema::ContentBlock::Text(schema::TextContent::new(words.text.clone()))];
            blocks.extend(words.links.iter().map(block));
            (STEER, requests::steer(session, &serde_json::to_value(blocks)?))
        }
        Call::LogOut => ("logout", json!({})),
        Call::AuthStatus => (auth_status::ASK, json!({})),
        // Not offered in this version, and never asked for.
        Call::CancelItem { session, .. } => ("session/cancel", json!({ "sessionId": session.as_str() })),
        Call::Authenticate { method, .. } => {
            ("authenticate", serde_json::to_value(schema::AuthenticateRequest::new(method.clone()))?)
        }
    })
}

/// The name of the call that opens a session in this way.
pub fn opening(how: &Opening) -> &'static str {
    match how {
        // The others are not asked for under these names.
        Opening::New | Opening::After(_) | Opening::Aside { .. } | Opening::Show { .. } => "session/new",
        Opening::Load(_) => "session/load",
        Opening::Resume(_) | Opening::Continue(_) => "session/resume",
        Opening::Fork(_) | Opening::Copy(_) => "session/fork",
    }
}

fn open(how: &Opening, cwd: &Path) -> Result<Value, serde_json::Error> {
    let id = |id: &SessionId| id.as_str().to_owned();
    match how {
        Opening::New | Opening::After(_) | Opening::Aside { .. } | Opening::Show { .. } => {
            serde_json::to_value(schema::NewSessionRequest::new(cwd))
        }
        Opening::Load(old) => serde_json::to_value(schema::LoadSessionRequest::new(id(old), cwd)),
        Opening::Resume(old) | Opening::Continue(old) => {
            serde_json::to_value(schema::ResumeSessionRequest::new(id(old), cwd))
        }
        // The types have no list of servers where it is empty; agents of today want one.
        Opening::Fork(old) | Opening::Copy(old) => {
            Ok(json!({ "sessionId": old.as_str(), "cwd": cwd, "mcpServers": [] }))
        }
    }
}

/// What goes along with a prompt.
fn block(link: &Link) -> schema::ContentBlock {
    match &link.content {
        Content::Link => {
            schema::ContentBlock::ResourceLink(schema::ResourceLink::new(link.name.clone(), link.uri.clone()))
        }
        Content::Image { mime, data } => {
            schema::ContentBlock::Image(schema::ImageContent::new(data.0.to_string(), mime.clone()))
        }
        Content::Audio { mime, data } => {
            schema::ContentBlock::Audio(schema::AudioContent::new(data.0.to_string(), mime.clone()))
        }
        Content::Text(text) => {
            let text = schema::TextResourceContents::new(text.0.to_string(), link.uri.clone());
            let text = schema::EmbeddedResourceResource::TextResourceContents(text);
            schema::ContentBlock::Resource(schema::EmbeddedResource::new(text))
        }
    }
}

/// Only what works is advertised. The two members of `_meta` are how agents of today find out that shell
/// output and log-in commands are shown.
fn initialize() -> schema::InitializeRequest {
    let mut meta = Map::new();
    meta.insert("terminal_output".into(), Value::Bool(true));
    meta.insert("terminal-auth".into(), Value::Bool(true));
    let session = schema::ClientSessionCapabilities::new()
        .config_options(
            schema::SessionConfigOptionsCapabilities::new().boolean(schema::BooleanConfigOptionCapabilities::new()),
        )
        .notices(schema::NoticeCapabilities::new())
        .compaction(schema::CompactionCapabilities::new());
    let capabilities = schema::ClientCapabilities::new()
        .fs(schema::FileSystemCapabilities::new().read_text_file(true).write_text_file(true))
        .terminal(true)
        .session(session)
        .auth(schema::AuthCapabilities::new().terminal(true))
        .elicitation(
            schema::ElicitationCapabilities::new()
                .form(schema::ElicitationFormCapabilities::new())
                .url(schema::ElicitationUrlCapabilities::new()),
        )
        .meta(meta);
    schema::InitializeRequest::new(VERSION)
        .client_capabilities(capabilities)
        .client_info(schema::Implementation::new("acp-tui", env!("CARGO_PKG_VERSION")).title("acp-tui".to_owned()))
}

/// The result of a request of the agent, or its error.
pub fn answer(answer: &Answer) -> Result<Value, RpcError> {
    Ok(match answer {
        Answer::Error(refusal) => return Err(errors::refuse(refusal)),
        Answer::Empty | Answer::Written { .. } | Answer::Signalled(_) => json!({}),
        Answer::Selected(option) => json!({ "outcome": { "outcome": "selected", "optionId": option } }),
        Answer::Cancelled => json!({ "outcome": { "outcome": "cancelled" } }),
        Answer::Reply(reply) => asked::answer(reply),
        Answer::Content { text, .. } => json!({ "content": text }),
        Answer::Terminal(id) => json!({ "terminalId": id.as_str() }),
        Answer::Exit(exit) => exit_status(exit),
        Answer::StillRuns => json!({}),
        // `exitStatus` only once the process has exited.
        Answer::Output { text, truncated, exit: None } => json!({ "output": text, "truncated": truncated }),
        Answer::Output { text, truncated, exit: Some(exit) } => {
            json!({ "output": text, "truncated": truncated, "exitStatus": exit_status(exit) })
        }
    })
}

/// a code or the name of a signal, never 128+n.
fn exit_status(exit: &Exit) -> Value {
    json!({ "exitCode": if exit.signal.is_some() { None } else { exit.code }, "signal": exit.signal })
}
