//! A row of a table of keys. Plain data.

use super::action::Action;
use super::key::{Code, Key, Mods};
use super::layer::Layer;

#[derive(PartialEq)]
pub(super) enum Keys {
    These(Vec<Key>),
    /// 1 to 9, without a modifier.
    Digits,
    /// 1 to 9 with Alt.
    AltDigits,
    /// Any character without Ctrl or Alt.
    Text,
}

#[derive(PartialEq)]
pub(super) struct Bind {
    pub(super) keys: Keys,
    /// For digits and `Text` the pressed character is put in.
    pub(super) action: Action,
    pub(super) what: String,
    pub(super) layers: Vec<Layer>,
}

impl Bind {
    pub(super) fn matches(&self, key: Key) -> Option<Action> {
        match (&self.keys, key.code) {
            (Keys::These(keys), _) => keys.contains(&key).then_some(self.action),
            (Keys::Digits, Code::Char(c)) if key.mods == Mods::default() => number(c).map(Action::Answer),
            (Keys::AltDigits, Code::Char(c)) if key == Key::alt(key.code) => number(c).map(Action::Reply),
            (Keys::Text, Code::Char(c)) if key.mods == Mods::default() => Some(Action::Char(c)),
            (Keys::Digits | Keys::AltDigits | Keys::Text, _) => None,
        }
    }
}

/// A digit but 0.
fn number(c: char) -> Option<u8> {
    c.to_digit(10).filter(|n| *n > 0).and_then(|n| u8::try_from(n).ok())
}

impl Keys {
    pub(super) fn label(&self) -> String {
        match self {
            Keys::These(_) => String::new(),
            Keys::Digits => "1–9".to_owned(),
            Keys::AltDigits => "Alt+1–9".to_owned(),
            Keys::Text => "any text".to_owned(),
        }
    }
}
