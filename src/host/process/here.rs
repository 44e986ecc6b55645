//! A program that takes the person's terminal until it ends.
//!
//! It stays in our group, so that the keys that interrupt reach it; we wait for it after any signal to us, and
//! the guard knows it.

use std::io;
use std::process::Command;

use super::guard::tell_guard_of_program;
use super::spawn::{AgentSpec, SpawnError, explain, kept_back};
use crate::base::exit::Exit;
use crate::base::signal;
use std::os::unix::process::ExitStatusExt as _;

/// # Errors
/// When it cannot be started.
pub fn run_here(spec: &AgentSpec) -> Result<Exit, SpawnError> {
    let mut command = Command::new(&spec.command);
    kept_back(&spec.inherited).for_each(|name| _ = command.env_remove(name));
    command.args(&spec.args).envs(spec.env.iter().map(|(name, value)| (name, value))).current_dir(&spec.cwd);
    let cannot = |error: io::Error| explain(spec, error);
    let mut child = command.spawn().map_err(cannot)?;
    tell_guard_of_program(child.id(), true);
    let status = child.wait();
    tell_guard_of_program(child.id(), false);
    let status = status.map_err(cannot)?;
    let name = status.signal().map(signal::name);
    Ok(Exit { code: status.code().map(i64::from), signal: name })
}
