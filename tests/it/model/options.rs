//! Modes and configuration options.

use crate::support::{Rig, SESSION, plain_init, with};
use acp_tui::model::event::Intent;
use acp_tui::model::options::{OptionKind, OptionValue};
use serde_json::{Value, json};

fn modes() -> Value {
    json!({ "currentModeId": "a", "availableModes": [{ "id": "a", "name": "Ask" }, { "id": "b", "name": "Build" }] })
}

fn model_option(current: &str) -> Value {
    json!({ "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": current,
        "options": [{ "value": "x", "name": "X" }, { "value": "y", "name": "Y" }] })
}

fn current(rig: &Rig) -> (String, Option<String>) {
    let modes = rig.model().first().session().modes.as_ref().unwrap();
    (modes.current.clone(), modes.pending.clone())
}

fn value(rig: &Rig, id: &str) -> String {
    rig.model().first().session().options.iter().find(|o| o.id == id).unwrap().current_name().to_owned()
}

fn set(rig: &mut Rig, id: &str, value: &str) {
    rig.intent(Intent::SetOption { id: id.into(), value: OptionValue::Id(value.into()) });
}

#[test]
fn r_188_modes_without_their_members_are_none() {
    for modes in [
        json!({ "availableModes": [{ "id": "a", "name": "A" }] }),
        json!({ "currentModeId": 4, "availableModes": [] }),
        json!({ "currentModeId": "a" }),
        json!({ "currentModeId": "a", "availableModes": null }),
        json!([]),
        json!(null),
        json!("a"),
    ] {
        let rig = Rig::ready_with(json!({ "modes": modes }));
        assert!(rig.model().first().session().modes.is_none(), "{modes}");
    }
    assert!(Rig::ready_with(json!({ "modes": modes() })).model().first().session().modes.is_some());
}

#[test]
fn r_189_only_listed_modes_are_sent() {
    let mut rig = Rig::ready_with(json!({ "modes": modes() }));
    rig.intent(Intent::SetMode { id: "c".into() });
    rig.intent(Intent::SetMode { id: "Build".into() });
    assert!(rig.sent().is_empty());
    rig.intent(Intent::SetMode { id: "b".into() });
    assert_eq!(rig.sent()[0]["params"], json!({ "sessionId": SESSION, "modeId": "b" }));
}

#[test]
fn r_190_a_mode_can_be_changed_while_the_agent_works() {
    let mut rig = Rig::ready_with(json!({ "modes": modes() }));
    rig.prompt("hi");
    rig.intent(Intent::SetMode { id: "b".into() });
    assert_eq!(rig.sent_briefly(), ["session/prompt", "session/set_mode"]);
}

#[test]
fn r_191_a_mode_is_pending_until_it_is_confirmed_and_goes_back_on_an_error() {
    let mut rig = Rig::ready_with(json!({ "modes": modes() }));
    rig.intent(Intent::SetMode { id: "b".into() });
    assert_eq!(current(&rig), ("a".into(), Some("b".into())));
    rig.fail("session/set_mode", json!({ "code": 1, "message": "not now", "data": "busy" }));
    assert_eq!(current(&rig), ("a".into(), None));
    assert!(rig.has_entry("mode Build was not set: not now: busy"));
    rig.intent(Intent::SetMode { id: "b".into() });
    rig.answer("session/set_mode", json!({}));
    assert_eq!(current(&rig), ("b".into(), None));
}

#[test]
fn r_192_r_193_r_194_the_agent_may_switch_by_itself() {
    let mut rig = Rig::ready_with(json!({ "modes": modes() }));
    rig.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "b" }));
    assert_eq!(current(&rig).0, "b");
    rig.update(json!({ "sessionUpdate": "current_mode_update", "modeId": "a" }));
    assert_eq!(current(&rig).0, "a");
    rig.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "https://modes/new" }));
    let modes = rig.model().first().session().modes.clone().unwrap();
    assert_eq!(modes.name_of(&modes.current), "https://modes/new");
    // A switch while ours is on its way: the newer word counts.
    rig.intent(Intent::SetMode { id: "b".into() });
    rig.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "b" }));
    rig.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "a" }));
    rig.answer("session/set_mode", json!({}));
    assert_eq!(current(&rig), ("a".into(), None));
}

#[test]
fn r_196_every_list_is_the_whole_list() {
    let level = json!({ "id": "level", "name": "Level", "type": "boolean", "currentValue": true });
    let mut rig = Rig::ready_with(json!({ "configOptions": [model_option("x"), level] }));
    set(&mut rig, "model", "y");
    rig.answer("session/set_config_option", json!({ "configOptions": [model_option("y")] }));
    assert_eq!(rig.model().first().session().options.len(), 1);
    assert_eq!(value(&rig, "model"), "Y");
    rig.update(json!({ "sessionUpdate": "config_option_update", "configOptions": [] }));
    assert!(rig.model().first().session().options.is_empty());
}

#[test]
fn r_198_r_199_the_order_and_unknown_categories_stay() {
    let option = |id: &str, category: Value| json!({ "id": id, "name": id, "category": category, "type": "boolean", "currentValue": false });
    let rig = Rig::ready_with(json!({ "configOptions": [
        option("z", json!("_vendor")), option("a", json!(null)), option("m", json!("brand_new")), option("n", json!(4)) ] }));
    let ids: Vec<&str> = rig.model().first().session().options.iter().map(|o| o.id.as_str()).collect();
    assert_eq!(ids, ["z", "a", "m", "n"]);
    assert_eq!(rig.model().first().session().options[2].category.as_deref(), Some("brand_new"));
}

#[test]
fn r_201_a_select_sends_a_listed_value_without_a_type() {
    let mut rig = Rig::ready_with(json!({ "configOptions": [model_option("x")] }));
    set(&mut rig, "model", "unlisted");
    set(&mut rig, "nothing", "x");
    rig.intent(Intent::SetOption { id: "model".into(), value: OptionValue::Bool(true) });
    assert!(rig.sent().is_empty());
    set(&mut rig, "model", "y");
    assert_eq!(rig.sent()[0]["params"], json!({ "sessionId": SESSION, "configId": "model", "value": "y" }));
}

#[test]
fn r_202_a_boolean_sends_its_type_and_was_advertised() {
    let option = json!({ "id": "b", "name": "B", "type": "boolean", "currentValue": false });
    let mut rig = Rig::ready_with(json!({ "configOptions": [option] }));
    rig.intent(Intent::SetOption { id: "b".into(), value: OptionValue::Bool(true) });
    let sent = rig.sent();
    assert_eq!(sent[0]["params"], json!({ "sessionId": SESSION, "configId": "b", "type": "boolean", "value": true }));
    let caps = &rig.lines[0]["params"]["clientCapabilities"];
    assert_eq!(caps["session"]["configOptions"]["boolean"], json!({}));
}

#[test]
fn r_203_r_204_unknown_types_are_left_out_and_bad_values_only_themselves() {
    let rig = Rig::ready_with(json!({ "configOptions": [
        { "id": "s", "name": "S", "type": "slider", "currentValue": 4 },
        { "id": "m", "name": "M", "type": "select", "currentValue": "x",
          "options": [{ "value": 4 }, { "value": "x", "name": "X" }, null] }] }));
    let options = &rig.model().first().session().options;
    assert_eq!(options.len(), 1);
    assert!(matches!(&options[0].kind, OptionKind::Select { values, .. } if values.len() == 1));
}

#[test]
fn r_205_values_may_be_grouped() {
    let mut rig =
        Rig::ready_with(json!({ "configOptions": [{ "id": "m", "name": "M", "type": "select", "currentValue": "b",
        "options": [
            { "group": "one", "name": "One", "options": [{ "value": "a", "name": "A" }, { "name": "bad" }] },
            { "group": "two", "options": [{ "value": "b", "name": "B" }] },
            { "group": "empty", "name": "E", "options": "x" } ] }] }));
    let OptionKind::Select { values, .. } = &rig.model().first().session().options[0].kind else { panic!() };
    let shown: Vec<(&str, Option<&str>)> = values.iter().map(|v| (v.value.as_str(), v.group.as_deref())).collect();
    assert_eq!(shown, [("a", Some("One")), ("b", Some("two"))]);
    set(&mut rig, "m", "a");
    assert_eq!(rig.sent_briefly(), ["session/set_config_option"]);
}

#[test]
fn r_206_a_value_that_is_not_listed_is_shown_as_it_is() {
    let rig = Rig::ready_with(json!({ "configOptions": [model_option("secret-model")] }));
    assert_eq!(value(&rig, "model"), "secret-model");
}

#[test]
fn r_207_on_an_error_what_was_confirmed_stays() {
    let mut rig = Rig::ready_with(json!({ "configOptions": [model_option("x")] }));
    set(&mut rig, "model", "y");
    assert_eq!(value(&rig, "model"), "X");
    assert_eq!(rig.model().first().session().options[0].pending, Some(OptionValue::Id("y".into())));
    rig.fail("session/set_config_option", json!({ "code": -32602, "message": "no such model" }));
    assert_eq!(value(&rig, "model"), "X");
    assert_eq!(rig.model().first().session().options[0].pending, None);
    assert!(rig.has_entry("no such model"));
}

#[test]
fn r_208_options_change_at_any_time() {
    let mut rig = Rig::ready_with(json!({ "configOptions": [model_option("x")] }));
    rig.update(json!({ "sessionUpdate": "config_option_update", "configOptions": [model_option("y")] }));
    assert_eq!(value(&rig, "model"), "Y");
    rig.prompt("hi");
    rig.sent();
    set(&mut rig, "model", "x");
    assert_eq!(rig.sent_briefly(), ["session/set_config_option"]);
    rig.update(json!({ "sessionUpdate": "config_option_update", "configOptions": [model_option("x")] }));
    assert_eq!(value(&rig, "model"), "X");
}

/// Part of fact 17: modes and an option of category `mode` are one thing.
#[test]
fn modes_and_the_option_of_that_category_keep_in_step() {
    let option = |current: &str| {
        json!({ "id": "m", "name": "Mode", "category": "mode", "type": "select", "currentValue": current,
            "options": [{ "value": "a", "name": "Ask" }, { "value": "b", "name": "Build" }] })
    };
    let mut rig = Rig::ready_with(json!({ "modes": modes(), "configOptions": [option("a")] }));
    rig.intent(Intent::SetMode { id: "b".into() });
    rig.answer("session/set_mode", json!(null));
    assert_eq!(value(&rig, "m"), "Build");
    rig.update(json!({ "sessionUpdate": "config_option_update", "configOptions": [option("a")] }));
    assert_eq!(current(&rig).0, "a");
}

#[test]
fn fact_18_an_empty_answer_means_that_it_was_done() {
    let mut rig = Rig::ready_with(json!({ "configOptions": [model_option("x")] }));
    for result in [json!({}), json!(null), json!({ "configOptions": null })] {
        set(&mut rig, "model", "y");
        rig.answer("session/set_config_option", result);
        assert_eq!(value(&rig, "model"), "Y");
        set(&mut rig, "model", "x");
        rig.answer("session/set_config_option", json!({}));
        assert_eq!(value(&rig, "model"), "X");
    }
    // Updates come before and after the response.
    set(&mut rig, "model", "y");
    rig.update(json!({ "sessionUpdate": "config_option_update", "configOptions": [model_option("y")] }));
    rig.answer("session/set_config_option", json!({ "configOptions": [model_option("y")] }));
    rig.update(json!({ "sessionUpdate": "config_option_update", "configOptions": [model_option("y")] }));
    assert_eq!(value(&rig, "model"), "Y");
    assert_eq!(rig.model().first().session().options[0].pending, None);
}

fn three_modes() -> Value {
    let mode = |id: &str, name: &str| json!({ "id": id, "name": name });
    json!({ "currentModeId": "ask",
        "availableModes": [mode("ask", "Ask"), mode("code", "Code"), mode("yolo", "YOLO")] })
}

fn set_modes(rig: &mut Rig, modes: &[&str]) {
    for mode in modes {
        rig.intent(Intent::SetMode { id: (*mode).into() });
    }
}

#[test]
fn r_191_each_answer_counts_for_the_mode_that_its_own_request_asked_for() {
    let mut rig = Rig::ready_with(json!({ "modes": three_modes() }));
    set_modes(&mut rig, &["code", "yolo"]);
    assert_eq!(current(&rig), ("ask".into(), Some("yolo".into())));
    rig.answer("session/set_mode", json!({}));
    assert_eq!(current(&rig), ("code".into(), Some("yolo".into())), "the newest wish is what is pending");
    rig.fail("session/set_mode", json!({ "code": 1, "message": "not allowed here" }));
    assert_eq!(current(&rig), ("code".into(), None), "the agent is in the mode that it confirmed");
    assert!(rig.has_entry("mode YOLO was not set: not allowed here"));
}

#[test]
fn r_191_a_refused_older_wish_leaves_the_newer_one_pending() {
    let mut rig = Rig::ready_with(json!({ "modes": three_modes() }));
    set_modes(&mut rig, &["code", "yolo"]);
    rig.fail("session/set_mode", json!({ "code": 1, "message": "no" }));
    assert_eq!(current(&rig), ("ask".into(), Some("yolo".into())));
    rig.answer("session/set_mode", json!({}));
    assert_eq!(current(&rig), ("yolo".into(), None));
}

#[test]
fn r_192_what_the_agent_says_between_two_answers_counts_in_its_order() {
    let said = |id: &str| json!({ "sessionUpdate": "current_mode_update", "currentModeId": id });
    let mut rig = Rig::ready_with(json!({ "modes": three_modes() }));
    // It says so first and answers then, as many agents do; meanwhile it went back by itself.
    set_modes(&mut rig, &["code", "yolo"]);
    rig.update(said("code"));
    assert_eq!(current(&rig), ("code".into(), Some("yolo".into())));
    rig.update(said("ask"));
    rig.answer("session/set_mode", json!({}));
    assert_eq!(current(&rig), ("ask".into(), Some("yolo".into())), "an answer to what was said already is no news");
    rig.answer("session/set_mode", json!({}));
    assert_eq!(current(&rig), ("yolo".into(), None));
    // The same mode twice: both answers are its own.
    set_modes(&mut rig, &["code", "ask", "code"]);
    for (now, pending) in [("code", Some("code")), ("ask", Some("code")), ("code", None)] {
        rig.answer("session/set_mode", json!({}));
        assert_eq!(current(&rig), (now.to_owned(), pending.map(str::to_owned)));
    }
}

#[test]
fn r_207_each_answer_counts_for_the_value_that_its_own_request_asked_for() {
    let mut option = model_option("x");
    option["options"] =
        json!([{ "value": "x", "name": "X" }, { "value": "y", "name": "Y" }, { "value": "z", "name": "Z" }]);
    let mut rig = Rig::ready_with(json!({ "configOptions": [option.clone()] }));
    let pending = |rig: &Rig| rig.model().first().session().options[0].pending.clone();
    set(&mut rig, "model", "y");
    set(&mut rig, "model", "z");
    rig.answer("session/set_config_option", json!({}));
    assert_eq!(value(&rig, "model"), "Y");
    assert_eq!(pending(&rig), Some(OptionValue::Id("z".into())));
    rig.fail("session/set_config_option", json!({ "code": 1, "message": "no z for you" }));
    assert_eq!((value(&rig, "model"), pending(&rig)), ("Y".into(), None));
    // A list in answer to the older request does not hide that the newer one is on its way.
    set(&mut rig, "model", "x");
    set(&mut rig, "model", "z");
    option["currentValue"] = json!("x");
    rig.answer("session/set_config_option", json!({ "configOptions": [option] }));
    assert_eq!(value(&rig, "model"), "X");
    assert_eq!(pending(&rig), Some(OptionValue::Id("z".into())));
    rig.answer("session/set_config_option", json!({}));
    assert_eq!((value(&rig, "model"), pending(&rig)), ("Z".into(), None));
}

#[test]
fn the_older_list_of_models_is_an_option_that_is_set_with_a_call_of_its_own() {
    let models =
        json!({ "currentModelId": "a", "availableModels": [{ "modelId": "a", "name": "A" }, { "modelId": "b" }] });
    let value = || OptionValue::Id("b".into());
    let set = || Intent::SetOption { id: "model".into(), value: value() };
    let current = |rig: &Rig| rig.model().first().settings().next().unwrap().current_name().to_owned();
    let mut rig = Rig::ready_with(json!({ "models": models }));
    assert_eq!(current(&rig), "A");
    rig.intent(set());
    let sent = rig.sent();
    assert_eq!((&sent[0]["method"], &sent[0]["params"]["modelId"]), (&json!("session/set_model"), &json!("b")));
    assert_eq!(current(&rig), "A");
    rig.answer("session/set_model", json!({}));
    assert_eq!(current(&rig), "b");
    rig.intent(Intent::SetOption { id: "model".into(), value: OptionValue::Id("c".into()) });
    assert!(rig.sent().is_empty(), "it is not listed");
    rig.intent(Intent::SetOption { id: "model".into(), value: OptionValue::Id("a".into()) });
    rig.fail("session/set_model", json!({ "code": -32603, "message": "no" }));
    assert_eq!(current(&rig), "b", "what is in force stays");
    let option = json!([{ "id": "m", "name": "M", "category": "model", "type": "select", "currentValue": "x",
                          "options": [{ "value": "x", "name": "X" }] }]);
    let mut rig = Rig::ready_with(json!({ "models": models, "configOptions": option }));
    assert_eq!((current(&rig), rig.model().first().settings().count()), ("X".into(), 1));
    rig.intent(set());
    assert!(rig.sent().is_empty(), "an option stands for it");
}

#[test]
fn r_182_r_183_a_name_is_told_only_where_the_agent_takes_one_and_its_answer_counts() {
    let name = || Intent::SetTitle { title: "  Cart page ".into() };
    let caps = json!({ "agentCapabilities": { "sessionCapabilities": { "title": {} } } });
    let mut rig = Rig::initialized(with(plain_init(), caps));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.sent();
    rig.intent(name());
    let sent = rig.sent();
    assert_eq!(
        (&sent[0]["method"], &sent[0]["params"]),
        (&"session/set_title".into(), &json!({ "sessionId": SESSION, "title": "  Cart page " }))
    );
    rig.answer("session/set_title", json!({ "title": "Cart page" }));
    assert_eq!(rig.model().first().session().title.as_deref(), Some("Cart page"));
    rig.intent(name());
    rig.fail("session/set_title", json!({ "code": -32602, "message": "too long" }));
    assert!(rig.has_entry("too long"));
    assert_eq!(rig.model().first().session().title.as_deref(), Some("Cart page"));
    let mut rig = Rig::ready();
    rig.sent();
    rig.intent(name());
    assert!(rig.sent().is_empty(), "it offers none");
}

#[test]
fn an_option_that_a_command_sets_is_its_word() {
    let plans = |value: &str| {
        json!([{ "id": "c", "name": "Collaboration mode", "type": "select", "currentValue": value,
            "options": [{ "value": "default", "name": "Default" }, { "value": "plan", "name": "Plan" }] }])
    };
    let mut rig = Rig::ready_with(json!({ "configOptions": plans("default") }));
    let update = |value: &str| json!({ "sessionUpdate": "config_option_update", "configOptions": plans(value) });
    rig.prompt("/plan");
    rig.update(update("plan"));
    rig.update(update("plan"));
    rig.stop("end_turn");
    let told = |rig: &Rig, part: &str| rig.entries().iter().filter(|entry| entry.contains(part)).count();
    assert_eq!((told(&rig, "Collaboration mode: Plan"), told(&rig, "without a word")), (1, 0), "{:?}", rig.entries());
    assert!(rig.model().first().session().ended.as_ref().is_some_and(|end| end.spoke));
    rig.prompt("no command");
    rig.update(update("default"));
    rig.stop("end_turn");
    assert_eq!((told(&rig, "Collaboration mode: Default"), told(&rig, "without a word")), (0, 1));
}
