//! Decodes pictures of agents for the screen, one at a time, beside it.
//!
//! Invariants: what a picture says of its size is not believed before it is bounded; one that upsets its decoder costs
//! itself; nothing is decoded that is not in view.

use crate::base::picture::Picture;
use crate::ui::state::pictures::{Drawn, MAX_COLUMNS, MAX_ROWS, Raster, Rgb};
use image::{DynamicImage, ImageReader, Limits, Rgba};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Pixels of one side.
const MAX_SIDE: u32 = 10_000;
/// Bytes that a decoder may ask for.
const MAX_ALLOC: u64 = 128 << 20;

/// A picture, the columns it was wanted for, and what became of it.
pub type Painted = (Arc<Picture>, u16, Drawn);

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
    pub fn ask(&mut self, picture: Arc<Picture>, width: u16) {
        self.running = Some(tokio::task::spawn_blocking(move || {
            let drawn = draw(&picture, width);
            (picture, width, drawn)
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

/// A picture as cells of at most so many columns.
pub fn draw(picture: &Picture, width: u16) -> Drawn {
    let bytes = picture.bytes().ok_or("it is no valid base64")?;
    // The decoder reads what somebody else has made up.
    catch_unwind(AssertUnwindSafe(|| decode(&bytes)))
        .unwrap_or_else(|_| Err("its decoder failed".to_owned()))
        .map(|image| raster(&image, width))
}

fn decode(bytes: &[u8]) -> Result<DynamicImage, String> {
    let reader = || {
        let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
        reader.map_err(|error| error.to_string())
    };
    let (width, height) = reader()?.into_dimensions().map_err(|error| error.to_string())?;
    if width > MAX_SIDE || height > MAX_SIDE {
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
fn raster(image: &DynamicImage, width: u16) -> Raster {
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
    Raster { size, rows: (0..lines).step_by(2).map(row).collect() }
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
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use image::{ImageFormat, RgbaImage};

    fn picture(bytes: &[u8]) -> Picture {
        Picture::of("image/png".into(), &STANDARD.encode(bytes)).unwrap()
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
            let raster = draw(&picture(&encoded(size.0, size.1, ImageFormat::Png)), width).unwrap();
            assert_eq!((raster.size, (raster.rows[0].len(), raster.rows.len())), (size, cells), "{size:?} in {width}");
        }
        let raster = draw(&picture(&encoded(4, 4, ImageFormat::Png)), 60).unwrap();
        assert_eq!(
            (raster.rows[0][0], raster.rows[1][0]),
            (([200, 0, 100], [200, 0, 100]), ([0, 0, 100], [0, 0, 100]))
        );
        for format in [ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
            assert!(draw(&picture(&encoded(8, 8, format)), 60).is_ok(), "{format:?}");
        }
    }

    #[test]
    fn a_picture_that_lies_is_said_to_and_costs_nothing() {
        let mut huge = encoded(8, 8, ImageFormat::Png);
        // Width and height of the header: 30,000 each, with a sum that fits.
        huge[16..20].copy_from_slice(&30_000u32.to_be_bytes());
        huge[20..24].copy_from_slice(&30_000u32.to_be_bytes());
        let sum = crc32fast::hash(&huge[12..29]);
        huge[29..33].copy_from_slice(&sum.to_be_bytes());
        let why = draw(&picture(&huge), 60).unwrap_err();
        assert!(why.contains("30000 × 30000"), "{why}");
        let mut larger = encoded(8, 8, ImageFormat::Png);
        larger[16..20].copy_from_slice(&9_999u32.to_be_bytes());
        larger[20..24].copy_from_slice(&9_999u32.to_be_bytes());
        let sum = crc32fast::hash(&larger[12..29]);
        larger[29..33].copy_from_slice(&sum.to_be_bytes());
        assert!(draw(&picture(&larger), 60).is_err(), "more than a decoder may ask for");
        let cut = encoded(100, 100, ImageFormat::Jpeg);
        let whole = encoded(8, 8, ImageFormat::Png);
        for bytes in [&whole[..20], b"not a picture", b"\x89PNG\r\n\x1a\n", &cut[..30]] {
            assert!(draw(&picture(bytes), 60).is_err(), "{bytes:?}");
        }
        assert_eq!(draw(&Picture::of("image/png".into(), "%%%").unwrap(), 60), Err("it is no valid base64".into()));
    }
}
