//! What the agent is told about a decision: the person's words, and the patch that was rejected.
//!
//! Invariant: the prompt is bounded, and the patch cannot end the block that it stands in.

use super::patch;
use crate::base::{paths, sanitize};
use crate::model::changes::{FileDoc, HunkDoc, HunkKind, ReviewDoc, Target, Verdict};
use crate::text::diff::Kind;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

/// Lines of a patch that go along.
const MAX_LINES: usize = 400;
const MAX_BYTES: usize = 32 << 10;

/// The prompt; `None` when there is nothing to say.
pub fn prompt(doc: &ReviewDoc, verdict: Verdict, target: &Target, note: &str) -> Option<String> {
    let note = note.trim();
    if note.is_empty() {
        return None;
    }
    let (did, join) = match verdict {
        Verdict::Accept => ("accepted", ":"),
        Verdict::Reject => ("rejected", ", because:"),
    };
    let what = match target {
        Target::All => "all shown changes".to_owned(),
        Target::File(path) => format!("your change of {}", name(path)),
        Target::Hunk(path, _) | Target::Lines(path, ..) => {
            let line = line_of(doc, target).map(|l| format!(" at line {l}")).unwrap_or_default();
            format!("your change of {}{line}", name(path))
        }
    };
    let mut text = format!("I {did} {what}{join} {note}");
    let patch = match verdict {
        Verdict::Accept => String::new(),
        Verdict::Reject => rejected(doc, target),
    };
    if !patch.is_empty() {
        let fence = fence(&patch);
        let _ = write!(text, "\n\nWhat I rejected:\n\n{fence}diff\n{patch}{fence}\n");
    }
    Some(text)
}

fn name(path: &Path) -> String {
    paths::visible(path.as_os_str())
}

fn find<'a>(doc: &'a ReviewDoc, path: &Path) -> Option<&'a FileDoc> {
    doc.files.iter().find(|f| f.path == path).map(|f| &**f)
}

fn line_of(doc: &ReviewDoc, target: &Target) -> Option<u32> {
    let (path, id, range) = match target {
        Target::Hunk(path, id) => (path, id, None),
        Target::Lines(path, id, range) => (path, id, Some(range)),
        Target::All | Target::File(_) => return None,
    };
    let hunk = find(doc, path)?.hunks.iter().find(|h| h.id == *id)?;
    let lines = range.and_then(|r| hunk.lines.get(r.clone())).unwrap_or(&hunk.lines);
    let changed = lines.iter().find(|l| l.kind != Kind::Context);
    changed.and_then(|l| l.new.or(l.old)).or(Some(hunk.new_start))
}

/// The change as a patch.
fn rejected(doc: &ReviewDoc, target: &Target) -> String {
    let mut out = String::new();
    let mut left = MAX_LINES;
    match target {
        Target::All => doc.files.iter().for_each(|f| file(f, &mut left, &mut out)),
        Target::File(path) => find(doc, path).into_iter().for_each(|f| file(f, &mut left, &mut out)),
        Target::Hunk(path, id) | Target::Lines(path, id, _) => {
            let Some(shown) = find(doc, path) else { return out };
            head(shown, &mut out);
            if let Some(hunk) = shown.hunks.iter().find(|h| h.id == *id) {
                let all = 0..hunk.lines.len();
                let range = if let Target::Lines(_, _, range) = target { range } else { &all };
                one(hunk, range, &mut left, &mut out);
            }
        }
    }
    out
}

fn file(file: &FileDoc, left: &mut usize, out: &mut String) {
    if *left == 0 {
        return;
    }
    head(file, out);
    for hunk in &file.hunks {
        one(hunk, &(0..hunk.lines.len()), left, out);
    }
}

fn head(file: &FileDoc, out: &mut String) {
    let from = file.renamed_from.as_ref().unwrap_or(&file.path);
    let _ = write!(out, "--- a/{}\n+++ b/{}\n", name(from), name(&file.path));
}

fn one(hunk: &HunkDoc, range: &Range<usize>, left: &mut usize, out: &mut String) {
    match &hunk.what {
        HunkKind::Whole(words) => {
            let _ = writeln!(out, "({})", sanitize::line(words));
            return;
        }
        HunkKind::Mode(old, new) => {
            let _ = writeln!(out, "(mode {old:o} to {new:o})");
            return;
        }
        HunkKind::Lines => {}
    }
    // A few lines around the chosen ones tell where they are.
    let range = range.start.saturating_sub(3)..range.end.saturating_add(3).min(hunk.lines.len());
    let lines = hunk.lines.get(range.clone()).unwrap_or_default();
    out.push_str(&patch::place(hunk, lines));
    for (n, line) in lines.iter().enumerate() {
        if *left == 0 || out.len() + line.text.len() > MAX_BYTES {
            let _ = writeln!(out, "… {} more lines", lines.len() - n);
            *left = 0;
            return;
        }
        out.push_str(&patch::line(line));
        *left -= 1;
    }
}

/// More backticks than anything in the patch has in a row.
fn fence(patch: &str) -> String {
    let longest = patch.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
