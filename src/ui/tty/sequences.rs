//! What a control sequence of the terminal means, and which key it is.
//!
//! Takes what stands between its beginning and its last byte. Invariant: what is not understood is nothing.

use super::answers;
use super::event::{Click, Input, Scheme, Told};
use super::numbers::{kitty, tilde};
use crate::ui::keys::Key;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub(super) fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Input> {
    Key::from_event(KeyEvent::new(code, modifiers)).map(Input::Key)
}

pub(super) fn plain(code: KeyCode) -> Option<Input> {
    key(code, KeyModifiers::NONE)
}

/// The keys that end in a letter.
pub(super) fn letter(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'R' => KeyCode::F(3),
        b'S' => KeyCode::F(4),
        _ => return None,
    })
}

pub(super) fn sequence(params: &[u8], last: u8) -> Option<Input> {
    let numbers = |params: &[u8]| {
        let text = std::str::from_utf8(params).unwrap_or_default().to_owned();
        let mut all = [[0u32; 2]; 3];
        for (slot, part) in all.iter_mut().zip(text.split(';')) {
            let mut sub = part.split(':').map(|n| n.parse().unwrap_or(0));
            // Key codes are followed by their alternates, which are not asked for; modifiers by the kind of event.
            *slot = [sub.next().unwrap_or(0), sub.next().unwrap_or(0)];
        }
        all
    };
    if let Some(report) = params.strip_prefix(b"<") {
        let [[button, _], [x, _], [y, _]] = numbers(report);
        return mouse([button, x, y], last);
    }
    match (params, last) {
        ([], b'I') => return Some(Input::Focus(true)),
        ([], b'O') => return Some(Input::Focus(false)),
        (b"2;2" | b"2;3", b'R') => return Some(Input::Told(Told::Ambiguous { is_wide: params.ends_with(b"3") })),
        (b"?997;1", b'n') => return Some(Input::Told(Told::Scheme(Scheme::Dark))),
        (b"?997;2", b'n') => return Some(Input::Told(Told::Scheme(Scheme::Light))),
        ([b'0' | b'3'], b'n') => return Some(Input::Told(Told::Arrived)),
        ([b'?', numbers @ ..], b'c') => return Some(Input::Told(answers::attributes(numbers))),
        ([b'?', numbers @ ..], b'S') => return answers::colours(numbers).map(Input::Told),
        // Answers without a question of ours.
        ([b'?' | b'>' | b'=', ..], _) => return None,
        _ => {}
    }
    let [[first, _], [modifiers, kind], [third, _]] = numbers(params);
    let code = match last {
        b'u' => kitty(first)?,
        b'~' if first == 27 => kitty(third)?,
        b'~' => tilde(first)?,
        b'Z' => KeyCode::BackTab,
        // Otherwise it is where the cursor is.
        b'R' if first != 1 && !params.is_empty() => return None,
        other => letter(other)?,
    };
    let kind = if kind == 3 { KeyEventKind::Release } else { KeyEventKind::Press };
    let event = KeyEvent::new_with_kind(code, held(modifiers), kind);
    Key::from_event(event).map(Input::Key)
}

fn held(param: u32) -> KeyModifiers {
    let bits = param.saturating_sub(1);
    [
        KeyModifiers::SHIFT,
        KeyModifiers::ALT,
        KeyModifiers::CONTROL,
        KeyModifiers::SUPER,
        KeyModifiers::HYPER,
        KeyModifiers::META,
    ]
    .into_iter()
    .enumerate()
    .filter(|(bit, _)| bits & (1 << bit) != 0)
    .fold(KeyModifiers::NONE, |held, (_, modifier)| held | modifier)
}

/// The left button, motion while it is down, and the wheel; other buttons and motion are nothing to act on.
pub(super) fn mouse([button, x, y]: [u32; 3], last: u8) -> Option<Input> {
    const HELD: u32 = 4 | 8 | 16;
    let what = match (button & !HELD, last) {
        (0, b'M') => Click::Left,
        (32, b'M') => Click::Drag,
        // Old reports do not tell which button it was.
        (0, b'm') | (3, b'M') => Click::Up,
        (64, b'M') => Click::WheelUp,
        (65, b'M') => Click::WheelDown,
        _ => return None,
    };
    // Terminals count from one.
    let place = |n: u32| u16::try_from(n.saturating_sub(1)).unwrap_or(u16::MAX);
    Some(Input::Mouse { what, x: place(x), y: place(y) })
}
