//! Where a registry or an archive is: a file, or an address.
//!
//! Opens nothing. Invariant: without encryption there is only what is on this machine.

use crate::base::paths::{file_uri, from_file_uri, visible};
use crate::registry::PUBLIC;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    File(PathBuf),
    /// An `https:` address.
    Https(String),
    /// An `http:` address of this machine, for mirrors and tests.
    Loopback(String),
}

impl Place {
    /// What `--registry` names.
    pub fn of_registry(text: &str) -> Result<Self, String> {
        match text {
            "public" => Ok(Self::Https(PUBLIC.into())),
            _ if text.contains("://") || text.starts_with("file:") => Self::of_address(text),
            "" => Err("the registry's name is empty".into()),
            path => match std::path::absolute(path) {
                Ok(path) => Ok(Self::File(path)),
                Err(error) => Err(format!("{}: {error}", visible(Path::new(path).as_os_str()))),
            },
        }
    }

    pub fn of_address(address: &str) -> Result<Self, String> {
        let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain {
            return Err(format!("{address}: an address has no blanks and no letters beyond ASCII"));
        }
        if address.starts_with("file:") {
            let file = from_file_uri(address).ok_or_else(|| format!("{address}: this names no file"))?;
            return Ok(Self::File(file));
        }
        if address.strip_prefix("https://").is_some_and(|rest| !rest.is_empty()) {
            return Ok(Self::Https(address.to_owned()));
        }
        let Some(rest) = address.strip_prefix("http://") else {
            return Err(format!("{address}: only files, https: addresses and http: ones of this machine are read"));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if is_loopback(authority) {
            return Ok(Self::Loopback(address.to_owned()));
        }
        Err(format!("{address}: without encryption only this machine is read (http://localhost); use https"))
    }

    /// As an address.
    pub fn address(&self) -> String {
        match self {
            Self::File(path) => file_uri(path),
            Self::Https(address) | Self::Loopback(address) => address.clone(),
        }
    }

    /// Whether a registry there may name an archive here: one of the net may not name what is on this machine.
    pub fn may_name(&self, archive: &Self) -> bool {
        matches!(archive, Self::Https(_)) || !matches!(self, Self::Https(_))
    }
}

fn is_loopback(authority: &str) -> bool {
    let bare = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    let host = bare.unwrap_or_default();
    // What stands before an `@` is no host.
    !authority.contains('@') && (host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_encryption_only_this_machine_is_read() {
        for address in ["http://localhost/r.json", "http://127.0.0.1:80/r.json", "http://[::1]:80/r"] {
            assert_eq!(Place::of_address(address), Ok(Place::Loopback(address.into())));
        }
        for address in [
            "http://example.org/r.json",
            "http://127.0.0.1@example.org/",
            "http://localhost.example.org/",
            "http://127.0.0.1.example.org/",
            "http://localhost\\.example.org/",
            "http:///r",
            "ftp://localhost/r",
            "https://",
            "https://x/a b",
            "file://other/r",
        ] {
            assert!(Place::of_address(address).is_err(), "{address}");
        }
        assert_eq!(Place::of_registry("public"), Ok(Place::Https(PUBLIC.into())));
        assert_eq!(Place::of_registry("file:///a/b"), Ok(Place::File("/a/b".into())));
        assert_eq!(Place::of_registry("/a/b"), Ok(Place::File("/a/b".into())));
    }

    #[test]
    fn a_registry_of_the_net_names_nothing_of_this_machine() {
        let [net, here, file] =
            ["https://x/r", "http://localhost/r", "file:///r"].map(|a| Place::of_address(a).unwrap());
        assert!(net.may_name(&net) && !net.may_name(&here) && !net.may_name(&file));
        assert!(file.may_name(&net) && file.may_name(&file) && here.may_name(&here));
    }
}
