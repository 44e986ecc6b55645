//! A history that an agent tells again behind its answer to the call to load its session.
//!
//! What is known of the session is asked for when something is told that may be of it, and not before. Invariant: what it
//! leaves out is what the transcript leaves out.

use super::{Message, Role};
use crate::model::entry::{Body, ChunkKind, Message as Text, Thought, UserMessage, UserState};
use crate::model::event::Update;
use crate::model::ids::Now;
use crate::model::reduce::Sifting;
use crate::model::tool::ToolCall;

/// Prompts that are remembered, and pieces that were told behind the answer.
const MAX_TOLD: usize = 10_000;
/// Seconds from what was told last to what is asked, within which the telling may have been cut off by that.
const SOON: f64 = 5.0;

/// A session that was loaded.
#[derive(Default)]
pub struct Retelling {
    /// Prompts that were told until the call was answered, and what was told behind the last of them.
    told: Vec<String>,
    since: Vec<Body>,
    /// That is over.
    is_told: bool,
    /// What was told behind that, in the same breath: prompts, and what followed the last one.
    waiting: Vec<Update>,
    /// When something was told last.
    last: Option<f64>,
    /// What was asked since, and when.
    asked: Option<(String, f64)>,
    /// The telling may go on in the turn.
    is_cut: bool,
    /// The agent has said something to that.
    spoke: bool,
    /// The turn has ended.
    is_behind: bool,
    sifting: Option<Sifting>,
}

impl Retelling {
    /// What was told until the call was answered, in its order.
    pub fn has_told<'a>(&mut self, all: &[Told<'a>]) {
        let is_prompt = |told: &Told<'a>| matches!(told, Told::Said(message) if message.role == Role::User);
        let last = all.iter().rposition(is_prompt);
        for told in all {
            match told {
                Told::Said(message) if message.role == Role::User => {
                    self.since.clear();
                    if self.told.len() < MAX_TOLD {
                        self.told.push(message.text.clone());
                    }
                }
                _ => {}
            }
        }
        let since = all.get(last.map_or(0, |last| last + 1)..).unwrap_or_default();
        self.since.extend(since.iter().take(MAX_TOLD).map(Told::body));
    }

    pub fn is_told(&self) -> bool {
        self.is_told
    }

    pub fn told_all(&mut self) {
        self.is_told = true;
    }

    /// Nothing followed the prompt that was told last.
    pub fn ends_with_prompt(&self) -> bool {
        !self.told.is_empty() && self.since.is_empty()
    }

    /// Something is told, before the call was answered or behind it in the same breath.
    pub fn tells(&mut self, update: &Update, t: f64) {
        let Some(kind) = kind(update) else { return };
        self.last = Some(t);
        if !self.is_told {
            return;
        }
        let is_prompt = |one: &Update| one.speaker() == Some(ChunkKind::User);
        // Turns that were told to their end are known by their prompts.
        if kind == Kind::Prompt && !self.waiting.last().is_none_or(is_prompt) {
            self.waiting.retain(is_prompt);
        }
        if self.waiting.len() < MAX_TOLD {
            self.waiting.push(update.clone());
        }
    }

    /// False: something was asked before, and no history comes any more.
    pub fn asks(&mut self, prompt: &str, t: f64) -> bool {
        if self.asked.is_some() {
            return false;
        }
        let is_soon = self.last.is_some_and(|last| t - last < SOON);
        self.is_cut = is_soon || !self.waiting.is_empty() || self.ends_with_prompt();
        self.asked = Some((prompt.to_owned(), t));
        if let Some(sifting) = &mut self.sifting {
            sifting.asks(prompt.to_owned(), false);
        }
        true
    }

    /// What of an update is no history. `known` is what was said in the session before a moment.
    pub fn sift(&mut self, update: Update, t: f64, known: impl FnOnce(f64) -> Vec<Body>) -> Vec<Update> {
        let may_be_of_it = match kind(&update) {
            Some(Kind::Prompt) => true,
            Some(Kind::Other) => self.is_cut || self.asked.is_none() && self.last.is_some(),
            None => false,
        };
        if self.sifting.is_none() && may_be_of_it {
            let running = self.asked.as_ref().filter(|_| !self.is_behind);
            let known = known(running.map_or(t, |(_, t)| *t));
            let mut sifting = Sifting::of(known, &self.told, &std::mem::take(&mut self.since));
            sifting.heard(self.waiting.drain(..));
            if let Some((prompt, _)) = running {
                sifting.asks(prompt.clone(), self.spoke);
            }
            self.sifting = Some(sifting);
        }
        self.spoke = true;
        match &mut self.sifting {
            Some(sifting) => sifting.sift(update),
            None => vec![update],
        }
    }

    /// The turn has ended: what of it was waited with.
    pub fn turn_over(&mut self) -> Vec<Update> {
        self.is_behind = true;
        self.sifting.as_mut().map(Sifting::turn_over).unwrap_or_default()
    }
}

/// A message or a call that was told again.
pub enum Told<'a> {
    Said(&'a Message),
    Done(&'a ToolCall),
}

impl Told<'_> {
    fn body(&self) -> Body {
        match self {
            Self::Said(message) => body((*message).clone()),
            Self::Done(call) => Body::Tool(Box::new((*call).clone())),
        }
    }
}

#[derive(PartialEq)]
enum Kind {
    Prompt,
    Other,
}

/// What of a history it may be.
fn kind(update: &Update) -> Option<Kind> {
    match update {
        Update::ToolCall(_) | Update::ToolUpdate(_) => Some(Kind::Other),
        _ => update.speaker().map(|kind| if kind == ChunkKind::User { Kind::Prompt } else { Kind::Other }),
    }
}

/// What a message is in a transcript.
pub fn body(message: Message) -> Body {
    let text = |text: String| Text { text, ..Text::default() };
    match message.role {
        Role::User => {
            let (links, state) = (Vec::new(), UserState::Sent);
            Body::User(UserMessage { text: message.text, links, state, message_id: None, sent: None })
        }
        Role::Agent => Body::Agent(text(message.text)),
        Role::Thought => Body::Thought(Thought { message: text(message.text), until: Now::ZERO }),
        Role::Tool => {
            let (kind, title) = message.tool.split_once(' ').unwrap_or_default();
            let mut tool = ToolCall::new(message.call.unwrap_or_default().into(), Now::ZERO);
            tool.kind = serde_json::from_value(kind.into()).unwrap_or_default();
            title.clone_into(&mut tool.title);
            Body::Tool(Box::new(tool))
        }
    }
}
