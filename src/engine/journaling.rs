//! What of the engine's doings goes into the journal and the recording, and what is left out of them.
//!
//! Left out: values of environment variables that an agent gives to a terminal, and file contents that were read only
//! to be answered (they are not part of the model).

use super::core::Line;
use super::masking::masked;
use crate::agent::codec::Codec;
use crate::model::changes::Truth;
use crate::model::event::{HostEvent, Intent, Timer};
use crate::model::ids::{Address, AgentKey, Now};
use crate::store::journal::Journal;
use crate::wire::frame::Frame;
use crate::wire::trace::{Dir, Form, Trace, append_record, open_record, push_frame};
use std::sync::Arc;

/// A line of so many bytes is not copied on its way to the disk.
const LARGE: usize = 64 << 10;

#[derive(Debug)]
pub struct Books {
    /// The address of frames, as members of a record.
    agent: String,
    pub trace: Trace,
    pub journal: Option<Journal>,
    /// How records of incoming frames begin at a time: those of a batch have it in common.
    opened: (Now, String),
    /// What could not be written, to be said.
    pub troubles: Vec<HostEvent>,
}

impl Books {
    /// `agent` is the one whose frames these are.
    pub fn new(agent: AgentKey) -> Self {
        let agent = format!(r#""at":{{"agent":{}}},"#, agent.0);
        Self { agent, trace: Trace::default(), journal: None, opened: (Now::ZERO, String::new()), troubles: Vec::new() }
    }

    pub fn incoming(&mut self, codec: &dyn Codec, frame: &Frame, line: &Arc<str>, now: Now) {
        let form = Form::of(frame);
        self.trace(now, Dir::FromAgent, line, form);
        let Some(journal) = &mut self.journal else { return };
        let redacted = masked(codec, frame, line);
        let kept = redacted.as_deref().unwrap_or(line);
        if form == Form::Raw {
            journal.record(|out| append_record(out, now, Dir::FromAgent, &self.agent, kept, form));
            return;
        }
        let (at, before) = &mut self.opened;
        if *at != now || before.is_empty() {
            *at = now;
            before.clear();
            open_record(before, now, Dir::FromAgent, &self.agent);
        }
        if redacted.is_none() && line.len() >= LARGE {
            journal.record_shared(before.clone(), Arc::clone(line), "}");
        } else {
            journal.record(|out| {
                out.push_str(before);
                push_frame(out, kept);
                out.push('}');
            });
        }
    }

    pub fn outgoing(&mut self, line: &Line, text: &Arc<str>, now: Now) {
        self.trace(now, Dir::ToAgent, text, Form::Json);
        if let Some(journal) = &mut self.journal {
            let kept = line.journal.as_deref().unwrap_or(text);
            journal.record(|out| append_record(out, now, Dir::ToAgent, &self.agent, kept, Form::Json));
        }
    }

    pub fn stderr(&mut self, line: &Arc<str>, now: Now) {
        self.trace(now, Dir::Stderr, line, Form::Raw);
        if let Some(journal) = &mut self.journal {
            journal.record(|out| append_record(out, now, Dir::Stderr, &self.agent, line, Form::Raw));
        }
    }

    fn trace(&mut self, now: Now, dir: Dir, line: &Arc<str>, form: Form) {
        if let Err(error) = self.trace.push(now, dir, line, form) {
            self.troubles.push(recording_failed(&error));
        }
    }

    pub fn fact(&mut self, at: Address, fact: &HostEvent, now: Now) {
        let Some(journal) = &mut self.journal else { return };
        match fact {
            HostEvent::FileRead { req, path, result: Ok(content) } => {
                let brief = format!("[{} bytes]", content.len());
                let fact = HostEvent::FileRead { req: *req, path: path.clone(), result: Ok(brief) };
                journal.fact(now, "host", &at, "fact", &fact);
            }
            // The texts are on the disk and in the frames; what differs is said nowhere else.
            HostEvent::Truths { req, asked, truths } => {
                let brief = |t: &Truth| Truth { old: None, new: "".into(), ..t.clone() };
                let truths = truths.iter().map(brief).collect();
                journal.fact(now, "host", &at, "fact", &HostEvent::Truths { req: *req, asked: *asked, truths });
            }
            fact => journal.fact(now, "host", &at, "fact", fact),
        }
    }

    pub fn intent(&mut self, at: Address, intent: &Intent, now: Now) {
        if let Some(journal) = &mut self.journal {
            journal.fact(now, "person", &at, "intent", intent);
        }
    }

    pub fn timer(&mut self, at: Address, timer: Timer, now: Now) {
        if let Some(journal) = &mut self.journal {
            journal.fact(now, "host", &at, "timer", &timer);
        }
    }

    /// Hands everything on to the disk; what fails is noted in `troubles`.
    pub fn settle(&mut self) {
        if let Some(why) = self.journal.as_mut().and_then(Journal::hand_over) {
            self.troubles.push(HostEvent::JournalFailed { message: why });
        }
        if self.trace.is_recording()
            && let Err(error) = self.trace.flush()
        {
            self.troubles.push(recording_failed(&error));
        }
    }
}

fn recording_failed(error: &std::io::Error) -> HostEvent {
    HostEvent::Warning { message: format!("the recording is not written any more: {error}") }
}
