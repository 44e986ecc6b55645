//! Frames wait for the link to the terminal, if it is slow (`ui::pace`).
//!
//! Invariant: an answer of the terminal makes no frame by itself.

use super::Running;
use crate::ui::frame::Urgency;
use crate::ui::pace::Leave;
use crate::ui::screen::Device;
use crate::ui::tty::{Input, Told};
use std::io;
use std::time::Duration;

/// Before the first frame.
pub(super) fn begin<D: Device>(running: &mut Running<D>) -> io::Result<()> {
    running.pace.begin(running.engine.now());
    running.screen.ask_arrival()
}

/// Whether the frame that is due may be drawn now.
pub(super) fn may_draw<D: Device>(running: &mut Running<D>) -> bool {
    let now = running.engine.now();
    if !running.frames.is_due(now) {
        return false;
    }
    let leave = running.pace.leave(running.frames.presses(), now);
    running.most = match leave {
        Leave::Whole => None,
        Leave::AtMost(bytes) => Some(bytes),
        Leave::Wait(_) => return false,
    };
    true
}

/// How long until it is to be looked again; what is never due needs no timer.
pub(super) fn pause<D: Device>(running: &mut Running<D>) -> Option<Duration> {
    let (now, deadline) = (running.engine.now(), running.frames.deadline()?);
    let at = match running.pace.leave(running.frames.presses(), now) {
        Leave::Wait(until) => deadline.max(until),
        Leave::Whole | Leave::AtMost(_) => deadline,
    };
    Some(at.saturating_sub(now))
}

/// A frame was drawn.
pub(super) fn drawn<D: Device>(running: &mut Running<D>) -> io::Result<()> {
    let now = running.engine.now();
    if running.screen.is_cut() {
        running.frames.want(Urgency::NextFrame, now);
    }
    if running.pace.wrote(running.screen.written(), now) { running.screen.ask_arrival() } else { Ok(()) }
}

/// Whether an input was no more than the answer.
pub(super) fn hear<D: Device>(running: &mut Running<D>, input: &Input) -> io::Result<bool> {
    if *input != Input::Told(Told::Arrived) {
        return Ok(false);
    }
    if running.pace.arrived(running.engine.now()) {
        running.screen.ask_arrival()?;
    }
    Ok(true)
}
