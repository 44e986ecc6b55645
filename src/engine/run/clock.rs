//! The date of what happens: the machine's clock beside the time since the start, which stands still while the machine
//! sleeps.
//!
//! Invariant: what a journal says of it gives each moment the same date again.

use super::Engine;
use crate::model::event::HostEvent;
use crate::model::ids::{Address, Now};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Clocks that differ by less are the same: one is adjusted all the time.
const SAME: Duration = Duration::from_secs(2);

/// How often it is looked at while the person does nothing.
const OFTEN: Duration = Duration::from_mins(1);

/// Now and then, for what happens without the person.
pub(super) fn look_at_times(engine: &mut Engine) {
    let now = engine.now();
    if now >= engine.clock_due {
        engine.clock_due = now.saturating_add(OFTEN);
        look(engine);
    }
}

/// Takes note when the machine has slept, or its clock was set.
pub(super) fn look(engine: &mut Engine) {
    let (now, date) = (engine.now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    if let Some(began) = engine.model().date(Now::ZERO).and_then(|known| moved(known, now, date)) {
        engine.apply(Address::All, HostEvent::ClockSet(began));
    }
}

/// When the start was by a clock that shows this date now, where that is another moment than what is known.
fn moved(known: Duration, now: Now, date: Duration) -> Option<Duration> {
    let began = date.checked_sub(now)?;
    (began.abs_diff(known) >= SAME).then(|| Duration::from_secs(began.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_of_sleep_moves_the_start_and_a_clock_that_drifts_does_not() {
        let seconds = Duration::from_secs;
        assert_eq!(moved(seconds(1000), seconds(60), seconds(1061)), None);
        assert_eq!(moved(seconds(1000), seconds(60), seconds(1059)), None);
        assert_eq!(moved(seconds(1000), seconds(60), seconds(1060 + 28_800)), Some(seconds(29_800)), "it has slept");
        assert_eq!(moved(seconds(29_800), seconds(61), seconds(1061)), Some(seconds(1000)), "it was set back");
        assert_eq!(moved(seconds(1000), seconds(60), seconds(5)), None, "before the start");
    }
}
