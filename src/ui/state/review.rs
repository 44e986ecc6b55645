//! What the person is looking at and doing in the review.
//!
//! The document is the model's; here are the cursor, the folds, what is being written, and the rows. Invariants: the
//! cursor names a file and a hunk, not a row, so a later document leaves it where it was; rows are counted anew only
//! when the document, the file or a fold has changed, never for a frame.

pub mod bar;
pub mod grip;
pub mod index;
pub mod note;
pub mod patch;
pub mod search;

use crate::model::changes::{FileDoc, HunkDoc, HunkId, HunkState, ReviewDoc, Scope};
use crate::model::ids::Now;
use crate::text::diff::Kind;
use crate::text::token::Token;
use crate::ui::keys::Layer;
use bar::Bar;
use grip::Grip;
use index::{Item, Look, Rows, Spot, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Coloured pieces of a line: bytes and what they are.
pub type Spans = Vec<(Range<u32>, Token)>;
/// What is to be coloured: a file, a hunk of it, its lines.
pub type Uncoloured = (PathBuf, HunkId, Vec<(Kind, String)>);

/// A hunk with more lines stays plain.
const MAX_COLOURED: usize = 5000;

/// From this width on the review stands beside the conversation.
pub const BESIDE_FROM: u16 = 150;
/// From this width on files and hunks stand beside each other, and old beside new.
pub const BOTH_FROM: u16 = 100;

/// Which half has the cursor; on a narrow screen, which half is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pane {
    #[default]
    Files,
    Hunks,
}

/// Whether the review covers the conversation where there is room for both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    #[default]
    Beside,
    Whole,
}

/// Whether it is on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Presence {
    #[default]
    Here,
    /// The person looks at the tool call in the conversation and comes back.
    Away,
}

/// Whether the view keeps the cursor in sight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sight {
    #[default]
    Cursor,
    /// Scrolled away from it by the wheel.
    Free,
}

/// What a frame has measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Measured {
    /// First row shown.
    pub top: usize,
    pub files_top: usize,
    /// Rows shown.
    pub height: usize,
    pub files_height: usize,
    /// Columns of the whole review.
    pub columns: u16,
    /// Files and hunks are both shown.
    pub both: bool,
    /// The conversation is shown too.
    pub beside: bool,
}

/// How it is laid out on the screen.
#[derive(Debug, Default)]
pub struct Layout {
    pub presence: Presence,
    pub pane: Pane,
    pub extent: Extent,
    /// What the person wants; a narrow screen is written one below the other all the same.
    pub look: Look,
    /// Columns that lines are moved to the left.
    pub column: usize,
    pub sight: Sight,
    pub measured: Measured,
}

/// What the person is at: of the hunk its id too, so that a later document leaves the cursor where it was.
#[derive(Debug, Default)]
pub struct Cursor {
    path: PathBuf,
    hunk: Option<HunkId>,
    spot: Spot,
    /// The folder that has the cursor in the list of files.
    folder: Option<PathBuf>,
    file: Option<usize>,
    /// The line of the hunk where the choice of lines began.
    pub selection: Option<usize>,
}

#[derive(Debug, Default)]
struct Folds {
    hunks: BTreeSet<(PathBuf, HunkId)>,
    folders: BTreeSet<PathBuf>,
}

/// What is made of document, cursor and folds.
#[derive(Debug, Default)]
struct Derived {
    rows: Rows,
    tree: Tree,
    colours: BTreeMap<HunkId, Option<Vec<Spans>>>,
}

#[derive(Debug, Default)]
pub struct ReviewState {
    /// What was asked for last; what is shown says the document.
    pub scope: Scope,
    pub layout: Layout,
    pub cursor: Cursor,
    pub bar: Option<Bar>,
    pub query: String,
    /// What is selected with the mouse.
    pub grip: Grip,
    /// A line to write in was refused: letters until then were meant for it.
    pub deaf_until: Option<Now>,
    /// Decisions that are being taken back: the cursor goes to what waits again for them, unless it was moved meanwhile.
    pub undoing: u32,
    doc: Option<Arc<ReviewDoc>>,
    folds: Folds,
    derived: Derived,
}

impl ReviewState {
    /// Who has the keyboard while it has the focus.
    pub(super) fn layer(&self) -> Layer {
        match &self.bar {
            None => Layer::Review,
            Some(Bar::Edit(_)) => Layer::ReviewEdit,
            Some(Bar::Note(_) | Bar::Search(_) | Bar::Export(_)) => Layer::Line,
            Some(Bar::Confirm(_) | Bar::Rewind { .. }) => Layer::ReviewConfirm,
        }
    }

    pub fn new(scope: Scope) -> Self {
        Self { scope, layout: Layout { pane: Pane::Hunks, ..Layout::default() }, ..Self::default() }
    }

    pub fn doc(&self) -> Option<&Arc<ReviewDoc>> {
        self.doc.as_ref()
    }

    pub fn rows(&self) -> &Rows {
        &self.derived.rows
    }

    pub fn tree(&self) -> &Tree {
        &self.derived.tree
    }

    pub fn spot(&self) -> Spot {
        self.cursor.spot
    }

    /// The file that has the cursor, or had it.
    pub fn path(&self) -> &Path {
        &self.cursor.path
    }

    /// Goes to a file, or to it as soon as it is there.
    pub fn look_for(&mut self, path: PathBuf) {
        let at = self.doc.as_ref().and_then(|doc| doc.files.iter().position(|file| file.path == path));
        match at {
            Some(file) => self.go(file, Spot::default()),
            None => (self.cursor.path, self.cursor.hunk) = (path, None),
        }
    }

    /// Takes note of a newer document; the cursor stays with its hunk, else near it.
    pub fn sync(&mut self, doc: Option<&Arc<ReviewDoc>>) {
        let same = match (&self.doc, doc) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        if same {
            return;
        }
        let again =
            self.doc.as_ref().zip(doc).filter(|_| self.undoing > 0).and_then(|(old, new)| waits_again(old, new));
        self.doc = doc.cloned();
        self.grip.sync(doc.map(|doc| &**doc));
        let Some(doc) = doc else {
            self.cursor.file = None;
            self.derived.rows = Rows::default();
            self.derived.tree = Tree::default();
            return;
        };
        let known: BTreeSet<&PathBuf> = doc.files.iter().map(|f| &f.path).collect();
        self.folds.hunks.retain(|(path, _)| known.contains(path));
        let at = doc.files.iter().position(|f| f.path == self.cursor.path);
        // The one after it took its place.
        let near =
            || doc.files.iter().position(|f| f.path > self.cursor.path).unwrap_or(doc.files.len().saturating_sub(1));
        let first = || doc.files.iter().position(|f| f.pending() > 0).unwrap_or(0);
        let file = at.unwrap_or_else(|| if self.cursor.path.as_os_str().is_empty() { first() } else { near() });
        let spot = doc.files.get(file).map(|f| self.spot_in(f, at.is_some())).unwrap_or_default();
        let kept = at.is_some() && self.cursor.hunk.is_some() && self.cursor.hunk == hunk_id(doc, file, spot.hunk);
        if !kept {
            self.cursor.selection = None;
        }
        self.rebuild();
        match again {
            Some((file, hunk)) => {
                self.undoing -= 1;
                self.cursor.selection = None;
                self.go(file, Spot { hunk, line: None });
            }
            None => self.go(file, spot),
        }
    }

    /// The same hunk in a newer file, the one at its place, or the first that waits.
    fn spot_in(&self, file: &FileDoc, same_file: bool) -> Spot {
        let found = file.hunks.iter().position(|h| Some(h.id) == self.cursor.hunk).filter(|_| same_file);
        let Some(hunk) = found else {
            let waits = || file.hunks.iter().position(|h| h.state == HunkState::Pending).unwrap_or(0);
            let hunk = if same_file { self.cursor.spot.hunk.min(file.hunks.len().saturating_sub(1)) } else { waits() };
            return Spot { hunk, line: None };
        };
        let lines = file.hunks.get(hunk).map_or(0, |h| h.lines.len());
        Spot { hunk, line: self.cursor.spot.line.filter(|_| lines > 0).map(|l| l.min(lines - 1)) }
    }

    /// What a frame has found out; true when another frame is needed for it.
    pub fn measure(&mut self, measured: Measured) -> bool {
        let before = self.effective();
        self.layout.measured = measured;
        let changed = before != self.effective();
        if changed {
            self.recount();
        }
        changed
    }

    /// How the hunks are written now.
    pub fn effective(&self) -> Look {
        match self.layout.look {
            Look::Sides if self.cursor.selection.is_none() && self.layout.measured.columns >= BOTH_FROM => Look::Sides,
            _ => Look::Unified,
        }
    }

    /// Rows and tree anew.
    pub fn rebuild(&mut self) {
        self.derived.tree = self.doc.as_ref().map(|doc| Tree::of(doc, &self.folds.folders)).unwrap_or_default();
        self.recount();
    }

    /// Rows of the file anew.
    pub fn recount(&mut self) {
        let look = self.effective();
        let shown = self.doc.as_ref().and_then(|doc| doc.files.get(self.cursor.file?));
        self.derived.rows = shown.map(|f| Rows::of(f, look, &self.folds.hunks)).unwrap_or_default();
    }

    /// Goes to a place; the cursor is in sight then.
    pub fn go(&mut self, file: usize, spot: Spot) {
        let Some(doc) = self.doc.clone() else { return };
        let Some(shown) = doc.files.get(file) else {
            self.cursor.file = None;
            self.derived.rows = Rows::default();
            return;
        };
        let other = self.cursor.file != Some(file) || self.cursor.path != shown.path;
        if self.cursor.path != shown.path {
            self.derived.colours.clear();
            self.layout.column = 0;
        }
        self.cursor.path.clone_from(&shown.path);
        self.cursor.file = Some(file);
        if other || spot.hunk != self.cursor.spot.hunk {
            self.cursor.selection = None;
        }
        self.cursor.hunk = shown.hunks.get(spot.hunk).map(|h| h.id);
        self.cursor.spot = spot;
        self.cursor.folder = None;
        self.layout.sight = Sight::Cursor;
        self.recount();
    }

    /// Moves within the file.
    pub fn stand(&mut self, spot: Spot) {
        if let Some(id) = self.file().and_then(|f| f.hunks.get(spot.hunk)).map(|h| h.id) {
            if self.cursor.hunk != Some(id) && self.cursor.selection.take().is_some() {
                self.recount();
            }
            self.cursor.hunk = Some(id);
        }
        self.cursor.spot = spot;
        self.layout.sight = Sight::Cursor;
    }

    pub fn file_index(&self) -> Option<usize> {
        self.cursor.file
    }

    pub fn file(&self) -> Option<&Arc<FileDoc>> {
        self.doc.as_ref()?.files.get(self.cursor.file?)
    }

    pub fn hunk(&self) -> Option<&HunkDoc> {
        self.file()?.hunks.get(self.cursor.spot.hunk)
    }

    /// The chosen lines of the cursor's hunk.
    pub fn chosen(&self) -> Option<Range<usize>> {
        let from = self.cursor.selection?;
        let to = self.cursor.spot.line.unwrap_or(from);
        Some(from.min(to)..from.max(to) + 1)
    }

    /// The folder that has the cursor, else none.
    pub fn folder(&self) -> Option<&PathBuf> {
        self.cursor.folder.as_ref().filter(|_| self.layout.pane == Pane::Files)
    }

    /// The row of the cursor in the list of files.
    pub fn tree_row(&self) -> usize {
        let folder = self.cursor.folder.as_ref().and_then(|path| self.derived.tree.row_of_folder(path));
        let row = folder.or_else(|| self.derived.tree.row_of_file(self.cursor.file?));
        // In a folder that is closed: its row.
        row.or_else(|| {
            let inside = |r: &index::TreeRow| matches!(&r.item, Item::Folder { path, closed: true, .. } if self.cursor.path.starts_with(path));
            self.derived.tree.rows.iter().position(inside)
        })
        .unwrap_or(0)
    }

    /// Puts the cursor on a row of the list of files.
    pub fn choose_row(&mut self, row: usize) {
        match self.derived.tree.rows.get(row).map(|r| r.item.clone()) {
            Some(Item::File(file)) => {
                if self.cursor.file != Some(file) {
                    let spot = self.first_pending(file);
                    self.go(file, spot);
                }
                self.cursor.folder = None;
            }
            Some(Item::Folder { path, .. }) => self.cursor.folder = Some(path),
            None => {}
        }
        self.layout.sight = Sight::Cursor;
    }

    /// Opens or closes a folder.
    pub fn flip_folder(&mut self, path: &PathBuf) {
        if !self.folds.folders.remove(path) {
            self.folds.folders.insert(path.clone());
        }
        self.rebuild();
    }

    pub fn flip_fold(&mut self) {
        let Some(id) = self.hunk().map(|h| h.id) else { return };
        let key = (self.cursor.path.clone(), id);
        if !self.folds.hunks.remove(&key) {
            self.folds.hunks.insert(key);
            self.cursor.spot.line = None;
            self.cursor.selection = None;
        }
        self.recount();
    }

    /// Folds every hunk of the file, or unfolds them when all are folded.
    pub fn flip_all(&mut self) {
        let Some(file) = self.file().cloned() else { return };
        let keys = file.hunks.iter().map(|h| (file.path.clone(), h.id));
        if keys.clone().all(|key| self.folds.hunks.contains(&key)) {
            self.folds.hunks.retain(|(path, _)| *path != file.path);
        } else {
            self.folds.hunks.extend(keys);
            self.cursor.spot.line = None;
            self.cursor.selection = None;
        }
        self.recount();
    }

    pub fn unfold(&mut self, hunk: usize) {
        let Some(id) = self.file().and_then(|f| f.hunks.get(hunk)).map(|h| h.id) else { return };
        if self.folds.hunks.remove(&(self.cursor.path.clone(), id)) {
            self.recount();
        }
    }

    /// The first hunk of a file that waits, else its first.
    pub fn first_pending(&self, file: usize) -> Spot {
        let hunks = self.doc.as_ref().and_then(|d| d.files.get(file)).map(|f| f.hunks.as_slice());
        let hunk = hunks.unwrap_or_default().iter().position(|h| h.state == HunkState::Pending).unwrap_or(0);
        Spot { hunk, line: None }
    }

    /// Goes to the next hunk that waits, in this file, then in the files after it, then from the first on.
    pub fn to_next_pending(&mut self, from: NextFrom) {
        let (Some(doc), Some(file)) = (self.doc.clone(), self.cursor.file) else { return };
        let count = doc.files.len();
        let here = doc.files.get(file).map(|f| f.hunks.as_slice()).unwrap_or_default();
        let after = match from {
            NextFrom::Hunk => {
                here.iter().enumerate().skip(self.cursor.spot.hunk + 1).find(|(_, h)| h.state == HunkState::Pending)
            }
            NextFrom::File => None,
        };
        if let Some((hunk, _)) = after {
            return self.go(file, Spot { hunk, line: None });
        }
        // Those of a file are counted already.
        let waits = |n: usize| self.derived.tree.marks.get(n).is_some_and(|m| m.pending > 0);
        let found = (1..count).map(|d| (file + d) % count).find(|n| waits(*n));
        if let Some(next) = found {
            let spot = self.first_pending(next);
            self.go(next, spot);
        } else if from == NextFrom::Hunk
            && let Some(hunk) = here.iter().take(self.cursor.spot.hunk).position(|h| h.state == HunkState::Pending)
        {
            self.go(file, Spot { hunk, line: None });
        }
        self.cursor.selection = None;
    }

    /// The colours of a hunk's lines, when they are known.
    pub fn colours(&self, hunk: HunkId) -> Option<&[Spans]> {
        self.derived.colours.get(&hunk)?.as_deref()
    }

    /// The first of these hunks of the file that has no colours yet, once.
    pub fn uncoloured(&mut self, shown: impl IntoIterator<Item = usize>) -> Option<Uncoloured> {
        let file = self.file()?.clone();
        for hunk in shown.into_iter().filter_map(|n| file.hunks.get(n)) {
            if self.derived.colours.contains_key(&hunk.id) {
                continue;
            }
            self.derived.colours.insert(hunk.id, None);
            if !hunk.lines.is_empty() && hunk.lines.len() <= MAX_COLOURED {
                let lines = hunk.lines.iter().map(|l| (l.kind, l.text.clone())).collect();
                return Some((file.path.clone(), hunk.id, lines));
            }
        }
        None
    }

    /// Colours that were found for a hunk.
    pub fn colour(&mut self, path: &std::path::Path, hunk: HunkId, spans: Vec<Spans>) {
        if self.cursor.path == path
            && let Some(slot) = self.derived.colours.get_mut(&hunk)
        {
            *slot = Some(spans);
        }
    }
}

/// Where the search for the next hunk begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextFrom {
    Hunk,
    File,
}

/// The first hunk that waits and did not wait before, and its file.
fn waits_again(old: &ReviewDoc, new: &ReviewDoc) -> Option<(usize, usize)> {
    let waits = |hunk: &&HunkDoc| hunk.state == HunkState::Pending;
    let waited = |file: &FileDoc| file.hunks.iter().filter(waits).map(|hunk| hunk.id).collect::<BTreeSet<_>>();
    let before: BTreeMap<&Path, BTreeSet<HunkId>> = old.files.iter().map(|f| (f.path.as_path(), waited(f))).collect();
    new.files.iter().enumerate().find_map(|(at, file)| {
        let known = before.get(file.path.as_path());
        let is_new = |hunk: &HunkDoc| waits(&hunk) && known.is_none_or(|known| !known.contains(&hunk.id));
        Some((at, file.hunks.iter().position(is_new)?))
    })
}

fn hunk_id(doc: &ReviewDoc, file: usize, hunk: usize) -> Option<HunkId> {
    Some(doc.files.get(file)?.hunks.get(hunk)?.id)
}
