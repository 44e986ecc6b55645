//! What a field takes and what it refuses, in the words of the schema.

use super::*;
use serde_json::json;

fn field(kind: FieldKind) -> Field {
    Field {
        name: "f".into(),
        title: None,
        description: None,
        is_required: false,
        is_secret: false,
        kind,
        default: None,
    }
}

fn text(min: Option<u64>, max: Option<u64>, pattern: Option<&str>, format: Option<&str>) -> Field {
    field(FieldKind::Text { min, max, pattern: pattern.map(Into::into), format: format.map(Into::into) })
}

fn choice(value: &str) -> Choice {
    Choice { value: value.into(), title: value.to_uppercase(), description: None }
}

fn refused(field: &Field, value: &Value) -> String {
    field.take(value).unwrap_err()
}

#[test]
fn r_425_each_rule_is_named_as_the_schema_names_it() {
    let word = text(Some(2), Some(3), Some("^[a-z]+$"), None);
    assert_eq!(word.take(&json!("ab")), Ok(FieldValue::Text("ab".into())));
    assert_eq!(word.take(&json!("äö")), Err("pattern ^[a-z]+$".into()), "characters are counted, not bytes");
    assert_eq!(refused(&word, &json!("a")), "minLength 2: it has 1 character");
    assert_eq!(refused(&word, &json!("abcd")), "maxLength 3: it has 4 characters");
    assert_eq!(refused(&word, &json!(1)), "type string");
    let number = |whole| field(FieldKind::Number { whole, min: Some(1.into()), max: Some(10.into()) });
    assert_eq!(number(true).take(&json!(10)), Ok(FieldValue::Number(10.into())));
    assert_eq!(number(true).take(&json!(3.0)), Ok(FieldValue::Number(3.into())));
    assert_eq!(refused(&number(true), &json!(0)), "minimum 1");
    assert_eq!(refused(&number(true), &json!(11)), "maximum 10");
    assert_eq!(refused(&number(true), &json!(1.5)), "type integer");
    assert_eq!(number(false).take(&json!(1.5)), Ok(FieldValue::Number(Number::from_f64(1.5).unwrap())));
    assert_eq!(refused(&number(false), &json!(10.5)), "maximum 10");
    let one = field(FieldKind::One(vec![choice("a"), choice("b")]));
    assert_eq!(one.take(&json!("a")), Ok(FieldValue::Text("a".into())));
    assert_eq!(refused(&one, &json!("A")), "enum: A is none of its values", "the value, not the title");
    let many = field(FieldKind::Many { choices: vec![choice("a"), choice("b")], min: Some(1), max: Some(1) });
    assert_eq!(many.take(&json!(["b", "b"])), Ok(FieldValue::Many(vec!["b".into()])));
    assert_eq!(refused(&many, &json!([])), "minItems 1: it has 0 items");
    assert_eq!(refused(&many, &json!(["a", "b"])), "maxItems 1: it has 2 items");
    assert_eq!(field(FieldKind::Switch).take(&json!(true)), Ok(FieldValue::Bool(true)));
    assert_eq!(refused(&field(FieldKind::Switch), &json!("yes")), "type boolean");
}

#[test]
fn r_422_formats_that_are_known_are_checked_and_others_are_not() {
    for (format, good, bad) in [
        ("email", "a.b@c.example", "a b@c"),
        ("email", "a@b", "a@@b"),
        ("uri", "https://a.example/x", "a.example"),
        ("uri", "urn:x", "1x:y"),
        ("date", "1969-02-28", "2026-02-30"),
        ("date", "2026-11-22", "2026-11-22T10:00:00Z"),
        ("date-time", "2026-11-22T10:00:00+02:00", "2026-11-22T10:00:00"),
        ("date-time", "2026-11-22T10:00:00Z", "2026-11-22"),
    ] {
        let field = text(None, None, None, Some(format));
        assert!(field.take(&json!(good)).is_ok(), "{format} {good}");
        assert_eq!(refused(&field, &json!(bad)), format!("format {format}"), "{bad}");
    }
    assert!(text(None, None, None, Some("moon-phase")).take(&json!("full")).is_ok());
}

#[test]
fn r_428_what_is_not_given_is_left_out_and_what_is_required_is_missed() {
    let mut form = Form { fields: vec![text(None, None, None, None), field(FieldKind::Switch)], ..Form::default() };
    assert_eq!(form.fill(|_, _| None), Ok(Vec::new()));
    form.fields[1].is_required = true;
    assert_eq!(form.fill(|_, _| None), Err(Unfit { field: 1, why: "required".into() }));
    form.fields[1].kind = FieldKind::Unknown("of type object".into());
    let why = "required, and of type object: it cannot be filled in here".to_owned();
    assert_eq!(form.fill(|_, _| None), Err(Unfit { field: 1, why }));
}

#[test]
fn r_431_a_secret_is_written_nowhere_but_in_the_answer() {
    let secret = Field { is_secret: true, ..text(None, None, None, None) };
    let given = secret.take(&json!("hunter2")).unwrap();
    assert_eq!(given, FieldValue::Secret(Secret("hunter2".into())));
    let pin = field(FieldKind::Number { whole: true, min: None, max: None });
    let pin = Field { is_secret: true, ..pin }.take(&json!(471_147)).unwrap();
    assert_eq!(pin, FieldValue::SecretNumber(Secret("471147".into())));
    let values = vec![("a".into(), given), ("p".into(), pin), ("b".into(), FieldValue::Bool(true))];
    let reply = Reply::Filled(Filled { values, is_kept: true });
    for said in [format!("{reply:?}"), serde_json::to_string(&reply).unwrap()] {
        assert!(!said.contains("hunter2") && !said.contains("471147"), "{said}");
    }
    assert_eq!(reply.secrets().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "p"]);
    let masked = || FieldValue::Text("…".into());
    let values = vec![("a".into(), masked()), ("p".into(), masked()), ("b".into(), FieldValue::Bool(true))];
    let brief = Reply::Filled(Filled { values, is_kept: true });
    assert_eq!(reply.without_secrets(), Some(brief.clone()));
    assert_eq!(reply.as_written(), Some(brief.clone()));
    let read: Reply = serde_json::from_str(&serde_json::to_string(&reply).unwrap()).unwrap();
    assert_eq!(read, brief, "what the journal has can be read back");
    assert_eq!(Reply::Decline.as_written(), None);
}

#[test]
fn r_431_what_is_not_kept_is_not_written_down() {
    let given = |value| vec![("a".to_owned(), FieldValue::Text("my words".into())), ("b".to_owned(), value)];
    let reply = Reply::Filled(given(FieldValue::Bool(true)).into());
    let written = serde_json::to_string(&reply).unwrap();
    assert_eq!(written, r#"{"Filled":[["a","…"],["b","…"]]}"#);
    assert_eq!(reply.as_written(), Some(serde_json::from_str(&written).unwrap()));
    assert_eq!(reply.without_secrets(), Some(reply), "a recording has it");
    // As it was written before any could be kept.
    let older: Reply = serde_json::from_str(r#"{"Filled":[["a","my words"],["b",true]]}"#).unwrap();
    assert_eq!(older, Reply::Filled(given(FieldValue::Bool(true)).into()));
}
