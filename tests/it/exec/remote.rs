//! `--url`: an agent that runs already, behind a socket.

use super::support::{Done, Lab};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Serves connections one after the other; a prompt that begins with `break` ends one.
fn serve(socket: &Path) {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            connection(&stream.unwrap());
        }
    });
}

fn connection(mut stream: &UnixStream) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let got: Value = serde_json::from_str(&line).unwrap();
        let result = match got["method"].as_str() {
            Some("initialize") => {
                json!({ "protocolVersion": 1, "agentCapabilities": { "sessionCapabilities": { "resume": {} } } })
            }
            Some("session/new") => json!({ "sessionId": "s" }),
            Some("session/prompt") => {
                let text = got["params"]["prompt"][0]["text"].as_str().unwrap();
                if text.starts_with("break") {
                    return;
                }
                let content = json!({ "type": "text", "text": format!("heard {text}") });
                let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
                let params = json!({ "sessionId": "s", "update": update });
                writeln!(stream, "{}", json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
                    .unwrap();
                json!({ "stopReason": "end_turn" })
            }
            _ => json!({}),
        };
        if got["id"].is_u64() {
            writeln!(stream, "{}", json!({ "jsonrpc": "2.0", "id": got["id"], "result": result })).unwrap();
        }
    }
}

/// Serves connections one after the other: what is said to a message on the connection of this number, and whether it goes on.
fn serve_with(socket: &Path, say: impl Fn(usize, &Value) -> (Vec<Value>, bool) + Send + 'static) {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
                let (said, goes_on) = say(number, &serde_json::from_str(&line).unwrap());
                for message in said {
                    writeln!(stream, "{message}").unwrap();
                }
                if !goes_on {
                    break;
                }
            }
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    });
}

fn answer(got: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": got["id"], "result": result })
}

fn update(update: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } })
}

fn exec(lab: &Lab, args: &[&str]) -> Done {
    lab.exec(args, &[])
}

#[test]
fn s_060_an_agent_behind_a_socket_answers_and_goes_on_at_the_same_address() {
    let lab = Lab::new();
    serve(&lab.path("agent.sock"));
    let done = exec(&lab, &["one", "--json", "--url", "unix:../agent.sock"]);
    let session: Value = serde_json::from_str(done.assert_code(0).out().lines().next().unwrap()).unwrap();
    assert_eq!(
        (&session["type"], &session["transport"], &session["dialect"]),
        (&json!("session"), &json!("unix"), &json!("canonical"))
    );
    // The journal has the whole address.
    let done = exec(&lab, &["two", "--continue"]);
    assert_eq!(done.assert_code(0).out(), "heard two\n");
    let address = format!("unix:{}", lab.path("agent.sock").display());
    lab.write("config/acp-tui/config.toml", &format!("default_agent = \"far\"\n[agents.far]\nurl = {address:?}\n"));
    assert_eq!(exec(&lab, &["three"]).assert_code(0).out(), "heard three\n");
}

#[test]
fn s_063_a_connection_that_is_lost_is_told_and_ends_with_5() {
    let lab = Lab::new();
    serve(&lab.path("agent.sock"));
    let done = exec(&lab, &["break it", "--url", "unix:../agent.sock"]);
    assert!(done.assert_code(5).err().contains("nothing says that the turn still runs"), "{}", done.err());
    assert!(done.err().contains("the agent has closed the connection; it is tried again in 1."), "{}", done.err());
    let done = exec(&lab, &["hi", "--url", "unix:../none.sock"]);
    assert!(done.assert_code(5).err().contains("there is no such socket; is the agent running?"), "{}", done.err());
    let done = exec(&lab, &["hi", "--url", "tcp:7"]);
    assert!(
        done.assert_code(2).err().contains("is no address of an agent; one is unix:PATH or https://HOST/PATH"),
        "{}",
        done.err()
    );
}

#[test]
fn s_076_a_header_that_cannot_be_sent_is_refused_without_its_value() {
    let lab = Lab::new();
    let config = "[agents.far]\nurl = \"wss://localhost:1/\"\nheaders = { A-Token = \"${NOT_SET} top-secret\" }\n";
    lab.write("config/acp-tui/config.toml", config);
    for (args, why) in [
        (&["hi", "--agent", "far"][..], "the header a-token needs NOT_SET, not set"),
        (&["hi", "--url", "unix:/a", "--header", "A: top-secret"], "a socket of this machine takes no headers"),
        (&["hi", "--header", "A: top-secret", "--", "x"], "are for an agent at an address (--url)"),
        (&["hi", "--url", "ws://localhost:1", "--header", "top-secret"], "a header is written as 'NAME: VALUE'"),
        (&["hi", "--url", "ws://localhost:1", "--transport", "http"], "over websocket, not over http"),
        (&["hi", "--url", "ws://example.com/"], "without encryption only this machine is reached; use wss:"),
    ] {
        let done = exec(&lab, args);
        assert!(done.assert_code(2).err().contains(why), "{args:?}: {}", done.err());
        assert!(!done.err().contains("top-secret"), "{args:?}: {}", done.err());
    }
    assert_eq!(std::fs::read_dir(lab.sessions()).map_or(0, Iterator::count), 0);
}

#[test]
fn s_063_s_145_a_connection_that_breaks_before_the_prompt_is_opened_again() {
    let lab = Lab::new();
    serve_with(&lab.path("agent.sock"), |number, got| match got["method"].as_str() {
        Some("initialize") => (vec![answer(got, json!({ "protocolVersion": 1 }))], true),
        Some("session/new") if number == 0 => (Vec::new(), false),
        Some("session/new") => (vec![answer(got, json!({ "sessionId": "s" }))], true),
        Some("session/prompt") => (vec![answer(got, json!({ "stopReason": "end_turn" }))], true),
        _ => (Vec::new(), true),
    });
    let done = exec(&lab, &["one", "--url", "unix:../agent.sock"]);
    let told = "the agent has closed the connection; it is tried again in 1.";
    assert!(done.assert_code(0).err().contains(told), "{}", done.err());
}

/// An agent whose turn goes on while its first connection is cut.
fn lasting(number: usize, got: &Value) -> (Vec<Value>, bool) {
    let state = |state: &str, stop: Value| {
        update(json!({ "sessionUpdate": "state_update", "state": state, "stopReason": stop }))
    };
    let text = |text: &str| {
        let content = json!({ "type": "text", "text": text });
        update(json!({ "sessionUpdate": "agent_message_chunk", "messageId": text, "content": content }))
    };
    match (number, got["method"].as_str()) {
        (_, Some("initialize")) => {
            let capabilities = json!({ "session": { "resume": {} } });
            let result = json!({ "protocolVersion": 2, "capabilities": capabilities, "info": { "name": "far", "version": "1" } });
            (vec![answer(got, result)], true)
        }
        (_, Some("session/new")) => (vec![answer(got, json!({ "sessionId": "s" }))], true),
        (0, Some("session/prompt")) => {
            (vec![answer(got, json!({ "messageId": "u" })), state("running", Value::Null), text("half ")], false)
        }
        (1, Some("session/resume")) => (
            vec![
                answer(got, json!({})),
                state("running", Value::Null),
                text("whole"),
                state("idle", json!("end_turn")),
            ],
            true,
        ),
        (_, Some(method)) => panic!("{method} on connection {number}"),
        _ => (Vec::new(), true),
    }
}

#[test]
fn s_063_a_turn_that_still_runs_when_its_session_is_there_again_is_waited_for() {
    let lab = Lab::new();
    serve_with(&lab.path("agent.sock"), lasting);
    is_waited_for(&lab, "unix:../agent.sock");
    #[cfg(feature = "remote")]
    is_waited_for(&lab, &format!("ws://127.0.0.1:{}/", serve_websocket(lasting)));
}

fn is_waited_for(lab: &Lab, address: &str) {
    let done = exec(lab, &["one", "--url", address, "--protocol", "2"]);
    assert_eq!(done.assert_code(0).out(), "half \n\nwhole\n", "{address}");
    // That it still runs is said where it has not ended by then.
    assert!(done.err().contains("it is tried again"), "{address}: {}", done.err());
}

/// The same as [`serve_with`] over WebSocket; gives its port.
#[cfg(feature = "remote")]
fn serve_websocket(say: impl Fn(usize, &Value) -> (Vec<Value>, bool) + Send + 'static) -> u16 {
    use futures_util::{SinkExt as _, StreamExt as _};
    use tokio_tungstenite::tungstenite::Message;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let serve = async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        for number in 0.. {
            let Ok((stream, _)) = listener.accept().await else { return };
            let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { continue };
            while let Some(Ok(message)) = socket.next().await {
                let Message::Text(line) = message else { continue };
                let (said, goes_on) = say(number, &serde_json::from_str(&line).unwrap());
                for message in said {
                    socket.send(Message::text(message.to_string())).await.unwrap();
                }
                if !goes_on {
                    break;
                }
            }
        }
    };
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(serve);
    });
    port
}
