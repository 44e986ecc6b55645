//! One use of the person's editor: which file it is started for, and what has come of it.
//!
//! The loop lends the terminal and waits; this file knows neither. Invariant: a hunk is changed only when the editor
//! ended well and the text is another one.

use super::msg::EditorJob;
use super::tty::editor::{self, Borrower, Draft};
use crate::base::sanitize;
use crate::model::changes::{ReviewAction, Scope};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// How it begins.
const COMMENT: &str = "<!-- What the agent said last. This comment is left out.";
const END: &str = "\n-->";

pub struct EditorSession {
    job: EditorJob,
    file: PathBuf,
    line: Option<u32>,
    /// The text of a hunk, in a file of its own.
    draft: Option<Draft>,
}

/// What is to be done when the editor has ended.
#[derive(Debug)]
pub enum Outcome {
    Act(ReviewAction),
    /// This is the prompt now.
    Write(String),
    Say(String),
    Nothing,
}

/// What the agent said, as a comment that is no part of the prompt.
fn commented(answer: &str) -> String {
    format!("\n\n{COMMENT}\n\n{}{END}\n", sanitize::block(answer).trim_end().replace("-->", "-- >"))
}

/// What stands before the comment and behind it.
fn uncommented(text: &str) -> String {
    let Some((before, rest)) = text.split_once(COMMENT) else { return text.trim_end().to_owned() };
    let behind = rest.split_once(END).map_or("", |(_, behind)| behind).trim();
    let before = before.trim_end();
    if before.is_empty() || behind.is_empty() { format!("{before}{behind}") } else { format!("{before}\n{behind}") }
}

impl EditorSession {
    /// # Errors
    /// When the text of a hunk cannot be written to a file.
    pub fn of(job: EditorJob, cwd: &Path) -> io::Result<Self> {
        let (file, line, draft) = match &job {
            EditorJob::Open { path, line } => (cwd.join(path), Some(*line), None),
            EditorJob::Page { text } => {
                let draft = Draft::of(text, Path::new("output.txt"))?;
                (draft.path().to_owned(), None, Some(draft))
            }
            EditorJob::Prompt { text, answer } => {
                let answer = answer.as_deref().map(commented).unwrap_or_default();
                let draft = Draft::of(&format!("{text}{answer}"), Path::new("prompt.md"))?;
                (draft.path().to_owned(), None, Some(draft))
            }
            EditorJob::Hunk { path, text, .. } => {
                let draft = Draft::of(text, path)?;
                (draft.path().to_owned(), None, Some(draft))
            }
        };
        Ok(Self { job, file, line, draft })
    }

    /// Starts the editor. Must be called inside the runtime, while the terminal is lent.
    ///
    /// # Errors
    /// When there is no shell to start it with.
    pub fn start(&self) -> io::Result<Borrower> {
        let command = if self.is_page() { editor::pager() } else { editor::command() };
        editor::start(&command, &self.file, self.line)
    }

    /// It is read and not written.
    pub const fn is_page(&self) -> bool {
        matches!(self.job, EditorJob::Page { .. })
    }

    /// What came of it; `shown` is the scope of the review on the screen.
    pub fn outcome(self, result: io::Result<ExitStatus>, shown: Option<Scope>) -> Outcome {
        match result {
            Err(error) if self.is_page() => return Outcome::Say(format!("the pager could not be started: {error}")),
            // Pagers end as they like.
            Ok(_) if self.is_page() => return Outcome::Nothing,
            Err(error) => return Outcome::Say(format!("the editor could not be started: {error}")),
            Ok(status) if !status.success() => {
                return Outcome::Say(format!("the editor ended with {status}; nothing was changed here"));
            }
            Ok(_) => {}
        }
        match (self.job, self.draft) {
            (EditorJob::Hunk { path, hunk, scope, text: before }, Some(draft)) => match draft.text() {
                Ok(text) if text == before => Outcome::Say("nothing was changed".to_owned()),
                Ok(text) => Outcome::Act(ReviewAction::Edit { scope, path, hunk, text }),
                Err(error) => Outcome::Say(format!("the text could not be read back: {error}")),
            },
            (EditorJob::Prompt { .. }, Some(draft)) => match draft.text() {
                Ok(text) => Outcome::Write(uncommented(&text)),
                Err(error) => Outcome::Say(format!("the text could not be read back: {error}")),
            },
            // What was changed in the file is to be seen.
            _ => shown.map_or(Outcome::Nothing, |scope| Outcome::Act(ReviewAction::Show(scope))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_said_is_there_to_be_read_and_no_part_of_the_prompt() {
        for (text, answer) in [("do it\nplease", "Done. --> <!-- x"), ("", "a\n\nb"), ("two", "")] {
            let shown = format!("{text}{}", commented(answer));
            assert_eq!(uncommented(&shown), text);
            assert_eq!(shown.matches("-->").count(), 1, "{shown}");
        }
        assert_eq!(uncommented(&format!("above{}below\n", commented("said"))), "above\nbelow");
        assert_eq!(uncommented("all of it\n"), "all of it", "who removes the comment removes nothing else");
    }
}
