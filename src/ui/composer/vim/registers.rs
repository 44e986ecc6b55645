//! Registers: what was deleted or yanked, by name.
//!
//! Plain data. Invariant: bounded; what is too long for a register is not appended to it.

use std::collections::BTreeMap;

/// What one register holds after something was appended to it.
const MAX_BYTES: usize = 4 << 20;
/// The register of what was yanked last, whatever was deleted since.
const YANKED: char = '0';
const UNNAMED: char = '"';

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Held {
    /// Without the newline behind the last line.
    pub(super) text: String,
    pub(super) lines: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Registers {
    by_name: BTreeMap<char, Held>,
}

/// Whether a register stands for the clipboard.
pub(super) const fn is_clipboard(name: Option<char>) -> bool {
    matches!(name, Some('+' | '*'))
}

impl Registers {
    pub(super) fn get(&self, name: Option<char>) -> Option<&Held> {
        self.by_name.get(&key(name.unwrap_or(UNNAMED)))
    }

    pub(super) fn yank(&mut self, name: Option<char>, held: Held) {
        if name.is_none() {
            self.by_name.insert(YANKED, held.clone());
        }
        self.store(name, held);
    }

    /// What was deleted, or yanked to a register of that name.
    pub(super) fn store(&mut self, name: Option<char>, held: Held) {
        let name = match name {
            Some('_') => return,
            None => UNNAMED,
            Some(name) => name,
        };
        let own = self.by_name.entry(key(name)).or_default();
        if name.is_ascii_uppercase() && own.text.len() + held.text.len() < MAX_BYTES {
            append(own, &held);
        } else {
            *own = held;
        }
        let latest = own.clone();
        self.by_name.insert(UNNAMED, latest);
    }
}

fn key(name: char) -> char {
    if name == '*' { '+' } else { name.to_ascii_lowercase() }
}

/// Lines and characters make lines.
fn append(own: &mut Held, more: &Held) {
    if own.text.is_empty() && !own.lines {
        own.clone_from(more);
        return;
    }
    if own.lines || more.lines {
        own.text.push('\n');
        own.lines = true;
    }
    own.text.push_str(&more.text);
}
