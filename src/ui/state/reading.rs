//! Reading: an entry of the conversation is selected, and keys are about it.
//!
//! Keeps which, and what is looked for. Invariant: what is selected is an entry that has something on the screen, or one
//! that has gone, which the next step leaves.

use crate::model::entry::Body;
use crate::model::ids::EntryId;
use crate::model::session_ref::SessionRef;
use crate::model::tool::ToolStatus;
use crate::ui::composer::Composer;
use crate::ui::keys::Step;
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
    /// Where that is in what is selected, once it was gone to.
    pub hit: Option<Selection>,
    /// Of which entry the person was told that its file is outside of the session's directories.
    pub outside: Option<EntryId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    Up,
    Down,
}

impl Reading {
    /// Of the newest entry; nothing when nothing was said.
    pub fn begin(session: SessionRef<'_>) -> Option<Self> {
        let at = session.entries().next_id();
        let sought = Sought::default();
        let mut reading = Self { at, from: None, search: None, has_letters: false, sought, hit: None, outside: None };
        reading.go(session, Step::Any, Way::Up, |_| true).then_some(reading)
    }

    /// Whether an entry is selected.
    pub fn has(&self, entry: EntryId) -> bool {
        let from = self.from.unwrap_or(self.at);
        (from.min(self.at)..=from.max(self.at)).contains(&entry)
    }

    /// Goes to the next entry of a sort; false, and stays, when there is none. `is_shown` tells what draws something, and
    /// for what was found what has the words.
    pub fn go(
        &mut self,
        session: SessionRef<'_>,
        step: Step,
        way: Way,
        is_shown: impl Fn(&crate::model::entry::Entry) -> bool,
    ) -> bool {
        let entries = session.entries();
        let len = entries.len();
        let here = entries.index_of(self.at).unwrap_or(len);
        let is_wanted = |index: &usize| {
            let Some(entry) = entries.at(*index) else { return step == Step::Any };
            is_shown(entry) && is_of(&entry.body, step)
        };
        let found = match way {
            Way::Up => (0..here).rev().find(is_wanted),
            Way::Down => (here.saturating_add(1)..len).find(is_wanted),
        };
        if let Some(index) = found {
            (self.at, self.hit) = (entries.id_at(index), None);
        }
        found.is_some()
    }
}

fn is_of(body: &Body, step: Step) -> bool {
    match (step, body) {
        (Step::Any | Step::Found, _) | (Step::Prompt, Body::User(_)) => true,
        (Step::Failure, Body::Tool(tool)) => tool.status == ToolStatus::Failed || tool.mark.is_some(),
        (Step::Edit, Body::Tool(tool)) => tool.content.iter().any(|content| content.change().is_some()),
        _ => false,
    }
}
