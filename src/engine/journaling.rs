//! What of the engine's doings goes into the journal and the recording, and what is left out of them.
//!
//! Left out: values of environment variables that an agent gives to a terminal, file contents that were read only to be
//! answered (they are not part of the model), the lines of a review that is large (they are on the disk), what was
//! typed to log in, and what an agent tells of accounts.

use super::core::Line;
use super::fact::{Fact, Facts, Told};
use super::frames::Frames;
use super::masking::{Masked, masked};
use super::run_name::RunName;
use super::secrets::Secrets;
use crate::agent::codec::Codec;
use crate::base::human;
use crate::base::shared::SharedText;
use crate::model::changes::{ReviewDoc, ReviewEvent, WritePreview};
use crate::model::event::{HostEvent, Intent, Timer};
use crate::model::frames::FrameDir;
use crate::model::ids::{Address, Addressed, AgentKey, Now};
use crate::store::branch;
use crate::store::journal::{Journal, Unwritten};
use crate::store::recording::{Place, Recording};
use crate::store::writer::{Disk, Lost};
use crate::wire::frame::Frame;
use crate::wire::trace::{Dir, Form, append_record, open_record, push_frame};
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::warn;

/// A line of so many bytes is not copied on its way to the disk.
const LARGE: usize = 64 << 10;

#[derive(Debug, Default)]
pub struct Recorder {
    recording: Option<Recording>,
    journal: Option<Journal>,
    /// Why there is none, since the beginning.
    unopened: Option<Lost>,
    /// How records of an agent's frames begin at a time: those of a batch have it in common.
    opened: (Now, AgentKey, String),
    /// What lines of agents are without already.
    secrets: Secrets,
    /// The newest lines.
    pub(super) frames: Frames,
}

impl Recorder {
    pub fn recording(place: Option<Place>, facts: &Facts) -> Self {
        let begin = |place| {
            Recording::begin(place, telling("recording", facts)).inspect_err(|error| warn!(%error, "no recording"))
        };
        Self { recording: place.and_then(|place| begin(place).ok()), ..Self::default() }
    }

    /// From now on these values are written nowhere.
    pub fn hide(&mut self, secrets: Secrets) {
        self.secrets = secrets;
    }

    /// Begins a journal, or tells why there is none.
    pub fn open(&mut self, dir: &Path, stem: RunName, header: &serde_json::Value, facts: &Facts) -> Result<(), String> {
        let facts = facts.clone();
        let tell = move |disk: Disk| facts.send(Fact::Host(Address::All, of_journal(disk)));
        match Journal::telling(dir, &format!("{}.jsonl", stem.name()), header, tell) {
            Ok(journal) => {
                self.journal = Some(journal);
                Ok(())
            }
            Err(error) => {
                let why = format!("{}: {error}", dir.display());
                self.unopened = Some(Lost { why: why.clone(), since: Instant::now(), was_said: true });
                Err(why)
            }
        }
    }

    /// Waits for the last lines of both to be written, one after the other, each so long. Gives what is missing in the
    /// journal, and why the end of the recording is missing, if it is.
    pub async fn close(&mut self, patience: Duration) -> (Option<Unwritten>, Option<String>) {
        let (journal, recording) = (self.journal.take(), self.recording.take());
        let unopened = self.unopened.take().map(|lost| Unwritten { lost, is_there: false });
        let written = tokio::task::spawn_blocking(move || {
            let unwritten = journal.and_then(|journal| journal.close(patience));
            (unwritten.or(unopened), recording.and_then(|recording| recording.close(patience)))
        });
        written.await.unwrap_or_default()
    }

    /// Bytes that are on their way to the journal.
    pub fn waiting(&self) -> usize {
        self.journal.as_ref().map_or(0, Journal::waiting)
    }

    pub fn incoming(&mut self, agent: AgentKey, codec: &dyn Codec, frame: &Frame, line: &SharedText, now: Now) {
        let form = Form::of(frame);
        let (redacted, has_accounts) = match masked(codec, frame, line) {
            Some(Masked { text, has_accounts }) => (Some(text), has_accounts),
            None => (None, false),
        };
        let recorded = redacted.as_deref().filter(|_| has_accounts).map(SharedText::from);
        self.note(agent, now, Dir::FromAgent, recorded.as_ref().unwrap_or(line), form);
        match &redacted {
            Some(redacted) => {
                self.frames.push(now, agent, FrameDir::FromAgent, &redacted.as_str().into(), Some(frame));
            }
            None => self.frames.push(now, agent, FrameDir::FromAgent, line, Some(frame)),
        }
        let Some(journal) = &mut self.journal else { return };
        let kept = redacted.as_deref().unwrap_or(line);
        if form == Form::Raw {
            journal.record(|out| append_record(out, now, Dir::FromAgent, &address(agent), kept, form));
            return;
        }
        let (at, of, before) = &mut self.opened;
        if (*at, *of) != (now, agent) || before.is_empty() {
            (*at, *of) = (now, agent);
            before.clear();
            open_record(before, now, Dir::FromAgent, &address(agent));
        }
        if redacted.is_none() && line.len() >= LARGE {
            journal.record_shared(before.clone(), line.clone(), "}");
        } else {
            journal.record(|out| {
                out.push_str(before);
                push_frame(out, kept);
                out.push('}');
            });
        }
    }

    pub fn outgoing(&mut self, line: &Line, text: &SharedText, now: Now) {
        let hidden = |text: &str| self.secrets.line(text, true).map(SharedText::from);
        let text = &hidden(text).unwrap_or_else(|| text.clone());
        let instead = |brief: Option<&str>| brief.map(|brief| hidden(brief).unwrap_or_else(|| brief.into()));
        let (brief, recorded) = (instead(line.journal.as_deref()), instead(line.recorded.as_deref()));
        self.note(line.agent, now, Dir::ToAgent, recorded.as_ref().unwrap_or(text), Form::Json);
        let listed = recorded.as_ref().or(brief.as_ref()).unwrap_or(text);
        self.frames.push(now, line.agent, FrameDir::ToAgent, listed, None);
        if let Some(journal) = &mut self.journal {
            let kept = brief.as_deref().unwrap_or(text);
            journal.record(|out| append_record(out, now, Dir::ToAgent, &address(line.agent), kept, Form::Json));
        }
    }

    pub fn stderr(&mut self, agent: AgentKey, line: &Arc<str>, now: Now) {
        let line = &SharedText::from(Arc::clone(line));
        self.note(agent, now, Dir::Stderr, line, Form::Raw);
        self.frames.push(now, agent, FrameDir::Stderr, line, None);
        if let Some(journal) = &mut self.journal {
            journal.record(|out| append_record(out, now, Dir::Stderr, &address(agent), line, Form::Raw));
        }
    }

    /// For the recording, in which records of one agent name none.
    fn note(&mut self, agent: AgentKey, now: Now, dir: Dir, line: &SharedText, form: Form) {
        let Some(recording) = &mut self.recording else { return };
        let of = if agent == AgentKey::FIRST { String::new() } else { format!(r#""agent":{},"#, agent.0) };
        recording.line(now, dir, &of, line, form);
    }

    pub fn fact(&mut self, at: Address, fact: &HostEvent, now: Now) {
        if let (Address::Agent(agent), HostEvent::AgentExited { exit, .. }) = (at, fact) {
            let text = &exit.to_note().into();
            self.note(agent, now, Dir::Note, text, Form::Json);
            self.frames.push(now, agent, FrameDir::Note, text, None);
        }
        let brief = match fact {
            HostEvent::FileRead { req, path, result: Ok(content) } => {
                let brief = format!("[{} bytes]", content.len());
                Some(HostEvent::FileRead { req: *req, path: path.clone(), result: Ok(brief) })
            }
            // The texts are on the disk and in the frames; what differs is said nowhere else.
            HostEvent::Review(ReviewEvent::Previews { req, asked, previews }) => {
                let brief = |t: &WritePreview| WritePreview { old: None, new: "".into(), ..t.clone() };
                let previews = previews.iter().map(brief).collect();
                Some(HostEvent::Review(ReviewEvent::Previews { req: *req, asked: *asked, previews }))
            }
            HostEvent::Review(ReviewEvent::ReviewShown { doc }) if size_of_lines(doc) > LARGE => {
                let doc = Arc::new(without_lines(doc));
                Some(HostEvent::Review(ReviewEvent::ReviewShown { doc }))
            }
            _ => None,
        };
        self.write(at, "host", "fact", brief.as_ref().unwrap_or(fact), now);
    }

    pub fn intent(&mut self, at: Address, intent: &Intent, now: Now) {
        self.write(at, "person", "intent", intent, now);
    }

    /// The branch that a directory is on in which a session is about to begin, for the list of sessions.
    pub fn branch(&mut self, cwd: &str, now: Now) {
        if let Some(branch) = self.journal.is_some().then(|| branch::of(Path::new(cwd))).flatten() {
            let on = serde_json::json!({ "cwd": cwd, "branch": branch });
            self.write(Address::All, "host", "branch", &on, now);
        }
    }

    pub fn timer(&mut self, at: Address, timer: Timer, now: Now) {
        self.write(at, "host", "timer", &timer, now);
    }

    fn write(&mut self, at: Address, dir: &str, member: &str, what: &impl Serialize, now: Now) {
        let Some(journal) = &mut self.journal else { return };
        match self.secrets.fact(what) {
            Some(hidden) => journal.fact(now, dir, &at, member, &hidden),
            None => journal.fact(now, dir, &at, member, what),
        }
    }

    /// Hands everything on to the disk, and tells what could not be written.
    pub fn flush(&mut self) -> Told {
        let journal = self.journal.as_mut().and_then(Journal::hand_over);
        let journal = journal.map(|message| HostEvent::JournalFailed { message });
        let recording = self.recording.as_mut().and_then(Recording::hand_over);
        let recording = recording.map(|why| format!("the recording is not written any more: {why}"));
        let recording = recording.map(|message| HostEvent::Warning { message });
        journal.into_iter().chain(recording).map(|event| Addressed::new(Address::All, event)).collect()
    }
}

/// The address of an agent's frames, as a member of a record.
fn address(agent: AgentKey) -> Cow<'static, str> {
    if agent == AgentKey::FIRST {
        return Cow::Borrowed(r#""at":{"agent":0},"#);
    }
    Cow::Owned(format!(r#""at":{{"agent":{}}},"#, agent.0))
}

fn size_of_lines(doc: &ReviewDoc) -> usize {
    let hunks = doc.files.iter().flat_map(|file| &file.hunks);
    hunks.flat_map(|hunk| &*hunk.lines).map(|line| line.text.len()).sum()
}

/// The review with its files, hunks and states, but not their lines.
fn without_lines(doc: &ReviewDoc) -> ReviewDoc {
    let mut doc = doc.clone();
    for file in &mut doc.files {
        for hunk in &mut Arc::make_mut(file).hunks {
            hunk.lines = Arc::default();
        }
    }
    doc
}

/// Says what has become of a disk that is full. Told from the thread that writes: nothing else may happen for a long time.
pub(super) fn telling(what: &'static str, facts: &Facts) -> impl Fn(Disk) + Send + use<> {
    let facts = facts.clone();
    move |disk| facts.send(Fact::Host(Address::All, HostEvent::Warning { message: words(what, disk) }))
}

/// The same of the journal: as long as it waits, that stays in sight.
fn of_journal(disk: Disk) -> HostEvent {
    let waits = matches!(disk, Disk::Full(_));
    let message = words("journal", disk);
    if waits { HostEvent::JournalWaits { message } } else { HostEvent::JournalGoesOn { message } }
}

fn words(what: &str, disk: Disk) -> String {
    match disk {
        Disk::Full(why) => {
            format!("the {what} waits for room on the disk: {why}; what is said until then is lost when acp-tui ends")
        }
        Disk::HasRoom { missing: 0 } => format!("the disk has room again: nothing of the {what} is missing"),
        Disk::HasRoom { missing } => {
            format!("the disk has room again: {} of the {what} missing", human::count(missing, "line"))
        }
    }
}
