//! Starting an agent, and why it could not be started.
//!
//! Knows nothing of its end. Invariant: either a process runs that leads a session and a group of its own, or there is an error and
//! nothing.

use std::any::Any;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use process_wrap::tokio::{CommandWrap, ProcessSession};
use tokio::process::{Child, Command};

use super::family::{AGENT_MARK, agent_mark, run_mark};
use super::sandbox::{Sandbox, Unconfined, within};
use super::shutdown::AgentProcess;
use crate::base::inherited::Inherited;

/// Bytes that an agent may have written before it has to wait for us: the larger, the fewer switches between the two processes.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PIPE: usize = 256 << 10;

#[derive(Debug, Clone)]
pub struct AgentSpec {
    pub command: OsString,
    pub args: Vec<OsString>,
    /// Added to our own environment.
    pub env: Vec<(String, String)>,
    /// What of our own environment it gets.
    pub inherited: Inherited,
    pub cwd: PathBuf,
    /// What it may write, where that is confined.
    pub sandbox: Option<Sandbox>,
}

/// Why an agent could not be started; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("{command} was not found: install it, or give its full path")]
    NotFound { command: String },
    #[error("{command} exists but cannot be started: the interpreter its first line names is missing")]
    NoInterpreter { command: String },
    #[error("{command} may not be executed: check its permissions (chmod +x)")]
    NotExecutable { command: String },
    #[error("the working directory {} does not exist or is not a directory", .cwd.display())]
    NoDirectory { cwd: PathBuf },
    #[error("{command} is not started: {source}")]
    Unconfined {
        command: String,
        #[source]
        source: Unconfined,
    },
    #[error("{command} could not be started: {source}")]
    Other {
        command: String,
        #[source]
        source: io::Error,
    },
}

/// Variables of our own environment that a program does not get. A name that is no text only passes where all do.
pub fn kept_back(inherited: &Inherited) -> impl Iterator<Item = OsString> + use<'_> {
    std::env::vars_os().map(|(name, _)| name).filter(|name| !inherited.has(&name.to_string_lossy()))
}

/// Starts an agent. Must be called inside the runtime.
pub fn spawn(spec: &AgentSpec) -> Result<AgentProcess, SpawnError> {
    if !spec.cwd.is_dir() {
        return Err(SpawnError::NoDirectory { cwd: spec.cwd.clone() });
    }
    let mut command = Command::new(&spec.command);
    kept_back(&spec.inherited).for_each(|name| _ = command.env_remove(name));
    let mark = agent_mark();
    command
        .args(&spec.args)
        .envs(run_mark())
        .envs(mark.iter().map(|mark| (AGENT_MARK, mark)))
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&spec.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let begun = within(spec.sandbox.as_ref(), move || in_own_session(command))
        .map_err(|source| SpawnError::Unconfined { command: spec.command.to_string_lossy().into_owned(), source })?;
    let child = begun.map_err(|error| explain(spec, error))?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(out) = &child.stdout {
        // Where the kernel gives no more, the pipe stays as it is.
        let _ = rustix::pipe::fcntl_setpipe_size(out, PIPE);
    }
    Ok(AgentProcess::new(child, mark))
}

/// Without the terminal of this program, which nothing that it starts is to write to, set up or be stopped for.
fn in_own_session(command: Command) -> io::Result<Child> {
    let child = CommandWrap::from(command).wrap(ProcessSession).spawn()?;
    // What the wrapper adds is an end that it takes care of itself.
    let child: Box<dyn Any> = child.into_inner();
    child.downcast().map(|child| *child).map_err(|_| io::Error::other("it is not the process that was started"))
}

pub(super) fn explain(spec: &AgentSpec, source: io::Error) -> SpawnError {
    let command = spec.command.to_string_lossy().into_owned();
    match source.kind() {
        io::ErrorKind::NotFound if command.contains('/') && spec.cwd.join(Path::new(&spec.command)).is_file() => {
            SpawnError::NoInterpreter { command }
        }
        io::ErrorKind::NotFound => SpawnError::NotFound { command },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { command },
        _ => SpawnError::Other { command, source },
    }
}
