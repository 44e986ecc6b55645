//! Where in their files the changes of a call belong.
//!
//! Reads no file. Invariant: a line is only told where a comparison has found it.

use super::Change;
use crate::model::changes::WritePreview;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The line of a file at which a piece of it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    path: String,
    old: Arc<str>,
    /// From 1.
    line: u32,
}

/// What was found out, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Places(Vec<Place>);

impl Places {
    /// Where these texts of changes belong, each of which has its preview.
    pub(super) fn of_previews<'a>(
        texts: impl Iterator<Item = (&'a str, Option<&'a Arc<str>>, &'a Arc<str>)>,
        previews: &[WritePreview],
    ) -> Self {
        let known = texts.zip(previews).filter_map(|((path, old, new), preview)| {
            let old = old?;
            Some(Place { path: path.to_owned(), old: Arc::clone(old), line: place(old, new, preview)? })
        });
        Self(known.collect())
    }

    /// Where these belong, each of which has the line that was found.
    pub(super) fn of_lines<'a>(
        texts: impl Iterator<Item = (&'a str, Option<&'a Arc<str>>, &'a Arc<str>)>,
        lines: &[Option<u32>],
    ) -> Self {
        let known = texts.zip(lines).filter_map(|((path, old, _), line)| {
            Some(Place { path: path.to_owned(), old: Arc::clone(old?), line: (*line)? })
        });
        Self(known.collect())
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// The line of its file at which a change begins, as far as it was found out. One without an old text is a whole file.
    pub(super) fn line_of(&self, change: &Change) -> Option<u32> {
        let Some(old) = change.texts()?.0.filter(|old| !old.is_empty()) else { return Some(1) };
        self.0.iter().find(|p| p.path == change.path && p.old == *old).map(|known| known.line)
    }
}

/// Where `old` begins in the file of which `preview` knows the whole text.
fn place(old: &str, new: &str, preview: &WritePreview) -> Option<u32> {
    let file = preview.old.as_deref()?;
    if preview.differs.is_some() && file == old {
        // Nothing but what the agent says.
        return None;
    }
    let same = |a: &str, b: &str| a.lines().zip(b.lines()).take_while(|(a, b)| a == b).count();
    let first = same(file, &preview.new).checked_sub(same(old, new))?;
    let mut there = file.lines().skip(first);
    let fits = old.lines().all(|line| there.next().is_some_and(|have| have.contains(line)));
    fits.then(|| u32::try_from(first + 1).ok())?
}
