//! `Composer`: the text being written and the prompts written before, driven by actions; beside it a line for a command of
//! the person's own.
//!
//! Does not decide when to send. Invariants: an action that is not about editing changes nothing and is said to; a prompt never
//! gets into the line of a command.

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

/// A text and what was written there before.
#[derive(Clone, Debug, Default)]
struct Line {
    buffer: Buffer,
    recall: Recall,
}

#[derive(Clone, Debug, Default)]
pub struct Composer {
    prompt: Line,
    /// Behind `!`: a command of the person's. What comes back meanwhile waits in the prompt.
    shell: Line,
    is_shell: bool,
}

impl Composer {
    const fn line(&self) -> &Line {
        if self.is_shell { &self.shell } else { &self.prompt }
    }

    const fn line_mut(&mut self) -> &mut Line {
        if self.is_shell { &mut self.shell } else { &mut self.prompt }
    }

    pub fn text(&self) -> &str {
        self.line().buffer.text()
    }

    /// What is written for the agent, also while a command is written.
    pub fn prompt(&self) -> &str {
        self.prompt.buffer.text()
    }

    /// The command that is being written.
    pub fn command(&self) -> &str {
        if self.is_shell { self.shell.buffer.text() } else { "" }
    }

    pub fn is_empty(&self) -> bool {
        self.line().buffer.is_empty()
    }

    /// Nothing that could be sent or run.
    pub fn is_blank(&self) -> bool {
        [&self.prompt, &self.shell].iter().all(|line| line.buffer.text().trim().is_empty())
    }

    /// A command is written, and no prompt.
    pub const fn is_shell(&self) -> bool {
        self.is_shell
    }

    /// From now on a command is written.
    pub fn begin_shell(&mut self) {
        self.is_shell = true;
    }

    /// Back to the prompt; what was written is remembered.
    pub fn leave_shell(&mut self) {
        if self.is_shell {
            let _ = self.take();
            self.is_shell = false;
        }
    }

    pub fn buffer(&self) -> &Buffer {
        &self.line().buffer
    }

    /// See [`Buffer::layout`].
    pub fn layout(&self, width: u16, max_rows: u16) -> ComposerView {
        self.line().buffer.layout(width, max_rows)
    }

    pub fn paste(&mut self, text: &str) {
        self.line_mut().buffer.paste(text);
    }

    /// The same; what is long is shown as one word until it is unfolded.
    pub fn paste_folded(&mut self, text: &str) {
        self.line_mut().buffer.paste_folded(text);
    }

    /// Shows all that is folded. False: nothing is.
    pub fn unfold(&mut self) -> bool {
        self.line_mut().buffer.unfold()
    }

    /// The prompt is this.
    pub fn set_text(&mut self, text: &str) {
        self.leave_shell();
        self.prompt.buffer.set_text(text);
    }

    /// Puts a prompt that came back in front of what is there.
    pub fn prepend(&mut self, text: &str) {
        self.prompt.buffer.prepend(text);
    }

    /// What was written before this run: the prompt stands in front of what is there, and a command is what is written
    /// only where nothing else was; else Up has it behind the next `!`.
    pub fn bring(&mut self, prompt: &str, command: &str, may_run: bool) {
        let is_free = may_run && self.is_blank() && !self.is_shell;
        self.prompt.buffer.prepend(prompt);
        if command.is_empty() {
            return;
        }
        if is_free {
            self.is_shell = true;
            self.shell.buffer.set_text(command);
        } else {
            self.shell.recall.remember(command);
        }
    }

    /// Hands over the text for sending and remembers it for recall.
    pub fn take(&mut self) -> String {
        let line = self.line_mut();
        let text = line.buffer.take();
        line.recall.remember(&text);
        text
    }

    /// Empties the composer (Ctrl+C); undo and Up bring the text back.
    pub fn clear(&mut self) {
        let line = self.line_mut();
        line.recall.remember(line.buffer.text());
        line.buffer.set_text("");
    }

    /// Prompts of other sessions, oldest first, which Up comes to behind those of this one.
    pub fn recall_others(&mut self, prompts: Arc<[Arc<str>]>) {
        self.prompt.recall.set_others(prompts);
    }

    pub fn apply(&mut self, action: Action) -> Edited {
        let b = &mut self.line_mut().buffer;
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
        vim.key(key, &mut self.line_mut().buffer)
    }

    /// The rows of `view` that show something of what is selected, and the columns of it.
    pub fn selected(&self, vim: &Vim, view: &ComposerView) -> Vec<(u16, Range<u16>)> {
        vim.selection(self.buffer()).map_or_else(Vec::new, |piece| self.buffer().marks(view, piece))
    }

    #[cfg(test)]
    pub(super) fn begin_at(&mut self, at: usize) {
        self.line_mut().buffer.begin_at(at);
    }

    fn up(&mut self) {
        let line = self.line_mut();
        if line.buffer.up() {
            return;
        }
        if let Some(text) = line.recall.older(line.buffer.text()) {
            line.buffer.set_text(&text);
            // So that Up again goes on to the one before, however many rows this one has.
            line.buffer.first_row_end();
        }
    }

    fn down(&mut self) {
        let line = self.line_mut();
        if line.buffer.down() {
            return;
        }
        if let Some(text) = line.recall.newer(line.buffer.text()) {
            line.buffer.set_text(&text);
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
    fn a_command_comes_back_where_nothing_else_was_written() {
        let brought = |before: &str, may_run| {
            let mut c = Composer::default();
            typed(&mut c, before);
            c.bring("sent back", "make test", may_run);
            c
        };
        let c = brought("", true);
        assert_eq!((c.is_shell(), c.command(), c.prompt()), (true, "make test", "sent back"));
        for mut c in [brought("words", true), brought("", false)] {
            assert_eq!((c.is_shell(), c.command()), (false, ""));
            c.begin_shell();
            c.apply(Action::Up);
            assert_eq!(c.text(), "make test", "it is behind the next `!`");
        }
        let mut c = Composer::default();
        c.bring("sent back", "", true);
        assert!(!c.is_shell() && c.text() == "sent back");
    }

    #[test]
    fn other_actions_are_not_for_the_composer() {
        let mut c = Composer::default();
        for action in [Action::Submit, Action::CtrlC, Action::PageUp, Action::Answer(1), Action::Tab] {
            assert_eq!(c.apply(action), Edited::No);
        }
        assert!(c.is_empty());
    }

    #[test]
    fn a_command_and_the_prompt_are_kept_apart() {
        let mut c = Composer::default();
        typed(&mut c, "a prompt");
        c.take();
        c.begin_shell();
        typed(&mut c, "make");
        c.prepend("sent back");
        assert_eq!((c.text(), c.prompt()), ("make", "sent back"));
        c.apply(Action::Up);
        assert_eq!(c.text(), "make", "prompts are no commands");
        assert_eq!(c.take(), "make");
        c.leave_shell();
        assert_eq!(c.text(), "sent back");
        c.clear();
        c.begin_shell();
        c.apply(Action::Up);
        assert_eq!(c.text(), "make");
        c.set_text("chosen");
        assert!(!c.is_shell() && c.text() == "chosen");
    }
}
