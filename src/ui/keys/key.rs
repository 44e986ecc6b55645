//! `Key`: one key press in one shape for all encodings of terminals.
//!
//! Terminals say the same thing in two languages: bytes from the seventies (Ctrl+H is a backspace, Ctrl+M is Enter)
//! and the kitty protocol, which tells them apart. Here both become one value. Invariant: a `Key` is a press or a
//! repeat, never a release; a plain `Char` carries no Shift, since its case already says so; it is never a control.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Code {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Insert,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mods {
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    pub code: Code,
    pub mods: Mods,
}

impl Key {
    pub const fn plain(code: Code) -> Self {
        Self { code, mods: Mods { ctrl: false, alt: false, shift: false } }
    }

    /// What is pressed, without what is held.
    pub fn letter(self) -> String {
        Self::plain(self.code).to_string().to_uppercase()
    }

    /// One digit and nothing held.
    pub fn is_digit(self) -> bool {
        matches!(self.code, Code::Char(c) if c.is_ascii_digit()) && self == Self::plain(self.code)
    }

    pub const fn char(c: char) -> Self {
        Self::plain(Code::Char(c))
    }

    pub const fn ctrl(code: Code) -> Self {
        Self { code, mods: Mods { ctrl: true, alt: false, shift: false } }
    }

    pub const fn alt(code: Code) -> Self {
        Self { code, mods: Mods { ctrl: false, alt: true, shift: false } }
    }

    pub const fn shift(code: Code) -> Self {
        Self { code, mods: Mods { ctrl: false, alt: false, shift: true } }
    }

    /// `None` for releases, bare modifiers, keys that cannot be bound, and everything pressed with Super or Hyper (a
    /// window manager's shortcut that slipped through must not type a letter).
    pub fn from_event(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        if event.modifiers.intersects(KeyModifiers::SUPER | KeyModifiers::HYPER) {
            return None;
        }
        let mods = Mods {
            ctrl: event.modifiers.contains(KeyModifiers::CONTROL),
            alt: event.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::META),
            shift: event.modifiers.contains(KeyModifiers::SHIFT),
        };
        let code = match event.code {
            KeyCode::Char(c) => return from_char(c, mods),
            KeyCode::Enter => Code::Enter,
            KeyCode::Esc => Code::Esc,
            KeyCode::Tab if mods.shift => Code::BackTab,
            KeyCode::Tab => Code::Tab,
            KeyCode::BackTab => Code::BackTab,
            KeyCode::Backspace => Code::Backspace,
            KeyCode::Delete => Code::Delete,
            KeyCode::Insert => Code::Insert,
            KeyCode::Left => Code::Left,
            KeyCode::Right => Code::Right,
            KeyCode::Up => Code::Up,
            KeyCode::Down => Code::Down,
            KeyCode::Home => Code::Home,
            KeyCode::End => Code::End,
            KeyCode::PageUp => Code::PageUp,
            KeyCode::PageDown => Code::PageDown,
            KeyCode::F(n) => Code::F(n),
            KeyCode::Null
            | KeyCode::CapsLock
            | KeyCode::ScrollLock
            | KeyCode::NumLock
            | KeyCode::PrintScreen
            | KeyCode::Pause
            | KeyCode::Menu
            | KeyCode::KeypadBegin
            | KeyCode::Media(_)
            | KeyCode::Modifier(_) => return None,
        };
        // Shift is part of BackTab itself.
        let shift = mods.shift && code != Code::BackTab;
        Some(Self { code, mods: Mods { shift, ..mods } })
    }
}

fn from_char(c: char, mods: Mods) -> Option<Key> {
    match c {
        '\r' => return Some(Key { code: Code::Enter, mods }),
        '\n' => return Some(Key::ctrl(Code::Char('j'))),
        '\t' => return Some(Key { code: Code::Tab, mods }),
        c if c.is_control() => return None,
        _ => {}
    }
    if mods.ctrl {
        let c = single_lowercase(c);
        let code = match c {
            // What these bytes have always been: a terminal without the kitty protocol cannot tell them apart, so
            // one that can must not behave differently.
            'h' => return Some(Key { code: Code::Backspace, mods: Mods { alt: mods.alt, ..Mods::default() } }),
            'm' => Code::Enter,
            'i' => Code::Tab,
            '[' => Code::Esc,
            // 0x1C to 0x1F arrive as digits.
            '4' => Code::Char('\\'),
            '5' => Code::Char(']'),
            '6' => Code::Char('^'),
            '7' | '/' => Code::Char('_'),
            '-' if mods.shift => Code::Char('_'),
            c => Code::Char(c),
        };
        let shift = mods.shift && matches!(code, Code::Char(c) if c.is_alphabetic());
        let ctrl = matches!(code, Code::Char(_));
        return Some(Key { code, mods: Mods { ctrl, alt: mods.alt, shift } });
    }
    if mods.alt {
        // Alt+P and Alt+Shift+P are one key: Caps Lock must not lose a shortcut.
        return Some(Key::alt(Code::Char(single_lowercase(c))));
    }
    Some(Key::char(c))
}

/// Lower case where that is one character, else unchanged.
fn single_lowercase(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(l), None) => l,
        _ => c,
    }
}

impl fmt::Display for Key {
    /// As help shows it: `Ctrl+W`, `Alt+Enter`, `PageUp`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mods.ctrl {
            f.write_str("Ctrl+")?;
        }
        if self.mods.alt {
            f.write_str("Alt+")?;
        }
        if self.mods.shift {
            f.write_str("Shift+")?;
        }
        match self.code {
            Code::Char(' ') => f.write_str("Space"),
            Code::Char(c) if self.mods.ctrl || self.mods.alt => write!(f, "{}", c.to_uppercase()),
            Code::Char(c) => write!(f, "{c}"),
            Code::Enter => f.write_str("Enter"),
            Code::Esc => f.write_str("Esc"),
            Code::Tab => f.write_str("Tab"),
            Code::BackTab => f.write_str("Shift+Tab"),
            Code::Backspace => f.write_str("Backspace"),
            Code::Delete => f.write_str("Delete"),
            Code::Insert => f.write_str("Insert"),
            Code::Left => f.write_str("Left"),
            Code::Right => f.write_str("Right"),
            Code::Up => f.write_str("Up"),
            Code::Down => f.write_str("Down"),
            Code::Home => f.write_str("Home"),
            Code::End => f.write_str("End"),
            Code::PageUp => f.write_str("PageUp"),
            Code::PageDown => f.write_str("PageDown"),
            Code::F(n) => write!(f, "F{n}"),
        }
    }
}

impl Key {
    /// A key as the file spells it: `ctrl+g`, `shift+tab`, `f3`, `A`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut mods = Mods::default();
        let mut rest = text.trim();
        while let Some((front, back)) = rest.split_once('+').filter(|(_, back)| !back.is_empty()) {
            match front.to_ascii_lowercase().as_str() {
                "ctrl" => mods.ctrl = true,
                "alt" => mods.alt = true,
                "shift" => mods.shift = true,
                _ => return None,
            }
            rest = back;
        }
        let mut chars = rest.chars();
        let code = match (chars.next()?, chars.next()) {
            (c, None) if c.is_control() => return None,
            (c, None) => Code::Char(c),
            _ => named(&rest.to_ascii_lowercase())?,
        };
        Some(match code {
            Code::Tab if mods.shift => Self { code: Code::BackTab, mods: Mods { shift: false, ..mods } },
            Code::Char(c) if mods.ctrl || mods.alt => {
                Self { code: Code::Char(c.to_lowercase().next().unwrap_or(c)), mods }
            }
            // The case of a letter says whether Shift is held.
            Code::Char(c) if mods.shift => Self::char(c.to_uppercase().next().unwrap_or(c)),
            code => Self { code, mods },
        })
    }

    /// The same the other way round.
    pub(super) fn spelled(self) -> String {
        match self {
            Self { code: Code::Char(c), mods } if c != ' ' && mods == Mods::default() => c.to_string(),
            other => other.to_string().to_lowercase(),
        }
    }
}

fn named(word: &str) -> Option<Code> {
    Some(match word {
        "enter" => Code::Enter,
        "esc" => Code::Esc,
        "tab" => Code::Tab,
        "space" => Code::Char(' '),
        "backspace" => Code::Backspace,
        "delete" => Code::Delete,
        "insert" => Code::Insert,
        "left" => Code::Left,
        "right" => Code::Right,
        "up" => Code::Up,
        "down" => Code::Down,
        "home" => Code::Home,
        "end" => Code::End,
        "pageup" => Code::PageUp,
        "pagedown" => Code::PageDown,
        _ => Code::F(word.strip_prefix('f')?.parse().ok().filter(|n| (1..=24).contains(n))?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, mods: KeyModifiers) -> Option<Key> {
        Key::from_event(KeyEvent::new(code, mods))
    }

    #[test]
    fn ctrl_j_is_not_enter_and_ctrl_m_is() {
        assert_eq!(key(KeyCode::Char('j'), KeyModifiers::CONTROL), Some(Key::ctrl(Code::Char('j'))));
        assert_eq!(key(KeyCode::Enter, KeyModifiers::NONE), Some(Key::plain(Code::Enter)));
        assert_eq!(key(KeyCode::Char('m'), KeyModifiers::CONTROL), Some(Key::plain(Code::Enter)));
    }

    #[test]
    fn enter_keeps_its_modifiers() {
        assert_eq!(key(KeyCode::Enter, KeyModifiers::ALT), Some(Key::alt(Code::Enter)));
        assert_eq!(key(KeyCode::Enter, KeyModifiers::SHIFT), Some(Key::shift(Code::Enter)));
    }

    #[test]
    fn releases_are_ignored_and_repeats_are_presses() {
        let mut event = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE);
        event.kind = KeyEventKind::Release;
        assert_eq!(Key::from_event(event), None);
        event.kind = KeyEventKind::Repeat;
        assert_eq!(Key::from_event(event), Some(Key::char('a')));
    }

    #[test]
    fn both_backspaces_are_one() {
        assert_eq!(key(KeyCode::Char('h'), KeyModifiers::CONTROL), Some(Key::plain(Code::Backspace)));
        assert_eq!(key(KeyCode::Backspace, KeyModifiers::NONE), Some(Key::plain(Code::Backspace)));
        assert_eq!(key(KeyCode::Backspace, KeyModifiers::ALT), Some(Key::alt(Code::Backspace)));
    }

    #[test]
    fn shift_tab_is_back_tab_in_both_encodings() {
        let want = Some(Key::plain(Code::BackTab));
        assert_eq!(key(KeyCode::Tab, KeyModifiers::SHIFT), want);
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT), want);
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::NONE), want);
    }

    #[test]
    fn case_lives_in_the_character_or_nowhere() {
        assert_eq!(key(KeyCode::Char('A'), KeyModifiers::SHIFT), Some(Key::char('A')));
        assert_eq!(key(KeyCode::Char('C'), KeyModifiers::CONTROL), Some(Key::ctrl(Code::Char('c'))));
        assert_eq!(key(KeyCode::Char('P'), KeyModifiers::ALT | KeyModifiers::SHIFT), Some(Key::alt(Code::Char('p'))));
        assert_ne!(
            key(KeyCode::Char('c'), KeyModifiers::CONTROL | KeyModifiers::SHIFT),
            Some(Key::ctrl(Code::Char('c')))
        );
    }

    #[test]
    fn ctrl_underscore_in_three_spellings() {
        let want = Some(Key::ctrl(Code::Char('_')));
        assert_eq!(key(KeyCode::Char('7'), KeyModifiers::CONTROL), want);
        assert_eq!(key(KeyCode::Char('_'), KeyModifiers::CONTROL | KeyModifiers::SHIFT), want);
        assert_eq!(key(KeyCode::Char('-'), KeyModifiers::CONTROL | KeyModifiers::SHIFT), want);
    }

    #[test]
    fn window_manager_keys_and_controls_type_nothing() {
        assert_eq!(key(KeyCode::Char('v'), KeyModifiers::SUPER), None);
        assert_eq!(key(KeyCode::Char('\u{9b}'), KeyModifiers::NONE), None);
        assert_eq!(key(KeyCode::CapsLock, KeyModifiers::NONE), None);
    }
}
