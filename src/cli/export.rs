//! `export` and `import`: a conversation as a file for others, and such a file as a conversation.
//!
//! What is printed comes from the entries of the transcript, which a replay of the journals gives. Invariants: no file is
//! written over, and a file is whole or not there; other conversations of the same journal stay out; what is imported
//! twice is there once.

mod entries;
mod import;
mod redact;
mod write;

use super::args::Export;
use super::conversations::{all, find, state};
use super::output::{print, say};
use super::usage::Usage;
use super::values::Format;
use crate::base::paths;
use crate::engine::replay::each_session;
use crate::host::worktrees;
use crate::model::Model;
use crate::model::session::{Allow, Policy};
use crate::store::lines;
use crate::store::sessions::{self, Known, Part};
use entries::{Item, items};
use redact::Redaction;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub use import::import;

/// Bytes of a journal, or a file to import, that are held at once.
const MAX_BYTES: u64 = 1 << 30;
/// Words and bytes of a title that become the name of a file, and files of one name.
const WORDS: usize = 6;
const MAX_STEM: usize = 60;
const MAX_NAMESAKES: usize = 99;

/// `acp-tui export SESSION`.
pub fn export(wanted: &Export) -> Result<u8, Usage> {
    if wanted.redact && wanted.format == Format::Json {
        // A secret there is in pieces, as it was said.
        return Err(Usage(
            "`--redact` cannot do that with `json`, in which a text is in pieces; take md, html or cast".into(),
        ));
    }
    let state = state()?;
    if let Some(file) = wanted.output.as_deref().filter(|file| file.symlink_metadata().is_ok()) {
        return Err(there(file));
    }
    let row =
        find(all(&state)?, &wanted.session, &worktrees::origins(&state)).map_err(|error| Usage(error.to_string()))?;
    let known = row.known;
    let parts = parts_of(&state, &known)?;
    let redaction = wanted.redact.then(|| Redaction::new(super::conversations::home().as_deref()));
    let text = text(&known, &parts, wanted.format, redaction.as_ref())?;
    match &wanted.output {
        None => print(&text),
        Some(file) => write_new(file, &text).map(|()| crate::headless::code::OK),
    }
}

/// Writes a conversation as Markdown into its own directory, under a name that nothing has there yet.
pub(super) fn beside(state: &Path, known: &Known) -> Result<PathBuf, Usage> {
    let text = text(known, &parts_of(state, known)?, Format::Markdown, None)?;
    let title = known.title.as_ref().or(known.first_prompt.as_ref()).unwrap_or(&known.session_id);
    let stem = file_stem(title);
    for n in 1..=MAX_NAMESAKES {
        let name = if n == 1 { format!("{stem}.md") } else { format!("{stem}-{n}.md") };
        let file = known.cwd.join(name);
        if file.symlink_metadata().is_err() {
            write_new(&file, &text)?;
            return Ok(file);
        }
    }
    Err(Usage(format!("there are {MAX_NAMESAKES} files of that name already")))
}

/// The first words of a title, as a name that is easy to type.
fn file_stem(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut stem = String::from("session");
    for word in words.take(WORDS) {
        if stem.len() + word.len() >= MAX_STEM {
            break;
        }
        stem.push('-');
        stem.push_str(&word.to_lowercase());
    }
    stem
}

fn parts_of(state: &Path, known: &Known) -> Result<Vec<Part>, Usage> {
    let mut parts = sessions::parts(state).map_err(fault)?.0;
    parts.retain(|part| known.journals.contains(&part.journal));
    if known.source() == "agent" {
        return Err(Usage("only its agent knows what was said in this session; `acp-tui --resume` opens it".into()));
    }
    if parts.is_empty() {
        return Err(Usage("of this session only the changes are kept; `acp-tui review` shows them".into()));
    }
    Ok(parts)
}

fn text(known: &Known, parts: &[Part], format: Format, redaction: Option<&Redaction>) -> Result<String, Usage> {
    if format == Format::Json {
        return Ok(write::json(known, &records(known, parts)?));
    }
    let mut items = Vec::new();
    for (number, journal) in known.journals.iter().enumerate() {
        items.extend(of_journal(known, journal, number > 0)?);
    }
    if let Some(redaction) = redaction {
        for item in &mut items {
            item.change(|text| redaction.text(text));
        }
    }
    let title = known.title.as_ref().or(known.first_prompt.as_ref()).unwrap_or(&known.session_id);
    let title = redaction.map_or_else(|| title.clone(), |redaction| redaction.text(title));
    Ok(match format {
        Format::Html => write::html(&title, known, &items),
        Format::Cast => write::cast(&title, known, &items),
        _ => write::markdown(&title, known, &items),
    })
}

fn there(file: &Path) -> Usage {
    Usage(format!("{} is there already and is not written over", paths::visible(file.as_os_str())))
}

fn fault(error: io::Error) -> Usage {
    Usage(error.to_string())
}

/// Whole or not at all, readable by its owner, and never over another file.
fn write_new(file: &Path, text: &str) -> Result<(), Usage> {
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(dir).and_then(|mut temp| {
        temp.write_all(text.as_bytes())?;
        temp.persist_noclobber(file).map(drop).map_err(|error| error.error)
    });
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => there(file),
        _ => Usage(format!("{}: {error}", paths::visible(file.as_os_str()))),
    })
}

/// The text of a journal or of a file to import.
fn read(path: &Path) -> Result<String, Usage> {
    let shown = paths::visible(path.as_os_str());
    let lines::Text { text, ends_at } = lines::text(path, MAX_BYTES).map_err(|e| Usage(format!("{shown}: {e}")))?;
    if let Some(at) = ends_at {
        say(&format!(
            "{shown}: it is damaged, with zero bytes from byte {at} on; only what stands before them is used"
        ));
    }
    Ok(text)
}

/// The entries of a journal. What the agent told again is in an earlier one, or was said before the session was closed.
fn of_journal(known: &Known, journal: &Path, is_later: bool) -> Result<Vec<Item>, Usage> {
    let text = read(journal)?;
    let cwd = known.cwd.to_string_lossy().into_owned();
    let model = Model::new(known.command.clone(), cwd, Policy::Auto(Allow::None));
    let mut all = Vec::new();
    each_session(model, known.cwd.clone(), text.lines(), |_, session| {
        if session.id.as_ref().is_some_and(|id| id.as_str() == known.session_id) {
            let more = items(session, is_later || !all.is_empty());
            all.extend(more);
        }
    });
    Ok(all)
}

/// The lines of each journal, without what belongs to other sessions alone.
fn records(known: &Known, parts: &[Part]) -> Result<Vec<(String, Vec<serde_json::Value>)>, Usage> {
    let mut journals = Vec::new();
    for journal in &known.journals {
        let others: Vec<&str> =
            parts.iter().filter(|part| part.journal == *journal).map(|part| &*part.session_id).collect();
        let text = read(journal)?;
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let kept = lines.filter(|line| !import::is_of_another(line, &known.session_id, &others));
        journals.push((sessions::stem(journal).to_owned(), kept.collect()));
    }
    Ok(journals)
}

#[cfg(test)]
#[path = "export/export_tests.rs"]
mod tests;
