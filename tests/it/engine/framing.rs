//! Another way to tell messages apart: each has a header with its length. Only the link says so.

use super::{config, until};
use crate::support::{chunk, render};
use acp_tui::agent::codec;
use acp_tui::engine::link::{Agent, memory};
use acp_tui::engine::{Engine, EngineConfig};
use acp_tui::model::event::Intent;
use acp_tui::model::session::Phase;
use acp_tui::wire::framing::{Decoded, Decoder, Framing};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Write as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};

const WITH_LENGTH: Framing = Framing { decoder: || Box::new(WithLength::default()), head: write_head, tail: b"" };
const HEADER: &str = "Content-Length: ";

fn write_head(length: usize, out: &mut Vec<u8>) {
    write!(out, "{HEADER}{length}\r\n\r\n").unwrap();
}

#[derive(Default)]
struct WithLength(Vec<u8>);

impl WithLength {
    /// The length of the first header, and of the body behind it.
    fn head(&self) -> Option<(usize, usize)> {
        let end = self.0.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&self.0[..end]).unwrap();
        Some((end + 4, head.strip_prefix(HEADER).unwrap().parse().unwrap()))
    }
}

impl Decoder for WithLength {
    fn push<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Decoded<'a>>) {
        self.0.extend_from_slice(bytes);
        while let Some((head, body)) = self.head().filter(|(head, body)| self.0.len() >= head + body) {
            let message = self.0.drain(..head + body).skip(head);
            // Between the values of JSON only.
            let line: Vec<u8> = message.map(|byte| if byte == b'\n' { b' ' } else { byte }).collect();
            out.push(Decoded::Line(Cow::Owned(line)));
        }
    }

    fn finish(&mut self) -> Option<Decoded<'static>> {
        (!self.0.is_empty()).then(|| Decoded::Line(Cow::Owned(std::mem::take(&mut self.0))))
    }
}

async fn send(agent: &mut Agent, message: Value) {
    // On several lines, as that is nobody's business here.
    let text = serde_json::to_string_pretty(&message).unwrap();
    let mut bytes = Vec::new();
    write_head(text.len(), &mut bytes);
    bytes.extend_from_slice(text.as_bytes());
    // And in pieces.
    for piece in bytes.chunks(7) {
        agent.lines.writer.write_all(piece).await.unwrap();
    }
}

async fn receive(agent: &mut Agent) -> Option<Value> {
    let mut head = String::new();
    if agent.lines.reader.read_line(&mut head).await.unwrap() == 0 {
        return None;
    }
    let length: usize = head.strip_prefix(HEADER).expect(&head).trim_end().parse().unwrap();
    agent.lines.reader.read_line(&mut head).await.unwrap();
    let mut body = vec![0; length];
    agent.lines.reader.read_exact(&mut body).await.unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

/// Says how long each prompt is.
async fn agent(mut agent: Agent) {
    while let Some(got) = receive(&mut agent).await {
        let result = match got["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1 }),
            Some("session/new") => json!({ "sessionId": "s" }),
            Some("session/prompt") => {
                let length = got["params"]["prompt"][0]["text"].as_str().unwrap().len();
                let update = chunk("agent_message_chunk", &format!("{length} bytes\nin all"));
                let params = json!({ "sessionId": "s", "update": update });
                send(&mut agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
                json!({ "stopReason": "end_turn" })
            }
            _ => continue,
        };
        send(&mut agent, json!({ "jsonrpc": "2.0", "id": got["id"], "result": result })).await;
    }
}

#[tokio::test]
async fn messages_with_a_length_in_front_are_understood_and_written_where_the_link_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (root, journals) = (dir.join("project"), dir.join("journals"));
    std::fs::create_dir(&root).unwrap();
    let (mut link, far) = memory();
    link.framing = WITH_LENGTH;
    let agent = tokio::spawn(agent(far));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let config = EngineConfig { journals: Some(journals.clone()), ..config(&root) };
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    // A short message is joined with others, a long one is not copied.
    for length in [2, 100_000] {
        engine.intent(Intent::Prompt { text: "x".repeat(length), links: Vec::new() });
        until(&mut engine, "an answer", |e| {
            let said = format!("agent: {length} bytes\nin all");
            e.model().first().session().turn.is_none() && render(e.model()).contains(&said)
        })
        .await;
    }
    engine.shutdown().await;
    agent.await.unwrap();
    let file = std::fs::read_dir(&journals).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(file).unwrap();
    assert!(journal.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "one message, one line");
}
