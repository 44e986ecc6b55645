//! A unified patch of one file as hunks of lines.
//!
//! Applies nothing and finds no file. All before the first hunk is left out. Invariants: lines are sanitised,
//! single lines, with their tabs; a text that is no patch is shown as it is, as lines that nothing has changed.

use super::diff::{DiffLine, FileDiff, Hunk, Kind};
use crate::base::sanitize;
use std::ops::Range;

/// Above this, lines are only counted.
const MAX_BYTES: usize = 4 << 20;

pub fn read(patch: &str) -> FileDiff {
    if patch.len() > MAX_BYTES {
        let note = Some("too large to show line by line".to_owned());
        let count = |sign: char, header: &str| {
            let lines = patch.lines().filter(|line| line.starts_with(sign) && !line.starts_with(header));
            u32::try_from(lines.count()).unwrap_or(u32::MAX)
        };
        return FileDiff { added: count('+', "+++ "), removed: count('-', "--- "), note, ..FileDiff::default() };
    }
    hunks(patch).unwrap_or_else(|| raw(patch))
}

fn raw(patch: &str) -> FileDiff {
    let lines: Vec<DiffLine> = patch.lines().map(|text| line(Kind::Context, None, None, text)).collect();
    let hunks = if lines.is_empty() { Vec::new() } else { vec![Hunk { old_start: 1, new_start: 1, lines }] };
    FileDiff { hunks, ..FileDiff::default() }
}

fn line(kind: Kind, old: Option<u32>, new: Option<u32>, text: &str) -> DiffLine {
    DiffLine {
        kind,
        old,
        new,
        has_stand_ins: sanitize::has_stand_ins(text),
        text: sanitize::tabbed(text).into_owned(),
        emphasis: Vec::new(),
        no_newline: false,
    }
}

/// `None` when a line is not what the header of its hunk has announced.
fn hunks(patch: &str) -> Option<FileDiff> {
    let mut out = FileDiff::default();
    let mut lines = patch.lines().skip_while(|line| !line.starts_with("@@ ")).peekable();
    lines.peek()?;
    while let Some(head) = lines.next() {
        let (mut old, mut new) = ranges(head)?;
        let mut hunk = Hunk { old_start: old.start, new_start: new.start, lines: Vec::new() };
        while !old.is_empty() || !new.is_empty() || lines.peek().is_some_and(|line| line.starts_with('\\')) {
            let text = lines.next()?;
            // An empty line of context may have lost its only space on the way.
            let (sign, text) = text.split_at_checked(1).unwrap_or((" ", ""));
            let line = match sign {
                " " => line(Kind::Context, Some(old.next()?), Some(new.next()?), text),
                "-" => line(Kind::Del, Some(old.next()?), None, text),
                "+" => line(Kind::Add, None, Some(new.next()?), text),
                "\\" => {
                    hunk.lines.last_mut()?.no_newline = true;
                    continue;
                }
                _ => return None,
            };
            out.added = out.added.saturating_add(u32::from(line.kind == Kind::Add));
            out.removed = out.removed.saturating_add(u32::from(line.kind == Kind::Del));
            hunk.lines.push(line);
        }
        out.hunks.push(hunk);
    }
    Some(out)
}

/// `@@ -1,2 +3,4 @@`: the numbers of the lines that follow.
fn ranges(head: &str) -> Option<(Range<u32>, Range<u32>)> {
    let (ranges, _) = head.strip_prefix("@@ ")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    Some((range(old.strip_prefix('-')?)?, range(new.strip_prefix('+')?)?))
}

fn range(text: &str) -> Option<Range<u32>> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    let (start, count): (u32, u32) = (start.parse().ok()?, count.parse().ok()?);
    Some(start..start.checked_add(count)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(patch: &str) -> Vec<String> {
        let number = |n: Option<u32>| n.map_or_else(|| "_".to_owned(), |n| n.to_string());
        let line = |l: &DiffLine| {
            let sign = match l.kind {
                Kind::Context => " ",
                Kind::Del => "-",
                Kind::Add => "+",
            };
            let end = if l.no_newline { "|" } else { "" };
            format!("{} {} {sign}{}{end}", number(l.old), number(l.new), l.text)
        };
        read(patch).hunks.iter().flat_map(|hunk| &hunk.lines).map(line).collect()
    }

    #[test]
    fn the_lines_of_a_patch_have_the_numbers_that_its_hunks_say() {
        let patch = "diff --git /a /a\n--- /a\n+++ /a\n@@ -1,2 +1,3 @@ fn\n one\n-two\n+TWO\n+more\n\
                     @@ -9 +10 @@\n--- two dashes\n+x\n\\ No newline at end of file\n";
        let lines = ["1 1  one", "2 _ -two", "_ 2 +TWO", "_ 3 +more", "9 _ --- two dashes", "_ 10 +x|"];
        assert_eq!(shown(patch), lines);
        let read = read(patch);
        assert_eq!((read.added, read.removed, read.hunks.len(), read.note), (3, 2, 2, None));
    }

    #[test]
    fn a_text_that_is_no_patch_is_shown_as_it_is() {
        for text in [
            "moved on",
            "@@ -1 +1 @@\nwhat?",
            "@@ -1,9 +1,9 @@\n too short",
            "@@ -a +b @@\n x",
            "@@ -4294967295,9 +1 @@\n x",
            "@@ -1 +1 @@\n x\n@@\n",
            "@@ -0,0 +1 @@\n\\ what?",
        ] {
            let lines: Vec<String> = text.lines().map(|line| format!("_ _  {line}")).collect();
            assert_eq!(shown(text), lines, "{text}");
        }
        assert_eq!(read(""), FileDiff::default());
    }

    #[test]
    fn lines_of_a_patch_are_sanitised() {
        assert_eq!(shown("@@ -0,0 +1 @@\n+a\u{1b}[2Jb\n").len(), 1);
        assert!(!shown("@@ -0,0 +1 @@\n+a\u{1b}[2Jb\n")[0].contains('\u{1b}'));
        assert!(!shown("a\u{1b}[2Jb\n")[0].contains('\u{1b}'));
    }

    #[test]
    fn of_a_huge_patch_the_lines_are_counted() {
        let patch = format!("--- a\n+++ a\n@@ -1 +1 @@\n-x\n{}", "+yyyyyyyy\n".repeat(MAX_BYTES / 8));
        let read = read(&patch);
        assert!(read.hunks.is_empty() && read.note.is_some());
        assert_eq!((read.added as usize, read.removed), (MAX_BYTES / 8, 1));
    }
}
