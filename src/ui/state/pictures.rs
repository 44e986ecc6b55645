//! Pictures that were decoded for the screen: two colours for each cell, one above the other, or an image for a terminal
//! that takes such.
//!
//! Holds no picture itself, so that one which has left memory is not kept here. Invariants: what is known is bounded, in
//! number and in bytes; two images that are known have two numbers.

use crate::base::graphics::{Canvas, FIRST_NUMBER, Image, MAX_COLUMNS};
use crate::base::picture::Picture;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// Pictures that are known at once; each takes some kilobytes.
const KNOWN: usize = 64;
/// Bytes of the images among them.
const BYTES: usize = 24 << 20;

pub type Rgb = [u8; 3];

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Raster {
    /// Pixels of the picture itself.
    pub size: (u32, u32),
    pub cells: Cells,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cells {
    /// Rows of cells, each the colour of its upper and its lower half.
    Halves(Vec<Vec<(Rgb, Rgb)>>),
    Image(Arc<Image>),
}

impl Cells {
    fn columns(&self) -> usize {
        match self {
            Self::Halves(rows) => rows.first().map_or(0, Vec::len),
            Self::Image(image) => image.columns.into(),
        }
    }
}

/// What became of a picture: its cells, or why there are none.
pub type Drawn = Result<Raster, String>;

#[derive(Debug, Default)]
pub struct Pictures {
    known: VecDeque<Known>,
    /// What they are drawn on, where that is more than cells.
    canvas: Option<Canvas>,
    /// Of the image that became known last.
    number: u8,
    /// Grows with all that becomes known.
    generation: u64,
}

#[derive(Debug)]
struct Known {
    picture: Weak<Picture>,
    width: u16,
    number: u8,
    drawn: Drawn,
}

impl Known {
    fn is_of(&self, picture: &Arc<Picture>) -> bool {
        std::ptr::eq(self.picture.as_ptr(), Arc::as_ptr(picture))
    }

    fn image(&self) -> Option<&Arc<Image>> {
        let Ok(Raster { cells: Cells::Image(image), .. }) = &self.drawn else { return None };
        Some(image)
    }

    fn fits(&self, width: u16) -> bool {
        self.drawn.as_ref().is_ok_and(|raster| raster.cells.columns() <= usize::from(width))
    }
}

impl Pictures {
    /// As it was drawn for so many columns, or last for fewer, until it is; and the number of its image.
    pub fn of(&self, picture: &Arc<Picture>, width: u16) -> Option<(u8, &Drawn)> {
        let all = || self.known.iter().rev().filter(|known| known.is_of(picture));
        let exact = all().find(|known| known.width == width.min(MAX_COLUMNS));
        exact.or_else(|| all().find(|known| known.fits(width))).map(|known| (known.number, &known.drawn))
    }

    /// Whether it is still to be drawn for so many columns.
    pub fn lack(&self, picture: &Arc<Picture>, width: u16) -> bool {
        !self.known.iter().any(|known| known.is_of(picture) && known.width == width.min(MAX_COLUMNS))
    }

    pub fn learn(&mut self, picture: &Arc<Picture>, width: u16, drawn: Drawn) {
        self.number = self.number.checked_add(1).unwrap_or_default().max(FIRST_NUMBER);
        let known =
            Known { picture: Arc::downgrade(picture), width: width.min(MAX_COLUMNS), number: self.number, drawn };
        self.known.retain(|known| known.picture.strong_count() > 0);
        self.known.push_back(known);
        while self.known.len() > KNOWN || self.known.len() > 1 && BYTES < self.bytes() {
            self.known.pop_front();
        }
        self.generation += 1;
    }

    fn bytes(&self) -> usize {
        self.known.iter().filter_map(Known::image).map(|image| image.bytes()).sum()
    }

    pub const fn canvas(&self) -> Option<Canvas> {
        self.canvas
    }

    /// What was drawn on another one is forgotten.
    pub fn set_canvas(&mut self, canvas: Option<Canvas>) {
        if self.canvas != canvas {
            self.canvas = canvas;
            self.known.clear();
            self.generation += 1;
        }
    }

    /// All images, each with its number.
    pub fn images(&self) -> impl Iterator<Item = (u8, Arc<Image>)> {
        self.known.iter().filter_map(|known| Some((known.number, Arc::clone(known.image()?))))
    }

    pub const fn generation(&self) -> u64 {
        self.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::graphics::{Form, Graphics};

    fn picture(data: &str) -> Arc<Picture> {
        Arc::new(Picture::of("image/png".into(), data).unwrap())
    }

    fn halves(columns: usize) -> Drawn {
        Ok(Raster { size: (1, 1), cells: Cells::Halves(vec![vec![([0; 3], [0; 3]); columns]]) })
    }

    fn image(bytes: usize) -> Drawn {
        let form = Form::Whole(vec![0; bytes]);
        Ok(Raster { size: (1, 1), cells: Cells::Image(Arc::new(Image { columns: 4, rows: 1, cell: (10, 20), form })) })
    }

    #[test]
    fn what_is_known_is_of_that_picture_and_width_and_bounded() {
        let (one, other) = (picture("AAAA"), picture("AAAA"));
        let mut pictures = Pictures::default();
        pictures.learn(&one, 200, halves(60));
        assert!(pictures.of(&one, 100).is_some() && !pictures.lack(&one, 100), "both are wider than any is drawn");
        assert!(pictures.of(&one, 20).is_none() && pictures.of(&other, 100).is_none());
        let many: Vec<_> = (0..200).map(|_| picture("BBBB")).collect();
        for one in &many {
            pictures.learn(one, 60, Err("no".into()));
        }
        assert_eq!(pictures.known.len(), KNOWN);
        assert_eq!(pictures.generation(), 201);
        drop(many);
        pictures.learn(&one, 60, halves(60));
        assert_eq!(pictures.known.len(), 1, "pictures that have gone are forgotten");
    }

    #[test]
    fn until_it_is_drawn_anew_a_picture_is_what_it_was_where_there_is_room_for_that() {
        let one = picture("AAAA");
        let mut pictures = Pictures::default();
        pictures.learn(&one, 30, halves(30));
        assert!(pictures.of(&one, 50).is_some() && pictures.lack(&one, 50), "wider: as it was");
        assert!(pictures.of(&one, 29).is_none(), "it would be cut");
        pictures.learn(&one, 50, halves(50));
        assert_eq!(pictures.of(&one, 50).unwrap().1, &halves(50));
        assert_eq!(pictures.of(&one, 40).unwrap().1, &halves(30));
    }

    #[test]
    fn images_have_numbers_of_their_own_and_their_bytes_are_bounded() {
        let mut pictures = Pictures::default();
        let all: Vec<_> = (0..1000).map(|_| picture("AAAA")).collect();
        for one in &all {
            pictures.learn(one, 60, image(10));
            let numbers: Vec<u8> = pictures.images().map(|(number, _)| number).collect();
            let apart: std::collections::BTreeSet<_> = numbers.iter().collect();
            assert!(apart.len() == numbers.len() && numbers.iter().all(|number| *number >= FIRST_NUMBER));
        }
        for one in &all {
            pictures.learn(one, 60, image(BYTES / 4));
        }
        assert_eq!(pictures.images().count(), 4);
        pictures.learn(&all[0], 50, image(BYTES * 2));
        assert_eq!(pictures.images().count(), 1, "what was asked for last is there, however large");
        let canvas = Some(Canvas { graphics: Graphics::Kitty, cell: (10, 20) });
        pictures.set_canvas(canvas);
        assert_eq!((pictures.canvas(), pictures.images().count()), (canvas, 0));
    }
}
