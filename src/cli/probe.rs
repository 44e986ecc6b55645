//! Asks a server of tools what it has: starts it, greets it, lists its tools, ends it.
//!
//! Speaks no more of MCP than that. Invariant: it is over within the time given, and the server with it.

use crate::base::inherited::Inherited;
use crate::base::sanitize;
use crate::host::process::{self, AgentSpec, Graces};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

/// Bytes of one message, and messages that are read.
const MAX_LINE: u64 = 4 << 20;
const MAX_LINES: usize = 1000;
/// Tools that are listed, pages in which they come, and characters of a name.
const MAX_TOOLS: usize = 1000;
const MAX_PAGES: usize = 20;
const MAX_NAME: usize = 200;
/// Bytes of what it says on standard error.
const MAX_ERRORS: u64 = 16 << 10;
/// How long it may take to end.
const GRACES: Graces = Graces { stdin: Duration::from_millis(500), term: Duration::from_millis(500) };

#[derive(Debug, Default)]
pub(super) struct Answered {
    /// What it calls itself.
    pub name: Option<String>,
    pub tools: Vec<String>,
}

/// A server that is a program.
pub(super) async fn stdio(
    command: &str,
    args: &[String],
    env: &[(String, String)],
    cwd: &Path,
    patience: Duration,
) -> Result<Answered, String> {
    let spec = AgentSpec {
        command: command.into(),
        args: args.iter().map(Into::into).collect(),
        env: env.to_vec(),
        inherited: Inherited::default(),
        cwd: cwd.to_owned(),
        sandbox: None,
    };
    let mut process = process::spawn(&spec).map_err(|error| error.to_string())?;
    let (Some(input), Some(output), Some(errors)) =
        (process.stdin.take(), process.stdout.take(), process.stderr.take())
    else {
        return Err("it has no input and output".into());
    };
    let errors = tokio::spawn(async move {
        let (mut said, mut rest) = (Vec::new(), errors);
        let _ = (&mut rest).take(MAX_ERRORS).read_to_end(&mut said).await;
        // Read on, so that it does not wait for a reader.
        let _ = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
        said
    });
    let mut talk = Talk { input, output: BufReader::new(output), next: 0 };
    let answered = tokio::time::timeout(patience, talk.ask()).await;
    drop(talk);
    process.look_around();
    process.shutdown(GRACES).await;
    let said =
        tokio::time::timeout(Duration::from_millis(200), errors).await.ok().and_then(Result::ok).unwrap_or_default();
    let last = String::from_utf8_lossy(&said).lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
    let with = |why: String| match last {
        Some(last) => format!("{why}; it says: {}", sanitize::line(&last).chars().take(MAX_NAME).collect::<String>()),
        None => why,
    };
    match answered {
        Ok(answered) => answered.map_err(with),
        Err(_) => Err(with(format!("it did not answer within {} s", patience.as_secs_f64()))),
    }
}

struct Talk<W, R> {
    input: W,
    output: R,
    next: u64,
}

impl<W: tokio::io::AsyncWrite + Unpin, R: tokio::io::AsyncBufRead + Unpin> Talk<W, R> {
    async fn ask(&mut self) -> Result<Answered, String> {
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "acp-tui", "version": env!("CARGO_PKG_VERSION") },
        });
        let result = self.call("initialize", hello).await?;
        let name = result["serverInfo"]["name"].as_str().map(cut);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        let mut answered = Answered { name, tools: Vec::new() };
        if result["capabilities"]["tools"].is_null() {
            return Ok(answered);
        }
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let result = self.call("tools/list", params).await?;
            let tools = result["tools"].as_array().into_iter().flatten();
            answered.tools.extend(tools.filter_map(|tool| tool["name"].as_str()).map(cut));
            answered.tools.truncate(MAX_TOOLS);
            match result["nextCursor"].as_str() {
                Some(cursor) if answered.tools.len() < MAX_TOOLS => params = json!({ "cursor": cursor }),
                _ => break,
            }
        }
        Ok(answered)
    }

    async fn send(&mut self, message: &Value) -> Result<(), String> {
        let gone = |error: std::io::Error| format!("it has closed its input: {error}");
        self.input.write_all(format!("{message}\n").as_bytes()).await.map_err(gone)?;
        self.input.flush().await.map_err(gone)
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await?;
        for _ in 0..MAX_LINES {
            let mut line = Vec::new();
            let read = (&mut self.output).take(MAX_LINE).read_until(b'\n', &mut line).await;
            match read {
                Ok(0) => return Err(format!("it ended before it answered {method}")),
                Ok(_) if !line.ends_with(b"\n") && line.len() as u64 >= MAX_LINE => {
                    return Err("it sent a message of more than 4 MiB".into());
                }
                Ok(_) => {}
                Err(error) => return Err(format!("it cannot be read: {error}")),
            }
            // Lines that are no message, and requests of its own, are passed over.
            let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { continue };
            if message["id"] != json!(id) || message.get("method").is_some() {
                continue;
            }
            if let Some(error) = message.get("error") {
                return Err(format!(
                    "{method} failed: {}",
                    cut(error["message"].as_str().unwrap_or("no reason given"))
                ));
            }
            return Ok(message["result"].take());
        }
        Err(format!("it did not answer {method}, but sent {MAX_LINES} other lines"))
    }
}

fn cut(text: &str) -> String {
    sanitize::line(text).chars().take(MAX_NAME).collect()
}
