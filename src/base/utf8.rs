//! `Utf8Stream`: bytes that arrive in pieces become text; a character split between two reads stays whole.
//!
//! Does not look at what the text says. Invariant: the result is the same however the bytes were cut, and equals
//! what a lossy decode of all bytes together gives.

/// Incremental decoder; invalid bytes become U+FFFD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Utf8Stream {
    /// A started, so far valid character: at most three bytes.
    pending: [u8; 4],
    len: usize,
}

impl Utf8Stream {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&mut self, mut bytes: &[u8], out: &mut String) {
        while self.len > 0 {
            let Some((first, rest)) = bytes.split_first() else { return };
            let mut joined = self.pending;
            joined[self.len] = *first;
            match std::str::from_utf8(&joined[..=self.len]) {
                Ok(text) => {
                    out.push_str(text);
                    self.len = 0;
                    bytes = rest;
                }
                Err(error) if error.error_len().is_none() => {
                    self.pending = joined;
                    self.len += 1;
                    bytes = rest;
                }
                Err(_) => {
                    // The byte does not continue the character: it is looked at again on its own.
                    out.push(char::REPLACEMENT_CHARACTER);
                    self.len = 0;
                }
            }
        }
        while !bytes.is_empty() {
            match std::str::from_utf8(bytes) {
                Ok(text) => {
                    out.push_str(text);
                    return;
                }
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    out.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    if let Some(bad) = error.error_len() {
                        out.push(char::REPLACEMENT_CHARACTER);
                        bytes = &rest[bad..];
                    } else {
                        self.pending[..rest.len()].copy_from_slice(rest);
                        self.len = rest.len();
                        return;
                    }
                }
            }
        }
    }

    /// The stream ended: a started character cannot be completed any more.
    pub fn finish(&mut self, out: &mut String) {
        if self.len > 0 {
            out.push(char::REPLACEMENT_CHARACTER);
            self.len = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(chunks: &[&[u8]]) -> String {
        let mut stream = Utf8Stream::new();
        let mut out = String::new();
        for chunk in chunks {
            stream.push(chunk, &mut out);
        }
        stream.finish(&mut out);
        out
    }

    #[test]
    fn r_383_a_character_split_between_reads_stays_whole() {
        assert_eq!(decode(&[b"a\xf0", b"\x9f", b"\xa6\x80b"]), "a🦀b");
    }

    #[test]
    fn r_383_invalid_bytes_become_replacement_characters() {
        assert_eq!(decode(&[b"a\xff", b"b\xe2\x82", b"c\xe2"]), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }

    fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            ".{0,4}".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..4),
            proptest::collection::vec(prop_oneof![Just(0xf0u8), Just(0x9f), Just(0xe0), Just(0x80), Just(0xed)], 0..4),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn r_383_cuts_do_not_matter(bytes in any_bytes(), step in 1usize..7) {
            let chunks: Vec<&[u8]> = bytes.chunks(step).collect();
            prop_assert_eq!(decode(&chunks), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
