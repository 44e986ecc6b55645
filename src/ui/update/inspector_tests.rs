use crate::model::frames::{Flaw, FrameDir, FrameKind, FrameRow};
use crate::model::ids::{AgentKey, Now};
use crate::ui::fixtures::Scene;
use crate::ui::keys::{Code, Key};
use crate::ui::msg::{Out, What};

fn row(dir: FrameDir, kind: FrameKind, method: &str, text: &str) -> FrameRow {
    FrameRow {
        at: Now::from_millis(1234),
        dir,
        agent: AgentKey::FIRST,
        kind,
        method: method.into(),
        id: Some("7".into()),
        latency: (kind == FrameKind::Answer).then_some(Now::from_millis(250)),
        flaws: Vec::new(),
        text: text.into(),
    }
}

fn inspecting(width: u16) -> Scene {
    let mut s = Scene::ready(width, 24);
    s.press(Code::F(9));
    assert!(s.draw().contains("no message yet"), "{}", s.shown);
    let flaws = vec![Flaw { rule: "R-219", what: "result.stopReason is missing".into() }];
    let answer = row(FrameDir::FromAgent, FrameKind::Answer, "session/prompt", r#"{"id":7,"result":{}}"#);
    s.ui.inspector.as_mut().unwrap().take(vec![
        row(FrameDir::ToAgent, FrameKind::Request, "session/prompt", r#"{"id":7,"params":{"x":"\u001b[2J"}}"#),
        FrameRow { flaws, ..answer },
        row(FrameDir::Stderr, FrameKind::Other, "", "a warning"),
    ]);
    s
}

#[test]
fn f9_shows_each_message_with_its_pair_and_what_it_violates() {
    let mut s = inspecting(120);
    let screen = s.draw().to_owned();
    assert!(screen.contains("1.234 -> session/prompt") && screen.contains("<- = session/prompt"), "{screen}");
    assert!(screen.contains("250.0 ms") && screen.contains("R-219") && screen.contains("!! a warning"), "{screen}");
    assert!(screen.contains("3 · follows"), "{screen}");
    s.typed("!");
    assert!(s.draw().contains("1 of 3") && !s.shown.contains("a warning"), "{}", s.shown);
    s.press(Code::Esc).press(Code::Esc);
    assert!(!s.draw().contains("messages:"), "{}", s.shown);
}

#[test]
fn an_update_says_of_which_kind_it_is() {
    for (width, shown) in [(120, r#"agent_message_chunk "content":{"type""#), (80, "agent_message_chunk")] {
        let mut s = inspecting(width);
        let text = r#"{"method":"session/update","params":{"sessionId":"01a224d6-70aa-7381-9a50-6d1f7ff89944","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}"#;
        let told = row(FrameDir::FromAgent, FrameKind::Notification, "session/update", text);
        s.ui.inspector.as_mut().unwrap().take(vec![told]);
        assert!(s.draw().contains(shown) && !s.shown.contains("01a224d6"), "{}", s.shown);
    }
}

#[test]
fn an_opened_message_is_copied_and_saved_as_it_is_set_out() {
    let mut s = inspecting(80);
    s.press(Code::Up).press(Code::Enter);
    assert!(s.draw().contains("R-219: result.stopReason is missing"), "{}", s.shown);
    s.typed("ys");
    let text = "{\n  \"id\": 7,\n  \"result\": {}\n}".to_owned();
    let what = What::Characters(text.chars().count());
    assert_eq!(s.outs, [Out::Copy(what, text.clone()), Out::Save(what, text)]);
    s.press(Code::Esc).press(Code::Up).press(Code::Enter);
    assert!(s.draw().contains("\"x\": ") && !s.shown.contains('\u{1b}'), "{}", s.shown);
}

#[test]
fn a_question_stays_on_the_screen_and_is_answered_with_its_own_keys_only() {
    let mut s = inspecting(80);
    s.ask(1, "rm -rf x", &["allow", "reject"]);
    s.draw();
    s.typed("1");
    assert!(s.answers().is_empty() && s.draw().contains("rm -rf x"), "{}", s.shown);
    s.after(2000).key(Key::alt(Code::Char('1')));
    assert_eq!(s.answers().len(), 1);
}

#[test]
fn no_size_of_the_screen_is_too_small_for_it() {
    for (width, height) in [(10, 3), (20, 4), (21, 5), (40, 8), (200, 60)] {
        let mut s = Scene::ready(width, height);
        s.press(Code::F(9));
        s.ui.inspector.as_mut().unwrap().take(vec![row(FrameDir::FromAgent, FrameKind::Error, "é", "ééé")]);
        s.draw();
        s.press(Code::Enter).draw();
    }
}
