//! Servers of tools that the person switches off for a session.

use super::many::reply;
use super::{config, until};
use crate::support::between::memory;
use acp_tui::agent::codec;
use acp_tui::engine::link::Agent;
use acp_tui::engine::{Engine, EngineConfig, ServersConfig};
use acp_tui::mcp::{Found, How, ResolvedServer, Server};
use acp_tui::model::event::Intent;
use acp_tui::model::session::Phase;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Opens sessions, and tells with which servers.
async fn agent(mut agent: Agent, told: mpsc::Sender<Value>) {
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let mut got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => reply(&mut agent, &got, json!({ "protocolVersion": 1 })).await,
            Some("session/new") => {
                reply(&mut agent, &got, json!({ "sessionId": "s" })).await;
                told.send(got["params"]["mcpServers"].take()).await.unwrap();
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_server_that_is_switched_off_is_given_no_more_when_the_session_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (tell, mut told) = mpsc::channel(4);
    let connect = Box::new(move |_| {
        let (link, far) = memory();
        tokio::spawn(agent(far, tell.clone()));
        link
    });
    let server = |name: &str| {
        let how = How::Stdio { command: "/bin/sh".into(), args: Vec::new(), env: Vec::new() };
        let server = Server { name: name.into(), how, is_disabled: false, agents: Vec::new() };
        ResolvedServer { written: server.clone(), filled: server }
    };
    let find = Arc::new(move |_: &std::path::Path, _: Option<&str>| Found {
        servers: vec![server("db"), server("docs")],
        remarks: Vec::new(),
    });
    let servers = ServersConfig { find, agent: "a".into() };
    let config = EngineConfig { servers: Some(servers), ..config(&root) };
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::Start);
    let mut names = Vec::new();
    for switch in [None, Some(false), Some(true)] {
        if let Some(on) = switch {
            engine.intent(Intent::SwitchServer { name: "db".into(), on });
            engine.intent(Intent::SwitchServer { name: "none".into(), on });
            engine.intent(Intent::Restart);
        }
        until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
        let given = told.recv().await.unwrap();
        let all = given.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        names.push(all.collect::<Vec<_>>().join(" "));
    }
    assert_eq!(names, ["db docs", "docs", "db docs"]);
    let all: Vec<(String, bool)> =
        engine.model().first().session().servers.all().map(|(name, on)| (name.to_owned(), on)).collect();
    assert_eq!(all, [("db".to_owned(), true), ("docs".to_owned(), true)]);
    engine.shutdown().await;
}
