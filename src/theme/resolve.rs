//! `Theme`: from the meaning of a run of text to the style that the terminal gets.
//!
//! The only place outside the screen code that knows the drawing library. Paints no background of its own.
//! Invariants: every token has a style; looking one up costs an array access.

use ratatui::style::{Modifier, Style};

use crate::base::toml_doc::Warning;
use crate::text::run::{Mods, RunStyle};
use crate::text::token::Token;

use super::color::{Color, Depth};
use super::load::{self, Sheet, Spec};

const TOKENS: usize = Token::ALL.len();

#[derive(Clone, PartialEq, Debug)]
pub struct Theme {
    name: String,
    background: Option<Color>,
    specs: [Spec; TOKENS],
    depth: Depth,
    /// By `Token as usize`.
    table: [Style; TOKENS],
}

impl Theme {
    /// Names of the themes that come with the program; the first is the default.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        load::BUILTIN.iter().map(|(name, _)| *name)
    }

    /// A theme that comes with the program, for a truecolour terminal (see [`Theme::with_depth`]).
    pub fn builtin(name: &str) -> Option<Self> {
        load::builtin(name).map(|text| Self::parse(name, text).0)
    }

    /// A theme from the text of its file; what is wrong in it gives warnings.
    pub fn parse(name: &str, text: &str) -> (Self, Vec<Warning>) {
        let (sheet, warnings) = load::load(name, text);
        (Self::from_sheet(sheet), warnings)
    }

    fn from_sheet(sheet: Sheet) -> Self {
        let specs = std::array::from_fn(|n| {
            let mut token = Token::ALL.get(n).map_or(Token::Text, |(token, _)| *token);
            loop {
                if let Some(spec) = sheet.styles.get(&token) {
                    return *spec;
                }
                let Some(parent) = token.parent() else { return Spec::default() };
                token = parent;
            }
        });
        let theme = Self {
            name: sheet.name,
            background: sheet.background,
            specs,
            depth: Depth::True,
            table: [Style::new(); TOKENS],
        };
        theme.with_depth(Depth::True)
    }

    /// The same theme for a terminal with other colours.
    pub fn with_depth(mut self, depth: Depth) -> Self {
        self.depth = depth;
        self.table = self.specs.map(|spec| paint(Style::new(), depth, spec));
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn depth(&self) -> Depth {
        self.depth
    }

    /// What the terminal's background is expected to be; never painted.
    pub const fn background(&self) -> Option<Color> {
        self.background
    }

    /// The style of a token as the theme states it, before it is reduced to the depth of the terminal.
    pub fn spec(&self, token: Token) -> Spec {
        self.specs.get(token as usize).copied().unwrap_or_default()
    }

    /// The style of a run: its token, then its attributes and the colours that a program asked for.
    pub fn style(&self, run: impl Into<RunStyle>) -> Style {
        let run = run.into();
        let style = self.table.get(run.token as usize).copied().unwrap_or_default();
        if run.mods == Mods::NONE && run.fg.is_none() && run.bg.is_none() {
            return style;
        }
        let spec = Spec { fg: run.fg.map(Color::from), bg: run.bg.map(Color::from), mods: run.mods };
        paint(style, self.depth, spec)
    }
}

impl Default for Theme {
    fn default() -> Self {
        Self::parse("terminal", load::BUILTIN[0].1).0
    }
}

const MODIFIERS: [(Mods, Modifier); 6] = [
    (Mods::BOLD, Modifier::BOLD),
    (Mods::ITALIC, Modifier::ITALIC),
    (Mods::UNDERLINE, Modifier::UNDERLINED),
    (Mods::STRIKE, Modifier::CROSSED_OUT),
    (Mods::REVERSE, Modifier::REVERSED),
    (Mods::FAINT, Modifier::DIM),
];

fn paint(mut style: Style, depth: Depth, spec: Spec) -> Style {
    if let Some(fg) = spec.fg.and_then(|color| depth.reduce(color)) {
        style = style.fg(fg);
    }
    if let Some(bg) = spec.bg.and_then(|color| depth.reduce(color)) {
        style = style.bg(bg);
    }
    for (mods, modifier) in MODIFIERS {
        if spec.mods.contains(mods) {
            style = style.add_modifier(modifier);
        }
    }
    style
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::run::AnsiColor;
    use ratatui::style::Color as Cell;

    #[test]
    fn the_table_is_in_the_order_of_the_tokens() {
        for (n, (token, name)) in Token::ALL.iter().enumerate() {
            assert_eq!(*token as usize, n, "{name}");
        }
    }

    #[test]
    fn a_token_that_is_not_named_takes_its_parents_style() {
        let (theme, warnings) = Theme::parse("t", "[styles]\ndim = \"red\"\nmd.heading.1 = { bold = true }");
        assert_eq!(warnings, []);
        assert_eq!(theme.style(Token::Thought), theme.style(Token::Dim));
        assert_eq!(theme.style(Token::Thought).fg, Some(Cell::Red));
        assert_eq!(theme.style(Token::Heading3).add_modifier, Modifier::BOLD);
        assert_eq!(theme.style(Token::Good), Style::new());
    }

    #[test]
    fn attributes_and_sgr_colours_come_on_top() {
        let (theme, _) = Theme::parse("t", "[styles]\naccent = { fg = \"blue\", bold = true }");
        let run = RunStyle {
            token: Token::Accent,
            mods: Mods::UNDERLINE,
            fg: Some(AnsiColor::Rgb(255, 0, 0)),
            bg: Some(AnsiColor::Named(3)),
        };
        let style = theme.clone().with_depth(Depth::Ansi256).style(run);
        assert_eq!((style.fg, style.bg), (Some(Cell::Indexed(196)), Some(Cell::Yellow)));
        assert_eq!(style.add_modifier, Modifier::BOLD | Modifier::UNDERLINED);
        let style = theme.with_depth(Depth::None).style(run);
        assert_eq!((style.fg, style.bg), (None, None));
        assert_eq!(style.add_modifier, Modifier::BOLD | Modifier::UNDERLINED);
    }

    #[test]
    fn without_colours_no_built_in_theme_has_any() {
        for name in Theme::builtin_names() {
            let theme = Theme::builtin(name).unwrap().with_depth(Depth::None);
            for (token, name) in Token::ALL {
                let style = theme.style(*token);
                assert_eq!((style.fg, style.bg), (None, None), "{name}");
            }
            assert!(theme.style(Token::Selected).add_modifier.contains(Modifier::REVERSED), "selection stays visible");
        }
    }

    #[test]
    fn the_default_uses_the_terminals_own_colours_only() {
        let theme = Theme::default();
        assert_eq!(theme.name(), "terminal");
        assert_eq!(theme.style(Token::Text), Style::new());
        for (token, name) in Token::ALL {
            let spec = theme.spec(*token);
            for color in [spec.fg, spec.bg].into_iter().flatten() {
                // Black, white and their bright forms are invisible on one background or the other.
                assert!(matches!(color, Color::Default | Color::Named(1..=6)), "{name}: {color:?}");
            }
        }
    }

    fn luminance(color: Color) -> f64 {
        let Color::Rgb(r, g, b) = color else { panic!("{color:?} is not RGB") };
        let channel = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
    }

    fn contrast(a: Color, b: Color) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn truecolour_themes_can_be_read_on_their_background() {
        for name in ["dark", "light"] {
            let theme = Theme::builtin(name).unwrap();
            let background = theme.background().unwrap();
            let text = theme.spec(Token::Text).fg.unwrap();
            for (token, token_name) in Token::ALL {
                let spec = theme.spec(*token);
                let ratio = contrast(spec.fg.unwrap_or(text), spec.bg.unwrap_or(background));
                assert!(ratio >= 4.5, "{name}: {token_name} has {ratio:.2}");
            }
        }
    }

    #[test]
    fn no_theme_paints_the_background_of_plain_text() {
        for name in Theme::builtin_names() {
            let theme = Theme::builtin(name).unwrap();
            for token in [Token::Text, Token::Dim, Token::User, Token::CodeBlock, Token::Dock, Token::DiffAdd] {
                assert_eq!(theme.spec(token).bg, None, "{name}: {token:?}");
            }
        }
    }
}
