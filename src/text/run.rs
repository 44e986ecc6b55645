//! `StyledText`: a string with runs of styles over it; the one text type of the application.
//!
//! It knows no terminal and no colour depth. Invariant: runs are sorted, do not overlap, lie on character
//! boundaries and cover the whole string.

use super::token::Token;

/// A colour that a program asked for with SGR; the theme decides what the terminal gets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AnsiColor {
    /// 0–15: the terminal's own palette.
    Named(u8),
    /// 16–255 of the fixed palette.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// Attributes beside the colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mods(u8);

impl Mods {
    pub const NONE: Self = Self(0);
    pub const BOLD: Self = Self(1);
    pub const ITALIC: Self = Self(2);
    pub const UNDERLINE: Self = Self(4);
    pub const STRIKE: Self = Self(8);
    pub const REVERSE: Self = Self(16);
    pub const FAINT: Self = Self(32);

    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// The style of a run: a meaning, attributes, and what SGR asked for (terminal output only).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RunStyle {
    pub token: Token,
    pub mods: Mods,
    pub fg: Option<AnsiColor>,
    pub bg: Option<AnsiColor>,
}

impl From<Token> for RunStyle {
    fn from(token: Token) -> Self {
        Self { token, ..Self::default() }
    }
}

impl RunStyle {
    pub const fn with_mods(self, mods: Mods) -> Self {
        Self { mods: self.mods.with(mods), ..self }
    }
}

/// Text and its styles.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StyledText {
    text: String,
    /// End offset (bytes, exclusive) and style of each run.
    runs: Vec<(u32, RunStyle)>,
}

impl StyledText {
    pub fn new() -> Self {
        Self::default()
    }

    /// One run of one style.
    pub fn of(text: impl Into<String>, style: impl Into<RunStyle>) -> Self {
        let text = text.into();
        let runs = if text.is_empty() { Vec::new() } else { vec![(text.len() as u32, style.into())] };
        Self { text, runs }
    }

    pub fn push(&mut self, text: &str, style: impl Into<RunStyle>) {
        if text.is_empty() {
            return;
        }
        let style = style.into();
        self.text.push_str(text);
        let end = self.text.len() as u32;
        match self.runs.last_mut() {
            Some((last, s)) if *s == style => *last = end,
            _ => self.runs.push((end, style)),
        }
    }

    pub fn append(&mut self, other: &Self) {
        for (text, style) in other.iter() {
            self.push(text, style);
        }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The runs in order, each with its text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, RunStyle)> {
        self.slice(0..self.text.len())
    }

    /// The runs of a byte range. Offsets are moved down to character boundaries and clamped.
    pub fn slice(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = (&str, RunStyle)> {
        let start = self.text.floor_char_boundary(range.start);
        let end = self.text.floor_char_boundary(range.end).max(start);
        let first = self.runs.partition_point(|(run_end, _)| (*run_end as usize) <= start);
        let mut at = start;
        self.runs.iter().skip(first).map_while(move |(run_end, style)| {
            let to = (*run_end as usize).min(end);
            let piece = self.text.get(at..to).filter(|p| !p.is_empty())?;
            at = to;
            Some((piece, *style))
        })
    }

    /// The same text with the token of every run replaced (attributes stay).
    pub fn retoken(mut self, token: Token) -> Self {
        for (_, style) in &mut self.runs {
            style.token = token;
        }
        self
    }
}

impl From<&str> for StyledText {
    fn from(text: &str) -> Self {
        Self::of(text, Token::Text)
    }
}
