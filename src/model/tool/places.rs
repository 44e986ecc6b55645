//! The changes of a call: which it shows, and where in their files they belong.
//!
//! Reads no file. Invariant: a line is only told where a comparison or the call itself has found it.

use super::{Change, ToolCall, ToolContent};
use crate::model::changes::WritePreview;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The line of a file at which a piece of it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    path: String,
    old: Arc<str>,
    /// From 1.
    line: u32,
}

impl ToolCall {
    /// The changes that it shows; where it shows none, those that were answered.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        let has_own = self.content.iter().any(|content| content.change().is_some());
        let answered = self.answered.iter().filter(move |_| !has_own);
        self.content.iter().filter_map(ToolContent::change).chain(answered)
    }

    /// Takes note of where its changes belong; `previews` are in the order of [`ToolCall::texts`].
    pub fn learn(&mut self, previews: &[WritePreview]) {
        let known = self.texts().zip(previews).filter_map(|((path, old, new), preview)| {
            let old = old?;
            Some(Place { path: path.to_owned(), old: Arc::clone(old), line: place(old, new, preview)? })
        });
        self.places = known.collect();
    }

    /// Takes note of the lines at which its changes stand, in the order of [`ToolCall::texts`].
    pub fn place(&mut self, lines: &[Option<u32>]) {
        let place = |(path, old, line): (&str, Option<&Arc<str>>, u32)| {
            Some(Place { path: path.to_owned(), old: Arc::clone(old?), line })
        };
        let found = self.texts().zip(lines).filter_map(|((path, old, _), line)| place((path, old, (*line)?)));
        let found: Vec<Place> = found.collect();
        self.places.extend(found);
    }

    /// Whether it is not known where some of its changes stand.
    pub fn lacks_places(&self) -> bool {
        let is_text = |content: &ToolContent| content.change().is_some_and(|change| change.texts().is_some());
        self.content.iter().enumerate().any(|(at, content)| is_text(content) && self.line_of(at).is_none())
    }

    /// The line of its file, from 1, at which the texts of the change at this place of `content` begin; `None` when
    /// is unknown. One without an old text is a whole file.
    pub fn line_of(&self, at: usize) -> Option<u32> {
        let change = self.content.get(at)?.change()?;
        change.texts()?;
        let path = &change.path;
        if let Some(known) = self.known_line(change) {
            return Some(known);
        }
        let same = |c: &&ToolContent| c.change().is_some_and(|other| other.path == *path);
        let before = self.content.iter().take(at).filter(same).count();
        let lines = self.locations.iter().filter(|l| l.path == *path).filter_map(|l| l.line.filter(|n| *n > 0));
        // One place for several diffs, or several for one, says nothing about which.
        (lines.clone().count() == self.content.iter().filter(same).count()).then(|| lines.clone().nth(before))?
    }

    /// The same of any change, as far as it was found out.
    pub fn known_line(&self, change: &Change) -> Option<u32> {
        let Some(old) = change.texts()?.0.filter(|old| !old.is_empty()) else { return Some(1) };
        self.places.iter().find(|p| p.path == change.path && p.old == *old).map(|known| known.line)
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
