//! Text with `*` in it: any text, or none. Nothing else is special.
//!
//! Invariant: the time is bounded by the product of both lengths.

/// Text in which each `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glob {
    text: String,
    /// Bytes before the first `*`; all of it without one.
    literal: usize,
    /// Where what stands behind the last `*` begins; at the end without one.
    tail: usize,
}

impl Glob {
    pub(super) fn new(text: &str) -> Self {
        let tail = text.rfind('*').map_or(text.len(), |at| at + 1);
        Self { literal: text.find('*').unwrap_or(text.len()), tail, text: text.to_owned() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_literal(&self) -> bool {
        self.literal == self.text.len()
    }

    /// What it begins with for certain.
    pub(super) fn prefix(&self) -> &str {
        self.text.get(..self.literal).unwrap_or_default()
    }

    /// What it ends with for certain.
    fn suffix(&self) -> &str {
        self.text.get(self.tail..).unwrap_or_default()
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        if self.is_literal() {
            return self.text == text;
        }
        // Nearly all that does not match is told by its ends.
        text.ends_with(self.suffix())
            && text.starts_with(self.prefix())
            && matches(self.text.as_bytes(), text.as_bytes())
    }

    /// Whether some text that begins with `start` could match.
    pub(super) fn could_begin(&self, start: &str) -> bool {
        let prefix = self.prefix();
        if self.is_literal() {
            prefix.starts_with(start)
        } else {
            prefix.starts_with(start) || start.starts_with(prefix)
        }
    }
}

fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                // The last `*` takes one byte more.
                let Some((at, taken)) = star else { return false };
                p = at + 1;
                t = taken + 1;
                star = Some((at, taken + 1));
            }
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}
