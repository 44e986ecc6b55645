//! Text level help for JSON from untrusted peers: decoding bytes, mending what strict parsers refuse, cutting text at
//! character boundaries, and picking members of an object without building a tree.
//!
//! Deliberately no value type of its own. Invariant: nothing here recurses on the depth of the input, and a line is
//! never held more than twice at the same time.

use std::borrow::Cow;

use memchr::memchr;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Above this size a line that is not UTF-8 is mended in place, because U+FFFD could triple it.
const LOSSY_MAX: usize = 1 << 20;

/// What strict parsers refuse in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Bytes that are no UTF-8 (R-053).
    Bytes,
    /// Escapes of half a surrogate pair: agents cut strings in the middle of an emoji.
    Surrogates,
}

/// The line as text. Bytes that are no UTF-8 become U+FFFD; halves of surrogate pairs are only told of.
pub fn decode(line: Cow<'_, [u8]>) -> (Cow<'_, str>, Option<Damage>) {
    let (text, bytes) = match line {
        Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => (Cow::Borrowed(text), None),
            Err(_) => (Cow::Owned(lossy(bytes.to_vec())), Some(Damage::Bytes)),
        },
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => (Cow::Owned(text), None),
            Err(error) => (Cow::Owned(lossy(error.into_bytes())), Some(Damage::Bytes)),
        },
    };
    let damage = bytes.or_else(|| next_lone_surrogate(text.as_bytes(), 0).map(|_| Damage::Surrogates));
    (text, damage)
}

fn lossy(mut bytes: Vec<u8>) -> String {
    if bytes.len() <= LOSSY_MAX {
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut from = 0;
    while let Err(error) = std::str::from_utf8(bytes.get(from..).unwrap_or_default()) {
        let bad = from + error.valid_up_to();
        let len = error.error_len().unwrap_or(bytes.len() - bad);
        for byte in bytes.iter_mut().skip(bad).take(len) {
            *byte = b'?';
        }
        from = bad + len;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// With `\ufffd` for each half of a surrogate pair: a strict parser would lose the whole frame.
pub fn mend_surrogates(text: String) -> String {
    let mut bytes = text.into_bytes();
    let mut next = next_lone_surrogate(&bytes, 0);
    while let Some(at) = next {
        for (byte, new) in bytes.iter_mut().skip(at + 2).zip(b"fffd") {
            *byte = *new;
        }
        next = next_lone_surrogate(&bytes, at + 6);
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Where the next `\uD8xx` without its other half begins, at or after `from`.
fn next_lone_surrogate(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr(b'\\', bytes.get(at..)?)?;
        let Some(unit) = escaped_unit(bytes, at) else {
            at += 2;
            continue;
        };
        match unit {
            0xD800..=0xDBFF => match escaped_unit(bytes, at + 6) {
                Some(0xDC00..=0xDFFF) => at += 12,
                _ => return Some(at),
            },
            0xDC00..=0xDFFF => return Some(at),
            _ => at += 6,
        }
    }
}

/// The number of a `\uXXXX` escape that begins at `at`.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let hex = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !hex.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
}

/// Without the blanks, carriage returns and byte order marks around it.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{feff}')
}

/// The first `max` bytes, cut at a character boundary.
pub fn clip(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

/// The named members of an object, as raw text. Other members are skipped (R-017), of duplicates the last one counts.
pub fn members<'a, const N: usize>(
    text: &'a str,
    names: [&str; N],
) -> Result<[Option<&'a RawValue>; N], serde_json::Error> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let found = parser.deserialize_map(Members(&names))?;
    parser.end()?;
    Ok(found)
}

struct Members<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Members<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(index) = map.next_key_seed(Name(self.0))? {
            match index.and_then(|i| found.get_mut(i)) {
                Some(slot) => *slot = Some(map.next_value::<&RawValue>()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

struct Name<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> serde::de::DeserializeSeed<'de> for Name<'_, N> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<const N: usize> Visitor<'_> for Name<'_, N> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        let mended = |s: &str| mend_surrogates(s.to_owned());
        assert_eq!(mended(r#""a\ud83db""#), r#""a\ufffdb""#);
        assert_eq!(mended(r#""\ud83d\ude00""#), r#""\ud83d\ude00""#);
        assert_eq!(mended(r#""\ude00\ud83d""#), r#""\ufffd\ufffd""#);
        assert_eq!(mended(r#""\\ud83d""#), r#""\\ud83d""#);
        assert_eq!(mended(r#""\ud83d\ud83d\ude00""#), r#""\ufffd\ud83d\ude00""#);
        assert_eq!(mended(r#""\ud83"#), r#""\ud83"#);
    }

    #[test]
    fn damage_is_told_of_and_nothing_else() {
        let told = |line: &[u8]| decode(Cow::Borrowed(line)).1;
        assert_eq!(told(br#""a\ud83d\ude00 \\ud83d \u00e9""#), None);
        assert_eq!(told("\"\u{e9}\u{1f600}\"".as_bytes()), None);
        assert_eq!(told(br#""\ud83d""#), Some(Damage::Surrogates));
        assert_eq!(told(b"\"\xff \\ud83d\""), Some(Damage::Bytes));
    }

    #[test]
    fn r_053_a_large_line_that_is_not_utf_8_does_not_grow() {
        let mut bytes = vec![b'x'; LOSSY_MAX];
        bytes.extend([0xff, 0xfe, b'a', 0xe2, 0x82]);
        let len = bytes.len();
        let (text, damage) = decode(Cow::Owned(bytes));
        assert_eq!((text.len(), damage), (len, Some(Damage::Bytes)));
        assert!(text.ends_with("??a??"));
    }

    #[test]
    fn the_last_of_duplicate_members_counts() {
        let [a, b] = members(r#"{"a":1,"x":{"a":3},"\u0061":2}"#, ["a", "b"]).unwrap();
        assert_eq!(a.map(RawValue::get), Some("2"));
        assert!(b.is_none());
        assert!(members("[1]", ["a"]).is_err());
        assert!(members(r#"{"a":1} x"#, ["a"]).is_err());
    }
}
