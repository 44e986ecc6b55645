//! Has what is shown of programs coloured, one piece after the other: hunks of the review first, then the conversation.
//!
//! Waits for nothing. Invariant: nothing is coloured where there are no colours.

use super::Running;
use crate::model::changes::HunkId;
use crate::theme::color::Depth;
use crate::ui::frame::Urgency;
use crate::ui::screen::Device;
use crate::ui::work::highlight::{Coloured, Job};
use std::path::PathBuf;

pub(super) fn ask<D: Device>(running: &mut Running<D>) {
    if !running.colours.is_idle() || running.options.looks.theme().depth() == Depth::None {
        return;
    }
    if let Some(review) = &mut running.app.view.review
        && let Some(frame) = &running.info.review
        && let Some((path, hunk, lines)) = review.uncoloured(frame.hunk_rows.iter().map(|(_, spot)| spot.hunk))
    {
        running.colours.ask(Job { path, id: hunk.0, lines, keys: Vec::new() });
    } else if let Some(plain) = running.transcript.uncoloured() {
        let path = PathBuf::from(&*plain.lang);
        running.colours.ask(Job { path, id: 0, lines: plain.lines, keys: plain.keys });
    }
}

pub(super) fn coloured<D: Device>(running: &mut Running<D>, found: Coloured) {
    if !found.keys.is_empty() {
        running.transcript.colour(&found.keys, found.lines);
    } else if let Some(review) = &mut running.app.view.review {
        review.colour(&found.path, HunkId(found.id), found.lines);
    } else {
        return;
    }
    running.frames.want(Urgency::NextFrame, running.engine.now());
}
