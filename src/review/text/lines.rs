//! The bytes of a file as lines, without losing any of them.
//!
//! Compares nothing and reads no files. Invariant: the raw lines, one after another, are the bytes of the file; a line
//! for the screen is sanitised.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::base::sanitize;

/// Larger files are not text here, in bytes.
pub const MAX_TEXT: usize = 32 << 20;
/// Nor are files with more lines.
pub const MAX_LINES: usize = 800_000;
/// A NUL among so many bytes at the beginning makes a file binary.
const LOOK: usize = 8000;

const BOM: char = '\u{feff}';
const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";
const UTF16LE_BOM: &[u8] = b"\xff\xfe";
const UTF16BE_BOM: &[u8] = b"\xfe\xff";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    /// Only with a byte order mark.
    Utf16Le,
    /// Only with a byte order mark.
    Utf16Be,
    /// Not UTF-8 and not binary: each byte is shown as one character.
    Bytes,
}

impl Encoding {
    /// Whether lines of both can stand in one file.
    pub fn mixes_with(self, other: Self) -> bool {
        let byte_wise = |e| matches!(e, Self::Utf8 | Self::Bytes);
        self == other || byte_wise(self) && byte_wise(other)
    }
}

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// Nothing: the last line of a file without a newline at its end.
    None,
    Lf,
    CrLf,
}

/// A text file as lines; cheap to clone.
#[derive(Clone)]
pub struct Lines {
    bytes: Arc<Vec<u8>>,
    /// Where each line begins, and where the last one ends.
    starts: Arc<[u32]>,
    encoding: Encoding,
    lf: usize,
    crlf: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::split(Arc::default(), Encoding::Utf8, 1)
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lines").field(&self.encoding).field(&String::from_utf8_lossy(&self.bytes)).finish()
    }
}

/// The same bytes.
impl PartialEq for Lines {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes) || self.bytes == other.bytes
    }
}

impl Eq for Lines {}

impl Lines {
    /// None for what is not to be shown as lines: binary (a NUL near the beginning, broken UTF-16), larger than
    /// [`MAX_TEXT`], more than [`MAX_LINES`]. No bytes are no lines.
    pub fn of(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        // In the room that they were read into: a copy of a large file would be there beside it.
        let bytes = Arc::new(bytes.into());
        if bytes.len() > MAX_TEXT {
            return None;
        }
        let encoding = encoding(&bytes)?;
        // Counted first: of a file of nothing but newlines, where each line begins takes four times its bytes. In UTF-16
        // such a byte may be half of another character.
        let ends = memchr::memchr_iter(b'\n', &bytes).count();
        let is_bytewise = matches!(encoding, Encoding::Utf8 | Encoding::Bytes);
        if is_bytewise && ends > MAX_LINES {
            return None;
        }
        let lines = Self::split(bytes, encoding, ends + 2);
        (lines.len() <= MAX_LINES).then_some(lines)
    }

    /// `room` is for how many begins there will be at most, about.
    fn split(bytes: Arc<Vec<u8>>, encoding: Encoding, room: usize) -> Self {
        let mut lines = Self { starts: Arc::from([]), encoding, lf: 0, crlf: 0, bytes: Arc::clone(&bytes) };
        let (mut starts, mut at) = (Vec::with_capacity(room), 0);
        starts.push(0);
        match encoding {
            Encoding::Utf8 | Encoding::Bytes => {
                for line in bytes.split_inclusive(|&b| b == b'\n') {
                    at += line.len();
                    lines.note_end(line);
                    starts.push(at as u32);
                }
            }
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let newline = encoded(encoding, "\n");
                let mut start = 0;
                for unit in bytes.chunks(2) {
                    at += unit.len();
                    if unit == newline || at == bytes.len() {
                        lines.note_end(&bytes[start..at]);
                        starts.push(at as u32);
                        start = at;
                    }
                }
            }
        }
        lines.starts = starts.into();
        lines
    }

    fn note_end(&mut self, line: &[u8]) {
        match end_of(line, self.encoding) {
            LineEnd::None => {}
            LineEnd::Lf => self.lf += 1,
            LineEnd::CrLf => self.crlf += 1,
        }
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A line, from 0, with its end and in the file's encoding; the first one has the byte order mark. Empty past the
    /// last.
    pub fn raw(&self, line: usize) -> &[u8] {
        match self.starts.get(line..).unwrap_or_default() {
            [start, end, ..] => self.bytes.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// What ends a line, from 0.
    pub fn end(&self, line: usize) -> LineEnd {
        end_of(self.raw(line), self.encoding)
    }

    /// A line, from 0, as characters, with its end and without the byte order mark.
    pub fn decoded(&self, line: usize) -> String {
        let raw = self.raw(line);
        let raw = if line == 0 { raw.strip_prefix(self.bom()).unwrap_or(raw) } else { raw };
        match self.encoding {
            Encoding::Utf8 => String::from_utf8_lossy(raw).into_owned(),
            Encoding::Bytes => raw.iter().map(|&b| char::from(b)).collect(),
            Encoding::Utf16Le | Encoding::Utf16Be => char::decode_utf16(units(raw, self.encoding))
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
        }
    }

    /// A line, from 0, for the screen: one line, sanitised, with its tabs, without its end and the byte order mark.
    pub fn shown(&self, line: usize) -> String {
        let text = self.decoded(line);
        let text = text.strip_suffix('\n').map_or(&*text, |t| t.strip_suffix('\r').unwrap_or(t));
        if self.encoding == Encoding::Bytes {
            // As control characters they would vanish, or take what follows with them.
            let visible: String = text
                .chars()
                .map(|c| if matches!(c, '\u{80}'..='\u{9f}') { char::REPLACEMENT_CHARACTER } else { c })
                .collect();
            return sanitize::tabbed(&visible).into_owned();
        }
        sanitize::tabbed(text).into_owned()
    }

    /// Whether something in that stands for a character that cannot be shown.
    pub fn has_stand_ins(&self, line: usize) -> bool {
        let is_ascii = self.encoding == Encoding::Utf8 && self.raw(line).is_ascii();
        !is_ascii && sanitize::has_stand_ins(self.decoded(line).trim_start_matches('\u{feff}'))
    }

    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub fn has_bom(&self) -> bool {
        !self.bom().is_empty()
    }

    /// The byte order mark; empty when there is none.
    pub fn bom(&self) -> &'static [u8] {
        match self.encoding {
            Encoding::Utf8 if self.bytes.starts_with(UTF8_BOM) => UTF8_BOM,
            Encoding::Utf8 | Encoding::Bytes => &[],
            Encoding::Utf16Le => UTF16LE_BOM,
            Encoding::Utf16Be => UTF16BE_BOM,
        }
    }

    /// What deserves a note: "CRLF", "UTF-16, mixed line ends"; nothing for plain UTF-8 with LF.
    pub fn label(&self) -> Option<String> {
        let mut notes = Vec::new();
        match self.encoding {
            Encoding::Utf8 if self.has_bom() => notes.push("BOM"),
            Encoding::Utf8 => {}
            Encoding::Utf16Le | Encoding::Utf16Be => notes.push("UTF-16"),
            Encoding::Bytes => notes.push("not UTF-8"),
        }
        match (self.lf, self.crlf) {
            (_, 0) => {}
            (0, _) => notes.push("CRLF"),
            _ => notes.push("mixed line ends"),
        }
        (!notes.is_empty()).then(|| notes.join(", "))
    }

    /// The bytes of a text with LF line ends in this file's encoding and with the line end that most of its lines
    /// have, without a byte order mark. In a file that is not UTF-8, characters that are not one byte become UTF-8.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let mut text = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
        if self.crlf > self.lf {
            text = Cow::Owned(text.replace('\n', "\r\n"));
        }
        encoded(self.encoding, &text)
    }

    /// The line end that most lines have, in the file's encoding.
    pub(crate) fn newline(&self) -> Vec<u8> {
        self.encode("\n")
    }

    /// Text of a line of another file, as it is, in this file's encoding.
    pub(crate) fn recode(&self, text: &str) -> Vec<u8> {
        encoded(self.encoding, text)
    }
}

/// What ends raw bytes in an encoding.
pub(crate) fn end_of(raw: &[u8], encoding: Encoding) -> LineEnd {
    let ends = match encoding {
        Encoding::Utf8 | Encoding::Bytes => {
            let mut last = raw.iter().rev();
            (last.next() == Some(&b'\n'), last.next() == Some(&b'\r'))
        }
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let mut last = raw.rchunks_exact(2).flat_map(|unit| units(unit, encoding));
            (last.next() == Some(0x0a), last.next() == Some(0x0d))
        }
    };
    match ends {
        (false, _) => LineEnd::None,
        (true, false) => LineEnd::Lf,
        (true, true) => LineEnd::CrLf,
    }
}

fn units(raw: &[u8], encoding: Encoding) -> impl Iterator<Item = u16> + '_ {
    raw.chunks_exact(2).map(move |unit| {
        let unit = [unit[0], unit[1]];
        if encoding == Encoding::Utf16Le { u16::from_le_bytes(unit) } else { u16::from_be_bytes(unit) }
    })
}

fn encoded(encoding: Encoding, text: &str) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Encoding::Bytes => {
            let mut out = Vec::with_capacity(text.len());
            for c in text.chars() {
                match u8::try_from(c) {
                    Ok(byte) => out.push(byte),
                    Err(_) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            out
        }
    }
}

fn encoding(bytes: &[u8]) -> Option<Encoding> {
    let utf16 = match bytes {
        [0xff, 0xfe, ..] => Some(Encoding::Utf16Le),
        [0xfe, 0xff, ..] => Some(Encoding::Utf16Be),
        _ => None,
    };
    if let Some(encoding) = utf16 {
        let whole = bytes.len().is_multiple_of(2) && char::decode_utf16(units(bytes, encoding)).all(|c| c.is_ok());
        // UTF-32 begins like UTF-16 and is full of them.
        let nul = units(bytes, encoding).take(LOOK / 2).any(|unit| unit == 0);
        return (whole && !nul).then_some(encoding);
    }
    if bytes.iter().take(LOOK).any(|&b| b == 0) {
        return None;
    }
    Some(if std::str::from_utf8(bytes).is_ok() { Encoding::Utf8 } else { Encoding::Bytes })
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
