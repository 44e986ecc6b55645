//! Decodes pictures of agents for the screen, one at a time, beside it.
//!
//! Invariants: what a picture says of its size is not believed before it is bounded; one that upsets its decoder costs
//! itself; nothing is decoded that is not in view.

use super::images;
use crate::base::graphics::{Canvas, MAX_COLUMNS, MAX_ROWS};
use crate::base::picture::Picture;
use crate::ui::state::pictures::{Cells, Drawn, Raster, Rgb};
use image::{DynamicImage, ImageFormat, ImageReader, Limits, Rgba};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Pixels of one side.
const MAX_SIDE: u32 = 10_000;
/// Pixels of a JPEG, as a camera of 13 megapixels makes: its decoder asks nobody and holds up to 15 bytes for each.
const MAX_JPEG: u32 = 13_200_000;
/// Bytes that a decoder may ask for.
const MAX_ALLOC: u64 = 128 << 20;

/// A picture, the columns it was wanted for, what it was to be drawn on, and what became of it.
pub type Painted = (Arc<Picture>, u16, Option<Canvas>, Drawn);

#[derive(Default)]
pub struct Painter {
    running: Option<JoinHandle<Painted>>,
}

impl Painter {
    /// Whether there may be another one.
    pub const fn is_idle(&self) -> bool {
        self.running.is_none()
    }

    /// Must be called inside the runtime.
    pub fn ask(&mut self, picture: Arc<Picture>, width: u16, canvas: Option<Canvas>) {
        self.running = Some(tokio::task::spawn_blocking(move || {
            let drawn = draw(&picture, width, canvas);
            (picture, width, canvas, drawn)
        }));
    }

    /// What became of the last one. May be dropped and called again.
    pub async fn next(&mut self) -> Painted {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let painted = running.await;
        self.running = None;
        match painted {
            Ok(painted) => painted,
            Err(_) => std::future::pending().await,
        }
    }
}

/// A picture as cells of at most so many columns; as an image where the terminal takes such, and this one.
pub fn draw(picture: &Picture, width: u16, canvas: Option<Canvas>) -> Drawn {
    let bytes = picture.bytes().ok_or("it is no valid base64")?;
    // The decoder reads what somebody else has made up.
    let draw = || decode(&bytes).map(|image| raster(&image, width, canvas));
    catch_unwind(AssertUnwindSafe(draw)).unwrap_or_else(|_| Err("its decoder failed".to_owned()))
}

fn raster(image: &DynamicImage, width: u16, canvas: Option<Canvas>) -> Raster {
    let drawn = canvas.and_then(|canvas| images::image(image, width, canvas));
    let cells = drawn.map_or_else(|| Cells::Halves(halves(image, width)), |image| Cells::Image(Arc::new(image)));
    Raster { size: (image.width(), image.height()), cells }
}

fn decode(bytes: &[u8]) -> Result<DynamicImage, String> {
    let reader = || {
        let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
        reader.map_err(|error| error.to_string())
    };
    let (width, height) = reader()?.into_dimensions().map_err(|error| error.to_string())?;
    let is_jpeg = reader()?.format() == Some(ImageFormat::Jpeg);
    if width > MAX_SIDE || height > MAX_SIDE || (is_jpeg && width.saturating_mul(height) > MAX_JPEG) {
        return Err(format!("{width} × {height} pixels are too many"));
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_ALLOC);
    let mut reader = reader()?;
    reader.limits(limits);
    let image = reader.decode().map_err(|error| error.to_string())?;
    if image.width() == 0 || image.height() == 0 { Err("it has no pixels".into()) } else { Ok(image) }
}

/// A cell is two pixels high. Small pictures are not made larger.
fn halves(image: &DynamicImage, width: u16) -> Vec<Vec<(Rgb, Rgb)>> {
    let size = (image.width(), image.height());
    let (most_columns, most_rows) = (u32::from(width.clamp(1, MAX_COLUMNS)), u32::from(MAX_ROWS) * 2);
    let mut columns = size.0.min(most_columns);
    let mut lines = scaled(size.1, columns, size.0);
    if lines > most_rows {
        lines = most_rows.min(size.1);
        columns = scaled(size.0, lines, size.1).min(most_columns);
    }
    let small = image.thumbnail_exact(columns, lines).into_rgba8();
    let at = |x: u32, y: u32| small.get_pixel_checked(x, y).map_or([0; 3], flat);
    let row = |y: u32| (0..columns).map(|x| (at(x, y), at(x, y + 1))).collect();
    (0..lines).step_by(2).map(row).collect()
}

fn scaled(side: u32, part: u32, whole: u32) -> u32 {
    let scaled = u64::from(side) * u64::from(part) / u64::from(whole.max(1));
    u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
}

/// Before a dark ground.
fn flat(pixel: &Rgba<u8>) -> Rgb {
    let [red, green, blue, alpha] = pixel.0;
    [red, green, blue].map(|part| u8::try_from(u16::from(part) * u16::from(alpha) / 255).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::graphics::Graphics;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use image::{ImageFormat, RgbaImage};

    fn picture(bytes: &[u8]) -> Picture {
        Picture::of("image/png".into(), &STANDARD.encode(bytes)).unwrap()
    }

    fn halves(raster: &Raster) -> &[Vec<(Rgb, Rgb)>] {
        let Cells::Halves(rows) = &raster.cells else { panic!("{raster:?}") };
        rows
    }

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let image = RgbaImage::from_fn(width, height, |_, y| Rgba([if y < height / 2 { 200 } else { 0 }, 0, 100, 255]));
        let image = DynamicImage::from(image);
        let image = if format == ImageFormat::Jpeg { DynamicImage::from(image.into_rgb8()) } else { image };
        let mut out = Cursor::new(Vec::new());
        image.write_to(&mut out, format).unwrap();
        out.into_inner()
    }

    #[test]
    fn pictures_become_cells_within_their_bounds() {
        for (size, width, cells) in [
            ((4, 4), 60, (4, 2)),
            ((200, 100), 60, (60, 15)),
            ((200, 100), 10, (10, 3)),
            ((100, 1000), 60, (4, 20)),
            ((1000, 1), 60, (60, 1)),
            ((1, 1), 60, (1, 1)),
        ] {
            let raster = draw(&picture(&encoded(size.0, size.1, ImageFormat::Png)), width, None).unwrap();
            let rows = halves(&raster);
            assert_eq!((raster.size, (rows[0].len(), rows.len())), (size, cells), "{size:?} in {width}");
        }
        let raster = draw(&picture(&encoded(4, 4, ImageFormat::Png)), 60, None).unwrap();
        let rows = halves(&raster);
        assert_eq!((rows[0][0], rows[1][0]), (([200, 0, 100], [200, 0, 100]), ([0, 0, 100], [0, 0, 100])));
        for format in [ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
            assert!(draw(&picture(&encoded(8, 8, format)), 60, None).is_ok(), "{format:?}");
        }
    }

    #[test]
    fn a_terminal_that_takes_pictures_gets_an_image_unless_it_would_be_too_large() {
        let png = picture(&encoded(100, 100, ImageFormat::Png));
        let canvas = |cell| Some(Canvas { graphics: Graphics::Sixel { colours: 256 }, cell });
        let raster = draw(&png, 60, canvas((10, 20))).unwrap();
        let Cells::Image(image) = &raster.cells else { panic!("{raster:?}") };
        assert_eq!((raster.size, image.columns, image.rows), ((100, 100), 10, 5));
        assert_eq!(halves(&draw(&png, 60, canvas((500, 500))).unwrap()).len(), 20, "no such cells are drawn");
    }

    #[test]
    fn a_picture_that_lies_is_said_to_and_costs_nothing() {
        let mut huge = encoded(8, 8, ImageFormat::Png);
        // Width and height of the header: 30,000 each, with a sum that fits.
        huge[16..20].copy_from_slice(&30_000u32.to_be_bytes());
        huge[20..24].copy_from_slice(&30_000u32.to_be_bytes());
        let sum = crc32fast::hash(&huge[12..29]);
        huge[29..33].copy_from_slice(&sum.to_be_bytes());
        let why = draw(&picture(&huge), 60, None).unwrap_err();
        assert!(why.contains("30000 × 30000"), "{why}");
        let mut larger = encoded(8, 8, ImageFormat::Png);
        larger[16..20].copy_from_slice(&9_999u32.to_be_bytes());
        larger[20..24].copy_from_slice(&9_999u32.to_be_bytes());
        let sum = crc32fast::hash(&larger[12..29]);
        larger[29..33].copy_from_slice(&sum.to_be_bytes());
        assert!(draw(&picture(&larger), 60, None).is_err(), "more than a decoder may ask for");
        let cut = encoded(100, 100, ImageFormat::Jpeg);
        let whole = encoded(8, 8, ImageFormat::Png);
        for bytes in [&whole[..20], b"not a picture", b"\x89PNG\r\n\x1a\n", &cut[..30]] {
            assert!(draw(&picture(bytes), 60, None).is_err(), "{bytes:?}");
        }
        assert_eq!(
            draw(&Picture::of("image/png".into(), "%%%").unwrap(), 60, None),
            Err("it is no valid base64".into())
        );
    }
}
