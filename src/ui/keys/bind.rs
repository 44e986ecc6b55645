//! A row of a table of keys. Plain data.

use super::action::Action;
use super::key::Key;

pub(super) enum Keys {
    These(&'static [Key]),
    /// 1 to 9, without a modifier.
    Digits,
    /// 1 to 9 with Alt.
    AltDigits,
    /// Any character without Ctrl or Alt.
    Text,
}

pub(super) struct Bind {
    pub(super) keys: Keys,
    /// For digits and `Text` the pressed character is put in.
    pub(super) action: Action,
    pub(super) what: &'static str,
}

pub(super) const fn bind(keys: &'static [Key], action: Action, what: &'static str) -> Bind {
    Bind { keys: Keys::These(keys), action, what }
}
