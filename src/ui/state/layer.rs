//! Who has the keyboard: the layer of keys that counts, from what is open and where the focus is.
//!
//! Told from the state alone, so that what a key does and what the screen says of it cannot differ. Which keys a layer
//! has is the keymap's.

use super::review::ReviewState;
use super::review::bar::Bar;
use super::{App, Focus};
use crate::ui::keys::Layer;

impl App {
    /// Where a key goes. The order of the lines is the order of precedence.
    pub fn layer(&self) -> Layer {
        if self.types_a_line() {
            return Layer::Line;
        }
        if self.help.is_some() || self.picker.is_some() {
            return Layer::Picker;
        }
        if let Some(list) = self.list.as_ref().filter(|_| !self.answers_from_list()) {
            return if list.wants_a_yes() { Layer::ReviewConfirm } else { Layer::Sessions };
        }
        if self.inspector.is_some() && self.view.focus == Focus::Composer {
            return Layer::Picker;
        }
        match &self.view.reading {
            Some(reading) if reading.search.is_some() || reading.has_letters => return Layer::Line,
            Some(_) if self.view.focus == Focus::Composer => return Layer::Reading,
            _ if self.view.queued.is_some() && self.view.focus == Focus::Composer => return Layer::Queue,
            _ => {}
        }
        match self.view.focus {
            Focus::Dock if self.view.dock.form().is_some() => Layer::Form,
            Focus::Dock if self.view.dock.rule.is_some() => Layer::Rule,
            Focus::Dock => Layer::Dock,
            Focus::Composer => Layer::Composer,
            Focus::Terminal(_) => Layer::Terminal,
            Focus::Review => self.view.review.as_ref().map_or(Layer::Review, ReviewState::layer),
        }
    }
}

impl ReviewState {
    fn layer(&self) -> Layer {
        match &self.bar {
            None => Layer::Review,
            Some(Bar::Edit(_)) => Layer::ReviewEdit,
            Some(Bar::Note(_) | Bar::Search(_) | Bar::Export(_)) => Layer::Line,
            Some(Bar::Confirm(_) | Bar::Rewind { .. }) => Layer::ReviewConfirm,
        }
    }
}
