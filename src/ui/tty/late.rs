//! Which bytes are the rest of a sequence whose beginning was taken for a key.
//!
//! Knows nothing of time: its caller says what was given out lately. Invariant: what a person types by one key at a time
//! is a rest only after a beginning of that kind; what may be a rest or typed is a key that answers nothing.

const ESC: u8 = 0x1b;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doubt {
    Escape,
    /// An escape, where a string was open: the rest of its end may come.
    End,
    /// An escape and what introduces a sequence.
    Introducer(u8),
    /// The same, or the escape alone, long ago: what has the end of the sequence in it is still its rest.
    Late(u8),
    /// An escape and, each for itself, what introduces a key.
    Typed,
    /// What may have been a number within a sequence, and its last byte.
    Number(u8),
}

impl Doubt {
    /// Whether it ends by itself when nothing comes.
    pub(super) const fn ends(self) -> bool {
        !matches!(self, Self::Late(_) | Self::Typed | Self::Number(_))
    }

    /// What is left of it when nothing has come for long.
    pub(super) const fn later(self) -> Option<Self> {
        match self {
            Self::Introducer(introducer @ (b'[' | b'O')) => Some(Self::Late(introducer)),
            Self::Escape => Some(Self::Late(ESC)),
            _ => None,
        }
    }

    /// Whether these bytes, which are not known to be a rest, may be a piece of one all the same.
    pub(super) fn suspects(self, bytes: &[u8]) -> bool {
        match self {
            // What begins with an escape of its own is no rest.
            Self::Escape | Self::Late(ESC) => bytes.len() > 1 && !bytes.starts_with(&[ESC]),
            Self::Introducer(b'[' | b'O') | Self::Late(_) | Self::Typed => true,
            // The same key once more is the person's.
            Self::Number(last) => bytes != [last],
            Self::End | Self::Introducer(_) => false,
        }
    }
}

/// What is in doubt after bytes that may have been a piece of a rest.
pub(super) fn after(bytes: &[u8]) -> Option<Doubt> {
    match bytes {
        [b'[' | b'O'] | [b'[', b'['] | [b'M', ..] | [b'[', b'M', ..] => Some(Doubt::Typed),
        [b'[' | b'O', number @ ..] | number => {
            number.last().filter(|_| is_number(number)).map(|last| Doubt::Number(*last))
        }
    }
}

fn is_number(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| (0x20..=0x3f).contains(b))
}

/// Whether the bytes begin with the last one of a key that has no numbers.
fn ends_key(introducer: u8, bytes: &[u8]) -> bool {
    matches!(
        (introducer, bytes),
        (b'[', [b'A'..=b'I' | b'M' | b'O' | b'P'..=b'S' | b'Z' | b'[', ..])
            | (b'O', [b'A'..=b'I' | b'M' | b'P'..=b'S' | b'X' | b'j'..=b'y', ..])
    )
}

/// Whether the end of a sequence that began long ago is in the bytes.
pub(super) fn completes(bytes: &[u8]) -> bool {
    bytes.iter().find(|b| !(0x20..=0x3f).contains(*b)).is_some_and(|b| (0x40..=0x7e).contains(b))
}

/// What the beginning of a sequence has lost when these bytes are the rest of one: nothing when they are keys.
pub(super) fn missing(doubt: Option<Doubt>, bytes: &[u8]) -> &'static [u8] {
    let introduced = |introducer: u8, bytes: &[u8]| match (introducer, bytes) {
        (b'[', [b'0'..=b'9' | b'?' | b'<' | b'>' | b'=', ..]) => true,
        (b'[', _) if ends_key(b'[', bytes) => true,
        (b']', [b'0'..=b'9', ..]) => true,
        (b'P', [b'0'..=b'9' | b'>' | b'=' | b'$' | b'+' | b'!', _, ..]) | (b'_', [b'G', _, ..]) => true,
        (b'X' | b'^' | b'_', [0x20..=0x7e, _, ..]) => doubt != Some(Doubt::Escape),
        _ => false,
    };
    match (doubt, bytes) {
        // That what was drawn has arrived, which is asked again and again, and where the cursor is.
        (Some(Doubt::Escape), [b'[', b'0', b'n', ..] | [b'[', b'2', b';', b'2' | b'3', b'R', ..]) => return &[ESC],
        // An escape has ended a paste: it was its end.
        (Some(Doubt::Escape), [b'[', b'2', b'0', b'1', b'~', ..]) => return &[ESC],
        (Some(Doubt::Escape), [b'[', b'0'..=b'9', ..]) => {}
        (Some(Doubt::Escape), [b'X' | b'^' | b'_', .., ESC, b'\\']) => return &[ESC],
        (Some(Doubt::Escape), [first, rest @ ..]) if introduced(*first, rest) => return &[ESC],
        (Some(Doubt::Late(b'[')), [0x20..=0x3f, ..]) if completes(bytes) => return b"\x1b[",
        (Some(Doubt::Late(b'[')), _) if ends_key(b'[', bytes) => return b"\x1b[",
        (Some(Doubt::Introducer(b'O') | Doubt::Late(b'O')), _) if ends_key(b'O', bytes) => return b"\x1bO",
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
