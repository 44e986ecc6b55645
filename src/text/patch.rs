//! A unified patch of one file as hunks of lines; and one of several files between `*** Begin Patch` and `*** End Patch`,
//! whose lines have no numbers.
//!
//! Applies nothing and finds no file. Of a unified one all before the first hunk is left out. Invariants: lines are
//! sanitised, single lines, with their tabs; a unified patch that is none is shown as it is, as lines that nothing has
//! changed; one of several files is read to its last line or not at all.

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

/// What a patch of several files does to one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct OfFile<'a> {
    pub path: &'a str,
    pub done: Done,
    /// Where the file goes to.
    pub to: Option<&'a str>,
    pub diff: FileDiff,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    Added,
    Changed,
    Removed,
}

pub fn is_of_files(text: &str) -> bool {
    text.trim_start().starts_with(BEGIN)
}

const BEGIN: &str = "*** Begin Patch";

/// The files of a patch of several; `None` when a line of it says something else.
pub fn of_files(text: &str) -> Option<Vec<OfFile<'_>>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let inner = text.trim().strip_prefix(BEGIN)?.strip_suffix("*** End Patch")?;
    let mut files: Vec<OfFile<'_>> = Vec::new();
    for text in inner.strip_prefix('\n').or_else(|| inner.strip_prefix("\r\n"))?.lines() {
        if let Some(words) = text.strip_prefix("*** ") {
            let done = match words.split_once(": ") {
                Some(("Add File", _)) => Done::Added,
                Some(("Update File", _)) => Done::Changed,
                Some(("Delete File", _)) => Done::Removed,
                Some(("Move to", to)) => {
                    let file = files.last_mut().filter(|file| file.done == Done::Changed && file.to.is_none())?;
                    file.to = Some(to);
                    continue;
                }
                None if words.trim_end() == "End of File" => continue,
                _ => return None,
            };
            let path = words.split_once(": ")?.1.trim();
            files.push(OfFile { path, done, to: None, diff: FileDiff::default() });
            continue;
        }
        let OfFile { done, diff, .. } = files.last_mut()?;
        let heading = text.strip_prefix("@@").filter(|_| *done == Done::Changed);
        if heading.is_some() || diff.hunks.is_empty() {
            diff.hunks.push(Hunk { old_start: 1, new_start: 1, lines: Vec::new() });
        }
        let lines = &mut diff.hunks.last_mut()?.lines;
        if let Some(heading) = heading {
            lines.extend((!heading.trim().is_empty()).then(|| line(Kind::Context, None, None, text)));
            continue;
        }
        let (sign, text) = text.split_at_checked(1).unwrap_or((" ", ""));
        let kind = match (sign, *done) {
            ("+", Done::Added | Done::Changed) => Kind::Add,
            ("-", Done::Changed) => Kind::Del,
            (" ", Done::Changed) => Kind::Context,
            _ => return None,
        };
        lines.push(line(kind, None, None, text));
        diff.added = diff.added.saturating_add(u32::from(kind == Kind::Add));
        diff.removed = diff.removed.saturating_add(u32::from(kind == Kind::Del));
    }
    let is_named = |file: &OfFile<'_>| !file.path.is_empty();
    (!files.is_empty() && files.iter().all(is_named)).then_some(files)
}

/// The files that a patch of any form names, as it names them: without the `a/` and `b/` that git puts before them.
pub fn names(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let of_git = line.strip_prefix("diff --git ").into_iter().flat_map(|both| both.split(' '));
        let headed = HEADINGS.iter().find_map(|heading| line.strip_prefix(heading));
        // In a hunk it may be a line that is taken out.
        let is_pair = lines.get(at + 1).is_some_and(|next| next.starts_with("+++ "));
        let old = line.strip_prefix("--- ").filter(|_| is_pair);
        let is_behind = at.checked_sub(1).and_then(|at| lines.get(at)).is_some_and(|before| before.starts_with("--- "));
        let new = line.strip_prefix("+++ ").filter(|_| is_behind);
        found.extend(of_git.chain(headed).chain(old).chain(new));
    }
    let names = found.into_iter().filter_map(|name| name.split('\t').next()).map(|name| name.trim().trim_matches('"'));
    let names = names.map(|name| ["a/", "b/"].iter().find_map(|side| name.strip_prefix(side)).unwrap_or(name));
    names.filter(|name| !matches!(*name, "" | "/dev/null")).collect()
}

/// Before names of files in patches.
const HEADINGS: [&str; 10] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
    "*** Move File: ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "Index: ",
];

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
    fn a_patch_of_several_files_is_read_whole_or_not_at_all() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@ fn add()\n one\n-two\n+TWO\n\n\
                     @@\n+last\n*** End of File\n*** Add File: new.md\n+# New\n*** Delete File: old.md\n*** End Patch\n";
        let files = of_files(patch).unwrap();
        let shown: Vec<_> = files.iter().map(|f| (f.path, f.done, f.to, f.diff.added, f.diff.removed)).collect();
        let wanted = [
            ("src/a.rs", Done::Changed, Some("src/b.rs"), 2, 1),
            ("new.md", Done::Added, None, 1, 0),
            ("old.md", Done::Removed, None, 0, 0),
        ];
        assert_eq!(shown, wanted);
        let lines = files[0].diff.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| (line.kind, &*line.text));
        let context = |text| (Kind::Context, text);
        let wanted = [context("@@ fn add()"), context("one"), (Kind::Del, "two"), (Kind::Add, "TWO"), context("")];
        assert_eq!(lines.collect::<Vec<_>>(), [&wanted[..], &[(Kind::Add, "last")]].concat());
        for (from, to) in [
            ("-two", "two"),
            ("+# New", "# New"),
            ("*** Delete File: old.md", "*** Burn File: old.md"),
            ("*** Add File: new.md", "*** Add File:  "),
            ("*** End Patch", "*** End Patch\nand more"),
            ("*** Begin Patch", "*** Begin Patch of mine"),
            ("*** Update File: src/a.rs\n", ""),
            ("*** Delete File: old.md\n", "*** Delete File: old.md\n-gone\n"),
        ] {
            assert_eq!(of_files(&patch.replacen(from, to, 1)), None, "{from} -> {to}");
        }
        assert_eq!(of_files("*** Begin Patch\n*** End Patch"), None);
        let hostile = of_files("*** Begin Patch\n*** Add File: x\n+a\u{1b}[2J\n*** End Patch").unwrap();
        assert!(!hostile[0].diff.hunks[0].lines[0].text.contains('\u{1b}'));
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
