//! Starting a command in a new pseudo-terminal: which program, which environment, which directory.
//!
//! It keeps no terminal (see `terminal.rs`). Invariant: either a process runs, or there is an error and nothing.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::base::inherited::Inherited;
use crate::host::fs::open_regular;
use crate::host::process::sandbox::within;
use crate::host::process::{Sandbox, guard, kept_back};
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::Pid;
use thiserror::Error;

/// Tools cut their output at the width of the terminal, and the agent reads what is left.
pub const MIN_COLS: u16 = 100;
const MAX_COLS: u16 = 1000;
const MAX_ROWS: u16 = 500;

/// No program may wait for a person in a pager or at a credential prompt.
const DEFAULT_ENV: [(&str, &str); 4] =
    [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0"), ("TERM", "xterm-256color")];

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermSpec {
    pub command: String,
    /// Empty: `command` is a line for a POSIX shell. Otherwise it is a program and these are its arguments.
    pub args: Vec<String>,
    /// Added to the inherited environment; the last value of a name wins.
    pub env: Vec<(String, String)>,
    /// What of our own environment it gets.
    pub inherited: Inherited,
    pub cwd: PathBuf,
    pub cols: u16,
    pub rows: u16,
    /// Who looks at it; decides how narrow it may be.
    pub reader: Reader,
    /// Bytes of output kept for the agent.
    pub output_limit: Option<u64>,
    /// What it may write, where that is confined.
    pub sandbox: Option<Sandbox>,
}

/// For whom a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Its tools cut their output at the width.
    Agent,
    /// It is as wide as what the person sees of it.
    Person,
}

impl Reader {
    const fn min_cols(self) -> u16 {
        match self {
            Self::Agent => MIN_COLS,
            Self::Person => 1,
        }
    }
}

/// Why a command was not started.
#[derive(Debug, Error)]
pub enum SpawnError {
    #[error("{command}: {source}")]
    NotFound { command: String, source: io::Error },
    #[error("{0}")]
    Invalid(String),
    #[error("{0} terminals are running already; kill or release one first")]
    TooMany(usize),
    #[error("{command}: {source}")]
    Os { command: String, source: io::Error },
}

impl SpawnError {
    fn os(command: &str, source: impl Into<io::Error>) -> Self {
        let (command, source) = (command.to_owned(), source.into());
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { command, source },
            _ => Self::Os { command, source },
        }
    }
}

/// A process in its pseudo-terminal.
pub(super) struct Spawned {
    pub pid: Pid,
    pub master: Box<dyn MasterPty + Send>,
    pub reader: Box<dyn Read + Send>,
    pub size: PtySize,
    pub for_whom: Reader,
}

/// The size that a terminal gets when `cols` and `rows` are asked for.
pub(super) fn pty_size(cols: u16, rows: u16, for_whom: Reader) -> PtySize {
    let cols = cols.clamp(for_whom.min_cols(), MAX_COLS);
    PtySize { cols, rows: rows.clamp(1, MAX_ROWS), pixel_width: 0, pixel_height: 0 }
}

/// Starts the command as leader of a session of its own, with the terminal as its controlling one.
pub(super) fn spawn(spec: &TermSpec, shell: Option<&str>) -> Result<Spawned, SpawnError> {
    let command = spec.command.as_str();
    check_words(spec)?;
    check_cwd(&spec.cwd)?;
    let mut builder = if spec.args.is_empty() {
        let mut builder = CommandBuilder::new(posix_shell(shell));
        builder.args(["-c", command]);
        builder
    } else {
        let path = spec.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| OsString::from(value));
        let program = find_program(command, &spec.cwd, path.or_else(|| std::env::var_os("PATH")))
            .map_err(|e| SpawnError::os(command, e))?;
        // The name that the program sees is the one that was asked for, so the path goes through the search anew.
        let name = if command.contains('/') { program.as_os_str() } else { OsStr::new(command) };
        let mut builder = CommandBuilder::new(name);
        builder.args(&spec.args);
        builder
    };
    builder.cwd(&spec.cwd);
    for name in kept_back(&spec.inherited) {
        builder.env_remove(name);
    }
    for (name, value) in DEFAULT_ENV {
        builder.env(name, value);
    }
    for (name, value) in &spec.env {
        builder.env(name, value);
    }
    let size = pty_size(spec.cols, spec.rows, spec.reader);
    let pair = native_pty_system().openpty(size).map_err(|e| failed(command, &e))?;
    let reader = pair.master.try_clone_reader().map_err(|e| failed(command, &e))?;
    check_cwd(&spec.cwd)?;
    let slave = pair.slave;
    let begun = within(spec.sandbox.as_ref(), move || slave.spawn_command(builder));
    let begun = begun.map_err(|error| SpawnError::os(command, io::Error::other(error)))?;
    let child = begun.map_err(|e| failed(command, &e))?;
    let pid = child.process_id().and_then(|pid| Pid::from_raw(pid as i32));
    let pid = pid.ok_or_else(|| SpawnError::os(command, Errno::CHILD))?;
    guard::holds(pid.as_raw_nonzero().get());
    Ok(Spawned { pid, master: pair.master, reader, size, for_whom: spec.reader })
}

/// The pty library would silently go to the home directory instead of one that is not there.
fn check_cwd(cwd: &Path) -> Result<(), SpawnError> {
    let failed = |error: io::Error| SpawnError::os(&cwd.to_string_lossy(), error);
    if std::fs::metadata(cwd).map_err(failed)?.is_dir() { Ok(()) } else { Err(failed(Errno::NOTDIR.into())) }
}

/// An error of the pty library, which has a text only.
fn failed(command: &str, error: &dyn std::fmt::Display) -> SpawnError {
    SpawnError::Os { command: command.to_owned(), source: io::Error::other(error.to_string()) }
}

fn check_words(spec: &TermSpec) -> Result<(), SpawnError> {
    let invalid = |what: &str| Err(SpawnError::Invalid(what.to_owned()));
    if spec.command.trim().is_empty() {
        return invalid("the command is empty");
    }
    let words = std::iter::once(&spec.command).chain(&spec.args);
    let mut texts = words.chain(spec.env.iter().map(|(_, value)| value));
    if texts.any(|text| text.contains('\0')) {
        return invalid("a NUL byte in the command, an argument or a variable");
    }
    if spec.env.iter().any(|(name, _)| name.is_empty() || name.contains(['=', '\0'])) {
        return invalid("not a name for an environment variable");
    }
    if !spec.cwd.is_absolute() {
        return invalid("the working directory must be an absolute path");
    }
    Ok(())
}

/// The person's shell if it takes POSIX command lines; agents write those.
fn posix_shell(shell: Option<&str>) -> &str {
    let posix = |shell: &&str| {
        let name = Path::new(shell).file_name().and_then(OsStr::to_str);
        matches!(name, Some("sh" | "bash" | "dash" | "zsh" | "ksh"))
            && Path::new(shell).is_absolute()
            && access(*shell, Access::EXEC_OK).is_ok()
    };
    shell.filter(posix).unwrap_or("/bin/sh")
}

/// Finds the program as `execvp` would. The pty library's own report of a failed start is lost in the child, so
/// what can be known is checked before.
fn find_program(command: &str, cwd: &Path, path: Option<OsString>) -> io::Result<PathBuf> {
    if command.contains('/') {
        let program = cwd.join(command);
        check_program(&program)?;
        return Ok(program);
    }
    let mut worst = Errno::NOENT;
    for dir in std::env::split_paths(&path.unwrap_or_else(|| "/usr/bin:/bin".into())) {
        let program = cwd.join(dir).join(command);
        match check_program(&program) {
            Ok(()) => return Ok(program),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(e) => worst = e,
        }
    }
    Err(worst.into())
}

fn check_program(program: &Path) -> Result<(), Errno> {
    let is_file = std::fs::metadata(program).map(|meta| meta.is_file());
    if !is_file.map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::NOENT))? {
        return Err(Errno::ACCESS);
    }
    access(program, Access::EXEC_OK)?;
    // A script whose interpreter is missing fails like a missing program.
    let mut head = [0_u8; 256];
    let read = open_regular(program).and_then(|mut file| file.read(&mut head)).unwrap_or(0);
    if let Some(line) = head.get(..read).and_then(|head| head.strip_prefix(b"#!")) {
        let line = line.split(|&b| b == b'\n').next().unwrap_or_default().trim_ascii();
        let interpreter = line.split(|b| b.is_ascii_whitespace()).next().unwrap_or_default();
        if interpreter.starts_with(b"/") {
            access(OsStr::from_bytes(interpreter), Access::EXEC_OK)?;
        }
    }
    Ok(())
}
