//! Colours and attributes as select-graphic-rendition sequences, the shortest that turn one style into another.
//!
//! Does not decide colours: what a theme put into a cell is what is written.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

/// What of a style shows on a blank, besides its background.
const ON_BLANK: Modifier = Modifier::REVERSED
    .union(Modifier::UNDERLINED)
    .union(Modifier::CROSSED_OUT)
    .union(Modifier::SLOW_BLINK)
    .union(Modifier::RAPID_BLINK);

/// How the terminal draws the next character.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Pen {
    pub(super) fg: Color,
    pub(super) bg: Color,
    pub(super) modifier: Modifier,
}

impl Pen {
    pub(super) fn of(cell: &Cell) -> Self {
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }

    /// Whether a blank drawn with either looks the same.
    pub(super) fn same_blank(self, other: Self) -> bool {
        let (a, b) = (self.modifier & ON_BLANK, other.modifier & ON_BLANK);
        // With reversed or underlined blanks the foreground shows as well.
        self.bg == other.bg && a == b && (a.is_empty() || self.fg == other.fg)
    }

    /// Whether a blank drawn with this is what erasing leaves behind.
    pub(super) fn is_erased_blank(self) -> bool {
        self.same_blank(Self::default())
    }

    /// Appends what turns `self` into `to`, nothing if they are equal.
    pub(super) fn change(&mut self, to: Self, out: &mut Vec<u8>) {
        if *self == to {
            return;
        }
        let from = std::mem::replace(self, to);
        if to == Self::default() {
            out.extend_from_slice(b"\x1b[m");
            return;
        }
        let mut delta = Params::default();
        delta.difference(from, to);
        let mut anew = Params::default();
        anew.push(0);
        anew.difference(Self::default(), to);
        let best = if anew.text.len() < delta.text.len() { anew } else { delta };
        out.extend_from_slice(b"\x1b[");
        out.extend_from_slice(best.text.as_bytes());
        out.push(b'm');
    }
}

const SWITCHES: [(Modifier, u16, u16); 8] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

#[derive(Default)]
struct Params {
    text: String,
}

impl Params {
    fn push(&mut self, n: u16) {
        if !self.text.is_empty() {
            self.text.push(';');
        }
        self.text.push_str(&n.to_string());
    }

    fn difference(&mut self, from: Pen, to: Pen) {
        // No terminal needs two speeds of blinking, and 6 is poorly supported.
        let fold = |m: Modifier| {
            if m.contains(Modifier::RAPID_BLINK) { (m - Modifier::RAPID_BLINK) | Modifier::SLOW_BLINK } else { m }
        };
        let (old, new) = (fold(from.modifier), fold(to.modifier));
        let mut have = old;
        let weight = Modifier::BOLD | Modifier::DIM;
        if !((old & weight) - new).is_empty() {
            // 22 ends both; what stays is set again below.
            self.push(22);
            have -= weight;
        }
        for (modifier, on, off) in SWITCHES {
            match (have.contains(modifier), new.contains(modifier)) {
                (false, true) => self.push(on),
                (true, false) => self.push(off),
                _ => {}
            }
        }
        if from.fg != to.fg {
            self.color(to.fg, 30);
        }
        if from.bg != to.bg {
            self.color(to.bg, 40);
        }
    }

    fn color(&mut self, color: Color, base: u16) {
        let named = |n: u16| base + n;
        let bright = |n: u16| base + 60 + n;
        let code = match color {
            Color::Reset => named(9),
            Color::Black => named(0),
            Color::Red => named(1),
            Color::Green => named(2),
            Color::Yellow => named(3),
            Color::Blue => named(4),
            Color::Magenta => named(5),
            Color::Cyan => named(6),
            Color::Gray => named(7),
            Color::DarkGray => bright(0),
            Color::LightRed => bright(1),
            Color::LightGreen => bright(2),
            Color::LightYellow => bright(3),
            Color::LightBlue => bright(4),
            Color::LightMagenta => bright(5),
            Color::LightCyan => bright(6),
            Color::White => bright(7),
            Color::Indexed(i) => {
                self.push(named(8));
                self.push(5);
                self.push(i.into());
                return;
            }
            Color::Rgb(r, g, b) => {
                self.push(named(8));
                self.push(2);
                for part in [r, g, b] {
                    self.push(part.into());
                }
                return;
            }
        };
        self.push(code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(from: Pen, to: Pen) -> String {
        let mut out = Vec::new();
        let mut pen = from;
        pen.change(to, &mut out);
        assert_eq!(pen, to);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_what_differs_is_said() {
        let red = Pen { fg: Color::Red, ..Pen::default() };
        let red_bold = Pen { modifier: Modifier::BOLD, ..red };
        assert_eq!(change(red, red), "");
        assert_eq!(change(red, red_bold), "\x1b[1m");
        assert_eq!(change(red_bold, red), "\x1b[22m");
        assert_eq!(change(red_bold, Pen::default()), "\x1b[m");
        assert_eq!(change(Pen::default(), Pen { bg: Color::Indexed(200), ..red }), "\x1b[31;48;5;200m");
        assert_eq!(change(red, Pen { fg: Color::Rgb(1, 2, 3), ..red }), "\x1b[38;2;1;2;3m");
    }

    #[test]
    fn ending_bold_keeps_dim() {
        let both = Pen { modifier: Modifier::BOLD | Modifier::DIM, fg: Color::Red, bg: Color::Blue };
        let dim = Pen { modifier: Modifier::DIM, ..both };
        assert_eq!(change(both, dim), "\x1b[22;2m");
    }

    #[test]
    fn a_blank_shows_only_its_background() {
        let bold_red = Pen { fg: Color::Red, modifier: Modifier::BOLD, ..Pen::default() };
        assert!(bold_red.is_erased_blank());
        assert!(!Pen { bg: Color::Red, ..Pen::default() }.is_erased_blank());
        assert!(!Pen { modifier: Modifier::REVERSED, ..Pen::default() }.is_erased_blank());
    }
}
