//! A program of the person's that is asked one thing: JSON on its standard input, JSON on its standard output.
//!
//! Waits for it, so it is for a thread. Invariants: it is run as a list of arguments, in a process group of its own and in
//! the root directory, so that no project has a say in what it runs; after the patience is over its group is killed; no
//! more than [`MAX_ANSWER`] bytes are read of it.

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Deserializer, Value};
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

const MAX_ANSWER: u64 = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error("it cannot be started: {0}")]
    NotStarted(#[from] io::Error),
    #[error("it has not answered within {} s", .0.as_secs_f32())]
    TooLate(Duration),
    #[error("it has answered with something that is no JSON")]
    NoJson,
    #[error("it has ended without an answer")]
    Nothing,
}

/// The first JSON value that it prints, after it was given this one. Its exit code does not count.
pub fn ask_hook(words: &[String], input: &Value, patience: Duration) -> Result<Value, HookError> {
    let (program, args) = words.split_first().ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut child = Command::new(program)
        .args(args)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (tell, told) = sync_channel(1);
    let input = format!("{input}\n");
    // One that answers without reading is none the worse; both end with their pipes.
    let writes = move || stdin.map(|mut pipe| pipe.write_all(input.as_bytes()));
    let reads = move || {
        let answer = stdout.and_then(|pipe| Deserializer::from_reader(pipe.take(MAX_ANSWER)).into_iter().next());
        let _ = tell.send(answer);
    };
    thread::Builder::new().name("hook-in".into()).spawn(writes)?;
    thread::Builder::new().name("hook-out".into()).spawn(reads)?;
    let answer = match told.recv_timeout(patience) {
        Ok(Some(Ok(answer))) => Ok(answer),
        Ok(Some(Err(error))) if !error.is_eof() => Err(HookError::NoJson),
        Ok(_) | Err(RecvTimeoutError::Disconnected) => Err(HookError::Nothing),
        Err(RecvTimeoutError::Timeout) => {
            // Not waited for yet, so the number is still its own.
            let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = group.map(|group| kill_process_group(group, Signal::KILL));
            Err(HookError::TooLate(patience))
        }
    };
    thread::Builder::new().name("hook-end".into()).spawn(move || child.wait())?;
    answer
}
