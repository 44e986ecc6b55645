//! Reading: an entry of the conversation is selected, and keys are about it.
//!
//! Keeps which, and what is looked for. Invariant: what is selected is an entry that has something on the screen, or one
//! that has gone, which the next step leaves.

use crate::model::entries::Slot;
use crate::model::entry::{Body, Entry};
use crate::model::history::{Away, Kind};
use crate::model::ids::EntryId;
use crate::model::session_ref::SessionRef;
use crate::model::tool::ToolStatus;
use crate::model::tool::deed::deed;
use crate::ui::composer::Composer;
use crate::ui::keys::Step;
use crate::ui::state::folds::Fold;
use crate::ui::state::selection::Selection;
use crate::ui::state::sought::Sought;

#[derive(Debug)]
pub struct Reading {
    pub at: EntryId,
    /// Where the choice of several was begun.
    pub from: Option<EntryId>,
    /// What is looked for, while it is typed.
    pub search: Option<Composer>,
    /// What can be copied has letters, and one of them is waited for.
    pub has_letters: bool,
    /// What was looked for last.
    pub sought: Sought,
    /// How far it was looked for the next entry of a sort, as long as that goes on.
    pub looks: Option<Looks>,
    /// Where that is in what is selected, once it was gone to.
    pub hit: Option<Selection>,
    /// What was unfolded to show that place, to what, and how it was before.
    pub opened: Vec<(EntryId, Fold, Option<Fold>)>,
    /// Of which entry the person was told that its file is outside of the session's directories.
    pub outside: Option<EntryId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    Up,
    Down,
}

/// Where in an entry is looked for a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// In what is seen of its rows.
    Seen,
    /// Also in what is cut off at their edges.
    Laid,
}

impl Reading {
    /// Of the newest entry; nothing when nothing was said.
    pub fn begin(session: SessionRef<'_>) -> Option<Self> {
        let at = session.entries().next_id();
        let sought = Sought::default();
        let mut reading = Self {
            at,
            from: None,
            search: None,
            has_letters: false,
            sought,
            looks: None,
            hit: None,
            opened: Vec::new(),
            outside: None,
        };
        reading.go(session, Way::Up, |_| true).then_some(reading)
    }

    /// Whether an entry is selected.
    pub fn has(&self, entry: EntryId) -> bool {
        let (first, last) = self.ends();
        (first..=last).contains(&entry)
    }

    /// All entries that are selected; some may draw nothing.
    pub fn chosen(&self) -> impl Iterator<Item = EntryId> + use<> {
        let (first, last) = self.ends();
        (first.0..=last.0).map(EntryId)
    }

    fn ends(&self) -> (EntryId, EntryId) {
        let from = self.from.unwrap_or(self.at);
        (from.min(self.at), from.max(self.at))
    }

    /// Goes to the next entry; false, and stays, when there is none. `is_shown` tells what draws something.
    pub fn go(&mut self, session: SessionRef<'_>, way: Way, is_shown: impl Fn(&Entry) -> bool) -> bool {
        let entries = session.entries();
        let is_one = |entry: &Entry| is_worth_reading(&entry.body) && is_shown(entry);
        let found = self.begin_looking(session, Step::Any, way).find(|index| entries.at(*index).is_none_or(is_one));
        if let Some(index) = found {
            (self.at, self.hit) = (entries.id_at(index), None);
        }
        found.is_some()
    }

    /// The places that come next from what is selected on.
    fn begin_looking(&self, session: SessionRef<'_>, step: Step, way: Way) -> Looks {
        let here = session.entries().index_of(self.at);
        let next = match way {
            Way::Up => here.unwrap_or(session.entries().len()).checked_sub(1),
            Way::Down => here.map(|here| here + 1),
        };
        Looks { step, way, next, len: session.entries().len() }
    }

    /// From now on the next entry of a sort is looked for.
    pub fn look(&mut self, session: SessionRef<'_>, step: Step, way: Way) {
        self.looks = Some(self.begin_looking(session, step, way));
    }

    /// Goes on looking. `read` gives what has left memory, or nothing when that has taken long enough; `is_shown` tells
    /// what draws something, and for what was found what has the words.
    pub fn look_on(
        &mut self,
        session: SessionRef<'_>,
        mut read: impl FnMut(&Away, EntryId) -> Option<Entry>,
        is_shown: impl Fn(&Entry) -> bool,
    ) -> Looked {
        let entries = session.entries();
        let Some(mut looks) = self.looks.take() else { return Looked::Nothing };
        looks.len = entries.len();
        while let Some(index) = looks.next() {
            let id = entries.id_at(index);
            let is_it = match entries.slot(index) {
                None => return Looked::Nothing,
                Some(Slot::Here(entry)) => is_of(&entry.body, looks.step) && is_shown(entry),
                Some(Slot::Away(away)) => match kind_is_of(away.kind(), looks.step) {
                    Some(is_it) => is_it,
                    None => match read(away, id) {
                        Some(entry) => is_of(&entry.body, looks.step) && is_shown(&entry),
                        None => {
                            looks.next = Some(index);
                            self.looks = Some(looks);
                            return Looked::NotYet;
                        }
                    },
                },
            };
            if is_it {
                (self.at, self.hit) = (id, None);
                return Looked::Found;
            }
        }
        Looked::Nothing
    }
}

/// What is looked for, and how far it was looked.
#[derive(Clone, Debug)]
pub struct Looks {
    pub step: Step,
    pub way: Way,
    /// The place that comes next.
    next: Option<usize>,
    len: usize,
}

impl Looks {
    /// How many entries are left.
    pub fn left(&self) -> usize {
        match (self.next, self.way) {
            (None, _) => 0,
            (Some(next), Way::Up) => next + 1,
            (Some(next), Way::Down) => self.len.saturating_sub(next),
        }
    }
}

impl Iterator for Looks {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let next = self.next.filter(|next| *next < self.len)?;
        self.next = match self.way {
            Way::Up => next.checked_sub(1),
            Way::Down => Some(next + 1),
        };
        Some(next)
    }
}

/// What came of looking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Looked {
    Found,
    /// There is no more of it.
    Nothing,
    /// There are entries that were not read yet.
    NotYet,
}

/// Whether an entry of this kind is of the sort, where the kind says it.
const fn kind_is_of(kind: Kind, step: Step) -> Option<bool> {
    match (step, kind) {
        (Step::Any, _) | (Step::Prompt, Kind::User) => Some(true),
        (Step::Found, _) | (Step::Failure | Step::Edit, Kind::Tool) => None,
        (Step::Prompt | Step::Failure | Step::Edit, _) => Some(false),
    }
}

/// The end of a turn that changed nothing is no more than a rule.
fn is_worth_reading(body: &Body) -> bool {
    !matches!(body, Body::Changes(changes) if changes.totals.is_empty())
}

/// Whether an entry is of the sort, whatever is looked for.
pub fn is_of(body: &Body, step: Step) -> bool {
    match (step, body) {
        _ if !is_worth_reading(body) => false,
        (Step::Any | Step::Found, _) | (Step::Prompt, Body::User(_)) => true,
        (Step::Failure, Body::Tool(tool)) => tool.status == ToolStatus::Failed || tool.mark.is_some(),
        // Some write a file and show no change.
        (Step::Edit, Body::Tool(tool)) => {
            tool.changes().next().is_some()
                || matches!(deed(tool), "create" | "edit" | "write" | "delete" | "move") && tool.is_finished()
        }
        _ => false,
    }
}
