//! The keys that terminals send as numbers. Knows nothing of sequences. Invariant: nothing but data.

use crossterm::event::KeyCode;

/// Those that end in a `~`.
pub(super) fn tilde(number: u32) -> Option<KeyCode> {
    let f = |n: u32| Some(KeyCode::F(n as u8));
    match number {
        1 | 7 => Some(KeyCode::Home),
        2 => Some(KeyCode::Insert),
        3 => Some(KeyCode::Delete),
        4 | 8 => Some(KeyCode::End),
        5 => Some(KeyCode::PageUp),
        6 => Some(KeyCode::PageDown),
        11..=15 => f(number - 10),
        17..=21 => f(number - 11),
        23..=26 => f(number - 12),
        28 | 29 => f(number - 13),
        31..=34 => f(number - 14),
        _ => None,
    }
}

/// Kitty's numbers: Unicode, and a private range for keys without a character.
pub(super) fn kitty(number: u32) -> Option<KeyCode> {
    Some(match number {
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        127 => KeyCode::Backspace,
        57376..=57398 => KeyCode::F((number - 57376 + 13) as u8),
        // The keypad.
        57399..=57408 => KeyCode::Char(char::from_digit(number - 57399, 10)?),
        57409 => KeyCode::Char('.'),
        57410 => KeyCode::Char('/'),
        57411 => KeyCode::Char('*'),
        57412 => KeyCode::Char('-'),
        57413 => KeyCode::Char('+'),
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        // Locks, media keys and bare modifiers.
        57344..=63743 => return None,
        other => KeyCode::Char(char::from_u32(other).filter(|c| !c.is_control())?),
    })
}
