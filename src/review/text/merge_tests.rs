//! Tests of `merge`.

use proptest::prelude::*;

use super::*;
use crate::review::text::diff::edits;

fn merge(base: &Lines, ours: &Lines, theirs: &Lines) -> Merged {
    super::merge(base, (ours, &edits(base, ours)), (theirs, &edits(base, theirs)))
}

fn of(bytes: impl AsRef<[u8]>) -> Lines {
    Lines::of(bytes.as_ref()).expect("text")
}

fn merged(base: &str, ours: &str, theirs: &str) -> Result<String, String> {
    match merge(&of(base), &of(ours), &of(theirs)) {
        Merged::Clean(bytes) => Ok(String::from_utf8(bytes).unwrap()),
        Merged::Conflict { why } => Err(why),
    }
}

fn clean(base: &str, ours: &str, theirs: &str) -> String {
    merged(base, ours, theirs).unwrap()
}

fn conflict(base: &str, ours: &str, theirs: &str) -> String {
    merged(base, ours, theirs).unwrap_err()
}

#[test]
fn changes_of_both_sides_are_taken() {
    assert_eq!(clean("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n"), "A\nb\nc\nD\n");
    assert_eq!(clean("a\nb\nc\n", "b\nc\n", "a\nb\nX\nc\n"), "b\nX\nc\n");
    assert_eq!(clean("a\nb\nc\n", "A\nb\nC\n", "A\nb\nc\n"), "A\nb\nC\n", "equal changes once");
    assert_eq!(clean("a\n", "a\nX\n", "a\nX\n"), "a\nX\n");
}

#[test]
fn changes_that_touch_are_both_taken_in_their_order() {
    assert_eq!(clean("a\nb\n", "A\nb\n", "a\nB\n"), "A\nB\n");
    assert_eq!(clean("a\nb\n", "a\nB\n", "A\nb\n"), "A\nB\n");
    assert_eq!(clean("a\nb\n", "a\nX\nb\n", "a\nB\n"), "a\nX\nB\n");
    assert_eq!(clean("a\nb\n", "A\nb\n", "a\nX\nb\n"), "A\nX\nb\n");
    assert_eq!(clean("a\nb\nc\n", "a\nc\n", "a\nb\nX\nc\n"), "a\nX\nc\n");
}

#[test]
fn changes_of_the_same_lines_conflict_and_say_where() {
    assert_eq!(conflict("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n"), "line 2: changed on both sides");
    let long = conflict("a\nb\nc\nd\n", "new\na\nX\nY\nd\n", "a\nb\nC\nd\n");
    assert_eq!(long, "lines 3 to 4: changed on both sides");
    assert_eq!(conflict("a\nb\n", "a\nX\nb\n", "a\nY\nb\n"), "line 2: both sides insert other lines here");
    assert_eq!(
        conflict("a\nb\nc\n", "a\nc\n", "a\nB\nc\n"),
        "line 2: lines that one side removed above it were changed by the other"
    );
    assert!(conflict("a\nb\nc\n", "", "a\nB\nc\n").starts_with("line 1"));
    assert!(merged("a\nb\nc\nd\n", "a\nd\n", "a\nb\nX\nc\nd\n").is_err(), "inserted into what was removed");
    assert!(merged("", "x\n", "y\n").is_err());
}

#[test]
fn lines_at_a_missing_newline_do_not_fuse() {
    assert!(merged("a", "a\nb\n", "a\nc\n").is_err());
    assert!(merged("a\n", "a\nb", "a\nc").is_err());
    assert_eq!(clean("x\ny\na", "X\ny\na", "x\ny\na\nb"), "X\ny\na\nb");
    assert_eq!(
        conflict("x\na\n", "x\na", "x\na\nb\n"),
        "line 2: one side removes the newline at the end, the other adds lines"
    );
    assert!(merged("x\na\n", "x\na\nb\n", "x\na").is_err());
    assert_eq!(clean("x\na\n", "x\na", "X\na\n"), "X\na");
}

#[test]
fn encodings_that_differ_conflict() {
    let utf16 = |text: &str| {
        let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        of(bytes)
    };
    let (base, ours) = (of("a\nb\n"), of("A\nb\n"));
    assert!(matches!(merge(&base, &ours, &utf16("a\nb\n")), Merged::Conflict { .. }));
    let both = merge(&utf16("a\nb\nc\n"), &utf16("A\nb\nc\n"), &utf16("a\nb\nC\n"));
    assert_eq!(both, Merged::Clean(utf16("A\nb\nC\n").bytes().to_vec()));
    assert!(matches!(
        merge(&of("caf\u{e9}\nb\nc\n"), &of(b"caf\xe9\nb\nc\n"), &of("caf\u{e9}\nb\nC\n")),
        Merged::Clean(_)
    ));
}

#[test]
fn lines_are_found_again() {
    // Old: 0 1 2 3 4 5; line 1 became three, two were put before 4.
    let edits = [Edit { old: 1..2, new: 1..4 }, Edit { old: 4..4, new: 6..8 }];
    let find = |from, to| follow(&edits, &(from..to));
    assert_eq!((find(0, 1), find(2, 4), find(4, 6)), (Some(0..1), Some(4..6), Some(8..10)));
    assert_eq!((find(1, 2), find(0, 2), find(3, 5)), (None, None, None));
    assert_eq!((find(1, 1), find(2, 2), find(6, 6)), (Some(1..1), Some(4..4), Some(10..10)));
    assert_eq!(find(4, 4), None, "before or after what was put there?");
    assert_eq!(follow(&[Edit { old: 1..4, new: 1..1 }], &(2..2)), None);
    assert_eq!(follow(&[], &(3..5)), Some(3..5));
}

fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![Just("a\n"), Just("b\n"), Just("c\n"), Just("a\r\n"), Just("\n")];
    (proptest::collection::vec(line, 0..10), prop_oneof![Just(""), Just("a"), Just("b")])
        .prop_map(|(lines, last)| lines.concat() + last)
}

/// Changes to lines that are all different: each line may be kept, replaced or removed, with lines put before it.
#[derive(Clone, Debug)]
struct Change {
    replaced: bool,
    removed: bool,
    inserted: usize,
}

impl Change {
    fn is_none(&self) -> bool {
        !self.replaced && !self.removed && self.inserted == 0
    }

    fn lines(&self, side: &str, at: usize, out: &mut Vec<String>) {
        out.extend((0..self.inserted).map(|n| format!("{side} put {n} before {at}\n")));
        match self {
            Self { removed: true, .. } => {}
            Self { replaced: true, .. } => out.push(format!("{side} instead of {at}\n")),
            _ => out.push(format!("{at}\n")),
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let some = (any::<bool>(), any::<bool>(), 0usize..3).prop_map(|(replaced, removed, inserted)| Change {
        replaced,
        removed,
        inserted,
    });
    prop_oneof![2 => Just(Change { replaced: false, removed: false, inserted: 0 }), 1 => some]
}

fn texts(changes: &[(bool, Change)]) -> [Lines; 4] {
    let none = Change { replaced: false, removed: false, inserted: 0 };
    let [mut base, mut ours, mut theirs, mut both] = [const { Vec::new() }; 4];
    for (at, (is_ours, change)) in changes.iter().enumerate() {
        let (a, b) = if *is_ours { (change, &none) } else { (&none, change) };
        none.lines("", at, &mut base);
        a.lines("ours", at, &mut ours);
        b.lines("theirs", at, &mut theirs);
        change.lines(if *is_ours { "ours" } else { "theirs" }, at, &mut both);
    }
    [base, ours, theirs, both].map(|lines| of(lines.concat()))
}

proptest! {
    #[test]
    fn one_side_alone_is_taken_as_it_is(base in file(), other in file()) {
        prop_assert_eq!(clean(&base, &other, &base), other.clone());
        prop_assert_eq!(clean(&base, &base, &other), other.clone());
        prop_assert_eq!(clean(&base, &other, &other), other);
    }

    #[test]
    fn the_sides_can_be_exchanged(base in file(), ours in file(), theirs in file()) {
        prop_assert_eq!(merged(&base, &ours, &theirs).ok(), merged(&base, &theirs, &ours).ok());
    }

    #[test]
    fn every_merged_line_is_a_line_of_a_side(base in file(), ours in file(), theirs in file()) {
        if let Ok(text) = merged(&base, &ours, &theirs) {
            let known = |line: &str| [&base, &ours, &theirs].iter().any(|t| t.split_inclusive('\n').any(|l| l == line));
            for line in text.split_inclusive('\n') {
                prop_assert!(known(line), "{line:?} in {text:?}");
            }
        }
    }

    #[test]
    fn changes_with_a_line_between_always_merge(changes in proptest::collection::vec((any::<bool>(), change()), 0..20)) {
        // Each change is followed by two unchanged lines: a line put before one counts as between.
        let keep = Change { replaced: false, removed: false, inserted: 0 };
        let spaced: Vec<(bool, Change)> =
            changes.into_iter().flat_map(|change| [change, (true, keep.clone())]).collect();
        let [base, ours, theirs, both] = texts(&spaced);
        prop_assert_eq!(merge(&base, &ours, &theirs), Merged::Clean(both.bytes().to_vec()));
    }

    #[test]
    fn changes_that_touch_merge_when_they_are_of_other_lines(
        changes in proptest::collection::vec((any::<bool>(), change()), 0..20),
    ) {
        let [base, ours, theirs, both] = texts(&changes);
        prop_assert_eq!(merge(&base, &ours, &theirs), Merged::Clean(both.bytes().to_vec()));
    }

    #[test]
    fn a_line_that_nobody_changed_is_found_again(changes in proptest::collection::vec(change(), 1..20)) {
        let all: Vec<(bool, Change)> = changes.iter().map(|change| (true, change.clone())).collect();
        let [base, ours, ..] = texts(&all);
        let edits = edits(&base, &ours);
        for (at, change) in changes.iter().enumerate() {
            let kept = !change.replaced && !change.removed;
            let found = follow(&edits, &(at..at + 1));
            prop_assert_eq!(found.is_some(), kept);
            if let Some(found) = found {
                prop_assert_eq!((found.len(), ours.raw(found.start)), (1, base.raw(at)));
            }
            if change.is_none() && at > 0 && changes[at - 1].is_none() {
                prop_assert!(follow(&edits, &(at..at)).is_some());
            }
        }
    }
}
