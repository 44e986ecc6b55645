//! What stands in place of the hints while the review asks for something: a line, a few lines, a yes or no.

use crate::model::changes::{HunkId, Scope, Target, Verdict};
use crate::ui::composer::Composer;
use std::path::PathBuf;

#[derive(Debug)]
pub enum Bar {
    /// A decision and a word to the agent about it. An empty word is just the decision.
    Note(Note),
    Search(Composer),
    /// The name of the file that a patch is written to.
    Export(Composer),
    /// The lines of a hunk.
    Edit(Edit),
    Confirm(Confirm),
    /// What taking the files back would do; `scroll` rows of it are above the view.
    Rewind {
        turn: u64,
        scroll: usize,
    },
}

#[derive(Debug)]
pub struct Note {
    pub verdict: Verdict,
    pub target: Target,
    /// The document that the person saw.
    pub rev: u64,
    pub line: Composer,
}

#[derive(Debug)]
pub struct Edit {
    pub scope: Scope,
    pub path: PathBuf,
    pub hunk: HunkId,
    /// The last line had no newline.
    pub no_newline: bool,
    pub lines: Composer,
}

/// A decision that is asked back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confirm {
    pub what: Doubtful,
    pub rev: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Doubtful {
    RejectAll(usize),
    Force(PathBuf, HunkId),
    /// A hunk of so many lines, of which so many are on the screen, and not the last.
    Unseen {
        target: Target,
        verdict: Verdict,
        lines: usize,
        shown: usize,
    },
}

impl Bar {
    /// The text that is being written, if any.
    pub fn text(&mut self) -> Option<&mut Composer> {
        match self {
            Self::Note(note) => Some(&mut note.line),
            Self::Search(line) | Self::Export(line) => Some(line),
            Self::Edit(edit) => Some(&mut edit.lines),
            Self::Confirm(_) | Self::Rewind { .. } => None,
        }
    }
}
