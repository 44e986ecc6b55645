//! Tests of `hunks`.

#![allow(clippy::single_range_in_vec_init)]

use proptest::prelude::*;

use super::*;

const BOM: char = '\u{feff}';

/// A hunk with all of its lines that are ever shown.
#[derive(Clone, Debug)]
struct Whole {
    hunk: HunkLines,
    lines: Vec<DiffLine>,
    refs: Vec<LineRef>,
    cut: bool,
}

impl std::ops::Deref for Whole {
    type Target = HunkLines;

    fn deref(&self) -> &HunkLines {
        &self.hunk
    }
}

fn whole(old: &Lines, new: &Lines, hunk: HunkLines) -> Whole {
    let ShownLines { mut lines, refs, cut } = hunk.shown(old, new, &mut { usize::MAX });
    emphasise(&mut lines, Instant::now() + Duration::from_secs(5));
    Whole { hunk, lines, refs, cut }
}

fn hunks(old: &Lines, new: &Lines) -> Vec<Whole> {
    super::hunks(old, new, &edits(old, new)).into_iter().map(|hunk| whole(old, new, hunk)).collect()
}

/// Lines added and removed.
fn counts(old: &Lines, new: &Lines) -> (u64, u64) {
    let sum = |(added, removed), edit: &Edit| (added + edit.new.len() as u64, removed + edit.old.len() as u64);
    edits(old, new).iter().fold((0, 0), sum)
}

/// The new lines of a hunk, with LF line ends and without a byte order mark, for an editor.
fn new_text(new: &Lines, hunk: &HunkLines) -> String {
    let mut out = String::new();
    for n in hunk.new.clone() {
        let line = new.decoded(n);
        match line.strip_suffix("\r\n") {
            Some(line) => out.extend([line, "\n"]),
            None => out.push_str(&line),
        }
    }
    out
}

fn of(bytes: impl AsRef<[u8]>) -> Lines {
    Lines::of(bytes.as_ref()).expect("text")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shown(hunk: &Whole) -> Vec<String> {
    let sign = |kind| match kind {
        Kind::Context => ' ',
        Kind::Del => '-',
        Kind::Add => '+',
    };
    hunk.lines.iter().map(|line| format!("{}{}", sign(line.kind), line.text)).collect()
}

fn numbered_lines(count: usize) -> String {
    (0..count).fold(String::new(), |text, n| text + &format!("line {n}\n"))
}

#[test]
fn an_added_function_is_a_hunk_that_begins_with_its_first_line() {
    let function = |name: &str| format!("fn {name}() {{\n    prepare();\n    run({name});\n}}\n\n");
    let old = function("first") + &function("third");
    let new = function("first") + &function("second") + &function("third");
    let hunks = hunks(&of(&old), &of(&new));
    let [hunk] = &hunks[..] else { panic!("{hunks:?}") };
    let added: Vec<String> = shown(hunk).into_iter().filter(|line| line.starts_with('+')).collect();
    assert_eq!(added, ["+fn second() {", "+    prepare();", "+    run(second);", "+}", "+"]);
}

#[test]
fn what_stands_for_a_character_in_a_line_is_known() {
    let (old, new) = (of("a\r\nb\nc\nd\n"), of("a\n⟨U+202E⟩\nx\u{202e}\nd\n"));
    let hunks = hunks(&old, &new);
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    let marked: Vec<&str> = lines.filter(|line| line.has_stand_ins).map(|line| line.text.as_str()).collect();
    assert_eq!(marked, ["a␍", "x⟨U+202E⟩"]);
}

#[test]
fn a_hunk_has_context_numbers_and_references() {
    let (old, new) = (of("a\nb\nc\nd\ne\nf\ng\nh\n"), of("a\nb\nc\nd\nX\nY\nf\ng\nh\n"));
    let hunks = hunks(&old, &new);
    let [hunk] = &hunks[..] else { panic!("{hunks:?}") };
    assert_eq!(shown(hunk), [" b", " c", " d", "-e", "+X", "+Y", " f", " g", " h"]);
    assert_eq!((hunk.old.clone(), hunk.new.clone(), hunk.old_start, hunk.new_start), (4..5, 4..6, 2, 2));
    assert_eq!((hunk.added, hunk.removed, hunk.cut, hunk.heading.as_str()), (2, 1, false, ""));
    assert_eq!(hunk.refs[2..5], [LineRef::Same { old: 3, new: 3 }, LineRef::Old(4), LineRef::New(4)]);
    assert_eq!((hunk.lines[8].old, hunk.lines[8].new, hunk.lines[4].old), (Some(8), Some(9), None));
    assert_eq!(counts(&old, &new), (2, 1));
}

#[test]
fn edits_two_lines_apart_are_one_hunk_and_three_apart_two() {
    let lines = |gap: usize| {
        let middle = numbered_lines(gap);
        (of(format!("a\n{middle}b\n")), of(format!("A\n{middle}B\n")))
    };
    let (old, new) = lines(2);
    assert_eq!(hunks(&old, &new).len(), 1);
    let (old, new) = lines(3);
    let found = hunks(&old, &new);
    assert_eq!(found.len(), 2);
    assert_eq!(shown(&found[0]), ["-a", "+A", " line 0", " line 1"]);
    assert_eq!(shown(&found[1]), [" line 2", "-b", "+B"]);
    let (old, new) = lines(9);
    let found = hunks(&old, &new);
    assert_eq!((found[0].lines.len(), found[1].lines.len()), (5, 5));
}

#[test]
fn new_and_deleted_files_are_one_hunk() {
    let (none, some) = (Lines::default(), of("a\nb"));
    let created = hunks(&none, &some);
    assert_eq!(shown(&created[0]), ["+a", "+b"]);
    assert!(created[0].lines[1].no_newline && !created[0].lines[0].no_newline);
    assert_eq!(with(&none, &some, &created[0], None), b"a\nb");
    assert_eq!(without(&none, &some, &created[0], None), b"");
    let deleted = hunks(&some, &none);
    assert_eq!(shown(&deleted[0]), ["-a", "-b"]);
    assert_eq!(without(&some, &none, &deleted[0], None), b"a\nb");
    assert!(hunks(&some, &some).is_empty() && hunks(&none, &none).is_empty());
}

#[test]
fn a_change_of_line_ends_shows() {
    let (old, new) = (of("a\r\nb\r\n"), of("a\nb\r\n"));
    let hunk = &hunks(&old, &new)[0];
    assert_eq!(shown(hunk), ["-a␍", "+a", " b"]);
    assert_eq!((hunk.lines[0].emphasis.clone(), hunk.lines[1].emphasis.len()), (vec![1..4], 0));
    let newline = &hunks(&of("a\n"), &of("a"))[0];
    assert_eq!((newline.lines[0].no_newline, newline.lines[1].no_newline), (false, true));
    let bom = &hunks(&of("\u{feff}a\n"), &of("a\n"))[0];
    assert_eq!(shown(bom), ["-⟨U+FEFF⟩a", "+a"]);
    assert_eq!(shown(&hunks(&of("a\r\n"), &of("b\r\n"))[0]), ["-a", "+b"], "the same ends say nothing");
}

#[test]
fn changed_words_are_emphasised() {
    let hunk = &hunks(&of("let total = sum(a);\n"), &of("let total = sum(b);\n"))[0];
    assert_eq!(hunk.lines[0].emphasis, [16..17]);
    assert_eq!(hunk.lines[1].emphasis, [16..17]);
}

#[test]
fn the_heading_is_the_last_block_above() {
    let body = "    x\n\n// no\n".repeat(20);
    let long = "w".repeat(90);
    for (head, heading) in [("fn total() {\r", "fn total() {"), ("_a\tb", "_a\tb"), ("$x", "$x"), ("-", "")] {
        let (old, new) = (of(format!("{head}\n{body}")), of(format!("{head}\n{body}    y\n")));
        assert_eq!(hunks(&old, &new)[0].heading, heading);
    }
    let lines = " a\n b\n c\n";
    let (old, new) = (of(format!("{long}\n{lines} x\n")), of(format!("{long}\n{lines} y\n")));
    assert_eq!(width::str_width(&hunks(&old, &new)[0].heading), HEADING_COLUMNS);
    let (old, new) = (of("fn f\n x\n"), of("fn f\n y\n"));
    assert_eq!(hunks(&old, &new)[0].heading, "", "it is shown");
    let far = " x\n".repeat(HEADING_LINES);
    let (old, new) = (of(format!("fn f\n{far}a\n")), of(format!("fn f\n{far}b\n")));
    assert_eq!(hunks(&old, &new)[0].heading, "");
}

#[test]
fn names_follow_the_text_and_not_the_place() {
    let gap = numbered_lines(8);
    let (old, new) = (of(format!("a\n{gap}a\n{gap}")), of(format!("b\n{gap}b\n{gap}")));
    let two = hunks(&old, &new);
    assert_ne!(two[0].id, two[1].id, "the same change twice");
    let lower = hunks(&of(format!("{gap}a\n")), &of(format!("{gap}b\n")));
    assert_eq!(lower[0].id, two[0].id, "further down, with other lines around it");
    assert_ne!(hunks(&of("a\n"), &of("b\r\n"))[0].id, two[0].id);
    assert_ne!(hunks(&of("a\nb\n"), &of(""))[0].id, hunks(&of("ab\n"), &of(""))[0].id);
    assert_ne!(hunks(&of("a\n"), &of(""))[0].id, hunks(&of(""), &of("a\n"))[0].id);
}

#[test]
fn a_long_hunk_is_cut_and_decided_whole_all_the_same() {
    let old = of("first\nlast\n");
    let long = numbered_lines(MAX_SHOWN_LINES + 500);
    let new = of(format!("first\n{long}last\n"));
    let hunk = &hunks(&old, &new)[0];
    assert_eq!((hunk.cut, hunk.lines.len(), hunk.refs.len()), (true, MAX_SHOWN_LINES, MAX_SHOWN_LINES));
    assert_eq!(hunk.added as usize, MAX_SHOWN_LINES + 500);
    assert_eq!(without(&old, &new, hunk, None), old.bytes());
    assert_eq!(with(&old, &new, hunk, None), new.bytes());
    let all = 0..hunk.lines.len();
    let rest = of(without(&old, &new, hunk, Some(&all)));
    assert_eq!(rest.len(), new.len() - (MAX_SHOWN_LINES - 1), "what is not shown stays");
    let taken = of(with(&old, &new, hunk, Some(&all)));
    assert_eq!(taken.len(), old.len() + MAX_SHOWN_LINES - 1);
    let wide = of("w".repeat(MAX_SHOWN_BYTES * 3 / 4) + "\n" + &"w".repeat(MAX_SHOWN_BYTES));
    let hunk = &hunks(&Lines::default(), &wide)[0];
    assert_eq!((hunk.cut, hunk.lines.len()), (true, 1));
}

#[test]
fn what_there_is_no_room_for_is_left_out_from_there_on() {
    let (old, new) = (of("x\n"), of("x\naaaa\nbbbb\ncccc\n"));
    let hunk = &hunks(&old, &new)[0];
    let one = LINE_BYTES + 1;
    let line = LINE_BYTES + 4;
    for (room, lines, left) in [
        (0, 0, 0),
        (one - 1, 0, 0),
        (one, 1, 0),
        (one + 2 * line, 3, 0),
        (one + 2 * line + 5, 3, 0),
        (one + 3 * line, 4, 0),
        (one + 3 * line + 7, 4, 7),
    ] {
        let mut room = room;
        let shown = hunk.shown(&old, &new, &mut room);
        assert_eq!((shown.lines.len(), shown.cut, room), (lines, lines < 4, left));
        assert!(hunk.refs.starts_with(&shown.refs), "those that are shown are counted as ever");
    }
    assert_eq!(hunk.added, 3);
}

/// Every fourth line is another one.
fn every_fourth(hunks: usize) -> (Lines, Lines) {
    let old: Vec<String> = (0..4 * hunks).map(|n| format!("{}\n", n % 1000)).collect();
    let new: Vec<String> =
        old.iter().enumerate().map(|(n, line)| if n % 4 == 1 { format!("x{line}") } else { line.clone() }).collect();
    (of(old.concat()), of(new.concat()))
}

#[test]
fn beyond_so_many_hunks_all_that_is_left_is_one() {
    for (edited, wanted) in [(MAX_HUNKS - 1, MAX_HUNKS - 1), (MAX_HUNKS, MAX_HUNKS), (3 * MAX_HUNKS, MAX_HUNKS)] {
        let (old, new) = every_fourth(edited);
        let all = super::hunks(&old, &new, &edits(&old, &new));
        assert_eq!(all.len(), wanted);
        assert_eq!(all.iter().map(|hunk| hunk.runs.len()).sum::<usize>(), edited, "each edit is in one");
        let ids: HashSet<HunkId> = all.iter().map(|hunk| hunk.id).collect();
        assert_eq!(ids.len(), wanted);
        let last = all.last().unwrap();
        let first = &all[7];
        let exact = |bytes: Vec<u8>, changed: usize| {
            let text = of(bytes);
            assert_eq!((counts(&old, &text).0 as usize, counts(&text, &new).0 as usize), (changed, edited - changed));
            text
        };
        let rest = last.runs.len();
        exact(with(&old, &new, last, None), rest);
        exact(without(&old, &new, last, None), edited - rest);
        exact(with_all(&old, &new, &[first, last]), rest + 1);
        exact(without_all(&old, &new, &[first, last]), edited - rest - 1);
        let shown = last.shown(&old, &new, &mut { usize::MAX });
        let at = shown.refs.iter().position(|line| matches!(line, LineRef::New(_))).unwrap();
        let one = exact(with(&old, &new, last, Some(&(at - 1..at + 1))), 1);
        assert_eq!(exact(with(&old, &one, &super::hunks(&old, &one, &edits(&old, &one))[0], None), 1), one);
        let all_shown = 0..shown.lines.len();
        let kept = shown.refs.iter().filter(|line| matches!(line, LineRef::New(_))).count();
        exact(with(&old, &new, last, Some(&all_shown)), kept);
        exact(without(&old, &new, last, Some(&all_shown)), edited - kept);
        let new_lines = last.new.clone().flat_map(|n| new.raw(n).to_vec()).collect::<Vec<u8>>();
        assert_eq!(replaced(&new, last, &new_lines), new.bytes());
        let all: Vec<&HunkLines> = all.iter().collect();
        assert_eq!(without_all(&old, &new, &all), old.bytes());
        assert_eq!(with_all(&old, &new, &all), new.bytes());
    }
}

#[test]
fn some_lines_can_be_taken_back_or_put_in() {
    let (old, new) = (of("a\nb\nc\n"), of("a\nX\nY\nc\n"));
    let hunk = &hunks(&old, &new)[0];
    assert_eq!(shown(hunk), [" a", "-b", "+X", "+Y", " c"]);
    let back = |sel: Range<usize>| text(&without(&old, &new, hunk, Some(&sel)));
    let put = |sel: Range<usize>| text(&with(&old, &new, hunk, Some(&sel)));
    assert_eq!((back(3..4).as_str(), put(3..4).as_str()), ("a\nX\nc\n", "a\nb\nY\nc\n"));
    assert_eq!((back(1..2).as_str(), put(1..2).as_str()), ("a\nb\nX\nY\nc\n", "a\nc\n"));
    assert_eq!((back(0..9).as_str(), put(0..9).as_str()), ("a\nb\nc\n", "a\nX\nY\nc\n"));
    assert_eq!((back(4..9).as_str(), put(0..0).as_str()), ("a\nX\nY\nc\n", "a\nb\nc\n"));
}

#[test]
fn lines_without_a_newline_do_not_fuse() {
    let (old, new) = (of("a\r\nb"), of("a\r\nb\r\nc"));
    let hunk = &hunks(&old, &new)[0];
    assert_eq!(shown(hunk), [" a", "-b", "+b␍", "+c"]);
    assert_eq!(text(&with(&old, &new, hunk, Some(&(3..4)))), "a\r\nb\r\nc");
    assert_eq!(text(&without(&old, &new, hunk, Some(&(1..2)))), "a\r\nb\r\nb\r\nc");
    assert_eq!(text(&without(&old, &new, hunk, Some(&(2..3)))), "a\r\nc");
}

#[test]
fn the_byte_order_mark_stays_at_the_beginning() {
    let (old, new) = (of("\u{feff}a\nb\n"), of("\u{feff}x\na\nb\n"));
    let hunk = &hunks(&old, &new)[0];
    assert_eq!(shown(hunk), ["-a", "+x", "+a", " b"]);
    assert_eq!(text(&with(&old, &new, hunk, Some(&(1..2)))), "\u{feff}a\nx\nb\n");
    assert_eq!(text(&without(&old, &new, hunk, Some(&(0..1)))), "\u{feff}a\nx\na\nb\n");
    assert_eq!(new_text(&new, hunk), "x\na\n");
    assert_eq!(text(&replaced(&new, hunk, &new.encode("y"))), "\u{feff}y\nb\n");
}

#[test]
fn another_encoding_changes_the_whole_file_and_lines_are_converted() {
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain("ä\nb\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let (old, new) = (of("ä\nc\n"), of(&utf16));
    let hunk = &hunks(&old, &new)[0];
    assert_eq!(shown(hunk), ["-ä", "-c", "+ä", "+b"]);
    assert_eq!(with(&old, &new, hunk, None), utf16);
    assert_eq!(text(&with(&old, &new, hunk, Some(&(3..4)))), "ä\nc\nb\n");
    let back = of(without(&old, &new, hunk, Some(&(1..2))));
    assert_eq!((back.encoding(), back.len(), back.shown(0)), (new.encoding(), 3, "c".to_owned()));
}

#[test]
fn a_hunk_can_be_edited() {
    let (old, new) = (of("a\r\nb\r\nc\r\n"), of("a\r\nX\r\nc\r\n"));
    let hunk = &hunks(&old, &new)[0];
    assert_eq!(new_text(&new, hunk), "X\n");
    assert_eq!(text(&replaced(&new, hunk, &new.encode("Y\nZ"))), "a\r\nY\r\nZ\r\nc\r\n");
    assert_eq!(text(&replaced(&new, hunk, b"")), "a\r\nc\r\n");
    let (old, new) = (of("a\nb\n"), of("b\n"));
    let hunk = &hunks(&old, &new)[0];
    assert_eq!((new_text(&new, hunk).as_str(), text(&replaced(&new, hunk, b"c")).as_str()), ("", "c\nb\n"));
}

#[test]
fn a_hunk_of_another_text_does_no_harm() {
    let (old, new) = (of(numbered_lines(50)), of(numbered_lines(50) + "more\n"));
    let hunk = &hunks(&old, &new)[0];
    let other = of("a\n");
    for sel in [None, Some(&(0..2))] {
        assert!(without(&other, &other, hunk, sel).starts_with(b"a\n"));
        assert!(with(&other, &other, hunk, sel).starts_with(b"a\n"));
    }
    assert_eq!(replaced(&other, hunk, b"b"), b"a\nb");
    assert_eq!(new_text(&other, hunk), "");
}

#[test]
fn many_lines_with_few_changes_are_compared_to_the_end() {
    let old = numbered_lines(100_000);
    let new = old.replace("line 10\n", "X\n").replace("line 50000\n", "").replace("line 99990\n", "line 99990\nY\n");
    let (old, new) = (of(old), of(new));
    // Work that grew with the square of the lines would run into the limit, and what is coarse has more lines than this.
    assert_eq!(counts(&old, &new), (2, 2));
    assert_eq!(hunks(&old, &new).len(), 3);
}

/// Lines of a small alphabet, so that much is equal, with all kinds of ends and marks.
fn file() -> impl Strategy<Value = Lines> {
    let line = prop_oneof![Just("a\n"), Just("b\n"), Just("c\n"), Just("a\r\n"), Just("\n"), Just("fn f\n")];
    let last = prop_oneof![Just(""), Just("a"), Just("b"), Just("c\r")];
    let bom = prop_oneof![4 => Just(""), 1 => Just("\u{feff}")];
    (bom, proptest::collection::vec(line, 0..24), last)
        .prop_map(|(bom, lines, last)| of(bom.to_owned() + &lines.concat() + last))
}

/// Two files that are alike.
fn pair() -> impl Strategy<Value = (Lines, Lines)> {
    let swap =
        proptest::collection::vec((0usize..40, 0usize..4, prop_oneof![Just(""), Just("a\n"), Just("x\ny\n")]), 0..5);
    let alike = (proptest::collection::vec(0..9u8, 0..40), swap).prop_map(|(ids, swaps)| {
        let old: Vec<String> = ids.iter().map(|id| format!("{id}\n")).collect();
        let mut new = old.clone();
        for (at, len, by) in swaps {
            let at = at.min(new.len());
            let end = (at + len).min(new.len());
            new.splice(at..end, by.split_inclusive('\n').map(str::to_owned));
        }
        (of(old.concat()), of(new.concat()))
    });
    prop_oneof![(file(), file()), alike]
}

fn sorted(bytes: &[u8]) -> Vec<String> {
    // Ends may be added to keep lines apart.
    let text = text(bytes).replace('\u{feff}', "");
    let mut lines: Vec<String> =
        text.split_inclusive('\n').map(|line| line.trim_end_matches(['\r', '\n']).to_owned()).collect();
    lines.sort();
    lines
}

fn selection(hunk: &Whole, (from, len): (usize, usize)) -> Range<usize> {
    let from = from % hunk.lines.len();
    from..(from + len).min(hunk.lines.len())
}

proptest! {
    #[test]
    fn edits_turn_the_old_into_the_new((old, new) in pair()) {
        let mut built = Vec::new();
        let (mut at_old, mut at_new) = (0, 0);
        for edit in edits(&old, &new) {
            prop_assert!(at_old == 0 && at_new == 0 || edit.old.start > at_old, "maximal");
            prop_assert!(!edit.old.is_empty() || !edit.new.is_empty());
            prop_assert_eq!(edit.old.start - at_old, edit.new.start - at_new);
            built.extend((at_old..edit.old.start).flat_map(|n| old.raw(n)));
            built.extend(edit.new.clone().flat_map(|n| new.raw(n)));
            (at_old, at_new) = (edit.old.end, edit.new.end);
        }
        built.extend((at_old..old.len()).flat_map(|n| old.raw(n)));
        prop_assert_eq!(text(&built), text(new.bytes()));
    }

    #[test]
    fn hunks_show_each_line_once_and_have_names_of_their_own((old, new) in pair()) {
        let hunks = hunks(&old, &new);
        let mut seen = HashSet::new();
        for hunk in &hunks {
            prop_assert_eq!(hunk.lines.len(), hunk.refs.len());
            let (mut o, mut n) = (hunk.old_start as usize - 1, hunk.new_start as usize - 1);
            for line in &hunk.refs {
                match *line {
                    LineRef::Same { old: a, new: b } => {
                        prop_assert_eq!((a, b, old.raw(a)), (o, n, new.raw(b)));
                        (o, n) = (o + 1, n + 1);
                    }
                    LineRef::Old(a) => { prop_assert_eq!(a, o); o += 1; }
                    LineRef::New(b) => { prop_assert_eq!(b, n); n += 1; }
                }
                let first = seen.insert(format!("{line:?}"));
                prop_assert!(first, "shown twice");
            }
            for line in &hunk.lines {
                prop_assert!(line.emphasis.iter().all(|e| line.text.get(e.start as usize..e.end as usize).is_some()));
            }
        }
        let ids: HashSet<HunkId> = hunks.iter().map(|hunk| hunk.id).collect();
        prop_assert_eq!(ids.len(), hunks.len());
        let sums = hunks.iter().fold((0, 0), |(a, r), hunk| (a + u64::from(hunk.added), r + u64::from(hunk.removed)));
        prop_assert_eq!(sums, counts(&old, &new));
    }

    #[test]
    fn all_taken_back_is_the_old_and_all_put_in_the_new((old, new) in pair(), pick in 0usize..9) {
        let mut now = new.clone();
        while let Some(hunk) = { let all = hunks(&old, &now); all.get(pick % all.len().max(1)).cloned() } {
            let next = of(without(&old, &now, &hunk, None));
            let left = |now: &Lines| { let (added, removed) = counts(&old, now); added + removed };
            prop_assert!(left(&next) < left(&now), "there is an end");
            now = next;
        }
        prop_assert_eq!(&now, &old);
        while let Some(hunk) = hunks(&now, &new).first() {
            now = of(with(&now, &new, hunk, None));
        }
        prop_assert_eq!(&now, &new);
    }

    #[test]
    fn from_last_to_first_nothing_is_computed_again((old, new) in pair()) {
        let all = hunks(&old, &new);
        let back = all.iter().rev().fold(new.clone(), |now, hunk| of(without(&old, &now, hunk, None)));
        prop_assert_eq!(&back, &old);
        let put = all.iter().rev().fold(old.clone(), |now, hunk| of(with(&now, &new, hunk, None)));
        prop_assert_eq!(&put, &new);
    }

    #[test]
    fn some_lines_put_in_and_the_same_taken_back_share_out_all_lines(
        (old, new) in pair(), at in 0usize..9, range in (0usize..50, 0usize..20),
    ) {
        let all = hunks(&old, &new);
        if let Some(hunk) = all.get(at % all.len().max(1)) {
            let sel = selection(hunk, range);
            let put = with(&old, &new, hunk, Some(&sel));
            let back = without(&old, &new, hunk, Some(&sel));
            let (mut both, mut sum) = (sorted(&put), sorted(old.bytes()));
            both.extend(sorted(&back));
            sum.extend(sorted(new.bytes()));
            both.sort();
            sum.sort();
            prop_assert_eq!(both, sum);
            let marks = text(&put).chars().skip(1).filter(|&c| c == BOM).count();
            prop_assert_eq!(marks, 0);
            let marks = text(&back).chars().skip(1).filter(|&c| c == BOM).count();
            prop_assert_eq!(marks, 0);
        }
    }

    #[test]
    fn what_is_not_chosen_stays_byte_for_byte((old, new) in pair(), at in 0usize..9) {
        let all = hunks(&old, &new);
        if let Some(hunk) = all.get(at % all.len().max(1)) {
            prop_assert_eq!(&of(with(&old, &new, hunk, Some(&(0..0)))), &old);
            prop_assert_eq!(&of(without(&old, &new, hunk, Some(&(0..0)))), &new);
            let whole = 0..hunk.lines.len();
            prop_assert_eq!(with(&old, &new, hunk, Some(&whole)), with(&old, &new, hunk, None));
            prop_assert_eq!(without(&old, &new, hunk, Some(&whole)), without(&old, &new, hunk, None));
        }
    }

    #[test]
    fn the_text_of_a_hunk_put_back_changes_nothing((old, new) in pair(), at in 0usize..9) {
        let all = hunks(&old, &new);
        if let Some(hunk) = all.get(at % all.len().max(1)) {
            let again = of(replaced(&new, hunk, &new.encode(&new_text(&new, hunk))));
            let plain = |lines: &Lines| text(lines.bytes()).replace("\r\n", "\n");
            prop_assert_eq!(plain(&again), plain(&new));
        }
    }
}
