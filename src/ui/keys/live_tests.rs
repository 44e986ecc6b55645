use super::*;
use crate::ui::keys::Code;
use crate::ui::keys::ReviewKey;

fn warnings(text: &str) -> Vec<String> {
    Keymap::read(text, "keys.toml").1.iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_binds_takes_away_and_is_in_the_help() {
    let text = "[[bind]]\non = \"f11\"\nrun = \"open-review\"\nwhen = \"composer\"\n\n[[bind]]\non = \"ctrl+y\"\nrun = \"none\"\n";
    let (map, warnings) = Keymap::read(text, "keys.toml");
    assert_eq!(warnings, []);
    let f11 = Key::plain(Code::F(11));
    assert_eq!(map.resolve(Layer::Composer, f11), Some(Action::OpenReview));
    assert_eq!(map.resolve(Layer::Dock, f11), Some(Action::Inline), "only where the file says");
    assert_eq!(map.resolve(Layer::Composer, Key::ctrl(Code::Char('y'))), None);
    assert_eq!(map.label(Layer::Composer, Action::OpenReview).as_deref(), Some("F11"));
    assert_eq!(map.label(Layer::Composer, Action::CopyAnswer), None);
    let rows: Vec<String> = map.help(Layer::Composer).map(|row| row.keys).collect();
    assert!(rows.contains(&"F11, F3, Alt+R".to_owned()), "{rows:?}");
}

#[test]
fn keys_that_are_pressed_one_after_the_other_are_bound_and_in_the_help() {
    let text = "[[bind]]\non = [\"ctrl+k ctrl+s\", \"ctrl+k r\"]\nrun = \"open-review\"\nwhen = \"composer\"\n";
    let (map, warnings) = Keymap::read(text, "keys.toml");
    assert_eq!(warnings, []);
    let (k, s, r) = (Key::ctrl(Code::Char('k')), Key::ctrl(Code::Char('s')), Key::char('r'));
    assert!(
        map.begins(Layer::Composer, &[k]) && !map.begins(Layer::Composer, &[k, s]) && !map.begins(Layer::Dock, &[k])
    );
    assert_eq!(map.chord(Layer::Composer, &[k, r]), Some(Action::OpenReview));
    assert_eq!(map.resolve(Layer::Composer, k), None, "it only begins something");
    assert_eq!(map.resolve(Layer::Composer, s), Some(Action::Stash));
    let rows: Vec<String> = map.help(Layer::Composer).map(|row| row.keys).collect();
    assert!(rows.contains(&"F3, Alt+R, Ctrl+K r, Ctrl+K Ctrl+S".to_owned()), "{rows:?}");
    assert!(rows.iter().all(|keys| keys != "Ctrl+K"), "{rows:?}");
    let (again, warnings) = Keymap::read(&map.as_toml(), "keys.toml");
    assert_eq!((again.as_toml(), warnings), (map.as_toml(), Vec::new()), "printed and read back");
    // A set has some; the person's own single key goes first, and takes one away.
    let x = Key::ctrl(Code::Char('x'));
    let emacs = |more: &str| Keymap::read(&format!("preset = \"emacs\"\n{more}"), "keys.toml").0;
    assert!(emacs("").begins(Layer::Composer, &[x]));
    for more in ["[[bind]]\non = \"ctrl+x\"\nrun = \"help\"", "[[bind]]\non = \"ctrl+x ctrl+e\"\nrun = \"none\""] {
        assert!(!emacs(more).begins(Layer::Composer, &[x]), "{more}");
    }
}

#[test]
fn a_row_in_which_two_things_are_wrong_tells_both() {
    let told = warnings("[[bind]]\non = \"f33\"\nrun = \"nonsense\"");
    let [key, run] = told.as_slice() else { panic!("{told:?}") };
    assert!(key.starts_with("keys.toml:2: \"f33\" is no key"), "{key}");
    assert!(run.starts_with("keys.toml:3: nothing is called \"nonsense\""), "{run}");
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_changes_nothing() {
    for (text, wanted) in [
        (
            "[[bind]]\non = \"f11\"\nrun = \"fly\"",
            "keys.toml:3: nothing is called \"fly\"; `acp-tui keys` lists all names",
        ),
        ("[[bind]]\non = \"hyper+x\"\nrun = \"submit\"", "keys.toml:2: \"hyper+x\" is no key"),
        ("[[bind]]\non = \"f11\"\nrun = \"submit\"\nwhen = \"moon\"", "keys.toml:4: there is no place \"moon\""),
        (
            "[[bind]]\non = \"x\"\nrun = \"submit\"\nwhen = \"composer\"",
            "keys.toml:2: \"x\" is text or an answer in composer",
        ),
        (
            "[[bind]]\non = \"1\"\nrun = \"escape\"\nwhen = \"question\"",
            "keys.toml:2: \"1\" is text or an answer in question",
        ),
        (
            "[[bind]]\non = \"1 x\"\nrun = \"escape\"\nwhen = \"question\"",
            "keys.toml:2: \"1 x\" is text or an answer in question",
        ),
        (
            "[[bind]]\non = \"ctrl+x\"\nrun = \"help\"\n[[bind]]\non = \"ctrl+x f1\"\nrun = \"redraw\"\nwhen = \"list\"",
            "keys.toml:5: \"ctrl+x f1\" in list begins as the one of line 2; the longer one counts",
        ),
        ("[[bind]]\non = \"f1 f2 f3 f4 f5\"\nrun = \"help\"", "keys.toml:2: \"f1 f2 f3 f4 f5\" is no key"),
        ("[[bind]]\non = \"f11\"", "keys.toml:1: a bind needs `on`"),
        ("bind = 3", "keys.toml:1: bind is a list of tables"),
        ("color = 1", "keys.toml:1: unknown key \"color\""),
        ("preset = \"nano\"", "keys.toml:1: preset is one of default, emacs, vim"),
        (
            "[[bind]]\non = \"f11\"\nrun = \"help\"\n[[bind]]\non = \"f11\"\nrun = \"redraw\"\nwhen = \"list\"",
            "keys.toml:5: \"f11\" in list is bound on line 2 already",
        ),
    ] {
        let said = warnings(text);
        assert!(said.iter().any(|line| line.starts_with(wanted)), "{text}: {said:?}");
    }
}

#[test]
fn vim_comes_with_its_preset_or_by_itself() {
    for (text, modal) in [
        ("", false),
        ("preset = \"vim\"", true),
        ("preset = \"emacs\"\nvim = true", true),
        ("preset = \"vim\"\nvim = false", false),
    ] {
        let (map, warnings) = Keymap::read(text, "keys.toml");
        assert_eq!((map.is_modal(), warnings), (modal, Vec::new()), "{text}");
    }
    let twice = "[[bind]]\non = \"ctrl+x\"\nrun = \"help\"\n[[bind]]\non = \"ctrl+x f1\"\nrun = \"help\"";
    assert_eq!(
        warnings(twice),
        ["keys.toml:5: \"ctrl+x f1\" in every place begins as the one of line 2; the longer one counts"],
        "one line, however many places"
    );
    assert_eq!(warnings("vim = 1"), ["keys.toml:1: vim is true or false"]);
}

#[test]
fn presets_are_sound_and_what_the_person_says_goes_before_them() {
    for (name, text) in PRESETS {
        assert_eq!(warnings(text), Vec::<String>::new(), "{name}");
        assert_eq!(warnings(&format!("preset = {name:?}")), Vec::<String>::new());
    }
    let (map, _) = Keymap::read("preset = \"emacs\"\n[[bind]]\non = \"alt+x\"\nrun = \"help\"", "keys.toml");
    assert_eq!(map.resolve(Layer::Composer, Key::ctrl(Code::Char('p'))), Some(Action::Up));
    assert_eq!(map.resolve(Layer::Composer, Key::alt(Code::Char('x'))), Some(Action::Help));
}

/// What `acp-tui keys` prints is a file that changes nothing, and so are the keys as they come.
#[test]
fn the_whole_table_can_be_read_back() {
    let map = Keymap::default();
    for text in [map.as_toml().as_str(), include_str!("../../../assets/keys.default.toml")] {
        let (read, warnings) = Keymap::read(text, "keys.toml");
        assert_eq!(warnings, []);
        let (now, was) = (read.as_toml(), map.as_toml());
        assert_eq!(now.lines().zip(was.lines()).find(|(now, was)| now != was), None);
        assert_eq!(now.len(), was.len());
        is_same(&read, &map);
    }
    // They stand over a preset, and one that is changed counts.
    let usual = include_str!("../../../assets/keys.default.toml");
    let (read, _) = Keymap::read(&format!("preset = \"emacs\"\n{usual}"), "keys.toml");
    is_same(&read, &map);
    let changed = usual.replacen("on = [\"enter\"]\nrun = \"submit\"", "on = [\"f13\"]\nrun = \"submit\"", 1);
    let (read, warnings) = Keymap::read(&changed, "keys.toml");
    assert_eq!((read.resolve(Layer::Composer, Key::plain(Code::F(13))), warnings), (Some(Action::Submit), Vec::new()));
}

fn is_same(read: &Keymap, map: &Keymap) {
    for layer in LAYERS {
        for bind in keymap::all(layer) {
            if let Keys::These(keys) = &bind.keys {
                for key in keys {
                    assert_eq!(read.resolve(layer, *key), map.resolve(layer, *key), "{layer:?} {key}");
                }
            }
        }
    }
}

#[test]
fn keys_are_spelled_in_one_way() {
    for (text, key) in [
        ("ctrl+G", Key::ctrl(Code::Char('g'))),
        ("shift+tab", Key::plain(Code::BackTab)),
        ("+", Key::char('+')),
        ("ctrl++", Key::ctrl(Code::Char('+'))),
        ("A", Key::char('A')),
        ("F12", Key::plain(Code::F(12))),
    ] {
        assert_eq!(Key::parse(text), Some(key), "{text}");
    }
    for text in ["", "ctrl+", "f0", "f119", "ctrl+ctrl", "\u{1b}"] {
        assert_eq!(Key::parse(text), None, "{text}");
    }
    assert_eq!(Action::OpenReview.name(), "open-review");
    assert_eq!(Action::Review(ReviewKey::NextHunk).name(), "review-next-hunk");
}

#[test]
fn hints_name_keys_as_they_are_bound_and_leave_out_what_has_none() {
    let usual = Keymap::default();
    let hint = "ready · {F1} keys · {Tab}, then {question r} starts it";
    assert_eq!(usual.say(Layer::Composer, hint), "ready · F1 keys · Tab, then r starts it");
    let (map, _) = Keymap::read("[[bind]]\non = [\"f1\", \"tab\"]\nrun = \"none\"", "keys.toml");
    assert_eq!(map.say(Layer::Composer, hint), "ready");
    assert_eq!(map.hint(Layer::Composer, " · {F1} keys"), None);
    let (emacs, _) = Keymap::read("preset = \"emacs\"", "keys.toml");
    assert_eq!(emacs.say(Layer::Composer, "{Ctrl+P} finds anything"), "Alt+X finds anything");
    let begins = "[[bind]]\non = \"ctrl+x\"\nrun = \"sessions\"\n[[bind]]\non = \"ctrl+x f1\"\nrun = \"help\"";
    let (map, _) = Keymap::read(begins, "keys.toml");
    assert_eq!(map.say(Layer::Composer, "{F8} lists them"), "F8 lists them", "the other one only begins something");
}

/// What is between quotes in a line of ours, without what stands in braces.
fn words_of(line: &str) -> Vec<String> {
    let mut rest = line.split_once("//").filter(|(front, _)| front.trim().is_empty()).map_or(line, |_| "");
    let mut found = Vec::new();
    while let Some((words, behind)) = rest.split_once('"').and_then(|(_, rest)| rest.split_once('"')) {
        rest = behind;
        let mut bare = String::new();
        let mut depth = 0;
        for c in words.chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if depth == 0 && c != '}' {
                bare.push(c);
            }
        }
        found.push(bare);
    }
    found
}

#[test]
fn no_words_of_the_screen_name_a_key_as_it_comes() {
    // Before there is a session keys are as they come; Vim's own are not in the table; a name alone is looked up.
    const FIXED: [&str; 3] = ["agent_picker.rs", "view/help.rs", "tty/"];
    let is_key = |word: &str| {
        let of_mods = ["Ctrl+", "Shift+"].iter().any(|mods| word.starts_with(mods));
        let of_alt = word.strip_prefix("Alt+").is_some_and(|rest| rest != "digit" && !rest.is_empty());
        let function = word.strip_prefix('F').is_some_and(|n| n.parse::<u8>().is_ok());
        of_mods || of_alt || function || ["Tab", "Esc", "Enter", "PageDown", "PageUp", "Delete"].contains(&word)
    };
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/ui"));
    let (mut places, mut wrong) = (vec![root.to_owned()], Vec::new());
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = place.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if name.ends_with("_tests.rs") || name.starts_with("keys/") || FIXED.iter().any(|fixed| name.starts_with(fixed))
        {
            continue;
        }
        let text = std::fs::read_to_string(&place).unwrap();
        let ours = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (at, line) in ours.lines().enumerate() {
            for words in words_of(line) {
                let mut named = words.split(|c: char| !(c.is_alphanumeric() || "+]".contains(c)));
                if !is_key(words.trim()) && named.any(is_key) {
                    wrong.push(format!("{name}:{}: {words}", at + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
