//! What an agent wants of files and commands and has no answer to yet.
//!
//! Data only. Decides nothing.

use super::changes::{Before, WritePreview};
use super::effect::Answer;
use super::event::WriteHow;
use super::ids::{EntryId, ReqId, TurnId};
use super::judge::Request;
use super::ruling::Ruling;
use crate::base::shared::SharedText;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A write of the agent that is not answered yet. What is asked about it, and what becomes of it, goes by this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// What the transcript tells of it.
    pub entry: EntryId,
    /// As the agent has named it.
    pub path: Arc<str>,
    pub content: SharedText,
    pub(super) how: WriteHow,
    /// What the rules have said, where there are any.
    pub(super) ruling: Option<Ruling>,
    /// Where it really is, of a file outside of the session's directories that the person has allowed before.
    pub(super) outside: Option<PathBuf>,
    pub(super) stage: Stage,
}

/// What has to be on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Only the path was shown.
    Nothing,
    On(Before),
}

/// What the person has allowed of a file when the agent asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    turn: TurnId,
    /// The real one.
    path: PathBuf,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Read,
    /// A change of which only the path was shown.
    Path,
    /// As it was compared with the disk for them.
    Change(Before, Arc<str>),
}

impl Approved {
    /// Nothing where what was shown was not what would be on the disk.
    pub(super) fn of(turn: TurnId, preview: &WritePreview) -> Option<Self> {
        let WritePreview { path, old, new, differs } = preview;
        // Texts that were too long to be kept are gone from both.
        let is_known = differs.is_none() && (old.is_some() || !new.is_empty());
        let what = || What::Change(Before(old.clone()), Arc::clone(new));
        is_known.then(|| Self { turn, path: path.clone(), what: what() })
    }

    /// Of a call that shows neither text nor anything else but the path.
    pub(super) const fn of_path(turn: TurnId, path: PathBuf) -> Self {
        Self { turn, path, what: What::Path }
    }

    /// Of a call that reads.
    pub(super) const fn of_read(turn: TurnId, path: PathBuf) -> Self {
        Self { turn, path, what: What::Read }
    }

    /// The same, of the file that it really is.
    #[must_use]
    pub(super) fn at(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// A change of that file.
    pub(super) fn changes(&self, path: &Path) -> bool {
        self.what != What::Read && self.path == path
    }

    /// To read that file in that turn.
    pub(super) fn reads(&self, turn: TurnId, path: &Path) -> bool {
        self.what == What::Read && self.turn == turn && self.path == path
    }

    /// What has to be on the disk for a write of that turn to be just this change; `None` where it is another.
    pub(super) fn fits(self, turn: TurnId, write: &Write) -> Option<Needs> {
        let is_it = self.turn == turn && write.how == WriteHow::default();
        match self.what {
            What::Change(before, after) => (is_it && *after == *write.content).then_some(Needs::On(before)),
            What::Path => is_it.then_some(Needs::Nothing),
            What::Read => None,
        }
    }
}

/// A request that waits for the exit of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    pub req: ReqId,
    /// It wants what was printed, too.
    pub with_output: bool,
}

/// A part of a file that an agent wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    pub(super) line: Option<u32>,
    pub(super) limit: Option<u32>,
    /// As it was judged.
    pub(super) request: Request,
}

impl Slice {
    /// The part of the whole text, and how many lines that has.
    pub fn of(self, whole: &str) -> Answer {
        let lines = whole.split_inclusive('\n').count() as u64;
        let skip = self.line.map_or(0, |line| line.saturating_sub(1)) as usize;
        let take = self.limit.map_or(usize::MAX, |limit| limit as usize);
        let text = whole.split_inclusive('\n').skip(skip).take(take).collect();
        Answer::Content { text, lines: Some(lines) }
    }
}

impl Write {
    /// It waits for the person or for what has to be known before.
    pub fn is_stopped(&self) -> bool {
        self.stage != Stage::Writing
    }

    /// It is decided in the review, piece by piece.
    pub fn is_held(&self) -> bool {
        self.stage == Stage::Holding
    }

    /// The review has to let go of it before it can be forgotten.
    pub(super) fn is_in_review(&self) -> bool {
        matches!(self.stage, Stage::Captured | Stage::Comparing | Stage::Allowed | Stage::Holding)
    }
}

/// How far a write has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing stops it.
    Writing,
    /// Whether it is possible at all is being looked up.
    Checking,
    Asked,
    /// The same, and the review keeps what was on the disk then, for when the person has changed it meanwhile.
    Captured,
    /// The same, but not asked about: the person has allowed just this already, if the disk is still what it was then.
    Comparing,
    /// The person has allowed it; the review writes.
    Allowed,
    /// The review has it.
    Holding,
}
