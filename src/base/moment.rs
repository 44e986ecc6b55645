//! Times that others have written: ISO 8601, with whatever offset and as precise as they like.
//!
//! Knows no clock and no time zone but the one in the text. Invariant: what cannot be read is nothing, never another
//! time.

/// Seconds since 1970.
pub fn seconds(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let mut parts = date.split('-');
    let (year, month, day) = (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (time, offset) = match time.find(['Z', 'z', '+', '-']) {
        None => (time, 0),
        Some(at) => (time.get(..at)?, offset(time.get(at..)?)?),
    };
    let clock = if time.is_empty() { 0 } else { clock(time)? };
    Some(days(year, month, day) * 86_400 + clock - offset)
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

/// Days from 1970 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin with March here, so that the day that is sometimes there is the last one.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let era = year.div_euclid(400);
    let in_era = year.rem_euclid(400);
    era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::seconds;

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
        for text in
            ["", "yesterday", "2026-13-01", "2026-08-20T25:00:00Z", "1787220000", "2026-08-20T10:00:00+x", "é-é-é"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
