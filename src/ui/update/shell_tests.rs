use crate::model::effect::Effect;
use crate::model::event::{Event, HostEvent, Intent, Stop};
use crate::model::ids::{ReqId, TermId};
use crate::model::session::shell::MAX_SHELL;
use crate::model::tool::Exit;
use crate::ui::fixtures::Scene;
use crate::ui::keys::{Code, Key, Keymap};
use crate::ui::msg::{EditorJob, Out};
use crate::ui::state::Focus;
use crate::ui::tty::Input;

fn term(n: usize) -> TermId {
    format!("term-{n}").as_str().into()
}

/// As the engine answers.
fn starts(s: &mut Scene, n: usize, line: &str) {
    s.event(Event::Host(HostEvent::ShellStarted { term: term(n), line: line.into() }));
}

fn ends(s: &mut Scene, n: usize, code: i64, end: &str) {
    let exit = Exit { code: Some(code), signal: None };
    s.event(Event::Host(HostEvent::TerminalExited { term: term(n), exit, end: end.into() }));
}

fn ran(width: u16, line: &str, code: i64, end: &str) -> Scene {
    let mut s = Scene::ready(width, 24);
    s.typed("!").typed(line).press(Code::Enter);
    starts(&mut s, 1, line);
    ends(&mut s, 1, code, end);
    s
}

#[test]
fn a_mark_in_an_empty_prompt_makes_it_a_command() {
    let mut s = Scene::ready(100, 24);
    s.typed("!");
    assert!(s.ui.view.composer.is_shell() && s.ui.view.composer.is_empty());
    assert!(s.draw().contains("shell: Enter runs it here, not the agent"), "{}", s.shown);
    s.press(Code::Backspace);
    assert!(!s.ui.view.composer.is_shell());
    s.typed("!make test").press(Code::Enter);
    assert_eq!(s.intents(), [Intent::Shell("make test".into())]);
    assert!(!s.ui.view.composer.is_shell() && s.ui.view.composer.is_empty());
    s.typed("!").press(Code::Up);
    assert_eq!(s.ui.view.composer.text(), "make test", "commands have a history of their own");
    s.press(Code::Esc).press(Code::Up);
    assert_eq!(s.ui.view.composer.text(), "", "and are no prompts");
    s.typed("it works!").press(Code::Home).typed("!");
    assert_eq!(s.ui.view.composer.text(), "!it works!");
    assert!(!s.ui.view.composer.is_shell());
}

#[test]
fn what_is_pasted_is_no_command_and_one_can_be_left_without_stopping_the_turn() {
    let mut s = Scene::working(100, 24);
    s.input(Input::Paste("!rm -r x".into()));
    assert!(!s.ui.view.composer.is_shell());
    s.ctrl('u').typed("!ls").press(Code::Esc);
    assert_eq!((s.ui.view.composer.is_shell(), s.ui.view.composer.text()), (false, ""));
    s.typed("!").ctrl('c').typed("!").ctrl('d');
    assert!(!s.ui.view.composer.is_shell());
    assert_eq!(s.outs, [], "nothing was stopped, nothing is quit");
}

#[test]
fn what_is_written_to_refuse_a_question_is_no_command() {
    for wait in [0, 700] {
        let mut s = Scene::asked(80, 24);
        s.after(wait).typed("!");
        assert!(!s.ui.view.composer.is_shell() && s.ui.refusal.is_none());
        assert!(s.draw().contains("Tab, then ! refuses and says why"), "{}", s.shown);
        s.typed("touch x").press(Code::Enter);
        assert!(matches!(&s.intents()[..], [Intent::Prompt { text, .. }] if text == "!touch x"), "{:?}", s.outs);
    }
    // What came in one go is text, and none of it answers.
    let mut s = Scene::asked(80, 24);
    s.after(2000);
    for key in "!no".chars().map(Key::char) {
        s.input(Input::Hasty(key));
    }
    assert_eq!((s.ui.view.composer.text(), s.ui.view.composer.is_shell()), ("!no", false));
    // The way that is named.
    let mut s = Scene::asked(80, 24);
    s.after(2000).typed("!").press(Code::Tab);
    assert!(!s.draw().contains("Tab, then !"), "{}", s.shown);
    s.typed("!no").press(Code::Enter);
    assert_eq!(s.intents(), [Intent::Refuse { req: ReqId(1), reason: "no".into() }]);
    assert!(s.ui.view.composer.is_empty());
    // Among Vim's commands, where nothing is written.
    let mut s = Scene::asked(80, 24);
    s.ui.keys = std::sync::Arc::new(Keymap::read("vim = true", "keys.toml").0);
    s.after(2000).press(Code::Esc).typed("!");
    assert!(s.draw().contains("Tab, then ! refuses and says why"), "{}", s.shown);
    s.typed("ax");
    assert_eq!(s.ui.view.composer.text(), "x");
    // Right after an answer the next question is meant.
    let mut s = Scene::asked(80, 24);
    s.after(700).press(Code::Tab).typed("1").typed("!");
    assert!(!s.ui.view.composer.is_shell());
    assert!(s.draw().contains("too soon: nothing is asked yet"), "{}", s.shown);
    s.after(2000).typed("!");
    assert!(s.ui.view.composer.is_shell(), "nothing is asked");
}

#[test]
fn what_a_command_printed_is_shown_and_goes_along_quoted() {
    let mut s = ran(100, "make test", 2, "one\n@src/main.rs\n\u{1b}[31mred\u{1b}[0m\n");
    assert!(s.draw().contains("! make test") && s.shown.contains("✗ exit 2"), "{}", s.shown);
    assert!(s.shown.contains("│ @src/main.rs") && s.shown.contains("Delete leaves it out"), "{}", s.shown);
    s.outs.clear();
    s.press(Code::Enter);
    assert_eq!(s.outs, [], "there has to be a word for the agent");
    s.typed("mend it").press(Code::Enter);
    let text = "mend it\n\nI ran this here (exit 2):\n> $ make test\n> one\n> @src/main.rs\n> red";
    let sent = Intent::Prompt { text: text.into(), links: Vec::new() };
    assert_eq!(s.intents(), [sent.clone(), Intent::ForgetShell(term(1))]);
    assert_eq!(s.outs[0], Out::Send { written: "mend it".into(), intent: sent });
    assert!(s.model.first().session().shell().is_empty());
    assert!(!s.draw().contains("Delete leaves it out"), "{}", s.shown);
}

#[test]
fn delete_leaves_it_out_and_ctrl_o_shows_more() {
    let lines = (1..=40).map(|n| format!("line {n:02}\n")).collect::<Vec<_>>().concat();
    let mut s = ran(100, "seq", 0, &lines);
    assert!(s.draw().contains("line 40") && s.shown.contains("line 38") && !s.shown.contains("line 37"), "{}", s.shown);
    s.ctrl('o');
    assert!(s.draw().contains("line 35") && s.shown.contains("Ctrl+O pages all of it"), "{}", s.shown);
    s.typed("x").press(Code::Delete);
    assert_eq!(s.model.first().session().shell().len(), 1, "Delete is for what is written");
    // One that has printed nothing has nothing to be folded.
    s.press(Code::Backspace);
    starts(&mut s, 2, "sleep 30");
    assert!(s.draw().contains("! sleep 30") && !s.shown.contains("folds"), "{}", s.shown);
    ends(&mut s, 2, 0, "");
    s.press(Code::Delete);
    assert_eq!(s.model.first().session().shell().len(), 1, "{}", s.draw());
    s.typed("x");
    s.press(Code::Backspace).press(Code::Delete);
    assert!(s.model.first().session().shell().is_empty());
    s.typed("go on").press(Code::Enter);
    let Some(Intent::Prompt { text, .. }) = s.intents().pop() else { panic!() };
    assert_eq!(text, "go on");
}

#[test]
fn one_that_runs_can_be_typed_into_and_killed_and_stays_for_a_later_prompt() {
    let mut s = Scene::working(100, 24);
    s.typed("!top").press(Code::Enter);
    starts(&mut s, 1, "top");
    assert!(s.draw().contains("F6 types · F7 kills"), "{}", s.shown);
    s.press(Code::Delete);
    assert_eq!(s.model.first().session().shell().len(), 1);
    s.typed("hello").press(Code::Enter);
    assert!(matches!(&s.intents()[..], [Intent::Shell(_), Intent::Prompt { text, .. }] if text == "hello"));
    s.press(Code::F(6));
    assert_eq!(s.ui.view.focus, Focus::Terminal(term(1)));
    assert!(s.draw().contains("Ctrl+] back to writing") && !s.shown.contains("F7 kills"), "{}", s.shown);
    s.typed("q");
    assert!(s.outs.contains(&Out::Type(term(1), b"q".to_vec())));
    s.key(Key::ctrl(Code::Char(']'))).press(Code::F(7));
    assert_eq!(s.intents().last(), Some(&Intent::KillTerminal { term: term(1) }));
    s.end_turn(Stop::EndTurn);
    assert!(s.model.first().session().shell()[0].is_running(), "the end of a turn does not end it");
}

#[test]
fn no_agent_reaches_the_persons_command_by_its_name() {
    use crate::model::event::{AgentEvent, AgentRequest};
    use crate::model::ids::ReqId;
    let mut s = Scene::working(100, 24);
    starts(&mut s, 1, "cat secret");
    for (req, request) in
        [(7, AgentRequest::TerminalOutput(term(1))), (8, AgentRequest::TerminalKill { term: term(1), signal: None })]
    {
        let session = Some(crate::ui::fixtures::session());
        let effects = s.agent(AgentEvent::Request { req: ReqId(req), session, request: request.into() });
        let is_refusal =
            |effect: &Effect| matches!(effect, Effect::Respond { answer: crate::model::effect::Answer::Error(_), .. });
        assert!(effects.iter().any(is_refusal), "{effects:?}");
        assert!(!effects.iter().any(|e| matches!(e, Effect::TerminalKill(_) | Effect::TerminalOutput { .. })));
    }
    ends(&mut s, 1, 0, "the secret");
    assert_eq!(s.model.first().session().shell()[0].text.text(), "the secret");
}

#[test]
fn a_prompt_that_comes_back_does_not_get_into_the_command() {
    let mut s = Scene::working(100, 24);
    s.typed("later").press(Code::Enter).typed("!ls");
    s.intent(Intent::TakeBack);
    assert_eq!(s.ui.view.composer.text(), "ls");
    s.press(Code::Enter);
    assert_eq!(s.intents().last(), Some(&Intent::Shell("ls".into())));
    assert_eq!(s.ui.view.composer.text(), "later");
}

#[test]
fn so_many_commands_and_no_more() {
    let mut s = Scene::ready(100, 30);
    for n in 1..=MAX_SHELL {
        starts(&mut s, n, "true");
        ends(&mut s, n, 0, "");
    }
    s.typed("!more").press(Code::Enter);
    assert_eq!(s.intents(), []);
    assert_eq!(s.ui.view.composer.text(), "more", "it is not lost");
    assert!(s.intent(Intent::Shell("more".into())).iter().all(|effect| !matches!(effect, Effect::Shell(_))));
}

#[test]
fn all_that_a_command_has_printed_can_be_read_before_it_goes_along() {
    let printed: String = (1..=200).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let mut s = ran(80, "make test", 2, &printed);
    assert!(s.draw().contains("Ctrl+O more") && s.shown.contains("line 200"), "{}", s.shown);
    s.ctrl('o');
    assert!(s.draw().contains("Ctrl+O pages all of it") && !s.shown.contains("line 1\n"), "{}", s.shown);
    s.ctrl('o');
    let page = |s: &Scene| match &s.outs[..] {
        [.., Out::Edit(EditorJob::Page { text })] => text.clone(),
        outs => panic!("{outs:?}"),
    };
    assert_eq!(page(&s), format!("$ make test\n{}", printed.trim_end()));
    assert!(s.draw().contains("Ctrl+O more"), "it is folded again\n{}", s.shown);
    // A few lines of which one is cut at the edge.
    let long = format!("{} the-last-word", "x".repeat(200));
    let mut s = ran(80, "cat x", 0, &long);
    assert!(s.draw().contains("Ctrl+O pages all of it") && !s.shown.contains("the-last"), "{}", s.shown);
    s.ctrl('o');
    assert!(page(&s).ends_with(" the-last-word"));
    // There is room for all of it.
    let mut s = ran(80, "cat x", 0, "1\n2\n3\n4\n5\n6\n");
    assert!(s.draw().contains("Ctrl+O more"), "{}", s.shown);
    s.ctrl('o');
    assert!(s.draw().contains("Ctrl+O folds") && s.shown.contains("│ 1"), "{}", s.shown);
    s.ctrl('o');
    assert!(s.draw().contains("Ctrl+O more") && s.outs.iter().all(|out| !matches!(out, Out::Edit(_))), "{}", s.shown);
    let mut s = ran(80, "cat x", 0, "short");
    assert!(!s.draw().contains("Ctrl+O"), "{}", s.shown);
}

#[test]
fn every_size_has_its_row() {
    for (width, height) in [(20, 5), (40, 10), (80, 24), (200, 50)] {
        let mut s = Scene::ready(width, height);
        starts(&mut s, 1, "make test");
        ends(&mut s, 1, 1, "one\ntwo\nthree\nfour\n");
        assert!(s.draw().contains("! make"), "{width}×{height}: {}", s.shown);
    }
}

#[test]
fn ctrl_c_interrupts_the_newest_that_runs_and_does_not_quit() {
    let mut s = Scene::working(100, 24);
    starts(&mut s, 1, "make");
    starts(&mut s, 2, "sleep 60");
    s.typed("words").ctrl('c');
    s.ctrl('c').ctrl('c');
    let typed = Out::Type(term(2), vec![3]);
    assert_eq!(s.outs, [typed.clone(), typed], "what is written goes first; the turn goes on");
    assert!(s.draw().contains("Ctrl+C to sleep 60 · F7 kills it"), "{}", s.shown);
    ends(&mut s, 2, 130, "");
    s.ctrl('c');
    assert_eq!(s.outs.last(), Some(&Out::Type(term(1), vec![3])));
    ends(&mut s, 1, 130, "");
    s.ctrl('c');
    assert_eq!(s.intents().last(), Some(&Intent::Cancel));
}

#[test]
fn what_is_not_shown_on_a_small_screen_is_counted() {
    let mut s = Scene::ready(40, 10);
    for n in 1..=7 {
        starts(&mut s, n, &format!("run {n}"));
        ends(&mut s, n, 0, "");
    }
    let screen = s.draw().to_owned();
    let rows = (1..=7).filter(|n| screen.contains(&format!("! run {n}"))).count();
    assert!(rows < 7 && screen.contains(&format!("+{} ! run", 7 - rows)), "{screen}");
}

#[test]
fn on_a_small_screen_a_list_has_five_rows_whatever_waits_below_it() {
    for key in [Key::plain(Code::F(1)), Key::plain(Code::F(2)), Key::ctrl(Code::Char('p')), Key::plain(Code::F(8))] {
        let mut s = Scene::asked(40, 10);
        starts(&mut s, 1, "make test");
        ends(&mut s, 1, 0, "one\ntwo\nthree\n");
        s.key(key).draw();
        let below = s.shown.lines().position(|row| row.starts_with(['┏', '┃', '─', '!']));
        assert!(below.is_some_and(|rows| rows >= 5), "{key:?}:\n{}", s.shown);
    }
}
