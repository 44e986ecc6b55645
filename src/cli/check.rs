//! `acp-tui check`: what an agent does against the protocol.
//!
//! Writes nothing but into a directory of its own, unless the person names another. Invariant: an interrupt ends the agent,
//! too.

use super::args::{Check, Form};
use super::launch::{self, Surroundings};
use super::output::{print, say};
use super::runtime;
use super::usage::Usage;
use crate::base::paths::visible;
use crate::conformance::{self, Asked, Limits, Verdict, Version};
use crate::engine::Framing;
use crate::headless::{code, stop};
use crate::host::process::AgentSpec;

/// The agent violates something.
const VIOLATES: u8 = 1;
const PROMPT: &str = "Answer with the word ready and nothing else. Do not use any tool.";
const LONG_PROMPT: &str = "Count from 1 to 500 in words, a number on each line. Do not use any tool.";

pub fn run(asked: &Check) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    let missing = || Usage("which agent? --agent NAME, or its command after `--`".into());
    let agent = launch::named_agent(&asked.common, &surroundings.config)?.ok_or_else(missing)?;
    if agent.reach.url.is_some() {
        return Err(Usage("check starts the agent and ends it; give a command, not an address".into()));
    }
    let fault = |error: std::io::Error| Usage(format!("no directory for the session: {error}"));
    // Removed at the end.
    let own = match asked.common.cwd {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("acp-tui-check-").tempdir().map_err(fault)?),
    };
    let cwd = match &own {
        Some(dir) => dir.path().canonicalize().map_err(fault)?,
        None => launch::directory(&asked.common)?,
    };
    let text =
        cwd.to_str().ok_or_else(|| Usage("the directory's name is no text, which agents cannot be told".into()))?;
    let home = surroundings.dirs.as_ref().and_then(|dirs| dirs.home.as_deref());
    let prompt = |at: usize, usual: &str| {
        asked.prompts.get(at).or(asked.prompts.last()).cloned().unwrap_or_else(|| usual.to_owned())
    };
    let here = std::env::current_dir().map_err(|error| Usage(format!("this directory is gone: {error}")))?;
    let limits = Limits::default();
    let spoken = asked.common.spoken.or(&agent.spoken);
    let version = if spoken.protocol.as_deref() == Some("2") { Version::Two } else { Version::One };
    let what = Asked {
        version,
        framing: agent.reach.framing.as_deref().and_then(Framing::named).unwrap_or_default(),
        prompts: [prompt(0, PROMPT), prompt(1, LONG_PROMPT)],
        allow: asked.allow,
        limits: asked.timeout.map_or(limits, |most| limits.within(most)),
        cwd: text.to_owned(),
        agent: AgentSpec {
            // Paths that were typed are meant from here.
            cwd: launch::start_in(&agent, home).unwrap_or(here),
            command: agent.command.clone().into(),
            args: agent.args.into_iter().map(Into::into).collect(),
            env: agent.env.into_iter().collect(),
            inherited: agent.inherited,
            sandbox: None,
        },
    };
    say(&format!("checking `{}` in {}", agent.command, visible(cwd.as_os_str())));
    let runtime = runtime::start()?;
    let report = runtime.block_on(async {
        tokio::select! {
            report = conformance::run(&what) => Ok(report),
            code = stop::interrupted() => Err(code),
        }
    });
    runtime.shutdown_background();
    let report = match report {
        Ok(report) => report,
        Err(code) => {
            say("interrupted");
            return Ok(code.unwrap_or(code::OWN_FAULT));
        }
    };
    let text = match asked.form {
        Form::Text => report.as_text(),
        Form::Json => report.as_json(),
        Form::Junit => report.as_junit(),
    };
    let written = print(&text)?;
    Ok(match report.verdict() {
        Verdict::Conforms => written,
        Verdict::Violates => VIOLATES,
        Verdict::DoesNotStart => code::NO_SESSION,
    })
}
