//! Days and moments of the calendar, written and read as ISO 8601 has them.
//!
//! Knows no clock, no locale, and no zone but the one in a text. Invariants: what is written here is read back as the
//! same moment; what cannot be read is nothing, never another time.

use std::time::Duration;

const DAY: i64 = 86_400;

/// As RFC 3339 has it, in whole seconds of universal time: `2026-11-22T08:30:00Z`. The moment is counted from 1970.
pub fn rfc3339(moment: Duration) -> String {
    let moment = moment.as_secs().cast_signed();
    let (year, month, day) = civil(moment.div_euclid(DAY));
    let second = moment.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The beginning of a day that is written `2026-11-22`, counted from 1970.
pub fn day(text: &str) -> Option<Duration> {
    u64::try_from(days(text)? * DAY).ok().map(Duration::from_secs)
}

/// Seconds from 1970 to a time that others have written, with any offset and any precision.
pub fn seconds(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let (time, offset) = match time.find(['Z', 'z', '+', '-']) {
        None => (time, 0),
        Some(at) => (time.get(..at)?, offset(time.get(at..)?)?),
    };
    let clock = if time.is_empty() { 0 } else { clock(time)? };
    Some(days(date)? * DAY + clock - offset)
}

/// Days from 1970 to a day that is written `2026-11-22`.
fn days(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let mut part = |digits| number(parts.next()?, digits);
    let date @ (year, month, day) = (part(4)?, part(2)?, part(2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) {
        return None;
    }
    let days = days_to(year, month, day);
    // The 31st of a month with 30 days is another day.
    (civil(days) == date).then_some(days)
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let is_right = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    if is_right { text.parse().ok() } else { None }
}

/// `10:00`, `10:00:05`, `10:00:05.123`.
fn clock(text: &str) -> Option<i64> {
    let whole = text.split_once(['.', ',']).map_or(text, |(whole, _)| whole);
    let mut parts = whole.split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |second| number(second, 2))?;
    let is_right = parts.next().is_none() && hour < 24 && minute < 60 && second <= 60;
    is_right.then_some(hour * 3600 + minute * 60 + second)
}

/// `Z`, `+02:00`, `-0330`, `+02`.
fn offset(text: &str) -> Option<i64> {
    let sign = match text.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return (text.len() == 1).then_some(0),
    };
    let rest = text.get(1..)?;
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None => (rest.get(..2)?, rest.get(2..)?),
    };
    let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2)? };
    Some(sign * (number(hours, 2)? * 3600 + minutes * 60))
}

/// The year, month and day. Years begin in March here: the day that some have more is then their last one.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The way back; a day that the month has not got counts on into the next one.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
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
            let moment = Duration::from_secs(days * 86_400);
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

    fn reads(text: &str, expected: i64) {
        assert_eq!(seconds(text), Some(expected), "{text}");
    }

    cases! { reads {
        in_utc: "1970-01-01T00:00:00Z", 0;
        with_parts_of_a_second: "2026-08-20T10:00:00.123456Z", 1_787_220_000;
        east: "2026-08-20T12:00:00+02:00", 1_787_220_000;
        west_without_a_colon: "2026-08-20T06:30:00-0330", 1_787_220_000;
        without_an_offset: "2026-08-20 10:00", 1_787_220_000;
        a_day_alone: "2000-02-29", 951_782_400;
        before_1970: "1969-12-31T23:59:59Z", -1;
    }}

    #[test]
    fn r_159_what_cannot_be_read_is_nothing() {
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-02-30",
            "2026-08-20T25:00:00Z",
            "1787220000",
            "2026-08-20T10:00:00+x",
            "é-é-é",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
