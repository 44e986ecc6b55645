//! `--plain`: a session in lines. Nobody types here: a line is read when something can be done with it.

use super::support::{Done, Lab, Running, demo};
use std::process::Stdio;

const OPTIONS: &str = r#"[{ id = "y", name = "Yes", kind = "allow_once" }, { id = "a", name = "Always", kind = "allow_always" }, { id = "n", name = "No", kind = "reject_once" }]"#;

fn plain(lab: &Lab, input: &str, agent: &[String]) -> Done {
    let mut command = lab.program();
    command.arg("--plain").arg("--").args(agent);
    let mut running = Running::start(command, Stdio::piped());
    running.give(input.as_bytes());
    running.finish()
}

/// The places of these parts, which stand in this order.
#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("`{part}` is missing, or out of order:\n{text}") };
        rest = &rest[at + part.len()..];
    }
}

fn asks(call: &str, options: &str) -> String {
    format!(
        r#"{{ do = "permission", tool = "t", call = {{ {call} }}, options = {options}, allowed = [{{ do = "say", text = "(allowed)" }}], rejected = [{{ do = "say", text = "(refused)" }}] }},"#
    )
}

#[test]
fn a_question_is_told_whole_and_answered_by_its_number() {
    let lab = Lab::new();
    let call = r#"title = "Delete it", kind = "delete", locations = ["/w/old.txt"]"#;
    let done = plain(&lab, "clean up\n3\nand now?\n1\n", &lab.turn(&asks(call, OPTIONS)));
    let out = done.assert_code(0).out();
    let question = ["question: Demo agent wants to delete", "1: Yes (allows this once)", "2: Always (allows for good)"];
    in_order(
        out,
        &[&["state: Demo agent is ready", "you: clean up"], &question[..], &["(refused)", "end: the turn is over"]]
            .concat(),
    );
    in_order(out, &[&["you: and now?"], &question[..], &["(allowed)", "end: the turn is over"]].concat());
    assert!(out.contains("old.txt"), "the path is told: {out}");
}

#[test]
fn what_is_no_number_answers_nothing_and_waits_as_a_prompt() {
    let lab = Lab::new();
    let agent = lab.turn(&asks(r#"title = "Do it", kind = "execute""#, OPTIONS));
    let done = plain(&lab, "first\nyes\n9\n:no because\n1\n1\n", &agent);
    let out = done.assert_code(0).out();
    in_order(out, &["question:", "this prompt waits", "there is no answer 9", "(refused)", "you: because", "you: yes"]);
    assert_eq!(out.matches("question:").count(), 3, "{out}");
}

#[test]
fn what_a_turn_has_changed_is_told_at_its_end_although_the_reason_of_a_refusal_begins_the_next() {
    let lab = Lab::new();
    let write = r#"{ do = "write", tool = "w", path = "a.txt", text = "new\n" },"#;
    let steps = format!("{write} {}", asks(r#"title = "Do it", kind = "execute""#, OPTIONS));
    let done = plain(&lab, "first\n:no because\n1\n", &lab.turn(&steps));
    let out = done.assert_code(0).out();
    in_order(out, &["question:", "(refused)", "end: the turn is over", "+1 −0 in 1 file", "you: because", "question:"]);
    assert!(!out.contains("not known yet"), "{out}");
}

#[test]
fn the_end_of_the_input_refuses_what_waits_and_ends_after_the_turn() {
    let lab = Lab::new();
    let done = plain(&lab, "first\n", &lab.turn(&asks(r#"title = "Do it", kind = "execute""#, OPTIONS)));
    let out = done.assert_code(0).out();
    in_order(out, &["question:", "refused, since the input has ended", "(refused)", "end: the turn is over"]);
    lab.assert_nothing_left();
}

#[test]
fn what_lasts_is_withheld_where_something_is_hidden() {
    let lab = Lab::new();
    let call = r#"title = "cat a\u202etxt", kind = "execute""#;
    let done = plain(&lab, "first\n2\n3\n", &lab.turn(&asks(call, OPTIONS)));
    in_order(done.assert_code(0).out(), &["question:", "⟨U+202E⟩", "withheld", "(refused)"]);
}

#[test]
fn changes_are_told_and_decided_by_file() {
    let lab = Lab::new();
    let steps = r#"{ do = "write", tool = "w", path = "a.txt", text = "new\n" }, { do = "write", tool = "v", path = "b.txt", text = "other\n" }, { do = "say", text = "done" }"#;
    let input = "write\n:changes\n:reject b.txt\n:accept all\n:changes\n:accept\n:undo\n";
    let done = plain(&lab, input, &lab.turn(steps));
    let out = done.assert_code(0).out();
    let told = ["2 files to decide", "a.txt: created", "  | + new", "b.txt: created", "  | + other"];
    in_order(
        out,
        &[
            &["end: the turn is over", "+2 −0 in 2 files"],
            &told[..],
            &["review:", "review:", "nothing is to be decided", "which?", "review:"],
        ]
        .concat(),
    );
    assert!(lab.cwd().join("a.txt").exists(), "{out}");
    assert!(!lab.cwd().join("b.txt").exists(), "it was taken back, and only the last decision was undone: {out}");
}

#[test]
fn text_comes_in_whole_lines_with_its_label_and_without_control_characters() {
    let lab = Lab::new();
    let steps = r#"{ do = "say", text = "one\u001b[31m red\n\nthree", chunk = 2 }, { do = "say", text = " and on" }"#;
    let done = plain(&lab, "\"\"\"\ntwo\nlines\n\"\"\"\n:again\n:nonsense\n:help\n", &lab.turn(steps));
    let out = done.assert_code(0).out();
    in_order(
        out,
        &[
            "you: two\n  | lines\n",
            "agent: one",
            "red\n  | three and on\n",
            "end: the turn is over",
            "no question waits",
            "there is no command :nonsense",
            ":quit",
        ],
    );
    assert!(!out.contains('\u{1b}'), "{out}");
}

#[test]
fn a_form_is_filled_in_field_by_field() {
    let lab = Lab::new();
    let steps = r#"{ do = "request", method = "elicitation/create", params = { sessionId = "{session}", mode = "form", message = "Which?", requestedSchema = { properties = { colour = { type = "string", enum = ["red", "green"] }, count = { type = "integer", maximum = 5 }, more = { type = "boolean" } }, required = ["colour"] } } }, { do = "say", text = "{answer}" },"#;
    let done = plain(&lab, "ask\n\n3\n2\n9\n4\ny\n1\n", &lab.turn(steps));
    let out = done.assert_code(0).out();
    in_order(
        out,
        &[
            "field 1 of 3: colour",
            "1: red",
            "it is required",
            "does not fit",
            "field 2 of 3: count",
            "does not fit",
            "field 3 of 3: more: yes or no",
            "1: Submit",
        ],
    );
    assert!(
        out.contains(r#""colour":"green""#) && out.contains(r#""count":4"#) && out.contains(r#""more":true"#),
        "{out}"
    );
}

#[test]
fn an_agent_that_does_not_start_or_wants_a_log_in_ends_with_its_code() {
    let lab = Lab::new();
    let done = plain(&lab, "hello\n", &["/nonexistent/agent".to_owned()]);
    assert_eq!(done.code, Some(5), "{}", done.out());
    in_order(done.out(), &["error:", "state: the agent has ended"]);
    let done = plain(&lab, "", &demo("auth"));
    assert_eq!(done.code, Some(4), "{}", done.out());
    in_order(done.out(), &["question:", "wants you to log in", "1:"]);
}

#[test]
fn a_question_about_a_change_is_told_once_and_a_new_file_is_created() {
    let lab = Lab::new();
    std::fs::write(lab.cwd().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    let steps = r#"{ do = "edit", tool = "e", path = "a.txt", replace = [{ old = "two", new = "2" }] }"#;
    let done = plain(&lab, "change it\n1\n", &lab.turn(steps));
    let out = done.assert_code(0).out();
    assert_eq!(out.matches("question: Demo agent wants to edit a.txt").count(), 1, "{out}");
    in_order(out, &["2 - two", "2 + 2", "tool: edit a.txt: done"]);
}

#[test]
fn changes_are_told_where_there_are_none() {
    let lab = Lab::new();
    let done = plain(&lab, ":changes\nhello\n:changes\n", &lab.turn(r#"{ do = "say", text = "(said)" }"#));
    let none = "nothing is to be decided";
    in_order(done.assert_code(0).out(), &["is ready", none, "you: hello", "(said)", "end:", none]);
}
