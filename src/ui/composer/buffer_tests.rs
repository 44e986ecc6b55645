//! Editing by example and at random.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn with(text: &str) -> Buffer {
    let mut b = Buffer::default();
    b.set_text(text);
    b
}

#[test]
fn paste_is_exact_but_for_line_ends_and_controls() {
    let mut b = Buffer::default();
    b.paste("a\r\nb\rc\n\td\x1b[31m\u{9b}e\0");
    assert_eq!(b.text(), "a\nb\nc\n\td[31me");
}

#[test]
fn erasing_takes_whole_graphemes() {
    let mut b = with("x👩\u{200d}👩\u{200d}👧e\u{301}🇩🇪");
    b.backspace();
    b.backspace();
    assert_eq!(b.text(), "x👩\u{200d}👩\u{200d}👧");
    b.backspace();
    assert_eq!(b.text(), "x");
}

#[test]
fn typing_undoes_by_words() {
    let mut b = Buffer::default();
    for c in "one two three".chars() {
        b.insert_char(c);
    }
    b.undo();
    assert_eq!(b.text(), "one two ");
    b.undo();
    assert_eq!(b.text(), "one ");
    b.redo();
    assert_eq!(b.text(), "one two ");
    b.insert_char('!');
    assert!(!b.redo());
}

#[test]
fn words_and_lines() {
    let mut b = with("let foo_bar = 12;\nnext line");
    b.word_left();
    assert_eq!(b.cursor(), b.text().len() - 4);
    b.home();
    b.left();
    b.word_left();
    assert_eq!(&b.text()[b.cursor()..b.cursor() + 3], "12;");
    b.word_left();
    assert_eq!(&b.text()[b.cursor()..b.cursor() + 3], "foo");
    b.word_right();
    assert_eq!(b.before_cursor(), "let foo_bar");
}

#[test]
fn cuts_in_a_row_are_put_back_as_one() {
    let mut b = with("one two three");
    b.delete_word_back();
    b.delete_word_back();
    assert_eq!(b.text(), "one ");
    b.buffer_start();
    b.yank();
    assert_eq!(b.text(), "two threeone ");
    let mut b = with("a\nb");
    b.buffer_start();
    b.kill_to_end();
    b.kill_to_end();
    assert_eq!(b.text(), "b");
    b.yank();
    assert_eq!(b.text(), "a\nb");
    b.buffer_end();
    b.kill_line();
    b.kill_line();
    assert_eq!(b.text(), "a");
}

#[test]
fn up_and_down_keep_the_column_over_short_rows() {
    let mut b = with("long row\nx\nanother row");
    b.layout(40, 5);
    b.left();
    b.left();
    b.left();
    assert!(b.up());
    assert_eq!(b.before_cursor(), "long row\nx");
    assert!(b.up());
    assert_eq!(b.before_cursor(), "long row");
    assert!(!b.up());
    assert!(b.down() && b.down());
    assert_eq!(b.before_cursor(), "long row\nx\nanother ");
    assert!(!b.down());
}

#[test]
fn up_and_down_go_over_wrapped_rows() {
    let mut b = with("aaaa bbbb cccc");
    b.layout(6, 5);
    assert!(b.up());
    assert_eq!(b.before_cursor(), "aaaa bbbb");
    assert!(b.up());
    assert!(!b.up());
    assert_eq!(b.before_cursor(), "aaaa");
    b.home();
    b.end();
    assert_eq!(b.before_cursor(), "aaaa");
    b.end();
    assert_eq!(b.before_cursor(), "aaaa bbbb cccc");
}

#[test]
fn a_prompt_that_comes_back_stands_in_front() {
    let mut b = with("new");
    b.prepend("old");
    assert_eq!((b.text(), b.cursor()), ("old\n\nnew", 8));
    let mut b = Buffer::default();
    b.prepend("old");
    assert_eq!((b.text(), b.cursor()), ("old", 3));
    b.undo();
    assert!(b.is_empty());
}

#[test]
fn take_gives_everything_and_begins_anew() {
    let mut b = with("text");
    assert_eq!(b.take(), "text");
    assert!(b.is_empty() && !b.undo());
    assert_eq!(b.layout(10, 3).rows, [""]);
}

#[test]
fn a_character_that_changes_its_width_moves_the_rows_before_it() {
    // Three of these are one grapheme of six columns, too wide for the row that its word began in; a fourth makes it
    // wider than any row, and then it is shown as one column.
    let mut b = Buffer::default();
    b.paste("a bc\u{1100}\u{1100}\u{1100}x");
    b.left();
    assert_eq!(b.layout(7, 5).rows, ["a ", "bc", "\u{1100}\u{1100}\u{1100}", "x"]);
    b.paste("\u{1100}");
    assert_eq!(b.layout(7, 5).rows, ["a bc\u{fffd}x"]);
}

#[test]
fn five_megabytes_stay_usable() {
    // Counted in keys, not in seconds: with a full layout a key this takes minutes in a debug build.
    for unit in ["word and another\n", "no break at all ", "漢字"] {
        let mut b = Buffer::default();
        b.paste(&unit.repeat(5_000_000 / unit.len()));
        let size = b.text().len();
        for i in 0..300u32 {
            if i == 150 {
                b.buffer_start();
            }
            b.insert_char('x');
            let view = b.layout(80, 10);
            assert_eq!(view.rows.len(), 10);
        }
        assert_eq!(b.text().len(), size + 300);
    }
}

#[derive(Clone, Debug)]
enum Do {
    Type(char),
    Paste(String),
    Op(u8),
    Layout(u16, u16),
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "word ", "\n", "\t", "漢", "e", "\u{301}", "👩", "\u{200d}", "👧", "🇩", "🇪", "❤", "\u{fe0f}", "क", "्",
        "षि", "\r\n", "\r", "\x1b", "ᄀ", "ᅡ", "\u{200b}", "ا", "  ", "ｶ", "ﾞ",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|v| v.concat())
}

fn step() -> impl Strategy<Value = Do> {
    prop_oneof![
        3 => text().prop_map(|t| Do::Type(t.chars().next().unwrap_or('z'))),
        2 => text().prop_map(Do::Paste),
        6 => (0..22u8).prop_map(Do::Op),
        2 => (0..30u16, 0..6u16).prop_map(|(w, h)| Do::Layout(w, h)),
    ]
}

fn perform(b: &mut Buffer, step: &Do) {
    match step {
        Do::Type(c) => b.insert_char(*c),
        Do::Paste(t) => b.paste(t),
        Do::Layout(w, h) => {
            b.layout(*w, *h);
        }
        Do::Op(n) => match n {
            0 => b.left(),
            1 => b.right(),
            2 => b.word_left(),
            3 => b.word_right(),
            4 => b.home(),
            5 => b.end(),
            6 => b.buffer_start(),
            7 => b.buffer_end(),
            8 => drop(b.up()),
            9 => drop(b.down()),
            10 => b.backspace(),
            11 => b.delete(),
            12 => b.delete_word_back(),
            13 => b.delete_word_forward(),
            14 => b.kill_to_end(),
            15 => b.kill_line(),
            16 => b.yank(),
            17 => drop(b.undo()),
            18 => drop(b.redo()),
            19 => b.set_text("set\nanew"),
            20 => b.prepend("came back"),
            _ => b.first_row_end(),
        },
    }
}

fn on_boundary(b: &Buffer) -> bool {
    b.cursor() == b.text().len() || b.text().grapheme_indices(true).any(|(i, _)| i == b.cursor())
}

proptest! {
    #![proptest_config(crate::random(300))]

    #[test]
    fn whatever_is_done_the_invariants_hold(start in text(), steps in prop::collection::vec(step(), 0..40), w in 1..25u16, h in 1..8u16) {
        let mut b = Buffer::default();
        b.paste(&start);
        let start = b.text().to_owned();
        b.undo = Undo::default();
        for s in &steps {
            perform(&mut b, s);
            prop_assert!(on_boundary(&b), "{:?} at {} after {s:?}", b.text(), b.cursor());
            prop_assert!(!b.text().chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            let view = b.layout(w, h);
            prop_assert!(!view.rows.is_empty() && view.rows.len() <= usize::from(h));
            for row in &view.rows {
                let columns: u16 = row.graphemes(true).map(|g| u16::try_from(crate::base::width::grapheme(g)).unwrap()).sum();
                prop_assert!(columns <= w, "{row:?} at {w}");
                prop_assert!(!row.chars().any(char::is_control));
            }
            prop_assert!(usize::from(view.cursor.1) < view.rows.len());
            prop_assert!(view.cursor.0 <= w.saturating_sub(1).max(1));
            // The cache says what a fresh look says.
            let fresh = Buffer { text: b.text.clone(), cursor: b.cursor, ..Buffer::default() };
            prop_assert_eq!(view, fresh.layout(w, h));
        }
        while b.undo() {
            prop_assert!(on_boundary(&b));
        }
        prop_assert_eq!(b.text(), &start);
        while b.redo() {}
        while b.undo() {}
        prop_assert_eq!(b.text(), &start);
    }
}
