//! Dates as a person reads them: by the clock and the calendar of where they are.
//!
//! Knows no clock. Invariant: what lies beyond the calendar is nothing.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Whether dates are of the person's zone; of universal time as long as nobody has said so.
static IS_SYSTEMS: AtomicBool = AtomicBool::new(false);
/// Found when the first date is told: that takes a look through all zones, which a start has no time for.
static SYSTEMS: OnceLock<TimeZone> = OnceLock::new();

/// From now on dates are those of the system's zone.
pub fn use_of_system() {
    IS_SYSTEMS.store(true, Ordering::Relaxed);
}

fn here() -> TimeZone {
    if IS_SYSTEMS.load(Ordering::Relaxed) { SYSTEMS.get_or_init(TimeZone::system).clone() } else { TimeZone::UTC }
}

/// The day of a moment that is counted from 1970, as a number that grows.
pub fn day(moment: Duration) -> i64 {
    let local = |at: Timestamp| here().to_datetime(at).date();
    let epoch = jiff::civil::date(1970, 1, 1);
    timestamp(moment)
        .map(local)
        .and_then(|date| Some(i64::from(date.since(epoch).ok()?.get_days())))
        .unwrap_or_default()
}

/// `21:06` of today, `21 Nov 21:06` of another day, `21 Nov 2025` of another year.
pub fn short(moment: Duration, now: Option<Duration>) -> Option<String> {
    short_in(&here(), moment, now)
}

fn short_in(zone: &TimeZone, moment: Duration, now: Option<Duration>) -> Option<String> {
    let local = |moment| Some(zone.to_datetime(timestamp(moment)?));
    let at = local(moment)?;
    let today = now.and_then(local).unwrap_or(at);
    let month = MONTHS.get(usize::try_from(at.month() - 1).ok()?)?;
    Some(if at.year() != today.year() {
        format!("{} {month} {}", at.day(), at.year())
    } else if at.date() != today.date() {
        format!("{} {month} {:02}:{:02}", at.day(), at.hour(), at.minute())
    } else {
        format!("{:02}:{:02}", at.hour(), at.minute())
    })
}

fn timestamp(moment: Duration) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(moment.as_secs()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_says_what_is_not_known_anyway() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now = Duration::from_secs(1_795_000_000);
        let short = |moment: u64| short_in(&zone, Duration::from_secs(moment), Some(now));
        for (before, said) in [(0, "13:06"), (60, "13:05"), (13 * 3600, "00:06"), (14 * 3600, "17 Nov 23:06")] {
            assert_eq!(short(1_795_000_000 - before).as_deref(), Some(said));
        }
        assert_eq!(short(1_764_000_000).as_deref(), Some("24 Nov 2025"));
        assert_eq!(short(u64::MAX), None);
        assert_eq!(short_in(&zone, now, None).as_deref(), Some("13:06"), "of what is not known to be another day");
    }

    #[test]
    fn days_are_counted() {
        let day = |seconds| day(Duration::from_secs(seconds));
        assert_eq!((day(0), day(86_399), day(86_400), day(u64::MAX)), (0, 0, 1, 0));
    }
}
