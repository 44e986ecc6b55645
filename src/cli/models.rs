//! The model that was chosen last for each agent in each directory.
//!
//! Invariant: what cannot be read is as if nothing had been chosen.

use crate::store::lock::Lock;
use crate::store::private::{make_private_dir, open, open_as, private_file};
use crate::store::replace::{Durability, Replacement};
use crate::ui::run::ModelChoice;
use serde_json::{Value, json};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Choices that are remembered, and bytes in which they are.
const MAX_CHOICES: usize = 1000;
const MAX_BYTES: u64 = 8 << 20;

/// The newest last. `state` is acp-tui's directory for state.
pub(super) fn read(state: &Path) -> Vec<ModelChoice> {
    let file = file(state);
    let mut text = String::new();
    let read = open(&file).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    if read.is_err() {
        return Vec::new();
    }
    let choice = |line: &str| {
        let row: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| row[name].as_str().map(str::to_owned);
        Some(ModelChoice { command: text("command")?, cwd: text("cwd")?, model: text("model")? })
    };
    text.lines().filter_map(choice).collect()
}

pub(super) fn add(state: &Path, new: &ModelChoice) -> io::Result<()> {
    make_private_dir(state)?;
    let lock = open_as(private_file().write(true).create(true).truncate(false), &state.join("models.lock"))?;
    let _lock = Lock::within(lock)?;
    let mut all = read(state);
    all.retain(|choice| (&choice.command, &choice.cwd) != (&new.command, &new.cwd));
    all.push(new.clone());
    let mut out = Replacement::of(&file(state))?;
    for choice in all.iter().skip(all.len().saturating_sub(MAX_CHOICES)) {
        writeln!(out, "{}", json!({ "command": choice.command, "cwd": choice.cwd, "model": choice.model }))?;
    }
    out.finish(Durability::Whole)
}

fn file(state: &Path) -> PathBuf {
    state.join("models.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_choice_for_an_agent_in_a_directory_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let choice = |command: &str, cwd: &str, model: &str| ModelChoice {
            command: command.into(),
            cwd: cwd.into(),
            model: model.into(),
        };
        assert_eq!(read(dir.path()), []);
        for one in [choice("a", "/x", "m1"), choice("b", "/x", "m2"), choice("a", "/x", "m3"), choice("a", "/y", "m4")]
        {
            add(dir.path(), &one).unwrap();
        }
        assert_eq!(read(dir.path()), [choice("b", "/x", "m2"), choice("a", "/x", "m3"), choice("a", "/y", "m4")]);
        std::fs::write(file(dir.path()), "rubbish\n{\"command\":1}\n").unwrap();
        assert_eq!(read(dir.path()), []);
    }
}
