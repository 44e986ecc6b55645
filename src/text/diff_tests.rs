//! Tests of `diff`.

#![allow(clippy::format_collect, clippy::single_range_in_vec_init)]

use proptest::prelude::*;

use super::*;

fn shown(d: &FileDiff) -> Vec<String> {
    d.hunks
        .iter()
        .flat_map(|h| &h.lines)
        .map(|l| {
            let sign = match l.kind {
                Kind::Context => ' ',
                Kind::Del => '-',
                Kind::Add => '+',
            };
            format!("{sign}{}", l.text)
        })
        .collect()
}

#[test]
fn changed_lines_with_context_and_numbers() {
    let old = "a\nb\nc\nd\ne\n";
    let new = "a\nb\nX\nd\ne\n";
    let d = diff(old, new, 1);
    assert_eq!(shown(&d), [" b", "-c", "+X", " d"]);
    assert_eq!((d.added, d.removed, d.note), (1, 1, None));
    let hunk = &d.hunks[0];
    assert_eq!((hunk.old_start, hunk.new_start), (2, 2));
    assert_eq!((hunk.lines[1].old, hunk.lines[1].new), (Some(3), None));
    assert_eq!((hunk.lines[2].old, hunk.lines[2].new), (None, Some(3)));
    assert_eq!((hunk.lines[3].old, hunk.lines[3].new), (Some(4), Some(4)));
}

#[test]
fn far_changes_are_hunks_of_their_own() {
    let old: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 3\n", "").replace("line 30\n", "line 30\nmore\n");
    let d = diff(&old, &new, 3);
    assert_eq!(d.hunks.len(), 2);
    assert_eq!((d.hunks[1].old_start, d.hunks[1].new_start), (29, 28));
}

#[test]
fn new_and_deleted_files() {
    let d = diff("", "a\nb\n", 3);
    assert_eq!((shown(&d), d.added, d.removed, d.note), (vec!["+a".to_owned(), "+b".to_owned()], 2, 0, None));
    let d = diff("a", "", 3);
    assert_eq!((d.added, d.removed, &d.note), (0, 1, &None));
    assert!(d.hunks[0].lines[0].no_newline);
    assert_eq!(diff("same\n", "same\n", 3), FileDiff::default());
    assert_eq!(diff("", "", 3), FileDiff::default());
}

#[test]
fn r_317_line_endings_are_a_note() {
    let d = diff("a\r\nb\r\n", "a\nb\n", 3);
    assert!(d.hunks.is_empty());
    assert_eq!(d.note.as_deref(), Some("only the line endings differ (CRLF → LF)"));
    let d = diff("a\nb\nc\n", "a\r\nX\r\nc\r\n", 0);
    assert_eq!(shown(&d), ["-b", "+X"]);
    assert_eq!(d.note.as_deref(), Some("line endings differ (LF → CRLF)"));
    assert_eq!(diff("a\r\nb\nc\r\n", "a\nb\nc\r\n", 3).note.as_deref(), Some("only some line endings differ"));
    assert_eq!(diff("a\r\nb\r\n", "a\r\nc\r\n", 3).note, None);
}

#[test]
fn r_317_the_newline_at_the_end_is_a_note() {
    let d = diff("a\nb", "a\nb\n", 3);
    assert!(d.hunks.is_empty());
    assert_eq!(d.note.as_deref(), Some("only the newline at the end was added"));
    let d = diff("a\nb\n", "a\nc", 3);
    assert_eq!(d.note.as_deref(), Some("the newline at the end was removed"));
    let flags: Vec<bool> = d.hunks[0].lines.iter().map(|l| l.no_newline).collect();
    assert_eq!(flags, [false, false, true]);
}

#[test]
fn words_that_differ_are_marked_in_paired_lines() {
    let d = diff("let count = 1;\n", "let total = 1;\n", 3);
    let lines = &d.hunks[0].lines;
    assert_eq!(lines[0].emphasis, [4..9]);
    assert_eq!(lines[1].emphasis, [4..9]);
    let d = diff("completely different\n", "nothing alike here\n", 3);
    assert!(d.hunks[0].lines.iter().all(|l| l.emphasis.is_empty()));
    let d = diff("a\n", "a\nfresh line\n", 3);
    assert!(d.hunks[0].lines.iter().all(|l| l.emphasis.is_empty()), "an added line has no pair");
}

#[test]
fn r_245_lines_are_harmless() {
    let d = diff("", "a\x1b[31mb\rc\td\u{202e}\n", 3);
    assert_eq!(shown(&d), ["+ab c\td⟨U+202E⟩"]);
}

#[test]
fn too_large_texts_are_counted_only() {
    let old = "x\n".repeat(MAX_BYTES / 2 + 1);
    let new = format!("y\n{old}");
    let d = diff(&old, &new, 3);
    assert!(d.hunks.is_empty());
    assert_eq!((d.added, d.removed), (1, 0));
    assert_eq!(d.note.as_deref(), Some("too large to show line by line"));
}

#[test]
fn of_several_texts_those_beyond_the_budget_are_counted_only() {
    let same = "x\n".repeat(MAX_BYTES * 3 / 32);
    let (old, new) = (format!("{same}a\n"), format!("{same}b\n"));
    let mut budget = Budget::default();
    let shown: Vec<bool> = (0..4)
        .map(|_| {
            let d = diff_within(&mut budget, &old, &new, 3);
            assert_eq!((d.added, d.removed), (1, 1));
            assert_eq!(d.note.is_some(), d.hunks.is_empty());
            !d.hunks.is_empty()
        })
        .collect();
    assert_eq!(shown, [true, true, false, false]);
    assert!(!diff_within(&mut budget, "a\n", "b\n", 3).hunks.is_empty(), "there is room for a small one");
}

#[test]
fn the_worst_case_is_bounded_in_time_and_still_correct() {
    let old: String = (0..150_000u64).map(|n| format!("{}\n", n * 7919 % 100_003)).collect();
    let new: String = (0..150_000u64).map(|n| format!("{}\n", n * 104_729 % 99_991)).collect();
    let started = Instant::now();
    let d = diff(&old, &new, 3);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(i64::from(d.added) - i64::from(d.removed), 0);
    assert_eq!(apply(&old, &d), new.lines().collect::<Vec<_>>());
}

/// Rebuilds the new lines from the old ones and the hunks.
fn apply(old: &str, d: &FileDiff) -> Vec<String> {
    let old: Vec<&str> = old.lines().collect();
    let mut at = 0;
    let mut out: Vec<String> = Vec::new();
    for hunk in &d.hunks {
        let start = hunk.old_start as usize - 1;
        out.extend(old[at..start].iter().map(|l| (*l).to_owned()));
        at = start;
        for line in &hunk.lines {
            if line.kind != Kind::Del {
                out.push(line.text.clone());
            }
            if line.kind != Kind::Add {
                assert_eq!(old[at], line.text);
                at += 1;
            }
        }
    }
    out.extend(old[at..].iter().map(|l| (*l).to_owned()));
    out
}

proptest! {
    #[test]
    fn hunks_turn_old_into_new(
        old in proptest::collection::vec("[ab]{0,2}", 0..12),
        new in proptest::collection::vec("[ab]{0,2}", 0..12),
        context in 0usize..4,
    ) {
        let text = |lines: &[String]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
        let d = diff(&text(&old), &text(&new), context);
        prop_assert_eq!(apply(&text(&old), &d), new.clone());
        let kinds = |k| d.hunks.iter().flat_map(|h| &h.lines).filter(|l| l.kind == k).count() as u32;
        prop_assert_eq!((kinds(Kind::Add), kinds(Kind::Del)), (d.added, d.removed));
    }

    #[test]
    fn anything_is_survived(old in "(\\PC|[\r\n\t\x1b]){0,60}", new in "(\\PC|[\r\n\t\x1b]){0,60}") {
        for line in diff(&old, &new, 3).hunks.iter().flat_map(|h| &h.lines) {
            prop_assert!(!line.text.chars().any(|c| c.is_control() && c != '\t'));
            for range in &line.emphasis {
                prop_assert!(line.text.get(range.start as usize..range.end as usize).is_some());
            }
        }
    }
}
