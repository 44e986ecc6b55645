//! Large updates are decoded by another thread, so that a key need not wait for it.
//!
//! Only updates; what an agent asks for is small or waits for a file anyway. Invariant: nothing that came
//! after such an update is applied before it.

use super::connection::HEAD;
use crate::agent::codec::{Codec, Decoded, SharedCodec};
use crate::wire::frame::Frame;
use crate::wire::pump::Batch;
use tokio::task::{JoinHandle, spawn_blocking};

/// A smaller line is decoded at once; that takes less time than a frame of the screen.
const LARGE: usize = 1 << 20;

#[derive(Debug)]
pub struct Decoding {
    job: JoinHandle<Decoded>,
    /// What its line begins with: the line itself is let go of as soon as it is decoded.
    pub head: String,
    /// What came after it.
    pub rest: Batch,
}

impl Decoding {
    pub fn is_worth_it(codec: &dyn Codec, frame: &Frame, line: &str) -> bool {
        line.len() >= LARGE && matches!(frame, Frame::Notification { method, .. } if codec.is_update(method.as_str()))
    }

    pub fn begin(codec: SharedCodec, frame: Frame, line: &str, rest: Batch) -> Self {
        let head = line.chars().take(HEAD).collect();
        let job = spawn_blocking(move || match frame {
            Frame::Notification { params: Some(params), .. } => codec.update(params.as_str()),
            _ => Err("no parameters".into()),
        });
        Self { job, head, rest }
    }

    /// May be dropped and called again until it has returned.
    pub async fn done(&mut self) -> Decoded {
        (&mut self.job).await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use crate::agent::codec;
    use crate::engine::link::{Agent, memory};
    use crate::engine::{Engine, EngineConfig, LinkWake, Wake};
    use crate::model::entry::Body;
    use crate::model::event::Intent;
    use serde_json::{Value, json};
    use std::time::Duration;

    /// Opens a session and says one large and two small things.
    async fn agent(mut agent: Agent) {
        for result in [json!({ "protocolVersion": 1 }), json!({ "sessionId": "s" })] {
            let call = agent.lines.next_line().await.unwrap().unwrap();
            let call: Value = serde_json::from_str(&call).unwrap();
            agent.lines.send_line(&json!({ "id": call["id"], "result": result }).to_string()).await.unwrap();
        }
        for text in ["a", &"x".repeat(2_000_000), "end"] {
            let content = json!({ "type": "text", "text": text });
            let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
            let params = json!({ "sessionId": "s", "update": update });
            let line = json!({ "method": "session/update", "params": params }).to_string();
            agent.lines.send_line(&line).await.unwrap();
        }
        while agent.lines.next_line().await.unwrap().is_some() {}
    }

    #[tokio::test]
    async fn what_follows_a_large_update_waits_for_it() {
        let cwd = std::env::temp_dir();
        let config = EngineConfig { command: "in this program".into(), cwd, ..EngineConfig::default() };
        let (link, far) = memory();
        let (mut link, far) = (Some(link), tokio::spawn(agent(far)));
        let connect = Box::new(move |_| link.take().unwrap());
        let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
        engine.intent(Intent::Start);
        let said = |engine: &Engine| match engine.model().first().session().entries().last().map(|e| &e.body) {
            Some(Body::Agent(m)) => m.text.clone(),
            _ => String::new(),
        };
        let mut decoded = 0;
        while !said(&engine).ends_with("end") {
            let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
            decoded += usize::from(matches!(wake, Wake::Link(_, LinkWake::Decoded(_))));
            engine.step(wake);
            engine.drain(Duration::from_millis(4));
        }
        assert_eq!(decoded, 1);
        assert_eq!(said(&engine), format!("a{}end", "x".repeat(2_000_000)));
        engine.shutdown().await;
        far.await.unwrap();
    }
}
