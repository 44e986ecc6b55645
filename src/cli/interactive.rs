//! A session that a person answers, on the full screen or in lines: its directory, its rules, servers and limits.
//!
//! Starts nothing and draws nothing. Invariant: both ways to draw begin with the same settings.

use super::args::Common;
use super::launch::{self, DEMO, Surroundings};
use super::usage::Usage;
use super::{rules, servers, spent, worktrees};
use crate::config::agents::AgentCommand;
use crate::engine::{EngineConfig, Hook};
use crate::model::changes::Gate;
use crate::model::event::Opening;
use crate::model::session::Policy;
use std::path::PathBuf;
use tempfile::TempDir;

pub(super) struct Interactive {
    pub config: EngineConfig,
    /// What the person is told at its beginning.
    pub warnings: Vec<String>,
    /// The demo writes: it has a directory of its own, removed when this is dropped.
    pub demo: Option<TempDir>,
}

/// Makes the worktree that the command line asks for.
pub(super) fn prepare(
    common: &Common,
    surroundings: &Surroundings,
    agent: AgentCommand,
    cwd: PathBuf,
    opening: &Opening,
) -> Result<Interactive, Usage> {
    let mut warnings = Vec::new();
    let demo = if agent.name == DEMO { Some(launch::demo_directory()?) } else { None };
    let cwd = match (&demo, &common.worktree) {
        (Some(_), Some(_)) => {
            return Err(Usage("the demo has a directory of its own; leave out --worktree".into()));
        }
        (Some(dir), None) => dir.path().canonicalize().map_err(|e| Usage(e.to_string()))?,
        (None, Some(wanted)) => {
            let made = worktrees::for_session(wanted, &cwd)?;
            warnings.extend(made.remarks);
            made.cwd
        }
        (None, None) => cwd,
    };
    let hook = surroundings.config.decision_hook.clone().map(Hook::new);
    let (rules, wrong) = rules::of_session(&cwd, &agent.name, hook, surroundings.dirs.as_ref());
    warnings.extend(wrong);
    let (rules, unknown) = launch::with_names(rules, &agent, &cwd, surroundings);
    warnings.extend(unknown);
    let servers = servers::of_session(common, surroundings, &agent.name)?;
    let mut config = launch::engine_config(agent, cwd, Policy::Ask, common, surroundings.dirs.as_ref())?;
    warnings.extend(launch::own_program(&config, surroundings));
    launch::keep_within_limits(surroundings, opening);
    config.budget = spent::budget(surroundings);
    config.gate = surroundings.config.gate.as_deref().and_then(Gate::from_name).unwrap_or_default();
    config.rules = Some(rules);
    config.unstable = surroundings.config.unstable;
    config.keeps_form_answers = surroundings.config.keeps_form_answers;
    config.servers = Some(servers);
    Ok(Interactive { config, warnings, demo })
}
