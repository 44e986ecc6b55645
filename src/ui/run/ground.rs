//! What the terminal is asked, and what it says of what is behind the words, which is passed on to the theme; what it says
//! of pictures is for [`super::pictures`].
//!
//! Waits for nothing. Invariant: nothing is asked of a terminal where the answer would change nothing.

use super::UiOptions;
use crate::base::width;
use crate::theme::looks::{Ground, Shade};
use crate::ui::screen::{Device, Screen};
use crate::ui::tty::{Input, Multiplexer, Questions, Scheme, Told};
use std::io;

/// Asks a terminal that was just taken all there is to ask.
pub(super) fn ask_all<D: Device>(screen: &mut Screen<D>, options: &UiOptions, pictures: bool) -> io::Result<()> {
    let is_alone = options.outside.takes_questions && options.multiplexer == Multiplexer::None;
    put(screen, options, pictures && is_alone, options.ambiguous_is_wide.is_none())
}

/// Asks the terminal what is behind the words and whether it shows what programs are at, if that changes anything.
pub(super) fn ask<D: Device>(screen: &mut Screen<D>, options: &UiOptions) -> io::Result<()> {
    put(screen, options, false, false)
}

fn put<D: Device>(screen: &mut Screen<D>, options: &UiOptions, pictures: bool, ambiguous: bool) -> io::Result<()> {
    // Multiplexers pass nothing of it on.
    let status = options.outside.takes_questions && options.multiplexer == Multiplexer::None;
    let what = Questions { background: options.looks.wants_to_know(), status, pictures, ambiguous };
    if what == Questions::default() { Ok(()) } else { screen.ask(what, options.multiplexer) }
}

/// What the terminal says of itself; asks anew where that may have changed.
pub(super) fn hear<D: Device>(screen: &mut Screen<D>, options: &mut UiOptions, input: &Input) -> io::Result<()> {
    let ground = match input {
        Input::Told(Told::Background(r, g, b)) => Ground::Color((*r, *g, *b)),
        Input::Told(Told::Scheme(scheme)) => {
            ask(screen, options)?;
            Ground::Shade(match scheme {
                Scheme::Dark => Shade::Dark,
                Scheme::Light => Shade::Light,
            })
        }
        Input::Told(Told::Ambiguous { is_wide }) => {
            if options.ambiguous_is_wide.is_none() && width::set_ambiguous_wide(*is_wide) {
                screen.invalidate();
            }
            return Ok(());
        }
        // One that has not answered will not.
        Input::Focus(true) if options.looks.has_been_told() => return ask(screen, options),
        _ => return Ok(()),
    };
    options.looks.told(ground);
    Ok(())
}
