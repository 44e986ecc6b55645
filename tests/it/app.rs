//! The whole client between an agent in this program and a person without a terminal, while the clock stands still.

use crate::support::app::{Agent, Person, play, play_wishing};
use crate::support::options;
use acp_tui::engine::wait::Signal;
use acp_tui::ui::keys::{Code, Key};
use acp_tui::ui::run::{Exit, ModelChoice, Models};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

const SIZE: (u16, u16) = (80, 24);
/// Longer than keys are ignored after the dock got the focus.
const ARMED: Duration = Duration::from_millis(800);

/// Opens a session and waits.
async fn idle(mut agent: Agent) {
    agent.opens().await;
    agent.stays().await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_a_question_and_the_end() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let prompt = agent.called("session/prompt").await;
        assert_eq!(prompt["params"]["prompt"][0]["text"], "make it");
        agent.says("I shall ask first.").await;
        let call = json!({ "toolCallId": "t", "title": "Make it" });
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options() });
        let answer = agent.asks("session/request_permission", params).await;
        assert_eq!(answer["result"]["outcome"], json!({ "outcome": "selected", "optionId": "no" }));
        agent.says(" Then not.").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("make it").await;
        let screen = person.sees("2 n Reject").await;
        assert!(screen.contains("I shall ask first.") && screen.contains("waiting for you"), "{screen}");
        assert!(person.glass.title().contains("waiting for you"), "{}", person.glass.title());
        person.types("2").await;
        person.sees("❯ 2").await;
        person.press(Key::plain(Code::Backspace)).await;
        person.press(Key::plain(Code::Tab)).await;
        person.pass(ARMED).await;
        person.types("2").await;
        let screen = person.waits_for("the end", |s| s.contains("Then not.") && s.contains("ready · F1 keys")).await;
        assert!(!screen.contains("2 n Reject") && screen.contains("make it"), "{screen}");
        person.quits().await;
    };
    let (ended, first) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
    assert!(first.contains('❯') && first.contains("starting"), "before anything of the agent:\n{first}");
}

#[tokio::test(start_paused = true)]
async fn scenario_40_a_question_fits_every_size_that_the_window_gets_while_it_stands() {
    const NAMES: [&str; 5] = [
        "Alpha: do it, this once, and go on with the rest",
        "Bravo: do it without the tests, which take long here",
        "Carol: do it, and tell me what has come of it",
        "Delta: leave it, and go on with what comes behind it",
        "Echo: leave it, and do nothing before I have said what",
    ];
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let prompt = agent.called("session/prompt").await;
        let kind = |n: usize| if n < 3 { "allow_once" } else { "reject_once" };
        let option = |(n, name)| json!({ "optionId": format!("o{n}"), "name": name, "kind": kind(n) });
        let options: Vec<Value> = NAMES.iter().enumerate().map(option).collect();
        let call = json!({ "toolCallId": "t", "title": "make it ".repeat(40) });
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
        let answer = agent.asks("session/request_permission", params).await;
        assert_eq!(answer["result"]["outcome"], json!({ "outcome": "selected", "optionId": "o3" }));
        agent.says("Left.").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("make it").await;
        person.sees("waiting for you").await;
        person.press(Key::plain(Code::Tab)).await;
        person.pass(ARMED).await;
        let first = |n: usize| format!("{} {}", n + 1, NAMES[n].split(':').next().unwrap());
        for (width, height) in [(20, 6), (120, 40), (40, 10), (1, 1), (21, 7), (200, 12), (80, 24), (20, 6)] {
            person.resizes(width, height).await;
            // From wherever it is to the first, and from there to the last; a long one is read row by row.
            for n in 0..NAMES.len() {
                let key = Key::plain(if n == 0 { Code::Up } else { Code::Down });
                let mut screen = String::new();
                for _ in 0..if n == 0 { 40 } else { 8 } {
                    person.press(key).await;
                    person.pass(Duration::from_millis(100)).await;
                    screen = person.glass.text();
                    if n > 0 && screen.contains(&first(n)) {
                        break;
                    }
                }
                if (width, height) == (1, 1) {
                    continue;
                }
                assert!(screen.contains(&first(n)), "{} at {width}x{height}\n{screen}", first(n));
                // Each has its digit where the others have theirs.
                let columns = screen.lines().filter_map(|row| (0..5).find_map(|n| row.find(&first(n))));
                let columns: std::collections::BTreeSet<usize> = columns.collect();
                assert_eq!(columns.len(), 1, "{width}x{height}\n{screen}");
            }
        }
        // What could not be read is shown first, and answers the second time.
        person.types("4").await;
        person.sees(&first(3)).await;
        person.pass(ARMED).await;
        person.types("4").await;
        person.resizes(80, 24).await;
        person.sees("Left.").await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn who_looks_elsewhere_is_told_of_questions_and_ends_and_what_is_copied_is_said() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let prompt = agent.called("session/prompt").await;
        agent.says("I shall ask first.").await;
        let params = json!({ "sessionId": "s", "toolCall": { "toolCallId": "t" }, "options": options() });
        agent.asks("session/request_permission", params).await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.prompts("make it").await;
        person.looks(false).await;
        person.sees("2 n Reject").await;
        person.waits_for("a notice", |_| person.glass.sent().contains("asks whether it may go on")).await;
        person.looks(true).await;
        person.press(Key::plain(Code::Tab)).await;
        person.pass(ARMED).await;
        person.types("2").await;
        person.sees("ready · F1 keys").await;
        assert_eq!(person.glass.sent().matches("\u{1b}]9;").count(), 1, "a short turn that was looked at is no news");
        person.press(Key::ctrl(Code::Char('y'))).await;
        person.sees("copied 18 characters (OSC 52, cannot be verified)").await;
        assert!(person.glass.sent().ends_with("\u{1b}]52;c;SSBzaGFsbCBhc2sgZmlyc3Qu\u{7}"), "{}", person.glass.sent());
        person.quits().await;
    };
    let (ended, _) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn an_idle_screen_is_never_drawn_again() {
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        let bytes = person.glass.bytes();
        person.pass(Duration::from_hours(1)).await;
        assert_eq!(person.glass.bytes(), bytes, "nothing has happened in an hour");
        person.resizes(60, 20).await;
        person.waits_for("a frame of the new size", |screen| screen.lines().count() == 20).await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, idle, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn a_signal_and_a_terminal_that_goes_away_end_the_client() {
    let person = async |person: Person| {
        person.sees("write a request").await;
        person.signals(Signal::Hangup).await;
    };
    assert_eq!(play(SIZE, idle, person).await.0.exit, Exit::Signal(Signal::Hangup));
    let person = async |person: Person| drop(person.sees("write a request").await);
    assert_eq!(play(SIZE, idle, person).await.0.exit, Exit::TerminalGone);
}

/// Asks for a further session of the same agent in the same directory.
async fn wants_another(person: &Person) {
    person.press(Key::ctrl(Code::Char('t'))).await;
    person.sees("a further session of:").await;
    person.press(Key::plain(Code::Enter)).await;
    person.sees("Enter opens it").await;
    person.press(Key::plain(Code::Enter)).await;
}

/// The same, and sees it open.
async fn opens_another(person: &Person) {
    wants_another(person).await;
    person.waits_for("the second session", |s| s.contains("▸2") && s.contains("write a request")).await;
}

#[tokio::test(start_paused = true)]
async fn scenario_30_ten_sessions_that_do_nothing_draw_nothing() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        for number in 2..=10 {
            agent.opens_further(&format!("s{number}")).await;
        }
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        for number in 2..=10 {
            wants_another(&person).await;
            let shown = format!("▸{number}");
            person.waits_for("one more", |s| s.contains(&shown) && s.contains("write a request")).await;
        }
        // What was said of the last one goes by itself.
        person.pass(Duration::from_mins(1)).await;
        let bytes = person.glass.bytes();
        person.pass(Duration::from_hours(1)).await;
        assert_eq!(person.glass.bytes(), bytes, "nothing has happened in an hour");
        person.quits().await;
    };
    let (ended, _) = play((160, 24), agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

const NEXT: Key = Key::ctrl(Code::PageDown);
const PREVIOUS: Key = Key::ctrl(Code::PageUp);

#[tokio::test(start_paused = true)]
async fn each_session_keeps_its_prompt_its_conversation_and_its_questions() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let call = agent.opens_further("t").await;
        assert!(call["params"]["cwd"].as_str().is_some_and(|cwd| cwd.starts_with('/')), "{call}");
        let first = agent.called("session/prompt").await;
        assert_eq!(first["params"]["sessionId"], "t");
        agent.says_in("t", "from the second").await;
        agent.says_in("s", "from the first").await;
        let params = json!({
            "sessionId": "t", "toolCall": { "toolCallId": "c", "title": "Dangerous" }, "options": options(),
        });
        let answer = agent.asks("session/request_permission", params).await;
        assert_eq!(answer["result"]["outcome"], json!({ "outcome": "selected", "optionId": "no" }));
        agent.ends(&first, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.types("half a prom").await;
        opens_another(&person).await;
        let screen = person.glass.text();
        assert!(!screen.contains("half a prom"), "{screen}");
        person.prompts("go").await;
        person.sees("Dangerous").await;
        person.press(PREVIOUS).await;
        let screen = person.sees("half a prom").await;
        assert!(screen.contains("from the first") && !screen.contains("from the second"), "{screen}");
        assert!(screen.lines().next().unwrap().contains("waits for you"), "{screen}");
        assert!(person.glass.title().contains("another session waits"), "{}", person.glass.title());
        // What is typed here answers nothing there.
        person.types("2").await;
        person.press(Key::plain(Code::Tab)).await;
        person.types("2").await;
        person.sees("half a prom22").await;
        person.press(NEXT).await;
        person.sees("Dangerous").await;
        person.press(Key::plain(Code::Tab)).await;
        person.pass(ARMED).await;
        person.types("2").await;
        let screen = person.waits_for("the end", |s| s.contains("from the second") && !s.contains("2 n Reject")).await;
        assert!(!screen.contains("from the first"), "{screen}");
        person.sees(" ready ·").await;
        person.quits().await;
        person.sees("another session works or has a draft").await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_works_is_closed_only_when_the_person_insists() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        agent.opens_further("t").await;
        let prompt = agent.called("session/prompt").await;
        agent.says_in("t", "at work").await;
        let cancel = agent.called("session/cancel").await;
        assert_eq!(cancel["params"]["sessionId"], "t", "Esc has kept it, and has stopped nothing");
        agent.ends(&prompt, "cancelled").await;
        let prompt = agent.called("session/prompt").await;
        assert_eq!(prompt["params"]["sessionId"], "s");
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let close = Key::alt(Code::Char('w'));
    let person = async move |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.press(close).await;
        person.sees("this is the only session").await;
        opens_another(&person).await;
        person.prompts("go").await;
        person.sees("at work").await;
        person.press(close).await;
        person.sees("it works · Alt+W again closes the session · Esc keeps it").await;
        person.press(Key::plain(Code::Esc)).await;
        person.waits_for("the question gone", |s| !s.contains("Esc keeps it") && s.contains("at work")).await;
        person.press(close).await;
        person.press(close).await;
        person.sees("Esc keeps it").await;
        assert!(person.glass.text().contains("at work"), "a key that is held down is no answer");
        person.pass(ARMED).await;
        person.press(close).await;
        person.waits_for("the first alone", |s| !s.contains("▸") && !s.contains("at work")).await;
        person.prompts("next").await;
        person.waits_for("the end", |s| s.contains("next") && s.contains("ended without a word")).await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_out_of_sight_is_told_until_somebody_looks() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        agent.opens_further("t").await;
        let prompt = agent.called("session/prompt").await;
        let other = agent.called("session/prompt").await;
        assert_eq!(other["params"]["sessionId"], "s");
        agent.says_in("t", "done with it").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        opens_another(&person).await;
        person.prompts("go").await;
        person.waits_for("the second at work", |s| s.lines().next().unwrap().contains("works")).await;
        person.press(PREVIOUS).await;
        person.prompts("and you, how is it going").await;
        person.waits_for("news", |s| s.lines().next().unwrap().contains("done")).await;
        person.press(NEXT).await;
        let screen = person.sees("done with it").await;
        assert!(!screen.lines().next().unwrap().contains("done"), "{screen}");
        person.resizes(30, 12).await;
        person.waits_for("signs", |s| s.lines().next().unwrap().contains('…')).await;
        person.resizes(80, 4).await;
        person.waits_for("no room", |s| !s.contains('▸')).await;
        person.quits().await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_is_none_is_told_where_it_was_typed() {
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.press(Key::ctrl(Code::Char('t'))).await;
        person.sees("a further session of:").await;
        person.press(Key::plain(Code::Enter)).await;
        person.sees("Enter opens it").await;
        person.types("/no such place").await;
        person.press(Key::plain(Code::Enter)).await;
        let screen = person.sees("No such file or directory").await;
        assert!(screen.contains("/no such place"), "{screen}");
        person.press(Key::plain(Code::Esc)).await;
        person.waits_for("the line gone", |s| !s.contains("/no such place") && !s.contains('▸')).await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, idle, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn prompts_that_wait_in_a_session_that_is_left_for_a_new_one_are_named() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let prompt = agent.called("session/prompt").await;
        agent.says("at work").await;
        agent.opens_further("t").await;
        drop(prompt);
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("go").await;
        person.sees("at work").await;
        person.prompts("and then this").await;
        person.sees("queued: and then this").await;
        wants_another(&person).await;
        person.sees("1 prompt waits in the session before · F8 leads back").await;
        person.quits().await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn a_question_about_closing_stands_as_long_as_it_takes() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        agent.opens_further("t").await;
        let prompt = agent.called("session/prompt").await;
        agent.says_in("t", "at work").await;
        drop(prompt);
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        opens_another(&person).await;
        // Nothing moves: nothing else is due.
        person.types("a draft").await;
        person.press(Key::alt(Code::Char('w'))).await;
        person.sees("something is written · Alt+W again").await;
        person.pass(Duration::from_hours(1)).await;
        person.press(Key::plain(Code::Esc)).await;
        let screen = person.waits_for("the draft", |s| !s.contains("Alt+W again")).await;
        assert!(screen.contains("a draft") && screen.contains("▸2"), "{screen}");
        person.press(Key::ctrl(Code::Char('u'))).await;
        person.prompts("go").await;
        person.sees("at work").await;
        person.press(PREVIOUS).await;
        person.sees("▸1").await;
        person.quits().await;
        person.sees("another session works or has a draft · Ctrl+D again quits").await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_refused_harms_no_other_of_its_agent() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        for code in [-32603, -32000] {
            let call = agent.called("session/new").await;
            let error = json!({ "code": code, "message": "only one, please" });
            agent.send(json!({ "jsonrpc": "2.0", "id": call["id"], "error": error })).await;
        }
        let prompt = agent.called("session/prompt").await;
        assert_eq!(prompt["params"]["sessionId"], "s", "neither ended nor locked");
        agent.says("still here").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        wants_another(&person).await;
        person.sees("only one, please").await;
        person.press(Key::plain(Code::Tab)).await;
        person.pass(ARMED).await;
        person.types("r").await;
        person.sees("asking the agent for the session once more").await;
        person.press(PREVIOUS).await;
        person.sees("▸1").await;
        person.prompts("go").await;
        person.sees("still here").await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

/// Models in the older list of them, which the agent gives with its session.
fn two_models() -> Value {
    let models = [json!({ "modelId": "fast", "name": "Fast" }), json!({ "modelId": "deep", "name": "Deep" })];
    json!({ "sessionId": "s", "models": { "currentModelId": "fast", "availableModels": models } })
}

async fn opens_with_models(agent: &mut Agent) {
    let call = agent.called("initialize").await;
    agent.answer(&call, json!({ "protocolVersion": 1 })).await;
    let call = agent.called("session/new").await;
    agent.answer(&call, two_models()).await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_was_named_is_set_and_one_that_was_chosen_is_set_in_the_next_session() {
    let kept = Rc::new(RefCell::new(Vec::new()));
    let keep = Rc::clone(&kept);
    let keep: Box<dyn Fn(ModelChoice)> = Box::new(move |choice| keep.borrow_mut().push(choice.model));
    let models = Models { named: Some("deep".into()), keep: Some(keep), ..Models::default() };
    let agent = async |mut agent: Agent| {
        opens_with_models(&mut agent).await;
        for (session, model) in [("s", "deep"), ("s", "fast")] {
            let call = agent.called("session/set_model").await;
            assert_eq!((&call["params"]["sessionId"], &call["params"]["modelId"]), (&json!(session), &json!(model)));
            agent.answer(&call, json!({})).await;
        }
        // The agent's own is another one now.
        let call = agent.called("session/new").await;
        let mut opened = two_models();
        opened["sessionId"] = json!("t");
        opened["models"]["currentModelId"] = json!("deep");
        agent.answer(&call, opened).await;
        let call = agent.called("session/set_model").await;
        assert_eq!((&call["params"]["sessionId"], &call["params"]["modelId"]), (&json!("t"), &json!("fast")));
        agent.answer(&call, json!({})).await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("Deep").await;
        person.press(Key::plain(Code::F(2))).await;
        person.types("Fast").await;
        person.press(Key::plain(Code::Enter)).await;
        person.waits_for("the other model", |s| s.contains("Fast") && !s.contains("Deep")).await;
        opens_another(&person).await;
        person
            .waits_for("it in the other session", |s| s.lines().next().unwrap().contains('2') && s.contains("Fast"))
            .await;
        person.quits().await;
    };
    play_wishing(SIZE, None, models, agent, person).await;
    assert_eq!(*kept.borrow(), ["fast"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_the_agent_does_not_have_is_said_with_those_that_it_has() {
    let named = Models { named: Some("huge".into()), ..Models::default() };
    let agent = async |mut agent: Agent| {
        opens_with_models(&mut agent).await;
        agent.stays().await;
    };
    play_wishing(SIZE, None, named, agent, async |person: Person| {
        person.sees("the agent has no model `huge`; it offers fast, deep").await;
        person.quits().await;
    })
    .await;
}
