//! An agent answers the call to load first and tells the history afterwards, also in the turn that follows.

use super::*;
use crate::model::Model;
use crate::model::event::{
    AgentCaps, AgentEvent, Can, Event, HostEvent, InitResult, Intent, PromptAnswer, PromptResult, SessionResult, Stop,
};
use crate::model::ids::Now;
use crate::model::reduce::reduce;
use crate::model::session::Policy;
use crate::model::tool::{Exit, ToolStatus};
use std::time::Duration;

struct Rig {
    model: Model,
    now: Now,
}

impl Rig {
    /// The agent has died and is started again.
    fn starts_again(&mut self) {
        let exit = Exit { code: Some(1), signal: None };
        self.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
        self.event(Event::User(Intent::Restart));
        self.event(Event::Host(HostEvent::AgentSpawned { pid: 1 }));
        self.initialized();
    }

    fn new() -> Self {
        let mut rig = Self { model: Model::new("agent".into(), "/p".into(), Policy::Ask), now: Duration::from_secs(1) };
        rig.event(Event::User(Intent::Start));
        rig.comes_up();
        rig
    }

    /// Two turns were had, and the agent is started again: it answers before it tells anything.
    fn again() -> Self {
        Self::after(|rig| {
            rig.asks("one");
            rig.says("Hello, ");
            rig.says("here it is.");
            rig.calls("t1", "read a");
            rig.says("Done.");
            rig.ends();
            rig.turn("two", "And two.");
        })
    }

    fn after(before: impl FnOnce(&mut Self)) -> Self {
        let mut rig = Self::new();
        before(&mut rig);
        let exit = Exit { code: Some(1), signal: None };
        rig.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
        rig.event(Event::User(Intent::Restart));
        rig.comes_up();
        rig.now += Duration::from_secs(9);
        rig
    }

    fn event(&mut self, event: Event) {
        drop(reduce(&mut self.model, event.at_home(), self.now));
    }

    fn comes_up(&mut self) {
        self.event(Event::Host(HostEvent::AgentSpawned { pid: 1 }));
        self.initialized();
        self.opened();
    }

    fn initialized(&mut self) {
        let caps = AgentCaps { sessions: [Can::Load].into_iter().collect(), ..AgentCaps::default() };
        self.event(Event::Agent(AgentEvent::Initialized(Ok(InitResult { caps, ..InitResult::default() }))));
    }

    fn opened(&mut self) {
        let opened =
            SessionResult { id: "s".into(), modes: None, options: None, model: None, commands: None, earlier: 0 };
        self.event(Event::Agent(AgentEvent::SessionOpened(Ok(opened.into()))));
    }

    fn tells(&mut self, update: Update) {
        self.event(Event::Agent(AgentEvent::Update { session: "s".into(), update }));
    }

    fn chunk(&mut self, kind: ChunkKind, text: &str) {
        self.tells(Update::Chunk { kind, message_id: None, block: Block::Text(text.into()) });
    }

    fn says(&mut self, text: &str) {
        self.chunk(ChunkKind::Agent, text);
    }

    fn calls(&mut self, id: &str, title: &str) {
        let (title, status) = (Patch::Set(title.to_owned()), Patch::Set(ToolStatus::Completed));
        self.tells(Update::ToolCall(Box::new(ToolPatch { title, status, ..ToolPatch::new(id.into()) })));
    }

    fn asks(&mut self, text: &str) {
        self.event(Event::User(Intent::Prompt { text: text.into(), links: Vec::new() }));
    }

    fn ends(&mut self) {
        let turn = self.model.first().session().turn.as_ref().unwrap().id;
        let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::EndTurn, usage: None }));
        self.event(Event::Agent(AgentEvent::PromptAnswered { turn, result }));
    }

    fn turn(&mut self, asked: &str, said: &str) {
        self.asks(asked);
        self.says(said);
        self.ends();
    }

    fn tells_all(&mut self) {
        self.chunk(ChunkKind::User, "one");
        self.says("Hello,");
        self.says(" here it is.");
        self.calls("other id", "read a");
        self.says("Done.");
        self.chunk(ChunkKind::User, "tw");
        self.chunk(ChunkKind::User, "o");
        self.says("And two.");
    }

    fn shown(&self) -> Vec<String> {
        let text = |entry: &crate::model::entry::Entry| match &entry.body {
            Body::User(user) => Some(format!("you: {}", user.text)),
            Body::Agent(message) => Some(message.text.clone()),
            Body::Tool(tool) => Some(format!("tool: {}", tool.title)),
            _ => None,
        };
        self.model.first().session().entries.iter().filter_map(text).collect()
    }
}

const BEFORE: [&str; 6] = ["you: one", "Hello, here it is.", "tool: read a", "Done.", "you: two", "And two."];

fn with(more: &[&str]) -> Vec<String> {
    BEFORE.iter().chain(more).map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_history_that_comes_long_after_the_answer_is_not_shown_twice() {
    let mut rig = Rig::again();
    assert_eq!(rig.shown(), with(&[]));
    rig.tells_all();
    assert_eq!(rig.shown(), with(&[]));
    // What follows is new.
    rig.says("And more, by itself.");
    assert_eq!(rig.shown(), with(&["And more, by itself."]));
}

#[test]
fn a_history_that_comes_in_the_turn_that_follows_is_no_part_of_its_answer() {
    for echoes in [false, true] {
        let mut rig = Rig::again();
        rig.asks("three");
        rig.tells_all();
        if echoes {
            rig.chunk(ChunkKind::User, "three");
        }
        rig.says("And three.");
        rig.ends();
        assert_eq!(rig.shown(), with(&["you: three", "And three."]), "{echoes}");
    }
}

#[test]
fn what_differs_from_the_history_is_shown_whole() {
    let mut rig = Rig::again();
    rig.chunk(ChunkKind::User, "one");
    rig.says("Hello, ");
    rig.says("here it");
    rig.says(" was not.");
    rig.calls("t9", "write b");
    assert_eq!(rig.shown(), with(&["Hello, here it was not.", "tool: write b"]));
    // A prompt that the history does not have, and what belongs to it.
    rig.chunk(ChunkKind::User, "twofold");
    rig.says("And two.");
    assert_eq!(rig.shown()[8..], ["you: twofold", "And two."]);
    rig.chunk(ChunkKind::User, "two");
    rig.says("And two.");
    assert_eq!(rig.shown().len(), 10, "what follows in the history is known again: {:?}", rig.shown());
}

#[test]
fn an_answer_that_was_given_before_is_an_answer() {
    let mut rig = Rig::again();
    rig.asks("one");
    rig.says("Hello, here it is.");
    rig.ends();
    assert_eq!(rig.shown(), with(&["you: one", "Hello, here it is."]));
    // Where the history ends is not said: the turn has a word all the same.
    let mut rig = Rig::again();
    rig.asks("three");
    rig.chunk(ChunkKind::User, "two");
    rig.says("And two.");
    rig.ends();
    assert_eq!(rig.shown(), with(&["you: three", "And two."]));
    // After a turn nothing is the history any more.
    rig.chunk(ChunkKind::User, "one");
    assert_eq!(rig.shown().len(), 9);
}

/// What is asked now was asked before, and the agent may tell it back or not.
#[test]
fn a_prompt_that_was_had_before_is_the_history_first() {
    for echoes in [false, true] {
        for (before, after) in [(1, "Done."), (1, "Done, too."), (2, "Done."), (3, "Done, too.")] {
            let mut rig = Rig::after(|rig| (0..before).for_each(|_| rig.turn("go on", "Done.")));
            let mut wanted = rig.shown();
            rig.asks("go on");
            for _ in 0..before {
                rig.chunk(ChunkKind::User, "go");
                rig.chunk(ChunkKind::User, " on");
                rig.says("Done.");
            }
            if echoes {
                rig.chunk(ChunkKind::User, "go on");
            }
            rig.says(after);
            rig.ends();
            wanted.extend(["you: go on".to_owned(), after.to_owned()]);
            assert_eq!(rig.shown(), wanted, "{echoes} {before}");
        }
    }
    // Another one that was told before shows that it is the history.
    let mut rig = Rig::again();
    rig.asks("two");
    rig.tells_all();
    rig.says("And two.");
    rig.ends();
    assert_eq!(rig.shown(), with(&["you: two", "And two."]));
}

/// No history comes, and the answer begins like the one that was given before.
#[test]
fn a_prompt_that_is_told_back_and_was_had_before_has_its_whole_answer() {
    for asked in ["one", "two"] {
        let mut rig = Rig::again();
        rig.asks(asked);
        rig.chunk(ChunkKind::User, asked);
        rig.says(if asked == "one" { "Hello, here it is." } else { "And two." });
        rig.calls("t9", "write b");
        rig.says("And more.");
        rig.ends();
        let answer = if asked == "one" { "Hello, here it is." } else { "And two." };
        assert_eq!(rig.shown(), with(&[&format!("you: {asked}"), answer, "tool: write b", "And more."]));
    }
}

#[test]
fn a_history_that_comes_behind_the_answer_is_not_shown_twice() {
    for tells_new in [false, true] {
        let mut rig = Rig::again();
        rig.asks("three");
        rig.says("And three.");
        rig.ends();
        rig.tells_all();
        if tells_new {
            rig.chunk(ChunkKind::User, "three");
            rig.says("And three.");
        }
        assert_eq!(rig.shown(), with(&["you: three", "And three."]), "{tells_new}");
    }
    // With the next prompt it is over.
    let mut rig = Rig::again();
    rig.turn("three", "And three.");
    rig.asks("four");
    rig.says("And four.");
    rig.chunk(ChunkKind::User, "one");
    assert_eq!(rig.shown().last().unwrap(), "you: one");
}

#[test]
fn what_was_waited_with_is_shown_when_the_turn_or_the_agent_ends() {
    for dies in [false, true] {
        let mut rig = Rig::again();
        rig.asks("three");
        rig.chunk(ChunkKind::User, "one");
        rig.says("Hell");
        if dies {
            let exit = Exit { code: Some(1), signal: None };
            rig.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
        } else {
            rig.ends();
        }
        assert_eq!(rig.shown(), with(&["you: three", "Hell"]), "{dies}");
    }
}

/// Its answer begins with what was said before.
#[test]
fn a_message_is_shown_whole_or_not_at_all() {
    let mut rig = Rig::again();
    rig.asks("three");
    rig.chunk(ChunkKind::User, "two");
    for text in ["And ", "two.", " Or three."] {
        let message_id = Some("m".into());
        rig.tells(Update::Chunk { kind: ChunkKind::Agent, message_id, block: Block::Text(text.into()) });
    }
    assert_eq!(rig.shown(), with(&["you: three", "And two. Or three."]));
}

fn begun(id: &str, title: &str) -> Update {
    let (title, status) = (Patch::Set(title.to_owned()), Patch::Set(ToolStatus::InProgress));
    Update::ToolCall(Box::new(ToolPatch { title, status, ..ToolPatch::new(id.into()) }))
}

/// As most agents tell it.
#[test]
fn a_call_that_is_told_in_two_steps_is_history_too() {
    for runs in [false, true] {
        let mut rig = Rig::again();
        if runs {
            rig.asks("three");
        }
        rig.chunk(ChunkKind::User, "one");
        rig.says("Hello, here it is.");
        rig.tells(begun("t1", "read a"));
        let status = Patch::Set(ToolStatus::Completed);
        rig.tells(Update::ToolUpdate(Box::new(ToolPatch { status, ..ToolPatch::new("t1".into()) })));
        rig.says("Done.");
        if runs {
            rig.tells(begun("t2", "write b"));
            rig.says("And three.");
            rig.ends();
            assert_eq!(rig.shown(), with(&["you: three", "tool: write b", "And three."]));
        } else {
            assert_eq!(rig.shown(), with(&[]));
        }
    }
}

#[test]
fn a_call_that_a_turn_has_and_nothing_else_is_the_turns() {
    let mut rig = Rig::again();
    rig.asks("three");
    rig.chunk(ChunkKind::User, "one");
    rig.tells(begun("t1", "read a"));
    rig.ends();
    assert_eq!(rig.shown(), with(&["you: three", "tool: read a"]));
}

/// The prompt came before the answer to the call, and what belongs to it once the next one was sent.
#[test]
fn the_rest_of_a_turn_that_was_told_in_part_is_no_answer_to_the_next_prompt() {
    let begins = || {
        let mut rig = Rig::new();
        rig.asks("one");
        rig.says("Hello.");
        rig.ends();
        rig.starts_again();
        rig.chunk(ChunkKind::User, "one");
        rig.opened();
        rig.now += Duration::from_secs(9);
        rig.event(Event::Timer(crate::model::event::Timer::History));
        rig.asks("two");
        rig
    };
    let mut rig = begins();
    rig.says("Hel");
    rig.says("lo.");
    rig.says("And two.");
    rig.ends();
    assert_eq!(rig.shown(), ["you: one", "Hello.", "you: two", "And two."]);
    // It may say the same once more.
    let mut rig = begins();
    rig.says("Hello.");
    rig.ends();
    assert_eq!(rig.shown(), ["you: one", "Hello.", "you: two", "Hello."]);
    let mut rig = begins();
    rig.says("Hello.");
    rig.tells(begun("t1", "read a"));
    assert_eq!(rig.shown(), ["you: one", "Hello.", "you: two", "Hello.", "tool: read a"]);
}

/// The answer came in the middle of a turn that was told.
#[test]
fn a_turn_that_was_cut_by_the_answer_is_no_answer_to_the_next_prompt() {
    let cut = |told: &[&str], calls: bool| {
        let mut rig = Rig::new();
        rig.asks("one");
        rig.says("Hello.");
        rig.calls("t1", "read a");
        rig.says("Done.");
        rig.ends();
        rig.starts_again();
        rig.chunk(ChunkKind::User, "one");
        for text in told {
            rig.says(text);
        }
        if calls {
            rig.calls("t1", "read a");
        }
        rig.opened();
        rig.now += Duration::from_secs(9);
        rig.asks("two");
        rig
    };
    let before = ["you: one", "Hello.", "tool: read a", "Done.", "you: two"];
    for (told, calls, rest) in [
        (&["Hel"][..], false, &["lo.", "Done."][..]),
        (&["Hello."], false, &["Done."]),
        (&["Hello."], true, &["Done."]),
        (&["Hello."], true, &["Do", "ne."]),
    ] {
        let mut rig = cut(told, calls);
        for text in rest {
            rig.says(text);
        }
        rig.says("And two.");
        rig.ends();
        assert_eq!(rig.shown(), [&before[..], &["And two."]].concat(), "{told:?} {rest:?}");
    }
    // Other words, or all of it, were told to their end.
    for (told, said) in [(&["Hi."][..], "Done."), (&["Hello.", "Done."], "Done.")] {
        let mut rig = cut(told, true);
        rig.says(said);
        rig.says(" And more.");
        rig.ends();
        let answer = format!("{said} And more.");
        assert_eq!(rig.shown().last(), Some(&answer), "{told:?}");
    }
}

/// Most of a long transcript is not in memory.
#[test]
fn what_has_left_memory_is_known_again_in_pieces() {
    let print = fingerprint("a long text");
    let away = || Expected::Away { print, most: "a long text".len(), words: Words::default() };
    let mut texts = Texts { list: [away(), Expected::Text("next".into())].into(), heard: 0 };
    assert!(matches!(fits(&mut texts, "along"), Fit::Begins));
    assert!(matches!(fits(&mut texts, "text"), Fit::Ends));
    assert!(matches!(fits(&mut texts, "ne"), Fit::Begins));
    assert!(matches!(fits(&mut texts, "xt"), Fit::Ends));
    let mut texts = Texts { list: [away()].into(), heard: 0 };
    assert!(matches!(fits(&mut texts, "anotherone"), Fit::Begins));
    assert!(matches!(fits(&mut texts, "more"), Fit::No));
}
