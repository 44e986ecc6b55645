//! Wherever an expression is found there is a clue, in the text and in any JSON that says it.

use super::*;
use proptest::prelude::*;

fn sort(regex: &str) -> &'static str {
    match Clues::of_regex(regex) {
        Clues::Words(_) => "words",
        Clues::Looser(Looser { is_of_line: true, .. }) => "line",
        Clues::Looser(_) => "lines",
        Clues::None => "none",
    }
}

#[test]
fn most_expressions_have_words() {
    let all = [
        (r"NEEDLE_\d+", "words"),
        (r"\w+Error\b", "words"),
        (r"^\s*(?:error|warning)\[", "words"),
        (r"(?i)needle in a haystack", "words"),
        (r"(?i)^kiss$", "words"),
        (r"(foo)+bar?", "words"),
        (r"\d+(?:ms|x+needle)", "words"),
        (r"[A-Z]+_\d{4}", "line"),
        (r"\b\d\d:\d\d\b", "line"),
        (r"\d\s\d", "lines"),
        (r"x?", "none"),
        (r"\b", "none"),
    ];
    for (regex, want) in all {
        assert_eq!(sort(regex), want, "{regex}");
    }
}

#[test]
fn what_a_string_says_is_told_or_it_is_not() {
    let says = |json: &str| {
        let mut out = Vec::new();
        unescape(json.as_bytes(), &mut out).then(|| String::from_utf8(out).unwrap())
    };
    assert_eq!(says(r#"a\n\"\\\/\u00e9\ud83d\ude00z"#).unwrap(), "a\n\"\\/é😀z");
    for broken in [r"\ud83d", r"\ud83dx", r"\ud83d\u0041", r"\u12", r"\", r"\q"] {
        assert_eq!(says(broken), None, "{broken}");
    }
}

#[test]
fn the_rarest_part_of_an_expression_is_looked_for() {
    let looks_for = |regex: &str, text: &str| match Clues::of_regex(regex) {
        Clues::Words(words) => words.is_in(text.as_bytes()),
        _ => panic!("{regex} has words"),
    };
    for (regex, has, has_not) in [
        ("(?i)needle in the", "a NEEDle In tHe", "is there in the end"),
        ("(?i)zzznothing", "zZzNothinG", "nothing is something"),
        (r"there is \w+ quay", "there is a quay", "there is a way"),
    ] {
        assert!(looks_for(regex, has), "{regex}: {has}");
        assert!(!looks_for(regex, has_not), "{regex}: {has_not}");
    }
}

#[test]
fn a_letter_that_is_spelt_with_its_number_is_no_reason_to_read() {
    let Clues::Words(words) = Clues::of_literal("café") else { panic!("it has a word") };
    let may_be_in = |json: &str| words.may_be_in_json(json.as_bytes(), &mut Vec::new());
    assert!(!may_be_in(r#"{"text":"a \u2014 b, na\u00efve"}"#));
    assert!(may_be_in(r#"{"text":"a \u2014 b, caf\u00e9"}"#));
    assert!(may_be_in(r#"{"text":"what is broken \ud83d is read"}"#));
}

proptest! {
    #![proptest_config(crate::random(500))]
    #[test]
    fn where_an_expression_is_found_there_is_a_clue(regex in regexes(), text in "[abkK\u{17f}\u{212a}12 \"\\\\/\n\té😀]{0,12}") {
        if !Regex::new(&regex).is_ok_and(|built| built.is_match(&text)) {
            return Ok(());
        }
        let json = serde_json::to_string(&text).unwrap();
        let codes: String = text.encode_utf16().fold(String::new(), |codes, unit| codes + &format!("\\u{unit:04x}"));
        for json in [&json, &json.replace('/', "\\/"), &codes] {
            let (in_text, in_json) = match Clues::of_regex(&regex) {
                Clues::Words(words) => (words.is_in(text.as_bytes()), words.may_be_in_json(json.as_bytes(), &mut Vec::new())),
                Clues::Looser(looser) => {
                    (looser.is_in(text.as_bytes()), looser.may_be_in_json(json.as_bytes(), &mut Vec::new()))
                }
                Clues::None => (true, true),
            };
            prop_assert!(in_text && in_json, "{:?} in {:?}, {}", regex, text, json);
        }
    }
}

/// Expressions over a few letters, some of which have other spellings.
pub fn regexes() -> impl Strategy<Value = String> {
    let atoms = [
        "a", "b", "k", "1", "ab", "\"", "/", r"\n", "é", "😀", ".", r"\d", r"\s", r"\w", "[^a]", "[ak]", r"\b", "^",
        "$",
    ];
    let one = proptest::sample::select(atoms.to_vec()).prop_map(str::to_owned);
    let more = one.prop_recursive(3, 12, 4, |inner| {
        let many = proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            many.clone().prop_map(|all| all.concat()),
            many.prop_map(|all| format!("(?:{})", all.join("|"))),
            (inner.clone(), proptest::sample::select(vec!["+", "?", "*", "{2}", "{1,2}"]))
                .prop_map(|(one, times)| format!("(?:{one}){times}")),
            inner.prop_map(|one| format!("({one})")),
        ]
    });
    (more, any::<bool>()).prop_map(|(regex, is_any_case)| if is_any_case { format!("(?i){regex}") } else { regex })
}
