//! The scripted agent: an ACP agent whose every move is written in a TOML file, in version 1 and 2 of the protocol.
//!
//! It is what `acp-tui demo` talks to, a subprocess like any other agent, and what tests use to see delays, disorder,
//! corruption and death. It deliberately knows nothing of the client's rooms and shares no code with them: JSON lines
//! are built and read with serde_json alone.
//! Invariant: in version 1 it changes no file but the one in which a script has it keep its sessions; everything else goes
//! through the client. In version 2, which has no way through the client, it changes the files that a script names, in the
//! session's directory. It runs no command by itself. A recording is played as an agent, too ([`play_stdio`]).

mod agent;
mod peer;
mod play;
mod recorded;
mod script;
mod second;
mod serve;
mod sessions;
mod step;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

pub use agent::run_script;
pub use recorded::play_stdio;
pub use script::{Script, ScriptError};

/// How fast a script is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// With the pauses that the script asks for.
    #[default]
    Human,
    /// Without them, except those marked `firm`.
    Fast,
}

/// Where the agent plays, which decides what its stderr is and how its stdout is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A process of its own: stdout outlives its handle, stderr is real.
    Process,
    /// Inside another program, over streams of its making: dropping the writer closes it, and stderr goes nowhere.
    Memory,
}

/// How the agent came to its end. Tests look at it; a process carries it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitKind {
    /// The client closed our input, or stopped reading.
    Eof,
    /// The script asks for this exit code.
    Code(i32),
    /// The script asks for death by this signal.
    Signal(String),
}

impl ExitKind {
    /// Raises the signal that the script asked for, or says with which code the process is to end.
    pub fn carry_out(self) -> i32 {
        match self {
            Self::Eof => 0,
            Self::Code(code) => code,
            Self::Signal(name) => raise(&name),
        }
    }
}

#[cfg(unix)]
fn raise(name: &str) -> i32 {
    use rustix::process::{Signal, getpid, kill_process};
    let signal = match name {
        "SIGHUP" => Signal::HUP,
        "SIGINT" => Signal::INT,
        "SIGABRT" => Signal::ABORT,
        "SIGSEGV" => Signal::SEGV,
        "SIGTERM" => Signal::TERM,
        _ => Signal::KILL,
    };
    // A process that survives its own signal ends with the code a shell would report.
    if kill_process(getpid(), signal).is_err() {
        return 1;
    }
    128 + signal.as_raw()
}

#[cfg(not(unix))]
fn raise(_name: &str) -> i32 {
    137
}

/// Why `demo-agent` could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Set to anything but the empty string, it makes `demo-agent` play fast, as `--fast` does.
pub const FAST_VARIABLE: &str = "ACP_TUI_DEMO_FAST";

/// Plays `script`, or the built-in demo, over any pair of streams.
pub fn run(
    script: Option<&Path>,
    pace: Pace,
    stdin: impl io::Read + Send + 'static,
    stdout: impl io::Write,
) -> Result<ExitKind, DemoError> {
    let script = choose(script)?;
    Ok(run_script(script, pace, Place::Memory, stdin, stdout)?)
}

/// `acp-tui demo-agent`: plays over the process' own stdin and stdout.
///
/// `--script NAME` of a script that comes with the program is taken when no such file exists.
pub fn run_stdio(script: Option<&Path>, pace: Pace) -> Result<ExitKind, DemoError> {
    let script = choose(script)?;
    let asked = std::env::var_os(FAST_VARIABLE).is_some_and(|value| !value.is_empty());
    let pace = if asked { Pace::Fast } else { pace };
    Ok(run_script(script, pace, Place::Process, io::stdin(), io::stdout())?)
}

fn choose(script: Option<&Path>) -> Result<Script, ScriptError> {
    let Some(path) = script else {
        return Script::parse(include_str!("../../assets/scenarios/demo.toml"));
    };
    match path.to_str().filter(|_| !path.exists()).and_then(Script::builtin) {
        Some(builtin) => Ok(builtin),
        None => Script::load(path),
    }
}
