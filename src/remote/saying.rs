//! What a server says in place of an agent, in words for a person.
//!
//! Invariants: what is shown of it is short, has no control characters, and none of the values of our headers, which a server
//! may send back (S-076).

use super::Lost;
use super::header::Header;
use super::web::Web;
use http::{HeaderMap, header};
use std::io;
use std::time::Duration;

/// Characters of what a server says that are shown.
const SHOWN: usize = 200;
/// Stands for what is left out.
const MASK: &str = "…";

/// Why an address is not reached in one way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub lost: Lost,
    /// What the server has answered, if it has.
    pub status: Option<u16>,
    /// Another way may be the right one.
    pub is_unsuited: bool,
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self { lost: why.into(), status: None, is_unsuited: false }
    }
}

impl Failure {
    /// There is something else than what was looked for.
    pub fn unsuited(why: String) -> Self {
        Self { is_unsuited: true, ..Self::from(why) }
    }
}

/// Makes words of what a server says.
#[derive(Debug)]
pub(super) struct Speech {
    /// The host that is spoken to, with its port.
    pub place: String,
    /// The longest first: one may be a part of another.
    hidden: Vec<String>,
}

impl Speech {
    pub fn new(web: &Web, headers: &[Header]) -> Self {
        let mut hidden: Vec<String> = headers.iter().flat_map(Header::hidden).map(str::to_owned).collect();
        hidden.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { place: web.authority(), hidden }
    }

    pub fn shown(&self, text: &str) -> String {
        let mut text: String = text.chars().filter(|c| !c.is_control()).collect();
        for value in &self.hidden {
            text = text.replace(value, MASK);
        }
        text.chars().take(SHOWN).collect()
    }

    /// An answer that is not the one that was asked for; `what` it does not do.
    pub fn refused(&self, what: &str, status: u16, headers: &HeaderMap, body: &[u8]) -> Failure {
        let header = |name| {
            let value = headers.get(name)?;
            Some(self.shown(&String::from_utf8_lossy(value.as_bytes())))
        };
        let mut retry_after = None;
        let why = match status {
            300..=399 => {
                let place = header(header::LOCATION).unwrap_or_else(|| "nowhere".to_owned());
                let place_of_us = &self.place;
                format!("{place_of_us} sends on to {place}; no redirect is followed, name that address if you trust it")
            }
            401 | 403 => format!(
                "it wants to know who you are ({status}): give --header 'Authorization: …', or headers in the configuration"
            ),
            404 => "there is nothing at this path (404)".to_owned(),
            408 | 504 => format!("no answer came in time ({status})"),
            409 => "another stream of this connection is open (409)".to_owned(),
            413 => "the message is too long for it (413)".to_owned(),
            429 => {
                let after = header(header::RETRY_AFTER);
                retry_after = after.as_ref().and_then(|after| after.trim().parse().ok()).map(Duration::from_secs);
                match after {
                    Some(after) if retry_after.is_some() => {
                        format!("it is asked too often (429), again after {after} s")
                    }
                    Some(after) => format!("it is asked too often (429), again after {after}"),
                    None => "it is asked too often (429)".to_owned(),
                }
            }
            501 => format!("{what} (501)"),
            500..=599 => format!("the server has a fault ({status})"),
            _ => {
                let body = self.shown(&String::from_utf8_lossy(body));
                format!("{what} ({status}) {body}").trim_end().to_owned()
            }
        };
        let is_unsuited = matches!(status, 200..=299 | 400 | 404..=406 | 410 | 415 | 426 | 501 | 505);
        Failure { lost: Lost { why, retry_after }, status: Some(status), is_unsuited }
    }
}

pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "no program listens there; is the agent running?".to_owned(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => {
            "the connection to the agent broke".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_076_what_a_server_sends_back_of_our_headers_is_not_shown() {
        let web = Web::read("https://example.com/acp").unwrap();
        let headers = ["Authorization: Bearer sk-123", "X-Project: shop-1", "X-Version: 1", "Cookie: a"];
        let headers = headers.map(|header| Header::typed(header).unwrap());
        let speech = Speech::new(&web, &headers);
        assert_eq!(speech.shown("1. got \u{1b}Bearer sk\u{0}-123, sk-123 of shop-1"), "1. got …, … of …");
        let mut answer = HeaderMap::new();
        answer.insert(header::LOCATION, "https://other.example/?t=sk-123".parse().unwrap());
        let failure = speech.refused("it does not", 302, &answer, b"");
        assert_eq!(
            failure.lost.why,
            "example.com sends on to https://other.example/?t=…; no redirect is followed, name that address if you trust it"
        );
        let failure = speech.refused("it does not", 418, &HeaderMap::new(), "é Bearer sk-123".repeat(99).as_bytes());
        assert!(failure.lost.why.starts_with("it does not (418) é …é …") && failure.lost.why.len() < 500);
    }

    #[test]
    fn s_074_s_087_s_146_every_status_is_told_in_words() {
        let speech = Speech::new(&Web::read("https://example.com/acp").unwrap(), &[]);
        let mut headers = HeaderMap::new();
        let mut say = |status, after: Option<&'static str>| {
            headers.clear();
            headers.extend(after.map(|after| (header::RETRY_AFTER, after.parse().unwrap())));
            speech.refused("it does not take this", status, &headers, b" no\n").lost
        };
        for (status, words) in [
            (400, "it does not take this (400)  no"),
            (401, "it wants to know who you are (401)"),
            (403, "it wants to know who you are (403)"),
            (404, "there is nothing at this path (404)"),
            (408, "no answer came in time (408)"),
            (409, "another stream of this connection is open (409)"),
            (413, "the message is too long for it (413)"),
            (415, "it does not take this (415)  no"),
            (429, "it is asked too often (429)"),
            (501, "it does not take this (501)"),
            (503, "the server has a fault (503)"),
            (504, "no answer came in time (504)"),
        ] {
            let lost = say(status, None);
            assert!(lost.why.starts_with(words) && lost.retry_after.is_none(), "{lost:?}");
        }
        assert_eq!(say(429, Some("7")).retry_after, Some(Duration::from_secs(7)));
        assert_eq!(say(429, Some("7")).why, "it is asked too often (429), again after 7 s");
        for damaged in ["-7", "soon", "", "Wed, 21 Oct 2099 07:28:00 GMT"] {
            assert_eq!(say(429, Some(damaged)).retry_after, None);
        }
    }
}
