use super::*;
use crate::ui::composer::Composer;
use proptest::prelude::*;

/// What Vim itself makes of texts and keys; see `tests/vim/generate.py`.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vim/cases.json");

type Case = (usize, String, Option<String>, usize);

fn key_of(c: char) -> Key {
    match c {
        '\u{1b}' => Key::plain(Code::Esc),
        '\u{12}' => Key::ctrl(Code::Char('r')),
        c => Key::char(c),
    }
}

/// A composer in normal mode with the cursor at a place.
fn normal(text: &str, at: usize) -> (Vim, Composer) {
    let (mut vim, mut composer) = (Vim::default(), Composer::default());
    composer.set_text(text);
    let _ = composer.modal(&mut vim, Key::plain(Code::Esc));
    composer.begin_at(at);
    (vim, composer)
}

fn typed(vim: &mut Vim, composer: &mut Composer, keys: &str) {
    for c in keys.chars() {
        if composer.modal(vim, key_of(c)) == Took::Passed && !vim.commands() {
            let _ = composer.apply(Action::Char(c));
        }
    }
}

#[test]
fn keys_do_what_vim_does() {
    let texts: Vec<(String, Vec<Case>)> = serde_json::from_str(&std::fs::read_to_string(CASES).unwrap()).unwrap();
    let (mut all, mut wrong) = (0, Vec::new());
    for (text, cases) in &texts {
        for (at, keys, after, cursor) in cases {
            let (mut vim, mut composer) = normal(text, *at);
            typed(&mut vim, &mut composer, keys);
            let wanted = after.as_ref().unwrap_or(text);
            all += 1;
            let has = (composer.text(), composer.buffer().cursor());
            if has != (wanted.as_str(), *cursor) {
                wrong.push(format!("{text:?} at {at}, {keys:?}: {has:?}, Vim has {:?}", (wanted, cursor)));
            }
        }
    }
    assert!(all > 1000);
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}

const KEYS: &str = "hjklwbeWBE0^$gGfFtT;,%{}()dcy><~uUrRpPxXDCYSsJvViaoOIA.123\"ap+ \u{1b}\u{1b}\u{1b}\u{12}['";

proptest! {
    #![proptest_config(crate::random(300))]
    /// Whatever is pressed, the cursor stands on a character, and what was done can be undone.
    #[test]
    fn any_keys_leave_a_sound_text(text in "[ab .(\"\n漢é👩\u{301}]{0,30}", keys in prop::collection::vec(0..100_usize, 0..40)) {
        let (mut vim, mut composer) = normal(&text, 0);
        let begun = composer.text().to_owned();
        let all: Vec<char> = KEYS.chars().collect();
        for key in keys {
            typed(&mut vim, &mut composer, &all[key % all.len()].to_string());
            let cursor = composer.buffer().cursor();
            prop_assert_eq!(crate::ui::composer::place::boundary_at_or_after(composer.text(), cursor), cursor);
            let view = composer.layout(20, 4);
            for (row, columns) in composer.selected(&vim, &view) {
                prop_assert!(usize::from(row) < view.rows.len() && columns.start <= columns.end);
            }
        }
        typed(&mut vim, &mut composer, "\u{1b}\u{1b}");
        for _ in 0..200 {
            let _ = composer.apply(Action::Undo);
        }
        prop_assert_eq!(composer.text(), begun);
        prop_assert!(vim.registers.get(None).is_none_or(|held| held.text.len() < MAX_TYPED));
    }
}

#[test]
fn a_count_makes_no_more_than_can_be_read() {
    let (mut vim, mut composer) = normal("", 0);
    typed(&mut vim, &mut composer, "99999999iword \u{1b}yy99999p");
    assert!(composer.text().len() <= 3 * MAX_TYPED);
}

#[test]
fn the_clipboard_gets_what_goes_to_its_register() {
    let (mut vim, mut composer) = normal("one two", 0);
    typed(&mut vim, &mut composer, "\"+y");
    assert_eq!(composer.modal(&mut vim, Key::char('w')), Took::Copied("one ".into()));
    typed(&mut vim, &mut composer, "$\"*p");
    assert_eq!(composer.text(), "one twoone ");
}

#[test]
fn keys_of_other_layers_are_passed_and_letters_never_are() {
    let (mut vim, mut composer) = normal("one", 0);
    for key in [Key::plain(Code::Enter), Key::plain(Code::Esc), Key::plain(Code::Tab), Key::alt(Code::Char('1'))] {
        assert_eq!(composer.modal(&mut vim, key), Took::Passed, "{key}");
    }
    for c in '!'..='~' {
        let (mut vim, mut composer) = normal("one", 0);
        assert_ne!(composer.modal(&mut vim, Key::char(c)), Took::Passed, "{c}");
    }
    assert_eq!(composer.modal(&mut vim, Key::char('j')), Took::Instead(Action::Down));
    assert_eq!(composer.modal(&mut vim, Key::char('k')), Took::Instead(Action::Up));
}

#[test]
fn what_is_folded_is_one_character_of_its_line() {
    let pasted = (1..=20).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let folded = |keys: &str| {
        let (mut vim, mut composer) = (Vim::default(), Composer::default());
        composer.paste("ab ");
        composer.paste_folded(&pasted);
        composer.paste(" cd");
        let _ = composer.modal(&mut vim, Key::plain(Code::Esc));
        typed(&mut vim, &mut composer, keys);
        composer.text().replace(&pasted, "[]")
    };
    for (keys, left) in [("0dw", "[] cd"), ("0wx", "ab  cd"), ("dd", ""), ("0wD", "ab "), ("0x", "b [] cd")] {
        assert_eq!(folded(keys), left, "{keys}");
    }
}
