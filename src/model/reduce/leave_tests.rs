//! What leaves memory, what stays there, and that neither can be told from what the session says.

use super::*;
use crate::model::Model;
use crate::model::child::ChildPatch;
use crate::model::entries::Slot;
use crate::model::entry::{Block, ChunkKind, Entry};
use crate::model::event::{
    AgentEvent, AgentRequest, Event, Intent, PermissionKind, PermissionOption, PromptAnswer, PromptResult, Stop, Update,
};
use crate::model::fixture;
use crate::model::history::fixture::Memory;
use crate::model::history::{Away, NoHistory};
use crate::model::ids::{Now, ReqId, SessionId};
use crate::model::patch::Patch;
use crate::model::session::Policy;
use crate::model::setup::Setup;
use crate::model::tool::{ToolContent, ToolPatch, ToolStatus};
use std::sync::Arc;

/// A model whose entries leave, and one whose entries stay, to which the same happens.
struct Both {
    lean: Model,
    whole: Model,
    memory: Memory,
    calls: usize,
}

impl Both {
    fn new() -> Self {
        let model = || Model::new("agent".into(), "/w".into(), Policy::Ask);
        let mut both = Self { lean: model(), whole: model(), memory: Memory::default(), calls: 0 };
        Memory::default().reduce(&mut both.lean, Event::Setup(Setup::History).at_home(), Now::ZERO);
        for event in fixture::opening() {
            both.event(event);
        }
        both.prompt("go");
        both
    }

    fn event(&mut self, event: Event) {
        self.memory.reduce(&mut self.lean, event.clone().at_home(), Now::ZERO);
        Memory::default().reduce(&mut self.whole, event.at_home(), Now::ZERO);
    }

    fn prompt(&mut self, text: &str) {
        self.event(Event::User(Intent::Prompt { text: text.into(), links: Vec::new() }));
    }

    fn update(&mut self, update: Update) {
        self.event(Event::Agent(AgentEvent::Update { session: SessionId::from("s"), update }));
    }

    fn say(&mut self, kind: ChunkKind, id: Option<&str>, text: String) {
        self.update(Update::Chunk { kind, message_id: id.map(Arc::from), block: Block::Text(text) });
    }

    fn call(&mut self, id: &str, status: ToolStatus, text: String) {
        let content = Patch::Set(vec![ToolContent::Block(Block::Text(text))]);
        let patch = ToolPatch { status: Patch::Set(status), content, ..ToolPatch::new(id.into()) };
        self.update(Update::ToolCall(patch.into()));
    }

    /// Finished calls with so many bytes of text.
    fn bulk(&mut self, bytes: usize) {
        for _ in 0..bytes / BIG {
            self.calls += 1;
            let n = self.calls;
            self.call(&format!("bulk {n}"), ToolStatus::Completed, format!("{n} {}", "x".repeat(BIG)));
        }
    }

    fn session(&self) -> &Session {
        self.lean.first().session()
    }

    fn slot(&self, id: EntryId) -> &Slot {
        let entries = self.session().entries();
        entries.slot(entries.index_of(id).unwrap()).unwrap()
    }

    fn away(&self) -> impl Iterator<Item = (EntryId, Away)> {
        let entries = self.session().entries();
        entries.slots().enumerate().filter_map(|(at, slot)| match slot {
            Slot::Away(away) => Some((entries.id_at(at), *away)),
            Slot::Here(_) => None,
        })
    }

    /// Entries that have left memory read like those that stayed in the other one.
    fn compare(&self) {
        let (lean, whole) = (self.session().entries(), self.whole.first().session().entries());
        assert_eq!((lean.len(), lean.next_id()), (whole.len(), whole.next_id()));
        for (at, slot) in lean.slots().enumerate() {
            let there = whole.at(at).unwrap();
            let here: Entry = match slot {
                Slot::Here(entry) => (**entry).clone(),
                Slot::Away(away) => away.read(lean.id_at(at), &self.memory),
            };
            assert_eq!(here.body, there.body);
        }
    }
}

const BIG: usize = 32 << 10;

#[test]
fn of_a_hundred_megabytes_a_few_stay_in_memory() {
    let mut both = Both::new();
    let mut most = 0;
    for n in 0..100 {
        both.say(ChunkKind::Thought, None, "t".repeat(100));
        both.say(ChunkKind::Agent, None, format!("answer {n}"));
        both.bulk(1 << 20);
        most = most.max(both.session().entries().bytes());
    }
    assert!(most <= HELD + LEAVE_STEP + (1 << 20), "{most} bytes");
    assert!(both.away().count() > 2500, "{}", both.away().count());
    assert_eq!(both.session().last_answer(), Some("answer 99"));
}

#[test]
fn few_long_answers_leave_before_one_gives_way() {
    let mut both = Both::new();
    for n in 0..60 {
        both.say(ChunkKind::Agent, Some(&format!("m{n}")), format!("answer {n} {}", "y".repeat(2 << 20)));
        both.call(&format!("t{n}"), ToolStatus::Completed, "done".into());
        assert!(both.session().entries().bytes() < TIGHT + (8 << 20));
    }
    let given_way = |slot: &Slot| matches!(slot.here().map(|e| &e.body), Some(Body::Notice(_)));
    assert!(!both.session().entries().slots().any(given_way));
    let texts = both.away().map(|(id, away)| away.read(id, &both.memory));
    let answers = texts.filter(|entry| matches!(&entry.body, Body::Agent(message) if message.text.len() > 2 << 20));
    assert!(answers.count() >= 54, "{}", both.session().entries().bytes());
}

#[test]
fn what_has_left_reads_like_what_has_stayed() {
    let mut both = Both::new();
    for n in 0..300 {
        both.say(ChunkKind::Thought, Some(&format!("thought {n}")), format!("thinks of {n}"));
        both.say(ChunkKind::Agent, Some(&format!("answer {n}")), format!("answer {n}"));
        both.call(&format!("t{n}"), ToolStatus::Completed, "y".repeat(BIG));
    }
    assert!(both.away().count() > 300);
    both.compare();
}

#[test]
fn a_text_that_may_still_grow_never_leaves() {
    let mut both = Both::new();
    both.say(ChunkKind::Agent, Some("m"), "The beginning".into());
    let message = both.session().entries().last().unwrap().id;
    both.call("runs", ToolStatus::InProgress, "so far".into());
    let call = both.session().entries().last().unwrap().id;
    both.bulk(7 << 20);
    assert!(both.away().count() > 50);
    assert!(both.slot(message).here().is_some() && both.slot(call).here().is_some());
    both.say(ChunkKind::Agent, Some("m"), " and the end".into());
    both.call("runs", ToolStatus::Completed, "all".into());
    both.compare();
    // One alone that is larger than what stays.
    both.say(ChunkKind::Agent, Some("large"), "z".repeat(2 * HELD));
    both.say(ChunkKind::Agent, Some("large"), "z".repeat(2 * HELD));
    assert!(both.session().entries().last().is_some_and(|e| e.id.0 > call.0));
    both.compare();
}

#[test]
fn what_had_to_stay_leaves_when_it_is_over() {
    let mut both = Both::new();
    both.call("runs", ToolStatus::InProgress, "so far".into());
    let call = both.session().entries().last().unwrap().id;
    both.bulk(8 << 20);
    assert!(both.slot(call).here().is_some());
    both.call("runs", ToolStatus::Completed, "all".into());
    both.bulk(8 << 20);
    assert!(both.slot(call).here().is_none());
    both.compare();
}

#[test]
fn a_call_that_has_left_takes_late_news_and_questions() {
    let mut both = Both::new();
    both.call("late", ToolStatus::Completed, "first".into());
    both.call("asked", ToolStatus::Completed, "first".into());
    let late = both.session().newest_tool[&"late".into()];
    both.bulk(8 << 20);
    assert!(both.slot(late).here().is_none());
    let patch = ToolPatch { title: Patch::Set("renamed".into()), ..ToolPatch::new("late".into()) };
    both.update(Update::ToolUpdate(patch.into()));
    assert_eq!(both.session().tool(late).map(|t| t.title.as_str()), Some("renamed"));
    let options = vec![PermissionOption { id: "o".into(), name: "Allow".into(), kind: PermissionKind::AllowOnce }];
    let request = AgentRequest::Permission { tool: ToolPatch::new("asked".into()), options };
    let session = Some(SessionId::from("s"));
    both.event(Event::Agent(AgentEvent::Request { req: ReqId(7), session, request: request.into() }));
    let asked = both.session().questions()[0].entry;
    both.bulk(8 << 20);
    assert!(both.session().tool(asked).is_some(), "what a question is about stays");
    both.compare();
    both.event(Event::User(Intent::Answer { req: ReqId(7), option: "o".into() }));
    both.bulk(8 << 20);
    assert!(both.slot(asked).here().is_none() && both.slot(late).here().is_none());
    both.compare();
}

#[test]
fn the_row_of_a_sub_agent_that_has_left_takes_what_is_heard_of_it() {
    let mut both = Both::new();
    let told = |title: Option<&str>, status: ToolStatus| {
        let (keep, title) = (Patch::Keep, title.map_or(Patch::Keep, |title| Patch::Set(title.to_owned())));
        let (cwd, directories, stops, status) = (Patch::Keep, Patch::Keep, Patch::Keep, Patch::Set(status));
        let id = SessionId::from("kid");
        Update::Child(ChildPatch { id, title, description: keep, cwd, directories, stops, status }.into())
    };
    let heard = |update: Update| Event::Agent(AgentEvent::Update { session: SessionId::from("kid"), update });
    both.update(told(Some("Kid one"), ToolStatus::InProgress));
    let call = ToolPatch { status: Patch::Set(ToolStatus::Completed), ..ToolPatch::new("t".into()) };
    both.event(heard(Update::ToolCall(call.into())));
    both.update(told(None, ToolStatus::Completed));
    let rows = [both.session().newest_tool[&"kid/".into()], both.session().newest_tool[&"kid/t".into()]];
    let bodies = |both: &mut Both| {
        both.bulk(8 << 20);
        assert!(rows.iter().all(|row| both.slot(*row).here().is_none()));
        both.session().entries().next_id()
    };
    let before = bodies(&mut both);
    both.update(told(None, ToolStatus::Failed));
    let chunk = Update::Chunk { kind: ChunkKind::Agent, message_id: None, block: Block::Text("more".into()) };
    both.event(heard(chunk));
    assert_eq!(both.session().entries().next_id(), before, "no further row");
    let row = both.session().tool(rows[0]).unwrap();
    assert_eq!((row.title.as_str(), &row.status, row.content.len()), ("Kid one", &ToolStatus::Failed, 1));
    let before = bodies(&mut both);
    let late = ToolPatch { title: Patch::Set("late".into()), ..ToolPatch::new("t".into()) };
    both.event(heard(Update::ToolUpdate(late.into())));
    assert_eq!(both.session().entries().next_id(), before);
    assert_eq!(both.session().tool(rows[1]).map(|call| call.title.as_str()), Some("late"));
    both.compare();
}

#[test]
fn late_news_of_a_call_that_cannot_be_read_back_are_an_entry_of_their_own() {
    let mut both = Both::new();
    both.call("late", ToolStatus::Completed, "first".into());
    both.bulk(8 << 20);
    both.memory.is_broken = true;
    let before = both.session().entries().next_id();
    let patch = ToolPatch { title: Patch::Set("late news".into()), ..ToolPatch::new("late".into()) };
    both.update(Update::ToolUpdate(patch.into()));
    assert_eq!(both.session().tool(before).map(|t| t.title.as_str()), Some("late news"));
}

#[test]
fn a_refused_prompt_is_dropped_wherever_it_is() {
    let mut both = Both::new();
    for n in 0..200 {
        both.say(ChunkKind::User, Some(&format!("u{n}")), format!("from elsewhere {n}"));
        both.bulk(2 * BIG);
    }
    assert!(both.away().any(|(_, away)| away.kind() == crate::model::history::Kind::User));
    let turn = both.session().last_turn();
    let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::Refusal, usage: None }));
    both.event(Event::Agent(AgentEvent::PromptAnswered { turn, result }));
    both.compare();
}

#[test]
fn an_entry_that_cannot_be_read_says_so_in_its_place() {
    let mut both = Both::new();
    both.bulk(8 << 20);
    let (id, away) = both.away().next().unwrap();
    let entry = away.read(id, &NoHistory);
    assert_eq!(entry.id, id);
    assert!(matches!(&entry.body, Body::Notice(n) if n.title.contains("cannot be read back")), "{entry:?}");
}

#[test]
fn where_nothing_can_be_written_everything_stays() {
    let mut both = Both::new();
    both.event(Event::Hint(crate::model::event::Hint::Stay));
    both.bulk(8 << 20);
    assert_eq!(both.away().count(), 0);
    both.compare();
}
