//! Cookies of one endpoint, for the life of a connection (S-085).
//!
//! Invariants: what is kept is bounded; values are shown nowhere.

use http::{HeaderMap, HeaderValue, header};
use std::collections::BTreeMap;

const MAX_COOKIES: usize = 50;
const MAX_BYTES: usize = 4096;

#[derive(Default)]
pub(super) struct Cookies(BTreeMap<String, String>);

impl Cookies {
    /// Takes what the server sets.
    pub fn take(&mut self, headers: &HeaderMap) {
        for value in headers.get_all(header::SET_COOKIE) {
            let Ok(text) = value.to_str() else { continue };
            let mut parts = text.split(';').map(str::trim);
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
            let is_over = parts.any(|attribute| {
                let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
                name.eq_ignore_ascii_case("max-age") && value.parse().is_ok_and(|seconds: i64| seconds <= 0)
            });
            if is_over {
                self.0.remove(name);
            } else if name.len() + value.len() <= MAX_BYTES && (self.0.len() < MAX_COOKIES || self.0.contains_key(name))
            {
                self.0.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// What is sent with each request.
    pub fn header(&self) -> Option<HeaderValue> {
        let all: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut header = HeaderValue::from_str(&all.join("; ")).ok().filter(|_| !all.is_empty())?;
        header.set_sensitive(true);
        Some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_085_cookies_are_given_back_until_the_server_takes_them_away() {
        let mut cookies = Cookies::default();
        let mut set = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::SET_COOKIE, HeaderValue::from_static(value));
            }
            cookies.take(&headers);
            cookies.header().map(|header| header.to_str().unwrap().to_owned())
        };
        assert_eq!(set(&[]), None);
        assert_eq!(set(&["b=2; Path=/; HttpOnly", "a=1==; Max-Age=60", "none"]).as_deref(), Some("a=1==; b=2"));
        assert_eq!(set(&["a=; max-age=0", "b=3"]).as_deref(), Some("b=3"));
        for n in 0..1000 {
            let header = HeaderValue::from_str(&format!("n{n}={}", "x".repeat(n * 10))).unwrap();
            cookies.take(&HeaderMap::from_iter([(header::SET_COOKIE, header)]));
        }
        assert_eq!(cookies.0.len(), MAX_COOKIES);
    }
}
