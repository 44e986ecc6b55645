//! A rule that the person makes of a question: what it says, and for how long it is to hold.
//!
//! Knows no rules: what a text would do is the model's to say. Invariant: until the person has written something, the
//! text is one that was proposed.

use crate::model::ids::ReqId;
use crate::model::ruling::{Ruled, Scope, Weighed, Weighing};
use crate::ui::composer::Composer;

#[derive(Clone, Debug)]
pub struct RuleDraft {
    /// The question.
    pub req: ReqId,
    pub line: Composer,
    pub list: Ruled,
    pub scope: Scope,
    /// Which of what was proposed it is.
    at: usize,
    is_written: bool,
}

impl RuleDraft {
    pub fn new(req: ReqId) -> Self {
        let line = Composer::default();
        Self { req, line, list: Ruled::Allow, scope: Scope::default(), at: 0, is_written: false }
    }

    /// Takes what is proposed, once that is known.
    pub fn sync(&mut self, weighing: Option<&Weighing>) {
        let is_of_this = |weighing: &&Weighing| weighing.req == self.req && weighing.list == self.list;
        let Some(weighing) = weighing.filter(|weighing| is_of_this(weighing) && !self.is_written) else { return };
        if self.line.is_empty()
            && let Some(first) = weighing.proposed.first()
        {
            self.line.set_text(&first.text);
        }
    }

    /// The next wider proposal, or the next narrower one.
    pub fn step(&mut self, weighing: Option<&Weighing>, by: isize) {
        let Some(weighing) = weighing.filter(|weighing| weighing.req == self.req) else { return };
        let at = self.at.saturating_add_signed(by).min(weighing.proposed.len().saturating_sub(1));
        if let Some(proposed) = weighing.proposed.get(at) {
            self.at = at;
            self.line.set_text(&proposed.text);
        }
    }

    /// The text is the person's own now.
    pub fn is_changed(&mut self) {
        self.is_written = true;
    }

    /// Nothing was proposed that could stand there, and the person has written nothing.
    pub fn is_untouched(&self) -> bool {
        self.line.is_empty() && !self.is_written
    }

    /// What is known of the text.
    pub fn weighed<'a>(&self, weighing: Option<&'a Weighing>) -> Option<&'a Weighed> {
        weighing.filter(|weighing| weighing.req == self.req)?.of(self.line.text())
    }

    /// What was proposed first gives way to what is proposed for that list; what the person has chosen or written stays.
    pub fn next_list(&mut self) {
        if self.at == 0 && !self.is_written {
            self.line.set_text("");
        }
        self.list = match self.list {
            Ruled::Allow => Ruled::Ask,
            Ruled::Ask | Ruled::Open => Ruled::Deny,
            Ruled::Deny => Ruled::Allow,
        };
    }
}
