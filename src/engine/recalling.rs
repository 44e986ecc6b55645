//! What earlier journals have of a session: replayed from them, one after the other, and handed to the model in parts.
//!
//! Everything here takes its time and is done by a thread; the loop gets facts. Invariants: each journal is replayed onto
//! what those before it have, as the program did that wrote it; what is replayed is bounded as a session is that runs;
//! the end of what was said is there however large its journal is.

use super::fact::{Fact, Facts};
use super::replay::past_of;
use crate::base::human;
use crate::model::Model;
use crate::model::event::HostEvent;
use crate::model::ids::{SessionId, SessionKey};
use crate::model::past::{Past, Recalled, copy_title};
use crate::model::session::Policy;
use crate::store::lines::{self, Row, What};
use crate::store::sessions::{self, Known, Part};
use crate::wire::json;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tracing::{debug, warn};

/// Bytes of journals that are replayed for one session.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Of all together; older ones are left out.
    pub all: u64,
    /// Of the newest alone, from its end, where that is larger.
    pub end: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { all: 1 << 30, end: 64 << 20 }
    }
}

/// Where journals are, and who is told what they have.
#[derive(Debug)]
pub(super) struct Recalling {
    journals: Option<PathBuf>,
    facts: Facts,
    /// One journal is replayed at a time: it takes many times the memory of what it has of a conversation.
    alone: Arc<Mutex<()>>,
}

impl Recalling {
    pub fn new(journals: Option<PathBuf>, facts: &Facts) -> Self {
        Self { journals, facts: facts.clone(), alone: Arc::default() }
    }

    /// Has the conversation read that the agent of this command calls like this; for a copy of it, or to go on with it.
    pub fn begin(&self, at: SessionKey, id: SessionId, command: String, is_copy: bool) {
        let (journals, facts, alone) = (self.journals.clone(), self.facts.clone(), Arc::clone(&self.alone));
        tokio::spawn(async move {
            let _alone = alone.lock().await;
            let read = tokio::task::spawn_blocking(move || {
                for part in recalled(journals.as_deref(), &id, &command, is_copy) {
                    facts.send(Fact::Host(at.into(), HostEvent::Recalled(part)));
                }
            });
            if let Err(error) = read.await {
                warn!(%error, "a journal was not read to its end");
            }
        });
    }
}

/// What the journals have of a conversation, in parts; with the last one what is known of all of it.
fn recalled(journals: Option<&Path>, id: &SessionId, command: &str, is_copy: bool) -> Vec<Recalled> {
    let (mut age, mut title, mut agent, mut imported) = (None, None, None, Vec::new());
    let (past, trouble) = match journals.map(|dir| found(dir, id, command)) {
        Some(Ok(None)) | None => (Past::default(), None),
        Some(Ok(Some(known))) => {
            age = Some(sessions::age(known.opened));
            // By its first words one that was a copy would be called like its original.
            let asked = || known.name().filter(|_| known.is_question && !known.is_named).map(str::to_owned);
            title = if is_copy { known.name().map(copy_title) } else { known.own_title().or_else(asked) };
            agent = Some(known.agent.clone()).filter(|name| *name != known.command);
            imported = known.imported_names();
            of_known(&known, id, Bounds::default())
        }
        Some(Err(error)) => {
            warn!(%error, "earlier journals cannot be read");
            (Past::default(), Some(format!("the journals of this session cannot be read: {error}")))
        }
    };
    debug!(entries = past.entries.len(), "read from earlier journals");
    let mut parts = if is_copy { past.copied(trouble) } else { past.parts(trouble) };
    if let Some(last) = parts.last_mut() {
        (last.age, last.title, last.agent, last.imported) = (age, title, agent, imported);
    }
    parts
}

/// All that the journals in this directory have of a session, and why that is not all.
pub fn recall(journals: &Path, id: &SessionId, command: &str, bounds: Bounds) -> io::Result<(Past, Option<String>)> {
    Ok(found(journals, id, command)?.map(|known| of_known(&known, id, bounds)).unwrap_or_default())
}

fn found(journals: &Path, id: &SessionId, command: &str) -> io::Result<Option<Known>> {
    sessions::find(journals, id.as_str(), command)
}

fn of_known(known: &Known, id: &SessionId, bounds: Bounds) -> (Past, Option<String>) {
    let mut room = bounds.all;
    let fits = |journal: &&PathBuf| {
        let size = journal.metadata().map_or(0, |meta| lines::written(&meta));
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let mut newest: Vec<&PathBuf> = known.journals.iter().rev().take_while(fits).collect();
    newest.reverse();
    let of = (known.command.as_str(), known.cwd.as_path());
    let unread = |error: io::Error| format!("a part of this session cannot be read: {error}");
    let most = human::bytes(bounds.all);
    if let (Some(journal), true) = (known.journals.last(), newest.is_empty()) {
        let all_but = format!("only the last {} of this session are shown", human::bytes(bounds.end));
        let why = format!("{all_but}, since its journal has more than {most}; `acp-tui search` reads all");
        return match end_of(of, journal, id, bounds.end) {
            (past, Ok(())) => (past, Some(why)),
            (past, Err(error)) => (past, Some(unread(error))),
        };
    }
    let left_out = known.journals.len() - newest.len();
    let left_out = (left_out > 0).then(|| human::count(left_out as u64, "older journal"));
    let mut trouble = left_out.map(|journals| {
        format!("{journals} of this session left out, since all have more than {most}; `acp-tui search` reads them")
    });
    let mut past = Past::default();
    for journal in newest {
        match replayed(of, journal, id, std::mem::take(&mut past)) {
            Ok(all) => past = all,
            Err((before, error)) => {
                past = before;
                trouble = Some(unread(error));
            }
        }
    }
    (past, trouble)
}

/// What was said in the last bytes of a journal. Before them only calls and their answers are replayed, so that it is known
/// in which session and turn that was.
fn end_of((command, cwd): (&str, &Path), journal: &Path, id: &SessionId, bytes: u64) -> (Past, io::Result<()>) {
    let mut file = match lines::open(journal) {
        Ok(file) => file,
        Err(error) => return (Past::default(), Err(error)),
    };
    let model = Model::new(command.to_owned(), cwd.to_string_lossy().into_owned(), Policy::Ask);
    let (mut passed, mut from) = (0, None);
    let sources = sources(journal, id, &Past::default());
    let (mut past, read) = past_of(model, cwd.to_owned(), (id.clone(), Past::default()), sources, |take| {
        let before = lines::written(&file.metadata()?).saturating_sub(bytes);
        lines::each(&mut file, 0, |line| {
            passed += line.len() as u64 + 1;
            let row = lines::row(line);
            if passed > before {
                from = from.or(row.map(|row| row.t));
            } else if matches!(row, Some(Row { what: What::Heard(_, frame), .. }) if is_notification(frame)) {
                return;
            }
            take(&String::from_utf8_lossy(line));
        })
        .map(drop)
    });
    // They are in whole microseconds.
    let from = Duration::try_from_secs_f64(from.unwrap_or_default()).unwrap_or_default();
    let from = from.saturating_sub(Duration::from_micros(1));
    past.entries.retain(|entry| entry.at >= from);
    (past, read)
}

fn is_notification(frame: &str) -> bool {
    matches!(json::members(frame, ["id", "method"]), Ok([None, Some(_)]))
}

/// What these journals have of a session, the oldest first; of one that cannot be read as far as it can.
fn past_before<'a>(of: (&str, &Path), id: &SessionId, journals: impl Iterator<Item = &'a Path>) -> Past {
    let one = |before, journal| replayed(of, journal, id, before).unwrap_or_else(|(before, _)| before);
    journals.fold(Past::default(), one)
}

/// What earlier journals have of the sessions that go on in this one. Nothing when they are too large: then the prompts
/// of a session that goes on are not known.
pub(super) fn earlier(parts: &[Part], journal: &Path, room: u64) -> Option<HashMap<SessionId, Past>> {
    earlier_of(parts, journal, room, |_| true)
}

/// The same of some of them.
fn earlier_of(
    parts: &[Part],
    journal: &Path,
    mut room: u64,
    is_one: impl Fn(&str) -> bool,
) -> Option<HashMap<SessionId, Past>> {
    let mut pasts = HashMap::new();
    let goes_on = |part: &Part| part.journal == journal && part.goes_on && is_one(&part.session_id);
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| goes_on(part)) {
        let is_its = |other: &&Part| other.session == part.session && other.journal != part.journal;
        // They stand in their order, also those that began in the same second.
        let before: Vec<&Part> = parts.iter().take(at).filter(is_its).collect();
        for other in &before {
            room = room.checked_sub(other.journal.metadata().map_or(0, |meta| meta.len()))?;
        }
        let id = SessionId::from(part.session_id.as_str());
        let journals = before.into_iter().map(|part| part.journal.as_path());
        pasts.insert(id.clone(), past_before((&part.command, &part.cwd), &id, journals));
    }
    Some(pasts)
}

/// What earlier journals have of the sessions that were copied in this one: a copy begins with it, and its turns are
/// counted behind it. Nothing for a conversation of which something was there `before`, as that began in none of them.
pub fn sources(journal: &Path, id: &SessionId, before: &Past) -> HashMap<SessionId, Past> {
    if !before.entries.is_empty() {
        return HashMap::new();
    }
    let mut copied: HashMap<SessionId, Past> = HashMap::new();
    let read = lines::open(journal).and_then(|mut file| {
        lines::each(&mut file, 0, |line| {
            copied.extend(copied_in(line).filter(|of| of != id).map(|of| (of, Past::default())));
        })
    });
    let state = journal.parent().and_then(Path::parent);
    if let (Ok(_), Some(state), false) = (read, state, copied.is_empty())
        && let Ok((parts, _)) = sessions::parts(state)
    {
        let is_copied = |of: &str| copied.contains_key(&SessionId::from(of));
        let pasts = earlier_of(&parts, journal, Bounds::default().all, is_copied);
        copied.extend(pasts.unwrap_or_default());
    }
    copied
}

/// The session of which a copy is asked for with this line.
fn copied_in(line: &[u8]) -> Option<SessionId> {
    let [copy, aside]: [&[u8]; 2] = [br#"{"Copy":"#, br#"{"Aside":"#];
    let behind = |how: &[u8]| {
        let from = memchr::memmem::find(line, how)? + how.len();
        serde_json::Deserializer::from_slice(&line[from..]).into_iter::<serde_json::Value>().next()?.ok()
    };
    let id = behind(copy).or_else(|| behind(aside)?.get("from").cloned())?;
    id.as_str().map(SessionId::from)
}

/// What was there before, and behind it what this journal has.
fn replayed(
    (command, cwd): (&str, &Path),
    journal: &Path,
    id: &SessionId,
    before: Past,
) -> Result<Past, (Past, io::Error)> {
    let mut file = match lines::open(journal) {
        Ok(file) => file,
        Err(error) => return Err((before, error)),
    };
    let sources = sources(journal, id, &before);
    let model = Model::new(command.to_owned(), cwd.to_string_lossy().into_owned(), Policy::Ask);
    let lines =
        |take: &mut dyn FnMut(&str)| lines::each(&mut file, 0, |line| take(&String::from_utf8_lossy(line))).map(drop);
    let (past, read) = past_of(model, cwd.to_owned(), (id.clone(), before), sources, lines);
    match read {
        Ok(()) => Ok(past),
        Err(error) => Err((past, error)),
    }
}
