//! The table from keys to actions as it comes, with what each does: `assets/keys.default.toml`.
//!
//! Reads no file. Whether a layer has the focus is not decided here; what the person changes stands over these rows, in
//! [`super::live`]. Invariant: every row of the file is one here, which a test holds.

use super::action::Action;
use super::bind::{Bind, Keys};
use super::key::{Code, Key};
use super::layer::{LAYERS, Layer};
use std::sync::LazyLock;
use toml::de::{DeTable, DeValue};

const FILE: &str = include_str!("../../../assets/keys.default.toml");

static ROWS: LazyLock<Vec<Bind>> = LazyLock::new(|| {
    let (table, _) = DeTable::parse_recoverable(FILE);
    let rows = table.get_ref().get("bind").and_then(|rows| rows.get_ref().as_array());
    rows.into_iter().flatten().filter_map(|row| read(row.get_ref().as_table()?)).collect()
});

/// Reads the table, which is done otherwise when it is first asked for.
pub fn read_ahead() {
    LazyLock::force(&ROWS);
}

/// Whether a row is one of these.
pub(super) fn is_row(row: &DeTable<'_>) -> bool {
    read(row).is_some_and(|row| ROWS.contains(&row))
}

fn read(row: &DeTable<'_>) -> Option<Bind> {
    let value = |name: &str| row.get(name).map(|value| value.get_ref());
    let text = |name: &str| value(name)?.as_str();
    let on: Vec<&str> = value("on")?.as_array()?.iter().filter_map(|key| key.get_ref().as_str()).collect();
    let keys = match *on {
        ["1-9"] => Keys::Digits,
        ["alt+1-9"] => Keys::AltDigits,
        ["text"] => Keys::Text,
        ref on => Keys::These(on.iter().map(|name| Key::parse(name)).collect::<Option<_>>()?),
    };
    let action = match (&keys, text("run")?) {
        (Keys::These(keys), "write") => match keys.first()?.code {
            Code::Char(c) => Action::Char(c),
            _ => return None,
        },
        (_, name) => Action::called(name)?,
    };
    let layers = match value("when") {
        None => LAYERS.into_iter().filter(|layer| *layer != Layer::Terminal).collect(),
        Some(DeValue::Array(words)) => {
            words.iter().map(|word| Layer::called(word.get_ref().as_str()?)).collect::<Option<_>>()?
        }
        Some(word) => vec![Layer::called(word.as_str()?)?],
    };
    Some(Bind { keys, action, what: text("does")?.to_owned(), layers })
}

/// What `key` means with the focus in `layer`; `None` if nothing.
pub fn resolve(layer: Layer, key: Key) -> Option<Action> {
    all(layer).find_map(|bind| bind.matches(key))
}

/// The rows of a layer: its own, then those that hold everywhere.
pub(super) fn all(layer: Layer) -> impl Iterator<Item = &'static Bind> {
    ROWS.iter().filter(move |bind| bind.layers.contains(&layer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keys::Keymap;

    fn label(layer: Layer, action: Action) -> Option<String> {
        Keymap::default().label(layer, action)
    }

    #[test]
    fn every_row_of_the_file_is_one_here_and_spelled_as_it_would_be() {
        assert_eq!(ROWS.len(), FILE.matches("[[bind]]").count());
        for bind in &*ROWS {
            let keys = match &bind.keys {
                Keys::These(keys) => {
                    keys.iter().map(|key| format!("{:?}", key.spelled())).collect::<Vec<_>>().join(", ")
                }
                Keys::Digits => r#""1-9""#.to_owned(),
                Keys::AltDigits => r#""alt+1-9""#.to_owned(),
                Keys::Text => r#""text""#.to_owned(),
            };
            assert!(FILE.contains(&format!("on = [{keys}]")), "{keys}");
            let is_named = matches!(bind.keys, Keys::These(_)) && !matches!(bind.action, Action::Char(_));
            assert!(!is_named || Action::called(&bind.action.name()) == Some(bind.action), "{}", bind.action.name());
        }
    }

    #[test]
    fn every_row_of_help_does_what_it_says() {
        for layer in LAYERS {
            for bind in all(layer).filter(|bind| bind.layers.len() + 1 < LAYERS.len()) {
                if let Keys::These(keys) = &bind.keys {
                    for key in keys {
                        let does = resolve(layer, *key);
                        assert!(does == Some(bind.action) || bind.layers.len() > 1, "{layer:?} {key}: {does:?}");
                    }
                }
            }
            let map = Keymap::default();
            assert!(map.help(layer).all(|row| !row.keys.is_empty() && !row.what.is_empty()));
        }
    }

    #[test]
    fn dock_letters_are_text_in_the_composer() {
        for c in "rskqv159".chars() {
            assert_eq!(resolve(Layer::Composer, Key::char(c)), Some(Action::Char(c)));
        }
        assert_eq!(resolve(Layer::Dock, Key::char('r')), Some(Action::Restart));
        assert_eq!(resolve(Layer::Dock, Key::char('v')), Some(Action::RawInput));
    }

    #[test]
    fn digits_answer_only_in_the_dock() {
        assert_eq!(resolve(Layer::Dock, Key::char('3')), Some(Action::Answer(3)));
        assert_eq!(resolve(Layer::Dock, Key::char('0')), None);
        assert_eq!(resolve(Layer::Dock, Key::alt(Code::Char('3'))), Some(Action::Reply(3)));
        assert_eq!(resolve(Layer::Composer, Key::alt(Code::Char('3'))), Some(Action::Reply(3)));
        assert_eq!(resolve(Layer::Composer, Key::char('3')), Some(Action::Char('3')));
        assert_eq!(resolve(Layer::Picker, Key::char('3')), Some(Action::Char('3')));
    }

    #[test]
    fn other_text_in_the_dock_does_nothing() {
        assert_eq!(resolve(Layer::Dock, Key::char('m')), None);
        assert_eq!(resolve(Layer::Dock, Key::char(' ')), None);
    }

    #[test]
    fn a_command_that_is_typed_into_gets_every_key_but_one() {
        for key in [Key::ctrl(Code::Char('c')), Key::plain(Code::Esc), Key::plain(Code::F(1)), Key::char('k')] {
            assert_eq!(resolve(Layer::Terminal, key), None, "{key}");
        }
        assert_eq!(label(Layer::Terminal, Action::LeaveTerminal).as_deref(), Some("Ctrl+]"));
        assert_eq!(label(Layer::Composer, Action::TypeInto).as_deref(), Some("F6"));
        assert_eq!(label(Layer::Composer, Action::KillCommand).as_deref(), Some("F7"));
        assert_eq!(resolve(Layer::Dock, Key::alt(Code::Char('k'))), None, "k in the dock ends the agent");
    }

    #[test]
    fn keys_of_the_first_screen() {
        let c = Layer::Composer;
        assert_eq!(resolve(c, Key::plain(Code::Enter)), Some(Action::Submit));
        assert_eq!(resolve(c, Key::alt(Code::Enter)), Some(Action::Newline));
        assert_eq!(resolve(c, Key::ctrl(Code::Char('j'))), Some(Action::Newline));
        assert_eq!(resolve(c, Key::shift(Code::Enter)), Some(Action::Newline));
        assert_eq!(resolve(c, Key::plain(Code::Esc)), Some(Action::Escape));
        assert_eq!(resolve(c, Key::plain(Code::BackTab)), Some(Action::NextMode));
        assert_eq!(resolve(c, Key::plain(Code::F(2))), Some(Action::OptionsList));
        assert_eq!(resolve(c, Key::plain(Code::F(12))), Some(Action::MouseToggle));
        assert_eq!(resolve(c, Key::alt(Code::Char('p'))), Some(Action::FocusDock));
        assert_eq!(resolve(c, Key::ctrl(Code::Home)), Some(Action::ToTop));
        assert_eq!(resolve(c, Key::ctrl(Code::Char('x'))), None);
    }

    #[test]
    fn hints_name_a_key_that_works() {
        assert_eq!(label(Layer::Composer, Action::CopyAnswer).as_deref(), Some("Ctrl+Y"));
        assert_eq!(label(Layer::Picker, Action::NextMode), None);
        assert_eq!(label(Layer::Composer, Action::Newline).as_deref(), Some("Alt+Enter"));
    }

    #[test]
    fn letters_of_the_review_are_text_where_text_is_written() {
        for c in "axAX+!uevoEnpq1R".chars() {
            for layer in [Layer::Composer, Layer::Line, Layer::ReviewEdit] {
                assert_eq!(resolve(layer, Key::char(c)), Some(Action::Char(c)), "{c}");
            }
        }
    }
}
