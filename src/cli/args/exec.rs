//! What stands behind `exec`.

use super::super::flags::Typed;
use super::super::usage::Usage;
use super::{Common, common};
use crate::model::session::Allow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Agents that one prompt is given to.
const MAX_FAN_OUT: usize = 5;

#[derive(Debug, PartialEq, Eq)]
pub struct Exec {
    pub common: Common,
    /// `-` is standard input.
    pub prompt: String,
    pub json: bool,
    pub allow: Allow,
    /// What it is held to.
    pub rules: Option<PathBuf>,
    pub mode: Option<String>,
    pub config: Vec<(String, String)>,
    pub timeout: Option<Duration>,
    /// Answers to forms of the agent.
    pub answers: Option<PathBuf>,
    /// Where the report of the changes goes.
    pub review: Option<PathBuf>,
    /// Where a patch of the changes goes.
    pub patch: Option<PathBuf>,
    /// Agents that all get the prompt, each in a worktree of its own; none for the usual way.
    pub fan_out: Vec<String>,
    /// A session that cannot go on is begun anew, with an account of it.
    pub with_transcript: bool,
    /// Files that go along with the prompt.
    pub attach: Vec<PathBuf>,
}

pub fn exec(prompt: Option<String>, mut typed: Typed, agent: Vec<OsString>) -> Result<Exec, Usage> {
    let prompt = prompt.ok_or_else(|| Usage("no prompt; `-` reads it from standard input".into()))?;
    if prompt.trim().is_empty() {
        return Err(Usage("the prompt is empty".into()));
    }
    if typed.resumes && typed.resume.is_none() {
        return Err(Usage("which session? `exec` needs `--resume ID`; `acp-tui sessions` lists them".into()));
    }
    let fan_out = fan_out(&mut typed, &agent)?;
    if typed.with_transcript && !typed.resumes && !typed.goes_on {
        return Err(Usage("`--with-transcript` is for `--continue` and `--resume ID`".into()));
    }
    Ok(Exec {
        prompt,
        json: typed.json,
        // Where there are rules, what none of them allows is refused.
        allow: typed.allow.unwrap_or(if typed.rules.is_some() { Allow::Rules } else { Allow::Reads }),
        rules: typed.rules.take(),
        mode: typed.mode.take(),
        config: std::mem::take(&mut typed.config),
        timeout: typed.timeout,
        answers: typed.answers.take(),
        review: typed.review.take(),
        patch: typed.patch.take(),
        fan_out,
        with_transcript: typed.with_transcript,
        attach: std::mem::take(&mut typed.attach),
        common: common(typed, agent)?,
    })
}

/// The agents of `--fan-out`, which decides much by itself.
fn fan_out(typed: &mut Typed, agent: &[OsString]) -> Result<Vec<String>, Usage> {
    let Some(agents) = typed.fan_out.take() else { return Ok(Vec::new()) };
    if !(2..=MAX_FAN_OUT).contains(&agents.len()) {
        return Err(Usage(format!("--fan-out takes two to {MAX_FAN_OUT} agents, e.g. --fan-out one,two")));
    }
    let others = [
        (!agent.is_empty(), "a command after `--`"),
        (typed.agent.is_some(), "--agent"),
        (typed.reach.url.is_some(), "--url"),
        (typed.record.is_some(), "--record"),
        (typed.review.is_some(), "--review"),
        (typed.patch.is_some(), "--patch"),
        (typed.worktree.is_some(), "a name for --worktree"),
        (typed.resumes, "--resume"),
        (typed.goes_on, "--continue"),
    ];
    if let Some((_, other)) = others.iter().find(|(is_given, _)| *is_given) {
        return Err(Usage(format!("--fan-out begins a session in a worktree for each agent; leave out {other}")));
    }
    // Each is in one.
    typed.in_worktree = true;
    Ok(agents)
}
