//! How much work it is to follow, and how much is kept.

use super::*;
use crate::model::Model;
use crate::model::child::ChildPatch;
use crate::model::entry::{Block, ChunkKind, Level};
use crate::model::event::{AgentEvent, Event, Update};
use crate::model::fixture;
use crate::model::ids::{Now, SessionId};
use crate::model::patch::Patch;
use crate::model::reduce::reduce;
use crate::model::session::{Allow, Policy};
use crate::model::tool::ToolPatch;

fn model() -> Model {
    let mut model = Model::new("agent".into(), "/w".into(), Policy::Auto(Allow::All));
    for event in fixture::opening().into_iter().chain([fixture::prompt()]) {
        reduce(&mut model, event.at_home(), Now::ZERO);
    }
    model
}

fn call(model: &mut Model, id: &str, title: &str, status: ToolStatus) {
    let mut patch = ToolPatch::new(id.into());
    patch.title = Patch::Set(title.into());
    patch.status = Patch::Set(status);
    let update = Update::ToolCall(patch.into());
    let event = AgentEvent::Update { session: SessionId::from("s"), update };
    reduce(model, Event::Agent(event).at_home(), Now::ZERO);
}

#[test]
fn following_costs_as_much_as_has_changed_and_not_as_there_is() {
    for form in [Form::Text, Form::Json] {
        let mut model = model();
        let mut follower = Follower::new(form);
        let mut lines = 0;
        for n in 0..20_000 {
            let status = if n % 2 == 0 { ToolStatus::Completed } else { ToolStatus::Pending };
            call(&mut model, &format!("t{n}"), "a call", status);
            let out = follower.follow(model.first(), Last::No);
            lines += out.stdout.matches("\"tool\"").count() + out.stderr.lines().count();
        }
        assert!(follower.looked <= 3 * 20_000, "{} entries were looked at", follower.looked);
        assert_eq!(lines, if form == Form::Json { 20_000 } else { 10_000 });
        assert_eq!(follower.seen.len(), model.first().session().entries().len());
        assert!(follower.follow(model.first(), Last::Yes).stderr.is_empty(), "nothing is printed twice");
    }
}

#[test]
fn a_call_that_is_named_after_its_end_is_printed_with_its_name_or_when_something_follows() {
    let mut model = model();
    let mut follower = Follower::new(Form::Text);
    call(&mut model, "t1", "", ToolStatus::Completed);
    assert_eq!(follower.follow(model.first(), Last::No).stderr, "");
    call(&mut model, "t2", "", ToolStatus::Completed);
    assert_eq!(follower.follow(model.first(), Last::No).stderr, "completed  t1\n");
    call(&mut model, "t2", "its name", ToolStatus::Completed);
    assert_eq!(follower.follow(model.first(), Last::No).stderr, "completed  its name\n");
    call(&mut model, "t3", "", ToolStatus::Completed);
    let update = Update::Notice { level: Level::Info, title: "noticed".into(), description: None };
    let event = AgentEvent::Update { session: SessionId::from("s"), update };
    reduce(&mut model, Event::Agent(event).at_home(), Now::ZERO);
    let printed = follower.follow(model.first(), Last::No).stderr;
    assert!(printed.contains("noticed") && !printed.contains("t3"), "nothing more was said of calls: {printed}");
    call(&mut model, "t3", "named", ToolStatus::Completed);
    assert_eq!(follower.follow(model.first(), Last::No).stderr, "completed  named\n");
}

#[test]
fn locations_that_are_left_out_are_counted_in_the_lines() {
    let mut model = model();
    let mut patch = ToolPatch::new("t".into());
    patch.locations = Patch::Set(Vec::new());
    patch.more_locations = 7;
    let event = AgentEvent::Update { session: SessionId::from("s"), update: Update::ToolCall(patch.into()) };
    reduce(&mut model, Event::Agent(event).at_home(), Now::ZERO);
    let out = Follower::new(Form::Json).follow(model.first(), Last::No).stdout;
    assert!(out.contains("\"more_locations\":7"), "{out}");
}

fn say(model: &mut Model, update: Update) {
    let event = AgentEvent::Update { session: SessionId::from("s"), update };
    reduce(model, Event::Agent(event).at_home(), Now::ZERO);
}

fn whole(text: &str) -> Update {
    let content = Patch::Set(vec![Block::Text(text.into())]);
    Update::Message { kind: ChunkKind::Agent, id: "m".into(), content }
}

#[test]
fn v2_070_a_message_in_other_words_is_printed_whole_once_more() {
    let mut model = model();
    let mut json = Follower::new(Form::Json);
    let mut text = Follower::new(Form::Text);
    let mut follow = |model: &Model| {
        let said = json.follow(model.first(), Last::No).stdout;
        let lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let lines: Vec<Value> = lines.filter(|line| line["type"] == "text" || line["type"] == "replace").collect();
        (lines, text.follow(model.first(), Last::No).stdout)
    };
    say(&mut model, whole("It is 3.\n"));
    let (lines, _) = follow(&model);
    assert_eq!((&lines[0]["type"], &lines[0]["text"]), (&json!("text"), &json!("It is 3.\n")));
    say(&mut model, whole("It is 3.\nSo.\n"));
    let (lines, _) = follow(&model);
    assert_eq!((&lines[0]["type"], &lines[0]["text"]), (&json!("text"), &json!("So.\n")), "only more of it");
    say(&mut model, whole("It is 4.\n"));
    let (lines, said) = follow(&model);
    assert_eq!((lines.len(), &lines[0]["type"], &lines[0]["message_id"]), (1, &json!("replace"), &json!("m")));
    assert_eq!((&lines[0]["text"], said.as_str()), (&json!("It is 4.\n"), "\nIt is 4.\n"));
    say(&mut model, whole("It is 4.\nYes.\n"));
    let (lines, said) = follow(&model);
    assert_eq!((&lines[0]["type"], &lines[0]["text"], said.as_str()), (&json!("text"), &json!("Yes.\n"), "Yes.\n"));
}

#[test]
fn plans_are_told_with_their_ids() {
    let mut model = model();
    let step = |words: &str| crate::model::entry::PlanEntry {
        content: words.into(),
        priority: crate::model::entry::Priority::None,
        status: PlanStatus::Pending,
    };
    say(&mut model, Update::Plan { id: Some("p".into()), entries: vec![step("a")] });
    say(&mut model, Update::Plan { id: None, entries: vec![step("b")] });
    let out = Follower::new(Form::Json).follow(model.first(), Last::No).stdout;
    let ids: Vec<Value> = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids[ids.len() - 2..], [json!("p"), Value::Null]);
}

#[test]
fn what_cannot_be_seen_or_breaks_a_line_is_escaped_in_json() {
    let hidden =
        "\u{7f}\u{85}\u{2028}\u{2029}\u{202e}\u{2065}\u{115f}\u{3164}\u{34f}\u{2800}\u{180f}\u{fff0}\u{e0041}\u{e01ef}";
    let line = json_line(json!({ "text": hidden }));
    assert!(line.is_ascii(), "{line}");
    let back: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(back["text"], hidden);
    // A message is written without a value of its own in between, and is the same line.
    let text = format!("{hidden}\"\\\n\t\u{1b}é\u{1f600}");
    let mut model = model();
    say(&mut model, whole(&text));
    let out = Follower::new(Form::Json).follow(model.first(), Last::Yes).stdout;
    assert_eq!(
        out.lines().last().map(|line| format!("{line}\n")),
        Some(json_line(json!({ "type": "text", "text": text })))
    );
}

#[test]
fn a_sub_agent_that_is_done_has_its_words_and_its_calls_name_it() {
    let mut model = model();
    let mut heard = |session: &str, update: Update| {
        let event = AgentEvent::Update { session: SessionId::from(session), update };
        reduce(&mut model, Event::Agent(event).at_home(), Now::ZERO);
    };
    let told = |status: ToolStatus| {
        let (cwd, directories, stops, status) = (Patch::Keep, Patch::Keep, Patch::Keep, Patch::Set(status));
        let (id, title, description) = (SessionId::from("kid"), Patch::Set("Kid".to_owned()), Patch::Keep);
        Update::Child(ChildPatch { id, title, description, cwd, directories, stops, status }.into())
    };
    heard("s", told(ToolStatus::InProgress));
    heard("kid", Update::ToolCall(ToolPatch::new("t".into()).into()));
    let block = Block::Text("all is well".to_owned());
    heard("kid", Update::Chunk { kind: ChunkKind::Agent, message_id: None, block });
    heard("s", told(ToolStatus::Completed));
    let out = Follower::new(Form::Json).follow(model.first(), Last::Yes).stdout;
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tool = |id: &str| lines.iter().find(|line| line["id"] == id).unwrap();
    assert_eq!((&tool("kid/")["text"], &tool("kid/t")["parent"]), (&"all is well".into(), &"kid/".into()));
    assert!(tool("kid/").get("parent").is_none() && tool("kid/t").get("text").is_none());
}
