//! What is said of a text that was copied, and the last ways to copy it: the terminal, or a file.
//!
//! Invariant: what is said is what has happened; a terminal does not tell whether it took what it was sent.

use super::Running;
use crate::ui::frame::Urgency;
use crate::ui::labels;
use crate::ui::msg::{What, Whither};
use crate::ui::screen::Device;
use crate::ui::tty::{Multiplexer, osc52};
use crate::ui::work::copier::{Copied, Went};
use std::io;
use std::path::Path;

pub(super) fn copied<D: Device>(running: &mut Running<D>, copied: Copied) -> io::Result<()> {
    if let What::Picture(whither) = copied.what {
        return kept(running, whither, copied.went);
    }
    let (words, bytes) = words(copied, running.options.multiplexer, running.options.home.as_deref());
    if let Some(bytes) = bytes {
        running.screen.send(&bytes)?;
    }
    running.app.say(words, running.engine.now());
    running.frames.want(Urgency::AtOnce, running.engine.now());
    Ok(())
}

/// What is said of it, and what is left to send to the terminal.
pub(super) fn words(copied: Copied, through: Multiplexer, home: Option<&Path>) -> (String, Option<Vec<u8>>) {
    let Copied { what, went } = copied;
    let what = match what {
        What::Characters(count) => format!("{count} characters"),
        What::First(count) => format!("the first {count} characters"),
        What::Address => "the address".to_owned(),
        What::Command => "the command".to_owned(),
        What::Patch => "the patch".to_owned(),
        What::Picture(_) => "the picture".to_owned(),
    };
    let words = match went {
        Went::To(program) => format!("copied {what} ({program})"),
        Went::Nowhere(text) => match osc52(&text, through) {
            Ok(bytes) => return (format!("copied {what} (OSC 52, cannot be verified)"), Some(bytes)),
            Err(error) => format!("not copied: {error}"),
        },
        Went::Saved(Some(path)) => format!("{what} are in {}", labels::file(&path, home)),
        Went::Saved(None) => format!("not saved: {what} could not be written into the state directory"),
        Went::IntoFile(path) => {
            format!("{} has {what}: too long for the terminal's clipboard", labels::file(&path, home))
        }
    };
    (words, None)
}

/// A picture is in a file, from where the system's program opens it.
fn kept<D: Device>(running: &mut Running<D>, whither: Whither, went: Went) -> io::Result<()> {
    let words = match went {
        Went::Saved(Some(path)) => {
            if whither == Whither::Opens {
                running.engine.open_page(running.app.shown(), path.to_string_lossy().into_owned());
            }
            format!("the picture is in {}", labels::file(&path, running.options.home.as_deref()))
        }
        _ => "not saved: the picture cannot be read, or there is no state directory to write into".to_owned(),
    };
    running.app.say(words, running.engine.now());
    running.frames.want(Urgency::AtOnce, running.engine.now());
    Ok(())
}
