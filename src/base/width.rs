//! The columns of one grapheme, for all that is laid out, painted and written.
//!
//! What East Asian fonts draw as wide as ideographs and others do not ("ambiguous" in Unicode's table) is as wide as the
//! terminal says or the person: the one thing that this file knows of the terminal, set once at the start. Some clusters (of
//! Hangul Jamo, of Devanagari) have more than two columns. Invariants: none has more than [`WIDEST`]; control characters take
//! none.

use std::sync::atomic::{AtomicBool, Ordering};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A cluster that would be wider is drawn over from here on: no script has such.
pub const WIDEST: usize = 16;

static AMBIGUOUS_IS_WIDE: AtomicBool = AtomicBool::new(false);

/// How wide ambiguous characters are from now on. Whether that is something else than before.
pub fn set_ambiguous_wide(is_wide: bool) -> bool {
    AMBIGUOUS_IS_WIDE.swap(is_wide, Ordering::Relaxed) != is_wide
}

pub fn ambiguous_is_wide() -> bool {
    AMBIGUOUS_IS_WIDE.load(Ordering::Relaxed)
}

/// The columns of one grapheme.
pub fn grapheme(text: &str) -> usize {
    match text.as_bytes() {
        [b' '..=b'~'] => 1,
        [] => 0,
        _ => measure(text, ambiguous_is_wide()),
    }
}

fn measure(text: &str, ambiguous_is_wide: bool) -> usize {
    match text.chars().next() {
        None => 0,
        Some(first) if first.is_control() => 0,
        Some(first) if ambiguous_is_wide && is_ambiguous(first) && !is_drawing(first) => 2,
        Some(_) => text.width().min(WIDEST),
    }
}

/// The columns of a grapheme on a terminal that draws each of its characters for itself.
pub fn apart(text: &str) -> usize {
    text.chars().map(|c| if is_ambiguous(c) { 2 } else { c.width().unwrap_or(0) }).sum()
}

/// What lines, frames and bars are made of, each of which has to fill one column: where it does not, something else is
/// drawn instead.
pub const fn is_drawing(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}')
}

/// Whether East Asian fonts draw it wider than others.
pub fn is_ambiguous(c: char) -> bool {
    let c = u32::from(c);
    let after = AMBIGUOUS.partition_point(|(first, _)| *first <= c);
    after.checked_sub(1).and_then(|at| AMBIGUOUS.get(at)).is_some_and(|(_, last)| c <= *last)
}

/// Those of Unicode 14 that have columns.
#[rustfmt::skip]
const AMBIGUOUS: &[(u32, u32)] = &[
    (0xa1, 0xa1), (0xa4, 0xa4), (0xa7, 0xa8), (0xaa, 0xaa), (0xae, 0xae), (0xb0, 0xb4), (0xb6, 0xba), (0xbc, 0xbf),
    (0xc6, 0xc6), (0xd0, 0xd0), (0xd7, 0xd8), (0xde, 0xe1), (0xe6, 0xe6), (0xe8, 0xea), (0xec, 0xed), (0xf0, 0xf0),
    (0xf2, 0xf3), (0xf7, 0xfa), (0xfc, 0xfc), (0xfe, 0xfe), (0x101, 0x101), (0x111, 0x111), (0x113, 0x113),
    (0x11b, 0x11b), (0x126, 0x127), (0x12b, 0x12b), (0x131, 0x133), (0x138, 0x138), (0x13f, 0x142), (0x144, 0x144),
    (0x148, 0x14b), (0x14d, 0x14d), (0x152, 0x153), (0x166, 0x167), (0x16b, 0x16b), (0x1ce, 0x1ce), (0x1d0, 0x1d0),
    (0x1d2, 0x1d2), (0x1d4, 0x1d4), (0x1d6, 0x1d6), (0x1d8, 0x1d8), (0x1da, 0x1da), (0x1dc, 0x1dc), (0x251, 0x251),
    (0x261, 0x261), (0x2c4, 0x2c4), (0x2c7, 0x2c7), (0x2c9, 0x2cb), (0x2cd, 0x2cd), (0x2d0, 0x2d0), (0x2d8, 0x2db),
    (0x2dd, 0x2dd), (0x2df, 0x2df), (0x391, 0x3a1), (0x3a3, 0x3a9), (0x3b1, 0x3c1), (0x3c3, 0x3c9), (0x401, 0x401),
    (0x410, 0x44f), (0x451, 0x451), (0x2010, 0x2010), (0x2013, 0x2016), (0x2018, 0x2019), (0x201c, 0x201d),
    (0x2020, 0x2022), (0x2024, 0x2027), (0x2030, 0x2030), (0x2032, 0x2033), (0x2035, 0x2035), (0x203b, 0x203b),
    (0x203e, 0x203e), (0x2074, 0x2074), (0x207f, 0x207f), (0x2081, 0x2084), (0x20ac, 0x20ac), (0x2103, 0x2103),
    (0x2105, 0x2105), (0x2109, 0x2109), (0x2113, 0x2113), (0x2116, 0x2116), (0x2121, 0x2122), (0x2126, 0x2126),
    (0x212b, 0x212b), (0x2153, 0x2154), (0x215b, 0x215e), (0x2160, 0x216b), (0x2170, 0x2179), (0x2189, 0x2189),
    (0x2190, 0x2199), (0x21b8, 0x21b9), (0x21d2, 0x21d2), (0x21d4, 0x21d4), (0x21e7, 0x21e7), (0x2200, 0x2200),
    (0x2202, 0x2203), (0x2207, 0x2208), (0x220b, 0x220b), (0x220f, 0x220f), (0x2211, 0x2211), (0x2215, 0x2215),
    (0x221a, 0x221a), (0x221d, 0x2220), (0x2223, 0x2223), (0x2225, 0x2225), (0x2227, 0x222c), (0x222e, 0x222e),
    (0x2234, 0x2237), (0x223c, 0x223d), (0x2248, 0x2248), (0x224c, 0x224c), (0x2252, 0x2252), (0x2260, 0x2261),
    (0x2264, 0x2267), (0x226a, 0x226b), (0x226e, 0x226f), (0x2282, 0x2283), (0x2286, 0x2287), (0x2295, 0x2295),
    (0x2299, 0x2299), (0x22a5, 0x22a5), (0x22bf, 0x22bf), (0x2312, 0x2312), (0x2460, 0x24e9), (0x24eb, 0x254b),
    (0x2550, 0x2573), (0x2580, 0x258f), (0x2592, 0x2595), (0x25a0, 0x25a1), (0x25a3, 0x25a9), (0x25b2, 0x25b3),
    (0x25b6, 0x25b7), (0x25bc, 0x25bd), (0x25c0, 0x25c1), (0x25c6, 0x25c8), (0x25cb, 0x25cb), (0x25ce, 0x25d1),
    (0x25e2, 0x25e5), (0x25ef, 0x25ef), (0x2605, 0x2606), (0x2609, 0x2609), (0x260e, 0x260f), (0x261c, 0x261c),
    (0x261e, 0x261e), (0x2640, 0x2640), (0x2642, 0x2642), (0x2660, 0x2661), (0x2663, 0x2665), (0x2667, 0x266a),
    (0x266c, 0x266d), (0x266f, 0x266f), (0x269e, 0x269f), (0x26bf, 0x26bf), (0x26c6, 0x26cd), (0x26cf, 0x26d3),
    (0x26d5, 0x26e1), (0x26e3, 0x26e3), (0x26e8, 0x26e9), (0x26eb, 0x26f1), (0x26f4, 0x26f4), (0x26f6, 0x26f9),
    (0x26fb, 0x26fc), (0x26fe, 0x26ff), (0x273d, 0x273d), (0x2776, 0x277f), (0x2b56, 0x2b59), (0x3248, 0x324f),
    (0xe000, 0xf8ff), (0xfffd, 0xfffd), (0x1f100, 0x1f10a), (0x1f110, 0x1f12d), (0x1f130, 0x1f169),
    (0x1f170, 0x1f18d), (0x1f18f, 0x1f190), (0x1f19b, 0x1f1ac),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphemes_have_their_columns_and_ambiguous_ones_those_of_the_terminal() {
        for (text, narrow, wide) in [
            ("a", 1, 1),
            ("a\u{308}", 1, 1),
            ("\u{6f22}", 2, 2),
            ("\u{a7}", 1, 2),
            ("\u{2026}", 1, 2),
            ("\u{2500}", 1, 1),
            ("\u{3b1}", 1, 2),
            ("\u{3b1}\u{301}", 1, 2),
            ("\u{44f}", 1, 2),
            ("\u{e0a0}", 1, 2),
            ("\u{e9}\u{301}", 1, 2),
            ("\u{eb}", 1, 1),
            ("\u{276f}", 1, 1),
            ("\u{2838}", 1, 1),
            ("\u{301}", 0, 0),
            ("\u{9b}", 0, 0),
            ("\u{ff76}\u{ff9e}", 2, 2),
            ("1\u{fe0f}\u{20e3}", 2, 2),
            ("\u{2764}\u{fe0f}", 2, 2),
            ("\u{231a}\u{fe0e}", 1, 1),
            ("\u{1f469}\u{200d}\u{1f680}", 2, 2),
            ("\u{1f1e9}\u{1f1ea}", 2, 2),
            ("\u{1f44d}\u{1f3fd}", 2, 2),
            ("\u{1112}\u{1161}\u{11ab}", 2, 2),
            ("\u{5e9}", 1, 1),
            ("\u{915}\u{93f}", 2, 2),
            ("\u{915}\u{94d}\u{937}\u{93f}", 3, 3),
            ("\u{1100}\u{1100}\u{1100}", 6, 6),
            (&"\u{1100}".repeat(100), WIDEST, WIDEST),
        ] {
            assert_eq!((measure(text, false), measure(text, true)), (narrow, wide), "{text:?}");
        }
    }

    #[test]
    fn ranges_are_in_order_and_apart() {
        assert!(AMBIGUOUS.iter().all(|(first, last)| first <= last));
        assert!(AMBIGUOUS.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn what_a_terminal_draws_apart_is_as_wide_as_its_characters() {
        assert_eq!(apart("\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}"), 8);
        assert_eq!(apart("\u{1f44d}\u{1f3fd}"), 4);
        assert_eq!(apart("a\u{308}"), 1);
    }
}
