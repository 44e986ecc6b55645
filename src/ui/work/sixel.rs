//! Pixels as sixels: bands of six rows, in each of them one colour after the other.
//!
//! Scales nothing. Invariants: a strip is as high as a row of cells and ends in it; the colours of all strips of a picture
//! are the same; what is transparent is not drawn.

use color_quant::NeuQuant;
use image::RgbaImage;
use image::imageops::{ColorMap, dither};
use std::collections::BTreeSet;
use std::io::Write as _;

/// Rows of a band.
const BAND: u32 = 6;
/// The fewest and most colours that are told apart.
const COLOURS: (u16, u16) = (8, 256);
/// Pixels that the choice of colours looks at, at most.
const LOOKED_AT: usize = 30_000;
/// What is less opaque than this is not drawn.
const OPAQUE: u8 = 128;

/// The bytes of each row of cells, which are so many pixels high.
pub(super) fn strips(pixels: &RgbaImage, high: u16, colours: u16) -> Vec<Vec<u8>> {
    let mut pixels = pixels.clone();
    let drawn: Vec<bool> = pixels.pixels().map(|pixel| pixel.0[3] >= OPAQUE).collect();
    for pixel in pixels.pixels_mut() {
        pixel.0[3] = u8::MAX;
    }
    let map = palette(&pixels, &drawn, colours);
    // It needs neighbours.
    if pixels.width() > 1 && pixels.height() > 1 {
        dither(&mut pixels, &map);
    }
    let indexes: Vec<Option<u16>> = pixels
        .pixels()
        .zip(drawn)
        .map(|(pixel, drawn)| drawn.then(|| u16::try_from(ColorMap::index_of(&map, pixel)).unwrap_or_default()))
        .collect();
    let width = pixels.width().max(1) as usize;
    let rows: Vec<&[Option<u16>]> = indexes.chunks(width).collect();
    rows.chunks(usize::from(high.max(1))).map(|rows| strip(rows, width, &map)).collect()
}

/// The colours that a picture is drawn in.
fn palette(pixels: &RgbaImage, drawn: &[bool], colours: u16) -> NeuQuant {
    let bytes: Vec<u8> =
        pixels.pixels().zip(drawn).filter(|(_, drawn)| **drawn).flat_map(|(pixel, _)| pixel.0).collect();
    // It needs a pixel to learn from.
    let bytes = if bytes.is_empty() { vec![0, 0, 0, u8::MAX] } else { bytes };
    let every = (bytes.len() / 4 / LOOKED_AT).clamp(1, 30);
    NeuQuant::new(every as i32, colours.clamp(COLOURS.0, COLOURS.1).into(), &bytes)
}

fn strip(rows: &[&[Option<u16>]], width: usize, map: &NeuQuant) -> Vec<u8> {
    let used: BTreeSet<u16> = rows.iter().flat_map(|row| row.iter().flatten()).copied().collect();
    // What is not drawn stays as it is.
    let mut out = format!("\x1bP0;1;0q\"1;1;{width};{}", rows.len()).into_bytes();
    for colour in &used {
        let [red, green, blue, _] = map.lookup((*colour).into()).unwrap_or_default();
        let [red, green, blue] = [red, green, blue].map(|part| (u32::from(part) * 100 + 127) / 255);
        // Writing to a Vec cannot fail.
        let _ = write!(out, "#{colour};2;{red};{green};{blue}");
    }
    for (n, band) in rows.chunks(BAND as usize).enumerate() {
        if n > 0 {
            out.push(b'-');
        }
        let of_band: BTreeSet<u16> = band.iter().flat_map(|row| row.iter().flatten()).copied().collect();
        for (n, colour) in of_band.into_iter().enumerate() {
            if n > 0 {
                out.push(b'$');
            }
            let _ = write!(out, "#{colour}");
            let bits = (0..width).map(|x| {
                let is_it = |row: &&[Option<u16>]| row.get(x).copied().flatten() == Some(colour);
                band.iter().enumerate().filter(|(_, row)| is_it(row)).fold(0, |bits, (y, _)| bits | 1_u8 << y)
            });
            runs(bits, &mut out);
        }
    }
    out.extend_from_slice(b"\x1b\\");
    out
}

/// Sixels that are alike are counted; what is not drawn at the end is left out.
fn runs(bits: impl Iterator<Item = u8>, out: &mut Vec<u8>) {
    let mut last: Option<(u8, usize)> = None;
    for bits in bits {
        last = match last {
            Some((same, times)) if same == bits => Some((same, times + 1)),
            _ => {
                put(last, out);
                Some((bits, 1))
            }
        };
    }
    put(last.filter(|(bits, _)| *bits != 0), out);
}

fn put(run: Option<(u8, usize)>, out: &mut Vec<u8>) {
    let Some((bits, times)) = run else { return };
    let sixel = b'?' + bits;
    if times > 3 {
        // Writing to a Vec cannot fail.
        let _ = write!(out, "!{times}");
        out.push(sixel);
    } else {
        out.extend(std::iter::repeat_n(sixel, times));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;

    /// What a terminal makes of a strip: pixels, or nothing where none is drawn.
    fn read(bytes: &[u8]) -> Vec<Vec<Option<[u8; 3]>>> {
        let text = std::str::from_utf8(bytes).unwrap();
        let body = text.strip_prefix("\x1bP0;1;0q\"1;1;").unwrap().strip_suffix("\x1b\\").unwrap();
        let at = body.find('#').unwrap_or(body.len());
        let (width, height) = body[..at].split_once(';').unwrap();
        let (width, height): (usize, usize) = (width.parse().unwrap(), height.parse().unwrap());
        let mut grid = vec![vec![None; width]; height];
        let mut colours = std::collections::BTreeMap::new();
        let (mut x, mut top, mut colour) = (0, 0, [0; 3]);
        let mut chars = body[at..].chars().peekable();
        while let Some(c) = chars.next() {
            let mut number = || {
                let mut n = 0;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    n = n * 10 + digit as usize;
                    chars.next();
                }
                n
            };
            let (sixel, times) = match c {
                '#' => {
                    let index = number();
                    let mut parts = Vec::new();
                    while chars.next_if_eq(&';').is_some() {
                        let mut n = 0;
                        while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                            n = n * 10 + digit;
                            chars.next();
                        }
                        parts.push(n);
                    }
                    if let [2, red, green, blue] = parts[..] {
                        colours.insert(index, [red, green, blue].map(|part| u8::try_from(part * 255 / 100).unwrap()));
                    } else {
                        colour = colours[&index];
                    }
                    continue;
                }
                '$' => {
                    x = 0;
                    continue;
                }
                '-' => {
                    (x, top) = (0, top + 6);
                    continue;
                }
                '!' => {
                    let times = number();
                    (chars.next().unwrap(), times)
                }
                sixel => (sixel, 1),
            };
            let bits = u8::try_from(sixel).unwrap() - b'?';
            for y in (0..6).filter(|y| bits & (1 << y) != 0) {
                grid[top + y][x..x + times].fill(Some(colour));
            }
            x += times;
        }
        grid
    }

    #[test]
    fn strips_are_the_picture_and_end_in_their_row_of_cells() {
        let picture = RgbaImage::from_fn(40, 32, |x, y| match (x < 20, y < 16) {
            (true, true) => Rgba([255, 0, 0, 255]),
            (false, true) => Rgba([0, 0, 255, 255]),
            (true, false) => Rgba([0, 255, 0, 255]),
            (false, false) => Rgba([9, 9, 9, 0]),
        });
        let strips = strips(&picture, 16, 256);
        assert_eq!(strips.len(), 2);
        let near = |found: Option<[u8; 3]>, wanted: [u8; 3]| {
            found.is_some_and(|found| found.iter().zip(wanted).all(|(found, wanted)| found.abs_diff(wanted) < 12))
        };
        let (upper, lower) = (read(&strips[0]), read(&strips[1]));
        assert_eq!((upper.len(), lower.len()), (16, 16), "no row of the next cells");
        for y in 0..16 {
            assert!(near(upper[y][0], [255, 0, 0]) && near(upper[y][19], [255, 0, 0]), "{y} {:?}", upper[y]);
            assert!(near(upper[y][20], [0, 0, 255]) && near(upper[y][39], [0, 0, 255]), "{y} {:?}", upper[y]);
            assert!(near(lower[y][5], [0, 255, 0]), "{y} {:?}", lower[y]);
            assert_eq!(lower[y][20..], [None; 20], "what is transparent is not drawn");
        }
    }

    #[test]
    fn no_more_colours_are_used_than_the_terminal_has_and_nothing_is_a_picture_too() {
        let many = RgbaImage::from_fn(64, 64, |x, y| Rgba([(x * 4) as u8, (y * 4) as u8, (x ^ y) as u8, 255]));
        for colours in [0, 16, 256, u16::MAX] {
            for strip in strips(&many, 20, colours) {
                let text = String::from_utf8(strip).unwrap();
                let used = text.matches(";2;").count();
                assert!(used > 1 && used <= usize::from(colours.clamp(8, 256)), "{used} of {colours}");
            }
        }
        let nothing = strips(&RgbaImage::new(10, 20), 20, 256);
        assert_eq!(nothing, [b"\x1bP0;1;0q\"1;1;10;20---\x1b\\".to_vec()]);
        assert_eq!(strips(&RgbaImage::from_pixel(1, 1, Rgba([1, 2, 3, 255])), 20, 16).len(), 1);
    }
}
