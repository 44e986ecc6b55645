//! A text that several hold and that may be as long as a message: it stays in the room that it was made in.
//!
//! An `Arc<str>` is a copy of what it is made of, and for a moment a long text would be there twice. Invariant: of a long
//! `String` no copy is made; a short one takes no more than an `Arc<str>` does.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A shorter text is copied.
const LONG: usize = 64 << 10;

#[derive(Clone)]
pub struct SharedText(Held);

#[derive(Clone)]
enum Held {
    Short(Arc<str>),
    Long(Arc<String>),
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Held::Short(text) => text,
            Held::Long(text) => text,
        }
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> Self {
        Self(if text.len() < LONG { Held::Short(text.into()) } else { Held::Long(text.into()) })
    }
}

impl From<&str> for SharedText {
    fn from(text: &str) -> Self {
        Self(Held::Short(text.into()))
    }
}

impl From<Arc<str>> for SharedText {
    fn from(text: Arc<str>) -> Self {
        Self(Held::Short(text))
    }
}

impl From<&SharedText> for Arc<str> {
    /// A copy where it is long.
    fn from(text: &SharedText) -> Self {
        match &text.0 {
            Held::Short(text) => Self::clone(text),
            Held::Long(text) => text.as_str().into(),
        }
    }
}

impl AsRef<str> for SharedText {
    fn as_ref(&self) -> &str {
        self
    }
}

impl PartialEq for SharedText {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SharedText {}

impl PartialEq<str> for SharedText {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for SharedText {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_stays_where_it_is_and_all_are_equal_by_what_they_say() {
        for bytes in [0, 1, LONG - 1, LONG, LONG + 1] {
            let text = "x".repeat(bytes);
            let at = text.as_ptr();
            let shared = SharedText::from(text.clone());
            let held = SharedText::from(text);
            assert_eq!(held.as_ptr() == at, bytes >= LONG, "{bytes}");
            assert_eq!(held.clone().as_ptr(), held.as_ptr());
            assert_eq!((&shared, &*shared), (&held, &*"x".repeat(bytes)));
            assert_eq!(&*Arc::<str>::from(&held), &*held);
        }
    }
}
