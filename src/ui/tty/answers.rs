//! What a terminal answers in a string of its own (OSC and APC), without what frames it. Invariant: nothing but data.

use super::event::Told;
use super::graphics::{TAKES_FILES, TAKES_KITTY};

/// That what was drawn has arrived: the answer that comes again and again meanwhile.
pub(super) const ARRIVED: &str = "\x1b[0n";

/// The answer, if it is one to a question of ours.
pub(super) fn told(introducer: u8, string: &[u8]) -> Option<Told> {
    let string = std::str::from_utf8(string).ok()?;
    match introducer {
        b']' if string.starts_with("7501;?") => Some(Told::TakesStatus),
        b']' if string.starts_with(TAKES_FILES) => Some(Told::TakesFiles),
        b']' => background(string),
        b'_' => (string == TAKES_KITTY).then_some(Told::TakesKitty),
        _ => None,
    }
}

/// The numbers between `CSI ?` and `c`: the first is the kind of terminal, the rest what it can do.
pub(super) fn attributes(numbers: &[u8]) -> Told {
    Told::Attributes { sixel: numbers.split(|byte| *byte == b';').skip(1).any(|number| number == b"4") }
}

/// The numbers between `CSI ?` and `S`: what was asked for, whether it is so, and how many colours.
pub(super) fn colours(numbers: &[u8]) -> Option<Told> {
    let count = std::str::from_utf8(numbers).ok()?.strip_prefix("1;0;")?;
    count.parse().ok().map(Told::Colours)
}

/// `11;rgb:ffff/ffff/ffff`, with one to four digits for each, or `11;#ffffff`.
fn background(string: &str) -> Option<Told> {
    let color = string.strip_prefix("11;")?;
    let hex = |digits: &str| {
        let fits = (1..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| fits)?;
        u8::try_from(value * 255 / ((1 << (4 * digits.len())) - 1)).ok()
    };
    if let Some(digits) = color.strip_prefix('#') {
        let third = digits.len() / 3;
        let part = |n: usize| hex(digits.get(n * third..(n + 1) * third)?);
        return (third * 3 == digits.len())
            .then_some(())
            .and_then(|()| Some(Told::Background(part(0)?, part(1)?, part(2)?)));
    }
    let channels = color.strip_prefix("rgb:").or_else(|| color.strip_prefix("rgba:"))?;
    let mut channels = channels.split('/').map(hex);
    Some(Told::Background(channels.next()??, channels.next()??, channels.next()??))
}
