//! Where the rows of a review are: the tree of its files, and the rows of one file's hunks.
//!
//! Built once for a document, a file or a fold, so that a frame asks for the rows it shows and nothing else. Draws
//! nothing. Invariant: rows are numbered without gaps, and the row of a place is the row that shows it.

use crate::base::paths;
use crate::model::changes::{FileDoc, HunkDoc, HunkId, HunkKind, HunkState, ReviewDoc};
use crate::text::diff::{DiffLine, Kind};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How the hunks are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Look {
    #[default]
    Unified,
    Sides,
}

/// A row of the hunks of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Row {
    Gap,
    Head(usize),
    Conflict(usize),
    /// What changes as a whole, in words.
    Whole(usize),
    Line(usize, usize),
    /// Old and new line side by side.
    Pair(usize, Pair),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    pub old: Option<u32>,
    pub new: Option<u32>,
}

/// Where the cursor can stand: the header of a hunk, or one of its lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Spot {
    pub hunk: usize,
    pub line: Option<usize>,
}

#[derive(Clone, Debug, Default)]
struct HunkRows {
    /// The first row, the gap above it included.
    start: usize,
    /// Gap, header and conflict.
    front: usize,
    gap: bool,
    body: usize,
    lines: bool,
    pairs: Vec<Pair>,
    /// For each line the pair that shows it.
    pair_of: Vec<u32>,
}

/// The rows of one file in one look.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    hunks: Vec<HunkRows>,
    total: usize,
    /// Columns that a line number takes.
    pub digits: usize,
}

impl Rows {
    pub fn of(file: &FileDoc, look: Look, folded: &BTreeSet<(PathBuf, HunkId)>) -> Self {
        let mut rows = Self { hunks: Vec::with_capacity(file.hunks.len()), total: 0, digits: 1 };
        let mut largest = 1;
        let any = folded.iter().any(|(path, _)| *path == file.path);
        for (n, hunk) in file.hunks.iter().enumerate() {
            let is_folded = any && folded.contains(&(file.path.clone(), hunk.id));
            let gap = n > 0;
            let mut one = HunkRows {
                start: rows.total,
                front: usize::from(gap) + 1 + usize::from(hunk.conflict.is_some()),
                gap,
                lines: hunk.what == HunkKind::Lines,
                ..HunkRows::default()
            };
            if !is_folded {
                if one.lines && look == Look::Sides {
                    (one.pairs, one.pair_of) = pairs(&hunk.lines);
                }
                one.body = match (one.lines, look) {
                    (true, Look::Unified) => hunk.lines.len(),
                    (true, Look::Sides) => one.pairs.len(),
                    (false, _) => 1,
                };
            }
            largest = hunk.lines.iter().filter_map(|l| l.old.max(l.new)).max().unwrap_or(1).max(largest);
            rows.total += one.front + one.body;
            rows.hunks.push(one);
        }
        rows.digits = largest.to_string().len();
        rows
    }

    pub fn len(&self) -> usize {
        self.total
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub fn is_folded(&self, hunk: usize) -> bool {
        self.hunks.get(hunk).is_some_and(|h| h.body == 0)
    }

    pub fn row(&self, at: usize) -> Option<Row> {
        if at >= self.total {
            return None;
        }
        let n = self.hunks.partition_point(|h| h.start <= at).checked_sub(1)?;
        let hunk = self.hunks.get(n)?;
        let offset = at - hunk.start;
        let head = usize::from(hunk.gap);
        Some(if offset < head {
            Row::Gap
        } else if offset == head {
            Row::Head(n)
        } else if offset < hunk.front {
            Row::Conflict(n)
        } else if !hunk.lines {
            Row::Whole(n)
        } else if hunk.pairs.is_empty() {
            Row::Line(n, offset - hunk.front)
        } else {
            Row::Pair(n, *hunk.pairs.get(offset - hunk.front)?)
        })
    }

    /// The row that shows a place; of a folded hunk its header.
    pub fn row_of(&self, spot: Spot) -> usize {
        let Some(hunk) = self.hunks.get(spot.hunk) else { return 0 };
        let head = hunk.start + usize::from(hunk.gap);
        match spot.line {
            Some(line) if hunk.body > 0 => {
                let at = if hunk.pairs.is_empty() {
                    line
                } else {
                    hunk.pair_of.get(line).copied().unwrap_or_default() as usize
                };
                hunk.start + hunk.front + at.min(hunk.body - 1)
            }
            _ => head,
        }
    }

    /// The row behind the last one of a hunk.
    pub fn end_of(&self, hunk: usize) -> usize {
        self.hunks.get(hunk).map_or(self.total, |h| h.start + h.front + h.body)
    }

    /// The place that a row shows.
    pub fn spot(&self, at: usize) -> Option<Spot> {
        Some(match self.row(at)? {
            Row::Gap | Row::Conflict(_) => return None,
            Row::Head(hunk) => Spot { hunk, line: None },
            Row::Whole(hunk) => Spot { hunk, line: Some(0) },
            Row::Line(hunk, line) => Spot { hunk, line: Some(line) },
            Row::Pair(hunk, pair) => Spot { hunk, line: pair.new.or(pair.old).map(|n| n as usize) },
        })
    }

    /// The place `by` rows away, or the nearest one there; stops at the ends.
    pub fn moved(&self, from: Spot, by: isize) -> Spot {
        let last = self.total.saturating_sub(1);
        let to = self.row_of(from).saturating_add_signed(by).min(last);
        // At most a gap and a conflict lie between two places.
        let ahead = if by < 0 { [0_isize, -1, -2, 1, 2] } else { [0, 1, 2, -1, -2] };
        ahead.into_iter().find_map(|d| self.spot(to.checked_add_signed(d)?)).unwrap_or(from)
    }
}

/// Removed and added lines of a change next to each other.
fn pairs(lines: &[DiffLine]) -> (Vec<Pair>, Vec<u32>) {
    let mut out = Vec::with_capacity(lines.len());
    let mut of = vec![0; lines.len()];
    let (mut removed, mut added): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let number = |n: Option<&usize>| n.map(|n| *n as u32);
    let mut flush = |removed: &mut Vec<usize>, added: &mut Vec<usize>, out: &mut Vec<Pair>| {
        for n in 0..removed.len().max(added.len()) {
            for line in [removed.get(n), added.get(n)].into_iter().flatten() {
                if let Some(slot) = of.get_mut(*line) {
                    *slot = out.len() as u32;
                }
            }
            out.push(Pair { old: number(removed.get(n)), new: number(added.get(n)) });
        }
        removed.clear();
        added.clear();
    };
    let mut context = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        match line.kind {
            // A removal behind an addition begins another change.
            Kind::Del => {
                if !added.is_empty() {
                    flush(&mut removed, &mut added, &mut out);
                }
                removed.push(n);
            }
            Kind::Add => added.push(n),
            Kind::Context => {
                flush(&mut removed, &mut added, &mut out);
                context.push((n, out.len()));
                out.push(Pair { old: Some(n as u32), new: Some(n as u32) });
            }
        }
    }
    flush(&mut removed, &mut added, &mut out);
    for (line, pair) in context {
        if let Some(slot) = of.get_mut(line) {
            *slot = pair as u32;
        }
    }
    (out, of)
}

/// How far the hunks of a file are decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    pub hunks: usize,
    pub pending: usize,
    pub rejected: usize,
}

impl Mark {
    fn of(file: &FileDoc) -> Self {
        let count = |state| file.hunks.iter().filter(|h| h.state == state).map(|h| h.count as usize).sum();
        let hunks = file.hunks.iter().map(|h| h.count as usize).sum();
        Self { hunks, pending: count(HunkState::Pending), rejected: count(HunkState::Rejected) }
    }
}

/// A row of the tree of files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeRow {
    pub depth: usize,
    /// For the screen.
    pub label: String,
    pub item: Item,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    Folder { path: PathBuf, closed: bool, files: usize, pending: usize },
    File(usize),
}

/// The files of a document as a tree, with what is folded left out.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub rows: Vec<TreeRow>,
    /// By file.
    pub marks: Vec<Mark>,
    /// By file its row, unless it is folded away.
    row_of: Vec<Option<usize>>,
}

impl Tree {
    pub fn of(doc: &ReviewDoc, closed: &BTreeSet<PathBuf>) -> Self {
        let marks: Vec<Mark> = doc.files.iter().map(|f| Mark::of(f)).collect();
        let mut tree = Self { rows: Vec::new(), row_of: vec![None; marks.len()], marks };
        let files: Vec<(usize, Vec<&OsStr>)> =
            doc.files.iter().enumerate().map(|(n, f)| (n, f.path.iter().collect())).collect();
        tree.folder(&files, 0, 0, closed);
        tree
    }

    /// The rows of files that share their first `prefix` names.
    fn folder(&mut self, files: &[(usize, Vec<&OsStr>)], prefix: usize, depth: usize, closed: &BTreeSet<PathBuf>) {
        let mut rest = files;
        while let Some(((first, names), _)) = rest.split_first() {
            let name = names.get(prefix);
            let same = rest.iter().take_while(|(_, n)| n.get(prefix) == name && n.len() > prefix + 1).count();
            // A folder that holds one file shares its row.
            if same <= 1 {
                let label =
                    names.get(prefix..).unwrap_or_default().iter().map(|n| text(n)).collect::<Vec<_>>().join("/");
                if let Some(row) = self.row_of.get_mut(*first) {
                    *row = Some(self.rows.len());
                }
                self.rows.push(TreeRow { depth, label, item: Item::File(*first) });
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let (group, after) = rest.split_at(same);
            rest = after;
            // Folders that hold nothing but one folder share its row.
            let mut upto = prefix + 1;
            while group.iter().all(|(_, n)| n.len() > upto + 1 && n.get(upto) == names.get(upto)) {
                upto += 1;
            }
            let path: PathBuf = names.iter().take(upto).collect();
            let label = names.get(prefix..upto).unwrap_or_default().iter().map(|n| text(n) + "/").collect();
            let is_closed = closed.contains(&path);
            let pending = group.iter().filter_map(|(n, _)| self.marks.get(*n)).map(|m| m.pending).sum();
            let item = Item::Folder { path, closed: is_closed, files: group.len(), pending };
            self.rows.push(TreeRow { depth, label, item });
            if !is_closed {
                self.folder(group, upto, depth + 1, closed);
            }
        }
    }

    pub fn row_of_file(&self, file: usize) -> Option<usize> {
        self.row_of.get(file).copied().flatten()
    }

    pub fn row_of_folder(&self, path: &Path) -> Option<usize> {
        self.rows.iter().position(|r| matches!(&r.item, Item::Folder { path: p, .. } if p == path))
    }
}

fn text(name: &OsStr) -> String {
    paths::visible(name)
}

/// The lines that a hunk puts in place of the old ones, without the context around them, each with its newline.
pub fn new_lines(hunk: &HunkDoc) -> String {
    let mut out = String::new();
    for line in new_part(hunk) {
        out.push_str(&line.text);
        if !line.no_newline {
            out.push('\n');
        }
    }
    out
}

/// Those lines: from the first that changes to the last, as they are in the new text.
pub fn new_part(hunk: &HunkDoc) -> impl Iterator<Item = &DiffLine> {
    let changed = |l: &DiffLine| l.kind != Kind::Context;
    let first = hunk.lines.iter().position(changed).unwrap_or(0);
    let last = hunk.lines.iter().rposition(changed).map_or(0, |n| n + 1);
    hunk.lines.get(first..last).unwrap_or_default().iter().filter(|l| l.kind != Kind::Del)
}
