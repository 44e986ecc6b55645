//! Entries whose content has left memory: where it is, and what is known of them without reading it.
//!
//! Knows no file: who writes and reads is told by a [`Span`]. Invariants: what is read back is the entry that left, and
//! an entry that cannot be read back says so in its place.

use super::entry::{Attachment, Body, ChunkKind, Entry, Level, Notice, UserState};
use super::ids::{EntryId, Now, TurnId};
use crate::base::sanitize;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hasher as _};
use std::num::NonZeroU64;

/// Bytes of the newest entries that stay in memory.
pub const HELD: usize = 1 << 20;
/// So much more has to come before entries leave again.
pub const LEAVE_STEP: usize = 256 << 10;

/// Where the content of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub at: u64,
    pub len: u32,
}

/// Reads back what has left memory.
pub trait History: Debug + Send + Sync {
    /// The error is for people.
    fn read(&self, span: Span) -> Result<Entry, String>;
}

/// Where nothing leaves memory.
#[derive(Debug)]
pub struct NoHistory;

impl History for NoHistory {
    fn read(&self, _span: Span) -> Result<Entry, String> {
        Err("nothing is kept outside of memory".to_owned())
    }
}

/// An entry that was written.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    pub id: EntryId,
    /// As it was when it was written.
    pub rev: u64,
    pub span: Span,
}

/// What an entry is, as far as its neighbours on the screen have to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    User,
    Agent,
    Thought,
    /// Of the person's prompt.
    UserAttachment,
    Attachment,
    Tool,
    Plan,
    Terminal,
    File,
    Notice,
    Changes,
}

impl Kind {
    pub fn of(body: &Body) -> Self {
        match body {
            Body::User(_) => Self::User,
            Body::Agent(_) => Self::Agent,
            Body::Thought(_) => Self::Thought,
            Body::Attachment(Attachment { from: ChunkKind::User, .. }) => Self::UserAttachment,
            Body::Attachment(_) => Self::Attachment,
            Body::Tool(_) => Self::Tool,
            Body::Plan(_) => Self::Plan,
            Body::Terminal(_) => Self::Terminal,
            Body::File(_) => Self::File,
            Body::Notice(_) => Self::Notice,
            Body::Changes(_) => Self::Changes,
        }
    }
}

/// By what an entry is known again when an agent tells it once more: the words of a message, or the id of a call.
/// Nothing else is known again.
pub fn fingerprint_of(body: &Body) -> Option<NonZeroU64> {
    let words = match body {
        Body::User(user) => &user.text,
        Body::Agent(message) => &message.text,
        Body::Thought(thought) => &thought.message.text,
        Body::Tool(tool) => tool.id.as_str(),
        _ => return None,
    };
    Some(fingerprint(words))
}

/// Of words: white space and what is not seen do not count, since agents lose them.
pub fn fingerprint(words: &str) -> NonZeroU64 {
    let mut all = Words::default();
    all.add(words);
    all.print()
}

/// Words that come piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Words(DefaultHasher);

impl Words {
    pub fn add(&mut self, words: &str) {
        words.split(is_nothing).for_each(|word| self.0.write(word.as_bytes()));
    }

    pub fn print(&self) -> NonZeroU64 {
        NonZeroU64::new(self.0.finish()).unwrap_or(NonZeroU64::MIN)
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.print() == other.print()
    }
}

/// White space, and characters of which nothing is seen by themselves.
pub fn is_nothing(c: char) -> bool {
    let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    c.is_whitespace() || joins || sanitize::is_deceptive(c)
}

/// An entry that is not in memory. Nothing is added to it, and it draws something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away {
    at: u64,
    len: u32,
    rev: u32,
    /// Bytes of its text.
    text: u32,
    /// By what it is known again, see [`fingerprint_of`].
    print: Option<NonZeroU64>,
    kind: Kind,
    /// Its prompt was refused since it left.
    is_dropped: bool,
}

impl Away {
    /// Nothing when it has changed so often that it cannot be said.
    pub(super) fn of(entry: &Entry, span: Span) -> Option<Self> {
        let text = match &entry.body {
            Body::User(m) => m.text.len(),
            Body::Agent(m) => m.text.len(),
            Body::Thought(t) => t.message.text.len(),
            _ => 0,
        };
        let (rev, text) = (u32::try_from(entry.rev).ok()?, u32::try_from(text).ok()?);
        let (print, kind) = (fingerprint_of(&entry.body), Kind::of(&entry.body));
        Some(Self { at: span.at, len: span.len, rev, text, print, kind, is_dropped: false })
    }

    /// By what it is known again.
    pub const fn fingerprint(&self) -> Option<NonZeroU64> {
        self.print
    }

    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Bytes of the text of a message; 0 of anything else.
    pub const fn text_len(&self) -> usize {
        self.text as usize
    }

    /// Whether this was read of it, and it has not changed since.
    pub fn is_like(&self, entry: &Entry) -> bool {
        entry.rev == u64::from(self.rev)
    }

    pub(super) fn touch(&mut self) {
        self.rev = self.rev.saturating_add(1);
    }

    /// The prompt is not part of the conversation any more.
    pub(super) fn drop_prompt(&mut self) {
        self.is_dropped = true;
        self.touch();
    }

    /// The entry as it was, or one that says why it cannot be read.
    pub fn read(&self, id: EntryId, history: &dyn History) -> Entry {
        let rev = u64::from(self.rev);
        let read = history.read(Span { at: self.at, len: self.len });
        let wrong = || "there is something else in its place".to_owned();
        match read.and_then(|entry| if entry.id == id { Ok(entry) } else { Err(wrong()) }) {
            Ok(mut entry) => {
                entry.rev = rev;
                entry.finished = true;
                if let (true, Body::User(user)) = (self.is_dropped, &mut entry.body) {
                    user.state = UserState::Dropped;
                }
                entry
            }
            Err(why) => {
                let title = format!("this part of the transcript cannot be read back: {why}");
                let body = Body::Notice(Notice::new(Level::Warn, title, Vec::new()));
                Entry { id, rev, finished: true, turn: TurnId::default(), at: Now::ZERO, body }
            }
        }
    }
}

/// A history without a file, for tests.
#[cfg(test)]
pub mod fixture {
    use super::{History, Left, Span};
    use crate::model::Model;
    use crate::model::effect::Effect;
    use crate::model::entry::Entry;
    use crate::model::event::{Event, Hint};
    use crate::model::ids::{Address, Addressed, Now};
    use crate::model::reduce::reduce;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Debug, Default)]
    pub struct Memory {
        entries: Arc<Mutex<Vec<Entry>>>,
        pub is_broken: bool,
    }

    impl History for Memory {
        fn read(&self, span: Span) -> Result<Entry, String> {
            if self.is_broken {
                return Err("the disk is broken".into());
            }
            Ok(self.entries.lock().unwrap()[usize::try_from(span.at).unwrap()].clone())
        }
    }

    impl Memory {
        /// Applies an event and takes the entries that leave, as the engine does.
        pub fn reduce(&self, model: &mut Model, event: Addressed<Event>, now: Now) -> Vec<Addressed<Effect>> {
            if let Some((at, id, away)) = model.away(&event) {
                let entry = Box::new(away.read(id, self));
                reduce(model, Addressed::new(at, Event::Hint(Hint::Back(entry))), now);
            }
            let effects = reduce(model, event, now);
            for effect in &effects {
                if let (Address::Session(at), Effect::MoveOut(ids)) = (effect.at, &effect.what) {
                    let gone = ids.iter().filter_map(|id| model.session_of(at)?.entries().get(*id));
                    let left = gone.map(|entry| self.keep(entry)).collect();
                    reduce(model, Addressed::new(at, Event::Hint(Hint::Left(left))), now);
                }
            }
            effects
        }

        fn keep(&self, entry: &Entry) -> Left {
            let mut entries = self.entries.lock().unwrap();
            entries.push(entry.clone());
            Left { id: entry.id, rev: entry.rev, span: Span { at: entries.len() as u64 - 1, len: 1 } }
        }
    }
}
