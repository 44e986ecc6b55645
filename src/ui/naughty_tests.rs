//! Strings that programs stumble over, in every place that an agent writes to: all is drawn, and none of it but characters
//! that are seen reaches the screen.

use super::fixtures::{Scene, session};
use crate::model::entry::{Block, ChunkKind, Level, PlanEntry, PlanStatus, Priority};
use crate::model::event::{AgentEvent, CallError, ErrorKind, InitResult, SessionResult, Update};
use crate::model::options::{Choice, Command, ConfigOption, Mode, Modes, OptionKind};
use crate::model::patch::Patch;
use crate::model::tool::{Change, Location, ToolContent, ToolKind, ToolPatch, ToolStatus};
use crate::ui::keys::{Code, Key};
use serde_json::json;

/// See `tests/naughty/README.md`.
const STRINGS: &str = include_str!("../../tests/naughty/strings.json");
const SIZES: [(u16, u16); 3] = [(80, 24), (40, 10), (160, 45)];

/// Controls, and what turns text around or is not seen at all.
fn is_bad(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn drawn(scene: &mut Scene, place: &str, text: &str) {
    scene.draw();
    let bad = scene.shown.chars().find(|c| *c != '\n' && is_bad(*c));
    assert_eq!(bad, None, "{text:?} {place}:\n{}", scene.shown);
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
        let turn = s.model.first().session().last_turn();
        let mut error = CallError::new(ErrorKind::Other, text);
        error.data = Some(json!({ "details": text, text: text }));
        s.agent(AgentEvent::PromptAnswered { turn, result: Err(error) });
        drawn(&mut s, "as an error", text);
    }
}
