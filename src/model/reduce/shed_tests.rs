//! What goes and what must not.

use super::*;
use crate::model::Model;
use crate::model::effect::Answer;
use crate::model::effect::Effect;
use crate::model::entries::MAX_ENTRIES;
use crate::model::event::{
    AgentEvent, AgentRequest, Event, InitResult, Intent, PermissionKind, PermissionOption, Update,
};
use crate::model::fixture;
use crate::model::ids::{ReqId, SessionId};
use crate::model::patch::Patch;
use crate::model::reduce::reduce;
use crate::model::session::Policy;
use crate::model::tool::{TerminalMeta, ToolContent, ToolPatch, ToolStatus};

fn model() -> Model {
    let mut model = Model::new("agent".into(), "/w".into(), Policy::Ask);
    for event in fixture::opening().into_iter().chain([fixture::prompt()]) {
        reduce(&mut model, event.at_home(), Now::ZERO);
    }
    model
}

fn call(model: &mut Model, patch: ToolPatch) -> Vec<Effect> {
    let event = AgentEvent::Update { session: SessionId::from("s"), update: Update::ToolCall(patch.into()) };
    effects_of(model, event)
}

fn ask(model: &mut Model, req: u64, tool: ToolPatch) -> Vec<Effect> {
    let option = PermissionOption { id: "o".into(), name: "Allow".into(), kind: PermissionKind::AllowOnce };
    let request = AgentRequest::Permission { tool, options: vec![option] };
    let session = Some(SessionId::from("s"));
    effects_of(model, AgentEvent::Request { req: ReqId(req), session, request: request.into() })
}

fn effects_of(model: &mut Model, event: AgentEvent) -> Vec<Effect> {
    reduce(model, Event::Agent(event).at_home(), Now::ZERO).into_iter().map(|effect| effect.what).collect()
}

fn answer_to(effects: &[Effect], wanted: u64) -> Option<&Answer> {
    effects.iter().find_map(|e| match e {
        Effect::Respond { req, answer } if req.0 == wanted => Some(answer),
        _ => None,
    })
}

#[test]
fn calls_without_end_leave_a_bounded_model_and_no_question_that_cannot_be_seen() {
    let mut model = model();
    ask(&mut model, 1, ToolPatch::new("asked".into()));
    assert_eq!(model.first().session().questions().len(), 1);
    let mut closed = None;
    for n in 0..MAX_ENTRIES + 10 {
        let mut patch = ToolPatch::new(format!("t{n}").into());
        patch.status = Patch::Set(ToolStatus::Completed);
        let effects = call(&mut model, patch);
        closed = closed.or(answer_to(&effects, 1).cloned());
    }
    assert!(
        model.first().session().entries().len() <= MAX_ENTRIES
            && model.first().session().newest_tool.len() <= MAX_ENTRIES
    );
    let session = model.first().session();
    assert!(session.newest_tool.values().all(|entry| session.tool(*entry).is_some()), "no call is named that is gone");
    assert_eq!(closed, Some(Answer::Cancelled));
    assert!(model.first().session().questions().is_empty());
    // A late word of a call that is gone is an entry of its own: nothing is lost.
    let before = model.first().session().entries().next_id();
    let mut late = ToolPatch::new("t1".into());
    late.title = Patch::Set("late".into());
    let event = AgentEvent::Update { session: SessionId::from("s"), update: Update::ToolUpdate(late.into()) };
    reduce(&mut model, Event::Agent(event).at_home(), Now::ZERO);
    assert_eq!(model.first().session().tool(before).map(|t| t.title.as_str()), Some("late"));
}

#[test]
fn terminals_that_the_agent_names_or_feeds_are_bounded() {
    let mut model = model();
    for n in 0..3 * MAX_TERMINALS {
        let mut patch = ToolPatch::new(format!("t{n}").into());
        patch.content = Patch::Set(vec![ToolContent::Terminal(format!("term-{n}").as_str().into())]);
        call(&mut model, patch);
        assert!(model.first().session().terminals().count() <= MAX_TERMINALS);
    }
    for n in 0..100 {
        let mut patch = ToolPatch::new("fed".into());
        let id = TermId::of(crate::model::ids::Owner::Agent, format!("fed-{n}"));
        patch.terminal = TerminalMeta { output: Some((id, "x".repeat(1 << 20))), ..TerminalMeta::default() };
        call(&mut model, patch);
        let fed: usize = model.first().session().terminals().map(|t| t.text.len()).sum();
        assert!(fed <= MAX_FED && fed == model.first().session().fed, "{fed} and {}", model.first().session().fed);
    }
}

#[test]
fn calls_that_show_one_terminal_are_drawn_anew_in_bounded_number() {
    let mut model = model();
    for n in 0..1000 {
        let mut patch = ToolPatch::new(format!("t{n}").into());
        patch.content = Patch::Set(vec![ToolContent::Terminal("one".into())]);
        call(&mut model, patch);
    }
    assert_eq!(model.first().session().terminal(&"one".into()).map(|t| t.embedded.len()), Some(64));
}

#[test]
fn a_call_of_which_something_was_left_out_cannot_be_allowed_blindly() {
    let mut model = model();
    let mut patch = ToolPatch::new("cut".into());
    patch.cut = true;
    call(&mut model, patch);
    let effects = ask(&mut model, 1, ToolPatch::new("cut".into()));
    assert!(matches!(answer_to(&effects, 1), Some(Answer::Error(e)) if e.message.starts_with("Too large")));
    assert!(model.first().session().questions().is_empty());
    let said = model
        .first()
        .session()
        .entries()
        .iter()
        .any(|e| matches!(&e.body, Body::Notice(n) if n.title.contains("cannot be shown whole")));
    assert!(said);
    // And one that grows beyond it while it waits.
    ask(&mut model, 2, ToolPatch::new("grows".into()));
    let mut patch = ToolPatch::new("grows".into());
    patch.cut = true;
    let effects = call(&mut model, patch);
    assert!(matches!(answer_to(&effects, 2), Some(Answer::Cancelled)), "{effects:?}");
    assert!(model.first().session().questions().is_empty());
}

#[test]
fn what_comes_before_the_session_is_named_is_bounded_in_bytes() {
    let mut model = Model::new("agent".into(), "/w".into(), Policy::Ask);
    reduce(&mut model, Event::User(Intent::Start).at_home(), Now::ZERO);
    let init = InitResult::default();
    reduce(&mut model, Event::Agent(AgentEvent::Initialized(Ok(init))).at_home(), Now::ZERO);
    for n in 0..100 {
        let mut patch = ToolPatch::new(format!("t{n}").into());
        patch.content = Patch::Set(vec![ToolContent::Block(crate::model::entry::Block::Text("x".repeat(1 << 20)))]);
        call(&mut model, patch);
    }
    let strays = model.first().agent().strays.len();
    assert!(strays > 0 && strays < 17, "{strays}");
    assert!(model.first().agent().odd.unknown > 80);
}

#[test]
fn many_notices_between_two_pieces_of_a_message_cost_no_walk_through_them() {
    let mut model = model();
    let say = |model: &mut Model, update| {
        let event = AgentEvent::Update { session: SessionId::from("s"), update };
        reduce(model, Event::Agent(event).at_home(), Now::ZERO);
    };
    let chunk = || Update::Chunk {
        kind: crate::model::entry::ChunkKind::Agent,
        message_id: None,
        block: crate::model::entry::Block::Text("a".into()),
    };
    say(&mut model, chunk());
    let count =
        |model: &Model| model.first().session().entries().iter().filter(|e| matches!(e.body, Body::Agent(_))).count();
    for wanted in [1, 2] {
        for _ in 0..if wanted == 1 { 10 } else { 300 } {
            say(&mut model, Update::Notice { level: Level::Info, title: "n".into(), description: None });
        }
        say(&mut model, chunk());
        assert_eq!(count(&model), wanted, "a few are no interruption, many are");
    }
}
