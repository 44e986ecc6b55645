//! The review as lines: each file that was changed, and what in it.
//!
//! Decides nothing. Invariant: what is not printed for its length is counted.

use super::QUOTE;
use crate::base::{human, paths, sanitize};
use crate::model::changes::{FileChange, FileDoc, HunkKind, HunkState, ReviewDoc};
use crate::text::diff::Kind;
use crate::ui::labels;
use std::path::Path;

/// Lines of one answer; a file can be asked for by its name.
const MAX_LINES: usize = 400;

/// All files, or only this one.
pub(super) fn lines(doc: &ReviewDoc, only: Option<&Path>) -> Vec<String> {
    // What was decided stays in it until it is opened anew.
    let is_open = |file: &&FileDoc| file.pending() > 0 && only.is_none_or(|only| file.path == only);
    let files: Vec<&FileDoc> = doc.files.iter().map(|file| &**file).filter(is_open).collect();
    let mut out = Vec::new();
    match only {
        Some(path) if files.is_empty() => {
            out.push(format!("nothing is to be decided in {}", name(path)));
            return out;
        }
        None if files.is_empty() => out.push("nothing is to be decided".to_owned()),
        None => out.push(format!("{} to decide", human::count(files.len() as u64, "file"))),
        Some(_) => {}
    }
    for file in files {
        out.extend(of_file(file));
    }
    let over = out.len().saturating_sub(MAX_LINES);
    if over > 0 {
        out.truncate(MAX_LINES);
        out.push(format!("{} more lines; `:changes FILE` prints one file", human::thousands(over as u64)));
    }
    out.extend(doc.left.iter().map(labels::left_run));
    out.extend(doc.uncovered.iter().map(|words| format!("not covered: {}", sanitize::line(words))));
    out
}

fn name(path: &Path) -> String {
    paths::display(path, &[], None)
}

fn of_file(file: &FileDoc) -> Vec<String> {
    let change = match file.change {
        FileChange::Created => "created",
        FileChange::Modified => "modified",
        FileChange::Deleted => "deleted",
        FileChange::Renamed => "renamed",
        FileChange::Mode => "mode changed",
        FileChange::Kind => "kind changed",
    };
    let from = file.renamed_from.as_deref().map(|from| format!(", was {}", name(from))).unwrap_or_default();
    let note = file.note.as_deref().map(|note| format!(", {}", sanitize::line(note))).unwrap_or_default();
    let held = if file.held.is_some() { ", not written yet" } else { "" };
    let mut out = vec![format!("{}{from}: {change}, +{} −{}{note}{held}", name(&file.path), file.added, file.removed)];
    for hunk in file.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending) {
        match &hunk.what {
            HunkKind::Lines => out.push(format!("  from line {}", hunk.new_start)),
            HunkKind::Whole(what) => out.push(format!("{QUOTE}{}", sanitize::line(what))),
            HunkKind::Mode(old, new) => out.push(format!("  mode {old:o}, now {new:o}")),
        }
        out.extend(hunk.lines.iter().map(|line| {
            let sign = match line.kind {
                Kind::Context => ' ',
                Kind::Del => '-',
                Kind::Add => '+',
            };
            format!("{QUOTE}{sign} {}", line.text)
        }));
    }
    out
}
