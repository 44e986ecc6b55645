//! Fits the styles of a theme to a terminal: to the colours that it has and the background that is there.
//!
//! Invariants, with a known background: each word has a contrast of at least 4.5 with any background that may be behind
//! it, signs and bars too, counting the first sixteen colours as xterm has them; a tint on which that cannot be is left
//! out.

use super::color::{BASE, Color, Depth, Rgb, nearest256, rgb_of};
use super::contrast::{TEXT, least, luminance, of_luminances, pole, readable};
use super::load::Spec;
use crate::text::run::Mods;
use crate::text::token::Token;

/// Fits all styles. `made_for` is the background that they were chosen for: tints keep their distance from it.
pub(super) fn fit<const N: usize>(
    mut specs: [Spec; N],
    made_for: Option<Rgb>,
    ground: Option<Rgb>,
    depth: Depth,
) -> [Spec; N] {
    let token = |n: usize| Token::ALL.get(n).map_or(Token::Text, |(token, _)| *token);
    for (n, spec) in specs.iter_mut().enumerate() {
        let tint = spec.bg.and_then(Color::rgb).and_then(|bg| tint(bg, made_for, ground, depth));
        match (spec.bg, tint) {
            (Some(_), None) => {
                spec.bg = None;
                spec.mods = spec.mods.with(instead(token(n)));
            }
            (Some(_), Some(tint)) => spec.bg = Some(tint),
            (None, _) => {}
        }
    }
    let Some(ground) = ground.filter(|_| depth != Depth::None) else { return specs };
    let fills = specs.iter().enumerate().filter(|(n, _)| token(*n).is_fill());
    let grounds: Vec<Rgb> = std::iter::once(ground).chain(fills.filter_map(|(_, spec)| spec.bg?.rgb())).collect();
    let palette: Vec<f64> = match depth {
        Depth::Ansi256 => (0..=255).map(|n| luminance(rgb_of(n))).collect(),
        Depth::None | Depth::Ansi16 | Depth::True => Vec::new(),
    };
    for (n, spec) in specs.iter_mut().enumerate() {
        let own = spec.bg.and_then(Color::rgb).filter(|_| !token(n).is_fill());
        let Some(fg) = spec.fg else { continue };
        spec.fg = Some(match own {
            Some(own) => ink(fg, &[own], depth, &palette),
            None => ink(fg, &grounds, depth, &palette),
        });
    }
    specs
}

/// Whether words in it could not be read in bold: terminals as xterm comes take the brighter one of the first eight colours then.
pub(super) fn fades_in_bold(spec: Spec, ground: Option<Rgb>, depth: Depth) -> bool {
    let (Some(Color::Named(n)), Some(ground)) = (spec.fg, ground.filter(|_| depth != Depth::None)) else {
        return false;
    };
    n < 8 && least(rgb_of(n | 8), &[ground]) < TEXT
}

/// What tells it apart where there is no background.
fn instead(token: Token) -> Mods {
    match token {
        Token::Selected => Mods::REVERSE,
        Token::DiffAddWord | Token::DiffDelWord => Mods::UNDERLINE.with(Mods::BOLD),
        _ => Mods::NONE,
    }
}

/// A background as the terminal can show it; nothing when words could not be read on it.
fn tint(bg: Rgb, made_for: Option<Rgb>, ground: Option<Rgb>, depth: Depth) -> Option<Color> {
    let moved = match (made_for, ground) {
        (Some(from), Some(to)) => {
            let channel =
                |c: u8, from: u8, to: u8| (i16::from(to) + i16::from(c) - i16::from(from)).clamp(0, 255) as u8;
            (channel(bg.0, from.0, to.0), channel(bg.1, from.1, to.1), channel(bg.2, from.2, to.2))
        }
        _ => bg,
    };
    let color = match depth {
        Depth::None | Depth::Ansi16 => return None,
        Depth::Ansi256 => Color::Indexed(nearest256(moved)),
        Depth::True => Color::Rgb(moved.0, moved.1, moved.2),
    };
    let Some(ground) = ground else { return Some(color) };
    // A little more than needed: other colours have to find room between.
    color.rgb().is_some_and(|shown| least(pole(ground), &[shown]) >= TEXT + 0.2).then_some(color)
}

/// A colour of words on all the grounds, the nearest that the terminal has and that can be read. `palette` are the
/// luminances of the 256 colours, where they matter.
fn ink(color: Color, grounds: &[Rgb], depth: Depth, palette: &[f64]) -> Color {
    let Some(wanted) = color.rgb() else { return color };
    let fits = |n: u8| least(rgb_of(n), grounds) >= TEXT;
    match (depth, color) {
        (Depth::None, _) => color,
        (_, Color::Named(n)) => [n, n ^ 8].into_iter().find(|n| fits(*n)).map_or(Color::Default, Color::Named),
        (Depth::True, _) => {
            let (r, g, b) = readable(wanted, grounds, TEXT);
            Color::Rgb(r, g, b)
        }
        (Depth::Ansi256, _) => {
            let lights: Vec<f64> = grounds.iter().map(|ground| luminance(*ground)).collect();
            let seen = |n: &u8| {
                let own = palette.get(usize::from(*n)).copied().unwrap_or_default();
                lights.iter().all(|light| of_luminances(own, *light) >= TEXT)
            };
            super::color::nearest(wanted, (16..=255).filter(seen)).map_or(Color::Default, Color::Indexed)
        }
        (Depth::Ansi16, _) => {
            // The terminal's own colour is there for greys: which black or white is meant is unknown.
            let colours = (0..BASE.len() as u8).filter(|n| !matches!(n & 7, 0 | 7) && fits(*n));
            let grey = wanted.0.abs_diff(wanted.1).max(wanted.1.abs_diff(wanted.2)) < 40;
            let found = if grey { None } else { super::color::nearest(wanted, colours) };
            found.map_or(Color::Default, Color::Named)
        }
    }
}
