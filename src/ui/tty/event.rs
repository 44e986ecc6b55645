//! What comes from the terminal, as values. Knows no bytes.

use crate::ui::keys::{Code, Key};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    Key(Key),
    /// A key that came together with others, or after an incomplete sequence: perhaps pasted, or a piece of something
    /// that the terminal sent, so it is no answer.
    Hasty(Key),
    /// As the terminal sent it; the composer cleans it.
    Paste(String),
    Mouse {
        what: Click,
        x: u16,
        y: u16,
    },
    Resize(u16, u16),
    /// `true` when the window gained the focus.
    Focus(bool),
    Told(Told),
}

impl Input {
    /// Whether it types something, or is a key that ends what is typed.
    pub(super) fn is_text(&self) -> bool {
        let (Self::Key(key) | Self::Hasty(key)) = self else { return false };
        matches!(key.code, Code::Char(_) | Code::Enter | Code::Tab | Code::Esc)
    }

    pub(super) fn hasten(&mut self) {
        if let Self::Key(key) = self {
            *self = Self::Hasty(*key);
        }
    }
}

/// What the terminal says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// Red, green and blue of what is behind the words.
    Background(u8, u8, u8),
    /// It shows what programs are at (OSC 7501).
    TakesStatus,
    /// The person has switched to it.
    Scheme(Scheme),
    /// The answer that every terminal gives, with whether it draws sixels: what was asked before it has been answered or
    /// never will be.
    Attributes { sixel: bool },
    /// It takes pictures by kitty's protocol.
    TakesKitty,
    /// It takes pictures as files, as iTerm2 does.
    TakesFiles,
    /// So many colours are in its sixels.
    Colours(u16),
    /// Ambiguous characters have two columns.
    Ambiguous { is_wide: bool },
    /// What was written before it was asked has arrived.
    Arrived,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    Dark,
    Light,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Click {
    /// The left button goes down.
    Left,
    /// It is moved while it is down.
    Drag,
    /// It is let go.
    Up,
    WheelUp,
    WheelDown,
}
