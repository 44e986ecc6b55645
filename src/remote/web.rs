//! An address on the web.
//!
//! Invariants: without encryption only this machine is reached (S-075, S-099); an address holds no secret, since it is shown
//! and kept in journals.

use std::fmt;
use std::net::IpAddr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    pub is_secure: bool,
    /// It was written as a WebSocket, and is nothing else.
    pub is_socket: bool,
    pub host: String,
    pub port: u16,
    /// What is asked for there.
    pub path: String,
}

impl Web {
    pub fn read(text: &str) -> Result<Self, String> {
        let uri: http::Uri = text.parse().map_err(|error| format!("`{text}` is no address: {error}"))?;
        let is_secure = matches!(uri.scheme_str(), Some("wss" | "https"));
        let is_socket = matches!(uri.scheme_str(), Some("wss" | "ws"));
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            let why = "an address is shown and kept in journals; put the name and password of it into a header";
            return Err(why.to_owned());
        }
        let host = uri.host().map(|host| host.trim_start_matches('[').trim_end_matches(']')).unwrap_or_default();
        if host.is_empty() {
            return Err(format!("`{text}` names no host"));
        }
        if !is_secure && !is_here(host) {
            let secure = if is_socket { "wss:" } else { "https:" };
            return Err(format!("`{text}`: without encryption only this machine is reached; use {secure}"));
        }
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self { is_secure, is_socket, host: host.to_owned(), port, path: path.to_owned() })
    }

    /// The same place, as a WebSocket is asked for there.
    pub fn socket(&self) -> Self {
        Self { is_socket: true, ..self.clone() }
    }

    /// What is asked for where a server of this place sends on to: nothing where that is another place.
    pub fn path_of(&self, location: &str) -> Option<String> {
        if location.starts_with('/') && !location.starts_with("//") {
            return Some(location.to_owned());
        }
        let there = Self::read(location).ok()?;
        let is_same = (there.is_secure, &there.host, there.port) == (self.is_secure, &self.host, self.port);
        is_same.then_some(there.path)
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
        let scheme = match (self.is_socket, self.is_secure) {
            (true, true) => "wss",
            (true, false) => "ws",
            (false, true) => "https",
            (false, false) => "http",
        };
        write!(f, "{scheme}://{}{}", self.authority(), self.path)
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
            ("http://127.0.0.7", "http://127.0.0.7/"),
            ("ws://[::1]:9/a?b=c", "ws://[::1]:9/a?b=c"),
            ("wss://example.com:443/acp", "wss://example.com/acp"),
            ("https://example.com:8443", "https://example.com:8443/"),
        ] {
            assert_eq!(Web::read(text).map(|web| web.to_string()).as_deref(), Ok(shown));
        }
        for (text, why) in [
            ("ws://example.com/acp", "use wss:"),
            ("http://localhost.example.com", "use https:"),
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

    #[test]
    fn s_076_only_the_same_place_is_gone_on_to() {
        let web = Web::read("https://example.com/acp").unwrap();
        assert_eq!(web.socket().to_string(), "wss://example.com/acp");
        for (location, path) in [
            ("/acp/?a", Some("/acp/?a")),
            ("https://example.com:443/x", Some("/x")),
            ("//other.example/x", None),
            ("https://other.example/x", None),
            ("http://example.com/x", None),
            ("https://example.com:444/x", None),
            ("acp/", None),
            ("", None),
        ] {
            assert_eq!(web.path_of(location).as_deref(), path, "{location}");
        }
    }
}
