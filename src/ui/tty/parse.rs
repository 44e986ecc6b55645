//! From the bytes of a terminal to what the person did.
//!
//! Understands the keys of the seventies, xterm's modifiers, the kitty protocol as far as it is asked for, mouse and
//! focus reports, bracketed paste, and what the terminal answers about its background. Does not read: it is fed, in
//! pieces of any size. Invariants: the same bytes give the same inputs however they are cut, but for a lone escape at
//! the end of a piece, which is the key and is not held back unless an answer is expected; what is not understood is
//! dropped whole, so that the rest of a sequence never types letters.

use super::input::{Click, Input, Scheme, Told};
use crate::ui::keys::Key;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// No sequence is longer; one that seems to be is dropped.
const MAX_SEQUENCE: usize = 256;
/// The same for strings, such as answers about colours.
const MAX_STRING: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The beginning of something that is not complete yet.
    pending: Vec<u8>,
    /// What has been pasted so far.
    paste: Option<Vec<u8>>,
    /// An answer of the terminal may come: an escape may be its beginning.
    pub(super) expects: bool,
}

/// How long the rest of what has begun may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Patience {
    /// As long as a person needs who types it by hand, or less.
    Short,
    /// Nobody types it: it is the terminal's, and the way from there may be slow.
    Long,
}

/// What is at the start of the bytes.
enum Step {
    /// So many bytes, and what they mean if anything.
    Took(usize, Option<Input>),
    Paste(usize),
    More,
}

impl Parser {
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<Input>) {
        self.pending.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let rest = self.pending.get(at..).unwrap_or_default();
            if let Some(paste) = &mut self.paste {
                at += rest.len();
                if !collect(paste, rest, &mut at) {
                    break;
                }
                out.push(Input::Paste(String::from_utf8_lossy(paste).into_owned()));
                self.paste = None;
                continue;
            }
            match step(rest) {
                Step::Took(n, input) => {
                    at += n;
                    out.extend(input);
                }
                Step::Paste(n) => {
                    at += n;
                    self.paste = Some(Vec::new());
                }
                Step::More if rest == [ESC] && !self.expects => {
                    at += 1;
                    out.extend(plain(KeyCode::Esc));
                }
                Step::More => break,
            }
        }
        self.pending.drain(..at);
    }

    /// Whether something has begun that the next bytes should end soon.
    pub(super) fn torn(&self) -> Option<Patience> {
        match self.pending.as_slice() {
            [] => None,
            [ESC, b']', _, ..] => Some(Patience::Long),
            _ => Some(Patience::Short),
        }
    }

    /// Nothing more has come: what looked like the beginning of a sequence was a key, or is dropped.
    pub(super) fn give_up(&mut self, out: &mut Vec<Input>) {
        match self.pending.as_slice() {
            [ESC] => out.extend(plain(KeyCode::Esc)),
            [ESC, byte @ (b'[' | b'O' | b']')] => out.extend(key(KeyCode::Char(char::from(*byte)), KeyModifiers::ALT)),
            _ => {}
        }
        self.pending.clear();
    }
}

/// Adds to a paste; true when it has come to its end. `at` is moved back to what follows it.
fn collect(paste: &mut Vec<u8>, bytes: &[u8], at: &mut usize) -> bool {
    // The end may have begun in an earlier piece.
    let from = paste.len().saturating_sub(PASTE_END.len() - 1);
    paste.extend_from_slice(bytes);
    let tail = paste.get(from..).unwrap_or_default();
    let Some(found) = tail.windows(PASTE_END.len()).position(|w| w == PASTE_END) else { return false };
    let end = from + found;
    *at -= paste.len() - (end + PASTE_END.len());
    paste.truncate(end);
    true
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Input> {
    Key::from_event(KeyEvent::new(code, modifiers)).map(Input::Key)
}

fn plain(code: KeyCode) -> Option<Input> {
    key(code, KeyModifiers::NONE)
}

fn step(bytes: &[u8]) -> Step {
    match bytes {
        [] => Step::More,
        [ESC, rest @ ..] => match rest {
            [] => Step::More,
            [b'[', ..] => csi(bytes),
            [b'O', ..] => ss3(bytes),
            [b']'] => Step::More,
            [b']', b'0'..=b'9', ..] => osc(bytes),
            // The first is the key; the second may begin a sequence.
            [ESC, ..] => Step::Took(1, plain(KeyCode::Esc)),
            rest => single(rest, KeyModifiers::ALT, 1),
        },
        bytes => single(bytes, KeyModifiers::NONE, 0),
    }
}

/// A control or a character; `before` bytes have been seen already.
fn single(bytes: &[u8], modifiers: KeyModifiers, before: usize) -> Step {
    let Some(&first) = bytes.first() else { return Step::More };
    let control = |c: u8| key(KeyCode::Char(char::from(c)), modifiers | KeyModifiers::CONTROL);
    let input = match first {
        0 => control(b' '),
        b'\r' => key(KeyCode::Enter, modifiers),
        b'\t' => key(KeyCode::Tab, modifiers),
        0x7f => key(KeyCode::Backspace, modifiers),
        1..=0x1a => control(first - 1 + b'a'),
        ESC => None,
        0x1c..=0x1f => control(first - 0x1c + b'4'),
        _ => return character(bytes, modifiers, before),
    };
    Step::Took(before + 1, input)
}

fn character(bytes: &[u8], modifiers: KeyModifiers, before: usize) -> Step {
    let head = bytes.get(..bytes.len().min(4)).unwrap_or_default();
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(head.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
        }
        Err(error) => return error.error_len().map_or(Step::More, |n| Step::Took(before + n, None)),
    };
    match valid.chars().next() {
        Some(c) => Step::Took(before + c.len_utf8(), key(KeyCode::Char(c), modifiers)),
        None => Step::More,
    }
}

fn ss3(bytes: &[u8]) -> Step {
    let Some(&last) = bytes.get(2) else { return Step::More };
    let code = match last {
        b'M' => KeyCode::Enter,
        other => match letter(other) {
            Some(code) => code,
            None => return Step::Took(2, key(KeyCode::Char('O'), KeyModifiers::ALT)),
        },
    };
    Step::Took(3, plain(code))
}

/// A string of the terminal, up to its end: the bell or `ESC \\`.
fn osc(bytes: &[u8]) -> Step {
    let body = bytes.get(2..).unwrap_or_default();
    let Some(len) = body.iter().position(|b| matches!(*b, 7 | ESC | 0x18 | 0x1a)) else {
        return if body.len() > MAX_STRING { Step::Took(bytes.len(), None) } else { Step::More };
    };
    let told = background(body.get(..len).unwrap_or_default()).map(Input::Told);
    match body.get(len..).unwrap_or_default() {
        [ESC] => Step::More,
        [ESC, b'\\', ..] => Step::Took(len + 4, told),
        // It broke off; what follows stands for itself.
        [ESC, ..] => Step::Took(len + 2, None),
        [7, ..] => Step::Took(len + 3, told),
        _ => Step::Took(len + 3, None),
    }
}

/// `11;rgb:ffff/ffff/ffff`, with one to four digits for each, or `11;#ffffff`.
fn background(string: &[u8]) -> Option<Told> {
    let color = std::str::from_utf8(string).ok()?.strip_prefix("11;")?;
    let hex = |digits: &str| {
        let fits = (1..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| fits)?;
        u8::try_from(value * 255 / ((1 << (4 * digits.len())) - 1)).ok()
    };
    if let Some(digits) = color.strip_prefix('#') {
        let third = digits.len() / 3;
        let part = |n: usize| hex(digits.get(n * third..(n + 1) * third)?);
        return (third * 3 == digits.len())
            .then_some(())
            .and_then(|()| Some(Told::Background(part(0)?, part(1)?, part(2)?)));
    }
    let channels = color.strip_prefix("rgb:").or_else(|| color.strip_prefix("rgba:"))?;
    let mut channels = channels.split('/').map(hex);
    Some(Told::Background(channels.next()??, channels.next()??, channels.next()??))
}

/// The keys that end in a letter.
fn letter(last: u8) -> Option<KeyCode> {
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

fn csi(bytes: &[u8]) -> Step {
    let body = bytes.get(2..).unwrap_or_default();
    match body {
        [] => return Step::More,
        // The Linux console.
        [b'[', last, ..] => {
            let f = last.wrapping_sub(b'A').wrapping_add(1);
            return Step::Took(4, if (1..=5).contains(&f) { plain(KeyCode::F(f)) } else { None });
        }
        [b'['] => return Step::More,
        // Mouse as it was before SGR.
        [b'M', button, x, y, ..] => {
            let at = |byte: &u8| u32::from(byte.saturating_sub(32));
            return Step::Took(6, mouse([at(button), at(x), at(y)], b'M'));
        }
        [b'M', ..] => return Step::More,
        _ => {}
    }
    let Some(len) = body.iter().position(|b| !(0x20..=0x3f).contains(b)) else {
        return if body.len() > MAX_SEQUENCE { Step::Took(bytes.len(), None) } else { Step::More };
    };
    let (params, last) = (body.get(..len).unwrap_or_default(), body.get(len).copied().unwrap_or_default());
    match last {
        b'~' if params == b"200" => Step::Paste(len + 3),
        0x40..=0x7e => Step::Took(len + 3, sequence(params, last)),
        // It broke off; what follows stands for itself.
        _ => Step::Took(len + 2, None),
    }
}

fn sequence(params: &[u8], last: u8) -> Option<Input> {
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
        (b"?997;1", b'n') => return Some(Input::Told(Told::Scheme(Scheme::Dark))),
        (b"?997;2", b'n') => return Some(Input::Told(Told::Scheme(Scheme::Light))),
        ([b'?', ..], b'c') => return Some(Input::Told(Told::Attributes)),
        // Answers to questions nobody asked.
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

fn tilde(number: u32) -> Option<KeyCode> {
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
fn kitty(number: u32) -> Option<KeyCode> {
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

/// Presses of the left button and the wheel; motion, releases and other buttons are nothing to act on.
fn mouse([button, x, y]: [u32; 3], last: u8) -> Option<Input> {
    const HELD: u32 = 4 | 8 | 16;
    let what = match (button & !HELD, last) {
        (0, b'M') => Click::Left,
        (64, b'M') => Click::WheelUp,
        (65, b'M') => Click::WheelDown,
        _ => return None,
    };
    // Terminals count from one.
    let place = |n: u32| u16::try_from(n.saturating_sub(1)).unwrap_or(u16::MAX);
    Some(Input::Mouse { what, x: place(x), y: place(y) })
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
