//! Characters that are written as `%` and two digits, as addresses have them (RFC 3986, 2.1).
//!
//! Knows no addresses and no paths. Invariant: what is no such sign stays as it is.

/// The text with what they stand for, once; nothing where none stands in it.
pub fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let value = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    let (mut made, mut at, mut has_sign) = (Vec::with_capacity(bytes.len()), 0, false);
    while let Some(byte) = bytes.get(at) {
        match (byte, value(at + 1), value(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                made.push(u8::try_from(high * 16 + low).unwrap_or_default());
                (at, has_sign) = (at + 3, true);
            }
            _ => {
                made.push(*byte);
                at += 1;
            }
        }
    }
    has_sign.then(|| String::from_utf8_lossy(&made).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_percent_with_two_digits_is_a_sign() {
        for (text, is) in [("a%2Fb", Some("a/b")), ("%2e%C3%A4", Some(".ä")), ("%", None), ("%+f", None), ("%2", None)]
        {
            assert_eq!(decoded(text).as_deref(), is, "{text}");
        }
        assert_eq!(decoded("%252F").as_deref(), Some("%2F"), "once");
    }
}
