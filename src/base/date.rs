//! Days and moments of the calendar, in universal time.
//!
//! No zones and no locale. Invariant: what is written here is read back as the same moment.

use std::time::Duration;

const DAY: u64 = 86_400;

/// As RFC 3339 has it, in whole seconds: `2026-11-22T08:30:00Z`. The moment is counted from 1970.
pub fn rfc3339(moment: Duration) -> String {
    let (days, second) = (moment.as_secs() / DAY, moment.as_secs() % DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The beginning of a day that is written `2026-11-22`, counted from 1970.
pub fn day(text: &str) -> Option<Duration> {
    let mut parts = text.split('-');
    let mut part = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<u64>().ok()
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    if parts.next().is_some() || year < 1970 || !(1..=12).contains(&month) {
        return None;
    }
    let days = days(year, month, day);
    // The 31st of a month with 30 days is another day.
    (day > 0 && civil(days) == (year, month, day)).then(|| Duration::from_secs(days * DAY))
}

/// Years that begin in March: the day that some have more is then their last one.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted_month + 2) / 5 + day.max(1) - 1;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).saturating_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_336_172, "2026-11-22T08:29:32Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_day_is_read_as_it_was_written() {
        for days in (0..80_000).step_by(17) {
            let moment = Duration::from_secs(days * DAY);
            assert_eq!(day(&rfc3339(moment)[..10]), Some(moment));
        }
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in ["", "2026", "2026-2-3", "2026-02-30", "2026-13-01", "2026-00-10", "2026-01-00", "1969-12-31", "x"]
        {
            assert_eq!(day(text), None, "{text}");
        }
        assert_eq!(day("2026-01-01-01"), None);
        assert_eq!(day("+026-01-01"), None);
    }
}
