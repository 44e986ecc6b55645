//! A program of the person's that is asked one thing: JSON on its standard input, JSON on its standard output.
//!
//! Waits for it, so it is for a thread. Invariants: it is run as a list of arguments, in a process group of its own and in
//! the root directory, so that no project has a say in what it runs; after the patience is over, and when this program ends
//! before, its group is killed; no more than [`MAX_ANSWER`] bytes are read of it.

use super::guard::wait_for;
use super::waited::{HELPERS, Helpers};
use rustix::process::Pid;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

const MAX_ANSWER: u64 = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error("it cannot be started: {0}")]
    NotStarted(#[from] io::Error),
    #[error("it has not answered within {} s", .0.as_secs_f32())]
    TooLate(Duration),
    #[error("it has answered with something that is no JSON object")]
    NoJson,
    #[error("it has answered with the key \"{0}\" twice")]
    Twice(String),
    #[error("it has answered with more than one JSON object")]
    More,
    #[error("it has ended without an answer")]
    Nothing,
    #[error("it has ended with an error: {0}")]
    Failed(ExitStatus),
}

/// The one JSON object that it prints, after it was given this one.
///
/// # Errors
/// When it cannot be started, or has not printed that and no more, and ended without an error, in time.
pub fn ask_hook(words: &[String], input: &Value, patience: Duration) -> Result<Value, HookError> {
    ask_among(&HELPERS, words, input, patience)
}

fn ask_among(among: &Helpers, words: &[String], input: &Value, patience: Duration) -> Result<Value, HookError> {
    let (program, args) = words.split_first().ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut command = Command::new(program);
    command.args(args).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut helper = among.start(&mut command)?;
    let (stdin, stdout) = (helper.child.stdin.take(), helper.child.stdout.take());
    let (tell, told) = sync_channel(1);
    let input = format!("{input}\n");
    // One that answers without reading is none the worse; both end with their pipes.
    let writes = move || stdin.map(|mut pipe| pipe.write_all(input.as_bytes()));
    let reads = move || {
        let _ = tell.send(stdout.map_or(Err(HookError::Nothing), |pipe| only(pipe.take(MAX_ANSWER))));
    };
    thread::Builder::new().name("hook-in".into()).spawn(writes)?;
    thread::Builder::new().name("hook-out".into()).spawn(reads)?;
    let until = Instant::now() + patience;
    let answer = match told.recv_timeout(patience) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Disconnected) => Err(HookError::Nothing),
        Err(RecvTimeoutError::Timeout) => {
            helper.kill();
            Err(HookError::TooLate(patience))
        }
    };
    let (pid, (tell, ended)) = (Pid::from_child(&helper.child), sync_channel(1));
    let waits = move || {
        wait_for(pid);
        let _ = tell.send(());
    };
    thread::Builder::new().name("hook-wait".into()).spawn(waits)?;
    let in_time = answer.is_ok().then(|| ended.recv_timeout(until.saturating_duration_since(Instant::now())));
    if in_time == Some(Err(RecvTimeoutError::Timeout)) {
        helper.kill();
    }
    // What it has started may go on.
    let mut child = helper.let_go();
    match in_time {
        Some(Ok(())) => {
            let status = child.wait()?;
            if status.success() { answer } else { Err(HookError::Failed(status)) }
        }
        late => {
            thread::Builder::new().name("hook-end".into()).spawn(move || child.wait())?;
            if late.is_some() { Err(HookError::TooLate(patience)) } else { answer }
        }
    }
}

/// An object, and a key that it has twice: which of the two values holds, nobody can tell.
struct Answer(Map<String, Value>, Option<String>);

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Answer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Answer, A::Error> {
        let (mut all, mut twice) = (Map::new(), None);
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if all.insert(key.clone(), value).is_some() {
                twice = Some(key);
            }
        }
        Ok(Answer(all, twice))
    }
}

/// The object, with nothing but blanks around it.
fn only(pipe: impl io::Read) -> Result<Value, HookError> {
    let mut all = serde_json::Deserializer::from_reader(pipe).into_iter();
    match (all.next(), all.next()) {
        (None, _) => Err(HookError::Nothing),
        (Some(Err(error)), _) if error.is_eof() => Err(HookError::Nothing),
        (Some(Err(_)), _) => Err(HookError::NoJson),
        (Some(Ok(_)), Some(_)) => Err(HookError::More),
        (Some(Ok(Answer(_, Some(key)))), None) => Err(HookError::Twice(key)),
        (Some(Ok(Answer(answer, None))), None) => Ok(Value::Object(answer)),
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
        let asked = Arc::new(Helpers::new());
        let asks = {
            let (asked, words) = (Arc::clone(&asked), words.clone());
            thread::spawn(move || ask_among(&asked, &words, &json!({}), Duration::from_secs(1000)))
        };
        let pid: i32 = std::fs::read_to_string(&begun).unwrap().trim().parse().unwrap();
        asked.end();
        let answer = asks.join().unwrap();
        assert!(matches!(answer, Err(HookError::Nothing)), "{answer:?}");
        let group = rustix::process::Pid::from_raw(pid).unwrap();
        while rustix::process::test_kill_process_group(group).is_ok() {
            thread::yield_now();
        }
        let again = ask_among(&asked, &words, &json!({}), Duration::from_secs(1000));
        assert!(matches!(again, Err(HookError::NotStarted(_))), "{again:?}");
    }
}
