//! Strings that programs stumble over, in every place that an agent writes to: all is drawn, and none of it but characters
//! that are seen reaches the screen.

use super::fixtures::{Scene, doc_of, file_doc, session};
use super::notify::Watch;
use super::state::session_list::{End, Past, PastSession, Starts};
use super::status_line;
use crate::base::sanitize;
use crate::model::entry::{Block, ChunkKind, Level, PlanEntry, PlanStatus, Priority};
use crate::model::event::{
    AgentEvent, AuthKind, AuthMethod, CallError, ErrorKind, Event, HostEvent, InitResult, SessionResult, Update,
};
use crate::model::ids::ReqId;
use crate::model::options::{Choice, Command, ConfigOption, Mode, Modes, OptionKind};
use crate::model::patch::Patch;
use crate::model::tool::{Change, Exit, Location, ToolContent, ToolKind, ToolPatch, ToolStatus};
use crate::text::width;
use crate::ui::keys::{Code, Key};
use serde_json::json;

/// See `tests/naughty/README.md`.
const STRINGS: &str = include_str!("../../tests/naughty/strings.json");
const SIZES: [(u16, u16); 3] = [(80, 24), (40, 10), (160, 45)];

/// Controls, and what turns text around or is not seen at all.
fn is_bad(c: char) -> bool {
    c.is_control() || sanitize::is_deceptive(c)
}

/// Nothing unseen is on the screen, in a cell that is not shown or in a link; each sign has the columns that it takes.
fn drawn(scene: &mut Scene, place: &str, text: &str) {
    scene.draw();
    let area = scene.buf.area;
    for y in area.top()..area.bottom() {
        let mut x = area.left();
        while x < area.right() {
            let symbol = scene.buf[(x, y)].symbol();
            // Nearly all are plain signs of one column.
            if matches!(symbol.as_bytes(), [b' '..=b'~']) {
                x += 1;
                continue;
            }
            let columns = u16::try_from(width::str_width(symbol)).unwrap();
            let is_right = (1..=2).contains(&columns) && x + columns <= area.right() && !symbol.contains(is_bad);
            assert!(is_right, "{text:?} {place}: {symbol:?} at {x}, {y}:\n{}", scene.shown);
            // What is below a wide sign is not drawn, but a later frame may uncover it.
            if columns == 2 {
                let below = scene.buf[(x + 1, y)].symbol();
                assert!(!below.contains(is_bad), "{text:?} {place}: {below:?} below {symbol:?}");
            }
            x += columns;
        }
    }
    let bad = scene.info.links.iter().find(|(_, _, target)| target.contains(|c: char| c.is_control()));
    assert_eq!(bad, None, "{text:?} {place}");
    let title = status_line::terminal_title(scene.model.first(), false);
    assert!(!title.contains(is_bad), "{text:?} {place}: {title:?}");
}

/// What a person is told who looks elsewhere.
fn told(watch: &mut Watch, scene: &mut Scene, place: &str, text: &str) {
    for notice in watch.look(&scene.model, &scene.ui, scene.now) {
        let words = format!("{}{}", notice.title, notice.body);
        assert!(!words.contains(is_bad), "{text:?} {place}: {words:?}");
    }
}

/// An agent that calls itself and all that it offers so.
fn opened(text: &str, (width, height): (u16, u16)) -> Scene {
    let mut scene = Scene::new(width, height);
    scene.start();
    scene.agent(AgentEvent::Initialized(Ok(InitResult {
        name: Some(text.into()),
        version: Some(text.into()),
        ..InitResult::default()
    })));
    let mode = Mode { id: text.into(), name: text.into(), description: Some(text.into()) };
    let value =
        Choice { value: text.into(), name: text.into(), description: Some(text.into()), group: Some(text.into()) };
    let option = ConfigOption {
        id: text.into(),
        name: text.into(),
        description: Some(text.into()),
        category: Some(text.into()),
        kind: OptionKind::Select { current: text.into(), values: vec![value] },
        pending: None,
    };
    scene.agent(AgentEvent::SessionOpened(Ok(Box::new(SessionResult {
        id: session(),
        modes: Some(Modes { current: text.into(), pending: None, available: vec![mode] }),
        options: Some(vec![option]),
        model: None,
        commands: Some(vec![Command { name: text.into(), description: text.into(), hint: Some(text.into()) }]),
        earlier: 0,
    }))));
    scene
}

fn call(id: &str, text: &str, kind: ToolKind, status: ToolStatus) -> ToolPatch {
    let mut patch = ToolPatch::new(id.into());
    patch.title = Patch::Set(text.into());
    patch.name = Patch::Set(text.into());
    patch.kind = Patch::Set(kind);
    patch.status = Patch::Set(status);
    patch.locations = Patch::Set(vec![Location { path: text.into(), line: Some(1) }]);
    patch.raw_input = Patch::Set(json!({ text: text, "command": text, "path": text }));
    patch.raw_output = Patch::Set(json!([text, { "exit_code": 1, "output": text }]));
    patch.content = Patch::Set(vec![
        ToolContent::Block(Block::Text(text.into())),
        ToolContent::Change(Change::of_texts(text, Some(text.into()), format!("{text}\n{text}").into())),
    ]);
    patch
}

/// The agent asks in a form or for a page.
fn asks(s: &mut Scene, req: u64, params: &serde_json::Value) {
    let (_, request) = crate::agent::codec::shipped().request("elicitation/create", &params.to_string(), req);
    s.agent(AgentEvent::Request { req: ReqId(req), session: Some(session()), request: request.into() });
}

#[test]
fn all_of_them_are_drawn_where_an_agent_asks_prints_and_dies() {
    let strings: Vec<String> = serde_json::from_str(STRINGS).unwrap();
    for (text, size) in strings.iter().zip(SIZES.iter().cycle()) {
        let mut s = Scene::new(size.0, size.1);
        s.start();
        let kind = AuthKind::Env { vars: vec![text.clone()], open: vec![text.clone()] };
        let method = |kind| AuthMethod { id: text.into(), name: text.into(), description: Some(text.into()), kind };
        let methods = vec![method(AuthKind::Agent), method(kind)];
        s.agent(AgentEvent::Initialized(Ok(InitResult { auth_methods: methods, ..InitResult::default() })));
        let mut error = CallError::new(ErrorKind::AuthRequired, text);
        error.data = Some(json!({ text: text }));
        s.agent(AgentEvent::SessionOpened(Err(error)));
        drawn(&mut s, "as a log-in", text);

        let mut s = Scene::working(size.0, size.1);
        let choice = json!({ "const": text, "title": text, "description": text });
        let field = json!({ "type": "string", "title": text, "description": text, "default": text });
        let one = json!({ "type": "string", "title": text, "oneOf": [choice] });
        let schema = json!({ "title": text, "description": text, "properties": { text: field, "one": one } });
        let form = json!({ "sessionId": "s", "mode": "form", "message": text, "requestedSchema": schema });
        asks(&mut s, 1, &form);
        drawn(&mut s, "as a form", text);
        s.after(1000).press(Code::Tab).press(Code::Down);
        drawn(&mut s, "as a form that is filled in", text);
        let url = format!("https://a.example/{text}");
        let mut s = Scene::working(size.0, size.1);
        let page = json!({ "sessionId": "s", "mode": "url", "message": text, "elicitationId": "e", "url": url });
        asks(&mut s, 2, &page);
        drawn(&mut s, "as a page", text);

        let mut s = Scene::working(size.0, size.1);
        s.runs(7, text);
        s.prints(7, text);
        drawn(&mut s, "as what a command prints", text);
        let block =
            Block::Other { label: text.clone(), uri: Some(text.clone()), text: Some(text.clone()), picture: None };
        s.update(Update::Chunk { kind: ChunkKind::Agent, message_id: None, block });
        drawn(&mut s, "as an attachment", text);
        let exit = Exit { code: None, signal: Some(text.clone()) };
        s.event(Event::Host(HostEvent::AgentExited { exit, stderr: vec![text.clone(); 3] }));
        drawn(&mut s, "as last words", text);
    }
}

#[test]
fn all_of_them_are_drawn_as_files_and_as_sessions_and_told_of() {
    let strings: Vec<String> = serde_json::from_str(STRINGS).unwrap();
    for (text, size) in strings.iter().zip(SIZES.iter().cycle()) {
        let mut s = opened(text, *size);
        let past = PastSession::clean(text.clone(), text, text.clone(), Starts::Unknown, text.into())
            .about(Some(text), Some(text), Some(text))
            .on_branch(Some(text))
            .used(5, 1, End::Interrupted, vec![text.into()], false)
            .told(Some(text), false, false);
        let mut near = past.clone();
        near.cwd = "/home/me/src/shop".into();
        s.ui.past = Past::Read(vec![past, near].into());
        drawn(&mut s, "on the first screen", text);
        s.press(Code::F(8));
        drawn(&mut s, "as sessions", text);
        s.press(Code::Esc);

        let mut watch = Watch::default();
        watch.focus(false);
        s.update(Update::Info { title: Patch::Set(text.clone()), updated: Patch::Keep });
        s.intent(crate::model::event::Intent::Prompt { text: text.clone(), links: Vec::new() });
        told(&mut watch, &mut s, "before", text);
        s.ask_patch(1, call("asked", text, ToolKind::Edit, ToolStatus::Pending), &[text, text]);
        told(&mut watch, &mut s, "as a question", text);
        s.event(Event::Host(HostEvent::AgentExited { exit: Exit { code: Some(1), signal: None }, stderr: Vec::new() }));
        told(&mut watch, &mut s, "as a death", text);

        // A name that a file can have.
        let name = text.replace('\0', "");
        let mut s = Scene::working(size.0, size.1);
        s.show_review(doc_of(1, vec![file_doc(&name, "one\n", &format!("{text}\n")), file_doc("b", text, "")]));
        s.key(Key::plain(Code::F(3)));
        drawn(&mut s, "in the review", text);
        s.press(Code::Enter);
        drawn(&mut s, "as a hunk", text);
    }
}

#[test]
fn all_of_them_are_drawn_everywhere_and_nothing_unseen_with_them() {
    let strings: Vec<String> = serde_json::from_str(STRINGS).unwrap();
    assert_eq!(strings.len(), 485);
    for (text, size) in strings.iter().zip(SIZES.iter().cycle()) {
        let mut s = opened(text, *size);
        s.update(Update::Info { title: Patch::Set(text.clone()), updated: Patch::Set(text.clone()) });
        drawn(&mut s, "as names", text);
        s.typed("/");
        drawn(&mut s, "as a command", text);
        s.press(Code::Esc).ctrl('u');
        s.press(Code::F(2));
        drawn(&mut s, "as a setting", text);
        s.press(Code::Esc);
        s.intent(crate::model::event::Intent::Prompt { text: format!("to it: {text}"), links: Vec::new() });
        let entry = PlanEntry { content: text.clone(), priority: Priority::None, status: PlanStatus::Pending };
        s.update(Update::Plan { id: None, entries: vec![entry] });
        for kind in [ChunkKind::Thought, ChunkKind::Agent] {
            s.chunk(kind, text);
            s.chunk(
                kind,
                &format!("\n\n# {text}\n\n- {text}\n\n| {text} |\n|--|\n| {text} |\n\n```{text}\n{text}\n```\n"),
            );
        }
        drawn(&mut s, "as words", text);
        for (kind, status) in [
            (ToolKind::Execute, ToolStatus::Failed),
            (ToolKind::Edit, ToolStatus::Completed),
            (ToolKind::Other, ToolStatus::InProgress),
        ] {
            s.update(Update::ToolCall(call(&format!("{kind:?}{text}"), text, kind, status).into()));
        }
        drawn(&mut s, "as calls", text);
        let notice = Update::Notice { level: Level::Warn, title: text.clone(), description: Some(text.clone()) };
        s.update(notice);
        s.update(Update::Usage { used: 1, size: 2, cost: Patch::Set((1.5, text.clone())) });
        drawn(&mut s, "as notices", text);
        s.ask_patch(1, call("asked", text, ToolKind::Edit, ToolStatus::Pending), &[text, text]);
        drawn(&mut s, "as a question", text);
        s.after(1000).press(Code::Tab).typed("v");
        drawn(&mut s, "as it was sent", text);
        s.key(Key::plain(Code::F(10)));
        drawn(&mut s, "as it is read", text);
        s.typed("Y");
        drawn(&mut s, "as parts to copy", text);
        s.press(Code::Esc).press(Code::Esc);
        let turn = s.model.first().session().last_turn();
        let mut error = CallError::new(ErrorKind::Other, text);
        error.data = Some(json!({ "details": text, text: text }));
        s.agent(AgentEvent::PromptAnswered { turn, result: Err(error) });
        drawn(&mut s, "as an error", text);
    }
}
