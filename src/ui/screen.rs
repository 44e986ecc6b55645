//! The person's terminal while it is ours: what they do in it, its signals, and the frames that are drawn into it.
//!
//! Knows nothing of what a frame shows. The terminal itself is a [`Device`]: the real one, or in a test one that is
//! made of values. Invariant: after the terminal has been lent or left, the next frame is drawn in full.

use super::keys::Mouse;
use super::tty::{
    ASK_ARRIVAL, Beside, Hyperlink, Input, InputStream, Letters, Multiplexer, Place, Questions, Region, Sheet, Surface,
    Told, Tty, TtyOut,
};
use crate::base::graphics::Image;
use crate::engine::wait::{Signal, Signals};
use ratatui::buffer::Buffer;
use std::io::{self, Write};
use std::sync::Arc;

/// What comes from the person's side of the terminal.
#[derive(Debug)]
pub enum Happening {
    Signal(Signal),
    Input(Input),
    /// The input is at its end.
    Gone,
}

/// A terminal that has been taken over. Dropping it gives it back.
pub trait Device {
    /// Takes the bytes of frames.
    type Out: Write;

    fn out(&self) -> Self::Out;

    /// Columns and rows, each at least 1. Asked before each frame.
    fn size(&self) -> io::Result<(u16, u16)>;

    /// Width and height of a cell in pixels, where that is known.
    fn cell(&self) -> Option<(u16, u16)> {
        None
    }

    /// The next input or signal, signals first; signals alone while it is lent. Nothing is lost if the future is dropped.
    fn next(&mut self) -> impl Future<Output = Happening>;

    /// The next signal; no input.
    fn signal(&mut self) -> impl Future<Output = Signal>;

    /// Input that has come already.
    fn ready(&mut self) -> Option<Input>;

    /// Whether a single letter decides something now, so that it is to be told from one of a burst.
    fn weigh(&mut self, _weighs: bool) {}

    fn set_mouse(&mut self, mouse: Mouse) -> io::Result<()>;

    /// Which of its screens is shown.
    fn set_place(&mut self, place: Place) -> io::Result<()>;

    fn set_title(&mut self, title: &str) -> io::Result<()>;

    /// Bytes that draw nothing.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Shows something beside the screen, until the terminal is lent or left.
    fn show_beside(&mut self, what: Beside, bytes: &[u8]) -> io::Result<()>;

    /// Asks the terminal something. An answer comes as input; it may never come.
    fn ask(&mut self, what: Questions, through: Multiplexer) -> io::Result<()>;

    /// Asks whether what was written has arrived.
    fn ask_arrival(&mut self) -> io::Result<()>;

    /// For a program that the person uses meanwhile.
    fn lend(&mut self);

    fn take_back(&mut self) -> io::Result<()>;

    /// Ctrl+Z; comes back with `fg`.
    fn suspend(&mut self) -> io::Result<()>;
}

/// The terminal that this process was started in. The input goes first: while the terminal is still ours, it takes in
/// what was asked for.
pub struct OwnTerminal {
    /// Gone while another program has the terminal.
    input: Option<InputStream>,
    tty: Tty,
    signals: Signals,
}

impl Device for OwnTerminal {
    type Out = TtyOut;

    fn out(&self) -> TtyOut {
        TtyOut
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        self.tty.size()
    }

    fn cell(&self) -> Option<(u16, u16)> {
        self.tty.cell()
    }

    async fn next(&mut self) -> Happening {
        let Self { input, signals, .. } = self;
        let Some(input) = input else { return Happening::Signal(signals.next().await) };
        tokio::select! {
            biased;
            signal = signals.next() => Happening::Signal(signal),
            input = input.next() => input.map_or(Happening::Gone, Happening::Input),
        }
    }

    async fn signal(&mut self) -> Signal {
        self.signals.next().await
    }

    fn ready(&mut self) -> Option<Input> {
        self.input.as_mut()?.ready()
    }

    fn weigh(&mut self, weighs: bool) {
        if let Some(input) = &mut self.input {
            input.weigh(weighs);
        }
    }

    fn set_mouse(&mut self, mouse: Mouse) -> io::Result<()> {
        self.tty.set_mouse(mouse)
    }

    fn set_place(&mut self, place: Place) -> io::Result<()> {
        self.tty.set_place(place)
    }

    fn set_title(&mut self, title: &str) -> io::Result<()> {
        self.tty.set_title(title)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.tty.send(bytes)
    }

    fn show_beside(&mut self, what: Beside, bytes: &[u8]) -> io::Result<()> {
        self.tty.show_beside(what, bytes)
    }

    fn ask(&mut self, what: Questions, through: Multiplexer) -> io::Result<()> {
        if let Some(input) = &mut self.input {
            // Before the question: the answer may be quick.
            input.expect(Tty::last_answer(what, through));
            self.tty.ask(what, through)?;
        }
        Ok(())
    }

    fn ask_arrival(&mut self) -> io::Result<()> {
        if let Some(input) = &mut self.input {
            input.expect(Told::Arrived);
            self.tty.send(ASK_ARRIVAL)?;
        }
        Ok(())
    }

    fn lend(&mut self) {
        self.input = None;
        self.tty.lend();
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.tty.resume()?;
        self.input = Some(InputStream::open()?);
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.input = None;
        let result = self.tty.suspend();
        self.input = Some(InputStream::open()?);
        result
    }
}

/// A terminal and what it shows.
pub struct Screen<D: Device = OwnTerminal> {
    device: D,
    surface: Surface<D::Out>,
    /// On the terminal's own screen.
    region: Region<D::Out>,
    place: Place,
    letters: Letters,
}

/// What stands at the end of the terminal's own screen.
#[derive(Debug, Default)]
pub struct Below {
    /// Goes above it, once and for good.
    pub printed: Sheet,
    pub live: Sheet,
    /// In `live`.
    pub cursor: Option<(u16, u16)>,
}

impl<D: Device> Drop for Screen<D> {
    fn drop(&mut self) {
        // One that takes nothing any more has nothing to forget.
        let _ = self.take_images_back();
    }
}

impl Screen {
    /// Takes the terminal over. Must be called inside the runtime.
    pub fn open(letters: Letters) -> io::Result<Self> {
        let signals = Signals::listen()?;
        let tty = Tty::enter(Mouse::Ours)?;
        let mut screen = Self::on(OwnTerminal { tty, input: Some(InputStream::open()?), signals })?;
        screen.letters = letters;
        screen.surface.set_letters(letters);
        screen.region.set_letters(letters);
        Ok(screen)
    }
}

impl<D: Device> Screen<D> {
    /// Draws into a terminal that has been taken over.
    pub fn on(device: D) -> io::Result<Self> {
        let (width, height) = device.size()?;
        let (surface, region) = (Surface::new(device.out(), width, height), Region::new(device.out()));
        Ok(Self { device, surface, region, place: Place::Alternate, letters: Letters::Unicode })
    }

    /// Draws a frame of the terminal's size. `paint` gives the place of the cursor, if there is one.
    pub fn draw(&mut self, paint: impl FnOnce(&mut Buffer) -> Option<(u16, u16)>) -> io::Result<()> {
        self.draw_linked(|buf, _| paint(buf))
    }

    /// The same, with where words on it lead.
    pub fn draw_linked(
        &mut self,
        paint: impl FnOnce(&mut Buffer, &mut Vec<Hyperlink>) -> Option<(u16, u16)>,
    ) -> io::Result<()> {
        if let Ok((width, height)) = self.device.size() {
            self.surface.resize(width, height);
        }
        self.show(Place::Alternate)?;
        self.surface.draw_linked(|_, buf, links| paint(buf, links)).map(drop)
    }

    /// Draws at the end of the terminal's own screen; `paint` is given the size of the terminal.
    pub fn draw_below(&mut self, paint: impl FnOnce((u16, u16)) -> Below) -> io::Result<()> {
        let size = self.device.size()?;
        self.show(Place::Main)?;
        let Below { printed, live, cursor } = paint(size);
        self.region.draw(size, printed, live, cursor).map(drop)
    }

    /// Takes away what stands there and is not printed.
    pub fn erase_below(&mut self) -> io::Result<()> {
        self.show(Place::Main)?;
        self.region.erase()
    }

    pub fn size(&self) -> io::Result<(u16, u16)> {
        self.device.size()
    }

    fn show(&mut self, place: Place) -> io::Result<()> {
        if self.place != place {
            self.device.set_place(place)?;
            self.place = place;
            match place {
                Place::Alternate => {
                    self.surface.invalidate();
                    // What was on it has gone with it.
                    self.surface.lose_images();
                }
                Place::Main => self.region.redraw(),
            }
        }
        Ok(())
    }

    /// Forgets what the terminal shows: the next frame is drawn in full.
    pub fn invalidate(&mut self) {
        self.surface.invalidate();
        self.region.redraw();
    }

    /// Another program has had the terminal.
    fn forget(&mut self) {
        self.surface.invalidate();
        self.surface.lose_images();
        self.region.forget();
    }

    pub async fn next(&mut self) -> Happening {
        self.device.next().await
    }

    pub async fn signal(&mut self) -> Signal {
        self.device.signal().await
    }

    pub fn ready(&mut self) -> Option<Input> {
        self.device.ready()
    }

    pub fn weigh(&mut self, weighs: bool) {
        self.device.weigh(weighs);
    }

    pub fn set_mouse(&mut self, mouse: Mouse) -> io::Result<()> {
        self.device.set_mouse(mouse)
    }

    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        self.device.set_title(&self.letters.text(title))
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.device.send(bytes)
    }

    pub fn show_beside(&mut self, what: Beside, bytes: &[u8]) -> io::Result<()> {
        self.device.show_beside(what, bytes)
    }

    pub fn ask(&mut self, what: Questions, through: Multiplexer) -> io::Result<()> {
        // A terminal that has only its letters has no pictures, and none that are ambiguous.
        let has_all = self.letters == Letters::Unicode;
        let (pictures, ambiguous) = (what.pictures && has_all, what.ambiguous && has_all);
        if ambiguous {
            // It moves the cursor and takes a row away: what was drawn before, by a picker, is not there any more.
            self.surface.invalidate();
        }
        self.device.ask(Questions { pictures, ambiguous, ..what }, through)
    }

    pub fn ask_arrival(&mut self) -> io::Result<()> {
        self.device.ask_arrival()
    }

    /// How many bytes the rows of the next frame may have, about; what is left out comes with later ones.
    pub fn allow(&mut self, most: Option<usize>) {
        self.surface.allow(most);
        self.region.allow(most);
    }

    /// Whether something was left out of the last frame.
    pub fn is_cut(&self) -> bool {
        match self.place {
            Place::Alternate => self.surface.is_cut(),
            Place::Main => self.region.is_cut(),
        }
    }

    /// Bytes of all frames.
    pub fn written(&self) -> u64 {
        self.surface.written() + self.region.written()
    }

    /// Width and height of a cell in pixels, where that is known.
    pub fn cell(&self) -> Option<(u16, u16)> {
        self.device.cell()
    }

    /// The pictures that cells of a frame stand for.
    pub fn set_images(&mut self, images: impl Iterator<Item = (u8, Arc<Image>)>) {
        self.surface.set_images(images);
    }

    /// Has the terminal forget them.
    fn take_images_back(&mut self) -> io::Result<()> {
        self.surface.take_images_back()
    }

    pub fn lend(&mut self) {
        let _ = self.take_images_back();
        self.device.lend();
    }

    pub fn take_back(&mut self) -> io::Result<()> {
        self.device.take_back()?;
        self.forget();
        Ok(())
    }

    pub fn suspend(&mut self) -> io::Result<()> {
        let _ = self.take_images_back();
        let result = self.device.suspend();
        self.forget();
        result
    }
}
