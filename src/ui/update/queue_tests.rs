use crate::model::event::{Intent, QueueAct, Stop};
use crate::ui::fixtures::Scene;
use crate::ui::keys::{Code, Key, Keymap};
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
    assert!(s.draw().contains("3 queued · 1. one") && s.shown.contains("\n             2. two"), "{}", s.shown);
    assert!(s.shown.contains("Up selects it"), "{}", s.shown);
    s.press(Code::Up);
    assert!(s.draw().contains("▸            3. three"), "{}", s.shown);
    s.press(Code::Up).press(Code::Up).press(Code::Up);
    assert!(s.draw().contains("▸ 3 queued · 1. one"), "{}", s.shown);
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
    s.size = (80, 24);
    s.draw();
    let said = ["thinking 0 s", "Esc back", "deleted · Ctrl+R has it"];
    assert!(said.iter().all(|words| s.last_row().contains(words)), "{}", s.shown);
    s.size = (100, 24);
    s.draw();
    assert!(s.shown.contains("▸            2. two"), "the one below takes its place: {}", s.shown);
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
    assert!(s.draw().contains("  12 queued ·  5. prompt 4"), "{}", s.shown);
    assert!(s.shown.contains("▸             12. prompt 11"), "{}", s.shown);
    for _ in 0..11 {
        s.press(Code::Up);
        assert!(s.draw().contains('▸'), "{}", s.shown);
    }
    assert!(s.draw().contains("▸ 12 queued ·  1. prompt 0"), "{}", s.shown);
}

#[test]
fn a_turn_that_is_stopped_holds_those_that_wait_until_enter_with_nothing_written() {
    let mut s = queued(&["one", "two"]);
    s.press(Code::Esc);
    s.end_turn(Stop::Cancelled);
    assert_eq!((texts(&s), s.ui.view.composer.text()), (vec!["one", "two"], ""));
    assert!(s.draw().contains("2 held · 1. one") && s.shown.contains("Enter sends them · Up selects"), "{}", s.shown);
    // What is written goes first, and lets none of them go.
    s.typed("instead").press(Code::Enter);
    assert_eq!(texts(&s), ["one", "two"]);
    s.typed("then").press(Code::Enter);
    assert!(s.draw().contains("3 queued · 1. held · one") && s.shown.contains("3. then"), "{}", s.shown);
    s.press(Code::Enter);
    assert_eq!(texts(&s), ["one", "two", "then"], "not while a turn runs");
    s.end_turn(Stop::EndTurn);
    assert_eq!(texts(&s), ["one", "two"]);
    s.end_turn(Stop::EndTurn);
    s.input(Input::Hasty(Key::plain(Code::Enter)));
    assert_eq!(texts(&s), ["one", "two"], "a key that came with others sends nothing");
    s.press(Code::Enter);
    assert_eq!((s.intents().last(), texts(&s)), (Some(&Intent::Queue(QueueAct::LetGo)), vec!["two"]));
    s.end_turn(Stop::EndTurn);
    assert!(texts(&s).is_empty(), "the others follow");
}

#[test]
fn one_of_those_that_are_held_is_sent_alone() {
    let mut s = queued(&["one", "two"]);
    s.end_turn(Stop::Refusal);
    assert_eq!(texts(&s), ["one", "two"]);
    s.press(Code::Up).typed("s");
    assert_eq!(texts(&s), ["one"]);
    s.end_turn(Stop::EndTurn);
    assert_eq!(texts(&s), ["one"]);
}

#[test]
fn one_that_was_edited_goes_back_to_its_place() {
    let mut s = queued(&["one", "two", "three"]);
    s.press(Code::Up).press(Code::Up).press(Code::Enter).press(Code::End).typed("!").press(Code::Enter);
    assert_eq!(texts(&s), ["one", "two!", "three"]);
    // What is written after it was cleared is another one.
    s.press(Code::Up).press(Code::Up).press(Code::Enter).ctrl('c').typed("new").press(Code::Enter);
    assert_eq!(texts(&s), ["one", "three", "new"]);
}

#[test]
fn the_row_names_the_keys_as_they_are_bound() {
    let (keys, wrong) = Keymap::read(
        "[[bind]]\non = \"delete\"\nrun = \"none\"\nwhen = \"queue\"\n\n[[bind]]\non = \"f9\"\nrun = \"send-now\"\nwhen = \"queue\"\n",
        "keys.toml",
    );
    assert!(wrong.is_empty(), "{wrong:?}");
    let mut s = queued(&["one"]);
    s.press(Code::Up);
    assert!(s.draw().contains("s sends now · Delete · Shift+↑↓ moves · Esc"), "{}", s.shown);
    s.ui.keys = keys.into();
    assert!(s.draw().contains("F9 sends now") && !s.shown.contains("Delete"), "{}", s.shown);
}
