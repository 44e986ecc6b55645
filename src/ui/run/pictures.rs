//! Has pictures in view decoded, one after the other, and the one that the person wants written into a file.
//!
//! Knows what the terminal has said of how it takes pictures; where it has said nothing they are cells of two colours, and
//! inline too, since what is printed is text. Waits for nothing. Invariant: nothing is decoded where nothing can be drawn.

use super::{Running, ground};
use crate::base::graphics::{Canvas, Graphics};
use crate::base::media::{self, Media};
use crate::base::picture::Picture;
use crate::model::session_ref::SessionRef;
use crate::theme::color::Depth;
use crate::ui::cells;
use crate::ui::frame::Urgency;
use crate::ui::msg::{What, Whither};
use crate::ui::screen::Device;
use crate::ui::transcript::Transcript;
use crate::ui::tty::{Input, Told};
use crate::ui::work::pictures::Painted;
use std::io;
use std::sync::Arc;

/// What a cell is taken for where nobody says how large it is and the terminal scales.
const CELL: (u16, u16) = (10, 20);
/// Colours of sixels where the terminal does not say.
const COLOURS: u16 = 256;

/// What the terminal has said of pictures.
#[derive(Default)]
pub(super) struct Terminal {
    takes_kitty: bool,
    takes_files: bool,
    has_sixels: bool,
    colours: Option<u16>,
    /// The generation of pictures whose images the screen has.
    brought: u64,
}

impl Terminal {
    pub(super) fn hear(&mut self, input: &Input) {
        match input {
            Input::Told(Told::TakesKitty) => self.takes_kitty = true,
            Input::Told(Told::TakesFiles) => self.takes_files = true,
            Input::Told(Told::Colours(colours)) => self.colours = Some(*colours),
            Input::Told(Told::Attributes { sixel }) => self.has_sixels |= sixel,
            _ => {}
        }
    }

    /// The best that it takes: what is kept by the terminal before what is written again and again, all colours before few.
    fn canvas(&self, cell: Option<(u16, u16)>) -> Option<Canvas> {
        let sixel = Graphics::Sixel { colours: self.colours.unwrap_or(COLOURS) };
        if self.takes_kitty || self.takes_files {
            let graphics = if self.takes_kitty { Graphics::Kitty } else { Graphics::Files };
            return Some(Canvas { graphics, cell: cell.unwrap_or(CELL) });
        }
        cell.filter(|_| self.has_sixels).map(|cell| Canvas { graphics: sixel, cell })
    }
}

/// Asks a terminal that was just taken all there is to ask.
pub(super) fn ask_terminal<D: Device>(running: &mut Running<D>) -> io::Result<()> {
    let pictures = is_possible(running);
    ground::ask_all(&mut running.screen, &running.options, pictures)
}

/// Whether there are the colours that tell one image from another.
fn is_possible<D: Device>(running: &Running<D>) -> bool {
    running.options.looks.theme().depth() >= Depth::Ansi256 && !running.app.is_inline
}

/// Before a frame: pictures are drawn for what it is drawn on, and the screen has the images that are in it.
pub(super) fn bring<D: Device>(running: &mut Running<D>) {
    let is_possible = is_possible(running);
    let Running { app, screen, terminal, .. } = running;
    let canvas = terminal.canvas(screen.cell()).filter(|_| is_possible);
    app.pictures.set_canvas(canvas);
    if terminal.brought != app.pictures.generation() {
        terminal.brought = app.pictures.generation();
        screen.set_images(app.pictures.images());
    }
}

/// The first one in view of which nothing is known.
pub(super) fn ask<D: Device>(running: &mut Running<D>) {
    if !running.painter.is_idle() || running.options.looks.theme().depth() == Depth::None {
        return;
    }
    let Some(session) = running.engine.model().at(running.app.shown()) else { return };
    let width = cells::pictures::columns(Transcript::text_width(running.info.transcript.width));
    let mut wanted = running.info.hits.iter().filter_map(|(_, entry)| wanted(session, running, *entry, width));
    if let Some(picture) = wanted.next() {
        running.painter.ask(picture, width, running.app.pictures.canvas());
    }
}

fn wanted<D: Device>(
    session: SessionRef<'_>,
    running: &Running<D>,
    entry: crate::model::ids::EntryId,
    width: u16,
) -> Option<Arc<Picture>> {
    let entry = session.entries().get(entry)?;
    cells::pictures::of(entry).find(|picture| running.app.pictures.lack(picture, width)).cloned()
}

pub(super) fn painted<D: Device>(running: &mut Running<D>, (picture, width, canvas, drawn): Painted) {
    if canvas == running.app.pictures.canvas() {
        running.app.pictures.learn(&picture, width, drawn);
    }
    running.frames.want(Urgency::NextFrame, running.engine.now());
}

/// Into a file with the name of its kind; what the agent calls it is not believed.
pub(super) fn keep<D: Device>(running: &mut Running<D>, picture: Arc<Picture>, whither: Whither) {
    let content = move || {
        let bytes = picture.bytes()?;
        let ending = match media::of(&bytes) {
            Some(Media::Image(mime)) => mime.strip_prefix("image/").unwrap_or("bin"),
            _ => "bin",
        };
        Some((format!("picture.{ending}"), bytes))
    };
    running.copier.save_as(What::Picture(whither), content);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_drawn_by_the_best_that_the_terminal_has_said_it_takes() {
        let said = |told: &[Told]| {
            let mut terminal = Terminal::default();
            for told in told {
                terminal.hear(&Input::Told(*told));
            }
            terminal
        };
        let cell = Some((8, 16));
        let graphics = |terminal: &Terminal| terminal.canvas(cell).map(|canvas| canvas.graphics);
        let (none, sixel) = (Told::Attributes { sixel: false }, Told::Attributes { sixel: true });
        assert_eq!(graphics(&said(&[none])), None);
        assert_eq!(graphics(&said(&[sixel])), Some(Graphics::Sixel { colours: 256 }));
        // A question about the background is followed by the same answer.
        assert_eq!(graphics(&said(&[Told::Colours(16), sixel, none])), Some(Graphics::Sixel { colours: 16 }));
        assert_eq!(graphics(&said(&[Told::TakesFiles, sixel])), Some(Graphics::Files));
        let all = said(&[Told::TakesKitty, Told::TakesFiles, sixel]);
        assert_eq!(graphics(&all), Some(Graphics::Kitty));
        assert_eq!(all.canvas(None).map(|canvas| canvas.cell), Some(CELL), "it scales");
        assert_eq!(said(&[sixel]).canvas(None), None, "it does not");
    }
}
