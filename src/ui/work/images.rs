//! Pictures in the form that a terminal takes them in: scaled to its cells, and encoded anew.
//!
//! Decodes nothing and sends nothing. Invariant: what a terminal's own decoder gets was written here, and is bounded;
//! the bytes of the agent never reach it.

use super::sixel;
use crate::base::graphics::{Canvas, Form, Graphics, Image, MAX_COLUMNS, MAX_ROWS};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::imageops::{self, FilterType as Scaling};
use image::{DynamicImage, ExtendedColorType, ImageEncoder as _, RgbaImage};
use std::io::Write as _;

/// Bytes of one picture.
const MAX: usize = 768 << 10;
/// Pixels of a cell that are sent: a terminal that has more scales them.
const MAX_CELL: (u16, u16) = (24, 48);
/// With fewer colours a picture is fewer bytes.
const FEW: u16 = 16;

/// A picture of at most so many columns. Small ones are not made larger. Nothing where it would be too many bytes.
pub(super) fn image(image: &DynamicImage, width: u16, canvas: Canvas) -> Option<Image> {
    let width = width.clamp(1, MAX_COLUMNS);
    match canvas.graphics {
        Graphics::Kitty => smaller(canvas.cell).find_map(|cell| {
            let (pixels, columns, rows) = cut(image, width, canvas.cell, cell)?;
            let png = png(&pixels).filter(|png| png.len() <= MAX)?;
            Some(Image { columns, rows, cell, form: Form::Whole(png) })
        }),
        Graphics::Files => smaller(canvas.cell).find_map(|cell| {
            let (pixels, columns, rows) = cut(image, width, canvas.cell, cell)?;
            let files = strips(&pixels, cell).map(|strip| png(&strip).and_then(|png| file(&png, columns)));
            let form = Form::Rows(files.collect::<Option<_>>()?);
            Some(Image { columns, rows, cell, form }).filter(|image| image.bytes() <= MAX)
        }),
        // Such a terminal does not scale.
        Graphics::Sixel { colours } => [colours, FEW.min(colours)].into_iter().find_map(|colours| {
            let cell = Some(canvas.cell).filter(|(wide, high)| *wide <= MAX_CELL.0 && *high <= MAX_CELL.1)?;
            let (pixels, columns, rows) = cut(image, width, cell, cell)?;
            let rows_of_bytes = sixel::strips(&pixels, cell.1, colours);
            Some(Image { columns, rows, cell, form: Form::Rows(rows_of_bytes) }).filter(|image| image.bytes() <= MAX)
        }),
    }
}

/// Cells of the same shape, the largest that is sent first.
fn smaller((wide, high): (u16, u16)) -> impl Iterator<Item = (u16, u16)> {
    let halved = (0..8).map(move |times| ((wide >> times).max(1), (high >> times).max(1)));
    halved.filter(|(wide, high)| *wide <= MAX_CELL.0 && *high <= MAX_CELL.1).take(4)
}

/// The picture in whole cells, its pixels and how many columns and rows it takes. `cell` is how large one is on the
/// screen, `sent` how many pixels of it are sent.
fn cut(image: &DynamicImage, width: u16, cell: (u16, u16), sent: (u16, u16)) -> Option<(RgbaImage, u16, u16)> {
    let cell = (u64::from(cell.0.max(1)), u64::from(cell.1.max(1)));
    let own = (u64::from(image.width()), u64::from(image.height()));
    let room = (u64::from(width) * cell.0, u64::from(MAX_ROWS) * cell.1);
    // As a fraction: the side that lacks most room decides.
    let (part, whole) = [(1, 1), (room.0, own.0), (room.1, own.1)]
        .into_iter()
        .min_by_key(|(part, whole)| (u128::from(*part) << 64).checked_div(u128::from(*whole)).unwrap_or(u128::MAX))?;
    let scaled = |side: u64, cell: u64, sent: u16| {
        let shown = (side * part / whole).max(1);
        let cells = shown.div_ceil(cell);
        (cells, u32::try_from(shown * u64::from(sent) / cell).unwrap_or(u32::MAX).max(1))
    };
    let ((columns, wide), (rows, high)) = (scaled(own.0, cell.0, sent.0), scaled(own.1, cell.1, sent.1));
    let (columns, rows) = (u16::try_from(columns).ok()?, u16::try_from(rows).ok()?);
    let pixels = if (wide, high) == (image.width(), image.height()) {
        image.to_rgba8()
    } else {
        // Averages of what is far larger; what is little smaller is smoothed.
        let is_far = image.width() > wide * 3;
        let scaled =
            if is_far { image.thumbnail_exact(wide, high) } else { image.resize_exact(wide, high, Scaling::Triangle) };
        scaled.into_rgba8()
    };
    let mut whole = RgbaImage::new(u32::from(columns) * u32::from(sent.0), u32::from(rows) * u32::from(sent.1));
    imageops::replace(&mut whole, &pixels, 0, 0);
    Some((whole, columns, rows))
}

/// A strip for each row of cells.
fn strips(pixels: &RgbaImage, cell: (u16, u16)) -> impl Iterator<Item = RgbaImage> {
    let high = u32::from(cell.1.max(1));
    let rows = pixels.height() / high;
    (0..rows).map(move |row| imageops::crop_imm(pixels, 0, row * high, pixels.width(), high).to_image())
}

fn png(pixels: &RgbaImage) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut out, CompressionType::Fast, FilterType::Adaptive);
    let (width, height) = pixels.dimensions();
    encoder.write_image(pixels.as_raw(), width, height, ExtendedColorType::Rgba8).ok()?;
    Some(out)
}

/// A file that is shown in a row of so many cells.
fn file(png: &[u8], columns: u16) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    write!(
        out,
        "\x1b]1337;File=inline=1;size={};width={columns};height=1;preserveAspectRatio=0;doNotMoveCursor=1:{}\x07",
        png.len(),
        STANDARD.encode(png)
    )
    .ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;

    fn gradient(width: u32, height: u32) -> DynamicImage {
        let red = |x: u32, whole: u32| u8::try_from(x * 255 / whole.max(1)).unwrap();
        RgbaImage::from_fn(width, height, |x, y| Rgba([red(x, width), red(y, height), 100, 255])).into()
    }

    /// Each pixel unlike its neighbours.
    fn noise(width: u32, height: u32) -> DynamicImage {
        let mut state = 1_u32;
        RgbaImage::from_fn(width, height, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [a, b, c, _] = state.to_be_bytes();
            Rgba([a, b, c, 255])
        })
        .into()
    }

    fn canvas(graphics: Graphics) -> Canvas {
        Canvas { graphics, cell: (10, 20) }
    }

    #[test]
    fn a_picture_takes_the_cells_that_its_pixels_do_and_is_never_made_larger() {
        for (size, width, cells) in [
            ((8, 8), 60, (1, 1)),
            ((100, 100), 60, (10, 5)),
            ((101, 101), 60, (11, 6)),
            ((1200, 800), 60, (60, 20)),
            ((1200, 800), 30, (30, 10)),
            ((100, 4000), 60, (1, 20)),
            ((9999, 1), 60, (60, 1)),
        ] {
            let image = image(&gradient(size.0, size.1), width, canvas(Graphics::Kitty)).unwrap();
            assert_eq!((image.columns, image.rows), cells, "{size:?} in {width}");
            let Form::Whole(png) = &image.form else { panic!("{:?}", image.form) };
            let read = image::load_from_memory(png).unwrap();
            let pixels = |cells: u16, cell: u16| u32::from(cells) * u32::from(cell);
            assert_eq!((read.width(), read.height()), (pixels(cells.0, image.cell.0), pixels(cells.1, image.cell.1)));
        }
    }

    #[test]
    fn what_is_not_of_the_picture_in_its_last_cells_is_transparent() {
        let image = image(&gradient(15, 10), 60, canvas(Graphics::Kitty)).unwrap();
        let Form::Whole(png) = &image.form else { panic!() };
        let read = image::load_from_memory(png).unwrap().into_rgba8();
        assert_eq!(read.dimensions(), (20, 20));
        assert_eq!((read.get_pixel(14, 9).0[3], read.get_pixel(15, 9).0[3], read.get_pixel(14, 10).0[3]), (255, 0, 0));
    }

    #[test]
    fn files_are_one_for_each_row_of_cells_and_each_is_a_png() {
        let image = image(&gradient(40, 50), 60, canvas(Graphics::Files)).unwrap();
        let Form::Rows(rows) = &image.form else { panic!() };
        assert_eq!((image.columns, image.rows, rows.len()), (4, 3, 3));
        for row in rows {
            let text = std::str::from_utf8(row).unwrap();
            let (head, data) = text.strip_prefix("\x1b]1337;File=").unwrap().split_once(':').unwrap();
            let data = STANDARD.decode(data.strip_suffix('\x07').unwrap()).unwrap();
            assert!(head.contains("inline=1;") && head.contains(";width=4;height=1;"), "{head}");
            assert!(head.contains(&format!("size={};", data.len())), "{head}");
            let read = image::load_from_memory(&data).unwrap();
            assert_eq!((read.width(), read.height()), (40, 20));
        }
    }

    #[test]
    fn what_would_be_too_many_bytes_is_sent_with_fewer_pixels_or_colours() {
        let large = noise(1200, 800);
        for graphics in [Graphics::Kitty, Graphics::Files] {
            let image = image(&large, 60, Canvas { graphics, cell: (20, 40) }).unwrap();
            assert!(image.bytes() <= MAX && image.cell < (20, 40), "{graphics:?} {} {:?}", image.bytes(), image.cell);
            assert_eq!((image.columns, image.rows), (60, 20), "as large on the screen as it is");
        }
        let sixel = image(&large, 60, canvas(Graphics::Sixel { colours: 256 }));
        assert!(sixel.is_none_or(|image| image.bytes() <= MAX));
        let huge = Canvas { graphics: Graphics::Sixel { colours: 256 }, cell: (100, 200) };
        assert!(image(&large, 60, huge).is_none(), "no terminal has such cells");
    }
}
