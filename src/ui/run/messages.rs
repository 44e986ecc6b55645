//! The loop of a file of messages: keys in, frames out, and what is copied or saved.
//!
//! Starts no agent. Invariant: what is said of a copied text is what has happened to it.

use super::copying::words;
use super::ground::{ask, hear};
use super::{Exit, UiOptions};
use crate::ui::keys::{Action, Layer, resolve};
use crate::ui::message_file::MessageFile;
use crate::ui::msg::What;
use crate::ui::screen::{Device, Happening, Screen};
use crate::ui::state::inspector::Keyed;
use crate::ui::tty::Input;
use crate::ui::work::copier::{Copied, Copier};
use std::io;

enum Next {
    Person(Happening),
    Copied(Copied),
}

/// Shows the messages until the person leaves.
pub async fn read_messages<D: Device>(
    screen: &mut Screen<D>,
    mut file: MessageFile,
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
