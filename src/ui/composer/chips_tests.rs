use crate::ui::composer::Composer;
use crate::ui::keys::Action;
use proptest::prelude::*;

fn lines(n: usize) -> String {
    (0..n).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat()
}

fn typed(c: &mut Composer, text: &str) {
    for ch in text.chars() {
        c.apply(Action::Char(ch));
    }
}

fn rows(c: &Composer) -> Vec<String> {
    c.layout(60, 20).rows
}

#[test]
fn a_long_paste_is_one_word_and_all_of_it_is_there() {
    let mut c = Composer::default();
    typed(&mut c, "see ");
    c.paste_folded(&lines(400));
    typed(&mut c, " there");
    assert_eq!(rows(&c), ["see [pasted 400 lines] there"]);
    assert_eq!(c.layout(60, 20).folded, [(0, 4..22)]);
    assert_eq!(c.text(), format!("see {} there", lines(400)));
    assert_eq!(c.layout(60, 20).cursor, (28, 0));
    assert_eq!(c.take(), format!("see {} there", lines(400)));
    assert_eq!(rows(&c), [""]);
    c.paste_folded(&lines(8));
    assert_eq!(rows(&c).len(), 9, "a short one is not folded");
    c.clear();
    c.paste_folded(&"x".repeat(1001));
    assert_eq!(rows(&c), ["[pasted 1001 characters]"]);
}

#[test]
fn the_same_words_that_were_typed_are_words() {
    let mut c = Composer::default();
    typed(&mut c, "[pasted 400 lines]");
    assert_eq!(c.layout(60, 20).folded, []);
    c.apply(Action::Backspace);
    assert_eq!(c.text(), "[pasted 400 lines");
}

#[test]
fn the_cursor_passes_over_it_and_it_is_deleted_as_one() {
    let mut c = Composer::default();
    typed(&mut c, "a ");
    c.paste_folded(&lines(20));
    typed(&mut c, "b");
    c.apply(Action::Left);
    c.apply(Action::Left);
    assert_eq!(c.layout(60, 20).cursor, (2, 0));
    c.apply(Action::Right);
    assert_eq!(c.layout(60, 20).cursor, (19, 0));
    c.apply(Action::Backspace);
    assert_eq!(c.text(), "a b");
    c.apply(Action::Undo);
    assert_eq!(rows(&c), ["a [pasted 20 lines]b"]);
    c.apply(Action::Undo);
    c.apply(Action::Undo);
    assert_eq!(c.text(), "a ");
    c.apply(Action::Redo);
    assert_eq!(rows(&c), ["a [pasted 20 lines]"]);
    for action in [Action::DeleteWordBack, Action::KillLine] {
        let mut c = c.clone();
        c.apply(action);
        assert_eq!(c.text(), if action == Action::KillLine { "" } else { "a " });
    }
    c.apply(Action::Home);
    c.apply(Action::KillToEnd);
    assert_eq!(c.text(), "");
    c.apply(Action::Yank);
    assert_eq!(c.text(), format!("a {}", lines(20)));
}

#[test]
fn it_is_unfolded_once_and_for_all() {
    let mut c = Composer::default();
    assert!(!c.unfold());
    c.paste_folded(&lines(9));
    assert!(c.unfold() && !c.unfold());
    assert_eq!(rows(&c).len(), 10);
    assert_eq!(c.text(), lines(9));
}

#[test]
fn two_of_them_are_two_words_and_a_row_keeps_one_whole() {
    let mut c = Composer::default();
    c.paste_folded(&lines(12));
    c.paste_folded(&lines(13));
    assert_eq!(rows(&c), ["[pasted 12 lines][pasted 13 lines]"]);
    assert_eq!(c.layout(20, 5).rows, ["[pasted 12 lines]", "[pasted 13 lines]"]);
    assert_eq!(c.layout(8, 5).rows, ["[paste…", "[paste…"]);
    c.apply(Action::Home);
    typed(&mut c, "x");
    c.prepend("back");
    assert_eq!(c.text(), format!("back\n\n{}x{}", lines(12), lines(13)));
}

const EDITS: [Action; 14] = [
    Action::Left,
    Action::Right,
    Action::Up,
    Action::Down,
    Action::Home,
    Action::End,
    Action::WordLeft,
    Action::WordRight,
    Action::Backspace,
    Action::Delete,
    Action::DeleteWordBack,
    Action::KillToEnd,
    Action::Undo,
    Action::Redo,
];

proptest! {
    #![proptest_config(crate::random(200))]
    /// Whatever is pressed, the cursor is drawn inside of the rows, all of it can be undone and done again, and unfolding
    /// changes no text.
    #[test]
    fn what_is_folded_is_never_lost(keys in prop::collection::vec(0u8..18, 1..60), width in 1u16..40) {
        let mut c = Composer::default();
        let mut pasted = 0;
        for key in keys {
            match key {
                0 | 1 => {
                    c.paste_folded(&lines(9 + pasted));
                    pasted += 1;
                }
                2 => typed(&mut c, "a 漢\u{301}"),
                3 => typed(&mut c, "\u{200d}"),
                key => {
                    c.apply(EDITS[usize::from(key) - 4]);
                }
            }
            let view = c.layout(width, 6);
            prop_assert!(usize::from(view.cursor.1) < view.rows.len());
            prop_assert!(view.cursor.0 <= width);
            prop_assert!(c.text().is_char_boundary(c.buffer().cursor()));
        }
        for _ in 0..200 {
            c.apply(Action::Undo);
        }
        prop_assert_eq!(c.text(), "");
        for _ in 0..200 {
            c.apply(Action::Redo);
        }
        let whole = c.text().to_owned();
        c.unfold();
        prop_assert_eq!(c.text(), whole);
    }
}
