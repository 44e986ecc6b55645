//! Addresses as people write them.
//!
//! Looks nothing up. Invariant: what cannot be used is refused with what can.

use std::path::{Path, PathBuf};

const SCHEMES: [&str; 5] = ["unix:", "http:", "https:", "ws:", "wss:"];

/// Where an agent is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system, absolute.
    Unix(PathBuf),
    #[cfg(feature = "remote")]
    Web(super::web::Web),
}

impl Address {
    /// Whether a text is meant as an address, and not as a program.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)))
    }

    /// The address that a person means who types it in this directory.
    pub fn typed(text: &str, here: &Path) -> String {
        match socket(text) {
            Some(path) if !path.is_empty() => format!("unix:{}", here.join(path).display()),
            _ => text.to_owned(),
        }
    }

    pub fn read(text: &str) -> Result<Self, String> {
        let Some(path) = socket(text) else {
            if !Self::is_one(text) {
                return Err(format!("`{text}` is no address of an agent; one is unix:PATH or https://HOST/PATH"));
            }
            #[cfg(feature = "remote")]
            return super::web::Web::read(text).map(Self::Web);
            #[cfg(not(feature = "remote"))]
            return Err("this acp-tui was built without `remote`; it reaches agents at unix:PATH only".to_owned());
        };
        if !path.starts_with('/') {
            return Err(format!("`{text}`: the path of the socket has to be absolute, as in unix:/run/agent.sock"));
        }
        Ok(Self::Unix(path.into()))
    }
}

/// The path of a socket, with or without an empty host before it.
fn socket(text: &str) -> Option<&str> {
    let scheme = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("unix:"))?;
    let path = &text[scheme.len()..];
    let slashes = path.bytes().take_while(|byte| *byte == b'/').count();
    Some(if slashes > 2 { &path[slashes - 1..] } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_named_by_its_path() {
        let here = Path::new("/home/me");
        for (typed, full) in [
            ("unix:/run/a.sock", "unix:/run/a.sock"),
            ("unix:a b.sock", "unix:/home/me/a b.sock"),
            ("unix:///////run/a.sock", "unix:/run/a.sock"),
            ("UNIX:///run/a.sock", "unix:/run/a.sock"),
            ("https://example.com/acp", "https://example.com/acp"),
        ] {
            assert_eq!(Address::typed(typed, here), full);
            assert!(Address::is_one(typed));
        }
        assert_eq!(Address::read("unix:/run/a.sock"), Ok(Address::Unix("/run/a.sock".into())));
        for program in ["gemini", "./unix", "", "u", "unix", "/bin/wss"] {
            assert!(!Address::is_one(program), "{program}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_what_can() {
        for (text, why) in [
            ("unix:", "has to be absolute"),
            ("unix:a.sock", "has to be absolute"),
            ("tcp:1", "is no address of an agent; one is unix:PATH or https://"),
            ("", "is no address"),
        ] {
            let said = Address::read(&Address::typed(text, Path::new("rel"))).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
