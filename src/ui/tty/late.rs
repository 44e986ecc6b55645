//! Which bytes are the rest of a sequence whose beginning was taken for a key.
//!
//! Knows nothing of time: its caller says what was given out lately. Invariant: what a person types by one key at a time
//! is a rest only after a beginning of that kind.

const ESC: u8 = 0x1b;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doubt {
    Escape,
    /// An escape, where a string was open: the rest of its end may come.
    End,
    /// An escape and what introduces a sequence.
    Introducer(u8),
}

/// What the beginning of a sequence has lost when these bytes are the rest of one: nothing when they are keys.
pub(super) fn missing(doubt: Option<Doubt>, bytes: &[u8]) -> &'static [u8] {
    let introduced = |introducer: u8, bytes: &[u8]| match (introducer, bytes) {
        (b'[', [b'0'..=b'9' | b'?' | b'<' | b'>' | b'=', ..] | [b'M', _, _, _, ..]) => true,
        (b']', [b'0'..=b'9', ..]) => true,
        (b'P', [b'0'..=b'9' | b'>' | b'=' | b'$' | b'+' | b'!', _, ..]) | (b'_', [b'G', _, ..]) => true,
        (b'X' | b'^' | b'_', [0x20..=0x7e, _, ..]) => doubt != Some(Doubt::Escape),
        _ => false,
    };
    match (doubt, bytes) {
        (Some(Doubt::Escape), [b'[', b'0'..=b'9', ..]) => {}
        (Some(Doubt::Escape), [b'X' | b'^' | b'_', .., ESC, b'\\']) => return &[ESC],
        (Some(Doubt::Escape), [first, rest @ ..]) if introduced(*first, rest) => return &[ESC],
        (Some(Doubt::Introducer(b'[')), _) if introduced(b'[', bytes) => return b"\x1b[",
        (Some(Doubt::Introducer(b']')), _) if introduced(b']', bytes) => return b"\x1b]",
        (Some(Doubt::Introducer(b'P')), _) if introduced(b'P', bytes) => return b"\x1bP",
        (Some(Doubt::Introducer(other)), _) if introduced(other, bytes) => return b"\x1b_",
        _ => {}
    }
    // The answer about the background is known without its beginning, which another reader has taken.
    let color = |rest: &[u8]| rest.starts_with(b";rgb:") || rest.starts_with(b";rgba:");
    match bytes {
        [b']', rest @ ..] if rest.starts_with(b"11;#") || rest.strip_prefix(b"11").is_some_and(color) => &[ESC],
        [b'1', b'1', rest @ ..] if rest.starts_with(b";#") || color(rest) => b"\x1b]",
        [b'1', rest @ ..] if rest.starts_with(b";#") || color(rest) => b"\x1b]1",
        rest if color(rest) => b"\x1b]11",
        _ => &[],
    }
}
