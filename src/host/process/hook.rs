//! A program of the person's that is asked one thing: JSON on its standard input, JSON on its standard output.
//!
//! Waits for it, so it is for a thread. Invariants: it is run as a list of arguments, in a process group of its own and in
//! the root directory, so that no project has a say in what it runs; after the patience is over, and when this program ends
//! before, its group is killed; no more than [`MAX_ANSWER`] bytes are read of it.

use super::guard;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Deserializer, Value};
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

const MAX_ANSWER: u64 = 64 << 10;

/// Those of this program.
static ASKED: Asked = Asked(Mutex::new(Groups { all: Vec::new(), is_over: false }));

/// The groups of hooks whose answer is waited for.
struct Asked(Mutex<Groups>);

struct Groups {
    all: Vec<Pid>,
    /// None is asked any more.
    is_over: bool,
}

/// Nobody waits for the answers of hooks any more: they are ended, and none is asked from now on.
pub fn end_hooks() {
    ASKED.end();
}

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
///
/// # Errors
/// When it cannot be started, or gives no JSON in time.
pub fn ask_hook(words: &[String], input: &Value, patience: Duration) -> Result<Value, HookError> {
    ASKED.ask(words, input, patience)
}

impl Asked {
    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts one whose group is known from then on, by the guard, too.
    fn start(&self, command: &mut Command) -> io::Result<(Child, Option<Pid>)> {
        let mut groups = self.groups();
        if groups.is_over {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = command.spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        groups.all.extend(group);
        group.inspect(|group| guard::holds(group.as_raw_nonzero().get()));
        Ok((child, group))
    }

    fn let_go(&self, group: Pid) {
        self.groups().all.retain(|one| *one != group);
        guard::lets_go(group.as_raw_nonzero().get());
    }

    fn end(&self) {
        let mut groups = self.groups();
        groups.is_over = true;
        for group in &groups.all {
            // Not waited for yet, so the number is still its own.
            let _ = kill_process_group(*group, Signal::KILL);
        }
    }

    fn ask(&self, words: &[String], input: &Value, patience: Duration) -> Result<Value, HookError> {
        let (program, args) = words.split_first().ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut command = Command::new(program);
        command.args(args).current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (mut child, group) = self.start(&mut command)?;
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
                let _ = group.map(|group| kill_process_group(group, Signal::KILL));
                Err(HookError::TooLate(patience))
            }
        };
        // One that has answered may go on.
        if let Some(group) = group {
            self.let_go(group);
        }
        thread::Builder::new().name("hook-end".into()).spawn(move || child.wait())?;
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn one_whose_answer_is_waited_for_ends_with_the_program_and_none_is_asked_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let begun = dir.path().join("begun");
        rustix::fs::mkfifoat(rustix::fs::CWD, &begun, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
        let words = ["sh", "-c", &format!("echo $$ > '{}'; sleep 1000 & wait", begun.display())].map(str::to_owned);
        let asked = Arc::new(Asked(Mutex::new(Groups { all: Vec::new(), is_over: false })));
        let asks = {
            let (asked, words) = (Arc::clone(&asked), words.clone());
            thread::spawn(move || asked.ask(&words, &json!({}), Duration::from_secs(1000)))
        };
        let pid: i32 = std::fs::read_to_string(&begun).unwrap().trim().parse().unwrap();
        asked.end();
        let answer = asks.join().unwrap();
        assert!(matches!(answer, Err(HookError::Nothing)), "{answer:?}");
        let group = Pid::from_raw(pid).unwrap();
        while rustix::process::test_kill_process_group(group).is_ok() {
            thread::yield_now();
        }
        let again = asked.ask(&words, &json!({}), Duration::from_secs(1000));
        assert!(matches!(again, Err(HookError::NotStarted(_))), "{again:?}");
    }
}
