use crate::model::event::{Intent, QueueAct, Stop};
use crate::ui::fixtures::Scene;
use crate::ui::keys::{Code, Key};
use crate::ui::tty::Input;

fn queued(prompts: &[&str]) -> Scene {
    let mut s = Scene::working(100, 24);
    for prompt in prompts {
        s.typed(prompt).press(Code::Enter);
    }
    s.outs.clear();
    s
}

fn texts(s: &Scene) -> Vec<&str> {
    s.model.first().session().held.iter().map(|held| held.text.as_str()).collect()
}

#[test]
fn up_goes_to_the_last_of_the_prompts_that_wait() {
    let mut s = queued(&["one", "two", "three"]);
    assert!(s.draw().contains("3 queued: one") && s.shown.contains("2. two"), "{}", s.shown);
    assert!(s.shown.contains("Up selects it"), "{}", s.shown);
    s.press(Code::Up);
    assert!(s.draw().contains("▸ 3. three"), "{}", s.shown);
    s.press(Code::Up).press(Code::Up).press(Code::Up);
    assert!(s.draw().contains("▸ 3 queued: one"), "{}", s.shown);
    s.press(Code::Esc);
    assert!(s.ui.view.queued.is_none());
    assert_eq!(s.intents(), [], "Esc leaves the list and stops nothing");
    s.press(Code::Up).press(Code::Down);
    assert!(s.ui.view.queued.is_none(), "behind the last one is the composer");
}

#[test]
fn a_prompt_that_waits_is_edited_moved_deleted() {
    let mut s = queued(&["one", "two", "three"]);
    s.press(Code::Up).key(Key::shift(Code::Up));
    assert_eq!(texts(&s), ["one", "three", "two"]);
    s.key(Key::shift(Code::Up)).key(Key::shift(Code::Up));
    assert_eq!(texts(&s), ["three", "one", "two"]);
    s.key(Key::shift(Code::Down));
    assert_eq!(texts(&s), ["one", "three", "two"]);
    s.press(Code::Delete);
    assert_eq!(texts(&s), ["one", "two"]);
    s.draw();
    assert!(s.shown.contains("▸ 2. two"), "the one below takes its place: {}", s.shown);
    s.press(Code::Up).press(Code::Enter);
    assert_eq!(texts(&s), ["two"]);
    assert_eq!(s.ui.view.composer.text(), "one");
    assert!(s.ui.view.queued.is_none());
    s.ctrl('u');
    s.press(Code::Up).press(Code::Delete);
    assert!(texts(&s).is_empty() && s.ui.view.queued.is_none());
}

#[test]
fn s_sends_one_now_and_any_other_letter_is_written() {
    let mut s = queued(&["one", "two"]);
    s.press(Code::Up).typed("s");
    assert_eq!(s.intents(), [Intent::Queue(QueueAct::Send(1))]);
    assert_eq!(texts(&s), ["two", "one"], "it is the next, and the turn is stopped for it");
    s.end_turn(Stop::Cancelled);
    assert_eq!(texts(&s), ["one"]);
    s.press(Code::Up).typed("words");
    assert_eq!(s.ui.view.composer.text(), "words");
    assert_eq!(texts(&s), ["one"]);
}

#[test]
fn a_key_that_came_with_others_neither_sends_nor_deletes() {
    let mut s = queued(&["one"]);
    s.press(Code::Up);
    s.input(Input::Hasty(Key::char('s')));
    s.input(Input::Hasty(Key::plain(Code::Delete)));
    assert_eq!(texts(&s), ["one"]);
    s.input(Input::Paste("so".into()));
    assert_eq!((s.ui.view.composer.text(), s.ui.view.queued), ("so", None));
}

#[test]
fn the_list_goes_with_its_last_prompt() {
    let mut s = queued(&["one"]);
    s.press(Code::Up);
    s.end_turn(Stop::EndTurn);
    assert!(texts(&s).is_empty());
    s.typed("s");
    assert_eq!(s.ui.view.composer.text(), "s");
}

#[test]
fn more_prompts_than_rows_are_counted_and_the_selected_one_is_in_view() {
    let prompts: Vec<String> = (0..12).map(|n| format!("prompt {n}")).collect();
    let mut s = queued(&prompts.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(s.draw().contains("8 more"), "{}", s.shown);
    s.press(Code::Up);
    assert!(s.draw().contains("▸ 12. prompt 11"), "{}", s.shown);
    for _ in 0..11 {
        s.press(Code::Up);
        assert!(s.draw().contains('▸'), "{}", s.shown);
    }
    assert!(s.draw().contains("▸ 12 queued: prompt 0"), "{}", s.shown);
}
