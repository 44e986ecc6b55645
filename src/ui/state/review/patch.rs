//! What is shown of a change as a patch: to be copied, and for the agent to read.
//!
//! Invariant: what is to be copied goes in with `git apply`; where what is shown is not all that there is to it, there is none.

use crate::base::paths;
use crate::model::changes::{FileChange, FileDoc, HunkDoc, HunkKind};
use crate::text::diff::{DiffLine, Kind};

/// Why there is no patch of what is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inexact {
    /// It is no text, or its permissions changed.
    Whole,
    /// Not all of its lines are shown.
    Cut,
    /// A sign stands for what cannot be shown.
    StandIns,
    /// This is said of the file: its encoding, or the ends of its lines.
    Note(String),
}

/// These hunks of a file.
pub fn of_hunks<'a>(file: &FileDoc, hunks: impl Iterator<Item = &'a HunkDoc>) -> Result<String, Inexact> {
    if let Some(note) = &file.note {
        return Err(Inexact::Note(note.clone()));
    }
    let path = paths::visible(file.path.as_os_str());
    let before = if file.change == FileChange::Created { "/dev/null".to_owned() } else { format!("a/{path}") };
    let after = if file.change == FileChange::Deleted { "/dev/null".to_owned() } else { format!("b/{path}") };
    let mut out = format!("--- {before}\n+++ {after}\n");
    for hunk in hunks {
        if hunk.what != HunkKind::Lines || hunk.lines.is_empty() {
            return Err(Inexact::Whole);
        }
        if hunk.left_out() > 0 || hunk.count > 1 {
            return Err(Inexact::Cut);
        }
        if hunk.lines.iter().any(|line| line.has_stand_ins) {
            return Err(Inexact::StandIns);
        }
        out.push_str(&place(hunk, &hunk.lines));
        hunk.lines.iter().for_each(|one| out.push_str(&line(one)));
    }
    Ok(out)
}

/// Which lines of the old and the new text these of a hunk are: `@@ -40,3 +40,4 @@`.
pub fn place(hunk: &HunkDoc, lines: &[DiffLine]) -> String {
    let of = |other: Kind, start: u32, number: fn(&DiffLine) -> Option<u32>| {
        let count = lines.iter().filter(|line| line.kind != other).count();
        // Without lines it is the one before.
        let first = lines.iter().find_map(number).unwrap_or(start.saturating_sub(1));
        format!("{first},{count}")
    };
    let old = of(Kind::Add, hunk.old_start, |line| line.old);
    let new = of(Kind::Del, hunk.new_start, |line| line.new);
    format!("@@ -{old} +{new} @@\n")
}

/// A line with its sign and its end.
pub fn line(line: &DiffLine) -> String {
    let end = if line.no_newline { "\n\\ No newline at end of file" } else { "" };
    format!("{}{}{end}\n", line.kind.sign(), line.text)
}
