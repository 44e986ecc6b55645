//! What an agent tells again of a session, beside the transcript that has it already.
//!
//! Data; what of it is new is found out by the reducer. Invariant: it is bounded as a transcript is.
//!
//! What it tells only once it has answered is looked at piece by piece: [`Late`].

use super::entries::Entries;
use super::entry::{Body, ChunkKind, Entry};
use super::event::Update;
use super::history::{Words, fingerprint, is_nothing};
use super::ids::{EntryId, TermId, ToolId, TurnId};
use super::terminal::Terminal;
use super::tool::ToolKind;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Pieces of prompts of which it is remembered where they begin.
const MAX_PIECES: usize = 1 << 14;
/// Those of one prompt that it is known again by.
const MAX_STARTS: usize = 16;

/// What of a session is beside the transcript for as long as the history is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retold {
    pub(super) entries: Entries,
    pub(super) newest_tool: HashMap<ToolId, EntryId>,
    pub(super) messages: HashMap<(ChunkKind, Arc<str>), EntryId>,
    pub(super) plans: HashMap<Option<Arc<str>>, EntryId>,
    pub(super) terminals: BTreeMap<TermId, Terminal>,
    /// Where pieces of prompts begin: some agents put texts of their own before one, and no id tells them apart.
    pieces: Vec<(EntryId, usize)>,
    pub(super) fed: usize,
    pub(super) turn: TurnId,
}

/// A history that is here, and that its agent may yet tell although it has answered the call to load it.
#[derive(Clone, Debug, PartialEq)]
pub struct Late {
    /// Entries before this one have been told, and from `end` on they are no history.
    pub(super) next: EntryId,
    pub(super) end: EntryId,
    /// The turn that is being told.
    pub(super) turn: Option<LateTurn>,
    /// That turn was begun before the call was answered, and no prompt was told since.
    pub(super) is_before: bool,
    /// The turn that followed the answer has ended.
    pub(super) is_behind: bool,
    /// The only prompt that was told is also what is asked now: it may have been told back.
    pub(super) may_be_echo: bool,
    /// Pieces of a message that may become one of the history.
    pub(super) held: Vec<Update>,
    /// What was left out of the turn that runs, since the last prompt of the history.
    pub(super) left_out: Vec<Update>,
}

/// What the transcript has of a turn and its agent has not told yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LateTurn {
    pub(super) said: Texts,
    pub(super) thought: Texts,
    pub(super) calls: Vec<Call>,
    /// Calls that it has told, as it names them.
    pub(super) told: HashSet<ToolId>,
}

/// Texts in their order; of the first one so many bytes have been told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    pub(super) list: VecDeque<Expected>,
    pub(super) heard: usize,
}

/// A text without white space and what is not seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    Text(String),
    /// It has left memory: by what it is known again, and how many bytes it has at most.
    Away {
        print: NonZeroU64,
        most: usize,
        words: Words,
    },
}

/// A call of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub(super) id: Option<NonZeroU64>,
    /// Its kind and title; nothing of one that has left memory.
    pub(super) what: Option<(ToolKind, String)>,
}

impl Call {
    /// Of one that has left memory neither is known.
    pub(super) fn is_like(&self, kind: ToolKind, title: &str) -> bool {
        self.what.as_ref().is_none_or(|(of, own)| *of == kind && fingerprint(own) == fingerprint(title))
    }
}

impl Retold {
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Takes note of a piece of a prompt that was just heard.
    pub(super) fn note_piece(&mut self, entries: &Entries, piece: &str) {
        if let Some(Entry { id, body: Body::User(user), .. }) = entries.last()
            && user.text.ends_with(piece)
            && self.pieces.len() < MAX_PIECES
        {
            self.pieces.push((*id, user.text.len() - piece.len()));
        }
    }

    /// By what a prompt may be known again: as a whole, from one of its pieces on, and by each of them.
    pub(super) fn prints(&self, id: EntryId, text: &str) -> Vec<NonZeroU64> {
        let from = self.pieces.partition_point(|(of, _)| *of < id);
        let starts: Vec<usize> = self.pieces[from..]
            .iter()
            .take_while(|(of, _)| *of == id)
            .take(MAX_STARTS)
            .map(|(_, start)| *start)
            .collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let to_the_end = starts.iter().filter_map(|start| text.get(*start..));
        let alone = starts.iter().zip(ends).filter_map(|(start, end)| text.get(*start..end));
        let all = [text].into_iter().chain(to_the_end).chain(alone);
        all.filter(|text| !text.chars().all(is_nothing)).map(fingerprint).collect()
    }
}
