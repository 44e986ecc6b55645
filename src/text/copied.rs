//! Lines that are copied together, some of which may be of a diff.
//!
//! Invariant: a line of a diff is as it is in the file, unless some were removed and some added: then each of them has its
//! sign in front, as in a patch, since the text alone would not tell which is which.

use super::diff::Kind;

#[derive(Default)]
pub struct Copied {
    text: String,
    has_some: bool,
    /// Where lines of a diff begin.
    of_diff: Vec<(usize, Kind)>,
}

impl Copied {
    /// One line more; `between` stands before it where it is not the first one.
    pub fn push(&mut self, between: &str, line: &str, of_diff: Option<Kind>) {
        if std::mem::replace(&mut self.has_some, true) {
            self.text.push_str(between);
        }
        self.of_diff.extend(of_diff.map(|kind| (self.text.len(), kind)));
        self.text.push_str(line);
    }

    /// Bytes, without signs.
    pub const fn bytes(&self) -> usize {
        self.text.len()
    }

    pub fn text(self) -> String {
        let has = |kind| self.of_diff.iter().any(|(_, of)| *of == kind);
        if !(has(Kind::Add) && has(Kind::Del)) {
            return self.text;
        }
        let mut out = String::with_capacity(self.text.len() + self.of_diff.len());
        let mut from = 0;
        for (at, kind) in self.of_diff {
            out.push_str(self.text.get(from..at).unwrap_or_default());
            out.push(kind.sign());
            from = at;
        }
        out.push_str(self.text.get(from..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_signs_only_where_some_were_removed_and_some_added() {
        let of = |lines: &[(&str, Option<Kind>)]| {
            let mut copied = Copied::default();
            for (line, kind) in lines {
                copied.push("\n", line, *kind);
            }
            copied.text()
        };
        let (same, gone, new) = (("same", Some(Kind::Context)), ("gone", Some(Kind::Del)), ("new", Some(Kind::Add)));
        assert_eq!(of(&[same, new, new]), "same\nnew\nnew");
        assert_eq!(of(&[same, gone]), "same\ngone");
        assert_eq!(of(&[("Edited:", None), same, gone, new, ("", None)]), "Edited:\n same\n-gone\n+new\n");
        assert_eq!(of(&[]), "");
    }
}
