//! The loop of a file of messages: keys in, frames out, what is copied or saved, and the messages while they are read.
//!
//! Starts no agent and reads no file. Invariants: what is said of a copied text is what has happened to it; between two
//! looks at the keys there is a bounded amount of work.

use super::copying::words;
use super::ground::{ask, hear};
use super::{Exit, UiOptions};
use crate::ui::keys::{Action, Layer, resolve};
use crate::ui::message_file::{MessageFile, Piece};
use crate::ui::msg::What;
use crate::ui::screen::{Device, Happening, Screen};
use crate::ui::state::inspector::Keyed;
use crate::ui::tty::Input;
use crate::ui::work::copier::{Copied, Copier};
use std::io;
use tokio::sync::mpsc;

/// Pieces of a file that wait to be taken.
const WAITING: usize = 4;

/// Where what reads a file puts it.
pub struct Feed(mpsc::Sender<Piece>);

/// Where the screen takes it from.
pub struct Feeding(Option<mpsc::Receiver<Piece>>);

pub fn feeding() -> (Feed, Feeding) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (Feed(sender), Feeding(Some(receiver)))
}

impl Feed {
    /// Waits until there is room. False when nobody looks any more.
    pub fn put(&self, piece: Piece) -> bool {
        self.0.blocking_send(piece).is_ok()
    }
}

impl Feeding {
    /// The next piece, waited for where there is no loop yet.
    pub fn first(&mut self) -> Option<Piece> {
        self.0.as_mut()?.blocking_recv()
    }

    /// The next piece; waits for ever after the last one.
    async fn next(&mut self) -> Piece {
        if let Some(receiver) = &mut self.0
            && let Some(piece) = receiver.recv().await
        {
            return piece;
        }
        self.0 = None;
        std::future::pending().await
    }
}

enum Next {
    Person(Happening),
    Copied(Copied),
    Read(Piece),
    Work,
}

/// Shows the messages until the person leaves.
pub async fn read_messages<D: Device>(
    screen: &mut Screen<D>,
    mut file: MessageFile,
    mut feeding: Feeding,
    options: &mut UiOptions,
) -> io::Result<Exit> {
    ask(screen, options)?;
    let mut copier = Copier::new(std::mem::take(&mut options.clipboard));
    loop {
        screen.draw(|buf| file.draw(options.looks.theme(), buf))?;
        let next = tokio::select! {
            biased;
            happening = screen.next() => Next::Person(happening),
            copied = copier.next() => Next::Copied(copied),
            piece = feeding.next() => Next::Read(piece),
            () = tokio::task::yield_now(), if file.has_work() => Next::Work,
        };
        let mut input = match next {
            Next::Person(Happening::Signal(signal)) => return Ok(Exit::Signal(signal)),
            Next::Person(Happening::Gone) => return Ok(Exit::TerminalGone),
            Next::Person(Happening::Input(input)) => Some(input),
            Next::Copied(copied) => {
                let (said, bytes) = words(copied, options.multiplexer, options.home.as_deref());
                if let Some(bytes) = bytes {
                    screen.send(&bytes)?;
                }
                file.note = Some(said);
                None
            }
            Next::Read(piece) => {
                file.take(piece);
                None
            }
            Next::Work => {
                file.work();
                None
            }
        };
        while let Some(one) = input {
            if matches!(&one, Input::Key(key) if resolve(Layer::Picker, *key) == Some(Action::Suspend)) {
                screen.suspend()?;
            }
            hear(screen, options, &one)?;
            let what = |text: &str| What::Characters(text.chars().count());
            match file.input(one) {
                Keyed::Close => return Ok(Exit::Quit),
                Keyed::Copy(text) => copier.copy(what(&text), text),
                Keyed::Save(text) => copier.save(what(&text), text),
                Keyed::Done | Keyed::Other => {}
            }
            input = screen.ready();
        }
    }
}
