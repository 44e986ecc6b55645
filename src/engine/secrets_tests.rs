use super::*;
use crate::agent::codec::Updated;
use crate::agent::codec::v1::V1;
use crate::base::shared::SharedText;
use serde_json::{Value, json};

const KEY: &str = "sk-ünïcode-12345678";

fn secrets(values: &[&str]) -> Secrets {
    let mut secrets = Secrets::default();
    for value in values {
        secrets.add(value);
    }
    secrets
}

fn hearing(values: &[&str]) -> Hearing {
    Hearing { secrets: secrets(values), ..Hearing::default() }
}

fn heard(hearing: &mut Hearing, line: &str) -> Frames {
    let (frame, line) = Frame::read(Cow::Borrowed(line.as_bytes()), V1.word_for_word());
    hearing.hear(AgentKey::FIRST, &V1, frame, line)
}

fn update(update: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } })
        .to_string()
}

fn chunk(kind: &str, text: &str) -> String {
    let content = json!({ "type": "text", "text": text });
    update(&json!({ "sessionUpdate": format!("{kind}_chunk"), "content": content }))
}

/// All as Python writes it.
fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    text.encode_utf16().fold(String::new(), |mut out, unit| {
        let _ = write!(out, "\\u{unit:04x}");
        out
    })
}

/// What is said of these lines, as it is shown and as it is written down.
fn said(lines: &[String]) -> Vec<String> {
    let mut hearing = hearing(&[KEY]);
    let mut all: Frames = lines.iter().flat_map(|line| heard(&mut hearing, line)).collect();
    all.extend(hearing.rest(AgentKey::FIRST, &V1));
    let text = |(frame, line): (Frame, SharedText)| {
        let Frame::Notification { params: Some(params), .. } = frame else { return line.to_string() };
        match V1.update(params.as_str()) {
            Ok(Updated { update: Update::Chunk { kind, block: Block::Text(text), .. }, .. }) => {
                let written: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(written["params"]["update"]["content"]["text"], json!(text), "both are the same");
                format!("{kind:?}: {text}")
            }
            _ => "other".to_owned(),
        }
    };
    all.into_iter().map(text).collect()
}

#[test]
fn a_text_loses_them_the_longest_first() {
    let secrets = secrets(&["sk-12345678", "short", "sk-12345678-and-more"]);
    assert_eq!(secrets.hidden("key sk-12345678-and-more, sk-12345678, short").as_deref(), Some("key …, …, short"));
    assert_eq!(secrets.hidden("nothing"), None);
}

#[test]
fn however_json_spells_them_they_are_found() {
    let secrets = secrets(&[KEY, "with \"quotes\" in", "a/path/to/it"]);
    for (line, hidden) in [
        (format!(r#"{{"a":"x {KEY}"}}"#), r#"{"a":"x …"}"#),
        (format!(r#"{{"a":["{}"]}}"#, escaped(KEY)), r#"{"a":["…"]}"#),
        (format!(r#"{{"{KEY}":1,"b":"\n{}"}}"#, escaped(KEY)), r#"{"…":1,"b":"\n…"}"#),
        (r#"{"a":"with \"quotes\" in","b":"a\/path\/to\/it"}"#.to_owned(), r#"{"a":"…","b":"…"}"#),
        (format!(r#"{{"a":"{KEY} cut o"#), r#"{"a":"… cut o"#),
    ] {
        assert_eq!(secrets.line(&line, true).as_deref(), Some(hidden), "{line}");
    }
    assert_eq!(secrets.line(r#"{"a":"b\n"}"#, true), None);
    assert_eq!(secrets.line(&format!("key={KEY}"), false).as_deref(), Some("key=…"));
    assert_eq!(self::secrets(&["12345678"]).line(r#"{"a":12345678}"#, true), None, "it must stay JSON");
}

#[test]
fn a_fact_is_read_again_without_them() {
    let event = HostEvent::Warning { message: format!("it said \"{KEY}\"") };
    let hidden = secrets(&[KEY, "Warning", "message"]).fact(&event).unwrap();
    let read: HostEvent = serde_json::from_str(hidden.get()).unwrap();
    assert_eq!(read, HostEvent::Warning { message: "it said \"…\"".into() });
}

#[test]
fn in_pieces_of_a_message_they_are_found() {
    let (one, two) = KEY.split_at(6);
    let agent = |text: &str| chunk("agent_message", text);
    assert_eq!(said(&[agent(&format!("A:{one}")), agent(&format!("{two}:B"))]), ["Agent: A:", "Agent: …:B"]);
    let single: Vec<String> = KEY.chars().map(|c| agent(&c.to_string())).collect();
    assert_eq!(said(&single), ["Agent: …"]);
    let usage = update(&json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 }));
    assert_eq!(said(&[agent(one), usage, agent(two)]), ["other", "Agent: …"]);
}

#[test]
fn what_is_held_back_comes_before_what_follows_the_message() {
    let agent = |text: &str| chunk("agent_message", text);
    assert_eq!(said(&[agent("files"), agent(" and more")]), ["Agent: file", "Agent: s and more"]);
    assert_eq!(said(&[agent("files"), chunk("agent_thought", "hm")]), ["Agent: file", "Agent: s", "Thought: hm"]);
    let tool = update(&json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x" }));
    assert_eq!(said(&[agent("files"), tool]), ["Agent: file", "Agent: s", "other"]);
    let done = json!({ "jsonrpc": "2.0", "id": 1, "result": { "stopReason": "end_turn" } }).to_string();
    assert_eq!(said(&[agent("files"), done.clone()]), ["Agent: file", "Agent: s", done.as_str()]);
    assert_eq!(said(&[agent("files")]), ["Agent: file", "Agent: s"], "the agent has ended");
    assert_eq!(said(&[agent("nothing here")]), ["Agent: nothing here"]);
}

#[test]
fn what_is_to_be_done_is_left_as_it_is_and_written_down_without_them() {
    let content = format!("key = \"{KEY}\"\n");
    let params = json!({ "sessionId": "s", "path": format!("/w/{KEY}"), "content": content });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "fs/write_text_file", "params": params }).to_string();
    for line in [line.clone(), line.replace(KEY, &escaped(KEY))] {
        let [(Frame::Request { params: Some(asked), .. }, written)] = &heard(&mut hearing(&[KEY]), &line)[..] else {
            panic!("no request")
        };
        assert_eq!(serde_json::from_str::<Value>(asked.as_str()).unwrap(), params);
        let written: Value = serde_json::from_str(written).unwrap();
        assert_eq!(written["params"]["content"], "key = \"…\"\n");
        assert_eq!(written["params"]["path"], "/w/…");
    }
}

#[test]
fn of_a_tool_call_what_is_judged_stays_and_what_is_only_shown_goes() {
    let text = json!([{ "type": "content", "content": { "type": "text", "text": KEY } }]);
    let call = json!({
        "sessionUpdate": "tool_call", "toolCallId": KEY, "title": KEY, "rawInput": { "command": ["echo", KEY] },
        "locations": [{ "path": KEY }], "content": text, "rawOutput": { "out": KEY },
    });
    let [(Frame::Notification { params: Some(params), .. }, written)] =
        &heard(&mut hearing(&[KEY]), &update(&call))[..]
    else {
        panic!("no update")
    };
    assert!(!written.contains(KEY), "{written}");
    let now: Value = serde_json::from_str(params.as_str()).unwrap();
    let mut expected = call.clone();
    expected["content"][0]["content"]["text"] = "…".into();
    expected["rawOutput"]["out"] = "…".into();
    assert_eq!(now["update"], expected);
}

#[test]
fn an_error_does_not_say_them() {
    let error = json!({ "code": -32000, "message": format!("bad {KEY}"), "data": { "key": KEY } });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "error": error }).to_string();
    let [(Frame::Response { outcome: Err(error), .. }, written)] = &heard(&mut hearing(&[KEY]), &line)[..] else {
        panic!("no error")
    };
    assert_eq!((error.message.as_str(), &error.data), ("bad …", &Some(json!({ "key": "…" }))));
    assert!(!written.contains(KEY));
}

mod pieces {
    use super::*;
    use crate::agent::codec::v2::V2;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    const TYPED: &str = "hunter2secret99";

    fn of_terminal(id: &str, bytes: &str) -> Value {
        json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": STANDARD.encode(bytes) })
    }

    fn passed(id: &str, text: &str) -> Value {
        let content = json!({ "type": "text", "text": text });
        json!({ "sessionUpdate": "session_message_chunk", "messageId": id, "content": content })
    }

    /// What is shown and written down of these updates, by what they belong to.
    fn said(updates: &[Value]) -> BTreeMap<String, String> {
        let mut hearing = hearing(&[TYPED]);
        let mut all = Vec::new();
        for one in updates {
            let line = update(one);
            let (frame, line) = Frame::read(Cow::Borrowed(line.as_bytes()), V2.word_for_word());
            all.extend(hearing.hear(AgentKey::FIRST, &V2, frame, line));
        }
        all.extend(hearing.rest(AgentKey::FIRST, &V2));
        let mut out: BTreeMap<String, String> = BTreeMap::new();
        for (frame, line) in all {
            let Frame::Notification { params: Some(params), .. } = frame else { panic!("{line}") };
            let written: Value = serde_json::from_str(&line).unwrap();
            let (of, text, there) = match V2.update(params.as_str()).unwrap().update {
                Update::Terminal(patch) => {
                    let bytes = patch.output.as_set().cloned().unwrap_or(patch.append);
                    let there = written["params"]["update"]["data"].as_str().unwrap_or_default().to_owned();
                    (patch.id.as_str().to_owned(), bytes, STANDARD.decode(there).unwrap())
                }
                Update::Passed(passed) => {
                    let there = written["params"]["update"]["content"]["text"].as_str().unwrap().to_owned();
                    (passed.id.to_string(), passed.text.unwrap().into_bytes(), there.into_bytes())
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(text, there, "both are the same");
            out.entry(of).or_default().push_str(&String::from_utf8(text).unwrap());
        }
        out
    }

    #[test]
    fn what_a_command_prints_and_what_is_passed_on_is_hidden_however_it_is_cut() {
        let text = format!("it is {TYPED}, or hunter, {TYPED}{TYPED} hunter2");
        let whole = "it is …, or hunter, …… hunter2";
        for cut in 0..=text.len() {
            for other in [cut, text.len() / 2] {
                let (one, two) = (cut.min(other), cut.max(other));
                let parts = [&text[..one], &text[one..two], &text[two..]];
                let mut updates = Vec::new();
                // Both at once, and in turn.
                for part in parts {
                    updates.push(of_terminal("t", part));
                    updates.push(of_terminal("u", part));
                    updates.push(passed("m", part));
                }
                let said = said(&updates);
                assert!(said.values().all(|text| text == whole), "{one} {two}: {said:?}");
                assert_eq!(said.len(), 3);
            }
        }
    }

    fn heard(hearing: &mut Hearing, session: &str, update: &Value) -> Vec<String> {
        let params = json!({ "sessionId": session, "update": update });
        let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string();
        let (frame, line) = Frame::read(Cow::Borrowed(line.as_bytes()), V2.word_for_word());
        let printed = |(frame, line): (Frame, SharedText)| {
            let Frame::Notification { params: Some(params), .. } = frame else { panic!("{line}") };
            let Update::Terminal(patch) = V2.update(params.as_str()).unwrap().update else { panic!("{line}") };
            String::from_utf8(patch.output.as_set().cloned().unwrap_or(patch.append)).unwrap()
        };
        hearing.hear(AgentKey::FIRST, &V2, frame, line).into_iter().map(printed).collect()
    }

    #[test]
    fn terminals_of_two_sessions_are_two_and_what_is_said_whole_takes_nothing_from_before() {
        let mut hearing = hearing(&[TYPED]);
        assert_eq!(heard(&mut hearing, "a", &of_terminal("t", "one hunter2")), ["one "]);
        assert_eq!(heard(&mut hearing, "b", &of_terminal("t", "two")), ["two"], "another session's");
        let data = STANDARD.encode("anew");
        let whole = json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "output": { "data": data } });
        assert_eq!(heard(&mut hearing, "a", &whole), ["anew"]);
        assert!(hearing.rest(AgentKey::FIRST, &V2).is_empty(), "its beginning is gone with what it was of");
    }

    #[test]
    fn all_that_a_command_has_printed_is_said_before_its_end() {
        let updates = [
            of_terminal("t", "hunter2"),
            json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": { "exitCode": 0 } }),
        ];
        let mut hearing = hearing(&[TYPED]);
        let mut shown = Vec::new();
        for one in &updates {
            let line = update(one);
            let (frame, line) = Frame::read(Cow::Borrowed(line.as_bytes()), V2.word_for_word());
            shown.push(hearing.hear(AgentKey::FIRST, &V2, frame, line).len());
        }
        assert_eq!(shown, [1, 2], "an empty piece, then the rest of it and the end");
        assert!(hearing.rest(AgentKey::FIRST, &V2).is_empty());
    }
}
