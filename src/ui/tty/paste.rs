//! What is pasted: between the terminal's two marks, and right behind the second.
//!
//! Knows no time: its caller says when nothing has come for a while. Invariants: nothing of the text is lost, whether its end comes or not; a
//! paste without an end keeps no key for longer than a second of silence; of what comes at once behind an end, which may
//! be a mark within what was pasted, no more than one key is a key; what is kept is bounded.

use super::answers::ARRIVED;
use super::event::{Input, Told};
use crate::ui::keys::{Code, Key};

const ESC: u8 = 0x1b;
pub(super) const END: &[u8] = b"\x1b[201~";
/// So much of a paste is handed on before its end has come.
const MOST: usize = 16 << 20;

/// A paste that has begun.
#[derive(Debug, Default)]
pub(super) struct Paste {
    bytes: Vec<u8>,
    silence: Option<Silence>,
    /// An escape has come alone after a silence: the key, or a piece of the end.
    escape: bool,
}

/// How long nothing has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Silence {
    /// Whoever stops something now means the paste.
    Moment,
    /// All that has come was handed on, and a single key is one.
    Long,
}

/// What is to become of what came in a paste.
pub(super) enum Heard {
    /// It is the paste's.
    Text,
    /// It is no part of it, and the paste goes on: what the terminal tells.
    Beside(Vec<Input>),
    /// It has ended the paste, and that was all it did.
    Stop,
    /// The paste has ended without an end, and this is a key.
    Key,
    Waits,
}

impl Paste {
    /// Adds to it. When it has come to its end: how many of the bytes are its own.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<Input>) -> Option<usize> {
        if std::mem::take(&mut self.escape) {
            self.bytes.push(ESC);
        }
        self.silence = None;
        // The end may have begun in an earlier piece.
        let (before, from) = (self.bytes.len(), self.bytes.len().saturating_sub(END.len() - 1));
        self.bytes.extend_from_slice(bytes);
        let tail = self.bytes.get(from..).unwrap_or_default();
        let Some(found) = tail.windows(END.len()).position(|window| window == END) else {
            if self.bytes.len() > MOST {
                self.hand_on(out);
            }
            return None;
        };
        self.bytes.truncate(from + found);
        self.end(out);
        Some((from + found + END.len()).saturating_sub(before))
    }

    /// What these bytes are, which come after a silence; `whole` is what they are as keys and reports, if they are nothing else.
    pub fn hear(&mut self, bytes: &[u8], whole: impl FnOnce(&[u8]) -> Option<Vec<Input>>) -> Heard {
        let has_end = || bytes.windows(END.len()).any(|window| window == END);
        if self.silence.is_none() || self.escape || self.begun(bytes).is_some() || has_end() {
            return Heard::Text;
        }
        if bytes == [ESC] {
            self.escape = true;
            return Heard::Waits;
        }
        let Some(inputs) = whole(bytes) else { return Heard::Text };
        let mut keys = inputs.iter().filter_map(|input| if let Input::Key(key) = input { Some(key) } else { None });
        match (keys.next(), keys.next()) {
            (None, _) if !inputs.is_empty() => Heard::Beside(inputs),
            (Some(_), None) if self.silence == Some(Silence::Long) => Heard::Key,
            (Some(key), None) if [Key::ctrl(Code::Char('c')), Key::plain(Code::Esc)].contains(key) => Heard::Stop,
            _ => Heard::Text,
        }
    }

    /// What silence it waits for.
    pub const fn awaits(&self) -> Option<Silence> {
        match self.silence {
            _ if self.escape => Some(Silence::Moment),
            None => Some(Silence::Moment),
            Some(Silence::Moment) => Some(Silence::Long),
            Some(Silence::Long) => None,
        }
    }

    /// That silence has come. When that has ended it: whether the escape is a key.
    pub fn wait(&mut self, out: &mut Vec<Input>) -> Option<bool> {
        if self.escape {
            self.end(out);
            return Some(self.silence == Some(Silence::Long));
        }
        if self.silence.is_some() {
            self.hand_on(out);
            self.silence = Some(Silence::Long);
        } else {
            self.silence = Some(Silence::Moment);
        }
        None
    }

    /// All that is left, which may be nothing.
    pub fn end(&mut self, out: &mut Vec<Input>) {
        hand(&std::mem::take(&mut self.bytes), out);
    }

    /// Where a mark or an answer begins that these bytes would go on with.
    fn begun(&self, more: &[u8]) -> Option<usize> {
        let at = self.bytes.iter().rposition(|byte| *byte == ESC)?;
        let whole = [self.bytes.get(at..).unwrap_or_default(), more].concat();
        let is_of = |mark: &[u8]| mark.starts_with(&whole) || !more.is_empty() && whole.starts_with(mark);
        (is_of(END) || is_of(ARRIVED.as_bytes())).then_some(at)
    }

    /// All but what may be the beginning of its end, or of a character.
    fn hand_on(&mut self, out: &mut Vec<Input>) {
        let bytes = &self.bytes;
        let escape = self.begun(&[]);
        let head = bytes.iter().rposition(|byte| !(0x80..=0xbf).contains(byte)).filter(|at| {
            let tail = bytes.get(*at..).unwrap_or_default();
            std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
        });
        let rest = self.bytes.split_off(escape.or(head).unwrap_or(bytes.len()));
        self.end(out);
        self.bytes = rest;
    }
}

/// Text that was pasted. A terminal may answer in the middle of a long one.
fn hand(bytes: &[u8], out: &mut Vec<Input>) {
    let text = String::from_utf8_lossy(bytes);
    if text.contains(ARRIVED) {
        out.push(Input::Told(Told::Arrived));
    }
    let text = text.replace(ARRIVED, "");
    if !text.is_empty() {
        out.push(Input::Paste(text));
    }
}

/// What comes behind the end of a paste, as long as there is no moment without anything.
#[derive(Debug, Default)]
pub(super) struct Behind {
    first: Option<Key>,
    /// From the second key on: what they type.
    text: String,
    is_text: bool,
}

impl Behind {
    /// A key waits for whether another comes; nothing can be clicked.
    pub fn add(&mut self, input: Input, out: &mut Vec<Input>) {
        match input {
            Input::Key(key) | Input::Hasty(key) if self.is_text => {
                self.text.extend(typed(key));
                if self.text.len() > MOST {
                    out.push(Input::Paste(std::mem::take(&mut self.text)));
                }
            }
            Input::Key(key) | Input::Hasty(key) => match self.first.take() {
                None => self.first = Some(key),
                Some(first) => {
                    self.is_text = true;
                    self.text.extend(typed(first).into_iter().chain(typed(key)));
                }
            },
            Input::Mouse { .. } => {}
            Input::Paste(_) | Input::Resize(..) | Input::Focus(_) | Input::Told(_) => out.push(input),
        }
    }

    /// Another mark of a paste has come: a person has typed nothing so fast between them.
    pub fn interrupted(self, out: &mut Vec<Input>) {
        let text: String = self.text.chars().chain(self.first.and_then(typed)).collect();
        if !text.is_empty() {
            out.push(Input::Paste(text));
        }
    }

    /// Nothing has come for a moment.
    pub fn over(self, out: &mut Vec<Input>) {
        match self.first {
            Some(key) => out.push(Input::Hasty(key)),
            None => self.interrupted(out),
        }
    }
}

/// What a key types, as a terminal sends it when it is pasted.
fn typed(key: Key) -> Option<char> {
    match key.code {
        Code::Char(c) if key == Key::char(c) => Some(c),
        Code::Char('j') if key == Key::ctrl(key.code) => Some('\n'),
        Code::Enter => Some('\r'),
        Code::Tab => Some('\t'),
        _ => None,
    }
}
