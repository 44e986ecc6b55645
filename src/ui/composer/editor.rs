//! `Composer`: the text being written and the prompts written before, driven by actions.
//!
//! Does not decide when to send. Invariant: an action that is not about editing changes nothing and is said to.

use super::buffer::Buffer;
use super::recall::Recall;
use super::vim::{Took, Vim};
use super::wrap::ComposerView;
use crate::ui::keys::{Action, Key};
use std::ops::Range;
use std::sync::Arc;

/// Whether an action was one for the composer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edited {
    Yes,
    /// It means something else, or nothing, here.
    No,
}

#[derive(Clone, Debug, Default)]
pub struct Composer {
    buffer: Buffer,
    recall: Recall,
}

impl Composer {
    pub fn text(&self) -> &str {
        self.buffer.text()
    }

    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Nothing that could be sent.
    pub fn is_blank(&self) -> bool {
        self.buffer.text().trim().is_empty()
    }

    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// See [`Buffer::layout`].
    pub fn layout(&self, width: u16, max_rows: u16) -> ComposerView {
        self.buffer.layout(width, max_rows)
    }

    pub fn paste(&mut self, text: &str) {
        self.buffer.paste(text);
    }

    pub fn set_text(&mut self, text: &str) {
        self.buffer.set_text(text);
    }

    /// Puts a prompt that came back in front of what is there.
    pub fn prepend(&mut self, text: &str) {
        self.buffer.prepend(text);
    }

    /// Hands over the text for sending and remembers it for recall.
    pub fn take(&mut self) -> String {
        let text = self.buffer.take();
        self.recall.remember(&text);
        text
    }

    /// Empties the composer (Ctrl+C); undo and Up bring the text back.
    pub fn clear(&mut self) {
        self.recall.remember(self.buffer.text());
        self.buffer.set_text("");
    }

    /// Prompts of other sessions, oldest first, which Up comes to behind those of this one.
    pub fn recall_others(&mut self, prompts: Arc<[Arc<str>]>) {
        self.recall.set_others(prompts);
    }

    pub fn apply(&mut self, action: Action) -> Edited {
        let b = &mut self.buffer;
        match action {
            Action::Char(c) => b.insert_char(c),
            Action::Newline => b.insert_char('\n'),
            Action::Left => b.left(),
            Action::Right => b.right(),
            Action::WordLeft => b.word_left(),
            Action::WordRight => b.word_right(),
            Action::Home => b.home(),
            Action::End => b.end(),
            Action::BufferStart => b.buffer_start(),
            Action::BufferEnd => b.buffer_end(),
            Action::Up => self.up(),
            Action::Down => self.down(),
            Action::Backspace => b.backspace(),
            Action::Delete => b.delete(),
            Action::DeleteWordBack => b.delete_word_back(),
            Action::DeleteWordForward => b.delete_word_forward(),
            Action::KillToEnd => b.kill_to_end(),
            Action::KillLine => b.kill_line(),
            Action::Yank => b.yank(),
            Action::Undo => {
                b.undo();
            }
            Action::Redo => {
                b.redo();
            }
            _ => return Edited::No,
        }
        Edited::Yes
    }

    /// A key goes to Vim's commands first.
    pub fn modal(&mut self, vim: &mut Vim, key: Key) -> Took {
        vim.key(key, &mut self.buffer)
    }

    /// The rows of `view` that show something of what is selected, and the columns of it.
    pub fn selected(&self, vim: &Vim, view: &ComposerView) -> Vec<(u16, Range<u16>)> {
        vim.selection(&self.buffer).map_or_else(Vec::new, |piece| self.buffer.marks(view, piece))
    }

    #[cfg(test)]
    pub(super) fn begin_at(&mut self, at: usize) {
        self.buffer.begin_at(at);
    }

    fn up(&mut self) {
        if self.buffer.up() {
            return;
        }
        if let Some(text) = self.recall.older(self.buffer.text()) {
            self.buffer.set_text(&text);
            // So that Up again goes on to the one before, however many rows this one has.
            self.buffer.first_row_end();
        }
    }

    fn down(&mut self) {
        if self.buffer.down() {
            return;
        }
        if let Some(text) = self.recall.newer(self.buffer.text()) {
            self.buffer.set_text(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(c: &mut Composer, text: &str) {
        for ch in text.chars() {
            c.apply(Action::Char(ch));
        }
    }

    #[test]
    fn recall_keeps_the_draft_through_many_rows() {
        let mut c = Composer::default();
        c.layout(20, 5);
        c.paste("first\nwith two rows");
        c.take();
        typed(&mut c, "second");
        c.take();
        c.paste("draft\nof mine ");
        c.apply(Action::Up);
        assert_eq!(c.text(), "draft\nof mine ");
        c.apply(Action::Up);
        assert_eq!(c.text(), "second");
        c.apply(Action::Up);
        assert_eq!(c.text(), "first\nwith two rows");
        c.apply(Action::Up);
        assert_eq!(c.text(), "first\nwith two rows");
        c.apply(Action::Down);
        c.apply(Action::Down);
        assert_eq!(c.text(), "second");
        c.apply(Action::Down);
        assert_eq!(c.text(), "draft\nof mine ");
    }

    #[test]
    fn a_cleared_draft_can_be_undone() {
        let mut c = Composer::default();
        typed(&mut c, "precious words");
        c.clear();
        assert!(c.is_empty());
        c.apply(Action::Undo);
        assert_eq!(c.text(), "precious words");
    }

    #[test]
    fn other_actions_are_not_for_the_composer() {
        let mut c = Composer::default();
        for action in [Action::Submit, Action::CtrlC, Action::PageUp, Action::Answer(1), Action::Tab] {
            assert_eq!(c.apply(action), Edited::No);
        }
        assert!(c.is_empty());
    }
}
