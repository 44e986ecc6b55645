//! What stands in the list, what it asks, and what comes of a key.
//!
//! Data only.

use super::super::attention::Attention;
use super::super::trees::{Fate, Tree};
use super::{Hit, PastSession, Query, Which};
use crate::model::ids::{Now, SessionKey};
use std::path::{Path, PathBuf};

/// A session that is open here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    pub key: SessionKey,
    /// What the filter looks at.
    pub text: String,
    /// Once it has an id.
    pub which: Option<Which>,
    pub attention: Attention,
    pub cwd: PathBuf,
    /// When something was said in it last.
    pub used: Now,
}

impl Open {
    /// Smaller for what is chosen in a list that is opened from this session: it where it waits for the person, another
    /// one that does, it.
    pub(super) fn rank(&self, from: SessionKey) -> (bool, bool) {
        (self.attention != Attention::Waits, self.key != from)
    }
}

/// What becomes of an earlier session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    GoesOn,
    /// A copy of it is opened.
    Forks,
}

/// What the person is asked before it is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ask {
    /// The command of this session is to be started.
    Start(PastSession, How),
    /// What this session is to be called.
    Name { which: Which, line: String },
    /// This session is to be forgotten.
    Forget {
        past: PastSession,
        /// Its changes are kept together with those of so many others.
        others: usize,
        /// Its agent is told too.
        at_agent: bool,
    },
    /// This is to become of the session's worktree.
    Tree(Tree, Fate),
}

/// A row of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Row<'a> {
    Open(&'a Open),
    Past(&'a PastSession),
    Hit(&'a Hit),
}

impl<'a> Row<'a> {
    /// The directory of the session.
    pub fn cwd(self) -> &'a Path {
        match self {
            Self::Open(open) => &open.cwd,
            Self::Past(one) => &one.cwd,
            Self::Hit(hit) => &hit.session.cwd,
        }
    }
}

/// What came of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// It was for the list.
    Stay,
    /// Others are listed than before.
    Reached,
    Close,
    Go(SessionKey),
    GoOn(Box<PastSession>),
    /// A copy is opened, of an earlier session or of one that is open.
    Fork(Box<PastSession>),
    ForkOpen(SessionKey),
    Forget(Box<PastSession>),
    /// It is called like this from now on; without a name, as its agent calls it.
    Rename(Which, Option<String>),
    /// Its transcript is to be written to a file.
    Export(Which),
    Find(Query),
    Tree(Tree, Fate),
    /// It means nothing to the list.
    Other,
}

/// What the agents of these commands can do now.
#[derive(Clone, Copy)]
pub struct Offers<'a> {
    /// One runs, or for another reason the person need not be asked whether it is to be started.
    pub runs: &'a dyn Fn(&str) -> bool,
    /// One runs that forgets this session when it is told to, and has not refused that.
    pub deletes: &'a dyn Fn(&PastSession) -> bool,
    /// Whether one that runs opens copies; nothing when none runs.
    pub forks: &'a dyn Fn(&str) -> Option<bool>,
}

/// What of the list was on the screen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ListFrame {
    /// Rows of the screen, and the rows of the list that stood there.
    pub rows: Vec<(u16, usize)>,
    /// Rows of one page.
    pub page: usize,
    /// All of the command that is to be started could be read.
    pub is_whole: bool,
    /// There was room for the end of what was said in the chosen one.
    pub has_preview: bool,
}
