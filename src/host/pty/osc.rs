//! Takes operating system commands (OSC: titles, clipboard, links, colours) out of a stream before the emulator.
//!
//! Nothing of them is wanted on screen, and the emulator's parser would collect an unterminated one without end.
//! Invariant: constant size; the rest of the stream reaches the emulator unchanged and in order.

const ESC: u8 = 0x1b;
/// Cancels an escape sequence that has begun, without a trace on screen.
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const BEL: u8 = 0x07;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC; the emulator has seen it.
    Escape,
    /// Inside an OSC; the emulator has been told to forget the ESC.
    Osc,
}

/// The filter; one for each stream.
#[derive(Clone, Default)]
pub(super) struct OscFilter {
    state: State,
}

impl OscFilter {
    /// Appends to `out` what of `bytes` is not part of an OSC.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.state == State::Ground && !bytes.contains(&ESC) {
            out.extend_from_slice(bytes);
            return;
        }
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (State::Osc, BEL | CAN | SUB) => State::Ground,
                (State::Osc, ESC) => {
                    out.push(ESC);
                    State::Escape
                }
                (State::Osc, _) => State::Osc,
                (State::Escape, b']') => {
                    out.push(CAN);
                    State::Osc
                }
                (_, ESC) => {
                    out.push(ESC);
                    State::Escape
                }
                // Control characters act inside an escape sequence without ending it.
                (State::Escape, 0x00..=0x17 | 0x19 | 0x1c..=0x1f | 0x7f) => {
                    out.push(byte);
                    State::Escape
                }
                _ => {
                    out.push(byte);
                    State::Ground
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(parts: &[&[u8]]) -> Vec<u8> {
        let mut filter = OscFilter::default();
        let mut out = Vec::new();
        for part in parts {
            filter.push(part, &mut out);
        }
        out.retain(|&b| b != CAN);
        out
    }

    #[test]
    fn titles_clipboard_and_links_are_gone() {
        assert_eq!(filtered(&[b"a\x1b]0;evil\x07b"]), b"a\x1bb");
        assert_eq!(filtered(&[b"a\x1b]52;c;AAAA\x1b\\b"]), b"a\x1b\x1b\\b");
        assert_eq!(filtered(&[b"a\x1b", b"]8;;http://x\x1b", b"\\link"]), b"a\x1b\x1b\\link");
        assert_eq!(filtered(&[b"\x1b\n]0;x\x07y"]), b"\x1b\ny");
    }

    #[test]
    fn an_unterminated_one_keeps_nothing() {
        let mut filter = OscFilter::default();
        let mut out = Vec::new();
        filter.push(b"\x1b]52;c;", &mut out);
        for _ in 0..1000 {
            filter.push(&[b'A'; 1000], &mut out);
        }
        assert_eq!(out, [ESC, CAN]);
    }

    #[test]
    fn other_sequences_pass() {
        let text: &[u8] = b"\x1b[31mred\x1b[0m \x1b(B\x1b]x\x18after\xe2\x94\x80";
        assert_eq!(filtered(&[text]), b"\x1b[31mred\x1b[0m \x1b(B\x1bafter\xe2\x94\x80");
    }
}
