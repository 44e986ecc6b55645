//! Addresses of pages in what programs print.
//!
//! Opens nothing. Invariant: an address has a host only when no two programs can read it in different ways: what is
//! before the path is plain letters, digits, dots and a port, so that neither a user's name nor a look-alike letter
//! stands for another host than the one that is said.

use super::run::StyledText;
use crate::base::percent::decoded;
use crate::base::sanitize::is_deceptive;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// Bytes of an address; a longer one is none.
const MAX: usize = 4000;
const SCHEMES: [&str; 2] = ["https://", "http://"];

/// The last address in a text.
pub fn last(text: &str) -> Option<&str> {
    let from = SCHEMES.iter().filter_map(|scheme| text.rfind(scheme)).max()?;
    let rest = &text[from..];
    let is_end = |c: char| c.is_whitespace() || c.is_control() || is_deceptive(c) || "\"'<>`|\\^{}".contains(c);
    let mut address = rest.find(is_end).map_or(rest, |end| &rest[..end]);
    // What ends the sentence around it, and brackets that were opened before it.
    let is_around = |last: &char, address: &str| match last {
        ')' => !address.contains('('),
        ']' => !address.contains('['),
        other => ".,;:!".contains(*other),
    };
    while let Some(last) = address.chars().last().filter(|last| is_around(last, address)) {
        address = &address[..address.len() - last.len_utf8()];
    }
    let has_more = SCHEMES.iter().all(|scheme| address.len() > scheme.len());
    (has_more && address.len() <= MAX).then_some(address)
}

/// All addresses in a text, the last one first.
pub fn all(text: &str) -> impl Iterator<Item = &str> {
    places(text).map(|(_, address)| address)
}

/// The same with the byte at which each begins.
pub fn places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = SCHEMES.iter().filter_map(|scheme| rest.rfind(scheme)).max()?;
        let found = last(rest).map(|address| (from, address));
        rest = &rest[..from];
        Some(found)
    })
    .flatten()
}

/// The places around bytes of a long text, for which no more of it is looked at than one can be long.
pub fn places_around(text: &str, bytes: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let from = text.floor_char_boundary(bytes.start.saturating_sub(MAX));
    let to = text.ceil_char_boundary(bytes.end.saturating_add(MAX).min(text.len()));
    places(text.get(from..to).unwrap_or_default()).map(move |(at, address)| (from + at, address))
}

/// A file below some directory that is named with a line: `src/main.rs:12`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilePlace<'a> {
    /// Of the text.
    pub bytes: Range<usize>,
    pub path: &'a str,
    pub line: u32,
}

/// The files that are named with a line around bytes of a long text, the first one first. Whether they are there is not
/// looked at.
pub fn files_around(text: &str, bytes: Range<usize>) -> Vec<FilePlace<'_>> {
    let from = text.floor_char_boundary(bytes.start.saturating_sub(MAX));
    let to = text.ceil_char_boundary(bytes.end.saturating_add(MAX).min(text.len()));
    let window = text.get(from..to).unwrap_or_default();
    let is_path = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let place = |(colon, _): (usize, &str)| {
        let before = &window[..colon];
        let start = before.rfind(|c: char| !is_path(c)).map_or(0, |at| before.ceil_char_boundary(at + 1));
        let path = &before[start..];
        let digits = window[colon + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let end = colon + 1 + digits;
        let line = window.get(colon + 1..end)?.parse().ok().filter(|line| *line > 0)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && !ending.is_empty());
        let has_letter = name.bytes().any(|byte| byte.is_ascii_alphabetic());
        let stays = !path.starts_with('/') && path.split('/').all(|part| !part.is_empty() && part != "..");
        // In an address digits behind a colon are a port.
        let is_address = before[..start].ends_with("://") || before[..start].ends_with('@');
        (has_ending && has_letter && stays && !is_address).then(|| FilePlace {
            bytes: from + start..from + end,
            path,
            line,
        })
    };
    window.match_indices(':').filter_map(place).collect()
}

/// The address of a place in a file below an absolute directory; only plain letters stay as they are.
pub fn of_file(directory: &str, path: &str, line: u32) -> String {
    let mut out = "file://".to_owned();
    for byte in directory.trim_end_matches('/').bytes().chain([b'/']).chain(path.bytes()) {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    let _ = write!(out, "#{line}");
    out
}

/// The host of an address that may be opened, with its port.
pub fn host(address: &str) -> Option<&str> {
    let rest = SCHEMES.iter().find_map(|scheme| address.strip_prefix(scheme))?;
    let host = rest.find(['/', '?', '#']).map_or(rest, |end| &rest[..end]);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    // A name that begins like this stands for letters that look like others.
    let is_coded = host.split('.').any(|label| label.to_ascii_lowercase().starts_with("xn--"));
    let is_clean = address.chars().all(|c| !c.is_control());
    let is_said_once = !host.is_empty() && host.chars().all(is_plain) && has_plain_port(host);
    (is_said_once && !is_coded && is_clean).then_some(host)
}

/// Whether the page of a log-in says that it leads back to a page elsewhere and not to a program of this machine: it may end
/// with a code that is to be typed somewhere.
pub fn leads_elsewhere(page: &str) -> bool {
    let query = page.split_once('?').map_or("", |(_, query)| query);
    let back = query.split(['&', '#']).find_map(|pair| pair.strip_prefix("redirect_uri="));
    let back = back.map(|back| decoded(back).map_or(Cow::Borrowed(back), Cow::Owned));
    back.is_some_and(|back| host(&back).is_some_and(|host| !is_here(host)))
}

fn is_here(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(rest) => rest.starts_with("::1]"),
        None => {
            let name = host.split(':').next().unwrap_or_default();
            let is_number = |part: &str| part.parse::<u8>().is_ok();
            let is_loop = |rest: &str| rest.split('.').count() == 3 && rest.split('.').all(is_number);
            name == "localhost" || name.strip_prefix("127.").is_some_and(is_loop)
        }
    }
}

/// Whether a host has no port, or a number for it.
fn has_plain_port(host: &str) -> bool {
    let port = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map(|(_, port)| port),
        None => Some(host.find(':').map_or("", |at| &host[at..])),
    };
    port.is_some_and(|port| port.is_empty() || port.strip_prefix(':').is_some_and(|n| n.parse::<u16>().is_ok()))
}

/// Rows of a terminal as the text that was printed: one that fills its row goes on in the next.
pub fn unwrapped(rows: &[StyledText], cols: u16) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(row.as_str());
        if super::width::str_width(row.as_str()) < usize::from(cols) {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_address_is_found_without_what_surrounds_it() {
        for (text, found) in [
            ("go to https://a.example/x?y=1#z.", Some("https://a.example/x?y=1#z")),
            ("https://a.example/x\u{34f}y", Some("https://a.example/x")),
            ("http://one.example and (https://two.example/b).", Some("https://two.example/b")),
            ("https://a.example/x(y)", Some("https://a.example/x(y)")),
            ("\"https://a.example/\u{7}evil\"", Some("https://a.example/")),
            ("https://", None),
            ("ftp://a.example", None),
            ("", None),
        ] {
            assert_eq!(last(text), found, "{text}");
        }
        assert_eq!(last(&format!("https://a.example/{}", "x".repeat(MAX))), None);
    }

    #[test]
    fn all_addresses_of_a_text_are_found() {
        let text = "from https://a.example/x to (http://b.example) and https://c.example.";
        assert_eq!(all(text).collect::<Vec<_>>(), ["https://c.example", "http://b.example", "https://a.example/x"]);
        assert_eq!(all("none: https://").count(), 0);
    }

    #[test]
    fn where_addresses_stand_is_told_without_looking_at_all_of_a_long_text() {
        let text = format!("{} https://a.example/x {}", "w ".repeat(1 << 20), "w ".repeat(1 << 20));
        let at = text.find("https").unwrap();
        let found: Vec<_> = places_around(&text, at + 3..at + 9).collect();
        assert_eq!(found, [(at, "https://a.example/x")]);
        assert_eq!(places_around(&text, 0..80).count(), 0);
        assert_eq!(places_around("é", 0..2).count(), 0);
    }

    #[test]
    fn files_that_are_named_with_a_line_are_found_below_the_directory_only() {
        let found = |text| {
            let all = files_around(text, 0..text.len());
            all.into_iter().map(|at| (text[at.bytes].to_owned(), at.line)).collect::<Vec<_>>()
        };
        let text = "see (src/main.rs:12), Cargo.toml:3:7 and `a.rs:9`";
        let all = [("src/main.rs:12", 12), ("Cargo.toml:3", 3), ("a.rs:9", 9)];
        assert_eq!(found(text), all.map(|(place, line)| (place.to_owned(), line)));
        for none in
            ["../a.rs:1", "/etc/passwd.x:1", "a.rs:0", "a.rs: 1", "12:30", "1.5:2", "http://a.example:80/", "é:1", ":1"]
        {
            assert_eq!(found(none), [], "{none}");
        }
        assert_eq!(of_file("/home/a b", "src/é.rs", 7), "file:///home/a%20b/src/%C3%A9.rs#7");
    }

    #[test]
    fn only_what_is_read_in_one_way_has_a_host() {
        assert_eq!(host("https://login.example:8443/a@b"), Some("login.example:8443"));
        assert_eq!(host("http://127.0.0.1:8085"), Some("127.0.0.1:8085"));
        assert_eq!(host("http://[::1]:80/"), Some("[::1]:80"));
        for other in [
            "https://good.example@evil.example/",
            "https://g\u{43e}ogle.example/",
            "https://xn--ggle-0nda.example/",
            "https://good.example\\@evil.example/",
            "https://a\u{202e}.example",
            "https:///path",
            "https://google.com:80:evil.com/",
            "https://google.com:evil/",
            "https://google.com:/",
            "https://[::1/",
            "javascript:alert(1)",
            "file:///etc/passwd",
        ] {
            assert_eq!(host(other), None, "{other}");
        }
    }

    #[test]
    fn an_address_that_a_terminal_has_broken_is_whole_again() {
        let rows = ["go to https://a.exam", "ple/device?code=1234", "56", "then wait"].map(StyledText::from);
        assert_eq!(last(&unwrapped(&rows, 20)), Some("https://a.example/device?code=123456"));
    }
}
