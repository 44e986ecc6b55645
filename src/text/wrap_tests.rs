//! Tests of `wrap`.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::run::StyledText;
use super::super::width::str_width;
use super::*;

fn line(text: &str, wrap: WrapMode) -> LogicalLine {
    LogicalLine { text: StyledText::from(text), wrap, ..LogicalLine::default() }
}

fn rows(line: &LogicalLine, width: u16) -> Vec<&str> {
    let mut out = Vec::new();
    wrap_line(line, width, &mut out);
    out.into_iter().map(|r| &line.text.as_str()[r.start as usize..r.end as usize]).collect()
}

fn words(text: &str, width: u16) -> Vec<String> {
    rows(&line(text, WrapMode::Words), width).into_iter().map(str::to_owned).collect()
}

#[test]
fn breaks_between_words_and_drops_the_spaces_there() {
    assert_eq!(words("the quick  brown fox", 10), ["the quick", "brown fox"]);
    assert_eq!(words("the quick brown", 9), ["the quick", "brown"]);
    assert_eq!(words("ends with spaces    ", 16), ["ends with spaces"]);
}

#[test]
fn an_empty_line_is_one_empty_row() {
    for wrap in [WrapMode::Words, WrapMode::Anywhere, WrapMode::Truncate] {
        assert_eq!(rows(&line("", wrap), 10), [""]);
    }
}

#[test]
fn long_words_are_cut_where_they_do_not_fit() {
    assert_eq!(words("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(words("ab cdefghij", 4), ["ab", "cdef", "ghij"]);
    assert_eq!(words("👩\u{200d}🚀👩\u{200d}🚀", 3), ["👩\u{200d}🚀", "👩\u{200d}🚀"]);
    assert_eq!(words("漢", 1), ["漢"]);
    assert_eq!(words("a漢b", 1), ["a", "漢", "b"]);
}

#[test]
fn indentation_is_kept() {
    assert_eq!(words("    let x = 1;", 10), ["    let x", "= 1;"]);
    assert_eq!(words("      ", 4), ["    ", "  "]);
}

#[test]
fn wide_characters_break_anywhere_but_not_before_punctuation() {
    assert_eq!(words("漢字漢字", 5), ["漢字", "漢字"]);
    assert_eq!(words("漢字漢。", 6), ["漢字", "漢。"]);
    assert_eq!(words("漢。字", 4), ["漢。", "字"]);
    assert_eq!(words("漢「字」", 4), ["漢", "「字", "」"]);
    assert_eq!(words("ok ✅.", 5), ["ok", "✅."]);
}

#[test]
fn no_break_spaces_hold_words_together() {
    assert_eq!(words("aa bb\u{a0}cc", 6), ["aa", "bb\u{a0}cc"]);
}

#[test]
fn anywhere_drops_nothing() {
    assert_eq!(rows(&line("ab cd  ef", WrapMode::Anywhere), 3), ["ab ", "cd ", " ef"]);
    assert_eq!(rows(&line("abe\u{301}d", WrapMode::Anywhere), 2), ["ab", "e\u{301}d"]);
    assert_eq!(rows(&line("a\tb", WrapMode::Anywhere), 4), ["a\t", "b"]);
}

#[test]
fn truncate_is_one_row_with_everything() {
    assert_eq!(rows(&line("a long line", WrapMode::Truncate), 3), ["a long line"]);
}

#[test]
fn prefix_and_hang_take_columns_while_there_are_enough() {
    let mut l = line("aaaa bbbb cccc dddd", WrapMode::Words);
    l.prefix = StyledText::from("• ");
    l.hang = StyledText::from("    ");
    assert_eq!(rows(&l, 13), ["aaaa bbbb", "cccc dddd"]);
    assert_eq!(fit(&l, 13), Fit { first: 11, rest: 9, prefix: true, hang: true });
    assert_eq!(fit(&l, 11), Fit { first: 9, rest: 11, prefix: true, hang: false });
    assert_eq!(fit(&l, 0), Fit { first: 1, rest: 1, prefix: false, hang: false });
    assert_eq!(rows(&l, 4), ["aaaa", "bbbb", "cccc", "dddd"]);
}

#[test]
fn a_narrower_second_row_is_respected() {
    let mut l = line("aa bbbbbbbbbbbbb", WrapMode::Words);
    l.hang = StyledText::from("      ");
    assert_eq!(rows(&l, 14), ["aa", "bbbbbbbb", "bbbbb"]);
}

#[test]
fn rows_know_their_line() {
    let lines = [line("aa bb", WrapMode::Words), line("", WrapMode::Words)];
    let got = wrap_lines(&lines, 3);
    assert_eq!(
        got,
        [
            Row { line: 0, range: 0..2, first: true },
            Row { line: 0, range: 3..5, first: false },
            Row { line: 1, range: 0..0, first: true }
        ]
    );
}

#[test]
fn a_line_of_half_a_megabyte_takes_linear_time() {
    let texts = [
        "x".repeat(1 << 19),
        "word and ".repeat(58_000),
        " ".repeat(1 << 19),
        "漢字 ".repeat(75_000),
        "a\u{301}".repeat(175_000),
    ];
    for text in &texts {
        for wrap in [WrapMode::Words, WrapMode::Anywhere] {
            for width in [1, 80, u16::MAX] {
                let started = Instant::now();
                let mut out = Vec::new();
                wrap_line(&line(text, wrap), width, &mut out);
                // Quadratic work would take minutes; the margin is for slow machines without optimisation.
                assert!(started.elapsed() < Duration::from_secs(5), "{} {width}", &text[..2]);
            }
        }
    }
}

fn mixed() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z]{1,12}",
        4 => " {1,3}",
        1 => "\t",
        2 => "[漢字仮名。「」]{1,4}",
        1 => Just("👩\u{200d}👩\u{200d}👧".to_owned()),
        1 => Just("🇩🇪".to_owned()),
        1 => "[a-z][\u{300}-\u{305}]{1,3}",
        1 => "\\PC{0,5}",
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|p| p.concat())
}

fn width_with_tabs(text: &str) -> usize {
    let mut used = 0;
    for (_, grapheme, width) in graphemes(text) {
        used += if grapheme == "\t" { tab_width(used) } else { width };
    }
    used
}

proptest! {
    #[test]
    fn nothing_is_lost_and_everything_fits(
        text in mixed(),
        width in 1u16..40,
        anywhere in any::<bool>(),
        prefix in 0usize..6,
        hang in 0usize..6,
    ) {
        let mut l = line(&text, if anywhere { WrapMode::Anywhere } else { WrapMode::Words });
        l.prefix = StyledText::from(" ".repeat(prefix).as_str());
        l.hang = StyledText::from(" ".repeat(hang).as_str());
        let fit = fit(&l, width);
        let mut out = Vec::new();
        wrap_line(&l, width, &mut out);
        prop_assert!(!out.is_empty());
        let mut at = 0;
        for (n, range) in out.iter().enumerate() {
            let (start, end) = (range.start as usize, range.end as usize);
            prop_assert!(at <= start && start <= end);
            let gap = &text[at..start];
            prop_assert!(gap.chars().all(char::is_whitespace) && (gap.is_empty() || !anywhere), "lost {gap:?}");
            let row = &text[start..end];
            let cols = if n == 0 { fit.first } else { fit.rest };
            let one = graphemes(row).count() <= 1;
            prop_assert!(width_with_tabs(row) <= cols || one, "{row:?} in {cols}");
            prop_assert!(n == 0 || end > start, "empty row");
            at = end;
        }
        let tail = &text[at..];
        prop_assert!(tail.chars().all(char::is_whitespace) && (tail.is_empty() || !anywhere), "lost {tail:?}");
    }

    #[test]
    fn any_width_is_survived(text in mixed(), width in any::<u16>()) {
        for wrap in [WrapMode::Words, WrapMode::Anywhere, WrapMode::Truncate] {
            prop_assert!(!rows(&line(&text, wrap), width).is_empty());
        }
    }

    #[test]
    fn str_width_is_the_sum_of_the_rows(text in "[a-z漢]{0,60}", width in 2u16..20) {
        let l = line(&text, WrapMode::Anywhere);
        prop_assert_eq!(rows(&l, width).iter().map(|r| str_width(r)).sum::<usize>(), str_width(&text));
    }
}
