//! What was changed, in order, so that it can be taken back and done again.
//!
//! Typing and erasing coalesce into runs that end with a word, a motion or another kind of change. Invariant: bounded
//! in steps and bytes; the oldest steps are forgotten first.

use std::ops::Range;

const MAX_STEPS: usize = 1000;
const MAX_BYTES: usize = 32 << 20;

/// Which changes may be taken back together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Typing,
    Erasing,
    /// Pastes, cuts, replacements: each for itself.
    Whole,
}

/// At `at`, `removed` was replaced by `inserted`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) at: usize,
    pub(super) removed: String,
    pub(super) inserted: String,
    pub(super) cursor_before: usize,
    /// Pieces of either that were shown as one word, from where they begin.
    pub(super) removed_chips: Vec<Range<usize>>,
    pub(super) inserted_chips: Vec<Range<usize>>,
    kind: Kind,
    /// Steps of one group are taken back together.
    group: Option<u64>,
}

impl Step {
    pub(super) fn new(at: usize, removed: String, inserted: String, cursor_before: usize, kind: Kind) -> Self {
        let (removed_chips, inserted_chips) = (Vec::new(), Vec::new());
        Self { at, removed, inserted, cursor_before, removed_chips, inserted_chips, kind, group: None }
    }

    fn bytes(&self) -> usize {
        self.removed.len() + self.inserted.len()
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    done: std::collections::VecDeque<Step>,
    undone: Vec<Step>,
    bytes: usize,
    closed: bool,
    group: Option<u64>,
}

impl Undo {
    /// The next change begins a step of its own.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// This piece of what was inserted last is shown as one word.
    pub(super) fn fold_last(&mut self, piece: Range<usize>) {
        if let Some(last) = self.done.back_mut() {
            last.inserted_chips = vec![piece];
        }
    }

    /// Steps from now on are of this group.
    pub(super) fn group(&mut self, group: Option<u64>) {
        if group != self.group {
            self.closed = true;
        }
        self.group = group;
    }

    /// Whether the step that would be taken back next belongs to the one that was.
    pub(super) fn goes_on_back(&self) -> bool {
        is_same_group(self.done.back(), self.undone.last())
    }

    /// The same for what would be done again.
    pub(super) fn goes_on_forth(&self) -> bool {
        is_same_group(self.undone.last(), self.done.back())
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(super) fn record(&mut self, step: Step) {
        let step = Step { group: self.group, ..step };
        for gone in self.undone.drain(..) {
            self.bytes -= gone.bytes();
        }
        self.bytes += step.bytes();
        let merged = !self.closed && self.done.back_mut().is_some_and(|last| merge(last, &step));
        if !merged {
            self.done.push_back(step);
        }
        self.closed = false;
        while self.done.len() > MAX_STEPS || (self.bytes > MAX_BYTES && self.done.len() > 1) {
            if let Some(old) = self.done.pop_front() {
                self.bytes -= old.bytes();
            }
        }
    }

    /// The step to take back; the caller does it.
    pub(super) fn undo(&mut self) -> Option<&Step> {
        let step = self.done.pop_back()?;
        self.undone.push(step);
        self.closed = true;
        self.undone.last()
    }

    /// The step to do again; the caller does it.
    pub(super) fn redo(&mut self) -> Option<&Step> {
        let step = self.undone.pop()?;
        self.done.push_back(step);
        self.closed = true;
        self.done.back()
    }
}

fn is_same_group(next: Option<&Step>, last: Option<&Step>) -> bool {
    next.and_then(|step| step.group).is_some_and(|group| last.is_some_and(|last| last.group == Some(group)))
}

fn merge(last: &mut Step, step: &Step) -> bool {
    if last.kind != step.kind || last.group != step.group {
        return false;
    }
    match step.kind {
        Kind::Typing => {
            let adjoins =
                last.removed.is_empty() && step.removed.is_empty() && last.at + last.inserted.len() == step.at;
            // A word with the blanks after it is one step.
            let new_word =
                last.inserted.ends_with(char::is_whitespace) && !step.inserted.starts_with(char::is_whitespace);
            if !adjoins || new_word {
                return false;
            }
            last.inserted.push_str(&step.inserted);
            true
        }
        Kind::Erasing if !last.inserted.is_empty() || !step.inserted.is_empty() => false,
        Kind::Erasing if step.at + step.removed.len() == last.at => {
            last.removed.insert_str(0, &step.removed);
            last.at = step.at;
            true
        }
        Kind::Erasing if step.at == last.at => {
            last.removed.push_str(&step.removed);
            true
        }
        Kind::Erasing | Kind::Whole => false,
    }
}
