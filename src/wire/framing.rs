//! How one message is told from the next on a stream of bytes: a value that both pumps are given.
//!
//! The one that ships is lines: splits on `\n` only (R-049) and looks at nothing else. Invariant: memory stays below the
//! line limit plus one block, and the work is linear in the bytes; a longer line is thrown away up to its end and only
//! its head survives (R-028).

use std::borrow::Cow;

use super::json::find_byte;

/// The longest line that is accepted.
pub const MAX_LINE: usize = 64 << 20;
/// What is kept of a longer one.
pub const HEAD: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// Without its `\n`.
    Line(Cow<'a, [u8]>),
    TooLong {
        head: Vec<u8>,
        /// How many bytes came after the head.
        dropped: u64,
    },
}

/// Takes a stream apart.
pub trait Decoder: Send {
    /// Takes the next bytes and appends the messages they complete, in order. None of them has a `\n` in it: that would
    /// tear the lines of a journal.
    fn push<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Decoded<'a>>);

    /// The message that was begun, if any, at the end of the stream.
    fn finish(&mut self) -> Option<Decoded<'static>>;
}

#[derive(Clone, Copy, Debug)]
pub struct Framing {
    pub decoder: fn() -> Box<dyn Decoder>,
    /// Appends what stands in front of a message of so many bytes.
    pub head: fn(usize, &mut Vec<u8>),
    /// What stands behind it.
    pub tail: &'static [u8],
}

/// A message is a line.
pub const LINES: Framing = Framing { decoder: || Box::new(LineDecoder::new(MAX_LINE)), head: |_, _| {}, tail: b"\n" };

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
        while let Some(end) = find_byte(rest, b'\n') {
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
