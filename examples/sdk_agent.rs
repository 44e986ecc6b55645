//! A small agent built on the SDK crate, for the end-to-end test: the demo agent shares its authors with the client,
//! this one has its protocol from elsewhere.
//!
//! It knows one turn: it says something, announces a call, asks, reads `in.txt`, writes `out.txt`, runs a command in a
//! terminal of the client, tells what came of it and ends. It uses every service of the client and nothing else.

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, ContentBlock, ContentChunk, CreateTerminalRequest, Implementation, InitializeRequest,
    InitializeResponse, NewSessionRequest, NewSessionResponse, PermissionOption, PermissionOptionKind, PromptRequest,
    PromptResponse, ReadTextFileRequest, ReleaseTerminalRequest, RequestPermissionOutcome, RequestPermissionRequest,
    SessionId, SessionNotification, SessionUpdate, StopReason, Terminal, TerminalOutputRequest, TextContent, ToolCall,
    ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind, WaitForTerminalExitRequest,
    WriteTextFileRequest,
};
use agent_client_protocol::{Agent, Channel, Client, Error, TransportFrame};
use futures_core::Stream;
use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

type Connection = ConnectionTo<Client>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let cwd: Arc<Mutex<PathBuf>> = Arc::default();
    let seen = Arc::clone(&cwd);
    Agent
        .v1()
        .name("sdk-agent")
        .on_receive_request(
            async move |_: InitializeRequest, responder, _: Connection| {
                responder.respond(
                    InitializeResponse::new(ProtocolVersion::V1)
                        .agent_capabilities(AgentCapabilities::new())
                        .agent_info(Implementation::new("sdk-agent", "5.0")),
                )
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _: Connection| {
                *seen.lock().unwrap_or_else(PoisonError::into_inner) = request.cwd;
                responder.respond(NewSessionResponse::new("sdk-session"))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection: Connection| {
                let cwd = cwd.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let inner = connection.clone();
                // The handler must return for further messages to be taken.
                connection.spawn(async move {
                    let answer = turn(&inner, request, cwd).await;
                    responder.respond_with_result(answer.map(PromptResponse::new))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(stdio())
        .await
}

async fn turn(client: &Connection, request: PromptRequest, cwd: PathBuf) -> Result<StopReason, Error> {
    let session = request.session_id;
    for block in &request.prompt {
        if let ContentBlock::Text(text) = block {
            say(client, &session, &format!("You asked: {}\n", text.text))?;
        }
    }
    update(client, &session, SessionUpdate::ToolCall(ToolCall::new("call", "Copy a file").kind(ToolKind::Edit)))?;
    let options = vec![
        PermissionOption::new("go", "Go on", PermissionOptionKind::AllowOnce),
        PermissionOption::new("stop", "Stop", PermissionOptionKind::RejectOnce),
    ];
    let shown = ToolCallUpdate::new("call", ToolCallUpdateFields::new().title("Copy a file".to_owned()));
    let ask = RequestPermissionRequest::new(session.clone(), shown, options);
    let allowed = match client.send_request(ask).block_task().await?.outcome {
        RequestPermissionOutcome::Selected(chosen) => chosen.option_id.to_string() == "go",
        _ => false,
    };
    if !allowed {
        status(client, &session, ToolCallStatus::Failed, None)?;
        say(client, &session, "Then not.")?;
        return Ok(StopReason::EndTurn);
    }
    let read = ReadTextFileRequest::new(session.clone(), cwd.join("in.txt"));
    let text = client.send_request(read).block_task().await?.content;
    let write = WriteTextFileRequest::new(session.clone(), cwd.join("out.txt"), text.to_uppercase());
    client.send_request(write).block_task().await?;
    let create = CreateTerminalRequest::new(session.clone(), "cat").args(vec!["out.txt".into()]).cwd(cwd);
    let terminal = client.send_request(create).block_task().await?.terminal_id;
    let shown = ToolCallContent::Terminal(Terminal::new(terminal.clone()));
    status(client, &session, ToolCallStatus::InProgress, Some(vec![shown]))?;
    let wait = WaitForTerminalExitRequest::new(session.clone(), terminal.clone());
    let exit = client.send_request(wait).block_task().await?.exit_status;
    let output = TerminalOutputRequest::new(session.clone(), terminal.clone());
    let output = client.send_request(output).block_task().await?.output;
    client.send_request(ReleaseTerminalRequest::new(session.clone(), terminal)).block_task().await?;
    status(client, &session, ToolCallStatus::Completed, None)?;
    say(client, &session, &format!("exit {:?}, output {}", exit.exit_code, output.trim_end()))?;
    Ok(StopReason::EndTurn)
}

fn say(client: &Connection, session: &SessionId, text: &str) -> Result<(), Error> {
    let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
    update(client, session, SessionUpdate::AgentMessageChunk(chunk))
}

fn status(
    client: &Connection,
    session: &SessionId,
    status: ToolCallStatus,
    content: Option<Vec<ToolCallContent>>,
) -> Result<(), Error> {
    let fields = ToolCallUpdateFields::new().status(status).content(content);
    update(client, session, SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("call", fields)))
}

fn update(client: &Connection, session: &SessionId, update: SessionUpdate) -> Result<(), Error> {
    client.send_notification(SessionNotification::new(session.clone(), update))
}

/// The SDK's end of a channel whose other end is this process's standard input and output.
fn stdio() -> Channel {
    let (ours, theirs) = Channel::duplex();
    let (mut from_agent, to_agent) = ours.into_parts();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if to_agent.unbounded_send(TransportFrame::parse_json(&line)).is_err() {
                return;
            }
        }
        // End of input: nobody is left to work for.
        std::process::exit(0);
    });
    tokio::spawn(async move {
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut from_agent).poll_next(cx)).await {
            let Ok(line) = frame.to_json() else { continue };
            let mut stdout = io::stdout().lock();
            if writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_err() {
                return;
            }
        }
    });
    theirs
}
