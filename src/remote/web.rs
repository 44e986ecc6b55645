//! An address on the web.
//!
//! Invariants: without encryption only this machine is reached (S-075, S-099); an address holds no secret, since it is shown
//! and kept in journals.

use std::fmt;
use std::net::IpAddr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    pub is_secure: bool,
    pub host: String,
    pub port: u16,
    /// What is asked for there.
    pub path: String,
}

impl Web {
    pub fn read(text: &str) -> Result<Self, String> {
        let uri: http::Uri = text.parse().map_err(|error| format!("`{text}` is no address: {error}"))?;
        let is_secure = matches!(uri.scheme_str(), Some("wss" | "https"));
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            let why = "an address is shown and kept in journals; put the name and password of it into a header";
            return Err(why.to_owned());
        }
        let host = uri.host().map(|host| host.trim_start_matches('[').trim_end_matches(']')).unwrap_or_default();
        if host.is_empty() {
            return Err(format!("`{text}` names no host"));
        }
        if !is_secure && !is_here(host) {
            return Err(format!("`{text}`: without encryption only this machine is reached; use wss:"));
        }
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self { is_secure, host: host.to_owned(), port, path: path.to_owned() })
    }

    /// With its port where that is not the usual one.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let usual = if self.is_secure { 443 } else { 80 };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", if self.is_secure { "wss" } else { "ws" }, self.authority(), self.path)
    }
}

/// A name or number of this machine.
fn is_here(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_099_without_encryption_only_this_machine_is_reached() {
        for (text, shown) in [
            ("ws://localhost:8080/acp", "ws://localhost:8080/acp"),
            ("http://127.0.0.7", "ws://127.0.0.7/"),
            ("ws://[::1]:9/a?b=c", "ws://[::1]:9/a?b=c"),
            ("wss://example.com:443/acp", "wss://example.com/acp"),
            ("https://example.com:8443", "wss://example.com:8443/"),
        ] {
            assert_eq!(Web::read(text).map(|web| web.to_string()).as_deref(), Ok(shown));
        }
        for (text, why) in [
            ("ws://example.com/acp", "use wss:"),
            ("http://localhost.example.com", "use wss:"),
            ("ws://127.0.0.1.example.com", "use wss:"),
            ("ws://[::2]/", "use wss:"),
            ("wss://me:secret@example.com/", "into a header"),
            ("wss:///acp", "`wss:///acp`"),
            ("wss:acp", "`wss:acp`"),
            ("wss://a b/", "is no address"),
        ] {
            let said = Web::read(text).unwrap_err();
            assert!(said.contains(why) && !said.contains("secret"), "{text}: {said}");
        }
    }
}
