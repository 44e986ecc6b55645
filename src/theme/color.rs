//! Colours, and what a terminal can show of them.
//!
//! Reads no environment (the values are passed in) and asks the terminal nothing. Invariant: a reduced colour is one
//! that the depth has; with [`Depth::None`] there is none.

use ratatui::style::Color as Cell;

use crate::text::run::AnsiColor;

/// How many colours the terminal has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Depth {
    None,
    Ansi16,
    Ansi256,
    True,
}

impl Depth {
    /// From the values of `NO_COLOR`, `COLORTERM` and `TERM`.
    pub fn detect(no_color: Option<&str>, colorterm: Option<&str>, term: Option<&str>) -> Self {
        if no_color.is_some_and(|v| !v.is_empty()) {
            return Self::None;
        }
        let term = term.unwrap_or_default();
        if term == "dumb" {
            return Self::None;
        }
        let true_terms = ["kitty", "alacritty", "ghostty", "wezterm", "foot", "-direct"];
        if matches!(colorterm, Some("truecolor" | "24bit")) || true_terms.iter().any(|name| term.contains(name)) {
            return Self::True;
        }
        if term.contains("256color") { Self::Ansi256 } else { Self::Ansi16 }
    }

    /// What the terminal gets for a colour.
    pub fn reduce(self, color: Color) -> Option<Cell> {
        Some(match (self, color) {
            (Self::None, _) => return None,
            (_, Color::Default) => Cell::Reset,
            (_, Color::Named(n)) => named(n),
            (Self::Ansi16, Color::Indexed(n)) => named(nearest16(rgb_of(n))),
            (_, Color::Indexed(n)) => Cell::Indexed(n),
            (Self::Ansi16, Color::Rgb(r, g, b)) => named(nearest16((r, g, b))),
            (Self::Ansi256, Color::Rgb(r, g, b)) => Cell::Indexed(nearest256((r, g, b))),
            (Self::True, Color::Rgb(r, g, b)) => Cell::Rgb(r, g, b),
        })
    }
}

/// A colour as a theme or a program names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Color {
    /// The terminal's own colour of plain text (or behind it).
    Default,
    /// 0–15: the terminal's own palette.
    Named(u8),
    /// 16–255 of the fixed palette.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// The names of the terminal's own colours, by number.
pub const NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

impl Color {
    /// `default`, a name of [`NAMES`], `#rrggbb` or a number up to 255.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "default" {
            return Some(Self::Default);
        }
        if let Some(n) = NAMES.iter().position(|name| *name == text) {
            return Some(Self::Named(n as u8));
        }
        if let Some(hex) = text.strip_prefix('#') {
            if hex.len() != 6 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
                return None;
            }
            let n = u32::from_str_radix(hex, 16).ok()?;
            return Some(Self::Rgb((n >> 16) as u8, (n >> 8) as u8, n as u8));
        }
        text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok().map(Self::number)).flatten()
    }

    pub const fn number(n: u8) -> Self {
        if n < 16 { Self::Named(n) } else { Self::Indexed(n) }
    }

    /// What it looks like, the first sixteen as xterm has them; unknown for [`Color::Default`].
    pub const fn rgb(self) -> Option<Rgb> {
        match self {
            Self::Default => None,
            Self::Named(n) => Some(rgb_of(n & 15)),
            Self::Indexed(n) => Some(rgb_of(n)),
            Self::Rgb(r, g, b) => Some((r, g, b)),
        }
    }
}

impl From<AnsiColor> for Color {
    fn from(color: AnsiColor) -> Self {
        match color {
            AnsiColor::Named(n) | AnsiColor::Indexed(n) => Self::number(n),
            AnsiColor::Rgb(r, g, b) => Self::Rgb(r, g, b),
        }
    }
}

pub type Rgb = (u8, u8, u8);

const fn named(n: u8) -> Cell {
    match n & 15 {
        0 => Cell::Black,
        1 => Cell::Red,
        2 => Cell::Green,
        3 => Cell::Yellow,
        4 => Cell::Blue,
        5 => Cell::Magenta,
        6 => Cell::Cyan,
        7 => Cell::Gray,
        8 => Cell::DarkGray,
        9 => Cell::LightRed,
        10 => Cell::LightGreen,
        11 => Cell::LightYellow,
        12 => Cell::LightBlue,
        13 => Cell::LightMagenta,
        14 => Cell::LightCyan,
        _ => Cell::White,
    }
}

/// What xterm shows for the first sixteen; the real palette is the person's own.
pub(super) const BASE: [Rgb; 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The colour of a number of the fixed palette.
pub(super) const fn rgb_of(n: u8) -> Rgb {
    match n {
        0..16 => BASE[n as usize],
        16..232 => {
            let n = n as usize - 16;
            (STEPS[n / 36], STEPS[n / 6 % 6], STEPS[n % 6])
        }
        232.. => {
            let level = 8 + (n - 232) * 10;
            (level, level, level)
        }
    }
}

/// Distance as the eye weighs the channels.
fn distance(a: Rgb, b: Rgb) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    3 * square(a.0, b.0) + 6 * square(a.1, b.1) + square(a.2, b.2)
}

/// The nearest of some numbers of the palette.
pub(super) fn nearest(color: Rgb, of: impl Iterator<Item = u8>) -> Option<u8> {
    of.min_by_key(|n| distance(color, rgb_of(*n)))
}

fn nearest16(color: Rgb) -> u8 {
    nearest(color, 0..16).unwrap_or(7)
}

/// Not one of the first sixteen: it is unknown what those look like.
pub(super) fn nearest256(color: Rgb) -> u8 {
    nearest(color, 16..=255).unwrap_or(231)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    mod depth_from_the_environment {
        use super::*;

        fn check((no_color, colorterm, term): (Option<&str>, Option<&str>, Option<&str>), depth: Depth) {
            assert_eq!(Depth::detect(no_color, colorterm, term), depth);
        }

        cases! {
            check {
                no_color_wins: (Some("1"), Some("truecolor"), Some("xterm-256color")), Depth::None;
                an_empty_no_color_does_not_count: (Some(""), Some("truecolor"), Some("xterm")), Depth::True;
                colorterm_tells: (None, Some("24bit"), None), Depth::True;
                of_256_by_name: (None, None, Some("xterm-256color")), Depth::Ansi256;
                a_terminal_known_to_have_all: (None, None, Some("xterm-kitty")), Depth::True;
                a_plain_terminal: (None, None, Some("linux")), Depth::Ansi16;
                a_dumb_one_has_none: (None, Some("truecolor"), Some("dumb")), Depth::None;
                of_what_says_nothing: (None, None, None), Depth::Ansi16;
            }
        }
    }

    #[test]
    fn colours_have_names_numbers_and_hex() {
        assert_eq!(Color::parse("default"), Some(Color::Default));
        assert_eq!(Color::parse("bright-black"), Some(Color::Named(8)));
        assert_eq!(Color::parse("9"), Some(Color::Named(9)));
        assert_eq!(Color::parse("200"), Some(Color::Indexed(200)));
        assert_eq!(Color::parse("#0aF010"), Some(Color::Rgb(10, 240, 16)));
        for bad in ["", "256", "-1", "#fff", "#gggggg", "#+12345", "pink", "Red"] {
            assert_eq!(Color::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn reduction_finds_the_nearest() {
        assert_eq!(Depth::Ansi256.reduce(Color::Rgb(255, 0, 0)), Some(Cell::Indexed(196)));
        assert_eq!(Depth::Ansi16.reduce(Color::Rgb(250, 5, 5)), Some(Cell::LightRed));
        assert_eq!(Depth::Ansi16.reduce(Color::Indexed(46)), Some(Cell::LightGreen));
        assert_eq!(Depth::Ansi256.reduce(Color::Rgb(128, 128, 128)), Some(Cell::Indexed(244)));
        assert_eq!(Depth::True.reduce(Color::Named(7)), Some(Cell::Gray));
        assert_eq!(Depth::None.reduce(Color::Named(1)), None);
    }

    proptest! {
        #[test]
        fn reduced_colours_fit_the_depth(r: u8, g: u8, b: u8) {
            prop_assert!(matches!(Depth::Ansi256.reduce(Color::Rgb(r, g, b)), Some(Cell::Indexed(16..))));
            prop_assert!(!matches!(Depth::Ansi16.reduce(Color::Rgb(r, g, b)), Some(Cell::Indexed(_) | Cell::Rgb(..)) | None));
        }
    }
}
