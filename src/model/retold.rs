//! What an agent tells again of a session, beside the transcript that has it already.
//!
//! Data; what of it is new is found out by the reducer. Invariant: it is bounded as a transcript is.

use super::entries::Entries;
use super::entry::{Body, ChunkKind, Entry};
use super::history::{fingerprint, is_nothing};
use super::ids::{EntryId, TermId, ToolId, TurnId};
use super::terminal::Terminal;
use std::collections::{BTreeMap, HashMap};
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
