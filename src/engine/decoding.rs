//! Large updates are decoded by another thread, so that a key need not wait for it.
//!
//! Only updates; what an agent asks for is small or waits for a file anyway. Invariant: nothing that came
//! after such an update is applied before it.

use crate::agent::codec::{Codec, Decoded, SharedCodec};
use crate::wire::frame::Frame;
use crate::wire::pump::Batch;
use std::sync::Arc;
use tokio::task::{JoinHandle, spawn_blocking};

/// A smaller line is decoded at once; that takes less time than a frame of the screen.
const LARGE: usize = 1 << 20;

#[derive(Debug)]
pub struct Decoding {
    job: JoinHandle<Decoded>,
    pub line: Arc<str>,
    /// What came after it.
    pub rest: Batch,
}

impl Decoding {
    pub fn is_worth_it(codec: &dyn Codec, frame: &Frame, line: &str) -> bool {
        line.len() >= LARGE && matches!(frame, Frame::Notification { method, .. } if codec.is_update(method.as_str()))
    }

    pub fn begin(codec: SharedCodec, frame: Frame, line: Arc<str>, rest: Batch) -> Self {
        let job = spawn_blocking(move || match frame {
            Frame::Notification { params: Some(params), .. } => codec.update(params.as_str()),
            _ => Err("no parameters".into()),
        });
        Self { job, line, rest }
    }

    /// May be dropped and called again until it has returned.
    pub async fn done(&mut self) -> Decoded {
        (&mut self.job).await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Engine, EngineConfig, Wake};
    use crate::host::process::Graces;
    use crate::model::entry::Body;
    use crate::model::event::Intent;
    use crate::model::session::Policy;
    use std::time::Duration;

    /// Opens a session and says one large and two small things.
    const AGENT: &str = r#"
        id() { sed 's/.*"id":\([0-9]*\).*/\1/'; }
        say() { printf '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'; "$@"; printf '"}}}}\n'; }
        large() { head -c 2000000 /dev/zero | tr '\0' x; }
        read -r line; printf '{"id":%s,"result":{"protocolVersion":1}}\n' $(printf %s "$line" | id)
        read -r line; printf '{"id":%s,"result":{"sessionId":"s"}}\n' $(printf %s "$line" | id)
        say printf a; say large; say printf end; read -r line
    "#;

    #[tokio::test]
    async fn what_follows_a_large_update_waits_for_it() {
        let mut engine = Engine::new(EngineConfig {
            command: "sh".into(),
            args: vec!["-c".into(), AGENT.into()],
            env: Vec::new(),
            cwd: std::env::temp_dir(),
            policy: Policy::Ask,
            journals: None,
            record: None,
            suggestion: None,
            install: None,
            shell: None,
            graces: Graces::default(),
            review: None,
            gate: crate::model::changes::Gate::Off,
            private: Vec::new(),
        });
        engine.intent(Intent::Start);
        let said = |engine: &Engine| match engine.model().entries().last().map(|e| &e.body) {
            Some(Body::Agent(m)) => m.text.clone(),
            _ => String::new(),
        };
        let mut decoded = 0;
        while !said(&engine).ends_with("end") {
            let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
            decoded += usize::from(matches!(wake, Wake::Decoded(_)));
            engine.step(wake);
            engine.drain(Duration::from_millis(4));
        }
        assert_eq!(decoded, 1);
        assert_eq!(said(&engine), format!("a{}end", "x".repeat(2_000_000)));
        engine.shutdown().await;
    }
}
