//! Messages for the inspector, while it is open.
//!
//! Invariant: a frame takes a bounded number of them, so that a flood leaves time for keys.

use super::Running;
use crate::ui::frame::Urgency;
use crate::ui::screen::Device;
use std::time::Duration;

/// Messages that are taken at a time, and for how long a frame takes them: enough for 10,000 a second.
const BATCH: usize = 64;
const BUDGET: Duration = Duration::from_micros(1500);

pub(super) fn look<D: Device>(running: &mut Running<D>) {
    let Some(inspector) = &mut running.app.inspector else { return running.engine.seen().stop() };
    let until = running.engine.now() + BUDGET;
    loop {
        let (rows, missed) = running.engine.seen().next(BATCH);
        let are_all = rows.len() < BATCH;
        inspector.miss(missed);
        inspector.take(rows);
        if are_all || running.engine.now() >= until {
            break;
        }
    }
    if inspector.is_sifting() {
        inspector.sift_on();
    }
    if running.engine.seen().has_news() || inspector.is_sifting() {
        running.frames.want(Urgency::NextFrame, running.engine.now());
    }
}

/// Whether there is something to be drawn that was not.
pub(super) fn has_news<D: Device>(running: &mut Running<D>) -> bool {
    let inspector = running.app.inspector.as_ref();
    inspector.is_some_and(|inspector| inspector.is_sifting() || running.engine.seen().has_news())
}
