//! Has what is in view coloured beside the screen, one text at a time.
//!
//! What comes back is put where it belongs by the loop. Invariant: nothing is asked for while a text is being coloured.

use super::Running;
use crate::theme::color::Depth;
use crate::ui::screen::Device;
use crate::ui::work::highlight::Job;
use std::path::PathBuf;

pub(super) fn colour<D: Device>(running: &mut Running<D>) {
    let Running { colours, options, app, info, transcript, .. } = running;
    if !colours.is_idle() || options.looks.theme().depth() == Depth::None {
        return;
    }
    if let Some(review) = &mut app.view.review
        && let Some(frame) = &info.review
        && let Some((path, hunk, lines)) = review.uncoloured(frame.hunk_rows.iter().map(|(_, spot)| spot.hunk))
    {
        colours.ask(Job { path, id: hunk.0, lines, keys: Vec::new() });
    } else if let Some(plain) = transcript.uncoloured() {
        let path = PathBuf::from(&*plain.lang);
        colours.ask(Job { path, id: 0, lines: plain.lines, keys: plain.keys });
    }
}
