//! Headers that go along with each request to an address.
//!
//! Invariant: a value is shown nowhere; it may be a secret (S-076).

use std::fmt;

/// Shorter values are words of everyone, and are not looked for in what a server says.
const MIN_HIDDEN: usize = 4;
/// Those that the connection itself makes.
const OWN: [&str; 8] = [
    "host",
    "connection",
    "upgrade",
    "content-length",
    "content-type",
    "transfer-encoding",
    "acp-connection-id",
    "acp-session-id",
];

#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    pub name: String,
    pub value: String,
}

impl Header {
    /// From `NAME: VALUE`.
    pub fn typed(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').ok_or("a header is written as 'NAME: VALUE'")?;
        Self::new(name, value)
    }

    pub fn new(name: &str, value: &str) -> Result<Self, String> {
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!("{name:?} cannot be the name of a header"));
        }
        if OWN.contains(&name.as_str()) || name.starts_with("sec-websocket-") {
            return Err(format!("the header {name} is the connection's own"));
        }
        if !value.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f)) {
            return Err(format!("the value of the header {name} has characters that no header has"));
        }
        Ok(Self { name, value: value.to_owned() })
    }
}

impl Header {
    /// What is not to be shown, whoever says it: the value, and what stands in it behind the way to log in.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let words = ["auth", "cookie", "token", "key", "secret", "password"];
        let is_secret = words.iter().any(|word| self.name.contains(word));
        let last = self.value.rsplit(' ').next();
        std::iter::once(self.value.as_str()).chain(last).filter(move |_| is_secret)
    }

    /// What of it is not shown when the server sends it back.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        let last = self.value.rsplit(' ').next();
        std::iter::once(self.value.as_str()).chain(last).filter(|value| value.len() >= MIN_HIDDEN)
    }
}

#[cfg(feature = "remote")]
impl Header {
    /// As it is sent.
    pub(super) fn fields(&self) -> Result<(http::HeaderName, http::HeaderValue), String> {
        let name = http::HeaderName::try_from(&self.name).map_err(|error| error.to_string())?;
        let mut value =
            http::HeaderValue::try_from(&self.value).map_err(|_| format!("the value of {name} is none of a header"))?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: …", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_076_a_value_is_never_shown() {
        let header = Header::typed("Authorization:  Bearer top secret ").unwrap();
        assert_eq!((header.name.as_str(), header.value.as_str()), ("authorization", "Bearer top secret"));
        assert_eq!(format!("{header:?}"), "authorization: …");
        assert_eq!(header.secrets().collect::<Vec<_>>(), ["Bearer top secret", "secret"]);
        assert_eq!(Header::typed("X-Project: shop").unwrap().secrets().count(), 0);
        for (text, why) in [
            ("no colon top-secret", "is written as"),
            (": top-secret", "cannot be the name"),
            ("a b: top-secret", "cannot be the name"),
            ("Host: top-secret", "the connection's own"),
            ("Sec-WebSocket-Key: top-secret", "the connection's own"),
            ("a: top-secret\r\nb: c", "that no header has"),
        ] {
            let said = Header::typed(text).unwrap_err();
            assert!(said.contains(why) && !said.contains("secret"), "{text}: {said}");
        }
    }
}
