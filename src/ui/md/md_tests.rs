use super::*;
use crate::text::line::WrapMode;
use crate::text::run::Mods;
use crate::text::wrap::{fit, wrap_lines};

pub(in crate::ui) const CORPUS: &str = "# What I found\n\nThe project is small; this paragraph is *long enough* to be **wrapped** in a narrow\nterminal and has `inline code`, a [link](https://example.org/docs) and ~~old~~ text.\n\n## Files\n\n- `README.md` - what it is\n- `src/main.rs` - where it begins\n  - nested, with a very long line that goes on and on so that it has to be wrapped at eighty columns\n  - second nested\n- `Cargo.toml`\n\n1. First\n2. Second\n   1. Sub step\n3. Third\n\n| File | Lines | Kind | Note |\n|:-----|------:|:----:|------|\n| `src/main.rs` | 42 | Rust | the `main` function |\n| `README.md` | 7 | Markdown | 日本語 and 🦀 |\n| a|b escaped \\| pipe | 1 | ? | odd |\n\n### Code\n\n```rust\n/// Adds two numbers.\nfn add(a: i32, b: i32) -> i32 {\n\n    a + b\n}\n```\n\n> A quote with **bold** text.\n> Second line.\n>\n> Third.\n\n```diff\n@@ -1 +1 @@\n-old line\n+new line\n```\nText right after.\n\nTasks:\n\n- [x] done\n- [ ] open\n\n* loose\n\n  with two paragraphs\n\n* and another\n\n      indented code in it\n\nSee [the guide][g] and [g].\n\n[g]: https://example.org/guide\n\n    indented code\n\n    goes on\n\n<div>\n```\n</div>\n\nAfter.\n\n![alt text](a.png) <https://example.org> hard  \nbreak\n\n---\n\nThat is all.\n";

/// Rows as they would be drawn, without colours.
fn drawn(text: &str, width: u16) -> String {
    let lines = lines(text, width);
    let mut out = String::new();
    for row in wrap_lines(&lines, width) {
        let line = &lines[row.line as usize];
        let fit = fit(line, width);
        let front = if row.first { &line.prefix } else { &line.hang };
        if if row.first { fit.prefix } else { fit.hang } {
            out.push_str(front.as_str());
        }
        out.push_str(&line.text.as_str()[row.range.start as usize..row.range.end as usize]);
        out.push('\n');
    }
    out
}

#[test]
fn headings_differ_without_marks_and_colour() {
    let lines = lines("# One\n## Two\n### Three\n#### Four", 80);
    let mods: Vec<_> = lines.iter().filter_map(|l| l.text.iter().next().map(|(t, s)| (t.to_owned(), s.mods))).collect();
    assert_eq!(mods.len(), 4);
    for (n, (text, style)) in mods.iter().enumerate() {
        assert!(!text.contains('#'));
        assert!(mods.iter().skip(n + 1).all(|(_, other)| other != style));
    }
    assert!(mods[0].1.contains(Mods::UNDERLINE) && mods[0].1.contains(Mods::BOLD));
}

#[test]
fn lists_keep_numbers_nesting_and_tasks() {
    let text = "3. three\n4. four\n   1. sub\n   2. sub two\n5. five\n\n- a\n  - b\n- [x] done\n- [ ] open\n";
    assert_eq!(drawn(text, 40), "3. three\n4. four\n   1. sub\n   2. sub two\n5. five\n\n• a\n  • b\n☑ done\n☐ open\n");
}

#[test]
fn items_hang() {
    assert_eq!(drawn("- one two three four five", 16), "• one two three\n  four five\n");
}

#[test]
fn a_table_has_aligned_columns_and_right_cells() {
    let text = "| File | Lines | Kind |\n|:--|--:|:-:|\n| a | 42 | Rust |\n| b \\| c | 7 | ? | too much |\n";
    assert_eq!(drawn(text, 60), "File   Lines  Kind\n─────  ─────  ────\na         42  Rust\nb | c      7   ?\n");
}

#[test]
fn a_table_shrinks_to_the_width_and_becomes_a_list_below() {
    let text = "| Name | What it does |\n|--|--|\n| add | adds two numbers and gives their sum |\n";
    let narrow = drawn(text, 30);
    assert!(narrow.lines().all(|l| l.chars().count() <= 30), "{narrow}");
    assert!(narrow.starts_with("Name  What it does\n────"), "{narrow}");
    assert_eq!(drawn(text, 16), "Name: add\nWhat it does:\nadds two numbers\nand gives their\nsum\n");
}

#[test]
fn code_is_only_code() {
    let lines = lines("```rust\nfn main() {\n\tx\n}\n```\n", 80);
    let texts: Vec<_> = lines.iter().map(|l| l.text.as_str()).collect();
    assert_eq!(texts, ["fn main() {", "\tx", "}"]);
    assert_eq!(lines[0].right.as_str(), "rust", "once, beside the first line");
    assert!(lines[1].right.is_empty());
    assert!(lines.iter().all(|l| l.wrap == WrapMode::Anywhere && l.prefix.as_str().trim().is_empty()));
}

#[test]
fn a_diff_fence_is_told_apart_by_tokens() {
    use crate::text::token::Token;
    let lines = lines("```diff\n-a\n+b\n c\n```", 80);
    let tokens: Vec<_> = lines.iter().filter_map(|l| l.text.iter().next().map(|(_, s)| s.token)).collect();
    assert_eq!(tokens, [Token::DiffDel, Token::DiffAdd, Token::CodeBlock]);
}

#[test]
fn links_images_quotes_and_rules() {
    assert_eq!(
        drawn("[text](https://e.org) <https://e.org> [https://e.org](https://e.org)", 80),
        "text (https://e.org) https://e.org https://e.org\n"
    );
    assert_eq!(drawn("![alt](a.png)", 80), "[image: alt] (a.png)\n");
    assert_eq!(drawn("> a\n> b\n>\n> c", 80), "▎ a b\n▎ \n▎ c\n");
    assert_eq!(drawn("a\n\n---\n\nb", 80), "a\n\n────────────\n\nb\n");
}

#[test]
fn breaks_and_html() {
    assert_eq!(drawn("a\nb  \nc<br>d <b>e</b>", 80), "a b\nc\nd <b>e</b>\n");
    assert_eq!(drawn("<div>\nx\n</div>\n", 80), "<div>\nx\n</div>\n");
}

#[test]
fn r_245_entities_cannot_spell_control_characters() {
    for text in
        ["&#27;[31mred", "`\u{9b}31m`", "[a](&#27;]52;x)", "| &#7; |\n|--|\n| &#27; |", "```&#27;\n\u{1b}[2J\n```"]
    {
        for line in lines(text, 40) {
            for part in [&line.text, &line.prefix, &line.hang] {
                assert!(!part.as_str().chars().any(char::is_control), "{text:?}");
            }
        }
    }
}

#[test]
fn the_corpus_at_forty_columns_fits() {
    for width in [10, 20, 40, 80, 120] {
        for row in drawn(CORPUS, width).lines() {
            assert!(crate::text::width::str_width(row) <= usize::from(width), "{width}: {row}");
            assert!(!row.ends_with("   "), "{width}: padded {row:?}");
        }
    }
}

#[test]
fn deep_nesting_is_no_trouble() {
    let text = format!("{}x", "> - ".repeat(3000));
    assert!(!lines(&text, 20).is_empty());
}
