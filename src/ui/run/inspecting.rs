//! Messages for the inspector, while it is open, and what the agent says beside them where it says nothing else.
//!
//! Invariant: a frame takes a bounded number of them, so that a flood leaves time for keys.

use super::Running;
use crate::ui::frame::Urgency;
use crate::ui::screen::Device;
use crate::ui::state::dock::{Dialog, Raw};
use std::time::Duration;

/// Messages that are taken at a time, and for how long a frame takes them; longer where as many wait as come in a fraction of
/// a second with 10,000 of them.
const BATCH: usize = 64;
const BUDGET: Duration = Duration::from_micros(1500);
const MANY: u64 = 1000;
const BUDGET_OF_MANY: Duration = Duration::from_millis(8);

/// Lines of the agent's messages that are shown while it is silent.
const STDERR: usize = 200;

pub(super) fn look<D: Device>(running: &mut Running<D>) {
    let Some(inspector) = &mut running.app.inspector else { return running.engine.seen().stop() };
    let is_behind = running.engine.seen().waiting() > MANY;
    let until = running.engine.now() + if is_behind { BUDGET_OF_MANY } else { BUDGET };
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

/// What the agent has printed, where there is nothing else to be shown of it.
pub(super) fn hear_stderr<D: Device>(running: &mut Running<D>) {
    let shown = running.engine.model().at(running.app.shown());
    let has_nothing_else = match running.app.view.dock.dialog {
        Some(Dialog::Silent) => true,
        // Who names no way to log in may have printed one.
        Some(Dialog::LogIn) => shown.is_some_and(|shown| shown.agent().auth_methods.is_empty()),
        _ => false,
    };
    if has_nothing_else {
        let lines = if running.app.view.dock.all_stderr == Raw::Shown { STDERR } else { 3 };
        let agent = shown.map(|shown| shown.agent_key());
        running.app.view.dock.stderr = agent.map(|agent| running.engine.stderr_tail(agent, lines)).unwrap_or_default();
    }
}
