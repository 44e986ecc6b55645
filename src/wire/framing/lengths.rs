//! Messages that have a header with their length in front, as language servers have them (S-064 to S-070).
//!
//! Invariants: no memory is taken for a length that is only announced; a header that cannot be read ends the stream, as
//! nothing tells where the next message would begin.

use super::{Decoded, Decoder};
use memchr::memchr;
use std::borrow::Cow;

/// Bytes of the header of one message.
const MAX_HEADER: usize = 8 << 10;
/// Characters of a line of a header that cannot be read that are shown.
const SHOWN: usize = 80;

#[derive(Debug)]
pub(super) struct LengthDecoder {
    max: usize,
    state: State,
    /// Of the line of a header, or of the message, that is not complete.
    part: Vec<u8>,
}

#[derive(Debug)]
enum State {
    /// In a header that has had so many bytes, and that length.
    Header {
        bytes: usize,
        length: Option<usize>,
    },
    /// In a message of so many bytes.
    Body(usize),
    Lost,
}

const BETWEEN: State = State::Header { bytes: 0, length: None };

impl LengthDecoder {
    pub fn new(max: usize) -> Self {
        Self { max, state: BETWEEN, part: Vec::new() }
    }

    /// Takes a line of a header, with its end.
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let State::Header { bytes, length } = &mut self.state else { return Ok(()) };
        let text = line.trim_ascii();
        if text.is_empty() {
            match (*length, *bytes) {
                // Blank lines stand between messages (S-070).
                (None, 0) => {}
                (None, _) => return Err("a message has no Content-Length".to_owned()),
                (Some(length), _) => self.state = State::Body(length),
            }
            return Ok(());
        }
        *bytes += line.len();
        let shown = || String::from_utf8_lossy(text).chars().take(SHOWN).collect::<String>();
        let Some(colon) = text.iter().position(|byte| *byte == b':') else {
            return Err(format!("what stands before a message is no header: {:?}", shown()));
        };
        let (name, value) = (text[..colon].trim_ascii(), text[colon + 1..].trim_ascii());
        if !name.eq_ignore_ascii_case(b"content-length") {
            return Ok(());
        }
        let digits = value.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(value).ok()).flatten();
        let Some(digits) = digits.filter(|digits| !digits.is_empty()) else {
            return Err(format!("the length of a message is no number: {:?}", shown()));
        };
        match digits.parse().ok().filter(|count| *count <= self.max) {
            None => Err(format!("a message of {digits:.20} bytes is announced; at most {} are taken", self.max)),
            Some(count) if length.is_some_and(|before| before != count) => {
                Err(format!("a message has two lengths: {:?}", shown()))
            }
            Some(count) => {
                *length = Some(count);
                Ok(())
            }
        }
    }

    /// Takes what it can of these bytes, and gives the rest of them.
    fn take<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Decoded<'a>>) -> &'a [u8] {
        match self.state {
            State::Lost => &[],
            State::Header { bytes: before, .. } => {
                let end = memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
                let (piece, rest) = bytes.split_at(end);
                let is_whole = piece.last() == Some(&b'\n');
                let taken = if before + self.part.len() + piece.len() > MAX_HEADER {
                    Err(format!("the header of a message has more than {MAX_HEADER} bytes"))
                } else if self.part.is_empty() && is_whole {
                    self.line(piece)
                } else {
                    self.part.extend_from_slice(piece);
                    let line = if is_whole { std::mem::take(&mut self.part) } else { Vec::new() };
                    if is_whole { self.line(&line) } else { Ok(()) }
                };
                if let Err(why) = taken {
                    (self.state, self.part) = (State::Lost, Vec::new());
                    out.push(Decoded::Lost(why));
                } else if let State::Body(0) = self.state {
                    self.state = BETWEEN;
                }
                rest
            }
            State::Body(length) => {
                let (piece, rest) = bytes.split_at(bytes.len().min(length - self.part.len()));
                if self.part.is_empty() && piece.len() == length {
                    out.push(Decoded::Line(on_one_line(Cow::Borrowed(piece))));
                    self.state = BETWEEN;
                    return rest;
                }
                let total = self.part.len() + piece.len();
                if total > self.part.capacity() {
                    // Doubling as usual, but never beyond what is announced.
                    let wanted = self.part.capacity().saturating_mul(2).clamp(total, length);
                    self.part.reserve_exact(wanted - self.part.len());
                }
                self.part.extend_from_slice(piece);
                if self.part.len() == length {
                    out.push(Decoded::Line(on_one_line(Cow::Owned(std::mem::take(&mut self.part)))));
                    self.state = BETWEEN;
                }
                rest
            }
        }
    }
}

/// Between the values of JSON there are line ends, inside of them never.
fn on_one_line(mut body: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if memchr(b'\n', &body).is_some() {
        body.to_mut().iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
    }
    body
}

impl Decoder for LengthDecoder {
    fn push<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Decoded<'a>>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = self.take(rest, out);
        }
    }

    fn begun(&self) -> usize {
        self.part.len()
    }

    fn finish(&mut self) -> Option<Decoded<'static>> {
        let part = std::mem::take(&mut self.part);
        (!part.is_empty()).then(|| Decoded::Line(on_one_line(Cow::Owned(part))))
    }
}

#[cfg(test)]
#[path = "lengths_tests.rs"]
mod tests;
