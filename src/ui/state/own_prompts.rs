//! The person's own prompts, listed among the commands behind `/`.
//!
//! Reads no file. Invariant: a command of the agent's or of ours that has the name of one is the one that is meant.

use crate::model::options::Command;
use std::sync::Arc;

/// What stands for the words behind the name; without it they are put below the text.
const ARGUMENTS: &str = "$ARGUMENTS";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPrompt {
    /// As it is listed.
    pub command: Command,
    text: String,
}

impl OwnPrompt {
    /// By name and text.
    pub fn all(prompts: &[(String, String)]) -> Arc<[Self]> {
        prompts.iter().map(|(name, text)| Self::new(name.clone(), text)).collect()
    }

    /// Its first line says what it is about.
    pub fn new(name: String, text: &str) -> Self {
        let text = text.trim_end().to_owned();
        let about = text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        let description = about.unwrap_or_default().to_owned();
        let hint = text.contains(ARGUMENTS).then(|| "…".to_owned());
        Self { command: Command { name, description, hint }, text }
    }

    /// What is sent, with the words that were written behind its name.
    pub fn with(&self, words: &str) -> String {
        match words.trim() {
            words if self.text.contains(ARGUMENTS) => self.text.replace(ARGUMENTS, words),
            "" => self.text.clone(),
            words => format!("{}\n\n{words}", self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_behind_the_name_go_where_the_text_says_or_below_it() {
        let prompt = |text: &str| OwnPrompt::new("p".to_owned(), text);
        for (text, words, sent) in [
            ("# Fix\nfix it\n", "", "# Fix\nfix it"),
            ("fix it\n", " src/a.rs ", "fix it\n\nsrc/a.rs"),
            ("fix $ARGUMENTS and test $ARGUMENTS", "a b", "fix a b and test a b"),
            ("fix $ARGUMENTS", "", "fix "),
        ] {
            assert_eq!(prompt(text).with(words), sent, "{text}");
        }
        let about = prompt("\n## Look for faults\nin $ARGUMENTS").command;
        assert_eq!((about.description.as_str(), about.hint.as_deref()), ("Look for faults", Some("…")));
        assert_eq!(prompt("x").command.hint, None);
    }
}
