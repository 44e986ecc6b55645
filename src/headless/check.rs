//! `agents check`: starts an agent, has it open a session, and tells what it says of itself.
//!
//! Sends no prompt. Invariant: every way out goes through the engine's shutdown.

use super::code;
use super::verdict::{Verdict, auth_verdict, death_verdict};
use crate::engine::wait::{Signals, sleep_until};
use crate::engine::{Engine, Goodbye};
use crate::model::event::{AgentCaps, Can, Intent};
use crate::model::session::Phase;
use std::io;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Checked {
    pub code: u8,
    /// One line, and what follows from it.
    pub words: String,
    pub detail: Vec<String>,
    /// Its own name and version.
    pub agent: Option<String>,
    pub can: Vec<&'static str>,
    /// The ways that it offers.
    pub log_in: Vec<String>,
    pub goodbye: Goodbye,
}

/// `name` is the name by which the agent was chosen.
pub async fn run(mut engine: Engine, name: &str, patience: Duration) -> io::Result<Checked> {
    let mut signals = Signals::listen()?;
    let deadline = Some(Instant::now() + patience);
    engine.intent(Intent::Start);
    let verdict = loop {
        let session = engine.model().first();
        match session.phase() {
            Phase::Dead(death) => break death_verdict(death),
            Phase::Ready => break Verdict::new(code::OK, "it opens a session"),
            Phase::AuthNeeded => {
                let error = session.log_in().map(|log_in| log_in.error.clone());
                break match error {
                    Some(error) => auth_verdict(session, &error, name),
                    None => Verdict::new(code::AUTH, "it wants a log-in"),
                };
            }
            _ => {}
        }
        tokio::select! {
            biased;
            signal = signals.next() => break Verdict::new(signal.exit_code(), "interrupted"),
            () = sleep_until(deadline) => {
                let words = format!("it has opened no session within {} s", patience.as_secs_f64());
                break Verdict::new(code::TIMEOUT, words);
            }
            wake = engine.next() => {
                engine.step(wake);
            }
        }
    };
    let agent = engine.model().first().agent();
    let label = agent.title.as_ref().or(agent.name.as_ref()).map(|label| match &agent.version {
        Some(version) => format!("{label} {version}"),
        None => label.clone(),
    });
    let (can, log_in) = (can(&agent.caps), agent.auth_methods.iter().map(|method| method.id.clone()).collect());
    let Verdict { code, words, detail, .. } = verdict;
    engine.leave_nothing(code::hangs_up(code));
    Ok(Checked { code, words, detail, agent: label, can, log_in, goodbye: engine.shutdown().await })
}

fn can(caps: &AgentCaps) -> Vec<&'static str> {
    let takes = [
        (caps.image, "images"),
        (caps.audio, "sound"),
        (caps.embedded_context, "embedded texts"),
        (caps.mcp_http, "MCP over http"),
        (caps.mcp_sse, "MCP over sse"),
        (caps.log_out, "log out"),
    ];
    let takes = takes.into_iter().filter_map(|(is, what)| is.then_some(what));
    takes.chain(Can::ALL.into_iter().filter(|what| caps.sessions.has(*what)).map(Can::word)).collect()
}
