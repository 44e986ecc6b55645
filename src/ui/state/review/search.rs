//! Finding text in the paths and lines of a review. Ignores case unless the query has a capital letter.

use super::index::Spot;
use crate::model::changes::ReviewDoc;
use std::borrow::Cow;
use std::ops::Range;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    text: Cow<'a, str>,
    exact: bool,
}

impl<'a> Query<'a> {
    /// `None` when there is nothing to look for.
    pub fn of(text: &'a str) -> Option<Self> {
        (!text.is_empty()).then(|| {
            let exact = text.chars().any(char::is_uppercase);
            Self { text: Cow::Borrowed(text), exact }
        })
    }

    /// The first place in `text` from byte `from` on.
    pub fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let rest = text.get(from..)?;
        if self.exact {
            let at = rest.find(&*self.text)?;
            return Some(from + at..from + at + self.text.len());
        }
        rest.char_indices().find_map(|(at, _)| {
            let len = matched(rest.get(at..)?, &self.text)?;
            Some(from + at..from + at + len)
        })
    }
}

/// How many bytes of `text` its beginning takes when it is `query` in any case.
fn matched(text: &str, query: &str) -> Option<usize> {
    let mut len = 0;
    let mut chars = text.chars();
    for wanted in query.chars() {
        let c = chars.next()?;
        if c != wanted && !c.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
        len += c.len_utf8();
    }
    Some(len)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Next,
    Previous,
}

/// The next place behind `from`, around the end if need be: the file and where in it. A path counts as the header of
/// the file's first hunk.
pub fn find(doc: &ReviewDoc, query: &Query<'_>, from: (usize, Spot), to: Direction) -> Option<(usize, Spot)> {
    let mut first = None;
    let mut last = None;
    let mut before = None;
    for place in places(doc, query) {
        if to == Direction::Next && place > from {
            return Some(place);
        }
        first = first.or(Some(place));
        if place < from {
            before = Some(place);
        }
        last = Some(place);
    }
    match to {
        Direction::Next => first,
        Direction::Previous => before.or(last),
    }
}

fn places<'a>(doc: &'a ReviewDoc, query: &'a Query<'a>) -> impl Iterator<Item = (usize, Spot)> + 'a {
    doc.files.iter().enumerate().flat_map(move |(n, file)| {
        let path = query.find(&file.path.to_string_lossy(), 0).map(|_| Spot::default());
        let lines = file.hunks.iter().enumerate().flat_map(move |(hunk, h)| {
            let lines = h.lines.iter().enumerate().filter(|(_, l)| query.find(&l.text, 0).is_some());
            lines.map(move |(line, _)| Spot { hunk, line: Some(line) })
        });
        path.into_iter().chain(lines).map(move |spot| (n, spot))
    })
}
