use super::*;
use crate::text::line::LogicalLine;
use crate::ui::md::tests::CORPUS;
use crate::ui::md::{lines, pieces};
use proptest::prelude::*;

fn in_pieces(text: &str, split: &StablePrefix, width: u16) -> Vec<LogicalLine> {
    (0..split.pieces().len()).flat_map(|n| pieces::lines(text, split, n, width)).collect()
}

fn show(lines: &[LogicalLine]) -> String {
    let lines: Vec<_> = lines.iter().map(|l| format!("{:>4}|{}", l.prefix.as_str(), l.text.as_str())).collect();
    lines.join("\n")
}

#[track_caller]
fn same(text: &str, split: &StablePrefix) {
    for width in [12, 60] {
        let (mut whole, mut cut) = (lines(text, width), in_pieces(text, split, width));
        // The keys of program text count from the beginning of a piece.
        whole.iter_mut().chain(&mut cut).for_each(|line| line.code = None);
        assert!(
            whole == cut,
            "text {text:?}\npieces {:?}\nwhole:\n{}\nin pieces:\n{}",
            split.pieces(),
            show(&whole),
            show(&cut)
        );
    }
}

#[test]
fn every_prefix_of_the_corpus_is_as_the_whole() {
    let mut split = StablePrefix::new();
    for (at, c) in CORPUS.char_indices() {
        let text = &CORPUS[..at + c.len_utf8()];
        split.extend(text, Markdown::Yes);
        if at % 3 == 0 || c == '\n' {
            same(text, &split);
        }
    }
    same(CORPUS, &split);
    assert!(split.pieces().len() >= 15, "{:?}", split.pieces());
}

#[test]
fn a_tab_behind_the_sign_of_an_item_ends_where_the_line_has_it() {
    for text in ["-  \t)\n\n  \t)\n\n-  \t\t)\n  \t)\n\nr\n", "1. \ta\n\n    b\n\n2. \tc\n\n    d\n\nr\n"] {
        let mut split = StablePrefix::new();
        split.extend(text, Markdown::Yes);
        same(text, &split);
    }
}

#[test]
fn a_table_without_content_shows_its_heads_where_it_is_a_list() {
    for text in ["one head|\n-|\n||\n\n1\n", "one | other\n-|-\n||\n||\n\n1\n"] {
        let mut split = StablePrefix::new();
        split.extend(text, Markdown::Yes);
        assert_eq!(split.pieces().len(), 2, "{:?}", split.pieces());
        for width in [4, 12, 60] {
            let drawn = show(&in_pieces(text, &split, width));
            assert_eq!(show(&lines(text, width)), drawn);
            assert!(drawn.contains("one") && drawn.contains('1'), "{width}: {drawn}");
        }
    }
}

#[test]
fn what_follows_an_empty_item_is_as_far_from_it_after_a_piece_as_in_the_whole() {
    let text = ">F\n\n *\n:]*";
    let mut split = StablePrefix::new();
    split.extend(text, Markdown::Yes);
    assert_eq!(split.pieces().len(), 2, "{:?}", split.pieces());
    same(text, &split);
}

#[test]
fn what_follows_an_empty_quote_is_as_far_from_it_after_a_piece_as_in_the_whole() {
    for text in ["a>%>\n\n>>>>\n>>%>\nb", "a>\n\n>>>>\n>>\n>>c\n", "a\n\n> >\n> >\n> d"] {
        let mut split = StablePrefix::new();
        split.extend(text, Markdown::Yes);
        assert_eq!(split.pieces().len(), 2, "{:?}", split.pieces());
        same(text, &split);
    }
}

#[test]
fn a_definition_whose_later_line_stands_far_in_draws_nothing() {
    for text in ["[\t*\n\t\t]:[\t\t\n\n]\t:*!\n+m!\n", "[a\n    b]: /x\n\ntext\n", "[a\n    b\n\ntext [a\n    b]\n"] {
        let mut split = StablePrefix::new();
        split.extend(text, Markdown::Yes);
        same(text, &split);
    }
}

#[test]
fn how_it_arrives_does_not_matter_for_the_lines() {
    for step in [1, 7, 20, 64, 4096] {
        let mut split = StablePrefix::new();
        let mut at = 0;
        while at < CORPUS.len() {
            at = CORPUS.ceil_char_boundary((at + step).min(CORPUS.len()));
            split.extend(&CORPUS[..at], Markdown::Yes);
        }
        same(CORPUS, &split);
    }
}

fn line() -> impl Strategy<Value = String> {
    let fixed = [
        "",
        "",
        "",
        "text",
        "more text",
        "- item",
        "* star",
        "+ plus",
        "1. one",
        "2) two",
        "  indented",
        "    code",
        "\ttab",
        "   three",
        "```",
        "```rust",
        "````",
        "~~~",
        "  ```",
        "   ```",
        "> quote",
        "> - q",
        ">",
        "# h",
        "## h2",
        "---",
        "***",
        "- - -",
        "===",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "<div>",
        "</div>",
        "<!-- c",
        "-->",
        "<pre>",
        "</pre>",
        "<b>x</b> y",
        "[a] and [b][a]",
        "- ",
        "-",
        "1.",
        "10. ten",
        "  - sub",
        "   1. sub",
        "      deep",
        "- ```",
        "\\",
        "&amp;",
        "`code`",
        "a | b",
        "-|-",
        "**b",
        "- [ ] task",
        "x\u{1b}[1m",
        "é",
        "    - x",
        "-\ttab item",
        "1. > q",
        "end\u{b}```",
        "\u{c}```\u{2028}- more",
    ];
    (0..fixed.len()).prop_map(move |n| fixed[n].to_owned())
}

proptest! {
    #![proptest_config(crate::random(800))]

    #[test]
    fn any_lines_in_pieces_are_as_the_whole(lines in proptest::collection::vec(line(), 0..14), step in 1usize..9) {
        let text = lines.join("\n") + "\n";
        let mut split = StablePrefix::new();
        let mut at = 0;
        while at < text.len() {
            at = text.ceil_char_boundary((at + step).min(text.len()));
            split.extend(&text[..at], Markdown::Yes);
        }
        same(&text, &split);
    }

    #[test]
    fn pieces_are_in_order_and_bounded(text in "[ab \n`\\-]{0,300}", repeat in 1usize..400) {
        let text = text.repeat(repeat);
        let mut split = StablePrefix::new();
        split.extend(&text, Markdown::Yes);
        let starts: Vec<_> = split.pieces().iter().map(|p| p.start as usize).collect();
        prop_assert!(starts.windows(2).all(|w| w[0] < w[1]));
        prop_assert!(starts.iter().all(|s| text.is_char_boundary(*s)));
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        for (start, end) in starts.iter().zip(ends) {
            prop_assert!(end - start <= OPEN_MAX + 600, "{start}..{end}");
        }
    }
}

#[test]
fn one_endless_line_is_cut() {
    for unit in ["x", "word ", "日本", "- item\n", "| a | b |\n", "```\n"] {
        let text = unit.repeat((1 << 20) / unit.len());
        for text in [text.clone(), format!("```\n{text}"), format!("| a | b |\n|--|--|\n{text}")] {
            let mut split = StablePrefix::new();
            let mut at = 0;
            while at < text.len() {
                at = text.ceil_char_boundary((at + 30_000).min(text.len()));
                split.extend(&text[..at], Markdown::Yes);
            }
            let longest = split.pieces().windows(2).map(|w| w[1].start - w[0].start).max().unwrap_or(0);
            assert!(longest as usize <= OPEN_MAX + 64, "{longest} {:?}", &text[..8]);
            assert!(text.len() - split.pieces().last().map_or(0, |p| p.start as usize) <= OPEN_MAX + 64);
        }
    }
}

#[test]
fn a_fence_ends_where_a_line_is_two_when_it_is_drawn() {
    for odd in ["end\u{b}```", "end\r```", "```\u{2028}- more", "\u{c}\u{c}~~~", "```\t", "```  ", "``` \t "] {
        let text = format!("```\na\n{odd}\n\n| b |\n|---|\n```\nc\n```\n\n- d\n");
        let mut split = StablePrefix::new();
        for at in 1..=text.len() {
            split.extend(&text[..text.ceil_char_boundary(at)], Markdown::Yes);
        }
        same(&text, &split);
    }
}

#[test]
fn a_fence_of_any_length_stays_code() {
    let text = format!("```rust\n{}```\n\nafter", "let x = 1; // some code\n".repeat(5000));
    let mut split = StablePrefix::new();
    split.extend(&text, Markdown::Yes);
    assert!(split.pieces().len() > 20);
    same(&text, &split);
}

/// Found by the fuzz target `markdown`.
#[test]
fn a_line_that_only_looks_like_a_definition_reaches_nothing() {
    for text in [
        "[t]:<\n",
        "see [t]\n\n[t]: a b\n",
        "see [t]\n\n[t]: <a b\n",
        "see [t]\n\n[t]: a\\)b \"title\"\n",
        "[*]\u{0}:'\n\n]\n\n[*]\n",
    ] {
        let mut split = StablePrefix::new();
        split.extend(text, Markdown::Yes);
        same(text, &split);
    }
}

/// Found by the fuzz target `markdown`.
#[test]
fn a_row_that_a_later_one_makes_the_head_of_a_table_defines_nothing() {
    for text in ["[a|\n|]\n\n[a|\n|]:|\n-|", "\t`\n\n\u{b}\th"] {
        let mut split = StablePrefix::new();
        for end in 1..=text.len() {
            split.extend(&text[..end], Markdown::Yes);
        }
        split.finish(text);
        same(text, &split);
    }
}

/// Found by the fuzz target `markdown`.
#[test]
fn a_definition_whose_label_has_several_lines_draws_nothing() {
    let escaped = "[\\]\n]:%\n\nU\n\nV";
    for text in ["[\nN]:T\n\nT", "[a\nb]:\n/url\n\nsee [a b]\n", "[\nno label\n\nT\n\nU", escaped] {
        let mut split = StablePrefix::new();
        for end in 1..=text.len() {
            split.extend(&text[..end], Markdown::Yes);
        }
        same(text, &split);
    }
}

#[test]
fn a_definition_that_comes_late_reaches_what_stands_before() {
    let text = "see [x]\n\npara\n\n[x]: http://e.org\n";
    let mut split = StablePrefix::new();
    split.extend(text, Markdown::Yes);
    assert_eq!(split.links_seen(), 1);
    same(text, &split);
    assert!(show(&in_pieces(text, &split, 80)).contains("x (http://e.org)"));
}

/// Found by the fuzz target `markdown`.
#[test]
fn of_two_definitions_in_different_pieces_the_first_one_counts() {
    let text = "[t]: /one\n\nsee [t]\n\npara\n\n[T]: /two\n\nsee [t] and ![a picture][t]\n\n[u]: /u\n\nsee [u]\n";
    let mut split = StablePrefix::new();
    split.extend(text, Markdown::Yes);
    assert!(split.pieces().len() > 3, "{:?}", split.pieces());
    same(text, &split);
    let shown = show(&in_pieces(text, &split, 80));
    assert!(!shown.contains("/two") && shown.contains("u (/u)"), "{shown}");
}

/// Found by the fuzz target `markdown`.
#[test]
fn a_definition_at_the_end_of_a_text_needs_no_end_of_line() {
    let of_item = "0<2-<<<<<< *[\n *]:\n \n* [* \n]:F-** ";
    for text in ["see [x]\n\npara\n\n[x]: http://e.org", of_item] {
        let mut split = StablePrefix::new();
        for end in 1..=text.len() {
            split.extend(&text[..end], Markdown::Yes);
        }
        assert_eq!(split.links_seen(), 0, "it may not have come whole");
        split.finish(text);
        assert_eq!(split.links_seen(), 1);
        same(text, &split);
    }
}
