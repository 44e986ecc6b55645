//! Forms of the agent without a screen: `--answers`.

use super::support::Lab;
use serde_json::{Value, json};

const SCHEMA: &str = r#"{ properties = { colour = { type = "string", enum = ["red", "green"] }, count = { type = "integer", maximum = 5 }, key = { type = "string", format = "password" } }, required = ["colour"] }"#;

fn steps() -> String {
    format!(
        r#"{{ do = "request", method = "elicitation/create", params = {{ sessionId = "{{session}}", mode = "form", message = "Which?", requestedSchema = {SCHEMA} }} }},
        {{ do = "say", text = "{{answer}}" }},"#
    )
}

/// What the agent got for an answer, and the line that tells of it.
fn asked(lab: &Lab, answers: Option<&str>) -> (Value, Value, String) {
    let file = answers.map(|answers| lab.write("answers.json", answers).display().to_string());
    let mut args = vec!["x", "--json"];
    if let Some(file) = &file {
        args.extend(["--answers", file]);
    }
    let done = lab.exec(&args, &lab.turn(&steps()));
    done.assert_code(0);
    let got: Value = serde_json::from_str(&done.json_text("text")).unwrap();
    let line = done.json().into_iter().find(|line| line["type"] == "elicitation").unwrap();
    (got["result"].clone(), line, done.err().to_owned())
}

#[test]
fn without_answers_a_form_is_declined() {
    let lab = Lab::new();
    let (got, line, _) = asked(&lab, None);
    assert_eq!(got, json!({ "action": "decline" }));
    assert_eq!((&line["message"], &line["action"]), (&json!("Which?"), &json!("decline")));
    assert!(line["id"].is_string());
}

#[test]
fn answers_are_taken_by_the_names_of_fields() {
    let lab = Lab::new();
    let (got, line, err) = asked(&lab, Some(r#"{"colour":"green","count":3,"other":1,"key":"hunter2"}"#));
    assert_eq!(got, json!({ "action": "accept", "content": { "colour": "green", "count": 3, "key": "hunter2" } }));
    assert_eq!((line["action"].as_str(), err.as_str()), (Some("accept"), ""));
    assert_eq!(line["masked"], json!(["key"]), "{line}");
    let (_, journal) = lab.journal();
    let ours = |line: &&str| line.contains("client->agent") || line.contains("AnswerAsked");
    let kept: Vec<&str> = journal.lines().filter(ours).collect();
    assert!(kept.iter().any(|line| line.contains("AnswerAsked")), "{journal}");
    assert!(kept.iter().all(|line| !line.contains("hunter2")), "{kept:?}");
}

#[test]
fn r_431_what_was_filled_in_is_in_the_journal_only_where_that_is_wanted_and_in_a_recording() {
    for is_kept in [false, true] {
        let lab = Lab::new();
        lab.write("config/acp-tui/config.toml", &format!("keep_form_answers = {is_kept}\n"));
        let answers = lab.write("answers.json", r#"{"colour":"green","count":3,"key":"hunter2"}"#);
        let recording = lab.path("recording.jsonl");
        let args = ["x", "--answers", answers.to_str().unwrap(), "--record", recording.to_str().unwrap()];
        let steps = steps().replace("{answer}", "done");
        lab.exec(&args, &lab.turn(&steps)).assert_code(0);
        let (_, journal) = lab.journal();
        let given = [r#""count":3"#, r#""colour":"green""#, r#"["colour","green"]"#];
        let found = given.map(|given| journal.contains(given));
        assert_eq!(found, [is_kept; 3], "{journal}");
        let recorded = std::fs::read_to_string(recording).unwrap();
        assert!(recorded.contains(r#""colour":"green""#) && !recorded.contains("hunter2"), "{recorded}");
    }
}

/// Every file below the directory, with its text as far as it is one.
fn files_of(dir: &std::path::Path, all: &mut Vec<(std::path::PathBuf, String)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_of(&path, all);
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            all.push((path, text));
        }
    }
}

#[test]
fn r_431_what_was_filled_in_as_a_secret_is_written_nowhere_even_when_the_agent_says_it_back() {
    let lab = Lab::new();
    let answers = lab.write("answers.json", r#"{"personalAccessToken":"hunter2hunter2","pin":47114711}"#);
    let recording = lab.path("recording.jsonl");
    let schema = r#"{ properties = { personalAccessToken = { type = "string" }, pin = { type = "integer" } } }"#;
    let steps = format!(
        r#"{{ do = "request", method = "elicitation/create", params = {{ sessionId = "{{session}}", mode = "form", message = "m", requestedSchema = {schema} }} }},
        {{ do = "say", text = "you said {{answer}}" }},"#
    );
    let args = ["x", "--json", "--answers", answers.to_str().unwrap(), "--record", recording.to_str().unwrap()];
    let done = lab.exec(&args, &lab.turn(&steps));
    done.assert_code(0);
    assert!(done.json_text("text").contains(r#""personalAccessToken":"…""#), "{}", done.json_text("text"));
    let mut files = Vec::new();
    files_of(&lab.path(""), &mut files);
    assert!(files.iter().any(|(path, text)| *path == recording && text.contains(r#""pin":"…""#)), "{files:?}");
    for (path, text) in files.iter().filter(|(path, _)| *path != answers) {
        assert!(!text.contains("hunter2") && !text.contains("47114711"), "{}: {text}", path.display());
    }
}

#[test]
fn answers_that_do_not_fit_decline_and_name_field_and_rule() {
    let lab = Lab::new();
    for (answers, why) in [
        (r#"{"colour":"blue"}"#, "declined: field colour: enum: blue is none of its values"),
        (r#"{"colour":"red","count":6}"#, "declined: field count: maximum 5"),
        (r#"{"count":1}"#, "declined: field colour: required"),
    ] {
        let (got, _, err) = asked(&lab, Some(answers));
        assert_eq!(got, json!({ "action": "decline" }), "{answers}");
        assert!(err.contains(why), "{err}");
    }
}

#[test]
fn a_file_that_is_no_object_is_wrong_usage() {
    let lab = Lab::new();
    for text in ["[1]", "x", ""] {
        let file = lab.write("answers.json", text).display().to_string();
        lab.exec(&["x", "--answers", &file], &lab.turn(""))
            .assert_says(2, &["--answers", "one JSON object by field name"]);
    }
    lab.exec(&["x", "--answers", "/nowhere"], &lab.turn("")).assert_says(2, &["--answers /nowhere: "]);
}
