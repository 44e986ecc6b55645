//! Tests of `load`.

use proptest::prelude::*;

use super::*;

fn warnings(text: &str) -> Vec<String> {
    load("t", text).1.iter().map(ToString::to_string).collect()
}

#[test]
fn styles_palette_and_attributes() {
    let text = r##"
name = "mine"
background = "night"
[palette]
night = "#101010"
sky = 39
[styles]
accent = "sky"
dim = { fg = "bright-black", italic = true, bold = false }
md.heading.1 = { bold = true }
"md.code" = "cyan"
diff.add = { fg = "green", word = { reverse = true } }
"##;
    let (sheet, warnings) = load("t", text);
    assert_eq!(warnings, []);
    assert_eq!(sheet.name, "mine");
    assert_eq!(sheet.background, Some(Color::Rgb(16, 16, 16)));
    let fg = |c| Spec { fg: Some(c), ..Spec::default() };
    assert_eq!(sheet.styles[&Token::Accent], fg(Color::Indexed(39)));
    assert_eq!(sheet.styles[&Token::Dim], Spec { mods: Mods::ITALIC, ..fg(Color::Named(8)) });
    assert_eq!(sheet.styles[&Token::Heading1].mods, Mods::BOLD);
    assert_eq!(sheet.styles[&Token::Code], fg(Color::Named(6)));
    assert_eq!(sheet.styles[&Token::DiffAdd], fg(Color::Named(2)));
    assert_eq!(sheet.styles[&Token::DiffAddWord].mods, Mods::REVERSE);
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_the_rest_applies() {
    let text = "nam = 1\n[styles]\naccent = \"pink\"\ndim = { fg = \"red\", bald = true, bold = 3 }\nmd.wrong = \"red\"\ngood = \"green\"\n";
    let (sheet, _) = load("t", text);
    assert_eq!(sheet.styles[&Token::Good].fg, Some(Color::Named(2)));
    assert_eq!(sheet.styles[&Token::Dim].fg, Some(Color::Named(1)));
    let said = warnings(text);
    assert_eq!(said.len(), 5, "{said:#?}");
    assert!(said[0].starts_with("t.toml:1: unknown key \"nam\"; allowed: name"), "{}", said[0]);
    assert!(said[1].starts_with("t.toml:3: not a colour; allowed: "), "{}", said[1]);
    assert!(said[2].starts_with("t.toml:4: unknown key \"bald\"") || said[3].contains("bald"), "{said:#?}");
    assert!(said[4].starts_with("t.toml:5: unknown style \"md.wrong\"; allowed: text, "), "{}", said[4]);
}

#[test]
fn sections_of_the_wrong_kind() {
    assert_eq!(warnings("styles = 1\npalette = []\nname = 2").len(), 3);
    assert_eq!(warnings("inherits = 3"), ["t.toml:1: inherits must be a string: the name of a built-in theme"]);
}

#[test]
fn a_theme_inherits_and_its_palette_reaches_back() {
    let base = "[palette]\nmain = \"red\"\n[styles]\naccent = \"main\"\ngood = \"green\"";
    let library = |name: &str| (name == "base").then_some(base);
    let (sheet, warnings) =
        load_from("t", "inherits = \"base\"\n[palette]\nmain = \"blue\"\n[styles]\ngood = \"cyan\"", &library);
    assert_eq!(warnings, []);
    assert_eq!(sheet.styles[&Token::Accent].fg, Some(Color::Named(4)));
    assert_eq!(sheet.styles[&Token::Good].fg, Some(Color::Named(6)));
}

#[test]
fn circles_and_unknown_parents_are_warnings() {
    let library = |name: &str| match name {
        "a" => Some("inherits = \"b\"\n[styles]\ngood = \"red\""),
        "b" => Some("inherits = \"a\""),
        _ => None,
    };
    let (sheet, warnings) = load_from("t", "inherits = \"a\"", &library);
    assert_eq!(sheet.styles[&Token::Good].fg, Some(Color::Named(1)));
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].message.contains("in a circle: a → b → a"), "{}", warnings[0]);
    let (_, warnings) = load_from("t", "\ninherits = \"none\"", &library);
    assert!(warnings[0].to_string().starts_with("t.toml:2: there is no theme \"none\""), "{}", warnings[0]);
}

#[test]
fn built_in_themes_have_no_warnings() {
    for (name, text) in BUILTIN {
        let (sheet, warnings) = load(name, text);
        assert_eq!(warnings, [], "{name}");
        assert_eq!(sheet.name, name);
    }
}

proptest! {
    #[test]
    fn any_file_is_survived(text in "(\\PC|[\n\"=\\[\\]{}.]|styles|palette|inherits|= \"dark\"\n){0,40}") {
        let _ = load("t", &text);
    }
}
