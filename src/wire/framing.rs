//! How one message is told from the next on a stream of bytes: a value that both pumps are given.
//!
//! The one that ships is lines: splits on `\n` only (R-049) and looks at nothing else. Others have a header with the length of
//! each message (`lengths`), or go by the first bytes of the agent. Invariant: memory stays below the line limit plus one
//! block, and the work is linear in the bytes; a longer line is thrown away up to its end and only its head survives (R-028).

mod lengths;

use lengths::LengthDecoder;
use memchr::memchr;
use std::borrow::Cow;
use std::io::Write as _;
use std::sync::{Arc, OnceLock};

/// The longest message that is accepted.
pub const MAX_LINE: usize = 64 << 20;
/// What is kept of a longer one.
pub const HEAD: usize = 4096;
/// What the header of a message begins with, in any case of letters.
const HEADER: &[u8] = b"content-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// Without its `\n`.
    Line(Cow<'a, [u8]>),
    TooLong {
        head: Vec<u8>,
        /// How many bytes came after the head.
        dropped: u64,
    },
    /// Where the next message begins cannot be told any more, and why. The last of a stream.
    Lost(String),
}

/// Takes a stream apart.
pub trait Decoder: Send {
    /// Takes the next bytes and appends the messages they complete, in order. None of them has a `\n` in it: that would
    /// tear the lines of a journal.
    fn push<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Decoded<'a>>);

    /// How many bytes are kept of the message that was begun.
    fn begun(&self) -> usize;

    /// The message that was begun, if any, at the end of the stream.
    fn finish(&mut self) -> Option<Decoded<'static>>;
}

/// How messages are told apart in both directions of a connection (S-066, S-067).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// A message is a line.
    #[default]
    Lines,
    /// A header with its length stands before each message.
    Lengths,
    /// Lines, unless the first bytes of the agent are such a header (S-068).
    Auto,
}

impl Framing {
    pub const NAMES: [&str; 3] = ["ndjson", "content-length", "auto"];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "ndjson",
            Self::Lengths => "content-length",
            Self::Auto => "auto",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|known| *known == name)?;
        [Self::Lines, Self::Lengths, Self::Auto].get(at).copied()
    }
}

/// What the two directions of one connection go by. Clones share what the first bytes of the agent have decided.
#[derive(Clone, Debug)]
pub struct Agreed {
    has_lengths: Arc<OnceLock<bool>>,
}

impl From<Framing> for Agreed {
    fn from(framing: Framing) -> Self {
        let has_lengths = match framing {
            Framing::Lines => false.into(),
            Framing::Lengths => true.into(),
            Framing::Auto => OnceLock::new(),
        };
        Self { has_lengths: has_lengths.into() }
    }
}

impl Agreed {
    /// The agent has said nothing that would decide it.
    pub fn is_open(&self) -> bool {
        self.has_lengths.get().is_none()
    }

    fn has_lengths(&self) -> bool {
        self.has_lengths.get().is_some_and(|has| *has)
    }

    pub fn decoder(&self) -> Box<dyn Decoder> {
        match self.has_lengths.get() {
            Some(false) => Box::new(LineDecoder::new(MAX_LINE)),
            Some(true) => Box::new(LengthDecoder::new(MAX_LINE)),
            None => Box::new(Undecided { agreed: self.clone(), begun: Vec::new(), decoder: None }),
        }
    }

    /// Appends what stands in front of a message of so many bytes.
    pub fn head(&self, bytes: usize, out: &mut Vec<u8>) {
        if self.has_lengths() {
            // Writing to memory cannot fail.
            let _ = write!(out, "Content-Length: {bytes}\r\n\r\n");
        }
    }

    /// What stands behind it.
    pub fn tail(&self) -> &'static [u8] {
        if self.has_lengths() { b"" } else { b"\n" }
    }
}

/// Looks at the first bytes that are no blanks, and is one of the others from then on.
struct Undecided {
    agreed: Agreed,
    begun: Vec<u8>,
    decoder: Option<Box<dyn Decoder>>,
}

impl Undecided {
    /// Whether what has come is the begin of a header; nothing while more is to be waited for.
    fn is_header(&self) -> Option<bool> {
        let begins = self.begun.iter().zip(HEADER).all(|(byte, wanted)| byte.eq_ignore_ascii_case(wanted));
        (!begins || self.begun.len() >= HEADER.len()).then_some(begins)
    }
}

impl Decoder for Undecided {
    fn push<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Decoded<'a>>) {
        if let Some(decoder) = &mut self.decoder {
            return decoder.push(bytes, out);
        }
        let blanks =
            if self.begun.is_empty() { bytes.iter().take_while(|b| b.is_ascii_whitespace()).count() } else { 0 };
        let (more, rest) = bytes[blanks..].split_at((bytes.len() - blanks).min(HEADER.len() - self.begun.len()));
        self.begun.extend_from_slice(more);
        let Some(is_header) = self.is_header().filter(|_| !self.begun.is_empty()) else { return };
        // Only here it is decided, and the other direction asks for it after the first message.
        let _ = self.agreed.has_lengths.set(is_header);
        let mut decoder = self.agreed.decoder();
        let (begun, mut first) = (std::mem::take(&mut self.begun), Vec::new());
        decoder.push(&begun, &mut first);
        for decoded in first {
            out.push(decoded.into_owned());
        }
        decoder.push(rest, out);
        self.decoder = Some(decoder);
    }

    fn begun(&self) -> usize {
        self.decoder.as_ref().map_or(self.begun.len(), |decoder| decoder.begun())
    }

    fn finish(&mut self) -> Option<Decoded<'static>> {
        match &mut self.decoder {
            Some(decoder) => decoder.finish(),
            None if self.begun.is_empty() => None,
            None => Some(Decoded::Line(Cow::Owned(std::mem::take(&mut self.begun)))),
        }
    }
}

impl Decoded<'_> {
    fn into_owned(self) -> Decoded<'static> {
        match self {
            Self::Line(line) => Decoded::Line(Cow::Owned(line.into_owned())),
            Self::TooLong { head, dropped } => Decoded::TooLong { head, dropped },
            Self::Lost(why) => Decoded::Lost(why),
        }
    }
}

#[derive(Debug)]
pub struct LineDecoder {
    max_line: usize,
    part: Vec<u8>,
    /// Set while a line that is too long runs on; `part` then holds its head.
    dropped: Option<u64>,
}

impl LineDecoder {
    pub fn new(max_line: usize) -> Self {
        Self { max_line, part: Vec::new(), dropped: None }
    }

    fn append(&mut self, piece: &[u8]) {
        if let Some(dropped) = &mut self.dropped {
            *dropped = dropped.saturating_add(piece.len() as u64);
            return;
        }
        let total = self.part.len().saturating_add(piece.len());
        if total <= self.max_line {
            if total > self.part.capacity() {
                // Doubling as usual, but never beyond the limit.
                let wanted = self.part.capacity().saturating_mul(2).clamp(total, self.max_line.max(total));
                self.part.reserve_exact(wanted - self.part.len());
            }
            self.part.extend_from_slice(piece);
            return;
        }
        let keep = HEAD.min(self.max_line);
        let mut head: Vec<u8> = self.part.iter().take(keep).copied().collect();
        head.extend(piece.iter().take(keep - head.len()));
        self.dropped = Some((total - head.len()) as u64);
        self.part = head;
    }
}

impl Decoder for LineDecoder {
    fn push<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Decoded<'a>>) {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            let (piece, tail) = rest.split_at(end);
            rest = tail.get(1..).unwrap_or_default();
            if self.dropped.is_none() && self.part.is_empty() && piece.len() <= self.max_line {
                out.push(Decoded::Line(Cow::Borrowed(piece)));
            } else {
                self.append(piece);
                out.extend(self.finish());
            }
        }
        self.append(rest);
    }

    fn begun(&self) -> usize {
        self.part.len()
    }

    fn finish(&mut self) -> Option<Decoded<'static>> {
        let part = std::mem::take(&mut self.part);
        match self.dropped.take() {
            Some(dropped) => Some(Decoded::TooLong { head: part, dropped }),
            None if part.is_empty() => None,
            None => Some(Decoded::Line(Cow::Owned(part))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(decoded: Vec<Decoded<'_>>) -> Vec<Result<Vec<u8>, (usize, u64)>> {
        decoded
            .into_iter()
            .map(|d| match d {
                Decoded::Line(line) => Ok(line.into_owned()),
                Decoded::TooLong { head, dropped } => Err((head.len(), dropped)),
                Decoded::Lost(why) => panic!("{why}"),
            })
            .collect()
    }

    #[test]
    fn r_049_only_a_newline_ends_a_line() {
        let mut decoder = LineDecoder::new(MAX_LINE);
        let mut out = Vec::new();
        decoder.push("a\u{2028}b\rc\r\n\nlast".as_bytes(), &mut out);
        let mut got = lines(out);
        got.extend(lines(decoder.finish().into_iter().collect()));
        assert_eq!(got, vec![Ok("a\u{2028}b\rc\r".into()), Ok(vec![]), Ok(b"last".to_vec())]);
        assert_eq!(decoder.finish(), None);
    }

    #[test]
    fn r_028_a_line_of_the_limit_passes_and_one_more_byte_does_not() {
        let max = HEAD * 2;
        let mut decoder = LineDecoder::new(max);
        let text = [vec![b'x'; max], b"\n".to_vec(), vec![b'y'; max + 1], b"\nz\n".to_vec()].concat();
        let mut out = Vec::new();
        decoder.push(&text, &mut out);
        assert_eq!(lines(out), vec![Ok(vec![b'x'; max]), Err((HEAD, (max + 1 - HEAD) as u64)), Ok(b"z".to_vec())]);
    }

    #[test]
    fn r_028_memory_is_bounded_by_the_limit_however_long_the_line() {
        let max = 1 << 20;
        let mut decoder = LineDecoder::new(max);
        let block = vec![b'x'; 50_000];
        let mut out = Vec::new();
        let mut peak = 0;
        for _ in 0..4000 {
            decoder.push(&block, &mut out);
            peak = peak.max(decoder.part.capacity());
        }
        assert!(peak <= max, "{peak}");
        assert!(decoder.part.capacity() <= HEAD, "the big buffer is given back");
        decoder.push(b"\nok\n", &mut out);
        assert_eq!(lines(out), vec![Err((HEAD, 200_000_000 - HEAD as u64)), Ok(b"ok".to_vec())]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in proptest::collection::vec(prop_oneof![3 => Just(b'a'), 1 => Just(b'\n')], 0..400),
                                cuts in proptest::collection::vec(1usize..60, 1..40)) {
            let mut whole = LineDecoder::new(7);
            let mut expected = Vec::new();
            whole.push(&text, &mut expected);
            expected.extend(whole.finish());
            let mut pieces = LineDecoder::new(7);
            let mut got = Vec::new();
            let mut rest = text.as_slice();
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                pieces.push(now, &mut got);
                rest = later;
                if rest.is_empty() { break; }
            }
            got.extend(pieces.finish());
            prop_assert_eq!(lines(got), lines(expected));
        }
    }
}
