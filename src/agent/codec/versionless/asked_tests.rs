//! Forms and pages as agents send them.

use super::*;
use serde_json::json;

fn form_of(schema: &str) -> Form {
    let params = format!(r#"{{"sessionId":"s","mode":"form","message":"M","requestedSchema":{schema}}}"#);
    match read(&params).unwrap().asking {
        Asking::Form(form) => Arc::unwrap_or_clone(form),
        Asking::Page(_) => panic!("a page"),
    }
}

fn refused(params: &Value) -> Refused {
    read(&params.to_string()).unwrap_err()
}

#[test]
fn r_421_r_429_fields_keep_their_order_and_one_that_cannot_be_read_harms_no_other() {
    let form = form_of(
        r##"{"type":"object","properties":{"z":{"type":"string","minLength":1,"maxLength":9,"pattern":"a","format":"email"},
        "a":7,"m":{"type":"integer","minimum":1,"maximum":5,"default":3},"b":{"type":"boolean","default":"yes"},
        "one":{"type":"string","oneOf":[{"const":"x","title":"X","description":"the x"},{"title":"no const"}],"default":"x"},
        "old":{"type":"string","enum":["p","q"],"enumNames":["P"]},
        "many":{"type":"array","items":{"anyOf":[{"const":"u","title":"U"}]},"minItems":1,"maxItems":2,"default":["u"]},
        "deep":{"type":"object","properties":{}},"self":{"$ref":"#"},"list":{"type":"array","items":{"type":"string"}}},
        "required":["z","deep"]}"##,
    );
    let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["z", "a", "m", "b", "one", "old", "many", "deep", "self", "list"]);
    let of = |name: &str| form.fields.iter().find(|field| field.name == name).unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(of("z").kind, FieldKind::Text { min: Some(1), max: Some(9), pattern: text("a"), format: text("email") });
    assert!(of("z").is_required && of("deep").is_required && !of("m").is_required);
    assert_eq!(of("m").default, Some(FieldValue::Number(3.into())));
    assert_eq!((&of("b").kind, &of("b").default), (&FieldKind::Switch, &None), "a default that does not fit is none");
    assert_eq!(of("one").choices().len(), 1);
    assert_eq!(of("one").default, Some(FieldValue::Text("x".into())));
    let titles: Vec<&str> = of("old").choices().iter().map(|choice| choice.title.as_str()).collect();
    assert_eq!(titles, ["P", "q"]);
    assert_eq!(of("many").default, Some(FieldValue::Many(vec!["u".into()])));
    for (name, what) in [
        ("a", "without a type"),
        ("deep", "of type object"),
        ("self", "a reference to another schema"),
        ("list", "a list of anything"),
    ] {
        assert_eq!(of(name).kind, FieldKind::Unknown(what.into()), "{name}");
    }
}

#[test]
fn r_414_an_unknown_mode_is_refused_and_is_no_form() {
    let with = |mode: Value| json!({ "sessionId": "s", "message": "m", "mode": mode, "requestedSchema": {} });
    assert_eq!(refused(&with(json!("video"))), bad("mode is neither form nor url"));
    assert_eq!(refused(&with(json!(null))), bad("mode is missing"));
    assert_eq!(refused(&json!({ "sessionId": "s", "mode": "form" })), bad("requestedSchema is missing"));
}

#[test]
fn r_419_a_form_is_for_a_session_or_for_a_call_of_ours() {
    let read = |scope: Value| {
        let mut params = json!({ "message": "m", "mode": "form", "requestedSchema": {} });
        params.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
        let asked = read(&params.to_string()).unwrap();
        (asked.session, asked.call)
    };
    assert_eq!(read(json!({ "sessionId": "s", "requestId": 4 })), (Some("s".into()), None));
    assert_eq!(read(json!({ "requestId": 4 })), (None, Some(4)));
    assert_eq!(read(json!({ "requestId": "4" })), (None, None));
}

#[test]
fn r_435_only_pages_that_nobody_on_the_way_can_change_are_offered() {
    let page = |url: &str| {
        let params = json!({ "sessionId": "s", "message": "m", "mode": "url", "elicitationId": "e", "url": url });
        read(&params.to_string()).map(|_| ())
    };
    for url in ["https://a.example/x", "http://localhost:80/x", "http://127.0.0.1?x", "http://[::1]/"] {
        assert_eq!(page(url), Ok(()), "{url}");
    }
    for url in [
        "https://google.com:80:evil.com/",
        "http://localhost:80@evil.com/x",
        "https://accounts.google.com:443@evil.com/",
        "https://a.example\\@evil.com/",
        "https://a.example:x/",
        "https://[::1]:0x50/",
    ] {
        assert_eq!(page(url), Err(bad("url names a user or an odd port besides its host")), "{url}");
    }
    for url in ["http://a.example", "http://localhost.example", "file:///etc/passwd", "javascript:x", "HTTPS://x", ""] {
        assert_eq!(page(url), Err(bad("url begins neither with https:// nor with http://localhost")), "{url}");
    }
    assert!(matches!(page(&format!("https://a.example/{}", "x".repeat(MAX_PATH))), Err(Refused::TooLarge(_))));
}

#[test]
fn a_form_that_is_too_large_is_refused_as_a_whole() {
    let form = |properties: Value| {
        refused(
            &json!({ "sessionId": "s", "message": "m", "mode": "form", "requestedSchema": { "properties": properties } }),
        )
    };
    let many: Map<String, Value> = (0..10_000).map(|n| (format!("f{n}"), json!({}))).collect();
    let Refused::TooLarge(why) = form(Value::Object(many)) else { panic!() };
    assert_eq!(why, "a form of 10000 fields, at most 200 are asked");
    let choices: Vec<String> = (0..=MAX_ANSWERS).map(|n| n.to_string()).collect();
    let Refused::TooLarge(why) = form(json!({ "a": { "type": "string", "enum": choices } })) else { panic!() };
    assert_eq!(why, "a field of 501 choices, at most 500 are asked");
    let Refused::TooLarge(why) = form(json!({ "a": { "title": "x".repeat(MAX_FORM) } })) else { panic!() };
    assert!(why.ends_with("are asked"), "{why}");
}

#[test]
fn r_427_values_are_sent_as_the_types_that_were_asked_for() {
    let values = vec![
        ("b".to_owned(), FieldValue::Bool(true)),
        ("n".to_owned(), FieldValue::Number(3.into())),
        ("l".to_owned(), FieldValue::Many(vec!["u".into()])),
        ("t".to_owned(), FieldValue::Text("x".into())),
        ("s".to_owned(), FieldValue::Secret(crate::model::login::Secret("hunter2".into()))),
        ("p".to_owned(), FieldValue::SecretNumber(crate::model::login::Secret("4711".into()))),
    ];
    assert_eq!(
        answer(&Reply::Filled(values.into())),
        json!({ "action": "accept", "content": { "b": true, "n": 3, "l": ["u"], "t": "x", "s": "hunter2", "p": 4711 } })
    );
    assert_eq!(answer(&Reply::Visits), json!({ "action": "accept" }));
    assert_eq!(answer(&Reply::Decline), json!({ "action": "decline" }));
    assert_eq!(answer(&Reply::Cancel), json!({ "action": "cancel" }));
}

#[test]
fn r_430_a_field_that_asks_for_a_secret_is_known_as_one() {
    let form = form_of(
        r#"{"properties":{"a":{"type":"string","format":"password"},"b":{"type":"string","writeOnly":true},
        "c":{"type":"string","title":"Your API token","default":"t"},"d":{"type":"string"},"token":{"type":"boolean"}}}"#,
    );
    assert_eq!(secret(&form), [true, true, true, false, false]);
    assert_eq!(form.fields[2].default, None);
}

fn secret(form: &Form) -> Vec<bool> {
    form.fields.iter().map(|field| field.is_secret).collect()
}

#[test]
fn r_430_a_field_is_hidden_for_its_description_or_for_what_the_form_is_about() {
    let of = |message: &str, properties: &str| {
        let params = format!(
            r#"{{"sessionId":"s","message":{},"mode":"form","requestedSchema":{{"properties":{properties}}}}}"#,
            json!(message)
        );
        let Asking::Form(form) = read(&params).unwrap().asking else { panic!() };
        secret(&form)
    };
    let pin = r#"{"value":{"type":"string","description":"The PIN of your card"},"n":{"type":"integer"}}"#;
    assert_eq!(of("Go on?", pin), [true, false]);
    let fields = r#"{"user":{"type":"string"},"value":{"type":"string"},"n":{"type":"number"},"ok":{"type":"boolean"},
        "one":{"enum":["a"]}}"#;
    assert_eq!(of("Enter your GitHub password", fields), [false, true, true, false, false]);
    assert_eq!(of("Which branch?", fields), [false; 5]);
}
