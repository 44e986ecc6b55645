use crate::model::child::ChildPatch;
use crate::model::event::{Intent, Stop, Update};
use crate::model::ids::TermId;
use crate::model::patch::Patch;
use crate::model::tool::ToolStatus;
use crate::ui::fixtures::Scene;
use crate::ui::keys::{Code, Key};
use crate::ui::msg::Out;
use crate::ui::state::Focus;
use crate::ui::tty::Input;

const ALT_I: Key = Key::alt(Code::Char('i'));
const ALT_K: Key = Key::alt(Code::Char('k'));

fn term(n: u64) -> TermId {
    format!("term-{n}").as_str().into()
}

/// All bytes that went to a command.
fn typed(s: &Scene, n: u64) -> String {
    let bytes = s.outs.iter().filter_map(|o| if let Out::Type(id, b) = o { Some((id, b)) } else { None });
    bytes.filter(|(id, _)| **id == term(n)).map(|(_, b)| String::from_utf8_lossy(b)).collect()
}

fn sudo(width: u16) -> Scene {
    let mut s = Scene::working(width, 24);
    s.runs(1, "sudo make install");
    s.prints(1, "Password:");
    s
}

#[test]
fn r_369_a_command_that_prints_nothing_says_so() {
    let mut s = sudo(80);
    s.after(9900);
    assert!(!s.draw().contains("nothing for"), "{}", s.shown);
    s.after(2100);
    assert!(s.draw().contains("nothing for 0:12 · F6 types into it · F7 kills it"), "{}", s.shown);
    s.prints(1, "Password:\nthanks");
    assert!(!s.draw().contains("nothing for"), "{}", s.shown);
    // The same screen again is not news.
    let screen = s.model.first().session().terminal(&term(1)).unwrap().screen.clone().unwrap();
    s.after(10_000);
    s.show_screen(term(1), screen);
    assert!(s.draw().contains("nothing for 0:10"), "{}", s.shown);
    s.exits(1, 0);
    assert!(!s.draw().contains("nothing for"), "{}", s.shown);
}

#[test]
fn r_369_forty_columns_have_room_for_the_keys() {
    let mut s = sudo(40);
    s.after(12_000).draw();
    assert!(s.shown.lines().any(|l| l.trim() == "quiet 0:12 · F6 type F7 kill"), "{}", s.shown);
    s.key(ALT_I).draw();
    assert!(s.shown.lines().any(|l| l.trim() == "quiet 0:12 · Ctrl+] back"), "{}", s.shown);
    assert!(s.last_row().contains("typing into: ") && s.last_row().contains("Ctrl+] back"), "{}", s.shown);
}

#[test]
fn only_the_newest_command_names_the_keys_that_act_on_it() {
    let mut s = sudo(80);
    s.after(1000);
    s.runs(2, "sleep 99");
    s.after(12_000).draw();
    assert_eq!(s.shown.matches("F7 kills it").count(), 1, "{}", s.shown);
    assert!(s.shown.lines().any(|l| l.trim() == "nothing for 0:13"), "{}", s.shown);
    s.key(ALT_I).typed("x");
    assert_eq!(typed(&s, 2), "x");
    // Ten and nine: names are not numbers.
    let mut s = sudo(80);
    for n in 9..=10 {
        s.after(10);
        s.runs(n, "sleep 9");
    }
    s.key(ALT_I);
    assert_eq!(s.ui.view.focus, Focus::Terminal(term(10)));
}

#[test]
fn scenario_32_keys_go_to_the_command_until_the_way_out() {
    let mut s = sudo(80);
    s.typed("draft").key(ALT_I).draw();
    assert_eq!(s.ui.view.focus, Focus::Terminal(term(1)));
    assert!(s.last_row().contains("typing into: sudo make install · Ctrl+] back to writing"), "{}", s.shown);
    assert_eq!(s.info.cursor, None);
    s.typed("pw 1")
        .press(Code::Up)
        .press(Code::Esc)
        .press(Code::F(1))
        .key(ALT_K)
        .ctrl('c')
        .ctrl('c')
        .press(Code::Enter);
    s.input(Input::Paste("a\nb".into()));
    assert_eq!(typed(&s, 1), "pw 1\x1b[A\x1b\x1bOP\x1bk\x03\x03\ra\rb");
    assert!(!s.draw().contains("pw 1"), "nothing is echoed by us\n{}", s.shown);
    assert_eq!(s.intents(), []);
    assert!(!s.outs.contains(&Out::Quit));
    let before = s.outs.len();
    s.ctrl(']');
    assert_eq!((s.ui.view.focus.clone(), s.outs.len()), (Focus::Composer, before));
    s.typed("!");
    assert_eq!(s.ui.view.composer.text(), "draft!");
}

#[test]
fn the_exit_gives_the_focus_back_and_the_rest_of_a_password_goes_nowhere() {
    let mut s = sudo(80);
    s.key(ALT_I).typed("hunt");
    s.exits(1, 1);
    assert_eq!(s.ui.view.focus, Focus::Composer);
    s.typed("er");
    s.after(900).typed("2").press(Code::Enter);
    s.input(Input::Paste("pasted".into()));
    assert_eq!(s.ui.view.composer.text(), "");
    assert_eq!(s.intents(), []);
    assert_eq!(typed(&s, 1), "hunt");
    s.after(1100).typed("so").draw();
    assert_eq!(s.ui.view.composer.text(), "so");
    s.typed(" quick");
    assert_eq!(s.ui.view.composer.text(), "so quick", "a pause is enough once");
}

#[test]
fn ctrl_d_just_after_the_exit_counts_when_it_is_pressed_again() {
    let mut s = sudo(80);
    s.key(ALT_I).typed("hunt");
    s.exits(1, 1);
    let ctrl_d = Key::ctrl(Code::Char('d'));
    s.key(ctrl_d).draw();
    assert!(!s.outs.contains(&Out::Quit));
    assert!(s.shown.contains("the command has just ended · Ctrl+D again quits"), "{}", s.shown);
    s.after(300).key(ctrl_d);
    assert!(s.outs.contains(&Out::Quit));
}

#[test]
fn a_question_does_not_take_the_keys_away() {
    let mut s = sudo(80);
    s.key(ALT_I);
    s.ask(7, "rm -rf build", &["Allow once", "Reject"]);
    s.after(500).draw();
    assert!(s.shown.contains("Ctrl+], then Tab to answer"), "{}", s.shown);
    s.typed("1").press(Code::Tab).press(Code::Enter);
    assert_eq!(s.ui.view.focus, Focus::Terminal(term(1)));
    assert_eq!((typed(&s, 1).as_str(), s.answers()), ("1\t\r", vec![]));
    s.ctrl(']').press(Code::Tab).after(500).draw();
    s.typed("1");
    assert_eq!(s.answers().len(), 1);
}

#[test]
fn r_397_alt_k_kills_the_newest_command_and_not_the_agent() {
    let mut s = sudo(80);
    s.after(1000);
    s.runs(2, "sleep 99");
    s.key(ALT_K);
    assert_eq!(s.intents(), [Intent::KillTerminal { term: term(2) }]);
    assert!(s.draw().contains("killing sleep 99"), "{}", s.shown);
    s.exits(2, 0);
    s.key(ALT_K);
    assert_eq!(s.intents().last(), Some(&Intent::KillTerminal { term: term(1) }));
}

#[test]
fn that_a_sub_agent_is_being_stopped_stands_no_longer_than_it_works() {
    let mut s = Scene::working(80, 24);
    let child = |status| {
        Update::Child(Box::new(ChildPatch {
            id: "c".into(),
            title: Patch::Set("Helper 1".into()),
            description: Patch::Keep,
            cwd: Patch::Keep,
            directories: Patch::Keep,
            stops: Patch::Set(true),
            status: Patch::Set(status),
        }))
    };
    s.update(child(ToolStatus::InProgress));
    s.key(ALT_K);
    assert!(s.draw().contains("stopping the sub-agent Helper 1"), "{}", s.shown);
    s.update(child(ToolStatus::Cancelled));
    assert!(!s.draw().contains("stopping the sub-agent"), "{}", s.shown);
}

#[test]
fn scenario_35_a_command_that_runs_on_after_the_turn_is_seen_and_left_to_the_person() {
    let mut s = sudo(80);
    s.end_turn(Stop::EndTurn);
    assert!(s.draw().contains("sudo"), "{}", s.shown);
    s.after(1000);
    s.ctrl('d');
    assert!(s.outs.is_empty() && s.draw().contains("a command runs · Ctrl+D again quits"), "{}", s.shown);
    s.key(ALT_K);
    assert_eq!(s.intents(), [Intent::KillTerminal { term: term(1) }]);
}

#[test]
fn the_help_names_the_keys() {
    let mut s = Scene::ready(40, 16);
    s.press(Code::F(1)).draw();
    let mut pages = s.shown.clone();
    for _ in 0..40 {
        s.press(Code::PageDown).draw();
        pages.push_str(&s.shown);
    }
    for key in ["F6", "F7", "Ctrl+] "] {
        assert!(pages.lines().any(|l| l.trim_start().starts_with(key)), "{key}\n{pages}");
    }
}

#[test]
fn without_a_command_the_keys_say_so() {
    let mut s = Scene::working(80, 24);
    s.key(ALT_I);
    assert!(s.draw().contains("no command runs that could be typed into"), "{}", s.shown);
    s.key(ALT_K);
    assert!(s.draw().contains("no command runs that could be killed"), "{}", s.shown);
    s.end_turn(Stop::EndTurn);
    assert_eq!((s.ui.view.focus.clone(), s.intents()), (Focus::Composer, vec![]));
}

#[test]
fn a_terminal_that_the_agent_feeds_cannot_be_taken_over() {
    use crate::model::event::Update;
    use crate::model::tool::{ToolContent, ToolPatch};
    let mut s = Scene::working(80, 24);
    let mut patch = ToolPatch::new("t".into());
    patch.content = Patch::Set(vec![ToolContent::Terminal("theirs".into())]);
    s.update(Update::ToolCall(patch.into()));
    s.after(20_000).key(ALT_I);
    assert_eq!(s.ui.view.focus, Focus::Composer);
    assert!(!s.draw().contains("F6"), "{}", s.shown);
}
