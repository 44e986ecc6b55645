//! Agents behind a socket: what they are offered, what they get, and what becomes of a connection that breaks.

use super::{config, until};
use crate::support::schema::Watched;
use crate::support::{chunk, render};
use acp_tui::engine::{Engine, EngineConfig, ServersConfig};
use acp_tui::model::agent::DeathKind;
use acp_tui::model::event::Intent;
use acp_tui::model::session::Phase;
use acp_tui::remote::Remote;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

/// What was heard, with the number of the connection.
type Heard = Arc<Mutex<Vec<(usize, Value)>>>;

/// Asks for a file in the first turn of its life, and then breaks the connection; later turns are echoed.
async fn serve(number: usize, stream: UnixStream, heard: Heard, file: String) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut watched = Watched::default();
    while let Ok(Some(line)) = lines.next_line().await {
        let got: Value = serde_json::from_str(&line).unwrap();
        watched.sent(&got);
        heard.lock().unwrap().push((number, got.clone()));
        let mut said = Vec::new();
        let result = match got["method"].as_str() {
            Some("initialize") => {
                let ways = json!([
                    { "id": "shell", "name": "In a terminal", "type": "terminal" },
                    { "id": "web", "name": "On the web" }
                ]);
                json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true }, "authMethods": ways })
            }
            Some("session/new") => json!({ "sessionId": "s" }),
            Some("session/load") => Value::Null,
            Some("session/prompt") if number == 0 => {
                let params = json!({ "sessionId": "s", "path": file });
                let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": params });
                write.write_all(format!("{ask}\n").as_bytes()).await.unwrap();
                continue;
            }
            Some("session/prompt") => {
                let update = chunk("agent_message_chunk", got["params"]["prompt"][0]["text"].as_str().unwrap());
                let params = json!({ "sessionId": "s", "update": update });
                said.push(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
                json!({ "stopReason": "end_turn" })
            }
            // The file has been read or refused.
            _ => return,
        };
        said.push(json!({ "jsonrpc": "2.0", "id": got["id"], "result": result }));
        for message in said {
            write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
    }
}

/// An engine whose agent is behind a socket that has such a server.
fn begun(dir: &TempDir, files: bool) -> (Engine, Heard) {
    let dir = dir.path().canonicalize().unwrap();
    let (root, socket) = (dir.join("project"), dir.join("agent.sock"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.txt"), "on this disk").unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let heard = Heard::default();
    let (all, file) = (Arc::clone(&heard), root.join("a.txt").to_str().unwrap().to_owned());
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            serve(number, stream, Arc::clone(&all), file.clone()).await;
        }
    });
    let mut config: EngineConfig = config(&root);
    config.command = format!("unix:{}", socket.display());
    let remote = Remote::read(&config.command).map(|remote| Remote { files, ..remote });
    config.reach.remote = Some(remote);
    let find = |_: &Path, _: Option<&str>| panic!("no servers of this machine are looked for");
    config.servers = Some(ServersConfig { find: Arc::new(find), agent: "far".into() });
    let mut engine = Engine::new(config);
    engine.intent(Intent::Start);
    (engine, heard)
}

async fn until_ready(engine: &mut Engine) {
    until(engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
}

async fn until_lost(engine: &mut Engine) {
    until(engine, "the loss", |e| matches!(e.model().first().phase(), Phase::Dead(_))).await;
}

fn prompt(engine: &mut Engine, text: &str) {
    engine.intent(Intent::Prompt { text: text.into(), links: Vec::new() });
}

#[tokio::test]
async fn s_061_s_062_nothing_of_this_machine_is_offered_or_served() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, heard) = begun(&dir, false);
    until_ready(&mut engine).await;
    let agent = engine.model().first().agent().clone();
    assert_eq!(agent.transport().word(), "unix");
    assert_eq!(agent.auth_methods.iter().map(|way| way.id.as_str()).collect::<Vec<_>>(), ["web"]);
    prompt(&mut engine, "read it");
    until_lost(&mut engine).await;
    engine.shutdown().await;
    let heard = heard.lock().unwrap();
    let offered = &heard[0].1["params"]["clientCapabilities"];
    assert_eq!((&offered["fs"], &offered["terminal"]), (&Value::Null, &Value::Null));
    assert_eq!((&offered["auth"]["terminal"], &offered["_meta"]["terminal-auth"]), (&Value::Null, &Value::Null));
    assert!(offered["elicitation"].is_object(), "the person can be asked");
    assert_eq!(heard[1].1["params"]["mcpServers"], json!([]));
    let answer = &heard[3].1;
    assert!(answer["error"]["message"].as_str().unwrap().contains("files of this machine"), "{answer}");
}

#[tokio::test]
async fn s_062_files_are_served_where_the_person_has_switched_them_on() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, heard) = begun(&dir, true);
    until_ready(&mut engine).await;
    prompt(&mut engine, "read it");
    until_lost(&mut engine).await;
    engine.shutdown().await;
    let heard = heard.lock().unwrap();
    let offered = &heard[0].1["params"]["clientCapabilities"];
    assert_eq!((&offered["fs"]["readTextFile"], &offered["terminal"]), (&json!(true), &Value::Null));
    assert_eq!(heard[3].1["result"], json!({ "content": "on this disk" }));
}

#[tokio::test]
async fn s_063_s_145_a_connection_that_breaks_is_opened_again_and_nothing_is_said_twice() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, heard) = begun(&dir, false);
    until_ready(&mut engine).await;
    prompt(&mut engine, "one");
    until_lost(&mut engine).await;
    let Phase::Dead(death) = engine.model().first().phase() else { panic!("it is lost") };
    assert_eq!((death.kind, death.message.as_str()), (DeathKind::Lost, "the agent has closed the connection"));
    assert!(engine.model().first().agent().revival.is_some(), "it is tried again in the middle of a turn, too");
    // Sooner than by itself.
    engine.intent(Intent::Restart);
    until_ready(&mut engine).await;
    prompt(&mut engine, "two");
    until(&mut engine, "an answer", |e| render(e.model()).iter().any(|entry| entry == "agent: two")).await;
    engine.shutdown().await;
    let heard = heard.lock().unwrap();
    let calls: Vec<(usize, &str)> = heard.iter().filter_map(|(n, got)| Some((*n, got["method"].as_str()?))).collect();
    assert_eq!(
        calls,
        [
            (0, "initialize"),
            (0, "session/new"),
            (0, "session/prompt"),
            (1, "initialize"),
            (1, "session/load"),
            (1, "session/prompt"),
        ]
    );
    assert_eq!(heard.last().unwrap().1["params"]["prompt"][0]["text"], "two");
}
