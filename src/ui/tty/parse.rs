//! From the bytes of a terminal to what the person did.
//!
//! Understands the keys of the seventies, xterm's modifiers, the kitty protocol as far as it is asked for, mouse and
//! focus reports, bracketed paste, and what the terminal answers about its background and about pictures. Does not read: it is fed, in
//! pieces of any size. Invariants: the same bytes give the same inputs however they are cut, but for a lone escape at
//! the end of a piece, which is the key and is not held back unless an answer is expected; what is not understood is
//! dropped whole, so that the rest of a sequence never types letters, not even when it comes late or is too long. What
//! may be such a rest, or typed, is a hasty key, which answers nothing.

use super::answers;
use super::event::Input;
use super::late::{Doubt, after, completes, missing};
use super::paste::{self, Behind, Heard, Paste, Silence};
use super::sequences::{key, letter, mouse, plain, sequence};
use crossterm::event::{KeyCode, KeyModifiers};

const ESC: u8 = 0x1b;
/// Bytes of a report of the mouse as it was before SGR, after what introduces it.
const MOUSE: usize = 4;
/// No sequence is longer; one that seems to be is dropped.
const MAX_SEQUENCE: usize = 256;
/// The same for strings, such as answers about colours.
const MAX_STRING: usize = 4096;
/// So much of a string without an end is dropped before the bytes are keys again.
const MAX_DROPPED: usize = 1 << 20;
/// The same after a pause, of an answer about a colour: no more of it can be missing.
const MAX_MISSING: usize = 64;

#[derive(Debug, Default)]
pub struct Parser {
    /// The beginning of something that is not complete yet.
    pending: Vec<u8>,
    /// What is being pasted.
    paste: Option<Paste>,
    /// A paste has just ended.
    behind: Option<Behind>,
    /// An answer of the terminal may come: an escape may be its beginning.
    pub(super) expects: bool,
    /// What is being dropped.
    open: Option<Open>,
    /// What was given out as a key may have been a beginning all the same.
    doubt: Option<Doubt>,
    /// The beginning of what is incomplete was given out as a key: the whole of it is none that types or answers.
    is_rest: bool,
}

/// A sequence that was given up for its rest did not come in time, or one that is too long.
#[derive(Debug)]
struct Open {
    kind: Kind,
    /// How much of it has been dropped.
    dropped: usize,
    /// Nothing has come for a while: a single key now is the person's.
    paused: bool,
    /// Nothing has come for long: only what has the end in it is its rest.
    is_late: bool,
    /// It has come to an escape, which ends it or begins something else; true when it came alone, as a key does.
    escape: Option<bool>,
    /// How many bytes its last character lacks, or all of it where its length is known.
    lacks: u8,
    /// What has come of a control sequence: pasting may begin with it.
    head: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Control,
    /// Of the mouse as it was before SGR: three bytes of any kind end it.
    Mouse,
    Color,
    Text,
}

/// How long the rest of what has begun may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    /// As long as a person needs who types it by hand, or less.
    Short,
    /// No key: it is the terminal's, and the way from there may be slow.
    Long,
    /// Nothing is held back: how long bytes that look like the rest are taken for it.
    Memory,
}

/// What is at the start of the bytes.
enum Step {
    /// So many bytes, and what they mean if anything.
    Took(usize, Option<Input>),
    Paste(usize),
    /// So many bytes of a string that is too long.
    Drop(usize),
    More,
}

impl Parser {
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Input>) {
        let bytes = self.drop_rest(bytes);
        if bytes.is_empty() || self.is_heard(bytes, out) {
            return;
        }
        let mut suspected = None;
        if self.paste.is_none() && self.pending.is_empty() {
            let missing = missing(self.doubt, bytes);
            self.is_rest = !missing.is_empty();
            self.pending.extend_from_slice(missing);
            match (self.doubt, bytes) {
                _ if self.is_rest => {}
                (Some(Doubt::Escape | Doubt::Late(ESC)), [introducer @ (b'[' | b'O' | b']')]) => {
                    out.extend(plain(KeyCode::Char(char::from(*introducer))));
                    self.doubt = Some(if *introducer == b']' { Doubt::Introducer(b']') } else { Doubt::Typed });
                    return;
                }
                (doubt, _) => suspected = doubt.filter(|doubt| doubt.suspects(bytes)).map(|_| out.len()),
            }
        }
        let is_in_doubt = suspected.is_some() || matches!(self.doubt, Some(Doubt::Number(_)));
        self.doubt = after(bytes).filter(|_| is_in_doubt);
        self.pending.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let rest = self.pending.get(at..).unwrap_or_default();
            if let Some(paste) = &mut self.paste {
                let ended = paste.take(rest, out);
                at += ended.unwrap_or(rest.len());
                if ended.is_none() {
                    break;
                }
                (self.paste, self.behind) = (None, Some(Behind::default()));
                continue;
            }
            match step(rest) {
                Step::Took(n, input) => {
                    at += n;
                    let is_rest = std::mem::take(&mut self.is_rest);
                    let input = input.filter(|input| !(is_rest && input.is_text()));
                    match &mut self.behind {
                        // It was a mark within the paste that had ended it.
                        Some(behind) if rest.starts_with(paste::END) => std::mem::take(behind).interrupted(out),
                        Some(behind) => input.into_iter().for_each(|input| behind.add(input, out)),
                        None => out.extend(input),
                    }
                }
                Step::Paste(n) => {
                    at += n;
                    self.is_rest = false;
                    self.paste = Some(Paste::default());
                    self.behind.take().into_iter().for_each(|behind| behind.interrupted(out));
                }
                Step::Drop(n) => {
                    self.open = Some(Open { dropped: n, paused: false, ..Open::given_up(Kind::Text, &[]) });
                    at += n;
                }
                Step::More if rest == [ESC] && !self.expects && self.behind.is_none() => {
                    at += 1;
                    out.extend(plain(KeyCode::Esc));
                    self.doubt = Some(Doubt::Escape);
                }
                Step::More => break,
            }
        }
        self.pending.drain(..at);
        let suspects = suspected.and_then(|from| out.get_mut(from..)).unwrap_or_default();
        suspects.iter_mut().for_each(Input::hasten);
        // Shifts for one character: as `ESC O`, in one byte or as UTF-8, and the seldom `ESC N`.
        if self.pending.is_empty() && matches!(bytes, [0x8e | 0x8f] | [0xc2, 0x8e | 0x8f] | [ESC, b'N']) {
            self.doubt = Some(Doubt::Introducer(b'O'));
        }
    }

    /// Whether that is all about bytes which come in a paste after a silence.
    fn is_heard(&mut self, bytes: &[u8], out: &mut Vec<Input>) -> bool {
        let Some(paste) = &mut self.paste else { return false };
        match paste.hear(bytes, whole) {
            Heard::Text => return false,
            Heard::Waits => {}
            Heard::Beside(inputs) => out.extend(inputs),
            Heard::Key => {
                paste.end(out);
                self.paste = None;
                return false;
            }
            Heard::Stop => {
                paste.end(out);
                self.paste = None;
            }
        }
        true
    }

    /// Drops what belongs to an open sequence; what is left stands for itself.
    fn drop_rest<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.doubt == Some(Doubt::End) && !bytes.is_empty() {
            self.doubt = Some(Doubt::Escape);
            if let [b'\\', rest @ ..] = bytes {
                self.doubt = None;
                return rest;
            }
        }
        let Some(mut open) = self.open.take() else { return bytes };
        if open.escape.is_some() && !bytes.is_empty() {
            if let [b'\\', rest @ ..] = bytes {
                return rest;
            }
            self.pending.push(ESC);
            return bytes;
        }
        if open.paused && open.is_typed(bytes) {
            self.doubt = (open.kind == Kind::Control).then_some(Doubt::Typed);
            return bytes;
        }
        let whole = bytes.len();
        if open.kind == Kind::Mouse {
            let (rest, after) = bytes.split_at(whole.min(open.lacks.into()));
            open.lacks = rest.iter().fold(open.lacks, |lacks, _| lacks.saturating_sub(1));
            self.open = (open.lacks > 0).then_some(open);
            return after;
        }
        let end = match open.kind {
            Kind::Mouse => None,
            Kind::Control => bytes.iter().position(|b| !(0x20..=0x3f).contains(b)),
            Kind::Color | Kind::Text => end(bytes, &mut open.lacks),
        };
        let from = match (open.kind, end.and_then(|at| bytes.get(at..))) {
            (_, None) => whole,
            (Kind::Control, Some(rest)) => whole - rest.len() + usize::from(matches!(rest, [0x40..=0x7e, ..])),
            (_, Some([ESC])) => {
                open.escape = Some(whole == 1);
                self.open = Some(open);
                return &[];
            }
            (_, Some([ESC, b'\\', rest @ ..])) => whole - rest.len(),
            (_, Some(rest @ [ESC, ..])) => whole - rest.len(),
            (_, Some(rest)) => whole - rest.len() + 1,
        };
        if open.kind == Kind::Control && open.head.len() <= MAX_SEQUENCE {
            open.head.extend_from_slice(bytes.get(..from).unwrap_or_default());
            if matches!(step(&open.head), Step::Paste(_)) {
                self.paste = Some(Paste::default());
            }
        }
        if end.is_none() {
            open.dropped += whole;
            // A digit or the like that stands alone may be the person's: it does not make the wait longer.
            open.paused &= whole == 1;
            let most = if open.paused { MAX_MISSING } else { MAX_DROPPED };
            self.open = (open.dropped <= most).then_some(open);
        }
        bytes.get(from..).unwrap_or_default()
    }

    /// Whether something has begun that the next bytes should end soon.
    pub fn incomplete(&self) -> Option<Patience> {
        if let Some(paste) = &self.paste {
            return paste.awaits().map(|silence| match silence {
                Silence::Moment => Patience::Short,
                Silence::Long => Patience::Long,
            });
        }
        match (self.pending.as_slice(), &self.open) {
            ([], None) if self.behind.is_some() => Some(Patience::Short),
            ([], Some(Open { escape: Some(_), .. })) => Some(Patience::Short),
            ([], Some(Open { paused: false, .. })) => Some(Patience::Long),
            // However late it comes; three bytes end the one, the next end of a sequence the other.
            ([], Some(Open { kind: Kind::Mouse, .. } | Open { is_late: true, .. })) => None,
            ([], Some(_)) => Some(Patience::Memory),
            ([], None) => self.doubt.filter(|doubt| doubt.ends()).map(|_| Patience::Memory),
            ([ESC, b']'], _) if self.expects => Some(Patience::Long),
            (pending, _) => Some(match begun(pending) {
                Some(Kind::Color | Kind::Text) => Patience::Long,
                Some(Kind::Control | Kind::Mouse) | None => Patience::Short,
            }),
        }
    }

    /// Nothing more has come: what looked like the beginning of a sequence was a key, or is dropped with its rest.
    pub fn give_up(&mut self, out: &mut Vec<Input>) {
        if let Some(paste) = &mut self.paste {
            if let Some(is_key) = paste.wait(out) {
                out.extend(plain(KeyCode::Esc).filter(|_| is_key));
                (self.paste, self.doubt) = (None, Some(Doubt::Escape));
            }
            return;
        }
        let Some(mut behind) = self.behind.take() else { return self.give_up_rest(out) };
        let mut last = Vec::new();
        self.give_up_rest(&mut last);
        for input in last {
            behind.add(input, out);
        }
        behind.over(out);
    }

    fn give_up_rest(&mut self, out: &mut Vec<Input>) {
        let pending = std::mem::take(&mut self.pending);
        match (pending.as_slice(), self.open.take()) {
            ([], Some(Open { escape: Some(alone), .. })) => {
                out.extend(plain(KeyCode::Esc).filter(|_| alone));
                self.doubt = Some(Doubt::End);
            }
            ([], Some(open)) if !open.paused => self.open = Some(Open { paused: true, dropped: 0, ..open }),
            ([], Some(open)) if open.kind == Kind::Control => self.open = Some(Open { is_late: true, ..open }),
            ([], _) => self.doubt = self.doubt.and_then(Doubt::later),
            ([ESC], _) => {
                out.extend(plain(KeyCode::Esc));
                self.doubt = Some(Doubt::Escape);
            }
            ([ESC, byte @ (b'[' | b'O' | b']' | b'P' | b'X' | b'^' | b'_')], _) => {
                out.extend(key(KeyCode::Char(char::from(*byte)), KeyModifiers::ALT));
                self.doubt = Some(Doubt::Introducer(*byte));
            }
            ([ESC, b'O', ..], _) => self.doubt = Some(Doubt::Introducer(b'O')),
            (pending, _) => match begun(pending) {
                Some(Kind::Color | Kind::Text) if pending.ends_with(&[ESC]) => self.doubt = Some(Doubt::End),
                kind => self.open = kind.map(|kind| Open::given_up(kind, pending)),
            },
        }
    }
}

impl Open {
    fn given_up(kind: Kind, head: &[u8]) -> Self {
        let lacks = match (kind, introducer(head)) {
            (Kind::Mouse, Some((lead, _))) => u8::try_from((lead + MOUSE).saturating_sub(head.len())).unwrap_or(0),
            _ => 0,
        };
        Self { kind, dropped: 0, paused: true, is_late: false, escape: None, lacks, head: head.to_vec() }
    }

    /// Whether what comes after a pause is a key rather than the rest.
    fn is_typed(&self, bytes: &[u8]) -> bool {
        let one = std::str::from_utf8(bytes).is_ok_and(|text| text.chars().count() == 1);
        let fits = |b: &u8| is_of_color(*b) || matches!(*b, 7 | ESC | 0x18 | 0x1a | 0x9c | 0xc2 | b'\\');
        match self.kind {
            Kind::Mouse => false,
            Kind::Control => self.is_late && !completes(bytes),
            Kind::Text => one && !bytes.iter().all(fits),
            Kind::Color => {
                let until = end(bytes, &mut 0).unwrap_or(bytes.len());
                !bytes.iter().take(until).all(fits)
            }
        }
    }
}

fn is_of_color(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b'r' | b'g' | b'/' | b':' | b';' | b'#')
}

/// What sequence the bytes have begun, when there is more of it than what introduces it.
fn begun(bytes: &[u8]) -> Option<Kind> {
    let (lead, introducer) = introducer(bytes)?;
    let body = bytes.get(lead..).unwrap_or_default();
    match introducer {
        b'[' if body.starts_with(b"M") => Some(Kind::Mouse),
        b'[' => Some(Kind::Control),
        b']' if body.len() <= MAX_MISSING && body.iter().all(|b| is_of_color(*b)) => Some(Kind::Color),
        _ => Some(Kind::Text),
    }
}

/// What the bytes are, if they are whole keys and reports.
fn whole(mut bytes: &[u8]) -> Option<Vec<Input>> {
    let mut inputs = Vec::new();
    while !bytes.is_empty() {
        let Step::Took(n, input) = step(bytes) else { return None };
        inputs.extend(input);
        bytes = bytes.get(n..)?;
    }
    Some(inputs)
}

fn step(bytes: &[u8]) -> Step {
    if let Some((lead, introducer)) = introducer(bytes) {
        return match (introducer, bytes.get(lead..).unwrap_or_default()) {
            (b'[', _) => csi(bytes, lead),
            // Without its escape in one byte it is no key.
            (_, _) if bytes.first() != Some(&ESC) => string(bytes, lead, introducer),
            (_, []) => Step::More,
            (b']', [b'0'..=b'9', ..]) | (b'P' | b'X' | b'^' | b'_', [0x20..=0x7e, ..]) => {
                string(bytes, lead, introducer)
            }
            _ => single(bytes.get(1..).unwrap_or_default(), KeyModifiers::ALT, 1),
        };
    }
    match bytes {
        [] => Step::More,
        [ESC, rest @ ..] => match rest {
            [] => Step::More,
            [b'O', ..] => ss3(bytes),
            // The first is the key; the second may begin a sequence.
            [ESC, ..] => Step::Took(1, plain(KeyCode::Esc)),
            rest => single(rest, KeyModifiers::ALT, 1),
        },
        bytes => single(bytes, KeyModifiers::NONE, 0),
    }
}

/// What begins a sequence, and how long that is: an escape and a character, or the C1 control, alone or as UTF-8.
fn introducer(bytes: &[u8]) -> Option<(usize, u8)> {
    match bytes {
        [ESC, c @ (b'[' | b']' | b'P' | b'X' | b'^' | b'_'), ..] => Some((2, *c)),
        [c @ (0x90 | 0x98 | 0x9b | 0x9d..=0x9f), ..] => Some((1, c - 0x40)),
        [0xc2, c @ (0x90 | 0x98 | 0x9b | 0x9d..=0x9f), ..] => Some((2, c - 0x40)),
        _ => None,
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
    let is_number = |b: &u8| matches!(b, b'0'..=b'9' | b';');
    let numbers = bytes.iter().skip(2).take(MAX_SEQUENCE).take_while(|b| is_number(b)).count();
    let Some(&last) = bytes.get(2 + numbers) else { return Step::More };
    if numbers > 0 {
        // Old terminals put what is held there; it is told apart by none of the keys that are bound.
        return Step::Took(2 + numbers + usize::from(last.is_ascii_alphabetic()), letter(last).and_then(plain));
    }
    let code = match last {
        b'M' => KeyCode::Enter,
        // The keypad, where it was told to be more than digits.
        b'j'..=b'y' => KeyCode::Char(char::from(last - b'j' + b'*')),
        b'X' => KeyCode::Char('='),
        // Without a key for it: Begin and the like.
        b'E' | b'G' | b'I' => return Step::Took(3, None),
        other => match letter(other) {
            Some(code) => code,
            None => return Step::Took(2, key(KeyCode::Char('O'), KeyModifiers::ALT)),
        },
    };
    Step::Took(3, plain(code))
}

/// A string of the terminal, up to its end.
fn string(bytes: &[u8], lead: usize, introducer: u8) -> Step {
    let body = bytes.get(lead..).unwrap_or_default();
    let Some(len) = end(body, &mut 0) else {
        return if body.len() > MAX_STRING { Step::Drop(bytes.len()) } else { Step::More };
    };
    let text = body.get(..len).unwrap_or_default();
    // The end may be a C1 control in UTF-8.
    let text = text.strip_suffix(b"\xc2").unwrap_or(text);
    let told = answers::told(introducer, text).map(Input::Told);
    match body.get(len..).unwrap_or_default() {
        [ESC] => Step::More,
        [ESC, b'\\', ..] => Step::Took(lead + len + 2, told),
        // It broke off; what follows stands for itself.
        [ESC, ..] => Step::Took(lead + len, None),
        [7 | 0x9c, ..] => Step::Took(lead + len + 1, told),
        _ => Step::Took(lead + len + 1, None),
    }
}

/// Where a string ends: the bell, an escape, a cancel, or the C1 control, which is not a byte within a character.
/// `lacks` is how many bytes of the last character are still to come.
fn end(bytes: &[u8], lacks: &mut u8) -> Option<usize> {
    bytes.iter().position(|&byte| {
        let within = *lacks > 0 && (0x80..=0xbf).contains(&byte);
        *lacks = match byte {
            _ if within => *lacks - 1,
            // Not after 0xc2, with which the controls themselves are written.
            0xc3..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            _ => 0,
        };
        !within && matches!(byte, 7 | ESC | 0x18 | 0x1a | 0x9c)
    })
}

fn csi(bytes: &[u8], lead: usize) -> Step {
    let body = bytes.get(lead..).unwrap_or_default();
    match body {
        [] => return Step::More,
        // The Linux console.
        [b'[', last, ..] => {
            let f = last.wrapping_sub(b'A').wrapping_add(1);
            return Step::Took(lead + 2, if (1..=5).contains(&f) { plain(KeyCode::F(f)) } else { None });
        }
        [b'['] => return Step::More,
        // Mouse as it was before SGR.
        [b'M', button, x, y, ..] => {
            let at = |byte: &u8| u32::from(byte.saturating_sub(32));
            return Step::Took(lead + 4, mouse([at(button), at(x), at(y)], b'M'));
        }
        [b'M', ..] => return Step::More,
        _ => {}
    }
    let Some(len) = body.iter().position(|b| !(0x20..=0x3f).contains(b)) else {
        return if body.len() > MAX_SEQUENCE { Step::Took(bytes.len(), None) } else { Step::More };
    };
    let (params, last) = (body.get(..len).unwrap_or_default(), body.get(len).copied().unwrap_or_default());
    match last {
        b'~' if params == b"200" => Step::Paste(lead + len + 1),
        0x40..=0x7e => Step::Took(lead + len + 1, sequence(params, last)),
        // It broke off; what follows stands for itself.
        _ => Step::Took(lead + len, None),
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
