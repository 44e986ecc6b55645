//! `export` and `import`: a conversation as a file for others, and such a file as a conversation.
//!
//! What is printed comes from the entries of the transcript, which a replay of the journals gives. Invariants: no file is
//! written over, and a file is whole or not there; other conversations of the same journal stay out; what is imported
//! twice is there once. Of journals that are
//! exported as they stand, little is held at once.

mod entries;
mod import;
mod reading;
mod write;

use super::args::Export;
use super::conversations::{Row, all, find, state};
use super::output::say;
use super::redact::Redaction;
use super::usage::{Usage, without_place};
use super::values::Format;
use crate::base::{human, paths};
use crate::engine::forgetting::{self, Whose};
use crate::engine::recalling::sources;
use crate::engine::replay::past_of;
use crate::headless::code;
use crate::host::worktrees;
use crate::model::Model;
use crate::model::past::Past;
use crate::model::session::{Allow, Policy};
use crate::review::error::ReviewError;
use crate::review::report::json;
use crate::review::session::persons;
use crate::store::lines;
use crate::store::sessions::{self, Known, Part, State};
use entries::items;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, BufWriter, Cursor, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use write::Document;

pub use import::import;

/// Bytes of a line that is exported or imported; longer ones are left out.
const MAX_LINE: usize = 32 << 20;
/// Bytes of a journal whose conversation is shown: the text of all of it is held.
const MAX_SHOWN: u64 = 1 << 30;
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
    let rows = all(&state)?;
    let is_open = |row: &&Row| row.known.state == State::Open;
    let open: Vec<PathBuf> = rows.iter().filter(is_open).map(|row| row.known.cwd.clone()).collect();
    let row = find(rows, &wanted.session, &worktrees::origins(&state)).map_err(|error| Usage(error.to_string()))?;
    let known = row.known;
    let parts = parts_of(&state, &known)?;
    let redaction = wanted.redact.then(|| Redaction::here(super::conversations::home().as_deref(), []));
    let out = Out { state: &state, known: &known, parts: &parts, format: wanted.format, redaction };
    match &wanted.output {
        None => printed(out.write(&mut BufWriter::new(io::stdout().lock()))),
        Some(file) => {
            let done = ended(write_new(file, |to| out.write(to)).map(|()| code::OK));
            if let (Ok(code::OK), Some(dir)) = (&done, around(&open, file)) {
                say(&format!(
                    "acp-tui is open in {}: written while its agent works there, this file counts as the agent's, and an \
                     undo removes it; what Ctrl+E of F8 writes stays",
                    paths::visible(dir.as_os_str())
                ));
            }
            done
        }
    }
}

/// The directory of those that a file lies in. Who has started this program cannot be told for certain: a review of
/// that directory takes what it writes for the agent's.
fn around<'a>(open: &'a [PathBuf], file: &Path) -> Option<&'a Path> {
    let real = file.canonicalize().ok()?;
    open.iter().find(|dir| real.starts_with(dir)).map(PathBuf::as_path)
}

/// Why a conversation does not come out, or in.
#[derive(Debug)]
enum Fault {
    /// It is not what was asked for.
    Asked(Usage),
    /// The disk, or who reads, does not take it.
    Unwritten(io::Error),
}

impl From<Usage> for Fault {
    fn from(usage: Usage) -> Self {
        Self::Asked(usage)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Unwritten(error)
    }
}

impl Fault {
    fn words(self) -> Usage {
        match self {
            Self::Asked(usage) => usage,
            Self::Unwritten(error) => Usage(format!("it cannot be written: {error}")),
        }
    }
}

/// A fault that is not in what was asked for has an exit code of its own.
fn ended(done: Result<u8, Fault>) -> Result<u8, Usage> {
    match done {
        Ok(code) => Ok(code),
        Err(Fault::Asked(usage)) => Err(usage),
        Err(fault) => {
            say(&fault.words().0);
            Ok(code::OWN_FAULT)
        }
    }
}

/// A closed output is no fault.
fn printed(done: Result<(), Fault>) -> Result<u8, Usage> {
    match done {
        Ok(()) => Ok(code::OK),
        Err(Fault::Unwritten(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(code::READER_GONE),
        Err(fault) => ended(Err(fault)),
    }
}

/// Writes a conversation as Markdown into its own directory, under a name that nothing has there yet.
pub(super) fn beside(state: &Path, known: &Known) -> Result<PathBuf, Usage> {
    let out = Out { state, known, parts: &parts_of(state, known)?, format: Format::Markdown, redaction: None };
    let title = known.title.as_ref().or(known.first_prompt.as_ref()).unwrap_or(&known.session_id);
    let stem = file_stem(title);
    for n in 1..=MAX_NAMESAKES {
        let name = if n == 1 { format!("{stem}.md") } else { format!("{stem}-{n}.md") };
        let file = known.cwd.join(name);
        if file.symlink_metadata().is_err() {
            write_persons(&file, |to| out.write(to)).map_err(Fault::words)?;
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

/// A conversation on its way out.
struct Out<'a> {
    /// acp-tui's directory for state.
    state: &'a Path,
    known: &'a Known,
    parts: &'a [Part],
    format: Format,
    redaction: Option<Redaction>,
}

impl Out<'_> {
    fn write(&self, to: &mut dyn Write) -> Result<(), Fault> {
        match self.format {
            Format::Json => self.write_journals(to)?,
            _ => self.write_shown(to)?,
        }
        Ok(to.flush()?)
    }

    fn redacted(&self, text: &str) -> String {
        self.redaction.as_ref().map_or_else(|| text.to_owned(), |redaction| redaction.text(text))
    }

    fn write_shown(&self, to: &mut dyn Write) -> Result<(), Fault> {
        let known = self.known;
        let title = known.title.as_ref().or(known.first_prompt.as_ref()).unwrap_or(&known.session_id);
        let mut document = Document::new(self.format);
        to.write_all(document.head(&self.redacted(title), known).as_bytes())?;
        // Each journal is read behind those before it: what the agent told again is there once.
        let mut past = Past::default();
        for journal in &known.journals {
            check_size(journal)?;
            let cwd = known.cwd.to_string_lossy().into_owned();
            let model = Model::new(known.command.clone(), cwd, Policy::Auto(Allow::None)).whole();
            let before = (known.session_id.clone().into(), std::mem::take(&mut past));
            let sources = sources(journal, &before.0, &before.1);
            let lines = |take: &mut dyn FnMut(&str)| each_line(journal, |line| take(&String::from_utf8_lossy(line)));
            let read;
            (past, read) = past_of(model, known.cwd.clone(), before, sources, lines);
            read?;
        }
        for mut item in items(&past) {
            if self.redaction.is_some() {
                item.change(|text| self.redacted(text));
            }
            to.write_all(document.item(&item).as_bytes())?;
        }
        Ok(to.write_all(document.end().as_bytes())?)
    }

    /// What `import` reads: the lines as they stand, but for those of other conversations.
    fn write_journals(&self, to: &mut dyn Write) -> Result<(), Fault> {
        to.write_all(write::json_head(self.known).as_bytes())?;
        for (number, journal) in self.known.journals.iter().enumerate() {
            let (stem, whose) = (sessions::stem(journal), self.shared_with_others(journal)?);
            let quoted = |text: &str| json::cleaned(&Value::from(text).to_string());
            let name = match &whose {
                None => quoted(stem),
                Some(whose) => format!("{},\"run\":{}", quoted(&part_name(stem, whose)), quoted(stem)),
            };
            write!(to, "{}{{\"name\":{name},\"lines\":[", if number > 0 { "," } else { "" })?;
            let mut lines = 0;
            let mut put = |line: &str| {
                let head = (lines == 0).then(|| self.head(line, whose.as_ref())).flatten();
                let line = json::cleaned(head.as_deref().unwrap_or(line).trim());
                lines += 1;
                write!(to, "{}{line}", if lines > 1 { "," } else { "" })
            };
            match &whose {
                Some(whose) => {
                    let shown = paths::visible(journal.as_os_str());
                    let put = |line: &str| if line.len() > MAX_LINE { Ok(()) } else { put(line) };
                    forgetting::only(self.state, journal, *whose, put)
                        .map_err(|error| Usage(format!("{shown}: {error}")))?;
                }
                None => {
                    let mut written = Ok(());
                    each_line(journal, |line| {
                        let line = std::str::from_utf8(line).ok();
                        let line = line.filter(|line| serde_json::from_str::<&RawValue>(line).is_ok());
                        if let (Some(line), Ok(())) = (line, &written) {
                            written = put(line);
                        }
                    })?;
                    written?;
                }
            }
            write!(to, "]}}")?;
        }
        Ok(to.write_all(b"]}\n")?)
    }

    /// Whose this conversation is in a journal, where others may be in that, too. Says what of it cannot be read.
    fn shared_with_others(&self, journal: &Path) -> Result<Option<Whose<'_>>, Fault> {
        let further = [b"\"OpenSession\"".as_slice(), b"\"AddAgent\""].map(memchr::memmem::Finder::new);
        let is_its = |part: &&Part| part.journal == journal && part.session_id == self.known.session_id;
        let part = self.parts.iter().find(|part| is_its(part) && self.known.is_of(&part.command));
        let Some(part) = part.or_else(|| self.parts.iter().find(is_its)) else { return Ok(None) };
        let (mut has_others, mut is_cut, mut is_head) = (!part.is_alone, false, true);
        each_line(journal, |line| {
            if std::mem::take(&mut is_head) {
                is_cut = serde_json::from_slice::<Value>(line).is_ok_and(|head| head["only"].is_string());
            }
            has_others = has_others || further.iter().any(|further| further.find(line).is_some());
        })?;
        let command = Some(&*part.command).filter(|command| !command.is_empty());
        Ok((has_others && !is_cut).then_some(Whose { id: &self.known.session_id, command }))
    }

    /// The first line of a journal, with what it does not say of the conversation.
    fn head(&self, line: &str, whose: Option<&Whose<'_>>) -> Option<String> {
        let mut head: Value = serde_json::from_str(line).ok()?;
        let members = head.as_object_mut()?;
        members.insert("title".into(), self.known.title.as_deref().unwrap_or_default().into());
        if let Some(whose) = whose {
            members.insert("only".into(), whose.id.into());
        }
        Some(head.to_string())
    }
}

/// The name of what a journal has of one of its conversations.
fn part_name(stem: &str, whose: &Whose<'_>) -> String {
    let mut sum = crc32fast::Hasher::new();
    for text in [whose.command.unwrap_or_default(), "\n", whose.id] {
        sum.update(text.as_bytes());
    }
    format!("{stem}-{:08x}", sum.finalize())
}

/// Hands over each line of a file of ours, and says what is left out of it.
fn each_line(path: &Path, take: impl FnMut(&[u8])) -> Result<(), Fault> {
    let shown = paths::visible(path.as_os_str());
    let read = lines::open(path).and_then(|mut file| lines::each_up_to(&mut file, MAX_LINE, take));
    let reached = read.map_err(|error| Usage(format!("{shown}: {error}")))?;
    if reached.damaged > 0 {
        let lines = human::count(reached.damaged, "line");
        say(&format!("{shown}: it is damaged: {lines} with zero bytes left out"));
    }
    if reached.passed_over > 0 {
        let (lines, most) = (human::count(reached.passed_over, "line"), human::bytes(MAX_LINE as u64));
        say(&format!("{shown}: {lines} with more than {most} left out"));
    }
    Ok(())
}

/// Of one that has holes only what was written counts.
fn check_size(journal: &Path) -> Result<(), Usage> {
    let shown = paths::visible(journal.as_os_str());
    let meta = journal.metadata().map_err(|error| Usage(format!("{shown}: {error}")))?;
    if lines::written(&meta) <= MAX_SHOWN {
        return Ok(());
    }
    Err(Usage(format!("{shown}: it is larger than {}; `--format json` takes any size", human::bytes(MAX_SHOWN))))
}

fn there(file: &Path) -> Usage {
    Usage(format!("{} is there already and is not written over", paths::visible(file.as_os_str())))
}

fn fault(error: io::Error) -> Usage {
    Usage(error.to_string())
}

/// The same in the middle of a turn: a review of the directory takes it for the person's.
fn write_persons(file: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut text = Vec::new();
    write(&mut text)?;
    let unknown = |error: ReviewError| Fault::Asked(Usage(error.to_string()));
    persons::write(file, &mut Cursor::new(&text)).map_err(unknown)?;
    write_beside(file, |temp| persons::prepare(temp).map_err(unknown), |to| Ok(to.write_all(&text)?))
}

/// Whole or not at all, readable by its owner, and never over another file.
fn write_new(file: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), Fault>) -> Result<(), Fault> {
    write_beside(file, |_| Ok(()), write)
}

/// `prepare` is told under which name it is written first.
fn write_beside(
    file: &Path,
    prepare: impl FnOnce(&Path) -> Result<(), Fault>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let at_file = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => there(file).into(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied => {
            Fault::Asked(Usage(format!("{}: {error}", paths::visible(file.as_os_str()))))
        }
        _ => error.into(),
    };
    let refused = |error: io::Error| match without_place(dir, error.kind()) {
        Some(words) => Fault::Asked(Usage(words)),
        None => error.into(),
    };
    let temp = NamedTempFile::new_in(dir).map_err(refused)?;
    prepare(temp.path())?;
    let mut out = BufWriter::new(temp);
    write(&mut out)?;
    let temp = out.into_inner().map_err(|error| at_file(error.into_error()))?;
    temp.persist_noclobber(file).map(drop).map_err(|error| at_file(error.error))
}

#[cfg(test)]
#[path = "export/export_tests.rs"]
mod tests;
