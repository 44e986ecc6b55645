//! Messages for the inspector, while it is open.
//!
//! Invariant: a frame takes a bounded number of them, so that a flood leaves time for keys.

use super::Running;
use crate::ui::frame::Urgency;
use crate::ui::screen::Device;

/// Messages that a frame takes.
const MOST: usize = 2000;

pub(super) fn look<D: Device>(running: &mut Running<D>) {
    let frames = running.engine.seen();
    let Some(inspector) = &mut running.app.inspector else { return frames.stop() };
    inspector.take(frames.next(MOST));
    if running.engine.seen().has_news() {
        running.frames.want(Urgency::NextFrame, running.engine.now());
    }
}

/// Whether there is something to be drawn that was not.
pub(super) fn has_news<D: Device>(running: &mut Running<D>) -> bool {
    running.app.inspector.is_some() && running.engine.seen().has_news()
}
