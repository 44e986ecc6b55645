//! Which theme is drawn with: the one that the person named, or the one that fits what the terminal has told.
//!
//! Asks no terminal and reads no environment: it is told. Invariant: a theme that the person named is never replaced.

use super::color::{Depth, Rgb};
use super::contrast::is_dark;
use super::resolve::Theme;

/// The name of the theme that fits itself to the terminal; the default.
pub const AUTO: &str = "auto";

/// What the terminal's background is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ground {
    #[default]
    Unknown,
    /// Told as dark or light only.
    Shade(Shade),
    Color(Rgb),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shade {
    Dark,
    Light,
}

impl Ground {
    /// From the value of `COLORFGBG`: the numbers of the foreground and, last, of the background.
    pub fn from_env(colorfgbg: Option<&str>) -> Self {
        let last = colorfgbg.and_then(|value| value.rsplit(';').next()).and_then(|n| n.trim().parse::<u8>().ok());
        match last {
            Some(0..=6 | 8) => Self::Shade(Shade::Dark),
            Some(7 | 9..=15) => Self::Shade(Shade::Light),
            _ => Self::Unknown,
        }
    }

    /// The colour, or black or white for what is only known as dark or light.
    fn color(self) -> Option<Rgb> {
        match self {
            Self::Unknown => None,
            Self::Shade(Shade::Dark) => Some((0, 0, 0)),
            Self::Shade(Shade::Light) => Some((255, 255, 255)),
            Self::Color(rgb) => Some(rgb),
        }
    }
}

/// Names that may be asked for.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(AUTO).chain(Theme::builtin_names())
}

#[derive(Clone, Debug)]
pub struct Looks {
    depth: Depth,
    ground: Ground,
    /// Whether the theme follows the ground.
    follows: bool,
    /// What it was asked for as.
    name: Option<&'static str>,
    theme: Theme,
}

impl Looks {
    /// With a theme by its name; nothing when there is none of that name.
    pub fn named(name: &str, depth: Depth, ground: Ground) -> Option<Self> {
        if name == AUTO {
            return Some(Self::auto(depth, ground));
        }
        let known = names().find(|known| *known == name);
        Theme::builtin(name).map(|theme| Self { name: known, ..Self::fixed(theme.with_depth(depth)) })
    }

    /// The name of the theme, where it is one that can be asked for.
    pub const fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// The same terminal with another theme; unchanged when there is none of that name.
    pub fn renamed(&self, name: &str) -> Self {
        Self::named(name, self.depth, self.ground).unwrap_or_else(|| self.clone())
    }

    pub fn auto(depth: Depth, ground: Ground) -> Self {
        Self { depth, ground, follows: true, name: Some(AUTO), theme: fitting(depth, ground) }
    }

    pub fn fixed(theme: Theme) -> Self {
        Self { depth: theme.depth(), ground: Ground::Unknown, follows: false, name: None, theme }
    }

    pub const fn theme(&self) -> &Theme {
        &self.theme
    }

    /// Whether anything changes with what the terminal tells.
    pub fn wants_to_know(&self) -> bool {
        self.follows && self.depth != Depth::None
    }

    /// Whether the terminal has told its colour.
    pub const fn has_been_told(&self) -> bool {
        matches!(self.ground, Ground::Color(_))
    }

    /// What the terminal has told; true when the theme has changed.
    pub fn told(&mut self, ground: Ground) -> bool {
        // A shade says less than a colour of that shade.
        let known = match (self.ground, ground) {
            (Ground::Color(rgb), Ground::Shade(shade)) => is_dark(rgb) == (shade == Shade::Dark),
            (known, ground) => known == ground,
        };
        if known || !self.wants_to_know() {
            return false;
        }
        self.ground = ground;
        self.theme = fitting(self.depth, ground);
        true
    }
}

fn fitting(depth: Depth, ground: Ground) -> Theme {
    let Some(color) = ground.color() else { return Theme::default().with_depth(depth) };
    let name = match (depth, is_dark(color)) {
        (Depth::None, _) => return Theme::default().with_depth(depth),
        (Depth::Ansi16, true) => "sixteen-dark",
        (Depth::Ansi16, false) => "sixteen-light",
        (_, true) => "dark",
        (_, false) => "light",
    };
    Theme::builtin(name).unwrap_or_default().on(depth, color)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::token::Token;

    #[test]
    fn the_theme_follows_the_background_that_the_terminal_tells() {
        let mut looks = Looks::auto(Depth::True, Ground::Unknown);
        assert_eq!(looks.theme().name(), "terminal");
        assert!(looks.told(Ground::Color((0, 0, 0))));
        assert_eq!(looks.theme().name(), "dark");
        assert!(looks.theme().style(Token::User).bg.is_some(), "tints");
        assert!(!looks.told(Ground::Color((0, 0, 0))), "nothing new");
        assert!(!looks.told(Ground::Shade(Shade::Dark)), "nothing new");
        assert!(looks.told(Ground::Shade(Shade::Light)));
        assert_eq!(looks.theme().name(), "light");
        assert!(looks.told(Ground::Color((250, 240, 230))));
        assert_eq!(looks.theme().name(), "light");
    }

    #[test]
    fn what_the_person_named_stays() {
        for name in Theme::builtin_names() {
            let mut looks = Looks::named(name, Depth::True, Ground::Unknown).unwrap();
            assert!(!looks.told(Ground::Color((255, 255, 255))));
            assert_eq!(looks.theme().name(), name);
        }
        assert!(Looks::named("nope", Depth::True, Ground::Unknown).is_none());
    }

    #[test]
    fn with_sixteen_colours_there_is_a_set_for_each_ground() {
        let with = |ground| Looks::auto(Depth::Ansi16, ground).theme().name().to_owned();
        assert_eq!(with(Ground::Color((0, 0, 0))), "sixteen-dark");
        assert_eq!(with(Ground::Color((255, 255, 255))), "sixteen-light");
        assert_eq!(with(Ground::Unknown), "terminal");
        assert_eq!(Looks::auto(Depth::None, Ground::Color((0, 0, 0))).theme().name(), "terminal");
    }

    mod background_from_the_environment {
        use super::*;

        fn check(value: Option<&str>, ground: Ground) {
            assert_eq!(Ground::from_env(value), ground);
        }

        cases! {
            check {
                dark: Some("15;0"), Ground::Shade(Shade::Dark);
                light: Some("0;15"), Ground::Shade(Shade::Light);
                of_three: Some("0;default;15"), Ground::Shade(Shade::Light);
                one_that_is_the_terminals_own: Some("15;default"), Ground::Unknown;
                nothing: None, Ground::Unknown;
                nonsense: Some("x"), Ground::Unknown;
            }
        }
    }
}
