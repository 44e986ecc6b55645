//! Pictures that were decoded for the screen: two colours for each cell, one above the other.
//!
//! Holds no picture itself, so that one which has left memory is not kept here. Invariant: what is known is bounded.

use crate::base::picture::Picture;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// Pictures that are known at once; each takes some kilobytes.
const KNOWN: usize = 64;
/// The most columns and rows of one.
pub const MAX_COLUMNS: u16 = 60;
pub const MAX_ROWS: u16 = 20;

pub type Rgb = [u8; 3];

/// Rows of cells, each the colour of its upper and its lower half.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Raster {
    /// Pixels of the picture itself.
    pub size: (u32, u32),
    pub rows: Vec<Vec<(Rgb, Rgb)>>,
}

/// What became of a picture: its cells, or why there are none.
pub type Drawn = Result<Raster, String>;

#[derive(Debug, Default)]
pub struct Pictures {
    known: VecDeque<(Weak<Picture>, u16, Drawn)>,
    /// Grows with all that becomes known.
    generation: u64,
}

impl Pictures {
    /// As it was drawn for so many columns; nothing when it has not been.
    pub fn of(&self, picture: &Arc<Picture>, width: u16) -> Option<&Drawn> {
        let width = width.min(MAX_COLUMNS);
        let is_it = |known: &Weak<Picture>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(picture));
        self.known.iter().find(|(known, of, _)| *of == width && is_it(known)).map(|(.., drawn)| drawn)
    }

    pub fn learn(&mut self, picture: &Arc<Picture>, width: u16, drawn: Drawn) {
        let width = width.min(MAX_COLUMNS);
        self.known.retain(|(known, ..)| known.strong_count() > 0);
        if self.known.len() >= KNOWN {
            self.known.pop_front();
        }
        self.known.push_back((Arc::downgrade(picture), width, drawn));
        self.generation += 1;
    }

    pub const fn generation(&self) -> u64 {
        self.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_of_that_picture_and_width_and_bounded() {
        let picture = |data: &str| Arc::new(Picture::of("image/png".into(), data).unwrap());
        let (one, other) = (picture("AAAA"), picture("AAAA"));
        let mut pictures = Pictures::default();
        pictures.learn(&one, 200, Ok(Raster::default()));
        assert!(pictures.of(&one, 100).is_some(), "both are wider than any is drawn");
        assert!(pictures.of(&one, 20).is_none() && pictures.of(&other, 100).is_none());
        let many: Vec<_> = (0..200).map(|_| picture("BBBB")).collect();
        for one in &many {
            pictures.learn(one, 60, Err("no".into()));
        }
        assert_eq!(pictures.known.len(), KNOWN);
        assert_eq!(pictures.generation(), 201);
        drop(many);
        pictures.learn(&one, 60, Ok(Raster::default()));
        assert_eq!(pictures.known.len(), 1, "pictures that have gone are forgotten");
    }
}
