//! Numbers as people read them: sizes, durations, tokens.
//!
//! No locale. Figures are rounded down, so nothing ever claims to be more than it is.

use std::borrow::Cow;
use std::time::Duration;

/// "512 B", "1.2 MB" (steps of 1000).
pub fn bytes(n: u64) -> String {
    if n < 1000 { format!("{n} B") } else { scaled(n, &["kB", "MB", "GB", "TB", "PB", "EB"]) }
}

/// "512", "38 k", "1 M".
pub fn tokens(n: u64) -> String {
    if n < 1000 { n.to_string() } else { scaled(n, &["k", "M", "G", "T", "P", "E"]) }
}

/// "4 s", "1:02", "1:01:05".
pub fn duration(d: Duration) -> String {
    let s = d.as_secs();
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{}:{:02}", s / 60, s % 60),
        _ => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
    }
}

/// Like [`duration`], with tenths below one second.
pub fn precise(d: Duration) -> String {
    match d.as_millis() {
        0..100 => "<0.1 s".to_owned(),
        ms @ 100..1000 => format!("0.{} s", ms / 100),
        _ => duration(d),
    }
}

/// "just now", "5 min ago", "3 d ago".
pub fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86400),
    }
}

/// "512", "60,000".
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// "1 file", "2 files", "0 files"; "1 entry", "2 entries".
pub fn count(n: u64, noun: &str) -> String {
    format!("{n} {}", plural(n, noun))
}

/// "file" of one, "files" of none and of many.
pub fn plural(n: u64, noun: &str) -> Cow<'_, str> {
    match noun.strip_suffix('y') {
        _ if n == 1 => Cow::Borrowed(noun),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => Cow::Owned(format!("{stem}ies")),
        _ if noun.ends_with('s') => Cow::Owned(format!("{noun}es")),
        _ => Cow::Owned(format!("{noun}s")),
    }
}

/// One decimal below ten, unless it is zero.
fn scaled(n: u64, units: &[&str]) -> String {
    let mut unit = 1000;
    let mut name = 0;
    while n / unit >= 1000 && name + 1 < units.len() {
        unit *= 1000;
        name += 1;
    }
    let (whole, tenth) = (n / unit, n % unit / (unit / 10));
    if whole < 10 && tenth > 0 {
        format!("{whole}.{tenth} {}", units[name])
    } else {
        format!("{whole} {}", units[name])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (n, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1 kB"),
            (1_290_000, "1.2 MB"),
            (38_400_000, "38 MB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn counts_have_the_plural_that_belongs_to_them() {
        for (n, noun, text) in [
            (0, "file", "0 files"),
            (1, "file", "1 file"),
            (2, "entry", "2 entries"),
            (1, "entry", "1 entry"),
            (3, "key", "3 keys"),
            (4, "process", "4 processes"),
        ] {
            assert_eq!(count(n, noun), text);
        }
    }

    #[test]
    fn token_counts() {
        for (n, text) in
            [(7, "7"), (38_400, "38 k"), (999_999, "999 k"), (1_000_000, "1 M"), (1_048_576, "1 M"), (1_250, "1.2 k")]
        {
            assert_eq!(tokens(n), text);
        }
    }

    #[test]
    fn durations() {
        assert_eq!(duration(Duration::from_millis(4900)), "4 s");
        assert_eq!(duration(Duration::from_secs(62)), "1:02");
        assert_eq!(duration(Duration::from_secs(3665)), "1:01:05");
        assert_eq!(precise(Duration::from_millis(240)), "0.2 s");
        assert_eq!(precise(Duration::from_millis(3)), "<0.1 s");
        assert_eq!(precise(Duration::from_secs(4)), "4 s");
        assert!(!duration(Duration::MAX).is_empty());
    }
}
