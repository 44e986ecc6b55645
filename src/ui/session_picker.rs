//! "Which session?": the screen of `acp-tui --resume` without a name.
//!
//! The list of sessions before there is any session that is open; starts nothing itself.

use super::keys::{Action, Keymap, Layer, resolve};
use super::state::session_list::{ListFrame, Offers, Past, PastSession, SessionList, Step, Taste};
use super::tty::{Click, Input};
use super::view::session_list::{Look, draw};
use crate::theme::resolve::Theme;
use ratatui::buffer::Buffer;
use std::path::{Path, PathBuf};

/// Rows that one notch of the wheel moves.
const WHEEL: isize = 3;

#[derive(Debug)]
pub struct SessionPicker {
    pub list: SessionList,
    /// The person has named the agent that goes on with it.
    is_named: bool,
    frame: ListFrame,
}

/// Whether an action only types or moves.
const fn is_typing(action: Action) -> bool {
    use Action::{Backspace, Char, Down, End, Home, PageDown, PageUp, Up};
    matches!(action, Char(_) | Backspace | Up | Down | PageUp | PageDown | Home | End)
}

impl SessionPicker {
    pub fn new(here: PathBuf, past: Past, is_named: bool) -> Self {
        Self { list: SessionList::new(here, Vec::new(), past, Taste::default()), is_named, frame: ListFrame::default() }
    }

    /// One input of the person.
    pub fn input(&mut self, input: Input) -> Step {
        let layer = if self.list.wants_a_yes() { Layer::ReviewConfirm } else { Layer::Sessions };
        match input {
            // What is pasted types, and decides nothing.
            Input::Hasty(key) if self.list.wants_a_yes() || !resolve(layer, key).is_some_and(is_typing) => Step::Stay,
            Input::Key(key) | Input::Hasty(key) => match resolve(layer, key) {
                Some(action) => self.act(action),
                None => Step::Stay,
            },
            Input::Paste(text) => {
                self.list.type_text(&text);
                Step::Stay
            }
            Input::Mouse { what: Click::WheelUp, .. } if self.list.asks.is_none() => {
                self.list.step(-WHEEL);
                Step::Stay
            }
            Input::Mouse { what: Click::WheelDown, .. } if self.list.asks.is_none() => {
                self.list.step(WHEEL);
                Step::Stay
            }
            Input::Mouse { what: Click::Left, y, .. } if self.list.asks.is_none() => {
                let Some((_, row)) = self.frame.rows.iter().find(|(row, _)| *row == y).copied() else {
                    return Step::Stay;
                };
                self.list.select(row);
                self.act(Action::Accept)
            }
            Input::Mouse { .. } | Input::Resize(..) | Input::Focus(_) | Input::Told(_) => Step::Stay,
        }
    }

    fn act(&mut self, action: Action) -> Step {
        let is_named = self.is_named;
        self.list.act(action, &self.frame, Offers { runs: &|_| is_named, deletes: &|_| false, forks: &|_| Some(false) })
    }

    /// The session of which the end is to be read, since there was room for it.
    pub fn wants_end(&mut self) -> Option<PastSession> {
        self.list.wants_end(self.frame.has_preview)
    }

    /// Draws the whole screen. Returns where the cursor stands.
    pub fn draw(&mut self, theme: &Theme, home: Option<&Path>, buf: &mut Buffer) -> Option<(u16, u16)> {
        self.frame = ListFrame::default();
        let keys = Keymap::default();
        let look = Look { theme, home, keys: &keys, open: &|_, _| None, said: &|_| Vec::new(), escape: "{Esc} leaves" };
        draw(&self.list, look, buf.area, &mut self.frame, buf).map(|at| (at.x, at.y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keys::{Code, Key};
    use crate::ui::state::session_list::{End, Starts};

    #[test]
    fn a_yes_that_comes_with_other_keys_forgets_nothing() {
        let journals = vec![PathBuf::from("a.jsonl")];
        let one = PastSession::clean("a".into(), "A", "a --acp".into(), Starts::Unknown, "/shop".into());
        let one = one.used(60, 3, End::Ended, journals, false);
        let mut picker = SessionPicker::new("/shop".into(), Past::Read([one].into()), false);
        assert!(matches!(picker.input(Input::Key(Key::plain(Code::Delete))), Step::Stay));
        assert!(picker.list.wants_a_yes());
        assert!(matches!(picker.input(Input::Hasty(Key::char('y'))), Step::Stay));
        assert!(picker.list.wants_a_yes(), "still asked");
        assert!(matches!(picker.input(Input::Key(Key::char('y'))), Step::Forget(_)));
    }
}
