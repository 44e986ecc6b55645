//! How well a colour is seen on another: relative luminance and contrast as WCAG 2 defines them.
//!
//! Knows no theme. Invariant: [`readable`] gives a colour of at least the contrast asked for wherever black or white
//! has it.

use super::color::Rgb;

/// What words need.
pub const TEXT: f64 = 4.5;
/// What signs and bars need.
pub const DECORATION: f64 = 3.0;

pub fn luminance((r, g, b): Rgb) -> f64 {
    let channel = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
}

pub fn contrast(a: Rgb, b: Rgb) -> f64 {
    of_luminances(luminance(a), luminance(b))
}

pub fn of_luminances(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The least contrast of a colour with any of the grounds.
pub fn least(color: Rgb, grounds: &[Rgb]) -> f64 {
    grounds.iter().map(|ground| contrast(color, *ground)).fold(f64::INFINITY, f64::min)
}

/// Black or white, the one that is seen better.
pub fn pole(ground: Rgb) -> Rgb {
    let (black, white) = ((0, 0, 0), (255, 255, 255));
    if contrast(white, ground) >= contrast(black, ground) { white } else { black }
}

pub fn is_dark(ground: Rgb) -> bool {
    pole(ground) == (255, 255, 255)
}

/// The colour, moved towards black or white as far as it takes to be read on all the grounds; the first decides the
/// direction.
pub fn readable(color: Rgb, grounds: &[Rgb], ratio: f64) -> Rgb {
    const STEPS: u16 = 32;
    let Some(to) = grounds.first().map(|ground| pole(*ground)) else { return color };
    let mix = |from: u8, to: u8, step: u16| ((u16::from(from) * (STEPS - step) + u16::from(to) * step) / STEPS) as u8;
    (0..=STEPS)
        .map(|step| (mix(color.0, to.0, step), mix(color.1, to.1, step), mix(color.2, to.2, step)))
        .find(|color| least(*color, grounds) >= ratio)
        .unwrap_or(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_ratios() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 1e-9);
        assert!((contrast((119, 119, 119), (255, 255, 255)) - 4.48).abs() < 0.01);
        assert_eq!(readable((200, 0, 0), &[(255, 255, 255)], TEXT), (200, 0, 0), "what can be read stays");
    }

    proptest! {
        #[test]
        fn every_colour_can_be_made_readable(fg: (u8, u8, u8), ground: (u8, u8, u8)) {
            prop_assert!(contrast(readable(fg, &[ground], TEXT), ground) >= TEXT);
        }
    }
}
