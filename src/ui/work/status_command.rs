//! Has a program of the person's make words for the status line, beside the screen.
//!
//! Knows nothing of what it is told. Invariants: one runs at a time, none while what it is told stays as it is, and none
//! sooner than `PAUSE` after the one before; what comes back is one clean line.

use super::programs::{Ask, Branch};
use crate::text::ansi;
use crate::text::run::StyledText;
use crate::text::width;
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between the starts of two of them, and after one that has failed.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_AFTER_FAULT: Duration = Duration::from_secs(10);
/// Columns of its words that are kept.
const MAX_COLUMNS: usize = 120;

/// The program, and how it is run.
#[derive(Clone)]
pub struct Command {
    /// With its arguments.
    pub words: Vec<String>,
    pub ask: Ask,
    pub branch: Branch,
}

/// What came of it: words, none where it has printed none, or why there are none.
pub type Answer = Result<StyledText, String>;

/// What the loop of the screen holds.
#[derive(Default)]
pub struct StatusCommand {
    command: Option<Command>,
    /// What it was told last.
    told: Option<Value>,
    /// When the last one was started, and how it ended.
    begun: Option<Duration>,
    has_failed: bool,
    running: Option<JoinHandle<io::Result<Vec<u8>>>>,
}

impl StatusCommand {
    pub fn new(command: Option<Command>) -> Self {
        Self { command, ..Self::default() }
    }

    /// Whether there is one that can be told something now: what comes of the one that runs leads here again.
    pub const fn is_wanted(&self) -> bool {
        self.command.is_some() && self.running.is_none()
    }

    /// Tells it, if that is something new; the branch of the directory is added. Gives the time at which it has to be told
    /// again what this is then. Must be called inside the runtime.
    pub fn tell(&mut self, told: Value, cwd: PathBuf, now: Duration) -> Option<Duration> {
        if !self.is_wanted() || self.told.as_ref() == Some(&told) {
            return None;
        }
        let pause = if self.has_failed { PAUSE_AFTER_FAULT } else { PAUSE };
        if let Some(until) = self.begun.map(|begun| begun.saturating_add(pause)).filter(|until| now < *until) {
            return Some(until);
        }
        let Command { words, ask, branch } = self.command.clone()?;
        self.begun = Some(now);
        self.told = Some(told.clone());
        self.running = Some(tokio::spawn(async move {
            let branch = tokio::task::spawn_blocking(move || branch(&cwd)).await.ok().flatten();
            let mut told = told;
            if let Some(members) = told.as_object_mut() {
                members.insert("branch".to_owned(), branch.map_or(Value::Null, Value::String));
            }
            ask(words, format!("{told}\n").into_bytes(), PATIENCE).await
        }));
        None
    }

    /// What came of it. May be dropped and called again.
    pub async fn next(&mut self) -> Answer {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let ended = running.await;
        self.running = None;
        self.has_failed = !matches!(ended, Ok(Ok(_)));
        let program = self.command.as_ref().and_then(|command| command.words.first()).map_or("", String::as_str);
        let fault = match ended {
            Ok(Ok(output)) => return Ok(first_line(&output)),
            Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => {
                format!("{program} takes longer than {} s", PATIENCE.as_secs())
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => format!("{program} was not found"),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("{program} was not run"),
        };
        Err(fault)
    }
}

fn first_line(output: &[u8]) -> StyledText {
    let text = String::from_utf8_lossy(output);
    let line = text.lines().next().unwrap_or_default().replace('\t', " ");
    let line = ansi::parse(line.trim_end()).into_iter().next().unwrap_or_default();
    width::truncate_styled(&line, MAX_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::{Arc, Mutex};

    /// Answers with what it was told, or fails.
    fn echo(told: &Arc<Mutex<Vec<String>>>) -> StatusCommand {
        let told = Arc::clone(told);
        let ask: Ask = Arc::new(move |_, input, _| {
            let input = String::from_utf8(input).unwrap();
            told.lock().unwrap().push(input.clone());
            Box::pin(async move {
                if input.contains("fault") { Err(io::ErrorKind::TimedOut.into()) } else { Ok(input.into_bytes()) }
            })
        });
        let branch: Branch = Arc::new(|path| (path.as_os_str() == "/p").then(|| "main".to_owned()));
        StatusCommand::new(Some(Command { words: vec!["echo".to_owned()], ask, branch }))
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[tokio::test]
    async fn it_is_told_what_is_new_and_seldom() {
        let told = Arc::default();
        let mut command = echo(&told);
        assert_eq!(command.tell(json!({ "state": "a" }), "/p".into(), ms(0)), None);
        assert_eq!(command.tell(json!({ "state": "b" }), "/p".into(), ms(1)), None, "one runs");
        let line = command.next().await.unwrap();
        assert_eq!(line.as_str(), r#"{"state":"a","branch":"main"}"#);
        assert_eq!(command.tell(json!({ "state": "a" }), "/p".into(), ms(3)), None, "nothing is new");
        assert_eq!(command.tell(json!({ "state": "b" }), "/p".into(), ms(4)), Some(PAUSE));
        assert_eq!(command.tell(json!({ "state": "b" }), "/".into(), PAUSE), None);
        assert_eq!(command.next().await.unwrap().as_str(), r#"{"state":"b","branch":null}"#);
        assert_eq!(told.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn one_that_fails_says_why_and_rests_longer() {
        let told = Arc::default();
        let mut command = echo(&told);
        command.tell(json!({ "state": "fault" }), "/p".into(), ms(0));
        assert_eq!(command.next().await, Err("echo takes longer than 2 s".to_owned()));
        let until = command.tell(json!({ "state": "a" }), "/p".into(), ms(2000));
        assert_eq!(until, Some(PAUSE_AFTER_FAULT));
    }

    #[test]
    fn of_its_output_one_line_is_kept_with_its_colours_and_nothing_else() {
        let line = first_line(b"\x1b[31mred\x1b[0m\t\x1b]0;title\x07\x1b[2Jplain \xff\r\nsecond\n");
        assert_eq!(line.as_str(), "red plain \u{fffd}");
        assert!(line.iter().next().is_some_and(|(text, style)| text == "red" && style.fg.is_some()));
        assert_eq!(first_line(b""), StyledText::new());
        let long = first_line("word ".repeat(1000).as_bytes());
        assert!(width::styled_width(&long) <= MAX_COLUMNS);
        assert!(!first_line("a\u{202e}b".as_bytes()).as_str().contains('\u{202e}'));
    }
}
