//! `Theme`: from the meaning of a run of text to the style that the terminal gets.
//!
//! The only place outside the screen code that knows the drawing library.
//! Invariants: every token has a style; looking one up costs an array access.

use ratatui::style::{Modifier, Style};

use crate::base::toml_doc::Warning;
use crate::text::run::{Mods, RunStyle};
use crate::text::token::Token;

use super::color::{Color, Depth, Rgb};
use super::fit;
use super::load::{self, Sheet, Spec};

const TOKENS: usize = Token::ALL.len();

#[derive(Clone, PartialEq, Debug)]
pub struct Theme {
    name: String,
    background: Option<Color>,
    /// As the theme states them.
    specs: [Spec; TOKENS],
    /// As they fit the terminal.
    fitted: [Spec; TOKENS],
    depth: Depth,
    /// By `Token as usize`.
    table: [Style; TOKENS],
    /// Those that are never bold, see [`fit::fades_in_bold`].
    not_bold: [bool; TOKENS],
}

impl Theme {
    /// Names of the themes that come with the program; the first is for an unknown background.
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
            fitted: specs,
            depth: Depth::True,
            table: [Style::new(); TOKENS],
            not_bold: [false; TOKENS],
        };
        theme.with_depth(Depth::True)
    }

    /// The same theme for a terminal with other colours.
    pub fn with_depth(self, depth: Depth) -> Self {
        let made_for = self.background.and_then(Color::rgb);
        self.fitted(depth, made_for)
    }

    /// The same theme for a terminal with this background: tints keep their distance from it, words can be read.
    pub fn on(self, depth: Depth, ground: Rgb) -> Self {
        self.fitted(depth, Some(ground))
    }

    fn fitted(mut self, depth: Depth, ground: Option<Rgb>) -> Self {
        self.depth = depth;
        self.fitted = fit::fit(self.specs, self.background.and_then(Color::rgb), ground, depth);
        self.not_bold = self.fitted.map(|spec| fit::fades_in_bold(spec, ground, depth));
        for (spec, not_bold) in self.fitted.iter_mut().zip(self.not_bold) {
            if not_bold {
                spec.mods = spec.mods.without(Mods::BOLD);
            }
        }
        self.table = self.fitted.map(|spec| paint(Style::new(), depth, spec));
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

    /// The style of a token as it fits the terminal.
    pub fn spec(&self, token: Token) -> Spec {
        self.fitted.get(token as usize).copied().unwrap_or_default()
    }

    /// The style of a run: its token, then its attributes and the colours that a program asked for.
    pub fn style(&self, run: impl Into<RunStyle>) -> Style {
        let run = run.into();
        let style = self.table.get(run.token as usize).copied().unwrap_or_default();
        if run.mods == Mods::NONE && run.fg.is_none() && run.bg.is_none() {
            return style;
        }
        let not_bold = run.fg.is_none() && self.not_bold.get(run.token as usize).is_some_and(|not_bold| *not_bold);
        let mods = if not_bold { run.mods.without(Mods::BOLD) } else { run.mods };
        let spec = Spec { fg: run.fg.map(Color::from), bg: run.bg.map(Color::from), mods };
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
    use crate::theme::contrast;
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

    fn all() -> Vec<Theme> {
        Theme::builtin_names().map(|name| Theme::builtin(name).unwrap()).collect()
    }

    #[test]
    fn on_an_unknown_background_words_keep_the_terminals_colour_and_signs_are_seen_on_black_and_on_white() {
        let theme = Theme::default();
        assert_eq!(theme.name(), "terminal");
        assert_eq!(theme.style(Token::Text), Style::new());
        for (token, name) in Token::ALL {
            let spec = theme.spec(*token);
            assert_eq!(spec.bg, None, "{name}");
            let Some(fg) = spec.fg else { continue };
            assert!(token.is_decoration(), "{name} carries words");
            let least = contrast::least(fg.rgb().unwrap(), &[(0, 0, 0), (255, 255, 255)]);
            assert!(least >= contrast::DECORATION, "{name} has {least:.2}");
        }
    }

    /// The least contrast of a token with any background that may be behind it; nothing for the terminal's own colour.
    fn least(theme: &Theme, ground: Rgb, token: Token) -> Option<f64> {
        let spec = theme.spec(token);
        let fg = spec.fg?.rgb()?;
        let bg = |token: Token| theme.spec(token).bg.and_then(Color::rgb);
        let mut grounds = vec![ground];
        if let Some(own) = bg(token).filter(|_| !token.is_fill()) {
            grounds = vec![own];
        } else {
            grounds.extend(Token::ALL.iter().filter(|(token, _)| token.is_fill()).filter_map(|(token, _)| bg(*token)));
        }
        Some(contrast::least(fg, &grounds))
    }

    #[test]
    fn every_theme_can_be_read_on_its_background_with_every_number_of_colours() {
        for theme in all() {
            for depth in [Depth::Ansi16, Depth::Ansi256, Depth::True] {
                let theme = theme.clone().with_depth(depth);
                let Some(ground) = theme.background().and_then(Color::rgb) else { continue };
                for (token, token_name) in Token::ALL {
                    if let Some(ratio) = least(&theme, ground, *token) {
                        assert!(ratio >= contrast::TEXT, "{}, {depth:?}: {token_name} has {ratio:.2}", theme.name());
                    }
                }
            }
        }
    }

    #[test]
    fn themes_are_readable_as_they_are_written() {
        for theme in all() {
            for (token, name) in Token::ALL {
                if theme.background().is_some() && !theme.name().starts_with("sixteen") {
                    assert_eq!(theme.specs[*token as usize], theme.spec(*token), "{}: {name}", theme.name());
                }
            }
        }
    }

    #[test]
    fn tints_and_meanings_can_be_told_apart() {
        for theme in all() {
            let name = theme.name();
            let fg = |token| theme.spec(token).fg;
            if theme.background().is_some() {
                assert_ne!(fg(Token::Good), fg(Token::Bad), "{name}");
                assert_ne!(fg(Token::Warn), fg(Token::Good), "{name}");
            }
            assert_ne!(theme.spec(Token::Danger), theme.spec(Token::Text), "{name}");
            let bg = |token| theme.spec(token).bg;
            if bg(Token::DiffAdd).is_some() {
                assert_ne!(bg(Token::DiffAdd), bg(Token::DiffDel), "{name}");
                assert_ne!(bg(Token::DiffAdd), bg(Token::DiffAddWord), "{name}");
            }
        }
    }

    #[test]
    fn no_theme_paints_the_background_of_plain_text() {
        for theme in all() {
            for token in [Token::Text, Token::Dim, Token::CodeBlock, Token::Dock, Token::CodeString] {
                assert_eq!(theme.spec(token).bg, None, "{}: {token:?}", theme.name());
            }
        }
    }

    #[test]
    fn on_every_background_words_can_be_read() {
        let themes = ["dark", "light", "sixteen-dark", "sixteen-light"].map(|name| Theme::builtin(name).unwrap());
        let steps = [0, 64, 110, 128, 150, 200, 255];
        for ground in steps.iter().flat_map(|r| steps.map(|g| (*r, g))).flat_map(|(r, g)| steps.map(|b| (r, g, b))) {
            for (theme, depth) in themes.iter().zip([Depth::True, Depth::Ansi256, Depth::Ansi16, Depth::Ansi16]) {
                let theme = theme.clone().on(depth, ground);
                for (token, name) in Token::ALL {
                    if let Some(ratio) = least(&theme, ground, *token) {
                        assert!(ratio >= contrast::TEXT, "{ground:?}, {depth:?}: {name} has {ratio:.2}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_terminals_brighten_in_bold_is_not_bold_where_it_could_not_be_read() {
        for (ground, is_bold) in [((255, 255, 255), false), ((0, 0, 0), true)] {
            let theme = Theme::builtin("terminal").unwrap().on(Depth::Ansi16, ground);
            for (token, name) in Token::ALL {
                let Some(Color::Named(n)) = theme.spec(*token).fg else { continue };
                let style = theme.style(RunStyle::from(*token).with_mods(Mods::BOLD));
                let brighter = contrast::least(super::super::color::rgb_of(n | 8), &[ground]);
                let shown = style.add_modifier.contains(Modifier::BOLD);
                assert_eq!(shown, n >= 8 || brighter >= contrast::TEXT, "{name} on {ground:?}");
                assert!(shown || !is_bold, "{name}");
            }
        }
    }
}
